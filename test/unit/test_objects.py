"""Objects: what the compiler assembled and what is read back from its object file are the same kernels."""

from __future__ import annotations

import contextlib
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile
import tracemalloc
from functools import cache

import lief
import llvmlite.binding as llvmlite
import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends import elf
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.kernel import KernelCode
from incc.frontends.objects.kernels import object_kernels
from incc.frontends.objects.read import ObjectError, read
from incc.frontends.x86.kernels import decode_regions
from properties import examples

SOURCE = """
#include <stddef.h>
extern double g(double);
double table[1000];
void scale(double *restrict a, const double *restrict b, double s, long n) {
  for (long i = 0; i < n; ++i) a[i] = s * b[i];
}
double chain(const double *a, size_t n) {
  double s = 1;
  for (size_t i = 0; i < n; ++i) s = s * a[i] + table[i];
  return s;
}
double calls(const double *a, long n) {
  double s = 0;
  for (long i = 0; i < n; ++i) s += g(a[i]);
  return s;
}
int search(const int *a, int n, int x) {
  int found = 0;
  for (int i = 0; i < n; ++i) if (a[i] == x) found = 2 * found + i;
  return found;
}
"""

WITH_DATA = """
static const char *const words[] = {"a", "b"};
const char *word(int n) { return words[n & 1]; }
int zeros[99];
int chosen(int n) {
  switch (n) {
  case 0: return 4;
  case 1: return 9;
  case 2: return 7;
  case 3: return 1;
  case 4: zeros[n] = (int)g(n);
  }
  return zeros[n];
}
"""


def compiled(folder: pathlib.Path, compiler: str, *flags: str) -> tuple[pathlib.Path, str]:
    """The object file and the assembly text of SOURCE."""
    source = folder / "x.c"
    source.write_text(SOURCE)
    subprocess.run([compiler, *flags, "-c", source, "-o", folder / "x.o"], check=True)
    subprocess.run([compiler, *flags, "-S", source, "-o", folder / "x.s"], check=True)
    # clang writes bytes that are not UTF-8 with -g.
    return folder / "x.o", (folder / "x.s").read_text(encoding="utf-8", errors="surrogateescape")


def shape(kernel: KernelCode) -> list[tuple[object, ...]]:
    # Not by encoding: clang emits objects without going through text, and GNU as has other preferences (the length of
    # jumps at -O0, `shl $1`).
    return [(i.mnemonic, i.operands, i.registers) for i in kernel.instructions]


@pytest.mark.parametrize("flags", [("-O0",), ("-O2", "-g"), ("-O3", "-march=skylake-avx512", "-ffunction-sections")])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19", "clang-14"])
def test_objects_give_the_kernels_of_the_assembly(
    tmp_path: pathlib.Path, compiler: str, flags: tuple[str, ...]
) -> None:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    path, text = compiled(tmp_path, compiler, *flags)
    regions, _ = innermost_loops(parse(text))
    expected = decode_regions(text, regions, "x.s", ())
    found, left_out = object_kernels(str(path))
    assert left_out == []
    assert len(found) >= 4
    # The order of the sections is the compiler's affair.
    assert sorted(map(repr, map(shape, found))) == sorted(map(repr, map(shape, expected)))
    assert sorted(k.region.function for k in found if k.region) == sorted(r.function for r in regions)


