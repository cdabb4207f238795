"""Construction of a ranking: kernels merged, weighed and sorted, groups of them, and conditions."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import SourceLocation
from incc.ranking import types as r
from incc.ranking.hot.records import Profile
from incc.ranking.kernels import OUT_OF_REACH, RankedKernel, ReportPlace, expected, loops_of, projection_of, unweighted
from incc.ranking.read import ReadReports
from incc.report import types as t
from incc.report.parts.roofline import kernel_roofline
from incc.report.runs import LoopRun
from incc.report.source.demangle import choose_functions
from incc.report.source.places import assembly_is_kept
from incc.report.types import Tool
from incc.report.where import Condition, Value
from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.ranking.weigh import Weighed

RANKING_VERSION: Literal["1.0"] = "1.0"
"""The version of the schema of `types.Ranking`."""

MEMBERS = 20
"""The most kernels of a row that are listed one by one."""

SORTS = ("worth", "weight", "headroom", "projection", "cycles", "place", "name")
GROUPS = ("file", "function", "bottleneck", "hint")


_WAYS_WITH_LINES_BY_OPTION = ("assembler", "object")
"""Origins of code that has source lines only if the compilation had -g; not text given as it is."""


class Threshold(msgspec.Struct, frozen=True):
    """A condition to check."""

    condition: Condition
    fails: bool
    """True if a kernel for which it holds makes the run fail."""
    origin: str
    """The option or the project file that has the condition."""


class RankingRequest(msgspec.Struct, frozen=True, kw_only=True):
    """The settings of a ranking."""

    mcpu: frozenset[str] = frozenset()
    """Keeps only kernels that were analysed for one of these models; all if empty."""
    functions: tuple[str, ...] = ()
    """Keeps only kernels of functions that one of these globs matches; all if empty."""
    where: Condition | None = None
    """Keeps only kernels for which it holds."""
    sort: str = "worth"
    """One of SORTS."""
    by: Literal["file", "function", "bottleneck", "hint", ""] = ""
    """One of GROUPS; "" for no groups."""
    thresholds: tuple[Threshold, ...] = ()
    """The conditions to check."""
    copies: bool = False
    """Gives different codes of a loop of the source rows of their own."""
    stale: bool = False
    """Includes stale reports."""
    ceilings: Mapping[str, r.CoreCeilings] = {}
    """The ceilings of cores, by the names of their models, for the roofline; empty if it is not requested."""


class _Member(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel with its weight."""

    ranked: RankedKernel
    amount: float
    """The weight, in the unit of the profiles."""
    iterations: float | None
    """The iterations, if executions were counted."""
    ways: dict[str, None]
    """The ways in which the profiles located it."""
    run: LoopRun | None
    """The kernel as it ran in a program with probes."""
    loop: int
    """The number of its source loop."""


Complete = Callable[[Sequence[RankedKernel]], Mapping[tuple[ReportPlace, str, str], RankedKernel]]
"""Completes kernels; returns the complete ones by the places of their reports, their models and their kernel_ids."""


def rank(
    inputs: Sequence[str],
    build: ReadReports,
    profiles: Sequence[Profile],
    settings: RankingRequest,
    shown: int = 0,
    complete: Complete = lambda kernels: {},
) -> r.Ranking:
    """Return the ranking of the kernels of a build.

    The order does not depend on what only complete kernels have, unless it is by headroom.

    Args:
        inputs: The reports and folders as named on the command line.
        build: The reports that were read.
        profiles: The profiles that weigh the kernels, all of the same unit; empty for none.
        settings: The settings of the ranking.
        shown: The number of rows that are shown.
        complete: Completes the kernels whose figures these rows show.
    """
    weighed: Weighed | None = None
    if profiles:
        from incc.ranking.weigh import weigh

        weighed = weigh(build.kernels, profiles)
    numbers = loops_of(build.kernels)
    ranking, rows = _ranked(inputs, build, weighed, numbers, settings)
    waiting = [ranked for _, codes in rows[:shown] if (ranked := _first(codes[0][1]).ranked).kernel.incomplete]
    if not waiting:
        return ranking
    found = complete(waiting)
    kernels = [found.get((s.origin, s.unit.model.name, s.kernel.kernel_id), s) for s in build.kernels]
    return _ranked(inputs, replace(build, kernels=kernels), weighed, numbers, settings)[0]


