"""The way from assembly text to a report: regions, kernels, binding, analysis. Used by every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core import Analysis, StartedUop
    from incc.driver.whatif import Change, Run
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import Kernel, LeftOut, Region, SourceLocation
    from incc.models.bound import BoundKernel
    from incc.models.model import Cpu, MachineModel


class Unit(NamedTuple):
    """One translation unit's assembly and how it came about.

    `assembly` is the text, `assembly_file` its name for messages; `source` the file that was compiled ("" for assembly
    that was given), `compiler` and `compiler_version` what compiled it, `command` the user's command line; `cpu` is the
    target that the command line implies, "" if none.
    """

    assembly: str
    assembly_file: str
    source: str = ""
    compiler: str = ""
    compiler_version: str = ""
    command: tuple[str, ...] = ()
    cpu: str = ""


class Settings(NamedTuple):
    """What the user asked for.

    `mcpu`: the model to use, "" to take the unit's `cpu`, else the host. `functions`: globs of function names, empty
    for all. `regions`: "loops" for every innermost loop, "marked" for marked regions and, without any, the whole file
    (as llvm-mca). `iterations`: how many the summary counts. `timeline_iterations`: how many the timeline shows, 0 for
    none. `model_path`: folders and files of models that are searched before all others. `simulate`: not the bounds
    alone. `what_if`: changes to the core to try beside those that always are. `waits`: who waits for whom.
    `cold_iterations`: also simulate so many from a cold start, 0 for not. `alignment`: of the kernel's first byte
    within 64, -1 for where it was found, -2 to simulate all. `ways`: "paths" to analyse every way through loops with
    branches inside, "branch" the sides of the first branch. `branch_probability`: how likely a branch is not taken,
    None for all sides alike. `control_flow`: of the functions that are analysed.
    """

    mcpu: str = ""
    functions: tuple[str, ...] = ()
    fixed_ports: bool = False
    regions: str = "loops"
    iterations: int = 100
    timeline_iterations: int = 2
    timeline_cycles: int = 80
    model_path: tuple[str, ...] = ()
    simulate: bool = True
    what_if: tuple[Change, ...] = ()
    waits: bool = False
    cold_iterations: int = 0
    alignment: int = -1
    ways: tuple[str, ...] = ()
    branch_probability: float | None = None
    control_flow: bool = False


MOST_WITH_WHAT_IFS = 500
"""Kernels of one file for which changed cores are simulated: some simulations each, which together take as long as all
the rest and which nobody reads for thousands of loops."""


class AnalysisError(Exception):
    """The analysis cannot be made at all; the message says why, in words for the user."""


def analyze_units(units: Sequence[Unit], settings: Settings) -> dict[str, Any]:
    """The report on all units (driver/report.schema.json). Raises AnalysisError where there is nothing to work with.

    Problems with single statements or loops are in the report and do not stop the rest.
    """
    from incc.driver.report import build_report

    parts: list[dict[str, Any]] = []
    for unit in units:
        model, reason = choose_model(settings.mcpu, unit.cpu, settings.model_path)
        parts.append(_analyze_unit(unit, settings, model, reason))
    return build_report(parts)


def untried(report: dict[str, Any], settings: Settings) -> list[str]:
    """The changes of `settings.what_if` that say nothing about any kernel that was simulated, as messages."""
    kernels = [kernel for unit in report["units"] for kernel in unit["kernels"] if kernel["simulated"]]
    if not kernels:
        return []
    tried = {change["change"] for kernel in kernels for change in kernel["what_ifs"] if change["asked"]}
    missing = [change.name for change in settings.what_if if change.name not in tried]
    return [f"what-if {name!r}: no kernel has such an instruction" for name in missing]


def choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str] = ()) -> tuple[MachineModel, str]:
    """The machine model and how it was chosen. Raises AnalysisError for names without a model, and for bad models."""
    from incc.models.model import ModelError

    try:
        return _choose_model(mcpu, command_cpu, model_path)
    except ModelError as error:
        raise AnalysisError(str(error)) from error


def _choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str]) -> tuple[MachineModel, str]:
    from incc.models.model import find_cpu, host_cpu_name, load

    if mcpu and mcpu != "native":
        cpu = find_cpu(mcpu, model_path)
        return load(cpu.model if cpu.nearest else mcpu, model_path), f"-mcpu={mcpu}{_nearest(cpu)}"
    instead = ""
    if not mcpu and command_cpu and command_cpu != "native":
        cpu = find_cpu(command_cpu, model_path)
        if cpu.model:
            return load(cpu.model, model_path), f"the command's target, {command_cpu}{_nearest(cpu)}"
        instead = f"; {command_cpu}, the command's target, has no model" + (f" ({cpu.why})" if cpu.why else "")
    host = host_cpu_name()
    cpu = find_cpu(host, model_path)
    if not cpu.model:
        asked = (
            f"the command's target {command_cpu!r}" if command_cpu and not mcpu else f"the host ({host or 'unknown'})"
        )
        raise AnalysisError(f"no machine model for {asked}; name one of `incc-model list`")
    return load(cpu.model, model_path), f"the host, {host}{_nearest(cpu)}{instead}"


def _nearest(cpu: Cpu) -> str:
    return f"; the nearest model is that of {cpu.model}: {cpu.why}" if cpu.nearest else ""


def read_assembly(unit: Unit, isa: str = "") -> Assembly:
    """The unit's assembly, parsed. Raises AnalysisError where it is not for `isa` (if that is given)."""
    from incc.frontends.asm.parse import parse

    parsed = parse(unit.assembly)
    if isa and parsed.isa != isa and parsed.statements:
        raise AnalysisError(
            f"{unit.assembly_file}: this is {parsed.isa} assembly, but the machine model is of an {isa} core"
        )
    return parsed


