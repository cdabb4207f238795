"""Outputs are written completely or not at all, and only regular files of a project are read as its settings."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from incc.driver.builds.project import _folders, project_of
from incc.support.files import replacement, write_file

LOOP = ".L{n}:\n\tvmovsd (%rdi,%rax,8), %xmm1\n\taddq ${n}, %rax\n\tcmpq %rax, %rdx\n\tjne .L{n}\n"

OUTPUTS = (
    "incc-mca -mcpu=skylake --hex --all-views -o out code.hex",
    "incc-mca -mcpu=skylake --hex --json -o out code.hex",
    "incc-mca -mcpu=skylake --hex --html=out code.hex",
    "incc-scan -mcpu=skylake --format=cycles -j2 -o out a.hex",
    "incc-diff --all -o out one.json one.json",
    "incc-diff --html=out one.json one.json",
    "incc-report --json -o out one.json",
    "incc-report --html=out one.json",
    "incc-db --db x.db export -o out",
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("outputs")
    (place / "a.s").write_text("".join(LOOP.format(n=n) for n in range(1, 30)))
    (place / "a.hex").write_text("4801d8\n" * 600)
    (place / "code.hex").write_text("4801d8" * 50)
    for command in (
        "incc-mca -mcpu=skylake --auto --json -o one.json a.s",
        "incc-db --db x.db add --commit c one.json",
    ):
        subprocess.run(command.split(), cwd=place, check=True, capture_output=True)
    return place


def limited(bytes_: int) -> Callable[[], None]:
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))


@pytest.mark.parametrize("command", OUTPUTS)
def test_an_output_without_space_stays_as_it_was(folder: Path, command: str) -> None:
    (folder / "out").write_text("old\n")
    before = [name for name in sorted(os.listdir(folder)) if not name.startswith("x.db-")]
    done = subprocess.run(command.split(), cwd=folder, capture_output=True, text=True, preexec_fn=limited(2048))
    assert (done.returncode, "File too large" in done.stderr, "Traceback" in done.stderr) == (2, True, False), (
        done.stderr
    )
    assert (folder / "out").read_text() == "old\n"
    assert [name for name in sorted(os.listdir(folder)) if not name.startswith("x.db-")] == before


def test_a_database_without_space_stays_as_it_was(folder: Path) -> None:
    def shown() -> str:
        command = ["incc-db", "--db", "x.db", "export"]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout

    before = shown()
    command = ["incc-db", "--db", "x.db", "add", "--commit", "d", "one.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, preexec_fn=limited(1000))
    assert (done.returncode, "Traceback" in done.stderr) == (2, False), done.stderr
    assert shown() == before


def test_appended_texts_disappear_after_an_error(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("old\n")
    program = (
        "from incc.support.files import write_file\n"
        "try: write_file('log', 'x' * 5000, append=True)\n"
        "except OSError as error: print(error.strerror)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limited(2048),
    )
    assert (done.stdout, done.stderr) == ("File too large\n", "")
    assert (tmp_path / "log").read_text() == "old\n"


def test_a_replaced_file_keeps_its_mode_and_links_to_it(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_text("old")
    file.chmod(0o640)
    link.symlink_to("file")
    write_file(str(link), "new")
    assert (file.read_text(), file.stat().st_mode & 0o777, link.is_symlink()) == ("new", 0o640, True)
    with pytest.raises(ZeroDivisionError), replacement(str(file)) as opened:
        raise ZeroDivisionError(opened.write(b"newer"))
    assert (file.read_text(), sorted(os.listdir(tmp_path))) == ("new", ["file", "link"])
    name = "x" * 255
    write_file(str(tmp_path / name), "long")
    assert (tmp_path / name).read_text() == "long"


@pytest.mark.parametrize(
    ("kind", "message"), [("pipe", "not a regular file"), ("folder", "Is a directory"), ("huge", "more than 1 MiB")]
)
def test_a_project_file_that_is_none_is_ignored(tmp_path: Path, kind: str, message: str) -> None:
    path = tmp_path / "incc.toml"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("w") as file:
            file.truncate(1 << 32)
    project = project_of(str(tmp_path / "a.c"))
    assert project.problems == (f"{path}: {message}",)
    assert project.wants(str(tmp_path / "a.c"))


def test_a_project_ends_at_its_root(tmp_path: Path) -> None:
    inner = tmp_path / "project" / "src"
    inner.mkdir(parents=True)
    (tmp_path / "incc.toml").write_text('[analyze]\nexclude = "project"\n')
    assert not project_of(str(inner / "a.c")).wants(str(inner / "a.c"))
    _folders.cache_clear()
    (tmp_path / "project" / ".git").write_text("gitdir: elsewhere\n")
    assert project_of(str(inner / "a.c")).wants(str(inner / "a.c"))
    _folders.cache_clear()
    (tmp_path / "project" / ".git").unlink()
    tmp_path.chmod(0o777)
    assert project_of(str(inner / "a.c")).wants(str(inner / "a.c"))
    _folders.cache_clear()
