"""The command `incc-report`: rank the kernels of a build."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import MCA, Option, check_targets, condition
from incc.driver.cli.parsers import run
from incc.driver.completion import Completer
from incc.driver.cores import named_cores
from incc.driver.datasets import is_dataset, opened_dataset
from incc.driver.deliver import deliver, deliver_beside, unmet, write_rendered
from incc.driver.messages import fail, offenders, run_command, say
from incc.driver.rooflines import ReportedModels
from incc.driver.sides.runs import check_core, read_run
from incc.ranking import types as r
from incc.ranking.build import GROUPS, SORTS, RankingRequest, Threshold, rank
from incc.ranking.hot.read import KINDS, read_hot
from incc.ranking.hot.records import HotError, Profile
from incc.ranking.hot.runs import profile_of_run
from incc.ranking.kernels import RankedKernel
from incc.ranking.manifest import prune
from incc.ranking.read import ReadSettings, read_build
from incc.report import types as t
from incc.report.documents import InputError
from incc.report.parts.roofline import ceilings_report
from incc.report.runs import RunReport
from incc.report.source.places import choice
from incc.report.where import NAMES
from incc.support.errors import AnalysisError
from incc.support.text import counted
from incc.support.workers import cpus

if TYPE_CHECKING:
    import argparse

OK, FAILED, ERROR = 0, 1, 2

TOP = 25
"""Default number of rows."""

COMMAND = Command(
    name="incc-report",
    summary="list the kernels of a build, those most worth optimising first",
    usage=(
        "incc-report [options] DIR|FILE…",
        "incc-report [options] [DIR|FILE…] --probes RECORDED…",
        "incc-report --render [--kernel=FUNCTION] [--views=NAME,…] FILE…",
    ),
    about=(
        "List the kernels of a build, those most worth optimising first and equal ones once. An input is a JSON "
        "report, a file to which a build appended reports, a folder of reports (INCC_OUTPUT=DIR of the build), or a "
        "dataset of incc-scan; - is standard input. --hot weights the kernels by their run time or executions; without "
        "it, all have the same weight.",
        "With --probes, print what loops took when programs that were built with probes ran, as incc-run does; after "
        "reports, list the kernels of the build by their time in these runs (docs/running.md).",
        "With --render, print the reports in these files in full, as the command that made them does.",
    ),
    groups=(
        group(
            "what to read",
            Option("[INPUT…]", "operand", into="inputs"),
            Option(
                "--hot FILE",
                "list",
                "profile: output of gcov (or its folder), llvm-cov export, perf script, perf annotate …, or a list "
                "(repeatable; docs/builds.md)",
            ),
            Option(f"--hot-kind {'|'.join(KINDS)}", "choice", "format of the profiles (default: detect)"),
            Option(
                "--probes RECORDED…",
                "text",
                "what probes recorded: files or folders (INCC_PROBES), or a report of incc-run --json",
                (),
            ),
            Option("--drain", "flag", "first analyse the jobs that your builds left there (INCC_DEFER=1)"),
            shared.jobs("analyse these jobs"),
            Option("--stale", "flag", "include and list reports whose source or object has changed since"),
            Option("--prune", "flag", "remove reports whose source or object has changed since"),
        ),
        group(
            "what to show",
            shared.mcpu("show only analyses for this core, or these cores separated by commas"),
            shared.function("show"),
            shared.where("show only kernels that meet this condition: 'hot and headroom > 0.3'", "ranked condition"),
            Option(
                f"--by {'|'.join(GROUPS)}",
                "choice",
                "show a row per file, function, bottleneck or hint instead of per kernel",
            ),
            Option(f"--sort {'|'.join(SORTS)}", "choice", "order of the rows (default: worth, with --probes weight)"),
            shared.top("rows", str(TOP)),
            Option("--all", "flag", "show all rows"),
            Option("--copies", "flag", "show each different code of a loop of the source in a row of its own"),
            Option("--instructions", "flag", "list the instructions of each row below the table of a text"),
            Option(
                "--fail-if CONDITION",
                "ranked conditions",
                "list the kernels that meet this condition, and exit with 1 if there are any (repeatable)",
            ),
        ),
        group(
            "reports in full",
            Option("--render", "flag", "print the reports in these files, one after the other, instead of a ranking"),
            Option(
                "--kernel FUNCTION[:LINE]",
                "list",
                "show only the overview and these kernels: FUNCTION, FUNCTION:LINE or kernel_id (repeatable)",
            ),
            Option(
                "--views NAMES",
                "text",
                "views of each kernel, separated by commas, as of incc-mca (default: as for a new report)",
            ),
        ),
        group(
            "what to write",
            *shared.formats("text", "markdown", "json", "html", help="output format; json and html contain all rows"),
            shared.OUTPUT,
            shared.HTML,
            shared.ROOFLINE,
            shared.CLOCK,
        ),
    ),
    hidden=(Option("-n N", "number", into="top", default=0),),
    examples=(
        "incc-report reports                                the 25 loops of a build most worth optimising",
        "incc-report reports --hot=prog.json                weighted by the counts of llvm-cov export",
        "perf script | incc-report reports --hot=-          weighted by samples",
        "incc-report --probes recorded                      what the loops of programs with probes took",
        "incc-report reports --probes recorded              the kernels of the build by their time in these runs",
        "incc-report reports --by=hint                      the hints, and their share of the time",
        "incc-report reports --where='hot and vector_bits == 0' --all",
        "incc-report reports --format=html -o loops.html    an HTML page",
        "incc-report reports --fail-if='unknown > 0'        a check in continuous integration",
        "incc-report reports --prune                        remove reports whose source or object has changed since",
        "incc-report --render reports/dot.c-1f.json         a report in full, as text",
    ),
    environment=ENVIRONMENT,
    status="0; 1 if some input cannot be read, --function or -mcpu matches nothing, or a kernel meets a condition of "
    "--fail-if or of [thresholds] fail-if in the project's incc.toml; 2 for a mistake on the command line, no report "
    "that can be read, or output that cannot be written",
    abbreviations=False,
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, _run, (InputError, HotError, AnalysisError), ERROR, prints=False)


def _run(options: argparse.Namespace) -> int:
    _check(options)
    if options.render:
        return _render(options)
    ran, problems = _recorded(options)
    if ran and not options.inputs:
        failure = _deliver(options, partial(_rendered_run, ran, options))
        status = OK
    else:
        request = _request(options)
        _analyse_waiting(options)
        ranking = _ranking(options, request, ran)
        failure = _deliver(options, partial(_rendered, ranking, options))
        status = _status(ranking)
        if (options.function or options.mcpu) and not options.where and not ranking.totals.kernels:
            of_function = f" of a function named {' or '.join(options.function)}" if options.function else ""
            for_core = f" for {' or '.join(sorted(request.mcpu))}" if options.mcpu else ""
            problems = [*problems, f"no kernel{of_function}{for_core}"]
    for text in (*problems, *([failure] if failure else [])):
        fail("incc-report", text, ERROR)
    return ERROR if failure else FAILED if problems else status


_say = partial(say, "incc-report")


# --- options ----------------------------------------------------------------------------------------------------------


def _check(options: argparse.Namespace) -> None:
    """Raise UsageError for options that cannot be combined, before anything is read."""
    if not options.inputs and not options.probes:
        raise UsageError("no reports; name a folder (INCC_OUTPUT of a build) or files")
    if options.probes:
        _check_recorded(options)
    if [*options.inputs, *options.hot].count("-") > 1:
        raise UsageError("standard input can be read only once")
    if options.hot_kind and not options.hot:
        raise UsageError("--hot-kind requires --hot")
    if options.all and options.top:
        raise UsageError("--all and --top cannot be combined")
    if options.render:
        _check_rendered(options)
    elif wanted := [f"--{name}" for name in ("kernel", "views") if getattr(options, name)]:
        raise UsageError(f"{wanted[0]} requires --render")
    if options.prune and options.stale:
        raise UsageError("--prune and --stale cannot be combined")
    if options.ghz and not (options.roofline or options.html or options.format == "html"):
        raise UsageError("--ghz requires --roofline or --html")
    files = (("-o", options.output), ("--html", options.html), ("--roofline", options.roofline))
    targets = [(option, file) for option, file in files if file]
    check_targets(targets, [*options.inputs, *options.hot, *options.probes])


_OF_RANKING = (
    "hot", "hot_kind", "probes", "drain", "stale", "prune", "mcpu", "function", "where", "by", "top", "all", "copies",
    "instructions", "fail_if",
)  # fmt: skip
"""Options that have no effect on reports in full."""


def _check_rendered(options: argparse.Namespace) -> None:
    if given := next(_given_of_ranking(options), ""):
        raise UsageError(f"--{given.replace('_', '-')} and --render cannot be combined")
    if options.format == "markdown":
        raise UsageError("--render: reports in full are text, json or html; incc-report without it ranks as markdown")
    folders = [name for name in options.inputs if os.path.isdir(name)]
    datasets = [name for name in folders if is_dataset(name)]
    if datasets and not options.kernel:
        raise UsageError(f"--render of the dataset {datasets[0]} requires --kernel")
    if folder := next((name for name in folders if name not in datasets), ""):
        raise UsageError(f"--render takes files, but {folder} is a folder; incc-report {folder} lists its kernels")


def _given_of_ranking(options: argparse.Namespace) -> Iterator[str]:
    """Yield the names of the options that only apply to rankings."""
    yield from (name for name in (*_OF_RANKING, "sort") if getattr(options, name))


def _check_recorded(options: argparse.Namespace) -> None:
    if options.hot:
        raise UsageError("--hot and --probes cannot be combined: both weight the kernels")
    if options.inputs or options.render:
        return
    for name in _given_of_ranking(options):
        if name not in ("probes", "mcpu", "top"):
            raise UsageError(f"--{name.replace('_', '-')} needs the reports of a build before --probes")
    if options.format == "markdown" or options.roofline:
        raise UsageError("--probes without the reports of a build is printed as text, json or html")
    check_core(options.mcpu)


def _request(options: argparse.Namespace) -> RankingRequest:
    """Return the contents of the ranking. Raises UsageError."""
    thresholds = [Threshold(condition, True, "--fail-if") for condition in options.fail_if]
    return RankingRequest(
        mcpu=_cores(options.mcpu),
        functions=tuple(options.function),
        where=options.where,
        sort=options.sort or ("weight" if options.probes else "worth"),
        by=options.by,
        thresholds=(*thresholds, *_of_project()),
        copies=options.copies,
        stale=options.stale,
    )


def _cores(mcpu: str) -> frozenset[str]:
    """Return the names of the models of a list of cores. Raises AnalysisError for a core without a model."""
    from incc.driver.pipeline import choose_model

    return frozenset(choose_model(name, "").model.name for name in named_cores(mcpu))


def _of_project() -> list[Threshold]:
    """Return the thresholds in the incc.toml of the current project, with warnings for its mistakes."""
    try:
        from incc.driver.builds.project import project_in

        project = project_in(os.getcwd())
    except (ImportError, OSError):
        return []
    for problem in project.problems:
        _say(f"warning: {problem}")
    thresholds = []
    origin = os.path.join(project.folder, "incc.toml")
    for texts, fails in ((project.fail_if, True), (project.warn_if, False)):
        for text in texts:
            try:
                thresholds.append(Threshold(condition(origin, text, ranked=True), fails, origin))
            except UsageError as error:
                _say(f"warning: {error}")
    return thresholds


# --- waiting jobs -----------------------------------------------------------------------------------------------------


def _analyse_waiting(options: argparse.Namespace) -> None:
    """With --drain, analyse the jobs that builds have left in the folders; report the jobs that remain.

    A job names programs and files, and a folder may come from elsewhere, so without --drain nothing is analysed.
    """
    for folder in options.inputs:
        if not os.path.isdir(os.path.join(folder, ".incc", "jobs")):
            continue
        from incc.driver.builds.workers import Queue, run_pending

        aside = []
        try:
            aside = run_pending(folder, options.jobs or cpus()) if options.drain else []
        except OSError as error:
            _say(f"warning: {error.filename or folder}: {error.strerror}")
            continue
        for name in aside:
            _say(f"warning: {folder}: the analysis of {name} crashed; the job is kept in .incc/failed")
        if not (left := Queue(folder).count()):
            continue
        jobs = counted(left, "job")
        if options.drain:
            _say(f"warning: {folder}: {jobs} not analysed: not left there by an incc of this user")
        else:
            _say(f"note: {folder}: {jobs} not analysed yet; --drain analyses those that your builds left there")


# --- reading ----------------------------------------------------------------------------------------------------------


def _recorded(options: argparse.Namespace) -> tuple[RunReport | None, list[str]]:
    """Return the report on the runs of --probes, and messages on files that cannot be read. Raises InputError."""
    if not options.probes:
        return None, []
    core = named_cores(options.mcpu)[0] if options.mcpu else ""
    return read_run(options.probes, core, most=_shown(options))


def _ranking(options: argparse.Namespace, request: RankingRequest, ran: RunReport | None) -> r.Ranking:
    """Read the reports and rank their kernels. Raises InputError and HotError."""
    profiles = [profile_of_run(" ".join(options.probes), ran)] if ran else _profiles(options)
    conditions = [request.where, *(threshold.condition for threshold in request.thresholds)]
    names = frozenset(name for condition in conditions if condition for name in condition.names)
    completer = Completer(names, bool(profiles))
    wanted = ReadSettings(
        names=names,
        code=bool(profiles),
        stale=options.stale,
        complete=completer.whole,
        complete_all=_needs_all(options, names),
        dataset=partial(_read_dataset, request if not profiles else RankingRequest()),
    )
    build = read_build(options.inputs, wanted)
    if options.prune:
        removed = 0
        for folder, reports in build.folders.items():
            failures = prune(folder, reports)
            removed += len(reports) - len(failures)
            for failure in failures:
                _say(f"warning: not removed: {failure}")
        _say(f"{counted(removed, 'stale report')} removed")
        build = replace(build, stale=[])
    models = ReportedModels()
    if options.roofline or options.html or options.format == "html":
        request = replace(request, ceilings=_ceilings(build.kernels, models, options.ghz))
    ranking = rank(options.inputs, build, profiles, request, _shown(options), completer.kernels)
    for problem in (*completer.problems, *models.problems):
        _say(f"warning: {problem}")
    return ranking


def _read_dataset(request: RankingRequest, folder: str, take: Callable[[t.UnitReport], None]) -> list[str] | None:
    """Pass the kernels of a dataset that a ranking without profiles needs to `take`; return notes on it.

    Returns None for another folder. Raises InputError.
    """
    if not is_dataset(folder):
        return None
    where = request.where if request.where and request.where.names <= NAMES.keys() else None
    with opened_dataset(folder) as dataset:
        for unit in dataset.units(where, request.mcpu, request.functions):
            take(unit)
        return dataset.notes


def _ceilings(kernels: Sequence[RankedKernel], models: ReportedModels, ghz: float) -> dict[str, r.CoreCeilings]:
    """Return the ceilings of the kernels' cores, as far as there are models."""
    result: dict[str, r.CoreCeilings] = {}
    cores = max((ranked.kernel.data.cores for ranked in kernels if ranked.kernel.data), default=1)
    for name, core in {ranked.unit.model.name: ranked.unit.model for ranked in kernels}.items():
        if (model := models.find(core)) is not None:
            result[name] = r.CoreCeilings(model=name, title=core.title, ceilings=ceilings_report(model, cores, ghz))
    return result


