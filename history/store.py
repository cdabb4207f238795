"""A database of reports that several programs may open, write to and merge at the same time."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import islice
from typing import Any
from urllib.parse import quote

import msgspec

from incc.history.reports import UNIT_COLUMNS, Body, PackedUnit, compressed
from incc.history.schema import APPLICATION_ID, COLUMNS, TABLES, VERSION, text
from incc.history.types import shown
from incc.report.documents import InputError
from incc.support.files import on_network

PATIENCE = 120.0
"""The time that a writer waits for others, in seconds; each holds the database for less than a second at a time."""

TIMEOUT = 10.0
"""The part of that time that SQLite waits by itself for each statement, in seconds."""

BATCH = 32 << 20
"""The size of texts written in one transaction, in bytes."""

_WHEN = "coalesce(c.date * 1000000, c.added)"
_THREADS = 2  # compress about as fast as one thread reads

ORDER = f"{_WHEN}, c.added, c.name"
"""The order of commits c, the oldest first: by commit date or, if that is unknown, by when they were added."""
NEWEST = f"{_WHEN} DESC, c.added DESC, c.name DESC"

_MAGIC = b"SQLite format 3\0"


class StoredCommit(msgspec.Struct, frozen=True):
    """A commit in a database."""

    id: int
    """The number in the database."""
    name: str
    date: int | None
    """The commit date, in seconds since 1970; None if unknown."""


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """The changes by adding or merging."""

    units: int
    kernels: int
    replaced: int
    already: int


class Pruned(msgspec.Struct, frozen=True, kw_only=True):
    """The commits that were removed, or would be."""

    commits: list[str]
    units: int
    bodies: int
    kept: list[str]
    """Commits that only stay because of a baseline."""
    before: int
    after: int


class Database:
    """An open database; as a context manager, it closes itself.

    All methods raise InputError with a message for the user. `note` is a warning about a new database.
    """

    def __init__(self, connection: sqlite3.Connection, path: str, note: str = "") -> None:
        self.connection = connection
        self.path = path
        self.note = note

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.connection.close()

    def damage(self) -> str:
        """Return an error in the values of the database, "" if they have their types.

        SQLite allows any value in any column. This check runs only after an operation has failed.
        """
        tables = [name for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            for _, column, kind, is_required, *_ in list(self.rows(f'PRAGMA table_info("{table}")')):
                types = [kind.lower(), *(["integer"] if kind == "REAL" else []), *([] if is_required else ["null"])]
                wrong = f"""typeof("{column}") NOT IN ({", ".join(f"'{each}'" for each in types)})"""
                if column == "command":
                    wrong += f' OR NOT json_valid("{column}") OR json_type("{column}") <> \'array\''
                if self.row(f'SELECT 1 FROM "{table}" WHERE {wrong} LIMIT 1'):
                    return f"a value in {table}.{column} is of another type"
        if row := self.row("PRAGMA foreign_key_check"):
            return f"{row[0]} refers to something in {row[2]} that is not there"
        return ""

    def rows(self, sql: str, values: Sequence[Any] | dict[str, Any] = ()) -> Iterator[Any]:
        """Yield the rows of a query."""
        with problems(self.path):
            # `yield from` would close the cursor together with the rows, perhaps after the database was closed.
            for row in self.connection.execute(sql, _bound(values)):  # noqa: UP028
                yield row

    def row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Return the first row of a query; None if there is none."""
        with problems(self.path):
            return self.connection.execute(sql, _bound(values)).fetchone()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Open a transaction: all or nothing, without other writers."""
        with problems(self.path):
            _patiently(self.connection, "BEGIN IMMEDIATE")
            try:
                yield self.connection
                _patiently(self.connection, "COMMIT")
            except BaseException:
                if self.connection.in_transaction:
                    self.connection.execute("ROLLBACK")
                raise

    # --- commits ------------------------------------------------------------------------------------------------------

    def commits(self) -> list[StoredCommit]:
        """Return all commits, the oldest first."""
        return [StoredCommit(*row) for row in self.rows(f"SELECT id, name, date FROM commits c ORDER BY {ORDER}")]

    def named(self, name: str) -> StoredCommit:
        """Return the commit of a baseline, or the one with this name or prefix; the newest for ""."""
        if not name:
            if row := self.row(f"SELECT id, name, date FROM commits c ORDER BY {NEWEST} LIMIT 1"):
                return StoredCommit(*row)
            raise InputError(f"{self.path}: the database has no reports")
        by_baseline = """SELECT c.id, c.name, c.date FROM baselines b JOIN commits c ON c.id = b."commit"
            WHERE b.name = ?"""
        exactly = "SELECT id, name, date FROM commits WHERE name = ?"
        for sql in (by_baseline, exactly):
            if row := self.row(sql, [name]):
                return StoredCommit(*row)
        begin = list(self.rows("SELECT id, name, date FROM commits WHERE substr(name, 1, ?) = ?", [len(name), name]))
        if len(begin) == 1:
            return StoredCommit(*begin[0])
        if begin:
            raise InputError(f"{self.path}: {len(begin)} commits begin with {name!r}")
        raise InputError(f"{self.path}: no commit or baseline is called {name!r}: {self._names()}")

    def _names(self) -> str:
        """Return the names that a user may choose from, for messages."""
        baselines = list(self.baselines())
        commits = [commit.name for commit in self.commits()][::-1]
        parts = []
        for kind, names in (("baseline", baselines), ("commit", commits)):
            if names:
                more = f" and {len(names) - 10} more" if len(names) > 10 else ""
                plural = "s" if len(names) > 1 else ""
                parts.append(f"{kind}{plural} {', '.join(shown(name) for name in names[:10])}{more}")
        return "; ".join(parts) or "the database has no reports"

    def set_commit(self, connection: sqlite3.Connection, name: str, date: int | None, branch: str) -> int:
        """Return the number of a commit, which is created if it is missing. Needs a transaction."""
        connection.execute(
            """INSERT INTO commits (name, date, added) VALUES (?, ?, ?)
            ON CONFLICT (name) DO UPDATE SET date = excluded.date WHERE date IS NULL AND excluded.date IS NOT NULL""",
            [name, date, next_moment(connection, "commits", "added")],
        )
        number: int = connection.execute("SELECT id FROM commits WHERE name = ?", [name]).fetchone()[0]
        if branch:
            connection.execute("INSERT OR IGNORE INTO branches VALUES (?, ?)", [number, branch])
        return number

    # --- baselines ----------------------------------------------------------------------------------------------------

    def baselines(self) -> dict[str, str]:
        """Return the names of the baselines' commits by the names of the baselines, sorted."""
        sql = 'SELECT b.name, c.name FROM baselines b JOIN commits c ON c.id = b."commit" ORDER BY b.name'
        return dict(self.rows(sql))

    def set_baseline(self, name: str, commit: StoredCommit) -> None:
        """Set a baseline to a commit."""
        with self.transaction() as connection:
            connection.execute(
                """INSERT INTO baselines VALUES (?, ?, ?)
                ON CONFLICT (name) DO UPDATE SET "commit" = excluded."commit", since = excluded.since""",
                [name, commit.id, next_moment(connection, "baselines", "since")],
            )

    def remove_baseline(self, name: str) -> bool:
        """Remove a baseline; return True if it existed."""
        with self.transaction() as connection:
            return connection.execute("DELETE FROM baselines WHERE name = ?", [text(name)]).rowcount > 0

    # --- pruning ------------------------------------------------------------------------------------------------------

    def prune(self, keep: int | None, before: int | None, dry_run: bool) -> Pruned:
        """Remove commits: all but the newest `keep`, all before a time, or those for which both hold.

        `before` is in seconds since 1970. Commits of baselines stay.
        """
        size = self.size()
        with self.transaction() as connection:
            commits = connection.execute(
                f"SELECT id, name, date, coalesce(date, added / 1000000) FROM commits c ORDER BY {ORDER}"
            ).fetchall()
            old = [
                StoredCommit(*row)
                for n, (*row, when) in enumerate(commits)
                if (keep is None or n < len(commits) - keep) and (before is None or when < before)
            ]
            held = {row[0] for row in connection.execute('SELECT "commit" FROM baselines')}
            kept = [commit.name for commit in old if commit.id in held]
            gone = [commit for commit in old if commit.id not in held]
            connection.execute("CREATE TEMP TABLE gone (id INTEGER PRIMARY KEY)")
            connection.executemany("INSERT INTO gone VALUES (?)", [[commit.id] for commit in gone])
            units = connection.execute('SELECT count(*) FROM units WHERE "commit" IN gone').fetchone()[0]
            connection.execute("DELETE FROM commits WHERE id IN gone")
            connection.execute("DROP TABLE gone")
            bodies = remove_unused(connection)
            if dry_run:
                connection.execute("ROLLBACK")
                connection.execute("BEGIN")
        if gone and not dry_run:
            with problems(self.path):
                _patiently(self.connection, "VACUUM")
                self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        names = [commit.name for commit in gone]
        return Pruned(commits=names, units=units, bodies=bodies, kept=kept, before=size, after=self.size())

    def size(self) -> int:
        """Return the size of the database, in bytes."""
        pages, size = self.row("SELECT * FROM pragma_page_count(), pragma_page_size()")
        return int(pages * size)

    # --- merging ------------------------------------------------------------------------------------------------------

    def merge(self, other: Database) -> tuple[Added, list[str]]:
        """Add everything that another database has; return counts of additions, and notes."""
        if os.path.samefile(self.path, other.path):
            return Added(units=0, kernels=0, replaced=0, already=0), []
        with problems(other.path):
            theirs = other.connection
            # The transaction reads one state, whatever others write meanwhile.
            theirs.execute("BEGIN")
        try:
            with self.transaction() as connection:
                return _Merge(connection, other).run()
        except KeyError:
            raise InputError(f"{other.path}: damaged: a row refers to a missing row") from None
        finally:
            if theirs.in_transaction:
                theirs.execute("ROLLBACK")


