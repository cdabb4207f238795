"""Machine code as the input of incc-mca: objects and places in them, raw bytes, bytes as hexadecimal numbers."""

from __future__ import annotations

import msgspec

from incc.driver import UsageError
from incc.driver.errors import AnalysisError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.options import Given
    from incc.driver.pipeline import Settings
    from incc.driver.report import types as t

_NO_TEXT = (b"\x7fELF", b"MZ", b"d\x86", b"\xcf\xfa", b"\xfe\xed", b"\xca\xfe", b"!<", b"BC\xc0", b"\xde\xc0")
"""What assembly seldom begins with, and objects, libraries and bitcode do."""


class Code(msgspec.Struct, frozen=True):
    """Machine code that was read: an object, at a path or in bytes, or `blocks` of bytes with their names. `name`: what
    messages call the input."""

    name: str
    source: str | bytes = b""
    blocks: Sequence[tuple[str, bytes]] | None = None

    def report(self, cores: Sequence[Settings]) -> t.Report:
        """The report on it, for each core. Raises AnalysisError."""
        from incc.driver.pipeline import analyze_bytes, analyze_object
        from incc.driver.report.build import build_report, unit_report
        from incc.frontends.unit import Unit

        unit = Unit(assembly="", assembly_file=self.name, way="object" if self.blocks is None else "given")
        if self.blocks is None:
            return build_report(unit_report(analyze_object(unit, self.source, one)) for one in cores)
        return build_report(unit_report(analyze_bytes(unit, self.blocks, one)) for one in cores)


_OF_ASSEMBLY = ("paths", "branch", "cfg")


def code_of(given: Given, data: bytes, file: str, name: str) -> Code | None:
    """The input as machine code, by the options and by what it begins with; None for assembly. `file`: where it was
    read, "" or - for standard input. Raises UsageError for options that do not go together, or not with such input, and
    AnalysisError for what holds no code."""
    from incc.driver.scan_files import kind_of

    raw, hexa = given["raw"], given["hex"]
    if raw and hexa:
        raise UsageError("-raw and -hex exclude each other")
    alone = "-raw" if raw else "-hex" if hexa else ""
    kind = "" if alone else kind_of(data)
    if alone or kind:
        what = alone or "an object"
        without = ("auto", "function", "address", *_OF_ASSEMBLY) if alone else _OF_ASSEMBLY
        if others := [option for option in without if given[option]]:
            raise UsageError(f"-{others[0]} has no meaning with {what}")
    elif given["address"]:
        raise UsageError(f"-address is of objects, which {name} is not")
    if given["address"] and given["auto"]:
        raise UsageError("-address and -auto exclude each other")
    if alone:
        blocks = [(name, data)] if raw else hexadecimal(data.decode("utf-8", "replace"), name)
        if not any(code for _, code in blocks):
            raise AnalysisError(f"{name}: no machine code in it")
        return Code(name, blocks=blocks)
    if kind == "library":
        raise AnalysisError(f"{name}: a static library; incc-scan reads those")
    if kind == "bitcode":
        raise AnalysisError(f"{name}: LLVM's bitcode, no machine code")
    if not kind:
        return None
    import os

    # Parts of its debug information may be beside a file.
    return Code(name, file if os.path.isfile(file) else data)


_HEADERS = 4096
"""Bytes in which `kind_of` finds what it looks for; the header of PE may be anywhere, and is seldom behind these."""


def read_for(given: Given, file: str) -> bytes:
    """What is in the input, "" or - for standard input; of an object in a file, which is read again where it is, and
    may be as large as the linker makes it, the beginning. Raises OSError."""
    import os

    from incc.driver.files import read_bytes

    # What is no file, such as a pipe, can be read only once.
    if not (given["raw"] or given["hex"]) and os.path.isfile(file):
        with open(file, "rb") as f:
            start = f.read(_HEADERS)
        if start.startswith(_NO_TEXT):
            from incc.driver.scan_files import kind_of

            if kind_of(start):
                return start
    return read_bytes(file)


def machine_code(given: Given, data: bytes, file: str, name: str) -> Code | None:
    """The input as machine code, None for assembly. Raises UsageError and AnalysisError."""
    if given.names.isdisjoint(("raw", "hex", "address")) and not data.startswith(_NO_TEXT):
        return None
    return code_of(given, data, file, name)


def hexadecimal(text: str, name: str) -> list[tuple[str, bytes]]:
    """Blocks of machine code written as bytes in hexadecimal, with empty lines between them, each with its name.

    Between digits there may be blanks, commas, brackets, and before two of them 0x or \\x; comments begin with #, as
    llvm-mc has it. Raises AnalysisError, with the line, for anything else.
    """
    blocks: list[tuple[str, bytearray]] = []
    going_on = False
    for number, line in enumerate(text.split("\n"), 1):
        words = line.partition("#")[0].replace(",", " ").replace("[", " ").replace("]", " ").replace("\\x", " ").split()
        if not words:
            going_on = going_on and bool(line.strip())
            continue
        if not going_on:
            blocks.append((f"{name}:{number}", bytearray()))
            going_on = True
        for word in words:
            digits = word.removeprefix("0x").removeprefix("0X")
            try:
                blocks[-1][1].extend(bytes.fromhex(digits if len(digits) > 1 else f"0{digits}"))
            except ValueError:
                raise AnalysisError(f"{name}:{number}: not hexadecimal: {word[:60]}") from None
    return [(name, bytes(code)) for name, code in blocks]