def _ranked(
    inputs: Sequence[str], build: ReadReports, weighed: Weighed | None, numbers: Sequence[int], settings: RankingRequest
) -> tuple[r.Ranking, _Loops]:
    """Return a ranking, and its rows with those of their codes. `numbers`: the numbers of the kernels' source loops."""
    members = [
        _Member(
            ranked=ranked,
            amount=weighed.amounts[n] if weighed else 0.0,
            iterations=weighed.iterations[n] if weighed else None,
            ways=weighed.ways[n] if weighed else {},
            run=weighed.runs[n] if weighed else None,
            loop=loop,
        )
        for n, (ranked, loop) in enumerate(zip(build.kernels, numbers, strict=True))
    ]
    whole = weighed.hotness.total if weighed else 0.0
    codes = _rows(members, weighed is not None, whole)
    codes = _selected(codes, settings, weighed is not None, whole)
    loops = _number_variants(codes)
    order = _order(settings.sort, weighed is not None)
    codes.sort(key=lambda code: order(code[0]))
    rows = [(row, [(row, some)]) for row, some in codes] if settings.copies else _grouped(codes)
    rows.sort(key=lambda row: order(row[0]))
    if settings.ceilings:
        for row, some in rows:
            _set_roofline(row, _first(some[0][1]).ranked.kernel, settings.ceilings)
    shown = [row for row, _ in rows]
    kernels = [m.ranked for _, some in codes for m in some]
    ranking = r.Ranking(
        schema_version=RANKING_VERSION,
        tool=Tool(name="incc-report", version=__version__),
        inputs=list(inputs),
        totals=_totals(build, kernels, len(codes), loops),
        hotness=weighed.hotness if weighed else None,
        where=settings.where.text if settings.where else "",
        copies_apart=settings.copies,
        sort=settings.sort,
        ceilings=list(settings.ceilings.values()),
        rows=shown,
        by=settings.by,
        groups=_groups(rows, settings.by, weighed is not None) if settings.by else [],
        gates=[_gate(threshold, rows) for threshold in settings.thresholds],
        stale=sorted(build.stale, key=lambda s: s.report),
        stale_shown=settings.stale,
        unread=build.unread,
        notes=[*build.notes, *_without_projections(settings, shown)],
    )
    return ranking, rows


def _without_projections(settings: RankingRequest, rows: Sequence[r.RankingRow]) -> Iterator[str]:
    """Yield a note if rows are to be sorted by projections, and no report has any."""
    if settings.sort == "projection" and rows and not any(row.projection for row in rows):
        yield (
            "No projection saves anything, or the reports have none; builds have them with "
            "INCC_OPTIONS=--analyze-quality-view."
        )


def _selected(rows: _Rows, settings: RankingRequest, weighed: bool, whole: float) -> _Rows:
    """Return the rows of the cores, functions and kernels that the settings name."""
    if settings.mcpu:
        rows = [(row, some) for row, some in rows if row.model in settings.mcpu]
    if settings.functions:
        functions = choose_functions({row.function for row, _ in rows}, settings.functions)
        rows = [(row, some) for row, some in rows if row.function in functions]
    if (where := settings.where) is None:
        return rows
    matching = [(row, [m for m in some if where.holds(_values(m.ranked, row))]) for row, some in rows]
    return [
        (row if len(kept) == row.copies else _row(kept, weighed, whole, row), kept) for row, kept in matching if kept
    ]


def _totals(build: ReadReports, kernels: Sequence[RankedKernel], row_count: int, loops: int) -> r.RankingTotals:
    models = Counter(ranked.unit.model.name for ranked in kernels)
    return r.RankingTotals(
        reports=build.reports,
        units=build.units,
        kernels=len(kernels),
        rows=row_count,
        loops=loops,
        left_out=build.left_out,
        system_loops=build.system_loops,
        unknown=sum(len(ranked.kernel.unknown_instructions) for ranked in kernels),
        refused=sum(len(ranked.kernel.refused) for ranked in kernels),
        replaced=build.replaced,
        pending=build.pending,
        without_lines=sum(
            ranked.kernel.source is None and ranked.unit.way in _WAYS_WITH_LINES_BY_OPTION for ranked in kernels
        ),
        models=[name for name, _ in sorted(models.items(), key=lambda item: (-item[1], item[0]))],
    )


