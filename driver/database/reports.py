"""Reports as a database keeps them: taken apart into units and kernels, each a text with a digest, and put together
again."""

from __future__ import annotations

import copy
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from incc.driver.comparison.side import InputError
from incc.driver.database.schema import COLUMNS, text, values
from incc.driver.report.build import SCHEMA_VERSION

if TYPE_CHECKING:
    from incc.driver.report import types as t
    from incc.driver.report.where import Value

LEVEL = 1
"""Of zlib: the next ones take up to twice the time for a tenth less."""

MOST = 1 << 28
"""Bytes of an unpacked body; so many are in no report, but a damaged or hostile file may say so."""


class Body(NamedTuple):
    """A text to keep, not compressed yet."""

    digest: bytes
    data: bytes


class PackedUnit(NamedTuple):
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


def current(unit: t.Unit, version: str) -> t.Unit:
    """A unit of a report of that schema as this incc has them; kept it is as it came."""
    if version == SCHEMA_VERSION:
        return unit
    from incc.driver.comparison.upgrade import upgrade

    made: Any = copy.deepcopy(unit)
    upgrade(made, version)
    found: t.Unit = made
    return found


def packed(report: t.Report, where: str) -> list[PackedUnit]:
    """The units of a report. Raises InputError where it is none, with `where` before it."""
    try:
        return [_packed_unit(report, unit) for unit in report["units"]]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{where}: not a whole report: {missing}") from None


def _packed_unit(report: t.Report, unit: t.Unit) -> PackedUnit:
    model = unit["model"]
    command = unit["command"]
    # With the report's own version and tool, so that units can be given back as they came.
    kept: dict[str, Any] = {**report, "units": [{**unit, "kernels": []}]}
    body = _body(kept)
    now = current(unit, report["schema_version"])
    kernels = [
        (_body(kernel), values(now, kernel_now))
        for kernel, kernel_now in zip(unit["kernels"], now["kernels"], strict=True)
    ]
    columns = (
        *(report["schema_version"], report["tool"]["version"], unit["source"], unit["assembly_file"]),
        *(unit["compiler"], unit["compiler_version"], json.dumps(command), model["name"], model["version"]),
    )
    # A model changes with incc; what is analysed for it remains the same.
    same = (unit["source"] or unit["assembly_file"], *columns[4:7], model["name"])
    return PackedUnit(
        digest_of([json.dumps(same).encode()]),
        digest_of([body.digest, *(kernel.digest for kernel, _ in kernels)]),
        body,
        tuple(text(column) for column in columns),
        kernels,
    )


def _body(value: Any) -> Body:
    try:
        data = msgspec.json.encode(value)
    except (ValueError, OverflowError):
        # Bytes that are no UTF-8, as names of files may hold; numbers of more than 64 bits.
        data = json.dumps(value, separators=(",", ":"), allow_nan=False).encode()
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


def unpacked(data: bytes, path: str) -> Any:
    """The value that was stored in a database. Raises InputError for a damaged one."""
    found = _text(data, path)
    try:
        try:
            return msgspec.json.decode(found)
        except msgspec.DecodeError:
            return json.loads(found)  # knows halves of surrogate pairs, which stand for bytes that are no UTF-8
    except (ValueError, RecursionError) as error:
        raise _damaged(path, error) from None


def joined(unit: bytes, kernels: Sequence[bytes], path: str) -> bytes:
    """The text of a report of one unit from what is stored of it and of its kernels, for who reads files as well.
    Bytes that are no UTF-8 are replaced. Raises InputError for damaged ones."""
    try:
        report = _Parts.decode(_characters(_text(unit, path)))
        (only,) = msgspec.json.decode(report["units"], type=list[dict[str, msgspec.Raw]])
        texts = b",".join(_characters(_text(kernel, path)) for kernel in kernels)
        only["kernels"] = msgspec.Raw(b"[" + texts + b"]")
        report["units"] = msgspec.Raw(msgspec.json.encode([only]))
        return msgspec.json.encode(report)
    except (KeyError, ValueError, RecursionError) as error:
        raise _damaged(path, error) from None


_Parts = msgspec.json.Decoder(dict[str, msgspec.Raw])


def _text(data: bytes, path: str) -> bytes:
    try:
        unpacking = zlib.decompressobj()
        found = unpacking.decompress(data, MOST)
        if not unpacking.eof:
            raise ValueError("it has no end")
        return found
    except (zlib.error, ValueError, TypeError) as error:
        raise _damaged(path, error) from None


def _characters(text: bytes) -> bytes:
    """JSON without halves of surrogate pairs, if there may be any."""
    if b"\\ud" not in text:
        return text
    return json.dumps(json.loads(text), ensure_ascii=False).encode("utf-8", "replace")


def _damaged(path: str, error: Exception) -> InputError:
    return InputError(f"{path}: damaged: a report in it cannot be unpacked: {error}")


def together(unit_body: Any, kernels: Sequence[Any]) -> t.Report:
    """A report of one unit from its body and those of its kernels."""
    report: t.Report = unit_body
    report["units"][0]["kernels"] = list(kernels)
    return report


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


def read_reports(path: str) -> Iterator[tuple[str, t.Report]]:
    """The reports of a file, and where each of them is: one, or many of a line each. Raises InputError."""
    try:
        # Standard input stays open, or the next file that is opened would take its number.
        with open(0, "rb", closefd=False) if path == "-" else open(path, "rb") as file:
            first = file.readline()
            if not first.strip():
                first += file.read()
            try:
                report = _decoded(first)
            except (ValueError, RecursionError):
                # Over several lines, then.
                yield path, _report(_whole(first + file.read(), path), path)
                return
            yield path, _report(report, f"{path}:1")
            for number, line in enumerate(file, 2):
                if line.strip():
                    where = f"{path}:{number}"
                    yield where, _report(_whole(line, where), where)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from None


def _whole(data: bytes, where: str) -> Any:
    if not data.strip():
        raise InputError(f"{where}: empty")
    try:
        return _decoded(data)
    except RecursionError:
        raise InputError(f"{where}: no JSON that can be read: nested too deep") from None
    except ValueError as error:
        raise InputError(f"{where}: no JSON: {error}") from None


def _decoded(data: bytes) -> Any:
    try:
        return msgspec.json.decode(data)
    except msgspec.DecodeError:
        return json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=_no_constant, parse_float=_finite)


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits} is too large")
    return number


def _report(value: Any, where: str) -> t.Report:
    if isinstance(value, dict) and "cpus" in value:
        raise InputError(f"{where}: a line of incc-scan, which knows no compilation; a database keeps reports")
    version = value.get("schema_version") if isinstance(value, dict) else None
    if not isinstance(version, str) or not isinstance(value.get("units"), list):
        raise InputError(f"{where}: no report of incc")
    major = SCHEMA_VERSION.partition(".")[0]
    if version.partition(".")[0] != major:
        raise InputError(f"{where}: a report of schema {version}; this incc reads {major}.x up to {SCHEMA_VERSION}")
    report: t.Report = value
    return report
