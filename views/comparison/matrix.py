"""More than two sides: a table of kernels and sides, with the cycles of each and the fewest marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from incc.comparison import types as c
from incc.views.comparison import cells
from incc.views.comparison.cells import NumberedRow
from incc.views.layout import Layout
from incc.views.table import Cell, Table, TableRow, number_column, text_column, text_lines

MOST_LABEL = 16
"""Characters of a label that heads a column; longer ones are replaced by letters."""

LEAST = 22
"""Width of names and places before the table is divided."""

HEAT = (1.02, 1.1, 1.25, 1.5, 2.0, 4.0)
"""Largest ratios to a row's best for each shade of a cell; cells beyond the last one have the darkest."""

LEADS = (
    number_column("#", "Number of the row, the same in all views"),
    text_column(
        "Line",
        "Place of the loop in the last build that has it",
        14,
        7,
        priority=1,
        optional=True,
        keep_end=True,
        code=True,
        spare=True,
    ),
    text_column(
        "Function", "Function that the loop is written in, and its role", 12, 8, ample=30, priority=2, code=True
    ),
)
"""The columns before those of the sides."""


class RowCycles(msgspec.Struct, frozen=True):
    """The cycles of a row's kernels on one basis."""

    basis: str
    """element, or iteration if elements are not known of all: as much work as an iteration of the base does."""
    cycles: tuple[float | None, ...]
    """Cycles by side, None without a kernel or a comparison."""


def compared(row: c.ComparisonRow) -> RowCycles:
    """Return the cycles of a row's kernels on one basis.

    Each change is relative to the base and may have a basis of its own; they have their ratios in common.
    """
    changes = [change for _, _, change in cells.pairs(row) if change.ratio is not None]
    of_element = bool(changes) and all(change.basis == "element" for change in changes)
    # They differ if only one side split the loop, or if sides disagree on its elements.
    own_of = [change.cycles_a or 0.0 for change in changes]
    of_element = of_element and max(own_of) - min(own_of) <= 0.001 * max(own_of)
    own = changes[0].cycles_a if of_element else cells.base(row).figures.cycles
    cycles: list[float | None] = []
    for side, change in enumerate(row.changes):
        if side == row.base:
            cycles.append(own)
        elif change is None or change.ratio is None or own is None:
            cycles.append(None)
        else:
            cycles.append(change.cycles_b if of_element else own * change.ratio)
    return RowCycles("element" if of_element else "iteration", tuple(cycles))


def table(comparison: c.ComparisonReport, rows: Sequence[NumberedRow], layout: Layout, labels: bool) -> Table:
    """Return the table of these rows, with the sides' labels or their letters as titles."""
    bases = [compared(numbered.row) for numbered in rows]
    mixed = len({row.basis for row in bases}) > 1
    columns = [
        *LEADS,
        *(
            number_column(title, f"{cells.called(comparison, n)}: cycles")
            for n, title in enumerate(_titles(comparison, labels))
        ),
    ]
    table_rows = []
    for numbered, values in zip(rows, bases, strict=True):
        mark = " (it.)" if mixed and values.basis == "iteration" else ""
        leads = [
            Cell(text=str(numbered.number), key=numbered.number),
            Cell(text=cells.place(numbered.row, layout)),
            Cell(text=cells.short(numbered.row) + mark, href=f"#p{numbered.number}"),
        ]
        sides = [_cell(numbered, values, side) for side in range(len(comparison.sides))]
        table_rows.append(TableRow([*leads, *sides]))
    return Table(columns, table_rows)


def basis(rows: Sequence[NumberedRow]) -> str:
    """Return the unit of work that the table's cycles refer to."""
    bases = {compared(numbered.row).basis for numbered in rows}
    of_element = "per element of the source loop"
    if bases == {"iteration"}:
        return "for the work of one iteration on the first side"
    if len(bases) > 1:
        return f"{of_element}, or (it.) for the work of one iteration on the first side"
    return of_element


def doubts(rows: Sequence[NumberedRow]) -> str:
    """Return the meaning of doubts in the table, to end a sentence; empty if there are none."""
    unsure = any(cells.doubt(change) for numbered in rows for _, _, change in cells.pairs(numbered.row))
    return "; ?: how sure it is that both are the same loop" if unsure else ""


def _titles(comparison: c.ComparisonReport, labels: bool) -> list[str]:
    return [side.label if labels else cells.letter(n) for n, side in enumerate(comparison.sides)]


