"""The layout of text: the width of lines, colour, names of files, and numbers in columns."""

from __future__ import annotations

import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TextIO

from msgspec.structs import replace

from incc.report.source.places import assembly_is_kept
from incc.support.text import CONTROLS

if TYPE_CHECKING:
    from incc.report import types as t


# Where a line has to be cut, at least so much of an instruction stays (with narrow columns, if need be).
MIN_TEXT = 28

BOLD, RED, GREEN, YELLOW = "1", "31", "32", "33"

_STYLES = frozenset(("0", BOLD, RED, GREEN, YELLOW))


def harmless(line: str, colour: bool, styles: Container[str] = _STYLES) -> str:
    """Return a line that is safe for a terminal.

    Control characters are written out, except for our own styles with colour.
    """
    if line.isprintable():
        return line
    head, *rest = line.split("\033[") if colour else [line]
    parts = [head.translate(CONTROLS)]
    for part in rest:
        style, end, text = part.partition("m")
        ours = end and style in styles
        parts.append(f"\033[{style}m{text.translate(CONTROLS)}" if ours else f"\033[{part}".translate(CONTROLS))
    return "".join(parts)


class Layout:
    """The room, colour and names of a text.

    Attributes:
        width: Columns of a line, 0 for any number.
        colour: The text may have styles.
        uops: A timeline has rows for µops, not one for each instruction as llvm-mca's.
        views: The views that are shown: what one of them has in full, another need not have.
        sources: Lines of source files by number, by the names of the files.
    """

    __slots__ = ("_files", "colour", "sources", "uops", "views", "width")

    def __init__(
        self,
        width: int,
        colour: bool,
        uops: bool = True,
        views: Sequence[str] = (),
        sources: Mapping[str, Mapping[int, str]] | None = None,
    ) -> None:
        self.width = width
        self.colour = colour
        self.uops = uops
        self.views = views
        self.sources = sources or {}
        self._files: dict[str, str] = {}

    def name_files(self, report: t.AnalysisReport) -> None:
        """Find short names for the files of a report that distinguish them."""
        files: dict[str, None] = {}
        for unit in report.units:
            places = [call.source for call in unit.became_calls]
            for kernel in unit.kernels:
                places += [kernel.source, kernel.near]
                files.update(dict.fromkeys(frame.file for frame in (*kernel.inlined, *kernel.inlined_into)))
                places += [instruction.source for instruction in kernel.instructions]
            files.update(dict.fromkeys(place.file for place in places if place))
        self.name_paths(files)

    def name_paths(self, paths: Iterable[str]) -> None:
        """Find short names for these files that distinguish them."""
        self._files = short_files(paths)

    def file(self, path: str) -> str:
        """Return the short name of a file."""
        return self._files.get(path) or short_files([path])[path]

    def place(self, place: t.SourceLocation | t.Frame) -> str:
        """Return a place in the source as file:line."""
        return f"{self.file(place.file)}:{place.line}"

    def assembly_place(self, source: str, assembly_file: str, line: int) -> str:
        """Return a line of assembly as file:line, or after the source if the assembly was a compiler's and is gone."""
        kept = assembly_is_kept(source, assembly_file)
        return f"{self.file(assembly_file)}:{line}" if kept else f"{self.file(source)} asm {line}"

    def paint(self, text: str, style: str) -> str:
        """Return the text in a style (ANSI parameters), unchanged without colour or if it is blank."""
        return f"\033[{style}m{text}\033[0m" if self.colour and style and text.strip() else text

    def cut(self, text: str, used: int) -> str:
        """Return the text with blanks for tabs, cut with … to the room that `used` characters leave in the line."""
        text = text.replace("\t", " ")
        room = self.width - used
        if not self.width or len(text) <= room:
            return text
        return text[: max(room - 1, 0)] + "…"

    def wrap(self, text: str, first: str = "", indent: str = "", style: str = "") -> Iterator[str]:
        """Yield the text in lines of a style, broken at blanks but not at no-break spaces.

        `first` leads the first line, `indent` the others.
        """
        line = first
        empty = True
        for word in text.split(" "):
            if not empty and self.width and len(line) + 1 + len(word) > self.width:
                yield self.paint(line.replace("\xa0", " "), style)
                line, empty = indent, True
            line = f"{line}{'' if empty else ' '}{word}"
            empty = False
        yield self.paint(line.replace("\xa0", " "), style)


