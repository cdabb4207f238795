"""Loops of object files, libraries and programs (ELF, PE/COFF, Mach-O): machine code in, kernels out.

The code of each function is disassembled, written down as assembly text with labels, and read back by frontends.asm: so
objects have the same control-flow analysis as compilers' output has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from incc.frontends.kernel import Kernel, LeftOut

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.frontends.kernel import Instruction
    from incc.frontends.x86.elf import Relocation

ISA = "x86"
_PAGE = 4096


class ObjectError(Exception):
    """The file is no object of x86-64 code; the message says what it is, without the file's name."""


class Code(NamedTuple):
    """An executable section: its name, address and bytes, the functions in it and its relocations.

    `functions` are (offset, name), ascending, offsets in bytes from the section's start; `alignment` in bytes: its own
    before it is linked, then that of a page.
    """

    name: str
    address: int
    data: bytes
    functions: tuple[tuple[int, str], ...]
    relocations: tuple[Relocation, ...]
    alignment: int


def read_code(path: str) -> list[Code]:
    """The executable sections of an object file, library or program, by address.

    Raises ObjectError for other files, and OSError.
    """
    with open(path, "rb") as file:
        magic = file.read(4)
    if not magic:
        raise ObjectError("the file is empty")
    import lief  # 0.3 s: only objects pay for it

    lief.logging.disable()
    binary: Any = lief.COFF.parse(path) if magic[:2] == b"\x64\x86" else lief.parse(path)
    if binary is None:
        raise ObjectError("not an ELF, PE/COFF or Mach-O file")
    if isinstance(binary, lief.ELF.Binary):
        sections = list(_elf(lief, binary))
    elif isinstance(binary, lief.PE.Binary):
        sections = list(_pe(lief, binary))
    elif isinstance(binary, lief.MachO.Binary):
        sections = list(_macho(lief, binary))
    else:
        sections = list(_coff(lief, binary))
    if not sections:
        raise ObjectError("no code in it")
    return sorted(sections, key=lambda code: (code.address, code.name))


def _functions(symbols: Sequence[tuple[int, str]], start: int, size: int) -> tuple[tuple[int, str], ...]:
    """(address, name) of symbols to (offset, name) of those in a section; of several at one place the first."""
    inside: dict[int, str] = {}
    for address, name in symbols:
        if start <= address < start + size and name:
            inside.setdefault(address - start, name)
    return tuple(sorted(inside.items()))


def _elf(lief: Any, binary: Any) -> Iterator[Code]:
    from incc.frontends.x86.elf import Relocation

    if binary.header.machine_type != lief.ELF.ARCH.X86_64:
        raise ObjectError(f"code for {_enum_name(binary.header.machine_type)}, not for x86-64")
    is_object = binary.header.file_type == lief.ELF.Header.FILE_TYPE.REL
    sections = list(binary.sections)
    by_section: dict[str, list[Relocation]] = {}
    if is_object:
        pc_relative = {
            getattr(lief.ELF.Relocation.TYPE, f"X86_64_{kind}")
            for kind in ("PC8", "PC16", "PC32", "PC64", "PLT32", "GOTPCREL", "GOTPCRELX", "REX_GOTPCRELX")
        }
        for r in binary.object_relocations:
            if not r.has_section or r.section is None:
                continue
            symbol = r.symbol
            name = str(symbol.name) if symbol is not None else ""
            if symbol is not None and not name and symbol.section is not None:
                name = str(symbol.section.name)
            by_section.setdefault(r.section.name, []).append(
                Relocation(int(r.address), name, int(r.addend), r.type in pc_relative)
            )
    for number, section in enumerate(sections):
        if not section.has(lief.ELF.Section.FLAGS.EXECINSTR) or not section.size:
            continue
        start = 0 if is_object else section.virtual_address
        symbols = [
            (s.value, str(s.name))
            for s in binary.symbols
            if s.type == lief.ELF.Symbol.TYPE.FUNC and (s.shndx == number if is_object else s.shndx)
        ]
        relocations = sorted(by_section.get(section.name, ()), key=lambda r: r.offset)
        yield Code(
            str(section.name),
            start,
            bytes(section.content),
            _functions(symbols, start, section.size),
            tuple(relocations),
            max(1, section.alignment) if is_object else _PAGE,
        )


def _pe(lief: Any, binary: Any) -> Iterator[Code]:
    if binary.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        raise ObjectError(f"code for {_enum_name(binary.header.machine)}, not for x86-64")
    symbols = [(f.address, str(f.name)) for f in (*binary.exported_functions, *binary.functions)]
    for section in binary.sections:
        if section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE):
            data = bytes(section.content)
            functions = _functions(symbols, section.virtual_address, len(data))
            yield Code(str(section.name), section.virtual_address, data, functions, (), _PAGE)


def _coff(lief: Any, binary: Any) -> Iterator[Code]:
    if binary.header.machine != lief.PE.Header.MACHINE_TYPES.AMD64:
        raise ObjectError(f"code for {_enum_name(binary.header.machine)}, not for x86-64")
    for number, section in enumerate(binary.sections, start=1):
        if section.has_characteristic(lief.PE.Section.CHARACTERISTICS.MEM_EXECUTE) and section.size:
            symbols = [(s.value, str(s.name)) for s in binary.symbols if s.section_idx == number and s.is_function]
            data = bytes(section.content)
            yield Code(str(section.name), 0, data, _functions(symbols, 0, len(data)), (), 16)


