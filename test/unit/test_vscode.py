"""The extension for VS Code: its settings and commands are the server's, and its own lint, tests and package work."""

from __future__ import annotations

import json
import re
import shutil
import tarfile
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from incc.live.requests import EditorSettings
from incc.support.version import __version__
from npm_packages import check, installed

ROOT = Path(__file__).parents[2]
EXTENSION = ROOT / "editors" / "vscode"


@pytest.fixture(scope="module")
def package() -> Any:
    return json.loads((EXTENSION / "package.json").read_text(encoding="utf-8"))


def test_settings_are_those_of_the_server(package: Any) -> None:
    kinds = {"array": list, "string": str, "boolean": bool, "null": type(None)}
    properties = dict(package["contributes"]["configuration"]["properties"])
    assert properties.pop("incc.path")["default"] == "incc-lsp"
    defaults = json.loads(msgspec.json.encode(EditorSettings()))
    assert {name.removeprefix("incc."): each["default"] for name, each in properties.items()} == defaults
    for each in properties.values():
        types = each["type"] if isinstance(each["type"], list) else [each["type"]]
        assert isinstance(each["default"], tuple(kinds[name] for name in types))


def test_commands_are_those_of_the_server(package: Any) -> None:
    pytest.importorskip("pygls", reason="no pygls")
    from incc.live.lsp.features import make_server

    class NoJobs:
        """Nothing is analysed here."""

    server = set(make_server(NoJobs()).protocol.fm.commands)  # type: ignore[arg-type]
    offered = {each["command"] for each in package["contributes"]["commands"]}
    # Explanations need a hint, which only code actions have.
    assert offered == server - {"incc.explain"} | {"incc.restart"}
    assert {each["command"] for each in package["contributes"]["keybindings"]} <= offered


def first_column(heading: str) -> list[str]:
    """Return the names in the table after a heading of docs/editors.md."""
    text = (ROOT / "docs" / "editors.md").read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2]
    return re.findall(r"^\| `([^`]+)`", text.partition("\n## ")[0], re.M)


def test_the_document_has_all_settings_and_commands(package: Any) -> None:
    settings = [name.removeprefix("incc.") for name in package["contributes"]["configuration"]["properties"]]
    assert ["path", *first_column("Settings")] == settings
    offered = {each["command"] for each in package["contributes"]["commands"]}
    assert set(first_column("Commands")) == offered - {"incc.restart"} | {"incc.explain"}


def test_the_version_is_that_of_incc(package: Any) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert (package["version"], package["license"]) == (__version__, project["license"])


def test_the_extension_starts_for_exactly_the_languages_of_its_key(package: Any) -> None:
    (key,) = package["contributes"]["keybindings"]
    languages = [event.removeprefix("onLanguage:") for event in package["activationEvents"]]
    (pattern,) = re.findall(r"editorLangId =~ /(.*)/", key["when"])
    assert all(re.search(pattern, language) for language in languages)
    assert not any(re.search(pattern, language) for language in ("python", "csharp", "plaintext", "charm"))


@pytest.mark.long
def test_lint_tests_and_package(tmp_path: Path) -> None:
    copy = tmp_path / "editors" / "vscode"
    shutil.copy(ROOT / "LICENSE", tmp_path)
    installed(EXTENSION, copy)
    for words in (("run", "lint"), ("test",), ("pack",)):
        check(copy, *words)
    with tarfile.open(next(copy.glob("incc-*.tgz"))) as packed:
        names = set(packed.getnames())
    library = "package/node_modules/vscode-languageclient/package.json"
    assert {"package/extension.js", "package/package.json", "package/README.md", "package/LICENSE", library} <= names
    assert not any(name.startswith(("package/stubs", "package/node_modules/eslint/")) for name in names)
