"""The work of a scan's processes: answering requests to read inputs and to analyse kernels."""

from __future__ import annotations

import os
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from hashlib import blake2b
from typing import Any, TypeVar

import msgspec

from incc.driver.code import ObjectCode
from incc.driver.commands.scan.analysis import (
    Input,
    InputAnalyser,
    Scan,
    ScanOutcome,
    name_of,
    problems_in,
    problems_of,
    unit_of,
)
from incc.driver.commands.scan.inputs import AssemblyFile, CodeFile
from incc.driver.commands.scan.sharing import KEY, groups, key_of, subset
from incc.driver.pipeline import model_for, report_of, within_limits
from incc.driver.selection import order_of_worth
from incc.fleet.dataset.columns import ANALYSED, COLUMNS, PLACES
from incc.fleet.dataset.store import hash_of, pack
from incc.fleet.messages import (
    CHANGED,
    Analyse,
    AnalyseAnswer,
    Group,
    GroupResult,
    InputRead,
    Missing,
    OnCore,
    PlacedKernel,
    Read,
    ReadAnswer,
    Request,
    Stamp,
    decoded,
    encoded,
    request,
)
from incc.frontends.kernel import KernelCode, Region, SourceLocation
from incc.report import types as t
from incc.report.identity import kernel_ids
from incc.report.source.demangle import demangle, of_openmp
from incc.report.source.demangle import replace as demangled
from incc.report.unit_result import UnitResult
from incc.report.where import Value
from incc.support.errors import AnalysisError
from incc.views.json import render

KEPT = 10_000
"""The most kernels that a process keeps between reading and analysing them, besides the last input: 400 MB."""

Given = TypeVar("Given", bound=Input)

Reports = list[tuple[str, str, bytes]]
"""Reports as `pack` takes them: of each the hash, the core, and the text."""

_inputs: msgspec.msgpack.Decoder[Input] = msgspec.msgpack.Decoder(Input)


class _At(msgspec.Struct):
    """A kernel's place, with the attributes of a report that the columns of places need."""

    function: str
    function_name: str
    name: str
    kernel_id: str
    label: str
    source: SourceLocation | None
    first_line: int


class OutcomeResponder:
    """Answers the requests of a scan whose output is tables, reports or cycles."""

    def __init__(self, scan: Scan) -> None:
        self.analyser = InputAnalyser(scan)

    def __call__(self, data: bytes) -> bytes:
        """Return the answer to a request."""
        message = request(data)
        if absent := _absent(message):
            return absent
        moved = _moved(message)
        answer = ReadAnswer([])
        for encoded_input in message.inputs:
            source = decoded(encoded_input, _inputs)
            outcome = self.analyser(_here(source, moved))
            answer.inputs.append(InputRead(name_of(source), outcome=encoded(outcome)))
        return encoded(answer)


class RowResponder:
    """Answers the requests of a scan that makes rows (`fleet.messages`)."""

    def __init__(self, scan: Scan) -> None:
        self._scan = scan
        self.analyser = InputAnalyser(scan)
        self._kept: OrderedDict[bytes, dict[bytes, ObjectCode]] = OrderedDict()
        """The groups of inputs by their keys."""

    def __call__(self, data: bytes) -> bytes:
        """Return the answer to a request."""
        message = request(data)
        if absent := _absent(message):
            return absent
        moved = _moved(message)
        if isinstance(message, Read):
            return encoded(ReadAnswer([self._read(source, moved) for source in message.inputs]))
        return encoded(self._analyse(message, moved))

    def _read(self, data: bytes, moved: Mapping[str, str]) -> InputRead:
        source = decoded(data, _inputs)
        outcome = ScanOutcome()
        read = InputRead(name_of(source), problems=outcome.problems, notes=outcome.notes)
        reports = self._new_reports()
        with outcome.collecting(source):
            if isinstance(source, CodeFile) and not self._scan.measure:
                self._kept[data] = self._read_code(source, _here(source, moved), read, outcome)
                self._forget()
            else:
                for results in self.analyser.analyses(_here(source, moved), outcome):
                    self._add_unit(source, results, read, reports)
        read.reports = pack(reports) if reports else b""
        return read

    def _forget(self) -> None:
        """Forget the oldest inputs if there are too many kernels."""
        kernels = sum(len(code.kernels) for kept in self._kept.values() for code in kept.values())
        while kernels > KEPT and len(self._kept) > 1:
            _, forgotten = self._kept.popitem(last=False)
            kernels -= sum(len(code.kernels) for code in forgotten.values())

    # --- objects, whose groups are shared -----------------------------------------------------------------------------

    def _read_code(
        self, file: CodeFile, here: CodeFile, read: InputRead, outcome: ScanOutcome
    ) -> dict[bytes, ObjectCode]:
        """Add the groups of an object to `read`, and return them by their keys. `here` is the file on this machine."""
        code = self.analyser.code(here, outcome)
        if code is None:
            return {}
        unit = unit_of(file)
        for settings in self.analyser.cores_for(code.isa):
            if note := model_for(unit, code, settings).note:
                read.notes.append(note)
        code = within_limits(code, self.analyser.cores[0])
        read.problems += problems_in(unit, code.left_out, code.kernels)
        ids = kernel_ids(code.kernels)
        # Also the names that the reports need, all at once.
        readable = demangle(text for kernel in code.kernels if kernel.region for text in _names(kernel.region))
        by_key: dict[bytes, ObjectCode] = {}
        for numbers in groups(code):
            group = subset(code, numbers)
            key = key_of(group, f"{file.name} {numbers[0]}" if self.analyser.names_values else "")
            placed = [
                PlacedKernel(n, _places(unit, _at(kernel, ids[n], readable), file))
                for n, kernel in zip(numbers, group.kernels, strict=True)
            ]
            read.groups.append(Group(key, placed, sum(len(kernel.instructions) for kernel in group.kernels)))
            by_key.setdefault(key, group)
        return by_key

    def _analyse(self, message: Analyse, moved: Mapping[str, str]) -> AnalyseAnswer:
        answer = AnalyseAnswer([])
        reports = self._new_reports()
        for data, keys in zip(message.inputs, message.keys, strict=True):
            problems = [] if data in self._kept else self._read(data, moved).problems
            kept = self._kept.get(data, {})
            source = decoded(data, _inputs)
            assert isinstance(source, CodeFile)
            for key in keys:
                if key not in kept:
                    answer.unread[key] = "; ".join(problems) or CHANGED
                    continue
                try:
                    results = self.analyser.on_each_core(unit_of(source), kept[key])
                except AnalysisError as error:
                    answer.problems[key] = str(error)
                else:
                    answer.groups.append(_analysed(key, report_of(results), reports))
        answer.reports = pack(reports) if reports else b""
        return answer

    def _new_reports(self) -> Reports | None:
        """Return an empty list for reports, None if the scan does not keep them."""
        return [] if self._scan.dataset else None

    # --- everything else ----------------------------------------------------------------------------------------------

    def _add_unit(self, source: Input, results: Sequence[UnitResult], read: InputRead, reports: Reports | None) -> None:
        """Add the kernels of a unit to `read`, with their results, and their reports unless these are None."""
        if not results:
            return
        results = [self.analyser.measured(result) for result in results]
        read.problems += problems_of(results[0])
        report = report_of(results)
        first = report.units[0]
        if not first.kernels:
            return
        begin = sum(len(group.kernels) for group in read.groups)
        placed = [PlacedKernel(begin + n, _places(first, kernel, source)) for n, kernel in enumerate(first.kernels)]
        identity = [name_of(source), first.source, *first.command, *[unit.model.name for unit in report.units]]
        identity += [part for kernel in first.kernels for part in (kernel.kernel_id, kernel.content_hash)]
        text = "\n".join(identity).encode("utf-8", "surrogateescape")
        key = blake2b(text, digest_size=KEY).digest()
        read.groups.append(Group(key, placed, 0))
        read.analysed.append(_analysed(key, report, reports))


