"""The report as one self-contained HTML page, which opens offline.

It has a table of the kernels that sorts and searches, and the verdict, bounds, ports, assembly, dependency graph and
timeline of each kernel. The template writes the table. The scripts draw a kernel when it is opened, from the data that
`data.py` makes, so that a page of hundreds of kernels opens at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incc.report import types as t
from incc.views.html.data import kernel_data
from incc.views.html.templates import render as render_template
from incc.views.layout import Layout, in_order
from incc.views.table import Cell, Column, Table, TableRow, number_column, select
from incc.views.text import header
from incc.views.text.overview import ALL_COLUMNS, full_row_of


def render(
    report: t.AnalysisReport,
    sources: Mapping[str, Mapping[int, str]] | None = None,
    rooflines: Sequence[Mapping[str, Any]] = (),
) -> str:
    """Return the page of a report.

    Args:
        report: The report.
        sources: Lines of source files by number, by the report's names of the files; they are shown next to
            the instructions that come from them.
        rooflines: The rooflines to show (`views.roofline.panels`).

    Raises:
        ValueError: The report has no kernel.
    """
    report = in_order(report)
    layout = Layout(0, False)
    layout.name_files(report)
    data = [kernel_data(unit, kernel, layout, sources or {}) for unit in report.units for kernel in unit.kernels]
    if not data:
        raise ValueError("no kernel to show")
    return render_template(
        "html/report.html.j2",
        title=f"{_title(report, data, layout)} - incc",
        tool=report.tool,
        data=data,
        inputs=_inputs(report, layout),
        table=_table(report, layout),
        left_out=list(_left_out(report, layout)),
        rooflines=rooflines,
    )


def _title(report: t.AnalysisReport, data: list[dict[str, object]], layout: Layout) -> str:
    if len(data) == 1:
        return str(data[0]["title"])
    names = list(dict.fromkeys(unit.source or unit.assembly_file for unit in report.units))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return f"{len(data)} kernels, {layout.file(names[0])}{more}"


def _inputs(report: t.AnalysisReport, layout: Layout) -> list[str]:
    """Return a line for each compiler and core, with the units that they were used for."""
    groups: dict[str, dict[str, None]] = {}
    for unit in report.units:
        compiler = f"{unit.compiler} {unit.compiler_version}".strip()
        tools = "; ".join(filter(None, (compiler, unit.model.title)))
        groups.setdefault(tools, {})[layout.file(unit.source or unit.assembly_file)] = None
    texts = []
    for tools, names in groups.items():
        more = f" and {len(names) - 4} more" if len(names) > 4 else ""
        texts.append(f"{', '.join(list(names)[:4])}{more}: {tools}")
    return texts


def _left_out(report: t.AnalysisReport, layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield units and the text on what of them is not analysed."""
    for unit in report.units:
        if text := "\n".join(header.left_out(unit, layout)).strip("\n"):
            several = len(report.units) > 1
            yield layout.file(unit.source or unit.assembly_file) if several else "", text


def _table(report: t.AnalysisReport, layout: Layout) -> Table:
    """Return the table of the kernels: the overview's, with units, cores and bounds."""
    several = len({unit.source or unit.assembly_file for unit in report.units}) > 1
    cores = len({unit.model.name for unit in report.units}) > 1
    limit = next(n for n, column in enumerate(ALL_COLUMNS) if column.title == "Bound by")
    columns = (
        number_column("#", "Number in the report"),
        Column(title="Unit", code=True, spare=True, meaning="Source or input"),
        Column(title="Core", spare=True, meaning="Machine model"),
        *ALL_COLUMNS[:limit],
        Column(title="Bounds", draw="bounds", spare=True, meaning="Each relative to the prediction"),
        *ALL_COLUMNS[limit:],
    )
    rows: list[TableRow] = []
    for unit in report.units:
        first = len(rows) + 1
        numbers = {kernel.kernel_id: number for number, kernel in enumerate(unit.kernels, first)}
        name = unit.source or unit.assembly_file
        for number, kernel in enumerate(unit.kernels, first):
            elements, measured = kernel.elements, kernel.measured
            keys: dict[str, float | None] = {
                "Cycles": kernel.cycles,
                "Measured": measured.cycles if measured else None,
                "/elem.": elements.cycles if elements else None,
            }
            keys |= {level.name: level.cycles for level in kernel.data.beyond_l1} if kernel.data else {}
            cells = [
                Cell(text=text, key=keys.get(column.title, ""))
                for column, text in zip(ALL_COLUMNS, full_row_of(unit, kernel, numbers, layout), strict=True)
            ]
            function = next(n for n, column in enumerate(ALL_COLUMNS) if column.title == "Function")
            cells[function] = Cell(text=cells[function].text or kernel.name, href=f"#k{number}")
            leads = [
                Cell(text=str(number), key=number),
                Cell(text=layout.file(name) if several else ""),
                Cell(text=unit.model.name if cores else ""),
            ]
            bounds = Cell(key=list(_bounds(kernel)))
            rows.append(TableRow([*leads, *cells[:limit], bounds, *cells[limit:]], _search(kernel, name)))
    return select(Table(columns, rows), draw=True)


def _search(kernel: t.KernelReport, unit: str) -> str:
    """Return the words that a search matches, besides those in the table."""
    words = [unit, kernel.function, kernel.function_name, kernel.label, kernel.verdict]
    words += [kernel.source.file] if kernel.source else []
    words += [text for hint in kernel.hints for text in (hint.rule, hint.text)]
    return " ".join(filter(None, words))


def _bounds(kernel: t.KernelReport) -> Iterator[tuple[str, str, float, float]]:
    """Yield kind, name, cycles and part of the prediction of three bounds."""
    bounds = kernel.bounds
    for kind, name, cycles in (
        ("port", "ports", max(bounds.port.cycles, bounds.divider.cycles)),
        ("front", "front end", max(bounds.front_end.cycles, bounds.retire.cycles)),
        ("chain", "dependencies", bounds.loop_carried.cycles),
    ):
        yield kind, name, cycles, min(cycles / kernel.cycles, 1) if kernel.cycles else 0.0
