"""One run of an assembler over a whole file, which maps its lines to their bytes.

Labels put around the wanted statements, on the same lines, tell where their bytes are. Everything else is assembled
unchanged, so that alignment and jump sizes are the real ones. Statements that the assembler refuses are removed and
reported.
"""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec.structs import replace

from incc.frontends.assembling import (
    READS_FILES,
    AssemblerError,
    AssemblerResult,
    TextError,
    disk_full,
    run,
    temporary_folder,
)
from incc.frontends.elf import OBJECT, PROGBITS, RELOCATIONS, RELOCATIONS_IN_PLACE, ElfError, read_elf
from incc.frontends.isa import word_set
from incc.frontends.kernel import Refused, Relocation
from incc.frontends.x86.classify import PREFIXES
from incc.frontends.x86.iced import Narrow
from incc.support.isolated import isolated


class Encoded(msgspec.Struct, frozen=True, kw_only=True):
    """The bytes of one statement. A macro has those of several instructions, or none."""

    text: str
    """The statement without labels, comments and redundant blanks."""
    line: int
    """1-based."""
    section: str
    alignment: int
    """The alignment of the section in bytes."""
    number: int = 0
    """The number of the section; several may have one name."""
    offset: int
    """The statement's offset in the section, in bytes."""
    code: bytes
    relocations: tuple[Relocation, ...]
    """Those within the bytes. Their offsets count from the start of the section."""


class AssembledLines(msgspec.Struct, frozen=True):
    """The statements of each wanted line, in order."""

    statements: dict[int, tuple[Encoded, ...]]
    refused: dict[int, tuple[Refused, ...]]
    symbols: Mapping[str, tuple[int, int]] = {}
    """The number of the section and the offset of each symbol, with those that mark statements."""


# One round removes all statements that the assembler names; LLVM in llvmlite names one at a time.
_MAX_ROUNDS = 64

# --- statements ------------------------------------------------------------------------------------------------------

_LABEL = re.compile(r'\s*(?:[\w.$@?]+|"[^"]*")\s*:(?!:)')
_ASSIGNMENT = re.compile(r"[\w.$@?]+\s*=")
# Characters of lines that may be something else than a single statement.
_more = re.compile(r"""[;:#/"={]""").search

ALONE = "{alone} "
"""The mark of a prefix that is an instruction of its own, as it is for LLVM."""


def _pieces(line: str) -> list[str]:
    """Return the statements of a line with their labels, without comments."""
    if "/*" in line:
        line = re.sub(r"/\*.*?(?:\*/|$)", " ", line)
    if '"' not in line:
        # GNU as knows // only at the start of a line, but people write it; no x86 operand has it.
        return line.partition("#")[0].partition("//")[0].split(";")
    pieces, start, quoted, position = [], 0, False, 0
    while position < len(line):
        character = line[position]
        if quoted and character == "\\":
            position += 1
        elif character == '"':
            quoted = not quoted
        elif not quoted and character == ";":
            pieces.append(line[start:position])
            start = position + 1
        elif not quoted and character == "#":
            break
        position += 1
    pieces.append(line[start:position])
    return pieces


def is_one_statement(text: str) -> bool:
    """Return True if a stripped line is obviously a single instruction, as most lines are."""
    return not (_more(text) or text[:1] in ("", ".") or text.lower() in PREFIXES)


def _split_labels(piece: str) -> tuple[str, str]:
    """Return the labels before a statement, and the statement without redundant blanks."""
    end = 0
    while match := _LABEL.match(piece, end):
        end = match.end()
    return piece[:end], " ".join(piece[end:].split())


