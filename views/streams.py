"""The text, the page and the plot of `incc-bench --memory`."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator, Sequence
from typing import Any

from incc.views.html import templates
from incc.views.layout import BOLD, Layout
from incc.views.table import Column, Table, number_column, row, select, text_lines

COSTS = ("read", "allocate", "write", "one_stream", "one_store_stream", "non_temporal", "all_cores")
"""The costs of a level, as models name them (`models.memory`)."""

_WIDTH, _HEIGHT, _LEFT, _TOP, _RIGHT = 720, 300, 56, 40, 130
"""Pixels of a panel of the plot, and of its margins."""
_BELOW = 44
"""Pixels below a panel, for the labels of its axis."""
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 4", "12 4", "1 4", "6 2 1 2 1 2")
"""Patterns of lines, so that the plot needs no colours."""
_LABEL = 13
"""Pixels between labels of lines."""


def lines(results: dict[str, Any], layout: Layout) -> Iterator[str]:
    """Yield the text.

    Args:
        results: The results (`driver.commands.bench_memory`): `core`, `way` of measuring, names of `levels`, number of
            `cores`, cells of the tables `times` and `hierarchy`, sentences on the `fits`, `curves` (`name`, `bits`,
            `cores`, and `points` of bytes and cycles), and `sizes` of the caches (name, bytes).
        layout: The width and the colours of the text.
    """
    yield layout.paint(results["core"], BOLD)
    yield results["way"]
    for caption, table in _tables(results):
        yield ""
        yield caption
        yield from text_lines(table, layout)
    if results["fits"]:
        yield ""
    for text in results["fits"]:
        yield from textwrap.wrap(text, layout.width or 80, subsequent_indent="  ", break_on_hyphens=False)


def _tables(results: dict[str, Any]) -> Iterator[tuple[str, Table]]:
    """Yield captions and tables."""
    cores, levels = results["cores"], results["levels"]
    titles = [*levels, *[f"{name}×{cores}" for name in levels if cores > 1]]
    columns = [Column(title="loop", code=True), number_column("bits"), *map(number_column, titles)]
    several = f"; ×{cores}: {cores} cores, each on its own arrays" if cores > 1 else ""
    yield (
        f"Core cycles per cache line of each array, by the level that holds the arrays{several}:",
        Table(columns, [row(*texts) for texts in results["times"]]),
    )
    if results["hierarchy"]:
        titles = ["size", "ways", "cores", *COSTS, "GB/s", "GB/s, all"]
        table = Table([Column(title="level"), *map(number_column, titles)], [row(*t) for t in results["hierarchy"]])
        yield "The table `memory` that explains them best, in core cycles per cache line:", select(table)


def page(results: dict[str, Any]) -> str:
    """Return a self-contained page."""
    return templates.render(
        "bench.html.j2",
        title="incc-bench --memory",
        core=results["core"],
        way=results["way"],
        notes=results["fits"],
        matrix=None,
        plot=_drawing(results),
        tables=list(_tables(results)),
    )


def picture(results: dict[str, Any]) -> str:
    """Return the plot as an SVG file: cycles by size, a panel for each width of vectors and number of cores."""
    svg = templates.render("bench_streams.svg.j2", plot=_drawing(results))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}'


def _drawing(results: dict[str, Any]) -> dict[str, Any]:
    """Return the measures of the plot in pixels; both axes are logarithmic."""
    curves = [curve for curve in results["curves"] if curve["points"]]
    groups = dict.fromkeys((curve["bits"], curve["cores"]) for curve in curves)
    panels = []
    for number, (bits, cores) in enumerate(groups):
        chosen = [curve for curve in curves if (curve["bits"], curve["cores"]) == (bits, cores)]
        title = f"{bits}-bit vectors, {cores} core{'s' * (cores > 1)}"
        panels.append({"top": number * (_TOP + _HEIGHT + _BELOW), "title": title, **_panel(chosen, results["sizes"])})
    return {
        "width": _LEFT + _WIDTH + _RIGHT,
        "height": max(len(panels), 1) * (_TOP + _HEIGHT + _BELOW),
        "panels": panels,
        "left": _LEFT,
        "right": _LEFT + _WIDTH,
        "above": _TOP,
        "below": _TOP + _HEIGHT,
    }


def _panel(curves: Sequence[dict[str, Any]], sizes: Sequence[tuple[str, int]]) -> dict[str, Any]:
    """Return the measures of a panel: its curves, the grid, and the sizes of caches."""
    every = [point for curve in curves for point in curve["points"]]
    least, most = min(size for size, _ in every), max(size for size, _ in every)
    low, high = min(cycles for _, cycles in every), max(cycles for _, cycles in every)

    def x(size: float) -> float:
        return round(_LEFT + _WIDTH * math.log(size / least) / max(math.log(most / least), 1e-9), 1)

    def y(cycles: float) -> float:
        return round(_TOP + _HEIGHT * (1 - math.log(cycles / low) / max(math.log(high / low), 1e-9)), 1)

    ends = sorted((y(curve["points"][-1][1]), number) for number, curve in enumerate(curves))
    places: dict[int, float] = {}
    last = -math.inf
    for place, number in ends:
        last = places[number] = max(place, last + _LABEL)
    return {
        "curves": [
            {
                "name": curve["name"],
                "path": " ".join(f"{x(size)},{y(cycles)}" for size, cycles in curve["points"]),
                "end": y(curve["points"][-1][1]),
                "label": places[number],
                "dash": _DASHES[number % len(_DASHES)],
                "points": [
                    (x(size), y(cycles), f"{curve['name']}, {_bytes(size)}: {cycles:.2f}")
                    for size, cycles in curve["points"]
                ],
            }
            for number, curve in enumerate(curves)
        ],
        "columns": [(x(1 << n), _bytes(1 << n)) for n in range(10, 50, 2) if least <= 1 << n <= most],
        "rows": [(y(2.0**n), f"{2.0**n:g}") for n in range(-4, 12) if low <= 2.0**n <= high],
        "caches": [(x(size), name) for name, size in sizes if least < size < most],
    }


def _bytes(size: int) -> str:
    """Return a size with a binary unit: "48 KiB"."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if size >= 1 << shift:
            return f"{size / (1 << shift):g} {unit}"
    return f"{size} B"
