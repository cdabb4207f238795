"""The core that incc runs on: the processor's own number names it, unless its features contradict that.

A virtual machine may report another processor's number, or one that LLVM does not know, and hide features; it cannot
show features that the processor lacks. So a missing feature proves nothing, but a present one proves that the core has
it: a name whose core lacks the feature is wrong, and the core is at least as new as all features that are seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from incc.models.processors import arm

INTEL, AMD = "GenuineIntel", "AuthenticAMD"


class Host(msgspec.Struct, frozen=True, kw_only=True):
    """A processor's report about itself."""

    vendor: str
    """The vendor string of CPUID, "" if unknown."""
    family: int
    """-1 if unknown, likewise model and stepping."""
    model: int
    stepping: int
    name: str
    """LLVM's name for these numbers, "" if unknown."""
    features: frozenset[str]
    """The features that are there, as `feature` spells them."""
    arm: tuple[str, ...] = ()
    """The names of an Arm processor's different cores, the largest first."""


class _Core(msgspec.Struct, frozen=True):
    """A core by LLVM's name."""

    name: str
    vendor: str
    features: frozenset[str]
    """Features that this core has and some other core lacks."""


def feature(name: str) -> str:
    """Return a feature's name in one spelling, from Linux's (avx512_fp16) or LLVM's (avx512fp16, amx-tile)."""
    plain = name.lower().replace("_", "").replace("-", "").replace(".", "")
    return _OTHER_NAMES.get(plain, plain)


_OTHER_NAMES = {"pclmulqdq": "pclmul", "shani": "sha", "abm": "lzcnt", "sse41": "sse41", "avx5124vnniw": "4vnniw"}

# Computing instructions that distinguish cores, oldest core first; of cores of one time servers' first, since the
# number of a processor is most often hidden by a server's virtual machine. `BASE + ...` is what BASE has and more, `-`
# nothing. From Intel's Architecture Instruction Set Extensions Programming Reference (319433), table 1-2, and Software
# Developer's Manual; AMD's CPUID specification and Software Optimization Guides of families 10h to 1Ah.
# test/unit/test_host.py compares those that clang knows with clang's features.
_CORES = """
GenuineIntel
core2           ssse3
penryn          core2 + sse41
nehalem         penryn + sse42 popcnt
westmere        nehalem + pclmul
sandybridge     westmere + avx
ivybridge       sandybridge + f16c
haswell         ivybridge + avx2 bmi2 fma
broadwell       haswell + adx
skylake         broadwell + clflushopt
skylake-avx512  skylake + avx512f avx512bw avx512vl
cascadelake     skylake-avx512 + avx512vnni
cooperlake      cascadelake + avx512bf16
icelake-server  cascadelake + avx512vbmi avx512ifma avx512vbmi2 avx512bitalg gfni vaes vpclmulqdq sha
icelake-client  icelake-server
rocketlake      icelake-server
tigerlake       icelake-server + avx512vp2intersect
bonnell         ssse3
silvermont      westmere
goldmont        westmere + sha clflushopt
goldmont-plus   goldmont
tremont         goldmont-plus + gfni
sapphirerapids  icelake-server + avx512bf16 avx512fp16 amxtile amxint8 amxbf16 avxvnni
alderlake       skylake + gfni vaes vpclmulqdq sha avxvnni
graniterapids   sapphirerapids + amxfp16 prefetchi
sierraforest    alderlake + avxifma avxvnniint8 avxneconvert
arrowlake       sierraforest
lunarlake       arrowlake + avxvnniint16 sha512 sm3 sm4
clearwaterforest lunarlake + prefetchi
diamondrapids   graniterapids + avxifma avxvnniint8 avxneconvert avxvnniint16 sha512 sm3 sm4 amxcomplex amxavx512 \
amxfp8 amxtf32 avx102
AuthenticAMD
k8              -
amdfam10        popcnt sse4a
btver1          ssse3 + amdfam10
bdver1          btver1 + sse41 sse42 pclmul avx
btver2          bdver1 + f16c
bdver2          bdver1 + f16c fma
bdver3          bdver2
bdver4          bdver3 + avx2 bmi2
znver1          bdver4 + adx sha clflushopt
znver2          znver1
znver3          znver2 + vaes vpclmulqdq
znver4          znver3 + avx512f avx512bw avx512vl avx512ifma avx512vbmi avx512vbmi2 avx512vnni avx512bitalg \
avx512bf16 gfni
znver5          znver4 + avx512vp2intersect avxvnni prefetchi
"""


def _cores() -> Iterator[_Core]:
    features_of: dict[str, frozenset[str]] = {}
    vendor = ""
    for line in _CORES.strip().split("\n"):
        name, _, rest = line.partition(" ")
        if not rest:
            vendor = name
            continue
        features: set[str] = set()
        for word in rest.split():
            features |= features_of.get(word, frozenset() if word in "+-" else frozenset((word,)))
        features_of[name] = frozenset(features)
        yield _Core(name, vendor, features_of[name])


