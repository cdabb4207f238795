"""The pipeline from assembly to a report, used by all commands: regions, kernels, models, analysis."""

from __future__ import annotations

import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from functools import cache, partial
from itertools import compress
from operator import itemgetter
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import astuple, replace

from incc.core import cached
from incc.core.analysis import KernelResult, KernelSettings, analyze_kernel
from incc.driver.settings import Scope, Settings
from incc.frontends.asm.includes import without_includes
from incc.frontends.asm.loops import LoopPath
from incc.frontends.asm.parse import INSTRUCTION, AsmFunction, Assembly, columns_of, parse
from incc.frontends.asm.placed import place
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import (
    innermost_loops,
    llvm_mca_regions,
    loop_paths,
    marked_regions,
    paths_inside,
    region_of_lines,
    whole_file,
    without_byte_markers,
)
from incc.frontends.foreign import unreadable
from incc.frontends.isa import DecodeError, detect, isa
from incc.frontends.kernel import KernelCode, LeftOut, MadeObject, Region, SourceLocation, with_values
from incc.frontends.marks import Mark
from incc.frontends.unit import Unit
from incc.models import loading
from incc.models.loading import Cpu, find_cpu, host_cpu_name, load
from incc.models.model import MachineModel, ModelError, UnknownModelError
from incc.report import types as t
from incc.report import wording
from incc.report.build import build_report, unit_report
from incc.report.identity import kernel_ids, region_ids
from incc.report.source.compiled import remark
from incc.report.source.demangle import choose_functions
from incc.report.source.places import same_file
from incc.report.unit_result import KernelPlace, UnitResult
from incc.support.errors import AnalysisError as AnalysisError
from incc.support.errors import UnknownCoreError
from incc.support.files import write_file
from incc.support.patience import TookTooLong, limited
from incc.support.text import line_list

if TYPE_CHECKING:
    from incc.core.cached import CachedCore
    from incc.driver.code import ObjectCode
    from incc.frontends.asm.call_path import WantedTrips
    from incc.frontends.objects.spans import Addresses
    from incc.report.source.marks import MarkedSelection
    from incc.report.source.selection import Selection


MOST_WITH_WHAT_IFS = 500
"""The most kernels of a file for which changed cores are simulated. That takes as long as the rest of the analysis, and
nobody reads it for thousands of loops."""


def analyze_units(units: Sequence[Unit], settings: Settings) -> t.AnalysisReport:
    """Analyse units and return the report (report/types.py).

    Problems with single statements or loops are in the report and do not stop the rest.

    Raises:
        AnalysisError: No analysis is possible, for example because there is no model.
    """
    return analyze_for_cores([(unit, [settings]) for unit in units])


def analyze_for_cores(tasks: Sequence[tuple[Unit, Sequence[Settings]]], jobs: int = 1) -> t.AnalysisReport:
    """Analyse each unit with each of its settings, such as one for each core, and return the report.

    At most `jobs` processes share the functions of a large unit. Raises AnalysisError.
    """
    return build_report(
        report
        for unit, settings in tasks
        for number, of_core in enumerate(settings)
        for report in _unit_reports(unit, of_core, number > 0, jobs)
    )


def _unit_reports(unit: Unit, settings: Settings, again: bool, jobs: int) -> list[t.UnitReport]:
    shared = _shared(unit, settings, jobs) if jobs > 1 else None
    return [shared] if shared else [unit_report(result) for result in analyses(unit, settings, again)]


LEAST_SHARED = 64
"""The least loops that processes share. To start these takes as long as the analysis of some loops."""


def _shared(unit: Unit, settings: Settings, jobs: int) -> t.UnitReport | None:
    """Return the report on assembly whose functions several processes share, None for another unit or a small one.

    What is said of a loop depends on the loops of its function alone, except for what the unit's source says.
    """
    scope, kernel = settings.scope, settings.kernel
    plain = Scope(marks=scope.marks, system_headers=scope.system_headers, trust_includes=scope.trust_includes)
    others = settings.core.lacking or settings.report.measure or settings.report.control_flow
    if scope != plain or unit.source or unit.marks or others:
        return None
    choice = model_of(unit, settings)
    read = _read_unit(unit, settings, choice)
    regions = read.selection.regions
    of_function: dict[str, list[int]] = {}
    for number, region in enumerate(regions):
        of_function.setdefault(region.function, []).append(number)
    if len(regions) < LEAST_SHARED or len(of_function) < jobs:
        return None
    if len(regions) > MOST_WITH_WHAT_IFS and kernel.what_ifs and not kernel.changes:
        settings = replace(settings, kernel=replace(kernel, what_ifs=False))
        read = replace(read, unit=replace(read.unit, notes=(*read.unit.notes, no_what_ifs())))

    def analysed(functions: Sequence[str]) -> tuple[t.UnitReport, set[str]]:
        wanted = WantedKernels(frozenset(functions), None)
        result = analyze_marked(unit, settings, None, choice, wanted, read)
        assert result is not None
        return unit_report(result), _lacking(choice.model, [each.kernel for each in result.results])

    from incc.support.workers import in_order

    shares = _shares({name: sum(len(regions[n].lines) for n in numbers) for name, numbers in of_function.items()}, jobs)
    done = [*in_order(analysed, shares, jobs, lambda share, _: analysed(share))]
    kernels: dict[int, t.KernelReport] = {}
    left_out = [*read.selection.left_out]
    lacking: set[str] = set()
    for share, (report, forms) in zip(shares, done, strict=True):
        kernels |= zip(sorted(n for name in share for n in of_function[name]), report.kernels, strict=True)
        left_out += report.left_out[len(read.selection.left_out) :]
        lacking |= forms
    first, _ = done[0]
    return replace(
        first,
        model=replace(first.model, version=_with_borrowed(choice.model, lacking)[0].version),
        kernels=[kernels[n] for n in range(len(regions))],
        left_out=left_out,
    )


def _shares(work: Mapping[str, int], count: int) -> list[list[str]]:
    """Return the names in shares with about the same amount of work: the largest go first, to the least share."""
    shares: list[list[str]] = [[] for _ in range(count)]
    amounts = [0] * count
    for name in sorted(work, key=lambda name: -work[name]):
        least = amounts.index(min(amounts))
        shares[least].append(name)
        amounts[least] += work[name]
    return shares


