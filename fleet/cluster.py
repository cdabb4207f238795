"""The engine whose processes are on a Dask cluster (https://distributed.dask.org).

Its tasks run `cluster_worker`. Only bytes cross the wire: requests, answers, and files that the workers do not see.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import logging
import os
import queue
import signal
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import wait
from multiprocessing import resource_tracker
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.fleet.cluster_worker import WorkerProgram, answer_here, end_scan, file_contents
from incc.fleet.engines import Done, EngineJob, done_of
from incc.fleet.messages import CHANGED, Stamp
from incc.support.errors import AnalysisError

LOCAL = "local"
"""The address that stands for a cluster of processes on this machine, which is started for the scan."""

_POLL_SECONDS = 1.0
"""Seconds between two checks of the number of workers."""

_MOST_GATHERED = 16
"""The most answers that are fetched together: each has up to a few megabytes."""

_MOST_REFUSALS = 3
"""The workers that may refuse a job before it is given up."""

_PATIENCE = 10.0
"""Seconds after which a job that all workers have refused is sent again: better ones may come."""

_LOST = "the connection to the scheduler is lost"


class ClusterError(AnalysisError):
    """A cluster cannot be used; the message says why."""


class _Sent(msgspec.Struct, eq=False):
    """A job that was sent to the scheduler."""

    job: EngineJob
    contents: list[Any]
    """The futures of the files' contents that it needs. Dask gives up what nobody holds, even if a task that needs it
    is on its way to the scheduler."""
    workers: list[str]
    """The workers that should take it, none for any."""


class ClusterEngine:
    """Has the workers of a cluster answer requests (`Engine`)."""

    ships = True

    def __init__(self, address: str, program: WorkerProgram, note: Callable[[str], None]) -> None:
        """Connect to a scheduler, or start a cluster.

        Args:
            address: the scheduler's, or `local`, or `local:N` for N workers.
            program: the program of the workers' child processes.
            note: called with each message for the user.

        Raises:
            ClusterError: The cluster cannot be used.
        """
        try:
            import distributed
        except ImportError:
            raise ClusterError("--cluster needs Dask: pip install 'incc[cluster]'") from None
        self._ended: queue.SimpleQueue[tuple[EngineJob, Any]] = queue.SimpleQueue()
        self._futures: dict[Any, _Sent] = {}
        """The futures without an answer yet."""
        self._refusals: dict[EngineJob, list[str]] = {}
        """The workers that could not take a job."""
        self._postponed: list[tuple[float, EngineJob]] = []
        """The jobs that all workers have refused, each with the time when it is sent again."""
        self._refusing: set[str] = set()
        """The workers that could not take some job."""
        self._contents: dict[Stamp, Any] = {}
        self._note = note
        self._asked = 0.0
        self._workers: dict[str, int] | None = None
        """The number of each worker's threads, None before it is known."""
        self._cluster: Any = None
        self._client: Any = None
        for name in ("distributed", "distributed.client"):  # which have levels of their own
            logging.getLogger(name).setLevel(logging.CRITICAL)
        try:
            if address.partition(":")[0] == LOCAL:
                self._cluster = _local_cluster(address)
            self._client = distributed.Client(self._cluster or address, set_as_default=False)
        except (OSError, ValueError, TypeError, RuntimeError) as error:
            self.end()
            raise ClusterError(f"--cluster={address}: {' '.join(str(error).split()) or type(error).__name__}") from None
        self._program = msgspec.msgpack.encode(replace(program, client=self._client.id))
        if self._client.dashboard_link:
            note(f"the cluster's dashboard is {self._client.dashboard_link}")

    @property
    def room(self) -> int:
        """See `Engine`. Raises ClusterError."""
        return 2 * max(1, self._count_threads()) + 1 - len(self._futures) - len(self._postponed)

    def _count_threads(self) -> int:
        """Return the number of the workers' threads, as of the last second. Raises ClusterError.

        Jobs that prefer workers which are all lost are cancelled: Dask never starts one that came, or was to be
        repeated, when there were no workers.
        """
        is_due = time.monotonic() > self._asked + _POLL_SECONDS or self._workers is None
        if is_due and self._client.status == "running":  # otherwise there may be no answer for long
            self._asked, before = time.monotonic(), self._workers
            with _connected():
                self._workers = workers = dict(self._client.nthreads())
                astray = [
                    f for f, sent in self._futures.items() if sent.workers and workers.keys().isdisjoint(sent.workers)
                ]
                self._client.cancel([future for future in astray if future.status in ("pending", "lost")])
            if not workers and before != {}:
                self._note("the cluster has no workers; the scan waits for them")
        return sum((self._workers or {}).values())

    @property
    def window(self) -> int:
        """See `Engine`. Raises ClusterError."""
        return 32 + 4 * self._count_threads()

    def add(self, job: EngineJob) -> None:
        """See `Engine`. Raises ClusterError if the scheduler is gone."""
        try:
            contents = [self._content(stamp) for stamp in job.files]
        except OSError as error:
            self._ended.put((job, error))
            return
        options: dict[str, Any] = {"priority": 10 if job.first else 0, "pure": False}
        preferred = [str(job.preferred_worker)] if job.preferred_worker else []
        workers = self._others(job) if job in self._refusals else preferred
        if workers:
            options |= {"workers": workers, "allow_other_workers": True}
        with _connected():
            future = self._client.submit(answer_here, self._program, job.request, *contents, **options)
        self._futures[future] = _Sent(job, contents, workers)
        future.add_done_callback(lambda ended: self._ended.put((job, ended)))

    def _others(self, job: EngineJob) -> list[str]:
        """Return the workers that have not refused a job."""
        refused = self._refusals.get(job, ())
        return [worker for worker in self._workers or () if worker not in refused]

    def _is_retried(self, done: Done) -> bool:
        """Give a job that a worker has refused to others, or later to any; return False if it has to be given up.

        Raises ClusterError if no worker can start a process: then no job can be answered.
        """
        worker, job = str(done.worker), done.job
        refused = self._refusals.setdefault(job, [])
        refused.append(worker)
        others = self._others(job)
        if len(refused) >= _MOST_REFUSALS and (job.files or not others):
            if job.files:
                return False
            raise ClusterError(f"the workers cannot take requests: {done.problem}")
        if worker not in self._refusing:
            self._refusing.add(worker)
            self._note(f"{worker}: {done.problem}; other workers are tried")
        if others:
            self.add(job)
        else:
            self._postponed.append((time.monotonic() + _PATIENCE, job))
        return True

    def _resume(self) -> None:
        """Send the postponed jobs that are due."""
        now = time.monotonic()
        due = [job for at, job in self._postponed if at <= now]
        self._postponed = [(at, job) for at, job in self._postponed if at > now]
        for job in due:
            self.add(job)

    def _content(self, stamp: Stamp) -> Any:
        """Return the contents of a file as a task's argument; the workers fetch it from each other. Raises OSError."""
        if stamp not in self._contents:
            if len(self._contents) >= 2:
                self._contents.pop(next(iter(self._contents)))
            with open(stamp.path, "rb") as file:
                if not stamp.is_of(os.fstat(file.fileno())):
                    raise OSError(errno.ESTALE, CHANGED)
                content = file.read()
            with _connected(), warnings.catch_warnings():
                warnings.simplefilter("ignore")  # Dask recommends `scatter`: what that sent is lost with its worker
                self._contents[stamp] = self._client.submit(file_contents, content, pure=False)
        return self._contents[stamp]

    def done(self, seconds: float) -> Iterator[Done]:
        """See `Engine`. Raises ClusterError if the scheduler is gone, or its workers cannot run the program."""
        self._resume()
        try:
            ended = [self._ended.get(timeout=seconds)]
        except queue.Empty:
            if self._client.status not in ("running", "connecting"):
                raise ClusterError(_LOST) from None
            self._count_threads()
            return
        with contextlib.suppress(queue.Empty):
            while len(ended) < _MOST_GATHERED:
                ended.append(self._ended.get_nowait())
        answers = self._fetched([future for _, future in ended if not isinstance(future, OSError)])
        for job, future in ended:
            self._futures.pop(future, None)
            if isinstance(future, OSError):
                yield Done(job, problem=future.strerror or CHANGED, final=True, external=True)
            else:
                done = self._outcome(job, future, answers.get(future.key))
                if done.refused and self._is_retried(done):
                    continue
                self._refusals.pop(job, None)
                yield done

    def _fetched(self, futures: Sequence[Any]) -> dict[str, Any]:
        """Return the answers of those futures that have one; fetching many at once takes one exchange of messages.

        An answer that was lost with its worker is waited for: another one makes it again. Raises ClusterError.
        """
        fetching = self._client.gather({future.key: future for future in futures}, errors="skip", asynchronous=True)
        fetched = asyncio.run_coroutine_threadsafe(fetching, self._client.loop.asyncio_loop)
        while not fetched.done():
            wait([fetched], _POLL_SECONDS)
            if self._client.status != "running":
                raise ClusterError(_LOST)
            self._count_threads()
        try:
            answers: dict[str, Any] = fetched.result()
        except Exception:  # `_outcome` finds out which one it is
            return {}
        return answers

    def _outcome(self, job: EngineJob, future: Any, answer: Any) -> Done:
        from distributed import KilledWorker

        try:
            place, _, response = bytes(future.result() if answer is None else answer).partition(b"\0")
        except KilledWorker:
            return Done(job, problem="each worker that had it was lost", ended=True)
        except Exception as error:
            if self._client.status != "running":
                raise ClusterError(_LOST) from None
            if future.status == "cancelled":
                return Done(job, problem="its task was cancelled", external=True)
            raise ClusterError(f"the workers cannot run incc: {' '.join(str(error).split())}") from None
        done = done_of(job, response, place.decode())
        if done.fatal:
            raise ClusterError(done.problem)
        return done

    def end(self) -> None:
        """See `Engine`."""
        if self._client is not None:
            self._client.cancel(list(self._futures), force=True)
            if self._cluster is None and self._client.status == "running":
                with contextlib.suppress(OSError):  # of which TimeoutError is one
                    self._client.run(end_scan, self._program, on_error="ignore", callback_timeout=5)
            self._client.close(timeout=5)
        if self._cluster is not None:
            self._cluster.close(timeout=10)


