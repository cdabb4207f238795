"""A reader of A64 operands: registers, lists, immediates, shifts, addresses and names, as compilers write them.

Upper case means the same as lower case, except in symbols. Immediates may have a `#` or not. A post-index amount
belongs to the address before it.
"""

from __future__ import annotations

import re
from functools import lru_cache

import msgspec

from incc.frontends.aarch64.branches import CONDITIONS
from incc.frontends.asm.expressions import NotAnExpressionError, expression
from incc.frontends.isa import split_operands, word_set
from incc.frontends.kernel import Register

_WITH_CONDITION = word_set("csel csinc csinv csneg cset csetm cinc cinv cneg ccmp ccmn fcsel fccmp fccmpe")
_WITH_OPTION = word_set("dmb dsb isb tsb psb bti hint dgh csdb gcsb chkfeat")
_WITH_SYSTEM_REGISTER = word_set(
    "mrs msr mrrs msrr sys sysp sysl at dc ic tlbi tlbip cfp cpp dvp cosp brb trcit smstart smstop"
)
_PREFETCH = re.compile(r"r?prf(m|um|[bhwd])$")
_PATTERN = re.compile(r"(pow2|vl\d+|mul[34]|all)$")
_SHIFT = re.compile(r"(lsl|lsr|asr|ror|msl|[us]xt[bhwx]|mul)(?:\s+#?(.+))?$")
_NUMBER = re.compile(r"[-+]?(?:0x[\da-f]+|\d[\d.]*(?:e[-+]?\d+)?)$")
_CALCULATION = re.compile(r"[-+~(]*\d[\w+*/%&|^~()<> \t-]*$")
_INTEGER = re.compile(r"[-+]?(?:0x[\da-f]+|\d+)$")

_ALIASES = {"lr": "x30", "fp": "x29", "ip0": "x16", "ip1": "x17"}
_ZERO_AND_STACK = {"xzr": "x", "wzr": "w", "sp": "x", "wsp": "w"}
_SCALAR = re.compile(r"([wxbhsdq])([12]?\d|3[01])$")
_VECTOR = re.compile(r"([vz])([12]?\d|3[01])(?:\.(\d*[bhsdq]))?(\[[^\]]*\])?$")
_PREDICATE = re.compile(r"(pn?)(\d|1[0-5])(?:(\.[bhsdq])|/([zm]))?(?:\[([^\]]*)\])?$")
_MATRIX = re.compile(r"z(?:a|t0)(?:\d*[hv]?(?:\.[bhsdq])?(?:\[([^\]]*)\])?|\d*\.[bhsdq])$")
_WIDTHS = {"w": 32, "x": 64, "b": 8, "h": 16, "s": 32, "d": 64, "q": 128}
_HALF_VECTORS = word_set("8b 4h 2s 1d 4b 2h")
VECTOR_BITS = 2048
"""The longest vector that SVE allows."""
GRANULE = 16
"""The bytes of the shortest vector that SVE allows, which sizes of whole vectors are counted in."""


class AddressOperand(msgspec.Struct, frozen=True, kw_only=True):
    """An address in brackets: base + index * scale + displacement."""

    base: Register
    index: Register | None
    scale: int
    displacement: int
    """In bytes; in vectors' lengths if `vectors`. The amount of a post-index is not part of it."""
    symbol: str
    """The symbol in the displacement, or else ""."""
    vectors: bool
    """The displacement counts vectors (`mul vl`)."""
    written_back: bool
    step: int | None
    """The change of the base by write-back, None if it is in a register or unknown."""
    step_register: Register | None


class Operand(msgspec.Struct, frozen=True, kw_only=True):
    """An operand of a statement."""

    text: str
    shape: str
    """The kind of operand as forms name it (docs/models.md, "Forms of AArch64")."""
    registers: tuple[Register, ...] = ()
    """The registers, in order, without the zero register; the base and the index of an address."""
    selects: tuple[Register, ...] = ()
    """Registers that select a part of the operand, and are only read: the w12 of `za0h.s[w12, 0]`."""
    lane: bool = False
    """A part of each register: an element, or a tile of a matrix."""
    merging: bool = False
    """A predicate whose inactive elements keep the result's old value (`/m`)."""
    value: int | None = None
    """The value of an immediate, the amount of a shift; None if it is not known."""
    address: AddressOperand | None = None


def general(name: str) -> Register:
    """Return a general-purpose register of 64 bits (`x30`), or the stack pointer."""
    return _STACK[name] if name in _STACK else _named("x", name[1:], 64)


