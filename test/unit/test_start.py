"""The programs that start incc-mca and incc-scan: where Python and the package may be, and what gets through."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from wrapper_launcher import Result, installed

import incc

PACKAGE = Path(incc.__file__).parent
SITE = f"lib/python{sys.version_info.major}.{sys.version_info.minor}/site-packages"
KERNEL = "\taddq\t$8, %rax\n"
CPU = "-mcpu=skylake-avx512"

HERE = "import sys; print(sys.argv, 'site' in sys.modules)"
"""A command that says what it was given, and whether `site` was asked."""


def run(*command: Any, stdin: str = KERNEL, **environment: str) -> Result:
    """Run a command in an environment of which nothing leads to the package under test."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "INCC_", "LC_", "LANG"))}
    done = subprocess.run(
        [str(word) for word in command], input=stdin.encode(), capture_output=True, env=kept | environment, timeout=60
    )
    return Result(done.returncode, done.stdout, done.stderr)


class Place:
    """A virtual environment with the programs; the package and what it needs are where a test puts them."""

    def __init__(self, folder: Path, python: bool = True) -> None:
        self.folder = folder
        self.bin = folder / "bin"
        self.site = folder / SITE
        self.bin.mkdir(parents=True)
        self.site.mkdir(parents=True)
        if python:
            base = Path(sys.base_prefix) / "bin"
            (self.bin / "python3").symlink_to(base / "python3")
            (folder / "pyvenv.cfg").write_text(f"home = {base}\ninclude-system-site-packages = false\n")
        for name in ("incc-mca", "incc-scan"):
            shutil.copy(installed(name), self.bin / name)

    def add(self, package: Path, name: str = "") -> None:
        (self.site / (name or package.name)).symlink_to(package)

    def add_all(self) -> Place:
        """The package, and what it needs of others."""
        self.add(PACKAGE, "incc")
        for name in ("iced_x86", "msgspec", "numpy", "scipy"):
            self.add(package(name))
        return self


def package(name: str) -> Path:
    """Where a package is installed."""
    for place in sys.path:
        if (Path(place) / name / "__init__.py").exists():
            return Path(place) / name
    pytest.skip(f"{name} is no folder")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path / "an environment").add_all()


def analysed(done: Result) -> bool:
    return done.status == 0 and b"addq $8, %rax" in done.out and done.err == b""


def test_in_an_environment(place: Place, tmp_path: Path) -> None:
    """With blanks in its path, through links to it and to the program, found in PATH."""
    assert analysed(run(place.bin / "incc-mca", CPU))
    (tmp_path / "moved").symlink_to(place.folder)
    assert analysed(run(tmp_path / "moved/bin/incc-mca", CPU))
    (tmp_path / "mca").symlink_to(tmp_path / "moved/bin/incc-mca")
    assert analysed(run(tmp_path / "mca", CPU))
    assert analysed(run("incc-mca", CPU, PATH=f"{place.bin}:{os.environ['PATH']}"))
    scanned = run(place.bin / "incc-scan", "-mcpu=skylake", "--input-format=hex", "--output=cycles", stdin="4883c008\n")
    assert scanned == Result(0, b"4883c008 1\n", b"")


def test_the_name_chooses_the_face(place: Place, tmp_path: Path) -> None:
    (tmp_path / "llvm-mca").symlink_to(place.bin / "incc-mca")
    for done in (
        run(tmp_path / "llvm-mca", CPU),
        run("llvm-mca", CPU, PATH=f"{tmp_path}:{os.environ['PATH']}"),
        run(place.bin / "incc-mca", "--compat", CPU),
    ):
        assert (done.status, done.err) == (0, b"")
        assert done.out.startswith(b"Iterations:        100\n")
    assert run(tmp_path / "llvm-mca", "-nothing").err.startswith(b"llvm-mca: Unknown command line argument")


def test_statuses_and_streams(place: Place) -> None:
    program = place.bin / "incc-mca"
    assert run(program, CPU, "no-such-file.s").status == 1
    assert run(program, CPU, "--nothing").status == 2
    assert analysed(run(program, CPU, "-"))
    refused = run(program, CPU, stdin="\tfoo %rax\n")
    assert (refused.status, refused.err.count(b"\n") > 0, b"Traceback" in refused.err) == (1, True, False)
    odd = run(program, CPU, b"\xff \n".decode(errors="surrogateescape"))
    assert odd.status == 1
    assert b"Traceback" not in odd.err


