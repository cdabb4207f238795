"""Datasets of kernels: columns, the store of results, and writing that survives the end of its process."""

from __future__ import annotations

import errno
import json
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from incc.report.where import NAMES, NUMBER, TEXT, TRUTH

pytest.importorskip("pyarrow", reason="no pyarrow")

import pyarrow.dataset as pd
import pyarrow.parquet as pq

from incc.fleet.dataset import layout, writing
from incc.fleet.dataset.columns import ANALYSED, COLUMNS, INTEGERS, OF_CORE, PLACES
from incc.fleet.dataset.rows import row_files
from incc.fleet.dataset.store import BATCH, Store, hash_of, pack
from incc.fleet.dataset.writing import About, DatasetError, DatasetWriter
from incc.report import columnar

ABOUT = About(
    incc_version="1",
    cores=[("skylake", "1.a"), ("znver4", "1.b")],
    settings={"kernel": {"simulate": True, "data": None}, "scope": {"functions": []}},
    inputs=["lib", "caf\udce9"],
)


def row(number: int, core: str = "skylake", **given: Any) -> list[Any]:
    """A row with some value in each column."""
    values = {NUMBER: float(number), TEXT: f"text {number % 7}", TRUTH: bool(number % 2)}
    return [
        {"row": number, "model": core, **given}.get(name, values[entry.kind]) for name, entry in writing.COLUMNS.items()
    ]


def rows_in(folder: Path) -> list[tuple[str, int]]:
    """The cores and numbers of the rows, as another program reads them."""
    files = [path for core, _ in ABOUT.cores for path, _ in row_files(str(folder), core)]
    if not files:
        return []
    table = pd.dataset(folder, format="parquet", partitioning="hive").to_table()
    return sorted(zip(table["core"].to_pylist(), table["row"].to_pylist(), strict=True))


def committed(count: int) -> list[tuple[str, int]]:
    return sorted((core, n) for core, _ in ABOUT.cores for n in range(count))


def scan(writer: DatasetWriter, pieces: int, kernels: int = 3) -> None:
    """Write pieces of input as a scan does, with a few kernels each and a failure in every other."""
    while writer.pieces < pieces:
        for core, _ in ABOUT.cores:
            first = kernels * writer.pieces
            writer.add(core, [row(n, core) for n in range(first, first + kernels)])
        if writer.pieces % 2:
            writer.add_failure(f"input {writer.pieces}", "broken", quarantined=False)
        key = writer.pieces.to_bytes(16, "big")
        if writer.store.missing([key]):
            writer.store.keep([(key, b"values", pack([(hash_of(key, 0), "skylake", b"{}")]))])
        writer.commit(writer.pieces + 1, b"state %d" % (writer.pieces + 1))
    writer.finish()


# --- columns ----------------------------------------------------------------------------------------------------------


def test_columns_are_those_of_conditions_and_a_few_of_the_scan() -> None:
    assert [name for name in COLUMNS if name in NAMES] == list(NAMES)
    assert sorted(COLUMNS) == sorted(["row", *PLACES, *ANALYSED, *OF_CORE])


def test_document_lists_the_columns_of_the_scan() -> None:
    text = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    table = [line for line in text.splitlines() if line.startswith("| `") and line.count("|") == 4]
    assert table == [
        f"| `{name}` | {'integer' if name in INTEGERS else entry.kind} | {entry.meaning} |"
        for name, entry in COLUMNS.items()
        if name not in NAMES
    ]


KINDS = {
    NUMBER: st.none() | st.integers() | st.floats(),
    TEXT: st.none() | st.text(st.characters(), max_size=8),
    TRUTH: st.none() | st.booleans(),
}


