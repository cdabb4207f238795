"""Reading assembly text: statements, comments, sections, functions, source locations."""

from __future__ import annotations

import pytest

from incc.frontends.asm.parse import DIRECTIVE, INSTRUCTION, LABEL, Assembly, columns_of, parse
from incc.frontends.isa import detect


def instructions(assembly: Assembly) -> list[tuple[int, str]]:
    return [(s.line, s.text) for s in assembly.statements if s.kind == INSTRUCTION]


def labels(assembly: Assembly) -> list[str]:
    return [s.text for s in assembly.statements if s.kind == LABEL]


def test_statement_kinds_and_lines() -> None:
    a = parse("\t.text\nf:\n\n\tmovq\t%rdi,   %rax\n\t.byte 1, 2\n\tret\n")
    assert [(s.kind, s.line, s.text) for s in a.statements] == [
        (LABEL, 2, "f"),
        (INSTRUCTION, 4, "movq %rdi, %rax"),
        (DIRECTIVE, 5, ".byte 1, 2"),
        (INSTRUCTION, 6, "ret"),
    ]


def test_comments_of_x86() -> None:
    a = parse(
        "# whole line\n"
        "  addl $1, %eax # to the end; subl $9, %ecx\n"
        "/ a slash starts a comment line\n"
        "  incl %eax // so does this\n"
        "  /* one */ decl %eax /* two */ ; negl %eax /* three\n"
        "  notl %eax  four */ xorl %ebx, %ebx\n"
        "#APP\n"
        "  nop\n"
        "#NO_APP\n"
    )
    assert instructions(a) == [
        (2, "addl $1, %eax"),
        (4, "incl %eax"),
        (5, "decl %eax"),
        (5, "negl %eax"),
        (6, "xorl %ebx, %ebx"),
        (8, "nop"),
    ]


def test_comments_of_aarch64() -> None:
    a = parse("// clang\n# cpp\n\tadd\tx0, x0, #1 // =1\n\tb.ne .L2; mov x1, #111\n")
    assert a.isa == "aarch64"
    assert instructions(a) == [(3, "add x0, x0, #1"), (4, "b.ne .L2"), (4, "mov x1, #111")]


def test_strings_and_characters_hide_separators() -> None:
    a = parse(
        '\t.string "a # b; c /* d"\n'
        '\t.ascii "x\\"; # y" # real\n'
        "\tmovb $'#, %al ; movb $';', %bl # \"\n"
        "\tmovb $'\\'', %cl; nop\n"
    )
    assert [s.text for s in a.statements] == [
        '.string "a # b; c /* d"',
        '.ascii "x\\"; # y"',
        "movb $'#, %al",
        "movb $';', %bl",
        "movb $'\\'', %cl",
        "nop",
    ]


def test_apostrophes_in_comments_are_no_characters() -> None:
    a = parse("\tnop # it's; a comment\n\tnop # don't \"\n\tret\n")
    assert [text for _, text in instructions(a)] == ["nop", "nop", "ret"]


def test_labels_of_all_compilers() -> None:
    a = parse('.L3:\n..B1.2:\n.LBB0_1: nop\n1:\n"operator new": 2: ret\n.L10$pb:\nfoo@@V1: nop\n')
    assert labels(a) == [".L3", "..B1.2", ".LBB0_1", "1", "operator new", "2", ".L10$pb", "foo@@V1"]
    assert a.numeric_labels == {"1": [4], "2": [6]}
    assert a.labels["operator new"] == 5


def test_segment_prefixes_are_no_labels() -> None:
    a = parse("\tmovq %fs:40, %rax\n\tmov rax, QWORD PTR fs:40\n")
    assert labels(a) == []
    assert len(instructions(a)) == 2


def test_assignments_are_no_instructions() -> None:
    a = parse("alias = target\n.set second, alias\nsize = . - target\nnop\n")
    assert a.aliases["alias"] == "target"
    assert a.aliases["second"] == "alias"
    assert instructions(a) == [(4, "nop")]


