"""The rule on chains through old values of registers that the results do not need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, RegisterAccess
from incc.models.binding.merging import only_lowest_used
from incc.report import types as t
from incc.report import wording
from incc.report.hints.common import hint, speedup, worth_breaking
from incc.report.hints.context import HintContext
from incc.report.hints.estimates import without_old_values

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def old_destination(facts: KernelResult, context: HintContext) -> t.Hint | None:
    """Advise to clear registers if the limiting chain goes through old values that the results do not need.

    Such instructions convert or round the lowest element and keep the others, which nothing reads; gather all elements
    under a mask that is the same in each iteration; or write the lowest bytes of a register of which only these are
    read. The gain is that of the loop with such registers cleared, simulated.
    """
    if not facts.kernel.is_loop or not worth_breaking(facts):
        return None
    chained = {step.consumer for chain in facts.analysis.chains for step in chain.steps}
    needless = {i: access for i, access in _needless(facts.kernel).items() if i in chained}
    gain = speedup(facts, without_old_values(facts, needless)) if needless else None
    if gain is None:
        return None
    names = ", ".join(dict.fromkeys(access.register.name for access in needless.values()))
    vectors = any(access.register.kind == "vector" for access in needless.values())
    return hint(
        "old-destination",
        f"each iteration waits for the old value of {names} ({wording.places(facts.kernel, needless)}), of which the "
        "results need nothing",
        {"instructions": sorted(needless), "registers": names.split(", ")},
        None,
        "clear the register before (with intrinsics, take the other elements from zeros, and gather without a mask)"
        if vectors
        else "write the whole register, as loads with zero extension do",
        gain=gain,
    )


def _needless(kernel: KernelCode) -> Mapping[int, RegisterAccess]:
    """Return the accesses to old values of which no result needs anything, by instruction (index)."""
    last: dict[str, int] = {}
    needless: dict[int, RegisterAccess] = {}
    for repeated in (False, True):  # in the second round with the writers at the end of the iteration before
        for i, instruction in enumerate(kernel.instructions):
            access = _old_value(kernel, i, instruction, last) if repeated else None
            if access is not None:
                needless[i] = access
            last.update({each.register.root: i for each in instruction.registers if each.write})
    return needless


def _old_value(kernel: KernelCode, i: int, instruction: Instruction, last: Mapping[str, int]) -> RegisterAccess | None:
    """Return the access to an old value that an instruction does not need; `last`: each register's last writer."""
    access = isa(kernel.isa).other_elements(instruction)
    if access is not None:
        cleared = kernel.instructions[last.get(access.register.root, i)].idiom
        return access if not cleared and only_lowest_used(kernel, access.register.root) else None
    for access in instruction.registers:
        root = access.register.root
        if access.write and access.conditional and any(m.load and m.elements > 1 for m in instruction.memory):
            mask = next((each for each in instruction.registers if each.operand in (-1, 2) and each.write), None)
            if last.get(root) == i and mask is not None and _is_same(kernel, last.get(mask.register.root)):
                return access
        part = access.write and access.merges and not access.read and access.register.kind == "general"
        if part and access.operand is not None and _only_part_read(kernel, access):
            return access
    return None


def _only_part_read(kernel: KernelCode, written: RegisterAccess) -> bool:
    """Return True if instructions access only this part of a register."""
    own = written.register
    return all(
        (access.register.offset, access.register.width) == (own.offset, own.width) and not access.address
        for instruction in kernel.instructions
        for access in instruction.registers
        if access.register.root == own.root
    )


def _is_same(kernel: KernelCode, writer: int | None) -> bool:
    """Return True if an instruction writes the same mask in each iteration."""
    if writer is None:
        return False
    instruction = kernel.instructions[writer]
    if instruction.idiom:
        return instruction.idiom != "zero"
    written = {access.register.root for each in kernel.instructions for access in each.registers if access.write}
    return all(access.register.root not in written for access in instruction.registers if access.read)
