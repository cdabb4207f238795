"""Whole calls: trip counts as options, the simulated sequence, and calls that are too long to simulate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.core.analysis import analyze_kernel
from incc.core.calls import call_cycles
from incc.driver import calls
from incc.driver.pipeline import analyze_units
from incc.driver.settings import CoreSettings, KernelSettings, Scope, Settings
from incc.frontends.asm.call_path import WantedTrips, parse_trips
from incc.frontends.unit import Unit
from incc.frontends.x86.kernels import decode_bytes
from incc.models.loading import load
from incc.report import types as t
from properties import examples

# Four doubles an iteration, then what is left over one by one.
SCALE = """
scale:
	testq	%rsi, %rsi
	jle	.Lend
	movq	%rsi, %rax
	shrq	$2, %rax
	je	.Lrest
	salq	$5, %rax
	xorl	%edx, %edx
.Lmain:
	vmulpd	(%rdi,%rdx), %ymm0, %ymm1
	vmovupd	%ymm1, (%rdi,%rdx)
	addq	$32, %rdx
	cmpq	%rax, %rdx
	jne	.Lmain
.Lrest:
	movq	%rsi, %rax
	andq	$-4, %rax
	cmpq	%rax, %rsi
	je	.Lend
.Lscalar:
	vmulsd	(%rdi,%rax,8), %xmm0, %xmm1
	vmovsd	%xmm1, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rsi, %rax
	jne	.Lscalar
.Lend:
	ret
"""
# Sums rows of a matrix: rdi rows of rsi doubles at rdx.
ROWS = """
rows:
	vxorpd	%xmm0, %xmm0, %xmm0
.Lrow:
	xorl	%eax, %eax
.Lcolumn:
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	addq	$1, %rax
	cmpq	%rsi, %rax
	jne	.Lcolumn
	leaq	(%rdx,%rsi,8), %rdx
	subq	$1, %rdi
	jne	.Lrow
	ret
"""
# Sums r8 doubles with four vectors, which are zero when a call begins.
SUM = """
sum:
	testq	%r8, %r8
	jle	.Lnone
	leaq	-8(,%r8,8), %rax
	vxorpd	%xmm3, %xmm3, %xmm3
	andq	$-128, %rax
	vmovapd	%ymm3, %ymm0
	vmovapd	%ymm3, %ymm2
	vmovapd	%ymm3, %ymm1
	leaq	128(%rdi,%rax), %rax
	.p2align 4
.Lsum:
	vaddpd	(%rdi), %ymm1, %ymm1
	vaddpd	32(%rdi), %ymm2, %ymm2
	subq	$-128, %rdi
	vaddpd	-64(%rdi), %ymm0, %ymm0
	vaddpd	-32(%rdi), %ymm3, %ymm3
	cmpq	%rdi, %rax
	jne	.Lsum
	vaddpd	%ymm3, %ymm0, %ymm0
	vaddpd	%ymm2, %ymm1, %ymm1
	vaddpd	%ymm1, %ymm0, %ymm0
	vmovapd	%ymm0, (%rcx)
	vzeroupper
.Lnone:
	ret
"""
# Fills memory, a line an iteration.
FILL = """
fill:
	testq	%r8, %r8
	jle	.Lfull
	leaq	-8(,%r8,8), %rax
	andq	$-64, %rax
	leaq	64(%rdi,%rax), %rax
.Lfill:
	vmovapd	%ymm0, (%rdi)
	vmovapd	%ymm0, 32(%rdi)
	addq	$64, %rdi
	cmpq	%rax, %rdi
	jne	.Lfill
.Lfull:
	ret
