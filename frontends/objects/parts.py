"""Parts of large files, which are analysed one after the other, so that memory does not grow with the file."""

from __future__ import annotations

import mmap
import os
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import pairwise
from struct import Struct

from msgspec.structs import replace

from incc.frontends.container import Container, Section, debug_address
from incc.frontends.elf import ALLOCATED, EXECUTABLE, MAGIC, OBJECT, ElfError, read_elf
from incc.frontends.isa import Isa, isa
from incc.frontends.objects.read import ObjectError, mapped, read
from incc.frontends.objects.spans import Addresses

PART = 1 << 18
"""Bytes of code in a part. An analysis takes about 130 MB for each megabyte of code, and 300 MB with all details."""

LARGE = 1 << 20
"""Bytes of code up to which a file is not divided."""

_LONGEST = 4 * PART
"""Bytes without the start of a function up to which code is not cut."""

_LONG = 1 << 16
"""Bytes without the start of a function up to which padding is not searched for: few functions are longer."""


def code_parts(source: str | bytes) -> list[Addresses]:
    """Return ranges of `Section.debug_address` that divide the code of a large object, none for other files.

    Raises OSError.
    """
    size = len(source) if isinstance(source, bytes) else os.path.getsize(source)
    if size <= LARGE:
        return []
    try:
        sections = list(_code_sections(source))
    except (ElfError, ObjectError):
        return []
    if sum(length for _, length in sections) <= LARGE:
        return []
    return list(_divided(sections))


def _code_sections(source: str | bytes) -> Iterator[tuple[int, int]]:
    """Yield the `Section.debug_address` and the length of each section of code, of an ELF file without reading them.

    Raises ElfError, ObjectError and OSError.
    """
    data = source if isinstance(source, bytes) else mapped(source)
    if data[:4] == MAGIC:
        elf = read_elf(data)
        for number, entry in enumerate(elf.sections):
            if entry.flags & ALLOCATED and entry.flags & EXECUTABLE:
                yield debug_address(number) if elf.kind == OBJECT else entry.address, len(entry.content)
        return
    container = read(source) if isinstance(source, bytes) else _kept(source, os.path.dirname(source))
    for section in container.sections:
        if section.executable:
            yield section.debug_address, len(section.data)


def _divided(sections: list[tuple[int, int]]) -> Iterator[Addresses]:
    """Yield ranges of addresses that each have as much code as a part; sections have an address and a length."""
    begin, size, at = -1, 0, 0
    for address, length in sorted(sections):
        at, end = address, address + length
        while at < end:
            begin = at if begin < 0 else begin
            step = min(end - at, PART - size)
            at, size = at + step, size + step
            if size == PART:
                yield Addresses(begin, at)
                begin, size = -1, 0
    if begin >= 0:
        yield Addresses(begin, at)


def part_of(source: str | bytes, folder: str, part: Addresses) -> Container:
    """Return the contents of a file, limited to the functions that begin in a part.

    Raises ObjectError and OSError as `read` does.
    """
    container = _kept(source, folder)
    if container.mapped is not None:
        container.mapped.madvise(mmap.MADV_DONTNEED)
    return replace(container, sections=tuple([_chosen(section, part) for section in container.sections]))


@lru_cache(maxsize=1)
def _kept(source: str | bytes, folder: str) -> Container:
    return with_cuts(read(source, folder))


def forget() -> None:
    """Give up what is kept of the last file."""
    _kept.cache_clear()


def _chosen(section: Section, part: Addresses) -> Section:
    if not section.executable:
        return section
    first, end = part.first - section.debug_address, part.end - section.debug_address
    low = bisect_left(section.functions, first, key=lambda function: function[0])
    high = bisect_left(section.functions, end, key=lambda function: function[0])
    cuts = section.cuts[bisect_left(section.cuts, first) : bisect_left(section.cuts, end)]
    start = {0} if first <= 0 < end else ()
    return replace(section, chosen=frozenset([*start, *(at for at, _ in section.functions[low:high]), *cuts]))


def with_cuts(container: Container) -> Container:
    """Return a container with the functions that have no symbols, from the tables for unwinding.

    Without them, such a function is taken for the end of the one before it: where others jump into it, its loops seem
    to have several entries. Stretches of more than `_LONG` bytes without functions are divided where padding shows that
    functions begin, and those of more than `_LONGEST` bytes without padding about every `PART` bytes.
    """
    table = next((section for section in container.sections if section.name == ".eh_frame_hdr"), None)
    frames = [] if table is None else _frames(table)
    of_isa = isa(container.isa)
    sections = [
        replace(section, cuts=_cuts(section, [section.address + at for at in section.cuts] or frames, of_isa))
        if section.executable
        else section
        for section in container.sections
    ]
    return replace(container, sections=tuple(sections))


def _cuts(section: Section, frames: list[int], of_isa: Isa) -> tuple[int, ...]:
    """Return the offsets of functions without symbols, and those at which stretches without functions are cut."""
    code, address, size = section.data, section.address, len(section.data)
    symbols = {0, *(at for at, _ in section.functions)}
    unwound = frames[bisect_right(frames, address) : bisect_left(frames, address + size)]
    cuts = {at - address for at in unwound} - symbols
    for start, end in _stretches(symbols | cuts, size, _LONG):
        cuts.update(of_isa.function_starts(code, start, end, address))
    for start, end in _stretches(symbols | cuts, size, _LONGEST):
        at = start
        while at + PART < end:
            at = of_isa.dividing_place(code, at + PART, min(at + 2 * PART, end), address)
            cuts.add(at)
    return tuple(sorted(cuts))


def _stretches(starts: set[int], size: int, longer: int) -> Iterator[tuple[int, int]]:
    """Yield the begin and end of each stretch between functions that has more bytes than `longer`."""
    for start, end in pairwise([*sorted(starts), size]):
        if end - start > longer:
            yield start, end


_HEADER = Struct("<BBBBiI")
_ENTRY = Struct("<ii")
_ENCODINGS = (0x1B, 0x03, 0x3B)
"""The encodings of addresses and of the count that all linkers write: 4 bytes, relative to the table or not."""


def _frames(table: Section) -> list[int]:
    """Return the addresses of functions in the table for unwinding (Linux Standard Base, .eh_frame_hdr), ascending."""
    data = bytes(table.data)
    if len(data) < _HEADER.size:
        return []
    version, *encodings, _, count = _HEADER.unpack_from(data)
    if version != 1 or tuple(encodings) != _ENCODINGS:
        return []
    entries = data[_HEADER.size : _HEADER.size + _ENTRY.size * count]
    whole = len(entries) // _ENTRY.size * _ENTRY.size
    return sorted(table.address + start for start, _ in _ENTRY.iter_unpack(entries[:whole]))
