"""A call of a function with its arguments in registers (System V ABI for x86-64, 3.2.3)."""

from __future__ import annotations

from collections.abc import Mapping

from incc.frontends.kernel import Instruction
from incc.frontends.x86.addresses import NUMBER
from incc.frontends.x86.kernels import decode_bytes

_INTEGERS = ("rdi", "rsi", "rdx", "rcx", "r8", "r9", "rax")
"""The registers of arguments; rax has the number of vector registers for variadic functions."""
_VECTORS = tuple([f"zmm{n}" for n in range(8)])


def caller(values: Mapping[str, int]) -> tuple[Instruction, ...]:
    """Return moves of constants to those of the registers (by roots) that may be arguments, and the call.

    Vector registers become 0.
    """
    code = b""
    for root, value in values.items():
        if root in _INTEGERS:
            number = NUMBER[root]
            # mov $value, %r32
            code += b"\x41" * (number >= 8) + bytes((0xB8 + number % 8,)) + (value % 2**32).to_bytes(4, "little")
        elif root in _VECTORS:
            number = _VECTORS.index(root)
            code += bytes((0x0F, 0x57, 0xC0 + 9 * number))  # xorps %xmm, %xmm
    return decode_bytes(code + b"\xe8\0\0\0\0").instructions
