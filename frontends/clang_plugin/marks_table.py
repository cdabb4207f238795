"""Reads the table that the source plugin writes: JSON, an object for each mark and each that is wrong (Source.cpp)."""

from __future__ import annotations

from typing import Any

import msgspec

from incc.frontends.clang_plugin.table import from_json
from incc.frontends.kernel import SourceLocation
from incc.frontends.marks import Mark, MarkError

VERSION = 1
"""The version of the table's format, as in Source.cpp."""


def read_mark_table(text: str) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    """Return the marks of a table, and the errors of others. Raises TableError."""
    return from_json(text, VERSION, "marks", _marks)


def _marks(table: dict[str, Any]) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    entries = [{**entry, "expected": entry["expect"]} for entry in table["marks"]]
    problems = [{**entry, "source": entry, "text": entry["message"]} for entry in table["problems"]]
    marks, errors = msgspec.convert(entries, list[Mark]), msgspec.convert(problems, list[MarkError])
    for n, mark in enumerate(marks):
        if wrong := _wrong_trip(mark):
            marks[n] = msgspec.structs.replace(mark, trip="")
            errors.append(MarkError(source=SourceLocation(mark.file, mark.line), column=mark.column, text=wrong))
    return tuple(marks), tuple(errors)


def _wrong_trip(mark: Mark) -> str:
    """Return the reason why a mark's trip counts cannot be used, "" if they can, or if there are none."""
    if mark.trip:
        from incc.frontends.asm.call_path import parse_trips

        try:
            parse_trips(mark.trip)
        except ValueError as error:
            return f"trip {error}"
    return ""
