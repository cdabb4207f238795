"""Marks in the source: the kernels that they select, and the outcome of their expectations.

`frontends/marks.py` describes marks. A kernel is marked if its place, or a call that it was inlined through, is within
the mark's lines.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import Region, SourceLocation
from incc.frontends.marks import Mark, MarkError, marks_of
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report import wording
from incc.report.source.selection import Selection
from incc.support.sources import source_bytes

if TYPE_CHECKING:
    from incc.report.where import Condition

_FILE = re.compile(r'^\t\.file[ \t]\d+ (?:"((?:[^"\\]|\\.)*)" )?"((?:[^"\\]|\\.)*)"', re.M)


class Marks(msgspec.Struct, frozen=True):
    """The marks of a unit's sources."""

    marks: tuple[Mark, ...] = ()
    """The marks, those of the compiled file first."""
    errors: tuple[MarkError, ...] = ()
    """Mistakes in marks of the compiled file."""

    def cores(self) -> list[str]:
        """Return the cores that the marks name, "" for marks without one."""
        return list(dict.fromkeys(core for mark in self.marks for core in mark.mcpu or ("",)))

    def of_core(self, core: str) -> tuple[Mark, ...]:
        """Return the marks for a core, or those without one for ""."""
        return tuple(mark for mark in self.marks if core in (mark.mcpu or ("",)))

    def without_core(self, core: str, why: str) -> Marks:
        """Return these marks with an error for each mark that names the core."""
        wrong = [
            MarkError(source=SourceLocation(mark.file, mark.line), column=mark.column, text=why)
            for mark in self.marks
            if core in mark.mcpu
        ]
        return replace(self, errors=(*self.errors, *wrong))


def read_marks(unit: Unit) -> Marks:
    """Return the marks in the compiled file and, as far as line information names them, in the user's headers.

    These are marks in comments, and marks that the compiler has read.
    """
    if not unit.source:
        return Marks(unit.marks, unit.mark_errors)
    from incc.frontends.headers import Headers

    is_system = Headers(unit.folders).is_system
    names = {absolute(unit.source, unit.folder): unit.source}
    for folder, name in _FILE.findall(unit.assembly):
        path = os.path.join(folder, name)
        if not is_system(path):
            names.setdefault(absolute(path, unit.folder), path)
    source = absolute(unit.source, unit.folder)
    marks = list(unit.marks)
    errors = [error for error in unit.mark_errors if absolute(error.source.file, unit.folder) == source]
    for path, name in names.items():
        of_file, wrong = marks_of(source_bytes(path).decode("utf-8", "surrogateescape"), name)
        marks += of_file
        # Mistakes in a header are not reported here: every unit that includes it would repeat them.
        errors += wrong if name == unit.source else []
    return Marks(tuple(marks), tuple(errors))


def absolute(name: str, folder: str) -> str:
    """Return the absolute form of a file's name."""
    return os.path.normpath(os.path.join(folder or os.getcwd(), name))


# --- which kernels ----------------------------------------------------------------------------------------------------


class MarkedSelection(msgspec.Struct, frozen=True, kw_only=True):
    """A selection reduced to marked code."""

    selection: Selection
    marks: tuple[Mark, ...]
    """The marks that apply to this unit."""
    of: tuple[tuple[int, ...], ...]
    """The indices of each region's marks."""
    errors: tuple[MarkError, ...]
    """Marks without matching code."""


def choose_marked(unit: Unit, candidates: Selection, marks: Sequence[Mark]) -> MarkedSelection | None:
    """Return the marked part of a selection; None if there are marks but none applies to this unit."""
    source = absolute(unit.source, unit.folder)
    files = [absolute(mark.file, unit.folder) for mark in marks]
    hits = [
        [n for n, mark in enumerate(marks) if _is_marked(mark, files[n], places, unit.folder)]
        for places in (_places(candidates, n, region) for n, region in enumerate(candidates.regions))
    ]
    used = {n for each in hits for n in each}
    kept = [n for n in range(len(marks)) if n in used or files[n] == source]
    if marks and not kept:
        return None
    number = {n: i for i, n in enumerate(kept)}
    regions = [n for n, each in enumerate(hits) if each]
    selection = replace(
        candidates,
        regions=[candidates.regions[n] for n in regions],
        places=[candidates.places[n] for n in regions] if candidates.places else [],
        left_out=[],
        calls=[],
    )
    errors = tuple(_nothing(marks[n], files[n], candidates.calls, unit.folder) for n in kept if n not in used)
    return MarkedSelection(
        selection=selection,
        marks=tuple(marks[n] for n in kept),
        of=tuple(tuple(number[n] for n in hits[r]) for r in regions),
        errors=errors,
    )


def _places(selection: Selection, n: int, region: Region) -> list[SourceLocation]:
    places = [region.source] if region.source else []
    if selection.places:
        place = selection.places[n]
        places += [SourceLocation(f.file, f.line) for f in (*place.inlined, *place.inlined_into)]
    return places


def _is_marked(mark: Mark, file: str, places: Iterable[SourceLocation], folder: str) -> bool:
    return any(mark.first_line <= p.line <= mark.last_line and absolute(p.file, folder) == file for p in places)


