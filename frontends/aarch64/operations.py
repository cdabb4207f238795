"""The element-wise operations of A64's vector and floating-point instructions, for analyses and comparisons.

The mnemonic tells the operation, the operands tell the elements: `v0.2d` in a statement, `v.2d` in a form. Moves, logic
and shuffles say nothing certain about the elements that they move, so they have none here.
"""

from __future__ import annotations

import re
from functools import lru_cache

from incc.frontends.aarch64.rules import names_of
from incc.frontends.isa import FormWork, Operation

_BITS = {"b": 8, "h": 16, "s": 32, "d": 64, "q": 128}
_VECTORS = re.compile(r"[vz]\d*\.(\d*)([bhsdq])|(?<=\.)(\d*)([bhsd])(?=\s)")
_SCALARS = re.compile(r"(?<![\w.])([bhsdq])(?:\d+)?(?![\w.])")
_GENERAL = re.compile(r"(?<![\w.])([xw])(?:\d+|zr)?(?![\w.])")

_FLOATING = {
    "add": "f{add,addp,addv,adda,cadd} bfadd",
    "sub": "f{sub,subr,abd} bfsub",
    "mul": "f{mul,nmul,mulx} bfmul",
    "div": "f{div,divr}",
    "sqrt": "fsqrt",
    "fma": "f{madd,msub,nmadd,nmsub,mla,mls,mad,msb,nmla,nmls,nmad,nmsb,cmla} fml{al,sl}{,2,b,t} bfml{a,s,alb,alt}",
    "max": "f{max,maxnm}{,p,v}",
    "min": "f{min,minnm}{,p,v}",
    "rcp": "frecp{e,x}",
    "rsqrt": "frsqrte",
    "round": "frint{a,i,m,n,p,x,z} frint{32,64}{x,z}",
    "compare": "fcmp{,e} fccmp{,e} fcm{eq,ge,gt,le,lt,ne,uo} fac{ge,gt,le,lt}",
    "convert": "fcvt fcvt{a,m,n,p,z}{s,u} {s,u}cvtf fcvt{l,n,xn}{,2} fcvt{lt,nt,x,xnt} bfcvt{,n,n2,nt}",
}
_INTEGER = {
    "add": "add add{p,v} {s,u}{addl,addw}{,2,b,t} {s,u}{addlv,addlp,adalp,hadd,rhadd,addv} {s,u}qadd addhn{,2}",
    "sub": "sub subr {s,u}{subl,subw,abdl}{,2,b,t} {s,u}{abd,hsub,qsub}",
    "mul": "mul {s,u}mull{,2,b,t} sq{,r}dmulh {s,u}mulh",
    "fma": "mla mls mad msb {s,u}{mlal,mlsl}{,2,b,t}",
    "dot": "{s,u,us,su}dot",
    "sad": "{s,u}aba {s,u}abal{,2,b,t}",
    "max": "{s,u}max{,p,v}",
    "min": "{s,u}min{,p,v}",
    "abs": "abs neg",
    "compare": "cm{eq,ge,gt,hi,hs,le,lt,tst} cmp{eq,ge,gt,hi,hs,le,lo,ls,lt,ne}",
    "sl": "shl lsl {s,u}shl sli",
    "sr": "{s,u}shr lsr asr {s,u}sra sri",
    "popcnt": "cnt",
    "convert": "{s,u}xtl{,2} {s,u}shll{,2,b,t} xtn{,2} {s,u}qxtn{,2} {s,u}unpk{lo,hi} {s,u}xt{b,h,w} shrn{,2}",
}
_KINDS = {
    name: (kind, floating)
    for floating, table in ((False, _INTEGER), (True, _FLOATING))
    for kind, names in table.items()
    for name in names_of(names)
}


@lru_cache(8192)
def operation(mnemonic: str, operands: str) -> Operation | None:
    """Return the operation of a mnemonic on vector registers by its operands, as a statement or a form has them."""
    known = _KINDS.get(mnemonic.partition(".")[0])
    if known is None:
        return None
    kind, floating = known
    vectors = [_BITS[m[2] or m[4]] for m in _VECTORS.finditer(operands)]
    sizes = vectors or [_BITS[size] for size in _SCALARS.findall(operands)]
    if not sizes or not (vectors or floating):
        return None
    source, result = sizes[-1], sizes[0]
    if kind == "convert" and not vectors and _GENERAL.search(operands):  # as wide as the general-purpose register is
        source, result = (0, result) if mnemonic.endswith("cvtf") else (source, 0)
    return Operation(kind=kind, source=source, result=result, packed=bool(vectors), floating=floating)


