"""Reading of a build's reports: files, and folders with their manifests. Unreadable files are named and skipped."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, BinaryIO

import msgspec
from msgspec.structs import replace

from incc.ranking import manifest
from incc.ranking import types as r
from incc.ranking.kernels import RankedKernel, ReportPlace, ranked_kernels
from incc.report import types as t
from incc.report.documents import InputError, printable, read_report, reason, special_file, texts
from incc.report.folder.manifest import OWN
from incc.support.files import read_all


class ReadSettings(msgspec.Struct, frozen=True):
    """The data to read from reports."""

    names: frozenset[str] = frozenset()
    """Names of conditions whose values are needed."""
    code: bool = False
    """Reads the code that locates kernels in disassemblies and objects, for profiles."""
    stale: bool = False
    """Includes stale reports."""
    complete: Callable[[t.AnalysisReport], t.AnalysisReport] = lambda report: report
    """Completes the kernels of reports that cannot be read twice."""
    dataset: Callable[[str, Callable[[t.UnitReport], None]], list[str] | None] = lambda folder, take: None
    """Passes the units of a dataset to a function and returns notes on it; returns None for another folder."""
    complete_all: bool = False
    """Completes the kernels of all reports."""


class ReadReports(msgspec.Struct, frozen=True, kw_only=True):
    """The reports that were read."""

    kernels: list[RankedKernel]
    reports: int
    units: int
    left_out: int
    system_loops: int
    replaced: int
    pending: int
    stale: list[r.Stale]
    unread: list[r.Unread]
    notes: list[str]
    folders: dict[str, list[str]]
    """The stale reports of each folder, for removing them."""


def read_build(names: Sequence[str], wanted: ReadSettings) -> ReadReports:
    """Read all reports in files and folders. Raises InputError if there are none."""
    reader = _Reader(wanted)
    for name in names:
        try:
            reader.read(name)
        except InputError as error:
            reader.not_read(printable(name) if name != "-" else "<stdin>", str(error))
    return reader.build()


def all_reports(names: Sequence[str]) -> tuple[list[t.AnalysisReport], list[str]]:
    """Return the reports in files, whole, and messages on files that cannot be read.

    Raises InputError if none can be.
    """
    reports: list[t.AnalysisReport] = []
    problems = []
    for name in names:
        try:
            reports += _documents_of(name)
        except InputError as error:
            problems.append(str(error))
    if not reports:
        raise InputError("\n".join(problems))
    return reports, problems


def _documents_of(name: str) -> list[t.AnalysisReport]:
    with _opened(name) as file:
        shown = printable(name) if name != "-" else "<stdin>"
        try:
            documents = [read_report(text, shown, line) for line, text in texts(file)]
        except OSError as error:
            raise InputError(f"{shown}: {reason(error)}") from None
    if not documents:
        raise InputError(f"{shown}: the file is empty")
    return documents


def _opened(name: str) -> BinaryIO:
    """Open a file, or read standard input for "-". Raises InputError if that fails, or it is no regular file."""
    try:
        if name == "-":
            with open(0, "rb", closefd=False) as standard:
                return io.BytesIO(read_all(standard))
        mode = os.stat(name).st_mode
        if not (stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/proc/self/fd/")))):
            raise special_file(name, mode)
        return open(name, "rb")
    except (OSError, ValueError) as error:  # ValueError: the path has a NUL byte
        raise InputError(f"{printable(name) if name != '-' else '<stdin>'}: {reason(error)}") from None


class _Reader:
    """A reader of reports, with those that were read so far."""

    def __init__(self, wanted: ReadSettings) -> None:
        self.wanted = wanted
        self.units: dict[Any, tuple[t.UnitReport, str]] = {}
        self.reports = 0
        self.replaced = 0
        self.pending = 0
        self.stale: list[r.Stale] = []
        self.unread: list[r.Unread] = []
        self.notes: dict[str, None] = {}
        self.folders: dict[str, list[str]] = {}
        self.kernels: dict[Any, list[RankedKernel]] = {}

    def read(self, name: str) -> None:
        """Read a file or a folder. Raises InputError if it is missing, or neither."""
        if name == "-":
            try:
                with open(0, "rb", closefd=False) as standard:
                    data = read_all(standard)
            except OSError as error:
                raise InputError(f"<stdin>: {reason(error)}") from None
            self._documents(io.BytesIO(data), "<stdin>", "<stdin>")
            return
        try:
            mode = os.stat(name).st_mode
        except (OSError, ValueError) as error:  # the path has a NUL byte
            raise InputError(f"{printable(name)}: {reason(error)}") from None
        if stat.S_ISDIR(mode):
            notes = self.wanted.dataset(name, partial(self._take_part, name))
            if notes is None:
                self._folder(name)
            else:
                self.reports += 1
                self.notes.update(dict.fromkeys(notes))
        elif stat.S_ISREG(mode) or (stat.S_ISFIFO(mode) and name.startswith(("/dev/fd/", "/proc/self/fd/"))):
            self._file(name, name)
        else:
            raise special_file(name, mode)

    def _folder(self, folder: str) -> None:
        entries = manifest.read_manifest(folder)
        self.pending += _pending(folder)
        read_entries: dict[str, manifest.ReportOrigin] = {}
        report_count = 0
        others: dict[str, int] = {}
        for place, folders, files in os.walk(folder, onerror=self._failed):
            # The folder .incc has no reports; a folder of reports may contain another one with a manifest of its own.
            if OWN in folders:
                folders.remove(OWN)
                if place != folder:
                    self.pending += _pending(place)
                    below = os.path.relpath(place, folder)
                    own = manifest.read_manifest(place)
                    entries |= {os.path.join(below, name): entry for name, entry in own.items()}
            folders.sort()
            for file in sorted(files):
                path = os.path.join(place, file)
                if not file.endswith((".json", ".jsonl")) or not os.path.isfile(path):
                    ending = os.path.splitext(file)[1]
                    others[ending] = others.get(ending, 0) + 1
                    continue
                report_count += 1
                name = os.path.relpath(path, folder)
                unit = self._file(path, path)
                if name in entries:
                    read_entries[path] = replace(entries[name], report=path)
                elif unit is not None and unit.folder:
                    # A report without an entry counts as older than all entries, ordered by modification time.
                    read_entries[path] = manifest.of_unit(path, unit, os.path.getmtime(path) - 1e12)
        if not report_count and not self.pending:
            raise InputError(f"{printable(folder)}: no report (*.json) in this folder{_instead(others)}")
        self._leave_out_stale(folder, list(read_entries.values()))

    def _leave_out_stale(self, folder: str, entries: list[manifest.ReportOrigin]) -> None:
        reasons, notes = manifest.stale(entries)
        self.notes.update(dict.fromkeys(notes))
        for path, why in reasons.items():
            self.stale.append(r.Stale(report=printable(path), why=why))
            self.folders.setdefault(folder, []).append(os.path.relpath(path, folder))
            if not self.wanted.stale:
                gone = [key for key, (_, report) in self.units.items() if report.split("\0")[0] == path]
                for key in gone:
                    del self.units[key]
                    self.kernels.pop(key, None)

    def _failed(self, error: OSError) -> None:
        self.unread.append(r.Unread(report=printable(str(error.filename)), why=reason(error)))

    def _file(self, path: str, shown: str) -> t.UnitReport | None:
        """Read the reports of a file; return its last unit."""
        try:
            with open(path, "rb") as file:
                return self._documents(file, printable(shown), path)
        except OSError as error:
            self.unread.append(r.Unread(report=printable(shown), why=reason(error)))
        return None

    def _documents(self, file: BinaryIO, shown: str, path: str) -> t.UnitReport | None:
        last = None
        count = 0
        try:
            for line, text in texts(file):
                count += 1
                try:
                    document = read_report(text, shown, line)
                except InputError as error:
                    self.not_read(shown, str(error))
                    continue
                if self.wanted.complete_all or not os.path.isfile(path):
                    document = self.wanted.complete(document)
                self.reports += 1
                for number, unit in enumerate(document.units):
                    where = f"{path}\0{line if line > 1 else ''}"
                    self._take(unit, where, (path, line, number))
                    last = unit
        except (OSError, MemoryError) as error:
            why = reason(error) if isinstance(error, OSError) else "too large for the available memory"
            self.unread.append(r.Unread(report=shown, why=why))
            return last
        if not count:
            self.unread.append(r.Unread(report=shown, why="the file is empty"))
        return last

    def not_read(self, shown: str, message: str) -> None:
        """Note a report that could not be read; the message begins with the file, perhaps with a line of it."""
        rest = message.removeprefix(shown)
        place, _, why = rest.partition(": ") if rest != message else ("", "", message)
        self.unread.append(r.Unread(report=shown + place, why=why or message))

    def _take(self, unit: t.UnitReport, report: str, otherwise: tuple[Any, ...]) -> None:
        """Take a unit. In a file to which builds append, a later compilation replaces an earlier one."""
        kernels = unit.kernels
        key: Any = otherwise
        if unit.command or unit.output:
            made = unit.output or tuple(unit.command)
            key = report.partition("\0")[0], unit.folder, unit.source, made, unit.model.name
            if key in self.units and not unit.folder and not self._alike(key, kernels):
                key = otherwise  # in a build of several folders, other folders have files of that name, too
            elif key in self.units:
                self.replaced += 1
                del self.units[key]  # the later one takes the place where it was written
        self.units[key] = replace(unit, kernels=[], code=""), report
        self.kernels[key] = self._kernels(unit, report)

    def _take_part(self, folder: str, unit: t.UnitReport) -> None:
        """Take some kernels of a unit of a dataset."""
        report = f"{folder}\0"
        key = folder, unit.source, unit.assembly_file, unit.model.name
        self.units.setdefault(key, (replace(unit, kernels=[]), report))
        self.kernels.setdefault(key, []).extend(self._kernels(unit, report))

    def _alike(self, key: Any, kernels: list[t.KernelReport]) -> bool:
        """Return True if a unit has a kernel with the name of one of these."""
        ids = {kernel.kernel_id for kernel in kernels}
        return any(ranked.kernel.kernel_id in ids for ranked in self.kernels[key])

    def _kernels(self, unit: t.UnitReport, report: str) -> list[RankedKernel]:
        file, _, line = report.partition("\0")
        shown = printable(file) + (f":{line}" if line else "")
        origin = ReportPlace(file, int(line or 1))
        return [*ranked_kernels(unit, shown, origin, self.wanted.names, self.wanted.code)]

    def build(self) -> ReadReports:
        """Return the reports that count. Raises InputError if nothing was read."""
        if not self.reports and not self.pending:
            first = self.unread[0] if self.unread else None
            more = f" ({len(self.unread) - 1} more such files)" if len(self.unread) > 1 else ""
            raise InputError(f"{first.report}: {first.why}{more}" if first else "no report")
        units = [unit for unit, _ in self.units.values()]
        for unit in units:
            if note := unit.model.note:
                self.notes[f"{note[:1].upper()}{note[1:]}."] = None
        kept = {report for _, report in self.units.values()}
        return ReadReports(
            kernels=[ranked for key in self.units for ranked in self.kernels[key]],
            reports=len(kept),
            units=len(units),
            left_out=sum(len(unit.left_out) for unit in units),
            system_loops=sum(unit.system_loops for unit in units),
            replaced=self.replaced,
            pending=self.pending,
            stale=self.stale,
            unread=self.unread,
            notes=list(self.notes),
            folders=self.folders,
        )


def _pending(folder: str) -> int:
    """Return the number of compilations of a folder that wait for their analysis."""
    try:
        with os.scandir(os.path.join(folder, OWN, "jobs")) as jobs:
            return sum(job.is_dir() and not job.name.startswith(".") for job in jobs)
    except OSError:
        return 0


def _instead(others: dict[str, int]) -> str:
    """Return a remark on files that a folder has instead of reports."""
    if others.get(".txt"):
        return f", but {others['.txt']} text reports, which cannot be read back; build with INCC_FORMAT=json"
    if others.get(".s") or others.get(".o"):
        return "; incc-scan analyses assembly and objects"
    return ""
