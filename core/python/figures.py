"""Figures of a kernel that need neither bounds nor a simulation, and averages over recorded events."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from incc.core import NOBODYS, THROUGH_MEMORY

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from incc.core import Event, StartedUop, Step
    from incc.core.analysis import KernelResult
    from incc.frontends.kernel import Kernel


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """Operations per iteration on vector registers, counted by element."""

    flop: int
    """Floating-point operations."""
    flop_packed: int
    """Floating-point operations in packed instructions."""
    integer: int
    """Integer operations."""
    integer_packed: int
    """Integer operations in packed instructions."""
    packed_share: float | None
    """The share of all operations in packed instructions; None without operations."""
    vector_bits: int
    """The width of the widest packed instruction in bits; 0 without packed instructions."""


def operations(kernel: Kernel) -> Operations:
    """Return the operations of a kernel on vector registers."""
    done = [i.arithmetic for i in kernel.instructions if i.arithmetic is not None]
    flop = sum(a.operations for a in done if a.floating)
    flop_packed = sum(a.operations for a in done if a.floating and a.packed)
    total = sum(a.operations for a in done)
    packed = sum(a.operations for a in done if a.packed)
    return Operations(
        flop=flop,
        flop_packed=flop_packed,
        integer=total - flop,
        integer_packed=packed - flop_packed,
        packed_share=packed / total if total else None,
        vector_bits=max([a.width for a in done if a.packed], default=0),
    )


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes that loads and stores move per iteration."""

    bytes_loaded: int
    bytes_stored: int
    unsized_accesses: int
    """Accesses of unknown size (rep movs, xsave), which the numbers of bytes exclude."""
    widest_access_bits: int


def traffic(kernel: Kernel) -> Traffic:
    """Return the bytes that a kernel loads and stores."""
    loaded = stored = unsized = widest = 0
    for instruction in kernel.instructions:
        for access in instruction.memory:
            size = access.size * access.elements
            unsized += size == 0 and (access.load or access.store)
            loaded += size if access.load else 0
            stored += size if access.store else 0
            if access.elements == 1 and (access.load or access.store):
                widest = max(widest, 8 * access.size)
    return Traffic(bytes_loaded=loaded, bytes_stored=stored, unsized_accesses=unsized, widest_access_bits=widest)


def intensity(work: Operations, moved: Traffic) -> float | None:
    """Return the floating-point operations per byte loaded or stored; None if bytes are unknown or 0."""
    total = moved.bytes_loaded + moved.bytes_stored
    return work.flop / total if total and not moved.unsized_accesses else None


CODE_LINE = 64
"""The size of a line of code in bytes."""