@given(st.data())
def test_every_value_has_a_place_in_its_column(data: st.DataObject) -> None:
    schema = columnar.schema_of(COLUMNS, ("row",))
    value = st.tuples(*(st.integers(0, 2**62) if n == "row" else KINDS[e.kind] for n, e in COLUMNS.items()))
    rows = data.draw(st.lists(value, max_size=3))
    try:
        floats = [[float(v) if type(v) is int else v for v in each] for each in rows]
    except OverflowError:
        return
    batch = columnar.batch_of(rows, schema)
    assert batch.num_rows == len(rows)
    for name, got, *given_ in zip(COLUMNS, batch.columns, *floats, strict=True):
        for a, b in zip(got.to_pylist(), given_, strict=True):
            if COLUMNS[name].kind == TEXT and b is not None:
                assert a == re.sub("[\ud800-\udfff]", "\ufffd", b)
            else:
                assert a == b or (a != a and b != b) or name == "row"


# --- the store --------------------------------------------------------------------------------------------------------

keys = st.lists(st.integers(0, 40).map(lambda n: n.to_bytes(16, "little")), max_size=20)


@settings(max_examples=30)
@given(st.lists(keys, max_size=6), keys, st.integers(0, 3))
def test_store_returns_what_it_keeps(groups: list[list[bytes]], asked: list[bytes], size: int) -> None:
    store = Store("")
    kept: dict[bytes, bytes] = {}
    reports: dict[tuple[str, str], bytes] = {}
    for n, group in enumerate(groups):
        new = store.missing(group)
        assert new == [key for key in dict.fromkeys(group) if key not in kept]
        some = [
            (hash_of(key, i), core, b"{%d}" % i * (size * BATCH // 8)) for key in new for core in "ab" for i in (0, 1)
        ]
        packed = pack(some)
        store.keep([(key, b"%d" % n, packed if key == new[0] else b"") for key in new])
        kept.update((key, b"%d" % n) for key in new)
        reports.update(((hash_, core), text) for hash_, core, text in some)
        if n % 2:
            store.commit()
    assert store.values(asked) == {key: kept[key] for key in asked if key in kept}
    for hash_ in (hash_of(key, 1) for key in asked):
        assert store.reports(hash_) == {core: reports[hash_, core] for core in "ab" if (hash_, core) in reports}
    store.close()


def test_small_packs_share_a_batch(tmp_path: Path) -> None:
    store = Store(str(tmp_path / "s"))
    text = json.dumps({f"field {n}": [n, n / 7] for n in range(400)}).encode()
    for n in range(50):
        key = n.to_bytes(16, "big")
        store.keep([(key, b"", pack([(hash_of(key, 0), "c", text)]))])
    store.commit()
    store.close()
    with sqlite3.connect(tmp_path / "s") as connection:
        ((batches, size),) = connection.execute("SELECT count(*), sum(length(data)) FROM batches")
    assert batches == 1
    assert size < len(pack([("0" * 16, "c", text)])) * 5


def test_store_refuses_other_files_and_damaged_ones(tmp_path: Path) -> None:
    path = tmp_path / "s"
    path.write_bytes(b"no database" * 100)
    with pytest.raises(DatasetError, match="damaged, or not a file"):
        Store(str(path))
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (x)")
    with pytest.raises(DatasetError, match="not a file of an incc dataset"):
        Store(str(path))
    path.unlink()
    store = Store(str(path))
    key = bytes(16)
    store.keep([(key, b"", pack([(hash_of(key, 0), "c", b"{}" * 100)]))])
    store.commit()
    store._connection.execute("UPDATE batches SET data = x'00'")
    with pytest.raises(DatasetError, match="damaged"):
        store.reports(hash_of(key, 0))
    store._connection.execute("UPDATE batches SET size = 1 << 50")
    with pytest.raises(DatasetError, match="damaged"):
        store.reports(hash_of(key, 0))


# --- writing ----------------------------------------------------------------------------------------------------------


def test_dataset_is_read_by_other_programs(tmp_path: Path) -> None:
    folder = tmp_path / "d"
    writer = DatasetWriter.create(str(folder), ABOUT)
    scan(writer, 4)
    writer.close()
    assert rows_in(folder) == committed(12)
    about = json.loads((folder / "_about.json").read_text())
    assert (about["complete"], about["kernels"], about["failures"]) == (True, 12, 2)
    assert about["inputs"] == ABOUT.inputs
    assert pq.read_table(folder / "_failures.parquet")["input"].to_pylist() == ["input 1", "input 3"]
    schema = pq.read_schema(next(folder.glob("core=skylake/*")))
    assert schema.names == list(COLUMNS)
    assert schema.field("cycles").metadata[b"meaning"].decode() == NAMES["cycles"].meaning
    assert [p.name for p in folder.glob("*/*")] == ["rows-000001.parquet"] * 2


def test_cores_without_kernels_have_an_empty_table(tmp_path: Path) -> None:
    writer = DatasetWriter.create(str(tmp_path), ABOUT)
    writer.finish()
    writer.close()
    assert rows_in(tmp_path) == []
    assert len([*tmp_path.glob("core=*/rows-000001.parquet")]) == 2


def test_files_grow_to_a_size_and_then_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SMALL", 10)
    writer = DatasetWriter.create(str(tmp_path), ABOUT)
    scan(writer, 20)
    writer.close()
    sizes = [pq.read_metadata(path).num_rows for path in sorted(tmp_path.glob("core=znver4/*"))]
    assert sizes == [12] * 5
    assert rows_in(tmp_path) == committed(60)


def test_folders_with_other_files_are_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(DatasetError, match="not empty"):
        DatasetWriter.create(str(tmp_path), ABOUT)
    with pytest.raises(DatasetError, match="no dataset to resume"):
        DatasetWriter.resume(str(tmp_path), ABOUT)
    with pytest.raises(DatasetError, match="no dataset to resume"):
        DatasetWriter.resume(str(tmp_path / "missing"), ABOUT)
    with pytest.raises(OSError, match="x"):
        DatasetWriter.create(str(tmp_path / "x"), ABOUT)
    DatasetWriter.create(str(tmp_path / "d"), ABOUT).close()
    with pytest.raises(DatasetError, match="--resume continues it"):
        DatasetWriter.create(str(tmp_path / "d"), ABOUT)


def test_two_writers_are_refused(tmp_path: Path) -> None:
    writer = DatasetWriter.create(str(tmp_path), ABOUT)
    with pytest.raises(DatasetError, match="another process"):
        DatasetWriter.resume(str(tmp_path), ABOUT)
    writer.close()
    DatasetWriter.resume(str(tmp_path), ABOUT).close()


def test_forked_processes_do_not_hold_the_lock(tmp_path: Path) -> None:
    """They may outlive a writer that was killed for a while."""
    writer = DatasetWriter.create(str(tmp_path), ABOUT)
    end, other_end = os.pipe()
    forked, forked_end = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(other_end)
        os.write(forked_end, b"x")
        os.read(end, 1)
        os._exit(0)
    os.read(forked, 1)
    try:
        with pytest.raises(DatasetError, match="another process"):
            DatasetWriter.resume(str(tmp_path), ABOUT)
        writer.close()
        DatasetWriter.resume(str(tmp_path), ABOUT).close()
    finally:
        os.close(other_end)
        os.waitpid(process, 0)
        for each in (end, forked, forked_end):
            os.close(each)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"incc_version": "2"}, "begun by incc 1, not by 2"),
        ({"cores": [("skylake", "1.a")]}, "begun for skylake, znver4, not for skylake"),
        ({"cores": [("skylake", "1.a"), ("znver4", "1.c")]}, "version 1.b of the model of znver4, not 1.c"),
        ({"settings": {"kernel": {"simulate": False}, "scope": {"functions": ["f"]}}}, ": kernel.simulate, scope.fun"),
        ({"inputs": ["lib"]}, "begun with other inputs: lib caf?"),
    ],
)
def test_resume_needs_the_same_scan(tmp_path: Path, change: dict[str, Any], message: str) -> None:
    DatasetWriter.create(str(tmp_path), ABOUT).close()
    other = About(**{**{name: getattr(ABOUT, name) for name in ABOUT.__struct_fields__}, **change})
    with pytest.raises(DatasetError) as error:
        DatasetWriter.resume(str(tmp_path), other)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


