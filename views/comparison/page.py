"""A comparison as one self-contained HTML page.

It has the sides, a table of kernels that sorts, searches and is filtered (a heat map if there are more than two
sides), and the causes, figures and assembly of each pair. Like the page of a report, it draws a pair when it is opened.
Rows beyond MOST, and unchanged rows, stay in a template until the user requests them, so that a comparison
of ten thousand kernels opens at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import groupby

from incc.comparison import types as c
from incc.views.comparison import cells, changes, matrix
from incc.views.comparison.cells import NumberedRow
from incc.views.comparison.pair import row_data
from incc.views.comparison.side_by_side import MARKS
from incc.views.html import templates
from incc.views.layout import Layout
from incc.views.table import Cell, Column, Table, TableRow, select

MOST = 1000
"""Rows in the table when the page opens."""

FEW = 10
"""Rows up to which the table shows unchanged kernels, too."""

MOST_BUILDS = 6
"""The number of builds that are described above the table. A button shows the others."""

OFFENDERS = 20
"""Offenders listed above the table, which marks all of them."""

_OUTCOMES = {
    **{kind: cells.OUTCOMES[kind] for kind in ("slower", "faster", "unknown", "equal", "moved", "same")},
    "only_a": "only in the first",
    "only_b": "only here",
}


def render(comparison: c.ComparisonReport) -> str:
    """Return the page of a comparison, with the instructions that the comparison has."""
    layout = Layout(0, False)
    layout.name_paths(cells.files(comparison))
    sides, gate, rows = comparison.sides, comparison.gate, cells.numbered_rows(comparison)
    offenders = gate.offenders if gate else []
    fails: dict[int, list[str]] = {}
    for offender in offenders:
        fails.setdefault(offender.row + 1, []).append(offender.text)
    labels = [side.label for side in sides]
    heading = " → ".join(labels) if len(labels) == 2 else f"{len(labels) - 1} builds compared with {labels[0]}"
    kinds = [_kinds(numbered, fails) for numbered in rows]
    if len(sides) > 2:
        whole = _heat_map(comparison, rows, fails, layout)
    else:
        whole = select(changes.table(comparison, rows, layout, fails, 2 * changes.MOST_LABEL), draw=True)
    table, shown = _divided(whole, rows, kinds)
    return templates.render(
        "comparison/page.html.j2",
        title=f"{heading} - incc",
        tool=comparison.tool,
        heading=heading,
        comparison=comparison,
        model=cells.common_model(comparison),
        comparable=cells.comparable(comparison),
        sums=changes.sentence(cells.sums(comparison, 1)) if len(sides) == 2 and comparison.totals[1] else "",
        sides=[_side(comparison, n, layout) for n in range(len(sides))],
        most_builds=MOST_BUILDS,
        notes=[note if note.endswith(".") else f"{note}." for note in cells.notes(comparison)],
        offenders=[(f"#p{o.row + 1}/{cells.letter(o.side)}", o.row + 1, o.text) for o in offenders[:OFFENDERS]],
        filters=_filters(kinds),
        table=table,
        most=shown,
        heads=_variants(sides),
        foot=matrix.sums(comparison, [n for n in rows if any(n.row.changes)]) if len(sides) > 2 else [],
        basis=matrix.basis([n for n in rows if any(n.row.changes)]),
        doubts=matrix.doubts(rows),
        heat=matrix.HEAT,
        meta={"sides": [(cells.letter(n), label) for n, label in enumerate(labels)], "marks": MARKS},
        data=[row_data(numbered, fails.get(numbered.number, []), layout) for numbered in rows],
    )


def _side(comparison: c.ComparisonReport, number: int, layout: Layout) -> dict[str, object]:
    """Return the page's description of a side: letter, label, text, mean change, and the outcomes of kernels."""
    side, totals = comparison.sides[number], comparison.totals[number]
    counts = [(kind, words, getattr(totals, kind)) for kind, words in _OUTCOMES.items()] if totals else []
    return {
        "letter": cells.letter(number),
        "label": side.label,
        "problem": side.problem,
        "text": cells.side_text(comparison, number, layout),
        "mean": "" if totals is None or totals.speedup is None else cells.relative(totals.speedup),
        "outcomes": None if totals is None else [(kind, words, number) for kind, words, number in counts if number],
    }


