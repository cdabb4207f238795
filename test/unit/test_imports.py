"""Imports that import-linter's contracts (pyproject.toml) do not cover, and public classes of the same name."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import incc
from incc import views

ALLOWED = (
    *("incc.views", "incc.report"),
    *("incc.comparison.types", "incc.history.types", "incc.ranking.types"),
    "incc.support",
)


def imports_of(path: Path) -> Iterator[str]:
    """Yield the modules of incc that a file imports anywhere: at the top, in functions, for type checking."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: a relative import"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        yield from (name for name in names if name.startswith("incc."))


EXECUTES = re.compile(r"\b(import|from) (marshal|pickle|shelve|dill|runpy)\b|(?<![.\w])(eval|exec)\(")
"""Ways to read data that execute what is in them."""

WITHIN_A_PROCESS = {
    "comparison/side.py",  # kernels of a report in this process's memory
    "core/cached.py",  # writes keys of a dictionary
    "support/workers.py",  # what forked workers send through a pipe of their own
}


def package_files() -> list[Path]:
    (package,) = incc.__path__
    files = [path for folder in Path(package).iterdir() if folder.is_dir() for path in folder.resolve().rglob("*.py")]
    assert len(files) > 300
    return files


def test_public_classes_have_names_of_their_own() -> None:
    classes = Counter(
        name
        for path in package_files()
        for name in re.findall(r"^class ([A-Z]\w*)", path.read_text(encoding="utf-8"), re.MULTILINE)
    )
    assert [name for name, count in classes.items() if count > 1] == []


def test_no_file_holds_data_that_could_execute() -> None:
    found = {
        "/".join(path.parts[-2:]).replace("python/", "core/")
        for path in package_files()
        if EXECUTES.search(path.read_text(encoding="utf-8"))
    }
    assert found == WITHIN_A_PROCESS


def test_views_import_reports_and_nothing_else() -> None:
    (folder,) = views.__path__
    files = list(Path(folder).rglob("*.py"))
    assert files
    others = {(path.name, name) for path in files for name in imports_of(path) if not name.startswith(ALLOWED)}
    assert others == set()
