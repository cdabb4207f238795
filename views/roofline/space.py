"""The space of a roofline in pixels: logarithmic scales, and places of labels that do not cover each other."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil, floor, log10
from typing import NamedTuple

WIDTH = 960
LEFT, RIGHT, TOP, PLOT = 64, 936, 40, 500
"""Edges of the plot, and its height."""

CHAR, LINE = 6.3, 14
"""Width of a character of labels (11 pixels high), and height of a line of text."""

LEAST, MOST = 1e-30, 1e30
"""Limits of the scales, far beyond the rates of any core."""


class Scale(NamedTuple):
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


class Room:
    """The parts of the plot that labels and markers have taken, in a grid of small cells."""

    _CELL = 4

    def __init__(self) -> None:
        self._taken: set[tuple[int, int]] = set()

    def is_free(self, box: tuple[float, float, float, float]) -> bool:
        """Return True if a box (left, top, right, bottom) lies in the plot and covers nothing."""
        left, top, right, bottom = box
        inside = left >= LEFT + 2 and right <= RIGHT - 2 and top >= TOP + 2 and bottom <= TOP + PLOT - 2
        return inside and self._taken.isdisjoint(self._cells(box))

    def take(self, box: tuple[float, float, float, float]) -> None:
        self._taken.update(self._cells(box))

    def _cells(self, box: tuple[float, float, float, float]) -> Iterator[tuple[int, int]]:
        left, top, right, bottom = (int(value // self._CELL) for value in box)
        for x in range(left, right + 1):
            for y in range(top, bottom + 1):
                yield x, y
