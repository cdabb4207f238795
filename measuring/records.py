"""Measurements as JSON lines: a header, then a line for each form, pair or kernel, in the order of measuring.

A line is written as soon as its figures exist, so an interrupted run continues behind the last whole line.
"""

from __future__ import annotations

import json
import os
from typing import Any, TextIO

import msgspec

from incc.measuring.harness import LoopFailure


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


class _RecordTypes(msgspec.Struct, kw_only=True):
    """The types of a record's fields, each of which only records of some kind have."""

    form: str = ""
    conditions: list[str] = []
    pair: list[str] = []
    kernel: str = ""
    code: str = ""
    slots: float = 0
    tp: float | None = None
    latency: list[tuple[str, str, float]] = []
    seen: dict[str, float] = {}
    counted: dict[str, float] = {}
    spread: dict[str, float] | float = 0
    model: dict[str, str | float | None] | float | None = None
    way: str = ""
    failure: LoopFailure | None = None
    cycles: float = 0
    larger: float = 0
    sum: float = 0
    conflict: float | None = None


_BEGINS = b'{"core": '
"""The start of a header."""


def name(record: dict[str, Any]) -> str:
    """Return the key by which a run recognises a record that is already measured."""
    if "pair" in record:
        return "pair\n" + "\n".join(record["pair"])
    if "kernel" in record:
        return f"kernel\n{record['kernel']}\n{record.get('code', '')}"
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
                    msgspec.json.decode(line, type=_RecordTypes)
                    self.done[name(record)] = record
            except (ValueError, TypeError, KeyError, RecursionError, msgspec.DecodeError):
                raise OtherRun(f"{path}:{number}: not a record of measurements") from None
        # A run that was killed at once may have left a piece of the header.
        if content and self.header is None and (whole or not _BEGINS.startswith(content[: len(_BEGINS)])):
            raise OtherRun(f"{path}: no measurements (the first line does not name a core)")
        if self.header is not None and self.header["core"] != self._core:
            raise OtherRun(f"{path}: measurements on {self.header['core']}, not on {self._core}")

    def begin(self, header: dict[str, Any]) -> None:
        """Write the header if the file has none yet."""
        if self.header is None:
            self.header = header
            self._log.add(header)

    def add(self, record: dict[str, Any]) -> None:
        self.done[name(record)] = record
        self._log.add(record)

    def close(self) -> None:
        self._log.close()
