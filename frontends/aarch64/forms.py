"""The key of an AArch64 instruction form, from the instruction's text: mnemonic and the shapes of its operands.

The grammar of keys is in docs/models.md. Text is read as gcc, clang and LLVM's disassembler write it, upper or lower
case, immediates with or without `#`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from incc.frontends.isa import split_operands, word_set

_CONDITIONS = word_set("eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le al nv")
# SVE's names for conditions, in branches only.
_BRANCH_CONDITIONS = _CONDITIONS | frozenset(
    ["any", "none", "first", "last", "nfrst", "nlast", "pmore", "plast", "tcont", "tstop"]
)
_WITH_CONDITION = word_set("csel csinc csinv csneg cset csetm cinc cinv cneg ccmp ccmn fcsel fccmp fccmpe ctermeq")
_TO_LABEL = re.compile(r"(bl?|bc?\.[a-z]+|cbn?z|tbn?z|adrp?)$|b[a-z]{2}$")
_LITERAL = frozenset(["ldr", "ldrsw", "prfm"])
_PREFETCH = re.compile(r"prf(m|um|[bhwd])$")
_PATTERN = re.compile(r"(pow2|vl\d+|mul[34]|all)$")
_SHIFT = re.compile(r"(lsl|lsr|asr|ror|msl|[us]xt[bhwx]|mul)(?:\s+#?(.+))?$")
_ALIASES = {"lr": "x", "fp": "x", "sp": "x", "xzr": "x", "ip0": "x", "ip1": "x", "wzr": "w", "wsp": "w"}
_SCALAR = re.compile(r"([wxbhsdq])(?:[0-2]?\d|3[01])$")
_VECTOR = re.compile(r"(v|z)(?:[0-2]?\d|3[01])(?:\.(\d*[bhsdq]))?(\[[^\]]*\])?$")
_PREDICATE = re.compile(r"(pn?)(?:\d|1[0-5])(?:(\.[bhsdq])|(/[zm]))?(\[[^\]]*\])?$")
_NUMBER = re.compile(r"[-+]?(0x[\da-f]+|\d[\d.]*(e[-+]?\d+)?)$")

# What gcc writes and LLVM prints otherwise, by mnemonic and the first operand's kind. The second part are operands that
# the shorter form leaves out.
_SAME = {
    ("sxtl", "v"): ("sshll", "#"),
    ("uxtl", "v"): ("ushll", "#"),
    ("sxtl2", "v"): ("sshll2", "#"),
    ("uxtl2", "v"): ("ushll2", "#"),
    ("not", "v"): ("mvn", ""),
    ("ins", "v"): ("mov", ""),
    ("uxtw", "x"): ("mov", ""),
}


def form_key(mnemonic: str, operands: Sequence[str]) -> str:
    """`fmla/v.2d,v.2d,v.2d` from the mnemonic and the operands' shapes (`operand_shape`), both in canonical form.

    A form without operands ends in the slash: `ret/`.
    """
    return f"{mnemonic}/{','.join(operands)}"


def form_of(text: str) -> tuple[str, frozenset[str]]:
    """Return the form's key and the traits of an instruction in assembly. Raises ValueError for other text.

    Traits: "imm0" (an immediate outside of addresses is zero), "shift1-4" (a register operand is shifted left by 1 to
    4).
    """
    mnemonic, _, rest = text.strip().lower().partition(" ")
    mnemonic, tab, more = mnemonic.partition("\t")
    rest = (more + " " + rest if tab else rest).strip()
    if not re.fullmatch(r"[a-z][a-z0-9]*(\.[a-z]+)?", mnemonic):
        raise ValueError(f"{text.strip()!r} is no instruction")
    operands = _merged(split_operands(rest))
    shapes = [operand_shape(o, mnemonic) for o in operands]
    if shapes[-1:] == ["#"] and (_TO_LABEL.match(mnemonic) or mnemonic in _LITERAL):
        # LLVM's disassembler prints distances instead of labels.
        shapes[-1] = "label"
    traits = set()
    for operand, shape in zip(operands, shapes, strict=True):
        if shape == "#" and re.fullmatch(r"#?[-+]?(0x0+|0+(\.0*)?)", operand):
            traits.add("imm0")
        elif shape == "lsl#" and shapes[-1] == shape and shapes[-2:-1] != ["#"]:
            amount = operand.rpartition("#")[2].rpartition(" ")[2]
            if amount in ("1", "2", "3", "4", "0x1", "0x2", "0x3", "0x4"):
                traits.add("shift1-4")
    return form_key(*_canonical(mnemonic, shapes)), frozenset(traits)


def _canonical(mnemonic: str, shapes: list[str]) -> tuple[str, list[str]]:
    """One name for what can be written in several ways: the one that LLVM's disassembler prints."""
    stem, dot, condition = mnemonic.partition(".")
    if dot and stem in ("b", "bc") and condition in _BRANCH_CONDITIONS:
        return f"{stem}.cond", shapes
    if not dot and mnemonic[0] == "b" and mnemonic[1:] in _CONDITIONS:
        return "b.cond", shapes
    if len(shapes) > 1 and re.match(r"[us]xt[bhw]", shapes[-1]) and shapes[-2] == "x":
        # gcc writes the extended register in full.
        shapes = [*shapes[:-2], "w", shapes[-1]]
    kind = shapes[0][0] if shapes else ""
    if (mnemonic, kind) in _SAME:
        mnemonic, extra = _SAME[mnemonic, kind]
        return mnemonic, shapes + [extra] * bool(extra)
    if mnemonic == "umov" and shapes in (["x", "v.d[]"], ["w", "v.s[]"]):
        return "mov", shapes
    if mnemonic == "dup" and kind in ("b", "h", "s", "d"):
        return "mov", shapes
    if mnemonic in ("movz", "movn") and len(shapes) == 2:
        return "mov", shapes
    return mnemonic, shapes


