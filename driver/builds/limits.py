"""Limits of time and memory for the analysis of a unit, so that no input can block the report of a build.

A unit that exceeds them is skipped, with a line in the log. Timers count the CPU time of this process, so that the
load of the machine does not matter: one raises UnitTookTooLong, and a later one ends the process in case it hangs in
native code. `limit_memory` is for processes that do nothing but analyse.
"""

from __future__ import annotations

import contextlib
import resource
import signal
from collections.abc import Iterator, Mapping
from types import FrameType

from incc.support.errors import AnalysisError

SECONDS_VARIABLE, MEMORY_VARIABLE = "INCC_MAX_SECONDS", "INCC_MAX_MEMORY"

SECONDS = 600
"""Default limit; a source of ten thousand loops takes half of it."""

MEMORY = 8 << 30
"""Default limit of the address space in bytes; 50 MB of assembly take less than a quarter of it."""

_MORE = 30
"""Seconds between UnitTookTooLong and the end of the process."""

ENDED_BY = signal.SIGPROF
"""The signal that ends a process that hangs."""


class UnitTookTooLong(AnalysisError):
    """The analysis of a unit exceeds the time limit."""


def max_seconds(environment: Mapping[str, str]) -> int:
    """Return $INCC_MAX_SECONDS; 0 for no limit."""
    text = environment.get(SECONDS_VARIABLE, "")
    # Timers cannot handle arbitrarily large numbers, and int() refuses those of many digits.
    return min(int(text.lstrip("0")[:9] or 0), 10**7) if text.isascii() and text.isdecimal() else SECONDS


def max_memory(environment: Mapping[str, str]) -> int:
    """Return $INCC_MAX_MEMORY, a number followed by k, M or G, in bytes; 0 for no limit."""
    from incc.report.folder.cache import bytes_of

    limit = bytes_of(environment.get(MEMORY_VARIABLE, ""))
    return MEMORY if limit is None else limit


@contextlib.contextmanager
def limited_time(environment: Mapping[str, str]) -> Iterator[None]:
    """Raise UnitTookTooLong inside the context if it takes too long.

    Timers and signal handlers belong to the process; outside of the main thread there is no limit.
    """
    seconds = max_seconds(environment)

    def stop(number: int, frame: FrameType | None) -> None:
        raise UnitTookTooLong(f"takes more than {seconds} s of CPU time; {SECONDS_VARIABLE} changes the limit")

    try:
        before = signal.signal(signal.SIGVTALRM, stop) if seconds else None
    except ValueError:  # not in the main thread
        before = None
    if before is None:
        yield
        return
    try:
        # Repeated, since an exception handler may swallow the first one.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
        signal.setitimer(signal.ITIMER_PROF, seconds + max(seconds // 10, _MORE))
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory(environment: Mapping[str, str]) -> int:
    """Limit the memory of this process and its children; return the limit, 0 if there is none."""
    wanted = max_memory(environment)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (wanted or resource.RLIM_INFINITY, hard) if limit != resource.RLIM_INFINITY]
    new = min(limits, default=resource.RLIM_INFINITY)
    if new != soft:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (new, hard))
    return wanted


def too_much_memory(environment: Mapping[str, str]) -> str:
    """Return a message for a MemoryError."""
    limit = max_memory(environment)
    return (
        f"takes more than {limit / 1e9:.1f} GB of memory; {MEMORY_VARIABLE} changes the limit"
        if limit
        else "out of memory"
    )
