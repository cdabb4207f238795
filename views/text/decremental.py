"""The cycles of a kernel without each part of its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import Layout, cycles, percent
from incc.views.table import Table, TableSection, number_column, part_lines, row, text_column

_COLUMNS = (
    number_column("Cycles", "Predicted cycles per iteration"),
    number_column("Gain", "Share of the cycles that is saved"),
    text_column("Without", "The work that is left out", 60, 20),
)


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield a row for each part of the work that is left out."""
    if kernel.decrements is None:
        yield "No loop without some of its work: nothing was simulated."
        return
    yield from part_lines([part(kernel, kernel.decrements)], layout)


def part(kernel: t.KernelReport, decrements: Sequence[t.DecrementReport]) -> TableSection:
    """Return the table, or a sentence if there is nothing to leave out."""
    before = kernel.cycles
    caption = f"Simulated without some of the work ({cycles(before)} cycles per iteration with all of it)"
    rows = []
    for each in decrements:
        if not each.instructions:
            rows.append(row("-", "-", f"{each.text}: cannot be left out"))
            continue
        gain = each.gained / before if before else 0.0
        share = percent(gain).replace("\xa0", " ") if abs(gain) >= 0.005 else "-"
        rows.append(row(cycles(each.cycles), share, each.text))
    nothing = "The kernel neither accesses memory nor computes with floating-point numbers."
    return TableSection(caption, Table(_COLUMNS, rows), [] if rows else [nothing])
