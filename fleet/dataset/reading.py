"""Reading a dataset: its kernels as the reports that a scan of the same files would have written.

Rows are read first, so that only the reports of wanted kernels are unpacked. A report is stored once for equal code;
its place comes from the row.
"""

from __future__ import annotations

import heapq
import json
import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from incc.fleet.dataset.columns import COLUMNS, PLACES
from incc.fleet.dataset.layout import (
    ABOUT,
    FORMAT,
    KERNELS,
    cores_in,
    is_dataset,
)
from incc.fleet.dataset.rows import check_complete, opened_rows, row_files
from incc.fleet.dataset.store import DatasetError, Store
from incc.models.loading import load
from incc.models.model import ModelError
from incc.report import columnar
from incc.report import types as t
from incc.report.build import SCHEMA_VERSION
from incc.report.documents import InputError, check_consistency, decoded, printable
from incc.report.overview import overview
from incc.report.source.demangle import choose_functions, short_name
from incc.report.source.places import NamedKernels
from incc.report.where import Condition, Value

MOST = 100
"""The most kernels of a unit: a file with more is several units, since a kernel takes some 300 KB of memory."""

_ROWS = 1000
"""Rows that are read at a time."""

_UNIT = ("binary", "member", "source", "assembly_file", "compiler", "compiler_version")
_NEEDED = dict.fromkeys(("row", *PLACES, "hash", "isa", "model", "model_version"))

_Row = dict[str, Any]


class DatasetDescription(msgspec.Struct, frozen=True):
    """The description of a dataset in its folder, as far as readers need it."""

    format: int
    incc_version: str
    cores: list[tuple[str, str]]
    """The name of each core, and the version of its model."""
    complete: bool
    """True if the scan has finished."""
    rows: int
    """The number of the next row to commit."""
    failures: int
    """The number of inputs, functions and loops that were not analysed."""


