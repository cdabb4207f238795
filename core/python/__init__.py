"""The native core and the plain data that it returns."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import msgspec

from incc.core import _core
from incc.core.counters import LostSlots, UopsBySource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.models.binding.bound import BoundKernel


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A dependency between two instructions.

    The value `producer_value` of instruction `producer` is an input of `consumer_value` of `consumer`, `distance`
    iterations later. `latency` is the time in cycles from the one value being ready to the other. `location` is the
    index of the register or flag that carries it, -1 for memory (store to load) and for the step from a loaded value to
    its own instruction's result. Of several edges between the same values at the same distance only the slowest is
    given.
    """

    producer: int
    producer_value: int
    consumer: int
    consumer_value: int
    location: int
    latency: int
    distance: int


class Step(msgspec.Struct, frozen=True, kw_only=True):
    """One edge of a path or cycle: `latency` cycles from `producer` to `consumer` through `location` (see Edge)."""

    producer: int
    consumer: int
    location: int
    latency: int
    distance: int


class Chain(msgspec.Struct, frozen=True):
    """A loop-carried dependency: an elementary cycle of the dependency graph, as its edges in order.

    `latency` cycles in all over `distance` iterations; `cycles_per_iteration` is their ratio.
    """

    latency: int
    distance: int
    steps: tuple[Step, ...]

    @property
    def cycles_per_iteration(self) -> Fraction:
        return Fraction(self.latency, self.distance)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The life of one dynamic instruction, in cycles from 0.

    `dispatched`: enters scheduler and reorder buffer; `ready`: the inputs of the µop that starts first are there;
    `started`: that µop starts on its port; `executed`: the last result is there, so that consumers may start in this
    cycle; `retired`: at least one cycle later. An instruction without µops is ready, started and executed when it is
    dispatched. `ports`: the port or resource of each µop.
    """

    iteration: int
    instruction: int
    dispatched: int
    ready: int
    started: int
    executed: int
    retired: int
    ports: tuple[int, ...]


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Every number about one kernel; per iteration where not said otherwise.

    `pressure[i][p]`: µop cycles of instruction i on port or resource p under the balanced assignment; `port_load[p]`
    are the column sums; `fixed_pressure` and `fixed_port_load` the same with equal shares to all allowed ports.
    `busiest_ports`: the set of ports whose joint load is the port bound. Bounds in cycles per iteration: `port_bound`
    (execution ports only), `resource_bound` (dividers and the like), `front_end_bound`, `retire_bound`,
    `latency_bound` (loop-carried). `line_crossings`: loads an iteration that reach into a second cache line at the best
    alignment of each pointer, which the port bound contains; `worst_line_crossings` the same at the worst alignment
    that elements of up to 8 bytes allow, and `worst_alignment_port_bound` the port bound then;
    `expected_line_crossings` what is simulated: the former, but the average over all alignments where some load has to
    cross at any of them. `critical_path_cycles`
    and `critical_path`: length and steps of the longest path through one iteration whose inputs are all there at cycle
    0; `critical_path_start` of these cycles pass until the path's first value is ready (its own load or compute).
    `chains`: loop-carried dependencies, longest first, none of latency 0, at most 64; `chains_complete` is False where
    there are or may be more. `edges`: the dependency graph.
    """

    pressure: tuple[tuple[float, ...], ...]
    port_load: tuple[float, ...]
    fixed_pressure: tuple[tuple[float, ...], ...]
    fixed_port_load: tuple[float, ...]
    busiest_ports: tuple[int, ...]
    port_bound: Fraction
    fixed_port_bound: Fraction
    resource_bound: Fraction
    front_end_bound: Fraction
    retire_bound: Fraction
    latency_bound: Fraction
    worst_alignment_port_bound: Fraction
    line_crossings: Fraction
    worst_line_crossings: Fraction
    expected_line_crossings: Fraction
    critical_path_cycles: int
    critical_path: tuple[Step, ...]
    critical_path_instructions: tuple[int, ...]
    chains: tuple[Chain, ...]
    chains_complete: bool
    edges: tuple[Edge, ...]

    @property
    def critical_path_start(self) -> int:
        return self.critical_path_cycles - sum(step.latency for step in self.critical_path)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """What no execution of a kernel can be faster than, in cycles per iteration.

    Exactly the bounds of Analysis: `port_bound`, `resource_bound`, `front_end_bound`, `retire_bound`, `latency_bound`.
    """

    port: Fraction
    divider: Fraction
    front_end: Fraction
    retire: Fraction
    loop_carried: Fraction

    @property
    def largest(self) -> Fraction:
        return max(self.port, self.divider, self.front_end, self.retire, self.loop_carried)


