"""A comparison as Markdown, for a pull request's comment: sums, a table of changes, causes and assembly to open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.comparison import types as c
from incc.report import wording
from incc.support.text import counted
from incc.views.comparison import cells, changes, matrix
from incc.views.comparison.cells import ComparisonParts, NumberedRow
from incc.views.layout import Layout
from incc.views.markdown import LIMIT, bullets, code, code_block, cut, details, prose
from incc.views.table import markdown_lines

MOST_ROWS = 20
"""Rows of the table, unless the user gives a number."""

MOST_OPENED = 10
"""Rows with causes and assembly to open."""

_MARKS = {"faster": "🟢", "slower": "🔴", "unknown": "⚪"}


def render(comparison: c.ComparisonReport, show: ComparisonParts | None = None, limit: int = LIMIT) -> str:
    """Return the comparison in at most `limit` characters, with notes on what has no room."""
    show = show or ComparisonParts()
    layout = Layout(0, False)
    layout.name_paths(cells.files(comparison))
    rows = cells.matched(comparison, show)
    parts = [*_heading(comparison, layout), *_table(comparison, rows, layout, show), *_gate(comparison)]
    tail = [*_only(comparison, layout, show), "\n".join(f"- {prose(note)}" for note in cells.notes(comparison))]
    text = _joined(parts, tail)
    room = limit - 200  # for the note
    opened = rows if show.detail else rows[:MOST_OPENED]
    for left, numbered in enumerate(opened):
        detail = _detail(comparison, numbered, layout, show)
        if len(text) + len(detail) + 2 > room:
            more = counted(len(opened) - left, "more kernel")
            text += f"\nFigures and causes of {more} exceed the size of a comment.\n"
            break
        parts.append(detail)
        text = _joined(parts, tail)
    return cut(text, limit)


def _joined(*parts: Sequence[str]) -> str:
    return "\n\n".join(part for some in parts for part in some if part) + "\n"


def _heading(comparison: c.ComparisonReport, layout: Layout) -> Iterator[str]:
    for side, totals in enumerate(comparison.totals):
        if totals is not None and not comparison.sides[side].problem:
            yield f"**{prose(cells.lead(comparison, side) + cells.sums(comparison, side))}**"
    if comparison.where:
        yield f"Kernels for which {code(comparison.where.strip())}."
    lines = []
    for number, one in enumerate(comparison.sides):
        label = "" if one.label == cells.letter(number) else f" {code(one.label)}"
        lines.append(f"- **{cells.letter(number)}**{label}: {prose(cells.side_text(comparison, number, layout))}")
    yield "\n".join(lines)
    if model := cells.common_model(comparison):
        title = prose(model.title or model.name)
        yield f"Cycles of {title}, model {code(model.name)} {prose(model.version)}."


def _table(
    comparison: c.ComparisonReport, rows: Sequence[NumberedRow], layout: Layout, show: ComparisonParts
) -> Iterator[str]:
    if not rows:
        return
    shown = rows[: show.top or MOST_ROWS]
    if len(comparison.sides) == 2:
        sentence, superfluous = changes.basis(shown)
        table = changes.table(comparison, shown, layout)
    else:
        sentence, superfluous = f"Cycles {matrix.basis(shown)}; bold: the fewest{matrix.doubts(shown)}.", []
        table = matrix.table(comparison, shown, layout, False)
    if sentence:
        yield sentence
    yield "\n".join(markdown_lines(table, _MARKS, superfluous))
    if len(shown) < len(rows):
        yield f"… and {counted(len(rows) - len(shown), 'more row')}."


def _gate(comparison: c.ComparisonReport) -> Iterator[str]:
    gate = comparison.gate
    if gate is None:
        return
    condition, offenders = code(gate.condition.strip()), gate.offenders
    if not offenders:
        yield f"✅ No kernel for which {condition}."
        return
    several = len(comparison.sides) > 2
    texts = [o.text + (f" ({cells.letter(o.side)})" if several else "") for o in offenders]
    yield f"❌ **{counted(len(offenders), 'kernel')}** for which {condition}:"
    yield "\n".join(bullets(texts, 2 * MOST_ROWS))


def _detail(comparison: c.ComparisonReport, numbered: NumberedRow, layout: Layout, show: ComparisonParts) -> str:
    """Return a row's causes, figures and assembly, as a part to open."""
    row, a = numbered.row, cells.base(numbered.row)
    heads = []
    parts = []
    for side, b, change in cells.pairs(row):
        lead = cells.lead(comparison, side)
        heads.append(f"{lead}{changes.outcome(change)}")
        parts.append(prose(changes.sentence(lead + change.text)))
        items = [f"- {prose(cause)}" for cause in changes.causes(change)]
        items += [f"- {heading}: {', '.join(texts)}" for heading, texts in cells.figure_lists(a, b, change)]
        parts.append("\n".join(items))
        choices = show.side_by_side
        if choices is not None and (not choices or any(cells.fits(row, choice) for choice in choices)):
            parts.append(_assembly(a, b, change))
    body = "\n\n".join(filter(None, parts))
    return details(cells.name(row), f"{cells.place(row, layout)}: {', '.join(heads)}", body)


def _assembly(a: c.RowMember, b: c.RowMember, change: c.KernelChange) -> str:
    """Return both kernels' instructions as a diff."""
    if a.instructions is None or b.instructions is None or change.alignment is None:
        return ""
    lines: list[str] = []
    gone: list[str] = []
    new: list[str] = []
    for aligned in change.alignment:
        one = None if aligned.a is None else a.instructions[aligned.a].text
        other = None if aligned.b is None else b.instructions[aligned.b].text
        if aligned.change == "same" and one is not None:
            lines += [*gone, *new, f"  {one}"]
            gone, new = [], []
            continue
        gone += [f"- {one}"] if one is not None else []
        new += [f"+ {other}"] if other is not None else []
    return code_block([*lines, *gone, *new], "diff")


def _only(comparison: c.ComparisonReport, layout: Layout, show: ComparisonParts) -> Iterator[str]:
    for side in range(len(comparison.sides)):
        rows, listed, more = cells.only_in(comparison, side, show, MOST_ROWS)
        if rows:
            loops = [f"{code(cells.name(n.row))} {prose(cells.place(n.row, layout))}" for n in listed]
            yield f"Only in {cells.letter(side)}: {wording.listed([*loops, *more])}."
