"""The work for an editor, each in a process of its own (`live/jobs.py`)."""

from __future__ import annotations

import os

from msgspec.structs import replace

from incc.driver.builds.project import Project, project_of
from incc.driver.completion import completed
from incc.driver.editing.commands import commands_of, described
from incc.driver.editing.compiling import edited_units, encoded
from incc.driver.pipeline import analyze_unit, model_notes, with_likely_regions
from incc.driver.settings import REPORTED, CoreSettings, Settings
from incc.frontends.gcc_wrapper.compiler import installed_compilers
from incc.frontends.unit import Unit
from incc.live.requests import Answer, EditedFile, TrialAnswer, TrialRequest
from incc.report import types as t
from incc.report.build import build_report, unit_report
from incc.report.hints.trials import trial
from incc.report.where import kernel_values, parse
from incc.support.errors import AnalysisError, UnknownCoreError
from incc.support.sources import saved_bytes, use_unsaved

_ASSEMBLY = (".s", ".asm")


def analyse(file: EditedFile) -> Answer:
    """Compile a file and analyse its loops, or the marked regions of assembly."""
    project = project_of(file.path)
    notes: list[str] = [*project.problems]
    also = project.also if file.settings.also is None else file.settings.also
    try:
        if not project.wants(file.path):
            return Answer(notes=(f"excluded by {project.path}",))
        report = _analysed(file, project, notes, _SHOWN)
    except AnalysisError as error:
        return Answer(problem=str(error).partition("\n")[0], notes=tuple(notes), also=also)
    return Answer(report=report, notes=tuple(dict.fromkeys(notes)), also=also)


_SHOWN = Settings(kernel=replace(REPORTED, timeline_iterations=0), later=True)
"""The settings for what an editor shows. The rest of the analysis follows (`complete`); timelines are the page's."""


def _analysed(file: EditedFile, project: Project, notes: list[str], settings: Settings) -> t.AnalysisReport:
    core = CoreSettings(mcpu=",".join(file.settings.cores))
    cores = project.applied(replace(settings, core=core), notes)
    reports = []
    problems: list[AnalysisError] = []
    for unit in _units(file, project, cores[0].kernel.names_values, notes):
        for of_core in cores:
            try:
                if unit.way == "given":
                    of_core = with_likely_regions(unit, of_core)
                reports.append(unit_report(analyze_unit(unit, of_core)))
            except UnknownCoreError:
                raise
            except AnalysisError as error:  # such as a core of another instruction set
                problems.append(error)
    if problems and not reports:
        raise problems[0]
    notes += map(str, problems)
    report = build_report(reports)
    notes += model_notes(report)
    condition = file.settings.where or " and ".join(f"({text})" for text in project.where)
    return replace(report, units=[_where(unit, condition) for unit in report.units])


def _where(unit: t.UnitReport, condition: str) -> t.UnitReport:
    """Return a unit with the kernels that meet a condition. Raises AnalysisError if it is invalid."""
    if not condition:
        return unit
    try:
        parsed = parse(condition)
    except ValueError as error:
        raise AnalysisError(f"incc.where: {error}") from None
    return replace(unit, kernels=[kernel for kernel in unit.kernels if parsed.holds(kernel_values(unit, kernel))])


def _units(file: EditedFile, project: Project, variables: bool, notes: list[str]) -> list[Unit]:
    """Return the units of a file, none of a header. Raises AnalysisError if it cannot be compiled."""
    if file.path.endswith(_ASSEMBLY):
        use_unsaved(file.path, encoded(file.text, saved_bytes(file.path)))
        return [Unit(assembly=file.text, assembly_file=file.path)]
    problems: list[str] = []
    commands = commands_of(file, project, notes)
    for command in commands:
        problems = []
        if units := edited_units(command, file.path, file.text, problems, variables):
            notes.append(described(command))
            return units
    if commands:
        raise AnalysisError(problems[0] if problems else f"{file.path}: its command makes no assembly of it")
    return []


def try_flags(request: TrialRequest) -> TrialAnswer:
    """Compile a file with more flags, and compare its loops with those without them."""
    after = analyse(request.file)
    by_core = {unit.model.name: unit for unit in after.report.units} if after.report else {}
    trials = [
        trial(request.file.added, unit, by_core.get(unit.model.name), after.problem) for unit in request.report.units
    ]
    return TrialAnswer(trials=tuple(trials), problem=after.problem)


def page(file: EditedFile) -> str:
    """Return the HTML page of a file's report. Raises AnalysisError, and ValueError without kernels."""
    from incc.driver.deliver import page

    report = _analysed(file, project_of(file.path), [], Settings())
    os.chdir(report.units[0].folder or os.path.dirname(file.path))
    use_unsaved(file.path, encoded(file.text, saved_bytes(file.path)))
    return page(report)


def complete(report: t.AnalysisReport) -> t.AnalysisReport:
    """Return the report of `analyse` with what takes longer: ranges, simulations of other cores, exact verdicts."""
    return completed(report).report


def core_names() -> list[str]:
    """Return the names of the cores with a model."""
    from incc.models.loading import list_models

    return sorted(model.name for model in list_models([]))


def compilers() -> list[str]:
    """Return the names of the compilers in PATH."""
    return installed_compilers(os.environ.get("PATH", os.defpath))
