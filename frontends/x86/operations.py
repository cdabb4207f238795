"""The element-wise operations of x86's vector instructions, and the widths of the elements that go in and out.

They follow from the mnemonic alone. Moves, logic and shuffles say nothing certain about the elements that they move
(compilers use `movups` and `xorps` for any type), so they have none here.
"""

from __future__ import annotations

import re

from incc.frontends.isa import Operation
from incc.frontends.x86.kept import keep

_FLOAT = {"ps": 32, "ss": 32, "pd": 64, "sd": 64, "ph": 16, "sh": 16}
_INTEGER = {"b": 8, "w": 16, "d": 32, "q": 64}
# The types on both sides of a conversion's 2; "si" and "usi" are general-purpose registers, as wide as they are.
_CONVERTED = {
    **_FLOAT, "dq": 32, "udq": 32, "qq": 64, "uqq": 64, "w": 16, "uw": 16, "phx": 16, "psx": 32, "si": 0, "usi": 0,
}  # fmt: skip

_SCALAR = ("ss", "sd", "sh", "si", "usi")

_FUSED = frozenset(
    name + order
    for name in ("fmadd", "fmsub", "fnmadd", "fnmsub", "fmaddsub", "fmsubadd")
    for order in ("", "132", "213", "231")
)
_ARITHMETIC = frozenset(
    (
        "add", "sub", "mul", "div", "sqrt", "min", "max", "rcp", "rsqrt", "round", "rndscale", "hadd", "hsub", "addsub",
    )
)  # fmt: skip
_CONVERSION = re.compile(
    r"cvtt?(ps|pd|ss|sd|ph|phx|sh|dq|udq|qq|uqq|w|uw|si|usi)2(ps|pd|ss|sd|ph|psx|sh|dq|udq|qq|uqq|w|uw|si|usi)"
)
_EXTENSION = re.compile(r"pmov[sz]x([bwd])([wdq])")
_TRUNCATION = re.compile(r"pmov(?:u?s)?([wdq])([bwd])")
_UNPACK = re.compile(r"punpck[lh](bw|wd|dq|qdq)")
_PACK = re.compile(r"pack[su]s(wb|dw)")
_INTEGERS = re.compile(
    r"p(add|sub|mull|min|max|abs|avg|cmp|s[lr]lv?|srav?|rolv?|rorv?|sign|popcnt|lzcnt)(?:u?s|u|s|eq|gt)?([bwdq])"
)
_IRREGULAR = {
    "pmulhw": ("mul", 16, 16),
    "pmulhuw": ("mul", 16, 16),
    "pmulhrsw": ("mul", 16, 16),
    "pmaddwd": ("dot", 16, 32),
    "pmaddubsw": ("dot", 8, 16),
    "psadbw": ("sad", 8, 64),
    "pdpwssd": ("dot", 16, 32),
    "pdpwssds": ("dot", 16, 32),
    "pdpbusd": ("dot", 8, 32),
    "pdpbusds": ("dot", 8, 32),
}
_KINDS = {"mull": "mul", "comi": "compare", "ucomi": "compare", "cmp": "compare"}


_OPERATIONS: dict[str, Operation | None] = {}


def operation(mnemonic: str) -> Operation | None:
    """Return the operation of a mnemonic (lower case, Intel's) on elements of vector registers, None without one.

    `pmuludq` has none: compilers put products of 32 and of 64 bits together from it.
    """
    try:
        return _OPERATIONS[mnemonic]
    except KeyError:
        return keep(_OPERATIONS, mnemonic, _operation(mnemonic))


def _operation(mnemonic: str) -> Operation | None:
    name = mnemonic.removeprefix("v")
    if name in _IRREGULAR:
        kind, source, result = _IRREGULAR[name]
        return Operation(kind=kind, source=source, result=result, packed=True, floating=False)
    bits = _FLOAT.get(name[-2:])
    if bits is not None and "2" not in name[:-2].rstrip("0123456789"):
        stem, packed = name[:-2], name[-2] == "p"
        if stem in _FUSED:
            return Operation(kind="fma", source=bits, result=bits, packed=packed, floating=True)
        # With 14 or 28 bits of the result.
        kind = stem[:-2] if stem.endswith(("14", "28")) else stem
        if kind in _ARITHMETIC:
            return Operation(kind=kind, source=bits, result=bits, packed=packed, floating=True)
        if (
            stem in ("comi", "ucomi")
            or (stem.startswith("cmp") and stem[3:].replace("_", "a").isalpha())
            or stem == "cmp"
        ):
            return Operation(kind="compare", source=bits, result=bits, packed=packed, floating=True)
    if match := _CONVERSION.fullmatch(name):
        return Operation(
            kind="convert",
            source=_CONVERTED[match[1]],
            result=_CONVERTED[match[2]],
            packed=match[2] not in _SCALAR and match[1] not in _SCALAR,
            floating=True,
        )
    for pattern in (_EXTENSION, _TRUNCATION):
        if match := pattern.fullmatch(name):
            return Operation(
                kind="convert", source=_INTEGER[match[1]], result=_INTEGER[match[2]], packed=True, floating=False
            )
    if match := _UNPACK.fullmatch(name):
        # With zeros or signs it widens, with others it puts together.
        return Operation(kind="unpack", source=_INTEGER[match[1][0]], result=0, packed=True, floating=False)
    if match := _PACK.fullmatch(name):
        return Operation(
            kind="convert", source=_INTEGER[match[1][0]], result=_INTEGER[match[1][1]], packed=True, floating=False
        )
    if match := _INTEGERS.fullmatch(name):
        bits = _INTEGER[match[2]]
        return Operation(kind=_KINDS.get(match[1], match[1]), source=bits, result=bits, packed=True, floating=False)
    return None
