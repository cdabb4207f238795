"""What a frontend hands to the analysis: one translation unit's assembly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from incc.frontends.kernel import CompiledLoop
    from incc.frontends.marks import Mark, MarkError
    from incc.frontends.remarks import Remark


class IncludeFolders(msgspec.Struct, frozen=True):
    """Folders of headers that a command names or implies: those of the system and compiler, and those of the user."""

    system: tuple[str, ...] = ()
    user: tuple[str, ...] = ()


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One translation unit's assembly and how it came about.

    `assembly` is the text, `assembly_file` its name for messages; `source` the file that was compiled ("" for assembly
    that was given), `compiler` and `compiler_version` what compiled it, `command` the user's command line; `cpu` is the
    target that the command line implies, "" if none. `folders`: where its headers come from. `arguments`: those of the
    command that the compiler sees, with what its response files hold. `folder`: the absolute path of the folder that
    the command ran in, `output`: the file that it made of the source, as it names it; both "" where that is not known.
    `way`: whether the text was given, comes from a second run of the compiler, is what the compiler handed to the
    assembler, or was read from the object. `notes`: what is to be said of all that is in it. `loops`: what the
    compiler says of the innermost loops that it has made; the assembly has their numbers beside labels
    (`incc.frontends.asm.compiled`).
    `remarks`: what the compiler says of its loops, as far as it was asked. `marks`: those in its sources that a
    plugin of the compiler has read, and `mark_errors`, what it found wrong with others.
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
    folder: str = ""
    output: str = ""
    way: Literal["given", "second-run", "assembler", "object"] = "given"
    notes: tuple[str, ...] = ()
    loops: tuple[CompiledLoop, ...] = ()
    remarks: tuple[Remark, ...] = ()
    marks: tuple[Mark, ...] = ()
    mark_errors: tuple[MarkError, ...] = ()
