"""The page of `incc-bench`: its tables, and the matrix of pairs as a picture (SVG), which is also a file of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.html import templates
from incc.views.table import Column, Table, row, select

if TYPE_CHECKING:
    from collections.abc import Sequence

_CELL, _CHAR = 34, 7
"""Pixels of a cell of the matrix, and of a character."""

_FIGURES = ("cycles", "±", "model", "")
_TABLES = {
    "pairs": ("Pairs", ("pair", "cycles", "±", "larger", "sum", "model", "conflict")),
    "figures": ("Forms", ("form", "figure", *_FIGURES)),
    "kernels": ("Kernels", ("kernel", *_FIGURES)),
}
_TEXTS = ("pair", "form", "figure", "kernel", "")


def page(found: dict[str, Any]) -> str:
    """Return a page that needs no other file. `found`: as views/bench.py has it."""
    tables = []
    for key, (caption, titles) in _TABLES.items():
        if found[key]:
            columns = [Column(title=title, right=title not in _TEXTS, code=title in _TEXTS) for title in titles]
            tables.append((caption, select(Table(columns, [row(*texts) for texts in found[key]]))))
    return templates.render(
        "bench.html.j2",
        title="incc-bench",
        core=found["core"],
        way=found["way"],
        notes=found["notes"],
        matrix=found["matrix"] and _drawing(found["matrix"]),
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
            # What is rounded to nothing has no sign.
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