class _Mine(msgspec.Struct, frozen=True):
    """A unit that an adder has received."""

    file: str
    """The file that it came from."""
    digest: bytes
    ids: frozenset[str]
    """The kernel_ids of its kernels."""


def _same(a: frozenset[str], b: frozenset[str]) -> bool:
    """Return True if units of one name and command with these kernels are one unit, built twice."""
    return not a or not b or bool(a & b)


def _ids_of(connection: sqlite3.Connection, unit: int) -> frozenset[str]:
    sql = "SELECT k.kernel_id FROM unit_kernels l JOIN kernels k ON k.id = l.kernel WHERE l.unit = ?"
    return frozenset(kernel_id for (kernel_id,) in connection.execute(sql, [unit]))


class Adder:
    """An object that adds units to a commit, some at a time.

    A unit replaces an earlier version of it in the database, because it was built again. The same holds if a file to
    which builds append their reports has the unit twice. Units of two files are different, and so are units with other
    kernels, such as `main.c` of two folders. The commit is created together with its first units.
    """

    def __init__(self, database: Database, commit: str, date: int | None, branch: str) -> None:
        self._database = database
        self._commit = (commit, date, branch)
        self._waiting: list[PackedUnit] = []
        self._size = 0
        self._texts: dict[bytes, tuple[Future[list[bytes]], int]] = {}
        self._threads = ThreadPoolExecutor(_THREADS)
        self._mine: dict[bytes, list[_Mine]] = {}
        self._units = self._kernels = self._replaced = self._already = 0

    def add(self, unit: PackedUnit, file: str) -> None:
        """Add a unit of a file; it is in the database after `finish` or earlier."""
        ids = unit.kernel_ids()
        mine = self._mine.setdefault(unit.key, [])
        # Code that was not compiled has no command that identifies its unit.
        before = next((one for one in mine if one.file == file and _same(one.ids, ids)), None) if unit.built else None
        if before is not None:
            mine.remove(before)
        mine.append(_Mine(file, unit.digest, ids))
        if before is not None and before.digest not in {one.digest for one in mine}:
            self._waiting = [w for w in self._waiting if (w.key, w.digest) != (unit.key, before.digest)]
        bodies = {body.digest: body for body in (unit.body, *(body for body, _ in unit.kernels))}
        wanted = [digest for digest in bodies if digest not in self._texts]
        there = _ids_of_bodies(self._database.rows, wanted)
        # Texts are compressed before the transaction, so that other writers do not wait, and in parallel with reading:
        # zlib releases the interpreter's lock. A whole unit is one task, because starting a task takes as long as
        # compressing a kernel.
        if new := [digest for digest in wanted if digest not in there]:
            future = self._threads.submit(
                lambda texts: list(map(compressed, texts)), [bodies[digest].data for digest in new]
            )
            self._texts.update((digest, (future, n)) for n, digest in enumerate(new))
        self._waiting.append(unit)
        self._size += unit.size()
        if self._size > BATCH:
            self._write()

    def finish(self) -> Added:
        """Write the units that are still waiting."""
        self._write()
        self._threads.shutdown()
        return Added(units=self._units, kernels=self._kernels, replaced=self._replaced, already=self._already)

    def _write(self) -> None:
        if not self._waiting:
            return
        units, self._waiting, self._size = self._waiting, [], 0
        texts = {digest: future.result()[n] for digest, (future, n) in self._texts.items()}
        self._texts = {}
        with self._database.transaction() as connection:
            commit = self._database.set_commit(connection, *self._commit)
            now = next_moment(connection, "units", "added")
            new: list[PackedUnit] = []
            for unit in units:
                replaced = self._older(connection, commit, unit)
                if replaced is None:
                    self._already += 1
                else:
                    self._replaced += replaced
                    new.append(unit)
            self._insert(connection, commit, now, new, texts)

    def _older(self, connection: sqlite3.Connection, commit: int, unit: PackedUnit) -> int | None:
        """Remove older versions of a unit; return their number, or None if the unit is already there."""
        mine = {one.digest for one in self._mine[unit.key]}
        there = connection.execute(
            'SELECT id, digest FROM units WHERE "commit" = ? AND "key" = ?', [commit, unit.key]
        ).fetchall()
        ids = unit.kernel_ids()
        old = [number for number, digest in there if digest not in mine and _same(_ids_of(connection, number), ids)]
        for number in old:
            _remove_unit(connection, number)
        return None if any(digest == unit.digest for _, digest in there) else len(old)

    def _insert(
        self,
        connection: sqlite3.Connection,
        commit: int,
        now: int,
        units: Sequence[PackedUnit],
        texts: dict[bytes, bytes],
    ) -> None:
        digests = [body.digest for unit in units for body in (unit.body, *(body for body, _ in unit.kernels))]
        ids = _ids_of_bodies(connection.execute, list(dict.fromkeys(digests)))

        def number(body: Body) -> tuple[int, bool]:
            """Return the body's id, and True if it is new."""
            existing = ids.get(body.digest)
            if existing is not None:
                return existing, False
            # The body was there when it was looked up, but another program has removed it since.
            data = texts.get(body.digest) or compressed(body.data)
            made = connection.execute("INSERT INTO bodies (digest, data) VALUES (?, ?)", [body.digest, data]).lastrowid
            assert made is not None
            ids[body.digest] = made
            return made, True

        rows: list[tuple[Any, ...]] = []
        links: list[tuple[int, int, int]] = []
        for unit in units:
            unit_body, _ = number(unit.body)
            cursor = connection.execute(_INSERT_UNIT, [commit, unit.key, unit.digest, unit_body, now, *unit.columns])
            if not cursor.rowcount:  # the input has the unit twice
                self._already += 1
                continue
            assert cursor.lastrowid is not None
            for place, (body, row) in enumerate(unit.kernels):
                kernel, new = number(body)
                if new:
                    rows.append((kernel, *row))
                links.append((cursor.lastrowid, place, kernel))
            self._units += 1
            self._kernels += len(unit.kernels)
        connection.executemany(_INSERT_KERNEL, rows)
        connection.executemany("INSERT INTO unit_kernels VALUES (?, ?, ?)", links)


