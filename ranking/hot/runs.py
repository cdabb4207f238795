"""Reader of `incc-run --json`: cycles of the loops of a program with probes."""

from __future__ import annotations

from typing import Any

import msgspec

from incc.ranking.hot.records import SAMPLES, HotError, Sample, Told
from incc.report.runs import RunReport


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
                        amount=loop.cycles * loop.iterations,
                        kernel=loop.kernel_id,
                        source=loop.unit,
                    )
                )
    return Told(path=path, kind="incc-run", unit=SAMPLES, samples=tuple(samples))