class _Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A wanted statement."""

    line: int
    text: str
    start: str
    """The label before it."""
    end: str
    """The label after it."""
    bits: int = 64
    """The mode that it is code of."""


# --- dropped directives and sections ---------------------------------------------------------------------------------

# Directives that leave no bytes in the code but take time, or that not every assembler knows (other versions, other
# object formats) or evaluates: in Intel's syntax a function may be called as a register is (`.size st, .-st`). Line and
# call frame information is not used.
_DROPPED = word_set(
    ".loc .file .ident .line .size .addrsig .addrsig_sym .build_version .subsections_via_symbols .macosx_version_min "
    ".version .stabs .stabn .stabd .bundle_align_mode .loc_mark_labels .appfile"
)
_DROPPED_PREFIXES = (".cfi_", ".cv_", ".seh_")
_SECTION_CHANGES = word_set(".section .pushsection .popsection .previous .text .data .bss .subsection")
_DROPPED_SECTIONS = tuple(word_set(".debug .eh_frame .gcc_except_table .note .comment .stab .gnu. .llvm __DWARF"))
_BLOCK_STARTS = word_set(".macro .rept .irp .irpc .rep")
_BLOCK_ENDS = word_set(".endm .endr .endmacro")


# Data, which .bss cannot have, and numbers of symbols, which assemblers must know. Tools that take sections or `.loc`
# out of a text leave debug information in .bss, without the symbols that `.loc` defined (.LVU1).
_DATA = word_set(
    ".byte .2byte .4byte .8byte .value .short .word .hword .long .int .quad .octa .ascii .asciz .string .single .float "
    ".double .fill"
)
_NUMBERS = word_set(".uleb128 .sleb128")


class _Dropping:
    """The sections that the directives of a text change to; lines that the code does not need are left out."""

    def __init__(self) -> None:
        self._section = ""
        self._previous = ""
        self._stack: list[str] = []
        self.depth = 0
        """The number of open macros or repeated blocks."""

    def kept(self, line: str) -> str:
        """Return a line as it is to be assembled, "" if it is left out."""
        if ";" in line and "'" not in line and "/*" not in line and len(pieces := _pieces(line)) > 1:
            return ";".join([self.kept(piece) for piece in pieces])
        stripped = line.lstrip()
        dropping = self._section == "dropped"
        if stripped[:1] != ".":
            is_line_number = stripped[:1] == "#" and re.match(r"#\s*(?:line\s+)?\d+\s", stripped)
            return "" if dropping or is_line_number else line
        word = stripped.split(None, 1)[0]
        if word in _SECTION_CHANGES:
            self._change_section(word, stripped[len(word) :].strip().strip('"'))
        elif word in _BLOCK_STARTS:
            self.depth += 1
        elif word in _BLOCK_ENDS:
            self.depth = max(self.depth - 1, 0)
        elif dropping or (";" not in stripped and self._is_unneeded(word, stripped[len(word) :].lstrip())):
            return ""
        return line

    def _is_unneeded(self, word: str, operand: str) -> bool:
        if word in _DROPPED or word.startswith(_DROPPED_PREFIXES):
            return True
        return (word in _NUMBERS and not operand[:1].isdigit()) or (word in _DATA and self._section == "bss")

    def _change_section(self, word: str, name: str) -> None:
        before = self._section
        if word == ".pushsection":
            self._stack.append(before)
        if word == ".popsection":
            self._section = self._stack.pop() if self._stack else ""
        elif word == ".previous":
            self._section = self._previous
        elif word != ".subsection":
            named = word in (".section", ".pushsection")
            self._section = "dropped" if named and name.startswith(_DROPPED_SECTIONS) else ""
            if word == ".bss" or (named and name.startswith((".bss", ".tbss"))):
                self._section = "bss"
        self._previous = before


# --- labels around the wanted statements -----------------------------------------------------------------------------


def _mark(lines: list[str], wanted: set[int]) -> tuple[list[str], list[_Statement], dict[int, tuple[Refused, ...]]]:
    """Return the text to assemble, line for line, the wanted statements, and the lines that cannot be marked."""
    marked: list[str] = []
    statements: list[_Statement] = []
    refused: dict[int, tuple[Refused, ...]] = {}
    dropping = _Dropping()
    carried: _Carried | None = None
    for number, line in enumerate(lines, 1):
        if number not in wanted:
            if carried and line.lstrip()[:1] not in ("", "#") and _split_labels(_pieces(line)[0])[1]:
                refused[carried.line] = (carried.refused(),)
                carried = None
            marked.append(dropping.kept(line))
        elif dropping.depth:
            reason = "inside a macro or repeat block"
            refused[number] = (Refused(number, " ".join(line.split()), reason),)
            marked.append(line)
        else:
            text, carried = _mark_line(line, number, statements, carried)
            marked.append(text)
    if carried:
        refused[carried.line] = (carried.refused(),)
    return marked, statements, refused


class _Carried(msgspec.Struct, frozen=True):
    """Prefixes whose instruction is on a later line."""

    label: str
    """The label before them."""
    text: str
    line: int
    """The line of the last prefix."""

    def refused(self) -> Refused:
        return Refused(self.line, self.text.strip(), "a prefix without its instruction")


def _mark_line(
    line: str, number: int, statements: list[_Statement], carried: _Carried | None
) -> tuple[str, _Carried | None]:
    """Return a line with labels around its instructions, and the prefixes at its end that wait for theirs.

    Adds the instructions to `statements`. `carried` are prefixes on the lines before.
    """
    if carried is None and not _more(line):
        text = " ".join(line.split())
        if text and text[0] != "." and text.lower() not in PREFIXES:
            count = len(statements)
            start, end = f"__incc_{count}_{number}", f"__incc_e{count}"
            statements.append(_Statement(line=number, text=text, start=start, end=end))
            return f"{start}: {text}; {end}:", None
    parts: list[str] = []
    for piece in _pieces(line):
        labels, text = _split_labels(piece)
        instruction = text and text[0] != "." and not _ASSIGNMENT.match(text)
        if labels:
            parts.append(labels)
        if not instruction:
            if text:
                parts.append(text)
            continue
        alone = text.startswith(ALONE)
        text = text.removeprefix(ALONE)
        start = carried.label if carried else f"__incc_{len(statements)}_{number}"
        prefix = carried.text if carried else ""
        parts.append(text if carried else f"{start}: {text}")
        if not alone and text.lower() in PREFIXES:
            carried = _Carried(start, prefix + text + " ", number)
            continue
        carried = None
        end = f"__incc_e{len(statements)}"
        parts.append(f"{end}:")
        statements.append(_Statement(line=number, text=prefix + text, start=start, end=end))
    return "; ".join(parts), carried


NARROW_TARGET = ".code32; "
"""The beginning of a text for a target of 32 bits, which the drivers write."""

_MODE = r"(?i)(?:^|[;:])[ \t]*\.code(16|32|64)(?:gcc)?\b"


def _with_modes(lines: list[str], statements: list[_Statement]) -> list[_Statement]:
    """Return the statements with their modes, as `.code32` and the like set them."""
    changes: list[tuple[int, int, int]] = []  # line, column, and the bits of the mode that begins there
    for number, line in enumerate(lines, 1):
        if ".code" in line.lower():
            modes = re.finditer(_MODE, line.partition("#")[0])
            changes += [(number, mode.start(), int(mode[1])) for mode in modes]
    result = []
    for statement in statements:
        place = statement.line, lines[statement.line - 1].find(statement.text.partition(" ")[0]), 0
        behind = bisect_left(changes, place)
        result.append(replace(statement, bits=changes[behind - 1][2] if behind else 64))
    return result


# --- the object -------------------------------------------------------------------------------------------------------

_EM_386, _EM_X86_64 = 3, 62

# Relocation types of the x86-64 psABI (4.4.1, table 4.9), relative to their own address or not, and the suffix of those
# that refer to other memory than the symbol's own.
_PC_RELATIVE = {2: "", 4: "", 9: "@GOTPCREL", 13: "", 15: "", 19: "@TLSGD", 20: "@TLSLD", 22: "@GOTTPOFF", 24: ""}
_PC_RELATIVE |= {26: "", 28: "@GOTPCREL", 29: "", 34: "@TLSDESC", 41: "@GOTPCREL", 42: "@GOTPCREL"}
_ABSOLUTE = {3: "@GOT", 17: "@DTPOFF", 18: "@TPOFF", 21: "@DTPOFF", 23: "@TPOFF", 25: "@GOTOFF", 27: "@GOT"}
# The same of the i386 psABI (4.1, table 4.10, and binutils' include/elf/i386.h).
_PC_RELATIVE_386 = {2: "", 4: "", 10: "", 21: "", 23: ""}
_ABSOLUTE_386 = {3: "@GOT", 9: "@GOTOFF", 14: "@TPOFF", 15: "@INDNTPOFF", 16: "@GOTNTPOFF", 17: "@NTPOFF", 18: "@TLSGD"}
_ABSOLUTE_386 |= {19: "@TLSLDM", 32: "@DTPOFF", 33: "@GOTTPOFF", 34: "@TPOFF", 39: "@TLSDESC", 43: "@GOT"}
_SHORT_386 = {20: 2, 21: 2, 22: 1, 23: 1}
"""The sizes in bytes of the fields that have fewer than four."""


class _Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section with contents of an assembled object."""

    name: str
    alignment: int
    """In bytes."""
    data: bytes
    relocations: tuple[Relocation, ...]
    """In the order of their offsets."""
    relocated: tuple[int, ...]
    """Their offsets."""

    def encoded(self, number: int, line: int, text: str, start: int, end: int, bits: int = 64) -> Encoded:
        """Return the statement with the bytes between two offsets of this section, whose number is given."""
        code = self.data[start:end]
        low, high = bisect_left(self.relocated, start), bisect_left(self.relocated, end)
        return Encoded(
            text=text,
            line=line,
            section=self.name,
            alignment=self.alignment,
            number=number,
            offset=start,
            code=_narrow(code) if bits == 32 else code,
            relocations=self.relocations[low:high],
        )


