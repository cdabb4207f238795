"""The meaning of an x86 mnemonic beyond its operands: arithmetic for vectorisation statistics, idioms, plain moves."""

from __future__ import annotations

import msgspec

from incc.frontends.isa import word_set
from incc.frontends.kernel import Sum


class ArithmeticClass(msgspec.Struct, frozen=True, kw_only=True):
    """Arithmetic of a mnemonic: `per_element` operations on each `element` (in bits) of the result or comparison."""

    packed: bool
    floating: bool
    element: int
    per_element: int


PREFIXES = word_set(
    "rep repe repz repne repnz lock data16 data32 addr16 addr32 bnd notrack xacquire xrelease cs ds es fs gs ss"
    " rex rex64 rex.w rex.r rex.x rex.b rex.wr rex.wx rex.wb rex.rx rex.rb rex.xb rex.wrx rex.wrb rex.wxb rex.rxb"
    " rex.wrxb"
)
"""Prefixes as assemblers write them before a mnemonic. One that is a statement of its own belongs to the next one."""

_FLOAT_SUFFIXES = {
    "ps": (True, 32),
    "pd": (True, 64),
    "ph": (True, 16),
    "ss": (False, 32),
    "sd": (False, 64),
    "sh": (False, 16),
}

# Reciprocal and reciprocal square root approximations stand for a division or a root and count as one.
_FLOAT_SIMPLE = word_set(
    "add sub mul div sqrt min max cmp comi ucomi addsub hadd hsub range rcp rsqrt rcp14 rsqrt14 rcp28 rsqrt28"
)
_FLOAT_FUSED = word_set("fmadd fmsub fnmadd fnmsub fmaddsub fmsubadd")

_INTEGER_ELEMENTS = {"b": 8, "w": 16, "d": 32, "q": 64}

# One operation on each element; the element's letter follows. "adds"/"addus" are the saturating forms, "cmp"/"cmpu"
# AVX-512's comparisons into a mask.
_INTEGER_SIMPLE = word_set(
    "padd padds paddus psub psubs psubus pmull pmins pminu pmaxs pmaxu pabs pavg pcmpeq pcmpgt pcmp pcmpu "
    "phadd phadds phsub phsubs"
)

# Irregular names: element of the result in bits, operations for each. A sum of n products counts 2n, or 2n - 1 where
# nothing is added to it; psadbw: 8 absolute differences and 7 additions.
_INTEGER_OTHER = {
    "pmulhw": (16, 1),
    "pmulhuw": (16, 1),
    "pmulhrsw": (16, 1),
    "pmuldq": (64, 1),
    "pmuludq": (64, 1),
    "pmaddwd": (32, 3),
    "pmaddubsw": (16, 3),
    "psadbw": (64, 15),
    "pmadd52luq": (64, 2),
    "pmadd52huq": (64, 2),
    "pdpwssd": (32, 4),
    "pdpwssds": (32, 4),
    "pdpbusd": (32, 8),
    "pdpbusds": (32, 8),
}


def arithmetic_class(mnemonic: str) -> ArithmeticClass | None:
    """Return the arithmetic that a mnemonic (lower case, Intel's) does on vector registers, None for none.

    Counted are addition, subtraction, multiplication, division, square root, minimum, maximum, absolute value, average
    and comparison; a fused multiply-add counts two. Moves, shuffles, logic, shifts, conversions and rounding are not
    arithmetic. The caller must know that vector registers are used: `cmpsd` is also a string instruction.
    """
    name = mnemonic[1:] if mnemonic.startswith("v") else mnemonic
    if mnemonic == "vdpbf16ps":
        return ArithmeticClass(packed=True, floating=True, element=32, per_element=4)
    suffix = _FLOAT_SUFFIXES.get(name[-2:])
    if suffix is not None:
        base = name[:-2]
        if base in _FLOAT_SIMPLE:
            return ArithmeticClass(packed=suffix[0], floating=True, element=suffix[1], per_element=1)
        if base[-3:] in ("132", "213", "231"):
            base = base[:-3]
        if base in _FLOAT_FUSED:
            return ArithmeticClass(packed=suffix[0], floating=True, element=suffix[1], per_element=2)
    if name in _INTEGER_OTHER:
        element, operations = _INTEGER_OTHER[name]
        return ArithmeticClass(packed=True, floating=False, element=element, per_element=operations)
    if name[:-1] in _INTEGER_SIMPLE and name[-1] in _INTEGER_ELEMENTS:
        return ArithmeticClass(packed=True, floating=False, element=_INTEGER_ELEMENTS[name[-1]], per_element=1)
    return None


_ADDITIONS = word_set("addss addsd addps addpd")
_SUBTRACTIONS = word_set("subss subsd subps subpd")
_DIVISIONS = word_set("divss divsd divps divpd")
# The digits give the order: factor, factor, addend by operand (VFMADD231: operand 2 * operand 3 + operand 1).
_FUSED_SUMS = {"132": Sum((1,), (0, 2)), "213": Sum((2,), (0, 1)), "231": Sum((0,), (1, 2))}


