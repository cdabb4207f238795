"""Tables of the ways through a loop, and control-flow graphs in Graphviz's language."""

from __future__ import annotations

import pathlib
import re

import pytest

from incc.driver import mca, paths
from incc.driver.pipeline import Settings, Unit

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
SETTINGS = Settings(mcpu="skylake", regions="loops")


def test_each_way_is_a_kernel_of_its_own() -> None:
    (loop,), refused = paths.analyze(Unit(LOOP, "x.s"), SETTINGS, False, None)
    assert not refused
    assert loop.complete
    assert [way.instructions for way in loop.ways] == [9, 8, 6]
    through, around_store, around_both = loop.ways
    # The division is a chain through xmm0 on the ways that have it.
    assert through.carried == around_store.carried == 13
    assert around_both.carried == 1
    assert all(way.simulated and way.cycles >= way.carried for way in loop.ways)
    text = paths.render([loop], "x.s", False)
    assert "5 taken; without lines 6-8" in text
    weighted = re.search(r"Weighted by their shares ([0-9.]+) cycles", text)
    assert weighted
    average = sum(float(way.cycles) * share for way, share in zip(loop.ways, (0.25, 0.25, 0.5), strict=True))
    assert float(weighted[1]) == pytest.approx(average, abs=0.01)


def test_certain_sides() -> None:
    (loop,), _ = paths.analyze(Unit(LOOP, "x.s"), SETTINGS, True, 0.0)
    assert [way.path.probability for way in loop.ways] == [0, 1]
    assert f"Weighted by their shares {float(loop.ways[1].cycles):.2f} cycles" in paths.render([loop], "x.s", True)


def test_bounds_alone() -> None:
    (loop,), _ = paths.analyze(Unit(LOOP, "x.s"), SETTINGS._replace(simulate=False), False, None)
    assert all(way.cycles == max(way.ports, way.front_end, way.carried) for way in loop.ways)
    assert "the largest bounds" in paths.render([loop], "x.s", False)


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
    assert f"{file}:11: error: " in capsys.readouterr().err


def test_no_loop_with_branches(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "plain.s"
    file.write_text(".L1:\n\tdecq %rcx\n\tjne .L1\n")
    assert mca.main(["-mcpu=skylake", "--paths", str(file)]) == 0
    assert "No innermost loop here has a branch inside." in capsys.readouterr().out


@pytest.mark.parametrize(
    "wrong",
    [["--branch-probability=1.5"], ["--branch-probability=x"], ["--branch-probability=nan"], ["--json", "--paths"]],
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
    assert mca.main(["-mcpu=skylake", "--auto", f"--cfg={tmp_path}/none/x.dot", str(source)]) == 1
    assert "none/x.dot" in capsys.readouterr().err


def test_dg_is_graph(tmp_path: pathlib.Path) -> None:
    source = tmp_path / "x.s"
    source.write_text(LOOP)
    for option in ("dg", "graph"):
        assert mca.main(["-mcpu=skylake", "--auto", f"--{option}={tmp_path}/{option}.dot", str(source)]) == 0
    assert (tmp_path / "dg.dot").read_text() == (tmp_path / "graph.dot").read_text()