def _analysed(key: bytes, report: t.AnalysisReport, reports: Reports | None) -> GroupResult:
    """Return the results for a group, and add the reports of its kernels to `reports`, unless it is None."""
    cores: list[OnCore] = []
    for unit in report.units:
        core = OnCore(unit.model.name, unit.model.version, [], [])
        for number, kernel in enumerate(unit.kernels):
            name = hash_of(key, number)
            values = [name if column == "hash" else COLUMNS[column].of(unit, kernel) for column in ANALYSED]
            core.kernels.append(values)
            core.worth.append([*order_of_worth(kernel, unit)])
            if reports is not None:
                reports.append((name, core.core, json_of(kernel)))
        cores.append(core)
    return GroupResult(key, len(report.units[0].kernels), encoded(cores))


def _names(region: Region) -> Iterator[str]:
    """Yield the texts with a region's mangled names."""
    yield region.function
    yield from region.notes


def _at(kernel: KernelCode, kernel_id: str, readable: dict[str, str]) -> _At:
    region = kernel.region
    if region is None:
        return _At("", "", kernel.name, kernel_id, "", None, 0)
    name = of_openmp(demangled(region.function, readable))
    return _At(region.function, name, kernel.name, kernel_id, region.label, region.source, region.first_line)


def _places(unit: Any, kernel: Any, source: Input) -> list[Value]:
    """Return the values of `columns.PLACES` for a kernel.

    Unit and kernel are those of a report, or have the attributes of these that `PLACES` needs.
    """
    if isinstance(source, CodeFile):
        own = {"binary": source.path, "member": source.inside}
    else:
        own = {"binary": getattr(source, "file", name_of(source)), "member": ""}
    return [own[name] if name in own else COLUMNS[name].of(unit, kernel) for name in PLACES]


def json_of(kernel: t.KernelReport) -> bytes:
    """Return a kernel's report as JSON, with the bytes of names as they are."""
    try:
        return msgspec.json.encode(kernel)
    except UnicodeEncodeError:
        return render(kernel, compact=True).encode("utf-8", "surrogateescape")


def _here(source: Given, moved: Mapping[str, str]) -> Given:
    """Return an input with its path on this machine."""
    if isinstance(source, CodeFile | AssemblyFile) and source.path in moved:
        return msgspec.structs.replace(source, path=moved[source.path])
    return source


def _moved(message: Request) -> dict[str, str]:
    """Return the paths of copies on this machine by the paths of a request's files."""
    return {stamp.path: stamp.here for stamp in message.files if stamp.here}


def _absent(message: Request) -> bytes:
    """Return the answer that this machine lacks a file of a request, b"" if it has all."""
    return next((encoded(Missing(stamp.path)) for stamp in message.files if not _is_there(stamp)), b"")


def _is_there(stamp: Stamp) -> bool:
    """Return True if this machine sees a file as it was when the scan began."""
    if stamp.here:
        return True
    try:
        return stamp.is_of(os.stat(stamp.path))
    except OSError:
        return False
