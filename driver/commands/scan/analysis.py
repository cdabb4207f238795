"""The work on an input of incc-scan, in any process: read, analyse, select and report."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from incc.core.analysis import KernelResult, analyze_kernel
from incc.driver.code import ObjectCode, of_functions
from incc.driver.commands.scan.inputs import AssemblyFile, CodeFile, HexBlock, SourceFile, UnreadableInput
from incc.driver.pipeline import (
    analyze_code,
    analyze_unit,
    choose_model,
    host_of,
    model_of,
    report_of,
    with_likely_regions,
    with_trust,
)
from incc.driver.selection import order_of_worth
from incc.driver.settings import Settings, with_values
from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand
from incc.frontends.isa import DecodeError, detect, isa
from incc.frontends.kernel import KernelCode, LeftOut
from incc.frontends.objects.kernels import located_kernels
from incc.frontends.objects.read import ObjectError
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.identity import content_hash
from incc.report.unit_result import UnitResult
from incc.support.errors import AnalysisError
from incc.support.files import read_input
from incc.support.workers import problem_of

if TYPE_CHECKING:
    from incc.measuring.harness import LoopFailure
    from incc.measuring.kernels import KernelMeasurement, Measurer
    from incc.models.model import MachineModel
    from incc.report.where import Condition

Input = HexBlock | AssemblyFile | SourceFile | CodeFile | UnreadableInput | CompilerCommand


class Scan(Struct, frozen=True, kw_only=True):
    """The settings of a scan, as the command line and the files of the machine where it was given decide them."""

    cores: list[Settings]
    """The settings for each core. A project without named cores has one, for the core of each command."""
    own_cores: bool = False
    """Each unit is analysed for its command's core."""
    format: str = "text"
    """One of `options.FORMATS`."""
    rows: bool = False
    """The output is rows: as lines, or as a dataset."""
    dataset: bool = False
    """The output is a dataset, which also keeps the kernels' reports."""
    condition: Condition | None = None
    """The condition that a kernel must meet on at least one core to be shown; None to show all."""
    top: int = 0
    """The most kernels to show, those with the most to gain; 0 for all."""
    searches_folders: bool = False
    """Folders are among the inputs, so objects with data only are no errors, and equal kernels are shown once."""
    measure: bool = False
    """Also run the kernels on this machine."""
    unsafe: bool = False
    """Run the kernels even if the system cannot keep them from files and other processes."""
    reports: str = ""
    """The folder for reports of a project's units."""
    requested: bool = False
    """The user has named sources of the project."""


class CyclesLine(Struct, frozen=True):
    """A kernel's line of --format=cycles."""

    text: str
    identity: str = ""
    """The kernel's identity, if equal kernels are shown once."""
    worth: tuple[float, ...] = ()
    """The kernel's `order_of_worth`, if the most worthwhile ones are to be selected."""


class ScanOutcome(Struct):
    """The results of an input."""

    reports: list[t.AnalysisReport] = field(default_factory=list)
    """The report on each input with kernels to show, with a unit for each core."""
    lines: list[CyclesLine] = field(default_factory=list)
    """The lines of --format=cycles, which has no reports."""
    problems: list[str] = field(default_factory=list)
    """Messages about what could not be analysed."""
    notes: list[str] = field(default_factory=list)

    @contextmanager
    def collecting(self, source: Input) -> Iterator[None]:
        """Turn the errors of a `with` block, which cost only this input, into messages."""
        try:
            yield
        except AnalysisError as error:
            self.problems.append(str(error))
        except MemoryError:
            raise  # the process may have taken it for other inputs; the engine tries this one alone
        except Exception as error:
            self.problems.append(f"{name_of(source)}: not analysed: {problem_of(error)}")


def name_of(source: Input) -> str:
    """Return the name of an input in messages, "" for an unreadable one."""
    if isinstance(source, UnreadableInput):
        return ""
    return source.file if isinstance(source, CompilerCommand) else source.name


