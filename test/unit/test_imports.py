"""Imports of views, which import-linter's contracts (pyproject.toml) do not cover."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

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


def test_views_import_reports_and_nothing_else() -> None:
    (folder,) = views.__path__
    files = list(Path(folder).rglob("*.py"))
    assert files
    others = {(path.name, name) for path in files for name in imports_of(path) if not name.startswith(ALLOWED)}
    assert others == set()
