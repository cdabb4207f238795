"""Scheduler statistics: how many µops were issued in how many cycles, and how full the schedulers were."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from incc.views.llvm_mca.columns import padded, share
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """The histogram, and a row for each scheduler."""
    run = statistics(kernel)
    if run is None:
        return
    yield ""
    yield ""
    yield "Schedulers - number of cycles where we saw N micro opcodes issued:"
    yield "[# issued], [# cycles]"
    for each in run["issued"]:
        yield f" {each['count']},          {each['cycles']}  ({share(each['cycles'], run['cycles']):.1f}%)"
    yield ""
    yield "Scheduler's queue usage:"
    if not any(scheduler["most"] for scheduler in run["schedulers"]):
        yield "No scheduler resources used."
        return
    yield "[1] Resource name."
    yield "[2] Average number of used buffer entries."
    yield "[3] Maximum number of used buffer entries."
    yield "[4] Total number of buffer entries."
    yield ""
    yield " [1]            [2]        [3]        [4]"
    for scheduler in run["schedulers"]:
        if not scheduler["entries"]:  # as many as there may be
            continue
        # To tenths first, then cut: 8.96 is 9.
        average = floor(floor(scheduler["average"] * 10 + 0.5) / 10)
        row = padded(scheduler["name"], 17) + str(average)
        row = padded(row, 28) + str(scheduler["most"])
        yield padded(row, 39) + str(scheduler["entries"])
