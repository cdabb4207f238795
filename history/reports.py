"""Reports as a database keeps them: taken apart into units and kernels, each a text with a digest, and put together
again."""

from __future__ import annotations

import io
import json
import os
import stat
import zlib
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, BinaryIO, TypedDict

import msgspec

from incc.compare.documents import malformed, texts, unsupported
from incc.compare.side import InputError
from incc.history.needed import NEEDED
from incc.history.schema import COLUMNS, plain_values, text, values
from incc.report.build import SCHEMA_VERSION
from incc.support.files import read_all

if TYPE_CHECKING:
    from incc.report import types as t
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


def packed(report: t.Report, where: str) -> list[PackedUnit]:
    """The units of a report. Raises InputError where it is none, with `where` before it."""
    try:
        return [_packed_unit(report, unit) for unit in report["units"]]
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, RecursionError, OverflowError) as error:
        missing = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise InputError(f"{where}: not a whole report: {missing}") from None


def _packed_unit(report: t.Report, unit: t.Unit) -> PackedUnit:
    # With the report's own version and tool, so that units can be given back as they came.
    kept: dict[str, Any] = {**report, "units": [{**unit, "kernels": []}]}
    kernels = [(_body(kernel), values(unit, kernel)) for kernel in unit["kernels"]]
    return _put_together(report, unit, _body(kept), kernels)


def _put_together(report: Any, unit: Any, body: Body, kernels: list[tuple[Body, tuple[Value, ...]]]) -> PackedUnit:
    model = unit["model"]
    command = unit["command"]
    columns = (
        *(report["schema_version"], report["tool"]["version"], unit["source"], unit["assembly_file"]),
        *(unit["compiler"], unit["compiler_version"], json.dumps(command), model["name"], model["version"]),
    )
    # A model changes with incc; what is analysed for it remains the same.
    same = (unit["source"] or unit["assembly_file"], *columns[4:7], model["name"])
    return PackedUnit(
        key=digest_of([json.dumps(same).encode()]),
        digest=digest_of([body.digest, *(kernel.digest for kernel, _ in kernels)]),
        body=body,
        columns=tuple(text(column) for column in columns),
        kernels=kernels,
    )


def packed_text(data: bytes, path: str, line: int = 1) -> list[PackedUnit]:
    """The units of the report that a text is, which begins in that line of a file. Raises InputError where it is none,
    with the place before it."""
    try:
        found = _sliced(data)
    except (ValueError, KeyError, TypeError, RecursionError, OverflowError):
        # Whatever it is, this says what is wrong, or takes it.
        found = None
    if found is not None:
        return found
    # One of several a line, or laid out over many.
    where = f"{path}:{line}" if line > 1 or b"\n" not in data else path
    return packed(_report(_whole(data, path, line), where), where)


def _sliced(data: bytes) -> list[PackedUnit] | None:
    """The units of a report as most are: of this version, and written as incc writes them. Its kernels are slices of
    the text, of which only what columns need is decoded: that takes a fifth of the time. None for other reports, or
    an error.

    Digests are those of `packed`, which encodes anew what it decoded: the texts are the same but for blanks, unless
    characters are escaped that need not be.
    """
    if b"\\u" in data:
        return None
    data.decode()  # what is skipped below is not looked at
    report = _Parts.decode(data)
    head = _Head.decode(msgspec.json.encode({name: report[name] for name in _OF_REPORT}))
    if head["schema_version"] != SCHEMA_VERSION:
        return None
    found = []
    for parts in _Units.decode(report["units"]):
        texts = _Texts.decode(parts["kernels"])
        unit = _Unit.decode(msgspec.json.encode({name: parts[name] for name in _OF_UNIT}))
        of_kernels = []
        for slice_ in texts:
            kept = _compact(bytes(slice_))
            kernel: Any = NEEDED.decode(kept.data)
            of_kernels.append((kept, plain_values(unit, kernel)))
        parts["kernels"] = _NOTHING
        report["units"] = msgspec.Raw(msgspec.json.encode([parts]))
        found.append(_put_together(head, unit, _compact(msgspec.json.encode(report)), of_kernels))
    return found


def _compact(text: bytes) -> Body:
    data = msgspec.json.format(text, indent=-1)
    return Body(digest_of([data]), data)


class _Tool(TypedDict):
    version: str


class _HeadOfReport(TypedDict):
    schema_version: str
    tool: _Tool


class _Model(TypedDict):
    name: str
    version: str


class _HeadOfUnit(TypedDict):
    source: str
    assembly_file: str
    compiler: str
    compiler_version: str
    command: list[str]
    model: _Model


_OF_REPORT = tuple(_HeadOfReport.__annotations__)
_OF_UNIT = tuple(_HeadOfUnit.__annotations__)
_NOTHING = msgspec.Raw(b"[]")
_Parts = msgspec.json.Decoder(dict[str, msgspec.Raw])
_Head = msgspec.json.Decoder(_HeadOfReport)
_Units = msgspec.json.Decoder(list[dict[str, msgspec.Raw]])
_Unit: msgspec.json.Decoder[Any] = msgspec.json.Decoder(_HeadOfUnit)
_Texts = msgspec.json.Decoder(list[msgspec.Raw])


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


def _whole(data: bytes, path: str, line: int) -> Any:
    try:
        try:
            return msgspec.json.decode(data)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            # Bytes that are no UTF-8, as names of files may hold, are no mistake here.
            why = "" if isinstance(error, UnicodeDecodeError) else malformed(data, path, line, error)
            return json.loads(data.decode("utf-8", "surrogateescape"), parse_constant=_no_constant, parse_float=_finite)
    except json.JSONDecodeError as error:
        raise InputError(why or f"{path}:{line + error.lineno - 1}: no JSON: {error.msg}") from None
    except RecursionError:
        raise InputError(why or f"{path}:{line}: nested too deep for a report") from None
    except ValueError as error:
        raise InputError(f"{path}:{line}: no JSON: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no number")


def _finite(digits: str) -> float:
    number = float(digits)
    if number - number != 0:
        raise ValueError(f"{digits} is too large")
    return number


def _report(value: Any, where: str) -> t.Report:
    version = value.get("schema_version") if isinstance(value, dict) else None
    if not isinstance(version, str) or not isinstance(value.get("units"), list):
        raise InputError(f"{where}: no report of incc")
    if version != SCHEMA_VERSION:
        raise unsupported(version, where)
    report: t.Report = value
    return report
