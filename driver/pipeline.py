"""The way from assembly text to a report: regions, kernels, binding, analysis. Used by every command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from incc.support.errors import AnalysisError as AnalysisError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.core.analysis import KernelSettings
    from incc.core.whatif import Change
    from incc.frontends.asm.loops import LoopPath
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import Kernel, LeftOut, Region, SourceLocation
    from incc.frontends.marks import Mark
    from incc.frontends.objects.spans import Addresses
    from incc.frontends.unit import Unit
    from incc.models.loading import Cpu
    from incc.models.model import MachineModel
    from incc.report import types as t
    from incc.report.found import KernelPlace, UnitResult
    from incc.report.source.selection import Selection


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    """What the user asked for.

    `mcpu`: the model to use, "" to take the unit's `cpu`, else the host. `functions`: globs of function names, empty
    for all. `regions`: "loops" for every innermost loop, "marked" for marked regions and, without any, the whole file
    (as llvm-mca). `iterations`: how many the summary counts. `timeline_iterations`: how many the timeline shows, 0 for
    none. `model_path`: folders and files of models that are searched before all others. `simulate`: not the bounds
    alone. `what_if`: changes to the core to try beside those that always are. `waits`: who waits for whom.
    `cold_iterations`: also simulate so many from a cold start, 0 for not. `alignment`: of the kernel's first byte
    within 64, -1 for where it was found, -2 to simulate all. `ways`: "paths" to analyse every way through loops with
    branches inside, "branch" the sides of the first branch. `branch_probability`: how likely a branch is not taken,
    None for all sides alike. `control_flow`: of the functions that are analysed. `port_model`: also describe the core
    itself, as its model has it. `what_ifs`: try those changes that
    always are, and simulate both ends of predictions. `mispredict_rate`: of the branches inside loops, None for not
    known. `system_headers`: also loops that no line of the user's is in. `ghz`: the clock at which
    rates a second are to be told, 0 for none. `measure`: run the kernels on this machine, and take its core's model
    where `mcpu` names none. `marks`: those in the source restrict the analysis (use), and without any there is none
    (only). `addresses`: of an object only the code there.

    What llvm-mca has as well: `regions` may be "llvm-mca", for its markers alone, by its rules, or the whole file.
    `dispatch_width`, `load_queue`, `store_queue`, `register_file`, `uop_queue`, `decoders`: sizes of the core for the
    run from a cold start, 0 for the model's. `call_latency`: cycles that a call takes there. `noalias`: stores and
    loads do not meet in memory unless their addresses say so. `pressure`: why µops pile up in that run. `steady`: False
    if that run is all that is wanted beside the bounds. `syntax`: instructions as LLVM prints them, "att" or "intel",
    "" for as they are written; `hex_immediates`: with immediate values in hexadecimal then. `for_report`:
    False to analyse kernels without what only reports need.
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
    ways: tuple[Literal["paths", "branch"], ...] = ()
    branch_probability: float | None = None
    control_flow: bool = False
    port_model: bool = False
    what_ifs: bool = True
    mispredict_rate: float | None = None
    system_headers: bool = False
    ghz: float = 0
    measure: bool = False
    marks: Literal["use", "only", "ignore"] = "use"
    addresses: tuple[Addresses, ...] = ()
    steady: bool = True
    pressure: bool = False
    dispatch_width: int = 0
    load_queue: int = 0
    store_queue: int = 0
    register_file: int = 0
    uop_queue: int = 0
    decoders: int = 0
    call_latency: int = 0
    noalias: bool = True
    syntax: Literal["", "att", "intel"] = ""
    hex_immediates: bool = False
    for_report: bool = True
    lacking: bool = False

    def kernel_settings(self) -> KernelSettings:
        """What of it is asked of each kernel."""
        from incc.core.analysis import KernelSettings

        return KernelSettings(
            simulate=self.simulate,
            fixed_ports=self.fixed_ports,
            what_ifs=self.what_ifs,
            asked=self.what_if,
            waits=self.waits,
            cold_iterations=self.cold_iterations,
            alignment=self.alignment,
            timeline_iterations=self.timeline_iterations,
            timeline_cycles=self.timeline_cycles,
            steady=self.steady,
            pressure=self.pressure,
            explained=self.for_report,
            dispatch_width=self.dispatch_width,
            load_queue=self.load_queue,
            store_queue=self.store_queue,
            register_file=self.register_file,
            uop_queue=self.uop_queue,
            decoders=self.decoders,
            call_latency=self.call_latency,
            noalias=self.noalias,
        )


