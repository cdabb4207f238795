"""A small reader of ELF files: sections, symbols and relocations.

lief reads all formats, but importing it takes 0.6 s of processor time, several times as long as analysing the object
of a compilation, and it makes an object of each symbol and relocation of a library. This module takes a few
milliseconds, and reads only the requested parts.

The format is that of the System V ABI (gabi), chapters 4 and 5. All offsets and sizes are checked, because files may
be damaged or malicious: no file makes the reader use much more memory than its own size.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from struct import Struct

import msgspec

Data = bytes | mmap.mmap

MAGIC = b"\x7fELF"
OBJECT = 1
"""`ElfFile.kind` of a file that is to be linked (ET_REL)."""
PROGBITS, SYMBOLS, RELOCATIONS, NO_BITS, RELOCATIONS_IN_PLACE, DYNAMIC_SYMBOLS = 1, 2, 4, 8, 9, 11
"""Types of sections.

Relocations have addends (SHT_RELA), as all of 64-bit instruction sets do, or their addends are in the fields that they
change (SHT_REL).
"""
ALLOCATED, EXECUTABLE, GROUP, COMPRESSED = 0x2, 0x4, 0x200, 0x800
"""Flags of sections."""
FUNCTION, INDIRECT_FUNCTION = 2, 10
"""Types of symbols."""

_SECTION_INDICES = 18
_RESERVED, _ELSEWHERE = 0xFF00, 0xFFFF


class ElfError(ValueError):
    """A file that cannot be read as ELF. The message says why, without the file's name."""


class _Class(msgspec.Struct, frozen=True, kw_only=True):
    """The layout of the structures in one of ELF's two classes, of 32 and 64 bits."""

    header: Struct
    """From byte 16 on: the fields after `e_ident`."""
    section: Struct
    symbol: Struct
    relocation: Struct
    symbol_shift: int
    """Bits of `r_info` below the symbol's number."""


# x32 programs, whose code is x86-64's, are of the 32-bit class.
_CLASSES = {
    1: _Class(
        header=Struct("<HHIIIIIHHHHHH"),
        section=Struct("<10I"),
        symbol=Struct("<IIIBBH"),
        relocation=Struct("<IIi"),
        symbol_shift=8,
    ),
    2: _Class(
        header=Struct("<HHIQQQIHHHHHH"),
        section=Struct("<IIQQQQIIQQ"),
        symbol=Struct("<IBBHQQ"),
        relocation=Struct("<QQq"),
        symbol_shift=32,
    ),
}
_IN_PLACE = Struct("<II")
"""A relocation without an addend, of the 32-bit class."""


class ElfSection(msgspec.Struct, frozen=True, kw_only=True):
    """A section of an ELF file."""

    name: str
    type: int
    flags: int
    address: int
    size: int
    """In bytes, also of a section without contents (NO_BITS)."""
    link: int
    information: int
    """As `link`, what the format defines for sections of this type."""
    alignment: int
    content: memoryview
    """Empty for a section without contents."""


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """A symbol. A symbol without a name has that of its section, as the symbols of sections do."""

    name: str
    type: int
    section: int
    """The number of the section that defines it, 0 for none: undefined, absolute and common symbols."""
    value: int
    size: int


class RelocationEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A relocation as the file has it."""

    offset: int
    symbol: int
    """The number of a symbol in the table that the section of the relocations is linked to."""
    kind: int
    addend: int


class ElfFile:
    """An ELF file: the kind of file (`e_type`), the machine (`e_machine`) and the sections, by their numbers."""

    __slots__ = ("_class", "kind", "machine", "sections")

    def __init__(self, kind: int, machine: int, sections: tuple[ElfSection, ...], elf_class: _Class) -> None:
        self.kind = kind
        self.machine = machine
        self.sections = sections
        self._class = elf_class

    def content(self, name: str) -> bytes:
        """Return the contents of the first section of this name, empty if there is none."""
        return next((bytes(section.content) for section in self.sections if section.name == name), b"")

    def symbols(self, table_type: int = SYMBOLS) -> Iterator[Symbol]:
        """Yield the symbols of the table of this type, none if there is no such table. Raises ElfError."""
        tables = [(number, section) for number, section in enumerate(self.sections) if section.type == table_type]
        if not tables:
            return
        if len(tables) > 1:
            raise ElfError("the ELF file is damaged: it has several symbol tables")
        number, table = tables[0]
        if table.link >= len(self.sections):
            raise ElfError("the ELF file is damaged: its symbols have no names")
        strings = _Strings(self.sections[table.link].content)
        indices = next((s.content for s in self.sections if s.type == _SECTION_INDICES and s.link == number), b"")
        is_64_bit = self._class is _CLASSES[2]
        for position, fields in enumerate(_entries(table, self._class.symbol)):
            if is_64_bit:
                name, information, _, section, value, size = fields
            else:
                name, value, size, information, _, section = fields
            if section == _ELSEWHERE:  # the numbers of very many sections do not fit into a symbol
                section = int.from_bytes(indices[4 * position : 4 * position + 4], "little")
            elif section >= _RESERVED:
                section = 0
            if section >= len(self.sections):
                raise ElfError("the ELF file is damaged: a symbol is in a section that does not exist")
            text = strings.at(name) if name else self.sections[section].name if section else ""
            yield Symbol(name=text, type=information & 15, section=section, value=value, size=size)

    def relocations(self, section: ElfSection) -> Iterator[RelocationEntry]:
        """Yield the relocations of a section of the type RELOCATIONS, or RELOCATIONS_IN_PLACE of 32-bit x86."""
        shift = self._class.symbol_shift
        kinds = (1 << shift) - 1
        in_place = section.type == RELOCATIONS_IN_PLACE
        fields = self.sections[section.information].content if in_place else b""
        for offset, information, *addend in _entries(section, _IN_PLACE if in_place else self._class.relocation):
            yield RelocationEntry(
                offset=offset,
                symbol=information >> shift,
                kind=information & kinds,
                addend=addend[0] if addend else int.from_bytes(fields[offset : offset + 4], "little", signed=True),
            )


def _entries(section: ElfSection, layout: Struct) -> Iterator[tuple[int, ...]]:
    whole = len(section.content) // layout.size * layout.size
    return layout.iter_unpack(section.content[:whole])


class _Strings:
    """A table of strings."""

    def __init__(self, content: memoryview) -> None:
        self._data = bytes(content)
        # Strings may share their ends. In a malicious file a million of them share all but their first characters.
        self._left = 65536 + 16 * len(self._data)

    def at(self, offset: int) -> str:
        """Return the string that begins at this offset. Raises ElfError."""
        end = self._data.find(b"\0", offset)
        if end < 0:
            raise ElfError("the ELF file is damaged: a name has no end")
        self._left -= end - offset
        if self._left < 0:
            raise ElfError("the ELF file is damaged: its names overlap")
        return self._data[offset:end].decode("utf-8", "surrogateescape")


def machine_of(data: Data) -> int:
    """Return the number of the machine (`e_machine`) of an ELF file of either byte order. Raises ElfError."""
    if len(data) < 20:
        raise ElfError("the ELF file is cut off in its header")
    return int.from_bytes(data[18:20], "big" if data[5] == 2 else "little")


def read_elf(data: Data) -> ElfFile:
    """Read the table of sections of a little-endian ELF file. Raises ElfError."""
    if data[:4] != MAGIC or data[5:6] != b"\1" or data[4] not in _CLASSES:
        raise ElfError("not a little-endian ELF file")
    elf_class = _CLASSES[data[4]]
    layout = elf_class.section
    if len(data) < 16 + elf_class.header.size:
        raise ElfError("the ELF file is cut off in its header")
    kind, machine, _, _, _, table, _, _, _, _, entry, count, names = elf_class.header.unpack_from(data, 16)
    if not table:
        return ElfFile(kind, machine, (), elf_class)
    if entry != layout.size:
        raise ElfError(f"the ELF file is damaged: entries of {entry} bytes in its table of sections")
    if table + entry > len(data):
        raise ElfError("the ELF file is cut off: its table of sections is missing")
    first = layout.unpack_from(data, table)
    # Where there are very many sections, their count and the number of the one with names are in the first.
    count = count or first[5]
    names = first[6] if names == _ELSEWHERE else names
    end = table + count * entry
    if end > len(data):
        raise ElfError("the ELF file is cut off: part of its table of sections is missing")
    if names >= count:
        raise ElfError("the ELF file is damaged: its sections have no names")
    view = memoryview(data)
    headers = list(layout.iter_unpack(view[table:end]))
    contents = [_content(view, header) for header in headers]
    if sum(map(len, contents)) > len(data):
        raise ElfError("the ELF file is damaged: its sections overlap")
    strings = _Strings(contents[names])
    sections = [
        ElfSection(
            name=strings.at(name),
            type=section_type,
            flags=flags,
            address=address,
            size=size,
            link=link,
            information=information,
            alignment=alignment,
            content=content,
        )
        for (name, section_type, flags, address, _, size, link, information, alignment, _), content in zip(
            headers, contents, strict=True
        )
    ]
    return ElfFile(kind, machine, tuple(sections), elf_class)


def _content(view: memoryview, header: tuple[int, ...]) -> memoryview:
    _, section_type, _, _, offset, size, *_ = header
    if section_type in (0, NO_BITS):
        return view[:0]
    if offset + size > len(view):
        raise ElfError("the ELF file is cut off: a section ends behind its end")
    return view[offset : offset + size]
