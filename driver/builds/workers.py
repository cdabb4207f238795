"""Warm workers: processes that take jobs from a folder of reports, forked off when everything is loaded.

A job waits in `DIR/.incc/jobs`. Whoever renames it to `taken/PID-NAME` has it. What a worker had that died is put back,
and put aside (`failed/NAME`) when a second one died of it, or when one was ended because it took too long (limits.py).
Workers end with the process that has started them, whatever ended that.
"""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import sys
from typing import TYPE_CHECKING

import msgspec

from incc.driver.builds import limits
from incc.driver.builds.jobs import FAILED, JOBS, TAKEN, TRIES, Stopped, run_job, say, sources_of
from incc.driver.builds.sweep import is_alive, sweep_reports, sweep_scratch
from incc.driver.messages import collect_seldom
from incc.report.folder.manifest import OWN

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_TRIES = 2
"""Workers that may die of a job."""

_PAUSE = 0.05
"""Seconds after which a worker without work looks for some."""

_MOST_JOBS = 500
_MOST_MEMORY = 1 << 20
"""Jobs after which, and KB from which on, a worker makes room for a fresh one: models and instructions are kept."""

_NICE = 5
"""So that whoever waits for the compiler goes first."""

_RENEW = 3
"""The status of a worker that makes room for another."""


class Queue:
    """The jobs of a folder of reports. `log`: where messages go that a job does not say a place for."""

    def __init__(self, reports: str) -> None:
        self.reports = os.path.abspath(reports)
        own = os.path.join(self.reports, OWN)
        self.jobs, self.taken, self.failed = (os.path.join(own, name) for name in (JOBS, TAKEN, FAILED))
        self.log = os.path.join(own, "log")

    def make(self) -> None:
        """Make its folders. Raises OSError."""
        for folder in (self.jobs, self.taken):
            os.makedirs(folder, exist_ok=True)

    def waiting(self) -> list[str]:
        """The names of the jobs that nobody has taken."""
        return sorted(name for name in _names(self.jobs) if not name.startswith("."))

    def take(self) -> str:
        """Take a job for this process; returns its folder, "" if there is none."""
        for name in self.waiting():
            place = os.path.join(self.taken, f"{os.getpid()}-{name}")
            try:
                os.rename(os.path.join(self.jobs, name), place)
            except OSError:  # somebody else has it, or has removed all of the folder
                if not os.path.isdir(self.taken):
                    with contextlib.suppress(OSError):
                        self.make()
                continue
            return place
        return ""

    def give_back(self, process: int, guilty: bool, hopeless: bool = False) -> list[str]:
        """Let others have what a process had that is no more; `guilty`: it may have died of that; `hopeless`: so would
        another one. Returns the names of jobs that are put aside."""
        aside = []
        for taken in _names(self.taken):
            owner, _, name = taken.partition("-")
            if owner != str(process):
                continue
            place = os.path.join(self.taken, taken)
            tries = _count(os.path.join(place, TRIES), guilty)
            target = self.jobs
            if guilty and (hopeless or tries >= MOST_TRIES):
                target = self.failed
                aside.append(name)
                why = "it took too long" if hopeless else "the analysis ended the whole process"
                problem = f"{sources_of(place)}: not analysed: {why}; put aside in {self.failed}"
                say("warning", [problem], self.log, show=False)
            with contextlib.suppress(OSError):
                os.makedirs(target, exist_ok=True)
                os.rename(place, os.path.join(target, name))
        # And what it was about to write.
        for name in _names(self.reports):
            if name.endswith(f".{process}.new"):
                with contextlib.suppress(OSError):
                    os.unlink(os.path.join(self.reports, name))
        return aside

    def recover(self) -> None:
        """Let others have what was taken by processes that are no more, such as those of a build that was killed, and
        remove what such left half done."""
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


def _count(path: str, again: bool) -> int:
    """How often a job was tried; `again`: once more."""
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


