"""The report on one kernel: every figure that a view prints, as JSON-able data."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import asdict, astuple

from incc.core import RENAMERS, Analysis, Chain, Edge, PathStep, Simulation, figures
from incc.core.counters import LostSlots, UopsBySource
from incc.core.figures import DECIMALS
from incc.core.ranges import cold_lines, find_range, not_counted, rare_calls
from incc.frontends.asm.places import UserPlace
from incc.frontends.isa import Effects, isa
from incc.frontends.kernel import Instruction, KernelCode, Region, SourceLocation
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
    BoundKernel,
)
from incc.report import types as t
from incc.report import verdict, wording
from incc.report.hints import hints
from incc.report.hints.advice import ASSEMBLY, CompilerCall
from incc.report.hints.context import HintContext, Replacement
from incc.report.identity import content_hash
from incc.report.parts.accesses import access_notes, access_patterns
from incc.report.parts.cold import cold_report
from incc.report.parts.data import data_report
from incc.report.parts.range import kernel_range, mispredicted
from incc.report.parts.resources import llvm_resources, own_throughput, resources, rounded
from incc.report.source.compiled import compiled
from incc.report.unit_result import KernelPlace, UnitResult

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.core.elements import Elements
    from incc.core.roles import LoopPart
    from incc.core.waits import Waits
    from incc.models.model import Form
    from incc.report.source.written import Written

_Counters = TypeVar("_Counters", "LostSlots", "UopsBySource")

_NO_REGION = Region(kind="code", name="", first_line=0, last_line=0, lines=(), body_lines=())
"""The region of machine code without a text."""

_NO_PLACE = KernelPlace(lines={}, near=None)


def kernel_report(
    unit: UnitResult,
    number: int,
    part: LoopPart,
    build: CompilerCall = ASSEMBLY,
    written: Written | None = None,
    remainder: KernelResult | None = None,
    advised: bool = True,
    tables: bool = True,
) -> t.KernelReport:
    """Return the report on one kernel.

    Args:
        unit: the results of the kernel's unit.
        number: the kernel's index among them.
        part: its elements. Its role depends on other kernels; see `roles.set_role`.
        build: the compilation of the unit.
        written: LLVM's spelling of the instructions; None to keep the assembly's.
        remainder: the loop that does the iterations that the kernel leaves over, one by one; None without one.
        advised: False for a kernel whose hints nobody reads.
        tables: False for a kernel whose instructions, dependencies and paths nobody reads.
    """
    result = unit.results[number]
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
    region = kernel.region or _NO_REGION
    place = unit.places[number] if unit.places else _NO_PLACE
    debug = place.place or _unknown_place(region)
    ways = unit.inside[number] if unit.inside else None
    # Without a steady state the report has no figures of one.
    steady = result.settings.steady
    advised = advised and steady
    bounds = verdict.bounds(result, explained=steady)
    spread = find_range(result, ways) if advised else None
    range_ = None if result.settings.for_advice else kernel_range(result, spread)
    work, moved = figures.operations(kernel), figures.traffic(kernel, bound.instruction_flags, part.step)
    elements, what_ifs = part.elements, _what_ifs(result)
    accesses = access_patterns(result, elements)
    context = HintContext(
        build=build,
        elements=elements.per_iteration if elements else Fraction(1),
        trips=_trips(unit, region),
        accesses=accesses,
        ways=ways,
        spread=spread,
        remainder=remainder,
        added=part.role.name not in ("main", "partial", ""),
        replaced_by=_replacement(unit, number),
    )
    report = t.KernelReport(
        kernel_id=unit.kernel_ids[number] if unit.kernel_ids else "",
        content_hash=content_hash(kernel),
        name=kernel.name,
        cycles=float(result.cycles),
        kind=region.kind,
        function=region.function,
        function_name=unit.user_functions.get(region.function, region.function),
        source=region.source,
        column=_column(region, place),
        source_function=debug.function,
        near=place.near,
        inlined=list(debug.inlined),
        inlined_into=list(debug.inlined_into),
        remarks=[],
        role=t.RoleReport(name="", of="", instead=False, basis="inferred", text=""),
        compiled=compiled(region.compiled) if region.compiled else None,
        elements=_elements(result, elements, unit.near_trips.get(number)) if elements else None,
        rates=figures.rates(work, moved, result.cycles, elements, unit.settings.ghz),
        range=range_,
        mispredictions=mispredicted(result, ways, unit.settings.mispredict_rate),
        measured=_measured(unit, number, range_),
        at_least=bool(kernel.refused or not_counted(result)),
        overview=t.Overview(function="", limit="", vector="", look=""),
        label=region.label,
        first_line=region.first_line,
        last_line=region.last_line,
        outer=region.outer,
        spans=list(kernel.spans),
        depth=region.depth,
        is_loop=kernel.is_loop,
        isa=kernel.isa,
        notes=[
            *_region_notes(kernel, region),
            *_rare(kernel, rare_calls(result, ways), cold_lines(result, ways)),
            *result.notes,
            *unit.notes,
        ],
        size=_size(kernel, bound),
        arithmetic=t.ArithmeticReport(
            **asdict(work), flop_per_byte=figures.intensity(work, moved), text=_vectorisation(work, moved)
        ),
        memory=_memory(moved, analysis),
        accesses=accesses,
        access_notes=access_notes(kernel, accesses),
        verdict=verdict.sentence(result, bounds, what_ifs) if steady else "",
        hints=verdict.consistent(hints(result, context), result) if advised else [],
        bounds=bounds,
        simulated=_simulated(bound, result.simulation) if result.simulation else None,
        what_ifs=what_ifs,
        decrements=_decrements(result) if unit.settings.decrements else None,
        data=data_report(result, elements, accesses, unit.passes.get(number, ())),
        quality=_quality(result, elements) if unit.settings.quality else None,
        cold=cold_report(result) if result.cold else None,
        alignments=[ratio(cycles) for cycles in result.alignments],
        dispatch_width=bound.issue_width,
        port_assignment="equal" if result.settings.fixed_ports else "balanced",
        resources=resources(result),
        llvm_resources=None,
        instructions=[],
        critical_path=t.CriticalPath(
            cycles=analysis.critical_path_cycles,
            instructions=list(analysis.critical_path_instructions),
            steps=[],
        ),
        chains=[_chain(kernel, bound, chain) for chain in analysis.chains[:1]],
        chains_complete=analysis.chains_complete,
        dependencies=[],
        waits=_waits(bound, result.waits) if result.waits else None,
        timeline=_timeline(result) if result.events is not None else None,
        unknown_instructions=_unknown_instructions(result),
        refused=list(kernel.refused),
        summary=figures.summary(result, unit.settings.iterations),
        incomplete=result.settings.for_advice,
    )
    if tables:
        _add_tables(report, result, place.lines, written)
    return report


def _unknown_place(region: Region) -> UserPlace:
    """Return the place of a kernel without debug information."""
    return UserPlace(source=None, function=region.function, inlined=(), inlined_into=(), is_users=False)


def _add_tables(
    report: t.KernelReport, result: KernelResult, lines: Mapping[int, SourceLocation], written: Written | None
) -> None:
    """Add the instructions, dependencies and paths of a kernel; `lines` are the places of the assembly's lines."""
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
    report.llvm_resources = llvm_resources(result)
    report.instructions = _instructions(result, lines, written)
    report.critical_path.steps.extend(_step(kernel, bound, step) for step in analysis.critical_path)
    report.chains.extend(_chain(kernel, bound, chain) for chain in analysis.chains[1:])
    report.dependencies = _dependencies(result)


