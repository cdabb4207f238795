"""Reads the table that the source plugin writes: JSON, an object for each mark and each that is wrong (Source.cpp)."""

from __future__ import annotations

import json
from typing import Any

from incc.frontends.clang_plugin.table import TableError
from incc.frontends.kernel import SourceLocation
from incc.frontends.marks import Expected, Mark, MarkError

VERSION = 1
"""Of the table's format, as in Source.cpp."""


def read_mark_table(text: str) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    """Return the marks of a table, and the errors of others. Raises TableError."""
    try:
        table = json.loads(text)
        if not isinstance(table, dict) or table.get("version") != VERSION:
            raise TableError("another version of the table of marks")
        return tuple([_mark(entry) for entry in table["marks"]]), tuple([_error(entry) for entry in table["problems"]])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, TableError):
            raise
        raise TableError(f"no table of marks: {type(error).__name__}: {error}") from error


def _mark(entry: dict[str, Any]) -> Mark:
    return Mark(
        file=_text(entry["file"]),
        line=_number(entry["line"]),
        column=_number(entry["column"]),
        first_line=_number(entry["first_line"]),
        first_column=_number(entry["first_column"]),
        last_line=_number(entry["last_line"]),
        name=_text(entry["name"]),
        mcpu=tuple([_text(core) for core in entry["mcpu"]]),
        expected=tuple(
            [Expected(_text(e["condition"]), _number(e["line"]), _number(e["column"])) for e in entry["expect"]]
        ),
    )


def _error(entry: dict[str, Any]) -> MarkError:
    return MarkError(
        source=SourceLocation(_text(entry["file"]), _number(entry["line"])),
        column=_number(entry["column"]),
        text=_text(entry["message"]),
        end_column=_number(entry.get("end_column", 0)),
        fix=_text(entry["fix"]) if "fix" in entry else None,
    )


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TableError(f"no table of marks: {value!r} is no number")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TableError(f"no table of marks: {value!r} is no text")
    return value
