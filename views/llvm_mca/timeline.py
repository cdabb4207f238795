"""The timeline, with a row for each instruction of the first iterations, and the average waits in it.

A column of the timeline is a cycle. D: dispatched, =: waiting for issue, e: executing, E: executed, -: waiting for
retirement, R: retired.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from incc.report import types as t
from incc.views.llvm_mca.columns import padded, rounded
from incc.views.llvm_mca.requested import Views

INDEX = 10  # the width of the column with [iteration,instruction]
_STAGES = ("dispatched", "ready", "issued", "executed", "retired")


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield a header that counts cycles, and rows up to the first that does not end within the limit."""
    shown, complete, last = _shown(kernel, views)
    if not shown and complete:
        return
    yield "Timeline view:"
    if last >= 10:
        # Tens of cycles alternate between two lines, to be distinguishable.
        yield " " * INDEX + "".join(str(cycle % 10) if cycle // 10 % 2 else " " for cycle in range(last + 1))
    yield f"{'Index':<{INDEX}}" + "".join(" " if cycle // 10 % 2 else str(cycle % 10) for cycle in range(last + 1))
    # A dot marks every fifth cycle, and after retirement also the last one.
    before = "".join(" " if cycle % 5 else "." for cycle in range(last + 1))
    after = f"{before[:-1]}."
    texts = [f"   {instruction.text}" for instruction in kernel.instructions]
    if shown:
        yield ""
    yield from [_row(event, before, after, texts) for event in shown]
    if not complete:
        yield "Truncated display due to cycle limit"


def document(kernel: t.KernelReport, views: Views) -> dict[str, Any] | None:
    """Return the view for JSON, None where the report has no events."""
    shown, complete, _ = _shown(kernel, views)
    if not shown and complete:
        return None
    return {
        "TimelineInfo": [{f"Cycle{stage.capitalize()}": getattr(event, stage) for stage in _STAGES} for event in shown]
    }


def _shown(kernel: t.KernelReport, views: Views) -> tuple[Sequence[t.ColdEvent], bool, int]:
    """Return the events to show, whether these are all requested ones, and the last cycle that has a column."""
    run: Any = kernel.cold
    limit = views.timeline_cycles
    if not (run.events or limit):
        return [], True, 0
    iterations = min(views.timeline_iterations or 10, run.iterations)
    events = [event for event in run.events if event.iteration < iterations]
    if not limit:
        limit = max(event.retired for event in events) + 1
    # Instructions retire in order: the first one beyond the limit ends the view.
    shown = [event for event in events if event.retired < limit]
    if len(shown) == iterations * len(kernel.instructions):
        return shown, True, max([event.retired for event in shown], default=0)
    if len(shown) == len(events):
        return shown, False, limit - 1
    # Events before the limit have columns even if their instructions are beyond it.
    reached = [getattr(event, stage) for event in events for stage in _STAGES]
    return shown, False, max([cycle for cycle in reached if cycle < limit], default=0)


def _row(event: t.ColdEvent, before: str, after: str, texts: Sequence[str]) -> str:
    number = event.instruction
    dispatched, executed, retired = event.dispatched, event.executed, event.retired
    row = f"[{event.iteration},{number}]".ljust(INDEX - 1) + " " + before[:dispatched] + "D"
    if executed > dispatched:  # else the renamer executed it
        issued = event.issued
        row += "=" * (issued - dispatched - 1)
        if issued != executed:
            row += "e" * (executed - (issued if issued > dispatched else dispatched + 1))
        row += "E"
    if retired > executed:
        row += "-" * (retired - executed - 1) + "R"
    return row + after[retired + 1 :] + texts[number]


# --- average waits ----------------------------------------------------------------------------------------------------


def waits(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield a row for each instruction, and the totals if there are several."""
    run: Any = kernel.cold
    if not run.waits:
        return
    yield "Average Wait times (based on the timeline view):"
    yield "[0]: Executions"
    yield "[1]: Average time spent waiting in a scheduler's queue"
    yield "[2]: Average time spent waiting in a scheduler's queue while ready"
    yield "[3]: Average time elapsed from WB until retire stage"
    yield ""
    yield "      [0]    [1]    [2]    [3]"
    for n, (wait, instruction) in enumerate(zip(run.waits, kernel.instructions, strict=True)):
        yield f"{_wait_row(f'{n}.', wait)}   {instruction.text}"
    if len(kernel.instructions) != 1:
        # llvm-mca's total repeats the executions of a single instruction.
        total = replace(run.waits_total, executions=run.waits[0].executions)
        yield f"{_wait_row('', total)}   <total>"


def _wait_row(number: str, wait: t.ColdWait) -> str:
    row = padded(number, 7) + str(wait.executions)
    for column, cycles in ((13, wait.queue), (20, wait.ready), (27, wait.writeback)):
        row = padded(row, column) + rounded(cycles, 1)
    return padded(row, 34)
