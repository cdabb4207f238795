"""What comparisons take from a database: the reports of a commit, read as those of files are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.comparison.side import entries_of
from incc.history.reports import unpacked
from incc.history.store import open_reading

if TYPE_CHECKING:
    from collections.abc import Callable

    from incc.comparison.side import Entry
    from incc.history.store import Database
    from incc.report import types as t


def read_commit(path: str, name: str, take: Callable[[t.Report], Any]) -> list[str]:
    """Hand each unit of a commit to `take`, as a document of its own, in the order in which reports come out of a
    database; returns what a reader must know of it beside that. `name`: a baseline, a commit or
    its beginning, "" for the newest. Raises InputError."""
    with open_reading(path) as database:
        # Each page of the texts is read once: to keep them would only take memory.
        database.connection.execute("PRAGMA cache_size = -2000")
        # One moment of it, whatever is written into it meanwhile.
        database.connection.execute("BEGIN")
        commit = database.named(name)
        # Without their texts, which SQLite would carry along while it sorts.
        units = database.rows(
            """SELECT u.id, u.body FROM units u WHERE u."commit" = ?
            ORDER BY u.source, u.assembly_file, u."key", u.digest""",
            [commit.id],
        )
        for number, body in list(units):
            take(_document(database, number, body))
        twice = database.row(
            """SELECT count(*) FROM (SELECT 1 FROM units WHERE "commit" = ? GROUP BY "key" HAVING count(*) > 1)""",
            [commit.id],
        )[0]
    notes = []
    if twice:
        notes.append(
            f"{twice} of its units {'is' if twice == 1 else 'are'} there in several versions, from databases that were "
            "merged or sources of one name."
        )
    return notes


def entries_of_unit(database: Database, number: int) -> list[Entry]:
    """The kernels of a unit, in the order of their places. Raises InputError."""
    (body,) = database.row("SELECT body FROM units WHERE id = ?", [number])
    return [entry for unit in _document(database, number, body).units for entry in entries_of(unit)]


def _document(database: Database, number: int, body: int) -> t.Report:
    data = database.row("SELECT data FROM bodies WHERE id = ?", [body])[0]
    kernels = database.rows(
        "SELECT b.data FROM unit_kernels l JOIN bodies b ON b.id = l.kernel WHERE l.unit = ? ORDER BY l.place",
        [number],
    )
    return unpacked(data, [kernel for (kernel,) in kernels], database.path)
