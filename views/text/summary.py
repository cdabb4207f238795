"""llvm-mca's summary, the bounds, the simulation of changed cores, and the counters of the simulation."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.report.phrases import EXITS, LOST_SLOTS
from incc.report.types import BoundName
from incc.views.layout import BOLD, Layout, cycles, percent
from incc.views.text import what_if


def lines(unit: t.UnitReport, kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the summary, and everything in cycles per iteration."""
    yield from _summary(kernel)
    yield ""
    yield from _bounds(kernel, layout)


def _summary(kernel: t.KernelReport) -> Iterator[str]:
    summary = kernel.summary
    yield f"Iterations:        {summary.iterations}"
    yield f"Instructions:      {summary.instructions}"
    yield f"Total Cycles:      {summary.cycles}"
    yield f"Total uOps:        {summary.uops}"
    yield ""
    yield f"Dispatch Width:    {summary.dispatch_width}"
    yield f"uOps Per Cycle:    {summary.uops_per_cycle:.2f}"
    yield f"IPC:               {summary.ipc:.2f}"
    # llvm-mca's one decimal would show 2.25 as 2.2
    yield f"Block RThroughput: {summary.block_rthroughput:.2f}"


_BOUNDS: dict[BoundName, str] = {
    "port": "Ports",
    "divider": "Divider",
    "front_end": "Front end",
    "retire": "Retirement",
    "loop_carried": "Loop-carried",
}


def _bounds(kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    bounds = kernel.bounds
    prediction = bounds.prediction
    yield "Bounds in cycles per iteration:"
    for name, title in _BOUNDS.items():
        bound = bounds.of(name)
        row = f"  {title:<13} {cycles(bound.cycles):>8}  "
        limits = name in prediction.limited_by
        yield from layout.wrap(bound.by, row, " " * len(row), BOLD if limits else "")
    by = "simulated" if prediction.by == "simulation" else "the largest of these bounds"
    if kernel.at_least:
        by += "; a lower bound"
    yield f"  {'Prediction':<13} {cycles(prediction.cycles):>8}  {by}"
    yield from _measured(kernel, layout)
    path = kernel.critical_path
    yield f"  {'Critical path':<13} {cycles(path.cycles):>8}  latency of one iteration on its own"
    if kernel.simulated:
        yield ""
        if "what-if" not in layout.views:
            yield from what_if.changes(kernel, layout)
            yield ""
        yield from _counters(kernel.simulated, layout)
        yield from what_if.places(kernel, True)


def _measured(kernel: t.KernelReport, layout: Layout) -> Iterator[str]:
    """Yield the row of the measurement, or the reason why it failed."""
    measured = kernel.measured
    if measured is None:
        return
    row = f"  {'Measured':<13} {'-' if measured.cycles is None else cycles(measured.cycles):>8}  "
    text = f"on {measured.core or 'this processor'}"
    if measured.cycles is None:
        text = f"{measured.failure} (above)"
    elif measured.exit:
        text += f", ± {cycles(measured.spread or 0)}, {EXITS[measured.exit]}"
    yield from layout.wrap(text, row, " " * len(row))


_SOURCES: dict[str, str] = {
    "loop_stream_detector": "the loop stream detector",
    "uop_cache": "the µop cache",
    "decoders": "the decoders",
    "microcode": "the microcode sequencer",
}


def _counters(simulated: t.SimulationReport, layout: Layout) -> Iterator[str]:
    """Yield the sources of µops, and the use of issue slots."""
    uops = [f"{percent(s)} from {title}" for name, title in _SOURCES.items() if (s := getattr(simulated.uops, name))]
    yield from layout.wrap(f"µops: {', '.join(uops)}", indent="  ")
    shares = simulated.lost_slots
    lost = [(share, title) for name, title in LOST_SLOTS.items() if (share := getattr(shares, name)) >= 0.005]
    causes = [f"{percent(share)} empty because {title}" for share, title in sorted(lost, reverse=True)]
    used = percent(1 - sum(getattr(shares, name) for name in LOST_SLOTS))
    yield from layout.wrap(f"Issue slots: {', '.join([f'{used} used', *causes])}", indent="  ")
    if simulated.moves.executed:
        yield f"Moves that the renamer can eliminate: {percent(simulated.moves.executed)} were executed"
