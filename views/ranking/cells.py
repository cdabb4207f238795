"""The shared parts of the views of a ranking: tables of rows and groups, and the sentences around them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping

from incc.ranking import types as r
from incc.report import wording
from incc.report.runs import LoopRun
from incc.support.text import counted
from incc.views.layout import Layout, each
from incc.views.running.text import DETAILED, iterations, measured
from incc.views.table import Cell, Column, Table, TableRow, number_column, text_column
from incc.views.text.memory import level_cycles
from incc.views.text.overview import LEVELS, VECTORS
from incc.views.text.quality import CHANGES

MOST_NAMED = 5
"""Files that a sentence names; more are counted."""

_LEAST = 0.0005
"""Smallest part of the time that is printed as a tenth of a percent."""


# --- tables -----------------------------------------------------------------------------------------------------------


_TIME = number_column("Time", "Share of the time according to the profile")
_SAVES = number_column("Saves", "Share of the time that following the advice would save")
_ROOM = number_column("Room", "Share of the cycles that the best change to the core or the code saves")

COLUMNS = (
    number_column("#", "Number of the row, the same in all views"),
    text_column("Function", "Function that the loop is written in", 18, 12, ample=26, priority=9, code=True),
    text_column("Line", "Place of the loop", 16, 12, priority=10, keep_end=True, code=True),
    text_column("Inside", "Line of the loop around", 7, 4, priority=3, keep_end=True, optional=True, spare=True),
    text_column(
        "Role", "Role of the loop in its function; empty for the main loop", 9, 5, priority=6, optional=True, spare=True
    ),
    text_column("Core", "Machine model", 8, 5, priority=11, spare=True),
    _TIME,
    _SAVES,
    number_column("Cycles", "Predicted cycles per iteration, or their range"),
    number_column("Measured", "Measured cycles per iteration in a run with probes"),
    number_column("Entries", "How often the loop was entered in the run", spare=True, optional=True, priority=4),
    number_column("Iter.", "Mean iterations per entry in the run", spare=True, optional=True, priority=5),
    number_column("Gain", "Speedup of the loop by following its advice; ? if it is not predicted"),
    number_column("/elem.", "Predicted cycles per element of the source loop", spare=True, optional=True, priority=3),
    *(
        number_column(level, f"Predicted cycles per iteration with data in {level}", optional=True, priority=7)
        for level in LEVELS
    ),
    _ROOM,
    text_column("If", "Change that gives the headroom", 18, 14, priority=2, optional=True, spare=True),
    text_column("Projected", "Change to the code that saves most, and its speedup", 22, 12, priority=4, optional=True),
    text_column("Bound by", "Resource that limits the loop", 11, 10, priority=8, optional=True),
    VECTORS,
    number_column("Copies", "Copies of the loop in the build", spare=True, optional=True, priority=4),
    number_column("Codes", "Different codes of the same source loop", spare=True, optional=True, priority=5),
    Column(title="Fails", meaning="Rows for which a condition holds"),
    text_column("Worth a look", "Rules of the hints, causes of a wide range", 20, 12, priority=7, optional=True),
)


def rows_table(ranking: r.Ranking, layout: Layout, top: int = 0, fails: Mapping[int, bool] | None = None) -> Table:
    """Return the table of the first `top` rows (0: all).

    `fails`: indices of the rows for which a condition holds, and whether that fails the command.
    """
    hot = ranking.hotness is not None
    cores = len(ranking.totals.models) > 1
    table_rows = []
    for number, row in enumerate(ranking.rows[: top or None], 1):
        weight, per_element = row.weight, row.cycles_per_element
        mark = (fails or {}).get(number - 1)
        table_rows.append(
            TableRow(
                [
                    Cell(text=str(number), key=number),
                    Cell(text=row.name, href=f"#r{number}"),
                    Cell(text=place(row, layout)),
                    Cell(text=outer(row, layout, short=True)),
                    Cell(text="" if row.role == "main" else row.role),
                    Cell(text=row.model if cores else ""),
                    _part_cell(weight.share if weight else None, hot),
                    _part_cell(weight.saved if weight else None, hot),
                    Cell(text=cycles(row), key=row.cycles),
                    *_run_cells(row.run),
                    Cell(text=gain(row.saving), key=row.saving.share),
                    Cell(text="" if per_element is None else each(per_element), key=per_element),
                    *(_level_cell(row, level) for level in LEVELS),
                    Cell(text=headroom(row.headroom.share), key=row.headroom.share),
                    Cell(text=without(row)),
                    _projection_cell(row),
                    Cell(text=row.limit),
                    Cell(text=row.vector),
                    Cell(text=str(row.copies) if row.copies > 1 else "", key=row.copies),
                    Cell(text=f"×{row.variants}" if row.variants > 1 else "", key=row.variants),
                    Cell(text="" if mark is None else "✗ fails" if mark else "warns", kind="fails"),
                    Cell(text=row.look),
                ]
            )
        )
    return Table(COLUMNS, table_rows)


def _run_cells(run: LoopRun | None) -> Iterator[Cell]:
    """Yield the cells of what a loop took in a run, empty without one."""
    if run is None:
        yield from [Cell(key=None)] * 3
        return
    yield Cell(text=measured(run), key=run.cycles)
    yield Cell(text=f"{run.entries:,}", key=run.entries)
    yield Cell(text=iterations(run), key=run.iterations / run.entries)


def explained(row: r.RankingRow) -> bool:
    """Return True if a row has the time of a run that matters, and what explains it."""
    run, weight = row.run, row.weight
    is_known = run is not None and run.cycles is not None and run.predicted is not None
    return is_known and weight is not None and weight.share >= DETAILED


def _level_cell(row: r.RankingRow, name: str) -> Cell:
    """Return the cell of the prediction for data in a level, empty without one."""
    level = next((each for each in row.levels if each.name == name), None)
    return Cell(text=level_cycles(level), key=level.cycles) if level else Cell(key=None)


def _projection_cell(row: r.RankingRow) -> Cell:
    """Return the cell of the change to the code that saves most, empty without one."""
    projection = row.projection
    if projection is None:
        return Cell(key=None)
    speedup = f"{row.cycles / projection.cycles:.1f} x " if projection.cycles else ""
    return Cell(text=f"{speedup}{CHANGES[projection.change]}", key=projection.share)


def _part_cell(part: float | None, hot: bool) -> Cell:
    """Return the cell of a part of the time, empty without profiles."""
    return Cell(text=share(part or 0.0) if hot else "", key=part)


GROUPED = {"file": "File", "function": "Function", "bottleneck": "Bound by", "hint": "Hint"}


def groups_table(ranking: r.Ranking, layout: Layout, top: int = 0) -> Table:
    """Return the table of the first `top` groups (0: all)."""
    by_file = ranking.by == "file"
    columns = (
        Column(title=GROUPED[ranking.by], comfortable=20, least=10, ample=50, priority=2, keep_end=by_file),
        number_column("Kernels"),
        number_column("Loops"),
        _TIME,
        _SAVES,
        _ROOM,
        Column(title="Most worth a look", comfortable=20, least=10, priority=1, optional=True),
    )
    hot = ranking.hotness is not None
    table_rows = []
    for group in ranking.groups[: top or None]:
        first = ranking.rows[group.first]
        table_rows.append(
            TableRow(
                [
                    Cell(text=layout.file(group.key) if by_file and group.key else group.key),
                    Cell(text=str(group.rows)),
                    Cell(text=str(group.loops)),
                    Cell(text=share(group.weight) if hot else ""),
                    Cell(text=share(group.saved) if hot else ""),
                    Cell(text=headroom(group.headroom)),
                    Cell(text=f"{first.name}, {place(first, layout)}", href=f"#r{group.first + 1}"),
                ]
            )
        )
    return Table(columns, table_rows)


def table(ranking: r.Ranking, layout: Layout, top: int) -> tuple[Table, str]:
    """Return the table of rows or groups, and the number of those that are not among the first `top` in words."""
    if ranking.by:
        return groups_table(ranking, layout, top), _more(len(ranking.groups), top, "group")
    return rows_table(ranking, layout, top), _more(len(ranking.rows), top, "row")


def _more(number: int, top: int, noun: str) -> str:
    return counted(number - top, f"more {noun}") if 0 < top < number else ""


def files(ranking: r.Ranking) -> dict[str, None]:
    """Return the files of the rows' places."""
    named = (row.place.file for row in ranking.rows)
    around = (row.outer.file for row in ranking.rows if row.outer)
    return dict.fromkeys((*named, *(row.members[0].source for row in ranking.rows), *around))


