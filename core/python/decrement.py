"""A loop without some of its work: without each load and store, all of them, those of an array, or its arithmetic.

The difference of the cycles is what the work costs in this loop, while the rest of the loop goes on. Instructions are
replaced by others of the same length (`Isa.without_access`), so the code stays in its place and can be run as well.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core.analysis import KernelResult, analyze_kernel
from incc.frontends.isa import Isa, isa
from incc.frontends.kernel import Instruction, KernelCode

if TYPE_CHECKING:
    from incc.models.binding.bound import BoundKernel

WorkKind = Literal["load", "store", "array", "loads", "stores", "memory", "arithmetic", "other"]
"""The work that is left out: an access, those to one array, all loads, stores or accesses, floating-point arithmetic,
or everything but that and the loop's branches."""

MOST_ACCESSES = 200
"""The most instructions that access memory for which each is left out alone."""

_MOVES = (("vector",), (), ("vector", "general"))
"""The kinds of registers for which moves take the place of loads, in the order in which variants are preferred."""

Replaced = Mapping[int, tuple[Instruction, ...]]
"""By its index, the instructions in place of each instruction that is left out."""


class LessWork(msgspec.Struct, frozen=True, kw_only=True):
    """A loop without some of its work."""

    kind: WorkKind
    left_out: tuple[int, ...]
    """The instructions, by their indices, whose access or arithmetic is left out."""
    replaced: Replaced
    kept: tuple[int, ...] = ()
    """The instructions that belong to this work but cannot be left out alone."""


