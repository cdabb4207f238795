"""Retire statistics: how many instructions retired in how many cycles, and how full the reorder buffer was."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.views.llvm_mca.columns import rounded, share
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """The histogram, and the buffer's use."""
    run = statistics(kernel)
    if run is None:
        return
    yield ""
    yield ""
    yield "Retire Control Unit - number of cycles where we saw N instructions retired:"
    yield "[# retired], [# cycles]"
    for each in run["retired"]:
        # The one histogram whose second column stays in its place behind a count of two digits.
        count = f"{each['count']},"
        yield f" {count:<3}          {each['cycles']}  ({share(each['cycles'], run['cycles']):.1f}%)"
    buffer = run["reorder_buffer"]
    # Whole entries, and the share of those.
    average = int(buffer["average"])
    entries = buffer["entries"]
    yield ""
    yield f"Total ROB Entries:                {entries}"
    yield f"Max Used ROB Entries:             {buffer['most']}  ( {rounded(share(buffer['most'], entries), 1)}% )"
    yield f"Average Used ROB Entries per cy:  {average}  ( {rounded(share(average, entries), 1)}% )"
