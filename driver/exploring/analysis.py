"""The work for the page of incc-web, each piece in a confined process of its own (`live/jobs.py`)."""

from __future__ import annotations

import contextlib
import os
import shlex
import subprocess
import tempfile
from collections.abc import Sequence

from msgspec.structs import replace

from incc.core import changes
from incc.core.analysis import KernelSettings
from incc.driver import UsageError
from incc.driver.cli.kinds import ONE
from incc.driver.cores import cores_of
from incc.driver.exploring.options import allowed_options, option_names
from incc.driver.exploring.sandbox import check_includes, confine, limit_process
from incc.driver.pipeline import analyze_unit, in_gnu_syntax, model_notes, with_likely_regions
from incc.driver.settings import REPORTED, CoreSettings, LimitSettings, Settings
from incc.driver.sources import units_of
from incc.frontends.gcc_wrapper.compile_commands import CompilerCommand
from incc.frontends.gcc_wrapper.compiler import Compiler, child_environment, find_program, installed_compilers
from incc.frontends.isa import detect, isa
from incc.frontends.unit import Unit
from incc.live.web.requests import Choices, CompilerChoice, CoreChoice, Exploration, Explored, Language
from incc.models.loading import host_cpu_name, list_models, load
from incc.report import types as t
from incc.report.build import build_report, unit_report
from incc.support.confined import NotConfinedError
from incc.support.errors import AnalysisError

_NAMES: dict[Language, str] = {
    "c": "example.c",
    "c++": "example.cpp",
    "fortran": "example.f90",
    "assembly": "example.s",
}

MOST_MESSAGES = 64 << 10
"""Most characters of a compiler's messages that are shown."""


def explore(request: Exploration, folder: str) -> Explored:
    """Compile and analyse a source. This process is confined to the folder, which the caller makes and removes."""
    messages: list[str] = []
    command = ""
    try:
        settings = _settings(request)
        units, command = _units(request, folder, messages)
        report, notes = _report(units, settings)
        html = _page(report, folder)
    except AnalysisError as error:
        return Explored(problem=str(error).partition("\n")[0], messages=_shown(messages), command=command)
    return Explored(messages=_shown([*messages, *notes]), command=command, report=report, html=html)


def _settings(request: Exploration) -> Settings:
    """Return the settings of an analysis. Raises AnalysisError."""
    try:
        data = ONE["data"]("data", request.data) if request.data else ()
        parsed = tuple(changes.parse(text) for text in request.changes)
    except (UsageError, ValueError) as error:
        raise AnalysisError(str(error)) from None
    kernel: KernelSettings = replace(REPORTED, data=data, changes=parsed)
    return Settings(core=CoreSettings(mcpu=request.core), kernel=kernel, limits=LimitSettings(seconds=5))


def _units(request: Exploration, folder: str, messages: list[str]) -> tuple[list[Unit], str]:
    """Return the units of a source, and the compiler's command. This process is confined then. Raises AnalysisError."""
    environment = child_environment({"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": folder, "LC_ALL": "C.UTF-8"})
    name = _NAMES[request.language]
    if request.language == "assembly":
        compiler = Compiler(find_program("as", environment), ["as"])
    else:
        if request.compiler not in installed_compilers(_path()):
            raise AnalysisError(f"there is no compiler {request.compiler!r} here")
        compiler = Compiler(find_program(request.compiler, environment), [request.compiler])
    options = allowed_options(request.options)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = folder
    try:
        confine(compiler, environment, folder)
    except NotConfinedError as error:
        raise AnalysisError(f"this system cannot keep a compiler from files (Landlock: {error.strerror})") from None
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8", errors="replace") as file:
        file.write(request.source)
    if request.language == "assembly":
        return [Unit(assembly=request.source, assembly_file=name)], ""
    if request.language != "fortran":
        check_includes(compiler, options, name, environment, folder)
    words = (request.compiler, *options, "-c", name)
    problems: list[str] = []
    units = units_of(CompilerCommand(file=name, folder=folder, words=words), problems, True, True, messages)
    if not units:
        raise AnalysisError(problems[0] if problems else "the compiler makes no assembly of it")
    # What the source has in inline assembly reads no files either.
    return [replace(unit, stored=True) for unit in units], shlex.join(words)


def _report(units: Sequence[Unit], settings: Settings) -> tuple[t.AnalysisReport, list[str]]:
    reports = []
    for unit in units:
        if unit.way == "given":
            unit = in_gnu_syntax(unit)
        for of_core in cores_of(settings):
            of_core = with_likely_regions(unit, of_core) if unit.way == "given" else of_core
            reports.append(unit_report(analyze_unit(unit, of_core)))
    report = build_report(reports)
    return report, model_notes(report)


def _page(report: t.AnalysisReport, folder: str) -> str:
    """Return the page of a report, "" if there is no loop."""
    from incc.driver.deliver import page

    os.chdir(folder)
    return page(report) if any(unit.kernels for unit in report.units) else ""


def _shown(messages: Sequence[str]) -> str:
    text = "\n".join(message.rstrip("\n") for message in messages)
    return text if len(text) <= MOST_MESSAGES else f"{text[:MOST_MESSAGES]}\n…"


def warm_up() -> None:
    """Load what a process would load for its first source."""
    example = Unit(assembly=isa(detect("")).example, assembly_file="example.s", way="given")
    settings = _settings(Exploration(source="", language="assembly", changes=("rob += 1",), data="L2"))
    with contextlib.suppress(AnalysisError):
        report, _ = _report([example], settings)
        _page(report, os.getcwd())


def compare(reports: Sequence[t.AnalysisReport], labels: Sequence[str]) -> str:
    """Return the page that compares reports. Raises ValueError if there is nothing to compare."""
    from incc.driver.api_compare import compare

    limit_process()
    return compare(*reports, labels=labels, assembly=True).html()


def show(text: str) -> str:
    """Return the page of a report in JSON. Raises InputError or ValueError."""
    from incc.driver.completion import completed
    from incc.driver.deliver import page
    from incc.report.documents import read_report

    os.chdir("/")
    limit_process()
    return page(completed(read_report(text.encode(), "the file", 1)).report)


def choices() -> Choices:
    """Return what the page offers: compilers in PATH, cores with a model, options."""
    return Choices(
        compilers=tuple(filter(None, map(_choice, installed_compilers(_path())))),
        cores=tuple(
            CoreChoice(
                name=model.name,
                title=model.title,
                isa=model.isa,
                ports=tuple(model.ports),
                rob=int(model.parameters.get("rob") or 0),
            )
            for model in [load(each.name) for each in sorted(list_models([]), key=lambda each: each.name)]
        ),
        options=tuple(option_names()),
        host=host_cpu_name(),
    )


def _path() -> str:
    return os.environ.get("PATH", os.defpath)


def _choice(name: str) -> CompilerChoice | None:
    try:
        done = subprocess.run([name, "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    title = done.stdout.partition("\n")[0].strip()
    if done.returncode or not title:
        return None
    languages: tuple[Language, ...] = ("c",)
    if "++" in name:
        languages = ("c++",)
    elif any(word in name for word in ("gfortran", "flang", "ifx", "f77", "f95")):
        languages = ("fortran",)
    native = "" if "-linux-" in name else " -march=native"  # the prefix of a cross compiler
    return CompilerChoice(name=name, title=title, languages=languages, default_options=f"-O3{native}")
