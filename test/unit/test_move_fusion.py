"""Moves that are fused with the operation after them, as measured on Redwood Cove (cycles a trip)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import analyze, simulate
from incc.models.binding.bind import bind
from incc.models.loading import load

MEASURED = {
    # Of each, as many pairs as fused take a whole number of sixths.
    ("mov %ebp, %eax", "or %r12d, %eax"): 3,
    ("mov %edx, %eax", "and $0x8000, %eax"): 3,
    ("mov %rbp, %rdi", "add %rbx, %rdi"): 3,
}


def slots(*lines: str, core: str = "graniterapids") -> list[int]:
    return list(bind(decoded("; ".join(lines)), load(core))[0].issue_slots)


def cycles(*lines: str, core: str = "graniterapids") -> tuple[Fraction, Fraction]:
    """The bound of the front end, and the simulation."""
    k, _ = bind(replace(decoded("1: " + "; ".join([*lines, "dec %r15", "jne 1b"])), alignment=0), load(core))
    return analyze(k).front_end_bound, simulate(k).cycles_per_iteration


@pytest.mark.parametrize(("pair", "times"), MEASURED.items())
def test_pairs_take_a_slot(pair: tuple[str, str], times: int) -> None:
    assert cycles(*pair * times) == (Fraction(times + 1, 6), 1)
    # 1.17 were measured of seven slots.
    assert cycles(*pair * times, core="sapphirerapids")[0] == Fraction(2 * times + 1, 6)


def test_longer_blocks() -> None:
    # 1.17 measured
    half = "mov 0x38(%rsp), %rdx", "mov %rdx, %rax", "sub %r13, %rax", "cmp $1, %rax"
    bound, simulated = cycles(*half * 2)
    assert bound == Fraction(7, 6)
    assert float(simulated) == pytest.approx(1.17, abs=0.02)
    # 1.50 measured
    bound, simulated = cycles(
        "mov (%rsi,%rax,4), %r8d", "mov %r8d, %r9d", "sar $0x1F, %r9d", "andn %r8d, %r9d, %r8d", "cmp $0xFF, %r8d",
        "cmovge %ecx, %r8d", "mov %r8d, (%rdi,%rax,4)", "inc %rax", "cmp %rax, %rdx",
    )  # fmt: skip
    assert bound == Fraction(9, 6)
    assert float(simulated) == pytest.approx(1.5, abs=0.02)


@pytest.mark.parametrize(
    "second",
    [
        "or %r12d, %eax",
        "neg %eax",
        "shl $4, %eax",
        "sar $1, %eax",
        "xor $3, %eax",
        "sub %ecx, %eax",
        "add $0x12345, %eax",
    ],
)
def test_what_fuses(second: str) -> None:
    assert slots("mov %edx, %eax", second) == [0, 1]


@pytest.mark.parametrize(
    "pair",
    [
        ("mov %rax, %r14", "and $1, %r14d"),  # another width: 1.17 for three and the jump
        ("mov %eax, %edx", "shl $4, %rdx"),
        ("mov %edx, %eax", "or %eax, %ecx"),  # not in its place
        ("mov %edx, %eax", "add %eax, %eax"),  # with itself
        ("mov %edx, %eax", "cmp %ecx, %eax"),
        ("mov %rbx, %rsi", "add (%r13), %rsi"),
        ("mov %edx, %eax", "cmovbe %ecx, %eax"),
        ("mov %edx, %eax", "add %edi, (%rax)"),
        ("movzbl %cl, %eax", "sub $0x26, %eax"),
        ("mov (%rdi), %eax", "and $3, %eax"),
        ("movapd %xmm3, %xmm0", "palignr $8, %xmm0, %xmm0"),
    ],
)
def test_what_does_not(pair: tuple[str, str]) -> None:
    assert slots(*pair)[0] == 1


def test_vectors_of_sse() -> None:
    assert slots("movapd %xmm2, %xmm3", "xorpd %xmm0, %xmm3") == [0, 1]
    assert slots("movapd %xmm2, %xmm4", "mulsd %xmm0, %xmm4") == [0, 1]
    assert slots("vmovapd %xmm2, %xmm4", "vmulsd %xmm0, %xmm4, %xmm4") == [1, 1]


def test_a_pair_with_a_jump_comes_first() -> None:
    k, _ = bind(replace(decoded("1: mov %edx, %eax; sub $1, %eax; jne 1b"), alignment=0), load("graniterapids"))
    assert k.issue_slots == [1, 1, 0]


def test_the_result_is_that_of_both() -> None:
    """The chain goes through the move at no cost, as without fusion."""
    chain = "mov %rax, %rbx", "and %rcx, %rbx", "mov %rbx, %rax", "imul %rdx, %rax"
    for core in ("graniterapids", "sapphirerapids"):
        k, _ = bind(decoded("1: " + "; ".join([*chain, "dec %r15", "jne 1b"])), load(core))
        assert (analyze(k).latency_bound, simulate(k).cycles_per_iteration) == (4, 4)