MOST_INSTRUCTIONS = 200_000
"""Of one kernel. An analysis keeps some 4 KB of each, and takes 0.1 ms for it."""

MOST_WITH_WHAT_IFS = 500
"""Kernels of one file for which changed cores are simulated: some simulations each, which together take as long as all
the rest and which nobody reads for thousands of loops."""


def analyze_units(units: Sequence[Unit], settings: Settings) -> t.Report:
    """The report on all units (report/types.py). Raises AnalysisError where there is nothing to work with.

    Problems with single statements or loops are in the report and do not stop the rest.
    """
    return analyze_for_cores([(unit, [settings]) for unit in units])


def analyze_for_cores(asked: Sequence[tuple[Unit, Sequence[Settings]]]) -> t.Report:
    """The same with each unit's own settings, such as one for each core: analyses of a unit follow each other. Raises
    AnalysisError."""
    from incc.report.build import build_report, unit_report

    return build_report(
        unit_report(found)
        for unit, settings in asked
        for number, one in enumerate(settings)
        for found in analyses(unit, one, again=number > 0)
    )


def core_reports(settings: Sequence[Settings]) -> t.Report:
    """The report on cores by themselves, without any code: a unit for each. Raises AnalysisError."""
    from incc.frontends.unit import Unit
    from incc.report.build import build_report, unit_report

    found = []
    for one in settings:
        unit = Unit(assembly="", assembly_file="")
        choice = _model_of(unit, one)
        found.append(replace(analyze_kernels(unit, (), one, choice.model, choice.reason), model_note=choice.note))
    return build_report([unit_report(one) for one in found])


def analyses(unit: Unit, settings: Settings, again: bool = False) -> list[UnitResult]:
    """What was found of a unit: once, but where marks in its source name several cores. `again`: it was analysed for
    another core already, and with it for those that marks name. Raises AnalysisError."""
    if settings.marks == "ignore":
        return [analyze_unit(unit, settings)]
    from incc.report.source.marks import read_marks

    marks = read_marks(unit)
    found: list[UnitResult] = []
    for core in marks.cores():
        if core and again:
            continue
        asked = replace(settings, mcpu=core) if core else settings
        try:
            _model_of(unit, asked)
        except AnalysisError as error:
            if not core:
                raise
            marks = marks.without_core(core, str(error))
            continue
        if (result := analyze_marked(unit, asked, marks.of_core(core))) is not None:
            found.append(result)
    if not found and (settings.marks == "use" or marks.errors):
        nothing = () if settings.marks == "only" else None
        if (result := analyze_marked(unit, settings, nothing)) is not None:
            found.append(result)
    if found and marks.errors:
        found[0] = replace(found[0], mark_errors=(*marks.errors, *found[0].mark_errors))
    return found


def untried(report: t.Report, settings: Settings) -> list[str]:
    """The changes of `settings.what_if` that say nothing about any kernel that was simulated, as messages."""
    kernels = [kernel for unit in report.units for kernel in unit.kernels if kernel.simulated]
    if not kernels:
        return []
    tried = {change.change for kernel in kernels for change in kernel.what_ifs if change.asked}
    missing = [change.name for change in settings.what_if if change.name not in tried]
    return [f"what-if {name!r}: no kernel has such an instruction" for name in missing]


class Choice(msgspec.Struct, frozen=True):
    """A machine model and how it was chosen.

    `note`: where it is not that of the core that was named, which one it is and why; "" where there is nothing to say.
    """

    model: MachineModel
    reason: str
    note: str


def choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str] = ()) -> Choice:
    """The machine model and how it was chosen. Raises AnalysisError for names without a model, and for bad models."""
    from incc.models.model import ModelError

    try:
        return _choose_model(mcpu, command_cpu, model_path)
    except ModelError as error:
        raise AnalysisError(str(error)) from error


def _choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str]) -> Choice:
    from incc.models.loading import find_cpu, host_cpu, load

    if mcpu and mcpu != "native":
        cpu = find_cpu(mcpu, model_path, levels=True)
        model = load(cpu.model or mcpu, model_path)
        return Choice(model, f"-mcpu={mcpu}{_nearest(cpu)}", _stand_in(mcpu, cpu))
    instead = note = ""
    if not mcpu and command_cpu and command_cpu != "native":
        cpu = find_cpu(command_cpu, model_path)
        if cpu.model:
            reason = f"the command's target, {command_cpu}{_nearest(cpu)}"
            return Choice(load(cpu.model, model_path), reason, _stand_in(command_cpu, cpu))
        why = f" ({cpu.why})" if cpu.why else ""
        instead = f"; {command_cpu}, the command's target, has no model{why}"
        note = f"no model for the command's target, {command_cpu}{why}: analysed for the host, "
    host, recognised = host_cpu()
    cpu = find_cpu(host, model_path)
    if not cpu.model:
        asked = (
            f"the command's target {command_cpu!r}" if command_cpu and not mcpu else f"the host ({host or 'unknown'})"
        )
        raise AnalysisError(f"no machine model for {asked}; name one of `incc-model list`")
    if note:
        note += f"{host}{_nearest(cpu)}"
    else:
        note = _stand_in(f"the host, {host}", cpu)
    if recognised:
        recognised = f"; {recognised}"
    return Choice(load(cpu.model, model_path), f"the host, {host}{recognised}{_nearest(cpu)}{instead}", note)


def _nearest(cpu: Cpu) -> str:
    return f"; the nearest model is that of {cpu.model}: {cpu.why}" if cpu.nearest else ""


def _stand_in(name: str, cpu: Cpu) -> str:
    """The note on a model that is only the nearest."""
    return f"no model for {name}: analysed for {cpu.model}, the nearest ({cpu.why})" if cpu.nearest else ""


def _other_native(unit: Unit, model: MachineModel, settings: Settings) -> str:
    """A note where the compiler took "native" for another core than this one, as those do that are older than it."""
    words = unit.arguments or unit.command
    if settings.mcpu or not unit.cpu or not any(word.endswith("=native") for word in words):
        return ""
    if any(word.endswith(f"={unit.cpu}") for word in words):
        return ""
    from incc.models.loading import find_cpu, host_cpu_name

    host = host_cpu_name()
    cpu = find_cpu(host, settings.model_path)
    if cpu.model in ("", model.name):
        return ""
    return f"for the compiler native is {unit.cpu}, but the host is {host}"


def model_notes(report: t.Report) -> list[str]:
    """What must be said of the models that were taken, each once."""
    return list(dict.fromkeys(unit.model.note for unit in report.units if unit.model.note))


def read_assembly(unit: Unit, isa: str = "") -> Assembly:
    """The unit's assembly, parsed. Raises AnalysisError for what is no assembly, and for some that is not for `isa` (if
    that is given)."""
    from incc.frontends.asm.parse import parse

    if unit.assembly.startswith("\x7fELF"):
        raise AnalysisError(f"{unit.assembly_file}: not assembly: an ELF file; incc-scan reads objects")
    # clang -g writes what bytes of its tables are as characters into comments, the NUL as well.
    if "\0" in unit.assembly and any("\0" in line.partition("#")[0] for line in unit.assembly.split("\n")):
        raise AnalysisError(f"{unit.assembly_file}: not assembly: there are NUL bytes in it")
    parsed = parse(unit.assembly)
    if isa and parsed.isa != isa and parsed.statements:
        raise AnalysisError(
            f"{unit.assembly_file}: this is {parsed.isa} assembly, but the machine model is of an {isa} core"
        )
    return parsed


