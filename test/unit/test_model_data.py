"""The models that come with incc: they fit the schema, the checks find no error, and figures agree with each other."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from incc.models.check import check
from incc.models.files import source
from incc.models.loading import data_folder, list_models, load
from incc.models.model import ModelError
from incc.models.schema import describe
from incc.models.throughput import of_form

SCHEMA = json.loads((Path(describe.__file__).with_name("model.schema.json")).read_text(encoding="utf-8"))
FILES = sorted(Path(data_folder()).glob("*.toml"))


@pytest.fixture(scope="module")
def written() -> dict[str, dict[str, Any]]:
    """Every model file as it is written."""
    return {path.stem: tomllib.loads(path.read_text(encoding="utf-8")) for path in FILES}


def _validator(definition: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator({"$ref": f"#/$defs/{definition}", "$defs": SCHEMA["$defs"]})


def test_the_schema_knows_the_fields_that_the_loader_does() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]["form"]["properties"]) == set(source.FIELDS)
    assert set(SCHEMA["properties"]) == source.TOP_KEYS


def test_schema(written: dict[str, dict[str, Any]]) -> None:
    """Headers as a whole; of the forms, which are many and alike, every key and every distinct entry once."""
    top = jsonschema.Draft202012Validator(SCHEMA)
    keys = re.compile(SCHEMA["$defs"]["key"]["pattern"])
    distinct: dict[str, tuple[str, dict[str, Any]]] = {}
    for name, data in written.items():
        forms, also = data.pop("forms", {}), data.pop("also", {})
        assert [e.message for e in top.iter_errors(data)] == [], name
        assert [k for k in (*forms, *(f for fs in also.values() for f in fs)) if not keys.match(k)] == [], name
        for key, fields in forms.items():
            distinct.setdefault(repr(sorted(fields.items())), (f"{name}: {key}", fields))
        data["forms"], data["also"] = forms, also
    form = _validator("form")
    assert {place: e.message for place, fields in distinct.values() for e in form.iter_errors(fields)} == {}


@pytest.mark.parametrize(
    "fields",
    [
        {"ports": "p01"},
        {"ports": "0*p01"},
        {"latency": "0<1"},
        {"latency": "0 1:2"},
        {"retire": -1},
        {"retire": "1"},
        {"divider": 1.5},
        {"breaks": 1},
        {"colour": "red"},
    ],
)
def test_the_schema_notices_mistakes(fields: dict[str, Any]) -> None:
    assert list(_validator("form").iter_errors(fields))


@pytest.mark.long
@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_no_errors(path: Path) -> None:
    errors = [str(f) for f in check(str(path), [data_folder()]) if f.level == "error"]
    assert errors == []


def test_names_are_unique() -> None:
    """No two cores answer to one name, in whatever case."""
    owner: dict[str, str] = {}
    for entry in list_models():
        for name in (entry.name, *entry.aliases):
            assert owner.setdefault(name.lower(), entry.name) == entry.name, name


@pytest.mark.parametrize("path", FILES, ids=[p.stem for p in FILES])
def test_independent_copies(path: Path) -> None:
    """In a loop of independent copies the ports (or what the entry names beside them) give the published throughput.

    A measured throughput stands in an entry only where ports and divider do not give it within 10 %; then it must be
    more than these demand, since nothing runs faster than its ports.
    """
    model = load(str(path))
    wrong = []
    for name in model.forms():
        for conditions, fields in model.entries(name):
            if not fields.get("tp"):
                continue
            try:
                form = model.lookup(name, frozenset(conditions))
            except ModelError as error:
                wrong.append(str(error))
                continue
            assert form is not None
            measured = form.throughput or 0.0
            bound = float(of_form(form.uops)) * max(1, form.attributes.get("hold", 1))
            if bound > 1.1 * measured:
                wrong.append(f"{form.key}: ports need {bound:g} cycles, measured are {measured:g}")
    assert wrong == []
