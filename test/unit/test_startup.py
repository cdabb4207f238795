"""Heavy libraries that a run on one kernel does not import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    *("argparse", "asyncio", "jinja2", "lief", "llvmlite", "multiprocessing", "networkx", "rich", "scipy", "sqlite3"),
    # Only needed where no compiled table of the model is kept, and for help.
    *("incc.driver.cli.help", "incc.models.files.compile"),
}

PROGRAM = """
import sys
from incc.driver.commands.mca import main
status = main()
print("modules:", *sorted(sys.modules))
sys.exit(status)
"""


@pytest.mark.parametrize("options", [["--compat"], [], ["--auto"], ["--auto", "--all-views"]], ids=" ".join)
def test_one_kernel_imports_nothing_heavy(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "loop.s").write_text(".L4:\n\tvmovupd\t(%rdx,%rax), %ymm1\n\taddq\t$32, %rax\n\tjne\t.L4\n")
    command = [sys.executable, "-c", PROGRAM, "-mcpu=skylake-avx512", *options, "loop.s"]
    for _ in range(2):  # the first run may compile the model's table
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
    modules = set(run.stdout.rpartition("modules:")[2].split())
    assert "incc.core._core" in modules
    assert modules & HEAVY == set()