def find_regions(parsed: Assembly, settings: Settings, text: str = "") -> tuple[list[Region], list[LeftOut]]:
    """The regions that the settings ask for, and what was left out. `text`: the assembly, for llvm-mca's."""
    from incc.frontends.asm.regions import innermost_loops, llvm_mca_regions, marked_regions, whole_file

    if settings.regions == "loops":
        regions, left_out = innermost_loops(parsed)
    elif settings.regions == "llvm-mca":
        regions, left_out = llvm_mca_regions(parsed, text), []
    else:
        regions, left_out = marked_regions(parsed)
        if not regions and not left_out:
            regions, left_out = whole_file(parsed)
    if settings.functions:
        from incc.report.source.demangle import choose_functions

        names = [r.function for r in regions] + [x.function for x in left_out]
        if any("omp_outlined" in name for name in names):
            # clang's names for parts of functions do not all say whose.
            from incc.frontends.asm.library_calls import outlined

            users = outlined(parsed)
        else:
            users = {}
        wanted = choose_functions([*names, *users.values()], settings.functions)
        wanted |= {part for part, user in users.items() if user in wanted}
        regions = [r for r in regions if r.function in wanted]
        left_out = [x for x in left_out if x.function in wanted]
    return regions, left_out


def select(unit: Unit, parsed: Assembly, settings: Settings) -> Selection:
    """The regions that the settings ask for, without those that are nobody's, each where it is in the user's source."""
    from incc.report.source.selection import located

    regions, left_out = find_regions(parsed, settings, unit.assembly)
    if unit.loops:
        from incc.frontends.asm.compiled import with_compiled

        regions = with_compiled(parsed, unit.assembly, regions, unit.loops)
    loops = settings.regions == "loops"
    if not loops and not parsed.debug:
        from incc.report.source.selection import Selection

        return Selection(
            regions=regions, left_out=left_out, all_regions=regions, places=[], system_loops=0, calls=[], outlined={}
        )
    hide = loops and not settings.functions and not settings.system_headers
    return located(unit, parsed, regions, left_out, settings.functions, calls=loops, hide=hide)


def decode_unit(
    unit: Unit, parsed: Assembly, regions: Sequence[Region], markers: bool = True, checked: Sequence[int] = ()
) -> list[Kernel]:
    """The kernels of a unit's regions, laid out as the code is when it is run. `markers`: instructions that are markers
    are no code. The first kernel also has what is refused on the lines `checked`. Raises AnalysisError."""
    if not regions:
        return []
    from incc.frontends.asm.before import code_before
    from incc.frontends.asm.regions import without_byte_markers
    from incc.frontends.isa import DecodeError, isa

    try:
        text = without_byte_markers(parsed, unit.assembly) if markers else unit.assembly
        before = code_before(parsed, regions)
        return isa(parsed.isa).decode_regions(text, regions, unit.assembly_file, before=before, checked=checked)
    except DecodeError as error:
        raise AnalysisError(str(error)) from error


def analyze_unit(unit: Unit, settings: Settings) -> UnitResult:
    """Everything that was found of a unit. Raises AnalysisError as `analyze_units`."""
    found = analyze_marked(unit, settings, None)
    assert found is not None
    return found


