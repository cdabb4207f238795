"""Detection of the syntax of x86 assembly."""

from __future__ import annotations

import pytest

from incc.frontends.asm.syntax import detect_syntax


@pytest.mark.parametrize(
    ("text", "syntax"),
    [
        ("add %rax, %rbx", "att"),
        ("add rbx, rax", "intel"),
        (".L3:\n\tvmovupd\tymm0, YMMWORD PTR [rdi+rax]\n\tadd\trax, 32\n\tcmp\trax, rdx\n\tjne\t.L3\n", "intel"),
        (".L3:\n\tvmovupd\t(%rdi,%rax), %ymm0\n\tjne\t.L3\n", "att"),
        ("\t.intel_syntax noprefix\n\tadd rax, rbx\n", "att"),
        ("\t.att_syntax\n\tadd rax, rbx\n", "att"),
        ("# add rax, rbx\n add $1, %rax\n", "att"),
        ("movl counter(%rip), %eax\naddl $1, eax_total(%rip)\n", "att"),
        ("nop\nret\n", "att"),
        ("", "att"),
        ("fmla v0.2d, v1.2d, v2.2d\nadd sp, sp, #16\n", "att"),
        ("mov eax, DWORD PTR counter[rip] ; comment with %eax\n", "intel"),
        ('.string "rax, rbx"\nadd %rax, %rbx\n', "att"),
    ],
)
def test_detected(text: str, syntax: str) -> None:
    assert detect_syntax(text) == syntax
