"""The JSON schema of a ranking, made from its types: `python -m incc.ranking.schema > ranking.schema.json`.

Not imported by any command.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from incc.ranking.build import RANKING_VERSION
from incc.ranking.types import Ranking
from incc.report.schema import object_schema, whole


def schema() -> dict[str, Any]:
    """The schema (draft 2020-12) of `types.Ranking`."""
    definitions: dict[str, Any] = {}
    return whole("ranking", RANKING_VERSION, object_schema(Ranking, definitions), definitions)


if __name__ == "__main__":
    sys.stdout.write(json.dumps(schema(), indent=2, ensure_ascii=False) + "\n")
