"""Child processes for programs that are more than a compiler wrapper.

Signal handlers, standard streams and folder of this process stay as they are, so threads may compile concurrently.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import BinaryIO

from incc.support.signals import tied


class Processes:
    """The running children of one compilation (see `children.Children`).

    They run in `folder`, "" for this process's. The compiler reads `stdin`, and writes to the two files `streams`, or
    to this process's own streams if they are None.
    """

    __slots__ = ("_folder", "_live", "_stdin", "_streams", "compiler", "interrupted")

    def __init__(self, folder: str, stdin: bytes, streams: tuple[BinaryIO, BinaryIO] | None) -> None:
        self.compiler = 0
        self.interrupted = 0
        self._folder = folder or None
        self._stdin = stdin
        self._streams = streams
        self._live: dict[int, subprocess.Popen[bytes]] = {}

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

        It reads from the file descriptor `stdin`, by default nothing. With `output`, the path of a log file, both its
        output streams go there.
        """
        path, words = tied(path, words)
        with open(output, "wb") if output is not None else nullcontext() as log:
            out, err = (log, log) if log else self._streams or (None, None)
            child = subprocess.Popen(
                list(words),
                executable=path,
                cwd=self._folder,
                env=dict(environment),
                stdin=subprocess.DEVNULL if stdin is None else stdin,
                stdout=out,
                stderr=err,
            )
        self._live[child.pid] = child
        return child.pid

    def start_compiler(
        self, path: str, words: Sequence[str], environment: Mapping[str, str], stdin: int | None
    ) -> None:
        """Start the real compiler. Raises OSError."""
        self.compiler = self.start(path, words, environment, stdin=stdin)

    def read_input(self) -> bytes:
        """Return the compiler's standard input."""
        return self._stdin

    def status(self, process: int) -> int | None:
        """Return a child's exit status, or the negative number of the signal that killed it.

        The result is None while it runs, and for a process that is no child.
        """
        return self._live[process].poll() if process in self._live else None

    def wait(self, process: int) -> int:
        """Wait for a child and return its exit status, or the negative number of the signal that killed it."""
        return self._live[process].wait()

    def stop(self, number: int) -> None:
        """Send a signal to the compiler, and kill the other children."""
        self.interrupted = number
        for process, child in self._live.items():
            child.send_signal(number if process == self.compiler else signal.SIGKILL)

    def end(self) -> None:
        """Stop all running children and wait for them. A compiler that is told to stop removes half-written files."""
        if any(child.poll() is None for child in self._live.values()):
            self.stop(signal.SIGTERM)
        for child in self._live.values():
            child.wait()


class Finished(Processes):
    """The children of a compilation whose compiler has succeeded already."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__("", b"", None)

    def start_compiler(
        self, path: str, words: Sequence[str], environment: Mapping[str, str], stdin: int | None
    ) -> None:
        """Note that the compiler has been started."""
        self.compiler = -1

    def status(self, process: int) -> int | None:
        """Return a child's exit status; the compiler's is 0."""
        return 0 if process == self.compiler else super().status(process)

    def wait(self, process: int) -> int:
        """Wait for a child and return its exit status; the compiler's is 0."""
        return 0 if process == self.compiler else super().wait(process)
