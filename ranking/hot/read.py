"""Reading of a profile: its kind follows from its contents, and a reader of that kind takes it."""

from __future__ import annotations

import gzip
import os
import re
import stat
import zlib
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from incc.ranking.hot import coverage, listed, perf
from incc.ranking.hot.records import HotError, Profile
from incc.report.documents import malformed, reason
from incc.support.files import read_all

KINDS = {
    "gcov": "gcov's text, FILE.gcov",
    "gcov-json": "gcov --json-format, FILE.gcov.json.gz or unpacked",
    "llvm-cov": "llvm-cov export",
    "llvm-cov-show": "llvm-cov show",
    "llvm-profdata": "llvm-profdata show --all-functions --counts",
    "perf-script": "perf script",
    "perf-report": "perf report --stdio",
    "perf-annotate": "perf annotate --stdio",
    "list": "lines of FILE:LINE COUNT or FUNCTION COUNT, or with percentages",
}
"""The kinds of profiles, and the tools that print them."""

LARGEST = 1 << 31
"""The largest size of a file, also when it is unpacked, in bytes."""


def read_hot(path: str, kind: str = "") -> Profile:
    """Return the contents of a profile.

    Args:
        path: A file, "-" for standard input, or a folder with gcov's files, of which there is one for each object.
        kind: One of KINDS; "" to detect it.

    Raises:
        HotError: The file cannot be used.
    """
    if os.path.isdir(path):
        return _of_folder(path)
    data = _data(path)
    if not kind:
        kind = _kind(path, data)
    if kind in _JSON_READERS:
        return _JSON_READERS[kind](path, _json(path, data, kind))
    return _TEXT_READERS[kind](path, data.decode("utf-8", "replace"))


_JSON_READERS: dict[str, Callable[[str, list[Any]], Profile]] = {
    "gcov-json": coverage.gcov_json,
    "llvm-cov": coverage.llvm_cov,
}
_TEXT_READERS: dict[str, Callable[[str, str], Profile]] = {
    "gcov": coverage.gcov,
    "llvm-cov-show": coverage.llvm_cov_show,
    "llvm-profdata": coverage.llvm_profdata,
    "perf-script": perf.script,
    "perf-report": perf.report,
    "perf-annotate": perf.annotate,
    "list": listed.listed,
}

_OF_GCOV = ((".gcov.json.gz", ".gcov.json"), (".gcov",))
"""The endings of gcov's files, the most detailed kind first; the other kind may repeat its counts."""


def _of_folder(folder: str) -> Profile:
    files = sorted(os.path.join(place, name) for place, _, names in os.walk(folder) for name in names)
    for endings in _OF_GCOV:
        chosen = [path for path in files if path.endswith(endings) and os.path.isfile(path)]
        if chosen:
            profiles = [read_hot(path) for path in chosen]
            # Names are relative to the folder of each file.
            lines = tuple(
                line
                if line.file.startswith("/") or not each.folder
                else replace(line, file=f"{each.folder}/{line.file}")
                for each in profiles
                for line in each.lines
            )
            return replace(profiles[0], path=folder, folder="", lines=lines)
    raise HotError(f"{folder}: no output of gcov (*.gcov, *.gcov.json.gz) in this folder; name other profiles as files")


def _data(path: str) -> bytes:
    try:
        is_pipe = path != "-" and stat.S_ISFIFO(os.stat(path).st_mode)
        if is_pipe and not path.startswith(("/dev/fd/", "/proc/self/fd/")):
            raise HotError(f"{path}: a named pipe, not a file that can be read")
        with open(0, "rb", closefd=False) if path == "-" else open(path, "rb") as file:
            data = read_all(file, LARGEST)
    except (OSError, ValueError) as error:  # the path has a NUL byte
        raise HotError(f"{path}: {reason(error)}") from None
    if data.startswith(b"\x1f\x8b"):
        try:
            # A small file may unpack to more than fits into memory.
            unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
            unpacked = unpacking.decompress(data, LARGEST)
            if not unpacking.eof:
                raise HotError(f"{path}: truncated, or larger than {LARGEST >> 30} GiB when unpacked")
            # A file may have several compressed streams, one after the other.
            while unpacking.unused_data.startswith(b"\x1f\x8b") and len(unpacked) < LARGEST:
                unpacking, rest = zlib.decompressobj(zlib.MAX_WBITS | 16), unpacking.unused_data
                unpacked += b"\n" + unpacking.decompress(rest, LARGEST - len(unpacked))
            data = unpacked
        except (zlib.error, gzip.BadGzipFile, EOFError) as error:
            raise HotError(f"{path}: damaged: {error}") from None
    if not data.strip():
        raise HotError(f"{path}: the file is empty")
    return data


