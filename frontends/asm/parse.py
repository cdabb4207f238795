"""Assembly text to statements: labels, directives and instructions with their lines, sections and source locations.

Reads what gcc, clang and icc write and hand-written GNU assembler text, in one pass without judging it: what an
instruction means is the decoders' business, where control goes is `control_flow`'s, and how the text of an instruction
set is written is its `Isa`'s.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.isa import detect, isa
from incc.frontends.kernel import SourceLocation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incc.frontends.asm.graph import ControlFlow

LABEL = 0
DIRECTIVE = 1
INSTRUCTION = 2


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """One statement.

    `kind` is LABEL, DIRECTIVE or INSTRUCTION; `line` is 1-based; `text` has no comments and no redundant blanks, for a
    label it is the name without the colon. `section` is the name of the section that it is assembled into and
    `location` what the last `.loc` before it said, None where there was none (or line 0: code that belongs to no line).
    """

    kind: int
    line: int
    text: str
    section: str
    location: SourceLocation | None


class Function(msgspec.Struct, frozen=True):
    """A function: its name and the indices of its labels and instructions in `Assembly.statements`, ascending.

    Code that belongs to no function (hand-written snippets) forms functions of the name "". `aliases` are other names
    for the same first instruction.
    """

    name: str
    statements: tuple[int, ...]
    aliases: tuple[str, ...]


class CommentMarker(msgspec.Struct, frozen=True, kw_only=True):
    """A comment that begins or ends a region: `# OSACA-BEGIN`, `# LLVM-MCA-END name`.

    `position` is the number of statements before it; `dialect` is "osaca" or "llvm-mca".
    """

    line: int
    position: int
    dialect: str
    begin: bool
    name: str


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed file.

    `isa` is the name of the instruction set. `statements` leaves out what only describes (`.cfi_*`, `.loc`, `.file`,
    `.type` and the like) and the bodies of macros and `.rept` blocks. `labels` maps a name to the index of its
    statement, `numeric_labels` a number to the indices of all its definitions, ascending. `aliases` maps a name set
    with `.set` or `=` to the first symbol of its value. `macros` are the names of the macros defined. `dialects` says
    for each change of syntax from which line on and to which dialect (see `incc.frontends.isa.Syntax`). `source_file`
    is what `.file` without a number said, else "". `graphs` is for `control_flow`: empty until it was asked for the
    graphs of all functions, which are its first element then. `files` are those that `.loc` and debug information name
    by their numbers. `debug` says where sections of debug information are, which have no statements here (see
    `incc.frontends.asm.inlining`): the section's name, its first line and the one behind its last; a section may be
    written in pieces.
    """

    isa: str
    statements: list[Statement]
    functions: list[Function]
    labels: dict[str, int]
    numeric_labels: dict[str, list[int]]
    aliases: dict[str, str]
    macros: frozenset[str]
    markers: list[CommentMarker]
    dialects: list[tuple[int, str]]
    source_file: str
    graphs: list[list[ControlFlow]]
    files: dict[str, str]
    debug: tuple[tuple[str, int, int], ...]


# Compiled at the start: what most lines need. The others are compiled when a file first needs them, since that takes
# longer than reading a small file does.
# A label's name before a colon. The second colon is excluded for `foo::bar` in demangled text.
_LABEL = re.compile(r'("[^"]*"|[\w.$?@]+)[ \t]*:(?!:)').match

_ASSIGNMENT = r'("[^"]*"|[A-Za-z_.$][\w.$@]*)[ \t]*==?[ \t]*(.*)'
_SYMBOL = r'"[^"]+"|[A-Za-z_.$?][\w.$?@]*'
_STRING = r'"((?:[^"\\]|\\.)*)"'
_STRING_REST = r'(?:[^"\\]|\\.)*"?'
_ESCAPE = rb"\\([0-7]{1,3}|.)"
# Where a statement may end beside comments, or where a string or character constant starts in which it may not.
_STOP = r"""["';]|/\*"""
_COMMENT_MARKER = r"[ \t]*(?:(LLVM-MCA)-(BEGIN|END)[ \t]*(.*)|(OSACA)-(BEGIN|END)[ \t]*$)"
_REMARK_LOCATION = r"(\d+)\.\d+\b"

