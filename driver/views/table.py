"""Tables whose columns give way where a line has no room, for the views that have one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import BOLD, fitted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from incc.driver.views.layout import Column, Layout


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str]],
    layout: Layout,
    without: Sequence[str] = (),
    always: int = 2,
    style: Callable[[int, str], str] | None = None,
) -> Iterator[str]:
    """The heading and a line for each row of cells. A column that says nothing of any row is left out, but for the
    first `always`. `without`: titles of the columns that the table goes without, one after the other, where not even
    narrow ones have room. `style`: the style of a row's cell in the column of a title."""
    used = [n for n, _ in enumerate(columns) if n < always or any(row[n] for row in rows)]
    for title in ("", *without):
        if title:
            used = [n for n in used if columns[n].title != title]
        chosen = [columns[n] for n in used]
        cells = [[row[n] for n in used] for row in rows]
        gap = 2
        widths = fitted(chosen, cells, layout.width, gap)
        whole = fitted(chosen, cells, 0, gap)
        if widths != whole or 0 < layout.width < sum(whole) + gap * (len(whole) - 1):  # every column counts
            gap = 1
            widths = fitted(chosen, cells, layout.width, gap)
        if not layout.width or sum(widths) + gap * (len(widths) - 1) <= layout.width:
            break
    yield layout.paint(_line(chosen, [column.title for column in chosen], widths, gap), BOLD)
    for number, row in enumerate(cells):
        styles = [style(number, column.title) for column in chosen] if style else []
        yield _line(chosen, row, widths, gap, [(layout, name) for name in styles])


def _line(
    columns: Sequence[Column],
    cells: Sequence[str],
    widths: Sequence[int],
    gap: int,
    styles: Sequence[tuple[Layout, str]] = (),
) -> str:
    """A row of cells in columns of these widths."""
    parts = []
    for n, (column, cell, width) in enumerate(zip(columns, cells, widths, strict=True)):
        text = _fit(cell, width, column.end)
        blanks = " " * (width - len(text))
        if styles:
            layout, style = styles[n]
            text = layout.paint(text, style)
        parts.append(blanks + text if column.right else text + blanks)
    return (" " * gap).join(parts).rstrip()


def _fit(cell: str, width: int, end: bool) -> str:
    """A cell in so many columns."""
    if len(cell) <= width:
        return cell
    # A role without its number is whole, and so is a width without its share.
    if not end:
        whole = cell.rsplit(" ", 2)[0] if cell.endswith(" %") else cell.partition(" (")[0]
        if len(whole) <= width:
            return whole
    file = cell.rsplit("/", 1)[-1]
    if end and len(file) <= width:
        return f"…/{file}" if len(file) + 2 <= width else file
    room = max(width - 1, 0)
    # Of what stands in namespaces and classes the end says most.
    return "…" + cell[len(cell) - room :] if end or "::" in cell else cell[:room] + "…"
