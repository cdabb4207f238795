"""The text of the report on a run of a program with probes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from incc.report.runs import LoopRun, RunReport
from incc.report.wording import counted
from incc.views.layout import BOLD, Layout, harmless
from incc.views.table import Table, number_column, row, text_column, text_lines

DETAILED = 0.02
"""The share of the time from which on a loop's cycles are explained in lines of their own."""

_PARTS = {
    "places": "places of arrays",
    "entry": "exit",
    "data": "data beyond L1",
}


def lines(report: RunReport, layout: Layout, top: int) -> Iterator[str]:
    """Yield the text: a table of the loops, and what explains the cycles of those that took longest.

    Args:
        report: the report.
        layout: the width and the colours.
        top: the most loops.
    """
    yield from _header(report, layout)
    if report.loops:
        yield ""
        yield from text_lines(_table(report, top), layout)
        if len(report.loops) > top:
            yield f"and {counted(len(report.loops) - top, 'loop')} more; --top={len(report.loops)} shows all"
    for loop in report.loops[:top]:
        if loop.cycles is not None and loop.predicted is not None and (loop.share or 0) >= DETAILED:
            yield ""
            yield from _details(loop, layout)
    for note in report.notes:
        yield from _wrapped(f"note: {note}", layout)


def _header(report: RunReport, layout: Layout) -> Iterator[str]:
    if report.command:
        yield layout.paint(harmless(" ".join(report.command), False), BOLD)
    facts = []
    if report.processes:
        facts.append(f"{counted(report.processes, 'process', 'processes')} with probes")
    if report.unfinished:
        facts.append(f"{report.unfinished} of them killed or still running")
    if report.seconds:
        facts.append(f"{report.seconds:.3g} s of processor time at {report.clock_ghz:.2f} GHz")
    if report.unsampled_cost:
        facts.append(
            f"an entry costs {report.unsampled_cost:.1f} cycles, as a sample {report.sampled_cost:.0f} (subtracted)"
        )
    if facts:
        yield from _wrapped("; ".join(facts), layout)
    if report.without_probes:
        yield from _wrapped(f"{counted(len(report.without_probes), 'loop')} without probes (--json lists them)", layout)


def _table(report: RunReport, top: int) -> Table:
    columns = [
        number_column("share"),
        text_column("loop", "", 40, 16, priority=2),
        text_column("place", "", 24, 12, priority=1, keep_end=True),
        number_column("entries"),
        number_column("iterations"),
        number_column("cycles/entry"),
        number_column("/iteration"),
        number_column("predicted"),
        text_column("largest part", "", 24, 10, priority=0, optional=True),
    ]
    return Table(columns, [row(*_cells(loop)) for loop in report.loops[:top]])


def _cells(loop: LoopRun) -> Iterator[str]:
    yield f"{loop.share:.1%}" if loop.share is not None else ""
    yield f"{loop.function_name}/{loop.kernel_id.rpartition('/')[2]}"
    yield _place(loop)
    yield f"{loop.entries:,}"
    yield f"{loop.iterations / loop.entries:,.4g}{'*' if loop.counted else ''}"
    yield f"{loop.cycles * loop.iterations / loop.entries:,.0f}" if loop.cycles is not None else ""
    yield _cycles(loop)
    yield f"{loop.predicted:.2f}" if loop.predicted is not None else ""
    part = loop.parts[0] if loop.parts else None
    if part and (loop.unexplained is None or abs(part.cycles) >= abs(loop.unexplained)):
        yield f"{_PARTS[part.kind]} {part.cycles:+.2f}"
    elif loop.calls:
        yield f"calls {loop.calls[0]}"
    elif loop.unexplained is not None:
        yield f"unexplained {loop.unexplained:+.2f}"
    else:
        yield ""


def _cycles(loop: LoopRun) -> str:
    if loop.cycles is None:
        return ""
    return f"{loop.cycles:.2f}" + (f" ± {loop.cycles_error:.2f}" if loop.cycles_error >= 0.005 else "")


def _place(loop: LoopRun) -> str:
    return f"{loop.source.file}:{loop.source.line}" if loop.source else loop.unit


def _details(loop: LoopRun, layout: Layout) -> Iterator[str]:
    assert loop.cycles is not None
    assert loop.predicted is not None
    name = f"{loop.function_name}/{loop.kernel_id.rpartition('/')[2]}"
    yield layout.paint(f"{name} ({_place(loop)})", BOLD)
    yield f"  {loop.predicted:8.2f}  predicted for {loop.core}: endless iterations, data in L1"
    for part in loop.parts:
        yield f"  {part.cycles:+8.2f}  {_PARTS[part.kind]}: {part.text}"
    if loop.unexplained is not None:
        called = f" and calls of {', '.join(loop.calls[:3])}" if loop.calls else ""
        yield f"  {loop.unexplained:+8.2f}  unexplained{called}"
    yield f"  {loop.cycles:8.2f}  measured cycles per iteration"
    yield from _wrapped(f"{loop.verdict[:1].upper()}{loop.verdict[1:]}.", layout, "  ")
    for cause in loop.possible:
        yield from _wrapped(f"Possible: {cause}.", layout, "  ")
    for note in _notes(loop):
        yield from _wrapped(note, layout, "  ")


def _notes(loop: LoopRun) -> Iterator[str]:
    if loop.at_least:
        yield "The prediction is a lower bound: some of the loop's work is not counted."
    if loop.counted:
        yield "The loop counts its iterations itself (*), which slows it down: no register tells their number."
    if loop.lost:
        yield (
            f"{loop.lost:,} of {loop.lost + loop.samples:,} samples have no exit: an exception, longjmp, or an inner "
            "call of the function."
        )
    yield from loop.notes


def _wrapped(text: str, layout: Layout, indent: str = "") -> Iterator[str]:
    yield from textwrap.wrap(
        harmless(text, False), layout.width or 100, initial_indent=indent, subsequent_indent=indent,
        break_on_hyphens=False,
    )  # fmt: skip
