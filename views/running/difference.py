"""The comparison of two runs of programs with probes: text, Markdown, JSON and a page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incc.report.runs import ChangedLoop, RunComparison, RunReport
from incc.report.wording import relative
from incc.support.text import counted
from incc.views.layout import BOLD, Layout, harmless
from incc.views.running.text import PARTS, loop_name, mean_text, place_of
from incc.views.table import Cell, Table, TableRow, markdown_lines, number_column, select, text_column, text_lines

_NAMES = {**PARTS, "predicted": "predicted", "unexplained": "unexplained"}


def render(comparison: RunComparison, form: str, width: int, colour: bool, *, top: int) -> str:
    """Return a comparison as "text" or "markdown" with at most `top` loops, or as "json" or "html" with all."""
    if form == "json":
        from incc.views.json import render as render_json

        return render_json(comparison)
    if form == "html":
        from incc.views.html import templates

        return templates.render(
            "running/difference.html.j2",
            title="incc-diff",
            heads=list(heads(comparison)),
            table=select(table(comparison, len(comparison.rows))),
        )
    if form == "markdown":
        from incc.views.markdown import prose

        parts = [*(f"{prose(head)}  " for head in heads(comparison)), ""]
        parts += [*markdown_lines(table(comparison, top), {}), ""]
        return "".join(f"{line}\n" for line in (*parts, *_more(comparison, top)))
    return "".join(f"{harmless(line, colour)}\n" for line in _lines(comparison, Layout(width, colour), top))


def heads(comparison: RunComparison) -> Iterator[str]:
    """Yield a line on each run."""
    for label, report in (("A", comparison.first), ("B", comparison.second)):
        time = f"{report.seconds:.3g} s of processor time" if report.seconds else "processor time unknown"
        yield f"{label}: {harmless(_label(report), False)}: {time}"


def _label(report: RunReport) -> str:
    return " ".join(report.command) or counted(report.processes, "process", "processes")


def _lines(comparison: RunComparison, layout: Layout, top: int) -> Iterator[str]:
    for head in heads(comparison):
        yield from layout.wrap(head, "", "   ", style=BOLD)
    yield ""
    yield from text_lines(table(comparison, top), layout)
    yield from _more(comparison, top)


def _more(comparison: RunComparison, top: int) -> Iterator[str]:
    if len(comparison.rows) > top:
        yield f"and {counted(len(comparison.rows) - top, 'loop')} more; --top={len(comparison.rows)} shows all"


def table(comparison: RunComparison, top: int) -> Table:
    """Return the table of the loops that changed most."""
    columns = [
        text_column("loop", "Function, and the loop's number in it", 40, 14, priority=2),
        text_column("place", "Place in the source", 24, 12, priority=3, keep_end=True, optional=True),
        number_column("entries", "How often the loop was entered", optional=True, priority=1, spare=True),
        number_column("times", "Mean elements or iterations per entry", optional=True, priority=2, spare=True),
        number_column("cycles", "Measured cycles per element or iteration"),
        text_column("per", "Element of the source's loop, or iteration of the compiled loop", 5, 5),
        number_column("change", "Relative change of these cycles", optional=True, priority=4),
        number_column("Mcycles", "Change of the loop's cycles in the whole run, in millions"),
        text_column("largest change", "The part of these cycles that changed most", 24, 10, priority=0),
    ]
    return Table(columns, [TableRow([Cell(text=text) for text in _cells(each)]) for each in comparison.rows[:top]])


def _cells(row: ChangedLoop) -> Iterator[str]:
    first, second = row.first, row.second
    pair = [loop for loop in (first, second) if loop]
    yield loop_name(pair[-1])
    yield place_of(pair[-1])
    yield _both(f"{loop.entries:,}" for loop in pair)
    yield _both(mean_text(row.work(loop) * loop.iterations / loop.entries) for loop in pair)
    per = [loop.cycles / row.work(loop) if loop.cycles is not None else 0.0 for loop in pair]
    yield _both(f"{cycles:.2f}" if cycles else "?" for cycles in per)
    yield "elem." if row.per == "element" else "iter."
    yield relative(per[1] / per[0]) if all(per) and len(per) > 1 else ""
    yield f"{row.cycles / 1e6:+,.1f}"
    if not first or not second:
        yield "only in A" if first else "only in B"
    else:
        yield f"{_NAMES[row.parts[0].kind]} {row.parts[0].cycles:+.2f}" if row.parts else ""


def _both(texts: Iterable[str]) -> str:
    """Return the texts of one or two runs, equal ones once."""
    return " → ".join(dict.fromkeys(texts))
