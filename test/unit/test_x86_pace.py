"""What an iteration of a loop stands for, by the number of iterations that is computed before it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bind_kernels import loop
from properties import examples


def pace(before: str, body: str) -> int:
    """Of the loop at .L3 in a function with the code before it."""
    text = "\n".join(part.strip() for part in f"f:; {before}; .L3:; {body}; jne .L3; ret".split(";"))
    return loop(f"\t.text\n\t.type f, @function\n{text}\n\t.size f, .-f\n").pace


GCC = "movl %esi, %edx; shrl $3, %edx; salq $5, %rdx; movq %rdi, %rax; addq %rdi, %rdx"
POINTER = "addps (%rax), %xmm0; addq $32, %rax; cmpq %rdx, %rax"
INDEX = "vaddps (%rdi,%rax,4), %ymm0, %ymm0; addq $16, %rax; cmpq %rax, %rcx"


@pytest.mark.parametrize(
    ("before", "body", "expected"),
    [
        (GCC, POINTER, 8),
        # the same with a comparison before the step
        ("leal -1(%rsi), %edx; shrl $3, %edx; salq $5, %rdx; leaq -32(%rdi,%rdx), %rdx; movq %rdi, %rax",
         "addps (%rax), %xmm0; cmpq %rdx, %rax; leaq 32(%rax), %rax", 8),
        # a shift by one has an encoding of its own
        ("movq %rcx, %r8; xorl %eax, %eax; shrq %r8; salq $5, %r8",
         "vaddpd (%rdi,%rax), %ymm0, %ymm0; addq $32, %rax; cmpq %r8, %rax", 2),
        # masks: immediate, too large for one, of a count below 2^31
        ("movq %rsi, %rcx; andq $-16, %rcx; xorl %eax, %eax", INDEX, 16),
        ("movabsq $9223372036854775792, %rcx; andq %rsi, %rcx; xorl %eax, %eax", INDEX, 16),
        ("movl %esi, %ecx; andl $2147483632, %ecx; xorl %eax, %eax", INDEX, 16),
        # divided and cut off, which clang does in one mask for the count and another for the index
        ("movl %esi, %r8d; shrl $2, %r8d; andl $536870911, %r8d; shlq $6, %r8; xorl %eax, %eax",
         "vmovupd (%rdi,%rax), %ymm0; addq $64, %rax; cmpq %rax, %r8", 4),
        # divided twice, with an exact division between
        ("movq %rsi, %rcx; andq $-32, %rcx; addq $-32, %rcx; shrq $5, %rcx; incq %rcx; andq $-2, %rcx",
         "vaddps (%rdi,%rax,4), %ymm0, %ymm0; addq $64, %rax; addq $-2, %rcx", 64),
        # three floats for each: the end is 12 n bytes further
        ("leaq (%rsi,%rsi,2), %rdx; leaq (%rdi,%rdx,4), %rdx; movq %rdi, %rax",
         "addss (%rax), %xmm0; addq $12, %rax; cmpq %rdx, %rax", 1),
        # the end of a structure of four floats
        ("salq $4, %rsi; leaq (%rdi,%rsi), %rax", "mulps (%rdi), %xmm0; addq $16, %rdi; cmpq %rdi, %rax", 1),
        # n from memory, as in Fortran
        ("movslq (%rsi), %rdx; leaq (%rdi,%rdx,8), %rdx", "addsd (%rdi), %xmm0; addq $8, %rdi; cmpq %rdi, %rdx", 1),
        # counted down by as many
        ("", "imull $9, %eax, %eax; subq $2, %rdi", 2),
        # the end in memory
        ("shrq $2, %rsi; salq $5, %rsi; leaq (%rdi,%rsi), %rax; movq %rax, -8(%rsp)",
         "addpd (%rdi), %xmm0; addq $32, %rdi; cmpq %rdi, -8(%rsp)", 4),
        # --- nothing is known:
        # the count may have been divided before
        ("", "addpd (%rdi), %xmm0; addq $32, %rdi; decq %rsi", 0),
        ("cqto; idivq %rcx", "addpd (%rdi), %xmm0; addq $32, %rdi; decq %rax", 0),
        # rounded up: the source takes every second
        ("leaq -1(%rsi), %rdx; shrq %rdx; salq $4, %rdx; leaq 16(%rdi,%rdx), %rdx",
         "addsd (%rdi), %xmm0; addsd 8(%rdi), %xmm0; addq $16, %rdi; cmpq %rdi, %rdx", 0),
        # bytes between two pointers
        ("subq %rdi, %rsi; shrq $5, %rsi; salq $5, %rsi; leaq (%rdi,%rsi), %rdx",
         "vaddpd (%rdi), %ymm0, %ymm0; addq $32, %rdi; cmpq %rdi, %rdx", 0),
        # a pointer that somebody passes
        ("", "addsd (%rdi), %xmm0; addq $8, %rdi; cmpq %rdi, %rsi", 0),
        # the end, or the step, changes in the loop
        (GCC, "addps (%rax), %xmm0; addq $32, %rax; subq %rcx, %rdx; cmpq %rdx, %rax", 0),
        (GCC, "addps (%rax), %xmm0; addq %rcx, %rax; cmpq %rdx, %rax", 0),
        # a mask that clears upper bits: whatever is left
        ("andl $8388600, %esi; xorl %eax, %eax", "addss (%rdi,%rax,4), %xmm0; addq $1, %rax; cmpq %rsi, %rax", 0),
        # data are compared
        (GCC, "addps (%rax), %xmm0; addq $32, %rax; cmpq (%rax), %rdx", 0),
    ],
)  # fmt: skip
def test_pace(before: str, body: str, expected: int) -> None:
    assert pace(before, body) == expected


def test_below_an_end_that_is_not_a_multiple() -> None:
    text = ".text\n.type f, @function\nf:\n{}\n.L3: addsd (%rdi,%rax,8), %xmm0\n addq ${}, %rax\n {}\n jl .L3\n ret\n"
    compare = "cmpq %rsi, %rax"
    assert loop(text.format("xorl %eax, %eax", 1, compare)).pace == 1
    # what the source takes by fours, or unrolled by four with what is left over elsewhere
    assert loop(text.format("xorl %eax, %eax", 4, compare)).pace == 0
    assert loop(text.format("xorl %eax, %eax\n andq $-4, %rsi", 4, compare)).pace == 4


@examples(60)
@given(
    shift=st.integers(1, 6),
    element=st.integers(0, 3),
    vectors=st.integers(1, 3),
    mask=st.booleans(),
    index=st.booleans(),
    offset=st.integers(-3, 3),
)
def test_however_it_is_computed(shift: int, element: int, vectors: int, mask: bool, index: bool, offset: int) -> None:
    """n + offset divided by 2^shift gives the iterations; each moves on by some bytes for one of them."""
    step = vectors << (shift + element)
    divide = f"andq $-{1 << shift}, %rsi" if mask else f"shrq ${shift}, %rsi"
    scale = {1: "nop", 2: "addq %rsi, %rsi", 3: "leaq (%rsi,%rsi,2), %rsi"}[vectors]
    widen = f"salq ${element if mask else shift + element}, %rsi"
    setup = "xorl %eax, %eax" if index else "movq %rdi, %rax; addq %rdi, %rsi"
    access = "addsd (%rdi,%rax), %xmm0" if index else "addsd (%rax), %xmm0"
    before = f"leaq {offset}(%rsi), %rsi; {divide}; {scale}; {widen}; {setup}"
    assert pace(before, f"{access}; addq ${step}, %rax; cmpq %rsi, %rax") == 1 << shift