STEPS = ("open", "replace", "fsync", "unlink", "makedirs")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[int], None]], None]]:
    """Call a function before each step of writing with the number of the step."""

    def install(before: Callable[[int], None]) -> None:
        count = iter(range(10**6))
        for name in STEPS:
            function = getattr(os, name)

            def step(*args: Any, _function: Callable[..., Any] = function, **kwargs: Any) -> Any:
                before(next(count))
                return _function(*args, **kwargs)

            monkeypatch.setattr(os, name, step)
        for name in ("commit", "set_facts", "keep"):
            method = getattr(Store, name)

            def call(self: Store, *args: Any, _method: Callable[..., Any] = method) -> Any:
                before(next(count))
                return _method(self, *args)

            monkeypatch.setattr(Store, name, call)

    yield install
    monkeypatch.undo()


def test_a_killed_process_loses_nothing_that_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, calls: Callable[[Callable[[int], None]], None]
) -> None:
    """A process is killed before each of its steps, and the next one finishes; all end with the same rows."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    monkeypatch.setattr(writing, "COLUMNS", {name: COLUMNS[name] for name in ("row", "cycles", "model")})
    monkeypatch.setattr(writing, "SMALL", 5)
    for at in range(1000):
        folder = tmp_path / str(at)
        child = os.fork()
        if not child:
            calls(lambda n, at=at: os._exit(9) if n == at else None)
            scan(DatasetWriter.create(str(folder), ABOUT), 3)
            os._exit(0)
        _, status = os.waitpid(child, 0)
        try:
            writer = DatasetWriter.resume(str(folder), ABOUT)
        except DatasetError:
            assert not layout.is_dataset(str(folder))
            writer = DatasetWriter.create(str(folder), ABOUT)
        pieces = writer.pieces
        assert rows_in(folder) == committed(3 * pieces)
        assert writer.state == (b"state %d" % pieces if pieces else b"")
        assert len(writer.store.failures()) == pieces // 2
        scan(writer, 3)
        writer.close()
        assert rows_in(folder) == committed(9)
        names = {path.name for path in folder.iterdir()}
        assert names == {"_about.json", "_failures.parquet", "_kernels.sqlite", "_lock", "core=skylake", "core=znver4"}
        if os.waitstatus_to_exitcode(status) == 0:
            break
    assert at > 40


def test_a_full_disk_names_the_file_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writing, "SMALL", 5)
    writer = DatasetWriter.create(str(tmp_path), ABOUT)
    for first in (0, 3):
        for core, _ in ABOUT.cores:
            writer.add(core, [row(n, core) for n in range(first, first + 3)])
        if not first:
            writer.commit(1)
    write = pq.write_table

    def full(table: Any, file: Any, **options: Any) -> None:
        if "znver4" in table["model"].to_pylist():
            raise OSError(errno.ENOSPC, "No space left on device")
        write(table, file, **options)

    monkeypatch.setattr(pq, "write_table", full)
    with pytest.raises(OSError, match="No space left") as error:
        writer.commit(2)
    assert error.value.errno == errno.ENOSPC
    assert str(error.value.filename).endswith("core=znver4/rows-000001.parquet")
    writer.close()
    monkeypatch.undo()
    writer = DatasetWriter.resume(str(tmp_path), ABOUT)
    assert (writer.pieces, writer.rows) == (1, 3)
    assert rows_in(tmp_path) == committed(3)
    writer.close()
