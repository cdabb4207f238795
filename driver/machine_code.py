"""Machine code as the input of incc-mca: objects, raw bytes, and bytes in hexadecimal."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.cli.values import OptionValues
from incc.driver.code import kind_of, object_parts
from incc.driver.pipeline import analyze_bytes, analyze_object, report_of
from incc.driver.settings import Scope, Settings
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.support.errors import AnalysisError
from incc.support.files import read_bytes

if TYPE_CHECKING:
    from incc.frontends.objects.spans import Addresses

_HEADER = 4096
"""The number of bytes at the start of a file that identify its format."""


class MachineCode(msgspec.Struct, frozen=True):
    """Machine code that was read."""

    name: str
    """The name of the input in messages."""
    source: str | bytes = b""
    """The path of an object, or its bytes."""
    part: Addresses | None = None
    """A part of a large object, None for all of it."""
    blocks: Sequence[tuple[str, bytes]] | None = None
    """Blocks of code with their names, instead of an object."""

    def in_parts(self, scope: Scope) -> list[MachineCode]:
        """Return the parts of a large object, else the code itself; functions are chosen from all parts.

        Raises AnalysisError if the object cannot be read.
        """
        if self.blocks is not None or scope.functions:
            return [self]
        parts = object_parts(self.source, self.name, scope)
        return [replace(self, name=f"{self.name} ({part})", part=part) for part in parts] or [self]

    def report(self, cores: Sequence[Settings]) -> t.AnalysisReport:
        """Return the report, with a unit for each core. Raises AnalysisError."""
        unit = Unit(assembly="", assembly_file=self.name, way="object" if self.blocks is None else "given")
        if self.blocks is None:
            return report_of(analyze_object(unit, self.source, core, self.part) for core in cores)
        return report_of(analyze_bytes(unit, self.blocks, core) for core in cores)


def machine_code(given: OptionValues, data: bytes, file: str, name: str) -> MachineCode | None:
    """Return the input as machine code, None for assembly.

    Args:
        given: The options.
        data: What `read_for` has read.
        file: The input file, "" or "-" for standard input.
        name: The name of the input in messages.

    Raises:
        UsageError: Options exclude each other or do not apply to such input.
        AnalysisError: There is no code in the input.
    """
    alone = "--raw" if given["raw"] else "--hex" if given["hex"] else ""
    kind = "" if alone else kind_of(data)
    _check(given, alone, kind, name)
    if alone:
        blocks = [(name, data)] if given["raw"] else hexadecimal(data.decode("utf-8", "replace"), name)
        if not any(code for _, code in blocks):
            raise AnalysisError(f"{name}: no machine code in the input")
        return MachineCode(name, blocks=blocks)
    if kind == "library":
        raise AnalysisError(f"{name}: a static library; analyse it with incc-scan")
    if kind == "bitcode":
        raise AnalysisError(f"{name}: LLVM bitcode without machine code; compile it first")
    if not kind:
        return None

    # Debug information may be in other files next to the object.
    return MachineCode(name, file if os.path.isfile(file) else data)


_ASSEMBLY_ONLY = ("paths", "branch", "cfg")


def _check(given: OptionValues, alone: str, kind: str, name: str) -> None:
    """Check options against each other and against the kind of input. Raises UsageError."""
    if given["raw"] and given["hex"]:
        raise UsageError("--raw and --hex cannot be combined")
    if alone or kind:
        excluded = ("auto", "function", "address", *_ASSEMBLY_ONLY) if alone else _ASSEMBLY_ONLY
        if others := [option for option in excluded if given[option]]:
            raise UsageError(f"--{others[0]} does not apply to {alone or 'objects'}")
    elif given["address"]:
        raise UsageError(f"--address requires an object, and {name} is none")
    if given["address"] and given["auto"]:
        raise UsageError("--address and --auto cannot be combined")


def read_for(given: OptionValues, file: str) -> bytes:
    """Return the input, but only the header of an object in a file, which is read in place and may be large.

    Args:
        given: The options.
        file: The input file, "" or "-" for standard input.

    Raises:
        OSError: The file cannot be read.
    """
    # A pipe or another special file can be read only once.
    if not (given["raw"] or given["hex"]) and os.path.isfile(file):
        with open(file, "rb") as f:
            start = f.read(_HEADER)
        if kind_of(start):
            return start
    return read_bytes(file)


def hexadecimal(text: str, name: str) -> list[tuple[str, bytes]]:
    r"""Return blocks of machine code, separated by empty lines, each with its place as a name.

    As for llvm-mc, there may be blanks, commas and brackets between digits, 0x or \x before two digits, and comments
    after #. Raises AnalysisError, with the line, for anything else.
    """
    blocks: list[tuple[str, bytearray]] = []
    in_block = False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].replace(",", " ").replace("[", " ").replace("]", " ").replace("\\x", " ").split()
        if not words:
            in_block = in_block and bool(line.strip())
            continue
        if not in_block:
            blocks.append((f"{name}:{number}", bytearray()))
            in_block = True
        for word in words:
            digits = word.removeprefix("0x").removeprefix("0X")
            try:
                blocks[-1][1].extend(bytes.fromhex(digits if len(digits) > 1 else f"0{digits}"))
            except ValueError:
                raise AnalysisError(f"{name}:{number}: not hexadecimal: {word[:60]}") from None
    return [(name, bytes(code)) for name, code in blocks]
