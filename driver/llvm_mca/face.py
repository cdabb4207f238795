"""incc-mca as llvm-mca: called by a name that begins with llvm-mca, or with --compat.

Views, exit status and the places of diagnostics are those of llvm-mca 19; the analysis and the wording are incc's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli.kinds import MCA
from incc.driver.cli.options import options_of
from incc.driver.cli.values import OptionValues
from incc.driver.cores import named_cores
from incc.driver.llvm_mca.analysis import Input, StopError, analyse, say
from incc.driver.llvm_mca.encodings import fill_encodings
from incc.driver.llvm_mca.options import CommandLine, expanded, read, requested_help
from incc.driver.llvm_mca.target import McaTarget, narrow, notes, without_slash_markers
from incc.driver.machine_code import MachineCode, machine_code, read_for
from incc.driver.settings import Settings, with_values
from incc.frontends.isa import DecodeError, LlvmDialect, isa
from incc.models.loading import host_cpu
from incc.report import types as t
from incc.support.files import text_of, write_all, write_file
from incc.views import llvm_mca
from incc.views.llvm_mca.requested import Views

_GENERAL = ("summary-view", "bottleneck-analysis", "resource-pressure", "timeline", "instruction-info")
_STATISTICS = ("register-file-stats", "dispatch-stats", "scheduler-stats", "retire-stats")
_PARAMETERS = ("micro-op-queue-size", "decoder-throughput", "dispatch", "lqueue", "squeue", "register-file-size")
"""Options that JSON repeats, if they are not 0."""


def run(arguments: Sequence[str], program: str) -> int:
    """Run the command and return its exit status. `program`: the name that it was called by."""
    name = program.rpartition("/")[2]
    try:
        arguments = expanded([argument for argument in arguments if argument not in ("-compat", "--compat")])
        if topic := requested_help(arguments):
            return _print_help(topic)
        return _run(read(arguments))
    except UsageError as error:
        say(f"{name}: error: {error}; see {name} --help")
    except StopError:
        pass
    except MemoryError:
        say(f"{name}: error: out of memory")
    return 1


def _print_help(topic: str) -> int:
    from incc.driver.cli.help import print_help, write
    from incc.driver.cli.usage import COMMANDS

    if topic != "version":
        return print_help(COMMANDS[MCA], topic)
    from incc.driver.llvm_mca.help import version_text

    return write(version_text())


def _run(line: CommandLine) -> int:
    """Run the command. Raises UsageError, StopError."""
    given = line.given
    _check_numbers(given)
    target = _target(given)
    cpu_help = given["mcpu"] == "help"
    text, code = ("", None) if cpu_help else _input(line.file, given)
    if cpu_help or "help" in given["mattr"]:
        from incc.driver.llvm_mca.help import lists

        say(lists(target.isa))
    if cpu_help:
        return 0
    if target.narrow and code is not None:
        code = narrow(code)
    cpu = _cpu(given, target)
    views = _views(line, target, cpu)
    _print_notes(line, target.isa)
    source = Input(
        name="<stdin>" if line.file in ("", "-") else line.file,
        settings=_settings(given, cpu, views, text),
        triple=target.triple,
        narrow=target.narrow,
        isa=target.isa,
        features=[name if name[:1] in ("+", "-") else f"+{name}" for name in given["mattr"]],
        intel=given["x86-asm-syntax"] == "intel" and bool(isa(target.isa).syntax.dialects),
        instruments=not given["disable-im"],
        skips_statements=given["skip-unsupported-instructions"] in ("parse-failure", "any"),
        skips_instructions=given["skip-unsupported-instructions"] in ("lack-sched", "any"),
        text=without_slash_markers(text, target),
        code=code,
    )
    try:
        outcome = analyse(source)
    except DecodeError as error:  # LLVM was stopped
        say(f"{source.name}: error: {error}")
        return 1
    if outcome.unsupported and views.json:  # llvm-mca writes JSON at the end of a run
        return 1
    notes_on_encodings = fill_encodings(outcome.report, _dialect(given, target))
    for note in notes_on_encodings if views.encoding else ():
        say(f"note: {note}")
    if _is_in_order(outcome.report):
        views = _of_in_order_core(views, given, cpu)
        _dispatch_at_issue(outcome.report)
    _write(llvm_mca.render(outcome.report, replace(views, headings=outcome.headings)), given["o"], outcome.unsupported)
    return int(outcome.unsupported)


# --- the command line ------------------------------------------------------------------------------------------------


def _check_numbers(given: OptionValues) -> None:
    """Raise UsageError for numbers that llvm-mca refuses."""
    for option in options_of(MCA):
        if option.kind == "uint" and given[option.name] >= 1 << 32:
            raise UsageError(f"-{option.name} is at most {(1 << 32) - 1}")
    if given["output-asm-variant"] > 1:
        raise UsageError(f"-output-asm-variant is 0 (AT&T) or 1 (Intel), not {given['output-asm-variant']}")


def _target(given: OptionValues) -> McaTarget:
    from incc.driver.llvm_mca.target import TargetError, target

    try:
        return target(given["march"], given["mtriple"])
    except TargetError as error:
        say(f"error: {error}")
        raise StopError from None


def _input(name: str, given: OptionValues) -> tuple[str, MachineCode | None]:
    """Read assembly, or machine code. Raises StopError."""
    from incc.support.errors import AnalysisError

    try:
        data = read_for(given, name)
        code = machine_code(given, data, name, "<stdin>" if name in ("", "-") else name)
        return ("", code) if code is not None else (text_of(data), None)
    except AnalysisError as error:
        say(f"error: {error}")
    except OSError as error:
        say(f"{name}: error: {error.strerror}")
    raise StopError


def _print_notes(line: CommandLine, isa: str) -> None:
    if line.ignored or line.given["mattr"]:
        for note in notes(line.given["mattr"], line.ignored, isa):
            say(f"note: {note}")


def _cpu(given: OptionValues, target: McaTarget) -> str:
    """Return the processor's name, or names with commas between them. Raises StopError for those llvm-mca refuses."""
    from incc.driver.pipeline import AnalysisError, choose_model

    names = [host_cpu()[0] if name == "native" else name for name in named_cores(given["mcpu"] or "native")]
    names = [target.generic if name == "generic" else name for name in names]
    for name in names:
        try:
            chosen = choose_model(name, "", given.settings().core.model_path)
            error = "" if name == name.lower() else f"no core is called '{name}'; did you mean '{name.lower()}'?"
            if chosen.note:
                from incc.driver.llvm_mca.names import cpus

                if not cpus(target.isa).get(name, True):
                    other = chosen.model.name
                    error = f"llvm-mca has no model of '{name}'; incc-mca without --compat takes that of {other}"
            if chosen.model.isa != target.isa:
                error = f"'{name}' is not a core of the target '{target.triple}'"
        except AnalysisError as failure:
            error = str(failure)
        if error:
            say(f"error: {error}")
            raise StopError
    return ",".join(names)


