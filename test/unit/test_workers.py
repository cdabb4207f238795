"""Work shared out to forked processes."""

from __future__ import annotations

import os
import signal
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.support.workers import MOST, WorkerError, in_order
from properties import examples


@examples(25)
@given(st.lists(st.integers(0, 200_000), max_size=40), st.integers(1, 6))
def test_results_are_in_the_order_of_the_work(sizes: list[int], jobs: int) -> None:
    # Results larger than what a pipe holds, and workers that have nothing to do.
    assert list(in_order(lambda size: b"x" * size, sizes, jobs)) == [b"x" * size for size in sizes]


def test_late_results_do_not_overtake() -> None:
    def work(piece: int) -> int:
        time.sleep(0.05 if piece == 0 else 0)
        return piece

    assert list(in_order(work, range(20), 3)) == list(range(20))


def test_every_piece_is_done_by_a_worker() -> None:
    processes = set(in_order(lambda _: os.getpid(), range(50), 2))
    assert os.getpid() not in processes
    assert 1 <= len(processes) <= 2


def test_as_many_pieces_as_can_be_handed_out() -> None:
    assert sum(in_order(int, range(MOST), 2)) == MOST * (MOST - 1) // 2
    with pytest.raises(ValueError, match="at most"):
        next(in_order(int, range(MOST + 1), 2))


def test_a_worker_that_is_killed() -> None:
    def work(piece: int) -> int:
        if piece == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return piece

    with pytest.raises(WorkerError, match="ended by signal 9"):
        list(in_order(work, range(8), 2))


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_a_piece_that_kills_its_worker_costs_only_itself(jobs: int) -> None:
    def work(piece: int) -> str:
        if piece in (0, 3, 4, 9):
            os.kill(os.getpid(), signal.SIGKILL)
        return "done"

    results = list(in_order(work, range(10), jobs, lambda piece, why: f"{piece} {why}"))
    lost = {n: f"{n} a worker process was ended by signal 9" for n in (0, 3, 4, 9)}
    assert results == [lost.get(n, "done") for n in range(10)]


def test_a_piece_that_fails_costs_only_itself() -> None:
    def work(piece: int) -> str:
        if piece == 1:
            raise MemoryError
        return str(1 // piece)

    results = list(in_order(work, range(3), 2, lambda piece, why: why))
    assert results == ["ZeroDivisionError: integer division or modulo by zero", "out of memory", "0"]


def test_workers_that_have_ended_are_not_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their numbers may be those of other processes by then."""
    killed: list[int] = []

    def work(piece: int) -> None:
        signal.raise_signal(signal.SIGKILL)

    monkeypatch.setattr(os, "kill", lambda process, _: killed.append(process))
    # It was waited for, or nobody would know how it ended.
    assert list(in_order(work, [0], 1, lambda piece, why: why)) == ["a worker process was ended by signal 9"]
    assert killed == []


def test_work_that_fails() -> None:
    with pytest.raises(WorkerError, match="ZeroDivisionError"):
        list(in_order(lambda piece: 1 // piece, [1, 0], 2))


def test_workers_end_with_who_asked() -> None:
    def work(piece: int) -> int:
        time.sleep(0 if piece == 0 else 60)
        return os.getpid()

    results = in_order(work, range(4), 2)
    process = next(results)
    results.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