class Dataset:
    """A dataset to read from, also while a scan writes to it. A context manager.

    Methods raise DatasetError for damaged files, and OSError for unreadable ones.
    """

    def __init__(self, folder: str) -> None:
        """Open the dataset in a folder. Raises DatasetError and OSError."""
        if not is_dataset(folder):
            raise DatasetError(f"{printable(folder)}: not a dataset; incc-scan -o FOLDER writes one")
        self.folder = folder
        self.about = _description(folder)
        named = [core for core, _ in self.about.cores]
        self.cores = sorted(cores_in(folder), key=lambda core: named.index(core) if core in named else len(named))
        """The cores with kernels, in the order of the scan."""
        if self.about.complete:
            check_complete(folder, named)
        self._store = Store(os.path.join(folder, KERNELS), read_only=True)
        self._titles: dict[str, str] = {}

    def __enter__(self) -> Dataset:
        return self

    def __exit__(self, *_: object) -> None:
        self._store.close()

    @property
    def notes(self) -> list[str]:
        """Sentences on what is not in the dataset."""
        notes = []
        if not self.about.complete:
            notes.append(f"{printable(self.folder)}: the scan has not finished; incc-scan --resume continues it.")
        if failures := self.about.failures:
            what = "1 input or loop was" if failures == 1 else f"{failures:,} inputs or loops were"
            notes.append(f"{printable(self.folder)}: {what} not analysed (see _failures.parquet).")
        return notes

    def units(
        self,
        condition: Condition | None = None,
        cores: Collection[str] = (),
        functions: Sequence[str] = (),
        kernels: Sequence[NamedKernels] = (),
    ) -> Iterator[t.UnitReport]:
        """Yield the kernels by file and core, in the order of the scan; files with many kernels in several units.

        Args:
            condition: A condition on kernels; others are left out, without reading their reports.
            cores: The names of cores; others are left out. Empty for all.
            functions: Globs of functions; others are left out. Empty for all.
            kernels: Names of kernels or their functions; others are left out. Lines are ignored. Empty for all.
        """
        kernels = [NamedKernels(each.function, 0) for each in kernels]
        streams = [
            self._groups(number, self._wanted(core, condition, functions, kernels))
            for number, core in enumerate(self.cores)
            if not cores or core in cores
        ]
        for _, _, rows in heapq.merge(*streams, key=itemgetter(0, 1)):
            yield self._unit(rows)

    def report(self, units: Sequence[t.UnitReport]) -> t.AnalysisReport:
        """Return units as a report."""
        tool = t.Tool(name="incc", version=self.about.incc_version)
        return t.AnalysisReport(schema_version=SCHEMA_VERSION, tool=tool, units=list(units))

    def show(self, hash_: str, cores: Collection[str] = ()) -> Iterator[bytes]:
        """Yield the reports of kernels as JSON, one for each core.

        Args:
            hash_: The hash of a kernel, or the content hash of several: 16 hexadecimal digits.
            cores: The names of cores; others are left out. Empty for all.

        Raises:
            DatasetError: No kernel has this hash.
        """
        shown = False
        for each in self._named(hash_.lower()):
            for core, text in self._store.reports(each).items():
                if not cores or core in cores:
                    yield text
                    shown = True
        if not shown:
            where = f" on {' or '.join(sorted(cores))}" if cores else ""
            raise DatasetError(f"{printable(self.folder)}: no kernel has the hash {hash_!r}{where}")

    def _named(self, hash_: str) -> list[str]:
        """Return the hashes of the kernels with a hash or content hash, each once."""
        if not re.fullmatch("[0-9a-f]{16}", hash_):
            return []
        if self._store.reports(hash_):
            return [hash_]
        arrow, _ = columnar.parquet()
        import pyarrow.compute as compute

        hashes: dict[str, None] = {}
        for core in self.cores:
            for batch in self._batches(core, ["row", "hash", "content_hash"]):
                same = batch.filter(compute.equal(batch["content_hash"], arrow.scalar(hash_)))
                hashes.update(dict.fromkeys(same["hash"].to_pylist()))
        return list(hashes)

    # --- rows ---------------------------------------------------------------------------------------------------------

    def _batches(self, core: str, columns: Sequence[str]) -> Iterator[Any]:
        """Yield the committed rows of a core, some at a time."""
        arrow, _ = columnar.parquet()
        for path, _ in row_files(self.folder, core):
            with opened_rows(path) as file:
                if missing := next((name for name in columns if name not in file.schema_arrow.names), ""):
                    raise DatasetError(f"{printable(path)}: damaged: no column {missing!r}")
                for batch in file.iter_batches(_ROWS, columns=list(columns)):
                    batch.validate(full=True)
                    last = batch["row"][-1].as_py() if len(batch) else 0
                    if last >= self.about.rows:
                        batch = batch.filter(arrow.array([n < self.about.rows for n in batch["row"].to_pylist()]))
                    yield batch

    def _groups(self, number: int, wanted: Iterable[_Row]) -> Iterator[tuple[int, int, list[_Row]]]:
        """Yield rows of a core by file, with the number of the first row and that of the core."""
        rows: list[_Row] = []
        unit: Any = None
        for row in wanted:
            own = [row[name] for name in _UNIT]
            if rows and (own != unit or len(rows) >= MOST):
                yield rows[0]["row"], number, rows
                rows = []
            unit = own
            rows.append(row)
        if rows:
            yield rows[0]["row"], number, rows

    def _wanted(
        self, core: str, condition: Condition | None, functions: Sequence[str], kernels: Sequence[NamedKernels]
    ) -> Iterator[_Row]:
        """Yield the rows of a core that `units` needs."""
        names = [name for name in sorted(condition.names if condition else ()) if name in COLUMNS]
        for batch in self._batches(core, list(_NEEDED | dict.fromkeys(names))):
            kept = [*range(len(batch))]
            if functions:
                symbols = batch["function"].to_pylist()
                chosen = choose_functions(set(symbols), functions)
                kept = [n for n in kept if symbols[n] in chosen]
            if kernels:
                named = [*zip(*(batch[name].to_pylist() for name in ("function", "kernel_id", "name")), strict=True)]
                written = batch["function_name"].to_pylist()
                kept = [n for n in kept if any(k.fits_names(named[n], (written[n],), (0, 0), None) for k in kernels)]
            if condition:
                columns: dict[str, list[Value]] = {name: batch[name].to_pylist() for name in names}
                kept = [n for n in kept if condition.holds({name: values[n] for name, values in columns.items()})]
            if kept:
                yield from (batch if len(kept) == len(batch) else batch.take(kept)).select([*_NEEDED]).to_pylist()

    # --- reports ------------------------------------------------------------------------------------------------------

    def _unit(self, rows: Sequence[_Row]) -> t.UnitReport:
        """Return the kernels of a file on a core as a report."""
        first = rows[0]
        kernels = [self._kernel(row) for row in rows]
        unit = t.UnitReport(
            source=first["source"] or "",
            assembly_file=first["assembly_file"] or "",
            compiler=first["compiler"] or "",
            compiler_version=first["compiler_version"] or "",
            command=[],
            folder="",
            output="",
            way=_way(first, kernels[0]),
            target_cpu="",
            model=self._model(first),
            core=None,
            kernels=kernels,
            left_out=[],
            system_loops=0,
            became_calls=[],
            not_found=[],
            ways=None,
            control_flow=None,
            marks=[],
            mark_problems=[],
            trials=None,
        )
        try:
            check_consistency(self.report([unit]), printable(self.folder))
        except InputError as error:
            raise DatasetError(str(error)) from None
        return unit

    def _model(self, row: _Row) -> t.ModelReport:
        name = row["model"] or ""
        if name not in self._titles:
            try:
                self._titles[name] = load(name).title
            except ModelError:
                self._titles[name] = name
        return t.ModelReport(
            name=name,
            title=self._titles[name],
            version=row["model_version"] or "",
            isa=row["isa"] or "",
            chosen_by=f"-mcpu={name}",
            note="",
        )

    def _kernel(self, row: _Row) -> t.KernelReport:
        """Return a row's kernel."""
        place = f"{printable(self.folder)}: damaged: row {row['row']}"
        try:
            text = self._store.reports(row["hash"] or "").get(row["model"] or "")
            if text is None:
                raise DatasetError(f"{place}: no report")
            return _placed(decoded(text, t.KernelReport), row)
        except (msgspec.MsgspecError, ValueError, TypeError, OverflowError, RecursionError) as error:
            raise DatasetError(f"{place}: {error}") from None