@pytest.mark.parametrize("flags", [("-O2", "-c"), ("-O3", "-g", "-c", "-ffunction-sections"), ("-fPIC", "-shared")])
@pytest.mark.parametrize("compiler", ["gcc", "clang-14", "clang-19", "clang-19 --target=aarch64-linux-gnu -c"])
def test_elf_reader_agrees_with_lief(tmp_path: pathlib.Path, compiler: str, flags: tuple[str, ...]) -> None:
    words = compiler.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    (tmp_path / "x.c").write_text(f"{SOURCE}{WITH_DATA}")
    path = str(tmp_path / "x.o")
    subprocess.run([*words, *flags, tmp_path / "x.c", "-o", path], check=True)
    file = elf.read_elf(pathlib.Path(path).read_bytes())
    expected = lief.ELF.parse(path)
    assert [(s.name, s.address, bytes(s.content), s.alignment) for s in file.sections] == [
        (s.name, s.virtual_address, bytes(s.content) if s.type.value != elf.NO_BITS else b"", s.alignment)
        for s in expected.sections
    ]
    for table, symbols in ((elf.SYMBOLS, expected.symtab_symbols), (elf.DYNAMIC_SYMBOLS, expected.dynamic_symbols)):
        assert [(s.value, s.size, s.type) for s in file.symbols(table)] == [
            (s.value, s.size, s.type.value) for s in symbols
        ]
        assert {s.name for s in file.symbols(table)} >= {s.name for s in symbols}
    if file.kind == elf.OBJECT:
        entries = [
            (file.sections[s.information].name, r.offset, r.addend)
            for s in file.sections
            if s.type == elf.RELOCATIONS
            for r in file.relocations(s)
        ]
        assert entries
        assert sorted(entries) == sorted((r.section.name, r.address, r.addend) for r in expected.object_relocations)


@cache
def whole_object() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        return compiled(pathlib.Path(folder), "gcc", "-O2")[0].read_bytes()


@examples(200)
@given(st.data())
def test_damaged_objects_are_read_whole_or_refused(data: st.DataObject) -> None:
    bytes_ = bytearray(whole_object())
    for _ in range(data.draw(st.integers(1, 4))):
        # The header, or any place: the table of sections stands at the end.
        at = data.draw(st.integers(0, 63) | st.integers(0, len(bytes_) - 1))
        bytes_[at] = data.draw(st.sampled_from((0, 1, 8, 127, 255)))
    del bytes_[data.draw(st.just(len(bytes_)) | st.integers(0, len(bytes_))) :]
    with contextlib.suppress(elf.ElfError):
        found = elf.read_elf(bytes(bytes_))
        assert all(s.type in (0, elf.NO_BITS) or len(s.content) == s.size for s in found.sections)
        assert all(symbol.section < len(found.sections) for symbol in found.symbols())
        assert all(len(list(found.relocations(section))) <= len(section.content) for section in found.sections)
    with contextlib.suppress(ObjectError):
        assert read(bytes(bytes_)).sections


LLVM = """target triple = "{}"
define double @a_function_of_a_long_name(ptr %a, i64 %n) {{
  br label %loop
loop:
  %i = phi i64 [0, %0], [%j, %loop]
  %s = phi double [0.0, %0], [%t, %loop]
  %p = getelementptr double, ptr %a, i64 %i
  %v = load double, ptr %p
  %t = fadd double %s, %v
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %loop, label %end
end:
  ret double %t
}}"""


@pytest.mark.parametrize(
    "of", ["x86_64-pc-windows-gnu", "aarch64-pc-windows-gnu", "x86_64-apple-macos", "arm64-apple-macos"]
)
def test_objects_of_other_systems_are_read_whole_or_refused(of: str, tmp_path: pathlib.Path) -> None:
    llvmlite.initialize_all_targets()
    llvmlite.initialize_all_asmprinters()
    machine = llvmlite.Target.from_triple(of).create_target_machine()
    whole = machine.emit_object(llvmlite.parse_assembly(LLVM.format(of)))
    (name,) = [name for section in read(whole).sections for _, name in section.functions]
    assert name.endswith("a_function_of_a_long_name")
    file = tmp_path / "a.o"
    for length in range(32, len(whole.rstrip(b"\0"))):
        file.write_bytes(whole[:length])
        for source in (whole[:length], str(file)):
            with pytest.raises(ObjectError, match=r"cut off|damaged|not an ELF"):
                read(source)


