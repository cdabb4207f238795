"""The timeline: a row for each instruction of the first iterations, a column for each cycle.

D: dispatched, =: waits to be issued, e: executes, E: executed, -: waits to retire, R: retired.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options

INDEX = 10  # the width of the column with [iteration,instruction]
_STAGES = ("dispatched", "ready", "issued", "executed", "retired")


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """A header that counts cycles, and rows until one does not end within the limit of cycles."""
    shown, complete, last = _shown(kernel, options)
    if not shown and complete:  # no report of one
        return
    yield ""
    yield ""
    yield "Timeline view:"
    if last >= 10:
        # The tens alternate between two lines: digits are read beside empty places.
        yield " " * INDEX + "".join(str(cycle % 10) if cycle // 10 % 2 else " " for cycle in range(last + 1))
    yield f"{'Index':<{INDEX}}" + "".join(" " if cycle // 10 % 2 else str(cycle % 10) for cycle in range(last + 1))
    # Cycles in which nothing happens have a dot every five, behind the instruction at the right edge too.
    ground = "".join(" " if cycle % 5 else "." for cycle in range(last + 1))
    behind = f"{ground[:-1]}."
    texts = [f"   {instruction.text}" for instruction in kernel.instructions]
    if shown:
        yield ""
    yield from [_row(event, ground, behind, texts) for event in shown]
    if not complete:
        yield "Truncated display due to cycle limit"


def document(kernel: t.Kernel, options: Options) -> dict[str, Any] | None:
    """The same for JSON."""
    shown, complete, _ = _shown(kernel, options)
    if not shown and complete:
        return None
    return {"TimelineInfo": [{f"Cycle{stage.capitalize()}": event[stage] for stage in _STAGES} for event in shown]}


def _shown(kernel: t.Kernel, options: Options) -> tuple[Sequence[Any], bool, int]:
    """The instructions that are shown, whether these are all that were asked for, and the last cycle that has a
    column."""
    run = statistics(kernel)
    limit = options.timeline_cycles
    if run is None or not (run["events"] or limit):
        return [], True, 0
    iterations = min(options.timeline_iterations or 10, run["iterations"])
    events = [event for event in run["events"] if event["iteration"] < iterations]
    if not limit:
        limit = max(event["retired"] for event in events) + 1
    # Instructions retire in order, so all are beyond the limit behind the first that is. What comes to pass with these
    # before the limit has its columns all the same; a report may not have them, and then there are all columns.
    shown = [event for event in events if event["retired"] < limit]
    complete = len(shown) == iterations * len(kernel.instructions)
    if complete:
        return shown, True, max([event["retired"] for event in shown], default=0)
    if len(shown) == len(events):
        return shown, False, limit - 1
    return shown, False, max([event[stage] for event in events for stage in _STAGES if event[stage] < limit], default=0)


def _row(event: Any, ground: str, behind: str, texts: Sequence[str]) -> str:
    """An instruction from the cycle in which it is dispatched to that in which it retires."""
    number: int = event["instruction"]
    dispatched, executed, retired = event["dispatched"], event["executed"], event["retired"]
    row: str = f"[{event['iteration']},{number}]".ljust(INDEX - 1) + " " + ground[:dispatched] + "D"
    if executed > dispatched:  # else the renamer has done with it
        issued = event["issued"]
        row += "=" * (issued - dispatched - 1)
        if issued != executed:
            row += "e" * (executed - (issued if issued > dispatched else dispatched + 1))
        row += "E"
    if retired > executed:
        row += "-" * (retired - executed - 1) + "R"
    return row + behind[retired + 1 :] + texts[number]
