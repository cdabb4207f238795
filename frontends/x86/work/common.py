"""The usual kinds of work of x86-64 code, each with a form that does it and little else.

These forms tell what the ports of a core's model do.
"""

from __future__ import annotations

from incc.frontends.isa import CommonWork, PeakOperation


def _general(name: str, form: str) -> CommonWork:
    return name, ((0, (form,)),)


def _vector(
    name: str, mnemonic: str, element: int = 32, wide: str = "", rounds: bool = False, legacy: bool = True
) -> CommonWork:
    """Return work with three operands of 128 to 512 bits.

    `element` is the bits of a broadcast one, 0 without any; `wide` the mnemonic with 512 bits, where with `rounds` it
    takes a rounding mode.
    """
    broadcast = f"B{element}" if element else ""
    short = mnemonic.removeprefix("V")
    forms = [f"VEX_{mnemonic}_XMM_XMM_XMMM128/r", *([f"{short}_XMM_XMMM128/r"] if legacy else [])]
    mode = "_ER" if rounds else ""
    return name, (
        (128, tuple(forms)),
        (256, (f"VEX_{mnemonic}_YMM_YMM_YMMM256/r",)),
        (512, (f"EVEX_{wide or mnemonic}_ZMM_K1Z_ZMM_ZMMM512{broadcast}{mode}/r",)),
    )


def _unary(name: str, mnemonic: str, element: int) -> CommonWork:
    """Return work with two operands, rounding, with 128 to 512 bits."""
    return name, (
        (128, (f"VEX_V{mnemonic}_XMM_XMMM128/r", f"{mnemonic}_XMM_XMMM128/r")),
        (256, (f"VEX_V{mnemonic}_YMM_YMMM256/r",)),
        (512, (f"EVEX_V{mnemonic}_ZMM_K1Z_ZMMM512B{element}_ER/r",)),
    )


WORK: tuple[CommonWork, ...] = (
    _general("add, logic", "ADD_R64_RM64/r"),
    _general("shift", "SHL_RM64_IMM8/r"),
    _general("conditional move", "CMOVE_R64_RM64/r"),
    _general("population count", "POPCNT_R64_RM64/r"),
    _general("multiply", "IMUL_R64_RM64/r"),
    _general("divide, 32 bits", "DIV_RM32/r"),
    _general("divide, 64 bits", "DIV_RM64/r"),
    _vector("FP add", "VADDPD", 64, rounds=True),
    _vector("FP multiply", "VMULPD", 64, rounds=True),
    _vector("FMA", "VFMADD213PD", 64, rounds=True, legacy=False),
    _vector("FP divide", "VDIVPD", 64, rounds=True),
    _unary("square root", "SQRTPD", 64),
    _unary("int to FP", "CVTDQ2PS", 32),
    _vector("SIMD add", "VPADDD", 32),
    _vector("SIMD logic", "VPXOR", 32, "VPXORD"),
    (
        "SIMD shift",
        (
            (128, ("VEX_VPSLLD_XMM_XMM_IMM8/r", "PSLLD_XMM_IMM8/r")),
            (256, ("VEX_VPSLLD_YMM_YMM_IMM8/r",)),
            (512, ("EVEX_VPSLLD_ZMM_K1Z_ZMMM512B32_IMM8/r",)),
        ),
    ),
    _vector("SIMD multiply", "VPMULUDQ", 64),
    _vector("shuffle", "VPSHUFB", 0),
    ("lane permute", ((256, ("VEX_VPERMD_YMM_YMM_YMMM256/r",)), (512, ("EVEX_VPERMD_ZMM_K1Z_ZMM_ZMMM512B32/r",)))),
    ("AES round", ((128, ("VEX_VAESENC_XMM_XMM_XMMM128/r", "AESENC_XMM_XMMM128/r")),)),
    ("general to vector", ((0, ("VEX_VMOVQ_XMM_RM64/r", "MOVQ_XMM_RM64/r")),)),
    ("vector to general", ((0, ("VEX_VMOVQ_RM64_XMM/r", "MOVQ_RM64_XMM/r")),)),
    ("mask logic", ((0, ("VEX_KANDW_KR_KR_KR/r",)),)),
)

_PEAK = {"add": "ADD", "multiply": "MUL", "fma": "FMADD213"}
_ELEMENTS = {16: "H", 32: "S", 64: "D"}


def peak_forms(operation: PeakOperation, element: int, width: int) -> tuple[str, ...]:
    """Return forms of an operation, as described for `Isa.peak_forms`."""
    name = {128: "XMM", 256: "YMM", 512: "ZMM"}.get(width, "XMM")
    operand = f"{name}M{width}"
    if operation == "load":
        return (
            f"VEX_VMOVAPD_{name}_{operand}/m",
            f"MOVAPD_{name}_{operand}/m",
            f"EVEX_VMOVAPD_{name}_K1Z_{operand}/m",
        )
    if operation == "store":
        return (
            f"VEX_VMOVAPD_{operand}_{name}/m",
            f"MOVAPD_{operand}_{name}/m",
            f"EVEX_VMOVAPD_{operand}_K1Z_{name}/m",
        )
    scalar = width == element
    mnemonic = f"{_PEAK[operation]}{'S' if scalar else 'P'}{_ELEMENTS[element]}"
    # With EVEX, packed operands may be broadcast; those of 512 bits, and scalar ones, may have a rounding mode.
    broadcast = "" if scalar else f"B{element}"
    mode = "_ER" if scalar or width == 512 else ""
    return (
        f"VEX_V{mnemonic}_{name}_{name}_{operand}/r",
        f"{mnemonic}_{name}_{operand}/r",
        f"EVEX_V{mnemonic}_{name}_K1Z_{name}_{operand}{broadcast}{mode}/r",
    )
