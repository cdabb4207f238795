"""Where each hint holds and where it is silent, by what the loop does and how it was compiled."""

from __future__ import annotations

import re
from typing import Any

import pytest
from msgspec.structs import replace

from incc.driver.pipeline import analyze_units
from incc.frontends.asm.call_path import parse_trips
from incc.frontends.unit import Unit
from incc.report import types as t
from settings_fixtures import settings_with

END = "incq %rax\ncmpq %rdx, %rax\njne .L1"


def hints(
    body: str,
    *arguments: str,
    compiler: str = "gcc 12.2.0",
    mcpu: str = "skylake-avx512",
    end: str = END,
    start: str = "",
    **more: Any,
) -> dict[str, t.Hint]:
    """The hints on a loop, by their rules. `compiler`: with its version, or "" for assembly that was given."""
    text = f"{start}.L1:\n" + "".join(f"\t{line}\n" for line in f"{body}\n{end}".splitlines()) + "\tret\n"
    name, _, version = compiler.partition(" ")
    unit = Unit(assembly=text, assembly_file="x.s")
    if compiler:
        build = {"source": "x.c", "compiler": name, "compiler_version": version, "command": (name, *arguments)}
        unit = replace(unit, **(build | more))
    settings = settings_with(mcpu=mcpu, regions="loops", timeline_iterations=0)
    (kernel,) = analyze_units([unit], settings).units[0].kernels
    return {hint.rule: hint for hint in kernel.hints}


CLANG = "clang-19 19.1.7"
SUM = "vaddsd (%rdi,%rax,8), %xmm0, %xmm0"


# --- chains -----------------------------------------------------------------------------------------------------------


def test_sum_by_compiler() -> None:
    reorder = ["-fassociative-math", "-fno-signed-zeros"]
    assert hints(SUM, "-O3")["sum-chain"].flags == [*reorder, "-fno-trapping-math"]
    assert hints(SUM, "-O2")["sum-chain"].flags == ["-O3", *reorder, "-fno-trapping-math"]
    assert hints(SUM, "-O2", compiler=CLANG)["sum-chain"].flags == reorder
    found = hints(SUM, "-O3")["sum-chain"]
    assert "may change rounding" in found.text
    assert "accumulators" in found.source_change


def test_sum_that_may_be_reordered_already() -> None:
    # gcc has a flag for more accumulators, clang has none: only the source can be changed
    assert "-fvariable-expansion-in-unroller" in hints(SUM, "-O3", "-ffast-math")["sum-chain"].flags
    assert hints(SUM, "-O2", "-ffast-math")["sum-chain"].flags == ["-O3"]
    clang = hints(SUM, "-O3", "-ffast-math", compiler=CLANG)["sum-chain"]
    assert clang.flags == []
    assert "-f" not in clang.text


def test_two_sums() -> None:
    sums = f"{SUM}\nvaddsd 8(%rdi,%rax,8), %xmm1, %xmm1"
    change = hints(sums, "-O3")["sum-chain"].source_change
    assert change == "use 4 independent accumulators for each sum and add them up after the loop"


def test_sum_that_would_gain_nothing() -> None:
    # 13 more µops at 4 per cycle take as long as the addition
    busy = "\n".join(["vmovsd 8(%rsi), %xmm1", "movq %rbx, %rcx"] * 6)
    assert "sum-chain" not in hints(f"{SUM}\n{busy}", "-O3")
    assert "sum-chain" in hints(SUM, "-O3")


def test_chains_are_not_advised_where_a_function_decides() -> None:
    assert "sum-chain" not in hints(f"call f\n{SUM}", "-O3")
    assert "memory-chain" not in hints("call f\nvaddsd 8(%rsp), %xmm0, %xmm0\nvmovsd %xmm0, 8(%rsp)", "-O3")


def test_maximum() -> None:
    chain = "vmovsd (%rdi,%rax,8), %xmm1\nvmaxsd %xmm0, %xmm1, %xmm0"
    found = hints(chain, "-O3")["extremum-chain"]
    assert found.flags == ["-ffinite-math-only", "-fno-signed-zeros"]
    assert hints(chain, "-O2", "-fno-signed-zeros")["extremum-chain"].flags == ["-O3", "-ffinite-math-only"]
    # of vectors there is nothing left for the compiler to do
    packed = "vmaxpd (%rdi,%rax,8), %ymm0, %ymm0"
    assert hints(packed, "-O3")["extremum-chain"].flags == []
    # where the maximum is, no compiler finds with vectors
    place = "vmovsd (%rdi,%rax,8), %xmm1\nvcomisd %xmm0, %xmm1\ncmovaq %rax, %rcx\nvmaxsd %xmm0, %xmm1, %xmm0"
    assert hints(place, "-O3")["extremum-chain"].flags == []
    assert "each with what belongs to it" in hints(place, "-O3")["extremum-chain"].source_change
    # an addition in the chain makes it no maximum
    mixed = "vaddsd (%rdi,%rax,8), %xmm0, %xmm0\nvmaxsd %xmm2, %xmm0, %xmm0"
    assert not {"extremum-chain", "sum-chain"} & set(hints(mixed, "-O3"))


STORED = "addl (%rdi,%rax,4), %ecx\nmovl %ecx, (%rsi)"


def test_sum_that_is_stored_each_time() -> None:
    assert "local variable" in hints(STORED, "-O3")["stored-accumulator"].source_change
    assert "stored-accumulator" in hints(STORED, "-O3", compiler="clang-14 14.0.6")
    # what is not vectorised anyway gains nothing
    assert "stored-accumulator" not in hints(STORED, "-O2")
    assert "stored-accumulator" not in hints(STORED, "-O3", compiler="")
    # this one asks whether the places overlap
    assert "stored-accumulator" not in hints(STORED, "-O3", compiler=CLANG)
    # to another place each time, or on the stack
    assert "stored-accumulator" not in hints(STORED.replace("(%rsi)", "(%rsi,%rax,4)"), "-O3")
    assert "stored-accumulator" not in hints(STORED.replace("(%rsi)", "8(%rsp)"), "-O3")


def test_sum_of_floating_point_that_is_stored_each_time() -> None:
    floating = f"{SUM}\nvmovsd %xmm0, (%rsi)"
    # gcc needs the local variable too; newer versions of clang check for overlap
    with_gcc = hints(floating, "-O3")
    assert (with_gcc["stored-accumulator"].flags, "-fassociative-math" in with_gcc["stored-accumulator"].text) == (
        [],
        True,
    )
    assert "scalar-arithmetic" not in with_gcc
    with_clang = hints(floating, "-O3", compiler=CLANG)["stored-accumulator"]
    assert with_clang.flags == ["-fassociative-math", "-fno-signed-zeros"]
    assert "4 local variables" in with_clang.source_change
    assert with_clang.gain is not None
    assert with_clang.gain >= 4
    assert hints(floating, "-O3", "-ffast-math")["stored-accumulator"].source_change.startswith("add up in a local")
    assert "stored-accumulator" not in hints(floating, "-O3", "-ffast-math", compiler=CLANG)
    # each of two sums takes variables, and the gain is the larger one, that of the flags
    both = f"vmovsd (%rdi,%rax,8), %xmm1\nvaddsd %xmm1, %xmm2, %xmm2\nvmovsd %xmm2, 8(%rsi)\n{floating}"
    found = hints(both, "-O3")["stored-accumulator"]
    assert found.source_change.startswith("add up in 2 local variables for each sum, and store their sums after")
    assert ": up to " in found.text
    # nothing waits for the sum, or it is stored somewhere else each time
    assert "stored-accumulator" not in hints(f"{floating}\n" + "movq %rbx, %rcx\n" * 20, "-O3")
    assert "stored-accumulator" not in hints(floating.replace("(%rsi)", "(%rsi,%rax,8)"), "-O3")


