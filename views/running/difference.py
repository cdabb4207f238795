"""The text of a comparison of two runs of programs with probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from incc.report.runs import LoopRun, RunReport
from incc.report.wording import counted
from incc.views.layout import BOLD, Layout, harmless
from incc.views.running.text import PARTS, loop_name, place_of
from incc.views.table import Table, number_column, row, text_column, text_lines

Pair = tuple[LoopRun | None, LoopRun | None]


def pairs(first: RunReport, second: RunReport) -> list[Pair]:
    """Return the loops of two runs that have the same source and identity, those first that changed most."""
    before = {(loop.unit, loop.kernel_id): loop for loop in first.loops}
    after = {(loop.unit, loop.kernel_id): loop for loop in second.loops}
    keys = dict.fromkeys((*before, *after))
    return sorted(((before.get(key), after.get(key)) for key in keys), key=lambda pair: -abs(_change(pair)))


def lines(first: RunReport, second: RunReport, layout: Layout, top: int) -> Iterator[str]:
    """Yield the text.

    Args:
        first: the first run.
        second: the second run.
        layout: the width and the colours.
        top: the most loops.
    """
    for label, report in (("A", first), ("B", second)):
        time = f"{report.seconds:.3g} s of processor time" if report.seconds else "processor time unknown"
        command = harmless(" ".join(report.command), False) or "profiles"
        yield layout.paint(f"{label}: {command}: {time}, {counted(len(report.loops), 'loop')}", BOLD)
    matched = pairs(first, second)
    yield ""
    yield from text_lines(_table(matched[:top]), layout)
    if len(matched) > top:
        yield f"and {counted(len(matched) - top, 'loop')} more; --top={len(matched)} shows all"


def _cycles(loop: LoopRun | None) -> float:
    return (loop.cycles or 0) * loop.iterations if loop else 0.0


def _change(pair: Pair) -> float:
    """Return the change of a loop's cycles in the whole run."""
    return _cycles(pair[1]) - _cycles(pair[0])


def _table(matched: Sequence[Pair]) -> Table:
    columns = [
        text_column("loop", "Function, and the loop's number in it", 40, 16, priority=2),
        text_column("place", "Place in the source", 24, 12, priority=1, keep_end=True, optional=True),
        number_column("entries A", optional=True, priority=1),
        number_column("B", optional=True, priority=1),
        number_column("iterations A", optional=True, priority=2),
        number_column("B", optional=True, priority=2),
        number_column("cycles A"),
        number_column("B"),
        number_column("Mcycles", "Change of the loop's cycles in the whole run, in millions"),
        text_column("largest change", "The part of the cycles per iteration that changed most", 24, 10, priority=0),
    ]
    return Table(columns, [row(*_cells(pair)) for pair in matched])


def _cells(pair: Pair) -> Iterator[str]:
    first, second = pair
    shown = second or first
    assert shown is not None
    yield loop_name(shown)
    yield place_of(shown)
    for loop in pair:
        yield f"{loop.entries:,}" if loop else "-"
    for loop in pair:
        yield f"{loop.iterations / loop.entries:.4g}" if loop else "-"
    for loop in pair:
        yield f"{loop.cycles:.2f}" if loop and loop.cycles is not None else "-"
    yield f"{_change(pair) / 1e6:+,.1f}"
    yield _largest(first, second) if first and second else "only in A" if first else "only in B"


def _largest(first: LoopRun, second: LoopRun) -> str:
    """Return the part of the cycles per iteration that changed most, "" if none did."""
    changes = {"predicted": (second.predicted or 0) - (first.predicted or 0)}
    for sign, loop in ((-1, first), (1, second)):
        for part in loop.parts:
            changes[PARTS[part.kind]] = changes.get(PARTS[part.kind], 0.0) + sign * part.cycles
        changes["unexplained"] = changes.get("unexplained", 0.0) + sign * (loop.unexplained or 0)
    name = max(changes, key=lambda each: abs(changes[each]))
    return f"{name} {changes[name]:+.2f}" if abs(changes[name]) >= 0.005 else ""
