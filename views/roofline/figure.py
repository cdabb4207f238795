"""The records of a roofline: a figure of one core, and its loops."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.report import types as t

TYPES = {16: "half", 32: "single", 64: "double"}
"""Names of floating-point types, by their bits."""


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
