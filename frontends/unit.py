"""One translation unit's assembly, as a frontend hands it to the analysis."""

from __future__ import annotations

from typing import Literal

import msgspec

from incc.frontends.kernel import CompiledLoop
from incc.frontends.marks import Mark, MarkError
from incc.frontends.remarks import Remark


class IncludeFolders(msgspec.Struct, frozen=True):
    """Folders of headers that a command names or implies."""

    system: tuple[str, ...] = ()
    """Those of the system and the compiler."""
    user: tuple[str, ...] = ()


class Unit(msgspec.Struct, frozen=True, kw_only=True):
    """One translation unit's assembly, and how it was made."""

    assembly: str
    """The text."""
    assembly_file: str
    """Its name for messages."""
    source: str = ""
    """The file that was compiled, "" for assembly that was given."""
    compiler: str = ""
    compiler_version: str = ""
    command: tuple[str, ...] = ()
    """The user's command line."""
    cpu: str = ""
    """The target that the command line implies, "" if there is none."""
    folders: IncludeFolders = IncludeFolders()
    """The folders of its headers."""
    arguments: tuple[str, ...] = ()
    """The compiler's arguments, with response files expanded."""
    folder: str = ""
    """The absolute path of the folder that the command ran in, "" if unknown."""
    output: str = ""
    """The file that the command made of the source, as it names it, "" if unknown."""
    way: Literal["given", "second-run", "assembler", "object"] = "given"
    """The text was given, made by a second run of the compiler, handed to the assembler, or read from the object."""
    trusted: bool = False
    """The user lets its assembly read other files."""
    stored: bool = False
    """It was read back from a report, which may come from anybody: its assembly reads no other files."""
    notes: tuple[str, ...] = ()
    """Notes on everything in the unit."""
    made: bytes = b""
    """The object that the compilation's assembler made of the assembly, if it is available."""
    loops: tuple[CompiledLoop, ...] = ()
    """The compiler's description of its innermost loops, whose numbers the assembly has (`asm.compiled`)."""
    remarks: tuple[Remark, ...] = ()
    """The compiler's remarks on its loops, if they were requested."""
    marks: tuple[Mark, ...] = ()
    """The marks in its sources that a plugin of the compiler has read."""
    mark_errors: tuple[MarkError, ...] = ()
    """The errors that this plugin reports in other marks."""

    @property
    def reads_files(self) -> bool:
        """Its assembly may read other files, as that of a compiler's command does in the compilation."""
        return self.trusted or (bool(self.command) and not self.stored)
