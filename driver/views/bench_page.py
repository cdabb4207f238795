"""The page of `incc-bench`: its tables, and the matrix of pairs as an SVG picture."""

from __future__ import annotations

from incc.driver.views.page import Column, Html, document, element, escaped, table

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

_CELL, _CHAR = 34, 7
_STYLE = """\
body { padding: 12px 16px; }
table.incc-table { border-collapse: collapse; margin: 12px 0; }
table.incc-table caption { text-align: left; color: var(--muted); padding: 4px 0; }
table.incc-table th, table.incc-table td { text-align: left; padding: 2px 12px 2px 0; }
table.incc-table thead th { border-bottom: 1px solid var(--grid); }
table.incc-table .incc-number { text-align: right; font-variant-numeric: tabular-nums; }
table.incc-table td.incc-name { font-family: ui-monospace, monospace; }
figure { margin: 12px 0; overflow-x: auto; }
"""


def page(results: dict[str, Any]) -> str:
    """Return a self-contained HTML page with the results, as `views.bench.lines` takes them."""
    parts = [element("h1", results["core"]), element("p", results["way"], class_="muted")]
    parts += [element("p", f"note: {note}") for note in results["notes"]]
    if results["matrix"]:
        caption = "Conflict of pairs: 0 they overlap, 1 one waits for the other."
        parts.append(element("figure", svg(results["matrix"]), element("figcaption", caption, class_="muted")))
    figures = (("figure", False), ("cycles", True), ("±", True), ("model", True), ("", False))
    for key, caption, columns in (
        (
            "pairs",
            "Pairs",
            (("pair", False), *((c, True) for c in ("cycles", "±", "larger", "sum", "model", "conflict"))),
        ),
        ("figures", "Forms", (("form", False), *figures)),
        ("kernels", "Kernels", (("kernel", False), *figures[1:])),
    ):
        if results[key]:
            parts.append(table([Column(title, number) for title, number in columns], [results[key]], caption))
    return document("incc-bench", _STYLE, Html("\n".join(parts)))


def svg(matrix: dict[str, Any]) -> Html:
    """Return the matrix as an SVG element: a cell for each pair, the redder the more they conflict."""
    titles: Sequence[str] = matrix["titles"]
    left = _CHAR * max(map(len, titles)) + 40
    size = _CELL * len(titles)
    parts = []
    for n, title in enumerate(titles):
        y = 24 + n * _CELL
        parts.append(_text(left - 8, y + 21, f"{title}  {n + 1}", "end"))
        parts.append(_text(left + n * _CELL + _CELL // 2, 16, str(n + 1), "middle"))
        for m, value in enumerate(matrix["values"][n]):
            x = left + m * _CELL
            if value is None:
                continue
            tooltip = f"{title} with {titles[m]}: {value:.2f}"
            shown = f"{round(value, 1) + 0.0:.1f}"  # adding zero removes the sign of -0.0
            parts.append(
                f'<g><title>{escaped(tooltip)}</title><rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" '
                f'fill="{_colour(value)}"/>{_text(x + _CELL // 2, y + 21, shown, "middle", "#111")}</g>'
            )
    width, height = left + size + 8, 24 + size + 8
    return Html(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="conflict of pairs" font-family="ui-monospace, monospace" font-size="12">'
        f"{''.join(parts)}</svg>"
    )


def picture(matrix: dict[str, Any]) -> str:
    """Return the matrix as an SVG file."""
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{svg(matrix)}\n'


def _text(x: int, y: int, text: str, anchor: str, fill: str = "currentColor") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{fill}">{escaped(text)}</text>'


def _colour(value: float) -> str:
    """Return a colour from light blue for 0 to red for 1 and more."""
    part = min(max(value, 0.0), 1.0)
    light, strong = (198, 219, 239), (239, 101, 72)
    mixed = [round(a + (b - a) * part) for a, b in zip(light, strong, strict=True)]
    return f"#{mixed[0]:02x}{mixed[1]:02x}{mixed[2]:02x}"
