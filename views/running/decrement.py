"""The text of the report on runs of a program without parts of a loop's work."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report.decrement import LessWorkReport
from incc.report.source.demangle import short_name
from incc.support.text import counted
from incc.views.layout import BOLD, Layout, cycles, harmless
from incc.views.table import Table, number_column, row, text_column, text_lines


def lines(report: LessWorkReport, layout: Layout) -> Iterator[str]:
    """Yield the text: a row for each part of the work, with its prediction and its measurement."""
    yield layout.paint(harmless(" ".join(report.command), False), BOLD)
    place = f" ({report.source})" if report.source else ""
    yield from layout.wrap(f"{short_name(report.function_name)}, {report.loop}{place}, without parts of its work")
    what = "cycles per iteration" if report.unit == "cycles" else "seconds of processor time of the program"
    ran = f"{report.iterations:,.0f} iterations; " if report.iterations else ""
    yield from layout.wrap(
        f"{ran}predicted in cycles per iteration for {report.core}; measured in {what}, "
        f"the least of {counted(report.repetitions, 'run')} (and how much more the slowest took)"
    )
    yield ""
    yield from text_lines(table(report), layout)
    skipped = [each for each in report.variants if each.skipped]
    if skipped:
        yield ""
        yield "Not measured:"
        for each in skipped:
            yield from layout.wrap(f"{each.text}: {each.skipped}", "- ", "  ")
    for note in report.notes:
        yield from layout.wrap(f"note: {note}")


def table(report: LessWorkReport) -> Table:
    """Return the table, first the loop with all of its work."""
    columns = [
        number_column("predicted", "Predicted cycles per iteration"),
        number_column("measured", "Cycles per iteration, or seconds of the program"),
        number_column("spread", "The slowest run relative to the fastest", optional=True),
        text_column("without", "The work that is left out", 70, 20),
    ]

    def measured(value: float | None) -> str:
        if value is None:
            return "-"
        return cycles(value) if report.unit == "cycles" else f"{value:.3f}"

    rows = [row(cycles(report.predicted), measured(report.measured), _share(report.spread), "(nothing left out)")]
    for each in report.variants:
        remark = f" ({each.remark})" if each.remark else ""
        spread = "-" if each.measured is None else _share(each.spread)
        rows.append(row(cycles(each.predicted), measured(each.measured), spread, each.text + remark))
    return Table(columns, rows)


def _share(value: float) -> str:
    return f"{100 * value:.0f}%"