def malicious(sections: int, symbols: int, name_length: int, sections_at: int = 64) -> bytes:
    """Return an object of sections that all have the same bytes and symbols whose names share all but their starts."""
    header = struct.Struct("<IIQQQQIIQQ")
    names = b"\0" + b"a" * name_length + b"\0"
    table = bytes(24) + b"".join(struct.pack("<IBBHQQ", 1 + n, 0x12, 0, 1, n, 1) for n in range(symbols))
    content = names + table
    headers = [
        bytes(64),
        header.pack(0, 3, 0, 0, 64, len(names), 0, 0, 1, 0),
        header.pack(0, 2, 0, 0, 64 + len(names), len(table), 1, 1, 8, 24),
        *[header.pack(0, 1, 6, 0, sections_at, len(content), 0, 0, 16, 0)] * sections,
    ]
    first = struct.pack("<HHIQQQIHHHHHH", 1, 62, 1, 0, 0, 64 + len(content), 0, 64, 0, 0, 64, len(headers), 1)
    return b"\x7fELF\2\1\1".ljust(16, b"\0") + first + content + b"".join(headers)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (malicious(60_000, 1, 2_000_000), "sections overlap"),
        (malicious(0, 100_000, 2_000_000), "names overlap"),
        (malicious(1, 1, 1, 1 << 62), "cut off: a section ends behind its end"),
        (malicious(1, 1, 1)[:-70], "cut off: part of its table of sections is missing"),
        (malicious(1, 1, 1)[:80], "cut off: its table of sections is missing"),
        (malicious(1, 1, 1)[:40], "cut off in its header"),
        (malicious(1, 1, 1)[:62] + bytes((9, 0)) + malicious(1, 1, 1)[64:], "sections have no names"),
    ],
)
def test_malicious_objects_are_refused_in_little_memory(data: bytes, message: str) -> None:
    read(whole_object())  # what is imported for it
    tracemalloc.start()
    with pytest.raises(ObjectError, match=message):
        read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100 * len(data) + (1 << 20)


def test_objects_in_memory_are_those_of_files(tmp_path: pathlib.Path) -> None:
    path, _ = compiled(tmp_path, "gcc", "-O2")
    assert object_kernels(path.read_bytes()) == object_kernels(str(path))


def test_calls_and_objects_keep_their_names(tmp_path: pathlib.Path) -> None:
    path, _ = compiled(tmp_path, "gcc", "-O2", "-fno-pic")
    kernels = {k.region.function: k for k in object_kernels(str(path))[0] if k.region}
    assert kernels["calls"].region is not None
    assert any("call to g" in note for note in kernels["calls"].region.notes)
    assert any(m.symbol == "table" for i in kernels["chain"].instructions for m in i.memory)


POINTERS = """
	.text
	.p2align 4
	nop
	.globl _start
	.type _start, @function
_start:
	leaq 8(%rdi), %rsi
.L1:
	vmovupd (%rdi,%rax), %ymm0
	vaddpd (%rsi,%rax), %ymm0, %ymm0
	addq $32, %rax
	cmpq %rdx, %rax
	jne .L1
	ret
	.size _start, .-_start
"""


