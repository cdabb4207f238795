"""Reports, comparisons and rankings as JSON, which programs read and people can read and compare.

The report's schema is report/report.schema.json. `json.dumps` with indentation takes as long (3.2 ms for the report on
a loop of seven instructions, this 3.3), but writes each number on its own line: 1,070 lines and 29 KB instead of 686
and 23. Without indentation the library takes 0.9 ms.
"""

from __future__ import annotations

import re
from json.encoder import JSONEncoder, encode_basestring
from typing import Any

import msgspec

# Lists and objects that fit are written in one line: a row of port pressures reads as a row.
LINE = 120

# JSON's encoders escape those below a blank.
_CONTROLS = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")

_flat = JSONEncoder(ensure_ascii=False, allow_nan=False).encode
_compact = JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode


def render(report: msgspec.Struct | dict[str, Any], compact: bool = False) -> str:
    """Return a document with its own order of keys, indented by two blanks, that ends in a line break.

    Lists and objects of plain values are in one line if they fit. `compact`: all in one line without blanks.
    """
    document = msgspec.to_builtins(report)
    if compact:
        return without_controls(_compact(document)) + "\n"
    return without_controls(_rows(document) if "rows" in document else _indented(document, 0)) + "\n"


def without_controls(text: str) -> str:
    """Return JSON in which characters that control a terminal or the direction of text are escaped."""
    return _CONTROLS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def _rows(document: dict[str, Any]) -> str:
    """Return a document with each row in a line of its own.

    Large documents have ten thousand rows, and a line for each value would take seven times as long.
    """
    rows = "".join(f"\n    {_flat(row)}," for row in document["rows"])[:-1]
    parts = [
        f"  {_flat(key)}: " + (f"[{rows}\n  ]" if key == "rows" and rows else _indented(value, 1))
        for key, value in document.items()
    ]
    return "{\n" + ",\n".join(parts) + "\n}"


def _indented(value: Any, depth: int) -> str:
    # Most values are strings and small numbers: the encoder's set-up for each would take longer than all the rest.
    kind = type(value)
    if kind is str:
        return encode_basestring(value)
    if kind is int:
        return repr(value)
    if kind not in (dict, list) or not value:
        return _flat(value)
    items = value.values() if kind is dict else value
    if not any(item and type(item) in (dict, list) for item in items):
        line = _flat(value)
        if len(line) + 2 * depth <= LINE:
            return line
    indent = "  " * (depth + 1)
    if kind is dict:
        lines = [f"{indent}{encode_basestring(key)}: {_indented(item, depth + 1)}" for key, item in value.items()]
        start, end = "{", "}"
    else:
        lines = [f"{indent}{_indented(item, depth + 1)}" for item in value]
        start, end = "[", "]"
    return f"{start}\n" + ",\n".join(lines) + f"\n{'  ' * depth}{end}"
