"""Average wait times, of the instructions that the timeline is about."""

from __future__ import annotations

from incc.driver.views.llvm_mca.columns import padded, rounded
from incc.driver.views.llvm_mca.run import statistics

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from incc.driver.report import types as t
    from incc.driver.views.llvm_mca.asked import Options


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
    for n, (wait, instruction) in enumerate(zip(run["waits"], kernel["instructions"], strict=True)):
        yield f"{_row(f'{n}.', wait)}   {instruction['text']}"
    if len(kernel["instructions"]) != 1:
        # llvm-mca has there how often each is executed.
        total = {**run["waits_total"], "executions": run["waits"][0]["executions"]}
        yield f"{_row('', total)}   <total>"


def _row(number: str, wait: Any) -> str:
    row = padded(number, 7) + str(wait["executions"])
    for column, key in ((13, "queue"), (20, "ready"), (27, "writeback")):
        row = padded(row, column) + rounded(wait[key], 1)
    return padded(row, 34)
