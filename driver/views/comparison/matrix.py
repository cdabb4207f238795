"""More than two sides: a table of kernels and sides, with the cycles of each, the fewest marked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.driver.views.comparison import cells
from incc.driver.views.layout import BOLD, GREEN, RED, Column
from incc.driver.views.table import table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Compared, Numbered
    from incc.driver.views.layout import Layout

MOST_LABEL = 16
"""Columns of a label that heads a column; longer ones are in the list of the sides, with their letters."""

TITLES = ("#", "Line", "Function")

LEAST = 22
"""Columns that names and places have at least, before the table is divided."""


class Cell(msgspec.Struct, frozen=True):
    """A kernel on one side: its cycles, the mark of the fewest, and the change from the base."""

    cycles: str = ""
    mark: str = ""
    change: str = ""


def lines(comparison: c.Comparison, rows: Sequence[Numbered], layout: Layout) -> Iterator[str]:
    """The table; in several, one below the other, where not all sides have room beside each other."""
    sides = range(len(comparison["sides"]))
    compared = [cells.compared(found.row) for found in rows]
    grid = [[cell(found.row, values, side) for side in sides] for found, values in zip(rows, compared, strict=True)]
    grid += sums(comparison, rows)
    heads = [[str(f.number), cells.place(f.row, layout), cells.short(f.row)] for f in rows]
    heads += [["", "", "geom. mean"], ["", "", "fewest in"]]
    what, mixed = measured(compared)
    if mixed:
        for head, values in zip(heads, compared, strict=False):
            head[2] += " (it.)" * (values.basis == "iteration")
    yield from layout.wrap(
        f"Cycles of {what}; *: the fewest; beside them the change from the first side that has the kernel:"
    )
    for blank, (labels, ratios, chosen) in enumerate(_blocks(comparison, heads, grid, layout)):
        if blank:
            yield ""
        yield from _block(comparison, rows, heads, grid, layout, labels, ratios, chosen)


def measured(compared: Sequence[Compared]) -> tuple[str, bool]:
    """What the cycles of these rows are of, and whether that is not the same for all: then those of an iteration are to
    be marked with (it.)."""
    of = {values.basis for values in compared}
    what = "an element of the source's loop"
    if of == {"iteration"}:
        return "as much work as an iteration does on the first side", False
    if len(of) > 1:
        return f"{what}, or (it.) as much work as an iteration does on the first side", True
    return what, False


def cell(row: c.Row, compared: Compared, side: int) -> Cell:
    """What a table has of a kernel of one side."""
    member, cycles = row["members"][side], compared.cycles[side]
    if member is None:
        return Cell("-")
    change = row["changes"][side]
    if cycles is None:
        return Cell(f"({cells.taken(member, member['figures']['cycles'])})", "", "?")
    known = change is not None and change["ratio"] is not None
    ratio = cells.relative(change["ratio"]) if change is not None and known else ""
    return Cell(cells.taken(member, cycles), "*" if side in row["best"] else "", ratio)


def sums(comparison: c.Comparison, rows: Sequence[Numbered]) -> list[list[Cell]]:
    """The last rows: the geometric mean of the changes, and in how many of the rows each has the fewest cycles."""
    means = [Cell()] + [
        Cell("", "", cells.relative(totals["speedup"]) if totals and totals["speedup"] is not None else "")
        for totals in comparison["totals"][1:]
    ]
    sides = range(len(comparison["sides"]))
    return [means, [Cell(str(sum(side in found.row["best"] for found in rows))) for side in sides]]


def _blocks(
    comparison: c.Comparison, heads: list[list[str]], grid: list[list[Cell]], layout: Layout
) -> list[tuple[bool, bool, list[int]]]:
    """Whether columns have labels, whether there are changes in them, and the sides of each block: labels and changes
    go first where there is no room, then not all sides stand beside each other."""
    sides = list(range(len(comparison["sides"])))
    labels = all(len(side["label"]) <= MOST_LABEL and side["label"] not in TITLES for side in comparison["sides"])
    if not layout.width:
        return [(labels, True, sides)]
    names = min(max(len(head[1]) + 2 + len(head[2]) for head in heads), LEAST) + 2
    room = layout.width - names - max(len(head[0]) for head in heads)

    def width(with_labels: bool, ratios: bool) -> list[int]:
        titles = _titles(comparison, with_labels)
        columns = _columns(grid, titles, ratios)
        return [2 + max(len(titles[side]), *(len(text) for text in columns[side])) for side in sides]

    options = [(True, True), (False, True), (True, False), (False, False)]
    for option in options if labels else options[1::2]:
        if sum(width(*option)) <= room:
            return [(*option, sides)]
    widths = width(False, True)
    blocks: list[list[int]] = [[]]
    for side in sides:
        if blocks[-1] and sum(widths[n] for n in (*blocks[-1], side)) > room:
            blocks.append([])
        blocks[-1].append(side)
    return [(False, True, block) for block in blocks]


def _titles(comparison: c.Comparison, labels: bool) -> list[str]:
    return [side["label"] if labels else cells.letter(n) for n, side in enumerate(comparison["sides"])]


def _columns(grid: list[list[Cell]], titles: Sequence[str], ratios: bool) -> list[list[str]]:
    """The texts of each side's column, its parts below each other."""
    found = []
    for side, _ in enumerate(titles):
        column = [row[side] for row in grid]
        number = max(len(cell.cycles) for cell in column)
        change = max(len(cell.change) for cell in column) if ratios else 0
        found.append(
            [
                f"{cell.cycles:>{number}}{cell.mark:1}" + (f" {cell.change:>{change}}" if change else "")
                for cell in column
            ]
        )
    if not ratios:  # the mean has no cycles
        for side, texts in enumerate(found):
            texts[-2] = grid[-2][side].change
    return found


def _block(
    comparison: c.Comparison,
    rows: Sequence[Numbered],
    heads: list[list[str]],
    grid: list[list[Cell]],
    layout: Layout,
    labels: bool,
    ratios: bool,
    chosen: Sequence[int],
) -> Iterator[str]:
    titles = _titles(comparison, labels)
    texts = _columns(grid, titles, ratios)
    columns = [
        Column("#", right=True),
        Column("Line", glad=14, least=7, gives_way=1, end=True),
        Column("Function", glad=12, least=8, gives_way=2, ample=30),
        *(Column(titles[side], right=True) for side in chosen),
    ]
    cell_rows = [[*head, *(texts[side][n] for side in chosen)] for n, head in enumerate(heads)]

    def style(number: int, title: str) -> str:
        if title not in titles or number >= len(rows):
            return ""
        side = titles.index(title)
        change = rows[number].row["changes"][side]
        if grid[number][side].mark:
            return BOLD
        return {"faster": GREEN, "slower": RED}.get(change["outcome"], "") if change else ""

    yield from table(columns, cell_rows, layout, ("Line",), always=3, style=style)
