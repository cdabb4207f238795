"""--where and --top: which kernels of a report are delivered."""

from __future__ import annotations

import json
import pathlib
import subprocess

import msgspec
import pytest
from msgspec.structs import replace

from incc.driver.commands import mca
from incc.driver.commands import report as ranking
from incc.driver.selection import order_of_worth, selected
from incc.report import types as t
from incc.report.where import parse

LOOPS = {
    "sum": "vaddsd (%rdi), %xmm0, %xmm0",
    "copy": "movq (%rdi), %rax\n movq %rax, (%rsi)",
    "chain": "imulq %rdx, %rdx",
}
TEXT = "".join(
    f" .type {name}, @function\n{name}:\n.L{name}:\n {code}\n addq $8, %rdi\n decq %rcx\n jne .L{name}\n ret\n"
    for name, code in LOOPS.items()
)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("selection") / "loops.s"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def report(file: pathlib.Path) -> t.AnalysisReport:
    out = file.with_suffix(".json")
    assert mca.main(["--auto", "--mcpu=skylake,znver4", "--json", "-o", str(out), str(file)]) == 0
    return msgspec.json.decode(out.read_bytes(), type=t.AnalysisReport)


def names(report: t.AnalysisReport) -> list[list[str]]:
    return [[kernel.function for kernel in unit.kernels] for unit in report.units]


def test_without_a_selection_the_report_is_the_same(report: t.AnalysisReport) -> None:
    assert selected(report, None, 0) is report
    assert names(report) == [list(LOOPS)] * 2


def test_a_kernel_is_kept_on_all_cores_if_it_meets_the_condition_on_one(report: t.AnalysisReport) -> None:
    # The sum takes 4 cycles on Skylake, 3 on Zen 4.
    assert names(selected(report, parse("cycles > 3.5"), 0)) == [["sum"]] * 2
    assert names(selected(report, parse("cycles > 100"), 0)) == [[]] * 2


@pytest.mark.parametrize("top", [1, 2, 3, 100])
def test_those_with_the_most_to_gain_stay_in_their_order(report: t.AnalysisReport, top: int) -> None:
    (first, second) = names(selected(report, None, top))
    assert first == second
    assert first == [name for name in LOOPS if name in first]
    assert len(first) == min(top, 3)
    worth = {name: min(order_of_worth(u.kernels[n], u) for u in report.units) for n, name in enumerate(LOOPS)}
    assert {worth[name] for name in first} == set(sorted(worth.values())[:top])


def test_top_keeps_the_first_rows_of_incc_report(
    report: t.AnalysisReport, tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]
) -> None:
    one_core = replace(report, units=report.units[:1])
    (tmp_path / "one.json").write_bytes(msgspec.json.encode(one_core))
    assert ranking.main(["--json", str(tmp_path / "one.json")]) == 0
    rows = [row["name"] for row in json.loads(capfd.readouterr().out)["rows"]]
    assert len(rows) == 3
    for top in range(1, 4):
        assert sorted(names(selected(one_core, None, top))[0]) == sorted(rows[:top])


def test_incc_mca_says_if_nothing_meets_the_condition(file: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert mca.main(["--auto", "--mcpu=skylake", "--where", "cycles > 100", str(file)]) == 0
    assert capfd.readouterr().err == "incc-mca: note: no kernel meets the condition cycles > 100\n"


@pytest.mark.parametrize("mode", ["lean", "full"])
def test_the_wrapper_in_both_modes(mode: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.c").write_text(
        "double f(double *a, int n) { double s = 0; for (int i = 0; i < n; i++) s += a[i]; return s; }\n"
        "void g(double *a, int n) { for (int i = 0; i < n; i++) a[i] *= 2; }\n"
    )
    for option, functions in (("--analyze-top=1", {"g"}), ("--analyze-where=cycles < 3", {"g"})):
        report = tmp_path / "report.json"
        report.unlink(missing_ok=True)
        done = subprocess.run(
            ["incc", "-O2", "-march=skylake", f"--analyze-mode={mode}", f"--analyze-o={report}", "--analyze-json",
             option, "-c", "x.c"],
            cwd=tmp_path, capture_output=True, text=True,
        )  # fmt: skip
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
        kernels = json.loads(report.read_text())["units"][0]["kernels"]
        assert {kernel["function"] for kernel in kernels} == functions
