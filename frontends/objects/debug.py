"""The sections of an ELF file that have its debug information: unpacked, and in objects relocated."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping

from incc.frontends.container import debug_address
from incc.frontends.elf import (
    ALLOCATED,
    COMPRESSED,
    GROUP,
    OBJECT,
    RELOCATIONS,
    ElfError,
    ElfFile,
    ElfSection,
    read_elf,
)
from incc.frontends.objects.bytes import Reader
from incc.frontends.objects.dwarf import Dwarf, Load
from incc.support import zstd

_LARGEST = 1 << 32
"""Bytes of a section. A section that claims to be larger is damaged."""


def debug_information(elf: ElfFile, widths: Mapping[int, int], folder: str) -> Dwarf | None:
    """Return the debug information of an ELF file, None if there is none.

    Args:
        elf: the file.
        widths: bytes of the fields of absolute relocations by their kinds (`ObjectSigns.absolute`).
        folder: where to look for split debug information that is not at its own place.
    """
    sections = _Sections(elf, widths)
    if not sections.has("info"):
        return None

    def open_split(name: str, directory: str) -> Load | None:
        for path in (os.path.join(directory, name), os.path.join(folder, os.path.basename(name))):
            if os.path.isfile(path):
                return _split(path, widths)
        return None

    return Dwarf(sections.load, open_split)


def _split(path: str, widths: Mapping[int, int]) -> Load | None:
    try:
        with open(path, "rb") as file:
            return _Sections(read_elf(file.read()), widths).load
    except (OSError, ElfError):
        return None


class _Sections:
    """The sections of debug information by their names. Each is read when it is first asked for."""

    def __init__(self, elf: ElfFile, widths: Mapping[int, int]) -> None:
        self._elf = elf
        self._widths = widths
        self._sections: dict[str, tuple[int, ElfSection]] = {}
        for number, section in enumerate(elf.sections):
            # Those in groups are of types (-fdebug-types-section), and have no code.
            if section.name.startswith((".debug_", ".zdebug_")) and not section.flags & GROUP:
                self._sections.setdefault("." + section.name[1:].removeprefix("z"), (number, section))
        self._loaded: dict[str, bytes] = {}
        self._values: list[int] | None = None
        self._relocations: dict[int, ElfSection] = {}
        if elf.kind == OBJECT:
            self._relocations = {s.information: s for s in elf.sections if s.type == RELOCATIONS}

    def has(self, part: str) -> bool:
        """Return True if there is a section `.debug_PART`."""
        return f".debug_{part}" in self._sections

    def load(self, name: str) -> bytes:
        """Return the bytes of a section, empty if there is no such section. Raises one of FAULTS if it is damaged."""
        data = self._loaded.get(name)
        if data is None:
            self._loaded[name] = b""  # a damaged section is not read again
            data = self._loaded[name] = self._read(name)
        return data

    def _read(self, name: str) -> bytes:
        if name not in self._sections:
            return b""
        number, section = self._sections[name]
        data = _unpacked(section.name, bytes(section.content), bool(section.flags & COMPRESSED))
        entries = self._relocations.get(number)
        return self._relocated(data, entries) if entries else data

    def _relocated(self, data: bytes, entries: ElfSection) -> bytes:
        """Return a section of an object with its fields filled in.

        Relocations of other kinds than the absolute ones are ignored.
        """
        values = self._symbol_values()
        relocated = bytearray(data)
        for entry in self._elf.relocations(entries):
            width = self._widths.get(entry.kind, 0)
            if width and entry.offset + width <= len(relocated):
                value = (values[entry.symbol] + entry.addend) & ((1 << 8 * width) - 1)
                relocated[entry.offset : entry.offset + width] = value.to_bytes(width, "little")
        return bytes(relocated)

    def _symbol_values(self) -> list[int]:
        """Return the values of the symbols as debug information is to have them.

        A symbol of code is where `debug_address` has its section, one of debug information is an offset in it.
        """
        if self._values is None:
            self._values = [
                symbol.value + debug_address(symbol.section)
                if self._elf.sections[symbol.section].flags & ALLOCATED
                else symbol.value
                for symbol in self._elf.symbols()
            ]
        return self._values


def _unpacked(name: str, data: bytes, compressed: bool) -> bytes:
    """Return the contents of a section that the compiler may have packed, with `SHF_COMPRESSED` or as `.zdebug_`.

    Raises ValueError and zlib.error.
    """
    kind = 1
    if compressed:
        kind, size = Reader(data, 0).number(4), Reader(data, 8).number(8)
        data = data[24:]
    elif name.startswith(".zdebug_") and data[:4] == b"ZLIB":
        size, data = int.from_bytes(data[4:12], "big"), data[12:]
    else:
        return data
    if size > _LARGEST:
        raise ValueError("compressed, with an impossible size")
    if kind == 1:
        return zlib.decompressobj().decompress(data, max(size, 1))
    if kind != 2:
        raise ValueError("packed in an unknown way")
    try:
        return zstd.decompress(data, max(size, 1))
    except ImportError:
        raise ValueError("packed with zstd, which needs the extra incc[archives]") from None
