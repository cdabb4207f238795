"""Child processes for programs that are more than a compiler wrapper: signals, standard streams and folder of the
process stay as they are, and other threads may do the same at the same time."""

from __future__ import annotations

import signal
import subprocess
from typing import TYPE_CHECKING, BinaryIO

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Processes:
    """The running children, as `children.Children` has them, for one compilation.

    They run in `folder` ("" for this process's). What the compiler reads from standard input is `given`; what it writes
    goes to the two files `streams`, or to this process's own streams if that is None.
    """

    __slots__ = ("_folder", "_given", "_live", "_streams", "compiler", "interrupted")

    def __init__(self, folder: str, given: bytes, streams: tuple[BinaryIO, BinaryIO] | None) -> None:
        self.compiler = 0
        self.interrupted = 0
        self._folder = folder or None
        self._given = given
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
        """Start a program and return its process id; OSError if that fails.

        It reads from the file descriptor `stdin`, by default nothing; with `output`, the path of a log file, both its
        output streams go there.
        """
        if output is None:
            out, err = self._streams or (None, None)
            return self._start(path, words, environment, stdin, out, err)
        with open(output, "wb") as log:
            return self._start(path, words, environment, stdin, log, log)

    def start_compiler(
        self, path: str, words: Sequence[str], environment: Mapping[str, str], stdin: int | None
    ) -> None:
        """Start the real compiler; OSError if that fails."""
        self.compiler = self.start(path, words, environment, stdin=stdin)

    def read_input(self) -> bytes:
        """What the compiler reads from standard input."""
        return self._given

    def status(self, process: int) -> int | None:
        """A child's exit status, negative for death by that signal; None while it runs, or if there is none."""
        return self._live[process].poll() if process in self._live else None

    def wait(self, process: int) -> int:
        """Wait for a child; returns its exit status, negative for death by that signal."""
        return self._live[process].wait()

    def stop(self, number: int) -> None:
        """Send a signal to the compiler, and end the others."""
        self.interrupted = number
        for process, child in self._live.items():
            child.send_signal(number if process == self.compiler else signal.SIGKILL)

    def end(self) -> None:
        """End what still runs, and wait for it. A compiler that is told to stop removes what it has half written."""
        if any(child.poll() is None for child in self._live.values()):
            self.stop(signal.SIGTERM)
        for child in self._live.values():
            child.wait()

    def _start(
        self,
        path: str,
        words: Sequence[str],
        environment: Mapping[str, str],
        stdin: int | None,
        out: BinaryIO | None,
        err: BinaryIO | None,
    ) -> int:
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
