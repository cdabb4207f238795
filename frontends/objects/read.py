"""Reads object files, libraries and programs (ELF, PE/COFF, Mach-O): with lief, but for what compilers make most."""

from __future__ import annotations

from incc.frontends.container import Container, Section
from incc.frontends.isa import isa, names
from incc.frontends.kernel import Relocation
from incc.frontends.objects import elf

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from incc.frontends.container import DebugInformation

_PAGE = 4096
_LARGEST_POWER = 15
"""Of Mach-O, two to which is an alignment: what its linkers take."""
_GCC_LTO = ".gnu.lto_"
_KIND = (1 << 27) - 1
"""Of lief's types of relocations the part that is ELF's number; above it lief has the machine."""
_START = 64
"""Bytes of a file that tell what it is."""


class ObjectError(Exception):
    """The file is no object of code that can be read; the message says what it is, without the file's name. `empty`: an
    object, but there is no code in it."""

    def __init__(self, message: str, empty: bool = False) -> None:
        super().__init__(message)
        self.empty = empty


def read(source: str | bytes, folder: str | None = None) -> Container:
    """What is in an object file, library or program: the file at a path, or its bytes.

    `folder`: the debug information is wanted too (of ELF files); parts of it that are in other files may be in this
    folder, "" for the current one. Raises ObjectError for other files and for code of an unknown instruction set, and
    OSError.
    """
    if isinstance(source, bytes):
        start, data = source[:_START], source
    else:
        with open(source, "rb") as file:
            start = file.read(_START)
            data = start + file.read() if elf.is_object(start) else b""
    if not start:
        raise ObjectError("the file is empty")
    if (found := elf.read_object(data)) and (container := _container(found, folder)):
        return container
    import warnings

    import lief  # 0.6 s of processor time

    lief.logging.disable()
    # Numbers that no enumeration of lief has a name for are common in damaged files, and nothing that users could mend.
    warnings.filterwarnings("ignore", category=RuntimeWarning, module=r"incc\.frontends\.objects\.read")
    # COFF has no other magic number than that of its machine.
    coff = int.from_bytes(start[:2], "little") in [isa(name).machine.coff for name in names()]
    binary: Any = lief.COFF.parse(source) if coff else lief.parse(source)
    if binary is None:
        raise ObjectError("not an ELF, PE/COFF or Mach-O file")
    debug: DebugInformation | None = None
    if isinstance(binary, lief.ELF.Binary):
        name = _isa_of(binary.header.machine_type)
        sections = list(_elf(lief, binary, isa(name).machine.pc_relative))
        if folder is not None:
            from incc.frontends.objects.debug import debug_information

            is_object = binary.header.file_type == lief.ELF.Header.FILE_TYPE.REL
            debug = debug_information(binary.sections, is_object, isa(name).machine.absolute, folder, binary)
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
        if any(str(section.name).startswith(_GCC_LTO) for section in getattr(binary, "sections", ())):
            raise ObjectError("no code in it yet, only what gcc links with -flto: -ffat-lto-objects adds code")
        if isinstance(binary, lief.ELF.Binary) and binary.header.numberof_sections and not len(binary.sections):
            raise ObjectError("the file is cut off: its table of sections is missing")
        raise ObjectError("no code in it", True)
    return Container(name, tuple(sorted(sections, key=lambda section: (section.address, section.name))), debug)


def _isa_of(number: Any) -> str:
    wanted = _enum_name(number)
    for name in names():
        machine = isa(name).machine
        if wanted in machine.names:
            return name
        if wanted in machine.unread:
            raise ObjectError(machine.unread[wanted])
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


def _container(found: elf.ElfObject, folder: str | None) -> Container | None:
    """What is in an object as compilers make it; None where there is no code, or that of an unknown instruction set."""
    name = next((name for name in names() if isa(name).machine.elf == found.machine), "")
    if not name:
        return None
    from incc.frontends.objects.debug import debug_address, debug_information

    machine = isa(name).machine
    relocations = found.relocations(machine.pc_relative)
    functions: dict[int, list[tuple[int, str]]] = {}
    for number, at, function in found.functions():
        functions.setdefault(number, []).append((at, function))
    sections = [
        Section(
            name=section.name,
            address=0,
            data=section.content,
            executable=(executable := bool(section.flags & elf.EXECUTABLE)),
            functions=_functions(functions.get(number, ()), 0, section.size) if executable else (),
            relocations=tuple(sorted(relocations.get(number, ()), key=lambda r: r.offset)),
            alignment=max(1, section.alignment),
            debug_address=debug_address(number),
        )
        for number, section in enumerate(found.sections)
        if section.flags & elf.ALLOCATED and section.content
    ]
    if not any(section.executable for section in sections):
        return None
    debug = None if folder is None else debug_information(found.sections, True, machine.absolute, folder)
    return Container(name, tuple(sorted(sections, key=lambda section: section.name)), debug)