def analyze_marked(unit: Unit, settings: Settings, marks: Sequence[Mark] | None) -> UnitResult | None:
    """The same of what these marks are about, None for everything. There is no result where there are marks and none
    of them is about this unit, which are those of headers."""
    from incc.frontends.isa import isa

    choice = _model_of(unit, settings)
    model, reason, note = choice.model, choice.reason, choice.note
    if unreadable := isa(model.isa).unreadable:
        raise AnalysisError(f"{model.name} is an {model.isa} core, and {unreadable}")
    parsed = read_assembly(unit, model.isa)
    found = select(unit, parsed, settings)
    marked = None
    if marks is not None:
        from incc.report.source.marks import choose_marked

        marked = choose_marked(unit, found, marks)
        if marked is None:
            return None
        found = marked.selection
    regions = found.regions
    inside = _paths_inside(parsed, regions, settings)
    paths = [path.region for of_loop, _ in inside for path in of_loop]
    if settings.regions == "llvm-mca":
        decoded = _with_the_rest(unit, parsed, regions)
    else:
        decoded = decode_unit(unit, parsed, [*regions, *paths])
    kernels, on_paths = decoded[: len(regions)], iter(decoded[len(regions) :])
    if settings.lacking:
        model, note = _with_lacking(model, note, settings.mcpu, kernels)
    places = kernel_places(parsed, found, kernels, unit.assembly)
    result = analyze_kernels(
        unit, kernels, settings, model, reason, places=places, left_out=found.left_out, among=found.all_regions
    )
    result = replace(
        result,
        model_note=note,
        system_loops=found.system_loops,
        calls=tuple(found.calls),
        user_functions=found.outlined,
    )
    if marked is not None:
        result = replace(result, marks=marked.marks, marked=marked.of, mark_errors=marked.errors)
    if settings.functions:
        from incc.report.source.not_found import not_found

        result = replace(result, not_found=tuple(not_found(unit, parsed, found, settings.functions)))
    if paths:
        from incc.core.ways import analyze_ways

        asked = _of_ways(settings)
        try:
            ways_inside = [
                replace(analyze_ways(of_loop, [next(on_paths) for _ in of_loop], model, asked), complete=complete)
                if of_loop
                else None
                for of_loop, complete in inside
            ]
        except ValueError as error:
            raise AnalysisError(str(error)) from error
        result = replace(result, inside=tuple(ways_inside))
    if settings.ways:
        ways = [loop for name in settings.ways for loop in _ways(unit, parsed, model, settings, name, found)]
        result = replace(result, ways=tuple(ways))
    if settings.control_flow:
        from incc.report.control_flow import functions

        result = replace(result, control_flow=tuple(functions(parsed, regions)))
    return result


def kernel_places(parsed: Assembly, found: Selection, kernels: Sequence[Kernel], text: str = "") -> list[KernelPlace]:
    """Where the kernels of the regions found are in the user's source. `text`: the assembly, for the columns."""
    from incc.report.found import KernelPlace

    lines = {s.line: s.location for s in parsed.statements if s.location is not None} if kernels else {}
    columns: dict[int, tuple[int, int]] = {}
    if lines and text:
        from incc.frontends.asm.parse import columns_of

        columns = columns_of(text, {line for k in kernels if k.region for line in k.region.lines if line in lines})
    return [
        KernelPlace(lines=lines, near=None, place=found.places[n], columns=columns)
        if found.places
        else KernelPlace(lines=lines, near=_near(parsed, kernel.region), place=None, columns=columns)
        for n, kernel in enumerate(kernels)
    ]


def _model_of(unit: Unit, settings: Settings) -> Choice:
    """The model that a unit is analysed with. Raises AnalysisError."""
    # What runs here is compared with this core, whatever the code was made for.
    choice = choose_model(settings.mcpu, "" if settings.measure else unit.cpu, settings.model_path)
    model, reason, note = choice.model, choice.reason, choice.note
    if other := _other_native(unit, model, settings):
        reason += f"; {other}"
        note += f"; {other}" if note else other
    return Choice(model, reason, note)


def _with_lacking(model: MachineModel, note: str, cpu: str, kernels: Sequence[Kernel]) -> tuple[MachineModel, str]:
    """The model with LLVM's figures of what is in the kernels and not in it, and the note on the model with that."""
    lacking = {i.form for k in kernels for i in k.instructions if model.lookup(i.form, i.traits) is None}
    if not lacking:
        return model, note
    from incc.models.importers.llvm.missing_forms import with_figures

    model, found = with_figures(model, cpu, lacking)
    said = f"{cpu} lacks {len(found)} of the instructions, which have LLVM's figures for it" if found else ""
    return model, "; ".join(filter(None, (note, said)))


def _with_the_rest(unit: Unit, parsed: Assembly, regions: Sequence[Region]) -> list[Kernel]:
    """The kernels of a unit's regions; the first one also has the instructions of the rest of the text that were
    refused, since llvm-mca reads all of it."""
    from incc.frontends.asm.parse import INSTRUCTION

    if not regions:
        return []
    rest = sorted({s.line for s in parsed.statements if s.kind == INSTRUCTION}.difference(*(r.lines for r in regions)))
    return decode_unit(unit, parsed, regions, markers=False, checked=rest)


