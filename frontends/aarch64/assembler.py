"""Mistakes that an assembler finds in A64 text, and the bytes that it makes of instructions.

clang reads assembly as llvm-mca does, and names the line and the column of each mistake. GNU as names lines. Where
neither is installed, this package's own reader finds mnemonics that do not exist and operands that are none.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from incc.frontends.aarch64.decode import LENGTH, decode
from incc.frontends.aarch64.rules import is_known
from incc.frontends.aarch64.written_out import OPENS, end_of_block
from incc.frontends.asm.parse import INSTRUCTION, parse
from incc.frontends.assembling import AssemblerError, AssemblerResult, LimitError, run, temporary_folder
from incc.frontends.diagnostics import LINE_MARKER, Diagnostic, Reading
from incc.frontends.elf import ElfError, read_elf
from incc.frontends.isa import LlvmDialect, LlvmRow

_GNU = ["aarch64-linux-gnu-as", "-march=all"]
_ALL = ("+all", "+sve")
"""The features with which LLVM takes any instruction; the names of SVE's conditions need its own."""
_LABELS = r"(?:[ \t]*[\w.$]+:)*[ \t]*"
_MESSAGE = re.compile(
    r"(?m)^(?P<file>[^\n:]*):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<kind>(?i:error|warning)|note): (?P<text>.*)$"
)
_MACRO = "<instantiation>"
_UNKNOWN_CORE = "is not a recognized processor"
_DIRECTIONAL = re.compile(r"(?<![\w.$#])\d+[bf]$")


def read(text: str, triple: str, core: str, features: Sequence[str], trusted: bool) -> Reading:
    """Return the mistakes of a text.

    Args:
        text: The assembly.
        triple: LLVM's name of the target.
        core: LLVM's name of the core, whose instructions are the right ones.
        features: Features to add and to leave out, as `+sve`.
        trusted: Let the text read other files.

    Raises:
        LimitError: The assembler was stopped.
    """
    lines = text.split("\n")
    plain = "\n".join("" if re.match(LINE_MARKER, line) else line for line in lines) + "\n"
    clang = [*_clang(), "-cc1as", "-triple", triple, "-filetype", "null"]
    options = ["-target-cpu", core or "generic", *_features(features)]
    result = _run([*clang, *options], plain, trusted)
    if result is not None and _UNKNOWN_CORE in result.messages:
        result = _run([*clang, *_features(_ALL)], plain, trusted)
    if result is None or not (result.status == 0 or _MESSAGE.search(result.messages)):
        result = _run(_GNU, plain, trusted)
    if result is not None and (result.status == 0 or _MESSAGE.search(result.messages)):
        found = list(_diagnostics(result.messages, lines))
    else:
        found = list(_own(text, lines))
    found.sort(key=lambda each: each.line)
    for each in found:
        if each.kind == "error":
            at = each.line - 1
            if OPENS.match(lines[at]):  # the body of a repetition
                end = end_of_block(lines, at)
                lines[at + 1 : end + 1] = [""] * (end - at)
            lines[at] = _without(lines[at], each.column)
    return Reading(found, "", "\n".join(lines))


def _without(line: str, column: int) -> str:
    """Return a line without the statement at a column in bytes, but with its labels and comments."""
    place = len(line.encode("utf-8", "surrogateescape")[: column - 1].decode("utf-8", "replace"))
    end = min((at for at in (line.find(";", place), line.find("//", place)) if at >= 0), default=len(line))
    start = line.rfind(";", 0, place) + 1
    labels = re.compile(_LABELS).match(line, start)
    start = min(labels.end() if labels else start, place)
    return line[:start] + " " * (end - start) + line[end:]


def _features(names: Sequence[str]) -> list[str]:
    return [word for name in names for word in ("-target-feature", name)]


