"""A compilation by `incc`: the compiler runs with the unchanged command, and a report on its code follows."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.driver.builds import watched
from incc.driver.builds.limits import limited_time
from incc.driver.builds.project import Project, project_of
from incc.driver.builds.same_code import differs_from_object
from incc.driver.cli.own_options import PREFIX, WrapperOptions
from incc.driver.deliver import deliver, deliver_beside, identified, unmet, write_remarks, write_warnings
from incc.driver.pipeline import analyze_for_cores, analyze_units, model_notes, report_of, write_marked
from incc.driver.settings import Settings, with_values
from incc.frontends.gcc_wrapper.children import Children
from incc.frontends.gcc_wrapper.compiler import Compiler, CompilerError
from incc.frontends.gcc_wrapper.processes import Processes
from incc.frontends.gcc_wrapper.session import AssemblyFailure, Compilation
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.support.errors import AnalysisError
from incc.support.files import add_line, replace_file
from incc.support.signals import die_by

if TYPE_CHECKING:
    from incc.running.compiling import ProbedCommand


class _Job:
    """The state of a compilation with analysis."""

    __slots__ = ("compilation", "mistakes", "notes", "options", "report", "tasks", "units", "unmet", "warnings")

    def __init__(self, options: WrapperOptions, compilation: Compilation) -> None:
        self.options = options
        self.compilation = compilation
        self.warnings = compilation.warnings
        self.notes = compilation.notes
        self.units: list[Unit] = []
        self.tasks: list[tuple[Unit, list[Settings]]] = []
        """The units to analyse, with the settings for each core."""
        self.report: t.AnalysisReport | None = None
        self.mistakes: set[str] = set()
        """Mistakes in projects' files."""
        self.unmet = False
        """True if an expectation in the source is not met and that is an error."""


def run(
    options: WrapperOptions,
    compiler: Compiler,
    arguments: list[str],
    environment: dict[str, str],
    children: Processes | None = None,
    probed: ProbedCommand | None = None,
) -> int:
    """Compile and analyse, and return the exit status. A signal that ended the compiler ends this process, too.

    With `children`, the compiler is theirs. With `probed`, the compiler runs that command. Raises CompilerError if the
    compiler cannot be started.
    """
    without_lto = options.report and options.all()["lto"] == "compile"
    compilation = Compilation(
        compiler,
        arguments,
        environment,
        children or Children(watched),
        without_lto=without_lto,
        remarks=options.report,
        marks=options.all()["marks"] != "ignore",
        variables=options.report and options.all().settings().kernel.names_values,
        probed=(probed.arguments, probed.environment) if probed else None,
    )
    job = _Job(options, compilation)
    if not (options.all()["--emit-marked"] or options.all()["keep-assembly"]):
        # Assembly is needed only for the report.
        compilation.wanted = lambda source: _wants(job, source)
    status = 0
    try:
        _guarded(job, _compile_and_analyze)
        status = compilation.finish()
        if status == 0 and not compilation.children.interrupted:
            _guarded(job, _analyze_what_was_compiled)
            _guarded(job, _analyze_link)
            _guarded(job, _write_marked)
            _guarded(job, _keep_assembly, "assembly not kept")
            if options.report and options.given and options.given["try"]:
                _guarded(job, _try)
            _guarded(job, _deliver)
    finally:
        compilation.close()
    if status == 0 and compilation.children.interrupted:
        status = -compilation.children.interrupted
    if status < 0:
        watched.leaving()
        die_by(-status)
    if status == 0:
        for note in job.notes:
            _say(f"incc: note: {note}")
        if job.warnings:
            # Only one line, to keep the build's log readable.
            more = f" (and {len(job.warnings) - 1} more)" if len(job.warnings) > 1 else ""
            _say(f"incc: warning: {job.warnings[0]}{more}")
            return 1 if options.all()["strict"] or job.unmet else 0
        return 1 if job.unmet else 0
    return status