def report_of(results: Iterable[UnitResult]) -> t.AnalysisReport:
    """Return the report on results."""
    return build_report(unit_report(result) for result in results)


def core_reports(settings: Sequence[Settings]) -> t.AnalysisReport:
    """Return a report on cores without code, with a unit for each core. Raises AnalysisError."""
    unit = Unit(assembly="", assembly_file="")
    return report_of(analyze_kernels(unit, (), of_core, model_of(unit, of_core)) for of_core in settings)


def analyses(unit: Unit, settings: Settings, again: bool = False) -> list[UnitResult]:
    """Analyse a unit and return its results, one for each core that marks in its source name.

    Args:
        unit: The unit.
        settings: The settings of the analysis.
        again: True if the unit was analysed for another core before, and so for the cores that marks name.

    Raises:
        AnalysisError: No analysis is possible.
    """
    if settings.scope.marks == "ignore":
        return [analyze_unit(unit, settings)]
    from incc.report.source.marks import read_marks

    marks = read_marks(unit)
    results: list[UnitResult] = []
    for core in marks.cores():
        if core and again:
            continue
        of_core = settings.on(core) if core else settings
        try:
            model_of(unit, of_core)
        except AnalysisError as error:
            if not core:
                raise
            marks = marks.without_core(core, str(error))
            continue
        if (result := analyze_marked(unit, of_core, marks.of_core(core))) is not None:
            results.append(result)
    if not results and (settings.scope.marks == "use" or marks.errors):
        nothing = () if settings.scope.marks == "only" else None
        if (result := analyze_marked(unit, settings, nothing)) is not None:
            results.append(result)
    if results and marks.errors:
        results[0] = replace(results[0], mark_errors=(*marks.errors, *results[0].mark_errors))
    return results


def untried(report: t.AnalysisReport, settings: Settings) -> list[str]:
    """Return messages for the requested changes that apply to none of the simulated kernels."""
    kernels = [kernel for unit in report.units for kernel in unit.kernels if kernel.simulated]
    if not kernels:
        return []
    tried = {change.change for kernel in kernels for change in kernel.what_ifs if change.asked}
    missing = [change.name for change in settings.kernel.changes if change.name not in tried]
    return [f"what-if {name!r}: no kernel has such an instruction" for name in missing]


class WantedKernels(msgspec.Struct, frozen=True):
    """The kernels to analyse with all details, and the functions that they are in."""

    functions: frozenset[str]
    kernel_ids: frozenset[str] | None
    """None for all kernels of the functions."""

    def detailed(self, ids: Iterable[str]) -> list[bool] | None:
        """Return whether the details of kernels with these identities are wanted; None if those of all are."""
        return None if self.kernel_ids is None else [id in self.kernel_ids for id in ids]


class ChosenModel(msgspec.Struct, frozen=True):
    """A machine model and the reason for its choice."""

    model: MachineModel
    reason: str
    note: str
    """The substituted model and why, if it is not that of the named core; else ""."""


def choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str] = (), code_isa: str = "") -> ChosenModel:
    """Choose the machine model for a core.

    Args:
        mcpu: The name of a core or model, "native" or "".
        command_cpu: The target of the compiler's command, used if `mcpu` is "".
        model_path: Folders and files of models that are searched first.
        code_isa: The instruction set of the code, "" if it is unknown. "generic" is another core on each. If no core
            is named, and the host is of another one, the model is the default for the code.

    Raises:
        AnalysisError: There is no model of this name, or it is invalid.
    """
    try:
        return _choose_model(mcpu, command_cpu, model_path, code_isa)
    except UnknownModelError as error:
        raise UnknownCoreError(str(error)) from error
    except ModelError as error:
        raise AnalysisError(str(error)) from error


def _choose_model(mcpu: str, command_cpu: str, model_path: Sequence[str], code_isa: str) -> ChosenModel:
    if mcpu and mcpu != "native":
        cpu = find_cpu(mcpu, model_path, levels=True, isa=code_isa)
        model = load(cpu.model or mcpu, model_path)
        return ChosenModel(model, f"-mcpu={mcpu}{_nearest(cpu)}", _substitute_note(mcpu, cpu))
    instead = note = ""
    if not mcpu and command_cpu and command_cpu != "native":
        cpu = find_cpu(command_cpu, model_path)
        if cpu.model:
            reason = f"the command's target, {command_cpu}{_nearest(cpu)}"
            return ChosenModel(load(cpu.model, model_path), reason, _substitute_note(command_cpu, cpu))
        why = f" ({cpu.why})" if cpu.why else ""
        instead = f"; {command_cpu}, the command's target, has no model{why}"
        note = f"no model for the command's target, {command_cpu}{why}: analysed for the host, "
    host, recognised = loading.host_cpu()
    cpu = find_cpu(host, model_path)
    if not mcpu and code_isa and (not cpu.model or load(cpu.model, model_path).isa != code_isa):
        return _default(command_cpu, code_isa, model_path, instead)
    if not cpu.model:
        core = (
            f"the command's target {command_cpu!r}" if command_cpu and not mcpu else f"the host ({host or 'unknown'})"
        )
        raise AnalysisError(f"no machine model for {core}; name one of `incc-model list`")
    if note:
        note += f"{host}{_nearest(cpu)}"
    else:
        note = _substitute_note(f"the host, {host}", cpu)
    if recognised:
        recognised = f"; {recognised}"
    return ChosenModel(load(cpu.model, model_path), f"the host, {host}{recognised}{_nearest(cpu)}{instead}", note)


def _default(command_cpu: str, code_isa: str, model_path: Sequence[str], instead: str) -> ChosenModel:
    """Return the model for code of an instruction set that is not the host's."""
    core, title = isa(code_isa).usual_core(command_cpu), isa(code_isa).title
    target = f"the command's target, {command_cpu}, is not a core" if command_cpu else "no core is named"
    note = f"{target}: analysed for {core}, the default for {title} code; -mcpu names another"
    return ChosenModel(load(core, model_path), f"the default for {title} code{instead}", note)