def _macho(lief: Any, binary: Any) -> Iterator[Code]:
    if binary.header.cpu_type != lief.MachO.Header.CPU_TYPE.X86_64:
        raise ObjectError(f"code for {_enum_name(binary.header.cpu_type)}, not for x86-64")
    symbols = [(s.value, str(s.name)) for s in binary.symbols]
    flags = lief.MachO.Section.FLAGS
    is_object = binary.header.file_type == lief.MachO.Header.FILE_TYPE.OBJECT
    for section in binary.sections:
        if section.has(flags.PURE_INSTRUCTIONS) or section.has(flags.SOME_INSTRUCTIONS):
            data = bytes(section.content)
            functions = _functions(symbols, section.virtual_address, len(data))
            alignment = 1 << section.alignment if is_object else _PAGE
            yield Code(str(section.name), section.virtual_address, data, functions, (), alignment)


def _enum_name(value: Any) -> str:
    return str(value).rsplit(".", 1)[-1]


# --- machine code as text ---------------------------------------------------------------------------------------------


def object_kernels(path: str) -> tuple[list[Kernel], list[LeftOut]]:
    """The innermost loops of an object's functions, and the cycles that are left out; "lines" count instructions of the
    section's disassembly. Raises ObjectError and OSError."""
    kernels: list[Kernel] = []
    left_out: list[LeftOut] = []
    for code in read_code(path):
        found, missed = _section_kernels(code)
        kernels += found
        left_out += missed
    return kernels, left_out


def _section_kernels(code: Code) -> tuple[list[Kernel], list[LeftOut]]:
    from incc.frontends.asm.before import code_before
    from incc.frontends.asm.parse import parse
    from incc.frontends.asm.regions import innermost_loops
    from incc.frontends.x86.entry import entry_values

    instructions = list(_disassemble(code))
    text, at_line = _as_text(code, instructions)
    assembly = parse(text, ISA)
    regions, left_out = innermost_loops(assembly)
    kernels = []
    for region, before in zip(regions, code_before(assembly, regions), strict=True):
        chosen = tuple(at_line[line]._replace(line=0) for line in region.lines)
        first = chosen[0].offset
        unit = min(64, code.alignment)
        entry = entry_values(before, chosen, lambda line: (at_line[line],)) if before is not None else ()
        name = f"{region.function or code.name}+{first - code.address - _start_of(code, first - code.address):#x}"
        region = region._replace(name=name)
        kernels.append(Kernel(name, ISA, region, chosen, True, first % unit, entry=entry, alignment_unit=unit))
    return kernels, left_out


def _start_of(code: Code, offset: int) -> int:
    return max((start for start, _ in code.functions if start <= offset), default=0)


def _disassemble(code: Code) -> Iterator[Instruction]:
    """All instructions of a section, in order: from each function's start, data between them skipped."""
    from incc.frontends.x86.decode import UndecodableError, decode

    starts = sorted({0, *(start for start, _ in code.functions)})
    relocations, next_relocation = code.relocations, 0
    for start, end in zip(starts, [*starts[1:], len(code.data)], strict=True):
        at = start
        while at < end:
            while next_relocation < len(relocations) and relocations[next_relocation].offset < at:
                next_relocation += 1
            here = [r for r in relocations[next_relocation : next_relocation + 2] if r.offset < at + 15]
            try:
                instruction = decode(code.data[at : min(end, at + 15)], code.address + at, section=code.name)
                mine = tuple(r for r in here if r.offset < at + instruction.length)
                if mine and instruction.branch:
                    # What the linker will fill in: a name, unless the target is in this section.
                    symbol, distance = mine[0].symbol, mine[0].addend + 4
                    start_of = {name: start for start, name in code.functions}
                    start_of[code.name] = 0
                    if symbol in start_of and instruction.branch != "call":
                        symbol = f"{start_of[symbol] + distance:#x}"
                    instruction = instruction._replace(target=symbol)
                elif mine:  # only objects have them, and their sections are at address 0
                    instruction = decode(code.data[at : at + instruction.length], at, "", 0, mine, code.name)
            except UndecodableError:
                break  # data, or code of another mode: the next function has a start of its own
            yield instruction
            at += instruction.length


def _as_text(code: Code, instructions: Sequence[Instruction]) -> tuple[str, dict[int, Instruction]]:
    """The instructions as assembly text, a label at every target of a branch; and the instruction of each line."""
    places = {i.offset for i in instructions}
    targets: dict[int, int] = {}
    for i in instructions:
        if i.branch in ("conditional", "unconditional") and i.target.startswith("0x") and int(i.target, 16) in places:
            targets[i.offset] = int(i.target, 16)
    labels = set(targets.values())
    names = {code.address + start: name for start, name in code.functions}
    lines: list[str] = ["\t.text"]
    at_line: dict[int, Instruction] = {}
    for i in instructions:
        if i.offset in names:
            name = _quoted(names[i.offset])
            lines += [f"\t.type {name}, @function", f"{name}:"]
        if i.offset in labels:
            lines.append(f".L{i.offset:x}:")
        if i.offset in targets:
            lines.append(f"\t{i.mnemonic} .L{targets[i.offset]:x}")
        elif i.branch in ("conditional", "unconditional", "call") and i.target:
            lines.append(f"\t{i.mnemonic} {_quoted(names.get(_address(i.target), i.target))}")
        else:
            lines.append(f"\t{i.text}")
        at_line[len(lines)] = i
    return "\n".join([*lines, ""]), at_line


def _address(target: str) -> int:
    return int(target, 16) if target.startswith("0x") else -1


def _quoted(name: str) -> str:
    """A symbol as one word of assembly text."""
    return "".join(c if c.isalnum() or c in "_.$@" else "_" for c in name)
