r"""The cache of units: reports of compilations that occur again, such as when a build is restarted.

An entry is a file `units/ab/cdef…`, named by its key: 32 hexadecimal digits that stand for everything that the report
depends on (the front makes it). It has five parts, which a small program can read:

    incc unit 1\n                            the format
    <32 hexadecimal digits>\n                BLAKE2b of 16 bytes over all that follows
    <name of the report>\n                   in a folder of reports
    <rest of the manifest's line>\n          to be put after `{"digest":"…",`: see `manifest.line_of`
    <the report>

Readers of an entry set its time of modification, so that the least recently used entries are removed first when the
cache exceeds its size (INCC_CACHE_SIZE). Entries are complete or absent: they are written to another file and renamed.
A damaged entry counts as absent.

The folder of entries must belong to the user, and nobody else may write to it; otherwise there are none.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterator, Mapping

import msgspec

from incc.support.trust import cache_home, distrusted, make_private

_MAGIC = b"incc unit 1\n"
_DIGITS = frozenset("0123456789abcdef")

DEFAULT_SIZE = 1 << 30
"""The default size of all entries in bytes; a unit with thirty loops takes half a million."""

_KEPT = 0.8
"""The share of the size that is kept when the cache is full, so that the next entry does not need another clean-up."""

_EVERY = 64
"""The number of entries after which the size is checked."""

_FORGOTTEN = 3600
"""Seconds after which an unfinished file is considered abandoned."""


class Cached(msgspec.Struct, frozen=True):
    """An entry of the cache."""

    name: str
    """The report's name."""
    rest: str
    """The rest of its line in the manifest."""
    report: bytes
    """The report's text in UTF-8."""


def cache_folder(environment: Mapping[str, str]) -> str:
    """Return the cache's folder: $INCC_CACHE (0: off), else `incc` in $XDG_CACHE_HOME or ~/.cache.

    Returns "" if there is no cache.
    """
    chosen = environment.get("INCC_CACHE", "")
    if chosen:
        return "" if chosen == "0" else os.path.abspath(chosen)
    return cache_home(environment)


def cache_size(environment: Mapping[str, str]) -> int:
    """Return the size limit of the cache in bytes: $INCC_CACHE_SIZE, a number with an optional suffix k, M or G."""
    size = bytes_of(environment.get("INCC_CACHE_SIZE", ""))
    return DEFAULT_SIZE if size is None else size


def bytes_of(text: str) -> int | None:
    """Return a number of bytes with an optional suffix k, M or G; None if the text is anything else."""
    text = text.strip()
    unit = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30}.get(text[-1:].lower(), 1)
    number = text[:-1] if unit > 1 else text
    return int(number) * unit if number.isascii() and number.isdecimal() and len(number) < 19 else None


class UnitCache:
    """The entries in a folder, "" for none. No method raises: a failure only costs another analysis."""

    def __init__(self, folder: str, size: int = DEFAULT_SIZE) -> None:
        self.folder = os.path.join(folder, "units") if folder else ""
        self.size = size

    @property
    def distrusted(self) -> str:
        """The reason why the entries are not used, a clause; "" if there is none."""
        return distrusted(self.folder, private=True) if self.folder else ""

    def find(self, key: str) -> Cached | None:
        """Return the entry of a key; None if there is none."""
        path = self._path(key)
        if not path or self.distrusted:
            return None
        try:
            with open(path, "rb") as file:
                data = file.read()
            entry = _unpack(data)
            if entry is not None:
                os.utime(path)
        except OSError:
            return None
        return entry

    def store(self, key: str, entry: Cached) -> bool:
        """Store an entry; return True on success."""
        path = self._path(key)
        if not path or not make_private(self.folder):
            return False
        new = f"{path}.{os.getpid()}.new"
        try:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(new, "wb") as file:
                file.write(_pack(entry))
            os.replace(new, path)
        except OSError:
            _remove(new)
            return False
        # Keys are practically random, so this happens every _EVERY entries across all processes.
        if int(key[-4:], 16) % _EVERY == 0:
            self.clean()
        return True

    def clean(self) -> None:
        """Remove the least recently used entries if the cache is too large."""
        entries = []
        now = time.time()
        for path, status in self._files():
            if path.endswith(".new"):
                if status.st_mtime < now - _FORGOTTEN:
                    _remove(path)
                continue
            entries.append((status.st_mtime, status.st_size, path))
        total = sum(size for _, size, _ in entries)
        if total <= self.size:
            return
        for _, size, path in sorted(entries):
            _remove(path)
            total -= size
            if total <= self.size * _KEPT:
                return

    def clear(self) -> None:
        """Remove all entries."""
        for path, _ in self._files():
            _remove(path)

    def stats(self) -> tuple[int, int]:
        """Return the number of entries and their size in bytes."""
        sizes = [status.st_size for path, status in self._files() if not path.endswith(".new")]
        return len(sizes), sum(sizes)

    def _path(self, key: str) -> str:
        if not self.folder or len(key) != 32 or not _DIGITS.issuperset(key):
            return ""
        return os.path.join(self.folder, key[:2], key[2:])

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        if not self.folder or self.distrusted:
            return
        for place in _scan(self.folder):
            if len(place.name) == 2 and place.is_dir(follow_symlinks=False):
                for item in _scan(place.path):
                    try:
                        if item.is_file(follow_symlinks=False):
                            yield item.path, item.stat(follow_symlinks=False)
                    except OSError:  # another process has removed it
                        continue


def _pack(entry: Cached) -> bytes:
    body = f"{entry.name}\n{entry.rest}\n".encode("utf-8", "surrogateescape") + entry.report
    return _MAGIC + _checksum(body) + b"\n" + body


def _unpack(data: bytes) -> Cached | None:
    start = len(_MAGIC) + 33
    body = data[start:]
    if not data.startswith(_MAGIC) or data[len(_MAGIC) : start] != _checksum(body) + b"\n":
        return None
    name, rest, report = body.split(b"\n", 2)
    return Cached(name.decode("utf-8", "surrogateescape"), rest.decode("utf-8", "surrogateescape"), report)


def _checksum(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).hexdigest().encode("ascii")


def _scan(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _remove(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return