def _trips(unit: UnitResult, region: Region) -> int:
    """Return the iterations of the source's loop each time it is entered, as compiler or user say; 0 if unknown."""
    if region.compiled is not None and region.compiled.source_trip_count:
        return region.compiled.source_trip_count
    trips = unit.trips.get(region.function)
    return trips.lines.get(region.source.line if region.source else 0, trips.inner) if trips else 0


def remainders(unit: UnitResult) -> dict[int, KernelResult]:
    """Return the loop that does the iterations that a kernel leaves over, one by one, by the kernel's index."""
    found: dict[int, KernelResult] = {}
    for part, result in zip(unit.parts, unit.results, strict=False):
        if part.role.name == "remainder" and part.elements is not None and part.elements.per_iteration == 1:
            found.setdefault(part.role.of, result)
    return found


def _replacement(unit: UnitResult, number: int) -> Replacement | None:
    """Return the loop that runs instead of a kernel in every call, if there is one."""
    other = unit.replaced.get(number)
    if other is None or not (step := unit.parts[number].step):
        return None
    return Replacement(unit.results[other], Fraction(unit.parts[other].step, step))


def _column(region: Region, place: KernelPlace) -> int:
    """Return the column of the kernel's place if its last instruction, which closes a loop, has that place."""
    if region.source is None or not region.lines:
        return 0
    last = region.lines[-1]
    line, column = place.columns.get(last, (0, 0))
    return column if place.lines.get(last) == region.source and line == region.source.line else 0


