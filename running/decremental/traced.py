"""Runs of a program under ptrace: how it ended, its processor time, and the floating-point exceptions it raised.

The kernel stops each thread when it ends, while its registers are still there. Between its beginning and its end, a
thread is stopped for signals only.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

import msgspec

from incc.support.errors import AnalysisError

EXCEPTIONS = ("invalid operation", "denormal operand", "division by zero", "overflow", "underflow")
"""The exceptions by the bits of the status. The last one, an inexact result, is left out: nearly all results are."""

_TRACE_ME, CONTINUE, _GET_FLOATING_POINT, SET_OPTIONS = 0, 7, 14, 0x4200
OPTIONS = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 20  # threads, exec, ends of threads; kill the program with this process
_EXIT_EVENT = 6
ALL_CHILDREN = 0x40000000
"""__WALL: threads as well as processes."""
_STATUS_WORD, _CONTROL_STATUS = 2, 24
"""Offsets of the x87 status word and of MXCSR in the floating-point registers (`struct user_fpregs_struct`)."""
_POLL_SECONDS = 0.002
_FIXED_ADDRESSES = 0x0040000
"""ADDR_NO_RANDOMIZE of personality."""


class RunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run."""

    status: int | None
    """The exit status, negative for a signal; None if it took too long."""
    seconds: float
    """Processor time of the program's process and of children that it has waited for."""
    exceptions: frozenset[str] | None
    """The floating-point exceptions that its threads have raised; None if they cannot be read."""


class Start(msgspec.Struct, frozen=True, kw_only=True):
    """A program to start, without output."""

    words: Sequence[str]
    """The command, whose first word is the program's name for itself."""
    executable: str
    folder: str
    """The working directory."""
    environment: Mapping[str, str]
    stdin: IO[bytes]


def run_traced(start: Start, limit: float) -> RunEnd:
    """Run a program for at most `limit` seconds and return how it ended. Raises AnalysisError if it cannot start."""
    with started(start) as (libc, process):
        return _follow(libc, process, time.monotonic() + limit)


@contextlib.contextmanager
def started(start: Start, fixed: bool = False) -> Iterator[tuple[ctypes.CDLL, subprocess.Popen[bytes]]]:
    """Yield the C library and a program that has not run yet. In the end, its whole session is killed.

    `fixed`: it is loaded to the same addresses each time. Raises AnalysisError if it cannot be started.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long

    def prepare() -> None:
        if fixed:
            libc.personality(_FIXED_ADDRESSES)
        libc.ptrace(_TRACE_ME, 0, None, None)

    try:
        process = subprocess.Popen(
            start.words,
            executable=start.executable,
            cwd=start.folder,
            env=start.environment,
            stdin=start.stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=prepare,
        )
    except OSError as error:
        raise AnalysisError(f"{start.executable}: {error.strerror}") from error
    try:
        yield libc, process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            ended = process.returncode is not None
            while not ended:
                pid, status = os.waitpid(-1, ALL_CHILDREN)
                if os.WIFSTOPPED(status):  # at the end of a thread
                    libc.ptrace(CONTINUE, pid, None, None)
                ended = pid == process.pid and not os.WIFSTOPPED(status)


def _follow(libc: ctypes.CDLL, process: subprocess.Popen[bytes], end: float) -> RunEnd:
    """Let the program run until it ends, or until a time."""
    known: set[int] = set()
    exceptions: set[str] | None = set()
    while True:
        pid, status, usage = os.wait4(-1, os.WNOHANG | ALL_CHILDREN)
        if pid == 0:
            if time.monotonic() > end:
                return RunEnd(status=None, seconds=0.0, exceptions=None)
            time.sleep(_POLL_SECONDS)
            continue
        if not os.WIFSTOPPED(status):
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                raised = None if exceptions is None or not known else frozenset(exceptions)
                return RunEnd(status=process.returncode, seconds=usage.ru_utime + usage.ru_stime, exceptions=raised)
            continue
        sent = os.WSTOPSIG(status)
        if pid not in known:
            # The first stop of the program, at its start, and of each thread.
            known.add(pid)
            if pid == process.pid:
                libc.ptrace(SET_OPTIONS, pid, None, OPTIONS)
            sent = 0
        elif status >> 16:
            if status >> 16 == _EXIT_EVENT and exceptions is not None:
                raised = _exceptions(libc, pid)
                exceptions = None if raised is None else exceptions | raised
            sent = 0
        if libc.ptrace(CONTINUE, pid, None, sent) and ctypes.get_errno() != errno.ESRCH:
            raise AnalysisError(f"cannot follow {process.args!r}: {os.strerror(ctypes.get_errno())}")


def _exceptions(libc: ctypes.CDLL, thread: int) -> frozenset[str] | None:
    """Return the floating-point exceptions that a stopped thread has raised, None if they cannot be read."""
    registers = ctypes.create_string_buffer(512)
    if libc.ptrace(_GET_FLOATING_POINT, thread, None, ctypes.addressof(registers)):
        return None
    bits = registers.raw[_STATUS_WORD] | registers.raw[_CONTROL_STATUS]
    return frozenset(name for n, name in enumerate(EXCEPTIONS) if bits >> n & 1)