def _json(path: str, data: bytes, kind: str) -> list[Any]:
    """Return the documents of a file: one, or one per line."""
    try:
        return [msgspec.json.decode(data)]
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as whole:
        try:
            documents = [msgspec.json.decode(line) for line in data.splitlines() if line.strip()]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            raise HotError(malformed(data, path, 1, whole)) from None
        return documents


_BINARY = (
    (b"PERFILE", "binary output of perf record; run `perf script -i {} | incc-report --hot=- …`"),
    (b"\x81rforpl", "a raw profile; run `llvm-profdata merge`, then `llvm-profdata show --all-functions --counts`, or "
                    "llvm-cov export for counts by line"),
    (b"\xfflprofi", "an indexed profile; `llvm-profdata show --all-functions --counts {} > FILE` converts it to text, "
                    "`llvm-cov export PROGRAM -instr-profile={}` counts by line"),
    (b"adcg", "raw counts of a program built with --coverage; run `gcov --json-format {}`"),
    (b"oncg", "notes of gcc for gcov, without counts; run the program, then gcov"),
)  # fmt: skip


def _kind(path: str, data: bytes) -> str:
    """Return the kind of a file, from its contents. Raises HotError."""
    start = data[:8]
    for magic, what in _BINARY:
        if start.startswith((magic, magic[::-1])):  # the byte order is that of the machine that wrote the file
            raise HotError(f"{path}: {what.replace('{}', path)}")
    if b"\0" in data[:4096]:
        raise HotError(f"{path}: unknown binary format; supported profiles: {'; '.join(KINDS.values())}")
    head = data[: 1 << 16].lstrip()
    if head.startswith(b"{"):
        if b'"incc-run"' in head[:200]:
            raise HotError(f"{path}: a report of incc-run; --probes={path} takes the time of loops from it")
        if b'"llvm.coverage.json.export"' in data:
            return "llvm-cov"
        if b'"gcc_version"' in head or (b'"data_file"' in head and b'"files"' in head):
            return "gcov-json"
        if b'"units"' in head or b'"schema_version"' in head:
            raise HotError(f"{path}: a report of incc, not a profile")
        raise HotError(f"{path}: JSON, but not from gcov or llvm-cov export")
    text = head.decode("utf-8", "replace")
    lines = [line for line in text.split("\n")[:2000] if line.strip()]
    for kind, test in _TESTS:
        if test(lines):
            return kind
    kinds = "; ".join(f"{kind}: {what}" for kind, what in KINDS.items())
    raise HotError(f"{path}: unknown format (select it with --hot-kind); supported profiles: {kinds}")


def _any(pattern: str) -> Callable[[list[str]], bool]:
    matcher = re.compile(pattern)
    return lambda lines: any(matcher.search(line) for line in lines)


def _is_list(lines: list[str]) -> bool:
    lines = [line for line in lines if not line.lstrip().startswith("#")]
    return bool(lines) and all(listed.ENTRY.match(line) for line in lines[:20])


_TESTS: tuple[tuple[str, Callable[[list[str]], bool]], ...] = (
    ("gcov", _any(r"^\s*-:\s+0:Source:")),
    ("perf-annotate", _any(r"^\s*Percent\s*\|\s*Source code & Disassembly of ")),
    ("perf-report", _any(r"^#\s*(?:Overhead|Children)\b")),
    ("llvm-profdata", _any(r"^\s+Function count: \d+")),
    ("llvm-cov-show", _any(r"^\s*\d+\|\s*(?:[0-9.]+[kMGTPE]?)?\|")),
    ("perf-script", lambda lines: any(map(perf.begins_sample, lines))),
    ("list", _is_list),
)
