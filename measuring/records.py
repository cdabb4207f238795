"""Measurements as JSON lines: a header, then a line for each form, pair, kernel or stream, in the order of measuring.

A line is written as soon as its figures exist, so an interrupted run continues after the last complete line.
"""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, TextIO

import msgspec

from incc.measuring.harness import LoopFailure
from incc.models.memory import MemoryHierarchy
from incc.support.text import Printable


class Log:
    """A file to which JSON lines are added; without a path it does nothing. Raises OSError.

    The line that an interrupted run could not finish is removed.
    """

    def __init__(self, path: str) -> None:
        self._file: TextIO | None = None
        if path:
            if os.path.isfile(path):
                _remove_unfinished_line(path)
            self._file = open(path, "a", encoding="utf-8")  # noqa: SIM115 - kept open

    @property
    def is_empty(self) -> bool:
        return self._file is not None and not self._file.tell()

    def add(self, record: dict[str, Any]) -> None:
        if self._file is not None:
            self._file.write(json.dumps(record) + "\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()

    def __enter__(self) -> Log:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _remove_unfinished_line(path: str) -> None:
    with open(path, "rb+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read() != b"\n":
                file.seek(0)
                file.truncate(file.read().rfind(b"\n") + 1)


def whole_lines(path: str) -> list[bytes]:
    """Return the lines of a file, without one that an interrupted run could not finish; none if it is missing."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        return []
    return content[: content.rfind(b"\n") + 1].splitlines()


class OtherRun(Exception):
    """The file holds something else; the message says what."""


class _FailedRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """A form, pair or kernel that could not be measured."""

    form: Printable = ""
    conditions: list[Printable] = []
    pair: list[Printable] = []
    kernel: Printable = ""
    code: Printable = ""
    failure: LoopFailure


class _FormRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The figures of a form, of which some may not have been requested."""

    form: Printable
    conditions: list[Printable]
    what: list[Printable] = []
    tp: float | None = None
    latency: list[tuple[Printable, Printable, float]] = []
    slots: float = 0
    seen: dict[Printable, float] = {}
    counted: dict[Printable, float] = {}
    spread: dict[Printable, float] = {}
    failed: dict[Printable, Printable] = {}
    way: Printable = ""
    model: dict[Printable, Printable | float | None] = {}

    def __post_init__(self) -> None:
        if any(isinstance(value, str) != (name == "ports") for name, value in self.model.items()):
            raise ValueError("the figures of a model are numbers, its ports are not")


class _PairRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The figures of two forms together."""

    pair: list[Printable]
    cycles: float
    spread: float
    alone: list[float] = []
    sum: float
    larger: float
    conflict: float | None
    model: float | None


class _KernelRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The figures of a kernel."""

    kernel: Printable
    code: Printable = ""
    cycles: float
    spread: float
    model: float | None
    exit: Printable = ""
    notes: list[Printable] = []


class StreamRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The figures of a loop that streams through arrays of some size, in one of several rounds."""

    stream: Printable
    """The name of the loop."""
    bits: int
    """The width of its vectors."""
    non_temporal: bool
    bytes: int
    """Bytes of all its arrays, on each core."""
    cores: int
    """The number of cores that run it at the same time."""
    round: int
    cycles: Annotated[float, msgspec.Meta(gt=0, le=1e9)]
    """Core cycles per cache line of each array."""
    spread: float
    """Cycles between the lower quartile and the median of the samples."""
    disturbed: float
    """The share of samples during which something else ran on the core."""
    ghz: float
    """The core's clock."""


class _MemoryRecord(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    """The memory hierarchy that the streams of a file show."""

    memory: MemoryHierarchy
    errors: dict[str, float]
    held_out: dict[str, float | None]


def _kind_of(record: dict[str, Any]) -> type[msgspec.Struct]:
    if "failure" in record:
        return _FailedRecord
    if "memory" in record:
        return _MemoryRecord
    if "stream" in record:
        return StreamRecord
    return _PairRecord if "pair" in record else _KernelRecord if "kernel" in record else _FormRecord


_BEGINS = b'{"core": '
"""The start of a header."""


_STREAM_KEY = ("stream", "bits", "non_temporal", "bytes", "cores", "round")
"""The fields that name a stream's measurement."""


def name(record: dict[str, Any]) -> str:
    """Return the key by which a run recognises a record that is already measured."""
    if "pair" in record:
        return "pair\n" + "\n".join(record["pair"])
    if "kernel" in record:
        return f"kernel\n{record['kernel']}\n{record.get('code', '')}"
    if "memory" in record:
        return "memory"
    if "stream" in record:
        return "stream\n" + "\n".join(f"{record[key]}" for key in _STREAM_KEY)
    return "form\n" + "\n".join([record["form"], *sorted(record["conditions"])])


class Records:
    """A file of records that grows, or only a list of them. Raises OSError, and OtherRun."""

    def __init__(self, path: str, core: str, must_exist: bool = False) -> None:
        self.path = path
        self.header: dict[str, Any] | None = None
        self.done: dict[str, dict[str, Any]] = {}
        self._core = core
        # A pipe or a terminal has no earlier records to continue.
        if path and (must_exist or os.path.isfile(path)):
            self._read(path)
        self._log = Log(path)

    def _read(self, path: str) -> None:
        if os.path.exists(path) and not (os.path.isfile(path) or os.path.isdir(path)):
            raise OtherRun(f"{path}: no file that a run could go on with")
        with open(path, "rb") as file:
            content = file.read()
        whole = content.rfind(b"\n") + 1
        for number, line in enumerate(content[:whole].splitlines(), 1):
            try:
                record = json.loads(line)
                if "core" in record:
                    self.header = record
                else:
                    msgspec.json.decode(line, type=_kind_of(record))
                    self.done[name(record)] = record
            except (ValueError, TypeError, KeyError, RecursionError, msgspec.DecodeError):
                raise OtherRun(f"{path}:{number}: not a record of measurements") from None
        # A run that was killed at once may have left a piece of the header.
        if content and self.header is None and (whole or not _BEGINS.startswith(content[: len(_BEGINS)])):
            raise OtherRun(f"{path}: no measurements (the first line does not name a core)")
        if self.header is not None and self.header["core"] != self._core:
            raise OtherRun(f"{path}: measurements on {self.header['core']}, not on {self._core}")

    def begin(self, header: dict[str, Any]) -> None:
        """Write the header if the file has none yet, or one without all its fields."""
        if self.header is None or header.keys() - self.header.keys():
            self.header = header
            self._log.add(header)

    def add(self, record: dict[str, Any]) -> None:
        self.done[name(record)] = record
        self._log.add(record)

    def close(self) -> None:
        self._log.close()

    def __enter__(self) -> Records:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
