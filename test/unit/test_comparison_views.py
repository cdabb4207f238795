"""The views of a comparison: text, assembly side by side, Markdown, JUnit, annotations; with any names."""

from __future__ import annotations

import itertools
import json
import re
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_comparisons import (
    alignment,
    cause,
    change,
    comparison,
    instruction,
    matrix,
    member,
    ordinary,
    row,
    side,
    with_assembly,
)
from msgspec.structs import force_setattr, replace

from incc.comparison import types as c
from incc.report.source.places import NamedKernels, assembly_is_kept
from incc.views.comparison import cells, markdown, side_by_side, text
from incc.views.comparison.cells import ComparisonParts
from incc.views.comparison.matrix import RowCycles, compared
from incc.views.exchange import annotations, junit
from incc.views.json import render as render_json
from incc.views.layout import Layout
from properties import examples

WIDTHS = [40, 60, 80, 100, 120, 200, 0]
EVERYTHING = ComparisonParts(everything=True, detail=True, side_by_side=())

# What breaks lines, tables, XML, workflows and terminals.
NAMES = st.text(
    st.sampled_from("ab|`\\<>&\"'@#*_[]()%:,\n\r\t\x00\x1b\x7f\ud800\u2028\u202e\ufffe😀µ/~-+"), min_size=0, max_size=30
)


def gated(found: c.ComparisonReport, *offenders: tuple[int, int, str]) -> c.ComparisonReport:
    return replace(found, gate=c.ComparisonGate("cycles > +5%", [c.FailingKernel(*each) for each in offenders]))


def lines_of(found: c.ComparisonReport, width: int = 100, show: ComparisonParts = ComparisonParts()) -> list[str]:  # noqa: B008
    return text.render(found, width, False, show).splitlines()


# --- text of two sides ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_is_longer_than_there_is_room(width: int, colour: bool) -> None:
    for found in (ordinary(), with_assembly(), matrix(["gcc-11", "gcc-12", "clang-19"])):
        gated(found, (0, 1, "forces at triad.c:12: cycles 2 → 5.4 (+170 %)"))
        printed = text.render(found, width, colour, EVERYTHING)
        plain = re.sub("\033\\[[0-9]*m", "", printed)
        assert ("\033" in printed) == colour
        if width >= 80:
            assert max(map(len, plain.splitlines())) <= width
        # Colour says nothing that is not written.
        assert plain == text.render(found, width, False, EVERYTHING)


def test_what_is_compared_and_what_became_of_it() -> None:
    lines = lines_of(ordinary(), 0)
    assert lines[0] == "A  old  old.json, gcc 12.2.0, 7 kernels"
    assert lines[1] == "B  new  new.json, clang 19.1.0, 7 kernels"
    assert lines[2] == "Cycles of Intel Skylake, model skylake 1.1"
    assert lines[4] == (
        "6 kernels: 1 the same, 1 moved, 1 equally fast with other code, 1 faster, 1 slower, 1 not comparable; "
        "geometric mean of cycles +25 %; 1 only in A (old); 1 only in B (new)."
    )


def test_the_table_has_what_changed() -> None:
    lines = lines_of(ordinary(), 140)
    start = next(n for n, line in enumerate(lines) if line.startswith("#"))
    table = [line for line in lines[start : start + 5] if line]
    assert table[0].split() == [
        "#",
        "Line",
        "Function",
        "old",
        "new",
        "Change",
        "Bound",
        "by",
        "Vectors",
        "Match",
        "Why",
    ]
    assert [line.split()[2] for line in table[1:]] == ["forces", "sum", "dot"]
    assert re.search("2.00 +5.40 +×2.70 ", table[1])
    assert "ports 2,3 → divider" in table[1]
    assert "scalar instead of 256-bit" in table[1]
    assert "-25 %" in table[2]
    assert "? 62 %" in table[2]
    # What cannot be compared has no cycles on a basis; those of an iteration are in parentheses.
    assert re.search(r"\(4.00\) +\(4.00\) +\?", table[3])


def test_everything_has_what_did_not_change() -> None:
    names = {
        line.split()[2]
        for line in lines_of(ordinary(), 140, ComparisonParts(everything=True))
        if re.match("[0-9] +tri", line)
    }
    assert names == {"forces", "sum", "dot", "scale", "copy", "same"}
    # So has a condition that chose them.
    found = ordinary()
    force_setattr(found, "where", "outcome == 'same'")
    assert "Kernels for which outcome == 'same':" in lines_of(found)
    assert any(re.match("6 .* same ", line) for line in lines_of(found, 140))


