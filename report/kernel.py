"""The report on one kernel: every figure that a view prints, as JSON-able data."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict, astuple

from incc.core import RENAMERS, figures
from incc.core.ranges import find_range, not_counted, rare_calls
from incc.frontends.isa import isa
from incc.models.binding.bound import (
    ELIMINATED,
    FUSED_INTO_PREVIOUS,
    IS_LOAD,
    IS_STORE,
    UNKNOWN,
    UOP_BRANCH,
    UOP_COMPUTE,
    UOP_LOAD,
    UOP_STORE_ADDRESS,
    UOP_STORE_DATA,
    ZEROED,
)
from incc.report import types as t
from incc.report import verdict, wording
from incc.report.cold import cold_report
from incc.report.hints import hints
from incc.report.hints.advice import ASSEMBLY
from incc.report.identity import content_hash
from incc.report.range import kernel_range, mispredicted
from incc.report.resources import DECIMALS, llvm_resources, own_throughput, port_title, refused_statement, rounded
from incc.report.source.compiled import compiled
from incc.report.unit_result import REPORT_SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from incc.core import Analysis, Chain, Edge, Simulation, Step
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements
    from incc.core.ranges import KernelRange
    from incc.core.waits import Waits
    from incc.core.ways import Ways
    from incc.frontends.asm.places import UserPlace
    from incc.frontends.isa import Effects
    from incc.frontends.kernel import Frame, Instruction, Kernel, SourceLocation
    from incc.measuring.harness import Failure
    from incc.measuring.kernels import KernelMeasurement
    from incc.models.binding.bound import BoundKernel
    from incc.models.model import Form
    from incc.report.hints.advice import Build
    from incc.report.source.written import Written
    from incc.report.unit_result import ReportSettings


def kernel_report(
    result: KernelResult,
    *,
    kernel_id: str = "",
    source_lines: Mapping[int, SourceLocation] | None = None,
    near: SourceLocation | None = None,
    place: UserPlace | None = None,
    column: int = 0,
    user_function: str = "",
    settings: ReportSettings = REPORT_SETTINGS,
    notes: Sequence[str] = (),
    ways: Ways | None = None,
    elements: Elements | None = None,
    step: int = 0,
    build: Build = ASSEMBLY,
    measured: KernelMeasurement | Failure | None = None,
    host: tuple[str, bool] = ("", False),
    written: Written | None = None,
) -> t.Kernel:
    """Return the report on one kernel.

    Args:
        result: the kernel's analysis.
        kernel_id: its identity, from `identity.kernel_ids`.
        source_lines: the place in the user's source of each assembly line.
        near: the nearest place in the function's own source, if the kernel comes from elsewhere.
        place: the place in the user's source, from debug information.
        column: the column in that line.
        user_function: the user's function that the kernel's is a part of, if the compiler split it.
        settings: the parts and the notation of the report.
        notes: notes that follow those of the region and of the result.
        ways: the paths through the loop, if there are branches inside.
        elements: the elements per iteration; None if unknown.
        step: bytes by which the fastest stream advances per iteration. The role depends on other kernels; see
            `roles.set_role`.
        build: the compilation of the unit.
        measured: the measurement on this machine, if requested.
        host: the host's core, and True if the result's model is of that core.
        written: LLVM's spelling of the instructions; None to keep the assembly's.
    """
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
    region = kernel.region
    fixed_ports = result.settings.fixed_ports
    unknown = result.unknown
    # Without a steady state the report has no figures of one.
    steady = result.settings.steady
    bounds = verdict.bounds(result, explained=steady)
    spread = find_range(result, ways) if steady else None
    at_least = bool(kernel.refused or not_counted(result))
    load = rounded(analysis.fixed_port_load if fixed_ports else analysis.port_load)
    busiest = verdict.busiest_ports(bound, analysis, fixed_ports)
    work, moved = figures.operations(kernel), figures.traffic(kernel)
    simulation = result.simulation
    range_ = kernel_range(result, spread)
    of_host = None
    if measured is not None:
        from incc.report.measured import measured_part

        of_host = measured_part(result, measured, host, range_)
    return t.Kernel(
        kernel_id=kernel_id,
        content_hash=content_hash(kernel),
        name=kernel.name,
        cycles=float(result.cycles),
        kind=region.kind if region else "code",
        function=region.function if region else "",
        function_name=user_function or (region.function if region else ""),
        source=location(region.source) if region else None,
        column=column,
        source_function=place.function if place else region.function if region else "",
        near=location(near),
        inlined=[_frame(frame) for frame in place.inlined] if place else [],
        inlined_into=[_frame(frame) for frame in place.inlined_into] if place else [],
        remarks=[],
        role=t.Role(name="", of="", instead=False, basis="inferred", text=""),
        compiled=compiled(region.compiled) if region and region.compiled else None,
        elements=_elements(result, elements) if elements else None,
        rates=_rates(
            figures.rates(work, moved, result.cycles, elements.per_iteration if elements else None, settings.ghz)
        ),
        range=range_,
        mispredictions=mispredicted(result, ways, settings.mispredict_rate),
        measured=of_host,
        at_least=at_least,
        overview=t.Overview(function="", limit="", vector="", look=""),
        label=region.label if region else "",
        first_line=region.first_line if region else 0,
        last_line=region.last_line if region else 0,
        depth=region.depth if region else 0,
        is_loop=kernel.is_loop,
        isa=kernel.isa,
        notes=[*(region.notes if region else ()), *_rare(kernel, rare_calls(result, ways)), *result.notes, *notes],
        size=t.Size(
            instructions=len(kernel.instructions),
            bytes=sum(instruction.length for instruction in kernel.instructions),
            issue_slots=sum(bound.issue_slots),
            retire_slots=sum(bound.retire_slots),
            uops=len(bound.uop_ports),
        ),
        arithmetic=_arithmetic(work, moved),
        memory=_memory(kernel, bound, moved, analysis, step),
        verdict=verdict.sentence(result, bounds) if steady else "",
        hints=_hints(result, build, spread) if steady else [],
        bounds=bounds,
        simulated=_simulated(bound, simulation) if simulation else None,
        what_ifs=_what_ifs(result),
        cold=cold_report(result) if result.cold else None,
        alignments=[ratio(cycles) for cycles in result.alignments],
        dispatch_width=bound.issue_width,
        port_assignment="equal" if fixed_ports else "balanced",
        resources=[
            t.Resource(
                name=name,
                kind="port" if p < bound.n_ports else "unit",
                title=port_title(bound, p),
                load=load[p],
                busiest=p in busiest,
            )
            for p, name in enumerate(bound.port_names)
        ],
        llvm_resources=llvm_resources(result),
        instructions=_instructions(result, source_lines or {}, written),
        critical_path=t.CriticalPath(
            cycles=analysis.critical_path_cycles,
            instructions=list(analysis.critical_path_instructions),
            steps=[_step(kernel, bound, step) for step in analysis.critical_path],
        ),
        chains=[_chain(kernel, bound, chain) for chain in analysis.chains],
        chains_complete=analysis.chains_complete,
        dependencies=_dependencies(kernel, bound, analysis) if steady else [],
        waits=_waits(bound, result.waits) if result.waits else None,
        timeline=_timeline(result) if result.events is not None else None,
        unknown_instructions=[
            t.UnknownInstruction(
                index=i,
                line=kernel.instructions[i].line,
                text=kernel.instructions[i].text,
                form=kernel.instructions[i].form,
            )
            for i in unknown
        ],
        refused=[refused_statement(refused) for refused in kernel.refused],
        summary=_summary(result, settings.iterations),
    )


def _hints(result: KernelResult, build: Build, spread: KernelRange | None) -> list[t.Hint]:
    return verdict.consistent(hints(result, build, spread), result)


def _rare(kernel: Kernel, calls: Sequence[Instruction]) -> list[str]:
    """Return notes on the paths through the loop that its range leaves out."""
    if not calls:
        return []
    names = wording.distinct(call.target or "a function" for call in calls)
    lines = wording.distinct(str(call.line) for call in calls)
    where = f"line{'' if len(lines) == 1 else 's'} {', '.join(lines)}"
    return [
        f"calls of {wording.listed(names)} ({where}) are assumed to be rare, so they and their branches do not count"
    ]


def ratio(cycles: Fraction) -> t.Ratio:
    """Return a number of cycles as a decimal and an exact number."""
    return t.Ratio(cycles=float(cycles), exact=str(cycles))


# --- parts of a kernel ------------------------------------------------------------------------------------------------


def location(place: SourceLocation | None) -> t.Location | None:
    """Return a place in the source."""
    return t.Location(file=place.file, line=place.line) if place else None


def _frame(frame: Frame) -> t.Frame:
    return t.Frame(function=frame.function, file=frame.file, line=frame.line)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, DECIMALS)


def _elements(result: KernelResult, elements: Elements) -> t.Elements:
    number, each = elements.per_iteration, float(result.cycles / elements.per_iteration)
    least = "at least " if result.kernel.refused or not_counted(result) else ""
    return t.Elements(
        per_iteration=float(number),
        cycles=round(each, DECIMALS),
        basis=elements.basis,
        why=elements.why,
        text=f"{least}{float(result.cycles):.2f} cycles per iteration, {each:.2f} per element "
        f"({float(number):g} {'element' if number == 1 else 'elements'} per iteration, "
        f"{'inferred' if elements.basis == 'inferred' else 'according to the compiler'})",
    )


def _rates(rates: figures.Rates | None) -> t.Rates | None:
    if rates is None:
        return None
    seconds = [_rounded(rates.in_a_second(amount)) for amount in (rates.flop, rates.bytes, rates.elements)]
    units = ("GFLOP/s", "GB/s loaded and stored (L1)", "G elements/s")
    rates_text = ", ".join(f"{amount:.4g} {unit}" for amount, unit in zip(seconds, units, strict=True) if amount)
    return t.Rates(
        flop_per_cycle=round(rates.flop, DECIMALS),
        bytes_per_cycle=round(rates.bytes, DECIMALS),
        elements_per_cycle=_rounded(rates.elements),
        ghz=rates.ghz or None,
        gflop_per_second=seconds[0],
        gigabytes_per_second=seconds[1],
        gigaelements_per_second=seconds[2],
        text=f"{rates_text} at {rates.ghz:g} GHz" if rates_text else "",
    )


def _summary(result: KernelResult, iterations: int) -> t.Summary:
    summary = figures.summary(result, iterations)
    return t.Summary(
        iterations=summary.iterations,
        instructions=summary.instructions,
        cycles=summary.cycles,
        uops=summary.uops,
        dispatch_width=summary.dispatch_width,
        uops_per_cycle=round(summary.uops_per_cycle, DECIMALS),
        ipc=round(summary.ipc, DECIMALS),
        block_rthroughput=float(summary.block_rthroughput),
    )


def _arithmetic(work: figures.Operations, moved: figures.Traffic) -> t.Arithmetic:
    return t.Arithmetic(
        flop=work.flop,
        flop_packed=work.flop_packed,
        integer_operations=work.integer,
        integer_operations_packed=work.integer_packed,
        packed_share=_rounded(work.packed_share),
        vector_bits=work.vector_bits,
        flop_per_byte=_rounded(figures.intensity(work, moved)),
        text=_vectorisation(work, moved),
    )


def _memory(kernel: Kernel, bound: BoundKernel, moved: figures.Traffic, analysis: Analysis, step: int) -> t.Memory:
    flags = bound.instruction_flags
    frame = [flags[i] for i, instruction in enumerate(kernel.instructions) if _on_frame(kernel, instruction)]
    return t.Memory(
        bytes_loaded=moved.bytes_loaded,
        bytes_stored=moved.bytes_stored,
        unsized_accesses=moved.unsized_accesses,
        loads=sum(bool(each & IS_LOAD) for each in flags),
        stores=sum(bool(each & IS_STORE) for each in flags),
        spills=sum(bool(each & IS_STORE) for each in frame),
        reloads=sum(bool(each & IS_LOAD) for each in frame),
        step=step,
        widest_access_bits=moved.widest_access_bits,
        line_crossings=round(float(analysis.line_crossings), DECIMALS),
        worst_line_crossings=round(float(analysis.worst_line_crossings), DECIMALS),
        expected_line_crossings=round(float(analysis.expected_line_crossings), DECIMALS),
        worst_alignment_port_bound=round(float(analysis.worst_alignment_port_bound), DECIMALS),
    )


def _on_frame(kernel: Kernel, instruction: Instruction) -> bool:
    """Return True if an instruction accesses a fixed place of the stack frame; return addresses do not count."""
    if not instruction.memory or instruction.branch:
        return False
    on_frame = isa(kernel.isa).on_frame
    return any((access.load or access.store) and on_frame(access) for access in instruction.memory)


def _vectorisation(work: figures.Operations, moved: figures.Traffic) -> str:
    """Return a description of the vectorised share of the arithmetic."""
    if not work.flop and not work.integer:
        widest = moved.widest_access_bits
        return f"no vector arithmetic, {widest}-bit memory accesses" if widest >= 128 else "no vector arithmetic"
    operations = [f"{work.flop} flop"] * bool(work.flop)
    operations += [wording.counted(work.integer, "integer operation")] * bool(work.integer)
    if not work.vector_bits or work.packed_share is None:
        return f"{wording.listed(operations)}, all scalar"
    share = wording.number(100 * work.packed_share)
    return f"{share} % of {wording.listed(operations)} in {work.vector_bits}-bit vectors"


def _lines(kernel: Kernel) -> Sequence[int]:
    """Return the line of each instruction in its source; for objects, which have none, the region's lines."""
    lines = [instruction.line for instruction in kernel.instructions]
    region = kernel.region
    return region.lines if region and not any(lines) and len(region.lines) == len(lines) else lines


