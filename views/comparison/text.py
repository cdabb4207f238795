"""A comparison as text: the sides, sums, a table of the changes, and their causes."""

from __future__ import annotations

from collections.abc import Iterator

from incc.comparison import types as c
from incc.report import wording
from incc.support.text import counted
from incc.views.comparison import cells, changes
from incc.views.comparison.cells import ComparisonParts, NumberedRow
from incc.views.layout import BOLD, RED, Layout, harmless
from incc.views.table import STYLES, text_lines

FEW = 10
"""Rows with figures and causes below the table, and kernels in a list, unless everything is shown."""

MOST = 100
"""Rows of the table, unless the user gives a number or everything is shown."""

MOST_SUMS = 5
"""Sides that have a line of sums above the table; the table of more sides has sums itself."""

LABEL = 36
"""Width of the labels in the list of sides; longer ones stick out."""


def render(
    comparison: c.ComparisonReport, width: int = 80, colour: bool = False, show: ComparisonParts | None = None
) -> str:
    """Return the comparison as text of lines no wider than `width` columns (0: as wide as they get)."""
    layout = Layout(width, colour)
    layout.name_paths(cells.files(comparison))
    lines = (line.replace("\xa0", " ").rstrip() for line in _lines(comparison, layout, show or ComparisonParts()))
    return "".join(f"{harmless(line, colour)}\n" for line in lines)


def _lines(comparison: c.ComparisonReport, layout: Layout, show: ComparisonParts) -> Iterator[str]:
    yield from _heading(comparison, layout)
    yield ""
    rows = cells.matched(comparison, show)
    sums = list(_sums(comparison, layout, bool(rows)))
    yield from sums
    shown = rows[: show.top or (None if show.everything else MOST)]
    if shown:
        if sums:
            yield ""
        yield from _table(comparison, shown, layout)
    if len(shown) < len(rows):
        yield f"and {counted(len(rows) - len(shown), 'more row')}: --top={len(rows)} shows them"
    # The table of more than two sides has what matters.
    if len(comparison.sides) == 2 or show.detail:
        yield from _details(comparison, shown, layout, show)
    for side in range(len(comparison.sides)):
        yield from _only(comparison, side, layout, show)
    if show.side_by_side is not None:
        yield from _assembly(comparison, shown, layout, show)
    yield from _gate(comparison, layout)


def _heading(comparison: c.ComparisonReport, layout: Layout) -> Iterator[str]:
    """Yield the sides, the model and the notes."""
    model = cells.common_model(comparison)
    width = min(max(len(side.label) for side in comparison.sides), LABEL)
    for number, side in enumerate(comparison.sides):
        mark = cells.letter(number)
        head = f"{mark}  " if side.label == mark else f"{mark}  {side.label:{width}}  "
        yield from layout.wrap(
            cells.side_text(comparison, number, layout),
            head,
            " " * min(len(head), 8),
            style=RED if side.problem else "",
        )
    if model:
        yield from layout.wrap(f"Cycles of {model.title or model.name}, model {model.name} {model.version}")
    for note in cells.notes(comparison):
        yield from layout.wrap(note, "Note: ", "      ")


def _sums(comparison: c.ComparisonReport, layout: Layout, table: bool) -> Iterator[str]:
    """Yield how many kernels had which outcome, unless the table of many sides does."""
    if comparison.where:
        yield from layout.wrap(f"Kernels for which {comparison.where.strip()}:")
    if not cells.comparable(comparison):
        yield "There is no second side to compare with."
        return
    if table and len(comparison.sides) > MOST_SUMS:
        return
    for side, totals in enumerate(comparison.totals):
        if totals is not None and not comparison.sides[side].problem:
            yield from layout.wrap(cells.lead(comparison, side) + cells.sums(comparison, side), "", "  ", style=BOLD)


def _table(comparison: c.ComparisonReport, rows: list[NumberedRow], layout: Layout) -> Iterator[str]:
    if len(comparison.sides) > 2:
        from incc.views.comparison import matrix

        yield from matrix.lines(comparison, rows, layout)
        return
    sentence, superfluous = changes.basis(rows)
    if sentence:
        yield from layout.wrap(sentence)
    yield from text_lines(changes.table(comparison, rows, layout), layout, superfluous)


def _details(
    comparison: c.ComparisonReport, rows: list[NumberedRow], layout: Layout, show: ComparisonParts
) -> Iterator[str]:
    """Yield the first rows in full, or all of them."""
    chosen = rows if show.detail else rows[:FEW]
    for numbered in chosen:
        yield ""
        yield from _detail(comparison, numbered, layout)
    if len(chosen) < len(rows):
        yield ""
        yield f"Figures and causes of {counted(len(rows) - len(chosen), 'more row')}: --detail"