def analyze_object(unit: Unit, source: str | bytes, settings: Settings) -> UnitResult:
    """The same of a unit whose code is read from the object that was made of it, at a path or in bytes. Raises
    AnalysisError."""
    from incc.driver.code import object_code

    choice = _model_of(unit, settings)
    code = object_code(source, unit.assembly_file, settings.functions, settings.addresses, settings.regions == "marked")
    if code.kernels and code.kernels[0].isa != choice.model.isa:
        found = code.kernels[0].isa
        raise AnalysisError(
            f"{unit.assembly_file}: {found} code, but {choice.model.name} is an {choice.model.isa} core"
        )
    result = analyze_kernels(
        unit, code.kernels, settings, choice.model, choice.reason, places=code.places(), left_out=code.left_out
    )
    return replace(result, model_note=choice.note)


def analyze_bytes(unit: Unit, blocks: Sequence[tuple[str, bytes]], settings: Settings) -> UnitResult:
    """The same of a unit that is nothing but these blocks of machine code with their names. Raises AnalysisError."""
    from incc.frontends.isa import DecodeError, isa

    choice = _model_of(unit, settings)
    kernels = []
    for name, code in blocks:
        if len(code) > 5 * MOST_INSTRUCTIONS:  # before all of them are decoded; most have 3 to 6 bytes
            raise AnalysisError(_too_long(unit, name, f"{len(code):,} bytes of code"))
        try:
            kernels.append(isa(choice.model.isa).decode_bytes(code, name))
        except (ValueError, DecodeError) as error:
            where = unit.assembly_file if name == unit.assembly_file else f"{unit.assembly_file}: {name}"
            raise AnalysisError(f"{where}: {error}") from error
    return replace(analyze_kernels(unit, kernels, settings, choice.model, choice.reason), model_note=choice.note)


def _too_long(unit: Unit, name: str, size: str) -> str:
    most = f"at most {MOST_INSTRUCTIONS:,} instructions are analysed"
    return f"{unit.assembly_file}: {name}: {size} in one piece, which is too much: {most}"


def analyze_kernels(
    unit: Unit,
    kernels: Sequence[Kernel],
    settings: Settings,
    model: MachineModel,
    reason: str,
    *,
    places: Sequence[KernelPlace] = (),
    left_out: Sequence[LeftOut] = (),
    among: Sequence[Region] = (),
) -> UnitResult:
    """The same of kernels that are decoded already. `places`: one for each of them, or none. `among`: all regions that
    they were chosen from, if that is known. Raises AnalysisError where the core or the kernels do not allow what the
    settings ask for."""
    from incc.core.analysis import analyze_kernel
    from incc.report.found import UnitResult

    for kernel in kernels:
        if len(kernel.instructions) > MOST_INSTRUCTIONS:
            raise AnalysisError(_too_long(unit, kernel.name, f"{len(kernel.instructions):,} instructions"))
    asked = settings.kernel_settings()
    notes = unit.notes
    if len(kernels) > MOST_WITH_WHAT_IFS and asked.what_ifs and not asked.asked:
        asked = replace(asked, what_ifs=False)
        notes = (
            *notes,
            f"no what-ifs, since there are more than {MOST_WITH_WHAT_IFS} kernels: choose some by function",
        )
    known = None
    if len(kernels) > 1:
        from incc.core.known import Known

        known = Known()
    try:
        results = tuple([analyze_kernel(kernel, model, asked, known) for kernel in kernels])
    except ValueError as error:
        raise AnalysisError(str(error)) from error
    ids: tuple[str, ...] = ()
    if settings.for_report:
        from incc.report.identity import kernel_ids

        ids = tuple(kernel_ids(kernels, among))
    found = UnitResult(
        unit=unit,
        model=model,
        chosen_by=reason,
        results=results,
        kernel_ids=ids,
        places=tuple(places),
        left_out=tuple(left_out),
        notes=notes,
        iterations=settings.iterations,
        mispredict_rate=settings.mispredict_rate,
        ghz=settings.ghz,
        syntax=settings.syntax,
        hex_immediates=settings.hex_immediates,
        port_model=settings.port_model,
    )
    if settings.measure:
        from incc.measuring.kernels import measure_kernels

        found = replace(found, measured=tuple(measure_kernels(kernels)), host=host_of(model, settings.model_path))
    return found


