"""Counts, lists of lines, and characters of foreign texts (names of files) that must not reach a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Annotated

import msgspec

CONTROLS = {
    **{code: f"\\x{code:02x}" for code in (*range(32), *range(127, 160))},
    **{code: f"\\u{code:04x}" for code in (*range(0x2028, 0x202F), *range(0x2066, 0x206A))},
    9: " ",
    10: "\\n",
    13: "\\r",
}
"""The characters that move the cursor, break lines or turn the direction of text, each as it is written out."""

_WITHIN_LINES = {code: text for code, text in CONTROLS.items() if chr(code) not in "\t\n\r"}

_CONTROL = "".join([f"\\u{code:04x}" for code in _WITHIN_LINES])

Printable = Annotated[str, msgspec.Meta(pattern=rf"^[^{_CONTROL}]*\Z")]
"""The type of texts in files that must not have such characters, except for tabs and line breaks."""


def written_out(text: str) -> str:
    """Return a text with its control characters written out, except for tabs and line breaks."""
    return text if text.isprintable() else text.translate(_WITHIN_LINES)


def without_surrogates(text: str) -> str:
    """Return text with each byte that is not UTF-8, which names of files may have, replaced by U+FFFD."""
    return text if text.isascii() else _SURROGATE.sub("\ufffd", text)


_SURROGATE = re.compile("[\ud800-\udfff]")


def counted(count: int, singular: str, plural: str = "") -> str:
    """Return a count with its noun: 1 instruction, 2 instructions."""
    return f"{count} {singular if count == 1 else plural or singular + 's'}"


def line_spans(lines: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last line of each run of consecutive lines, ascending."""
    spans: list[tuple[int, int]] = []
    for line in sorted(set(lines)):
        first = spans.pop()[0] if spans and line == spans[-1][1] + 1 else line
        spans.append((first, line))
    return spans


def line_list(lines: Iterable[int]) -> str:
    """Return "line 4" or "lines 12-15, 20"."""
    spans = line_spans(lines)
    text = ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in spans)
    return ("line " if len(spans) == 1 and spans[0][0] == spans[0][1] else "lines ") + text
