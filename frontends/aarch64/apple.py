"""Apple's syntax of vector instructions: `fmla.2d v0, v1, v2[0]` in place of `fmla v0.2d, v1.2d, v2.d[0]`.

The arrangement behind the mnemonic is that of the result, or of the source if the result is a scalar (as LLVM's
assembler reads it, AArch64InstrFormats.td). The other operands have the arrangement that the operation needs.
"""

from __future__ import annotations

import re

_STATEMENT = re.compile(r"([a-z]\w*)\.((\d*)([bhsdq]))(?:\s+(.*))?$", re.IGNORECASE | re.DOTALL)
_REGISTER = re.compile(r"\b(v\d+)\b(?!\.)(\[)?", re.IGNORECASE)
_SCALAR_MOVE = re.compile(r"^(mov\s+)([bhsd])(\d+,\s*v\d+)\[", re.IGNORECASE)
_ELEMENTS = "bhsdq"

# Operations whose sources have elements of half the size, or of twice the size.
_LONG = re.compile(r"[su](?:add|sub|mul|mla|mls|abd|aba)l2?$|[su]?shll2?$|[su]xtl2?$|pmull2?$|sqdm(?:ul|la|ls)l2?$")
_WIDE = re.compile(r"[su](?:add|sub)w2?$")
_NARROW = re.compile(r"bfcvtn2?$|[su]?q?xtu?n2?$|[su]?q?r?shru?n2?$|r?(?:add|sub)hn2?$")
_PAIRWISE = re.compile(r"[su]ad(?:dl|al)p$")
_DOT = re.compile(r"[su]?[su]dot$")


def standard(text: str) -> str:
    """Return a statement in Arm's syntax, unchanged if it is in this or another one."""
    text = _SCALAR_MOVE.sub(r"\1\2\3.\2[", text)
    match = _STATEMENT.match(text)
    if match is None or not match[5] or not _REGISTER.search(match[5]):
        return text
    mnemonic, own, count, element = match[1], match[2].lower(), match[3], match[4].lower()
    sources = _sources(mnemonic.lower(), count, element)
    first = 0

    def arranged(register: re.Match[str]) -> str:
        nonlocal first
        # The accumulator of a wide operation has the result's arrangement, like the result.
        arrangement = own if first < (2 if _WIDE.match(mnemonic.lower()) else 1) else sources
        first += 1
        if register[2]:  # one element, or the four bytes of a product of dots
            arrangement = "4b" if _DOT.match(mnemonic.lower()) else arrangement.lstrip("0123456789")
        return f"{register[1]}.{arrangement}{register[2] or ''}"

    operands = match[5]
    if mnemonic.lower() in ("tbl", "tbx"):
        operands = re.sub(r"\{.*?\}", lambda table: _REGISTER.sub(r"\1.16b", table[0]), operands)
    return f"{mnemonic} {_REGISTER.sub(arranged, operands)}"


def _sources(mnemonic: str, count: str, element: str) -> str:
    """Return the arrangement of the sources for that of the result."""
    if not count:
        return element
    at, elements = _ELEMENTS.index(element), int(count)
    if _LONG.match(mnemonic) or _WIDE.match(mnemonic):
        return f"{elements * (2 if mnemonic.endswith('2') else 1)}{_ELEMENTS[at - 1]}"
    if _NARROW.match(mnemonic):
        return f"{elements // (2 if mnemonic.endswith('2') else 1)}{_ELEMENTS[at + 1]}"
    if _PAIRWISE.match(mnemonic):
        return f"{elements * 2}{_ELEMENTS[at - 1]}"
    return f"{elements * 4}b" if _DOT.match(mnemonic) else f"{count}{element}"
