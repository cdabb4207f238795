"""Analysis of code for comparisons, in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.comparison.side import SideKernel, entries_of
from incc.driver.code import ObjectCode
from incc.driver.settings import REPORTED, Settings
from incc.frontends.kernel import KernelCode
from incc.report.build import build_report, unit_report
from incc.report.documents import InputError
from incc.report.identity import kernel_ids
from incc.support.progress import counted
from incc.support.workers import MOST, WorkerError, in_order

if TYPE_CHECKING:
    from incc.frontends.objects.spans import Addresses
    from incc.frontends.unit import Unit

AT_A_TIME = 64
"""Kernels of an object that a process takes at a time, plus the rest of the last function."""


class CodePiece(msgspec.Struct, frozen=True, kw_only=True):
    """Code that one process analyses at a time: assembly, kernels of an object, or a part of a large object."""

    unit: Unit
    settings: Settings
    code: ObjectCode | None = None
    """The kernels; None for assembly and parts of objects."""
    source: str | bytes = b""
    """The path or the bytes of the object of a part."""
    part: Addresses | None = None
    """The part."""
    ids: tuple[str, ...] = ()
    """The ids of the kernels."""
    notes: tuple[str, ...] = ()


class AnalysedPiece(msgspec.Struct, frozen=True):
    """The result of a piece."""

    entries: list[SideKernel]
    left_out: int = 0
    """Loops that are not analysed."""
    note: str = ""
    """A caveat about the model for the reader, such as that it is only the nearest one; empty if there is none."""
    problem: str = ""
    """The reason why the side is empty; empty if it is not."""


CODE = Settings(kernel=replace(REPORTED, timeline_iterations=0))
"""The default settings for code to compare, without timelines."""


def object_pieces(source: str | bytes, name: str, settings: Settings) -> list[CodePiece]:
    """Return the pieces of an object or program, given as a path or bytes. Raises AnalysisError."""
    from incc.driver.code import code_of, object_parts
    from incc.driver.pipeline import MOST_WITH_WHAT_IFS, no_what_ifs
    from incc.frontends.unit import Unit

    unit = Unit(assembly="", assembly_file=name, way="object")
    many = replace(settings, kernel=replace(settings.kernel, what_ifs=False)), (no_what_ifs(),)
    if parts := object_parts(source, name, settings.scope):
        return [CodePiece(unit=unit, settings=many[0], source=source, part=part, notes=many[1]) for part in parts]
    code = code_of(source, name, settings.scope, None)
    ids = kernel_ids(code.kernels)
    notes: tuple[str, ...] = ()
    if len(code.kernels) > MOST_WITH_WHAT_IFS:
        settings, notes = many
    pieces: list[CodePiece] = []
    if code.left_out:
        pieces.append(CodePiece(unit=unit, settings=settings, code=replace(code, kernels=[], sources=[]), notes=notes))
    for start, end in _chunks(code.kernels):
        part = replace(code, kernels=code.kernels[start:end], left_out=[], sources=code.sources[start:end])
        pieces.append(CodePiece(unit=unit, settings=settings, code=part, ids=tuple(ids[start:end]), notes=notes))
    return pieces


def _chunks(kernels: Sequence[KernelCode]) -> Iterator[tuple[int, int]]:
    """Yield spans of kernels that keep the loops of a function together, since their roles depend on each other."""
    start = 0
    for n in range(1, len(kernels) + 1):
        if n == len(kernels) or (n - start >= AT_A_TIME and _function(kernels[n]) != _function(kernels[n - 1])):
            yield start, n
            start = n


def _function(kernel: KernelCode) -> str:
    return kernel.region.function if kernel.region else ""


def analyse(pieces: Sequence[CodePiece], jobs: int) -> list[AnalysedPiece]:
    """Analyse the pieces and return their results."""
    return list(in_processes(_analysed, pieces, jobs, "analysing", _lost))


def _lost(_: CodePiece, why: str) -> AnalysedPiece:
    return AnalysedPiece(entries=[], problem=f"not analysed: {why}")


def in_processes(
    work: Callable[[Any], Any], pieces: Sequence[Any], jobs: int, what: str, lost: Callable[[Any, str], Any]
) -> Iterator[Any]:
    """Yield the result of `work` for each piece, in order; `what` names it in the line of progress.

    `lost` returns the result for a piece that ended its process, with the reason. Raises InputError if there are no
    processes.
    """
    results: Iterator[Any] = map(work, pieces)
    if jobs > 1 and len(pieces) > 1:
        starts = range(0, len(pieces), MOST)
        results = chain.from_iterable(in_order(work, pieces[start : start + MOST], jobs, lost) for start in starts)
    try:
        yield from counted(results, what, len(pieces))
    except WorkerError as error:
        raise InputError(str(error)) from error


def _analysed(piece: CodePiece) -> AnalysedPiece:
    from incc.driver.code import code_of
    from incc.driver.pipeline import AnalysisError, analyze_code, analyze_unit

    try:
        code, ids = piece.code, piece.ids
        if piece.part is not None:
            code = code_of(piece.source, piece.unit.assembly_file, piece.settings.scope, piece.part)
            ids = tuple(kernel_ids(code.kernels))
        if code is None:
            result = analyze_unit(piece.unit, piece.settings)
        else:
            result = analyze_code(piece.unit, code, piece.settings)
            result = replace(result, kernel_ids=ids, notes=piece.notes)
        (unit,) = build_report([unit_report(result)]).units
    except AnalysisError as error:
        return AnalysedPiece(entries=[], problem=str(error))
    return AnalysedPiece(entries=entries_of(unit), left_out=len(unit.left_out), note=unit.model.note)
