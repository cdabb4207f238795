"""Object files, libraries and programs with damaged headers, tables and contents."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

from hypothesis import strategies as st

from test.fuzz.corpus import objects
from test.fuzz.kinds.common import VIEWS, some_cores, ways
from test.fuzz.mutation import changed_binary
from test.fuzz.runs import Run

Fields = Iterator[tuple[int, int]]
"""Offsets and widths of the numbers in a file's headers and tables."""


def _elf(data: bytes) -> Fields:
    if data[4] != 2:
        return  # of 32 bits
    yield from ((16, 2), (18, 2), (32, 8), (40, 8), (54, 2), (58, 2), (60, 2), (62, 2))
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for header in range(table, table + size * count, size):
        yield from ((header, 4), (header + 4, 4), (header + 40, 4), (header + 44, 4))
        yield from ((header + at, 8) for at in (8, 16, 24, 32, 48, 56))
        kind, offset, length = struct.unpack_from("<4xI16xQQ", data, header)
        if kind in (2, 4, 11):  # symbols and relocations
            yield from ((offset + at, 8) for at in range(0, length - 7, 8))
        elif kind != 8:  # its first numbers, which in debug information are sizes and versions
            yield from ((offset + at, 4) for at in range(0, min(length - 3, 32), 4))


def _coff(data: bytes) -> Fields:
    start = struct.unpack_from("<I", data, 60)[0] + 4 if data[:2] == b"MZ" else 0
    _, count, _, symbols, symbol_count, optional = struct.unpack_from("<HHIIIH", data, start)
    yield from ((start, 2), (start + 2, 2), (start + 8, 4), (start + 12, 4), (start + 16, 2), (60, 4))
    yield from ((start + 20 + at, 4) for at in range(0, optional - 3, 4))
    for header in range(start + 20 + optional, start + 20 + optional + 40 * count, 40):
        yield from ((header + at, 4) for at in range(8, 40, 4))
    for at in range(symbols, symbols + 18 * symbol_count, 18):
        yield from ((at + 4, 4), (at + 8, 4), (at + 12, 2), (at + 16, 1), (at + 17, 1))


def _macho(data: bytes) -> Fields:
    if data[:4] != b"\xcf\xfa\xed\xfe":
        return  # LLVM's bitcode
    (size,) = struct.unpack_from("<I", data, 20)
    yield from ((at, 4) for at in range(0, 32 + size, 4))
    yield from ((at, 4) for at in range(max(32 + size, len(data) - 200), len(data) - 3, 4))


def _archive(data: bytes) -> Fields:
    at = 8
    while at + 60 <= len(data):
        yield from ((at + 16 * n, 8) for n in range(4))
        yield at + 48, 8
        size = data[at + 48 : at + 58].strip()
        if not size.isdigit() or data.startswith(b"!<thin>"):
            return
        at += 60 + int(size) + int(size) % 2


_FIELDS: dict[str, Callable[[bytes], Fields]] = {"elf": _elf, "coff": _coff, "macho": _macho, "archive": _archive}


def _fields(container: str, data: bytes) -> list[tuple[int, int]]:
    return [(at, width) for at, width in _FIELDS[container](data) if at + width <= len(data)]


@st.composite
def changed_objects(draw: st.DrawFn, container: str) -> bytes:
    """Return a damaged file of a container."""
    data = objects(container)[draw(st.sampled_from(list(objects(container))))]
    return draw(changed_binary(data, _fields(container, data)))


_where = st.sampled_from(
    ((), ("--function=f",), ("--function=*",), ("--address=0+40",), ("--address=3-5", "--address=0-1"))
)
_views = st.sampled_from([words for words in VIEWS if not {"-auto", "-paths", "-function=*"} & {*words}])
_scans = st.sampled_from(
    ((), ("--format=json",), ("--function=*",), ("--where", "cycles > 1"), ("--bounds",), ("--input-format=obj",),
     ("--input-format=hex",), ("--input-format=asm",), ("--top=1",))
)  # fmt: skip


@st.composite
def runs(draw: st.DrawFn, container: str) -> Run:
    """Return runs of incc-scan, incc-mca and incc-diff on files of a container; empty if no tool can make them."""
    core = draw(some_cores)
    command = draw(st.sampled_from(("incc-scan", "incc-scan", "incc-diff", "incc-mca")))
    if container == "archive" and command == "incc-mca":
        command = "incc-scan"  # which reads libraries
    if command == "incc-mca":
        args = (f"-mcpu={core}", *draw(_where), *draw(_views), "a.o")
        return Run(command=command, args=args, files={"a.o": draw(changed_objects(container))}, **draw(ways()))
    if command == "incc-diff":
        intact = next(iter(objects(container).values()))
        files = {"a.o": intact, "b.o": draw(changed_objects(container))}
        return Run(command=command, args=(f"--mcpu={core}", "a.o", "b.o"), files=files, **draw(ways(jobs=True)))
    changed = draw(st.lists(changed_objects(container), min_size=1, max_size=3))
    files = {f"{number}.o": data for number, data in enumerate(changed)}
    args = (f"--mcpu={core}", "-j1", *draw(_scans), draw(st.sampled_from((".", "0.o"))))
    return Run(command=command, args=args, files=files, **draw(ways(jobs=True)))