def test_macros_and_repeated_blocks_are_left_alone() -> None:
    a = parse(
        ".macro load from, to\n\tmovq \\from, \\to\n.L\\@:\n.endm\n\tload %rax, %rbx\n.rept 3\n nop\n.endr\n ret\n"
    )
    assert a.macros == {"load"}
    assert instructions(a) == [(5, "load %rax, %rbx"), (9, "ret")]
    assert labels(a) == []


def test_nested_macros_end_where_the_outer_one_does() -> None:
    a = parse(".macro a\n.macro b\n nop\n.endm\n nop\n.endm\n ret\n")
    assert instructions(a) == [(7, "ret")]


def test_sections() -> None:
    a = parse(
        ' nop\n.section .text.unlikely,"ax",@progbits\n inc %eax\n.pushsection .fixup,"ax"\n dec %eax\n.popsection\n'
        " neg %eax\n.previous\n not %eax\n.data\n.long 1\n.text\n ret\n"
    )
    assert [(s.text.split()[0], s.section) for s in a.statements if s.kind == INSTRUCTION] == [
        ("nop", ".text"),
        ("inc", ".text.unlikely"),
        ("dec", ".fixup"),
        ("neg", ".text.unlikely"),
        ("not", ".text"),
        ("ret", ".text"),
    ]


def test_nothing_is_read_behind_the_end() -> None:
    assert instructions(parse(" nop\n.end\n ret\n")) == [(1, "nop")]


def test_carriage_returns_and_other_line_separators() -> None:
    a = parse('f:\r\n\tnop\r\n\t.ascii "\x0c\x85"\r\n\tret\r\n')
    assert instructions(a) == [(2, "nop"), (4, "ret")]


def test_typed_functions_end_at_their_size() -> None:
    a = parse(
        ".globl f\n.type f, @function\nf:\n nop\n.globl inside\ninside:\n ret\n.size f, .-f\n nop\n"
        ".type g,%function\ng: ret\n"
    )
    names = [f.name for f in a.functions]
    assert names == ["f", "", "g"]
    assert [a.statements[i].text for i in a.functions[0].statements] == ["f", "nop", "inside", "ret"]


def test_functions_whose_type_follows_the_code() -> None:
    # icc
    a = parse("\t.globl main\nmain:\n..B1.1:\n nop\n\t.type main,@function\n\t.size main,.-main\n")
    assert [f.name for f in a.functions] == ["main"]


def test_exported_labels_without_type_begin_functions() -> None:
    a = parse(".globl f, g\nf: nop\nlocal: ret\ng: ret\n.globl table\n.type table,@object\n.data\ntable: .long 3\n")
    assert [f.name for f in a.functions] == ["f", "g"]


def test_two_names_for_one_function() -> None:
    a = parse(".type f,@function\n.type g,@function\nf:\ng:\n ret\n")
    assert [(f.name, f.aliases) for f in a.functions] == [("f", ("g",))]


def test_cold_part_amid_a_function() -> None:
    a = parse(
        ".text\n.type f,@function\nf:\n nop\n.section .text.unlikely\n.type f.cold,@function\nf.cold:\n ud2\n.text\n"
        " inc %eax\n ret\n.size f,.-f\n.section .text.unlikely\n.size f.cold,.-f.cold\n"
    )
    texts = {f.name: [a.statements[i].text for i in f.statements] for f in a.functions}
    assert texts == {"f": ["f", "nop", "inc %eax", "ret"], "f.cold": ["f.cold", "ud2"]}


def test_code_without_any_function() -> None:
    a = parse(".L1: addl %eax, %ebx\n jne .L1\n")
    assert [(f.name, len(f.statements)) for f in a.functions] == [("", 3)]


def location_of(text: str) -> list[str]:
    return [str(s.location) for s in parse(text).statements if s.kind == INSTRUCTION]


def test_source_locations() -> None:
    # DWARF 4: directory and name in one; the last .loc holds on; line 0 is no line.
    assert location_of(
        '.file 1 "src/a.c"\n nop\n.loc 1 12 3\n nop\n nop\n.loc 1 13 0 is_stmt 0 view .LVU4\n nop\n.loc 1 0 0\n nop\n'
    ) == ["None", "src/a.c:12", "src/a.c:12", "src/a.c:13", "None"]


