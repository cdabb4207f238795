"""Results that are computed once for each encoding, cached as long as there is room.

All programs together have more encodings than a long-lived process should cache. A table that has grown to MOST entries
is dropped as a whole: a program has few new encodings, so that happens seldom, and a look-up stays a plain dictionary's
`get`. Threads may look up and drop at once: a thread that misses computes the result again.
"""

from __future__ import annotations

import os
from typing import TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")

MOST = 32768
"""Encodings kept by each dictionary; a decoded instruction takes 1.3 KB."""


def keep(table: dict[_Key, _Value], encoding: _Key, value: _Value) -> _Value:
    """Add a value for an encoding, or a statement; returns it."""
    if len(table) >= MOST:
        table.clear()
    table[encoding] = value
    return value


class KeyedText:
    """A table below this folder: a text with a key at the start of each line. A run looks up a few of them."""

    __slots__ = ("_behind", "_file", "_known", "_text")

    def __init__(self, file: str, behind: str) -> None:
        """Open a table. `behind` is the character that follows the keys."""
        self._file = file
        self._behind = behind
        self._text = ""
        self._known: dict[str, str] = {}

    def get(self, key: str) -> str:
        """Return the text after a key in its line, "" if no line has it."""
        line = self._known.get(key)
        return keep(self._known, key, self._found(key)) if line is None else line

    def _found(self, key: str) -> str:
        if not self._text:
            path = os.path.join(os.path.dirname(os.path.abspath(__file__)), self._file)
            with open(path, encoding="utf-8") as file:
                self._text = f"\n{file.read()}\n"
        start = self._text.find(sought := f"\n{key}{self._behind}")
        if start < 0:
            return ""
        start += len(sought)
        return self._text[start : self._text.index("\n", start)]
