"""The roofline model as a figure: a core's ceilings, and a marker for each loop and level.

`svg` makes a file of its own, `page` a page with tables below the figures. Other pages include the same drawing with
`panel.html.j2`. Loops without a marker are listed with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from incc.ranking import types as r
from incc.report import types as t
from incc.views.html import templates
from incc.views.layout import Layout, in_order
from incc.views.ranking import cells
from incc.views.roofline.chart import drawing
from incc.views.roofline.figure import TYPES, Figure, Loop
from incc.views.table import Cell, Table, TableRow, number_column, select, text_column
from incc.views.text.overview import row_of

_COLUMNS = (
    number_column("#", "Number in the figure"),
    text_column("Loop", "Function and place of the loop", 40, 12),
    text_column("Type", "Size of the floating-point elements", 8, 8),
    text_column("From", "Level of the data", 6, 6),
    number_column("flop/byte", "Floating-point operations per byte that moves between this level and the one inside"),
    number_column("flop/cycle", "Predicted floating-point operations per cycle"),
    number_column("GFLOP/s", "Predicted billions of floating-point operations per second at the clock"),
    number_column("Measured", "Measured floating-point operations per cycle"),
    number_column("Of roof", "Share of the operations per cycle that peak and bandwidth allow"),
    text_column("Roof", "The ceiling that bounds the loop: peak or bandwidth", 16, 8),
    number_column("Time", "Share of the time in the profiles"),
)


def figures_of(report: t.AnalysisReport) -> list[Figure]:
    """Return a figure for each core of a report that has the ceilings of its cores."""
    report = in_order(report)
    layout = Layout(0, False)
    layout.name_files(report)
    figures: dict[str, Figure] = {}
    several = len({unit.source or unit.assembly_file for unit in report.units}) > 1
    number = 0
    for unit in report.units:
        file = f"{layout.file(unit.source or unit.assembly_file)}:" if several else ""
        if unit.ceilings is not None and unit.model.name not in figures:
            figures[unit.model.name] = Figure(title=unit.model.title, ceilings=unit.ceilings)
        for kernel in unit.kernels:
            number += 1
            if kernel.roofline is None or unit.model.name not in figures:
                continue
            place, name = row_of(unit, kernel, {}, layout)[:2]
            place = f"{file}{place}" if ":" not in place else place
            figures[unit.model.name].loops.append(
                Loop(
                    number=number,
                    name=name or kernel.name,
                    place=place,
                    elements=kernel.arithmetic.flop_elements,
                    roofline=kernel.roofline,
                )
            )
    return list(figures.values())


def figures_of_ranking(ranking: r.Ranking) -> list[Figure]:
    """Return a figure for each core of a ranking that has the ceilings of its cores.

    Markers of loops grow with their share of the time in the profiles.
    """
    layout = Layout(0, False)
    layout.name_paths(cells.files(ranking))
    figures = {core.model: Figure(title=core.title, ceilings=core.ceilings) for core in ranking.ceilings}
    for number, row in enumerate(ranking.rows, 1):
        if row.roofline is not None:
            figures[row.model].loops.append(
                Loop(
                    number=number,
                    name=row.name,
                    place=cells.place(row, layout),
                    elements=row.flop_elements,
                    roofline=row.roofline,
                    share=(row.weight.share if row.weight else 0.0) if ranking.hotness else None,
                )
            )
    return list(figures.values())


def svg(figures: Sequence[Figure]) -> str:
    """Return the figures as an SVG file, one below the other, with lists below. Raises ValueError without loops."""
    _require_loops(figures)
    drawings = _drawings(figures)
    below = 0
    for drawn in drawings:
        drawn["y"] = below
        below += drawn["height"]
    text = templates.render("roofline/file.svg.j2", drawings=drawings, width=drawings[0]["width"], height=below)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}'


def page(figures: Sequence[Figure], tool: t.Tool) -> str:
    """Return the figures as a self-contained page, with tables of all loops. Raises ValueError without loops."""
    _require_loops(figures)
    return templates.render("roofline/page.html.j2", title="Roofline - incc", tool=tool, panels=panels(figures))


def _require_loops(figures: Sequence[Figure]) -> None:
    if not any(figure.loops for figure in figures):
        raise ValueError("no kernel to show")


def panels(figures: Sequence[Figure], href: str = "") -> list[dict[str, Any]]:
    """Return the values that `panel.html.j2` shows; an empty list without figures.

    Args:
        figures: The figures.
        href: The address of a loop on the page, without its number; "" for tables without links.
    """
    if not figures:
        return []
    return [
        {
            "drawing": drawn,
            "table": _table(figure, href) if any(loop.roofline.points for loop in figure.loops) else None,
            "remarks": list(_remarks(figure)),
            "configuration": figure.ceilings.configuration,
        }
        for figure, drawn in zip(figures, _drawings(figures), strict=True)
    ]


def _drawings(figures: Sequence[Figure]) -> list[dict[str, Any]]:
    return [drawing(figure, list(_remarks(figure))) for figure in figures]


def element_names(elements: Sequence[int]) -> str:
    """Return the names of element types, those of most operations first."""
    return ", ".join(TYPES.get(bits, f"{bits}-bit") for bits in elements)


def _remarks(figure: Figure) -> Iterator[str]:
    for loop in figure.loops:
        for reason in loop.roofline.remarks:
            yield f"{loop.number} {loop.title}: {reason}"


def _table(figure: Figure, href: str) -> Table:
    ghz = figure.ceilings.ghz
    rows = []
    for loop in figure.loops:
        for point in loop.roofline.points:
            texts = (
                element_names(loop.elements),
                point.level,
                f"{point.flop_per_byte:.4g}",
                f"{point.flop_per_cycle:.4g}",
                f"{point.flop_per_cycle * ghz:.4g}" if ghz else "",
                "" if point.measured is None else f"{point.measured:.4g}",
                f"{100 * point.flop_per_cycle / point.roof:.0f} %" if point.roof else "",
                f"{point.roof_by} bandwidth" if point.roof_by not in ("", "peak") else point.roof_by,
                "" if loop.share is None else f"{100 * loop.share:.1f} %",
            )
            name = Cell(text=loop.title, href=href and f"{href}{loop.number}")
            rows.append(TableRow([Cell(text=str(loop.number)), name, *[Cell(text=text) for text in texts]]))
    return select(Table(_COLUMNS, rows))
