"""The command `incc-db`: a database of reports over commits and builds."""

from __future__ import annotations

import datetime
import io
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli import shared
from incc.driver.cli.command import ENVIRONMENT, Command, group
from incc.driver.cli.kinds import Option
from incc.driver.cli.parsers import run
from incc.driver.completion import completed
from incc.driver.datasets import is_dataset, opened_dataset
from incc.driver.deliver import write_rendered
from incc.driver.messages import run_command, say
from incc.history.reports import PackedUnit, files_of, packed, read_reports, report_in
from incc.history.runs import add_run, command_of, core_of, is_run, run_history, run_in, runs
from incc.history.store import Added, Adder, Database, StoredCommit, open_database, open_reading
from incc.history.types import shown
from incc.report.documents import InputError
from incc.report.runs import RunReport
from incc.support.files import replacement
from incc.support.text import counted
from incc.views.layout import Layout, harmless

if TYPE_CHECKING:
    import argparse

OK, INCOMPLETE, USAGE = 0, 1, 2

DEFAULT = "incc.db"
"""The default database."""


_say = partial(say, "incc-db")


# --- commands that change the database --------------------------------------------------------------------------------


def _add(options: argparse.Namespace) -> int:

    name, date, branch = _commit_to_add(options)
    files = [file for name in options.reports for file in ([name] if is_dataset(name) else files_of([name]))]
    if any(os.path.realpath(file) == os.path.realpath(options.db) for file in files):
        raise UsageError(f"{options.db}: the database is also a report to add; use incc-db merge to copy databases")
    refused: list[str] = []
    units = _units(files, refused)
    first = next(units, None)
    if first is None and refused and not os.path.exists(options.db):
        return INCOMPLETE  # do not create an empty database
    ran: list[bool] = []
    with open_database(options.db, create=True) as database:
        if database.note:
            _say(f"note: {database.note}")
        adder = Adder(database, name, date, branch)
        for file, each in chain((first,) if first else (), units):
            if isinstance(each, RunReport):
                ran.append(add_run(database, name, date, branch, each))
            else:
                adder.add(each, file)
        added = adder.finish()
    print(f"{shown(name)}: {_added(added, ran)}")
    return INCOMPLETE if refused else OK


def _units(files: list[str], refused: list[str]) -> Iterator[tuple[str, PackedUnit | RunReport]]:
    """Yield the files with units of reports and runs; report unreadable ones, add errors to `refused`, and go on."""

    def refuse(error: InputError) -> None:
        refused.append(str(error))
        _say(str(error))

    for file in files:
        try:
            if is_dataset(file):
                yield from ((file, unit) for unit in _units_of_dataset(file))
                continue
            for line, text in read_reports(file):
                try:
                    if is_run(text):
                        yield file, run_in(text, file)
                        continue
                    done = completed(report_in(text, file, line))
                except InputError as error:
                    refuse(error)
                    continue
                for problem in done.problems:
                    _say(f"warning: {problem}")
                for unit in packed(done.report):
                    yield file, unit
        except InputError as error:
            refuse(error)


def _units_of_dataset(folder: str) -> Iterator[PackedUnit]:
    """Yield the units of a dataset. Raises InputError."""
    with opened_dataset(folder) as dataset:
        for note in dataset.notes:
            _say(f"note: {note}")
        for unit in dataset.units():
            yield from packed(dataset.report([unit]))


def _commit_to_add(options: argparse.Namespace) -> tuple[str, int | None, str]:
    """Return the commit's name, date and branch."""
    from incc.history.commits import checked_out, commit_of

    date = _date("--date", options.date) if options.date else None
    branch = _name("--branch", options.branch) if options.branch else ""
    here = checked_out()
    if options.commit is None:
        if here is None:
            raise UsageError("no git repository here; name the commit with --commit=C")
        if here.modified:
            _say(
                f"note: the reports are added to {here.name[:10]}, but files here differ from it; --commit=NAME "
                "adds them to another commit"
            )
        return here.name, here.date if date is None else date, branch or here.branch
    name = _name("--commit", options.commit)
    commit = commit_of(name) if here else None
    if here is None or commit is None:
        return name, date, branch
    branch = branch or (here.branch if commit.name == here.name else "")
    return commit.name, commit.date if date is None else date, branch


def _added(added: Added, runs: Sequence[bool] = ()) -> str:
    """Return a text on what was added; `runs`: whether each run is new."""
    parts = [_units_added(added)] if added.units or added.already or not runs else []
    parts += [f"{counted(sum(runs), 'run')} added"] if any(runs) else []
    parts += [f"{counted(len(runs) - sum(runs), 'run')} already present"] if not all(runs) else []
    return "; ".join(parts)