def place(row: r.RankingRow, layout: Layout) -> str:
    """Return where a row's loop is, as text."""
    where = row.place
    name = layout.file(where.file) if where.file else ""
    if where.line or not row.label:
        return f"{name}:{where.line}" if where.line else name
    return f"{name} {row.label}" if row.label.startswith("+") else f"{name}:{row.label}"


def outer(row: r.RankingRow, layout: Layout, short: bool = False) -> str:
    """Return the place of the loop around a row's loop, or only its line if `short`; nothing for none."""
    around = row.outer
    if around is None:
        return ""
    same = row.source is not None and row.source.file == around.file
    return f":{around.line}" if short and same else f"{layout.file(around.file)}:{around.line}"


def gain(saving: r.Saving) -> str:
    """Return the speedup that the advice gives, ? if it is not predicted, nothing without a remedy."""
    if saving.share >= 1:
        return ""
    return "?" if saving.by == "unknown" else f"{1 / (1 - saving.share):.1f}×" if saving.share else ""


def command(member: r.KernelOrigin) -> str:
    """Return the command that prints the report on a kernel."""
    # In a file with several reports, each has its line after the name.
    file = re.sub(r":[0-9]+$", "", member.report)
    return f"incc-report --render {shlex.quote(file)} --kernel={shlex.quote(member.kernel_id)}"


