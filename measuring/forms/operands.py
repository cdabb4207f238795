"""Parsing of forms: `vfmadd231pd ymm, ymm, ymm`, `imulq r, r`, `addl $i, %eax`, or a form's key.

Operands are kinds (`i`, `r`, `r64`, `m`, `m128`, `ymm`, `k` …) or assembly operands (`%rbx`, `[rsi]`, `$5`), of which
only the kind matters. They are in Intel's order, unless `%` or `$` mark AT&T's, or only AT&T's order matches.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

import msgspec
from iced_x86 import Register, RegisterExt

from incc.measuring.forms.bench import FormVariant, measurable, variants, why_not
from incc.measuring.forms.target import MeasuredCore
from incc.models.forms.rules import rules_of
from incc.models.forms.shapes import Shape, by_key, title
from incc.models.notation import split_key
from incc.support.errors import nearest, suggestion


class Unreadable(Exception):
    """A name that matches no form; the message says why, with suggestions."""


class Named(msgspec.Struct, frozen=True):
    """A form, and its name in the notation of this module."""

    title: str
    variant: FormVariant


_FIXED = {"al": "R8", "cl": "R8", "ax": "R16", "dx": "R16", "eax": "R32", "rax": "R64"}
"""Registers that are operands of their own in some forms, with their kind."""
_KINDS = (
    (re.compile(r"i|imm|imd|\$.*|-?\d+|0x[0-9a-f]+"), r"I\d+|1"),
    (re.compile(r"r|gpr|reg"), r"R(8|16|32|64)"),
    (re.compile(r"m|mem|\[.*\]|.*\(.*\)|m(8|16|32|64|80|128|256|512)"), "M"),
    (re.compile(r"k[0-7]?"), "K"),
)
_IS_KIND = {f"R{bits}": getattr(RegisterExt, f"is_gpr{bits}") for bits in (8, 16, 32, 64)}


def pattern(operand: str) -> str:
    """Return a regular expression for an operand as the user writes it in `Shape.operands`; "" for nothing."""
    text = operand.strip().lower().lstrip("%*")
    text = re.sub(r"^(byte|word|dword|qword|[xyz]mmword)\s+ptr\s+", "", text)
    if text in _FIXED:
        return f"{text.upper()}|{_FIXED[text]}"
    # iced-x86 calls r9b R9L.
    register = getattr(Register, re.sub(r"^(R\d+)B$", r"\1L", text.upper()), None)
    for kind, is_kind in _IS_KIND.items():
        # As an operand of a form, r8 is a kind.
        if text != "r8" and isinstance(register, int) and is_kind(register):
            return kind
    if m := re.fullmatch(r"[ri]?(?:mm)?(8|16|32|64)", text):
        return ("I" if text.startswith("i") else "R") + m[1] + ("|1" if text == "i8" else "")
    if m := re.fullmatch(r"([xyz])(mm\d*)?", text):
        return m[1].upper() + "MM"
    return next((kinds for expression, kinds in _KINDS if expression.fullmatch(text)), "")


def _bits(operand: str) -> int:
    """Return the width of memory in bits, 0 for any."""
    text = operand.strip().lower()
    if m := re.fullmatch(r"m(\d+)", text):
        return int(m[1])
    names = {"byte": 8, "word": 16, "dword": 32, "qword": 64, "xmmword": 128, "ymmword": 256, "zmmword": 512}
    m = re.match(r"(\w+)\s+ptr\b", text)
    return names.get(m[1], 0) if m else 0


def _split(text: str) -> list[str]:
    """Split operands at commas that are in no parentheses."""
    parts, depth = [""], 0
    for c in text:
        depth += (c in "([") - (c in ")]")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return [p.strip() for p in parts if p.strip()]


# A store's form, whose memory operand may also be a register.
_STORES = re.compile(r"^[A-Z]+_\w*?MOV[A-Z0-9]*_[XYZ]MMM\d+_|^V?MOV[A-Z0-9]*_[XYZ]MMM\d+_")
_MASK = re.compile(r"\{\s*%?(k[1-7]?|z|1to\d+)\s*\}")


def read(text: str, core: MeasuredCore) -> Named:
    """Return the form that a text names. Raises Unreadable."""
    if "/" in text.partition(" ")[0]:
        return _by_key(text, core)
    named = shapes_of(text)
    if named.fitting:
        likeliest = min(named.fitting, key=lambda shape: (bool(why_not(shape, core)), *order_of(text, named, shape)))
        return _with(likeliest, set(named.conditions), core)
    if all(why_not(shape, core) for shape in named.called):
        raise Unreadable(f"{named.mnemonic} {why_not(named.called[0], core)}")
    raise no_such_operands(named, [shape for shape in named.called if not why_not(shape, core)])


class NamedShapes(msgspec.Struct, frozen=True, kw_only=True):
    """The forms that a text names."""

    mnemonic: str
    conditions: frozenset[str]
    """The conditions that marks name, such as "mask" for {k}."""
    called: list[Shape]
    """The forms with the mnemonic."""
    fitting: list[Shape]
    """Those with such operands."""


def shapes_of(text: str) -> NamedShapes:
    """Return the forms that a text names, in Intel's or AT&T's order. Raises Unreadable."""
    conditions: set[str] = set()
    for mark in _MASK.findall(text.lower()):
        conditions.add("mask" if mark.startswith("k") else "zeroing" if mark == "z" else "bcast")
    mnemonic, _, rest = _MASK.sub("", text.strip().lower()).partition(" ")
    if not mnemonic:
        raise Unreadable("no instruction")
    is_called = rules_of("x86").is_called
    called = [shape for key, shape in by_key().items() if is_called(key, mnemonic)]
    if not called:
        raise Unreadable(f"{mnemonic!r} is not an instruction{suggestion(mnemonic, rules_of('x86').mnemonics(), 3)}")
    operands = _split(rest)
    patterns = [pattern(o) for o in operands]
    if "" in patterns:
        raise Unreadable(f"{operands[patterns.index('')]!r} is not an operand (i, r64, m, xmm, ymm, zmm, k …)")
    turned = "%" in text or "$" in text
    fitting: list[Shape] = []
    for reverse in (turned, not turned):
        wanted = patterns[::-1] if reverse else patterns
        bits = [_bits(o) for o in (operands[::-1] if reverse else operands)]
        fitting = fitting or [s for s in called if _fits(s, wanted, bits)]
    return NamedShapes(mnemonic=mnemonic, conditions=frozenset(conditions), called=called, fitting=fitting)


def no_such_operands(named: NamedShapes, shapes: Iterable[Shape]) -> Unreadable:
    """Return an error that lists the operands of some forms."""
    titles = sorted({title(shape) for shape in shapes}, key=lambda t: (len(t), t))
    listed = "; ".join(titles[:6]) + (" …" if len(titles) > 6 else "")
    return Unreadable(f"{named.mnemonic} has no such operands: there is {listed}")


def _fits(shape: Shape, wanted: list[str], bits: list[int]) -> bool:
    if len(shape.operands) != len(wanted):
        return False
    return all(
        re.fullmatch(p, o) and (not b or o != "M" or b == shape.memory_bits)
        for p, o, b in zip(wanted, shape.operands, bits, strict=True)
    )


def order_of(text: str, named: NamedShapes, shape: Shape) -> tuple[object, ...]:
    """Return a key that sorts the form first which an assembler takes for a text if several fit.

    That is one without EVEX if that is not requested; with the destination in the place of the modrm byte for
    general-purpose registers; with the widest registers and short constants.
    """
    vector = any(o in ("XMM", "YMM", "ZMM", "K") for o in shape.operands)
    sizes = [int(o[1:]) for o in shape.operands if re.fullmatch(r"R\d+", o)]
    constants = [int(o[1:]) for o in shape.operands if re.fullmatch(r"I\d+", o)]
    evex = shape.encoding == "EVEX"
    return (
        shape.mnemonic.lower() not in text.lower(),
        bool(_STORES.search(shape.key)) and not shape.has_memory,
        evex != bool(named.conditions),
        -max(sizes, default=0),
        constants,
        not vector and not shape.key.partition("_")[2].startswith("RM"),
        shape.key,
    )


def _with(shape: Shape, conditions: set[str], core: MeasuredCore) -> Named:
    if reason := why_not(shape, core):
        raise Unreadable(f"{title(shape)} {reason}")
    by_conditions = {frozenset(v.conditions): v for v in variants(shape)}
    variant = by_conditions.get(frozenset(conditions))
    if variant is None:
        others = "; ".join(", ".join(sorted(c)) for c in by_conditions if c)
        raise Unreadable(
            f"{title(shape)} does not exist with {', '.join(sorted(conditions)) or 'nothing'}"
            + (f" (but with {others})" if others else "")
        )
    return Named(title(shape, variant.conditions), variant)


def _by_key(text: str, core: MeasuredCore) -> Named:
    try:
        key, conditions = split_key(text.strip())
    except ValueError as e:
        raise Unreadable(str(e)) from None
    shapes_by_key = {k.lower(): s for k, s in by_key().items()}
    shape = shapes_by_key.get(key.lower())
    if shape is None:
        near = nearest(key.lower(), shapes_by_key, 3)
        raise Unreadable(
            f"{key!r} is no form" + (f"; did you mean {', '.join(shapes_by_key[n].key for n in near)}?" if near else "")
        )
    return _with(shape, set(conditions), core)


def matching(globs: Iterable[str], core: MeasuredCore) -> list[Named]:
    """Return all measurable forms whose key or mnemonic matches one of the patterns, in all variants."""
    wanted = [g.lower() for g in globs]
    matches = []
    for shape in measurable(core):
        names = (shape.key.lower(), shape.mnemonic.lower())
        if not wanted or any(fnmatchcase(n, g) for n in names for g in wanted):
            matches += [Named(title(shape, v.conditions), v) for v in variants(shape)]
    return matches