def test_source_locations_of_dwarf_5() -> None:
    head = (
        '.file 0 "/home/u/build" "../a.c" md5 0x0123456789abcdef0123456789abcdef\n.file 1 "/usr/include" "b.h"\n'
        '.file 2 "/home/u/build" "c.h"\n.file 3 "/home/u/build/gen/d.h"\n.file 4 "inc" "e.h"\n'
    )
    assert location_of(head + "".join(f".loc {n} {n + 5} 1\n nop\n" for n in range(5))) == [
        "../a.c:5",
        "/usr/include/b.h:6",
        "c.h:7",
        "gen/d.h:8",
        "inc/e.h:9",
    ]


@pytest.mark.parametrize("number", ["4294967296", "9" * 30, "9" * 5000, "-1", "²", "x"])
def test_what_is_no_number_of_a_line_is_no_location(number: str) -> None:
    text = f'.file 1 "a.c"\n.file 2 "b.c"\n.loc 1 {number}\n nop\n.loc {number} 1\n nop\n.loc 1 4294967295\n nop\n'
    assert location_of(text) == ["None", "None", "a.c:4294967295"]
    assert columns_of(f"\t.loc 1 {number} {number}\n\tnop\n", [2]).get(2, (0, 0)) == (0, 0)
    assert location_of(f'.file {number} "a.c"\n.loc 1 5\n nop\n') == ["None"]


def test_file_names_with_escapes() -> None:
    assert location_of('.file 1 "\\303\\251 \\"q\\" #;.c"\n.loc 1 2 0\n nop\n') == ['é "q" #;.c:2']


def test_location_does_not_leak_into_the_next_function() -> None:
    text = '.file 1 "a.c"\n.type f,@function\nf:\n.loc 1 3\n ret\n.size f,.-f\n.type g,@function\ng:\n ret\n'
    assert location_of(text) == ["a.c:3", "None"]


def test_icc_says_lines_in_comments() -> None:
    text = (
        '# mark_description "Intel(R) C Intel(R) 64 Compiler";\n\t.file "t.c"\n..B1.1:      # Preds ..B1.0\n'
        "  vaddpd %ymm0, %ymm1, %ymm1   #80.5\n  incl %eax   # Prob 50%\n"
    )
    a = parse(text)
    assert a.source_file == "t.c"
    assert str(a.statements[1].location) == "t.c:80"


def test_markers_in_comments() -> None:
    a = parse(
        "# OSACA-BEGIN\n nop # LLVM-MCA-BEGIN  a b \n#LLVM-MCA-END a b\n# OSACA-END \n# see OSACA-BEGIN\n"
        "# OSACA-BEGINNING\n/* LLVM-MCA-BEGIN */\n"
    )
    assert [(m.line, m.position, m.dialect, m.begin, m.name) for m in a.markers] == [
        (1, 0, "osaca", True, ""),
        (2, 1, "llvm-mca", True, "a b"),
        (3, 1, "llvm-mca", False, "a b"),
        (4, 1, "osaca", False, ""),
        (7, 1, "llvm-mca", True, ""),
    ]


def test_isa_is_found_by_registers() -> None:
    assert detect("\tmovl %eax, %ebx\n") == "x86"
    assert detect(".intel_syntax noprefix\n add rax, 1\n") == "x86"
    assert detect(" vaddps zmm0, zmm1, zmm2\n") == "x86"
    assert detect(" ldr q0, [x1, x2]\n") == "aarch64"
    assert detect(" add v0.2d, v1.2d, v2.2d\n") == "aarch64"
    assert detect(".type f, %function\nf:\n ret\n") == "x86"
    assert detect("") == "x86"


def test_syntax_changes_are_noted() -> None:
    a = parse(".intel_syntax noprefix\n add eax, 1\n.att_syntax prefix\n addl $1, %eax\n")
    assert a.dialects == [(1, "intel"), (3, "")]


def test_damaged_text_does_not_raise() -> None:
    for text in (
        '.file 1 "x',
        ".loc",
        ".loc 1",
        ".loc x y",
        ".file",
        ".size",
        ".type",
        ".section",
        ".macro",
        "/*",
        '"',
        "'",
        ":",
    ):
        parse(text)
        parse("\t" + text + "\n nop\n")