def cycles(row: r.RankingRow) -> str:
    """Return the prediction or its two ends, with ≥ for a lower bound."""
    text = f"{row.least:.2f}"
    if row.most is None:
        text += "" if row.at_least else "–?"
    elif row.most != row.least:
        text += f"–{row.most:.2f}"
    return f"≥ {text}" if row.at_least else text


def share(part: float | None) -> str:
    """Return a part of the time in percent, a dash for none."""
    if part is None:
        return ""
    if part >= 0.0995:
        return f"{100 * part:.0f} %"
    if part >= _LEAST:
        return f"{100 * part:.1f} %"
    return "<0.1 %" if part else "-"


def headroom(part: float | None) -> str:
    """Return headroom in percent, a dash for none."""
    return f"{100 * part:.0f} %" if part else "-"


def without(row: r.RankingRow) -> str:
    """Return the change that gives the headroom, in few words."""
    text = row.headroom.text
    for long, short in _SHORT:
        text = text.replace(long, short)
    return text


_SHORT = (
    ("without dependencies through registers", "no register dependencies"),
    ("without dependencies through memory", "no memory dependencies"),
    ("without dependencies", "no dependencies"),
    ("without carried dependencies", "no carried dependencies"),
    ("with one more port like ", "another port "),
    ("with a perfect front end", "perfect front end"),
    ("with twice the issue and retire width", "twice the width"),
    ("with unlimited ports", "unlimited ports"),
    ("with an unlimited window", "unlimited window"),
    ("with ", ""),
)


# --- sentences --------------------------------------------------------------------------------------------------------


def _are(number: int, noun: str, plural: str = "") -> str:
    """Return "1 report is" or "2 reports are"."""
    return f"1 {noun} is" if number == 1 else f"{number} {plural or f'{noun}s'} are"


def summary(ranking: r.Ranking) -> str:
    """Return a sentence on the reports that were read."""
    totals = ranking.totals
    if only_stale(ranking):
        return f"{_are(len(ranking.stale), 'report')} stale and left out; there are no others."
    parts = [f"{counted(totals.kernels, 'kernel')} of {counted(totals.units, 'unit')}"]
    if totals.rows != totals.kernels:
        parts.append(f"{totals.rows} of them different")
    if totals.loops != totals.rows:
        parts.append(f"{counted(totals.loops, 'loop')} of the source")
    if totals.models:
        few = len(totals.models) < 5
        parts.append(f"for {wording.listed(totals.models)}" if few else f"for {len(totals.models)} cores")
    return f"{', '.join(parts)}."


def only_stale(ranking: r.Ranking) -> bool:
    """Return True if there are only stale reports, and these are left out."""
    return bool(ranking.stale) and not ranking.stale_shown and not ranking.totals.units


