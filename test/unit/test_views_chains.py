"""The views of the critical path, of each loop-carried chain and of all changed cores: on reports made by hand, whose
every figure is known, and on those of real kernels, whose figures must add up."""

from __future__ import annotations

import re
from typing import Any

import pytest

from incc.driver.cli.kinds import MCA
from incc.driver.cli.values import OptionValues
from incc.driver.commands.mca import McaOptions
from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.views.layout import Layout
from incc.views.text import TextParts, critical_path, loop_carried, render, what_if
from settings_fixtures import settings_with
from struct_fixtures import filled

WIDE = Layout(200, False)
UNIT = filled(t.UnitReport, {})


def instruction(index: int, text: str, takes: int | None = None) -> dict[str, Any]:
    return {"index": index, "line": 10 + index, "text": text, "critical_path_cycles": takes}


def step(first: int, to: int, via: str, latency: int, distance: int = 0, kind: str = "register") -> dict[str, Any]:
    return {"from": first, "to": to, "kind": kind, "via": via, "latency": latency, "distance": distance}


@pytest.fixture
def kernel() -> t.KernelReport:
    """A load, what is added to it, a swap through two registers, and a store that the load takes up."""
    return filled(
        t.KernelReport,
        {
            "cycles": 10.0,
            "simulated": {},
            "instructions": [
                instruction(0, "addsd (%rdi), %xmm0", 9),
                instruction(1, "mulsd %xmm0, %xmm1", 4),
                instruction(2, "movsd %xmm1, (%rdi)"),
            ],
            "critical_path": {
                "cycles": 13,
                "instructions": [0, 1],
                "steps": [step(0, 0, "", 5, kind="internal"), step(0, 1, "xmm0", 4)],
            },
            "chains": [
                {
                    "cycles_per_iteration": {"cycles": 8.5, "exact": "17/2"},
                    "latency": 17,
                    "iterations": 2,
                    "through": ["memory", "xmm0"],
                    "instructions": [0, 1, 2],
                    # Around from the middle: a reader begins where an iteration begins.
                    "steps": [
                        step(0, 1, "xmm0", 4),
                        step(1, 2, "xmm1", 0),
                        step(2, 0, "memory", 5, 2, "memory"),
                        step(0, 0, "", 8, kind="internal"),
                    ],
                }
            ],
            "chains_complete": True,
            "what_ifs": [
                {"change": "a", "text": "with twice the ports", "cycles": 5.0, "gained": 5.0, "asked": False},
                {"change": "b", "text": "with rob = 512", "cycles": 10.0, "gained": 0.0, "asked": True},
                {"change": "c", "text": "with latency ADDSD = 6", "cycles": 12.0, "gained": -2.0, "asked": True},
            ],
        },
    )


def test_the_critical_path_adds_up(kernel: t.KernelReport) -> None:
    assert list(critical_path.lines(UNIT, kernel, WIDE)) == [
        "Critical path, 13 cycles for one iteration on its own:",
        "Line  Cycles  Ready  Through  From  Instructions:",
        "  10       9      9                 addsd (%rdi), %xmm0",
        "  11       4     13  xmm0     10    mulsd %xmm0, %xmm1",
    ]


def test_a_chain_begins_where_the_iteration_before_hands_over(kernel: t.KernelReport) -> None:
    assert list(loop_carried.lines(UNIT, kernel, WIDE)) == [
        "1 loop-carried chain, with the cycles of one round:",
        "",
        "[1] 8.50 cycles per iteration, 17 over 2 iterations, through memory, xmm0",
        "    Line  Cycles  Ready  Through  From         Instructions:",
        "      10      13     13  memory   12 (it. -2)  addsd (%rdi), %xmm0",
        "      11       4     17  xmm0     10           mulsd %xmm0, %xmm1",
        "      12       0     17  xmm1     11           movsd %xmm1, (%rdi)",
    ]


def test_every_change_has_a_row(kernel: t.KernelReport) -> None:
    assert list(what_if.lines(UNIT, kernel, WIDE)) == [
        "Simulated with a changed core (10.00 cycles per iteration unchanged):",
        "  Cycles    Gain  The core",
        "    5.00    50 %  with twice the ports",
        "   10.00       -  with rob = 512 (requested)",
        "   12.00   -20 %  with latency ADDSD = 6 (requested)",
    ]


