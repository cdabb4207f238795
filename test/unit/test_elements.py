"""Elements an iteration and roles: by the streams, by loops that do the same work, by where instructions come from."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc import core
from incc.core.analysis import KernelSettings, analyze_kernel
from incc.core.elements import work
from incc.driver.pipeline import analyze_unit
from incc.frontends.unit import Unit
from incc.models.loading import load
from incc.report.build import unit_parts, unit_report
from properties import examples
from settings_fixtures import settings_with

if TYPE_CHECKING:
    from pathlib import Path

    from incc.core.analysis import KernelResult
    from incc.core.roles import LoopPart

QUICK = settings_with(mcpu="skylake-avx512", what_ifs=False, timeline_iterations=0, simulate=False)


def function(*lines: str) -> str:
    """A function of these lines of assembly."""
    body = "\n".join(line if line.endswith(":") or line.startswith(".loc") else "\t" + line for line in lines)
    return f'\t.file 1 "t.c"\n\t.text\n\t.globl f\n\t.type f, @function\nf:\n{body}\n\tret\n\t.size f, .-f\n'


def found(text: str) -> tuple[list[LoopPart], list[KernelResult]]:
    unit = analyze_unit(Unit(assembly=text, assembly_file="t.s"), QUICK)
    return unit_parts(unit), list(unit.results)


def elements(*lines: str) -> float | None:
    """Of the first loop."""
    parts, _ = found(function(*lines))
    return float(parts[0].elements.per_iteration) if parts[0].elements else None


# --- streams ----------------------------------------------------------------------------------------------------------


def test_streams_say_step_and_place() -> None:
    _, (result,) = found(
        function(
            ".L3:",
            "movsd 8(%rdi,%rax,8), %xmm0",
            "movsd %xmm0, (%rsi)",
            "movss (%rdx), %xmm1",
            "movl (%rcx,%r8), %r9d",
            "addq %r9, %r8",
            "addq $-16, %rsi",
            "addq $2, %rax",
            "jne .L3",
        )
    )
    streams = core.streams(result.bound)
    assert [(s.instruction, s.store, s.size, s.step) for s in streams] == [
        (0, False, 8, 16),
        (1, True, 8, -16),
        (2, False, 4, 0),
        (3, False, 4, None),
    ]
    assert len({s.part for s in streams}) == 4


def test_accesses_of_one_array_have_one_part() -> None:
    _, (result,) = found(function(".L3:", "addsd (%rdi), %xmm0", "addsd 24(%rdi), %xmm0", "addq $8, %rdi", "jne .L3"))
    a, b = core.streams(result.bound)
    assert a.part == b.part
    assert b.offset - a.offset == 24


# --- one loop ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        # one access for each stream is one element, whatever it moves on by
        (("addsd (%rdi), %xmm0", "addq $8, %rdi"), 1),
        (("addsd (%rdi), %xmm0", "addq $128, %rdi"), 1),
        (("addsd (%rdi), %xmm0", "subq $8, %rdi"), 1),
        # several vectors, of which no loop makes one iteration's neighbours
        (("vaddpd (%rdi), %ymm0, %ymm0", "vaddpd 32(%rdi), %ymm1, %ymm1", "addq $64, %rdi"), 8),
        (("vaddps (%rdi), %ymm0, %ymm0", "vaddps 32(%rdi), %ymm1, %ymm1", "addq $64, %rdi"), 16),
        # as many as the narrower step allows: 3 floats for each result
        (("movss (%rdi), %xmm0", "addss 4(%rdi), %xmm0", "addss 8(%rdi), %xmm0", "movss %xmm0, (%rsi)",
          "addq $12, %rdi", "addq $4, %rsi"), 1),
        # float to double
        (("vcvtps2pd (%rdi), %ymm0", "vcvtps2pd 16(%rdi), %ymm1", "vmovupd %ymm0, (%rsi)", "vmovupd %ymm1, 32(%rsi)",
          "addq $32, %rdi", "addq $64, %rsi"), 8),
        # a list
        (("addq 8(%rdi), %rax", "movq (%rdi), %rdi", "testq %rdi, %rdi"), 1),
        # no stream, and something is done once
        (("imull $3, %eax, %eax", "decq %rdi"), 1),
        # one vector an iteration: as likely the neighbours of one iteration
        (("movupd (%rdi), %xmm0", "addpd %xmm0, %xmm0", "movups %xmm0, (%rdi)", "addq $16, %rdi"), None),
        # unrolled, or the fields of a structure
        (("addsd (%rdi), %xmm0", "addsd 8(%rdi), %xmm0", "addq $16, %rdi"), None),
        # copied: nobody says what
        (("vmovups (%rdi), %ymm0", "vmovups %ymm0, (%rsi)", "addq $32, %rdi", "addq $32, %rsi"), None),
        # operations are done twice, and the counter counts twos
        (("imull $9, %eax, %eax", "imull $9, %edx, %edx", "subq $2, %rdi"), 2),
        # ... as far as nobody knows
        (("imull $9, %eax, %eax", "imull $9, %edx, %edx", "addq $2, %rdi", "cmpq %rsi, %rdi"), None),
    ],
)  # fmt: skip
def test_one_loop(lines: tuple[str, ...], expected: float | None) -> None:
    assert elements(".L3:", *lines, "jne .L3") == expected


def test_copies_from_one_place_are_iterations_and_others_are_not() -> None:
    same = [".L3:", ".loc 1 5 9", "movsd (%rdi), %xmm1", ".loc 1 5 5", "addsd %xmm1, %xmm0"]
    same += [".loc 1 5 9", "movsd 8(%rdi), %xmm1", ".loc 1 5 5", "addsd %xmm1, %xmm0"]
    assert elements(*same, ".loc 1 4 3", "addq $16, %rdi", "jne .L3") == 2
    fields = [".L3:"]
    for field in range(3):
        fields += [f".loc 1 5 {10 * field + 9}", f"movsd {8 * field}(%rdi), %xmm1"]
        fields += [f".loc 1 5 {10 * field + 5}", "addsd %xmm1, %xmm0"]
    assert elements(*fields, ".loc 1 4 3", "addq $24, %rdi", "jne .L3") == 1


LOOP = ("movsd {0}(%rdi), %xmm0", "mulsd {0}(%rsi), %xmm0", "movsd %xmm0, {0}(%rdx)")


@examples(30)
@given(st.integers(1, 12), st.integers(1, 12), st.booleans())
def test_a_loop_that_does_it_one_by_one_settles_it(copies: int, stride: int, down: bool) -> None:
    """Whatever the stride is, and however often the loop is unrolled."""
    step = 8 * stride * (-1 if down else 1)
    lines = [".L3:"]
    for copy in range(copies):
        lines += [line.format(copy * step) for line in LOOP]
    lines += [f"addq ${copies * step}, {r}" for r in ("%rdi", "%rsi", "%rdx")] + ["jne .L3", ".L4:"]
    lines += [line.format(0) for line in LOOP]
    lines += [f"addq ${step}, {r}" for r in ("%rdi", "%rsi", "%rdx")] + ["jne .L4"]
    parts, _ = found(function(*lines))
    assert [part.elements and part.elements.per_iteration for part in parts] == [copies, 1]
    assert [part.role.name for part in parts] == ["main", "remainder" if copies > 1 else "main"]


@examples(40)
@given(st.integers(1, 6), st.lists(st.integers(0, 7), min_size=1, max_size=4, unique=True), st.integers(8, 16))
def test_units_are_a_multiple_of_the_copies(copies: int, fields: list[int], size: int) -> None:
    """n copies of any pattern look the same shifted by the n-th part of the step."""
    lines = [".L3:"]
    for copy in range(copies):
        lines += [f"addss {4 * (copy * size + field)}(%rdi), %xmm{field}" for field in fields]
    _, (result,) = found(function(*lines, f"addq ${4 * size * copies}, %rdi", "jne .L3"))
    assert work(result).units % copies == 0


# --- several loops ----------------------------------------------------------------------------------------------------

VECTORS = ("vmovupd (%rdi), %ymm0", "vaddpd (%rsi), %ymm0, %ymm0", "vmovupd %ymm0, (%rdi)",
           "addq $32, %rdi", "addq $32, %rsi")  # fmt: skip
SCALARS = ("vmovsd (%rdi), %xmm0", "vaddsd (%rsi), %xmm0, %xmm0", "vmovsd %xmm0, (%rdi)",
           "addq $8, %rdi", "addq $8, %rsi")  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "roles"),
    [
        (("L", *VECTORS, "jne L", "S", *SCALARS, "jne S"), ["main", "remainder"]),
        (("S", *SCALARS, "jne S", "L", *VECTORS, "jne L"), ["prologue", "main"]),
        (("je .S:", "L", *VECTORS, "jne L", "ret", "S", *SCALARS, "jne S"), ["main", "fallback"]),
        (("je .S:", "L", *VECTORS, "jne L", "S", *SCALARS, "jne S"), ["main", "remainder instead"]),
        # both inside an outer loop: what is later is so without going around it
        ((".O:", "xorl %eax, %eax", "L", *VECTORS, "jne L", "S", *SCALARS, "jne S", "decq %r9", "jne .O"),
         ["main", "remainder"]),
        # other work: products in single precision
        (("L", *VECTORS, "jne L", "S", "vmovss (%rdi), %xmm0", "vmulss (%rsi), %xmm0, %xmm0", "vmovss %xmm0, (%rdi)",
          "addq $4, %rdi", "addq $4, %rsi", "jne S"), ["main", "main"]),
    ],
)  # fmt: skip
def test_roles(lines: tuple[str, ...], roles: list[str]) -> None:
    names = {"L": ".L:", "S": ".S:", "jne L": "jne .L", "jne S": "jne .S", "je .S:": "je .S"}
    parts, _ = found(function(*[names.get(line, line) for line in lines]))
    assert [f"{part.role.name}{' instead' if part.role.instead else ''}" for part in parts] == roles
    for part in parts:
        assert (part.role.of >= 0) == (part.role.name != "main")


def test_lines_tell_two_source_loops_apart() -> None:
    text = function(".loc 1 4 3", ".L:", *VECTORS, "jne .L", ".loc 1 9 3", ".S:", *SCALARS, "jne .S")
    assert [part.role.name for part in found(text)[0]] == ["main", "main"]
    text = text.replace(".loc 1 9 3", ".loc 1 4 3")
    parts, _ = found(text)
    assert [part.role.name for part in parts] == ["main", "remainder"]
    assert [part.elements and part.elements.per_iteration for part in parts] == [4, 1]


def test_an_outer_loop_where_the_inner_one_has_nothing_to_do() -> None:
    parts, _ = found(
        function(
            ".O:", "xorl %eax, %eax", ".loc 1 6 5", ".L:", "addsd (%rdi), %xmm0", "addq $8, %rdi", "jne .L",
            ".loc 1 4 3", "movsd %xmm0, (%rsi)", "addq $8, %rsi", "decq %r9", "jne .O", "ret",
            ".loc 1 5 5", ".P:", "movq $0, (%rsi)", "addq $8, %rsi", ".loc 1 4 3", "jne .P",
        )
    )  # fmt: skip
    assert [part.role.name for part in parts] == ["main", "outer"]
    assert parts[1].role.of == 0


def test_the_report_has_them() -> None:
    text = function(".L:", *VECTORS, "jne .L", ".S:", *SCALARS, "jne .S")
    vectors, scalars = unit_report(
        analyze_unit(Unit(assembly=text, assembly_file="t.s"), settings_with(QUICK, ghz=2.0))
    ).kernels
    assert vectors.elements is not None
    assert vectors.elements.per_iteration == 4
    assert vectors.elements.cycles == pytest.approx(vectors.cycles / 4)
    assert vectors.rates is not None
    assert vectors.rates.flop_per_cycle == pytest.approx(4 / vectors.cycles)
    assert vectors.rates.bytes_per_cycle == pytest.approx(96 / vectors.cycles)
    assert vectors.rates.gflop_per_second == pytest.approx(8 / vectors.cycles)
    assert vectors.rates.gigaelements_per_second == pytest.approx(8 / vectors.cycles)
    assert scalars.role.of == vectors.kernel_id
    assert scalars.hints == []


def test_straight_code_has_no_role() -> None:
    from incc.core.roles import parts
    from incc.frontends.isa import isa

    kernel = isa("x86").decode_bytes(bytes.fromhex("4801c0"))
    (part,) = parts([analyze_kernel(kernel, load("skylake"), KernelSettings(simulate=False))])
    assert part.role.name == ""
    assert part.elements is None


# --- what compilers make ----------------------------------------------------------------------------------------------

SOURCE = """
struct point { float x, y, z; };
double dot(const double *a, const double *b, long n)
{
  double s = 0;
  for (long i = 0; i < n; ++i)
    s += a[i] * b[i];
  return s;
}
void triad(double *a, const double *b, const double *c, double s, long n)
{
  for (long i = 0; i < n; ++i)
    a[i] = b[i] + s * c[i];
}
void norm(float *restrict r, const struct point *restrict p, long n)
{
  for (long i = 0; i < n; ++i)
    r[i] = p[i].x * p[i].x + p[i].y * p[i].y + p[i].z * p[i].z;
}
void hist(int *h, const unsigned char *a, long n)
{
  for (long i = 0; i < n; ++i)
    h[a[i]]++;
}
"""


@pytest.mark.parametrize("flags", ["-O1", "-O2", "-O3 -march=haswell", "-Ofast -march=skylake-avx512"])
@pytest.mark.parametrize("compiler", ["gcc", "gcc-11", "clang-19", "clang-14"])
def test_compiled_loops(compiler: str, flags: str, tmp_path: Path) -> None:
    """Whatever a compiler does, no element of the triad or the dot product takes more than two loads and a store of
    8 bytes: bytes moved for an element follow from the source, so elements do from the bytes."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (tmp_path / "t.c").write_text(SOURCE)
    command = [compiler, *flags.split(), "-g1", "-S", "t.c", "-o", "t.s"]
    subprocess.run(command, cwd=tmp_path, check=True)
    unit = unit_report(analyze_unit(Unit(assembly=(tmp_path / "t.s").read_text(), assembly_file="t.s"), QUICK))
    bytes_of = {"dot": 16, "triad": 24}
    mains = [kernel for kernel in unit.kernels if kernel.role.name == "main"]
    assert [kernel.function for kernel in mains] == ["dot", "triad", "norm", "hist"]
    for kernel in unit.kernels:
        elements, moved = kernel.elements, kernel.memory.bytes_loaded + kernel.memory.bytes_stored
        if kernel.function in bytes_of and elements:
            assert elements.per_iteration == moved / bytes_of[kernel.function], kernel.name
        spills = any("%rsp" in row.text for row in kernel.instructions)
        if kernel.function == "norm" and elements and not spills:  # one result each
            assert elements.per_iteration == kernel.memory.bytes_stored / 4
        if kernel.function == "hist":
            assert elements is not None
            assert elements.per_iteration == sum(row.text.startswith("movz") for row in kernel.instructions)
    assert sum(kernel.elements is not None for kernel in mains) >= 3


