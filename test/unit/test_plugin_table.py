"""The table that the pass plugin writes, the loops of assembly that it speaks of, and which plugin a compiler takes."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.frontends.asm.compiled import named_comments, named_labels, with_compiled
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.clang_plugin.find import clang_major, plugin_for
from incc.frontends.clang_plugin.table import TableError, read_table
from incc.frontends.kernel import CompiledLoop, CompiledStream


def entry(number: int = 0, **fields: Any) -> dict[str, Any]:
    """What the plugin writes of a loop."""
    stream = {"store": True, "element_bytes": 4, "lanes": 8, "scalable": False, "step": 64, "accesses": 2}
    return {
        "id": number,
        "function": "f",
        "function_name": "f",
        "places": [{"file": "f.c", "line": 3, "column": 3, "function": "f"}],
        "depth": 1,
        "role": "main",
        "of": -1,
        "instead": False,
        "trip_count": None,
        "max_trip_count": 7,
        "trip_multiple": 1,
        "expected_trip_count": None,
        "streams": [stream],
        "kind": "vector-body",
        "source_loop": 2,
        "source_trip_count": None,
        "source_max_trip_count": None,
        "source_trip_multiple": 1,
        "iterations": 16,
        "width": 8,
        "scalable": False,
        "interleave": 2,
        "unroll": 1,
        "peeled": 0,
        **fields,
    }


def table(*loops: dict[str, Any], version: int = 1) -> str:
    return json.dumps({"version": version, "llvm": 19, "module": "f.c", "target": "x86_64", "loops": list(loops)})


def test_a_table_is_read() -> None:
    (loop,) = read_table(table(entry(5)))
    assert loop == CompiledLoop(
        number=5,
        function="f",
        kind="vector-body",
        source_loop=2,
        role="main",
        of=-1,
        instead=False,
        iterations=16,
        width=8,
        scalable=False,
        interleave=2,
        unroll=1,
        peeled=0,
        trip_count=None,
        max_trip_count=7,
        trip_multiple=1,
        expected_trip_count=None,
        source_trip_count=None,
        source_max_trip_count=None,
        streams=[CompiledStream(store=True, element_bytes=4, lanes=8, scalable=False, step=64, accesses=2)],
        lines=(3,),
    )  # fmt: skip
    assert loop.fixed_iterations == 16
    assert replace(loop, scalable=True).fixed_iterations == 0


def test_lines_go_from_the_outermost_function_to_the_loop() -> None:
    places = [{"file": name, "line": line, "column": 1, "function": name} for name, line in (("g", 30), ("f", 4))]
    assert read_table(table(entry(places=places)))[0].lines == (4, 30)
    assert read_table(table(entry(places=[])))[0].lines == ()


def test_a_loop_without_a_place_is_where_the_others_of_its_source_are() -> None:
    loops = read_table(table(entry(0, places=[]), entry(1), entry(2, places=[], source_loop=3)))
    assert [loop.lines for loop in loops] == [(3,), (3,), ()]


def test_a_loop_of_unknown_origin_is_read() -> None:
    known = ("source_loop", "iterations", "width", "scalable", "interleave", "unroll", "peeled")
    missing = (*known, "source_trip_count", "source_max_trip_count", "source_trip_multiple")
    fields = {name: value for name, value in entry(kind="unknown", role="").items() if name not in missing}
    (loop,) = read_table(table(fields))
    assert (loop.kind, loop.role, loop.source_loop, loop.iterations) == ("unknown", "", -1, None)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        table(version=2),
        '{"version": 1}',
        '{"version": 1, "loops": 5}',
        '{"version": 1, "loops": [5]}',
        table(entry(kind="new")),
        table(entry(role="king")),
        table(entry(width="8")),
        table(entry(streams=None)),
        table(entry(1), entry(1)),
        "[" * 100_000,
    ],
)
def test_what_is_no_table_is_told(text: str) -> None:
    with pytest.raises(TableError):
        read_table(text)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v)), st.data())
def test_whatever_is_in_a_table_there_is_one_kind_of_error(value: Any, data: st.DataObject) -> None:
    loop = entry()
    loop[data.draw(st.sampled_from(sorted(loop)))] = value
    with contextlib.suppress(TableError):
        read_table(table(loop))


LOOPS = """
f:
.LBB0_1:                                # %incc.loop.4
                                        # =>This Inner Loop Header: Depth=1
	incq %rax
.LBB0_2:                                # %other
	cmpq %rax, %rcx
	jne .LBB0_1
	ret
	.type f,@function
g:
	xorl %eax, %eax
	.p2align 4
.LBB1_1:	# =>This Inner Loop Header: Depth=1
	decq %rcx
	jne .LBB1_1
	ret
	.type g,@function