def cores() -> list[_Core]:
    """Return the cores that features can distinguish, oldest first."""
    return list(_cores())


def recognise(host: Host) -> tuple[str, str]:
    """Return LLVM's name of the core, "" if unknown; and a clause that names the features that tell it.

    The clause is "" if the features agree with the number that the processor reports.
    """
    if host.arm:
        others = ", ".join(host.arm[1:])
        return host.arm[0], f"the largest core of the host, which also has {others}" if others else ""
    all_cores = cores()
    telling = frozenset[str]().union(*(core.features for core in all_cores))
    seen = host.features & telling
    named = next((core for core in all_cores if core.name == _own_name(host.name)), None)
    numbers = f"family {host.family}, model {host.model}" if host.family >= 0 else "the number it gives itself"
    if named is not None:
        surplus = seen - named.features
        if not surplus:
            return host.name, ""
        vendor = host.vendor or named.vendor
        why = f"{_listed(surplus)}, which {host.name} ({numbers}) does not have"
    elif host.name and not _is_no_core(host.name):
        return host.name, ""  # a core that the table does not have
    else:
        vendor = host.vendor
        surplus = seen
        why = f"no core is known by {numbers}"
    of_vendor = [core for core in all_cores if core.vendor == vendor]
    fitting = [core for core in of_vendor if seen <= core.features]
    if not seen or not fitting:
        return host.name, ""
    # The core with the fewest unseen features: some features may be hidden, but most missing ones do not exist.
    best = min(fitting, key=lambda core: len(core.features))
    if named is None:
        older = frozenset[str]().union(*(core.features for core in of_vendor[: of_vendor.index(best)]))
        why = f"{_listed(seen - older or seen)}; {why}"
    return best.name, f"host recognised by its features: {why}"


def _is_no_core(name: str) -> bool:
    from incc.models.processors.names import is_no_core

    return is_no_core(name)


def _own_name(name: str) -> str:
    """Return the name under which the table has a core."""
    for short, others in _SAME.items():
        if name in others.split():
            return short
    return name


# Cores with the same features as the one in the table.
_SAME = {
    "sapphirerapids": "emeraldrapids",
    "alderlake": "raptorlake meteorlake gracemont",
    "graniterapids": "graniterapids-d",
    "lunarlake": "arrowlake-s arrowlake_s pantherlake",
    "sierraforest": "grandridge",
    "skylake-avx512": "skx",
    "nehalem": "corei7",
    "bonnell": "atom",
    "silvermont": "slm",
    "k8": "k8-sse3 athlon64 athlon64-sse3 athlon-fx opteron opteron-sse3",
    "amdfam10": "barcelona",
}


def _listed(features: Iterable[str]) -> str:
    names = sorted(features)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "")


# --- the processor that this runs on ----------------------------------------------------------------------------------


def cpuinfo() -> str:
    """Return what Linux reports about the first processor, about all if these are Arm's; "" if it reports nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            start = file.read(16384)
            # The cores of an Arm processor may differ.
            return start + file.read(1 << 20) if "CPU implementer" in start else start.partition("\n\n")[0]
    except OSError:
        return ""


def lasting(text: str) -> str:
    """Return the lines of `cpuinfo` that never change."""
    return "\n".join([line for line in text.split("\n") if not line.startswith(("cpu MHz", "bogomips", "BogoMIPS"))])


def read(text: str | None = None) -> Host:
    """Return what this processor reports through LLVM and, on Linux, the kernel.

    `text` is the result of `cpuinfo` if that was read already.
    """
    name = ""
    features: set[str] = set()
    try:
        from llvmlite import binding

        llvm_name = binding.get_host_cpu_name()
        name = llvm_name if isinstance(llvm_name, str) else ""
        features |= {feature(n) for n, there in binding.get_host_cpu_features().items() if there}
    except (ImportError, OSError, RuntimeError):  # not there, or LLVM cannot tell
        pass
    return from_cpuinfo(cpuinfo() if text is None else text, name, features)


def from_cpuinfo(text: str, name: str, features: Iterable[str] = ()) -> Host:
    """Return a processor from its part of Linux's /proc/cpuinfo (may be ""), and what LLVM reports."""
    cpuinfo = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.split("\n"))}
    numbers = [int(n) if (n := cpuinfo.get(key, "")).isdigit() else -1 for key in ("cpu family", "model", "stepping")]
    flags = {feature(flag) for flag in cpuinfo.get("flags", "").split()}
    family, model, stepping = numbers
    return Host(
        vendor=cpuinfo.get("vendor_id", ""),
        family=family,
        model=model,
        stepping=stepping,
        name=name,
        features=frozenset(flags | set(features)),
        arm=tuple(arm.cores(text)),
    )
