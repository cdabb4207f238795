"""What a run on one kernel must not import: start-up time is a feature."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "argparse", "asyncio", "dataclasses", "difflib", "email", "importlib.metadata", "importlib.util", "inspect", "json",
    "llvmlite", "logging", "networkx", "pathlib", "pickle", "pyparsing", "rich", "shutil", "subprocess", "tempfile",
    "tomllib", "typing", "urllib", "iced_x86", "lief", "incc.models.compile", "incc.driver.help",
}  # fmt: skip

TRIAD = """\
.L4:
	vmovupd	(%rdx,%rax), %ymm1
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%r8, %rax
	jne	.L4
"""


def modules(arguments: list[str], folder: Path) -> set[str]:
    """What incc-mca imports that Python alone has not imported."""
    program = (
        "import sys; before = set(sys.modules)\n"
        "from incc.driver.mca import main\n"
        "status = main(sys.argv[1:])\n"
        "print('modules:', *sorted(set(sys.modules) - before))\n"
        "sys.exit(status)"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments], cwd=folder, capture_output=True, text=True, env=environment
    )
    assert run.returncode == 0, run.stderr
    assert "Block RThroughput" in run.stdout
    return set(run.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize("options", [["--auto"], ["--auto", "--all-views"]])
def test_one_kernel(tmp_path: Path, options: list[str]) -> None:
    (tmp_path / "triad.s").write_text(TRIAD)
    arguments = ["-mcpu=skylake-avx512", *options, "triad.s"]
    modules(arguments, tmp_path)  # may compile the model's tables
    found = modules(arguments, tmp_path)
    assert "incc.core._core" in found
    assert found & HEAVY == set()
