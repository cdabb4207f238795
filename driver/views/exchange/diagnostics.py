"""The report as a compiler's diagnostics, at the lines of the loops: remarks on them, and warnings where what the
source expects is not so.

They look like those of the compiler that the command is for, and its options for diagnostics count: editors and build
tools read them as they read the compiler's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.layout import harmless
from incc.driver.views.text import header

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from incc.driver.report import types as t

    Sources = Mapping[str, Mapping[int, str]]
    """Lines of sources, by the report's names of files."""

    Advice = tuple[int, str]
    """The column behind what is meant, 0 for not known, and what to write instead of it, "" for nothing to show."""

REMARK, WARNING, ERROR, NOTE = "remark", "warning", "error", "note"

_GCC = {REMARK: "01;34", WARNING: "01;35", ERROR: "01;31", NOTE: "01;36"}
_CLANG = {REMARK: "0;1;34", WARNING: "0;1;35", ERROR: "0;1;31", NOTE: "0;1;36"}
_BOLD, _CARET, _FIX = "01", "01;32", "32"
_NUMBERS = 5
"""Columns for the number of a line, as both compilers have them."""


class Style:
    """How diagnostics look: `caret` for the line of the source, `numbers` in front of it, `columns` behind lines,
    `options` behind messages, `functions` above them, and `colour`."""

    __slots__ = ("caret", "clang", "colour", "columns", "functions", "numbers", "options")

    def __init__(self, unit: t.Unit, colour: bool) -> None:
        self.clang = _is_clang(unit)
        version = int(first) if (first := unit["compiler_version"].partition(".")[0]).isdecimal() else 0
        words = unit["command"]
        plain = "-fdiagnostics-plain-output" in words
        # clang had no numbers before 17, gcc none before 9.
        self.numbers = _on(words, "-fdiagnostics-show-line-numbers", not plain and version >= (17 if self.clang else 9))
        self.caret = _on(words, "-fdiagnostics-show-caret", not plain)
        if "-fno-caret-diagnostics" in words:
            self.caret = False
        self.columns = _on(words, "-fshow-column", True)
        self.options = _on(words, "-fdiagnostics-show-option", True)
        self.functions = not self.clang
        self.colour = _colour(words, colour and not plain)

    def paint(self, text: str, style: str) -> str:
        return f"\033[{style}m{text}\033[0m" if self.colour else text


def _is_clang(unit: t.Unit) -> bool:
    name = unit["compiler"].lower()
    return "clang" in name or name in ("icx", "icpx", "flang")


def _on(words: Sequence[str], option: str, default: bool) -> bool:
    """Whether an option that can be negated is on: the last one counts."""
    off = f"-fno-{option.removeprefix('-f')}"
    found = [word == option for word in words if word in (option, off)]
    return found[-1] if found else default


def _colour(words: Sequence[str], default: bool) -> bool:
    for word in reversed(words):
        name, _, when = word.partition("=")
        if name in ("-fdiagnostics-color", "-fcolor-diagnostics"):
            return default if when == "auto" else when != "never"
        if name in ("-fno-diagnostics-color", "-fno-color-diagnostics"):
            return False
    return default


def remarks(report: t.Report, sources: Sources, colour: bool = False) -> str:
    """A remark on each loop that is not another one's remainder or the like, with notes: the verdict, what the compiler
    said, and the hints."""
    lines: list[str] = []
    for unit in report["units"]:
        style = Style(unit, colour)
        above = ""
        for kernel in unit["kernels"]:
            if kernel["role"]["of"]:
                continue
            file, line, column = place(unit, kernel)
            function = kernel["source_function"] if kernel["inlined_into"] else kernel["function_name"]
            here = f"{file}: In function '{function}':"
            if style.functions and function and here != above:
                lines.append(_line(style, f"{file}: In function '{style.paint(function, _BOLD)}':"))
                above = here
            lines += _diagnostic(style, file, line, column, REMARK, headline(unit, kernel), "-Rincc", sources)
            for frame in reversed(kernel["inlined_into"]):
                text = f"inlined into '{frame['function']}'"
                lines += _diagnostic(style, frame["file"], frame["line"], 0, NOTE, text, "", {})
            for text in notes(kernel):
                lines += _diagnostic(style, file, line, column, NOTE, text, "", {})
    return "".join(f"{line}\n" for line in lines)


def headline(unit: t.Unit, kernel: t.Kernel) -> str:
    """A kernel in a line."""
    least = "at least " if kernel["at_least"] else ""
    text = f"{least}{kernel['cycles']:.2f} cycles an iteration on {unit['model']['name']}"
    if kernel["elements"] and kernel["elements"]["per_iteration"] != 1:
        text += f", {kernel['elements']['cycles']:.3g} an element"
    words = kernel["overview"]
    more = [word for word in (words["vector"], words["limit"] and f"bound by {words['limit']}") if word]
    return f"{text}: {', '.join(more)}" if more else text


