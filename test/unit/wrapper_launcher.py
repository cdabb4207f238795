"""An `incc` for the wrapper's tests: the real program, and a Python with an analysis that only notes what it was given.

So the tests say what the wrapper does, whatever the analysis can do. The notes go to the file $NOTED_UNITS.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec

import incc
from incc.driver.settings import Scope, Settings
from struct_fixtures import filled

# What the program takes for Python, since it is beside it: `python3 -I -c PROGRAM PLACE ARGUMENTS…`.
LAUNCHER = f"""
import sys
sys.path[:0] = {[p for p in sys.path if p]!r}
import wrapper_launcher
wrapper_launcher.install()
program = sys.argv[3]
del sys.argv[1:4]
exec(program)
"""

REPORT = "the report\n"

# What a report has of a unit as it is.
SAME = ("source", "assembly_file", "compiler", "compiler_version", "command", "folder", "output", "way")


def install() -> None:
    """Put the noting analysis in the place of the real one."""
    import types

    from incc.driver import deliver, pipeline
    from incc.driver.pipeline import AnalysisError
    from incc.frontends.unit import Unit
    from incc.report import types as t

    def analyze_for_cores(asked: list[tuple[Unit, list[Settings]]]) -> t.AnalysisReport:
        if os.environ.get("FAIL_ANALYSIS"):
            raise AnalysisError("no model for\nthis")
        if os.environ.get("CRASH_ANALYSIS"):
            raise ZeroDivisionError("oh")
        noted = msgspec.to_builtins({"units": [u for u, _ in asked], "settings": asked[0][1][0]})
        if path := os.environ.get("NOTED_UNITS"):
            Path(path).write_text(json.dumps(noted))
        return filled(t.AnalysisReport, {"units": [{name: getattr(u, name) for name in SAME} for u, _ in asked]})

    def write_marked(unit: Unit, scope: Scope, path: str, dialect: str) -> None:
        Path(path).write_text(f"{dialect} {unit.source}\n")

    pipeline.analyze_for_cores = analyze_for_cores  # type: ignore[assignment]
    pipeline.write_marked = write_marked
    pipeline.untried = lambda report, settings: []
    pipeline.model_notes = lambda report: []
    deliver.write_warnings = lambda report, stream, error: False
    text = types.ModuleType("incc.views.text")
    text.terminal = lambda stream: (80, False)  # type: ignore[attr-defined]
    text.render = lambda report, width, colour, show: REPORT  # type: ignore[attr-defined]
    text.VIEWS = ()  # type: ignore[attr-defined]
    text.UNIT_VIEWS = ()  # type: ignore[attr-defined]
    text.TextParts = lambda **arguments: None  # type: ignore[attr-defined]
    sys.modules["incc.views.text"] = text


def front() -> Path:
    """The program `incc` that belongs to the package under test: of `make dev`, or as it was installed."""
    beside = Path(incc.__file__).parent.parent / "bin" / "incc"
    return beside if beside.exists() else Path(sys.executable).parent / "incc"


def installed(name: str) -> Path:
    """A program as it is installed, which knows of no tree: of `make dev`, or where it was installed."""
    built = Path(incc.__file__).parents[2] / "core" / name
    return built if built.exists() else Path(sys.executable).parent / name


def make_incc(folder: Path, name: str = "incc") -> Path:
    """Put the program into a folder, with the Python that it is to find there."""
    path = folder / name
    shutil.copy(front(), path)
    python = folder / "python3"
    python.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c {shlex.quote(LAUNCHER)} "$@"\n')
    python.chmod(0o755)
    return path


class Result(msgspec.Struct, frozen=True):
    status: int
    out: bytes
    err: bytes


def run(command: list[Any], cwd: Path, stdin: bytes | None = None, **environment: str) -> Result:
    """Run a command with a clean environment and the given variables."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("INCC_", "LC_", "LANG"))}
    done = subprocess.run(
        [str(c) for c in command],
        cwd=cwd,
        input=stdin if stdin is not None else b"",
        capture_output=True,
        env=kept | {"INCC_CACHE": "0"} | environment,
        timeout=120,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
