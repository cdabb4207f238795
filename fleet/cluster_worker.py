"""The part of a cluster's engine that runs on the workers.

A task of Dask hands a request to a child process of its worker, and waits for the answer. So a request that crashes,
or takes too much time or memory, costs that process and not the worker with all that it holds.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.fleet import messages
from incc.fleet.engines import ENDED, FATAL, STOPPED, Limits, Respond, answer_all, too_slow
from incc.support.signals import tied
from incc.support.version import __version__
from incc.support.workers import how_ended

_OFTEN = 1.0
"""Seconds between two checks whether a task is still wanted."""


class WorkerProgram(msgspec.Struct, frozen=True):
    """The program that the workers' child processes run."""

    module: str
    """The module to run, which passes the number of a connection on to `serve`."""
    settings: bytes
    """The settings for the function that answers requests."""
    limits: Limits
    folder: str
    """The client's working directory, to which names of files are relative."""
    version: str = __version__


_of_thread = threading.local()


def answer_here(program: bytes, request: bytes, *contents: bytes) -> bytes:
    """Answer a request on a worker.

    Args:
        program: The encoded `WorkerProgram`.
        request: The request.
        contents: The contents of the files that it names, if this machine does not have them.

    Returns:
        The worker's address, a zero byte, and the response (`engines.ANSWER` …).
    """
    from distributed import get_worker

    process: _Process | None = getattr(_of_thread, "process", None)
    if process is None or process.program != program or not process.runs:
        if process is not None:
            process.end()
        process = _of_thread.process = _Process(program)
    if contents:
        request = _with_contents(request, contents, get_worker().local_directory)
    place: bytes = get_worker().address.encode()
    return place + b"\0" + process.response(request)


def file_contents(content: bytes) -> bytes:
    """Return the contents of a file: the task that Dask repeats if the worker with its result is lost."""
    return content


def _with_contents(request: bytes, contents: Sequence[bytes], folder: str) -> bytes:
    """Write the contents of a request's files to a folder, and return the request with these files."""
    decoded = messages.request(request)
    files = []
    for stamp, content in zip(decoded.files, contents, strict=True):
        path = os.path.join(folder, hashlib.blake2b(content, digest_size=16).hexdigest())
        if not os.path.exists(path):
            with open(f"{path}.{threading.get_ident()}", "wb") as file:
                file.write(content)
            os.replace(file.name, path)
        files.append(replace(stamp, here=path))
    decoded.files = files
    return messages.encoded(decoded)


class _Process:
    """A child process of this worker, which answers requests."""

    def __init__(self, program: bytes) -> None:
        self.program = program
        described = msgspec.msgpack.decode(program, type=WorkerProgram)
        self._limits = described.limits
        here, there = Pipe()
        words = [sys.executable, "-m", described.module, str(there.fileno())]
        path, words = tied(sys.executable, words)
        self._process = subprocess.Popen(words, executable=path, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL)
        there.close()
        self._connection: Connection = here
        here.send_bytes(program)

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def response(self, request: bytes) -> bytes:
        """Return the response to a request. One that takes too long or was cancelled ends the process."""
        from distributed.worker import thread_state

        begun = time.monotonic()
        try:
            self._connection.send_bytes(request)
            while not self._connection.poll(_OFTEN):
                if self._limits.seconds and time.monotonic() > begun + self._limits.seconds:
                    self.end()
                    return STOPPED + too_slow(self._limits).encode()
                if not _is_wanted(getattr(thread_state, "key", None)):
                    self.end()
                    return ENDED + b"cancelled"
            response = self._connection.recv_bytes()
            if response[:1] == ENDED:
                self.end()
            return response
        except (EOFError, OSError):
            self.end()
            return ENDED + f"a worker's process {how_ended(self._process.returncode)}".encode()

    def end(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()


def _is_wanted(key: Any) -> bool:
    """Return False for a task that was cancelled."""
    from distributed import get_worker

    task = get_worker().state.tasks.get(key)
    return key is None or (task is not None and task.state == "executing")


def serve(connection_number: str, load: Callable[[bytes], Respond]) -> None:
    """Answer a worker's requests in this process.

    Args:
        connection_number: the file descriptor of the connection to the worker.
        load: makes the function that answers requests from the settings of the program.
    """
    connection = Connection(int(connection_number))
    program = msgspec.msgpack.decode(connection.recv_bytes(), type=WorkerProgram)
    if program.version != __version__:
        text = f"a worker has incc {__version__}, but the scan needs {program.version}"
        connection.recv_bytes()
        connection.send_bytes(FATAL + text.encode())
        return
    with contextlib.suppress(OSError):  # without it, contents of files are sent along
        os.chdir(program.folder)
    answer_all(connection, load(program.settings), program.limits.memory)
