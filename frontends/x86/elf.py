"""Reads what an assembler wrote: sections, symbols and relocations of a 64-bit little-endian ELF object for x86-64.

Users' objects are read with lief (`incc.frontends.objects`). Every analysis of assembly text reads one object too, its
own assembler's, and for that lief takes too long to start: importing it takes 0.9 s of processor time, 90 times what
Python itself takes (0.01 s); this module and what it needs takes 0.03 s, and reads a small object in 0.1 ms.
"""

from __future__ import annotations

import struct

import msgspec

from incc.frontends.kernel import Relocation

_SHT_SYMTAB, _SHT_RELA, _SHT_NOBITS = 2, 4, 8
_STT_SECTION = 3
_SHN_LORESERVE, _SHN_XINDEX = 0xFF00, 0xFFFF
_EM_X86_64 = 62

# Relocation types of the x86-64 psABI (4.4.1, table 4.9): which are relative to their own address, and which name
# something other than the symbol itself, so that the memory they address is another.
_PC_RELATIVE = {2: "", 4: "", 9: "@GOTPCREL", 13: "", 15: "", 19: "@TLSGD", 20: "@TLSLD", 22: "@GOTTPOFF", 24: ""}
_PC_RELATIVE |= {26: "", 28: "@GOTPCREL", 29: "", 34: "@TLSDESC", 41: "@GOTPCREL", 42: "@GOTPCREL"}
_ABSOLUTE = {3: "@GOT", 17: "@DTPOFF", 18: "@TPOFF", 21: "@DTPOFF", 23: "@TPOFF", 25: "@GOTOFF", 27: "@GOT"}


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section: its name, alignment in bytes, contents, and relocations in the order of their offsets."""

    name: str
    alignment: int
    data: bytes
    relocations: tuple[Relocation, ...]


class Object(msgspec.Struct, frozen=True):
    """An object file: its sections by their index, and each defined symbol's section index and offset in bytes."""

    sections: dict[int, Section]
    symbols: dict[str, tuple[int, int]]


def read_object(data: bytes) -> Object:
    """Read an object file. Raises ValueError if it is not a well-formed x86-64 ELF object."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        raise ValueError("not a 64-bit little-endian ELF object")
    try:
        return _read(data)
    except (struct.error, IndexError, OverflowError) as error:
        raise ValueError(f"truncated or malformed ELF object: {error}") from None


def _read(data: bytes) -> Object:
    (machine,) = struct.unpack_from("<H", data, 18)
    if machine != _EM_X86_64:
        raise ValueError(f"an object for another machine (e_machine {machine}), not x86-64")
    (table,) = struct.unpack_from("<Q", data, 40)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 58)
    first = struct.unpack_from("<IIQQQQIIQQ", data, table)
    # With more than 65,279 sections, count and index are kept in section 0.
    count = count or first[5]
    if names_index == _SHN_XINDEX:
        names_index = first[6]
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, table + k * entry_size) for k in range(count)]
    names = _contents(data, headers[names_index])

    symbols: list[tuple[str, int, int]] = []
    for index, header in enumerate(headers):
        if header[1] == _SHT_SYMTAB:
            section_names = [_string(names, h[0]) for h in headers]
            extended = next((_contents(data, h) for h in headers if h[1] == 18 and h[6] == index), b"")
            symbols = _symbols(_contents(data, header), _contents(data, headers[header[6]]), section_names, extended)

    relocations: dict[int, list[Relocation]] = {}
    for header in headers:
        if header[1] == _SHT_RELA:
            into = relocations.setdefault(header[7], [])
            for offset, info, addend in struct.iter_unpack("<QQq", _contents(data, header)):
                kind = info & 0xFFFFFFFF
                suffix = _PC_RELATIVE.get(kind)
                decoration = suffix if suffix is not None else _ABSOLUTE.get(kind, "")
                name = symbols[info >> 32][0] + decoration
                into.append(Relocation(offset=offset, symbol=name, addend=addend, pc_relative=suffix is not None))

    sections = {
        index: Section(
            name=_string(names, header[0]),
            alignment=header[8],
            data=_contents(data, header),
            relocations=tuple(sorted(relocations.get(index, ()), key=lambda r: r.offset)),
        )
        for index, header in enumerate(headers)
        if header[1] == 1
    }
    return Object(sections, {name: (index, value) for name, index, value in symbols if index in sections})


def _contents(data: bytes, header: tuple[int, ...]) -> bytes:
    if header[1] == _SHT_NOBITS:
        return b""
    if header[4] + header[5] > len(data):
        raise IndexError("section beyond the end of the file")
    return data[header[4] : header[4] + header[5]]


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode("utf-8", "replace")


def _symbols(table: bytes, strings: bytes, section_names: list[str], extended: bytes) -> list[tuple[str, int, int]]:
    """Name, section index and value of each symbol; a section's symbol has the section's name."""
    found: list[tuple[str, int, int]] = []
    text = strings.decode("ascii") if strings.isascii() else None
    for k, (name, info, _, index, value, _) in enumerate(struct.iter_unpack("<IBBHQQ", table)):
        if index == _SHN_XINDEX:
            (index,) = struct.unpack_from("<I", extended, 4 * k)
        elif index >= _SHN_LORESERVE:
            index = 0
        if info & 15 == _STT_SECTION and not name:
            found.append((section_names[index], index, value))
        elif text is not None:
            found.append((text[name : text.find("\0", name)], index, value))
        else:
            found.append((strings[name : strings.find(b"\0", name)].decode("utf-8", "replace"), index, value))
    return found
