"""The report on a kernel's run from a cold start, with the figures of llvm-mca's views."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict, replace

from incc.core import BY_MEMORY, BY_NOTHING, BY_REGISTER, BY_RESOURCE, WaitSums
from incc.report import types as t

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core import Mappings, Pressure, Simulation, Statistics, Usage
    from incc.core.analysis import KernelResult
    from incc.models.binding.bound import BoundKernel

DECIMALS = 6


def cold_report(result: KernelResult) -> t.Cold | None:
    """Return the part of the report on the run from a cold start; None without such a run."""
    run = result.cold
    if run is None or run.statistics is None:
        return None
    return _cold_report(result, run, run.statistics)


def _cold_report(result: KernelResult, run: Simulation, found: Statistics) -> t.Cold:
    stalls = found.stalls
    total = WaitSums(
        executions=sum(wait.executions for wait in found.waits),
        in_scheduler=sum(wait.in_scheduler for wait in found.waits),
        in_scheduler_while_ready=sum(wait.in_scheduler_while_ready for wait in found.waits),
        until_retire=sum(wait.until_retire for wait in found.waits),
    )
    return t.Cold(
        iterations=run.iterations,
        cycles=found.cycles,
        uops=found.uops,
        stalls=t.Stalls(
            registers=stalls.registers,
            reorder_buffer=stalls.reorder_buffer,
            scheduler=stalls.scheduler,
            load_buffer=stalls.load_buffer,
            store_buffer=stalls.store_buffer,
            group=stalls.group,
            front_end=stalls.no_uops,
            other=0,  # the causes are all
        ),
        dispatched=_histogram(found.dispatched),
        issued=_histogram(found.issued),
        retired=_histogram(found.retired),
        schedulers=_schedulers(result, found),
        reorder_buffer=_buffer(found.reorder_buffer, found.cycles),
        registers=_registers(result, found),
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
            for event in found.events
        ],
        waits=[_waits(wait) for wait in found.waits] if total.executions else [],
        waits_total=_waits(total) if total.executions else None,
        pressure=_pressure(result, found.pressure) if found.pressure else None,
    )


def _histogram(cycles: Sequence[tuple[int, int]]) -> list[t.CyclesOf]:
    return [t.CyclesOf(count=count, cycles=times) for count, times in cycles]


def _buffer(usage: Usage, cycles: int) -> t.Buffer:
    return t.Buffer(entries=usage.entries, average=round(usage.sum / (cycles or 1), DECIMALS), most=usage.most)


def _schedulers(result: KernelResult, found: Statistics) -> list[t.Scheduler]:
    """Return LLVM's schedulers if the model describes them, otherwise the core's and the queue before them.

    Work without a limit of its own counts in neither. Returns None on a core that starts µops in order.
    """
    bound = result.bound

    def row(name: str, usage: Usage) -> t.Scheduler:
        return t.Scheduler(name=name, **asdict(_buffer(usage, found.cycles)))

    p = bound.pipeline
    if p is not None and p.in_order:
        return []
    if result.model.llvm is not None:
        buffers = iter(found.buffers)
        queues = {"load": found.loads, "store": found.stores}
        return [
            row(each.name, _within(queues[each.queue] if each.queue else next(buffers), each.entries, found.cycles))
            for each in result.model.llvm.schedulers
        ]
    if p is None or not found.schedulers:
        return [row("Ports", found.scheduler)]
    rows = [row(_of_ports(bound, mask), usage) for mask, usage in zip(p.scheduler_ports, found.schedulers, strict=True)]
    if found.queue.entries:
        rows.append(row(f"Queue{_of_ports(bound, p.waiting_ports).removeprefix('Ports')}", found.queue))
    return rows


def _within(usage: Usage, entries: int, cycles: int) -> Usage:
    """Return the usage as that of a buffer with this number of entries."""
    return replace(usage, entries=entries, sum=min(usage.sum, entries * cycles), most=min(usage.most, entries))


def _registers(result: KernelResult, found: Statistics) -> list[t.RegisterFile]:
    """Return all registers together, followed by LLVM's register files."""
    pipeline, llvm = result.bound.pipeline, result.model.llvm
    everything = [general + vector for general, vector in zip(found.general_moves, found.vector_moves, strict=True)]
    rows = [_register_file("", pipeline.register_file if pipeline else 0, found.registers, everything)]
    for file in llvm.register_files if llvm else ():
        vector = file.kind == "vector"
        used = found.vector if vector else found.general
        # LLVM's file may be smaller than the core's, and the same one for what is counted apart here.
        rows.append(
            _register_file(file.name, file.registers, used, found.vector_moves if vector else found.general_moves)
        )
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
    executions, queue, ready, writeback = (
        wait.executions,
        wait.in_scheduler,
        wait.in_scheduler_while_ready,
        wait.until_retire,
    )

    def average(cycles: int) -> float:
        return round(cycles / executions, DECIMALS) if executions else 0.0

    return t.ColdWait(
        executions=executions,
        queue=average(queue),
        ready=average(ready),
        writeback=average(writeback),
    )


_KINDS: dict[int, t.SequenceKind] = {
    BY_NOTHING: "",
    BY_REGISTER: "register",
    BY_MEMORY: "memory",
    BY_RESOURCE: "resource",
}


def _pressure(result: KernelResult, found: Pressure) -> t.Pressure:
    from incc.report.wording import input_carrier

    bound = result.bound
    sequence: list[t.SequenceStep] = []
    for step in found.sequence:
        kind, via = _KINDS[step.because], ""
        if step.because == BY_RESOURCE:
            via = bound.port_names[step.via]
        elif step.because == BY_REGISTER:
            carrier, via = input_carrier(result.kernel, bound, step.instruction, step.via)
            kind = "memory" if carrier == "memory" else kind
        sequence.append(
            t.SequenceStep(
                instruction=step.instruction,
                iteration_offset=step.iteration_offset,
                kind=kind,
                via=via,
                cycles=step.cycles,
            )
        )
    return t.Pressure(
        increase=found.increase,
        resources=found.resources,
        registers=found.registers,
        memory=found.memory,
        data=found.data,
        by_resource=[
            t.ResourcePressure(resource=number, cycles=cycles)
            for number, cycles in enumerate(found.by_resource[: len(bound.port_names)])
            if cycles
        ],
        sequence=sequence,
    )
