"""The data from which the page's scripts draw a row: `pair.js` reads it. Rows of its tables are lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incc.comparison import types as c
from incc.report import types as t
from incc.views.comparison import cells, changes
from incc.views.comparison.cells import NumberedRow
from incc.views.html.data import BOUNDS, instruction_row
from incc.views.layout import Layout
from incc.views.text import compact, dependencies


def row_data(numbered: NumberedRow, fails: Sequence[str], layout: Layout) -> dict[str, Any]:
    """Return the data of a row. `fails`: why it fails the condition of --fail-if."""
    row = numbered.row
    data: dict[str, Any] = {
        "title": cells.title(row, layout),
        "base": row.base,
        "members": [member and _member(member, row, layout) for member in row.members],
        "changes": [None for _ in row.members],
        "fails": fails,
    }
    for side, b, change in cells.pairs(row):
        data["changes"][side] = _change(cells.base(row), b, change)
    return data


def _member(member: c.RowMember, row: c.ComparisonRow, layout: Layout) -> dict[str, Any]:
    figures = member.figures
    least, most, cycles = figures.cycles_least, figures.cycles_most, figures.cycles
    text = f"{'at least ' if figures.at_least else ''}{cells.amount(cycles)} cycles per iteration"
    if (least, most) != (cycles, cycles):
        text += f" ({cells.amount(least)} to {cells.amount(most) if most is not None else 'unlimited'})"
    if figures.elements and figures.cycles_per_element is not None:
        text += f", {cells.amount(figures.cycles_per_element)} per element"
    data: dict[str, Any] = {
        "where": changes.where(member, row, layout),
        "cycles": text,
        "verdict": member.verdict,
        "limit": member.limit,
        "vector": member.vector,
        "hints": [hint.replace("-", " ") for hint in member.hints],
    }
    if member.instructions is not None and member.resources is not None:
        data["assembly"] = _assembly(member, member.instructions, member.resources, layout)
    return data


def _assembly(
    member: c.RowMember,
    instructions: Sequence[t.InstructionReport],
    resources: Sequence[t.ResourceReport],
    layout: Layout,
) -> dict[str, Any]:
    numbered, lines = dependencies.line_numbers(instructions, compiled=True)
    groups = compact.groups(instructions, resources)
    places: dict[str, int] = {}
    figures = member.figures
    return {
        "numbered": numbered,
        # [names, titles, cycles, whether they are among the busiest] of ports with equal load
        "ports": [
            [
                ",".join(resources[p].name for p in group),
                ", ".join(resources[p].title for p in group),
                resources[group[0]].load,
                int(resources[group[0]].busiest),
            ]
            for group in groups
        ],
        # [line or number, text, ports, remarks, latency, cycles on the critical path, on the longest chain,
        #  place or -1, cycles on each of the ports above]
        "instructions": [
            [
                *instruction_row(line, i),
                places.setdefault(layout.place(i.source), len(places)) if i.source else -1,
                *(i.pressure[group[0]] for group in groups),
            ]
            for line, i in zip(lines, instructions, strict=True)
        ],
        "places": list(places),
        "path": figures.critical_path,
        "chain": figures.loop_carried,
        "cycles": figures.cycles,
    }


def _number(value: float | None) -> list[float | str | None]:
    """Return a number for a bar, and as text."""
    return [None if value is None else round(value, 4), cells.amount(value)]


def _change(a: c.RowMember, b: c.RowMember, change: c.KernelChange) -> dict[str, Any]:
    scales = cells.scales(change)
    scale_a, scale_b = scales or (1.0, 1.0)
    data: dict[str, Any] = {
        "outcome": change.outcome,
        "text": changes.sentence(change.text),
        "matched": changes.matched_by(change),
        "doubt": cells.doubt(change),
        "of": cells.MEANINGS.get(change.basis, "") if scales else "",
        "alone": cells.ALONE if a.parts or b.parts else "",
        # [number, text] of a and b
        "cycles": [_number(change.cycles_a), _number(change.cycles_b)],
    }
    if change.outcome in cells.UNCHANGED:
        return data
    return {
        **data,
        # [text, cycles, instructions of a, of b, cycles as text without their sign]
        "causes": [
            [cause.text, cause.cycles, cause.a, cause.b, cells.amount(abs(cause.cycles or 0.0))]
            for cause in change.causes
        ],
        # [name, number and text of a, of b, whether it limits a, b]
        "bounds": [
            [
                title,
                _number(getattr(a.figures, which) * scale_a),
                _number(getattr(b.figures, which) * scale_b),
                int(which in a.limited_by),
                int(which in b.limited_by),
            ]
            for which, title in BOUNDS.items()
            if which != "divider" or a.figures.divider or b.figures.divider
        ],
        # [name, a, b, whether they are on the basis of the cycles]
        "figures": [[f.name, f.a, f.b, int(f.on_basis)] for f in cells.differing(a, b, change)],
        # [instruction of a or null, of b or null, kind of change]
        "rows": None if change.alignment is None else [[one.a, one.b, one.change] for one in change.alignment],
    }
