"""One compilation with analysis, for `incc`: the compiler on the unchanged command, then a report on what it made."""

from __future__ import annotations

import os
import sys

from incc.driver.deliver import deliver, unmet
from incc.driver.own_options import PREFIX
from incc.frontends.gcc_wrapper.children import Children, Interrupted, die_by
from incc.frontends.gcc_wrapper.compiler import CompilerError
from incc.frontends.gcc_wrapper.session import Compilation, Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from incc.driver.own_options import Options
    from incc.driver.pipeline import Settings
    from incc.driver.report import types as t
    from incc.frontends.gcc_wrapper.compiler import Compiler
    from incc.frontends.unit import Unit


class _Job:
    """What one compilation with analysis has come to so far."""

    __slots__ = ("compilation", "notes", "options", "report", "units", "warnings")

    def __init__(self, options: Options, compilation: Compilation) -> None:
        self.options = options
        self.compilation = compilation
        self.warnings = compilation.warnings
        self.notes = compilation.notes
        self.units: list[Unit] = []
        self.report: t.Report | None = None


def run(options: Options, compiler: Compiler, arguments: list[str], environment: dict[str, str]) -> int:
    """Compile and analyse; returns the exit status. If a signal ended the compiler, it ends this process too.

    Raises CompilerError if the compiler cannot be started.
    """
    compilation = Compilation(compiler, arguments, environment, Children())
    job = _Job(options, compilation)
    status = 0
    try:
        try:
            _guarded(job, _compile_and_analyze)
            status = compilation.finish()
            if status == 0 and not compilation.children.interrupted:
                _guarded(job, _write_marked)
                _guarded(job, _keep_assembly, "assembly not kept")
                if options.report and options.given and options.given["try"]:
                    _guarded(job, _try)
                _guarded(job, _deliver)
        except Interrupted as error:
            status = compilation.interrupt(error.number)
    finally:
        compilation.close()
    if status == 0 and compilation.children.interrupted:
        status = -compilation.children.interrupted
    if status < 0:
        die_by(-status)
    if status == 0:
        for note in job.notes:
            _say(f"incc: note: {note}")
        if job.warnings:
            # One line, whatever there is to say: a build's log is read by people who look for something else.
            more = f" (and {len(job.warnings) - 1} more)" if len(job.warnings) > 1 else ""
            _say(f"incc: warning: {job.warnings[0]}{more}")
            return 1 if options.all()["strict"] else 0
    return status


def _guarded(job: _Job, action: Callable[[_Job], None], failed: str = "not analysed") -> None:
    """Do something that may fail without harm: the user has asked for a compiler first."""
    try:
        action(job)
    except (Interrupted, CompilerError):
        raise
    except Failure as error:
        job.warnings.append(str(error))
    except OSError as error:
        job.warnings.append(f"{failed}: {error.filename or 'output'}: {error.strerror}")
    except (Exception, SystemExit) as error:
        if os.environ.get("INCC_DEBUG"):
            import traceback

            traceback.print_exc()
        text = " ".join(str(error).split())
        known = type(error).__name__ == "AnalysisError"
        job.warnings.append(f"{failed}: {text if known else f'{type(error).__name__}: {text}'}")


def _compile_and_analyze(job: _Job) -> None:
    """Start the compiler, get the assembly beside it, and analyse what was compiled."""
    if job.options.problems:
        raise Failure(job.options.problems[0])
    for unit in job.compilation.units():
        job.units.append(unit)
    if job.units and job.options.report and not job.compilation.failed():
        from incc.driver.pipeline import analyze_units

        settings = _settings(job)
        if settings.measure and job.compilation.finish():
            return  # it is waited for, since what runs beside it is not measured well
        job.report = analyze_units(job.units, settings)


def _settings(job: _Job) -> Settings:
    return job.options.all().settings()


