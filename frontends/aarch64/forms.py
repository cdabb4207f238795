"""The key of an AArch64 instruction form, from the instruction's text: mnemonic and the shapes of its operands.

The grammar of keys is in docs/models.md. Text is read as gcc, clang and LLVM's disassembler write it, upper or lower
case, immediates with or without `#`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from incc.frontends.aarch64.apple import standard
from incc.frontends.aarch64.branches import BRANCHES, CONDITIONS, SVE_CONDITIONS
from incc.frontends.aarch64.operands import Operand, operand, operands_of
from incc.frontends.isa import word_set

_CONDITION = "|".join((*CONDITIONS, *SVE_CONDITIONS))
_TO_LABEL = re.compile(rf"(bl?|bc?\.[a-z]+|cbn?z|tbn?z|adrp?|b({'|'.join(CONDITIONS)}))$")
_LITERAL = word_set("ldr ldrsw prfm")
_MNEMONIC = re.compile(r"[a-z][a-z0-9]*(\.[a-z]+)?").fullmatch

# What can be written in several ways, as patterns of keys, and the one way that LLVM's disassembler prints.
_ALIASES = tuple(
    (re.compile(pattern).sub, replacement)
    for pattern, replacement in (
        (rf"^(bc?)\.({_CONDITION})/", r"\1.cond/"),
        (rf"^b({_CONDITION})/", "b.cond/"),
        # gcc writes an extended register in full.
        (r",x,([us]xt[bhw]#?)$", r",w,\1"),
        (r",#,lsl$", ",#"),
        (r"^uxtw/x,w$", "mov/w,w"),
        (r"^mov[zn]/([wx],#)$", r"mov/\1"),
        (r"^([su])xtl(2?)/(v.*)$", r"\1shll\2/\3,#"),
        (r"^not/v", "mvn/v"),
        (r"^ins/v", "mov/v"),
        (r"^umov/(x,v\.d|w,v\.s)\[\]$", r"mov/\1[]"),
        (r"^dup/([bhsd],|z[^,]*,(?:z[^,]*\[\]|#)$)", r"mov/\1"),
        # Comparisons of vectors that assemblers write as the opposite one with exchanged operands.
        (r"^(fcm|fac|cmp?)lt/(.*)(,[vz]\.\w+)\3$", r"\1gt/\2\3\3"),
        (r"^(fcm|fac|cmp?)le/(.*)(,[vz]\.\w+)\3$", r"\1ge/\2\3\3"),
        (r"^(cmp?)lo/(.*)(,[vz]\.\w+)\3$", r"\1hi/\2\3\3"),
        (r"^(cmp?)ls/(.*)(,[vz]\.\w+)\3$", r"\1hs/\2\3\3"),
        # gcc writes lists of one register without braces.
        (r"^((?:ld|st)(?:nt|ff|nf)?1[rqo]*s?[bhwdq])/(z\.[bhsdq])", r"\1/{\2*1}"),
    )
)


def form_key(mnemonic: str, operands: Sequence[str]) -> str:
    """`fmla/v.2d,v.2d,v.2d` from the mnemonic and the operands' shapes (`operand_shape`), both in canonical form.

    A form without operands ends in the slash: `ret/`.
    """
    return f"{mnemonic}/{','.join(operands)}"


def read(text: str) -> tuple[str, tuple[Operand, ...]]:
    """Return the mnemonic, in lower case, and the operands of a statement. Raises ValueError."""
    mnemonic, *rest = text.split(None, 1) or [""]
    mnemonic = mnemonic.lower()
    if ("." in mnemonic and mnemonic not in BRANCHES) or mnemonic == "mov":
        mnemonic, *rest = standard(text).split(None, 1)
        mnemonic = mnemonic.lower()
    if not _MNEMONIC(mnemonic):
        raise ValueError(f"{text.strip()!r} is not an instruction")
    return mnemonic, operands_of(mnemonic, " ".join(rest).strip())


def form_of(text: str) -> tuple[str, frozenset[str]]:
    """Return the form's key and the traits of an instruction in assembly. Raises ValueError for other text.

    Traits: "imm0" (an immediate outside of addresses is zero, or `fmov` copies the zero register), "shift1-4" (a
    register operand is shifted left by 1 to 4).
    """
    return form_of_operands(*read(text))


def form_of_operands(mnemonic: str, operands: Sequence[Operand]) -> tuple[str, frozenset[str]]:
    """Return the same of a mnemonic and operands that are read."""
    shapes = [each.shape for each in operands]
    if shapes[-1:] == ["#"] and (_TO_LABEL.match(mnemonic) or mnemonic in _LITERAL):
        # LLVM's disassembler prints distances instead of labels.
        shapes[-1] = "label"
    traits = set()
    for each, shape in zip(operands, shapes, strict=True):
        zero = r"#?[-+]?(0x0+|0+(\.0*)?)" if shape == "#" else "[wx]zr" if mnemonic == "fmov" else ""
        if zero and re.fullmatch(zero, each.text, re.IGNORECASE):
            traits.add("imm0")
        elif shape == "lsl#" and shapes[-2:-1] != ["#"] and each.value in (1, 2, 3, 4):
            traits.add("shift1-4")
    return _standard_key(form_key(mnemonic, shapes)), frozenset(traits)


@lru_cache(1 << 14)
def _standard_key(key: str) -> str:
    for replaced, replacement in _ALIASES:
        key = replaced(replacement, key)
    return key


def operand_shape(text: str, mnemonic: str = "") -> str:
    """Return the shape of an operand; the meaning of a bare name depends on the mnemonic. Raises ValueError."""
    return operand(text, mnemonic).shape