def find_regions(parsed: Assembly, settings: Settings) -> tuple[list[Region], list[LeftOut]]:
    """The regions that the settings ask for, and what was left out."""
    from incc.frontends.asm.regions import innermost_loops, marked_regions, whole_file

    if settings.regions == "loops":
        regions, left_out = innermost_loops(parsed)
    else:
        regions, left_out = marked_regions(parsed)
        if not regions and not left_out:
            regions, left_out = whole_file(parsed)
    if settings.functions:
        from incc.driver.demangle import demangle

        readable = demangle([r.function for r in regions] + [x.function for x in left_out])
        regions = [r for r in regions if _selected(r.function, readable, settings.functions)]
        left_out = [x for x in left_out if _selected(x.function, readable, settings.functions)]
    return regions, left_out


def _selected(function: str, readable: dict[str, str], globs: tuple[str, ...]) -> bool:
    """Whether a glob fits the symbol, or the C++ name with or without its parameters."""
    from fnmatch import fnmatchcase

    name = readable.get(function, function)
    return any(fnmatchcase(n, g) for n in (function, name, name.split("(")[0]) for g in globs)


def decode_unit(unit: Unit, parsed: Assembly, regions: Sequence[Region]) -> list[Kernel]:
    """The kernels of a unit's regions, laid out as the code is when it is run. Raises AnalysisError."""
    if not regions:
        return []
    from incc.frontends.asm.before import code_before
    from incc.frontends.asm.regions import without_byte_markers
    from incc.frontends.x86.assembler import AssemblerError
    from incc.frontends.x86.kernels import decode_regions

    try:
        text = without_byte_markers(parsed, unit.assembly)
        return decode_regions(text, regions, unit.assembly_file, before=code_before(parsed, regions))
    except AssemblerError as error:
        raise AnalysisError(str(error)) from error


def _analyze_unit(unit: Unit, settings: Settings, model: MachineModel, reason: str) -> dict[str, Any]:
    from incc.driver.report import unit_report

    if model.isa != "x86":
        raise AnalysisError(f"{model.name} is an {model.isa} core, and only x86 code can be read so far")
    parsed = read_assembly(unit, model.isa)
    regions, left_out = find_regions(parsed, settings)
    kernels = decode_unit(unit, parsed, regions)
    lines = {s.line: s.location for s in parsed.statements if s.location is not None} if kernels else {}
    what_ifs = len(kernels) <= MOST_WITH_WHAT_IFS or bool(settings.what_if)
    reports = [_kernel_report(k, model, settings, lines, what_ifs, _near(parsed, k.region)) for k in kernels]
    ways = control_flow = None
    if settings.ways:
        from incc.driver.paths import analyze

        ways = [loop for name in settings.ways for loop in analyze(unit, parsed, model, settings, name)]
    if settings.control_flow:
        from incc.driver.flow import functions

        control_flow = functions(parsed, regions)
    return unit_report(unit, model, reason, reports, left_out, ways=ways, control_flow=control_flow)


