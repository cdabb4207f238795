"""The part of a cluster's engine that runs on the workers.

A task of Dask hands a request to a child process of its worker, and waits for the answer. So a request that crashes,
or takes too much time or memory, costs that process and not the worker with all that it holds. The child processes of a
scan, and copies of files that this machine does not see, stay until the scan ends, or has no requests for some minutes.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.fleet import messages
from incc.fleet.engines import ENDED, FATAL, REFUSED, STOPPED, Limits, Respond, answer_all, too_slow
from incc.fleet.messages import Stamp
from incc.support.signals import tied
from incc.support.version import __version__
from incc.support.workers import how_ended

IDLE_SECONDS = 300.0
"""Seconds without a request after which a scan counts as ended: its client may have been killed."""

MOST_COPIED = 4 << 30
"""The bytes of the copies that a scan keeps on a worker."""

_POLL_SECONDS = 1.0
"""Seconds between two checks whether a task is still wanted."""


class WorkerProgram(msgspec.Struct, frozen=True):
    """The program that the workers' child processes run."""

    module: str
    """The module to run, which passes the number of a connection on to `serve`."""
    settings: bytes
    """The settings for the function that answers requests."""
    limits: Limits
    """The limits of a request."""
    folder: str
    """The client's working directory, to which names of files are relative."""
    version: str = __version__
    client: str = ""
    """The client's name, so that equal scans of two clients end by themselves."""


# --- tasks ------------------------------------------------------------------------------------------------------------


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

    worker = get_worker()
    with _scans.used(program) as scan:
        try:
            with (
                scan.copies.named(request, contents, worker.local_directory) as changed,
                scan.child(worker.state.nthreads) as child,
            ):
                response = child.response(changed)
        except _Refusal as error:
            response = REFUSED + str(error).encode("utf-8", "replace")
    place: bytes = worker.address.encode()
    return place + b"\0" + response


def end_scan(program: bytes) -> None:
    """End a scan's child processes on this worker, and remove its copies of files. Does not wait for that."""
    _scans.end(program)


def file_contents(content: bytes) -> bytes:
    """Return the contents of a file: the task that Dask repeats if the worker with its result is lost."""
    return content


# --- scans ------------------------------------------------------------------------------------------------------------


class _Refusal(Exception):
    """The reason why this worker cannot take a request that another one may."""


_lock = threading.Lock()
"""Guards everything about scans, which a worker's threads share."""


class _Scan:
    """A scan's child processes and copies of files on this worker."""

    def __init__(self, program: bytes) -> None:
        self.copies = _Copies()
        self.requests = 0
        """The number of requests that are being answered."""
        self.last_used = time.monotonic()
        self.has_ended = False
        self.idle: list[_Child] = []
        self.busy: set[_Child] = set()
        self._program = program

    @contextlib.contextmanager
    def child(self, most: int) -> Iterator[_Child]:
        """Use a child process for a request. Raises _Refusal if none can be started.

        Args:
            most: The most processes of all scans: the number of this worker's threads.
        """
        child = self._idle_child() or self._started(most)
        try:
            yield child
        except BaseException:
            child.end()  # it may still answer
            raise
        finally:
            with _lock:
                self.busy.discard(child)
                if not child.has_ended:
                    self.idle.append(child)

    def _idle_child(self) -> _Child | None:
        with _lock:
            while self.idle:
                child = self.idle.pop()
                if child.runs:
                    self.busy.add(child)
                    return child
                child.end()
        return None

    def _started(self, most: int) -> _Child:
        for other in _scans.superfluous(most):
            other.end()
        try:
            child = _Child(self._program)
        except OSError as error:
            raise _Refusal(f"no process for the work: {error.strerror or error}") from None
        with _lock:
            self.busy.add(child)
        return child

    def end(self) -> None:
        """End the idle processes, and remove the copies. No request may use this scan any more."""
        for child in self.idle:
            child.end()
        self.copies.remove()


class _Scans:
    """The scans of this worker, by their programs."""

    def __init__(self) -> None:
        self._scans: dict[bytes, _Scan] = {}
        self._timer: threading.Timer | None = None

    @contextlib.contextmanager
    def used(self, program: bytes) -> Iterator[_Scan]:
        """Use a scan for a request."""
        with _lock:
            scan = self._scans.setdefault(program, _Scan(program))
            scan.requests += 1
        try:
            yield scan
        finally:
            with _lock:
                scan.requests -= 1
                scan.last_used = time.monotonic()
                is_last = scan.has_ended and not scan.requests
                self._watch()
            if is_last:
                scan.end()

    def superfluous(self, most: int) -> list[_Child]:
        """Remove and return idle processes, those that are unused for longest first, so that one more may be started.

        Requests are counted instead of their processes: each has one, or is about to have one.
        """
        with _lock:
            scans = sorted(self._scans.values(), key=lambda scan: scan.last_used)
            idle = [(scan, child) for scan in scans for child in scan.idle]
            count = max(0, len(idle) + sum(scan.requests for scan in scans) - most)
            for scan, child in idle[:count]:
                scan.idle.remove(child)
            return [child for _, child in idle[:count]]

    def end(self, program: bytes) -> None:
        """End a scan; its last request does so if there are some, which lose their processes."""
        with _lock:
            scan = self._scans.pop(program, None)
            if scan is None:
                return
            scan.has_ended = True
            for child in scan.busy:
                child.kill()
            if scan.requests:
                return
        threading.Thread(target=scan.end, daemon=True).start()  # waits, which Dask's event loop must not

    def _watch(self) -> None:
        """Have idle scans ended later. The lock is held."""
        if self._scans and self._timer is None:
            self._timer = threading.Timer(IDLE_SECONDS, self._end_idle)
            self._timer.daemon = True
            self._timer.start()

    def _end_idle(self) -> None:
        with _lock:
            self._timer = None
            last = time.monotonic() - IDLE_SECONDS
            idle = {each: scan for each, scan in self._scans.items() if not scan.requests and scan.last_used <= last}
            for program in idle:
                del self._scans[program]
            self._watch()
        for scan in idle.values():
            scan.end()


