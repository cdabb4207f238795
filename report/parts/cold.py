"""The report on a kernel's run from a cold start, with the figures of llvm-mca's views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from incc.core import (
    BY_MEMORY,
    BY_NOTHING,
    BY_REGISTER,
    BY_RESOURCE,
    Mappings,
    Pressure,
    Statistics,
    Usage,
    WaitSums,
)
from incc.core.figures import DECIMALS
from incc.models.binding.bound import BoundKernel
from incc.report import types as t
from incc.report.wording import input_carrier

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def cold_report(result: KernelResult) -> t.Cold | None:
    """Return the part of the report on the run from a cold start; None without such a run."""
    run = result.cold
    if run is None or (statistics := run.statistics) is None:
        return None
    stalls = asdict(statistics.stalls)  # these causes are complete
    starved = stalls.pop("no_uops")
    names = WaitSums.__struct_fields__
    total = WaitSums(**{name: sum(getattr(wait, name) for wait in statistics.waits) for name in names})
    return t.Cold(
        iterations=run.iterations,
        cycles=statistics.cycles,
        uops=statistics.uops,
        stalls=t.Stalls(**stalls, front_end=starved, other=0),
        dispatched=_histogram(statistics.dispatched),
        issued=_histogram(statistics.issued),
        retired=_histogram(statistics.retired),
        schedulers=_schedulers(result, statistics),
        reorder_buffer=_buffer(statistics.reorder_buffer, statistics.cycles),
        registers=_registers(result, statistics),
        events=[
            t.ColdEvent(
                iteration=event.iteration,
                instruction=event.instruction,
                dispatched=event.dispatched,
                ready=event.ready,
                issued=event.started,
                executed=event.executed,
                retired=event.retired,
            )
            for event in statistics.events
        ],
        waits=[_waits(wait) for wait in statistics.waits] if total.executions else [],
        waits_total=_waits(total) if total.executions else None,
        pressure=_pressure(result, statistics.pressure) if statistics.pressure else None,
    )


def _histogram(cycles: Sequence[tuple[int, int]]) -> list[t.CyclesOf]:
    return [t.CyclesOf(count=count, cycles=times) for count, times in cycles]


def _buffer(usage: Usage, cycles: int) -> t.Buffer:
    return t.Buffer(entries=usage.entries, average=round(usage.sum / (cycles or 1), DECIMALS), most=usage.most)


def _schedulers(result: KernelResult, statistics: Statistics) -> list[t.Scheduler]:
    """Return LLVM's schedulers if the model describes them, otherwise the core's and the queue before them.

    µops whose schedulers have no limit of their own count in neither. An in-order core has none.
    """
    bound = result.bound

    def row(name: str, usage: Usage) -> t.Scheduler:
        return t.Scheduler(name=name, **asdict(_buffer(usage, statistics.cycles)))

    p = bound.pipeline
    if p is not None and p.in_order:
        return []
    if result.model.llvm is not None and result.model.llvm.schedulers:
        buffers = iter(statistics.buffers)
        queues = {"load": statistics.loads, "store": statistics.stores}
        return [
            row(
                each.name, _within(queues[each.queue] if each.queue else next(buffers), each.entries, statistics.cycles)
            )
            for each in result.model.llvm.schedulers
        ]
    if p is None or not statistics.schedulers:
        return [row("Ports", statistics.scheduler)]
    rows = [
        row(_of_ports(bound, mask), usage) for mask, usage in zip(p.scheduler_ports, statistics.schedulers, strict=True)
    ]
    if statistics.queue.entries:
        rows.append(row(f"Queue{_of_ports(bound, p.waiting_ports).removeprefix('Ports')}", statistics.queue))
    return rows


def _within(usage: Usage, entries: int, cycles: int) -> Usage:
    """Return the usage as that of a buffer with this number of entries."""
    return replace(usage, entries=entries, sum=min(usage.sum, entries * cycles), most=min(usage.most, entries))


def _registers(result: KernelResult, statistics: Statistics) -> list[t.RegisterFile]:
    """Return all registers together, followed by LLVM's register files."""
    pipeline, llvm = result.bound.pipeline, result.model.llvm
    everything = [
        general + vector for general, vector in zip(statistics.general_moves, statistics.vector_moves, strict=True)
    ]
    rows = [_register_file("", pipeline.register_file if pipeline else 0, statistics.registers, everything)]
    for file in llvm.register_files if llvm else ():
        used, moves = statistics.general, statistics.general_moves
        if file.kind == "vector":
            used, moves = statistics.vector, statistics.vector_moves
        # LLVM's register file may be smaller than the core's, and may combine kinds that are counted separately here.
        rows.append(_register_file(file.name, file.registers, used, (0, 0, 0) if file.moves is None else moves))
    return rows


def _register_file(name: str, entries: int, used: Mappings, moves: Sequence[int]) -> t.RegisterFile:
    candidates, eliminated, most = moves
    return t.RegisterFile(
        name=name,
        entries=entries,
        mappings=used.mappings,
        most=used.most,
        moves=t.MovesOf(candidates=candidates, eliminated=eliminated, zero=0, most=most),
    )


def _of_ports(bound: BoundKernel, mask: int) -> str:
    names = [name for port, name in enumerate(bound.port_names) if mask >> port & 1]
    return "Ports" + ("" if all(len(name) == 1 for name in names) else "_").join(names)


def _waits(wait: WaitSums) -> t.ColdWait:
    def average(cycles: int) -> float:
        return round(cycles / wait.executions, DECIMALS) if wait.executions else 0.0

    return t.ColdWait(
        executions=wait.executions,
        queue=average(wait.in_scheduler),
        ready=average(wait.in_scheduler_while_ready),
        writeback=average(wait.until_retire),
    )


_KINDS: dict[int, t.SequenceKind] = {
    BY_NOTHING: "",
    BY_REGISTER: "register",
    BY_MEMORY: "memory",
    BY_RESOURCE: "resource",
}


def _pressure(result: KernelResult, pressure: Pressure) -> t.PressureReport:
    bound = result.bound
    sequence: list[t.SequenceStepReport] = []
    for step in pressure.sequence:
        kind, via = _KINDS[step.because], ""
        if step.because == BY_RESOURCE:
            via = bound.port_names[step.via]
        elif step.because == BY_REGISTER:
            carrier, via = input_carrier(result.kernel, bound, step.instruction, step.via)
            kind = "memory" if carrier == "memory" else kind
        sequence.append(
            t.SequenceStepReport(
                instruction=step.instruction,
                iteration_offset=step.iteration_offset,
                kind=kind,
                via=via,
                cycles=step.cycles,
            )
        )
    return t.PressureReport(
        increase=pressure.increase,
        resources=pressure.resources,
        registers=pressure.registers,
        memory=pressure.memory,
        data=pressure.data,
        by_resource=[
            t.ResourcePressure(resource=number, cycles=cycles)
            for number, cycles in enumerate(pressure.by_resource[: len(bound.port_names)])
            if cycles
        ],
        sequence=sequence,
    )
