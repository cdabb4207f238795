"""Resource pressure: for how many cycles per iteration each resource is busy, in total and by instruction."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat
from typing import Any

from incc.report import types as t
from incc.views.llvm_mca.columns import padded, rounded
from incc.views.llvm_mca.requested import Views
from incc.views.llvm_mca.resources import resources

COLUMN = 7
_NOTHING = " - "


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the resources, the totals, and a row for each instruction."""
    columns = resources(kernel)
    yield "Resources:"
    for column in columns:
        yield padded(f"[{column.label}]", 6) + f"- {column.name}"
    yield ""
    yield ""
    heads = _row([f"[{column.label}]" for column in columns])
    yield "Resource pressure per iteration:"
    yield heads
    yield _row([_NOTHING if column.cycles < 0.005 else rounded(column.cycles, 2) for column in columns])
    yield ""
    yield "Resource pressure by instruction:"
    yield heads + "Instructions:"
    rows = zip(*[column.instructions for column in columns], strict=True) if columns else repeat(())
    for cycles, instruction in zip(rows, kernel.instructions, strict=False):
        yield _row([_NOTHING if each < 0.005 else rounded(each, 2) for each in cycles]) + instruction.text


def document(kernel: t.KernelReport) -> dict[str, Any]:
    """Return the values other than 0 for JSON: by instruction, and after the last instruction the totals."""
    columns = resources(kernel)
    count = len(kernel.instructions)
    usage = [[column.instructions[n] for column in columns] for n in range(count)]
    usage.append([column.cycles for column in columns])
    return {
        "ResourcePressureInfo": [
            {"InstructionIndex": n, "ResourceIndex": place, "ResourceUsage": cycles}
            for n, row in enumerate(usage)
            for place, cycles in enumerate(row)
            if cycles
        ]
    }


def _row(cells: Sequence[str]) -> str:
    """Join cells. One that is too wide is followed by one blank, and moves only its neighbour."""
    if max(map(len, cells), default=0) < COLUMN:
        return "".join([cell.ljust(COLUMN) for cell in cells])
    row, end = "", 0
    for cell in cells:
        end += COLUMN
        row += cell
        row = row.ljust(end) if len(row) < end else row + " "
    return row
