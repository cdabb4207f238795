"""What is worked out once and kept for later runs, in files that are whole, or count as missing.

A file is a line that names the format, the checksum of what follows up to the end of a marshalled tuple, its length
and that of the whole, that tuple, and parts of which few are read, each with a checksum of its own in front. Marshalled
data of another Python version or cut short must never be read, hence the name of the interpreter in the file's name and
the checksums.
"""

from __future__ import annotations

import marshal
import os
import sys
import zlib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

_MAGIC = b"incc kept 2\n"
_START = len(_MAGIC) + 12
_FIRST = 1 << 16  # bytes that are read at once


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

    __slots__ = ("_descriptor", "_start")

    def __init__(self, descriptor: int, start: int) -> None:
        self._descriptor = descriptor
        self._start = start

    def get(self, start: int, end: int) -> memoryview:
        """The part from `start` to `end`, as `write` has told. Raises Damaged."""
        try:
            data = memoryview(os.pread(self._descriptor, end - start, self._start + start))
        except OSError:
            raise Damaged from None
        if len(data) != end - start or data[:4] != zlib.crc32(data[4:]).to_bytes(4, "little"):
            raise Damaged
        return data[4:]

    def __del__(self) -> None:
        os.close(self._descriptor)


def read(files: Iterable[str], version: object) -> tuple[tuple[Any, ...], Parts] | None:
    """What was kept in the first of the files that is good and whose tuple begins with that version, else None."""
    for file in files:
        try:
            descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            continue
        content, end = _head(descriptor)
        if content[:1] == (version,):
            return content, Parts(descriptor, end)
        os.close(descriptor)
    return None


def _head(descriptor: int) -> tuple[tuple[Any, ...], int]:
    """The tuple, () if it is not good, and where the parts begin."""
    try:
        data = os.read(descriptor, _FIRST)
        end = _START + int.from_bytes(data[_START - 8 : _START - 4], "little")
        if end > len(data):
            data += os.pread(descriptor, end - len(data), len(data))
        total = os.fstat(descriptor).st_size
    except OSError:
        return (), 0
    at = len(_MAGIC)
    if (
        data[:at] != _MAGIC
        or len(data) < end
        or data[at : at + 4] != zlib.crc32(data[at + 4 : end]).to_bytes(4, "little")
        or int.from_bytes(data[_START - 4 : _START], "little") != total
    ):
        return (), 0
    try:
        content = marshal.loads(memoryview(data)[_START:end])
    except (EOFError, ValueError, TypeError):
        return (), 0
    return (content, end) if isinstance(content, tuple) else ((), 0)


def packed(parts: Iterable[bytes]) -> tuple[list[tuple[int, int]], bytes]:
    """Where each of the parts of a file begins and ends, and all of them together, as `write` takes them."""
    places, all_parts, at = [], [], 0
    for part in parts:
        all_parts += [zlib.crc32(part).to_bytes(4, "little"), part]
        places.append((at, at + 4 + len(part)))
        at += 4 + len(part)
    return places, b"".join(all_parts)


def write(files: Iterable[str], content: tuple[Any, ...], parts: bytes = b"") -> None:
    """Keep a tuple, and parts that it tells the places of, in the first of the files that can be written, if there is
    one."""
    payload = marshal.dumps(content)
    total = _START + len(payload) + len(parts)
    checked = len(payload).to_bytes(4, "little") + total.to_bytes(4, "little") + payload
    for file in files:
        # Several processes may write at once: each its own file, put in place whole.
        temporary = f"{file}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(temporary, "wb") as f:
                f.write(b"".join([_MAGIC, zlib.crc32(checked).to_bytes(4, "little"), checked, parts]))
            os.replace(temporary, file)
        except OSError:
            try:  # noqa: SIM105 -- contextlib is another import at start-up
                os.unlink(temporary)
            except OSError:
                pass
            continue
        return
