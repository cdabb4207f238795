"""Ranges of predictions: what is taken for possible, both ends, and the sentences; and the verdicts beside them."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest
from generated_kernels import some_statements
from hypothesis import given
from hypothesis import strategies as st

from bind_kernels import kernel as straight
from bind_kernels import loop
from incc.core.analysis import KernelSettings, analyze_kernel
from incc.core.dataflow import COUNTED, DATA, INVARIANT, dataflow
from incc.core.places import ArrayPlaces
from incc.core.ranges import find_range
from incc.driver.pipeline import analyze_bytes, analyze_units
from incc.frontends.isa import isa
from incc.frontends.unit import Unit
from incc.models.loading import load
from incc.report import types as t
from properties import examples
from settings_fixtures import settings_with


def report(body: str, core: str = "skylake", **settings: Any) -> t.KernelReport:
    """The report on a loop, whose first line is 2."""
    text = f".L1:\n{body}\n\tdecq %r15\n\tjne .L1\n"
    asked = settings_with(mcpu=core, regions="loops", timeline_iterations=0, **settings)
    (kernel,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], asked).units[0].kernels
    return kernel


def causes(body: str, core: str = "skylake", **settings: Any) -> dict[str, t.RangeCauseReport]:
    found = report(body, core, **settings).range
    return {cause.kind: cause for cause in found.causes} if found else {}


# --- aliasing ---------------------------------------------------------------------------------------------------------

HISTOGRAM = "\tmovzbl (%rsi), %eax\n\taddq $1, %rsi\n\taddl $1, (%rdi,%rax,4)"


def test_a_histogram_may_hit_the_same_bin_again() -> None:
    kernel = report(HISTOGRAM)
    (cause,) = kernel.range.causes
    assert cause.kind == "aliasing"
    assert cause.least == kernel.cycles == kernel.range.least
    # From the store of the sum to the next one: forwarded, and one cycle for the addition.
    assert cause.most == load("skylake").parameters["store_forward"]["gpr"] + 1
    least = f"{kernel.cycles:.2f}".rstrip("0")
    meeting = "line 4 accesses the same address as in the previous iteration"
    assert kernel.range.text == f"{least} to 6 cycles depending on data: 6 if {meeting}"


def test_a_renamer_hands_on_counts_of_repeated_keys_but_not_of_alternating_ones() -> None:
    body = "\tmovslq (%rsi), %rax\n\taddq $4, %rsi\n\taddl $1, (%rdi,%rax,4)"
    cause = causes(body, "znver4")["aliasing"]
    assert (cause.most, report(body, "znver4").range.most) == (3.5, 3.5)
    assert "as two iterations before" in report(body, "znver4").range.text
    # Vectors and bytes are not renamed.
    assert causes(body.replace("addl $1,", "addb $1,"), "znver4")["aliasing"].most == 7


def test_unrolled_each_waits_for_the_one_before() -> None:
    body = "\n".join(f"\tmovzbl {n}(%rsi), %eax\n\tincl (%rdi,%rax,4)" for n in range(4)) + "\n\taddq $4, %rsi"
    assert causes(body)["aliasing"].most == 4 * 6


@pytest.mark.parametrize(
    "body",
    [
        # a[index[i]] = 2 * a[i], the array a symbol, an array of pointers
        "\tmovss (%rdi,%rcx,4), %xmm0\n\taddss %xmm0, %xmm0\n\tmovslq (%rsi,%rcx,4), %rax\n"
        "\tmovss %xmm0, (%rdi,%rax,4)\n\tincq %rcx",
        "\tmovslq (%rsi), %rax\n\taddq $4, %rsi\n\taddl $3, histogram(,%rax,4)",
        "\tmovq (%rsi), %rax\n\taddq $8, %rsi\n\taddq $1, 8(%rax)",
        # the index is worked out before, or is part of a pointer
        "\tmovl (%rsi), %eax\n\taddq $4, %rsi\n\tandl $255, %eax\n\taddl $1, (%rdi,%rax,4)",
        "\tmovl (%rsi), %eax\n\taddq $4, %rsi\n\tleaq (%rdi,%rax,4), %rdx\n\taddl $1, (%rdx)",
    ],
)
def test_what_may_be_the_same_place(body: str) -> None:
    assert causes(body)["aliasing"].most > causes(body)["aliasing"].least


@pytest.mark.parametrize(
    "body",
    [
        # y[index[i]] = x[i]: other pointers
        "\tmovss (%rbx,%rcx,4), %xmm0\n\tmovslq (%rsi,%rcx,4), %rax\n\tmovss %xmm0, (%rdi,%rax,4)\n\tincq %rcx",
        # what is at known distances, also of unknown rows
        "\tmovss (%rdi,%rcx,4), %xmm0\n\tmovss %xmm0, 4(%rdi,%rcx,4)\n\tincq %rcx",
        "\tmovss (%rdi,%rcx,4), %xmm0\n\tmovss %xmm0, (%rbx,%rcx,4)\n\tincq %rcx",
        # a list's next node is another one
        "\taddq $1, 8(%rdi)\n\tmovq (%rdi), %rdi",
        # a ring buffer comes to the same place only after a round
        "\tmovl (%rdi,%rax,4), %ebx\n\tmovl %ebx, (%rdi,%rax,4)\n\tincq %rax\n\tandl $255, %eax",
        # other tables with the same base, and something spilled beside an array on the stack
        "\tmovzbl (%rsi), %eax\n\tmovl (%rdi,%rax,4), %ebx\n\tmovzbl 1(%rsi), %ecx\n\tmovl %ebx, 1024(%rdi,%rcx,4)\n"
        "\taddq $2, %rsi",
        "\tmovzbl (%rsi), %eax\n\tmovq 512(%rsp), %rbx\n\tmovl %ebx, (%rsp,%rax,4)\n\taddq $1, %rsi",
    ],
)
def test_what_is_not_taken_for_the_same_place(body: str) -> None:
    assert "aliasing" not in causes(body)


def test_an_array_is_named_where_the_assembly_does() -> None:
    text = report("\tmovslq (%rsi), %rax\n\taddq $4, %rsi\n\taddl $3, histogram(,%rax,4)").range.text
    assert "the same element of `histogram` as" in text


# --- stores that are not forwarded ------------------------------------------------------------------------------------

TWO_STORES = "\tmovl %eax, (%rdi)\n\tmovl %edx, 4(%rdi)\n\tmovq (%rdi), %rbx\n\taddq $8, %rdi"


def test_a_wide_load_of_narrow_stores_is_in_the_prediction() -> None:
    kernel = report(TWO_STORES)
    parameters = load("skylake").parameters
    assert kernel.cycles == parameters["store_forward"]["gpr"] + parameters["blocked_forward_cycles"]
    assert "line 4 loads 8 bytes, but line 3 stores only 4 of them, so store forwarding fails" in kernel.verdict
    assert "forwarding" not in causes(TWO_STORES)


def test_where_nobody_has_measured_the_wait_there_is_no_end() -> None:
    kernel = report(TWO_STORES, "gracemont")
    assert kernel.range.most is None
    assert kernel.range.least == kernel.cycles
    (cause,) = kernel.range.causes
    assert (cause.kind, cause.most, cause.instructions) == ("forwarding", None, [1, 2])


@pytest.mark.parametrize(
    "body",
    [
        "\tmovq %rax, (%rdi)\n\tmovq (%rdi), %rbx",
        "\tmovq %rax, (%rdi)\n\tmovl 4(%rdi), %ebx",
        "\tmovl %eax, 8(%rdi)\n\tmovq (%rdi), %rbx",
        "\taddq %rax, (%rdi)",
        "\tmovl %eax, (%rdi)\n\tvmovups (%rdi), %zmm0{%k1}{z}",
        # Far enough apart that the store is in the cache.
        "\tmovl %eax, (%rdi)\n" + "\tnop\n" * 300 + "\tmovq (%rdi), %rbx\n" + "\tnop\n" * 300,
    ],
)
@pytest.mark.parametrize("core", ["skylake-avx512", "gracemont"])
def test_what_is_forwarded_or_far_away(body: str, core: str) -> None:
    kernel = report(body, core)
    assert "cannot be forwarded" not in kernel.verdict
    assert "forwarding" not in {cause.kind for cause in (kernel.range.causes if kernel.range else [])}


# --- where arrays begin -----------------------------------------------------------------------------------------------


def test_a_stencil_crosses_lines_by_where_its_arrays_begin() -> None:
    loads = "\n".join(f"\tvmovups {d}(%rsi,%rax), %ymm{n}" for n, d in enumerate((-8, 0, 8)))
    kernel = report(loads + "\n\taddq $32, %rax")
    (cause,) = kernel.range.causes
    assert cause.kind == "line-crossings"
    assert cause.least <= kernel.cycles < cause.most
    assert cause.least * 2 == pytest.approx(3 + kernel.memory.line_crossings, rel=0.1)
    assert cause.most * 2 >= 3 + kernel.memory.worst_line_crossings
    assert "depending on array alignment" in cause.when


COPY = "\tmovq (%rsi,%rax), %rcx\n\tmovq %rcx, (%rdi,%rax)\n\taddq $8, %rax"


def test_loads_may_agree_with_stores_in_the_bits_that_are_compared() -> None:
    kernel = report(COPY, "haswell")
    (cause,) = kernel.range.causes
    assert cause.kind == "4k-aliasing"
    assert cause.least == kernel.cycles == kernel.range.least < cause.most
    assert cause.instructions == [0, 1]
    assert "modulo 4 KiB" in cause.when
    assert kernel.range.text == cause.when


@pytest.mark.parametrize(
    ("body", "core"),
    [
        (COPY, "znver5"),  # where one store costs nothing
        (COPY, "gracemont"),  # of which nothing is known
        (COPY.replace("%rdi", "%rsi"), "haswell"),
        ("\tmovq (%rsi,%rax), %rcx\n\taddq $8, %rax", "haswell"),
        ("\tmovq (%rsi,%rax), %rcx\n\tmovq %rcx, (%rdi,%rax,2)\n\taddq $8, %rax", "haswell"),
        ("\tmovq (%rsi), %rcx\n\tmovq %rcx, (%rdi)", "haswell"),  # at fixed places
    ],
)
def test_nothing_is_said_of_loads_that_hardly_agree_with_stores(body: str, core: str) -> None:
    assert "4k-aliasing" not in causes(body, core)


def test_values_of_registers_tell_if_loads_agree_with_stores() -> None:
    apart = report(COPY, "haswell", let=(("rsi", 0x10000), ("rdi", 0x20400)))
    assert apart.cycles == report(COPY, "haswell").cycles
    assert apart.range is None
    close = report(COPY, "haswell", let=(("rsi", 0x10000), ("rdi", 0x20010)))
    assert close.cycles > 1.5 * apart.cycles
    assert "4k-aliasing" in {change.change for change in close.what_ifs if change.cycles < close.cycles}
    (advice,) = [hint for hint in close.hints if hint.rule == "distance-of-arrays"]
    assert advice.evidence == {"loads": [0], "stores": [1]}
    assert advice.gain == pytest.approx(close.cycles / apart.cycles, rel=0.01)
    assert "distance-of-arrays" not in {hint.rule for hint in apart.hints}


PAIRS_OF_BODIES = """
vmovupd (%r10), %xmm7
vmovsd 16(%r10), %xmm8
vsubpd %xmm6, %xmm7, %xmm7
vsubsd %xmm5, %xmm8, %xmm8
vmulpd %xmm7, %xmm7, %xmm9
vshufpd $1, %xmm9, %xmm9, %xmm9
vfmadd231sd %xmm7, %xmm7, %xmm9
vfmadd231sd %xmm8, %xmm8, %xmm9
vaddsd %xmm2, %xmm9, %xmm9
vmovsd 48(%r10), %xmm10
vsqrtsd %xmm9, %xmm9, %xmm11
vmovupd 56(%r10), %xmm12
vmulsd %xmm11, %xmm9, %xmm9
vsubpd %xmm6, %xmm12, %xmm11
vmovsd 72(%r10), %xmm12
vsubsd %xmm5, %xmm12, %xmm12
vmulpd %xmm11, %xmm11, %xmm13
vdivsd %xmm9, %xmm10, %xmm9
vshufpd $1, %xmm13, %xmm13, %xmm10
vfmadd231sd %xmm11, %xmm11, %xmm10
vfmadd231sd %xmm12, %xmm12, %xmm10
vaddsd %xmm2, %xmm10, %xmm10
vsqrtsd %xmm10, %xmm10, %xmm13
vfmadd231sd %xmm8, %xmm9, %xmm3
vmulsd %xmm13, %xmm10, %xmm8
vmovsd 104(%r10), %xmm10
vdivsd %xmm8, %xmm10, %xmm8
vmovddup %xmm9, %xmm9
vfmadd213pd %xmm4, %xmm7, %xmm9
vmovddup %xmm8, %xmm4
vfmadd213pd %xmm9, %xmm11, %xmm4
vfmadd231sd %xmm12, %xmm8, %xmm3
addq $112, %r10
"""
"""Two iterations over structures of 56 bytes: as many loads cross lines for every place of the array, but others."""


def test_a_range_without_a_number_of_crossings_names_the_alignment_alone() -> None:
    kernel = report(PAIRS_OF_BODIES, "znver4")
    assert re.match(r"\S+ to \S+ cycles depending on array alignment; ", kernel.range.text)


@pytest.mark.parametrize(
    ("text", "aligned"),
    [
        ("movaps {}(%rsi,%rax), %xmm{}", True),
        ("pshufd $1, {}(%rsi,%rax), %xmm{}", True),
        ("movups {}(%rsi,%rax), %xmm{}", False),
        ("vaddps {}(%rsi,%rax), %xmm9, %xmm{}", False),
        ("vmovaps {}(%rsi,%rax), %ymm{}", True),
    ],
)
def test_vectors_that_have_to_be_aligned_cross_no_line(text: str, aligned: bool) -> None:
    found = causes("\n".join("\t" + text.format(32 * n, n) for n in range(4)) + "\n\taddq $128, %rax")
    assert ("line-crossings" not in found) == aligned


VECTORS = {16: "%xmm", 32: "%ymm", 64: "%zmm"}


@pytest.mark.parametrize(
    ("size", "count", "loads", "cycles"),
    [
        # Measured on a Zen 4, aligned and 8 bytes off (docs/models.md).
        *((size, 4, True, ends) for size, ends in ((16, (2.0, 3.0)), (32, (2.0, 4.0)), (64, (4.0, 7.0)))),
        *((size, 4, False, ends) for size, ends in ((32, (4.0, 5.08)), (64, (8.0, 10.17)))),
    ],
)
def test_both_ends_of_streams_on_zen_4(size: int, count: int, loads: bool, cycles: tuple[float, float]) -> None:
    lines = [f"{size * n}(%rsi), {VECTORS[size]}{n}".split(", ") for n in range(count)]
    body = "\n".join("\tvmovups " + ", ".join(line if loads else reversed(line)) for line in lines)
    kernel = report(f"{body}\n\taddq ${count * size}, %rsi", "znver4")
    assert kernel.range.least == pytest.approx(cycles[0], rel=0.02)
    assert cycles[1] * 0.98 <= kernel.range.most <= cycles[1] * 1.4  # 64 bytes downwards: 13.7
    assert kernel.range.least <= kernel.cycles < kernel.range.most
    (cause,) = kernel.range.causes
    assert "arrays at multiples of 16 bytes, as from malloc" in cause.when
    assert ("stores cross cache lines and pages" in cause.when) == (not loads)


def test_arrays_are_aligned_for_machine_code_and_for_measurements() -> None:
    body = "vmovups (%rsi), %ymm0\nvmovups (%rdi), %ymm1\naddq $32, %rsi\naddq $32, %rdi"
    code = b"".join(i.encoding for i in loop(f"l:\n{body}\ndecq %r15\njne l").instructions)
    settings = settings_with(mcpu="znver4")
    (kernel,) = analyze_bytes(Unit(assembly="", assembly_file="x.hex"), [("x", code)], settings).results
    assert kernel.settings.arrays == "aligned"
    assert kernel.cycles == report("\t" + body.replace("\n", "\n\t"), "znver4").range.least


@pytest.mark.parametrize("address", ["(%rsp,%rax)", "table(%rax)"])
def test_the_stack_and_symbols_are_aligned(address: str) -> None:
    shifted = "64" + address if address.startswith("(") else address.replace("(", "+64(")
    body = f"\tvmovups {address}, %ymm0\n\tvmovups %ymm0, {shifted}\n\taddq $32, %rax"
    assert "line-crossings" not in causes(body, "znver4")


def test_where_the_front_end_is_slower_lines_do_not_matter() -> None:
    assert not causes("\tvmovups (%rsi,%rax), %ymm0\n" + "\tnop\n" * 12 + "\taddq $32, %rax")


# --- branches inside --------------------------------------------------------------------------------------------------


def branching(condition: str, inside: str = "\timulq $3, %rbx, %rbx\n" * 3) -> str:
    return f"{condition}\n\tje .L2\n{inside}.L2:\n\taddq $4, %rsi"


def test_the_ends_are_the_ways_and_what_misses_cost() -> None:
    kernel = report(branching("\tcmpl $0, (%rsi)"))
    (cause,) = kernel.range.causes
    ways = report(branching("\tcmpl $0, (%rsi)"), ways=("paths",))
    assert cause.kind == "branches"
    assert cause.least < kernel.cycles < cause.most
    penalty = load("skylake").parameters["mispredict_penalty"]
    cost = int(re.findall(r"costs about (\d+) cycles", cause.when)[0])
    # The load, and the comparison that waits for it.
    assert penalty + 5 + 1 <= cost <= penalty + 5 + 2
    assert cause.most == kernel.cycles + cost / 2
    assert ways.cycles == kernel.cycles
    assert any("no instruction is skipped (line 3 not taken)" in note for note in kernel.notes)


@pytest.mark.parametrize(
    ("condition", "says"),
    [
        ("\ttestl %edx, %edx", "tests a loop-invariant condition (the loop is not unswitched)"),
        ("\tcmpl $0, (%rsp)", "tests a loop-invariant condition"),
        ("\ttestb $1, %r15b", "depends on the iteration count, not on data"),
    ],
)
def test_what_does_not_depend_on_data_is_not_missed(condition: str, says: str) -> None:
    (cause,) = causes(branching(condition)).values()
    assert says in cause.when
    assert "wrong prediction" not in cause.when
    assert cause.most <= 9.01


def test_a_rate_of_misses_is_a_line_of_its_own() -> None:
    kernel = report(branching("\tcmpl $0, (%rsi)"), mispredict_rate=0.5)
    found = kernel.mispredictions
    assert found.total == kernel.cycles + 0.5 * found.miss_cycles * found.branches
    assert found.text.endswith(f"+ 0.5 × {found.miss_cycles:g}")
    assert found.text.startswith(f"{found.total:g} cycles if 50 % of the inner branches are mispredicted: ")
    assert report(branching("\ttestl %edx, %edx"), mispredict_rate=0.5).mispredictions is None
    assert report(branching("\tcmpl $0, (%rsi)")).mispredictions is None


def test_of_many_ways_the_shortest_and_the_longest_are_looked_at() -> None:
    diamonds = "\n".join(f"\tcmpl ${n}, (%rsi)\n\tje .L{n + 2}\n\timulq $3, %rbx, %rbx\n.L{n + 2}:" for n in range(4))
    kernel = report(diamonds + "\n\taddq $4, %rsi", core="znver4")
    text = f".L1:\n{diamonds}\n\taddq $4, %rsi\n\tdecq %r15\n\tjne .L1\n"
    asked = settings_with(mcpu="znver4", timeline_iterations=0, ways=("paths",))
    (ways,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], asked).units[0].ways or []
    assert len(ways.ways) == 16
    # The shortest jumps most often, which takes a cycle each time.
    by_length = sorted(ways.ways, key=lambda way: way.instructions)
    cycles = [way.cycles.cycles for way in (by_length[0], by_length[-1])]
    assert kernel.range.least == min(cycles) == 5
    assert (
        f"{min(cycles):.4g} to {max(cycles):.4g} cycles depending on the path (the shortest and the longest "
        "of many paths)" in kernel.range.text
    )


def test_many_branches_are_not_listed() -> None:
    tests = "\n".join(f"\tcmpl ${n}, (%rsi)\n\tje .L{n + 2}\n\timulq $3, %rbx, %rbx\n.L{n + 2}:" for n in range(9))
    (cause,) = causes(tests + "\n\taddq $4, %rsi").values()
    assert "9 branches in lines 3–35 depend on data" in cause.when


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        # x = x * a + c, also in two steps; a bit of what is shifted each time
        ("imull $1664525, %edx, %edx\naddl $1013904223, %edx\ntestl %edx, %edx", DATA),
        ("imull %edi, %edx\nmovl %edx, %ecx\nimull %edi, %ecx\nmovl %ecx, %edx\ntestl %ecx, %ecx", DATA),
        ("shrl $1, %edx\ntestl $1, %edx", DATA),
        ("leal (%r15,%r15,2), %edx\ntestl $4, %edx", COUNTED),
        ("movl %edi, %edx\nimull %esi, %edx\ntestl %edx, %edx", INVARIANT),
    ],
)
def test_what_a_condition_depends_on(body: str, kind: int) -> None:
    conditions = dataflow(loop(f"l:\n{body}\nje x\nx:\ndecq %r15\njne l")).conditions
    assert next(iter(conditions.values())) == kind


ROOT = """\tmovsd (%rsi), %xmm0
\tucomisd %xmm0, %xmm1
\tja .L2
\tsqrtsd %xmm0, %xmm0
.L3:
\tmovsd %xmm0, (%rsi)
\taddq $8, %rsi
\tdecq %r15
\tjne .L1
\tret
.L2:
\tcall sqrt
\tjmp .L3"""


def of_root(text: str = ROOT) -> t.KernelReport:
    asked = settings_with(mcpu="skylake", regions="loops", timeline_iterations=0, mispredict_rate=0.5)
    (kernel,) = analyze_units([Unit(assembly=f".L1:\n{text}\n", assembly_file="x.s")], asked).units[0].kernels
    return kernel


def test_what_calls_a_function_is_rare() -> None:
    kernel = of_root()
    assert kernel.range is None
    assert kernel.mispredictions is None
    assert kernel.notes[-1] == "calls of sqrt (line 13) are assumed to be rare, so they and their branches do not count"


NAN = """\
\tmovsd (%rsi), %xmm0
\tucomisd %xmm0, %xmm0
\tjp .L2
\tdivsd %xmm0, %xmm1
.L2:
\taddq $8, %rsi
\tcmpq %rsi, %rdi
\tjne .L1"""


@pytest.mark.parametrize("rest", ["", "\n\tcmpl $7, (%rdx)\n\tje .L2"])
def test_a_test_for_nans_is_cold_and_never_widens_the_range(rest: str) -> None:
    text = NAN.replace("\tdivsd", f"{rest[1:]}\n\tdivsd" if rest else "\tdivsd")
    kernel = of_root(text)
    counted = of_root(text.replace("\tjp ", "\tjb "))
    note = "the branch in line 4 to code for NaNs or in a section for unlikely code is assumed to be rare"
    assert note in kernel.notes
    assert note not in counted.notes
    ends = kernel.range or kernel.cycles
    assert (kernel.range is None) == (not rest)
    if kernel.range is not None:
        assert "2 paths" in kernel.range.text
        assert counted.range.least <= ends.least <= ends.most <= counted.range.most


def test_a_way_through_a_section_for_unlikely_code_is_cold() -> None:
    hot = (
        ".text\nf:\n.L1:\n\tmovl (%rsi), %eax\n\ttestl %eax, %eax\n\tjs .L3\n.L2:\n\taddl %eax, %ecx\n\taddq $4, %rsi\n"
    )
    end = "\tcmpq %rsi, %rdi\n\tjne .L1\n\tret\n"
    side = ".L3:\n\timull %eax, %eax\n\timull %eax, %eax\n\tjmp .L2\n"
    asked = settings_with(mcpu="skylake", regions="loops", timeline_iterations=0)
    for section, expected in (("\t.section .text.unlikely\n\t.type f.cold, @function\nf.cold:\n", True), ("", False)):
        unit = Unit(assembly=hot + end + section + side, assembly_file="x.s")
        (kernel,) = analyze_units([unit], asked).units[0].kernels
        assert (kernel.range is None) == expected
        assert any("section for unlikely code" in note for note in kernel.notes) == expected


def test_other_branches_beside_a_rare_call_count() -> None:
    kernel = of_root(ROOT.replace("\taddq", "\tcmpl $7, (%rsi)\n\tje .L4\n\timulq %rax, %rax\n.L4:\n\taddq"))
    (cause,) = kernel.range.causes
    assert cause.kind == "branches"
    assert "2 paths" in cause.when
    assert "line 9 depends on data" in cause.when
    assert kernel.mispredictions.branches == 1


def test_a_call_on_every_way_is_not_rare() -> None:
    kernel = of_root(ROOT.replace("\tsqrtsd %xmm0, %xmm0", "\tcall cbrt"))
    assert not any("rare" in note for note in kernel.notes)
    assert kernel.at_least


def test_closing_branches_and_exits_are_no_branches_inside() -> None:
    assert not causes("\tmovl (%rsi), %eax\n\taddq $4, %rsi\n\ttestl %eax, %eax\n\tje .Lout")


def test_conditions_are_told_apart() -> None:
    body = "\n".join(
        [
            *("l:", "movl (%rsi), %eax", "addq $4, %rsi", "cmpl %ebx, %eax", "jg x", "cmpl %ebx, %ecx", "jg x"),
            *("testb $3, %sil", "je x", "x:", "decq %rdx", "jne l"),
        ]
    )
    conditions = dataflow(loop(body)).conditions
    assert list(conditions.values()) == [DATA, INVARIANT, COUNTED, COUNTED]


# --- what is not counted ----------------------------------------------------------------------------------------------


def test_calls_make_it_at_least() -> None:
    kernel = report("\taddq $4, %rsi\n\tcall f")
    assert kernel.at_least
    assert kernel.range.most is None
    assert "at least" in kernel.verdict
    assert "the time of a call (line 3)" in kernel.range.text


def test_nothing_to_say() -> None:
    kernel = report("\taddq $4, %rsi")
    assert kernel.range is None
    assert not kernel.at_least
    assert "at least" not in kernel.verdict


# --- properties -------------------------------------------------------------------------------------------------------


# Indices that are loaded, of what is then read and written, at several sizes.
MEMORY = (
    *("movslq (%rsi), %rax", "movzbl (%rsi,%rcx), %eax", "incl (%rdi,%rax,4)", "movl %edx, (%rdi,%rax,4)"),
    *("movq (%rdi,%rax,4), %rbx", "movb %bl, 4(%rdi,%rax,4)", "vmovups (%rdi,%rcx), %ymm1", "addq $4, %rsi"),
    *("vmovups %xmm1, (%rdi,%rcx)", "addq $32, %rcx", "movq (%rax), %rax", "addq $1, 8(%rax)"),
)


@given(
    st.sampled_from(["skylake", "znver4", "sapphirerapids", "gracemont"]),
    st.lists(st.sampled_from(MEMORY), min_size=1, max_size=8),
    st.integers(0, 1000),
    st.sampled_from(["aligned", "likely"]),
)
@examples(60)
def test_the_prediction_is_within_its_range(core: str, memory: list[str], seed: int, arrays: ArrayPlaces) -> None:
    kernel = loop("\n".join(["l:", *memory, *some_statements(seed, 2), "decq %r15", "jne l"]))
    result = analyze_kernel(kernel, load(core), KernelSettings(what_ifs=True, arrays=arrays))
    found = find_range(result)
    if found is not None:
        assert found.least <= result.cycles
        assert found.most is None or found.most >= result.cycles
        for cause in found.causes:
            assert found.least <= cause.least
            assert cause.most is None or cause.least <= cause.most
    assert result.cycles == analyze_kernel(kernel, load(core), KernelSettings(arrays=arrays)).cycles


@pytest.mark.parametrize("names", [("rax", "rsi", "rdi"), ("r8", "r9", "r10"), ("rdx", "rbx", "r14")])
@pytest.mark.parametrize("core", ["skylake", "znver4"])
def test_names_of_registers_do_not_matter(core: str, names: tuple[str, str, str]) -> None:
    a, s, d = names
    body = f"\tmovq (%{s}), %{a}\n\taddq $8, %{s}\n\taddq $1, (%{d},%{a},8)"
    cause = causes(body, core)["aliasing"]
    usual = causes(body.replace(f"%{a}", "%rcx").replace(f"%{s}", "%r11").replace(f"%{d}", "%r12"), core)["aliasing"]
    assert (cause.least, cause.most, cause.when) == (usual.least, usual.most, usual.when)


# --- verdicts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "work"),
    [
        ("vshufps $1, %ymm0, %ymm1, %ymm2", "shuffles"),
        ("vpermpd $1, %ymm0, %ymm1", "shuffles"),
        ("vunpcklpd %ymm0, %ymm1, %ymm2", "shuffles"),
        ("vextractf128 $1, %ymm0, %xmm1", "shuffles"),
        ("vpmovzxbd %xmm0, %ymm1", "shuffles"),
        ("vcvtps2pd %xmm0, %ymm1", "conversions"),
        ("cvtsi2sd %rax, %xmm0", "conversions"),
        ("vhaddpd %ymm0, %ymm1, %ymm2", "horizontal operations"),
        ("vgatherdpd %ymm0, (%rdi,%xmm1,8), %ymm2", "gathers"),
        ("vfmadd231pd %ymm0, %ymm1, %ymm2", "FMAs"),
        ("addsd %xmm0, %xmm1", "floating-point additions"),
        ("vmulps %ymm0, %ymm1, %ymm2", "floating-point multiplications"),
        ("sqrtsd %xmm0, %xmm1", "square roots"),
        ("vmaxpd %ymm0, %ymm1, %ymm2", "maxima and minima"),
        ("vcmpltpd %ymm0, %ymm1, %ymm2", "vector comparisons"),
        ("vpcmpeqb %ymm0, %ymm1, %ymm2", "vector comparisons"),
        ("vandpd %ymm0, %ymm1, %ymm2", "vector logic"),
        ("vpaddd %ymm0, %ymm1, %ymm2", "vector additions"),
        ("vpmulld %ymm0, %ymm1, %ymm2", "integer multiplications"),
        ("vpsrld $3, %ymm1, %ymm2", "vector shifts"),
        ("vblendvpd %ymm0, %ymm1, %ymm2, %ymm3", "blends"),
        ("vpmovmskb %ymm0, %eax", "masks from vectors"),
        ("movq %rax, %xmm0", "moves between register files"),
        ("aesenc %xmm0, %xmm1", "cryptography"),
        ("kandw %k1, %k2, %k3", "mask operations"),
        ("imulq %rax, %rbx", "integer multiplications"),
        ("leaq 8(%rax,%rbx,4), %rcx", "address computations"),
        ("addq %rax, %rbx", "integer additions"),
        ("xorl %eax, %ebx", "logic"),
        ("shrl $3, %eax", "shifts"),
        ("cmovg %eax, %ebx", "conditional moves"),
        ("popcntq %rax, %rbx", "bit operations"),
        ("cmpq %rax, %rbx", "comparisons"),
        ("divq %rbx", "integer divisions"),
    ],
)
def test_kinds_of_work(text: str, work: str) -> None:
    (instruction,) = straight(text).instructions
    assert isa("x86").work_of(instruction) == work


def test_the_verdict_names_the_work_and_where_it_is() -> None:
    body = "\n".join(f"\tvcvtps2pd %xmm9, %ymm{n}\n\tvpermpd $27, %ymm{n}, %ymm{n}" for n in range(4))
    verdict = report(body).verdict
    assert re.match(r"bound by (shuffles|conversions) and (shuffles|conversions) on port 5 \(lines ", verdict)


def test_what_gains_nothing_is_not_advised() -> None:
    """Two limits that are as narrow as each other: neither is advised to be removed alone."""
    additions = "\n".join(f"\tvaddsd (%rsi), %xmm{n}, %xmm{n}" for n in range(8))
    kernel = report(additions)
    assert {"port", "loop_carried"} <= set(kernel.bounds.prediction.limited_by)
    assert "sum-chain" not in [hint.rule for hint in kernel.hints]
    assert kernel.verdict.startswith("bound equally by ")
    one = report("\tvaddsd (%rsi), %xmm0, %xmm0")
    assert "sum-chain" in [hint.rule for hint in one.hints]


def test_cycles_above_all_bounds_have_a_reason() -> None:
    kernel = report("\tmovq (%rax), %rax\n\tmovq (%rax), %rax\n" + "\tvsqrtsd %xmm1, %xmm2, %xmm3\n" * 9)
    limits = kernel.bounds.prediction.limited_by
    assert limits or "of the issue slots stay empty" in kernel.verdict
    assert Fraction(kernel.bounds.prediction.exact) >= 0
