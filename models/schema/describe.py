"""Writes the generated parts of the schema and the documentation: `python -m incc.models.schema.describe [--check]`.

The parts are parameters, functions of ports and fields of forms in `model.schema.json`, the tables in `docs/models.md`
between `<!-- NAME: written by incc.models.schema.describe -->` and `<!-- end of NAME -->`, and the checksum of these
tables in `models/loading.py`, which invalidates caches that were compiled with other tables. With `--check`, nothing is
written, and the exit status is 1 if a file is out of date.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
import textwrap
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import msgspec

from incc.models.memory import MemoryHierarchy, MemoryLevel
from incc.models.schema import parameters
from incc.models.schema.fields import FIELDS, FUNCTIONS
from incc.models.schema.parameters import BY_NAME, PARAMETERS, REQUIRED

FOLDER = os.path.dirname(os.path.realpath(__file__))
MODELS = os.path.dirname(FOLDER)
SCHEMA = os.path.join(FOLDER, "model.schema.json")
DOCUMENT = os.path.join(os.path.dirname(MODELS), "docs", "models.md")
CODE = os.path.join(MODELS, "loading.py")
_COLUMNS = 120


def schema(old: str) -> str:
    """Return the text of the schema with its generated parts."""
    data = json.loads(old)
    data["properties"]["ports"]["properties"]["functions"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"$ref": "#/$defs/portSet"} for name in FUNCTIONS},
    }
    data["properties"]["parameters"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {p.name: p.kind.schema for p in PARAMETERS},
    }
    hierarchy = msgspec.json.schema(MemoryHierarchy)
    data["properties"]["memory"] = {"$ref": "#/$defs/MemoryHierarchy"}
    for definition in hierarchy["$defs"].values():
        definition["description"] = inspect.cleandoc(definition["description"])  # some versions of msgspec do
    data["$defs"].update(hierarchy["$defs"])
    data["$defs"]["form"] = {
        "type": "object",
        "additionalProperties": False,
        "properties": {f.name: f.schema for f in FIELDS},
    }
    return _layout(data, 0) + "\n"


def _layout(value: Any, indent: int, before: int = 0) -> str:
    """Return JSON that keeps what fits on a line on one line; `before` is the number of columns in front of it."""
    flat = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, dict | list) or indent + before + len(flat) < _COLUMNS:
        return flat
    inner = " " * (indent + 2)
    if isinstance(value, list):
        parts = [inner + _layout(v, indent + 2) for v in value]
    else:
        parts = [f"{inner}{json.dumps(k)}: {_layout(v, indent + 2, len(k) + 5)}" for k, v in value.items()]
    opening, closing = "[]" if isinstance(value, list) else "{}"
    return opening + "\n" + ",\n".join(parts) + "\n" + " " * indent + closing


def code(old: str) -> str:
    """Return the text of models/loading.py with the checksum of the tables.

    It covers names, kinds and defaults of parameters, and names of functions and fields.
    """
    tables = [(p.name, p.kind.text, repr(p.default)) for p in PARAMETERS], list(FUNCTIONS), [f.name for f in FIELDS]
    start = "TABLE_CHECKSUM = 0x"
    before, mark, rest = old.partition(start)
    if not mark:
        raise ValueError("the code has no place for the checksum")
    return f"{before}{start}{zlib.crc32(repr(tables).encode()):08X}{rest[8:]}"


def document(old: str) -> str:
    """Return the text of the documentation with its tables. Raises ValueError if the markers of a table are missing."""
    rows_of_parameters = [["parameter", "value", "unit", "default", "read by", "meaning"]]
    for name, text in descriptions().items():
        p = BY_NAME[name]
        rows_of_parameters.append(
            [f"`{name}`", p.kind.text, p.unit, _default(p.default), p.read_by, meaning(text, p.unit)]
        )
    functions = [["function", "operations on these ports"], *[[f"`{name}`", text] for name, text in FUNCTIONS.items()]]
    fields = [["field", "meaning"], *[[f"`{f.name}`", f.text] for f in FIELDS]]
    levels = [["field of a level", "meaning"], *[[f"`{name}`", text] for name, text in _fields(MemoryLevel)]]
    tables = {"fields": fields, "functions": functions, "memory": levels, "parameters": rows_of_parameters}
    for name, rows in tables.items():
        start, end = f"<!-- {name}: written by incc.models.schema.describe -->\n", f"<!-- end of {name} -->\n"
        before, opened, rest = old.partition(start)
        _, closed, after = rest.partition(end)
        if not opened or not closed:
            raise ValueError(f"the documentation has no place for {name}")
        old = before + start + _table(rows) + end + after
    return old


def _fields(record: type) -> Iterator[tuple[str, str]]:
    """Yield the fields of a record, and the text below each, as a cell of a table."""
    (definition,) = ast.parse(textwrap.dedent(inspect.getsource(record))).body
    assert isinstance(definition, ast.ClassDef)
    for setting, text in pairwise(definition.body):
        match setting, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(description))):
                yield name, meaning(description, "")


def descriptions() -> dict[str, str]:
    """Return the text below each parameter, by name."""
    with open(parameters.__file__, encoding="utf-8") as f:
        module = ast.parse(f.read())
    (record,) = (node for node in module.body if isinstance(node, ast.ClassDef) and node.name == "Parameters")
    texts = {}
    for setting, text in pairwise(record.body):
        match setting, text:
            case ast.Assign(targets=[ast.Name(id=name)]), ast.Expr(value=ast.Constant(value=str(description))):
                texts[name] = description
    return texts


def meaning(text: str, unit: str) -> str:
    """Return a parameter's text as a cell of a table, without the unit, which is in another cell."""
    text = " ".join(text.split()).removesuffix(".")
    first = unit.partition(" ")[0]
    for opening in (f"{unit}: ", f"{first} "):
        if unit and text.lower().startswith(opening.lower()):
            return text[len(opening) :]
    return text[0].lower() + text[1:]


def _default(value: Any) -> str:
    if value is REQUIRED:
        return "required"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value) if value or value == 0 else "none"


def _table(rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines) + "\n"


WRITTEN = ((SCHEMA, schema), (DOCUMENT, document), (CODE, code))
"""The files, and the functions that make their new text from the old one."""


def main(arguments: Sequence[str]) -> int:
    """Write the files, or with `--check` compare them. Returns 1 if a file is or was out of date."""
    if any(a != "--check" for a in arguments):
        print("usage: python -m incc.models.schema.describe [--check]", file=sys.stderr)
        return 2
    different = 0
    for path, make in WRITTEN:
        with open(path, encoding="utf-8") as f:
            old = f.read()
        new = make(old)
        if new == old:
            continue
        if arguments:
            different = 1
            print(f"{os.path.relpath(path)}: out of date; run make describe", file=sys.stderr)
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(new)
    return different


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