"""


def passes(text: str, *data: int | str, core: str = "znver4") -> list[t.DataPass]:
    settings = Settings(core=CoreSettings(mcpu=core), kernel=KernelSettings(data=data))
    kernels = analyze_units([Unit(assembly=text, assembly_file="a.s")], settings).units[0].kernels
    return [one for kernel in kernels if kernel.data for one in kernel.data.passes]


def call(text: str, core: str = "znver4", **trips: int) -> t.CallReport:
    unit = Unit(assembly=text, assembly_file="a.s")
    settings = Settings(scope=Scope(trips=WantedTrips(**trips)), core=CoreSettings(mcpu=core))
    (one,) = analyze_units([unit], settings).units[0].calls or ()
    return one


# --- the option -------------------------------------------------------------------------------------------------------


@given(
    st.integers(1, 10**9),
    st.integers(1, 10**9),
    st.dictionaries(st.integers(1, 99999), st.integers(1, 999), max_size=3),
)
def test_trip_counts_are_read_as_written(inner: int, outer: int, lines: dict[int, int]) -> None:
    parts = [f"inner={inner}", f"outer={outer}", *(f"{line}={count}" for line, count in lines.items())]
    assert parse_trips(",".join(parts)) == WantedTrips(inner=inner, outer=outer, lines=lines)
    assert parse_trips(str(inner)) == WantedTrips(inner=inner)


@pytest.mark.parametrize(
    "text", ["", "x", "0", "-1", "27,3", "inner=", "inner=2,inner=3", "rows=3", "0=3", "=3", "1000000001", "2.5", "³"]
)
def test_other_trip_counts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is a number of iterations|names loops by"):
        parse_trips(text)


# --- calls ------------------------------------------------------------------------------------------------------------


def test_a_call_goes_through_main_loop_and_remainder() -> None:
    one = call(SCALE, inner=27)
    assert not one.reason
    assert [(loop.role, loop.iterations) for loop in one.loops] == [("main", 6), ("remainder", 3)]
    assert one.elements == 27
    assert one.cycles_per_element == pytest.approx(one.cycles / 27, abs=1e-4)
    assert one.inputs == {"rsi": 27}
    assert one.mispredictions == 0
    assert one.text[0].startswith(f"{one.cycles:g} cycles a call, ")


def test_few_elements_go_past_the_main_loop() -> None:
    assert [(loop.role, loop.iterations) for loop in call(SCALE, inner=3).loops] == [("remainder", 3)]
    assert [(loop.role, loop.iterations) for loop in call(SCALE, inner=8).loops] == [("main", 2)]


def test_calls_of_nests_are_one_sequence() -> None:
    one = call(ROWS, inner=5, outer=10)
    assert [(loop.entries, loop.iterations) for loop in one.loops] == [(10, 50)]
    assert one.elements == 50
    # The chain goes through all rows, and the calls' chains overlap.
    assert one.cycles <= 50 * 3
    assert call(ROWS, inner=5, outer=11).cycles >= one.cycles


@pytest.mark.parametrize("trips", [{"inner": 3000}, {"inner": 3003}, {"inner": 9999}])
def test_long_calls_take_what_all_their_iterations_take(trips: dict[str, int], monkeypatch: pytest.MonkeyPatch) -> None:
    quick = call(SCALE, **trips)
    monkeypatch.setattr(calls, "WINDOW", 10**6)
    whole = call(SCALE, **trips)
    assert quick.cycles == pytest.approx(whole.cycles, rel=0.01, abs=3)
    for name in ("elements", "instructions", "mispredictions", "loops_cycles"):
        assert getattr(quick, name) == getattr(whole, name)
    assert [loop.iterations for loop in quick.loops] == [loop.iterations for loop in whole.loops]


def test_long_nests_too(monkeypatch: pytest.MonkeyPatch) -> None:
    quick = call(ROWS, inner=7, outer=500)
    monkeypatch.setattr(calls, "WINDOW", 10**6)
    whole = call(ROWS, inner=7, outer=500)
    assert quick.cycles == pytest.approx(whole.cycles, rel=0.02)
    assert (quick.elements, quick.instructions) == (whole.elements, whole.instructions)


# Rows 0 to n - 1 of a lower triangle.
TRIANGLE = """
triangle:
	xorl	%ecx, %ecx
.Lrow:
	xorl	%eax, %eax
.Lcolumn:
	vaddsd	(%rdx,%rax,8), %xmm0, %xmm0
	addq	$1, %rax
	cmpq	%rcx, %rax
	jbe	.Lcolumn
	addq	$1, %rcx
	cmpq	%rdi, %rcx
	jne	.Lrow
	ret
