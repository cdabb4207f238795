"""The results of changes to the code of a loop, and the reasons why some cannot be made."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.core.analysis import analyze_kernel
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
    """Return a kernel with other instructions, one behind the other in memory but for the kernel's own jumps."""
    jumps: dict[int, int] = {}
    jumped, end = 0, kernel.instructions[0].offset
    for instruction in kernel.instructions:
        jumped += instruction.offset - end
        end = instruction.offset + instruction.length
        jumps[instruction.offset] = jumped
    placed: list[Instruction] = []
    jumped, offset = 0, kernel.instructions[0].offset
    for instruction in instructions:
        jumped = jumps.get(instruction.offset, jumped)
        placed.append(replace(instruction, offset=offset + jumped))
        offset += instruction.length
    return replace(kernel, instructions=tuple(placed))


def analyzed(facts: KernelResult, kernel: KernelCode) -> KernelResult:
    """Return the analysis of a changed kernel. Raises Obstacle if the model lacks an instruction of it.

    The address of changed code is unknown. If no bound explains its cycles, the result is that at the best
    of some addresses.
    """
    settings = facts.settings.for_cycles_alone()
    result = analyze_kernel(kernel, facts.model, settings)
    if result.unknown:
        raise Obstacle("no-figures", ())
    if result.simulation is None or result.cycles <= EXPLAINED * result.bounds.largest:
        return result
    places = [replace(settings, alignment=place) for place in _PLACES]
    return min([result, *[analyze_kernel(kernel, facts.model, each) for each in places]], key=lambda each: each.cycles)


EXPLAINED = Fraction(6, 5)
"""The cycles relative to the largest bound up to which the place of code makes little difference."""

_PLACES = (0, 16, 32, 48)
"""Offsets of a loop's first byte within 64 bytes."""