# --- rows -------------------------------------------------------------------------------------------------------------

_Rows = list[tuple["r.RankingRow", list[_Member]]]
_Loops = list[tuple["r.RankingRow", _Rows]]
"""Rows of loops of the source, each with those of its different codes."""


def _rows(members: Sequence[_Member], hot: bool, whole: float) -> _Rows:
    """Return a row for each different code of a function's name on a core."""
    merged: dict[tuple[str, str, str], list[_Member]] = defaultdict(list)
    for member in members:
        kernel = member.ranked.kernel
        name = kernel.function_name or kernel.function or kernel.name
        merged[kernel.content_hash, member.ranked.unit.model.name, name].append(member)
    return [(_row(some, hot, whole), some) for some in merged.values()]


def _row(members: Sequence[_Member], hot: bool, whole: float, like: r.RankingRow | None = None) -> r.RankingRow:
    first = _first(members)
    saving = max((m.ranked.saving for m in members), key=lambda s: (s.share, s.by != ""))
    ranked, kernel = first.ranked, first.ranked.kernel
    compared = [m.ranked.headroom for m in members if m is first or not m.ranked.kernel.incomplete]
    overview, spread, elements = kernel.overview, kernel.range, kernel.elements
    hints = kernel.hints
    ends = (spread.least, spread.most) if spread else (kernel.cycles, kernel.cycles)
    source = kernel.source
    is_kept = assembly_is_kept(ranked.unit.source, ranked.unit.assembly_file)
    place = SourceLocation(file=ranked.unit.assembly_file, line=kernel.first_line)
    instructions = ranked.code.instructions()
    if not is_kept or any(not instruction.line for instruction in instructions):
        place = SourceLocation(file=ranked.unit.source or ranked.unit.assembly_file, line=0)
    return r.RankingRow(
        name=overview.function or kernel.name,
        function=kernel.function,
        function_name=kernel.function_name,
        kernel_id=kernel.kernel_id,
        content_hash=kernel.content_hash,
        source=SourceLocation(file=ranked.path(source.file), line=source.line) if source else None,
        outer=SourceLocation(file=ranked.path(outer.file), line=outer.line) if (outer := kernel.outer) else None,
        assembly=place,
        label=kernel.label if place.line else _address(kernel),
        model=ranked.unit.model.name,
        role=kernel.role.name,
        depth=kernel.depth,
        cycles=kernel.cycles,
        at_least=kernel.at_least,
        least=ends[0],
        most=ends[1],
        cycles_per_element=elements.cycles if elements else None,
        elements=elements.per_iteration if elements else None,
        levels=[r.LevelCycles(each.name, each.cycles, each.least_cycles) for each in _beyond_l1(kernel)],
        limit=overview.limit,
        limited_by=list(kernel.bounds.prediction.limited_by),
        vector=overview.vector,
        look=overview.look,
        verdict=kernel.verdict,
        rules=[hint.rule for hint in hints],
        advice=[hint.text for hint in hints],
        flags=list(dict.fromkeys(flag for hint in hints for flag in hint.flags)),
        unknown=len(kernel.unknown_instructions),
        headroom=max(compared, key=lambda headroom: headroom.gained),
        spare=ranked.spare,
        saving=saving,
        projection=projection_of(kernel),
        weight=_weight(members, saving.share, whole) if hot else None,
        run=_longest_run(members),
        copies=len(members),
        variants=like.variants if like else 1,
        instructions=instructions,
        members=[_origin(member.ranked) for member in members[:MEMBERS]],
    )


def _first(members: Sequence[_Member]) -> _Member:
    """Return the kernel that a row shows: one that has a source line and runs."""
    return max(members, key=lambda m: (m.ranked.kernel.source is not None, m.amount))


def _longest_run(members: Sequence[_Member]) -> LoopRun | None:
    """Return the run of the kernel that took longest."""
    ran = [m for m in members if m.run is not None]
    return max(ran, key=lambda m: m.amount).run if ran else None


