"""Which kernel of one build is which of another: properties, and what each rule is for."""

from __future__ import annotations

import itertools
import random
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from comparison_fixtures import loop, report_of
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

from incc.comparison.build import compare
from incc.comparison.match import Matching, match
from incc.comparison.match_assign import assign
from incc.comparison.match_features import Features, path_likeness
from incc.comparison.side import ComparedBuild, SideKernel, entries_of, in_memory
from incc.frontends.isa import FormWork, isa
from incc.report import types as t
from properties import examples
from struct_fixtures import filled

if TYPE_CHECKING:
    from collections.abc import Sequence

LOAD = "VEX_VMOVUPD_YMM_YMMM256/m"
ADD = "VEX_VADDPD_YMM_YMM_YMMM256/r"
MUL = "VEX_VMULPD_YMM_YMM_YMMM256/m"
FMA = "VEX_VFMADD231PD_YMM_YMM_YMMM256/m"
DIV = "VEX_VDIVPD_YMM_YMM_YMMM256/m"
SQRT = "VEX_VSQRTPD_YMM_YMMM256/m"
MAX = "VEX_VMAXPS_YMM_YMM_YMMM256/m"
STORE = "VEX_VMOVUPD_YMMM256_YMM/m"
SCALAR_ADD = "VEX_VADDSD_XMM_XMM_XMMM64/r"
SCALAR_MUL = "VEX_VMULSD_XMM_XMM_XMMM64/m"
END = ("ADD_RM64_IMM8/r", "CMP_RM64_R64/r", "JNE_REL8_64/r")
WORK = (ADD, MUL, FMA, DIV, SQRT, MAX, SCALAR_ADD, SCALAR_MUL, LOAD)


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel as far as matching looks at it. `content`: what tells its code from other code of the same forms."""

    function: str
    number: int
    forms: tuple[str, ...]
    line: int = 0
    content: str = ""
    unit: str = "a.c"
    role: str = "main"
    of: str = ""
    elements: float = 4.0
    step: int = 32
    loaded: int = 32
    stored: int = 0
    first_line: int = 10
    inlined_from: str = ""
    depth: int = 1
    lines: tuple[int, ...] = ()
    """The lines of its first instructions; the others have the loop's line."""


def entry(loop: Loop) -> SideKernel:
    place = {"file": loop.unit, "line": loop.line} if loop.line else None
    forms = (*loop.forms, *END)
    kernel: Any = {
        "kernel_id": f"{loop.function}/loop{loop.number}",
        "content_hash": f"{' '.join(forms)} {loop.content}",
        "function": loop.function,
        "function_name": loop.function,
        "source_function": loop.inlined_from or loop.function,
        "source": place,
        "near": None,
        "inlined": [],
        "inlined_into": [],
        "role": {"name": loop.role, "of": loop.of, "instead": False, "basis": "inferred", "text": ""},
        "kind": "loop",
        "depth": loop.depth,
        "isa": "x86",
        "elements": {"per_iteration": loop.elements} if loop.elements else None,
        "size": {"instructions": len(forms)},
        "memory": {"bytes_loaded": loop.loaded, "bytes_stored": loop.stored, "step": loop.step},
        "first_line": loop.first_line,
    }
    unit: Any = {"source": loop.unit, "assembly_file": f"{loop.unit}.s", "model": {"name": "znver4"}}
    places = [{"file": loop.unit, "line": line} for line in loop.lines]
    instructions: Any = [
        {"form": form, "text": form, "source": own}
        for form, own in itertools.zip_longest(forms, places, fillvalue=place)
    ]
    unit["kernels"] = [{**kernel, "instructions": instructions}]
    return entries_of(filled(t.UnitReport, unit))[0]


def matching(a: Sequence[Loop], b: Sequence[Loop]) -> Matching:
    return match([entry(loop) for loop in a], [entry(loop) for loop in b])


def pairs(found: Matching) -> set[tuple[int, int]]:
    return {(m.a, m.b) for m in found.matches}


