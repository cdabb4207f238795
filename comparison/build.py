"""Construction of a comparison: rows of matched kernels and their changes, the most important first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from incc.comparison import types as c
from incc.comparison.causes import amount_text
from incc.comparison.change import change, figures
from incc.comparison.match import Match
from incc.comparison.merge import groups
from incc.comparison.side import ComparedBuild, SideKernel
from incc.report import types as t
from incc.report.hints.work import NOTHING, expected_cycles
from incc.report.where import NAMES, OF_WORK, PAIR_NAMES, TIMES, Condition, Value, pair_values, place
from incc.report.wording import listed
from incc.support.version import __version__

COMPARISON_VERSION: Final = "1.0"

DEEPER = 8.0
"""The assumed number of iterations of a loop per iteration of the loop around it, for weights.

The real numbers are unknown. GCC assumes ten where it has no profile (--param avg-loop-niter).
"""

DEEPEST = 4
"""The most surrounding loops that count; more would outweigh everything else."""

SELDOM = 1 / 16
"""The weight of a loop that is no main loop: remainders and the like run for few iterations."""


class ComparisonSettings(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a comparison."""

    where: Condition | None = None
    """Keeps only rows for which it holds in one of the pairs."""
    fail_if: Condition | None = None
    """The condition that must hold for none of these rows."""
    assembly: bool = False
    """Includes instructions and their alignment."""
    enough: int | None = None
    """With `assembly`, the number of kernels of changed rows that get instructions; None for all rows."""


class _Pair(msgspec.Struct, frozen=True):
    """A kernel of a side and its change, with further loops that do a part of either kernel's work."""

    change: c.KernelChange
    parts_a: tuple[SideKernel, ...]
    parts_b: tuple[SideKernel, ...]


class _Row:
    """Kernels of the sides that are one loop.

    `part_of` has the sides in which the loop does a part of another loop's work.
    """

    __slots__ = ("base", "entries", "pairs", "part_of")

    def __init__(self, sides: Sequence[ComparedBuild], kernels: Mapping[int, int]) -> None:
        self.base = min(kernels)
        self.entries = [side.entries[kernels[n]] if n in kernels else None for n, side in enumerate(sides)]
        self.pairs: list[_Pair | None] = [None] * len(sides)
        self.part_of: set[int] = set()

    def compare(
        self, side: int, match: Match, parts_a: tuple[SideKernel, ...], parts_b: tuple[SideKernel, ...]
    ) -> None:
        """Compare the kernel of a side, and the parts that do the rest of its work, with that of the base."""
        entry = self.entries[side]
        assert entry is not None
        self.pairs[side] = _Pair(change(self.first(), entry, match, parts_a, parts_b), parts_a, parts_b)

    def first(self) -> SideKernel:
        """Return the kernel of the base."""
        entry = self.entries[self.base]
        assert entry is not None
        return entry

    def there(self) -> list[SideKernel]:
        """Return the kernels of the sides that have one."""
        return [entry for entry in self.entries if entry is not None]


def compare(
    sides: Sequence[ComparedBuild],
    wanted: ComparisonSettings = ComparisonSettings(),  # noqa: B008 -- the default is immutable
    jobs: int = 1,
) -> c.ComparisonReport:
    """Return the comparison of two or more sides; each kernel is compared with the first side that has it.

    Rows come in falling order of their weight: the cycles lost or gained, on the basis on which they are compared,
    times how likely it is that they matter (DEEPER, SELDOM, and the confidence of the match). The side with the largest
    weight decides. Rows without a weight follow: first those that cannot be compared, then different code with equal
    cycles, then equal code, and last kernels that only one side has. `jobs` processes match the sides.
    """
    rows = _rows(sides, jobs)
    several = any(len({model.name for model in side.info.models}) > 1 for side in sides)
    totals: list[c.PairTotals | None] = [None, *(_totals(rows, side) for side in range(1, len(sides)))]
    # A loop that became a part of another loop's counterpart, and stands alone nowhere, has no row.
    kept = [row for row in rows if not row.part_of or len(row.there()) > 1]
    if wanted.where is not None:
        kept = [row for row in kept if _holds_somewhere(row, wanted.where)]
    kept.sort(key=_order)
    gate: c.ComparisonGate | None = None
    if wanted.fail_if is not None:
        gate = c.ComparisonGate(condition=wanted.fail_if.text, offenders=_offenders(kept, sides, wanted.fail_if))
    return c.ComparisonReport(
        schema_version=COMPARISON_VERSION,
        tool=t.Tool(name="incc", version=__version__),
        sides=[side.info for side in sides],
        totals=totals,
        where=wanted.where.text if wanted.where is not None else "",
        rows=[_row(row, shown, several) for row, shown in zip(kept, _with_assembly(kept, wanted), strict=True)],
        gate=gate,
        notes=_notes(sides, rows),
    )


