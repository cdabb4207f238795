"""Builds the report: plain JSON-able data with every figure that a view prints; views lay out, they do not compute.

The format is versioned and described by report.schema.json beside this file. A report holds nothing that changes
between two runs on the same input: no date, no machine, no order of a set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import incc
from incc.core.throughput import port_bound
from incc.driver.report import hints, verdict, wording
from incc.models.bound import (
    ELIMINATED,
    FUSED_INTO_PREVIOUS,
    IS_LOAD,
    IS_STORE,
    UNKNOWN,
    ZEROED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from fractions import Fraction

    from incc.core import Analysis, Chain, Edge, Event, Simulation, StartedUop, Step
    from incc.core.waits import Waits
    from incc.core.whatif import Run
    from incc.frontends.kernel import Kernel, LeftOut, SourceLocation
    from incc.frontends.unit import Unit
    from incc.models.bound import BoundKernel
    from incc.models.model import Form, MachineModel

SCHEMA_VERSION = "1.2"

# Iterations that the summary counts unless told otherwise; llvm-mca's default.
ITERATIONS = 100

# Fractions of cycles are written with six decimals: shares such as 1/3 have no exact decimal form, and more digits
# would show differences in rounding between compilers of the core.
DECIMALS = 6

Dict = dict[str, Any]


def build_report(units: Iterable[Dict]) -> Dict:
    """The whole report from what `unit_report` made of each translation unit, in the order given."""
    units = list(units)
    _demangle([kernel for unit in units for kernel in unit["kernels"]])
    _demangle_functions([part for unit in units for name in ("ways", "control_flow") for part in unit[name] or ()])
    return {
        "schema_version": SCHEMA_VERSION,
        "tool": {"name": "incc", "version": incc.__version__},
        "units": units,
    }


def _demangle(kernels: Sequence[Dict]) -> None:
    """Make C++ and Fortran names readable where people read them: function names and notes."""
    from incc.driver.report.demangle import is_mangled

    if not any(is_mangled(text) for kernel in kernels for text in (kernel["function"], *kernel["notes"])):
        return
    from incc.driver.report.demangle import demangle, replace

    readable = demangle(text for kernel in kernels for text in (kernel["function"], *kernel["notes"]))
    for kernel in kernels:
        kernel["function_name"] = replace(kernel["function"], readable)
        kernel["notes"] = [replace(note, readable) for note in kernel["notes"]]


def _demangle_functions(parts: Sequence[Dict]) -> None:
    """The same for parts of a report that have a function's name and nothing else of it."""
    from incc.driver.report.demangle import is_mangled

    if any(is_mangled(part["function"]) for part in parts):
        from incc.driver.report.demangle import demangle, replace

        readable = demangle(part["function"] for part in parts)
        for part in parts:
            part["function_name"] = replace(part["function"], readable)


def unit_report(
    unit: Unit,
    model: MachineModel,
    chosen_by: str,
    kernels: Iterable[Dict],
    left_out: Iterable[LeftOut] = (),
    *,
    ways: Sequence[Dict] | None = None,
    control_flow: Sequence[Dict] | None = None,
) -> Dict:
    """One translation unit: how its assembly came about, the model and what named it, its kernels in the order given,
    and the loops and marked spans that are not analysed. `ways` (from `ways.py`) and `control_flow` (from
    `control_flow.py`): None where they were not asked for."""
    kernels = list(kernels)
    hints.find_remainders(kernels)
    return {
        "source": unit.source,
        "assembly_file": unit.assembly_file,
        "compiler": unit.compiler,
        "compiler_version": unit.compiler_version,
        "command": list(unit.command),
        "target_cpu": unit.cpu,
        "model": {
            "name": model.name,
            "title": model.title,
            "version": model.version,
            "isa": model.isa,
            "chosen_by": chosen_by,
        },
        "kernels": kernels,
        "left_out": [item._asdict() for item in left_out],
        "ways": list(ways) if ways is not None else None,
        "control_flow": list(control_flow) if control_flow is not None else None,
    }