# --- arithmetic -------------------------------------------------------------------------------------------------------


def test_reciprocal_by_compiler() -> None:
    body = "vmovsd (%rdi,%rax,8), %xmm0\nvdivsd %xmm1, %xmm0, %xmm0\nvmovsd %xmm0, (%rsi,%rax,8)"
    assert hints(body, "-O3")["invariant-divisor"].flags == ["-funsafe-math-optimizations"]
    assert hints(body, "-O3", "-freciprocal-math")["invariant-divisor"].flags == ["-funsafe-math-optimizations"]
    assert hints(body, "-O3", compiler=CLANG)["invariant-divisor"].flags == ["-freciprocal-math"]
    given = hints(body, "-O3", "-ffast-math")["invariant-divisor"]
    assert (given.flags, "-f" in given.text) == ([], False)
    assert "differ by one" not in hints(body, "-O3")["invariant-divisor"].text


def test_reciprocal_for_quotients_that_become_integers() -> None:
    bins = "vmovsd (%rdi,%rax,8), %xmm0\nvdivsd %xmm1, %xmm0, %xmm0\nvcvttsd2si %xmm0, %ecx\nmovl %ecx, (%rsi,%rax,4)"
    assert "quotients that become integers may then differ by one: " in hints(bins, "-O3")["invariant-divisor"].text
    # exact quotients of integers
    for load in ("vcvtsi2sdl (%rdi,%rax,4), %xmm2, %xmm0", "vcvtsi2sdl %r8d, %xmm2, %xmm3\nvmovapd %xmm3, %xmm0"):
        assert "invariant-divisor" not in hints(bins.replace("vmovsd (%rdi,%rax,8), %xmm0", load), "-O3")
    # a conversion of something else
    other = f"vcvtsi2sdl (%rdi,%rax,4), %xmm2, %xmm5\n{bins.replace('%xmm0, %ecx', '%xmm5, %ecx')}"
    assert "differ" not in hints(other, "-O3")["invariant-divisor"].text


def test_integer_division_where_doubles_are_inexact() -> None:
    body = "movl (%rdi,%rcx,4), %eax\ncltd\nidivl %r8d\nmovl %eax, (%rsi,%rcx,4)"
    end = "incq %rcx\ncmpq %r9, %rcx\njne .L1"
    assert "integer-division" in hints(body, "-O3", mcpu="sapphirerapids", end=end)
    for flag in ("-ffast-math", "-freciprocal-math"):
        assert "integer-division" not in hints(body, "-O3", flag, mcpu="sapphirerapids", end=end)


def test_integer_division() -> None:
    def found(divisor: str, width: str = "l") -> t.Hint | None:
        body = f"movl (%rdi,%rcx,4), %eax\ncltd\nidiv{width} {divisor}\nmovl %eax, (%rsi,%rcx,4)"
        end = "incq %rcx\nincq %r10\ncmpq %r9, %rcx\njne .L1"
        return hints(body, "-O3", mcpu="sapphirerapids", end=end).get("integer-division")

    narrow, wide = found("%r8d"), found("%r8", "q")
    assert narrow is not None
    assert wide is not None
    assert narrow.evidence == {"instructions": [2], "bits": 32}
    assert "if the values fit" not in narrow.text
    assert "If the values fit" in wide.text
    # a divisor that changes
    assert found("%r10d") is None


def test_remainders() -> None:
    def found(body: str) -> t.Hint:
        end = "incq %rcx\ncmpq %r9, %rcx\njne .L1"
        return hints(body, "-O3", mcpu="sapphirerapids", end=end)["integer-division"]

    load = "movl (%rdi,%rcx,4), %eax\ncltd\nidivl %r8d\n"
    each = found(f"{load}movl %edx, (%rsi,%rcx,4)")
    assert "a - (int)((double)a / d) * d" in each.source_change
    assert each.gain is not None
    # Places that depend on remainders are not vectorised.
    table = found(f"{load}movslq %edx, %rdx\naddl $1, (%rsi,%rdx,4)")
    assert (table.gain, "vectorised" in table.source_change) == (None, False)
    # The counter's remainder takes no division.
    counter = found(
        "movl %ecx, %eax\ncltd\nidivl %r8d\nmovslq %edx, %rdx\nmovb (%rdi,%rdx), %al\nmovb %al, (%rsi,%rcx)"
    )
    assert counter.source_change.startswith("count to the divisor")


@pytest.mark.parametrize(("name", "kind"), [("sdiv", "int"), ("udiv", "unsigned")])
def test_integer_division_on_arm(name: str, kind: str) -> None:
    def found(width: str, divisor: str = "4", core: str = "neoverse-v1") -> t.Hint | None:
        body = f"ldr {width}2, [x0]\n{name} {width}2, {width}2, {width}{divisor}\nstr {width}2, [x0], #8"
        end = "add x5, x5, x6\ncmp x0, x3\nb.ne .L1"
        return hints(body, "-O3", compiler="gcc 12.2.0", mcpu=core, end=end).get("integer-division")

    narrow, wide = found("w"), found("x")
    assert narrow is not None
    assert wide is not None
    assert (narrow.evidence, wide.evidence["bits"]) == ({"instructions": [1], "bits": 32}, 64)
    assert f"Divide as doubles, ({kind})((double)a / d)" in narrow.text
    assert "If the values fit into 32 bits" in wide.text
    # A vector of two divisions of doubles takes longer than two of integers.
    assert found("w", core="cortex-a72") is None
    # a divisor that changes
    assert found("w", "5") is None


def test_divisor_that_does_not_change_on_arm() -> None:
    body = "ldr d0, [x0]\nfdiv d0, d0, {}\nstr d0, [x0], #8"
    end = "fadd d2, d2, d3\ncmp x0, x3\nb.ne .L1"
    of = {d: hints(body.format(d), "-O3", mcpu="neoverse-n1", end=end).get("invariant-divisor") for d in ("d1", "d2")}
    assert (of["d1"] is not None, of["d2"]) == (True, None)


def test_conversions() -> None:
    there = "vcvtss2sd (%rdi,%rax,4), %xmm7, %xmm1\nvmulsd %xmm2, %xmm1, %xmm1"
    back = "vcvtsd2ss %xmm1, %xmm7, %xmm1\nvmovss %xmm1, (%rsi,%rax,4)"
    found = hints(f"{there}\n{back}", "-O3")["conversions"]
    assert "(0.5f)" in found.source_change
    assert found.evidence["instructions"] == [0, 2]
    # Vectors of the parts of one element do not become longer.
    whole = hints(f"{there}\n{back}\nvmulps %xmm5, %xmm6, %xmm4", "-O3")["conversions"]
    assert found.gain is not None
    assert whole.gain is not None
    assert whole.gain <= found.gain
    # a wider sum may be meant
    assert "conversions" not in hints(f"{there}\nvmovsd %xmm1, (%rsi,%rax,8)", "-O3")
    # As floats the work takes half as many vectors, but whole vectors of floats are loaded and stored already.
    there = (
        "vmovups {0}(%rdi,%rax), %ymm0\nvcvtps2pd %xmm0, %ymm1\nvextractf128 $1, %ymm0, %xmm0\nvcvtps2pd %xmm0, %ymm2"
    )
    work = "vmulpd %ymm1, %ymm3, %ymm1\nvmulpd %ymm2, %ymm3, %ymm2"
    back = "vcvtpd2psy %ymm1, %xmm1\nvcvtpd2psy %ymm2, %xmm2\nvinsertf128 $1, %xmm2, %ymm1, %ymm1"
    body = "\n".join(f"{there}\n{work}\n{back}\nvmovups %ymm1, {{0}}(%rsi,%rax)".format(32 * n) for n in range(4))
    found = hints(body, "-O3", mcpu="skylake", end=END.replace("incq", "subq $-128,"))["conversions"]
    # The 4 loads, half of which cross a line, and the 4 addresses of the stores take the same two ports.
    assert found.gain == 24 / 5


