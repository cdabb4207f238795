"""A comparison as text: what is compared, sums, a table of what changed, and why; for more than two sides a table of
kernels and sides. Each part is a file of its own in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.report import wording
from incc.driver.views.comparison import cells
from incc.driver.views.comparison.cells import Show
from incc.driver.views.layout import BOLD, RED, Layout, count, harmless

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.comparison import types as c
    from incc.driver.views.comparison.cells import Numbered

FEW = 10
"""Rows whose figures and causes are below the table, and kernels in a list, unless there is to be everything."""

MOST = 100
"""Rows of the table, unless it is said how many, or everything is shown."""

MOST_SUMS = 5
"""Sides whose sums have a line each above the table."""

LABEL = 36
"""Columns of the labels in the list of sides; what is longer sticks out."""

_ALL = Show()


def render(comparison: c.Comparison, width: int = 80, colour: bool = False, show: Show = _ALL) -> str:
    """The comparison as text of lines no wider than `width` columns (0: as wide as they get)."""
    layout = Layout(width, colour)
    layout.name_paths(cells.files(comparison))
    lines = (line.replace("\xa0", " ").rstrip() for line in _lines(comparison, layout, show))
    return "".join(f"{harmless(line, colour)}\n" for line in lines)


def _lines(comparison: c.Comparison, layout: Layout, show: Show) -> Iterator[str]:
    yield from _heading(comparison, layout)
    yield ""
    rows = cells.matched(comparison, show)
    sums_of_sides = list(_sums(comparison, layout, bool(rows)))
    yield from sums_of_sides
    shown = rows[: show.top or (None if show.everything else MOST)]
    if shown:
        if sums_of_sides:
            yield ""
        yield from _table(comparison, shown, layout)
    if len(shown) < len(rows):
        yield f"and {count(len(rows) - len(shown), 'more row')}: --top={len(rows)} shows them"
    yield from _details(comparison, shown, layout, show)
    for side in range(len(comparison["sides"])):
        yield from _only(comparison, side, layout, show)
    if show.side_by_side is not None:
        yield from _assembly(comparison, shown, layout, show)
    yield from _gate(comparison, layout)


def _heading(comparison: c.Comparison, layout: Layout) -> Iterator[str]:
    """The sides, the model, and what a reader must know."""
    model = cells.common_model(comparison)
    labels = [side["label"] for side in comparison["sides"]]
    width = max(len(label) for label in labels)
    for number, side in enumerate(comparison["sides"]):
        mark = cells.letter(number)
        head = f"{mark}  " if side["label"] == mark else f"{mark}  {side['label']:{min(width, LABEL)}}  "
        text = cells.side_text(side, model["name"] if model else "", layout)
        for line in layout.wrap(text, head, " " * min(len(head), 8)):
            yield layout.paint(line, RED if side["problem"] else "")
    if model:
        yield from layout.wrap(f"Cycles of {model['title'] or model['name']}, model {model['name']} {model['version']}")
    for note in cells.notes(comparison):
        yield from layout.wrap(note, "Note: ", "      ")


def _sums(comparison: c.Comparison, layout: Layout, table: bool) -> Iterator[str]:
    """What became of how many kernels; of many sides the table says it."""
    if comparison["where"]:
        yield from layout.wrap(f"Kernels for which {comparison['where'].strip()}:")
    if sum(not side["problem"] for side in comparison["sides"]) < 2:
        yield "There is nothing to compare with."
        return
    if table and len(comparison["sides"]) > MOST_SUMS:
        return
    for side, totals in enumerate(comparison["totals"]):
        if totals is not None and not comparison["sides"][side]["problem"]:
            lead = f"{cells.letter(side)}: " if len(comparison["sides"]) > 2 else ""
            for line in layout.wrap(lead + sums(comparison, side), "", "  "):
                yield layout.paint(line, BOLD)


def sums(comparison: c.Comparison, side: int) -> str:
    """What became of the first side's kernels in another one, in a sentence."""
    totals = comparison["totals"][side]
    assert totals is not None
    numbers = {outcome: totals[outcome] for outcome in cells.OUTCOMES}  # type: ignore[literal-required]
    both = sum(numbers.values())
    a, b = (cells.letter(n) if len(comparison["sides"]) > 2 else cells.called(comparison, n) for n in (0, side))
    if not both:
        text = "no kernel of one is in the other"
    elif both == numbers["same"]:
        text = f"{count(both, 'kernel')}, nothing changed"
    else:
        outcomes = dict(cells.OUTCOMES)
        models = [[model["name"] for model in comparison["sides"][n]["models"]] for n in (0, side)]
        if models[0] != models[1]:  # the code may be the same then
            outcomes["equal"] = "as fast"
        parts = [f"{number} {words}" for (o, words) in outcomes.items() if (number := numbers[o])]
        text = f"{count(both, 'kernel')}: {', '.join(parts)}"
        if totals["speedup"] is not None:
            change = cells.relative(totals["speedup"])
            text += f"; cycles {'the same' if change[0] == '0' else change} in the geometric mean"
    alone = [f"{n} only in {where}" for n, where in ((totals["only_a"], a), (totals["only_b"], b)) if n]
    return "; ".join((text, *alone)) + "."