_OF_COMPLETE_KERNELS = frozenset(("cycles_least", "cycles_most", "headroom", "hints", "rules", "verdict"))
"""Names of conditions whose values are known of complete kernels only."""


def _needs_all(options: argparse.Namespace, names: frozenset[str]) -> bool:
    """Return True if all kernels have to be complete: all are shown, or compared by what only complete ones have."""
    every = options.all or options.html or options.format in ("json", "html")
    return bool(every or options.by or options.sort == "headroom" or names & _OF_COMPLETE_KERNELS)


def _shown(options: argparse.Namespace) -> int:
    """Return the number of rows that a table shows."""
    return options.top or TOP


def _profiles(options: argparse.Namespace) -> list[Profile]:
    """Read the profiles of --hot. Raises HotError."""
    if not options.hot:
        return []

    profiles = [read_hot(path, options.hot_kind) for path in options.hot]
    first = profiles[0]
    others = [profile for profile in profiles if profile.unit != first.unit]
    if others:
        raise HotError(
            f"{first.path} has {first.unit}, but {others[0].path} has {others[0].unit}; name profiles of one kind"
        )
    # Percentages of different files have different totals.
    percent = [profile for profile in profiles if profile.kind in ("perf-report", "list")]
    if first.unit == "samples" and percent and len(profiles) > 1:
        raise HotError(f"{percent[0].path} has percentages, which cannot be combined with other files; name it alone")
    return profiles