def problems(report: Dict) -> list[str]:
    """What of the input was not analysed, as messages with file and line: statements that the assembler refused, loops
    and marked spans that were left out. Ordered by unit and line."""
    messages: list[str] = []
    for unit in report["units"]:
        file = unit["assembly_file"]
        parts = [*unit["kernels"], *(way for loop in unit["ways"] or () for way in loop["ways"])]
        found = [(item["line"], f"error: {item['message']}") for part in parts for item in part["refused"]]
        found += [(item["first_line"], f"warning: not analysed: {item['reason']}") for item in unit["left_out"]]
        messages += [
            f"{file}:{line}: {message}" if line else f"{file}: {message}" for line, message in sorted(set(found))
        ]
    return messages


def summary(kernel: Dict, iterations: int) -> Dict:
    """llvm-mca's summary of a kernel's report for so many iterations.

    The cycles are those of the steady state: iterations times the prediction, rounded up. The block's reciprocal
    throughput is the prediction without dependencies. Instructions that are not in the model are not counted.
    """
    bounds, uops = kernel["bounds"], kernel["size"]["issue_slots"]
    instructions = kernel["size"]["instructions"] - len(kernel["unknown_instructions"])
    # exact in integers: the prediction is a fraction such as 31/3
    numerator, _, denominator = bounds["prediction"]["exact"].partition("/")
    prediction = bounds["prediction"]["cycles"]
    return {
        "iterations": iterations,
        "instructions": iterations * instructions,
        "cycles": -(-iterations * int(numerator) // int(denominator or 1)),
        "uops": iterations * uops,
        "dispatch_width": kernel["dispatch_width"],
        "uops_per_cycle": round(uops / prediction, DECIMALS) if prediction else 0.0,
        "ipc": round(instructions / prediction, DECIMALS) if prediction else 0.0,
        "block_rthroughput": max(bounds[name]["cycles"] for name in ("port", "divider", "front_end", "retire")),
    }


def kernel_report(
    kernel: Kernel,
    model: MachineModel,
    bound: BoundKernel,
    analysis: Analysis,
    events: Sequence[Event] | None = None,
    forms: Sequence[Form | None] = (),
    *,
    started: Sequence[StartedUop] = (),
    source_lines: Mapping[int, SourceLocation] | None = None,
    near: SourceLocation | None = None,
    iterations: int = ITERATIONS,
    fixed_ports: bool = False,
    notes: Sequence[str] = (),
    run: Run | None = None,
    waits: Waits | None = None,
) -> Dict:
    """Everything about one kernel.

    `events`: the simulated first iterations, for the timeline; None leaves it out. `started`: their µops, where the
    simulation recorded them. `forms`: the model's entry for each
    instruction, None for unknown ones; may be empty. `near`: where the function's own source is next to a kernel that
    comes from elsewhere. `source_lines`: where in the user's source each assembly line
    comes from. `iterations`: how many the summary counts. `fixed_ports`: report the analysis with equal shares to all
    allowed ports. `notes` follow those of the region. `run`: the simulations; None where there are none, and the
    prediction is the largest bound.
    `waits`: who waits for whom, None if that was not asked for.
    """
    region = kernel.region
    unknown = [i for i, flags in enumerate(bound.instruction_flags) if flags & UNKNOWN]
    simulated = run.simulation.cycles_per_iteration if run else None
    figures = verdict.bounds(kernel, bound, analysis, fixed_ports, simulated)
    limits = tuple(figures["prediction"]["limited_by"])
    facts = hints.Facts(kernel, model, bound, analysis, limits, run.placements if run else ())
    load = analysis.fixed_port_load if fixed_ports else analysis.port_load
    busiest = verdict.busiest_ports(bound, analysis, fixed_ports)
    chains = [_chain(kernel, bound, chain) for chain in analysis.chains]
    report: Dict = {
        "name": kernel.name,
        "kind": region.kind if region else "code",
        "function": region.function if region else "",
        "function_name": region.function if region else "",
        "source": _location(region.source) if region else None,
        "near": _location(near),
        "label": region.label if region else "",
        "first_line": region.first_line if region else 0,
        "last_line": region.last_line if region else 0,
        "depth": region.depth if region else 0,
        "is_loop": kernel.is_loop,
        "isa": kernel.isa,
        "notes": [*(region.notes if region else ()), *notes],
        "size": {
            "instructions": len(kernel.instructions),
            "bytes": sum(instruction.length for instruction in kernel.instructions),
            "issue_slots": sum(bound.issue_slots),
            "retire_slots": sum(bound.retire_slots),
            "uops": len(bound.uop_ports),
        },
        "arithmetic": _arithmetic(kernel),
        "memory": {**_memory(kernel), **_lines(analysis)},
        "verdict": verdict.sentence(kernel, bound, analysis, figures, len(unknown), run.what_ifs if run else ()),
        "hints": hints.hints(facts),
        "bounds": figures,
        "simulated": _simulated(bound, run.simulation) if run else None,
        "what_ifs": _what_ifs(run) if run else [],
        "cold": _cold(run.cold) if run and run.cold else None,
        "alignments": [ratio(cycles) for cycles in run.alignments] if run else [],
        "dispatch_width": bound.issue_width,
        "port_assignment": "equal" if fixed_ports else "balanced",
        "resources": [
            {
                "name": name,
                "kind": "port" if p < bound.n_ports else "unit",
                "title": f"Port{name}" if p < bound.n_ports and name.isdigit() else name,
                "load": round(load[p], DECIMALS),
                "busiest": p in busiest,
            }
            for p, name in enumerate(bound.port_names)
        ],
        "instructions": _instructions(kernel, bound, analysis, forms, source_lines or {}, fixed_ports),
        "critical_path": {
            "cycles": analysis.critical_path_cycles,
            "instructions": list(analysis.critical_path_instructions),
            "steps": [_step(kernel, bound, step) for step in analysis.critical_path],
        },
        "chains": chains,
        "chains_complete": analysis.chains_complete,
        "dependencies": _dependencies(kernel, bound, analysis),
        "waits": _waits(bound, waits) if waits else None,
        "timeline": _timeline(kernel, bound, events, started) if events is not None else None,
        "unknown_instructions": [
            {
                "index": i,
                "line": kernel.instructions[i].line,
                "text": kernel.instructions[i].text,
                "form": kernel.instructions[i].form,
            }
            for i in unknown
        ],
        "refused": [refused._asdict() for refused in kernel.refused],
    }
    report["summary"] = summary(report, iterations)
    arithmetic = report["arithmetic"]
    arithmetic["flop_per_byte"] = _intensity(arithmetic["flop"], report["memory"])
    arithmetic["text"] = _vectorisation(arithmetic, report["memory"])
    return report


# --- parts of a kernel ------------------------------------------------------------------------------------------------


def _location(location: SourceLocation | None) -> Dict | None:
    return {"file": location.file, "line": location.line} if location else None


def _arithmetic(kernel: Kernel) -> Dict:
    """Operations per iteration, counted by element: those in packed instructions and those in scalar ones."""
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
    return {
        "flop": packed[True] + scalar[True],
        "flop_packed": packed[True],
        "integer_operations": packed[False] + scalar[False],
        "integer_operations_packed": packed[False],
        "packed_share": round(sum(packed.values()) / total, DECIMALS) if total else None,
        "vector_bits": vector_bits,
    }


def _memory(kernel: Kernel) -> Dict:
    """Bytes loaded and stored per iteration; accesses of unknown size (rep movs, xsave) are counted apart."""
    loaded = stored = unsized = widest = 0
    for instruction in kernel.instructions:
        for access in instruction.memory:
            size = access.size * access.elements
            unsized += size == 0 and (access.load or access.store)
            loaded += size if access.load else 0
            stored += size if access.store else 0
            if access.elements == 1 and (access.load or access.store):
                widest = max(widest, 8 * access.size)
    return {"bytes_loaded": loaded, "bytes_stored": stored, "unsized_accesses": unsized, "widest_access_bits": widest}


def _lines(analysis: Analysis) -> Dict:
    """Loads an iteration that cross a cache line, and the port bound at the worst alignment of the pointers."""
    return {
        "line_crossings": round(float(analysis.line_crossings), DECIMALS),
        "worst_line_crossings": round(float(analysis.worst_line_crossings), DECIMALS),
        "expected_line_crossings": round(float(analysis.expected_line_crossings), DECIMALS),
        "worst_alignment_port_bound": round(float(analysis.worst_alignment_port_bound), DECIMALS),
    }


def _intensity(flop: int, memory: Dict) -> float | None:
    moved = memory["bytes_loaded"] + memory["bytes_stored"]
    return round(flop / moved, DECIMALS) if moved and not memory["unsized_accesses"] else None


def _vectorisation(arithmetic: Dict, memory: Dict) -> str:
    """How much of the arithmetic is vectorised, in words."""
    flop, integer = arithmetic["flop"], arithmetic["integer_operations"]
    if not flop and not integer:
        widest = memory["widest_access_bits"]
        return f"no vector arithmetic, {widest}-bit memory accesses" if widest >= 128 else "no vector arithmetic"
    operations = [f"{flop} flop"] * bool(flop) + [wording.counted(integer, "integer operation")] * bool(integer)
    if not arithmetic["vector_bits"]:
        return f"{wording.listed(operations)}, all scalar"
    share = wording.number(100 * arithmetic["packed_share"])
    return f"{share} % of {wording.listed(operations)} in {arithmetic['vector_bits']}-bit vectors"


def _instructions(
    kernel: Kernel,
    bound: BoundKernel,
    analysis: Analysis,
    forms: Sequence[Form | None],
    source_lines: Mapping[int, SourceLocation],
    fixed_ports: bool,
) -> list[Dict]:
    pressure = analysis.fixed_pressure if fixed_ports else analysis.pressure
    path = analysis.critical_path
    on_path = _cycles_by_instruction(analysis.critical_path_instructions, path)
    if analysis.critical_path_instructions:
        # What the steps do not account for passes before the first value of the path is ready.
        start = analysis.critical_path_cycles - sum(step.latency for step in path)
        on_path[path[0].producer if path else analysis.critical_path_instructions[0]] += start
    in_chain: dict[int, int] = {}
    if analysis.chains:
        steps = analysis.chains[0].steps
        in_chain = _cycles_by_instruction((step.consumer for step in steps), steps)
    # kernels repeat few kinds of instruction
    known: dict[tuple[tuple[int, int], ...], tuple[str, Dict]] = {}
    result = []
    for i, instruction in enumerate(kernel.instructions):
        flags = bound.instruction_flags[i]
        form = forms[i] if forms else None
        first, last = bound.uop_start[i], bound.uop_start[i + 1]
        uops = tuple((bound.uop_ports[u], bound.uop_cycles[u]) for u in range(first, last))
        if uops not in known:
            known[uops] = _port_usage(uops, bound), _own_throughput(uops, bound.n_ports)
        usage, throughput = known[uops]
        result.append(
            {
                "index": i,
                "line": instruction.line,
                "source": _location(source_lines.get(instruction.line)),
                "text": instruction.text,
                "bytes": instruction.length,
                "form": instruction.form,
                "unknown": bool(flags & UNKNOWN),
                "latency": bound.latency[i],
                "load_latency": bound.load_latency[i],
                "issue_slots": bound.issue_slots[i],
                "retire_slots": bound.retire_slots[i],
                "uops": last - first,
                "ports": usage,
                "rthroughput": throughput,
                "measured_rthroughput": form.throughput if form else None,
                "loads": bool(flags & IS_LOAD),
                "stores": bool(flags & IS_STORE),
                "macro_fused": bool(flags & FUSED_INTO_PREVIOUS),
                "eliminated": bool(flags & ELIMINATED),
                "zero_idiom": bool(flags & ZEROED),
                "pressure": [round(cycles, DECIMALS) for cycles in pressure[i]],
                "critical_path_cycles": on_path.get(i),
                "chain_cycles": in_chain.get(i),
                "figures": {"source": form.source, "derived": form.derived} if form else None,
                "remarks": _remarks(flags, form),
            }
        )
    return result


def _remarks(flags: int, form: Form | None) -> str:
    """One letter for each thing to know about an instruction's figures; the views explain them."""
    return (
        "X" * bool(flags & UNKNOWN)
        + "F" * bool(flags & FUSED_INTO_PREVIOUS)
        + "E" * bool(flags & ELIMINATED)
        + "Z" * bool(flags & ZEROED)
        + "D" * bool(form and form.derived)
    )


def _cycles_by_instruction(instructions: Iterable[int], steps: Sequence[Step]) -> dict[int, int]:
    """The cycles of a path by instruction: a step's latency is the time that its consumer takes."""
    cycles = dict.fromkeys(instructions, 0)
    for step in steps:
        cycles[step.consumer] = cycles.get(step.consumer, 0) + step.latency
    return cycles


def _own_throughput(uops: Sequence[tuple[int, int]], n_ports: int) -> Dict:
    """Cycles between two instances of the instruction as far as its own ports and units say."""
    numerator, denominator = port_bound(uops, n_ports)
    exact = str(numerator) if denominator == 1 else f"{numerator}/{denominator}"
    return {"cycles": numerator / denominator, "exact": exact}


def _port_usage(uops: Sequence[tuple[int, int]], bound: BoundKernel) -> str:
    """uops.info's notation: µops times the ports that they may use, "1*p01+1*p23"; then cycles on units, "8*0DV"."""
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

UOP_SOURCES = ("decoders", "uop_cache", "loop_stream_detector", "microcode")
LOST_SLOTS = ("no_uops", "reorder_buffer", "scheduler", "group", "load_buffer", "store_buffer")


def _simulated(bound: BoundKernel, run: Simulation) -> Dict:
    """What the simulation found and counted, as shares; over the whole run, its start included."""

    def shares(counts: Sequence[int], whole: int = 0) -> list[float]:
        return [round(count / (whole or sum(counts) or 1), DECIMALS) for count in counts]

    return {
        **ratio(run.cycles_per_iteration),
        "period": run.period,
        "iterations": run.iterations,
        "run_cycles": run.cycles,
        "uops": dict(zip(UOP_SOURCES, shares(run.uops_by_source), strict=True)),
        "lost_slots": dict(zip(LOST_SLOTS, shares(run.lost_slots, run.cycles * bound.issue_width), strict=True)),
        "port_uops": shares(run.port_uops[: len(bound.port_names)], run.cycles),
        "moves": dict(zip(("eliminated", "executed"), shares((run.moves_eliminated, run.moves_executed)), strict=True)),
    }


def _what_ifs(run: Run) -> list[Dict]:
    base = run.simulation.cycles_per_iteration
    return [
        {
            "change": w.name,
            "text": w.text,
            **ratio(w.cycles),
            "gained": round(float(base - w.cycles), DECIMALS),
            "asked": w.asked,
        }
        for w in run.what_ifs
    ]


def _cold(run: Simulation) -> Dict:
    return {"iterations": run.iterations, "cycles": run.cycles}


def _waits(bound: BoundKernel, waits: Waits) -> Dict:
    def pairs(table: Mapping[tuple[int, int], float], one: str, other: str) -> list[Dict]:
        names = bound.port_names
        return [
            {one: a, other: names[b] if other == "resource" else b, "cycles": round(cycles, DECIMALS)}
            for (a, b), cycles in table.items()
        ]

    return {
        "instructions": [
            {
                "had_to_wait": round(had, DECIMALS),
                "for_inputs": round(for_inputs, DECIMALS),
                "for_ports": round(had - for_inputs, DECIMALS),
                "caused_to_wait": round(caused, DECIMALS),
            }
            for had, for_inputs, caused in zip(waits.had, waits.for_inputs, waits.caused, strict=True)
        ],
        "inputs": pairs(waits.inputs, "instruction", "producer"),
        "ports": pairs(waits.ports, "instruction", "resource"),
        "blocked": pairs(waits.blocked, "instruction", "resource"),
    }


def ratio(cycles: Fraction) -> Dict:
    """A duration in cycles, as a number and exactly."""
    return {"cycles": float(cycles), "exact": str(cycles)}


# --- dependencies -----------------------------------------------------------------------------------------------------


def _step(kernel: Kernel, bound: BoundKernel, step: Step | Edge) -> Dict:
    kind, via = wording.carrier(kernel, bound, step)
    return {
        "from": step.producer,
        "to": step.consumer,
        "kind": kind,
        "via": via,
        "latency": step.latency,
        "distance": step.distance,
    }


def _chain(kernel: Kernel, bound: BoundKernel, chain: Chain) -> Dict:
    instructions = verdict.chain_instructions(chain)
    return {
        "cycles_per_iteration": ratio(chain.cycles_per_iteration),
        "latency": chain.latency,
        "iterations": chain.distance,
        "through": verdict.carriers(kernel, bound, chain),
        "instructions": instructions,
        "lines": [kernel.instructions[i].line for i in instructions],
        "steps": [_step(kernel, bound, step) for step in chain.steps],
    }


def _dependencies(kernel: Kernel, bound: BoundKernel, analysis: Analysis) -> list[Dict]:
    """The dependency graph between instructions: of several dependencies between the same instructions through the same
    register the slowest. Each says whether the critical path and which chains (by index) run along it."""
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
    result = []
    for key in sorted(slowest):
        dependency = _step(kernel, bound, slowest[key])
        dependency["critical_path"] = key in path
        dependency["chains"] = chains.get(key, [])
        result.append(dependency)
    return result


def _key(edge: Edge | Step) -> tuple[int, int, int, int]:
    return edge.producer, edge.consumer, edge.distance, edge.location


# --- timeline ---------------------------------------------------------------------------------------------------------


def _timeline(kernel: Kernel, bound: BoundKernel, events: Sequence[Event], started: Sequence[StartedUop] = ()) -> Dict:
    """The simulated iterations and llvm-mca's average waiting times, in cycles, by instruction and in all."""
    earliest: dict[tuple[int, int], int] = {}
    # Those that start first come last, and stay.
    for uop in sorted(started, key=lambda u: (u.started, u.earliest), reverse=True):
        earliest[uop.iteration, uop.instruction] = uop.earliest
    # The simpler machine's µops are on no way to their ports.
    first = [
        earliest.get((event.iteration, event.instruction), min(event.dispatched + 1, event.started)) for event in events
    ]
    waits = [[0, 0, 0, 0] for _ in kernel.instructions]
    for event, could_start in zip(events, first, strict=True):
        wait = waits[event.instruction]
        wait[0] += 1
        wait[1] += event.started - event.dispatched
        wait[2] += max(0, event.started - max(event.ready, could_start))
        wait[3] += max(0, event.retired - event.executed - 1)
    total = [sum(column) for column in zip(*waits, strict=True)] if waits else [0, 0, 0, 0]
    return {
        "iterations": max((event.iteration for event in events), default=-1) + 1,
        "cycles": max((event.retired for event in events), default=-1) + 1,
        "events": [
            {
                "iteration": event.iteration,
                "instruction": event.instruction,
                "dispatched": event.dispatched,
                "earliest": could_start,
                "ready": event.ready,
                "started": event.started,
                "executed": event.executed,
                "retired": event.retired,
                "ports": [bound.port_names[p] if p >= 0 else None for p in event.ports],
            }
            for event, could_start in zip(events, first, strict=True)
        ],
        "waits": [_wait(wait) for wait in waits],
        "total_wait": _wait(total),
    }


def _wait(wait: Sequence[int]) -> Dict:
    executions = wait[0]

    def average(cycles: int) -> float:
        return round(cycles / executions, DECIMALS) if executions else 0.0

    return {
        "executions": executions,
        "in_scheduler": average(wait[1]),
        "in_scheduler_while_ready": average(wait[2]),
        "until_retire": average(wait[3]),
    }
