"""The commands of README, the tutorial, the how-tos and the explanations print what these pages show."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from test.unit.document_commands import Command, commands, pattern, run

ROOT = Path(__file__).parents[2]
COLUMNS = {
    ROOT / "README.md": 100,
    **dict.fromkeys(sorted((ROOT / "docs" / "tutorial").glob("*.md")), 80),
    **dict.fromkeys(sorted((ROOT / "docs" / "how-to").glob("*.md")), 100),
    **dict.fromkeys(sorted((ROOT / "docs" / "explanation").glob("*.md")), 100),
}
"""The pages, with the width of the terminal that they show."""
PAGES = list(COLUMNS)
COMPILERS = {"gcc": "12.2", "cc": "12.2", "clang-19": "19.1", "aarch64-linux-gnu-gcc": "12.2"}
"""The versions of the compilers that the pages were written with. Others make other code."""
PROGRAMS = ("git", "make", "gcov")


def of_page(page: Path) -> list[Command]:
    return commands(page.read_text(encoding="utf-8"))


def missing(text: str) -> str:
    """Return the first program in some commands that is not here, or not in the version of the pages; "" if none is."""
    for program in (*COMPILERS, *PROGRAMS):
        if re.search(rf"(?<![\w-]){program}(?![\w-])", text):
            if not shutil.which(program):
                return program
            if wanted := COMPILERS.get(program):
                version = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
                if f" {wanted}." not in version:
                    return f"{program} {wanted}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_pages_show(page: Path, tmp_path: Path) -> None:
    to_run = [command for command in of_page(page) if not command.reason]
    if lacking := missing("\n".join(command.text for command in to_run)):
        pytest.skip(f"no {lacking}")
    if page.parent in (ROOT, ROOT / "docs" / "tutorial"):
        shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, printed in zip(to_run, run(to_run, tmp_path, COLUMNS[page]), strict=True):
        assert re.fullmatch(pattern(command.shown), printed), f"$ {command.text}\n{printed}"


def test_pages_have_commands() -> None:
    assert len(PAGES) >= 14
    assert sum(not command.reason for page in PAGES for command in of_page(page)) > 60


def test_commands_that_are_not_run_have_a_reason() -> None:
    reasons = {command.reason for page in PAGES for command in of_page(page)} - {""}
    assert reasons
    assert all(reason.startswith(("it installs incc", "measured on ")) for reason in reasons)


def test_commands_of_a_page_are_found(tmp_path: Path) -> None:
    page = '```c title="a/b.c"\nint x;\n```\n\n```console\n$ cat \\\n    a/b.c\n…\n$ echo a b c\na…c\n```\n'
    page += "<!-- not run: measured on a Zen 5 -->\n\n```console\n$ ls\n```\n"
    found = commands(page)
    assert [(command.reason, command.shown) for command in found] == [
        ("", ""), ("", "…\n"), ("", "a…c\n"), ("measured on a Zen 5", ""),
    ]  # fmt: skip
    printed = run(found[:3], tmp_path, 80)
    assert printed == ["", "int x;\n", "a b c\n"]
    assert all(re.fullmatch(pattern(command.shown), text) for command, text in zip(found, printed, strict=False))
    assert not re.fullmatch(pattern("a\n…\nb\n"), "a\nc\n")


def test_the_status_of_a_command_reaches_the_next(tmp_path: Path) -> None:
    assert run(commands("```console\n$ false\n$ echo $?\n```\n"), tmp_path, 80) == ["", "1\n"]