# Many kernels have the same few bounds, and making a Fraction takes as long as finding one.
_FRACTIONS: dict[tuple[int, int], Fraction] = {}


def _fraction(numerator: int, denominator: int) -> Fraction:
    try:
        return _FRACTIONS[numerator, denominator]
    except KeyError:
        pass
    if len(_FRACTIONS) >= 1 << 12:
        _FRACTIONS.clear()
    found = _FRACTIONS[numerator, denominator] = Fraction(numerator, denominator)
    return found


def bounds(bound: BoundKernel) -> Bounds:
    """The bounds of `analyze` without all that explains them, many times as fast. Raises ValueError as that does."""
    return _core.bounds(bound, _fraction, Bounds)


def analyze(bound: BoundKernel) -> Analysis:
    """All bounds of a kernel. Raises ValueError, naming the array, if the arrays contradict each other."""
    return _core.analyze(bound, _fraction, Edge, Step, Chain, Analysis)


EXECUTED_MOVE, RENAMERS, NOBODYS = -1, -2, -3
"""StartedUop.uop: a move that could have been eliminated, what the renamer puts before an instruction, and what it
adds for none."""

THROUGH_MEMORY, WITHIN_INSTRUCTION, RENAMED_MEMORY = -1, -2, -3
"""UopInput.location: a load of what was stored; between the µops of an instruction; what was stored as well, but handed
on by the renamer to whoever needs what is loaded."""


class UopInput(msgspec.Struct, frozen=True):
    """What a µop made for another one.

    `producer`: which of Simulation.started; a µop that needs an input late may have started before it. `location`: the
    index of the register or flag that carries it, or THROUGH_MEMORY, WITHIN_INSTRUCTION or RENAMED_MEMORY. `arrived`:
    the cycle in which the µop could start as far as this input goes; THROUGH_MEMORY, that in which the loaded value was
    there, for which the load does not wait to start.
    """

    producer: int
    location: int
    arrived: int


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """How a load or store moves through memory.

    `instruction`, `store`, `size` in bytes. In an iteration it is `offset` bytes from an unknown place, the same for
    all accesses of the same `part`. `step`: bytes from each iteration to the next, None where that is not always the
    same or cannot be followed.
    """

    instruction: int
    store: bool
    size: int
    part: int
    offset: int
    step: int | None


def streams(bound: BoundKernel) -> tuple[Stream, ...]:
    """The accesses of a kernel whose addresses can be followed, in program order: no gathers, none of unknown size and
    none of instructions that are not in the model. Raises ValueError as `analyze`."""
    return _core.streams(bound, Stream)


class StartedUop(msgspec.Struct, frozen=True, kw_only=True):
    """A µop that was started on a port; times in cycles.

    `uop`: its index in BoundKernel's arrays, or EXECUTED_MOVE, RENAMERS or NOBODYS. It took `port` for `port_cycles`
    and `unit` (a divider; -1 for none) for `unit_cycles` from `started` on. `dispatched`: when it entered its
    scheduler; `earliest`: when it could have started, were its inputs there; `ready`: when it could with them, so that
    from then on it waited for its port or unit (or, in order, for those before it); `executed`: when its last result
    was there. `late_inputs`: (instruction, cycle) of those that came after `earliest`, from other instructions or from
    the same in an iteration before. `inputs`: all that µops made for it, seen through what only hands values on, like
    a move that is eliminated.
    """

    iteration: int
    instruction: int
    uop: int
    port: int
    port_cycles: int
    unit: int
    unit_cycles: int
    dispatched: int
    earliest: int
    ready: int
    started: int
    executed: int
    late_inputs: tuple[tuple[int, int], ...]
    inputs: tuple[UopInput, ...]