"""


def test_the_rows_of_long_triangles_are_not_alike() -> None:
    one = call(TRIANGLE, inner=1, outer=150)
    assert [loop.iterations for loop in one.loops] == [150 * 151 // 2]
    assert "more than 100,000 instructions" in call(TRIANGLE, inner=1, outer=5000).reason


def test_exits_that_a_core_does_not_foresee_cost() -> None:
    foreseen = call(SCALE, inner=4 * 300)
    missed = call(SCALE, inner=4 * 301)
    assert (foreseen.mispredictions, missed.mispredictions) == (0, 1)
    assert missed.misprediction_cycles > 0
    assert missed.cycles > foreseen.cycles
    assert any(sentence.startswith("1 loop exit is mispredicted, which costs") for sentence in missed.text)


def test_where_that_is_unknown_the_cost_is_told_apart() -> None:
    one = call(SCALE, "skylake", inner=400)
    assert not one.mispredictions_counted
    assert any("which is not known" in sentence for sentence in one.text)


def test_from_some_length_on_a_call_is_near_its_loop() -> None:
    near = call(SCALE, inner=27).near_trips
    assert near is not None
    endless = call(SCALE, inner=10**6).cycles_per_element or 0
    for trips in (near - near % 4 + 4, 2 * near, 5 * near, 50 * near):
        assert (call(SCALE, inner=trips).cycles_per_element or 0) <= 1.11 * endless
    assert (call(SCALE, inner=max(4, near // 8 * 4)).cycles_per_element or 0) > 1.1 * endless
    assert call(ROWS, inner=27, outer=3).near_trips is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (SCALE.replace("ret", "jmp .Lend"), ""),
        ("f:\n.L1:\n\taddq $1, %rax\n\tfrobnicate %rax\n\tdecq %rdi\n\tjne .L1\n\tret\n", "could not be read"),
    ],
)
def test_functions_that_cannot_be_followed_have_a_reason(text: str, reason: str) -> None:
    one = call(text, inner=8)
    assert one.reason
    assert reason in one.reason


@examples(30)
@given(st.integers(1, 40), st.data())
def test_mispredictions_never_make_a_call_faster(iterations: int, data: st.DataObject) -> None:
    loop = decode_bytes(bytes.fromhex("4883c001480fafc848ffcf75f3"))
    code = replace(loop, instructions=loop.instructions * iterations)
    branches = range(3, 4 * iterations, 4)
    missed = data.draw(st.lists(st.sampled_from(branches), unique=True, max_size=3))
    model = load("skylake")
    found = call_cycles(code, model, missed)
    assert found.cycles >= found.foreseen
    assert found.foreseen >= analyze_kernel(loop, model).bounds.port * iterations - 1
    if missed:
        assert found.cycles >= len(missed) * int(model.parameters["mispredict_penalty"])


def test_each_main_loop_alone_in_its_function_has_the_length_of_near_calls() -> None:
    def lengths(*functions: str) -> list[int | None]:
        unit = Unit(assembly="".join(functions), assembly_file="a.s")
        settings = Settings(scope=Scope(near_trips=True), core=CoreSettings(mcpu="znver4"))
        kernels = analyze_units([unit], settings).units[0].kernels
        return [kernel.elements and kernel.elements.near_trips for kernel in kernels if not kernel.role.of]

    copies = [f"\t.type f{n}, @function" + SCALE.replace("scale", f"f{n}").replace(".L", f".L{n}") for n in range(9)]
    (near,) = lengths(SCALE)
    assert near == call(SCALE, inner=27).near_trips
    assert lengths(*copies[:3]) == [near] * 3
    assert lengths(*copies) == [None] * 9


# --- versions for strides ---------------------------------------------------------------------------------------------

# Sums rsi doubles that are rdx doubles apart. The first loop takes neighbours, the others any distance.
STRIDES = """
	.file	1 "x.c"
	.type	strides, @function
strides:
	.loc	1 2 3
	xorl	%eax, %eax
	vxorpd	%xmm0, %xmm0, %xmm0
	{before}
.Lvector:
	vaddpd	(%rdi,%rax,8), %ymm0, %ymm0
	addq	$4, %rax
	cmpq	%rsi, %rax
	jb	.Lvector
	{between}
.Lscalar:
	leaq	(,%rdx,8), %rcx
.Ltwo:
	vaddsd	(%rdi), %xmm0, %xmm0
	vaddsd	(%rdi,%rcx), %xmm0, %xmm0
	leaq	(%rdi,%rcx,2), %rdi
	addq	$2, %rax
	leaq	1(%rax), %r8
	cmpq	%rsi, %r8
	jb	.Ltwo
	cmpq	%rsi, %rax
	jae	.Lend
.Lone:
	vaddsd	(%rdi), %xmm0, %xmm0
	addq	%rcx, %rdi
	addq	$1, %rax
	cmpq	%rsi, %rax
	jb	.Lone
.Lend:
	ret