@st.composite
def builds(draw: st.DrawFn, names: Sequence[str] = ("f", "g", "scale_rows", "sum")) -> list[Loop]:
    """Functions with a few loops each, of which main loops may have remainders."""
    found: list[Loop] = []
    for unit in draw(st.lists(st.sampled_from(("a.c", "b.c", "lib/a.c")), min_size=1, max_size=2, unique=True)):
        for function in draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
            lines = draw(st.booleans())
            number = 0
            for _ in range(draw(st.integers(1, 3))):
                number += 1
                main = Loop(
                    function=function,
                    number=number,
                    forms=tuple(draw(st.lists(st.sampled_from(WORK), min_size=1, max_size=5))),
                    line=draw(st.integers(1, 60)) if lines else 0,
                    unit=unit,
                    elements=draw(st.sampled_from((0.0, 1.0, 4.0))),
                    stored=draw(st.sampled_from((0, 32))),
                    first_line=10 * len(found) + 10,
                )
                found.append(main)
                if draw(st.booleans()):
                    number += 1
                    found.append(
                        replace(
                            main,
                            number=number,
                            forms=(SCALAR_ADD,),
                            role=draw(st.sampled_from(("remainder", "fallback"))),
                            of=f"{function}/loop{main.number}",
                            elements=1.0,
                            first_line=10 * len(found) + 10,
                        )
                    )
    return found


@pytest.mark.long
@examples(40)
@given(builds(), builds())
def test_both_ways_alike(a: list[Loop], b: list[Loop]) -> None:
    forth, back = matching(a, b), matching(b, a)
    assert {(m.a, m.b, m.by, m.confidence, m.parts_a, m.parts_b) for m in forth.matches} == {
        (m.b, m.a, m.by, m.confidence, m.parts_b, m.parts_a) for m in back.matches
    }
    assert (forth.only_a, forth.only_b) == (back.only_b, back.only_a)


@examples(40)
@given(builds(), builds())
def test_each_once(a: list[Loop], b: list[Loop]) -> None:
    found = matching(a, b)
    for loops, used, only in (
        (a, [m.a for m in found.matches] + [p for m in found.matches for p in m.parts_a], found.only_a),
        (b, [m.b for m in found.matches] + [p for m in found.matches for p in m.parts_b], found.only_b),
    ):
        assert sorted([*used, *only]) == list(range(len(loops)))
    assert [m.b for m in found.matches] == sorted(m.b for m in found.matches)
    assert all(0 <= m.confidence <= 1 for m in found.matches)
    for m in found.matches:
        # A remainder is never a main loop's.
        assert (a[m.a].role == "main") == (b[m.b].role == "main") or m.by == "content"


@pytest.mark.long
@examples(40)
@given(builds())
def test_a_build_is_itself(loops: list[Loop]) -> None:
    for given_twice in (loops, loops + loops):
        found = matching(given_twice, given_twice)
        assert [(m.a, m.b, m.by, m.confidence) for m in found.matches] == [
            (n, n, "content", 1.0) for n in range(len(given_twice))
        ]


@pytest.mark.long
@examples(40)
@given(builds(), builds(), st.randoms(use_true_random=False))
def test_the_order_of_kernels_decides_nothing(a: list[Loop], b: list[Loop], rnd: random.Random) -> None:
    mixed_a, mixed_b = rnd.sample(a, len(a)), rnd.sample(b, len(b))
    found, mixed = matching(a, b), matching(mixed_a, mixed_b)
    assert {(a[m.a], b[m.b], m.by, m.confidence) for m in found.matches} == {
        (mixed_a[m.a], mixed_b[m.b], m.by, m.confidence) for m in mixed.matches
    }


