"""The list of a folder's reports: which is of what, and what its output looked like when it was written.

`DIR/.incc/manifest.jsonl` has a line for each report that was written; of several for one report the last counts. Lines
are added whole, with the file locked, so that builds with many jobs do not mix theirs. Names with bytes that are no
characters have these as `\\udcXX`, as Python does, so that every line is ASCII.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import asdict

from incc.support.version import __version__

if TYPE_CHECKING:
    from collections.abc import Iterable

    from incc.report import types as t

OWN = ".incc"
"""The folder, in a folder of reports, of what is not a report."""

NAME = os.path.join(OWN, "manifest.jsonl")


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A report: its file's `report` name; the command's working directory `folder`, the `source` and the `output` as
    the command names them, and the `command`; the output's `digest` when the report was written, "" where there was
    none; on which `way` the code was had (`Unit.way`), by which version of `incc`, and the `key` in the cache of
    units, "" for none."""

    report: str
    folder: str
    source: str
    output: str
    command: tuple[str, ...]
    digest: str
    way: str
    incc: str = __version__
    key: str = ""


def entry_of(report: str, unit: t.Unit, digest: str, key: str = "") -> Entry:
    """What is noted of a unit's report."""
    source = unit.source or unit.assembly_file
    command = tuple(unit.command)
    return Entry(
        report=report,
        folder=unit.folder,
        source=source,
        output=unit.output,
        command=command,
        digest=digest,
        way=unit.way,
        key=key,
    )


def line_of(entry: Entry) -> str:
    """The line of an entry. The digest stands first: it is the only thing that is not in the cache of units."""
    fields = {"digest": entry.digest, **{n: v for n, v in asdict(entry).items() if n != "digest"}}
    return json.dumps(fields, separators=(",", ":")) + "\n"


def add(folder: str, lines: str) -> None:
    """Add lines to a folder's list. Raises OSError."""
    import fcntl

    from incc.support.files import write_all

    os.makedirs(os.path.join(folder, OWN), exist_ok=True)
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
    descriptor = os.open(os.path.join(folder, NAME), flags, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        size = os.fstat(descriptor).st_size
        # Somebody was killed, or the disk was full, in the middle of a line.
        torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        write_all(descriptor, f"\n{lines}" if torn else lines)
    finally:
        os.close(descriptor)


def read(folder: str) -> dict[str, Entry]:
    """The entries of a folder by the names of their reports, in the order in which they were written last. Lines that
    are damaged or of another kind are passed over. Raises OSError but where there is no list."""
    try:
        with open(os.path.join(folder, NAME), "rb") as file:
            data = file.read()
    except FileNotFoundError:
        return {}
    found: dict[str, Entry] = {}
    for line in data.splitlines():
        try:
            fields = json.loads(line)
            values = {name: fields[name] for name in Entry.__struct_fields__}
        except (ValueError, KeyError, TypeError, RecursionError):
            continue
        command = values["command"]
        strings = [value for name, value in values.items() if name != "command"]
        if not isinstance(command, list) or not all(isinstance(v, str) for v in (*strings, *command)):
            continue
        if os.path.basename(values["report"]) != values["report"]:
            continue  # not in this folder: nothing of ours
        values["command"] = tuple(command)
        entry = Entry(**values)
        found.pop(entry.report, None)
        found[entry.report] = entry
    return found


def compact(folder: str, gone: Iterable[str] = ()) -> None:
    """Write the list anew with one line for each report that is there, without those that are `gone`. What others add
    meanwhile is kept: the file stays the same one, and locked. Raises OSError."""
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
    """The digest of a file's bytes, "" where there is no such file or it cannot be read."""
    import hashlib
    import stat

    try:
        # What is no file, such as /dev/null or a pipe, is nothing that could be compared.
        if not stat.S_ISREG(os.stat(path).st_mode):
            return ""
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except (OSError, ValueError):
        return ""