def _merged(operands: list[str]) -> list[str]:
    """Return the operands with a post-index amount joined to the address before it."""
    for n in range(len(operands) - 1):
        if operands[n].startswith("[") and operands[n].endswith("]"):
            return [*operands[:n], f"{operands[n]}, {operands[n + 1]}", *operands[n + 2 :]]
    return operands


def operand_shape(text: str, mnemonic: str = "") -> str:
    """Return the shape of an operand; the meaning of a bare name depends on the mnemonic. Raises ValueError."""
    if not text:
        raise ValueError("an operand is missing")
    if text.startswith("["):
        return _memory(text)
    if text.startswith("{"):
        return _list(text)
    register = _register(text)
    if register:
        return register
    if text.startswith(("#", ":")) or _NUMBER.match(text):
        return "#"
    shift = _SHIFT.match(text)
    if shift:
        return shift[1] + ("#" if shift[2] and shift[2] != "0" else "")
    if mnemonic in _WITH_CONDITION and text in _CONDITIONS:
        return "cond"
    if _PREFETCH.match(mnemonic):
        return "prfop"
    if _PATTERN.match(text):
        return "pattern"
    if mnemonic in ("dmb", "dsb", "isb", "tsb", "psb", "bti", "hint", "dgh", "csdb"):
        return "option"
    if mnemonic in ("mrs", "msr", "sys", "sysl", "at", "dc", "ic", "tlbi", "cfp", "cpp", "dvp", "smstart", "smstop"):
        return "sysreg"
    return "label"


def _register(text: str) -> str:
    if text in _ALIASES:
        return _ALIASES[text]
    if m := _SCALAR.match(text):
        return m[1]
    if m := _VECTOR.match(text):
        return m[1] + (f".{m[2]}" if m[2] else "") + "[]" * bool(m[3])
    if m := _PREDICATE.match(text):
        return m[1] + (m[2] or m[3] or "") + "[]" * bool(m[4])
    return ""


def _list(text: str) -> str:
    """`{v.2d*2}` of {v0.2d, v1.2d} and {v0.2d-v1.2d}, with `[]` for one lane of each."""
    inside, brace, rest = text[1:].partition("}")
    if not brace:
        raise ValueError(f"no end of the list {text!r}")
    if "-" in inside:
        first, _, last = (part.strip() for part in inside.partition("-"))
        numbers = [int(m[0]) if (m := re.search(r"\d+", part)) else 0 for part in (first, last)]
        count = (numbers[1] - numbers[0]) % 32 + 1
    else:
        parts = [part.strip() for part in inside.split(",")]
        first, count = parts[0], len(parts)
    shape = _register(first)
    if not shape:
        raise ValueError(f"{text!r} is no list of registers")
    return f"{{{shape}*{count}}}" + "[]" * rest.strip().startswith("[")


def _memory(text: str) -> str:
    """`[x,#]!` and the like; the second part after the bracket is what a post-index adds."""
    inside, bracket, rest = text[1:].partition("]")
    if not bracket:
        raise ValueError(f"no end of the address {text!r}")
    parts = []
    for part in inside.split(","):
        part = part.strip()
        if part == "mul vl":
            parts.append("vl")
        else:
            parts.append(operand_shape(part))
    if not parts or parts[0] not in ("x", "z.d", "z.s"):
        raise ValueError(f"{text!r} has no base register")
    # An offset by a symbol's lower bits is an offset.
    parts[1:] = ["#" if p == "label" else p for p in parts[1:]]
    rest = rest.strip()
    if rest == "!":
        return f"[{','.join(parts)}]!"
    if rest.startswith(","):
        return f"[{','.join(parts)}],{operand_shape(rest[1:].strip())}"
    return f"[{','.join(parts)}]"
