"""A database of reports: nothing is lost, whatever is added, merged, read and written at the same time."""

from __future__ import annotations

import copy
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import report_fixtures as fixtures
from incc.comparison.side import ComparedBuild, in_memory, without_details
from incc.driver.commands.db import main
from incc.driver.sides.read import read_sides
from incc.history import schema
from incc.history.export import ROW_NAMES, reports, rows
from incc.history.reports import files_of, packed, report_in
from incc.history.store import Added, Adder, Database, open_database, open_reading
from incc.report import types as t
from incc.report.documents import InputError
from incc.report.where import NAMES, kernel_values
from properties import examples
from settings_fixtures import settings_with
from struct_fixtures import filled, json_text

MADE = fixtures.make_report(fixtures.triad_parts(), fixtures.sum_parts(), timeline=True)
BASE: Any = msgspec.convert(msgspec.to_builtins(MADE), t.AnalysisReport)
"""As it is read: no figure that may be a fraction is a whole number of Python."""


def make(source: str = "a.c", cycles: float = 4.0, name: str = "triad", **unit: Any) -> Any:
    """A report of one unit with two kernels, the first of them with these cycles and function."""
    report = copy.deepcopy(BASE)
    report.units[0] = replace(report.units[0], source=source, **unit)
    first = report.units[0].kernels[0]
    first.cycles, first.kernel_id = float(cycles), f"{name}/loop1"
    first.function = first.function_name = name
    first.content_hash = f"{zlib.crc32(f'{cycles}'.encode()):016x}"
    return report


def add(path: Path | str, commit: str, *given: Any, date: int | None = None) -> Added:
    with open_database(str(path), create=True) as database:
        adder = Adder(database, commit, date, "")
        for number, report in enumerate(given):
            for unit in packed(report):
                adder.add(unit, f"{number}.json")
        return adder.finish()


def contents(database: Database) -> dict[str, list[str]]:
    """All that a user can get out of it: by commits their dates, branches and baselines, and the reports."""
    found = {}
    for commit in database.commits():
        names = [
            sorted(row[0] for row in database.rows(f'SELECT name FROM {table} WHERE "commit" = ?', [commit.id]))
            for table in ("branches", "baselines")
        ]
        found[commit.name] = [
            json.dumps([commit.date, *names]),
            *sorted(json_text(r, sort_keys=True) for r in reports(database, commit)),
        ]
    return found


def side_of(path: Path | str, name: str = "") -> ComparedBuild:
    """What a comparison takes of a commit."""
    (side,) = read_sides([f"{path}@{name}" if name else str(path)])
    return side


def read(path: Path | str) -> dict[str, list[str]]:
    with open_reading(str(path)) as database:
        return contents(database)


def save(folder: Path, *given: Any) -> str:
    folder.mkdir(exist_ok=True)
    for number, report in enumerate(given):
        (folder / f"{number}.json").write_text(json_text(report))
    return str(folder)


# --- adding -----------------------------------------------------------------------------------------------------------


def test_reports_come_back_as_they_were(tmp_path: Path) -> None:
    strange = make("b\udcff.c", name='f"; DROP TABLE kernels; --\n')
    strange.units[0].left_out = [filled(t.LeftOut, {"first_line": 2**70, "last_line": 1})]
    given = [make(), strange, make("µ.c", 1e-300)]
    add(tmp_path / "a.db", "c", *given)
    with open_reading(str(tmp_path / "a.db")) as database:
        found = list(reports(database, database.named("c")))
    # Also in the order of their keys, so that the same text can be written again.
    assert sorted(map(json_text, found)) == sorted(map(json_text, given))


def test_several_units_of_a_report_come_back_one_by_one(tmp_path: Path) -> None:
    both = make()
    both.units.append(make("b.c").units[0])
    add(tmp_path / "a.db", "c", both)
    with open_reading(str(tmp_path / "a.db")) as database:
        found = list(reports(database, None))
    assert [r.units[0] for r in found] == both.units