def _near(parsed: Assembly, region: Region | None) -> SourceLocation | None:
    """For a kernel that was inlined from another file, a header's template: the last place of the function's own file
    before it, else the first one behind it. None for other kernels, and where there are no lines."""
    if region is None or region.source is None:
        return None
    for function in parsed.functions:
        if function.name == region.function:
            statements = (parsed.statements[i] for i in function.statements)
            places = [(s.line, s.location) for s in statements if s.location is not None]
            own = [(line, place) for line, place in places if place.file == places[0][1].file]
            if not own or region.source.file == own[0][1].file:
                return None
            return ([place for line, place in own if line < region.first_line] or [own[0][1]])[-1]
    return None


def _kernel_report(
    kernel: Kernel,
    model: MachineModel,
    settings: Settings,
    lines: dict[int, SourceLocation],
    what_ifs: bool,
    near: SourceLocation | None,
) -> dict[str, Any]:
    from incc import core
    from incc.driver.report import kernel_report
    from incc.models.bind import bind

    if settings.alignment >= 0:
        kernel = kernel._replace(alignment=settings.alignment)
    bound, forms = bind(kernel, model)
    analysis = core.analyze(bound)
    # Equal shares are OSACA's model of a core, beside which a simulation says something else.
    simulates = settings.simulate and not settings.fixed_ports
    run, notes = _simulate(kernel, bound, analysis, settings, what_ifs) if simulates else (None, ())
    events = None
    started: tuple[StartedUop, ...] = ()
    if settings.timeline_iterations and kernel.instructions:
        if run is None:
            events = core.timeline(bound, settings.timeline_iterations, settings.timeline_cycles)
        else:
            recorded = core.simulate(bound, iterations=settings.timeline_iterations, record=True)
            events = tuple(e for e in recorded.events if e.dispatched < settings.timeline_cycles)
            started = recorded.started
    waits = None
    if settings.waits and run is not None:
        from incc.driver.waits import waits as find_waits

        waits = find_waits(core.simulate(bound, record=True), len(kernel.instructions))
    return kernel_report(
        kernel,
        model,
        bound,
        analysis,
        events,
        forms,
        started=started,
        near=near,
        source_lines=lines,
        iterations=settings.iterations,
        fixed_ports=settings.fixed_ports,
        notes=notes,
        run=run,
        waits=waits,
    )


def _simulate(
    kernel: Kernel, bound: BoundKernel, analysis: Analysis, settings: Settings, with_what_ifs: bool
) -> tuple[Run | None, tuple[str, ...]]:
    """All simulations that the settings ask for, None where the model does not describe the core's pipeline or there is
    nothing to run; and what the reader must know. Raises AnalysisError for changes that the core does not allow."""
    if bound.pipeline is None or not any(bound.issue_slots):
        wanted = settings.what_if or settings.waits or settings.cold_iterations or settings.alignment == -2
        unable = ("not simulated: the model does not describe the core's pipeline",)
        return None, unable if wanted and bound.pipeline is None else ()
    from incc import core
    from incc.driver import whatif

    try:
        base = core.simulate(bound)
        asked, notes = whatif.applicable(settings.what_if, kernel, bound)
        what_ifs = whatif.what_ifs(kernel, bound, analysis, base, asked) if with_what_ifs else ()
        count = settings.cold_iterations
        cold = core.simulate(bound, iterations=count) if count else None
        places = range(64) if settings.alignment == -2 else ()
        alignments = tuple(core.simulate(bound, alignment=place).cycles_per_iteration for place in places)
        chosen = settings.alignment != -1 or not with_what_ifs
        placements = () if chosen else whatif.placements(kernel, bound, base)
    except ValueError as error:
        raise AnalysisError(str(error)) from error
    except RuntimeError as error:
        return None, (f"not simulated: {error}",)
    if not with_what_ifs:
        notes.append(f"no what-ifs, since there are more than {MOST_WITH_WHAT_IFS} kernels: choose some by function")
    return whatif.Run(base, what_ifs, cold, alignments, placements), tuple(notes)


def write_marked(unit: Unit, settings: Settings, path: str, dialect: str) -> None:
    """Write the unit's assembly with markers of one dialect (or "all") around the regions that would be analysed."""
    from incc.frontends.asm.markers import insert_markers

    regions, _ = find_regions(read_assembly(unit), settings)
    with open(path, "w", encoding="utf-8", errors="surrogateescape") as f:
        f.write(insert_markers(unit.assembly, regions, dialect))
