"""One of many kernels in a few lines: place, verdict and hints, with the number that it has in the overview."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report import types as t
from incc.views.layout import BOLD, Layout, count
from incc.views.text import header

INDENT = "   "


def lines(unit: t.UnitReport, numbers: Sequence[int], layout: Layout, most_hints: int) -> Iterator[str]:
    """Yield the lines on the kernels with these numbers, which are alike, with at most a number of hints."""
    kernel = unit.kernels[numbers[0] - 1]
    title = f"[{'-'.join(str(n) for n in dict.fromkeys((numbers[0], numbers[-1])))}] {header.title(kernel, layout)}"
    yield from layout.wrap(title, "", INDENT, style=BOLD)
    size = count(kernel.size.instructions, "instruction")
    span = header.span(unit, kernel) if kernel.first_line else unit.assembly_file
    where = ", ".join(part for part in (kernel.label, span) if part)
    if len(numbers) > 1:
        where += f" and {count(len(numbers) - 1, 'loop')} like it"
    yield from layout.wrap(f"{where}: {size}, {kernel.arithmetic.text}", INDENT, INDENT)
    if kernel.inlined or kernel.inlined_into:
        yield from layout.wrap(header.inlining(kernel, layout), INDENT, INDENT)
    if kernel.remarks:
        yield from layout.wrap(f"{unit.compiler}: {header.remarks(kernel)}", INDENT, f"{INDENT}  ")
    yield from header.verdict(kernel, layout, INDENT, most_hints)