def test_integers_that_become_doubles() -> None:
    # As doubles they would be twice as many bytes.
    packed = "vcvtdq2pd (%rdi,%rax), %zmm0\nvmulpd %zmm1, %zmm0, %zmm0\nvmovupd %zmm0, (%rsi,%rax,2)"
    end = END.replace("incq", "addq $32,")
    for core in ("znver4", "skylake-avx512"):
        assert "conversions" not in hints(packed, "-O3", mcpu=core, end=end)
    # Floats are as large, and the port that converts is the limit.
    single = "vcvtdq2ps {}(%rdi,%rax), %ymm{}\nvmulps %ymm{}, %ymm6, %ymm5\nvaddps %ymm{}, %ymm7, %ymm4"
    several = "\n".join(single.format(32 * n, n, n, n) for n in range(4))
    found = hints(several, "-O3", mcpu="skylake", end=end)["conversions"]
    assert found.gain is not None
    assert 1.3 < found.gain < 1.6
    # A counter that becomes a number has no other type to be kept in.
    counter = "\n".join(f"vcvtsi2ss %eax, %xmm7, %xmm{n}\nvmulss %xmm{n}, %xmm6, %xmm{n}" for n in range(4))
    assert "conversions" not in hints(counter, "-O3", mcpu="skylake")


@pytest.mark.parametrize("core", ["a64fx", "neoverse-v1", "neoverse-n1"])
def test_an_unknown_compiler_uses_the_vectors_of_an_arm_core(core: str) -> None:
    body = "ldr w2, [x0]\nsdiv w2, w2, w4\nstr w2, [x0], #4"
    end = "cmp x0, x3\nb.ne .L1"
    given = hints(body, compiler="", mcpu=core, end=end)["integer-division"]
    known = hints(body, "-O3", f"-mcpu={core}", mcpu=core, end=end, cpu=core)["integer-division"]
    assert given.gain == known.gain
    assert given.gain is not None


# --- aliasing ---------------------------------------------------------------------------------------------------------

SCALED = "vmovsd (%rsi,%rax,8), %xmm0\nvmulsd (%rdx), %xmm0, %xmm0\nvmovsd %xmm0, (%rdi,%rax,8)"


def test_value_that_is_loaded_again() -> None:
    end = "incq %rax\ncmpq %rcx, %rax\njne .L1"
    found = hints(SCALED, "-O3", end=end)["invariant-access"]
    assert found.evidence == {"loads": [1], "stores": [2]}
    assert found.text.startswith("a value is loaded again in each iteration (asm 3), because the store in asm 4")
    assert "prevents vectorisation" in found.text
    assert "prevents" not in hints(SCALED, "-O2", end=end)["invariant-access"].text
    # A pointer and a count that are loaded again, and what is computed from them.
    through = "movq 8(%rdi), %rdx\naddq %rax, %rdx\nnotb (%rdx)\naddq $1, %rax\nmovl (%rdi), %edx\nimull 4(%rdi), %edx"
    found = hints(through, "-O3", end="cmpl %eax, %edx\njg .L1")["invariant-access"]
    assert found.evidence["loads"] == [0, 4, 5]
    assert found.gain is not None
    assert found.gain > 20


def test_value_of_which_the_loop_stores_a_part_is_not_invariant() -> None:
    products = "imulq %rcx, %rcx\n" * 4
    pair = f"movq (%rdx), %rcx\n{products}movq %rcx, (%rdi,%rax,8)\nmovl %esi, {{}}(%rdx)"
    end = "incq %rax\ncmpq %r8, %rax\njne .L1"
    for place in range(-8, 13):
        found = hints(pair.format(place), "-O3", end=end)
        assert ("invariant-access" in found) == (place <= -4 or place >= 8), place


@pytest.mark.parametrize(
    "body",
    [
        SCALED.replace("(%rdx)", ".LC0(%rip)"),  # a constant
        SCALED.replace("(%rdx)", "8(%rsp)"),  # a spilled value
        SCALED.replace("(%rdx)", "%xmm1"),
        SCALED.replace("(%rdx)", "(%rdx,%rax,8)"),
        SCALED.rpartition("\n")[0] + "\nvaddsd %xmm0, %xmm1, %xmm1",  # nothing is stored
        "vmovsd (%rdi), %xmm0\nvmulsd (%rsi,%rax,8), %xmm0, %xmm0\nvmovsd %xmm0, (%rdi)",  # the loop changes it
        f"call f\n{SCALED}",
    ],
)
def test_value_that_has_to_be_loaded(body: str) -> None:
    assert "invariant-access" not in hints(body, "-O3", end="incq %rax\ncmpq %rcx, %rax\njne .L1")


@pytest.mark.parametrize(
    ("more", "advised"),
    [
        (["vmovaps %xmm{0}, %xmm1"] * 12, False),
        (["vmovaps %xmm{0}, %xmm1"] * 11, True),
        (["vmovaps %zmm{0}, %zmm1"] * 13, True),
        (["vmovaps %zmm{0}, %zmm1"] * 29, False),
    ],
)
def test_compilers_may_have_run_out_of_registers(more: list[str], advised: bool) -> None:
    body = "\n".join([*(text.format(n + 2) for n, text in enumerate(more)), SCALED])
    assert ("invariant-access" in hints(body, "-O3", end="incq %rax\ncmpq %rcx, %rax\njne .L1")) == advised


@pytest.mark.parametrize(("registers", "advised"), [(20, True), (24, False)])
def test_arm_has_more_registers(registers: int, advised: bool) -> None:
    others = [f"eor x{n}, x{n}, x0" for n in range(6, 6 + registers)]
    body = "\n".join([*others, "ldr d0, [x0]", "ldr d1, [x1]", "fmul d0, d0, d1", "str d0, [x2], #8"])
    found = hints(body, "-O3", mcpu="neoverse-n1", end="add x0, x0, #8\ncmp x0, x3\nb.ne .L1")
    assert ("invariant-access" in found) == advised


