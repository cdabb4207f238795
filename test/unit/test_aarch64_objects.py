"""AArch64's machine code: bytes, objects and libraries are read as the same code in assembly is."""

from __future__ import annotations

import pathlib
import shutil
import struct
import subprocess

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incc.frontends.aarch64.disassemble import instruction, may_transfer, text_of, transfer
from incc.frontends.asm.parse import parse
from incc.frontends.asm.preceding import code_before
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction
from incc.frontends.objects.kernels import marked_kernels, object_kernels
from test.unit.properties import examples

AARCH64 = isa("aarch64")
SOURCE = """
extern double table[64];
double dot(const double *a, const double *b, int n) {
    double s = 0;
    for (int i = 0; i < n; i++) s += a[i] * b[i];
    return s;
}
void scale(float *a, float f, int n) { for (int i = 0; i < n; i++) a[i] = a[i] * f + table[i & 63]; }
int count(const char *s, int c) { int n = 0; while (*s) n += *s++ == c; return n; }
unsigned long sum(const unsigned long *a, long n) {
    unsigned long s = 0;
    for (long i = 0; i < n; i++) s ^= a[i];
    return s;
}
"""


def compiled(folder: pathlib.Path, compiler: str, *flags: str) -> pathlib.Path:
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    (folder / "x.c").write_text(SOURCE)
    path = folder / ("x.s" if "-S" in flags else "x.o")
    subprocess.run([*words, *flags, folder / "x.c", "-o", path], check=True, capture_output=True)
    return path


def assembled(folder: pathlib.Path, text: str) -> pathlib.Path:
    if shutil.which("aarch64-linux-gnu-as") is None:
        pytest.skip("no aarch64-linux-gnu-as")
    (folder / "x.s").write_text(text)
    subprocess.run(["aarch64-linux-gnu-as", folder / "x.s", "-o", folder / "x.o"], check=True)
    return folder / "x.o"


@given(st.one_of(st.integers(0, 2**32 - 1), st.integers(0x14000000, 0x17FFFFFF), st.integers(0x54000000, 0x540FFFFF)))
@example(0xD65F03C0)  # ret
@example(70165504)  # adr of SVE: [z0.d, z14.d, lsl #1]
@example(0xD63F0000)  # blr x0
@example(0xD4200020)  # brk #1
@example(0x3607FFFE)  # tbz w30, #0
@example(0xD71F0800)  # braa x0, x0
@examples(500)
def test_bits_tell_the_same_transfers_as_the_text(word: int) -> None:
    at = 1 << 32
    text = text_of(word, at)
    if not text or text.startswith("udf"):
        return
    kind, target = AARCH64.branch(text)
    found, address = transfer(word, at) if may_transfer(word) else ("", None)
    if kind in ("conditional", "unconditional") or (kind == "call" and target):
        assert (found, address) == (kind, int(target, 16)), text
    else:
        assert (found, address) == (kind, None), text


def essence(i: Instruction) -> tuple[object, ...]:
    return i.form, i.traits, i.registers, i.memory, i.flags_read, i.flags_written, i.branch, i.affine


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-g"), ("-Ofast", "-march=armv8.2-a+sve"), ("-Os", "-fPIC")])
@pytest.mark.parametrize("compiler", ["aarch64-linux-gnu-gcc", "clang-19 --target=aarch64-linux-gnu"])
def test_objects_have_the_loops_of_the_text(tmp_path: pathlib.Path, compiler: str, flags: tuple[str, ...]) -> None:
    text = compiled(tmp_path, compiler, "-S", *flags).read_text()
    parsed = parse(text, "aarch64")
    regions, _ = innermost_loops(parsed)
    of_text = AARCH64.decode_regions(text, regions, "x.s", before=code_before(parsed, regions))
    of_object, _ = object_kernels(str(compiled(tmp_path, compiler, "-c", *flags)))
    assert len(of_object) == len(of_text) >= 4
    for one, other in zip(of_text, of_object, strict=True):
        assert other.region is not None
        assert one.region is not None
        assert other.region.function == one.region.function
        assert (one.pace, one.scalable_pace) == (other.pace, other.scalable_pace)
        assert [essence(i) for i in one.instructions] == [essence(i) for i in other.instructions]


def test_data_between_functions_is_no_code(tmp_path: pathlib.Path) -> None:
    text = """
    .type f, %function
f:  ldr x1, =0x123456789abcdef0
1:  subs x0, x0, 1
    bne 1b
    ret
    .ltorg
    .word 0x54ffffe1 // b.ne to the word before
    .type g, %function
g:  cbnz x0, g
    ret
"""
    kernels, left_out = object_kernels(str(assembled(tmp_path, text)))
    assert [[i.text for i in k.instructions] for k in kernels] == [["subs x0, x0, #1", "b.ne 0x4"], ["cbnz x0, 0x1c"]]
    assert left_out == []


def test_symbols_of_relocations_are_named(tmp_path: pathlib.Path) -> None:
    text = """
    .type f, %function
f:  adrp x1, table+16
    add x2, x1, :lo12:table+16
    ldr d0, [x1, :lo12:table+16]
    ldr d1, [x1, :got_lo12:other]
    bl g
    cbnz x0, f
    ret
"""
    (kernel,), _ = object_kernels(str(assembled(tmp_path, text)))
    assert [i.text for i in kernel.instructions] == [
        "adrp x1, table+16",
        "add x2, x1, :lo12:table+16",
        "ldr d0, [x1, :lo12:table+16]",
        "ldr d1, [x1, :lo12:other]",
        "bl g",
        "cbnz x0, 0x0",
    ]
    assert kernel.instructions[2].memory[0].symbol == ":lo12:table+16"
    assert kernel.instructions[4].target == "g"


