"""The layout of a roofline: logarithmic scales, lines, markers, and labels that do not cover each other.

All measures are in pixels. The drawing has a single colour, that of the page's text: lines differ by their dashes,
levels by the shapes of markers, and types of elements by their filling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import atan2, ceil, degrees, floor, log10, sqrt
from typing import Any, NamedTuple

import msgspec

from incc.report import types as t

WIDTH = 960
_LEFT, _RIGHT, _TOP, _PLOT = 64, 936, 40, 500
"""Edges of the plot, and its height."""

_CHAR, _LINE = 6.3, 14
"""Width of a character of labels (11 pixels high), and height of a line of text."""

_MOST_NAME = 32
"""Characters of a name in the plot."""

_MOST_TEXT = 145
"""Characters of a line below the plot."""

_RADIUS, _MOST_RADIUS = 5.0, 16.0
"""The radius of markers without shares of the time, and of one with all of the time."""

_LEAST, _MOST = 1e-30, 1e30
"""Limits of the scales, far beyond the rates of any core."""

_SHAPES = ("circle", "square", "triangle", "diamond")
_LEVELS = ("L1", "L2", "L3", "memory")
_FILLS, _OTHER = {64: 1.0, 32: 0.0}, 0.4
"""Opacity of the filling of markers by bits of elements, and that for other and for several types."""

_KINDS = {"separate": "add/mul", "fused": "FMA", "mixed": "FMA+add"}
"""Names of the kinds of arithmetic."""
TYPES = {16: "half", 32: "single", 64: "double"}
"""Names of floating-point types, by their bits."""
_DOUBLE = 64
_SHARED, _SEPARATE, _BOTH = "7 4", "2 3", "9 3 2 3"
"""Dashes of bandwidths that several cores share, of peaks without fused multiply-adds, and of those that some widths
reach with and others without."""


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A loop of a figure."""

    number: int
    name: str
    place: str
    """Its file and lines."""
    elements: Sequence[int]
    """Bits of its floating-point elements, those of most operations first."""
    roofline: t.RooflineReport
    share: float | None = None
    """Its share of the time; None if unknown."""

    @property
    def title(self) -> str:
        """Its name and place."""
        return f"{self.name}, {self.place}" if self.place else self.name


class Figure(msgspec.Struct, kw_only=True):
    """A roofline of one core."""

    title: str
    ceilings: t.CeilingsReport
    loops: list[Loop] = []


class _Scale(NamedTuple):
    """A logarithmic scale from values to pixels."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value; that of an end of the scale for values beyond it."""
        value = min(max(value, self.low), self.high)
        part = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        return self.start + part * (self.end - self.start)

    def ticks(self) -> list[float]:
        """Return round values, 1, 2 and 5 times powers of ten, or the powers alone if there would be too many."""
        decades = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps: tuple[int, ...] = (1, 2, 5) if len(decades) <= 5 else (1,)
        every = 1 if len(decades) <= 15 else len(decades) // 10
        values = [step * 10.0**decade for decade in decades[::every] for step in steps]
        return [value for value in values if self.low <= value <= self.high]


