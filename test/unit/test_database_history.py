"""What became of kernels over commits, which build is the fastest, and how both are printed and exported."""

from __future__ import annotations

import copy
import csv
import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from incc.driver.commands.db import main
from incc.history.export import ROW_NAMES
from incc.history.history import KernelFilter, best, choice, history
from incc.history.reports import packed
from incc.history.store import Adder, open_database, open_reading
from incc.history.types import History
from incc.report import types as t
from incc.views import database as views
from incc.views.layout import Layout
from report_fixtures import make_report, sum_parts, triad_parts
from struct_fixtures import filled, json_text

BASE: Any = make_report(triad_parts(), sum_parts())
HASHES = {"old code": "a" * 16, "new code": "b" * 16}


def kernel(name: str, cycles: float = 4.0, elements: float | None = 1.0, code: str = "old code", **more: Any) -> Any:
    """A kernel that is known by this name."""
    made = copy.deepcopy(BASE.units[0].kernels[0])
    function = name.partition("/")[0]
    each = elements and filled(
        t.ElementsReport, {"basis": "inferred", "per_iteration": elements, "cycles": cycles / elements}
    )
    made = replace(made, kernel_id=name, function=function, function_name=function, cycles=cycles, elements=each)
    made = replace(made, content_hash=HASHES.get(code, code), source=t.SourceLocation("a.c", 1))
    made.overview = replace(made.overview, function=function)
    made.role = t.RoleReport(name="main", of="", instead=False, basis="inferred", text="")
    return replace(made, **more)


def add(path: Path, commit: str, *kernels: Any, flags: str = "-O2", compiler: str = "gcc", **unit: Any) -> None:
    report = copy.deepcopy(BASE)
    command = [compiler, *flags.split(), "-c", "a.c"]
    made = replace(report.units[0], source="a.c", compiler=compiler, compiler_version="12.2.0 (x)", command=command)
    report.units[0] = replace(made, **{"kernels": list(kernels), **unit})
    with open_database(str(path), create=True) as database:
        adder = Adder(database, commit, None, "")
        for one in packed(report):
            adder.add(one, "")
        adder.finish()


def log(path: Path, name: str, **more: Any) -> list[Any]:
    with open_reading(str(path)) as database:
        return list(history(database, name, replace(choice(name), **more)).series)


def points(series: Any, *fields: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(point, field) for field in ("commit", *fields)) for point in series.points]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


# --- what is meant ----------------------------------------------------------------------------------------------------


def test_what_is_asked_for() -> None:
    assert choice("f") == KernelFilter(name="f", line=0)
    assert choice("f:12") == KernelFilter(name="f", line=12)
    assert choice("ns::f") == KernelFilter(name="ns::f", line=0)
    assert choice("ns::f:3") == KernelFilter(name="ns::f", line=3)
    assert choice("ns::3") == KernelFilter(name="ns::3", line=0)
    assert choice("f", "skylake", True) == KernelFilter(name="f", line=0, model="skylake", roles=())


def test_names_are_matched(path: Path) -> None:
    other = kernel("g/loop1", function_name="ns::g(int*) [clone]")
    rest = kernel(
        "f/loop2", role=t.RoleReport(name="remainder", of="f/loop1", instead=False, basis="inferred", text="")
    )
    add(path, "c", kernel("f/loop1"), rest, other)

    def found(name: str, **more: Any) -> list[str]:
        return [series.kernel_id for series in log(path, name, **more)]

    assert found("f") == found("f/loop1") == found("f:1") == ["f/loop1"]
    assert found("f/loop2") == ["f/loop2"]
    assert found("f", roles=()) == ["f/loop1", "f/loop2"]
    assert found("ns::g(int*) [clone]") == found("ns::g*") == found("[!f]/loop1") == ["g/loop1"]
    assert found("*") == ["f/loop1", "g/loop1"]
    for name in ("f:2", "nobody", "'; DROP TABLE kernels", "\udcff", "[", ""):
        assert found(name) == ([] if name else ["f/loop1", "g/loop1"])
    assert found("f", model="none") == []


# --- following --------------------------------------------------------------------------------------------------------


