"""Tables that a reader sorts and searches (table.js): plain tables where no script runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from incc.driver.views.page import Html, element

if TYPE_CHECKING:
    from collections.abc import Sequence


class Column(NamedTuple):
    """A column: its heading, whether it has numbers, what it means for those who point at the heading, whether narrow
    screens go without it, whether its cells are code, and whether it can be sorted by."""

    heading: str
    number: bool = False
    meaning: str = ""
    spare: bool = False
    code: bool = False
    sorts: bool = True


class Cell(NamedTuple):
    """A cell: what it shows, and what it is sorted by where that is not its text; None sorts behind everything."""

    content: str
    key: float | str | None = ""


class Row(NamedTuple):
    """A row: its cells, and what a search finds it by beside its text."""

    cells: Sequence[Cell]
    search: str = ""


def sortable(name: str, caption: str, columns: Sequence[Column], rows: Sequence[Row]) -> Html:
    """A table with a box to search it. Columns in which no row has anything are left out."""
    used = [n for n in range(len(columns)) if any(row.cells[n].content for row in rows)]
    head = element("tr", *(_heading(columns[n]) for n in used))
    body = [
        element("tr", *(_cell(columns[n], row.cells[n]) for n in used), **{"data-search": row.search}) for row in rows
    ]
    table = element(
        "table",
        element("caption", caption),
        element("thead", head),
        element("tbody", *body),
        class_="sortable",
        id=name,
    )
    search = (
        element(
            "label", "Search ", Html(f'<input type="search" id="{name}-search" autocomplete="off" spellcheck="false">')
        ),
        element("span", f"{len(rows)}", id=f"{name}-count", class_="muted", role="status"),
    )
    return Html(
        element("div", *search, class_="search", role="search")
        + element(
            "div", table, class_="wide sorted", role="region", tabindex="0", **{"aria-labelledby": f"{name}-title"}
        )
    )


def _heading(column: Column) -> Html:
    if not column.sorts:
        return element("th", column.heading, scope="col", title=column.meaning, class_=_classes(column))
    button = element("button", column.heading, type="button", title=column.meaning)
    return element("th", button, scope="col", class_=_classes(column))


def _cell(column: Column, cell: Cell) -> Html:
    key = None if cell.key == "" else str("" if cell.key is None else cell.key)
    # An empty key is one, too; `element` would leave it out.
    sort = "" if key is None else f' data-key="{element("i", key)[3:-4]}"'
    content = element("td", cell.content, class_=_classes(column))
    return Html(content.replace("<td", f"<td{sort}", 1))


def _classes(column: Column) -> str:
    named = (("number", column.number), ("spare", column.spare), ("code", column.code))
    return " ".join(name for name, wanted in named if wanted)
