"""Marks in sources: comments by which an author says what is to be analysed and what he expects of it.

    // incc: analyze name(update) mcpu(skylake, znver4) expect(cycles <= 2.5)

in C and C++ (or in `/* */`), `! incc: analyze …` in Fortran. A comment that has a line for itself marks the statement
that follows, one behind code the statement that begins in its line: a loop, a function, or any other. What a mark says
is neutral data, whoever reads it: a plugin of a compiler has the same from its pragmas and attributes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGN = "incc:"
"""What is in every text that has marks."""


class Expected(msgspec.Struct, frozen=True):
    """A condition that a mark states, and where its text begins."""

    condition: str
    line: int
    column: int


class Mark(msgspec.Struct, frozen=True, kw_only=True):
    """A mark: its place, and that of the statement or function that it marks, whose last line is `last_line`.

    `name`: what it calls the kernel, "" for nothing. `mcpu`: the cores that it is for, none for whichever the analysis
    is for. Lines and columns count from 1; a column of 0 is not known.
    """

    file: str
    line: int
    column: int
    first_line: int
    first_column: int
    last_line: int
    name: str = ""
    mcpu: tuple[str, ...] = ()
    expected: tuple[Expected, ...] = ()


class MarkError(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a mark, and where.

    `end_column`: behind what is meant, if that is known, else 0. `fix`: what to write instead of it, to be inserted if
    it ends where it begins; None for no advice.
    """

    file: str
    line: int
    column: int
    text: str
    end_column: int = 0
    fix: str | None = None


_FIXED_FORM = frozenset(("f", "for", "ftn", "fpp"))
_FORTRAN = _FIXED_FORM | {"f90", "f95", "f03", "f08", "f18"}


def marks_of(text: str, file: str) -> tuple[list[Mark], list[MarkError]]:
    """The marks in the source `file` (its name tells the language), and what is wrong with those that are none."""
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
            found = _read(body, sign.end())
        except _MarkSyntaxError as error:
            line, column = source.place(start + error.at)
            errors.append(MarkError(file=file, line=line, column=column, text=str(error)))
            continue
        at = source.marked(start, end)
        if at is None:
            errors.append(MarkError(file=file, line=line, column=column, text="nothing to mark: no statement follows"))
            continue
        first_line, first_column = source.place(at)
        last_line = source.place(max(source.end_of(at) - 1, at))[0]
        expected = tuple(Expected(said, *source.place(start + offset)) for said, offset in found.expected)
        marks.append(
            Mark(
                file=file,
                line=line,
                column=column,
                first_line=first_line,
                first_column=first_column,
                last_line=last_line,
                name=found.name,
                mcpu=found.mcpu,
                expected=expected,
            )
        )
    return marks, errors


# --- what a mark says -------------------------------------------------------------------------------------------------


class _MarkSyntaxError(Exception):
    """A mark is not understood from the offset `at` of its comment on."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


class _Said(msgspec.Struct, frozen=True):
    name: str
    mcpu: tuple[str, ...]
    expected: tuple[tuple[str, int], ...]


_CLAUSES = ("name", "mcpu", "expect")
_WORD = re.compile(r"[\w.+-]+")


def _read(comment: str, at: int) -> _Said:
    """What stands behind the sign. Raises _MarkSyntaxError."""
    end = len(comment.removesuffix("*/").rstrip())
    word = re.compile(r"\s*([\w-]*)").match(comment, at, end)
    if not word or word[1] != "analyze":
        said = word[1] if word else ""
        raise _MarkSyntaxError(
            f"incc: takes analyze, not {said!r}" if said else "incc: takes analyze", word.start(1) if word else at
        )
    at = word.end()
    name = ""
    mcpu: list[str] = []
    expected: list[tuple[str, int]] = []
    while rest := re.compile(r"[\s,]*(?=\S)").match(comment, at, end):
        at = rest.end()
        if at >= end:
            break
        clause = re.compile(r"(\w+)\s*\(").match(comment, at, end)
        if not clause:
            raise _MarkSyntaxError(f"{comment[at:end].split()[0]!r} is none of name(…), mcpu(…) and expect(…)", at)
        if clause[1] not in _CLAUSES:
            from difflib import get_close_matches

            close = get_close_matches(clause[1], _CLAUSES, 1)
            likely = f", did you mean {close[0]}?" if close else "; there are name, mcpu and expect"
            raise _MarkSyntaxError(f"no {clause[1]!r} in a mark{likely}", at)
        closing = _closing(comment, clause.end(), end)
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
        else:
            for core in re.split(r"[\s,]+", value):
                if not _WORD.fullmatch(core):
                    raise _MarkSyntaxError(f"{core!r} is no name of a core", begin)
                mcpu.append(core)
        at = closing + 1
    return _Said(name, tuple(dict.fromkeys(mcpu)), tuple(expected))


def _closing(text: str, at: int, end: int) -> int:
    """Where the parenthesis is that closes one before `at`, -1 for nowhere."""
    return next((i for i, depth in parentheses(text, at, end) if depth < 0), -1)


def parentheses(text: str, at: int, end: int) -> Iterator[tuple[int, int]]:
    """The parentheses of a condition, or of text around one, from `at` to before `end`: where each is, and how many
    more are open behind it than at the beginning. Those in quotes do not count."""
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
    """A source text: `code`, of the same length, has blanks for all that is no code; `comments` are spans of it."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.code = ""
        self.comments: list[tuple[int, int]] = []
        self._starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column, which counts bytes, as compilers do."""
        from bisect import bisect_right

        line = bisect_right(self._starts, offset)
        before = self.text[self._starts[line - 1] : offset]
        return line, len(before.encode("utf-8", "surrogateescape")) + 1

    def marked(self, start: int, end: int) -> int | None:
        """Where the statement begins that a comment marks."""
        begin = self.text.rfind("\n", 0, start) + 1
        before = re.compile(r"\S").search(self.code, begin, start)
        found = before or re.compile(r"\S").search(self.code, end)
        return found.start() if found else None

    def end_of(self, at: int) -> int:
        """The offset behind the statement that begins at `at`."""
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
            said = match[0]
            if match["comment"]:
                self.comments.append(match.span())
            # A literal is code: what it says is not.
            literal = match["raw"] or match["text"] or match["number"]
            parts.append("0" + _blank(said[1:]) if literal else _blank(said))
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
        """Whether a statement goes on behind a closing brace."""
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
        """Where the comment of a line begins, -1 if it has none."""
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
        """Statements from that of `at` on: where each begins and ends, its label and its text."""
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
        """Whether the line that begins here goes on with the one before: in fixed form by its sixth column."""
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
