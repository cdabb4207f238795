"""From regions of assembly text, or from raw machine code, to kernels of decoded instructions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.frontends.assembling import AssemblerError
from incc.frontends.elf import EXECUTABLE, ElfError
from incc.frontends.kernel import (
    CodeSpan,
    Decode,
    Entry,
    Instruction,
    KernelCode,
    MadeObject,
    PrecedingBlocks,
    Refused,
    Region,
)
from incc.frontends.x86.assembler import (
    AssembledLines,
    Encoded,
    assemble,
    heard,
    is_one_statement,
    mnemonic,
    read_object,
)

if TYPE_CHECKING:
    from incc.frontends.asm.entry import Blocks

ISA = "x86"


def _load_decoder() -> object:
    from incc.frontends.x86 import decode

    return decode


def decode_regions(
    text: str,
    regions: Sequence[Region],
    file_name: str,
    assembler: Sequence[str] | None = None,
    before: Sequence[PrecedingBlocks | None] = (),
    checked: Sequence[int] = (),
    trusted: bool = False,
    made: MadeObject | None = None,
) -> list[KernelCode]:
    """Decode the statements of all regions of one file, with one run of the assembler.

    `before` is what `incc.frontends.asm.preceding.code_before` found for the regions: with it the kernels' `entry`
    and `pace` are worked out.

    `assembler` as for `incc.frontends.x86.assembler.assemble`, which is not run if the code can be read from the object
    `made`. What the assembler or the decoder refuses is in the
    kernels' `refused`, in the first one's also what it refuses on the lines `checked`. Raises AssemblerError, its
    message beginning with `file_name`.
    """
    if not regions:
        return []
    wanted = {line for region in regions for line in region.lines}
    earlier = _lines_outside(regions, before)
    # Without messages, statements with the same text have the same code, so one of them stands for all.
    few = _different(text, checked)
    try:
        assembled = read_lines(made, {*wanted, *earlier}) if made and not checked else None
        assembled = assembled or _assembled_once(text, assembler)
        if assembled is None or _refused_on(few, assembled):
            assembled = assemble(text, {*wanted, *earlier, *few}, assembler, _load_decoder, trusted)
        if len(few) < len(checked) and (heard or assembled.refused or _refused_on(few, assembled)):
            few = checked
            assembled = assemble(text, {*wanted, *earlier, *few}, assembler, trusted=trusted)
    except AssemblerError as error:
        raise AssemblerError(f"{file_name}: {error}") from None

    @cache
    def decoded(line: int) -> tuple[list[Instruction], list[Refused]]:
        instructions, refused = _decode_statements(assembled.statements.get(line, ()))
        return instructions, [*assembled.refused.get(line, ()), *refused]

    def statement(line: int) -> Sequence[Instruction] | None:
        instructions, refused = decoded(line)
        return None if refused else instructions

    kernels = []
    blocks: Blocks | None = None
    for number, region in enumerate(regions):
        instructions = []
        refusals: list[Refused] = []
        previous = 0
        for line in region.lines:
            # A line with several statements is decoded as a whole, even where it is listed once for each of them.
            if line != previous:
                of_line = decoded(line)
                instructions += of_line[0]
                refusals += of_line[1]
            previous = line
        alignment, unit = _alignment(region, assembled)
        spans, base = _spans(region, assembled)
        code = before[number] if before else None
        entry = Entry()
        counted = 0
        restarts: frozenset[str] = frozenset()
        if code is not None:
            from incc.frontends.asm.entry import Blocks, Follower, entry_of, restarting
            from incc.frontends.asm.pace import pace
            from incc.frontends.x86.convention import CONVENTION

            blocks = blocks or Blocks(statement, CONVENTION)
            follower = Follower(code, blocks)
            entry, counted = entry_of(instructions, follower), pace(instructions, follower).number
            restarts = restarting(instructions, region.around, follower)
        kernels.append(
            KernelCode(
                name=region.name,
                isa=ISA,
                region=region,
                instructions=finished(instructions),
                is_loop=region.is_loop,
                alignment=alignment,
                refused=tuple(refusals),
                entry=entry.values,
                alone=entry.alone,
                products=entry.products,
                origins=entry.origins,
                held=entry.held,
                alignment_unit=unit,
                restarts=restarts,
                spans=spans,
                base=base,
                pace=counted,
            )
        )
    if there := _refused_on(few, assembled):
        kernels[0] = replace(kernels[0], refused=(*kernels[0].refused, *there))
    return kernels


def _lines_outside(regions: Sequence[Region], before: Sequence[PrecedingBlocks | None]) -> set[int]:
    """Return the lines of the statements outside of the analysed paths whose code, or place, is needed."""
    lines = {line for code in before if code is not None for block in code.lines for line in block}
    for region in regions:
        lines.update(region.around)
        lines.update(line for _, first, last in region.runs for line in (first, last))
    return lines


def _alignment(region: Region, assembled: AssembledLines) -> tuple[int, int]:
    """Return the offset of a region's first byte and the unit that it is known modulo, 0 and 64 if there is none."""
    first = next((s for line in region.lines for s in assembled.statements.get(line, ())), None)
    if first is None:
        return 0, 64
    unit = min(64, max(first.alignment, 1))
    return first.offset % unit, unit