_Kept = tuple[
    "dict[tuple[tuple[int, int], ...], tuple[str, t.Ratio]]",
    "dict[tuple[str, tuple[int, ...], tuple[tuple[int, int], ...]], list[str]]",
]
"""Data cached with a model: ports and throughput of µops, and effects of instructions."""


def _instructions(
    result: KernelResult, source_lines: Mapping[int, SourceLocation], written: Written | None
) -> list[t.Instruction]:
    kernel, bound, analysis, forms = result.kernel, result.bound, result.analysis, result.forms
    pressure = analysis.fixed_pressure if result.settings.fixed_ports else analysis.pressure
    path = analysis.critical_path
    on_path = figures.cycles_by_instruction(analysis.critical_path_instructions, path)
    if analysis.critical_path_instructions:
        # Cycles outside the steps pass before the path's first value is ready.
        start = analysis.critical_path_cycles - sum(step.latency for step in path)
        on_path[path[0].producer if path else analysis.critical_path_instructions[0]] += start
    in_chain: dict[int, int] = {}
    if analysis.chains:
        steps = analysis.chains[0].steps
        in_chain = figures.cycles_by_instruction((step.consumer for step in steps), steps)
    # kernels repeat few kinds of instruction
    kept: _Kept = result.model.pieces.setdefault("report", ({}, {}))
    uop_texts, works = kept
    rows: list[t.Instruction] = []
    lines = _lines(kernel)
    described: dict[tuple[bytes, str], Effects] = {}
    llvm_effects = isa(kernel.isa).llvm_effects
    for i, instruction in enumerate(kernel.instructions):
        flags = bound.instruction_flags[i]
        alike = instruction.encoding, instruction.text[:4]  # `rep nop` are the bytes of `pause`
        effects = described.get(alike)
        if effects is None:
            effects = described[alike] = llvm_effects(instruction)
        form = forms[i] if forms else None
        first, last = bound.uop_start[i], bound.uop_start[i + 1]
        uops = tuple(zip(bound.uop_ports[first:last], bound.uop_cycles[first:last], strict=True))
        if uops not in uop_texts:
            uop_texts[uops] = _port_usage(uops, bound), own_throughput(uops, bound.n_ports)
        usage, throughput = uop_texts[uops]
        # The form and the kinds of its µops determine an instruction's work.
        kinds = tuple(bound.uop_kind[first:last])
        if (key := (instruction.form, kinds, uops)) not in works:
            works[key] = _works(kernel, bound, i)
        rows.append(
            t.Instruction(
                index=i,
                line=instruction.line,
                source=location(source_lines.get(lines[i])),
                text=written.text(instruction) if written else instruction.text,
                bytes=instruction.length,
                encoding=(written.encoding(instruction) if written else instruction.encoding).hex(),
                form=instruction.form,
                unknown=bool(flags & UNKNOWN),
                latency=bound.latency[i],
                load_latency=bound.load_latency[i],
                issue_slots=bound.issue_slots[i],
                retire_slots=bound.retire_slots[i],
                uops=last - first,
                ports=usage,
                work=list(works[key]),
                rthroughput=throughput,
                measured_rthroughput=form.throughput if form else None,
                loads=bool(flags & IS_LOAD),
                stores=bool(flags & IS_STORE),
                may_load=effects.may_load,
                may_store=effects.may_store,
                side_effects=effects.side_effects,
                load_barrier=effects.load_barrier,
                store_barrier=effects.store_barrier,
                frame=_on_frame(kernel, instruction),
                macro_fused=bool(flags & FUSED_INTO_PREVIOUS),
                eliminated=bool(flags & ELIMINATED),
                zero_idiom=bool(flags & ZEROED),
                pressure=rounded(pressure[i]),
                critical_path_cycles=on_path.get(i),
                chain_cycles=in_chain.get(i),
                figures=t.Figures(source=form.source, derived=form.derived) if form else None,
                remarks=_remarks(flags, form),
            )
        )
    return rows


