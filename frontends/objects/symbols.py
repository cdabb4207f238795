"""The functions of ELF files, and which files are made for link-time optimisation: what takes a moment even of whole
libraries, for which lief makes objects of everything.

The format is that of the System V ABI (gabi), chapters 4 and 5.
"""

from __future__ import annotations

import mmap
import os
import struct

import msgspec

from incc.frontends.objects import bitcode
from incc.frontends.objects.archive import MAGIC, THIN_MAGIC, listed
from incc.frontends.objects.debug import debug_address
from incc.frontends.objects.read import ObjectError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    Data = bytes | mmap.mmap
    Lto = Literal["", "gcc", "llvm", "llvm-fat"]

BITCODE = (bitcode.BITCODE, bitcode.WRAPPER)
"""What LLVM's bitcode begins with, alone and in a wrapper."""

_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMBOLS, _INDICES = 2, 18
_OBJECT = 1  # ET_REL
_FUNCTIONS = frozenset((2, 10))  # STT_FUNC, STT_GNU_IFUNC
_RESERVED, _WIDER = 0xFF00, 0xFFFF
_EXECUTABLE = 4


class Function(msgspec.Struct, frozen=True):
    """A function that a file defines: its symbol, its size in bytes as the symbol has it, and where it begins, as
    `container.Section.debug_address` counts."""

    name: str
    size: int
    address: int


class Elf(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of an ELF file of 64 bits: whether it is to be linked (not a program or shared library), for which
    link-time optimisation there is something in it ("llvm-fat": bitcode beside machine code), whether it has a table of
    symbols, and its functions. `options`: those that gcc recorded for that, as in a shell, "" for none; `target`: the
    core that bitcode is for, as `bitcode.target` has it."""

    is_object: bool
    lto: Lto
    has_symbols: bool
    functions: tuple[Function, ...]
    options: str
    target: tuple[str, ...] = ()


class LinkerInput(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes into a link, or a member of a library: its name for messages, whether it is such a member, and
    for which link-time optimisation there is something in it. `elf`: None of bitcode. `target`: as of `Elf`."""

    name: str
    is_member: bool
    lto: Lto
    elf: Elf | None
    target: tuple[str, ...] = ()


def read_elf(path: str) -> Elf | None:
    """What is known of an ELF file; None for other files and damaged ones. Raises OSError."""
    with open(path, "rb") as file:
        if os.fstat(file.fileno()).st_size == 0:
            return None
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return _elf(data)


def linker_inputs(path: str) -> Iterator[LinkerInput]:
    """What a linker takes of a file that is an object or a static library, none of others (shared libraries, which are
    only referred to, scripts). Damaged ones end it. Raises OSError."""
    with open(path, "rb") as file:
        start = file.read(8)
        if start in (MAGIC, THIN_MAGIC):
            try:
                for member in listed(path):
                    if found := _input(f"{path}({member.name})", True, member.read()):
                        yield found
            except ObjectError:
                return
        elif start.startswith((b"\x7fELF", *BITCODE)):
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                if found := _input(path, False, data):
                    yield found


def _input(name: str, is_member: bool, data: Data) -> LinkerInput | None:
    if data[:4] in BITCODE:
        return LinkerInput(name=name, is_member=is_member, lto="llvm", elf=None, target=bitcode.target(data))
    elf = _elf(data)
    return (
        LinkerInput(name=name, is_member=is_member, lto=elf.lto, elf=elf, target=elf.target)
        if elf and elf.is_object
        else None
    )


def _elf(data: Data) -> Elf | None:
    # Of 64 bits, little-endian.
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    try:
        return _read(data)
    except (struct.error, IndexError, ValueError, OverflowError):
        return None


def _read(data: Data) -> Elf:
    (kind,) = struct.unpack_from("<H", data, 16)
    (table,) = struct.unpack_from("<Q", data, 0x28)
    size, count, names_at = struct.unpack_from("<HHH", data, 0x3A)
    if not table or size != _SECTION.size:
        return Elf(is_object=kind == _OBJECT, lto="", has_symbols=False, functions=(), options="")
    first = _SECTION.unpack_from(data, table)
    # With very many sections the numbers are in the first one.
    count = count or first[5]
    names_at = first[6] if names_at == _WIDER else names_at
    if table + count * size > len(data):
        raise ValueError("the file is cut off")
    sections = [_SECTION.unpack_from(data, table + n * size) for n in range(count)]
    strings = _bytes(data, sections[names_at])
    lto: Lto = ""
    options = ""
    of_bitcode: tuple[str, ...] = ()
    for section in sections:
        name = strings[section[0] : strings.index(0, section[0])]
        if name.startswith(b".gnu.lto_"):
            lto = "gcc"
            if name == b".gnu.lto_.opts":
                options = _bytes(data, section).rstrip(b"\0").replace(b"\0", b" ").decode("utf-8", "surrogateescape")
        elif name == b".llvm.lto":
            lto = "llvm-fat"
            of_bitcode = bitcode.target(_bytes(data, section))
    for number, section in enumerate(sections):
        if section[1] == _SYMBOLS:
            wide = next((_bytes(data, s) for s in sections if s[1] == _INDICES and s[6] == number), b"")
            found = _functions(data, sections, section, wide, kind == _OBJECT)
            return Elf(
                is_object=kind == _OBJECT,
                lto=lto,
                has_symbols=True,
                functions=tuple(found),
                options=options,
                target=of_bitcode,
            )
    return Elf(is_object=kind == _OBJECT, lto=lto, has_symbols=False, functions=(), options=options, target=of_bitcode)


def _functions(
    data: Data, sections: list[tuple[int, ...]], table: tuple[int, ...], wide: bytes, is_object: bool
) -> Iterator[Function]:
    names = _bytes(data, sections[table[6]])
    symbols = _bytes(data, table)
    whole = len(symbols) // _SYMBOL.size * _SYMBOL.size
    for n, (name, information, _, index, value, size) in enumerate(_SYMBOL.iter_unpack(symbols[:whole])):
        if information & 15 not in _FUNCTIONS:
            continue
        if index == _WIDER and wide:
            (index,) = struct.unpack_from("<I", wide, 4 * n)
        elif index >= _RESERVED:
            continue
        if not index or index >= len(sections) or not sections[index][2] & _EXECUTABLE:
            continue
        text = names[name : names.index(0, name)].decode("utf-8", "surrogateescape")
        yield Function(text, size, value + debug_address(index) if is_object else value)


def _bytes(data: Data, section: tuple[int, ...]) -> bytes:
    start, size = section[4], section[5]
    if section[1] == 8:  # SHT_NOBITS
        return b""
    if start + size > len(data):
        raise ValueError("a section behind the file's end")
    return data[start : start + size]
