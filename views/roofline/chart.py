"""The layout of a roofline: logarithmic scales, lines, markers, and labels that do not cover each other.

All measures are in pixels. `space` has the scales and the room for labels, `ceilings` the lines, and `markers` the
loops with their legend. The drawing has a single colour, that of the page's text: lines differ by their dashes, levels
by the shapes of markers, and types of elements by their filling.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from incc.report import types as t
from incc.views.roofline.ceilings import DOUBLE, diagonal_lines, flat_lines, peaks_of, slopes_of
from incc.views.roofline.figure import Figure, Loop
from incc.views.roofline.markers import around, described, legend_rows, markers_of, place_labels
from incc.views.roofline.space import LEAST, LEFT, LINE, MOST, PLOT, RIGHT, TOP, WIDTH, Room, Scale

_MOST_TEXT = 145
"""Characters of a line below the plot."""


def drawing(figure: Figure, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the measures and texts of a figure.

    Args:
        figure: The figure.
        remarks: Sentences on points that are missing or inexact.
    """
    ceilings = figure.ceilings
    clock = ceilings.ghz or 1.0
    points = [(loop, point) for loop in figure.loops for point in loop.roofline.points]
    elements = {bits for loop in figure.loops for bits in loop.elements} or {DOUBLE}
    peaks = peaks_of(ceilings, elements, clock)
    slopes = slopes_of(ceilings, clock)
    x, y = _scales(points, [peak.rate for peak in peaks], [width for _, width in slopes], clock)
    room = Room()
    markers = markers_of(points, x, y, clock)
    for marker in markers:
        room.take(around(marker["x"], marker["y"], marker["r"]))
    diagonals = list(
        diagonal_lines(slopes, max((peak.rate for peak in peaks), default=y.high), x, y, room, ceilings.ghz)
    )
    flats = list(flat_lines(peaks, max((width for _, width in slopes), default=0.0), x, y, room, ceilings.ghz))
    named = place_labels(markers, room)
    lines = [*flats[::-1], *diagonals]
    bottom = TOP + PLOT + 46
    legend = list(legend_rows(points, peaks, slopes))
    plot_height = bottom + LINE * len(legend)
    lists = {
        "Not named in the figure:": [
            described(loop, clock, ceilings.ghz)
            for loop in figure.loops
            if loop.number not in named and loop.roofline.points
        ],
        "Ceilings without a full label:": [
            line["text"] for line in lines if line["label"] is None or line["text"] not in line["label"]
        ],
        "Missing and inexact points:": remarks,
    }
    below = list(_lists(lists, plot_height + 8))
    unit = f"GFLOP/s at {ceilings.ghz:g} GHz" if ceilings.ghz else "flop/cycle"
    return {
        "title": figure.title,
        "x_title": "flop/byte",
        "y_title": unit,
        "x_ticks": [(x.at(value), f"{value:g}") for value in x.ticks()],
        "y_ticks": [(y.at(value), f"{value:g}") for value in y.ticks()],
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "bottom": TOP + PLOT,
        "ceilings": [line["text"] for line in lines],
        "diagonals": diagonals,
        "flats": flats,
        "markers": markers,
        "legend": [(bottom + LINE * n, entries) for n, entries in enumerate(legend)],
        "lines": below,
        "width": WIDTH,
        "plot_height": plot_height,
        "height": (below[-1][0] if below else plot_height) + LINE,
    }


def _lists(lists: Mapping[str, Sequence[str]], top: int) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the lines of lists with their headings: place, text, the text as far as it fits, and True for a heading."""
    for heading, texts in lists.items():
        for text in [heading, *texts] if texts else []:
            shown = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
            yield top, text, shown, text is heading
            top += LINE
        top += LINE // 2 if texts else 0


def _scales(
    points: Sequence[tuple[Loop, t.RooflinePoint]], peaks: Sequence[float], widths: Sequence[float], clock: float
) -> tuple[Scale, Scale]:
    """Return scales that show all points, and the ceilings up to where peaks take over from bandwidths."""
    across = [point.flop_per_byte for _, point in points]
    rates = [rate * clock for _, point in points for rate in (point.flop_per_cycle, point.measured) if rate]
    ridges = [max(peaks) / width for width in widths] if peaks else []
    x_values = [value for value in (*across, *ridges) if LEAST < value < MOST] or [1.0]
    y_values = [value for value in (*rates, *peaks) if LEAST < value < MOST] or [1.0]
    return (
        Scale(min(x_values) / 3, max(x_values) * 3, LEFT, RIGHT),
        Scale(min(y_values) / 2, max(y_values) * 2, TOP + PLOT, TOP),
    )