class Decrement(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of a loop without some of its work."""

    work: LessWork
    cycles: Fraction
    """Cycles per iteration."""


def decrements(result: KernelResult) -> tuple[Decrement, ...]:
    """Return the cycles of a kernel without each part of its work, single accesses first.

    Without a load, later instructions find an older value in its register, which they may have made themselves: that
    chains iterations together. A move in place of the load prevents that, but may cost something itself. The variant
    with the fewest cycles counts, and among equal ones the one that most likely runs: with a factor of the loop in
    vector registers, and with old values in others, which may be addresses.
    """
    settings = result.settings.for_cycles_alone()
    of_code: dict[tuple[tuple[int, tuple[Instruction, ...]], ...], Fraction] = {}

    def cycles(work: LessWork) -> Fraction:
        code = tuple(work.replaced.items())
        if code not in of_code:
            kernel = with_replaced(result.kernel, work.replaced)
            of_code[code] = analyze_kernel(kernel, result.model, settings, result.cache).cycles
        return of_code[code]

    variants = zip(*(less_work(result.kernel, result.bound, moves) for moves in _MOVES), strict=True)
    best = [min(variant, key=cycles) for variant in variants]
    return tuple([Decrement(work=work, cycles=cycles(work)) for work in best])


def with_replaced(kernel: KernelCode, replaced: Replaced) -> KernelCode:
    """Return a kernel with other instructions in place of some."""
    instructions = [new for i, old in enumerate(kernel.instructions) for new in replaced.get(i, (old,))]
    return replace(kernel, instructions=tuple(instructions))


def less_work(kernel: KernelCode, bound: BoundKernel, moves: Collection[str]) -> Iterator[LessWork]:
    """Yield the kernel without each part of its work.

    `moves`: the kinds of registers (`Register.kind`) for which moves are put in place of loads.
    """
    of = isa(kernel.isa)
    loads = _indices(kernel, lambda i: any(access.load for access in i.memory))
    stores = _indices(kernel, lambda i: any(access.store for access in i.memory))
    memory = tuple(sorted({*loads, *stores}))
    arithmetic = _indices(kernel, lambda i: i.arithmetic is not None and i.arithmetic.floating)
    registers = _Registers(kernel, moves)
    groups: list[tuple[WorkKind, tuple[int, ...]]] = []
    if len(memory) <= MOST_ACCESSES:
        groups += [("store" if i in stores else "load", (i,)) for i in memory]
    groups += [("array", accesses) for accesses in _arrays(bound)]
    # A group of one is listed above.
    groups += [("loads", loads)] if len(loads) > 1 else []
    groups += [("stores", stores)] if len(stores) > 1 else []
    groups += [("memory", memory)] if loads and stores else []
    for kind, indices in groups:
        yield _work(kind, indices, registers.without_accesses(indices))
    if arithmetic:
        yield _work("arithmetic", arithmetic, {i: of.without_arithmetic(kernel.instructions[i]) for i in arithmetic})
        needed = _control(kernel)
        # Idioms and moves separate the uses of a register from each other.
        idle = [i for i, each in enumerate(kernel.instructions) if not (i in needed or each.idiom or each.move)]
        rest = tuple([i for i in idle if i in memory or i not in arithmetic])
        accesses = registers.without_accesses([i for i in rest if i in memory])
        nothing = {i: of.no_operation(kernel.instructions[i]) for i in rest}
        yield _work("other", rest, nothing | accesses)


def _work(kind: WorkKind, indices: tuple[int, ...], replaced: Mapping[int, tuple[Instruction, ...] | None]) -> LessWork:
    return LessWork(
        kind=kind,
        left_out=tuple([i for i in indices if replaced[i] is not None]),
        replaced={i: new for i, new in replaced.items() if new is not None},
        kept=tuple([i for i in indices if replaced[i] is None]),
    )


class _Registers:
    """The registers of a loop, among which loaded values find a place."""

    def __init__(self, kernel: KernelCode, moves: Collection[str]) -> None:
        self.kernel = kernel
        self.moves = moves
        # Factors are neither zero nor patterns of bits, in most cases, and arithmetic with them raises no exceptions.
        ordered = sorted(kernel.instructions, key=lambda i: _factor_first(isa(kernel.isa), i))
        self.read = list(dict.fromkeys(a.register.root for i in ordered for a in i.registers if a.read))
        self.written = set().union(*[_written(i) for i in kernel.instructions])

    def without_accesses(self, indices: Collection[int]) -> dict[int, tuple[Instruction, ...] | None]:
        """Return instructions without their accesses, None for those whose access cannot be left out."""
        of = isa(self.kernel.isa)
        left: dict[int, tuple[Instruction, ...] | None] = {}
        for i in indices:
            instruction = self.kernel.instructions[i]
            move = any(a.write and not a.address and a.register.kind in self.moves for a in instruction.registers)
            left[i] = of.without_access(instruction, self.written, self.read, move)
        return left


def _factor_first(of: Isa, instruction: Instruction) -> tuple[bool, bool]:
    """Return a key that sorts instructions which multiply or divide first, then other floating-point arithmetic."""
    operation = of.operation(instruction.mnemonic, instruction.text)
    multiplies = operation is not None and operation.kind in ("mul", "fma", "div")
    return not multiplies, instruction.arithmetic is None or not instruction.arithmetic.floating


def _written(instruction: Instruction) -> set[str]:
    return {access.register.root for access in instruction.registers if access.write}


def _indices(kernel: KernelCode, chosen: Callable[[Instruction], bool]) -> tuple[int, ...]:
    return tuple([i for i, instruction in enumerate(kernel.instructions) if chosen(instruction)])


def _arrays(bound: BoundKernel) -> list[tuple[int, ...]]:
    """Return the instructions that access each array, of those with several."""
    arrays: dict[int, dict[int, None]] = {}
    for stream in core.streams(bound):
        arrays.setdefault(stream.object, {})[stream.instruction] = None
    return [tuple(instructions) for instructions in arrays.values() if len(instructions) > 1]


def decides_addresses(kernel: KernelCode, loads: Collection[int]) -> bool:
    """Return True if loaded values are part of the addresses of other loads, which go elsewhere without them."""
    tainted: set[str] = set()
    for _ in range(2):  # values go around the loop
        for i, instruction in enumerate(kernel.instructions):
            others = i not in loads and any(access.load for access in instruction.memory)
            if others and any(a.address and a.register.root in tainted for a in instruction.registers):
                return True
            reads = i in loads or any(a.read and a.register.root in tainted for a in instruction.registers)
            tainted = tainted | _written(instruction) if reads else tainted - _written(instruction)
    return False


def control_registers(kernel: KernelCode) -> list[str]:
    """Return the roots of the general-purpose registers that decide how long a loop goes on."""
    accesses = [access for i in sorted(_control(kernel)) for access in kernel.instructions[i].registers]
    return list(dict.fromkeys(a.register.root for a in accesses if a.register.kind == "general"))


def _control(kernel: KernelCode) -> set[int]:
    """Return the branches of a kernel and the instructions that they depend on."""
    needed = {i for i, instruction in enumerate(kernel.instructions) if instruction.branch}
    wanted: set[str] = set()
    found = True
    while found:
        found = False
        for i in range(len(kernel.instructions) - 1, -1, -1):
            instruction = kernel.instructions[i]
            writes = _written(instruction) | set(instruction.flags_written)
            if i not in needed and writes & wanted:
                needed.add(i)
                found = True
            if i in needed:
                wanted |= {a.register.root for a in instruction.registers if a.read} | set(instruction.flags_read)
    return needed
