"""The overview and what follows it: a row for each kernel, a few lines of each of many, and choices of kernels."""

from __future__ import annotations

import copy
import re
from typing import Any

import pytest
from msgspec.structs import force_setattr, replace

from incc.driver.cli.kinds import MCA, WRAPPER
from incc.driver.cli.values import OptionValues
from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.overview import overview
from incc.report.source.places import NamedKernels, choice
from incc.views.table import Column, shrink
from incc.views.text import UNIT_VIEWS, VIEWS, TextParts, render
from settings_fixtures import settings_with
from struct_fixtures import filled

SUM = """\
\t.globl NAME
\t.type NAME, @function
NAME:
\txorl %eax, %eax
.LNAME:
\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0
\tincq %rax
\tcmpq %rax, %rdx
\tjne .LNAME
\tret
\t.size NAME, .-NAME
"""


def report(*names: str) -> t.AnalysisReport:
    given = OptionValues(MCA)
    for option in ("-mcpu=skylake", "-auto"):
        name, _, value = option.partition("=")
        given.take(name, value or None)
    text = "".join(SUM.replace("NAME", name) for name in names)
    return analyze_units([Unit(assembly=text, assembly_file="x.s")], given.settings())


LOOPS = settings_with(mcpu="skylake", regions="loops")

MANY = ("a", "b", "c", "d", "_ZN2ns3dotEPd")


def spread(least: float, most: float | None, *causes: str, text: str = "") -> t.Range:
    """A range of cycles for these causes."""
    return filled(t.Range, {"least": least, "most": most, "causes": [{"kind": kind} for kind in causes], "text": text})


def rows(text: str) -> list[str]:
    """The table's rows."""
    lines = text.splitlines()
    start = next(n for n, line in enumerate(lines) if line.lstrip().startswith("# "))
    return lines[start + 1 : lines.index("", start)]


def test_a_row_for_each_kernel() -> None:
    found = rows(render(report(*MANY), 100, show=TextParts(overview=1)))
    assert len(found) == 5
    assert found[0].split()[:4] == ["1", "6-9", "a", "4.00"]
    assert "chain xmm0" in found[0]
    assert "scalar" in found[0]
    assert "  ns::dot  " in found[4]


@pytest.mark.parametrize(("kernels", "least", "shown"), [(1, 1, True), (1, 2, False), (2, 2, True), (5, 0, False)])
def test_with_how_many_kernels_there_is_a_table(kernels: int, least: int, shown: bool) -> None:
    assert ("#  Line" in render(report(*MANY[:kernels]), 100, show=TextParts(overview=least))) == shown


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_the_table_fits(width: int) -> None:
    made = report(*MANY)
    for kernel in made.units[0].kernels:
        force_setattr(kernel.overview, "function", "a::very_long_name::of_a_function_that_many_call")
        force_setattr(kernel.overview, "look", "sum chain, not vectorised, line crossings, code placement")
    found = rows(render(made, width, show=TextParts(overview=1)))
    assert max(len(row) for row in found) <= width
    # What counts most is never cut.
    assert all("4.00" in row for row in found)


def test_cells() -> None:
    made = report("a")
    (k,) = made.units[0].kernels

    def cells(**changes: Any) -> list[str]:
        for name, value in changes.items():
            force_setattr(k, name, value)
        (row,) = rows(render(made, 150, show=TextParts(overview=1)))
        return row.split()

    each = t.ElementsReport(per_iteration=32, cycles=0.125, basis="inferred", why="", near_trips=None, text="")
    assert cells(elements=each)[4:5] == ["0.125"]
    assert "4.00–9.50" in cells(range=spread(4.0, 9.5, "aliasing", text="so or so"))
    assert "4.00–?" in cells(range=spread(4.0, None, "forwarding"))
    force_setattr(k.overview, "vector", "256-bit 50 %")
    assert "256-bit 50 %" in "  ".join(rows(render(made, 150, show=TextParts(overview=1))))
    force_setattr(k.overview, "look", "sum chain, line crossings, code placement, gather")
    (narrow,) = rows(render(made, 80, show=TextParts(overview=1)))
    assert "256-bit" in narrow.split()
    assert "50" not in narrow
    row = cells(at_least=True, range=spread(4.0, None, "unknown-instructions", text="Without that"))
    assert row[3:5] == ["≥", "4.00"]
    assert "Without that" not in render(made, 150)