def test_rows_are_counted_and_ordered() -> None:
    lines = lines_of(ordinary(), 140, ComparisonParts(top=1))
    assert "and 2 more rows: --top=3 shows them" in lines
    assert not any(line.startswith("[2]") for line in lines)
    starts = [
        line.split()[0]
        for line in lines_of(ordinary(), 140, ComparisonParts(sort="name"))
        if re.match("[0-9] +tri", line)
    ]
    assert starts == ["3", "1", "2"]
    starts = [
        line.split()[0]
        for line in lines_of(ordinary(), 140, ComparisonParts(sort="ratio"))
        if re.match("[0-9] +tri", line)
    ]
    assert starts == ["1", "2", "3"]


def test_figures_are_of_an_element_where_elements_are_compared() -> None:
    a = member(figures={"elements": 4.0, "instructions": 6, "spills": 0})
    b = member(figures={"elements": 8.0, "instructions": 12, "spills": 2, "bytes": 50, "critical_path": 20.0})
    found = {f.name: (f.a, f.b) for f in cells.differing(a, b, change(1.0, 1.5, work=2.0, scale_b=0.125))}
    # Twice the instructions for twice the elements are as many; a path through one iteration is of no element.
    assert "instructions" not in found
    assert "critical path" not in found
    assert found["spills"] == ("0", "0.25")
    assert found["port" + "s"] == ("1", "0.5")
    assert found["elements per iteration"] == ("4", "8")
    assert found["bytes of code"] == ("25", "50")


def test_figures_of_a_part_are_said_to_be_of_it() -> None:
    a, b = member(), member(parts=["f/loop2"], figures={"instructions": 5})
    lines = lines_of(comparison([side("a"), side("b")], [row([a, b], [None, change(1.0, 1.5)])]))
    assert "Per element, this part only: instructions 1.5 → 1.25" in "\n".join(lines)


def test_figures_are_put_to_the_work_of_an_iteration_that_does_more() -> None:
    a, b = member(figures={"elements": None}), member(figures={"elements": None, "instructions": 12})

    def differing(*members: Any, scale_a: float | None, scale_b: float | None) -> dict[str, tuple[str, str]]:
        became = change(8.0, 4.0, basis="work", scale_a=scale_a, scale_b=scale_b)
        return {f.name: (f.a, f.b) for f in cells.differing(*members, became)}

    assert "instructions" not in differing(a, b, scale_a=2.0, scale_b=1.0)
    assert "instructions" not in differing(b, a, scale_a=1.0, scale_b=2.0)
    assert differing(a, b, scale_a=None, scale_b=None) == {}
    assert differing(a, b, scale_a=1.0, scale_b=1.0) == {"instructions": ("6", "12")}


@given(st.floats(0.01, 100))
def test_changes_read_the_same_both_ways(ratio: float) -> None:
    there, back = cells.relative(ratio), cells.relative(1 / ratio)
    if "×" in there + back:
        assert {there[0], back[0]} == {"×", "÷"}
        assert there[1:] == back[1:]
    elif there == "0\xa0%":
        assert back == "0\xa0%"
    else:
        assert (there[0], back[0]) in (("+", "-"), ("-", "+"))


def test_nothing_changed() -> None:
    rows = [row([member(), member()], [None, change(outcome="same", matched_by="content")]) for _ in range(3)]
    lines = lines_of(comparison([side("a"), side("b")], rows))
    assert "3 kernels, nothing changed." in lines
    assert not any(line.startswith("#") for line in lines)


def test_nothing_in_common() -> None:
    lines = lines_of(comparison([side("a"), side("b")], [row([member(), None], [None, None])]))
    assert "no kernel is on both sides; 1 only in A (a)." in lines


def test_a_variant_is_known_by_what_differs() -> None:
    command = "gcc -g1 -c foo.c -O2"
    variant = side("-O2", input=command, variant={"compiler": "", "flags": ["-O2"], "mcpu": ""})
    assert lines_of(comparison([side("a"), variant], []))[1] == "B  -O2  gcc 12.2.0, 1 kernel"


