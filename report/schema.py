"""The JSON schema of a report, made from its types: `python -m incc.report.schema > report.schema.json`.

Not imported by any command.
"""

from __future__ import annotations

import inspect
import json
import sys
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from incc.report import types
from incc.report.build import SCHEMA_VERSION

_NAMES = {str: "string", int: "integer", float: "number", bool: "boolean", NoneType: "null"}


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of `types.Report`; `$defs` has every type by its name."""
    definitions: dict[str, Any] = {}
    report = object_schema(types.Report, definitions)
    return whole("report", SCHEMA_VERSION, report, definitions)


def whole(name: str, version: str, found: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a kind of document from that of its object (`object_schema`) and what that refers to."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:incc:{name}:{version}",
        "title": f"incc {name}",
        **found,
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def object_schema(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of a TypedDict; those that it refers to are added to `definitions` by their names."""
    fields = get_type_hints(kind, include_extras=True)
    return {
        "description": " ".join((inspect.getdoc(kind) or "").split()),
        "type": "object",
        "properties": {name: _of(field, definitions) for name, field in fields.items()},
        "required": list(fields),
        "additionalProperties": False,
    }


def _of(kind: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if is_typeddict(kind):
        name = kind.__name__
        if name not in definitions:
            definitions[name] = {}  # a type may contain itself
            definitions[name] = object_schema(kind, definitions)
        return {"$ref": f"#/$defs/{name}"}
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return {**_of(arguments[0], definitions), **_constraints(arguments[1:])}
    if origin is Literal:
        return {"enum": list(arguments)} if len(arguments) > 1 else {"const": arguments[0]}
    if origin in (Union, UnionType):
        return {"anyOf": [_of(argument, definitions) for argument in arguments]}
    if origin is list:
        return {"type": "array", "items": _of(arguments[0], definitions)}
    if origin is dict:
        found = {"type": "object"}
        return found if arguments[1] is Any else {**found, "additionalProperties": _of(arguments[1], definitions)}
    return {"type": _NAMES[kind]}


def _constraints(said: tuple[Any, ...]) -> dict[str, Any]:
    """Of several descriptions the last, which is the field's own, counts."""
    found: dict[str, Any] = {}
    for what in said:
        match what:
            case types.AtLeast(value):
                found["minimum"] = value
            case types.AtMost(value):
                found["maximum"] = value
            case types.AtLeastItems(least):
                found["minItems"] = least
            case types.Pattern(text):
                found["pattern"] = text
            case str():
                found["description"] = what
            case _:
                raise TypeError(f"{what!r} says nothing that a schema can say")
    return found


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
