"""A64 instructions as LLVM prints and describes them."""

from __future__ import annotations

import re

from incc.frontends.isa import Effects
from incc.frontends.kernel import Instruction

_BRANCH = re.compile(r"b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)")
# A number that is no part of a name, a lane, or a floating-point constant.
_NUMBER = re.compile(r"(?<![\w.\[:@$+])#?(-?)(0x[0-9a-f]+|\d+)(?![\w.])")
_LIST = re.compile(r"\{ *([^{}]*?) *\}")

# LLVM describes these as instructions that do anything, and exclusive accesses as loads and stores.
_ORDERING = re.compile(r"dmb|dsb|isb|sb|clrex|ld(a?x[rp]|axr)[bh]?|st(l?x[rp])[bh]?")
_SIDE_EFFECTS = re.compile(
    r"ret\w*|eret\w*|msr|mrs|sys|sysl|svc|hvc|smc|hint|nop|yield|wfe|wfi|sev|sevl|brk|hlt|bti|prfu?m|dc|ic|at|tlbi"
)


def printed(instruction: Instruction) -> str:
    """Return an instruction with a tab behind its mnemonic, and numbers, blanks and braces where LLVM writes them."""
    mnemonic, *operands = instruction.text.split(None, 1)
    mnemonic = mnemonic.lower()
    if _BRANCH.fullmatch(mnemonic):
        mnemonic = f"b.{mnemonic[1:]}"
    if not operands:
        return mnemonic
    spaced = re.sub(r"\s*,\s*", ", ", operands[0].strip())
    spaced = _LIST.sub(r"{ \1 }", spaced)
    return f"{mnemonic}\t" + _NUMBER.sub(lambda number: f"#{number[1]}{int(number[2], 0)}", spaced)


def effects(instruction: Instruction) -> Effects:
    """Return the effects in LLVM's description of an instruction."""
    ordering = _ORDERING.fullmatch(instruction.mnemonic) is not None
    return Effects(
        may_load=ordering or any(access.load for access in instruction.memory),
        may_store=ordering or any(access.store for access in instruction.memory),
        side_effects=ordering or _SIDE_EFFECTS.fullmatch(instruction.mnemonic) is not None,
    )
