"""What a run on one kernel must not import: start-up time is a feature."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {
    "argparse", "asyncio", "collections", "contextlib", "dataclasses", "decimal", "difflib", "email", "enum",
    "functools", "importlib.metadata", "importlib.util", "inspect", "json", "llvmlite", "logging", "networkx",
    "pathlib", "pickle", "pyparsing", "re", "rich", "shutil", "site", "subprocess", "tempfile", "tomllib", "types",
    "typing", "urllib", "warnings", "iced_x86", "lief", "incc.models.files.compile", "incc.driver.help",
}  # fmt: skip

TRIAD = """\
# LLVM-MCA-BEGIN
.L4:
	vmovupd	(%rdx,%rax), %ymm1
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%r8, %rax
	jne	.L4
# LLVM-MCA-END
"""

PROGRAM = """
import os, sys
def end(status, end=os._exit):
    print("modules:", *sorted(sys.modules))
    sys.stdout.flush()
    end(status)
os._exit = end
from incc.driver.start import start
start("mca")
"""


def modules(arguments: list[str], folder: Path) -> set[str]:
    """What has been imported when incc-mca ends that was started as its program starts it (front/start.cpp)."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    run = subprocess.run(
        [sys.executable, "-S", "-P", "-c", PROGRAM, *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert run.returncode == 0, run.stderr
    assert "Block RThroughput" in run.stdout
    return set(run.stdout.rpartition("modules:")[2].split())


@pytest.mark.parametrize(
    ("options", "most"),
    [(["--compat"], 130), ([], 153), (["--auto"], 154), (["--auto", "--all-views"], 174)],
    ids=["llvm-mca", "incc-mca", "loops", "views"],
)
def test_one_kernel(tmp_path: Path, options: list[str], most: int) -> None:
    (tmp_path / "triad.s").write_text(TRIAD)
    arguments = ["-mcpu=skylake-avx512", *options, "triad.s"]
    modules(arguments, tmp_path)  # compiles what is kept: tables, expressions
    found = modules(arguments, tmp_path)
    assert "incc.core._core" in found
    assert found & HEAVY == set()
    assert len(found) <= most, "each module takes 0.1 to 0.3 ms"
