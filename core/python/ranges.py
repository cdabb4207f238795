"""The range of a prediction: its two ends for data and addresses that the code does not show, each simulated.

Each cause is a single unknown. These are considered likely enough to be one:

- *aliasing*: a store and a later load whose addresses have the same pointer and of which at least one has a loaded
  index (`histogram[keys[i]]++`), or whose pointer itself was loaded by the same instruction (`objects[i]->count++`).
  Two different pointers do not count: compilers have compared them, or were told that they do not overlap. Neither
  do a list's pointer that is loaded through itself, which points to another node each time, and a fixed place on the
  stack or relative to a pointer.
- *forwarding*: a load that the store before it wrote only in part, on a core without a figure for the delay. On other
  cores the prediction includes it.
- *line crossings*: the offset of arrays within a cache line and a page, for accesses that are not surely aligned.
- *4K aliasing*: the distance of streams modulo 4 KiB, if loads agree with stores in the bits that the core compares
  first (core/python/aliasing.py).
- *branches*: the path through the loop, and the number of mispredictions. A path that calls a function while the
  likeliest one calls none is considered rare (`sqrt` of a negative number, growing a vector), and its cost is unknown:
  neither it nor the branch that leads to it is a cause. Nor are paths that the compiler placed in a section for
  unlikely code, and those for which an operand of a comparison is no number.
- *unknown instructions*: instructions that are not counted; then there is no upper end.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from incc import core
from incc.core import Edge
from incc.core.aliasing import unknown_pairs
from incc.core.dataflow import DATA, INVARIANT, Access, Address, Dataflow, dataflow
from incc.core.places import BEST_PLACES, WORST_PLACES, placed_anywhere
from incc.core.prediction import WORTH_SAYING, predicted
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import IS_STORE, VALUE_LOAD, VALUE_STORE, BoundKernel

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.ways import Way, Ways

    CauseKind = Literal["aliasing", "forwarding", "line-crossings", "4k-aliasing", "branches", "unknown-instructions"]

SAME_ARRAY = 64
"""The largest distance in bytes between the constants of two addresses in the same array. The addresses have the same
pointer, one has an index of data and the other one that counts."""


MOST_PAIRS = 50_000
"""The most pairs of loads and stores that are compared, which takes a tenth of a second. Kernels with more are
generated code."""


class Meeting(msgspec.Struct, frozen=True, kw_only=True):
    """A store and a later load that may access the same place."""

    store: int
    """The storing instruction."""
    load: int
    """The loading instruction."""
    distance: int
    """Iterations from the store to the load."""
    values: tuple[int, int]
    """Their values in the bound kernel."""


class Fork(msgspec.Struct, frozen=True):
    """A branch inside a loop."""

    line: int
    depends: int
    """The kind of its condition: dataflow.INVARIANT, COUNTED or DATA."""
    known_after: int
    """Cycles from the start of an iteration until the condition is known."""


class Branching(msgspec.Struct, frozen=True, kw_only=True):
    """The branches inside a loop and the paths through it."""

    ways: tuple[Way, ...]
    complete: bool
    """True if `ways` lists all paths."""
    forks: tuple[Fork, ...]
    penalty: int
    """The core's penalty for a misprediction in cycles; 0 if unknown."""
    likeliest: tuple[Fork, ...]
    """The forks on the analysed path whose conditions depend on data."""

    def miss_cycles(self, fork: Fork) -> int:
        """Return the cost of a misprediction: the cycles until the condition is known plus the penalty."""
        return self.penalty + fork.known_after

    @property
    def predicted(self) -> tuple[Fraction, Fraction]:
        """The cycles of the fastest and the slowest path if every branch is predicted correctly."""
        cycles = [way.result.cycles for way in self.ways]
        return min(cycles), max(cycles)

    def missing(self, forks: Iterable[Fork], rate: Fraction) -> Fraction:
        """Return the cycles per iteration lost to mispredictions of these forks at this rate."""
        return sum((rate * self.miss_cycles(fork) for fork in forks), Fraction())


class RangeCause(msgspec.Struct, frozen=True, kw_only=True):
    """A reason why a kernel may take fewer or more cycles."""

    kind: CauseKind
    least: Fraction
    """Cycles per iteration if the cause never occurs."""
    most: Fraction | None
    """Cycles per iteration if the cause always occurs; None if unknown."""
    instructions: tuple[int, ...]
    meetings: tuple[Meeting, ...] = ()
    """The pairs of accesses, for aliasing and forwarding."""
    blocked: tuple[Edge, ...] = ()
    """The dependencies whose loads wait for the store to reach the cache, for forwarding."""
    branching: Branching | None = None
    """The branches and paths, for branches."""


