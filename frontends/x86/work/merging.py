"""Instructions that keep a part of a register's old value, or wait for it although the result needs nothing of it."""

from __future__ import annotations

import re

from incc.frontends.kernel import Instruction, RegisterAccess

# They compute the lowest element from their last operand, and take the others from the destination, or with VEX from
# the operand before (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2).
_LOWEST_ANEW = re.compile(
    r"v?(cvtu?s[ids]2s[sd]|sqrts[sd]|rcpss|rsqrtss|rounds[sd]|movs[sd])|v(sqrtsh|cvt\w+2sh|cvtsh2s[sd]|(rcp|rsqrt)(14s[sd]|sh))"
    r"|v(rndscale|getexp|getmant|reduce)s[sdh]"
)
_READS_LOWEST = re.compile(r"v?(?!p)\w*s[sdh]|v?cvtt?s[sdh]2u?si|v?mov[dq]")
_CLEARING = {True: b"\xc5\xf9\xef\xc0", False: b"\x66\x0f\xef\xc0"}
"""`vpxor %xmm0, %xmm0, %xmm0` and `pxor %xmm0, %xmm0`: zero idioms (`Instruction.idiom`)."""


def other_elements(instruction: Instruction) -> RegisterAccess | None:
    """Return the access that only the elements beside a newly computed lowest one come from; None without one."""
    # A store of the lowest element (`vmovsd %xmm0, (%rax)`) keeps nothing.
    if not _LOWEST_ANEW.fullmatch(instruction.mnemonic) or not any(
        access.write and access.operand == 0 for access in instruction.registers
    ):
        return None
    from_operand = 1 if instruction.mnemonic.startswith("v") else 0
    return next((access for access in instruction.registers if access.read and access.operand == from_operand), None)


def reads_lowest(mnemonic: str) -> bool:
    """Return True if an instruction uses the lowest element of its vector registers only."""
    return _READS_LOWEST.fullmatch(mnemonic) is not None


def clearing(instruction: Instruction) -> Instruction:
    """Return an instruction that clears a vector register, in the encoding of another instruction."""
    from incc.frontends.x86.kernels import decode_bytes

    code = decode_bytes(_CLEARING[instruction.mnemonic.startswith("v")], "clear", False, False)
    return code.instructions[0]