def _cell(numbered: NumberedRow, compared: RowCycles, side: int) -> Cell:
    """Return a kernel's cycles on one side, followed by the change from the base."""
    row = numbered.row
    member, cycles, change = row.members[side], compared.cycles[side], row.changes[side]
    if member is None:
        return Cell(text="-", key=None, kind="stop")
    href = f"#p{numbered.number}/{cells.letter(side)}"
    doubt = cells.doubt(change) if change else ""
    if cycles is None:
        text = f"({cells.taken(member, member.figures.cycles)})"
        return Cell(text=text, key=None, note="?", doubt=doubt, href=href)
    note = ""
    if change is not None and change.ratio is not None:
        note = "?" if change.outcome == "unknown" else cells.relative(change.ratio)
    kinds: list[str] = ["best"] if side in row.best else [change.outcome] if change else []
    if any(row.changes):
        best = min(value for value in compared.cycles if value is not None)
        kinds.append(f"heat{sum((cycles / best if best else 1.0) > limit for limit in HEAT)}")
    return Cell(text=cells.taken(member, cycles), key=cycles, kind=" ".join(kinds), note=note, doubt=doubt, href=href)


def sums(comparison: c.ComparisonReport, rows: Sequence[NumberedRow]) -> list[TableRow]:
    """Return the last rows: the geometric mean of the changes, and in how many rows each side has the fewest cycles."""
    means = [Cell()] + [
        Cell(note=cells.relative(totals.speedup) if totals and totals.speedup is not None else "")
        for totals in comparison.totals[1:]
    ]
    sides = range(len(comparison.sides))
    fewest = [Cell(text=str(sum(side in numbered.row.best for numbered in rows))) for side in sides]
    return [
        TableRow([Cell(), Cell(), Cell(text=title), *values])
        for title, values in (("geom. mean", means), ("fewest in", fewest))
    ]


# --- text -------------------------------------------------------------------------------------------------------------


def lines(comparison: c.ComparisonReport, rows: Sequence[NumberedRow], layout: Layout) -> Iterator[str]:
    """Yield the table as text; in several parts, one below the other, if not all sides fit next to each other."""
    whole = table(comparison, rows, layout, False)
    grid = [row.cells for row in (*whole.rows, *sums(comparison, rows))]
    change = "then the change from the first side that has the kernel"
    yield from layout.wrap(f"Cycles {basis(rows)}; *: the fewest; {change}{doubts(rows)}:")
    leads = len(LEADS)
    for blank, (labels, ratios, sides) in enumerate(_blocks(comparison, grid, layout)):
        if blank:
            yield ""
        titles = _titles(comparison, labels)
        texts = _texts(grid, ratios)
        columns = [*LEADS, *(number_column(titles[side]) for side in sides)]
        block = [
            TableRow([*row[:leads], *(Cell(text=texts[side][n], kind=row[leads + side].kind) for side in sides)])
            for n, row in enumerate(grid)
        ]
        yield from text_lines(Table(columns, block), layout)


def _blocks(
    comparison: c.ComparisonReport, grid: Sequence[Sequence[Cell]], layout: Layout
) -> Iterator[tuple[bool, bool, list[int]]]:
    """Yield the blocks of the table: whether its titles are labels, whether it has changes, and its sides.

    If room is short, labels and changes are dropped first; then the sides are split into several blocks.
    """
    sides = list(range(len(comparison.sides)))
    own = {column.title for column in LEADS}
    labels = all(len(side.label) <= MOST_LABEL and side.label not in own for side in comparison.sides)
    if not layout.width:
        yield labels, True, sides
        return
    names = min(max(len(row[1].text) + 2 + len(row[2].text) for row in grid), LEAST) + 2
    room = layout.width - names - max(len(row[0].text) for row in grid)

    def widths(with_labels: bool, ratios: bool) -> list[int]:
        titles = _titles(comparison, with_labels)
        return [2 + max(map(len, (titles[side], *texts))) for side, texts in enumerate(_texts(grid, ratios))]

    options = [(True, True), (False, True), (True, False), (False, False)]
    for option in options if labels else options[1::2]:
        if sum(widths(*option)) <= room:
            yield *option, sides
            return
    needed = widths(False, True)
    block: list[int] = []
    for side in sides:
        if block and sum(needed[n] for n in (*block, side)) > room:
            yield False, True, block
            block = []
        block.append(side)
    yield False, True, block


def _texts(grid: Sequence[Sequence[Cell]], ratios: bool) -> list[list[str]]:
    """Return the texts of each side's column, with cycles, marks and changes below each other."""
    columns = []
    for column in list(zip(*grid, strict=True))[len(LEADS) :]:
        cycles = max(len(cell.text) for cell in column)
        change = max(len(cell.note) for cell in column) if ratios else 0
        doubt = max(len(cell.doubt) for cell in column)
        texts = []
        for cell in column:
            text = f"{cell.text:>{cycles}}{'*' if 'best' in cell.kind else ' '}"
            text += f" {cell.note:>{change}}" if change else ""
            text = text if ratios or cell.text else cell.note  # a mean has no cycles
            texts.append(f"{text} {cell.doubt:<{doubt}}" if doubt else text)
        columns.append(texts)
    return columns
