"""The page of the report on a run of a program with probes."""

from __future__ import annotations

from collections.abc import Container, Iterator

import msgspec
from msgspec.structs import replace

from incc.report.runs import LoopRun, RunReport
from incc.report.source.demangle import short_name
from incc.views.html import templates
from incc.views.running.text import PARTS, header, is_range, loop_name, loop_notes, loop_table, place_of
from incc.views.table import Table, TableRow, select

_WIDTH = 560
"""Pixels of the longest bar."""


class Bar(msgspec.Struct, frozen=True):
    """A row of a drawing: a part of the cycles of a loop."""

    label: str
    cycles: str
    kind: str
    left: float
    """Pixels."""
    width: float
    text: str = ""


def page(report: RunReport) -> str:
    """Return a self-contained page."""
    detailed = {
        n: loop for n, loop in enumerate(report.loops) if loop.cycles is not None and loop.predicted is not None
    }
    return templates.render(
        "running/page.html.j2",
        title="incc-run",
        heading=" ".join(report.command) or "Profiles of programs with probes",
        facts=list(header(report)),
        table=select(_linked(loop_table(report, len(report.loops)), detailed)),
        loops=[
            {
                "id": f"loop{n}",
                "name": loop_name(loop),
                "place": place_of(loop),
                "bars": list(_bars(loop)),
                "verdict": f"{loop.verdict[:1].upper()}{loop.verdict[1:]}.",
                "notes": list(loop_notes(loop)),
                "trips": _trips(loop),
            }
            for n, loop in detailed.items()
        ],
        notes=[*report.notes, *(f"no probes: {text}" for text in report.without_probes)],
    )


def _linked(table: Table, numbers: Container[int]) -> Table:
    """Return the table of loops in which the names of these lead to their details."""
    rows = []
    for n, row in enumerate(table.rows):
        share, name, *others = row.cells
        rows.append(TableRow([share, replace(name, href=f"#loop{n}") if n in numbers else name, *others]))
    return Table(table.columns, rows)


def _bars(loop: LoopRun) -> Iterator[Bar]:
    """Yield the predicted cycles, each part where the one before ends, and the measured cycles."""
    assert loop.cycles is not None
    assert loop.predicted is not None
    steps: list[tuple[str, float, str, str]] = [
        (PARTS[part.kind], part.cycles, part.kind, part.text) for part in loop.parts
    ]
    if loop.unexplained is not None:
        called = f"with calls of {', '.join(map(short_name, loop.calls[:3]))}" if loop.calls else ""
        steps.append(("unexplained", loop.unexplained, "unexplained", called))
    ends = [loop.predicted]
    for _, cycles, _, _ in steps:
        ends.append(ends[-1] + cycles)
    most = max(*ends, loop.cycles_done or loop.cycles, 1e-9)
    scale = _WIDTH / most
    yield Bar("predicted", f"{loop.predicted:.2f}", "predicted", 0, loop.predicted * scale, f"for {loop.core}, in L1")
    for (label, cycles, kind, text), before, after in zip(steps, ends, ends[1:], strict=False):
        left = max(min(before, after), 0)
        yield Bar(label, f"{cycles:+.2f}", kind, left * scale, abs(after - before) * scale, text)
    yield Bar("measured", f"{loop.cycles:.2f}", "measured", 0, loop.cycles * scale)
    if is_range(loop):
        yield Bar("until all is done", f"{loop.cycles_done:.2f}", "measured", 0, (loop.cycles_done or 0) * scale)


def _trips(loop: LoopRun) -> list[dict[str, object]]:
    """Return the entries by their number of iterations, with the share of all entries."""
    return [
        {
            "iterations": f"{trip.least:,}" if trip.least == trip.most else f"{trip.least:,} to {trip.most:,}",
            "share": trip.entries / loop.entries,
            "cycles": f"{trip.cycles:,.2f}",
        }
        for trip in loop.trips
    ]
