"""Numbers and strings of binary data in little-endian order, which all instruction sets here have."""

from __future__ import annotations

_LONGEST = 128
"""Bits of a number. Without a limit, a megabyte of digits takes minutes."""


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length (LEB128), and the offset after it.

    Raises IndexError at the data's end and ValueError for a number that is too long.
    """
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    value, shift = byte & 127, 7
    while shift <= _LONGEST:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    raise ValueError("a number that is too long")


def signed_leb(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of variable length with a sign, and the offset after it, as `uleb` does."""
    start = at
    value, at = uleb(data, at)
    bits = 7 * (at - start)
    return value - (1 << bits) if value >> (bits - 1) else value, at


def string_at(data: bytes, at: int) -> str:
    """Return the string that begins at an offset and ends with a zero. Raises ValueError if there is no zero."""
    return data[at : data.index(0, at)].decode("utf-8", "surrogateescape")


class Reader:
    """A reader of consecutive values; `at` is the offset of the next."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def number(self, size: int) -> int:
        """Return a number of `size` bytes. Raises IndexError at the data's end."""
        return int.from_bytes(self.block(size), "little")

    def block(self, size: int) -> bytes:
        """Return the next `size` bytes. Raises IndexError at the data's end."""
        start, end = self.at, self.at + size
        if not 0 <= start <= end <= len(self.data):
            raise IndexError("the data end here")
        self.at = end
        return self.data[start:end]

    def uleb(self) -> int:
        """Return a number of variable length, see `uleb`."""
        value, self.at = uleb(self.data, self.at)
        return value

    def string(self) -> str:
        """Return a string that ends with a zero."""
        value = string_at(self.data, self.at)
        self.at = self.data.index(0, self.at) + 1
        return value

    def unit_length(self) -> tuple[int, int]:
        """Return the offset after a unit of debug information, and the size of its offsets (DWARF 5, section 7.4)."""
        length, size = self.number(4), 4
        if length == 0xFFFFFFFF:
            length, size = self.number(8), 8
        return self.at + length, size