def _settings(given: OptionValues, cpu: str, views: Views, text: str) -> Settings:
    """Return incc-mca's settings with llvm-mca's defaults, and without the results that no view shows."""
    settings = given.settings()
    return with_values(
        settings,
        {
            "scope.regions": settings.scope.regions if given["auto"] else "llvm-mca",
            "scope.marks": "ignore",
            "core.mcpu": cpu,
            "core.lacking": True,
            "kernel.steady": False,
            "kernel.what_ifs": False,
            "kernel.cold_iterations": 0 if views.instruction_tables else settings.report.iterations,
            "kernel.timeline_iterations": views.timeline_iterations if views.timeline else 0,
            "kernel.altered.call_latency": given["call-latency"] if "call-latency" in given.names else 100,
            "kernel.pressure": views.bottleneck_analysis,
            "kernel.waits": False,
            "report.syntax": settings.report.syntax or _last_syntax(text, given),
        },
    )


def _dialect(given: OptionValues, target: McaTarget) -> LlvmDialect:
    variant = given["output-asm-variant"]
    return LlvmDialect(target.triple, variant if variant >= 0 else None, given["print-imm-hex"])


def _last_syntax(text: str, given: OptionValues) -> Literal["att", "intel"]:
    """Return the syntax in which the text ends: llvm-mca prints instructions in it."""
    if "_syntax" not in text:
        return "intel" if given["x86-asm-syntax"] == "intel" else "att"

    directives = re.findall(r"^[^#\n]*?\.(att|intel)_syntax\b", text, re.M)
    last = directives[-1] if directives else given["x86-asm-syntax"]
    return "intel" if last == "intel" else "att"