class Usage(msgspec.Struct, frozen=True):
    """How full a buffer was: its entries (0 for no limit), the sum over all cycles of those in use at their ends, and
    the most."""

    entries: int
    sum: int
    most: int


class Mappings(msgspec.Struct, frozen=True):
    """Registers that instructions got from the register file, and the most that were in use at once."""

    mappings: int
    most: int


class WaitSums(msgspec.Struct, frozen=True, kw_only=True):
    """Sums over the executions of an instruction, in cycles: from dispatch to start, of these while its inputs were
    there, and from the result to retirement."""

    executions: int
    in_scheduler: int
    in_scheduler_while_ready: int
    until_retire: int


BY_NOTHING, BY_REGISTER, BY_MEMORY, BY_RESOURCE = range(4)
"""SequenceStep.because."""


class SequenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of a chain in which each one started when it did because of the one before.

    `instruction`, in the iteration that is `iteration_offset` after the first one's. `because`: what it waited for (see
    BY_NOTHING), `via`: the index of the register or flag that carried it (or as UopInput.location), of BY_RESOURCE the
    port or resource that the one before had. `cycles`: from the start of the one before.
    """

    instruction: int
    iteration_offset: int
    because: int
    via: int
    cycles: int


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """Why µops pile up. `increase`: the cycles in which more µops got into the schedulers than started, or in which
    these had no room for another one. In so many of these at least one µop that was in a scheduler early enough to
    start did not, since its port or another resource was taken (`resources`; `by_resource`: of each), or since an input
    was not there: a result (`registers`), or what is loaded from where it was stored (`memory`; `data`: either).
    `sequence`: the chain
    that made the last µop start when it did; if it repeats itself, its ends are the same µop in different
    iterations."""

    increase: int
    resources: int
    registers: int
    memory: int
    data: int
    by_resource: tuple[int, ...]
    sequence: tuple[SequenceStep, ...]


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """What happened in the cycles of a run, from the one in which its first µop was dispatched to the one in which its
    last retired.

    `cycles`: their number; `uops`: issue slots. `stalls`: cycles in which the renamer stopped, by what stood in its
    way. `dispatched`, `issued` (both µops; what is dispatched fills issue slots, what is issued starts on a port) and
    `retired` (instructions): (how many in a cycle, in how many cycles). `reorder_buffer`, `scheduler` (all together),
    `queue` (before those that have one), `schedulers` (as `scheduler_ports`), `buffers` (as asked for), `loads` and
    `stores` (the buffers of memory accesses): how full they were. `registers`, `general`, `vector`: of all kinds, and
    of these. `general_moves`, `vector_moves`: moves that may be eliminated, those that are, the most of them in a
    cycle. `events`: of the first iterations, counted from the first of these cycles; `ready` there is when the µop that
    starts first could have started, were its port free. `waits`: for each
    instruction, over these iterations. `pressure`: None unless it was asked for.
    """

    cycles: int
    uops: int
    stalls: LostSlots
    dispatched: tuple[tuple[int, int], ...]
    issued: tuple[tuple[int, int], ...]
    retired: tuple[tuple[int, int], ...]
    reorder_buffer: Usage
    scheduler: Usage
    queue: Usage
    schedulers: tuple[Usage, ...]
    buffers: tuple[Usage, ...]
    loads: Usage
    stores: Usage
    registers: Mappings
    general: Mappings
    vector: Mappings
    general_moves: tuple[int, int, int]
    vector_moves: tuple[int, int, int]
    events: tuple[Event, ...]
    waits: tuple[WaitSums, ...]
    pressure: Pressure | None


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """What a run through the pipeline showed.

    `cycles_per_iteration`: in the steady state, or of all iterations where their number was given. `period`: iterations
    after which the retirement repeats exactly, 0 if no such period was seen. `cycles`, `iterations`: simulated.
    `uops_by_source`: fused µops by where they came from; `lost_slots`: issue slots left empty, by cause (the first that
    stood in the way);
    both over the whole run. `port_uops[p]`: µops started on port or resource p. `moves_eliminated` and
    `moves_executed`: of the moves that can be eliminated. `events` and `started`, the µops in the order of their
    starts: only if recorded. `statistics`: of `cold_run`.
    """

    cycles_per_iteration: Fraction
    period: int
    cycles: int
    iterations: int
    uops_by_source: UopsBySource
    lost_slots: LostSlots
    port_uops: tuple[int, ...]
    moves_eliminated: int
    moves_executed: int
    events: tuple[Event, ...]
    started: tuple[StartedUop, ...]
    statistics: Statistics | None


_SIMULATION_CLASSES = (
    *(_fraction, Event, StartedUop, UopInput, UopsBySource, LostSlots, Simulation),
    *(Statistics, Usage, Mappings, WaitSums, Pressure, SequenceStep),
)


def simulate(
    bound: BoundKernel,
    *,
    ideal: bool = False,
    loop: bool | None = None,
    alignment: int | None = None,
    iterations: int = 0,
    max_cycles: int = 0,
    record: bool = False,
    every_cycle: bool = False,
    unlimited_ports: bool = False,
    no_register_dependencies: bool = False,
    no_memory_dependencies: bool = False,
) -> Simulation:
    """Run a kernel through the core's pipeline, cycle by cycle.

    `ideal`: through one of which only the widths, the buffers and the ports are known, also where the model describes
    no other: µops are always there, each goes to the port with the fewest, and stores are seen by loads at once.
    `loop`: whether it ends in a jump to its start (None: as the kernel says); if not, copies of it follow each other in
    memory. `alignment`: of its first byte, within 64 (None: as the kernel says). `iterations`: run exactly so many; 0
    goes on until the throughput is steady. `record` keeps every event; `every_cycle` also simulates those cycles of
    which it is known that they repeat earlier ones, with the same result. `unlimited_ports`: every µop starts when its
    inputs are there, whatever ports and dividers do; the last two leave dependencies between instructions out. Raises
    ValueError if the model does not describe the core's pipeline, the arrays contradict each other or `iterations` is
    negative, RuntimeError after more than `max_cycles` cycles (0: a limit that grows with the kernel).
    """
    if bound.pipeline is None and not ideal:
        raise ValueError("pipeline: the model does not describe it")
    return _core.simulate(
        bound,
        ideal,
        bound.is_loop if loop is None else loop,
        -1 if alignment is None else alignment,
        iterations,
        max_cycles,
        record,
        every_cycle,
        unlimited_ports,
        no_register_dependencies,
        no_memory_dependencies,
        _SIMULATION_CLASSES,
    )


def cold_run(
    bound: BoundKernel,
    iterations: int,
    *,
    ideal: bool = False,
    event_iterations: int = 0,
    event_cycles: int = 0,
    pressure: bool = False,
    every_cycle: bool = False,
    buffers: Sequence[tuple[int, int]] = (),
) -> Simulation:
    """Run so many iterations (1 at least) from a cold start, with statistics, which count cycles from the one in which
    the first µop is dispatched.

    `event_iterations`: record the events of so many, of which those are kept that are over before `event_cycles` (0:
    all of them). `pressure`: also find out why µops pile up. `buffers`: parts of the schedulers, as sets of ports
    with the number of entries that they show at most. `ideal`, `every_cycle` and what is raised: as `simulate`.
    """
    if iterations < 1:
        raise ValueError("iterations: a run has one at least")
    if bound.pipeline is None and not ideal:
        raise ValueError("pipeline: the model does not describe it")
    if not bound.issue_slots:
        raise ValueError("instructions: there are none to run")
    return _core.cold_run(
        bound,
        ideal,
        bound.is_loop,
        iterations,
        event_iterations,
        event_cycles or 1 << 62,
        pressure,
        every_cycle,
        list(buffers),
        _SIMULATION_CLASSES,
    )


def bounds_and_simulation(bound: BoundKernel) -> tuple[Bounds, Simulation]:
    """`bounds(bound)` and `simulate(bound)`, where both are wanted: what both need is worked out once."""
    if bound.pipeline is None:
        raise ValueError("pipeline: the model does not describe it")
    return _core.bounds_and_simulation(bound, bound.is_loop, Bounds, _SIMULATION_CLASSES)
