"""Reports as a database keeps them: taken apart into units and kernels, each a text with a digest, and put together
again."""

from __future__ import annotations

import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec
from msgspec.structs import replace

from incc.history.schema import COLUMNS, text, values
from incc.report import types as t
from incc.report.documents import InputError, decoded, read_report, texts
from incc.support.files import read_all

if TYPE_CHECKING:
    from incc.report.where import Value

LEVEL = 1
"""Of zlib: the next ones take up to twice the time for a tenth less."""

MOST = 1 << 28
"""Bytes of an unpacked body; so many are in no report, but a damaged or hostile file may say so."""


class Body(msgspec.Struct, frozen=True):
    """A text to keep, not compressed yet."""

    digest: bytes
    data: bytes


class PackedUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as it is kept. `key`: equal for what is the same unit in another build of it; `digest`: of all that there
    is of it. `columns`: what `units` has of it behind its body. `kernels`: the body and the row of each."""

    key: bytes
    digest: bytes
    body: Body
    columns: tuple[str, ...]
    kernels: list[tuple[Body, tuple[Value, ...]]]

    @property
    def built(self) -> bool:
        """Whether a command is known by which it was compiled."""
        return self.columns[_COMMAND] != "[]"

    def kernel_ids(self) -> frozenset[str]:
        """What its kernels are known by."""
        return frozenset(str(row[_KERNEL_ID]) for _, row in self.kernels)

    def size(self) -> int:
        """Bytes of its texts."""
        return len(self.body.data) + sum(len(body.data) for body, _ in self.kernels)


UNIT_COLUMNS = (
    *("schema_version", "tool_version", "source", "assembly_file", "compiler", "compiler_version", "command"),
    *("model", "model_version"),
)
"""The columns of `PackedUnit.columns`."""

_COMMAND = UNIT_COLUMNS.index("command")
_KERNEL_ID = COLUMNS.index("kernel_id")


def packed(report: t.Report) -> list[PackedUnit]:
    """Return the units of a report."""
    return [_packed_unit(report, unit) for unit in report.units]


def _packed_unit(report: t.Report, unit: t.Unit) -> PackedUnit:
    # With the report's own version and tool, so that units can be given back as they came.
    body = _body(replace(report, units=[replace(unit, kernels=[])]))
    kernels = [(_body(kernel), values(unit, kernel)) for kernel in unit.kernels]
    columns = (
        *(report.schema_version, report.tool.version, unit.source, unit.assembly_file),
        *(unit.compiler, unit.compiler_version, json.dumps(unit.command), unit.model.name, unit.model.version),
    )
    # A model changes with incc; what is analysed for it remains the same.
    same = (unit.source or unit.assembly_file, *columns[4:7], unit.model.name)
    return PackedUnit(
        key=digest_of([json.dumps(same).encode()]),
        digest=digest_of([body.digest, *(kernel.digest for kernel, _ in kernels)]),
        body=body,
        columns=tuple(text(column) for column in columns),
        kernels=kernels,
    )


def packed_text(data: bytes, path: str, line: int = 1) -> list[PackedUnit]:
    """Return the units of the report that a text is, which begins in that line of a file. Raises InputError."""
    # One of several a line, or laid out over many.
    return packed(read_report(data, path, line if b"\n" not in data else 1))


def _body(value: Any) -> Body:
    try:
        data = msgspec.json.encode(value)
    except (ValueError, OverflowError):
        # Bytes that are no UTF-8, as names of files may hold; numbers of more than 64 bits.
        data = json.dumps(msgspec.to_builtins(value), separators=(",", ":"), allow_nan=False).encode()
    return Body(digest_of([data]), data)


def digest_of(parts: Iterable[bytes]) -> bytes:
    """16 bytes that are equal for equal parts."""
    found = blake2b(digest_size=16)
    for part in parts:
        found.update(len(part).to_bytes(8, "little"))
        found.update(part)
    return found.digest()


def compressed(data: bytes) -> bytes:
    """What is stored of a text."""
    return zlib.compress(data, LEVEL)


def unpacked(unit: bytes, kernels: Iterable[bytes], path: str) -> t.Report:
    """Return the report of one unit from the stored texts of it and of its kernels. Raises InputError."""
    try:
        report = decoded(_text(unit, path), t.Report)
        report.units[0].kernels = [decoded(_text(kernel, path), t.Kernel) for kernel in kernels]
    except (IndexError, ValueError, RecursionError, msgspec.MsgspecError) as error:
        raise _damaged(path, error) from None
    return report


def _text(data: bytes, path: str) -> bytes:
    try:
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(data, MOST)
        if not unpacking.eof:
            raise ValueError("it has no end")
        return found
    except (zlib.error, ValueError, TypeError) as error:
        raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> InputError:
    return InputError(f"{path}: damaged: a report in it cannot be unpacked: {error}")


# --- reading reports --------------------------------------------------------------------------------------------------


def files_of(names: Iterable[str]) -> list[str]:
    """The files of reports that names stand for: themselves, or all `*.json` and `*.jsonl` below a folder in the order
    of their names. Raises InputError for a folder without any."""
    found: list[str] = []
    for name in names:
        if not os.path.isdir(name):
            found.append(name)
            continue
        below = [
            os.path.join(folder, file)
            for folder, _, files in os.walk(name, onerror=_unreadable)
            for file in files
            if file.endswith((".json", ".jsonl"))
        ]
        if not below:
            raise InputError(f"{name}: no reports (*.json) in this folder")
        found += sorted(below)
    return found


def _unreadable(error: OSError) -> None:
    raise InputError(f"{error.filename}: {error.strerror}")


def read_reports(path: str) -> Iterator[tuple[int, bytes]]:
    """The texts of the reports of a file, each with the line that it begins in: one a line, or laid out over many lines
    and one behind the other, as comparisons read them. Raises InputError for a file that cannot be read."""
    try:
        # Standard input stays open, or the next file that is opened would take its number.
        with open(0, "rb", closefd=False) if path == "-" else open(path, "rb", 1 << 18) as opened:
            # A device can be sought in, and has no end.
            file = opened if opened.seekable() and _is_file(opened) else io.BytesIO(read_all(opened))
            empty = True
            for number, data in texts(file):
                empty = False
                lines = data.splitlines() if data.startswith(b'{"') else []
                if len(lines) > 1 and all(line.startswith(b'{"') for line in lines if line.strip()):
                    # One a line, of which the first was cut off.
                    yield from ((n, line) for n, line in enumerate(lines, number) if line.strip())
                else:
                    yield number, data
            if empty:
                raise InputError(f"{path}: the file is empty")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _is_file(opened: BinaryIO) -> bool:
    return stat.S_ISREG(os.fstat(opened.fileno()).st_mode)
