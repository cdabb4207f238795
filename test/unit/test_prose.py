"""Check the English of docstrings, C++ comments and documents, beyond what ruff checks."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = (
    *(
        "bench",
        "comparison",
        "core",
        "driver",
        "fleet",
        "frontends",
        "history",
        "measuring",
        "models",
        "ranking",
        "report",
        "support",
    ),
    "views",
)
SOURCES = sorted(
    path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "__pycache__" not in path.parts
)
CXX_FOLDERS = ("core", "front", "frontends", "measuring", "models", "support", "test/unit")
CXX_SOURCES = sorted(
    path
    for folder in CXX_FOLDERS
    for suffix in ("h", "cpp", "def")
    for path in (ROOT / folder).rglob(f"*.{suffix}")
    if "data" not in path.parts
)
DOCUMENTS = [
    ROOT / "README.md",
    ROOT / "CHANGELOG.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
]
OPENING = re.compile(r"(Whether|What|How|Where|Who|Of|That|The same)\b")
"""Words that docstrings and C++ comments do not begin with: such a line says nothing in an editor's tooltip."""
BANNED = re.compile(
    r"\bno JSON any more\b|\bto nowhere\b|\bwhat stands behind\b|\btaken for [\w-]+'s sake\b|\bis told of\b"
    r"|\bof the text only\b|\bno more what it was\b|\bto be had\b|\bhas it that\b|\bsuch as it is\b"
    r"|\bby turns\b|\btold of\b|\bwhat becomes of\b|\bwhat to make of\b|\bat hand\b|\bhad better\b"
    r"|\bwhoever\b|\bbeside each other\b"
)
"""Phrases that came from word-for-word translation."""
WIDTH = 120


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            text = ast.get_docstring(node)
            if text:
                yield getattr(node, "lineno", 1), text


def descriptions(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string that documents a field or variable: it follows the assignment."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Module | ast.ClassDef):
            continue
        for before, after in pairwise(node.body):
            described = isinstance(before, ast.AnnAssign | ast.Assign) and isinstance(after, ast.Expr)
            if described and isinstance(after.value, ast.Constant) and isinstance(after.value.value, str):
                yield after.lineno, after.value.value


def doc_comments(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the line and the first line of each documenting comment (`///`, `///<`) of a C++ file."""
    before = ""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        comment = re.search(r"///<?(?!/) ?(.*)", line)
        trailing = comment is not None and line[comment.start() :].startswith("///<")
        if comment and (trailing or not before.lstrip().startswith("///")):
            yield number, comment[1]
        before = line


def test_the_sources_are_found() -> None:
    assert len(SOURCES) > 300
    assert len(CXX_SOURCES) > 130


@pytest.mark.parametrize("texts", [docstrings, descriptions])
def test_descriptions_begin_with_a_sentence_of_their_own(texts: Callable[[Path], Iterator[tuple[int, str]]]) -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text.splitlines()[0]}"
        for path in SOURCES
        for line, text in texts(path)
        if OPENING.match(text)
    ]
    assert wrong == []


def test_cxx_comments_begin_with_a_sentence_of_their_own() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{line}: {text}"
        for path in CXX_SOURCES
        for line, text in doc_comments(path)
        if OPENING.match(text)
    ]
    assert wrong == []


def test_banned_phrases_do_not_come_back() -> None:
    wrong = [
        f"{path.relative_to(ROOT)}:{number}: {match[0]}"
        for path in (*SOURCES, *CXX_SOURCES, *DOCUMENTS)
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := BANNED.search(line))
    ]
    assert wrong == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_documents_are_wrapped(path: Path) -> None:
    """Rows of tables, code and lines without blanks cannot be wrapped."""
    wrong = []
    in_code = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        in_code ^= line.startswith("```")
        if len(line) > WIDTH and not in_code and not line.startswith(("|", "    ")) and " " in line.strip():
            wrong.append(f"{path.name}:{number}")
    assert wrong == []
