"""Puts a ranking together: kernels merged and weighed, in the order in which they are worth a look, groups of them, and
conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import TYPE_CHECKING, Any, Literal

import msgspec

from incc.ranking import types as r
from incc.ranking.kernels import OUT_OF_REACH, loops_of
from incc.report.types import Location, Tool

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from incc.ranking.hot.records import Told
    from incc.ranking.kernels import Seen
    from incc.ranking.read import Build
    from incc.ranking.weigh import Weighed
    from incc.report.where import Condition, Value

RANKING_VERSION: Literal["1.0"] = "1.0"
"""The version of the schema of `types.Ranking`."""

MEMBERS = 20
"""Kernels of a row that are told of one by one."""

SORTS = ("worth", "weight", "headroom", "cycles", "place", "name")
GROUPS = ("file", "function", "bottleneck", "hint")


_TOLD_LINES_BY_OPTION = ("assembler", "object")
"""Ways to code that has lines of the source only where the compilation had -g; not text that was given as it is."""


class Threshold(msgspec.Struct, frozen=True):
    """A condition to be checked: whether it makes the run fail, and where it stands."""

    condition: Condition
    fails: bool
    origin: str


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """How a ranking is made."""

    where: Condition | None = None
    sort: str = "worth"
    by: Literal["file", "function", "bottleneck", "hint", ""] = ""
    thresholds: tuple[Threshold, ...] = ()
    stale: bool = False


class _Member(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel with its weight."""

    seen: Seen
    amount: float
    iterations: float | None
    ways: dict[str, None]
    loop: int


def rank(inputs: Sequence[str], build: Build, told: Sequence[Told], asked: Asked) -> r.Ranking:
    """The ranking of the kernels of a build. `told`: what weighs them, of one unit; empty for nothing."""
    from incc.support.version import __version__

    weighed: Weighed | None = None
    if told:
        from incc.ranking.weigh import weigh

        weighed = weigh(build.seen, told)
    members = [
        _Member(
            seen=seen,
            amount=weighed.amounts[n] if weighed else 0.0,
            iterations=weighed.iterations[n] if weighed else None,
            ways=weighed.ways[n] if weighed else {},
            loop=loop,
        )
        for n, (seen, loop) in enumerate(zip(build.seen, loops_of(build.seen), strict=True))
    ]
    whole = weighed.hotness.total if weighed else 0.0
    rows = _rows(members, weighed is not None, whole)
    if asked.where:
        rows = [
            (row, kept) for row, some in rows if (kept := [m for m in some if asked.where.holds(_values(m.seen, row))])
        ]
        rows = [(row if len(kept) == row.copies else _row(kept, weighed is not None, whole, row), kept)
                for row, kept in rows]  # fmt: skip
    loops = _number_variants(rows)
    rows.sort(key=_order(asked.sort, weighed is not None))
    shown = [row for row, _ in rows]
    found = [m.seen for _, some in rows for m in some]
    models = Counter(seen.unit.model.name for seen in found)
    return r.Ranking(
        schema_version=RANKING_VERSION,
        tool=Tool(name="incc-report", version=__version__),
        inputs=list(inputs),
        totals=r.Totals(
            reports=build.reports,
            units=build.units,
            kernels=len(found),
            rows=len(rows),
            loops=loops,
            left_out=build.left_out,
            system_loops=build.system_loops,
            unknown=sum(len(seen.kernel.unknown_instructions) for seen in found),
            refused=sum(len(seen.kernel.refused) for seen in found),
            replaced=build.replaced,
            pending=build.pending,
            without_lines=sum(seen.kernel.source is None and seen.unit.way in _TOLD_LINES_BY_OPTION for seen in found),
            models=[name for name, _ in sorted(models.items(), key=lambda item: (-item[1], item[0]))],
        ),
        hotness=weighed.hotness if weighed else None,
        where=asked.where.text if asked.where else "",
        sort=asked.sort,
        rows=shown,
        by=asked.by,
        groups=_groups(rows, asked.by, weighed is not None) if asked.by else [],
        gates=[_gate(threshold, rows) for threshold in asked.thresholds],
        stale=sorted(build.stale, key=lambda s: s.report),
        stale_shown=asked.stale,
        unread=build.unread,
        notes=build.notes,
    )


# --- rows -------------------------------------------------------------------------------------------------------------

