"""Instructions without their access to memory, or without their arithmetic. All have the same length."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from incc.frontends.aarch64.decode import decode
from incc.frontends.kernel import Instruction

_LARGEST_IMMEDIATE = 4095


def no_operation(instruction: Instruction) -> tuple[Instruction, ...]:
    """Return a no-operation in place of an instruction."""
    return (decode("nop", instruction.line, instruction.offset),)


def without_access(
    instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
) -> tuple[Instruction, ...] | None:
    """Return what an instruction does besides its loads and stores; the arguments are those of `Isa.without_access`.

    That is to write back the new address, if it does. Returns None if no single instruction does the same.
    """
    line, offset = instruction.line, instruction.offset
    bases = {access.register.root for access in instruction.registers if access.address and access.write}
    targets = [a.register for a in instruction.registers if a.write and not a.address]
    if bases:
        affine = instruction.affine
        if affine is None or affine.target not in bases or not 0 < abs(affine.constant) <= _LARGEST_IMMEDIATE:
            return None
        operation = "add" if affine.constant > 0 else "sub"
        name = affine.target if affine.target != "x31" else "sp"
        return (decode(f"{operation} {name}, {name}, #{abs(affine.constant)}", line, offset),)
    if not move or not targets:
        return no_operation(instruction)
    letter, number = targets[0].root[0], targets[0].root[1:]
    if len(targets) > 1 or letter not in "xz":
        return None
    # A zero, since on most cores a move of a vector register takes as long as arithmetic.
    return (decode(f"mov x{number}, #0" if letter == "x" else f"movi v{number}.2d, #0", line, offset),)
