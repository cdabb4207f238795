"""Reports against the published schema, and the schema against mistakes that it must notice."""

from __future__ import annotations

import copy
import json
import re
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest

from incc.report import build as report_module
from incc.report import hints
from incc.report.build import SCHEMA_VERSION
from incc.views.json import render
from incc.views.schemas import schema
from report_fixtures import make_report, sum_parts, triad_parts, unknown_parts

SCHEMA_FILE = Path(report_module.__file__).with_name("report.schema.json")
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


@pytest.fixture
def report() -> dict[str, Any]:
    report: dict[str, Any] = msgspec.to_builtins(
        make_report(triad_parts(), sum_parts(), unknown_parts(), timeline=True)
    )
    return report


def test_the_schema_is_a_schema_and_names_its_version() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["properties"]["schema_version"]["enum"] == [SCHEMA_VERSION]
    assert SCHEMA["$id"].endswith(SCHEMA_VERSION)


def test_the_schema_is_that_of_the_types() -> None:
    assert schema("report/report") == SCHEMA, "run python -m incc.views.schemas"


def test_every_object_of_the_schema_is_closed() -> None:
    def objects(schema: Any) -> list[Any]:
        if isinstance(schema, list):
            return [found for item in schema for found in objects(item)]
        if not isinstance(schema, dict):
            return []
        return [schema] * ("properties" in schema and schema.get("type") == "object") + objects(list(schema.values()))

    assert len(objects(SCHEMA)) > 20
    assert all(found["additionalProperties"] is False for found in objects(SCHEMA))


def test_reports_are_valid(report: dict[str, Any]) -> None:
    VALIDATOR.validate(report)
    VALIDATOR.validate(json.loads(render(make_report())))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["schema_version"], "2.0"),
        (["units", 0, "kernels", 0, "bounds", "prediction", "exact"], "1.75"),
        (["units", 0, "kernels", 0, "bounds", "prediction", "limited_by"], ["luck"]),
        (["units", 0, "kernels", 0, "instructions", 0, "latency"], -1),
        (["units", 0, "kernels", 0, "instructions", 0, "remarks"], "DX"),
        (["units", 0, "kernels", 0, "surprise"], 1),
    ],
)
def test_wrong_values_are_not_valid(report: dict[str, Any], path: list[Any], value: Any) -> None:
    changed = copy.deepcopy(report)
    target = changed
    for key in path[:-1]:
        target = target[key]
    target[path[-1]] = value
    with pytest.raises(jsonschema.ValidationError):
        VALIDATOR.validate(changed)


def test_every_rule_is_in_the_schema_and_explained() -> None:
    rules = set(SCHEMA["$defs"]["Hint"]["properties"]["rule"]["enum"])
    source = "".join(file.read_text(encoding="utf-8") for file in Path(hints.__file__).parent.glob("*.py"))
    assert set(re.findall(r'(?:\brule=|\bhint\(\s*)"([a-z-]+)"', source)) == rules
    # the documentation is beside the sources, not in an installed package
    explained = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")
    section = explained.partition("\n### Hints\n")[2].partition("\n### ")[0]
    assert set(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE)) == rules


def test_nothing_required_can_be_missing(report: dict[str, Any]) -> None:
    for key in list(report["units"][0]["kernels"][0]):
        changed = copy.deepcopy(report)
        del changed["units"][0]["kernels"][0][key]
        with pytest.raises(jsonschema.ValidationError):
            VALIDATOR.validate(changed)
