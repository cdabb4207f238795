"""llvm-mca's layout of numbers and columns."""

from __future__ import annotations

from math import floor


def rounded(number: float, digits: int) -> str:
    """Return a number with this many decimals. llvm-mca rounds halves up, `%.2f` by the binary fraction."""
    scale = 10**digits
    return f"{floor(number * scale + 0.5) / scale:.{digits}f}"


def percent(part: float, whole: float, digits: int = 1) -> str:
    """Return a part of the whole as a rounded percentage, without the sign; 0 of nothing."""
    return rounded(share(part, whole), digits)


def share(part: float, whole: float) -> float:
    """Return a part of the whole in percent, 0 of nothing."""
    return part / whole * 100 if whole else 0.0


def padded(text: str, column: int) -> str:
    """Pad a text with blanks up to a column, counted from 0, with at least one blank."""
    if text.isascii() and "\t" not in text:
        return text.ljust(column) if len(text) < column else text + " "
    return text + " " * max(column - width(text), 1)


def width(text: str) -> int:
    """Return the number of columns that llvm-mca counts for a text.

    A tab reaches to the next multiple of eight, but a tab at such a multiple counts nothing, unlike on a terminal.
    """
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
