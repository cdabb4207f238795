"""Zstandard, which Python has from 3.14 on; before, the package backports.zstd."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any


def _module() -> Any:
    return import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")


def decompressor() -> Any:
    """Return a new `ZstdDecompressor`, which refuses windows of more than 128 MiB. Raises ImportError."""
    return _module().ZstdDecompressor()


def decompress(data: bytes, most: int) -> bytes:
    """Return the first `most` bytes compressed in `data`. Raises ImportError, and ValueError if it is damaged."""
    module = _module()
    try:
        return bytes(module.ZstdDecompressor().decompress(data, most))
    except module.ZstdError as error:
        raise ValueError(str(error)) from None