def _remarks(flags: int, form: Form | None) -> str:
    """Return one letter for each caveat on an instruction's figures; the views explain them."""
    return (
        "X" * bool(flags & UNKNOWN)
        + "F" * bool(flags & FUSED_INTO_PREVIOUS)
        + "E" * bool(flags & ELIMINATED)
        + "Z" * bool(flags & ZEROED)
        + "D" * bool(form and form.derived)
    )


def _works(kernel: Kernel, bound: BoundKernel, i: int) -> list[str]:
    """Return the work of an instruction's µops, in the order of the terms of `_port_usage`."""
    instruction = kernel.instructions[i]
    terms: dict[int, dict[str, None]] = {}
    for u in range(bound.uop_start[i], bound.uop_start[i + 1]):
        terms.setdefault(bound.uop_ports[u], {})[verdict.use_of(kernel, instruction, bound.uop_kind[u])] = None
    # Units come last, as in `_port_usage`.
    ordered = sorted(terms, key=lambda mask: mask >> bound.n_ports != 0)
    return [" and ".join(terms[mask]) for mask in ordered] or [isa(kernel.isa).work_of(instruction)]


def _port_usage(uops: Sequence[tuple[int, int]], bound: BoundKernel) -> str:
    """Return uops.info's notation: µops times their allowed ports, "1*p01+1*p23"; then cycles on units, "8*0DV"."""
    ports: dict[int, int] = {}
    units: dict[int, int] = {}
    for mask, cycles in uops:
        if mask >> bound.n_ports:
            units[mask] = units.get(mask, 0) + cycles
        else:
            ports[mask] = ports.get(mask, 0) + 1
    terms = [f"{count}*p{''.join(_port_names(mask, bound))}" for mask, count in ports.items()]
    terms += [f"{cycles}*{''.join(_port_names(mask, bound))}" for mask, cycles in units.items()]
    return "+".join(terms)