def test_it_is_ended_by_signals(place: Place) -> None:
    for number in (signal.SIGTERM, signal.SIGINT):
        process = subprocess.Popen(
            [place.bin / "incc-mca", CPU], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert process.stdin is not None
        process.stdin.write(b"#" * 1_000_000)  # more than fits into a pipe: it is being read
        process.stdin.flush()
        process.send_signal(number)
        _, said = process.communicate()
        assert process.returncode == -number
        assert b"Traceback" not in said


FRACTIONS = """
import sys
from incc.driver import start
if sys.argv[1:] == ["broken"]:
    start.builtins = None
sys.meta_path.insert(0, start.Fractions)
from fractions import Fraction
assert ("decimal" in sys.modules) == (sys.argv[1:] == ["broken"])
half = Fraction(1, 2)
assert Fraction("1/2") == Fraction(" 0.5 ") == Fraction(0.5) == half
assert Fraction(3, 7) + half == Fraction(13, 14)
from decimal import Decimal
assert Fraction(Decimal("0.5")) == Fraction.from_decimal(Decimal("0.5")) == half
import copy, pickle, numbers
assert isinstance(half, numbers.Rational)
assert copy.copy(half) == pickle.loads(pickle.dumps(half)) == half
assert f"{half!r} {half}" == "Fraction(1, 2) 1/2"
for wrong in ("x", "1/0"):
    try:
        Fraction(wrong)
    except (ValueError, ZeroDivisionError):
        continue
    raise AssertionError(wrong)
try:
    Fraction(object())
except TypeError:
    print("done")
"""


@pytest.mark.parametrize("how", ["", "broken"])
def test_fractions_are_those_of_the_library(how: str) -> None:
    words = [how] if how else []
    done = run(sys.executable, "-S", "-c", FRACTIONS, *words, PYTHONPATH=str(PACKAGE.parent))
    assert done == Result(0, b"done\n", b"")


# --- where things may be ---------------------------------------------------------------------------------------------


def fake(folder: Path, text: str = "") -> Path:
    """A package `incc` with the modules that start commands and a command that says how it was called."""
    for name in (
        "driver/start.py",
        "driver/bundle.py",
        "driver/messages.py",
        "frontends/sealed.py",
        "frontends/regex.py",
    ):
        (folder / "incc" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PACKAGE / name, folder / "incc" / name)
    for name in ("__init__.py", "driver/__init__.py", "driver/incc.py", "frontends/__init__.py"):
        (folder / "incc" / name).write_text("")
    (folder / "incc/driver/mca.py").write_text(f"def main():\n    {HERE}\n{text}    return 0\n")
    return folder / "incc"


def test_site_is_not_asked(tmp_path: Path) -> None:
    place = Place(tmp_path)
    fake(place.site)
    program = place.bin / "incc-mca"
    assert run(program, "-a", "b c", "").out.decode() == f"{[str(program), '-a', 'b c', '']} False\n"


def test_what_only_site_knows_of(tmp_path: Path) -> None:
    """Folders that .pth files name, for what is needed and for the package, as editable installations have it."""
    place = Place(tmp_path / "place")
    fake(place.site, "    import elsewhere\n    import site\n    print(elsewhere.__name__, sys.prefix)\n")
    elsewhere = tmp_path / "else where"
    elsewhere.mkdir()
    (elsewhere / "elsewhere.py").write_text("")
    (place.site / "x.pth").write_text(f"{elsewhere}\n")
    said = run(place.bin / "incc-mca").out.decode().splitlines()
    assert said[0].endswith(" False")
    assert said[1] == f"elsewhere {place.folder}"

    (place.site / "incc").rename(elsewhere / "incc")
    said = run(place.bin / "incc-mca").out.decode().splitlines()
    assert said[0].endswith(" True")
    assert said[1] == f"elsewhere {place.folder}"


def test_what_is_nowhere(tmp_path: Path) -> None:
    """A module that does not exist is looked for once more, and then it is missing as ever."""
    place = Place(tmp_path)
    fake(
        place.site,
        "    try:\n        import no_such_module\n    except ModuleNotFoundError as error:\n        print(error)\n",
    )
    assert run(place.bin / "incc-mca").out.splitlines()[1:] == [b"No module named 'no_such_module'"]


def test_a_user_installation(tmp_path: Path) -> None:
    """Without a Python beside it: the one that it was built with, or what PATH has."""
    place = Place(tmp_path, python=False)
    fake(place.site)
    assert run(place.bin / "incc-mca").out.endswith(b" False\n")


def test_an_installation_with_a_target(tmp_path: Path) -> None:
    place = Place(tmp_path, python=False)
    fake(place.folder)
    assert run(place.bin / "incc-mca").out.endswith(b" False\n")


def test_variables_of_python(tmp_path: Path) -> None:
    """They mean what they mean for any Python; installed packages hide nothing of the standard library."""
    place = Place(tmp_path / "place")
    fake(place.site, "    import json, other\n    print(json.__name__, other.__name__)\n")
    (place.site / "json.py").write_text("raise ImportError\n")
    (tmp_path / "other.py").write_text("")
    done = run(place.bin / "incc-mca", PYTHONPATH=str(tmp_path))
    assert done.out.splitlines()[1:] == [b"json other"]
    assert run(place.bin / "incc-mca", PYTHONHOME="/no/where").status != 0


def test_no_package(tmp_path: Path) -> None:
    done = run(Place(tmp_path).bin / "incc-mca")
    assert (done.status, done.out, done.err.count(b"\n")) == (1, b"", 1)
    assert done.err.startswith(b"incc-mca: error: ")
    assert done.err.endswith(b"No module named 'incc'\n")


def test_a_python_that_cannot_be_started(tmp_path: Path) -> None:
    place = Place(tmp_path, python=False)
    fake(place.site)
    (place.bin / "python3").write_text("nothing that could be started\n")
    (place.bin / "python3").chmod(0o755)
    done = run(place.bin / "incc-mca")
    assert (done.status, done.out) == (127, b"")
    assert done.err == f"incc-mca: error: {place.bin}/python3: Exec format error\n".encode()