def test_more_arrays_than_gcc_compares() -> None:
    body = (
        "vmovsd (%rdi,%rax,8), %xmm0\nvmovsd (%rsi,%rax,8), %xmm1\nvaddsd %xmm0, %xmm1, %xmm2\n"
        "vmovsd %xmm2, (%r8,%rax,8)\nvmulsd (%rcx,%rax,8), %xmm0, %xmm3\nvmovsd %xmm3, (%r9,%rax,8)\n"
        "vsubsd %xmm1, %xmm3, %xmm4\nvmovsd %xmm4, (%r10,%rax,8)"
    )
    found = hints(body, "-O3")
    assert found["many-arrays"].evidence == {"pairs": 12}
    assert "restrict" in found["many-arrays"].source_change
    assert "scalar-arithmetic" not in found
    # Fortran has no pointers to declare so.
    fortran = hints(body, "-O3", compiler="gfortran 12.2.0", source="x.f90")["many-arrays"]
    assert "pairs of array sections" in fortran.text
    assert "put !GCC$ ivdep in front of the loop" in fortran.source_change
    # Fewer are compared, and clang compares more. Another level may not vectorise for another reason.
    fewer = body.replace("vmovsd %xmm4, (%r10,%rax,8)", "vmovsd %xmm4, (%r9,%rax,8)")
    assert "many-arrays" not in hints(fewer, "-O3")
    assert "many-arrays" not in hints(body, "-O3", compiler=CLANG)
    found = hints(body, "-O2")
    assert "many-arrays" not in found
    assert (found["scalar-arithmetic"].flags, "restrict" in found["scalar-arithmetic"].text) == (["-O3"], True)
    assert "restrict" not in hints(fewer, "-O2")["scalar-arithmetic"].text
    fortran = hints(body, "-O2", compiler="gfortran 12.2.0", source="x.f90")["scalar-arithmetic"]
    assert (fortran.flags, fortran.source_change) == (["-O3"], "")


# --- roots and functions ----------------------------------------------------------------------------------------------

CHECKED = "vucomisd %xmm0, %xmm1\nja .L9\n"
ROOT = f"vmovsd (%rdi,%rax,8), %xmm0\n{CHECKED}vsqrtsd %xmm0, %xmm0, %xmm0\nvmovsd %xmm0, (%rsi,%rax,8)"


def test_errno_of_square_roots() -> None:
    assert hints(ROOT, "-O3")["math-errno"].flags == ["-fno-math-errno"]
    assert hints(ROOT, "-O2")["math-errno"].flags == ["-O3", "-fno-math-errno"]
    assert hints(ROOT, "-O2", compiler=CLANG)["math-errno"].flags == ["-fno-math-errno"]
    assert hints(ROOT, "-O3")["math-errno"].gain == 2
    # gcc's vectors may add up in a fixed order, which takes as long as before; clang makes none.
    reorder = ["-fno-math-errno", "-fassociative-math", "-fno-signed-zeros"]
    added = ROOT.replace("vmovsd %xmm0, (%rsi,%rax,8)", "vaddsd %xmm0, %xmm3, %xmm3")
    assert hints(added, "-O3")["math-errno"].flags == [*reorder, "-fno-trapping-math"]
    assert hints(added, "-O3", compiler=CLANG)["math-errno"].flags == reorder
    twice = added + "\nvsqrtsd %xmm0, %xmm0, %xmm0"
    found = hints(twice, "-O3")["math-errno"]
    assert found.flags == ["-fno-math-errno"]
    assert found.gain == pytest.approx(2, abs=0.1)
    assert hints(added, "-O3", "-funsafe-math-optimizations")["math-errno"].flags == ["-fno-math-errno"]
    # Where a sum is kept in memory, the flag alone does not lead to vectors.
    stored = f"{ROOT}\nvaddsd (%rcx), %xmm0, %xmm0\nvmovsd %xmm0, (%rcx)"
    assert hints(stored, "-O3")["math-errno"].gain is None
    # the branch is the user's, where errno is not set
    assert "math-errno" not in hints(ROOT, "-O3", "-fno-math-errno")
    assert "math-errno" not in hints(ROOT, "-O3", "-ffast-math")
    assert "math-errno" not in hints(ROOT.replace(CHECKED, ""), "-O3")
    assert "scalar-arithmetic" not in hints(ROOT, "-O3")


@pytest.mark.parametrize(
    ("function", "arguments", "compiler", "flags"),
    [
        ("exp", ["-O3"], "gcc 12.2.0", ["-ffast-math"]),
        ("sinf@PLT", ["-O2"], "gcc 12.2.0", ["-O3", "-ffast-math"]),
        ("pow", ["-O2"], CLANG, ["-ffast-math", "-fveclib=libmvec"]),
        ("pow", ["-O2", "-ffast-math"], CLANG, ["-fveclib=libmvec"]),
        ("exp", ["-Ofast"], "gcc 12.2.0", None),
        ("lgamma", ["-O3"], "gcc 12.2.0", None),
        ("exp", ["-O3"], "", None),
    ],
)
def test_functions_for_vectors(function: str, arguments: list[str], compiler: str, flags: list[str] | None) -> None:
    body = f"vmovsd (%rdi,%rax,8), %xmm0\ncall {function}\nvmovsd %xmm0, (%rsi,%rax,8)"
    found = hints(body, *arguments, compiler=compiler).get("math-call")
    assert (found and found.flags) == flags


def test_arm_may_lack_functions_for_vectors() -> None:
    body = "ldr d0, [x19]\nbl exp\nstr d0, [x19], #8"
    assert not hints(body, "-O3", mcpu="neoverse-n1", end="cmp x19, x20\nb.ne .L1")


# --- vectors ----------------------------------------------------------------------------------------------------------

PLAIN = "vmovsd (%rdi,%rax,8), %xmm0\nvmulsd (%rsi,%rax,8), %xmm0, %xmm0\nvmovsd %xmm0, (%rcx,%rax,8)"


def test_scalar_loop_that_the_level_keeps_from_vectors() -> None:
    assert hints(PLAIN, "-O2")["scalar-arithmetic"].flags == ["-O3"]
    assert hints(PLAIN, "-O1", compiler=CLANG)["scalar-arithmetic"].flags == ["-O3"]
    # elsewhere only the compiler knows why
    told = hints(PLAIN, "-O3")["scalar-arithmetic"]
    assert told.flags == []
    assert "-fopt-info-vec-missed" in told.text
    assert "-Rpass" not in told.text
    assert "-Rpass-missed=loop-vectorize" in hints(PLAIN, "-O3", compiler=CLANG)["scalar-arithmetic"].text


@pytest.mark.parametrize(
    "body",
    [
        PLAIN.replace("(%rdi,%rax,8)", "(%rdi,%r8,8)") + "\naddq $3, %r8",
        PLAIN + "\ntestq %r8, %r8\nje .L9",
        PLAIN.replace("(%rcx,%rax,8)", "(%rcx)"),
    ],
)
def test_scalar_loop_that_may_stay_so(body: str) -> None:
    assert hints(body, "-O2")["scalar-arithmetic"].flags == []


INTEGERS = "movzbl (%rdi,%rax), %ecx\nmovzbl (%rsi,%rax), %r8d\naddl %r8d, %ecx\nmovb %cl, (%r9,%rax)"
TOTAL = "movl (%rdi,%rax,4), %ecx\nimull (%rsi,%rax,4), %ecx\naddl %ecx, %r8d"


@pytest.mark.parametrize("body", [INTEGERS, TOTAL, f"{TOTAL}\ncmpl %r8d, %ecx\ncmovgl %ecx, %r8d"])
def test_integers_that_the_level_keeps_from_vectors(body: str) -> None:
    assert hints(body, "-O2")["scalar-arithmetic"].flags == ["-O3"]
    assert hints(body, "-O1", compiler=CLANG)["scalar-arithmetic"].flags == ["-O3"]
    assert "scalar-arithmetic" not in hints(body, "-O3")
    assert "scalar-arithmetic" not in hints(body, "-O2", compiler="")


