"""The quality of a kernel's code: its use of vectors, registers and the stack, and its rates relative to the core's.

Work is everything but address arithmetic and loop overhead: instructions without memory accesses whose results only
form addresses or decide when the loop ends.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

from incc.core.figures import DECIMALS, on_frame, operations
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess, RegisterAccess
from incc.models.throughput import widest_vector
from incc.support.quantities import Amount, Count, Share
from incc.support.recent import recent

if TYPE_CHECKING:
    from fractions import Fraction

    from incc.core.analysis import KernelResult

WorkKind = Literal["loads", "stores", "additions", "multiplications", "FMAs", "divisions", "other"]
"""divisions: with square roots; other: for instance shuffles, conversions, logic and moves between registers."""

_KINDS: Mapping[str, WorkKind] = {
    "floating-point additions": "additions",
    "vector additions": "additions",
    "integer additions": "additions",
    "horizontal operations": "additions",
    "floating-point multiplications": "multiplications",
    "integer multiplications": "multiplications",
    "FMAs": "FMAs",
    "divisions": "divisions",
    "integer divisions": "divisions",
    "square roots": "divisions",
}
"""The kinds of `Isa.work_of`; all others are "other"."""

_ORDER: tuple[WorkKind, ...] = ("loads", "stores", "additions", "multiplications", "FMAs", "divisions", "other")

_SCALAR_BITS = 64
"""The bits of the largest scalar."""


class VectorUse(msgspec.Struct, frozen=True, kw_only=True):
    """The use of vectors by the work of one kind."""

    kind: Literal[WorkKind, "all"]
    instructions: Count
    """Instructions per iteration that do it; an instruction that loads and adds counts for both kinds."""
    vector: Count
    """Those of them that work on vectors of several elements."""
    bits: Share
    """Share of the bits of the core's widest vectors that they use, on average."""


class RegisterUse(msgspec.Struct, frozen=True, kw_only=True):
    """The registers of one class that a kernel uses."""

    kind: str
    """The class, as in `frontends.kernel.Register`."""
    used: Count
    live: Count
    """Registers whose values are needed later in this iteration or in the next one, at the place with the most."""


class StackUse(msgspec.Struct, frozen=True, kw_only=True):
    """The places of the stack frame that stand in for registers.

    Places that may belong to an array do not count: those from the displacement of an access with an index on, and
    those that are accessed in different sizes or parts.
    """

    spills: list[int]
    """Instructions that store to a place which the loop loads again."""
    reloads: list[int]
    """Instructions that load from such a place."""
    invariant_reloads: list[int]
    """Instructions that load from a place which the loop does not change: values for which no register was left."""


class CoreShare(msgspec.Struct, frozen=True, kw_only=True):
    """A rate of a kernel relative to the core's peak."""

    kind: Literal["bytes loaded", "bytes stored", "flop"]
    per_cycle: Amount
    peak: Amount
    """The most per cycle that the core does of it by itself; of flop, with elements of the size that the kernel has."""
    share: Share


class CodeFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The quality of a kernel's code in figures."""

    vector_bits: Count
    """The width of the core's widest vectors."""
    vectors: list[VectorUse]
    """The kinds of work that the kernel does, and the sum of all if it does several."""
    registers: list[RegisterUse]
    """The classes of registers that the kernel uses."""
    stack: StackUse
    rates: list[CoreShare]
    """Those of which the model tells the peak and the kernel has any."""


def code_figures(result: KernelResult) -> CodeFigures:
    """Return the quality of a kernel's code on a core."""
    bits = widest_vector(result.model)
    return CodeFigures(
        vector_bits=bits,
        vectors=_vector_uses(result.kernel, bits),
        registers=_register_uses(result.kernel),
        stack=stack_use(result.kernel),
        rates=list(_rates(result)),
    )


# --- vectors ----------------------------------------------------------------------------------------------------------


def _vector_uses(kernel: KernelCode, widest: int) -> list[VectorUse]:
    overhead = address_arithmetic(kernel)
    of_kind: dict[WorkKind, list[tuple[bool, int]]] = {kind: [] for kind in _ORDER}
    for i, instruction in enumerate(kernel.instructions):
        if i not in overhead and not instruction.branch:
            for kind, vector, bits in _work(instruction, kernel.isa):
                of_kind[kind].append((vector, min(bits, widest or bits)))
    uses = [_vector_use(kind, done, widest) for kind, done in of_kind.items() if done]
    if len(uses) > 1:
        uses.append(_vector_use("all", [each for done in of_kind.values() for each in done], widest))
    return uses


