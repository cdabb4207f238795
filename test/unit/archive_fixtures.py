"""Archives of every kind, made in memory."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import struct
import sys
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from importlib import import_module

Files = Sequence[tuple[str, bytes]]


def _zstd(data: bytes) -> bytes:
    name = "compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd"
    packed: bytes = import_module(name).compress(data)
    return packed


def _lzma(data: bytes) -> bytes:
    return lzma.compress(data, lzma.FORMAT_ALONE)


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": lambda data: gzip.compress(data, 1),
    ".bz2": bz2.compress,
    ".xz": lambda data: lzma.compress(data, preset=0),
    ".zst": _zstd,
}
try:
    _zstd(b"")
except ImportError:
    del COMPRESSIONS[".zst"]


def tar(files: Files, format_: int = tarfile.PAX_FORMAT) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=format_) as archive:
        for name, data in files:
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return made.getvalue()


def zipped(files: Files, method: int = zipfile.ZIP_DEFLATED) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", method) as archive:
        for name, data in files:
            archive.writestr(zipfile.ZipInfo(name), data, method)
    return made.getvalue()


def ar(files: Files) -> bytes:
    """An archive with BSD's long names."""
    made = b"!<arch>\n"
    for name, data in files:
        text = name.encode("utf-8", "surrogateescape")
        size = len(text) + len(data)
        made += b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (b"#1/%d" % len(text), 0, 0, 0, 0o644, size) + text + data
        made += b"\n" * (size % 2)
    return made


def deb(files: Files, compression: str = ".xz") -> bytes:
    data = COMPRESSIONS[compression](tar([(f"./{name}", data) for name, data in files]))
    members = ((b"debian-binary", b"2.0\n"), (b"control.tar.gz", gzip.compress(tar([]))))
    made = b"!<arch>\n"
    for name, content in (*members, (b"data.tar" + compression.encode(), data)):
        made += b"%-16s%-12d%-6d%-6d%-8o%-10d`\n" % (name, 0, 0, 0, 0o644, len(content)) + content
        made += b"\n" * (len(content) % 2)
    return made


def cpio(files: Files) -> bytes:
    made = b""
    for name, data in (*files, ("TRAILER!!!", b"")):
        text = name.encode("utf-8", "surrogateescape") + b"\0"
        fields = (1, 0o100644, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(text), 0)
        made += b"070701" + b"".join(b"%08X" % field for field in fields) + text
        made += b"\0" * (-len(made) % 4) + data
        made += b"\0" * (-len(made) % 4)
    return made


def rpm(files: Files, compress: Callable[[bytes], bytes] = _lzma) -> bytes:
    magic = b"\x8e\xad\xe8\x01\0\0\0\0"
    signature = magic + struct.pack(">II", 1, 5) + bytes(16) + bytes(5) + bytes(3)
    header = magic + struct.pack(">II", 2, 7) + bytes(32) + bytes(7)
    lead = b"\xed\xab\xee\xdb" + bytes(92)
    return lead + signature + header + compress(cpio([(f"./{name}", data) for name, data in files]))


FORMATS: dict[str, Callable[[Files], bytes]] = {
    "a": ar,
    "zip": zipped,
    "stored.zip": lambda files: zipped(files, zipfile.ZIP_STORED),
    "bzip2.zip": lambda files: zipped(files, zipfile.ZIP_BZIP2),
    "ustar.tar": lambda files: tar(files, tarfile.USTAR_FORMAT),
    "gnu.tar": lambda files: tar(files, tarfile.GNU_FORMAT),
    "lzma.rpm": rpm,
    **{f"tar{end}": lambda files, c=compress: c(tar(files)) for end, compress in COMPRESSIONS.items()},
    **{f"{end[1:]}.deb": lambda files, e=end: deb(files, e) for end in COMPRESSIONS},
    **{f"{end[1:]}.rpm": lambda files, c=compress: rpm(files, c) for end, compress in COMPRESSIONS.items()},
}
"""Makers of archives by the ends of their names. No name matters to incc."""
