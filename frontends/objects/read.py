"""The contents of object files, libraries and programs: ELF with incc's small reader, PE/COFF and Mach-O with lief."""

from __future__ import annotations

import mmap
import os
import warnings
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from struct import Struct
from typing import Any

from msgspec.structs import replace

from incc.frontends.container import Container, Section, debug_address
from incc.frontends.elf import (
    ALLOCATED,
    DYNAMIC_SYMBOLS,
    EXECUTABLE,
    FUNCTION,
    MAGIC,
    OBJECT,
    RELOCATIONS,
    SYMBOLS,
    Data,
    ElfError,
    ElfFile,
    machine_of,
    read_elf,
)
from incc.frontends.foreign import refusal
from incc.frontends.isa import ObjectSigns, isa, names
from incc.frontends.kernel import Relocation

_PAGE = 4096
_LARGEST_POWER = 15
"""The largest alignment that Mach-O's linkers accept, as a power of two."""
_GCC_LTO = ".gnu.lto_"
COFF_MACHINES = frozenset((0x14C, 0x1C0, 0x1C4, 0x5032, 0x5064, 0x6232, 0x6264, 0x8664, 0xA641, 0xAA64))
"""Processors with common COFF objects, which have no other magic (Microsoft's PE format, "Machine types")."""
_UNWINDING = {"AMD64": Struct("<3I"), "ARM64": Struct("<2I")}
"""The entries in the table for unwinding by processor (Microsoft's PE format, ".pdata"): first a function's address."""
_COFF_SYMBOL, _MACHO_SYMBOL = 18, 16
"""Bytes of a symbol in a COFF object (20 in large ones), and in a Mach-O file of 64 bits."""
_BRANCHES = {
    **dict.fromkeys(("AMD64_REL32", "BRANCH"), 4),
    **dict.fromkeys(("ARM64_BRANCH26", "ARM64_BRANCH19", "ARM64_BRANCH14", "BRANCH26"), 0),
}
"""lief's names for the relocations of jumps and calls, and how many bytes after the field its distance counts from.

On AArch64 the field has the distance from itself and no addend (Microsoft's PE format; Apple's reloc.h of x86_64 and
arm64).
"""
_MAPPED = 1 << 24
"""The least bytes of a file that is mapped into memory. Smaller ones are read at once, so they may change meanwhile."""
_START = 64
"""Bytes at the start of a file that show its format."""


class ObjectError(Exception):
    """A file from which no code can be read. The message says why, without the file's name."""

    def __init__(self, message: str, empty: bool = False) -> None:
        super().__init__(message)
        self.empty = empty
        """The file is an object, but there is no code in it."""


def read(source: str | bytes, folder: str | None = None) -> Container:
    """Return the contents of an object file, library or program.

    Args:
        source: the file's path, or its bytes.
        folder: where to look for parts of the debug information that are in other files, "" for the current folder;
            None to read no debug information. It can only be read from ELF files.

    Raises:
        ObjectError: for other files, damaged ones, and code of an unknown instruction set.
        OSError: if the file cannot be read.
    """
    data: Data
    if isinstance(source, bytes):
        start, data, size = source[:_START], source, len(source)
    else:
        with open(source, "rb") as file:
            start = file.read(_START)
            size = os.fstat(file.fileno()).st_size
            if not start.startswith(MAGIC):
                data = b""
            elif size < _MAPPED:
                data = start + file.read()
            else:
                data = mapped(source)
    if not start:
        raise ObjectError("the file is empty")
    if not start.startswith(MAGIC):
        return _read_with_lief(source, start, size)
    try:
        return _read_elf(data, folder)
    except ElfError as error:
        raise ObjectError(str(error)) from None


