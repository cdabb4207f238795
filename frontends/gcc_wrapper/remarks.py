"""Reads what gcc and clang write of their loop passes beside the assembly.

gcc: `-fsave-optimization-record` tells everything that any pass considers (2 MB of JSON for 27 lines of C), and
`-fopt-info` neither the function nor, of several reasons, the one that matters, and both stand in the assembly's debug
information. So it is the vectoriser's dump (`-fdump-tree-vect-optimized-missed-lineno=FILE`), which names each function
by its symbol and says where each access is in the source, and that of the unroller, which there is only where
`-funroll-loops` or a pragma asks for it. clang: the YAML of `-fsave-optimization-record`, of the passes that are about
loops.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from incc.frontends.kernel import SourceLocation
from incc.frontends.remarks import Remark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    ReadLine = Callable[[str, int], str]
    """Gives a line of a source file, "" where there is none."""

GCC_VECTORISER, GCC_UNROLLER, CLANG_RECORD = ".vect", ".unroll", ".opt.yaml"
"""Endings of the files that the options below name."""

_CLANG_PASSES = "loop-vectorize|loop-unroll|transform-warning"

MOST = 1 << 26
"""Characters of a file of remarks that are read: more than any that somebody wrote the source of comes to."""


def gcc_options(own: str) -> list[str]:
    """Arguments of cc1, cc1plus and f951 for remarks, in files whose names begin with `own`."""
    return [
        f"-fdump-tree-vect-optimized-missed-lineno={own}{GCC_VECTORISER}",
        f"-fdump-rtl-loop2_unroll-optimized-slim={own}{GCC_UNROLLER}",
    ]


def clang_options(own: str) -> list[str]:
    """Arguments of `clang -cc1` for the same."""
    return ["-opt-record-file", own + CLANG_RECORD, "-opt-record-passes", _CLANG_PASSES, "-opt-record-format", "yaml"]


def read_remarks(own: str, folder: str) -> tuple[Remark, ...]:
    """What is in the files of these names; nothing where there are none, or a compiler of another version writes what
    is not understood here. `folder`: the command's, which names of sources are relative to."""
    found: list[Remark] = []
    read_line = _line_reader(folder)
    if dump := _text(own + GCC_VECTORISER):
        found += gcc_vectoriser(dump, read_line)
    if dump := _text(own + GCC_UNROLLER):
        found += gcc_unroller(dump)
    if record := _text(own + CLANG_RECORD):
        found += clang_record(record, read_line)
    return tuple(dict.fromkeys(found))


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
            path = os.path.join(folder, name)
            # A name may be that of a pipe.
            files[name] = _text(path).split("\n") if os.path.isfile(path) else []
        lines = files[name]
        return lines[line - 1] if 0 < line <= len(lines) else ""

    return read_line


# --- gcc --------------------------------------------------------------------------------------------------------------

_FUNCTION = re.compile(r"^;; Function .*\((\S+), funcdef_no=", re.M)
_SAID = re.compile(r"^(\S[^\n]*?):(\d+):(\d+): (optimized|missed): +(\S[^\n]*)$", re.M)
_VECTORISED = re.compile(
    r"(?:epilogue )?loop vectorized(?: using (\d+) byte vectors)?(?: and unroll factor (\d+))?|.*\bvectorized 1 loops"
)
_DEPENDENCE = re.compile(r"not vectorized, possible dependence between data-refs (.+) and (.+)$")
_UNROLLED = re.compile(r"loop unrolled (\d+) times")
# What only says that one of several widths, the last of which no loop can have, is not to be had.
_POOR = ("no vectype for stmt", "unsupported data-type")
# Why a loop that could be vectorised is not.
_COSTS = ("some scalar iterations would need to be peeled", "Loop costings not worthwhile")


def gcc_vectoriser(text: str, read_line: ReadLine = lambda name, line: "") -> Iterator[Remark]:
    """What the vectoriser's dump says of loops, in its order."""
    heads = list(_FUNCTION.finditer(text))
    for n, head in enumerate(heads):
        end = heads[n + 1].start() if n + 1 < len(heads) else len(text)
        # In front of the function's code, and of each loop that it has vectorised once more.
        yield from _gcc_function(head[1], text, head.end(), end, read_line)


