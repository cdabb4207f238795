"""Bytes that are read once, from start to end: of files and members of archives, uncompressed if necessary.

Sizes in headers are not trusted: memory grows only with bytes that are there, and what a file unpacks to is limited.
"""

from __future__ import annotations

import bz2
import errno
import lzma
import os
import re
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Any, BinaryIO, Protocol

from incc.support import zstd

PIECE = 1 << 18
"""Bytes that are read, unpacked or skipped at a time."""

_PACKED_PIECE = 1 << 15
"""Compressed bytes that are read at a time."""

LARGEST_MEMBER = 1 << 30
"""Most bytes of a member that is read into memory."""

RATIO = 1000
"""Most bytes that a file may unpack to for each of its own. Code and text are compressed 2 to 20 times."""

FREE = 1 << 26
"""Bytes that any file may unpack to."""

_XZ_MEMORY = 1 << 28
"""Most bytes for the dictionary of xz. Its strongest preset needs 65 MiB."""


class ArchiveError(OSError):
    """An archive, or a member of one, that cannot be read. `strerror` says why, without the name."""

    def __init__(self, message: str) -> None:
        super().__init__(errno.EIO, message)


class CommonError(ArchiveError):
    """A reason that many members of an archive may share. It is reported once, with their number."""


CUT_OFF = "the archive is cut off"


class Budget:
    """The bytes that a file may still unpack to, on all levels of compression together."""

    def __init__(self, packed: int) -> None:
        self._left = max(FREE, RATIO * packed)

    def spend(self, size: int) -> None:
        """Count unpacked bytes. Raises ArchiveError if there are too many."""
        self._left -= size
        if self._left < 0:
            raise ArchiveError(f"it unpacks to more than {RATIO:,} times its size")


class ByteStream:
    """Bytes that are read once. Subclasses define `_pull`."""

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._at = 0
        self._ahead = b""

    def _pull(self, size: int) -> bytes:
        """Return up to `size` of the next bytes, none at the end. Raises OSError."""
        raise NotImplementedError

    def tell(self) -> int:
        """Return the offset of the next byte."""
        return self._at

    def read(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end. Raises OSError."""
        kept = BytesIO()
        kept.write(self._ahead[:size])
        self._ahead = self._ahead[size:]
        left = size - kept.tell()
        while left > 0 and (piece := self._pull(min(left, PIECE))):
            kept.write(piece)
            left -= len(piece)
        self._at += size - left
        return kept.getvalue()

    def peek(self, size: int) -> bytes:
        """Return the next `size` bytes, fewer at the end, which stay to be read. Raises as `read` does."""
        data = self.read(size)
        self._ahead = data + self._ahead
        self._at -= len(data)
        return data

    def exactly(self, size: int) -> bytes:
        """Return the next `size` bytes. Raises ArchiveError if there are fewer."""
        data = self.read(size)
        if len(data) < size:
            raise ArchiveError(CUT_OFF)
        return data

    def rest(self, most: int) -> bytes:
        """Return all bytes that are left. Raises ArchiveError if these are more than `most`."""
        data = self.read(most + 1)
        if len(data) > most:
            raise ArchiveError(f"it has more than {most >> 20:,} MiB; unpack it first")
        return data

    def seek(self, to: int) -> None:
        """Skip the bytes up to an offset. Raises ArchiveError if there are fewer."""
        while (left := to - self._at) > 0:
            self.exactly(min(left, PIECE))


class FileStream(ByteStream):
    """The bytes of a file on the disk."""

    def __init__(self, file: BinaryIO, budget: Budget) -> None:
        super().__init__(budget)
        self.file = file
        self.size = os.fstat(file.fileno()).st_size

    def _pull(self, size: int) -> bytes:
        return self.file.read(size)

    def seek(self, to: int) -> None:
        """Skip the bytes up to an offset, without reading them."""
        if to > self._at:
            if to > self.size:
                raise ArchiveError(CUT_OFF)
            self.file.seek(to)
            self._at, self._ahead = to, b""


class PartStream(ByteStream):
    """The next `size` bytes of another stream: the contents of a member."""

    def __init__(self, outer: ByteStream, size: int) -> None:
        super().__init__(outer.budget)
        self._outer = outer
        self._left = size

    def _pull(self, size: int) -> bytes:
        data = self._outer.exactly(min(size, self._left))
        self._left -= len(data)
        return data


class CallStream(ByteStream):
    """Bytes from a function that returns up to the given number, and none at the end."""

    def __init__(self, pull: Callable[[int], bytes], budget: Budget) -> None:
        super().__init__(budget)
        self._call = pull

    def _pull(self, size: int) -> bytes:
        return self._call(size)


# --- compression ------------------------------------------------------------------------------------------------------


class _Decompressor(Protocol):
    """The methods of `bz2.BZ2Decompressor` and its like."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


class _Gzip:
    """A decompressor of gzip with the methods of the others."""

    def __init__(self) -> None:
        self._object = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._object.eof

    @property
    def needs_input(self) -> bool:
        return not self._object.unconsumed_tail

    @property
    def unused_data(self) -> bytes:
        return self._object.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        return self._object.decompress(self._object.unconsumed_tail + data, max_length)


def _xz() -> _Decompressor:
    return lzma.LZMADecompressor(memlimit=_XZ_MEMORY)  # also the older format of .lzma


def _zstd() -> _Decompressor:
    try:
        decompressor: _Decompressor = zstd.decompressor()
    except ImportError:
        raise CommonError(
            "compressed with zstd, which needs the extra incc[archives] (pip install 'incc[archives]')"
        ) from None
    return decompressor


_COMPRESSIONS: tuple[tuple[re.Pattern[bytes], str, Callable[[], Any]], ...] = (
    (re.compile(rb"\x1f\x8b\x08"), "gzip", _Gzip),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), "bzip2", bz2.BZ2Decompressor),
    (re.compile(rb"\xfd7zXZ\0"), "xz", _xz),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "zstd", _zstd),
)
_LONGEST_MAGIC = 10
_LZMA = b"\x5d\0\0"
"""The start of the older format of xz, with which other files begin as well."""


