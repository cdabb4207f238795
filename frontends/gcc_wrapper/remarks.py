"""A reader of the remarks of gcc's and clang's loop passes.

gcc: the vectoriser's dump (`-fdump-tree-vect-optimized-missed-lineno=FILE`), which names each function by its symbol
and gives the place of each access in the source, and the unroller's, which exists only with `-funroll-loops` or a
pragma. The alternatives are worse: `-fsave-optimization-record` lists everything that any pass considers (2 MB of JSON
for 27 lines of C), `-fopt-info` names neither the function nor the reason that matters, and both change the assembly's
debug information. clang: the YAML of `-fsave-optimization-record`, for the passes that deal with loops.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from incc.frontends.kernel import SourceLocation
from incc.frontends.remarks import Remark, RemarkKind
from incc.support.sources import source_bytes

ReadLine = Callable[[str, int], str]
"""Returns a line of a source file, "" if there is none."""

GCC_VECTORISER, GCC_UNROLLER, CLANG_RECORD = ".vect", ".unroll", ".opt.yaml"
"""Endings of the files that the options below name."""

_CLANG_PASSES = "loop-vectorize|loop-unroll|transform-warning"

MOST = 1 << 26
"""Bytes to read of a file of remarks: more than any source written by hand leads to."""


def gcc_options(own: str) -> list[str]:
    """Return the arguments of cc1, cc1plus and f951 for remarks, in files whose names begin with `own`."""
    return [
        f"-fdump-tree-vect-optimized-missed-lineno={own}{GCC_VECTORISER}",
        f"-fdump-rtl-loop2_unroll-optimized-slim={own}{GCC_UNROLLER}",
    ]


def clang_options(own: str) -> list[str]:
    """Return the arguments of `clang -cc1` for remarks, in files whose names begin with `own`."""
    return ["-opt-record-file", own + CLANG_RECORD, "-opt-record-passes", _CLANG_PASSES, "-opt-record-format", "yaml"]


def read_remarks(own: str, folder: str) -> tuple[Remark, ...]:
    """Return the remarks in the files whose names begin with `own`. Lines of an unknown format are ignored.

    Names of sources are relative to `folder`, the command's.
    """
    remarks: list[Remark] = []
    read_line = _line_reader(folder)
    if dump := _text(own + GCC_VECTORISER):
        remarks += gcc_vectoriser(dump, read_line)
    if dump := _text(own + GCC_UNROLLER):
        remarks += gcc_unroller(dump)
    if record := _text(own + CLANG_RECORD):
        remarks += clang_record(record, read_line)
    return tuple(dict.fromkeys(remarks))


def _text(path: str) -> str:
    try:
        with open(path, "rb") as file:
            return file.read(MOST).decode("utf-8", "surrogateescape")
    except OSError:
        return ""


def _line_reader(folder: str) -> ReadLine:
    files: dict[str, list[str]] = {}

    def read_line(name: str, line: int) -> str:
        if name not in files:
            text = source_bytes(os.path.join(folder, name))
            files[name] = text.decode("utf-8", "surrogateescape").split("\n")
        lines = files[name]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    return read_line


# --- gcc --------------------------------------------------------------------------------------------------------------

_FUNCTION = re.compile(r"^;; Function .*\((\S+), funcdef_no=", re.M)
_MESSAGE = re.compile(r"^(\S[^\n]*?):(\d+):(\d+): (optimized|missed): +(\S[^\n]*)$", re.M)
_VECTORISED = re.compile(
    r"(?:epilogue )?loop vectorized(?: using (\d+) byte vectors)?(?: and unroll factor (\d+))?|.*\bvectorized 1 loops"
)
_DEPENDENCE = re.compile(r"not vectorized, possible dependence between data-refs (.+) and (.+)$")
_UNROLLED = re.compile(r"loop unrolled (\d+) times")
# Reasons that rule out only one of several vector widths. No loop can have the last one.
_POOR = ("no vectype for stmt", "unsupported data-type")
# Reasons not to vectorise a loop that could be vectorised.
_COSTS = ("some scalar iterations would need to be peeled", "Loop costings not worthwhile")


def gcc_vectoriser(text: str, read_line: ReadLine = lambda name, line: "") -> Iterator[Remark]:
    """Yield the remarks on loops in the vectoriser's dump, in its order."""
    heads = list(_FUNCTION.finditer(text))
    for n, head in enumerate(heads):
        end = heads[n + 1].start() if n + 1 < len(heads) else len(text)
        # The heads before the function's code, and before each loop that is vectorised again.
        yield from _gcc_function(head[1], text, head.end(), end, read_line)