def _gcc_function(symbol: str, text: str, start: int, end: int, read_line: ReadLine) -> Iterator[Remark]:
    why: list[tuple[str, re.Match[str] | None]] = []
    for match in _SAID.finditer(text, start, end):
        place, column = SourceLocation(match[1], int(match[2])), int(match[3])
        said = match[5]
        if match[4] == "optimized":
            if found := _VECTORISED.match(said):
                width, copies = int(found[1] or 0), int(found[2] or 0)
                yield Remark(
                    kind="vectorised",
                    said=said,
                    by="vect",
                    function=symbol,
                    place=place,
                    column=column,
                    exact=False,
                    vector_bytes=width,
                    interleaved=copies,
                )
                why.clear()
            elif said.startswith("loop versioned"):
                yield Remark(
                    kind="versioned",
                    said=said,
                    by="vect",
                    function=symbol,
                    place=place,
                    column=column,
                    exact=False,
                    why=said.partition(" because of ")[2],
                )
        elif said.startswith("couldn't vectorize loop"):
            reason, dependence = next((each for each in why if not any(poor in each[0] for poor in _POOR)), ("", None))
            why.clear()
            accesses: tuple[str, ...] = ()
            if dependence:
                accesses = tuple(_gcc_access(dependence[i], text, start, end, read_line) for i in (1, 2))
                accesses = accesses if all(accesses) else ()
            yield Remark(
                kind="not-vectorised",
                said=f"not vectorized{_colon(reason)}",
                by="vect",
                function=symbol,
                place=place,
                column=column,
                exact=False,
                why=reason,
                accesses=accesses,
            )
        elif said.startswith(_COSTS):
            why.append((said.rstrip("."), None))
        elif said.startswith("not vectorized"):
            reason = said.removeprefix("not vectorized").lstrip(":, ").rstrip(".")
            why.append((reason, _DEPENDENCE.match(said)))


def _colon(reason: str) -> str:
    return f": {reason}" if reason else ""


def _gcc_access(reference: str, text: str, start: int, end: int, read_line: ReadLine) -> str:
    """A reference to memory in gcc's words, `*_6` or `(*a_22(D))[_10]` or `a[i_12]`, in the source's; "" if that is not
    to be had."""
    at = re.compile(r"\[([^\[\]\n]+?):(\d+):(\d+)\] " + re.escape(reference) + r"(?![\w(])").search(text, start, end)
    if at and (expression := expression_at(read_line(at[1], int(at[2])), int(at[3]))):
        return expression
    name = reference
    if pointer := re.match(r"\*(_\d+)$", reference):
        # _6 = a_14(D) + _5;
        made = re.compile(rf"\b{pointer[1]} = ([A-Za-z]\w*?)(?:_\d+(?:\(D\))?)? \+ ").search(text, start, end)
        name = made[1] if made else ""
    if base := re.match(r"\(?\*?([A-Za-z]\w*?)(?:_\d+(?:\(D\))?)?\b", name):
        return base[1]
    return ""


def gcc_unroller(text: str) -> Iterator[Remark]:
    """What the unroller's dump says was unrolled and is a loop still."""
    symbol = ""
    for line in text.split("\n"):
        if " optimized: " not in line and not line.startswith(";; Function "):
            continue
        if head := _FUNCTION.match(line):
            symbol = head[1]
        elif (match := _SAID.match(line)) and (found := _UNROLLED.match(match[5])):
            place = SourceLocation(match[1], int(match[2]))
            # It counts the copies that it has added.
            copies = int(found[1]) + 1
            yield Remark(
                kind="unrolled",
                said=match[5],
                by="loop2_unroll",
                function=symbol,
                place=place,
                column=int(match[3]),
                copies=copies,
            )


# --- clang ------------------------------------------------------------------------------------------------------------

_PLACE = re.compile(r"\{ File: ('(?:[^']|'')*'|[^,]*), *Line: (\d+), *Column: (\d+) \}", re.S)


