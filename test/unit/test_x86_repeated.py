"""Statements that are written many times are assembled once, and that nobody can tell from the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_x86_kernels import region

from incc.frontends.x86 import kernels
from incc.frontends.x86.kernels import decode_regions
from properties import examples

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.frontends.kernel import KernelCode

LINES = (
    "addq $1, %rax",
    "  addq  $1,\t%rax ",
    "movq a+8(%rip), %rcx",
    "movq 8(%rip), %rcx",
    "leaq a(,%rax,4), %rdx",
    "pushq $a",
    "jne .L4",
    "jmp *%rax",
    "call f@PLT",
    "vaddpd %zmm1, %zmm2, %zmm3",
    "fld1",
    "faddp",
    "nop",
)


def decoded(lines: Sequence[str]) -> list[KernelCode]:
    """Two kernels: of the first half of the lines, and of those of the second half that are statements."""
    statements = [n for n, line in enumerate(lines, 1) if line and line[0] != "#"]
    half = len(statements) // 2
    found = [region(tuple(part), is_loop=False) for part in (statements[:half], statements[half:]) if part]
    return decode_regions("\n".join(lines), found, "x.s")


def as_a_whole(lines: Sequence[str]) -> list[KernelCode]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kernels, "_REPEATED", 1 << 20)
        return decoded(lines)


@given(st.lists(st.sampled_from(LINES), min_size=1, max_size=3), st.integers(8, 20), st.randoms(use_true_random=False))
@examples(15)
def test_the_kernels_are_those_of_the_whole_text(few: list[str], times: int, random: object) -> None:
    lines = [*few] * times
    random.shuffle(lines)  # type: ignore[attr-defined]
    lines[len(lines) // 2 : len(lines) // 2] = ["# LLVM-MCA-BEGIN", ""]
    assert kernels._assembled_once("\n".join(lines), None) is not None
    assert decoded(lines) == as_a_whole(lines)


@pytest.mark.parametrize(
    "line",
    [
        *(".p2align 4", "f:", "1: nop", "nop; nop", "a = 5", "rep", "lock", ".text", "nop # said", "/* */ nop"),
        *("leaq .(%rip), %rax", "movq $.-8, %rax", "jmp ."),
    ],
)
def test_what_may_depend_on_its_place_is_assembled_in_it(line: str) -> None:
    lines = [*["addq $1, %rax"] * 20, line, *["addq $1, %rax"] * 20]
    assert kernels._assembled_once("\n".join(lines), None) is None
    assert decoded(lines) == as_a_whole(lines)


@pytest.mark.parametrize("line", ["xyzzy %rax", "movl %rax, %rbx", "vbogus"])
def test_every_line_that_is_refused_is_named(line: str) -> None:
    lines = ["nop", line] * 10
    found = [refused.line for kernel in decoded(lines) for refused in kernel.refused]
    assert found == [refused.line for kernel in as_a_whole(lines) for refused in kernel.refused]
    assert found