def _nearest(cpu: Cpu) -> str:
    return f"; the nearest model is that of {cpu.model}: {cpu.why}" if cpu.nearest else ""


def _substitute_note(name: str, cpu: Cpu) -> str:
    """Return the note on a model that is only the nearest one."""
    return f"no model for {name}: analysed for {cpu.model}, the nearest ({cpu.why})" if cpu.nearest else ""


def _other_native(unit: Unit, model: MachineModel, settings: Settings) -> str:
    """Return the host's core if the compiler resolved "native" to another one, as compilers older than it do."""
    words = unit.arguments or unit.command
    if settings.core.mcpu or not unit.cpu or not any(word.endswith("=native") for word in words):
        return ""
    if any(word.endswith(f"={unit.cpu}") for word in words):
        return ""

    host = host_cpu_name()
    cpu = find_cpu(host, settings.core.model_path)
    return "" if cpu.model in ("", model.name) else host


def model_notes(report: t.AnalysisReport) -> list[str]:
    """Return the notes on the models of a report, each once."""
    return list(dict.fromkeys(unit.model.note for unit in report.units if unit.model.note))


def in_gnu_syntax(unit: Unit) -> Unit:
    """Return a unit whose text was given with the text as GNU as reads it; a compiler's text says its syntax."""
    if unit.way != "given" or unreadable(unit.assembly):
        return unit
    return replace(unit, assembly=isa(detect(unit.assembly)).in_gnu_syntax(unit.assembly))


def with_trust(unit: Unit, scope: Scope) -> Unit:
    """Return the unit as one that may read other files, or without the directives that do, with a note on them."""
    if scope.trust_includes:
        return replace(unit, trusted=True)
    if unit.reads_files:
        return unit
    text, lines = without_includes(unit.assembly)
    if not lines:
        return unit
    note = f".include and .incbin are ignored ({line_list(lines)}); --trust-includes permits them"
    return replace(unit, assembly=text, notes=(*unit.notes, note))


def read_assembly(unit: Unit, isa: str = "") -> Assembly:
    """Parse the unit's assembly. Raises AnalysisError if it is not assembly, or not for `isa` (if that is given)."""
    if unit.assembly.startswith("\x7fELF"):
        raise AnalysisError(f"{unit.assembly_file}: not assembly but an ELF file; incc-scan reads objects")
    if re.match(r'\s*(\{\s*"|\[\s*\{)', unit.assembly):
        raise AnalysisError(f"{unit.assembly_file}: not assembly but JSON; incc-report and incc-diff read reports")
    if "\0" in unit.assembly and _has_binary(unit.assembly):
        raise AnalysisError(f"{unit.assembly_file}: not assembly: it contains NUL bytes")
    if reason := unreadable(unit.assembly):
        raise AnalysisError(f"{unit.assembly_file}: {reason}")
    parsed = parse(unit.assembly, detect(unit.assembly, isa))
    if isa and parsed.isa != isa and parsed.statements:
        mismatch = f"{parsed.isa} assembly, but the machine model is of an {isa} core"
        raise AnalysisError(f"{unit.assembly_file}: {mismatch}")
    return parsed


def _has_binary(text: str) -> bool:
    """Return True if a text contains NUL bytes outside of comments, in which those of clang -g may have some."""
    signs = "|".join(map(re.escape, isa(detect(text)).syntax.comments))
    return any("\0" in re.split(signs, line, maxsplit=1)[0] for line in text.split("\n") if "\0" in line)


def find_regions(parsed: Assembly, scope: Scope, text: str = "") -> tuple[list[Region], list[LeftOut]]:
    """Return the regions to analyse and those left out. `text` is the assembly, for llvm-mca's markers."""
    if scope.lines:
        regions, left_out = region_of_lines(parsed, scope.lines)
    elif scope.regions == "loops":
        regions, left_out = innermost_loops(parsed)
    elif scope.regions == "llvm-mca":
        regions, left_out = llvm_mca_regions(parsed, text), []
    else:
        regions, left_out = marked_regions(parsed)
        if not regions and not left_out:
            regions, left_out = whole_file(parsed)
    if scope.functions:
        names = [r.function for r in regions] + [x.function for x in left_out]
        if any("omp_outlined" in name for name in names):
            # The names that clang gives to outlined functions do not all contain the user's function.
            from incc.frontends.asm.library_calls import outlined

            users = outlined(parsed)
        else:
            users = {}
        wanted = choose_functions([*names, *users.values()], scope.functions)
        wanted |= {part for part, user in users.items() if user in wanted}
        regions = [r for r in regions if r.function in wanted]
        left_out = [x for x in left_out if x.function in wanted]
    return regions, left_out


def with_likely_regions(unit: Unit, settings: Settings, isa: str = "") -> Settings:
    """Return the settings for a unit's marked regions if it has any, else for its innermost loops.

    Raises AnalysisError if the unit is not assembly, or not for `isa` (if that is given).
    """
    marked, _ = find_regions(read_assembly(unit, isa), Scope(regions="marked"))
    # Assembly without an instruction is a mistake, which the marked regions report; a source without one is none.
    whole = bool(marked or unit.source) and all(region.kind == "file" for region in marked)
    return replace(settings, scope=replace(settings.scope, regions="loops" if whole else "marked"))


def select(unit: Unit, parsed: Assembly, scope: Scope) -> Selection:
    """Return the regions to analyse, with their places in the user's source."""
    from incc.report.source.selection import located

    regions, left_out = find_regions(parsed, scope, unit.assembly)
    if unit.loops:
        from incc.frontends.asm.compiled import with_compiled

        regions = with_compiled(parsed, unit.assembly, regions, unit.loops)
    loops = scope.regions == "loops"
    if not loops and not parsed.debug:
        from incc.report.source.selection import Selection

        return Selection(
            regions=regions, left_out=left_out, all_regions=regions, places=[], system_loops=0, calls=[], outlined={}
        )
    hide = loops and not scope.functions and not scope.system_headers
    return located(unit, parsed, regions, left_out, scope.functions, calls=loops, hide=hide)