OUTER = ("vbroadcastss (%rdi,%rax), %ymm2", "vsubps %ymm9, %ymm2, %ymm2", "vmulps %ymm2, %ymm2, %ymm2")
OUTER += ("vdivps %ymm2, %ymm8, %ymm2", "vaddps %ymm2, %ymm1, %ymm1")
ALONE = ("vmovss (%rdi,%rax), %xmm2", "vsubss %xmm9, %xmm2, %xmm2", "vmulss %xmm2, %xmm2, %xmm2")
ALONE += ("vdivss %xmm2, %xmm8, %xmm2", "vaddss %xmm2, %xmm1, %xmm1")


def test_lanes_of_a_vectorised_outer_loop_are_elements() -> None:
    step = ("addq $4, %rax", "cmpq %rsi, %rax")
    outer = (".L3:", *OUTER, *step, "jne .L3")
    scalar = ("xorl %eax, %eax", ".L5:", *ALONE, *step, "jne .L5")
    assert elements("xorl %eax, %eax", *outer, *scalar) == 8
    # Without a scalar loop, or with one that computes otherwise, the lanes may also belong to one iteration.
    assert elements("xorl %eax, %eax", *outer) is None
    approximate = (*ALONE[:3], "vmulss %xmm2, %xmm7, %xmm3", *ALONE[3:])
    assert elements("xorl %eax, %eax", *outer, "xorl %eax, %eax", ".L5:", *approximate, *step, "jne .L5") is None


