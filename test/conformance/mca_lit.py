"""Tests in the form of LLVM's own: the runs of llvm-mca that their RUN lines ask for.

A test says in comments what lit is to run:

    # RUN: llvm-mca -mtriple=x86_64-unknown-unknown -mcpu=btver2 < %s | FileCheck %s
    # RUN: not llvm-mca -march=arm64 %s -o %t 2>&1 \\
    # RUN:   | FileCheck %s

`cases` makes a Case of each llvm-mca in them: what is piped into it, is its input (cat, echo, printf, sed are run),
what its output is piped into, is left. What cannot be run like that is said, not left out: `Unusable`.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec

from mca_cases import Case

SUFFIXES = (".s", ".test", ".ll", ".txt", ".asm", ".S")
_RUN = re.compile(r"RUN:(.*)")
_FILTERS = ("cat", "echo", "printf", "sed", "head", "tail", "tr")
_PUNCTUATION = ("|", "||", "&&", ";", "|&", "&", "<", ">", ">>", ">&", "&>", "<<")


class Unusable(msgspec.Struct, frozen=True):
    """A run of llvm-mca that cannot be repeated here, and why."""

    name: str
    reason: str


def run_lines(text: str) -> list[str]:
    """Return the commands of a test, lines that end in a backslash joined with the next."""
    commands = "".join(f"{match[1].strip()}\n" for match in map(_RUN.search, text.splitlines()) if match)
    return [command.strip() for command in re.sub(r"\s*\\\n", " ", commands).splitlines()]


def _words(command: str) -> list[str]:
    lexer = shlex.shlex(command, posix=True, punctuation_chars="|&;<>")
    lexer.whitespace_split = True
    lexer.commenters = ""
    return list(lexer)


def _substitutions(path: Path) -> list[tuple[str, str]]:
    """lit's, longer names first; temporary files are in the folder in which a tool runs."""
    return [
        ("%basename_t", path.name),
        ("%{pathsep}", os.pathsep),
        ("%/s", str(path)),
        ("%/S", str(path.parent)),
        ("%/p", str(path.parent)),
        ("%/t", "temporary"),
        ("%{s}", str(path)),
        ("%s", str(path)),
        ("%S", str(path.parent)),
        ("%p", str(path.parent)),
        ("%t", "temporary"),
        ("%T", "."),
        ("%python", "python3"),
        ("%%", "%"),
    ]


def _substituted(text: str, path: Path) -> str:
    for name, value in _substitutions(path):
        text = text.replace(name, value)
    return text


class _Command(msgspec.Struct, frozen=True):
    """One command of a pipeline."""

    words: list[str]
    stdin: str  # the file of `<`, "" for none


def _pipelines(words: list[str]) -> Iterator[list[_Command]]:
    """The commands between `|`, in lists between `&&` and `;`. Raises ValueError for what is not understood."""
    pipeline: list[_Command] = []
    current: list[str] = []
    stdin = ""
    rest = iter(words)
    for word in rest:
        if word in ("|", "|&"):
            pipeline.append(_Command(current, stdin))
            current, stdin = [], ""
        elif word in ("&&", "||", ";"):
            pipeline.append(_Command(current, stdin))
            yield pipeline
            pipeline, current, stdin = [], [], ""
        elif word == "<":
            stdin = next(rest, "")
        elif word in (">", ">>", ">&", "&>"):
            # Both streams are compared anyway, wherever they go. A digit in front is the stream.
            if current and current[-1] in ("1", "2"):
                current.pop()
            next(rest, "")
        elif all(character in "|&;<>" for character in word):
            raise ValueError(f"what {word} does")
        else:
            current.append(word)
    pipeline.append(_Command(current, stdin))
    yield pipeline


def _given(commands: list[_Command], folder: Path) -> bytes:
    """What filters in front of llvm-mca give it. Raises ValueError if that is more than text."""
    given = b""
    for n, command in enumerate(commands):
        if not command.words or Path(command.words[0]).name not in _FILTERS:
            raise ValueError(f"what {' '.join(command.words[:1])} gives")
        if n == 0 and command.stdin:
            given = Path(command.stdin).read_bytes()
        run = subprocess.run(command.words, input=given, capture_output=True, cwd=folder, timeout=10)
        given = run.stdout
    return given


def _case(name: str, pipeline: list[_Command], at: int, path: Path) -> Case:
    words = list(pipeline[at].words)
    while words[0] in ("not", "--crash", "env") or re.fullmatch(r"\w+=.*", words[0]):
        del words[0]
    if Path(words[0]).name != "llvm-mca":
        raise ValueError(f"what {words[0]} is")
    stdin: bytes | None = None
    if pipeline[at].stdin:
        stdin = Path(pipeline[at].stdin).read_bytes()
    elif at:
        stdin = _given(pipeline[:at], path.parent)
    left = [word for word in words[1:] if re.search(r"%[a-zA-Z{(]", word)]
    if left:
        raise ValueError(f"what {left[0]} is")
    return Case(name=name, args=words[1:], stdin=stdin, files={})


def cases(root: Path) -> Iterator[Case | Unusable]:
    """The runs of the tests in a folder, or of one test, in the order of their paths."""
    files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.suffix in SUFFIXES and p.is_file())
    for path in files:
        if "Inputs" in path.relative_to(root.parent).parts:
            continue
        relative = path.name if root.is_file() else str(path.relative_to(root))
        number = 0
        for line in run_lines(path.read_bytes().decode("utf-8", "replace")):
            if "llvm-mca" not in line:
                continue
            number += 1
            name = relative if number == 1 else f"{relative}.{number}"
            try:
                found = False
                for pipeline in _pipelines([_substituted(word, path.resolve()) for word in _words(line)]):
                    for at, command in enumerate(pipeline):
                        if any(Path(word).name == "llvm-mca" for word in command.words[:4]):
                            yield _case(name, pipeline, at, path)
                            found = True
                if not found:
                    yield Unusable(name, "no command llvm-mca")
            except (ValueError, OSError, subprocess.SubprocessError) as error:
                yield Unusable(name, f"not understood: {error}")