def decode_unit(
    unit: Unit,
    parsed: Assembly,
    regions: Sequence[Region],
    markers: bool = True,
    checked: Sequence[int] = (),
    variables: bool = False,
) -> list[KernelCode]:
    """Decode the kernels of a unit's regions, laid out as in the executed code.

    Args:
        unit: The unit.
        parsed: Its assembly.
        regions: The regions to decode.
        markers: Remove instructions that are markers.
        checked: Lines whose undecodable instructions are reported with the first kernel.
        variables: Name the variables that hold values with which kernels are entered.

    Raises:
        AnalysisError: The assembler or decoder failed.
    """
    if not regions:
        return []

    try:
        text = without_byte_markers(parsed, unit.assembly) if markers else unit.assembly
        before = code_before(parsed, regions)
        names = None
        if variables and parsed.debug:
            from incc.frontends.objects.variables import TextVariables

            names = TextVariables(parsed, unit.assembly)
            wanted = names.registers(regions)
            before = [replace(code, wanted=w) if code else None for code, w in zip(before, wanted, strict=True)]
        made = MadeObject(unit.made, partial(place, parsed)) if unit.made and text == unit.assembly else None
        kernels = isa(parsed.isa).decode_regions(
            text, regions, unit.assembly_file, before=before, checked=checked, trusted=unit.reads_files, made=made
        )
        return names.named(kernels) if names else kernels
    except DecodeError as error:
        raise AnalysisError(str(error)) from error


def analyze_unit(unit: Unit, settings: Settings) -> UnitResult:
    """Analyse a unit, ignoring marks in its source. Raises AnalysisError like `analyze_units`."""
    result = analyze_marked(unit, settings, None)
    assert result is not None
    return result


class _Read(msgspec.Struct, frozen=True):
    """A unit's code as it was read."""

    unit: Unit
    """The unit, with its assembly in GNU as' syntax."""
    parsed: Assembly
    selection: Selection
    """The regions to analyse."""


def _read_unit(unit: Unit, settings: Settings, choice: ChosenModel) -> _Read:
    """Read the assembly of a unit and select its regions. Raises AnalysisError."""
    unit = with_trust(unit, settings.scope)
    if settings.scope.regions != "llvm-mca":
        unit = in_gnu_syntax(unit)
    parsed = read_assembly(unit, choice.model.isa)
    return _Read(unit, parsed, _within_limits(select(unit, parsed, settings.scope), settings))


def analyze_marked(
    unit: Unit,
    settings: Settings,
    marks: Sequence[Mark] | None,
    choice: ChosenModel | None = None,
    wanted: WantedKernels | None = None,
    read: _Read | None = None,
) -> UnitResult | None:
    """Analyse the code that the marks select, or everything if they are None.

    Args:
        unit: The unit.
        settings: The settings of the analysis.
        marks: The marks in its source.
        choice: The machine model; None to choose it.
        wanted: The kernels to analyse; None for all.
        read: The unit's code, if it has been read.

    Returns:
        The result; None if there are marks but none of them, such as those of headers, concerns this unit.
    """
    choice = choice or model_of(unit, settings)
    given = unit
    unit, parsed, selection = astuple(read or _read_unit(unit, settings, choice))
    marked = None
    if marks is not None:
        from incc.report.source.marks import choose_marked

        marked = choose_marked(unit, selection, marks)
        if marked is None:
            return None
        selection = marked.selection
    details = None
    if wanted is not None:
        selection = _filtered(selection, [region.function in wanted.functions for region in selection.regions])
        details = wanted.detailed(region_ids(selection.regions, selection.all_regions))
    regions = selection.regions
    code = _kept(given, settings, len(regions)) if marks is None else ""
    if code:
        settings = settings.for_advice()
    inside = _paths_inside(parsed, regions, settings, unit.assembly, details)
    paths = [path.region for of_loop, _ in inside for path in of_loop]
    if settings.scope.regions == "llvm-mca":
        decoded = _with_the_rest(unit, parsed, regions)
    else:
        decoded = decode_unit(unit, parsed, [*regions, *paths], variables=settings.kernel.names_values)
    kernels, on_paths = decoded[: len(regions)], iter(decoded[len(regions) :])
    kernels = _with_line_names(kernels, parsed, unit.source)
    kernels = _with_marked_values(kernels, marked, settings.kernel)
    if settings.core.lacking:
        choice = _with_lacking(choice, settings.core.mcpu, kernels)
    model = choice.model
    result = analyze_kernels(
        unit,
        kernels,
        settings,
        choice,
        places=kernel_places(parsed, selection, kernels, unit.assembly),
        left_out=selection.left_out,
        among=selection.all_regions,
        details=details,
    )
    result = replace(
        result,
        code=code,
        system_loops=selection.system_loops,
        calls=tuple(selection.calls),
        user_functions=selection.outlined,
    )
    if marked is not None:
        result = replace(result, marks=marked.marks, marked=marked.of, mark_errors=marked.errors)
    if settings.scope.functions:
        from incc.report.source.not_found import not_found

        missing = not_found(unit, parsed, selection, settings.scope.functions)
        result = replace(result, not_found=tuple(missing))
    if paths:
        from incc.core.ways import analyze_ways

        of_paths = _path_settings(settings.kernel)
        try:
            ways_inside = [
                replace(analyze_ways(of_loop, [next(on_paths) for _ in of_loop], model, of_paths), complete=complete)
                if of_loop
                else None
                for of_loop, complete in inside
            ]
        except ValueError as error:
            raise AnalysisError(str(error)) from error
        result = replace(result, inside=tuple(ways_inside))
    if settings.scope.ways:
        ways = [loop for name in settings.scope.ways for loop in _ways(unit, parsed, model, settings, name, selection)]
        result = replace(result, ways=tuple(ways))
    result = _with_calls(unit, parsed, result, settings, _trips_of(settings.scope.trips, marked, regions))
    if settings.report.control_flow:
        from incc.report.parts.control_flow import functions

        result = replace(result, control_flow=tuple(functions(parsed, regions)))
    return result


