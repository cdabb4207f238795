"""A service of warm workers for compilations that analyse their own jobs (front/service.cpp starts it).

A compilation connects to the service's socket and sends its environment and the folder of its temporary files, in
which `job` is a sealed job: one of `jobs.py`, or the command for the full mode's work after the compiler
(front/full.cpp). A worker takes it, answers `A`, its number and a line's end, and when the job is done an exit status
and a line's end. If the compilation ends before that, so does the worker, and removes the folder.

Workers are forked with all modules loaded, one per CPU at most. A worker does several jobs, since tables of
instructions fill with use, each with the environment and the standard streams of its compilation; all else that could
differ between compilations is in the socket's name. It is replaced after a number of jobs, and after each job with
problems. The service ends a few seconds after its last job, or when the processes of the builds have ended.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import select
import shutil
import signal
import socket
import stat
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator

import msgspec

from incc.driver.builds.jobs import run_job
from incc.driver.builds.workers import Pool, load_everything
from incc.support import signals
from incc.support.signals import unfinished
from incc.support.trust import is_sealed, key_file, read_key
from incc.support.workers import cpus

IDLE = 3.0
"""Seconds without a job after which the service ends."""

_TICK = 0.1
"""Seconds between two looks at the builds."""

_PATIENCE = 10
"""Seconds that a compilation may take to send its request."""

_LARGEST = 1 << 24
"""Most bytes of a request."""

_SCRATCH = re.compile(r"incc-\d{20}-(?P<process>\d+)")
"""The name of a compilation's folder for temporary files (makeScratch in front/files.cpp)."""

_NOTICE = struct.Struct("=ii?")
"""A worker's number, the process group of a build, and whether the worker has one of that build's jobs."""

_CREDENTIALS = struct.Struct("=iII")
"""A process, its user and its group (SO_PEERCRED in unix(7))."""


class Request(msgspec.Struct, frozen=True):
    """The job of a compilation."""

    connection: socket.socket
    scratch: str
    """The compilation's folder for temporary files."""
    group: int
    """The process group of its build."""
    environment: dict[bytes, bytes]
    streams: tuple[int, ...]
    """File descriptors of its standard output and error if its output is shown to the user."""

    @property
    def job(self) -> str:
        """The job's folder."""
        return os.path.join(self.scratch, "job")


class Desk:
    """The place that workers take the requests of compilations from."""

    patience: float | None = None
    nice = 0  # the compilation waits
    renewed_after = 100

    def __init__(self, listener: socket.socket, notices: int, full: Callable[[list[str]], int]) -> None:
        listener.setblocking(False)
        self._full = full
        self.listener = listener
        self.wakes: tuple[int, ...] = (listener.fileno(),)
        self._notices = notices

    def take(self) -> Request | None:
        """Accept a request; None if there is none, or if it is not a job of this user's incc."""
        try:
            connection, _ = self.listener.accept()
        except OSError:  # another worker was faster
            return None
        connection.settimeout(_PATIENCE)
        with contextlib.suppress(OSError, ValueError, IndexError):
            if request := _read(connection):
                return request
        connection.close()
        return None

    def give_back(self, process: int, guilty: bool, hopeless: bool = False) -> list[str]:
        """Forget a worker that has ended; its compilation notices the end of the connection."""
        return []

    def run(self, request: Request) -> bool:
        """Do a job and answer. Returns True if this worker has to be replaced."""
        self._notify(request, busy=True)
        os.setpgid(0, 0)  # this worker and its children, which may have to end together
        status = 1
        try:
            with request.connection, _surroundings(request):
                watch = _Watch(request)
                request.connection.sendall(b"A%d\n" % os.getpid())
                try:
                    status = self._do(request.job)
                finally:
                    watch.end()
                request.connection.sendall(b"%d\n" % status)
        except OSError:  # the compilation has ended
            pass
        self._notify(request, busy=False)
        return status != 0

    def _do(self, place: str) -> int:
        """Do a job and return the exit status for its compilation."""
        with open(os.path.join(place, "job.json"), "rb") as file:
            job = json.loads(file.read())
        if "started" not in job:
            return int(bool(run_job(place)))
        os.chdir(job["folder"])
        return self._full(job["started"])

    def _notify(self, request: Request, busy: bool) -> None:
        os.write(self._notices, _NOTICE.pack(os.getpid(), request.group, busy))


def _read(connection: socket.socket) -> Request | None:
    """Read a request and check it. Raises OSError, ValueError and IndexError for one that makes no sense."""
    size = _CREDENTIALS.size
    process, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, size))
    if user != os.geteuid():
        return None
    data, streams, _, _ = socket.recv_fds(connection, 1 << 16, 2)
    try:
        for descriptor in streams:
            os.set_inheritable(descriptor, False)
        length = int(data[:8], 16)
        while len(data) < 8 + length <= _LARGEST:
            part = connection.recv(1 << 16)
            if not part:
                break
            data += part
        if len(data) != 8 + length:
            raise ValueError("cut off")
        scratch, group, shown, *variables = data[8:].split(b"\0")
        pairs = [variable.partition(b"=") for variable in variables]
        request = Request(
            connection,
            os.fsdecode(scratch),
            int(group),
            {name: value for name, equals, value in pairs if name and equals},
            tuple(streams) if shown == b"1" else (),
        )
        environment = {os.fsdecode(name): os.fsdecode(value) for name, value in request.environment.items()}
        if _is_own_folder(request.scratch, process) and is_sealed(request.job, read_key(key_file(environment))):
            return request
    except (OSError, ValueError, IndexError):
        pass
    for descriptor in streams:
        os.close(descriptor)
    return None


