"""Which core this runs on: by the number that the processor gives itself, unless its features say that it is another.

A virtual machine may give another processor's number, or one that LLVM does not know, and hide features; it cannot show
features that the processor lacks. So a feature that is missing proves nothing, while one that is there proves that the
core has it: a name whose core lacks it is wrong, and the core is at least so new that it has all of what is seen.
"""

from __future__ import annotations

from incc.frontends.records import NamedTuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

INTEL, AMD = "GenuineIntel", "AuthenticAMD"


class Host(NamedTuple):
    """What a processor says of itself.

    `vendor`: as CPUID has it, "" if unknown; `family`, `model`, `stepping`: numbers, -1 if unknown; `name`: LLVM's for
    them, "" if unknown; `features`: those that are there, as `feature` spells them.
    """

    vendor: str
    family: int
    model: int
    stepping: int
    name: str
    features: frozenset[str]


class _Core(NamedTuple):
    """A core by LLVM's name. `features`: those of `_TELLING` that it has, and that those before it may lack."""

    name: str
    vendor: str
    features: frozenset[str]


def feature(name: str) -> str:
    """A feature's name in one spelling, whoever gave it: Linux (avx512_fp16) or LLVM (avx512fp16, amx-tile)."""
    plain = name.lower().replace("_", "").replace("-", "").replace(".", "")
    return _OTHER_NAMES.get(plain, plain)


_OTHER_NAMES = {"pclmulqdq": "pclmul", "shani": "sha", "abm": "lzcnt", "sse41": "sse41", "avx5124vnniw": "4vnniw"}

# What each core has of the computing instructions that tell cores apart, oldest first and of the cores of one time
# servers' first, since what hides the number of a processor is most often a server's virtual machine. `BASE + ...` is
# what BASE has and more, `-` nothing of them. From Intel's Architecture Instruction Set Extensions Programming
# Reference (319433), table 1-2, and Software Developer's Manual; AMD's CPUID specification and Software Optimization
# Guides of families 10h to 1Ah. Those that clang knows are held against what it says of them (test/unit/test_host.py).
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
    known: dict[str, frozenset[str]] = {}
    vendor = ""
    for line in _CORES.strip().split("\n"):
        name, _, rest = line.partition(" ")
        if not rest:
            vendor = name
            continue
        features: set[str] = set()
        for word in rest.split():
            features |= known.get(word, frozenset() if word in "+-" else frozenset((word,)))
        known[name] = frozenset(features)
        yield _Core(name, vendor, known[name])


def cores() -> list[_Core]:
    """The cores that features can tell, oldest first."""
    return list(_cores())


def recognise(host: Host) -> tuple[str, str]:
    """LLVM's name of the core, "" if nothing tells it; and a clause that says which features tell it, "" where they
    agree with the number that the processor gives itself."""
    known = cores()
    telling = frozenset[str]().union(*(core.features for core in known))
    seen = host.features & telling
    named = next((core for core in known if core.name == _own_name(host.name)), None)
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
    of_vendor = [core for core in known if core.vendor == vendor]
    fitting = [core for core in of_vendor if seen <= core.features]
    if not seen or not fitting:
        return host.name, ""
    # That has the least which is not seen: what is missing may be hidden, but most of it will not be there.
    found = min(fitting, key=lambda core: len(core.features))
    if named is None:
        older = frozenset[str]().union(*(core.features for core in of_vendor[: of_vendor.index(found)]))
        why = f"{_listed(seen - older or seen)}; {why}"
    return found.name, f"host recognised by its features: {why}"


def _is_no_core(name: str) -> bool:
    from incc.models.processors.names import is_no_core  # few hosts have such a name

    return is_no_core(name)


def _own_name(name: str) -> str:
    """The name under which the table has a core."""
    for short, others in _SAME.items():
        if name in others.split():
            return short
    return name


# Cores that have the same features as the one that the table names.
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
    """What Linux says of the first processor, "" where it says nothing."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return file.read(16384).partition("\n\n")[0]
    except OSError:
        return ""


def lasting(text: str) -> str:
    """That of it which is the same whenever one asks."""
    return "\n".join([line for line in text.split("\n") if not line.startswith(("cpu MHz", "bogomips"))])


def read(text: str | None = None) -> Host:
    """What this processor says of itself, through LLVM and, on Linux, the kernel (`text`, if `cpuinfo` was called
    already). Unknown is what neither says."""
    name = ""
    features: set[str] = set()
    try:
        from llvmlite import binding

        found = binding.get_host_cpu_name()
        name = found if isinstance(found, str) else ""
        features |= {feature(n) for n, there in binding.get_host_cpu_features().items() if there}
    except (ImportError, OSError, RuntimeError):  # not there, or LLVM cannot tell
        pass
    return from_cpuinfo(cpuinfo() if text is None else text, name, features)


def from_cpuinfo(text: str, name: str, features: Iterable[str] = ()) -> Host:
    """A processor from its part of Linux's /proc/cpuinfo (may be ""), and what LLVM says of it."""
    said = {key.strip(): value.strip() for key, _, value in (line.partition(":") for line in text.split("\n"))}
    numbers = [int(n) if (n := said.get(key, "")).isdigit() else -1 for key in ("cpu family", "model", "stepping")]
    flags = {feature(flag) for flag in said.get("flags", "").split()}
    family, model, stepping = numbers
    return Host(said.get("vendor_id", ""), family, model, stepping, name, frozenset(flags | set(features)))