def test_pointers_and_place_of_a_loop(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.s").write_text(POINTERS)
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    (kernel,), _ = object_kernels(str(tmp_path / "x.o"))
    constants = {entry.target: entry.constant for entry in kernel.entry}
    assert constants["rsi"] - constants["rdi"] == 8
    assert (kernel.alignment, kernel.alignment_unit) == (5, 16)
    # The program lies where the linker put it.
    subprocess.run(["ld", "-Ttext=0x401030", tmp_path / "x.o", "-o", tmp_path / "x"], check=True)
    (kernel,), _ = object_kernels(str(tmp_path / "x"))
    assert (kernel.alignment, kernel.alignment_unit) == (0x35, 64)


def test_programs_are_read_at_their_addresses(tmp_path: pathlib.Path) -> None:
    path, _ = compiled(tmp_path, "gcc", "-O2")
    program = tmp_path / "x.so"
    subprocess.run(["gcc", "-shared", "-o", program, path, "-Wl,--unresolved-symbols=ignore-all"], check=False)
    if not program.exists():
        subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", program, tmp_path / "x.c"], check=True)
    names = {k.region.function for k in object_kernels(str(program))[0] if k.region}
    assert {"scale", "chain", "calls", "search"} <= names


SWITCH = """
	.text
	.globl run
	.type run, @function
run:
	xorl %eax, %eax
HOISTED
.Lloop:
	movzbl (%rdi), %edx
	incq %rdi
	cmpl $2, %edx
	ja .Lout
NEAR
	movslq (%rcx,%rdx,4), %rdx
	addq %rcx, %rdx
	notrack jmp *%rdx
.Lone:
	addq $1, %rax
	jmp .Lloop
.Ltwo:
	addq $2, %rax
	jmp .Lloop
.Lout:
	ret
	.size run, .-run
	.section .rodata
	.p2align 2
.Lother:
	.long 7, 7
.Ltable:
	.long .Lone-.Ltable
	.long .Ltwo-.Ltable
	.long .Lout-.Ltable
.Lnext:
	.long .Lloop-.Lnext
	.text
	.globl other
	.type other, @function
other:
	leaq .Lnext(%rip), %rax
	leaq .Lother(%rip), %rcx
	ret
	.size other, .-other
"""
LEA = "\tleaq .Ltable(%rip), %rcx"


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize(("hoisted", "near"), [("", LEA), (LEA, "")])
def test_jump_tables_are_followed(tmp_path: pathlib.Path, hoisted: str, near: str, linked: bool) -> None:
    (tmp_path / "x.s").write_text(SWITCH.replace("HOISTED", hoisted).replace("NEAR", near))
    path = tmp_path / "x.o"
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", path], check=True)
    if linked:
        path = tmp_path / "x.so"
        subprocess.run(["ld", "-shared", tmp_path / "x.o", "-o", path], check=True)
    (kernel,), left_out = object_kernels(str(path))
    assert left_out == []
    assert kernel.region is not None
    # Two of the three ways that the table gives lead back. The table ends where another one begins.
    assert any("an indirect jump with 2 targets inside" in note for note in kernel.region.notes)
    assert [i.mnemonic for i in kernel.instructions if i.branch == "indirect"] == ["jmp"]
    assert sum(i.mnemonic == "add" for i in kernel.instructions) == 2
    if not linked:
        text = (tmp_path / "x.s").read_text()
        (region,), _ = innermost_loops(parse(text))
        assert shape(kernel) == shape(decode_regions(text, [region], "x.s", ())[0])
        assert [note.split(" (")[0] for note in kernel.region.notes] == [note.split(" (")[0] for note in region.notes]


def test_tables_of_addresses_are_followed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.s").write_text(
        "\t.text\n\t.globl _start\n\t.type _start, @function\n_start:\n.L0:\tmovzbl (%rdi), %edx\n\tincq %rdi\n"
        "\tjmp *.Ltable(,%rdx,8)\n.L1:\taddq $1, %rax\n\tjmp .L0\n.L2:\tret\n\t.size _start, .-_start\n"
        "\t.section .rodata\n\t.p2align 3\n.Ltable:\t.quad .L1, .L2\n"
    )
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    subprocess.run(["ld", tmp_path / "x.o", "-o", tmp_path / "x"], check=True)
    for name in ("x.o", "x"):
        (kernel,), _ = object_kernels(str(tmp_path / name))
        assert [i.mnemonic for i in kernel.instructions] == ["movzx", "inc", "jmp", "add", "jmp"]


def test_tail_calls_are_no_loops(tmp_path: pathlib.Path) -> None:
    function = (
        "\t.globl {0}\n\t.type {0}, @function\n{0}:\n\tdecq %rdi\n\tje 1f\n\tjmp {1}\n1:\tret\n\t.size {0}, .-{0}\n"
    )
    (tmp_path / "x.s").write_text("\t.text\n" + function.format("f", "g") + function.format("g", "f"))
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    subprocess.run(["ld", "-shared", "-Bsymbolic", tmp_path / "x.o", "-o", tmp_path / "x.so"], check=True)
    for name in ("x.o", "x.so"):
        assert object_kernels(str(tmp_path / name)) == ([], [])


