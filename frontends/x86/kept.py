"""What is worked out once for each encoding, kept as long as there is room.

All programs together have more encodings than a process that lives long should keep. What has grown to MOST is dropped
as a whole: a program has few encodings that are new, so that happens seldom, and looking something up stays a plain
dictionary's `get`. Threads may do both at once: who finds nothing works it out again.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import TypeVar

    _Key = TypeVar("_Key")
    _Value = TypeVar("_Value")

MOST = 32768
"""Encodings kept by each dictionary; a decoded instruction takes 1.3 KB."""


def keep(known: dict[_Key, _Value], encoding: _Key, value: _Value) -> _Value:
    """Add a value for an encoding, or a statement; returns it."""
    if len(known) >= MOST:
        known.clear()
    known[encoding] = value
    return value