def _elf(lief: Any, binary: Any, pc_relative: frozenset[int]) -> Iterator[Section]:
    is_object = binary.header.file_type == lief.ELF.Header.FILE_TYPE.REL
    by_section: dict[str, list[Relocation]] = {}
    # Most relocations of an object with debug information are in that.
    loaded = {section.name for section in binary.sections if section.has(lief.ELF.Section.FLAGS.ALLOC)}
    for r in binary.object_relocations if is_object else ():
        section = r.section
        if section is None or (place := section.name) not in loaded:
            continue
        symbol = r.symbol
        name = str(symbol.name) if symbol is not None else ""
        if symbol is not None and not name and symbol.section is not None:
            name = str(symbol.section.name)
        relocation = Relocation(
            offset=int(r.address), symbol=name, addend=int(r.addend), pc_relative=int(r.type) & _KIND in pc_relative
        )
        by_section.setdefault(place, []).append(relocation)
    functions = [
        (int(s.shndx), int(s.value), str(s.name)) for s in binary.symbols if s.type == lief.ELF.Symbol.TYPE.FUNC
    ]
    from incc.frontends.objects.debug import debug_address

    for number, section in enumerate(binary.sections):
        if not section.has(lief.ELF.Section.FLAGS.ALLOC) or section.type == lief.ELF.Section.TYPE.NOBITS:
            continue
        if not section.size:
            continue
        executable = bool(section.has(lief.ELF.Section.FLAGS.EXECINSTR))
        start = 0 if is_object else int(section.virtual_address)
        symbols = [(value, name) for shndx, value, name in functions if (shndx == number if is_object else shndx)]
        yield Section(
            name=str(section.name),
            address=start,
            data=bytes(section.content),
            executable=executable,
            functions=_functions(symbols, start, section.size) if executable else (),
            relocations=tuple(sorted(by_section.get(section.name, ()), key=lambda r: r.offset)),
            alignment=max(1, section.alignment) if is_object else _PAGE,
            debug_address=debug_address(number) if is_object else start,
        )


def _pe(lief: Any, binary: Any) -> Iterator[Section]:
    symbols = [(f.address, str(f.name)) for f in (*binary.exported_functions, *binary.functions)]
    for section in binary.sections:
        executable = section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE)
        data = bytes(section.content)
        functions = _functions(symbols, section.virtual_address, len(data)) if executable else ()
        yield Section(
            name=str(section.name),
            address=section.virtual_address,
            data=data,
            executable=executable,
            functions=functions,
            relocations=(),
            alignment=_PAGE,
        )


def _coff(lief: Any, binary: Any) -> Iterator[Section]:
    for number, section in enumerate(binary.sections, start=1):
        if section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE) and section.size:
            symbols = [(s.value, str(s.name)) for s in binary.symbols if s.section_idx == number and s.is_function]
            data = bytes(section.content)
            yield Section(
                name=str(section.name),
                address=0,
                data=data,
                executable=True,
                functions=_functions(symbols, 0, len(data)),
                relocations=(),
                alignment=16,
            )


def _macho(lief: Any, binary: Any) -> Iterator[Section]:
    symbols = [(s.value, str(s.name)) for s in binary.symbols]
    flags = lief.MachO.Section.FLAGS
    is_object = binary.header.file_type == lief.MachO.Header.FILE_TYPE.OBJECT
    for section in binary.sections:
        executable = section.has(flags.PURE_INSTRUCTIONS) or section.has(flags.SOME_INSTRUCTIONS)
        data = bytes(section.content)
        functions = _functions(symbols, section.virtual_address, len(data)) if executable else ()
        # A damaged file may say any power.
        alignment = 1 << min(section.alignment, _LARGEST_POWER) if is_object else _PAGE
        yield Section(
            name=str(section.name),
            address=section.virtual_address,
            data=data,
            executable=executable,
            functions=functions,
            relocations=(),
            alignment=alignment,
        )