def clang_record(text: str, read_line: ReadLine = lambda name, line: "") -> Iterator[Remark]:
    """What a YAML file of remarks says of loops. Of YAML only what LLVM writes is read: documents of `Key: value` and a
    list `Args` of such pairs."""
    reasons: list[tuple[str, _Document]] = []
    function = ""
    for document in _documents(text):
        if document.function != function:
            reasons.clear()
            function = document.function
        said = " ".join(document.message.split())
        if document.passed == "Passed":
            if document.by == "loop-unroll" and document.number("UnrollCount"):
                yield document.remark("unrolled", said, copies=document.number("UnrollCount"))
            elif document.name in ("Vectorized", "Interleaved"):
                reasons.clear()
                lanes, count = document.number("VectorizationFactor"), document.number("InterleaveCount")
                if document.name == "Vectorized":
                    yield document.remark("vectorised", said, lanes=lanes, interleaved=count)
                else:
                    yield document.remark("unrolled", said, copies=count)
        elif document.by in ("loop-vectorize", "transform-warning"):
            why = said.removeprefix("loop not vectorized").lstrip(": ")
            if "interleav" in document.name.lower():
                continue  # beside vectorising, or in place of it
            if document.name != "MissedDetails" and "Failed" not in document.name:
                reasons.append((why, document))
                continue
            if not reasons and document.name != "MissedDetails":
                reasons.append((why, document))
            first = next((each for each in reasons), None)
            reasons.clear()
            reason, of = first or ("", document)
            yield document.remark(
                "not-vectorised",
                f"loop not vectorized{_colon(reason)}",
                why=reason,
                accesses=of.accesses(read_line),
            )


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
            elif key.strip() == "DebugLoc" and (found := _PLACE.search(value)):
                place = SourceLocation(_scalar(found[1]), int(found[2])), int(found[3])
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
        found = next((value for name, value in self.arguments if name == key), "")
        return int(found) if found.isdecimal() else 0

    def accesses(self, read_line: ReadLine) -> tuple[str, ...]:
        """Of a dependence the two accesses: that of the remark and the one that it names."""
        if self.name != "UnsafeDep" or not self.place or not self.places:
            return ()
        of = [(self.place, self.column), self.places[0]]
        found = tuple(expression_at(read_line(place.file, place.line), column) for place, column in of)
        return found if all(found) else ()

    def remark(
        self,
        kind: str,
        said: str,
        *,
        lanes: int = 0,
        interleaved: int = 0,
        copies: int = 0,
        why: str = "",
        accesses: tuple[str, ...] = (),
    ) -> Remark:
        return Remark(
            kind=kind,  # type: ignore[arg-type]
            said=said,
            by=self.by,
            function=self.function,
            place=self.place,
            column=self.column,
            lanes=lanes,
            interleaved=interleaved,
            copies=copies,
            why=why,
            accesses=accesses,
        )


def _documents(text: str) -> Iterator[_Document]:
    for part in re.split(r"^--- !", text, flags=re.M)[1:]:
        tag, _, rest = part.partition("\n")
        lines: list[str] = []
        for line in rest.partition("\n...")[0].split("\n"):
            # A flow mapping and a quoted text may go on in lines that are indented further.
            if lines and (not line.strip() or (line.startswith("   ") and not re.match(r" {4}\w+: ", line))):
                lines[-1] += " " + line.strip() if line.strip() else "\n"
            else:
                lines.append(line)
        yield _Document(tag.strip(), lines)


def _scalar(text: str) -> str:
    """A YAML scalar as LLVM writes them: plain, 'quoted' or "quoted with escapes"."""
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    if len(text) > 1 and text[0] == text[-1] == '"':
        escapes = {"n": "\n", "t": "\t", "r": "\r", "0": "\0", "e": "\x1b"}
        body = re.sub(r"\\x([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), text[1:-1])
        return re.sub(r"\\(.)", lambda m: escapes.get(m[1], m[1]), body)
    return text


# --- what the source writes there ------------------------------------------------------------------------------------

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*")
_PAIRS = {")": "(", "]": "["}
MOST_OF_EXPRESSION = 40
"""Characters of an expression that is quoted."""


def expression_at(line: str, column: int) -> str:
    """The access to memory that a compiler means by a column (from 1) of a line of C or C++: `a[i - 1]`.

    gcc means the bracket, clang the first character; both the operator for a store. "" for anything else.
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
    found = line[start:end]
    return found if "[" in found and len(found) <= MOST_OF_EXPRESSION else ""


def _matching(line: str, at: int) -> int:
    """The index behind the bracket that closes the one at `at`, -1 if it is not in the line."""
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
    """Where the postfix expression begins that ends before `end`, -1 if there is none."""
    while end > 0 and line[end - 1] == "]":
        start = next((i for i in range(end - 2, -1, -1) if line[i] == "[" and _matching(line, i) == end), -1)
        if start < 0:
            return -1
        end = start
    return _start_before(line, end)


def _start_before(line: str, end: int) -> int:
    """Where a name begins that ends before `end`; of `x[i][j]` before the second bracket that of x."""
    if end > 0 and line[end - 1] == "]":
        return _start_of_postfix(line, end)
    found = re.search(r"[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)*$", line[:end])
    return found.start() if found else -1
