"""A parser of assembly text: labels, directives and instructions with their lines, sections and source locations.

It reads the output of gcc, clang and icc and hand-written GNU assembler text in one pass. Instructions are interpreted
by the decoders, control flow by `control_flow`, and the syntax of an instruction set is in its `Isa`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.isa import detect, isa
from incc.frontends.kernel import SourceLocation, line_number

LABEL = 0
DIRECTIVE = 1
INSTRUCTION = 2


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """A statement."""

    kind: int
    """LABEL, DIRECTIVE or INSTRUCTION."""
    line: int
    """1-based."""
    text: str
    """Without comments and redundant blanks; for a label the name without the colon."""
    section: str
    """The name of the section that it is assembled into."""
    location: SourceLocation | None
    """The place in the last `.loc` before it; None without one, and for line 0: code that belongs to no line."""


class AsmFunction(msgspec.Struct, frozen=True):
    """A function. Code that belongs to no function (hand-written snippets) forms functions of the name ""."""

    name: str
    statements: tuple[int, ...]
    """The indices of its labels and instructions in `Assembly.statements`, ascending."""
    aliases: tuple[str, ...]
    """Other names of the same first instruction."""


class CommentMarker(msgspec.Struct, frozen=True, kw_only=True):
    """A comment that begins or ends a region: `# OSACA-BEGIN`, `# LLVM-MCA-END name`."""

    line: int
    position: int
    """The number of statements before it."""
    dialect: str
    """One of "osaca" and "llvm-mca"."""
    begin: bool
    name: str


class Assembly(msgspec.Struct, frozen=True, kw_only=True):
    """A parsed file."""

    isa: str
    """The name of the instruction set."""
    statements: list[Statement]
    """Without describing directives (`.cfi_*`, `.loc`, `.file`, `.type` …) and the bodies of macros and `.rept`."""
    functions: list[AsmFunction]
    labels: dict[str, int]
    """The index of each label's statement."""
    numeric_labels: dict[str, list[int]]
    """The indices of all definitions of each numeric label, ascending."""
    aliases: dict[str, str]
    """For each name set with `.set` or `=` the first symbol of its value."""
    macros: frozenset[str]
    """The names of the macros that are defined."""
    markers: list[CommentMarker]
    dialects: list[tuple[int, str]]
    """The line and the dialect of each change of syntax (see `incc.frontends.isa.Syntax`)."""
    source_file: str
    """The name in `.file` without a number, else ""."""
    graphs: list[list[ControlFlow]]
    """For `control_flow`: empty until the graphs of all functions, its first element, are needed."""
    files: dict[str, str]
    """The files that `.loc` and debug information name, by their numbers."""
    debug: tuple[tuple[str, int, int], ...]
    """Name, first line and the line after the last of each piece of a section of debug information.

    These sections have no statements here (see `incc.frontends.objects.text_debug`).
    """


# Only the pattern that most lines need is compiled here. The others are compiled when a file first needs them, since
# that takes longer than reading a small file.
# A label's name before a colon. The second colon is excluded for `foo::bar` in demangled text.
_LABEL = re.compile(r'("[^"]*"|[\w.$?@]+)[ \t]*:(?!:)').match

_ASSIGNMENT = r'("[^"]*"|[A-Za-z_.$][\w.$@]*)[ \t]*==?[ \t]*(.*)'
_SYMBOL = r'"[^"]+"|[A-Za-z_.$?][\w.$?@]*'
_STRING = r'"((?:[^"\\]|\\.)*)"'
_STRING_REST = r'(?:[^"\\]|\\.)*"?'
_ESCAPE = rb"\\([0-7]{1,3}|.)"
# Where a statement ends, or where a string, a character constant or a block comment starts.
_STOP = r"""["';]|/\*"""
_COMMENT_MARKER = r"[ \t]*(?:(LLVM-MCA)-(BEGIN|END)[ \t]*(.*)|(OSACA)-(BEGIN|END)[ \t]*$)"
_REMARK_LOCATION = r"(\d+)\.\d+\b"

# Directives that end a section of debug information, and `.file`, which clang may write inside of one.
_SECTION_CHANGES = frozenset(
    {".section", ".pushsection", ".popsection", ".previous", ".subsection", ".text", ".data", ".bss", ".end", ".file"}
)
_BLOCK_OPEN = frozenset({".macro", ".rept", ".rep", ".irp", ".irpc"})
_BLOCK_CLOSE = frozenset({".endm", ".endmacro", ".endr"})
# Directives with a handler that are statements as well.
_STATEMENTS = frozenset({".set", ".equ", ".equiv", ".rept", ".rep", ".irp", ".irpc"})


