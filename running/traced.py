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
from collections.abc import Mapping, Sequence
from typing import IO

import msgspec

from incc.support.errors import AnalysisError

EXCEPTIONS = ("invalid operation", "denormal operand", "division by zero", "overflow", "underflow")
"""The exceptions by the bits of the status. The last one, an inexact result, is left out: nearly all results are."""

_TRACE_ME, _CONTINUE, _GET_FLOATING_POINT, _SET_OPTIONS = 0, 7, 14, 0x4200
_OPTIONS = 1 << 3 | 1 << 4 | 1 << 6 | 1 << 20  # threads, exec, ends of threads; kill the program with this process
_EXIT_EVENT = 6
_ALL_CHILDREN = 0x40000000
"""__WALL: threads as well as processes."""
_STATUS_WORD, _CONTROL_STATUS = 2, 24
"""Offsets of the x87 status word and of MXCSR in the floating-point registers (`struct user_fpregs_struct`)."""
_POLL_SECONDS = 0.002
_STOPPED = 0x7F
"""The lower bits of the status of a process that has stopped."""


class Outcome(msgspec.Struct, frozen=True, kw_only=True):
    """The end of a run."""

    status: int | None
    """The exit status, negative for a signal; None if it took too long."""
    seconds: float
    """Processor time of the program's process and of children that it has waited for."""
    exceptions: frozenset[str] | None
    """The floating-point exceptions that its threads have raised; None if they cannot be read."""


def run_traced(
    words: Sequence[str],
    executable: str,
    folder: str,
    environment: Mapping[str, str],
    stdin: IO[bytes] | int,
    limit: float,
) -> Outcome:
    """Run a program without output and return how it ended. Its whole session is killed if it takes too long.

    Args:
        words: the command, whose first word is the program's name for itself.
        executable: the path of the program.
        folder: the working directory.
        environment: the environment.
        stdin: the standard input.
        limit: the longest time in seconds.

    Raises:
        AnalysisError: the program cannot be started.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
    libc.ptrace.restype = ctypes.c_long
    try:
        process = subprocess.Popen(
            words,
            executable=executable,
            cwd=folder,
            env=environment,
            stdin=stdin,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
            preexec_fn=lambda: libc.ptrace(_TRACE_ME, 0, None, None),
        )
    except OSError as error:
        raise AnalysisError(f"{executable}: {error.strerror}") from error
    try:
        return _follow(libc, process, time.monotonic() + limit)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while process.returncode is None and os.waitpid(process.pid, _ALL_CHILDREN)[1] & 0xFF == _STOPPED:
                libc.ptrace(_CONTINUE, process.pid, None, None)


def _follow(libc: ctypes.CDLL, process: subprocess.Popen[bytes], end: float) -> Outcome:
    """Let the program run until it ends, or until a time."""
    known: set[int] = set()
    exceptions: set[str] | None = set()
    while True:
        pid, status, usage = os.wait4(-1, os.WNOHANG | _ALL_CHILDREN)
        if pid == 0:
            if time.monotonic() > end:
                return Outcome(status=None, seconds=0.0, exceptions=None)
            time.sleep(_POLL_SECONDS)
            continue
        if not os.WIFSTOPPED(status):
            if pid == process.pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                raised = None if exceptions is None or not known else frozenset(exceptions)
                return Outcome(status=process.returncode, seconds=usage.ru_utime + usage.ru_stime, exceptions=raised)
            continue
        sent = os.WSTOPSIG(status)
        if pid not in known:
            # The first stop of the program, at its start, and of each thread.
            known.add(pid)
            if pid == process.pid:
                libc.ptrace(_SET_OPTIONS, pid, None, _OPTIONS)
            sent = 0
        elif status >> 16:
            if status >> 16 == _EXIT_EVENT and exceptions is not None:
                raised = _exceptions(libc, pid)
                exceptions = None if raised is None else exceptions | raised
            sent = 0
        if libc.ptrace(_CONTINUE, pid, None, sent) and ctypes.get_errno() != errno.ESRCH:
            raise AnalysisError(f"cannot follow {process.args!r}: {os.strerror(ctypes.get_errno())}")


def _exceptions(libc: ctypes.CDLL, thread: int) -> frozenset[str] | None:
    """Return the floating-point exceptions that a stopped thread has raised, None if they cannot be read."""
    registers = ctypes.create_string_buffer(512)
    if libc.ptrace(_GET_FLOATING_POINT, thread, None, ctypes.addressof(registers)):
        return None
    bits = registers.raw[_STATUS_WORD] | registers.raw[_CONTROL_STATUS]
    return frozenset(name for n, name in enumerate(EXCEPTIONS) if bits >> n & 1)
