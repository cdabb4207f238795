"""What a frontend hands to the analysis: one translation unit's assembly."""

from __future__ import annotations

from incc.frontends.records import NamedTuple


class IncludeFolders(NamedTuple):
    """Folders of headers that a command names or implies: those of the system and compiler, and those of the user."""

    system: tuple[str, ...] = ()
    user: tuple[str, ...] = ()


class Unit(NamedTuple):
    """One translation unit's assembly and how it came about.

    `assembly` is the text, `assembly_file` its name for messages; `source` the file that was compiled ("" for assembly
    that was given), `compiler` and `compiler_version` what compiled it, `command` the user's command line; `cpu` is the
    target that the command line implies, "" if none. `folders`: where its headers come from. `arguments`: those of the
    command that the compiler sees, with what its response files hold.
    """

    assembly: str
    assembly_file: str
    source: str = ""
    compiler: str = ""
    compiler_version: str = ""
    command: tuple[str, ...] = ()
    cpu: str = ""
    folders: IncludeFolders = IncludeFolders()
    arguments: tuple[str, ...] = ()
