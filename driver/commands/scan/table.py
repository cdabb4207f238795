"""Writing the rows of a scan: as lines of JSON or as a dataset."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from incc.driver.commands.scan import output
from incc.driver.commands.scan.analysis import Scan
from incc.fleet.dataset.columns import ANALYSED, COLUMNS, OF_CORE, PLACES
from incc.fleet.flow import Results
from incc.fleet.messages import InputRead, OnCore, PlacedKernel
from incc.report.where import Value
from incc.support.text import without_surrogates
from incc.support.version import __version__
from incc.views.json import without_controls

if TYPE_CHECKING:
    from incc.fleet.dataset.writing import DatasetWriter

Row = tuple[Value, ...]

SECONDS = 10.0
KERNELS = 20_000
"""Rows are committed to a dataset after so many seconds, or so many kernels."""

_PARTS = (*PLACES, *ANALYSED, "row", *OF_CORE)
_in_order = itemgetter(*[_PARTS.index(name) for name in COLUMNS])
"""Returns the values of a row, which has those of `_PARTS`."""


def rows_of(read: InputRead, results: Results, number: int) -> Iterator[tuple[list[float], dict[str, Row]]]:
    """Yield the rows of each kernel of an input by core, in the order of its kernels, with their `order_of_worth`.

    Args:
        read: the input.
        results: the results for its groups; kernels without any have no rows.
        number: the number of its first kernel in the scan.
    """
    placed = [
        (kernel.place, n, kernel, results[group.key])
        for group in read.groups
        if group.key in results
        for n, kernel in enumerate(group.kernels)
    ]
    for count, (_, n, kernel, cores) in enumerate(sorted(placed, key=lambda each: each[0])):
        worth = min((core.worth[n] for core in cores), default=[])
        yield worth, {core.core: _row(kernel, core, core.kernels[n], number + count) for core in cores}


def _row(kernel: PlacedKernel, core: OnCore, values: Sequence[Value], number: int) -> Row:
    row: Row = _in_order((*kernel.values, *values, number, core.core, __version__, core.version))
    return row


class RowSelection:
    """Selects the rows that a scan shows."""

    def __init__(self, scan: Scan, write: Callable[[dict[str, Row]], None], kernels: int = 0) -> None:
        """Prepare to pass the rows of each selected kernel, by core, to `write`.

        Args:
            scan: the scan.
            write: takes the rows.
            kernels: the number of kernels before the first one.
        """
        self._scan = scan
        self._write = write
        self._top: list[tuple[list[float], int, dict[str, Row]]] = []
        self.kernels = kernels
        """The number of kernels so far."""

    def add(self, read: InputRead, results: Results) -> None:
        """Pass on the kernels of an input, or keep them for --top."""
        condition = self._scan.condition
        for worth, rows in rows_of(read, results, self.kernels):
            self.kernels += 1
            if condition and not any(condition.holds(dict(zip(COLUMNS, row, strict=True))) for row in rows.values()):
                continue
            if self._scan.top:
                self._top.append((worth, self.kernels, rows))
                if len(self._top) > self._scan.top + output.MOST_LATER:
                    self._top = sorted(self._top)[: self._scan.top]
            else:
                self._write(rows)

    def finish(self) -> None:
        """Pass on the kernels with the most to gain, if there is --top."""
        for _, _, rows in sorted(self._top)[: self._scan.top]:
            self._write(rows)


class JsonLines:
    """Rows as lines of JSON."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.kernels = 0
        """The number of kernels that were written."""

    def write(self, rows: dict[str, Row]) -> None:
        """Write the rows of a kernel."""
        self.kernels += 1
        for row in rows.values():
            self._stream.write(_line(dict(zip(COLUMNS, row, strict=True))))


class DatasetRows:
    """Rows of a dataset, which are committed now and then."""

    def __init__(self, writer: DatasetWriter) -> None:
        self._writer = writer
        self.kernels = int(writer.state or 0)
        """The number of kernels before the first one, with those that were not selected."""
        self._waiting = 0
        """The number of kernels since the last commit."""
        self._last = time.monotonic()
        """The time of the last commit."""

    def write(self, rows: dict[str, Row]) -> None:
        """Add the rows of a kernel."""
        self._waiting += 1
        for core, row in rows.items():
            self._writer.add(core, [row])

    def commit_at_times(self, pieces: int, kernels: int) -> None:
        """Commit as `commit` does if many rows wait, or for long."""
        if self._waiting >= KERNELS or time.monotonic() > self._last + SECONDS:
            self.commit(pieces, kernels)

    def commit(self, pieces: int, kernels: int) -> None:
        """Commit the rows of the first `pieces` pieces, which have so many kernels."""
        self._writer.commit(pieces, str(kernels).encode())
        self._waiting, self._last = 0, time.monotonic()


def _line(row: dict[str, Any]) -> str:
    """Return a row as a line of JSON, with whole numbers as such."""
    plain = {n: int(v) if isinstance(v, float) and v.is_integer() else v for n, v in row.items()}
    try:
        return without_controls(msgspec.json.encode(plain).decode()) + "\n"
    except UnicodeEncodeError:
        cleaned = {name: without_surrogates(v) if isinstance(v, str) else v for name, v in plain.items()}
        return without_controls(msgspec.json.encode(cleaned).decode()) + "\n"
