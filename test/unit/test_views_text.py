"""The text report: llvm-mca's layout, widths, colour, marks of unknown instructions."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from incc.core.roles import LoopPart, Role
from incc.frontends.kernel import LeftOut
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.build import UnitResult, build_report, unit_report
from incc.report.source.places import NamedLine
from incc.views.text import VIEWS, TextParts, render, terminal
from report_fixtures import (
    COUNTER,
    chain,
    make_analysis,
    make_bound,
    make_kernel,
    make_model,
    make_report,
    make_result,
    sum_parts,
    triad_parts,
    unknown_parts,
)
from settings_fixtures import settings_with
from struct_fixtures import filled

ESCAPE = re.compile(r"\033\[\d+m")


@pytest.fixture(scope="module")
def report() -> t.AnalysisReport:
    return make_report(triad_parts(), sum_parts(), unknown_parts(), timeline=True)


def section(text: str, heading: str) -> list[str]:
    """The lines after a heading up to the next empty line."""
    lines = text.splitlines()
    start = lines.index(heading) + 1
    rest = lines[start:]
    return rest[: rest.index("")] if "" in rest else rest


def test_order_of_sections(report: t.AnalysisReport) -> None:
    text = render(report, 100)
    headings = [
        "triad.c:4 in triad",
        "Bound by the front end",
        "Iterations:        100",
        "Bounds in cycles per iteration:",
        "Instruction Info:",
        "Resources:",
        "Resource pressure per iteration:",
        "Resource pressure by instruction:",
        "Timeline view:",
        "Average Wait times (based on the timeline view):",
        "Critical path (CP) and longest loop-carried dependency (LCD), in cycles:",
        "Loop-carried dependencies, longest first:",
        "triad.c:4 in sum",
        "Not analysed:",
    ]
    places = [text.index(heading) for heading in headings]
    assert places == sorted(places)


def test_columns_are_those_of_llvm_mca(report: t.AnalysisReport) -> None:
    text = render(report, 0)
    info = section(text, "[1]    [2]    [3]    [4]    [5]    [6]    Instructions:")
    assert info[0] == " 1      7     0.50    *                   vmovupd (%rsi,%rax), %ymm0"
    assert info[1] == " 2      11    0.50    *                   vfmadd213pd (%rdx,%rax), %ymm1, %ymm0"
    assert info[2] == " 2      0     1.00           *            vmovupd %ymm0, (%rdi,%rax)"
    pressure = section(text, "Resource pressure by instruction:")
    assert pressure[0] == "[0]    [1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    Instructions:"
    assert pressure[1] == (" -      -     0.50   0.50    -      -      -      -      -     vmovupd (%rsi,%rax), %ymm0")
    total = section(text, "Resource pressure per iteration:")
    assert total[1] == "1.00   0.50   1.50   1.50   1.00   0.50   1.00    -      -"


def test_timeline_marks(report: t.AnalysisReport) -> None:
    lines = render(report, 0).splitlines()
    start = lines.index("Timeline view:")
    assert lines[start + 1 : start + 6] == [
        "                    0123456",
        "Index     0123456789",
        "",
        "[0,0]     DeeeeeeeER.    ..   vmovupd (%rsi,%rax), %ymm0",
        "[0,1]     D=======eeeeER ..   vfmadd213pd (%rdx,%rax), %ymm1, %ymm0",
    ]
    assert lines[start + 10] == "[1,0]     . DeeeeeeeER   ..   vmovupd (%rsi,%rax), %ymm0"


def test_unknown_instructions_are_marked_in_every_view(report: t.AnalysisReport) -> None:
    unknown = render(report, 120).split("triad.c:4 in sum\n")[2]
    rows = [line for line in unknown.splitlines() if line.endswith("vfoo %xmm1, %xmm2")]
    assert len(rows) == 4
    assert all("X" in row and not re.search(r"\d\.\d", row) for row in rows)
    assert "5 instructions (1 not in the model)" in unknown
    assert "the totals are lower bounds." in unknown
    assert "X: not in the model" in unknown


@pytest.mark.parametrize("width", [80, 100, 120, 200])
def test_no_line_is_wider_than_asked(report: t.AnalysisReport, width: int) -> None:
    assert max(len(line) for line in render(report, width).splitlines()) <= width


@given(st.integers(1, 12), st.floats(0, 9999), st.text("abc(%),$ ", min_size=0, max_size=120))
def test_twelve_resources_fit_in_80_columns(resources: int, load: float, operands: str) -> None:
    report = make_report(triad_parts())
    kernel = report.units[0].kernels[0]
    kernel.resources = [
        t.ResourceReport(name=str(p), kind="port", title=f"Port{p}", load=load, busiest=p == 0)
        for p in range(resources)
    ]
    for instruction in kernel.instructions:
        force_setattr(instruction, "pressure", [load] * resources)
        force_setattr(instruction, "text", f"vop {operands}")
    for line in render(report, 80, show=TextParts(views=("info", "pressure", "dependencies"))).splitlines():
        assert len(line) <= 80


def test_wide_lines_show_the_whole_text_and_narrow_ones_say_that_they_cut(report: t.AnalysisReport) -> None:
    instruction = "vfmadd213pd (%rdx,%rax), %ymm1, %ymm0"
    assert render(report, 200).count(instruction) == 8
    assert "vfmadd213pd (%rdx,%rax), %ymm1, %y…\n" in render(report, 80)


def test_colour_changes_nothing_but_escapes(report: t.AnalysisReport) -> None:
    coloured = render(report, 100, colour=True)
    assert ESCAPE.sub("", coloured) == render(report, 100)
    assert "\033[31m" in coloured
    assert "\033" not in render(report, 100)


def test_views_can_be_chosen(report: t.AnalysisReport) -> None:
    marks = {
        "compact": "Cycles on each port",
        "summary": "Block RThroughput",
        "info": "Instruction Info:",
        "pressure": "Resource pressure",
        "waits": "Waiting times in cycles per iteration",
        "timeline": "Timeline view:",
        "dependencies": "Critical path (CP)",
        "what-if": "No changed core: nothing was simulated.",
        "critical-path": "Critical path, ",
        "loop-carried": "with the cycles of one round:",
        "memory": "No prediction beyond L1",
        "quality": "The quality of this code was not analysed",
        "decremental": "No loop without some of its work",
        "assembly": "Source lines with their instructions",
    }
    assert set(marks) == set(VIEWS)
    for chosen in VIEWS:
        text = render(report, 80, show=TextParts(views=(chosen,)))
        assert [view for view, mark in marks.items() if mark in text] == [chosen]
        assert "Bound by" in text
    with pytest.raises(ValueError, match="unknown view 'graph'"):
        render(report, 80, show=TextParts(views=("graph",)))


def test_no_empty_lines_pile_up_without_timeline() -> None:
    text = render(make_report(triad_parts()), 80)
    assert "Timeline" not in text
    assert "\n\n\n\n" not in text


def test_a_file_without_loops_says_so() -> None:
    model = make_model()
    unit = Unit(assembly="", assembly_file="a.s")
    nothing = render(
        build_report([unit_report(UnitResult(unit=unit, model=model, chosen_by="-mcpu=skx", results=()))]), 80
    )
    assert "No loop to analyse." in nothing
    left_out = LeftOut(first_line=3, last_line=9, function="f", label=".L2", reason="entered in the middle from line 1")
    some = render(
        build_report(
            [unit_report(UnitResult(unit=unit, model=model, chosen_by="-mcpu=skx", results=(), left_out=(left_out,)))]
        ),
        80,
    )
    assert "Nothing can be analysed." in some
    assert "  a.s:3 in f: entered in the middle from line 1" in some


def test_a_kernel_without_instructions() -> None:
    parts = make_kernel([]), make_bound([], []), make_analysis([])
    assert "Nothing to analyse: no instruction could be decoded." in render(make_report(parts), 80)


def test_machine_code_is_numbered() -> None:
    kernel, bound, analysis = sum_parts()
    text = render(make_report((replace(kernel, region=None), bound, analysis)), 80)
    assert "asm " in text
    bare = replace(kernel, region=None, instructions=tuple(replace(i, line=0) for i in kernel.instructions))
    text = render(make_report((bare, bound, analysis)), 80)
    assert "asm " not in text
    assert " No. " in text
    assert " No.      CP     LCD   Instructions:\n   0      10       4   vaddsd" in text
    assert "xmm0 (0)" in text


def test_only_the_first_chains_are_listed() -> None:
    rows = [COUNTER]
    chains = tuple(chain((0, 0, 0, 20 - n, 1)) for n in range(14))
    analysis = make_analysis(rows, chains=chains, chains_complete=False)
    text = render(make_report((make_kernel(rows), make_bound(rows, ["rax"]), analysis)), 80)
    assert "and 4 more that are not longer" in text
    assert "There are more chains than the search lists" in text
    assert "No loop-carried dependencies" not in text


def test_no_chain() -> None:
    rows = [COUNTER]
    text = render(make_report((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1))), 80)
    assert "No loop-carried dependencies." in text


def test_equal_shares_are_said() -> None:
    kernel, bound, analysis = sum_parts()
    fixed = make_result(kernel, bound, analysis, fixed_ports=True)
    report = build_report(
        [
            unit_report(
                UnitResult(
                    unit=Unit(assembly="", assembly_file="t.s"),
                    model=make_model(),
                    chosen_by="-mcpu=x",
                    results=(fixed,),
                    parts=[LoopPart(Role(name="main"), None)],
                )
            )
        ]
    )
    assert "µops shared equally between the ports" in render(report, 120)


def test_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

        def fileno(self) -> int:
            raise io.UnsupportedOperation

    for name in ("COLUMNS", "NO_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    assert terminal(io.StringIO()) == (120, False)
    monkeypatch.setenv("COLUMNS", "97")
    assert terminal(io.StringIO()) == (97, False)
    assert terminal(Terminal()) == (97, True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert terminal(Terminal()) == (97, False)
    monkeypatch.delenv("NO_COLOR")
    monkeypatch.setenv("TERM", "dumb")
    assert terminal(Terminal()) == (97, False)
    monkeypatch.setenv("COLUMNS", "wide")
    closed = io.StringIO()
    closed.close()
    assert terminal(closed) == (120, False)


def test_details_of_a_line(report: t.AnalysisReport) -> None:
    text = render(report, 100, show=TextParts(views=(), details=[NamedLine("triad.s", 13)]))
    lines = text[text.index("asm 13:") :].splitlines()
    assert lines[0] == "asm 13: vfmadd213pd (%rdx,%rax), %ymm1, %ymm0"
    assert lines[1] == "  waited 4.00, made others wait 0.00 cycles per iteration"
    assert lines[3].split()[:5] == ["12", "4", "-", "4.00", "-"]
    assert lines[4].split()[:3] == ["14", "-", "0"]
    store = render(report, 100, show=TextParts(views=(), details=[NamedLine("triad.s", 14)]))
    assert "  2         0.00    1.50" in store
    assert "asm 14" not in text


def test_views_that_are_off_take_nothing_along_that_was_asked_for() -> None:
    report = make_report(triad_parts())
    kernel = report.units[0].kernels[0]
    kernel.cycles, kernel.simulated = 2.0, filled(t.SimulationReport, {"cycles": 2.0})
    kernel.what_ifs = [filled(t.WhatIfReport, {"text": "with rob = 9", "cycles": 3.0, "gained": -1.0, "asked": True})]
    kernel.alignments = [t.Ratio(2.0, "2")] * 64
    text = render(report, 80, show=TextParts(views=()))
    assert "2.00 →  3.00  with rob = 9\n\nSimulated cycles per iteration by the offset" in text
    kernel.what_ifs = [replace(kernel.what_ifs[0], asked=False)]
    assert "rob" not in render(report, 80, show=TextParts(views=()))


# --- µops in the timeline ---------------------------------------------------------------------------------------------


def uop_rows(assembly: str, cpu: str, width: int = 80, iterations: int = 3) -> list[str]:
    """The rows of the timeline with µops, without ruler and legend."""
    from incc.driver.pipeline import analyze_units

    settings = settings_with(mcpu=cpu, regions="loops", timeline_iterations=iterations)
    report = analyze_units([Unit(assembly=f"f:\n.L1:\n{assembly}\n\tjne .L1\n\tret\n", assembly_file="a.s")], settings)
    lines = render(report, width, show=TextParts(views=["timeline"])).splitlines()
    start = next(n for n, line in enumerate(lines) if line.startswith("[0,0]"))
    return lines[start : lines.index("", start)]


def test_a_load_with_an_addition_has_two_rows() -> None:
    rows = uop_rows("\tvaddsd (%rax), %xmm0, %xmm0\n\taddq $8, %rax\n\tcmpq %rax, %rdx", "skylake")
    heads = [n for n, row in enumerate(rows) if row.startswith("[1,0]")]
    (head,) = heads
    instruction, load, compute = rows[head : head + 3]
    assert instruction.endswith("vaddsd (%rax), %xmm0, %xmm0")
    assert not set(instruction[10:40]) & set("D=eER")
    # What waits is the addition, for the sum; the load has executed by then.
    assert load.startswith("  load ")
    assert "xmm0" not in load
    assert compute.startswith("  compute ")
    assert compute.endswith(", for xmm0 of [0,0]")
    assert compute.count("i") >= 8
    assert load.index("E") < compute.index("e", 10)
    # An instruction of one µop has one row, with its letters.
    assert rows[head + 3].startswith("[1,1]")
    assert rows[head + 3].endswith(", for rax of [0,1]")


def test_waits_have_letters_of_their_own() -> None:
    rows = uop_rows("\timulq %rbx, %rbx\n\timulq %rcx, %rdx\n\tmovq %rbx, (%rdi)\n\taddq $8, %rdi", "skylake")
    (store,) = (n for n, row in enumerate(rows) if row.startswith("[1,2]"))
    address, data = rows[store + 1 : store + 3]
    assert address.startswith("  address ")
    assert "s" not in address[10:40]
    assert data.startswith("  data ")
    assert "sss" in data[10:40]
    assert "i" not in data[10:40]
    assert data.endswith(", for rbx of [1,0]")
    # Two multiplications, one port: the second of the first iteration waits for it with its inputs there.
    first, second = (row for row in rows if row.startswith(("[0,0]", "[0,1]")))
    assert "p" not in first[10:40]
    assert "=pe" in second[10:40]


def test_a_load_says_whose_stored_data_it_waited_for() -> None:
    rows = uop_rows("\timulq %rbx, %rbx\n\tmovq %rbx, (%rdi)\n\tmovq (%rdi), %rcx\n\taddq %rcx, %rdx", "skylake", 100)
    (load,) = (row for row in rows if row.startswith("[1,2]"))
    assert load.endswith(", for memory of [1,1]")
    (use,) = (row for row in rows if row.startswith("[1,3]"))
    assert use.endswith(", for rcx of [1,2]")
    # Without the store it is a load like any other.
    rows = uop_rows("\timulq %rbx, %rbx\n\tmovq (%rdi), %rcx\n\taddq %rcx, %rdx", "skylake", 100)
    (load,) = (row for row in rows if row.startswith("[1,1]"))
    assert "memory" not in load


def test_one_row_an_instruction_on_demand() -> None:
    report = make_report(triad_parts(), timeline=True)
    assert "waiting for inputs, for a port, or on the way to it" in " ".join(
        render(report, 80, show=TextParts(uops=False)).replace("\n", " ").split()
    ).replace("\xa0", " ")
    assert "waits for data to store" in " ".join(render(report, 80).split())


@pytest.mark.parametrize("cpu", ["skylake", "znver4", "bonnell"])
def test_rows_of_uops_fit_the_width(cpu: str) -> None:
    body = "\tvaddsd (%rax), %xmm0, %xmm0\n\taddl $1, (%rdi)\n\tpushq %rax\n\tmovq %rsp, %rbx\n\tpopq %rax\n\tdecq %rdx"
    body = body.replace("vaddsd (%rax), %xmm0", "addsd (%rax)") if cpu == "bonnell" else body
    for width in (60, 80, 120):
        assert max(len(row) for row in uop_rows(body, cpu, width)) <= width


@pytest.mark.parametrize("colour", [False, True])
def test_names_cannot_control_the_terminal(colour: bool) -> None:
    made = make_report(triad_parts())
    name = "a\n\033[31m\033]0;x\007\u202e\udcff\x9b2J.c"
    made.units[0].kernels[0].source = t.SourceLocation(name, 3)
    made.units[0].source = name
    text = render(made, 0, colour=colour, show=TextParts(overview=1))
    assert "a\\n" in text
    assert "\udcff" in text
    assert not re.search("[\0-\x08\x0b-\x1a\x7f-\x9f\u202e]", text)
    styles = set(re.findall("\033(.{3}m?)", text))
    assert all(re.match(r"\[\d+m", style + "m") for style in styles)
    assert bool(styles) == colour


def test_units_are_set_off() -> None:
    made = make_report(triad_parts())
    made.units.append(replace(made.units[0], source="second.c"))
    lines = render(made, 0).splitlines()
    (start,) = (n for n, line in enumerate(lines) if line.startswith("second.c"))
    assert lines[start - 1] == ""
    assert lines[start - 2] != ""
    assert lines[0] != ""
