"""Names of processors without a model of their own: the model of the nearest core, or the reason why there is none.

Names that compilers, papers and tools give to a core with a model are in its model file (`aliases`). This module has
all other names of gcc (to 15), LLVM (to 22), uops.info and OSACA, so that no name is unknown by accident. The names are
LLVM's and gcc's for -march, -mtune and -mcpu; the vendors' descriptions tell which cores are alike. Every name of an
x86 core leads to a model, however different. Levels of the instruction set and "generic" have no model, except for
users who ask for them (`level`).
"""

from __future__ import annotations

from incc.frontends.isa import isa

# Model, the names of cores that it is nearest to, and the reason as a clause about these cores.
_NEAREST: tuple[tuple[str, str, str], ...] = (
    ("graniterapids", "diamondrapids dmr", "Panther Cove, three generations on; the last server core with a model"),
    ("arrowlake", "pantherlake ptl wildcatlake wcl cougarcove", "Cougar Cove, Lion Cove's next version"),
    ("arrowlake", "novalake nvl coyotecove", "two generations on, and the last core of its line with a model"),
    ("skymont", "clearwaterforest cwf darkmont", "Darkmont, Skymont's next version"),
    ("znver5", "znver6", "the generation after it"),
    (
        "cortex-a72",
        "cortex-a57 a57 cortex-a57.cortex-a53",
        "whose figures the model of the A72 has, as in LLVM, except for floating point",
    ),
    ("cortex-a53", "cortex-a34 cortex-a35", "a smaller core of its line"),
    ("cortex-a55", "cortex-r82 cortex-r82ae", "a core in order of its time"),
    ("cortex-a510", "cortex-a520 cortex-a520ae cortex-a320 c1-nano", "of the line that the Cortex-A510 began"),
    ("thunderx", "octeontx octeontx81 octeontx83 thunderxt88p1", "of the same line"),
    ("falkor", "saphira", "Falkor's next version"),
    ("cortex-a72", "cortex-a73 cortex-a75", "for which LLVM has the figures of the same core"),
    ("cortex-a72", "cortex-a72.cortex-a53", "the larger one of the two cores"),
    (
        "cortex-a72",
        "cortex-a73.cortex-a35 cortex-a73.cortex-a53 cortex-a75.cortex-a55",
        "of whose larger core it is so",
    ),
    ("neoverse-n1", "cortex-a76 cortex-a76ae a76 cortex-a76.cortex-a55", "from which Neoverse N1 was made"),
    ("neoverse-n1", "cortex-a77 cortex-a78 cortex-a78ae cortex-a78c", "of the line from which Neoverse N1 was made"),
    ("neoverse-v1", "cortex-x1 cortex-x1c", "from which Neoverse V1 was made"),
    ("neoverse-v1", "neoverse-512tvb", "for cores with 512 bits of vectors in all, as it has"),
    ("neoverse-n2", "cortex-a710", "from which Neoverse N2 was made"),
    (
        "neoverse-n2",
        "cortex-x2 cortex-a715 cortex-a720 cortex-a720ae cortex-a725 neoverse-n3 n3 c1-pro",
        "of the line from which Neoverse N2 was made",
    ),
    ("neoverse-v2", "cortex-x3", "from which Neoverse V2 was made"),
    (
        "neoverse-v2",
        "cortex-x4 cortex-x925 neoverse-v3 neoverse-v3ae v3 gb10 c1-ultra c1-premium",
        "of the line from which Neoverse V2 was made",
    ),
    ("ampere1", "ampere1a", "a later version of it"),
    ("ampere1b", "ampere1c", "a later version of it"),
    (
        "apple-m1",
        "apple-m2 apple-m3 apple-m4 apple-m5 m2 m3 m4 m5 apple-a15 apple-a16 apple-a17 apple-a18 apple-a19 "
        "apple-latest",
        "a later core of its line",
    ),
    # Cores that no model resembles: the one that does the same work with the instructions that they have.
    (
        "core2",
        "nocona pentium4 pentium4m pentium-4 pentium-4-sse3 prescott",
        "NetBurst, which is like no core with a model; Core 2 came after it",
    ),
    (
        "core2",
        "pentium pentium-mmx pentium2 pentium3 pentium3m pentium-m pentiumpro pentium-ii pentium-iii "
        "pentium-pro pentium-iii-no-xmm-regs yonah lakemont",
        "older than Core 2, the oldest of Intel's out-of-order cores with a model",
    ),
    (
        "bdver2",
        "bdver1",
        "Bulldozer, the version before Piledriver; LLVM has one scheduling model for both",
    ),
    ("bdver2", "bdver3 bdver4", "a later version of Piledriver, whose instructions cost much the same"),
    ("btver2", "btver1", "Bobcat, the core before Jaguar, with the same pipes at half the width for vectors"),
    (
        "znver1",
        "k6 k6-2 k6-3 athlon athlon-tbird athlon-4 athlon-xp athlon-mp k8 k8-sse3 opteron opteron-sse3 athlon64 "
        "athlon64-sse3 athlon-fx amdfam10 barcelona geode",
        "older than all of AMD's cores with a model; of these, Zen is the oldest that was measured",
    ),
    (
        "core2",
        "winchip-c6 winchip2 c3 c3-2 c7 samuel-2 nehemiah esther eden-x2 nano nano-1000 nano-2000 nano-3000 nano-x2",
        "of VIA's line, which has no model; Core 2 is of the same time as the Nano",
    ),
    (
        "haswell",
        "eden-x4 nano-x4 lujiazui yongfeng shijidadao",
        "of the line of VIA and Zhaoxin, which has no model; Haswell's instructions are the nearest to what it has",
    ),
)