def _units_added(added: Added) -> str:
    text = f"{counted(added.units, 'unit')} with {counted(added.kernels, 'kernel')} added"
    if added.replaced:
        text += f", {counted(added.replaced, 'unit')} replaced"
    if added.already:
        text += f"; {counted(added.already, 'unit')} already present"
    return text


def _merge(options: argparse.Namespace) -> int:

    failed = False
    with open_database(options.db, create=True) as database:
        if database.note:
            _say(f"note: {database.note}")
        for path in options.others:
            try:
                with open_reading(path) as other:
                    added, notes = database.merge(other)
            except InputError as error:
                if not str(error).startswith(f"{path}: "):
                    raise
                failed = True
                _say(str(error))
                continue
            print(f"{path}: {_added(added)}")
            for note in notes:
                _say(f"note: {note}")
    return INCOMPLETE if failed else OK


def _prune(options: argparse.Namespace) -> int:

    if options.keep is None and options.before is None:
        raise UsageError("prune needs --keep=N or --before=DATE")
    before = _date("--before", options.before) if options.before is not None else None
    with open_database(options.db) as database:
        done = database.prune(options.keep, before, options.dry_run)
    verb = "would be removed" if options.dry_run else "removed"
    for name in done.commits:
        print(f"{shown(name)} {verb}")
    for name in done.kept:
        print(f"{shown(name)} is a baseline and stays")
    size = "" if options.dry_run else f"; {_megabytes(done.before)} before, {_megabytes(done.after)} now"
    print(f"{counted(len(done.commits), 'commit')} with {counted(done.units, 'unit')} {verb}{size}")
    return OK


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f} MB"


def _baseline_set(options: argparse.Namespace) -> int:

    if "@" in options.name:
        raise UsageError(f"{options.name!r}: a baseline's name must not contain @, which precedes it in FILE.db@NAME")
    name = _name("baseline", options.name)
    with open_database(options.db) as database:
        commit = _commit_named(database, options.commit)
        database.set_baseline(name, commit)
    print(f"{name}: {shown(commit.name)}")
    return OK


def _commit_named(database: Database, name: str | None) -> StoredCommit:
    """Return the commit of this name; without one, the commit checked out here, else the newest."""
    from incc.history.commits import checked_out, commit_of

    if name:
        try:
            return database.named(name)
        except InputError:
            # Other names in git: HEAD~2, a tag.
            commit = commit_of(name)
            if commit is None:
                raise
            return database.named(commit.name)
    here = checked_out()
    stored = {commit.name: commit for commit in database.commits()}
    return stored[here.name] if here and here.name in stored else database.named("")


def _baseline_get(options: argparse.Namespace) -> int:

    with open_reading(options.db) as database:
        names = database.baselines()
    name = options.name or (next(iter(names)) if len(names) == 1 else "")
    if name in names:
        print(names[name])
        return OK
    existing = f"it has {', '.join(names)}" if names else "it has none"
    _say(f"{options.db}: {f'no baseline {name!r}' if name else 'name a baseline'}: {existing}")
    return INCOMPLETE


def _baseline_list(options: argparse.Namespace) -> int:
    with open_reading(options.db) as database:
        for name, commit in database.baselines().items():
            print(f"{name} {commit}")
    return OK


def _baseline_remove(options: argparse.Namespace) -> int:

    with open_database(options.db) as database:
        if database.remove_baseline(options.name):
            return OK
    _say(f"{options.db}: no baseline {options.name!r}")
    return INCOMPLETE


def _name(option: str, text: str) -> str:
    """Return `text` if it is a valid name: printable, not empty, without spaces at its ends. Raises UsageError."""
    if not text or not text.isprintable() or text != text.strip():
        raise UsageError(f"{option}: {text!r} is not a valid name")
    return text


def _date(option: str, text: str) -> int:
    """Parse a date into seconds since 1970. Raises UsageError."""
    try:
        date = datetime.datetime.fromisoformat(text)
        return int((date if date.tzinfo else date.replace(tzinfo=datetime.UTC)).timestamp())
    except (ValueError, OverflowError):
        raise UsageError(f"{option}: {text!r} is not a date; write 2026-01-31 or 2026-01-31T12:00") from None


# --- commands that read the database ----------------------------------------------------------------------------------


def _list(options: argparse.Namespace) -> int:
    from incc.history.history import commits
    from incc.views import database as views

    with open_reading(options.db) as database:
        stored = commits(database)[: options.top or None]
    _print(options, stored, lambda layout: views.commits(stored, layout))
    return OK