# Directives that change how the following lines are read; every other one is only noted.
_ACTIVE = frozenset(
    {
        ".loc", ".file", ".text", ".data", ".bss", ".section", ".pushsection", ".popsection", ".previous", ".type",
        ".globl", ".global", ".weak", ".size", ".macro", ".rept", ".rep", ".irp", ".irpc", ".set", ".equ",
        ".equiv", ".end",
    }
)  # fmt: skip
# What ends a section of debug information, and files that clang first names in one.
_SECTION_CHANGES = frozenset(
    {".section", ".pushsection", ".popsection", ".previous", ".subsection", ".text", ".data", ".bss", ".end", ".file"}
)
_BLOCK_OPEN = frozenset({".macro", ".rept", ".rep", ".irp", ".irpc"})
_BLOCK_CLOSE = frozenset({".endm", ".endmacro", ".endr"})


def parse(text: str, isa_name: str = "") -> Assembly:
    """Read an assembly text; `isa_name` is that of an instruction set, "" to find out.

    What it cannot read is taken for an instruction, which a decoder will refuse. Raises ValueError only for a name that
    is none.
    """
    isa_name = isa_name or detect(text)
    syntax = isa(isa_name).syntax
    watch_markers = "OSACA-" in text or "LLVM-MCA-" in text
    watch_remarks = bool(syntax.line_remarks) and all(sign in text for sign in syntax.line_remarks)
    comment_sign, other_sign = syntax.comments[0], syntax.comments[-1]
    line_comments = syntax.line_comments
    active = _ACTIVE.union(syntax.dialects)
    stop = "|".join((_STOP, *syntax.comments))

    statements: list[Statement] = []
    add = statements.append
    labels: dict[str, int] = {}
    numeric_labels: dict[str, list[int]] = {}
    aliases: dict[str, str] = {}
    macros: set[str] = set()
    markers: list[CommentMarker] = []
    dialects: list[tuple[int, str]] = []
    typed: set[str] = set()
    objects: set[str] = set()
    exported: set[str] = set()
    sizes: dict[int, set[str]] = {}

    section = previous = ".text"
    section_stack: list[tuple[str, str]] = []
    location: SourceLocation | None = None
    locations: dict[tuple[str, str], SourceLocation | None] = {}
    remark_locations: dict[str, SourceLocation] = {}
    files: dict[str, str] = {}
    compilation_directory = ""
    source_file = ""
    in_comment = False
    block_depth = 0
    debug: list[tuple[str, int, int]] = []
    debug_from = 0  # the line with which a section of debug information began, 0 outside of one
    line = 0
    pieces: tuple[str, ...] | list[str]

    def comment(content: str) -> None:
        found = re.match(_COMMENT_MARKER, content)
        if found:
            llvm, llvm_side, name, _, osaca_side = found.groups()
            side = llvm_side or osaca_side
            dialect = "llvm-mca" if llvm else "osaca"
            markers.append(
                CommentMarker(
                    line=line,
                    position=len(statements),
                    dialect=dialect,
                    begin=side == "BEGIN",
                    name=(name or "").strip(),
                )
            )

    for raw in text.split("\n"):
        line += 1
        if debug_from:
            # Half of what compilers write is debug information, which is read when somebody asks for it.
            words = raw.split(None, 1)
            if not words or words[0] not in _SECTION_CHANGES:
                continue
            if words[0] != ".file":
                debug.append((section, debug_from + 1, line))
                debug_from = 0
        s = raw.strip()
        if not s:
            continue
        comments: list[str] | None = None
        if in_comment or "/*" in s or (('"' in s or "'" in s) and (comment_sign in s or ";" in s or other_sign in s)):
            if s[0] == "#" and not in_comment:
                if watch_markers:
                    comment(s[1:])
                continue
            pieces, comments, in_comment = _split(s, in_comment, stop)
        elif s[0] in line_comments:
            if watch_markers:
                comment(s.lstrip("/") if s[0] == "/" else s[1:])
            continue
        else:
            if comment_sign in s:
                s, _, remark = s.partition(comment_sign)
                s = s.rstrip()
                comments = [remark]
                if not s:
                    if watch_markers:
                        comment(remark)
                    continue
            if other_sign in s:
                s, _, remark = s.partition(other_sign)
                s = s.rstrip()
                comments = [remark]
            pieces = s.split(";") if ";" in s else (s,)
        if watch_remarks and comments:
            found = re.match(_REMARK_LOCATION, comments[0])
            if found and source_file:
                number = found.group(1)
                location = remark_locations.get(number)
                if location is None:
                    location = remark_locations[number] = SourceLocation(source_file, int(number))

        for s in pieces:
            if "\t" in s:
                s = s.replace("\t", " ")
            if ":" in s and block_depth == 0:
                at = len(s) - len(s.lstrip())
                while found := _LABEL(s, at):
                    name = found.group(1)
                    at = found.end()
                    while s[at : at + 1].isspace():
                        at += 1
                    if name.isdigit():
                        numeric_labels.setdefault(name, []).append(len(statements))
                    else:
                        if name[0] == '"':
                            name = name[1:-1]
                        labels.setdefault(name, len(statements))
                        if name in typed:
                            location = None
                    add(Statement(kind=LABEL, line=line, text=name, section=section, location=location))
                s = s[at:]
            if not s or s.isspace():
                continue
            if "  " in s and '"' not in s and "'" not in s:
                s = " ".join(s.split())
            elif s[0] == " " or s[-1] == " ":
                s = s.strip()
            if s[0] != ".":
                if block_depth:
                    continue
                if "=" in s and (found := re.match(_ASSIGNMENT, s)):
                    symbol = re.search(_SYMBOL, found.group(2))
                    if symbol:
                        aliases[found.group(1).strip('"')] = symbol.group().strip('"')
                    add(Statement(kind=DIRECTIVE, line=line, text=s, section=section, location=location))
                else:
                    add(Statement(kind=INSTRUCTION, line=line, text=s, section=section, location=location))
                continue

            directive, _, rest = s.partition(" ")
            if block_depth:
                if directive in _BLOCK_OPEN:
                    block_depth += 1
                elif directive in _BLOCK_CLOSE:
                    block_depth -= 1
                continue
            if directive not in active:
                if not directive.startswith(".cfi_"):
                    add(Statement(kind=DIRECTIVE, line=line, text=s, section=section, location=location))
            elif directive == ".loc":
                parts = rest.split(None, 2)
                if len(parts) >= 2:
                    key = (parts[0], parts[1])
                    if key in locations:
                        location = locations[key]
                    else:
                        location = None
                        if parts[1].isdigit() and parts[1] != "0" and parts[0] in files:
                            location = SourceLocation(files[parts[0]], int(parts[1]))
                        locations[key] = location
            elif directive == ".file":
                number, _, _ = rest.partition(" ")
                names = [_unescape(n) for n in re.findall(_STRING, rest)]
                if not names:
                    pass
                elif number.isdigit():
                    if number == "0" and len(names) > 1:
                        compilation_directory = names[0]
                    files[number] = shown_path(names, compilation_directory)
                    if locations:  # a number may be given anew
                        locations = {k: v for k, v in locations.items() if k[0] != number}
                else:
                    source_file = names[0]
            elif directive in (".section", ".pushsection"):
                if directive == ".pushsection":
                    section_stack.append((section, previous))
                previous = section
                section = rest.split(",", 1)[0].strip().strip('"')
                debug_from = line if section.startswith(".debug_") else 0
            elif directive in (".text", ".data", ".bss"):
                previous, section = section, directive
                debug_from = 0
            elif directive == ".popsection":
                if section_stack:
                    section, previous = section_stack.pop()
                    debug_from = line if section.startswith(".debug_") else 0
            elif directive == ".previous":
                section, previous = previous, section
                debug_from = line if section.startswith(".debug_") else 0
            elif directive == ".type":
                name, _, what = rest.partition(",")
                if not what:
                    name, _, what = rest.partition(" ")
                name = name.strip().strip('"')
                if "func" in what.lower():
                    typed.add(name)
                else:
                    objects.add(name)
            elif directive == ".size":
                sizes.setdefault(len(statements), set()).add(rest.split(",", 1)[0].strip().strip('"'))
            elif directive in (".globl", ".global", ".weak"):
                for name in rest.split(","):
                    exported.add(name.strip().strip('"'))
            elif directive in (".set", ".equ", ".equiv"):
                name, _, value = rest.partition(",")
                symbol = re.search(_SYMBOL, value)
                if symbol:
                    aliases[name.strip().strip('"')] = symbol.group().strip('"')
                add(Statement(kind=DIRECTIVE, line=line, text=s, section=section, location=location))
            elif directive in syntax.dialects:
                dialects.append((line, syntax.dialects[directive]))
            elif directive == ".end":
                break
            else:  # .macro, .rept, .irp, .irpc
                block_depth = 1
                if directive == ".macro":
                    macros.add(rest.replace(",", " ").split(" ", 1)[0])
                else:
                    add(Statement(kind=DIRECTIVE, line=line, text=s, section=section, location=location))
        else:
            if watch_markers and comments:
                for remark in comments:
                    comment(remark)
            continue
        break  # .end: the assembler reads no further
    if debug_from:
        debug.append((section, debug_from + 1, line + 1))

    functions = _functions(statements, typed, exported - objects, sizes)
    return Assembly(
        isa=isa_name,
        statements=statements,
        functions=functions,
        labels=labels,
        numeric_labels=numeric_labels,
        aliases=aliases,
        macros=frozenset(macros),
        markers=markers,
        dialects=dialects,
        source_file=source_file, graphs=[], files=files, debug=tuple(debug),
    )  # fmt: skip


