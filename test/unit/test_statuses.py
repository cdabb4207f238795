"""Exit statuses have the same meaning in all commands (docs/options.md)."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

LOOP = ".L3:\n\tvmovsd (%rdi,%rax,8), %xmm1\n\taddq $1, %rax\n\tcmpq %rax, %rdx\n\tjne .L3\n"

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
NOTHING_TO_COMPARE = ("incc-diff nosuch.json one.json", "incc-report nosuch", "incc-db --db nosuch.db list")
NO_OUTPUT = (
    "incc-mca -mcpu=skylake -o no/where a.s",
    "incc-mca -mcpu=skylake --html=no/where a.s",
    "incc-scan -mcpu=skylake -o no/where a.s",
    "incc-diff -o no/where one.json one.json",
    "incc-diff --html no/where one.json one.json",
    "incc-report -o no/where one.json",
    "incc-db --db ok.db export -o no/where",
    "incc-model show skylake add -o no/where",
)
CASES = [
    *((command, 2) for command in (*UNKNOWN_CORE, *NOTHING_TO_COMPARE, *NO_OUTPUT)),
    *((command, 1) for command in MISSING_INPUT),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("statuses")
    for name in ("a.s", "b.s"):
        (place / name).write_text(LOOP)
    os.mkfifo(place / "fifo")
    for command in (
        "incc-mca -mcpu=skylake --auto --json -o one.json a.s",
        "incc-db --db ok.db add --commit c one.json",
    ):
        subprocess.run(command.split(), cwd=place, check=True)
    return place


@pytest.mark.parametrize(("command", "status"), CASES)
def test_a_status_means_the_same_in_all_commands(folder: Path, command: str, status: int) -> None:
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    assert (done.returncode, done.stderr != "", "Traceback" in done.stderr) == (status, True, False), done.stderr
