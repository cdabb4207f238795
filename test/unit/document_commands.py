"""The commands that documents show in blocks for the console, and what they print.

A block ```` ```console ```` has commands after `$ `, which a backslash continues on the next line, each with its
output. A line `…` stands for any lines, and `…` in a line for any characters. A block of code with a title is a file,
which is written where the commands run. `<!-- not run: REASON -->` in front of a block keeps its commands from being
run.
"""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

FOLDER = "/home/you/project"
"""The folder in which documents show commands; they run elsewhere."""
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>.*) -->\n+)?"
    r"```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


class Command(NamedTuple):
    """A command of a document."""

    text: str
    reason: str
    """The reason not to run it, or ""."""
    shown: str
    """The output that the document shows."""


def commands(document: str) -> list[Command]:
    """Return the commands of a document in order, among them those that write its files."""
    found = []
    for block in BLOCK.finditer(document):
        if block["title"]:
            place = f"'{block['title']}'"
            text = f"mkdir -p $(dirname {place})\ncat > {place} <<'END OF FILE'\n{block['text']}END OF FILE"
            found.append(Command(text, "", ""))
        elif block["language"] == "console":
            for command in re.split(r"^\$ ", block["text"], flags=re.MULTILINE)[1:]:
                lines = re.match(r"(?:.*\\\n)*.*\n", command)
                assert lines, command
                shown = command[lines.end() :].rstrip("\n")
                found.append(Command(lines[0].rstrip("\n"), block["reason"] or "", shown and f"{shown}\n"))
    return found


def run(commands: list[Command], folder: Path, columns: int) -> list[str]:
    """Return what each command prints, all in one shell that begins in `folder`.

    Nothing of the user's environment changes what they print: the home folder is new, and git has a name and a date.
    """
    script = "".join(f"{command.text}\nstatus=$?; printf '\\036'; (exit $status)\n" for command in commands)
    home = folder.parent / f"{folder.name}-home"
    home.mkdir()
    git = {f"GIT_{who}_{what}": "you" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": "2026-01-01T12:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    kept = {
        name: value for name, value in os.environ.items() if name in ("PATH", "PYTHONPATH") or name.startswith("LD_")
    }
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=folder,
        env={"COLUMNS": str(columns), "LC_ALL": "C.UTF-8", "HOME": str(home), **git, **dates, **kept},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    return [text.replace(str(folder), FOLDER) for text in done.stdout.split("\036")[:-1]]


def pattern(shown: str) -> str:
    """Return the regular expression of an output."""
    lines = shown.splitlines()
    return "".join(r"(?:.*\n)*" if line == "…" else f"{re.escape(line).replace('…', '.+')} *\n" for line in lines)
