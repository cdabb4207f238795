"""How llvm-mca sets numbers and columns."""

from __future__ import annotations

from math import floor


def rounded(number: float, digits: int) -> str:
    """With so many decimals, halves upwards: most of its numbers, where `%.2f` would go by the binary fraction."""
    scale = 10**digits
    return f"{floor(number * scale + 0.5) / scale:.{digits}f}"


def padded(text: str, column: int) -> str:
    """Blanks up to the column, counted from 0, and one at least: what is too long moves on the next cell, but not
    those behind it."""
    if text.isascii() and "\t" not in text:
        return text.ljust(column) if len(text) < column else text + " "
    return text + " " * max(column - width(text), 1)


def width(text: str) -> int:
    """The columns that llvm-mca takes a text to have. A tab reaches to the next multiple of eight, as terminals have
    it, but from one nowhere, as they have not: a row with `rep` and two tabs ends a little further to the right."""
    if text.isascii():
        if "\t" not in text:
            return len(text)
    else:
        from unicodedata import combining, east_asian_width

        text = "".join(c * (0 if combining(c) else 2 if east_asian_width(c) in "WF" else 1) for c in text)
    first, *parts = text.split("\t")
    columns = len(first)
    for part in parts:
        columns += -columns % 8 + len(part)
    return columns


def share(part: float, whole: float) -> float:
    """A part of the whole in percent; of nothing, nothing."""
    return part / whole * 100 if whole else 0.0