def _guarded(job: _Job, action: Callable[[_Job], None], failed: str = "not analysed") -> None:
    """Do a step of the analysis; errors become warnings, since the compilation is more important."""
    try:
        action(job)
    except CompilerError:
        raise
    except AssemblyFailure as error:
        job.warnings.append(str(error))
    except OSError as error:
        job.warnings.append(f"{failed}: {error.filename or 'output'}: {error.strerror}")
    except (Exception, SystemExit) as error:
        if os.environ.get("INCC_DEBUG"):
            import traceback

            traceback.print_exc()
        text = " ".join(str(error).split())
        kind = "" if isinstance(error, AnalysisError) else f"{type(error).__name__}: "
        job.warnings.append(f"{failed}: {kind}{text}")


def _compile_and_analyze(job: _Job) -> None:
    """Start the compiler, generate the assembly at the same time, and analyse it."""
    if job.options.problems:
        raise AssemblyFailure(job.options.problems[0])
    for unit in job.compilation.units():
        job.units.append(unit)
    if job.options.report:
        named = [unit.source or unit.assembly_file for unit in job.units]
        _leave_out(job, [*job.compilation.unwanted, *(name for name in named if not _wants(job, name))])
    if job.units and (job.options.report or job.options.checks) and not job.compilation.failed():
        settings = _settings(job)
        if settings.report.measure and job.compilation.finish():
            return  # the measurement must not run at the same time as the compiler
        for unit in job.units:
            name = unit.source or unit.assembly_file
            job.tasks.append((unit, _settings_of(job, name, settings) if _wants(job, name) else []))
        if any(of_cores for _, of_cores in job.tasks):
            with limited_time(os.environ):
                job.report = analyze_for_cores(job.tasks)


def _analyze_what_was_compiled(job: _Job) -> None:
    """Analyse again, without lines of the source, if the compiler has made other code with them than in the object."""
    # An object with probes is other code in any case.
    if job.compilation.probed or not any(map(_is_other_code, job.report.units if job.report else ())):
        return
    units = [replace(unit, notes=(*unit.notes, _OTHER_CODE)) for unit in job.compilation.assembly_with((), lines=False)]
    settings = _settings(job)
    tasks = [(unit, _settings_of(job, unit.source, settings) if _wants(job, unit.source) else []) for unit in units]
    with limited_time(os.environ):
        report = analyze_for_cores(tasks)
    if not any(map(differs_from_object, report.units)):
        job.units, job.tasks, job.report = units, tasks, report


_OTHER_CODE = "lines of the source are unknown: where the compiler keeps track of them, it makes other code"


def _is_other_code(unit: t.UnitReport) -> bool:
    # Marks are found by the lines of the source.
    return unit.way == "second-run" and not unit.marks and differs_from_object(unit)


# --- settings of the project ------------------------------------------------------------------------------------------


def _project(source: str) -> Project:
    """Return the project of a source, named as on the command line."""
    return project_of(_path(source))


def _path(source: str) -> str:
    # Standard input belongs to the working directory.
    return os.path.abspath("-" if source in ("-", "/dev/stdin", "<stdin>") else source)


def _wants(job: _Job, source: str) -> bool:
    return not job.options.report or _project(source).wants(_path(source))


def _settings_of(job: _Job, source: str, settings: Settings) -> list[Settings]:
    """Return the settings of a source's analysis, for each core."""
    project = _project(source)
    mistakes = list(project.problems)
    of_cores = project.applied(settings, mistakes)
    job.warnings += [m for m in mistakes if m not in job.mistakes and not _is_reported(job, m)]
    job.mistakes.update(mistakes)
    return of_cores


def _is_reported(job: _Job, mistake: str) -> bool:
    """Return True if another compilation of the build has reported this mistake.

    Options on the command line and --analyze-strict repeat the message each time.
    """
    if job.options.commanded or job.options.all()["strict"] or not job.options.folder:
        return False

    return not _is_first(job.options.folder, hashlib.blake2b(os.fsencode(mistake), digest_size=8).hexdigest())


def _leave_out(job: _Job, unwanted: list[str]) -> None:
    """Note sources that the project excludes, if the command line requests the analysis, and remove their reports."""
    for name in dict.fromkeys(unwanted):
        if job.options.commanded:
            job.notes.append(f"{name}: not analysed: excluded by {_project(name).path}")
        if job.options.folder:
            from incc.report.folder.names import name_for
            from incc.report.folder.outcome import withdraw

            ending = "json" if job.options.format == "json" else "txt"
            identity = (os.getcwd(), name, job.compilation.output_of(name))
            withdraw(job.options.folder, name_for(name, identity, ending))


