"""Conflicts of forms on ports: throughput of forms in pairs.

Equal numbers of copies of both alternate, without dependencies through registers. If both need the same ports, a
pair takes the sum of the times of each alone; if they share nothing, the larger of the two. The measure in between
is asmbench's (Hammer, Hager, Wellein 2018): (pair - larger) / smaller, 0 where they overlap, 1 where they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import iced_x86 as iced

from incc.measuring.forms.bench import CoreBench, MeasuredFigure, NotMeasured, encode
from incc.measuring.forms.operands import Named
from incc.measuring.harness import LoopFailure


def record(forms: Sequence[Named], both: MeasuredFigure, alone: Sequence[float]) -> dict[str, Any]:
    """Return the conflict of two forms as a JSON line's object, from their cycles together and alone."""
    larger, smaller = max(alone), min(alone)
    conflict = (both.cycles - larger) / smaller if smaller > 0.02 else None
    return {
        "pair": [form.title for form in forms],
        "cycles": round(both.cycles, 3),
        "spread": round(both.spread, 3),
        "alone": [round(a, 3) for a in alone],
        "sum": round(sum(alone), 3),
        "larger": round(larger, 3),
        # Without the sign of a value that is rounded to zero.
        "conflict": None if conflict is None else round(conflict, 2) + 0.0,
    }


def copies_of(bench: CoreBench) -> int:
    """Return the number of copies of each form in a loop."""
    return 3 * bench.unroll // 2 * 2


def code_of(bench: CoreBench, forms: Sequence[Named]) -> bytes:
    """Return machine code of independent copies of the forms, in turn."""
    code: list[iced.Instruction] = []
    for n in range(copies_of(bench)):
        for place, form in enumerate(forms):
            # Stores of both go to different memory.
            code += bench.copy(form.variant, 2 * n + place, 0x2000 * place)
    return encode(code)


def together(bench: CoreBench, forms: Sequence[Named]) -> MeasuredFigure:
    """Measure cycles of one of each form. Raises NotMeasured."""
    copies = copies_of(bench)
    try:
        figure = bench.cycles(code_of(bench, forms))
    except ValueError as e:
        raise NotMeasured(LoopFailure("encoding", str(e))) from None
    return MeasuredFigure(figure.cycles / copies, figure.spread / copies)
