"""What is worked out once and kept for later runs, in files that are whole, or count as missing.

A file is a line that names the format, the checksum of the rest, the length of a marshalled tuple, that tuple, and
bytes that belong to it. Marshalled data of another Python version or cut short must never be read, hence the name of
the interpreter in the file's name and the checksum.
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
_START = len(_MAGIC) + 8


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


def read(files: Iterable[str], version: object) -> tuple[tuple[Any, ...], memoryview] | None:
    """What was kept in the first of the files that is good and whose tuple begins with that version, else None."""
    for file in files:
        try:
            with open(file, "rb", buffering=0) as f:
                data = memoryview(f.read())
        except OSError:
            continue
        at = len(_MAGIC)
        if data[:at] != _MAGIC or data[at : at + 4] != zlib.crc32(data[at + 4 :]).to_bytes(4, "little"):
            continue
        end = _START + int.from_bytes(data[at + 4 : _START], "little")
        try:
            content = marshal.loads(data[_START:end])
        except (EOFError, ValueError, TypeError):
            continue
        if isinstance(content, tuple) and content[:1] == (version,):
            return content, data[end:]
    return None


def write(files: Iterable[str], content: tuple[Any, ...], more: bytes = b"") -> None:
    """Keep a tuple, and bytes that belong to it, in the first of the files that can be written, if there is one."""
    payload = marshal.dumps(content)
    payload = len(payload).to_bytes(4, "little") + payload + more
    for file in files:
        # Several processes may write at once: each its own file, put in place whole.
        temporary = f"{file}.{os.getpid()}.tmp"
        try:
            os.makedirs(os.path.dirname(file), exist_ok=True)
            with open(temporary, "wb") as f:
                f.write(_MAGIC + zlib.crc32(payload).to_bytes(4, "little") + payload)
            os.replace(temporary, file)
        except OSError:
            try:  # noqa: SIM105 -- contextlib is another import at start-up
                os.unlink(temporary)
            except OSError:
                pass
            continue
        return