def _gcc_function(symbol: str, text: str, start: int, end: int, read_line: ReadLine) -> Iterator[Remark]:
    reasons: list[tuple[str, re.Match[str] | None]] = []
    for match in _MESSAGE.finditer(text, start, end):
        message = match[5]
        place = SourceLocation(match[1], int(match[2]))
        remark = partial(Remark, by="vect", function=symbol, place=place, column=int(match[3]), exact=False)
        if match[4] == "optimized":
            if vectorised := _VECTORISED.match(message):
                width, interleaved = (int(number or 0) for number in vectorised.groups())
                yield remark(kind="vectorised", message=message, vector_bytes=width, interleaved=interleaved)
                reasons.clear()
            elif message.startswith("loop versioned"):
                yield remark(kind="versioned", message=message, why=message.partition(" because of ")[2])
        elif message.startswith("couldn't vectorize loop"):
            good = (each for each in reasons if not any(poor in each[0] for poor in _POOR))
            reason, dependence = next(good, ("", None))
            reasons.clear()
            accesses: tuple[str, ...] = ()
            if dependence:
                accesses = tuple(_gcc_access(dependence[i], text, start, end, read_line) for i in (1, 2))
                accesses = accesses if all(accesses) else ()
            message = f"not vectorized{_colon(reason)}"
            yield remark(kind="not-vectorised", message=message, why=reason, accesses=accesses)
        elif message.startswith(_COSTS):
            reasons.append((message.rstrip("."), None))
        elif message.startswith("not vectorized"):
            reason = message.removeprefix("not vectorized").lstrip(":, ").rstrip(".")
            reasons.append((reason, _DEPENDENCE.match(message)))


def _colon(reason: str) -> str:
    return f": {reason}" if reason else ""


def _gcc_access(reference: str, text: str, start: int, end: int, read_line: ReadLine) -> str:
    """Return a reference to memory (`*_6`, `(*a_22(D))[_10]`, `a[i_12]`) as the source writes it, "" if unknown."""
    at = re.compile(r"\[([^\[\]\n]+?):(\d+):(\d+)\] " + re.escape(reference) + r"(?![\w(])").search(text, start, end)
    if at and (expression := expression_at(read_line(at[1], int(at[2])), int(at[3]))):
        return expression
    name = reference
    if pointer := re.match(r"\*(_\d+)$", reference):
        # _6 = a_14(D) + _5;
        sum_ = re.compile(rf"\b{pointer[1]} = ([A-Za-z]\w*?)(?:_\d+(?:\(D\))?)? \+ ").search(text, start, end)
        name = sum_[1] if sum_ else ""
    if base := re.match(r"\(?\*?([A-Za-z]\w*?)(?:_\d+(?:\(D\))?)?\b", name):
        return base[1]
    return ""


def gcc_unroller(text: str) -> Iterator[Remark]:
    """Yield the remarks on loops in the unroller's dump that were unrolled and are still loops."""
    symbol = ""
    for line in text.split("\n"):
        if " optimized: " not in line and not line.startswith(";; Function "):
            continue
        if head := _FUNCTION.match(line):
            symbol = head[1]
        elif (match := _MESSAGE.match(line)) and (unrolled := _UNROLLED.match(match[5])):
            place = SourceLocation(match[1], int(match[2]))
            remark = partial(Remark, by="loop2_unroll", function=symbol, place=place, column=int(match[3]))
            # gcc counts the copies that it has added.
            yield remark(kind="unrolled", message=match[5], copies=int(unrolled[1]) + 1)


# --- clang ------------------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"\{ File: ('(?:[^']|'')*'|[^,]*), *Line: (\d+), *Column: (\d+) \}", re.S)


def clang_record(text: str, read_line: ReadLine = lambda name, line: "") -> Iterator[Remark]:
    """Yield the remarks on loops in a YAML file.

    Only the part of YAML that LLVM writes is read: documents of `Key: value`, and a list `Args` of such pairs.
    """
    reasons: list[tuple[str, _Document]] = []
    function = ""
    for document in _documents(text):
        if document.function != function:
            reasons.clear()
            function = document.function
        message = " ".join(document.message.split())
        if document.passed == "Passed":
            if document.by == "loop-unroll" and document.number("UnrollCount"):
                yield document.remark("unrolled", message, copies=document.number("UnrollCount"))
            elif document.name in ("Vectorized", "Interleaved"):
                reasons.clear()
                lanes, count = document.number("VectorizationFactor"), document.number("InterleaveCount")
                if document.name == "Vectorized":
                    yield document.remark("vectorised", message, lanes=lanes, interleaved=count)
                else:
                    yield document.remark("unrolled", message, copies=count)
        elif document.by in ("loop-vectorize", "transform-warning"):
            why = message.removeprefix("loop not vectorized").lstrip(": ")
            if "interleav" in document.name.lower():
                continue  # a remark on interleaving alone
            if document.name != "MissedDetails" and "Failed" not in document.name:
                reasons.append((why, document))
                continue
            if not reasons and document.name != "MissedDetails":
                reasons.append((why, document))
            reason, reason_document = reasons[0] if reasons else ("", document)
            reasons.clear()
            message, accesses = f"loop not vectorized{_colon(reason)}", reason_document.accesses(read_line)
            yield document.remark("not-vectorised", message, why=reason, accesses=accesses)


