"""The results of a scan by the key of the code, in an SQLite file, so that equal code is analysed once.

A key stands for kernels that are analysed together, such as all loops of a function, on every core of the scan. Their
reports are compressed in batches, since the reports of different kernels share most of their text: a kernel takes
about a thirtieth of its JSON.
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from itertools import islice
from typing import Any
from urllib.parse import quote

import msgspec

from incc.report import columnar
from incc.support.errors import AnalysisError
from incc.support.files import on_network
from incc.support.text import without_surrogates

VERSION = 1
"""The version of the file's tables; a file of another version is not read."""

APPLICATION_ID = 0x696E6364
"""The id "incd" in the file's header."""

_TABLES = (
    'CREATE TABLE groups ("key" BLOB PRIMARY KEY NOT NULL, "values" BLOB NOT NULL)',
    # A batch is a compressed list of reports.
    "CREATE TABLE batches (id INTEGER PRIMARY KEY, size INTEGER NOT NULL, data BLOB NOT NULL)",
    "CREATE TABLE reports (hash INTEGER PRIMARY KEY, batch INTEGER NOT NULL REFERENCES batches (id))",
    # Anything about the dataset (writing.py).
    "CREATE TABLE facts (name TEXT PRIMARY KEY NOT NULL, value BLOB NOT NULL) WITHOUT ROWID",
    "CREATE TABLE failures (input TEXT NOT NULL, reason TEXT NOT NULL, quarantined INTEGER NOT NULL)",
)

LEVEL = 6
"""The compression level of zstd: 0.1 ms for a kernel of 25 KB, which takes 1.0 KB in a batch of 64."""

BATCH = 1 << 20
"""The least bytes of JSON in a batch. The reports of a kernel on all cores are always in one."""

MOST = 1 << 30
"""The largest size of an unpacked batch, in bytes: none is as large, but a damaged file may claim more."""

_MOST_UNPACKED = 16
"""Batches that are kept unpacked."""

_VALUES_PER_QUERY = 500
"""The most values in a query: SQLite allows at least 999."""


class DatasetError(AnalysisError):
    """A folder is no dataset, or another one than expected, or it is damaged."""

    status = 2
    """The exit status of commands."""


class StoredReport(msgspec.Struct, frozen=True, array_like=True):
    """The report of a kernel on a core."""

    hash: str
    """16 hexadecimal digits that `hash_of` returns."""
    core: str
    text: bytes
    """The JSON of the KernelReport."""


_CHECKED = b"\xc1"
"""The first byte of a batch with a check sum, which zstd as pyarrow writes it has not. No list begins with it."""


class _Batch(msgspec.Struct, frozen=True, array_like=True):
    """Reports that are compressed together."""

    size: int
    """The number of bytes before compression."""
    hashes: list[str]
    """The hashes in it, each once."""
    data: bytes


_LIST = msgspec.msgpack.Decoder(list[StoredReport])
_BATCHES = msgspec.msgpack.Decoder(list[_Batch])


def hash_of(key: bytes, number: int) -> str:
    """Return the hash of a kernel: of the key of its group, and its number within the group."""
    return blake2b(key + number.to_bytes(4, "little"), digest_size=8).hexdigest()


def pack(reports: Iterable[tuple[str, str, bytes]]) -> bytes:
    """Return reports in the form that `Store.keep` takes, compressed; workers call this for all reports of a task.

    Args:
        reports: hash, core, and JSON of each report.
    """
    of_hash: dict[str, list[StoredReport]] = {}
    for report in reports:
        of_hash.setdefault(report[0], []).append(StoredReport(*report))
    batches: list[_Batch] = []
    some: list[StoredReport] = []
    for kernel in of_hash.values():
        some += kernel
        if sum(len(report.text) for report in some) >= BATCH:
            batches.append(_compressed(some))
            some = []
    return msgspec.msgpack.encode([*batches, _compressed(some)] if some else batches)


def _compressed(reports: Sequence[StoredReport]) -> _Batch:
    text = msgspec.msgpack.encode(reports)
    text = _CHECKED + zlib.crc32(text).to_bytes(4, "little") + text
    data: bytes = _codec().compress(text, asbytes=True)
    return _Batch(len(text), list(dict.fromkeys(report.hash for report in reports)), data)


def _unpacked(size: int, data: bytes) -> list[StoredReport]:
    """Return the reports of a batch. Raises ValueError for damaged data."""
    if not 0 < size <= MOST:
        raise ValueError(f"a batch of {size} bytes")
    try:
        text = _codec().decompress(data, size, asbytes=True)
    except OSError as error:
        raise ValueError(str(error)) from None
    if text.startswith(_CHECKED):
        check, text = int.from_bytes(text[1:5], "little"), text[5:]
        if check != zlib.crc32(text):
            raise ValueError("the check sum of a batch of reports is wrong")
    return _LIST.decode(text)


