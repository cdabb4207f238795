"""Pieces of a scan's input, cut by what they cost, and the list of them."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import BinaryIO

import msgspec

from incc.driver.commands.scan.analysis import Input, name_of
from incc.driver.commands.scan.inputs import AssemblyFile, CodeFile, HexBlock, UnreadableInput
from incc.fleet.flow import Piece
from incc.fleet.messages import Stamp, decoded, encoded
from incc.frontends.objects.parts import PART
from incc.support.errors import AnalysisError

_LEAST, _MOST = PART // 4, 4 * PART
"""The largest cost of the first pieces and of any piece, in bytes of objects: a small scan has enough pieces for all
processes, and a large one has a thousand tiny objects in a piece."""

_OF_ALL = 16
"""Between these two, a piece costs at most one part in so many of all pieces before it."""

_OF_INPUT = 1 << 10
_OF_BLOCK = PART // 64
_OF_SOURCE = PART // 4
"""The costs of any input besides its bytes, of a block of machine code, and of assembly or a source."""

_LENGTH = 8
"""The bytes of a piece's length in the file."""

_pieces = msgspec.msgpack.Decoder(Piece)


def pieces(inputs: Iterable[Input]) -> Iterator[Piece]:
    """Yield pieces of about equal costs: parts of large files, or many small files."""
    piece, cost, before = Piece([], [], []), 0, 0
    for source in inputs:
        more = _cost(source)
        if piece.inputs and cost + more > min(max(_LEAST, before // _OF_ALL), _MOST):
            yield piece
            piece, cost, before = Piece([], [], []), 0, before + cost
        piece.names.append(name_of(source))
        piece.inputs.append(encoded(source))
        piece.files.append(_stamp(source))
        cost += more
    if piece.inputs:
        yield piece


def _cost(source: Input) -> int:
    if isinstance(source, CodeFile):
        return _OF_INPUT + (_MOST if source.part else source.size())
    if isinstance(source, UnreadableInput):
        return 0
    return _OF_BLOCK if isinstance(source, HexBlock) else _OF_SOURCE


def _stamp(source: Input) -> Stamp | None:
    if isinstance(source, CodeFile | AssemblyFile):
        with suppress(OSError):  # reading it says so
            status = os.stat(source.path)
            if stat.S_ISREG(status.st_mode):
                return Stamp(source.path, status.st_size, status.st_mtime_ns)
    return None


class PieceList:
    """A file with the pieces of a scan, which says before the scan, and after a crash, how many there are."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.count = 0

    @classmethod
    def of(cls, inputs: Iterable[Input], path: str = "") -> PieceList:
        """Write the pieces of inputs to a file, which is whole or absent, or to a temporary one. Raises OSError."""
        file: BinaryIO = open(f"{path}.new", "w+b") if path else tempfile.TemporaryFile()  # noqa: SIM115
        listed = cls(file)
        for piece in pieces(inputs):
            data = encoded(piece)
            file.write(len(data).to_bytes(_LENGTH, "little") + data)
            listed.count += 1
        file.flush()
        if path:
            os.fsync(file.fileno())
            os.replace(f"{path}.new", path)
        return listed

    @classmethod
    def read(cls, path: str) -> PieceList:
        """Return the pieces in a file. Raises OSError, and AnalysisError for a damaged file."""
        listed = cls(open(path, "rb"))  # noqa: SIM115
        while length := listed._length():
            listed._file.seek(length, os.SEEK_CUR)
            listed.count += 1
        return listed

    def _length(self) -> int:
        """Return the bytes of the next piece, 0 at the end. Raises AnalysisError if the file does not have them."""
        header = self._file.read(_LENGTH)
        length = int.from_bytes(header, "little")
        if header and not 0 < length <= os.fstat(self._file.fileno()).st_size - self._file.tell():
            raise AnalysisError(f"{self._file.name}: damaged: a piece of {length:,} bytes")
        return length

    def after(self, number: int) -> Iterator[Piece]:
        """Yield the pieces from a number on. Raises OSError, and AnalysisError for a damaged file."""
        self._file.seek(0)
        for _ in range(number):
            self._file.seek(self._length(), os.SEEK_CUR)
        while length := self._length():
            try:
                yield decoded(self._file.read(length), _pieces)
            except msgspec.DecodeError as error:
                raise AnalysisError(f"{self._file.name}: damaged: {error}") from None
