r"""Jobs: compilations whose code is yet to be analysed.

A job is a folder with `job.json`, written by the front, and the files to analyse: the text that gcc passed to the
assembler, or a copy of the object. Names may contain any bytes, as `\udcXX`:

    version      1
    folder       the command's working directory
    compiler     the real compiler's path
    words        the words that name it in the command, such as ["ccache", "gcc"]
    arguments    the compiler's arguments as given, without those of incc
    expanded     the same with the contents of response files, if there are any
    output       the output file of the command, "" if it is not named
    environment  the INCC_… variables, and those that name folders of headers
    options      incc's own arguments, if there are any
    units        a list of: `source` as in the command; `way`, "assembler", "object", "given" (a source that is
                 assembly) or "link" (a linked file, which is its own source); `file`, the path of the text, object or
                 linked file, absolute or relative to the job's folder; `proper`, the words of the compiler proper, []
                 if unknown; `asked`, for a link the driver's answer to -###; `output`, if it is not that of the
                 command; `key` in the cache of units, "" for none
    digest       BLAKE2b digests of files by their names: 16 bytes in hexadecimal
    log          a file for messages, "" for none

In a queue, the file `seal` next to it proves that this user's incc has left the job (seal.py). The worker that takes a
job removes it, even if the analysis fails, since the compilation itself has succeeded.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec.structs import replace

from incc.driver.builds import limits
from incc.driver.builds.project import Project
from incc.driver.deliver import DeliveryRequest
from incc.driver.selection import selected
from incc.report import types as t
from incc.report.build import UnitResult
from incc.support.errors import AnalysisError
from incc.support.trust import SEAL

if TYPE_CHECKING:
    from incc.driver.cli.own_options import WrapperOptions
    from incc.driver.settings import Settings
    from incc.frontends.unit import IncludeFolders, Unit
    from incc.report.folder.cache import UnitCache

VERSION = 1
FILE = "job.json"


class JobError(Exception):
    """A job cannot be read; the message says why."""


class JobUnit(msgspec.Struct, frozen=True, kw_only=True):
    """One source of a job, as described at the top of this module."""

    source: str
    way: Literal["assembler", "object", "given", "link"]
    file: str
    proper: tuple[str, ...] = ()
    output: str = ""
    """The output file; "" if there is none."""
    key: str = ""
    dry_run: str = msgspec.field(default="", name="asked")
    """For a link: the driver's answer to -###."""


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """A job, as described at the top of this module."""

    version: int
    folder: str
    compiler: str
    words: tuple[str, ...]
    given: tuple[str, ...] = msgspec.field(name="arguments")
    """The compiler's arguments as given, with response files."""
    arguments: tuple[str, ...] = msgspec.field(default=(), name="expanded")
    """The compiler's arguments with the contents of response files."""
    output: str
    environment: Mapping[str, str]
    options: tuple[str, ...] = ()
    units: tuple[JobUnit, ...]
    digest: Mapping[str, str] = {}
    log: str = ""
    place: str = ""
    """The job's folder."""