def test_values_of_the_previous_iteration() -> None:
    # clang vectorises a loop whose iterations need a result of the previous one, and gcc does not
    load, kept = "movzbl (%rdi,%rax), %ecx\n{}", "movl %esi, %r8d\nmovl %ecx, %esi\n"
    body = f"{load}{kept}subl %r8d, %ecx\nmovb %cl, (%r9,%rax)"
    assert "scalar-arithmetic" not in hints(body.format("xorl %r10d, %ecx\n"), "-O2")
    assert hints(body.format("xorl %r10d, %ecx\n"), "-O1", compiler=CLANG)["scalar-arithmetic"].flags == ["-O3"]
    # an element that gcc would load twice
    assert hints(body.format(""), "-O2")["scalar-arithmetic"].flags == ["-O3"]
    load, kept = "vmovss (%rdi,%rax,4), %xmm1\n{}", "vmovaps %xmm1, %xmm3\n"
    body = f"{load}{kept}vsubss %xmm2, %xmm1, %xmm1\nvmovaps %xmm3, %xmm2\nvmovss %xmm1, (%rsi,%rax,4)"
    assert hints(body.format("vmulss %xmm4, %xmm1, %xmm1\n"), "-O2")["scalar-arithmetic"].flags == []
    assert hints(body.format(""), "-O2")["scalar-arithmetic"].flags == ["-O3"]


@pytest.mark.parametrize(
    "body",
    [
        f"{TOTAL}\nmovl %r8d, (%r9,%rax,4)",  # running sums
        f"{TOTAL}\nimull $31, %r8d, %r8d",
        f"{TOTAL}\ncmpl %r8d, %ecx\ncmovgl %ecx, %r8d\ncmovgl %eax, %r10d",  # the place of the largest one
        INTEGERS.replace("addl", "popcntl"),
        INTEGERS.replace("addl %r8d", "shll %cl"),
        f"{INTEGERS}\ntestl %ecx, %ecx\nje .L9",
        f"{INTEGERS}\nmovslq %ecx, %r10\naddl (%r11,%r10,4), %ecx",
    ],
)
def test_integers_that_may_stay_scalar(body: str) -> None:
    assert "scalar-arithmetic" not in hints(body, "-O2")


def test_a_stored_hash_is_no_sum() -> None:
    body = "movq (%rdi,%rax,8), %rcx\nimulq %r9, %rcx\naddq %rcx, %r8\nrolq $31, %r8\nimulq %r10, %r8\nmovq %r8, (%rsi)"
    found = hints(body, "-O3")
    assert "stored-accumulator" not in found
    assert "recurrence" in found
    added = body.replace("rolq $31, %r8\nimulq %r10, %r8\n", "")
    assert "stored-accumulator" in hints(added, "-O3")


@pytest.mark.parametrize(
    ("body", "end"),
    [
        ("addq $1, %rax", "cmpb $32, (%rdi,%rax)\nje .L1"),
        ("incq %rax", "movl (%rdi,%rax,4), %ecx\ncmpl %ecx, %edx\njne .L1"),
        (INTEGERS, "incq %rax\ncmpl %r8d, %edx\njg .L1"),  # until the sum is large
    ],
)
def test_no_vectors_for_a_loop_whose_data_end_it(body: str, end: str) -> None:
    assert "scalar-arithmetic" not in hints(body, "-O2", end=end)


def test_small_integers_take_wider_vectors() -> None:
    bytes_added, ints_added = (
        hints(body, "-O2", "-mavx2", mcpu="znver4")["scalar-arithmetic"].gain or 0
        for body in (
            INTEGERS,
            INTEGERS.replace("movzbl", "movl").replace("%rax)", "%rax,4)").replace("movb %cl", "movl %ecx"),
        )
    )
    # computed as 16-bit integers, not as bytes
    assert ints_added < bytes_added < 4 * ints_added


PRODUCT = """\
vmovsd (%rdi,%rax), %xmm1
vmulsd (%rsi,%rax), %xmm1, %xmm2
vmulsd 8(%rsi,%rax), %xmm1, %xmm3
vucomisd %xmm2, %xmm3
jp .L9
.L4:
vaddsd %xmm2, %xmm0, %xmm0
vaddsd %xmm3, %xmm4, %xmm4"""
CALL = "addq $16, %rax\ncmpq %rdx, %rax\njne .L1\nret\n.L9:\ncall __muldc3\njmp .L4"


def test_sum_of_complex_products() -> None:
    # no compiler reorders the sum before the tests for NaN are gone
    flags = hints(PRODUCT, "-O3", end=CALL)["sum-chain"].flags
    assert flags == ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math", "-fcx-limited-range"]
    old = hints(PRODUCT, "-O3", end=CALL, compiler="clang-14 14.0.6")["sum-chain"]
    assert (old.flags, "accumulators" in old.source_change) == ([], True)


def test_loop_that_only_its_counter_limits() -> None:
    # vectors shorten the counter's chain, too
    core = "znver4"
    product = "vmovss (%rsi,%rax,4), %xmm1\nvmulss (%rdi,%rax,4), %xmm1, %xmm1"
    assert hints(product, "-O2", mcpu=core)["scalar-arithmetic"].flags == ["-O3"]
    packed = "movaps (%rdi,%rax), %xmm0\naddps (%rsi,%rax), %xmm0"
    end, start = END.replace("incq", "addq $16,"), "f:\nshrq $2, %rdx\nsalq $4, %rdx\nxorl %eax, %eax\n"
    found = hints(packed, "-O3", mcpu=core, compiler="gcc 13.2.0", end=end, start=start)
    assert found["instruction-set"].flags == ["-march=znver4"]


SSE = "movupd (%rdi,%rax,8), %xmm0\nmulpd %xmm1, %xmm0\nmovups %xmm0, (%rsi,%rax,8)"


def test_instruction_set() -> None:
    by_two: dict[str, Any] = {"end": END.replace("incq", "addq $2,"), "start": "f:\nandq $-2, %rdx\nxorl %eax, %eax\n"}
    assert hints(SSE, "-O3", **by_two)["instruction-set"].flags == ["-march=skylake-avx512"]
    assert "instruction-set" not in hints(SSE, "-O3", "-mavx2", **by_two)
    assert "instruction-set" not in hints(SSE, "-O3", mcpu="nehalem", **by_two)
    assert "instruction-set" not in hints(SSE, "-O3", compiler="", **by_two)
    # a core of which this compiler has never heard
    assert "instruction-set" not in hints(SSE, "-O3", mcpu="znver5", **by_two)
    # neighbouring statements in vectors, or some of them
    assert "instruction-set" not in hints(SSE, "-O3", end=by_two["end"])
    assert "instruction-set" not in hints(f"{SSE}\nmulss %xmm3, %xmm4", "-O3", **by_two)

    # wider shuffles take other ports, or are more
    assert hints(SSE, "-O3", **by_two)["instruction-set"].gain == 2
    bytes_added = (
        "movdqu (%rdi,%rax), %xmm0\nmovdqa %xmm0, %xmm1\npunpcklbw %xmm7, %xmm0\npunpckhbw %xmm7, %xmm1\n"
        "paddw %xmm6, %xmm0\npaddw %xmm6, %xmm1\npackuswb %xmm1, %xmm0\nmovups %xmm0, (%rsi,%rax)"
    )
    by_16: dict[str, Any] = {"end": END.replace("incq", "addq $16,"), "start": "f:\nandq $-16, %rdx\nxorl %eax, %eax\n"}
    assert hints(bytes_added, "-O3", **by_16)["instruction-set"].gain is None


WIDE = "vmovupd (%rdi,%rax,8), %ymm0\nvfmadd213pd (%rsi,%rax,8), %ymm1, %ymm0\nvmovupd %ymm0, (%rcx,%rax,8)"


