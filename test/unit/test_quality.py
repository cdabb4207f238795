"""The quality of code: its use of vectors, registers and the stack, and its rates relative to the core's peak."""

from __future__ import annotations

import json
import re

import pytest

import incc
from incc.core.analysis import analyze_kernel
from incc.core.quality import CodeFigures, address_arithmetic, code_figures, stack_use
from incc.driver.commands import mca
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.models.loading import load

ENDS = {"x86": "jne .L1", "aarch64": "b.ne .L1"}


def loop(body: str, instruction_set: str = "x86") -> KernelCode:
    """Return the loop of these statements, separated by semicolons, and a branch."""
    text = ".L1:\n" + "".join(f"\t{each.strip()}\n" for each in (*body.split(";"), ENDS[instruction_set]))
    regions, _ = innermost_loops(parse(text, instruction_set))
    (kernel,) = isa(instruction_set).decode_regions(text, regions, "test.s")
    assert not kernel.refused
    return kernel


def figures(body: str, core: str = "skylake", instruction_set: str = "x86") -> CodeFigures:
    return code_figures(analyze_kernel(loop(body, instruction_set), load(core, ())))


DOT = "vmovsd (%rdi,%rax,8), %xmm1; vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0; addq $1, %rax; cmpq %rax, %rdx"
TRIAD = (
    "vmovupd (%rsi,%rax), %xmm0; vfmadd213pd (%rdx,%rax), %xmm1, %xmm0; vmovupd %xmm0, (%rdi,%rax)"
    "; addq $16, %rax; cmpq %r8, %rax"
)


def test_scalar_and_narrow_code_uses_a_part_of_the_vectors() -> None:
    of_kind = {use.kind: (use.instructions, use.vector, use.bits) for use in figures(DOT).vectors}
    assert of_kind == {"loads": (2, 0, 0.25), "FMAs": (1, 0, 0.25), "all": (3, 0, 0.25)}
    of_kind = {use.kind: (use.instructions, use.vector, use.bits) for use in figures(TRIAD).vectors}
    assert of_kind == {"loads": (2, 2, 0.5), "stores": (1, 1, 0.5), "FMAs": (1, 1, 0.5), "all": (4, 4, 0.5)}


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        ("vaddsd %xmm1, %xmm0, %xmm0", "additions"),
        ("vsubpd %ymm1, %ymm0, %ymm0", "additions"),
        ("vpaddd %xmm1, %xmm0, %xmm0", "additions"),
        ("vmulss %xmm1, %xmm0, %xmm0", "multiplications"),
        ("vpmulld %ymm1, %ymm0, %ymm0", "multiplications"),
        ("vdivpd %ymm1, %ymm0, %ymm0", "divisions"),
        ("vsqrtsd %xmm1, %xmm0, %xmm0", "divisions"),
        ("vunpcklpd %xmm1, %xmm0, %xmm0", "other"),
        ("vandps %ymm1, %ymm0, %ymm0", "other"),
        ("imulq %rbx, %rax", "multiplications"),
    ],
)
def test_work_has_a_kind(body: str, kind: str) -> None:
    assert [use.kind for use in figures(f"{body}; decl %ecx").vectors] == [kind]


def test_aarch64_code_has_the_same_kinds() -> None:
    body = "ldr q0, [x1, x3]; fmla v1.2d, v0.2d, v2.2d; fadd d3, d3, d4; str q0, [x2, x3]; add x3, x3, 16; cmp x3, x4"
    of_kind = {
        use.kind: (use.instructions, use.vector, use.bits) for use in figures(body, "neoverse-n1", "aarch64").vectors
    }
    assert of_kind == {
        "loads": (1, 1, 1),
        "stores": (1, 1, 1),
        "additions": (1, 0, 0.5),
        "FMAs": (1, 1, 1),
        "all": (4, 3, 0.875),
    }


@pytest.mark.parametrize(
    ("body", "overhead"),
    [
        (DOT, {2, 3, 4}),
        # An address from a loaded index: the load is work, its extension is not.
        ("movl (%rdi,%rax,4), %ecx; movslq %ecx, %rcx; vaddsd (%rsi,%rcx,8), %xmm0, %xmm0; incq %rax", {1, 3, 4}),
        # A sum of integers is work; its counter is not.
        ("addl (%rdi,%rax,4), %ecx; incq %rax", {1, 2}),
        # A counter that is stored is work.
        ("movl %eax, (%rdi,%rax,4); incq %rax", {2}),
    ],
)
def test_address_arithmetic_and_loop_overhead_are_no_work(body: str, overhead: set[int]) -> None:
    assert address_arithmetic(loop(body)) == overhead


