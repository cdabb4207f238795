"""Regions: innermost loops with their likeliest path, marked spans of all dialects, whole files."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops, loop_paths, marked_regions, whole_file, without_byte_markers
from incc.frontends.kernel import LeftOut, Region, SourceLocation
from properties import examples

DATA = Path(__file__).parent / "data" / "asm"
FILES = sorted(DATA.glob("*.s"))


def loops_of(text: str) -> list[Region]:
    regions, left_out = innermost_loops(parse(text))
    assert not left_out
    return regions


def loop_of(text: str) -> Region:
    (region,) = loops_of(text)
    return region


# --- loops -----------------------------------------------------------------------------------------------------------

SIMPLE = """\
\t.text
\t.globl f
\t.type f, @function
f:
\ttest %rdi, %rdi
\tje .L2
\t.p2align 4
.L3:
\taddsd (%rsi), %xmm0
\taddq $8, %rsi
\tdecq %rdi
\tjne .L3
.L2:
\tret
\t.size f, .-f
"""


def test_a_loop() -> None:
    assert loop_of(SIMPLE) == Region(
        kind="loop",
        name="f:.L3",
        function="f",
        label=".L3",
        first_line=9,
        last_line=12,
        lines=(9, 10, 11, 12),
        body_lines=(9, 10, 11, 12),
        runs=(("f", 9, 12),),
        is_loop=True,
        depth=1,
        source=None,
        notes=(),
    )


def test_only_innermost_loops() -> None:
    region = loop_of(
        "f:\n.L1: nop\n.L2: nop\n.L3: dec %eax\n jne .L3\n dec %ebx\n jne .L2\n dec %ecx\n jne .L1\n ret\n"
    )
    assert (region.lines, region.depth) == ((4, 5), 3)


def test_order_of_execution_from_the_header() -> None:
    # The test stands at the end and is entered first.
    region = loop_of("f: jmp .L2\n.L3: addl %eax, %ebx\n incl %eax\n.L2: cmpl %ecx, %eax\n jl .L3\n ret\n")
    assert region.label == ".L2"
    assert region.lines == (4, 5, 2, 3)
    assert (region.first_line, region.last_line) == (2, 5)
    assert region.is_loop


def test_branches_inside_leave_one_path() -> None:
    region = loop_of(
        "f: nop\n.L1: cmpl $0, (%rdi)\n js .L9\n.L2: addq $4, %rdi\n cmpq %rdi, %rsi\n jne .L1\n ret\n"
        ".L9: negl %eax\n incl %eax\n jmp .L2\n"
    )
    assert region.lines == (2, 3, 4, 5, 6)
    assert region.body_lines == (2, 3, 4, 5, 6, 8, 9, 10)
    assert region.notes == (
        "1 branch inside: analysed the likeliest path (backward branches taken, else fall-through); 3 of 8 instructions"
        " are not on it (lines 8-10)",
    )


def test_a_backward_branch_is_taken() -> None:
    # Two latches to one header are one loop; the first branch back ends the path.
    region = loop_of("f:\n.L1: incq %rdi\n cmpb $32, (%rdi)\n je .L1\n incl %eax\n cmpb $0, (%rdi)\n jne .L1\n ret\n")
    assert region.lines == (2, 3, 4)
    assert region.body_lines == (2, 3, 4, 5, 6, 7)


def test_a_branch_that_leaves_is_not_taken() -> None:
    region = loop_of("f:\n.L1: cmpl $3, (%rdi)\n je .L8\n addq $4, %rdi\n decl %eax\n jne .L1\n.L8: ret\n")
    assert region.lines == (2, 3, 4, 5, 6)
    assert region.notes == ("2 exits (lines 3, 6): analysed as if none were taken",)


def test_an_unconditional_branch_is_on_the_path() -> None:
    region = loop_of("f:\n.L1: decl %eax\n js .L8\n jmp .L5\n nop\n.L5: incl %ebx\n jmp .L1\n.L8: ret\n")
    assert region.lines == (2, 3, 4, 6, 7)


def test_calls_are_named() -> None:
    region = loop_of("f:\n.L1: call exp@PLT\n call *%rbx\n call exp\n decl %ebp\n jne .L1\n ret\n")
    assert region.notes == (
        "contains a call to exp, whose time is not counted",
        "contains an indirect call, whose time is not counted",
    )


def test_loop_left_by_a_conditional_tail_call() -> None:
    region = loop_of("f:\n.L1: decl %eax\n je g\n cmpl %eax, %ebx\n jne .L1\n ret\n")
    assert region.notes == ("2 exits (lines 3, 5): analysed as if none were taken",)


def test_bytes_among_the_instructions_are_noted() -> None:
    region = loop_of("f:\n.L1: nop\n .byte 0xf3, 0x90\n decl %eax\n jne .L1\n ret\n")
    assert region.notes == ("contains bytes written as data (line 3): they are not analysed",)
    region = loop_of("f:\n.L1: nop\n .rept 4\n nop\n .endr\n decl %eax\n jne .L1\n ret\n")
    assert region.notes == ("contains a repeated block (line 3): it is not analysed",)


def test_several_statements_in_a_line_list_it_once() -> None:
    region = loop_of("f:\n.L1: lock; incl (%rdi); decl %eax\n jne .L1\n ret\n")
    assert region.lines == (2, 3)


def test_a_snippet_without_function_or_exit() -> None:
    region = loop_of("1: addl %eax, %ebx\n jmp 1b\n")
    assert (region.name, region.function, region.label, region.lines) == ("1", "", "1", (1, 2))


def test_a_loop_that_is_entered_in_its_middle_is_analysed() -> None:
    region = loop_of("f: test %eax, %eax\n je .L2\n.L1: incl %ebx\n.L2: decl %eax\n jne .L1\n ret\n")
    assert (region.lines, region.shape) == ((3, 4, 5), "irreducible")
    assert region.notes == ("also entered at .L2, but each iteration passes its first instruction",)


def test_an_irreducible_loop_may_begin_behind_its_entries() -> None:
    text = "f: je .L2\n.L1: incl %ebx\n jmp .L3\n.L2: decl %ecx\n.L3: decl %eax\n js .L1\n jne .L2\n ret\n"
    region = loop_of(text)
    assert (region.label, region.lines[0], len(region.body_lines)) == (".L3", 5, 6)


def test_a_cycle_without_a_common_instruction_is_left_out() -> None:
    # Rounds of two of the three blocks have nothing in common.
    text = "f: je .L2\n js .L3\n.L1: jp .L3\n.L2: jc .L1\n.L3: decl %eax\n jne .L2\n jo .L1\n ret\n"
    regions, left_out = innermost_loops(parse(text))
    assert regions == []
    assert [(span.first_line, span.last_line, span.label) for span in left_out] == [(3, 7, ".L1")]
    assert left_out[0].reason.startswith("irreducible: entered at .L1")


UNLIKELY = """\
f:
.L1: movl (%rsi,%rax,4), %ecx
 cmpl $100, %ecx
 ja .L4
