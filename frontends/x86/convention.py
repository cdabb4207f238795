"""x86-64's general-purpose registers, and what compilers do with them before loops."""

from __future__ import annotations

from incc.frontends.asm.entry import Convention
from incc.frontends.isa import word_set

_POINTERS = word_set("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")

CONVENTION = Convention(
    pointers=_POINTERS,
    # System V ABI for x86-64, 3.2.1; Windows keeps some of them.
    not_kept=_POINTERS - word_set("rbx rbp rsp r12 r13 r14 r15"),
    stack=("rsp", "rbp"),
    loads=word_set("mov movsxd"),
    moves=word_set("mov"),
    rounds=word_set("shr sar and"),
    mask="and",
    products=word_set("imul"),
    counts=word_set("add sub inc dec"),
    compare="cmp",
    test="test",
    of_elements=frozenset(),
    until_equal=word_set("jne jnz"),
    while_less=word_set("jb jae ja jbe jl jge jg jle jc jnc"),
)