def gaps(ranking: r.Ranking) -> Iterator[str]:
    """Yield a sentence on each kind of kernels and reports that are not in the table."""
    totals = ranking.totals
    if totals.left_out:
        were = "loop was" if totals.left_out == 1 else "loops were"
        yield f"{totals.left_out} {were} not analysed; the reports say why (left_out)."
    if totals.unknown or totals.refused:
        parts = [counted(totals.unknown, "instruction") + " that the model lacks"] if totals.unknown else []
        parts += [counted(totals.refused, "statement") + " that could not be decoded"] if totals.refused else []
        yield f"Not counted: {' and '.join(parts)} (--where 'unknown > 0 or refused > 0' shows where)."
    if totals.replaced:
        yield f"{_are(totals.replaced, 'report')} replaced by later ones in the same file."
    if only_stale(ranking):
        yield (
            f"The first is stale since {ranking.stale[0].why}. For new ones compile with incc again, as by "
            "incc-build -- make; --stale shows the stale ones, --prune removes them."
        )
    elif ranking.stale:
        where = "among them" if ranking.stale_shown else "left out"
        yield (
            f"{_are(len(ranking.stale), 'stale report')} {where}, the first since {ranking.stale[0].why} "
            "(--stale shows them, --prune removes them)."
        )
    if totals.pending:
        wait = "compilation waits for its" if totals.pending == 1 else "compilations wait for their"
        yield f"Not in the table: {totals.pending} {wait} analysis."
    for unread in ranking.unread[:MOST_NAMED]:
        yield f"Not read: {unread.report}: {unread.why}."
    if len(ranking.unread) > MOST_NAMED:
        yield f"Not read: {len(ranking.unread) - MOST_NAMED} more files (--format=json names all)."
    for note in ranking.notes:
        yield note if note.endswith((".", "?")) else f"{note}."


UNWEIGHTED = (
    "Unweighted: how often loops run is unknown, so loops with the largest gain come first. --hot=FILE weights them: "
    "counts of gcov or llvm-cov, samples of perf, or a list."
)


def hotness(ranking: r.Ranking) -> Iterator[str]:
    """Yield sentences on the weights of the kernels."""
    weights = ranking.hotness
    if weights is None:
        if ranking.totals.units:
            yield UNWEIGHTED
        return
    of_run = any(file.kind == "incc-run" for file in weights.files)
    by = "executions times cycles" if weights.unit == "cycles" else "measured time" if of_run else "samples"
    listed = ", ".join(f"{file.file} ({file.kind}: {file.text})" for file in weights.files[:MOST_NAMED])
    if len(weights.files) > MOST_NAMED:
        listed += f" and {len(weights.files) - MOST_NAMED} more"
    yield f"Weighted by {by}: {listed}."
    matched, other = weights.matched, 1 - weights.matched
    if weights.unit == "cycles":
        where = "functions with" if all(file.kind == "llvm-profdata" for file in weights.files) else "lines of"
        text = f"{share_of(matched)} of the reported executions are in {where} these loops"
        shares = "Shares are of the loops' cycles."
    else:
        text = f"{share_of(matched)} of the reported time is in these loops"
        shares = "Shares are relative to the reported time."
    if matched < _LEAST:
        yield f"{text[:1].upper()}{text[1:]}."
    else:
        rest = f", {share_of(other)} in other code" if other >= _LEAST else ""
        yield f"{text}{rest}. {shares}"
    yield from weights.notes


def share_of(part: float) -> str:
    """Return a part of the time for a sentence."""
    return "nothing" if part < _LEAST else f"{100 * part:.1f}\xa0%"


def total_saving(ranking: r.Ranking) -> str:
    """Return a sentence on the sum of all savings, nothing without weights."""
    if ranking.hotness is None or not ranking.rows:
        return ""
    total = sum(row.weight.saved for row in ranking.rows if row.weight)
    return f"Following all advice whose gain is predicted would save {share_of(min(total, 1.0))} of the time."


def lines_wanted(ranking: r.Ranking) -> str:
    """Return a sentence on how to get lines of the source, nothing if all are known."""
    totals = ranking.totals
    if not totals.without_lines:
        return ""
    which = "" if totals.without_lines == totals.kernels else f" of {counted(totals.without_lines, 'kernel')}"
    return (
        f"No lines of the source are known{which}. Compile with -g1, which does not change the code, or in the full "
        "mode of incc (INCC_MODE=full, incc-build --mode=full), which asks for them."
    )
