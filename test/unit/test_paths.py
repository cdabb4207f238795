"""Tables of the ways through a loop, and control-flow graphs in Graphviz's language."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from test_report_schema import VALIDATOR

from incc.driver.commands import mca
from incc.driver.pipeline import analyze_units, choose_model, decode_unit, find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.asm.regions import loop_paths
from incc.frontends.unit import Unit
from incc.models.binding.bind import bind
from incc.report import types as t
from incc.views.json import render as render_json
from incc.views.layout import Layout
from incc.views.text.ways import lines as render
from settings_fixtures import settings_with

# Three ways: around the division, around the store behind it, or through both.
LOOP = """\
f:
.L1:
\tmovq (%rdi), %rax
\ttestq %rax, %rax
\tjs .L2
\tdivsd %xmm1, %xmm0
\tjp .L2
\tmovsd %xmm0, (%rdi)
.L2:
\taddq $8, %rdi
\tcmpq %rsi, %rdi
\tjne .L1
\tret
"""


def unit_of(text: str, **chosen: Any) -> t.UnitReport:
    """The report on a unit, which must be valid."""
    settings = settings_with(mcpu="skylake", regions="loops", timeline_iterations=0, **chosen)
    report = analyze_units([Unit(assembly=text, assembly_file="x.s")], settings)
    VALIDATOR.validate(json.loads(render_json(report)))
    (unit,) = report.units
    return unit


def table(unit: t.UnitReport) -> str:
    return "\n".join(render(unit, Layout(120, False)))


def test_each_way_is_a_kernel_of_its_own() -> None:
    unit = unit_of(LOOP, ways=("paths",))
    (loop,) = unit.ways
    assert loop.complete
    assert loop.simulated
    assert [way.instructions for way in loop.ways] == [9, 8, 6]
    through, around_store, around_both = loop.ways
    # The division is a chain through xmm0 on the ways that have it.
    assert through.loop_carried == around_store.loop_carried == t.Ratio(13.0, "13")
    assert around_both.loop_carried.cycles == 1
    assert around_both.branches == [t.Branch(line=5, taken=True)]
    assert around_both.lines_skipped == [6, 7, 8]
    assert all(way.cycles.cycles >= way.loop_carried.cycles for way in loop.ways)
    assert [way.share for way in loop.ways] == [0.25, 0.25, 0.5]
    average = sum(way.cycles.cycles * way.share for way in loop.ways)
    assert loop.weighted_cycles == pytest.approx(average, abs=1e-5)
    text = table(unit)
    assert "5 taken; skips lines 6-8" in text
    assert f"Average by share: {average:.2f} cycles" in text


def test_certain_sides() -> None:
    unit = unit_of(LOOP, ways=("branch",), branch_probability=0.0)
    (loop,) = unit.ways
    assert [way.share for way in loop.ways] == [0, 1]
    assert loop.weighted_cycles == pytest.approx(loop.ways[1].cycles.cycles, abs=1e-5)
    assert table(unit).startswith("\nBoth directions of the first branch through the loop at .L1 (x.s:3-12)\n")


def test_both_tables() -> None:
    assert [loop.kind for loop in unit_of(LOOP, ways=("branch", "paths")).ways] == ["branch", "paths"]


def test_bounds_alone() -> None:
    unit = unit_of(LOOP, ways=("paths",), simulate=False)
    (loop,) = unit.ways
    for way in loop.ways:
        assert way.cycles in (way.ports, way.front_end, way.loop_carried)
    assert not loop.simulated
    assert "the largest bounds" in table(unit)


def test_narrow_tables() -> None:
    unit = unit_of(LOOP, ways=("paths",))
    lines = list(render(unit, Layout(80, False)))
    assert max(map(len, lines)) <= 80
    assert " ".join("\n".join(lines).split()).count("skips line") == 2


def test_control_flow_in_the_report() -> None:
    (function,) = unit_of("\t.type f, @function\n" + LOOP, control_flow=True).control_flow
    assert function.function == "f"
    # The loop's four blocks and the return.
    assert [block.in_innermost_loop for block in function.blocks] == [True, True, True, True, False]
    last = function.blocks[3]
    assert [way.jump for way in last.successors if way.closes_loop] == ["jne"]
    assert [way.jump for way in last.successors if not way.closes_loop] == [""]
    assert last.instructions[0] == t.BlockInstruction(line=11, text="addq $8, %rdi")


def test_not_asked_for() -> None:
    unit = unit_of(LOOP)
    assert (unit.ways, unit.control_flow) == (None, None)
    assert table(unit) == ""


def test_statements_that_are_only_on_another_way_are_named(
    tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The likeliest way goes through, by falling; the jump around it ends up at the bad statement.
    file = tmp_path / "bad.s"
    file.write_text(
        "f:\n.L1:\n\ttestq %rax, %rax\n\tjs .L3\n.L2:\n\taddq $8, %rdi\n\tcmpq %rsi, %rdi\n\tjne .L1\n\tret\n"
        ".L3:\n\tfrobnicate %rax\n\tjmp .L2\n"
    )
    assert mca.main(["-mcpu=skylake", "--auto", str(file)]) == 0
    capsys.readouterr()
    assert mca.main(["-mcpu=skylake", "--auto", "--paths", str(file)]) == 1
    assert f"{file}:11:2: error: " in capsys.readouterr().err


def test_no_loop_with_branches(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.s"
    file.write_text(".L1:\n\tdecq %rcx\n\tjne .L1\n")
    assert mca.main(["-mcpu=skylake", "--paths", str(file)]) == 0
    assert "No innermost loop has a branch inside." in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["--branch-probability=1.5"], ["--branch-probability=x"], ["--branch-probability=nan"]],
)
def test_usage(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert mca.main([*wrong, "/dev/null"]) == 2
    assert "incc-mca: error: " in capsys.readouterr().err


def test_control_flow_graph(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, target = tmp_path / "x.s", tmp_path / "x.dot"
    source.write_text("\t.type f, @function\n" + LOOP + "\t.type g, @function\ng:\n\tnop\n\tret\n")
    assert mca.main(["-mcpu=skylake", "--auto", f"--cfg={target}", str(source)]) == 0
    text = target.read_text()
    assert text.startswith("digraph control_flow {")
    assert text.endswith("}\n")
    assert text.count("style=dashed") == 1
    assert 'label="jne", style=dashed' in text
    # Four blocks of the loop are bold; the function without a loop is not there.
    assert text.count("style=bold") == 4
    assert "nop" not in text
    assert mca.main(["-mcpu=skylake", "--auto", f"--cfg={tmp_path}/none/x.dot", str(source)]) == 2
    assert "none/x.dot" in capsys.readouterr().err


def test_dg_is_graph(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "x.s"
    source.write_text(LOOP)
    for option in ("dg", "graph"):
        assert mca.main(["-mcpu=skylake", "--auto", f"--{option}={tmp_path}/{option}.dot", str(source)]) == 0
    assert (tmp_path / "dg.dot").read_text() == (tmp_path / "graph.dot").read_text()


def test_a_way_that_goes_back_before_its_start_keeps_its_places() -> None:
    text = "f:\n\tjmp .L2\n.L1:\n\taddq $8, %rdi\n\tcmpq %rsi, %rdi\n\tje .L3\n.L2:\n\ttestq %rax, (%rdi)\n\tjs .L1\n"
    text += "\taddq $8, %rdi\n\tcmpq %rsi, %rdi\n\tjne .L2\n.L3:\n\tret\n"
    unit = Unit(assembly=text, assembly_file="x.s")
    assembly = read_assembly(unit, "x86")
    (region,), _ = find_regions(assembly, Scope(regions="loops"))
    paths, _ = loop_paths(assembly, region)
    model = choose_model("skylake", "").model
    back = next(k for k in decode_unit(unit, assembly, [path.region for path in paths]) if k.instructions[-1].line == 6)
    pipeline = bind(back, model)[0].pipeline
    assert pipeline is not None
    first = back.instructions[0].offset
    assert [i.offset - first for i in back.instructions][-1] < 0
    assert all(place >= 0 for place in pipeline.offset)
    assert [place % 64 for place in pipeline.offset] == [(i.offset - first) % 64 for i in back.instructions]