def test_two_loops_alike_do_not_settle_each_other() -> None:
    """Neither has a smaller step, though a line is in both."""
    sums = (".loc 1 4 9", "addsd (%rdi), %xmm0", ".loc 1 6 7", "addsd 8(%rdi), %xmm0", "addq $16, %rdi")
    parts, _ = found(function(".L:", *sums, "jne .L", ".S:", *sums, "jne .S"))
    assert [(part.role.name, part.elements) for part in parts] == [("main", None)] * 2


PLAIN = """
void clamp(float *a, float lo, float hi, int n)
{
  for (int i = 0; i < n; i++) { float v = a[i]; v = v < lo ? lo : v; v = v > hi ? hi : v; a[i] = v; }
}
double norm2(const double *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += a[i] * a[i]; return s; }
long isum(const int *a, long n) { long s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }
long count_if(const int *a, int t, long n) { long c = 0; for (long i = 0; i < n; i++) if (a[i] > t) c++; return c; }
void widen(int *restrict a, const short *restrict b, long n) { for (long i = 0; i < n; i++) a[i] = b[i] * 2; }
void cscale(double *a, double s, int n)
{
  for (int i = 0; i < n; i++) { a[2 * i] *= s; a[2 * i + 1] *= s; }
}
"""
BYTES = {"clamp": 4, "norm2": 8, "isum": 4, "count_if": 4, "widen": 2, "cscale": 16}


