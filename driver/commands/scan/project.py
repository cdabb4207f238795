"""The commands of a project for incc-scan."""

from __future__ import annotations

import os
from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.builds.project import project_of
from incc.driver.settings import Settings
from incc.frontends.gcc_wrapper.compile_commands import NAME, CompilerCommand, distrusted, read_commands


class CompilationDatabase(Struct, frozen=True):
    """A compilation database."""

    commands: list[CompilerCommand]
    """The commands that compile a source."""
    note: str = ""
    """A note on the other commands, if there are any."""


def read_project(path: str, sources: Sequence[str], trust: bool = False) -> CompilationDatabase:
    """Return the commands of a compilation database, or of the one in a folder, that compile one of the sources.

    Without `sources` these are all commands that compile a source. Unless `trust` is True, those that run a compiler
    outside of PATH, or have it run other programs, have a problem. Raises UsageError.
    """
    if os.path.isdir(path):
        path = os.path.join(path, NAME)
    try:
        commands = read_commands(path)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    compiling = [command if trust else _checked(command) for command in commands if command.compiles]
    others = sorted({os.path.basename(command.words[0]) for command in commands if not command.compiles})
    programs = ", ".join(others[:3]) + ", …" * (len(others) > 3)
    if not compiling:
        raise UsageError(f"{path}: no command of a known compiler" + (f", only of {programs}" if others else ""))
    if not sources:
        count = len(commands) - len(compiling)
        text = "1 command compiles no source and is" if count == 1 else f"{count} commands compile no source and are"
        return CompilationDatabase(compiling, f"{text} skipped ({programs})" if count else "")
    paths = {os.path.realpath(source): source for source in sources}
    if missing := paths.keys() - {command.path for command in compiling}:
        raise UsageError(f"{path}: no command for {', '.join(sorted(paths[name] for name in missing))}")
    return CompilationDatabase([command for command in compiling if command.path in paths])


def _checked(command: CompilerCommand) -> CompilerCommand:
    reason = "" if command.problem else distrusted(command)
    return replace(command, problem=f"{reason}; --trust runs its command anyway") if reason else command


def settings_of(
    command: CompilerCommand, settings: Sequence[Settings], notes: list[str], requested: bool
) -> list[Settings]:
    """Return the settings for each core with those of the source's incc.toml, or nothing if it excludes the source.

    Mistakes in the file and excluded sources are added to `notes`; `requested` sources are named in these.
    """
    path = os.path.abspath(os.path.join(command.folder, command.file))
    project = project_of(path)
    notes.extend(project.problems)
    if not project.wants(path):
        notes.append(f"{command.file}: excluded by {project.path}" if requested else f"{project.path} excludes sources")
        return []
    return [applied for each in settings for applied in project.applied(each, notes)]
