"""The analysis for `--compat`, which reports the mistakes that llvm-mca reports and stops where it stops."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import msgspec
from msgspec.structs import replace

from incc.driver.cores import cores_of, named_cores
from incc.driver.llvm_mca.target import narrow_text
from incc.driver.machine_code import MachineCode
from incc.driver.messages import tell_printable
from incc.driver.pipeline import AnalysisError, analyze_for_cores, model_notes
from incc.driver.settings import Settings, with_values
from incc.frontends.asm.llvm_regions import latencies, places, regions, spans
from incc.frontends.assembling import LimitError
from incc.frontends.diagnostics import Reading
from incc.frontends.foreign import unreadable
from incc.frontends.isa import isa
from incc.frontends.unit import Unit
from incc.frontends.x86 import assembler
from incc.frontends.x86.llvm.reading import with_plain_numbers
from incc.models.processors.names import level
from incc.report import types as t
from incc.report.source.problems import message
from incc.views.llvm_mca.requested import RegionHeading

_INTEL = ".intel_syntax noprefix; "
_OTHER_RETURNS = ("uiret", "sysret")
"""Returns that LLVM's instruction descriptions do not have as such."""


class StopError(Exception):
    """The end of a run whose mistakes have been reported."""


class Input(msgspec.Struct, frozen=True, kw_only=True):
    """The input of an analysis, and the reading that llvm-mca's options request."""

    name: str
    settings: Settings
    triple: str
    narrow: bool
    """The target has 32 bits."""
    isa: str
    """incc's name of the target's instruction set."""
    features: Sequence[str]
    """The features that the core is to have or to lack, as `+sve`."""
    intel: bool
    """The text begins in Intel's syntax."""
    instruments: bool
    """Comments change the latencies of instructions."""
    skips_statements: bool
    """Go on without the statements that cannot be read."""
    skips_instructions: bool
    """Go on without the instructions that the model has no figures for."""
    text: str
    code: MachineCode | None
    """Machine code instead of `text`."""


class McaResult(msgspec.Struct, frozen=True):
    """A report with what llvm-mca prints around it."""

    report: t.AnalysisReport
    headings: tuple[RegionHeading, ...]
    """One heading for each kernel that has been analysed."""
    unsupported: bool
    """The report ends before an instruction that the model has no figures for."""


def say(text: str) -> None:
    """Write a line to standard error, after flushing standard output."""
    if sys.stdout is not None:
        try:  # noqa: SIM105 -- contextlib would be another import at start-up
            sys.stdout.flush()
        except OSError:  # reported where the output is written
            pass
    tell_printable(f"{text}\n")


def analyse(source: Input) -> McaResult:
    """Analyse the input. Raises StopError after a mistake that is reported, DecodeError if LLVM was stopped."""
    text, report, numbered = _code_report(source) if source.code is not None else _text_report(source)
    if source.code is None:
        for each in _left_out(report):
            place = f"{source.name}:{each.first_line}" if numbered else source.name
            say(f"{place}: warning: not analysed: {each.reason}")
    _check_instructions(source, report)
    for note in (*_model_notes(source, report), *_missing_runs(report, source.name)):
        say(f"note: {note}")
    unknown = _unknown_instructions(source, report, numbered)
    if unknown and source.skips_instructions and source.code is None:
        text = _without_lines(source, text, unknown)
        report = _analysed(source, text)
        _check_instructions(source, report)
    headings = _headings(text, report) if source.code is None else _headings_of_code(report)
    stops = bool(unknown) and not source.skips_instructions
    if stops:
        _keep_known(report)
    _warn_of_branches(source, report, numbered)
    return McaResult(report, headings, stops)


def _analysed(source: Input, text: str) -> t.AnalysisReport:
    """Analyse a text, or the machine code. Raises StopError."""
    settings = source.settings
    try:
        if source.code is not None:
            if settings.scope.regions != "loops":
                settings = replace(settings, scope=replace(settings.scope, regions="marked"))
            return source.code.report(cores_of(settings))
        settings = with_values(settings, {"kernel.altered.latencies": latencies(text) if source.instruments else ()})
        text = narrow_text(text) if source.narrow else text
        return analyze_for_cores([(Unit(assembly=text, assembly_file=source.name), cores_of(settings))])
    except AnalysisError as error:
        say(f"error: {error}")
        raise StopError from None


def _check_instructions(source: Input, report: t.AnalysisReport) -> None:
    if any(kernel.instructions for unit in report.units for kernel in unit.kernels):
        return
    if source.code is not None or not _left_out(report):  # which are reported already
        say(f"{source.name}: error: no instructions to analyse")
    raise StopError


def _left_out(report: t.AnalysisReport) -> list[t.LeftOut]:
    return [each for unit in report.units for each in unit.left_out]


# --- reading the input -----------------------------------------------------------------------------------------------