@examples(40)
@given(builds())
def test_renamed_functions_keep_equal_code(loops: list[Loop]) -> None:
    loops = [replace(loop, content=str(n)) for n, loop in enumerate(loops)]
    renamed = [
        replace(loop, function=f"x{loop.function}y", of=loop.of and f"x{loop.function}y/{loop.of.partition('/')[2]}")
        for loop in loops
    ]
    found = matching(loops, renamed)
    assert pairs(found) == {(n, n) for n in range(len(loops))}
    assert {m.by for m in found.matches} <= {"content"}


@examples(40)
@given(builds(), builds(names=("other", "unlike")))
def test_what_is_added_changes_no_equal_code(loops: list[Loop], added: list[Loop]) -> None:
    loops = [replace(loop, content=str(n)) for n, loop in enumerate(loops)]
    added = [replace(loop, content=f"new {n}", unit=f"new/{n}.c") for n, loop in enumerate(added)]
    found = matching(loops, loops + added)
    assert {(m.a, m.b, m.by, m.confidence) for m in found.matches} == {
        (n, n, "content", 1.0) for n in range(len(loops))
    }


@given(st.dictionaries(st.tuples(st.integers(0, 5), st.integers(0, 5)), st.integers(-3, 20), max_size=20))
def test_assignment_is_the_best(weights: dict[tuple[int, int], int]) -> None:
    chosen = assign(weights)
    assert len({row for row, _ in chosen}) == len({column for _, column in chosen}) == len(chosen)
    assert all(weights[pair] > 0 for pair in chosen)
    best = max(
        sum(max(0, weights.get((row, column), 0)) for row, column in enumerate(order))
        for order in itertools.permutations(range(6))
    )
    assert sum(weights[pair] for pair in chosen) == best
    mirrored = assign({(column, row): weight for (row, column), weight in weights.items()})
    assert sum(weights[row, column] for column, row in mirrored) == best


# --- rules ------------------------------------------------------------------------------------------------------------


def test_equal_tiny_loops_stay_in_their_functions() -> None:
    a = [Loop(function=f"f{n}", number=1, forms=(STORE,), stored=32, loaded=0, first_line=10 * n) for n in range(50)]
    b = [replace(loop, first_line=10 * n) for n, loop in enumerate(reversed(a))]
    assert pairs(matching(a, b)) == {(n, 49 - n) for n in range(50)}
    # Those of which there are fewer as well.
    assert pairs(matching(a, b[7:])) == {(n, 42 - n) for n in range(43)}


def test_equal_code_of_another_function_is_not_taken_from_its_own() -> None:
    a = [
        Loop(function="f", number=1, forms=(SCALAR_ADD,), elements=1.0),
        Loop(function="g", number=1, forms=(ADD, LOAD), content="g"),
    ]
    # f was vectorised, and g is as short as f was.
    b = [Loop(function="f", number=1, forms=(ADD,)), Loop(function="g", number=1, forms=(SCALAR_ADD,), elements=1.0)]
    assert pairs(matching(a, b)) == {(0, 0), (1, 1)}


def test_one_text() -> None:
    """In one text a line belongs to one loop, whatever the order of loops says."""
    a = [Loop(function="f", number=n, forms=(ADD, LOAD), line=10 * n, content=f"a{n}") for n in (1, 2, 3)]
    b = [replace(a[n], number=n, content=f"b{n}", line=a[n].line - 5) for n in (0, 2)]
    b += [replace(a[1], content="b1", line=a[1].line)]
    found = match([entry(loop) for loop in a], [entry(loop) for loop in b], same_text=True)
    assert pairs(found) == {(1, 2)}