def test_nothing_to_show(kernel: t.KernelReport) -> None:
    kernel.chains, kernel.what_ifs = [], []
    kernel.critical_path = t.CriticalPath(0, [], [])
    assert [*loop_carried.lines(UNIT, kernel, WIDE)] == ["No loop-carried dependencies."]
    assert [*critical_path.lines(UNIT, kernel, WIDE)] == ["No critical path: no instruction has a latency."]
    assert [*what_if.lines(UNIT, kernel, WIDE)] == ["No changed core: no change was tried."]
    kernel.simulated = None
    assert [*what_if.lines(UNIT, kernel, WIDE)] == ["No changed core: nothing was simulated."]


CODE = """
.L1:
    vmovsd (%rdi,%rax,8), %xmm1
    vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0
    addq %rdx, 8(%rcx)
    xchgq %r8, %r9
    imulq (%r10), %r8
    movq %r8, (%r10)
    incq %rax
    cmpq %rax, %r11
    jne .L1
"""


@pytest.fixture(scope="module")
def report() -> Any:
    return analyze_units([Unit(assembly=CODE, assembly_file="a.s")], settings_with(mcpu="skylake", regions="loops"))


def test_figures_of_real_kernels_add_up(report: Any) -> None:
    unit = report.units[0]
    (kernel,) = unit.kernels
    *_, last = critical_path.lines(unit, kernel, WIDE)
    assert int(last.split()[2]) == kernel.critical_path.cycles > 0
    lines = list(loop_carried.lines(unit, kernel, WIDE))
    starts = [n for n, line in enumerate(lines) if line.startswith("[")]
    assert len(starts) == len(kernel.chains) > 3
    assert any(chain.iterations > 1 for chain in kernel.chains)
    assert any(step.kind == "memory" for chain in kernel.chains for step in chain.steps)
    for start, chain in zip(starts, kernel.chains, strict=True):
        end = lines.index("", start) if "" in lines[start:] else len(lines)
        rows = [line.split() for line in lines[start + 2 : end]]
        assert {int(row[0]) for row in rows} == set(chain.lines)
        assert sum(int(row[1]) for row in rows) == int(rows[-1][2]) == chain.latency
        assert sum(int(n) for n in re.findall(r"\(it\. -(\d+)\)", "\n".join(lines[start:end]))) == chain.iterations


@pytest.mark.parametrize("width", [80, 100, 200])
def test_no_line_is_wider_than_the_terminal(report: Any, width: int) -> None:
    text = render(report, width, show=TextParts(views=("what-if", "critical-path", "loop-carried")))
    assert max(map(len, text.splitlines())) <= width
    assert "…" not in text


def test_the_summary_leaves_changed_cores_to_their_own_view(report: Any) -> None:
    assert "with a changed core, in cycles" in render(report, 80, show=TextParts(views=("summary",)))
    text = render(report, 80, show=TextParts(views=("summary", "what-if")))
    assert text.count("Simulated with a changed core") == 1
    assert "cycles per iteration unchanged" in text


def test_usually_none_of_them_is_shown(report: Any) -> None:
    text = render(report, 80)
    assert "Critical path (CP)" in text
    for title in ("Critical path, ", "of one round", "cycles per iteration unchanged"):
        assert title not in text


@pytest.mark.parametrize(
    ("words", "tables", "changes", "file"),
    [
        (["-what-if", "a.s"], True, 0, "a.s"),
        (["-what-if", "rob = 512", "a.s"], False, 1, "a.s"),
        (["--what-if", "port 5 += 1", "-what-if=rob=9", "a.s"], False, 2, "a.s"),
        (["-what-if", "-auto", "-"], True, 0, "-"),
        (["-what-if", "./a=b.s"], True, 0, "./a=b.s"),
        (["a.s", "-what-if"], True, 0, "a.s"),
    ],
)
def test_a_change_may_follow_its_option(words: list[str], tables: bool, changes: int, file: str) -> None:
    options = McaOptions(words)
    assert options.file == file
    assert ("what-if" in options.given.views()) == tables
    assert len(options.given["what-if"]) == changes


def views(*options: tuple[str, str | None]) -> list[str]:
    given = OptionValues(MCA)
    for name, value in options:
        given.take(f"-{name}", value)
    return given.views()


def test_options_show_them() -> None:
    usual = views()
    for name, view in (("critical-path", "critical-path"), ("loop-carried", "loop-carried"), ("wait-states", "waits")):
        assert set(views((name, None))) - set(usual) == {view}
        assert view in views(("all-views", None))
        assert view not in views(("all-views", None), (name, "false"))
    # A change is simulated and told in the summary, as ever; without one the table is meant.
    assert views(("what-if", "rob = 512")) == usual
    assert set(views(("what-if", None))) - set(usual) == {"what-if"}
    assert "what-if" in views(("all-views", None))