def in_order(report: t.AnalysisReport) -> t.AnalysisReport:
    """Return a report with the kernels in the overview's order: each main loop is followed by those related to it."""
    return replace(report, units=[replace(unit, kernels=_in_order(unit.kernels)) for unit in report.units])


def _in_order(kernels: Sequence[t.KernelReport]) -> list[t.KernelReport]:
    position = {kernel.kernel_id: n for n, kernel in enumerate(kernels)}

    def place(n: int) -> tuple[int, int]:
        main = position.get(kernels[n].role.of)
        return (n, -1) if main is None else (main, n)

    return [kernels[n] for n in sorted(range(len(kernels)), key=place)]


def short_files(paths: Iterable[str]) -> dict[str, str]:
    """Return a short name for each file.

    A file below the working directory is named by its path from there, and a relative path stays as it is. Any other
    file is named by `…/` and as many of the last parts of its path, at least two, as distinguish it from the others.
    """
    try:
        here = os.getcwd().rstrip("/") + "/"
    except OSError:  # it has been removed
        here = "/"
    paths = list(dict.fromkeys(paths))
    names: dict[str, str] = {}
    elsewhere: dict[str, list[str]] = {}
    for path in paths:
        # Compilers that were found through a link write `..` after a folder.
        whole = os.path.normpath(path) if "/./" in path or "/../" in path or path[:2] == "./" else path
        if whole[:1] != "/":
            names[path] = whole
        elif whole.startswith(here) and here != "/":
            names[path] = whole[len(here) :]
        else:
            elsewhere[path] = whole.strip("/").split("/")
    # A build has thousands of files: each number of parts is looked at once for all.
    left = {path: tuple(parts) for path, parts in elsewhere.items()}
    distinct = set(left.values())
    count = 2
    while left:
        ends: dict[tuple[str, ...], int] = {}
        for parts in distinct:
            ends[parts[-count:]] = ends.get(parts[-count:], 0) + 1
        for path, parts in list(left.items()):
            if count >= len(parts) or ends[parts[-count:]] == 1:
                names[path] = f"…/{'/'.join(parts[-count:])}" if count < len(parts) else f"/{'/'.join(parts)}"
                del left[path]
        count += 1
    return {path: names[path] for path in paths}


def terminal(stream: TextIO) -> tuple[int, bool]:
    """Return the width for a stream and whether to use colour.

    A terminal has its own width, and colour. Elsewhere the width is $COLUMNS or 120, without colour. $NO_COLOR
    (no-color.org) and TERM=dumb switch colour off.
    """
    environment = os.environ
    columns = environment.get("COLUMNS", "")
    width = int(columns) if columns.isdecimal() else 0
    try:
        is_terminal = stream.isatty()
        width = width or (os.get_terminal_size(stream.fileno()).columns if is_terminal else 0)
    except (OSError, ValueError):  # closed, or a stream without a file descriptor
        is_terminal = False
    colour = is_terminal and not environment.get("NO_COLOR") and environment.get("TERM") != "dumb"
    return width or 120, colour


def cycles(number: float) -> str:
    """Return cycles with two decimals, - for none."""
    return f"{number:.2f}" if number else "-"


def each(cycles: float) -> str:
    """Return cycles per element, with three decimals below 1, which distinguish 0.125 from 0.12."""
    return f"{cycles:.2f}" if cycles >= 1 else f"{cycles:.3f}"


def percent(share: float) -> str:
    """Return a share of 1 in whole percent, with a no-break space."""
    return f"{100 * share:.0f}\xa0%"


def unknown_legend(kernel: t.KernelReport) -> str:
    """Return the meaning of X for the end of a legend, nothing if no instruction is marked so."""
    return "; X:\xa0not in the model, excluded from all totals" if kernel.unknown_instructions else ""