def assembled(statements: Sequence[str], dialect: LlvmDialect) -> list[LlvmRow]:
    """Return LLVM's text and the bytes of statements, both empty for a wrong one; nothing without an assembler.

    GNU as knows no text.
    """
    target = ["-triple", dialect.triple or "aarch64-linux-gnu", *_features(_ALL)]
    # Apple's syntax is the second one, and the default of its targets.
    variant = int("apple" in target[1]) if dialect.variant is None else dialect.variant
    clang = [*_clang(), "-cc1as", *target, "-output-asm-variant", str(variant), "-show-encoding"]
    for command, rows_of in (([*clang, "-filetype", "asm"], _rows_of_text), (_GNU, _rows_of_object)):
        # A numeric label would have to be defined.
        left = {number: _DIRECTIONAL.sub("symbol", statement) for number, statement in enumerate(statements)}
        while left:
            result = _run(command, "".join(f"{each}\n{_follower(each)}\n" for each in left.values()), False)
            rows = rows_of(result.data)[::2] if result is not None else []
            if len(rows) >= len(left):  # constants of `ldr x0, =1` are behind the code
                of_statement = dict(zip(left, rows, strict=False))
                if dialect.hexadecimal:
                    of_statement = {n: replace(row, text=_hexadecimal(row.text)) for n, row in of_statement.items()}
                return [
                    replace(row, text="") if _DIRECTIONAL.search(statement) else row
                    for number, statement in enumerate(statements)
                    for row in (of_statement.get(number, LlvmRow("", b"")),)
                ]
            messages = _diagnostics(result.messages if result else "", ())
            wrong = {(each.line - 1) // 2 for each in messages if each.kind == "error"}
            right = {number: text for line, (number, text) in enumerate(left.items()) if line not in wrong}
            if len(right) == len(left):
                break
            left = right
    return []


def _follower(statement: str) -> str:
    """Return an instruction that may follow a statement and does not affect the next: a prefix wants its own."""
    match = re.match(r"movprfx\s+z(\d+)(?:(\.[bhsd]), (p\d)/[mz])?", statement)
    if match is None:
        return "nop"
    number, element, predicate = match.groups()
    if predicate is None:
        return f"add z{number}.b, z{number}.b, #1"
    return f"neg z{number}{element}, {predicate}/m, z{(int(number) + 1) % 32}{element}"


def _rows_of_text(data: bytes) -> list[LlvmRow]:
    """Return the instructions that clang writes. A bit of a byte that depends on a symbol is a letter."""
    rows = []
    for text, code in re.findall(r"(?m)^\t([^\n]*?)\s*(?://|;) encoding: \[(.*)\]$", data.decode("utf-8", "replace")):
        # A byte is written 0x90, or with a letter for what depends on symbols: A, 0b100101AA, 0x90'A'.
        parts = [each.partition("'")[0] for each in code.split(",")]
        numbers = [int(p, 0) if p.startswith("0x") else int(re.sub("[A-Z]", "0", p[2:] or "0"), 2) for p in parts]
        rows.append(LlvmRow(text, bytes(numbers)))
    return rows


def _hexadecimal(text: str) -> str:
    """Return an instruction with immediate values in hexadecimal; LLVM leaves shifts, fields and angles decimal."""
    if re.match(r"ls[lr]|asr|ror|[us]?bf|f?cmla|f?cadd|(?:ld|st)[1-4]r?\t", text):
        return text
    return re.sub(
        r"((?:ls[lr]|asr|ror|msl|[us]xt[bhwx]) )?#(-?)(0(?![\w.])|[1-9]\d*)(?![\w.])",
        lambda match: match[0] if match[1] else f"#{match[2]}{int(match[3]):#x}",
        text,
    )


def _rows_of_object(data: bytes) -> list[LlvmRow]:
    try:
        code = read_elf(data).content(".text")
    except ElfError:
        return []
    return [LlvmRow("", code[n : n + LENGTH]) for n in range(0, len(code), LENGTH)]


def _clang() -> list[str]:
    """Return the newest clang: the one with the highest number behind its name, else `clang`."""
    numbered = [
        (int(name[6:]), os.path.join(folder, name))
        for folder in os.get_exec_path()
        if os.path.isdir(folder)
        for name in os.listdir(folder)
        if re.fullmatch(r"clang-\d+", name)
    ]
    return [max(numbered)[1] if numbered else "clang"]


def _run(command: Sequence[str], text: str, trusted: bool) -> AssemblerResult | None:
    """Run an assembler; None if it is missing, or may not be given the text. Raises LimitError."""
    try:
        with temporary_folder() as folder:
            return run(command, text, folder, confine=not trusted)
    except LimitError:
        raise
    except (OSError, AssemblerError):
        return None


# --- places ----------------------------------------------------------------------------------------------------------


def _diagnostics(messages: str, lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield the errors and warnings among an assembler's messages, those in macros where these are called."""
    within: re.Match[str] | None = None
    included = 0
    for match in _MESSAGE.finditer(messages):
        own = os.path.basename(match["file"]) == "in.s"
        note = match["kind"] == "note"
        if match["file"] == _MACRO and not note:
            within = within or match
        elif own and note and within is not None and "instantiation" in match["text"]:
            yield _at(lines, int(match["line"]), int(match["column"] or 0), within["kind"], within["text"])
            within = None
        elif not own and not note:
            if origin := re.search(r"Included from [^\n]*in\.s:(\d+):\n$", messages[: match.start()]):
                included = int(origin[1])
            place = _at(lines, included, int(match["column"] or 0), match["kind"], match["text"])
            yield replace(place, file=match["file"], file_line=int(match["line"]), source="")
        elif own and not note:
            # GNU as names no column, but the statement: -- `add x0,x1'.
            quoted = re.search(r"`([\w.]+)[^`']*'$", match["text"]) if match["column"] is None else None
            named = quoted[1] if quoted else ""
            yield _at(lines, int(match["line"]), int(match["column"] or 0), match["kind"], match["text"], named)


def _own(text: str, lines: Sequence[str]) -> Iterator[Diagnostic]:
    """Yield the mistakes that the reader of this package finds."""
    for statement in parse(text, "aarch64").statements:
        if statement.kind != INSTRUCTION:
            continue
        try:
            instruction = decode(statement.text)
        except ValueError as error:
            yield _at(lines, statement.line, 0, "error", str(error), statement.text)
            continue
        if not is_known(instruction.mnemonic):
            yield _at(lines, statement.line, 0, "error", "unrecognized instruction mnemonic", statement.text)


def _at(lines: Sequence[str], line: int, column: int, kind: str, message: str, statement: str = "") -> Diagnostic:
    """Return a diagnostic; one without a column is at its operand, or at its statement."""
    source = lines[line - 1] if 0 < line <= len(lines) else ""
    if not column:
        match = re.match(_LABELS, source)
        start = max(source.find(statement.split(None, 1)[0]) if statement else 0, match.end() if match else 0)
        operand = re.match(r"'([^']+)'", message)
        place = source.find(operand[1], start) if operand else start
        column = len(source[: max(place, start)].encode("utf-8", "surrogateescape")) + 1
    file, file_line = "", 0
    for above in range(line - 1, 0, -1):
        if marker := re.match(LINE_MARKER, lines[above - 1]) if above <= len(lines) else None:
            if number := int(marker[1]):
                file, file_line = marker[2], number + line - above - 1
            break
    return Diagnostic(
        line=line,
        column=column,
        kind="error" if kind.lower() == "error" else "warning",
        message=message,
        source=source,
        file=file,
        file_line=file_line,
    )