def _show(options: argparse.Namespace) -> int:
    from incc.history.export import reports

    with open_reading(options.db) as database:
        commit = _commit_named(database, options.name) if options.name else database.named("")
        if options.format == "json":
            with _target(options.output) as binary:
                _write_reports(reports(database, commit), binary)
            return OK
        lines = []
        for source, compiler, version, model, kernels in database.rows(
            """SELECT CASE WHEN u.source = '' THEN u.assembly_file ELSE u.source END, u.compiler, u.compiler_version,
            u.model, (SELECT count(*) FROM unit_kernels WHERE unit = u.id) FROM units u WHERE u."commit" = ?
            ORDER BY 1, u."key", u.digest""",
            [commit.id],
        ):
            build = f"{compiler} {version.split(' ')[0]}".strip()
            words = [source, build, model, counted(kernels, "kernel")]
            lines.append(harmless(", ".join(word for word in words if word), False))
        for _, report in runs(database, commit):
            words = [f"run of {' '.join(command_of(report))}", core_of(report), counted(len(report.loops), "loop")]
            lines.append(harmless(", ".join(word for word in words if word), False))
    write_rendered(options.output, lambda width, colour: "".join(f"{line}\n" for line in lines))
    return OK


def _log(options: argparse.Namespace) -> int:
    from incc.history.history import choice, history
    from incc.views import database as views

    chosen = choice(options.kernel, options.mcpu, options.all)
    with open_reading(options.db) as database:
        series = replace(history(database, options.kernel, chosen), runs=run_history(database, chosen))
    series = replace(series, series=series.series[: options.top or None], runs=series.runs[: options.top or None])
    if not series.series and not series.runs:
        _say(f"{options.db}: no kernel {options.kernel!r}")
        return INCOMPLETE
    _print(options, series, lambda layout: views.history(series, layout, _bars()))
    return OK


def _best(options: argparse.Namespace) -> int:
    from incc.history.history import best, choice
    from incc.views import database as views

    with open_reading(options.db) as database:
        ranking = best(database, options.kernel, choice(options.kernel, options.mcpu, options.all))
    ranking = replace(ranking, kernels=ranking.kernels[: options.top or None])
    if not ranking.kernels and not ranking.without_elements:
        what = f"no kernel {options.kernel!r}" if options.kernel else "no loop"
        _say(f"{options.db}: {what} with a known number of elements per iteration")
        return INCOMPLETE
    _print(options, ranking, lambda layout: views.best(ranking, layout))
    return OK


def _bars() -> str:
    """Return the characters of sparklines: blocks, if the terminal's encoding has them."""
    from incc.views.database import ASCII_BARS, BARS

    try:
        BARS.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return ASCII_BARS
    return BARS


def _print(options: argparse.Namespace, result: Any, lines: Callable[[Layout], Iterator[str]]) -> None:
    def render(width: int, colour: bool) -> str:
        if options.format == "json":
            from incc.views.json import render as render_json

            return render_json(result)

        return "".join(f"{line}\n" for line in lines(Layout(width, colour)))

    write_rendered(options.output, render)


def _export(options: argparse.Namespace) -> int:
    from incc.history import export

    kind = options.kind or options.format
    if kind == "json" and options.where is not None:
        raise UsageError("--where cannot be combined with json, which exports whole reports")
    if kind != "json" and options.commit:
        raise UsageError("--commit requires json; for a table use --where='commit == \"…\"'")
    if options.output and os.path.realpath(options.output) == os.path.realpath(options.db):
        raise UsageError(f"-o would overwrite {options.db}")
    with open_reading(options.db) as database, _target(options.output) as binary:
        if kind == "parquet":
            export.write_parquet(database, options.where, binary)
        elif kind == "json":
            commit = _commit_named(database, options.commit) if options.commit else None
            _write_reports(export.reports(database, commit), binary)
        else:
            text = io.TextIOWrapper(binary, "utf-8", errors="replace", newline="", write_through=False)
            try:
                export.write_csv(database, options.where, text)
                text.flush()
            finally:
                text.detach()
    return OK


@contextmanager
def _target(path: str | None) -> Iterator[Any]:
    """Open the output of an export: standard output, or a file that is replaced when the export is complete."""
    if not path:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    with replacement(path) as file:
        yield file


def _write_reports(reports: Iterable[Any], stream: Any) -> None:
    """Write reports as JSON, one per line."""
    from incc.views.json import render

    stream = stream or sys.stdout.buffer
    for report in reports:
        try:
            stream.write(render(report, compact=True).encode("utf-8", "surrogateescape"))
        except UnicodeEncodeError:
            stream.write(json.dumps(msgspec.to_builtins(report), separators=(",", ":")).encode() + b"\n")
    stream.flush()


# --- options ----------------------------------------------------------------------------------------------------------

_WRITTEN = (*shared.formats("text", "json"), shared.OUTPUT)
_WHERE = (
    shared.mcpu("show only analyses for this core"),
    Option("--all", "flag", "include remainders, prologues and fallbacks"),
)
_COMMIT = "commit (default: the one checked out here{})"