_scans = _Scans()


# --- copies of files --------------------------------------------------------------------------------------------------


class _Copy(msgspec.Struct, eq=False):
    """A copy of a file that this machine does not see."""

    path: str
    size: int
    users: int = 0
    """The number of requests that use it."""


class _Copies:
    """The copies of files that a scan has on this worker, those that were used last at the end."""

    def __init__(self) -> None:
        self._copies: OrderedDict[Stamp, _Copy] = OrderedDict()

    @contextlib.contextmanager
    def named(self, request: bytes, contents: Sequence[bytes], folder: str) -> Iterator[bytes]:
        """Keep the copies of a request's files, and yield the request with their paths. Raises _Refusal.

        Args:
            request: The request.
            contents: The contents of its files if they came along. They are copied if there are no copies yet.
            folder: The folder for copies.
        """
        if not contents and not self._copies:
            yield request
            return
        decoded = messages.request(request)
        used: list[_Copy] = []
        try:
            for n, stamp in enumerate(decoded.files):
                copy = self._use(stamp) or (self._add(stamp, contents[n], folder) if contents else None)
                if copy is not None:
                    used.append(copy)
                    decoded.files[n] = replace(stamp, here=copy.path)
            yield messages.encoded(decoded) if used else request
        finally:
            with _lock:
                for copy in used:
                    copy.users -= 1
            self._shrink(MOST_COPIED)

    def _use(self, stamp: Stamp) -> _Copy | None:
        """Return the copy of a file, which is kept from now on, None if there is none."""
        with _lock:
            copy = self._copies.get(stamp)
            if copy is None:
                return None
            if not os.path.exists(copy.path):  # somebody has tidied up
                del self._copies[stamp]
                return None
            self._copies.move_to_end(stamp)
            copy.users += 1
            return copy

    def _add(self, stamp: Stamp, content: bytes, folder: str) -> _Copy:
        """Return a new copy of a file, which is kept from now on. Raises _Refusal."""
        try:
            try:
                path = _written(content, folder)
            except OSError:
                self._shrink(0)  # then there may be room
                path = _written(content, folder)
        except OSError as error:
            raise _Refusal(f"no copy of the file on a worker: {error.strerror}") from None
        self._shrink(max(0, MOST_COPIED - len(content)))
        with _lock:
            copy = self._copies.setdefault(stamp, _Copy(path, len(content)))
            copy.users += 1
        if copy.path != path:  # another thread was faster
            _remove(path)
        return copy

    def _shrink(self, most: int) -> None:
        """Remove unused copies, until the others have so many bytes at most."""
        removed = []
        with _lock:
            size = sum(copy.size for copy in self._copies.values())
            for stamp, copy in list(self._copies.items()):
                if size > most and not copy.users:
                    size -= copy.size
                    removed.append(self._copies.pop(stamp))
        for copy in removed:
            _remove(copy.path)

    def remove(self) -> None:
        """Remove all copies."""
        for copy in self._copies.values():
            _remove(copy.path)


def _written(content: bytes, folder: str) -> str:
    """Write a new file in a folder, and return its path. Raises OSError, with no file left."""
    descriptor, path = tempfile.mkstemp(prefix="incc-", dir=folder)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
    except BaseException:
        _remove(path)
        raise
    return path


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


# --- child processes --------------------------------------------------------------------------------------------------


class _Child:
    """A child process of this worker, which answers requests."""

    def __init__(self, program: bytes) -> None:
        """Start a process. Raises OSError."""
        described = msgspec.msgpack.decode(program, type=WorkerProgram)
        self.has_ended = False
        self._limits = described.limits
        here, there = Pipe()
        with there:
            words = [sys.executable, "-m", described.module, str(there.fileno())]
            path, words = tied(sys.executable, words)
            try:
                self._process = subprocess.Popen(
                    words, executable=path, pass_fds=[there.fileno()], stdin=subprocess.DEVNULL
                )
            except BaseException:
                here.close()
                raise
        self._connection: Connection = here
        try:
            here.send_bytes(program)
        except OSError:
            self.end()
            raise

    @property
    def runs(self) -> bool:
        return self._process.poll() is None

    def response(self, request: bytes) -> bytes:
        """Return the response to a request. One that takes too long or was cancelled ends the process."""
        from distributed.worker import thread_state

        begun = time.monotonic()
        try:
            self._connection.send_bytes(request)
            while not self._connection.poll(_POLL_SECONDS):
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

    def kill(self) -> None:
        """Kill the process, which another thread may be using."""
        self._process.kill()

    def end(self) -> None:
        """Kill the process, and wait for its end. No other thread may be using it."""
        self.has_ended = True
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