def _is_own_folder(path: str, process: int) -> bool:
    """Return True if a folder is that of a process of this user for temporary files."""
    match = _SCRATCH.fullmatch(os.path.basename(path))
    status = os.lstat(path)
    return (
        match is not None
        and int(match["process"]) == process
        and os.path.isabs(path)
        and stat.S_ISDIR(status.st_mode)
        and status.st_uid == os.geteuid()
        and not status.st_mode & 0o077
    )


@contextlib.contextmanager
def _surroundings(request: Request) -> Iterator[None]:
    """Give this process the environment and the streams of a compilation, and its own ones afterwards."""
    own = dict(os.environb)
    # Temporary files disappear with the compilation's own.
    os.environb.clear()
    os.environb.update(request.environment)
    os.environ["TMPDIR"] = request.scratch
    for stream, descriptor in zip((1, 2), request.streams, strict=False):
        os.dup2(descriptor, stream)
        os.close(descriptor)
    try:
        yield
    finally:
        os.environb.clear()
        os.environb.update(own)
        os.chdir("/")
        if request.streams:
            for text in (sys.stdout, sys.stderr):
                with contextlib.suppress(OSError):
                    text.flush()
            null = os.open(os.devnull, os.O_RDWR)
            for stream in (1, 2):
                os.dup2(null, stream)
            os.close(null)


class _Watch:
    """A thread that ends this worker and its children if the compilation ends before its job is done."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._end = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Let the thread end."""
        os.eventfd_write(self._end, 1)
        self._thread.join()
        os.close(self._end)

    def _run(self) -> None:
        connection = self._request.connection.fileno()
        poll = select.poll()
        poll.register(connection, select.POLLIN | select.POLLRDHUP)
        poll.register(self._end, select.POLLIN)
        if self._end in [descriptor for descriptor, _ in poll.poll()]:
            return
        try:
            kept = self._request.connection.recv(1)
        except OSError:
            kept = b""
        # A compilation that does not wait any longer says so, and does the job itself.
        if not kept:
            shutil.rmtree(self._request.scratch, ignore_errors=True)
            for file in [*unfinished]:
                with contextlib.suppress(OSError):
                    os.unlink(file)
        os.killpg(0, signal.SIGKILL)


class _Builds:
    """The builds that have sent jobs, and which workers are busy, by the workers' notices."""

    def __init__(self) -> None:
        self.reading, self.writing = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
        self.groups: set[int] = set()
        self.busy: set[int] = set()
        self.since = time.monotonic()
        """The time of the last notice."""

    def read(self, workers: set[int]) -> None:
        """Read what there is to read. `workers`: those that have not ended."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.reading, 256 * _NOTICE.size):
                self.since = time.monotonic()
                for process, group, busy in _NOTICE.iter_unpack(data):
                    self.groups.add(group)
                    (self.busy.add if busy else self.busy.discard)(process)
        self.busy &= workers

    def have_ended(self) -> bool:
        """Return True if there were jobs, and all processes of their builds are gone."""
        self.groups = {group for group in self.groups if group > 1 and _is_group(group)}
        return not self.groups


def _is_group(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def serve(descriptor: int, full: Callable[[list[str]], int]) -> int:
    """Do the jobs of compilations that connect to a listening socket, until no more come.

    Args:
        descriptor: The socket.
        full: Does the full mode's work after the compiler.

    Returns:
        The exit status.
    """
    # The socket stays open for workers alone.
    listener = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    builds = _Builds()
    pool = Pool(Desk(listener, builds.writing, full), 1)
    limit = cpus()

    signals.end_in_order()
    try:
        load_everything()
        builds.since = time.monotonic()
        pool.start()
        while True:
            occupied = len(builds.busy) >= len(pool.workers)
            wanted = [builds.reading, *([descriptor] if occupied and len(pool.workers) < limit else [])]
            ready = select.select(wanted, [], [], _TICK)[0]
            pool.tend()
            builds.read(pool.workers)
            if descriptor in ready and len(builds.busy) >= len(pool.workers):
                pool.add()
            idle = 0.0 if builds.busy else time.monotonic() - builds.since
            if idle >= IDLE or (idle >= _TICK and builds.groups and builds.have_ended()):
                _leave(listener)
                pool.finish()
                while pool.tend():
                    time.sleep(_TICK)
                return 0
    except OSError:
        _leave(listener)  # no process can be started
        return 1
    finally:
        pool.stop()


def _leave(listener: socket.socket) -> None:
    """Remove the socket, so that the next compilation starts another service; workers answer waiting compilations."""
    path = listener.getsockname()
    with contextlib.suppress(OSError):
        folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)
            os.unlink(path)
            os.rmdir(os.path.dirname(path))  # unless there are other sockets
        finally:
            os.close(folder)
