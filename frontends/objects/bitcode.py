"""For which core LLVM's bitcode was compiled: what its functions have as attributes, by which code is generated for
them when they are linked.

Of the format (LLVM's documentation, “LLVM Bitcode File Format”; lib/Bitcode/Writer/BitcodeWriter.cpp) as much as leads
to the block of attribute groups: blocks have their lengths in front, so all others are stepped over, and what stands
before that block in a module, and in it, LLVM writes without abbreviations. Anything else means that nothing is known.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import mmap

    Data = bytes | mmap.mmap

_MODULE, _ATTRIBUTE_GROUPS = 8, 10
_END, _ENTER, _UNABBREVIATED = 0, 1, 3

_BITCODE, _WRAPPER = b"BC\xc0\xde", b"\xde\xc0\x17\x0b"
MAGICS = (_BITCODE, _WRAPPER)
"""The first bytes of bitcode, alone and in a wrapper that tells where it begins."""

_MOST = 1 << 16
"""Operands of a record; attributes of a function are some hundred characters."""


class _Unknown(Exception):
    """This is not as it is expected."""


class _Bits:
    """Reads bits, the lowest of a byte first."""

    __slots__ = ("data", "end", "position")

    def __init__(self, data: Data, start: int) -> None:
        self.data = data
        self.position = start * 8
        self.end = len(data) * 8

    def fixed(self, width: int) -> int:
        start = self.position
        self.position += width
        if self.position > self.end:
            raise _Unknown
        some = int.from_bytes(self.data[start >> 3 : (start + width + 7) >> 3], "little")
        return some >> (start & 7) & ((1 << width) - 1)

    def variable(self, width: int) -> int:
        """A number in pieces of that width, whose highest bit says that there is another."""
        more = 1 << (width - 1)
        value = shift = 0
        while shift < 64:
            piece = self.fixed(width)
            value |= (piece & (more - 1)) << shift
            if not piece & more:
                return value
            shift += width - 1
        raise _Unknown

    def block(self) -> tuple[int, int, int]:
        """The head of a block: its number, the width of abbreviations in it, and where it ends."""
        number, width = self.variable(8), self.variable(4)
        self.position += -self.position % 32
        return number, width, self.fixed(32) * 32 + self.position

    def record(self) -> list[int]:
        """The operands of a record without an abbreviation."""
        self.variable(6)
        count = self.variable(6)
        if count > _MOST:
            raise _Unknown
        return [self.variable(6) for _ in range(count)]


def target(data: Data) -> tuple[str, ...]:
    """The core that functions are compiled and tuned for, of the first that says it, as words for clang's compiler
    proper (`-target-cpu znver4 -tune-cpu znver4`); none where nothing says it, and for what is no bitcode."""
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
    except _Unknown:
        return ()


def _of_groups(bits: _Bits, width: int) -> tuple[str, ...]:
    while bits.fixed(width) == _UNABBREVIATED:
        # A group's attributes follow each other; those with texts are the characters of both, and a zero behind each.
        text = bytes([value if value < 256 else 1 for value in bits.record()])
        found: list[str] = []
        for name in ("target-cpu", "tune-cpu"):
            if behind := text.partition(b"\4" + name.encode() + b"\0")[2]:
                found += (f"-{name}", behind.partition(b"\0")[0].decode("latin-1"))
        if found:
            return tuple(found)
    return ()
