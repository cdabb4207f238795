"""The results of changes to the code of a loop, and the reasons why some cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.frontends.kernel import Instruction, KernelCode

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


class Changed(msgspec.Struct, frozen=True, kw_only=True):
    """A loop with changed code."""

    cycles: Fraction
    """Cycles for the work of an iteration as it is."""
    bits: int = 0
    """The width of its vectors, if it has other ones."""
    reordered: tuple[int, ...] = ()
    """Floating-point operations that are done in another order."""


class Obstacle(Exception):
    """The reason why code cannot be changed in a way, and the instructions that it concerns."""

    def __init__(self, kind: str, instructions: Sequence[int]) -> None:
        super().__init__(kind)
        self.kind = kind
        self.instructions = tuple(instructions)


def laid_out(kernel: KernelCode, instructions: Sequence[Instruction]) -> KernelCode:
    """Return a kernel with other instructions, one behind the other in memory."""
    placed: list[Instruction] = []
    offset = kernel.instructions[0].offset
    for instruction in instructions:
        placed.append(replace(instruction, offset=offset))
        offset += instruction.length
    return replace(kernel, instructions=tuple(placed))


def analyzed(facts: KernelResult, kernel: KernelCode) -> KernelResult:
    """Return the analysis of a changed kernel. Raises Obstacle if the model lacks an instruction of it."""
    settings = KernelSettings(simulate=facts.settings.simulate, arrays=facts.settings.arrays)
    result = analyze_kernel(kernel, facts.model, settings)
    if result.unknown:
        raise Obstacle("no-figures", ())
    return result
