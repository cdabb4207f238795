"""Names of iced-x86's constants by their numbers, and machine code of 32-bit mode."""

from __future__ import annotations

from types import ModuleType
from typing import Literal, SupportsIndex

from iced_x86 import Code, Mnemonic, OpKind, Register


def constants(module: ModuleType) -> dict[str, int]:
    """Return the constants of one of iced-x86's modules, such as `OpKind`, by name."""
    return {name: value for name, value in vars(module).items() if type(value) is int}


def _names(module: ModuleType) -> list[str]:
    """Return the names of constants by their numbers, "" for numbers without one."""
    names = {number: name for name, number in constants(module).items()}
    return [names.get(number, "") for number in range(max(names) + 1)]


CODE_NAMES = _names(Code)
MNEMONIC_NAMES = _names(Mnemonic)
REGISTER_NAMES = _names(Register)
NEAR_BRANCHES = (OpKind.NEAR_BRANCH16, OpKind.NEAR_BRANCH32, OpKind.NEAR_BRANCH64)
"""The kinds of operands that are targets of branches."""

CODE32 = 2
"""The `code_size` of an instruction of 32-bit mode."""


class Narrow(bytes):
    """Machine code of 32-bit mode.

    The same bytes are other instructions in 64-bit mode, so the two are never equal and do not share cache entries.
    Slices are code of the same mode.
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return type(other) is Narrow and bytes.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return ~bytes.__hash__(self)

    def __getitem__(self, key: SupportsIndex | slice) -> int | Narrow:  # type: ignore[override]
        item = bytes.__getitem__(self, key)
        return item if isinstance(item, int) else Narrow(item)


def bits_of(code: bytes) -> Literal[32, 64]:
    """Return the bits of the mode that machine code is for."""
    return 32 if type(code) is Narrow else 64
