"""Marks in sources: comments that request an analysis and state expectations.

    // incc: analyze name(update) mcpu(skylake, znver4) expect(cycles <= 2.5)

in C and C++ (or in `/* */`), `! incc: analyze …` in Fortran. A comment on a line of its own marks the statement that
follows, a comment behind code the statement that begins in its line: a loop, a function, or any other. A plugin of a
compiler reads the same records from pragmas and attributes.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import SourceLocation
from incc.support.errors import suggestion
from incc.support.quantities import Count

SIGN = "incc:"
"""A part of every mark."""


class MarkCondition(msgspec.Struct, frozen=True):
    """A condition that a mark states, with the place where its text begins."""

    condition: str
    line: int
    column: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A mark. Lines and columns count from 1; a column of 0 is unknown."""

    file: str
    line: int
    column: int
    first_line: int
    """The line where the marked statement or function begins."""
    first_column: int
    last_line: int
    """The line where it ends."""
    name: str = ""
    """The name for the kernel, "" for none."""
    mcpu: tuple[str, ...] = ()
    """The cores that it is for, none for the cores of the analysis."""
    trip: str = ""
    """Trip counts of a call that is to be predicted (`frontends.asm.call_path.parse_trips`), "" for none."""
    let: tuple[tuple[str, int], ...] = ()
    """(register or variable of the source, value) of those whose values at the start of the loop are known."""
    expected: tuple[MarkCondition, ...] = ()


class MarkError(msgspec.Struct, frozen=True, kw_only=True):
    """A mark with a syntax error, or one without matching code."""

    source: SourceLocation
    column: Count
    text: str
    end_column: Count = 0
    """The column after the faulty text; 0 if unknown."""
    fix: str | None = None
    """Text that replaces the faulty text, or is inserted if the faulty text is empty; None if there is no
    suggestion."""


_FIXED_FORM = frozenset(("f", "for", "ftn", "fpp"))
_FORTRAN = _FIXED_FORM | {"f90", "f95", "f03", "f08", "f18"}


def marks_of(text: str, file: str) -> tuple[list[Mark], list[MarkError]]:
    """Return the marks in a source, whose language its file name tells, and the errors in other marks."""
    if SIGN not in text:
        return [], []
    ending = file.rpartition(".")[2].lower()
    source = _Fortran(text, ending in _FIXED_FORM) if ending in _FORTRAN else _C(text)
    marks: list[Mark] = []
    errors: list[MarkError] = []
    for start, end in source.comments:
        body = text[start:end]
        sign = re.match(r"[/*!cC]+[ \t]*incc:", body)
        if not sign:
            continue
        line, column = source.place(start + body.index(SIGN))
        try:
            clauses = _read(body, sign.end())
        except _MarkSyntaxError as error:
            line, column = source.place(start + error.at)
            errors.append(MarkError(source=SourceLocation(file, line), column=column, text=str(error)))
            continue
        at = source.marked(start, end)
        if at is None:
            text = "nothing to mark: no statement follows"
            errors.append(MarkError(source=SourceLocation(file, line), column=column, text=text))
            continue
        first_line, first_column = source.place(at)
        last_line = source.place(max(source.end_of(at) - 1, at))[0]
        expected = tuple(MarkCondition(text, *source.place(start + offset)) for text, offset in clauses.expected)
        mark = Mark(
            file=file, line=line, column=column, first_line=first_line, first_column=first_column, last_line=last_line
        )
        marks.append(
            replace(mark, name=clauses.name, mcpu=clauses.mcpu, trip=clauses.trip, let=clauses.let, expected=expected)
        )
    return marks, errors


# --- the clauses of a mark --------------------------------------------------------------------------------------------


