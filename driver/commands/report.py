"""The command `incc-report`: every kernel of a build in one table, what is worth a look first."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.driver.messages import interrupted, run_command, say

if TYPE_CHECKING:
    import argparse

    from incc.ranking import types as r
    from incc.ranking.build import Asked, Threshold
    from incc.ranking.hot.records import Told
    from incc.report.where import Condition

OK, FAILED, ERROR = 0, 1, 2

TOP = 25
"""Rows of a table, unless it is said how many."""

ABOUT = """\
Put every kernel of a build into one table: equal ones once, what is worth a look first. An input is a report of incc
(JSON), a file to which a build added reports, or a folder of them (INCC_OUTPUT=DIR of the build); - is standard input.
Kernels weigh what --hot says of them: without it all weigh the same."""

EXAMPLES = """\
  incc-report reports                                the 25 loops of a build that are most worth a look
  incc-report reports --hot=prog.json                weighed by what llvm-cov export has counted
  perf script | incc-report reports --hot=-          weighed by samples
  incc-report reports --by=hint                      which hints there are, and how much they are about
  incc-report reports --where='hot and vector_bits == 0' --all
  incc-report reports --format=html -o loops.html    a page for the browser
  incc-report reports --fail-if='unknown > 0'        for a job that checks
  incc-report reports --prune                        remove reports of what is no more what it was