def _with_marked_values(
    kernels: Sequence[KernelCode], marked: MarkedSelection | None, settings: KernelSettings
) -> list[KernelCode]:
    """Return kernels with the values that marks give to registers and variables; those of the settings come first."""
    if marked is None:
        return list(kernels)
    given = dict(settings.let)
    values = [{name: value for n in numbers for name, value in marked.marks[n].let} for numbers in marked.of]
    return [
        with_values(kernel, {name: value for name, value in of_kernel.items() if name not in given})
        for kernel, of_kernel in zip(kernels, values, strict=True)
    ]


def _with_calls(
    unit: Unit,
    parsed: Assembly,
    result: UnitResult,
    settings: Settings,
    trips_of: Callable[[str], WantedTrips | None] | None,
) -> UnitResult:
    """Return the result with what its functions' calls say: their cycles, or what hints and short calls need of them.

    `trips_of` returns the trip counts of a function; it is None if there are none.
    """

    def decode(region: Region) -> KernelCode:
        return decode_unit(unit, parsed, [region])[0]

    few = len(result.results) <= MOST_WITH_WHAT_IFS
    if settings.kernel.steady and settings.scope.regions == "loops" and few:
        from incc.driver.calls import with_unit_strides

        result = with_unit_strides(parsed, result, decode)
    if trips_of is not None:
        from incc.driver.calls import predict_calls

        of_function = {r.kernel.region.function: None for r in result.results if r.kernel.region}
        given = {function: trips for function in of_function if (trips := trips_of(function)) is not None}
        result = predict_calls(parsed, replace(result, trips=given), trips_of, decode)
    elif settings.scope.near_trips:
        from incc.driver.calls import with_near_trips

        result = with_near_trips(parsed, result, decode)
    if few and any(isinstance(each, int) for each in settings.kernel.data):
        from incc.driver.calls import with_passes

        result = with_passes(parsed, result, decode)
    if settings.kernel.what_ifs and settings.scope.regions == "loops" and few:
        from incc.driver.calls import find_replaced

        result = find_replaced(parsed, result, decode)
    return result


def _trips_of(
    trips: WantedTrips | None, marked: MarkedSelection | None, regions: Sequence[Region]
) -> Callable[[str], WantedTrips | None] | None:
    """Return the trip counts of calls by function, those of the option or else of marks; None if there are none."""
    if trips is not None:
        return lambda function: trips
    if marked is None or not any(mark.trip for mark in marked.marks):
        return None
    from incc.frontends.asm.call_path import parse_trips

    of_function: dict[str, WantedTrips] = {}
    for region, numbers in zip(regions, marked.of, strict=True):
        for text in [marked.marks[n].trip for n in numbers if marked.marks[n].trip]:
            of_function.setdefault(region.function, parse_trips(text))
    return of_function.get


def _with_line_names(kernels: Sequence[KernelCode], parsed: Assembly, source: str) -> list[KernelCode]:
    """Return the kernels of a compiled source, or those with lines of a source, with the names of these lines.

    The lines of the source, or else of a kernel's own file, are numbers alone.
    """
    places = {statement.line: at for statement in parsed.statements if (at := statement.location)}
    return [_with_names(kernel, places, source) for kernel in kernels]


def _with_names(kernel: KernelCode, places: Mapping[int, SourceLocation], source: str) -> KernelCode:
    region = kernel.region
    if not source and (region is None or region.source is None):
        return kernel
    own = source or (region.source.file if region and region.source else "")
    names = {
        line: f"{'' if same_file(at.file, own) else f'{os.path.basename(at.file)}:'}{at.line}"
        for line in (region.body_lines if region else ())
        if (at := places.get(line))
    }
    return replace(kernel, line_names=names)


def kernel_places(
    parsed: Assembly, selection: Selection, kernels: Sequence[KernelCode], text: str = ""
) -> list[KernelPlace]:
    """Return the places of kernels in the user's source. `text` is the assembly, for the columns."""
    lines = {s.line: s.location for s in parsed.statements if s.location is not None} if kernels else {}
    columns: dict[int, tuple[int, int]] = {}
    if lines and text:
        columns = columns_of(text, {line for k in kernels if k.region for line in k.region.lines if line in lines})
    functions = {function.name: function for function in reversed(parsed.functions)}
    own = cache(lambda name: _own_places(parsed, functions.get(name)))
    return [
        KernelPlace(lines=lines, near=None, place=selection.places[n], columns=columns)
        if selection.places
        else KernelPlace(
            lines=lines,
            near=_near(own(kernel.region.function), kernel.region) if lines and kernel.region else None,
            place=None,
            columns=columns,
        )
        for n, kernel in enumerate(kernels)
    ]


def model_of(unit: Unit, settings: Settings, code_isa: str = "") -> ChosenModel:
    """Return the model for the analysis of a unit. Raises AnalysisError.

    `code_isa` is the instruction set of its code, by default that of its assembly if there is any.
    """
    # Measurements are compared with the host, whatever the target of the code is.
    target = "" if settings.report.measure else unit.cpu
    mcpu = settings.core.mcpu or ("native" if settings.report.measure else "")
    if mcpu.partition("+")[0] in ("", "generic") and not code_isa and unit.assembly:
        code_isa = detect(unit.assembly, settings.core.isa)
    choice = choose_model(mcpu, target, settings.core.model_path, code_isa)
    if host := _other_native(unit, choice.model, settings):
        # The code will run here, whatever the compiler takes this machine for.
        own = choose_model(host, "", settings.core.model_path)
        return ChosenModel(own.model, f"the host, {host} (the compiler resolves native to {unit.cpu})", own.note)
    return choice


def _with_lacking(choice: ChosenModel, cpu: str, kernels: Sequence[KernelCode]) -> ChosenModel:
    """Add LLVM's figures for instructions that the model lacks."""
    lacking = _lacking(choice.model, kernels)
    if not lacking:
        return choice
    from incc.models.importers.llvm.missing_forms import with_figures

    model, added = with_figures(choice.model, cpu, lacking)
    text = f"{cpu} lacks {len(added)} of the instructions, which have LLVM's figures for it" if added else ""
    return ChosenModel(model, choice.reason, "; ".join(filter(None, (choice.note, text))))


