"""The pages of the tutorial: their commands print what the pages show."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs" / "tutorial").glob("*.md"))
COMPILER = "12.2.0"
"""The version of gcc that the pages were written with. Others make other code."""
NOT_RUN = ("it installs incc", "measured on ")
"""The reasons for which the commands of a block are not run."""


class Command(NamedTuple):
    """A command of a page."""

    text: str
    reason: str
    """The reason not to run it, or ""."""
    shown: list[str]
    """The lines that the page shows below it; `…` is what it leaves out."""


def commands(page: str) -> list[Command]:
    """Return the commands of a page's indented blocks, with the lines that continue them."""
    found: list[Command] = []
    reason = ""
    more = within = False
    for line in page.splitlines():
        if line and not line.startswith("    "):
            comment = re.fullmatch(r"<!-- not run: (.*) -->", line)
            reason, within = comment[1] if comment else "", False
        elif more:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[4:]}")
        elif line.startswith("    $ "):
            found.append(Command(line[6:], reason, []))
            within = True
        elif within:
            found[-1].shown.append(line[4:])
        if within:
            text = found[-1].text
            more = text.endswith("\\") or ("<<'END'" in text and not text.endswith("\nEND"))
    for command in found:
        while command.shown and not command.shown[-1]:
            command.shown.pop()
    return found


def run(commands: list[Command], folder: Path) -> list[str]:
    """Return what each command prints, all in one shell that begins in `folder`."""
    script = "".join(f"{command.text}\nprintf '\\036'\n" for command in commands)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env=os.environ | {"COLUMNS": "80"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return done.stdout.split("\036")[:-1]


def pattern(shown: list[str]) -> str:
    """Return the regular expression of an output: a line `…` is any lines, and `…` in a line any characters."""
    lines = [r"(?:.*\n)*" if line == "…" else f"{re.escape(line).replace('…', '.+')}\n" for line in shown]
    return "".join(lines)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_print_what_pages_show(page: Path, tmp_path: Path) -> None:
    text = page.read_text(encoding="utf-8")
    of_page = [command for command in commands(text) if not command.reason]
    assert len(of_page) > 3
    for compiler in ("cc", "gcc"):
        version = (
            shutil.which(compiler)
            and subprocess.run([compiler, "-dumpfullversion"], capture_output=True, text=True).stdout.strip()
        )
        if version != COMPILER:
            pytest.skip(f"{compiler} is not gcc {COMPILER}")
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command, printed in zip(of_page, run(of_page, tmp_path), strict=True):
        assert re.fullmatch(pattern(command.shown), printed), f"$ {command.text}\n{printed}"


def test_commands_that_are_not_run_have_a_reason() -> None:
    reasons = {command.reason for page in PAGES for command in commands(page.read_text(encoding="utf-8"))} - {""}
    assert reasons
    assert all(reason.startswith(NOT_RUN) for reason in reasons)


def test_an_output_has_the_lines_that_are_shown() -> None:
    shown = ["a", "…", "b…d"]
    assert re.fullmatch(pattern(shown), "a\nx\ny\nbcd\n")
    assert re.fullmatch(pattern(shown), "a\nbcd\n")
    assert not re.fullmatch(pattern(shown), "a\nb\n")
    assert not re.fullmatch(pattern(shown), "a\nbcd\nx\n")
