"""The usual kinds of work of AArch64 code, each by a form that does it and little else (see x86's)."""

from __future__ import annotations

from incc.frontends.isa import SCALABLE, CommonWork, PeakOperation


def _general(name: str, form: str) -> CommonWork:
    return name, ((0, (form,)),)


def _vector(name: str, form: str) -> CommonWork:
    return name, ((128, (form,)),)


WORK: tuple[CommonWork, ...] = (
    _general("add", "add/x,x,x"),
    _general("add, shifted", "add/x,x,x,asr#"),
    _general("logic", "and/x,x,x"),
    _general("shift", "lsl/x,x,x"),
    _general("conditional select", "csel/x,x,x,cond"),
    _general("multiply", "mul/x,x,x"),
    _general("multiply high", "smulh/x,x,x"),
    _general("divide, 32 bits", "sdiv/w,w,w"),
    _general("divide, 64 bits", "sdiv/x,x,x"),
    _vector("FP add", "fadd/v.2d,v.2d,v.2d"),
    _vector("FP multiply", "fmul/v.2d,v.2d,v.2d"),
    _vector("FMA", "fmla/v.2d,v.2d,v.2d"),
    _vector("FP divide", "fdiv/v.2d,v.2d,v.2d"),
    _vector("square root", "fsqrt/v.2d,v.2d"),
    _vector("int to FP", "scvtf/v.4s,v.4s"),
    _vector("SIMD add", "add/v.4s,v.4s,v.4s"),
    _vector("SIMD logic", "and/v.16b,v.16b,v.16b"),
    _vector("SIMD shift", "shl/v.4s,v.4s,#"),
    _vector("SIMD multiply", "mul/v.4s,v.4s,v.4s"),
    _vector("shuffle", "zip1/v.4s,v.4s,v.4s"),
    _vector("AES round", "aese/v.16b,v.16b"),
    _general("general to vector", "fmov/d,x"),
    _general("vector to general", "fmov/x,d"),
    ("SVE FP add", ((0, ("fadd/z.d,z.d,z.d",)),)),
    ("SVE FMA", ((0, ("fmla/z.d,p/m,z.d,z.d",)),)),
    ("SVE add", ((0, ("add/z.d,z.d,z.d",)),)),
)

_PEAK = {"add": "fadd", "multiply": "fmul", "fma": "fmla"}
_ELEMENTS = {16: "h", 32: "s", 64: "d"}


def peak_forms(operation: PeakOperation, element: int, width: int) -> tuple[str, ...]:
    """Return forms of an operation, as described for `Isa.peak_forms`."""
    if operation in ("load", "store"):
        if width == SCALABLE:
            # The A64FX has fewer pipelines for `ldr` and `str`.
            return ("ld1d/{z.d*1},p/z,[x]",) if operation == "load" else ("st1d/{z.d*1},p,[x]",)
        return (f"{'ldr' if operation == 'load' else 'str'}/q,[x]",)
    letter, mnemonic = _ELEMENTS[element], _PEAK[operation]
    if width == element:
        scalar = ",".join([letter] * (4 if operation == "fma" else 3))
        return (f"{'fmadd' if operation == 'fma' else mnemonic}/{scalar}",)
    if width == SCALABLE:
        predicate = ",p/m" if operation == "fma" else ""
        return (f"{mnemonic}/z.{letter}{predicate},z.{letter},z.{letter}",)
    vector = f"v.{width // element}{letter}"
    return (f"{mnemonic}/{vector},{vector},{vector}",)
