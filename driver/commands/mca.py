"""The command `incc-mca`: analyse assembly, its marked regions or its innermost loops, with llvm-mca's options."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli.kinds import MCA, check_targets
from incc.driver.cli.options import has
from incc.driver.cli.values import OptionValues, llvm_views
from incc.driver.cores import cores_of
from incc.driver.llvm_mca.options import expanded, read, requested_help
from incc.driver.machine_code import MachineCode, machine_code, read_for
from incc.driver.messages import run_command
from incc.driver.messages import tell_printable as tell
from incc.driver.pipeline import (
    AnalysisError,
    analyze_for_cores,
    core_reports,
    find_regions,
    model_notes,
    read_assembly,
    with_likely_regions,
    with_trust,
)
from incc.driver.selection import selected
from incc.driver.settings import Scope, Settings, with_values
from incc.driver.sources import compiled_source, is_source
from incc.frontends.asm.llvm_regions import latencies
from incc.frontends.isa import DecodeError, detect, isa
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.source.problems import found_problems, shown
from incc.support.files import has_reader, text_of, write_file
from incc.support.version import __version__

if TYPE_CHECKING:
    from incc.driver.deliver import DeliveryRequest, Undelivered
    from incc.views.llvm_mca.requested import Views


_MOST_PROCESSES = 8
"""The most processes that share a file. Each takes 30 MB, and sandboxes limit memory without telling."""


class McaOptions:
    """The parsed command line."""

    __slots__ = ("file", "given", "ignored", "isa", "marked", "narrow", "output")

    def __init__(self, arguments: list[str]) -> None:
        """Read a command line. Raises UsageError."""
        line = read(_with_changes(arguments), several="; incc-scan takes several")
        self.given = line.given
        self.file = line.file  # "" or - for standard input
        self.ignored = line.ignored
        self.narrow = False  # the target is one of 32 bits
        self.isa = ""  # the target's instruction set, if one is named
        if self.given["output-asm-variant"] not in (-1, 0, 1):
            raise UsageError(f"-output-asm-variant is 0 (AT&T) or 1 (Intel), not {self.given['output-asm-variant']}")
        self.output, self.marked = self.given["o"], self.given["--emit-marked"]
        if self.marked == "-" and self.output:  # the former spelling
            self.output, self.marked = "", self.output
        written = {"-o": self.output, "--emit-marked": self.marked}
        written |= {f"--{name}": file for name, file in self.given.files().items()}
        for option, file in written.items():
            if file.startswith("-") and has(MCA, file):
                raise UsageError(f"{option} needs a file name; {file} is an option")
        check_targets([each for each in written.items() if each[1]], [self.file] if self.file not in ("", "-") else [])

    def request(self) -> DeliveryRequest:
        """Return the request for the report's delivery."""
        return self.given.request(self.given["format"], self.output if self.output != "-" else "")

    @property
    def marks_only(self) -> bool:
        """True if the marked assembly is requested, and no report."""
        return bool(self.marked) and not (self.output or self.given.files() or "format" in self.given.names)


def main(arguments: list[str] | None = None, program: str = "") -> int:
    """Run the command; returns its exit status. `program`: the name that it was called by."""
    program = program or (sys.argv[0] if arguments is None else MCA)
    arguments = sys.argv[1:] if arguments is None else arguments
    if program.rpartition("/")[2].startswith("llvm-mca") or "--compat" in arguments or "-compat" in arguments:
        from incc.driver.llvm_mca import face

        return face.run(arguments, program)
    try:
        arguments = expanded(arguments)
        if topic := requested_help(arguments):
            from incc.driver.cli.help import print_help, write
            from incc.driver.cli.usage import COMMANDS

            return write(f"incc-mca {__version__}\n") if topic == "version" else print_help(COMMANDS[MCA], topic)
        options = McaOptions(arguments)
        settings = options.given.settings()
        if status := _target(options):
            return status - 1
        settings = with_values(settings, {"core.isa": options.isa})
    except UsageError as error:
        tell(f"incc-mca: error: {error}; see incc-mca --help\n")
        return error.status
    try:
        return _run(options, settings)
    except MemoryError:
        tell("incc-mca: error: out of memory\n")
        return 1