def test_what_is_not_counted_is_seen_in_the_figures() -> None:
    part = member(figures={"at_least": True})
    found = comparison(
        [side("a"), side("b")], [row([part, member()], [None, change(1.0, 1.0, outcome="unknown")], base=0)]
    )
    first = next(line for line in lines_of(found, 140) if re.match("1 +triad", line))
    assert re.search(r"≥ 1\.00 +1\.00 +\? ", first)
    alone = comparison([side("a"), side("b")], [row([part, None], [None, None]), row([member()] * 2, [None, change()])])
    assert any("≥ 1.00 cycles per element" in line for line in lines_of(alone, 140))


def test_problems_and_notes_are_said() -> None:
    found = comparison([side("a", notes=["read from an old schema"]), side("b", problem="error: no such flag")], [])
    force_setattr(found, "notes", ["cycles are of different cores"])
    lines = lines_of(found)
    assert "B  b  b.json, gcc 12.2.0, skylake, error: no such flag" in lines or any("no such flag" in x for x in lines)
    assert "Note: cycles are of different cores" in lines
    assert "Note: A (a): read from an old schema" in lines
    # Once is enough.
    found.notes.append("a: read from an old schema")
    assert sum("old schema" in line for line in lines_of(found)) == 1


def test_what_could_not_be_compiled_is_said_once() -> None:
    found = comparison(
        [side("a"), side("b", problem="no such compiler", kernels=0)], [row([member(), None], [None, None])]
    )
    force_setattr(found, "notes", ["b: no such compiler"])
    lines = lines_of(found)
    assert sum("no such compiler" in line for line in lines) == 1
    assert lines[-1] == "There is no second side to compare with."


def test_of_many_sides_the_table_has_the_sums() -> None:
    assert any(line.startswith("B: 3 kernels") for line in lines_of(matrix(list("abcde"))))
    lines = lines_of(matrix(list("abcdef")))
    assert not any(line.startswith("B: ") for line in lines)
    assert any("geom. mean" in line for line in lines)
    same = [row([member()] * 6, [None, *[change(outcome="same")] * 5])]
    assert "F: 1 kernel, nothing changed." in lines_of(comparison([side(x) for x in "abcdef"], same))


def test_loops_beside_a_main_loop_say_so() -> None:
    rest = row([member(role="remainder"), member()], [None, change(1.0, 2.0)])
    assert any("triad, remainder" in line for line in lines_of(comparison([side("a"), side("b")], [rest]), 140))


def test_remainders_that_one_side_alone_has_are_one_line() -> None:
    """They come and go with the loops that they belong to; who wants to see all sees them."""
    alone = [row([None, member(f"f{n}", role="remainder" if n else "main")], [None, None]) for n in range(4)]
    alone.append(row([None, member("g", role="prologue")], [None, None]))
    found = comparison([side("a"), side("b")], [row([member(), member()], [None, change()]), *alone])
    said = text.render(found)
    assert "  triad.c:4 in f0: 1.00 cycles per element, ports 2,3\n" in said
    assert "  and 3 remainders and 1 prologue: listed with --all\n" in said
    assert "f1" not in said
    assert "f3, remainder" in text.render(found, show=EVERYTHING)
    assert "Only in B: `f0` triad.c:4, 3 remainders and 1 prologue." in markdown.render(found).replace("\u200b", "")
    force_setattr(found, "rows", [one for one in found.rows if one.name != "f0"])
    assert "  3 remainders and 1 prologue: listed with --all\n" in text.render(found)


def test_on_another_core_the_code_may_be_the_same() -> None:
    model = {"name": "znver4", "title": "AMD Zen 4", "version": "1.1"}
    rows = [row([member(), member()], [None, change()])]
    assert "equally fast with other code" in text.render(comparison([side("a"), side("b")], rows))
    said = text.render(comparison([side("a"), side("b", models=[model])], rows))
    assert "1 equally fast;" in said


def test_figures_beyond_all_measure_take_little_room() -> None:
    made = row([member(figures={"cycles": 1e300}), member()], [None, change(1e300, 1.0)])
    assert max(map(len, lines_of(comparison([side("a"), side("b")], [made]), 0))) < 200


def test_of_many_sides_there_is_no_empty_paragraph() -> None:
    sides = [side(name) for name in "abcdefgh"]
    rows = [row([member() for _ in sides], [None, *(change(1.0, 2.0) for _ in sides[1:])])]
    lines = lines_of(comparison(sides, rows))
    assert all(one or other for one, other in itertools.pairwise(lines))


