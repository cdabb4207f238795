"""C++ names as people write them, through binutils' c++filt: in reports, and for choosing functions by name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

# The Itanium ABI's mangling, Rust's legacy mangling with it.
_MANGLED = re.compile(r"\b_{1,3}Z[A-Za-z0-9_.$]+")


def demangle(texts: Iterable[str]) -> dict[str, str]:
    """The readable form of every mangled name that occurs in the texts; none where c++filt is missing or fails."""
    names = sorted({name for text in texts if "_Z" in text for name in _MANGLED.findall(text)})
    if not names:
        return {}
    import subprocess  # slow to import, and only C++ needs it

    try:
        run = subprocess.run(
            ["c++filt"], input="\n".join(names), capture_output=True, encoding="utf-8", errors="replace", check=True
        )
    except (OSError, subprocess.SubprocessError):
        return {}
    readable = run.stdout.splitlines()
    return dict(zip(names, readable, strict=True)) if len(readable) == len(names) else {}


def replace(text: str, readable: dict[str, str]) -> str:
    """The text with its mangled names made readable."""
    return _MANGLED.sub(lambda found: readable.get(found[0], found[0]), text) if "_Z" in text else text
