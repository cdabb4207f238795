"""A ranking as text: the reports that were read, a row for each kernel or group, and advice for the first ones."""

from __future__ import annotations

from collections.abc import Iterator

from incc.ranking import types as r
from incc.support.text import counted
from incc.views.layout import BOLD, RED, YELLOW, Layout, harmless
from incc.views.ranking import cells
from incc.views.running.text import loop_notes, step_lines
from incc.views.table import text_lines

FEW = 3
"""Rows with verdict and advice below the table."""

_LEAST = 0.001
"""Part of the time below which a row's advice does not matter."""


MOST_INSTRUCTIONS = 100
"""Instructions of a row that are listed."""


def render(ranking: r.Ranking, width: int = 80, colour: bool = False, top: int = 25, instructions: bool = False) -> str:
    """Return the ranking as text, with at most `top` rows (0: all), perhaps with the instructions of each.

    Lines are no wider than `width` columns (0: as wide as they get).
    """
    layout = Layout(width, colour)
    layout.name_paths(cells.files(ranking))
    lines = (line.replace("\xa0", " ").rstrip() for line in _lines(ranking, layout, top, instructions))
    return "".join(f"{harmless(line, colour)}\n" for line in lines)


def _lines(ranking: r.Ranking, layout: Layout, top: int, instructions: bool) -> Iterator[str]:
    yield from layout.wrap(cells.summary(ranking), style=BOLD)
    for sentence in (*cells.hotness(ranking), *cells.gaps(ranking)):
        yield from layout.wrap(sentence, "", "  ")
    if ranking.where:
        yield from layout.wrap(f"Kernels for which {ranking.where.strip()}:", "", "  ")
    if cells.only_stale(ranking) and not ranking.gates:
        return
    yield ""
    if not ranking.rows:
        yield "No kernel." if not ranking.where else "No kernel for which it holds."
    else:
        yield from _table(ranking, layout, top)
    for sentence in (cells.total_saving(ranking), cells.lines_wanted(ranking)):
        if sentence:
            yield ""
            yield from layout.wrap(sentence)
    if not ranking.by:
        yield from _details(ranking, layout, top, instructions)
    if ranking.stale_shown and ranking.stale:
        yield ""
        yield layout.paint("Stale reports", BOLD)
        for stale in ranking.stale:
            yield from layout.wrap(f"{stale.report}: {stale.why}", "  ", "    ")
    yield from _gates(ranking, layout)


def _table(ranking: r.Ranking, layout: Layout, top: int) -> Iterator[str]:
    table, more = cells.table(ranking, layout, top)
    yield from text_lines(table, layout)
    if more:
        yield f"and {more}: --all shows them, -n N so many"


def _details(ranking: r.Ranking, layout: Layout, top: int, instructions: bool) -> Iterator[str]:
    """Yield verdict and advice of the first of `top` rows (0: all) that have advice, and of those with times of a run.

    With instructions, yield those of all of them. Rows behind them may be of incomplete kernels.
    """
    rows = list(enumerate(ranking.rows[: top or None], 1))
    advised = [n for n, row in rows if row.advice and _matters(ranking, row)][:FEW]
    chosen = [(n, row) for n, row in rows if instructions or n in advised or cells.explained(row)]
    for number, row in chosen:
        yield ""
        yield from layout.wrap(row.verdict, f"[{number}] {row.name}, {cells.place(row, layout)}: ", "    ")
        if row.run and cells.explained(row):
            yield from step_lines(row.run, layout, "    ")
            for text in loop_notes(row.run):
                yield from layout.wrap(text, "    ", "    ")
        for text in row.advice:
            yield from layout.wrap(text, "    - ", "      ")
        if around := cells.outer(row, layout):
            yield from layout.wrap(f"Inside the loop at {around}.", "    ", "      ")
        # Copies of a loop differ in their compiled code.
        first = row.members[0]
        where = f"{first.source} ({first.output})" if first.output else first.source
        more = f" and {row.copies - 1} more" if row.copies > 1 else ""
        yield from layout.wrap(f"In {where}{more}. The whole report: {cells.command(first)}", "    ", "      ")
        if instructions:
            yield from _listing(row, layout)


def _listing(row: r.RankingRow, layout: Layout) -> Iterator[str]:
    """Yield the instructions of a row with their lines in the source, or else in the assembly."""
    for instruction in row.instructions[:MOST_INSTRUCTIONS]:
        line = instruction.source_line or instruction.line
        yield layout.cut(f"    {line or '':>6}  {instruction.text}", 0)
    if len(row.instructions) > MOST_INSTRUCTIONS:
        yield f"            and {len(row.instructions) - MOST_INSTRUCTIONS} more instructions"


def _matters(ranking: r.Ranking, row: r.RankingRow) -> bool:
    """Return True unless the row is known to take no time."""
    return ranking.hotness is None or bool(row.weight and row.weight.share >= _LEAST)


def _gates(ranking: r.Ranking, layout: Layout) -> Iterator[str]:
    """Yield the kernels for which conditions hold, at the end, where people look."""
    for gate in ranking.gates:
        yield ""
        condition = gate.condition.strip()
        origin = f" ({gate.origin})" if gate.origin else ""
        if not gate.offenders:
            yield from layout.wrap(f"No kernel for which {condition}{origin}.", "", "  ")
            continue
        heading = f"{counted(len(gate.offenders), 'kernel')} for which {condition}{origin}:"
        yield from layout.wrap(heading, "" if gate.fails else "Warning: ", "  ", style=BOLD)
        for offender in gate.offenders:
            yield from layout.wrap(
                offender.text, f"  [{offender.row + 1}] ", "      ", style=RED if gate.fails else YELLOW
            )
