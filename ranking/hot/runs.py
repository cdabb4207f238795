"""Reports on runs of programs with probes as profiles: the cycles of their loops."""

from __future__ import annotations

from collections.abc import Iterable

from incc.ranking.hot.records import SAMPLES, Profile, Sample
from incc.report.runs import LoopRun, RunReport


def profile_of_run(path: str, report: RunReport) -> Profile:
    """Return a report on a run as a profile, with the time in other code if that is known."""
    samples = [
        Sample(
            symbol=loop.kernel_id.rpartition("/")[0],
            amount=_own_cycles(loop, report.loops),
            kernel=loop.kernel_id,
            source=loop.unit,
        )
        for loop in report.loops
        if loop.cycles is not None
    ]
    whole = 0.0 if report.unfinished else report.seconds * report.clock_ghz * 1e9
    return Profile(
        path=path,
        kind="incc-run",
        unit=SAMPLES,
        samples=tuple(samples),
        runs=report.loops,
        elsewhere=max(whole - sum(sample.amount for sample in samples), 0.0),
        notes=report.notes,
    )


def _own_cycles(loop: LoopRun, loops: Iterable[LoopRun]) -> float:
    """Return the cycles of a loop, at least the predicted ones, without those of loops in functions that it calls."""
    measured = _cycles(loop)
    called = sum(_cycles(each) for each in loops if each.function_name in loop.calls)
    return max(measured - called, min(measured, (loop.predicted or 0.0) * loop.iterations))


def _cycles(loop: LoopRun) -> float:
    return (loop.cycles or 0.0) * loop.iterations
