"""Input of comparisons from a database: the reports of a commit, like those of files."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from incc.comparison.side import SideKernel, entries_of
from incc.history.reports import unpacked
from incc.history.store import Database, open_reading
from incc.report import types as t
from incc.report.documents import InputError


def read_commit(path: str, name: str, take: Callable[[t.AnalysisReport], Any]) -> list[str]:
    """Pass each unit of a commit to `take`, as a report of its own; return notes on the commit.

    Args:
        path: The database.
        name: A baseline, a commit or a prefix of it; "" for the newest.
        take: Called with each report, in the order in which they are exported.

    Raises:
        InputError: The database cannot be read, or has no such commit.
    """
    with open_reading(path) as database:
        # Each page is read only once, so a large cache would waste memory.
        database.connection.execute("PRAGMA cache_size = -2000")
        # The transaction reads one state, whatever others write meanwhile.
        database.connection.execute("BEGIN")
        commit = database.named(name)
        # The query leaves out the texts, which SQLite would carry along while it sorts.
        units = database.rows(
            """SELECT u.id, u.body FROM units u WHERE u."commit" = ?
            ORDER BY u.source, u.assembly_file, u."key", u.digest""",
            [commit.id],
        )
        for number, body in list(units):
            take(document(database, number, body))
        twice = database.row(
            """SELECT count(*) FROM (SELECT 1 FROM units WHERE "commit" = ? GROUP BY "key" HAVING count(*) > 1)""",
            [commit.id],
        )[0]
    notes = []
    if twice:
        notes.append(
            f"{twice} of its units {'occurs' if twice == 1 else 'occur'} in several versions, because databases were "
            "merged or sources have the same name."
        )
    return notes


def entries_of_unit(database: Database, number: int) -> list[SideKernel]:
    """Return the kernels of a unit, in the order of their places. Raises InputError."""
    (body,) = database.row("SELECT body FROM units WHERE id = ?", [number])
    return [entry for unit in document(database, number, body).units for entry in entries_of(unit)]


def document(database: Database, number: int, body: int) -> t.AnalysisReport:
    """Return the report of a unit, which has this body, as it was added. Raises InputError."""
    row = database.row("SELECT data FROM bodies WHERE id = ?", [body])
    if row is None:
        raise InputError(f"{database.path}: damaged: the text of a report is not there")
    data = row[0]
    kernels = database.rows(
        "SELECT b.data FROM unit_kernels l JOIN bodies b ON b.id = l.kernel WHERE l.unit = ? ORDER BY l.place", [number]
    )
    return unpacked(data, [kernel for (kernel,) in kernels], database.path)