def _measured(unit: UnitResult, number: int, spread: t.Range | None) -> t.MeasurementReport | None:
    if not unit.measured:
        return None
    from incc.report.parts.measured import measured_part

    return measured_part(unit.results[number], unit.measured[number], unit.host, spread)


def _decrements(result: KernelResult) -> list[t.DecrementReport]:
    from incc.report.parts.decrements import decrement_reports

    return decrement_reports(result)


def _quality(result: KernelResult, elements: Elements | None) -> t.QualityReport:
    from incc.report.parts.quality import quality_report

    return quality_report(result, elements)


def _size(kernel: KernelCode, bound: BoundKernel) -> t.Size:
    return t.Size(
        instructions=len(kernel.instructions),
        bytes=sum(instruction.length for instruction in kernel.instructions),
        issue_slots=sum(bound.issue_slots),
        retire_slots=sum(bound.retire_slots),
        uops=len(bound.uop_ports),
    )


def _unknown_instructions(result: KernelResult) -> list[t.UnknownInstruction]:
    instructions = [(i, result.kernel.instructions[i]) for i in result.unknown]
    return [t.UnknownInstruction(index=i, line=each.line, text=each.text, form=each.form) for i, each in instructions]


def _encoding(instruction: Instruction, written: Written | None) -> str:
    """Return an instruction's machine code in hexadecimal, "" if its statement was not assembled."""
    if not instruction.assembled:
        return ""
    return (written.encoding(instruction) if written else instruction.encoding).hex()


def _region_notes(kernel: KernelCode, region: Region) -> Sequence[str]:
    """Return the notes on a region, whose lines are those of the assembly."""
    if kernel.line_names is None:
        return region.notes
    return [re.sub(r"\(lines? (?=\d)", "(asm ", note) for note in region.notes]


def _rare(kernel: KernelCode, calls: Sequence[Instruction], cold: Sequence[int]) -> list[str]:
    """Return notes on the paths through the loop that its range leaves out."""
    notes = []
    if cold:
        branches, are = ("the branch", "is") if len(cold) == 1 else ("the branches", "are")
        where = wording.lines_of(kernel, cold)
        notes.append(
            f"{branches} in {where} to code for NaNs or in a section for unlikely code {are} assumed to be rare"
        )
    if not calls:
        return notes
    names = wording.distinct(call.target or "a function" for call in calls)
    where = wording.lines_of(kernel, [call.line for call in calls])
    return [
        *notes,
        f"calls of {wording.listed(names)} ({where}) are assumed to be rare, so they and their branches do not count",
    ]


def ratio(cycles: Fraction) -> t.Ratio:
    """Return a number of cycles as a decimal and an exact number."""
    return t.Ratio(cycles=float(cycles), exact=str(cycles))


# --- parts of a kernel ------------------------------------------------------------------------------------------------


def _elements(result: KernelResult, elements: Elements, near_trips: int | None) -> t.ElementsReport:
    number, each = elements.per_iteration, float(result.cycles / elements.per_iteration)
    least = "at least " if result.kernel.refused or not_counted(result) else ""
    near = f"; whole calls come within 10 % of that from {near_trips} elements on" if near_trips else ""
    return t.ElementsReport(
        per_iteration=float(number),
        cycles=round(each, DECIMALS),
        basis=elements.basis,
        why=elements.why,
        near_trips=near_trips,
        text=f"{least}{float(result.cycles):.2f} cycles per iteration, {each:.2f} per element "
        f"({float(number):g} {'element' if number == 1 else 'elements'} per iteration, "
        f"{'inferred' if elements.basis == 'inferred' else 'according to the compiler'}){near}",
    )