def _ids_of_bodies(rows: Callable[[str, list[bytes]], Iterable[Any]], digests: Sequence[bytes]) -> dict[bytes, int]:
    """Return the ids of the bodies that are there, looked up many per query."""
    ids: dict[bytes, int] = {}
    for start in range(0, len(digests), _VALUES_PER_QUERY):
        some = list(digests[start : start + _VALUES_PER_QUERY])
        places = ", ".join("?" * len(some))
        ids.update(rows(f"SELECT digest, id FROM bodies WHERE digest IN ({places})", some))
    return ids


_VALUES_PER_QUERY = 500
"""The number of values in a query: SQLite allows at least 999."""

_UNIT_COLUMNS = ", ".join(('"commit"', '"key"', "digest", "body", "added", *UNIT_COLUMNS))
_INSERT_UNIT = f"INSERT OR IGNORE INTO units ({_UNIT_COLUMNS}) VALUES ({', '.join('?' * (5 + len(UNIT_COLUMNS)))})"
_KERNEL_COLUMNS = ", ".join(f'"{name}"' for name in ("id", *COLUMNS))
_INSERT_KERNEL = f"INSERT OR IGNORE INTO kernels ({_KERNEL_COLUMNS}) VALUES ({', '.join('?' * (1 + len(COLUMNS)))})"