def _lacking(model: MachineModel, kernels: Sequence[KernelCode]) -> set[str]:
    """Return the forms in kernels that the model lacks. Raises AnalysisError for an invalid model."""
    try:
        return {i.form for k in kernels for i in k.instructions if model.lookup(i.form, i.traits) is None}
    except ModelError as error:
        raise AnalysisError(str(error)) from error


def _with_borrowed(model: MachineModel, lacking: Set[str]) -> tuple[MachineModel, dict[str, str]]:
    """Add figures of related cores for forms that the model lacks; also return whose they are, by form."""
    if not lacking:
        return model, {}
    from incc.models.borrowed import with_borrowed

    return with_borrowed(model, lacking)


def _naming_lenders(result: KernelResult, borrowed: Mapping[str, str]) -> KernelResult:
    """Add a note on the instructions of a kernel that have figures of other cores."""
    at = [n for n, instruction in enumerate(result.kernel.instructions) if instruction.form in borrowed]
    if not at:
        return result
    lenders = list(dict.fromkeys(borrowed[result.kernel.instructions[n].form] for n in at))
    note = (
        f"{result.model.name} lacks {wording.counted(len(at), 'instruction')} ({wording.places(result.kernel, at)}), "
        f"so figures of {wording.listed(lenders)} count"
    )
    return replace(result, notes=(*result.notes, note))


def _with_the_rest(unit: Unit, parsed: Assembly, regions: Sequence[Region]) -> list[KernelCode]:
    """Decode the kernels of a unit; the first one also has undecodable instructions elsewhere in the text.

    llvm-mca parses the whole text, too.
    """
    if not regions:
        return []
    rest = sorted({s.line for s in parsed.statements if s.kind == INSTRUCTION}.difference(*(r.lines for r in regions)))
    return decode_unit(unit, parsed, regions, markers=False, checked=rest)


def analyze_object(
    unit: Unit,
    source: str | bytes,
    settings: Settings,
    part: Addresses | None = None,
    choice: ChosenModel | None = None,
    wanted: WantedKernels | None = None,
) -> UnitResult:
    """Analyse a unit whose code is in an object.

    Args:
        unit: The unit.
        source: The path of the object, or its bytes.
        settings: The settings of the analysis.
        part: A part of a large object, None for all of it.
        choice: The machine model; None to choose it.
        wanted: The kernels to analyse; None for all.

    Raises:
        AnalysisError: The object cannot be read, or has code for another instruction set than the model.
    """
    from incc.driver.code import code_of, object_code

    name, scope = unit.assembly_file, settings.scope
    code = code_of(source, name, scope, part) if part is not None else object_code(source, name, scope)
    details = None
    if wanted is not None:
        code = code.where(wanted.functions.__contains__)
        details = wanted.detailed(kernel_ids(code.kernels))
    kept = ""
    if settings.later and part is None:
        data = source
        if not isinstance(data, bytes):
            with open(source, "rb") as file:
                data = file.read()
        kept = _kept(unit, settings, len(code.kernels), data)
    result = analyze_code(unit, code, settings.for_advice() if kept else settings, choice, details)
    return replace(result, code=kept)


def analyze_code(
    unit: Unit,
    code: ObjectCode,
    settings: Settings,
    choice: ChosenModel | None = None,
    details: Sequence[bool] | None = None,
) -> UnitResult:
    """Analyse code from an object as one unit.

    Args:
        unit: The unit.
        code: The code.
        settings: The settings of the analysis.
        choice: The machine model; None to choose it.
        details: As for `analyze_kernels`.

    Raises:
        AnalysisError: There is no model, or the code is for another instruction set than the model.
    """
    choice = model_for(unit, code, settings, choice)
    if code.sources and settings.kernel.names_values:
        from incc.frontends.objects.variables import with_variables_of_object

        code = replace(code, kernels=with_variables_of_object(code.kernels, code.sources))
    kept = within_limits(code, settings)
    return analyze_kernels(
        unit,
        kept.kernels,
        settings,
        choice,
        places=kept.places(),
        left_out=kept.left_out,
        details=None if details is None else [*compress(details, _fitting(code, settings))],
    )


def model_for(unit: Unit, code: ObjectCode, settings: Settings, choice: ChosenModel | None = None) -> ChosenModel:
    """Return the model that code from an object is analysed with, `choice` if there is one. Raises AnalysisError."""
    choice = choice or model_of(unit, settings, code.isa)
    if code.kernels and code.isa != choice.model.isa:
        what = f"{code.isa} code, but {choice.model.name} is an {choice.model.isa} core"
        raise AnalysisError(f"{unit.source or unit.assembly_file}: {what}")
    return choice


def within_limits(code: ObjectCode, settings: Settings) -> ObjectCode:
    """Return code with the loops left out that are too long to be analysed."""
    fit = _fitting(code, settings)
    if all(fit):
        return code
    long = [k.region for k, fits in zip(code.kernels, fit, strict=True) if k.region and not fits]
    return replace(
        code,
        kernels=[*compress(code.kernels, fit)],
        left_out=[*code.left_out, *(_left_out(region, settings) for region in long)],
        sources=[*compress(code.sources, fit)],
    )


def _fitting(code: ObjectCode, settings: Settings) -> list[bool]:
    return [len(kernel.instructions) <= settings.limits.instructions for kernel in code.kernels]


def analyze_bytes(unit: Unit, blocks: Sequence[tuple[str, bytes]], settings: Settings) -> UnitResult:
    """Analyse named blocks of machine code as one unit. Raises AnalysisError."""
    choice = model_of(unit, settings)
    kernels = []
    for name, code in blocks:
        if len(code) > 15 * settings.limits.instructions:  # before decoding
            raise AnalysisError(f"{unit.assembly_file}: {name}: {_too_long(f'{len(code):,} bytes of code', settings)}")
        try:
            kernels.append(isa(choice.model.isa).decode_bytes(code, name))
        except (ValueError, DecodeError) as error:
            where = unit.assembly_file if name == unit.assembly_file else f"{unit.assembly_file}: {name}"
            raise AnalysisError(f"{where}: {error}") from error
    # Blocks of bare machine code come from benchmarks, whose buffers are aligned.
    settings = replace(settings, kernel=replace(settings.kernel, arrays="aligned"))
    for kernel in kernels:
        if (size := len(kernel.instructions)) > settings.limits.instructions:
            raise AnalysisError(f"{unit.assembly_file}: {kernel.name}: {_too_long(f'{size:,} instructions', settings)}")
    return analyze_kernels(unit, kernels, settings, choice)