def _with_assembly(rows: Sequence[_Row], wanted: ComparisonSettings) -> Iterator[bool]:
    """Yield for each row True if its instructions are wanted."""
    left = wanted.enough
    for row in rows:
        if not wanted.assembly or left is None:
            yield wanted.assembly
            continue
        there = len(row.there())
        changed = there == 1 or any(pair and pair.change.outcome not in ("same", "moved") for pair in row.pairs)
        yield changed and left > 0
        left -= there if changed else 0


# --- rows -------------------------------------------------------------------------------------------------------------


def _rows(sides: Sequence[ComparedBuild], jobs: int) -> list[_Row]:
    """Return the rows, in the order in which their kernels first appear.

    A kernel that does a part of another loop's work has no row of its own, unless it has a counterpart of its own.
    """
    # Variants of one command compile the same text.
    of_text = [n for n, side in enumerate(sides) if side.info.variant and side.info.compilers]
    loops = groups([side.entries for side in sides], of_text, jobs)
    parts = {(side, part) for loop in loops for side, match in loop.matches.items() for part in match.parts_b}
    with_row = [loop for loop in loops if not parts.issuperset(loop.kernels.items())]
    rows = [_Row(sides, loop.kernels) for loop in with_row]
    row_of = {place: row for loop, row in zip(with_row, rows, strict=True) for place in loop.kernels.items()}
    for loop, row in zip(with_row, rows, strict=True):
        for side, match in loop.matches.items():
            first, second = sides[row.base].entries, sides[side].entries
            parts_a = [part for part in match.parts_a if row_of[row.base, part].entries[side] is None]
            parts_b = tuple(second[part] for part in match.parts_b if (side, part) not in row_of)
            for part in parts_a:
                row_of[row.base, part].part_of.add(side)
            row.compare(side, match, tuple(first[part] for part in parts_a), parts_b)
    return rows


def _row(row: _Row, assembly: bool, several: bool) -> c.ComparisonRow:
    """Return the record of a row; `several` is set if a side has several cores."""
    first = row.first()
    instructions: list[list[t.InstructionReport] | None] = [
        entry.instructions() if assembly and entry is not None else None for entry in row.entries
    ]
    changes: list[c.KernelChange | None] = []
    for pair, own in zip(row.pairs, instructions, strict=True):
        changes.append(pair.change if pair else None)
        if pair and own is not None:
            from incc.comparison.align import align

            base = instructions[row.base]
            assert base is not None
            pair.change.alignment = align(base, own)
    members = [
        _member(entry, _parts(row, side), own) if entry is not None else None
        for side, (entry, own) in enumerate(zip(row.entries, instructions, strict=True))
    ]
    sources = [entry.kernel.source for entry in row.there() if entry.kernel.source]
    name = first.kernel.overview.function
    cores = {entry.unit.model.name for entry in row.there()}
    return c.ComparisonRow(
        name=f"{name} ({cores.pop()})" if name and several and len(cores) == 1 else name,
        source=sources[-1] if sources else None,
        members=members,
        base=row.base,
        changes=changes,
        best=_best(row),
        weight=round(_weight(row), 6),
    )


def _parts(row: _Row, side: int) -> list[SideKernel]:
    """Return the loops that do the rest of the work of a side's kernel, each once."""
    pair = row.pairs[side]
    if side != row.base:
        return list(pair.parts_b) if pair else []
    return list(dict.fromkeys(part for each in row.pairs if each for part in each.parts_a))


