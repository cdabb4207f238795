"""Places and kernels that users name: lines of the assembly or of its source, and loops."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

import msgspec

from incc.report import types as t


class NamedLine(msgspec.Struct, frozen=True):
    """A line that a user names."""

    file: str
    """The file; empty if not given (see `is_at`)."""
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.file else f"line {self.line}"


def assembly_is_kept(source: str, assembly_file: str) -> bool:
    """Return True unless assembly was a compiler's, of a source, and is not kept."""
    return source in ("", assembly_file) or "/" in assembly_file


def parse(text: str) -> NamedLine:
    """Parse a place such as `12`, `triad.c:12` or `triad.s:30`. Raises ValueError."""
    file, colon, number = text.rpartition(":")
    if not (number.isdecimal() and int(number) > 0) or (colon and not file):
        raise ValueError(f"takes a line or FILE:LINE, not {text!r}")
    return NamedLine(file, int(number))


def is_at(instruction: t.InstructionReport, unit: t.UnitReport, place: NamedLine) -> bool:
    """Return True if an instruction of a unit's report is at a place.

    A line without a file is a line of the source if the unit was compiled, otherwise of the assembly. A file may be
    either, or another source such as a header, and needs only the last parts of its path.
    """
    source = instruction.source
    if not place.file:
        if not unit.source:
            return bool(instruction.line == place.line)
        return bool(source and source.line == place.line and same_file(source.file, unit.source))
    if same_file(unit.assembly_file, place.file) and instruction.line == place.line:
        return True
    return bool(source and source.line == place.line and same_file(source.file, place.file))


def same_file(path: str, name: str) -> bool:
    """Return True if two paths may name the same file: one ends with the other, in whole parts."""
    parts, wanted = ([p for p in text.split("/") if p not in ("", ".", "..")] for text in (path, name))
    count = min(len(parts), len(wanted))
    return count > 0 and parts[-count:] == wanted[-count:]


def missing(report: t.AnalysisReport, places: list[NamedLine]) -> list[NamedLine]:
    """Return the places at which the report has no analysed instruction."""
    pairs = [(i, unit) for unit in report.units for kernel in unit.kernels for i in kernel.instructions]
    return [place for place in places if not any(is_at(i, unit, place) for i, unit in pairs)]


class NamedKernels(msgspec.Struct, frozen=True):
    """Kernels that a user names."""

    function: str
    """A glob for functions, or a `kernel_id`."""
    line: int
    """A line in the source of the loop, or in the assembly of the loop; 0 for all."""

    def __str__(self) -> str:
        return f"{self.function}:{self.line}" if self.line else self.function

    def fits(self, kernel: t.KernelReport) -> bool:
        names = (kernel.function, kernel.kernel_id, kernel.name)
        written = (kernel.function_name, kernel.source_function)
        return self.fits_names(names, written, (kernel.first_line, kernel.last_line), kernel.source)

    def fits_names(
        self, names: Iterable[str], written: Iterable[str], lines: tuple[int, int], source: t.SourceLocation | None
    ) -> bool:
        """Return True if the choice matches a kernel with one of these names.

        `written` are names as the source writes them, whose parameters may be left out; `lines` are the first and the
        last line of its assembly.
        """
        if self.line:
            here = lines[0] <= self.line <= lines[1]
            if not here and not (source and source.line == self.line):
                return False
        called = (text for name in written for text in (name, name.split("(")[0]))
        return any(fnmatchcase(text, self.function) for text in (*names, *called))


def choice(text: str) -> NamedKernels:
    """Parse a choice such as `dot`, `dot:12` or `dot/loop1`. Raises ValueError."""
    function, colon, number = text.rpartition(":")
    # A C++ name has colons too.
    if colon and not function.endswith(":") and number.isdecimal():
        if not function or not int(number):
            raise ValueError(f"takes a function or FUNCTION:LINE, not {text!r}")
        return NamedKernels(function, int(number))
    return NamedKernels(text, 0)


def unfound(report: t.AnalysisReport, choices: Sequence[NamedKernels]) -> list[NamedKernels]:
    """Return the choices that match no kernel of the report."""
    kernels = [kernel for unit in report.units for kernel in unit.kernels]
    return [choice for choice in choices if not any(choice.fits(kernel) for kernel in kernels)]
