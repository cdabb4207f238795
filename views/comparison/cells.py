"""The shared parts of the views of a comparison: the rows to show, and how sides, places and figures are written."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from incc.comparison import types as c
from incc.report import wording
from incc.report.source.places import NamedKernels
from incc.support.text import counted
from incc.views.layout import Layout, each

SURE = 0.8
"""Matches of less confidence are marked."""

UNCHANGED = ("same", "moved")

OUTCOMES = {
    "same": "the same",
    "moved": "moved",
    "equal": "equally fast with other code",
    "faster": "faster",
    "slower": "slower",
    "unknown": "not comparable",
}
"""Outcomes of kernels, as sums name them."""

SORTS = ("weight", "ratio", "place", "name")


class ComparisonParts(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a comparison to show."""

    everything: bool = False
    """Also rows in which nothing changed."""
    top: int = 0
    """Number of rows at most; 0 for the view's own limit."""
    detail: bool = False
    """Figures of every row that is shown, not only of the first ones."""
    sort: str = "weight"
    """One of SORTS; ratio begins with the rows that became slowest."""
    side_by_side: tuple[NamedKernels, ...] | None = None
    """Rows whose assembly is shown; empty for all rows that are shown, None for no assembly."""


class NumberedRow(msgspec.Struct, frozen=True):
    """A row with its number, from 1, which is the same in all views of a comparison."""

    number: int
    row: c.ComparisonRow


def numbered_rows(comparison: c.ComparisonReport) -> list[NumberedRow]:
    """Return all rows with their numbers."""
    return [NumberedRow(number, row) for number, row in enumerate(comparison.rows, 1)]


def matched(comparison: c.ComparisonReport, show: ComparisonParts) -> list[NumberedRow]:
    """Return the rows to show of kernels that several sides have.

    These are the rows in which something changed, or all of them if the user gave a condition or wants everything.
    """
    every = show.everything or bool(comparison.where)
    rows = [
        numbered
        for numbered in numbered_rows(comparison)
        if any(numbered.row.changes) and (every or _has_changed(numbered.row))
    ]
    return ordered(rows, show.sort)


def _has_changed(row: c.ComparisonRow) -> bool:
    """Return True if some kernel became faster or slower, or cannot be compared."""
    return any(change and change.outcome not in (*UNCHANGED, "equal") for change in row.changes)


def unmatched(comparison: c.ComparisonReport, side: int, show: ComparisonParts) -> list[NumberedRow]:
    """Return the rows of kernels that only this side has."""
    rows = [
        numbered
        for numbered in numbered_rows(comparison)
        if not any(numbered.row.changes) and numbered.row.members[side]
    ]
    return ordered(rows, show.sort)


def only_in(
    comparison: c.ComparisonReport, side: int, show: ComparisonParts, most: int
) -> tuple[list[NumberedRow], list[NumberedRow], list[str]]:
    """Return the kernels that only this side has, those of them to list, and how many others there are.

    At most `most` are listed, and no remainders, prologues and the like: these come and go with their main loop.
    """
    rows = unmatched(comparison, side, show)
    if show.everything:
        return rows, rows, []
    main = [numbered for numbered in rows if not role(numbered.row)]
    roles: dict[str, int] = {}
    for numbered in rows:
        if name := role(numbered.row):
            roles[name] = roles.get(name, 0) + 1
    more = [f"{len(main) - most} more"] if len(main) > most else []
    return rows, main[:most], more + [counted(number, name) for name, number in roles.items()]


def ordered(rows: list[NumberedRow], sort: str) -> list[NumberedRow]:
    """Return the rows in one of SORTS' orders; those of a comparison are ordered by weight."""
    if sort == "ratio":
        return sorted(rows, key=lambda n: -max((c.ratio or 0 for c in n.row.changes if c), default=0))
    if sort == "place":
        return sorted(rows, key=lambda n: _place_key(n.row))
    if sort == "name":
        return sorted(rows, key=lambda n: (n.row.name, _place_key(n.row)))
    return rows