class _Object(msgspec.Struct, frozen=True):
    """An assembled object."""

    sections: dict[int, _Section]
    """By their numbers."""
    symbols: dict[str, tuple[int, int]]
    """The number of the section and the offset in bytes of each symbol that is defined."""


def read_object(data: bytes, flags: int = 0) -> _Object:
    """Read the sections with contents and these flags of an object for x86 of 64 or 32 bits. Raises ElfError."""
    elf = read_elf(data)
    if elf.machine not in (_EM_386, _EM_X86_64):
        raise ElfError(f"an object for another machine (e_machine {elf.machine}), not x86-64")
    if elf.kind != OBJECT:
        raise ElfError("a linked file, not an object")
    narrow = elf.machine == _EM_386
    relative, absolute = (_PC_RELATIVE_386, _ABSOLUTE_386) if narrow else (_PC_RELATIVE, _ABSOLUTE)
    symbols = list(elf.symbols())
    relocations: dict[int, list[Relocation]] = {}
    in_place: dict[int, list[tuple[int, int]]] = {}
    read = [n for n, section in enumerate(elf.sections) if section.type == PROGBITS and section.flags & flags == flags]
    for section in elf.sections:
        if section.type not in (RELOCATIONS, RELOCATIONS_IN_PLACE) or section.information not in read:
            continue
        into = relocations.setdefault(section.information, [])
        for entry in elf.relocations(section):
            if entry.symbol >= len(symbols):
                raise ElfError("the object is damaged: a relocation has no symbol")
            suffix = relative.get(entry.kind)
            if section.type == RELOCATIONS_IN_PLACE:
                in_place.setdefault(section.information, []).append((entry.offset, _SHORT_386.get(entry.kind, 4)))
            into.append(
                Relocation(
                    offset=entry.offset,
                    symbol=symbols[entry.symbol].name + (absolute.get(entry.kind, "") if suffix is None else suffix),
                    addend=entry.addend,
                    pc_relative=suffix is not None,
                )
            )
    sections = {}
    for number in read:
        section = elf.sections[number]
        of_section = tuple(sorted(relocations.get(number, ()), key=lambda r: r.offset))
        fields = in_place.get(number)
        sections[number] = _Section(
            name=section.name,
            alignment=section.alignment,
            data=_unfilled(section.content, fields) if fields else bytes(section.content),
            relocations=of_section,
            relocated=tuple([r.offset for r in of_section]),
        )
    return _Object(sections, {s.name: (s.section, s.value) for s in symbols if s.section in sections})