@pytest.mark.parametrize("lines", ["-g1", "-g0"])
@pytest.mark.parametrize("compiler", ["gcc", "gcc-11", "clang-19", "clang-14"])
def test_plain_loops_have_a_number(compiler: str, lines: str, tmp_path: Path) -> None:
    """Of each, so many bytes of its input are an element: the loads say how many elements an iteration has. The same
    from machine code, where the code before the loop says so."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (tmp_path / "t.c").write_text(PLAIN)
    command = [compiler, "-O3", "-march=icelake-server", lines, "t.c"]
    subprocess.run([*command, "-S", "-o", "t.s"], cwd=tmp_path, check=True)
    unit = analyze_unit(Unit(assembly=(tmp_path / "t.s").read_text(), assembly_file="t.s"), QUICK)
    mains = set()
    for result, part in zip(unit.results, unit_parts(unit), strict=True):
        assert result.kernel.region is not None
        name = result.kernel.region.function
        loaded = sum(m.size for i in result.kernel.instructions for m in i.memory if m.load and m.base is not None)
        if part.role.name == "main":
            mains.add(name)
            assert part.elements is not None, result.kernel.name
        if part.elements is not None:
            assert part.elements.per_iteration == loaded / BYTES[name], result.kernel.name
    assert mains == set(BYTES)

    from incc.frontends.objects.kernels import object_kernels

    subprocess.run([*command, "-c", "-o", "t.o"], cwd=tmp_path, check=True)
    of_text = [result.kernel.pace for result in unit.results]
    kernels, _ = object_kernels(str(tmp_path / "t.o"))
    assert [kernel.pace for kernel in kernels] == of_text
    assert sum(bool(kernel.pace) for kernel in kernels) >= len(BYTES) - 1
    assert sum(bool(kernel.pace) for kernel in object_kernels(str(tmp_path / "t.o"), paces=False)[0]) == 0
