"""What the analysis of one unit may take: nothing that a compiler is given may keep a build's report waiting for ever.

A unit that takes more is left out, with a line in the log. The time is that of the processor, so that a busy machine
changes nothing. It is counted by timers of this process, which what it starts does not inherit: one that raises
TookTooLong, and one that ends the process, should it be in a loop of native code. Memory is limited where this process
does nothing else (`limit_memory`).
"""

from __future__ import annotations

import contextlib
import signal
from typing import TYPE_CHECKING

from incc.support.errors import AnalysisError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

SECONDS_VARIABLE, MEMORY_VARIABLE = "INCC_MAX_SECONDS", "INCC_MAX_MEMORY"

SECONDS = 600
"""A source of ten thousand loops takes half of that."""

MEMORY = 8 << 30
"""Bytes of address space: 50 MB of assembly take less than a quarter of that."""

_MORE = 30
"""Seconds after which a process that was told to stop is ended."""

ENDED_BY = signal.SIGPROF
"""The signal that ends such a process."""


class TookTooLong(AnalysisError):
    """A unit takes more time than it may."""


def max_seconds(environment: Mapping[str, str]) -> int:
    """$INCC_MAX_SECONDS, 0 for no limit."""
    text = environment.get(SECONDS_VARIABLE, "")
    # What is longer than a year is no limit to a timer.
    return min(int(text), 10**7) if text.isascii() and text.isdecimal() else SECONDS


def max_memory(environment: Mapping[str, str]) -> int:
    """$INCC_MAX_MEMORY in bytes, a number with k, M or G behind it; 0 for no limit."""
    from incc.report.folder.cache import bytes_of

    text = environment.get(MEMORY_VARIABLE, "")
    found = bytes_of(text)
    return MEMORY if found is None else found


@contextlib.contextmanager
def limited_time(environment: Mapping[str, str]) -> Iterator[None]:
    """Raises TookTooLong in the middle of what is done here, if it takes more than it may.

    Timers and handlers are the whole process's; in other threads than the first there is no limit.
    """
    seconds = max_seconds(environment)

    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong(f"it takes more than {seconds} s of CPU time ({SECONDS_VARIABLE})")

    try:
        before = signal.signal(signal.SIGVTALRM, stop) if seconds else None
    except ValueError:  # not the first thread
        before = None
    if before is None:
        yield
        return
    try:
        # Again and again: what looks for mistakes may take the first for one, and go on.
        signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)
        signal.setitimer(signal.ITIMER_PROF, seconds + max(seconds // 10, _MORE))
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGVTALRM, before)


def limit_memory(environment: Mapping[str, str]) -> int:
    """Limit the memory of this process and those that it starts; returns the limit, 0 if there is none."""
    import resource

    wanted = max_memory(environment)
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    limits = [limit for limit in (wanted or resource.RLIM_INFINITY, hard) if limit != resource.RLIM_INFINITY]
    new = min(limits, default=resource.RLIM_INFINITY)
    if new != soft:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_AS, (new, hard))
    return wanted


def too_much_memory(environment: Mapping[str, str]) -> str:
    """What to say of a MemoryError."""
    limit = max_memory(environment)
    return f"it takes more than {limit / 1e9:.1f} GB of memory ({MEMORY_VARIABLE})" if limit else "no more memory"
