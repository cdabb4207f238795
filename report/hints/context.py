"""What the rules know of a loop besides its figures: its compilation, its source, and the loops around it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from incc.core.ranges import KernelRange
from incc.frontends.kernel import KernelCode, SourceLocation
from incc.report import wording
from incc.report.hints.advice import ASSEMBLY, CompilerCall

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.ways import Ways


class Replacement(msgspec.Struct, frozen=True):
    """The loop that runs instead of a vectorised one, because the check of the addresses fails."""

    facts: KernelResult
    share: Fraction
    """The work of one of its iterations relative to one of the loop that it replaces."""


class HintContext(msgspec.Struct, frozen=True, kw_only=True):
    """What the rules know of a loop besides its figures."""

    build: CompilerCall = ASSEMBLY
    elements: Fraction = Fraction(1)
    """The elements of the source's loop that an iteration handles; 1 if unknown."""
    trips: int = 0
    """The iterations of the source's loop each time it is entered; 0 if unknown."""
    lines: Mapping[int, SourceLocation] = {}
    """The places in the source by line of the assembly, as far as known."""
    ways: Ways | None = None
    """The paths through the loop; None without branches inside."""
    spread: KernelRange | None = None
    """The range of the prediction."""
    remainder: KernelResult | None = None
    """The loop that does the iterations that this one leaves over, one by one; None if there is none."""
    replaced_by: Replacement | None = None
    """The loop that runs instead of this one in every call; None if this one runs."""

    def places(self, kernel: KernelCode, indices: Iterable[int]) -> str:
        """Return the places of instructions in the source ("sum.c:4, 7"), or else in the assembly ("line 31")."""
        chosen = list(indices)
        locations = {self.lines.get(kernel.instructions[i].line) for i in chosen}
        known = sorted(place for place in locations if place is not None and place.line)
        files = {place.file for place in known}
        if len(known) < len(locations) or len(files) != 1:
            return wording.places(kernel, chosen)
        numbers = [str(place.line) for place in known]
        if len(numbers) > wording.MAX_LISTED_LINES:
            numbers = [f"{numbers[0]}–{numbers[-1]}"]
        return f"{os.path.basename(files.pop())}:{', '.join(numbers)}"