def _analyze_link(job: _Job) -> None:
    """Add the code of link-time optimisation to the report if the command links; else note how to analyse it."""
    compilation = job.compilation
    given = job.options.all()
    if not job.options.report and job.options.checks:
        return  # linked code has no marks
    if not job.options.report or job.options.problems or given["lto"] != "link":
        _note_no_code(
            job,
            compilation.until_link,
            "; the compiler rejects the command with -fno-lto" if given["lto"] == "compile" else "",
        )
        return
    link = compilation.link()
    if link is None:
        _note_no_code(job, compilation.until_link, _AT_THE_LINK)
        return
    from incc.driver.builds.linked import TO_BE_LINKED_AGAIN, analyze_linked

    unit = compilation.linked_unit(link)
    if not os.path.isfile(os.path.join(unit.folder, link.output)):
        return  # no output (-o /dev/null), or not linked
    project = _project(link.output)
    if project.excludes(_path(link.output)):
        _leave_out(job, [link.output])
        return
    settings = _settings_of(job, link.output, _settings(job))
    results = analyze_linked(unit, link, settings, project.wants)
    if not results:
        job.notes.append(f"{unit.source}: nothing to analyse: {TO_BE_LINKED_AGAIN}")
        return
    report = report_of(results)
    job.report = replace(report, units=[*(job.report.units if job.report else ()), *report.units])


_AT_THE_LINK = "; use --analyze when linking, or --analyze-lto=compile to analyse it here without -flto"


def _note_no_code(job: _Job, sources: list[str], more: str) -> None:
    """Note that there is no code of these sources before the link, once for each folder of reports."""
    if not sources:
        return
    # A build compiles thousands of sources with the same options.
    if more and job.options.append and job.options.folder and not _is_first(job.options.folder, "lto"):
        return
    job.notes.append(f"{', '.join(sources)}: nothing to analyse: {job.compilation.until_link_why}{more}")