def _member(
    entry: SideKernel, parts: Iterable[SideKernel], instructions: list[t.InstructionReport] | None
) -> c.RowMember:
    unit, kernel = entry.unit, entry.kernel
    return c.RowMember(
        unit=unit.source or unit.assembly_file,
        assembly_file=unit.assembly_file,
        first_line=kernel.first_line,
        last_line=kernel.last_line,
        kernel_id=kernel.kernel_id,
        content_hash=kernel.content_hash,
        function=kernel.function,
        function_name=kernel.function_name,
        source=kernel.source,
        label=kernel.label,
        role=kernel.role.name,
        model=unit.model.name,
        figures=figures(entry),
        limited_by=kernel.bounds.prediction.limited_by,
        limit=kernel.overview.limit,
        vector=kernel.overview.vector,
        verdict=kernel.verdict,
        hints=[hint.rule for hint in kernel.hints],
        parts=[part.kernel.kernel_id for part in parts],
        instructions=instructions,
        resources=kernel.resources if instructions is not None else None,
    )


def _best(row: _Row) -> list[int]:
    """Return the sides with the fewest cycles for as much work; none if one of them is unknown."""
    costs: dict[int, float] = {}
    for side, entry in enumerate(row.entries):
        pair = row.pairs[side]
        if entry is None:
            continue
        if side == row.base:
            costs[side] = 1.0
            continue
        if pair is None or pair.change.outcome == "unknown" or pair.change.ratio is None:
            return []
        costs[side] = 1.0 if pair.change.outcome in ("same", "moved") else pair.change.ratio
    if len(costs) < 2:
        return []
    least = min(costs.values())
    return [side for side, cost in costs.items() if cost <= least * (1 + NOTHING)]


def _weight(row: _Row) -> float:
    return max(_weight_of(row, side) for side in range(len(row.pairs)))


def _weight_of(row: _Row, side: int) -> float:
    """Return the weight of a side's change."""
    pair, entry = row.pairs[side], row.entries[side]
    if pair is None or entry is None or pair.change.outcome not in ("faster", "slower"):
        return 0.0
    first, second = pair.change.cycles_a, pair.change.cycles_b
    if first is None or second is None:
        return 0.0
    kernels = row.first().kernel, entry.kernel
    depth = min(max(kernel.depth for kernel in kernels), DEEPEST + 1)
    often = any(kernel.role.name in ("main", "") for kernel in kernels)
    likely = DEEPER ** max(depth - 1, 0) * (1.0 if often else SELDOM) * pair.change.confidence
    return abs(second - first) * likely


_RANKS = {"slower": 0, "faster": 0, "unknown": 1, "equal": 2, "moved": 3, "same": 4}


def _order(row: _Row) -> tuple[float, int, list[tuple[str, int, str]]]:
    """Return the sort key of a row: the most important first, ties independent of the order of sides."""
    ranks = [_RANKS[pair.change.outcome] for pair in row.pairs if pair]
    names = sorted((*place(entry.unit, entry.kernel), entry.kernel.kernel_id) for entry in row.there())
    return -_weight(row), min(ranks, default=5), names


def _totals(rows: Sequence[_Row], side: int) -> c.PairTotals:
    changes = [row.pairs[side].change for row in rows if row.pairs[side]]  # type: ignore[union-attr]
    outcomes = [each.outcome for each in changes]
    logarithms = [
        0.0 if each.outcome in ("same", "moved") else math.log(each.ratio)
        for each in changes
        if each.ratio and each.outcome != "unknown"
    ]
    counts = {outcome: outcomes.count(outcome) for outcome in _RANKS}
    return c.PairTotals(
        **counts,
        only_a=sum(row.base == 0 and row.entries[side] is None and side not in row.part_of for row in rows),
        only_b=sum(row.base == side for row in rows),
        speedup=round(math.exp(math.fsum(logarithms) / len(logarithms)), 6) if logarithms else None,
    )


# --- conditions -------------------------------------------------------------------------------------------------------


