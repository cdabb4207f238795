"""Reports read from JSON: whole documents, or one per line."""

from __future__ import annotations

import errno
import json
import re
import stat
from collections.abc import Iterator
from typing import Any, BinaryIO, TypeVar

import msgspec

from incc.report import types as t
from incc.report.build import SCHEMA_VERSION
from incc.support.files import LARGEST_STREAM, read_all

T = TypeVar("T")
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"


class InputError(Exception):
    """An input that cannot be read; the message names the file and the place in it, and gives the reason."""


class NotAReportError(InputError):
    """The file is JSON, but not a report."""


def printable(name: str) -> str:
    """Return a name for messages, with question marks for characters that cannot be printed."""
    return "".join(c if c.isprintable() else "?" for c in name)


def reason(error: Exception) -> str:
    """Return the text of an error, for the middle of a sentence."""
    text = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
    return f"{text[:1].lower()}{text[1:]}"


def special_file(name: str, mode: int) -> InputError:
    """Return the refusal of a file that is neither a regular file nor a folder."""
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    return InputError(f"{printable(name)}: {kind}, not a file that can be read")


def begins_json(start: bytes) -> bool:
    """Return True if data begin like a JSON object or list, perhaps after a byte-order mark."""
    return start.removeprefix(_BYTE_ORDER_MARK).lstrip()[:1] in (b"{", b"[")


def texts(file: BinaryIO) -> Iterator[tuple[int, bytes]]:
    """Yield the documents of a seekable file, each with the line that it begins in.

    A document is on a line of its own, or formatted over many lines and followed by the next one. Raises OSError, also
    for what is too large to be a report.
    """
    first, number = b"", 0
    while not first.strip():
        number += 1
        at = file.tell()
        first = _line(file)
        if not first:
            return
        if number == 1 and first.startswith(_BYTE_ORDER_MARK):
            at += len(_BYTE_ORDER_MARK)
            first = first[len(_BYTE_ORDER_MARK) :]
    line = first.strip()
    if line.startswith(b"{") and line.endswith(b"}"):
        yield number, line
        while line := _line(file):
            number += 1
            if line.strip():
                yield number, line.strip()
        return
    file.seek(at)
    data = read_all(file)
    start = 0
    # Only the outermost object ends at the start of a line.
    while (end := data.find(b"\n}\n{", start)) >= 0:
        yield number, data[start : end + 2]
        number += data.count(b"\n", start, end + 3)
        start = end + 3
    yield number, data[start:] if start else data


def _line(file: BinaryIO) -> bytes:
    """Return the next line of a file. Raises OSError for one that is longer than a stream of reports may be."""
    line = file.readline(LARGEST_STREAM + 1)
    if len(line) > LARGEST_STREAM:
        raise OSError(errno.EFBIG, f"a line of more than {LARGEST_STREAM >> 20} MiB")
    return line


def read_report(text: bytes, where: str, line: int = 1) -> t.AnalysisReport:
    """Read a report.

    Bytes that are not UTF-8, which names of files may hold, become halves of surrogate pairs, as in `os.fsdecode`.

    Args:
        text: the JSON text.
        where: the file, for messages.
        line: the line of the file in which the text begins.

    Raises:
        NotAReportError: if the text is other JSON.
        InputError: if the text is not JSON, or a report of another version, or one with a wrong value.
    """
    place = f"{where}:{line}" if line > 1 else where
    try:
        report = decoded(text, t.AnalysisReport)
    except msgspec.ValidationError as error:
        raise _refusal(text, place, error) from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(malformed(text, where, line, error)) from None
    if report.schema_version != SCHEMA_VERSION:
        raise unsupported(report.schema_version, place)
    check_consistency(report, place)
    return report


def decoded(text: bytes, kind: type[T]) -> T:
    """Decode JSON into a struct; bytes that are not UTF-8 are as in `read_report`.

    Raises:
        msgspec.ValidationError: if the text is other JSON.
        msgspec.DecodeError, UnicodeDecodeError, RecursionError: if it is not JSON.
    """
    try:
        return msgspec.json.decode(text, type=kind)
    except msgspec.ValidationError:
        raise
    except (msgspec.DecodeError, UnicodeDecodeError):
        value = _tolerant(text)
        if value is None:
            raise
        try:
            return msgspec.convert(value, kind)
        except UnicodeEncodeError:
            raise msgspec.ValidationError("the name of a field is not UTF-8") from None


