"""The variables that a function keeps on its stack, as far as no other code can reach them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.kernel import Instruction, MemoryAccess

POINTER, FRAME = "rsp", "rbp"


class Stack(msgspec.Struct, frozen=True):
    """The way in which a function addresses its stack."""

    base: str
    """The register that addresses variables: the frame pointer if there is one, else the stack pointer."""
    exposed: float
    """The lowest displacement at which other code may know the address of a variable; infinite if there is none.

    Variables from there on may be changed by calls, and by stores through pointers: nothing tells where one ends.
    """

    def slot(self, access: MemoryAccess) -> int | None:
        """Return the displacement of a variable that is accessed by itself, None for any other access."""
        base = access.base
        if base is None or base.root != self.base or access.index is not None or access.symbol or access.segment:
            return None
        return access.displacement


def stack_of(graph: ControlFlow, code: Mapping[int, Sequence[Instruction]]) -> Stack:
    """Return how a function addresses its stack.

    Args:
        graph: the function.
        code: the decoded instructions by their numbers in the graph, as far as their effects are known.
    """
    numbers = [number for block in graph.blocks for number in block.instructions]
    instructions = [each for number in numbers for each in code.get(number, ())]
    has_frame = any(map(_sets_frame, instructions)) and all(
        _sets_frame(i) or i.mnemonic in ("pop", "leave") for i in instructions if _writes(i, FRAME)
    )
    base = FRAME if has_frame else POINTER
    exposed = float("inf")
    for each in instructions:
        if not _sets_frame(each):
            exposed = min(exposed, _exposed_by(each, base))
    moves = any(
        each.mnemonic == "push"
        for block in graph.blocks
        if block is not graph.blocks[0]
        for number in block.instructions
        for each in code.get(number, ())
    )
    # Between pushed arguments, displacements from the stack pointer mean other places.
    if any(number not in code for number in numbers) or (moves and not has_frame and exposed < float("inf")):
        exposed = float("-inf")
    return Stack(base, exposed)


def _sets_frame(i: Instruction) -> bool:
    return i.affine is not None and i.affine.target == FRAME and i.affine.terms == ((POINTER, 1),) and i.move


def _writes(i: Instruction, root: str) -> bool:
    return any(a.write and a.register.root == root for a in i.registers)


def _exposed_by(i: Instruction, base: str) -> float:
    """Return the displacement of a variable whose address an instruction computes, infinity for none."""
    bases = (POINTER, FRAME) if base == FRAME else (POINTER,)
    used = [a for a in i.registers if a.read and a.register.root in bases and (not a.address or i.mnemonic == "lea")]
    if not used or _writes(i, POINTER):
        return float("inf")
    if i.affine is not None and dict(i.affine.terms).get(base) == 1 and len(used) == 1:
        return i.affine.constant
    return float("-inf")