class _MarkSyntaxError(Exception):
    """A syntax error at the offset `at` of a mark's comment."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class _Clauses(msgspec.Struct, frozen=True):
    name: str
    mcpu: tuple[str, ...]
    trip: str
    let: tuple[tuple[str, int], ...]
    expected: tuple[tuple[str, int], ...]
    """Conditions with their offsets in the comment."""


_CLAUSES = ("name", "mcpu", "trip", "let", "expect")
_WORD = re.compile(r"[\w.+-]+")


def _read(comment: str, at: int) -> _Clauses:
    """Return the clauses behind the sign. Raises _MarkSyntaxError."""
    end = len(comment.removesuffix("*/").rstrip())
    word = re.compile(r"\s*([\w-]*)").match(comment, at, end)
    if not word or word[1] != "analyze":
        other = f", not {word[1]!r}" if word and word[1] else ""
        raise _MarkSyntaxError(f"incc: takes analyze{other}", word.start(1) if word else at)
    at = word.end()
    name = trip = ""
    mcpu: list[str] = []
    let: list[tuple[str, int]] = []
    expected: list[tuple[str, int]] = []
    while rest := re.compile(r"[\s,]*(?=\S)").match(comment, at, end):
        at = rest.end()
        if at >= end:
            break
        clause = re.compile(r"(\w+)\s*\(").match(comment, at, end)
        if not clause:
            raise _MarkSyntaxError(
                f"{comment[at:end].split()[0]!r} is none of name(…), mcpu(…), trip(…), let(…) and expect(…)", at
            )
        if clause[1] not in _CLAUSES:
            likely = suggestion(clause[1], _CLAUSES, otherwise="; there are name, mcpu, trip, let and expect")
            raise _MarkSyntaxError(f"no {clause[1]!r} in a mark{likely}", at)
        closing = next((i for i, depth in parentheses(comment, clause.end(), end) if depth < 0), -1)
        if closing < 0:
            raise _MarkSyntaxError(f"{clause[1]}(… has no closing parenthesis", at)
        inside = comment[clause.end() : closing]
        begin = clause.end() + len(inside) - len(inside.lstrip())
        value = inside.strip()
        if not value:
            raise _MarkSyntaxError(f"{clause[1]}() says nothing", at)
        if clause[1] == "expect":
            expected.append((value, begin))
        elif clause[1] == "name":
            if not _WORD.fullmatch(value):
                raise _MarkSyntaxError(f"a name is one word, not {value!r}", begin)
            if name:
                raise _MarkSyntaxError("a mark has one name", at)
            name = value
        elif clause[1] == "trip":
            trip = _trip(value, begin)
        elif clause[1] == "let":
            let += _values(inside, clause.end())
        else:
            mcpu += _cores(value, begin)
        at = closing + 1
    return _Clauses(name, tuple(dict.fromkeys(mcpu)), trip, tuple(let), tuple(expected))


def _cores(text: str, at: int) -> list[str]:
    cores = re.split(r"[\s,]+", text)
    if wrong := next((core for core in cores if not _WORD.fullmatch(core)), None):
        raise _MarkSyntaxError(f"{wrong!r} is not the name of a core", at)
    return cores


def _trip(text: str, at: int) -> str:
    from incc.frontends.asm.call_path import parse_trips

    try:
        parse_trips(text)
    except ValueError as error:
        raise _MarkSyntaxError(f"trip {error}", at) from error
    return text


def _values(text: str, at: int) -> list[tuple[str, int]]:
    """Return the values in a clause whose text begins at `at`, such as "n = 8000, m = 100"."""
    values = []
    for part in text.split(","):
        try:
            values.append(parse_value(part))
        except ValueError as error:
            raise _MarkSyntaxError(f"let {error}", at + len(part) - len(part.lstrip())) from error
        at += len(part) + 1
    return values


def parse_value(text: str) -> tuple[str, int]:
    """Return a register or variable with its value, such as "rsi=8000"; numbers of 64 bits wrap around.

    Raises ValueError, whose message continues a sentence about the text.
    """
    name, _, value = (part.strip() for part in text.partition("="))
    try:
        number = int(value, 0)
        if not re.fullmatch(r"[^\W\d]\w*", name) or not -(1 << 63) <= number < 1 << 64:
            raise ValueError
    except ValueError:
        raise ValueError(
            f"takes a register or variable and its value, such as rsi=8000, not {text.strip()!r}"
        ) from None
    return name, number - (number >> 63 << 64) if number > 0 else number


def parentheses(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the offset of each parenthesis in `text[at:end]` outside of quotes, and the depth behind it."""
    depth, quote = 0, ""
    for i in range(at, end):
        character = text[i]
        if quote:
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "()":
            depth += 1 if character == "(" else -1
            yield i, depth


# --- the source around it ---------------------------------------------------------------------------------------------


class _Source:
    """A source text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = ""
        """The text with blanks in place of everything but code."""
        self.comments: list[tuple[int, int]] = []
        """The spans of the comments."""
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Return line and column of an offset. Columns count bytes, as in compilers' messages."""
        line = bisect_right(self._starts, offset)
        before = self.text[self._starts[line - 1] : offset]
        return line, len(before.encode("utf-8", "surrogateescape")) + 1

    def marked(self, start: int, end: int) -> int | None:
        """Return the offset of the statement that a comment marks, None if there is none."""
        begin = self.text.rfind("\n", 0, start) + 1
        before = re.compile(r"\S").search(self.code, begin, start)
        statement = before or re.compile(r"\S").search(self.code, end)
        return statement.start() if statement else None

    def end_of(self, at: int) -> int:
        """Return the offset after the statement that begins at `at`."""
        raise NotImplementedError


# Comments, literals, numbers (whose digits a quote may separate) and lines for the preprocessor of C and C++.
_C_TOKENS = re.compile(
    r"""
    (?P<comment> //(?:[^\\\n]|\\\r?\n|\\)* | /\*.*?(?:\*/|\Z) )
    | (?P<raw> \b(?:u8|[uUL])?R"(?P<delimiter>[^()\\\s]{0,16})\(.*?\)(?P=delimiter)" )
    | (?P<text> "(?:[^"\\\n]|\\.)*"? | '(?:[^'\\\n]|\\.)*'? )
    | (?P<number> \b\d[\w.]*(?:'[\w.]+)* )
    | (?P<line> ^[ \t]*\#(?:[^\\\n/]|\\\r?\n|\\|/(?![/*]))* )
    """,
    re.X | re.S | re.M,
)