class _Room:
    """The parts of the plot that labels and markers have taken, in a grid of small cells."""

    _CELL = 4

    def __init__(self) -> None:
        self._taken: set[tuple[int, int]] = set()

    def is_free(self, box: tuple[float, float, float, float]) -> bool:
        """Return True if a box (left, top, right, bottom) lies in the plot and covers nothing."""
        left, top, right, bottom = box
        inside = left >= _LEFT + 2 and right <= _RIGHT - 2 and top >= _TOP + 2 and bottom <= _TOP + _PLOT - 2
        return inside and self._taken.isdisjoint(self._cells(box))

    def take(self, box: tuple[float, float, float, float]) -> None:
        self._taken.update(self._cells(box))

    def _cells(self, box: tuple[float, float, float, float]) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(value // self._CELL) for value in box)
        for x in range(left, right + 1):
            for y in range(top, bottom + 1):
                yield x, y


def drawing(figure: Figure, remarks: Sequence[str]) -> dict[str, Any]:
    """Return the measures and texts of a figure.

    Args:
        figure: The figure.
        remarks: Sentences on points that are missing or inexact.
    """
    ceilings = figure.ceilings
    clock = ceilings.ghz or 1.0
    points = [(loop, point) for loop in figure.loops for point in loop.roofline.points]
    elements = {bits for loop in figure.loops for bits in loop.elements} or {_DOUBLE}
    peaks = _peaks(ceilings, elements, clock)
    slopes = _slopes(ceilings, clock)
    x, y = _scales(points, [peak.rate for peak in peaks], [width for _, width in slopes], clock)
    room = _Room()
    markers = _markers(points, x, y, clock)
    for marker in markers:
        room.take(_around(marker["x"], marker["y"], marker["r"]))
    diagonals = list(_diagonals(slopes, max((peak.rate for peak in peaks), default=y.high), x, y, room, ceilings.ghz))
    flats = list(_flats(peaks, max((width for _, width in slopes), default=0.0), x, y, room, ceilings.ghz))
    named = _label(markers, room)
    lines = [*flats[::-1], *diagonals]
    bottom = _TOP + _PLOT + 46
    legend = list(_legend(points, peaks, slopes))
    plot_height = bottom + _LINE * len(legend)
    lists = {
        "Not named in the figure:": [
            _described(loop, clock, ceilings.ghz)
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
        "left": _LEFT,
        "right": _RIGHT,
        "top": _TOP,
        "bottom": _TOP + _PLOT,
        "ceilings": [line["text"] for line in lines],
        "diagonals": diagonals,
        "flats": flats,
        "markers": markers,
        "legend": [(bottom + _LINE * n, entries) for n, entries in enumerate(legend)],
        "lines": below,
        "width": WIDTH,
        "plot_height": plot_height,
        "height": (below[-1][0] if below else plot_height) + _LINE,
    }


def _lists(lists: Mapping[str, Sequence[str]], top: int) -> Iterator[tuple[int, str, str, bool]]:
    """Yield the lines of lists with their headings: place, text, the text as far as it fits, and True for a heading."""
    for heading, texts in lists.items():
        for text in [heading, *texts] if texts else []:
            shown = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
            yield top, text, shown, text is heading
            top += _LINE
        top += _LINE // 2 if texts else 0


def _scales(
    points: Sequence[tuple[Loop, t.RooflinePoint]], peaks: Sequence[float], widths: Sequence[float], clock: float
) -> tuple[_Scale, _Scale]:
    """Return scales that show all points, and the ceilings up to where peaks take over from bandwidths."""
    across = [point.flop_per_byte for _, point in points]
    rates = [rate * clock for _, point in points for rate in (point.flop_per_cycle, point.measured) if rate]
    ridges = [max(peaks) / width for width in widths] if peaks else []
    x_values = [value for value in (*across, *ridges) if _LEAST < value < _MOST] or [1.0]
    y_values = [value for value in (*rates, *peaks) if _LEAST < value < _MOST] or [1.0]
    return (
        _Scale(min(x_values) / 3, max(x_values) * 3, _LEFT, _RIGHT),
        _Scale(min(y_values) / 2, max(y_values) * 2, _TOP + _PLOT, _TOP),
    )


class _Flat(NamedTuple):
    """A peak that several kinds of arithmetic may have in common."""

    rate: float
    arithmetic: str
    dash: str


def _peaks(ceilings: t.CeilingsReport, elements: set[int], clock: float) -> list[_Flat]:
    """Return the different peaks of the types, the lowest first."""
    by_rate: dict[float, list[t.PeakReport]] = {}
    for peak in ceilings.peaks:
        if peak.element_bits in elements and _LEAST < peak.flop_per_cycle * clock < _MOST:
            by_rate.setdefault(peak.flop_per_cycle * clock, []).append(peak)
    flats = []
    for rate, same in sorted(by_rate.items()):
        of_types: dict[int, dict[str, None]] = {}
        for peak in same:
            width = "scalar" if peak.vector_bits == peak.element_bits else f"{peak.vector_bits}-bit"
            of_types.setdefault(peak.element_bits, {})[f"{width} {_KINDS[peak.kind]}"] = None
        texts = [
            f"{TYPES.get(bits, bits)} {', '.join(kinds)}" if len(elements) > 1 else ", ".join(kinds)
            for bits, kinds in of_types.items()
        ]
        separate = {peak.kind == "separate" for peak in same}
        dash = _BOTH if len(separate) > 1 else _SEPARATE if True in separate else ""
        flats.append(_Flat(rate, "; ".join(texts), dash))
    return flats


def _slopes(ceilings: t.CeilingsReport, clock: float) -> list[tuple[t.BandwidthReport, float]]:
    """Return the bandwidths, and their bytes per cycle, or per nanosecond at a clock in GHz."""
    slopes = [(each, each.bytes_per_cycle * clock) for each in ceilings.bandwidths]
    return [(each, width) for each, width in slopes if _LEAST < width < _MOST]


def _diagonals(
    slopes: Sequence[tuple[t.BandwidthReport, float]],
    peak: float,
    x: _Scale,
    y: _Scale,
    room: _Room,
    ghz: float | None,
) -> Iterator[dict[str, Any]]:
    """Yield the lines of bandwidths up to the highest peak, with a label along each."""
    for each, width in slopes:
        start = max(x.low, y.low / width)
        end = min(x.high, peak / width)
        if end <= start:
            continue
        x1, y1, x2, y2 = x.at(start), y.at(start * width), x.at(end), y.at(end * width)
        text = f"{each.level} {each.bytes_per_cycle * (ghz or 1):.3g} {'GB/s' if ghz else 'B/cycle'}"
        text += f" for each of {each.cores} cores" if each.cores > 1 else ""
        yield {
            "x1": x1,
            "y1": y1,
            "x2": x2,
            "y2": y2,
            "dash": _SHARED if each.cores > 1 else "",
            "text": text,
            "label": (*place, text) if (place := _along((x1, y1, x2, y2), text, room)) else None,
        }


def _along(line: tuple[float, float, float, float], text: str, room: _Room) -> tuple[float, float, float] | None:
    """Return the place of a label above a rising line, and its angle in degrees; None if there is no room."""
    x1, y1, x2, y2 = line
    length = sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
    needed = len(text) * _CHAR
    if not length:
        return None
    across, down = (x2 - x1) / length, (y2 - y1) / length
    for part in range(0, 95, 5):
        begin = 8 + part / 100 * length
        if begin + needed > length:
            break
        # Boxes of the size of a character along the baseline, which is 4 pixels above the line.
        places = [begin + _CHAR * n for n in range(len(text))]
        boxes = [
            (x1 + at * across + 4 * down, y1 + at * down - 4 * across - 9, x1 + at * across + 8, y1 + at * down - 4)
            for at in places
        ]
        if all(room.is_free(box) for box in boxes):
            for box in boxes:
                room.take(box)
            at = begin
            return x1 + at * across + 4 * down, y1 + at * down - 4 * across, degrees(atan2(down, across))
    return None


def _flats(
    peaks: Sequence[_Flat], width: float, x: _Scale, y: _Scale, room: _Room, ghz: float | None
) -> Iterator[dict[str, Any]]:
    """Yield the lines of peaks from the highest bandwidth on, each with a label as far right as there is room."""
    for peak in peaks:
        start = max(x.low, peak.rate / width) if width else x.low
        if start >= x.high:
            continue
        at = y.at(peak.rate)
        rate = f"{peak.rate:.4g} {'GFLOP/s' if ghz else 'flop/cycle'}"
        texts = (f"{rate}: {peak.arithmetic}", rate)
        labels = (_above(x.at(start), at, text, room) for text in texts)
        yield {
            "x1": x.at(start),
            "x2": _RIGHT,
            "y": at,
            "dash": peak.dash,
            "text": texts[0],
            "label": next((label for label in labels if label), None),
        }


def _above(start: float, at: float, text: str, room: _Room) -> tuple[float, float, str] | None:
    """Return the right end of a label above a horizontal line, and the label; None if there is no room."""
    needed = len(text) * _CHAR
    for right in range(_RIGHT - 6, int(start + needed), -20):
        box = (right - needed, at - 13, float(right), at - 2)
        if room.is_free(box):
            room.take(box)
            return right, at - 4, text
    return None


def _markers(
    points: Sequence[tuple[Loop, t.RooflinePoint]], x: _Scale, y: _Scale, clock: float
) -> list[dict[str, Any]]:
    """Return the markers, the most important first; loops at the same place share one."""
    markers: dict[tuple[Any, ...], dict[str, Any]] = {}
    for loop, point in sorted(points, key=lambda each: -(each[0].share or 0.0)):
        px, py = x.at(point.flop_per_byte), y.at(point.flop_per_cycle * clock)
        fill = _fill(loop)
        measured = y.at(point.measured * clock) if point.measured else None
        key = round(px), round(py), point.level, fill, measured
        radius = _RADIUS if loop.share is None else 3 + (_MOST_RADIUS - 3) * sqrt(min(loop.share, 1.0))
        shape = _SHAPES[_LEVELS.index(point.level)] if point.level in _LEVELS else _SHAPES[0]
        marker = markers.setdefault(
            key,
            {
                "x": px,
                "y": py,
                "r": radius,
                "shape": shape,
                "fill": fill,
                "measured": measured,
                "loops": [],
                "label": None,
            },
        )
        marker["loops"].append(loop)
        marker["title"] = "\n".join(
            f"{each.number} {each.title} ({point.level}): {point.flop_per_byte:.4g} flop/byte, "
            f"{point.flop_per_cycle:.4g} flop/cycle"
            for each in marker["loops"][:20]
        )
    return list(markers.values())


def _fill(loop: Loop) -> float:
    """Return the opacity of the filling of a loop's markers."""
    return _FILLS.get(loop.elements[0], _OTHER) if len(loop.elements) == 1 else _OTHER


def _around(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    """Return the box of a marker: left, top, right, bottom."""
    return x - radius, y - radius, x + radius, y + radius


def _label(markers: Iterable[dict[str, Any]], room: _Room) -> set[int]:
    """Place the labels of markers: names, or numbers where names do not fit. Return the numbers of the named loops."""
    named: set[int] = set()
    for marker in markers:
        first: Loop = marker["loops"][0]
        name = first.name if len(first.name) <= _MOST_NAME else f"{first.name[: _MOST_NAME - 1]}…"
        more = f" +{len(marker['loops']) - 1}" if len(marker["loops"]) > 1 else ""
        for text in (f"{first.number} {name}{more}", f"{first.number}{more}"):
            place = _beside(marker, len(text) * _CHAR, room)
            if place is None:
                continue
            marker["label"] = (*place, text)
            if text.endswith(name):
                named.add(first.number)
            break
    return named


def _beside(marker: dict[str, Any], width: float, room: _Room) -> tuple[float, float] | None:
    """Return the left end of a label's baseline beside a marker; None if there is no room."""
    x, y, gap = marker["x"], marker["y"], marker["r"] + 3
    places = (
        (x + gap, y + 4),
        (x - gap - width, y + 4),
        (x - width / 2, y - gap),
        (x - width / 2, y + gap + 9),
        (x + gap * 0.7, y - gap * 0.7),
        (x + gap * 0.7, y + gap * 0.7 + 8),
        (x - gap * 0.7 - width, y - gap * 0.7),
        (x - gap * 0.7 - width, y + gap * 0.7 + 8),
    )
    for left, base in places:
        box = (left, base - 9, left + width, base + 2)
        if room.is_free(box):
            room.take(box)
            return left, base
    return None


def _described(loop: Loop, clock: float, ghz: float | None) -> str:
    """Return a loop's points in words."""
    texts = [
        f"{point.level} {point.flop_per_byte:.3g} flop/byte, {min(point.flop_per_cycle * clock, _MOST):.3g} "
        f"{'GFLOP/s' if ghz else 'flop/cycle'}"
        for point in loop.roofline.points
    ]
    return f"{loop.number} {loop.title}: {'; '.join(texts)}"


def _legend(
    points: Sequence[tuple[Loop, t.RooflinePoint]],
    peaks: Sequence[_Flat],
    slopes: Sequence[tuple[t.BandwidthReport, float]],
) -> Iterator[list[dict[str, Any]]]:
    """Yield rows of the legend: markers, then lines. Each entry has its place, a shape or dashes, and a text."""
    levels = {point.level for _, point in points}
    entries = [
        {"shape": shape, "fill": 1.0, "text": f"data from {level}"}
        for level, shape in zip(_LEVELS, _SHAPES, strict=True)
        if level in levels
    ]
    fills = {_fill(loop) for loop, _ in points}
    kinds = ((1.0, "double precision"), (0.0, "single precision"), (_OTHER, "other precision"))
    entries += [{"shape": "circle", "fill": fill, "text": text} for fill, text in kinds if fill in fills]
    if any(point.measured for _, point in points):
        entries.append({"shape": "cross", "fill": 0.0, "text": "measured"})
    if any(loop.share is not None for loop, _ in points):
        entries.append({"shape": "", "fill": 0.0, "text": "area: share of the time"})
    yield from _placed(entries)
    dashes = {peak.dash for peak in peaks}
    meanings = (("", "peak with FMA"), (_SEPARATE, "peak without FMA"), (_BOTH, "peak with FMA or wider without"))
    lines = [{"dash": dash, "text": text} for dash, text in meanings if dash in dashes]
    if any(each.cores == 1 for each, _ in slopes):
        lines.append({"dash": "", "text": "bandwidth of one core"})
    if any(each.cores > 1 for each, _ in slopes):
        lines.append({"dash": _SHARED, "text": "bandwidth of each of several cores"})
    yield from _placed(lines)


def _placed(entries: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return entries in rows of the plot's width, each with its left edge."""
    rows: list[list[dict[str, Any]]] = [[]]
    left = float(_LEFT)
    for entry in entries:
        width = 38 + _CHAR * len(entry["text"])
        if rows[-1] and left + width > WIDTH:
            rows.append([])
            left = float(_LEFT)
        rows[-1].append({**entry, "x": left})
        left += width + 12
    return rows