def _memory(moved: figures.AccessTraffic, analysis: Analysis) -> t.Memory:
    return t.Memory(
        **asdict(moved),
        line_crossings=round(float(analysis.line_crossings), DECIMALS),
        worst_line_crossings=round(float(analysis.worst_line_crossings), DECIMALS),
        expected_line_crossings=round(float(analysis.expected_line_crossings), DECIMALS),
        worst_alignment_port_bound=round(float(analysis.worst_alignment_port_bound), DECIMALS),
    )


def _vectorisation(work: figures.Operations, moved: figures.AccessTraffic) -> str:
    """Return a description of the vectorised share of the arithmetic."""
    if not work.flop and not work.integer_operations:
        widest = moved.widest_access_bits
        return f"no vector arithmetic, {widest}-bit memory accesses" if widest >= 128 else "no vector arithmetic"
    operations = [f"{work.flop} flop"] * bool(work.flop)
    operations += [wording.counted(work.integer_operations, "integer operation")] * bool(work.integer_operations)
    if not work.vector_bits or work.packed_share is None:
        return f"{wording.listed(operations)}, all scalar"
    share = wording.number(100 * work.packed_share)
    return f"{share} % of {wording.listed(operations)} in {work.vector_bits}-bit vectors"


def _lines(kernel: KernelCode) -> Sequence[int]:
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
) -> list[t.InstructionReport]:
    kernel, bound, analysis, forms = result.kernel, result.bound, result.analysis, result.forms
    pressure = analysis.fixed_pressure if result.settings.fixed_ports else analysis.pressure
    path = analysis.critical_path
    on_path = figures.cycles_by_instruction(analysis.critical_path_instructions, path)
    if analysis.critical_path_instructions:
        # Cycles outside the steps pass before the path's first value is ready.
        first = path[0].producer if path else analysis.critical_path_instructions[0]
        on_path[first] += analysis.critical_path_start
    in_chain: dict[int, int] = {}
    if analysis.chains:
        steps = analysis.chains[0].steps
        in_chain = figures.cycles_by_instruction((step.consumer for step in steps), steps)
    # kernels repeat few kinds of instruction
    kept: _Kept = result.model.caches.setdefault("report", ({}, {}))
    uop_texts, works = kept
    rows: list[t.InstructionReport] = []
    lines = _lines(kernel)
    described: dict[tuple[bytes, str], Effects] = {}
    llvm_effects = isa(kernel.isa).llvm_effects
    in_one_function = len({span.symbol for span in kernel.spans}) == 1
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
            t.InstructionReport(
                index=i,
                line=instruction.line,
                source=source_lines.get(lines[i]),
                text=written.text(instruction) if written else instruction.text,
                bytes=instruction.length,
                offset=instruction.offset - kernel.base if in_one_function else -1,
                encoding=_encoding(instruction, written),
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
                frame=figures.on_frame(kernel, instruction),
                macro_fused=bool(flags & FUSED_INTO_PREVIOUS),
                eliminated=bool(flags & ELIMINATED),
                zero_idiom=bool(flags & ZEROED),
                pressure=rounded(pressure[i]),
                critical_path_cycles=on_path.get(i),
                chain_cycles=in_chain.get(i),
                figures=t.FiguresOrigin(source=form.source, derived=form.derived) if form else None,
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
        + ("" if not form or not form.derived else "L" if form.lacking else "D")
    )


def _works(kernel: KernelCode, bound: BoundKernel, i: int) -> list[str]:
    """Return the work of an instruction's µops, in the order of the terms of `_port_usage`."""
    instruction = kernel.instructions[i]
    terms: dict[int, dict[str, None]] = {}
    # One of each kind: an instruction from microcode may have thousands.
    first: dict[tuple[int, int], int] = {}
    for u in range(bound.uop_start[i], bound.uop_start[i + 1]):
        first.setdefault((bound.uop_kind[u], bound.uop_ports[u]), u)
    for (_, mask), u in first.items():
        terms.setdefault(mask, {})[verdict.use_of(kernel, bound, i, u)] = None
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