def _is_first(folder: str, what: str) -> bool:
    """Return True if no process writing to this folder has printed this note yet; False if it is read-only."""
    try:
        place = os.path.join(folder, ".incc")
        os.makedirs(place, exist_ok=True)
        os.close(os.open(os.path.join(place, f"reported-{what}"), os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    except OSError:
        return False
    return True


def _settings(job: _Job) -> Settings:

    given = job.options.all()
    settings = given.settings()
    # Without a report, only the expectations in the source are checked.
    if job.options.report:
        brief = job.options.format == "text" and given.request("text", "").brief
        if brief:
            return with_values(settings, {"scope.near_trips": True})
        request = given.request(job.options.format, job.options.output)
        later = request.is_for_commands and not (job.options.commanded or given["remarks"])
        return replace(settings, later=later)
    return with_values(settings, {"scope.marks": "only", "kernel.timeline_iterations": 0})


def _deliver(job: _Job) -> None:
    """Write the report and additional files after the compiler has succeeded, with a warning for each failure."""
    if job.report is None:
        return

    options = job.options
    if options.report:
        _write(job, job.report)
    if options.warnings and "-w" not in job.compilation.arguments:
        try:
            job.unmet = write_warnings(job.report, sys.stderr, options.errors) and options.errors
        except OSError:
            job.unmet = options.errors  # the status still reports the failure


def _write(job: _Job, report: t.AnalysisReport) -> None:

    options, given = job.options, job.options.all()
    request = given.request(options.format, options.output, options.append)
    for message in unmet(report, _settings(job), request, PREFIX):
        job.warnings.append(f"{message.where}: {message.text}" if message.where else message.text)
    job.notes += model_notes(report)
    if options.printed:
        undelivered = deliver(report, request, sys.stderr if job.compilation.writes_stdout else sys.stdout)
    else:
        undelivered = deliver_beside(report, request)
    job.warnings += undelivered.failures
    job.notes += undelivered.empty
    if given["remarks"]:
        try:
            write_remarks(report, sys.stderr)
        except OSError as error:
            job.warnings.append(f"the remarks could not be written: {error.strerror}")


MOST_TRIALS = 12
"""Most sets of flags that are tried for a command; each takes as long as the compilation."""


def _try(job: _Job) -> None:
    """Compile again with the flags that hints suggest, without output, and add the gains to the report."""
    if job.report is None:
        return
    from incc.report.hints.trials import flag_sets, follow_ups, trial

    # Links are not repeated.
    units = [unit for unit in job.report.units if unit.way != "object"]
    cores = {unit.model.name for unit in units}
    for unit in units:
        unit.trials = []
    waiting = flag_sets(units)
    suggested = {flag for flags in waiting for flag in flags}
    tried: set[frozenset[str]] = set()
    while waiting and len(tried) < MOST_TRIALS:
        flags = waiting.pop(0)
        if frozenset(flags) in tried:
            continue
        tried.add(frozenset(flags))
        problem = ""
        try:
            after = _with_flags(job, flags, cores)
        except AssemblyFailure as error:
            after, problem = {}, str(error)
        for unit in units:
            hinted = any(hint.flags and set(hint.flags) <= set(flags) for k in unit.kernels for hint in k.hints)
            if unit.trials is not None and hinted:
                unit.trials.append(trial(flags, unit, after.get((unit.source, unit.model.name)), problem))
        waiting += follow_ups(flags, after.values(), suggested)
    if left := len({frozenset(flags) for flags in waiting} - tried):
        job.notes.append(f"only {MOST_TRIALS} sets of flags are tried, and {left} not")


def _with_flags(job: _Job, flags: Sequence[str], cores: set[str]) -> dict[tuple[str, str], t.UnitReport]:
    """Return the reports on the units that are compiled with more flags, by source and core. Raises AssemblyFailure."""
    settings = with_values(
        _settings(job),
        {
            "scope.ways": (),
            "scope.marks": "ignore",
            "kernel.what_ifs": False,
            "kernel.timeline_iterations": 0,
            "report.control_flow": False,
        },
    )
    return {
        (made.source, made.model.name): made
        for one in job.compilation.assembly_with(flags)
        for core in cores
        # Marks in the source may name other cores than the command.
        for of_core in [_settings_of(job, one.source, settings)[0]]
        for made in analyze_units([one], of_core.on(core) if len(cores) > 1 else of_core).units
    }


def _write_marked(job: _Job) -> None:
    """Write the marked assembly of each source, to one file if there is only one source."""
    given = job.options.all()
    target, dialect = given["--emit-marked"], given["--marker"]
    if not target or not job.units:
        return

    scope = _settings(job).scope
    folder = os.path.isdir(target)
    if len(job.units) == 1 and not folder:
        write_marked(job.units[0], scope, target, dialect)
        return
    names = _distinct_names([unit.source or unit.assembly_file for unit in job.units])
    for unit, name in zip(job.units, names, strict=True):
        name = name if name.endswith(".s") else f"{name}.s"
        path = os.path.join(target, name) if folder else f"{target}.{name}"
        write_marked(unit, scope, path, dialect)


def _keep_assembly(job: _Job) -> None:
    """Keep the assembly of each source on request, and name the files in the report."""
    folder = job.options.all()["keep-assembly"]
    if not folder:
        return

    os.makedirs(folder, exist_ok=True)
    for unit in job.units:
        # All folders of a build share this folder.
        name = unit.source or unit.assembly_file
        path = os.path.join(folder, identified(name, unit.command, "s"))
        replace_file(path, unit.assembly)
        for report in job.report.units if job.report else ():
            # There may be several analyses for different cores, and linked code.
            if (report.source, report.assembly_file) == (unit.source, unit.assembly_file):
                report.assembly_file = path


def _distinct_names(sources: list[str]) -> list[str]:
    """Return a file name for each source: the last part of its path, or all of it if that is ambiguous."""
    short = [os.path.basename(source) for source in sources]
    return [
        name if short.count(name) == 1 else source.strip("/").replace("/", "-")
        for name, source in zip(short, sources, strict=True)
    ]


def _say(line: str) -> None:
    """Write a line to the file INCC_LOG, or to standard error without one."""
    if log := os.environ.get("INCC_LOG", ""):
        try:
            add_line(log, f"{line}\n")
        except OSError:
            pass
        else:
            if os.environ.get("INCC_STRICT", "") in ("", "0"):
                return
    try:
        os.write(2, os.fsencode(line + "\n"))
    except OSError:
        return
