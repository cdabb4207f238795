"""Files of compiled tables: those that come with incc, and those that are kept for later runs of the user.

A file is a line that names the format and the version of the tables, then a record in MessagePack, which holds data
alone. Tables that come with incc are in the folder of its code, and are trusted as it is. Those of the user are in a
folder that only the user can write to, and each begins with a seal (incc.support.trust) of its content and of the name
that it was kept under, so that a file that was altered, exchanged or brought from elsewhere counts as missing.
"""

from __future__ import annotations

import contextlib
import hmac
import os
from hashlib import blake2b
from typing import TypeVar

import msgspec

from incc.support.trust import cache_home, distrusted, key_file, make_key, make_private, read_key, seal_of

T = TypeVar("T", bound=msgspec.Struct)

ENDING = ".incc"
_SEAL_BYTES = 64


def packed(content: msgspec.Struct, version: int) -> bytes:
    """Return the contents of a file of tables, without a seal."""
    return _head(version) + msgspec.msgpack.encode(content)


def unpacked(data: bytes, version: int, kind: type[T]) -> T | None:
    """Return the tables in the contents of a file; None if they are of another version, or damaged."""
    head = _head(version)
    if not data.startswith(head):
        return None
    try:
        return msgspec.msgpack.decode(memoryview(data)[len(head) :], type=kind)
    except msgspec.DecodeError:
        return None


def shipped(file: str, version: int, kind: type[T]) -> T | None:
    """Return the tables in a file that came with incc; None if there are none of this version."""
    return unpacked(_contents(file), version, kind)


def kept(name: str, version: int, kind: type[T]) -> T | None:
    """Return the tables that this user has kept under a name; None if there are none of this version."""
    file, key = _place(name)
    if not file:
        return None
    data = _contents(file)
    seal, content = data[:_SEAL_BYTES], data[_SEAL_BYTES:]
    if not hmac.compare_digest(seal, _seal(name, content, key)):
        return None
    return unpacked(content, version, kind)


def keep(name: str, version: int, content: msgspec.Struct) -> None:
    """Keep tables under a name, if there is a place for them."""
    file, key = _place(name)
    if not file:
        return
    data = packed(content, version)
    # Several processes may write at once: each writes its own file and puts it in place whole.
    temporary = f"{file}.{os.getpid()}.tmp"
    try:
        with open(temporary, "wb") as stream:
            stream.write(_seal(name, data, key) + data)
        os.replace(temporary, file)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def tables_folder() -> str:
    """Return the folder of the user's tables, "" if there is none."""
    home = cache_home(os.environ)
    folder = os.path.join(home, "tables")
    return folder if home and os.path.isdir(folder) and not distrusted(folder, private=True) else ""


def kept_files() -> list[tuple[str, int]]:
    """Return the paths and the sizes in bytes of the user's tables, with unfinished ones."""
    files = []
    if folder := tables_folder():
        with contextlib.suppress(OSError), os.scandir(folder) as items:
            for item in items:
                if ENDING in item.name and item.is_file(follow_symlinks=False):
                    files.append((item.path, item.stat(follow_symlinks=False).st_size))
    return files


def _place(name: str) -> tuple[str, bytes]:
    """Return the file for a name, "" if nothing can be kept, and the user's key."""
    home, key = cache_home(os.environ), key_file(os.environ)
    folder = os.path.join(home, "tables")
    if not home or not key or not make_private(folder):
        return "", b""
    try:
        make_key(key)
    except OSError:
        return "", b""
    known = read_key(key)
    number = blake2b(os.fsencode(name), digest_size=8).hexdigest()
    return os.path.join(folder, f"{os.path.basename(name)}-{number}{ENDING}") if known else "", known


def _contents(file: str) -> bytes:
    try:
        if os.path.isfile(file):  # a pipe would be waited for, and a device may have no end
            with open(file, "rb") as stream:
                return stream.read()
    except OSError:
        pass
    return b""


def _seal(name: str, data: bytes, key: bytes) -> bytes:
    return seal_of(os.fsencode(name) + b"\0" + data, key).encode()


def _head(version: int) -> bytes:
    return b"incc tables 2 %x\n" % version