def test_models_that_differ_are_with_their_sides() -> None:
    zen = [{"name": "znver4", "title": "AMD Zen 4", "version": "1.0"}]
    lines = lines_of(comparison([side("a"), side("b", models=zen)], []))
    assert lines[:2] == ["A  a  a.json, gcc 12.2.0, skylake, 1 kernel", "B  b  b.json, gcc 12.2.0, znver4, 1 kernel"]


def test_offenders_are_at_the_end() -> None:
    lines = lines_of(gated(ordinary(), (0, 1, "forces at triad.c:12: cycles 2 → 5.4 (+170 %)")))
    assert lines[-2:] == ["1 kernel for which cycles > +5%:", "  [1] forces at triad.c:12: cycles 2 → 5.4 (+170 %)"]
    assert lines_of(gated(ordinary()))[-1] == "No kernel for which cycles > +5%."


def test_many_rows_have_no_details_but_the_first() -> None:
    rows = [row([member(f"f{n}"), member(f"f{n}")], [None, change(1.0, 2.0)]) for n in range(30)]
    found = comparison([side("a"), side("b")], rows)
    lines = lines_of(found)
    assert sum(line.startswith("[") for line in lines) == text.FEW
    assert "Figures and causes of 20 more rows: --detail" in lines
    assert sum(line.startswith("[") for line in lines_of(found, 100, ComparisonParts(detail=True))) == 30


def test_not_thousands_of_rows_unless_they_are_asked_for() -> None:
    rows = [row([member(f"f{n}"), member(f"f{n}")], [None, change(1.0, 2.0)]) for n in range(200)]
    found = comparison([side("a"), side("b")], rows)

    def shown(show: ComparisonParts) -> int:
        return sum(bool(re.match(" *[0-9]+ +triad.c", line)) for line in lines_of(found, 100, show))

    assert shown(ComparisonParts()) == text.MOST
    assert f"and {200 - text.MOST} more rows: --top=200 shows them" in lines_of(found)
    assert shown(ComparisonParts(top=150)) == 150
    assert shown(ComparisonParts(everything=True)) == 200


# --- several sides ----------------------------------------------------------------------------------------------------


def test_a_matrix_marks_the_fewest() -> None:
    lines = lines_of(matrix(["gcc-11", "gcc-12", "clang-19"]))
    start = next(n for n, line in enumerate(lines) if line.startswith("#"))
    assert lines[start].split() == ["#", "Line", "Function", "gcc-11", "gcc-12", "clang-19"]
    assert lines[start + 1].split() == ["1", "triad.c:5", "kernel0", "1.00*", "1.10", "+10", "%", "-"]
    assert lines[start + 2].split()[3:] == ["2.00*", "2.20", "+10", "%", "2.40", "+20", "%"]
    assert lines[start + 5].split() == ["fewest", "in", "3", "0", "0"]


def test_a_matrix_has_doubts_next_to_the_cycles() -> None:
    """They stay if there is no room for changes."""
    found = unsure()
    meaning = "?: how sure it is that both are the same loop:"
    for width in (120, 72, 55):
        lines = lines_of(found, width)
        start = next(n for n, line in enumerate(lines) if line.startswith("#"))
        assert " ".join(lines[:start]).endswith(meaning)
        assert [line.partition("? 62 %")[1:] for line in lines[start + 1 : start + 4] if "?" in line] == [
            ("? 62 %", "")
        ]
    assert meaning not in " ".join(lines_of(matrix(["gcc-11", "gcc-12", "clang-19"])))
    text = markdown.render(found)
    assert "| 2.40 +20\xa0% ? 62 % |" in text
    assert "bold: the fewest; ?: how sure it is that both are the same loop." in text


def unsure() -> c.ComparisonReport:
    """A table of three sides, of which the last one's second kernel may be another loop."""
    found = matrix(["gcc-11", "gcc-12", "clang-19"])
    for unsure_change, confidence in zip(found.rows[1].changes[1:], (0.8, 0.62), strict=True):
        assert unsure_change is not None
        unsure_change.confidence = confidence
    return found


def test_a_matrix_has_no_change_of_kernels_that_are_not_comparable() -> None:
    found = matrix(["gcc-11", "gcc-12", "clang-19"])
    unknown = found.rows[1].changes[2]
    assert unknown is not None
    unknown.outcome = "unknown"
    (line,) = [line for line in lines_of(found) if " kernel1 " in line]
    assert line.split()[-5:] == ["2.20", "+10", "%", "2.40", "?"]


