"""Average wait times, of the instructions that the timeline is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import padded, rounded
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """A row for each instruction, and one for all where there are several."""
    run = statistics(kernel)
    if run is None or not run["waits"]:
        return
    yield ""
    yield ""
    yield "Average Wait times (based on the timeline view):"
    yield "[0]: Executions"
    yield "[1]: Average time spent waiting in a scheduler's queue"
    yield "[2]: Average time spent waiting in a scheduler's queue while ready"
    yield "[3]: Average time elapsed from WB until retire stage"
    yield ""
    yield "      [0]    [1]    [2]    [3]"
    for n, (wait, instruction) in enumerate(zip(run["waits"], kernel.instructions, strict=True)):
        yield f"{_row(f'{n}.', wait)}   {instruction.text}"
    if len(kernel.instructions) != 1:
        # llvm-mca has there how often each is executed.
        total = {**run["waits_total"], "executions": run["waits"][0]["executions"]}
        yield f"{_row('', total)}   <total>"


def _row(number: str, wait: Any) -> str:
    cells = str(wait["executions"]), *[rounded(wait[key], 1) for key in ("queue", "ready", "writeback")]
    if len(number) < 7 and len(cells[0]) < 6 and max(map(len, cells)) < 7:
        return f"{number:<7}{cells[0]:<6}{cells[1]:<7}{cells[2]:<7}{cells[3]:<7}"
    row = padded(number, 7) + cells[0]
    for column, cell in zip((13, 20, 27), cells[1:], strict=True):
        row = padded(row, column) + cell
    return padded(row, 34)
