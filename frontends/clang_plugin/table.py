"""Reads the table that the pass plugin writes: JSON, an object for each innermost loop (Describe.cpp)."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import CompiledLoop

T = TypeVar("T")

VERSION = 1
"""The version of the table's format, as in Describe.h."""


class TableError(ValueError):
    """It is no table of this version; the message says why."""


def read_table(text: str) -> tuple[CompiledLoop, ...]:
    """Return the loops of a table. Raises TableError."""
    loops = from_json(text, VERSION, "loops", lambda table: [_loop(entry) for entry in table["loops"]])
    if len({loop.number for loop in loops}) != len(loops):
        raise TableError("no table of loops: two have the same number")
    # clang 14 leaves some of the loops that it makes of one without a place.
    lines_of = {(loop.function, loop.source_loop): loop.lines for loop in loops if loop.lines and loop.source_loop >= 0}
    return tuple(
        [
            loop if loop.lines else replace(loop, lines=lines_of.get((loop.function, loop.source_loop), ()))
            for loop in loops
        ]
    )


def from_json(text: str, version: int, what: str, convert: Callable[[dict[str, Any]], T]) -> T:
    """Return what `convert` makes of the table of a plugin, whose entries are `what`. Raises TableError."""
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("version") != version:
            raise TableError(f"another version of the table of {what}")
        return convert(table)
    except TableError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, msgspec.ValidationError) as error:
        raise TableError(f"no table of {what}: {type(error).__name__}: {error}") from error


def _loop(entry: dict[str, Any]) -> CompiledLoop:
    # Unknown numbers are null.
    fields = {name: value for name, value in entry.items() if value is not None}
    lines = [place["line"] for place in reversed(entry["places"])]
    return msgspec.convert({**fields, "number": entry["id"], "streams": entry["streams"], "lines": lines}, CompiledLoop)