def test_copies_of_a_loop_have_one_row() -> None:
    made = report(*MANY, *"fghij")
    for kernel in made.units[0].kernels[1:4]:
        kernel.source = t.SourceLocation("/src/a.c", 7)
        force_setattr(kernel.overview, "function", "sorter")
    force_setattr(made.units[0].kernels[2].overview, "limit", "chain xmm9")
    show = TextParts(overview=1, brief=True)
    text = render(made, 100, show=show)
    found = rows(text)
    assert [row.split()[0] for row in found] == ["1", "2-4", *"56789", "10"]
    assert "\n[2-4] " in text
    assert " and 2 loops like it: " in " ".join(text.split())
    assert "\n[3] " not in text
    made.units[0].kernels[2].cycles = 5.0
    assert len(rows(render(made, 100, show=show))) == 10


def test_a_brief_text_has_less_of_each_loop_the_more_there_are() -> None:
    show = TextParts(overview=1, brief=True, how="ask for more")
    one, several, many = (render(report(*names), 100, show=show) for names in (("a",), MANY, [*"abcdefghi"]))
    assert one.count("Block RThroughput") == one.count("Cycles on each port") == 1
    assert "ask for more" not in one
    assert "Block RThroughput" not in several
    assert several.count("Cycles on each port") == several.count("Bound by the loop-carried chain") == 5
    assert several.endswith("ask for more\n")
    assert "Cycles on each port" not in many
    assert many.count("Bound by the loop-carried chain") == 9
    assert len(many.splitlines()) < 100


def test_a_brief_text_has_three_hints_of_a_loop() -> None:
    made = report("a")
    (kernel,) = made.units[0].kernels
    kernel.hints = kernel.hints[:1] * 5
    hint = kernel.hints[0].text[:20].capitalize()
    whole, brief = (render(made, 100, show=TextParts(overview=1, brief=brief)) for brief in (False, True))
    assert (whole.count(f"- {hint}"), brief.count(f"- {hint}")) == (5, 3)
    assert "- 2 more hints\n" in brief


def test_the_largest_gains_come_last() -> None:
    made = report(*MANY)
    for n, kernel in enumerate(made.units[0].kernels):
        hint = filled(t.Hint, {"rule": "recurrence", "text": "do it", "gain": [None, 1.5, 3.0, 1.1, 2.0][n]})
        kernel.hints = [hint]
    text = render(made, 100, show=TextParts(overview=1, brief=True, how="ask"))
    assert re.findall(r"^  \[(\d)\] .*: recurrence, up to (.*) times as fast$", text, re.MULTILINE) == [
        ("3", "3.0"), ("5", "2.0"), ("2", "1.5"),
    ]  # fmt: skip
    assert "Most to gain" not in render(report("a"), 100, show=TextParts(overview=1, brief=True, how="ask"))


def test_gains_on_several_cores_name_the_core() -> None:
    made, other = report("a"), report("a")
    force_setattr(other.units[0].model, "name", "znver9")
    for unit, gain in ((made.units[0], 2.0), (other.units[0], 3.0)):
        unit.kernels[0].hints = [filled(t.Hint, {"rule": "recurrence", "text": "do it", "gain": gain})]
    text = render(
        replace(made, units=[*made.units, *other.units]), 100, show=TextParts(overview=1, brief=True, how="ask")
    )
    assert re.findall(r"^  \[1\] .* on (\w+): recurrence, up to (.*) times as fast$", text, re.MULTILINE) == [
        ("znver9", "3.0"), ("skylake", "2.0"),
    ]  # fmt: skip


def test_main_loops_come_before_those_that_belong_to_them() -> None:
    made = report(*MANY)
    kernels = made.units[0].kernels
    kernels[0].role = replace(kernels[0].role, name="fallback", of=kernels[2].kernel_id, text="a fallback")
    kernels[1].role = replace(kernels[1].role, name="remainder", of=kernels[2].kernel_id, text="a remainder")
    found = rows(render(made, 100, show=TextParts(overview=1, brief=True)))
    assert ["fallback (1)" in row for row in found] == [False, True, False, False, False]
    assert "remainder (1)" in found[2]


def test_loops_beside_a_main_loop_are_in_the_table_alone() -> None:
    made = report(*MANY)
    kernels = made.units[0].kernels
    kernels[1].role = replace(kernels[1].role, name="remainder", of=kernels[0].kernel_id, text="a remainder")
    text = render(made, 100, show=TextParts(overview=1, brief=True, how="ask"))
    assert "remainder (1)" in rows(text)[1]
    assert "\n[1] " in text
    assert "\n[2] " not in text
    assert "Loops that belong to a main loop are only in the first table. ask" in text


