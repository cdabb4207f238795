"""Reports as a database stores them: split into units and kernels, each a text with a digest, and joined again."""

from __future__ import annotations

import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.history.schema import COLUMNS, text, values
from incc.report import types as t
from incc.report.documents import InputError, decoded, read_report, special_file, texts
from incc.report.folder.manifest import OWN
from incc.report.where import Value
from incc.support.files import read_all

LEVEL = 1
"""The compression level of zlib: higher levels take up to twice the time and save a tenth."""

MOST = 1 << 28
"""The largest size of an unpacked body, in bytes: no report has one, but a damaged or hostile file may claim more."""


class Body(msgspec.Struct, frozen=True):
    """A text to store, not compressed yet."""

    digest: bytes
    data: bytes


class PackedUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as it is stored."""

    key: bytes
    """A digest that is the same for every build of the unit."""
    digest: bytes
    """The digest of all contents."""
    body: Body
    columns: tuple[str, ...]
    """The values of UNIT_COLUMNS."""
    kernels: list[tuple[Body, tuple[Value, ...]]]
    """The body and the row of each kernel."""

    @property
    def built(self) -> bool:
        """True if the unit has the command that compiled it."""
        return self.columns[_COMMAND] != "[]"

    def kernel_ids(self) -> frozenset[str]:
        """Return the kernel_ids of its kernels."""
        return frozenset(str(row[_KERNEL_ID]) for _, row in self.kernels)

    def size(self) -> int:
        """Return the size of its texts, in bytes."""
        return len(self.body.data) + sum(len(body.data) for body, _ in self.kernels)


UNIT_COLUMNS = (
    *("schema_version", "tool_version", "source", "assembly_file", "compiler", "compiler_version", "command"),
    *("model", "model_version"),
)
"""The columns of `PackedUnit.columns`."""

_COMMAND = UNIT_COLUMNS.index("command")
_KERNEL_ID = COLUMNS.index("kernel_id")


def packed(report: t.AnalysisReport) -> list[PackedUnit]:
    """Return the units of a report."""
    return [_packed_unit(report, unit) for unit in report.units]


def _packed_unit(report: t.AnalysisReport, unit: t.UnitReport) -> PackedUnit:
    # The body has the report's own version and tool, so that units can be exported as they came.
    body = _body(replace(report, units=[replace(unit, kernels=[])]))
    kernels = [(_body(kernel), values(unit, kernel)) for kernel in unit.kernels]
    columns = (
        *(report.schema_version, report.tool.version, unit.source, unit.assembly_file),
        *(unit.compiler, unit.compiler_version, json.dumps(unit.command), unit.model.name, unit.model.version),
    )
    # The version of the model is not part of the key: it changes with incc, while the unit stays the same.
    same = (unit.source or unit.assembly_file, *columns[4:7], unit.model.name)
    return PackedUnit(
        key=digest_of([json.dumps(same).encode()]),
        digest=digest_of([body.digest, *(kernel.digest for kernel, _ in kernels)]),
        body=body,
        columns=tuple(text(column) for column in columns),
        kernels=kernels,
    )


def report_in(data: bytes, path: str, line: int = 1) -> t.AnalysisReport:
    """Return the report in a text, which starts at that line of a file. Raises InputError."""
    # The text is either one of several lines, or a report over many lines.
    return read_report(data, path, line if b"\n" not in data else 1)


def _body(value: Any) -> Body:
    try:
        data = msgspec.json.encode(value)
    except (ValueError, OverflowError):
        # File names may have bytes that are not UTF-8, and numbers more than 64 bits.
        data = json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode()
    return Body(digest_of([data]), data)


def digest_of(parts: Iterable[bytes]) -> bytes:
    """Return a digest of 16 bytes that is equal for equal parts."""
    digest = blake2b(digest_size=16)
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.digest()


def compressed(data: bytes) -> bytes:
    """Return the stored form of a text."""
    return zlib.compress(data, LEVEL)


def unpacked(unit: bytes, kernels: Iterable[bytes], path: str) -> t.AnalysisReport:
    """Return the report of one unit from the stored texts of it and of its kernels. Raises InputError."""
    try:
        report = decoded(unpacked_text(unit, path), t.AnalysisReport)
        report.units[0].kernels = [decoded(unpacked_text(kernel, path), t.KernelReport) for kernel in kernels]
    except (IndexError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise _damaged(path, error) from None
    return report


def unpacked_text(data: bytes, path: str) -> bytes:
    """Return a text from its stored form. Raises InputError."""
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(data, MOST)
        if not unpacking.eof:
            raise ValueError("it has no end")
        return text
    except (zlib.error, ValueError, TypeError) as error:
        raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> InputError:
    return InputError(f"{path}: damaged: a report in it cannot be unpacked: {error}")


# --- reading reports --------------------------------------------------------------------------------------------------


def files_of(names: Iterable[str]) -> list[str]:
    """Return the report files: the names themselves, or all `*.json` and `*.jsonl` below a folder, sorted.

    Raises InputError for a folder without any.
    """
    paths: list[str] = []
    for name in names:
        if not os.path.isdir(name):
            paths.append(name)
            continue
        below = []
        for folder, folders, files in os.walk(name, onerror=_unreadable):
            # A build's list of its reports is not a report.
            folders[:] = [other for other in folders if other != OWN]
            below += [os.path.join(folder, file) for file in files if file.endswith((".json", ".jsonl"))]
        if not below:
            raise InputError(f"{name}: no reports (*.json) in this folder")
        paths += sorted(below)
    return paths


def _unreadable(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}")


def read_reports(path: str) -> Iterator[tuple[int, bytes]]:
    """Yield the texts of the reports of a file, each with the line that it starts at.

    Reports have one line each, or many lines one after the other, as in comparisons. Raises InputError for an
    unreadable file.
    """
    try:
        mode = os.stat(path).st_mode if path != "-" else 0
        if stat.S_ISFIFO(mode) and not path.startswith(("/dev/", "/proc/self/fd/")):
            raise special_file(path, mode)  # which may have no writer
        # Standard input stays open; otherwise the next file that is opened would get its number.
        with open(0, "rb", closefd=False) if path == "-" else open(path, "rb", 1 << 18) as opened:
            # A device may be seekable, but it has no end.
            is_file = opened.seekable() and stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
            file = opened if is_file else io.BytesIO(read_all(opened))
            empty = True
            for number, data in texts(file):
                empty = False
                lines = data.splitlines() if data.startswith(b'{"') else []
                if len(lines) > 1 and all(line.startswith(b'{"') for line in lines if line.strip()):
                    # There is one report per line, and the first line was cut off.
                    yield from ((n, line) for n, line in enumerate(lines, number) if line.strip())
                else:
                    yield number, data
            if empty:
                raise InputError(f"{path}: the file is empty")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None
