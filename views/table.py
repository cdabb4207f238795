"""Tables: columns and rows of cells, printed as text of a given width or as Markdown.

Pages print the same tables with html/macros.html.j2.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec

from incc.views.layout import BOLD, GREEN, RED, YELLOW, Layout

STYLES = {"best": BOLD, "faster": GREEN, "good": GREEN, "slower": RED, "unknown": YELLOW}
"""Terminal styles of cells by their kind."""


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column of a table."""

    title: str
    right: bool = False
    """Cells end at the right edge, as numbers do."""
    comfortable: int = 0
    """Width that every column shrinks to, those of low priority first, before any shrinks further."""
    least: int = 0
    """Smallest width; 0 for a column that never shrinks. Columns of high priority, such as names, which are legible
    when they are cut, shrink to it first."""
    ample: int = 0
    """Width that the column shrinks to before any column shrinks to its comfortable width; 0 for none."""
    priority: int = 0
    """Rank of the column among those that shrink or are optional; optional columns of low priority go first."""
    optional: bool = False
    """A line without room goes without the column."""
    keep_end: bool = False
    """A cell that is cut keeps its end, as paths do."""
    meaning: str = ""
    """Explanation of the title on pages."""
    code: bool = False
    """Cells are code."""
    spare: bool = False
    """Narrow screens go without the column."""
    draw: str = ""
    """Name of the macro that draws the cells' keys on pages; text and Markdown go without such a column."""


def number_column(title: str, meaning: str = "", **settings: Any) -> Column:
    """Return a column of numbers, which end at its right edge; `settings` are further fields of Column."""
    return Column(title=title, meaning=meaning, right=True, **settings)


def text_column(title: str, meaning: str, comfortable: int, least: int, **settings: Any) -> Column:
    """Return a column of texts that may shrink to two widths; `settings` are further fields of Column."""
    return Column(title=title, meaning=meaning, comfortable=comfortable, least=least, **settings)


class Cell(msgspec.Struct, frozen=True, kw_only=True):
    """A cell of a table."""

    text: str = ""
    key: float | str | list[object] | None = ""
    """The value to sort by; "" for the text, None for a cell that is sorted after all others."""
    kind: str = ""
    """Kinds of the cell, separated by blanks: its classes on pages; STYLES has their styles in text."""
    note: str = ""
    """Text after the cell's own, in small type on pages."""
    doubt: str = ""
    """The confidence of an uncertain cell, printed after the note. It is printed even if notes do not fit."""
    href: str = ""
    """Address that the cell leads to on pages."""


class TableRow(msgspec.Struct, frozen=True):
    """A row of a table."""

    cells: Sequence[Cell]
    search: str = ""
    """Words that a search on a page matches, besides the cells' texts."""
    kinds: Sequence[str] = ()
    """Filters of a page that the row passes."""


class Table(msgspec.Struct, frozen=True):
    """A table. Columns in which no row has anything are not printed, except for the first."""

    columns: Sequence[Column]
    rows: Sequence[TableRow]


class TableSection(NamedTuple):
    """A table with its caption, and sentences on it."""

    caption: str
    table: Table
    sentences: list[str]


def row(*texts: str, kind: str = "") -> TableRow:
    """Return a row of plain cells."""
    return TableRow([Cell(text=text, kind=kind) for text in texts])


def select(table: Table, without: Iterable[str] = (), draw: bool = False) -> Table:
    """Return the columns in which some row has something, without those of these titles.

    Columns that are drawn are left out unless `draw`.
    """
    rows, left_out = table.rows, set(without)
    used = [
        n
        for n, column in enumerate(table.columns)
        if column.title not in left_out
        and (draw or not column.draw)
        and (n == 0 or any(row.cells[n].text or (column.draw and row.cells[n].key) for row in rows))
    ]
    return Table(
        [table.columns[n] for n in used],
        [TableRow([row.cells[n] for n in used], row.search, row.kinds) for row in rows],
    )


def markdown_lines(table: Table, marks: Mapping[str, str], without: Iterable[str] = ()) -> Iterator[str]:
    """Yield a table in GitHub's Markdown. `marks`: what cells of a kind begin with."""
    from incc.views.markdown import code, inline

    chosen = select(table, without)
    titles = [column.title if column.title == "#" else inline(column.title) for column in chosen.columns]
    yield f"| {' | '.join(titles)} |"
    yield f"| {' | '.join('--:' if column.right else '--' for column in chosen.columns)} |"
    for row in chosen.rows:
        texts = []
        for column, cell in zip(chosen.columns, row.cells, strict=True):
            text = code(cell.text) if column.code else inline(cell.text)
            text = f"**{text}**" if "best" in cell.kind.split() else text
            texts.append(
                " ".join(filter(None, (marks.get(cell.kind, ""), text, inline(cell.note), inline(cell.doubt))))
            )
        yield f"| {' | '.join(texts)} |"