def _values(
    names: Iterable[str], a: SideKernel | None, b: SideKernel | None, pair: _Pair | None
) -> tuple[dict[str, Value], dict[str, Value]]:
    """Return the values of a condition's names in two kernels, one of which may be missing, and in the first alone."""
    plain = {name for name in names if name in NAMES}
    plain |= {name[:-2] for name in names if name[-2:] in ("_a", "_b") and name[:-2] in NAMES}
    first, second = _of(plain, a), _of(plain, b)
    change = pair.change if pair else None
    if pair is not None and change is not None:
        _on_one_basis(first, second, change)
        elements = b.kernel.elements if b else None
        if (pair.parts_a or pair.parts_b) and elements and change.basis == "element":
            # The cycles of all loops that do the work count.
            _set_cycles(first, change.cycles_a, elements.per_iteration)
            _set_cycles(second, change.cycles_b, elements.per_iteration)
    values = pair_values(first, second) | (first if b is None else {})
    if change is not None:
        values |= {name: getattr(change, name) for name in PAIR_NAMES if name != "causes"}
        values["causes"] = ", ".join(dict.fromkeys(cause.kind for cause in change.causes))
    else:
        values |= dict.fromkeys(("ratio", "work", "confidence"))
        values |= {"outcome": "removed" if b is None else "added", "matched_by": "", "basis": "", "causes": ""}
    return values, first


def _set_cycles(values: dict[str, Value], cycles: float | None, elements: float) -> None:
    if cycles is not None and "cycles" in values:
        values["cycles"] = round(cycles * elements, 6)
    if cycles is not None and "cycles_per_element" in values:
        values["cycles_per_element"] = cycles


def _of(names: Iterable[str], entry: SideKernel | None) -> dict[str, Value]:
    """Return the values of names in a kernel; None for each if there is no kernel."""
    if entry is None:
        return dict.fromkeys(names)
    values = {name: NAMES[name].of(entry.unit, entry.kernel) for name in names}
    if "cycles" in values:
        values["cycles"] = expected_cycles(entry.kernel)
    elements = entry.kernel.elements
    if "cycles_per_element" in values and elements and elements.per_iteration:
        values["cycles_per_element"] = expected_cycles(entry.kernel) / elements.per_iteration
    return values


def _on_one_basis(first: dict[str, Value], second: dict[str, Value], change: c.KernelChange) -> None:
    """Scale what belongs to the work of an iteration of the first kernel to that of the second one."""
    work = change.work
    for name in first.keys() & OF_WORK:
        value = first[name]
        if change.outcome in ("same", "moved"):
            # Equal code may still be measured twice, perhaps on two machines.
            if name != "measured":
                first[name] = second[name]
        elif work is None or not isinstance(value, float | int):
            first[name] = None
        elif change.outcome == "unknown" and name in TIMES:
            first[name] = None  # the uncounted work differs
        else:
            first[name] = round(value * work, 9)
    if "cycles_per_element" in first:
        if change.outcome in ("same", "moved"):
            first["cycles_per_element"] = second["cycles_per_element"]
        elif change.outcome == "unknown":
            first["cycles_per_element"] = None
        elif change.basis == "element":  # both handle the same elements, whatever each report assumes
            first["cycles_per_element"], second["cycles_per_element"] = change.cycles_a, change.cycles_b


def _pairs_of(row: _Row) -> Iterable[tuple[int, SideKernel | None, SideKernel | None, _Pair | None]]:
    """Yield the pairs of a row by the second kernel's side, and kernels that have no counterpart."""
    for side in range(1, len(row.entries)):
        if side == row.base:
            yield side, None, row.entries[side], None
        elif side > row.base and side not in row.part_of:
            yield side, row.first(), row.entries[side], row.pairs[side]


def _holds_somewhere(row: _Row, condition: Condition) -> bool:
    return any(condition.holds(*_values(condition.names, a, b, pair)) for _, a, b, pair in _pairs_of(row))