def _views(line: CommandLine, target: McaTarget, cpu: str) -> Views:
    """Return the requested views. -all-views and -all-stats override the options before them, not those after them."""
    given, order = line.given, line.order
    shown = {name: given[name] for name in (*_GENERAL, *_STATISTICS)}
    last = max(("all-views", "all-stats"), key=lambda name: order.get(name, -1))
    for names, general in ((_GENERAL, "all-views"), (_STATISTICS, last)):
        if general in order:
            shown |= {name: given[general] for name in names if order.get(name, -1) < order[general]}
    tables = given["instruction-tables"] != "none"
    parameters = [(f"-{name}", given[name]) for name in _PARAMETERS if given[name]]
    if not given["noalias"]:
        parameters.append(("-noalias", False))
    return Views(
        summary=shown["summary-view"],
        info=shown["instruction-info"],
        encoding=given["show-encoding"],
        barriers=given["show-barriers"],
        pressure=tables or shown["resource-pressure"],
        timeline=shown["timeline"],
        timeline_iterations=min(given["timeline-max-iterations"] or 10, given["iterations"] or 100),
        timeline_cycles=given["timeline-max-cycles"],
        dispatch_stats=shown["dispatch-stats"],
        scheduler_stats=shown["scheduler-stats"],
        retire_stats=shown["retire-stats"],
        register_file_stats=shown["register-file-stats"],
        bottleneck_analysis=shown["bottleneck-analysis"],
        instruction_tables=tables,
        full_tables=given["instruction-tables"] == "full",
        json=given["format"] == "json",
        triple=target.triple,
        march=target.march,
        cpu=cpu,
        parameters=tuple(parameters),
    )


def _is_in_order(report: t.AnalysisReport) -> bool:
    runs = [kernel.cold for unit in report.units for kernel in unit.kernels if kernel.cold]
    return bool(runs) and not any(run.schedulers for run in runs)


def _of_in_order_core(views: Views, given: OptionValues, cpu: str) -> Views:
    """Remove views that do not apply to an in-order core, unless they are requested by name."""
    if given["bottleneck-analysis"]:
        say(f"warning: there is no bottleneck analysis of {cpu}, which executes in order")
    return replace(
        views,
        retire_stats=views.retire_stats and given["retire-stats"],
        bottleneck_analysis=views.bottleneck_analysis and given["bottleneck-analysis"],
    )


def _dispatch_at_issue(report: t.AnalysisReport) -> None:
    """Write the events of in-order cores as llvm-mca has them: dispatched to ports, not retired, without waits."""
    for kernel in (kernel for unit in report.units for kernel in unit.kernels):
        run = kernel.cold
        if run is None or not run.events:
            continue
        first = min(event.issued for event in run.events)
        events = [
            replace(event, dispatched=start, ready=start, issued=start, executed=end, retired=end)
            for event in run.events
            for start, end in ((event.issued - first, event.executed - first),)
        ]
        waits = [replace(wait, queue=0, ready=0, writeback=0) for wait in run.waits]
        total = replace(run.waits_total, queue=0, ready=0, writeback=0) if run.waits_total else run.waits_total
        kernel.cold = replace(run, events=events, waits=waits, waits_total=total)


# --- writing ---------------------------------------------------------------------------------------------------------


def _write(text: str, path: str, failed: bool) -> None:
    """Write the views. A file of a run that failed is not kept. Raises StopError."""
    try:
        if path not in ("", "-"):
            if not failed:
                write_file(path, text)
            return
        if sys.stdout is None:
            return
        sys.stdout.flush()
        try:
            descriptor = sys.stdout.fileno()
        except (OSError, ValueError):  # a stream without a file descriptor, as in tests
            sys.stdout.write(text)
            return
        write_all(descriptor, text)
    except BrokenPipeError:
        return
    except OSError as error:
        say(f"{path or '<stdout>'}: error: {error.strerror}")
        raise StopError from None