@lru_cache(1)  # several steps of an analysis read its text
def parse(text: str, isa_name: str = "") -> Assembly:
    """Read an assembly text for an instruction set, which is detected if `isa_name` is "".

    Text that cannot be parsed counts as an instruction, which a decoder will refuse. Raises ValueError for an unknown
    name.
    """
    isa_name = isa_name or detect(text)
    text = isa(isa_name).written_out(text)
    return _Parser(text, isa_name).parse(text)


class _Parser:
    """The state of `parse` between lines. The fields without comments are those of `Assembly`."""

    def __init__(self, text: str, isa_name: str) -> None:
        syntax = isa(isa_name).syntax
        self._isa = isa_name
        self._dialects_of = syntax.dialects
        self._comment_sign, self._other_sign = syntax.comments[0], syntax.comments[-1]
        self._line_comments = syntax.line_comments
        self._comments = syntax.comments
        self._watches_markers = "OSACA-" in text or "LLVM-MCA-" in text
        self._watches_remarks = bool(syntax.line_remarks) and all(sign in text for sign in syntax.line_remarks)

        self._statements: list[Statement] = []
        self._labels: dict[str, int] = {}
        self._numeric_labels: dict[str, list[int]] = {}
        self._aliases: dict[str, str] = {}
        self._macros: set[str] = set()
        self._markers: list[CommentMarker] = []
        self._dialects: list[tuple[int, str]] = []
        self._source_file = ""
        self._files: dict[str, str] = {}
        self._debug: list[tuple[str, int, int]] = []

        self._functions: set[str] = set()
        """Symbols of a function type."""
        self._objects: set[str] = set()
        """Symbols of another type."""
        self._exported: set[str] = set()
        self._sizes: dict[int, set[str]] = {}
        """The symbols with a `.size`, by the number of statements before it."""

        self._line = 0
        self._section = self._previous_section = ".text"
        self._section_stack: list[tuple[str, str]] = []
        self._location: SourceLocation | None = None
        self._locations: dict[tuple[str, str], SourceLocation | None] = {}
        self._remark_locations: dict[str, SourceLocation] = {}
        self._compilation_directory = ""
        self._in_comment = False
        self._block_depth = 0
        self._debug_from = 0
        """The line with which a section of debug information began, 0 outside of one."""
        self._ended = False

    def parse(self, text: str) -> Assembly:
        """Read the whole text."""
        self._read(text)
        if self._debug_from:
            self._debug.append((self._section, self._debug_from + 1, self._line + 1))
        functions = _functions(self._statements, self._functions, self._exported - self._objects, self._sizes)
        return Assembly(
            isa=self._isa,
            statements=self._statements,
            functions=functions,
            labels=self._labels,
            numeric_labels=self._numeric_labels,
            aliases=self._aliases,
            macros=frozenset(self._macros),
            markers=self._markers,
            dialects=self._dialects,
            source_file=self._source_file,
            graphs=[],
            files=self._files,
            debug=tuple(self._debug),
        )

    def _read(self, text: str) -> None:
        pieces: Sequence[str]
        comments: list[str] | None
        special = re.compile(f"{_stops(self._comments)}|^[{self._line_comments}]").search
        for line, raw in enumerate(text.split("\n"), 1):
            self._line = line
            if self._debug_from and self._is_debug(raw):
                continue
            stripped = raw.strip()
            if not stripped:
                continue
            if special(stripped) or self._in_comment:
                pieces, comments = self._pieces(stripped)
            else:
                pieces, comments = (stripped,), None
            if comments and self._watches_remarks:
                self._remark(comments[0])
            for piece in pieces:
                if "\t" in piece:
                    piece = piece.replace("\t", " ")
                if ":" in piece and not self._block_depth:
                    piece = self._without_labels(piece)
                piece = piece.strip()
                if piece:
                    self._statement(piece)
                if self._ended:
                    return
            if comments and self._watches_markers:
                for comment in comments:
                    self._marker(comment)

    def _statement(self, text: str) -> None:
        if "  " in text and '"' not in text and "'" not in text:
            text = " ".join(text.split())
        if text[0] == ".":
            self._directive(text)
        elif not self._block_depth:
            self._add(DIRECTIVE if "=" in text and self._is_assignment(text) else INSTRUCTION, text)

    def _is_debug(self, raw: str) -> bool:
        """Return True for a line in a section of debug information, which is parsed only if it is needed.

        Half of a compiler's output is debug information.
        """
        words = raw.split(None, 1)
        if not words or words[0] not in _SECTION_CHANGES:
            return True
        if words[0] != ".file":
            self._debug.append((self._section, self._debug_from + 1, self._line))
            self._debug_from = 0
        return False

    def _pieces(self, line: str) -> tuple[tuple[str, ...] | list[str], list[str] | None]:
        """Return the statements of a line and the comments after them. Lines of comments alone have neither."""
        sign, other = self._comment_sign, self._other_sign
        if (
            self._in_comment
            or "/*" in line
            or (('"' in line or "'" in line) and (sign in line or ";" in line or other in line))
        ):
            if line[0] == "#" and not self._in_comment:
                return self._comment_line(line[1:])
            pieces, comments, self._in_comment = split_line(line, self._in_comment, self._comments)
            return pieces, comments
        if line[0] in self._line_comments:
            return self._comment_line(line.lstrip("/") if line[0] == "/" else line[1:])
        last: list[str] | None = None
        if sign in line:
            line, _, comment = line.partition(sign)
            line = line.rstrip()
            if not line:
                return self._comment_line(comment)
            last = [comment]
        if other in line:
            line, _, comment = line.partition(other)
            line = line.rstrip()
            last = [comment]
        return line.split(";") if ";" in line else (line,), last

    def _comment_line(self, comment: str) -> tuple[tuple[str, ...], None]:
        if self._watches_markers:
            self._marker(comment)
        return (), None

    def _marker(self, comment: str) -> None:
        if match := re.match(_COMMENT_MARKER, comment):
            llvm, llvm_side, name, _, osaca_side = match.groups()
            dialect = "llvm-mca" if llvm else "osaca"
            is_begin = (llvm_side or osaca_side) == "BEGIN"
            self._markers.append(
                CommentMarker(
                    line=self._line,
                    position=len(self._statements),
                    dialect=dialect,
                    begin=is_begin,
                    name=(name or "").strip(),
                )
            )

    def _remark(self, comment: str) -> None:
        """Read the place that a compiler writes into a comment after an instruction."""
        match = re.match(_REMARK_LOCATION, comment)
        if match and self._source_file:
            number = match[1]
            if number not in self._remark_locations:
                self._remark_locations[number] = SourceLocation(self._source_file, line_number(number))
            self._location = self._remark_locations[number]

    def _without_labels(self, piece: str) -> str:
        """Add the labels of a piece, and return the rest."""
        at = len(piece) - len(piece.lstrip())
        while match := _LABEL(piece, at):
            name = match[1]
            at = match.end()
            while piece[at : at + 1].isspace():
                at += 1
            number = len(self._statements)
            if name.isdigit():
                self._numeric_labels.setdefault(name, []).append(number)
            else:
                if name[0] == '"':
                    name = name[1:-1]
                self._labels.setdefault(name, number)
                if name in self._functions:
                    self._location = None
            self._add(LABEL, name)
        return piece[at:]

    def _add(self, kind: int, text: str) -> None:
        self._statements.append(
            Statement(kind=kind, line=self._line, text=text, section=self._section, location=self._location)
        )

    def _is_assignment(self, piece: str) -> bool:
        """Return True for `name = value`, after noting the symbol that the name means."""
        match = re.match(_ASSIGNMENT, piece)
        if match:
            self._alias(match[1], match[2])
        return bool(match)

    def _alias(self, name: str, value: str) -> None:
        if symbol := re.search(_SYMBOL, value):
            self._aliases[name.strip('"')] = symbol.group().strip('"')

    # --- directives ---

    def _directive(self, text: str) -> None:
        directive, _, rest = text.partition(" ")
        if self._block_depth:
            if directive in _BLOCK_OPEN:
                self._block_depth += 1
            elif directive in _BLOCK_CLOSE:
                self._block_depth -= 1
            return
        handler = _HANDLERS.get(directive)
        if handler is not None:
            handler(self, directive, rest)
        if directive in self._dialects_of:
            self._dialects.append((self._line, self._dialects_of[directive]))
        elif directive in _STATEMENTS or (handler is None and not directive.startswith(".cfi_")):
            self._add(DIRECTIVE, text)

    def _loc(self, _: str, rest: str) -> None:
        parts = rest.split(None, 2)
        if len(parts) < 2:
            return
        file, number = key = parts[0], parts[1]
        if key not in self._locations:
            line = line_number(number) if file in self._files else 0
            self._locations[key] = SourceLocation(self._files[file], line) if line else None
        self._location = self._locations[key]

    def _file(self, _: str, rest: str) -> None:
        number = rest.partition(" ")[0]
        names = [unescape(name) for name in re.findall(_STRING, rest)]
        if not names:
            return
        if not number.isdecimal():
            self._source_file = names[0]
            return
        if number == "0" and len(names) > 1:
            self._compilation_directory = names[0]
        self._files[number] = shown_path(names, self._compilation_directory)
        # A number may be given again.
        self._locations = {key: place for key, place in self._locations.items() if key[0] != number}

    def _enter_section(self, name: str) -> None:
        self._section = name
        self._debug_from = self._line if name.startswith(".debug_") else 0

    def _named_section(self, directive: str, rest: str) -> None:
        if directive == ".pushsection":
            self._section_stack.append((self._section, self._previous_section))
        self._previous_section = self._section
        self._enter_section(rest.split(",", 1)[0].strip().strip('"'))

    def _standard_section(self, directive: str, _: str) -> None:
        self._previous_section = self._section
        self._enter_section(directive)

    def _pop_section(self, _: str, __: str) -> None:
        if self._section_stack:
            section, self._previous_section = self._section_stack.pop()
            self._enter_section(section)

    def _previous(self, _: str, __: str) -> None:
        section, self._previous_section = self._previous_section, self._section
        self._enter_section(section)

    def _type(self, _: str, rest: str) -> None:
        name, _, kind = rest.partition(",")
        if not kind:
            name, _, kind = rest.partition(" ")
        symbols = self._functions if "func" in kind.lower() else self._objects
        symbols.add(name.strip().strip('"'))

    def _size(self, _: str, rest: str) -> None:
        name = rest.split(",", 1)[0].strip().strip('"')
        self._sizes.setdefault(len(self._statements), set()).add(name)

    def _export(self, _: str, rest: str) -> None:
        self._exported.update(name.strip().strip('"') for name in rest.split(","))

    def _set(self, _: str, rest: str) -> None:
        name, _, value = rest.partition(",")
        self._alias(name.strip(), value)

    def _end(self, _: str, __: str) -> None:
        self._ended = True  # the assembler reads no further

    def _open_block(self, directive: str, rest: str) -> None:
        self._block_depth = 1
        if directive == ".macro":
            self._macros.add(rest.replace(",", " ").split(" ", 1)[0])