def _spans(region: Region, assembled: AssembledLines) -> tuple[tuple[CodeSpan, ...], int]:
    """Return the places of a loop's instructions, and the offset of the first one's symbol in its section.

    Without the statements that the assembler refuses, code is not where it is in the program.
    """
    spans = []
    base = 0
    for function, first_line, last_line in region.runs if not assembled.refused else ():
        first, last = (assembled.statements.get(line) for line in (first_line, last_line))
        number, start = assembled.symbols.get(function, (-1, 0))
        if not first or not last or not number == first[0].number == last[-1].number:
            return (), 0
        spans.append(
            CodeSpan(function, first[0].offset - start, last[-1].offset + len(last[-1].code) - first[0].offset)
        )
        base = start if len(spans) == 1 else base
    return tuple(spans), base


def read_lines(made: MadeObject, lines: Iterable[int]) -> AssembledLines | None:
    """Return the bytes of the statements on some lines of a text from the object that was made of it.

    The result is that of `assemble`, in less time. It is None if the place of a statement is uncertain.
    """
    try:
        read = read_object(made.data, EXECUTABLE)
    except ElfError:
        return None
    code = {number: section.data for number, section in read.sections.items()}
    placed = made.place(sorted(lines), read.symbols, _decoding(code))
    if placed is None:
        return None
    statements: dict[int, list[Encoded]] = {}
    for each in placed:
        section = read.sections[each.section]
        encoded = section.encoded(each.section, each.line, each.text, each.start, each.end)
        statements.setdefault(each.line, []).append(encoded)
    return AssembledLines({line: tuple(items) for line, items in statements.items()}, {}, read.symbols)


def _decoding(sections: Mapping[int, bytes]) -> Decode:
    """Return a function that decodes the code of sections, by their numbers, fastest if in order.

    Of mnemonics the first letter is compared, which AT&T's and Intel's names have in common, with few exceptions. After
    a prefix, which may make another instruction of it (`rep bsf` is `tzcnt`), none is compared.
    """
    from iced_x86 import Decoder

    from incc.frontends.x86.iced import MNEMONIC_NAMES, NEAR_BRANCHES

    decoders = {number: Decoder(64, code) for number, code in sections.items()}

    def decode(section: int, offset: int, text: str) -> tuple[int, int]:
        decoder = decoders[section]
        if decoder.position != offset:
            if offset > len(sections[section]):
                return 0, -1
            decoder.position = decoder.ip = offset
        native = decoder.decode()
        if native.is_invalid:
            return 0, -1
        if MNEMONIC_NAMES[native.mnemonic][0] != text[0].upper():
            word = mnemonic(text)
            if not word or text.startswith(word):
                return 0, -1
        return native.len, native.near_branch_target if native.op0_kind in NEAR_BRANCHES else -1

    return decode


_REPEATED = 4
"""The average number of repetitions of a statement from which on a search for them pays."""