def _split(s: str, in_comment: bool, stop_pattern: str) -> tuple[list[str], list[str], bool]:
    """The slow path: a line with strings or block comments to statements, comments, whether a comment stays open."""
    stop = re.compile(stop_pattern).search
    pieces: list[str] = []
    comments: list[str] = []
    current = ""
    at = 0
    while True:
        if in_comment:
            end = s.find("*/", at)
            if end < 0:
                comments.append(s[at:])
                break
            comments.append(s[at:end])
            at = end + 2
            current += " "
            in_comment = False
        found = stop(s, at)
        if not found:
            current += s[at:]
            break
        begin = found.start()
        token = found.group()
        current += s[at:begin]
        if token == '"':
            string = re.match(_STRING_REST, s[begin + 1 :])
            end = begin + 1 + (string.end() if string else 0)
        elif token == "'":
            end = min(begin + (3 if s[begin + 1 : begin + 2] == "\\" else 2), len(s))
            if s[end : end + 1] == "'":
                end += 1
        elif token == ";":
            pieces.append(current)
            current = ""
            at = begin + 1
            continue
        elif token == "/*":
            in_comment = True
            at = begin + 2
            continue
        else:
            comments.append(s[begin + len(token) :])
            break
        current += s[begin:end]
        at = end
    pieces.append(current)
    return [p for p in pieces if p.strip()], comments, in_comment