def test_adding_twice_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    given = [make(), make("b.c")]
    assert add(path, "c", *given, given[0]) == Added(units=2, kernels=4, replaced=0, already=1)
    before = list(sqlite3.connect(path).iterdump())
    assert add(path, "c", *given) == Added(units=0, kernels=0, replaced=0, already=2)
    assert list(sqlite3.connect(path).iterdump()) == before


def test_what_is_built_anew_replaces_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make(cycles=4), make("b.c", 5))
    assert add(path, "c", make(cycles=6)) == Added(units=1, kernels=2, replaced=1, already=0)
    with open_reading(str(path)) as database:
        assert [r.units[0].kernels[0].cycles for r in reports(database, None)] == [6, 5]
        # Nothing is left of the old one; the kernel that did not change is shared by all.
        assert database.row("SELECT count(*) FROM kernels")[0] == 3
        assert database.row("SELECT count(*) FROM bodies")[0] == 3 + 2
    # Another compiler's, or for another core, stands beside it.
    other = make(cycles=7, compiler_version="99")
    core = make(cycles=8, model=replace(BASE.units[0].model, name="other"))
    assert add(path, "c", other, core) == Added(units=2, kernels=4, replaced=0, already=0)


def test_two_units_of_one_name_in_one_build_are_both_kept(tmp_path: Path) -> None:
    """`main.c` of two folders, each compiled in its own."""
    path = tmp_path / "a.db"
    for _ in range(2):
        add(path, "c", make(cycles=1), make(cycles=2))
        with open_reading(str(path)) as database:
            assert sorted(r.units[0].kernels[0].cycles for r in reports(database, None)) == [1, 2]
    assert "1 of its units occurs in several versions" in " ".join(side_of(path).info.notes)


def test_a_file_to_which_builds_add_has_the_last_one(tmp_path: Path) -> None:
    path, file = str(tmp_path / "a.db"), tmp_path / "all.json"
    file.write_text("".join(json_text(make(s, c)) + "\n\n" for s, c in (("a.c", 1), ("b.c", 2), ("a.c", 3))))
    for _ in range(2):
        assert main(["add", f"--db={path}", "--commit=c", str(file)]) == 0
        with open_reading(path) as database:
            found = [r.units[0].kernels[0].cycles for r in reports(database, None)]
        assert found == [3, 2]


def test_units_of_one_name_with_other_kernels_are_others(tmp_path: Path) -> None:
    """Of two folders, which were added one after the other, or of one file."""
    path = tmp_path / "a.db"
    other = make(name="other")
    other.units[0].kernels = other.units[0].kernels[:1]
    third = copy.deepcopy(other)
    third.units[0].kernels[0].kernel_id = "third/loop1"
    file = tmp_path / "all.json"
    file.write_text(f"{json_text(make())}\n{json_text(other)}\n")
    assert main(["add", f"--db={path}", "--commit=c", str(file)]) == 0
    assert add(path, "c", third) == Added(units=1, kernels=1, replaced=0, already=0)
    assert len(side_of(path).entries) == 4


