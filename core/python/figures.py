"""Figures of a kernel that need neither bounds nor a simulation, and averages over what was recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    from incc.core import Event, StartedUop, Step
    from incc.core.analysis import KernelResult
    from incc.frontends.kernel import Kernel


class Operations(msgspec.Struct, frozen=True, kw_only=True):
    """Operations an iteration, counted by element: of floating point and on integers in vector registers, and of these
    those in packed instructions; `packed_share` of all, None without any; the bits of the widest packed instruction, 0
    without."""

    flop: int
    flop_packed: int
    integer: int
    integer_packed: int
    packed_share: float | None
    vector_bits: int


def operations(kernel: Kernel) -> Operations:
    """What a kernel computes on vector registers."""
    packed = {True: 0, False: 0}
    scalar = {True: 0, False: 0}
    vector_bits = 0
    for instruction in kernel.instructions:
        arithmetic = instruction.arithmetic
        if arithmetic is None:
            continue
        if arithmetic.packed:
            packed[arithmetic.floating] += arithmetic.operations
            vector_bits = max(vector_bits, arithmetic.width)
        else:
            scalar[arithmetic.floating] += arithmetic.operations
    total = sum(packed.values()) + sum(scalar.values())
    return Operations(
        flop=packed[True] + scalar[True],
        flop_packed=packed[True],
        integer=packed[False] + scalar[False],
        integer_packed=packed[False],
        packed_share=sum(packed.values()) / total if total else None,
        vector_bits=vector_bits,
    )


class Traffic(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes loaded and stored an iteration; accesses of unknown size (rep movs, xsave), which are not in them; the bits
    of the widest access."""

    bytes_loaded: int
    bytes_stored: int
    unsized_accesses: int
    widest_access_bits: int


def traffic(kernel: Kernel) -> Traffic:
    """What a kernel loads and stores."""
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
    """Floating-point operations a byte loaded or stored; None where not all of these are known, or there are none."""
    total = moved.bytes_loaded + moved.bytes_stored
    return work.flop / total if total and not moved.unsized_accesses else None


CODE_LINE = 64
"""Bytes of a line of instructions."""


def lines_more(kernel: Kernel) -> int:
    """How many lines of instructions a kernel lies in beyond those that its bytes need."""
    size = sum(instruction.length for instruction in kernel.instructions)
    return -(-(kernel.alignment % CODE_LINE + size) // CODE_LINE) - -(-size // CODE_LINE)


def difference(predicted: float, measured: float) -> float | None:
    """By which part of what was measured a prediction is above it; None where nothing takes any time."""
    return predicted / measured - 1 if measured > 0 else None


class Rates(msgspec.Struct, frozen=True, kw_only=True):
    """What is done in a cycle: floating-point operations, bytes loaded and stored, elements of the source's loop (None
    where these are not known); and the clock in GHz, 0 where none is given."""

    flop: float
    bytes: float
    elements: float | None
    ghz: float

    def in_a_second(self, amount: float | None) -> float | None:
        """So much a cycle in units of 10^9 a second; None without a clock, and where it is not known."""
        return amount * self.ghz if self.ghz and amount is not None else None


def rates(
    work: Operations, moved: Traffic, cycles: Fraction, elements: Fraction | None = None, ghz: float = 0
) -> Rates | None:
    """What so much work comes to in a cycle; None where it takes no time, or bytes are moved of which nobody knows how
    many."""
    if not cycles or moved.unsized_accesses:
        return None
    return Rates(
        flop=float(work.flop / cycles),
        bytes=float((moved.bytes_loaded + moved.bytes_stored) / cycles),
        elements=None if elements is None else float(elements / cycles),
        ghz=ghz,
    )


class Summary(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's summary of a number of iterations in the steady state.

    `instructions` and `uops` (issue slots) of all iterations, without the instructions that are not in the model;
    `cycles`: iterations times the prediction, rounded up; `block_rthroughput`: the prediction without dependencies,
    in cycles an iteration.
    """

    iterations: int
    instructions: int
    cycles: int
    uops: int
    dispatch_width: int
    uops_per_cycle: float
    ipc: float
    block_rthroughput: Fraction


def summary(result: KernelResult, iterations: int) -> Summary:
    """The summary of a result for so many iterations."""
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
    """The cycles of a path by instruction: a step's latency is the time that its consumer takes."""
    cycles = dict.fromkeys(instructions, 0)
    for step in steps:
        cycles[step.consumer] = cycles.get(step.consumer, 0) + step.latency
    return cycles


class Waiting(msgspec.Struct, frozen=True, kw_only=True):
    """llvm-mca's averages for an instruction, in cycles: from dispatch to start, of these while it was ready and at its
    port, and from the result to retirement; over so many executions."""

    executions: int
    in_scheduler: float
    in_scheduler_while_ready: float
    until_retire: float


class ShownUop(msgspec.Struct, frozen=True, kw_only=True):
    """A µop of a timeline: what was recorded of it, when its instruction retired, and its inputs as (which of the
    timeline's µops made it, the register or flag or what else UopInput.location has, when it arrived).

    `last_input`: which of those that it waited for came last, None where it waited for none. For a load of what was
    stored, of which the result waits and not the start, it is what was stored, if that came last.
    """

    uop: StartedUop
    retired: int
    inputs: tuple[tuple[int, int, int], ...]
    last_input: int | None


class Timeline(msgspec.Struct, frozen=True, kw_only=True):
    """`uops`: those of the events, in program order; `earliest`: for each event when its first µop could have started,
    were its inputs there; `waits`: by instruction; `total`: of all; `iterations` and `cycles` that it reaches over."""

    uops: tuple[ShownUop, ...]
    earliest: tuple[int, ...]
    waits: tuple[Waiting, ...]
    total: Waiting
    iterations: int
    cycles: int


def timeline(events: Sequence[Event], started: Sequence[StartedUop], instructions: int) -> Timeline:
    """Averages over the recorded life of a kernel of so many instructions. `started` are the µops of the same run; may
    be empty."""
    of_uops: dict[tuple[int, int], int] = {}
    # Those that start first come last, and stay.
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
    """The µops of the events in program order; of an instruction the renamer's first, then in the model's order."""
    from incc.core import NOBODYS, THROUGH_MEMORY

    retired = {(event.iteration, event.instruction): event.retired for event in events}
    order = sorted(
        [n for n, u in enumerate(started) if u.uop != NOBODYS and (u.iteration, u.instruction) in retired],
        key=lambda n: (started[n].iteration, started[n].instruction, started[n].uop, n),
    )
    place = {number: at for at, number in enumerate(order)}
    shown = []
    for number in order:
        uop = started[number]
        # What is dispatched later than the last event makes nothing for one of them.
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
        executions=executions,
        in_scheduler=in_scheduler,
        in_scheduler_while_ready=ready,
        until_retire=until_retire,
    )
