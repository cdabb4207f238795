"""Reads of old values of vector registers that only a part of a result comes from."""

from __future__ import annotations

from msgspec.structs import replace

from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.patterns import matches


def without_zero_elements(kernel: KernelCode, patterns: str) -> KernelCode:
    """Return the kernel without reads of old elements that the core knows to be zero (`skips_zero_elements`).

    They are where a loop uses the lowest element of a register only, as compilers' scalar code does.
    """
    other_elements = isa(kernel.isa).other_elements
    changed: dict[int, Instruction] = {}
    for i, instruction in enumerate(kernel.instructions):
        old = other_elements(instruction) if matches(instruction.form, patterns) else None
        if old is not None and only_lowest_used(kernel, old.register.root):
            accesses = [replace(a, read=False, merges=False) if a is old else a for a in instruction.registers]
            changed[i] = replace(instruction, registers=tuple(accesses))
    if not changed:
        return kernel
    return replace(kernel, instructions=tuple(changed.get(i, each) for i, each in enumerate(kernel.instructions)))


def only_lowest_used(kernel: KernelCode, root: str) -> bool:
    """Return True if instructions use only the lowest element of a vector register."""
    rules = isa(kernel.isa)
    return all(
        rules.reads_lowest(instruction.mnemonic) or rules.other_elements(instruction) is not None or instruction.idiom
        for instruction in kernel.instructions
        for access in instruction.registers
        if access.register.root == root
    )