def _vector_use(kind: Literal[WorkKind, "all"], done: Sequence[tuple[bool, int]], widest: int) -> VectorUse:
    used = sum(bits for _, bits in done) / (len(done) * widest) if widest else 0
    return VectorUse(
        kind=kind,
        instructions=len(done),
        vector=sum(vector for vector, _ in done),
        bits=round(used, DECIMALS),
    )


def _work(instruction: Instruction, instruction_set: str) -> Iterator[tuple[WorkKind, bool, int]]:
    """Yield what an instruction does: the kind of work, True if it is on vectors, and the bits of data."""
    moved = [access for access in instruction.memory if access.load or access.store]
    for access in moved:
        bits = 8 * access.size * access.elements
        vector = access.elements > 1 or bits > _SCALAR_BITS or 0 < access.element < access.size
        if access.load:
            yield "loads", vector, bits
        if access.store:
            yield "stores", vector, bits
    work = isa(instruction_set).work_of(instruction)
    arithmetic = instruction.arithmetic
    if arithmetic is not None:
        bits = arithmetic.width if arithmetic.packed else arithmetic.element
        yield _KINDS.get(work, "other"), arithmetic.packed, bits
    elif not (moved and work in ("moves", "other computation")):
        # What is neither arithmetic nor a load or store works on whole registers.
        width = max([a.register.width for a in instruction.registers if not a.address], default=0)
        if width:
            kind: WorkKind = _KINDS.get(work, "other")
            yield kind, any(a.register.kind == "vector" and not a.address for a in instruction.registers), width


@recent
def address_arithmetic(kernel: KernelCode) -> frozenset[int]:
    """Return the instructions (indices) that only compute addresses or end iterations; branches inside are work."""
    instructions = kernel.instructions
    inputs = [_inputs(i, kernel) for i in range(len(instructions))]
    for_addresses: set[int] = set()
    for_data: set[int] = set()
    for each in inputs:
        for_addresses |= each.addresses
    if kernel.is_loop:
        for_addresses |= {len(instructions) - 1, *inputs[-1].data}
    _close(for_addresses, inputs)
    # Memory accesses are work, whatever they are for. So is what nothing reads but work.
    for i, instruction in enumerate(instructions):
        if instruction.memory or i not in for_addresses:
            for_data |= {i, *inputs[i].data}
    _close(for_data, inputs)
    return frozenset(for_addresses - for_data)


class _Inputs(msgspec.Struct, frozen=True):
    """The instructions that produce the inputs of one."""

    addresses: frozenset[int]
    data: frozenset[int]


def _close(members: set[int], inputs: Sequence[_Inputs]) -> None:
    """Add the instructions that the results of some are computed from."""
    work = [*members]
    while work:
        new = inputs[work.pop()].data - members
        members |= new
        work += new


def _inputs(at: int, kernel: KernelCode) -> _Inputs:
    """Return the last writers, in this iteration or the one before, of what an instruction reads."""
    instruction = kernel.instructions[at]
    addresses: set[int] = set()
    data: set[int] = set()
    for access in instruction.registers:
        if _needs(access) and not instruction.idiom:
            (addresses if access.address else data).update(_writer(access.register.root, at, kernel))
    if instruction.flags_read:
        data.update(_writer("", at, kernel))
    return _Inputs(frozenset(addresses), frozenset(data))


def _needs(access: RegisterAccess) -> bool:
    """Return True if an instruction needs the value of a register: to read it, or to keep a part of it.

    Instructions for 128 bits keep the rest of longer vectors, which scalar code and vectors of 128 bits do not use.
    """
    return access.read or (
        access.write and (access.conditional or (access.merges and access.register.kind != "vector"))
    )


def _writer(root: str, at: int, kernel: KernelCode) -> Iterator[int]:
    """Yield the last writer of a register before an instruction, or of the flags for ""; nothing if none writes it."""
    writers = _writers(kernel).get(root, ())
    if writers:
        yield max([w for w in writers if w < at], default=writers[-1])


