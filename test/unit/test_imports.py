"""Which module may import which, as far as import-linter's contracts (pyproject.toml) cannot say it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import incc

ROOT = Path(str(incc.__file__)).parent


def module_of(path: Path) -> str:
    parts = ["incc", *path.relative_to(ROOT).with_suffix("").parts]
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


# rglob does not follow the links that build/dev consists of.
FILES = {
    module_of(path): path for folder in (ROOT, *ROOT.iterdir()) if folder.is_dir() for path in folder.rglob("*.py")
}


def imports_of(module: str, text: str, modules: set[str]) -> Iterator[str]:
    """Modules of the package that one imports anywhere: at the top, in functions, for type checking."""
    package = module if FILES[module].name == "__init__.py" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            origin = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{origin}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            # The package names the API and is named by all below it for its version, which needs no import of the API.
            if name == "incc.__version__":
                continue
            while name and name not in modules:
                name = name.rpartition(".")[0]
            # What a package takes from itself is in it and not beside it: its extension module.
            if name and name != module:
                yield name


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """What each module imports."""
    assert len(FILES) > 50
    return {m: set(imports_of(m, path.read_text(encoding="utf-8"), set(FILES))) for m, path in FILES.items()}


def circle(imports: dict[str, set[str]]) -> list[str]:
    """Modules that import each other in a circle, one of them at both ends; empty if there is none."""
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as e:
        return list(e.args[1])
    return []


def test_no_circles(imports: dict[str, set[str]]) -> None:
    """Between modules; import-linter sees those between packages, but not those of a package with what is in it."""
    assert circle(imports) == []


_TYPES = ("incc.driver.comparison.types", "incc.driver.database.types", "incc.driver.ranking.types")
"""What views print beside reports."""
_RECORDS = "incc.frontends.records"
"""The module that stands in for `typing.NamedTuple`."""


def test_views_know_reports_and_nothing_else(imports: dict[str, set[str]]) -> None:
    beside = {
        (view, name)
        for view, found in imports.items()
        if view.startswith("incc.driver.views")
        for name in found
        if not name.startswith(("incc.driver.views", "incc.driver.report", *_TYPES, _RECORDS))
    }
    assert beside == set()


def test_circles_are_found() -> None:
    """Also of a package with what is in it."""
    assert circle({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert set(circle({"a": {"a.b"}, "a.b": {"c"}, "c": {"a"}})) == {"a", "a.b", "c"}


def test_all_imports_are_seen() -> None:
    text = """
import incc.models.bind
from incc.core import simulate
from . import scan
def f():
    from .views.dot import render
    from incc import __version__
if TYPE_CHECKING:
    from incc import models, analyze
"""
    expected = ["models.bind", "models", "core", "driver.scan", "driver.views.dot"]
    assert set(imports_of("incc.driver.mca", text, set(FILES))) == {"incc", *(f"incc.{m}" for m in expected)}
    assert set(imports_of("incc.driver.mca", "from incc import __version__", set(FILES))) == set()
