"""The core that LLVM's bitcode was compiled for.

It is an attribute of functions, by which code is generated for them at the link.

This reads only the part of the format (LLVM's documentation, “LLVM Bitcode File Format”;
lib/Bitcode/Writer/BitcodeWriter.cpp) that leads to the block of attribute groups. Blocks begin with their lengths, so
other blocks are skipped, and LLVM writes that block and all records before it in a module without abbreviations. In
any other bitcode the core is unknown.
"""

from __future__ import annotations

import mmap

Data = bytes | mmap.mmap

_MODULE, _ATTRIBUTE_GROUPS = 8, 10
_END, _ENTER, _UNABBREVIATED = 0, 1, 3

_BITCODE, _WRAPPER = b"BC\xc0\xde", b"\xde\xc0\x17\x0b"
MAGICS = (_BITCODE, _WRAPPER)
"""The first bytes of bitcode, alone and in a wrapper that tells where it begins."""

_MOST = 1 << 16
"""Operands of a record. A function's attributes have some hundred characters."""


class _UnexpectedError(Exception):
    """Bitcode of another structure than the one that this module reads."""


class _Bits:
    """A reader of bits, the lowest of a byte first."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: Data, start: int) -> None:
        self.data = data
        self.position = start * 8
        self.end = len(data) * 8

    def fixed(self, width: int) -> int:
        start = self.position
        self.position += width
        if self.position > self.end:
            raise _UnexpectedError
        some = int.from_bytes(self.data[start >> 3 : (start + width + 7) >> 3], "little")
        return some >> (start & 7) & ((1 << width) - 1)

    def variable(self, width: int) -> int:
        """Return a number that is written in pieces of `width` bits. The highest bit of a piece announces another."""
        more = 1 << (width - 1)
        value = shift = 0
        while shift < 64:
            piece = self.fixed(width)
            value |= (piece & (more - 1)) << shift
            if not piece & more:
                return value
            shift += width - 1
        raise _UnexpectedError

    def block(self) -> tuple[int, int, int]:
        """Read the head of a block: return its number, the width of abbreviations in it, and the bit after its end."""
        number, width = self.variable(8), self.variable(4)
        self.position += -self.position % 32
        return number, width, self.fixed(32) * 32 + self.position

    def record(self) -> list[int]:
        """Return the operands of a record that is written without an abbreviation."""
        self.variable(6)
        count = self.variable(6)
        if count > _MOST:
            raise _UnexpectedError
        return [self.variable(6) for _ in range(count)]


def target(data: Data) -> tuple[str, ...]:
    """Return the core that the first function with such attributes is compiled and tuned for.

    It is given as words for clang's compiler proper (`-target-cpu znver4 -tune-cpu znver4`), none if it is unknown.
    """
    start = int.from_bytes(data[8:12], "little") if data[:4] == _WRAPPER else 0
    try:
        if data[start : start + 4] != _BITCODE or start % 4:
            return ()
        bits = _Bits(data, start + 4)
        width = 2
        while True:
            abbreviation = bits.fixed(width)
            if abbreviation == _UNABBREVIATED:
                bits.record()
                continue
            if abbreviation != _ENTER:
                return ()
            number, inner, end = bits.block()
            if number == _MODULE:
                width = inner
            elif number == _ATTRIBUTE_GROUPS:
                return _of_groups(bits, inner)
            else:
                bits.position = end
    except _UnexpectedError:
        return ()


def _of_groups(bits: _Bits, width: int) -> tuple[str, ...]:
    while bits.fixed(width) == _UNABBREVIATED:
        # An attribute with a text is the characters of its name and of the text, with a zero after each.
        text = bytes([value if value < 256 else 1 for value in bits.record()])
        words: list[str] = []
        for name in ("target-cpu", "tune-cpu"):
            if behind := text.partition(b"\4" + name.encode() + b"\0")[2]:
                words += (f"-{name}", behind.partition(b"\0")[0].decode("latin-1"))
        if words:
            return tuple(words)
    return ()