def _offenders(rows: Sequence[_Row], sides: Sequence[ComparedBuild], condition: Condition) -> list[c.FailingKernel]:
    """Return the kernels for which a condition holds.

    Kernels that are gone are checked only if the condition names figures of a pair.
    """
    offenders: list[c.FailingKernel] = []
    of_both = any(name in PAIR_NAMES or name.endswith(("_a", "_b")) for name in condition.names)
    for number, row in enumerate(rows):
        for side, a, b, pair in _pairs_of(row):
            if b is None and not of_both:
                continue
            values = _values(condition.names, a, b, pair)
            if condition.holds(*values):
                where = f" in {sides[side].info.label}" if len(sides) > 2 else ""
                entry = b or row.first()
                file, line = place(entry.unit, entry.kernel)
                at = f" at {file}:{line}" if line else f" in {file}" if file else ""
                name = entry.kernel.overview.function
                text = f"{name}{at}{where}: {_figures_text(condition, values[0], a is not None and b is not None)}"
                offenders.append(c.FailingKernel(row=number, side=side, text=text))
    return offenders


def _figures_text(condition: Condition, values: dict[str, Value], both: bool) -> str:
    """Return the figures that a condition names, as text."""
    words = []
    for name in NAMES:
        if not condition.names & {name, f"{name}_a", f"{name}_b"}:
            continue
        first, second = values.get(f"{name}_a"), values.get(f"{name}_b")
        if both and first != second:
            words.append(f"{name} {_shown(first)} → {_shown(second)}{_percent(first, second)}")
        else:
            words.append(f"{name} {_shown(values[name])}")
    words += [f"{name} {_shown(values[name])}" for name in PAIR_NAMES if name in condition.names]
    return ", ".join(words) or condition.text


def _shown(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value is None:
        return "unknown"
    return value if isinstance(value, str) else f"-{amount_text(-value)}" if value < 0 else amount_text(value)


def _percent(first: Value, second: Value) -> str:
    """Return by how many percent a number has changed, as text."""
    if isinstance(first, str | bool) or isinstance(second, str | bool) or not first or second is None:
        return ""
    percent = 100 * (second / first - 1)
    # There are enough digits to tell the value from a limit in a condition.
    digits = 0 if abs(percent) >= 9.95 else 1 if abs(percent) >= 1 else 2
    return f" ({percent:+.{digits}f} %)" if math.isfinite(percent) else ""


# --- notes ------------------------------------------------------------------------------------------------------------


def _notes(sides: Sequence[ComparedBuild], rows: Sequence[_Row]) -> list[str]:
    """Return notes on the comparison as a whole."""
    notes = [f"{side.info.label}: {note}" for side in sides for note in side.info.notes]
    notes += [f"{side.info.label}: {side.info.problem}" for side in sides if side.info.problem]
    notes += [*_core_notes(sides, rows), *_version_notes(sides)]
    for number, side in enumerate(sides[1:], 1):
        others = any(each.entries for each in sides[:number])
        if side.entries and others and not any(row.pairs[number] for row in rows):
            notes.append(f"no kernel of {side.info.label} was found in {sides[0].info.label}")
    return notes


def _core_notes(sides: Sequence[ComparedBuild], rows: Sequence[_Row]) -> list[str]:
    cores = {
        side.info.label: listed(list(dict.fromkeys(model.name for model in side.info.models)))
        for side in sides
        if side.info.models
    }
    crossed = any(len({entry.unit.model.name for entry in row.there()}) > 1 for row in rows)
    if len(set(cores.values())) > 1 and (crossed or not any(len(row.there()) > 1 for row in rows)):
        words = [
            f"{label} is of {core}" if not n else f"{label} of {core}" for n, (label, core) in enumerate(cores.items())
        ]
        if all(label == core for label, core in cores.items()):
            words = [listed(list(cores))]
        return [f"{', '.join(words)}: cycles are of different cores"]
    return []


def _version_notes(sides: Sequence[ComparedBuild]) -> list[str]:
    notes = []
    versions: dict[str, dict[str, None]] = {}
    for side in sides:
        for model in side.info.models:
            # What is added for forms that the model lacks differs between units.
            versions.setdefault(model.name, {})[model.version.partition("~")[0]] = None
    for name, model_versions in versions.items():
        if len(model_versions) > 1:
            notes.append(
                f"the model of {name} changed (versions {listed(list(model_versions))}): so may cycles of the same code"
            )
    return notes