def _unfilled(content: memoryview, fields: Iterable[tuple[int, int]]) -> bytes:
    """Return the contents of a section with zeros in these fields (offset, size), as they are in 64-bit objects."""
    data = bytearray(content)
    for offset, size in fields:
        data[offset : offset + size] = bytes(size)
    return bytes(data[: len(content)])


# --- running an assembler --------------------------------------------------------------------------------------------


_GNU = "as"

TRUSTED = "--trusted"
"""The option of `llvm/assembler.py` for a text that may read other files."""


def _default_commands(narrow: bool) -> list[list[str]]:
    bits = "--32" if narrow else "--64"
    return [[_GNU, bits], [*isolated("incc.frontends.x86.llvm.assembler", "run"), bits]]


def _run_over(
    command: Sequence[str], source: str, folder: str, meanwhile: Callable[[], object] | None, trusted: bool
) -> AssemblerResult:
    """Run one of the assemblers over a text, which may read other files only if it is `trusted`."""
    if command[0] == _GNU:
        return run(command, source, folder, meanwhile, not trusted, "" if trusted else "--MD")
    # LLVM's confines itself, once Python has read its modules.
    return run([*command, *([TRUSTED] if trusted else [])], source, folder, meanwhile)


heard: list[str] = []
"""The assembler's messages on the last text, errors and warnings; cleared by `assemble`."""