def _place_key(row: c.ComparisonRow) -> tuple[str, int]:
    source, member = row.source, base(row)
    return (source.file, source.line) if source else (member.assembly_file, member.first_line)


def base(row: c.ComparisonRow) -> c.RowMember:
    """Return the kernel that the others of a row are compared with."""
    member = row.members[row.base]
    assert member is not None
    return member


def pairs(row: c.ComparisonRow) -> Iterator[tuple[int, c.RowMember, c.KernelChange]]:
    """Yield the sides that are compared with the base, with their kernels and changes."""
    for side, (member, change) in enumerate(zip(row.members, row.changes, strict=True)):
        if member and change:
            yield side, member, change


def fits(row: c.ComparisonRow, choice: NamedKernels) -> bool:
    """Return True if a user's choice names this row."""
    return any(
        choice.fits_names(
            (m.function, m.kernel_id, row.name), (m.function_name,), (m.first_line, m.last_line), m.source
        )
        for m in row.members
        if m
    )


# --- sides ------------------------------------------------------------------------------------------------------------


def letter(side: int) -> str:
    """Return the short name of a side: A to Z, then AA, AB and so on."""
    text = ""
    side += 1
    while side:
        side, rest = divmod(side - 1, 26)
        text = chr(65 + rest) + text
    return text


def called(comparison: c.ComparisonReport, side: int) -> str:
    """Return a side's letter and label, once if they are equal."""
    label = comparison.sides[side].label
    return label if label == letter(side) else f"{letter(side)} ({label})"


def lead(comparison: c.ComparisonReport, side: int) -> str:
    """Return a side's letter for the beginning of a sentence, nothing if there are only two sides."""
    return f"{letter(side)}: " if len(comparison.sides) > 2 else ""


def side_text(comparison: c.ComparisonReport, side: int, layout: Layout) -> str:
    """Return a line on a side: input, compilers, models unless all sides have the same one, and kernels."""
    one, common = comparison.sides[side], common_model(comparison)
    # A variant's label has the differences in its command; the rest was on the command line.
    named = one.variant is None and one.input not in ("", "-", one.label)
    parts = [layout.file(one.input)] if named else []
    parts += one.compilers
    models = ", ".join(dict.fromkeys(model.name for model in one.models))
    parts += [models] if models and not (common and models == common.name) else []
    parts.append(one.problem or counted(one.kernels, "kernel"))
    return ", ".join(parts)


def common_model(comparison: c.ComparisonReport) -> c.ComparedModel | None:
    """Return the model of all kernels, None if there are several or none."""
    models = {(m.name, m.version): m for side in comparison.sides for m in side.models}
    return next(iter(models.values())) if len(models) == 1 else None


def notes(comparison: c.ComparisonReport) -> Iterator[str]:
    """Yield the notes on the comparison and on its sides."""
    problems = [side.problem for side in comparison.sides if side.problem]  # which are shown with their sides
    yield from (note for note in comparison.notes if not any(problem in note for problem in problems))
    for side, one in enumerate(comparison.sides):
        for note in one.notes:
            if not any(note in other for other in comparison.notes):
                yield f"{called(comparison, side)}: {note}"


def comparable(comparison: c.ComparisonReport) -> bool:
    """Return True if at least two sides have kernels to compare."""
    return sum(not side.problem for side in comparison.sides) > 1