def _too_long(size: str, settings: Settings) -> str:
    most = f"{settings.limits.instructions:,}"
    return f"{size}, but at most {most} are analysed in {settings.limits.memory >> 20} MiB; --max-memory allows more"


def _within_limits(selection: Selection, settings: Settings) -> Selection:
    """Return a selection without the regions whose analysis would take too much memory."""
    most = settings.limits.instructions
    if all(len(region.lines) <= most for region in selection.regions):
        return selection
    left_out = [_left_out(r, settings) for r in selection.regions if len(r.lines) > most]
    kept = _filtered(selection, [len(region.lines) <= most for region in selection.regions])
    return replace(kept, left_out=[*selection.left_out, *left_out])


def _filtered(selection: Selection, wanted: Sequence[bool]) -> Selection:
    """Return a selection with only some of its regions."""
    return replace(
        selection,
        regions=[*compress(selection.regions, wanted)],
        places=[*compress(selection.places, wanted)],
    )


def _kept(unit: Unit, settings: Settings, kernels: int, code: bytes = b"") -> str:
    """Return a unit's code if its kernels are to be completed later, and can be; else "".

    Args:
        unit: The unit as it was given.
        settings: The settings of its analysis.
        kernels: The number of its kernels.
        code: The object file, if the code is from there.
    """
    if not settings.later or not 0 < kernels <= MOST_WITH_WHAT_IFS or not settings.are_usual:
        return ""
    if without_includes(unit.assembly)[1]:
        return ""  # what it reads will not be there
    from incc.frontends.kept import KeptCode, pack

    kept = KeptCode(
        unit=unit,
        code=code,
        functions=settings.scope.functions,
        system_headers=settings.scope.system_headers,
        timeline_iterations=settings.kernel.timeline_iterations,
    )
    try:
        return pack(kept)
    except ValueError:
        return ""


def _left_out(region: Region, settings: Settings, reason: str = "") -> LeftOut:
    """Return a region that hits a limit, by default that of its size."""
    return LeftOut(
        first_line=region.first_line,
        last_line=region.last_line,
        function=region.function,
        label=region.label,
        reason=reason or _too_long(f"{len(region.lines):,} instructions", settings),
    )


def no_what_ifs() -> str:
    """Return the note on a unit with too many kernels to simulate changed cores."""
    return f"no what-ifs, since there are more than {MOST_WITH_WHAT_IFS} kernels; choose some by function"


def analyze_kernels(
    unit: Unit,
    kernels: Sequence[KernelCode],
    settings: Settings,
    choice: ChosenModel,
    *,
    places: Sequence[KernelPlace] = (),
    left_out: Sequence[LeftOut] = (),
    among: Sequence[Region] = (),
    details: Sequence[bool] | None = None,
) -> UnitResult:
    """Analyse decoded kernels as one unit.

    Args:
        unit: The unit.
        kernels: Its kernels.
        settings: The settings of the analysis.
        choice: The machine model.
        places: The place of each kernel in the source, or none.
        left_out: Loops and regions that cannot be analysed.
        among: All regions from which the kernels were chosen, if available.
        details: True for the kernels whose details are wanted, and not only what advice depends on; None for all.

    Raises:
        AnalysisError: The settings do not apply to the core or the kernels.
    """
    model = choice.model
    borrowed: Mapping[str, str] = {}
    if not settings.core.lacking:
        model, borrowed = _with_borrowed(choice.model, _lacking(choice.model, kernels))
    of_kernel = settings.kernel
    if settings.report.measure:
        of_kernel = replace(of_kernel, arrays="aligned")  # as the arrays of the measurement are
    notes = unit.notes
    if len(kernels) > MOST_WITH_WHAT_IFS and of_kernel.what_ifs and not of_kernel.changes:
        of_kernel = replace(of_kernel, what_ifs=False)
        notes = (*notes, no_what_ifs())
    cache = cached.of_thread()
    try:
        without = replace(of_kernel, for_advice=True, timeline_iterations=0)
        limited_results = [
            _limited_analysis(kernel, model, of_kernel if details is None or details[n] else without, cache, settings)
            for n, kernel in enumerate(kernels)
        ]
        results = tuple([each for each, _ in limited_results])
        left_out = [*left_out, *(limit for _, limit in limited_results if limit is not None)]
        if borrowed:
            results = tuple([_naming_lenders(result, borrowed) for result in results])
    except ValueError as error:
        raise AnalysisError(str(error)) from error
    ids: tuple[str, ...] = ()
    if of_kernel.explained:
        ids = tuple(kernel_ids(kernels, among))
    result = UnitResult(
        unit=unit,
        model=model,
        chosen_by=choice.reason,
        model_note=choice.note,
        results=results,
        settings=settings.report,
        kernel_ids=ids,
        places=tuple(places),
        left_out=tuple(left_out),
        notes=notes,
    )
    if settings.report.measure:
        from incc.measuring.kernels import measure_kernels

        result = replace(
            result,
            measured=tuple(measure_kernels(kernels, settings.report.unsafe)),
            host=host_of(model, settings.core.model_path),
        )
    return result


def _limited_analysis(
    kernel: KernelCode, model: MachineModel, of_kernel: KernelSettings, cache: CachedCore | None, settings: Settings
) -> tuple[KernelResult, LeftOut | None]:
    """Analyse a kernel; if that takes too long, compute only its bounds, and say so. Raises ValueError."""
    seconds = settings.limits.seconds
    try:
        with limited(seconds):
            return analyze_kernel(kernel, model, of_kernel, cache), None
    except TookTooLong:
        only_bounds = replace(of_kernel.for_cycles_alone(), simulate=False, steady=True)
        reason = f"only bounds: its simulation takes more than {seconds} s; --max-seconds allows more"
        return (
            analyze_kernel(kernel, model, only_bounds),
            _left_out(kernel.region, settings, reason)
            if kernel.region
            else LeftOut(label=kernel.name, reason=f"{kernel.name}: {reason}"),
        )


