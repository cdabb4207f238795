"""The ceilings in a roofline: peaks of arithmetic and bandwidths, with their labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import atan2, degrees, sqrt
from typing import Any, NamedTuple

from incc.report import types as t
from incc.views.roofline.figure import TYPES
from incc.views.roofline.space import CHAR, LEAST, MOST, RIGHT, Room, Scale

_KINDS = {"separate": "add/mul", "fused": "FMA", "mixed": "FMA+add"}
"""Names of the kinds of arithmetic."""

DOUBLE = 64
SHARED, SEPARATE, BOTH = "7 4", "2 3", "9 3 2 3"
"""Dashes of bandwidths that several cores share, of peaks without fused multiply-adds, and of those that some widths
reach with and others without."""


class Flat(NamedTuple):
    """A peak that several kinds of arithmetic may have in common."""

    rate: float
    arithmetic: str
    dash: str


def peaks_of(ceilings: t.CeilingsReport, elements: set[int], clock: float) -> list[Flat]:
    """Return the different peaks of the types, the lowest first."""
    by_rate: dict[float, list[t.PeakReport]] = {}
    for peak in ceilings.peaks:
        if peak.element_bits in elements and LEAST < peak.flop_per_cycle * clock < MOST:
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
        dash = BOTH if len(separate) > 1 else SEPARATE if True in separate else ""
        flats.append(Flat(rate, "; ".join(texts), dash))
    return flats


def slopes_of(ceilings: t.CeilingsReport, clock: float) -> list[tuple[t.BandwidthReport, float]]:
    """Return the bandwidths, and their bytes per cycle, or per nanosecond at a clock in GHz."""
    slopes = [(each, each.bytes_per_cycle * clock) for each in ceilings.bandwidths]
    return [(each, width) for each, width in slopes if LEAST < width < MOST]


def diagonal_lines(
    slopes: Sequence[tuple[t.BandwidthReport, float]],
    peak: float,
    x: Scale,
    y: Scale,
    room: Room,
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
            "dash": SHARED if each.cores > 1 else "",
            "text": text,
            "label": (*place, text) if (place := _along((x1, y1, x2, y2), text, room)) else None,
        }


def _along(line: tuple[float, float, float, float], text: str, room: Room) -> tuple[float, float, float] | None:
    """Return the place of a label above a rising line, and its angle in degrees; None if there is no room."""
    x1, y1, x2, y2 = line
    length = sqrt((x2 - x1) ** 2 + (y2 - y1) ** 2)
    needed = len(text) * CHAR
    if not length:
        return None
    across, down = (x2 - x1) / length, (y2 - y1) / length
    for part in range(0, 95, 5):
        begin = 8 + part / 100 * length
        if begin + needed > length:
            break
        # Boxes of the size of a character along the baseline, which is 4 pixels above the line.
        places = [begin + CHAR * n for n in range(len(text))]
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


def flat_lines(
    peaks: Sequence[Flat], width: float, x: Scale, y: Scale, room: Room, ghz: float | None
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
            "x2": RIGHT,
            "y": at,
            "dash": peak.dash,
            "text": texts[0],
            "label": next((label for label in labels if label), None),
        }


def _above(start: float, at: float, text: str, room: Room) -> tuple[float, float, str] | None:
    """Return the right end of a label above a horizontal line, and the label; None if there is no room."""
    needed = len(text) * CHAR
    for right in range(RIGHT - 6, int(start + needed), -20):
        box = (right - needed, at - 13, float(right), at - 2)
        if room.is_free(box):
            room.take(box)
            return right, at - 4, text
    return None
