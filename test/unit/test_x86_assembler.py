"""Lines tied to bytes by the assembler run, refused statements, and the object reader."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from incc.frontends import assembling
from incc.frontends.assembling import AssemblerError, LimitError
from incc.frontends.kernel import Refused, Relocation
from incc.frontends.x86 import assembler
from incc.frontends.x86.assembler import AssembledLines, assemble, read_object

LLVM = [sys.executable, str(Path(assembler.__file__).parent / "llvm" / "assembler.py")]


def hexes(result: AssembledLines, line: int) -> list[str]:
    return [s.code.hex() for s in result.statements.get(line, ())]


def all_lines(text: str) -> range:
    return range(1, text.count("\n") + 2)


@pytest.fixture(params=["as", "llvm", "clang-14", "clang-19"])
def command(request: pytest.FixtureRequest) -> list[str]:
    name: str = request.param
    if name == "llvm":
        return LLVM
    if shutil.which(name) is None:
        pytest.skip(f"no {name}")
    return ["as", "--64"] if name == "as" else [name, "-c", "-x", "assembler", "--target=x86_64-linux-gnu"]


def test_lines_to_bytes(command: list[str]) -> None:
    text = "\n".join(
        [
            "\t.text",
            "\tpushq %rbx",  # 2
            "\t.p2align 4",
            ".L3:",
            "\taddl $1, %eax # comment; not a statement",  # 5
            "\tincl %eax; decl %ebx",  # 6
            ".L4: .L5:\tnop ; .p2align 3 ; nop",  # 7
            "\tjne .L3",  # 8
        ]
    )
    result = assemble(text, [2, 5, 6, 7, 8], command)
    assert not result.refused
    assert hexes(result, 2) == ["53"]
    assert hexes(result, 5) == ["83c001"]
    assert result.statements[5][0].offset == 16
    assert hexes(result, 6) == ["ffc0", "ffcb"]
    assert [s.text for s in result.statements[6]] == ["incl %eax", "decl %ebx"]
    assert hexes(result, 7) == ["90", "90"]
    assert [s.offset for s in result.statements[7]] == [23, 24]
    assert hexes(result, 8) == ["75f5"]
    assert result.statements[8][0].section == ".text"
    assert result.statements[8][0].alignment >= 16


def test_refused(command: list[str]) -> None:
    text = "\n".join(
        [
            "\taddl $1, %eax",
            "\tvbogus %xmm0, %xmm1",  # 2
            "\tsubl $1, %eax",
            "\taddl %eax, %xmm1",  # 4
            "\t.unknowndirective 3",
            "\tincl %eax; vbogus %ymm3; decl %ebx",  # 6
            "\tnop",
        ]
    )
    result = assemble(text, all_lines(text), command)
    assert sorted(result.refused) == [2, 4, 6]
    assert (result.refused[2][0].line, result.refused[2][0].text) == (2, "vbogus %xmm0, %xmm1")
    assert result.refused[2][0].message
    assert [r.text for r in result.refused[6]] == ["vbogus %ymm3"]
    assert hexes(result, 6) == ["ffc0", "ffcb"]
    assert hexes(result, 1) == ["83c001"]
    assert hexes(result, 3) == ["83e801"]
    assert result.statements[3][0].offset == 3
    assert hexes(result, 7) == ["90"]


def test_intel_syntax(command: list[str]) -> None:
    text = "\t.intel_syntax noprefix\n\tmov eax, DWORD PTR [rbx+rcx*4] # a[i]\n\tadd rax, QWORD PTR foo[rip+8]\n"
    result = assemble(text, [2, 3], command)
    assert not result.refused
    assert hexes(result, 2) == ["8b048b"]
    assert result.statements[2][0].text == "mov eax, DWORD PTR [rbx+rcx*4]"
    assert result.statements[3][0].relocations == (Relocation(offset=6, symbol="foo", addend=4, pc_relative=True),)


def test_relocations() -> None:
    text = "\n".join(
        [
            "\t.text",
            "\tmovl $3, foo+8(%rip)",
            "\tmovl %eax, table(,%rax,8)",
            "\tmovabsq $local, %rax",
            "\tcall bar@PLT",
            "\tmovq baz@GOTPCREL(%rip), %rax",
            "\t.data",
            "\t.long 0",
            "local:\t.long 1",
        ]
    )
    result = assemble(text, range(2, 7))
    relocations = {line: s[0].relocations for line, s in result.statements.items()}
    assert relocations == {
        2: (Relocation(offset=2, symbol="foo", addend=0, pc_relative=True),),
        3: (Relocation(offset=13, symbol="table", addend=0, pc_relative=False),),
        4: (Relocation(offset=19, symbol=".data", addend=4, pc_relative=False),),
        5: (Relocation(offset=28, symbol="bar", addend=-4, pc_relative=True),),
        6: (Relocation(offset=35, symbol="baz@GOTPCREL", addend=-4, pc_relative=True),),
    }


def test_labels_of_others(command: list[str]) -> None:
    """An excerpt whose labels are elsewhere is no error, and jumps to them are near ones."""
    result = assemble("\tjne .L9\n\tleaq .LC0(%rip), %rax\n\tjmp .L9\n", [1, 2, 3], command)
    assert not result.refused
    assert hexes(result, 1) == ["0f8500000000"]
    assert hexes(result, 2) == ["488d0500000000"]


def test_directives_without_code(command: list[str]) -> None:
    """What some assembler does not know, or refuses out of context, costs no statement."""
    text = "\n".join(
        [
            '\t.file "x.c"',
            '\t.file 0 "/src" "x.c" md5 0xb9a6da4b1a4d7d4a9d0d6c4b1f6a8a11',
            '\t.file 1 "x.c"',
            '\t.file 1 "y.c"',
            "\t.text",
            "foo:",
            "\t.cfi_startproc",
            "\t.loc 7 12 3 is_stmt 0 view .LVU1",
            "\taddl $1, %eax",  # 9
            "\t.cv_loc 0 1 2 3",
            "\t.cfi_def_cfa_offset 16",
            "\tnop",  # 12
            '\t.section .debug_info,"",@progbits',
            "\t.long .Lnowhere_defined - .Lneither",
            '\t.pushsection .debug_str,"MS",@progbits,1',
            "\t.long .Lx - .Ly",
            "\t.popsection",
            "\t.long .Lx - .Ly",
            "\t.text",
            "\tdecl %eax",  # 20
            "\t.addrsig",
            "\t.addrsig_sym foo",
            "\t.build_version macos, 13, 0",
            "\t.subsections_via_symbols",
            '# 5 "other.c" 1',
            "\tvbogus %xmm0",  # 26
        ]
    )
    result = assemble(text, [9, 12, 20, 26], command)
    assert (hexes(result, 9), hexes(result, 12), hexes(result, 20)) == (["83c001"], ["90"], ["ffc8"])
    assert list(result.refused) == [26]


def test_prefixes_of_their_own() -> None:
    text = "\tlock; addl $1, (%rax)\n\trep\n\tmovsb\n\tlock ; lock\n\tincl (%rax)\n\trep; ret\n"
    result = assemble(text, all_lines(text))
    assert [(s.text, s.code.hex()) for s in result.statements[1]] == [("lock addl $1, (%rax)", "f0830001")]
    assert hexes(result, 2) == []
    assert [(s.text, s.code.hex()) for s in result.statements[3]] == [("rep movsb", "f3a4")]
    assert [(s.text, s.code.hex()) for s in result.statements[6]] == [("rep ret", "f3c3")]


def test_prefixes_without_instruction() -> None:
    result = assemble("\tlock\n\tincl (%rax)\n\tnop\n\trep\n", [1, 3, 4])
    assert result.refused == {
        1: (Refused(1, "lock", "a prefix without its instruction"),),
        4: (Refused(4, "rep", "a prefix without its instruction"),),
    }
    assert hexes(result, 3) == ["90"]


def test_macros_and_blocks() -> None:
    text = "\n".join(
        [
            "\t.macro twice op",
            "\t\\op",
            "\t\\op",
            "\t.endm",
            "\ttwice nop",  # 5
            "\t.rept 3",
            "\tnop",  # 7
            "\t.endr",
            "\t.if 0",
            "\tnop",  # 10
            "\t.endif",
            "\tnop",  # 12
        ]
    )
    result = assemble(text, [5, 7, 10, 12])
    assert hexes(result, 5) == ["9090"]
    assert hexes(result, 12) == ["90"]
    assert result.statements[12][0].offset == 5
    assert result.refused == {
        7: (Refused(7, "nop", "inside a macro or repeat block"),),
        10: (Refused(10, "nop", "not assembled (in a false .if, or behind a string without an end?)"),),
    }


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ('"', "a string without an end; close it with another quotation mark"),
        ('addl $1, %eax"', "a string without an end; close it with another quotation mark"),
        ('"foo', "a string without an end; close it with another quotation mark"),
        ("movb $'", "the end of the statement is missing"),
        ("movl $1 '", "the end of the statement is missing"),
        ("'", "the end of the statement is missing"),
    ],
)
def test_reasons_are_about_the_text_as_it_was_written(command: list[str], statement: str, reason: str) -> None:
    result = assemble(f"\tnop\n\t{statement}\n\tnop\n", [1, 2, 3], command)
    assert result.refused == {2: (Refused(2, statement, reason),)}
    assert [hexes(result, line) for line in (1, 3)] == [["90"], ["90"]]


def test_code_of_16_bits_is_refused() -> None:
    text = "nop\n.code16\naddl %eax, %ebx\n.code32; nop\n.code16gcc\nnop\n.code64\nnop"
    result = assemble(text, [1, 3, 4, 6, 8])
    assert {line: [each.text for each in refused] for line, refused in result.refused.items()} == {
        3: ["addl %eax, %ebx"],
        6: ["nop"],
    }
    assert "16-bit code (.code16)" in result.refused[3][0].message
    assert [hexes(result, line) for line in (1, 4, 8)] == [["90"], ["90"], ["90"]]


def test_unusual_text() -> None:
    text = '\taddl $1, %eax\r\n\t.ascii "a;b#c"; nop; .string "\\"; nop"\n/* x */ nop // y\n\tx = 5; nop\n\tnop'
    result = assemble(text, all_lines(text))
    assert not result.refused
    assert [hexes(result, line) for line in range(1, 6)] == [["83c001"], ["90"], ["90"], ["90"], ["90"]]
    assert result.statements[1][0].text == "addl $1, %eax"


def test_icc_and_sections(command: list[str]) -> None:
    text = "\n".join(
        [
            "..B1.2:                         # Preds ..B1.1",
            "        vmovups   (%rax), %zmm0                                 #71.3 c1",
            '\t.section .text.hot,"ax",@progbits',
            "        jb        ..B1.2        # Prob 82%                      #71.3 c5",
        ]
    )
    result = assemble(text, [2, 4], command)
    assert not result.refused
    assert hexes(result, 2) == ["62f17c481000"]
    assert result.statements[2][0].text == "vmovups (%rax), %zmm0"
    assert result.statements[4][0].section == ".text.hot"


def test_many_statements_refused_at_once() -> None:
    """All refused statements are taken out in one round, however many there are."""
    text = "".join(f"\tvbogus{k} %xmm0\n\tnop\n" for k in range(200))
    result = assemble(text, all_lines(text))
    assert sorted(result.refused) == list(range(1, 400, 2))
    assert sum(len(s) for s in result.statements.values()) == 200


def test_assembler_missing() -> None:
    with pytest.raises(AssemblerError, match=r"cannot run the assembler '/no/such/as': No such file"):
        assemble("nop\n", [1], ["/no/such/as"])


def test_assembler_crashes(tmp_path: Path) -> None:
    script = tmp_path / "as"
    script.write_text("#!/bin/sh\nkill -SEGV $$\n")
    script.chmod(0o755)
    with pytest.raises(AssemblerError, match="was ended by signal 11"):
        assemble("nop\n", [1], [str(script)])


def test_assembler_fails_without_a_line(tmp_path: Path) -> None:
    script = tmp_path / "as"
    script.write_text("#!/bin/sh\necho 'as: fatal error: out of luck' >&2\nexit 3\n")
    script.chmod(0o755)
    with pytest.raises(AssemblerError, match="failed with status 3: as: fatal error: out of luck"):
        assemble("nop\n", [1], [str(script)])


def test_a_full_disk_is_not_the_assembler_s_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "as"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    full = list(os.statvfs(tmp_path))
    full[4] = 0
    monkeypatch.setattr(os, "statvfs", lambda path: os.statvfs_result(full))
    with pytest.raises(LimitError, match=f"no space left in the temporary folder {tmp_path}$"):
        assemble("nop\n", [1], [str(script)])


def test_assembler_writes_something_else(tmp_path: Path) -> None:
    script = tmp_path / "as"
    script.write_text('#!/bin/sh\necho "no object" > "$2"\n')
    script.chmod(0o755)
    with pytest.raises(AssemblerError, match="not a little-endian ELF file"):
        assemble("nop\n", [1], [str(script)])


def test_another_assembler_where_as_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    result = assemble("\taddl $1, %eax\n\tvbogus\n", [1, 2])
    assert hexes(result, 1) == ["83c001"]
    assert list(result.refused) == [2]


def test_temporary_files_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assemble("nop\nvbogus\n", [1, 2])
    with pytest.raises(AssemblerError):
        assemble("nop\n", [1], ["/no/such/as"])
    assert list(tmp_path.iterdir()) == []


def _only_places(monkeypatch: pytest.MonkeyPatch, *places: str) -> None:
    monkeypatch.setattr(assembling, "temporary_places", lambda environment: places)


def test_the_next_place_for_temporary_files_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    _only_places(monkeypatch, str(tmp_path / "missing"), ".")
    assert assemble("nop\n", [1]).statements[1][0].code == b"\x90"
    assert list(tmp_path.iterdir()) == []


def test_no_place_for_temporary_files_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _only_places(monkeypatch, str(tmp_path / "missing"), str(tmp_path / "gone"))
    with pytest.raises(AssemblerError, match=r"no folder for temporary files; set TMPDIR to one .*gone: No such"):
        assemble("nop\n", [1])


def test_open_files_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_folder(place: str) -> list[str]:
        raise FileNotFoundError(place)

    monkeypatch.setattr(os, "listdir", no_folder)
    assert assemble("nop\n", [1]).statements[1][0].code == b"\x90"


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the compiler must make x86-64 code")
@pytest.mark.parametrize("flags", [["-O0"], ["-O3", "-mavx2", "-g"], ["-O2", "-masm=intel", "-fPIC"]])
def test_same_bytes_as_the_object(tmp_path: Path, flags: list[str]) -> None:
    """Each statement's bytes are at the same place in the object that the compiler makes of the same source."""
    source = tmp_path / "x.c"
    source.write_text(
        "extern double s[]; double f(double *a, int n) { double x = 0; for (int i = 0; i < n; i++) "
        "{ if (a[i] > 3) x += a[i] * s[i & 7]; else a[i] = x; } return x; }\n"
        "int g(const char *p) { int h = 0; while (*p) { switch (*p++) { case 1: h++; break; case 2: h *= 3; break; "
        "case 3: h ^= 5; break; case 4: h -= 9; break; case 5: h |= 64; break; default: h = -h; } } return h; }\n"
    )
    assembly, object_file = tmp_path / "x.s", tmp_path / "x.o"
    subprocess.run(["cc", *flags, "-S", source, "-o", assembly], check=True)
    subprocess.run(["cc", *flags, "-c", source, "-o", object_file], check=True)
    text = assembly.read_text()
    lines = [
        number
        for number, line in enumerate(text.split("\n"), 1)
        if line.startswith("\t") and line[1:2] not in (".", "#")
    ]
    result = assemble(text, lines)
    assert not result.refused
    sections = {s.name: s for s in read_object(object_file.read_bytes()).sections.values()}
    covered = 0
    for line in lines:
        (statement,) = result.statements[line]
        section = sections[statement.section]
        assert section.data[statement.offset :][: len(statement.code)] == statement.code
        covered += len(statement.code)
    assert covered > 100


