"""Runs of programs with probes in a database: adding them, the history of their loops, and comparisons with them."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_comparison_runs import loop, run

from incc.driver.commands import db, diff
from incc.driver.commands import report as report_command
from incc.report.runs import LoopRun, Part, RunReport
from properties import examples
from report_fixtures import make_report, triad_parts


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def ran(*loops: LoopRun, command: tuple[str, ...] = ("/build/prog", "-n", "5")) -> RunReport:
    return replace(run(*(replace(each, core="znver5") for each in loops)), command=command)


def write(report: RunReport, name: str = "run.json") -> str:
    Path(name).write_bytes(msgspec.json.encode(report))
    return name


def add(commit: str, report: RunReport) -> None:
    assert db.main(["add", f"--commit={commit}", f"--date=2026-01-0{commit[1:]}", write(report)]) == 0


def log(kernel: str) -> list[dict[str, Any]]:
    assert db.main(["log", kernel, "--json", "-o", "log.json"]) == 0
    runs: list[dict[str, Any]] = json.loads(Path("log.json").read_bytes())["runs"]
    return runs


def test_the_measured_cycles_of_a_loop_have_a_history(capsys: pytest.CaptureFixture[str]) -> None:
    slow = loop("f/loop1", 5, 4.0, share=0.5, unexplained=1.0, parts=(Part(kind="data", cycles=2.0, text=""),))
    add("c1", ran(loop("f/loop1", 5, 2.0, share=0.25)))
    add("c2", ran(slow, command=("/elsewhere/prog", "-n", "5")))
    add("c3", ran(loop("main/loop3", 5, 3.0)))
    add("c3", ran(loop("f/loop1", 5, 9.0), command=("prog", "-n", "6")))
    first, other = log("*/loop*")
    assert (first["command"], other["command"]) == (["prog", "-n", "6"], ["prog", "-n", "5"])
    assert [(p["commit"], p["cycles"], p["change"], p["renamed"]) for p in other["points"]] == [
        ("c1", 2.0, None, False),
        ("c2", 4.0, 1.0, False),
        ("c3", 3.0, -0.25, True),
    ]
    assert len(log("main")) == 1  # the name at the last commit
    capsys.readouterr()
    assert db.main(["log", "main"]) == 0
    text = capsys.readouterr().out
    assert "main/loop3 in a.c, znver5, measured in prog -n 5" in text
    assert "data beyond L1 +2.00" in text
    assert "×2.00" in text
    assert db.main(["log", "other"]) == 1


def test_a_run_replaces_that_of_its_command_in_a_commit(capsys: pytest.CaptureFixture[str]) -> None:
    add("c1", ran(loop("f/loop1", 5, 2.0)))
    add("c1", ran(loop("f/loop1", 5, 2.0)))
    assert "1 run already present" in capsys.readouterr().out
    add("c1", ran(loop("f/loop1", 5, 3.0)))
    (series,) = log("f")
    assert [point["cycles"] for point in series["points"]] == [3.0]
    assert db.main(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out.partition("\n")[2])[0]["runs"] == 1
    assert db.main(["show"]) == 0
    assert "run of prog -n 5, znver5, 1 loop" in capsys.readouterr().out


def test_runs_are_merged_exported_and_pruned() -> None:
    add("c1", ran(loop("f/loop1", 5, 2.0)))
    Path("incc.db").rename("other.db")
    add("c2", ran(loop("f/loop1", 5, 3.0)))
    for _ in range(2):
        assert db.main(["merge", "other.db"]) == 0
    (series,) = log("f")
    assert [point["cycles"] for point in series["points"]] == [2.0, 3.0]
    assert db.main(["export", "--format=json", "-o", "all.jsonl"]) == 0
    assert db.main(["--db=again.db", "add", "--commit=c9", "all.jsonl"]) == 0
    assert db.main(["prune", "--keep=1"]) == 0
    (series,) = log("f")
    assert [point["cycles"] for point in series["points"]] == [3.0]


def test_conditions_on_measured_columns_choose_rows(capsys: pytest.CaptureFixture[str]) -> None:
    report = make_report(triad_parts())
    (unit,) = report.units
    (kernel,) = unit.kernels
    Path("report.json").write_bytes(msgspec.json.encode(report))
    assert db.main(["add", "--commit=c1", "report.json"]) == 0
    add("c1", ran(loop(kernel.kernel_id, 5, 7.0, unit=unit.source, share=0.25)))
    capsys.readouterr()
    for condition, expected in (("run_cycles > 2*cycles", 1), ("run_share > 0.3", 0)):
        assert db.main(["export", "--where", condition]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert [row["run_cycles"] for row in rows] == ["7.0"] * expected


def test_a_run_is_compared_with_that_of_its_command_in_a_database(capsys: pytest.CaptureFixture[str]) -> None:
    add("c1", ran(loop("f/loop1", 5, 2.0)))
    add("c1", ran(loop("f/loop1", 5, 9.0), command=("prog", "-n", "6")))
    new = write(ran(loop("f/loop1", 5, 3.0)))
    for arguments in (["incc.db@c1", new], ["incc.db", new], ["--baseline=incc.db@c1", new]):
        capsys.readouterr()
        assert diff.main(arguments) == 0
        assert "2.00 → 3.00" in capsys.readouterr().out
    assert diff.main([new, "incc.db@c1"]) == 0
    assert "3.00 → 2.00" in capsys.readouterr().out
    other = write(ran(loop("f/loop1", 5), command=("else",)), "other.json")
    assert diff.main(["incc.db", other]) == 2
    assert "commit c1 has no run of else; it has prog -n 5, prog -n 6" in capsys.readouterr().err


def test_damaged_reports_of_runs_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    Path("bad.json").write_text('{"schema": "incc-run", "version": 9}')
    assert db.main(["add", "--commit=c1", "bad.json"]) == 1
    assert "bad.json: not a report of this version of incc-run" in capsys.readouterr().err
    assert not Path("incc.db").exists()
    good = write(ran(loop("f/loop1", 5)))
    for field, value in (("entries", 0), ("cycles", 1e300), ("iterations", -1e300)):
        bad = write(ran(loop("f/loop1", 5, **{field: value})), "bad.json")
        assert diff.main([good, bad, "--json"]) == 2
        assert f"$.loops[0].{field}" in capsys.readouterr().err


VALUES = (0, -1, 1, 1e300, -1e300, 1e30, 5e-324, None, "", "\x1b[31m\n", True, [], {}, 1 << 63)


@examples(60)
@given(st.data())
def test_any_values_in_reports_of_runs_are_read_or_refused(tmp_path_factory: Any, data: st.DataObject) -> None:
    folder = tmp_path_factory.getbasetemp()
    parts = (Part(kind="data", cycles=2.0, text="x"),)
    report = ran(loop("f/loop1", 5, 3.0, share=0.5, elements=2.0, parts=parts), loop("g/loop1", 7))
    document = msgspec.to_builtins(report)
    for _ in range(data.draw(st.integers(1, 4))):
        holder = data.draw(st.sampled_from([document, *document["loops"], document["loops"][0]["parts"][0]]))
        holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(st.sampled_from(VALUES))
        if not isinstance(document["loops"], list) or len(document["loops"]) < 2:
            break
        if not document["loops"][0].get("parts"):
            break
    changed, whole = str(folder / "changed.json"), write(report, str(folder / "whole.json"))
    Path(changed).write_bytes(msgspec.json.encode(document))
    path = folder / "runs.db"
    path.unlink(missing_ok=True)
    out = str(folder / "out")
    for run_command in (
        lambda: diff.main([changed, whole, "--json", "-o", out, f"--html={folder}/page.html"]),
        lambda: diff.main([whole, changed, "-o", out]),
        lambda: report_command.main(["--probes", changed, "-o", out, f"--html={folder}/page.html"]),
        lambda: report_command.main(["--probes", changed, "--json", "-o", out]),
        lambda: db.main([f"--db={path}", "add", "--commit=c1", whole]),
        lambda: db.main([f"--db={path}", "add", "--commit=c2", changed]),
        lambda: db.main([f"--db={path}", "log", "*", "-o", out]),
        lambda: db.main([f"--db={path}", "export", "-o", out]),
    ):
        assert run_command() in (0, 1, 2)
        if Path(out).exists():
            assert "\x1b" not in Path(out).read_text()
            Path(out).unlink()
