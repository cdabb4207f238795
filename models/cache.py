"""Files of compiled tables that are kept for later runs. A file is whole, or it counts as missing.

A file is a line that names the format, the checksum of the rest, and a marshalled tuple that begins with a version.
Marshalled data must come from the same version of Python, hence the interpreter's tag in the file's name.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import sys
import zlib
from collections.abc import Iterable
from typing import Any

_MAGIC = b"incc tables 1\n"
_START = len(_MAGIC) + 4


def file_name(name: str) -> str:
    """Return the name of the file that keeps something for this version of Python."""
    return f"{name}.{sys.implementation.cache_tag}.incc"


def places(folder: str, name: str, own: bool = True) -> list[str]:
    """Return the files that may keep something about a folder, the preferred one first.

    Args:
        folder: what is kept belongs to this folder.
        name: of what is kept.
        own: the folder is the package's own, so that files may be put into its `__pycache__`.
    """
    name = file_name(name)
    files = [os.path.join(folder, "__pycache__", name)] if own else []
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return [*files, os.path.join(base, "incc", f"{zlib.crc32(folder.encode()):08x}-{name}")]


def read(files: Iterable[str], version: int) -> tuple[Any, ...] | None:
    """Return what the first good file of this version keeps, None without one."""
    for file in files:
        try:
            if not os.path.isfile(file):  # a pipe would be waited for, and a device may have no end
                continue
            with open(file, "rb") as stream:
                data = stream.read()
        except OSError:
            continue
        if data[:_START] != _header(memoryview(data)[_START:]):
            continue
        kept = marshal.loads(memoryview(data)[_START:])
        if kept[0] == version:
            content: tuple[Any, ...] = kept[1:]
            return content
    return None


def write(files: Iterable[str], version: int, content: tuple[Any, ...]) -> None:
    """Keep a tuple of plain data in the first file that can be written, if there is one."""
    data = marshal.dumps((version, *content))
    for file in files:
        # Several processes may write at once: each writes its own file and puts it in place whole.
        temporary = f"{file}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(temporary, "wb") as stream:
                stream.write(_header(data) + data)
            os.replace(temporary, file)
        except OSError:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            continue
        return


def _header(data: bytes | memoryview) -> bytes:
    return _MAGIC + zlib.crc32(data).to_bytes(4, "little")
