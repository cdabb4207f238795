"""The loops that stream through arrays, as machine code for x86-64.

Each loop goes through up to four arrays of doubles, in steps of UNROLL bytes. Its pointers are incremented, so that no
address has an index register, which some cores treat as a µop of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

import msgspec

from incc.measuring.assemble import assemble

UNROLL = 256
"""Bytes of each array that an iteration goes through."""
LINE = 64
"""Bytes of a cache line."""

_ARRAYS = ("rdi", "rsi", "rdx", "rcx")
"""The registers of arrays, of which the first one is stored to; a function's arguments have this order."""
_COUNTER = "r8"
_FACTOR = 15
"""The number of the vector register that holds the factor of `update` and `triad`."""

_BODIES = {
    "load": ("vmovapd {0}, {t}",),
    "store": ("{store} {f}, {0}",),
    "copy": ("vmovapd {1}, {t}", "{store} {t}, {0}"),
    "update": ("vmulpd {0}, {f}, {t}", "{store} {t}, {0}"),
    "triad": ("vmulpd {2}, {f}, {t}", "vaddpd {1}, {t}, {t}", "{store} {t}, {0}"),
    "schoenauer": ("vmovapd {2}, {t}", "vmulpd {3}, {t}, {t}", "vaddpd {1}, {t}, {t}", "{store} {t}, {0}"),
}
"""The instructions for one vector: {0} to {3} are its places in the arrays, {t} a register and {f} the factor."""

NAMES = tuple(_BODIES)
"""The names of the loops."""
NON_TEMPORAL = ("store", "copy")
"""The loops that are also measured with non-temporal stores."""
_VECTORS = {128: "xmm", 256: "ymm", 512: "zmm"}


class StreamLoop(msgspec.Struct, frozen=True, order=True):
    """A loop that streams through arrays."""

    name: str
    """One of NAMES."""
    bits: int
    """The width of its loads and stores: 128, 256 or 512."""
    non_temporal: bool = False
    """True if its stores bypass the caches."""

    @property
    def title(self) -> str:
        """Its name for tables."""
        return f"{self.name}{' (nt)' if self.non_temporal else ''}"

    @property
    def arrays(self) -> int:
        """The number of its arrays."""
        return 1 + max(n for n in range(len(_ARRAYS)) if any(f"{{{n}}}" in text for text in _BODIES[self.name]))

    def code(self) -> bytes:
        """Return the machine code of the loop, whose last instruction jumps to its start."""
        return assemble(self._text())

    def function(self) -> bytes:
        """Return the machine code of a function of the arrays' addresses and the number of iterations."""
        one = 0x3FF0_0000_0000_0000
        wide = "vmovddup" if self.bits == 128 else "vbroadcastsd"
        factor = f"movabs ${one}, %rax\nvmovq %rax, %xmm{_FACTOR}\n{wide} %xmm{_FACTOR}, {self._register(_FACTOR)}\n"
        fence = "sfence\n" if self.non_temporal else ""
        return assemble(f"{factor}.p2align 6\n{self._text()}\n{fence}vzeroupper\nret\n")

    def _register(self, number: int) -> str:
        return f"%{_VECTORS[self.bits]}{number}"

    def _text(self) -> str:
        lines = ["0:"]
        for number, offset in enumerate(range(0, UNROLL, self.bits // 8)):
            places = [f"{offset}(%{array})" for array in _ARRAYS]
            store = "vmovntpd" if self.non_temporal else "vmovapd"
            registers = {"t": self._register(number % 8), "f": self._register(_FACTOR), "store": store}
            lines += [text.format(*places, **registers) for text in _BODIES[self.name]]
        lines += [f"add ${UNROLL}, %{array}" for array in _ARRAYS[: self.arrays]]
        return "\n".join([*lines, f"dec %{_COUNTER}", "jnz 0b"])


def widths(features: Collection[str]) -> list[int]:
    """Return the widths of vectors that a processor has, by its features (`measuring.forms.target`)."""
    return [bits for bits, feature in ((128, "AVX"), (256, "AVX2"), (512, "AVX512F")) if feature in features]


def loops(bits: Collection[int]) -> Iterator[StreamLoop]:
    """Yield the loops for widths of vectors."""
    for width in bits:
        for name in NAMES:
            yield StreamLoop(name, width)
        for name in NON_TEMPORAL:
            yield StreamLoop(name, width, True)