_HANDLERS: dict[str, Callable[[_Parser, str, str], None]] = {
    ".loc": _Parser._loc,
    ".file": _Parser._file,
    ".type": _Parser._type,
    ".size": _Parser._size,
    ".popsection": _Parser._pop_section,
    ".previous": _Parser._previous,
    ".end": _Parser._end,
    **dict.fromkeys((".section", ".pushsection"), _Parser._named_section),
    **dict.fromkeys((".text", ".data", ".bss"), _Parser._standard_section),
    **dict.fromkeys((".globl", ".global", ".weak"), _Parser._export),
    **dict.fromkeys((".set", ".equ", ".equiv"), _Parser._set),
    **dict.fromkeys(_BLOCK_OPEN, _Parser._open_block),
}
"""The directives that change how the following lines are read; others are only statements."""


def _stops(comments: Sequence[str]) -> str:
    return "|".join((_STOP, *comments))


def split_line(s: str, in_comment: bool, signs: Sequence[str]) -> tuple[list[str], list[str], bool]:
    """Return the statements and comments of a line with strings or block comments, and True if a comment stays open.

    Args:
        s: The line.
        in_comment: A block comment is open before it.
        signs: The signs that begin a comment.
    """
    stop = re.compile(_stops(signs)).search
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
        match = stop(s, at)
        if not match:
            current += s[at:]
            break
        begin = match.start()
        token = match.group()
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