# --- output -----------------------------------------------------------------------------------------------------------


def _deliver(options: argparse.Namespace, rendered: Callable[[str, int, bool], str]) -> str:
    """Write all formats that are wanted, and return a message if one could not be written."""
    written = [(options.output, options.format)]
    written += [(options.html, "html")] if options.html else []
    written += [(options.roofline, "roofline")] if options.roofline else []
    for path, form in written:
        try:
            write_rendered(path, partial(rendered, form))
        except OSError as error:
            return f"{path or 'the table'} could not be written: {error.strerror}"
        except ValueError as error:
            return f"{path}: not written: {error}"
    return ""


def _rendered_run(ran: RunReport, options: argparse.Namespace, form: str, width: int, colour: bool) -> str:
    from incc.views.running import render

    return render(ran, form, width, colour, top=_shown(options))


def _rendered(ranking: r.Ranking, options: argparse.Namespace, form: str, width: int, colour: bool) -> str:
    top = 0 if options.all else _shown(options)
    match form:
        case "json":
            from incc.views.json import render as render_json

            return render_json(ranking)
        case "html":
            from incc.views import roofline
            from incc.views.ranking import page

            return page.render(ranking, roofline.panels(roofline.figures_of_ranking(ranking), "#r"))
        case "roofline":
            from incc.views import roofline

            figures = roofline.figures_of_ranking(ranking)
            return roofline.page(figures, ranking.tool) if options.roofline.endswith(".html") else roofline.svg(figures)
        case "markdown":
            from incc.views.ranking import markdown

            return markdown.render(ranking, top)
        case _:
            from incc.views.ranking import text

            return text.render(ranking, width, colour, top, options.instructions)