.L2: addl %ecx, %ebx
 incq %rax
 cmpq %rax, %rdx
 jne .L1
 ret
.L4: decl %ecx
.L5: shrl %ebx
 decl %ecx
 jne .L5
 jmp .L2
"""


def test_iterations_that_enter_no_loop_inside_are_analysed() -> None:
    outer, inner = loops_of(UNLIKELY)
    assert (outer.shape, outer.lines, outer.depth) == ("partial", (2, 3, 4, 5, 6, 7, 8), 1)
    assert outer.body_lines == outer.lines
    assert outer.notes == (
        "only iterations that do not enter a loop inside, which is left out with the way to it (lines 10-14)",
    )
    assert (inner.shape, inner.lines, inner.depth) == ("innermost", (11, 12, 13), 2)
    assert not inner.notes


def test_a_loop_whose_likeliest_path_enters_a_small_one_is_analysed_if_it_is_large() -> None:
    def nest(work: int) -> list[Region]:
        body = " addl %ecx, %ebx\n" * work
        return loops_of(f"f:\n.L1: testl %ecx, %ecx\n je .L3\n.L2: decl %ecx\n jne .L2\n.L3:{body} jne .L1\n ret\n")

    assert [region.shape for region in nest(12)] == ["innermost"]
    assert [region.shape for region in nest(13)] == ["partial", "innermost"]


def test_a_loop_that_always_enters_a_loop_is_not_analysed() -> None:
    body = " addl %ecx, %ebx\n" * 30
    regions = loops_of(f"f:\n.L1: movl $9, %ecx\n.L2: decl %ecx\n jne .L2\n{body} decl %edx\n jne .L1\n ret\n")
    assert [region.shape for region in regions] == ["innermost"]


def test_a_partial_loop_has_ways_through_it() -> None:
    text = UNLIKELY.replace(" incq %rax\n", " jp .L3\n incl %ebx\n.L3: incq %rax\n")
    assembly = parse(text)
    outer = innermost_loops(assembly)[0][0]
    ways, complete = loop_paths(assembly, outer)
    assert complete
    assert [len(way.region.lines) for way in ways] == [9, 8]


def test_a_loop_in_an_irreducible_cycle_is_analysed() -> None:
    text = "f: je .L2\n.L1: incl %ebx\n.L2: decl %ecx\n.L3: decl %edx\n jne .L3\n decl %eax\n jne .L1\n ret\n"
    regions, left_out = innermost_loops(parse(text))
    assert [r.lines for r in regions] == [(4, 5)]
    assert regions[0].depth == 2
    assert left_out == []


def test_wanted_functions() -> None:
    text = SIMPLE + re.sub(r"\bf\b", "g", SIMPLE).replace(".L", ".M")
    assembly = parse(text)
    assert [r.function for r in innermost_loops(assembly)[0]] == ["f", "g"]
    assert [r.function for r in innermost_loops(assembly, lambda name: name == "g")[0]] == ["g"]


LOCATED = """\
\t.file 1 "a.c"
\t.file 2 "b.h"
\t.type f,@function
f:
\t.loc 1 4 1
\tnop
.L3:
\t.loc {first}
\taddl (%rdi), %eax
\taddq $4, %rdi
\t.loc {latch}
\tcmpq %rdi, %rsi
\tjne .L3
\tret
"""


@pytest.mark.parametrize(
    ("first", "latch", "source"),
    [
        ("1 6 3", "1 5 3", "a.c:5"),  # the `for` line that the branch has, though two instructions each
        ("1 6 3", "2 90 3", "a.c:6"),  # a branch inlined from elsewhere: most instructions, then the first line
        ("2 80 3", "2 90 3", "b.h:80"),
        ("1 6 3", "1 0 0", "a.c:6"),
    ],
)
def test_source_of_a_loop(first: str, latch: str, source: str) -> None:
    assert str(loop_of(LOCATED.format(first=first, latch=latch)).source) == source


# --- compilers' output -----------------------------------------------------------------------------------------------


def data(name: str) -> tuple[list[Region], list[LeftOut]]:
    return innermost_loops(parse((DATA / name).read_text()))


@pytest.mark.parametrize("name", ["switch.gcc.s", "switch.pic.gcc.s", "switch.intel.gcc.s", "switch.clang.s"])
def test_switch_in_a_loop(name: str) -> None:
    ((region,), left_out) = data(name)
    assert not left_out
    assert region.function == "machine"
    assert len(region.body_lines) == 22
    assert "an indirect jump with 6 targets inside: analysed the first" in region.notes
    text = (DATA / name).read_text().split("\n")
    on_path = " ".join(text[line - 1] for line in region.lines)
    assert "jmp" in on_path
    assert text[region.lines[-1] - 1].split()[0] in ("je", "jne")


def test_goto_into_a_loop() -> None:
    (region,), left_out = data("middle.gcc.s")
    assert not left_out
    assert (region.function, region.shape) == ("middle", "irreducible")
    assert region.notes[0].startswith("also entered at ")


def test_loop_with_a_cold_part_in_another_section() -> None:
    ((region,), left_out) = data("cold.gcc.s")
    assert not left_out
    assert region.function == "sum"
    assert str(region.source) == "cold.c:5"
    text = (DATA / "cold.gcc.s").read_text().split("\n")
    off = [text[line - 1].strip() for line in region.body_lines if line not in region.lines]
    assert any(line.startswith("call\th") for line in off)
    assert not any("call" in note for note in region.notes)  # not on the path


@pytest.mark.parametrize("name", ["product.gcc.s", "product.clang.s"])
def test_nest_of_loops(name: str) -> None:
    ((region,), _) = data(name)
    assert (region.function, region.depth, str(region.source)) == ("product", 3, "product.c:5")
    assert len(region.lines) == 7
    assert region.notes == ()


def test_unoptimised_code() -> None:
    ((region,), _) = data("product.O0.gcc.s")
    assert region.depth == 3
    # Without optimisation the test stands behind the body and is where the loop is entered.
    assert region.lines[0] > region.lines[-1]


def test_exceptions_do_not_spoil_a_loop() -> None:
    ((region,), left_out) = data("except.gcc.s")
    assert not left_out
    assert region.lines == region.body_lines
    assert region.notes == ("contains a call to _Z5parsePKc, whose time is not counted",)


# --- markers ---------------------------------------------------------------------------------------------------------

BEGIN = {
    "osaca": "# OSACA-BEGIN\n",
    "llvm-mca": "# LLVM-MCA-BEGIN\n",
    "iaca": "\tmovl $111, %ebx\n\t.byte 100,103,144\n",
    "iaca in lines": "\tmovl $111, %ebx # START\n\t.byte 100\n\t.byte 103 # x\n\t.byte 144\n",
    "iaca in hex": "\tmov $0x6f, %ebx\n\t.byte 0x64, 0x67, 0x90\n",
    "iaca in Intel syntax": "\tmov ebx, 111\n\t.byte 100,103,144\n",
    "iaca decoded": "\tmov ebx, 6fh\n\tfs addr32 nop\n",
    "msvc": "\tmov BYTE PTR gs:111, 111\n",
    "msvc in register": "\tmov al, 111\n\tmov BYTE PTR gs:111, al\n",
}
END = {
    key: text.replace("BEGIN", "END").replace("111", "222").replace("0x6f", "0xde").replace("6fh", "0deh")
    for key, text in BEGIN.items()
}
BODY = ".L3:\n\taddl %eax, %ebx\n\tdecl %ecx\n\tjne .L3\n"


@pytest.mark.parametrize("dialect", BEGIN)
def test_a_marked_loop(dialect: str) -> None:
    text = "f:\n\tnop\n" + BEGIN[dialect] + BODY + END[dialect] + "\tret\n"
    first = 2 + BEGIN[dialect].count("\n") + 2
    regions, left_out = marked_regions(parse(text, "x86"))
    assert not left_out
    assert [(r.kind, r.name, r.lines, r.is_loop, r.label, r.depth) for r in regions] == [
        ("marker", ".L3", (first, first + 1, first + 2), True, ".L3", 1)
    ]


@pytest.mark.parametrize("inner", ["osaca", "llvm-mca"])
@pytest.mark.parametrize("outer", ["iaca", "iaca in lines", "osaca"])
def test_two_pairs_around_one_loop_are_one_region(outer: str, inner: str) -> None:
    if outer == inner:
        inner = "llvm-mca"
    begin, end = BEGIN[inner], END[inner]
    if inner == "llvm-mca":
        begin, end = begin.replace("BEGIN", "BEGIN kernel"), end.replace("END", "END kernel")
    regions, left_out = marked_regions(parse(BEGIN[outer] + begin + BODY + end + END[outer], "x86"))
    assert not left_out
    assert [r.name for r in regions] == ["kernel" if inner == "llvm-mca" else ".L3"]


def test_markers_of_aarch64() -> None:
    for begin, end in (
        ("// OSACA-BEGIN\n", "// OSACA-END\n"),
        ("\tmov x1, #111\n\t.byte 213,3,32,31\n", "\tmov x1, #222\n\t.byte 213,3,32,31\n"),
    ):
        regions, left_out = marked_regions(parse("f:\n" + begin + ".L3:\n\tadd x0, x0, #1\n\tcbnz x0, .L3\n" + end))
        assert not left_out
        assert [(len(r.lines), r.is_loop) for r in regions] == [(2, True)]


def test_a_marked_loop_whose_label_is_before_the_marker() -> None:
    (region,), _ = marked_regions(parse("f:\n.L3:\n# OSACA-BEGIN\n decl %eax\n jne .L3\n# OSACA-END\n ret\n"))
    assert region.is_loop
    assert region.lines == (4, 5)


def test_marked_straight_code() -> None:
    (region,), _ = marked_regions(parse("f: nop\n# OSACA-BEGIN\n nop\n je .L9\n nop\n# OSACA-END\n.L9: ret\n"))
    assert not region.is_loop
    assert region.lines == (3, 4, 5)
    assert region.depth == 0
    assert region.notes == (
        "1 branch inside: instructions are analysed in the order of the text, as if none were taken",
    )


@pytest.mark.parametrize(
    ("text", "loop"),
    [
        ("f: nop\n.L1: nop\n jne .L1\n ret\n", True),
        (".L1: nop\n jne .L1\n ret\n", True),
        ("f: nop\n jne .L1\n nop\n.L1: ret\n", False),
        ("f: nop\n jne g\n ret\n", False),
    ],
)
def test_a_whole_file_with_a_loop_in_it_says_how_to_get_at_it(text: str, loop: bool) -> None:
    (region,), _ = whole_file(parse(text))
    assert not region.is_loop
    assert any("--auto" in note for note in region.notes) == loop


def test_named_regions_may_overlap() -> None:
    text = (
        "# LLVM-MCA-BEGIN a\n nop\n# LLVM-MCA-BEGIN b\n inc %eax\n# LLVM-MCA-END a\n dec %eax\n# LLVM-MCA-END b\n"
        "# LLVM-MCA-BEGIN a\n neg %eax\n# LLVM-MCA-END\n"
    )
    regions, left_out = marked_regions(parse(text))
    assert not left_out
    assert [(r.name, r.lines) for r in regions] == [("a", (2, 4)), ("b", (4, 6)), ("a", (9,))]


def test_two_names_for_one_span_are_two_regions() -> None:
    text = "# LLVM-MCA-BEGIN a\n# LLVM-MCA-BEGIN b\n nop\n# LLVM-MCA-END a\n# LLVM-MCA-END b\n"
    assert [r.name for r in marked_regions(parse(text))[0]] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("# OSACA-BEGIN\n nop\n", 1, "OSACA-BEGIN without OSACA-END"),
        (" nop\n# OSACA-END\n", 2, "OSACA-END without OSACA-BEGIN"),
        ("# OSACA-BEGIN\n# OSACA-END\n nop\n", 1, "no instruction between the markers"),
        (" nop\n# LLVM-MCA-BEGIN\n", 2, "no instruction between the markers"),
        (" nop\n# LLVM-MCA-END\n", 2, "LLVM-MCA-END without LLVM-MCA-BEGIN"),
        (" nop\n# LLVM-MCA-END x\n", 2, "LLVM-MCA-END: no region named 'x' is open"),
        (BEGIN["iaca"] + " nop\n", 1, "IACA begin marker without end marker"),
        (" nop\n" + END["iaca"], 2, "IACA end marker without begin marker"),
        (BEGIN["iaca"] + END["iaca"], 1, "no instruction between the markers"),
    ],
)
def test_markers_that_mark_nothing(text: str, line: int, reason: str) -> None:
    regions, left_out = marked_regions(parse(text, "x86"))
    assert not regions
    assert [(p.first_line, p.reason) for p in left_out] == [(line, reason)]


def test_wrong_nesting_is_said_and_the_rest_kept() -> None:
    regions, left_out = marked_regions(
        parse("# LLVM-MCA-BEGIN\n nop\n# LLVM-MCA-BEGIN\n inc %eax\n# LLVM-MCA-END\n dec %eax\n# LLVM-MCA-END\n")
    )
    assert [r.lines for r in regions] == [(2, 4)]
    assert [(p.first_line, p.reason) for p in left_out] == [
        (3, "overlapping anonymous regions: one began in line 1"),
        (7, "LLVM-MCA-END without LLVM-MCA-BEGIN"),
    ]
    regions, left_out = marked_regions(
        parse("# LLVM-MCA-BEGIN a\n# LLVM-MCA-BEGIN a\n# LLVM-MCA-BEGIN b\n nop\n# LLVM-MCA-END\n# LLVM-MCA-END a\n")
    )
    assert [r.name for r in regions] == ["a", "b"]
    assert [p.reason for p in left_out] == [
        "overlapping regions cannot have the same name: 'a' began in line 1",
        "LLVM-MCA-END without a name, but 2 named regions are open",
    ]


def test_a_region_of_llvm_mca_that_nothing_ends_goes_as_far_as_the_text() -> None:
    regions, left_out = marked_regions(
        parse(" nop\n# LLVM-MCA-BEGIN a\n inc %eax\n# LLVM-MCA-BEGIN\n dec %eax\n# LLVM-MCA-END a\n nop\n")
    )
    assert not left_out
    assert [(r.name, r.lines) for r in regions] == [("a", (3, 5)), ("line 5", (5, 7))]


def test_ordinary_moves_and_bytes_are_no_markers() -> None:
    text = " movl $111, %ebx\n nop\n movl $111, %ebx\n .byte 100,103,145\n movl $112, %ebx\n .byte 100,103,144\n"
    assert marked_regions(parse(text)) == ([], [])


# --- whole files -----------------------------------------------------------------------------------------------------


def test_whole_file() -> None:
    (region,), left_out = whole_file(parse('\t.file "x.c"\nf:\n\taddl %eax, %ebx\n\tjne f\n\t.data\n\t.long 1\n'))
    assert not left_out
    assert (region.kind, region.name, region.lines, region.is_loop) == ("file", "x.c", (3, 4), True)


def test_whole_file_without_instructions() -> None:
    assert whole_file(parse("\t.data\n\t.long 1\n")) == (
        [],
        [LeftOut(first_line=0, last_line=0, function="", label="", reason="the file has no instruction")],
    )


# --- properties ------------------------------------------------------------------------------------------------------


def regions_of(text: str) -> list[Region]:
    assembly = parse(text)
    return innermost_loops(assembly)[0] + marked_regions(assembly)[0] + whole_file(assembly)[0]


@examples(60)
@given(st.sampled_from(FILES), st.randoms(use_true_random=False))
def test_comments_and_blanks_change_no_region(path: Path, random) -> None:  # type: ignore[no-untyped-def]
    original = path.read_text().split("\n")
    changed: list[str] = []
    new_line = {}
    for number, line in enumerate(original, 1):
        for _ in range(random.choice((0, 0, 0, 1, 2))):
            changed.append(random.choice(("", "   ", "\t# jne .L3", "# a comment; nop", "/* .L3: ret */", "#APP")))
        plain = "#" not in line and '"' not in line
        if plain and line.strip():
            line = random.choice(("", " ", "\t\t")) + line.lstrip()
            line += random.choice(("", " ", "\t# jmp .L1; ret", " /* it's */", " // nop"))
        changed.append(line)
        new_line[number] = len(changed)

    def moved(region: Region) -> Region:
        return replace(
            region,
            first_line=new_line[region.first_line],
            last_line=new_line[region.last_line],
            lines=tuple(new_line[line] for line in region.lines),
            body_lines=tuple(new_line[line] for line in region.body_lines),
            runs=tuple((function, new_line[first], new_line[last]) for function, first, last in region.runs),
            around=tuple(new_line[line] for line in region.around),
            notes=(),
        )

    assert [replace(r, notes=()) for r in regions_of("\n".join(changed))] == [
        moved(r) for r in regions_of("\n".join(original))
    ]


@examples(30)
@given(
    st.sampled_from([f for f in FILES if "intel" not in f.name]), st.permutations(["ax", "bx", "cx", "dx", "si", "di"])
)
def test_renaming_registers_changes_no_region(path: Path, names: list[str]) -> None:
    text = path.read_text()
    to = dict(zip(["ax", "bx", "cx", "dx", "si", "di"], names, strict=True))
    renamed = re.sub(r"%([re])([abcd]x|[sd]i)\b", lambda m: "%" + m[1] + to[m[2]], text)
    assert regions_of(renamed) == regions_of(text)


@examples(30)
@given(st.sampled_from(FILES), st.integers(0, 10**6), st.text(alphabet="\n\t #;:.\"'/*\\{}[]()%$@a1L\r", max_size=12))
def test_damage_raises_nothing(path: Path, at: int, noise: str) -> None:
    text = path.read_text()
    at %= len(text)
    regions_of(text[:at] + noise + text[at:])
    regions_of(text[:at])
    regions_of(text[at:])


# --- ways through a loop ---------------------------------------------------------------------------------------------


def diamonds(count: int, skip: bool = False) -> str:
    """A loop with `count` branches inside, each around one instruction; with `skip` one more, to the header."""
    body = "".join(f"\ttest %rax, %rax\n\tje .D{n}\n\tadd ${n}, %rbx\n.D{n}:\n" for n in range(count))
    early = "\tdec %rdx\n\tjs .L1\n" if skip else ""
    return f"f:\n.L1:\n{early}{body}\tdec %rcx\n\tjne .L1\n\tret\n"


def test_each_way_through_a_loop_once() -> None:
    assembly = parse(diamonds(2))
    (region,) = innermost_loops(assembly)[0]
    paths, complete = loop_paths(assembly, region)
    assert complete
    assert [path.branches for path in paths] == [
        ((4, False), (8, False)),
        ((4, False), (8, True)),
        ((4, True), (8, False)),
        ((4, True), (8, True)),
    ]
    assert [path.probability for path in paths] == [0.25] * 4
    assert [path.region.lines for path in paths] == [
        (3, 4, 5, 7, 8, 9, 11, 12),
        (3, 4, 5, 7, 8, 11, 12),
        (3, 4, 7, 8, 9, 11, 12),
        (3, 4, 7, 8, 11, 12),
    ]
    assert all(path.region.is_loop and path.region.body_lines == region.body_lines for path in paths)
    assert not any("likeliest" in note for path in paths for note in path.region.notes)


def test_a_way_straight_back_to_the_header() -> None:
    assembly = parse(diamonds(1, skip=True))
    (region,) = innermost_loops(assembly)[0]
    paths, complete = loop_paths(assembly, region, first_side=0.75)
    assert complete
    assert [path.region.lines for path in paths] == [(3, 4, 5, 6, 7, 9, 10), (3, 4, 5, 6, 9, 10), (3, 4)]
    assert [path.probability for path in paths] == [0.5625, 0.1875, 0.25]


def test_sides_of_the_first_branch() -> None:
    assembly = parse(diamonds(3))
    (region,) = innermost_loops(assembly)[0]
    paths, complete = loop_paths(assembly, region, first_side=0.9, sides=True)
    assert complete
    # Behind the first branch both go the way that the analysis without paths takes.
    assert [path.branches for path in paths] == [((4, False),), ((4, True),)]
    assert [path.probability for path in paths] == pytest.approx([0.9, 0.1])
    assert paths[0].region.lines == region.lines
    assert set(region.lines) - set(paths[1].region.lines) == {5}


def test_no_branch_no_region() -> None:
    assembly = parse(SIMPLE)
    (region,) = innermost_loops(assembly)[0]
    paths, complete = loop_paths(assembly, region)
    assert complete
    assert [(path.region.lines, path.branches, path.probability) for path in paths] == [(region.lines, (), 1.0)]
    assert loop_paths(assembly, replace(region, body_lines=(1,))) == ([], True)


@given(st.integers(0, 7), st.booleans(), st.integers(1, 40), st.none() | st.floats(0, 1))
def test_ways_are_distinct_and_their_probabilities_add_up(
    branches: int, skip: bool, limit: int, first: float | None
) -> None:
    assembly = parse(diamonds(branches, skip))
    (region,) = innermost_loops(assembly)[0]
    paths, complete = loop_paths(assembly, region, limit, first)
    ways = 2**branches + skip
    assert complete == (ways <= limit)
    assert len(paths) == len({path.region.lines for path in paths}) == min(ways, limit)
    total = sum(path.probability for path in paths)
    assert total <= 1 + 1e-9
    if complete:
        assert total == pytest.approx(1)
        assert region.lines in {path.region.lines for path in paths}


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_ways_of_compiled_loops(file: Path) -> None:
    assembly = parse(file.read_text(errors="surrogateescape"))
    for region in innermost_loops(assembly)[0]:
        paths, complete = loop_paths(assembly, region, 64)
        assert paths
        for path in paths:
            assert set(path.region.lines) <= set(region.body_lines)
            assert path.region.lines[0] == region.lines[0]
        if complete:
            # Every instruction of an innermost loop is on some way.
            assert {line for path in paths for line in path.region.lines} == set(region.body_lines)
            assert sum(path.probability for path in paths) == pytest.approx(1)


def test_byte_markers_are_taken_out_of_the_code() -> None:
    text = (
        "\tnop\n\tmovl $111, %ebx\n\t.byte 100,103,144\n.L1:\n\tdecq %rax\n\tjne .L1\n"
        "\tmovl $222, %ebx\n\t.byte 100\n\t.byte 103\n\t.byte 144\n\tret\n"
    )
    without = without_byte_markers(parse(text), text)
    assert without.split("\n") == ["\tnop", "", "", ".L1:", "\tdecq %rax", "\tjne .L1", "", "", "", "", "\tret", ""]
    assert without_byte_markers(parse(without), without) == without
    beside = "\tmovl $111, %ebx; .byte 100,103,144; nop\n\tdecq %rax\n"
    assert without_byte_markers(parse(beside), beside) == beside


def test_how_control_comes_from_one_loop_to_the_other() -> None:
    text = """\