class KernelRange(msgspec.Struct, frozen=True):
    """Both ends of a prediction in cycles per iteration: least <= prediction <= most."""

    least: Fraction
    most: Fraction | None
    """None if there is no known upper end."""
    causes: tuple[RangeCause, ...]


class Mispredictions(msgspec.Struct, frozen=True, kw_only=True):
    """The cost of mispredicted data-dependent branches on the analysed path, which adds to the prediction."""

    rate: float
    """Mispredictions per execution of such a branch."""
    branches: int
    """The number of such branches per iteration."""
    miss_cycles: float
    """The average cost of a misprediction in cycles."""
    cycles: float
    """Cycles per iteration."""


HALF = Fraction(1, 2)
"""The misprediction rate of data that no predictor can learn if both directions are equally likely."""


def find_range(result: KernelResult, ways: Ways | None = None) -> KernelRange | None:
    """Return the range of a result; None if the prediction depends on nothing but the code.

    `ways` are the paths through its loop, if there are branches inside. Without what-ifs, no simulations are made; for
    advice alone only those of aliasing.
    """
    kernel = result.kernel
    causes: list[RangeCause] = []
    most_of_all = result.cycles
    if result.settings.what_ifs and not result.settings.fixed_ports and kernel.instructions:
        flow = dataflow(kernel)
        changes: dict[str, object] = {}
        if (aliasing := _aliasing(result, flow, changes)) is not None:
            causes.append(aliasing)
        if result.settings.for_advice:
            return KernelRange(result.cycles, aliasing.most, (aliasing,)) if aliasing else None
        for cause in (_forwarding(result), _crossings(result, changes), _four_k(result, changes)):
            if cause is not None:
                causes.append(cause)
        if len(causes) > 1 and len(changes) > 1:
            most_of_all = _changed(result, changes)
        if (common := without_rare(result, ways)) is not None:
            causes.append(_branches(result, common))
    uncounted = not_counted(result)
    if uncounted or kernel.refused:
        causes.append(RangeCause(kind="unknown-instructions", least=result.cycles, most=None, instructions=uncounted))
    if not causes:
        return None
    least = min([result.cycles, *[cause.least for cause in causes]])
    ends = [cause.most for cause in causes]
    finite = [end for end in ends if end is not None]
    most = None if len(finite) < len(ends) else max([result.cycles, most_of_all, *finite])
    return KernelRange(least, most, tuple(causes))


def not_counted(result: KernelResult) -> tuple[int, ...]:
    """Return the instructions that the prediction excludes in whole or part: unknown instructions and calls."""
    calls = [n for n, instruction in enumerate(result.kernel.instructions) if instruction.branch == "call"]
    return tuple(sorted({*result.unknown, *calls}))


def mispredictions(result: KernelResult, ways: Ways | None, rate: float) -> Mispredictions | None:
    """Return the cost of mispredictions at this rate.

    Returns None if no inner branch depends on data, or if the core's penalty is unknown.
    """
    ways = without_rare(result, ways)
    if ways is None:
        return None
    branching = _branching(result, ways)
    forks = branching.likeliest
    if not branching.penalty or not forks:
        return None
    added = branching.missing(forks, Fraction(rate).limit_denominator(1_000_000))
    average = Fraction(sum(branching.miss_cycles(fork) for fork in forks), len(forks))
    return Mispredictions(rate=rate, branches=len(forks), miss_cycles=float(average), cycles=float(added))


def _changed(result: KernelResult, changes: Mapping[str, object]) -> Fraction:
    """Return the prediction with other contents of the bound kernel."""
    from incc.core.whatif import copy

    bound = copy(result.bound)
    for name, value in changes.items():
        setattr(bound, name, value)
    of = result.cache or core
    if result.simulation is None:
        return predicted(of.bounds(bound), None)
    try:
        bounds, simulation = of.bounds_and_simulation(bound)
    except RuntimeError:  # the run does not end, so only the bound is known
        return predicted(of.bounds(bound), None)
    return predicted(bounds, simulation.cycles_per_iteration)


# --- aliasing ---------------------------------------------------------------------------------------------------------


