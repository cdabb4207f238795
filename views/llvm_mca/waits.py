"""The average wait times of the instructions in the timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from incc.views.llvm_mca.columns import padded, rounded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.requested import Views


def lines(kernel: t.Kernel, views: Views) -> Iterator[str]:
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
        yield f"{_row(f'{n}.', wait)}   {instruction.text}"
    if len(kernel.instructions) != 1:
        # llvm-mca's total repeats the executions of a single instruction.
        total = replace(run.waits_total, executions=run.waits[0].executions)
        yield f"{_row('', total)}   <total>"


def _row(number: str, wait: t.ColdWait) -> str:
    row = padded(number, 7) + str(wait.executions)
    for column, cycles in ((13, wait.queue), (20, wait.ready), (27, wait.writeback)):
        row = padded(row, column) + rounded(cycles, 1)
    return padded(row, 34)