# --- work of forms ---------------------------------------------------------------------------------------------------

_SHORTEST = 128
_ADDED = {"sub": "add", "sl": "shift", "sr": "shift"}
_WORK = {
    "logic": "and{,s} orr orn eor bic{,s} bsl bit bif tst mvn not eor3 bcax",
    "select": "csel csinc csinv csneg cset csetm cinc cinv cneg fcsel sel",
    "shuffle": "{zip,uzp,trn}{1,2} ext tbl tbx dup ins rev rev{16,32,64} splice compact insr clast{a,b} last{a,b}",
    "bits": "clz cls ctz rbit crc32{,c}{b,h,w,x}",
    "call": "bl blr",
}
_WORK_OF = {name: kind for kind, names in _WORK.items() for name in names_of(names)}
_OF_GENERAL = {
    "add": "add adds sub subs adc adcs sbc sbcs neg negs",
    "mul": "mul mneg madd msub {s,u}{mull,maddl,msubl,mulh}",
    "div": "{s,u}div",
    "compare": "cmp cmn ccmp ccmn",
    "shift": "lsl lsr asr ror {s,u}{bfx,bfiz,bfm} extr bfi bfxil",
}
_GENERAL_OF = {name: kind for kind, names in _OF_GENERAL.items() for name in names_of(names)}
_NOTHING = FormWork((), "", 0)


@lru_cache(8192)
def form_work(form: str) -> FormWork:
    """Return the work of the instructions of a form, by the name that models have for it."""
    mnemonic, _, shapes = form.partition("/")
    elementwise = operation(mnemonic, shapes)
    if elementwise is not None:
        return _vector_work(elementwise, shapes)
    if mnemonic in _WORK_OF:
        return FormWork((_WORK_OF[mnemonic],), "", 1)
    kind, register = _GENERAL_OF.get(mnemonic, ""), _GENERAL.search(shapes)
    if not kind or register is None:
        return _NOTHING
    # A constant added to a pointer or to a count, without flags that anything depends on.
    if kind == "add" and shapes.endswith(",#") and register[1] == "x":
        return FormWork(("index",), "", 1)
    return FormWork((f"i{kind}",), "i64" if register[1] == "x" else "i32", 1)


def _vector_work(of: Operation, shapes: str) -> FormWork:
    widest = max(of.source, of.result) or 32
    lanes = _SHORTEST // widest if of.packed else 1
    if vector := _VECTORS.search(shapes):
        lanes = int(vector[1]) if vector[1] else lanes
    if of.kind == "convert":
        return FormWork(("convert" if of.floating else "resize",), f"{of.source}-{of.result}", max(1, lanes))
    sort = "f" if of.floating else "i"
    kinds = ("mul", "add") if of.kind in ("fma", "dot") else (_ADDED.get(of.kind, of.kind),)
    return FormWork(tuple(sort + kind for kind in kinds), f"{sort}{widest}", max(1, lanes))


# --- classes for advice ----------------------------------------------------------------------------------------------


def advice_class(mnemonic: str, operands: str) -> str:
    """Return the class of an instruction on which advice depends (see `Isa.advice_class`)."""
    if mnemonic in ("sdiv", "udiv"):
        return "integer-division"
    if mnemonic.startswith("ld1") and re.search(r"\[[^]]*z\d", operands):
        return "gather"
    if _WORK_OF.get(mnemonic) == "shuffle":
        return "shuffle"
    of = operation(mnemonic, operands)
    if of is None or not of.floating:
        return ""
    if of.kind == "convert":
        if mnemonic.endswith("cvtf"):
            return "from-integer"
        if re.fullmatch(r"fcvt[amnpz][su]", mnemonic):
            return "to-integer"
        return "widen" if of.result > of.source else "narrow"
    return {"sqrt": "root", "max": "extremum", "min": "extremum"}.get(of.kind, "")