def _target(options: McaOptions) -> int:
    """Check the options on the target, and print notes on those without effect.

    Returns 0 to go on, or the exit status plus 1. Raises UsageError.
    """
    given = options.given
    asks = given["mcpu"] == "help" or "help" in given["mattr"]
    if not asks and not options.ignored and given.names.isdisjoint(("mtriple", "march", "mattr")):
        return 0
    from incc.driver.llvm_mca.target import TargetError, notes, target

    try:
        chosen = target(given["march"], given["mtriple"])
    except TargetError as error:
        if error.foreign:
            tell(f"incc-mca: error: {error}\n")
            return 1 + 1
        raise UsageError(str(error)) from None
    if asks:
        from incc.driver.cli.help import write
        from incc.driver.llvm_mca.help import lists

        return write(lists(chosen.isa)) + 1
    options.narrow = chosen.narrow
    if given["mtriple"] or given["march"]:
        options.isa = chosen.isa
    for note in notes(given["mattr"], options.ignored, chosen.isa):
        tell(f"incc-mca: note: {note}\n")
    return 0


def _with_changes(arguments: list[str]) -> list[str]:
    """Return the arguments with a change of the core (`-what-if 'rob = 512'`) joined to its option.

    The option may also be without a value; a file's name may follow then.
    """
    joined: list[str] = []
    for argument in arguments:
        # A change begins with a name and contains a sign, unlike a file's name.
        if joined and joined[-1] in ("-what-if", "--what-if") and "=" in argument and argument[:1].isalpha():
            joined[-1] += f"={argument}"
        else:
            joined.append(argument)
    return joined


def _nothing_at_all(text: str, name: str, report: t.AnalysisReport, settings: Settings) -> list[str]:
    """Return warnings for assembly without any instruction; assembly without a loop needs none."""
    if settings.scope.regions != "loops" or any(unit.kernels for unit in report.units):
        return []
    regions, left_out = find_regions(
        read_assembly(Unit(assembly=text, assembly_file=name)), replace(settings.scope, regions="marked", functions=())
    )
    return [] if regions else [f"{name}: warning: not analysed: {each.reason}" for each in left_out]


def _written_out(text: str, name: str, options: McaOptions) -> str:
    """Return the text with macros and repetitions written out, if LLVM can do it. Raises DecodeError."""
    from incc.driver.llvm_mca.target import written_out

    given = options.given
    found = written_out(text, options.narrow, given["x86-asm-syntax"] == "intel", given["trust-includes"])
    if not found:
        tell(
            f"{name}: warning: macros and repetitions (.rept, .irp) are not expanded or analysed: LLVM's assembler "
            "is missing or rejects the text (--compat prints its messages), or a marker is inside of one\n"
        )
    return found or text


class _Source(msgspec.Struct, frozen=True, kw_only=True):
    """The input of a run."""

    name: str
    text: str = ""
    """The assembly to analyse."""
    as_read: str = ""
    """The assembly as it was read, for messages."""
    notes: tuple[str, ...] = ()
    """Notes on the assembly."""
    code: MachineCode | None = None
    """Machine code in place of assembly."""
    compiled: Unit | None = None
    """A source that was compiled, in place of assembly."""
    core_alone: bool = False
    """There is no input: the report is on the core itself."""


def _run(options: McaOptions, settings: Settings) -> int:
    views = _llvm_views(options.given)
    if views is not None:
        cold = settings.kernel.cold_iterations or settings.report.iterations
        settings = replace(settings, kernel=replace(settings.kernel, cold_iterations=cold))
    try:
        source = _source(options)
        if options.marked:
            _write_marked(source, options, settings)
        if options.marks_only:
            return 0
        if "LLVM-MCA-LATENCY" in source.text and not options.given["disable-im"]:
            settings = with_values(settings, {"kernel.altered.latencies": latencies(source.text)})
        request = options.request()
        if views is None and len(cores_of(settings)) == 1:
            settings = with_values(settings, {"report.most_with_tables": request.most_with_tables})
        sources = _in_parts(source, settings)
        if len(sources) == 1:
            return _deliver(_report(source, settings), source, settings, request, views)
        if request.top or request.kernels or request.places or request.files:
            report = _chosen(sources, source.name, settings, request)
            return _deliver(report, source, settings, request, views)
        if request.output and not os.path.isdir(request.output):
            write_file(request.output, "")
        appended = replace(request, append=True)
        statuses = []
        for part in sources:
            statuses.append(_deliver(_report(part, settings), part, settings, appended, views))
            if not appended.output and not has_reader(sys.stdout):
                break
        return max(statuses)
    except AnalysisError as error:
        tell(f"incc-mca: error: {error}\n")
        return getattr(error, "status", 1)
    except UsageError as error:
        tell(f"incc-mca: error: {error}; see incc-mca --help\n")
        return error.status
    except OSError as error:
        tell(f"incc-mca: error: {error.filename}: {error.strerror}\n")
        return UsageError.status


def _in_parts(source: _Source, settings: Settings) -> list[_Source]:
    """Return the parts of a large object, so that memory does not grow with it. Other inputs are returned as they are.

    Raises AnalysisError.
    """
    parts = source.code.in_parts(settings.scope) if source.code is not None else []
    return [replace(source, name=part.name, code=part) for part in parts] if len(parts) > 1 else [source]


