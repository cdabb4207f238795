"""Directives of assembly that read other files."""

from __future__ import annotations

import re

_READING = r'(?im)^((?:[^"#\n]*[;:])?[ \t]*)\.inc(?:lude|bin)\b.*'
"""A line with such a directive; text before it stays. Macros can hide others, which assemblers may not execute."""


def without_includes(text: str) -> tuple[str, list[int]]:
    """Return an assembly text without the directives that read other files, and the lines that had one."""
    if re.search(r"(?i)\.inc(?:lude|bin)\b", text) is None:
        return text, []
    lines = text.split("\n")
    numbers = []
    for number, line in enumerate(lines, 1):
        if match := re.match(_READING, line):
            lines[number - 1] = match[1]
            numbers.append(number)
    return "\n".join(lines), numbers