# Compiled where they are used, because most runs have no messages: those of GNU as and clang, and of llvmlite.
_ERROR = r"^(?:.*in\.s:(\d+)(?::\d+)?: (?:[Ff]atal )?[Ee]rror: |error: <inline asm>:(\d+):\d+: )(.*)$"
_DENIED = r"can't open .* for reading|file not found: |Could not find inc(?:lude|bin) file"
_FOREIGN = r"(?!.*in\.s:)[^:]*:\d+: "
"""The beginning of a message about a line of another file."""
_UNDEFINED = r"Undefined temporary symbol (\S+)"
_MNEMONIC = r"[`'\"]([\w.]+)"


def _reason(statement: str, message: str) -> str:
    """Return the reason that a statement is refused: an assembler's message, unless that is on the marked text."""
    if statement.count('"') % 2:
        return "a string without an end; close it with another quotation mark"
    if "__incc_" in message or statement.endswith("'"):  # which makes a number of the next character
        return "the end of the statement is missing"
    return message


def mnemonic(text: str) -> str:
    """Return the mnemonic of a statement, without the prefixes before it."""
    return next((word for word in text.split() if word.lower() not in PREFIXES), "")


def _blank(marked: list[str], number: int, message: str, statements: list[_Statement]) -> list[tuple[int, str]]:
    """Remove a refused statement from its line, whose wanted statements are given.

    If the line has several statements and the message names a mnemonic, only those with the mnemonic are removed.

    Returns:
        Line and text of the wanted statements that were removed.
    """
    line = marked[number - 1]
    named = re.search(_MNEMONIC, message)
    if len(statements) > 1 and named:
        guilty = [s for s in statements if mnemonic(s.text).startswith(named.group(1))]
        if guilty and len(guilty) < len(statements):
            starts = {statement.start for statement in guilty}
            parts = [p for p in line.split("; ") if p.partition(":")[0] not in starts]
            marked[number - 1] = "; ".join(parts)
            if marked[number - 1] != line:
                return [(s.line, s.text) for s in guilty]
    marked[number - 1] = ""
    return [(s.line, s.text) for s in statements]


