"""Tables that a reader sorts and searches (table.js): plain tables where no script runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.driver.views.page import Html, element

if TYPE_CHECKING:
    from collections.abc import Sequence


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """A column: its heading, whether it has numbers, what it means for those who point at the heading, whether narrow
    screens go without it, whether its cells are code, and whether it can be sorted by."""

    heading: str
    number: bool = False
    meaning: str = ""
    spare: bool = False
    code: bool = False
    sorts: bool = True


class Cell(msgspec.Struct, frozen=True):
    """A cell: what it shows, what it is sorted by where that is not its text (None sorts behind everything), and a
    class."""

    content: str
    key: float | str | None = ""
    kind: str = ""


class Row(msgspec.Struct, frozen=True):
    """A row: its cells, what a search finds it by beside its text, and words by which a page chooses among rows."""

    cells: Sequence[Cell]
    search: str = ""
    kinds: str = ""


def sortable(
    name: str,
    caption: str,
    columns: Sequence[Column],
    rows: Sequence[Row],
    rest: Sequence[Row] = (),
    above: Sequence[Html] = (),
    below: Sequence[Html] = (),
    kind: str = "",
) -> Html:
    """A table with a box to search it. Columns in which no row has anything are left out.

    `rest`: rows that stand in a template, for the page to take when they are asked for: what is not drawn costs next
    to nothing. `above`, `below`: more rows of the head and of the foot. `kind`: a class of the table and what is around
    it.
    """
    used = [n for n in range(len(columns)) if any(row.cells[n].content for part in (rows, rest) for row in part)]
    head = element("tr", *(_heading(columns[n]) for n in used))
    shown = [columns[n] for n in used]
    table = element(
        "table",
        element("caption", caption),
        element("thead", *above, head),
        element("tbody", *(_row(shown, row, used) for row in rows)),
        *([element("tfoot", *below)] if below else []),
        class_=f"sortable {kind}".rstrip(),
        id=name,
    )
    if rest:
        table = Html(table + element("template", *(_row(shown, row, used) for row in rest), id=f"{name}-rest"))
    search = (
        element(
            "label", "Search ", Html(f'<input type="search" id="{name}-search" autocomplete="off" spellcheck="false">')
        ),
        element("span", f"{len(rows)}", id=f"{name}-count", class_="muted", role="status"),
    )
    return Html(
        element("div", *search, class_="search", role="search")
        + element(
            "div",
            table,
            class_=f"wide sorted {kind}".rstrip(),
            role="region",
            tabindex="0",
            **{"aria-labelledby": f"{name}-title"},
        )
    )


def _row(columns: Sequence[Column], row: Row, used: Sequence[int]) -> Html:
    cells = (_cell(column, row.cells[n]) for column, n in zip(columns, used, strict=True))
    return element("tr", *cells, **{"data-search": row.search, "data-kinds": row.kinds})


def _heading(column: Column) -> Html:
    if not column.sorts:
        return element("th", column.heading, scope="col", title=column.meaning, class_=_classes(column))
    button = element("button", column.heading, type="button", title=column.meaning)
    return element("th", button, scope="col", class_=_classes(column))


def _cell(column: Column, cell: Cell) -> Html:
    key = None if cell.key == "" else str("" if cell.key is None else cell.key)
    # An empty key is one, too; `element` would leave it out.
    sort = "" if key is None else f' data-key="{element("i", key)[3:-4]}"'
    content = element("td", cell.content, class_=f"{_classes(column)} {cell.kind}".strip())
    return Html(content.replace("<td", f"<td{sort}", 1))


def _classes(column: Column) -> str:
    named = (("number", column.number), ("spare", column.spare), ("code", column.code))
    return " ".join(name for name, wanted in named if wanted)