@pytest.mark.parametrize("width", [60, 80, 100, 200])
def test_a_wide_matrix_goes_on_below(width: int) -> None:
    labels = [f"gcc-{n} -O3 -funroll-loops znver{n}" for n in range(20)]
    lines = lines_of(matrix(labels), width)
    assert max(map(len, lines)) <= width
    heads = [word for line in lines if line.startswith("#") for word in line.split()[3:]]
    assert heads == [cells.letter(n) for n in range(20)]
    # Every side has all its cells, wherever it stands.
    assert re.findall(r"(?<![0-9×])[12]\.[0-9]0(?=[* ]|$)", " ".join(x for x in lines if " kernel0 " in x)) == [
        f"{1 + 0.1 * n:.2f}" for n in range(19)
    ]


@pytest.mark.parametrize("label", ["Line", "#", "Function", "Change", "Why"])
def test_labels_may_be_titles(label: str) -> None:
    assert "A" in next(
        line for line in lines_of(matrix([label, "b", "c"])) if line.startswith("#")
    ).split() or label in (
        "Change",
        "Why",
    )
    found = ordinary()
    force_setattr(found.sides[0], "label", label)
    assert next(line for line in lines_of(found, 140) if line.startswith("#")).split()[3] in ("A", label)
    assert re.search("2.00 +5.40", "\n".join(lines_of(found, 140)))


def test_cycles_on_different_bases_come_to_one() -> None:
    """Where elements are not known of all, cycles are for the work of the base's iteration."""
    members: list[Any] = [member(figures={"cycles": 8.0}), member(), member()]
    one = row(members, [None, change(2.0, 1.0), change(16.0, 32.0, basis="work", work=2.0, scale_a=2.0, scale_b=1.0)])
    assert compared(one) == RowCycles("iteration", (8.0, 4.0, 16.0))
    assert compared(row(members[:2], [None, change(2.0, 1.0)])) == RowCycles("element", (2.0, 1.0))
    assert compared(row(members[:2], [None, change(None, None)])) == RowCycles("iteration", (8.0, None))


def test_letters() -> None:
    assert [cells.letter(n) for n in (0, 25, 26, 27, 26 + 26 * 26)] == ["A", "Z", "AA", "AB", "AAA"]


# --- side by side -----------------------------------------------------------------------------------------------------


def test_assembly_side_by_side() -> None:
    lines = lines_of(with_assembly(), 120, ComparisonParts(side_by_side=()))
    start = next(n for n, line in enumerate(lines) if " next to " in line)
    body = lines[start + 2 : start + 7]
    marks = [re.search(r" ([~:|<>]) ", line[40:80]) for line in body]
    assert [mark and mark[1] for mark in marks] == ["~", ">", "~", ":", "|"]
    assert "vmovupd 8(%rsp), %ymm2" in body[1]
    assert "X" in body[4]  # not in the model
    assert lines[start + 7].split() == ["11", "1", "4.00", "cycles", "11", "12", "9.00", "cycles"]


def test_assembly_has_fewer_columns_where_there_is_no_room() -> None:
    seen = []
    for width in (200, 110, 90, 60, 40):
        lines = lines_of(with_assembly(), width, ComparisonParts(side_by_side=()))
        start = next(
            n for n, line in enumerate(lines) if " next to " in line or line.startswith("[1] triad.c:4 in triad: A")
        )
        head = next(line for line in lines[start:] if re.search(r"\bA\b.*\bB$", line) and " next to " not in line)
        seen.append(len(head.split()))
        assert all("vmovupd" in line for line in lines if "(%rdx" in line)
    assert seen == sorted(seen, reverse=True)
    assert seen[0] > seen[-1]


@pytest.mark.parametrize(
    ("wanted", "room", "shared"),
    [((10, 20), 40, [10, 20]), ((10, 60), 40, [10, 30]), ((60, 10), 40, [30, 10]), ((60, 60), 41, [20, 21])],
)
def test_the_longer_instructions_have_what_the_shorter_leave(
    wanted: tuple[int, int], room: int, shared: list[int]
) -> None:
    assert side_by_side._shared(wanted, room) == shared


