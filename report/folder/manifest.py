r"""The list of a folder's reports, with the source, the command and the output's digest of each.

`DIR/.incc/manifest.jsonl` has a line for each report that was written; if there are several for one report, the last
counts. Lines are added whole, with the file locked, so that the jobs of a build do not mix theirs. Bytes in names that
are not valid UTF-8 are written as `\\udcXX`, as Python does, so every line is ASCII.
"""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterable

import msgspec
from msgspec.structs import asdict

from incc.report import types as t
from incc.support.files import write_all
from incc.support.version import __version__

OWN = ".incc"
"""The folder, within a folder of reports, for files other than reports."""

NAME = os.path.join(OWN, "manifest.jsonl")


class ManifestLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of the manifest: one report."""

    report: str
    """The report's file name."""
    folder: str
    """The command's working directory."""
    source: str
    """The source as the command names it."""
    output: str
    """The output as the command names it."""
    command: tuple[str, ...]
    digest: str
    """The output's digest when the report was written; empty if there was no output."""
    way: str
    """The origin of the code; see `Unit.way`."""
    incc: str = __version__
    """The version of incc."""
    key: str = ""
    """The key in the cache of units; empty for none."""


def entry_of(report: str, unit: t.UnitReport, digest: str, key: str = "") -> ManifestLine:
    """Return the entry for a unit's report."""
    source = unit.source or unit.assembly_file
    command = tuple(unit.command)
    return ManifestLine(
        report=report,
        folder=unit.folder,
        source=source,
        output=unit.output,
        command=command,
        digest=digest,
        way=unit.way,
        key=key,
    )


def line_of(entry: ManifestLine) -> str:
    """Return the line of an entry. The digest comes first, since the cache of units lacks only this."""
    fields = {"digest": entry.digest, **{n: v for n, v in asdict(entry).items() if n != "digest"}}
    return json.dumps(fields, separators=(",", ":")) + "\n"


def add(folder: str, lines: str) -> None:
    """Add lines to a folder's list. Raises OSError."""
    import fcntl

    os.makedirs(os.path.join(folder, OWN), exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    descriptor = os.open(os.path.join(folder, NAME), flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        # A writer was killed, or the disk was full, in the middle of a line.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        write_all(descriptor, f"\n{lines}" if torn else lines)
    finally:
        os.close(descriptor)


def read(folder: str) -> dict[str, ManifestLine]:
    """Return the entries of a folder by the names of their reports, in the order of the last writes.

    Damaged lines and lines of another kind are skipped. Raises OSError, except if there is no list.
    """
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    entries: dict[str, ManifestLine] = {}
    for line in data.splitlines():
        try:
            fields = json.loads(line)
            values = {name: fields[name] for name in ManifestLine.__struct_fields__}
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        command = values["command"]
        strings = [value for name, value in values.items() if name != "command"]
        if not isinstance(command, list) or not all(isinstance(v, str) for v in (*strings, *command)):
            continue
        if os.path.basename(values["report"]) != values["report"]:
            continue  # the report is not in this folder
        values["command"] = tuple(command)
        entry = ManifestLine(**values)
        entries.pop(entry.report, None)
        entries[entry.report] = entry
    return entries


def compact(folder: str, gone: Iterable[str] = ()) -> None:
    """Rewrite the list with one line for each existing report that is not in `gone`.

    The file stays the same and is locked, so lines that others add meanwhile are kept. Raises OSError.
    """
    import fcntl

    try:
        descriptor = os.open(os.path.join(folder, NAME), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        without = set(gone)
        kept = [
            line_of(entry)
            for entry in read(folder).values()
            if entry.report not in without and os.path.exists(os.path.join(folder, entry.report))
        ]
        data = "".join(kept).encode("ascii")
        os.ftruncate(descriptor, 0)
        while data:
            data = data[os.write(descriptor, data) :]
    finally:
        os.close(descriptor)


def digest_of(path: str) -> str:
    """Return the digest of a file's bytes; empty if there is no such file or it cannot be read."""
    import hashlib

    try:
        # Only regular files can be compared, not /dev/null or a pipe.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except (OSError, ValueError):
        return ""
