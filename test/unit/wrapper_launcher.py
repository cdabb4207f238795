"""An `incc` for the wrapper's tests: the real wrapper around an analysis that only notes what it was given.

So the tests say what the wrapper does, whatever the analysis can do. The notes go to the file $NOTED_UNITS.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, NamedTuple

# The shell finds Python: what follows #! may be neither long nor have blanks in it.
LAUNCHER = f"""#!/bin/sh
'''exec' "{sys.executable}" "$0" "$@"
' '''
import sys
sys.path[:0] = {[p for p in sys.path if p]!r}
import wrapper_launcher
wrapper_launcher.install()
from incc.driver.incc import main
sys.exit(main())
"""

REPORT = "the report\n"


def install() -> None:
    """Put the noting analysis in the place of the real one."""
    import types

    from incc.driver import pipeline
    from incc.driver.pipeline import AnalysisError, Settings
    from incc.frontends.unit import Unit

    def analyze_units(units: list[Unit], settings: Settings) -> dict[str, Any]:
        if os.environ.get("FAIL_ANALYSIS"):
            raise AnalysisError("no model for\nthis")
        if os.environ.get("CRASH_ANALYSIS"):
            raise ZeroDivisionError("oh")
        noted = {"units": [u._asdict() for u in units], "settings": settings._asdict()}
        if path := os.environ.get("NOTED_UNITS"):
            Path(path).write_text(json.dumps(noted))
        return noted

    def write_marked(unit: Unit, settings: Settings, path: str, dialect: str) -> None:
        Path(path).write_text(f"{dialect} {unit.source}\n")

    pipeline.analyze_units = analyze_units  # type: ignore[assignment]
    pipeline.write_marked = write_marked
    pipeline.untried = lambda report, settings: []
    text = types.ModuleType("incc.driver.views.text")
    text.terminal = lambda stream: (80, False)  # type: ignore[attr-defined]
    text.render = lambda report, width, colour, views, places, uops: REPORT  # type: ignore[attr-defined]
    text.VIEWS = ()  # type: ignore[attr-defined]
    sys.modules["incc.driver.views.text"] = text


def make_incc(folder: Path, name: str = "incc") -> Path:
    """Write the launcher into a folder."""
    path = folder / name
    path.write_text(LAUNCHER)
    path.chmod(0o755)
    return path


class Result(NamedTuple):
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
        env=kept | environment,
        timeout=120,
    )
    return Result(done.returncode, done.stdout, done.stderr)


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its content."""
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
