"""Projections: the cycles of a loop after changes to its code, each by a simulation of the changed code."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from incc.core.figures import DECIMALS
from incc.report import types as t
from incc.report import wording
from incc.report.projections.changing import Changed, Obstacle
from incc.report.projections.code import aligned, with_fma, without_overhead, without_spills
from incc.report.projections.vectors import arithmetic_vectorised, vectorised

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements
    from incc.frontends.kernel import KernelCode

_IRRELEVANT = frozenset(
    ("no-work", "no-overhead", "no-spills", "no-crossings", "no-products", "full-width", "no-scalar-arithmetic")
)
"""Obstacles that leave nothing to change."""

_OBSTACLES: dict[str, str] = {
    "no-work": "it does nothing but count and compute addresses",
    "no-overhead": "it computes no addresses and does not count",
    "no-spills": "nothing is spilled",
    "no-crossings": "no load crosses a cache line",
    "no-products": "it adds no product that could be fused",
    "full-width": "its vectors are as wide as the core's",
    "no-scalar-arithmetic": "it has no scalar floating-point arithmetic",
    "not-simulated": "the model describes no pipeline to simulate",
    "no-figures": "the model lacks an instruction that would be needed",
    "no-vector-form": "the core has no vector form of it{where}",
    "call": "it calls a function{where}",
    "branch": "it has a branch inside, which would need masks{where}",
    "unknown": "the model lacks instructions of the loop{where}",
    "search": "loaded data decide when it ends{where}",
    "mixture": "it has scalar work beside its vectors{where}",
    "gather": "a gather or scatter would be needed, or the distance of the elements is unknown{where}",
    "stride": "its elements do not follow each other in memory, so that they would have to be shuffled{where}",
    "interleaved": "each iteration uses several neighbours, which would have to be shuffled{where}",
    "descending": "it goes through memory backwards, so that vectors would have to be reversed{where}",
    "one-place": "each iteration stores to the same place{where}",
    "recurrence": "each iteration needs the result of the previous one{where}",
    "earlier-value": "an iteration uses a value of an earlier one{where}",
}
"""Clauses on obstacles; `{where}` stands for the places of the instructions."""


def projections(facts: KernelResult, elements: Elements | None) -> list[t.ProjectionReport]:
    """Return the cycles of a kernel after each change; `elements` are those of an iteration, if they are known."""
    tried: dict[t.ProjectionName, Callable[[], Changed]] = {
        "vectorised": lambda: vectorised(facts, elements),
        "arithmetic-vectorised": lambda: arithmetic_vectorised(facts),
        "without-overhead": lambda: without_overhead(facts),
        "without-spills": lambda: without_spills(facts),
        "aligned": lambda: aligned(facts),
        "fma": lambda: with_fma(facts),
    }
    return [_projection(name, change, facts) for name, change in tried.items()]


def _projection(name: t.ProjectionName, change: Callable[[], Changed], facts: KernelResult) -> t.ProjectionReport:
    try:
        changed = change()
    except Obstacle as obstacle:
        where = f" ({wording.places(facts.kernel, obstacle.instructions)})" if obstacle.instructions else ""
        return t.ProjectionReport(
            change=name,
            cycles=None,
            gained=0,
            applies=obstacle.kind not in _IRRELEVANT,
            vector_bits=0,
            instructions=list(obstacle.instructions),
            text=_OBSTACLES[obstacle.kind].format(where=where),
        )
    return t.ProjectionReport(
        change=name,
        cycles=round(float(changed.cycles), DECIMALS),
        gained=round(float(facts.cycles - changed.cycles), DECIMALS),
        applies=True,
        vector_bits=changed.bits,
        instructions=list(changed.reordered),
        text=_remark(facts.kernel, changed),
    )


def _remark(kernel: KernelCode, changed: Changed) -> str:
    """Return what a change assumes, "" if nothing."""
    if not changed.reordered:
        return ""
    return f"the order of additions changes ({wording.places(kernel, changed.reordered)}), as -fassociative-math allows"
