"""Commands whose temporary folder is full end with a message."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest
from test_statuses import LOOP

FULL = "mount -t tmpfs -o size=16k none full && { dd if=/dev/zero of=full/rest bs=1k 2>/dev/null; true; }"
PRIVATE = ["unshare", "--mount", "--map-root-user", "sh", "-c"]

COMMANDS = (
    "incc-mca -mcpu=skylake a.s",
    "incc-mca --compat -mcpu=skylake a.s",
    "incc-scan -mcpu=skylake -j1 a.s",
    "incc-scan -mcpu=skylake -j2 a.s b.s",
    "incc-scan -mcpu=skylake -j1 a.c",
    "incc-diff --mcpu=skylake a.s b.s",
    "incc-diff --run gcc --flags=-O1 --flags=-O2 -- a.c",
    "incc-model coverage --mcpu=skylake --input-format=asm a.s",
    "incc-bench --simulated --mcpu=skylake --loops a.s",
)
WITHOUT_TEMPORARY_FILES = (
    "incc-report one.json",
    "incc-db --db x.db add --commit c one.json",
    "incc-model show skylake add",
    "incc-build -o reports --no-report -- true",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("disk")
    (place / "full").mkdir()
    if subprocess.run([*PRIVATE, FULL], cwd=place, capture_output=True, check=False).returncode:
        pytest.skip("no private mounts")
    for name in ("a.s", "b.s"):
        (place / name).write_text(LOOP)
    (place / "a.c").write_text(
        "double f(double *a) { double s = 0; for (int i = 0; i < 99; i++) s += a[i]; return s; }\n"
    )
    subprocess.run(["incc-mca", "-mcpu=skylake", "--auto", "--json", "-o", "one.json", "a.s"], cwd=place, check=True)
    return place


def run(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    script = f"{FULL} && TMPDIR=$PWD/full exec {command}"
    return subprocess.run([*PRIVATE, script], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_full_temporary_folder_is_named(folder: Path, command: str) -> None:
    done = run(folder, command)
    assert done.returncode in (1, 2), done.stderr
    assert "Traceback" not in done.stderr
    assert "space left" in done.stderr


@pytest.mark.parametrize("command", WITHOUT_TEMPORARY_FILES)
def test_commands_without_temporary_files_do_not_need_space(folder: Path, command: str) -> None:
    done = run(folder, command)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("mode", ["lean", "full"])
def test_a_compilation_with_a_full_temporary_folder_ends_as_the_compiler_does(folder: Path, mode: str) -> None:
    names = {}
    for compiler in ("gcc", f"INCC_MODE={mode} INCC_ANALYZE=1 INCC_CC=gcc incc"):
        done = run(folder, f"env {compiler} -O2 -pipe -c a.c -o {shlex.quote(mode)}{len(names)}.o")
        names[compiler] = done.returncode
        assert "Traceback" not in done.stderr
    assert len({*names.values()}) == 1
    objects = [folder / f"{mode}{number}.o" for number in range(2)]
    assert [each.exists() for each in objects] in ([True, True], [False, False])
    if objects[0].exists():
        assert objects[0].read_bytes() == objects[1].read_bytes()