def _codec() -> Any:
    arrow, _ = columnar.parquet()
    return arrow.Codec("zstd", LEVEL)


class Store:
    """An open file of results. Everything that `keep` takes is there at once, and lasts from the next `commit` on.

    Methods raise OSError if the file cannot be written, such as on a full disk, and DatasetError for a damaged file.
    """

    def __init__(self, path: str, read_only: bool = False) -> None:
        """Open or make a file; "" for a temporary one. Raises DatasetError for another file."""
        self.path = path
        self._waiting: list[_Batch] = []
        self._unpacked: dict[int, dict[str, dict[str, bytes]]] = {}
        """The reports of the batches that were read last."""
        with self._problems():
            if read_only and not os.path.isfile(path):
                raise DatasetError(f"{path}: no such file")
            self._connection = _opened(path, read_only)
            try:
                self._prepare(read_only)
            except BaseException:
                self._connection.close()
                raise

    def _prepare(self, read_only: bool) -> None:
        version = self._row("PRAGMA user_version")[0]
        if self._row("PRAGMA application_id")[0] != APPLICATION_ID:
            if version or self._row("SELECT count(*) FROM sqlite_master")[0] or read_only:
                raise DatasetError(f"{self.path}: not a file of an incc dataset")
        elif version != VERSION:
            raise DatasetError(f"{self.path}: version {version} is not supported (this incc reads {VERSION})")
        self._connection.execute("PRAGMA trusted_schema = OFF")
        self._connection.execute("PRAGMA cache_size = -64000")
        if read_only:
            return
        if self.path:
            self._connection.execute(f"PRAGMA journal_mode = {'DELETE' if on_network(self.path) else 'WAL'}").fetchall()
            self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("BEGIN IMMEDIATE")
        if not version:
            for statement in _TABLES:
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {VERSION}")
            self._connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")

    # --- results ------------------------------------------------------------------------------------------------------

    def missing(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return the keys without results, each once, in their order."""
        there: set[bytes] = set()
        for row in self._rows_of('SELECT "key" FROM groups WHERE "key"', keys):
            there.update(row)
        return [key for key in dict.fromkeys(keys) if key not in there]

    def values(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the values of those of the keys that have results."""
        return dict(self._rows_of('SELECT "key", "values" FROM groups WHERE "key"', keys))

    def keep(self, results: Iterable[tuple[bytes, bytes, bytes]]) -> None:
        """Add results, or replace those of the same key.

        Args:
            results: The key of 16 bytes, what `values` returns for it, and the reports of its kernels from `pack`. As
                a pack may have the reports of several keys, it may also be b"".
        """
        with self._problems():
            kept = list(results)
            self._connection.executemany(
                "INSERT OR REPLACE INTO groups VALUES (?, ?)", [(key, values) for key, values, _ in kept]
            )
            for batch in [batch for _, _, reports in kept if reports for batch in _BATCHES.decode(reports)]:
                if batch.size >= BATCH // 2:
                    self._write_batch(batch)
                    continue
                self._waiting.append(batch)
                if sum(each.size for each in self._waiting) >= BATCH:
                    self._write_waiting()

    def _write_waiting(self) -> None:
        """Write the small batches that wait as one."""
        batches, self._waiting = self._waiting, []
        if len(batches) > 1:
            batches = [_compressed([report for each in batches for report in _unpacked(each.size, each.data)])]
        for batch in batches:
            self._write_batch(batch)

    def _write_batch(self, batch: _Batch) -> None:
        number = self._connection.execute(
            "INSERT INTO batches (size, data) VALUES (?, ?)", [batch.size, batch.data]
        ).lastrowid
        self._connection.executemany(
            "INSERT OR REPLACE INTO reports VALUES (?, ?)", [(_number(hash_), number) for hash_ in batch.hashes]
        )

    def reports(self, hash_: str) -> dict[str, bytes]:
        """Return the JSON of the reports of a kernel by core, in the order in which they were kept."""
        if self._waiting:
            self._write_waiting()
        row = self._row("SELECT batch FROM reports WHERE hash = ?", [_number(hash_)])
        return self._unpacked_batch(row[0]).get(hash_, {}) if row else {}

    def _unpacked_batch(self, number: int) -> dict[str, dict[str, bytes]]:
        """Return the reports of a batch by hash and core. Neighbours in a scan are mostly in the same batch."""
        if (reports := self._unpacked.pop(number, None)) is None:
            with self._problems():
                row = self._connection.execute("SELECT size, data FROM batches WHERE id = ?", [number]).fetchone()
                reports = {}
                for report in _unpacked(*(row or (0, b""))):
                    reports.setdefault(report.hash, {})[report.core] = report.text
            while len(self._unpacked) >= _MOST_UNPACKED:
                del self._unpacked[next(iter(self._unpacked))]
        self._unpacked[number] = reports
        return reports

    # --- the dataset --------------------------------------------------------------------------------------------------

    def fact(self, name: str) -> bytes:
        """Return a fact about the dataset, b"" if it is not there."""
        row = self._row("SELECT value FROM facts WHERE name = ?", [name])
        return row[0] if row else b""

    def set_facts(self, facts: Mapping[str, bytes]) -> None:
        """Set facts about the dataset."""
        with self._problems():
            self._connection.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?)", facts.items())

    def add_failure(self, input: str, reason: str, quarantined: bool) -> None:
        """Add an input that was not analysed; bytes of its texts that are not UTF-8 are replaced."""
        with self._problems():
            texts = (without_surrogates(input), without_surrogates(reason))
            self._connection.execute("INSERT INTO failures VALUES (?, ?, ?)", [*texts, quarantined])

    def failures(self) -> list[tuple[str, str, bool]]:
        """Return input, reason, and whether it is in quarantine, for each failure."""
        with self._problems():
            rows = self._connection.execute("SELECT input, reason, quarantined FROM failures ORDER BY rowid")
            return [(input, reason, bool(quarantined)) for input, reason, quarantined in rows]

    def commit(self) -> None:
        """Write everything to the file, all or nothing."""
        with self._problems():
            self._write_waiting()
            self._connection.execute("COMMIT")
            self._connection.execute("BEGIN IMMEDIATE")

    def close(self) -> None:
        """Close the file; what was not committed is lost."""
        self._connection.close()

    # --- SQLite -------------------------------------------------------------------------------------------------------

    def _row(self, sql: str, values: Sequence[Any] = ()) -> Any:
        with self._problems():
            return self._connection.execute(sql, values).fetchone()

    def _rows_of(self, sql: str, values: Sequence[Any]) -> Iterator[Any]:
        """Yield the rows of a query that ends in a column, for those rows in which the column has one of the values."""
        iterator = iter(values)
        while some := list(islice(iterator, _VALUES_PER_QUERY)):
            with self._problems():
                rows = self._connection.execute(f"{sql} IN ({', '.join('?' * len(some))})", some).fetchall()
            yield from rows

    @contextmanager
    def _problems(self) -> Iterator[None]:
        """Convert SQLite's errors, and those of damaged values."""
        path = self.path or "temporary file"
        try:
            yield
        except sqlite3.Error as error:
            code = getattr(error, "sqlite_errorcode", 0) & 0xFF
            place = os.path.dirname(self.path) or os.curdir
            if code == sqlite3.SQLITE_IOERR and shutil.disk_usage(place).free < _LEAST_SPACE:
                code = sqlite3.SQLITE_FULL  # where SQLite does not say so
            if code in _SYSTEM:
                raise OSError(_SYSTEM[code], os.strerror(_SYSTEM[code]), path) from error
            raise DatasetError(f"{path}: {_EXPLAINED.get(code, str(error))}") from error
        except (msgspec.MsgspecError, ValueError, TypeError) as error:
            raise DatasetError(f"{path}: damaged: {error}") from error


