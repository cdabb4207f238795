"""AArch64's general-purpose registers, and what compilers do with them before loops."""

from __future__ import annotations

from incc.frontends.asm.entry import Convention
from incc.frontends.isa import word_set

_POINTERS = frozenset(("sp", *(f"x{number}" for number in range(31))))
_BELOW = ("lo", "hs", "hi", "ls", "lt", "ge", "gt", "le", "cc", "cs")

CONVENTION = Convention(
    pointers=_POINTERS,
    # Procedure Call Standard for the Arm 64-bit Architecture, 6.1.1 "General-purpose registers".
    not_kept=frozenset(("x30", *(f"x{number}" for number in range(19)))),
    stack=("sp", "x29"),
    loads=word_set("ldr ldrsw ldur ldursw"),
    moves=word_set("ldr str ldur stur"),
    rounds=word_set("lsr asr and"),
    mask="and",
    products=word_set("mul madd smull smaddl"),
    counts=word_set("adds subs"),
    compare="cmp",
    test="tst",
    of_elements=word_set("whilelo whilelt whilels whilele"),
    until_equal=word_set("b.ne bne bc.ne cbnz"),
    while_less=frozenset(prefix + condition for prefix in ("b.", "b", "bc.") for condition in _BELOW),
)
