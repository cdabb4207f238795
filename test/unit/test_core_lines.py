"""Loads that cross cache lines, against counting address by address."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bind_kernels import analysis


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
    # Nothing but the loads uses ports 2 and 3.
    assert a.port_bound >= (len(loads) + a.line_crossings) / 2
    assert a.worst_alignment_port_bound >= (len(loads) + a.worst_line_crossings) / 2


def test_streams_half_a_vector_apart_cannot_both_be_aligned() -> None:
    a = analysis("vmovupd (%rsi,%rax), %zmm0\nvaddpd 32(%rsi,%rax), %zmm0, %zmm0\naddq $64, %rax")
    assert a.line_crossings == 1
    assert a.worst_line_crossings == 2
    assert a.port_bound == Fraction(3, 2)


def test_different_pointers_are_aligned_on_their_own() -> None:
    a = analysis("vmovupd (%rsi,%rax), %zmm0\nvaddpd 32(%rdi,%rax), %zmm0, %zmm0\naddq $64, %rax")
    assert a.line_crossings == 0
    assert a.worst_line_crossings == 2


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
