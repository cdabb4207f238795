"""Claims of README and docs about models and tests hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incc.models import loading

ROOT = Path(__file__).parents[2]
VERSION = re.compile(r"\b[Mm]odel ([\w.-]+) (1\.[0-9a-f]{8})\b")


def printed() -> list[tuple[str, str, str]]:
    files = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    return [(file.name, *found) for file in files for found in VERSION.findall(file.read_text(encoding="utf-8"))]


def test_something_is_printed() -> None:
    assert any(name == "README.md" for name, _, _ in printed())


@pytest.mark.parametrize(("file", "model", "version"), printed())
def test_versions_of_models_are_theirs(file: str, model: str, version: str) -> None:
    assert loading.load(model).version == version, f"{file} prints the report of an older model"


@pytest.mark.parametrize("document", ["security.md", "reliability.md"])
def test_promises_name_tests_that_exist(document: str) -> None:
    rows = [line for line in (ROOT / "docs" / document).read_text().splitlines() if line.startswith("| ")]
    tests = 0
    for row in rows:
        text = ""
        for name in re.findall(r"`((?:test|bench)/[\w/.-]+|test_\w+\.py|test_\w+|…\w+)`", row):
            path = ROOT / (name if "/" in name else f"test/unit/{name}")
            if "/" in name or name.endswith(".py"):
                assert path.exists(), name
                text = path.read_text() if path.is_file() else ""
            else:
                beginning = r"\w*" if name[0] == "…" else ""
                assert re.search(rf"def {beginning}{name.lstrip('…')}\(", text), name
                tests += 1
    assert tests > 10
