"""Projections of loops to vectors of the core's full width.

A loop that does several iterations at once is made of the loop as it is: each operation on data becomes the same one on
as many times the elements, each access becomes one of as many bytes, and counters and addresses advance as many times
as far. It is simulated like any other loop.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence, Set
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.core.quality import address_arithmetic
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, RegisterAccess
from incc.models.throughput import widest_vector
from incc.report.hints.chains import is_product, is_reduction
from incc.report.hints.common import calls, inner_branches, written_roots
from incc.report.hints.vectors import advances, ends_by_data
from incc.report.projections.changing import Changed, Obstacle, analyzed, laid_out
from incc.report.verdict import chain_instructions

if TYPE_CHECKING:
    from incc.core import Chain, Edge, PathStep, Stream
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements

_ACCUMULATING = frozenset(
    ("integer additions", "integer multiplications", "logic", "vector additions", "vector logic", "maxima and minima",
     "address computations")
)  # fmt: skip
"""Operations whose order does not matter, besides those of floating point."""


class _Widths(msgspec.Struct, frozen=True):
    """The widths of a loop's work."""

    element: int
    """Bits of the largest element of scalar work."""
    bits: int
    """Bits of the widest vectors in use; those of the element for scalar work."""
    packed: bool


def vectorised(facts: KernelResult, elements: Elements | None) -> Changed:
    """Return a loop as vectors of the core's full width.

    Raises Obstacle if it cannot be done, or would need shuffles.
    """
    kernel, widest = facts.kernel, widest_vector(facts.model)
    overhead = address_arithmetic(kernel)
    work = [i for i in range(len(kernel.instructions)) if i not in overhead]
    _check_shape(facts, work)
    widths = _widths(kernel, work)
    times = widest // widths.bits if widths.bits else 0
    if times < 2:
        raise Obstacle("full-width", ())
    offsets = _check_streams(facts, work, elements, widths)
    counting = _counting(facts, overhead)
    advanced = _advanced(kernel, counting)
    earlier = _earlier_loads(facts, work)
    if earlier and elements is not None and elements.per_iteration != 1 and not widths.packed:
        raise Obstacle("earlier-value", sorted({i for i, _ in earlier}))
    reordered = _check_dependences(facts, overhead, times, earlier)
    element = 0 if widths.packed else widths.element
    unneeded = _handing_on(facts, earlier)

    def wider(i: int) -> list[Instruction]:
        made = isa(kernel.isa).widened(kernel.instructions[i], times, element, widest)
        if not made:
            raise Obstacle("no-vector-form", (i,))
        return [_moved(each, (offsets.get(i, 0) - advanced[i]) * (times - 1)) for each in made]

    made: list[Instruction] = []
    for i, instruction in enumerate(kernel.instructions):
        if i in overhead:
            made.append(_faster(instruction, times) if i in counting else instruction)
        elif i not in unneeded:
            before = {root: load for (consumer, root), load in earlier.items() if consumer == i}
            for root, (load, distance) in before.items():
                made += _loaded_before(wider(load), f"{root} before", distance)
            made += [_reading(each, {root: f"{root} before" for root in before}) for each in wider(i)]
    after = analyzed(facts, laid_out(kernel, made))
    return Changed(cycles=after.cycles / times, bits=widest, reordered=tuple(reordered))


