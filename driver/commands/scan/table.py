"""Writing the rows of a scan: as lines of JSON or as a dataset."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TextIO

import msgspec

from incc.driver.commands.scan import output
from incc.driver.commands.scan.analysis import Scan
from incc.fleet.dataset.columns import ANALYSED, COLUMNS, OF_CORE, PLACES
from incc.fleet.flow import Results
from incc.fleet.messages import InputRead, OnCore, Placed
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


def _row(kernel: Placed, core: OnCore, values: Sequence[Value], number: int) -> Row:
    row: Row = _in_order((*kernel.values, *values, number, core.core, __version__, core.version))
    return row


class Table:
    """Selects the rows that a scan shows, and writes them to a stream or to a dataset."""

    def __init__(self, scan: Scan, stream: TextIO | None, writer: DatasetWriter | None) -> None:
        """Prepare to write to one of a stream, as lines of JSON, and a dataset."""
        self._scan = scan
        self._stream = stream
        self._writer = writer
        self._top: list[tuple[list[float], int, dict[str, Row]]] = []
        self.number = int(writer.state or 0) if writer else 0
        """The number of kernels so far."""
        self.written = 0
        self._waiting = 0
        """The number of kernels since the last commit."""
        self._last = time.monotonic()
        """The time of the last commit."""

    def add(self, read: InputRead, results: Results) -> None:
        """Write the kernels of an input, or keep them for --top."""
        condition = self._scan.condition
        for worth, rows in rows_of(read, results, self.number):
            self.number += 1
            if condition and not any(condition.holds(dict(zip(COLUMNS, row, strict=True))) for row in rows.values()):
                continue
            if self._scan.top:
                self._top.append((worth, self.number, rows))
                if len(self._top) > self._scan.top + output.MOST_LATER:
                    self._top = sorted(self._top)[: self._scan.top]
            else:
                self._write(rows)

    def _write(self, rows: dict[str, Row]) -> None:
        self.written += 1
        self._waiting += 1
        for core, row in rows.items():
            if self._writer:
                self._writer.add(core, [row])
            elif self._stream:
                self._stream.write(_line(dict(zip(COLUMNS, row, strict=True))))

    def piece_done(self, pieces: int) -> None:
        """Commit the rows of the first `pieces` pieces to the dataset, if it is time."""
        if self._waiting >= KERNELS or time.monotonic() > self._last + SECONDS:
            self.commit(pieces)

    def commit(self, pieces: int) -> None:
        """Commit the rows of the first `pieces` pieces to the dataset."""
        if self._writer:
            self._writer.commit(pieces, str(self.number).encode())
            self._waiting, self._last = 0, time.monotonic()

    def finish(self) -> None:
        """Write the kernels with the most to gain, if there is --top."""
        for _, _, rows in sorted(sorted(self._top)[: self._scan.top], key=lambda each: each[0]):
            self._write(rows)


def _line(row: dict[str, Any]) -> str:
    """Return a row as a line of JSON, with whole numbers as such."""
    plain = {n: int(v) if isinstance(v, float) and v.is_integer() else v for n, v in row.items()}
    try:
        return without_controls(msgspec.json.encode(plain).decode()) + "\n"
    except UnicodeEncodeError:
        cleaned = {name: without_surrogates(v) if isinstance(v, str) else v for name, v in plain.items()}
        return without_controls(msgspec.json.encode(cleaned).decode()) + "\n"