def test_a_chosen_kernel_has_all_views_and_the_others_rows() -> None:
    made = report(*MANY)
    for chosen in ("b", "b:17", "b/loop1", "[b]"):
        text = render(made, 100, show=TextParts(overview=1, kernels=[choice(chosen)]))
        assert text.count("Block RThroughput") == 1
        assert "Loop at .Lb" in text
        assert len(rows(text)) == 5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dot", NamedKernels("dot", 0)),
        ("dot:12", NamedKernels("dot", 12)),
        ("ns::dot", NamedKernels("ns::dot", 0)),
        ("ns::dot:12", NamedKernels("ns::dot", 12)),
        ("*", NamedKernels("*", 0)),
    ],
)
def test_choices(text: str, expected: NamedKernels) -> None:
    assert choice(text) == expected
    assert str(choice(text)) == text


@pytest.mark.parametrize("text", [":12", "dot:0"])
def test_what_is_no_choice(text: str) -> None:
    with pytest.raises(ValueError, match="takes a function or FUNCTION:LINE"):
        choice(text)


def test_the_commands_ask_for_it() -> None:
    wrapper = OptionValues(WRAPPER).request("text", "")
    assert (wrapper.overview, wrapper.brief, wrapper.prefix) == (1, True, "--analyze-")
    assert "waits" not in wrapper.views
    assert "compact" in wrapper.views
    for option, value in (("views", "all"), ("kernel", "dot"), ("all-views", None), ("summary-view", "false")):
        given = OptionValues(WRAPPER)
        given.take(f"--analyze-{option}", value)
        assert given.request("text", "").brief is False
    mca = OptionValues(MCA).request("text", "")
    assert (mca.overview, mca.brief, mca.prefix) == (2, True, "--")


@pytest.mark.parametrize(
    ("value", "views", "waits", "timeline"),
    [
        ("all", {*VIEWS, *UNIT_VIEWS}, True, 2),
        ("none", set(), False, 2),
        ("compact", {"compact"}, False, 2),
        ("waits,timeline", {"waits", "timeline"}, True, 2),
    ],
)
def test_views_by_name(value: str, views: set[str], waits: bool, timeline: int) -> None:
    given = OptionValues(WRAPPER)
    given.take("--analyze-views", value)
    assert set(given.views()) == views
    assert given.settings().kernel.waits == waits
    assert given.settings().kernel.timeline_iterations == timeline


# --- what stands in the table ----------------------------------------------------------------------------------------


def kernel() -> t.KernelReport:
    return copy.deepcopy(report("a").units[0].kernels[0])


def test_words_for_limits() -> None:
    k = kernel()
    prediction = k.bounds.prediction
    force_setattr(prediction, "limited_by", ["port", "front_end"])
    for resource in k.resources:
        force_setattr(resource, "busiest", resource.name in ("2", "3"))
    assert overview(k).limit == "ports 2,3; front end"
    force_setattr(prediction, "limited_by", ["divider"])
    assert overview(k).limit == "divider"
    force_setattr(prediction, "limited_by", [])
    k.what_ifs = []
    assert overview(k).limit == "pipeline"
    k.what_ifs = [filled(t.WhatIfReport, {"change": "port 5", "cycles": 4.0})]
    assert overview(k).limit == "several"
    k.what_ifs = [
        filled(t.WhatIfReport, {"change": "unlimited-ports", "gained": 2.0, "cycles": 2.0}),
        filled(t.WhatIfReport, {"change": "port 5", "gained": 2.0, "cycles": 2.0}),
        filled(t.WhatIfReport, {"change": "front-end", "gained": 1.0, "cycles": 3.0}),
    ]
    assert overview(k).limit == "port 5"
    k.what_ifs = [filled(t.WhatIfReport, {"change": "unlimited-ports", "gained": 2.0, "cycles": 2.0})]
    assert overview(k).limit == "ports"
    force_setattr(k.bounds.port, "cycles", 0.9 * k.cycles)
    assert overview(k).limit == "ports 2,3"
    force_setattr(k.bounds.divider, "cycles", 0.95 * k.cycles)
    assert overview(k).limit == "divider"


def test_what_is_worth_a_look() -> None:
    k = kernel()
    k.hints = [filled(t.Hint, {"rule": "unknown-instructions"})]
    assert overview(k).look == ""
    k.hints.append(filled(t.Hint, {"rule": "sum-chain"}))
    assert overview(k).look == "sum chain"
    k.range = spread(4.0, 4.5, "aliasing")
    assert overview(k).look == "sum chain"
    k.range = spread(4.0, 8.0, "aliasing")
    assert overview(k).look == "sum chain, aliasing"
    k.role = replace(k.role, name="remainder", of="a/loop1", text="")
    assert overview(k).look == ""