_LEAST_SPACE = 1 << 16
"""The bytes that SQLite needs on a disk besides those that it reserves. Without them it only says `I/O error`."""

_SYSTEM = {
    sqlite3.SQLITE_FULL: errno.ENOSPC,
    sqlite3.SQLITE_IOERR: errno.EIO,
    sqlite3.SQLITE_READONLY: errno.EROFS,
    sqlite3.SQLITE_PERM: errno.EACCES,
    sqlite3.SQLITE_CANTOPEN: errno.EACCES,
}
"""The errors of SQLite that the system has caused."""

_EXPLAINED = {
    sqlite3.SQLITE_NOTADB: "damaged, or not a file of an incc dataset",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_BUSY: "another program has locked it",
    sqlite3.SQLITE_LOCKED: "another program has locked it",
}


def _opened(path: str, read_only: bool) -> sqlite3.Connection:
    if not path:
        return sqlite3.connect("", isolation_level=None)
    # A URI can express names with arbitrary bytes.
    name = f"file:{quote(os.path.abspath(os.fsencode(path)))}?mode="
    if not read_only:
        return sqlite3.connect(f"{name}rwc", uri=True, isolation_level=None, timeout=10)
    connection = sqlite3.connect(f"{name}ro", uri=True, isolation_level=None, timeout=10)
    try:
        connection.execute("PRAGMA application_id").fetchall()
        connection.execute("SELECT 1 FROM sqlite_master").fetchall()
    except sqlite3.OperationalError:
        # Even a reader writes a file that it shares with writers. Where it cannot, there are no writers either.
        connection.close()
        return sqlite3.connect(f"{name}ro&immutable=1", uri=True, isolation_level=None)
    return connection


def _number(hash_: str) -> int:
    """Return a hash as an integer of SQLite."""
    return int.from_bytes(bytes.fromhex(hash_), "little", signed=True)