def test_changes_from_commit_to_commit(path: Path) -> None:
    add(path, "c1", kernel("f/loop1", 4))
    add(path, "c2", kernel("f/loop1", 4))
    add(path, "c3", kernel("f/loop1", 10, 2, "new code"))
    add(path, "c4", kernel("f/loop1", 10, 2, "new code"), model=replace(BASE.units[0].model, version="9"))
    (series,) = log(path, "f")
    assert points(series, "basis", "change", "code", "model_changed", "renamed") == [
        ("c1", "", None, "", False, False),
        ("c2", "element", 0.0, "same", False, False),
        ("c3", "element", 0.25, "changed", False, False),
        ("c4", "element", 0.0, "same", True, False),
    ]


def test_iterations_are_compared_only_where_they_do_the_same(path: Path) -> None:
    """Unrolled twice as far, of no known number of elements."""
    unrolled = kernel("f/loop1", 6, None, "new code")
    unrolled.arithmetic = replace(unrolled.arithmetic, flop=2 * unrolled.arithmetic.flop)
    add(path, "c1", kernel("f/loop1", 4, None))
    add(path, "c2", kernel("f/loop1", 5, None, "other code"))
    add(path, "c3", unrolled)
    add(path, "c4", kernel("f/loop1", 3, 2, "new code"))
    (series,) = log(path, "f")
    assert points(series, "basis", "change") == [
        ("c1", "", None),
        ("c2", "iteration", 0.25),
        ("c3", "", None),
        ("c4", "iteration", -0.5),
    ]
    assert "?" in "\n".join(views.history(History(kernel="f", commits=4, series=[series]), Layout(0, False)))


@pytest.mark.parametrize("asked", ["old", "new"])
def test_a_renamed_function_is_followed_by_its_code(path: Path, asked: str) -> None:
    other = kernel("other/loop1", 1, code="something")
    add(path, "c1", kernel("old/loop1", 3, code="first"), other)
    add(path, "c2", kernel("old/loop1", 4), other)
    add(path, "c3", kernel("new/loop1", 4), other)
    add(path, "c4", kernel("new/loop1", 5, code="new code"), other)
    (series,) = log(path, asked)
    assert points(series, "kernel_id", "renamed", "cycles") == [
        ("c1", "old/loop1", False, 3),
        ("c2", "old/loop1", False, 4),
        ("c3", "new/loop1", True, 4),
        ("c4", "new/loop1", False, 5),
    ]


OTHER = BASE.units[0].kernels[1]


@pytest.mark.parametrize("asked", ["old", "new"])
@pytest.mark.parametrize("between", [False, True])
def test_a_function_that_is_renamed_and_changed_is_followed_as_comparisons_do(
    path: Path, asked: str, between: bool
) -> None:
    """`between`: a commit that has not built the source says nothing about it."""
    other = replace(OTHER, function="other", function_name="other", kernel_id="other/loop1", content_hash="c" * 16)
    add(path, "c1", kernel("old/loop1", 4), other)
    if between:
        add(path, "c2", kernel("else/loop1", 4, code="else"), source="b.c")
    add(path, "c3", kernel("new/loop1", 5, code="new code"), other)
    add(path, "c4", kernel("new/loop1", 6, code="newer code"), other)
    (series,) = log(path, asked)
    assert points(series, "kernel_id", "renamed", "code", "cycles") == [
        ("c1", "old/loop1", False, "", 4),
        ("c3", "new/loop1", True, "changed", 5),
        ("c4", "new/loop1", False, "changed", 6),
    ]


def test_what_is_gone_is_not_what_is_unlike_it(path: Path) -> None:
    unlike = replace(OTHER, function="new", function_name="new", kernel_id="new/loop1", content_hash="c" * 16)
    add(path, "c1", kernel("old/loop1", 4))
    add(path, "c2", replace(unlike, source=t.SourceLocation("a.c", 900)))
    (series,) = log(path, "old")
    assert points(series) == [("c1",)]


def test_what_was_there_before_is_not_what_one_became(path: Path) -> None:
    """However like it is to the one that is gone."""
    add(path, "c1", kernel("old/loop1", 4), kernel("twin/loop1", 4, code="first"))
    add(path, "c2", kernel("twin/loop1", 4, code="second"))
    (series,) = log(path, "old")
    assert points(series) == [("c1",)]


