"""The JSON schema of a comparison, made from its types: `python -m incc.compare.schema >
comparison.schema.json`.

Not imported by any command.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from incc.compare.build import COMPARISON_VERSION
from incc.compare.types import Comparison
from incc.report.schema import object_schema, whole


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of `types.Comparison`."""
    definitions: dict[str, Any] = {}
    return whole("comparison", COMPARISON_VERSION, object_schema(Comparison, definitions), definitions)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