def test_equal_kernels_of_many_commits_cost_no_room(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for n in range(5):
        add(path, f"c{n}", make())
    with open_reading(str(path)) as database:
        assert database.row("SELECT count(*) FROM bodies")[0] == 3
        assert database.row("SELECT count(*) FROM unit_kernels")[0] == 10


# --- columns ----------------------------------------------------------------------------------------------------------


def test_every_name_of_conditions_is_a_column_and_has_its_value(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    report = make()
    add(path, "c", report)
    with open_reading(str(path)) as database:
        found = list(rows(database, None))
    unit = report.units[0]
    for row, kernel in zip(found, unit.kernels, strict=True):
        values = dict(zip(ROW_NAMES, row, strict=True))
        assert {name: values[name] for name in NAMES} == kernel_values(unit, kernel)
        assert [type(values[n]) for n in NAMES if NAMES[n].kind != schema.NUMBER] == [
            type(v) for n, v in kernel_values(unit, kernel).items() if NAMES[n].kind != schema.NUMBER
        ]


def test_a_text_has_the_units_of_its_report() -> None:
    odd = make("µ.c", 1e-300, 'f"\t\\n--')
    plain = make()
    plain.units[0].kernels[0].simulated = None
    for report in (make(), odd, plain):
        for options in ({}, {"indent": 2}, {"separators": (",", ":")}, {"ensure_ascii": False}):
            assert report_in(json_text(report, **options).encode(), "here") == report
    with pytest.raises(InputError, match="here:1: the file is truncated"):
        report_in(json_text(make("\xff.c"), ensure_ascii=False).encode("latin-1")[:-9], "here")
    bytes_of_no_text = json_text(make("X.c"), ensure_ascii=False).encode().replace(b"X.c", b"\xff.c")
    assert report_in(bytes_of_no_text, "here") == make("\udcff.c")


def test_each_name_of_conditions_is_a_column(tmp_path: Path) -> None:
    with open_database(str(tmp_path / "a.db"), create=True) as database:
        columns = {row[1] for row in database.rows("PRAGMA table_info (kernels)")}
    assert columns == {"id", *schema.COLUMNS}


# --- merging ----------------------------------------------------------------------------------------------------------

_ADDED = st.lists(
    st.tuples(
        st.sampled_from(["c1", "c2", "c3"]),
        st.sampled_from(["a.c", "b.c"]),
        st.integers(1, 3),
        st.sampled_from([None, 5, 9]),
    ),
    max_size=5,
)


def fill(path: Path, given: Iterable[tuple[str, str, int, int | None]]) -> None:
    with open_database(str(path), create=True):
        pass
    for commit, source, cycles, date in given:
        add(path, commit, make(source, cycles), date=date)


def merge(into: Path, *others: Path) -> None:
    assert main(["merge", f"--db={into}", *map(str, others)]) == 0


@pytest.mark.long
@given(_ADDED, _ADDED)
@examples(30)
def test_merging_loses_nothing(tmp_path_factory: pytest.TempPathFactory, a: Any, b: Any) -> None:
    """Merged is the union; twice is once; the order does not matter."""
    folder = tmp_path_factory.mktemp("merge")
    fill(folder / "a.db", a)
    fill(folder / "b.db", b)
    before = [read(folder / "a.db"), read(folder / "b.db")]
    merge(folder / "ab.db", folder / "a.db", folder / "b.db")
    merge(folder / "ba.db", folder / "b.db", folder / "a.db")
    found = read(folder / "ab.db")
    assert found == read(folder / "ba.db")
    assert set(found) == set(before[0]) | set(before[1])
    for commit, (_, *reports_) in found.items():
        parts = [set(one.get(commit, [""])[1:]) for one in before]
        assert reports_ == sorted(parts[0] | parts[1])
    dump = list(sqlite3.connect(folder / "ab.db").iterdump())
    merge(folder / "ab.db", folder / "a.db", folder / "b.db", folder / "ab.db")
    assert list(sqlite3.connect(folder / "ab.db").iterdump()) == dump
    assert [read(folder / "a.db"), read(folder / "b.db")] == before


def test_of_two_baselines_of_one_name_the_later_one_stays(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("a", "b"):
        add(tmp_path / f"{name}.db", f"commit-{name}", make())
        assert main(["baseline", "set", "main", f"--db={tmp_path}/{name}.db"]) == 0
    merge(tmp_path / "ab.db", tmp_path / "a.db", tmp_path / "b.db")
    merge(tmp_path / "ba.db", tmp_path / "b.db", tmp_path / "a.db")
    assert read(tmp_path / "ab.db") == read(tmp_path / "ba.db")
    assert "main: it is commit-b, which was set later than commit-a" in capsys.readouterr().err
    with open_reading(str(tmp_path / "ba.db")) as database:
        assert database.named("main").name == "commit-b"


# --- at the same time -------------------------------------------------------------------------------------------------

_WRITER = """
import sys
from incc.driver.commands.db import main
for n in range(4):
    status = main(["add", f"--db={sys.argv[1]}", f"--commit=c{n}", sys.argv[2]])
    assert status == 0, status
"""


def test_programs_that_write_at_the_same_time(tmp_path: Path) -> None:
    """Each into the same commits of a database that none has made yet."""
    writers = []
    for n in range(4):
        folder = save(tmp_path / str(n), *(make(f"{n}-{i}.c", i) for i in range(3)))
        command = [sys.executable, "-c", _WRITER, str(tmp_path / "a.db"), folder]
        writers.append(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    for writer in writers:
        _, errors = writer.communicate()
        assert (writer.returncode, errors) == (0, b"")
    found = read(tmp_path / "a.db")
    assert [len(reports_) - 1 for reports_ in found.values()] == [12] * 4
    assert sqlite3.connect(tmp_path / "a.db").execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_reader_sees_whole_transactions_while_somebody_writes(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make())
    with open_database(str(path)) as writing, writing.transaction() as connection:
        connection.execute("DELETE FROM commits")
        assert list(read(path)) == ["c"]
        connection.execute("ROLLBACK")
        connection.execute("BEGIN")
    assert list(read(path)) == ["c"]


def test_rows_that_nobody_asks_for_any_more_may_be_left_behind(tmp_path: Path) -> None:
    """By who met something else that was wrong, and closed the database."""
    path = tmp_path / "a.db"
    add(path, "c", make())
    with open_database(str(path)) as database:
        rows = database.rows("SELECT 1 UNION ALL SELECT 2")
        next(rows)
    rows.close()  # type: ignore[attr-defined]


_KILLED = """
import os, signal, sys
from incc.history import store
from incc.driver.commands.db import main
remove = store.next_moment
def dies(connection, table, column):
    if table == "units":
        connection.execute("DELETE FROM bodies WHERE 0")
        os.kill(os.getpid(), signal.SIGKILL)
    return remove(connection, table, column)
store.next_moment = dies
main(["add", f"--db={sys.argv[1]}", "--commit=new", sys.argv[2]])
"""


def test_a_killed_writer_leaves_a_database_that_can_be_used(tmp_path: Path) -> None:
    """Killed in the middle of its transaction, with the commit made and no unit."""
    path = tmp_path / "a.db"
    add(path, "old", make())
    before = read(path)
    folder = save(tmp_path / "new", make(cycles=9))
    run = subprocess.run([sys.executable, "-c", _KILLED, str(path), folder], check=False)
    assert run.returncode == -signal.SIGKILL
    assert read(path) == before
    assert add(path, "new", make(cycles=9)).units == 1


def test_a_batch_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make())
    before = list(sqlite3.connect(path).iterdump())
    with open_database(str(path)) as database:
        # As on a full disk: no page may be added.
        database.connection.execute("PRAGMA max_page_count = 1")
        adder = Adder(database, "d", None, "")
        for n in range(300):
            adder.add(packed(make(f"{n}.c", n))[0], "")
        with pytest.raises(InputError, match="no room is left on the disk"):
            adder.finish()
    assert list(sqlite3.connect(path).iterdump()) == before


def test_a_locked_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make())
    monkeypatch.setattr("incc.history.store.PATIENCE", 0.0)
    monkeypatch.setattr("incc.history.store.TIMEOUT", 0.0)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="another program has locked it"):
        add(path, "d", make())
    other.execute("ROLLBACK")
    assert add(path, "d", make()).units == 1


def test_a_network_file_system_has_no_write_ahead_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("incc.history.store.on_network", lambda path: True)
    path, folder = tmp_path / "a.db", save(tmp_path / "reports", make())
    assert main(["add", f"--db={path}", "--commit=c", folder]) == 0
    assert "allows no write-ahead log" in capsys.readouterr().err
    # It is said once, and stays so on any other machine.
    monkeypatch.undo()
    assert main(["--db", str(path), "add", "--commit=d", folder]) == 0
    assert capsys.readouterr().err == ""
    assert sqlite3.connect(path).execute("PRAGMA journal_mode").fetchone() == ("delete",)
    merge(path, path)
    assert list(read(path)) == ["c", "d"]


# --- versions ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", [schema.VERSION + 1, schema.VERSION + 2])
def test_a_database_of_another_version_is_refused(tmp_path: Path, version: int) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make())
    sqlite3.connect(path).execute(f"PRAGMA user_version = {version}")
    for use in (lambda: add(path, "d", make()), lambda: read(path), lambda: side_of(path)):
        with pytest.raises(InputError, match=f"database version {version} is not supported"):
            use()


