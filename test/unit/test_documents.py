"""Claims of README and docs about models and tests hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from incc.driver.cli.command import NAMES, Command, names
from incc.driver.cli.usage import command_of
from incc.models import loading
from incc.support.version import __version__

ROOT = Path(__file__).parents[2]
VERSION = re.compile(r"\b[Mm]odel ([\w.-]+) (1\.[0-9a-f]{8})\b")


DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def printed() -> list[tuple[str, str, str]]:
    return [(file.name, *found) for file in DOCUMENTS for found in VERSION.findall(file.read_text(encoding="utf-8"))]


def test_something_is_printed() -> None:
    assert any(name == "README.md" for name, _, _ in printed())


@pytest.mark.parametrize(("file", "model", "version"), printed())
def test_versions_of_models_are_theirs(file: str, model: str, version: str) -> None:
    assert loading.load(model).version == version, f"{file} prints the report of an older model"


def test_the_changelog_begins_with_this_version() -> None:
    versions = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert versions[0] == __version__


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


FOLDERS = {path.name for path in ROOT.iterdir() if path.is_dir()} - {"build"}
FILES = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")}


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_of_the_project_that_documents_name_exist(path: Path) -> None:
    """Names in capitals stand for others, as in `views/text/NAME.py`."""
    text = path.read_text(encoding="utf-8")
    modules = [name.replace(".", "/") for name in re.findall(r"python -m incc\.([\w.]*\w)", text)]
    missing = [name for name in modules if not (ROOT / f"{name}.py").exists() and not (ROOT / name).exists()]
    for name in re.findall(r"(?:^|[`( ])(\w[\w/-]*\.(?:py|cpp|h|c|sh|toml|jsonl?|txt|s))\b", text, re.MULTILINE):
        folder, inside, _ = name.partition("/")
        if re.search(r"\b[A-Z]{3,}\b", name):
            continue
        if inside and folder in FOLDERS and not (ROOT / name).exists():
            missing.append(name)
        if re.fullmatch(r"\w+\.py", name) and name not in FILES:
            missing.append(name)
    assert missing == []


def shown_options(text: str) -> set[tuple[str, str]]:
    """Return the commands in code, each with an option that it is shown with."""
    lines = re.findall(r"`(incc[^`\n]*)`|^(?:    |\$ )(.*)", text, re.MULTILINE)
    calls = [
        call
        for line in lines
        for call in re.findall(r"\b(incc(?:-[a-z]+)?)(?= )(.*?)(?=$|[;&|#] | -- )", "".join(line))
    ]
    return {(name, option) for name, rest in calls for option in re.findall(r"(?<!\S)(--[a-z][\w-]*)", rest)}


def options_of(command: Command) -> set[str]:
    own = {name for group in command.all_groups() for option in group.options for name in names(option, command.name)}
    return own.union(*map(options_of, command.commands))


OPTIONS = {name: options_of(command_of(name)) for name in NAMES}
FORMER = {("incc-bench", "--kernel"), ("incc-scan", "--output")}
"""The former spellings that options.md mentions."""


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_options_that_documents_show_exist(path: Path) -> None:
    """The other options of `incc` are the compiler's."""
    shown = shown_options(path.read_text(encoding="utf-8"))
    wrong = [
        (name, option)
        for name, option in sorted(shown - FORMER)
        if option not in OPTIONS[name] and (name != "incc" or option.startswith(("--analyze", "--incc", "--emit")))
    ]
    assert wrong == []


def test_options_in_documents_are_found() -> None:
    assert shown_options("`incc-scan --top=3 x`") == {("incc-scan", "--top")}
    assert shown_options("    $ cd x && incc-diff --run gcc --flags=-O2 -- --other\n") == {
        ("incc-diff", "--run"),
        ("incc-diff", "--flags"),
    }
