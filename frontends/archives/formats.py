"""The members of tar, zip, ar, deb and rpm archives, in their order.

The headers of tar are read here, with the standard library's decoder of a single header, because its `TarFile` keeps
names and extended headers of any size in memory.
"""

from __future__ import annotations

import stat
import struct
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from typing import IO, BinaryIO, Literal

import msgspec

from incc.frontends.archives.streams import (
    LARGEST_MEMBER,
    ArchiveError,
    ByteStream,
    CallStream,
    CommonError,
    FileStream,
    PartStream,
    unpacked,
)
from incc.frontends.objects import archive
from incc.frontends.objects.read import ObjectError

Kind = Literal["ar", "rpm", "tar", "zip", ""]

_LONGEST_NAME = 1 << 16
_LARGEST_HEADER = 1 << 28
"""Bytes of a header of rpm. The largest one that rpm accepts has 256 MiB."""


class ArchiveEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A member of an archive."""

    name: str
    open: Callable[[], ByteStream]
    """Returns the contents; to be called before the next member is read. Raises OSError."""
    refusal: str = ""
    """The reason why code in it is not analysed, or ""."""


def archive_kind(start: bytes) -> Kind:
    """Return the kind of an archive by its first 512 bytes, "" for other files."""
    if start.startswith((archive.MAGIC, archive.THIN_MAGIC)):
        return "ar"
    if start.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if start.startswith(b"\xed\xab\xee\xdb"):
        return "rpm"
    try:
        tarfile.TarInfo.frombuf(start[:512], "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return ""
    return "tar"


def is_debian(start: bytes) -> bool:
    """Return True if these are the first bytes of a Debian package, an "ar" archive."""
    return start.startswith(b"debian-binary", len(archive.MAGIC))


def entries(stream: ByteStream, path: str) -> Iterator[ArchiveEntry]:
    """Yield the members of an archive that are regular files. The contents of each can be read until the next one.

    Args:
        stream: The archive, of a known `archive_kind`.
        path: The file that the archive is, "" for a member of another archive.

    Raises:
        OSError: The archive cannot be read; ArchiveError for a damaged one.
    """
    kind = archive_kind(stream.peek(tarfile.BLOCKSIZE))
    if kind == "tar":
        return _tar(stream)
    if kind == "zip":
        return _zip(stream)
    if kind == "rpm":
        return _rpm(stream)
    return _ar(stream, path)


class _Names:
    """The names of members, which are to be relative and to differ."""

    def __init__(self) -> None:
        self._names: set[str] = set()

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def refusal(self, name: str) -> str:
        """Add a name, and return the reason to refuse code under it, or ""."""
        if name.startswith("/") or ".." in name.split("/"):
            return "its name leads out of the archive"
        if name in self._names:
            return "the archive has another member of this name"
        self._names.add(name)
        return ""


def _plain(name: str) -> str:
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    return name


def _failing(error: ArchiveError) -> Callable[[], ByteStream]:
    def fail() -> ByteStream:
        raise error

    return fail


def _part(stream: ByteStream, size: int) -> Callable[[], ByteStream]:
    return lambda: PartStream(stream, size)


# --- tar --------------------------------------------------------------------------------------------------------------

_EXTENDED = (tarfile.XHDTYPE, tarfile.SOLARIS_XHDTYPE)
_ABOUT_OTHERS = (*_EXTENDED, tarfile.XGLTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK)
"""Types of members that describe the members after them."""


def _tar(stream: ByteStream) -> Iterator[ArchiveEntry]:
    """Yield the members of a tar archive (POSIX.1-2001, with GNU's long names)."""
    names = _Names()
    long_name, long_link, pax = "", "", dict[str, str]()
    while (header := stream.exactly(tarfile.BLOCKSIZE)).strip(b"\0"):
        try:
            info = tarfile.TarInfo.frombuf(header, "utf-8", "surrogateescape")
        except tarfile.HeaderError:
            at = stream.tell() - tarfile.BLOCKSIZE
            raise ArchiveError(f"a damaged tar archive: no member at byte {at}") from None
        if info.size < 0:
            raise ArchiveError(f"a damaged tar archive: a member of {info.size} bytes")
        if info.type in _ABOUT_OTHERS:
            end = _padded(stream, info.size)
            if info.type == tarfile.GNUTYPE_LONGNAME:
                long_name = _name(_header_text(stream, info.size))
            elif info.type == tarfile.GNUTYPE_LONGLINK:
                long_link = _name(_header_text(stream, info.size))
            elif info.type in _EXTENDED:
                pax = _pax(_header_text(stream, info.size))
            stream.seek(end)
            continue
        name = _plain(pax.get("GNU.sparse.name") or pax.get("path") or long_name or info.name)
        if info.isreg() or info.type not in tarfile.SUPPORTED_TYPES:
            is_sparse = info.type == tarfile.GNUTYPE_SPARSE or any(key.startswith("GNU.sparse.") for key in pax)
            if info.type == tarfile.GNUTYPE_SPARSE:
                _skip_sparse_maps(stream, header)
            size = int(pax["size"][:20]) if pax.get("size", "").isdecimal() else info.size
            end = _padded(stream, size)
            opened = _failing(CommonError("a sparse file; unpack it first")) if is_sparse else _part(stream, size)
            yield ArchiveEntry(name=name, open=opened, refusal=names.refusal(name))
            stream.seek(end)
        elif info.islnk() and (target := _plain(pax.get("linkpath") or long_link or info.linkname)) not in names:
            error = ArchiveError(f"a hard link to {target!r}, which is not before it in the archive")
            yield ArchiveEntry(name=name, open=_failing(error))
        long_name, long_link, pax = "", "", {}


def _name(text: bytes) -> str:
    return text.rstrip(b"\0").decode("utf-8", "surrogateescape")


def _padded(stream: ByteStream, size: int) -> int:
    """Return the offset of the header after `size` bytes."""
    return stream.tell() + -(-size // tarfile.BLOCKSIZE) * tarfile.BLOCKSIZE


def _skip_sparse_maps(stream: ByteStream, header: bytes) -> None:
    more = header[482]
    while more:
        more = stream.exactly(tarfile.BLOCKSIZE)[504]


def _header_text(stream: ByteStream, size: int) -> bytes:
    if size > _LONGEST_NAME:
        raise ArchiveError(f"a damaged tar archive: a header of {size:,} bytes")
    return stream.exactly(size)


def _pax(data: bytes) -> dict[str, str]:
    """Return the records of an extended header, each with its length, a key and a value, as in "9 path=a"."""
    records: dict[str, str] = {}
    while data.strip(b"\0"):
        digits, space, _ = data[:20].partition(b" ")
        length = int(digits) if digits.isdigit() else 0
        key, equals, value = data[len(digits) + 1 : length].partition(b"=")
        if not space or not equals or data[length - 1 : length] != b"\n":
            raise ArchiveError("a damaged tar archive: an extended header that cannot be read")
        records[key.decode("utf-8", "surrogateescape")] = value[:-1].decode("utf-8", "surrogateescape")
        data = data[length:]
    return records


# --- zip --------------------------------------------------------------------------------------------------------------

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2)
"""Ways of compression whose memory is bounded."""
_ENCRYPTED = 0x41
"""Flags of members: encrypted, with PKWARE's own method as well."""


def _zip(stream: ByteStream) -> Iterator[ArchiveEntry]:
    """Yield the members of a zip archive, such as a wheel. Its table is at the end, so a member is read as a whole."""
    file: BinaryIO = stream.file if isinstance(stream, FileStream) else BytesIO(stream.rest(LARGEST_MEMBER))
    names = _Names()
    with _zip_errors():
        opened = zipfile.ZipFile(file)
    for info in opened.infolist():
        mode = info.external_attr >> 16
        if info.filename.endswith("/") or (info.create_system == 3 and stat.S_IFMT(mode) not in (0, stat.S_IFREG)):
            continue
        name = _plain(info.filename)
        if info.flag_bits & _ENCRYPTED:
            start = _failing(CommonError("encrypted"))
        elif info.compress_type not in _METHODS:
            start = _failing(CommonError(f"compressed with method {info.compress_type} of zip; unpack it first"))
        else:
            start = _zip_member(opened, info, stream)
        yield ArchiveEntry(name=name, open=start, refusal=names.refusal(name))


def _zip_member(opened: zipfile.ZipFile, info: zipfile.ZipInfo, stream: ByteStream) -> Callable[[], ByteStream]:
    def start() -> ByteStream:
        with _zip_errors():
            member: IO[bytes] = opened.open(info)

        def pull(size: int) -> bytes:
            with _zip_errors():
                data = member.read(size)
            stream.budget.spend(len(data))
            return data

        return CallStream(pull, stream.budget)

    return start


@contextmanager
def _zip_errors() -> Iterator[None]:
    """Turn the exceptions of `zipfile` on damaged archives into ArchiveError."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ArchiveError(f"a damaged zip archive: {error or type(error).__name__}") from None


# --- ar and deb -------------------------------------------------------------------------------------------------------


def _ar(stream: ByteStream, path: str) -> Iterator[ArchiveEntry]:
    """Yield the members of a static library, or those of a Debian package's archive of files."""
    if stream.peek(8).startswith(archive.THIN_MAGIC) and not path:
        raise ArchiveError("a thin static library, whose members are not in the archive")
    is_deb = is_debian(stream.peek(tarfile.BLOCKSIZE))
    size = stream.size if isinstance(stream, FileStream) and not is_deb else 1 << 63
    try:
        for member in archive.listed_in(stream, path, size):
            if is_deb and member.name.startswith("data.tar"):
                yield from _tar(unpacked(PartStream(stream, member.size), lzma_too=True))
                return
            if not is_deb:
                opened = _thin_member(member, stream) if member.size < 0 else _part(stream, member.size)
                yield ArchiveEntry(name=member.name, open=opened)
    except ObjectError as error:
        raise ArchiveError(str(error)) from None
    if is_deb:
        raise ArchiveError("a damaged Debian package: it has no data.tar")


def _thin_member(member: archive.ArchiveMember, stream: ByteStream) -> Callable[[], ByteStream]:
    return lambda: CallStream(BytesIO(member.read()).read, stream.budget)


# --- rpm --------------------------------------------------------------------------------------------------------------

_LEAD = 96
_CPIO = struct.Struct(">13I")


def _rpm(stream: ByteStream) -> Iterator[ArchiveEntry]:
    """Yield the members of an rpm package (rpm's manual, "RPM V4 Package format")."""
    stream.exactly(_LEAD)
    for multiple in (8, 1):  # the signature's size is padded, the header's is not
        start = stream.exactly(16)
        count, length = struct.unpack(">II", start[8:])
        size = 16 * count + length
        if not start.startswith(b"\x8e\xad\xe8") or size > _LARGEST_HEADER:
            raise ArchiveError("a damaged rpm package: its header cannot be read")
        stream.seek(stream.tell() + size + -size % multiple)
    yield from _cpio(unpacked(stream, lzma_too=True))


def _cpio(stream: ByteStream) -> Iterator[ArchiveEntry]:
    """Yield the members of a cpio archive in the "new" format of SVR4. Of hard links only the last has contents."""
    names = _Names()
    begin = stream.tell()
    while True:
        at = stream.tell() - begin
        magic, digits = stream.exactly(6), stream.exactly(2 * _CPIO.size)
        if magic == b"07070X":
            raise ArchiveError("an rpm package with files of more than 4 GiB; unpack it first")
        try:
            fields = _CPIO.unpack(bytes.fromhex(digits.decode("ascii")))
        except (ValueError, struct.error):
            fields = ()
        if magic not in (b"070701", b"070702") or not fields or fields[11] > _LONGEST_NAME:
            raise ArchiveError(f"damaged contents of an rpm package: no member at byte {at}")
        mode, size, length = fields[1], fields[6], fields[11]
        name = _plain(stream.exactly(length).rstrip(b"\0").decode("utf-8", "surrogateescape"))
        if name == "TRAILER!!!":
            return
        stream.seek(stream.tell() + -(stream.tell() - begin) % 4)
        end = stream.tell() + size
        if stat.S_ISREG(mode) and size:
            yield ArchiveEntry(name=name, open=_part(stream, size), refusal=names.refusal(name))
        stream.seek(end + -(end - begin) % 4)
