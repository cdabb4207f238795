"""Assembly of instruction sets that incc does not read."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from incc.driver.commands import mca
from incc.frontends.asm.syntax import detect_syntax
from incc.frontends.foreign import foreign, unreadable
from incc.frontends.x86.llvm.reading import with_plain_numbers

SNIPPETS = {
    "RISC-V": "f:\n.LBB0_1:\n\tfld\tfa5, 0(a0)\n\taddi\ta0, a0, 8\n\tbne\ta0, a1, .LBB0_1\n\tret\n",
    "MIPS": "f:\n$L3:\n\tlw\t$3,0($2)\n\taddiu\t$2,$2,4\n\tbne\t$2,$5,$L3\n\taddu\t$4,$4,$3\n",
    "LoongArch": "f:\n.LBB0_1:\n\tld.d\t$a3, $a0, 0\n\taddi.d\t$a0, $a0, 8\n\tbnez\t$a3, .LBB0_1\n",
    "PowerPC": "f:\n.LBB0_1:\n\tlfdu 0, 8(3)\n\tfadd 1, 1, 0\n\tbdnz .LBB0_1\n\tblr\n",
    "s390": "f:\n.LBB0_1:\n\tld\t%f1, 0(%r2)\n\tadbr\t%f0, %f1\n\tlay\t%r2, 8(%r2)\n\tbrctg\t%r3, .LBB0_1\n",
    "WebAssembly": "f:\n\t.functype\tf (i32) -> (f64)\n\tloop\n\tlocal.get\t0\n\tf64.load\t0\n\tend_loop\n",
    "32-bit Arm": "f:\n.L3:\n\tldr\tr3, [r0], #4\n\tadd\tr2, r2, r3\n\tcmp\tr0, r1\n\tbne\t.L3\n\tbx\tlr\n",
    "AVR": "\tmul\tr22, r24\n\tmovw\tr30, r0\n\tadd\tr18, r30\n",
    "PTX": "\tadd.s32 \t%r3, %r1, %r2;\n\tst.global.u32 \t[%rd1], %r3;\n",
    "SPARC": "f:\n.L3:\n\tldd\t[%o0], %f8\n\tadd\t%o0, 8, %o0\n\tretl\n\tnop\n",
}
FRAGMENTS = {
    "RISC-V": "\txor\ta0, a0, a4\n\tsrai\ta4, a4, 63\n",
    "MIPS": "\txor\t$4, $1, $2\n\tadd.d\t$f0, $f0, $f2\n",
    "LoongArch": "\tmaskeqz\t$a0, $a0, $a4\n\tor\t$a0, $a0, $a5\n",
    "PowerPC": "\txor 3, 3, 5\n\tsrwi 5, 3, 1\n",
    "s390": "\tst\t%r0, 0(%r1,%r2)\n\tahik\t%r14, %r1, 2\n",
    "32-bit Arm": "\teor\tr3, r12, r0, lsr #1\n\tvadd.f64\td0, d0, d1\n",
}
"""Statements without a directive or a jump, as they are pasted."""
IR = 'source_filename = "f.c"\ntarget triple = "x86_64-pc-linux-gnu"\n\ndefine i32 @f() {\n  ret i32 0\n}\n'
OWN = (
    "f:\tmov rax, [rdi+8*rcx]\ntable: dq 1, 2, 3\n\tdb 1, 2, 3, 4\n",
    "f:\n\tblr\tx8\n\tfadd\ts0, s1, s2\n",
    "f:\n\tmov\tr8, rax\n\tadd\tr9, r8\n\tstd\n\tstr\tr8\n\tmovsd\txmm0, qword ptr [rdi]\n",
    "f:\n\tmovl $5, %eax\n\tpush $12\n\tld = 3\n",
    "f:\n\tldr\td0, [x0], #8\n\tfadd\td1, d1, d0\n\tb.ne\tf\n",
    "1:\tloop 1b\n",
    "",
)


@pytest.mark.parametrize("name", SNIPPETS)
@pytest.mark.parametrize("face", ["incc-mca", "llvm-mca"])
def test_foreign_assembly_is_refused_in_a_sentence(
    name: str, face: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.s"
    path.write_text(SNIPPETS[name])
    assert mca.main(["-mcpu=skylake", str(path)], face) == 1
    prefix = "" if face == "llvm-mca" else "incc-mca: error: "
    place = f"{path}: error: " if face == "llvm-mca" else f"{path}: "
    out, message = capfd.readouterr()
    assert (out, message) == (
        "",
        f"{prefix}{place}assembly for {name}, which incc does not read; it reads x86's and AArch64's\n",
    )


@pytest.mark.parametrize("name", FRAGMENTS)
def test_pasted_statements_are_foreign(name: str) -> None:
    assert foreign(FRAGMENTS[name]) == f"assembly for {name}"


@pytest.mark.parametrize("face", ["incc-mca", "llvm-mca"])
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (IR, "LLVM IR, which incc does not read; it reads x86's and AArch64's"),
        ("f:\n\tldr\td0, [x0], #8\n\tblr\tx8\n", "aarch64 assembly, but the machine model is of an x86 core"),
    ],
)
def test_one_sentence_refuses_a_text(
    text: str, reason: str, face: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.s"
    path.write_text(text)
    assert mca.main(["-mcpu=skylake", str(path)], face) == 1
    out, message = capfd.readouterr()
    assert (out, message.count("\n")) == ("", 1)
    assert message.endswith((f"error: {reason}\n", f"f.s: {reason}\n"))


MACOS = """\
_f:                                     ; @f
; %bb.0:
LBB0_1:                                 ; =>This Inner Loop Header: Depth=1
\tldr\td1, [x0], #8                     ; 8-byte Folded Reload
\tfadd\td0, d0, d1
\tsubs\tx1, x1, #1
\tb.ne\tLBB0_1
\tret
"""


@pytest.mark.parametrize("text", [MACOS, MACOS.replace("\t", "        ") + ".subsections_via_symbols\n"])
def test_comments_of_macos_are_no_statements(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.s"
    path.write_text(text)
    assert mca.main(["-mcpu=apple-m1", "--auto", str(path)]) == 0
    out, message = capfd.readouterr()
    assert message == ""
    assert "4 instructions, 16 bytes" in out


def test_the_syntax_of_x86_does_not_apply_to_aarch64(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "f.s"
    path.write_text("f:\n\tldr\td0, [x0], #8\n\tblr\tx8\n")
    for target in ([], ["-mtriple=aarch64"]):
        assert mca.main([*target, "-mcpu=generic", "--x86-asm-syntax=intel", "-output-asm-variant=1", str(path)]) == 0
        assert "for Arm Cortex-A510\n" in capfd.readouterr().out


def test_the_target_tells_the_instruction_set_of_a_text_without_a_sign(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.s"
    path.write_text("f:\n\tret\n")
    for target, core in (("aarch64", "Arm Cortex-A510"), ("x86_64", "x86-64 in general")):
        assert mca.main([f"-mtriple={target}", "-mcpu=generic", str(path)]) == 0
        assert f"for {core}" in capfd.readouterr().out


def _coff(machine: int) -> bytes:
    """Return a COFF object for a machine with one section of code, 16 bytes at offset 60."""
    header = struct.pack("<HHIIIHH", machine, 1, 0, 0, 0, 0, 0)
    return header + struct.pack("<8sIIIIIIHHI", b".text", 0, 0, 16, 60, 0, 0, 0, 0, 0x60500020) + bytes(16)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (_coff(0x1C4), "code for ARMNT, which incc does not read; it reads x86's and AArch64's"),
        (_coff(0x14C), "code for x86 of 32 bits, of which incc-mca reads assembly alone (-mtriple=i686)"),
        (b"\0asm\1\0\0\0", "not an ELF, PE/COFF or Mach-O file"),
    ],
)
@pytest.mark.parametrize("face", ["incc-mca", "llvm-mca"])
def test_one_sentence_refuses_an_object(
    data: bytes, reason: str, face: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "f.o"
    path.write_bytes(data)
    assert mca.main(["-mcpu=skylake", str(path)], face) == 1
    out, message = capfd.readouterr()
    assert (out, message.count("\n")) == ("", 1)
    assert message.endswith(f"f.o: {reason}\n")


@pytest.mark.parametrize("text", OWN)
def test_what_incc_reads_is_not_foreign(text: str) -> None:
    assert foreign(text) == ""


@pytest.mark.parametrize("line", ["nop;" * 300_000, "a" * (1 << 20) + "b", "x: " + " " * (1 << 20) + "nop"])
def test_endless_statements_are_refused(line: str) -> None:
    reason = f"line 2 has {len(line):,} characters; statements are read up to 1,048,576 of a line"
    assert unreadable(f"nop\n{line}\n") == reason


@pytest.mark.parametrize("line", ['x: .ascii "{}"', "\t.byte {}", "# {}", "/* {}", '"?x@@3HA":\t.asciz "{}"'])
def test_data_and_comments_may_be_long(line: str) -> None:
    assert unreadable(f"nop\n{line.format('1,' * (1 << 20))}\n") == ""


@pytest.mark.parametrize("text", ["/* " * 100_000, " " * 200_000 + "nop", f"movl ${'1' * 100_000}, %eax"])
def test_long_lines_are_searched_in_linear_time(text: str) -> None:
    """A quadratic search takes minutes."""
    assert unreadable(text) == ""
    assert with_plain_numbers(text) == text
    assert detect_syntax(text) == "att"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("; f\n\tglobal f\n\tsection .text\nf:\tmov rax, [rdi+8*rcx]\n", 2),
        ("bits 64\nf:\tmov rax, [rdi]\n", 1),
        ("f:\tadd dword [rdi], 1\n\n%define N 8\n", 3),
        ("f:\tmov rax, [rel x]\nbuffer: resb 64\n", 2),
        ("f:\tmov rax, [rel x]\n\ttimes 4 nop\n", 2),
    ],
)
def test_files_for_nasm_are_refused_with_the_line(text: str, line: int) -> None:
    assert unreadable(text).startswith(f"line {line} is in NASM's syntax")


@pytest.mark.parametrize(
    "text",
    [
        "\t.globl global\nglobal:\n\tmov eax, 1\n",
        "\tmovl %eax, %ebx # times 4\n",
        "\tmov eax, default\n",
        "times:\n\tret\n",
    ],
)
def test_names_of_nasm_are_names_elsewhere(text: str) -> None:
    assert unreadable(text) == ""
