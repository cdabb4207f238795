"""The JSON schemas of reports, comparisons and rankings, made from their types.

A record's docstring and those of its fields become the descriptions. `python -m incc.views.schemas` writes the schemas
into the packages of the documents.
"""

from __future__ import annotations

import ast
import inspect
import json
import os
import sys
from functools import cache
from itertools import pairwise
from typing import Any

import msgspec
from msgspec.inspect import Field, StructType, Type, type_info
from msgspec.structs import astuple, fields

from incc.comparison.types import ComparisonReport
from incc.ranking.types import Ranking
from incc.report.types import AnalysisReport

DOCUMENTS = {"report/report": AnalysisReport, "comparison/comparison": ComparisonReport, "ranking/ranking": Ranking}
"""The types of documents by the places of their schemas below the package."""


def schema(place: str) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a document in DOCUMENTS; `$defs` has every type by its name."""
    kind = DOCUMENTS[place]
    _, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for record in _records(type_info(kind), set()):
        definition = definitions[record.__name__]
        definition["description"] = inspect.cleandoc(record.__doc__ or "")
        texts = _field_texts(record)
        properties = definition["properties"]
        for field in fields(record):
            properties[field.encode_name].pop("default", None)
            if field.name in texts:
                properties[field.encode_name] = {"description": texts[field.name], **properties[field.encode_name]}
        # Readers accept more than writers write, which is every field and no other.
        definition["required"] = list(properties)
        definition["additionalProperties"] = False
    document = definitions.pop(kind.__name__)
    name = place.rpartition("/")[2]
    version = document["properties"]["schema_version"]["enum"][0]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:incc:{name}:{version}",
        **document,
        "title": f"incc {name}",
        "$defs": {name: definitions[name] for name in sorted(definitions)},
    }


def _records(info: object, seen: set[type]) -> set[type]:
    """Add the records in a type to those that were seen, and return these."""
    if isinstance(info, StructType):
        if info.cls in seen:
            return seen
        seen.add(info.cls)
    if isinstance(info, (Field, Type)):
        info = astuple(info)
    if isinstance(info, tuple):
        for part in info:
            _records(part, seen)
    return seen


def _field_texts(record: type) -> dict[str, str]:
    """Return the docstring of each field of a record that has one."""
    texts = {}
    for base in reversed([base for base in record.__mro__ if issubclass(base, msgspec.Struct)]):
        for field, text in pairwise(_class_bodies(base.__module__).get(base.__name__, [])):
            match field, text:
                case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                    texts[name] = " ".join(words.split())
    return texts


@cache
def _class_bodies(module: str) -> dict[str, list[ast.stmt]]:
    """Return the statements of each class of a module."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {node.name: node.body for node in tree.body if isinstance(node, ast.ClassDef)}


def main() -> None:
    """Write all schemas."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for place in DOCUMENTS:
        with open(os.path.join(package, f"{place}.schema.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(schema(place), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
