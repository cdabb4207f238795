"""Reads the table that the source plugin writes: JSON, an object for each mark and each that is wrong (Source.cpp)."""

from __future__ import annotations

from typing import Any

import msgspec

from incc.frontends.clang_plugin.table import from_json
from incc.frontends.marks import Mark, MarkError

VERSION = 1
"""The version of the table's format, as in Source.cpp."""


def read_mark_table(text: str) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    """Return the marks of a table, and the errors of others. Raises TableError."""
    return from_json(text, VERSION, "marks", _marks)


def _marks(table: dict[str, Any]) -> tuple[tuple[Mark, ...], tuple[MarkError, ...]]:
    marks = [{**entry, "expected": entry["expect"]} for entry in table["marks"]]
    errors = [{**entry, "source": entry, "text": entry["message"]} for entry in table["problems"]]
    return msgspec.convert(marks, tuple[Mark, ...]), msgspec.convert(errors, tuple[MarkError, ...])