def _port_names(mask: int, bound: BoundKernel) -> list[str]:
    names = [name for p, name in enumerate(bound.port_names) if mask >> p & 1]
    return names if all(len(name) == 1 for name in names) or len(names) == 1 else ["(", ",".join(names), ")"]


# --- simulation -------------------------------------------------------------------------------------------------------


def _simulated(bound: BoundKernel, run: Simulation) -> t.Simulated:
    """Return the simulation's results and counters; shares are of the whole run including its start."""

    def share(count: int, whole: int) -> float:
        return round(count / (whole or 1), DECIMALS)

    uops, delivered = run.uops_by_source, sum(astuple(run.uops_by_source))
    lost, slots = run.lost_slots, run.cycles * bound.issue_width
    moves = run.moves_eliminated + run.moves_executed
    return t.Simulated(
        cycles=float(run.cycles_per_iteration),
        exact=str(run.cycles_per_iteration),
        period=run.period,
        iterations=run.iterations,
        run_cycles=run.cycles,
        uops=t.Uops(
            decoders=share(uops.decoders, delivered),
            uop_cache=share(uops.uop_cache, delivered),
            loop_stream_detector=share(uops.loop_stream_detector, delivered),
            microcode=share(uops.microcode, delivered),
        ),
        lost_slots=t.LostSlots(
            no_uops=share(lost.no_uops, slots),
            reorder_buffer=share(lost.reorder_buffer, slots),
            scheduler=share(lost.scheduler, slots),
            group=share(lost.group, slots),
            load_buffer=share(lost.load_buffer, slots),
            store_buffer=share(lost.store_buffer, slots),
            registers=share(lost.registers, slots),
        ),
        port_uops=[share(count, run.cycles) for count in run.port_uops[: len(bound.port_names)]],
        moves=t.Moves(
            eliminated=share(run.moves_eliminated, moves),
            executed=share(run.moves_executed, moves),
        ),
    )


