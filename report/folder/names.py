"""The names of files in a folder of reports, and the output of a command."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence

from msgspec.structs import replace

from incc.report import types as t

LONGEST = 100
"""The longest part of a source's name in a report's name, in bytes. File systems allow 255, which must also hold the
rest of the name and a temporary file's suffix."""


def name_for(source: str, identity: Sequence[str], ending: str) -> str:
    """Return a file's name for a result of `source`: the same for the same identity, another for any other."""
    digest = hashlib.blake2b("\0".join(identity).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    # Lists have one line per name, so names must not contain line breaks.
    base = "".join([c if c >= " " else "_" for c in os.path.basename(source).strip("<>")])
    # Remove a character that was cut off in the middle; keep bytes that are not UTF-8.
    short = os.fsencode(base)
    if len(short) > LONGEST:
        end = LONGEST
        while end > LONGEST - 4 and short[end] & 0xC0 == 0x80:
            end -= 1
        short = short[:end]
    return f"{os.fsdecode(short)}-{digest}.{ending}"


def identity_of(unit: t.UnitReport, folder: str = "") -> tuple[str, ...]:
    """Return the identity of a unit in a folder of reports.

    It consists of folder, source and output if these are known, so that a compilation with other options replaces the
    report; otherwise of the source and the command that runs in `folder` (default: the current one).
    """
    source = unit.source or unit.assembly_file
    if unit.folder and unit.output:
        return unit.folder, source, unit.output
    return unit.folder or folder or os.getcwd(), source, "", *unit.command


def report_name(unit: t.UnitReport, ending: str, folder: str = "") -> str:
    """Return the name of a unit's report; `folder` is as in `identity_of`."""
    return name_for(unit.source or unit.assembly_file, identity_of(unit, folder), ending)


def parts(report: t.AnalysisReport) -> list[t.AnalysisReport]:
    """Return a report for each source of a command; analyses of one source for several cores stay together."""
    grouped: dict[tuple[str, ...], list[t.UnitReport]] = {}
    for unit in report.units:
        grouped.setdefault(identity_of(unit), []).append(unit)
    if len(grouped) <= 1:
        return [report]
    return [replace(report, units=units) for units in grouped.values()]
