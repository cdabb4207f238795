"""The files in archives and in archives inside these, each with an address by which any process finds it again."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterator

from incc.frontends.archives.formats import archive_kind, entries
from incc.frontends.archives.streams import (
    LARGEST_MEMBER,
    ArchiveError,
    Budget,
    ByteStream,
    CommonError,
    FileStream,
    is_compressed,
    unpacked,
)

Address = tuple[int, ...]
"""The numbers of a member and of the archives around it in their archives, outermost first; () for a compressed file
that is no archive."""

HEADER = 4096
"""The number of bytes at the start of a file that identify its format."""

DEPTH = 2
"""Most levels of archives: an archive, and those inside it. Packages are one level, as are compressed archives."""


class Leaf:
    """A file in an archive, or a message about a part of the archive that cannot be read.

    Its contents can be read until the next one.
    """

    __slots__ = ("address", "inside", "problem", "refusal", "start", "stream")

    def __init__(
        self, address: Address, inside: str, stream: ByteStream | None, problem: str = "", refusal: str = ""
    ) -> None:
        self.address = address
        self.inside = inside
        """The path in the archive, as in "lib/libx.a(a.o)"; "" for the file itself."""
        self.stream = stream
        """The contents; None if these cannot be read."""
        self.problem = problem
        """The reason why these cannot be read."""
        self.start = stream.peek(HEADER) if stream else b""
        """The first bytes of the contents."""
        self.refusal = refusal
        """The reason why code in it is not to be analysed, or ""."""


def is_archive(start: bytes) -> bool:
    """Return True if these are the first 512 bytes of an archive or of a compressed file."""
    return is_compressed(start) or bool(archive_kind(start))


class Walk:
    """A pass through an archive from its start to its end. Raises OSError if the file cannot be opened."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "rb")  # noqa: SIM115 -- it is closed with the walk
        self.key = (os.getpid(), path, *_identity(os.fstat(self._file.fileno())))
        """The process, since forked ones share the place in the file, and the file."""
        self.target: Address = ()
        """Members before this one are passed over without a look inside."""
        self._error: tuple[Address, str] = ((), "")
        self._common: dict[str, list[Leaf]] = {}
        """The members with a `CommonError`, by its message."""
        self.leaves = self._all()

    def close(self) -> None:
        """Close the file."""
        self.leaves.close()
        self._file.close()

    def read(self, leaf: Leaf) -> bytes:
        """Return the contents of the last leaf. Raises OSError."""
        if leaf.stream is None:
            raise ArchiveError(leaf.problem)
        try:
            return leaf.stream.rest(LARGEST_MEMBER)
        except ArchiveError as error:
            self._error = (leaf.address, str(error.strerror))
            raise

    def _all(self) -> Generator[Leaf, None, None]:
        try:
            size = os.fstat(self._file.fileno()).st_size
            stream = unpacked(FileStream(self._file, Budget(size)))
        except OSError as error:
            yield from self._problem((), "", error)
        else:
            yield from self._within(stream, (), "", "")
        for first, *more in self._common.values():
            first.problem += f" (and {len(more)} more)" if more else ""
            yield first

    def _within(self, stream: ByteStream, address: Address, inside: str, refusal: str) -> Iterator[Leaf]:
        """Yield a file, or the files in it if it is an archive."""
        try:
            if not archive_kind(stream.peek(HEADER)):
                yield Leaf(address, inside, stream, refusal=refusal)
                return
            if refusal:
                raise ArchiveError(refusal)
            if len(address) == DEPTH:
                raise CommonError("an archive in an archive in an archive; unpack the outermost first")
            for number, entry in enumerate(entries(stream, "" if address else self._path)):
                here = (*address, number)
                if here < self.target[: len(here)]:
                    continue
                name = entry.name or f"#{number}"
                name = f"{inside}({name})" if inside else name
                try:
                    opened = unpacked(entry.open())
                except OSError as error:
                    yield from self._problem(here, name, error)
                else:
                    yield from self._within(opened, here, name, entry.refusal)
        except OSError as error:
            yield from self._problem(address, inside, error)

    def _problem(self, address: Address, inside: str, error: OSError) -> Iterator[Leaf]:
        """Yield a message, unless it is the last one again, for the archive around the member."""
        message = str(error.strerror or error)
        last, last_message = self._error
        repeated = message == last_message and len(address) < len(last) and last[: len(address)] == address
        self._error = (address, message)
        if isinstance(error, CommonError):
            self._common.setdefault(message, []).append(Leaf(address, inside, None, message))
        elif not repeated:
            yield Leaf(address, inside, None, message)


def _identity(status: os.stat_result) -> tuple[int, ...]:
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class _Reader:
    """Reads members of archives by their addresses, and keeps the last one, since it may be read in parts."""

    def __init__(self) -> None:
        self._walk: Walk | None = None
        self._kept: tuple[tuple[object, ...], Address, bytes] | None = None

    def read(self, path: str, address: Address, forget: Callable[[], None]) -> bytes:
        """Return a member. Members in order are read in one pass.

        Args:
            path: The archive.
            address: The member's address in it.
            forget: Called before another member than the last one is read, to give up what is kept of that one.

        Raises:
            OSError: The member cannot be read.
        """
        key = (path, *_identity(os.stat(path)))
        if self._kept and self._kept[:2] == (key, address):
            return self._kept[2]
        self._kept = None
        forget()
        walk = self._walk
        if walk is None or walk.key != (os.getpid(), *key) or not walk.target < address:
            if walk is not None:
                walk.close()
            walk = self._walk = Walk(path)
        walk.target = address
        for leaf in walk.leaves:
            if leaf.address == address:
                self._kept = (key, address, walk.read(leaf))
                return self._kept[2]
        raise ArchiveError("the archive has changed: it has no such member any more")


_READER = _Reader()
read_member = _READER.read