def _aliasing(result: KernelResult, flow: Dataflow, changes: dict[str, object]) -> RangeCause | None:
    met = meetings(result.kernel, result.bound, flow)
    if not met:
        return None
    assumed = _assumed(met)
    most = _changed(result, assumed)
    if result.bound.renames_repeated:
        # Places that alternate are slower, because the renamer foresees only those that are always the same.
        alternating = tuple([replace(m, distance=m.distance + 1) for m in met])
        other = _assumed(alternating)
        if (slower := _changed(result, other)) > most:
            met, assumed, most = alternating, other, slower
    if most <= result.cycles * (1 + Fraction(WORTH_SAYING)):
        return None
    changes.update(assumed)
    involved = tuple(sorted({i for m in met for i in (m.store, m.load)}))
    return RangeCause(kind="aliasing", least=result.cycles, most=most, instructions=involved, meetings=met)


def _assumed(met: Sequence[Meeting]) -> dict[str, object]:
    """Return the fields of a bound kernel in which these accesses meet."""
    return {
        "assumed_store": [m.values[0] for m in met],
        "assumed_load": [m.values[1] for m in met],
        "assumed_distance": [m.distance for m in met],
    }


def meetings(kernel: KernelCode, bound: BoundKernel, flow: Dataflow) -> tuple[Meeting, ...]:
    """Return for each load the last store before it that may write to the same place; the module lists likely pairs."""
    pairs: list[Meeting] = []
    if not kernel.is_loop or len(flow.loads) * len(flow.stores) > MOST_PAIRS:
        return ()
    for load in flow.loads:
        for distance in (0, 1):
            stores = [
                store
                for store in flow.stores
                if (store.instruction < load.instruction) == (distance == 0) and _may_meet(store, load, distance)
            ]
            if stores:
                store = stores[-1]
                values = _value(bound, store, VALUE_STORE), _value(bound, load, VALUE_LOAD)
                if min(values) >= 0:
                    pairs.append(
                        Meeting(store=store.instruction, load=load.instruction, distance=distance, values=values)
                    )
                break
    return tuple(pairs)


def _value(bound: BoundKernel, access: Access, kind: int) -> int:
    """Return the value of an access in the bound kernel; -1 if it has none."""
    first, last = bound.value_start[access.instruction], bound.value_start[access.instruction + 1]
    values = [v for v in range(first, last) if bound.value_kind[v] == kind]
    return values[access.number] if access.number < len(values) else -1


def _may_meet(store: Access, load: Access, distance: int) -> bool:
    one, other = store.address, load.address
    if distance == 0 and one.terms == other.terms:
        return False  # their distance is known
    if INVARIANT in (one.kind, other.kind):
        return False
    symbols = [*one.terms, *other.terms]
    if any(symbol.walks for symbol in symbols) or not any(symbol.loaded for symbol in symbols):
        return False
    if any(symbol.kind == DATA and not symbol.loaded for symbol in symbols):
        return False
    pointer = _pointer(one)
    if pointer is None or pointer != _pointer(other):
        return False
    between = other.constant - one.constant
    if one.kind == other.kind == DATA:
        same_steps = sorted(one.terms.values()) == sorted(other.terms.values())
        return same_steps and -load.size < between < store.size
    return abs(between) <= SAME_ARRAY


def _pointer(address: Address) -> tuple[str, ...] | None:
    """Return the identity of the object that an address points into; None if unknown.

    It is a symbol, a register that the loop does not change or, without these, the instruction that loaded the pointer.
    """
    fixed = [s.name for s, times in address.terms.items() if s.kind == INVARIANT and times == 1]
    symbols = [name for name in fixed if name.startswith("@")]
    if symbols:
        return tuple(sorted(symbols))
    if fixed:
        return tuple(sorted(fixed))
    if len(address.terms) == 1:
        ((symbol, times),) = address.terms.items()
        if times == 1 and symbol.loaded and symbol.made_by >= 0:
            return (symbol.name,)
    return None


# --- stores that are not forwarded ------------------------------------------------------------------------------------


def blocked(result: KernelResult) -> tuple[Edge, ...]:
    """Return the dependencies through memory that wait until the store is in the cache; the simulation has them."""
    if not result.bound.blocked_forward_cycles:
        return ()
    return tuple([edge for edge in _narrow(result) if edge.latency >= result.bound.blocked_forward_cycles])


def _forwarding(result: KernelResult) -> RangeCause | None:
    """Return the cause for loads of partly stored bytes on a core whose delay for them is not known."""
    if result.bound.blocked_forward_cycles:
        return None
    count = len(result.kernel.instructions)
    edges = [e for e in _narrow(result) if e.distance * count + e.consumer - e.producer <= SOON]
    if not edges:
        return None
    involved = tuple(sorted({i for edge in edges for i in (edge.producer, edge.consumer)}))
    return RangeCause(kind="forwarding", least=result.cycles, most=None, instructions=involved, blocked=tuple(edges))