@pytest.mark.parametrize(
    ("a", "b", "same"),
    [
        # Compilers report a loop by different ones of its lines.
        ({"line": 30, "lines": (31, 32, 33)}, {"line": 33, "lines": (31, 32)}, True),
        ({"line": 30, "lines": (31, 32, 33)}, {"line": 33, "lines": (31, 32, 33), "depth": 2}, True),
        # Both the loop and the next one use a function on line 5.
        ({"line": 20, "lines": (21, 22, 5)}, {"line": 30, "lines": (31, 32, 5)}, False),
        # The inner loop of the one build is unrolled in the other.
        ({"line": 24, "lines": (25, 26), "depth": 2}, {"line": 20, "lines": (21, 22, 23, 25, 26, 27)}, False),
    ],
)
def test_lines_that_loops_of_one_text_share(a: dict[str, Any], b: dict[str, Any], same: bool) -> None:
    one = Loop(function="f", number=1, forms=(ADD, LOAD, MUL, STORE), content="a", **a)
    forms = (ADD, LOAD, MUL, STORE) if same else (ADD, LOAD, DIV, MAX, ADD, ADD, ADD)
    other = Loop(function="f", number=1, forms=forms, content="b", **b)
    found = match([entry(one)], [entry(other)], same_text=True)
    assert any(m.confidence >= 0.8 for m in found.matches) == same


def test_lines_that_all_moved() -> None:
    a = [
        Loop(function="f", number=n, forms=(ADD, LOAD), line=10 * n, content=str(n), first_line=n) for n in (1, 2, 3, 4)
    ]
    # 30 lines were put before the function and a loop in it before the third.
    b = [replace(loop, line=loop.line + 30, content=f"new {loop.number}") for loop in a[:2]]
    b += [Loop(function="f", number=3, forms=(ADD, LOAD), line=55, content="came", first_line=3)]
    b += [replace(loop, line=loop.line + 30, number=loop.number + 1, content=f"new {loop.number}") for loop in a[2:]]
    assert pairs(matching(a, b)) == {(0, 0), (1, 1), (2, 3), (3, 4)}


@pytest.mark.parametrize(
    "copy",
    ["f.constprop.0", "f.isra.0", "f.part.0.cold", "f.llvm.1234567", "f.lto_priv.0", "f._omp_fn.0", "f.omp_outlined"],
)
def test_copies_are_their_function(copy: str) -> None:
    a = [Loop(function="f", number=1, forms=(DIV, MUL)), Loop(function="g", number=1, forms=(DIV, MUL), content="g")]
    b = [
        Loop(function="g", number=1, forms=(DIV, MUL), content="x"),
        Loop(function=copy, number=1, forms=(DIV, MUL), content="y"),
    ]
    found = matching(a, b)
    assert pairs(found) == {(0, 1), (1, 0)}
    assert {m.by for m in found.matches} == {"identity"}


def test_inlined_by_one_compiler() -> None:
    a = [Loop(function="helper", number=1, forms=(DIV, MUL)), Loop(function="user", number=1, forms=(SQRT,))]
    b = [
        Loop(function="user", number=1, forms=(DIV, MUL, MUL), inlined_from="helper"),
        Loop(function="user", number=2, forms=(SQRT, ADD)),
    ]
    found = matching(a, b)
    assert pairs(found) == {(0, 0), (1, 1)}
    assert {m.b: m.by for m in found.matches} == {0: "function", 1: "function"}


def test_remainders_go_with_their_main_loop() -> None:
    a = [
        Loop(function="f", number=1, forms=(DIV, MUL), line=10),
        Loop(function="f", number=2, forms=(SCALAR_MUL,), line=10, role="remainder", of="f/loop1", elements=1.0),
        Loop(function="f", number=3, forms=(SQRT,), line=20),
        Loop(function="f", number=4, forms=(SCALAR_ADD,), line=20, role="remainder", of="f/loop3", elements=1.0),
    ]
    # The second loop's remainder looks now as the first one's did, and the first has none any more.
    b = [
        Loop(function="f", number=1, forms=(DIV, MUL, LOAD), line=10),
        Loop(function="f", number=2, forms=(SQRT, LOAD), line=20),
        Loop(function="f", number=3, forms=(SCALAR_MUL,), line=20, role="remainder", of="f/loop2", elements=1.0),
    ]
    found = matching(a, b)
    assert pairs(found) == {(0, 0), (2, 1), (3, 2)}
    assert found.only_a == (1,)