def sums(comparison: c.ComparisonReport, side: int) -> str:
    """Return a sentence on the outcomes of the first side's kernels in another one."""
    totals = comparison.totals[side]
    assert totals is not None
    numbers = {outcome: getattr(totals, outcome) for outcome in OUTCOMES}
    both = sum(numbers.values())
    a, b = (letter(n) if len(comparison.sides) > 2 else called(comparison, n) for n in (0, side))
    if not both:
        text = "no kernel is on both sides"
    elif both == numbers["same"]:
        text = f"{counted(both, 'kernel')}, nothing changed"
    else:
        outcomes = dict(OUTCOMES)
        models = [[model.name for model in comparison.sides[n].models] for n in (0, side)]
        if models[0] != models[1]:  # the code may be the same then
            outcomes["equal"] = "equally fast"
        parts = [f"{number} {words}" for (o, words) in outcomes.items() if (number := numbers[o])]
        text = f"{counted(both, 'kernel')}: {', '.join(parts)}"
        if totals.speedup is not None:
            change = relative(totals.speedup)
            text += f"; geometric mean of cycles {'unchanged' if change[0] == '0' else change}"
    alone = [f"{n} only in {where}" for n, where in ((totals.only_a, a), (totals.only_b, b)) if n]
    return "; ".join((text, *alone)) + "."


def files(comparison: c.ComparisonReport) -> dict[str, None]:
    """Return the paths that a comparison names, those of its instructions' sources included."""
    paths: dict[str, None] = {side.input: None for side in comparison.sides if side.input not in ("", "-")}
    for row in comparison.rows:
        members = [member for member in row.members if member]
        places = [row.source, *(member.source for member in members)]
        places += [i.source for member in members for i in member.instructions or ()]
        paths.update(dict.fromkeys(member.assembly_file for member in members))
        paths.update(dict.fromkeys(place.file for place in places if place))
    return paths


# --- kernels ----------------------------------------------------------------------------------------------------------


def place(row: c.ComparisonRow, layout: Layout) -> str:
    """Return where a row's loop is: in the source if that is known, else in the assembly."""
    return layout.place(row.source) if row.source else member_place(base(row), layout)


def member_place(member: c.RowMember, layout: Layout) -> str:
    """Return the place of a kernel of one side."""
    if member.source:
        return layout.place(member.source)
    if member.first_line:
        return layout.assembly_place(member.unit, member.assembly_file, member.first_line)
    return member.label or layout.file(member.assembly_file)


def name(row: c.ComparisonRow) -> str:
    """Return the name of a row's loop."""
    return row.name or base(row).label or base(row).kernel_id


def role(row: c.ComparisonRow) -> str:
    """Return the role of a row's loop, nothing for a main loop."""
    own = base(row).role
    return "" if own == "main" else own


def short(row: c.ComparisonRow) -> str:
    """Return the name for a table, with the role unless it is a main loop."""
    return ", ".join(filter(None, (name(row), role(row))))


def title(row: c.ComparisonRow, layout: Layout) -> str:
    """Return place and name of a row's loop."""
    return f"{place(row, layout)} in {row.name}" if row.name else place(row, layout)


def doubt(change: c.KernelChange) -> str:
    """Return the confidence of a match that is not sure."""
    return "" if change.confidence >= SURE else f"? {100 * change.confidence:.0f} %"


# --- figures ----------------------------------------------------------------------------------------------------------


def amount(cycles: float | None) -> str:
    """Return cycles as text, a question mark for unknown ones."""
    if cycles is None:
        return "?"
    return f"{cycles:.3g}" if cycles >= wording.HUGE else each(cycles) if cycles else "0"


def taken(member: c.RowMember, cycles: float | None) -> str:
    """Return a kernel's cycles as text, with ≥ for a lower bound."""
    return f"≥ {amount(cycles)}" if member.figures.at_least and cycles is not None else amount(cycles)


def both(row: c.ComparisonRow, other: c.RowMember, change: c.KernelChange) -> tuple[str, str]:
    """Return the cycles of a row's base and of another side on the basis of their change.

    Without a basis these are the cycles of iterations, in parentheses.
    """
    member = base(row)
    if change.basis:
        return taken(member, change.cycles_a), taken(other, change.cycles_b)
    return f"({taken(member, member.figures.cycles)})", f"({taken(other, other.figures.cycles)})"


def relative(ratio: float | None) -> str:
    """Return a ratio as a change, a question mark for an unknown one."""
    return "?" if ratio is None else wording.relative(ratio)


