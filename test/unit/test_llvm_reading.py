"""LLVM's reading of texts that assemblers read differently, and the places of mistakes in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from incc.frontends.x86.decode import UndecodableError, decode, decode_refused, prefix_alone
from incc.frontends.x86.kernels import finished
from incc.frontends.x86.llvm.reading import Diagnostic, expanded, read, unusual, with_plain_numbers
from incc.frontends.x86.llvm.text import printed

pytest.importorskip("llvmlite")


@pytest.mark.parametrize(
    "text",
    [
        "\t.rept 3\n",
        "x: .if 1\n",
        "nop; .bogus\n",
        '\t.include "a"\n',
        "nop\rnop\n",
        "nop\0\n",
        "\f\n",
        "\ufeffnop\n",
        "rep; movsb\n",
        "\taddr32 movl (%edi), %eax\n",
        "\tlock\n",
        "\tREX64 nop\n",
        "\t.intel_syntax prefix\n",
        "\t.cfi_startproc\n\tnop\n",
        "\t.cfi_def_cfa_offset 16\n",
        "\t.cfi_startproc\n\t.cfi_startproc\n\t.cfi_endproc\n",
        "/ a comment\n",
        "\tbnd jmp x\n",
        "\t{load} addl %eax, %ebx\n",
        "\tREP MOVSB\n",
        "\txacquire lock incl (%rdi)\n",
        "\tlock xacquire incl (%rdi)\n",
        "\t.intel_syntax noprefix\n\tadd eax, %ebx\n",
    ],
)
def test_unusual(text: str) -> None:
    assert unusual(text)


def test_what_compilers_write_is_not_unusual() -> None:
    text = '\t.file\t"a.c"\n\t.text\n\t.globl\tf\n\t.type\tf, @function\nf:\n.LFB0:\n\t.cfi_startproc\n\trep stosq\n'
    text += "\tlock addl $1, (%rdi)\n.L3:\r\n\t.loc 1 3 4\n\tmovl\t%fs:0, %eax\n\tcsinc:\n.LC0:\t.long\t1\n#APP\n"
    text += '# 3 "a.c" 1\n'
    text += "\t.cfi_endproc\n\t{vex} vpdpbusd %xmm1, %xmm2, %xmm3\n// x\n/* y */\n\t.cfi_sections .debug_frame\n"
    assert not unusual(text)


FORMATS = {
    "x86_64-pc-windows-msvc": ".seh_proc f",
    "x86_64-unknown-uefi": ".scl 2",
    "x86_64-apple-macosx13": ".subsections_via_symbols",
    "x86_64-unknown-linux-gnu": ".size f, 4",
}


def test_directives_of_other_object_formats_are_unusual() -> None:
    coff = {"x86_64-pc-windows-msvc", "x86_64-unknown-uefi"}
    for triple in FORMATS:
        for own, directive in FORMATS.items():
            assert unusual(f"\t{directive}\n", triple) != (own == triple or {own, triple} == coff)


def test_registers_of_att_syntax_are_usual_behind_intel() -> None:
    assert not unusual(".intel_syntax noprefix\nadd eax, ebx # %eax\n.att_syntax\naddl %eax, %ebx\n")


def test_masm_numbers_keep_their_columns() -> None:
    assert with_plain_numbers("mov rbx, 0ffh ; x") == "mov rbx, 0xff ; x"
    assert with_plain_numbers("mov ecx, 1010b, 17q, 10d, 9t") == "mov ecx, 10   , 15 , 10 , 9 "
    assert with_plain_numbers("jne 1b") == "jne 1 "
    for text in (
        "jne 1f",
        "movl $0x1b, %eax",
        "jne 2b",
        '.ascii "1b"',
        "nop # 0ffh",
        "movb %r10b, %al",
        "vmovd %xmm1b",
    ):
        assert with_plain_numbers(text) == text


def diagnostics(text: str, trusted: bool = False) -> list[Diagnostic]:
    reading = read(text, trusted=trusted)
    assert reading is not None
    return reading.diagnostics


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("\t.rept 2\n\tbad\n\t.endr\n", 1, "invalid instruction mnemonic 'bad' in 'bad', which is written here"),
        (
            "\t.macro m a, b=%ebx\n\taddl \\a, \\b\n\t\\a\n\t.endm\n\tm %eax\n",
            5,
            "unexpected token at start of statement in '%eax', which is written here",
        ),
    ],
    ids=["repetition", "macro"],
)
def test_a_mistake_is_where_it_is_written(text: str, line: int, message: str) -> None:
    (error,) = diagnostics(text)
    assert (error.line, error.column, error.kind, error.message) == (line, 2, "error", message)
    assert error.source == text.split("\n")[line - 1]


def test_a_mistake_in_an_included_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("part.inc").write_text("nop\nbad\n")
    (error,) = diagnostics('nop\n.include "part.inc"\n', trusted=True)
    assert (error.file, error.file_line, error.column, error.line) == ("part.inc", 2, 1, 2)


def test_warnings_are_no_errors() -> None:
    (warning,) = diagnostics('nop\n.warning "slow"\n')
    assert (warning.kind, warning.line, warning.column, warning.message) == ("warning", 2, 1, "slow")


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("\f\n", [(1, 1)]),
        ("nop\n.if 1\n", [(3, 1)]),
        (".if\nnop\n", [(1, 4), (3, 1)]),
        (".cfi_startproc\nnop\n", [(3, 1)]),
        ("movl $a+b, %eax\nmovl $a-b, %eax\nbad\n", [(3, 1)]),
        ('.ascii "a\nnop\nbad', [(1, 8)]),
        ("vaddps %zmm0, %zmm1, %zmm2 {%k8}\n", [(1, 29), (1, 30)]),
        ("nop; bad 1; addl %eax, %ebx; worse\n", [(1, 6), (1, 30)]),
        ("x: bad; y: worse\n\tbad\n", [(1, 4), (1, 12), (2, 2)]),
        (".set a, a\n", [(1, 9)]),
    ],
)
def test_places(text: str, places: list[tuple[int, int]]) -> None:
    assert [(each.line, each.column) for each in diagnostics(text)] == places


def test_a_line_marker_names_the_file() -> None:
    (error,) = diagnostics('# 7 "a.c"\n\tbad\n')
    assert (error.file, error.file_line, error.column, error.line) == ("a.c", 7, 2, 2)


def test_a_line_marker_with_number_0_ends_the_one_before() -> None:
    reading = read('# 7 "a.c" 1\nnop\n# 0 "" 2\nfrob\n')
    assert reading is not None
    assert [(each.file, each.file_line, each.line) for each in reading.diagnostics] == [("", 0, 4)]


def test_places_in_files_that_are_declared_later_are_no_mistakes() -> None:
    reading = read('.loc 1 3 2 view -0\n.rept 2\nnop\n.endr\n.loc 1 4\n.file 1 "a.c"\n')
    assert reading is not None
    assert not reading.diagnostics
    assert reading.text.count("nop") == 2


def test_repetitions_and_conditions_are_carried_out() -> None:
    text = "# LLVM-MCA-BEGIN a\n.rept 2\nnop\n.endr\n.if 0\nbad\n.else\nincl %eax\n.endif\n# LLVM-MCA-END a\n"
    lines = [line.strip() for line in expanded(text).splitlines() if line.strip() and line.strip()[0] != "."]
    assert lines == ["# LLVM-MCA-BEGIN a", "nop", "nop", "incl\t%eax", "# LLVM-MCA-END a"]
    assert expanded("bad\n") == ""
    assert "{alone} rep\n" in expanded("rep; nop\n")


def test_prefixes_that_stand_alone() -> None:
    alone = prefix_alone(b"\xf3", 4, "rep", 2)
    assert alone is not None
    assert (alone.offset, alone.line, alone.length, printed(alone)) == (4, 2, 1, "rep")
    assert prefix_alone(b"\x06", 0, "push", 1) is None
    # Its name begins as those of x87 do.
    for name in ("fs", "f"):  # or what a macro is called
        segment, load = prefix_alone(b"\x64", 0, name, 1), decode(b"\xd9\xe8", 1)
        assert segment is not None
        assert [i.mnemonic for i in finished([segment, load])] == [name, "fld1"]


def test_lock_where_no_processor_takes_it() -> None:
    code = b"\xf0\x89\x0f\x90"
    with pytest.raises(UndecodableError):
        decode(code)
    found = decode_refused(code, 0, "lock movl %ecx, (%rdi)", 1)
    assert found is not None
    assert (found.length, printed(found)) == (3, "lock\t\tmovl\t%ecx, (%rdi)")
    twice = decode_refused(b"\xf0\x66\xf0\x01\xc8", 0, "lock lock addw %cx, %ax", 1)
    assert twice is not None
    assert (twice.length, twice.mnemonic) == (5, "add")
    assert decode_refused(b"\x06", 0, "", 1) is None
    to_code_segment = b"\xf0\x8e\xc8"  # refused with and without lock
    assert decode_refused(to_code_segment, 0, "lock movw %ax, %cs", 1) is None