def assemble(
    text: str,
    lines: Iterable[int],
    assembler: Sequence[str] | None = None,
    meanwhile: Callable[[], object] | None = None,
    trusted: bool = False,
) -> AssembledLines:
    """Assemble a text and return the bytes of the statements on some of its lines.

    Args:
        text: the assembly.
        lines: the lines with the wanted statements, 1-based.
        assembler: a command that takes `-o OUT IN`, such as `clang -c -x assembler`; by default `as`, or LLVM's
            assembler if `as` is missing or made for another machine.
        meanwhile: called while the assembler runs.
        trusted: let the text read other files, by `.include` and `.incbin`.

    Raises:
        TextError: if the text reads other files, or takes too much time or memory.
        AssemblerError: if there is no assembler, or it fails for another reason than a statement that it refuses.
    """
    wanted = set(lines)
    marked, statements, refused = _mark(text.split("\n"), wanted)
    if ".code" in text.lower():
        statements = _with_modes(text.split("\n"), statements)
    heard.clear()
    commands = [list(assembler)] if assembler else _default_commands(text.startswith(NARROW_TARGET))
    with temporary_folder() as folder:
        for index, command in enumerate(commands):
            try:
                assembled, reasons = _assemble(command, list(marked), statements, folder, meanwhile, trusted)
                if reasons and index + 1 < len(commands):
                    with_bytes = _with_llvm(commands[-1], marked, statements, reasons, folder)
                    if with_bytes is not None:
                        assembled, reasons = _assemble(command, with_bytes, statements, folder, None, trusted)
                break
            except TextError:
                raise
            except AssemblerError:
                if index + 1 == len(commands):
                    raise
    for number, line_reasons in reasons.items():
        refused[number] = refused.get(number, ()) + line_reasons
    return _collect(assembled, statements, refused)


_MOST_FOR_LLVM = 500
"""Statements of one file to give to LLVM. If more are refused, the reason is not that an assembler is too old."""

_LONGEST_FOR_LLVM = 1 << 12
"""Characters of such a statement: LLVM compares a wrong mnemonic of a million letters with all others."""

_GATHER_SIZE = r"(?i)^(vp?(?:gather|scatter).*?)\b\w+ ptr "


def _with_llvm(
    command: list[str],
    marked: list[str],
    statements: list[_Statement],
    refused: dict[int, tuple[Refused, ...]],
    folder: str,
) -> list[str] | None:
    """Return the text with the bytes that LLVM's assembler makes of refused statements, None if it makes none.

    These are instructions that are newer than the other assembler, and operands that LLVM writes in another way.
    """
    places = {(reason.line, reason.text) for reasons in refused.values() for reason in reasons}
    newer = [s for s in statements if (s.line, s.text) in places and len(s.text) < _LONGEST_FOR_LLVM][:_MOST_FOR_LLVM]
    if not newer:
        return None
    text = list(marked)
    for statement, digits in zip(newer, _llvm_objects(command, newer, _dialects(marked), folder), strict=False):
        # A prefix on a line of its own stays there, and its statement remains refused.
        place = f"{statement.start}: {statement.text}"
        if digits and place in text[statement.line - 1]:
            code = ",".join(f"0x{byte:02x}" for byte in read_elf(bytes.fromhex(digits)).content(".text"))
            text[statement.line - 1] = text[statement.line - 1].replace(place, f"{statement.start}: .byte {code}")
    return text if text != marked else None


def _dialects(lines: list[str]) -> list[str]:
    """Return the dialect of each line, "att" or "intel"."""
    dialect, dialects = "att", []
    for line in lines:
        if "_syntax" in line and (match := re.search(r"\.(intel|att)_syntax\b", line)):
            dialect = match[1]
        dialects.append(dialect)
    return dialects


