"""What the views of a comparison share: which rows they show, and how sides, places and figures are written."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.driver.report import wording
from incc.driver.views.layout import count, each

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.driver.comparison import types as c
    from incc.driver.report.places import Choice
    from incc.driver.views.layout import Layout

SURE = 0.8
"""A match of less confidence is marked."""

UNCHANGED = ("same", "moved")

OUTCOMES = {
    "same": "the same",
    "moved": "moved",
    "equal": "as fast with other code",
    "faster": "faster",
    "slower": "slower",
    "unknown": "not comparable",
}
"""What became of kernels, as sums have it."""

SORTS = ("weight", "ratio", "place", "name")


class Show(msgspec.Struct, frozen=True, kw_only=True):
    """What of a comparison is shown.

    `everything`: also rows in which nothing changed. `top`: so many rows at most, 0 for as many
    as the view thinks fit. `detail`: the figures of
    each row that is shown, not only of the first ones. `sort`: one of SORTS; ratio has what became slowest first.
    `side_by_side`: the assembly of pairs: of rows that one of these fits, of all that are shown if there is none; None
    for no assembly.
    """

    everything: bool = False
    top: int = 0
    detail: bool = False
    sort: str = "weight"
    side_by_side: tuple[Choice, ...] | None = None


class Numbered(msgspec.Struct, frozen=True):
    """A row with its number, from 1, by which all views of a comparison know it."""

    number: int
    row: c.Row


def matched(comparison: c.Comparison, show: Show) -> list[Numbered]:
    """The rows to show that two sides or more have: those in which something changed, but all of which a user has
    asked for by a condition or that everything be shown."""
    every = show.everything or bool(comparison["where"])
    found = [
        Numbered(number, row)
        for number, row in enumerate(comparison["rows"], 1)
        if any(row["changes"]) and (every or _worth_showing(row))
    ]
    return ordered(found, show.sort)


def _worth_showing(row: c.Row) -> bool:
    """Other code that is as fast is worth no line where it is all there is."""
    return any(change and change["outcome"] not in (*UNCHANGED, "equal") for change in row["changes"])


def unmatched(comparison: c.Comparison, side: int, show: Show) -> list[Numbered]:
    """The rows that this side alone has."""
    found = [
        Numbered(number, row)
        for number, row in enumerate(comparison["rows"], 1)
        if not any(row["changes"]) and row["members"][side]
    ]
    return ordered(found, show.sort)


def aside(rows: list[Numbered]) -> dict[str, int]:
    """How many of the rows are of remainders, prologues and the like, by what they are: of what one side alone has,
    they come and go with the loop that they belong to."""
    found: dict[str, int] = {}
    for each_row in rows:
        role = base(each_row.row)["role"]
        if role not in ("", "main"):
            found[role] = found.get(role, 0) + 1
    return found


def ordered(rows: list[Numbered], sort: str) -> list[Numbered]:
    """The rows in the order that is wanted; the comparison has them by weight."""
    if sort == "ratio":
        return sorted(rows, key=lambda found: -max((c["ratio"] or 0 for c in found.row["changes"] if c), default=0))
    if sort == "place":
        return sorted(rows, key=lambda found: _place(found.row))
    if sort == "name":
        return sorted(rows, key=lambda found: (found.row["name"], _place(found.row)))
    return rows


def _place(row: c.Row) -> tuple[str, int]:
    source, member = row["source"], base(row)
    return (source["file"], source["line"]) if source else (member["assembly_file"], member["first_line"])


def base(row: c.Row) -> c.Member:
    """The kernel that the others of a row are compared with."""
    member = row["members"][row["base"]]
    assert member is not None
    return member


def pairs(row: c.Row) -> Iterator[tuple[int, c.Member, c.Change]]:
    """The sides that are compared with the base, with what became of the kernel there."""
    for side, (member, change) in enumerate(zip(row["members"], row["changes"], strict=True)):
        if member and change:
            yield side, member, change


def fits(row: c.Row, choice: Choice) -> bool:
    """Whether a user means this row."""
    return any(
        choice.fits_names(
            (m["function"], m["kernel_id"], row["name"]),
            (m["function_name"],),
            (m["first_line"], m["last_line"]),
            m["source"],
        )
        for m in row["members"]
        if m
    )


# --- sides ------------------------------------------------------------------------------------------------------------


def letter(side: int) -> str:
    """What a side is called for short: A, B … Z, AA …"""
    text = ""
    side += 1
    while side:
        side, rest = divmod(side - 1, 26)
        text = chr(65 + rest) + text
    return text


def called(comparison: c.Comparison, side: int) -> str:
    """A side in a sentence: its letter and label, once where they are the same."""
    label = comparison["sides"][side]["label"]
    return label if label == letter(side) else f"{letter(side)} ({label})"


def side_text(side: c.Side, common: str, layout: Layout) -> str:
    """What a side is, in a line; `common`: its model, where all have that one."""
    # What differs in the command of a variant is its label, and the rest of it stands on the command line.
    named = side["variant"] is None and side["input"] not in ("", "-", side["label"])
    parts = [layout.file(side["input"])] if named else []
    parts += side["compilers"]
    models = ", ".join(model["name"] for model in side["models"])
    parts += [models] if models and models != common else []
    parts.append(side["problem"] or count(side["kernels"], "kernel"))
    return ", ".join(parts)


def common_model(comparison: c.Comparison) -> c.ComparedModel | None:
    """The model of all kernels; None if there are several, or none."""
    models = {(m["name"], m["version"]): m for side in comparison["sides"] for m in side["models"]}
    return next(iter(models.values())) if len(models) == 1 else None


def notes(comparison: c.Comparison) -> Iterator[str]:
    """What a reader must know, of the comparison and of its sides."""
    problems = [side["problem"] for side in comparison["sides"] if side["problem"]]  # which stand with their sides
    yield from (note for note in comparison["notes"] if not any(problem in note for problem in problems))
    for side, one in enumerate(comparison["sides"]):
        for note in one["notes"]:
            if not any(note in said for said in comparison["notes"]):
                yield f"{called(comparison, side)}: {note}"


def files(comparison: c.Comparison) -> dict[str, None]:
    """The paths that a comparison names."""
    found: dict[str, None] = {side["input"]: None for side in comparison["sides"] if side["input"] not in ("", "-")}
    for row in comparison["rows"]:
        if row["source"]:
            found[row["source"]["file"]] = None
        for member in row["members"]:
            if member:
                found[member["assembly_file"]] = None
                if member["source"]:
                    found[member["source"]["file"]] = None
    return found


# --- kernels ----------------------------------------------------------------------------------------------------------


def place(row: c.Row, layout: Layout) -> str:
    """Where a row's loop is: in the source if that is known, else in the assembly."""
    return layout.place(row["source"]) if row["source"] else _in_assembly(base(row), layout)


