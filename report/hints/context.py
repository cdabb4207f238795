"""The facts about a loop besides its figures: its compilation, its iterations, and its other versions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from incc.core.ranges import KernelRange
from incc.report.hints.advice import ASSEMBLY, CompilerCall
from incc.report.types import AccessPattern

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.ways import Ways


class Replacement(msgspec.Struct, frozen=True):
    """The loop that runs instead of a vectorised one, because the check of the addresses fails."""

    facts: KernelResult
    share: Fraction
    """The work of an iteration relative to an iteration of the loop that it replaces."""


class HintContext(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a loop besides its figures that rules use."""

    build: CompilerCall = ASSEMBLY
    elements: Fraction = Fraction(1)
    """The elements of the source's loop that an iteration handles; 1 if unknown."""
    trips: int = 0
    """The iterations of the source's loop each time it is entered; 0 if unknown."""
    accesses: Sequence[AccessPattern] = ()
    """The patterns of its accesses."""
    ways: Ways | None = None
    """The paths through the loop; None without branches inside."""
    spread: KernelRange | None = None
    """The range of the prediction."""
    remainder: KernelResult | None = None
    """The loop that does the iterations that this one leaves over, one by one; None if there is none."""
    added: bool = False
    """True for a loop that the compiler added to a main loop, which advice on that one concerns."""
    replaced_by: Replacement | None = None
    """The loop that runs instead of this one in every call; None if this one runs."""
