"""The work of x86's instruction forms, from their names in models, for comparing code of different compilers.

Vectors and scalars do the same work, on more elements or on one, so that an operation is counted by element. Loop
control and address computation have their own kind, "index": its amount says more of the compiler than of the source.
"""

from __future__ import annotations

from functools import lru_cache

from incc.frontends.isa import FormWork
from incc.frontends.x86.operations import operation

_SIZES = {"X": 128, "Y": 256, "Z": 512}
_NOTHING = FormWork((), "", 0)
_FLOATING = {"sub": "add", "addsub": "add", "hadd": "add", "hsub": "add", "round": "round", "rndscale": "round"}
_INTEGER = {"sub": "add", "sl": "shift", "sr": "shift", "sra": "shift", "slv": "shift", "srv": "shift"}
_BLEND = ("vpblend", "vblend", "pblend", "blend", "vpternlog")
_SHUFFLES = ("shuf", "perm", "unpck", "unpack", "align", "insert", "extract", "insr", "extr", "broadcast")
_LOGIC = ("pand", "por", "pxor", "andp", "andnp", "orp", "xorp", "pternlog", "ptest")
_GENERAL = {
    **dict.fromkeys(("add", "sub", "adc", "sbb", "neg", "xadd"), "add"),
    **dict.fromkeys(("imul", "mul", "mulx"), "mul"),
    **dict.fromkeys(("idiv", "div"), "div"),
    **dict.fromkeys(("inc", "dec", "lea"), "index"),
    **dict.fromkeys(("cmp", "test", "bt"), "compare"),
    **dict.fromkeys(("and", "or", "xor", "not", "andn"), "logic"),
    **dict.fromkeys(("shl", "shr", "sar", "rol", "ror", "shlx", "shrx", "sarx", "rorx", "shld", "shrd"), "shift"),
    **dict.fromkeys(("popcnt", "lzcnt", "tzcnt", "bsf", "bsr", "pdep", "pext", "bswap", "crc32"), "bits"),
    "call": "call",
}


@lru_cache(maxsize=1 << 13)
def form_work(form: str) -> FormWork:
    """Return the work of a form, by a model's name for it, such as "VEX_VFMADD213PD_YMM_YMM_YMMM256/m"."""
    parts = form.partition("/")[0].split("_")
    if parts[0] in ("VEX", "EVEX", "XOP", "MVEX"):
        parts = parts[1:] or [""]
    mnemonic = parts[0].lower()
    # A mask's register is K1Z, a vector's XMM, or XMMM128 if it may be in memory.
    bits = max((_SIZES[part[0]] for part in parts[1:] if part[:3] in ("XMM", "YMM", "ZMM")), default=0)
    return _vector(mnemonic, bits) if bits else _general(mnemonic, parts[1:])


def _vector(mnemonic: str, bits: int) -> FormWork:
    elementwise = operation(mnemonic)
    name = mnemonic.removeprefix("v")
    if elementwise is not None:
        widest = max(elementwise.source, elementwise.result) or 32
        lanes = bits // widest if elementwise.packed else 1
        if elementwise.kind == "convert":
            # Integers are widened and packed in as many steps as the compiler likes.
            kind = "convert" if elementwise.floating else "resize"
            return FormWork((kind,), f"{elementwise.source}-{elementwise.result}", max(1, lanes))
        if elementwise.kind == "unpack":
            return FormWork(("shuffle",), "", 1)
        sort = "f" if elementwise.floating else "i"
        kinds: tuple[str, ...]
        if elementwise.kind == "fma" or elementwise.kind == "dot":
            kinds = ("mul", "add")
        else:
            kinds = ((_FLOATING if elementwise.floating else _INTEGER).get(elementwise.kind, elementwise.kind),)
        return FormWork(tuple(sort + kind for kind in kinds), f"{sort}{widest}", max(1, lanes))
    if "gather" in name or "scatter" in name:
        return FormWork(("gather",), "", 1)
    if name.startswith(("pmul", "pmadd")):
        return FormWork(("imul",), "", max(1, bits // 64))
    if mnemonic.startswith(_BLEND):
        return FormWork(("select",), "", max(1, bits // 64))
    if any(sign in name for sign in _SHUFFLES):
        return FormWork(("shuffle",), "", 1)
    if name.startswith(_LOGIC):
        return FormWork(("logic",), "", max(1, bits // 64))
    if name.startswith(("aes", "sha", "pclmul", "gf2p8")):
        return FormWork((name[:4],), "", 1)
    return _NOTHING


def _general(mnemonic: str, operands: list[str]) -> FormWork:
    if mnemonic.startswith(("cmov", "set")):
        return FormWork(("select",), "", 1)
    kind = _GENERAL.get(mnemonic, "")
    if not kind:
        return _NOTHING
    # A constant added to a pointer or to a count of 64 bits.
    if kind == "add" and len(operands) == 2 and operands[1].startswith("IMM"):
        kind = "index"
    if kind in ("add", "mul", "div", "compare", "shift"):
        size = next((part.lstrip("RM") for part in operands if part.lstrip("RM").isdigit()), "")
        return FormWork((f"i{kind}",), f"i{size}", 1)
    return FormWork((kind,), "", 1)