SOON = 32
"""The largest number of instructions from a store to a load such that the store cannot be in the cache when the load
could start: it gets there after its retirement, and these instructions are issued within a few cycles."""


def _narrow(result: KernelResult) -> Iterable[Edge]:
    """Return the dependencies from a store to a load that reads bytes beyond those stored, judged by sizes."""
    instructions, flags = result.kernel.instructions, result.bound.instruction_flags
    for edge in result.analysis.edges:
        if edge.location >= 0 or (edge.producer == edge.consumer and not edge.distance):
            continue
        loads = [m for m in instructions[edge.consumer].memory if m.load]
        stored = [m.size for m in instructions[edge.producer].memory if m.store]
        # The bytes read by gathers, masked loads and accesses of unknown size are unknown.
        partly = any(m.elements > 1 for m in loads) or "mask" in instructions[edge.consumer].traits
        if not flags[edge.producer] & IS_STORE or not loads or not stored or not all(stored) or partly:
            continue
        if min(m.size for m in loads) > max(stored):
            yield edge


def bytes_of(kernel: KernelCode, edge: Edge) -> tuple[int, int]:
    """Return the bytes stored and loaded at both ends of a dependency through memory."""
    stored = [m.size for m in kernel.instructions[edge.producer].memory if m.store]
    loaded = [m.size for m in kernel.instructions[edge.consumer].memory if m.load]
    return max(stored, default=0), min(loaded, default=0)


# --- where arrays begin -----------------------------------------------------------------------------------------------


def _crossings(result: KernelResult, changes: dict[str, object]) -> RangeCause | None:
    accesses = placed_anywhere(result.bound)
    if not accesses:
        return None
    worst = _changed(result, {"line_places": WORST_PLACES})
    best = result.cycles
    if result.analysis.expected_line_crossings != result.analysis.line_crossings or result.bound.line_places:
        best = min(best, _changed(result, {"line_places": BEST_PLACES}))
    if max(worst, result.cycles) - best <= Fraction(WORTH_SAYING) * result.cycles:
        return None
    changes["line_places"] = WORST_PLACES
    return RangeCause(kind="line-crossings", least=best, most=max(worst, result.cycles), instructions=accesses)


def _four_k(result: KernelResult, changes: dict[str, object]) -> RangeCause | None:
    """Return the cause for streams of unknown distance that may agree in the bits that the core compares first."""
    pairs = unknown_pairs(result.bound, result.analysis.streams)
    if not pairs:
        return None
    most = _changed(result, {"alias_places": 1})
    if most <= result.cycles * (1 + Fraction(WORTH_SAYING)):
        return None
    changes["alias_places"] = 1
    involved = tuple(sorted({i for pair in pairs for i in (pair.load, pair.store)}))
    return RangeCause(kind="4k-aliasing", least=result.cycles, most=most, instructions=involved)


# --- branches inside --------------------------------------------------------------------------------------------------


def rare_calls(result: KernelResult, ways: Ways | None) -> tuple[Instruction, ...]:
    """Return the calls on the paths through a loop if its likeliest path calls nothing."""
    if ways is None or any(instruction.branch == "call" for instruction in result.kernel.instructions):
        return ()
    calls = {i.line: i for way in ways.ways for i in way.result.kernel.instructions if i.branch == "call"}
    return tuple([calls[line] for line in sorted(calls)])


def cold_lines(result: KernelResult, ways: Ways | None) -> tuple[int, ...]:
    """Return the lines of the branches whose other side is marked cold: by its section, or as taken for NaNs only."""
    sides = _cold_sides(result, ways)
    return tuple(sorted({line for line, _ in sides}))


def _cold_sides(result: KernelResult, ways: Ways | None) -> set[tuple[int, bool]]:
    """Return line and direction of the branches to cold sides, without those that the analysed path takes itself."""
    if ways is None:
        return set()
    sides: set[tuple[int, bool]] = set()
    nan_direction = isa(result.kernel.isa).nan_direction
    warm = {branch for way in ways.ways if not way.path.cold for branch in way.path.branches}
    for way in ways.ways:
        instructions = way.result.kernel.instructions
        if way.path.cold:
            sides |= {branch for branch in way.path.branches if branch not in warm}
        setter: Instruction | None = None
        for instruction in instructions:
            taken: bool | None = None if setter is None else nan_direction(setter, instruction)
            if taken is not None:
                sides.add((instruction.line, taken))
            if instruction.flags_written:
                setter = instruction
    lines = {instruction.line for instruction in result.kernel.instructions}
    analysed = [way for way in ways.ways if {i.line for i in way.result.kernel.instructions} == lines]
    forks = {branch for way in ways.ways for branch in way.path.branches}
    return {side for side in sides & forks if not any(side in way.path.branches for way in analysed)}


