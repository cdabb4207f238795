"""The changes between two sides: a table with a row for each kernel, and the sentences on a row."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

from incc.comparison import types as c
from incc.report import wording
from incc.report.source.places import assembly_is_kept
from incc.views.comparison import cells
from incc.views.comparison.cells import NumberedRow
from incc.views.layout import Layout
from incc.views.table import Cell, Column, Table, TableRow, number_column, text_column

SHORT = {"element": "elem.", "work": "work", "iteration": "iter.", "": ""}
"""Bases of cycles in the table."""

MOST_LABEL = 8
"""Characters of a label that heads a column; longer ones are replaced by letters."""

MATCHED = {
    "content": "the same code",
    "identity": "the same loop of the same function",
    "function": "another loop of the same function",
    "similarity": "a loop of another function",
}


def table(
    comparison: c.ComparisonReport,
    rows: Sequence[NumberedRow],
    layout: Layout,
    fails: Collection[int] = (),
    most_label: int = MOST_LABEL,
) -> Table:
    """Return the table of these rows. `fails`: numbers of the rows to mark as failing the condition of --fail-if."""
    a, b = (side.label for side in comparison.sides)
    columns = _columns(a, b)
    titles = {column.title for column in columns}
    if max(len(a), len(b)) > most_label or len(titles) < len(columns):
        columns = _columns("A", "B")
    return Table(columns, [TableRow(_cells(numbered, numbered.number in fails, layout)) for numbered in rows])


def _columns(a: str, b: str) -> tuple[Column, ...]:
    return (
        number_column("#", "Number of the row, the same in all views"),
        text_column(
            "Line", "Place of the loop in the last build that has it", 14, 12, priority=6, keep_end=True, code=True
        ),
        text_column(
            "Function", "Function that the loop is written in, and its role", 16, 10, ample=30, priority=3, code=True
        ),
        number_column(a, "Cycles of the first build; per iteration, in parentheses, if not comparable"),
        number_column(b, "Cycles of the second build"),
        number_column("Change", "Second build relative to the first"),
        Column(title="±", draw="signed_bar", spare=True, meaning="Change: faster to the left, slower to the right"),
        Column(
            title="Of",
            priority=5,
            optional=True,
            spare=True,
            meaning="Basis of the cycles: per element, for equal work or per iteration",
        ),
        text_column("Bound by", "Resource that limits the loop", 24, 16, ample=36, priority=4, optional=True),
        text_column("Vectors", "Width of the vectors", 20, 16, priority=1, optional=True, spare=True),
        text_column(
            "Match",
            "Confidence that both are the same loop, unless high",
            6,
            6,
            priority=2,
            optional=True,
            spare=True,
        ),
        Column(title="Fails", meaning="Rows for which the condition of --fail-if holds"),
        text_column("Why", "Main cause of the change", 40, 24, priority=5),
    )


def _cells(numbered: NumberedRow, fails: bool, layout: Layout) -> list[Cell]:
    row, number = numbered.row, numbered.number
    own = cells.base(row)
    doubt = why = ""
    limit, vector = own.limit, own.vector
    if any(row.changes):
        ((_, other, change),) = cells.pairs(row)
        same = change.outcome in cells.UNCHANGED
        a, b = cells.both(row, other, change)
        ratio = change.ratio
        both = [Cell(text=a, key=change.cycles_a), Cell(text=b, key=change.cycles_b)]
        became = Cell(text=outcome(change), key=1.0 if same else ratio, kind=change.outcome)
        # Half and twice the cycles fill the bar.
        bar = Cell(key=0.0 if same or not ratio or abs(ratio - 1) < 0.005 else max(-1.0, min(math.log2(ratio), 1.0)))
        basis = SHORT[change.basis]
        limit, vector = cells.arrow(limit, other.limit), cells.arrow(vector, other.vector)
        doubt, why = cells.doubt(change), change.causes[0].text if change.causes else ""
    else:
        of_element = own.figures.cycles_per_element
        cycles = own.figures.cycles if of_element is None else of_element
        both = [Cell(text="-", key=None), Cell(text="-", key=None)]
        both[row.base] = Cell(text=cells.taken(own, cycles), key=cycles)
        became, bar = Cell(text=f"only in {cells.letter(row.base)}", key=None, kind="only"), Cell(key=0.0)
        basis = SHORT["iteration" if of_element is None else "element"]
    return [
        Cell(text=str(number), key=number),
        Cell(text=cells.place(row, layout)),
        Cell(text=cells.short(row), href=f"#p{number}"),
        *both,
        became,
        bar,
        Cell(text=basis),
        Cell(text=limit),
        Cell(text=vector),
        Cell(text=doubt),
        Cell(text="✗ fails" if fails else "", kind="fails"),
        Cell(text=why),
    ]


def basis(rows: Sequence[NumberedRow]) -> tuple[str, list[str]]:
    """Return a sentence on the basis of these rows' cycles, and the columns that it makes superfluous."""
    used = {change.basis for numbered in rows for _, _, change in cells.pairs(numbered.row)}
    bases = [basis for basis in cells.MEANINGS if basis in used]
    if not bases:
        return "", []
    if len(bases) == 1:
        return f"Cycles {cells.MEANINGS[bases[0]]}:", ["Of"]
    return f"Cycles {', or '.join(f'{cells.MEANINGS[basis]} ({SHORT[basis]})' for basis in bases)}:", []


def outcome(change: c.KernelChange) -> str:
    """Return the outcome of a change in a few characters."""
    if change.outcome in cells.UNCHANGED:
        return change.outcome
    return "?" if change.outcome == "unknown" else cells.relative(change.ratio)


def causes(change: c.KernelChange) -> list[str]:
    """Return the causes that are not in the sentence on the change."""
    return [cause.text for cause in change.causes if cause.text not in change.text]


def sentence(text: str) -> str:
    """Return a text as a sentence."""
    return text and text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!", ":")) else ".")


def where(member: c.RowMember, row: c.ComparisonRow, layout: Layout) -> str:
    """Return where a kernel is: in the source only if that differs from the row's place."""
    texts = []
    place = cells.member_place(member, layout)
    function = member.function_name
    same = place == cells.place(row, layout) and row.name in (function, f"{function} ({member.model})")
    if member.source and not same:
        texts.append(f"{place} in {function}" if function else place)
    file = layout.file(member.assembly_file)
    before = f"{file}:" if assembly_is_kept(member.unit, member.assembly_file) else "asm "
    texts.append(f"{before}{member.first_line}-{member.last_line}" if member.first_line else file)
    if member.role not in ("", "main"):
        texts.append(member.role)
    if member.parts:
        texts.append(f"and {wording.listed(member.parts)} for the rest of the work")
    return ", ".join(text for text in texts if text)


def matched_by(change: c.KernelChange) -> str:
    """Return the evidence that two kernels are one loop."""
    sure = f", {100 * change.confidence:.0f}\xa0% sure" if change.confidence < 0.995 else ""
    return MATCHED[change.matched_by] + sure