class Pool:
    """Workers on a queue. They work until `finish`, then until the queue is empty.

    `aside`: the names of jobs that were put aside. Nothing of it may be used from several threads.
    """

    def __init__(self, queue: Queue, count: int, work: Callable[[str], object] | None = None) -> None:
        self.queue = queue
        self.aside: list[str] = []
        self._count = count
        self._work = work or (lambda place: run_job(place, queue.log))
        self._workers: set[int] = set()
        self._pipe: tuple[int, int] | None = None

    def start(self) -> None:
        """Load everything and fork the workers off. Raises OSError if the system has no room for them."""
        load_everything()
        self._pipe = os.pipe2(os.O_CLOEXEC)
        for _ in range(self._count):
            self._fork()

    def tend(self) -> bool:
        """Replace workers that have died; returns whether any are left. Raises OSError if one cannot be replaced."""
        for process in list(self._workers):
            ended, status = os.waitpid(process, os.WNOHANG)
            if not ended:
                continue
            self._workers.discard(process)
            code = os.waitstatus_to_exitcode(status)
            self.aside += self.queue.give_back(process, code not in (0, _RENEW), hopeless=code == -limits.ENDED_BY)
            if code != 0 and self._pipe is not None:
                self._fork()
        return bool(self._workers)

    def finish(self) -> None:
        """Let the workers end when the queue is empty; `tend` says when that is."""
        if self._pipe is not None and self._pipe[1] >= 0:
            os.close(self._pipe[1])
            self._pipe = self._pipe[0], -1

    def stop(self) -> None:
        """End the workers now; what they were at can be taken again."""
        self.finish()
        for process in self._workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGTERM)
        for process in self._workers:
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process, 0)
            self.queue.give_back(process, guilty=False)
        self._workers.clear()
        if self._pipe is not None:
            os.close(self._pipe[0])
            self._pipe = None

    def _fork(self) -> None:
        assert self._pipe is not None
        if sys.stdout is not None:
            sys.stdout.flush()  # or each process would write what waits there
        parent = os.getpid()
        process = os.fork()
        if process:
            self._workers.add(process)
            return
        status = 1
        try:
            status = self._run(parent, *self._pipe)
        except Stopped:
            status = 0
        except BaseException as error:  # whatever it is, this process must not go on as its parent
            with contextlib.suppress(OSError):
                os.write(2, f"incc: a worker ends: {type(error).__name__}: {error}\n".encode())
        finally:
            os._exit(status)

    def _run(self, parent: int, reading: int, writing: int) -> int:
        """What a worker of the process `parent` does; returns its status."""
        signal.signal(signal.SIGTERM, _stop)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # from the terminal: the parent ends its workers
        signal.pthread_sigmask(signal.SIG_SETMASK, ())
        if writing >= 0:
            os.close(writing)
        with contextlib.suppress(OSError):
            os.nice(_NICE)
        collect_seldom()
        jobs = 0
        while True:
            ending = bool(select.select([reading], [], [], 0)[0])
            if os.getppid() != parent:
                return 0  # what waits, waits for somebody else
            if place := self.queue.take():
                self._work(place)
                jobs += 1
                if jobs == _MOST_JOBS or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > _MOST_MEMORY:
                    return _RENEW
                continue
            # Its other end is closed by `finish`, when no more jobs come. What waits even so cannot be had.
            if ending:
                return 0
            select.select([reading], [], [], _PAUSE)


def _stop(number: int, frame: object) -> None:
    raise Stopped


def load_everything() -> None:
    """Import what workers need and bring it to where it has analysed something, so that it is done once for all."""
    import incc.core.analysis
    import incc.driver.builds.project
    import incc.driver.cli.own_options
    import incc.driver.deliver
    import incc.models.binding.bind  # noqa: F401
    from incc.driver.pipeline import Settings, analyze_units
    from incc.frontends.isa import detect, isa
    from incc.frontends.unit import Unit
    from incc.support.errors import AnalysisError

    # Much is imported where it is needed first.
    with contextlib.suppress(AnalysisError):
        analyze_units([Unit(assembly=isa(detect("")).example, assembly_file="warm.s")], Settings(timeline_iterations=0))


class Pending(msgspec.Struct, frozen=True):
    """What became of jobs that waited: how many were `analysed`, with or without success (see the log), how many
    are `left` since somebody said stop, and the names of those that were put `aside`, which nobody survived."""

    analysed: int
    left: int
    aside: tuple[str, ...]


def run_pending(folder: str, workers: int, said: Callable[[int], bool] | None = None) -> Pending:
    """Analyse the jobs that wait in a folder of reports, in so many processes.

    `said` is called now and then with the number of jobs that wait, and may say stop by returning False. Raises
    OSError if the system has no room for processes.
    """
    queue = Queue(folder)
    queue.recover()
    waiting = len(queue.waiting())
    if not waiting:
        return Pending(0, 0, ())
    queue.make()
    pool = Pool(queue, max(1, min(workers, waiting)))
    try:
        pool.start()
        pool.finish()
        while pool.tend():
            if said is not None and not said(len(queue.waiting())):
                break
            select.select([], [], [], _PAUSE)
    finally:
        pool.stop()
    left = len(queue.waiting())
    return Pending(waiting - left - len(pool.aside), left, tuple(pool.aside))
