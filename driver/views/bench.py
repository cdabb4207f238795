"""The text of `incc-bench`: a table of figures, pairs, and the matrix of who shares with whom."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.driver.views.layout import BOLD, GREEN, RED, YELLOW, Layout
from incc.driver.views.table import Column, Table, row, text_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_FIGURES = (
    Column(title="form", comfortable=24, least=12, priority=1),
    Column(title="figure", comfortable=18, least=10, priority=2),
    Column(title="cycles", right=True),
    Column(title="±", right=True),
    Column(title="model", right=True),
    Column(title="", comfortable=20, least=8, priority=3),
)
_PAIRS = (
    Column(title="pair", comfortable=30, least=16, priority=1),
    Column(title="cycles", right=True),
    Column(title="±", right=True),
    Column(title="larger", right=True),
    Column(title="sum", right=True),
    Column(title="model", right=True),
    Column(title="conflict", right=True),
)
_MOST_PAIRS = 45
"""Pairs that are listed; of more only the matrix is shown."""


def lines(found: dict[str, Any], layout: Layout) -> Iterator[str]:
    """All of it. `found`: `core`, `way`, `notes`, `figures`, `pairs`, `matrix`, `kernels` (driver/bench.py)."""
    yield layout.paint(found["core"], BOLD)
    yield found["way"]
    for note in found["notes"]:
        yield f"note: {note}"
    if found["figures"]:
        yield ""
        yield from _table(_FIGURES, found["figures"], layout)
    if found["pairs"] and len(found["pairs"]) <= _MOST_PAIRS:
        yield ""
        yield from _table(_PAIRS, found["pairs"], layout)
    if found["matrix"]:
        yield ""
        yield from matrix(found["matrix"], layout)
    if found["kernels"]:
        yield ""
        yield from _table(
            (Column(title="kernel", comfortable=30, least=16, priority=1, keep_end=True), *_FIGURES[2:]),
            found["kernels"],
            layout,
        )


def _table(columns: Sequence[Column], rows: Sequence[Sequence[str]], layout: Layout) -> Iterator[str]:
    """The table, and below it, whole, what the last column has no room for: why something was not measured."""
    cells = [list(row) for row in rows]
    printed = list(text_lines(Table(columns, [row(*texts) for texts in cells]), layout))[1:]
    title, below = "", []
    for texts, line in zip(cells, printed, strict=True):
        title = texts[0] or title
        if texts[-1] not in line:
            below.append(f"{title}: {texts[-1]}")
            texts[-1] = texts[-1].partition(":")[0]
    yield from text_lines(Table(columns, [row(*texts) for texts in cells]), layout)
    if below:
        import textwrap

        yield ""
        for text in dict.fromkeys(below):
            yield from textwrap.wrap(
                text, layout.width, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
            )


def matrix(found: dict[str, Any], layout: Layout) -> Iterator[str]:
    """Conflicts of all pairs: 0 where one costs nothing beside the other, 1 where both need the same."""
    titles, values = found["titles"], found["values"]
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