def _chosen(parts: Sequence[_Source], name: str, settings: Settings, request: DeliveryRequest) -> t.AnalysisReport:
    """Return a report on the kernels that a request chooses from all parts of an object, keeping no others in memory.

    Raises AnalysisError, and UsageError for pages and graphs of all kernels.
    """
    if not (request.top or request.kernels or request.places or request.where):
        raise UsageError(
            f"{name} is large; pages and graphs need a choice of kernels: --top, --kernel, --where, --function or "
            "--address"
        )
    tell(f"incc-mca: note: {name} is large, so the overview has only the kernels that are chosen\n")
    report: t.AnalysisReport | None = None
    for part in parts:
        more = _report(part, settings)
        of_cores = zip(report.units, more.units, strict=True) if report else ((None, unit) for unit in more.units)
        units = [_joined(unit, others, name, request) for unit, others in of_cores]
        report = selected(replace(more, units=units), request.where, request.top)
    assert report is not None
    return report


def _joined(unit: t.UnitReport | None, more: t.UnitReport, name: str, request: DeliveryRequest) -> t.UnitReport:
    """Return the report on an object's parts so far together with the chosen kernels of another part."""
    kernels = [kernel for kernel in more.kernels if _is_chosen(kernel, more, request)]
    if unit is None:
        return replace(more, assembly_file=name, kernels=kernels)
    return replace(
        unit,
        kernels=[*unit.kernels, *kernels],
        left_out=[*unit.left_out, *more.left_out],
        became_calls=[*unit.became_calls, *more.became_calls],
        system_loops=unit.system_loops + more.system_loops,
    )


def _is_chosen(kernel: t.KernelReport, unit: t.UnitReport, request: DeliveryRequest) -> bool:
    if not (request.kernels or request.places):
        return True
    from incc.report.source.places import is_at

    return any(choice.fits(kernel) for choice in request.kernels) or any(
        is_at(instruction, unit, place) for place in request.places for instruction in kernel.instructions
    )


def _deliver(
    report: t.AnalysisReport, source: _Source, settings: Settings, request: DeliveryRequest, views: Views | None
) -> int:
    """Deliver a report on a source, and return the exit status."""
    from incc.driver.deliver import deliver

    for note in model_notes(report):
        tell(f"incc-mca: note: {note}\n")
    if request.where and not any(unit.kernels for unit in selected(report, request.where, 0).units):
        tell(f"incc-mca: note: no kernel meets the condition {request.where.text.strip()}\n")
    undelivered = deliver(report, request, sys.stdout)
    if views is not None and request.format == "text":
        undelivered = _with_views(report, views, request, undelivered)
    errors = [f"incc-mca: error: {message}" for message in (*undelivered.failures, *undelivered.empty)]
    status = _finish(report, source, settings, request, errors)
    return UsageError.status if undelivered.failures else status


def _source(options: McaOptions) -> _Source:
    """Read the input. Raises AnalysisError and UsageError."""
    if not options.file and options.given["port-model"]:  # "-" is standard input anyway
        return _Source(name="<stdin>", core_alone=True)
    name = options.file if options.file not in ("", "-") else "<stdin>"
    if is_source(name) and not (options.given["raw"] or options.given["hex"]):
        variables = options.given.settings().kernel.names_values
        unit, note = compiled_source(name, options.given["mcpu"], True, variables)
        tell(f"incc-mca: note: {note}\n")
        return _Source(name=name, text=unit.assembly, as_read=unit.assembly, compiled=unit)
    try:
        data = read_for(options.given, options.file)
        code = machine_code(options.given, data, options.file, name)
    except OSError as error:
        raise AnalysisError(f"{name}: {error.strerror}") from None
    if code is not None:
        if options.narrow:
            from incc.driver.llvm_mca.target import narrow

            code = narrow(code)
        return _Source(name=name, code=code)
    as_read = text_of(data)
    scope = Scope(trust_includes=options.given["trust-includes"])
    unit = with_trust(Unit(assembly=as_read, assembly_file=name), scope)
    text = unit.assembly
    if any(directive in text for directive in (".rep", ".irp", ".macro", ".if")):
        try:
            text = _written_out(text, name, options)
        except DecodeError as error:  # LLVM was stopped
            raise AnalysisError(f"{name}: {error}") from None
    # Directives on the first line keep the numbers of lines. Without one the text itself tells its syntax.
    if "x86-asm-syntax" in options.given.names and isa(detect(text, options.isa)).syntax.dialects:
        intel = options.given["x86-asm-syntax"] == "intel"
        text = (".intel_syntax noprefix; " if intel else ".att_syntax; ") + text
    if options.narrow:
        from incc.driver.llvm_mca.target import narrow_text

        text = narrow_text(text)
    return _Source(name=name, text=text, as_read=as_read, notes=unit.notes)


