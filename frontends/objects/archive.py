"""Members of static libraries (ar(5)), in GNU's, BSD's and Microsoft's dialect, thin ones too."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from typing import Protocol

import msgspec

from incc.frontends.objects.read import ObjectError

MAGIC = b"!<arch>\n"
THIN_MAGIC = b"!<thin>\n"
_HEADER = 60
_TABLES = frozenset(("/", "/SYM64", "__.SYMDEF", "__.SYMDEF SORTED", "/<HYBRIDMAP>", "/<ECSYMBOLS>"))


class ArchiveMember(msgspec.Struct, frozen=True, kw_only=True):
    """A member of a static library."""

    name: str
    path: str
    """The file that has its bytes: the library, or for a thin library a file of its own."""
    offset: int
    """The offset of its first byte in that file."""
    size: int
    """The size in bytes; -1 for the whole file."""

    def read(self) -> bytes:
        """Return the member's bytes. Raises OSError."""
        # A damaged thin library may name anything, such as a pipe that nobody writes to.
        if self.size < 0 or self.offset == 0:
            if "\0" in self.path:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.path)
            if not stat.S_ISREG(os.stat(self.path).st_mode):
                raise OSError(errno.EINVAL, "not a file", self.path)
        with open(self.path, "rb") as file:
            file.seek(self.offset)
            return file.read(self.size)


def members(path: str) -> Iterator[tuple[str, bytes]]:
    """Yield name and bytes of the members of a static library, in order, without its tables of symbols.

    Raises:
        ObjectError: if the file is not a static library, or is cut off.
        OSError: if it cannot be read, or a file that a thin library refers to.
    """
    for member in listed(path):
        yield member.name, member.read()


def listed(path: str) -> Iterator[ArchiveMember]:
    """Yield the members of a static library as `members` does, without reading them."""
    with open(path, "rb") as file:
        yield from listed_in(file, path, os.fstat(file.fileno()).st_size)


class Readable(Protocol):
    """A file that is read from start to end."""

    def read(self, size: int, /) -> bytes:
        """Return the next bytes, fewer at the end."""

    def tell(self) -> int:
        """Return the offset of the next byte."""

    def seek(self, to: int, /) -> object:
        """Skip bytes up to an offset behind the next byte."""


def listed_in(file: Readable, path: str, size_of_file: int) -> Iterator[ArchiveMember]:
    """Yield the members of a static library as `listed` does, from an open file that may be left after each member.

    Args:
        file: The library.
        path: Its name, from which the names of files in a thin library count.
        size_of_file: Its size in bytes.
    """
    magic = file.read(len(MAGIC))
    if magic not in (MAGIC, THIN_MAGIC):
        raise ObjectError("not a static library")
    names = b""
    while header := file.read(_HEADER):
        if len(header) < _HEADER or header[58:] != b"`\n":
            raise ObjectError(f"a damaged static library: no member at byte {file.tell() - len(header)}")
        name, digits = header[:16].decode("utf-8", "surrogateescape").rstrip(), header[48:58].strip()
        if not digits.isdigit():
            raise ObjectError(f"a damaged static library: the member {name!r} has no size")
        size = int(digits)
        is_table = name == "//" or name in _TABLES
        if magic == THIN_MAGIC and not is_table:
            name = _long_name(names, name)
            yield ArchiveMember(name=name, path=os.path.join(os.path.dirname(path), name), offset=0, size=-1)
            continue
        start = file.tell()
        if start + size > size_of_file:
            raise ObjectError(f"the static library is cut off in its member {name.rstrip('/')!r}")
        end, odd = start + size, size & 1
        if name == "//":
            names = file.read(size)
        elif not is_table:
            if name.startswith("#1/") and name[3:].isdecimal():  # BSD: the name is before the bytes
                length = min(int(name[3:]), size)
                name = file.read(length).rstrip(b"\0").decode("utf-8", "surrogateescape")
                start, size = start + length, size - length
            else:
                name = _long_name(names, name)
            if name not in _TABLES:
                yield ArchiveMember(name=name, path=path, offset=start, size=size)
        file.seek(end)
        file.read(odd)  # members begin at even bytes


def _long_name(names: bytes, name: str) -> str:
    """Return a member's name, looked up in the table of long names if it is a number."""
    if name.startswith("/") and name[1:].isdecimal():
        start = int(name[1:])
        ends = [end for end in (names.find(c, start) for c in (b"\n", b"\0")) if end >= 0]
        name = names[start : min(ends, default=len(names))].decode("utf-8", "surrogateescape")
    return name.removesuffix("/")
