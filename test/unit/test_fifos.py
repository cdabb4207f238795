"""Named pipes in place of files: no option waits for their writer, and no input but those of incc-mca and incc-scan."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_statuses import LOOP

from incc.driver.cli.command import Command, command_lines, names
from incc.driver.cli.kinds import Option
from incc.driver.cli.usage import command_of

OPERANDS = {
    "incc-mca": ("-mcpu=skylake", "a.s"),
    "incc-scan": ("-mcpu=skylake", "-j1", "a.s"),
    "incc-diff": ("--mcpu=skylake,znver4", "a.s"),
    "incc-db add": ("--commit", "c", "one.json"),
    "incc-db merge": ("fifo",),
    "incc-db show": ("c",),
    "incc-db log": ("loop1",),
    "incc-db baseline set": ("main", "c"),
    "incc-db baseline get": ("main",),
    "incc-db baseline remove": ("main",),
    "incc-model show": ("--mcpu=own", "add"),
    "incc-model diff": ("skylake", "own"),
    "incc-model coverage": ("own", "a.s"),
    "incc-model make host": (),
    "incc-bench": ("--simulated", "--mcpu=own", "add"),
    "incc-report": ("one.json",),
    "incc-build": ("--", "true"),
}
"""Words without which a command does not come to its files."""

WRITTEN = frozenset(("o", "output", "reports", "--emit-marked", "html", "keep-assembly"))
"""Options whose file is written: a command waits for the reader of a pipe. Folders cannot be pipes."""


def takes_input(option: Option) -> bool:
    """Return True if an option's value, or an operand, is a file to read."""
    if option.kind in ("file", "output") or {option.name.lstrip("-"), option.name} & WRITTEN:
        return False
    return any(word in option.syntax for word in ("FILE", "FOLDER", "DB", "INPUT", "REPORT"))


def cases() -> Iterator[tuple[str, ...]]:
    for root in (
        "incc-mca",
        "incc-scan",
        "incc-diff",
        "incc-db",
        "incc-model",
        "incc-bench",
        "incc-report",
        "incc-build",
    ):
        for words, command in command_lines(command_of(root)):
            start = (root, *words)
            own = OPERANDS.get(" ".join(start), ())
            for option in options(command):
                if not takes_input(option):
                    continue
                if option.kind == "operand" and root == "incc-scan":
                    continue
                if option.kind == "operand":
                    yield (*start, *(word for word in own if word[:1] == "-" and word != "--"), "fifo")
                else:
                    first = names(option, command.name)[0]
                    yield (*start, *((f"{first}=fifo",) if first[:2] == "--" else (first, "fifo")), *own)


def options(command: Command) -> list[Option]:
    return [option for group in (*command.groups, *command.all_groups()) for option in group.options]


CASES = sorted({*cases()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("fifos")
    (place / "a.s").write_text(LOOP)
    os.mkfifo(place / "fifo")
    subprocess.run(["incc-mca", "-mcpu=skylake", "--auto", "--json", "-o", "one.json", "a.s"], cwd=place, check=True)
    return place


def test_the_options_are_found() -> None:
    assert ("incc-mca", "--model-path=fifo", "-mcpu=skylake", "a.s") in CASES
    assert ("incc-report", "--hot=fifo", "one.json") in CASES
    assert len(CASES) > 30


@pytest.mark.parametrize("words", CASES, ids=" ".join)
def test_no_option_waits_for_the_writer_of_a_pipe(folder: Path, words: tuple[str, ...]) -> None:
    done = subprocess.run(
        words, cwd=folder, capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=60, check=False
    )
    assert done.returncode in (0, 1, 2)
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("incc-report", "reports"),
        ("incc-report", "--render", "reports/fifo.json"),
        ("incc-diff", "reports", "one.json"),
        ("incc-db", "--db=x.db", "add", "--commit=c", "reports"),
        ("incc-db", "--db=x.db", "add", "--commit=c", "reports/fifo.json"),
    ],
    ids=" ".join,
)
def test_nor_does_a_folder_of_reports(folder: Path, words: tuple[str, ...]) -> None:
    """Nor does any command read an endless line, such as that of a file of 3 GiB that takes no space."""
    reports = folder / "reports"
    if not reports.exists():
        reports.mkdir()
        (reports / "a.json").write_bytes((folder / "one.json").read_bytes())
        os.mkfifo(reports / "fifo.json")
        with open(reports / "sparse.json", "wb") as file:
            file.truncate(3 << 30)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    refused = ("sparse.json: a line of more than 512 MiB", "sparse.json: not a report", "fifo.json: a named pipe")
    assert any(text in done.stderr + done.stdout for text in refused)