def _nothing(mark: Mark, file: str, calls: Sequence[t.LibraryCall], folder: str) -> MarkError:
    """Return the reason why a mark has no kernel."""
    called = [c.callee for c in calls if c.source and _is_marked(mark, file, [c.source], folder)]
    why = (
        f"the compiler replaced it by a call of {called[0]}"
        if called
        else "it has no loop, the loop was optimised away, or its function was not compiled"
    )
    place = SourceLocation(mark.file, mark.first_line)
    return MarkError(source=place, column=mark.first_column, text=f"nothing to analyse here: {why}")


# --- in the report ----------------------------------------------------------------------------------------------------


def marks_part(
    kernels: Sequence[t.KernelReport], marks: Sequence[Mark], of: Sequence[Sequence[int]]
) -> tuple[list[t.MarkReport], list[MarkError]]:
    """Return the report on marks, not yet checked, and the mistakes in their conditions.

    `of` holds the indices of each kernel's marks. Kernels get the names that their marks give them.
    """
    from incc.report import where

    parts: list[t.MarkReport] = []
    problems: list[MarkError] = []
    for n, mark in enumerate(marks):
        marked = [kernel for kernel, of_kernel in zip(kernels, of, strict=True) if n in of_kernel]
        # Expectations apply to main loops, not to remainders and fallbacks.
        mains = [kernel for kernel in marked if not kernel.role.of] or marked
        expectations: list[t.Expectation] = []
        for expected in mark.expected:
            try:
                condition = where.parse(expected.condition)
                if condition.needs_baseline:
                    raise ValueError("a relative change needs a baseline, which marks do not have")
            except ValueError as error:
                text, column = _in_source(str(error), expected.column)
                problems.append(
                    MarkError(source=SourceLocation(mark.file, expected.line), column=column, text=f"expect: {text}")
                )
                continue
            expectations += [
                t.Expectation(condition=expected.condition, kernel_id=kernel.kernel_id, holds=None, text="")
                for kernel in mains
            ]
        for kernel in marked:
            if mark.name:
                kernel.name = mark.name
                kernel.notes.append(f"named {mark.name} by the mark in {mark.file}:{mark.line}")
        parts.append(
            t.MarkReport(
                source=SourceLocation(file=mark.file, line=mark.line),
                column=mark.column,
                at=SourceLocation(file=mark.file, line=mark.first_line),
                at_column=mark.first_column,
                last_line=mark.last_line,
                name=mark.name,
                mcpu=list(mark.mcpu),
                kernels=[kernel.kernel_id for kernel in marked],
                expectations=expectations,
            )
        )
    return parts, problems


def _in_source(message: str, column: int) -> tuple[str, int]:
    """Return a condition's error message and its column in the source instead of in the condition."""
    match = re.match(r"column (\d+): ", message)
    return (message[match.end() :], column + int(match[1]) - 1) if match else (message, column)


def check_expectations(unit: t.UnitReport) -> None:
    """Set the outcome of each expectation of a unit's marks."""
    from incc.report import where

    kernels = {kernel.kernel_id: kernel for kernel in unit.kernels}
    for mark in unit.marks:
        for n, expectation in enumerate(mark.expectations):
            kernel = kernels[expectation.kernel_id]
            condition = where.parse(expectation.condition)
            values = where.kernel_values(unit, kernel)
            unknown = sorted(name for name in condition.names if values[name] is None)
            if condition.holds(values):
                mark.expectations[n] = replace(expectation, holds=True)
            elif unknown:
                text = f"expected {condition.text}, but {wording.listed(unknown)} cannot be determined"
                mark.expectations[n] = replace(expectation, text=text)
            else:
                text = _unmet(unit, kernel, condition, values)
                mark.expectations[n] = replace(expectation, holds=False, text=text)


_SIMPLE = re.compile(r"\s*(\w+)\s*(<=|<|>=|>|==)\s*([0-9.]+)\s*$")
_WORDS = {"<=": "at most", "<": "less than", ">=": "at least", ">": "more than", "==": "exactly"}
_UNITS = {"cycles": "cycles per iteration", "cycles_per_element": "cycles per element"}


def _unmet(unit: t.UnitReport, kernel: t.KernelReport, condition: Condition, values: Mapping[str, object]) -> str:
    """Return the predicted and the expected value, and the kernel's limit."""
    text, names = condition.text, condition.names
    core = unit.model.name
    limit = re.sub(r"\bchain (?=\S)", "chain through ", kernel.overview.limit)
    why = f": {limit}" if limit else ""
    simple = _SIMPLE.match(text)
    if simple and simple[1] in _UNITS:
        predicted = f"{_cycles(values[simple[1]])} {_UNITS[simple[1]]}"
    else:
        predicted = f"{_cycles(values['cycles'])} cycles per iteration"
    if simple:
        if simple[1] not in _UNITS:
            predicted = f"{simple[1]} = {_shown(values[simple[1]])}"
        return f"predicted {predicted} on {core}, expected {_WORDS[simple[2]]} {simple[3]}{why}"
    others = ", ".join(f"{name} = {_shown(values[name])}" for name in sorted(names - {"cycles"}))
    return f"predicted {predicted} on {core}{f' ({others})' if others else ''}, expected {text}{why}"


def _cycles(value: object) -> str:
    return wording.value(value) if isinstance(value, (int, float)) else "?"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:g}" if isinstance(value, (int, float)) else repr(value)
