"""The loops that stream through arrays, as text for AArch64: of 128 bits with NEON, of more with SVE.

Nobody has measured with them on hardware yet; `test/unit/test_streams_aarch64.py` runs them in an emulator.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Collection

from msgspec.structs import replace

from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.measuring.assemble import AARCH64, assemble

_ARRAYS = ("x0", "x1", "x2", "x3")
_COUNTER = "x4"
_FACTOR = 31
"""The number of the vector register that holds the factor of `update` and `triad`."""
_FIRST = {"t": 0, "u": 16, "v": 24}
"""The first of a vector's registers, of which _GROUP are used in turn; functions must keep 8 to 15."""
_GROUP = 7
_NEON = 128
_MOST = 2048
"""The most bits of a scalable vector."""

_BODIES = {
    "load": ("{load} {t}{z}, {0}",),
    "store": ("{store} {f}, {0}",),
    "copy": ("{load} {t}{z}, {1}", "{store} {t}, {0}"),
    "update": ("{load} {t}{z}, {0}", "fmul {td}, {td}, {fd}", "{store} {t}, {0}"),
    "triad": ("{load} {t}{z}, {1}", "{load} {u}{z}, {2}", "fmla {td}, {merge}{ud}, {fd}", "{store} {t}, {0}"),
    "schoenauer": (
        "{load} {t}{z}, {1}",
        "{load} {u}{z}, {2}",
        "{load} {v}{z}, {3}",
        "fmla {td}, {merge}{ud}, {vd}",
        "{store} {t}, {0}",
    ),
}
"""The instructions for one vector: {0} to {3} are its places in the arrays, {t}, {u} and {v} registers to load, {f} the
factor, {td} … the same as vectors of doubles, and {z} and {merge} belong to SVE's predicate."""
_PAIRS = {"store": ("stnp {f}, {f}, {0}",), "copy": ("ldp {t}, {u}, {1}", "stnp {t}, {u}, {0}")}
"""The instructions for two vectors with NEON's non-temporal stores, which exist for pairs only."""


def widths(features: Collection[str], scalable: int) -> list[int]:
    """Return the widths of vectors, by the bits of scalable vectors; 0 without SVE."""
    return [_NEON, scalable] if scalable > _NEON and _MOST % scalable == 0 else [_NEON]


def scalable_bits() -> int:
    """Return the bits of this process's scalable vectors, 0 without SVE (Linux, "Scalable Vector Extension")."""
    if not sys.platform.startswith("linux"):
        return 0
    get_length, bytes_mask = 51, 0xFFFF
    length: int = ctypes.CDLL(None).prctl(get_length)
    return (length & bytes_mask) * 8 if length > 0 else 0


def inclusive() -> dict[str, bool]:
    """Return nothing: the registers that describe caches do not say which lines these hold."""
    return {}


def loop(name: str, bits: int, non_temporal: bool, arrays: int, unroll: int) -> str:
    """Return a loop that goes through arrays in steps of `unroll` bytes."""
    pairs = non_temporal and bits == _NEON
    lines = ["0:"]
    for number, offset in enumerate(range(0, unroll, bits // 8 * (1 + pairs))):
        texts = _PAIRS[name] if pairs else _BODIES[name]
        lines += [text.format(*_places(offset, bits), **_words(number, bits, non_temporal)) for text in texts]
    lines += [f"add {array}, {array}, #{unroll}" for array in _ARRAYS[:arrays]]
    return "\n".join([*lines, f"subs {_COUNTER}, {_COUNTER}, #1", "b.ne 0b"])


def _places(offset: int, bits: int) -> list[str]:
    place = f"#{offset}" if bits == _NEON else f"#{offset * 8 // bits}, mul vl"
    return [f"[{array}, {place}]" for array in _ARRAYS]


def _words(number: int, bits: int, non_temporal: bool) -> dict[str, str]:
    """Return the registers and mnemonics for the vector of this number."""
    registers = {name: first + number % _GROUP for name, first in _FIRST.items()} | {"f": _FACTOR}
    if bits == _NEON:
        whole, doubles = "q{}", "v{}.2d"
        words = {"load": "ldr", "store": "str", "z": "", "merge": ""}
    else:
        whole, doubles = "{{z{}.d}}, p0", "z{}.d"
        words = {"load": "ld1d", "store": "stnt1d" if non_temporal else "st1d", "z": "/z", "merge": "p0/m, "}
    words |= {name: whole.format(n) for name, n in registers.items()}
    return words | {f"{name}d": doubles.format(n) for name, n in registers.items()}


def function(loop: str, bits: int, non_temporal: bool) -> bytes:
    """Return the machine code of a function with a loop, on AArch64.

    Its arguments are the arrays' addresses and the number of iterations.
    """
    return assemble(text_of_function(loop, bits, non_temporal), AARCH64)


def text_of_function(loop: str, bits: int, non_temporal: bool) -> str:
    """Return the text of that function."""
    factor = (
        f"fmov v{_FACTOR}.2d, #1.0" if bits == _NEON else f".arch_extension sve\nptrue p0.d\nfmov z{_FACTOR}.d, #1.0"
    )
    fence = "dsb st\n" if non_temporal else ""
    return f"{factor}\n.p2align 6\n{loop}\n{fence}ret\n"


def kernel(loop: str, title: str) -> KernelCode:
    """Return a loop for the analysis. It is decoded from its text, since LLVM assembles for this machine only."""
    of_isa = isa("aarch64")
    regions, _ = innermost_loops(parse(loop, of_isa.name))
    (decoded,) = of_isa.decode_regions(loop, regions, title)
    return replace(decoded, name=title, region=None)