def _description(folder: str) -> DatasetDescription:
    path = os.path.join(folder, ABOUT)
    with open(path, "rb") as file:
        text = file.read()
    try:
        about = msgspec.convert(json.loads(text), DatasetDescription)
    except (ValueError, msgspec.ValidationError, RecursionError) as error:
        raise DatasetError(f"{printable(path)}: not the description of an incc dataset: {error}") from None
    if about.format != FORMAT:
        raise DatasetError(f"{printable(path)}: format {about.format} is not supported (this incc reads {FORMAT})")
    return about


def _way(row: _Row, kernel: t.KernelReport) -> Literal["second-run", "object", "given"]:
    """Return the origin of the code: instructions of objects have no lines, and their kernels are in functions."""
    if row["compiler"]:
        return "second-run"
    return "object" if kernel.kind != "code" and not any(i.line for i in kernel.instructions) else "given"


def _placed(kernel: t.KernelReport, row: _Row) -> t.KernelReport:
    """Return a kernel as it is at the place of a row; its report may be that of the same code elsewhere."""
    function, first_line = row["function"] or "", int(row["assembly_line"] or 0)
    file, line = row["file"] or "", int(row["line"] or 0)
    has_source = (file, line) != (row["assembly_file"] or "", first_line)
    kernel.source = t.SourceLocation(file=file, line=line) if has_source else None
    _move_jumps(kernel, row["label"] or "")
    kernel.kernel_id, kernel.label = row["kernel_id"] or "", row["label"] or ""
    kernel.last_line = max(first_line, kernel.last_line + first_line - kernel.first_line)
    kernel.first_line = first_line
    before, function_before, name_before = kernel.function, kernel.function_name, kernel.name
    kernel.function, kernel.function_name = function, row["function_name"] or ""
    kernel.name = row["name"] or ""
    if (before, function_before, name_before) == (kernel.function, kernel.function_name, kernel.name):
        return kernel
    main = kernel.role.of.removeprefix(f"{before}/")
    if main != kernel.role.of:
        kernel.role = replace(kernel.role, of=f"{function}/{main}" if function else main)
    kernel.spans = [replace(span, symbol=function) if span.symbol == before else span for span in kernel.spans]
    if kernel.source_function == short_name(function_before):
        kernel.source_function = short_name(kernel.function_name)
    kernel.overview = overview(kernel)
    return kernel


_ADDRESS = re.compile(r"\.L([0-9a-f]+)")
_JUMP = re.compile(r"((?:j\w+|loop\w*|b|bc?\.\w+|[ct]bn?z)\s(?:.*[\s,])?#?)(0x[0-9a-f]+|[0-9])")
"""A jump to an address, in the syntax of x86 or AArch64."""


def _move_jumps(kernel: t.KernelReport, label: str) -> None:
    """Set the addresses in the kernel's jumps within itself to those of the same code at another label.

    It is unknown where jumps out of it lead to; they stay as they are.
    """
    before, after = _ADDRESS.fullmatch(kernel.label), _ADDRESS.fullmatch(label)
    if before is None or after is None or before[1] == after[1]:
        return
    start, moved = int(before[1], 16), int(after[1], 16)
    for n, instruction in enumerate(kernel.instructions):
        if (jump := _JUMP.fullmatch(instruction.text)) is None:
            continue
        target = int(jump[2], 16)
        if start <= target < start + kernel.size.bytes:
            target += moved - start
            text = f"{jump[1]}{target:#x}" if target > 9 else f"{jump[1]}{target}"
            kernel.instructions[n] = replace(instruction, text=text)
