"""Engines, which have processes answer requests, and the one whose processes are on this machine."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from typing import NoReturn, Protocol

import msgspec

from incc.fleet.messages import Stamp
from incc.support.signals import fork
from incc.support.workers import WorkerError, how_ended, problem_of

Respond = Callable[[bytes], bytes]
"""Answers a request; what it raises is the fault of the request."""


class Limits(msgspec.Struct, frozen=True):
    """The limits of one request."""

    seconds: float = 600
    """Seconds after which the request's process is killed; 0 for no limit."""
    memory: int = 4 << 30
    """The address space of a process in bytes (RLIMIT_AS); 0 for no limit."""


class EngineJob(msgspec.Struct, eq=False):
    """A request on its way."""

    request: bytes
    preferred_worker: object = None
    """The worker that has already answered a request on the same input; None for any."""
    first: bool = False
    """It goes before requests that came earlier."""
    subject: object = None
    """Data of the sender, returned with the answer."""
    files: tuple[Stamp, ...] = ()
    """Files of this machine whose contents the request needs, because its process does not see them."""


class Done(msgspec.Struct, eq=False):
    """The end of a job."""

    job: EngineJob
    answer: bytes = b""
    problem: str = ""
    """The reason why there is no answer, "" if there is one."""
    final: bool = False
    """Another try would end the same way."""
    ended: bool = False
    """The job, or another program, has ended the process."""
    external: bool = False
    """The reason lies outside of the code: with its file, or with its worker. Equal code in another file may be
    analysed."""
    refused: bool = False
    """The worker could not take the job; another one may."""
    fatal: bool = False
    """No other job can be answered either."""
    worker: object = None
    """The worker that answered."""


class Engine(Protocol):
    """Has processes answer requests."""

    @property
    def room(self) -> int:
        """The number of jobs that may be added before others are done."""

    @property
    def window(self) -> int:
        """The number of pieces of input that may be on their way."""

    @property
    def ships(self) -> bool:
        """True if processes may be on machines that do not see the files of this one."""

    def add(self, job: EngineJob) -> None:
        """Add a job.

        Raises:
            WorkerError, ClusterError: No process can be started, or the cluster is lost.
        """

    def done(self, seconds: float) -> Iterator[Done]:
        """Yield what is done, in any order; wait for the first for so many seconds at most.

        Raises:
            WorkerError, ClusterError: No process can be started, or the cluster is lost.
        """

    def end(self) -> None:
        """End all processes, and forget what they do."""


class _Worker:
    """A process, and its job."""

    def __init__(self, process: int, connection: Connection) -> None:
        self.process = process
        self.connection = connection
        self.job: EngineJob | None = None
        self.begun = 0.0


