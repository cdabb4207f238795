"""Projections: the cycles of loops after changes to their code, and the reasons why some cannot be changed."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import pytest
from test_quality import loop

from incc.core.altered import AlteredCore
from incc.core.analysis import KernelResult, KernelSettings, analyze_kernel
from incc.core.elements import Elements
from incc.driver.commands import mca
from incc.driver.commands import report as ranked
from incc.frontends.isa import isa
from incc.models.loading import load
from incc.report.hints.estimates import changed, without_old_values
from incc.report.projections import projections
from incc.report.projections.changing import Changed, Obstacle, analyzed
from incc.report.projections.code import aligned, with_fma, without_overhead, without_spills
from incc.report.projections.vectors import arithmetic_vectorised, vectorised


def facts(body: str, core: str = "skylake", instruction_set: str = "x86") -> KernelResult:
    return analyze_kernel(loop(body, instruction_set), load(core, ()), KernelSettings(arrays="likely"))


@pytest.mark.parametrize(
    "settings",
    [
        KernelSettings(altered=AlteredCore(dispatch_width=2), arrays="likely"),
        KernelSettings(flag_dependencies=False),
        KernelSettings(fixed_ports=True),
    ],
)
def test_changed_code_runs_under_the_same_assumptions(settings: KernelSettings) -> None:
    kernel = loop("cmpq %rcx, %rdx; adcq $0, %rcx; addl (%rsi), %eax; addl %r8d, %r9d; incl %r10d")
    usual = analyze_kernel(kernel, load("skylake", ()))
    whole = analyze_kernel(kernel, usual.model, settings)
    assert whole.cycles != usual.cycles
    assert analyzed(whole, whole.kernel).cycles == whole.cycles
    assert changed(whole, ()).cycles == without_old_values(whole, {}) == whole.cycles


COUNT = "addq $1, %rax; cmpq %rax, %rdx"
DOT = f"vmovsd (%rdi,%rax,8), %xmm1; vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0; {COUNT}"


# --- the same work on more elements -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "times", "element", "wider"),
    [
        ("vmovsd (%rdi,%rax,8), %xmm1", 8, 64, "vmovupd (%rdi,%rax,8), %zmm1"),
        ("vaddss %xmm1, %xmm2, %xmm3", 8, 32, "vaddps %ymm1, %ymm2, %ymm3"),
        ("mulsd 8(%rdi), %xmm0", 4, 64, "vmulpd 8(%rdi), %ymm0, %ymm0"),
        ("mulsd 8(%rdi), %xmm0", 2, 64, "vmulpd 8(%rdi), %xmm0, %xmm0"),
        ("sqrtsd %xmm1, %xmm0", 4, 64, "vsqrtpd %ymm1, %ymm0"),
        ("vsqrtsd %xmm1, %xmm2, %xmm0", 4, 64, "vsqrtpd %ymm1, %ymm0"),
        ("cvtsi2sdl (%rdi), %xmm0", 4, 64, "vcvtdq2pd (%rdi), %ymm0"),
        ("vcvtss2sd (%rdi), %xmm1, %xmm1", 4, 64, "vcvtps2pd (%rdi), %ymm1"),
        ("movaps %xmm0, %xmm1", 4, 64, "vmovaps %ymm0, %ymm1"),
        ("vroundsd $1, %xmm1, %xmm1, %xmm2", 8, 64, "vrndscalepd $1, %zmm1, %zmm2"),
        ("vaddpd (%rdi), %ymm1, %ymm2", 2, 0, "vaddpd (%rdi), %zmm1, %zmm2"),
        ("vpaddd %xmm0, %xmm1, %xmm2", 2, 0, "vpaddd %ymm0, %ymm1, %ymm2"),
        ("addl (%rdi,%rax,4), %ecx", 8, 32, "vpaddd (%rdi,%rax,4), %ymm1, %ymm1"),
        ("shll $3, %ecx", 8, 32, "vpslld $3, %ymm1, %ymm1"),
        ("movzbl (%rdi), %ecx", 8, 32, "vpmovzxbd (%rdi), %ymm1"),
        # Half a register is loaded by itself.
        ("mulss (%rdi), %xmm0", 2, 32, "vmovq (%rdi), %xmm14; vmulps %xmm14, %xmm0, %xmm0"),
        # What sets flags, or moves elements within vectors, has no form for more elements.
        ("ucomisd %xmm0, %xmm1", 4, 64, ""),
        ("vunpcklpd %xmm0, %xmm1, %xmm2", 2, 0, ""),
        ("cmovl %eax, %ecx", 8, 32, ""),
    ],
)
def test_instructions_have_forms_for_more_elements(text: str, times: int, element: int, wider: str) -> None:
    instruction = loop(f"{text}; decl %r9d").instructions[0]
    made = isa("x86").widened(instruction, times, element, 512)
    assert "; ".join(each.text for each in made) == wider


def test_scalar_code_is_projected_to_the_cycles_of_the_same_vector_code() -> None:
    scalar = "vmovsd (%rsi,%rax,8), %xmm0; vfmadd213sd (%rdx,%rax,8), %xmm1, %xmm0; vmovsd %xmm0, (%rdi,%rax,8)"
    vector = "vmovupd (%rsi,%rax,8), %ymm0; vfmadd213pd (%rdx,%rax,8), %ymm1, %ymm0; vmovupd %ymm0, (%rdi,%rax,8)"
    projected = vectorised(facts(f"{scalar}; addq $1, %rax; cmpq %r8, %rax"), None)
    assert projected.cycles == facts(f"{vector}; addq $4, %rax; cmpq %r8, %rax").cycles / 4
    assert (projected.bits, projected.reordered) == (256, ())
    narrow = vector.replace("ymm", "xmm")
    again = vectorised(facts(f"{narrow}; addq $2, %rax; cmpq %r8, %rax"), None)
    assert again.cycles == 2 * projected.cycles


def test_reductions_are_projected_and_name_the_order_that_changes() -> None:
    projected = vectorised(facts(DOT), None)
    assert (projected.cycles, projected.reordered) == (1, (1,))  # a chain of 4 cycles for four elements
    integers = vectorised(facts(f"addl (%rdi,%rax,4), %ecx; {COUNT}"), None)
    assert integers.reordered == ()


@pytest.mark.parametrize(
    ("body", "kind", "instructions"),
    [
        ("vmulsd %xmm1, %xmm0, %xmm0; vaddsd (%rsi,%rax,8), %xmm0, %xmm0", "recurrence", (0, 1)),
        ("vaddsd (%rsi,%rax,8), %xmm0, %xmm0; vmovsd %xmm0, (%rdi,%rax,8)", "recurrence", (0,)),
        ("vmulsd -8(%rdi,%rax,8), %xmm1, %xmm0; vmovsd %xmm0, (%rdi,%rax,8)", "recurrence", (0, 1)),
        (
            "vmovsd (%rdi,%rax,8), %xmm1; vmulsd %xmm1, %xmm1, %xmm0; vaddsd %xmm0, %xmm2, %xmm3; vmovapd %xmm0, %xmm2",
            "earlier-value",
            (3, 2),
        ),
        ("movslq (%rdi,%rax,4), %rcx; vaddsd (%rsi,%rcx,8), %xmm0, %xmm0", "gather", (1,)),
        ("vaddsd (%rdi), %xmm0, %xmm0; addq $16, %rdi", "stride", (0,)),
        ("vaddsd (%rdi), %xmm0, %xmm0; subq $8, %rdi", "descending", (0,)),
        ("vmovsd (%rdi,%rax,8), %xmm1; vmovsd %xmm1, (%rsi)", "one-place", (1,)),
        ("vaddsd (%rdi,%rax,8), %xmm0, %xmm0; testl %ecx, %ecx; je out", "branch", (2,)),
        ("vaddsd (%rdi,%rax,8), %xmm0, %xmm0; call f", "call", (1,)),
        ("vaddpd (%rdi,%rax,8), %ymm0, %ymm0; addq $3, %rax", "full-width", ()),
        ("vmovsd (%rdi,%rax,8), %xmm1; vucomisd %xmm0, %xmm1; seta %cl; addl %ecx, %r9d", "no-vector-form", (1,)),
    ],
)
def test_obstacles_to_vectors_are_named(body: str, kind: str, instructions: tuple[int, ...]) -> None:
    with pytest.raises(Obstacle) as raised:
        vectorised(facts(f"{body}; {COUNT}"), None)
    assert (raised.value.kind, raised.value.instructions) == (kind, instructions)


def test_values_that_an_earlier_iteration_loaded_are_loaded_again() -> None:
    # What a move hands to the next iteration is in memory, one element before.
    body = "vmovsd 8(%rdi,%rax,8), %xmm1; vsubsd %xmm2, %xmm1, %xmm0; vmovapd %xmm1, %xmm2; vmovsd %xmm0, (%rsi,%rax,8)"
    twice = "vmovupd 8(%rdi,%rax,8), %ymm1; vmovupd (%rdi,%rax,8), %ymm2; vsubpd %ymm2, %ymm1, %ymm0"
    again = facts(f"{twice}; vmovupd %ymm0, (%rsi,%rax,8); addq $4, %rax; cmpq %rax, %rdx")
    assert vectorised(facts(f"{body}; {COUNT}"), None).cycles == again.cycles / 4


def test_pointers_may_advance_before_an_access() -> None:
    before = facts("movsd (%rdi), %xmm0; mulsd %xmm1, %xmm0; movsd %xmm0, (%rdi); addq $8, %rdi; cmpq %rdi, %rdx")
    between = facts("movsd (%rdi), %xmm0; addq $8, %rdi; mulsd %xmm1, %xmm0; movsd %xmm0, -8(%rdi); cmpq %rdi, %rdx")
    assert vectorised(before, None).cycles == vectorised(between, None).cycles < before.cycles / 3
    assert abs(arithmetic_vectorised(before).cycles - arithmetic_vectorised(between).cycles) < Fraction(1, 4)


def test_neighbours_in_one_iteration_are_not_iterations() -> None:
    body = "vmovsd (%rdi), %xmm0; vmulsd %xmm1, %xmm0, %xmm0; vmovsd %xmm0, (%rdi)"
    body = f"{body}; {body.replace('(%rdi)', '8(%rdi)')}; addq $16, %rdi; cmpq %rdi, %rdx"
    unrolled = vectorised(facts(body), Elements(Fraction(2), "unrolled"))
    assert unrolled.cycles < facts(body).cycles / 2
    with pytest.raises(Obstacle, match="interleaved"):
        vectorised(facts(body), Elements(Fraction(1), "pairs"))


def test_only_arithmetic_as_vectors_still_moves_elements_one_by_one() -> None:
    strided = facts("vaddsd (%rdi), %xmm0, %xmm0; addq $16, %rdi; cmpq %rdi, %rdx")
    # Three shuffles on Skylake's port 5 for a vector of four elements, and one addition of 4 cycles.
    assert arithmetic_vectorised(strided).cycles == 1
    triad = facts(f"vmovsd (%rsi,%rax,8), %xmm0; vmulsd %xmm1, %xmm0, %xmm0; vmovsd %xmm0, (%rdi,%rax,8); {COUNT}")
    # Six shuffles for four elements.
    assert arithmetic_vectorised(triad).cycles >= Fraction(6, 4)


@pytest.mark.parametrize("core", ["neoverse-n1", "neoverse-v2"])
@pytest.mark.parametrize(
    ("scalar", "vector"),
    [
        (
            "ldr d1, [x0, x3, lsl 3]; ldr d2, [x1, x3, lsl 3]; fmadd d0, d1, d2, d0; add x3, x3, 1; cmp x3, x2",
            "ldr q1, [x0, x3]; ldr q2, [x1, x3]; fmla v0.2d, v1.2d, v2.2d; add x3, x3, 16; cmp x3, x2",
        ),
        (
            "ldr s1, [x0], 4; ldr s2, [x1], 4; fmul s2, s2, s4; fadd s1, s1, s2; str s1, [x5], 4; cmp x0, x2",
            "ldr q1, [x0], 16; ldr q2, [x1], 16; fmul v2.4s, v2.4s, v4.4s; fadd v1.4s, v1.4s, v2.4s; str q1, [x5], 16"
            "; cmp x0, x2",
        ),
    ],
)
def test_scalar_code_for_aarch64_is_projected_to_its_vector_code(core: str, scalar: str, vector: str) -> None:
    lanes = 2 if " d1" in scalar else 4
    projected = vectorised(facts(scalar, core, "aarch64"), None)
    expected = facts(vector, core, "aarch64").cycles / lanes
    assert abs(projected.cycles - expected) <= expected / 20


# --- other changes ----------------------------------------------------------------------------------------------------


def test_products_that_are_only_added_are_fused() -> None:
    body = "vmovupd (%rsi,%rax), %ymm0; vmulpd (%rdx,%rax), %ymm0, %ymm2; vaddpd %ymm2, %ymm5, %ymm6; {}"
    count = "addq $32, %rax; cmpq %r8, %rax"
    store = "vmovupd %ymm6, (%rdi,%rax)"
    fused = "vmovupd (%rsi,%rax), %ymm6; vfmadd213pd (%rdx,%rax), %ymm5, %ymm6; vmovupd %ymm6, (%rdi,%rax)"
    assert with_fma(facts(f"{body.format(store)}; {count}")).cycles == facts(f"{fused}; {count}").cycles
    with pytest.raises(Obstacle, match="no-products"):  # the product is stored as well
        with_fma(facts(f"{body.format(store + '; vmovupd %ymm2, (%rcx,%rax)')}; {count}"))
    with pytest.raises(Obstacle, match="no-figures"):
        with_fma(facts(f"{body.format(store)}; {count}", "sandybridge"))


def test_spilled_values_go_through_registers() -> None:
    through_memory = facts(f"movq 8(%rsp), %rcx; addq (%rdi,%rax,8), %rcx; movq %rcx, 8(%rsp); {COUNT}")
    in_register = facts(f"addq (%rdi,%rax,8), %rcx; {COUNT}")
    assert through_memory.cycles > in_register.cycles + 3
    assert without_spills(through_memory).cycles == in_register.cycles
    scaled = "vmovupd (%rsi,%rax,8), %ymm0; vmulpd {}, %ymm0, %ymm0; vmovupd %ymm0, (%rdi,%rax,8)"
    operand, register = (facts(f"{scaled.format(place)}; {COUNT}") for place in ("32(%rsp)", "%ymm1"))
    assert without_spills(operand).cycles == register.cycles


def test_accesses_advance_without_address_arithmetic() -> None:
    # If it did not, each load would wait for the previous store.
    update = facts("movsd (%rdi), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rdi); addq $8, %rdi; cmpq %rdi, %r8")
    assert without_overhead(update).cycles == 1  # one store per cycle


def test_changed_loops_keep_the_length_of_their_vectors() -> None:
    # The core's vectors have four times the bits that the code allows; a changed loop is analysed again.
    body = "ld1d {z0.d}, p0/z, [x0, x3, lsl 3]; fadd z0.d, z0.d, z2.d; st1d {z0.d}, p0, [x5, x3, lsl 3]; incd x3"
    sve = facts(f"{body}; whilelo p0.d, x3, x4", "a64fx", "aarch64")
    assert {stream.size for stream in sve.analysis.streams} == {64}
    again = analyze_kernel(sve.kernel, sve.model, sve.settings)
    assert {stream.size for stream in again.analysis.streams} == {64}
    assert without_overhead(sve).cycles <= sve.cycles == again.cycles


def test_aligned_accesses_cross_no_lines() -> None:
    shifted = facts("vmovupd (%rsi), %ymm0; vaddpd 8(%rsi), %ymm0, %ymm1; addq $32, %rsi; cmpq %rsi, %rdx")
    apart = loop("vmovupd (%rsi), %ymm0; vaddpd 32(%rsi), %ymm0, %ymm1; addq $32, %rsi; cmpq %rsi, %rdx")
    assert aligned(shifted).cycles == analyze_kernel(apart, load("skylake", ())).cycles < shifted.cycles
    with pytest.raises(Obstacle, match="no-crossings"):
        aligned(facts(DOT))


@pytest.mark.parametrize("change", [with_fma, without_spills])
def test_nothing_to_change_is_no_projection(change: Callable[[KernelResult], Changed]) -> None:
    with pytest.raises(Obstacle):
        change(facts(DOT))


def test_reports_have_every_projection_or_the_reason() -> None:
    by_name = {each.change: each for each in projections(facts(DOT), None)}
    assert by_name["vectorised"].cycles == 1
    assert by_name["vectorised"].gained == 3
    assert by_name["vectorised"].text.startswith("the order of additions changes (line 3)")
    assert by_name["fma"].cycles is None
    assert not by_name["fma"].applies
    gather = projections(facts(f"movslq (%rdi,%rax,4), %rcx; vaddsd (%rsi,%rcx,8), %xmm0, %xmm0; {COUNT}"), None)
    assert gather[0].applies
    assert gather[0].text.endswith("(line 3)")


def test_rankings_sort_by_what_projections_save(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    recurrence = f"vdivsd %xmm0, %xmm1, %xmm0; vaddsd (%rsi,%rax,8), %xmm0, %xmm0; {COUNT}"
    text = "".join(
        f"\t.type {name}, @function\n{name}:\n.L{n}:\n\t{body.replace(';', chr(10))}\n\tjne .L{n}\n\tret\n"
        for n, (name, body) in enumerate({"recurrence": recurrence, "dot": DOT}.items())
    )
    (tmp_path / "loops.s").write_text(text)
    names = {}
    for view in ("quality", "compact"):
        report = str(tmp_path / f"{view}.json")
        options = ["-mcpu=skylake", "--auto", f"--views={view}", "--json", "-o", report]
        assert mca.main([*options, str(tmp_path / "loops.s")]) == 0
        assert ranked.main(["--sort=projection", "--json", report]) == 0
        ranking = json.loads(capsys.readouterr().out)
        names[view] = [(row["name"], row["projection"] and row["projection"]["change"]) for row in ranking["rows"]]
        assert any("analyze-quality-view" in note for note in ranking["notes"]) is (view == "compact")
    assert names["quality"] == [("dot", "vectorised"), ("recurrence", None)]
    assert {change for _, change in names["compact"]} == {None}