def _address(kernel: t.KernelReport) -> str:
    """Return the place of machine code, or of assembly that is not kept, relative to a symbol."""
    if not kernel.spans:
        return kernel.name
    first = kernel.spans[0]
    return f"{'' if first.symbol == kernel.function else first.symbol}+{first.offset:#x}"


def _beyond_l1(kernel: t.KernelReport) -> list[t.DataLevel]:
    return kernel.data.beyond_l1 if kernel.data else []


def _set_roofline(row: r.RankingRow, kernel: t.KernelReport, ceilings: Mapping[str, r.CoreCeilings]) -> None:
    """Set the points of a row, whose figures are those of a kernel."""
    if row.model in ceilings:
        row.roofline = kernel_roofline(kernel, ceilings[row.model].ceilings)
        row.flop_elements = kernel.arithmetic.flop_elements


def _weight(members: Sequence[_Member], saving: float, whole: float) -> r.Weight | None:
    amount = sum(member.amount for member in members)
    counted = [member.iterations for member in members if member.iterations is not None]
    ways: Any = list(dict.fromkeys(way for member in members for way in member.ways))
    if not amount and not counted:
        return None
    share = min(amount / whole, 1.0) if whole else 0.0
    return r.Weight(
        amount=round(amount, 3),
        share=round(share, 9),
        saved=round(share * saving, 9),
        iterations=round(sum(counted), 3) if counted else None,
        by=ways,
    )


def _origin(ranked: RankedKernel) -> r.KernelOrigin:
    unit = ranked.unit
    return r.KernelOrigin(
        report=ranked.report,
        source=unit.source or unit.assembly_file,
        folder=unit.folder,
        output=unit.output,
        kernel_id=ranked.kernel.kernel_id,
    )


def _grouped(codes: _Rows) -> _Loops:
    """Return a row for each loop of the source in each role, made of the rows of its codes. It shows the first code."""
    loops: dict[tuple[int, str], _Rows] = defaultdict(list)
    for row, members in codes:
        loops[members[0].loop, row.role].append((row, members))
    return [(_of_codes([row for row, _ in of_loop]), of_loop) for of_loop in loops.values()]


def _of_codes(codes: Sequence[r.RankingRow]) -> r.RankingRow:
    first = codes[0]
    if len(codes) == 1:
        return first
    return replace(
        first,
        weight=_sum([code.weight for code in codes if code.weight]),
        copies=sum(code.copies for code in codes),
        variants=len(codes),
        members=[member for code in codes for member in code.members][:MEMBERS],
    )


def _sum(weights: Sequence[r.Weight]) -> r.Weight | None:
    if not weights:
        return None
    iterations = [weight.iterations for weight in weights if weight.iterations is not None]
    return r.Weight(
        amount=round(sum(weight.amount for weight in weights), 3),
        share=min(round(sum(weight.share for weight in weights), 9), 1.0),
        saved=min(round(sum(weight.saved for weight in weights), 9), 1.0),
        iterations=sum(iterations) if iterations else None,
        by=list(dict.fromkeys(way for weight in weights for way in weight.by)),
    )


def _number_variants(rows: _Rows) -> int:
    """Set the number of variants of each row, which share its source loop; return the number of loops."""
    loops: dict[tuple[int, bool], list[r.RankingRow]] = defaultdict(list)
    for row, members in rows:
        for loop in dict.fromkeys((member.loop, member.ranked.in_reach) for member in members):
            loops[loop].append(row)
    for some in loops.values():
        for row in some:
            row.variants = max(row.variants, len(some))
    return len({loop for loop, _ in loops})


# --- order ------------------------------------------------------------------------------------------------------------


def _order(sort: str, hot: bool) -> Callable[[r.RankingRow], Any]:
    def key(row: r.RankingRow) -> Any:
        share = row.weight.share if row.weight else 0.0
        place = row.place.file, row.place.line
        worth = _worth(row, share) if hot else unweighted(row.role, row.saving, row.depth, row.spare)
        last = (*worth, -row.cycles, place, row.name, row.content_hash)
        match sort:
            case "weight":
                return (-share, *last)
            case "headroom":
                return (-row.headroom.share, *last)
            case "projection":
                saved = row.projection.share if row.projection else 0.0
                return (-saved * share if hot else (row.role in OUT_OF_REACH, -saved), *last)
            case "cycles":
                return (-row.cycles, *last)
            case "place":
                return (place, *last)
            case "name":
                return (row.name, *last)
            case _:
                return last

    return key