_ESCAPES = {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"f": b"\f", b"b": b"\b"}


def unescape(text: str) -> str:
    """Return a string as the assembler reads it: gcc writes bytes that are not ASCII in octal."""
    if "\\" not in text:
        return text

    def value(match: re.Match[bytes]) -> bytes:
        code = match.group(1)
        return bytes((int(code, 8) & 255,)) if code.isdigit() else _ESCAPES.get(code, code)

    return re.sub(_ESCAPE, value, text.encode("utf-8", "surrogateescape")).decode("utf-8", "surrogateescape")


def shown_path(names: list[str], compilation_directory: str) -> str:
    """Return the path of `.file N ["directory"] "name"`, relative to the compilation directory if it is inside."""
    path = names[-1]
    if len(names) > 1 and not path.startswith("/") and names[0] not in ("", ".", compilation_directory):
        path = names[0].rstrip("/") + "/" + path
    if compilation_directory and path.startswith(compilation_directory.rstrip("/") + "/"):
        path = path[len(compilation_directory.rstrip("/")) + 1 :]
    return path


def _functions(
    statements: list[Statement], typed: set[str], exported: set[str], sizes: dict[int, set[str]]
) -> list[AsmFunction]:
    """Cut the code into functions, for each section by itself: gcc puts a function's cold part amid its text.

    A function begins at a label of a function type and ends at its `.size`, at the next function or with the section.
    Exported labels begin a function only if no typed function is open, because a function may export labels inside.
    """
    begun: list[_Begun] = []
    open_in: dict[str, _Begun] = {}
    current: _Begun | None = None
    section = ""
    for i, statement in enumerate(statements):
        kind, text, where = statement.kind, statement.text, statement.section
        if i in sizes:
            for key, function in list(open_in.items()):
                if not sizes[i].isdisjoint((function.name, *function.aliases)):
                    del open_in[key]
            current = open_in.get(section)
        if where is not section:
            section = where
            current = open_in.get(section)
        if kind == DIRECTIVE:
            continue
        is_typed = kind == LABEL and text in typed
        begins = is_typed or (kind == LABEL and text in exported and not (current and current.is_typed))
        if begins and current and current.name and not current.has_code:
            current.aliases.append(text)
        elif begins or not current:
            current = open_in[section] = _Begun(name=text if begins else "", is_typed=is_typed)
            begun.append(current)
        current.statements.append(i)
        current.has_code |= kind == INSTRUCTION
    return [AsmFunction(f.name, tuple(f.statements), tuple(f.aliases)) for f in begun if f.has_code]


