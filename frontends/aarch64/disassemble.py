"""A64 machine code: its instructions as text by capstone, and its transfers of control by their bits."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from functools import cache
from typing import Any

from msgspec.structs import replace

from incc.frontends.aarch64.branches import BRANCHES
from incc.frontends.aarch64.decode import LENGTH, decode
from incc.frontends.kernel import Instruction, Relocation

_LITERALS = ("adr", "adrp", "ldr", "ldrsw", "prfm")


@cache
def _capstone() -> Any:
    import capstone

    return capstone.Cs(capstone.CS_ARCH_ARM64, capstone.CS_MODE_ARM)


def text_of(word: int, address: int = 0) -> str:
    """Return the text of an instruction, "" for a word that is none, or that capstone does not know."""
    for _, _, mnemonic, operands in _capstone().disasm_lite(struct.pack("<I", word), address, 1):
        # SVE's adr computes addresses in vectors: `adr z0.d, [z0.d, z14.d, lsl #1]`.
        if mnemonic in BRANCHES or (mnemonic in ("adr", "adrp") and "[" not in operands):
            others, number, target = operands.rpartition("#")
            operands = f"{others}{int(target, 0):#x}" if number else operands
        return f"{mnemonic} {operands}".rstrip()
    return ""


def instruction(word: int, offset: int, field: Relocation | None = None) -> Instruction:
    """Return the instruction of a word at an offset. With a relocation it names the symbol.

    An unknown word is an instruction that no model has.
    """
    text = text_of(word, offset)
    if not text:
        return replace(decode(f"inst {word:#010x}", 0, offset), text=f".inst {word:#010x}")
    if field is not None:
        text = _relocated(text, field)
    return decode(text, 0, offset)


def _relocated(text: str, field: Relocation) -> str:
    """Return an instruction's text with the symbol that the linker fills in, as compilers write it."""
    mnemonic, _, operands = text.partition(" ")
    symbol = field.symbol + (f"{field.addend:+}" if field.addend else "")
    first, comma, last = operands.rpartition(", ")
    if mnemonic in BRANCHES or (mnemonic in _LITERALS and "[" not in operands):
        return f"{mnemonic} {first}{comma}{field.symbol if mnemonic in BRANCHES else symbol}"
    if operands.endswith("]"):
        address = operands[:-1].partition(", #")[0] if last.startswith("#") else operands[:-1]
        return f"{mnemonic} {address}, :lo12:{symbol}]"
    return f"{mnemonic} {first}, :lo12:{symbol}" if mnemonic == "add" and last.startswith("#") else text


# --- transfers of control --------------------------------------------------------------------------------------------

_REGISTER_BRANCHES = {0: "indirect", 1: "call", 2: "return", 4: "return", 5: "return"}


def may_transfer(word: int) -> bool:
    """Return True for the group of branches and exceptions, and for words that are never instructions (`udf`)."""
    return word & 0x1C000000 == 0x14000000 or word < 0x10000


def transfer(word: int, address: int) -> tuple[str, int | None]:
    """Return how a word at an address transfers control, as `Isa.branch` does, and the address that it goes to.

    The kind is "" for no transfer, the address None for one in a register. Arm Architecture Reference Manual, C4.1.94
    "Branches, Exception Generating and System instructions".
    """
    if word < 0x10000:
        return "stop", None
    if word & 0x7C000000 == 0x14000000:
        return ("call" if word >> 31 else "unconditional"), address + 4 * _signed(word, 0, 26)
    if word & 0xFF000000 == 0x54000000:
        always = word & 0xE == 0xE
        return ("unconditional" if always else "conditional"), address + 4 * _signed(word, 5, 19)
    if word & 0x7E000000 == 0x34000000:  # cbz, cbnz
        return "conditional", address + 4 * _signed(word, 5, 19)
    if word & 0x7E000000 == 0x36000000:  # tbz, tbnz
        return "conditional", address + 4 * _signed(word, 5, 14)
    if word & 0xFE000000 == 0xD6000000:
        return _REGISTER_BRANCHES.get(word >> 21 & 7, ""), None
    return ("stop" if word & 0xFFE0001F == 0xD4200000 else ""), None  # brk


def _signed(word: int, first: int, bits: int) -> int:
    """Return a field of a word as a signed number."""
    value = word >> first & ((1 << bits) - 1)
    return value - (1 << bits) if value >> (bits - 1) else value


def words(code: bytes) -> Iterator[int]:
    """Yield the words of code; bytes after the last one are ignored."""
    whole = len(code) // LENGTH
    return iter(struct.unpack(f"<{whole}I", code[: whole * LENGTH]))
