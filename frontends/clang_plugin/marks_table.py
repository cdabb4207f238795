"""Reads the table that the source plugin writes: JSON, an object for each mark and each that is wrong (Source.cpp)."""

from __future__ import annotations

from typing import Any

import msgspec

from incc.frontends.clang_plugin.table import from_json
from incc.frontends.kernel import SourceLocation
from incc.frontends.marks import Mark, MarkError, parse_value

VERSION = 2
"""The version of the table's format, as in Source.cpp."""


def read_mark_table(text: str) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    """Return the marks of a table, and the errors of others. Raises TableError."""
    return from_json(text, VERSION, "marks", _marks)


def _marks(table: dict[str, Any]) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    entries = [{**entry, "expected": entry["expect"], "let": ()} for entry in table["marks"]]
    problems = [{**entry, "source": entry, "text": entry["message"]} for entry in table["problems"]]
    marks, errors = msgspec.convert(entries, list[Mark]), msgspec.convert(problems, list[MarkError])
    for n, mark in enumerate(marks):
        try:
            _check_trip(mark)
        except ValueError as error:
            marks[n] = mark = msgspec.structs.replace(mark, trip="")
            errors.append(_error(mark, f"trip {error}"))
        try:
            values = [parse_value(part) for part in table["marks"][n]["let"].split(",") if part]
            marks[n] = msgspec.structs.replace(mark, let=tuple(values))
        except ValueError as error:
            errors.append(_error(mark, f"let {error}"))
    return tuple(marks), tuple(errors)


def _error(mark: Mark, text: str) -> MarkError:
    return MarkError(source=SourceLocation(mark.file, mark.line), column=mark.column, text=text)


def _check_trip(mark: Mark) -> None:
    """Raise ValueError for trip counts that cannot be used."""
    if mark.trip:
        from incc.frontends.asm.call_path import parse_trips

        parse_trips(mark.trip)