BASES = {"element": "per element", "work": "for equal work", "iteration": "per iteration", "": ""}
"""Bases of cycles in a few words."""


ALONE = ", this part only"
"""The addition to a basis if figures are for one part of a split loop."""


def per(a: c.RowMember, b: c.RowMember, change: c.KernelChange) -> str:
    """Return the basis of two kernels' figures.

    Figures of a loop that was split are those of the row's part, while the compared cycles are those of all parts.
    """
    return BASES[change.basis] + (ALONE if a.parts or b.parts else "")


MEANINGS = {
    "element": "per element of the source loop",
    "work": "for the work of one iteration of the loop that does more per iteration",
    "iteration": "per iteration of the loop",
}
"""Bases of cycles in full."""


def arrow(a: str, b: str) -> str:
    """Return two texts with an arrow between them, one if they are equal."""
    return a or b if a == b else f"{a or '-'} → {b or '-'}"


_FIGURES = (
    ("port", "ports", True),
    ("divider", "divider", True),
    ("front_end", "front end", True),
    ("retire", "retirement", True),
    ("loop_carried", "LCD", True),
    ("critical_path", "critical path", True),
    ("instructions", "instructions", True),
    ("uops", "µops", True),
    ("port_uops", "µops on ports", True),
    ("loads", "loads", True),
    ("stores", "stores", True),
    ("spills", "spills", True),
    ("reloads", "reloads", True),
    ("bytes_loaded", "bytes loaded", True),
    ("bytes_stored", "bytes stored", True),
    ("flop", "flop", True),
    ("elements", "elements per iteration", False),
    ("vector_bits", "vector bits", False),
    ("bytes", "bytes of code", False),
)
"""Figures, their names, and whether they count per iteration, so that they are scaled to the basis of the change."""


class DifferingFigure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that differs between two kernels."""

    name: str
    a: str
    b: str
    on_basis: bool
    """Both values are scaled to the basis of the change."""


def differing(a: c.RowMember, b: c.RowMember, change: c.KernelChange) -> list[DifferingFigure]:
    """Return the figures that differ, those per iteration scaled to the basis of the change.

    Without a basis only figures of the whole loop can be compared.
    """
    scale_a, scale_b = scales(change) or (0.0, 0.0)
    figures = []
    for key, words, of_iteration in _FIGURES:
        if of_iteration and not scale_a:
            continue
        # The latency of one iteration on its own does not depend on how much work it does.
        if key == "critical_path" and scale_a != scale_b:
            continue
        values: list[float | None] = [getattr(m.figures, key) for m in (a, b)]
        factors = (scale_a, scale_b) if of_iteration and key != "critical_path" else (1.0, 1.0)
        texts = [_value(None if v is None else v * scale) for v, scale in zip(values, factors, strict=True)]
        if texts[0] != texts[1]:
            figures.append(DifferingFigure(name=words, a=texts[0], b=texts[1], on_basis=of_iteration))
    return figures


def figure_lists(a: c.RowMember, b: c.RowMember, change: c.KernelChange) -> Iterator[tuple[str, list[str]]]:
    """Yield the figures that differ as texts: their basis or the loop, and a list."""
    figures = differing(a, b, change)
    basis = per(a, b, change)
    for on_basis, heading in ((True, f"{basis[:1].upper()}{basis[1:]}"), (False, "Loop")):
        if texts := [f"{f.name} {f.a} → {f.b}" for f in figures if f.on_basis == on_basis]:
            yield heading, texts


def scales(change: c.KernelChange) -> tuple[float, float] | None:
    """Return the factors from figures of an iteration to those on the basis of the change, None without a basis."""
    scale_a, scale_b = change.scale_a, change.scale_b
    return (scale_a, scale_b) if scale_a and scale_b else None


def _value(value: float | None) -> str:
    if value is None:
        return "?"
    if value >= wording.HUGE:
        return f"{value:.3g}"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
