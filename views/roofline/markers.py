"""The loops in a roofline: markers, their labels, and the legend."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from math import sqrt
from typing import Any

from incc.report import types as t
from incc.views.roofline.ceilings import BOTH, SEPARATE, SHARED, Flat
from incc.views.roofline.figure import Loop
from incc.views.roofline.space import CHAR, LEFT, MOST, WIDTH, Room, Scale

_MOST_NAME = 32
"""Characters of a name in the plot."""

_RADIUS, _MOST_RADIUS = 5.0, 16.0
"""The radius of markers without shares of the time, and of one with all of the time."""

_SHAPES = ("circle", "square", "triangle", "diamond")
_LEVELS = ("L1", "L2", "L3", "memory")
_FILLS, _OTHER = {64: 1.0, 32: 0.0}, 0.4
"""Opacity of the filling of markers by bits of elements, and that for other and for several types."""


def markers_of(
    points: Sequence[tuple[Loop, t.RooflinePoint]], x: Scale, y: Scale, clock: float
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


def around(x: float, y: float, radius: float) -> tuple[float, float, float, float]:
    """Return the box of a marker: left, top, right, bottom."""
    return x - radius, y - radius, x + radius, y + radius


def place_labels(markers: Iterable[dict[str, Any]], room: Room) -> set[int]:
    """Place the labels of markers: names, or numbers where names do not fit. Return the numbers of the named loops."""
    named: set[int] = set()
    for marker in markers:
        first: Loop = marker["loops"][0]
        name = first.name if len(first.name) <= _MOST_NAME else f"{first.name[: _MOST_NAME - 1]}…"
        more = f" +{len(marker['loops']) - 1}" if len(marker["loops"]) > 1 else ""
        for text in (f"{first.number} {name}{more}", f"{first.number}{more}"):
            place = _beside(marker, len(text) * CHAR, room)
            if place is None:
                continue
            marker["label"] = (*place, text)
            if text.endswith(name):
                named.add(first.number)
            break
    return named


def _beside(marker: dict[str, Any], width: float, room: Room) -> tuple[float, float] | None:
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


def described(loop: Loop, clock: float, ghz: float | None) -> str:
    """Return a loop's points in words."""
    texts = [
        f"{point.level} {point.flop_per_byte:.3g} flop/byte, {min(point.flop_per_cycle * clock, MOST):.3g} "
        f"{'GFLOP/s' if ghz else 'flop/cycle'}"
        for point in loop.roofline.points
    ]
    return f"{loop.number} {loop.title}: {'; '.join(texts)}"


def legend_rows(
    points: Sequence[tuple[Loop, t.RooflinePoint]],
    peaks: Sequence[Flat],
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
    meanings = (("", "peak with FMA"), (SEPARATE, "peak without FMA"), (BOTH, "peak with FMA or wider without"))
    lines = [{"dash": dash, "text": text} for dash, text in meanings if dash in dashes]
    if any(each.cores == 1 for each, _ in slopes):
        lines.append({"dash": "", "text": "bandwidth of one core"})
    if any(each.cores > 1 for each, _ in slopes):
        lines.append({"dash": SHARED, "text": "bandwidth of each of several cores"})
    yield from _placed(lines)


def _placed(entries: Iterable[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """Return entries in rows of the plot's width, each with its left edge."""
    rows: list[list[dict[str, Any]]] = [[]]
    left = float(LEFT)
    for entry in entries:
        width = 38 + CHAR * len(entry["text"])
        if rows[-1] and left + width > WIDTH:
            rows.append([])
            left = float(LEFT)
        rows[-1].append({**entry, "x": left})
        left += width + 12
    return rows