_MATTERS = 0.001
"""The share of the time from which on a saving matters more than what has no remedy."""


def _worth(row: r.RankingRow, share: float) -> tuple[float, ...]:
    """Return the order of a row with weights: by what its advice saves of the time, then by its time."""
    saved = share * expected(row.saving)
    return (-saved if saved >= _MATTERS else 0.0, -share)


# --- groups -----------------------------------------------------------------------------------------------------------


def _groups(rows: _Loops, by: str, hot: bool) -> list[r.RowGroup]:
    """Return groups of rows with something in common; a row with several hints is in several groups."""
    numbers_by_key: dict[str, list[int]] = defaultdict(list)
    for n, (row, _) in enumerate(rows):
        for key in _keys(row, by):
            numbers_by_key[key].append(n)
    groups: list[r.RowGroup] = []
    for key, numbers in numbers_by_key.items():
        some = [rows[n] for n in numbers]
        weights = [row.weight for row, _ in some if row.weight]
        weight = min(sum(w.share for w in weights), 1.0) if hot else None
        saved = min(sum(w.saved for w in weights), 1.0) if hot else None
        headroom = max(row.headroom.share for row, _ in some)
        groups.append(
            r.RowGroup(
                key=key,
                rows=len(some),
                loops=len({member.loop for _, codes in some for _, members in codes for member in members}),
                headroom=round(saved / weight if weight and saved is not None else headroom, 6),
                weight=None if weight is None else round(weight, 9),
                saved=None if saved is None else round(saved, 9),
                first=numbers[0],
            )
        )
    # Rows are sorted already; groups are sorted by what they save, or by their number of rows.
    groups.sort(key=lambda g: (-(g.saved or 0.0), -(g.weight or 0.0)) if hot else (-g.rows,))
    return groups


def _keys(row: r.RankingRow, by: str) -> list[str]:
    match by:
        case "file":
            return [row.place.file]
        case "function":
            return [row.name]
        case "bottleneck":
            words = {"loop_carried": "dependencies", "front_end": "front end", "retire": "retirement", "port": "ports"}
            limits = [words.get(name, name) for name in row.limited_by]
            return [" and ".join(limits) or "no single bound"]
        case _:
            return list(dict.fromkeys(row.rules)) or ["no hint"]


# --- conditions -------------------------------------------------------------------------------------------------------


def _values(ranked: RankedKernel, row: r.RankingRow) -> Mapping[str, Value]:
    """Return the values of names in a kernel."""
    weight, run = row.weight, row.run
    return {
        **ranked.values,
        **({"measured": run.cycles} if run else {}),
        "headroom": row.headroom.share,
        "hot": weight is not None and weight.amount > 0,
        "weight": weight.share if weight else None,
        "saved": weight.saved if weight else None,
        "iterations": run.iterations if run else weight.iterations if weight else None,
        "copies": float(row.copies),
        "variants": float(row.variants),
    }


def _gate(threshold: Threshold, rows: _Loops) -> r.RankingGate:
    condition = threshold.condition
    offenders: list[r.FailingRow] = []
    for n, (row, codes) in enumerate(rows):
        of_members = (_values(member.ranked, code) for code, members in codes for member in members)
        values = next((values for values in of_members if condition.holds(values)), None)
        if values is not None:
            figures = ", ".join(f"{name} {_value_text(values[name])}" for name in sorted(condition.names))
            file, line = row.place.file, row.place.line
            where = f"{file}:{line}" if line else f"{file} {row.label}"
            offenders.append(
                r.FailingRow(row=n, text=f"{where}: {row.name}: {figures}" if figures else f"{where}: {row.name}")
            )
    return r.RankingGate(condition=condition.text, fails=threshold.fails, origin=threshold.origin, offenders=offenders)


def _value_text(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return f"{value:.3g}" if abs(value) < 1e4 else f"{value:.0f}"
    return "unknown" if value is None else repr(value)