def arithmetic_vectorised(facts: KernelResult) -> Changed:
    """Return a scalar loop with its floating-point arithmetic as vectors of the core's full width.

    Elements are loaded and stored one by one, put together and taken apart by shuffles. Counters advance as many times
    as far. Raises Obstacle if it cannot be done.
    """
    kernel, widest = facts.kernel, widest_vector(facts.model)
    overhead = address_arithmetic(kernel)
    work = [i for i in range(len(kernel.instructions)) if i not in overhead]
    _check_shape(facts, work)
    sizes = {a.element for i in work if (a := kernel.instructions[i].arithmetic) is not None and a.floating}
    if _widths(kernel, work).packed or not sizes:
        raise Obstacle("no-scalar-arithmetic", ())
    (element,) = sizes if len(sizes) == 1 else (0,)
    times = widest // element if element else 0
    if times < 2:
        raise Obstacle("no-vector-form", ())
    reordered = _check_dependences(facts, overhead, times)
    steps = {stream.instruction: stream.step or 0 for stream in facts.analysis.streams}
    counting = _counting(facts, overhead)
    advanced = _advanced(kernel, counting)
    made: list[Instruction] = []
    for i, instruction in enumerate(kernel.instructions):
        if i in overhead and (instruction.affine is not None or instruction.branch or not _writes(instruction)):
            made.append(_faster(instruction, times) if i in counting else instruction)
            continue
        by_vectors = _by_vectors(instruction, kernel.isa, element, widest, steps.get(i, 0))
        if by_vectors is None:
            raise Obstacle("no-vector-form", (i,))
        made += [_moved(each, -advanced[i] * (times - 1)) for each in by_vectors]
    after = analyzed(facts, laid_out(kernel, made))
    return Changed(cycles=after.cycles / times, bits=widest, reordered=tuple(reordered))


def _writes(instruction: Instruction) -> bool:
    return any(access.write for access in instruction.registers)


def _by_vectors(
    instruction: Instruction, instruction_set: str, element: int, bits: int, step: int
) -> list[Instruction] | None:
    """Return the work of an instruction for a vector of elements, which are loaded and stored one by one.

    Args:
        instruction: The instruction.
        instruction_set: The name of its instruction set.
        element: Bits of an element.
        bits: Bits of the vector.
        step: Bytes from one element in memory to the next, if known.

    Returns:
        The instructions; None if there are no such.
    """
    of, times = isa(instruction_set), bits // element
    vectors = [a.register for a in instruction.registers if a.register.kind == "vector" and not a.address]
    general = any(a.register.kind == "general" and not a.address for a in instruction.registers)
    if not vectors:
        return [_moved(instruction, n * step) for n in range(times)]
    if not instruction.memory and not general:
        return [*of.widened(instruction, times, element, bits)] or None
    if not (parts := of.joined(element, bits, apart=any(access.store for access in instruction.memory))):
        return None
    if instruction.arithmetic is not None and instruction.arithmetic.floating:
        return _operand_by_vectors(instruction, instruction_set, element, bits, step)
    whole = vectors[0].root
    elements = _numbered(instruction, whole, times, step)
    first = {f"{whole} part 0": whole}
    joining = [_with_roots(part, first) for part in _of_parts(parts, whole)]
    elements = [_with_roots(each, first) for each in elements]
    return [*joining, *elements] if any(access.store for access in instruction.memory) else [*elements, *joining]


def _operand_by_vectors(
    instruction: Instruction, instruction_set: str, element: int, bits: int, step: int
) -> list[Instruction] | None:
    """Return the result of `_by_vectors` for arithmetic with an operand in memory."""
    of, times = isa(instruction_set), bits // element
    load, *operation = of.unfolded(instruction) or (None,)
    wider = of.widened(operation[0], times, element, bits) if operation else ()
    if load is None or not wider:
        return None
    whole = next(access.register.root for access in load.registers if access.write)
    return [
        *_numbered(load, whole, times, step),
        *_of_parts(of.joined(element, bits, apart=False), whole),
        *[_with_roots(each, {whole: f"{whole} part 0"}) for each in wider],
    ]


def _numbered(instruction: Instruction, whole: str, times: int, step: int) -> list[Instruction]:
    """Return an instruction for each element of a vector, with registers of their own instead of `whole`."""
    return [_moved(_with_roots(instruction, {whole: f"{whole} part {n}"}), n * step) for n in range(times)]


def _of_parts(parts: Iterable[Instruction], whole: str) -> Iterator[Instruction]:
    """Yield instructions that join or divide the parts of a register."""
    for part in parts:
        roots = {a.register.root for a in part.registers if a.register.root.startswith("part ")}
        yield _with_roots(part, {root: f"{whole} {root}" for root in roots})


