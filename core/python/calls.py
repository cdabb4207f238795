"""The cycles of a whole call of a function: its instructions in the order of execution, simulated as one sequence.

Calls follow each other, so that the end of one overlaps with the start of the next. Each call sets its arguments anew
and does not wait for the results of the one before. Branches are predicted correctly, except where a loop is left that
ran more often than the core can foresee (`foreseen_iterations`): there the right path is fetched only after the branch
was executed. As in the simulation of loops, data are in the first-level cache.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from incc import core
from incc.core.whatif import copy
from incc.frontends.kernel import KernelCode
from incc.models.binding.bind import bind
from incc.models.binding.bound import MISPREDICTED
from incc.models.model import MachineModel


class CallCycles(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of a call when calls follow each other."""

    cycles: Fraction
    foreseen: Fraction
    """The cycles if every branch were predicted."""
    unknown: tuple[int, ...]
    """The instructions that the model lacks; they are not counted."""


def call_cycles(code: KernelCode, model: MachineModel, mispredicted: Sequence[int]) -> CallCycles:
    """Return the cycles of a call.

    Args:
        code: The instructions of a call in the order of execution, as a loop from call to call.
        model: The core.
        mispredicted: The indices of the branches that are mispredicted.

    Raises:
        ValueError: The code cannot be bound to the core.
        RuntimeError: The simulation took too long.
    """
    bound, forms = bind(code, model)
    ideal = bound.pipeline is None
    run = core.simulate(bound, ideal=ideal)
    cycles = foreseen = run.cycles_per_iteration
    if mispredicted:
        missing = copy(bound)
        missing.instruction_flags = list(bound.instruction_flags)
        for n in mispredicted:
            missing.instruction_flags[n] |= MISPREDICTED
        cycles = max(foreseen, core.simulate(missing, ideal=ideal).cycles_per_iteration)
    return CallCycles(
        cycles=cycles, foreseen=foreseen, unknown=tuple([n for n, form in enumerate(forms) if form is None])
    )