def _simulated(bound: BoundKernel, run: Simulation) -> t.SimulationReport:
    """Return the simulation's results and counters; shares are of the whole run including its start."""
    moves = run.moves_eliminated + run.moves_executed
    return t.SimulationReport(
        cycles=float(run.cycles_per_iteration),
        exact=str(run.cycles_per_iteration),
        period=run.period,
        iterations=run.iterations,
        run_cycles=run.cycles,
        uops=_shares(run.uops_by_source, sum(astuple(run.uops_by_source))),
        lost_slots=_shares(run.lost_slots, run.cycles * bound.issue_width),
        port_uops=[_share(count, run.cycles) for count in run.port_uops[: len(bound.port_names)]],
        moves=t.Moves(
            eliminated=_share(run.moves_eliminated, moves),
            executed=_share(run.moves_executed, moves),
        ),
    )


def _shares(counters: _Counters, whole: float) -> _Counters:
    return type(counters)(**{name: _share(count, whole) for name, count in asdict(counters).items()})


def _share(count: float, whole: float) -> float:
    return round(count / (whole or 1), DECIMALS)


def _what_ifs(result: KernelResult) -> list[t.WhatIfReport]:
    return [
        t.WhatIfReport(
            change=w.name,
            text=w.text,
            cycles=float(w.cycles),
            exact=str(w.cycles),
            gained=round(float(result.cycles - w.cycles), DECIMALS),
            asked=w.asked,
        )
        for w in result.what_ifs
    ]


def _waits(bound: BoundKernel, waits: Waits) -> t.WaitsReport:
    def at_ports(table: Mapping[tuple[int, int], float]) -> list[t.PortWait]:
        return [
            t.PortWait(instruction=i, resource=bound.port_names[port], cycles=round(cycles, DECIMALS))
            for (i, port), cycles in table.items()
        ]

    return t.WaitsReport(
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


def _step(kernel: KernelCode, bound: BoundKernel, step: PathStep | Edge) -> t.StepReport:
    kind, via = wording.carrier(kernel, bound, step)
    return t.StepReport(
        producer=step.producer,
        to=step.consumer,
        kind=kind,
        via=via,
        latency=step.latency,
        distance=step.distance,
    )


def _chain(kernel: KernelCode, bound: BoundKernel, chain: Chain) -> t.ChainReport:
    instructions = verdict.chain_instructions(chain)
    return t.ChainReport(
        cycles_per_iteration=ratio(chain.cycles_per_iteration),
        latency=chain.latency,
        iterations=chain.distance,
        through=verdict.carriers(kernel, bound, chain),
        instructions=instructions,
        lines=[kernel.instructions[i].line for i in instructions],
        steps=[_step(kernel, bound, step) for step in chain.steps],
    )


def _dependencies(result: KernelResult) -> list[t.Dependency]:
    """Return the dependency graph between instructions; empty without a steady state, and for incomplete kernels.

    Of several dependencies between the same instructions through the same register only the slowest is listed. Each
    carries the critical path's flag and the indices of its chains.
    """
    if not result.settings.steady or result.settings.for_advice:
        return []
    kernel, bound, analysis = result.kernel, result.bound, result.analysis
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


def _key(edge: Edge | PathStep) -> tuple[int, int, int, int]:
    return edge.producer, edge.consumer, edge.distance, edge.location


# --- timeline ---------------------------------------------------------------------------------------------------------


def _timeline(result: KernelResult) -> t.Timeline:
    """Return the simulated iterations and llvm-mca's average waiting times in cycles, by instruction and in total."""
    events, names = result.events or (), result.bound.port_names

    def averages() -> figures.TimelineFigures:
        return figures.timeline(events, result.started, len(result.kernel.instructions))

    shared = result.cache if result.started else None
    # Identical kernels share the record of their µops.
    timeline: figures.TimelineFigures = shared.once("timeline", result.started, averages) if shared else averages()
    return t.Timeline(
        iterations=timeline.iterations,
        cycles=timeline.cycles,
        events=[
            t.EventReport(
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
        waits=list(timeline.waits),
        total_wait=timeline.total,
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
    inputs: list[t.UopInputReport] = []
    for producer, location, arrived in shown.inputs:
        carrier, via = wording.input_carrier(result.kernel, bound, uop.instruction, location)
        inputs.append(
            t.UopInputReport(
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
