"""Comparison of two runs: which loops are the same, and what changed of them."""

from __future__ import annotations

from typing import Any

import pytest

from incc.comparison.runs import compare_runs
from incc.frontends.kernel import SourceLocation
from incc.report.runs import LoopRun, Part, RunReport


def loop(kernel_id: str, line: int, cycles: float = 1.0, **fields: Any) -> LoopRun:
    values: dict[str, object] = {
        "kernel_id": kernel_id,
        "function_name": kernel_id.partition("/")[0],
        "source": SourceLocation(file="a.c", line=line) if line else None,
        "unit": "a.c",
        "cycles": cycles,
        "predicted": 1.0,
        "unexplained": cycles - 1.0,
        "iterations": 100.0,
        "entries": 1,
        "share": None,
        "counted": False,
        **dict.fromkeys(("samples", "lost", "disturbed", "iterations_error", "cycles_error"), 0),
        "module": "",
        "trips": (),
        **fields,
    }
    return LoopRun(**values)  # type: ignore[arg-type]


def run(*loops: LoopRun) -> RunReport:
    return RunReport(
        command=(), status=0, processes=1, unfinished=0, seconds=1.0, clock_ghz=1.0, unsampled_cost=0.0,
        sampled_cost=0.0, loops=loops, without_probes=(), notes=(),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param([loop("f/loop1", 5)], [loop("f/loop1", 9)], id="lines moved"),
        pytest.param([loop("f/loop1", 5)], [loop("f.constprop.0/loop1", 5)], id="a clone"),
        pytest.param([loop("f/loop1", 5)], [loop("main/loop7", 5)], id="inlined"),
        pytest.param([loop("f/loop1", 0)], [loop("f.isra.0/loop1", 0)], id="no lines"),
        pytest.param([loop("f/loop1", 5)], [loop("f/loop1", 5, unit="/other/a.c")], id="another folder"),
        pytest.param(
            [loop("f/loop1", 5), loop("f/loop2", 8)], [loop("f/loop2", 5), loop("f/loop1", 8)], id="another order"
        ),
    ],
)
def test_loops_of_the_same_source_are_compared(first: list[LoopRun], second: list[LoopRun]) -> None:
    rows = compare_runs(run(*first), run(*second)).rows
    pairs = {(row.first.kernel_id, row.second.kernel_id) for row in rows if row.first and row.second}
    assert pairs == {(a.kernel_id, b.kernel_id) for a, b in zip(first, second, strict=True)}


def test_other_loops_are_in_one_run_only() -> None:
    remainder = loop("f/loop2", 5, role="remainder")
    rows = compare_runs(run(loop("f/loop1", 5)), run(loop("f/loop1", 5), remainder)).rows
    assert [(row.first is None, row.second) for row in rows if row.second == remainder] == [(True, remainder)]


def test_cycles_are_those_of_the_elements_that_both_builds_handle() -> None:
    scalar = loop("f/loop1", 5, 2.0, elements=1.0)
    vector = loop("f/loop1", 5, 4.0, elements=8.0, iterations=12.5, parts=(Part(kind="data", cycles=1.6, text=""),))
    (row,) = compare_runs(run(scalar), run(vector)).rows
    assert (row.per, row.cycles) == ("element", 50.0 - 200.0)
    assert {part.kind: part.cycles for part in row.parts} == {
        "predicted": pytest.approx(1 / 8 - 1),
        "unexplained": pytest.approx(3 / 8 - 1),
        "data": pytest.approx(0.2),
    }
    (row,) = compare_runs(run(scalar), run(loop("f/loop1", 5, 4.0))).rows
    assert row.per == "iteration"
