"""C++ and Fortran names as people write them: in reports, and for choosing functions by name."""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

# The Itanium ABI's mangling, Rust's legacy mangling with it.
_MANGLED = re.compile(r"\b_{1,3}Z[A-Za-z0-9_.$]+")

# gfortran's names of procedures in modules; the module's name is in lower case, so that the first _MOD_ ends it.
_FORTRAN = re.compile(r"\b__([a-z0-9_]+)_MOD_([a-z0-9_]+)")


def is_mangled(text: str) -> bool:
    """Whether there may be something for the others to do; costs nothing."""
    return "_Z" in text or "_MOD_" in text


def demangle(texts: Iterable[str]) -> dict[str, str]:
    """The readable form of every mangled name that occurs in the texts; none of C++ where binutils' c++filt is missing
    or fails."""
    texts = list(texts)
    fortran = (found for text in texts if "_MOD_" in text for found in _FORTRAN.finditer(text))
    return {found[0]: f"{found[1]}::{found[2]}" for found in fortran} | _demangle_cxx(texts)


def _demangle_cxx(texts: list[str]) -> dict[str, str]:
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
    if "_MOD_" in text:
        text = _FORTRAN.sub(lambda found: readable.get(found[0], found[0]), text)
    return _MANGLED.sub(lambda found: readable.get(found[0], found[0]), text) if "_Z" in text else text