def host_of(model: MachineModel, model_path: Sequence[str] = ()) -> tuple[str, bool]:
    """LLVM's name of the core that this runs on ("" if unknown), and whether a model is of that core, not another's or
    only the nearest. Raises ModelError."""
    from incc.models.loading import find_cpu, host_cpu_name

    name = host_cpu_name()
    cpu = find_cpu(name, model_path)
    return name, cpu.model == model.name and not cpu.nearest


MOST_WAYS_OF_RANGES = 8
"""Ways through one loop that are analysed for the range of its prediction, in every report."""


def _paths_inside(parsed: Assembly, regions: Sequence[Region], settings: Settings) -> list[tuple[list[LoopPath], bool]]:
    """For each region the ways through it that its range is made of, and whether these are all; none without branches
    inside, and where no range is wanted."""
    from incc.frontends.asm.regions import paths_inside

    if not settings.what_ifs or not settings.steady or settings.fixed_ports or len(regions) > MOST_WITH_WHAT_IFS:
        return []
    found = paths_inside(parsed, regions, MOST_WAYS_OF_RANGES)
    return [(paths, complete) if len(paths) > 1 else ([], True) for paths, complete in found]


def _of_ways(settings: Settings) -> KernelSettings:
    """What is asked of the ways through loops."""
    return replace(
        settings.kernel_settings(),
        what_ifs=False,
        asked=(),
        waits=False,
        cold_iterations=0,
        alignment=max(settings.alignment, -1),
        timeline_iterations=0,
    )


MOST_WAYS = 16
"""Ways through one loop that are analysed; with every further branch their number may double."""


def _ways(
    unit: Unit,
    parsed: Assembly,
    model: MachineModel,
    settings: Settings,
    which: Literal["paths", "branch"],
    selection: Selection,
) -> list[t.Ways]:
    """The ways through the selected loops that have branches inside: a part of the report for each loop. `which`: as in
    `settings.ways`."""
    from incc.core.ways import analyze_ways
    from incc.frontends.asm.regions import loop_paths
    from incc.report.ways import ways_report

    found = [
        (region, *loop_paths(parsed, region, MOST_WAYS, settings.branch_probability, which == "branch"))
        for region in (selection.regions if settings.regions == "loops" else loops_of(parsed, settings))
    ]
    found = [(region, paths, complete) for region, paths, complete in found if len(paths) > 1]
    kernels = iter(decode_unit(unit, parsed, [path.region for _, paths, _ in found for path in paths]))
    asked = _of_ways(settings)
    try:
        return [
            ways_report(which, region, analyze_ways(paths, [next(kernels) for _ in paths], model, asked), complete)
            for region, paths, complete in found
        ]
    except ValueError as error:
        raise AnalysisError(str(error)) from error


def loops_of(assembly: Assembly, settings: Settings) -> list[Region]:
    """The innermost loops in what the settings select."""
    loops, _ = find_regions(assembly, replace(settings, regions="loops"))
    if settings.regions == "loops":
        return loops
    selected, _ = find_regions(assembly, settings)
    lines = {line for region in selected for line in region.body_lines}
    return [region for region in loops if lines.issuperset(region.body_lines)]


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


def write_marked(unit: Unit, settings: Settings, path: str, dialect: str) -> None:
    """Write the unit's assembly with markers of one dialect (or "all") around the regions that would be analysed, and
    what the compiler says of them, if it was asked."""
    from incc.frontends.asm.markers import insert_markers
    from incc.report.source.compiled import remark
    from incc.support.files import write_file

    regions = select(unit, read_assembly(unit), settings).regions
    said = [remark(region.compiled) if region.compiled else "" for region in regions]
    write_file(path, insert_markers(unit.assembly, regions, dialect, remarks=said), wait=False)
