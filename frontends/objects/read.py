"""Reads object files, libraries and programs (ELF, PE/COFF, Mach-O) with lief."""

from __future__ import annotations

from incc.frontends.container import Container, Section
from incc.frontends.isa import isa, names
from incc.frontends.kernel import Relocation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

_PAGE = 4096


class ObjectError(Exception):
    """The file is no object of code that can be read; the message says what it is, without the file's name."""


def read(source: str | bytes) -> Container:
    """What is in an object file, library or program: the file at a path, or its bytes.

    Raises ObjectError for other files and for code of an unknown instruction set, and OSError.
    """
    if isinstance(source, bytes):
        magic = source[:2]
    else:
        with open(source, "rb") as file:
            magic = file.read(2)
    if not magic:
        raise ObjectError("the file is empty")
    import warnings

    import lief  # 0.3 s: only objects pay for it

    lief.logging.disable()
    # Numbers that no enumeration of lief has a name for are common in damaged files, and nothing that users could mend.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"incc\.frontends\.objects\.read")
    # COFF has no other magic number than that of its machine.
    coff = int.from_bytes(magic, "little") in [isa(name).machine.coff for name in names()]
    binary: Any = lief.COFF.parse(source) if coff else lief.parse(source)
    if binary is None:
        raise ObjectError("not an ELF, PE/COFF or Mach-O file")
    if isinstance(binary, lief.ELF.Binary):
        name = _isa_of(binary.header.machine_type)
        sections = list(_elf(lief, binary, isa(name).machine.pc_relative))
    elif isinstance(binary, lief.PE.Binary):
        name = _isa_of(binary.header.machine)
        sections = list(_pe(lief, binary))
    elif isinstance(binary, lief.MachO.Binary):
        name = _isa_of(binary.header.cpu_type)
        sections = list(_macho(lief, binary))
    else:
        name = _isa_of(binary.header.machine)
        sections = list(_coff(lief, binary))
    if not any(section.executable for section in sections):
        raise ObjectError("no code in it")
    return Container(name, tuple(sorted(sections, key=lambda section: (section.address, section.name))))


def _isa_of(machine: Any) -> str:
    wanted = _enum_name(machine)
    for name in names():
        if wanted in isa(name).machine.names:
            return name
    raise ObjectError(f"code for {wanted}, none of {', '.join(names())}")


def _enum_name(value: Any) -> str:
    return str(value).rsplit(".", 1)[-1]


def _functions(symbols: Sequence[tuple[int, str]], start: int, size: int) -> tuple[tuple[int, str], ...]:
    """(address, name) of symbols to (offset, name) of those in a section; of several at one place the first."""
    inside: dict[int, str] = {}
    for address, name in symbols:
        if start <= address < start + size and name:
            inside.setdefault(address - start, name)
    return tuple(sorted(inside.items()))


def _elf(lief: Any, binary: Any, pc_relative: frozenset[str]) -> Iterator[Section]:
    is_object = binary.header.file_type == lief.ELF.Header.FILE_TYPE.REL
    by_section: dict[str, list[Relocation]] = {}
    for r in binary.object_relocations if is_object else ():
        if not r.has_section or r.section is None:
            continue
        symbol = r.symbol
        name = str(symbol.name) if symbol is not None else ""
        if symbol is not None and not name and symbol.section is not None:
            name = str(symbol.section.name)
        relocation = Relocation(int(r.address), name, int(r.addend), _enum_name(r.type) in pc_relative)
        by_section.setdefault(r.section.name, []).append(relocation)
    functions = [
        (int(s.shndx), int(s.value), str(s.name)) for s in binary.symbols if s.type == lief.ELF.Symbol.TYPE.FUNC
    ]
    for number, section in enumerate(binary.sections):
        if not section.has(lief.ELF.Section.FLAGS.ALLOC) or section.type == lief.ELF.Section.TYPE.NOBITS:
            continue
        if not section.size:
            continue
        executable = bool(section.has(lief.ELF.Section.FLAGS.EXECINSTR))
        start = 0 if is_object else int(section.virtual_address)
        symbols = [(value, name) for shndx, value, name in functions if (shndx == number if is_object else shndx)]
        yield Section(
            str(section.name),
            start,
            bytes(section.content),
            executable,
            _functions(symbols, start, section.size) if executable else (),
            tuple(sorted(by_section.get(section.name, ()), key=lambda r: r.offset)),
            max(1, section.alignment) if is_object else _PAGE,
        )


def _pe(lief: Any, binary: Any) -> Iterator[Section]:
    symbols = [(f.address, str(f.name)) for f in (*binary.exported_functions, *binary.functions)]
    for section in binary.sections:
        executable = section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE)
        data = bytes(section.content)
        functions = _functions(symbols, section.virtual_address, len(data)) if executable else ()
        yield Section(str(section.name), section.virtual_address, data, executable, functions, (), _PAGE)


def _coff(lief: Any, binary: Any) -> Iterator[Section]:
    for number, section in enumerate(binary.sections, start=1):
        if section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE) and section.size:
            symbols = [(s.value, str(s.name)) for s in binary.symbols if s.section_idx == number and s.is_function]
            data = bytes(section.content)
            yield Section(str(section.name), 0, data, True, _functions(symbols, 0, len(data)), (), 16)


def _macho(lief: Any, binary: Any) -> Iterator[Section]:
    symbols = [(s.value, str(s.name)) for s in binary.symbols]
    flags = lief.MachO.Section.FLAGS
    is_object = binary.header.file_type == lief.MachO.Header.FILE_TYPE.OBJECT
    for section in binary.sections:
        executable = section.has(flags.PURE_INSTRUCTIONS) or section.has(flags.SOME_INSTRUCTIONS)
        data = bytes(section.content)
        functions = _functions(symbols, section.virtual_address, len(data)) if executable else ()
        alignment = 1 << section.alignment if is_object else _PAGE
        yield Section(str(section.name), section.virtual_address, data, executable, functions, (), alignment)