"""
CHECKED = "cmpq $1, %rdx\njne .Lscalar"


def kernels_of(before: str, between: str, **more: bool) -> list[t.KernelReport]:
    unit = Unit(assembly=STRIDES.format(before=before, between=between), assembly_file="a.s")
    settings = Settings(core=CoreSettings(mcpu="skylake-avx512"), kernel=KernelSettings(timeline_iterations=0, **more))
    return analyze_units([unit], settings).units[0].kernels


@pytest.mark.parametrize("what_ifs", [True, False])
def test_the_main_loop_is_not_the_version_for_a_stride_of_1(what_ifs: bool) -> None:
    vector, two, one = kernels_of(CHECKED, "jmp .Lend", what_ifs=what_ifs)
    assert [each.role.name for each in (vector, two, one)] == ["fallback", "main", "remainder"]
    assert {each.role.of for each in (vector, one)} == {two.kernel_id}
    assert vector.role.text.endswith(" for a stride of 1")
    assert not vector.hints


@pytest.mark.parametrize(
    ("before", "between"),
    [
        ("", ""),  # both loops run
        ("", "jmp .Lend"),  # the first one always runs
        ("cmpq $2, %rdx\njne .Lscalar", "jmp .Lend"),  # compilers make no such versions
        ("cmpq $1, %rsi\njne .Lscalar", "jmp .Lend"),  # for few elements
        ("vptest %xmm3, %xmm3\njne .Lscalar", "jmp .Lend"),  # unknown
    ],
)
def test_other_conditions_are_not_about_a_stride(before: str, between: str) -> None:
    assert not any(each.role.text.endswith("stride of 1") for each in kernels_of(before, between))


# --- passes through data of a known size ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "size", "measured"),
    [
        ("znver4", 8192, 172.8),
        ("znver4", 16384, 363.5),
        ("znver4", 24576, 553.0),
        ("znver4", 32768, 742.4),
        ("znver5", 1024, 17.7),
        ("znver5", 2048, 33.4),
        ("znver5", 4096, 64.8),
        ("znver5", 8192, 127.6),
    ],
)
def test_passes_take_what_was_measured(core: str, size: int, measured: float) -> None:
    # On Zen 4, a pass begins while the sums of the one before are not finished: 1.5 cycles a line are the loop's.
    (one,) = passes(SUM, size, core=core)
    assert one.iterations == size // 128
    assert one.cycles == pytest.approx(measured, rel=0.03)
    assert one.cycles - one.beyond_loop == pytest.approx(size // 128 * (3 if core == "znver4" else 2))


@pytest.mark.parametrize(
    ("lines", "measured"),
    [(96, 95.6), (144, 170.2), (160, 186.5), (192, 218.6), (256, 280.2), (384, 404.3), (512, 534.7)],
)
def test_mispredicted_exits_take_what_was_measured(lines: int, measured: float) -> None:
    # Zen 5 foresees the exit up to 128 iterations.
    (one,) = passes(FILL, 64 * lines, core="znver5")
    assert one.cycles == pytest.approx(measured, rel=0.03)
    assert (one.misprediction_cycles > 20) == (lines > 128)


def test_a_pass_is_a_call_that_goes_through_the_data() -> None:
    (one,) = passes(SCALE, 8192)
    assert one.iterations == 256
    assert one.cycles == call(SCALE, inner=1024).cycles
    assert one.text.startswith(
        f"With 8,192 bytes of data, calls of the function run the loop 256 times and take {one.cycles:g}"
    )
    # Without known elements, the count of iterations is that of the loop all the same.
    assert [each.iterations for each in passes(FILL, 64, 8192, 32768)] == [1, 128, 512]
    # From 300 iterations on, Zen 4 mispredicts the exit; of Skylake, nobody knows.
    short, long = passes(FILL, 8192, 32768)
    assert not short.misprediction_cycles
    assert long.mispredictions_counted
    (unknown,) = passes(SUM, 16384, core="skylake")
    assert not unknown.mispredictions_counted
    assert unknown.text.endswith("more if the core mispredicts the exit, which is not known")


@pytest.mark.parametrize(
    ("text", "data"),
    [
        (SUM, (65536,)),
        (SUM, ("L1",)),
        (SUM, (64,)),  # less than an iteration
        (FILL.replace("vmovapd", "vmovntpd"), (8192,)),
        (ROWS, (8192,)),
        (SUM.replace("(%rdi)", "(%rdi,%r9)").replace("vaddpd\t32", "movq (%r9), %r9\n\tvaddpd 32"), (8192,)),
        (FILL.replace("ret", "") + "\txorl %eax, %eax\n" + SUM.split("sum:", 1)[1], (8192,)),  # two loops
    ],
)
def test_other_data_and_functions_have_no_passes(text: str, data: tuple[int | str, ...]) -> None:
    assert passes(text, *data) == []