def _blank(text: str) -> str:
    return "".join("\n" if c == "\n" else " " for c in text)


class _C(_Source):
    def __init__(self, text: str) -> None:
        super().__init__(text)
        parts: list[str] = []
        at = 0
        for match in _C_TOKENS.finditer(text):
            parts.append(text[at : match.start()])
            if match["comment"]:
                self.comments.append(match.span())
            # A literal is code, but its content is not.
            literal = match["raw"] or match["text"] or match["number"]
            parts.append("0" + _blank(match[0][1:]) if literal else _blank(match[0]))
            at = match.end()
        parts.append(text[at:])
        self.code = "".join(parts)

    def end_of(self, at: int) -> int:
        code = self.code
        do = re.compile(r"do\b").match(code, at)
        depth = 0
        i = at
        while i < len(code):
            c = code[i]
            if c in "([{":
                depth += 1
            elif c in ")]}":
                depth -= 1
                if depth < 0:
                    return i
                if c == "}" and not depth and not self._goes_on(i + 1, bool(do)):
                    return i + 1
            elif c == ";" and not depth and not re.compile(r"\s*else\b").match(code, i + 1):
                return i + 1
            i += 1
        return i

    def _goes_on(self, at: int, do: bool) -> bool:
        """Return True if a statement continues behind a closing brace."""
        return bool(re.compile(r"\s*(?:else|catch)\b|\s*[;,)]").match(self.code, at)) or do


_DO = re.compile(r"(?:\w+\s*:\s*)?do\b(?:\s*(\d+)\b)?(?!\s*=)", re.I)
_END_DO = re.compile(r"end\s*do\b", re.I)
_PROCEDURE = re.compile(r"(?!end)(?:[\w*()=,]+\s+)*?(?:subroutine|function)\s+\w+", re.I)
_END_PROCEDURE = re.compile(r"end(?:\s*(?:subroutine|function)\b.*)?$", re.I)


class _Fortran(_Source):
    def __init__(self, text: str, fixed: bool) -> None:
        super().__init__(text)
        self._fixed = fixed
        parts: list[str] = []
        offset = 0
        for line in text.split("\n"):
            at = self._comment(line)
            if at >= 0:
                self.comments.append((offset + at, offset + len(line)))
            code = line[:at] if at >= 0 else line
            code = re.sub(r"'[^']*'|\"[^\"]*\"", lambda m: "0" + " " * (len(m[0]) - 1), code)
            if code.startswith("#"):
                code = ""
            parts.append(code.ljust(len(line)))
            offset += len(line) + 1
        self.code = "\n".join(parts)

    def _comment(self, line: str) -> int:
        """Return where the comment of a line begins, -1 if it has none."""
        if self._fixed and line[:1] in ("c", "C", "*"):
            return 0
        quote = ""
        for i, character in enumerate(line):
            if quote:
                quote = "" if character == quote else quote
            elif character in "\"'":
                quote = character
            elif character == "!":
                return i
        return -1

    def _statements(self, at: int) -> Iterator[tuple[int, int, str, str]]:
        """Yield begin, end, label and text of the statements from the one at `at` on."""
        begin = self.code.rfind("\n", 0, at) + 1
        while begin < len(self.code):
            end = self.code.find("\n", begin)
            end = len(self.code) if end < 0 else end
            words = self.code[begin:end]
            while end < len(self.code) and (words.rstrip().endswith("&") or self._continued(end + 1)):
                more = self.code.find("\n", end + 1)
                more = len(self.code) if more < 0 else more
                words = words.rstrip().removesuffix("&") + " " + self.code[end + 1 : more]
                end = more
            if match := re.match(r"\s*(\d*)\s*(\S.*?)\s*$", words, re.S):
                yield begin, end, match[1], match[2]
            begin = end + 1

    def _continued(self, begin: int) -> bool:
        """Return True if the line that begins here continues the one before, by its sixth column in fixed form."""
        return self._fixed and bool(re.compile(r" {5}[^ 0\n]").match(self.code, begin))

    def end_of(self, at: int) -> int:
        opened: list[str] = []
        end = at
        for _, end, label, words in self._statements(at):
            if not opened:
                if do := _DO.match(words):
                    opened.append(do[1] or "")
                elif _PROCEDURE.match(words):
                    opened.append("procedure")
                else:
                    return end
                continue
            if opened[0] == "procedure":
                if _PROCEDURE.match(words):
                    opened.append("procedure")
                elif _END_PROCEDURE.match(words):
                    opened.pop()
            else:
                if do := _DO.match(words):
                    opened.append(do[1] or "")
                elif _END_DO.match(words) and not opened[-1]:
                    opened.pop()
                # One labelled statement may close several loops.
                while label and opened and opened[-1] == label:
                    opened.pop()
            if not opened:
                return end
        return end