class _Begun(msgspec.Struct, kw_only=True):
    """A function that may go on."""

    name: str
    is_typed: bool
    statements: list[int] = []
    aliases: list[str] = []
    has_code: bool = False


class InstructionOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of an assembly text with its place in the source."""

    line: int
    """1-based."""
    mnemonic: str
    """As written."""
    text: str
    """The statement, maybe with a comment."""
    memory: bool
    """There is an address in its operands."""
    place: str
    """File, line and column of the last `.loc` before it, "" if there is none or it has no column."""


def origins_by_function(text: str) -> Callable[[str], list[InstructionOrigin]]:
    """Return a function that finds the instructions of a function of a text, as GNU as and LLVM write them.

    This is a pass of its own because only few analyses need columns.
    """
    lines = text.split("\n")
    starts: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        name, colon, _ = line.partition(":")
        if colon and name[:1] not in ("", "\t", " ", "#", "."):
            starts.setdefault(name.rstrip(), number)

    @cache
    def origins_of(function: str) -> list[InstructionOrigin]:
        return _origins(lines, starts[function], function) if function in starts else []

    return origins_of


def _origins(lines: Sequence[str], start: int, function: str) -> list[InstructionOrigin]:
    """Return the instructions of a function whose label is on line `start`."""
    origins: list[InstructionOrigin] = []
    place = ""
    for number in range(start + 1, len(lines) + 1):
        line = lines[number - 1]
        words = line.split(None, 4)
        if not words or words[0][0] in "#/" or words[0].endswith(":"):
            continue
        if words[0] == ".loc":
            is_place = len(words) > 3 and words[2] != "0" and words[3].isdigit() and words[3] != "0"
            place = " ".join(words[1:4]) if is_place else ""
        elif words[0] == ".size" and words[1].startswith(function):
            break
        elif words[0][0] != ".":
            memory = "(" in line or "[" in line
            origins.append(
                InstructionOrigin(line=number, mnemonic=words[0], text=" ".join(words), memory=memory, place=place)
            )
    return origins


def columns_of(text: str, lines: Iterable[int]) -> dict[int, tuple[int, int]]:
    """Return line and column of the last `.loc` before each of these lines of an assembly text, within its function.

    Lines without a `.loc` are left out; the column is 0 if there is none.
    """
    wanted = set(lines)
    columns: dict[int, tuple[int, int]] = {}
    last = ""
    for number, line in enumerate(text.split("\n") if wanted else (), 1):
        if line.startswith(("\t.loc\t", "\t.loc ")):
            last = line
        elif line.startswith("\t.cfi_startproc"):
            last = ""
        if last and number in wanted:
            words = last.split(None, 4)
            column = line_number(words[3]) if len(words) > 3 else 0
            if len(words) > 2 and words[2].isdecimal():
                columns[number] = line_number(words[2]), column
    return columns
