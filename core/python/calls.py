"""The cycles of whole calls of functions, and of whole passes of loops.

A call is simulated as one sequence of instructions, those that it executes. Calls follow each other, so that the end of
one overlaps with the start of the next. Each call sets its arguments anew and does not wait for the results of the one
before. Branches are predicted correctly, except where a loop is left that ran more often than the core can foresee
(`foreseen_iterations`): there the right path is fetched only after the branch was executed. As in the simulation of
loops, data are in the first-level cache. The same holds for the passes of a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core.whatif import copy
from incc.frontends.kernel import Instruction, KernelCode, Register, RegisterAccess
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


OFTEN = 16
"""Iterations from which on a loop's exit may be mispredicted, for cores whose limit is unknown.

A cautious guess: Zen 4 and Zen 5 were measured, and foresee 300 and 128 iterations."""

MOST_INSTRUCTIONS = 1500
"""The instructions of a pass that are simulated: more than any core has in flight. Further iterations of a pass take
the cycles of the steady state."""


def pass_cycles(loop: KernelCode, model: MachineModel, iterations: int, steady: Fraction, missed: bool) -> Fraction:
    """Return the cycles of a pass of a loop when passes follow each other at once.

    Each pass begins with registers that do not depend on the one before, so that the two overlap as far as the core
    looks ahead.

    Args:
        loop: The loop.
        model: The core.
        iterations: The iterations of a pass, at least 1.
        steady: The cycles per iteration of endless iterations.
        missed: The end of the loop is mispredicted.

    Raises:
        ValueError: The loop cannot be bound to the core.
        RuntimeError: The simulation took too long.
    """
    simulated = min(iterations, max(2, MOST_INSTRUCTIONS // len(loop.instructions)))
    code = replace(loop, instructions=(_fresh(loop), *loop.instructions * simulated), entry=())
    cycles = call_cycles(code, model, [len(code.instructions) - 1] if missed else [])
    return cycles.cycles + (iterations - simulated) * steady


def _fresh(loop: KernelCode) -> Instruction:
    """Return an instruction of no core that sets all registers and flags which a loop reads before it writes them."""
    read: dict[str, Register] = {}
    written: set[str] = set()
    for instruction in loop.instructions:
        for access in instruction.registers:
            if access.read and access.register.root not in written:
                read.setdefault(access.register.root, access.register)
        written.update(access.register.root for access in instruction.registers if access.write)
    return Instruction(
        text="",
        line=0,
        offset=0,
        length=0,
        mnemonic="pass",
        form="pass",
        traits=frozenset(),
        operands="",
        registers=tuple(RegisterAccess(register=r, read=False, write=True, operand=None) for r in read.values()),
        memory=(),
        flags_read="",
        flags_written="CPAZSO",
        branch="",
        target="",
        affine=None,
        idiom="",
        move=False,
        arithmetic=None,
        encoding=b"",
    )


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