def test_registers_are_live_around_the_loop() -> None:
    by_kind = {use.kind: (use.used, use.live) for use in figures(DOT).registers}
    # rdi, rsi, rax, rdx; the sum and the loaded value
    assert by_kind == {"general": (4, 4), "vector": (2, 2)}


def test_overwritten_registers_are_not_live() -> None:
    dead = figures("xorl %ebx, %ebx; movsd (%rdi), %xmm1; movsd %xmm2, (%rsi); addq $8, %rdi; cmpq %rax, %rdi")
    by_kind = {use.kind: (use.used, use.live) for use in dead.registers}
    assert by_kind == {"general": (4, 3), "vector": (2, 1)}


@pytest.mark.parametrize(
    ("body", "spills", "reloads", "invariant"),
    [
        # A spill and its reload; a value that the loop does not change.
        ("movq %rax, 8(%rsp); movq 8(%rsp), %rbx; addq 16(%rsp), %rcx", [0], [1], [2]),
        # A place in an array on the stack, as another access with an index shows.
        ("movq %rax, 8(%rsp); movq 8(%rsp), %rbx; movq (%rsp,%rcx,8), %rdx", [], [], []),
        # Below the array.
        ("movq %rax, 8(%rsp); movq 8(%rsp), %rbx; movq 16(%rsp,%rcx,8), %rdx", [0], [1], []),
        # Parts of a larger object.
        ("movq %rax, 8(%rsp); movl 12(%rsp), %ebx", [], [], []),
        # Results that the loop does not read again.
        ("movq %rax, 8(%rsp)", [], [], []),
        # Arguments on a stack that moves.
        ("pushq %rax; popq %rbx; movq 8(%rsp), %rcx", [], [], []),
    ],
)
def test_spills_are_told_from_other_accesses_to_the_stack(
    body: str, spills: list[int], reloads: list[int], invariant: list[int]
) -> None:
    stack = stack_use(loop(f"{body}; decl %r8d"))
    assert (stack.spills, stack.reloads, stack.invariant_reloads) == (spills, reloads, invariant)


def test_rates_are_relative_to_the_peak_of_the_core() -> None:
    (loaded, flop) = figures(DOT).rates
    # 16 bytes in 4 cycles, the latency of the sum; Skylake loads two vectors of 32 bytes per cycle, and does two
    # fused multiply-adds of four doubles.
    assert (loaded.kind, loaded.per_cycle, loaded.peak, loaded.share) == ("bytes loaded", 4, 64, 0.0625)
    assert (flop.kind, flop.per_cycle, flop.peak, flop.share) == ("flop", 0.5, 16, 0.03125)


def test_quality_is_an_argument_of_the_python_interface() -> None:
    text = ".L1:\n" + DOT.replace(";", "\n") + "\njne .L1\n"
    report = incc.analyze(text, mcpu="skylake", quality=True)
    (kernel,) = report
    assert kernel.quality is not None
    assert kernel.quality.projections[0].cycles == 1
    for part in ("256-bit vectors", "Rates relative to the core", "fully vectorised, 256 bits"):
        assert part in report.html()
    (other,) = incc.analyze(text, mcpu="skylake")
    assert other.quality is None


def test_quality_is_a_view_and_a_part_of_the_json_on_request(
    tmp_path: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    path = f"{tmp_path}/dot.s"
    with open(path, "w") as file:
        file.write(".L1:\n" + DOT.replace(";", "\n") + "\njne .L1\n")
    assert mca.main(["-mcpu=skylake", "--auto", "--views=quality", path]) == 0
    text = capsys.readouterr().out
    assert re.search(r"^loads +2 +0 % +25 %$", text, re.MULTILINE)
    assert "No spills or reloads." in text
    for views, there in (("quality", True), ("compact", False)):
        assert mca.main(["-mcpu=skylake", "--auto", f"--views={views}", "--json", path]) == 0
        (kernel,) = json.loads(capsys.readouterr().out)["units"][0]["kernels"]
        assert (kernel["quality"] is not None) is there
