"""Writes markers of OSACA, llvm-mca and IACA around regions, so that those tools analyse the same code.

Markers are added between the lines of the text, which stay as they are. A file marked for IACA is not to be run,
because IACA's markers overwrite a register. OSACA and IACA analyse the first marked region of a file, llvm-mca all of
them. OSACA reads IACA's markers in AT&T syntax only.

llvm-mca contains LLVM's assembler, which refuses some line information that gcc writes and GNU as accepts: `.loc …
view`, a `.file 1` that names the same file as `.file 0`, and a `.loc` without a `.file` before it. A text with such
lines gets directives at its top that make `.file` and `.loc` empty macros for LLVM. GNU as, which defines the symbol
`.gasversion.`, ignores them and makes the same object as before.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from itertools import zip_longest

from incc.frontends.asm.parse import INSTRUCTION, LABEL, Assembly, parse
from incc.frontends.isa import Isa
from incc.frontends.isa import isa as instruction_set
from incc.frontends.kernel import Region

# Outermost first. IACA's markers come first because OSACA reads them, too, and prefers a comment marker inside.
DIALECTS = ("iaca", "osaca", "llvm-mca")

# In LLVM a macro takes precedence over the directive of its name.
_NO_LINES_IN_LLVM = (
    "\t.ifndef\t.gasversion.",
    "\t.macro\t.file what:vararg",
    "\t.endm",
    "\t.macro\t.loc where:vararg",
    "\t.endm",
    "\t.endif",
)
_LINE_INFORMATION = re.compile(
    r"^[ \t]*\.(?:(loc)[ \t]+(\d+)([^\n#]*)|file[ \t]+(\d+)[ \t]+([^\n]*))", re.MULTILINE
).finditer
_FILE_NAME = re.compile(r'"((?:[^"\\]|\\.)*)"').findall


def insert_markers(
    text: str,
    regions: Iterable[Region],
    dialects: str | Iterable[str] = "all",
    isa: str = "",
    remarks: Iterable[str] = (),
) -> str:
    """Return the text with markers around each region. Without the added lines it is `text` again, byte for byte.

    The begin marker is before the label that the loop's branch goes back to, the end marker after the loop's last
    instruction, so that neither is executed in the loop. If the analysed path is not contiguous, the smallest span that
    contains it is marked, and a comment counts the other instructions in it. llvm-mca's regions have the regions'
    names, numbered if they repeat; they have none together with OSACA's markers if comments do not begin with `#`,
    because those could not be read then.

    Args:
        text: the assembly.
        regions: the regions to mark.
        dialects: one or several of DIALECTS, or "all".
        isa: the instruction set, "" to detect it.
        remarks: a comment for each region, "" for none; or no comments at all.

    Raises:
        ValueError: for an unknown dialect and for a region that is not in this text.
    """
    chosen = _dialects(dialects)
    assembly = parse(text, isa)
    lines = text.split("\n")
    instruction_at: dict[int, list[int]] = {}
    for i, statement in enumerate(assembly.statements):
        if statement.kind == INSTRUCTION:
            instruction_at.setdefault(statement.line, []).append(i)

    coded = sorted(instruction_at)
    # Before a line, ends of regions come before begins; outer regions end later and begin earlier.
    ends: dict[int, list[list[str]]] = {}
    begins: dict[int, list[list[str]]] = {}
    names: set[str] = set()
    spans = []
    for region, remark in zip_longest(regions, remarks, fillvalue=""):
        assert isinstance(region, Region), "no more remarks than regions"
        missing = [line for line in region.lines if line not in instruction_at]
        if missing or not region.lines:
            raise ValueError(
                f"region {region.name!r} is not of this text: line {(missing or [0])[0]} has no instruction"
            )
        spans.append((*_span(assembly, region, instruction_at), region, str(remark)))
    spans.sort(key=lambda span: (span[0], -span[1]))
    for first, last, region, remark in spans:
        name = _unique(region.name, names)
        foreign = _foreign(region, first, last, instruction_at, coded)
        notes = [f"incc: {text}" for text in (" ".join(remark.split()), foreign) if text]
        newline = "\r" if lines[first - 1].endswith("\r") else ""
        dialects_there = _dialect(assembly, first), _dialect(assembly, last)
        begin, end = _marker_lines(chosen, instruction_set(assembly.isa), name, notes, *dialects_there)
        begins.setdefault(first, []).append([line + newline for line in begin])
        ends.setdefault(last + 1, []).insert(0, [line + newline for line in end])

    result: list[str] = []
    if spans and "llvm-mca" in chosen and not _llvm_reads_lines(text):
        newline = "\r" if lines[0].endswith("\r") else ""
        result += [line + newline for line in _NO_LINES_IN_LLVM]
    for number in range(1, len(lines) + 2):
        for group in ends.get(number, ()):
            result.extend(group)
        for group in begins.get(number, ()):
            result.extend(group)
        if number <= len(lines):
            result.append(lines[number - 1])
    return "\n".join(result)


def _dialects(wanted: str | Iterable[str]) -> list[str]:
    names = {wanted} if isinstance(wanted, str) else set(wanted)
    if "all" in names:
        return list(DIALECTS)
    unknown = sorted(names.difference(DIALECTS))
    if unknown or not names:
        given = ", ".join(map(repr, unknown)) or "none"
        raise ValueError(f"unknown marker dialect {given}; choose from {', '.join(DIALECTS)}, all")
    return [dialect for dialect in DIALECTS if dialect in names]


def _llvm_reads_lines(text: str) -> bool:
    """Return True if LLVM's assembler accepts the `.file` and `.loc` of the text.

    See AsmParser::parseDirectiveLoc and MCDwarfLineTableHeader::tryGetFile of LLVM 19.
    """
    files: dict[int, str] = {}
    for match in _LINE_INFORMATION(text):
        loc, file, options, number, names = match.groups()
        if loc:
            if int(file) not in files or " view " in f"{options} ":
                return False
        else:
            # The folder may be before the name; LLVM recognises the file of number 0 by its name.
            name = (_FILE_NAME(names) or [""])[-1]
            if int(number) and files.get(0) == name:
                return False
            files[int(number)] = name
    return True


def _span(assembly: Assembly, region: Region, instruction_at: dict[int, list[int]]) -> tuple[int, int]:
    """Return the lines to mark: from the label before the first analysed instruction to the last instruction."""
    statements = assembly.statements
    first_line, last_line = min(region.lines), max(region.lines)
    first = instruction_at[first_line][0]
    begin = first_line
    at = first - 1
    # Markers go directly before the label, after an alignment, whose no-operations are not the loop's.
    while at >= 0 and statements[at].kind == LABEL:
        begin = statements[at].line
        if statements[at].text == region.label:
            break
        at -= 1
    return begin, last_line


def _foreign(region: Region, first: int, last: int, instruction_at: dict[int, list[int]], coded: list[int]) -> str:
    """Return the comment on instructions between the markers that are not on the path, "" if there are none.

    `coded` are the lines with instructions, ascending.
    """
    own = set(region.lines)
    between = coded[bisect_left(coded, first) : bisect_right(coded, last)]
    others = sum(len(instruction_at[line]) for line in between if line not in own)
    if not others:
        return ""
    verb = "is" if others == 1 else "are"
    total = sum(len(instruction_at[line]) for line in between)
    return f"{others} of the {total} instructions between these markers {verb} not on the analysed path"


def _dialect(assembly: Assembly, line: int) -> str:
    """Return the dialect of a line."""
    dialect = ""
    for since, value in assembly.dialects:
        if since > line:
            break
        dialect = value
    return dialect


def _unique(name: str, names: set[str]) -> str:
    name = " ".join(name.split())
    number = 1
    result = name
    while result in names:
        number += 1
        result = f"{name} ({number})"
    names.add(result)
    return result


def _marker_lines(
    dialects: Sequence[str], isa: Isa, name: str, notes: Sequence[str], written_begin: str, written_end: str
) -> tuple[list[str], list[str]]:
    """Return the lines of a begin and of an end marker."""
    mark = isa.syntax.comments[0]
    begin: list[str] = [f"{mark} {note}" for note in notes]
    end: list[str] = []
    if "iaca" in dialects:
        begin += _byte_marker(isa, 111, written_begin)
        end += _byte_marker(isa, 222, written_end)
    if "osaca" in dialects:
        begin.append(f"{mark} OSACA-BEGIN")
        end.insert(0, f"{mark} OSACA-END")
    if "llvm-mca" in dialects:
        # llvm-mca ignores markers after `//`. After `#` OSACA then reads only llvm-mca's markers without a name.
        if mark != "#" and len(dialects) > 1:
            name = ""
        begin.append(f"# LLVM-MCA-BEGIN {name}".rstrip())
        end.insert(0, f"# LLVM-MCA-END {name}".rstrip())
    return begin, end


def _byte_marker(isa: Isa, number: int, dialect: str) -> list[str]:
    marker = isa.markers
    return ["\t" + marker.written[dialect].format(number), f"\t.byte\t{','.join(map(str, marker.data))}"]
