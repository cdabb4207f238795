"""The arithmetic of A64's vector and floating-point instructions, by classes of mnemonics."""

from __future__ import annotations

import re
from collections.abc import Sequence

from incc.frontends.aarch64.operands import GRANULE, Operand
from incc.frontends.aarch64.rules import names_of
from incc.frontends.kernel import Arithmetic, Sum

_FLOATING = {
    1: "f{add,sub,mul,nmul,mulx,div,sqrt,abs,abd,max,min,maxnm,minnm,max,min}{,p} f{subr,divr,cadd} fccmp{,e} fcmp{,e}"
    " f{add,max,min,maxnm,minnm}v fadda fcm{eq,ge,gt,le,lt,ne,uo} fac{ge,gt,le,lt} {frecpe,frsqrte}"
    " bf{add,sub,mul,max,min,maxnm,minnm}",
    2: "f{madd,msub,nmadd,nmsub,mla,mls,mad,msb,nmad,nmsb,nmla,nmls,cmla} fml{al,sl}{,2,b,t} {frecps,frsqrts}"
    " bfml{a,s,alb,alt,slb,slt}",
    4: "bfdot fmmla",
    8: "bfmmla",
}
_INTEGER = {
    1: "{add,sub,mul,abs,addp,subr} {s,u}{max,min,abd,hadd,hsub,rhadd}{,p} {s,u}q{add,sub} {add,{s,u}{max,min}}v"
    " {s,u}{addl,addw,subl,subw,mull,abdl}{,2,b,t} cm{eq,ge,gt,hi,hs,le,lt} cmp{eq,ge,gt,hi,hs,le,lo,ls,lt,ne}"
    " {s,u}addl{p,v} sq{,r}dmulh {s,u}mulh {add,sub,radd,rsub}hn{,2,b,t} {s,u}addv",
    2: "{mla,mls,mad,msb} {s,u}{mlal,mlsl,abal}{,2,b,t} {s,u}{aba,adalp} sqrdml{ah,sh} sqdml{al,sl}{,2,b,t}",
    8: "{s,u,us,su}dot",
    16: "{s,u,us}mmla",
}
"""Mnemonics by the operations for each element of the result; a sum of n products that is added counts 2n.

A reduction of a vector to a scalar counts one for each element of the vector.
"""

_OPERATIONS = {
    name: (count, floating)
    for floating, table in ((True, _FLOATING), (False, _INTEGER))
    for count, names in table.items()
    for name in names_of(names)
}
_ELEMENT_BITS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}
_ELEMENT = re.compile(r"[vz]\.(\d*)([bhsd])")


def arithmetic(mnemonic: str, operands: Sequence[Operand]) -> Arithmetic | None:
    """Return the arithmetic of an instruction on vector registers, None for none.

    The vectors of SVE count as the shortest that there are.
    """
    known = _OPERATIONS.get(mnemonic)
    vectors = [o for o in operands if o.registers and o.registers[0].kind == "vector"]
    if known is None or not vectors:
        return None
    count, floating = known
    is_reduction = not _ELEMENT.match(vectors[0].shape) and not vectors[-1].lane
    vector = vectors[-1 if is_reduction else 0]
    shape = _ELEMENT.match(vector.shape)
    if shape is None or vector.lane:
        element = _ELEMENT_BITS.get(vector.shape[:1], 0)
        if not element:
            return None
        return Arithmetic(packed=False, floating=floating, element=element, width=element, operations=count)
    element = _ELEMENT_BITS[shape[2]]
    width = int(shape[1]) * element if shape[1] else 8 * GRANULE
    return Arithmetic(
        packed=True,
        floating=floating,
        element=element,
        width=width,
        operations=count * (width // element),
        scalable=not shape[1],
    )


def sum_of(mnemonic: str, operands: Sequence[Operand]) -> Sum | None:
    """Return the floating-point sum that an instruction computes from its operands, None for none.

    fnmadd and fnmsub negate the addend, so that a carried sum changes its sign in each iteration: they are none.
    """
    count = len(operands)
    if mnemonic == "fadd":
        return Sum((count - 2, count - 1), ())
    if mnemonic == "fsub":
        return Sum((count - 2,), (count - 1,))
    if mnemonic in ("fmadd", "fmsub"):  # the latter: addend - product
        return Sum((3,), (1, 2))
    if mnemonic in ("fmla", "fmls"):
        return Sum((0,), (count - 2, count - 1))
    return Sum((count - 1,), (0, count - 2)) if mnemonic in ("fmad", "fmsb") else None


def divisor_of(mnemonic: str, operands: Sequence[Operand]) -> int | None:
    """Return the operand by which a floating-point division divides, None for other instructions."""
    if mnemonic == "fdiv":
        return len(operands) - 1
    return len(operands) - 2 if mnemonic == "fdivr" else None
