"""The dispatch statistics: why dispatch stalled, and how many µops it took per cycle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.requested import Views

_STALLS = (
    ("RAT", "Register unavailable", "registers"),
    ("RCU", "Retire tokens unavailable", "reorder_buffer"),
    ("SCHEDQ", "Scheduler full", "scheduler"),
    ("LQ", "Load queue full", "load_buffer"),
    ("SQ", "Store queue full", "store_buffer"),
    ("GROUP", "Static restrictions on the dispatch group", "group"),
    ("USH", "Uncategorised Structural Hazard", "other"),
)


def lines(kernel: t.Kernel, views: Views) -> Iterator[str]:
    """Yield the stalled cycles by cause, then the histogram."""
    run: Any = kernel.cold
    cycles = run.cycles
    yield "Dynamic Dispatch Stall Cycles:"
    for short, name, cause in _STALLS:
        count = getattr(run.stalls, cause)
        yield f"{short:<7} - {name + ':':<42} {count}" + (f"  ({percent(count, cycles)}%)" if count else "")
    yield ""
    yield ""
    yield "Dispatch Logic - number of cycles where we saw N micro opcodes dispatched:"
    yield "[# dispatched], [# cycles]"
    for each in run.dispatched:
        yield f" {each.count},              {each.cycles}  ({percent(each.cycles, cycles)}%)"


def document(kernel: t.Kernel) -> dict[str, int]:
    """Return the stalls for JSON, which has no histogram."""
    run: Any = kernel.cold
    return {short: getattr(run.stalls, cause) for short, _, cause in _STALLS}
