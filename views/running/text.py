"""The text of the report on a run of a program with probes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from incc.report.runs import LoopRun, RunReport
from incc.report.source.demangle import short_name
from incc.support.text import counted
from incc.views.layout import BOLD, Layout, harmless
from incc.views.table import Table, number_column, row, text_column, text_lines

DETAILED = 0.02
"""The share of the time from which on a loop's cycles are explained in lines of their own.

It is that of the time of all loops if the processes' is unknown.
"""

_LOST = 0.05
"""The share of samples without an exit from which on the overview says so."""

_APART = 1.05
"""The quotient of two ends of a range from which on both are shown."""

PARTS = {
    "places": "places of arrays",
    "aliasing": "4K aliasing",
    "entry": "entry and exit",
    "faults": "page faults",
    "sides": "sides of branches",
    "data": "data beyond L1",
}


def lines(report: RunReport, layout: Layout, top: int) -> Iterator[str]:
    """Yield the text: a table of the loops, and what explains the cycles of those that took longest.

    Args:
        report: the report.
        layout: the width and the colours.
        top: the most loops.
    """
    if report.command:
        yield layout.paint(harmless(" ".join(report.command), False), BOLD)
    for fact in header(report):
        yield from _wrapped(fact, layout)
    if report.loops:
        yield ""
        yield from text_lines(loop_table(report, top), layout)
        if len(report.loops) > top:
            yield f"and {counted(len(report.loops) - top, 'loop')} more; --top={len(report.loops)} shows all"
    in_loops = sum((loop.cycles or 0) * loop.iterations for loop in report.loops)
    for loop in report.loops[:top]:
        if loop.cycles is None or loop.predicted is None:
            continue
        # Processes that were killed do not tell their time.
        share = loop.cycles * loop.iterations / in_loops if loop.share is None and in_loops else loop.share
        if (share or 0) >= DETAILED:
            yield ""
            yield from _details(loop, layout)
    for note in report.notes:
        yield from _wrapped(f"note: {note}", layout)


def header(report: RunReport) -> Iterator[str]:
    """Yield sentences on the run."""
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
        yield "; ".join(facts)
    if report.without_probes:
        yield f"{counted(len(report.without_probes), 'loop')} without probes (--json lists them)"


def loop_table(report: RunReport, top: int) -> Table:
    """Return the table of the loops that took longest."""
    columns = [
        number_column("share", "Share of the processor time, with called functions"),
        text_column("loop", "Function, and the loop's number in it", 40, 16, priority=2),
        text_column("place", "Place in the source", 24, 12, priority=1, keep_end=True),
        number_column(
            "entries", "How often the loop was entered; ↻: also from within an entry, by recursion", spare=True
        ),
        number_column("iterations", "Mean iterations per entry; *: the loop counts them", spare=True),
        number_column("cycles/entry", "Mean core cycles from entry to exit", optional=True, priority=1, spare=True),
        number_column(
            "/iteration", "Mean core cycles per iteration; a range if entries overlap; ?: samples have no exit"
        ),
        number_column("predicted", "Cycles per iteration of endless iterations with data in L1"),
        text_column("largest part", "Largest part of the difference", 24, 10, priority=0, optional=True),
    ]
    return Table(columns, [row(*_cells(loop)) for loop in report.loops[:top]])


def _cells(loop: LoopRun) -> Iterator[str]:
    yield f"{loop.share:.1%}" if loop.share is not None else ""
    yield loop_name(loop)
    yield place_of(loop)
    yield f"{loop.entries:,}{'↻' if loop.nested else ''}"
    yield iterations(loop)
    yield f"{loop.cycles * loop.iterations / loop.entries:,.0f}" if loop.cycles is not None else ""
    yield measured(loop)
    yield f"{loop.predicted:.2f}" if loop.predicted is not None else ""
    part = loop.parts[0] if loop.parts else None
    if part and (loop.unexplained is None or abs(part.cycles) >= abs(loop.unexplained)):
        yield f"{PARTS[part.kind]} {part.cycles:+.2f}"
    elif loop.calls:
        yield f"calls {short_name(loop.calls[0])}"
    elif loop.unexplained is not None:
        yield f"unexplained {loop.unexplained:+.2f}"
    else:
        yield ""


def iterations(loop: LoopRun) -> str:
    """Return the mean iterations per entry, with `*` if the loop counts them."""
    return f"{mean_text(loop.iterations / loop.entries)}{'*' if loop.counted else ''}"


def mean_text(mean: float) -> str:
    """Return a mean number of iterations."""
    return f"{mean:,.0f}" if mean >= 1000 else f"{mean:.4g}"


def measured(loop: LoopRun) -> str:
    """Return the measured cycles per iteration with their error, and marks as in the table; "" if unknown."""
    if loop.cycles is None:
        return ""
    error = f" ± {loop.cycles_error:.2f}" if loop.cycles_error >= 0.005 else ""
    if is_range(loop):
        error = f"–{loop.cycles_done:.2f}"
    unsure = "~" if loop.is_short and loop.cycles_done is None else ""
    return f"{unsure}{loop.cycles:.2f}{error}{'?' if loop.lost > _LOST * loop.samples else ''}"


def is_range(loop: LoopRun) -> bool:
    """Return True if all work of an entry ends clearly later than the core reaches the end of the entry."""
    return loop.cycles is not None and loop.cycles_done is not None and loop.cycles_done > _APART * loop.cycles


def loop_name(loop: LoopRun) -> str:
    """Return the name of a loop for people: its function and its number there."""
    role = f" {loop.role}" if loop.role else ""
    return f"{short_name(loop.function_name)}/{loop.kernel_id.rpartition('/')[2]}{role}"


def place_of(loop: LoopRun) -> str:
    """Return a loop's place in the source."""
    return f"{loop.source.file}:{loop.source.line}" if loop.source else loop.unit