def host_of(model: MachineModel, model_path: Sequence[str] = ()) -> tuple[str, bool]:
    """Return LLVM's name of the host ("" if unknown), and True if the model is of that core. Raises ModelError."""
    name = host_cpu_name()
    cpu = find_cpu(name, model_path)
    return name, cpu.model == model.name and not cpu.nearest


MOST_WAYS_OF_RANGES = 8
"""Most paths through a loop that are analysed for the range of its prediction, in every report."""


_COMPLEX_PRODUCTS = tuple([f"__{operation}{size}c3" for operation in ("mul", "div") for size in "sdxt"])
"""Calls on rare paths that advice depends on."""


def _paths_inside(
    parsed: Assembly, regions: Sequence[Region], settings: Settings, text: str, details: Sequence[bool] | None
) -> list[tuple[list[LoopPath], bool]]:
    """Return the paths through each region that determine its range, and True if these are all.

    There are none in regions without branches, or if no range is requested.

    Args:
        parsed: The assembly.
        regions: The regions.
        settings: The settings of the analysis.
        text: The assembly's text.
        details: As for `analyze_kernels`.
    """
    kernel = settings.kernel
    if not kernel.what_ifs or not kernel.steady or kernel.fixed_ports or len(regions) > MOST_WITH_WHAT_IFS:
        return []
    if not any(sign in text for sign in _COMPLEX_PRODUCTS):
        if kernel.for_advice:
            return []
        if details is not None:
            some = iter(paths_inside(parsed, [*compress(regions, details)], MOST_WAYS_OF_RANGES))
            return [_several(*next(some)) if detailed else ([], True) for detailed in details]
    return [_several(*paths) for paths in paths_inside(parsed, regions, MOST_WAYS_OF_RANGES)]


def _several(paths: list[LoopPath], complete: bool) -> tuple[list[LoopPath], bool]:
    """Return the paths through a loop, and True if these are all; none if there is only one."""
    return (paths, complete) if len(paths) > 1 else ([], True)


def _path_settings(settings: KernelSettings) -> KernelSettings:
    """Return the settings for the paths through a loop."""
    return replace(
        settings,
        what_ifs=False,
        changes=(),
        waits=False,
        cold_iterations=0,
        alignment=max(settings.alignment, -1),
        timeline_iterations=0,
    )


MOST_WAYS = 16
"""Most paths through a loop that are analysed on request; every branch may double their number."""


def _ways(
    unit: Unit,
    parsed: Assembly,
    model: MachineModel,
    settings: Settings,
    which: Literal["paths", "branch"],
    selection: Selection,
) -> list[t.WaysReport]:
    """Analyse the paths through the selected loops with branches; return a part of the report for each loop."""
    from incc.core.ways import analyze_ways
    from incc.report.ways import ways_report

    loops = [
        (region, *loop_paths(parsed, region, MOST_WAYS, settings.scope.branch_probability, which == "branch"))
        for region in (selection.regions if settings.scope.regions == "loops" else loops_of(parsed, settings.scope))
    ]
    loops = [(region, paths, complete) for region, paths, complete in loops if len(paths) > 1]
    kernels = iter(decode_unit(unit, parsed, [path.region for _, paths, _ in loops for path in paths]))
    of_paths = _path_settings(settings.kernel)
    try:
        return [
            ways_report(which, region, analyze_ways(paths, [next(kernels) for _ in paths], model, of_paths), complete)
            for region, paths, complete in loops
        ]
    except ValueError as error:
        raise AnalysisError(str(error)) from error


def loops_of(assembly: Assembly, scope: Scope) -> list[Region]:
    """Return the innermost loops of the selected regions."""
    loops, _ = find_regions(assembly, replace(scope, regions="loops"))
    if scope.regions == "loops":
        return loops
    selected, _ = find_regions(assembly, scope)
    lines = {line for region in selected for line in region.body_lines}
    return [region for region in loops if lines.issuperset(region.body_lines)]


def _own_places(parsed: Assembly, function: AsmFunction | None) -> list[tuple[int, SourceLocation]]:
    """Return the places in the function's own file of a function's statements, with their lines."""
    statements = (parsed.statements[i] for i in function.statements) if function else ()
    places = [(s.line, s.location) for s in statements if s.location is not None]
    return [(line, place) for line, place in places if place.file == places[0][1].file]


def _near(own: Sequence[tuple[int, SourceLocation]], region: Region) -> SourceLocation | None:
    """Return the nearest place in the function's own file for a kernel inlined from another file.

    That is the last place before the kernel, else the first place of the function. None for other kernels, and without
    debug information.

    Args:
        own: The `_own_places` of the kernel's function.
        region: The kernel's region.
    """
    if region.source is None or not own or region.source.file == own[0][1].file:
        return None
    return own[max(bisect_left(own, region.first_line, key=itemgetter(0)) - 1, 0)][1]


def marked_text(unit: Unit, scope: Scope, dialect: str) -> str:
    """Return the unit's assembly with markers around the analysed regions, and the compiler's remarks on them.

    Args:
        unit: The unit.
        scope: The selection of the regions.
        dialect: The dialect of the markers, or "all".
    """
    from incc.frontends.asm.markers import insert_markers

    readable = in_gnu_syntax(unit)
    regions = select(readable, read_assembly(readable), scope).regions
    remarks = [remark(region.compiled) if region.compiled else "" for region in regions]
    marked = insert_markers(readable.assembly, regions, dialect, remarks=remarks)
    if readable.assembly.endswith(unit.assembly):
        # A directive that was put before the text is not part of it.
        return marked.replace(readable.assembly.removesuffix(unit.assembly), "", 1)
    # The directives before a translated text hold for markers before its first line as well.
    head = re.match(r"(?:\.[^;\n\t]*; )*", readable.assembly)
    return marked if head is None else f"{head[0].rstrip('; ')}\n{marked.replace(head[0], '', 1)}"


def write_marked(unit: Unit, scope: Scope, path: str, dialect: str) -> None:
    """Write the unit's assembly to `path` as `marked_text` returns it."""
    write_file(path, marked_text(unit, scope, dialect), wait=False)
