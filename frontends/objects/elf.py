"""ELF objects that are not linked, of 64 bits and little-endian, read without lief: what builds have analysed are small
files, and to import lief takes 0.6 s of processor time, several times what the analysis of one takes.

The format is that of the System V ABI (gabi), chapters 4 and 5. What is damaged or out of the ordinary in any way is
not read here: lief decides what can still be had of it.
"""

from __future__ import annotations

import struct

import msgspec

from incc.frontends.kernel import Relocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

ALLOCATED, EXECUTABLE = 2, 4
"""Flags of sections."""
SYMBOLS, RELOCATIONS, NO_BITS, WITHOUT_ADDENDS = 2, 4, 8, 9
"""Types of sections."""

_OBJECT = 1  # ET_REL
_FUNCTION = 2
_RESERVED = 0xFF00
_HEADER, _SECTION = struct.Struct("<HHIQQQIHHHHHH"), struct.Struct("<IIQQQQIIQQ")
_SYMBOL, _RELOCATION = struct.Struct("<IBBHQQ"), struct.Struct("<QQq")


class ElfSection(msgspec.Struct, frozen=True, kw_only=True):
    """A section: `information` and `link` as the format has them for its `type`; `content` is none of NO_BITS."""

    name: str
    type: int
    flags: int
    size: int
    alignment: int
    link: int
    information: int
    content: bytes


class Symbol(msgspec.Struct, frozen=True, kw_only=True):
    """A symbol: its type, the number of its section (0: of none here), and where it is in that. Those of sections that
    have no name are called as these are."""

    name: str
    type: int
    section: int
    value: int


class ElfObject(msgspec.Struct, frozen=True):
    """An object: for which machine (`e_machine`), its sections in their order, and its symbols in theirs."""

    machine: int
    sections: tuple[ElfSection, ...]
    symbols: tuple[Symbol, ...]

    def functions(self) -> Iterator[tuple[int, int, str]]:
        """Of each function the number of its section, where it begins in that, and its name."""
        for symbol in self.symbols:
            if symbol.type == _FUNCTION:
                yield symbol.section, symbol.value, symbol.name

    def relocations(self, pc_relative: frozenset[int]) -> dict[int, list[Relocation]]:
        """Those of sections that are loaded, by the sections' numbers. `pc_relative`: as of `isa.Machine`."""
        found: dict[int, list[Relocation]] = {}
        for section in self.sections:
            if section.type != RELOCATIONS or not self.sections[section.information].flags & ALLOCATED:
                continue
            into = found.setdefault(section.information, [])
            for offset, information, addend in _RELOCATION.iter_unpack(section.content):
                name = self.symbols[information >> 32].name
                into.append(
                    Relocation(
                        offset=offset, symbol=name, addend=addend, pc_relative=information & 0xFFFFFFFF in pc_relative
                    )
                )
        return found


def is_object(start: bytes) -> bool:
    """Whether a file that begins so is one for `read_object`."""
    return start[:6] == b"\x7fELF\x02\x01" and start[16:18] == bytes((_OBJECT, 0))


def read_object(data: bytes) -> ElfObject | None:
    """What is in an object; None for all that is not as compilers write it."""
    if not is_object(data):
        return None
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError, OverflowError):  # ValueError: UnicodeDecodeError, too
        return None


def _read(data: bytes) -> ElfObject | None:
    _, machine, _, _, _, table, _, size, _, _, entry, count, names = _HEADER.unpack_from(data, 16)
    # With very many sections numbers are elsewhere.
    if size != 64 or entry != _SECTION.size or not 0 < count < _RESERVED or not names:
        return None
    headers = [_SECTION.unpack_from(data, table + n * entry) for n in range(count)]
    contents = [_content(data, header) for header in headers]
    strings = contents[names]
    sections = tuple(
        [
            ElfSection(
                name=_name(strings, name),
                type=kind,
                flags=flags,
                size=size,
                alignment=alignment,
                link=link,
                information=information,
                content=content,
            )
            for (name, kind, flags, _, _, size, link, information, alignment, _), content in zip(
                headers, contents, strict=True
            )
        ]
    )
    if any(section.type == WITHOUT_ADDENDS for section in sections):
        return None
    tables = [n for n, section in enumerate(sections) if section.type == SYMBOLS]
    if len(tables) > 1:
        return None
    symbols: tuple[Symbol, ...] = ()
    if tables:
        section = sections[tables[0]]
        symbols = tuple(_symbols(section.content, contents[section.link], sections))
    for section in sections:
        if section.type == RELOCATIONS and (
            section.link not in tables
            or section.information >= count
            or any(information >> 32 >= len(symbols) for _, information, _ in _RELOCATION.iter_unpack(section.content))
        ):
            return None
    return ElfObject(machine, sections, symbols)


def _content(data: bytes, header: tuple[int, ...]) -> bytes:
    """Raises ValueError for what is behind the file's end."""
    if header[1] == NO_BITS or not header[5]:
        return b""
    if header[4] + header[5] > len(data):
        raise ValueError
    return data[header[4] : header[4] + header[5]]


def _name(strings: bytes, at: int) -> str:
    """Raises ValueError for what has no end, or is no UTF-8."""
    return strings[at : strings.index(0, at)].decode()


def _symbols(table: bytes, strings: bytes, sections: tuple[ElfSection, ...]) -> Iterator[Symbol]:
    for name, information, _, index, value, _ in _SYMBOL.iter_unpack(table):
        if index >= _RESERVED:
            index = 0  # absolute, or common
        text = _name(strings, name) if name else ""
        yield Symbol(
            name=text or (sections[index].name if index else ""), type=information & 15, section=index, value=value
        )
