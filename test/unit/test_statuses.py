"""Exit statuses have the same meaning in all commands (docs/options.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

LOOP = ".L3:\n\tvmovsd (%rdi,%rax,8), %xmm1\n\taddq $1, %rax\n\tcmpq %rax, %rdx\n\tjne .L3\n"

MISTAKES = ("incc-scan -mcpu=skylake - -", "incc-diff --mcpu=skylake - -", "incc-report - -")
UNKNOWN_CORE = (
    "incc-mca -mcpu=nosuch a.s",
    "incc-scan -mcpu=nosuch a.s",
    "incc-diff --mcpu=nosuch a.s b.s",
    "incc-bench --simulated --mcpu=nosuch --all",
    "incc-build --mcpu=nosuch -- true",
    "incc-model show --mcpu=nosuch add",
    "incc-model check nosuch",
    "incc-mca -mcpu=skylake --model-path=nosuch a.s",
    "incc-mca -mcpu=skylake --model-path=fifo a.s",
    "incc-model check nosuch.toml",
)
MISSING_INPUT = (
    "incc-mca -mcpu=skylake nosuch.s",
    "incc-scan -mcpu=skylake nosuch.s",
    "incc-scan -mcpu=skylake nosuch.s a.s",
    "incc-bench --simulated --mcpu=skylake --loops nosuch.s",
    "incc-db --db x.db add --commit c nosuch.json",
    "incc-mca -mcpu=skylake --auto --function=nosuch a.s",
    "incc-scan -mcpu=skylake --function=nosuch a.s",
)
ONE_OF_SEVERAL = (
    "incc-scan -mcpu=skylake a.s nosuch.s b.s",
    "incc-scan -mcpu=skylake a.s empty.s b.s",
    "incc-diff nosuch.json one.json one.json",
    "incc-diff one.json empty one.json",
    "incc-diff --mcpu=skylake a.s mips.s b.s",
    "incc-diff one.json one.json fifo",
    "incc-diff one.json one.json reports",
    "incc-report one.json nosuch.json",
    "incc-report empty one.json",
    "incc-report one.json fifo",
    "incc-report one.json reports",
    "incc-report mixed",
    "incc-report --fail-if=cycles>9999 one.json nosuch.json",
    "incc-report --render one.json nosuch.json",
    "incc-db --db x.db add --commit c one.json nosuch.json",
)
"""Inputs of which one cannot be read, and costs itself alone."""
NOTHING_TO_COMPARE = (
    "incc-diff nosuch.json one.json",
    "incc-diff nosuch.json empty one.json",
    "incc-diff --baseline=nosuch.db one.json one.json",
    "incc-report nosuch",
    "incc-report empty nosuch.json",
    "incc-report --render empty nosuch.json",
    "incc-db --db nosuch.db list",
)
NO_OUTPUT = (
    "incc-mca -mcpu=skylake -o no/where a.s",
    "incc-mca -mcpu=skylake --html=no/where a.s",
    "incc-scan -mcpu=skylake -o no/where.txt a.s",
    "incc-diff -o no/where one.json one.json",
    "incc-diff --html no/where one.json one.json",
    "incc-report -o no/where one.json",
    "incc-db --db ok.db export -o no/where",
    "incc-model show skylake add -o no/where",
)
CASES = [
    *((command, 2) for command in (*MISTAKES, *UNKNOWN_CORE, *NOTHING_TO_COMPARE, *NO_OUTPUT)),
    *((command, 1) for command in (*MISSING_INPUT, *ONE_OF_SEVERAL)),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("statuses")
    for name in ("a.s", "b.s"):
        (place / name).write_text(LOOP)
    (place / "mips.s").write_text("f:\n\taddiu $sp, $sp, -8\n\tjr $ra\n")
    for name in ("empty", "empty.s"):
        (place / name).touch()
    for name in ("reports", "mixed"):
        (place / name).mkdir()
    os.mkfifo(place / "fifo")
    for command in (
        "incc-mca -mcpu=skylake --auto --json -o one.json a.s",
        "incc-db --db ok.db add --commit c one.json",
    ):
        subprocess.run(command.split(), cwd=place, check=True)
    (place / "mixed/good.json").write_bytes((place / "one.json").read_bytes())
    (place / "mixed/bad.json").write_text("{")
    return place


@pytest.mark.parametrize(("command", "status"), CASES)
def test_a_status_means_the_same_in_all_commands(folder: Path, command: str, status: int) -> None:
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr != "", "Traceback" in done.stderr) == (status, True, False), done.stderr


@pytest.mark.parametrize("command", ONE_OF_SEVERAL)
def test_one_input_costs_itself_alone_with_a_line(folder: Path, command: str) -> None:
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(command.split()[0])
    assert done.stdout or command.startswith("incc-db")
