"""The number of source iterations that one iteration of an unrolled or vectorised loop stands for.

The rule: if an iteration of the assembly contains n of the source, each stream (the accesses that move through memory
by the same number of bytes per iteration) consists of n equal parts: if the set of bytes that it accesses, repeated
with its step, is shifted by the n-th part of the step, it stays the same. So n divides the number of parts of every
stream, and the number of times that each operation is done. The largest such number is `Work.units`: 3 floats of a
structure make three parts of one stream, but not of the result's stream. It remains open whether parts are iterations
of the source, or elements that the source treats alike in one iteration, such as the two parts of a complex number:

0. *The code before the loop* computes the trip count, mostly from that of the source's loop (`KernelCode.pace`). This
   decides for all loops that do the same work, if it fits the streams: each consists of that many equal numbers of
   whole elements. It does not if iterations of an outer loop were merged into the loop.
1. *A sibling decides.* A loop that does the same work with the smallest step, such as a remainder, goes through the
   source one iteration at a time; the quotient of the steps is the number for the larger loop.
2. *Vectors* are assumed to consist of iterations unless the source indicates otherwise: if the remainder of the loop
   computes at more places (lines and columns) than the loop, or is vectorised too, they hold neighbours of one
   iteration.
3. *Scalar copies* are iterations if they come from one place in the source, and one iteration if all of them come from
   different places.
4. *One part* alone is one iteration.
5. *The outer loop may be vectorised*: the lanes of a vector then hold iterations of that, and the streams of the inner
   loop deliver one element at a time. The number of elements is the loop's work relative to that of a scalar loop with
   the same step; without such a loop, it is unknown.
6. Without streams, a loop that follows a pointer from one load to the next, or that does no operation twice, is as it
   is in the source.

In all other cases the number is unknown.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from math import gcd

import msgspec

from incc.core import Stream
from incc.core.analysis import KernelResult
from incc.frontends.asm.parse import InstructionOrigin
from incc.frontends.isa import Operation, isa
from incc.frontends.kernel import Basis, CompiledLoop, Instruction, KernelCode

# The most parts of a stream to search for a pattern; more are hundreds of unrolled copies.
_MOST_PARTS = 4096
# The most untyped steps (moves, shuffles, logic) from a load to the operation that shows the element's type.
_FURTHEST = 3


class StreamGroup(msgspec.Struct, frozen=True, kw_only=True):
    """A stream: accesses at known distances that advance by the same number of bytes."""

    step: int
    """Bytes by which they advance per iteration."""
    element: int
    """The size of an element in bytes; 0 if unknown."""
    parts: int
    """The number of equal parts; 0 if the element is unknown."""
    accesses: tuple[tuple[int, int], ...]
    """(instruction, number of elements) of each access."""


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """The work of a kernel, and the facts that tell the number of its elements."""

    groups: tuple[StreamGroup, ...]
    units: int
    """The number of equal parts as far as known; 0 if unknown."""
    vector_bytes: int
    """The width of the widest access or packed operation on elements; 0 for scalar code."""
    operations: Mapping[tuple[str, int, bool], int]
    """Elements per iteration by (kind, bits of an element, floating point); a multiply-add counts as both."""
    chases: int
    """The number of loads whose address an earlier load produced."""
    copies: int
    """The number of times that everything besides counting is done alike."""
    stores: bool
    """True if a stream is stored to."""
    whole: bool
    """True if there is only one path through the kernel."""
    pace: int
    """The kernel's pace; 0 if it does not fit the streams."""

    @property
    def steps(self) -> tuple[int, ...]:
        """The distinct steps of its streams in bytes, ascending."""
        return tuple(sorted({abs(group.step) for group in self.groups}))

    @property
    def broadcasts(self) -> bool:
        """True if it computes with vectors, but its streams deliver one element at a time."""
        single = self.units == 1 and all(number == 1 for group in self.groups for _, number in group.accesses)
        lanes = gcd(*[count for (_, _, floating), count in self.operations.items() if floating])
        return bool(self.groups) and single and self.vector_bytes > 0 and lanes > 1

    @property
    def computes(self) -> frozenset[tuple[str, int]]:
        """The floating-point operations as scalar code would do them.

        A multiply-add counts as both operations; minima, maxima, comparisons and roundings are ignored.
        """
        without_computation = ("min", "max", "compare", "round")
        return frozenset(
            [(kind, bits) for kind, bits, floating in self.operations if floating and kind not in without_computation]
        )


