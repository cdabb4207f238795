"""Ranges of addresses in options."""

from __future__ import annotations

from incc.driver import UsageError
from incc.frontends.objects.spans import Addresses


def addresses(option: str, text: str) -> Addresses:
    """Parse a hexadecimal range: first address and end (0x401000-0x401040), or first address and size (401000+40).

    Raises UsageError.
    """
    first, sign, second = text.partition("+" if "+" in text else "-")
    try:
        start, number = _number(first), _number(second)
    except ValueError:
        start = number = -1
    end = start + number if sign == "+" else number
    if not 0 <= start < end <= 1 << 64:
        raise UsageError(f"{option} takes a range of addresses, such as 401000-401040 or 401000+40, not {text!r}")
    return Addresses(start, end)


def _number(text: str) -> int:
    digits = text.strip().removeprefix("0x").removeprefix("0X")
    if not digits or not all(c in "0123456789abcdefABCDEF" for c in digits):
        raise ValueError(text)
    return int(digits, 16)