def test_vector_width() -> None:
    arguments = ("-O3", "-march=skylake-avx512")
    by_four: dict[str, Any] = {"end": END.replace("incq", "addq $4,"), "start": "f:\nandq $-4, %rdx\nxorl %eax, %eax\n"}
    found = hints(WIDE, *arguments, cpu="skylake-avx512", **by_four)["vector-width"]
    assert found.flags == ["-mprefer-vector-width=512"]
    assert "clock" in found.text
    found = hints(WIDE, *arguments, cpu="skylake-avx512", mcpu="sapphirerapids", **by_four)["vector-width"]
    assert "clock" not in found.text
    # given, or not allowed, or in vain: one unit of 512 bits, or 512 bits in two halves
    assert "vector-width" not in hints(WIDE, *arguments, "-mprefer-vector-width=512", cpu="skylake-avx512", **by_four)
    assert "vector-width" not in hints(WIDE, "-O3", "-march=haswell", cpu="haswell", **by_four)
    for core in ("icelake-client", "znver4", "skylake"):
        assert "vector-width" not in hints(WIDE, *arguments, cpu="skylake-avx512", mcpu=core, **by_four)
    # structures of four members
    assert "vector-width" not in hints(WIDE, *arguments, cpu="skylake-avx512", end=by_four["end"])


def test_functions_that_flags_replace_by_instructions() -> None:
    assert hints("call fmaxf@PLT", "-O3")["extremum-call"].flags == ["-ffinite-math-only", "-fno-signed-zeros"]
    assert hints("call fmax\ncall fmin", "-O2")["extremum-call"].flags[0] == "-O3"
    assert "extremum-call" not in hints("call fmaxf\ncall f", "-O3")
    assert hints("call lrintf", "-O3")["math-errno"].flags == ["-fno-math-errno"]
    assert "math-errno" not in hints("call lrintf\ncall f", "-O3")
    assert "math-errno" not in hints("call lrintf", "-O3", "-fno-math-errno")


def test_maximum_that_ignores_nan() -> None:
    # clang's fmax: the other one if the first is no number
    chain = (
        "vmovsd (%rdi,%rax,8), %xmm1\nvcmpunordsd %xmm0, %xmm0, %k1\nvmaxsd %xmm0, %xmm1, %xmm2\n"
        "vmovsd %xmm1, %xmm2, %xmm2{%k1}\nvmovapd %xmm2, %xmm0"
    )
    found = hints(chain, "-O3", compiler=CLANG)
    assert found["extremum-chain"].flags == ["-ffinite-math-only", "-fno-signed-zeros"]
    # a choice without a maximum
    assert "extremum-chain" not in hints(chain.replace("vmaxsd", "vandpd"), "-O3", compiler=CLANG)


# --- front end and memory ---------------------------------------------------------------------------------------------

SMALL = "movq (%rdi,%rax,8), %rcx\nxorq (%rsi,%rax,8), %rcx\naddq %rbx, %rcx\nmovq %rcx, (%r8,%rax,8)"


def test_loop_overhead() -> None:
    core = "sapphirerapids"
    assert hints(SMALL, "-O2", mcpu=core)["loop-overhead"].flags == ["-funroll-loops"]
    assert "loop-overhead" not in hints(SMALL, "-O2", "-funroll-loops", mcpu=core)
    assert "loop-overhead" not in hints(SMALL, "-O2", compiler=CLANG, mcpu=core)
    assert "loop-overhead" not in hints(SMALL, "-O2", compiler="", mcpu=core)
    # the data end the loop
    assert "loop-overhead" not in hints(SMALL, "-O2", mcpu=core, end="incq %rax\ntestq %rcx, %rcx\njne .L1")
    # the ports take as long, or a chain does
    assert "loop-overhead" not in hints(SMALL, "-O2", mcpu="icelake-server")
    assert "loop-overhead" not in hints(f"{SMALL}\nimulq %rbx, %rbx", "-O2", mcpu=core)


def test_hints_are_in_the_order_of_their_gain() -> None:
    body = f"{SUM}\nvdivsd %xmm1, %xmm2, %xmm3\n"
    found = list(hints(body, "-O3", mcpu="haswell").values())
    gains = [hint.gain or 0 for hint in found]
    assert gains == sorted(gains, reverse=True)
    assert all(gain == 0 or gain > 1.05 for gain in gains)
    assert hints(SUM, "-O3")["sum-chain"].text.endswith(": up to 4 times as fast.")


def test_strided() -> None:
    body = (
        "vmovupd (%rdi), %ymm0\nvmovupd 32(%rdi), %ymm2\nvmovapd %ymm0, %ymm1\nvpermt2pd %ymm2, %ymm3, %ymm0\n"
        "vpermt2pd %ymm2, %ymm4, %ymm1\nvmulpd %ymm0, %ymm1, %ymm1\nvmovupd %ymm1, (%rsi)\n"
        "addq $64, %rdi\naddq $32, %rsi"
    )
    found = hints(body, "-O3")["strided"]
    assert found.evidence["instructions"] == [3, 4]
    # integers of several sizes, or shuffles that look something up
    assert "strided" not in hints(f"{body}\nvpaddd %ymm7, %ymm6, %ymm5", "-O3")
    # streams that go on together: a permutation of something else
    together = body.replace("addq $64, %rdi", "addq $32, %rdi").replace("vmovupd 32(%rdi), %ymm2\n", "")
    assert "strided" not in hints(together, "-O3")


def test_gather() -> None:
    body = (
        "vmovdqu (%rdi,%rax), %xmm1\nkxnorb %k1, %k1, %k1\nvpxor %xmm0, %xmm0, %xmm0\n"
        "vgatherdpd (%rsi,%xmm1,8), %ymm0{%k1}\nvmovupd %ymm0, (%rcx,%rax)"
    )
    assert hints(body, "-O3")["gather"].evidence["elements"] == 4
    assert hints(body, "-O3")["gather"].text.startswith("1 gather (asm 5) loads 4 elements one by one.")
    # a structure's members, at regular distances
    regular = body.replace("vmovdqu (%rdi,%rax), %xmm1", "vpaddd %xmm2, %xmm1, %xmm1").replace(
        "%k1, %k1, %k1", "%k0, %k0, %k1"
    )
    assert "gather" not in hints(regular, "-O3")
    assert hints(regular, "-O3")["strided"].evidence["instructions"] == [3]
    assert hints(regular, "-O3")["strided"].text.startswith("1 instruction (asm 5) only collects elements one by one, ")
    assert "strided" not in hints(body, "-O3")
    # neighbours may have the same index
    for step in ("vpsrad $3, %xmm5, %xmm1", "vpand %xmm4, %xmm5, %xmm1", "vpminsd %xmm4, %xmm5, %xmm1"):
        assert "strided" not in hints(f"vpaddd %xmm2, %xmm5, %xmm5\n{step}\n{regular}", "-O3"), step
    for step in ("vpslld $3, %xmm5, %xmm1", "vpmulld %xmm4, %xmm5, %xmm1", "vpmovzxdq %xmm5, %xmm1"):
        assert "strided" in hints(f"vpaddd %xmm2, %xmm5, %xmm5\n{step}\n{regular}", "-O3"), step


def test_nothing_else_is_said_without_optimisation() -> None:
    for arguments in ((), ("-O0",), ("-O3", "-O0"), ("-Og",)):
        assert list(hints(SUM, *arguments)) == ["not-optimised"]
    assert hints(SUM, "-O0")["not-optimised"].flags == ["-O3"]
    assert "not-optimised" not in hints(SUM, compiler="")


# --- chains that stay -------------------------------------------------------------------------------------------------

