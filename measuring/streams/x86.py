"""The loops that stream through arrays, as text for x86-64.

Pointers are incremented, so that no address has an index register, which some cores treat as a µop of its own.
"""

from __future__ import annotations

from collections.abc import Collection

from incc.frontends.isa import isa
from incc.frontends.kernel import KernelCode
from incc.measuring.assemble import assemble

_ARRAYS = ("rdi", "rsi", "rdx", "rcx")
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
_VECTORS = {128: "xmm", 256: "ymm", 512: "zmm"}


def widths(features: Collection[str], scalable: int) -> list[int]:
    """Return the widths of vectors, by the processor's features (`measuring.forms.target`)."""
    return [bits for bits, feature in ((128, "AVX"), (256, "AVX2"), (512, "AVX512F")) if feature in features]


def inclusive() -> dict[str, bool]:
    """Return for each cache of data whether it has copies of all lines that caches closer to the core hold."""
    from incc.measuring.streams import cpuid

    return cpuid.inclusive()


def loop(name: str, bits: int, non_temporal: bool, arrays: int, unroll: int) -> str:
    """Return a loop that goes through arrays in steps of `unroll` bytes."""
    lines = ["0:"]
    for number, offset in enumerate(range(0, unroll, bits // 8)):
        places = [f"{offset}(%{array})" for array in _ARRAYS]
        store = "vmovntpd" if non_temporal else "vmovapd"
        registers = {"t": f"%{_VECTORS[bits]}{number % 8}", "f": f"%{_VECTORS[bits]}{_FACTOR}", "store": store}
        lines += [text.format(*places, **registers) for text in _BODIES[name]]
    lines += [f"add ${unroll}, %{array}" for array in _ARRAYS[:arrays]]
    return "\n".join([*lines, f"dec %{_COUNTER}", "jnz 0b"])


def function(loop: str, bits: int, non_temporal: bool) -> bytes:
    """Return the machine code of a function with a loop.

    Its arguments are the arrays' addresses and the number of iterations.
    """
    one = 0x3FF0_0000_0000_0000
    wide = "vmovddup" if bits == 128 else "vbroadcastsd"
    factor = f"movabs ${one}, %rax\nvmovq %rax, %xmm{_FACTOR}\n{wide} %xmm{_FACTOR}, %{_VECTORS[bits]}{_FACTOR}\n"
    fence = "sfence\n" if non_temporal else ""
    return assemble(f"{factor}.p2align 6\n{loop}\n{fence}vzeroupper\nret\n")


def kernel(loop: str, title: str) -> KernelCode:
    """Return a loop for the analysis."""
    return isa("x86").decode_bytes(assemble(loop), title, True, False)
