"""The documents that an editor has open, and what analyses of them have found."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from incc.live.lsp.lines import LineMap

if TYPE_CHECKING:
    from incc.live.requests import Answer, TrialAnswer
    from incc.report import types as t


class DocumentAnalysis(msgspec.Struct, eq=False):
    """The analysis of a document for one way to compile it."""

    also: str
    """The entry of `EditorSettings.also`; empty for the document's own command."""
    texts: dict[str, list[str]]
    """The lines, as they were analysed, of the document and of other open files with loops of it, by real paths."""
    others: frozenset[str]
    """The real paths of all other files that were open then."""
    report: t.AnalysisReport | None = None
    problem: str = ""
    """The reason why a later text could not be analysed; empty if it could."""
    trials: dict[tuple[str, ...], TrialAnswer] = {}
    """The outcome of trials, by their flags."""
    maps: dict[str, tuple[list[str], LineMap]] = {}
    """The last lines that `map_of` was asked for, and their map, by files."""

    def map_of(self, document: Document) -> LineMap | None:
        """Return where analysed lines are in a document as it is now; None if the analysis has not seen it."""
        file = document.real
        if (lines := self.texts.get(file)) is None:
            return None
        now, known = self.maps.get(file, (None, None))
        if known is None or now is not document.lines:
            known = LineMap(lines, document.lines)
            self.maps[file] = document.lines, known
        return known


class Document(msgspec.Struct, eq=False):
    """An open document."""

    uri: str
    path: str
    """The absolute path."""
    version: int
    lines: list[str]
    analyses: dict[str, DocumentAnalysis] = {}
    """The last analysis for each way to compile it."""
    also: tuple[str, ...] = ()
    """The other ways to compile it, in the order of the settings."""
    task: asyncio.Task[None] | None = None
    """The analysis that is waiting or running."""
    completion: asyncio.Task[None] | None = None
    """The rest of the analysis, which only refines what is shown."""
    notes: tuple[str, ...] = ()

    @property
    def real(self) -> str:
        """The path without symbolic links."""
        return os.path.realpath(self.path)

    def edit(self, version: int, lines: list[str]) -> None:
        """Take the lines of another version."""
        self.version, self.lines = version, lines

    def sees(self, opened: Document) -> bool:
        """Return False if this document must be analysed again to show its loops in one that was opened since."""
        for analysis in self.analyses.values():
            if opened.real not in analysis.texts and opened.real in _files(analysis.report):
                return False
        return True

    def cancel(self) -> None:
        """End the analysis that is waiting or running."""
        for task in (self.task, self.completion):
            if task is not None:
                task.cancel()

    def take(self, also: str, answer: Answer, texts: dict[str, list[str]]) -> None:
        """Keep an answer. If there is a problem, the last analysis stays and is marked as old."""
        before = self.analyses.get(also)
        if answer.problem and before is not None and before.report:
            before.problem = answer.problem
        else:
            shown = {self.real, *_files(answer.report)}
            texts, others = {path: lines for path, lines in texts.items() if path in shown}, frozenset(texts)
            self.analyses[also] = DocumentAnalysis(also, texts, others, answer.report, answer.problem)


class ShownLoop(msgspec.Struct, frozen=True, eq=False):
    """A loop of an analysis at its line in a document as it is now."""

    uri: str
    """The document that was analysed, which may be another one that includes this."""
    analysis: DocumentAnalysis
    unit: t.UnitReport
    kernel: t.KernelReport
    line: int
    """The loop's line, numbered from 0."""
    lines: LineMap
    file: str
    """The real path of the document."""
    old: str
    """The reason why the code may be another one by now; empty if the document is as it was analysed."""
    inlined: bool
    """The loop is in another file, and the line is that of a call that it was inlined into."""

    def line_of(self, source: t.SourceLocation | None) -> int | None:
        """Return where a line of an analysed file is in the document now; None if it is not there."""
        if source is None or path_of(source.file, self.unit) != self.file:
            return None
        return self.lines.now(source.line)

    def instruction_line(self, instruction: t.InstructionReport) -> int | None:
        """Return where the source of an instruction, or in assembly the instruction itself, is in the document now."""
        if not self.unit.source and path_of(self.unit.assembly_file, self.unit) == self.file:
            return self.lines.now(instruction.line)
        return self.line_of(instruction.source)


def _files(report: t.AnalysisReport | None) -> set[str]:
    """Return the real paths of the files in which loops of a report are shown."""
    return {
        path_of(name, unit)
        for unit in (report.units if report else ())
        for kernel in unit.kernels
        for name, _ in _places(unit, kernel)
    }


def path_of(name: str, unit: t.UnitReport) -> str:
    """Return the real path of a file that a unit names."""
    return _real(os.path.join(unit.folder, name))


@lru_cache(1024)  # a report has the same few files everywhere, and each takes system calls
def _real(path: str) -> str:
    return os.path.realpath(path)


def _places(unit: t.UnitReport, kernel: t.KernelReport) -> Iterator[tuple[str, int]]:
    """Yield the file and line to show a loop at, then those of the calls that it was inlined into, inner ones first.

    In assembly that was written, they are those of the loop's first instruction.
    """
    if not unit.source:  # it may have been compiled from another file, which is not open here
        yield unit.assembly_file, kernel.first_line
        return
    from incc.views.exchange.diagnostics import place

    yield place(unit, kernel)[:2]
    for frame in reversed(kernel.inlined_into):
        yield frame.file, frame.line


def shown_loops(document: Document, documents: Iterable[Document]) -> Iterator[ShownLoop]:
    """Yield the loops of all analyses that are in a document; those at changed lines are left out."""
    file = document.real
    for other in documents:
        for analysis in (other.analyses[also] for also in ("", *other.also) if also in other.analyses):
            lines = analysis.map_of(document)
            if lines is None:
                continue
            old = analysis.problem
            if not old and (analysis.texts[file] != document.lines or analysis.texts[other.real] != other.lines):
                old = "edited since"
            for unit in analysis.report.units if analysis.report else ():
                for kernel in unit.kernels:
                    places = enumerate(_places(unit, kernel))
                    here = ((n, number) for n, (name, number) in places if path_of(name, unit) == file)
                    calls, number = next(here, (0, 0))
                    line = lines.now(number)
                    if line is not None:
                        inlined = calls > 0
                        yield ShownLoop(other.uri, analysis, unit, kernel, line, lines, file, old, inlined)
