"""The native core and the plain data that it returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeVar

import msgspec

from incc.core import _core
from incc.core.counters import LostSlots, UopsBySource
from incc.models.binding.bound import BoundKernel
from incc.support import patience

R = TypeVar("R")


def _within_limits(function: Callable[..., R], *arguments: object) -> R:
    """Call a function of the core, which ends when the thread's time is over. Raises TookTooLong."""
    patience.check()
    _core.set_deadline(patience.end())
    try:
        return function(*arguments)
    except RuntimeError:
        patience.check()
        raise


class Edge(msgspec.Struct, frozen=True, kw_only=True):
    """A dependency between two instructions.

    Of several edges between the same values at the same distance only the slowest is listed.
    """

    producer: int
    """The producing instruction."""
    producer_value: int
    """The value of `producer` that the consumer needs."""
    consumer: int
    """The consuming instruction."""
    consumer_value: int
    """The value of `consumer` that depends on it."""
    location: int
    """The index of the register or flag; -1 for memory (store to load) and for the step from a loaded value to its own
    instruction's result."""
    latency: int
    """Cycles from the producer's value to the consumer's value."""
    distance: int
    """Iterations from producer to consumer."""


class PathStep(msgspec.Struct, frozen=True, kw_only=True):
    """One edge of a path or cycle; for the fields see Edge."""

    producer: int
    consumer: int
    location: int
    latency: int
    distance: int


class Chain(msgspec.Struct, frozen=True):
    """A loop-carried dependency: an elementary cycle of the dependency graph."""

    latency: int
    """Cycles for one round."""
    distance: int
    """Iterations that one round spans."""
    steps: tuple[PathStep, ...]
    """The edges in order."""

    @property
    def cycles_per_iteration(self) -> Fraction:
        return Fraction(self.latency, self.distance)


class Event(msgspec.Struct, frozen=True, kw_only=True):
    """The cycles of one dynamic instruction's stages, counted from 0.

    An instruction without µops is ready, started and executed in the cycle in which it is dispatched.
    """

    iteration: int
    instruction: int
    dispatched: int
    """It enters the scheduler and the reorder buffer."""
    ready: int
    """The inputs of the µop that starts first are ready."""
    started: int
    """Start of that µop on its port."""
    executed: int
    """The last result is available, so consumers may start in this cycle."""
    retired: int
    """It retires, at least one cycle after `executed`."""
    ports: tuple[int, ...]
    """The port or resource of each µop."""