def _code_report(source: Input) -> tuple[str, t.AnalysisReport, bool]:
    report = _analysed(source, "")
    for each in _left_out(report):
        say(f"{source.name}: warning: not analysed: {each.reason}")
    return "", report, False


def _text_report(source: Input) -> tuple[str, t.AnalysisReport, bool]:
    """Return the text that was analysed, the report on it, and True if the text has the lines of the source.

    Raises StopError, DecodeError.
    """
    if reason := unreadable(source.text):
        say(f"{source.name}: error: {reason}")
        raise StopError
    # Loops are found by their labels, which may be numbers: there `jmp 1b` is no jump to the address 1.
    text = with_plain_numbers(source.text) if source.settings.scope.regions == "llvm-mca" else source.text
    if source.intel:
        text = _INTEL + text
    report = None
    rules = isa(source.isa)
    if not regions(text)[1] and not rules.is_unusual(text, source.triple):
        report = _analysed(source, text)
        if not _refused(report) and not assembler.heard:
            return text, report, True
    reading: Reading | None = None
    try:
        core = named_cores(source.settings.core.mcpu)[0]
        trusted = source.settings.scope.trust_includes
        reading = rules.llvm_reading(text, source.triple, core, source.features, trusted)
    except LimitError:
        if report is None or not _refused(report):
            raise
    _report_mistakes(source, reading)
    numbered = True
    if reading is not None:
        wrong = [each.line for each in reading.diagnostics if each.kind == "error"]
        if report is not None and not wrong and not _refused(report):  # LLVM only warns
            return text, report, True
        same_lines = reading.remaining.count("\n") == text.count("\n")
        if same_lines and (not reading.text or (report is not None and wrong)):
            text = reading.remaining
        elif not reading.text:
            text = _without_lines(source, text, wrong)
        else:  # what assemblers read differently, as LLVM writes it: in other lines
            text, numbered = reading.text, False
    report = _analysed(source, text)
    if refused := _refused(report):  # LLVM is missing, or the assembler does not take what LLVM writes
        _report_refused(source, text, refused, numbered)
    return text, report, numbered


def _report_refused(source: Input, text: str, refused: Sequence[t.Refused], numbered: bool) -> None:
    """Report statements that were not read; `numbered`: their lines are those of the source. Raises StopError."""
    from incc.report.source.problems import Problem, shown

    lines = text.replace(assembler.ALONE, "").split("\n")
    for each in refused:
        line, reason = (each.line, each.message) if numbered else (0, f"{each.message} in '{each.text}'")
        say(shown(Problem(file=source.name, line=line, kind="error", text=reason, statement=each.text), lines))
    _stop_at_statements(source, len(refused))


def _report_mistakes(source: Input, reading: Reading | None) -> None:
    """Report what LLVM finds, and wrong markers of regions, in the order of the text. Raises StopError."""
    messages: list[tuple[tuple[int, int], str]] = []
    lines = source.text.split("\n")
    for each in reading.diagnostics if reading is not None else ():
        before = len(_INTEL) if source.intel and each.line == 1 and not each.file else 0
        column = each.column - before
        line = each.source[before:]
        if not each.file_line and each.line <= len(lines):
            line = lines[each.line - 1]  # as it was before numbers were written otherwise
        place = f"{each.file or source.name}:{each.file_line or each.line}"
        messages.append(((each.line, column), message(place, column, each.kind, each.message, line.rstrip("\r"))))
    problems = regions(source.text)[1]
    found = places(source.text, [problem.at for problem in problems])
    for problem, (number, column, line) in zip(problems, found, strict=True):
        shown = message(f"{source.name}:{number}", column, problem.kind, problem.text, line)
        if problem.kind == "note":  # it stays with its error
            messages[-1] = messages[-1][0], f"{messages[-1][1]}\n{shown}"
        else:
            messages.append(((number, column), shown))
    for _, shown in sorted(messages, key=lambda each: each[0][0]):
        say(shown)
    errors = sum(each.kind == "error" for each in reading.diagnostics) if reading is not None else 0
    if errors:
        _stop_at_statements(source, errors)
    if problems:
        raise StopError


def _stop_at_statements(source: Input, count: int) -> None:
    """End the run if statements that cannot be read are not to be skipped. Raises StopError."""
    if not source.skips_statements:
        say(
            f"{source.name}: error: {count} statement{'s' * (count > 1)} cannot be read; to skip such statements, add "
            "-skip-unsupported-instructions=parse-failure"
        )
        raise StopError


def _refused(report: t.AnalysisReport) -> list[t.Refused]:
    """Return the statements that the assembler rejected. They are the same for every core, so one unit suffices."""
    return [statement for unit in report.units[:1] for kernel in unit.kernels for statement in kernel.refused]