def member_place(member: c.Member, layout: Layout) -> str:
    """Where a kernel of one side is."""
    return layout.place(member["source"]) if member["source"] else _in_assembly(member, layout)


def _in_assembly(member: c.Member, layout: Layout) -> str:
    if member["first_line"]:
        return f"{layout.file(member['assembly_file'])}:{member['first_line']}"
    return member["label"] or layout.file(member["assembly_file"])


def name(row: c.Row) -> str:
    """What a row's loop is called."""
    return row["name"] or base(row)["label"] or base(row)["kernel_id"]


def short(row: c.Row) -> str:
    """The same in a table, with what it is if it is no main loop."""
    role = base(row)["role"]
    return name(row) if role in ("", "main") else f"{name(row)}, {role}"


def title(row: c.Row, layout: Layout) -> str:
    """The same where it is the subject."""
    return f"{place(row, layout)} in {row['name']}" if row["name"] else place(row, layout)


def doubt(change: c.Change) -> str:
    """How sure a match is, where that is not sure."""
    return "" if change["confidence"] >= SURE else f"? {100 * change['confidence']:.0f} %"


# --- figures ----------------------------------------------------------------------------------------------------------


def amount(cycles: float | None) -> str:
    """Cycles; a question mark where they are not known."""
    if cycles is not None and cycles >= wording.HUGE:
        return f"{cycles:.3g}"
    return "?" if cycles is None else each(cycles) if cycles else "0"


def taken(member: c.Member, cycles: float | None) -> str:
    """Cycles that a kernel takes; at least so many where something of it is not counted."""
    text = amount(cycles)
    return f"≥ {text}" if member["figures"]["at_least"] and cycles is not None else text


def both(row: c.Row, other: c.Member, change: c.Change) -> tuple[str, str]:
    """The cycles of a row's base and another side on the basis of their change; those of iterations in parentheses
    where there is none."""
    member = base(row)
    if change["basis"]:
        return taken(member, change["cycles_a"]), taken(other, change["cycles_b"])
    return (
        f"({taken(member, member['figures']['cycles'])})",
        f"({taken(other, other['figures']['cycles'])})",
    )


