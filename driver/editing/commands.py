"""The command that compiles a file in an editor: that of the compilation database, else one made of the settings."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from pathlib import PurePath

from msgspec.structs import replace

from incc.driver.builds.project import Project
from incc.driver.sources import is_source, source_commands
from incc.frontends.gcc_wrapper.compile_commands import NAME, CompilerCommand, commands_for, distrusted
from incc.frontends.gcc_wrapper.compiler import COMPILER_NAME
from incc.frontends.gcc_wrapper.session import with_flags
from incc.live.requests import PREPROCESSED, EditedFile, words_of
from incc.support.errors import AnalysisError

_ANY = ("cc",)
"""A compiler in place of that of a file's command, where only flags matter."""


def commands_of(file: EditedFile, project: Project, notes: list[str]) -> list[CompilerCommand]:
    """Return the commands that may compile a file, the first choice first; those that fail give way to the next.

    There is none for a header. Raises AnalysisError if the file cannot be compiled.
    """
    settings = file.settings
    of_project = file.also in project.also  # also if a command has taken it over into the settings
    try:
        compiler, flags = words_of(file.also)
        if not compiler:
            of_project |= not settings.compiler
            compiler = words_of(settings.compiler or project.compiler)[0]
    except ValueError as error:
        raise AnalysisError(f"{file.also or settings.compiler or project.compiler}: {str(error).lower()}") from None
    if not settings.trust:
        _check_project(project, file, (*(compiler or _ANY), *flags) if of_project else _ANY)
    added = (*project.flags, *settings.flags, *flags, *file.added)
    commands = _of_database(file, notes) or _made(file, project)
    return [_changed(command, compiler, added) for command in commands]


def _check_project(project: Project, file: EditedFile, words: tuple[str, ...]) -> None:
    """Raise AnalysisError if the compiler, options and flags of an incc.toml could run other programs.

    Whoever wrote the project may have written them, and a file is compiled as soon as it is opened.
    """
    command = CompilerCommand(file=file.path, folder=os.path.dirname(file.path), words=(*words, *project.flags))
    known = COMPILER_NAME.fullmatch(os.path.basename(words[0]))
    reason = distrusted(command) if known else f"{words[0]} is not the name of a compiler"
    if reason:
        raise AnalysisError(f"{project.path}: [editor]: {reason}; the setting incc.trust allows it")


def _changed(command: CompilerCommand, compiler: tuple[str, ...], flags: tuple[str, ...]) -> CompilerCommand:
    words = command.words
    if not words:
        return command
    return replace(command, words=(*(compiler or words[:1]), *with_flags(words[1:], flags)))


def _of_database(file: EditedFile, notes: list[str]) -> list[CompilerCommand]:
    for path in _databases(file):
        try:
            commands = [_without_incc(command) for command in commands_for(path, file.path) if command.compiles]
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else str(error)
            notes.append(f"{path}: {reason}")
            continue
        if not commands:
            continue
        command = commands[0]
        if command.problem:
            raise AnalysisError(f"{path}: {command.file}: {command.problem}")
        if not file.settings.trust and (reason := distrusted(command)):
            raise AnalysisError(f"{path}: {command.file}: {reason}; the setting incc.trust allows it")
        return [command]
    return []


def _without_incc(command: CompilerCommand) -> CompilerCommand:
    """Return the compiler's command, as of `make CC="incc gcc"`."""
    incc, compiler = [os.path.basename(word) for word in (*command.words, "", "")[:2]]
    if incc == "incc" and COMPILER_NAME.fullmatch(compiler):
        return replace(command, words=command.words[1:])
    return command


def _databases(file: EditedFile) -> Iterator[str]:
    """Yield the paths where clangd would look for a file's compilation database.

    These are the folders above the file, and `build` in each (https://clangd.llvm.org/installation#compile_commandsjson).
    """
    if file.settings.compilation_database:
        yield os.path.join(os.path.expanduser(file.settings.compilation_database), NAME)
        return
    for folder in PurePath(file.path).parents:
        yield str(folder / NAME)
        yield str(folder / "build" / NAME)


def _made(file: EditedFile, project: Project) -> list[CompilerCommand]:
    """Return the commands for a file that no database names; none for a header. Raises AnalysisError."""
    folder, name = os.path.split(file.path)
    if name.endswith(PREPROCESSED):
        words = (*shlex.split(os.environ.get("CC", "cc")), "-c", name)
        return [CompilerCommand(file=name, folder=folder, words=words)]
    if not is_source(name):
        return []
    core = (file.settings.cores or project.cores or ("",))[0]
    return [replace(command, folder=folder) for command in source_commands(name, core)]


def described(command: CompilerCommand) -> str:
    """Return a command as a note shows it."""
    return f"compiled by {shlex.join(command.words)}"