FMA_LOOP = "vfmadd213sd (%rdi,%rax,8), %xmm1, %xmm0"


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (FMA_LOOP, "arithmetic"),  # x = x * y + a[i]
        ("vmulsd %xmm1, %xmm0, %xmm0\nvaddsd (%rdi,%rax,8), %xmm0, %xmm0", "arithmetic"),
        ("vdivsd %xmm0, %xmm1, %xmm0\nvaddsd %xmm2, %xmm0, %xmm0", "arithmetic"),
        # a running sum, each value of which is stored
        ("vaddsd (%rdi,%rax,8), %xmm0, %xmm0\nvmovsd %xmm0, (%rsi,%rax,8)", "arithmetic"),
        ("movq (%rdi), %rdi", "pointer"),
        ("movq 8(%rdi,%rdx,8), %r8\nleaq 16(%r8), %rdi", "pointer"),  # a node's links
        # the element of an array or of a table that the last one names
        ("movslq (%rdi,%r8,4), %r8", "lookup"),
        ("movzbl (%rdi,%r8), %r8d", "lookup"),
        ("movzbl (%r8,%rdi), %r8d", "lookup"),
        ("movzbl table(%r8), %r8d", "lookup"),
        ("movzbl (%r8), %ecx\nleaq (%rdi,%rcx,4), %r8", "lookup"),
        # a table, as of checksums, and a hash
        ("movzbl %cl, %r8d\nshrl $8, %ecx\nxorl (%rdi,%r8,4), %ecx", "integer"),
        ("movzbl (%rdi,%rax), %r8d\nxorq %r8, %rcx\nimulq %r9, %rcx", "integer"),
        ("movq %rcx, %r8\nsalq $13, %r8\nxorq %r8, %rcx", "integer"),
        # until something is found
        (f"ucomisd %xmm3, %xmm4\nja .L9\n{FMA_LOOP}", "arithmetic"),
    ],
)
@pytest.mark.parametrize("compiler", ["gcc 12.2.0", CLANG])
def test_recurrence(body: str, kind: str, compiler: str) -> None:
    found = hints(body, "-O3", compiler=compiler)
    assert found["recurrence"].evidence["kind"] == kind
    assert found["recurrence"].flags == []
    assert "no compiler flag" in found["recurrence"].text
    assert not {"scalar-arithmetic", "sum-chain"} & found.keys()


@pytest.mark.parametrize("load", ["movq (%rdi), %rdi", "movslq (%rdi,%r8,4), %r8"])
def test_latency_of_a_load_in_an_unrolled_chain(load: str) -> None:
    once = hints(load, "-O3")["recurrence"]
    again = hints("\n".join([load] * 8), "-O3")["recurrence"]
    assert re.findall(r"[\d.]+ cycles", again.text) == re.findall(r"[\d.]+ cycles", once.text) != []


@pytest.mark.parametrize(
    "body",
    [
        SUM,
        "vmulsd (%rdi,%rax,8), %xmm0, %xmm0",  # a product may be computed in any order
        "vmaxsd (%rdi,%rax,8), %xmm0, %xmm0",
        # a sum under a condition
        "vaddsd (%rdi,%rax,8), %xmm0, %xmm2\nvblendvpd %xmm3, %xmm2, %xmm0, %xmm0",
        "leaq (%rcx,%r8), %r9\ntestq %r10, %r10\ncmovneq %r9, %rcx",
        "imulq (%rdi,%rax,8), %rcx",
        # the sum stays in one place
        "vaddsd (%rdi,%rax,8), %xmm0, %xmm0\nvmovsd %xmm0, (%rsi)",
        f"call f\n{FMA_LOOP}",
        # 20 µops more take as long as the chain
        FMA_LOOP + "\nmovq %rbx, %rcx" * 20,
    ],
)
def test_what_may_be_reordered_is_no_recurrence(body: str) -> None:
    assert "recurrence" not in hints(body, "-O3")


def test_product() -> None:
    found = hints("vmulsd (%rdi,%rax,8), %xmm0, %xmm0", "-O3")["sum-chain"]
    assert found.text.startswith("each multiplication waits for the previous one")
    assert "multiply them" in found.source_change
    assert found.flags == ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]
    # a square, and one whose steps are stored
    assert "sum-chain" not in hints("vmulsd %xmm0, %xmm0, %xmm0", "-O3")
    assert "sum-chain" not in hints("vmulsd (%rdi,%rax,8), %xmm0, %xmm0\nvmovsd %xmm0, (%rsi,%rax,8)", "-O3")


def test_constant_of_double_between_integer_and_float() -> None:
    body = "vcvtsi2sdl (%rdi,%rax,4), %xmm7, %xmm1\nvmulsd %xmm2, %xmm1, %xmm1\nvcvtsd2ss %xmm1, %xmm7, %xmm1"
    found = hints(f"{body}\nvmovss %xmm1, (%rsi,%rax,4)", "-O3")["conversions"]
    assert "(0.5f)" in found.source_change
    assert found.evidence["instructions"] == [0, 2]


def test_counts_by_keys_that_may_repeat() -> None:
    keys = "movzbl (%rsi,%rax), %ecx\n"
    found = hints(keys + "addl $1, (%rdi,%rcx,4)", "-O2")["repeated-place"]
    assert "several tables" in found.source_change
    assert found.evidence["instructions"] == [1]
    assert found.evidence["most"] > 3
    # weights
    weights = "vmovss (%r8,%rax,4), %xmm0\nvaddss (%rdi,%rcx,4), %xmm0, %xmm0\nvmovss %xmm0, (%rdi,%rcx,4)"
    assert hints(keys + weights, "-O2")["repeated-place"].evidence["instructions"] == [3]
    assert "repeated-place" not in hints(keys + weights.replace("vaddss", "vmulss"), "-O2")
    # Each place once; what is stored does not wait; a list's nodes are different ones.
    assert "repeated-place" not in hints("addl $1, (%rdi,%rax,4)", "-O2")
    assert "repeated-place" not in hints(keys + "movl $1, (%rdi,%rcx,4)", "-O2")
    assert "repeated-place" not in hints("incl 8(%rdi)\nmovq (%rdi), %rdi", "-O2")


STRUCTURES = """\
vmovsd (%rdi), %xmm1
vmulsd %xmm1, %xmm1, %xmm1
vmovsd 8(%rdi), %xmm2
vfmadd231sd %xmm2, %xmm2, %xmm1
vmovsd 16(%rdi), %xmm2
vfmadd132sd 24(%rdi), %xmm1, %xmm2
vaddsd %xmm2, %xmm0, %xmm0"""


def test_vectors_of_members_are_shuffled() -> None:
    end = "addq $32, %rdi\ncmpq %rdx, %rdi\njne .L1"
    build: dict[str, Any] = {"compiler": CLANG, "cpu": "skylake-avx512"}
    members = hints(STRUCTURES, "-O3", "-march=skylake-avx512", end=end, **build)["sum-chain"].gain
    product = "vmovsd (%rdi,%rax,8), %xmm1\nvfmadd231sd (%rsi,%rax,8), %xmm1, %xmm0"
    neighbours = hints(product, "-O3", "-march=skylake-avx512", **build)["sum-chain"].gain
    assert neighbours is not None
    assert neighbours > 6
    # A transposition of 4 vectors takes 8 shuffles on one port, for 4 elements.
    assert members == 2


