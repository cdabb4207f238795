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


def test_a_worker_that_is_killed(capfd: pytest.CaptureFixture[str]) -> None:
    def work(piece: int) -> int:
        if piece == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return piece

    with pytest.raises(WorkerError, match="ended by signal 9"):
        list(in_order(work, range(8), 2))


def test_workers_that_have_ended_are_not_killed(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """Their numbers may be those of other processes by then."""
    killed: list[int] = []
    monkeypatch.setattr(os, "kill", lambda process, _: killed.append(process))
    with pytest.raises(WorkerError, match="failed"):  # it was waited for, or nobody would know
        list(in_order(lambda piece: 1 // piece, [0], 1))
    assert killed == []


def test_work_that_fails(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(WorkerError, match="failed"):
        list(in_order(lambda piece: 1 // piece, [1, 0], 2))
    assert "ZeroDivisionError" in capfd.readouterr().err


def test_workers_end_with_who_asked() -> None:
    def work(piece: int) -> int:
        time.sleep(0 if piece == 0 else 60)
        return os.getpid()

    results = in_order(work, range(4), 2)
    process = next(results)
    results.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)
