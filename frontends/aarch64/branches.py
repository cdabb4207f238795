"""A64's conditions and the flags that they read, and the mnemonics that transfer control."""

from __future__ import annotations

from incc.frontends.isa import words

CONDITIONS = {
    "eq": "Z", "ne": "Z", "cs": "C", "hs": "C", "cc": "C", "lo": "C", "mi": "N", "pl": "N", "vs": "V", "vc": "V",
    "hi": "ZC", "ls": "ZC", "ge": "NV", "lt": "NV", "gt": "NZV", "le": "NZV", "al": "", "nv": "",
}  # fmt: skip
"""The flags that each condition reads (Arm Architecture Reference Manual, C1.2.4)."""
SVE_CONDITIONS = {
    "none": "Z", "any": "Z", "nlast": "C", "last": "C", "first": "N", "nfrst": "N", "pmore": "ZC", "plast": "ZC",
    "tcont": "NV", "tstop": "NV",
}  # fmt: skip
"""SVE's names of conditions, in branches only."""

BRANCHES: dict[str, str] = {
    **{prefix + c: "conditional" for c in (*CONDITIONS, *SVE_CONDITIONS) for prefix in ("b.", "bc.", "b")},
    **dict.fromkeys(words("cbz cbnz tbz tbnz"), "conditional"),
    **dict.fromkeys(words("b b.al b.nv bal bnv bc.al bc.nv"), "unconditional"),
    **dict.fromkeys(words("br braa brab braaz brabz"), "indirect"),
    **dict.fromkeys(words("bl blr blraa blrab blraaz blrabz"), "call"),
    **dict.fromkeys(words("ret retaa retab retaasppc retabsppc eret eretaa eretab"), "return"),
    **dict.fromkeys(words("udf brk"), "stop"),
}
"""The kind of each mnemonic that transfers control, in lower case."""