def test_sum_of_structures_that_gcc_adds_one_by_one() -> None:
    load = "vmovupd {0}(%rdi), %ymm{1}\nvmovupd {2}(%rdi), %ymm{3}\nvunpcklpd %ymm{3}, %ymm{1}, %ymm{1}"
    sort = f"{load.format(0, 1, 32, 2)}\n{load.format(64, 3, 96, 4)}\nvperm2f128 $49, %ymm1, %ymm3, %ymm1"
    more = "\n".join(f"vpermpd ${n}, %ymm1, %ymm{n}\nvmulpd %ymm{n}, %ymm1, %ymm1" for n in range(4, 9))
    add = (
        "vaddsd %xmm1, %xmm0, %xmm0\nvunpckhpd %xmm1, %xmm1, %xmm2\nvaddsd %xmm2, %xmm0, %xmm0\n"
        "vextractf128 $1, %ymm1, %xmm1\nvaddsd %xmm1, %xmm0, %xmm0\nvunpckhpd %xmm1, %xmm1, %xmm1\n"
        "vaddsd %xmm1, %xmm0, %xmm0"
    )
    found = hints(f"{sort}\n{more}\n{add}", "-O3", end="subq $-128, %rdi\ncmpq %rdx, %rdi\njne .L1")["sum-chain"]
    # The 8 shuffles that sort the members remain, and those that take the vector apart do not.
    assert found.gain == 2


# --- loops inside of others -------------------------------------------------------------------------------------------


def nested_hints(function: str, *arguments: str, compiler: str = CLANG, trips: str = "", **more: Any) -> list[t.Hint]:
    """The hints on the innermost loops of a function, main loops first."""
    unit = Unit(
        assembly=f"\t.globl f\nf:\n{function}\tret\n",
        assembly_file="x.s",
        source="x.c",
        compiler=compiler.partition(" ")[0],
        compiler_version=compiler.partition(" ")[2],
        command=("cc", *arguments),
        **more,
    )
    settings = settings_with(mcpu="znver4", regions="loops", timeline_iterations=0)
    if trips:
        settings = replace(settings, scope=replace(settings.scope, trips=parse_trips(trips)))
    kernels = analyze_units([unit], settings).units[0].kernels
    return [hint for kernel in kernels for hint in kernel.hints]


# y[i] = sum of a[i][j] * x[j]: rdi walks through the rows, and rsi stays where it is
ROWS = """\
.L1:
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
.L2:
	vmovupd	{x}, %ymm1
	vfmadd231pd	(%rdi,%rax), %ymm1, %ymm0
	vmovupd	32+{x}, %ymm2
	vfmadd231pd	32(%rdi,%rax), %ymm2, %ymm3
	vmovupd	64+{x}, %ymm4
	vfmadd231pd	64(%rdi,%rax), %ymm4, %ymm5
	vmovupd	96+{x}, %ymm6
	vfmadd231pd	96(%rdi,%rax), %ymm6, %ymm7
	subq	$-128, %rax
	cmpq	%rdx, %rax
	jne	.L2
	vmovsd	%xmm0, (%rcx)
	addq	$8, %rcx
	addq	%rdx, %rdi
	{more}
	decq	%r8
	jne	.L1
"""


def test_values_that_each_row_loads_again() -> None:
    rows = ROWS.format(x="(%rsi,%rax)", more="nop")
    (found,) = [hint for hint in nested_hints(rows, "-O3", "-ffast-math") if hint.rule == "register-blocking"]
    assert len(found.evidence["loads"]) == 4
    assert found.gain is not None
    assert 1.4 < found.gain < 1.7
    # Each row has its own, or the loop is in no other.
    others = ROWS.format(x="(%rsi,%rax)", more="addq %rdx, %rsi")
    alone = rows.replace("\tdecq\t%r8\n\tjne\t.L1\n", "")
    for text in (others, alone):
        assert "register-blocking" not in [hint.rule for hint in nested_hints(text, "-O3", "-ffast-math")]


# a[i][j] *= x: r8 is a row of rcx numbers, and rsi the place of x, which must not be in the row.
VERSIONS = """\
	leaq	-1(%rcx), %r11
	leaq	(%rdi,%r9,4), %rsi
.L1:
	{row}
	leaq	(%r8,%rcx,4), %r10
	movq	%r8, %rax
	cmpq	$2, %r11
	jbe	.L3
	cmpq	%rsi, %r8
	ja	.L2
	cmpq	%r10, %rsi
	jae	.L2
.L3:
	vmovss	(%rax), %xmm0
	vmulss	(%rsi), %xmm0, %xmm0
	vmovss	%xmm0, (%rax)
	addq	$4, %rax
	cmpq	%r10, %rax
	jne	.L3
	jmp	.L5
.L2:
	vbroadcastss	(%rsi), %ymm1
.L4:
	vmulps	(%rax), %ymm1, %ymm0
	vmovups	%ymm0, (%rax)
	addq	$32, %rax
	cmpq	%r10, %rax
	jb	.L4
.L5:
	{next}
	decq	%rdx
	jne	.L1
"""


@pytest.mark.parametrize(
    ("row", "following", "fails"),
    [
        # the row's own first number, and the one before the row
        ("movq %rdi, %r8\nmovq %rdi, %rsi", "leaq (%rdi,%rcx,4), %rdi", True),
        ("movq %rdi, %r8\nleaq -4(%rdi), %rsi", "leaq (%rdi,%rcx,4), %rdi", False),
        # rows somewhere, a number somewhere, and the next row's first number if the distance of rows is unknown
        ("movq (%rdi), %r8", "addq $8, %rdi\naddq $4, %rsi", False),
        ("movq %rdi, %r8\nvmovq %xmm5, %rsi", "leaq (%rdi,%rcx,4), %rdi", False),
        ("movq %rdi, %r8", "leaq (%rdi,%r9,4), %rdi\nleaq (%rsi,%r9,4), %rsi", False),
    ],
)
def test_check_that_fails_for_each_row(row: str, following: str, fails: bool) -> None:
    found = nested_hints(VERSIONS.format(row=row, next=following), "-O3")
    assert ("failing-check" in [hint.rule for hint in found]) == fails


def test_rows_of_an_unknown_length_may_be_too_short_for_vectors() -> None:
    rows = VERSIONS.format(row="movq %rdi, %r8\nleaq -4(%rdi), %rsi", next="leaq (%rdi,%rcx,4), %rdi")
    assert not nested_hints(f"popcntq %rcx, %rcx\n{rows}", "-O3")


SUMS = """\
.L1:
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
.L2:
	vaddsd	(%rdi,%rax,8), %xmm0, %xmm0
	incq	%rax
	cmpq	%rdx, %rax
	jne	.L2
	vmovsd	%xmm0, (%rcx)
	addq	$8, %rcx
	leaq	(%rdi,%rdx,8), %rdi
	decq	%r8
	jne	.L1
"""


def test_gain_for_the_iterations_that_are_stated() -> None:
    def sums(compiler: str, trips: str = "") -> list[t.Hint]:
        arguments = ("-O3", "-march=znver4")
        return [
            h
            for h in nested_hints(SUMS, *arguments, compiler=compiler, trips=trips, cpu="znver4")
            if h.rule == "sum-chain"
        ]

    (unstated,) = sums(CLANG)
    assert "if the loop has at least 32 iterations" in unstated.text
    (long,) = sums(CLANG, "inner=200,outer=10")
    assert long.text.endswith("times as fast with 200 iterations.")
    assert 1 < (long.gain or 0) < (unstated.gain or 0)
    # Vectors do 32 at once with clang and 8 with gcc, and short sums overlap.
    assert sums(CLANG, "inner=27,outer=10") == []
    assert sums("gcc 13.2.0", "inner=5,outer=10") == []
    assert sums("gcc 13.2.0", "inner=32,outer=10") != []