def _reading(instruction: Instruction, roots: Mapping[str, str]) -> Instruction:
    """Return an instruction that reads other registers in place of some, by their roots."""
    if not roots:
        return instruction
    registers: list[RegisterAccess] = []
    for access in instruction.registers:
        other = roots.get(access.register.root)
        if other is None or not access.read:
            registers.append(access)
            continue
        read = replace(access, register=replace(access.register, root=other), write=False)
        registers += [read, replace(access, read=False)] if access.write else [read]
    return replace(instruction, registers=tuple(registers))


def _with_roots(instruction: Instruction, roots: Mapping[str, str]) -> Instruction:
    """Return an instruction on other registers in place of some, by their roots."""
    return replace(
        instruction,
        registers=tuple(
            [
                replace(a, register=replace(a.register, root=roots[a.register.root])) if a.register.root in roots else a
                for a in instruction.registers
            ]
        ),
    )


def _check_shape(facts: KernelResult, work: Sequence[int]) -> None:
    """Raise Obstacle for code that no vectors can replace without masks, or whose end the data decide."""
    kernel = facts.kernel
    if not kernel.is_loop or not work:
        raise Obstacle("no-work", ())
    if inside := calls(kernel):
        raise Obstacle("call", inside)
    if branches := inner_branches(kernel):
        raise Obstacle("branch", branches)
    if facts.unknown:
        raise Obstacle("unknown", facts.unknown)
    if ends_by_data(facts):
        raise Obstacle("search", (len(kernel.instructions) - 1,))


def _widths(kernel: KernelCode, work: Sequence[int]) -> _Widths:
    """Return the widths of a loop's work. Raises Obstacle for a mixture of scalars and vectors."""
    of = isa(kernel.isa)
    scalar: dict[int, int] = {}
    packed: dict[int, int] = {}
    for i in work:
        instruction = kernel.instructions[i]
        arithmetic, operation = instruction.arithmetic, of.operation(instruction.mnemonic, instruction.text)
        sizes = [8 * access.size for access in instruction.memory if access.load or access.store]
        if arithmetic is not None:
            (packed if arithmetic.packed else scalar)[i] = arithmetic.width if arithmetic.packed else arithmetic.element
        elif operation is not None and not operation.packed:
            scalar[i] = max(operation.source, operation.result)
        elif max(sizes, default=0) > 64:
            packed[i] = max(sizes)
        elif sizes:
            scalar[i] = max(sizes)
        elif data := [
            a.register.width for a in instruction.registers if a.register.kind == "general" and not a.address
        ]:
            scalar[i] = max(data)
    if packed and (alone := [i for i in scalar if _advances_or_computes(kernel.instructions[i])]):
        raise Obstacle("mixture", alone)
    if packed:
        return _Widths(0, max(packed.values()), True)
    return _Widths(max(scalar.values(), default=0), max(scalar.values(), default=0), False)


def _advances_or_computes(instruction: Instruction) -> bool:
    arithmetic = instruction.arithmetic
    return arithmetic is not None or any(access.store for access in instruction.memory)


# --- memory -----------------------------------------------------------------------------------------------------------


def _check_streams(
    facts: KernelResult, work: Sequence[int], elements: Elements | None, widths: _Widths
) -> Mapping[int, int]:
    """Return the bytes by which each access is ahead of the first one of its array.

    Raises Obstacle unless every access goes through its array element by element, or loads the same in each iteration.
    """
    groups: dict[tuple[int, int, bool], list[Stream]] = {}
    first: dict[int, int] = {}
    placed: set[int] = set()
    for stream in facts.analysis.streams:
        if stream.step is not None and stream.instruction in work:
            placed.add(stream.instruction)
            groups.setdefault((stream.part, stream.step, stream.store), []).append(stream)
            first[stream.part] = min(first.get(stream.part, stream.offset), stream.offset)
    accesses = [i for i in work if any(a.load or a.store for a in facts.kernel.instructions[i].memory)]
    if unknown := [i for i in accesses if i not in placed]:
        raise Obstacle("gather", unknown)
    offsets: dict[int, int] = {}
    for (part, step, store), members in groups.items():
        problem = _stream_problem(step, store, members)
        size = min(s.size for s in members)
        if not problem and step and elements is not None:
            # Each vector of the loop as it is holds elements of as many iterations.
            lanes = size // _element(facts) if widths.packed else 1
            whole = (
                step <= size * elements.per_iteration * max(1, lanes)
                if widths.packed
                else (step == size * elements.per_iteration)
            )
            problem = "" if whole else "interleaved"
        if problem:
            raise Obstacle(problem, sorted({s.instruction for s in members}))
        offsets.update({s.instruction: s.offset - first[part] for s in members if step})
    return offsets