class LocalEngine:
    """Forks processes off this one, which must not have threads that hold locks."""

    ships = False

    def __init__(self, respond: Respond, jobs: int, limits: Limits) -> None:
        self._respond = respond
        self._jobs = jobs
        self._limits = limits
        self._workers: list[_Worker] = []
        self._waiting: deque[EngineJob] = deque()

    @property
    def room(self) -> int:
        """See `Engine`. Each process finds its next job at once."""
        return 2 * self._jobs - len(self._waiting) - sum(worker.job is not None for worker in self._workers)

    @property
    def window(self) -> int:
        """See `Engine`."""
        return 32 + 4 * self._jobs

    def add(self, job: EngineJob) -> None:
        """See `Engine`. Raises WorkerError if there is no process."""
        if job.first:
            self._waiting.appendleft(job)
        else:
            self._waiting.append(job)
        self._hand_out()

    def _hand_out(self) -> None:
        """Give waiting jobs to idle processes. Raises WorkerError if there is none, and none can be started."""
        for worker in list(self._workers):
            if worker.job is None and self._waiting:
                self._give(worker)
        while self._waiting and len(self._workers) < self._jobs:
            if not self._start():
                break
            self._give(self._workers[-1])

    def _next_for(self, worker: _Worker) -> EngineJob:
        """Remove and return the waiting job that a process should do next: one whose input it knows, if there is one.

        Jobs for other processes come last, in case these have more to do.
        """
        job = min(
            self._waiting,
            key=lambda job: 0 if job.preferred_worker is worker else 2 if job.preferred_worker in self._workers else 1,
        )
        self._waiting.remove(job)
        return job

    def _start(self) -> bool:
        """Start a process. Returns False if there are others, but no further one. Raises WorkerError without any."""
        if sys.stdout is not None:
            sys.stdout.flush()  # or each process would write the buffered output
        here, there = Pipe()
        try:
            process = fork()
        except OSError as error:
            here.close()
            there.close()
            if not self._workers:
                raise WorkerError(f"no process for the work: {error.strerror}") from None
            return False
        if process == 0:
            for worker in self._workers:
                worker.connection.close()
            here.close()
            answer_all(there, self._respond, self._limits.memory)
        there.close()
        self._workers.append(_Worker(process, here))
        return True

    def _give(self, worker: _Worker) -> None:
        job = self._next_for(worker)
        try:
            worker.connection.send_bytes(job.request)
            worker.job, worker.begun = job, time.monotonic()
        except OSError:  # it has ended, which is no fault of this job
            self._waiting.appendleft(job)
            self._end(worker, 0)

    def done(self, seconds: float) -> Iterator[Done]:
        """See `Engine`. Raises WorkerError if there is no process."""
        busy = {worker.connection: worker for worker in self._workers if worker.job is not None}
        if not busy:
            return
        if self._limits.seconds:
            left = min(worker.begun for worker in busy.values()) + self._limits.seconds - time.monotonic()
            seconds = max(0.0, min(seconds, left))
        for connection in wait(list(busy), seconds):
            assert isinstance(connection, Connection)
            yield self._received(busy.pop(connection))
        for worker in busy.values():
            if self._limits.seconds and time.monotonic() > worker.begun + self._limits.seconds:
                yield self._too_late(worker)
        self._hand_out()

    def _received(self, worker: _Worker) -> Done:
        job, worker.job = worker.job, None
        assert job is not None
        try:
            answer = worker.connection.recv_bytes()
        except (EOFError, OSError):
            return Done(job, problem=f"a worker process {self._end(worker, 0)}", ended=True)
        done = done_of(job, answer, worker)
        if done.ended:
            self._end(worker, signal.SIGKILL)
        return done

    def _too_late(self, worker: _Worker) -> Done:
        assert worker.job is not None
        self._end(worker, signal.SIGKILL)
        return Done(worker.job, problem=too_slow(self._limits), final=True, ended=True)

    def _end(self, worker: _Worker, number: int) -> str:
        """End a process by a signal, 0 for one that has ended, and return how it ended."""
        self._workers.remove(worker)
        worker.connection.close()
        if number:
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.process, number)
        with contextlib.suppress(ChildProcessError):
            return how_ended(os.waitstatus_to_exitcode(os.waitpid(worker.process, 0)[1]))
        return "ended"

    def end(self) -> None:
        """See `Engine`."""
        self._waiting.clear()
        for worker in list(self._workers):
            self._end(worker, signal.SIGKILL)


def too_slow(limits: Limits) -> str:
    """Return the reason why a request that took too long has no answer."""
    return f"it takes more than {limits.seconds:g} s"


ANSWER, PROBLEM, ENDED, STOPPED, REFUSED, FATAL = b"+", b"-", b"?", b"x", b"~", b"!"
"""The first byte of a response, before the answer or the reason why there is none: the request has a problem, its
process has ended or has to, the process was stopped since it took too long, the worker has no process or no room for
it, or no request can be answered."""


def answer_all(connection: Connection, respond: Respond, memory: int) -> NoReturn:
    """Answer the requests that arrive, in this process, until the connection is closed; then end it.

    Args:
        connection: The connection.
        respond: Answers a request.
        memory: The most bytes of this process; 0 for no limit.
    """
    status = 1
    try:
        if memory:
            _, most = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (memory if most < 0 else min(memory, most), most))
        with contextlib.suppress(EOFError, OSError):
            while True:
                connection.send_bytes(_response(respond, connection.recv_bytes()))
        status = 0
    finally:
        os._exit(status)  # this process must not go on as a copy of its parent


def _response(respond: Respond, request: bytes) -> bytes:
    try:
        return ANSWER + respond(request)
    except MemoryError as error:  # which may be that of earlier requests
        return ENDED + problem_of(error).encode()
    except Exception as error:
        return PROBLEM + problem_of(error).encode("utf-8", "replace")


def done_of(job: EngineJob, response: bytes, worker: object) -> Done:
    """Return the end of a job from a response, and the worker that it came from."""
    kind, rest = response[:1], response[1:]
    if kind == ANSWER:
        return Done(job, rest, worker=worker)
    return Done(
        job,
        problem=rest.decode("utf-8", "replace"),
        final=kind != ENDED,
        worker=worker,
        ended=kind in (ENDED, STOPPED),
        external=kind == REFUSED,
        refused=kind == REFUSED,
        fatal=kind == FATAL,
    )