@recent
def _writers(kernel: KernelCode) -> Mapping[str, Sequence[int]]:
    """Return the instructions that write each register, and the flags by ""."""
    found: dict[str, list[int]] = {}
    for i, instruction in enumerate(kernel.instructions):
        for root in {access.register.root for access in instruction.registers if access.write}:
            found.setdefault(root, []).append(i)
        if instruction.flags_written:
            found.setdefault("", []).append(i)
    return found


# --- registers --------------------------------------------------------------------------------------------------------


def _register_uses(kernel: KernelCode) -> list[RegisterUse]:
    kinds = {
        access.register.root: access.register.kind
        for instruction in kernel.instructions
        for access in instruction.registers
        if access.register.kind
    }
    most: Counter[str] = Counter()
    live: set[str] = set()
    # The second pass begins with what the next iteration needs.
    for _ in range(2):
        for instruction in reversed(kernel.instructions):
            live -= {access.register.root for access in instruction.registers if access.write}
            if not instruction.idiom:
                live |= {access.register.root for access in instruction.registers if _needs(access)}
            now = Counter(kinds[root] for root in live if root in kinds)
            most = Counter({kind: max(most[kind], now[kind]) for kind in {*most, *now}})
    used = Counter(kinds.values())
    return [RegisterUse(kind=kind, used=used[kind], live=most[kind]) for kind in sorted(used)]


# --- the stack --------------------------------------------------------------------------------------------------------


def stack_use(kernel: KernelCode) -> StackUse:
    """Return the spills and reloads of a kernel."""
    places: dict[tuple[str, int, int], tuple[list[int], list[int]]] = {}
    arrays: dict[str, int] = {}
    moving = {
        access.register.root for instruction in kernel.instructions for access in instruction.registers if access.write
    }
    for i, instruction in enumerate(kernel.instructions):
        for access in instruction.memory:
            base = access.base.root if access.base else ""
            if base in isa(kernel.isa).stack_registers and access.index is not None:
                arrays[base] = min(arrays.get(base, access.displacement), access.displacement)
            if on_frame(kernel, instruction) and base not in moving and (size := access.size * access.elements):
                stores, loads = places.setdefault((base, access.displacement, size), ([], []))
                if access.store:
                    stores.append(i)
                if access.load:
                    loads.append(i)
    spills, reloads, invariant = [], [], []
    for (base, displacement, size), (stores, loads) in places.items():
        overlaps = any(
            other != (displacement, size) and other[0] < displacement + size and displacement < sum(other)
            for other_base, *other_place in places
            if other_base == base and (other := (other_place[0], other_place[1]))
        )
        if overlaps or displacement >= arrays.get(base, displacement + 1):
            continue
        if not stores:
            invariant += loads
        elif loads:
            spills += stores
            reloads += loads
    return StackUse(spills=sorted(spills), reloads=sorted(reloads), invariant_reloads=sorted(invariant))


# --- rates ------------------------------------------------------------------------------------------------------------


def _rates(result: KernelResult) -> Iterator[CoreShare]:
    """Yield the rates of a kernel that takes time and moves a known number of bytes."""
    from incc.core.memory.roofline import ceilings, peak_bytes

    kernel, model, cycles = result.kernel, result.model, result.cycles
    if not cycles:
        return
    loaded, stored = peak_bytes(model)
    accesses = [access for instruction in kernel.instructions for access in instruction.memory]
    if all(access.size for access in accesses if access.load or access.store):
        yield from _rate("bytes loaded", _bytes([a for a in accesses if a.load]), loaded, cycles)
        yield from _rate("bytes stored", _bytes([a for a in accesses if a.store]), stored, cycles)
    work = operations(kernel)
    peaks = [peak.flop for peak in ceilings(model).peaks if peak.element in work.flop_elements]
    if peaks:
        yield from _rate("flop", work.flop, max(peaks), cycles)


def _bytes(accesses: Sequence[MemoryAccess]) -> int:
    return sum(access.size * access.elements for access in accesses)


def _rate(
    kind: Literal["bytes loaded", "bytes stored", "flop"], number: int, peak: Fraction, cycles: Fraction
) -> Iterator[CoreShare]:
    if number and peak:
        rate = number / cycles
        yield CoreShare(
            kind=kind,
            per_cycle=round(float(rate), DECIMALS),
            peak=round(float(peak), DECIMALS),
            share=round(min(1.0, float(rate / peak)), DECIMALS),
        )
