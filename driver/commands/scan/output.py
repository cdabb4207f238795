"""The output of incc-scan."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TextIO

from msgspec.structs import replace

from incc.driver.commands.scan.analysis import CyclesLine, Scan, ScanOutcome
from incc.driver.messages import say
from incc.driver.selection import order_of_worth
from incc.fleet.flow import Counts
from incc.fleet.messages import InputRead
from incc.report import types as t
from incc.support.progress import bar
from incc.views.layout import Layout, harmless, terminal

say_scan = partial(say, "incc-scan")

MOST_LATER = 1000
"""The most kernels that --top keeps besides the most worthwhile ones."""


class Output:
    """Writes outcomes to a stream, and collects notes to print at the end."""

    def __init__(self, scan: Scan, stream: TextIO) -> None:
        self.scan = scan
        self.stream = stream
        self.failed = False
        """Some of the input could not be analysed."""
        self.inputs = 0
        self.kernels = 0
        self.repeated = 0
        """Kernels that were left out because they are in another file as well."""
        self.seen: set[str] = set()
        self.notes: dict[str, None] = {}
        self.waiting: t.AnalysisReport | None = None
        """The report for the next table, to which blocks of the same file are added."""
        self.tables = False
        """A table was printed."""
        self.candidates: list[CyclesLine | t.AnalysisReport] = []
        """The kernels with the most to gain so far, for --top, and some that came later."""
        self.later = 0
        """The number of the latter."""
        self.problem = ""
        """The last problem, which all parts of a file may have."""

    def add_input(self, outcome: ScanOutcome) -> None:
        """Write the results of an input."""
        self.inputs += 1
        self.add(outcome)

    def add(self, outcome: ScanOutcome) -> None:
        """Print an outcome, as far as it can be printed yet."""
        for problem in outcome.problems:
            self.failed = True
            if problem != self.problem:
                say_scan(f"error: {problem}")
            self.problem = problem
        self.notes.update(dict.fromkeys(outcome.notes))
        for line in outcome.lines:
            if self._is_new(line.identity):
                self._write(line)
        for report in outcome.reports:
            first = report.units[0].kernels
            new = [n for n, k in enumerate(first) if self._is_new(f"{k.function} {k.content_hash}")]
            for unit in report.units:
                unit.kernels = [unit.kernels[n] for n in new]
            if new:
                self._write(report)

    def _write(self, result: CyclesLine | t.AnalysisReport) -> None:
        """Write a line or a report, or keep it if only some of all are to be written."""
        if self.scan.top:
            self.candidates.append(result)
            self.later += 1 if isinstance(result, CyclesLine) else len(result.units[0].kernels)
            if self.later > self.scan.top + MOST_LATER:
                self._keep_top()
        elif isinstance(result, CyclesLine):
            self.stream.write(harmless(result.text, False) + "\n")
        elif self.scan.format == "reports":
            from incc.driver.deliver import DeliveryRequest, text_of

            text = text_of(result, DeliveryRequest(format="json", append=True))
            self.stream.write(text.decode("utf-8", "surrogateescape"))
        else:
            self._add_to_table(result)

    def _keep_top(self) -> None:
        """Forget all candidates but those with the most to gain."""
        worth = []
        for place, candidate in enumerate(self.candidates):
            if isinstance(candidate, CyclesLine):
                worth.append((candidate.worth, place, 0))
            else:
                on_cores = zip(*([order_of_worth(k, u) for k in u.kernels] for u in candidate.units), strict=True)
                worth += [(min(each), place, n) for n, each in enumerate(on_cores)]
        chosen = {(place, n) for _, place, n in sorted(worth)[: self.scan.top]}
        candidates, self.candidates, self.later = self.candidates, [], 0
        for place, candidate in enumerate(candidates):
            if isinstance(candidate, t.AnalysisReport):
                for unit in candidate.units:
                    unit.kernels = [kernel for n, kernel in enumerate(unit.kernels) if (place, n) in chosen]
                if candidate.units[0].kernels:
                    self.candidates.append(candidate)
            elif (place, 0) in chosen:
                self.candidates.append(candidate)

    def _is_new(self, identity: str) -> bool:
        self.kernels += 1
        if not self.scan.searches_folders:
            return True
        if identity in self.seen:
            self.repeated += 1
            return False
        self.seen.add(identity)
        return True

    def _add_to_table(self, report: t.AnalysisReport) -> None:
        file = _file_of_blocks(report)
        if self.waiting and file and file == _file_of_blocks(self.waiting):
            for unit, more in zip(self.waiting.units, report.units, strict=True):
                unit.kernels += more.kernels
        else:
            self._print_table()
            self.waiting = report
            if not file:
                self._print_table()

    def _print_table(self) -> None:
        if self.waiting:
            self.stream.write("\n" * self.tables + _table(self.waiting, *terminal(self.stream)))
            self.waiting = None
            self.tables = True

    def flush(self) -> None:
        """Write the results that have been kept back."""
        if self.scan.top:
            self._keep_top()
            self.scan = replace(self.scan, top=0)
            for candidate in self.candidates:
                self._write(candidate)
        self._print_table()
        self.stream.flush()

    def print_notes(self) -> None:
        """Print notes, each once."""
        if self.repeated:
            kernels = "1 kernel that is" if self.repeated == 1 else f"{self.repeated} kernels that are"
            self.notes[f"left out {kernels} in another file as well"] = None
        if not self.kernels and not self.failed:
            functions = self.scan.cores[0].scope.functions
            self.failed = bool(functions)
            met = f" in a function named {' or '.join(functions)}" if functions else ""
            met += " that meets the condition" if self.scan.condition else ""
            self.notes[f"no loop to analyse{met}" if self.inputs else "nothing to analyse"] = None
        for note in self.notes:
            say_scan(f"note: {note}")


def messages_of(read: InputRead) -> list[str]:
    """Return the messages about what could not be analysed of an input."""
    return [f"{read.name}: not analysed: {read.failure}"] if read.failure else read.problems


def summary(counts: Counts) -> str:
    """Return a sentence on a scan at its end."""
    copies = counts.kernels - counts.analysed
    share = f"{100 * copies / (counts.kernels or 1):.0f} %"
    are_copies = f", {copies:,} of which {'is a copy' if copies == 1 else 'are copies, analysed once'} ({share})"
    failures = f"; {_counted(counts.failures, 'input')} with problems" if counts.failures else ""
    kernels = _counted(counts.kernels, "kernel") + are_copies * (copies > 0)
    return f"{_counted(counts.inputs, 'input')} with {kernels}{failures}"


def _counted(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


@contextmanager
def watched(counts: Counts, total: int) -> Iterator[Callable[[], None]]:
    """Show the progress of a scan of `total` pieces during a `with` block, when the yielded function is called."""
    begun, first = time.monotonic(), counts.pieces

    def state() -> str:
        rate = counts.kernels / max(time.monotonic() - begun, 1e-3)
        failures = f", {counts.failures:,} failed" if counts.failures else ""
        return f"{counts.inputs:,} inputs{failures}, {counts.kernels:,} kernels, {counts.analysed:,} new, {rate:,.0f}/s"

    with bar("analysing", total - first) as show:
        yield lambda: show(counts.pieces - first, state())


def _file_of_blocks(report: t.AnalysisReport) -> str:
    """Return the file of a report on a block of machine code, "" for another report."""
    unit = report.units[0]
    return unit.assembly_file if unit.way == "given" and not unit.source else ""


def _table(report: t.AnalysisReport, width: int, colour: bool) -> str:
    """Return the kernels of one input as a table, or for several cores as a table of the cores for each kernel."""
    from incc.views.text import cores, header, overview

    layout = Layout(width, colour)
    layout.name_files(report)
    if len(report.units) > 1:
        lines = [*cores.lines(report.units, layout)]
    else:
        (unit,) = report.units
        lines = [*header.unit_lines(report, unit, layout), "", *overview.lines(unit, layout)]
    return "".join(harmless(line.rstrip(), colour) + "\n" for line in lines)