"""


def numbers(text: str, *known: int) -> list[int]:
    """The compiler's numbers of the innermost loops of a text, -1 for none."""
    assembly = parse(text)
    regions, _ = innermost_loops(assembly)
    loops = [CompiledLoop(number=number, function="f", kind="plain") for number in known]
    found = with_compiled(assembly, text, regions, loops)
    assert [replace(region, compiled=None) for region in found] == regions
    return [region.compiled.number if region.compiled else -1 for region in found]


def test_loops_have_the_number_beside_their_label() -> None:
    assert named_labels(LOOPS) == [(".LBB0_1", 4)]
    assert numbers(LOOPS, 4) == [4, -1]
    assert numbers(LOOPS, 3) == [-1, -1], "not in the table"


def test_other_comments_and_labels_are_read() -> None:
    text = '.LBB0_4:  // %incc.loop.10\n"a b":\t## %incc.loop.2\r\nx: # %incc.loop.3x\n\t# %incc.loop.5\n'
    text += "y: ; %incc.loop.6\n"
    assert named_labels(text) == [(".LBB0_4", 10), ("a b", 2), ("y", 6)]


def test_a_name_inside_of_a_loop_is_that_of_the_loop() -> None:
    """A loop that was rotated begins at another of its blocks."""
    inside = LOOPS.replace("# %other", "# %incc.loop.4").replace("# %incc.loop.4", "# %first", 1)
    assert numbers(inside, 4) == [4, -1]


ENTERED_IN_THE_MIDDLE = """
f:
	jmp .LBB0_2
.LBB0_1:                                #   in Loop: Header=BB0_2 Depth=1
	incq %rax
.LBB0_2:                                # =>This Inner Loop Header: Depth=1
	cmpq %rax, %rcx
	je .LBB0_4
# %bb.3:                                # %incc.loop.7
                                        #   in Loop: Header=BB0_2 Depth=1
	testb $1, (%rdx,%rax)
	jne .LBB0_1
.LBB0_4:
	ret
"""


@pytest.mark.parametrize(("sign", "end"), [("#", "\n"), ("##", "\r\n"), ("//", "\n")])
def test_a_block_without_a_label_has_its_name_in_a_comment(sign: str, end: str) -> None:
    text = ENTERED_IN_THE_MIDDLE.replace("# %", f"{sign} %").replace("\n", end)
    assert named_labels(text) == []
    assert named_comments(text) == [(9, 7)]
    assert named_comments(text.replace("bb.3", "bb.x").replace("\t", "")) == []
    if sign != "//":  # no comment of x86's
        assert numbers(text, 7) == [7]
        assert numbers(text.replace("# =>This", "# %incc.loop.8\n # =>This"), 7, 8) == [-1], "two loops became one"


def test_a_block_that_was_split_has_its_name_twice() -> None:
    assert numbers(LOOPS.replace("%other", "%incc.loop.4"), 4) == [4, -1]


def test_a_name_that_is_also_elsewhere_says_nothing() -> None:
    """Code generation may repeat a block, or make a loop of a part of it."""
    repeated = LOOPS.replace(".LBB1_1:\t# =>This", ".LBB1_1:\t# %incc.loop.4\n# =>This")
    assert numbers(repeated, 4) == [-1, -1]


def test_two_names_in_one_loop_say_nothing() -> None:
    """Two of the compiler's loops became one."""
    assert numbers(LOOPS.replace("%other", "%incc.loop.5"), 4, 5) == [-1, -1]


@pytest.mark.parametrize(
    ("line", "major"),
    [
        ("clang version 19.1.7 (https://github.com/llvm/llvm-project cd708029e0b2)", 19),
        ("Debian clang version 14.0.6", 14),
        ("Ubuntu clang version 16.0.6 (23ubuntu4)", 16),
        ("Apple clang version 15.0.0 (clang-1500.3.9.4)", 0),
        ("AMD clang version 17.0.0 (https://github.com/RadeonOpenCompute/llvm-project)", 0),
        ("Intel(R) oneAPI DPC++/C++ Compiler 2024.0.0 (2024.0.0.20231017)", 0),
        ("gcc version 12.2.0 (Debian 12.2.0-14)", 0),
        ("", 0),
    ],
)
def test_the_plugin_is_for_clang_as_it_is_released(line: str, major: int) -> None:
    assert clang_major(line) == major


def test_the_environment_chooses_the_plugin(tmp_path: Path) -> None:
    assert plugin_for(0, {}) == plugin_for(3, {}) == ""
    assert plugin_for(19, {"INCC_PLUGIN": "0"}) == ""
    assert plugin_for(19, {"INCC_PLUGIN": str(tmp_path / "x.so")}) == str(tmp_path / "x.so")
    assert plugin_for(0, {"INCC_PLUGIN": "x.so"}) == "", "not for other compilers"