def read_job(path: str) -> Job:
    """Read the job in a folder, or in its job.json. Raises JobError."""
    from incc.frontends.gcc_wrapper.outputs import output_of
    from incc.frontends.gcc_wrapper.response_files import expanded

    file = os.path.join(path, FILE) if os.path.isdir(path) else path
    try:
        with open(file, "rb") as stream:
            data = json.loads(stream.read())
        text = json.dumps(data, ensure_ascii=False)
        os.fsencode(text)  # raises an error for surrogates that no file name contains
        if "\\u0000" in text:
            raise JobError(f"{file}: not a job: a text contains a NUL")
        if isinstance(data, dict) and data.get("version", VERSION) != VERSION:
            raise JobError(f"{file}: job of version {data['version']!r}, but only version {VERSION} is supported")
        job = msgspec.convert(data, Job)
    except OSError as error:
        raise JobError(f"{file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise JobError(f"{file}: not a job: {error}") from error
    of_words = job.words[1:]
    if "expanded" in data:
        arguments = (*of_words, *job.arguments)
    else:
        arguments = tuple(expanded([*of_words, *job.given], job.folder))

    def complete(unit: JobUnit) -> JobUnit:
        alone = job.output if len(job.units) == 1 else ""
        return replace(unit, output=unit.output or alone or output_of(arguments, unit.source))

    return replace(
        job,
        place=os.path.dirname(os.path.abspath(file)),
        words=job.words or (job.compiler,),
        arguments=arguments,
        units=tuple([complete(unit) for unit in job.units]),
    )


def sources_of(place: str) -> str:
    """Return a description of a job for messages: its sources."""
    try:
        job = read_job(place)
    except JobError:
        return place
    return ", ".join(_where(job, unit) for unit in job.units) or place


def remove_job(place: str) -> None:
    """Remove a job's folder, but only the job's own files if the folder is not in a queue."""
    if os.path.basename(os.path.dirname(os.path.abspath(place))) in QUEUES:
        # A queue contains nothing but jobs.
        if os.path.isdir(place) and not os.path.islink(place):
            shutil.rmtree(place, ignore_errors=True)
        else:
            try:
                os.unlink(place)
            except OSError:
                return
        return
    try:
        job = read_job(place)
        names = {FILE, SEAL, TRIES, *(unit.file for unit in job.units)}
    except JobError:
        names = {FILE}
    for name in names:
        if os.path.basename(name) == name:
            try:
                os.unlink(os.path.join(place, name))
            except OSError:
                continue
    try:
        os.rmdir(place)
    except OSError:
        return


JOBS, TAKEN, FAILED = "jobs", "taken", "failed"
QUEUES = (JOBS, TAKEN, FAILED)
"""Folders in `DIR/.incc`: jobs that wait, jobs that a worker is analysing, and jobs that crashed their workers."""

TRIES = "tries"
"""The file in a job's folder with the number of workers that it crashed."""


# --- running a job ----------------------------------------------------------------------------------------------------


def run_job(place: str, log: str = "") -> list[str]:
    """Analyse a job, write its reports, and remove it.

    Changes the working directory and the INCC_… variables of this process to those of the compilation.

    Args:
        place: The job's folder.
        log: The log for a job that cannot be read.

    Returns:
        The problems, one line each, which are also in the job's log.
    """
    problems: list[str] = []
    notes: list[str] = []
    log = log or os.environ.get("INCC_LOG", "")
    strict = debug = shown = False
    try:
        job = read_job(place)
        log = job.log or job.environment.get("INCC_LOG", "") or log
        strict = job.environment.get("INCC_STRICT", "") not in ("", "0")
        debug = job.environment.get("INCC_DEBUG", "") not in ("", "0")
        # A user reads reports on standard output.
        shown = not job.environment.get("INCC_OUTPUT") and job.environment.get("INCC_ANALYZE", "") in ("1", "-")
        _enter(job)
        limits.limit_memory(job.environment)
        # Absolute, since the working directory is another one if the folder no longer exists.
        log = os.path.join(job.folder, log) if log else ""
        _run(job, problems, notes)
    except (JobError, AnalysisError) as error:
        problems.append(str(error))
    except OSError as error:
        problems.append(f"not analysed: {error.filename or 'output'}: {error.strerror}")
    except MemoryError:
        problems.append(f"{sources_of(place)}: not analysed: {limits.too_much_memory(os.environ)}")
    except (Exception, SystemExit) as error:
        if debug:
            import traceback

            traceback.print_exc()
        problems.append(f"not analysed: {type(error).__name__}: {' '.join(str(error).split())}")
    finally:
        remove_job(place)
    show = debug or (shown and not log)
    say("note", notes, log, show)
    say("warning", problems, log, show or strict)
    return problems


def say(kind: str, texts: Sequence[str], log: str, show: bool) -> None:
    """Add lines to a log ("" for none), and to standard error if `show`."""
    text = "".join([f"incc: {kind}: {' '.join(one.split())}\n" for one in texts])
    if text and log:
        from incc.support.files import add_line

        try:
            add_line(log, text)
        except OSError:
            show = True
    if text and show and sys.stderr is not None:
        try:
            sys.stderr.write(text.encode("utf-8", "backslashreplace").decode())
            sys.stderr.flush()
        except OSError:
            return


def _enter(job: Job) -> None:
    for name in [name for name in os.environ if name.startswith("INCC_")]:
        del os.environ[name]
    os.environ.update({name: value for name, value in job.environment.items() if name.startswith("INCC_")})
    try:
        os.chdir(job.folder)
    except OSError:
        # Tests of configure remove their folders at once; most file names are absolute.
        os.chdir("/")


def _run(job: Job, problems: list[str], notes: list[str]) -> None:
    options = _options(job)
    if options.problems:
        raise AnalysisError(options.problems[0])
    folder = options.folder
    request = options.all().request(options.format, options.output, options.append)
    settings = replace(_settings(options), later=request.is_for_commands)
    reports: list[t.AnalysisReport] = []
    for unit in job.units:
        try:
            with limits.limited_time(job.environment):
                report = _analysed(job, unit, settings, problems, notes)
        except AnalysisError as error:
            text = str(error)
            problems.append(text if unit.source in text else f"{_where(job, unit)}: not analysed: {text}")
            continue
        if report is not None:
            report = selected(report, request.where, request.top)
        if report is None:
            _withdraw(job, unit, folder, request)
        elif folder:
            _put(job, unit, report, folder, request)
        if report is not None:
            reports.append(report)
    if not reports:
        return
    from incc.driver.deliver import deliver, deliver_beside

    whole = replace(reports[0], units=[unit for report in reports for unit in report.units])
    undelivered = deliver_beside(whole, request) if folder else deliver(whole, request, sys.stdout)
    problems += undelivered.failures


def _put(job: Job, unit: JobUnit, report: t.AnalysisReport, folder: str, request: DeliveryRequest) -> None:
    """Write a unit's report to the folder of reports and to the cache."""
    from incc.driver.deliver import named_parts, text_of
    from incc.report.folder.cache import Cached
    from incc.report.folder.outcome import put, rest_of

    ((name, _),) = named_parts(report, request)
    text = text_of(report, request)
    entry = put(folder, name, report.units[0], text, job.digest.get(unit.output), unit.key)
    # The cache does not keep additional files.
    if unit.key and not request.files:
        unit_cache(job.environment).store(unit.key, Cached(name, rest_of(entry), text))


def unit_cache(environment: Mapping[str, str]) -> UnitCache:
    """Return the cache of units for an environment; HOME and XDG_CACHE_HOME are those of this process."""
    from incc.report.folder.cache import UnitCache, cache_folder, cache_size

    folders = {name: os.environ[name] for name in ("HOME", "XDG_CACHE_HOME") if name in os.environ}
    variables = {**folders, **environment}
    return UnitCache(cache_folder(variables), cache_size(variables))


def _withdraw(job: Job, unit: JobUnit, folder: str, request: DeliveryRequest) -> None:
    """Remove the report of a source that the project now excludes."""
    if folder:
        from incc.report.folder.names import name_for
        from incc.report.folder.outcome import withdraw

        ending = "json" if request.format == "json" else "txt"
        withdraw(folder, name_for(unit.source, (job.folder, unit.source, unit.output), ending))


def _options(job: Job) -> WrapperOptions:
    from incc.driver.cli.own_options import split

    # The front sets INCC_DEPTH for its children, which would turn the analysis off here.
    return split(list(job.options), {name: v for name, v in job.environment.items() if name != "INCC_DEPTH"})[0]


def _settings(options: WrapperOptions) -> Settings:
    """Return the settings of the analysis, without a timeline unless an option requests one."""
    given = options.all()
    settings = given.settings()
    if given["timeline"] >= 0 or given["html"]:
        return settings
    return replace(settings, kernel=replace(settings.kernel, timeline_iterations=0))


# --- units of a job ---------------------------------------------------------------------------------------------------


def _analysed(
    job: Job, unit: JobUnit, settings: Settings, problems: list[str], notes: list[str]
) -> t.AnalysisReport | None:
    """Analyse one source of a job.

    Returns None if the project excludes the source, or for a link that generates no code. Raises AnalysisError.
    """
    from incc.driver.builds.project import project_of
    from incc.driver.pipeline import analyze_object, analyze_unit, report_of
    from incc.frontends.gcc_wrapper.assembly import other_mode
    from incc.frontends.isa import titles
    from incc.frontends.objects.read import ObjectError

    source = os.path.join(job.folder, unit.source)
    project = project_of(os.path.normpath(source))
    mistakes = [*project.problems]
    of_cores = project.applied(settings, mistakes)
    if mistakes and project.folder not in _reported_projects:
        _reported_projects.add(project.folder)
        problems += mistakes
    if unit.way == "link":
        return _linked(job, unit, of_cores, project, notes)
    if not project.wants(os.path.normpath(source)):
        return None
    if other := other_mode([*job.arguments, *unit.proper]):
        raise AnalysisError(f"the code is for {other}, not for {titles()}")
    made, path = _made(job, unit)

    def analysed(of_core: Settings) -> UnitResult:
        try:
            return analyze_object(made, path, of_core) if unit.way == "object" else analyze_unit(made, of_core)
        except AnalysisError as error:
            if not isinstance(error.__cause__, ObjectError) or not error.__cause__.empty:
                raise
            return analyze_unit(made, of_core)  # of no text, as there is no code

    return report_of(analysed(of_core) for of_core in of_cores)


def _linked(
    job: Job, unit: JobUnit, of_cores: Sequence[Settings], project: Project, notes: list[str]
) -> t.AnalysisReport | None:
    """Analyse the code that link-time optimisation generated. Raises AnalysisError."""
    from incc.driver.builds.linked import TO_BE_LINKED_AGAIN, analyze_linked
    from incc.driver.pipeline import report_of
    from incc.frontends.gcc_wrapper.dry_run import parse
    from incc.frontends.gcc_wrapper.linking import changed_inputs, find_link, linked_unit, links

    if project.excludes(os.path.normpath(os.path.join(job.folder, unit.output))):
        return None
    dry_run = parse(unit.dry_run)
    if not links(dry_run):
        raise AnalysisError(f"{_compiler_name(job)} does not list the inputs of the link for -###")
    # The job was written at the end of the link; inputs may have changed while it was waiting.
    written = os.stat(os.path.join(job.place, FILE)).st_mtime_ns
    if changed := changed_inputs(dry_run, job.arguments, job.folder, written):
        more = f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
        raise AnalysisError(f"{changed[0]} after the link{more}; its other inputs can no longer be determined")
    path = os.path.join(job.place, unit.file)
    _check_unchanged(job, unit, path)
    link = find_link(dry_run, job.arguments, job.folder)
    if link is None:
        return None
    command = (*job.words, *job.given)
    made = linked_unit(link, _compiler_name(job), dry_run.version, command, job.arguments, job.folder)
    results = analyze_linked(made, link, of_cores, project.wants, path)
    if not results:
        notes.append(f"{_where(job, unit)}: nothing to analyse: {TO_BE_LINKED_AGAIN}")
        return None
    return report_of(results)


_reported_projects: set[str] = set()
"""Folders of projects whose mistakes this process has reported already."""


def _made(job: Job, unit: JobUnit) -> tuple[Unit, str]:
    """Return the unit to analyse, and the path of its file. Raises AnalysisError."""
    from incc.frontends.asm.preprocessed import as_in_source
    from incc.frontends.gcc_wrapper.assembly import target_cpu
    from incc.frontends.unit import Unit

    path = os.path.join(job.place, unit.file)
    text = version = ""
    try:
        if unit.way == "object":
            _check_unchanged(job, unit, path)
            with open(path, "rb") as file:
                version = _version_in(file.read())
        else:
            with open(path, "rb") as file:
                text = file.read().decode("utf-8", "surrogateescape")
            version = compiler_version(text)
    except OSError as error:
        raise AnalysisError(f"{unit.file}: {error.strerror}") from error
    shown = "<stdin>" if unit.source in ("-", "/dev/stdin") else unit.source
    given = unit.way == "given"
    if given:
        name = shown
        if unit.proper:  # a compiler that has preprocessed it
            text = as_in_source(text, os.path.join(job.folder, unit.source))
    elif unit.way == "object":
        name = unit.output or unit.file
    else:
        name = os.path.splitext(os.path.basename(shown))[0] + ".s"
    made = Unit(
        assembly=text,
        assembly_file=name,
        source="" if given else shown,
        compiler=_compiler_name(job),
        compiler_version=version,
        command=(*job.words, *job.given),
        cpu=target_cpu(unit.proper, job.arguments),
        folders=_folders(job, unit),
        arguments=job.arguments,
        folder=job.folder,
        output=unit.output,
        way=unit.way if unit.way != "link" else "object",
        made=_assembled(job, unit) if unit.way == "assembler" else b"",
    )
    return made, path


def _assembled(job: Job, unit: JobUnit) -> bytes:
    """Return the object that the compilation's assembler made of a unit's text, b"" if there is none any more."""
    noted = job.digest.get(unit.output)
    path = os.path.join(job.folder, unit.output)
    if not noted or not os.path.isfile(path) or _changes_code(job.arguments):
        return b""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError:
        return b""
    return data if hashlib.blake2b(data, digest_size=16).hexdigest() == noted else b""


def _changes_code(arguments: Sequence[str]) -> bool:
    """Return True if arguments of a compiler have options for the assembler that may change the code."""
    options = [word for word in arguments if word.startswith(("-Wa,", "-Xassembler"))]
    return any(option != "-Wa,--noexecstack" for option in options)


def _check_unchanged(job: Job, unit: JobUnit, path: str) -> None:
    """Raise AnalysisError if an object outside the job was compiled again in the meantime."""
    from incc.report.folder.manifest import digest_of

    if os.path.isabs(unit.file) and (noted := job.digest.get(unit.output)) and digest_of(path) != noted:
        raise AnalysisError(f"{unit.file} was changed or removed before its analysis")


def compiler_version(text: str) -> str:
    """Return the version of the compiler that wrote an assembly file, in the notation of its driver.

    It is in `.ident "GCC: (Debian …) 12.2.0"` or `.ident "Debian clang version 14.0.6"`; "" if there is no such line.
    """
    start = text.rfind('\t.ident\t"')
    if start < 0:
        return ""
    end = text.find("\n", start)
    return _version_of(text[start + 9 : end if end >= 0 else len(text)].rstrip().removesuffix('"'))


def _version_in(data: bytes) -> str:
    """Return the compiler version in an object's section `.comment`; "" if several compilers wrote it.

    The section is not parsed, since its texts are between NUL bytes in any case.
    """
    idents = {
        m[1].decode("utf-8", "replace")
        for m in re.finditer(rb"\0((?:GCC: \(|[\w .-]*clang version )[^\0\n]{3,200})\0", data)
    }
    return _version_of(idents.pop()) if len(idents) == 1 else ""


def _version_of(ident: str) -> str:
    if ident.startswith("GCC: ("):
        vendor, _, version = ident[len("GCC: ") :].rpartition(") ")
        return f"{version} {vendor})" if vendor and version else ""
    return ident.partition(" version ")[2]


def _compiler_name(job: Job) -> str:
    """Return the compiler's name for reports: the last word that is not an option (`gcc` of `ccache gcc -m64`)."""
    programs = [word for word in job.words if not word.startswith("-")]
    return os.path.basename(programs[-1] if programs else job.compiler)


def _folders(job: Job, unit: JobUnit) -> IncludeFolders:
    """Return the folders of a source's headers; relative ones also as absolute paths, as in debug information."""
    from incc.frontends.gcc_wrapper.assembly import include_folders
    from incc.frontends.unit import IncludeFolders

    named = include_folders(unit.proper or (job.compiler, *job.arguments))
    variables = ("C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH")
    of_variables = [f for name in variables for f in job.environment.get(name, "").split(":") if f]
    return IncludeFolders(
        *(
            tuple(dict.fromkeys(path for f in some for path in (f, os.path.join(job.folder, f))))
            for some in ((*named.system, *of_variables), named.user)
        )
    )


def _where(job: Job, unit: JobUnit) -> str:
    """Return a source's absolute path for messages, since builds change folders."""
    return os.path.join(job.folder, unit.source)
