"""Figures of a kernel that need neither bounds nor a simulation, and averages over recorded events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.core import NOBODYS, THROUGH_MEMORY, Event, PathStep, StartedUop
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode
from incc.models.binding.bound import IS_LOAD, IS_STORE
from incc.models.binding.pipeline import CODE_LINE
from incc.support.quantities import Amount, Count, Positive, Share
from incc.support.recent import recent

if TYPE_CHECKING:
    from fractions import Fraction

    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements

DECIMALS = 6
"""The decimals of figures in reports."""


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """Operations per iteration on vector registers, counted by element."""

    flop: Count
    """Floating-point operations."""
    flop_packed: Count
    """Floating-point operations in packed instructions."""
    integer_operations: Count
    integer_operations_packed: Count
    packed_share: Share | None
    """Share of all operations that packed instructions do; None without arithmetic."""
    vector_bits: Count
    """The width of the widest packed arithmetic, in bits; 0 without any."""
    flop_elements: list[Count] = []
    """The sizes of the floating-point elements in bits, that of most operations first."""


@recent
def operations(kernel: KernelCode) -> Operations:
    """Return the operations of a kernel on vector registers."""
    done = [i.arithmetic for i in kernel.instructions if i.arithmetic is not None]
    by_element: dict[int, int] = {}
    for a in done:
        if a.floating:
            by_element[a.element] = by_element.get(a.element, 0) + a.operations
    flop = sum(by_element.values())
    flop_packed = sum(a.operations for a in done if a.floating and a.packed)
    total = sum(a.operations for a in done)
    packed = sum(a.operations for a in done if a.packed)
    return Operations(
        flop=flop,
        flop_packed=flop_packed,
        integer_operations=total - flop,
        integer_operations_packed=packed - flop_packed,
        packed_share=round(packed / total, DECIMALS) if total else None,
        vector_bits=max([a.width for a in done if a.packed], default=0),
        flop_elements=sorted(by_element, key=lambda element: (-by_element[element], element)),
    )


class AccessTraffic(msgspec.Struct, frozen=True, kw_only=True):
    """Data that loads and stores move per iteration."""

    bytes_loaded: Count
    bytes_stored: Count
    unsized_accesses: Count
    """Accesses without a fixed size (rep movs, xsave); the numbers of bytes exclude them."""
    loads: Count
    """Instructions that load."""
    stores: Count
    """Instructions that store."""
    spills: Count
    """Stores to a fixed place of the function's stack frame."""
    reloads: Count
    """Loads from a fixed place of the function's stack frame."""
    step: Count
    """Bytes by which the fastest stream advances per iteration; 0 if no stream is known to advance."""
    widest_access_bits: Count


def traffic(kernel: KernelCode, flags: Sequence[int], step: int = 0) -> AccessTraffic:
    """Return the data that a kernel moves; `flags` are the `instruction_flags` of the bound kernel."""
    loaded = stored = unsized = widest = 0
    for instruction in kernel.instructions:
        for access in instruction.memory:
            size = access.size * access.elements
            unsized += size == 0 and (access.load or access.store)
            loaded += size if access.load else 0
            stored += size if access.store else 0
            if access.elements == 1 and (access.load or access.store):
                widest = max(widest, 8 * access.size)
    frame = [flags[i] for i, instruction in enumerate(kernel.instructions) if on_frame(kernel, instruction)]
    return AccessTraffic(
        bytes_loaded=loaded,
        bytes_stored=stored,
        unsized_accesses=unsized,
        loads=sum(bool(each & IS_LOAD) for each in flags),
        stores=sum(bool(each & IS_STORE) for each in flags),
        spills=sum(bool(each & IS_STORE) for each in frame),
        reloads=sum(bool(each & IS_LOAD) for each in frame),
        step=step,
        widest_access_bits=widest,
    )


def on_frame(kernel: KernelCode, instruction: Instruction) -> bool:
    """Return True if an instruction accesses a fixed place of the stack frame; return addresses do not count."""
    if not instruction.memory or instruction.branch:
        return False
    is_on_frame = isa(kernel.isa).on_frame
    return any((access.load or access.store) and is_on_frame(access) for access in instruction.memory)


def intensity(work: Operations, moved: AccessTraffic) -> float | None:
    """Return the floating-point operations per byte loaded or stored; None if bytes are unknown or 0."""
    total = moved.bytes_loaded + moved.bytes_stored
    return round(work.flop / total, DECIMALS) if total and not moved.unsized_accesses else None