class InputAnalyser:
    """Analyses inputs, in any process."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
        # Lines of cycles need no reports, and nothing about the kernels but their code.
        self.brief = scan.format == "cycles" and scan.condition is None and not scan.reports and not scan.top
        self.cores = scan.cores
        if self.brief:
            self.cores = [replace(core, kernel=replace(core.kernel, explained=False)) for core in scan.cores]
        elif scan.format != "reports" and not scan.reports and not scan.dataset:
            self.cores = [with_values(core, {"report.most_with_tables": 0}) for core in scan.cores]
        self.measurer: Measurer | None = None
        if scan.measure:
            from incc.measuring.kernels import Measurer

            self.measurer = Measurer(scan.unsafe)

    @cached_property
    def models(self) -> list[MachineModel]:
        """The model of each core, none if each unit has its own. Raises AnalysisError."""
        if self.scan.own_cores:
            return []
        return [choose_model(each.core.mcpu, "", each.core.model_path).model for each in self.cores]

    def cores_for(self, code_isa: str) -> list[Settings]:
        """Return the cores with this instruction set; all of them if there are none, for the error message."""
        if len(self.cores) == 1:
            return self.cores
        return [
            core for core, model in zip(self.cores, self.models, strict=True) if model.isa == code_isa
        ] or self.cores

    def __call__(self, source: Input) -> ScanOutcome:
        outcome = ScanOutcome()
        with outcome.collecting(source):
            for results in self.analyses(source, outcome):
                self._add(source, [self.measured(result) for result in results], outcome)
        return outcome

    def analyses(self, source: Input, outcome: ScanOutcome) -> Iterator[list[UnitResult]]:
        """Yield the analyses of each unit of an input, one for each core. Raises AnalysisError."""
        if isinstance(source, UnreadableInput):
            outcome.problems.append(source.message)
        elif isinstance(source, HexBlock):
            yield self._block(source, outcome)
        elif isinstance(source, CodeFile):
            yield self._code(source, outcome)
        elif isinstance(source, AssemblyFile):
            yield self._assembly(source, outcome)
        elif isinstance(source, SourceFile):
            from incc.driver.sources import compiled_source

            cpus = ",".join(core.core.mcpu for core in self.cores)
            unit, note = compiled_source(source.name, cpus, variables=self.names_values)
            outcome.notes.append(note)
            yield [analyze_unit(unit, core) for core in self.cores]
        else:
            yield from self._compiled(source, outcome)

    @property
    def names_values(self) -> bool:
        """True if an analysis uses the variables of the source."""
        return any(core.kernel.names_values for core in self.cores)

    def _block(self, block: HexBlock, outcome: ScanOutcome) -> list[UnitResult]:
        if self.cores[0].scope.functions:
            outcome.notes.append("blocks of machine code belong to no --function")
            return []
        try:
            code = bytes.fromhex(block.digits)
        except ValueError:
            raise AnalysisError(f"{block.name}: not hexadecimal: {block.digits[:60]!r}") from None
        try:
            kernel = isa(self.models[0].isa).decode_bytes(code, block.name, text=not self.brief)
            if self.brief:  # the shortest way, for thousands of blocks
                result = analyze_kernel(kernel, self.models[0], self.cores[0].kernel)
                measured = self.measurer.measure(kernel) if self.measurer else None
                outcome.lines.append(self._line(block.digits, result, measured))
                return []
        except (ValueError, DecodeError) as error:
            raise AnalysisError(f"{block.name}: {error}") from error
        return self.on_each_core(Unit(assembly="", assembly_file=block.file), ObjectCode([kernel], []))

    def _code(self, file: CodeFile, outcome: ScanOutcome) -> list[UnitResult]:
        code = self.code(file, outcome)
        return [] if code is None else self.on_each_core(unit_of(file), code)

    def code(self, file: CodeFile, outcome: ScanOutcome) -> ObjectCode | None:
        """Return the requested code of a file, None if it has data only. Raises AnalysisError."""
        try:
            # The debug information of a member may be in files next to its library.
            located = located_kernels(file.source(), not self.brief, os.path.dirname(file.path), part=file.part)
        except OSError as error:
            raise AnalysisError(f"{file.name}: {error.strerror}") from error
        except ObjectError as error:
            # Many objects in folders and libraries contain data only.
            if error.empty and (self.scan.searches_folders or file.member):
                return None
            raise AnalysisError(f"{file.name}: {error}") from error
        if located.note:
            outcome.notes.append(f"{file.name}: {located.note}")
        code = ObjectCode(located.kernels, located.left_out, located.sources)
        return of_functions(code, self.cores[0].scope.functions)

    def on_each_core(self, unit: Unit, code: ObjectCode) -> list[UnitResult]:
        """Return the analyses of code on each core with its instruction set. Raises AnalysisError."""
        return [analyze_code(unit, code, core) for core in self.cores_for(code.isa)]

    def _assembly(self, file: AssemblyFile, outcome: ScanOutcome) -> list[UnitResult]:
        try:
            unit = Unit(assembly=read_input(file.path), assembly_file=file.name)
        except OSError as error:
            raise AnalysisError(f"{file.name}: {error.strerror}") from error
        unit = with_trust(unit, self.cores[0].scope)
        outcome.notes.extend(f"{file.name}: {note}" for note in unit.notes)
        code_isa = detect(unit.assembly)
        cores = self.cores_for(code_isa)
        settings = with_likely_regions(unit, cores[0], model_of(unit, cores[0], code_isa).model.isa)
        scope = replace(settings.scope, system_headers=True)
        return [analyze_unit(unit, replace(core, scope=scope)) for core in cores]

    def _compiled(self, command: CompilerCommand, outcome: ScanOutcome) -> Iterator[list[UnitResult]]:
        from incc.driver.commands.scan.project import settings_of
        from incc.driver.sources import units_of

        settings = settings_of(command, self.cores, outcome.notes, self.scan.requested)
        if not settings:
            return
        for unit in units_of(command, outcome.problems, bool(self.scan.reports), self.names_values):
            try:
                yield [analyze_unit(unit, core) for core in settings]
            except AnalysisError as error:
                # The assembly, which messages may name, is a temporary file.
                text = str(error).removeprefix(f"{unit.assembly_file}: ").removeprefix(f"{unit.source}: ")
                outcome.problems.append(f"{unit.source or unit.assembly_file}: {text}")

    def measured(self, result: UnitResult) -> UnitResult:
        """Return the results with measurements, if these are requested."""
        if self.measurer is None:
            return result
        measured = [self.measurer.measure(each.kernel) for each in result.results]
        return replace(result, measured=measured, host=host_of(result.model))

    def _add(self, source: Input, results: Sequence[UnitResult], outcome: ScanOutcome) -> None:
        """Add the analyses of a unit to the outcome."""
        if not results:
            return
        scan, condition = self.scan, self.scan.condition
        outcome.problems.extend(problems_of(results[0]))
        outcome.notes.extend(result.model_note for result in results if result.model_note)
        shown = [*range(len(results[0].results))]
        if self.brief:
            outcome.lines.extend(self._lines(source, results[0], shown))
            return
        report = report_of(results)
        units = report.units
        if scan.reports:
            _write_report(report, scan.reports, outcome.problems)
        if condition is not None:
            from incc.report.where import kernel_values

            shown = [n for n in shown if any(condition.holds(kernel_values(u, u.kernels[n])) for u in units)]
        if scan.format == "cycles":
            lines = zip(self._lines(source, results[0], shown), shown, strict=True)
            outcome.lines += [replace(line, worth=order_of_worth(units[0].kernels[n], units[0])) for line, n in lines]
            return
        for unit in units:
            unit.kernels = [unit.kernels[n] for n in shown]
            if scan.format == "text" and isinstance(source, HexBlock):
                for kernel in unit.kernels:
                    kernel.kernel_id = kernel.name  # equal blocks have a row each
        if shown:
            outcome.reports.append(report)

    def _lines(self, source: Input, result: UnitResult, shown: Sequence[int]) -> Iterator[CyclesLine]:
        for n in shown:
            kernel = result.results[n]
            file = result.unit.source or result.unit.assembly_file
            name = source.digits if isinstance(source, HexBlock) else f"{file}:{kernel.kernel.name}"
            yield self._line(name, kernel, result.measured[n] if result.measured else None)

    def _line(self, name: str, result: KernelResult, measured: KernelMeasurement | LoopFailure | None) -> CyclesLine:
        text = f"{name} {round(float(result.cycles), 6):.6g}"
        if measured is not None:
            cycles = getattr(measured, "cycles", None)
            text += " -" if cycles is None else f" {cycles:.6g}"
        if not self.scan.searches_folders:
            return CyclesLine(text)
        kernel = result.kernel
        return CyclesLine(text, f"{kernel.region.function if kernel.region else ''} {content_hash(kernel)}")


def unit_of(file: CodeFile) -> Unit:
    """Return the unit that stands for an object."""
    return Unit(assembly="", assembly_file=file.name, way="object")


def problems_of(result: UnitResult) -> Iterator[str]:
    """Yield messages about loops and statements of a unit that were not analysed."""
    return problems_in(result.unit, result.left_out, [each.kernel for each in result.results])


def problems_in(unit: Unit, left_out: Iterable[LeftOut], kernels: Iterable[KernelCode]) -> Iterator[str]:
    """Yield messages about the loops of a unit that are left out, and about statements missing in its kernels."""
    name = unit.source or unit.assembly_file
    # The assembly of a compilation and the lines of a disassembly are never shown.
    has_lines = unit.way != "object" and not unit.source
    for item in left_out:
        place = f"{name}:{item.first_line}" if has_lines and item.first_line else name
        yield f"{place}: {item.function and f'{item.function}: '}not analysed: {item.reason}"
    for refused in (statement for kernel in kernels for statement in kernel.refused):
        place, text = (f"{name}:{refused.line}", "") if has_lines else (name, f": {refused.text}")
        yield f"{place}: {refused.message}{text}"


def _write_report(report: t.AnalysisReport, folder: str, problems: list[str]) -> None:
    """Write the report on a unit under the name that incc gives it in a build."""
    from incc.driver.deliver import file_name, replace_file
    from incc.views.json import render

    unit = report.units[0]
    try:
        os.makedirs(folder, exist_ok=True)
        replace_file(os.path.join(folder, file_name(report, "json", os.path.realpath(unit.folder))), render(report))
    except OSError as error:
        problems.append(f"{unit.source or unit.assembly_file}: no report: {folder}: {error.strerror}")
