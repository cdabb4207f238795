"""What README and docs print of models is what the models say."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incc.models import loading

ROOT = Path(__file__).parents[2]
VERSION = re.compile(r"\b[Mm]odel ([\w.-]+) (1\.[0-9a-f]{8})\b")


def printed() -> list[tuple[str, str, str]]:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    return [(file.name, *found) for file in files for found in VERSION.findall(file.read_text(encoding="utf-8"))]


def test_something_is_printed() -> None:
    assert any(name == "README.md" for name, _, _ in printed())


@pytest.mark.parametrize(("file", "model", "version"), printed())
def test_versions_of_models_are_theirs(file: str, model: str, version: str) -> None:
    assert loading.load(model).version == version, f"{file} prints the report of an older model"