def _write_marked(source: _Source, options: McaOptions, settings: Settings) -> None:
    """Write the assembly with markers around the innermost loops, or the lines. Raises AnalysisError and UsageError."""
    from incc.driver.pipeline import marked_text

    if source.code is not None or source.core_alone:
        raise UsageError("--emit-marked needs assembly")
    unit = source.compiled or Unit(assembly=source.as_read, assembly_file=source.name)
    text = marked_text(unit, replace(settings.scope, regions="loops"), options.given["--marker"])
    if text == source.as_read:
        raise AnalysisError(f"{source.name}: no loop or line to mark")
    try:
        write_file(options.marked, text)
    except OSError as error:
        raise AnalysisError(f"{options.marked}: {error.strerror}") from None


def _report(source: _Source, settings: Settings) -> t.AnalysisReport:
    """Analyse the input on each core. Raises AnalysisError."""
    cores = cores_of(settings)
    if source.core_alone:
        return core_reports(cores)
    if source.code is not None:
        return source.code.report(cores)
    if source.compiled is not None:
        return analyze_for_cores([(source.compiled, [with_likely_regions(source.compiled, core) for core in cores])])
    from incc.support.workers import cpus

    unit = Unit(assembly=source.text, assembly_file=source.name, notes=source.notes)
    return analyze_for_cores([(unit, cores)], min(cpus(), _MOST_PROCESSES))


def _has_function(unit: t.UnitReport) -> bool:
    """Return True if a unit has one of the requested functions, though it may have no loop."""
    exists = any(missing.functions or missing.inlined_into for missing in unit.not_found)
    return bool(unit.kernels or unit.left_out) or exists


def _finish(
    report: t.AnalysisReport, source: _Source, settings: Settings, request: DeliveryRequest, errors: list[str]
) -> int:
    """Print the problems of a report after these errors, and return the exit status."""
    from incc.driver.deliver import unmet

    problems = found_problems(report)
    lines = list(errors)
    if not problems and not source.core_alone and source.code is None and source.compiled is None:
        lines += _nothing_at_all(source.text, source.name, report, settings)
    if not lines and settings.scope.functions and not any(_has_function(unit) for unit in report.units):
        lines.append(
            f"{source.name}: error: no function of such a name has a loop: {', '.join(settings.scope.functions)}"
        )
    lines += [f"{m.where}: error: {m.text}" for m in unmet(report, settings, request, "--")]
    source_lines = source.as_read.split("\n") if problems else []
    # Analyses for several cores have the same problems.
    for line in dict.fromkeys([*(shown(each, source_lines) for each in problems), *lines]):
        tell(f"{line}\n")
    return int(bool(lines) or not all(each.harmless for each in problems))


def _llvm_views(given: OptionValues) -> Views | None:
    """Return the requested views that only llvm-mca has, None without any."""
    requested = llvm_views(given)
    if not requested:
        return None
    from incc.views.llvm_mca.requested import Views

    return Views(
        summary=False,
        info=not requested.isdisjoint(("show-encoding", "show-barriers")),
        encoding="show-encoding" in requested,
        barriers="show-barriers" in requested,
        pressure="instruction-tables" in requested,
        dispatch_stats="dispatch-stats" in requested,
        scheduler_stats="scheduler-stats" in requested,
        retire_stats="retire-stats" in requested,
        register_file_stats="register-file-stats" in requested,
        bottleneck_analysis="bottleneck-analysis" in requested,
        instruction_tables="instruction-tables" in requested,
        full_tables=given["instruction-tables"] == "full",
    )


def _with_views(
    report: t.AnalysisReport, views: Views, request: DeliveryRequest, undelivered: Undelivered
) -> Undelivered:
    """Print llvm-mca's views below the report, each kernel's below its name."""
    from incc.driver.deliver import write_stream
    from incc.driver.llvm_mca.encodings import fill_encodings
    from incc.views.llvm_mca import render
    from incc.views.llvm_mca.requested import RegionHeading

    names = [kernel.name for unit in report.units for kernel in unit.kernels]
    if views.encoding:
        for note in fill_encodings(report):
            tell(f"note: {note}\n")
    text = "\n" + render(report, replace(views, headings=tuple(RegionHeading(*each) for each in enumerate(names))))
    try:
        if request.output:
            write_file(request.output, text, append=True)
        else:
            write_stream(sys.stdout, lambda width, colour: text)
    except OSError as error:
        failure = f"the report could not be written: {error.strerror}"
        return replace(undelivered, failures=(*undelivered.failures, failure))
    return undelivered


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