def text_lines(table: Table, layout: Layout, without: Iterable[str] = ()) -> Iterator[str]:
    """Yield the titles and a line for each row, in as many columns as the layout has room for."""
    table = select(table, without)
    columns = list(table.columns)
    gone = sorted((column for column in columns if column.optional), key=lambda column: column.priority)
    for leaving in (None, *gone):
        if leaving:
            columns.remove(leaving)
        chosen = [n for n, column in enumerate(table.columns) if column in columns]
        texts = [[row.cells[n].text for n in chosen] for row in table.rows]
        widths, gap = _widths(columns, texts, layout.width)
        if not layout.width or sum(widths) + gap * (len(widths) - 1) <= layout.width:
            break
    titles = [Cell(text=column.title) for column in columns]
    yield layout.paint(_line(columns, titles, widths, gap, layout), BOLD)
    for row in table.rows:
        yield _line(columns, [row.cells[n] for n in chosen], widths, gap, layout)


def part_lines(parts: Iterable[TableSection], layout: Layout) -> Iterator[str]:
    """Yield tables with their captions and sentences, an empty line between them."""
    for n, part in enumerate(parts):
        if n:
            yield ""
        if part.table.rows:
            yield f"{part.caption}:"
            yield from text_lines(part.table, layout)
        for sentence in part.sentences:
            yield from layout.wrap(sentence)


def _widths(columns: Sequence[Column], texts: Sequence[Sequence[str]], room: int) -> tuple[list[int], int]:
    """Return the columns' widths, and the blanks between them: one where every column counts, else two."""
    wanted = [max([len(column.title), *(len(row[n]) for row in texts)]) for n, column in enumerate(columns)]
    widths = shrink(columns, wanted, room, 2)
    if room and (widths != wanted or sum(wanted) + 2 * (len(wanted) - 1) > room):
        return shrink(columns, wanted, room, 1), 1
    return widths, 2


def shrink(columns: Sequence[Column], wanted: Sequence[int], room: int, gap: int) -> list[int]:
    """Return widths for columns that lie `gap` blanks apart in a line of `room` characters (0: any number)."""
    widths = list(wanted)
    excess = sum(widths) + gap * (len(widths) - 1) - room if room else 0
    order = sorted((n for n, column in enumerate(columns) if column.least), key=lambda n: columns[n].priority)
    limits = [(n, column.ample) for n, column in enumerate(columns) if column.ample]
    limits += [(n, columns[n].comfortable) for n in order] + [(n, columns[n].least) for n in reversed(order)]
    for n, limit in limits:
        less = min(max(excess, 0), max(widths[n] - limit, 0))
        widths[n] -= less
        excess -= less
    return widths


def _line(columns: Sequence[Column], cells: Sequence[Cell], widths: Sequence[int], gap: int, layout: Layout) -> str:
    parts = []
    for column, cell, width in zip(columns, cells, widths, strict=True):
        text = _cut(cell.text, width, column.keep_end)
        blanks = " " * (width - len(text))
        style = next((STYLES[kind] for kind in cell.kind.split() if kind in STYLES), "")
        text = layout.paint(text, style)
        parts.append(blanks + text if column.right else text + blanks)
    return (" " * gap).join(parts).rstrip()


def _cut(text: str, width: int, keep_end: bool) -> str:
    """Return what fits of a cell's text, with … for the rest."""
    if len(text) <= width:
        return text
    # A role without its number is whole, and so is a width without its share.
    if not keep_end:
        whole = text.rsplit(" ", 2)[0] if text.endswith(" %") else text.partition(" (")[0]
        if len(whole) <= width:
            return whole
    file = text.rsplit("/", 1)[-1]
    if keep_end and len(file) <= width:
        return f"…/{file}" if len(file) + 2 <= width else file
    room = max(width - 1, 0)
    # The end of a qualified name says more than its namespaces.
    return "…" + text[len(text) - room :] if keep_end or "::" in text else text[:room] + "…"
