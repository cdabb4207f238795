"""Comparisons of loops whose data come from beyond L1, and options on data in other commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from test_levels import TRIAD, loop

import incc
from incc.driver import UsageError
from incc.driver.builds.project import project_of
from incc.driver.cli import kinds
from incc.driver.cli.parsers import Parser
from incc.driver.commands import build, db, diff
from incc.driver.commands import report as ranked
from incc.views.exchange import sarif
from incc.views.exchange.diagnostics import headline
from settings_fixtures import settings_with

TRIAD = f".globl triad\n.type triad, @function\ntriad:{TRIAD}ret\n"
SCALAR = TRIAD.replace("pd", "sd").replace("ymm", "xmm").replace("$32", "$8").replace("vmovusd", "vmovsd")
"""The same loop with one element per iteration."""


def compared(*codes: str, core: str = "haswell", data: str = "L2", **more: object) -> incc.Comparison:
    """Compare pieces of assembly."""
    reports = [incc.analyze(code, mcpu=core, data=data) for code in codes]
    return incc.compare(*reports, data=data, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("data", ["L2", "memory", "1G"])
def test_kernels_are_compared_at_the_level_of_the_data(data: str) -> None:
    comparison = compared(SCALAR, TRIAD, data=data)
    (row,) = comparison.rows
    name = data if data != "1G" else "memory"
    expected = [
        incc.analyze(code, mcpu="haswell", data=data).kernels[0].levels[name] / elements
        for code, elements in ((SCALAR, 1), (TRIAD, 4))
    ]
    change = row.changes[1]
    assert change is not None
    assert [change.cycles_a, change.cycles_b] == [pytest.approx(each, rel=1e-4) for each in expected]
    assert all(f"Predictions for data {'of' if data == '1G' else 'in'}" in side.notes[0] for side in comparison.sides)


def test_the_slower_loop_is_limited_by_its_transfers() -> None:
    (row,) = compared(SCALAR, TRIAD).rows
    (back,) = compared(TRIAD, SCALAR).rows
    first, second = row.changes[1], back.changes[1]
    assert first is not None
    assert second is not None
    assert [cause.kind for cause in first.causes] == ["transfers"] == [cause.kind for cause in second.causes]
    assert first.causes[0].cycles == pytest.approx(first.cycles_b - first.cycles_a)
    assert second.causes[0].cycles == -first.causes[0].cycles
    assert row.members[0].limit == "transfers from L2"


def test_a_kernel_compared_with_itself_is_the_same() -> None:
    (row,) = compared(TRIAD, TRIAD).rows
    assert row.changes[1] is not None
    assert row.changes[1].outcome in ("same", "moved")


def test_the_same_loop_on_more_cores_is_slower_from_memory_because_of_them() -> None:
    alone, together = (incc.analyze(TRIAD, mcpu="haswell", data="memory", cores=cores) for cores in (1, 20))
    for reports, outcome, text in (
        ((alone, together), "slower", "1 → 20 cores at once"),
        ((together, alone), "faster", "20 → 1 cores at once"),
        ((alone, alone), "same", ""),
    ):
        (row,) = incc.compare(*reports, data="memory").rows
        change = row.changes[1]
        assert change is not None
        assert change.outcome == outcome
        assert [cause.text.partition(":")[0] for cause in change.causes] == ([text] if text else [])
        assert [cause.kind for cause in change.causes] == (["transfers"] if text else [])
    # In L1 they do not share anything.
    (row,) = incc.compare(alone, together).rows
    assert row.changes[1] is not None
    assert row.changes[1].outcome == "same"


def test_the_same_loop_with_rows_at_a_known_distance_moves_other_lines() -> None:
    text = loop("vmovsd (%rdi,%rax), %xmm0", "vaddsd (%rsi,%rax), %xmm0, %xmm0", "addq $8, %rax")
    apart = incc.analyze(text, mcpu="haswell", data="memory")
    near = incc.analyze(text, mcpu="haswell", data="memory", let={"rdi": 8000, "rsi": 0})
    (row,) = incc.compare(apart, near, data="memory").rows
    change = row.changes[1]
    assert change is not None
    assert (change.outcome, change.cycles_b) == ("faster", near.kernels[0].levels["memory"])
    assert [cause.text.partition(":")[0] for cause in change.causes] == ["cache lines to and from memory 0.25 → 0.125"]


def test_reports_without_levels_count_as_in_l1_at_least() -> None:
    reports = [incc.analyze(TRIAD, mcpu="haswell"), incc.analyze(TRIAD, mcpu="haswell", data="L2")]
    comparison = incc.compare(*reports, data="memory")
    assert comparison.sides[0].notes == ["Predictions for data in memory, which 1 of 1 kernels lack."]
    (row,) = comparison.rows
    assert row.members[0].figures.at_least
    assert row.members[0].figures.cycles == reports[0].kernels[0].cycles
    assert not row.members[1].figures.at_least
    assert row.changes[1] is not None
    assert row.changes[1].outcome == "unknown"
    assert "≥" in comparison.text()


@pytest.mark.parametrize("data", ["all", "L1,L2"])
def test_several_levels_cannot_be_compared(data: str) -> None:
    with pytest.raises(ValueError, match="one level or size"):
        compared(TRIAD, TRIAD, data=data)
    assert diff.main(["a.s", "b.s", f"--data={data}"]) == 2


def test_incc_build_hands_its_options_on_data_to_the_wrapper() -> None:
    options = Parser(build.COMMAND).parse_args(["--data=L2,64M", "--cores=4", "--let=rsi=-8", "--", "make"])
    environment = {"INCC_OPTIONS": "--analyze-ghz=2"}
    build._set_options(environment, options)
    assert environment["INCC_OPTIONS"] == (
        "--analyze-data=L2,67108864 --analyze-cores=4 --analyze-let=rsi=-8 --analyze-ghz=2"
    )
    with pytest.raises((UsageError, SystemExit)):
        Parser(build.COMMAND).parse_args(["--data=L9", "--", "make"])


@pytest.mark.parametrize("value", ["0", "0M", "-1", "L2,0", "1e999", "99999999T"])
def test_data_of_no_bytes_or_of_an_unknown_size_are_refused(value: str) -> None:
    with pytest.raises(UsageError, match="--data takes L1, L2, L3, memory, all or sizes such as 4M"):
        kinds.ONE["data"]("--data", value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0x7fffffffffffffff", 2**63 - 1),
        ("0xfffffffffffffff8", -8),
        ("18446744073709551608", -8),
        ("-0x7fffffffffffffff", 1 - 2**63),
        ("0x10000000000000000", None),
        ("-0x8000000000000001", None),
    ],
)
def test_a_register_holds_64_bits_with_or_without_a_sign(text: str, value: int | None) -> None:
    if value is None:
        with pytest.raises(UsageError, match="--let takes a register or variable and its value"):
            kinds.MANY["let"]("--let", f"RSI={text}")
    else:
        assert kinds.MANY["let"]("--let", f"RSI={text}") == ("RSI", value)


@pytest.mark.parametrize("number", ["1001", "1000000", "9" * 15, "9" * 5000])
def test_more_cores_than_fit_are_refused_with_one_limit(number: str) -> None:
    with pytest.raises(UsageError, match=r"^--cores is at most 1000$"):
        kinds.ONE["thousand"]("--cores", number)


def test_a_project_sets_the_levels_unless_the_command_does(tmp_path: Path) -> None:
    (tmp_path / "incc.toml").write_text('[analyze]\ndata = ["L2", "1M"]\n')
    project = project_of(str(tmp_path / "x.c"))
    problems: list[str] = []
    assert [s.kernel.data for s in project.applied(settings_with(mcpu="haswell"), problems)] == [("L2", 1 << 20)]
    named = settings_with(mcpu="haswell", data=("memory",))
    assert [s.kernel.data for s in project.applied(named, problems)] == [("memory",)]
    assert not problems


def test_a_project_with_an_unknown_level_names_it(tmp_path: Path) -> None:
    (tmp_path / "incc.toml").write_text('[analyze]\ndata = ["L7"]\n')
    problems: list[str] = []
    (settings,) = project_of(str(tmp_path / "x.c")).applied(settings_with(mcpu="haswell"), problems)
    assert settings.kernel.data == ()
    assert len(problems) == 1
    assert "incc.toml: [analyze] data takes L1, L2, L3, memory, all or sizes such as 4M, not 'L7'" in problems[0]


# --- levels where other cycles are ------------------------------------------------------------------------------------


def test_levels_are_names_of_conditions_and_columns_of_rows() -> None:
    report = incc.analyze(TRIAD, mcpu="haswell", data="L2")
    (kernel,) = report.kernels
    row = kernel.row()
    assert [row[f"cycles_{name}"] for name in ("l2", "l3", "memory")] == list(kernel.levels.values())[1:]
    assert report.where("cycles_memory > cycles_l3 and cycles_l3 > cycles") == (kernel,)
    without = incc.analyze(TRIAD, mcpu="haswell")
    assert without.kernels[0].row()["cycles_l2"] is None
    assert without.where("cycles_l2 > 0 or cycles_l2 <= 0") == ()


def test_a_database_keeps_the_levels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = incc.analyze(TRIAD, mcpu="haswell", data="memory")
    (tmp_path / "r.json").write_text(report.to_json())
    assert db.main(["add", f"--db={tmp_path}/x.db", "--commit=c1", str(tmp_path / "r.json")]) == 0
    capsys.readouterr()
    assert db.main(["export", f"--db={tmp_path}/x.db", "--format=csv"]) == 0
    titles, values = (line.split(",") for line in capsys.readouterr().out.splitlines())
    assert float(values[titles.index("cycles_memory")]) == report.kernels[0].levels["memory"]


def test_rankings_remarks_and_sarif_have_the_requested_levels(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    report = incc.analyze(TRIAD, mcpu="haswell", data="L3")
    cycles = report.kernels[0].levels["L3"]
    (tmp_path / "r.json").write_text(report.to_json())
    for form in ("text", "markdown"):
        assert ranked.main([str(tmp_path / "r.json"), f"--format={form}"]) == 0
        (heading, line) = [
            line for line in capsys.readouterr().out.splitlines() if "Bound by" in line or "triad" in line
        ][:2]
        assert "L3" in heading
        assert "memory" not in heading
        assert f"{cycles:.2f}" in line
    (unit,) = report._document.units
    assert f"({cycles:.2f} from L3)" in headline(unit, unit.kernels[0])
    (result, *_) = json.loads(sarif.render(report._document))["runs"][0]["results"]
    assert result["properties"]["levels"]["L3"] == cycles