def without_rare(result: KernelResult, ways: Ways | None) -> Ways | None:
    """Return the paths without cold sides, and without calls if the likeliest path has none.

    The result is None if no other path is left.
    """
    rare = {instruction.line for instruction in rare_calls(result, ways)}
    cold = _cold_sides(result, ways)
    if ways is None or not (rare or cold):
        return ways
    common = tuple(
        [
            way
            for way in ways.ways
            if not rare & {i.line for i in way.result.kernel.instructions} and not cold & set(way.path.branches)
        ]
    )
    if len(common) < 2:
        return None
    # If all remaining paths take a branch in the same direction, the other direction leads to a rare path.
    sides: dict[int, set[bool]] = {}
    for way in common:
        for line, taken in way.path.branches:
            sides.setdefault(line, set()).add(taken)
    common = tuple(
        [
            replace(way, path=replace(way.path, branches=tuple([b for b in way.path.branches if len(sides[b[0]]) > 1])))
            for way in common
        ]
    )
    return replace(ways, ways=common)


def _branches(result: KernelResult, ways: Ways) -> RangeCause:
    branching = _branching(result, ways)
    least, most = branching.predicted
    for way in branching.ways:
        lines = {line for line, _ in way.path.branches}
        on_it = [fork for fork in branching.forks if fork.line in lines and fork.depends == DATA]
        if branching.penalty:
            most = max(most, way.result.cycles + branching.missing(on_it, HALF))
    lines = {fork.line for fork in branching.forks}
    involved = tuple([n for n, instruction in enumerate(result.kernel.instructions) if instruction.line in lines])
    return RangeCause(
        kind="branches",
        least=min(least, result.cycles),
        most=max(most, result.cycles),
        instructions=involved,
        branching=branching,
    )


def _branching(result: KernelResult, ways: Ways) -> Branching:
    forks: dict[int, Fork] = {}
    for way in ways.ways:
        kernel = way.result.kernel
        conditions = dataflow(kernel).conditions
        at = {instruction.line: n for n, instruction in enumerate(kernel.instructions)}
        known = known_after(way.result)
        for line, _ in way.path.branches:
            branch = at.get(line)
            depends = DATA if branch is None else conditions.get(branch, DATA)
            ready = 0 if branch is None else known(branch)
            before = forks.get(line)
            if before is not None:
                depends, ready = max(depends, before.depends), max(ready, before.known_after)
            forks[line] = Fork(line, depends, ready)
    lines = [instruction.line for instruction in result.kernel.instructions]
    likeliest = [fork for line, fork in forks.items() if line in lines and fork.depends == DATA]
    ordered = tuple([forks[line] for line in sorted(forks)])
    penalty = int(result.model.parameters["mispredict_penalty"])
    return Branching(ways=ways.ways, complete=ways.complete, forks=ordered, penalty=penalty, likeliest=tuple(likeliest))


def known_after(result: KernelResult) -> Callable[[int], int]:
    """Return a function for the cycles from an iteration's start until a branch's condition is known.

    These are the cycles without other delays. Wrongly fetched instructions are fetched again, and so are their loads.
    """
    bound = result.bound
    after: dict[int, int] = {}
    for n in range(len(bound.value_start) - 1):
        for value in range(bound.value_start[n], bound.value_start[n + 1]):
            if bound.value_kind[value] == VALUE_LOAD:
                after[value] = bound.load_latency[n]
    # Edges within an iteration lead forward, inside an instruction from its loads to the rest.
    edges = sorted(
        [edge for edge in result.analysis.edges if edge.distance == 0],
        key=lambda edge: (edge.consumer, edge.producer == edge.consumer),
    )
    changed = True
    while changed:
        changed = False
        for edge in edges:
            cycles = after.get(edge.producer_value, 0) + edge.latency
            if cycles > after.get(edge.consumer_value, 0):
                after[edge.consumer_value] = cycles
                changed = True

    def known(branch: int) -> int:
        tested = branch - 1 if branch and bound.value_start[branch] == bound.value_start[branch + 1] else branch
        values = range(bound.value_start[tested], bound.value_start[tested + 1])
        return max([after.get(v, 0) for v in values], default=0)

    return known
