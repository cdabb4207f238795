"""The statistics of the hardware units: dispatch, schedulers, retirement and register files."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor
from typing import Any

from incc.report import types as t
from incc.views.llvm_mca.columns import padded, percent, share
from incc.views.llvm_mca.requested import Views

_STALLS = (
    ("RAT", "Register unavailable", "registers"),
    ("RCU", "Retire tokens unavailable", "reorder_buffer"),
    ("SCHEDQ", "Scheduler full", "scheduler"),
    ("LQ", "Load queue full", "load_buffer"),
    ("SQ", "Store queue full", "store_buffer"),
    ("GROUP", "Static restrictions on the dispatch group", "group"),
    ("USH", "Uncategorised Structural Hazard", "other"),
)


def stalls(kernel: t.KernelReport) -> dict[str, int]:
    """Return the cycles in which dispatch stalled, by cause: the dispatch statistics of JSON, without a histogram."""
    run: Any = kernel.cold
    return {short: getattr(run.stalls, cause) for short, _, cause in _STALLS}


def dispatch(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the stalled cycles by cause, then the histogram of the µops that were dispatched per cycle."""
    run: Any = kernel.cold
    cycles = run.cycles
    yield "Dynamic Dispatch Stall Cycles:"
    for (short, name, _), count in zip(_STALLS, stalls(kernel).values(), strict=True):
        yield f"{short:<7} - {name + ':':<42} {count}" + (f"  ({percent(count, cycles)}%)" if count else "")
    yield ""
    yield ""
    yield "Dispatch Logic - number of cycles where we saw N micro opcodes dispatched:"
    yield "[# dispatched], [# cycles]"
    for each in run.dispatched:
        yield f" {each.count},              {each.cycles}  ({percent(each.cycles, cycles)}%)"


def schedulers(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the histogram of the µops that were issued per cycle, then a row for each scheduler of limited size."""
    run: Any = kernel.cold
    yield "Schedulers - number of cycles where we saw N micro opcodes issued:"
    yield "[# issued], [# cycles]"
    for each in run.issued:
        yield f" {each.count},          {each.cycles}  ({share(each.cycles, run.cycles):.1f}%)"
    yield ""
    yield "Scheduler's queue usage:"
    if not any(scheduler.most for scheduler in run.schedulers):
        yield "No scheduler resources used."
        return
    yield "[1] Resource name."
    yield "[2] Average number of used buffer entries."
    yield "[3] Maximum number of used buffer entries."
    yield "[4] Total number of buffer entries."
    yield ""
    yield " [1]            [2]        [3]        [4]"
    for scheduler in run.schedulers:
        if scheduler.entries:
            # llvm-mca rounds to tenths before it cuts the fraction off: 8.96 becomes 9.
            average = floor(floor(scheduler.average * 10 + 0.5) / 10)
            row = padded(padded(scheduler.name, 17) + str(average), 28) + str(scheduler.most)
            yield padded(row, 39) + str(scheduler.entries)


def retirement(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the histogram of the instructions that retired per cycle, and the use of the reorder buffer."""
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


def registers(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield how many physical registers were in use, in total and in each file of limited size."""
    run: Any = kernel.cold
    total, *files = run.registers
    yield "Register File statistics:"
    yield f"Total number of mappings created:    {total.mappings}"
    yield f"Max number of mappings used:         {total.most}"
    for number, file in enumerate(files, 1):
        if not file.entries:
            continue
        yield ""
        yield f"*  Register File #{number} -- {file.name}:"
        yield f"   Number of physical registers:     {file.entries}"
        yield f"   Total number of mappings created: {file.mappings}"
        yield f"   Max number of mappings used:      {file.most}"
        moves = file.moves
        candidates = moves.candidates
        if candidates:
            eliminated, zero = moves.eliminated, moves.zero
            yield f"   Number of optimizable moves:      {candidates}"
            yield f"   Number of moves eliminated:       {eliminated}  ({percent(eliminated, candidates)}%)"
            yield f"   Number of zero moves:             {zero}  ({percent(zero, candidates)}%)"
            yield f"   Max moves eliminated per cycle:   {moves.most}"