def test_assembly_of_what_was_named() -> None:
    found = ordinary()
    lines = lines_of(found, 100, ComparisonParts(side_by_side=(NamedKernels("same", 0), NamedKernels("none", 7))))
    # Of a kernel that did not change as well; here without instructions.
    assert "[6] triad.c:85 in same: A (old) next to B (new)" in lines
    assert "The comparison has no instructions." in lines
    assert "Side by side: no kernel matches none:7." in lines
    lines = lines_of(found, 100, ComparisonParts(side_by_side=(NamedKernels("gone", 95),)))
    assert "[7] triad.c:95 in gone: only in A (old)" in lines


# --- Markdown ---------------------------------------------------------------------------------------------------------


def test_markdown() -> None:
    shown = markdown.render(gated(ordinary(), (0, 1, "forces: cycles 2 → 5.4")))
    lines = shown.splitlines()
    assert lines[0].startswith("**6 kernels: 1 the same")
    table = [line for line in lines if line.startswith("|")]
    assert "Cycles per element of the source loop:" in lines
    assert table[2].startswith("| 1 | `triad.c:12` | `forces` | 2.00 | 5.40 | 🔴 ×2.70 | ports 2,3 → divider |")
    assert len(table) == 5
    assert "❌ **1 kernel** for which `cycles > +5%`:" in lines
    assert "- forces: cycles 2 → 5.4" in lines
    assert shown.count("<details>") == shown.count("</details>") == 3


def test_markdown_has_assembly_as_a_diff() -> None:
    shown = markdown.render(with_assembly(), ComparisonParts(side_by_side=()))
    block = shown[shown.index("```diff") : shown.rindex("```")].splitlines()
    assert "- vmovupd (%rdx,%rax), %ymm1" in block
    assert "+ vmovupd 8(%rsp), %ymm2" in block
    assert "```diff" not in markdown.render(with_assembly())


def test_a_comment_has_no_more_than_github_takes() -> None:
    rows = [
        row(
            [member(f"f{n}" * 40), member(f"f{n}")],
            [None, change(1.0, 2.0, causes=[cause("why"), cause("so " * 2000)])],
        )
        for n in range(400)
    ]
    found = comparison([side("a"), side("b")], rows)
    shown = markdown.render(found, ComparisonParts(detail=True))
    assert len(shown) <= markdown.LIMIT
    assert "exceed the size of a comment" in shown
    assert shown.count("<details>") == shown.count("</details>")
    assert "… and 380 more rows." in shown
    shown = markdown.render(found, ComparisonParts(top=400))
    assert len(shown) <= markdown.LIMIT
    assert shown.endswith("The rest exceeds the size of a comment.\n")


@given(NAMES, st.integers(300, 3000))
@examples(60)
def test_a_comment_is_never_longer_than_its_limit(name: str, limit: int) -> None:
    assert len(markdown.render(hostile(name), EVERYTHING, limit)) <= limit


# --- hostile names ----------------------------------------------------------------------------------------------------


def hostile(name: str) -> c.ComparisonReport:
    """A comparison in which this is the text of everything that has one."""
    texts: Any = {
        "function": name, "function_name": name, "kernel_id": name, "assembly_file": name, "label": name, "limit": name,
        "vector": name, "hints": [name], "parts": [name], "source": {"file": name, "line": 3},
    }  # fmt: skip
    a = member(**texts, instructions=[instruction(0, name)], resources=[])
    b = member(**{**texts, "hints": []}, instructions=[instruction(0, name + "x")], resources=[])
    became = change(
        1.0, 2.0, text=name, causes=[cause(name)], alignment=alignment((0, None, "removed"), (None, 0, "added"))
    )
    rows = [row([a, b], [None, became]), row([a, None], [None, None])]
    sides = [side(name or "A", input=name, compilers=[name], notes=[name]), side(name + "2", problem="")]
    found = comparison(sides, rows, notes=[name])
    return gated(found, (0, 1, name))


def controls(text_: str) -> set[str]:
    return {
        x
        for x in text_
        if x != "\n" and not x.isprintable() and x not in "\xa0\u200b" and not "\ud800" <= x <= "\udfff"
    }


@given(NAMES, st.sampled_from([60, 80, 0]))
def test_any_name_is_printed(name: str, width: int) -> None:
    assert not controls(text.render(hostile(name), width, False, EVERYTHING)) - {"\ufffe"}


