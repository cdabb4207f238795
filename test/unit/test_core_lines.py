"""Loads that cross cache lines, against counting address by address."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bind_kernels import analysis, analysis_of_loop, bound
from incc import core
from incc.core.places import LIKELY_PLACES


def crossings(displacements: list[tuple[int, int]], stride: int, residue: int) -> int:
    """Loads of (displacement, bytes) that cross a 64-byte line in 64 iterations, the pointer at `residue`."""
    return sum(
        (residue + stride * iteration + displacement) % 64 + size > 64
        for iteration in range(64)
        for displacement, size in displacements
    )


LOADS = {16: "vmovupd {}(%rsi), %xmm0", 32: "vmovupd {}(%rsi), %ymm0", 64: "vmovupd {}(%rsi), %zmm0"}


@given(
    st.lists(
        st.tuples(st.integers(-20, 20).map(lambda n: 8 * n), st.sampled_from(sorted(LOADS))), min_size=1, max_size=6
    ),
    st.integers(-9, 9).map(lambda n: 8 * n),
)
def test_counts_are_those_of_the_best_and_worst_alignment(loads: list[tuple[int, int]], stride: int) -> None:
    text = "".join(LOADS[size].format(displacement) + "\n" for displacement, size in loads)
    a = analysis(text + f"addq ${stride}, %rsi")
    counts = [crossings(loads, stride, residue) for residue in range(0, 64, 8)]
    assert a.line_crossings == Fraction(min(counts), 64)
    assert a.worst_line_crossings == Fraction(max(counts), 64)
    # What must cross somewhere is a shifted view, which may start anywhere, unless it is all of whole lines.
    anywhere = Fraction(sum(counts), 8 * 64) if min(counts) else Fraction(0)
    assert a.expected_line_crossings == (a.line_crossings if all(size == 64 for _, size in loads) else anywhere)
    # Nothing but the loads uses ports 2 and 3.
    assert a.port_bound >= (len(loads) + a.line_crossings) / 2
    assert a.worst_alignment_port_bound >= (len(loads) + a.worst_line_crossings) / 2


@given(st.sampled_from(sorted(LOADS)), st.integers(-9, 9).map(lambda n: 8 * n))
def test_likely_places_are_those_of_malloc(size: int, stride: int) -> None:
    kernel = bound(LOADS[size].format(0) + f"\naddq ${stride}, %rsi")
    kernel.line_places = LIKELY_PLACES
    a = core.analyze(kernel)
    best = min(crossings([(0, size)], stride, residue) for residue in range(0, 64, 8))
    places = range(0, 64, 8 if best else 16)
    assert a.expected_line_crossings == Fraction(
        sum(crossings([(0, size)], stride, residue) for residue in places), 64 * len(places)
    )


def test_streams_half_a_vector_apart_cannot_both_be_aligned() -> None:
    a = analysis("vmovupd (%rsi,%rax), %zmm0\nvaddpd 32(%rsi,%rax), %zmm0, %zmm0\naddq $64, %rax")
    assert a.line_crossings == 1
    assert a.worst_line_crossings == 2
    assert a.port_bound == Fraction(3, 2)


def test_different_pointers_are_aligned_on_their_own() -> None:
    a = analysis("vmovupd (%rsi,%rax), %zmm0\nvaddpd 32(%rdi,%rax), %zmm0, %zmm0\naddq $64, %rax")
    assert a.line_crossings == 0
    assert a.worst_line_crossings == 2


def test_kernels_that_shift_one_array_may_begin_anywhere_in_all() -> None:
    a = analysis(
        "vmovupd (%rsi,%rax), %ymm0\nvaddpd 8(%rsi,%rax), %ymm0, %ymm0\n"
        "vaddpd (%rdi,%rax), %ymm0, %ymm0\naddq $64, %rax"
    )
    assert a.line_crossings == 0
    b = analysis(
        "vmovupd (%rsi,%rax), %ymm0\nvaddpd 8(%rsi,%rax), %ymm0, %ymm0\nvaddpd 40(%rsi,%rax), %ymm0, %ymm0\n"
        "vaddpd (%rdi,%rax), %ymm0, %ymm0\naddq $32, %rax"
    )
    assert b.line_crossings > 0
    # A vector of 4 elements crosses at 3 of the 8 places where it can begin.
    assert b.expected_line_crossings == Fraction(4 * 3, 8)


def test_vectors_of_a_line_lie_where_they_cross_least() -> None:
    a = analysis(
        "vmovupd (%rsi,%rax), %zmm0\nvaddpd 8(%rsi,%rax), %zmm0, %zmm0\n"
        "vaddpd (%rdi,%rax), %zmm0, %zmm0\naddq $64, %rax"
    )
    assert a.line_crossings == a.expected_line_crossings == 1
    assert a.worst_line_crossings == 3
    # Beside them, narrower ones may begin anywhere.
    b = analysis(
        "vmovupd (%rsi,%rax), %zmm0\nvaddpd 8(%rsi,%rax), %zmm0, %zmm0\n"
        "vaddpd (%rdi,%rax), %ymm0, %ymm0\naddq $64, %rax"
    )
    assert b.expected_line_crossings == 1 + Fraction(3, 8)


def test_named_objects_do_not_move_with_the_shifted_ones() -> None:
    a = analysis(
        "vmovupd (%rsi,%rax), %ymm0\nvaddpd 8(%rsi,%rax), %ymm0, %ymm0\nvaddpd a(%rip), %ymm0, %ymm0\naddq $32, %rax"
    )
    assert a.expected_line_crossings == Fraction(2 * 3, 8)


def test_pointers_that_were_set_side_by_side_are_one_stream() -> None:
    before = "f: leaq 32(%rdi), %rsi\n"
    loop = (
        ".L1: vmovupd (%rsi,%rax), %zmm0\nvaddpd (%rdi,%rax), %zmm0, %zmm0\naddq $64, %rax\ncmpq %rdx, %rax\njne .L1\n"
    )
    assert analysis_of_loop(loop).line_crossings == 0
    assert analysis_of_loop(before + loop).line_crossings == 1


def test_store_is_read_through_another_pointer() -> None:
    before = "f: leaq -8(%rdi), %rsi\n"
    loop = (
        ".L1: movsd (%rsi,%rax,8), %xmm0\nmulsd %xmm1, %xmm0\nmovsd %xmm0, (%rdi,%rax,8)\n"
        "incq %rax\ncmpq %rdx, %rax\njne .L1\n"
    )
    assert analysis_of_loop(loop).latency_bound == 1
    assert analysis_of_loop(before + loop).latency_bound > 8


def test_scalars_do_not_cross() -> None:
    a = analysis("vmovsd 4(%rsi,%rax), %xmm0\naddq $8, %rax")
    assert a.line_crossings == a.worst_line_crossings == 0


def test_objects_with_a_name_are_taken_for_aligned() -> None:
    a = analysis("vmovapd .LC0(%rip), %ymm0")
    assert a.worst_line_crossings == 0


def test_counter_in_memory_is_followed() -> None:
    # Unoptimised code: the index is loaded from the stack each time, a[i - 1] is read back.
    a = analysis(
        "movq -8(%rbp), %rax\nmovsd -8(%rdi,%rax,8), %xmm0\naddsd %xmm1, %xmm0\nmovq -8(%rbp), %rax\n"
        "movsd %xmm0, (%rdi,%rax,8)\naddq $1, -8(%rbp)"
    )
    assert a.latency_bound == 10