def lines_more(kernel: Kernel) -> int:
    """Return the number of code lines that a kernel spans beyond those that its bytes need."""
    size = sum(instruction.length for instruction in kernel.instructions)
    return -(-(kernel.alignment % CODE_LINE + size) // CODE_LINE) - -(-size // CODE_LINE)


def difference(predicted: float, measured: float) -> float | None:
    """Return (predicted - measured) / measured; None if nothing takes any time."""
    return predicted / measured - 1 if measured > 0 else None


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Rates per cycle, and the clock."""

    flop: float
    """Floating-point operations."""
    bytes: float
    """Bytes loaded and stored."""
    elements: float | None
    """Elements of the source's loop; None if unknown."""
    ghz: float
    """The clock in GHz; 0 if not given."""

    def in_a_second(self, amount: float | None) -> float | None:
        """Return a rate in units of 10^9 per second; None without a clock or if the rate is unknown."""
        return amount * self.ghz if self.ghz and amount is not None else None


def rates(
    work: Operations, moved: Traffic, cycles: Fraction, elements: Fraction | None = None, ghz: float = 0
) -> Rates | None:
    """Return the rates per cycle; None if the kernel takes no time or moves an unknown number of bytes."""
    if not cycles or moved.unsized_accesses:
        return None
    return Rates(
        flop=float(work.flop / cycles),
        bytes=float((moved.bytes_loaded + moved.bytes_stored) / cycles),
        elements=None if elements is None else float(elements / cycles),
        ghz=ghz,
    )


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's summary of a number of iterations in the steady state."""

    iterations: int
    instructions: int
    """Instructions of all iterations, without those that the model lacks."""
    cycles: int
    """Iterations times the prediction, rounded up."""
    uops: int
    """Issue slots of all iterations, without instructions that the model lacks."""
    dispatch_width: int
    uops_per_cycle: float
    ipc: float
    block_rthroughput: Fraction
    """The prediction without dependencies, in cycles per iteration."""


def summary(result: KernelResult, iterations: int) -> Summary:
    """Return the summary of a result for that many iterations."""
    uops = sum(result.bound.issue_slots)
    instructions = len(result.kernel.instructions) - len(result.unknown)
    cycles = result.cycles
    bounds = result.bounds
    return Summary(
        iterations=iterations,
        instructions=iterations * instructions,
        cycles=-(-iterations * cycles.numerator // cycles.denominator),
        uops=iterations * uops,
        dispatch_width=result.bound.issue_width,
        uops_per_cycle=float(uops / cycles) if cycles else 0.0,
        ipc=float(instructions / cycles) if cycles else 0.0,
        block_rthroughput=max(bounds.port, bounds.divider, bounds.front_end, bounds.retire),
    )


def cycles_by_instruction(instructions: Iterable[int], steps: Sequence[Step]) -> dict[int, int]:
    """Return the cycles of a path by instruction; a step's latency counts for its consumer."""
    cycles = dict.fromkeys(instructions, 0)
    for step in steps:
        cycles[step.consumer] = cycles.get(step.consumer, 0) + step.latency
    return cycles


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's average waiting times of an instruction in cycles."""

    executions: int
    in_scheduler: float
    """Cycles from dispatch to start."""
    in_scheduler_while_ready: float
    """The part of `in_scheduler` during which it was ready and at its port."""
    until_retire: float
    """Cycles from the result to retirement."""


class ShownUop(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of a timeline."""

    uop: StartedUop
    retired: int
    """The cycle in which its instruction retired."""
    inputs: tuple[tuple[int, int, int], ...]
    """(index of the producing µop in the timeline, UopInput.location, cycle of arrival) of each input."""
    last_input: int | None
    """The index of the input that arrived last; None if it waited for none. A load's result, not its start, waits for a
    stored value; that value counts as the last input if it arrived last."""


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded first iterations of a run."""

    uops: tuple[ShownUop, ...]
    """The µops of the events, in program order."""
    earliest: tuple[int, ...]
    """For each event the cycle from which its first µop could have started if its inputs had been ready."""
    waits: tuple[Waiting, ...]
    """Average waiting times by instruction."""
    total: Waiting
    """Average waiting times of all instructions."""
    iterations: int
    cycles: int


def timeline(events: Sequence[Event], started: Sequence[StartedUop], instructions: int) -> Timeline:
    """Return averages over the recorded events of a kernel with that many instructions.

    `started` holds the µops of the same run; it may be empty.
    """
    of_uops: dict[tuple[int, int], int] = {}
    # The µops that start first come last and overwrite the others.
    for uop in sorted(started, key=lambda u: (u.started, u.earliest), reverse=True):
        of_uops[uop.iteration, uop.instruction] = uop.earliest
    earliest = tuple(
        [
            of_uops.get((event.iteration, event.instruction), min(event.dispatched + 1, event.started))
            for event in events
        ]
    )
    sums = [[0, 0, 0, 0] for _ in range(instructions)]
    for event, could_start in zip(events, earliest, strict=True):
        wait = sums[event.instruction]
        wait[0] += 1
        wait[1] += event.started - event.dispatched
        wait[2] += max(0, event.started - max(event.ready, could_start))
        wait[3] += max(0, event.retired - event.executed - 1)
    total = [sum(column) for column in zip(*sums, strict=True)] if sums else [0, 0, 0, 0]
    return Timeline(
        uops=_shown(events, started),
        earliest=earliest,
        waits=tuple([_average(wait) for wait in sums]),
        total=_average(total),
        iterations=max((event.iteration for event in events), default=-1) + 1,
        cycles=max((event.retired for event in events), default=-1) + 1,
    )


def _shown(events: Sequence[Event], started: Sequence[StartedUop]) -> tuple[ShownUop, ...]:
    """Return the µops of the events in program order.

    Within an instruction the renamer's µops come first, then the others in the model's order.
    """
    retired = {(event.iteration, event.instruction): event.retired for event in events}
    order = sorted(
        [n for n, u in enumerate(started) if u.uop != NOBODYS and (u.iteration, u.instruction) in retired],
        key=lambda n: (started[n].iteration, started[n].instruction, started[n].uop, n),
    )
    place = {number: at for at, number in enumerate(order)}
    shown = []
    for number in order:
        uop = started[number]
        # µops dispatched after the last event produce nothing for the events.
        inputs = [(place[i.producer], i.location, i.arrived) for i in uop.inputs if i.producer in place]
        waited = [
            n
            for n, (_, location, arrived) in enumerate(inputs)
            if (arrived == uop.executed if location == THROUGH_MEMORY else uop.ready > uop.earliest)
        ]
        last = max(waited, key=lambda n: inputs[n][2], default=None)
        shown.append(
            ShownUop(uop=uop, retired=retired[uop.iteration, uop.instruction], inputs=tuple(inputs), last_input=last)
        )
    return tuple(shown)


def _average(wait: Sequence[int]) -> Waiting:
    executions, *cycles = wait
    in_scheduler, ready, until_retire = [each / executions if executions else 0.0 for each in cycles]
    return Waiting(
        executions=executions, in_scheduler=in_scheduler, in_scheduler_while_ready=ready, until_retire=until_retire
    )
