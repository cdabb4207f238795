"""The page of `incc-bench`: its tables, and the matrix of pairs as a picture (SVG), which is also a file of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from incc.views import bench
from incc.views.html import templates
from incc.views.table import Table, row, select

_CELL, _CHAR = 34, 7
"""Pixels of a cell of the matrix, and of a character."""

_TABLES = {"pairs": ("Pairs", bench.PAIRS), "figures": ("Forms", bench.FIGURES), "kernels": ("Kernels", bench.KERNELS)}


def page(results: dict[str, Any]) -> str:
    """Return a self-contained page. `results` is as in views/bench.py."""
    tables = [
        (caption, select(Table(columns, [row(*texts) for texts in results[key]])))
        for key, (caption, columns) in _TABLES.items()
        if results[key]
    ]
    return templates.render(
        "bench.html.j2",
        title="incc-bench",
        core=results["core"],
        way=results["way"],
        notes=results["notes"],
        matrix=results["matrix"] and _drawing(results["matrix"]),
        plot=None,
        tables=tables,
    )


def picture(matrix: dict[str, Any]) -> str:
    """Return the matrix as an SVG file: a cell for each pair, the redder the more they conflict."""
    svg = templates.render("bench_matrix.svg.j2", matrix=_drawing(matrix))
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg}'


def _drawing(matrix: dict[str, Any]) -> dict[str, object]:
    """Return the measures of the picture, and titles, texts and colours of its cells."""
    titles: Sequence[str] = matrix["titles"]
    left, size = _CHAR * max(map(len, titles)) + 40, _CELL * len(titles)
    rows = []
    for title, values in zip(titles, matrix["values"], strict=True):
        cells = [
            # Write a value that rounds to zero without a sign.
            None
            if value is None
            else (f"{title} with {other}: {value:.2f}", f"{round(value, 1) + 0.0:.1f}", _colour(value))
            for other, value in zip(titles, values, strict=False)
        ]
        rows.append((title, cells))
    return {"left": left, "cell": _CELL, "width": left + size + 8, "height": 24 + size + 8, "rows": rows}


def _colour(value: float) -> str:
    """Return a colour from light blue for 0 to red for 1 and more."""
    part = min(max(value, 0.0), 1.0)
    light, strong = (198, 219, 239), (239, 101, 72)
    mixed = [round(a + (b - a) * part) for a, b in zip(light, strong, strict=True)]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"
