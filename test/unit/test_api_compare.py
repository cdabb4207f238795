"""`incc.compare`: what is documented for Python users; what comparisons find is tested elsewhere."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest
from test_api import TRIAD

import incc
from incc.comparison import build
from incc.comparison import types as c
from struct_fixtures import filled


@pytest.fixture(scope="module")
def report() -> incc.Report:
    return incc.analyze(TRIAD, name="triad.s", mcpu="skylake")


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """What was asked of a stand-in for the comparison."""
    found: list[Any] = []

    def compare(sides: Any, wanted: Any) -> Any:
        found.append((sides, wanted))
        row = {"name": "triad", "members": [None, None], "changes": [None, None]}
        gate = {"condition": wanted.fail_if.text, "offenders": [{"row": 0}]} if wanted.fail_if else None
        sides_ = [side.info for side in sides]
        return filled(c.ComparisonReport, {"sides": sides_, "totals": [None, None], "rows": [row], "gate": gate})

    monkeypatch.setattr(build, "compare", compare)
    return found


def test_sources_of_all_kinds(tmp_path: pathlib.Path, report: incc.Report, asked: list[Any]) -> None:
    (tmp_path / "new.json").write_text(report.to_json())
    (tmp_path / "triad.s").write_text(TRIAD)
    found = incc.compare(tmp_path / "new.json", report, report.to_dict(), str(tmp_path / "triad.s"), mcpu="skylake")
    ((sides, wanted),) = asked
    assert wanted == build.ComparisonSettings()
    assert [side.info.label for side in sides] == ["new", "B", "C", "triad"]
    first = [entry.kernel.content_hash for entry in sides[0].entries]
    assert len(first) == 2
    assert all([entry.kernel.content_hash for entry in side.entries] == first for side in sides)
    assert all(side.entries[0].instructions() == sides[0].entries[0].instructions() for side in sides[1:3])
    assert repr(found) == "<incc.Comparison of new, B, C, triad: 1 rows>"
    assert len(found) == 1
    assert [row.name for row in found] == ["triad"]


def test_it_cannot_be_changed(report: incc.Report, asked: list[Any]) -> None:
    found = incc.compare(report, report)
    with pytest.raises(AttributeError):
        found._found = {}  # type: ignore[misc, assignment]
    found.to_dict()["rows"].clear()
    found.rows[0].members.clear()
    assert [(row.name, row.members) for row in found.rows] == [("triad", [None, None])]
    assert '"name": "triad"' in found.to_json()


def test_arguments(report: incc.Report, asked: list[Any]) -> None:
    found = incc.compare(
        report,
        report,
        labels=["before", "after"],
        functions=["tri*"],
        where="cycles_b > cycles_a",
        fail_if="cycles > +5%",
        assembly=True,
    )
    sides, wanted = asked.pop()
    assert [side.info.label for side in sides] == ["before", "after"]
    assert [entry.kernel.function for side in sides for entry in side.entries] == ["triad", "triad"]
    assert (wanted.where.text, wanted.fail_if.text, wanted.assembly) == ("cycles_b > cycles_a", "cycles > +5%", True)
    assert found.offenders == (filled(c.FailingKernel, {"row": 0}),)
    assert incc.compare(report, report).offenders == ()
    found.where("flop > 0")
    _, wanted = asked.pop()
    assert (wanted.where.text, wanted.fail_if, wanted.assembly) == ("flop > 0", None, True)


def test_arguments_that_are_no_good(tmp_path: pathlib.Path, report: incc.Report) -> None:
    for arguments, said in (
        ({"labels": ["one"]}, "1 labels for 2 sources"),
        ({"labels": "ab"}, "a list of strings"),
        ({"functions": "f"}, "a list of strings"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"where": "cycles >"}, "column"),
        ({"fail_if": "nonsense > 1"}, "nonsense"),
        ({"mcpu": "skylake,znver4"}, "several cores apply only to code"),
    ):
        with pytest.raises(ValueError, match=said):
            incc.compare(report, report, **arguments)  # type: ignore[arg-type]
    for sources in ((), (report,)):
        with pytest.raises(ValueError, match="two sources"):
            incc.compare(*sources)
    with pytest.raises(ValueError, match="not a report that JSON can represent"):
        incc.compare(report, {"units": {1}})
    for source, said in (
        ({}, "not an incc report"),
        ({"schema_version": "2.0", "units": []}, "report schema '2.0' is not supported"),
        (tmp_path / "missing.json", "no such file or directory"),
    ):
        with pytest.raises(incc.AnalysisError, match=said):
            incc.compare(report, source)
