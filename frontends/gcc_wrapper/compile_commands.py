"""Compilation databases (`compile_commands.json`, which CMake, meson, ninja and bear write): commands of a build.

https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

from __future__ import annotations

import json
import os
import re
import shlex
from typing import Any

import msgspec

from incc.frontends.gcc_wrapper.compile import without_launchers

NAME = "compile_commands.json"

# `ninja -t compdb` writes every command of a build, also those that remove and generate files. Only what is surely a
# compiler is asked what it would do: gcc, clang and those made of them, under their names for targets and versions.
_COMPILER = re.compile(
    r"(?:.*-)?(?:gcc|g\+\+|cc|c\+\+|c[89]9|clang|clang\+\+|gfortran|flang|flang-new|icx|icpx|ifx|incc)(?:-[\d.]+)?"
)
_SOURCES = frozenset(
    [
        "c",
        "i",
        "ii",
        "cc",
        "cp",
        "cxx",
        "cpp",
        "c++",
        "m",
        "mi",
        "mm",
        "mii",
        "s",
        "sx",
        "f",
        "for",
        "ftn",
        "fpp",
        "f90",
        "f95",
        "f03",
        "f08",
        "f77",
        "cppm",
        "ixx",
    ]
)
_OPERATORS = frozenset(("&&", "||", ";", "|", "&", ">", ">>", "<"))


class Command(msgspec.Struct, frozen=True, kw_only=True):
    """A compiler's command: its words without launchers such as ccache, the folder that it runs in, and the source as
    the database names it; `problem` says why there is no command, "" if there is one."""

    file: str
    folder: str
    words: tuple[str, ...]
    problem: str = ""

    @property
    def compiles(self) -> bool:
        """Whether it is a compiler's command for a source, and so may be asked."""
        if self.problem:
            return True  # nobody knows
        return bool(
            _COMPILER.fullmatch(os.path.basename(self.words[0]).removesuffix(".exe"))
            and os.path.splitext(self.file)[1][1:].lower() in _SOURCES
            and _OPERATORS.isdisjoint(self.words)
        )

    @property
    def path(self) -> str:
        """The source's own path, without links."""
        return os.path.realpath(os.path.join(self.folder, self.file))


def read_commands(path: str) -> list[Command]:
    """The commands of a database, each once, in its order. Raises OSError, and ValueError for what is none."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        entries = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"no compilation database: {error}") from None
    if not isinstance(entries, list):
        raise ValueError("no compilation database: it is to be a list of commands")
    folder = os.path.dirname(os.path.abspath(path))
    return list(dict.fromkeys(_command(number, entry, folder) for number, entry in enumerate(entries, start=1)))


def _command(number: int, entry: Any, folder: str) -> Command:
    fields = entry if isinstance(entry, dict) else {}
    file, directory = fields.get("file"), fields.get("directory", "")
    if not isinstance(file, str) or not file or not isinstance(directory, str):
        return Command(file=f"entry {number}", folder=folder, words=(), problem="not a command: it has no file")
    # A relative folder is taken to count from the database, which others have moved along with the build.
    folder = os.path.join(folder, directory)
    words = fields.get("arguments")
    if not words:
        try:
            words = shlex.split(fields.get("command") or "")
        except (ValueError, AttributeError, TypeError) as error:
            return Command(file=file, folder=folder, words=(), problem=f"its command cannot be read: {error}")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return Command(file=file, folder=folder, words=(), problem="it has no command")
    if any("\0" in word for word in (file, folder, *words)):
        return Command(
            file=file, folder=folder, words=(), problem="its command cannot be read: there are NUL characters in it"
        )
    try:
        # JSON can say halves of characters that no name has.
        for word in (file, folder, *words):
            os.fsencode(word)
    except UnicodeEncodeError:
        return Command(
            file=os.fsdecode(file.encode("utf-8", "replace")),
            folder="",
            words=(),
            problem="its command cannot be read: no UTF-8",
        )
    return Command(file=file, folder=folder, words=tuple(without_launchers(words)))
