"""Conflicts of forms on ports: throughput of forms in pairs.

As many copies of one as of the other alternate, without dependencies through registers. If both need the same ports, a
pair takes the sum of the times that each takes alone; if they share nothing, the larger of both. The measure in between
is asmbench's (Hammer, Hager, Wellein 2018): (pair - larger) / smaller, 0 where they overlap, 1 where they do not.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import iced_x86 as iced
import msgspec

from incc.measuring.forms.bench import Bench, Figure, NotMeasured, encode
from incc.measuring.forms.operands import Named
from incc.measuring.harness import Failure


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """The measured conflict of two forms."""

    first: str
    second: str
    cycles: float
    """Cycles for one of each."""
    spread: float
    alone: tuple[float, float]
    """Cycles of each alone."""

    @property
    def conflict(self) -> float | None:
        larger, smaller = max(self.alone), min(self.alone)
        return (self.cycles - larger) / smaller if smaller > 0.02 else None

    def record(self) -> dict[str, Any]:
        """Return the pair as a JSON line's object."""
        return {
            "pair": [self.first, self.second],
            "cycles": round(self.cycles, 3),
            "spread": round(self.spread, 3),
            "alone": [round(a, 3) for a in self.alone],
            "sum": round(sum(self.alone), 3),
            "larger": round(max(self.alone), 3),
            # Without the sign of a value that is rounded to zero.
            "conflict": None if self.conflict is None else round(self.conflict, 2) + 0.0,
        }


def code_of(bench: Bench, forms: Sequence[Named]) -> bytes:
    """Return machine code of independent copies of the forms, in turn."""
    code: list[iced.Instruction] = []
    for n in range(3 * bench.unroll // 2 * 2):
        for place, form in enumerate(forms):
            # Stores of both go to different memory.
            code += bench.copy(form.variant, 2 * n + place, 0x2000 * place)
    return encode(code)


def together(bench: Bench, forms: Sequence[Named]) -> Figure:
    """Measure cycles of one of each form. Raises NotMeasured."""
    copies = 3 * bench.unroll // 2 * 2
    try:
        figure = bench.cycles(code_of(bench, forms))
    except ValueError as e:
        raise NotMeasured(Failure("encoding", str(e))) from None
    return Figure(figure.cycles / copies, figure.spread / copies)


def pairs(forms: Sequence[Named]) -> Iterator[tuple[Named, Named]]:
    """Yield all pairs of different forms, each once."""
    for n, first in enumerate(forms):
        for second in forms[n + 1 :]:
            yield first, second
