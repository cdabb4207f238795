"""The paths through loops with branches inside, as tables."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.support.text import line_list
from incc.views.layout import Layout


def lines(unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    """Yield a table of paths for each loop with branches inside; nothing if they were not requested."""
    if unit.ways is None:
        return
    if not unit.ways:
        yield ""
        yield "No innermost loop has a branch inside."
    for loop in unit.ways:
        yield ""
        yield from _table(loop, unit, layout)


def _table(loop: t.WaysReport, unit: t.UnitReport, layout: Layout) -> Iterator[str]:
    compiled = bool(unit.source)
    ways = loop.ways
    what = "Both directions of the first branch" if loop.kind == "branch" else "Paths"
    span = f"{loop.first_line}-{loop.last_line}"
    where = f"asm {span}" if compiled else f"{unit.assembly_file}:{span}"
    source = loop.source
    place = f"{layout.place(source)}, " if source else ""
    name = loop.label or f"line {loop.first_line}"
    yield from layout.wrap(f"{what} through the loop at {name} ({place}{where})")
    if not loop.complete:
        yield f"The loop has more paths than these {len(ways)}; shares are relative to these."
    yield ""
    head = " Path  Share  Instr.   Ports  Front end  Carried  Cycles  Branches "
    yield layout.cut(head + ("(asm), asm lines skipped" if compiled else "(line), lines skipped"), 0)
    for number, way in enumerate(ways, start=1):
        ports, front_end, carried, cycles = (
            figure.cycles for figure in (way.ports, way.front_end, way.loop_carried, way.cycles)
        )
        cells = f"{number:>5}  {100 * way.share:>3.0f} %  {way.instructions:>6}  {ports:>6.2f}  {front_end:>9.2f}"
        cells += f"  {carried:>7.2f}  {cycles:>6.2f}  "
        yield from layout.wrap(_branches(way), cells, " " * len(cells))
    yield ""
    of_ways = [way.cycles.cycles for way in ways]
    least, most = min(of_ways), max(of_ways)
    yield f"Average by share: {loop.weighted_cycles:.2f} cycles; least {least:.2f}, most {most:.2f}."
    if any(way.unknown_instructions for way in ways):
        yield "X: instructions that the model lacks, not counted."
    kind = "simulated" if loop.simulated else "the largest bounds"
    yield from layout.wrap(
        f"(cycles per iteration, {kind}, if every iteration takes this path; without mispredictions)"
    )


def _branches(way: t.WayReport) -> str:
    """Return the branches of a path with their directions, and the lines that it skips."""
    text = ", ".join(f"{branch.line} {'taken' if branch.taken else 'not taken'}" for branch in way.branches)
    if way.lines_skipped:
        text += f"; skips {line_list(way.lines_skipped)}"
    return text + (f"; {way.unknown_instructions} X" if way.unknown_instructions else "")
