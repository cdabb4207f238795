"""Assembly texts inside of programs: a program with probes has the code of its loops for the report."""

from __future__ import annotations

import hashlib
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence

import msgspec

from incc.frontends.unit import Unit
from incc.running.insertion import SkippedLoop
from incc.support.errors import AnalysisError

SECTION = ".incc.units"
"""The section, which is not loaded when the program runs. Linkers join those of all objects."""

_HEAD = struct.Struct("<8sQ")
_MAGIC = b"inccunit"
_MOST_BYTES = 256 << 20
"""The largest size of an unpacked unit in bytes: a small section may unpack to more than fits into memory."""


class StoredUnit(msgspec.Struct, frozen=True, kw_only=True):
    """A unit as it is stored, without its text."""

    key: str
    """See `unit_key`."""
    source: str
    folder: str
    output: str
    compiler: str
    version: str
    command: tuple[str, ...]
    arguments: tuple[str, ...]
    cpu: str
    skipped: tuple[SkippedLoop, ...] = ()
    """The loops without probes."""


def unit_key(text: str) -> str:
    """Return a name for an assembly text: a hash of it."""
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def stored(unit: StoredUnit, text: str) -> bytes:
    """Return the content of the section for a unit."""
    packed = zlib.compress(msgspec.json.encode(unit) + b"\0" + text.encode("utf-8", "surrogateescape"), 4)
    return _HEAD.pack(_MAGIC, len(packed)) + packed


def units_in(section: bytes) -> Iterator[tuple[StoredUnit, Unit]]:
    """Yield the units in the section of a program. Raises AnalysisError for damaged ones."""
    at = 0
    while at + _HEAD.size <= len(section):
        magic, size = _HEAD.unpack_from(section, at)
        if magic != _MAGIC:
            at += 1  # linkers align the parts of a section
            continue
        at += _HEAD.size
        unpacking = zlib.decompressobj()
        try:
            data = unpacking.decompress(section[at : at + size], _MOST_BYTES)
            if not unpacking.eof:
                raise ValueError("truncated, or too large")
            head, _, text = data.partition(b"\0")
            unit = msgspec.json.decode(head, type=StoredUnit)
        except (zlib.error, msgspec.MsgspecError, ValueError, RecursionError) as error:
            raise AnalysisError(f"damaged code in the section {SECTION}: {error}") from error
        yield unit, _unit(unit, text.decode("utf-8", "surrogateescape"))
        at += size


def _unit(unit: StoredUnit, text: str) -> Unit:
    return Unit(
        assembly=text,
        assembly_file=f"{unit.source or 'assembly'}.s",
        source=unit.source,
        compiler=unit.compiler,
        compiler_version=unit.version,
        command=unit.command,
        cpu=unit.cpu,
        arguments=unit.arguments,
        folder=unit.folder,
        output=unit.output,
        way="assembler",
        stored=True,
    )


def source_of(text: str, arguments: Sequence[str]) -> str:
    """Return the source of a compiler's assembly text as the command names it, "" if it is unknown."""
    named = re.search(r'^[ \t]*\.file[ \t]+"((?:[^"\\]|\\.)*)"', text, re.MULTILINE)
    name = os.path.basename(named[1]) if named else ""
    return next((a for a in arguments if name and os.path.basename(a) == name), "")