_MODIFIER = r"@[A-Za-z]\w*"
_SUM = r"([A-Za-z_.][\w.$]*)[ \t]*[-+][ \t]*[A-Za-z_.][\w.$]*"
_NEGATIVE = r"\$-[ \t]*(?=[A-Za-z_.])"
_TEMPORARY = r"(?<![\w.$@?])\.L(?=[\w.$])"


def _llvm_objects(command: list[str], statements: list[_Statement], dialects: list[str], folder: str) -> list[str]:
    """Return LLVM's object of each statement, as `_each` does. `dialects` are those of all lines of the text."""
    texts = []
    for statement in statements:
        text = statement.text
        if dialects[statement.line - 1] == "intel":
            # Up to LLVM 19 the operand of a gather has the vector's size, later the element's; without one it fits all.
            text = re.sub(_GATHER_SIZE, r"\1", text)
        texts.append(_for_elf(f".code32; {text}" if statement.bits == 32 else text))
    of_statement = [dialects[statement.line - 1] for statement in statements]
    objects = _each(command, of_statement, texts, folder)
    # Relations between symbols that only the linker can resolve do not change the bytes. Neither does a symbol that
    # LLVM wants to be defined.
    plain = [re.sub(_NEGATIVE, "$", re.sub(_SUM, r"\1", re.sub(_MODIFIER, "", text))) for text in texts]
    plain = [re.sub(_TEMPORARY, "L", text) for text in plain]
    if again := [n for n, digits in enumerate(objects) if not digits and plain[n] != texts[n]]:
        second = _each(command, [of_statement[n] for n in again], [plain[n] for n in again], folder)
        for n, digits in zip(again, second, strict=False):
            objects[n] = digits
    return objects


def _each(command: list[str], dialects: list[str], texts: list[str], folder: str) -> list[str]:
    """Return LLVM's object of each statement in hexadecimal, "" if it refuses the statement; none if LLVM fails."""
    source = "".join(f"{dialect}\t{text}\n" for dialect, text in zip(dialects, texts, strict=True))
    try:
        result = _run_over([*command, "--each"], source, folder, None, False)
    except (OSError, AssemblerError):
        return []
    return [] if result.status else result.data.decode("ascii").split("\n")[: len(texts)]


# A string, which stays as it is; a name that Windows' calling conventions and constants have (`_f@8`, `@f@8`,
# `__real@40200000`); a relation that only the linkers of COFF and Mach-O know.
_NOT_OF_ELF = r"""(?x) "[^"\n]*"
    | (?<![\w.$@?]) ( @[\w.$]+@\d+ | [A-Za-z_.$?][\w.$?]* @ (?:(?:[\da-f]{8})+ | \d+) ) (?![\w.$@?])
    | @(?:SECREL32|IMGREL|TLVP)\b"""

_MAY_BE_NOT_OF_ELF = r"@(?: *(?:\d|[\da-f]{8})|SECREL32|IMGREL|TLVP)"
"""A part of each of these, which is faster to find."""


def _for_elf(text: str) -> str:
    """Return a text with the names of other object formats as an assembler for ELF reads them: in quotes."""
    if "@" not in text or not re.search(_MAY_BE_NOT_OF_ELF, text):
        return text
    return re.sub(_NOT_OF_ELF, lambda match: f'"{match[1]}"' if match[1] else match[0] * (match[0][0] == '"'), text)


def _failure(command: str, result: AssemblerResult, folder: str, trusted: bool) -> AssemblerError:
    """Return the error for an assembler that failed for another reason than a statement."""
    if result.status < 0:
        return AssemblerError(f"the assembler {command!r} was ended by signal {-result.status}")
    if os.statvfs(folder).f_bavail == 0:
        return disk_full(folder)
    # Other messages may quote files that the text includes.
    own = [m for m in result.messages.splitlines() if not re.match(_FOREIGN, m) or trusted]
    first = next((m for m in own if "rror" in m), own[0][:200] if own else "")
    return AssemblerError(
        f"the assembler {command!r} failed with status {result.status}" + (f": {first}" if first else "")
    )