def is_compressed(start: bytes) -> bool:
    """Return True if these are the first bytes of a compressed file."""
    return any(magic.match(start) for magic, _, _ in _COMPRESSIONS)


def unpacked(stream: ByteStream, lzma_too: bool = False) -> ByteStream:
    """Return the contents of a stream uncompressed, or the stream itself if it is not compressed.

    Args:
        stream: The stream.
        lzma_too: The stream may have the older format of xz.

    Raises:
        CommonError: It is compressed with zstd, for which there is no module.
        OSError: The stream cannot be read.
    """
    start = stream.peek(_LONGEST_MAGIC)
    for magic, name, make in _COMPRESSIONS:
        if magic.match(start):
            return _Unpacked(stream, name, make)
    return _Unpacked(stream, "lzma", _xz) if lzma_too and start.startswith(_LZMA) else stream


class _Unpacked(ByteStream):
    """The contents of a compressed stream: one compressed piece, or several after each other."""

    def __init__(self, packed: ByteStream, name: str, make: Callable[[], _Decompressor]) -> None:
        super().__init__(packed.budget)
        self._packed = packed
        self._name = name
        self._make = make
        self._decompressor: _Decompressor | None = make()
        self._error = ""
        """The message of an error, which every later read repeats."""

    def _pull(self, size: int) -> bytes:
        while self._decompressor is not None:
            data = b""
            if self._decompressor.eof:
                data = self._next()
                self._decompressor = self._make() if data else None
            elif self._decompressor.needs_input:
                data = self._packed.read(_PACKED_PIECE)
            if self._decompressor is None:
                break
            if self._error:
                raise ArchiveError(self._error)
            unpacked = self._decompressed(self._decompressor, data, size)
            if unpacked:
                self.budget.spend(len(unpacked))
                return unpacked
            if not data and not self._error and self._decompressor.needs_input and not self._decompressor.eof:
                self._error = f"the {self._name} compression is cut off"
        return b""

    def _decompressed(self, decompressor: _Decompressor, data: bytes, size: int) -> bytes:
        try:
            return decompressor.decompress(data, size)
        except MemoryError:
            raise
        except Exception as error:  # each module has its own
            self._error = f"the {self._name} compression is broken: {error}"
            return b""

    def _next(self) -> bytes:
        """Return the first bytes of the next compressed piece, after zeros, which may be between pieces."""
        assert self._decompressor is not None
        data = self._decompressor.unused_data.lstrip(b"\0")
        while not data and (packed := self._packed.read(_PACKED_PIECE)):
            data = packed.lstrip(b"\0")
        return data
