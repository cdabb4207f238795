"""The CPUID features, by iced-x86's names, of LLVM's processors.

LLVM has no feature for instructions that every processor of 64 bits has, nor for most of those that only systems use;
the ones listed here are written by compilers anyway, or have figures in its scheduling models.
"""

from __future__ import annotations

from collections.abc import Iterable

# Features of every 64-bit processor; `endbr64` and multi-byte nops do nothing on processors without them.
_ALWAYS = (
    "INTEL8086 INTEL186 INTEL286 INTEL386 INTEL486 X64 CPUID MULTIBYTENOP PAUSE FPU FPU287 FPU387 SYSCALL SEP MSR TSC "
    "RDPMC MONITOR CLFSH CET_IBT RDTSCP CX8 CMOV"
)

# LLVM's name: iced-x86's, where they differ by more than case, "-", "." and "_" ("AVX512_VNNI" and "avx512vnni").
_OTHER = {
    "bmi": "BMI1",
    "cx16": "CMPXCHG16B",
    "kl": "KL AESKLE",
    "mwaitx": "MONITORX",
    "pclmul": "PCLMULQDQ",
    "prefetchi": "PREFETCHITI",
    "prfchw": "PREFETCHW",
    "rdrnd": "RDRAND",
    "rtm": "RTM HLE_OR_RTM",
    "shstk": "CET_SS",
    "x87": "FPU",
}


def features_of(names: Iterable[str], all_names: Iterable[str]) -> frozenset[str]:
    """Return iced-x86's names, out of `all_names`, for a processor's features in LLVM (`names`)."""
    plain = {name.replace("_", ""): name for name in all_names}
    features = set(_ALWAYS.split())
    for name in names:
        if name in _OTHER:
            features.update(_OTHER[name].split())
        elif (other := plain.get(name.upper().replace("-", "").replace(".", ""))) is not None:
            features.add(other)
    return frozenset(features)
