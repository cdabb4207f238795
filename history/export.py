"""Export of a database: all figures as a table, and the reports as they were added."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TextIO

from incc.history.history import iso
from incc.history.read import document
from incc.history.runs import runs
from incc.history.schema import selected
from incc.history.store import ORDER, Database, StoredCommit, take
from incc.report import columnar
from incc.report import types as t
from incc.report.runs import LoopRun, RunReport
from incc.report.where import NAMES, NUMBER, TEXT, TRUTH, Condition, Name
from incc.support.text import written_out

_EXTRA = {
    "commit": (TEXT, "the commit", "c.name"),
    "commit_date": (TEXT, "date of the commit, ISO 8601 in UTC; may be unknown", "c.date"),
    "compiler_version": (TEXT, "the compiler's version", "u.compiler_version"),
    "command": (TEXT, "the command line, as JSON", "u.command"),
    "model_version": (TEXT, "the version of the core's model", "u.model_version"),
}

_OF_RUN: dict[str, tuple[str, Callable[[LoopRun], float | None]]] = {
    "run_share": ("share of the processor time in the commit's run; may be unknown", lambda loop: loop.share),
    "run_entries": ("entries in that run; may be unknown", lambda loop: float(loop.entries)),
    "run_iterations": ("iterations in that run; may be unknown", lambda loop: loop.iterations),
    "run_cycles": ("measured cycles per iteration in that run; may be unknown", lambda loop: loop.cycles),
}

ROW_NAMES: dict[str, Name] = {
    **{name: Name(kind, meaning, lambda unit, kernel: None) for name, (kind, meaning, _) in _EXTRA.items()},
    **{name: Name(NUMBER, meaning, lambda unit, kernel: None) for name, (meaning, _) in _OF_RUN.items()},
    **NAMES,
}
"""The columns of the table, which conditions on its rows may name: those of kernels, and some of commits, units and
runs."""

_SOME = 2000


def rows(database: Database, condition: Condition | None) -> Iterator[tuple[Any, ...]]:
    """Yield the values of ROW_NAMES for each kernel of each commit, the oldest commit first.

    If a commit has several runs of a kernel, its values are those of the one in which it took longest.
    """
    ran: dict[tuple[str, str, str], LoopRun] = {}
    names = {commit.id: commit.name for commit in database.commits()}
    by_time = ((names[n], loop) for n, report in runs(database) for loop in report.loops)
    for commit, loop in sorted(by_time, key=lambda each: (each[1].cycles or 0.0) * each[1].iterations):
        ran[commit, loop.unit, loop.kernel_id] = loop
    source, kernel_id = (len(_EXTRA) + list(NAMES).index(name) for name in ("source", "kernel_id"))
    extra = ", ".join(expression for _, _, expression in _EXTRA.values())
    kernels = database.rows(
        f"""SELECT {extra}, {selected(tuple(NAMES))} FROM commits c JOIN units u ON u."commit" = c.id
        JOIN unit_kernels l ON l.unit = u.id JOIN kernels k ON k.id = l.kernel
        ORDER BY {ORDER}, u.source, u.assembly_file, u."key", u.digest, l.place"""
    )
    truths = [n for n, name in enumerate(ROW_NAMES.values()) if name.kind == TRUTH]
    for row in kernels:
        run = ran.get((row[0], row[source], row[kernel_id]))
        of_run = [of(run) if run else None for _, of in _OF_RUN.values()]
        values = [*row[: len(_EXTRA)], *of_run, *row[len(_EXTRA) :]]
        values[1] = iso(values[1]) or None
        for n in truths:
            values[n] = bool(values[n])
        if condition is None or condition.holds(dict(zip(ROW_NAMES, values, strict=True))):
            yield tuple(values)


def write_csv(database: Database, condition: Condition | None, stream: TextIO) -> None:
    """Write the table as CSV (RFC 4180) with a header; unknown values are empty, booleans are true and false.

    A text that a spreadsheet would take for a formula begins with an apostrophe.
    """
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(ROW_NAMES)
    for row in rows(database, condition):
        writer.writerow(map(_cell, row))


def _cell(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if not isinstance(value, str):
        return value
    return written_out(f"'{value}" if value.startswith(("=", "+", "-", "@", "\t", "\r")) else value)


def write_parquet(database: Database, condition: Condition | None, stream: BinaryIO) -> None:
    """Write the table as a Parquet file. Raises InputError without pyarrow."""
    _, parquet = columnar.parquet()
    schema = columnar.schema_of(ROW_NAMES)
    with parquet.ParquetWriter(stream, schema) as writer:
        for some in take(rows(database, condition), _SOME):
            writer.write_batch(columnar.batch_of(some, schema))


def reports(database: Database, commit: StoredCommit | None) -> Iterator[t.AnalysisReport | RunReport]:
    """Yield the reports of a commit, or of all, one for each unit and run, as they were added."""
    units = database.rows(
        f"""SELECT u.id, u.body FROM commits c JOIN units u ON u."commit" = c.id
        WHERE :commit IS NULL OR c.id = :commit ORDER BY {ORDER}, u.source, u.assembly_file, u."key", u.digest""",
        {"commit": commit.id if commit else None},
    )
    for unit, body in units:
        yield document(database, unit, body)
    for _, report in runs(database, commit):
        yield report