_MANY = "a name for many cores, not for one"

# Models for names of many cores, if a user asks for exactly that name: LLVM's scheduler uses the same.
_LEVELS: tuple[tuple[str, str, str], ...] = (
    ("generic-x86-64", "x86-64 x86-64-v2 generic", f"{_MANY}; LLVM takes its model of Sandy Bridge"),
    (
        "generic-x86-64",
        "i386 i486 i586 i686",
        f"{_MANY}; LLVM has no scheduling model of it: this is the one that it takes for x86-64",
    ),
    ("haswell", "x86-64-v3", f"{_MANY}; LLVM takes its model of Haswell"),
    ("skylake-avx512", "x86-64-v4", f"{_MANY}; LLVM takes its model of Skylake's servers"),
)

# Names that are no core, and cores of AArch64 that no model resembles.
_WITHOUT: tuple[tuple[str, str], ...] = (
    (
        "x86-64 x86-64-v2 x86-64-v3 x86-64-v4 i386 i486 i586 i686 generic intel blended",
        _MANY,
    ),
    (
        "generic-armv8-a generic-armv9-a armv8-a armv8.1-a armv8.2-a armv8.3-a armv8.4-a armv8.5-a armv8.6-a armv8.7-a "
        "armv8.8-a armv8.9-a armv8-r armv9-a armv9.1-a armv9.2-a armv9.3-a armv9.4-a armv9.5-a",
        _MANY,
    ),
    (
        "cortex-a65 cortex-a65ae neoverse-e1",
        "a small core out of order, which no model comes close to",
    ),
    (
        "cyclone apple-a7 apple-a8 apple-a9 apple-a10 apple-a11 apple-a12 apple-a13 apple-s4 apple-s5 apple-s6 "
        "apple-s7 apple-s8 apple-s9 apple-s10",
        "an older or smaller core of Apple's than those with a model",
    ),
    (
        "octeontx2 octeontx2t98 octeontx2t96 octeontx2t93 octeontx2f95 octeontx2f95n octeontx2f95mm",
        "a core of Cavium's, which no model comes close to",
    ),
    ("oryon-1", "a core of Qualcomm's, for which LLVM 19 has no figures of common instructions"),
    ("phecda", "a core of Qualcomm's line, which no model comes close to"),
    ("exynos-m1", "a core of Samsung's, which no model comes close to"),
    ("carmel olympus", "a core of NVIDIA's, which no model comes close to"),
    ("emag xgene1 xgene2 fujitsu-monaka hip12", "a core that no model comes close to"),
)


def nearest(name: str) -> tuple[str, str]:
    """Return the model nearest to a core (in lower case) that has none, and the reason; ("", "") for other names."""
    for model, names, why in _NEAREST:
        if name in names.split():
            return model, why
    return "", ""


def level(name: str, code_isa: str = "") -> tuple[str, str]:
    """Return the model for a name of many cores in lower case, and the reason; ("", "") for other names.

    It is for users who ask for exactly that name. If a compiler's target has such a name, code is analysed for the
    host. `code_isa` is the instruction set of the code; without it the names are those of the table.
    """
    own, title = isa(code_isa).generic_core if code_isa else ("", "")
    levels = ((own, "generic", f"{_MANY}; LLVM takes its model of {title}"),) if own else _LEVELS
    for model, names, why in levels:
        if name in names.split():
            return model, why
    return "", ""


def without(name: str) -> str:
    """Return a clause that says why a name in lower case, which compilers know, has no model; "" for other names."""
    for names, why in _WITHOUT:
        if name in names.split():
            return why
    return ""


def is_no_core(name: str) -> bool:
    """Return True for a name of many cores: a level of an instruction set, or a compiler's default."""
    return without(name) == _MANY


def all_names() -> list[tuple[str, str, str]]:
    """Return (name, nearest model or "", reason) of all names in this module, sorted."""
    names_with_models = [(name, model, why) for model, names, why in _NEAREST for name in names.split()]
    return sorted(names_with_models + [(name, "", why) for names, why in _WITHOUT for name in names.split()])