def test_another_kernel_with_the_same_code_is_not_what_one_became(path: Path) -> None:
    """It was there before, too."""
    add(path, "c1", kernel("old/loop1"), kernel("twin/loop1"))
    add(path, "c2", kernel("twin/loop1"))
    (series,) = log(path, "old")
    assert points(series) == [("c1",)]
    (series,) = log(path, "twin")
    assert points(series) == [("c1",), ("c2",)]


def test_a_loop_that_another_one_was_put_before_is_still_itself(path: Path) -> None:
    add(path, "c1", kernel("f/loop1", 4))
    add(path, "c2", kernel("f/loop1", 9, code="new code"), kernel("f/loop2", 4))
    found = {points(s)[0]: points(s, "kernel_id", "change") for s in log(path, "f")}
    assert found == {
        ("c1",): [("c1", "f/loop1", None), ("c2", "f/loop2", 0.0)],
        ("c2",): [("c2", "f/loop1", None)],
    }


def test_builds_beside_each_other_are_series_of_their_own(path: Path) -> None:
    for n, commit in enumerate(("c1", "c2", "c3")):
        add(path, commit, kernel("f/loop1", 4 + n))
        add(path, commit, kernel("f/loop1", 2 + n), flags="-O3")
        if n != 1:
            add(path, commit, kernel("f/loop1", 7 + n), compiler="clang")
    cycles = [[c for _, c in points(s, "cycles")] for s in log(path, "f")]
    assert sorted(cycles) == [[2, 3, 4], [4, 5, 6], [7, 9]]


def test_a_build_that_takes_anothers_place_goes_on_with_its_series(path: Path) -> None:
    add(path, "c1", kernel("f/loop1", 4))
    add(path, "c2", kernel("f/loop1", 2), flags="-O3")
    add(path, "c3", kernel("f/loop1", 4))
    (series,) = log(path, "f")
    assert points(series, "build_changed") == [("c1", False), ("c2", True), ("c3", True)]
    text = "\n".join(views.history(History(kernel="f", commits=3, series=[series]), Layout(0, False)))
    assert "with -O3" in text


# --- the best ---------------------------------------------------------------------------------------------------------


def test_the_best_build(path: Path) -> None:
    add(path, "c1", kernel("f/loop1", 8, 8, source=t.SourceLocation("a.c", 9)), flags="-O3")
    add(path, "c2", kernel("f/loop1", 8, 8, source=t.SourceLocation("a.c", 4)), flags="-O3")
    add(path, "c2", kernel("f/loop1", 3, 1), kernel("f/loop2", 5, 1, source=t.SourceLocation("a.c", 2)))
    add(path, "c2", kernel("f/loop1", 2, None), compiler="clang")
    with open_reading(str(path)) as database:
        found = best(database, "f", choice("f"))
    assert found.without_elements == 1
    assert [(k.function, k.number) for k in found.kernels] == [("f", 1), ("f", 2)]
    first = found.kernels[0].builds
    # Of equally fast ones the newest.
    assert [(b.cycles_per_element, b.commit, b.build.command[1]) for b in first] == [
        (1, "c2", "-O3"),
        (3, "c2", "-O2"),
    ]
    text = "\n".join(views.best(found, Layout(100, False)))
    assert "×3.00" in text
    assert "gcc 12.2.0 -O3" in text
    assert "1 kernel with an unknown number of elements" in text


# --- views ------------------------------------------------------------------------------------------------------------


def test_sparklines() -> None:
    assert views.sparkline([1, 2, None, 4.5]) == "▁▃ █"
    assert views.sparkline([1, 2, None, 4.5], views.ASCII_BARS) == "_- #"
    assert views.sparkline([4, 4, 4]) == "▁▁▁"
    assert views.sparkline([100, 101]) == "▁▂"
    assert views.sparkline([0, 0]) == "▁▁"
    assert views.sparkline([]) == ""


def test_unchanged_commits_are_counted(path: Path) -> None:
    for n in range(9):
        add(path, f"c{n}", kernel("f/loop1", 4 if n < 6 else 5, code="old code" if n < 6 else "new code"))
    (series,) = log(path, "f")
    lines = list(views.history(History(kernel="f", commits=9, series=[series]), Layout(80, False)))
    assert lines[1] == "▁▁▁▁▁▁███  4.00 to 5.00 cycles per element, 9 commits"
    assert [line.split()[0] for line in lines[3:]] == ["c0", "(5", "c6", "(1", "c8"]
    assert "+25\xa0%" in lines[5]