@given(NAMES)
def test_any_name_is_written_as_markdown(name: str) -> None:
    shown = markdown.render(hostile(name), EVERYTHING)
    shown.encode()
    outside = re.sub(r"(?ms)^(```+)diff$.*?^\1$|(?<!`)`[^`\n]*`(?!`)", "", shown)
    assert "`" not in outside
    assert not re.search(r"@(?!\u200b)", outside)
    # Only our own tags, whatever is in the names; and rows have their columns.
    assert set(re.findall(r"</?[a-z]+", outside)) <= {
        "<details",
        "</details",
        "<summary",
        "</summary",
        "<code",
        "</code",
    }
    rows = [line for line in shown.splitlines() if line.startswith("| ")]
    assert len(rows) == 3
    assert len({len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in rows}) == 1


@given(NAMES)
def test_any_name_is_valid_xml(name: str) -> None:
    root = ElementTree.fromstring(junit.render(hostile(name)).encode())
    assert (root.get("tests"), root.get("failures"), root.get("skipped")) == ("1", "1", "0")
    (case,) = root.iter("testcase")
    assert case.find("failure") is not None


@given(NAMES)
def test_any_name_is_one_command(name: str) -> None:
    (line,) = annotations.render(hostile(name)).split("\n")[:-1]
    found = re.fullmatch(r"::error ([^:]*)::(.*)", line)
    assert found
    properties = dict(part.split("=", 1) for part in found[1].split(","))
    assert set(properties) == {"file", "line", "title"}
    assert properties["line"] == "3"


# --- JUnit, annotations, JSON -----------------------------------------------------------------------------------------


def test_junit_has_a_test_for_each_pair() -> None:
    root = ElementTree.fromstring(junit.render(gated(ordinary(), (0, 1, "forces: cycles 2 → 5.4"))))
    cases = {str(case.get("name")): case for case in root.iter("testcase")}
    assert len(cases) == 6
    failed = cases["forces (forces/loop1)"].find("failure")
    assert failed is not None
    assert failed.get("message") == "forces: cycles 2 → 5.4"
    assert failed.get("type") == "cycles > +5%"
    assert "- scalar instead" in str(failed.text)
    assert cases["dot (dot/loop1)"].find("skipped") is not None
    assert [len(list(case)) for case in cases.values()] == [1, 0, 1, 0, 0, 0]
    (suite,) = root.iter("testsuite")
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("6", "1", "1")


def test_junit_has_a_suite_for_each_side_and_what_could_not_be_compiled() -> None:
    found = matrix(["a", "b", "c"])
    force_setattr(found.sides[1], "problem", "error: no such flag")
    root = ElementTree.fromstring(junit.render(found))
    assert [suite.get("name") for suite in root] == ["a → b", "a → c"]
    assert next(root.iter("error")).get("message") == "error: no such flag"


def test_annotations_are_errors_for_offenders() -> None:
    shown = annotations.render(gated(ordinary(), (0, 1, "forces: 50% more, cycles 2 → 5.4")))
    assert shown == (
        "::error file=triad.c,line=14,title=incc%3A forces ×2.70::forces: 50%25 more, cycles 2 → 5.4%0A"
        "scalar instead of 256-bit vectors: +3.4 cycles\n"
    )


def test_annotations_without_a_condition_are_warnings_for_what_is_slower() -> None:
    (line,) = annotations.render(ordinary()).splitlines()
    assert line.startswith("::warning file=triad.c,line=14,title=incc%3A forces ×2.70::forces: 2.0 → 5.4 cycles")
    assert annotations.render(gated(ordinary())) == ""


def test_json_is_the_comparison_with_a_line_for_each_row() -> None:
    for found in (with_assembly(), ordinary(), comparison([side("a"), side("b")], [])):
        shown = render_json(found)
        assert json.loads(shown) == msgspec.to_builtins(found)
        assert [
            json.loads(line.rstrip(",")) for line in shown.splitlines() if line.startswith('    {"name": ')
        ] == msgspec.to_builtins(found.rows)


def test_lines_of_a_compilers_assembly_are_named_asm() -> None:
    assert assembly_is_kept("", "x.s")
    assert assembly_is_kept("x.s", "x.s")
    assert assembly_is_kept("x.c", "/kept/x-1.s")
    assert not assembly_is_kept("x.c", "x.s")
    assert Layout(80, False).assembly_place("x.c", "x.s", 3) == "x.c asm 3"
    assert Layout(80, False).assembly_place("x.s", "x.s", 3) == "x.s:3"