def test_split_and_fused() -> None:
    whole = [Loop(function="f", number=1, forms=(DIV, STORE, MUL, MUL, ADD, STORE), line=10, loaded=64, stored=64)]
    split = [
        Loop(function="f", number=1, forms=(MUL, MUL, ADD, STORE), line=10, stored=32, content="1"),
        Loop(function="f", number=2, forms=(DIV, STORE), line=12, stored=32, content="2"),
    ]
    found = matching(whole, split)
    (only,) = found.matches
    assert {only.b, *only.parts_b} == {0, 1}
    assert not only.parts_a
    assert not found.only_b
    (back,) = matching(split, whole).matches
    assert (back.a, back.parts_a) == (only.b, only.parts_b)
    # Two versions of one loop are not its parts.
    versions = [replace(whole[0], content=str(n), number=n, elements=e) for n, e in ((1, 4.0), (2, 1.0))]
    assert all(not m.parts_b for m in matching(whole, versions).matches)


def test_unlike_loops_of_other_functions_stay_alone() -> None:
    a = [Loop(function="old", number=1, forms=(DIV, SQRT, STORE), stored=32)]
    b = [Loop(function="new", number=1, forms=(MAX, ADD, ADD))]
    assert matching(a, b) == Matching((), (0,), (0,))


def test_a_rare_loop_is_found_under_another_name_in_another_file() -> None:
    common = [Loop(function=f"f{n}", number=1, forms=(ADD, MUL), content=str(n)) for n in range(30)]
    a = [
        *common,
        Loop(function="norms", number=1, forms=(MUL, SQRT, DIV, STORE), stored=32, unit="old.c", content="before"),
    ]
    b = [
        Loop(
            function="lengths", number=1, forms=(MUL, SQRT, DIV, STORE), stored=32, unit="new/file.c", content="after"
        ),
        *common,
    ]
    found = matching(a, b)
    assert (30, 0) in pairs(found)
    (moved,) = [m for m in found.matches if m.a == 30]
    assert moved.by == "similarity"
    assert 0.5 <= moved.confidence < 1


def test_widths_of_vectors_do_not_matter() -> None:
    wide, narrow = (
        entry(Loop(function="f", number=1, forms=(FMA,))),
        entry(Loop(function="f", number=1, forms=(SCALAR_MUL, SCALAR_ADD), elements=1.0, loaded=8)),
    )
    from incc.comparison.match_features import likeness

    assert likeness(Features(0, wide), Features(0, narrow)) > 0.9
    assert likeness(Features(0, wide), Features(0, entry(Loop(function="f", number=1, forms=(DIV,))))) < 0.4


@pytest.mark.long
def test_many_equal_loops_without_names() -> None:
    """Code without symbols: thousands of kernels of one function, which is none."""
    rnd = random.Random(3)
    a = [
        Loop(function="", number=n, forms=tuple(rnd.choices(WORK, k=12)), content=str(n), first_line=n)
        for n in range(600)
    ]
    b = [replace(loop, number=loop.number + 1, first_line=loop.first_line + 5) for loop in a[1:]]
    assert pairs(matching(a, b)) == {(n + 1, n) for n in range(599)}


def test_what_forms_do() -> None:
    work = isa("x86").form_work
    assert work(FMA) == FormWork(("fmul", "fadd"), "f64", 4)
    assert work("VEX_VFNMADD132SS_XMM_XMM_XMMM32/m") == FormWork(("fmul", "fadd"), "f32", 1)
    assert work("SUBPS_XMM_XMMM128/r") == FormWork(("fadd",), "f32", 4)
    assert work("VEX_VPADDD_YMM_YMM_YMMM256/r") == FormWork(("iadd",), "i32", 8)
    assert work("EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r") == FormWork(("fadd",), "f64", 8)
    assert work("ADD_R32_RM32/m") == FormWork(("iadd",), "i32", 1)
    assert work("ADD_RM64_IMM8/r").kinds == work("LEA_R64_M/m").kinds == ("index",)
    assert work("VEX_VCVTDQ2PD_YMM_XMMM128/r") == FormWork(("convert",), "32-64", 4)
    assert work("JNE_REL8_64/r").kinds == work(STORE).kinds == work("").kinds == ()
    assert isa("aarch64").form_work("FADD_V_V").kinds == ()