class _Document:
    """One remark of a YAML file: `passed` is its tag."""

    def __init__(self, passed: str, lines: Sequence[str]) -> None:
        self.passed = passed
        self.by = self.name = self.function = ""
        self.place: SourceLocation | None = None
        self.column = 0
        self.arguments: list[tuple[str, str]] = []
        self.places: list[tuple[SourceLocation, int]] = []
        for line in lines:
            key, _, value = line.partition(":")
            value = value.strip()
            if line.startswith("  - "):
                self.arguments.append((key[4:].strip(), _scalar(value)))
            elif key.strip() == "DebugLoc" and (match := _PLACE.search(value)):
                place = SourceLocation(_scalar(match[1]), int(match[2])), int(match[3])
                if line.startswith(" "):
                    self.places.append(place)
                else:
                    self.place, self.column = place
            elif key == "Pass":
                self.by = _scalar(value)
            elif key == "Name":
                self.name = _scalar(value)
            elif key == "Function":
                self.function = _scalar(value)

    @property
    def message(self) -> str:
        return "".join(value for _, value in self.arguments)

    def number(self, key: str) -> int:
        argument = next((value for name, value in self.arguments if name == key), "")
        return int(argument) if argument.isdecimal() else 0

    def accesses(self, read_line: ReadLine) -> tuple[str, ...]:
        """Return the two accesses of a dependence: the remark's own and the one that it names."""
        if self.name != "UnsafeDep" or not self.place or not self.places:
            return ()
        places = [(self.place, self.column), self.places[0]]
        accesses = tuple(expression_at(read_line(place.file, place.line), column) for place, column in places)
        return accesses if all(accesses) else ()

    def remark(self, kind: RemarkKind, message: str, **more: Any) -> Remark:
        place, column = self.place, self.column
        return Remark(
            kind=kind, message=message, by=self.by, function=self.function, place=place, column=column, **more
        )


def _documents(text: str) -> Iterator[_Document]:
    for part in re.split(r"^--- !", text, flags=re.M)[1:]:
        tag, _, rest = part.partition("\n")
        lines: list[str] = []
        for line in rest.partition("\n...")[0].split("\n"):
            # A flow mapping and a quoted text may continue on lines that are indented further.
            if lines and (not line.strip() or (line.startswith("   ") and not re.match(r" {4}\w+: ", line))):
                lines[-1] += " " + line.strip() if line.strip() else "\n"
            else:
                lines.append(line)
        yield _Document(tag.strip(), lines)


def _scalar(text: str) -> str:
    """Return the text of a YAML scalar as LLVM writes them: plain, 'quoted' or "quoted with escapes"."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        escapes = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
        body = re.sub(r"\\x([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), text[1:-1])
        return re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), body)
    return text


# --- expressions of the source ---------------------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*")
_PAIRS = {")": "(", "]": "["}
MOST_OF_EXPRESSION = 40
"""Characters of an expression that is quoted."""


def expression_at(line: str, column: int) -> str:
    """Return the access to memory (`a[i - 1]`) that a compiler refers to by a column of a line of C or C++.

    Columns begin with 1. gcc refers to the bracket, clang to the first character, and both to the operator for a store.
    The result is "" for anything else.
    """
    at = column - 1
    if not 0 <= at < len(line):
        return ""
    if line[at] == "[":
        start = _start_before(line, at)
    elif re.match(r"(?:[-+*/%&|^]|<<|>>)?=(?!=)", line[at:]):
        last = len(line[:at].rstrip())
        start = _start_of_postfix(line, last)
    elif line[at].isalpha() or line[at] == "_":
        start = at
    else:
        return ""
    if start < 0 or not (name := _IDENTIFIER.match(line, start)):
        return ""
    end = name.end()
    while end < len(line) and line[end] == "[":
        end = _matching(line, end)
        if end < 0:
            return ""
        if more := re.match(r"(?:\.|->)[A-Za-z_]\w*", line[end:]):
            end += more.end()
    access = line[start:end]
    return access if "[" in access and len(access) <= MOST_OF_EXPRESSION else ""


def _matching(line: str, at: int) -> int:
    """Return the index after the bracket that closes the one at `at`, -1 if it is not in the line."""
    open_: list[str] = []
    for i in range(at, len(line)):
        if line[i] in "[(":
            open_.append(line[i])
        elif line[i] in _PAIRS:
            if open_.pop() != _PAIRS[line[i]]:
                return -1
            if not open_:
                return i + 1
    return -1


def _start_of_postfix(line: str, end: int) -> int:
    """Return where the postfix expression that ends before `end` begins, -1 if there is none."""
    while end > 0 and line[end - 1] == "]":
        start = next((i for i in range(end - 2, -1, -1) if line[i] == "[" and _matching(line, i) == end), -1)
        if start < 0:
            return -1
        end = start
    return _start_before(line, end)


def _start_before(line: str, end: int) -> int:
    """Return where the name that ends before `end` begins; before the second bracket of `x[i][j]` that is x."""
    if end > 0 and line[end - 1] == "]":
        return _start_of_postfix(line, end)
    name = re.search(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*$", line[:end])
    return name.start() if name else -1