def lines_more(kernel: KernelCode) -> int:
    """Return the number of code lines that a kernel spans beyond those that its bytes need."""
    size = sum(instruction.length for instruction in kernel.instructions)
    return -(-(kernel.alignment % CODE_LINE + size) // CODE_LINE) - -(-size // CODE_LINE)


def difference(predicted: float, measured: float) -> float | None:
    """Return (predicted - measured) / measured; None if nothing takes any time."""
    return predicted / measured - 1 if measured > 0 else None


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """Predicted rates per cycle and, at a given clock, per second in units of 10^9.

    Bytes are those that instructions load and store, which is the traffic with the L1 cache.
    """

    flop_per_cycle: Amount
    bytes_per_cycle: Amount
    elements_per_cycle: Amount | None
    """Elements per cycle; None if the number of elements is unknown."""
    ghz: Amount | None
    """The given clock in GHz; None without one, and then all rates per second are None."""
    gflop_per_second: Amount | None
    gigabytes_per_second: Amount | None
    gigaelements_per_second: Amount | None
    text: str
    """The rates per second in words; empty without a clock."""


def rates(
    work: Operations, moved: AccessTraffic, cycles: Fraction, elements: Elements | None, ghz: float
) -> Rates | None:
    """Return the rates at a clock; None if the kernel takes no time or moves an unknown number of bytes."""
    if not cycles or moved.unsized_accesses:
        return None
    flop, moved_bytes = float(work.flop / cycles), float((moved.bytes_loaded + moved.bytes_stored) / cycles)
    number = float(elements.per_iteration / cycles) if elements else None
    per_second = [
        round(rate * ghz, DECIMALS) if ghz and rate is not None else None for rate in (flop, moved_bytes, number)
    ]
    units = ("GFLOP/s", "GB/s loaded and stored (L1)", "G elements/s")
    texts = [f"{rate:.4g} {unit}" for rate, unit in zip(per_second, units, strict=True) if rate]
    return Rates(
        flop_per_cycle=round(flop, DECIMALS),
        bytes_per_cycle=round(moved_bytes, DECIMALS),
        elements_per_cycle=None if number is None else round(number, DECIMALS),
        ghz=ghz or None,
        gflop_per_second=per_second[0],
        gigabytes_per_second=per_second[1],
        gigaelements_per_second=per_second[2],
        text=f"{', '.join(texts)} at {ghz:g} GHz" if texts else "",
    )


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's summary of a number of iterations in the steady state, without instructions that the model lacks."""

    iterations: Positive
    instructions: Count
    cycles: Count
    """Iterations times the prediction, rounded up."""
    uops: Count
    """Issue slots."""
    dispatch_width: Count
    uops_per_cycle: Amount
    ipc: Amount
    block_rthroughput: Amount
    """The predicted cycles without dependencies."""


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
        uops_per_cycle=round(float(uops / cycles), DECIMALS) if cycles else 0.0,
        ipc=round(float(instructions / cycles), DECIMALS) if cycles else 0.0,
        block_rthroughput=float(max(bounds.port, bounds.divider, bounds.front_end, bounds.retire)),
    )


def cycles_by_instruction(instructions: Iterable[int], steps: Sequence[PathStep]) -> dict[int, int]:
    """Return the cycles of a path by instruction; a step's latency counts for its consumer."""
    cycles = dict.fromkeys(instructions, 0)
    for step in steps:
        cycles[step.consumer] = cycles.get(step.consumer, 0) + step.latency
    return cycles


class Wait(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's average waiting times in cycles."""

    executions: Count
    in_scheduler: Amount
    """Cycles from dispatch to start."""
    in_scheduler_while_ready: Amount
    """The part of `in_scheduler` during which it was ready and at its port."""
    until_retire: Amount
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


class TimelineFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The recorded first iterations of a run."""

    uops: tuple[ShownUop, ...]
    """The µops of the events, in program order."""
    earliest: tuple[int, ...]
    """For each event the cycle from which its first µop could have started if its inputs had been ready."""
    waits: tuple[Wait, ...]
    """Average waiting times by instruction."""
    total: Wait
    """Average waiting times of all instructions."""
    iterations: int
    cycles: int


def timeline(events: Sequence[Event], started: Sequence[StartedUop], instructions: int) -> TimelineFigures:
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
    return TimelineFigures(
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


def _average(wait: Sequence[int]) -> Wait:
    executions, *cycles = wait
    in_scheduler, ready, until_retire = [round(each / executions, DECIMALS) if executions else 0.0 for each in cycles]
    return Wait(
        executions=executions, in_scheduler=in_scheduler, in_scheduler_while_ready=ready, until_retire=until_retire
    )