"""

STATUS = """\
0; 1 if a condition of --fail-if, or of [thresholds] fail-if in the project's incc.toml, holds for a
kernel; 2 for a mistake on the command line, input of which nothing can be read (with conditions: not all), or output
that cannot be written"""


def main(arguments: list[str] | None = None) -> int:
    """Run the command; returns its exit status, as STATUS says."""
    from incc.driver import UsageError
    from incc.ranking.hot.records import HotError
    from incc.report.documents import InputError

    options = _parser().parse_args(sys.argv[1:] if arguments is None else arguments)
    try:
        _check(options)
        asked = _asked(options)
    except UsageError as error:
        return _error(f"{error}; see incc-report --help")
    try:
        _analyse_pending(options)
        ranking = _ranking(options, asked)
        failure = _deliver(ranking, options)
    except (InputError, HotError) as error:
        return _error(str(error))
    except KeyboardInterrupt:
        return interrupted()
    if failure:
        _error(failure)
    return _status(ranking, bool(failure))


def _error(message: str) -> int:
    for line in message.split("\n"):
        _say(f"error: {line}")
    return ERROR


_say = partial(say, "incc-report")


# --- options ----------------------------------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    import argparse

    from incc.driver.cli.parsers import Parser, positive
    from incc.ranking.build import GROUPS, SORTS
    from incc.ranking.hot.read import KINDS

    parser = Parser(
        prog="incc-report",
        summary="every kernel of a build, what is worth a look first",
        usage="incc-report [options] DIR|FILE…",
        description=ABOUT,
        examples=EXAMPLES,
        status=STATUS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    what = parser.add_argument_group("what to read")
    what.add_argument("inputs", nargs="*", metavar="INPUT", help=argparse.SUPPRESS)
    what.add_argument(
        "--hot",
        action="append",
        default=[],
        metavar="FILE",
        help="what runs how often, or how long: the output of gcov (a folder for all of it), llvm-cov export, perf "
        "script, perf annotate …, or a list; may be given several times (docs/builds.md)",
    )
    what.add_argument(
        "--hot-kind", choices=tuple(KINDS), default="", help="what these files are (default: by what is in them)"
    )
    what.add_argument(
        "-j",
        dest="jobs",
        type=_count,
        default=None,
        metavar="N",
        help="processes that analyse what INCC_DEFER has left to be analysed (default: the CPUs), 0 to leave it",
    )
    what.add_argument(
        "--stale", action="store_true", help="also reports of what is no more what it was, and a list of them"
    )
    what.add_argument("--prune", action="store_true", help="remove these reports from their folder")
    show = parser.add_argument_group("what to show")
    show.add_argument(
        "--where",
        metavar="CONDITION",
        help="only kernels for which this holds: 'hot and headroom > 0.3' (docs/filters.md)",
    )
    show.add_argument(
        "--by",
        choices=GROUPS,
        default="",
        help="a row for each file, function, bottleneck or hint, not for each kernel",
    )
    show.add_argument(
        "--sort", choices=SORTS, default="worth", help="order of the rows (worth: what is worth a look first)"
    )
    show.add_argument("-n", dest="top", type=positive, default=None, metavar="N", help=f"at most so many rows ({TOP})")
    show.add_argument("--all", action="store_true", help="all rows")
    show.add_argument(
        "--fail-if",
        action="append",
        default=[],
        metavar="CONDITION",
        help="exit status 1 if this holds for a kernel, and a list of those: 'saved > 0.1'; may be given several times",
    )
    write = parser.add_argument_group("what to write")
    write.add_argument(
        "--format",
        choices=("text", "markdown", "json", "html"),
        default="text",
        help="markdown: for a comment or a job's summary; json and html have all rows",
    )
    write.add_argument("-o", "--output", metavar="FILE", help="where it goes (default: standard output)")
    return parser


def _count(text: str) -> int:
    from incc.driver.cli.parsers import positive

    return 0 if text == "0" else positive(text)


def _check(options: argparse.Namespace) -> None:
    """Raises UsageError for what does not go together, before anything is read."""
    from incc.driver import UsageError
    from incc.driver.cli.options import check_targets

    if not options.inputs:
        raise UsageError("no reports: name a folder (INCC_OUTPUT of a build) or files")
    if [*options.inputs, *options.hot].count("-") > 1:
        raise UsageError("standard input can be read once")
    if options.hot_kind and not options.hot:
        raise UsageError("--hot-kind is for --hot")
    if options.all and options.top:
        raise UsageError("--all and -n: it is one of them")
    if options.prune and options.stale:
        raise UsageError("--prune removes what --stale shows: it is one of them")
    if options.output is not None:
        if not options.output:
            raise UsageError("-o: no file")
        try:
            check_targets([("-o", options.output)], [*options.inputs, *options.hot])
        except FileNotFoundError:
            raise UsageError("the working directory is gone: name files by their whole paths") from None


def _condition(option: str, text: str) -> Condition:
    """Raises UsageError for a condition that cannot be understood, or compares with what is not there."""
    from incc.driver import UsageError
    from incc.report.where import parse

    try:
        found = parse(text, ranked=True)
    except ValueError as error:
        raise UsageError(f"{option}: {error}") from None
    if found.needs_baseline:
        raise UsageError(f"{option}: there is nothing to compare with here: incc-diff takes {text!r}")
    return found


def _asked(options: argparse.Namespace) -> Asked:
    """Raises UsageError."""
    from incc.ranking.build import Asked, Threshold

    thresholds = [Threshold(_condition("--fail-if", text), True, "--fail-if") for text in options.fail_if]
    return Asked(
        where=None if options.where is None else _condition("--where", options.where),
        sort=options.sort,
        by=options.by,
        thresholds=(*thresholds, *_of_project()),
        stale=options.stale,
    )


def _of_project() -> list[Threshold]:
    """The thresholds of the project that the working directory is in. Mistakes in its file are told, and no more."""
    import os

    from incc.driver import UsageError
    from incc.ranking.build import Threshold

    try:
        from incc.driver.builds.project import project_in

        project = project_in(os.getcwd())
    except (ImportError, OSError):
        return []
    for problem in project.problems:
        _say(f"warning: {problem}")
    found = []
    origin = os.path.join(project.folder, "incc.toml")
    for texts, fails in ((project.fail_if, True), (project.warn_if, False)):
        for text in texts:
            try:
                found.append(Threshold(_condition(origin, text), fails, origin))
            except UsageError as error:
                _say(f"warning: {error}")
    return found


# --- jobs that wait ---------------------------------------------------------------------------------------------------


def _analyse_pending(options: argparse.Namespace) -> None:
    """Analyse what builds have left in the folders. What comes to nothing is told, and no more."""
    import os

    if options.jobs == 0:
        return
    jobs = options.jobs or len(os.sched_getaffinity(0))
    for folder in options.inputs:
        if not os.path.isdir(os.path.join(folder, ".incc", "jobs")):
            continue
        try:
            from incc.driver.builds.workers import run_pending

            found = run_pending(folder, jobs)
        except ImportError:
            return
        except OSError as error:
            _say(f"warning: {folder}: what waits is not analysed: {error.strerror}")
            continue
        for name in found.aside:
            _say(f"warning: {folder}: the analysis of {name} died, and it was put aside")


# --- reading ----------------------------------------------------------------------------------------------------------


def _ranking(options: argparse.Namespace, asked: Asked) -> r.Ranking:
    """Raises InputError and HotError."""
    from incc.ranking.build import rank
    from incc.ranking.read import Wanted, read_build

    told = _told(options)
    conditions = [asked.where, *(threshold.condition for threshold in asked.thresholds)]
    names = frozenset(name for condition in conditions if condition for name in condition.names)
    build = read_build(options.inputs, Wanted(names, bool(told), options.stale))
    if options.prune:
        from incc.ranking.manifest import prune

        removed = 0
        for folder, reports in build.folders.items():
            failures = prune(folder, reports)
            removed += len(reports) - len(failures)
            for failure in failures:
                _say(f"warning: not removed: {failure}")
        _say(f"{removed} stale {'report' if removed == 1 else 'reports'} removed")
        build = replace(build, stale=[])
    return rank(options.inputs, build, told, asked)


def _told(options: argparse.Namespace) -> list[Told]:
    """What files of hotness tell. Raises HotError."""
    from incc.ranking.hot.records import HotError

    if not options.hot:
        return []
    from incc.ranking.hot.read import read_hot

    told = [read_hot(path, options.hot_kind) for path in options.hot]
    others = [each for each in told if each.unit != told[0].unit]
    if others:
        raise HotError(
            f"{told[0].path} has {told[0].unit} and {others[0].path} {others[0].unit}, which do not add up: give one "
            "kind"
        )
    # A percentage is of its own file's time.
    percent = [each for each in told if each.kind in ("perf-report", "list")]
    if told[0].unit == "samples" and percent and len(told) > 1:
        raise HotError(
            f"{percent[0].path} has percentages, which do not add up with those of other files: give it alone"
        )
    return told


# --- output -----------------------------------------------------------------------------------------------------------


def _deliver(ranking: r.Ranking, options: argparse.Namespace) -> str:
    """Writes what was asked for; returns what could not be written."""
    from incc.driver.deliver import PLAIN_WIDTH, write_stream, write_whole

    def render(width: int, colour: bool) -> str:
        text = _rendered(ranking, options, width, colour)
        # What stands in names for bytes that are no characters is none that could be written.
        return text if text.isascii() else text.encode("utf-8", "replace").decode()

    try:
        if options.output:
            write_whole(options.output, render(PLAIN_WIDTH, False))
        else:
            write_stream(sys.stdout, render)
    except OSError as error:
        return f"{options.output or 'the table'} could not be written: {error.strerror}"
    return ""


def _rendered(ranking: r.Ranking, options: argparse.Namespace, width: int, colour: bool) -> str:
    top = 0 if options.all else options.top or TOP
    match options.format:
        case "json":
            from incc.views.json import render as render_json

            return render_json(ranking)
        case "html":
            from incc.views.ranking import page

            return page.render(ranking)
        case "markdown":
            from incc.views.ranking import markdown

            return markdown.render(ranking, top)
        case _:
            from incc.views.ranking import text

            return text.render(ranking, width, colour, top)


def _status(ranking: r.Ranking, undelivered: bool) -> int:
    """The exit status, with lines on standard error for what makes it one."""
    from incc.views.layout import count

    failed = False
    fails = False
    for gate in ranking.gates:
        fails |= gate.fails
        if not gate.offenders:
            continue
        names = list(dict.fromkeys(ranking.rows[offender.row].name for offender in gate.offenders))
        listed = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
        kind = "" if gate.fails else "warning: "
        _say(f"{kind}{count(len(gate.offenders), 'kernel')} for which {gate.condition.strip()}: {listed}")
        failed |= gate.fails
    for unread in ranking.unread[:5]:
        _say(f"warning: not read: {unread.report}: {unread.why}")
    if len(ranking.unread) > 5:
        _say(f"warning: not read: {len(ranking.unread) - 5} more files")
    if undelivered:
        return ERROR
    if failed:
        return FAILED
    # What could not be read cannot have passed.
    return ERROR if fails and ranking.unread else OK


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