def _command(
    name: str, run: Callable[[argparse.Namespace], int], summary: str, *options: Option, hidden: tuple[Option, ...] = ()
) -> Command:
    return Command(
        name=f"incc-db {name}",
        summary=summary,
        groups=(group("", *options),),
        everywhere=(DATABASE,),
        hidden=hidden,
        run=run,
    )


DATABASE = Option(
    "--db FILE",
    "text",
    f"database (default: $INCC_DB, or {DEFAULT})",
    os.environ.get("INCC_DB") or DEFAULT,
)

COMMAND = Command(
    name="incc-db",
    summary="keep reports over commits and builds in a database",
    about=(
        "Keep reports in a database, to show the history of kernels over commits, find the fastest build and set "
        "baselines to compare with (docs/database.md).",
    ),
    everywhere=(DATABASE,),
    commands=(
        _command(
            "add",
            _add,
            "add reports to a commit, replacing those of the same units",
            Option("--commit C", "text", _COMMIT.format(""), None),
            Option("--branch NAME", "text", "branch of the commit (default: the one checked out here)", None),
            Option("--date DATE", "text", "date of a commit that git does not have: 2026-01-31[T12:00]", None),
            Option(
                "REPORT…",
                "operand",
                "JSON report, also of incc-run, folder of them, or dataset (-: standard input)",
                into="reports",
            ),
        ),
        _command(
            "merge",
            _merge,
            "copy the contents of other databases",
            Option("OTHER…", "operand", "database to copy from", into="others"),
        ),
        _command("list", _list, "list the commits, newest first", shared.top("commits"), *_WRITTEN),
        _command(
            "show",
            _show,
            "show the units of a commit",
            Option("[COMMIT]", "operand", "commit or baseline (default: the newest commit)", into="name"),
            *_WRITTEN,
        ),
        _command(
            "log",
            _log,
            "show the history of kernels over commits",
            Option("KERNEL", "operand", "function or kernel_id, or a glob, with :LINE if needed", into="kernel"),
            *_WHERE,
            shared.top("kernels"),
            *_WRITTEN,
        ),
        _command(
            "best",
            _best,
            "show the build with the fewest cycles per element",
            Option("[KERNEL]", "operand", "kernel as for log (default: all)", into="kernel"),
            *_WHERE,
            shared.top("kernels"),
            *_WRITTEN,
        ),
        _command(
            "export",
            _export,
            "export all figures as a table, or all reports",
            *shared.formats("csv", "parquet", "json", help="table, or reports, one per line (json)"),
            shared.OUTPUT,
            shared.where("export only kernels that meet this condition", "condition of rows"),
            Option("--commit C", "text", "export only this commit or baseline (json only)", None),
            hidden=(Option("[csv|parquet|json]", "operand", default=None, into="kind"),),
        ),
        Command(
            name="incc-db baseline",
            summary="name commits to compare with",
            commands=(
                _command(
                    "baseline set",
                    _baseline_set,
                    "name a commit",
                    Option("NAME", "operand", into="name"),
                    Option("--commit C", "text", _COMMIT.format(", else the newest"), None),
                ),
                _command(
                    "baseline get",
                    _baseline_get,
                    "print the commit of a baseline",
                    Option("[NAME]", "operand", "baseline (default: the only one)", into="name"),
                ),
                _command("baseline list", _baseline_list, "list the baselines and their commits"),
                _command(
                    "baseline remove",
                    _baseline_remove,
                    "remove a baseline but not its commit",
                    Option("NAME", "operand", into="name"),
                ),
            ),
        ),
        _command(
            "prune",
            _prune,
            "remove old commits except baselines",
            Option("--keep N", "count", "keep the newest N commits", None),
            Option(
                "--before DATE",
                "text",
                "remove commits older than this date (with --keep: only if both options select them)",
                None,
            ),
            Option("--dry-run", "flag", "only print what would be removed"),
        ),
    ),
    environment=(("INCC_DB", "database, unless --db names one"), *ENVIRONMENT),
    status="0; 1 if part of the work failed or nothing matched; 2 for a mistake on the command line, an "
    "unusable database, or an output that cannot be written",
)


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run(COMMAND, arguments, _run, (InputError,), USAGE)


def _run(options: argparse.Namespace) -> int:
    try:
        status: int = options.run(options)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        if hasattr(options, "db") and os.path.exists(options.db):
            with open_reading(options.db) as database:
                if damage := database.damage():
                    raise InputError(f"{options.db}: damaged: {damage}") from None
        raise
    return status


def command() -> int:
    """Run the installed command."""
    return run_command(main)


if __name__ == "__main__":
    sys.exit(command())