def mapped(path: str) -> mmap.mmap:
    """Return the bytes of a file, which are read as they are needed. Raises OSError."""
    with open(path, "rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _container(isa_name: str, sections: Iterable[Section], size: int) -> Container:
    """Return the contents of a file of `size` bytes. Raises ObjectError."""
    total = 0
    accepted = []
    for section in sections:
        # A small malicious file can have thousands of sections, each of which is nearly the whole file.
        total += len(section.data)
        if total > size:
            raise ObjectError("the file is damaged: its sections overlap")
        accepted.append(section)
    if not any(section.executable for section in accepted):
        raise ObjectError("no code in it", True)
    return Container(isa_name, tuple(sorted(accepted, key=lambda section: (section.address, section.name))))


def _isa_of(machine_name: str) -> str:
    """Return the instruction set of a machine by lief's name of it. Raises ObjectError."""
    for name in names():
        machine = isa(name).machine
        if machine_name in machine.names:
            return name
        if machine_name in machine.unread:
            raise ObjectError(machine.unread[machine_name])
    raise ObjectError(refusal(f"code for {machine_name}"))


class _Functions:
    """The functions of a section, or of a linked file, by their addresses."""

    def __init__(self, symbols: Iterable[tuple[int, str]]) -> None:
        self._names: dict[int, str] = {}
        for address, name in symbols:
            if name:
                self._names.setdefault(address, name)  # of several at one address, the first
        self._addresses = sorted(self._names)

    def within(self, start: int, size: int) -> tuple[tuple[int, str], ...]:
        """Return offset and name of the functions in `size` bytes from `start` on."""
        first, last = bisect_left(self._addresses, start), bisect_left(self._addresses, start + size)
        return tuple([(address - start, self._names[address]) for address in self._addresses[first:last]])


# --- ELF -------------------------------------------------------------------------------------------------------------


def _read_elf(data: Data, folder: str | None) -> Container:
    name = _elf_isa(machine_of(data))
    elf = read_elf(data)
    machine = isa(name).machine
    try:
        container = _container(name, _elf_sections(elf, machine), len(data))
    except ObjectError as error:
        if error.empty and any(section.name.startswith(_GCC_LTO) for section in elf.sections):
            message = "no machine code, only GIMPLE for the link with -flto; -ffat-lto-objects adds machine code"
            raise ObjectError(message) from None
        raise
    if isinstance(data, mmap.mmap):
        container = replace(container, mapped=data)
    if folder is None:
        return container
    from incc.frontends.objects.debug import debug_information

    return replace(container, debug=debug_information(elf, machine.absolute, folder))


def _elf_isa(machine: int) -> str:
    for name in names():
        if isa(name).machine.elf == machine:
            return name
    import lief

    try:
        return _isa_of(lief.ELF.ARCH(machine).name)
    except ValueError:
        raise ObjectError(refusal(f"code for machine {machine}")) from None


def _elf_sections(elf: ElfFile, machine: ObjectSigns) -> Iterator[Section]:
    """Yield the sections that are loaded and have contents."""
    is_object = elf.kind == OBJECT
    relocations = _elf_relocations(elf, machine.pc_relative) if is_object else {}
    marked = _mapping_symbols(elf) if machine.maps_data else {}
    functions = _elf_functions(elf)
    for number, section in enumerate(elf.sections):
        if not section.flags & ALLOCATED or not section.content:
            continue
        executable = bool(section.flags & EXECUTABLE)
        start = 0 if is_object else section.address
        of_section = functions.get(number if is_object else 0) if executable else None
        yield Section(
            name=section.name,
            address=start,
            data=section.content,
            executable=executable,
            functions=of_section.within(start, section.size) if of_section else (),
            data_spans=_data_spans(marked.get(number, ()), start, section.size),
            relocations=tuple(sorted(relocations.get(number, ()), key=lambda relocation: relocation.offset)),
            alignment=max(1, section.alignment) if is_object else _PAGE,
            debug_address=debug_address(number) if is_object else start,
        )


def _mapping_symbols(elf: ElfFile) -> dict[int, list[tuple[int, bool]]]:
    """Return where data (True) and code begin, by the number of the section (Arm's ELF ABI, "Mapping symbols")."""
    marked: dict[int, list[tuple[int, bool]]] = {}
    for symbol in elf.symbols():
        if symbol.section and symbol.name[:2] in ("$x", "$d") and symbol.name[2:3] in ("", "."):
            marked.setdefault(symbol.section, []).append((symbol.value, symbol.name[1] == "d"))
    return marked


def _data_spans(marked: Sequence[tuple[int, bool]], start: int, size: int) -> tuple[tuple[int, int], ...]:
    ordered = [*sorted(marked), (start + size, False)]
    return tuple([(at - start, end - start) for (at, is_data), (end, _) in pairwise(ordered) if is_data and at < end])


def _elf_functions(elf: ElfFile) -> dict[int, _Functions]:
    """Return the functions of an object by the number of their section, those of a linked file under 0."""
    symbols: dict[int, list[tuple[int, str]]] = {}
    for table_type in (DYNAMIC_SYMBOLS, SYMBOLS):
        for symbol in elf.symbols(table_type):
            if symbol.type == FUNCTION and symbol.section:
                number = symbol.section if elf.kind == OBJECT else 0
                symbols.setdefault(number, []).append((symbol.value, symbol.name))
    return {number: _Functions(of_section) for number, of_section in symbols.items()}


def _elf_relocations(elf: ElfFile, pc_relative: frozenset[int]) -> dict[int, list[Relocation]]:
    """Return the relocations of the sections that are loaded, by the numbers of these sections."""
    relocations: dict[int, list[Relocation]] = {}
    symbol_names = [symbol.name for symbol in elf.symbols()]
    for section in elf.sections:
        number = section.information
        if section.type != RELOCATIONS or number >= len(elf.sections):
            continue
        # Most relocations of an object with debug information are in that.
        if not elf.sections[number].flags & ALLOCATED:
            continue
        into = relocations.setdefault(number, [])
        for entry in elf.relocations(section):
            if entry.symbol >= len(symbol_names):
                raise ElfError("the ELF file is damaged: a relocation has no symbol")
            into.append(
                Relocation(
                    offset=entry.offset,
                    symbol=symbol_names[entry.symbol],
                    addend=entry.addend,
                    pc_relative=entry.kind in pc_relative,
                )
            )
    return relocations


# --- PE/COFF and Mach-O ----------------------------------------------------------------------------------------------


def _read_with_lief(source: str | bytes, start: bytes, size: int) -> Container:
    import lief

    lief.logging.disable()
    # Damaged files often have numbers for which lief's enumerations have no name. Users can do nothing about that.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"incc\.frontends\.objects\.read")
    is_coff = int.from_bytes(start[:2], "little") in COFF_MACHINES
    binary: Any = lief.COFF.parse(source) if is_coff else lief.parse(source)
    if binary is None:
        raise ObjectError("not an ELF, PE/COFF or Mach-O file")
    machine: Any
    if isinstance(binary, lief.PE.Binary):
        machine, sections, ends = binary.header.machine, _pe_sections(lief, binary), _pe_ends(binary)
    elif isinstance(binary, lief.MachO.Binary):
        machine, sections, ends = binary.header.cpu_type, _macho_sections(lief, binary), _macho_ends(binary)
        size = min(size, binary.original_size)  # a file for several processors has others after this one
    else:
        machine, sections, ends = binary.header.machine, _coff_sections(lief, binary), _coff_ends(binary, source)
    isa_name = _isa_of(str(machine).rsplit(".", 1)[-1])
    # lief leaves out what is not there.
    if missing := next((what for what, end in ends if end > size), ""):
        raise ObjectError(f"the file is cut off: {missing} ends behind its end")
    return _container(isa_name, sections, size)


def _pe_sections(lief: Any, binary: Any) -> Iterator[Section]:
    functions = _Functions((f.address, str(f.name)) for f in (*binary.exported_functions, *binary.functions))
    entry = _UNWINDING.get(str(binary.header.machine).rsplit(".", 1)[-1])
    table = next((bytes(section.content) for section in binary.sections if section.name == ".pdata"), b"")
    unwound = (
        sorted(at for at, *_ in entry.iter_unpack(table[: len(table) // entry.size * entry.size])) if entry else []
    )
    for section in binary.sections:
        executable = section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE)
        start, data = section.virtual_address, bytes(section.content)
        read = _section(section, start, start, data, executable, functions, _PAGE)
        yield replace(read, cuts=_offsets(unwound, read)) if executable else read


def _coff_sections(lief: Any, binary: Any) -> Iterator[Section]:
    symbols: dict[int, list[tuple[int, str]]] = {}
    for symbol in binary.symbols:
        if symbol.is_function:
            symbols.setdefault(symbol.section_idx, []).append((symbol.value, str(symbol.name)))
    for number, section in enumerate(binary.sections, start=1):
        if section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE) and section.size:
            functions, data = _Functions(symbols.get(number, ())), bytes(section.content)
            read = _section(section, 0, debug_address(number), data, True, functions, 16)
            yield replace(read, relocations=_relocations(section.relocations, 0, read))


def _macho_sections(lief: Any, binary: Any) -> Iterator[Section]:
    # LLVM's assembler begins each section with a symbol of its own.
    named = [(symbol.value, str(symbol.name)) for symbol in binary.symbols]
    functions = _Functions((value, name) for value, name in named if not name.startswith("ltmp"))
    flags = lief.MachO.Section.FLAGS
    table = binary.function_starts
    starts = [] if table is None else sorted(binary.imagebase + start for start in table.functions)
    is_object = binary.header.file_type == lief.MachO.Header.FILE_TYPE.OBJECT
    for section in binary.sections:
        executable = section.has(flags.PURE_INSTRUCTIONS) or section.has(flags.SOME_INSTRUCTIONS)
        start, data = section.virtual_address, bytes(section.content)
        alignment = 1 << min(section.alignment, _LARGEST_POWER) if is_object else _PAGE
        read = _section(section, start, start, data, executable, functions, alignment)
        if executable:
            relocations = _relocations(section.relocations, section.offset, read) if is_object else ()
            read = replace(read, cuts=_offsets(starts, read), relocations=relocations)
        yield read


def _pe_ends(binary: Any) -> Iterator[tuple[str, int]]:
    """Yield where parts of a file end. What a section has beyond its size in memory is only there to fill the file."""
    for section in binary.sections:
        if section.pointerto_raw_data:
            used = min(section.sizeof_raw_data, section.virtual_size or section.sizeof_raw_data)
            yield "a section", section.pointerto_raw_data + used


def _coff_ends(binary: Any, source: str | bytes) -> Iterator[tuple[str, int]]:
    """Yield where parts of a file end, as `_pe_ends` does."""
    for section in binary.sections:
        if section.pointerto_raw_data:
            yield "a section", section.pointerto_raw_data + section.sizeof_raw_data
    if at := binary.header.pointerto_symbol_table:
        at += binary.header.nb_symbols * _COFF_SYMBOL
        yield "its table of symbols", at
        if isinstance(source, bytes):
            length = source[at : at + 4]
        else:
            with open(source, "rb") as file:
                file.seek(at)
                length = file.read(4)
        yield "its table of names", at + max(4, int.from_bytes(length, "little"))


def _macho_ends(binary: Any) -> Iterator[tuple[str, int]]:
    """Yield where parts of a file end, as `_pe_ends` does. Raises ObjectError if that is unknown."""
    if len(binary.commands) < binary.header.nb_cmds:
        raise ObjectError("the file is damaged: part of its load commands cannot be read")
    for segment in binary.segments:
        yield "a segment", segment.file_offset + segment.file_size
    if (table := binary.symbol_command) is not None:
        yield "its table of symbols", table.symbol_offset + table.numberof_symbols * _MACHO_SYMBOL
        yield "its table of names", table.strings_offset + table.strings_size
    for section in binary.sections:
        if section.offset and section.segment is not None and section.segment.file_size:
            yield "a section", section.offset + section.size


def _relocations(relocations: Iterable[Any], start: int, section: Section) -> tuple[Relocation, ...]:
    """Return the relocations of jumps and calls in a section of code.

    `start` is what lief counts their addresses from: in Mach-O files the section's place in the file.
    """
    branches = []
    for relocation in relocations:
        bias = _BRANCHES.get(str(relocation.type).rsplit(".", 1)[-1])
        name = str(relocation.symbol.name) if bias is not None and relocation.symbol else ""
        offset = relocation.address - start
        if bias is None or not name or not 0 <= offset <= len(section.data) - 4:
            continue
        addend = int.from_bytes(section.data[offset : offset + 4], "little", signed=True) - bias if bias else 0
        branches.append(Relocation(offset=offset, symbol=name, addend=addend, pc_relative=True))
    return tuple(sorted(branches, key=lambda relocation: relocation.offset))


def _offsets(addresses: list[int], section: Section) -> tuple[int, ...]:
    """Return the offsets in a section of those of the ascending addresses that lie in it."""
    first = bisect_left(addresses, section.address)
    last = bisect_left(addresses, section.address + len(section.data))
    return tuple([address - section.address for address in addresses[first:last]])


def _section(
    section: Any, address: int, debug: int, data: bytes, executable: bool, functions: _Functions, alignment: int
) -> Section:
    """Return a section of lief's, with `debug` as its `debug_address`."""
    return Section(
        name=str(section.name),
        address=address,
        data=data,
        executable=executable,
        functions=functions.within(address, len(data)) if executable else (),
        alignment=alignment,
        debug_address=debug,
    )