def _what_ifs(result: KernelResult) -> list[t.WhatIf]:
    return [
        t.WhatIf(
            change=w.name,
            text=w.text,
            cycles=float(w.cycles),
            exact=str(w.cycles),
            gained=round(float(result.cycles - w.cycles), DECIMALS),
            asked=w.asked,
        )
        for w in result.what_ifs
    ]


def _waits(bound: BoundKernel, waits: Waits) -> t.Waits:
    def at_ports(table: Mapping[tuple[int, int], float]) -> list[t.PortWait]:
        return [
            t.PortWait(instruction=i, resource=bound.port_names[port], cycles=round(cycles, DECIMALS))
            for (i, port), cycles in table.items()
        ]

    return t.Waits(
        instructions=[
            t.WaitsInstruction(
                had_to_wait=round(had, DECIMALS),
                for_inputs=round(for_inputs, DECIMALS),
                for_ports=round(had - for_inputs, DECIMALS),
                caused_to_wait=round(caused, DECIMALS),
            )
            for had, for_inputs, caused in zip(waits.had, waits.for_inputs, waits.caused, strict=True)
        ],
        inputs=[
            t.InputWait(instruction=i, producer=producer, cycles=round(cycles, DECIMALS))
            for (i, producer), cycles in waits.inputs.items()
        ],
        ports=at_ports(waits.ports),
        blocked=at_ports(waits.blocked),
    )


