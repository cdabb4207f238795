"""Projections of a loop's code without a part of it, or with fused multiply-adds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc import core
from incc.core.places import BEST_PLACES
from incc.core.prediction import predicted
from incc.core.quality import address_arithmetic, stack_use
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess, Register, RegisterAccess
from incc.report.hints.common import calls
from incc.report.hints.estimates import with_register
from incc.report.projections.changing import Changed, Obstacle, analyzed, laid_out

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def without_overhead(facts: KernelResult) -> Changed:
    """Return a loop without address arithmetic, counters and branches; its accesses advance as before.

    What depends on loaded data, such as the extension of an index, stays.
    """
    instructions = facts.kernel.instructions
    removed = _removable(facts.kernel)
    kept: list[Instruction] = [each for i, each in enumerate(instructions) if i not in removed]
    if not kept:
        raise Obstacle("no-work", ())
    if not removed:
        raise Obstacle("no-overhead", ())
    # The next instruction, or else the one before, moves the addresses on in the removed one's place.
    places = [i for i in range(len(instructions)) if i not in removed]
    for i in sorted(removed):
        affine = instructions[i].affine
        if affine is None:
            continue
        free = [n for n, each in enumerate(kept) if each.affine is None]
        if not free:
            raise Obstacle("no-work", ())
        host = next((n for n in free if places[n] > i), free[-1])
        kept[host] = replace(kept[host], affine=affine)
    # A branch inside that becomes the last instruction counts as taken, which is no part of the change.
    return Changed(cycles=min(facts.cycles, analyzed(facts, laid_out(facts.kernel, kept)).cycles))


def aligned(facts: KernelResult) -> Changed:
    """Return a loop none of whose loads crosses a cache line."""
    if not facts.analysis.expected_line_crossings:
        raise Obstacle("no-crossings", ())
    if facts.simulation is None:
        raise Obstacle("not-simulated", ())
    bound = copy(facts.bound)
    bound.line_bytes, bound.line_places = 0, BEST_PLACES
    bounds, run = core.bounds_and_simulation(bound)
    return Changed(cycles=predicted(bounds, run.cycles_per_iteration))


def _removable(kernel: KernelCode) -> set[int]:
    """Return the address arithmetic and loop overhead without which the addresses of accesses are still known."""
    instructions = kernel.instructions
    written = [{access.register.root for access in each.registers if access.write} for each in instructions]
    removed = {
        i for i in address_arithmetic(kernel) if instructions[i].affine or instructions[i].branch or not written[i]
    }
    # All writers of a register go, or none.
    while True:
        others = set().union(*[roots for i, roots in enumerate(written) if i not in removed])
        if not (rest := {i for i in removed if written[i] & others}):
            return removed
        removed -= rest


# --- spills -----------------------------------------------------------------------------------------------------------


def without_spills(facts: KernelResult) -> Changed:
    """Return a loop whose spilled values are in registers."""
    kernel, stack = facts.kernel, stack_use(facts.kernel)
    of_place = {*stack.spills, *stack.reloads, *stack.invariant_reloads}
    if not of_place:
        raise Obstacle("no-spills", ())
    if inside := calls(kernel):
        raise Obstacle("call", inside)  # which may change any register
    instructions = list(kernel.instructions)
    # Places that other instructions than loads and moves use stay on the stack.
    fixed = {_slot(instructions[i]) for i in of_place if not _is_simple(instructions[i], kernel.isa)}
    moved = {i for i in of_place if _slot(instructions[i]) not in fixed}
    if not moved:
        raise Obstacle("no-spills", ())
    for i in sorted(moved):
        if i in stack.spills:
            _keep_result(instructions, i)
    renamed: dict[str, Register] = {}
    kept: list[Instruction] = []
    for _ in range(2):  # the second time with the values that the first iteration leaves
        kept = []
        for i, instruction in enumerate(instructions):
            if i in moved and i in stack.spills:
                continue
            if i in moved and _loads_only(instruction, kernel.isa):
                target = next(access.register for access in instruction.registers if access.write)
                renamed[target.root] = _register(instruction, target)
                continue
            changed = _reading(instruction, renamed)
            if i in moved:
                changed = _from_register(instruction, changed)
            for access in instruction.registers:
                if access.write:
                    renamed.pop(access.register.root, None)
            kept.append(changed)
    if not kept:
        raise Obstacle("no-work", ())
    # Where the jumps of shorter code lie, which may be worse, is no part of the change.
    return Changed(cycles=min(facts.cycles, analyzed(facts, laid_out(kernel, kept)).cycles))


def _slot(instruction: Instruction) -> str:
    (access,) = [m for m in instruction.memory if m.load or m.store][:1]
    return f"{access.base.root if access.base else ''}{access.displacement:+}"


def _register(instruction: Instruction, like: Register) -> Register:
    """Return the register that holds the value of the place that an instruction accesses."""
    slot = f"place {_slot(instruction)}"
    return replace(like, name=slot, root=slot)


def _is_simple(instruction: Instruction, instruction_set: str) -> bool:
    """Return True for a load, alone or of an operand that could be a register, and for a store of a register."""
    (access, *others) = [m for m in instruction.memory if m.load or m.store]
    if others or (access.load and access.store):
        return False
    if access.load:
        return _loads_only(instruction, instruction_set) or "/m" in instruction.form
    data = [a for a in instruction.registers if not a.address]
    return isa(instruction_set).work_of(instruction) in _MOVES and len(data) == 1


_MOVES = ("moves", "other computation")


def _loads_only(instruction: Instruction, instruction_set: str) -> bool:
    """Return True if an instruction only loads a register."""
    data = [a for a in instruction.registers if not a.address]
    plain = isa(instruction_set).work_of(instruction) in _MOVES and instruction.arithmetic is None
    loads = any(m.load for m in instruction.memory)
    return loads and plain and len(data) == 1 and data[0].write and not data[0].read


def _keep_result(instructions: list[Instruction], spill: int) -> None:
    """Have the producer of a spilled value write it to a register of the place, too."""
    stored = next(a.register for a in instructions[spill].registers if not a.address)
    order = [*range(spill - 1, -1, -1), *range(len(instructions) - 1, spill, -1)]
    for i in order:
        for access in instructions[i].registers:
            if access.write and access.register.root == stored.root:
                place = _register(instructions[spill], access.register)
                more = replace(access, register=place, read=False, merges=False, conditional=False)
                if more not in instructions[i].registers:
                    instructions[i] = replace(instructions[i], registers=(*instructions[i].registers, more))
                return


def _reading(instruction: Instruction, renamed: Mapping[str, Register]) -> Instruction:
    """Return an instruction that reads other registers in place of some."""
    registers: list[RegisterAccess] = []
    for access in instruction.registers:
        other = renamed.get(access.register.root)
        if other is None or not (access.read or access.merges or access.conditional):
            registers.append(access)
            continue
        registers.append(replace(access, register=other, read=True, write=False, merges=False, conditional=False))
        if access.write:
            registers.append(replace(access, read=False, merges=False, conditional=False))

    def moved(access: MemoryAccess) -> MemoryAccess:
        base = renamed.get(access.base.root, access.base) if access.base else None
        index = renamed.get(access.index.root, access.index) if access.index else None
        return replace(access, base=base, index=index)

    return replace(instruction, registers=tuple(registers), memory=tuple([moved(each) for each in instruction.memory]))


def _from_register(instruction: Instruction, changed: Instruction) -> Instruction:
    """Return an instruction that reads the register of a place instead of loading from it."""
    (access,) = [m for m in instruction.memory if m.load]
    like = next((a.register for a in instruction.registers if not a.address), None)
    result = with_register(changed)
    if like is None:
        return result
    read = RegisterAccess(register=_register(instruction, like), read=True, write=False, operand=access.operand)
    return replace(result, registers=(*result.registers, read))


# --- fused multiply-adds ----------------------------------------------------------------------------------------------


def with_fma(facts: KernelResult) -> Changed:
    """Return a loop with a fused multiply-add in place of each product that is only added."""
    kernel = facts.kernel
    of = isa(kernel.isa)
    instructions = kernel.instructions
    fused: dict[int, tuple[Instruction, ...]] = {}
    for i, product in enumerate(instructions):
        if of.work_of(product) != "floating-point multiplications":
            continue
        readers = {
            (edge.consumer, edge.distance)
            for edge in facts.analysis.edges
            if edge.producer == i and (edge.consumer != i or edge.distance)
        }
        if len(readers) != 1:
            continue
        ((j, distance),) = readers
        if distance or j in fused or instructions[j].sum is None or _overwritten(instructions, i, j):
            continue
        if made := of.fused(product, instructions[j]):
            fused[i], fused[j] = (), made
    if not fused:
        raise Obstacle("no-products", ())
    kept = [each for i, old in enumerate(instructions) for each in fused.get(i, (old,))]
    after = analyzed(facts, laid_out(kernel, kept))
    if any(form is None or form.lacking for form in after.forms):
        raise Obstacle("no-figures", ())
    return Changed(cycles=after.cycles)


def _overwritten(instructions: Sequence[Instruction], product: int, addition: int) -> bool:
    """Return True if an operand of a product changes before it is added."""
    read = {a.register.root for a in instructions[product].registers if a.read}
    written = {a.register.root for n in range(product + 1, addition) for a in instructions[n].registers if a.write}
    stores = any(m.store for n in range(product + 1, addition) for m in instructions[n].memory)
    return bool(read & written) or (stores and bool(instructions[product].memory))
