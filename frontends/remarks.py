"""What a compiler says of the loops that it compiles: neutral data, whoever says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from incc.frontends.kernel import SourceLocation

    RemarkKind = Literal["vectorised", "not-vectorised", "versioned", "unrolled"]


class Remark(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that a compiler said of a loop.

    `said`: in its words. `by`: its pass. `function`: the symbol of the function that it was compiling, "" if it does
    not say; code that was inlined is that function's. `place` and `column`: where it says that the loop is, None and 0
    if it does not. `exact`: the loop in the code is at this very place, else it may be around it or behind it.

    `vector_bytes` and `lanes`: how wide vectors are, whichever it says, else 0. `interleaved`: vectors that an
    iteration works on at a time. `copies`: iterations of which one was made. `why`: the reason, in its words.
    `accesses`: of a dependence between two of them, each as the source writes it or, at least, what it accesses.
    """

    kind: RemarkKind
    said: str
    by: str = ""
    function: str = ""
    place: SourceLocation | None = None
    column: int = 0
    exact: bool = True
    vector_bytes: int = 0
    lanes: int = 0
    interleaved: int = 0
    copies: int = 0
    why: str = ""
    accesses: tuple[str, ...] = ()
