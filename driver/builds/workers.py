"""Workers that analyse the jobs of a folder of reports, forked after all modules are loaded.

A job waits in `DIR/.incc/jobs`. A worker takes it by renaming it to `taken/PID-NAME`. If the worker crashes, the job is
put back; if a second one crashes, or takes too long (limits.py), it is moved to `failed/NAME`. Workers end with the
process that started them.
"""

from __future__ import annotations

import contextlib
import errno
import os
import resource
import select
import signal
import sys
from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

from msgspec.structs import replace

from incc.driver.builds import limits
from incc.driver.builds.jobs import FAILED, JOBS, TAKEN, TRIES, run_job, say, sources_of
from incc.driver.builds.sweep import is_alive, sweep_reports, sweep_scratch
from incc.driver.messages import collect_seldom
from incc.frontends.isa import detect, isa
from incc.report.folder.manifest import OWN
from incc.support import signals
from incc.support.errors import AnalysisError
from incc.support.trust import distrusted, is_sealed, key_file, read_key

MOST_TRIES = 2
"""Workers that a job may crash before it is moved to `failed`."""

_PAUSE = 0.05
"""Seconds between two looks of an idle worker at the queue."""

_MOST_MEMORY = 1 << 20
"""Most memory in KB of a worker before a new one replaces it."""

W = TypeVar("W")

_RENEW = 3
"""The exit status of a worker that a new one has to replace."""


class Queue:
    """The jobs of a folder of reports."""

    wakes: tuple[int, ...] = ()
    patience: float | None = _PAUSE
    nice = 5  # compilations go first
    renewed_after = 500

    def __init__(self, reports: str) -> None:
        self.reports = os.path.abspath(reports)
        own = os.path.join(self.reports, OWN)
        self.jobs, self.taken, self.failed = (os.path.join(own, name) for name in (JOBS, TAKEN, FAILED))
        self.log = os.path.join(own, "log")
        """The log for jobs that do not name one."""
        self.key = read_key(key_file(os.environ))
        """The key of the jobs to take; others stay where they are."""

    def check(self) -> None:
        """Raise OSError if others may have put jobs into its folders, or may move them elsewhere."""
        for folder in (os.path.dirname(self.jobs), self.jobs, self.taken, self.failed):
            if reason := distrusted(folder):
                raise OSError(errno.EPERM, f"jobs are not taken, because {reason}", folder)

    def make(self) -> None:
        """Create its folders. Raises OSError."""
        self.check()
        for folder in (self.jobs, self.taken):
            os.makedirs(folder, exist_ok=True)

    def waiting(self) -> list[str]:
        """Return the names of waiting jobs that this user's incc has left."""
        return [name for name in self._complete() if is_sealed(os.path.join(self.jobs, name), self.key)]

    def count(self) -> int:
        """Return the number of waiting jobs, sealed or not."""
        return len(self._complete())

    def _complete(self) -> list[str]:
        return sorted(name for name in _names(self.jobs) if not name.startswith("."))

    def take(self) -> str:
        """Take a job for this process and return its folder; "" if there is none."""
        for name in self._complete():
            if not is_sealed(os.path.join(self.jobs, name), self.key):
                continue
            place = os.path.join(self.taken, f"{os.getpid()}-{name}")
            try:
                os.rename(os.path.join(self.jobs, name), place)
            except OSError:  # another worker has taken it, or the whole folder was removed
                if not os.path.isdir(self.taken):
                    with contextlib.suppress(OSError):
                        self.make()
                continue
            return place
        return ""

    def run(self, place: str) -> bool:
        """Analyse a job that `take` has returned."""
        run_job(place, self.log)
        return False

    def give_back(self, process: int, guilty: bool, hopeless: bool = False) -> list[str]:
        """Put back the jobs of a process that has ended.

        Args:
            process: The process.
            guilty: True if a job may have crashed it.
            hopeless: True if the job would crash another process, too.

        Returns:
            The names of jobs moved to `failed`.
        """
        aside = []
        for taken in _names(self.taken):
            owner, _, name = taken.partition("-")
            if owner != str(process):
                continue
            place = os.path.join(self.taken, taken)
            tries = _tries(os.path.join(place, TRIES), guilty)
            target = self.jobs
            if guilty and (hopeless or tries >= MOST_TRIES):
                target = self.failed
                aside.append(name)
                why = "took too long" if hopeless else "the analysis crashed"
                problem = f"{sources_of(place)}: not analysed: {why}; the job is kept in {self.failed}"
                say("warning", [problem], self.log, show=False)
            with contextlib.suppress(OSError):
                os.makedirs(target, exist_ok=True)
                os.rename(place, os.path.join(target, name))
        # Remove the files that it was writing.
        for name in _names(self.reports):
            if name.endswith(f".{process}.new"):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self.reports, name))
        return aside

    def recover(self) -> None:
        """Put back the jobs of processes that no longer exist, and remove their incomplete files.

        Raises OSError for folders that `check` refuses.
        """
        self.check()
        for owner in {name.partition("-")[0] for name in _names(self.taken)}:
            if owner.isdecimal() and not is_alive(int(owner)):
                self.give_back(int(owner), guilty=False)
        sweep_reports(self.reports, self.jobs)
        sweep_scratch(os.environ)


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _tries(path: str, again: bool) -> int:
    """Return the number of workers that a job has crashed, one more if `again`."""
    try:
        with open(path, encoding="ascii", errors="replace") as file:
            text = file.read()
    except OSError:
        text = ""
    tries = int(text) if text.isdecimal() else 0
    if again:
        tries += 1
        with contextlib.suppress(OSError), open(path, "w", encoding="ascii") as file:
            file.write(str(tries))
    return tries


