"""The output of incc-scan."""

from __future__ import annotations

import sys
from functools import partial

from incc.driver.commands.scan.analysis import Scan, ScanOutcome
from incc.driver.messages import say
from incc.report import types as t
from incc.views.layout import Layout, harmless, terminal

say_scan = partial(say, "incc-scan")


class Output:
    """Prints outcomes, and collects notes to print at the end."""

    def __init__(self, scan: Scan) -> None:
        self.scan = scan
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

    def add(self, outcome: ScanOutcome) -> None:
        """Print an outcome, as far as it can be printed yet."""
        for problem in outcome.problems:
            self.failed = True
            say_scan(f"error: {problem}")
        outcome.problems.clear()
        self.notes.update(dict.fromkeys(outcome.notes))
        for row in outcome.rows:
            if self._is_new(row.identity):
                sys.stdout.write(harmless(row.text, False) + "\n")
        for report in outcome.reports:
            first = report.units[0].kernels
            new = [n for n, k in enumerate(first) if self._is_new(f"{k.function} {k.content_hash}")]
            for unit in report.units:
                unit.kernels = [unit.kernels[n] for n in new]
            if not new:
                continue
            if self.scan.output == "json":
                from incc.driver.deliver import DeliveryRequest, text_of

                text = text_of(report, DeliveryRequest(format="json", append=True))
                sys.stdout.write(text.decode("utf-8", "surrogateescape"))
            else:
                self._add_to_table(report)

    def _is_new(self, identity: str) -> bool:
        self.kernels += 1
        if not self.scan.unique:
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

    def _print_table(self) -> None:
        if self.waiting:
            sys.stdout.write("\n" * self.tables + _table(self.waiting, *terminal(sys.stdout)))
            self.waiting = None
            self.tables = True

    def flush(self) -> None:
        """Print what waits to be printed."""
        self._print_table()
        sys.stdout.flush()

    def print_notes(self) -> None:
        """Print notes, each once."""
        if self.repeated:
            kernels = "1 kernel that is" if self.repeated == 1 else f"{self.repeated} kernels that are"
            self.notes[f"left out {kernels} in another file as well"] = None
        if not self.kernels and not self.failed:
            met = " that meets the condition" if self.scan.condition else ""
            self.notes[f"no loop to analyse{met}" if self.inputs else "nothing to analyse"] = None
        for note in self.notes:
            say_scan(f"note: {note}")


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