def _bound(values: Sequence[Any] | dict[str, Any]) -> Sequence[Any] | dict[str, Any]:
    """Return values for a query, with text that SQLite accepts: user input may contain bytes that are not UTF-8."""
    if isinstance(values, dict):
        return {key: text(value) if isinstance(value, str) else value for key, value in values.items()}
    return [text(value) if isinstance(value, str) else value for value in values]


def next_moment(connection: sqlite3.Connection, table: str, column: str) -> int:
    """Return microseconds since 1970, later than all in the table: a clock may stand still or go back."""
    last = connection.execute(f"SELECT max({column}) FROM {table}").fetchone()[0]
    return max(time.time_ns() // 1000, (last or 0) + 1)


def _remove_unit(connection: sqlite3.Connection, number: int) -> None:
    """Remove a unit, and the texts that only it has."""
    sql = "SELECT body FROM units WHERE id = :unit UNION SELECT kernel FROM unit_kernels WHERE unit = :unit"
    bodies = connection.execute(sql, {"unit": number}).fetchall()
    connection.execute("DELETE FROM units WHERE id = ?", [number])
    connection.executemany(f"DELETE FROM bodies WHERE id = ? AND {_UNUSED}", bodies)


def remove_unused(connection: sqlite3.Connection) -> int:
    """Remove the texts that nothing refers to; return their number."""
    return connection.execute(f"DELETE FROM bodies WHERE {_UNUSED}").rowcount


_UNUSED = """NOT EXISTS (SELECT 1 FROM units WHERE body = bodies.id)
    AND NOT EXISTS (SELECT 1 FROM runs WHERE body = bodies.id)
    AND NOT EXISTS (SELECT 1 FROM unit_kernels WHERE kernel = bodies.id)"""


# --- merging ----------------------------------------------------------------------------------------------------------


class _Merge:
    """The addition of everything that another database has."""

    def __init__(self, ours: sqlite3.Connection, other: Database) -> None:
        self.ours = ours
        self.other = other
        self.commits: dict[int, int] = {}
        """The ids of the other database's commits in this one."""
        self.bodies: dict[int, int] = {}
        """The ids of the other database's bodies in this one."""

    def run(self) -> tuple[Added, list[str]]:
        """Add everything; return counts of additions, and notes. Raises KeyError for references to missing rows."""
        self._merge_commits()
        self._merge_bodies()
        rows = self.other.rows(f"SELECT {_KERNEL_COLUMNS} FROM kernels")
        self.ours.executemany(_INSERT_KERNEL, ((self.bodies[row[0]], *row[1:]) for row in rows))
        self._merge_runs()
        return self._merge_units(), self._merge_baselines()

    def _merge_commits(self) -> None:
        for name, date, added in self.other.rows("SELECT name, date, added FROM commits"):
            # The result is the same whichever database is merged into the other.
            self.ours.execute(
                """INSERT INTO commits (name, date, added) VALUES (?, ?, ?) ON CONFLICT (name) DO UPDATE SET
                date = min(coalesce(date, excluded.date), coalesce(excluded.date, date)),
                added = min(added, excluded.added)""",
                [name, date, added],
            )
        here = dict(self.ours.execute("SELECT name, id FROM commits"))
        self.commits = {number: here[name] for number, name in self.other.rows("SELECT id, name FROM commits")}
        branches = self.other.rows('SELECT "commit", name FROM branches')
        rows = ((self.commits[number], name) for number, name in branches)
        self.ours.executemany("INSERT OR IGNORE INTO branches VALUES (?, ?)", rows)

    def _merge_bodies(self) -> None:
        bodies = self.other.rows("SELECT digest, data FROM bodies")
        self.ours.executemany("INSERT OR IGNORE INTO bodies (digest, data) VALUES (?, ?)", bodies)
        here = dict(self.ours.execute("SELECT digest, id FROM bodies"))
        self.bodies = {number: here[digest] for number, digest in self.other.rows("SELECT id, digest FROM bodies")}

    def _merge_units(self) -> Added:
        units: dict[int, int] = {}
        already = 0
        for number, *row in self.other.rows(f"SELECT id, {_UNIT_COLUMNS} FROM units"):
            row[0], row[3] = self.commits[row[0]], self.bodies[row[3]]
            cursor = self.ours.execute(_INSERT_UNIT, row)
            if cursor.rowcount:
                assert cursor.lastrowid is not None
                units[number] = cursor.lastrowid
            else:
                already += 1
                added = 'UPDATE units SET added = min(added, ?) WHERE "commit" = ? AND digest = ?'
                self.ours.execute(added, [row[4], row[0], row[2]])
        links = self.other.rows("SELECT unit, place, kernel FROM unit_kernels")
        rows = ((units[unit], place, self.bodies[kernel]) for unit, place, kernel in links if unit in units)
        cursor = self.ours.executemany("INSERT INTO unit_kernels VALUES (?, ?, ?)", rows)
        return Added(units=len(units), kernels=max(cursor.rowcount, 0), replaced=0, already=already)

    def _merge_runs(self) -> None:
        columns = '"commit", command, model, digest, body, added'
        rows = (
            (self.commits[commit], command, model, digest, self.bodies[body], added)
            for commit, command, model, digest, body, added in self.other.rows(f"SELECT {columns} FROM runs")
        )
        self.ours.executemany(f"INSERT OR IGNORE INTO runs ({columns}) VALUES (?, ?, ?, ?, ?, ?)", rows)

    def _merge_baselines(self) -> list[str]:
        """Merge baselines; if two have the same name, keep the one that was set later. Returns notes."""
        notes = []
        for name, number, since in self.other.rows('SELECT name, "commit", since FROM baselines ORDER BY name'):
            row = self.ours.execute(
                'SELECT b."commit", b.since, c.name FROM baselines b JOIN commits c ON c.id = b."commit" '
                "WHERE b.name = ?",
                [name],
            ).fetchone()
            commit = self.commits[number]
            if row is None:
                self.ours.execute("INSERT INTO baselines VALUES (?, ?, ?)", [name, commit, since])
                continue
            called = self.ours.execute("SELECT name FROM commits WHERE id = ?", [commit]).fetchone()[0]
            is_later = (since, called) > (row[1], row[2])
            if is_later:
                self.ours.execute('UPDATE baselines SET "commit" = ?, since = ? WHERE name = ?', [commit, since, name])
            if row[0] != commit:
                later, earlier = (called, row[2]) if is_later else (row[2], called)
                notes.append(f"baseline {name}: it is {shown(later)}, which was set later than {shown(earlier)}")
        return notes


# --- opening ----------------------------------------------------------------------------------------------------------


def open_database(path: str, create: bool = False) -> Database:
    """Open a database to write to; with `create`, make it if it does not exist. Raises InputError."""
    _check_file(path, create)
    note = ""
    with problems(path), ExitStack() as on_error:
        connection = on_error.enter_context(closing(_connect(path, "rwc" if create else "rw")))
        _check_kind(connection, path)
        if _version(connection) == 0:
            # The journal mode is stored in the file permanently.
            _patiently(connection, f"PRAGMA journal_mode = {'DELETE' if on_network(path) else 'WAL'}")
            if connection.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                note = (
                    f"{path}: this file system, as one of a network, allows no write-ahead log: programs that read "
                    "and write it wait for each other, as reliably as it locks files"
                )
        connection.execute("PRAGMA synchronous = NORMAL")
        database = Database(connection, path, note)
        if _version(connection) == 0:
            _create_tables(database)
        on_error.pop_all()
    return database


def open_reading(path: str) -> Database:
    """Open a database to read only. Raises InputError."""
    _check_file(path, False)
    with problems(path), ExitStack() as on_error:
        try:
            connection = on_error.enter_context(closing(_connect(path, "ro")))
            _check_kind(connection, path)
        except sqlite3.OperationalError:
            # Even a reader shares memory with others, through a file next to the database. If that file cannot be
            # created, there are no writers either.
            connection = on_error.enter_context(closing(_connect(path, "ro&immutable=1")))
            _check_kind(connection, path)
        if _version(connection) == 0:
            raise InputError(f"{path}: the database has no reports")
        on_error.pop_all()
    return Database(connection, path)


def _connect(path: str, mode: str) -> sqlite3.Connection:
    # A URI can express names with arbitrary bytes.
    name = f"file:{quote(os.path.abspath(os.fsencode(path)))}?mode={mode}"
    connection = sqlite3.connect(name, uri=True, timeout=TIMEOUT, isolation_level=None)
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cache_size = -32000")
    return connection


def _check_file(path: str, create: bool) -> None:
    """Raise InputError for problems that SQLite's messages do not explain well."""
    try:
        status = os.stat(path)
    except FileNotFoundError:
        folder = os.path.dirname(path) or "."
        if not create:
            raise InputError(f"{path}: there is no such database; incc-db add makes one") from None
        if not os.path.isdir(folder):
            raise InputError(f"{path}: there is no folder {folder}") from None
        return
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
    if stat.S_ISDIR(status.st_mode):
        raise InputError(f"{path}: a folder, not a database")
    if not stat.S_ISREG(status.st_mode):
        raise InputError(f"{path}: not a regular file")
    try:
        with open(path, "rb") as file:
            begin = file.read(len(_MAGIC))
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
    if begin and begin != _MAGIC:
        raise InputError(f"{path}: not an incc database")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _check_kind(connection: sqlite3.Connection, path: str) -> None:
    """Raise InputError for databases of other programs and other versions."""
    application = connection.execute("PRAGMA application_id").fetchone()[0]
    version = _version(connection)
    if application != APPLICATION_ID:
        if version == 0 and application == 0:
            if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0] == 0:
                return
            # Another process is about to create the tables, in one transaction with these numbers.
            if connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID:
                return
        raise InputError(f"{path}: a database of another program, not of incc-db")
    if version not in (0, VERSION):
        raise InputError(
            f"{path}: database version {version} is not supported (this incc reads {VERSION}); "
            "add the reports to a new database"
        )


