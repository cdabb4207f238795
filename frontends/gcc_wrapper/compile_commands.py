"""Compilation databases (`compile_commands.json`): the commands of a build, written by CMake, meson, ninja and bear.

https://clang.llvm.org/docs/JSONCompilationDatabase.html
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Sequence
from typing import Any

import msgspec

from incc.frontends.gcc_wrapper.compile import without_launchers
from incc.frontends.gcc_wrapper.compiler import COMPILER_NAME
from incc.frontends.gcc_wrapper.response_files import expanded
from incc.frontends.isa import word_set
from incc.support.files import LARGEST_INPUT, read_regular

NAME = "compile_commands.json"

# `ninja -t compdb` writes every command of a build, also those that remove and generate files. Only programs that are
# surely compilers are run with -###.
_COMPILER = re.compile(rf"incc|{COMPILER_NAME.pattern}")
_SOURCES = word_set("c i ii cc cp cxx cpp c++ m mi mm mii s sx f for ftn fpp f90 f95 f03 f08 f77 cppm ixx")
_OPERATORS = frozenset(("&&", "||", ";", "|", "&", ">", ">>", "<"))


class CompilerCommand(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """A compiler's command."""

    file: str
    """The source as the database names it."""
    folder: str
    """The folder that the command runs in."""
    words: tuple[str, ...]
    """The words without launchers such as ccache."""
    problem: str = ""
    """The reason that there is no command, "" if there is one."""

    @property
    def compiles(self) -> bool:
        """Return True if it is a compiler's command for a source, or its words are unknown."""
        if self.problem:
            return True
        return bool(
            _COMPILER.fullmatch(os.path.basename(self.words[0]).removesuffix(".exe"))
            and os.path.splitext(self.file)[1][1:].lower() in _SOURCES
            and _OPERATORS.isdisjoint(self.words)
        )

    @property
    def path(self) -> str:
        """Return the source's real path."""
        return os.path.realpath(os.path.join(self.folder, self.file))


# Options that have gcc or clang run other programs, load code, or read more options from a file, alone or with a value.
_RUNNING = re.compile(
    r"-B.*|-wrapper|--?specs(?:=.*)?|-fplugin=.*|-iplugindir=.*|-fpass-plugin=.*|-load.*|-plugin.*|--config(?:=.*|-.*)?"
    r"|--gcc-toolchain=.*|--gcc-install-dir=.*|-gcc-toolchain|--ld-path=.*|-fintegrated-cc1-path=.*|-ccc-.*|@.*"
)


def distrusted(command: CompilerCommand) -> str:
    """Return the reason not to run a command that somebody else may have written, a clause; "" if there is none."""
    program = command.words[0]
    if os.path.dirname(program):
        path = os.path.realpath(os.path.join(command.folder, program))
        places = [place for place in os.environ.get("PATH", os.defpath).split(os.pathsep) if os.path.isabs(place)]
        if not any(os.path.realpath(os.path.join(place, os.path.basename(program))) == path for place in places):
            return f"its compiler {program} is not in PATH"
    words = expanded(command.words[1:], command.folder)
    option = next((word for word in words if _RUNNING.fullmatch(word)), "")
    return f"{option} may run other programs" if option else ""


def read_commands(path: str) -> list[CompilerCommand]:
    """Return the commands of a database, each once, in its order. Raises OSError, and ValueError for other files."""
    return [*_commands(path, _entries(path))]


def commands_for(path: str, source: str) -> list[CompilerCommand]:
    """Return the commands of a database for the source at an absolute path. Raises as `read_commands`."""
    name, real = os.path.basename(source), os.path.realpath(source)
    same = [entry for entry in _entries(path) if isinstance(entry, dict) and str(entry.get("file")).endswith(name)]
    return [command for command in _commands(path, same) if command.path == real]


def _entries(path: str) -> list[Any]:
    data = read_regular(path, LARGEST_INPUT)
    try:
        entries = json.loads(data.decode("utf-8", "surrogateescape"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not a compilation database: {error}") from None
    if not isinstance(entries, list):
        raise ValueError("not a compilation database: it is not a list of commands")
    return entries


def _commands(path: str, entries: Sequence[Any]) -> dict[CompilerCommand, None]:
    folder = os.path.dirname(os.path.abspath(path))
    return dict.fromkeys(_command(number, entry, folder) for number, entry in enumerate(entries, start=1))


def _command(number: int, entry: Any, folder: str) -> CompilerCommand:
    fields = entry if isinstance(entry, dict) else {}
    file, directory = fields.get("file"), fields.get("directory", "")
    if not isinstance(file, str) or not file or not isinstance(directory, str):
        return CompilerCommand(file=f"entry {number}", folder=folder, words=(), problem="not a command: it has no file")
    # A relative folder counts from the database's, because databases are moved along with the build.
    folder = os.path.join(folder, directory)
    words = fields.get("arguments")
    command = fields.get("command")
    if not words and isinstance(command, str):
        try:
            words = shlex.split(command)
        except ValueError as error:
            return CompilerCommand(file=file, folder=folder, words=(), problem=f"its command cannot be read: {error}")
    if not isinstance(words, list) or not words or not all(isinstance(word, str) for word in words):
        return CompilerCommand(file=file, folder=folder, words=(), problem="it has no command")
    if any("\0" in word for word in (file, folder, *words)):
        problem = "its command cannot be read: there are NUL characters in it"
        return CompilerCommand(file=file, folder=folder, words=(), problem=problem)
    try:
        # JSON can have halves of surrogate pairs, which no name has.
        for word in (file, folder, *words):
            os.fsencode(word)
    except UnicodeEncodeError:
        file = os.fsdecode(file.encode("utf-8", "replace"))
        return CompilerCommand(file=file, folder="", words=(), problem="its command cannot be read: not UTF-8")
    return CompilerCommand(file=file, folder=folder, words=tuple(without_launchers(words)))
