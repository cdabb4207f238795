"""Writing markers: the marked text reads back as the same regions and is the old text without the markers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.frontends.asm.markers import DIALECTS, insert_markers
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops, marked_regions
from incc.frontends.kernel import Region
from properties import examples

DATA = Path(__file__).parent / "data" / "asm"
FILES = sorted(f for f in DATA.glob("*.s") if innermost_loops(parse(f.read_text()))[0])

TWO = """\
\t.text
f:
\ttestl\t%edi, %edi
\t.p2align 4
.L3:
.LVL1:
\tdecl\t%edi
\tjne\t.L3
\t.p2align 4
1:\tdecl\t%esi
\tjne\t1b
\tret
"""


def loops(text: str) -> list[Region]:
    return innermost_loops(parse(text))[0]


def test_llvm_mca() -> None:
    assert insert_markers(TWO, loops(TWO), "llvm-mca") == TWO.replace(
        ".L3:\n", "# LLVM-MCA-BEGIN .L3\n.L3:\n", 1
    ).replace("jne\t.L3\n", "jne\t.L3\n# LLVM-MCA-END .L3\n").replace("1:\t", "# LLVM-MCA-BEGIN 1\n1:\t").replace(
        "1b\n", "1b\n# LLVM-MCA-END 1\n"
    )


def test_all_from_the_outside_in() -> None:
    marked = insert_markers(TWO, loops(TWO)[:1], "all").split("\n")
    at = marked.index(".L3:")
    assert marked[at - 4 : at] == [
        "\tmovl\t$111, %ebx",
        "\t.byte\t100,103,144",
        "# OSACA-BEGIN",
        "# LLVM-MCA-BEGIN .L3",
    ]
    at = marked.index("\tjne\t.L3")
    assert marked[at + 1 : at + 5] == [
        "# LLVM-MCA-END .L3",
        "# OSACA-END",
        "\tmovl\t$222, %ebx",
        "\t.byte\t100,103,144",
    ]


def test_the_syntax_around_is_kept() -> None:
    text = ".intel_syntax noprefix\nf:\n.L3: dec edi\n jne .L3\n.att_syntax\n.L4: decl %edi\n jne .L4\n"
    marked = insert_markers(text, loops(text), "iaca")
    assert marked.count("\tmov\tebx, 111\n") == marked.count("\tmovl\t$111, %ebx\n") == 1
    assert len(marked_regions(parse(marked))[0]) == 2


def test_aarch64() -> None:
    text = "f:\n.L3: add x0, x0, #1\n cbnz x0, .L3\n ret\n"
    marked = insert_markers(text, loops(text), "all")
    assert marked.split("\n")[1:5] == [
        "\tmov\tx1, #111",
        "\t.byte\t213,3,32,31",
        "// OSACA-BEGIN",
        "# LLVM-MCA-BEGIN",
    ]
    assert insert_markers(text, loops(text), "llvm-mca").startswith("f:\n# LLVM-MCA-BEGIN .L3\n.L3:")
    assert [len(r.lines) for r in marked_regions(parse(marked))[0]] == [2]


def test_names_are_made_unique() -> None:
    text = "f:\n1: decl %eax\n jne 1b\n1: decl %ebx\n jne 1b\n"
    marked = insert_markers(text, loops(text), "llvm-mca")
    assert [r.name for r in marked_regions(parse(marked))[0]] == ["1", "1 (2)"]


def test_other_instructions_between_the_markers_are_noted() -> None:
    text = "f:\n.L1: cmpl $0, (%rdi)\n jns .L2\n negl %eax\n.L2: addq $4, %rdi\n cmpq %rdi, %rsi\n jne .L1\n ret\n"
    # The path falls through here; make one that jumps over.
    (region,) = loops(text)
    assert "incc:" not in insert_markers(text, [region], "osaca")
    region = replace(region, lines=(2, 3, 5, 6, 7))
    assert "# incc: 1 of the 6 instructions between these markers is not on the analysed path\n" in insert_markers(
        text, [region], "osaca"
    )


def test_rotated_loop_is_marked_in_one_piece() -> None:
    text = "f:\n jmp .L2\n.L3:\n addl %eax, %ebx\n.L2:\n cmpl %ecx, %eax\n jl .L3\n ret\n"
    marked = insert_markers(text, loops(text), "osaca").split("\n")
    assert marked[2:5] == ["# OSACA-BEGIN", ".L3:", " addl %eax, %ebx"]
    assert marked[7:9] == [" jl .L3", "# OSACA-END"]


def test_wrong_arguments() -> None:
    with pytest.raises(ValueError, match="unknown marker dialect 'ptx'"):
        insert_markers(TWO, loops(TWO), ["osaca", "ptx"])
    with pytest.raises(ValueError, match="line 2 has no instruction"):
        insert_markers(TWO, [replace(loops(TWO)[0], lines=(2,))], "all")


def test_nothing_to_mark() -> None:
    assert insert_markers(TWO, [], "all") == TWO


MARKER = re.compile(
    r"\s*(?:(?:#|//) (?:OSACA-(?:BEGIN|END)|LLVM-MCA-(?:BEGIN|END) .*|incc: .*)"
    r"|movl\t\$(?:111|222), %ebx|mov\tebx, (?:111|222)|\.byte\t100,103,144"
    # What stands at the top for llvm-mca.
    r"|\.ifndef\t\.gasversion\.|\.macro\t\.(?:file|loc) .*|\.endm|\.endif)\r?$"
).match


@examples(60)
@given(
    st.sampled_from(FILES),
    st.sets(st.sampled_from(DIALECTS), min_size=1),
    st.booleans(),
    st.sampled_from(["", "\n", "\n\n"]),
)
def test_markers_can_be_taken_out_again(path: Path, dialects: set[str], windows: bool, end: str) -> None:
    text = path.read_text().rstrip("\n") + end
    if windows:
        text = text.replace("\n", "\r\n")
    regions = loops(text)
    marked = insert_markers(text, regions, dialects)
    lines = marked.split("\n")
    assert not any(map(MARKER, text.split("\n")))
    assert "\n".join(line for line in lines if not MARKER(line)) == text
    # What is marked is what was found, wherever the path is in one piece.
    again, left_out = marked_regions(parse(marked))
    assert not left_out
    where = {}
    number = 0
    for new, line in enumerate(lines, 1):
        if not MARKER(line):
            number += 1
            where[number] = new
    for region, found in zip(regions, again, strict=True):
        assert set(found.lines) >= {where[line] for line in region.lines}
        if "incc:" not in marked:
            assert set(found.lines) == {where[line] for line in region.lines}
        if "llvm-mca" in dialects:
            assert found.name == region.name