def _create_tables(database: Database) -> None:
    with database.transaction() as connection:
        _check_kind(connection, database.path)
        # Another process may have created them in the meantime.
        if _version(connection) == 0:
            for statement in TABLES:
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version = {VERSION}")
            connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")


def _patiently(connection: sqlite3.Connection, statement: str) -> None:
    """Execute a statement that may have to wait for others.

    SQLite waits by itself, but not in every case: it does not wait to change the journal mode, nor if it detects a
    deadlock.
    """
    give_up = time.monotonic() + PATIENCE
    while True:
        try:
            connection.execute(statement).fetchall()
            return
        except sqlite3.OperationalError as error:
            if (error.sqlite_errorcode & 0xFF) not in _BUSY or time.monotonic() > give_up:
                raise
            time.sleep(0.01)


_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)


@contextmanager
def problems(path: str) -> Iterator[None]:
    """Convert SQLite's errors into messages for the user."""
    try:
        yield
    except sqlite3.Error as error:
        raise InputError(f"{path}: {_explained(error, path)}") from error
    except UnicodeDecodeError as error:  # SQLite's message on a damaged file has bytes that Python cannot decode
        raise InputError(f"{path}: {_EXPLAINED[sqlite3.SQLITE_CORRUPT]}") from error


def _explained(error: sqlite3.Error, path: str) -> str:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code == sqlite3.SQLITE_IOERR or code == sqlite3.SQLITE_PROTOCOL:
        network = "; on a network file system, keep it on a local disk and merge" if on_network(path) else ""
        return f"it cannot be read or written ({error}){network}"
    return _EXPLAINED.get(code, str(error))


_EXPLAINED = {
    sqlite3.SQLITE_NOTADB: "no database, or an encrypted or damaged one",
    sqlite3.SQLITE_CORRUPT: "damaged; `sqlite3 FILE .recover` prints what can be recovered",
    sqlite3.SQLITE_READONLY: "it cannot be written to",
    sqlite3.SQLITE_PERM: "it cannot be written to",
    sqlite3.SQLITE_BUSY: "another program has locked it",
    sqlite3.SQLITE_LOCKED: "another program has locked it",
    sqlite3.SQLITE_FULL: "no room is left on the disk",
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened, or the files next to it (-wal, -shm) cannot be created",
    sqlite3.SQLITE_TOOBIG: "a report is too large for a database",
}


def take(rows: Iterable[Any], number: int) -> Iterator[list[Any]]:
    """Yield rows in lists of a given length."""
    iterator = iter(rows)
    while some := list(islice(iterator, number)):
        yield some