def _assemble(
    command: list[str],
    marked: list[str],
    statements: list[_Statement],
    folder: str,
    meanwhile: Callable[[], object] | None,
    trusted: bool,
) -> tuple[_Object, dict[int, tuple[Refused, ...]]]:
    """Return the object of a text without the statements that the assembler refuses, and these by their line.

    Statements are removed from `marked`.
    """
    refused: dict[int, list[Refused]] = {}
    undefined: list[str] = []
    of_line: dict[int, list[_Statement]] = {}
    for _ in range(_MAX_ROUNDS):
        source = _for_elf("\n".join(marked)) + "\n"
        if undefined:
            # LLVM insists that local labels are defined, GNU as does not. In a section of their own they keep jumps to
            # them as long as those to any other section.
            source += '.section .text.incc_undefined,"ax",@progbits\n' + "".join(f"{name}:\n" for name in undefined)
        try:
            result = _run_over(command, source, folder, meanwhile, trusted)
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
                raise disk_full(folder) from None
            raise AssemblerError(f"cannot run the assembler {command[0]!r}: {error.strerror}") from None
        meanwhile = None
        if not trusted and re.search(_DENIED, result.messages):
            raise TextError(READS_FILES)
        heard.extend(result.messages.splitlines())
        if result.data:
            try:
                return read_object(result.data), {line: tuple(each) for line, each in refused.items()}
            except ElfError as error:
                raise AssemblerError(f"the assembler {command[0]!r} wrote no usable object: {error}") from None
        matches = reversed(list(re.finditer(_ERROR, result.messages, re.MULTILINE)))  # the first of a line counts
        errors = {int(match[1] or match[2]): match[3] for match in matches}
        errors = {number: text for number, text in errors.items() if number <= len(marked) and marked[number - 1]}
        missing = [name for name in dict.fromkeys(re.findall(_UNDEFINED, result.messages)) if name not in undefined]
        if result.status < 0 or not (errors or missing):
            raise _failure(command[0], result, folder, trusted)
        undefined += missing
        if not of_line:
            for each in statements:
                of_line.setdefault(each.line, []).append(each)
        for number, message in sorted(errors.items()):
            for line, statement in _blank(marked, number, message, of_line.get(number, [])):
                refused.setdefault(line, []).append(Refused(line, statement, _reason(statement, message)))
    raise AssemblerError(f"the assembler {command[0]!r} still refuses statements after {_MAX_ROUNDS} rounds")


def _narrow(code: bytes) -> bytes:
    """Return bytes as code of 32-bit mode."""
    return Narrow(code)


_REAL_MODE = "16-bit code (.code16); incc reads code of 32 and 64 bits"
_SKIPPED = "not assembled (in a false .if, or behind a string without an end?)"


def _collect(
    assembled: _Object, statements: list[_Statement], refused: dict[int, tuple[Refused, ...]]
) -> AssembledLines:
    encoded: dict[int, list[Encoded]] = {}
    for statement in statements:
        place, end = assembled.symbols.get(statement.start), assembled.symbols.get(statement.end)
        if place is None or end is None or statement.bits == 16:
            if not any(r.text == statement.text for r in refused.get(statement.line, ())):
                why = _REAL_MODE if statement.bits == 16 else _SKIPPED
                reason = Refused(statement.line, statement.text, why)
                refused[statement.line] = (*refused.get(statement.line, ()), reason)
            continue
        number, start = place
        encoded.setdefault(statement.line, []).append(
            assembled.sections[number].encoded(number, statement.line, statement.text, start, end[1], statement.bits)
        )
    return AssembledLines({line: tuple(items) for line, items in encoded.items()}, refused, assembled.symbols)