\t.file 1 "t.c"
\t.text
\t.type f, @function
f:
.L1:
\txorl %eax, %eax
\tje .L3
.L2:
\t.loc 1 5
\tdecq %rdi
\tjne .L2
.L3:
\tdecq %rsi
\tjne .L3
\t.loc 1 3
\tdecq %rdx
\tjne .L1
.L4:
\tdecq %rcx
\tjne .L4
\tret
\t.size f, .-f
"""
    loops, _ = innermost_loops(parse(text))
    assert [loop.label for loop in loops] == [".L2", ".L3", ".L4"]
    _, second, third = (loop.first_line for loop in loops)
    assert [loop.neighbours.later for loop in loops] == [{second, third}, {third}, frozenset()]
    # past the first one there is a way
    assert [loop.neighbours.always_before for loop in loops] == [frozenset(), frozenset(), {second}]
    around = SourceLocation("t.c", 3)
    assert [loop.neighbours.enclosing for loop in loops] == [(around,), (around,), ()]


def test_thousands_of_loops_in_a_function() -> None:
    """Each knows where it lies among the others, in a time and a room that are not those of all pairs."""
    count = 4000
    text = "\t.text\nf:\n" + "".join(f".L{n}:\n\tdecq %rcx\n\tjne .L{n}\n" for n in range(count)) + "\tret\n"
    assembly = parse(text)
    start = time.process_time()
    loops = innermost_loops(assembly)[0]
    assert time.process_time() - start < 6  # half a second; all pairs take half a minute
    lines = [loop.first_line for loop in loops]
    assert len(lines) == count
    for n in (0, 1, count // 2, count - 1):
        assert loops[n].neighbours.later == set(lines[n + 1 :])
        assert loops[n].neighbours.always_before == set(lines[:n])
