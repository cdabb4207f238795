"""The modules of a command in one file: those that Python would have imported, whatever happened to it and them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import incc

PACKAGE = Path(incc.__file__).parent

RUN = """
import sys
from incc.driver.bundle import Bundle
bundle = Bundle("x")
sys.meta_path.insert(0, bundle)
from incc.driver import other
from incc.part import one
bundled = [name for name, m in sorted(sys.modules.items())
           if name.startswith("incc.") and type(m.__loader__).__module__ == "incc.driver.bundle"]
print(other.VALUE, one.VALUE, *bundled)
for module in (other, one):
    assert module.__file__ == module.__spec__.origin, module
    assert module.__cached__.endswith(".pyc"), module
    assert module.__spec__.loader.get_source(module.__name__).startswith("VALUE")
import incc.part, importlib.resources
assert incc.part.__path__ == [incc.part.__file__.rpartition("/")[0]]
assert (importlib.resources.files("incc.part") / "one.py").read_text().startswith("VALUE")
bundle.keep()
"""

ALL = "incc.driver.other incc.part incc.part.one"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    folder = tmp_path / "place" / "incc"
    for name in ("driver/bundle.py", "frontends/sealed.py"):
        (folder / name).parent.mkdir(parents=True)
        shutil.copy(PACKAGE / name, folder / name)
    (folder / "part").mkdir()
    for name in ("__init__.py", "driver/__init__.py", "frontends/__init__.py", "part/__init__.py"):
        (folder / name).write_text("")
    (folder / "driver/other.py").write_text("VALUE = 1\n")
    (folder / "part/one.py").write_text("VALUE = 2\n")
    return folder


def run(package: Path, *options: str, **environment: str) -> str:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    variables = {"PYTHONPATH": str(package.parent), "XDG_CACHE_HOME": str(package.parent / "cache"), **environment}
    done = subprocess.run(
        [sys.executable, *options, "-c", RUN], env=kept | variables, capture_output=True, text=True, check=False
    )
    assert done.stderr == ""
    return done.stdout.strip()


def test_the_next_run_has_them(package: Path) -> None:
    assert run(package) == "1 2"
    assert run(package) == f"1 2 {ALL}"
    (file,) = (package / "__pycache__").glob("x.modules.*.incc")
    before = file.stat().st_mtime_ns
    assert run(package) == f"1 2 {ALL}"
    assert file.stat().st_mtime_ns == before


def test_sources_that_were_changed(package: Path) -> None:
    run(package)
    (package / "driver/other.py").write_text("VALUE = 10\n")
    assert run(package) == "10 2 incc.part incc.part.one"
    assert run(package) == f"10 2 {ALL}"


def test_damaged_files(package: Path) -> None:
    run(package)
    (file,) = (package / "__pycache__").glob("x.modules.*.incc")
    data = file.read_bytes()
    for damaged in (b"", data[: len(data) // 2], data[:-20] + bytes(20), data[:40] + b"\0" + data[41:]):
        file.write_bytes(damaged)
        assert run(package).startswith("1 2")
        assert run(package) == f"1 2 {ALL}"


def test_a_package_that_was_moved_or_is_there_twice(package: Path) -> None:
    run(package)
    shutil.copytree(package.parent, package.parents[1] / "moved", symlinks=True)
    moved = package.parents[1] / "moved" / "incc"
    (moved / "driver/other.py").write_text("VALUE = 33\n")
    assert run(moved) == "33 2"
    assert run(moved) == f"33 2 {ALL}"


def test_nothing_is_written_where_python_writes_nothing(package: Path) -> None:
    assert run(package, PYTHONDONTWRITEBYTECODE="1") == "1 2"
    assert run(package) == "1 2"
    assert run(package, "-O") == "1 2"  # compiled otherwise


def test_a_package_that_cannot_be_written_to(package: Path) -> None:
    (package / "__pycache__").write_text("")
    assert run(package) == "1 2"
    assert run(package) == f"1 2 {ALL}"
    assert list((package.parent / "cache" / "incc").iterdir())