# --- dependencies -----------------------------------------------------------------------------------------------------


def _step(kernel: Kernel, bound: BoundKernel, step: Step | Edge) -> t.Step:
    kind, via = wording.carrier(kernel, bound, step)
    return t.Step(
        producer=step.producer,
        to=step.consumer,
        kind=kind,
        via=via,
        latency=step.latency,
        distance=step.distance,
    )


def _chain(kernel: Kernel, bound: BoundKernel, chain: Chain) -> t.Chain:
    instructions = verdict.chain_instructions(chain)
    return t.Chain(
        cycles_per_iteration=ratio(chain.cycles_per_iteration),
        latency=chain.latency,
        iterations=chain.distance,
        through=verdict.carriers(kernel, bound, chain),
        instructions=instructions,
        lines=[kernel.instructions[i].line for i in instructions],
        steps=[_step(kernel, bound, step) for step in chain.steps],
    )


def _dependencies(kernel: Kernel, bound: BoundKernel, analysis: Analysis) -> list[t.Dependency]:
    """Return the dependency graph between instructions.

    Of several dependencies between the same instructions through the same register only the slowest is listed. Each
    carries the critical path's flag and the indices of its chains.
    """
    slowest: dict[tuple[int, int, int, int], Edge] = {}
    for edge in analysis.edges:
        key = _key(edge)
        if edge.producer == edge.consumer and not edge.distance:
            continue  # from the loaded value to the result of the same instruction
        if key not in slowest or slowest[key].latency < edge.latency:
            slowest[key] = edge
    path = {_key(step) for step in analysis.critical_path}
    chains: dict[tuple[int, int, int, int], list[int]] = {}
    for number, chain in enumerate(analysis.chains):
        for key in dict.fromkeys(_key(step) for step in chain.steps):
            chains.setdefault(key, []).append(number)
    return [
        t.Dependency(
            **asdict(_step(kernel, bound, slowest[key])), critical_path=key in path, chains=chains.get(key, [])
        )
        for key in sorted(slowest)
    ]