def _assembled_once(text: str, assembler: Sequence[str] | None) -> AssembledLines | None:
    """Assemble each distinct statement once, for a text of statements and comments with many repetitions.

    Without labels and directives no statement depends on its place. Returns None for other texts, and where the
    assembler has anything to report.
    """
    lines = text.split("\n")
    first: dict[str, int] = {}
    same: list[tuple[int, int]] = []  # of the lines with statements, in order, and the first one that says the same
    add, number = first.setdefault, 0
    for line in lines:
        number += 1
        statement = line.strip()
        if not statement or statement[0] == "#":
            continue
        first_line = add(statement, number)
        if first_line == number and not (is_one_statement(statement) and _anywhere(statement)):
            return None
        same.append((number, first_line))
    if len(same) < _REPEATED * len(first):
        return None
    few = [""] * len(lines)
    for number in first.values():
        few[number - 1] = lines[number - 1]
    assembled = assemble("\n".join(few), first.values(), assembler, meanwhile=_load_decoder)
    if heard or assembled.refused:
        return None
    offset = 0
    statements: dict[int, tuple[Encoded, ...]] = {}
    for number, first_line in same:
        (encoded,) = assembled.statements[first_line]
        relocations = encoded.relocations
        if relocations and encoded.offset != offset:
            relocations = tuple([replace(r, offset=r.offset + offset - encoded.offset) for r in relocations])
        statements[number] = (replace(encoded, line=number, offset=offset, relocations=relocations),)
        offset += len(encoded.code)
    return AssembledLines(statements, {})


def _anywhere(statement: str) -> bool:
    """Return True if a statement does not refer to its own place, which is a dot by itself."""
    return "." not in statement or re.search(r"(?<![\w.@?])\.(?![\w.@?$])", statement) is None


def _different(text: str, lines: Sequence[int]) -> Sequence[int]:
    """Return these lines without obvious repetitions of each other."""
    if not lines or ".if" in text:  # which may leave out any of them
        return lines
    written = text.split("\n")
    first: dict[str, int] = {}
    others = []
    for line in lines:
        statement = written[line - 1].strip()
        if is_one_statement(statement):
            first.setdefault(statement, line)
        else:
            others.append(line)
    return sorted((*first.values(), *others))


def _refused_on(lines: Sequence[int], assembled: AssembledLines) -> list[Refused]:
    """Return the refusals on lines that are only checked."""
    refusals: list[Refused] = []
    for line in lines:
        refusals += assembled.refused.get(line, ())
        refusals += _decode_statements(assembled.statements.get(line, ()))[1]
    return refusals


def finished(instructions: list[Instruction]) -> tuple[Instruction, ...]:
    """Return the instructions of a kernel, once all are decoded: x87 registers have one name each."""
    if any(instruction.mnemonic[0] == "f" for instruction in instructions):
        from incc.frontends.x86.x87 import name_by_slot

        instructions = name_by_slot(instructions)
    return tuple(instructions)


def _decode_statements(statements: Sequence[Encoded]) -> tuple[list[Instruction], list[Refused]]:
    from incc.frontends.x86.decode import UndecodableError, decode, decode_refused, prefix_alone, seen

    instructions: list[Instruction] = []
    refused: list[Refused] = []
    for statement in statements:
        text, line, start, code = statement.text, statement.line, statement.offset, statement.code
        relocations = statement.relocations
        if not relocations and (instruction := seen(code, start, text, line)) is not None:
            instructions.append(instruction)
            continue
        position = 0
        while position < len(code):
            offset = start + position
            try:
                instruction = decode(code[position:], offset, text, line, relocations, statement.section)
            except UndecodableError as error:
                made = prefix_alone(code, offset, text, line) or decode_refused(code[position:], offset, text, line)
                if made is None:
                    refused.append(Refused(line, text, str(error)))
                    break
                instruction = made
            instructions.append(instruction)
            position += instruction.length
            relocations = tuple(r for r in relocations if r.offset >= start + position)
    return instructions, refused


def decode_bytes(code: bytes, name: str = "block", is_loop: bool | None = None, text: bool = True) -> KernelCode:
    """Decode a whole block of machine code.

    `is_loop`: None means that it is one if its last instruction is a direct branch to its start. The text of the
    instructions is in AT&T syntax; without `text` it is "?", for callers that never show it. Raises ValueError for
    bytes that are no instruction (UndecodableError, with their offset) and for an empty block.
    """
    from incc.frontends.x86.decode import decode, lengths

    if not code:
        raise ValueError("no machine code")
    instructions: list[Instruction] = []
    shown = "" if text else "?"
    position = 0
    for length in lengths(code):
        instructions.append(decode(code[position : position + length], position, shown))
        position += length
    if is_loop is None:
        last = instructions[-1]
        is_loop = last.branch in ("conditional", "unconditional") and last.target == "0x0"
    return KernelCode(
        name=name, isa=ISA, region=None, instructions=finished(instructions), is_loop=is_loop, alignment=0
    )