def _kinds(numbered: NumberedRow, fails: Collection[int]) -> list[str]:
    """Return the filters that a row passes."""
    outcomes = {change.outcome for _, _, change in cells.pairs(numbered.row)}
    kinds: list[str] = [kind for kind in ("slower", "faster") if kind in outcomes]
    if not outcomes:
        kinds.append("unmatched")
    if outcomes - {*cells.UNCHANGED, "equal"}:
        kinds.append("changed")
    return [*kinds, "fails"] if numbered.number in fails else kinds


def _filters(kinds: Sequence[Sequence[str]]) -> list[tuple[str, str, int]]:
    """Return the kind, text and number of rows of each filter."""
    numbers = Counter(kind for passed in kinds for kind in passed)
    named = ("changed", "slower", "faster", "fails", "unmatched")
    filters = [(kind, kind.capitalize(), numbers[kind]) for kind in named if numbers[kind] or kind == "changed"]
    return [*filters, ("all", "All", len(kinds))]


def _divided(table: Table, rows: Sequence[NumberedRow], kinds: Sequence[Sequence[str]]) -> tuple[Table, int]:
    """Return the table with its rows in the order in which they are shown, and how many are shown at once."""
    made = [
        TableRow(row.cells, _search(numbered), passed)
        for row, numbered, passed in zip(table.rows, rows, kinds, strict=True)
    ]
    if len(made) <= FEW:
        return Table(table.columns, made), len(made)
    first = [row for row in made if not {"changed", "unmatched"}.isdisjoint(row.kinds)][:MOST]
    at_once = set(map(id, first))
    rest = [row for row in made if id(row) not in at_once]
    return Table(table.columns, [*first, *rest]), len(first)


def _search(numbered: NumberedRow) -> str:
    """Return the words that a search matches, besides those in the table."""
    row = numbered.row
    words: dict[str, None] = {}
    for member in row.members:
        if member:
            words.update(dict.fromkeys((member.unit, member.function, member.kernel_id, *member.hints)))
    for _, _, change in cells.pairs(row):
        words.update(dict.fromkeys(cause.text for cause in change.causes[1:]))
    words.pop(row.name, None)
    return " ".join(filter(None, words))


# --- more than two sides ----------------------------------------------------------------------------------------------


def _heat_map(
    comparison: c.ComparisonReport, rows: Sequence[NumberedRow], fails: Collection[int], layout: Layout
) -> Table:
    """Return the table of kernels and sides, with the function first, which stays in view."""
    sides = comparison.sides
    labels = not _variants(sides) and all(len(side.label) <= matrix.MOST_LABEL for side in sides)
    table = matrix.table(comparison, rows, layout, labels)
    failing = Column(title="Fails", meaning="Rows for which the condition of --fail-if holds")
    number, line, function, *of_sides = table.columns
    rows_of_table = []
    for numbered, row in zip(rows, table.rows, strict=True):
        mark = Cell(text="✗ fails" if numbered.number in fails else "", kind="fails")
        row_number, row_line, row_function, *cells_of_sides = row.cells
        rows_of_table.append(TableRow([row_function, row_number, row_line, mark, *cells_of_sides]))
    return select(Table([function, number, line, failing, *of_sides], rows_of_table))


def _variants(sides: Sequence[c.Side]) -> list[tuple[str, list[tuple[str, int]]]]:
    """Return rows above the titles for sides that differ in several ways: compiler, flags, core.

    Each row has a name, and texts with the number of neighbouring sides that have them in common.
    """
    variants = [side.variant for side in sides if side.variant is not None]
    if len(variants) < len(sides):
        return []
    named = {
        "Compiler": [variant.compiler for variant in variants],
        "Flags": [" ".join(variant.flags) for variant in variants],
        "Core": [variant.mcpu for variant in variants],
    }
    differing = {name: values for name, values in named.items() if len(set(values)) > 1}
    if len(differing) < 2:
        return []
    return [
        (name, [(value or "(none)", len(list(same))) for value, same in groupby(values)])
        for name, values in differing.items()
    ]
