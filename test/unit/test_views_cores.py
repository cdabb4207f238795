"""One code on several cores: the table that compares them, and what commands make of a list of cores."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from msgspec.structs import replace

from incc.driver.commands import mca
from incc.driver.cores import cores_of
from incc.driver.pipeline import analyze_for_cores
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.support.errors import AnalysisError
from incc.views.layout import Layout
from incc.views.text import TextParts, render
from incc.views.text.cores import groups, lines
from settings_fixtures import settings_with

CODE = """
dot:
.L1:
    vmovups (%rdi,%rax), %ymm1
    vmulps (%rsi,%rax), %ymm1, %ymm1
    vaddps %ymm1, %ymm0, %ymm0
    addq $32, %rax
    cmpq %rax, %rdx
    jne .L1
    ret
"""
NAMES = "skylake,znver4,icelake-server,bonnell"


def report_of(names: str, *codes: str) -> Any:
    settings = settings_with(regions="loops", what_ifs=False, timeline_iterations=0)
    return analyze_for_cores(
        [(Unit(assembly=code, assembly_file=f"{n}.s"), cores_of(settings.on(names))) for n, code in enumerate(codes)]
    )


@pytest.fixture(scope="module")
def report() -> Any:
    return report_of(NAMES, CODE)


@pytest.mark.parametrize("width", [80, 100, 200, 0])
def test_a_row_for_each_core(report: Any, width: int) -> None:
    text = list(lines(report.units, Layout(width, False)))
    assert width == 0 or max(map(len, text)) <= width
    assert not any("…" in line for line in text)
    (head,) = (line for line in text if "Core" in line and "Cycles" in line)
    for title in ("IPC", "Ports", "Chain", "Bound by", *(["µops", "Retire"] if width in (0, 200) else [])):
        assert title in head
    rows = {name: next(line for line in text if name in line.split()[:2]) for name in NAMES.split(",")}
    for unit in report.units:
        (kernel,) = unit.kernels
        row = rows[unit.model.name]
        if not kernel.unknown_instructions:
            assert f"{kernel.summary.ipc:.2f}" in row.split()
            assert f"{kernel.bounds.loop_carried.cycles:.2f}" in row.split()
    # The oldest core cannot execute half of it.
    assert "3 lacking" in rows["bonnell"]
    complete = {u.model.name: u.kernels[0].cycles for u in report.units if u.model.name != "bonnell"}
    best = min(complete.values())
    for name, cycles in complete.items():
        assert rows[name].startswith("*") == (cycles == best)
    assert len(set(complete.values())) > 1
    assert not rows["bonnell"].startswith("*")


def renamed(unit: t.UnitReport, core: str) -> t.UnitReport:
    """A copy of a unit for a core that is called so."""
    return replace(copy.deepcopy(unit), model=replace(unit.model, name=core))


def test_the_best_is_marked_unless_all_are_alike(report: t.AnalysisReport) -> None:
    one = report.units[0]
    other = renamed(one, "other")
    assert not any(line.startswith("*") for line in lines([one, other], Layout(80, False)))
    third = renamed(one, "third")
    third.kernels[0].cycles += 1
    marked = [line.split()[1] for line in lines([third, one, other], Layout(80, False)) if line.startswith("* ")]
    assert marked == [one.model.name, "other"]


def test_a_kernel_that_a_core_lacks_has_an_empty_row(report: t.AnalysisReport) -> None:
    one, other = report.units[0], replace(report.units[1], kernels=[])
    text = list(lines([one, other], Layout(80, False)))
    assert any(line.split() == [other.model.name] for line in text)
    assert list(lines([replace(one, kernels=[]), other], Layout(80, False))) == ["0.s on 2 cores:"]


def test_units_of_one_code_stand_together() -> None:
    found = report_of("skylake,znver4", CODE, CODE.replace("dot", "tod"))
    assert [[unit.assembly_file for unit in group] for group in groups(found.units)] == [["0.s"] * 2, ["1.s"] * 2]
    text = render(found, 80, show=TextParts(views=(), overview=2))
    assert text.count(" on 2 cores:") == 2
    # What each core's report begins with comes behind the table; one kernel needs no overview.
    order = ["0.s on 2 cores:", "0.s: incc", "1.s on 2 cores:", "1.s: incc"]
    assert sorted(order, key=text.index) == order
    assert "Worth a look" not in text
    assert "cores:" not in render(report_of("skylake,znver4", "ret\n"), 80)
    alone = render(report_of("skylake", CODE), 80)
    assert "cores:" not in alone


def test_each_core_once() -> None:
    settings = settings_with(mcpu="skylake,SKL,znver4,kabylake")
    assert [one.core.mcpu for one in cores_of(settings)] == ["skylake", "znver4"]


def test_unknown_names_are_all_told() -> None:
    with pytest.raises(AnalysisError, match=r"'nothing'.*; .*'neither'"):
        cores_of(settings_with(mcpu="skylake,nothing,neither"))


def run(capfd: Any, *arguments: str) -> tuple[int, str, str]:
    status = mca.main(list(arguments))
    out, err = capfd.readouterr()
    return status, out, err


@pytest.fixture
def file(tmp_path: Any) -> str:
    path = tmp_path / "a.s"
    path.write_text(CODE)
    return str(path)


def test_the_command(file: str, capfd: Any) -> None:
    status, out, err = run(capfd, "-mcpu=skylake,znver4", "-auto", "-views=none", file)
    assert (status, err) == (0, "")
    assert out.index("on 2 cores") < out.index("for Intel Skylake") < out.index("for AMD Zen 4")
    status, out, _ = run(capfd, "-mcpu=skylake,znver4", "-auto", "-json", file)
    assert [unit["model"]["name"] for unit in json.loads(out)["units"]] == ["skylake", "znver4"]


def test_a_core_of_another_instruction_set_is_named(file: str, capfd: Any) -> None:
    status, out, err = run(capfd, "-mcpu=skylake,neoverse-n1", "-auto", file)
    assert (status, out) == (1, "")
    assert err == f"incc-mca: error: {file}: x86 assembly, but the machine model is of an aarch64 core\n"


def test_what_is_wrong_with_the_code_is_said_once(tmp_path: Any, capfd: Any) -> None:
    path = tmp_path / "b.s"
    path.write_text(CODE.replace("addq $32", "addqqq $32"))
    status, _, err = run(capfd, "-mcpu=skylake,znver4", "-auto", "-views=none", str(path))
    assert status == 1
    assert err.count("error: no such instruction: `addqqq") == 1
