"""Dispatch statistics: why dispatch stopped, and how many µops it took in how many cycles."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.views.llvm_mca.columns import rounded, share
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options

_STALLS = (
    ("RAT", "Register unavailable", "registers"),
    ("RCU", "Retire tokens unavailable", "reorder_buffer"),
    ("SCHEDQ", "Scheduler full", "scheduler"),
    ("LQ", "Load queue full", "load_buffer"),
    ("SQ", "Store queue full", "store_buffer"),
    ("GROUP", "Static restrictions on the dispatch group", "group"),
    ("USH", "Uncategorised Structural Hazard", "other"),
)


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """Cycles of each cause, and the histogram."""
    run = statistics(kernel)
    if run is None:
        return
    cycles = run["cycles"]
    yield ""
    yield ""
    yield "Dynamic Dispatch Stall Cycles:"
    for short, name, cause in _STALLS:
        count = run["stalls"][cause]
        part = f"  ({rounded(share(count, cycles), 1)}%)" if count else ""
        yield f"{short:<7} - {name + ':':<42} {count}{part}"
    yield ""
    yield ""
    yield "Dispatch Logic - number of cycles where we saw N micro opcodes dispatched:"
    yield "[# dispatched], [# cycles]"
    for each in run["dispatched"]:
        yield f" {each['count']},              {each['cycles']}  ({rounded(share(each['cycles'], cycles), 1)}%)"


def document(kernel: t.Kernel) -> dict[str, int] | None:
    """The stalls for JSON, which has no histogram."""
    run = statistics(kernel)
    return None if run is None else {short: run["stalls"][cause] for short, _, cause in _STALLS}
