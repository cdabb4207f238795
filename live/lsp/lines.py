"""Lines of a text before and after edits."""

from __future__ import annotations

import io
from collections.abc import Sequence
from difflib import SequenceMatcher

MOST_COMPARED = 2000
"""Most changed lines that are compared with each other; among more, no line is taken to be the same."""


def lines_of(text: str) -> list[str]:
    """Return the lines of a text with their ends, which are those of the protocol: no form feed ends a line."""
    return [*io.StringIO(text, newline="")]


class LineMap:
    """The lines of an analysed text, numbered from 1, and where they are in the text as it is now, numbered from 0."""

    def __init__(self, before: Sequence[str], now: Sequence[str]) -> None:
        shorter = min(len(before), len(now))
        start = next((n for n in range(shorter) if before[n] != now[n]), shorter)
        left = shorter - start
        end = next((n for n in range(left) if before[-1 - n] != now[-1 - n]), left)
        self._count = len(before)
        self._start, self._end, self._moved = start, len(before) - end, len(now) - len(before)
        self._changed: dict[int, int] = {}
        old, new = before[start : len(before) - end], now[start : len(now) - end]
        if old and new and max(len(old), len(new)) <= MOST_COMPARED:
            for a, b, size in SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks():
                self._changed |= {start + a + n: start + b + n for n in range(size)}

    def now(self, line: int) -> int | None:
        """Return where an analysed line is now; None if it was changed or removed, or there is no such line."""
        line -= 1
        if not 0 <= line < self._count:
            return None
        if line < self._start:
            return line
        if line >= self._end:
            return line + self._moved
        return self._changed.get(line)
