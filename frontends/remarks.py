"""The remarks of a compiler on its loops, in the same form for all compilers."""

from __future__ import annotations

from typing import Literal

import msgspec

from incc.frontends.kernel import SourceLocation

RemarkKind = Literal["vectorised", "not-vectorised", "versioned", "unrolled"]


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """A remark of a compiler on a loop."""

    kind: RemarkKind
    message: str
    """In the compiler's words."""
    by: str = ""
    """The compiler's pass."""
    function: str = ""
    """The symbol of the function that was compiled, into which the loop may have been inlined; "" if unknown."""
    place: SourceLocation | None = None
    """The place of the loop, None if unknown."""
    column: int = 0
    """The column of that place, 0 if unknown."""
    exact: bool = True
    """The loop is at this very place; otherwise it may be around it or behind it."""
    vector_bytes: int = 0
    """The width of vectors in bytes, 0 if unknown."""
    lanes: int = 0
    """The width of vectors in elements, 0 if unknown."""
    interleaved: int = 0
    """The vectors that an iteration works on at a time."""
    copies: int = 0
    """The iterations that were made into one."""
    why: str = ""
    """The reason, in the compiler's words."""
    accesses: tuple[str, ...] = ()
    """The two accesses of a dependence, as the source writes them or at least by the name of the array."""