_Rows = list[tuple["r.Row", list[_Member]]]


def _rows(members: Sequence[_Member], hot: bool, whole: float) -> _Rows:
    """A row for each code of a function's name on a core."""
    merged: dict[tuple[str, str, str], list[_Member]] = defaultdict(list)
    for member in members:
        kernel = member.seen.kernel
        name = kernel.function_name or kernel.function or kernel.name
        merged[kernel.content_hash, member.seen.unit.model.name, name].append(member)
    return [(_row(some, hot, whole), some) for some in merged.values()]


def _row(members: Sequence[_Member], hot: bool, whole: float, like: r.Row | None = None) -> r.Row:
    # The one to show is one that says where it is, and runs.
    first = max(members, key=lambda m: (m.seen.kernel.source is not None, m.amount))
    seen, kernel = first.seen, first.seen.kernel
    overview, spread, elements = kernel.overview, kernel.range, kernel.elements
    hints = kernel.hints
    headroom = max((m.seen.headroom for m in members), key=lambda h: h.gained)
    ends = (spread.least, spread.most) if spread else (kernel.cycles, kernel.cycles)
    source = kernel.source
    machine = seen.code.offset >= 0
    return r.Row(
        name=overview.function or kernel.name,
        function=kernel.function,
        function_name=kernel.function_name,
        kernel_id=kernel.kernel_id,
        content_hash=kernel.content_hash,
        source=Location(file=seen.path(source.file), line=source.line) if source else None,
        assembly=Location(file=seen.unit.assembly_file, line=0 if machine else kernel.first_line),
        label=kernel.name if machine or not kernel.first_line else kernel.label,
        model=seen.unit.model.name,
        role=kernel.role.name,
        depth=kernel.depth,
        cycles=kernel.cycles,
        at_least=kernel.at_least,
        least=ends[0],
        most=ends[1],
        cycles_per_element=elements.cycles if elements else None,
        elements=elements.per_iteration if elements else None,
        limit=overview.limit,
        limited_by=list(kernel.bounds.prediction.limited_by),
        vector=overview.vector,
        look=overview.look,
        verdict=kernel.verdict,
        rules=[hint.rule for hint in hints],
        advice=[hint.text for hint in hints],
        flags=list(dict.fromkeys(flag for hint in hints for flag in hint.flags)),
        unknown=len(kernel.unknown_instructions),
        headroom=headroom,
        weight=_weight(members, headroom.share, whole) if hot else None,
        copies=len(members),
        variants=like.variants if like else 1,
        members=[_whence(member.seen) for member in members[:MEMBERS]],
    )


def _weight(members: Sequence[_Member], headroom: float, whole: float) -> r.Weight | None:
    amount = sum(member.amount for member in members)
    counted = [member.iterations for member in members if member.iterations is not None]
    ways: Any = list(dict.fromkeys(way for member in members for way in member.ways))
    if not amount and not counted:
        return None
    share = min(amount / whole, 1.0) if whole else 0.0
    return r.Weight(
        amount=round(amount, 3),
        share=round(share, 9),
        saved=round(share * headroom, 9),
        iterations=round(sum(counted), 3) if counted else None,
        by=ways,
    )


def _whence(seen: Seen) -> r.Whence:
    unit = seen.unit
    return r.Whence(
        report=seen.report,
        source=unit.source or unit.assembly_file,
        folder=unit.folder,
        output=unit.output,
        kernel_id=seen.kernel.kernel_id,
    )


def _number_variants(rows: _Rows) -> int:
    """Say of each row how many there are that do the same work of its loop of the source; returns how many loops there
    are."""
    loops: dict[tuple[int, bool], list[r.Row]] = defaultdict(list)
    for row, members in rows:
        for loop in dict.fromkeys((member.loop, member.seen.in_reach) for member in members):
            loops[loop].append(row)
    for some in loops.values():
        for row in some:
            row.variants = max(row.variants, len(some))
    return len({loop for loop, _ in loops})


# --- order ------------------------------------------------------------------------------------------------------------


