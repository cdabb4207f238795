"""The report as a compiler's diagnostics: remarks at the lines of loops, and warnings for unmet expectations.

They look like those of the compiler that the command is for, and follow its options for diagnostics, so that editors
and build tools read them as they read the compiler's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from incc.report import types as t
from incc.views.layout import harmless
from incc.views.text import header
from incc.views.text.memory import level_cycles

Sources = Mapping[str, Mapping[int, str]]
"""Lines of sources, by the report's names of files."""
Place = tuple[str, int, int]
"""File, line and column; 0 for unknown ones."""
Advice = tuple[int, str]
"""The column after the marked text (0: unknown), and the text to replace it with (empty: none)."""

REMARK, WARNING, ERROR, NOTE = "remark", "warning", "error", "note"

_GCC = {REMARK: "01;34", WARNING: "01;35", ERROR: "01;31", NOTE: "01;36"}
_CLANG = {REMARK: "0;1;34", WARNING: "0;1;35", ERROR: "0;1;31", NOTE: "0;1;36"}
_BOLD, _CARET, _FIX = "01", "01;32", "32"
_STYLES = frozenset(("0", _BOLD, _CARET, _FIX, *_GCC.values(), *_CLANG.values()))
_NUMBERS = 5
"""Width of line numbers in both compilers' output."""


class Style:
    """The look of diagnostics, by the compiler and its options.

    Attributes:
        clang: The compiler is clang or a relative.
        caret: The line of the source is shown, with a caret.
        numbers: Its number is in front of it.
        columns: Places have columns.
        options: Messages end with the option that controls them.
        functions: A line above the messages names the function.
        colour: Messages have styles.
    """

    __slots__ = ("caret", "clang", "colour", "columns", "functions", "numbers", "options")

    def __init__(self, unit: t.UnitReport, colour: bool) -> None:
        self.clang = _is_clang(unit)
        version = int(first) if (first := unit.compiler_version.partition(".")[0]).isdecimal() else 0
        words = unit.command
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
        """Return the text in a style, unchanged without colour."""
        return f"\033[{style}m{text}\033[0m" if self.colour else text


def _is_clang(unit: t.UnitReport) -> bool:
    name = unit.compiler.lower()
    return "clang" in name or name in ("icx", "icpx", "flang")


def _on(words: Sequence[str], option: str, default: bool) -> bool:
    """Return the state of an option that can be negated: the last one counts."""
    off = f"-fno-{option.removeprefix('-f')}"
    states = [word == option for word in words if word in (option, off)]
    return states[-1] if states else default


def _colour(words: Sequence[str], default: bool) -> bool:
    for word in reversed(words):
        name, _, when = word.partition("=")
        if name in ("-fdiagnostics-color", "-fcolor-diagnostics"):
            return default if when == "auto" else when != "never"
        if name in ("-fno-diagnostics-color", "-fno-color-diagnostics"):
            return False
    return default


def remarks(report: t.AnalysisReport, sources: Sources, colour: bool = False) -> str:
    """Return a remark on each loop that is no remainder or the like, with notes: verdict, compiler's remarks, hints."""
    lines: list[str] = []
    for unit in report.units:
        style = Style(unit, colour)
        above = ""
        for kernel in unit.kernels:
            if kernel.role.of:
                continue
            at = place(unit, kernel)
            function = kernel.source_function if kernel.inlined_into else kernel.function_name
            here = f"{at[0]}: In function '{function}':"
            if style.functions and function and here != above:
                lines.append(_line(style, f"{at[0]}: In function '{style.paint(function, _BOLD)}':"))
                above = here
            lines += _diagnostic(style, at, REMARK, headline(unit, kernel), "-Rincc", sources)
            for frame in reversed(kernel.inlined_into):
                text = f"inlined into '{frame.function}'"
                lines += _diagnostic(style, (frame.file, frame.line, 0), NOTE, text, "", {})
            for text in notes(kernel):
                lines += _diagnostic(style, at, NOTE, text, "", {})
    return "".join(f"{line}\n" for line in lines)


def headline(unit: t.UnitReport, kernel: t.KernelReport) -> str:
    """Return a kernel in a line."""
    least = "at least " if kernel.at_least else ""
    text = f"{least}{kernel.cycles:.2f} cycles per iteration on {unit.model.name}"
    if kernel.elements and kernel.elements.per_iteration != 1:
        text += f", {kernel.elements.cycles:.3g} per element"
    if kernel.data and (levels := kernel.data.beyond_l1):
        text += f" ({', '.join(f'{level_cycles(level)} from {level.name}' for level in levels)})"
    words = kernel.overview
    more = [word for word in (words.vector, words.limit and f"bound by {words.limit}") if word]
    return f"{text}: {', '.join(more)}" if more else text


def notes(kernel: t.KernelReport) -> Iterator[str]:
    """Yield the notes on a kernel."""
    yield kernel.verdict
    spread = header.range_worth_saying(kernel)
    if spread:
        yield spread.text
    if kernel.remarks:
        yield f"the compiler says: {header.remarks(kernel)}"
    yield from kernel.notes
    for hint in kernel.hints:
        yield hint.text


def place(unit: t.UnitReport, kernel: t.KernelReport) -> Place:
    """Return file, line and column of a kernel in the source, else in the assembly; 0 for unknown ones.

    If the compiler has remarked on the loop, its place counts: gcc gives the branch that closes a loop the line of the
    last statement in it.
    """
    source = kernel.source
    for remark in kernel.remarks:
        if remark.kind != "unrolled" and (there := remark.source) and source and there.file == source.file:
            return there.file, there.line, remark.column
    if source:
        return source.file, source.line, kernel.column
    return unit.assembly_file, kernel.first_line, 0


def warnings(report: t.AnalysisReport, sources: Sources, colour: bool = False, error: bool = False) -> str:
    """Return warnings, or errors, on unmet expectations and faulty marks in the source."""
    lines: list[str] = []
    kind, option = (ERROR, "-Werror=incc") if error else (WARNING, "-Wincc")
    for unit in report.units:
        style = Style(unit, colour)
        problems = dict.fromkeys(((at.file, at.line, column), text, advice) for at, column, text, advice in unmet(unit))
        for place_of_problem, text, advice in sorted(problems, key=lambda problem: problem[0]):
            lines += _diagnostic(style, place_of_problem, kind, text, option, sources, advice)
    return "".join(f"{line}\n" for line in lines)


def unmet(unit: t.UnitReport) -> Iterator[tuple[t.SourceLocation, int, str, Advice]]:
    """Yield line, column, text and advice of each warning."""
    for problem in unit.mark_problems:
        advice = (problem.end_column, problem.fix or "")
        yield problem.source, problem.column, problem.text, advice
    for mark in unit.marks:
        for expectation in mark.expectations:
            if not expectation.holds:
                yield mark.at, mark.at_column, expectation.text, (0, "")


def _diagnostic(
    style: Style, at: Place, kind: str, text: str, option: str, sources: Sources, advice: Advice = (0, "")
) -> Iterator[str]:
    file, line, column = at
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
    """Return the number of characters before a column, which counts bytes."""
    return len(source.encode("utf-8", "surrogateescape")[: max(column - 1, 0)].decode("utf-8", "replace"))


def _line(style: Style, text: str) -> str:
    """Return a line without control characters, except for our own colours."""
    return harmless(text, style.colour, _STYLES)