@lru_cache(4096)
def _named(kind: str, number: str, width: int) -> Register:
    """Return register `number` of a kind, with the `width` in bits that the instruction uses."""
    if kind in "wx":
        return Register(name=kind + number, root="x" + number, offset=0, width=width, kind="general")
    if kind in ("p", "pn"):
        return Register(name=kind + number, root="p" + number, offset=0, width=VECTOR_BITS // 8, kind="mask")
    return Register(name=kind + number, root="z" + number, offset=0, width=width, kind="vector")


_STACK = {
    name: Register(name=name, root="sp", offset=0, width=width, kind="general")
    for name, width in (("sp", 64), ("wsp", 32))
}
SPECIAL = {
    name: Register(name=name, root=name, offset=0, width=width, kind="")
    for name, width in (("ffr", VECTOR_BITS // 8), ("za", 8 * 256 * 256), ("zt0", 512), ("fpcr", 64), ("fpsr", 64))
}
"""Registers that instructions use without naming them, and those of matrices."""


def operands_of(mnemonic: str, text: str) -> tuple[Operand, ...]:
    """Return the operands of a statement. Raises ValueError."""
    parts = split_operands(text)
    for n in range(len(parts) - 1):
        if parts[n].startswith("[") and parts[n].endswith("]") and not mnemonic.startswith(("cpy", "set")):
            parts[n : n + 2] = [f"{parts[n]}, {parts[n + 1]}"]
            break
    return tuple([operand(part, mnemonic) for part in parts])


def operand(text: str, mnemonic: str = "") -> Operand:
    """Return the operand of a text; the meaning of a bare name depends on the mnemonic. Raises ValueError."""
    known = _plain(text)
    if known is not None:
        return known
    shape = _name_shape(text.lower(), mnemonic)
    return Operand(text=text if shape == "label" else text.lower(), shape=shape)


@lru_cache(16384)
def _plain(text: str) -> Operand | None:
    """Return an operand that means the same for each mnemonic, else None. Raises ValueError."""
    if not text:
        raise ValueError("an operand is missing")
    if text.startswith("["):
        return _memory(text)
    if text.startswith("{"):
        return _list(text.lower())
    lower = text.lower()
    found = _register(lower.removesuffix("!"))
    if found is not None:
        return found
    if text.startswith(("#", ":")) or _NUMBER.match(lower) or (_CALCULATION.match(text) and constant(text) is not None):
        return Operand(text=text, shape="#", value=number(lower))
    shift = _SHIFT.match(lower)
    if shift:
        return Operand(
            text=lower, shape=shift[1] + ("#" if shift[2] and shift[2] != "0" else ""), value=number(shift[2] or "0")
        )
    return None


def _name_shape(text: str, mnemonic: str) -> str:
    if mnemonic in _WITH_CONDITION and text in CONDITIONS:
        return "cond"
    if _PREFETCH.match(mnemonic):
        return "prfop"
    if _PATTERN.match(text):
        return "pattern"
    if mnemonic in _WITH_OPTION:
        return "option"
    return "sysreg" if mnemonic in _WITH_SYSTEM_REGISTER else "label"


def number(text: str) -> int | None:
    """Return the value of an integer, with or without `#`, None for another text."""
    text = text.removeprefix("#")
    if _INTEGER.match(text):
        return int(text, 0) if not re.match(r"[-+]?0\d", text) else None
    return constant(text) if _CALCULATION.match(text) else None


def constant(text: str) -> int | None:
    """Return the value of an expression of integers, None for another text."""
    try:
        value = expression(text)
    except NotAnExpressionError:
        return None
    return value if isinstance(value, int) else None


def _register(text: str) -> Operand | None:
    text = _ALIASES.get(text, text)
    if m := _SCALAR.match(text):
        if m[1] in "xw" and m[2] == "31":
            return None
        return Operand(text=text, shape=m[1], registers=(_named(m[1], m[2], _WIDTHS[m[1]]),))
    if text in _ZERO_AND_STACK:
        return Operand(text=text, shape=_ZERO_AND_STACK[text], registers=(_STACK[text],) if text in _STACK else ())
    if m := _VECTOR.match(text):
        arrangement = m[3] or ""
        width = VECTOR_BITS if m[1] == "z" else 64 if arrangement in _HALF_VECTORS and not m[4] else 128
        shape = m[1] + (f".{arrangement}" if arrangement else "") + "[]" * bool(m[4])
        return Operand(text=text, shape=shape, registers=(_named(m[1], m[2], width),), lane=bool(m[4]))
    if m := _PREDICATE.match(text):
        shape = m[1] + (m[3] or (f"/{m[4]}" if m[4] else "")) + "[]" * bool(m[5])
        selects = _selecting(m[5])
        used = (_named(m[1], m[2], 0),)
        return Operand(text=text, shape=shape, registers=used, selects=selects, merging=m[4] == "m")
    if m := _MATRIX.match(text):
        name = text[:3] if text.startswith("zt0") else "za"
        part = text != name or name == "za"
        return Operand(text=text, shape=name, registers=(SPECIAL[name],), selects=_selecting(m[1]), lane=part)
    return None


def _selecting(inside: str | None) -> tuple[Register, ...]:
    """Return the general-purpose register in the brackets after a predicate or a matrix."""
    first = _register((inside or "").partition(",")[0].strip())
    return first.registers if first else ()


def _list(text: str) -> Operand:
    """`{v.2d*2}` of {v0.2d, v1.2d} and {v0.2d-v1.2d}, with `[]` for one lane of each."""
    inside, brace, rest = text[1:].partition("}")
    if not brace:
        raise ValueError(f"no end of the list {text!r}")
    if "-" in inside:
        first, _, last = (part.strip() for part in inside.partition("-"))
        ends = [m for part in (first, last) if (m := re.match(r"([a-z]+)(\d+)(.*)$", part))]
        if len(ends) != 2:
            raise ValueError(f"{text!r} is no list of registers")
        start, limit = int(ends[0][2]), 16 if ends[0][1] in ("p", "pn") else 32
        count = (int(ends[1][2]) - start) % limit + 1
        parts = [f"{ends[0][1]}{(start + n) % limit}{ends[0][3]}" for n in range(count)]
    else:
        parts = split_operands(inside.strip())
    if not inside.strip():
        return Operand(text=text, shape="za")
    members = [_register(part) for part in parts]
    if members[0] is None or None in members:
        raise ValueError(f"{text!r} is no list of registers")
    lane = "[]" * rest.strip().startswith("[")
    return Operand(
        text=text,
        shape=f"{{{members[0].shape}*{len(members)}}}{lane}",
        registers=tuple([r for member in members if member for r in member.registers]),
        selects=members[0].selects,
        lane=bool(lane) or members[0].lane,
    )


def _memory(text: str) -> Operand:
    """`[x,#]!` and the like; the second part after the bracket is the addend of a post-index."""
    inside, bracket, rest = text[1:].partition("]")
    if not bracket:
        raise ValueError(f"no end of the address {text!r}")
    parts = [part.strip() for part in inside.split(",")]
    operands = [Operand(text="mul vl", shape="vl") if part.lower() == "mul vl" else operand(part) for part in parts]
    shapes = [each.shape for each in operands]
    if shapes[0] not in ("x", "z.d", "z.s") or not operands[0].registers:
        raise ValueError(f"{parts[0]!r} is no base register")
    # An offset by a symbol's lower bits is an offset.
    shapes[1:] = ["#" if shape == "label" else shape for shape in shapes[1:]]
    shape, rest = f"[{','.join(shapes)}]", rest.strip()
    after = operand(rest[1:].strip()) if rest.startswith(",") else None
    if after is not None:
        shape += f",{after.shape}"
    elif rest == "!":
        shape += "!"
    return Operand(
        text=text,
        shape=shape,
        registers=tuple([r for each in operands for r in each.registers]),
        address=_address(operands, shapes, rest == "!", after),
    )


def _address(operands: list[Operand], shapes: list[str], pre: bool, after: Operand | None) -> AddressOperand:
    offset, amount = (*operands[1:], None, None)[:2]
    index = offset.registers[0] if offset and offset.registers else None
    displacement = offset.value if offset and index is None else 0
    known = displacement is not None
    symbol = offset.text.removeprefix("#") if offset and not known else ""
    step = (displacement if pre else after.value if after else None) if known else None
    return AddressOperand(
        base=operands[0].registers[0],
        index=index,
        scale=1 << (amount.value or 0) if amount and index else 1,
        displacement=displacement or 0,
        symbol=symbol,
        vectors=shapes[-1] == "vl",
        written_back=pre or after is not None,
        step=step,
        step_register=after.registers[0] if after and after.registers else None,
    )