def test_likeness_of_paths() -> None:
    assert path_likeness("a/b.c", "a/b.c") == 1
    assert path_likeness("/x/a/b.c", "/y/a/b.c") > path_likeness("/x/b.c", "/y/b.c") > 0
    assert path_likeness("a/b.c", "a/c.c") == 0


def test_inlined_loops_move_with_the_text_they_are_written_in() -> None:
    # Of helper, moved by 100 lines, b has lost the first loop; caller itself moved by 7.
    def inlined(number: int, line: int) -> Loop:
        return Loop(
            function="caller", number=number, forms=(ADD, LOAD), line=line, content=str(line), inlined_from="helper"
        )

    a = [
        inlined(1, 10),
        inlined(2, 20),
        inlined(3, 30),
        Loop(function="caller", number=4, forms=(DIV,), line=200),
        Loop(function="caller", number=5, forms=(SQRT,), line=210),
    ]
    b = [
        inlined(1, 120),
        inlined(2, 130),
        Loop(function="caller", number=3, forms=(DIV,), line=207, content="b"),
        Loop(function="caller", number=4, forms=(SQRT,), line=217, content="b"),
    ]
    found = match([entry(loop) for loop in a], [entry(loop) for loop in b])
    assert {(m.a, m.b) for m in found.matches} == {(1, 0), (2, 1), (3, 2), (4, 3)}


def test_another_function_of_the_source_is_another_loop() -> None:
    # Both builds have loops of both texts: what stands in the caller at the other's place is not it.
    a = [
        Loop(function="caller", number=1, forms=(ADD, LOAD), line=10, content="a", inlined_from="one"),
        Loop(function="two", number=1, forms=(ADD, LOAD), line=40, content="a"),
    ]
    b = [
        Loop(function="caller", number=1, forms=(ADD, LOAD), line=45, content="b", inlined_from="two"),
        Loop(function="one", number=1, forms=(ADD, LOAD), line=15, content="b"),
    ]
    found = match([entry(loop) for loop in a], [entry(loop) for loop in b])
    assert {(m.a, m.b) for m in found.matches} == {(0, 1), (1, 0)}


def test_kernels_of_several_cores_are_matched_core_by_core() -> None:
    body = loop("\tvaddpd (%rdi,%rax), %ymm0, %ymm0\n\taddq $32, %rax\n", line=3)
    faster = loop("\tvaddpd (%rdi,%rax), %zmm0, %zmm0\n\taddq $64, %rax\n", line=3)

    def side(text: str, label: str, *cores: str) -> ComparedBuild:
        report = report_of(text, mcpu=cores[0])
        for core in cores[1:]:
            force_setattr(report, "units", report.units + (report_of(text, mcpu=core).units))
        return in_memory(report, label)

    both = side(body, "a", "skylake-avx512", "znver4")
    other = side(faster, "b", "znver4", "skylake-avx512")
    for a, b in ((both, other), (other, both)):
        rows = compare([a, b]).rows
        assert [{m.model for m in row.members if m} for row in rows] in (
            [{"skylake-avx512"}, {"znver4"}],
            [{"znver4"}, {"skylake-avx512"}],
        )
        assert {row.name for row in rows} == {"f (skylake-avx512)", "f (znver4)"}
    one = compare([both, side(faster, "b", "znver4")])
    assert sorted(len([m for m in row.members if m]) for row in one.rows) == [1, 2]
    assert not any("different cores" in note for note in one.notes)
    # Without a core that both have, the loops are still the same.
    crossed = compare([both, side(faster, "b", "haswell")])
    assert max(len([m for m in row.members if m]) for row in crossed.rows) == 2
    assert any("different cores" in note for note in crossed.notes)