def test_cold_parts_belong_to_their_functions(tmp_path: pathlib.Path) -> None:
    (tmp_path / "x.s").write_text(
        "\t.text\n\t.type f.cold, @function\nf.cold:\n\tnegq %rax\n\tjmp .L1\n\t.size f.cold, .-f.cold\n"
        "\t.globl f\n\t.type f, @function\nf:\n.L1:\taddq (%rdi), %rax\n\tjs f.cold\n\tdecq %rsi\n\tjne .L1\n\tret\n"
        "\t.size f, .-f\n"
    )
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    (kernel,), _ = object_kernels(str(tmp_path / "x.o"))
    assert kernel.region is not None
    assert (kernel.name, kernel.region.function) == ("f+0x0", "f")
    assert len(kernel.region.body_lines) == 6  # with the way through the cold part


def test_x87_registers_have_one_name_each(tmp_path: pathlib.Path) -> None:
    text = "f:\n.L1:\tfldl (%rdi)\n\tfaddp\n\taddq $8, %rdi\n\tcmpq %rdi, %rsi\n\tjne .L1\n\tret\n"
    (tmp_path / "x.s").write_text(text)
    subprocess.run(["as", "--64", tmp_path / "x.s", "-o", tmp_path / "x.o"], check=True)
    (kernel,), _ = object_kernels(str(tmp_path / "x.o"))
    assert shape(kernel) == shape(decode_regions(text, innermost_loops(parse(text))[0], "x.s", ())[0])


@pytest.mark.filterwarnings("ignore:.* is not a valid TYPE")  # the relocations are still x86's
def test_code_of_other_instruction_sets_is_named(tmp_path: pathlib.Path) -> None:
    path, _ = compiled(tmp_path, "gcc", "-O2")
    data = bytearray(path.read_bytes())
    data[18:20] = (8).to_bytes(2, "little")  # e_machine
    path.write_bytes(data)
    with pytest.raises(ObjectError, match=r"^code for MIPS, which incc does not read; it reads x86's and AArch64's$"):
        object_kernels(str(path))


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"no object at all\n", "not an ELF"), (b"\x7fELF" + bytes(200), "ELF|code for")],
)
def test_other_files_are_refused(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    file = tmp_path / "x.o"
    file.write_bytes(content)
    for source in (str(file), content):
        with pytest.raises(ObjectError, match=message):
            object_kernels(source)


@pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")
@pytest.mark.parametrize("target", ["i686-linux-gnu", "i686-windows-gnu", "i386-apple-macos"])
def test_code_of_32_bits_is_told_of(tmp_path: pathlib.Path, target: str) -> None:
    (tmp_path / "a.s").write_text("nop\n")
    subprocess.run(["clang-19", f"--target={target}", "-c", "a.s"], cwd=tmp_path, check=True)
    with pytest.raises(ObjectError, match="code for x86 of 32 bits, of which incc-mca reads assembly alone"):
        read(str(tmp_path / "a.o"))


@pytest.mark.skipif(not shutil.which("clang-19"), reason="no clang-19")
@pytest.mark.parametrize(
    "target", ["x86_64-windows-gnu", "aarch64-windows-gnu", "x86_64-apple-macos11", "arm64-apple-macos11"]
)
def test_calls_and_jumps_that_a_linker_completes(tmp_path: pathlib.Path, target: str) -> None:
    """A call has its name, and a jump to another function is no loop."""
    (tmp_path / "a.c").write_text(
        "double f(double);\n"
        "double g(double *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += f(a[i]); return s; }\n"
        "double h(double a) { return f(a + 1); }\n"
    )
    subprocess.run(["clang-19", f"--target={target}", "-O2", "-c", "a.c"], cwd=tmp_path, check=True)
    ((kernel,), _) = object_kernels(str(tmp_path / "a.o"))
    assert kernel.region is not None
    assert any(re.search(r"call to _?f\b", note) for note in kernel.region.notes)
