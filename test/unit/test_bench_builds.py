"""bench/builds.py: what is unpacked for a build, and which differences count."""

from __future__ import annotations

import importlib.util
import tarfile
from pathlib import Path
from types import ModuleType

import pytest

FILE = Path(__file__).parents[2] / "bench" / "builds.py"


@pytest.fixture(scope="module")
def builds() -> ModuleType:
    spec = importlib.util.spec_from_file_location("bench_builds", FILE)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def packed(folder: Path, name: str, *files: str) -> Path:
    """An archive with one folder and these files in it."""
    for file in files:
        path = folder / "in" / name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{name}: {file}")
    archive = folder / f"{name}_1.orig.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(folder / "in" / name, arcname=f"{name}-1")
    return archive


def test_sources_of_other_packages_are_where_a_project_wants_them(builds: ModuleType, tmp_path: Path) -> None:
    main = packed(tmp_path, "main", "a.c", "test/t.c")
    within = {"test/first": packed(tmp_path, "one", "x.c"), "second": packed(tmp_path, "two", "y.c")}
    source = builds.unpacked(builds.Sources(main, within), tmp_path / "place")
    found = {str(path.relative_to(source)): path for path in source.rglob("*") if path.is_file()}
    assert sorted(found) == ["a.c", "second/y.c", "test/first/x.c", "test/t.c"]
    assert found["test/first/x.c"].read_text() == "one: x.c"
    assert {path.stat().st_mtime for path in found.values()} == {1700000000}


def test_what_plain_builds_make_alike_must_be_alike(builds: ModuleType) -> None:
    plain = [{"same": "1", "date": "1", "gone": "1"}, {"same": "1", "date": "2", "gone": "1"}]
    made = {"same": "1", "date": "3", "new": "1"}
    assert builds.differing(plain, made) == ["gone", "new"]
    assert builds.differing(plain, {**plain[0], "same": "2"}) == ["same"]
    assert builds.differing(plain, plain[1]) == []


def test_the_parts_of_projects_fit_together(builds: ModuleType) -> None:
    for project in builds.PROJECTS.values():
        assert "{jobs}" in project.build
        assert project.build.format(jobs=3) != project.build
        assert "{" not in project.test