def test_object_reader_refuses() -> None:
    with pytest.raises(ValueError, match="not a little-endian ELF file"):
        read_object(b"MZ" + bytes(100))
    with pytest.raises(ValueError, match="damaged: entries of 65535 bytes"):
        read_object(b"\x7fELF\x02\x01" + bytes(12) + b"\x3e\x00" + b"\xff" * 60)
    with pytest.raises(ValueError, match="another machine"):
        read_object(b"\x7fELF\x02\x01" + bytes(12) + b"\xb7\x00" + bytes(60))


def test_what_only_a_linker_could_say_is_no_matter_of_the_bytes() -> None:
    text = "movl $foo-bar, %eax\nmovq foo@GOTOFF(%rbx), %rax\nmovq foo@GOTPCREL(%rip), %rax\n"
    found = assembler.assemble(text, range(1, 4))
    assert [found.statements[line][0].code.hex()[:6] for line in (1, 2, 3)] == ["b80000", "488b83", "488b05"]
    assert not found.refused


def test_llvm_is_asked_for_what_as_does_not_know() -> None:
    """Instructions that are newer than it, LLVM's suffixes, and operands as LLVM up to 19 writes them."""
    text = "aaddl %r9d, (%r14)\nrdrandl %r8d; nop\nfrob %eax\njmp end\n.intel_syntax noprefix\n"
    text += "vgatherdpd ymm4 {k1}, ymmword ptr [r14 + 4*xmm12]\nend:\n"
    found = assembler.assemble(text, range(1, 7))
    codes = [statement.code.hex() for line in sorted(found.statements) for statement in found.statements[line]]
    assert codes == ["450f38fc0e", "410fc7f0", "90", "eb07", "6292fd299224a6"]
    assert [reason.text for reasons in found.refused.values() for reason in reasons] == ["frob %eax"]


def test_debug_information_without_its_directives_is_left_out() -> None:
    """Tools take `.loc`, which defines .LVU1, and the sections' directives out of a text."""
    text = "\t.bss\nx:\n\t.zero\t4\n\t.uleb128 .LVU1\n\t.long\t.LVU1\n\t.byte\t7\n\t.text\n\tmovl\tx(%rip), %eax\n"
    assembled = assemble(text, [8])
    assert not assembled.refused
    assert [r.symbol for r in assembled.statements[8][0].relocations] == [".bss"]


def test_functions_may_be_called_as_registers_are() -> None:
    text = ".intel_syntax noprefix\nst:\nmov eax, 5\n.size st, .-st\nsp:\nret\n.size sp, .-sp\n"
    assert not assemble(text, [3, 6]).refused


@pytest.mark.parametrize("statement", ["fadds .LC0@GOTOFF(%esi)", "movl .LC0@NTPOFF(%eax), %eax"])
def test_relations_of_32_bits_are_read_for_64(statement: str) -> None:
    assert not assemble(f"{statement}\n", [1]).refused