@contextlib.contextmanager
def _connected() -> Iterator[None]:
    """Raise ClusterError if the scheduler does not answer."""
    try:
        yield
    except OSError:
        raise ClusterError(_LOST) from None


def _local_cluster(address: str) -> Any:
    """Start a cluster on this machine. Raises ValueError for another number than a positive one."""
    from distributed import LocalCluster
    from distributed.security import Security

    from incc.support.workers import cpus

    _, colon, number = address.partition(":")
    if colon and not (number.isdecimal() and int(number)):
        raise ValueError(f"{number!r} is no number of workers")
    security = Security()
    secured = {"security": security, "protocol": "tls://"} if security.require_encryption else {}
    with _without_the_terminal():
        return LocalCluster(
            n_workers=int(number) if number else cpus(),
            threads_per_worker=1,
            memory_limit=None,
            silence_logs=logging.CRITICAL,
            dashboard_address="127.0.0.1:0",
            **secured,
        )


@contextlib.contextmanager
def _without_the_terminal() -> Iterator[None]:
    """Start threads and processes that never get the signals which a terminal sends to all of its processes.

    The scan ends them in order. They inherit that these signals are blocked; the scan itself gets them afterwards.
    """
    signals = (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT)
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        resource_tracker.ensure_running()  # which lets SIGINT through when it starts
        signal.pthread_sigmask(signal.SIG_BLOCK, signals)
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
