"""What is worked out once and kept for later runs, in files that are whole, or count as missing.

A file is a line that names the format, the checksum of what follows up to the end of a marshalled tuple, the lengths
of that, of the places of parts and of the whole, these places, that tuple, and the parts, of which few are read, each
with a checksum of its own in front. Marshalled data of another Python version or cut short must never be read, hence
the name of the interpreter in the file's name and the checksums.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib
from itertools import accumulate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

_MAGIC = b"incc kept  2\n"
_START = len(_MAGIC) + 16
_FIRST = 1 << 15  # bytes that are read at once


def file_name(name: str) -> str:
    """The name of the file that keeps something, for this interpreter alone."""
    return f"{name}.{sys.implementation.cache_tag}.incc"


def places(folder: str, name: str, own: bool = True) -> list[str]:
    """Where what belongs to a folder may be kept, in the order of preference: there, if it is the package's `own`, and
    in the user's cache."""
    name = file_name(name)
    files = [os.path.join(folder, "__pycache__", name)] if own else []
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [*files, os.path.join(base, "incc", f"{zlib.crc32(folder.encode()):08x}-{name}")]


class Damaged(Exception):
    """A part is not what was written."""


class Parts:
    """The parts of a file that stays open, read when they are wanted."""

    __slots__ = ("_descriptor", "_places", "_start")

    def __init__(self, descriptor: int, start: int, places: memoryview) -> None:
        """`places`: where each part starts, in bytes from `start`, and where the last one ends, 4 bytes each."""
        self._descriptor = descriptor
        self._start = start
        self._places = places.cast("I")

    def __len__(self) -> int:
        return len(self._places) - 1

    def get(self, number: int) -> memoryview:
        """The part of that number. Raises Damaged."""
        start, end = self._places[number], self._places[number + 1]
        try:
            data = memoryview(os.pread(self._descriptor, end - start, self._start + start))
        except OSError:
            raise Damaged from None
        if len(data) != end - start or data[:4] != _number(zlib.crc32(data[4:])):
            raise Damaged
        return data[4:]

    def __del__(self) -> None:
        os.close(self._descriptor)


def _number(value: int) -> bytes:
    return value.to_bytes(4, sys.byteorder)


def _places(parts: Iterable[bytes]) -> bytes:
    return b"".join(map(_number, accumulate((4 + len(part) for part in parts), initial=0)))


def read(files: Iterable[str], version: object) -> tuple[tuple[Any, ...], Parts] | None:
    """What was kept in the first of the files that is good and whose tuple begins with that version, else None."""
    for file in files:
        try:
            # A pipe in the place of the file has nothing, and is not waited for.
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
            if descriptor <= 2:
                # A standard stream was closed when we were started: what reads or writes it is not to find this file.
                import fcntl

                low, descriptor = descriptor, fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, 3)
                os.close(low)
        except OSError:
            continue
        head = _head(descriptor)
        if head is not None and head[0][:1] == (version,):
            content, end, places = head
            return content, Parts(descriptor, end, places)
        os.close(descriptor)
    return None


def _head(descriptor: int) -> tuple[tuple[Any, ...], int, memoryview] | None:
    """The tuple, where the parts begin, and their places; None if it is not good."""
    try:
        data = os.read(descriptor, _FIRST)
        at = len(_MAGIC)
        if data[:at] != _MAGIC or len(data) < _START:
            return None
        checksum, places, content, total = memoryview(data)[at:_START].cast("I")
        end = _START + places + content
        if total != os.fstat(descriptor).st_size or end > total:
            return None
        if end > len(data):
            data += os.pread(descriptor, end - len(data), len(data))
        if len(data) < end or checksum != zlib.crc32(data[at + 4 : end]):
            return None
    except OSError:
        return None
    head = memoryview(data)[_START:end]
    try:
        found = marshal.loads(head[places:])
    except (EOFError, ValueError, TypeError):
        return None
    return (found, end, head[:places]) if isinstance(found, tuple) else None


def write(files: Iterable[str], content: tuple[Any, ...], parts: Sequence[bytes] = ()) -> None:
    """Keep a tuple, and parts that are read one by one, in the first of the files that can be written, if there is
    one."""
    payload = marshal.dumps(content)
    places = _places(parts)
    total = _START + len(places) + len(payload) + sum(4 + len(part) for part in parts)
    checked = b"".join([*map(_number, (len(places), len(payload), total)), places, payload])
    pieces = [_MAGIC, _number(zlib.crc32(checked)), checked]
    for part in parts:
        pieces += [_number(zlib.crc32(part)), part]
    for file in files:
        # Several processes may write at once: each its own file, put in place whole.
        temporary = f"{file}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(temporary, "wb") as f:
                f.write(b"".join(pieces))
            os.replace(temporary, file)
        except OSError:
            try:  # noqa: SIM105 -- contextlib is another import at start-up
                os.unlink(temporary)
            except OSError:
                pass
            continue
        return