def _stream_problem(step: int, store: bool, members: Sequence[Stream]) -> str:
    """Return the obstacle that accesses to one array are, "" if they are none."""
    if not step:
        return "one-place" if store else ""
    if step < 0:
        return "descending"
    covered = {(s.offset + byte) % step for s in members for byte in range(s.size)}
    return "stride" if len(covered) < step else ""


def _element(facts: KernelResult) -> int:
    """Return the bytes of the largest element that a loop computes with, 1 if it is unknown."""
    return max([a.element // 8 for i in facts.kernel.instructions if (a := i.arithmetic) is not None], default=1)


# --- dependences ------------------------------------------------------------------------------------------------------


def _earlier_loads(facts: KernelResult, work: Sequence[int]) -> Mapping[tuple[int, str], tuple[int, int]]:
    """Return the values that instructions have from loads in earlier iterations, which vectors load again.

    The keys are (instruction, root of the register that it reads), the values (load, bytes between the two elements).
    """
    kernel = facts.kernel
    steps = {stream.instruction: stream.step or 0 for stream in facts.analysis.streams if not stream.store}
    from_before = {
        (edge.consumer, _root(facts, edge)): edge.producer
        for edge in facts.analysis.edges
        if edge.location >= 0
        and edge.distance == 1
        and {edge.consumer, edge.producer} <= {*work}
        and not advances(facts, edge)
    }
    found: dict[tuple[int, str], tuple[int, int]] = {}
    for (consumer, root), writer in from_before.items():
        iterations, seen = 1, {consumer}
        while kernel.instructions[writer].move and writer not in seen:
            seen.add(writer)
            source = next(a.register.root for a in kernel.instructions[writer].registers if a.read)
            before = from_before.get((writer, source))
            inside = [e.producer for e in facts.analysis.edges if e.consumer == writer and not e.distance]
            iterations += before is not None
            writer = before if before is not None else inside[-1] if inside else writer
        instruction = kernel.instructions[writer]
        plain = isa(kernel.isa).work_of(instruction) in ("moves", "other computation") and not instruction.arithmetic
        if plain and instruction.memory and steps.get(writer, 0) > 0:
            found[consumer, root] = writer, steps[writer] * iterations
    return found


def _handing_on(facts: KernelResult, earlier: Container[tuple[int, str]]) -> Set[int]:
    """Return the moves that only hand loaded values to the next iteration, which loads them itself."""
    readers = [(edge.producer, (edge.consumer, _root(facts, edge)) in earlier) for edge in facts.analysis.edges]
    moves = {i for i, loaded_again in readers if loaded_again and facts.kernel.instructions[i].move}
    return moves - {i for i, loaded_again in readers if not loaded_again}


def _loaded_before(load: Sequence[Instruction], root: str, distance: int) -> list[Instruction]:
    """Return a load of the elements that lie so many bytes before those of another, to a register with this root."""
    own = {access.register.root for access in load[-1].registers if access.write}
    return [_moved(_with_roots(each, dict.fromkeys(own, root)), -distance) for each in load]


def _root(facts: KernelResult, edge: Edge) -> str:
    return facts.bound.location_names[edge.location] if edge.location >= 0 else ""


def _check_dependences(
    facts: KernelResult, overhead: Set[int], times: int, earlier: Container[tuple[int, str]] = ()
) -> list[int]:
    """Return the floating-point operations whose order changes. Raises Obstacle if iterations depend on each other.

    `earlier` are the dependences on earlier iterations that are no obstacles, as `_earlier_loads` has them.
    """
    instructions = facts.kernel.instructions
    in_chains: set[int] = set()
    reordered: set[int] = set()
    for chain in facts.analysis.chains:
        members = chain_instructions(chain)
        if {*members} <= overhead or any(_is_false(facts, s) or advances(facts, s) for s in chain.steps):
            continue
        in_chains.update(members)
        through_memory = any(step.location < 0 and step.producer != step.consumer for step in chain.steps)
        if through_memory and chain.distance >= times:
            continue
        if through_memory or not _may_reorder(chain, facts):
            raise Obstacle("recurrence", members)
        reordered.update([i for i in members if (a := instructions[i].arithmetic) is not None and a.floating])
    for edge in facts.analysis.edges:
        if (edge.consumer, _root(facts, edge)) in earlier or advances(facts, edge):
            continue
        if edge.distance and not {edge.producer, edge.consumer} & {*overhead} and not _is_false(facts, edge):
            through = edge.location < 0
            if (through and edge.distance < times) or (not through and not {edge.producer, edge.consumer} <= in_chains):
                raise Obstacle("earlier-value", (edge.producer, edge.consumer))
    return sorted(reordered)


def _is_false(facts: KernelResult, edge: Edge | PathStep) -> bool:
    """Return True if a dependency only carries elements that the consumer does not compute with."""
    location, consumer = edge.location, facts.kernel.instructions[edge.consumer]
    if location < 0:
        return False
    root = facts.bound.location_names[location]
    needed = [a for a in consumer.registers if a.register.root == root and (a.read or a.merges or a.conditional)]
    beside = isa(facts.kernel.isa).other_elements(consumer)
    return all(a == beside or not (a.read or a.conditional) for a in needed)


def _may_reorder(chain: Chain, facts: KernelResult) -> bool:
    """Return True if a chain is a reduction, or only counts."""
    if is_reduction(chain, facts) or is_product(chain, facts):
        return True
    kernel, members = facts.kernel, chain_instructions(chain)
    work_of = isa(kernel.isa).work_of
    if not {work_of(kernel.instructions[i]) for i in members} <= _ACCUMULATING | {"moves"}:
        return False
    inside = all(edge.consumer in members for edge in facts.analysis.edges if edge.producer in members)
    return inside or _counts(kernel, members)


def _counts(kernel: KernelCode, members: Iterable[int]) -> bool:
    """Return True if instructions only add what the loop does not change."""
    written = written_roots(kernel)
    own = {a.register.root for i in members for a in kernel.instructions[i].registers if a.write}
    return all(
        not kernel.instructions[i].memory
        and not {a.register.root for a in kernel.instructions[i].registers if a.read} & (written - own)
        for i in members
    )


# --- instructions -----------------------------------------------------------------------------------------------------


def _counting(facts: KernelResult, overhead: Set[int]) -> Set[int]:
    """Return the instructions that advance counters and addresses from one iteration to the next."""
    members = [chain_instructions(chain) for chain in facts.analysis.chains]
    return frozenset(i for chain in members if {*chain} <= overhead for i in chain)


def _advanced(kernel: KernelCode, counting: Set[int]) -> list[int]:
    """Return the bytes by which the address of each instruction's access has advanced within the iteration."""
    so_far: dict[str, int] = {}
    bytes_of: list[int] = []
    for i, instruction in enumerate(kernel.instructions):
        access = next((each for each in instruction.memory if each.load or each.store), None)
        registers = ((access.base, 1), (access.index, access.scale)) if access else ()
        bytes_of.append(sum(so_far.get(r.root, 0) * factor for r, factor in registers if r is not None))
        if i in counting and instruction.affine is not None:
            target = instruction.affine.target
            so_far[target] = so_far.get(target, 0) + instruction.affine.constant
    return bytes_of


def _faster(instruction: Instruction, times: int) -> Instruction:
    """Return an instruction that advances a register `times` as far."""
    affine = instruction.affine
    if affine is None:
        return instruction
    return replace(instruction, affine=replace(affine, constant=affine.constant * times))


def _moved(instruction: Instruction, distance: int) -> Instruction:
    """Return an instruction that accesses memory so many bytes further on."""
    if not distance:
        return instruction
    memory = [replace(access, displacement=access.displacement + distance) for access in instruction.memory]
    return replace(instruction, memory=tuple(memory))