def _details(loop: LoopRun, layout: Layout) -> Iterator[str]:
    for line in _wrapped(f"{loop_name(loop)} ({place_of(loop)})", layout):
        yield layout.paint(line, BOLD)
    yield from step_lines(loop, layout, "  ")
    yield from _wrapped(f"{loop.verdict[:1].upper()}{loop.verdict[1:]}.", layout, "  ")
    for note in loop_notes(loop):
        yield from _wrapped(note, layout, "  ")


def step_lines(loop: LoopRun, layout: Layout, indent: str) -> Iterator[str]:
    """Yield the lines of the steps from the predicted cycles of a loop to the measured ones."""
    rows = list(steps(loop))
    width = max(8, *(len(number) for number, _ in rows))
    for number, text in rows:
        yield from _wrapped(text, layout, f"{indent}{number:>{width}}  ", " " * (len(indent) + width + 2))


def steps(loop: LoopRun) -> Iterator[tuple[str, str]]:
    """Yield cycles and their meaning: the predicted ones of an analysed loop, each part, and the measured ones."""
    assert loop.cycles is not None
    assert loop.predicted is not None
    yield f"{loop.predicted:.2f}", f"predicted for {loop.core}: endless iterations, data in L1"
    for part in loop.parts:
        yield f"{part.cycles:+.2f}", f"{PARTS[part.kind]}: {part.text}"
    if loop.unexplained is not None:
        called = f" and calls of {', '.join(map(short_name, loop.calls[:3]))}" if loop.calls else ""
        yield f"{loop.unexplained:+.2f}", f"unexplained{called}"
    if is_range(loop):
        ends = "until the core reaches the end of an entry, and until all its work has ended"
        yield f"{loop.cycles:.2f}–{loop.cycles_done:.2f}", f"measured cycles per iteration, {ends}"
    else:
        yield f"{loop.cycles:.2f}", "measured cycles per iteration"


def loop_notes(loop: LoopRun) -> Iterator[str]:
    """Yield other loops that ran, further causes, and notes."""
    for other in loop.others:
        yield f"Also ran: {other}."
    for cause in loop.possible:
        yield f"Possible: {cause}."
    yield from loop.accesses
    if loop.at_least:
        yield "The prediction is a lower bound: some of the loop's work is not counted."
    if loop.counted:
        yield "The loop counts its iterations itself (*), which slows it down: no value in it tells their number."
    if is_range(loop):
        yield "The core looks ahead beyond an entry, so that entries overlap: what one takes is within the range."
    elif loop.is_short and loop.cycles_done is None:
        yield "The measured cycles may be too low (~): the core looks ahead beyond an entry, so that entries overlap."
    if loop.lost:
        yield f"{loop.lost:,} of {loop.lost + loop.samples:,} samples have no exit (?): an exception, or longjmp."
    if loop.nested:
        yield (
            f"By recursion, entries contain {loop.nested:,.3g} others on average (↻). The cycles of an entry are "
            "shared equally with those that it contains."
        )
    yield from loop.notes


def _wrapped(text: str, layout: Layout, indent: str = "", hanging: str | None = None) -> Iterator[str]:
    yield from textwrap.wrap(
        harmless(text, False), layout.width or 100, initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging, break_on_hyphens=False,
    )  # fmt: skip
