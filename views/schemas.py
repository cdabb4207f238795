"""The JSON schemas of reports, comparisons and rankings, made from their types.

`python -m incc.views.schemas` writes them into the packages of the documents.
"""

from __future__ import annotations

import json
import os
from typing import Any

import msgspec

from incc.comparison.types import Comparison
from incc.ranking.types import Ranking
from incc.report.types import Report

DOCUMENTS = {"report/report": Report, "comparison/comparison": Comparison, "ranking/ranking": Ranking}
"""The types of documents by the places of their schemas below the package."""


def schema(place: str) -> dict[str, Any]:
    """Return the schema (draft 2020-12) of a document in DOCUMENTS; `$defs` has every type by its name."""
    kind = DOCUMENTS[place]
    _, definitions = msgspec.json.schema_components([kind], ref_template="#/$defs/{name}")
    for definition in definitions.values():
        # Readers accept more than writers write.
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


def main() -> None:
    """Write all schemas."""
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    for place in DOCUMENTS:
        with open(os.path.join(package, f"{place}.schema.json"), "w", encoding="utf-8") as file:
            file.write(json.dumps(schema(place), indent=2, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