def _tolerant(text: bytes) -> Any:
    """Return the value of JSON with bytes that are not UTF-8 or halves of surrogate pairs, None for other mistakes."""
    try:
        return json.loads(text.decode("utf-8", "surrogateescape"), parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number of JSON")


def _refusal(text: bytes, place: str, error: msgspec.ValidationError) -> InputError:
    """Return the reason why a JSON text is not a report of this version."""
    value = _tolerant(text)
    if isinstance(value, dict) and "rows" in value and "sides" in value:
        return NotAReportError(f"{place}: a comparison written by incc-diff, where a report is expected")
    if isinstance(value, dict) and value.get("schema") == "incc-run":
        return NotAReportError(f"{place}: a report of incc-run, where a report on code is expected")
    if not isinstance(value, dict) or "units" not in value:
        return NotAReportError(f'{place}: not an incc report (expected a JSON object with "units")')
    if value.get("schema_version") != SCHEMA_VERSION:
        return unsupported(value.get("schema_version"), place)
    reason, _, at = str(error).partition(" - at ")
    at = at.strip("`")
    return InputError(f"{place}: {at + ': ' if at else ''}{reason[:1].lower()}{reason[1:]}".replace("`", ""))


def unsupported(version: object, place: str) -> InputError:
    """Return the refusal of a report of another version than SCHEMA_VERSION."""
    if version is None:
        return InputError(f"{place}: the report has no schema version; this incc reads {SCHEMA_VERSION}")
    return InputError(
        f"{place}: report schema {repr(version)[:40]} is not supported (this incc reads {SCHEMA_VERSION}); "
        "analyse again with this incc"
    )


def check_consistency(report: t.AnalysisReport, place: str) -> None:
    """Refuse figures that are not one for each resource, and numbers of instructions that a kernel lacks.

    Views iterate over figures and resources together, and look up instructions by their numbers.
    """
    for u, unit in enumerate(report.units):
        for k, kernel in enumerate(unit.kernels):
            at = f"{place}: $.units[{u}].kernels[{k}]"
            resources = len(kernel.resources)
            lists = [(f"instructions[{n}].pressure", i.pressure) for n, i in enumerate(kernel.instructions)]
            lists += [("simulated.port_uops", kernel.simulated.port_uops)] if kernel.simulated else []
            for name, figures in lists:
                if len(figures) != resources:
                    raise InputError(f"{at}.{name}: {len(figures)} figures for {resources} resources")
            count = len(kernel.instructions)
            if [instruction.index for instruction in kernel.instructions] != [*range(count)]:
                raise InputError(f"{at}.instructions: their indices are not 0 to {count - 1} in this order")
            if (index := max(_referenced(kernel), default=-1)) >= count:
                raise InputError(f"{at}: no instruction {index}, which other parts of the kernel refer to")


def _referenced(kernel: t.KernelReport) -> Iterator[int]:
    """Yield the numbers of instructions that the parts of a kernel refer to."""
    yield from kernel.critical_path.instructions
    for chain in kernel.chains:
        yield from chain.instructions
    for step in (*kernel.critical_path.steps, *(step for chain in kernel.chains for step in chain.steps)):
        yield from (step.producer, step.to)
    for dependency in kernel.dependencies:
        yield from (dependency.producer, dependency.to)
    for cause in kernel.range.causes if kernel.range else ():
        yield from cause.instructions
    yield from (unknown.index for unknown in kernel.unknown_instructions)
    if kernel.cold and kernel.cold.pressure:
        yield from (step.instruction for step in kernel.cold.pressure.sequence)
    if kernel.data:
        yield from kernel.data.unknown
        for stream in kernel.data.streams:
            yield from stream.instructions
    if kernel.timeline:
        yield from (event.instruction for event in kernel.timeline.events)
        yield from (uop.instruction for uop in kernel.timeline.uops)
    if kernel.waits:
        yield from (wait.instruction for wait in (*kernel.waits.ports, *kernel.waits.blocked))
        for wait in kernel.waits.inputs:
            yield from (wait.instruction, wait.producer)


_TEXT_REPORT = re.compile(rb": incc\s+\d[\w.]*\s+for\s")
"""The head of a report as text, which may be wrapped."""


def malformed(text: bytes, where: str, line: int, error: Exception) -> str:
    """Return the reason why a text is not JSON, with the line of the mistake.

    Args:
        text: the text.
        where: the file that it is from.
        line: the line of the file in which the text begins.
        error: the decoder's error.
    """
    if isinstance(error, RecursionError):
        return f"{where}:{line}: nested too deep for a report"
    if isinstance(error, UnicodeDecodeError) or "UTF-8" in str(error):
        # Such bytes alone would have been read: the mistake is another one.
        try:
            msgspec.json.decode(re.sub("[\udc80-\udcff]", "?", text.decode("utf-8", "surrogateescape")))
        except msgspec.DecodeError as other:
            error = other
        except RecursionError:
            return f"{where}:{line}: nested too deep for a report"
        else:
            return f"{where}:{line}: not UTF-8"
    if line == 1 and _TEXT_REPORT.search(text, 0, 1000):
        return f"{where}: a text report, which cannot be read back; make it with --json, or INCC_FORMAT=json in a build"
    if line == 1 and not begins_json(text):
        return f"{where}: not a JSON report; incc-scan --format=reports makes one of sources, assembly and objects"
    if match := re.search(r"^(?:JSON is malformed: )?(.*) \(byte ([0-9]+)\)$", str(error)):
        at = line + text.count(b"\n", 0, int(match[2]))
        return f"{where}:{at}: not valid JSON: {match[1]}"
    at = line + text.rstrip().count(b"\n")
    end = text.rstrip()[-30:].decode("utf-8", "replace")
    return f"{where}:{at}: the file is truncated: it ends in {end[end.rfind(chr(10)) + 1 :].strip()!r}"
