"""The text of source files: as they are on disk, or as an editor has them before they are saved."""

from __future__ import annotations

import contextlib
import os

_LARGEST = 1 << 24
"""The most bytes of a source that is read; larger files are generated."""

_unsaved: dict[str, bytes] = {}


def use_unsaved(path: str, text: bytes) -> None:
    """Let this process read `text` wherever it reads the source at an absolute path."""
    _unsaved[os.path.realpath(path)] = text


def source_bytes(path: str) -> bytes:
    """Return the contents of a source; nothing if it cannot be read, is not a regular file, or is too large."""
    with contextlib.suppress(ValueError):  # a NUL in the name
        if _unsaved and (text := _unsaved.get(os.path.realpath(path))) is not None:
            return text
    return saved_bytes(path)


def saved_bytes(path: str) -> bytes:
    """Return the contents of a source on disk, as `source_bytes` does."""
    try:
        # Reading a pipe would block until somebody writes.
        if not os.path.isfile(path) or os.path.getsize(path) > _LARGEST:
            return b""
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return b""
