"""Which kernel of one build is which of another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

    from incc.driver.comparison.side import Entry


class Match(NamedTuple):
    """Two kernels that are the same loop of the source: their places among the entries, how they were found, how sure
    that is (0 to 1), and further loops of either side that do a part of the work of the other's one."""

    a: int
    b: int
    by: Literal["content", "identity", "function", "similarity"]
    confidence: float
    parts_a: tuple[int, ...] = ()
    parts_b: tuple[int, ...] = ()


class Matching(NamedTuple):
    """`matches` in the order of b; `only_a`, `only_b`: the entries that are in none of them, nor a part."""

    matches: tuple[Match, ...]
    only_a: tuple[int, ...]
    only_b: tuple[int, ...]


def match(a: Sequence[Entry], b: Sequence[Entry]) -> Matching:
    """Match the kernels of two builds. `match(b, a)` finds the same pairs."""
    raise NotImplementedError
