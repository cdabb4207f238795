"""The loops that stream through arrays, for each instruction set.

Each loop goes through up to four arrays of doubles, in steps of UNROLL bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Protocol

import msgspec

from incc.frontends.kernel import KernelCode
from incc.measuring.streams import aarch64, x86

UNROLL = 256
"""Bytes of each array that an iteration goes through."""
LINE = 64
"""Bytes of a cache line."""


class _Texts(Protocol):
    """The loops of an instruction set."""

    def widths(self, features: Collection[str], scalable: int) -> list[int]: ...

    def inclusive(self) -> dict[str, bool]: ...

    def loop(self, name: str, bits: int, non_temporal: bool, arrays: int, unroll: int) -> str: ...

    def function(self, loop: str, bits: int, non_temporal: bool) -> bytes: ...

    def kernel(self, loop: str, title: str) -> KernelCode: ...


_TEXTS: dict[str, _Texts] = {"x86": x86, "aarch64": aarch64}

_ARRAYS = {"load": 1, "store": 1, "copy": 2, "update": 1, "triad": 3, "schoenauer": 4}
"""The number of arrays of each loop. Stores are to the first one."""
NAMES = tuple(_ARRAYS)
"""The names of the loops."""
NON_TEMPORAL = ("store", "copy")
"""The loops that are also measured with non-temporal stores."""


class StreamLoop(msgspec.Struct, frozen=True, order=True):
    """A loop that streams through arrays."""

    name: str
    """One of NAMES."""
    bits: int
    """The width of its loads and stores."""
    non_temporal: bool = False
    """True if its stores bypass the caches."""

    @property
    def title(self) -> str:
        """Its name for tables."""
        return f"{self.name}{' (nt)' if self.non_temporal else ''}"

    @property
    def arrays(self) -> int:
        """The number of its arrays."""
        return _ARRAYS[self.name]

    def kernel(self, isa: str) -> KernelCode:
        """Return the loop for an instruction set."""
        return _TEXTS[isa].kernel(self.text(isa), self.title)

    def function(self, isa: str) -> bytes:
        """Return the machine code of a function of the arrays' addresses and the number of iterations."""
        return _TEXTS[isa].function(self.text(isa), self.bits, self.non_temporal)

    def text(self, isa: str) -> str:
        """Return the loop as assembly text."""
        return _TEXTS[isa].loop(self.name, self.bits, self.non_temporal, self.arrays, UNROLL)


def widths(isa: str, features: Collection[str], scalable: int) -> list[int]:
    """Return the widths of vectors that a processor has.

    Args:
        isa: Its instruction set.
        features: Its features (`measuring.forms.target`).
        scalable: The bits of its scalable vectors, if it has some.
    """
    return _TEXTS[isa].widths(features, scalable)


def inclusive(isa: str) -> dict[str, bool]:
    """Return for each cache of this machine whether it has copies of all lines that caches closer to the core hold.

    Caches of which the processor, of this instruction set, does not say it are left out.
    """
    return _TEXTS[isa].inclusive()


def loops(bits: Collection[int]) -> Iterator[StreamLoop]:
    """Yield the loops for widths of vectors."""
    for width in bits:
        for name in NAMES:
            yield StreamLoop(name, width)
        for name in NON_TEMPORAL:
            yield StreamLoop(name, width, True)