def notes(kernel: t.Kernel) -> Iterator[str]:
    """What else is said of a kernel, a note each."""
    yield kernel["verdict"]
    spread = header.range_worth_saying(kernel)
    if spread:
        yield spread["text"]
    if kernel["remarks"]:
        yield f"the compiler says: {header.remarks(kernel)}"
    yield from kernel["notes"]
    for hint in kernel["hints"]:
        yield hint["text"]


def place(unit: t.Unit, kernel: t.Kernel) -> tuple[str, int, int]:
    """File, line and column of a kernel: in the source, else in the assembly; 0 for what is not known.

    It is where the compiler says that the loop is, if it said something of it: gcc gives the branch that closes a loop
    the line of the last statement in it.
    """
    source = kernel["source"]
    for remark in kernel["remarks"]:
        if remark["kind"] != "unrolled" and (there := remark["source"]) and source and there["file"] == source["file"]:
            return there["file"], there["line"], remark["column"]
    if source:
        return source["file"], source["line"], kernel["column"]
    return unit["assembly_file"], kernel["first_line"], 0


def warnings(report: t.Report, sources: Sources, colour: bool = False, error: bool = False) -> str:
    """What of the expectations in the source does not hold, and what is wrong with its marks. `error`: as errors."""
    lines: list[str] = []
    kind, option = (ERROR, "-Werror=incc") if error else (WARNING, "-Wincc")
    for unit in report["units"]:
        style = Style(unit, colour)
        found = dict.fromkeys(
            (at["file"], at["line"], column, text, advice) for at, column, text, advice in unmet(unit)
        )
        for file, line, column, text, advice in sorted(found, key=lambda key: key[:3]):
            lines += _diagnostic(style, file, line, column, kind, text, option, sources, advice)
    return "".join(f"{line}\n" for line in lines)


def unmet(unit: t.Unit) -> Iterator[tuple[t.Location, int, str, Advice]]:
    """What is to be warned of: its line, column, text, and advice."""
    for problem in unit["mark_problems"]:
        advice = (problem["end_column"], problem["fix"] or "")
        yield problem["source"], problem["column"], problem["text"], advice
    for mark in unit["marks"]:
        for expectation in mark["expectations"]:
            if not expectation["holds"]:
                yield mark["at"], mark["at_column"], expectation["text"], (0, "")


def _diagnostic(
    style: Style,
    file: str,
    line: int,
    column: int,
    kind: str,
    text: str,
    option: str,
    sources: Sources,
    advice: Advice = (0, ""),
) -> Iterator[str]:
    end_column, fix = advice
    where = f"{file}:{line}" if line else file
    if column and style.columns:
        where += f":{column}"
    colours = _CLANG if style.clang else _GCC
    head = f"{style.paint(f'{where}:', _BOLD)} {style.paint(f'{kind}:', colours[kind])} "
    # clang has its messages bold, but for notes.
    head += style.paint(text, _BOLD) if style.clang and kind != NOTE else text
    if option and style.options:
        head += f" [{option if style.clang else style.paint(option, colours[kind])}]"
    yield _line(style, head)
    source = sources.get(file, {}).get(line, "")
    if style.caret and source:
        # A tab is as wide under the caret as above it.
        shown = source.rstrip("\r").replace("\t", " ")
        before = _characters(source, column)
        number, gap = (f"{line:{_NUMBERS}} |", f"{'':{_NUMBERS}} |") if style.numbers else ("", "")
        blank = " " if style.numbers or not style.clang else ""
        yield _line(style, f"{number}{blank}{shown}")
        if column:
            marked = "^".ljust(_characters(source, end_column) - before, "~")
            yield f"{gap}{blank}{' ' * before}{style.paint(marked, _CARET)}"
        if column and fix:
            yield _line(style, f"{gap}{blank}{' ' * before}{style.paint(fix, _FIX)}")


def _characters(source: str, column: int) -> int:
    """The characters of a line before a column, which counts bytes."""
    return len(source.encode("utf-8", "surrogateescape")[: max(column - 1, 0)].decode("utf-8", "replace"))


def _line(style: Style, text: str) -> str:
    """A line without what moves a terminal's cursor but for our own colours."""
    if not style.colour:
        return harmless(text, False)
    parts = text.split("\033[")
    found = [harmless(parts[0], False)]
    for part in parts[1:]:
        code, end, rest = part.partition("m")
        known = bool(end) and all(c.isdigit() or c == ";" for c in code)
        found.append(f"\033[{code}m{harmless(rest, False)}" if known else harmless(f"\033[{part}", False))
    return "".join(found)
