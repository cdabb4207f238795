"""Writing a dataset, so that whatever ends the process, the next one can continue from the last commit.

The SQLite file says how far the dataset goes. A commit first writes the new rows, each file whole or not at all, and
then the number of rows and of pieces of input in one transaction. If the process ends in between, `resume` removes the
rows that are too many.
"""

from __future__ import annotations

import fcntl
import json
import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO

import msgspec

from incc.fleet.dataset.columns import COLUMNS, INTEGERS
from incc.fleet.dataset.layout import (
    ABOUT,
    FAILURES,
    FORMAT,
    KERNELS,
    cores_in,
    file_name,
    folder_of,
    is_dataset,
)
from incc.fleet.dataset.rows import check_complete, opened_rows, row_files
from incc.fleet.dataset.store import DatasetError as DatasetError
from incc.fleet.dataset.store import Store
from incc.report import columnar
from incc.report.documents import printable
from incc.report.where import NUMBER, TEXT, TRUTH, Name, Value
from incc.support.files import no_file_name

_LOCK, _NEW = "_lock", "_new"

SMALL = 5000
"""Rows of a core below which its last file is written again together with the next rows."""

_BATCH = 2000
"""Rows that wait as Python objects."""

_FAILURE_NAMES = {
    "input": Name(TEXT, "the input, as the scan names it", lambda u, k: None),
    "reason": Name(TEXT, "the reason why it was not analysed", lambda u, k: None),
    "quarantined": Name(
        TRUTH, "true if the input ended or stopped a process, and is not tried again", lambda u, k: None
    ),
    "number": Name(NUMBER, "its place in the order of failures, from 0", lambda u, k: None),
}
"""The columns of the table of failures."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions under which a dataset is made, which must be the same when a scan continues it."""

    incc_version: str
    cores: list[tuple[str, str]]
    """The name of each core, and the version of its model; none if the core depends on the input."""
    settings: dict[str, Any]
    """Settings that results depend on, as JSON has them."""
    inputs: list[str]
    """The inputs as the command line names them."""


_SAME = "name another folder, or resume with the command line that began it"


