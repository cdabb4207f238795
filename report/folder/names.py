"""What files in a folder of reports are called, and which file a command makes of a source."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.report import types as t

LONGEST = 100
"""Bytes of a source's name that a report's name begins with. File systems take 255; what follows, a temporary file's
ending too, has to fit."""


def name_for(source: str, identity: Sequence[str], ending: str) -> str:
    """A file's name for what was made of `source`: the same for the same identity, another for any other."""
    import hashlib

    digest = hashlib.blake2b("\0".join(identity).encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    # Names stand in lists that have a line for each.
    base = "".join([c if c >= " " else "_" for c in os.path.basename(source).strip("<>")])
    # What is cut off in the middle of a character goes altogether; a byte that never was one stays.
    short = os.fsencode(base)
    if len(short) > LONGEST:
        end = LONGEST
        while end > LONGEST - 4 and short[end] & 0xC0 == 0x80:
            end -= 1
        short = short[:end]
    return f"{os.fsdecode(short)}-{digest}.{ending}"


def identity_of(unit: t.Unit, folder: str = "") -> tuple[str, ...]:
    """What makes a unit that unit in a folder of reports: folder, source and output, where these are known, so that
    what is compiled again with other options replaces what it was; else its source, and the command that is run in
    `folder`, by default here."""
    source = unit.source or unit.assembly_file
    if unit.folder and unit.output:
        return unit.folder, source, unit.output
    return unit.folder or folder or os.getcwd(), source, "", *unit.command


def report_name(unit: t.Unit, ending: str, folder: str = "") -> str:
    """The name of a unit's report in a folder. `folder`: as of `identity_of`."""
    return name_for(unit.source or unit.assembly_file, identity_of(unit, folder), ending)


def parts(report: t.Report) -> list[t.Report]:
    """A report for each source of a command: analyses of one source for several cores stay together."""
    grouped: dict[tuple[str, ...], list[t.Unit]] = {}
    for unit in report.units:
        grouped.setdefault(identity_of(unit), []).append(unit)
    if len(grouped) <= 1:
        return [report]
    return [replace(report, units=units) for units in grouped.values()]
