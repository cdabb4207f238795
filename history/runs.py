"""Runs of programs with probes in a database: storing them, and the measured cycles of loops over commits.

A run is a report of `incc-run`, stored whole. Runs of one command on one core follow each other over the commits. Their
loops are matched as in a comparison of two runs, so that a loop is followed if its lines move or its function is
cloned.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec

from incc.comparison.runs import changed, pairs
from incc.history import types as d
from incc.history.history import KernelFilter, iso
from incc.history.reports import compressed, digest_of, unpacked_text
from incc.history.schema import text
from incc.history.store import ORDER, Database, StoredCommit, next_moment, open_reading, remove_unused
from incc.report.documents import InputError
from incc.report.runs import LoopRun, RunReport
from incc.report.source.demangle import short_name


def is_run(data: bytes) -> bool:
    """Return True if a JSON text is a report of incc-run."""
    return b'"incc-run"' in data[:100]


def run_in(data: bytes, place: str) -> RunReport:
    """Return the report in a text. Raises InputError."""
    try:
        return msgspec.json.decode(data, type=RunReport)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise InputError(f"{place}: not a report of this version of incc-run: {error}") from None


def command_of(report: RunReport) -> tuple[str, ...]:
    """Return the command without the program's folder, or the programs and libraries that ran if it is unknown."""
    if report.command:
        return os.path.basename(report.command[0]), *report.command[1:]
    return tuple(sorted({os.path.basename(loop.module) for loop in report.loops}))


def core_of(report: RunReport) -> str:
    """Return the core of the predictions, "" if no loop was analysed."""
    return next((loop.core for loop in report.loops if loop.core), "")


def add_run(database: Database, commit: str, date: int | None, branch: str, report: RunReport) -> bool:
    """Add a run to a commit, in place of an earlier one of the same command and core; return False if it is there."""
    data = msgspec.json.encode(report)
    digest = digest_of([data])
    command, core = json.dumps(command_of(report)), core_of(report)
    with database.transaction() as connection:
        number = database.set_commit(connection, commit, date, branch)
        same = [number, text(command), text(core)]
        where = '"commit" = ? AND command = ? AND model = ?'
        if connection.execute(f"SELECT 1 FROM runs WHERE {where} AND digest = ?", [*same, digest]).fetchone():
            return False
        connection.execute(f"DELETE FROM runs WHERE {where}", same)
        connection.execute("INSERT OR IGNORE INTO bodies (digest, data) VALUES (?, ?)", [digest, compressed(data)])
        (body,) = connection.execute("SELECT id FROM bodies WHERE digest = ?", [digest]).fetchone()
        now = next_moment(connection, "runs", "added")
        connection.execute(
            'INSERT INTO runs ("commit", command, model, digest, body, added) VALUES (?, ?, ?, ?, ?, ?)',
            [*same, digest, body, now],
        )
        remove_unused(connection)
    return True


def runs(database: Database, commit: StoredCommit | None = None) -> list[tuple[int, RunReport]]:
    """Return the runs of a commit, or of all, the oldest first, with the ids of the commits."""
    rows = database.rows(
        f"""SELECT r."commit", b.data FROM runs r JOIN commits c ON c.id = r."commit" JOIN bodies b ON b.id = r.body
        WHERE :commit IS NULL OR c.id = :commit ORDER BY {ORDER}, r.command, r.model, r.added""",
        {"commit": commit.id if commit else None},
    )
    return [(number, run_in(unpacked_text(data, database.path), database.path)) for number, data in rows]


