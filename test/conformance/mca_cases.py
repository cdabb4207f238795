"""The corpus: command lines of llvm-mca and what they are run on, and how a tool is run on one.

Each file in a folder of `inputs` says in its first lines with which options it is to be analysed, a case a line:

    # CASE: -mcpu=btver2 -timeline %s
    # CASE: -mcpu=znver3 < %s
    # CASE host: %s

`%s` is the file, `<` gives it as standard input; a comment may begin with `#`, `//` or `;`. A case is called by folder
and file, and behind a dot its number if it is not the first: `regions/nested`, `regions/nested.2`. Cases marked `host`
depend on the processor at hand (no -mcpu, or `native`), so nothing can be recorded of them. What cannot carry such
lines, files that are empty or missing or whose bytes matter, stands in `cases.toml`: name, args, `text` (without it no
file is made), and `files` beside it (`@file`).

Every case runs in an empty folder of its own with its file in it, so that messages have nothing but the file's name,
and what is in the folder afterwards is the case's output as well (`-o`).
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
import tomllib
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec

from mca_masks import Facts, masked

HERE = Path(__file__).resolve().parent
AS_LLVM_MCA = ["--compat", "--trust-includes"]
"""The options with which incc-mca is run in llvm-mca's place; it would not read included files otherwise."""
_LINE = re.compile(r"\s*(?:#|//|;)\s*CASE( host)?: (.*)")
_ENVIRONMENT = ("COLUMNS", "LINES", "NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE")


class Case(msgspec.Struct, frozen=True, kw_only=True, order=True):
    """One run: `args` without the program, `stdin` (None: empty), and the `files` in the folder in which it runs."""

    name: str
    args: list[str]
    stdin: bytes | None
    files: dict[str, bytes]
    host: bool = False

    @property
    def group(self) -> str:
        """The folder of the corpus that it is in."""
        return self.name.partition("/")[0]


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool did with a case: exit status, both streams, and the files that it wrote."""

    status: int
    stdout: str
    stderr: str
    files: list[tuple[str, str]]
    folder: str = ""

    def facts(self) -> Facts:
        """Without results."""
        return masked(self.status, self.stdout, self.stderr, self.files, self.folder)


def _case(name: str, line: str, file: str, files: dict[str, bytes], host: bool) -> Case:
    """The case of a line; raises ValueError for one that cannot be run."""
    words = shlex.split(line.replace("%s", file))
    stdin = None
    if "<" in words:
        at = words.index("<")
        if words[at + 1 :] != [file]:
            raise ValueError(f"{name}: '<' stands before %s at the end: {line}")
        words, stdin = words[:at], files[file]
    return Case(name=name, args=words, stdin=stdin, files=files, host=host)


def lines_of(path: Path) -> list[tuple[bool, str]]:
    """Return the lines `CASE:` of a file, each with True if it is marked `host`."""
    lines = path.read_bytes().decode("utf-8", "replace").splitlines()
    return [(match[1] is not None, match[2]) for match in map(_LINE.match, lines) if match]


def corpus(folder: Path = HERE) -> list[Case]:
    """All cases, by name."""
    found = []
    for path in sorted((folder / "inputs").glob("*/*")):
        text = path.read_bytes()
        stem = f"{path.parent.name}/{path.stem}"
        for n, (host, line) in enumerate(lines_of(path), 1):
            name = stem if n == 1 else f"{stem}.{n}"
            found.append(_case(name, line, path.name, {path.name: text}, host))
    with open(folder / "cases.toml", "rb") as f:
        for each in tomllib.load(f)["case"]:
            name = each["name"]
            file = f"{name.partition('/')[2]}.s"
            files = {key: value.encode() for key, value in each.get("files", {}).items()}
            if "text" in each:
                files[file] = each["text"].encode("utf-8", "surrogateescape")
            if "hex" in each:
                files[file] = bytes.fromhex(each["hex"])
            found.append(_case(name, each["args"], file, files, each.get("host", False)))
    return sorted(found)


def _environment() -> dict[str, str]:
    return {**{k: v for k, v in os.environ.items() if k not in _ENVIRONMENT}, "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def _folder(case: Case) -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="mca-") as folder:
        for name, data in case.files.items():
            Path(folder, name).write_bytes(data)
        yield folder


def _written(case: Case, folder: str) -> list[tuple[str, str]]:
    return [
        (path.name, path.read_bytes().decode("utf-8", "replace"))
        for path in sorted(Path(folder).iterdir())
        if path.name not in case.files or path.read_bytes() != case.files[path.name]
    ]


def run_command(command: list[str], case: Case, seconds: float = 60) -> Output:
    """Run a program on a case. A run that takes longer than `seconds` ends with status -1 and says so."""
    with _folder(case) as folder:
        try:
            run = subprocess.run(
                # llvm-mca calls itself as it was called, in messages and in --help.
                [*command, *case.args],
                input=case.stdin or b"",
                capture_output=True,
                cwd=folder,
                env=_environment(),
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            return Output(status=-1, stdout="", stderr=f"no end within {seconds:.0f} s", files=[], folder=folder)
        out, err = (stream.decode("utf-8", "replace") for stream in (run.stdout, run.stderr))
        return Output(status=run.returncode, stdout=out, stderr=err, files=_written(case, folder), folder=folder)


def run_function(main: Callable[[list[str]], int], before: list[str], case: Case) -> Output:
    """Run `main` of a command in this process, with the options `before` in front of the case's."""
    here = os.getcwd()
    streams = sys.stdin, sys.stdout, sys.stderr
    kept = {name: os.environ.pop(name) for name in _ENVIRONMENT if name in os.environ}
    written = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(each, "utf-8", "surrogateescape", write_through=True) for each in written)
    with _folder(case) as folder:
        os.chdir(folder)
        sys.stdin = io.TextIOWrapper(io.BytesIO(case.stdin or b""), "utf-8", "surrogateescape")
        sys.stdout, sys.stderr = out, err
        try:
            status = main([*before, *case.args])
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else int(end.code is not None)
        except Exception:
            # What the interpreter does with it at the end of a process.
            err.write(traceback.format_exc())
            status = 1
        finally:
            sys.stdin, sys.stdout, sys.stderr = streams
            os.chdir(here)
            os.environ.update(kept)
        text, messages = (each.getvalue().decode("utf-8", "replace") for each in written)
        return Output(status=status, stdout=text, stderr=messages, files=_written(case, folder), folder=folder)
