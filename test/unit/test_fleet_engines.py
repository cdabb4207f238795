"""The engine of processes on this machine: those that die, are killed, take too long or too much memory."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from incc.fleet import engines
from incc.fleet.engines import Done, EngineJob, Limits, LocalEngine

NO_LIMITS = Limits(0, 0)


def respond(request: bytes) -> bytes:
    """Answer in a way that the request names."""
    kind, _, rest = request.partition(b" ")
    if kind == b"die":
        os.kill(os.getpid(), signal.SIGKILL)
    elif kind == b"exit":
        os._exit(3)
    elif kind == b"raise":
        raise ValueError("no\nsuch thing")
    elif kind == b"eat":
        raise MemoryError
    elif kind == b"allocate":
        return b"%d" % len(bytearray(1 << 34))
    elif kind == b"sleep":
        time.sleep(float(rest))
    elif kind == b"loop":
        while True:
            pass
    elif kind == b"process":
        return b"%d" % os.getpid()
    elif kind == b"large":
        return bytes(int(rest))
    return request


@contextmanager
def local(jobs: int = 2, limits: Limits = NO_LIMITS) -> Iterator[LocalEngine]:
    """An engine, of whose processes none are left."""
    engine = LocalEngine(respond, jobs, limits)
    try:
        yield engine
    finally:
        processes = [worker.process for worker in engine._workers]
        engine.end()
        for process in processes:
            with pytest.raises(ProcessLookupError):
                os.kill(process, 0)


def all_done(engine: LocalEngine, requests: list[bytes]) -> dict[bytes, Done]:
    """Have all requests answered, as many at once as there is room for."""
    ended: dict[bytes, Done] = {}
    waiting = [*requests]
    while len(ended) < len(requests):
        while waiting and engine.room > 0:
            engine.add(EngineJob(waiting.pop(0)))
        for done in engine.done(0.2):
            assert done.job.request not in ended
            ended[done.job.request] = done
    return ended


@pytest.mark.parametrize("jobs", [1, 3])
def test_each_request_ends_as_it_would_alone(jobs: int) -> None:
    requests = [b"ok 1", b"die", b"raise", b"ok 2", b"exit", b"eat", b"ok 3", b"large 3000000", b"allocate"]
    with local(jobs, Limits(memory=4 << 30)) as engine:
        ended = all_done(engine, requests)
    good = (b"ok 1", b"ok 2", b"ok 3", b"large 3000000")
    assert all(ended[each].answer for each in good)
    assert not any(ended[each].problem for each in good)
    assert ended[b"die"].problem == "a worker process was ended by signal 9"
    assert ended[b"exit"].problem == "a worker process failed"
    assert ended[b"eat"].problem == ended[b"allocate"].problem == "out of memory"
    assert ended[b"raise"].problem == "ValueError: no such thing"
    assert {each: (done.final, done.ended) for each, done in ended.items() if done.problem} == {
        b"die": (False, True),
        b"exit": (False, True),
        b"eat": (False, True),
        b"allocate": (False, True),
        b"raise": (True, False),
    }


def test_a_process_that_takes_too_long_is_killed_and_the_others_go_on() -> None:
    with local(2, Limits(seconds=0.3)) as engine:
        ended = all_done(engine, [b"loop", b"ok 1", b"sleep 60", *[b"ok %d" % n for n in range(2, 20)]])
    slow = {each: (done.problem, done.final, done.ended) for each, done in ended.items() if done.problem}
    assert slow == dict.fromkeys((b"loop", b"sleep 60"), ("it takes more than 0.3 s", True, True))


def test_a_process_that_ran_out_of_memory_is_not_used_again() -> None:
    with local(1) as engine:
        first = all_done(engine, [b"process"])[b"process"].answer
        assert all_done(engine, [b"process"])[b"process"].answer == first
        all_done(engine, [b"eat"])
        assert all_done(engine, [b"process"])[b"process"].answer != first


def test_a_process_that_was_killed_while_it_was_idle_costs_no_request_its_answer() -> None:
    with local(1) as engine:
        process = int(all_done(engine, [b"process"])[b"process"].answer)
        os.kill(process, signal.SIGKILL)
        os.waitid(os.P_PID, process, os.WEXITED | os.WNOWAIT)
        assert all_done(engine, [b"ok 1"])[b"ok 1"].answer == b"ok 1"


def test_processes_that_are_killed_at_random_lose_only_what_they_do() -> None:
    chance = random.Random(7)
    ended: list[Done] = []
    with local(2) as engine:
        jobs = [EngineJob(b"sleep 0.01", subject=n) for n in range(60)]
        kills = 0
        while len(ended) < 60:
            while jobs and engine.room > 0:
                engine.add(jobs.pop())
            if engine._workers and chance.random() < 0.2:
                os.kill(chance.choice(engine._workers).process, signal.SIGKILL)
                kills += 1
            for done in engine.done(0.005):
                if done.problem:
                    assert done.problem == "a worker process was ended by signal 9"
                    assert done.ended
                    assert not done.final
                    jobs.append(done.job)
                else:
                    ended.append(done)
    assert kills
    assert sorted(str(done.job.subject) for done in ended) == sorted(map(str, range(60)))


def test_without_processes_there_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def fork() -> int:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr(engines, "fork", fork)
    with local() as engine, pytest.raises(engines.WorkerError, match="no process for the work: Resource temporarily"):
        engine.add(EngineJob(b"ok"))


def test_fewer_processes_than_wanted_do_all(monkeypatch: pytest.MonkeyPatch) -> None:
    fork, begun = engines.fork, []

    def few() -> int:
        if begun:
            raise BlockingIOError(11, "Resource temporarily unavailable")
        begun.append(1)
        return fork()

    monkeypatch.setattr(engines, "fork", few)
    with local(8) as engine:
        assert len(all_done(engine, [b"ok %d" % n for n in range(20)])) == 20