def _without_lines(source: Input, text: str, numbers: Iterable[int]) -> str:
    """Return the text without the statements of these lines. Labels stay, and comments, which may be markers."""
    lines = text.split("\n")
    for number in numbers:
        if 0 < number <= len(lines):
            code, sign, comment = lines[number - 1].partition(isa(source.isa).syntax.comments[0])
            label = code.partition(":")[0] + ":" if ":" in code else ""
            lines[number - 1] = f"{label} {sign}{comment}".strip()
    return "\n".join(lines)


# --- what llvm-mca says of instructions ------------------------------------------------------------------------------


def _unknown_instructions(source: Input, report: t.AnalysisReport, numbered: bool) -> list[int]:
    """Report the instructions without figures, only the first one if it stops the run, and return their lines.

    `numbered`: these are lines of the source.
    """
    lines: list[int] = []
    for unit in report.units:
        for kernel in unit.kernels:
            for instruction in kernel.instructions:
                line = instruction.line
                if not instruction.unknown or line in lines:
                    continue
                place = f"{source.name}:{line}" if numbered else source.name
                text = " ".join(instruction.text.split())
                lines.append(line)
                if not source.skips_instructions:
                    say(
                        f"{place}: error: {unit.model.name} has no figures for '{text}'; to skip such "
                        "instructions, add -skip-unsupported-instructions=lack-sched"
                    )
                    return lines
                say(f"{place}: warning: '{text}' is skipped: {unit.model.name} has no figures for it")
    return lines


def _keep_known(report: t.AnalysisReport) -> None:
    """Leave only the kernels before the first one with an instruction without figures."""
    complete = True
    for unit in report.units:
        kept = []
        for kernel in unit.kernels:
            complete = complete and not any(instruction.unknown for instruction in kernel.instructions)
            if complete:
                kept.append(kernel)
        unit.kernels = kept


def _warn_of_branches(source: Input, report: t.AnalysisReport, numbered: bool) -> None:
    """Warn of the first call and the first return of each region, which are not followed."""
    for unit in report.units:
        for kernel in unit.kernels:
            branch = isa(kernel.isa).branch
            warned: set[str] = set()
            for instruction in kernel.instructions:
                text = instruction.text
                if not any(sign in text for sign in ("call", "ret", "CALL", "RET")):
                    continue
                kind = branch(text.replace("\t", " ").strip())[0]
                if kind not in ("call", "return") or kind in warned or text.lstrip().startswith(_OTHER_RETURNS):
                    continue
                warned.add(kind)
                place = f"{source.name}:{instruction.line}" if numbered else source.name
                if kind == "call":
                    latency = source.settings.kernel.altered.call_latency
                    say(f"{place}: warning: the called function is not analysed; calls take {latency} cycles")
                else:
                    say(f"{place}: warning: the return is analysed as an instruction that does not jump")


def _model_notes(source: Input, report: t.AnalysisReport) -> list[str]:
    """Return the notes on models, without those on names of many cores (x86-64, generic): LLVM has the same model."""
    levels = tuple(f"no model for {name}:" for name in named_cores(source.settings.core.mcpu) if level(name)[0])
    return [note for note in model_notes(report) if not note.startswith(levels)]


def _missing_runs(report: t.AnalysisReport, name: str) -> list[str]:
    """Return notes on kernels whose run from a cold start was given up."""
    return [
        f"{name}:{kernel.first_line}: {why}; the cycles are those of the steady state, and the run has no views"
        for unit in report.units
        for kernel in unit.kernels
        for why in kernel.notes
        if why.startswith("not simulated from a cold start")
    ]


# --- headings --------------------------------------------------------------------------------------------------------


def _headings(text: str, report: t.AnalysisReport) -> tuple[RegionHeading, ...]:
    """Return the headings of the kernels: those of the regions that hold them, if a marker begins or ends these."""
    marked = regions(text)[0] if "LLVM-MCA-" in text else []
    lines = spans(text, marked)
    headings: list[RegionHeading] = []
    for unit in report.units:
        left = iter(zip(marked, lines, strict=True))
        for number, kernel in enumerate(unit.kernels):
            heading = RegionHeading(number, kernel.name) if kernel.kind == "loop" else RegionHeading()
            for region, (first, last) in left:
                same_name = kernel.name == region.name or not region.name
                if same_name and first <= kernel.first_line and kernel.last_line <= last:
                    if region.begin >= 0 or region.end >= 0:
                        heading = RegionHeading(number, region.name)
                    break
            headings.append(heading)
    return tuple(headings)


def _headings_of_code(report: t.AnalysisReport) -> tuple[RegionHeading, ...]:
    """Return the names of the kernels as headings; a single block of bytes has none."""
    headings: list[RegionHeading] = []
    for unit in report.units:
        alone = unit.way == "given" and len(unit.kernels) == 1
        names = [kernel.name for kernel in unit.kernels]
        headings += [RegionHeading() if alone else RegionHeading(number, name) for number, name in enumerate(names)]
    return tuple(headings)
