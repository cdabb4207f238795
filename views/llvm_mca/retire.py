"""The retire statistics: how many instructions retired per cycle, and how full the reorder buffer was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import percent, share

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.requested import Views


def lines(kernel: t.Kernel, views: Views) -> Iterator[str]:
    """Yield the histogram and the use of the buffer."""
    run: Any = kernel.cold
    yield "Retire Control Unit - number of cycles where we saw N instructions retired:"
    yield "[# retired], [# cycles]"
    for each in run.retired:
        # Unlike in the other histograms, a count of two digits does not move the second column.
        count = f"{each.count},"
        yield f" {count:<3}          {each.cycles}  ({share(each.cycles, run.cycles):.1f}%)"
    entries, most = run.reorder_buffer.entries, run.reorder_buffer.most
    average = int(run.reorder_buffer.average)
    yield ""
    yield f"Total ROB Entries:                {entries}"
    yield f"Max Used ROB Entries:             {most}  ( {percent(most, entries)}% )"
    yield f"Average Used ROB Entries per cy:  {average}  ( {percent(average, entries)}% )"