class Elements(msgspec.Struct, frozen=True):
    """The elements of the source's loop that one iteration handles."""

    per_iteration: Fraction
    why: str
    """The evidence in words."""
    basis: Basis = "inferred"
    """Reported by the compiler, or inferred from the code."""


def of_compiler(loop: CompiledLoop) -> Elements | None:
    """Return the elements per iteration that the compiler reports; None if it reports none."""
    number = loop.fixed_iterations
    if not number:
        return None
    parts = []
    if loop.width > 1:
        parts.append(f"vectors of {loop.width} elements")
    if loop.interleave > 1:
        parts.append(f"{loop.interleave} of them side by side" if parts else f"{loop.interleave} side by side")
    if loop.unroll > 1:
        parts.append(f"unrolled {loop.unroll} times")
    return Elements(Fraction(number), ", ".join(parts) or "one at a time", "compiler")


# --- one kernel -------------------------------------------------------------------------------------------------------


def work(result: KernelResult) -> Work:
    """Return the work of one kernel by itself."""
    kernel = result.kernel
    operation = isa(kernel.isa).operation
    operations = [operation(instruction.mnemonic, instruction.text) for instruction in kernel.instructions]
    streams = result.analysis.streams
    flow = _Flow(kernel, operations)
    counted = _operations(kernel, operations, flow)
    region = kernel.region
    whole = region is None or len(set(region.lines)) == len(region.body_lines)
    groups = tuple(_groups(streams, flow, whole))
    vector_bytes = max(
        [a.width // 8 for i in kernel.instructions if (a := i.arithmetic) is not None and a.packed]
        + [s.size for s in streams if s.size > 8],
        default=0,
    )
    units = gcd(*[group.parts for group in groups])
    if units and whole:
        # Integers in vectors also count and choose, for all elements or for some.
        units = gcd(units, *[count for (_, _, floating), count in counted.items() if floating])
    return Work(
        groups=groups,
        units=units,
        vector_bytes=vector_bytes,
        operations=counted,
        chases=_chases(kernel),
        copies=_copies(kernel),
        stores=any(s.store and s.step for s in streams),
        whole=whole,
        pace=kernel.pace
        if _fits(kernel.pace, groups, units if whole and (units > 1 or not vector_bytes) else 0)
        else 0,
    )


def _fits(pace: int, groups: Sequence[StreamGroup], units: int) -> bool:
    """Return True if the streams can consist of that many iterations, each of whole elements."""
    return units % max(pace, 1) == 0 and all(
        abs(group.step) % (max(pace, 1) * max(group.element, 1)) == 0 for group in groups
    )


def _groups(streams: Sequence[Stream], flow: _Flow, whole: bool) -> Iterable[StreamGroup]:
    by_part: dict[tuple[int, int], list[Stream]] = {}
    for stream in streams:
        if stream.step:
            by_part.setdefault((stream.part, stream.step), []).append(stream)
    for (_, step), members in by_part.items():
        sizes = [flow.element(stream.instruction, stream.store, stream.size) for stream in members]
        if 0 in sizes:
            # Untyped vectors have the element size of the stream's other accesses.
            others = {size for size in sizes if size}
            common = others.pop() if len(others) == 1 else 0
            sizes = [size or common for size in sizes]
        element = 0 if 0 in sizes else min(sizes)
        parts = 0
        if element:
            labels = {
                ((stream.offset + position) % abs(step), size, stream.store)
                for stream, size in zip(members, sizes, strict=True)
                for position in range(0, max(stream.size // size, 1) * size, size)
                if stream.size <= _MOST_PARTS
            }
            # Operations on the analysed path say little about other paths.
            parts = equal_parts(labels, abs(step)) if whole else max(1, abs(step) // element)
        accesses = [
            (stream.instruction, max(1, stream.size // size if size else 1))
            for stream, size in zip(members, sizes, strict=True)
        ]
        yield StreamGroup(step=step, element=element, parts=parts, accesses=tuple(accesses))


def equal_parts(labels: set[tuple[int, int, bool]], step: int) -> int:
    """Return the largest n such that labels repeated every `step` bytes stay the same if shifted by step / n.

    Returns 0 if there are too many labels.
    """
    most = gcd(len(labels), step)
    if len(labels) > _MOST_PARTS:
        return 0
    for n in range(most, 1, -1):
        if most % n == 0:
            by = step // n
            if all(((at + by) % step, size, store) in labels for at, size, store in labels):
                return n
    return 1


def _operations(
    kernel: KernelCode, operations: Sequence[Operation | None], flow: _Flow
) -> dict[tuple[str, int, bool], int]:
    """Return elements by operation, without operations that only count, such as on a vector of indices."""
    counted: Counter[tuple[str, int, bool]] = Counter()
    for number, (instruction, operation) in enumerate(zip(kernel.instructions, operations, strict=True)):
        arithmetic = instruction.arithmetic
        if arithmetic is None or operation is None or flow.counts(number):
            continue
        lanes = arithmetic.width // arithmetic.element if arithmetic.packed else 1
        for kind in ("add", "mul") if operation.kind == "fma" else (operation.kind,):
            counted[kind, arithmetic.element, arithmetic.floating] += lanes
    return counted


class _Flow:
    """The vector registers from instruction to instruction, around the loop."""

    def __init__(self, kernel: KernelCode, operations: Sequence[Operation | None]) -> None:
        self._instructions = kernel.instructions
        self._operations = operations
        self._writers: dict[str, list[int]] = {}
        self._readers: dict[str, list[int]] = {}
        for number, instruction in enumerate(kernel.instructions):
            for access in instruction.registers:
                if access.register.kind == "vector":
                    if access.write:
                        self._writers.setdefault(access.register.root, []).append(number)
                    if access.read and not instruction.idiom:
                        self._readers.setdefault(access.register.root, []).append(number)

    def element(self, number: int, store: bool, size: int) -> int:
        """Return the size in bytes of the elements of an access of that many bytes; 0 if unknown."""
        instruction = self._instructions[number]
        if not any(access.register.kind == "vector" for access in instruction.registers):
            return size
        if element := next((access.element for access in instruction.memory if access.element), 0):
            return min(element, size)
        bits = self._typed(number, store)
        if bits < 0:  # only moved
            # A load of half a register also reads the register, to keep the other half.
            roots = [
                a.register.root
                for a in instruction.registers
                if a.register.kind == "vector" and (a.read if store else a.write)
            ]
            widths = {
                self._origin(root, number, _FURTHEST) if store else self._use(root, number, _FURTHEST) for root in roots
            }
            widths.discard(0)
            bits = min(widths, default=0)
        if not bits:
            # The elements of a vector register are at least a byte wide; scalars keep their size.
            return size if size <= 8 else 0
        return min(bits // 8, size)

    def _typed(self, number: int, result: bool) -> int:
        """Return the bits of the elements that an instruction reads or writes; -1 if it does not specify them."""
        operation = self._operations[number]
        if operation is None:
            return -1
        return operation.result if result else operation.source

    def _origin(self, root: str, number: int, further: int) -> int:
        """Return the element width in bits of a register's value when instruction `number` reads it; 0 if unknown."""
        writers = self._writers.get(root)
        if not writers:
            return 0
        writer = max([w for w in writers if w < number], default=writers[-1])
        bits = self._typed(writer, True)
        if bits >= 0 or further == 0:
            return max(bits, 0)
        sources = [
            a.register.root for a in self._instructions[writer].registers if a.register.kind == "vector" and a.read
        ]
        widths = {self._origin(source, writer, further - 1) for source in sources} - {0}
        return min(widths, default=0)

    def _use(self, root: str, number: int, further: int) -> int:
        """Return the element width in bits with which a register is read after instruction `number` wrote it.

        Returns 0 if unknown.
        """
        n = len(self._instructions)
        readers, writers = self._readers.get(root, ()), self._writers.get(root, ())
        last = min([(w - number - 1) % n for w in writers if w != number], default=n)
        widths: set[int] = set()
        for reader in readers:
            if reader == number or (reader - number - 1) % n > last:
                continue
            bits = self._typed(reader, False)
            for gather in self._instructions[reader].memory:
                if gather.elements > 1 and gather.index is not None and gather.index.root == root:
                    bits = gather.index.width // gather.elements
            if bits < 0 and further:
                for access in self._instructions[reader].registers:
                    if access.register.kind == "vector" and access.write:
                        widths.add(self._use(access.register.root, reader, further - 1))
            else:
                widths.add(max(bits, 0))
        widths.discard(0)
        return min(widths, default=0)

    def counts(self, number: int) -> bool:
        """Return True if the instruction advances a register by a loop invariant."""
        instruction = self._instructions[number]
        written = {a.register.root for a in instruction.registers if a.write}
        read = {a.register.root for a in instruction.registers if a.read and not a.address}
        if not written & read or any(access.index or access.base for access in instruction.memory if access.base):
            return False
        return not any(self._writers.get(root) for root in read - written) and all(
            self._writers.get(root) == [number] for root in written if root in self._writers
        )


def _chases(kernel: KernelCode) -> int:
    """Return the number of loads that produce the register of their own address in the next iteration."""
    chases = 0
    for instruction in kernel.instructions:
        written = {a.register.root for a in instruction.registers if a.write}
        chases += any(
            access.load and access.base is not None and access.base.root in written for access in instruction.memory
        )
    return chases


def _copies(kernel: KernelCode) -> int:
    """Return the number of times that everything besides counting is done alike.

    The result is 1 if some operation is done once. It is 0 if a counter advances by more than one, as in copies of
    which some operations have been merged.
    """
    counted: Counter[str] = Counter()
    writes: Counter[str] = Counter()
    for instruction in kernel.instructions:
        writes.update({access.register.root for access in instruction.registers if access.write})
    for instruction in kernel.instructions:
        affine = instruction.affine
        counts = affine is not None and affine.terms == ((affine.target, 1),) and abs(affine.constant) > 1
        if counts and affine and writes[affine.target] == 1:
            return 0
        if not (instruction.branch or instruction.move or (affine and affine.target)):
            counted[instruction.form] += 1
    return gcd(*counted.values()) if counted else 1


# --- kernels that do the same work ------------------------------------------------------------------------------------


def ratio(ours: tuple[int, ...], theirs: tuple[int, ...]) -> Fraction | None:
    """Return the number of iterations with steps `theirs` that advance as far as one with `ours` (see `Work.steps`).

    Returns None if it differs from stream to stream, or if nothing advances.
    """
    if not ours or len(ours) != len(theirs):
        return None
    ratios = {Fraction(a, b) for a, b in zip(ours, theirs, strict=True)}
    return ratios.pop() if len(ratios) == 1 else None


def elements(
    own: Work, smallest: Work, paces: int = 1, around: Surroundings | None = None, others: Iterable[Work] = ()
) -> Elements | None:
    """Return the elements per iteration; None if unknown.

    `others` are all loops that do the same work in the same function, and `smallest` is the one among them with the
    smallest step. `paces` is the number of different steps that these loops have. `around` describes the source of
    `smallest`.
    """
    return _by_count(own, smallest, around, others) or _by_symmetry(own, smallest, paces, around)


def _by_count(own: Work, smallest: Work, around: Surroundings | None, others: Iterable[Work]) -> Elements | None:
    """Return the elements according to the code before the loop, or before one that does the same work.

    The trip count is that of the innermost loop of the source. If iterations of an outer loop were merged into the
    loop, it does more work than its step shows, and the trip count does not apply.
    """
    if own.broadcasts:
        return None
    done, moved = _work_ratio(own, smallest), ratio(own.steps, smallest.steps)
    if (done and moved and done > moved) or (around and smallest.units and around.done(smallest.units) > 1):
        return None
    for counted in (own, *others):
        if not counted.pace:
            continue
        times = Fraction(1) if counted is own else ratio(own.steps, counted.steps)
        if times is None:
            continue
        number = times * counted.pace
        if counted is not own and (number.denominator > 1 or _work_ratio(own, counted) not in (None, times)):
            continue
        if counted is own:
            return Elements(number, f"the code before the loop counts {number} per iteration")
        return Elements(
            number, f"its steps are {times} times those of a loop for which the code before counts {counted.pace}"
        )
    return None


def _by_symmetry(own: Work, smallest: Work, paces: int, around: Surroundings | None) -> Elements | None:
    one = _alone(smallest, around)
    if one is None:
        if paces == 1:
            return None
        # Compilers hardly unroll remainders; neighbours may still be in one vector. Without
        # places in the source, two copies are as likely as two neighbours.
        apart = smallest.vector_bytes and smallest.steps[-1:] > (smallest.vector_bytes,)
        if around is None or smallest.units >= _UNROLLED or not smallest.whole or apart:
            return None
        one = Elements(Fraction(1), "it is the loop with the smallest step of those that do the same work")
    times, done = ratio(own.steps, smallest.steps), _work_ratio(own, smallest)
    if times is None or (times == 1 and not own.broadcasts):
        return one
    if done is not None and done % times == 0:
        number = done * one.per_iteration
        return Elements(number, f"it does {done} times the work of the loop with the smallest step")
    if done is not None or own.broadcasts:
        return None
    return Elements(times * one.per_iteration, f"its steps are {times} times those of a loop that does the same work")


def _work_ratio(own: Work, smallest: Work) -> Fraction | None:
    """Return the ratio of operations per iteration; larger than the ratio of steps if an outer loop is unrolled.

    Returns None if nothing is computed, or if the operations differ.
    """
    if not (own.whole and smallest.whole):
        return None
    mine, other = (
        {key: count for key, count in work.operations.items() if key[2] and (key[0], key[1]) in work.computes}
        for work in (own, smallest)
    )
    ratios = {Fraction(count, other[key]) for key, count in mine.items() if key in other}
    return ratios.pop() if len(ratios) == 1 else None


_UNROLLED = 5
"""The number of equal parts from which on a remainder is more likely unrolled than made of neighbours."""


def _alone(own: Work, around: Surroundings | None) -> Elements | None:
    """Return the elements per iteration according to the kernel by itself."""
    one = Fraction(1)
    if not own.groups:
        if own.chases == 1:
            return Elements(one, "it follows one pointer")
        if own.copies == 1:
            return Elements(one, "it does something only once")
        return None
    # Vector loads may include bytes between the elements, which makes the parts of a stream differ.
    if own.units == 1 and not own.vector_bytes:
        return Elements(one, "its streams have one part each")
    if own.units < 2 or not own.whole:
        return None
    steps = " and ".join(
        f"{step} bytes of {element}-byte elements"
        for step, element in sorted({(abs(group.step), group.element) for group in own.groups if group.element})
    )
    copies = around.copies(own) if around else 0
    if own.vector_bytes:
        if copies is None or not _are_iterations(own, around):
            return None
        return Elements(Fraction(gcd(own.units, copies)), f"{steps} per iteration")
    if not copies:
        return None
    number = gcd(own.units, copies)
    if number == 1:
        return Elements(one, "what is done alike in it comes from different places in the source")
    return Elements(Fraction(number), f"{steps} per iteration, in copies of the same source")


def _are_iterations(own: Work, around: Surroundings | None) -> bool:
    """Return True if the lanes of a kernel's vectors are iterations of the source, not neighbours in one."""
    lanes = own.vector_bytes // max([group.element for group in own.groups], default=1)
    if own.units < lanes or lanes < 2 or own.units.bit_count() > 1:
        return False
    if around and (around.several_an_iteration(own.units) or around.done(own.units) > 1):
        return False
    # Without a remainder, one vector per iteration may also hold the neighbours of one iteration.
    return own.steps[-1] > own.vector_bytes or bool(around and around.remains)


# --- where instructions come from -------------------------------------------------------------------------------------


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """The evidence about a kernel from places in the source (line and column)."""

    places: tuple[str, ...]
    """The place of each instruction; empty if unknown."""
    lanes: tuple[int, ...]
    """The elements of each instruction's operation; 0 if it is none."""
    computed: Mapping[str, int]
    """The elements that floating-point operations handle, by place."""
    kinds: Mapping[tuple[str, str], int]
    """The elements that floating-point operations handle, by place and kind of operation."""
    scalar: frozenset[str]
    """The places of scalar operations in the rest of the function, on the same lines."""
    scalar_alone: frozenset[str]
    """The part of `scalar` that neither loads nor is fused; such operations have a single place."""
    packed: frozenset[str]
    """The places of packed operations in the rest of the function, on the same lines."""
    remains: bool
    """True if the rest of the function accesses memory from this kernel's places."""

    def copies(self, own: Work) -> int | None:
        """Return the number of elements that each place handles: the common one, or that of a place that handles all.

        Returns 0 if places are unknown, None if they contradict each other. An instruction that loads and computes may
        have the place of either, so copies from one place may have two.
        """
        counted: Counter[str] = Counter()
        if not own.vector_bytes:
            loads = [self.places[n] for group in own.groups for n, _ in group.accesses if not self.lanes[n]]
            # If there are two, one may have the place of an access that was merged with it.
            if "" not in loads and len(loads) == len(set(loads)) >= max(own.units, 3):
                return 1
        for place, lanes in zip(self.places, self.lanes, strict=True):
            if lanes:
                counted[place] += lanes
        if not counted:
            if own.vector_bytes:
                return 0
            for group in own.groups:
                for number, lanes in group.accesses:
                    counted[self.places[number]] += lanes
        if "" in counted or not counted:
            return 0
        if max(counted.values()) >= own.units:
            return own.units
        common = gcd(*counted.values())
        folded = any(self.lanes[number] for group in own.groups for number, _ in group.accesses)
        sure = set(counted.values()) == {common} and len(counted) != 2 and not (folded and common == 1)
        return common if sure and not own.vector_bytes else None

    def done(self, units: int) -> int:
        """Return the times that each place computes something per element; above 1 if an outer loop is unrolled."""
        return gcd(*self.kinds.values()) // units

    def several_an_iteration(self, units: int) -> bool:
        """Return True if the vectors seem to hold several elements of one iteration of the source.

        This is so if the code outside the loop computes them at more places than the loop does on as many elements
        each, or is vectorised itself.
        """
        here = self.computed.keys()
        return (
            not self.scalar_alone <= here
            or len(self.scalar) > 2 * len(here)
            or (bool(self.packed & here) and not self.scalar & here)
            or sum(self.computed.values()) < units * len(self.scalar_alone)
        )


def surroundings(kernel: KernelCode, function: Sequence[InstructionOrigin], others: Iterable[int] = ()) -> Surroundings:
    """Return the evidence that the origins of a function's instructions give about a kernel in it.

    `others` are the lines of kernels that do the same work; they do not count as the rest of the function.
    """
    place_of = {origin.line: origin.place for origin in function}
    places = [place_of.get(instruction.line, "") for instruction in kernel.instructions]
    operation_of = isa(kernel.isa).operation
    lanes = []
    computed: Counter[str] = Counter()
    kinds: Counter[tuple[str, str]] = Counter()
    for instruction, place in zip(kernel.instructions, places, strict=True):
        operation = operation_of(instruction.mnemonic, instruction.text)
        lanes.append(_lanes(instruction, operation))
        if lanes[-1] and operation and _computes(operation):
            computed[place] += lanes[-1]
            kinds[place, operation.kind] += lanes[-1]
    inside = set(kernel.region.body_lines) if kernel.region else set()
    placed = [origin for origin in function if origin.place]
    own = [origin for origin in placed if origin.line in inside]
    apart = inside.union(others)
    rest = [origin for origin in placed if origin.line not in apart]
    scalar, alone, packed = _floating_places(rest, {_line(origin) for origin in own}, operation_of)
    return Surroundings(
        places=tuple(places),
        lanes=tuple(lanes),
        computed=computed,
        kinds=kinds,
        scalar=frozenset(scalar),
        scalar_alone=frozenset(alone),
        packed=frozenset(packed),
        remains=not {o.place for o in rest if o.memory}.isdisjoint([o.place for o in own if o.memory]),
    )


def _floating_places(
    origins: Iterable[InstructionOrigin], lines: set[str], operation_of: Callable[[str, str], Operation | None]
) -> tuple[set[str], set[str], set[str]]:
    """Return the places on these lines of scalar operations, of the simple ones among them, and of packed ones."""
    scalar: set[str] = set()
    alone: set[str] = set()
    packed: set[str] = set()
    for origin in origins:
        operation = operation_of(origin.mnemonic, origin.text)
        if operation is not None and _computes(operation) and _line(origin) in lines:
            (packed if operation.packed else scalar).add(origin.place)
            if not (origin.memory or operation.packed or operation.kind == "fma"):
                alone.add(origin.place)
    return scalar, alone, packed


def _lanes(instruction: Instruction, operation: Operation | None) -> int:
    """Return the elements that an instruction computes, 0 if it computes none."""
    if operation is None or operation.kind == "unpack" or (operation.kind == "convert" and not operation.packed):
        return 0
    arithmetic = instruction.arithmetic
    width = arithmetic.width if arithmetic is not None else 0
    width = width or max([a.register.width for a in instruction.registers if a.register.kind == "vector"], default=0)
    return width // max(operation.source, operation.result, 1) if operation.packed else 1


def _computes(operation: Operation) -> bool:
    return operation.floating and operation.kind != "convert"


def _line(origin: InstructionOrigin) -> str:
    """Return file and line of an instruction's place, without the column."""
    return origin.place.rpartition(" ")[0]