def _order(sort: str, hot: bool) -> Callable[[tuple[r.Row, list[_Member]]], Any]:
    def key(item: tuple[r.Row, list[_Member]]) -> Any:
        row = item[0]
        weight = row.weight
        share = weight.share if weight else -1.0
        # Where nothing says what runs, a remainder runs less than its loop, and advice is worth more than none.
        worth = (
            (-(share if _is_open(row) else weight.saved if weight else -1.0), -share)
            if hot
            else (row.role in OUT_OF_REACH, not row.look, -row.headroom.share)
        )
        last = (*worth, -row.cycles, _place(row), row.name, row.content_hash)
        match sort:
            case "weight":
                return (-share, *last)
            case "headroom":
                return (-row.headroom.share, *last)
            case "cycles":
                return (-row.cycles, *last)
            case "place":
                return (_place(row), *last)
            case "name":
                return (row.name, *last)
            case _:
                return last

    return key


_OPEN = frozenset(("scalar-arithmetic", "not-optimised", "instruction-set", "vector-width", "math-errno", "math-call"))
"""Rules of hints to make other code of a loop, what no change of the core says anything of."""


def _is_open(row: r.Row) -> bool:
    """Whether it is not known how much of its time following its hints would save: it may be nearly all."""
    return row.headroom.by != "trial" and not _OPEN.isdisjoint(row.rules)


def _place(row: r.Row) -> tuple[str, int]:
    place = row.source or row.assembly
    return place.file, place.line


# --- groups -----------------------------------------------------------------------------------------------------------


def _groups(rows: _Rows, by: str, hot: bool) -> list[r.Group]:
    """Rows with something in common; those with several hints are in several groups."""
    found: dict[str, list[int]] = defaultdict(list)
    for n, (row, _) in enumerate(rows):
        for key in _keys(row, by):
            found[key].append(n)
    groups: list[r.Group] = []
    for key, numbers in found.items():
        some = [rows[n] for n in numbers]
        weights = [row.weight for row, _ in some if row.weight]
        weight = min(sum(w.share for w in weights), 1.0) if hot else None
        saved = min(sum(w.saved for w in weights), 1.0) if hot else None
        headroom = max(row.headroom.share for row, _ in some)
        groups.append(
            r.Group(
                key=key,
                rows=len(some),
                loops=len({member.loop for _, members in some for member in members}),
                headroom=round(saved / weight if weight and saved is not None else headroom, 6),
                weight=None if weight is None else round(weight, 9),
                saved=None if saved is None else round(saved, 9),
                first=numbers[0],
            )
        )
    # Rows are in order already: groups in that of what they have, or of their first ones.
    groups.sort(key=lambda g: (-(g.saved or 0.0), -(g.weight or 0.0)) if hot else (-g.rows,))
    return groups


def _keys(row: r.Row, by: str) -> list[str]:
    match by:
        case "file":
            return [_place(row)[0]]
        case "function":
            return [row.name]
        case "bottleneck":
            words = {"loop_carried": "dependencies", "front_end": "front end", "retire": "retirement", "port": "ports"}
            limits = [words.get(name, name) for name in row.limited_by]
            return [" and ".join(limits) or "none of the bounds alone"]
        case _:
            return list(dict.fromkeys(row.rules)) or ["no hint"]


# --- conditions -------------------------------------------------------------------------------------------------------


def _values(seen: Seen, row: r.Row) -> Mapping[str, Value]:
    """What names stand for in a kernel."""
    weight = row.weight
    return {
        **seen.values,
        "headroom": row.headroom.share,
        "hot": weight is not None and weight.amount > 0,
        "weight": weight.share if weight else None,
        "saved": weight.saved if weight else None,
        "iterations": weight.iterations if weight else None,
        "copies": float(row.copies),
        "variants": float(row.variants),
    }


def _gate(threshold: Threshold, rows: _Rows) -> r.Gate:
    condition = threshold.condition
    offenders: list[r.Offender] = []
    for n, (row, members) in enumerate(rows):
        held = next((m for m in members if condition.holds(_values(m.seen, row))), None)
        if held is not None:
            values = _values(held.seen, row)
            said = ", ".join(f"{name} {_said(values[name])}" for name in sorted(condition.names))
            place, line = _place(row)
            where = f"{place}:{line}" if line else place
            offenders.append(r.Offender(row=n, text=f"{where}: {row.name}: {said}" if said else f"{where}: {row.name}"))
    return r.Gate(
        condition=condition.text,
        fails=threshold.fails,
        origin=threshold.origin,
        offenders=offenders,
    )


def _said(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.0f}"
    return "not known" if value is None else repr(value)