def relative(ratio: float | None) -> str:
    """A change as a sentence on it has it; a question mark where it is not known."""
    return "?" if ratio is None else wording.relative(ratio)


BASES = {"element": "an element", "work": "as much work", "iteration": "an iteration", "": ""}
"""What cycles of a change are of, in a few words."""


ALONE = ", without the other parts"
"""What is added to that for figures of one part of a loop that was split."""


def per(a: c.Member, b: c.Member, change: c.Change) -> str:
    """What figures of two kernels are of: those of a loop that was split are of the one that the row is about, while
    the cycles that are compared are of all its parts."""
    return BASES[change["basis"]] + (ALONE if a["parts"] or b["parts"] else "")


MEANINGS = {
    "element": "an element of the source's loop",
    "work": "as much work as an iteration does of the loop that does more",
    "iteration": "an iteration of the loop",
}
"""The same in full."""


def arrow(a: str, b: str) -> str:
    """Two texts, one if they are the same."""
    return a or b if a == b else f"{a or '-'} → {b or '-'}"


# Figures, what they are called, and whether they are of an iteration, so that they are put to the basis of the change.
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
    ("elements", "elements an iteration", False),
    ("vector_bits", "vector bits", False),
    ("bytes", "bytes of code", False),
)


class Figure(msgspec.Struct, frozen=True, kw_only=True):
    """A figure that differs between two kernels: its name, both values as text, whether it is put to the basis."""

    name: str
    a: str
    b: str
    on_basis: bool


def differing(a: c.Member, b: c.Member, change: c.Change) -> list[Figure]:
    """The figures that differ, those of an iteration put to what the change compares: to an element, or to the work of
    an iteration that does more. Without such a basis only those that are not of an iteration are there to compare."""
    scale_a, scale_b = scales(change) or (0.0, 0.0)
    found = []
    for key, words, of_iteration in _FIGURES:
        if of_iteration and not scale_a:
            continue
        # How long one iteration takes on its own is no matter of how much it does.
        if key == "critical_path" and scale_a != scale_b:
            continue
        values: list[float | None] = [m["figures"][key] for m in (a, b)]  # type: ignore[literal-required]
        factors = (scale_a, scale_b) if of_iteration and key != "critical_path" else (1.0, 1.0)
        texts = [_value(None if v is None else v * scale) for v, scale in zip(values, factors, strict=True)]
        if texts[0] != texts[1]:
            found.append(Figure(name=words, a=texts[0], b=texts[1], on_basis=of_iteration))
    return found


def scales(change: c.Change) -> tuple[float, float] | None:
    """What figures of an iteration are multiplied by to be on the basis of the change; None where there is none."""
    scale_a, scale_b = change["scale_a"], change["scale_b"]
    return (scale_a, scale_b) if scale_a and scale_b else None


def _value(value: float | None) -> str:
    if value is None:
        return "?"
    if value >= wording.HUGE:
        return f"{value:.3g}"
    return f"{value:.3f}".rstrip("0").rstrip(".") if value < 1 else f"{value:.2f}".rstrip("0").rstrip(".")


class Compared(msgspec.Struct, frozen=True):
    """The cycles of a row's kernels on one basis: of an "element" or, where that is not known of all, of as much work
    as an "iteration" of the base does. By side: None where there is no kernel, or none to compare."""

    basis: str
    cycles: tuple[float | None, ...]


def compared(row: c.Row) -> Compared:
    """What a table of several sides has of a row. Changes are each relative to the base, and what their cycles are of
    may differ; ratios are what they have in common."""
    changes = [change for _, _, change in pairs(row) if change["ratio"] is not None]
    of_element = bool(changes) and all(change["basis"] == "element" for change in changes)
    # Of a loop that was split on one side only, or whose elements the others tell differently, they are not the same.
    own_of = [change["cycles_a"] or 0.0 for change in changes]
    of_element = of_element and max(own_of) - min(own_of) <= 0.001 * max(own_of)
    own = changes[0]["cycles_a"] if of_element else base(row)["figures"]["cycles"]
    found: list[float | None] = []
    for side, change in enumerate(row["changes"]):
        if side == row["base"]:
            found.append(own)
        elif change is None or change["ratio"] is None or own is None:
            found.append(None)
        else:
            found.append(change["cycles_b"] if of_element else own * change["ratio"])
    return Compared("element" if of_element else "iteration", tuple(found))