def run_like(path: str, name: str, other: RunReport | None) -> RunReport:
    """Return the run of a commit or baseline with the command of another run, or its only one. Raises InputError."""
    with open_reading(path) as database:
        commit = database.named(name)
        stored = [report for _, report in runs(database, commit)]
    alike = [each for each in stored if other and command_of(each) == command_of(other)]
    same_core = [each for each in alike if other and core_of(each) == core_of(other)]
    chosen = same_core or alike or stored
    if len(chosen) != 1:
        commands = ", ".join(dict.fromkeys(" ".join(command_of(each)) for each in stored))
        wanted = (
            f"no run of {' '.join(command_of(other))}" if other and stored else "several runs" if stored else "no run"
        )
        raise InputError(
            f"{path}: commit {d.shown(commit.name)} has {wanted}{f'; it has {commands}' if stored else ''}"
        )
    return chosen[0]


# --- history ----------------------------------------------------------------------------------------------------------

_Lane = list[tuple[int, LoopRun]]
"""A loop over commits, with their ids."""


def run_history(database: Database, chosen: KernelFilter) -> list[d.RunSeries]:
    """Return the series of the selected loops as they ran, by function and source."""
    by_command: defaultdict[tuple[tuple[str, ...], str], list[tuple[int, RunReport]]] = defaultdict(list)
    for number, report in runs(database):
        by_command[command_of(report), core_of(report)].append((number, report))
    commits = {commit.id: commit for commit in database.commits()}
    series = [
        _series(command, core, lane, commits)
        for (command, core), reports in by_command.items()
        for lane in _lanes(reports)
        if _is_chosen(lane[-1][1], chosen)
    ]
    return sorted(series, key=lambda s: (s.function, s.source, s.kernel_id, s.command, s.model))


def _lanes(reports: Iterable[tuple[int, RunReport]]) -> list[_Lane]:
    lanes: list[_Lane] = []
    for number, report in reports:
        ends = {id(lane[-1][1]): lane for lane in lanes}
        for before, after in list(pairs([lane[-1][1] for lane in lanes], report.loops)):
            if before and after:
                ends[id(before)].append((number, after))
            elif after:
                lanes.append([(number, after)])
    return lanes


def _is_chosen(loop: LoopRun, chosen: KernelFilter) -> bool:
    names = (loop.kernel_id, loop.kernel_id.rpartition("/")[0], loop.function_name, short_name(loop.function_name))
    named = not chosen.name or any(name == chosen.name or fnmatchcase(name, chosen.name) for name in names)
    at_line = not chosen.line or (loop.source is not None and loop.source.line == chosen.line)
    in_role = not chosen.roles or (loop.role or "main") in chosen.roles or loop.kernel_id == chosen.name
    return named and at_line and in_role and chosen.model in ("", loop.core)


def _series(command: tuple[str, ...], core: str, lane: _Lane, commits: dict[int, StoredCommit]) -> d.RunSeries:
    before = [None, *(loop for _, loop in lane)]
    points = [_point(commits[number], one, loop) for (number, loop), one in zip(lane, before, strict=False)]
    last = lane[-1][1]
    return d.RunSeries(
        function=short_name(last.function_name),
        kernel_id=last.kernel_id,
        source=last.source.file if last.source else last.unit,
        command=list(command),
        model=core,
        points=points,
    )


def _point(commit: StoredCommit, before: LoopRun | None, loop: LoopRun) -> d.RunPoint:
    row = changed(before, loop)
    work = row.work(loop)
    change = None
    if before and before.cycles and loop.cycles is not None:
        change = loop.cycles / work / (before.cycles / row.work(before)) - 1
    return d.RunPoint(
        commit=commit.name,
        date=iso(commit.date),
        kernel_id=loop.kernel_id,
        line=loop.source.line if loop.source else None,
        share=loop.share,
        entries=loop.entries,
        iterations=loop.iterations,
        elements=loop.elements,
        cycles=loop.cycles,
        cycles_error=loop.cycles_error,
        predicted=loop.predicted,
        parts={part.kind: part.cycles for part in loop.parts},
        unexplained=loop.unexplained,
        basis=row.per if before else "",
        change=change,
        renamed=before is not None and before.kernel_id != loop.kernel_id,
    )