def _table(comparison: c.Comparison, rows: list[Numbered], layout: Layout) -> Iterator[str]:
    if len(comparison["sides"]) > 2:
        from incc.driver.views.comparison import matrix

        return matrix.lines(comparison, rows, layout)
    from incc.driver.views.comparison import changes

    return changes.lines(comparison, rows, layout)


def _details(comparison: c.Comparison, rows: list[Numbered], layout: Layout, show: Show) -> Iterator[str]:
    """Of two sides the first rows in full, of more only what is asked for: the table has what matters."""
    if len(comparison["sides"]) > 2 and not show.detail:
        return
    from incc.driver.views.comparison import changes

    chosen = rows if show.detail else rows[:FEW]
    for found in chosen:
        yield ""
        yield from changes.detail(comparison, found, layout)
    if len(chosen) < len(rows):
        yield ""
        yield f"Figures and causes of {count(len(rows) - len(chosen), 'more row')}: --detail"


def _only(comparison: c.Comparison, side: int, layout: Layout, show: Show) -> Iterator[str]:
    """The kernels that only one side has."""
    rows = cells.unmatched(comparison, side, show)
    others = [one for n, one in enumerate(comparison["sides"]) if n != side]
    if not rows or all(one["problem"] for one in others):
        return
    yield ""
    yield layout.paint(f"Only in {cells.called(comparison, side)}: {count(len(rows), 'kernel')}", BOLD)
    aside = {} if show.everything else cells.aside(rows)
    rows = rows if show.everything else [found for found in rows if cells.base(found.row)["role"] in ("", "main")]
    shown = rows if show.everything else rows[:FEW]
    for found in shown:
        member = cells.base(found.row)
        figures = member["figures"]
        each = figures["cycles_per_element"]
        cycles = (
            f"{cells.taken(member, each)} cycles an element"
            if each is not None
            else f"{cells.taken(member, figures['cycles'])} cycles"
        )
        role = f", {member['role']}" if member["role"] not in ("", "main") else ""
        text = f"{cells.title(found.row, layout)}{role}: {cycles}"
        yield from layout.wrap(text + (f", {member['limit']}" if member["limit"] else ""), "  ", "    ")
    more = [f"{len(rows) - len(shown)} more"] if len(shown) < len(rows) else []
    more += [count(number, role) for role, number in aside.items()]
    if more:
        yield from layout.wrap(f"{'and ' if shown else ''}{wording.listed(more)}: --all lists them", "  ", "    ")


def _assembly(comparison: c.Comparison, shown: list[Numbered], layout: Layout, show: Show) -> Iterator[str]:
    from incc.driver.views.comparison import side_by_side

    choices = show.side_by_side or ()
    rows = shown
    if choices:
        rows = [
            cells.Numbered(number, row)
            for number, row in enumerate(comparison["rows"], 1)
            if any(cells.fits(row, choice) for choice in choices)
        ]
        rows = cells.ordered(rows, show.sort)
        for choice in choices:
            if not any(cells.fits(found.row, choice) for found in rows):
                yield ""
                yield from layout.wrap(f"Side by side: no kernel {choice}.")
    for found in rows:
        for side, _, _ in cells.pairs(found.row):
            yield ""
            yield from side_by_side.lines(comparison, found, side, layout)
        if choices and not any(found.row["changes"]):
            yield ""
            only = next(n for n, member in enumerate(found.row["members"]) if member)
            text = f"{cells.title(found.row, layout)}: only in {cells.called(comparison, only)}, nothing is beside it."
            yield from layout.wrap(f"[{found.number}] {text}", "", "    ")


def _gate(comparison: c.Comparison, layout: Layout) -> Iterator[str]:
    """What fails the condition, at the end, where one looks."""
    gate = comparison["gate"]
    if gate is None:
        return
    yield ""
    condition = gate["condition"].strip()
    if not gate["offenders"]:
        yield from layout.wrap(f"No kernel for which {condition}.")
        return
    for line in layout.wrap(f"{count(len(gate['offenders']), 'kernel')} for which {condition}:", "", "  "):
        yield layout.paint(line, BOLD)
    for offender in gate["offenders"]:
        where = f" ({cells.called(comparison, offender['side'])})" if len(comparison["sides"]) > 2 else ""
        for line in layout.wrap(f"{offender['text']}{where}", f"  [{offender['row'] + 1}] ", "      "):
            yield layout.paint(line, RED)
