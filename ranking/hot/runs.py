"""Reader of `incc-run --json`: cycles of the loops of a program with probes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from incc.ranking.hot.records import SAMPLES, HotError, Sample, Told
from incc.report.runs import LoopRun, RunReport


def incc_run(path: str, documents: list[Any]) -> Told:
    """Return the contents of reports on runs. Raises HotError."""
    samples = []
    for document in documents:
        try:
            report = msgspec.convert(document, RunReport)
        except msgspec.ValidationError as error:
            raise HotError(f"{path}: not a report of incc-run: {error}") from None
        for loop in report.loops:
            if loop.cycles is not None:
                samples.append(
                    Sample(
                        symbol=loop.kernel_id.rpartition("/")[0],
                        amount=_own_cycles(loop, report.loops),
                        kernel=loop.kernel_id,
                        source=loop.unit,
                    )
                )
    return Told(path=path, kind="incc-run", unit=SAMPLES, samples=tuple(samples))


def _own_cycles(loop: LoopRun, loops: Iterable[LoopRun]) -> float:
    """Return the cycles of a loop, at least the predicted ones, without those of loops in functions that it calls."""
    measured = _cycles(loop)
    called = sum(_cycles(each) for each in loops if each.function_name in loop.calls)
    return max(measured - called, min(measured, (loop.predicted or 0.0) * loop.iterations))


def _cycles(loop: LoopRun) -> float:
    return (loop.cycles or 0.0) * loop.iterations