class Stream(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses of a load or store: `offset` + `step` × iteration bytes from an unknown base."""

    instruction: int
    store: bool
    size: int
    """The size of the access in bytes."""
    part: int
    """The number of the unknown base; accesses with the same part share it."""
    object: int
    """The number of the object that the part lies in: parts of one object, such as the rows of an array, differ by
    unknown offsets."""
    offset: int
    """Bytes from the base to the access."""
    step: int | None
    """Bytes from each iteration to the next; None if the step varies or is unknown."""


class Analysis(msgspec.Struct, frozen=True, kw_only=True):
    """Every number about one kernel, per iteration unless stated otherwise."""

    pressure: tuple[tuple[float, ...], ...]
    """Cycles of each instruction's µops on each port or resource, under the balanced assignment."""
    port_load: tuple[float, ...]
    """The column sums of `pressure`."""
    fixed_pressure: tuple[tuple[float, ...], ...]
    """As `pressure`, with equal shares to all allowed ports."""
    fixed_port_load: tuple[float, ...]
    """The column sums of `fixed_pressure`."""
    busiest_ports: tuple[int, ...]
    """The set of ports whose joint load is the port bound."""
    port_bound: Fraction
    """The bound by execution ports, in cycles per iteration like all bounds."""
    fixed_port_bound: Fraction
    """The port bound with equal shares to all allowed ports."""
    resource_bound: Fraction
    """The bound by dividers and similar units."""
    front_end_bound: Fraction
    retire_bound: Fraction
    latency_bound: Fraction
    """The bound by loop-carried dependencies."""
    worst_alignment_port_bound: Fraction
    """The port bound with `worst_line_crossings`."""
    line_crossings: Fraction
    """Loads per iteration that cross a cache line at the best alignment of each pointer; the port bound includes
    them."""
    worst_line_crossings: Fraction
    """Loads per iteration that cross a cache line at the worst alignment that elements of up to 8 bytes allow."""
    expected_line_crossings: Fraction
    """Line crossings per iteration in the simulation: `line_crossings`, but the average over all alignments if some
    load crosses a line at any alignment."""
    critical_path_cycles: int
    """The length of the longest path through one iteration whose inputs are all ready in cycle 0."""
    critical_path: tuple[PathStep, ...]
    """The edges of that path."""
    critical_path_instructions: tuple[int, ...]
    """The instructions on that path."""
    chains: tuple[Chain, ...]
    """Loop-carried dependencies, longest first; none of latency 0 and at most 64."""
    chains_complete: bool
    """False if there are, or may be, more chains."""
    edges: tuple[Edge, ...]
    """The dependency graph."""
    streams: tuple[Stream, ...] = ()
    """See `streams`."""

    @property
    def critical_path_start(self) -> int:
        """The cycles until the critical path's first value is ready (its own load or computation)."""
        return self.critical_path_cycles - sum(step.latency for step in self.critical_path)


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """The lower bounds of Analysis without their explanation, in cycles per iteration."""

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
    fraction = _FRACTIONS[numerator, denominator] = Fraction(numerator, denominator)
    return fraction


def bounds(bound: BoundKernel) -> Bounds:
    """Return the bounds that `analyze` returns, without their explanation and many times as fast.

    Raises ValueError as `analyze` does.
    """
    return _within_limits(_core.bounds, bound, _fraction, Bounds)


def analyze(bound: BoundKernel) -> Analysis:
    """Return all bounds of a kernel and their explanation.

    Raises ValueError, naming the array, if the arrays contradict each other.
    """
    return _within_limits(_core.analyze, bound, _fraction, Edge, PathStep, Chain, Stream, Analysis)


EXECUTED_MOVE, RENAMERS, NOBODYS = -1, -2, -3
"""Special values of StartedUop.uop: an executed move that could have been eliminated, a µop that the renamer inserts
before an instruction, and a µop that belongs to no instruction."""

THROUGH_MEMORY, WITHIN_INSTRUCTION, RENAMED_MEMORY = -1, -2, -3
"""Special values of UopInput.location: a load of a stored value; a value between the µops of an instruction; a stored
value that the renamer forwards to the consumers of the load."""


class UopInput(msgspec.Struct, frozen=True):
    """A value that one µop produces for another."""

    producer: int
    """The producer's index in Simulation.started. A µop that needs an input late may start before its producer."""
    location: int
    """The index of the register or flag that carries the value, or THROUGH_MEMORY, WITHIN_INSTRUCTION or
    RENAMED_MEMORY."""
    arrived: int
    """The cycle from which this input allows the µop to start. For THROUGH_MEMORY the cycle in which the loaded value
    was available; the load starts without waiting for it."""


def streams(bound: BoundKernel) -> tuple[Stream, ...]:
    """Return the accesses of a kernel with known address patterns, in program order.

    Gathers, accesses of unknown size and instructions that the model lacks are left out. Raises ValueError as `analyze`
    does.
    """
    return _within_limits(_core.streams, bound, Stream)


class StartedUop(msgspec.Struct, frozen=True, kw_only=True):
    """A µop that was started on a port; times in cycles."""

    iteration: int
    instruction: int
    uop: int
    """The index in BoundKernel's arrays, or EXECUTED_MOVE, RENAMERS or NOBODYS."""
    port: int
    port_cycles: int
    """Cycles for which it occupies `port`, from `started` on."""
    unit: int
    """The divider or similar unit that it also occupies; -1 for none."""
    unit_cycles: int
    """Cycles for which it occupies `unit`, from `started` on."""
    dispatched: int
    """The cycle in which it entered its scheduler."""
    earliest: int
    """The cycle from which it could have started if its inputs had been ready."""
    ready: int
    """The cycle from which it only waited for its port or unit or, on an in-order core, for earlier µops."""
    started: int
    executed: int
    """The cycle in which its last result was available."""
    late_inputs: tuple[tuple[int, int], ...]
    """(instruction, cycle) of the inputs that arrived after `earliest`, from other instructions or from the same one in
    an earlier iteration."""
    inputs: tuple[UopInput, ...]
    """All values that other µops produced for it, traced through eliminated moves and the like."""


class Usage(msgspec.Struct, frozen=True):
    """The fill level of a buffer."""

    entries: int
    """The number of entries; 0 if unlimited."""
    sum: int
    """The sum over all cycles of the entries in use at the end of the cycle."""
    most: int
    """The most entries in use."""


class Mappings(msgspec.Struct, frozen=True):
    """The use of a register file."""

    mappings: int
    """The number of registers that were allocated."""
    most: int
    """The most registers in use at once."""


class WaitSums(msgspec.Struct, frozen=True, kw_only=True):
    """Waiting times of an instruction in cycles, summed over its executions."""

    executions: int
    in_scheduler: int
    """Cycles from dispatch to start."""
    in_scheduler_while_ready: int
    """The part of `in_scheduler` after the inputs were ready."""
    until_retire: int
    """Cycles from the result to retirement."""


BY_NOTHING, BY_REGISTER, BY_MEMORY, BY_RESOURCE = range(4)
"""Values of SequenceStep.because."""


class SequenceStep(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of a chain in which each one's start was delayed by the one before."""

    instruction: int
    iteration_offset: int
    """Iterations after that of the first µop."""
    because: int
    """The reason for the delay, BY_NOTHING to BY_RESOURCE."""
    via: int
    """The index of the register or flag, a special value of UopInput.location or, for BY_RESOURCE, the port or resource
    that the previous µop occupied."""
    cycles: int
    """Cycles since the start of the previous µop."""


class Pressure(msgspec.Struct, frozen=True, kw_only=True):
    """The causes of waiting µops. A µop counts if it was in a scheduler early enough to start but did not."""

    increase: int
    """Cycles in which more µops entered the schedulers than left them, or in which the schedulers were full."""
    resources: int
    """The part of these cycles in which a µop waited for a port or another resource."""
    registers: int
    """The part of these cycles in which a µop waited for a result."""
    memory: int
    """The part of these cycles in which a µop waited for a stored value that is loaded again."""
    data: int
    """The part of these cycles counted in `registers` or `memory`."""
    by_resource: tuple[int, ...]
    """The cycles of `resources` by port or resource."""
    sequence: tuple[SequenceStep, ...]
    """The chain that determined the start of the last µop. If it repeats, its ends are the same µop in different
    iterations."""


class Statistics(msgspec.Struct, frozen=True, kw_only=True):
    """The events of a run from the first dispatch to the last retirement."""

    cycles: int
    """The number of cycles."""
    uops: int
    """Issue slots."""
    stalls: LostSlots
    """Cycles in which the renamer stopped, by cause."""
    dispatched: tuple[tuple[int, int], ...]
    """(µops that filled issue slots in a cycle, number of such cycles)."""
    issued: tuple[tuple[int, int], ...]
    """(µops that started on ports in a cycle, number of such cycles)."""
    retired: tuple[tuple[int, int], ...]
    """(instructions that retired in a cycle, number of such cycles)."""
    reorder_buffer: Usage
    scheduler: Usage
    """All schedulers together."""
    queue: Usage
    """The queue before the schedulers, if there is one."""
    schedulers: tuple[Usage, ...]
    """The schedulers in the order of `Pipeline.scheduler_ports`."""
    buffers: tuple[Usage, ...]
    """The buffers that `cold_run` was called with."""
    loads: Usage
    """The load buffer."""
    stores: Usage
    """The store buffer."""
    registers: Mappings
    """Registers of all kinds together."""
    general: Mappings
    """General-purpose registers."""
    vector: Mappings
    """Vector registers."""
    general_moves: tuple[int, int, int]
    """Moves of general-purpose registers: candidates for elimination, eliminated moves, and the most eliminated in a
    cycle."""
    vector_moves: tuple[int, int, int]
    """Moves of vector registers: (candidates, eliminated, most eliminated in a cycle)."""
    events: tuple[Event, ...]
    """The events of the first iterations; `ready` is the cycle from which the first µop could have started if its port
    had been free."""
    waits: tuple[WaitSums, ...]
    """Waiting times of each instruction over these iterations."""
    pressure: Pressure | None
    """None if it was not requested."""


class Simulation(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a run through the pipeline."""

    cycles_per_iteration: Fraction
    """The steady state, or the average if the number of iterations was given."""
    period: int
    """Iterations after which the retirement pattern repeats exactly; 0 if no period was seen."""
    cycles: int
    """Simulated cycles."""
    iterations: int
    """Simulated iterations."""
    uops_by_source: UopsBySource
    """Fused µops of the whole run by the part of the front end that delivered them."""
    lost_slots: LostSlots
    """Empty issue slots of the whole run by the first cause."""
    port_uops: tuple[int, ...]
    """µops started on each port or resource."""
    moves_eliminated: int
    """The number of eliminable moves that were eliminated."""
    moves_executed: int
    """The number of eliminable moves that were executed."""
    uncached_jumps: tuple[int, ...]
    """Jumps that keep a loop's code out of the µop cache, because they touch a 32-byte boundary (JCC erratum)."""
    events: tuple[Event, ...]
    """The events of each instruction; empty if not recorded."""
    started: tuple[StartedUop, ...]
    """The µops in the order of their starts; empty if not recorded."""
    statistics: Statistics | None
    """The statistics of `cold_run`; None for other runs."""


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

    Args:
        bound: the kernel.
        ideal: simulate an ideal pipeline with the core's widths, buffers and ports, even if the model describes the
            real one: the front end never runs dry, each µop goes to the port with the fewest µops, and stores forward
            to loads at once.
        loop: whether the code ends in a jump to its start (None: `bound.is_loop`); otherwise copies of it follow each
            other in memory.
        alignment: the address of the first byte modulo 64 (None: as in `bound`).
        iterations: the exact number of iterations; 0 runs until the throughput is steady.
        max_cycles: the limit of the run; 0 for a limit that grows with the kernel.
        record: keep every event.
        every_cycle: also simulate cycles that are known to repeat earlier ones; the result is the same.
        unlimited_ports: start every µop when its inputs are ready, regardless of ports and dividers.
        no_register_dependencies: ignore dependencies between instructions through registers.
        no_memory_dependencies: ignore dependencies between instructions through memory.

    Raises:
        ValueError: if the model does not describe the core's pipeline, the arrays contradict each other or `iterations`
            is negative.
        RuntimeError: after more than `max_cycles` cycles.
    """
    if bound.pipeline is None and not ideal:
        raise ValueError("pipeline: the model does not describe it")
    return _within_limits(
        _core.simulate,
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
    """Run at least one iteration from a cold start and collect statistics.

    Cycles count from the one in which the first µop is dispatched.

    Args:
        bound: the kernel.
        iterations: the exact number of iterations.
        ideal: as in `simulate`.
        event_iterations: record the events of this many iterations.
        event_cycles: keep only events that end before this cycle (0: all).
        pressure: also analyse the causes of waiting µops.
        every_cycle: as in `simulate`.
        buffers: parts of the schedulers, as sets of ports with the largest fill level to report.

    Raises:
        ValueError: as `simulate` does, and for a kernel without instructions.
        RuntimeError: as `simulate` does.
    """
    if iterations < 1:
        raise ValueError("iterations: a run has one at least")
    if bound.pipeline is None and not ideal:
        raise ValueError("pipeline: the model does not describe it")
    if not bound.issue_slots:
        raise ValueError("instructions: there are none to run")
    return _within_limits(
        _core.cold_run,
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
    """Return `bounds(bound)` and `simulate(bound)`, sharing the work that both need."""
    if bound.pipeline is None:
        raise ValueError("pipeline: the model does not describe it")
    return _within_limits(_core.bounds_and_simulation, bound, bound.is_loop, Bounds, _SIMULATION_CLASSES)