def test_columns_shrink_in_order() -> None:
    columns = [
        Column(title="a"),
        Column(title="b", comfortable=5, least=3, priority=2),
        Column(title="c", comfortable=4, least=2, priority=1),
    ]
    wanted = [4, 8, 6]
    assert shrink(columns, wanted, 0, 2) == [4, 8, 6]
    assert shrink(columns, wanted, 20, 2) == [4, 8, 4]
    assert shrink(columns, wanted, 18, 2) == [4, 6, 4]
    assert shrink(columns, wanted, 16, 2) == [4, 4, 4]
    assert shrink(columns, wanted, 14, 2) == [4, 3, 3]
    assert shrink(columns, wanted, 5, 2) == [4, 3, 2]


# --- OSACA's table ---------------------------------------------------------------------------------------------------


def test_the_columns_of_the_compact_table_add_up() -> None:
    text = render(report("a"), 100, show=TextParts(views=("compact",)))
    lines = text.splitlines()
    head = next(n for n, line in enumerate(lines) if line.startswith("Line "))
    last = next(n for n, line in enumerate(lines) if line.endswith("total"))
    titles = lines[head].split()
    names = titles[1:-1]
    ends = [lines[head].index(f" {name} ") + 1 + len(name) for name in names]
    for name, end in zip(names, ends, strict=True):
        start = lines[head].rindex("  ", 0, end - len(name)) if name != names[0] else 4
        cells = [line[start:end].strip() for line in lines[head + 1 : last + 1]]
        numbers = [float(cell) for cell in cells if cell]
        assert sum(numbers[:-1]) == pytest.approx(numbers[-1], abs=0.011 * len(numbers)), name


@pytest.mark.parametrize(
    ("ports", "text"),
    [
        ("2 3", "ports 2,3"),
        ("0 1 5 6", "ports 0,1,5,6"),
        ("ALU0 ALU1 ALU2 ALU3", "ports ALU0-3"),
        ("BR ST0 ST1", "ports BR,ST0,ST1"),
        ("FP0 FP1 FP3 FP4 FP5", "ports FP0,FP1,FP3-5"),
        ("FP45", "port FP45"),
    ],
)
def test_ports_in_short(ports: str, text: str) -> None:
    k = kernel()
    force_setattr(k.bounds.prediction, "limited_by", ["port"])
    k.resources = [replace(k.resources[0], name=name, busiest=True) for name in ports.split()]
    assert overview(k).limit == text


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_table_goes_without_columns(width: int) -> None:
    made = report(*MANY)
    for kernel in made.units[0].kernels:
        kernel.role = replace(kernel.role, name="remainder")
        kernel.range = spread(100.25, 200.75)
    text = render(made, width, show=TextParts(overview=1))
    assert all("100.25–200.75" in row for row in rows(text))
    if width >= 60:
        assert max(len(row) for row in rows(text)) <= width


def test_long_names_give_way_first_and_keep_their_ends() -> None:
    made = report(*MANY)
    for kernel in made.units[0].kernels:
        force_setattr(kernel.overview, "function", "outer::very_long_name_of_a_class::" * 3 + "the_function")
        force_setattr(kernel.overview, "look", "sum chain, line crossings")
    found = rows(render(made, 110, show=TextParts(overview=1)))
    assert all("the_function  " in row and "chain xmm0" in row for row in found)
    assert all(row.endswith("sum chain, line crossings") for row in found)


def test_at_least_has_one_sign() -> None:
    made = report("a", "b")
    first, second = made.units[0].kernels
    first.at_least, second.at_least = True, False
    first.range = second.range = spread(2.5, None)
    found = rows(render(made, 100, show=TextParts(overview=1)))
    assert "≥ 2.50  " in found[0]
    assert "–" not in found[0]
    assert "  2.50–?  " in found[1]


def test_cycles_without_what_is_not_known_are_at_least_so_many() -> None:
    known, unknown = SUM.replace("NAME", "a"), SUM.replace("NAME", "b").replace("\tincq", "\tfrobnicate %rcx\n\tincq")
    first, second = analyze_units([Unit(assembly=known + unknown, assembly_file="x.s")], LOOPS).units[0].kernels
    assert first.elements is not None
    assert first.elements.text.startswith("4.00 cycles per iteration")
    assert second.at_least
    assert second.elements is None or second.elements.text.startswith("at least 4.00 cycles per iteration")
