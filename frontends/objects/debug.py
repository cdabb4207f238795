"""The sections of an ELF file that have its debug information: unpacked, and in objects relocated."""

from __future__ import annotations

import os
import struct
import zlib

from incc.frontends.objects import elf
from incc.frontends.objects.bytes import Reader
from incc.frontends.objects.dwarf import Dwarf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Any

    from incc.frontends.objects.dwarf import Load

_SYMBOLS, _INDICES, _RELA = 2, 18, 4
"""ELF's types of sections: symbol tables, their wider indices of sections, and relocations with addends."""
_COMPRESSED, _GROUP = 0x800, 0x200
_LARGEST = 1 << 32
"""Bytes of a section; one that says it is larger is damaged."""


def debug_address(number: int) -> int:
    """Where debug information has the section of that number of an object that is not linked: sections are far from
    each other, so that an address tells which one it is in."""
    return (number + 1) << 40


def debug_information(
    sections: Iterable[Any], is_object: bool, widths: Mapping[int, int], folder: str, binary: object = None
) -> Dwarf | None:
    """The debug information of an ELF file with these sections (`elf.ElfSection`, or lief's, which are parts of
    `binary`); None if there is none. `is_object`: it is not linked. `widths`: `Machine.absolute`. `folder`: where else
    than at their own places files of split debug information may be."""
    found = _Sections(sections, is_object, widths, binary)
    if not found.has("info"):
        return None

    def open_split(name: str, directory: str) -> Load | None:
        for path in (os.path.join(directory, name), os.path.join(folder, os.path.basename(name))):
            if os.path.isfile(path):
                return _split(path, widths)
        return None

    return Dwarf(found.load, open_split)


def _split(path: str, widths: Mapping[int, int]) -> Load | None:
    try:
        with open(path, "rb") as file:
            found = elf.read_object(file.read())
    except OSError:
        return None
    if found is not None:
        return _Sections(found.sections, True, widths).load
    import lief

    binary = lief.ELF.parse(path)
    if binary is None:
        return None
    return _Sections(binary.sections, binary.header.file_type == lief.ELF.Header.FILE_TYPE.REL, widths, binary).load


class _Sections:
    """Sections of debug information by their names; each is worked out when it is first asked for."""

    def __init__(
        self, sections: Iterable[Any], is_object: bool, widths: Mapping[int, int], binary: object = None
    ) -> None:
        self._sections = list(sections)
        self._binary = binary  # lief's sections are parts of it
        self._widths = widths
        self._is_object = is_object
        self._numbers: dict[str, int] = {}
        for number, section in enumerate(self._sections):
            name = str(section.name)
            # Those in groups are of types (-fdebug-types-section), and have no code.
            if name.startswith((".debug_", ".zdebug_")) and not int(section.flags) & _GROUP:
                self._numbers.setdefault("." + name[1:].removeprefix("z"), number)
        self._loaded: dict[str, bytes] = {}
        self._symbols: dict[int, list[int]] = {}
        self._relocations: dict[int, int] | None = None

    def has(self, part: str) -> bool:
        return f".debug_{part}" in self._numbers

    def load(self, name: str) -> bytes:
        """The bytes of a section, none if there is no such section. Raises one of FAULTS if it is damaged."""
        found = self._loaded.get(name)
        if found is None:
            self._loaded[name] = b""  # what is damaged once is not tried again
            found = self._loaded[name] = self._read(name)
        return found

    def _read(self, name: str) -> bytes:
        number = self._numbers.get(name)
        if number is None:
            return b""
        section = self._sections[number]
        data = _unpacked(str(section.name), bytes(section.content), bool(int(section.flags) & _COMPRESSED))
        if not self._is_object:
            return data
        if self._relocations is None:
            self._relocations = {
                int(section.information): n for n, section in enumerate(self._sections) if int(section.type) == _RELA
            }
        where = self._relocations.get(number)
        if where is None:
            return data
        entries = self._sections[where]
        return _relocated(data, bytes(entries.content), self._values(int(entries.link)), self._widths)

    def _values(self, table: int) -> list[int]:
        """The values of the symbols of a table, as debug information is to have them: those of code where its section
        is, of debug information offsets in it."""
        if table not in self._symbols:
            data = bytes(self._sections[table].content)
            wide: Sequence[int] = ()
            for section in self._sections:
                if int(section.type) == _INDICES and int(section.link) == table:
                    indices = bytes(section.content)
                    wide = struct.unpack(f"<{len(indices) // 4}I", indices[: len(indices) // 4 * 4])
            allocated = [bool(int(section.flags) & 2) for section in self._sections]
            values = []
            for n, (_, _, _, index, value, _) in enumerate(struct.iter_unpack("<IBBHQQ", data[: len(data) // 24 * 24])):
                number = wide[n] if index == 0xFFFF and n < len(wide) else index
                is_code = number < len(allocated) and allocated[number]
                values.append(value + debug_address(number) if is_code else value)
            self._symbols[table] = values
        return self._symbols[table]


def _unpacked(name: str, data: bytes, compressed: bool) -> bytes:
    """The contents of a section that compilers may have packed: with `SHF_COMPRESSED`, or the older `.zdebug_`.

    Raises ValueError and zlib.error.
    """
    if compressed:
        kind, size = Reader(data, 0).number(4), Reader(data, 8).number(8)
        data = data[24:]
        if kind == 2:
            try:
                from compression import zstd  # type: ignore[import-not-found]  # since Python 3.14
            except ImportError:
                raise ValueError("packed with zstd, which this Python cannot read") from None
            return bytes(zstd.decompress(data))
        if kind != 1:
            raise ValueError("packed in an unknown way")
    elif name.startswith(".zdebug_") and data[:4] == b"ZLIB":
        size, data = int.from_bytes(data[4:12], "big"), data[12:]
    else:
        return data
    if size > _LARGEST:
        raise ValueError("packed, and larger than it can be")
    return zlib.decompressobj().decompress(data, max(size, 1))


def _relocated(data: bytes, entries: bytes, symbols: Sequence[int], widths: Mapping[int, int]) -> bytes:
    """A section of an object before it is linked, its fields filled in: with the values of the symbols, by number,
    and the addends of its relocations (ELF's `Rela`). `widths`: bytes of the fields by the relocations' kinds; others
    are left alone."""
    found = bytearray(data)
    whole = len(entries) // 24 * 24
    size = len(found)
    for offset, information, addend in struct.iter_unpack("<QQq", entries[:whole]):
        width = widths.get(information & 0xFFFFFFFF, 0)
        if width and offset + width <= size:
            value = symbols[information >> 32] + addend
            found[offset : offset + width] = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
    return bytes(found)