def sum_of(mnemonic: str, operands: int) -> Sum | None:
    """Return the sum that a mnemonic (lower case, Intel's) computes from its operands, in Intel order; None for no sum.

    vfmsub and vfnmsub negate the addend: a sum that is carried changes its sign in each iteration, so it is none.
    """
    name = mnemonic.removeprefix("v")
    if name in _ADDITIONS:
        return Sum((operands - 2, operands - 1), ())
    if name in _SUBTRACTIONS:
        return Sum((operands - 2,), (operands - 1,))
    if name.startswith(("fmadd", "fnmadd")):
        return _FUSED_SUMS.get(name.removeprefix("fmadd").removeprefix("fnmadd")[:3])
    return None


def divisor_of(mnemonic: str, operands: int) -> int | None:
    """Return the operand by which a floating-point division divides, None for other mnemonics."""
    return operands - 1 if mnemonic.removeprefix("v") in _DIVISIONS else None


# Same source twice: all zeros. That is more than any one core treats as an idiom; Intel's optimization manual lists
# xor, sub, pxor, xorps, psub and pcmpgt, AMD's guides for the Zen cores also pandn and andnps.
_ZERO_SAME = word_set(
    "xor sub andn pxor pxord pxorq xorps xorpd pandn pandnd pandnq andnps andnpd "
    "psubb psubw psubd psubq psubsb psubsw psubusb psubusw pcmpgtb pcmpgtw pcmpgtd pcmpgtq "
    "kxorb kxorw kxord kxorq kandnb kandnw kandnd kandnq"
)
_ONES_SAME = word_set("pcmpeqb pcmpeqw pcmpeqd pcmpeqq kxnorb kxnorw kxnord kxnorq")


def same_source_idiom(mnemonic: str) -> str:
    """Return the result when both sources are one register: "zero", "ones", "" for nothing special."""
    name = mnemonic[1:] if mnemonic.startswith("v") else mnemonic
    if name in _ZERO_SAME:
        return "zero"
    return "ones" if name in _ONES_SAME else ""


_VECTOR_MOVES = word_set(
    "movaps movapd movups movupd movdqa movdqu movdqa32 movdqa64 movdqu8 movdqu16 movdqu32 movdqu64"
)


def move_class(mnemonic: str) -> str:
    """Return the registers that a mnemonic copies whole: "general", "vector", "mmx", "mask", "" for no plain move.

    `movq` copies a whole register only between MMX registers, and `kmovq` alone copies a whole mask.
    """
    if mnemonic == "mov":
        return "general"
    if mnemonic == "movq":
        return "mmx"
    if mnemonic == "kmovq":
        return "mask"
    name = mnemonic[1:] if mnemonic.startswith("v") else mnemonic
    return "vector" if name in _VECTOR_MOVES else ""


_EXTREMA = word_set("maxss maxsd minss minsd maxps maxpd minps minpd")
_ROOTS = word_set("sqrtss sqrtsd sqrtps sqrtpd")
_PRECISIONS = {"cvtss2sd": "widen", "cvtps2pd": "widen", "cvtsd2ss": "narrow", "cvtpd2ps": "narrow"}
_FROM_INTEGERS = ("cvtsi2s", "cvtusi2s", "cvtdq2p", "cvtudq2p", "cvtqq2p", "cvtuqq2p")
_TO_INTEGERS = ("cvttss2", "cvttsd2", "cvttps2", "cvttpd2", "cvtss2si", "cvtsd2si", "cvtps2dq", "cvtpd2dq")
# Instructions that move elements of vectors; shifts and plain moves between registers are not among them.
_SHUFFLES = ("perm", "shuf", "unpck", "punpck", "pshuf", "insert", "extract", "pinsr", "pextr", "blend", "pblend",
             "palignr", "align", "movddup", "movsldup", "movshdup", "movlhps", "movhlps", "movhp", "movlp", "broadcast",
             "pbroadcast", "compress", "expand", "pcompress", "pexpand")  # fmt: skip


def operation_of(mnemonic: str) -> str:
    """Return an instruction's operation, in the words of `incc.frontends.isa.Isa.operation`."""
    name = mnemonic.removeprefix("v")
    if name in _EXTREMA:
        return "extremum"
    if name in _ROOTS:
        return "root"
    if name in ("div", "idiv"):
        return "integer-division"
    if name.startswith("cvt"):
        if name in _PRECISIONS:
            return _PRECISIONS[name]
        if name.startswith(_FROM_INTEGERS):
            return "from-integer"
        return "to-integer" if name.startswith(_TO_INTEGERS) else ""
    if name.startswith(("gather", "pgather")):
        return "gather"
    return "shuffle" if name.startswith(_SHUFFLES) else ""