def _deliver(job: _Job) -> None:
    """Write the report and what belongs to it, now that the compiler has succeeded. What cannot be written is a warning
    each."""
    if job.report is None:
        return
    from incc.driver.pipeline import model_notes

    options, given = job.options, job.options.all()
    request = given.request(given["format"], options.output, options.append)
    for message in unmet(job.report, _settings(job), request, PREFIX):
        job.warnings.append(f"{message.where}: {message.text}" if message.where else message.text)
    job.notes += model_notes(job.report)
    undelivered = deliver(job.report, request, sys.stderr if job.compilation.writes_stdout else sys.stdout)
    job.warnings += undelivered.failures
    job.notes += undelivered.empty


MOST_TRIALS = 12
"""Sets of flags that are tried for one command: each takes as long as the compilation."""


def _try(job: _Job) -> None:
    """Compile again with the flags that hints name, to nowhere, and put into the report what that brings."""
    if job.report is None:
        return
    from incc.driver.pipeline import analyze_units
    from incc.driver.report.trials import flag_sets, trial

    units = job.report["units"]
    sets = flag_sets(units)
    if len(sets) > MOST_TRIALS:
        # The last one is of all together.
        job.notes.append(f"only {MOST_TRIALS} of {len(sets)} sets of flags are tried")
        sets = [*sets[: MOST_TRIALS - 1], sets[-1]]
    for unit in units:
        unit["trials"] = []
    for flags in sets:
        problem = ""
        try:
            compiled = job.compilation.assembly_with(flags)
        except Failure as error:
            compiled, problem = [], str(error)
        settings = _settings(job)._replace(
            what_ifs=False, timeline_iterations=0, ways=(), control_flow=False, measure=False
        )
        after = {unit["source"]: unit for unit in analyze_units(compiled, settings)["units"]}
        for unit in units:
            trials = unit["trials"]
            hinted = any(
                hint["flags"] and set(hint["flags"]) <= set(flags) for k in unit["kernels"] for hint in k["hints"]
            )
            if trials is not None and hinted:
                trials.append(trial(flags, unit, after.get(unit["source"]), problem))


def _write_marked(job: _Job) -> None:
    """The marked assembly of every source: to one file, or to one for each, none of which is another's."""
    given = job.options.all()
    target, dialect = given["--emit-marked"], given["--marker"]
    if not target or not job.units:
        return
    from incc.driver.pipeline import write_marked

    settings = _settings(job)
    folder = os.path.isdir(target)
    if len(job.units) == 1 and not folder:
        write_marked(job.units[0], settings, target, dialect)
        return
    names = _distinct_names([unit.source or unit.assembly_file for unit in job.units])
    for unit, name in zip(job.units, names, strict=True):
        name = name if name.endswith(".s") else f"{name}.s"
        path = os.path.join(target, name) if folder else f"{target}.{name}"
        write_marked(unit, settings, path, dialect)


def _keep_assembly(job: _Job) -> None:
    """Keep the assembly of every source, if that is wanted, and let the report name it."""
    folder = job.options.all()["keep-assembly"]
    if not folder:
        return
    from incc.driver.deliver import identified, replace_file

    os.makedirs(folder, exist_ok=True)
    reports = job.report["units"] if job.report else [None] * len(job.units)
    for unit, report in zip(job.units, reports, strict=True):
        # A build puts the sources of all its folders here.
        name = unit.source or unit.assembly_file
        path = os.path.join(folder, identified(name, unit.command, "s"))
        replace_file(path, unit.assembly)
        if report:
            report["assembly_file"] = path


def _distinct_names(sources: list[str]) -> list[str]:
    """A file name for each source: the last part of its path, or all of it where others have the same last part."""
    short = [os.path.basename(source) for source in sources]
    return [
        name if short.count(name) == 1 else source.strip("/").replace("/", "-")
        for name, source in zip(short, sources, strict=True)
    ]


def _say(line: str) -> None:
    try:
        os.write(2, os.fsencode(line + "\n"))
    except OSError:
        return  # nobody listens