class Source(Protocol[W]):
    """A place that workers take their work from."""

    wakes: tuple[int, ...]
    """File descriptors that can be read if there may be work."""
    patience: float | None
    """Seconds between two looks for work if nothing wakes a worker."""
    nice: int
    """The niceness of workers, on top of that of their parent."""
    renewed_after: int
    """Most pieces of work of a worker before a new one replaces it, since tables of instructions keep growing."""

    def take(self) -> W | None:
        """Take a piece of work for this process; something false if there is none."""

    def run(self, work: W) -> bool:
        """Do it. Returns True if this worker has to be replaced."""

    def give_back(self, process: int, guilty: bool, hopeless: bool = False) -> list[str]:
        """Put back the work of a process that has ended (`Queue.give_back`)."""


class Pool(Generic[W]):
    """The workers of a queue. They work until `finish`, then until the queue is empty. Not thread-safe."""

    def __init__(self, queue: Source[W], count: int, work: Callable[[W], object] | None = None) -> None:
        self.queue = queue
        self.aside: list[str] = []
        """The names of jobs moved to `failed`."""
        self.workers: set[int] = set()
        """The processes."""
        self._count = count
        self._work = work or queue.run
        self._pipe: tuple[int, int] | None = None

    def start(self) -> None:
        """Load all modules and fork the workers. Raises OSError if the system cannot create them."""
        load_everything()
        self._pipe = os.pipe2(os.O_CLOEXEC)
        for _ in range(self._count):
            self.add()

    def tend(self) -> bool:
        """Replace workers that have crashed; return True if any are left. Raises OSError if one cannot be replaced."""
        for process in list(self.workers):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended:
                continue
            self.workers.discard(process)
            code = os.waitstatus_to_exitcode(status)
            self.aside += self.queue.give_back(process, code not in (0, _RENEW), hopeless=code == -limits.ENDED_BY)
            if code != 0 and self._pipe is not None:
                self.add()
        return bool(self.workers)

    def finish(self) -> None:
        """Let the workers end when the queue is empty; `tend` then returns False."""
        if self._pipe is not None and self._pipe[1] >= 0:
            os.close(self._pipe[1])
            self._pipe = self._pipe[0], -1

    def stop(self) -> None:
        """End the workers now and put their jobs back."""
        self.finish()
        for process in self.workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in self.workers:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
            sweep_scratch(os.environ, process)
            self.queue.give_back(process, guilty=False)
        self.workers.clear()
        if self._pipe is not None:
            os.close(self._pipe[0])
            self._pipe = None

    def add(self) -> None:
        """Fork another worker. Raises OSError if the system cannot create it."""
        assert self._pipe is not None
        if sys.stdout is not None:
            sys.stdout.flush()  # or each process would write the buffered output
        process = signals.fork()
        if process:
            self.workers.add(process)
            return
        status = 1
        try:
            status = self._run(*self._pipe)
        except BaseException as error:  # this process must not continue as a copy of its parent
            with contextlib.suppress(OSError):
                os.write(2, f"incc: a worker crashed: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _run(self, reading: int, writing: int) -> int:
        """Run a worker, and return its exit status."""
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if writing >= 0:
            os.close(writing)
        with contextlib.suppress(OSError):
            os.nice(self.queue.nice)
        collect_seldom()
        jobs = 0
        while True:
            ending = bool(select.select([reading], [], [], 0)[0])
            if work := self.queue.take():
                renew = bool(self._work(work))
                jobs += 1
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                if renew or jobs == self.queue.renewed_after or memory > _MOST_MEMORY:
                    return _RENEW
                continue
            # `finish` has closed the other end of the pipe: remaining jobs cannot be taken.
            if ending:
                return 0
            select.select([reading, *self.queue.wakes], [], [], self.queue.patience)


def load_everything() -> None:
    """Import all modules and analyse an example, so that workers need not do so one by one."""
    import incc.core.analysis
    import incc.driver.builds.project
    import incc.driver.cli.own_options
    import incc.driver.deliver
    import incc.models.binding.bind  # noqa: F401
    from incc.driver.pipeline import analyze_units
    from incc.driver.settings import REPORTED, Settings
    from incc.frontends.unit import Unit

    # Many modules are imported inside functions.
    with contextlib.suppress(AnalysisError):
        settings = Settings(kernel=replace(REPORTED, timeline_iterations=0))
        analyze_units([Unit(assembly=isa(detect("")).example, assembly_file="warm.s")], settings)


def run_pending(folder: str, workers: int) -> list[str]:
    """Analyse the waiting jobs in a folder of reports.

    Args:
        folder: The folder.
        workers: The number of worker processes.

    Returns:
        The names of jobs moved to `failed`.

    Raises:
        OSError: The system cannot create the processes.
    """
    queue = Queue(folder)
    queue.recover()
    waiting = len(queue.waiting())
    if not waiting:
        return []
    queue.make()
    pool = Pool(queue, max(1, min(workers, waiting)))
    try:
        pool.start()
        pool.finish()
        while pool.tend():
            select.select([], [], [], _PAUSE)
    finally:
        pool.stop()
    return pool.aside