def test_markers_of_bytes_are_found_in_objects(tmp_path: pathlib.Path) -> None:
    begin, end = (f"mov x1, #{n}\n.byte 213,3,32,31\n" for n in (111, 222))
    path = assembled(tmp_path, f"f:\n{begin}fmla v0.2d, v1.2d, v2.2d\nadd x0, x0, 1\n{end}ret\n")
    (kernel,) = marked_kernels(str(path)).kernels
    assert [i.mnemonic for i in kernel.instructions] == ["fmla", "add"]


def test_blocks_of_machine_code() -> None:
    code = struct.pack("<3I", 0x4E62CC20, 0xF1000400, 0x54FFFFC1)
    kernel = AARCH64.decode_bytes(code)
    assert kernel.is_loop
    assert [i.text for i in kernel.instructions] == ["fmla v0.2d, v1.2d, v2.2d", "subs x0, x0, #1", "b.ne 0x0"]
    for bad, message in ((b"", "no machine code"), (code[:6], "6 bytes"), (b"\xff" * 4, "offset 0x0: not an AArch64")):
        with pytest.raises(ValueError, match=message):
            AARCH64.decode_bytes(bad)


def test_unknown_words_are_instructions_without_figures() -> None:
    unknown = instruction(0xFFFFFFFF, 8)
    assert (unknown.text, unknown.form, unknown.length, unknown.offset) == (".inst 0xffffffff", "inst/#", 4, 8)


SWITCH = """\
	.text
	.globl run
	.type run, %function
run:
HOISTED
.Lloop:
	ldrb w2, [x0], #1
	cmp w2, #2
	b.hi .Lout
NEAR
	LOAD
	BASE
	br x3
.Lone:
	add x1, x1, #1
	b .Lloop
.Ltwo:
	add x1, x1, #2
	b .Lloop
.Lout:
	ret
	.size run, .-run
	.section .rodata
	.p2align 2
.Lother:
	.word 7, 7
.Ltable:
	.SIZE ENTRY(.Lone), ENTRY(.Ltwo), ENTRY(.Lout)
	.SIZE 1, 0, 1, 1, 0, 1
"""
TABLES = {
    "byte": ("byte", "(X-.Lone)/4", "ldrb w5, [x4, x2]", "adr x3, .Lone\n\tadd x3, x3, x5, lsl #2"),
    "signed byte": ("byte", "(X-.Ltwo)/4", "ldrb w5, [x4, w2, uxtw]", "adr x3, .Ltwo\n\tadd x3, x3, w5, sxtb #2"),
    "half-word": ("2byte", "(X-.Lone)/4", "ldrh w5, [x4, x2, lsl #1]", "adr x3, .Lone\n\tadd x3, x3, x5, lsl #2"),
    "signed half-word": (
        "2byte",
        "(X-.Ltwo)/4",
        "ldrh w5, [x4, w2, uxtw #1]",
        "adr x3, .Ltwo\n\tadd x3, x3, w5, sxth #2",
    ),
    "word": ("word", "(X-.Ltwo)/4", "ldr w5, [x4, w2, uxtw #2]", "adr x3, .Ltwo\n\tadd x3, x3, w5, sxtw #2"),
    "distance": ("word", "X-.Ltable", "ldrsw x5, [x4, x2, lsl #2]", "add x3, x4, x5"),
}
"""Size and expression of an entry, the load, and the target's computation, as gcc and clang write them."""
ADDRESS = "\tadrp x4, .Ltable\n\tadd x4, x4, :lo12:.Ltable"


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("hoisted", [False, True])
@pytest.mark.parametrize("kind", TABLES)
def test_jump_tables_are_followed(tmp_path: pathlib.Path, kind: str, hoisted: bool, linked: bool) -> None:
    """The table has as many entries as the index may have values; what comes behind it is not read."""
    size, entry, load, base = TABLES[kind]
    # Before the loop the register first has another address.
    early = f"\tadrp x4, .Lother\n\tadd x4, x4, :lo12:.Lother\n\tldr w7, [x4]\n{ADDRESS}" if hoisted else ""
    text = SWITCH.replace("HOISTED", early).replace("NEAR", "" if hoisted else ADDRESS)
    text = text.replace("LOAD", load).replace("BASE", base).replace("SIZE", size)
    for label in (".Lone", ".Ltwo", ".Lout"):
        text = text.replace(f"ENTRY({label})", entry.replace("X", label))
    path = assembled(tmp_path, text)
    if linked:
        path = tmp_path / "x.so"
        subprocess.run(["aarch64-linux-gnu-ld", "-shared", tmp_path / "x.o", "-o", path], check=True)
    (kernel,), left_out = object_kernels(str(path))
    assert left_out == []
    assert kernel.region is not None
    assert any("an indirect jump with 2 targets inside" in note for note in kernel.region.notes)
    assert [i.mnemonic for i in kernel.instructions if i.branch == "indirect"] == ["br"]