def _render(options: argparse.Namespace) -> int:
    """Print the reports of all inputs in full, as one report. Raises InputError and UsageError."""
    from incc.driver.cli.values import OptionValues
    from incc.driver.settings import Settings

    given = OptionValues(MCA)
    for name, values in (("--views", [options.views]), ("--kernel", options.kernel)):
        for value in filter(None, values):
            given.take(name, value)
    page = options.output if options.format == "html" else options.html
    if options.format == "html" and not page:
        raise UsageError("--render: --format=html requires -o FILE")
    if page:
        given.take("html", page)
    if options.roofline:
        given.take("roofline", options.roofline)
    completer = Completer()
    report, problems = _in_full(options, completer)
    models = ReportedModels()
    if page or options.roofline:
        report = models.with_rooflines(report, options.ghz)
    request = given.request("json" if options.format == "json" else "text", options.output or "")
    if options.format == "html":
        failures = deliver_beside(report, request).failures
    else:
        failures = deliver(report, request, sys.stdout).failures
    for problem in (*completer.problems, *models.problems):
        _say(f"warning: {problem}")
    missing = unmet(report, Settings(), request, "--")
    for text in (*problems, *failures, *(message.text for message in missing)):
        _say(f"error: {text}")
    if failures or missing:
        return ERROR
    return FAILED if problems else OK