def _key(edge: Edge | Step) -> tuple[int, int, int, int]:
    return edge.producer, edge.consumer, edge.distance, edge.location


# --- timeline ---------------------------------------------------------------------------------------------------------


def _timeline(result: KernelResult) -> t.Timeline:
    """Return the simulated iterations and llvm-mca's average waiting times in cycles, by instruction and in total."""
    events, names = result.events or (), result.bound.port_names

    def averages() -> figures.Timeline:
        return figures.timeline(events, result.started, len(result.kernel.instructions))

    shared = result.known if result.started else None
    # Identical kernels share the record of their µops.
    timeline: figures.Timeline = shared.once("timeline", result.started, averages) if shared else averages()
    return t.Timeline(
        iterations=timeline.iterations,
        cycles=timeline.cycles,
        events=[
            t.Event(
                iteration=event.iteration,
                instruction=event.instruction,
                dispatched=event.dispatched,
                earliest=earliest,
                ready=event.ready,
                started=event.started,
                executed=event.executed,
                retired=event.retired,
                ports=[names[p] if p >= 0 else None for p in event.ports],
            )
            for event, earliest in zip(events, timeline.earliest, strict=True)
        ],
        uops=[_uop(result, uop, timeline.uops) for uop in timeline.uops],
        waits=[_waiting(wait) for wait in timeline.waits],
        total_wait=_waiting(timeline.total),
    )


_KINDS: dict[int, t.UopKindName] = {
    UOP_COMPUTE: "compute",
    UOP_LOAD: "load",
    UOP_STORE_ADDRESS: "store-address",
    UOP_STORE_DATA: "store-data",
    UOP_BRANCH: "branch",
}


def _uop(result: KernelResult, shown: figures.ShownUop, uops: Sequence[figures.ShownUop]) -> t.TimelineUop:
    """Return a µop of the timeline; `uops` are all of them."""
    uop, bound = shown.uop, result.bound
    kind: t.UopKindName = "renamer" if uop.uop == RENAMERS else "compute"
    inputs: list[t.UopInput] = []
    for producer, location, arrived in shown.inputs:
        carrier, via = wording.input_carrier(result.kernel, bound, uop.instruction, location)
        inputs.append(
            t.UopInput(
                producer=producer,
                kind=carrier,
                via=via,
                arrived=arrived,
                latency=arrived - uops[producer].uop.started,
            )
        )
    return t.TimelineUop(
        iteration=uop.iteration,
        instruction=uop.instruction,
        kind=_KINDS[bound.uop_kind[uop.uop]] if uop.uop >= 0 else kind,
        port=bound.port_names[uop.port],
        unit=bound.port_names[uop.unit] if uop.unit >= 0 else None,
        dispatched=uop.dispatched,
        earliest=uop.earliest,
        ready=uop.ready,
        started=uop.started,
        executed=uop.executed,
        retired=shown.retired,
        inputs=inputs,
        last_input=shown.last_input,
    )


def _waiting(wait: figures.Waiting) -> t.Wait:
    return t.Wait(
        executions=wait.executions,
        in_scheduler=round(wait.in_scheduler, DECIMALS),
        in_scheduler_while_ready=round(wait.in_scheduler_while_ready, DECIMALS),
        until_retire=round(wait.until_retire, DECIMALS),
    )
