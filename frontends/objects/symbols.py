"""The functions of ELF files, and which files take part in link-time optimisation."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from typing import Literal

import msgspec

from incc.frontends.container import debug_address
from incc.frontends.elf import (
    EXECUTABLE,
    FUNCTION,
    INDIRECT_FUNCTION,
    MAGIC,
    OBJECT,
    SYMBOLS,
    Data,
    ElfError,
    ElfFile,
    read_elf,
)
from incc.frontends.objects import archive, bitcode
from incc.frontends.objects.read import ObjectError

Lto = Literal["", "gcc", "llvm", "llvm-fat"]
"""Whose link-time optimisation a file has code for; "llvm-fat": bitcode and machine code."""


class DefinedFunction(msgspec.Struct, frozen=True):
    """A function that a file defines."""

    name: str
    size: int
    """In bytes, as its symbol has it."""
    address: int
    """The address of its first byte, as `container.Section.debug_address` counts."""


class Elf(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about an ELF file that matter for link-time optimisation."""

    is_object: bool
    """It is to be linked, not a program or shared library."""
    lto: Lto
    has_symbols: bool
    """It has a table of symbols, so it is not stripped."""
    functions: tuple[DefinedFunction, ...]
    options: str
    """The options that gcc recorded for link-time optimisation, as in a shell, "" for none."""
    target: tuple[str, ...] = ()
    """The core that bitcode is for (see `bitcode.target`)."""


class LinkerInput(msgspec.Struct, frozen=True, kw_only=True):
    """A file that goes into a link, or a member of a library."""

    name: str
    """For messages."""
    is_member: bool
    lto: Lto
    elf: Elf | None
    """None for bitcode."""
    target: tuple[str, ...] = ()
    """The core that bitcode is for (see `bitcode.target`)."""


def elf_facts(path: str) -> Elf | None:
    """Return the facts about an ELF file, None for other files and damaged ones. Raises OSError."""
    with open(path, "rb") as file:
        return _facts(_mapped(file.fileno()))


def linker_inputs(path: str) -> Iterator[LinkerInput]:
    """Yield the functions that a linker takes from an object or static library; none of other files (shared libraries).

    A damaged library ends early. Raises OSError.
    """
    with open(path, "rb") as file:
        start = file.read(8)
        if start in (archive.MAGIC, archive.THIN_MAGIC):
            try:
                for member in archive.listed(path):
                    if member_input := _input(f"{path}({member.name})", True, member.read()):
                        yield member_input
            except ObjectError:
                return
        elif start.startswith((MAGIC, *bitcode.MAGICS)) and (only := _input(path, False, _mapped(file.fileno()))):
            yield only


def _mapped(descriptor: int) -> Data:
    if os.fstat(descriptor).st_size == 0:
        return b""
    # It is unmapped when the last view of it is gone.
    return mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)


def _input(name: str, is_member: bool, data: Data) -> LinkerInput | None:
    if data[:4] in bitcode.MAGICS:
        return LinkerInput(name=name, is_member=is_member, lto="llvm", elf=None, target=bitcode.target(data))
    elf = _facts(data)
    return (
        LinkerInput(name=name, is_member=is_member, lto=elf.lto, elf=elf, target=elf.target)
        if elf and elf.is_object
        else None
    )


def _facts(data: Data) -> Elf | None:
    lto: Lto = ""
    options = ""
    target: tuple[str, ...] = ()
    try:
        elf = read_elf(data)
        for section in elf.sections:
            if section.name.startswith(".gnu.lto_"):
                lto = "gcc"
                if section.name == ".gnu.lto_.opts":
                    words = bytes(section.content).rstrip(b"\0").replace(b"\0", b" ")
                    options = words.decode("utf-8", "surrogateescape")
            elif section.name == ".llvm.lto":
                lto = "llvm-fat"
                target = bitcode.target(bytes(section.content))
        has_symbols = any(section.type == SYMBOLS for section in elf.sections)
        return Elf(
            is_object=elf.kind == OBJECT,
            lto=lto,
            has_symbols=has_symbols,
            functions=tuple(_functions(elf)),
            options=options,
            target=target,
        )
    except ElfError:
        return None


def _functions(elf: ElfFile) -> Iterator[DefinedFunction]:
    for symbol in elf.symbols():
        is_function = symbol.type in (FUNCTION, INDIRECT_FUNCTION)
        if is_function and symbol.section and elf.sections[symbol.section].flags & EXECUTABLE:
            base = debug_address(symbol.section) if elf.kind == OBJECT else 0
            yield DefinedFunction(symbol.name, symbol.size, base + symbol.value)
