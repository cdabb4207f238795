"""The wrapper's child processes: the real compiler, the runs for the analysis, and the signals meant for them.

Programs are started with `posix_spawn`: the compiler inherits what may have been passed on purpose (make's job server,
the pipe of a process substitution), and gets the signal mask that we were started with.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from incc.support.signals import end_in_order, stopping, tied

if TYPE_CHECKING:

    class Watcher(Protocol):
        """A process that continues the compilation if this one is killed."""

        def started(self, process: int) -> None:
            """Note that the compiler runs."""

        def finished(self, status: int) -> None:
            """Note that the compiler has ended, with a status in waitpid(2)'s form."""

        def leaving(self) -> None:
            """Note that this process ends on purpose."""


class Children:
    """The running children.

    This installs handlers for the signals that stop a process, which wait for the compiler before they end this one;
    `processes.Processes` does not. While waiting, signals
    are received synchronously, because only that tells who sent them: a signal from the terminal went to the compiler
    as well, and a second one might keep it from removing half-written files.
    """

    __slots__ = ("_live", "_mask", "_statuses", "_stopping", "_watcher", "compiler", "interrupted")

    def __init__(self, watcher: Watcher | None = None) -> None:
        self._watcher = watcher
        self.compiler = 0
        """The process id of the real compiler, which gets the signals sent to us; 0 before it is started."""
        self.interrupted = 0
        """The signal that asked this process to stop, 0 for none."""
        self._live: set[int] = set()
        self._statuses: dict[int, int] = {}
        self._mask = signal.pthread_sigmask(signal.SIG_BLOCK, ())
        # make and shells may ignore the end of children, which could then not be waited for.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._stopping = stopping()
        end_in_order(self._stop)

    def start(
        self,
        path: str,
        words: Sequence[str],
        environment: Mapping[str, str],
        *,
        stdin: int | None = None,
        output: str | None = None,
    ) -> int:
        """Start a program and return its process id. Raises OSError.

        It reads from the file descriptor `stdin`, or inherits our standard input. With `output`, the path of a log
        file, both its output streams go there, and standard input is empty if not given.
        """
        actions: list[tuple[int, int, int] | tuple[int, int, str, int, int]] = []
        if stdin is not None:
            actions.append((os.POSIX_SPAWN_DUP2, stdin, 0))
        elif output is not None:
            actions.append((os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0))
        if output is not None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
            actions.append((os.POSIX_SPAWN_OPEN, 1, output, flags, 0o600))
            actions.append((os.POSIX_SPAWN_DUP2, 1, 2))
        return self._spawn(*tied(path, words), environment, actions)

    def _spawn(
        self,
        path: str,
        words: Sequence[str],
        environment: Mapping[str, str],
        actions: Sequence[tuple[int, int, int] | tuple[int, int, str, int, int]],
    ) -> int:
        process = os.posix_spawn(
            path,
            list(words),
            environment,
            file_actions=actions,
            setsigmask=self._mask,
            # The interpreter ignores these two.
            setsigdef=(signal.SIGPIPE, signal.SIGXFSZ),
        )
        self._live.add(process)
        return process

    def start_compiler(
        self, path: str, words: Sequence[str], environment: Mapping[str, str], stdin: int | None
    ) -> None:
        """Start the real compiler, with our own standard streams. It goes on if this process dies (front/watch.cpp)."""
        # A signal between the start and the note of it would lose the child.
        signal.pthread_sigmask(signal.SIG_BLOCK, self._stopping)
        try:
            actions = [] if stdin is None else [(os.POSIX_SPAWN_DUP2, stdin, 0)]
            self.compiler = self._spawn(path, words, environment, actions)
            if self._watcher is not None:
                self._watcher.started(self.compiler)
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def read_input(self) -> bytes:
        """Return the rest of our standard input."""
        parts: list[bytes] = []
        while part := os.read(0, 1 << 20):
            parts.append(part)
        return b"".join(parts)

    def status(self, process: int) -> int | None:
        """Return a child's exit status, or the negative number of the signal that killed it; None while it runs."""
        # A signal between the end of a child and the note of it would lose its status.
        mask = signal.pthread_sigmask(signal.SIG_BLOCK, self._stopping)
        try:
            self._reap()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        return self._statuses.get(process)

    def wait(self, process: int) -> int:
        """Wait for a child and return its exit status, or the negative number of the signal that killed it.

        If the compiler fails or is told to stop meanwhile, other children are killed.
        """
        watched = {signal.SIGCHLD, *self._stopping}
        signal.pthread_sigmask(signal.SIG_BLOCK, watched)
        try:
            while (status := self.status(process)) is None:
                if process != self.compiler and (self.interrupted or self._statuses.get(self.compiler)):
                    os.kill(process, signal.SIGKILL)
                    _, raw = os.waitpid(process, 0)
                    self._record(process, raw)
                    continue
                info = signal.sigwaitinfo(watched)
                if info.si_signo != signal.SIGCHLD:
                    self.interrupted = info.si_signo
                    # si_code above 0: the kernel sent it for a key, and the compiler got it too.
                    if info.si_code <= 0 and self.compiler in self._live:
                        os.kill(self.compiler, info.si_signo)
            return status
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, self._mask)

    def _stop(self, number: int) -> int:
        """Pass on a signal that arrived while no child was being waited for, and wait for the compiler.

        The sender is unknown here. Signals of keys (SIGINT, SIGQUIT) have reached the compiler already. Returns the
        compiler's exit status if it failed, else the negative number of a signal.
        """
        self.interrupted = number
        for process in self._live:
            if process != self.compiler:
                os.kill(process, signal.SIGKILL)
            elif number in (signal.SIGTERM, signal.SIGHUP):
                os.kill(process, number)
        status = self.wait(self.compiler) if self.compiler else 0
        if self._watcher is not None:
            self._watcher.leaving()
        return status or -number

    def _reap(self) -> None:
        for process in list(self._live):
            reaped, raw = os.waitpid(process, os.WNOHANG)
            if reaped:
                self._record(process, raw)

    def _record(self, process: int, raw: int) -> None:
        self._live.discard(process)
        self._statuses[process] = os.waitstatus_to_exitcode(raw)
        if process == self.compiler and self._watcher is not None:
            self._watcher.finished(raw)
