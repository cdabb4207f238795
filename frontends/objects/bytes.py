"""Numbers and strings of binary data in the little-endian order that all instruction sets here have."""

from __future__ import annotations


def uleb(data: bytes, at: int) -> tuple[int, int]:
    """A number of variable length (LEB128), and the byte behind it. Raises IndexError at the data's end."""
    byte = data[at]
    at += 1
    if byte < 128:
        return byte, at
    value, shift = byte & 127, 7
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7


def signed_leb(data: bytes, at: int) -> tuple[int, int]:
    """The same of a number with a sign."""
    start = at
    value, at = uleb(data, at)
    bits = 7 * (at - start)
    return value - (1 << bits) if value >> (bits - 1) else value, at


def string_at(data: bytes, at: int) -> str:
    """The string that begins at a byte and ends with a zero. Raises ValueError where there is none."""
    return data[at : data.index(0, at)].decode("utf-8", "surrogateescape")


class Reader:
    """Reads values one behind the other; `at` is the next byte."""

    __slots__ = ("at", "data")

    def __init__(self, data: bytes, at: int) -> None:
        self.data = data
        self.at = at

    def number(self, size: int) -> int:
        end = self.at + size
        if not 0 <= self.at <= end <= len(self.data):
            raise IndexError("the data end here")
        value = int.from_bytes(self.data[self.at : end], "little")
        self.at = end
        return value

    def uleb(self) -> int:
        value, self.at = uleb(self.data, self.at)
        return value

    def string(self) -> str:
        value = string_at(self.data, self.at)
        self.at = self.data.index(0, self.at) + 1
        return value

    def unit_length(self) -> tuple[int, int]:
        """Where a unit of debug information ends, and how many bytes its offsets have (DWARF 5, section 7.4)."""
        length, size = self.number(4), 4
        if length == 0xFFFFFFFF:
            length, size = self.number(8), 8
        return self.at + length, size