def _in_full(options: argparse.Namespace, completer: Completer) -> tuple[t.AnalysisReport, Sequence[str]]:
    """Return the reports of all inputs as one, and messages about those that cannot be read. Raises InputError."""
    from incc.ranking.read import all_reports

    datasets = [name for name in options.inputs if is_dataset(name)]
    files = [name for name in options.inputs if name not in datasets]
    reports, problems = all_reports(files) if files else ([], [])
    for folder in datasets:
        with opened_dataset(folder) as dataset:
            reports.append(dataset.report([*dataset.units(kernels=[choice(name) for name in options.kernel])]))
    reports = [completer.whole(report) for report in reports]
    return replace(reports[0], units=[unit for each in reports for unit in each.units]), problems


def _status(ranking: r.Ranking) -> int:
    """Return the exit status, and print the reasons for it to standard error."""
    failed = False
    for gate in ranking.gates:
        if not gate.offenders:
            continue
        names = [ranking.rows[offender.row].name for offender in gate.offenders]
        _say(("" if gate.fails else "warning: ") + offenders(gate.condition, names))
        failed |= gate.fails
    for unread in ranking.unread[:5]:
        _say(f"error: {unread.report}: {unread.why}")
    if len(ranking.unread) > 5:
        _say(f"error: {len(ranking.unread) - 5} more files cannot be read")
    return FAILED if failed or ranking.unread else OK


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
