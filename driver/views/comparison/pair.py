"""What the page's scripts need of a row: `pair.js` reads it. Rows of tables are lists; here stands what is in each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.driver.views.comparison import cells, changes
from incc.driver.views.text import compact

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison import types as c
    from incc.driver.report import types as t
    from incc.driver.views.comparison.cells import Numbered
    from incc.driver.views.layout import Layout

_BOUNDS = (
    ("port", "Ports"),
    ("divider", "Divider"),
    ("front_end", "Front end"),
    ("retire", "Retirement"),
    ("loop_carried", "Loop-carried dependencies"),
)


def row_data(found: Numbered, fails: Sequence[str], layout: Layout) -> dict[str, Any]:
    """All that is shown of a row when it is opened. `fails`: what is wrong with it, of --fail-if."""
    row = found.row
    shown: dict[str, Any] = {
        "title": cells.title(row, layout),
        "base": row["base"],
        "members": [m and _member(side, m, row, layout) for side, m in enumerate(row["members"])],
        "changes": [None for _ in row["members"]],
    }
    for side, b, change in cells.pairs(row):
        shown["changes"][side] = _change(cells.base(row), b, change)
    if fails:
        shown["fails"] = fails
    return shown


def _member(side: int, member: c.Member, row: c.Row, layout: Layout) -> dict[str, Any]:
    figures = member["figures"]
    least, most, cycles = figures["cycles_least"], figures["cycles_most"], figures["cycles"]
    text = f"{'at least ' if figures['at_least'] else ''}{cells.amount(cycles)} cycles an iteration"
    if (least, most) != (cycles, cycles):
        text += f" ({cells.amount(least)} to {cells.amount(most) if most is not None else 'no end'})"
    if figures["elements"] and figures["cycles_per_element"] is not None:
        text += f", {cells.amount(figures['cycles_per_element'])} an element"
    shown: dict[str, Any] = {
        "where": changes.where(side, member, row, layout).partition(": ")[2],
        "cycles": text,
        "verdict": member["verdict"],
        "limit": member["limit"],
        "vector": member["vector"],
        "hints": [hint.replace("-", " ") for hint in member["hints"]],
    }
    if member["instructions"] is not None and member["resources"] is not None:
        shown["assembly"] = _assembly(member, member["instructions"], member["resources"], layout)
    return shown


def _assembly(
    member: c.Member, instructions: Sequence[t.Instruction], resources: Sequence[t.Resource], layout: Layout
) -> dict[str, Any]:
    by_line = any(i["line"] for i in instructions)
    groups = compact.groups(instructions, resources)
    places: dict[str, int] = {}
    figures = member["figures"]
    return {
        "numbered": "Line" if by_line else "No.",
        # [names, what they are, cycles, whether they are among the busiest]; what is as busy as each other is one
        "ports": [
            [
                ",".join(resources[p]["name"] for p in group),
                ", ".join(resources[p]["title"] for p in group),
                resources[group[0]]["load"],
                int(resources[group[0]]["busiest"]),
            ]
            for group in groups
        ],
        # [line or number, text, ports, remarks, latency, cycles on the critical path, on the longest chain,
        #  place or -1, cycles on each of the ports above]
        "instructions": [
            [
                i["line"] if by_line else i["index"],
                i["text"],
                i["ports"],
                i["remarks"] or ("X" if i["unknown"] else ""),
                i["latency"],
                i["critical_path_cycles"],
                i["chain_cycles"],
                places.setdefault(layout.place(i["source"]), len(places)) if i["source"] else -1,
                *(i["pressure"][group[0]] for group in groups),
            ]
            for i in instructions
        ],
        "places": list(places),
        "path": figures["critical_path"],
        "chain": figures["loop_carried"],
        "cycles": figures["cycles"],
    }


def _number(value: float | None) -> list[float | str | None]:
    """A number for a bar, and as it is written everywhere."""
    return [None if value is None else round(value, 4), cells.amount(value)]


def _change(a: c.Member, b: c.Member, change: c.Change) -> dict[str, Any]:
    same = change["outcome"] in cells.UNCHANGED
    scales = cells.scales(change)
    one, other = scales or (1.0, 1.0)
    shown: dict[str, Any] = {
        "outcome": change["outcome"],
        "text": changes.sentence(change["text"]),
        "matched": changes.matched_by(change),
        "doubt": cells.doubt(change),
        "of": cells.MEANINGS.get(change["basis"], "") if scales else "",
        # What bounds and figures are of: of a loop that was split those of one part.
        "alone": cells.ALONE if a["parts"] or b["parts"] else "",
        # [number, text] of a and b
        "cycles": [_number(change["cycles_a"]), _number(change["cycles_b"])],
    }
    if same:
        return shown
    return {
        **shown,
        # [text, cycles, instructions of a, of b, cycles as text without their sign]
        "causes": [
            [cause["text"], cause["cycles"], cause["a"], cause["b"], cells.amount(abs(cause["cycles"] or 0.0))]
            for cause in change["causes"]
        ],
        # [name, number and text of a, of b, whether it limits a, b]
        "bounds": [
            [
                title,
                _number(a["figures"][which] * one),  # type: ignore[literal-required]
                _number(b["figures"][which] * other),  # type: ignore[literal-required]
                int(which in a["limited_by"]),
                int(which in b["limited_by"]),
            ]
            for which, title in _BOUNDS
            if which != "divider" or a["figures"]["divider"] or b["figures"]["divider"]
        ],
        # [name, a, b, whether it is put to what cycles are of]
        "figures": [[f.name, f.a, f.b, int(f.on_basis)] for f in cells.differing(a, b, change)],
        # [instruction of a or null, of b or null, what became of it]
        "rows": None
        if change["alignment"] is None
        else [[one["a"], one["b"], one["change"]] for one in change["alignment"]],
    }