def _detail(comparison: c.ComparisonReport, numbered: NumberedRow, layout: Layout) -> Iterator[str]:
    """Yield a row in full: its places, its outcome, causes, and figures that differ."""
    row = numbered.row
    head = f"[{numbered.number}] "
    yield from layout.wrap(cells.title(row, layout), head, " " * len(head), style=BOLD)
    a = cells.base(row)
    yield from layout.wrap(f"{cells.letter(row.base)}: {changes.where(a, row, layout)}", "    ", "      ")
    for side, b, change in cells.pairs(row):
        place = f"{cells.letter(side)}: {changes.where(b, row, layout)}; {changes.matched_by(change)}"
        yield from layout.wrap(place, "    ", "      ")
    for side, b, change in cells.pairs(row):
        text = changes.sentence(cells.lead(comparison, side) + change.text)
        yield from layout.wrap(text, "    ", "      ", style=STYLES.get(change.outcome, ""))
        for cause in changes.causes(change):
            yield from layout.wrap(cause, "    - ", "      ")
        for heading, texts in cells.figure_lists(a, b, change):
            listed = ", ".join(text.replace(" ", "\xa0") for text in texts)
            yield from layout.wrap(listed, f"    {heading}: ", "      ")
        for heading, one, other in (("Bound by", a.limit, b.limit), ("Vectors", a.vector, b.vector)):
            if one != other:
                yield from layout.wrap(cells.arrow(one, other), f"    {heading}: ", "      ")
        gone, new = ([hint for hint in x.hints if hint not in y.hints] for x, y in ((a, b), (b, a)))
        texts = [f"{', '.join(hints)} {words}" for hints, words in ((gone, "gone"), (new, "new")) if hints]
        if texts:
            yield from layout.wrap("; ".join(texts), "    Hints: ", "      ")


def _only(comparison: c.ComparisonReport, side: int, layout: Layout, show: ComparisonParts) -> Iterator[str]:
    """Yield the kernels that only one side has."""
    rows, listed, more = cells.only_in(comparison, side, show, FEW)
    if not rows or all(other.problem for n, other in enumerate(comparison.sides) if n != side):
        return
    yield ""
    yield layout.paint(f"Only in {cells.called(comparison, side)}: {counted(len(rows), 'kernel')}", BOLD)
    for numbered in listed:
        member = cells.base(numbered.row)
        per_element = member.figures.cycles_per_element
        cycles = cells.taken(member, member.figures.cycles if per_element is None else per_element)
        basis = "" if per_element is None else " per element"
        role = f", {member.role}" if cells.role(numbered.row) else ""
        text = f"{cells.title(numbered.row, layout)}{role}: {cycles} cycles{basis}"
        yield from layout.wrap(text + (f", {member.limit}" if member.limit else ""), "  ", "    ")
    if more:
        yield from layout.wrap(f"{'and ' if listed else ''}{wording.listed(more)}: listed with --all", "  ", "    ")


def _assembly(
    comparison: c.ComparisonReport, shown: list[NumberedRow], layout: Layout, show: ComparisonParts
) -> Iterator[str]:
    from incc.views.comparison import side_by_side

    choices = show.side_by_side or ()
    rows = shown
    if choices:
        rows = [n for n in cells.numbered_rows(comparison) if any(cells.fits(n.row, choice) for choice in choices)]
        rows = cells.ordered(rows, show.sort)
        for choice in choices:
            if not any(cells.fits(numbered.row, choice) for numbered in rows):
                yield ""
                yield from layout.wrap(f"Side by side: no kernel matches {choice}.")
    for numbered in rows:
        for side, _, _ in cells.pairs(numbered.row):
            yield ""
            yield from side_by_side.lines(comparison, numbered, side, layout)
        if choices and not any(numbered.row.changes):
            yield ""
            only = next(n for n, member in enumerate(numbered.row.members) if member)
            text = f"{cells.title(numbered.row, layout)}: only in {cells.called(comparison, only)}"
            yield from layout.wrap(f"[{numbered.number}] {text}", "", "    ")


def _gate(comparison: c.ComparisonReport, layout: Layout) -> Iterator[str]:
    """Yield the kernels that meet the condition of --fail-if, at the end, where people look."""
    gate = comparison.gate
    if gate is None:
        return
    yield ""
    condition = gate.condition.strip()
    if not gate.offenders:
        yield from layout.wrap(f"No kernel for which {condition}.")
        return
    yield from layout.wrap(f"{counted(len(gate.offenders), 'kernel')} for which {condition}:", "", "  ", style=BOLD)
    for offender in gate.offenders:
        where = f" ({cells.called(comparison, offender.side)})" if len(comparison.sides) > 2 else ""
        yield from layout.wrap(f"{offender.text}{where}", f"  [{offender.row + 1}] ", "      ", style=RED)