def _unescape(text: str) -> str:
    """A string as the assembler reads it: gcc writes the bytes of other than ASCII characters in octal."""
    if "\\" not in text:
        return text

    def value(found: re.Match[bytes]) -> bytes:
        code = found.group(1)
        return bytes((int(code, 8) & 255,)) if code.isdigit() else {b"n": b"\n", b"t": b"\t"}.get(code, code)

    return re.sub(_ESCAPE, value, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def shown_path(names: list[str], compilation_directory: str) -> str:
    """The path of `.file N ["directory"] "name"`, without the compilation directory in front of it."""
    path = names[-1]
    if len(names) > 1 and not path.startswith("/") and names[0] not in ("", ".", compilation_directory):
        path = names[0].rstrip("/") + "/" + path
    if compilation_directory and path.startswith(compilation_directory.rstrip("/") + "/"):
        path = path[len(compilation_directory.rstrip("/")) + 1 :]
    return path


def _functions(
    statements: list[Statement], typed: set[str], exported: set[str], sizes: dict[int, set[str]]
) -> list[Function]:
    """Cut the code into functions, per section, since gcc puts a function's cold part amid its text.

    A function begins at a label of a function type and ends at its `.size`, at the next one or with the section.
    Exported labels begin one only where no typed function is open: a function may export labels inside.
    """
    names: list[str] = []
    members: list[list[int]] = []
    aliases: list[list[str]] = []
    has_code: list[bool] = []
    is_typed: list[bool] = []
    open_in: dict[str, int] = {}
    current = -1
    section = ""
    for i, statement in enumerate(statements):
        kind, text, where = statement.kind, statement.text, statement.section
        if i in sizes:
            for key, number in list(open_in.items()):
                if names[number] in sizes[i] or not sizes[i].isdisjoint(aliases[number]):
                    del open_in[key]
            current = open_in.get(section, -1)
        if where is not section:
            section = where
            current = open_in.get(section, -1)
        if kind == DIRECTIVE:
            continue
        if kind == LABEL and (text in typed or (text in exported and (current < 0 or not is_typed[current]))):
            if current >= 0 and not has_code[current] and names[current]:
                aliases[current].append(text)
            else:
                current = len(names)
                names.append(text)
                members.append([])
                aliases.append([])
                has_code.append(False)
                is_typed.append(text in typed)
                open_in[section] = current
        elif current < 0:
            current = len(names)
            names.append("")
            members.append([])
            aliases.append([])
            has_code.append(False)
            is_typed.append(False)
            open_in[section] = current
        members[current].append(i)
        if kind == INSTRUCTION:
            has_code[current] = True
    return [Function(names[i], tuple(members[i]), tuple(aliases[i])) for i in range(len(names)) if has_code[i]]


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of an assembly text: its 1-based line, its mnemonic as written, whether there is an address in its
    operands, and what the last `.loc` before it says of file, line and column, "" where there is none, or no column."""

    line: int
    mnemonic: str
    memory: bool
    place: str


def origins_of(text: str, function: str) -> list[Origin]:
    """Where in the source the instructions of a function of an assembly text come from, as GNU as and LLVM write it.

    A pass of its own for the few who ask, since columns are nothing that `Statement` needs.
    """
    found: list[Origin] = []
    inside = False
    place = ""
    for number, line in enumerate(text.split("\n"), start=1):
        if not inside:
            inside = line.startswith(function) and line[len(function) :].lstrip().startswith(":")
            continue
        words = line.split(None, 4)
        if not words or words[0][0] in "#/" or words[0].endswith(":"):
            continue
        if words[0] == ".loc":
            known = len(words) > 3 and words[2] != "0" and words[3].isdigit() and words[3] != "0"
            place = " ".join(words[1:4]) if known else ""
        elif words[0] == ".size" and words[1].startswith(function):
            break
        elif words[0][0] != ".":
            found.append(Origin(line=number, mnemonic=words[0], memory="(" in line or "[" in line, place=place))
    return found


def columns_of(text: str, lines: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Line and column of the source that the last `.loc` before each of these lines of an assembly text names, as far
    as there is one in its function; column 0 where there is none."""
    every = text.split("\n")
    found: dict[int, tuple[int, int]] = {}
    for number in lines:
        for i in range(number - 1, -1, -1):
            line = every[i]
            if line.startswith(("\t.loc\t", "\t.loc ")):
                words = line.split(None, 4)
                column = int(words[3]) if len(words) > 3 and words[3].isdecimal() else 0
                if len(words) > 2 and words[2].isdecimal():
                    found[number] = int(words[2]), column
                break
            if line.startswith("\t.cfi_startproc"):
                break
    return found
