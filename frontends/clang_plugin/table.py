"""Reads the table that the pass plugin writes: JSON, an object for each innermost loop (Describe.cpp)."""

from __future__ import annotations

import json
from typing import Any

from msgspec.structs import replace

from incc.frontends.kernel import CompiledLoop, CompiledStream

VERSION = 1
"""Of the table's format, as in Describe.h."""

_KINDS = frozenset(
    ("plain", "vector-body", "interleaved", "epilogue", "scalar", "unroll-rest", "unversioned", "unknown")
)
_ROLES = frozenset(("main", "remainder", "prologue", "fallback", "outer", ""))


class TableError(ValueError):
    """It is no table of this version; the message says why."""


def read_table(text: str) -> tuple[CompiledLoop, ...]:
    """Return the loops of a table. Raises TableError."""
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("version") != VERSION:
            raise TableError("another version of the table of loops")
        loops = tuple([_loop(entry) for entry in table["loops"]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"no table of loops: {type(error).__name__}: {error}") from error
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


def _loop(entry: dict[str, Any]) -> CompiledLoop:
    kind, role = entry["kind"], entry["role"]
    if kind not in _KINDS or role not in _ROLES:
        raise TableError(f"no table of loops: a loop of kind {kind!r} with the role {role!r}")
    return CompiledLoop(
        number=_number(entry["id"]),
        function=str(entry["function"]),
        kind=kind,
        source_loop=_number(entry.get("source_loop", -1)),
        role=role,
        of=_number(entry["of"]),
        instead=bool(entry["instead"]),
        iterations=_iterations(entry.get("iterations")),
        width=_number(entry.get("width", 1)),
        scalable=bool(entry.get("scalable", False)),
        interleave=_number(entry.get("interleave", 1)),
        unroll=_number(entry.get("unroll", 1)),
        peeled=_number(entry.get("peeled", 0)),
        trip_count=_iterations(entry["trip_count"]),
        max_trip_count=_iterations(entry["max_trip_count"]),
        trip_multiple=_number(entry["trip_multiple"]),
        expected_trip_count=None if entry["expected_trip_count"] is None else _number(entry["expected_trip_count"]),
        source_trip_count=_iterations(entry.get("source_trip_count")),
        source_max_trip_count=_iterations(entry.get("source_max_trip_count")),
        streams=[_stream(stream) for stream in entry["streams"]],
        lines=tuple([_number(place["line"]) for place in reversed(entry["places"])]),
    )


def _stream(entry: dict[str, Any]) -> CompiledStream:
    return CompiledStream(
        store=bool(entry["store"]),
        element_bytes=_number(entry["element_bytes"]),
        lanes=_number(entry["lanes"]),
        scalable=bool(entry["scalable"]),
        step=None if entry["step"] is None else _number(entry["step"]),
        accesses=_number(entry["accesses"]),
    )


def _iterations(value: object) -> int | None:
    """Return a number of iterations; None for 0 and null, which mean that it is unknown."""
    return _number(value or 0) or None


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TableError(f"no table of loops: {value!r} is no number")
    return value