@pytest.mark.parametrize("width", [40, 80, 200])
def test_hostile_names_stay_in_their_cell(path: Path, width: int) -> None:
    add(path, "c1", kernel("f\n\x1b[2J\u202e/loop1"), source="s\r\x1b]0;x\x07.c")
    (series,) = log(path, "*")
    lines = list(views.history(History(kernel="*", commits=1, series=[series]), Layout(width, True)))
    with open_reading(str(path)) as database:
        lines += views.best(best(database, "", KernelFilter()), Layout(width, True))
    for line in lines:
        assert line.replace("\033[1m", "").replace("\033[0m", "").isprintable()


# --- the command ------------------------------------------------------------------------------------------------------


def run(*arguments: str) -> int:
    return main(list(arguments))


def test_json_for_programs(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(path, "c1", kernel("f/loop1"))
    for arguments in (["log", "f"], ["best"], ["list"]):
        assert run(*arguments, f"--db={path}", "--format=json") == 0
    decoder = json.JSONDecoder()
    text = capsys.readouterr().out
    documents = []
    while text.strip():
        document, end = decoder.raw_decode(text.lstrip())
        documents.append(document)
        text = text.lstrip()[end:]
    assert documents[0]["series"][0]["points"][0]["commit"] == "c1"
    assert documents[1]["kernels"][0]["builds"][0]["cycles_per_element"] == 4
    (commit,) = documents[2]
    assert commit == {
        "commit": "c1", "date": "", "branches": [], "baselines": [], "units": 1, "kernels": 1, "runs": 0,
    }  # fmt: skip


def test_export_csv(path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    add(path, "c1", replace(kernel("f/loop1"), name='a "b",\nc'), kernel("g/loop1", 9, None))
    out = tmp_path / "out.csv"
    assert run("export", "csv", f"--db={path}", "-o", str(out)) == 0
    found = list(csv.DictReader(out.open(newline="")))
    assert list(found[0]) == list(ROW_NAMES)
    assert [(r["name"], r["commit"], r["cycles"], r["elements"], r["is_loop"]) for r in found] == [
        ('a "b",\nc', "c1", "4.0", "1.0", "true"),
        (BASE.units[0].kernels[0].name, "c1", "9.0", "", "true"),
    ]
    assert json.loads(found[0]["command"]) == ["gcc", "-O2", "-c", "a.c"]
    assert run("export", "csv", f"--db={path}", "--where", "cycles > 5 and commit == 'c1'") == 0
    assert len(list(csv.reader(capsys.readouterr().out.splitlines()))) == 2
    # Spreadsheets take some texts for formulas, and terminals and editors follow control characters.
    add(path, "c2", replace(kernel("f/loop1"), name="=1+1\x1b[31m\u202e"))
    assert run("export", "csv", f"--db={path}", "--where", "commit == 'c2'") == 0
    (row,) = csv.DictReader(capsys.readouterr().out.splitlines())
    assert row["name"] == "'=1+1\\x1b[31m\\u202e"
    # A file that cannot be written whole is as it was before; nothing is left beside it.
    sqlite3.connect(path).execute("DROP TABLE kernels")
    before = out.read_bytes()
    assert run("export", "csv", f"--db={path}", "-o", str(out)) == 2
    assert out.read_bytes() == before
    assert sorted(p.name for p in tmp_path.glob("out*")) == ["out.csv"]


def test_export_parquet(path: Path, tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="no pyarrow")
    for n in range(3):
        add(path, f"c{n}", kernel("f/loop1", n + 1), kernel("g/loop1", 9, None))
    out = tmp_path / "out.parquet"
    assert run("export", "parquet", f"--db={path}", "-o", str(out), "--where=cycles != 2") == 0
    table = parquet.read_table(out)
    assert table.column_names == list(ROW_NAMES)
    assert table["cycles"].to_pylist() == [1, 9, 9, 3, 9]
    assert table["elements"].to_pylist() == [1, None, None, 1, None]
    assert table["is_loop"].to_pylist() == [True] * 5


def test_parquet_without_pyarrow(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    add(path, "c1", kernel("f/loop1"))
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert run("export", "parquet", f"--db={path}", "-o", str(tmp_path / "x")) == 2
    assert "Parquet needs pyarrow: pip install pyarrow" in capsys.readouterr().err
    assert not (tmp_path / "x").exists()


def test_prune_keeps_baselines(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for n in range(5):
        add(path, f"c{n}", kernel("f/loop1", n))
    run("baseline", "set", "main", f"--db={path}", "--commit=c1")
    capsys.readouterr()

    def left() -> list[str]:
        with open_reading(str(path)) as database:
            return [commit.name for commit in database.commits()]

    assert run("prune", f"--db={path}") == 2
    assert run("prune", f"--db={path}", "--keep=2", "--dry-run") == 0
    assert len(left()) == 5
    assert run("prune", f"--db={path}", "--keep=2") == 0
    assert left() == ["c1", "c3", "c4"]
    out = capsys.readouterr().out.splitlines()
    assert out[:4] == [
        "c0 would be removed",
        "c2 would be removed",
        "c1 is a baseline and stays",
        "2 commits with 2 units would be removed",
    ]
    assert out[4:7] == ["c0 removed", "c2 removed", "c1 is a baseline and stays"]
    with open_reading(str(path)) as database:
        assert database.row("SELECT count(*) FROM kernels")[0] == 3
        assert (
            database.row("SELECT count(*) FROM bodies b WHERE NOT EXISTS (SELECT 1 FROM kernels k WHERE k.id = b.id)")[
                0
            ]
            == 1
        )
    # Of two conditions both must hold.
    assert run("prune", f"--db={path}", "--keep=0", "--before=1999-01-01") == 0
    assert len(left()) == 3


def git(folder: Path, *arguments: str) -> str:
    names = ("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL")
    environment = {**dict.fromkeys(names, "x"), "GIT_COMMITTER_DATE": "2026-01-31T00:00:00Z", "HOME": str(folder)}
    environment["PATH"] = os.environ["PATH"]
    run = subprocess.run(
        ["git", *arguments], cwd=folder, env=environment, stdout=subprocess.PIPE, check=True, text=True
    )
    return run.stdout.strip()


def test_commits_are_what_git_calls_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "file").write_text("1")
    git(work, "init", "-q", "-b", "topic")
    git(work, "add", "file")
    git(work, "commit", "-q", "-m", "one")
    head = git(work, "rev-parse", "HEAD")
    report = tmp_path / "report.json"
    report.write_text(json_text(BASE))
    monkeypatch.chdir(work)
    assert run("add", str(report)) == 0
    git(work, "tag", "v1")
    assert run("add", str(report), "--commit=v1") == 0
    assert "1 unit already present" in capsys.readouterr().out
    (work / "file").write_text("2")
    assert run("add", str(report), "--commit=my-change") == 0
    assert capsys.readouterr().err == ""
    assert run("add", str(report)) == 0
    assert f"the reports are added to {head[:10]}" in capsys.readouterr().err
    assert run("list", "--format=json") == 0
    found = {c["commit"]: (c["date"], c["branches"]) for c in json.loads(capsys.readouterr().out)}
    assert found == {head: ("2026-01-31T00:00:00Z", ["topic"]), "my-change": ("", [])}
    assert run("baseline", "set", "base") == 0
    assert run("baseline", "get") == 0
    assert capsys.readouterr().out.splitlines()[-1] == head


def test_broken_reports_do_not_keep_others_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "a.db"
    folder = tmp_path / "reports"
    (folder / "sub").mkdir(parents=True)
    whole = json_text(BASE)
    wrong = msgspec.to_builtins(BASE)
    del wrong["units"][0]["kernels"][0]["cycles"]
    files = {
        "cut": whole[:-50],
        "empty": "",
        "list": "[1]",
        "other": '{"schema_version": "1.0", "rows": []}',
        "newer": whole.replace('"schema_version": "1.', '"schema_version": "2.', 1),
        "part": json.dumps(wrong),
        "deep": '{"units": [{"future": ' + "[" * 100_000,
        "number": whole.replace('"cycles": 4', '"cycles": NaN'),
        "scan": '{"input": "", "line": 0, "cpus": {}}',
        "text": json.dumps({**msgspec.to_builtins(BASE), "units": ["x"]}),
        "lines": f"{whole}\n{whole[:40]}\n",
        "sub/good": whole,
    }
    for name, text in files.items():
        (folder / f"{name}.json").write_text(text)
    assert run("add", f"--db={path}", "--commit=c", str(folder)) == 1
    found = capsys.readouterr()
    said = {line.split(": ")[1].removeprefix(f"{folder}/").removesuffix(":1"): line for line in found.err.splitlines()}
    assert set(said) == {*(f"{n}.json" for n in files if n not in ("lines", "sub/good")), "lines.json:2"}
    assert "missing required field cycles" in said["part.json"]
    assert "not an incc report" in said["other.json"]
    assert "report schema '2.0' is not supported" in said["newer.json"]
    assert "nested too deep" in said["deep.json"]
    assert "1 unit with" in found.out


@pytest.mark.parametrize("cut", [0, 1, 2])
def test_lines_behind_a_broken_one_are_added(tmp_path: Path, capsys: pytest.CaptureFixture[str], cut: int) -> None:
    """A build that was killed, or a full disk, leaves half a line."""
    lines = [json_text(BASE) for _ in range(3)]
    for number in range(3):
        lines[number] = lines[number].replace('"source": "', f'"source": "{number}', 1)
    lines[cut] = lines[cut][:500]
    (tmp_path / "reports.jsonl").write_text("\n".join(lines) + "\n")
    assert run("add", f"--db={tmp_path / 'a.db'}", "--commit=c", str(tmp_path)) == 1
    found = capsys.readouterr()
    assert [line.split(": ")[1] for line in found.err.splitlines()] == [f"{tmp_path}/reports.jsonl:{cut + 1}"]
    assert "2 units with" in found.out


def test_reports_behind_each_other_are_added_however_they_are_laid_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As comparisons read them; the same report again, laid out otherwise, is the same."""
    other = copy.deepcopy(BASE)
    other.units[0].source = "other.c"
    laid_out = "".join(json_text(report, indent=1) + "\n" for report in (BASE, other))
    (tmp_path / "a.json").write_text(laid_out)
    assert run("add", f"--db={tmp_path / 'a.db'}", "--commit=c", str(tmp_path / "a.json")) == 0
    assert "2 units with" in capsys.readouterr().out
    for options in ({"ensure_ascii": False}, {"separators": (",", ":")}, {"indent": 7}):
        (tmp_path / "b.json").write_text(json_text(BASE, **options))
        assert run("add", f"--db={tmp_path / 'a.db'}", "--commit=c", str(tmp_path / "b.json")) == 0
        assert "0 units with 0 kernels added; 1 unit already present" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["add", "--commit=", "x"], "--commit needs a value"),
        (["add", "--commit=a\nb", "x"], "is not a valid name"),
        (["add", "--commit=c", "--date=yesterday", "x"], "is not a date"),
        (["add", "--commit=c", "none.json"], "none.json: No such file"),
        (["add", "--commit=c", "."], "no reports"),
        (["add", "--commit=c", "a.db"], "the database is also a report to add"),
        (["baseline", "set", "a@b"], "must not contain @"),
        (["baseline", "set", "x", "--commit=none"], "no commit or baseline is called 'none': commit c1"),
        (["export", "csv", "--where=cycles >"], "--where: column 9"),
        (["export", "csv", "--where=cycles > +5%"], "needs a baseline to compare with"),
        (["export", "csv", "-o", "a.db"], "-o would overwrite a.db"),
        (["prune", "--before=x"], "is not a date"),
        (["prune"], "prune needs --keep=N"),
        (["show", "none"], "no commit or baseline is called 'none'"),
        (["list", "--db=none.db"], "none.db: there is no such database; incc-db add makes one"),
    ],
)
def test_mistakes(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: list[str],
    message: str,
) -> None:
    add(tmp_path / "a.db", "c1", kernel("f/loop1"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    if not any(a.startswith("--db") for a in arguments):
        arguments = [*arguments, "--db=a.db"]
    status = run(*arguments)
    assert status == (1 if "none.json" in message else 2)
    assert message in capsys.readouterr().err
