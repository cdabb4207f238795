"""Objects: what the compiler assembled and what is read back from its object file are the same kernels."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest

from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.kernel import Kernel
from incc.frontends.x86.kernels import decode_regions
from incc.frontends.x86.objects import ObjectError, object_kernels

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


def compiled(folder: pathlib.Path, compiler: str, *flags: str) -> tuple[pathlib.Path, str]:
    """The object file and the assembly text of SOURCE."""
    source = folder / "x.c"
    source.write_text(SOURCE)
    subprocess.run([compiler, *flags, "-c", source, "-o", folder / "x.o"], check=True)
    subprocess.run([compiler, *flags, "-S", source, "-o", folder / "x.s"], check=True)
    # clang writes bytes that are not UTF-8 with -g.
    return folder / "x.o", (folder / "x.s").read_text(encoding="utf-8", errors="surrogateescape")


def shape(kernel: Kernel) -> list[tuple[object, ...]]:
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


@pytest.mark.parametrize(
    ("content", "message"),
    [(b"", "empty"), (b"no object at all\n", "not an ELF"), (b"\x7fELF" + bytes(200), "ELF|code for")],
)
def test_other_files_are_refused(tmp_path: pathlib.Path, content: bytes, message: str) -> None:
    file = tmp_path / "x.o"
    file.write_bytes(content)
    with pytest.raises(ObjectError, match=message):
        object_kernels(str(file))
