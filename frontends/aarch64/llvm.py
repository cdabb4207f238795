"""A64 instructions as LLVM prints and describes them."""

from __future__ import annotations

import re

from incc.frontends.aarch64.operands import constant
from incc.frontends.isa import Effects
from incc.frontends.kernel import Instruction

_BRANCH = re.compile(r"b(eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le|al)")
# A number that is no part of a name, a lane, or a floating-point constant.
_NUMBER = re.compile(r"(?<![\w.\[:@$+=])#?(-?)(0x[0-9a-f]+|\d+)(?![\w.])")
_LIST = re.compile(r"\{ *([^{}]*?) *\}")

# LLVM describes these as instructions that do anything: exclusive accesses, barriers, hints, SVE's prefetches.
_ANYTHING = re.compile(
    r"dmb|dsb|isb|sb|ssbb|clrex|ld(a?x[rp]|axr)[bh]?|st(l?x[rp])[bh]?|prf[bhwd]"
    r"|hint|nop|yield|wfe|wfi|sevl?|dgh|esb|csdb|psb|bti|clrbhb"
)
_SIDE_EFFECTS = re.compile(
    r"ret\w*|eret\w*|drps|msr|mrs|sys|sysl|svc|hvc|smc|brk|hlt|dcps\d|prfu?m|dc|ic|at|tlbi|tsb"
    r"|(pac|aut)i[ab](sp|z|1716)|auti[ab]|xpaclri|bl?ra[ab]z?|cfinv|axflag|xaflag|setf\d+|rmif|rdffrs?"
    r"|ldl?ar[bh]?|ldra[ab]|ld[fn]f1\w+|ldapurs[bhw]|stll?r[bh]?|ldgm|stz?gm|subg|subps|irg|setffr|wrffr"
)
_TAGS = re.compile(r"st[z2]*g")
"""Stores of tags, which have side effects if they change their base."""


def printed(instruction: Instruction) -> str:
    """Return an instruction with a tab behind its mnemonic, and numbers, blanks and braces where LLVM writes them."""
    mnemonic, *operands = instruction.text.split(None, 1)
    mnemonic = mnemonic.lower()
    if _BRANCH.fullmatch(mnemonic):
        mnemonic = f"b.{mnemonic[1:]}"
    if not operands:
        return mnemonic
    spaced = re.sub(r"\s*,\s*", ", ", operands[0].strip())
    spaced = re.sub(r"#?\([\d +*-]+\)", lambda match: f"#{constant(match[0].lstrip('#'))}", spaced)
    spaced = _LIST.sub(r"{ \1 }", spaced)
    return f"{mnemonic}\t" + _NUMBER.sub(lambda number: f"#{number[1]}{int(number[2], 0)}", spaced)


def effects(instruction: Instruction) -> Effects:
    """Return the effects in LLVM's description of an instruction."""
    mnemonic = instruction.mnemonic
    anything = _ANYTHING.fullmatch(mnemonic) is not None
    # A constant behind the code is an operand without an address. LLVM 19 lacks that ldapursb loads.
    literal = re.fullmatch(r"ldr(sw)?", mnemonic) is not None and not instruction.memory
    loads = literal or (any(a.load for a in instruction.memory) and not mnemonic.startswith("ldapurs"))
    stores = any(access.store for access in instruction.memory)
    tags = _TAGS.fullmatch(mnemonic) is not None and not instruction.text.rstrip().endswith("]")
    return Effects(
        may_load=anything or loads or mnemonic in ("rdffr", "ldgm"),
        may_store=anything or stores or mnemonic in ("setffr", "wrffr"),
        side_effects=anything or tags or _SIDE_EFFECTS.fullmatch(mnemonic) is not None,
    )
