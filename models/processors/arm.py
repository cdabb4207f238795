"""The cores of an Arm processor by the numbers that they give themselves (MIDR_EL1), as Linux lists them.

The numbers are those of Arm's Technical Reference Manuals ("MIDR_EL1, Main ID Register") and of Linux'
arch/arm64/include/asm/cputype.h; the names are LLVM's and gcc's.
"""

from __future__ import annotations

# Implementer, and its parts with the names of cores, from the smallest core to the largest.
_CORES = {
    0x41: """d04 cortex-a35  d03 cortex-a53  d05 cortex-a55  d46 cortex-a510  d80 cortex-a520  d06 cortex-a65
        d43 cortex-a65ae  d4a neoverse-e1  d07 cortex-a57  d08 cortex-a72  d09 cortex-a73  d0a cortex-a75
        d0b cortex-a76  d0e cortex-a76ae  d0c neoverse-n1  d0d cortex-a77  d41 cortex-a78  d42 cortex-a78ae
        d4b cortex-a78c  d47 cortex-a710  d4d cortex-a715  d49 neoverse-n2  d81 cortex-a720  d87 cortex-a725
        d8e neoverse-n3  d44 cortex-x1  d4c cortex-x1c  d40 neoverse-v1  d48 cortex-x2  d4e cortex-x3
        d4f neoverse-v2  d82 cortex-x4  d85 cortex-x925  d84 neoverse-v3  d83 neoverse-v3ae""",
    0x42: "516 thunderx2t99",  # Broadcom, which made it first
    0x43: "0a1 thunderxt88  0af thunderx2t99  0b8 thunderx3t110",
    0x46: "001 a64fx  003 fujitsu-monaka",
    0x48: "d01 tsv110  d02 hip12",
    0x4E: "004 carmel  010 olympus",
    0x51: "c00 falkor  c01 saphira  800 cortex-a73  801 cortex-a73  802 cortex-a75  803 cortex-a75  804 cortex-a76"
    "  805 cortex-a76  001 oryon-1",
    0x61: "022 apple-m1  023 apple-m1  024 apple-m1  025 apple-m1  028 apple-m1  029 apple-m1"
    "  032 apple-m2  033 apple-m2  034 apple-m2  035 apple-m2  038 apple-m2  039 apple-m2",
    0xC0: "ac3 ampere1  ac4 ampere1a  ac5 ampere1b",
}


def cores(cpuinfo: str) -> list[str]:
    """Return the names of the different cores in a text of Linux's /proc/cpuinfo, the largest first.

    A core without a name is named by its numbers; there are no cores in the text of another architecture.
    """
    sizes: dict[str, int] = {}
    implementer = 0
    for line in cpuinfo.split("\n"):
        key, _, value = line.partition(":")
        try:
            if key.strip() == "CPU implementer":
                implementer = int(value, 0)
            elif key.strip() == "CPU part":
                name, size = _name(implementer, int(value, 0))
                sizes[name] = size
        except ValueError:
            continue
    return sorted(sizes, key=lambda name: -sizes[name])


def _name(implementer: int, part: int) -> tuple[str, int]:
    words = _CORES.get(implementer, "").split()
    parts = [int(word, 16) for word in words[::2]]
    if part not in parts:
        return f"implementer {implementer:#x}, part {part:#x}", -1
    return words[2 * parts.index(part) + 1], parts.index(part)
