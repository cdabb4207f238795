"""From the profiles of processes to the report on a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelResult
from incc.core.ways import Ways
from incc.report import types as t
from incc.report.runs import LoopRun, RunReport, TripCount
from incc.report.source.demangle import demangle
from incc.running.explain import explain, way_shares
from incc.running.profile import LoopProfile, ProgramProfile, Trips
from incc.running.strides import seen_accesses, with_strides
from incc.running.units import StoredUnit


class AnalysedLoop(msgspec.Struct, frozen=True):
    """A loop that was analysed."""

    result: KernelResult
    report: t.KernelReport
    core: str
    ways: Ways | None = None
    """The ways through a loop with branches inside."""


LoopKey = tuple[str, str]
"""The key of a unit and the identity of a loop in it."""


def merged(profiles: Iterable[ProgramProfile]) -> dict[LoopKey, LoopProfile]:
    """Return the profiles of loops over all processes."""
    loops: dict[LoopKey, LoopProfile] = {}
    for program in profiles:
        for loop in program.loops:
            key = loop.loop.unit, loop.loop.kernel
            loops[key] = _sum(loops[key], loop) if key in loops else loop
    return loops


def _sum(one: LoopProfile, other: LoopProfile) -> LoopProfile:
    trips: dict[tuple[int, int], Trips] = {}
    for each in (*one.trips, *other.trips):
        key = each.least, each.most
        before = trips.get(key)
        trips[key] = (
            each
            if before is None
            else Trips(
                least=each.least,
                most=each.most,
                entries=before.entries + each.entries,
                iterations=before.iterations + each.iterations,
                ticks=before.ticks + each.ticks,
            )
        )
    return LoopProfile(
        loop=one.loop,
        module=one.module,
        entries=one.entries + other.entries,
        samples=one.samples + other.samples,
        lost=one.lost + other.lost,
        nested=(one.nested * one.entries + other.nested * other.entries) / ((one.entries + other.entries) or 1),
        disturbed=one.disturbed + other.disturbed,
        iterations=one.iterations + other.iterations,
        iterations_error=(one.iterations_error**2 + other.iterations_error**2) ** 0.5,
        ticks=one.ticks + other.ticks,
        ticks_error=(one.ticks_error**2 + other.ticks_error**2) ** 0.5,
        done_ticks=one.done_ticks + other.done_ticks if one.done_ticks and other.done_ticks else 0.0,
        faults=one.faults + other.faults,
        fault_ticks=one.fault_ticks + other.fault_ticks,
        sides={line: passes + other.sides.get(line, 0.0) for line, passes in one.sides.items()},
        trips=tuple(trips[key] for key in sorted(trips)),
        examples=(*one.examples, *other.examples),
    )


def run_report(
    profiles: Sequence[ProgramProfile],
    analysed: Mapping[LoopKey, AnalysedLoop],
    units: Mapping[str, StoredUnit],
    command: Sequence[str] = (),
    status: int | None = None,
    notes: Sequence[str] = (),
) -> RunReport:
    """Return the report on a run.

    Args:
        profiles: what its processes recorded.
        analysed: the loops that were analysed.
        units: the units of the programs, by their keys.
        command: the command that was run.
        status: its exit status.
        notes: further notes.
    """
    loops = merged(profiles)
    complete = [p for p in profiles if p.is_complete]
    rates = [p.cycles_per_tick for p in profiles if p.cycles_per_tick]
    rate = sum(rates) / len(rates) if rates else 0.0
    total = sum(p.ticks for p in profiles) if len(complete) == len(profiles) else 0
    seconds = sum(p.seconds for p in complete)
    ticks = sum(p.ticks for p in complete)
    runs = [
        _loop_run(loop, analysed.get(key), units.get(key[0]), tuple(_others(key, loops, analysed, total)), rate, total)
        for key, loop in loops.items()
    ]
    readable = demangle(name for run in runs for name in (run.function_name, *run.calls))
    runs = [
        replace(
            run,
            function_name=readable.get(run.function_name, run.function_name),
            calls=tuple(readable.get(name, name) for name in run.calls),
        )
        for run in runs
    ]
    skipped = [
        f"{unit.source or 'assembly'}: {each.kernel}: {each.reason}" for unit in units.values() for each in unit.skipped
    ]
    return RunReport(
        command=tuple(command),
        status=status,
        processes=len(profiles),
        unfinished=len(profiles) - len(complete),
        seconds=seconds,
        clock_ghz=rate * ticks / seconds / 1e9 if seconds else 0.0,
        unsampled_cost=_mean(p.unsampled_cost * p.cycles_per_tick for p in profiles),
        sampled_cost=_mean(p.sampled_cost * p.cycles_per_tick for p in profiles),
        loops=tuple(sorted(runs, key=lambda run: -(run.cycles or 0) * run.iterations)),
        without_probes=tuple(skipped),
        notes=tuple(notes),
    )


def _mean(values: Iterable[float]) -> float:
    numbers = list(values)
    return sum(numbers) / len(numbers) if numbers else 0.0


def _others(
    key: LoopKey, loops: Mapping[LoopKey, LoopProfile], analysed: Mapping[LoopKey, AnalysedLoop], total: int
) -> Iterable[str]:
    """Yield the remainders, prologues and fallbacks of a main loop that ran."""
    whole = loops[key].iterations
    for other, each in analysed.items():
        role = each.report.role
        if other[0] != key[0] or role.of != key[1] or role.name not in ("remainder", "prologue", "fallback"):
            continue
        loop = loops[other]
        share = f", {loop.ticks / total:.1%} of the time" if total else ""
        of_main = f"{loop.iterations / whole:.2g} times as many iterations" if whole else "iterations"
        yield f"{role.name} {other[1].rpartition('/')[2]}: {of_main}{share}"


def _loop_run(
    profile: LoopProfile,
    analysed: AnalysedLoop | None,
    unit: StoredUnit | None,
    others: tuple[str, ...],
    rate: float,
    total: int,
) -> LoopRun:
    measured = profile.ticks * rate / profile.iterations if profile.iterations and rate else None
    run = LoopRun(
        kernel_id=profile.loop.kernel,
        function_name=profile.loop.kernel.partition("/")[0],
        unit=unit.source if unit else "",
        module=profile.module,
        share=profile.ticks / total if total else None,
        entries=profile.entries,
        samples=profile.samples,
        lost=profile.lost,
        nested=profile.nested,
        disturbed=profile.disturbed,
        counted=profile.loop.counted,
        iterations=profile.iterations,
        iterations_error=profile.iterations_error,
        cycles=measured,
        cycles_error=_error(profile, measured),
        cycles_done=measured and max(measured, profile.done_ticks * rate / profile.iterations)
        if profile.done_ticks
        else None,
        others=others,
        trips=tuple(
            TripCount(
                least=each.least,
                most=each.most,
                entries=each.entries,
                cycles=each.ticks * rate / (each.iterations or each.entries),
            )
            for each in profile.trips
        ),
    )
    return _with_analysis(run, profile, analysed) if analysed else run


def _with_analysis(run: LoopRun, profile: LoopProfile, analysed: AnalysedLoop) -> LoopRun:
    """Return a run of a loop with its prediction, and what explains the difference."""
    result, report = analysed.result, analysed.report
    is_short = _is_short(result, profile)
    run = replace(
        run,
        function_name=report.function_name,
        source=report.source,
        is_short=is_short,
        cycles_done=run.cycles_done if is_short else None,
        elements=report.elements.per_iteration if report.elements else None,
        predicted=float(result.cycles),
        core=analysed.core,
        at_least=report.at_least,
        possible=tuple(_possible(report, analysed.ways is not None and way_shares(analysed.ways, profile) is not None)),
        calls=tuple(_calls(result)),
        role=report.role.name if report.role.name != "main" else "",
        verdict=report.verdict,
    )
    strided, others = with_strides(result, profile.examples)
    accesses = seen_accesses(strided, report.elements.per_iteration if report.elements else None)
    run = replace(run, accesses=(*accesses, others) if accesses and others else tuple(accesses))
    if run.cycles is None:
        return run
    explanation = explain(result, strided, profile, run.cycles, analysed.ways)
    unexplained = explanation.unexplained
    if run.cycles_done is not None and unexplained < 0:
        # Nothing is unexplained between the end as the core reaches it and that of all work.
        unexplained = min(unexplained + run.cycles_done - run.cycles, 0.0)
    return replace(
        run,
        parts=explanation.parts,
        unexplained=unexplained,
        possible=(*explanation.possible, *run.possible),
        data_bytes=explanation.data_bytes,
        notes=explanation.notes,
    )


def _is_short(result: KernelResult, profile: LoopProfile) -> bool:
    """Return True if much of an entry is done while the core is at other code."""
    window = int(result.model.parameters["rob"] or 0)
    return len(result.kernel.instructions) * profile.iterations < 2 * window * profile.entries


def _possible(report: t.KernelReport, knows_ways: bool) -> Iterable[str]:
    """Yield the causes that may make a loop slower than predicted, as far as probes do not tell about them."""
    for cause in report.range.causes if report.range else ():
        if cause.kind == "branches" and knows_ways:
            continue
        if cause.kind == "branches":
            yield cause.when  # which has the cycles
        elif cause.kind in ("aliasing", "forwarding"):
            most = "more" if cause.most is None else f"{cause.most:.4g} cycles per iteration"
            yield f"{cause.when}: up to {most}"


def _calls(result: KernelResult) -> Iterable[str]:
    """Yield the functions that a loop calls."""
    named = (i.target or "?" for i in result.kernel.instructions if i.branch == "call")
    return dict.fromkeys(name.partition("@")[0] for name in named)


def longest(loops: Mapping[LoopKey, LoopProfile], most: int) -> set[LoopKey]:
    """Return the keys of the loops that took most time."""
    return set(sorted(loops, key=lambda key: -loops[key].ticks)[:most])


def _error(profile: LoopProfile, cycles: float | None) -> float:
    """Return the standard error of the cycles per iteration, a quotient of two sums over the same samples."""
    if not cycles or not profile.ticks:
        return 0.0
    ticks = profile.ticks_error / profile.ticks
    iterations = profile.iterations_error / profile.iterations
    # Entries with more iterations take longer, so that most of the two errors is the same.
    return cycles * abs(ticks - iterations) if iterations else cycles * ticks