# --- what is no database ----------------------------------------------------------------------------------------------


def broken(folder: Path) -> dict[str, Path]:
    """Files that are no database, and what is said of them."""
    whole = folder / "whole.db"
    add(whole, "c", *(make(f"{n}.c", n) for n in range(50)))
    sqlite3.connect(whole).execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = whole.read_bytes()
    (folder / "text.db").write_text("SQLite format 4, or some text\n")
    (folder / "report.json").write_text(json_text(make()))
    (folder / "cut.db").write_bytes(data[: len(data) // 2])
    (folder / "header.db").write_bytes(data[:100])
    (folder / "garbage.db").write_bytes(data[:4096] + b"\xa5" * (len(data) - 4096))
    (folder / "folder.db").mkdir()
    os.mkfifo(folder / "pipe.db")
    other = sqlite3.connect(folder / "other.db")
    other.execute("CREATE TABLE commits (id)")
    other.close()
    return {
        "not an incc database": folder / "text.db",
        "not an incc database$": folder / "report.json",
        "damaged": folder / "cut.db",
        "damaged|not an incc database": folder / "header.db",
        "damaged|not an incc database|another program": folder / "garbage.db",
        "a folder, not a database": folder / "folder.db",
        "not a regular file": folder / "pipe.db",
        "a database of another program": folder / "other.db",
        "there is no folder|there is no such database": folder / "none" / "a.db",
        "there is no|null": folder / "nul\0.db",
    }


def test_what_is_no_database_is_said_and_left_alone(tmp_path: Path) -> None:
    for message, path in broken(tmp_path).items():
        content = path.read_bytes() if "\0" not in str(path) and path.is_file() else None
        for use in (lambda p=path: read(str(p)), lambda p=path: add(p, "d", make("new.c"))):
            with pytest.raises(InputError) as raised:
                use()
            text = str(raised.value)
            assert text.startswith(str(path))
            assert re.search(message, text), text
            assert "\n" not in text.replace(str(path), "")
        if content is not None and message != "damaged":
            assert path.read_bytes() == content


def test_a_damaged_body_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make())
    for data in (b"", b"\0garbage", zlib.compress(b"[" * 100_000), zlib.compress(b"{}"), zlib.compress(b"x" * 99)[:-8]):
        with open_database(str(path)) as database, database.transaction() as connection:
            connection.execute("UPDATE bodies SET data = ?", [data])
        with pytest.raises(InputError, match=r"a\.db: damaged"):
            side_of(path)


def test_a_read_only_database_is_read(tmp_path: Path) -> None:
    path = tmp_path / "sub" / "a.db"
    path.parent.mkdir()
    add(path, "c", make())
    expected = read(path)
    path.chmod(0o444)
    path.parent.chmod(0o555)
    try:
        assert read(path) == expected
        if not os.access(path, os.W_OK):  # the administrator may write everywhere
            with pytest.raises(InputError, match=r"cannot be (written|opened)"):
                add(path, "d", make())
        with open_reading(str(path)) as database, pytest.raises(InputError, match="cannot be written to"):
            database.remove_baseline("main")
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize("name", ["a?mode=ro.db", "a#b%41.db", "file:x.db", "a'\"b.db", "ü.db", "a\udcff.db", "-x.db"])
def test_any_name_of_a_file(tmp_path: Path, name: str) -> None:
    add(tmp_path / name, "c", make())
    assert (tmp_path / name).is_file()
    assert list(read(tmp_path / name)) == ["c"]


# --- reading for comparisons ------------------------------------------------------------------------------------------


def test_entries_are_what_a_comparison_looks_at(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    report = make()
    unit = report.units[0]
    unit.left_out = [t.LeftOut(first_line=1, last_line=2, function="f", label="", reason="why")]
    unit.model = replace(unit.model, note="the nearest core")
    add(path, "c", report)
    side = side_of(path)
    found = side.entries
    assert side.info.notes == ["The nearest core.", "1 loop was not analysed."]
    assert [e.kernel for e in found] == [without_details(kernel) for kernel in unit.kernels]
    assert [e.instructions() for e in found] == [kernel.instructions for kernel in unit.kernels]
    assert found[0].unit == replace(unit, kernels=[], ways=None, control_flow=None, trials=None)
    assert found[0].unit is found[1].unit


def test_a_recorded_report_is_the_same_from_a_database(tmp_path: Path) -> None:
    file = Path(__file__).parent / "data" / "reports" / "report.json"
    recorded = msgspec.json.decode(file.read_bytes(), type=t.AnalysisReport)
    path = str(tmp_path / "a.db")
    add(path, "c", recorded)
    with open_reading(path) as database:
        assert list(reports(database, None)) == [recorded]
        (row,) = rows(database, None)
    assert row[list(ROW_NAMES).index("cycles")] == recorded.units[0].kernels[0].cycles
    found, side = side_of(path), side_of(file)
    assert [(e.unit, e.kernel, e.instructions()) for e in found.entries] == [
        (e.unit, e.kernel, e.instructions()) for e in side.entries
    ]


def test_names_that_are_no_characters_are_kept_for_comparisons(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make("b\udcff.c"))
    side = side_of(path)
    assert {entry.unit.source for entry in side.entries} == {"b\udcff.c"}
    assert [e.kernel for e in side.entries] == [e.kernel for e in in_memory(make(), "x").entries]


def test_functions_of_a_database(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    add(path, "c", make(name="f"), make("b.c", name="g"))
    (side,) = read_sides([str(path)], settings_with(functions=("f",)))
    assert [entry.kernel.function for entry in side.entries] == ["f"]


def test_names_of_commits(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    for name, date in (("abc1", 3), ("abd2", 2), ("x'%_", 1)):
        add(path, name, make(), date=date)
    main(["baseline", "set", "main", f"--db={path}", "--commit=abd2"])
    with open_reading(path) as database:
        found = [database.named(name).name for name in ("", "main", "abc", "abd2", "x'", "x'%")]
    assert found == ["abc1", "abd2", "abc1", "abd2", "x'%_", "x'%_"]
    for name in ("ab", "zzz", "x*", "_", "%", "\udcff"):
        with pytest.raises(InputError) as raised:
            side_of(path, name)
        if name != "ab":
            assert "baseline main; commits abc1, abd2, x'%_" in str(raised.value)


def test_commits_without_a_date_come_in_the_order_in_which_they_were_added(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    for name in ("z", "m", "a"):
        add(path, name, make())
    add(path, "dated", make(), date=1)
    assert list(read(path)) == ["dated", "z", "m", "a"]


def test_an_empty_database(tmp_path: Path) -> None:
    path = str(tmp_path / "a.db")
    Path(path).touch()
    with pytest.raises(InputError, match="the file is empty"):
        side_of(path)
    with open_database(path):
        pass
    with pytest.raises(InputError, match="the database has no reports"):
        side_of(path)


def test_the_list_of_a_builds_reports_is_not_a_report(tmp_path: Path) -> None:
    (tmp_path / ".incc").mkdir()
    for name in (".incc/manifest.jsonl", "a.json", "b.jsonl"):
        (tmp_path / name).write_text("{}")
    assert files_of([str(tmp_path)]) == [str(tmp_path / "a.json"), str(tmp_path / "b.jsonl")]
