"""Estimates of a loop's cycles after a change to its source or its flags.

All are cycles of the present iteration's work. Code that the compiler has not written yet is estimated by the µops that
the core needs for the same work; code that only loses instructions is simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from math import ceil, lcm
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.core.analysis import analyze_kernel
from incc.core.dataflow import DATA, INVARIANT, Access, dataflow
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, Register, RegisterAccess
from incc.models.loading import find_cpu, load
from incc.models.model import Form, MachineModel
from incc.models.throughput import of_form, widest_vector
from incc.report.hints.advice import CLANG, CompilerCall
from incc.report.hints.common import WORTH, counting, steps
from incc.report.hints.context import HintContext
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult

_CLANG_INTERLEAVES = 4
"""Vectors that clang computes side by side in a small loop of unknown length (its loop vectoriser's choice for AVX)."""


def simulated_without(facts: KernelResult, left_out: Collection[int]) -> Fraction:
    """Return the cycles of a loop without some instructions."""
    return changed(facts, left_out).cycles


def changed(facts: KernelResult, left_out: Collection[int], in_registers: Collection[int] = ()) -> KernelResult:
    """Return the analysis of a loop without some instructions, and with loaded operands of others in registers.

    Instructions that read a result that is left out read a register instead that the loop does not write.
    """
    kernel = facts.kernel
    last_writer: dict[str, int] = {}
    for i, instruction in enumerate(kernel.instructions):
        last_writer.update({access.register.root: i for access in instruction.registers if access.write})
    kept: list[Instruction] = []
    offset = kernel.instructions[0].offset
    for i, instruction in enumerate(kernel.instructions):
        if i not in left_out:
            free = {
                root for access in instruction.registers if last_writer.get(root := access.register.root) in left_out
            }
            changed_one = without_inputs(with_register(instruction) if i in in_registers else instruction, free)
            kept.append(replace(changed_one, offset=offset))
            offset += instruction.length
        last_writer.update({access.register.root: i for access in instruction.registers if access.write})
    return analyze_kernel(replace(kernel, instructions=tuple(kept)), facts.model, facts.settings.for_cycles_alone())


def without_old_values(facts: KernelResult, accesses: Mapping[int, RegisterAccess]) -> Fraction:
    """Return the cycles of a loop in which instructions (by index) do not wait for the old values of registers.

    An instruction before each of them clears a vector register.
    """
    kernel = facts.kernel
    kept: list[Instruction] = []
    for i, instruction in enumerate(kernel.instructions):
        if i in accesses:
            cleared = isa(kernel.isa).clearing(instruction) if accesses[i].register.kind == "vector" else None
            if cleared is not None:
                roots = {access.register.root for access in cleared.registers}
                kept.append(_in_free_registers(cleared, roots))
            instruction = without_inputs(instruction, {accesses[i].register.root})
        kept.append(instruction)
    offset = kernel.instructions[0].offset
    for i, instruction in enumerate(kept):
        kept[i] = replace(instruction, offset=offset)
        offset += instruction.length
    cleared_kernel = replace(kernel, instructions=tuple(kept))
    return analyze_kernel(cleared_kernel, facts.model, facts.settings.for_cycles_alone()).cycles


def _in_free_registers(instruction: Instruction, roots: Collection[str]) -> Instruction:
    """Return an instruction that uses registers of its own in place of some others."""
    return replace(
        instruction,
        registers=tuple(
            replace(access, register=replace(access.register, root=f"own {access.register.root}"))
            if access.register.root in roots
            else access
            for access in instruction.registers
        ),
    )


def with_register(instruction: Instruction) -> Instruction:
    """Return an instruction with a register in place of the operand that it loads."""
    return replace(
        instruction,
        form=instruction.form.removesuffix("/m") + "/r",
        memory=(),
        traits=instruction.traits - {"indexed", "bcast"},
        registers=tuple([access for access in instruction.registers if not access.address]),
    )


def without_inputs(instruction: Instruction, roots: Collection[str]) -> Instruction:
    """Return an instruction that reads registers which nothing writes in place of some others."""
    if not roots:
        return instruction

    def free(register: Register) -> Register:
        return replace(register, root=f"free {register.root}") if register.root in roots else register

    registers = []
    for access in instruction.registers:
        if access.write and access.register.root in roots:
            access = replace(access, read=False, merges=False, conditional=False)
        registers.append(access if access.write else replace(access, register=free(access.register)))
    memory = [
        replace(
            access,
            base=free(access.base) if access.base else None,
            index=free(access.index) if access.index else None,
        )
        for access in instruction.memory
    ]
    affine = instruction.affine
    if affine is not None:
        terms = tuple([(f"free {root}" if root in roots else root, factor) for root, factor in affine.terms])
        affine = replace(affine, terms=terms)
    return replace(instruction, registers=tuple(registers), memory=tuple(memory), affine=affine)


# --- vectors ---------------------------------------------------------------------------------------------------------


class VectorWork(msgspec.Struct, frozen=True, kw_only=True):
    """The work of an iteration, as vector instructions would do it."""

    counts: Mapping[str, int]
    """Operations by kind, the keys of `Isa.vector_forms`."""
    element_bits: int
    """The size of the largest element that is computed with or moved."""


def packed_cycles(facts: KernelResult, context: HintContext, chain: Fraction = Fraction()) -> Fraction | None:
    """Return the cycles of an iteration's work as vectors; None if they cannot be estimated.

    Args:
        facts: The loop.
        context: Its compilation.
        chain: The cycles per iteration of the reductions in the loop as it is. gcc computes one vector of partial
            results, clang several.
    """
    work = vector_work(facts, context.elements)
    bits = vector_bits(facts.model, context.build)
    if work is None or bits < 128:
        return None
    cycles = _of_vectors(facts.model, work, bits)
    if cycles is None:
        return None
    several = _CLANG_INTERLEAVES if context.build.family == CLANG else 1
    # A taken branch per iteration, and the chain of each partial result.
    of_vector = max(cycles / context.elements, Fraction(1, several), chain / context.elements / several)
    return of_vector * context.elements * work.element_bits / bits


ENTRY, VECTOR_ENTRY = 3, 2
"""The cycles that each entry of a loop takes besides its iterations, and the additional ones of a vectorised loop, with
its checks and its last sum. Dot products and products of sparse matrices with rows of 3 to 64 elements take so many on
Zen 4."""


def packed_gain(facts: KernelResult, context: HintContext, chain: Fraction = Fraction()) -> Fraction | None:
    """Return the gain of vectors for the iterations of the context, or for many; None if it is unknown."""
    vectors = _packed(facts, context, chain)
    return gain_at(facts, context, chain, *vectors) if vectors else None


def _packed(facts: KernelResult, context: HintContext, chain: Fraction) -> tuple[Fraction, int] | None:
    """Return the cycles of an iteration's work as vectors, and the elements at once; None if they are unknown."""
    after = packed_cycles(facts, context, chain)
    work = vector_work(facts, context.elements)
    if after is None or work is None:
        return None
    lanes = vector_bits(facts.model, context.build) // work.element_bits
    return after, lanes * (_CLANG_INTERLEAVES if context.build.family == CLANG else 1)


def gain_at(
    facts: KernelResult, context: HintContext, chain: Fraction, after: Fraction, step: Fraction | int, trips: int = 0
) -> Fraction:
    """Return the gain of a loop that does `step` elements at once, for a number of iterations of the source's loop.

    Short loops that follow each other overlap, as far as the core's window holds several of them, so that chains matter
    less. What the larger steps leave over is done as now.
    """
    trips = trips or context.trips
    if not trips:
        return facts.cycles / after
    single = short_cycles(facts, context, chain, trips)
    rest = trips % step
    others = (trips - rest) * after / context.elements + rest * single
    return (trips * single + ENTRY) / (others + ENTRY + VECTOR_ENTRY)


def short_cycles(facts: KernelResult, context: HintContext, chain: Fraction, trips: int) -> Fraction:
    """Return the cycles per element of a loop that is entered repeatedly, for its number of iterations."""
    least, most, more = _short(facts, context, chain)
    return max(least, min(most, trips * more))


def _short(facts: KernelResult, context: HintContext, chain: Fraction) -> tuple[Fraction, Fraction, Fraction]:
    """Return the least and the most cycles per element of `short_cycles`, and those that each iteration adds between.

    The more iterations, the fewer entries fit into the core's window, over which the chains of each extend.
    """
    if not chain:
        return facts.cycles / context.elements, Fraction(), Fraction()
    bounds = facts.bounds
    serial = max(bounds.port, bounds.divider, bounds.front_end, bounds.retire)
    window = int(facts.model.parameters["rob"]) or 1
    of_element = chain / context.elements
    slots = sum(facts.bound.issue_slots) / context.elements
    return max(serial / context.elements, of_element / window), of_element, of_element * slots / window


MOST_TRIPS = 256
"""Iterations from which on a loop counts as long."""


def least_trips(facts: KernelResult, context: HintContext, chain: Fraction) -> int:
    """Return the iterations of the source's loop from which on vectors gain, 1 if they always do or it is unknown."""
    vectors = _packed(facts, context, chain)
    if vectors is None:
        return 1
    after, step = vectors
    numbers = (*_short(facts, context, chain), after / context.elements)
    # Hundreds of gains, compared as `gain_at` computes them, but in integers.
    unit = lcm(*[number.denominator for number in numbers])
    least, most, more, packed = (int(number * unit) for number in numbers)
    for trips in range(MOST_TRIPS - 1, 0, -1):
        single = max(least, min(most, trips * more))
        rest = trips % step
        before = trips * single + ENTRY * unit
        with_vectors = (trips - rest) * packed + rest * single + (ENTRY + VECTOR_ENTRY) * unit
        if before * WORTH.numerator < with_vectors * WORTH.denominator:
            return trips + 1
    return 1


def vector_work(facts: KernelResult, elements: Fraction) -> VectorWork | None:
    """Return the work of a scalar loop that does so many of the source's iterations in one of its own.

    The result is None if it does what has no equivalent in vectors.
    """
    kernel = facts.kernel
    overhead = set(counting(kernel))
    working = [
        instruction
        for i, instruction in enumerate(kernel.instructions)
        if i not in overhead and not instruction.branch and not _makes_address(facts, i)
    ]
    accesses = [access for instruction in working for access in instruction.memory]
    if any(access.elements != 1 or not access.size or access.size > 8 for access in accesses):
        return None
    kinds = [_kind(instruction, kernel.isa) for instruction in working]
    moved = _moved(kernel, elements)
    sizes = [size for kind, size in moved if kind not in ("gather", "shuffle")]
    bits = max([_sum_bits(facts), *[_element_bits(instruction, kernel.isa) for instruction in working], *sizes])
    if _computes_ints(working, kinds, kernel.isa):
        # C computes small integers as ints, which takes vectors at least twice the width, and conversions.
        bits = 2 * bits if bits < _INT else bits
        kinds += ["integer" for size in sizes if size < bits]
    counts = Counter(kind for kind in (*kinds, *[kind for kind, _ in moved]) if kind)
    return VectorWork(counts=counts, element_bits=bits) if bits else None


def _sum_bits(facts: KernelResult) -> int:
    """Return the size of the integers that a loop adds up in registers, which may exceed that of the loaded ones."""
    kernel = facts.kernel
    sums = {i for chain in facts.analysis.chains for i in chain_instructions(chain)} - {*counting(kernel)}
    written = [access.register for i in sums for access in kernel.instructions[i].registers if access.write]
    return max([register.width for register in written if register.kind == "general"], default=0)


def _computes_ints(working: Sequence[Instruction], kinds: Sequence[str], instruction_set: str) -> bool:
    work_of = isa(instruction_set).work_of
    return any(kind == "integer" and work_of(each) != "logic" for each, kind in zip(working, kinds, strict=True))


def _kind(instruction: Instruction, instruction_set: str) -> str:
    """Return the operation of an instruction of a scalar loop, a key of `Isa.vector_forms`; "" if it only moves."""
    work = isa(instruction_set).work_of(instruction)
    if instruction.arithmetic is not None:
        if work in ("floating-point multiplications", "FMAs"):
            return "multiply"
        if isa(instruction_set).advice_class(instruction.mnemonic, instruction.text) == "root":
            return "root"
        return "add" if instruction.divisor is None else "divide"
    if instruction.move or instruction.memory or instruction.idiom:
        return ""
    return "integer" if all(access.register.kind == "general" for access in instruction.registers) else "add"


def _element_bits(instruction: Instruction, instruction_set: str) -> int:
    """Return the size of the elements that an instruction computes; 0 if only its accesses tell."""
    arithmetic = instruction.arithmetic
    product = isa(instruction_set).work_of(instruction) == "integer multiplications"
    return max(arithmetic.element if arithmetic else 0, _NARROWEST_PRODUCT if product else 0)


def _moved(kernel: KernelCode, elements: Fraction) -> list[tuple[str, int]]:
    """Return what vectors need to load and store: "load", "store", "gather" or "shuffle", each with its bits."""
    flow = dataflow(kernel)
    moved = []
    strided: dict[tuple[str, int, int, object], list[int]] = {}
    for accesses, kind in ((flow.loads, "load"), (flow.stores, "store")):
        for access in accesses:
            step = access_step(access, kernel)
            # Elements at a distance that is not in the code, such as those of a column, are gathered too.
            if access.address.kind == DATA or step is None:
                moved.append(("gather", 8 * access.size))
            elif abs(step) > access.size * elements:
                group = kind, access.size, abs(step), tuple(access.address.terms.items())
                strided.setdefault(group, []).append(access.address.constant)
            elif step:
                moved.append((kind, 8 * access.size))
                if step < 0:
                    moved.append(("shuffle", 8 * access.size))
    for (kind, size, distance, _), places in strided.items():
        of_group = _of_structures(kind, Fraction(distance, size), len({*places}), elements)
        moved += [(each, 8 * size) for each in of_group]
    return moved


def _of_structures(kind: str, step: Fraction, members: int, elements: Fraction) -> list[str]:
    """Return what moves elements that are not neighbours, of an iteration that advances by `step` elements' sizes.

    Compilers load whole structures of two, three, four or eight members and sort these by shuffles of two vectors, at
    most as many as a transposition takes. Other elements are gathered.
    """
    distance = step / elements
    if distance not in (2, 3, 4, 8) or (kind == "store" and members < step):
        return ["gather"] * members
    each, vectors = members / elements, int(step)
    shuffles = elements * min(each * (distance - 1), distance * (int(distance) - 1).bit_length())
    return [kind] * vectors + ["shuffle"] * ceil(shuffles)


def _makes_address(facts: KernelResult, i: int) -> bool:
    """Return True if an instruction's result is only part of addresses, which vectors need once."""
    names, instructions = facts.bound.location_names, facts.kernel.instructions
    read = [(names[e.location], instructions[e.consumer]) for e in facts.analysis.edges if e.producer == i]
    return bool(read) and all(
        root in {register.root for access in reader.memory for register in (access.base, access.index) if register}
        and all(access.address for access in reader.registers if access.read and access.register.root == root)
        for root, reader in read
    )


_INT = 32
"""The bits of an int."""

_NARROWEST_PRODUCT = 16
"""The bits of the smallest elements that vectors of integers are multiplied in."""


def access_step(access: Access, kernel: KernelCode) -> int | None:
    """Return the bytes by which an access of `dataflow` advances per iteration; None if unknown."""
    registers = steps(kernel)
    moving = [(symbol, times) for symbol, times in access.address.terms.items() if symbol.kind != INVARIANT]
    if any(symbol.made_by >= 0 or symbol.name not in registers for symbol, _ in moving):
        return None
    return sum(times * registers[symbol.name] for symbol, times in moving)


def _of_vectors(model: MachineModel, work: VectorWork, bits: int) -> Fraction | None:
    """Return the cycles that one vector of each operation takes: a bound of the core."""
    forms: dict[str, Form] = {}
    names = vector_forms(model, bits)
    for kind in work.counts:
        form = model.lookup(names.get(kind, ""), frozenset())
        if form is None:
            return None
        forms[kind] = form
    uops: list[tuple[str, int]] = []
    divider = slots = 0
    for kind, count in work.counts.items():
        form = forms[kind]
        hold = form.attributes.get("hold", 1)
        uops += [(ports, uop_count * hold * count) for ports, uop_count in form.uops]
        divider += form.divider * count
        slots += form.retire_slots * count
    stored = Fraction(work.counts.get("store", 0) * bits // 8, int(model.parameters["store_commit_bytes"]) or bits)
    return max(of_form(uops), Fraction(divider), Fraction(slots, int(model.parameters["issue_width"])), stored)


def vector_bits(model: MachineModel, build: CompilerCall) -> int:
    """Return the width in bits of the vectors that the compiler chooses."""
    widest = widest_vector(model)
    if not build.family:
        # As most compilers choose, which avoid 512 bits on x86.
        return 256 if isa(model.isa).passed_over.get(widest) == 256 else widest
    if build.baseline:
        return 128
    allowed = min(_allowed(build, model), widest)
    width = build.state.get("vector-width")
    if isinstance(width, int) and width:
        return min(width, allowed)
    narrower = isa(model.isa).passed_over.get(allowed, allowed)
    return narrower if narrower == 256 and build.prefers_256 else allowed


def of_width(model: MachineModel, bits: int, wider: int) -> Fraction | None:
    """Return how much faster a core computes with wider vectors; None if it lacks one of the widths."""
    forms = [model.lookup(vector_forms(model, width).get("add", ""), frozenset()) for width in (bits, wider)]
    times = [of_form(form.uops) * form.attributes.get("hold", 1) for form in forms if form is not None]
    return Fraction(wider, bits) * times[0] / times[1] if len(times) == 2 else None


def vector_forms(model: MachineModel, bits: int) -> Mapping[str, str]:
    """Return forms for operations on vectors of a number of bits; none if the core has no such vectors."""
    of_bits = isa(model.isa).vector_forms
    scalable = int(model.parameters["scalable_vector_bits"])
    return of_bits.get(bits) or (of_bits.get(0, {}) if bits == scalable else {})


def _allowed(build: CompilerCall, model: MachineModel) -> int:
    """Return the width of the widest vectors that a command's options allow."""
    if build.target in ("native", model.name):
        return widest_vector(model)
    if bits := isa(model.isa).level_bits(build.target):
        return bits
    target = find_cpu(build.target, ()) if build.target else None
    return widest_vector(load(target.model, ())) if target and target.model else 256