class DatasetWriter:
    """A dataset that is being written. After an OSError, only `close` may be called; `resume` then goes on.

    Methods raise OSError with the name of a file if something cannot be written, and DatasetError for damaged files.
    """

    store: Store
    """The results by the key of the code, and the reports."""
    pieces: int
    """The pieces of input whose rows are committed."""
    rows: int
    """The number of the next row."""
    kernels: int
    """The number of kernels, with those that are not committed yet."""
    state: bytes
    """The `state` of the last commit."""
    complete: bool
    """True if all input was scanned."""

    def __init__(self, folder: str, about: About, lock: int, store: Store) -> None:
        """Use `create` or `resume`."""
        self.folder = folder
        self.about = about
        self.store = store
        self.pieces = int(store.fact("pieces") or 0)
        self.rows = int(store.fact("rows") or 0)
        self.kernels = int(store.fact("kernels") or 0)
        self.state = store.fact("state")
        self.complete = bool(store.fact("complete"))
        self._lock = lock
        self._schema = columnar.schema_of(COLUMNS, INTEGERS)
        self._given: dict[str, list[Sequence[Value]]] = {}
        self._batches: dict[str, list[Any]] = {}
        self._last: dict[str, tuple[int, int]] = {}
        """The number of each core's last file, and its rows."""
        self._failures = len(store.failures())
        self._written_failures = -1

    @classmethod
    def create(cls, folder: str, about: About) -> DatasetWriter:
        """Begin a dataset in a folder that is empty or not there. Raises DatasetError if it has other files."""
        if "\0" in folder:
            raise no_file_name(folder)
        os.makedirs(folder, exist_ok=True)
        for name in os.listdir(folder):
            # A process may have been killed before its dataset was begun.
            if name not in (_LOCK, KERNELS, f"{KERNELS}-wal", f"{KERNELS}-shm", f"{KERNELS}-journal"):
                if is_dataset(folder):
                    raise DatasetError(f"{printable(folder)}: holds a dataset; --resume continues it")
                raise DatasetError(f"{printable(folder)}: not empty; name a new folder for the dataset")
        with _held(folder) as (lock, store):
            if store.fact("about"):
                raise DatasetError(f"{printable(folder)}: holds a dataset; --resume continues it")
            store.set_facts({"about": _encoded(about)})
            store.commit()
            writer = cls(folder, about, lock, store)
            writer._describe()
        return writer

    @classmethod
    def resume(cls, folder: str, about: About) -> DatasetWriter:
        """Continue a dataset from its last commit.

        Raises DatasetError if there is none, if it was begun with another `about`, or if another process writes to it.
        """
        path = os.path.join(folder, KERNELS)
        if "\0" in folder or not os.path.isfile(path):
            raise DatasetError(f"{printable(folder)}: no dataset to resume; without --resume the scan begins one")
        with _held(folder) as (lock, store):
            begun = store.fact("about")
            if not begun:
                raise DatasetError(f"{printable(folder)}: no dataset to resume; without --resume the scan begins one")
            try:
                then = msgspec.convert(json.loads(begun), About)
                writer = cls(folder, about, lock, store)
            except (msgspec.ValidationError, ValueError) as error:
                raise DatasetError(f"{printable(path)}: damaged: {error}") from None
            if difference := _difference(then, about):
                raise DatasetError(f"{printable(folder)}: {difference}; {_SAME}")
            writer._remove_uncommitted()
            writer._describe()
        return writer

    # --- adding -------------------------------------------------------------------------------------------------------

    def add(self, core: str, rows: Sequence[Sequence[Value]]) -> None:
        """Add kernels on a core: for each the values of COLUMNS, with ascending numbers of rows."""
        given = self._given.setdefault(core, [])
        given.extend(rows)
        for row in rows:
            if (number := int(row[0] or 0)) >= self.rows:
                self.rows = number + 1
                self.kernels += 1
        if len(given) >= _BATCH:
            self._batches.setdefault(core, []).append(columnar.batch_of(given, self._schema))
            given.clear()

    def add_failure(self, input: str, reason: str, quarantined: bool) -> None:
        """Add an input that was not analysed."""
        self.store.add_failure(input, reason, quarantined)
        self._failures += 1

    def commit(self, pieces: int, state: bytes = b"") -> None:
        """Write everything that was added.

        Args:
            pieces: The number of pieces of input that it is from, all from the first on.
            state: The value of `state` after `resume`.
        """
        for core, given in self._given.items():
            if given:
                self._batches.setdefault(core, []).append(columnar.batch_of(given, self._schema))
                given.clear()
        for core, batches in self._batches.items():
            if batches:
                self._write_rows(core, batches)
                batches.clear()
        numbers = {"pieces": pieces, "rows": self.rows, "kernels": self.kernels}
        facts = {name: b"%d" % number for name, number in numbers.items()} | {"state": state}
        self.store.set_facts(facts)
        self.store.commit()
        self.pieces, self.state = pieces, state
        self._describe()

    def finish(self) -> None:
        """Commit, and mark the dataset as complete. Cores without kernels get a file without rows."""
        self.commit(self.pieces, self.state)
        for core, _ in self.about.cores:
            if core not in self._last:
                self._write_rows(core, [columnar.batch_of([], self._schema)])
        self.store.set_facts({"complete": b"1"})
        self.store.commit()
        self.complete = True
        self._describe()

    def close(self) -> None:
        """Release the folder; what was not committed is lost."""
        self.store.close()
        _unlock(self._lock)

    # --- files --------------------------------------------------------------------------------------------------------

    def _write_rows(self, core: str, batches: Sequence[Any]) -> None:
        """Write rows as a new file of a core, or together with those of its last file if it is small."""
        arrow, _ = columnar.parquet()
        table = arrow.Table.from_batches(batches, self._schema)
        number, before = self._last.get(core, (0, SMALL))
        folder = folder_of(self.folder, core)
        if before < SMALL:
            last = _read(os.path.join(folder, file_name(number)))
            table = arrow.concat_tables([last.cast(self._schema), table])
        else:
            number += 1
        os.makedirs(folder, exist_ok=True)
        self._replace(os.path.join(folder, file_name(number)), table)
        self._last[core] = (number, len(table))

    def _replace(self, path: str, table: Any) -> None:
        """Write a Parquet file, whole or not at all."""
        _, parquet = columnar.parquet()
        with self._replacement(path) as file:
            parquet.write_table(table, file, compression="zstd", write_page_checksum=True)

    @contextmanager
    def _replacement(self, path: str) -> Iterator[BinaryIO]:
        """Open a file that takes the place of another one when it is complete and on the disk."""
        new = os.path.join(self.folder, _NEW)
        try:
            with open(new, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            os.replace(new, path)
            _sync_folder(os.path.dirname(path))
        except OSError as error:
            _unlink(new)
            if error.errno is None or error.filename not in (None, new):
                raise
            raise OSError(error.errno, error.strerror, path) from None

    def _remove_uncommitted(self) -> None:
        """Remove what a process has written after its last commit; find the last file of each core."""
        _unlink(os.path.join(self.folder, _NEW))
        if self.complete:
            check_complete(self.folder, [core for core, _ in self.about.cores])
        for core in cores_in(self.folder):
            for path, number in reversed(row_files(self.folder, core)):
                rows = _read(path, ["row"])["row"].to_pylist()
                kept = bisect_left(rows, self.rows)
                if kept < len(rows):
                    if not kept:
                        _unlink(path)
                        continue
                    self._replace(path, _read(path).slice(0, kept))
                self._last[core] = (number, kept)
                break

    def _describe(self) -> None:
        """Write the files for readers."""
        if self._written_failures != self._failures:
            schema = columnar.schema_of(_FAILURE_NAMES, ("number",))
            rows = [(*failure, n) for n, failure in enumerate(self.store.failures())]
            arrow, _ = columnar.parquet()
            batch = columnar.batch_of(rows, schema)
            self._replace(os.path.join(self.folder, FAILURES), arrow.Table.from_batches([batch], schema))
            self._written_failures = self._failures
        text = json.dumps(
            {
                "format": FORMAT,
                **json.loads(_encoded(self.about)),
                "complete": self.complete,
                "rows": self.rows,
                "kernels": self.kernels,
                "failures": self._failures,
            },
            indent=2,
        )
        with self._replacement(os.path.join(self.folder, ABOUT)) as file:
            file.write(text.encode() + b"\n")


def _read(path: str, columns: list[str] | None = None) -> Any:
    """Return a file as a table. Raises as `opened_rows`."""
    with opened_rows(path) as file:
        return file.read(columns)


def _encoded(about: About) -> bytes:
    # Names of files may have bytes that are not UTF-8, which the standard library's JSON can express.
    return json.dumps(msgspec.to_builtins(about), sort_keys=True).encode()


def _difference(begun: About, now: About) -> str:
    """Return the first difference between a scan and the one that began the dataset, "" if there is none."""
    if begun.incc_version != now.incc_version:
        return f"begun by incc {begun.incc_version}, not by {now.incc_version}"
    if (then := [name for name, _ in begun.cores]) != [name for name, _ in now.cores]:
        return f"begun for {', '.join(then)}, not for {', '.join(name for name, _ in now.cores)}"
    for (name, version), (_, other) in zip(begun.cores, now.cores, strict=True):
        if version != other:
            return f"begun with version {version} of the model of {name}, not {other}"
    if names := sorted(_changed(begun.settings, now.settings)):
        return f"begun with other settings: {', '.join(names)}"
    if begun.inputs != now.inputs:
        return f"begun with other inputs: {printable(' '.join(begun.inputs))[:200]}"
    return ""


def _changed(a: Any, b: Any, name: str = "") -> Iterator[str]:
    """Yield the names of the settings that differ."""
    if isinstance(a, dict) and isinstance(b, dict):
        for each in a.keys() | b.keys():
            yield from _changed(a.get(each), b.get(each), f"{name}.{each}" if name else each)
    elif a != b:
        yield name


@contextmanager
def _held(folder: str) -> Iterator[tuple[int, Store]]:
    """Lock a folder and open its store; both stay so unless the block raises an exception."""
    lock = _locked(folder)
    try:
        store = Store(os.path.join(folder, KERNELS))
        try:
            yield lock, store
        except BaseException:
            store.close()
            raise
    except BaseException:
        _unlock(lock)
        raise


_locks: set[int] = set()
"""The open files of this process's locks."""


def _close_locks() -> None:
    for lock in _locks:
        os.close(lock)
    _locks.clear()


# A lock belongs to the open file, which forked processes share: they may go on for a while after this one was killed.
os.register_at_fork(after_in_child=_close_locks)


def _locked(folder: str) -> int:
    """Lock a folder, and return the lock's open file. Raises DatasetError if another process holds the lock."""
    lock = os.open(os.path.join(folder, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise DatasetError(f"{printable(folder)}: another process writes to this dataset") from None
    except OSError:
        pass  # a file system without locks
    _locks.add(lock)
    return lock


def _unlock(lock: int) -> None:
    _locks.discard(lock)
    os.close(lock)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _unlink(path: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(path)
