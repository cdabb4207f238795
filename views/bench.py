"""The text of `incc-bench`: tables of forms, pairs and kernels, and the matrix of conflicts."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from incc.views.layout import BOLD, GREEN, RED, YELLOW, Layout
from incc.views.table import Column, Table, number_column, row, text_lines

FIGURES = (
    Column(title="form", comfortable=24, least=12, priority=1, code=True),
    Column(title="figure", comfortable=18, least=10, priority=2, code=True),
    number_column("cycles"),
    number_column("±"),
    number_column("model"),
    Column(title="", comfortable=20, least=8, priority=3, code=True),
)
PAIRS = (
    Column(title="pair", comfortable=30, least=16, priority=1, code=True),
    number_column("cycles"),
    number_column("±"),
    number_column("larger"),
    number_column("sum"),
    number_column("model"),
    number_column("conflict"),
)
KERNELS = (Column(title="kernel", comfortable=30, least=16, priority=1, keep_end=True, code=True), *FIGURES[2:])
_MOST_PAIRS = 45
"""Pairs in a table; of more than that, only the matrix is shown."""


def lines(results: dict[str, Any], layout: Layout) -> Iterator[str]:
    """Yield the text. `results` has `core`, `way`, `notes`, `figures`, `pairs`, `matrix` and `kernels`."""
    yield layout.paint(results["core"], BOLD)
    yield results["way"]
    for note in results["notes"]:
        yield f"note: {note}"
    if results["figures"]:
        yield ""
        yield from _table(FIGURES, results["figures"], layout)
    if results["pairs"] and len(results["pairs"]) <= _MOST_PAIRS:
        yield ""
        yield from _table(PAIRS, results["pairs"], layout)
    if results["matrix"]:
        yield ""
        yield from matrix(results["matrix"], layout)
    if results["kernels"]:
        yield ""
        yield from _table(KERNELS, results["kernels"], layout)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]], layout: Layout) -> Iterator[str]:
    """Yield the table, and below it in full the texts that are cut in its last column."""
    cells = [list(texts) for texts in rows]
    printed = list(text_lines(Table(columns, [row(*texts) for texts in cells]), layout))[1:]
    title, below = "", []
    for texts, line in zip(cells, printed, strict=True):
        title = texts[0] or title
        if texts[-1] not in line:
            below.append(f"{title}: {texts[-1]}")
            texts[-1] = texts[-1].partition(":")[0]
    yield from text_lines(Table(columns, [row(*texts) for texts in cells]), layout)
    if below:
        yield ""
        for text in dict.fromkeys(below):
            yield from textwrap.wrap(
                text, layout.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
            )


def matrix(conflicts: dict[str, Any], layout: Layout) -> Iterator[str]:
    """Yield the conflicts of all pairs: 0 if the forms overlap, 1 if both need the same ports."""
    titles, values = conflicts["titles"], conflicts["values"]
    width = len(str(len(titles)))
    yield "conflict of pairs: 0.0 they overlap, 1.0 one waits for the other"
    yield " " * (width + 1) + "".join(f"{n:>6}" for n in range(1, len(titles) + 1))
    for n, title in enumerate(titles):
        cells = "".join(_cell(layout, value) for value in values[n])
        yield f"{n + 1:>{width}} {cells}  {title}"


def _cell(layout: Layout, value: float | None) -> str:
    if value is None:
        return "     ·"
    style = RED if value > 0.75 else YELLOW if value > 0.25 else GREEN
    return layout.paint(f"{round(value, 1) + 0.0:6.1f}", style)
