"""The compiler flags for each hint, by compiler, and the flags that are already in use.

The only table, `REMEDIES`, follows from the results of `bench/hints.py`: with `--all` it also tries the rows that do
not pay, and `--check` fails if a row contradicts its results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.isa import isa, names

if TYPE_CHECKING:
    from incc.frontends.unit import Unit

GCC, CLANG, ANY = "gcc", "clang", ""
"""Families of compilers; gcc includes g++ and gfortran. ANY: unknown, since the input is assembly."""


class CompilerCall(msgspec.Struct, frozen=True, kw_only=True):
    """The compilation of a unit, according to its compiler's name, version and command."""

    family: str = ANY
    version: int = 0
    """The major version; 0 if unknown."""
    state: Mapping[str, bool | int | str] = {}
    """The values of the table's options by name: on or off, a number, or a word."""
    baseline: bool = False
    """True if no option allows more than the instruction set's baseline."""
    target: str = ""
    """The core that the options name, "native" for the host; empty if none."""
    native: bool = False
    """True if the analysis is for the host."""
    fortran: bool = False
    """True if the source is Fortran."""
    isa: str = ""
    """The code's instruction set; "" if unknown."""

    def march(self, core: str) -> str:
        """Return the option that enables a core's instructions; "" if there is none or the compiler lacks it."""
        if self.family == ANY:
            return ""
        option = isa(self.isa or names()[0]).core_option
        if self.native:
            return f"{option}=native"
        least = _MARCH.get(core)
        return f"{option}={core}" if least and self.version >= least[self.family == CLANG] else ""

    def lacks(self, flag: str) -> bool:
        """Return True if compilers for the instruction set lack a flag."""
        return flag in isa(self.isa or names()[0]).lacking_options

    def in_effect(self, flag: str) -> bool:
        """Return True if a flag would change nothing, since it or one that implies it is in use."""
        if flag == "-O3":
            return self.state.get("level") in ("3", "fast")
        name, value = _read(flag)
        now = self.state.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return isinstance(now, int) and now >= value
        return now == value

    @property
    def optimises(self) -> bool:
        """True if the compiler was told to optimise, or if this is unknown."""
        return self.family == ANY or self.state["level"] not in ("0", "g")

    @property
    def vectorises(self) -> bool:
        """True if the compiler vectorises loops of unknown length where that pays."""
        level, tree = self.state.get("level", "3"), self.state.get("tree-vectorize")
        if self.family == ANY:
            return True
        if self.family == CLANG:
            return level not in ("0", "1", "g", "z") and tree is not False
        if tree is False or level in ("0", "g"):
            return False
        if level in ("3", "fast"):
            return self.state.get("vect-cost-model", "dynamic") in ("dynamic", "unlimited")
        # From gcc 12 on, -O2 vectorises if the code does not grow, by a cost model of its own; -ftree-vectorize selects
        # that of -O3 (GCC 12 release notes, “General Improvements”).
        return bool(tree) and self.state.get("vect-cost-model", "dynamic") in ("dynamic", "unlimited")

    @property
    def prefers_256(self) -> bool:
        """True if the compiler prefers vectors of 256 bits although wider ones are allowed.

        That is what their tunings for Intel's cores do, and clang's for levels of x86-64 (GCC's x86-tune.def,
        avx256_optimal; LLVM's X86.td, TuningPrefer256Bit).
        """
        return not self.target.startswith("znver") and (self.family == CLANG or not self.target.startswith("x86-64"))

    @property
    def reorders(self) -> bool:
        """True if the compiler may reorder sums."""
        needed = ["-fassociative-math", "-fno-signed-zeros"]
        if self.family == GCC:
            needed.append("-fno-trapping-math")  # without it gcc ignores the first one
        return all(self.in_effect(flag) for flag in needed)


ASSEMBLY = CompilerCall()
"""The build of assembly input."""


class Remedy(msgspec.Struct, frozen=True):
    """Flags that follow a hint's advice, for some families of compilers."""

    name: str
    """The remedy's name."""
    families: tuple[str, ...]
    """GCC, CLANG, and ANY for flags that work in both."""
    flags: tuple[str, ...]
    """All flags that it takes."""
    least: int = 0
    """The first major version of a known compiler that has them."""
    vectorises: bool = False
    """True if they help by vectorisation."""
    changes: str = ""
    """Their possible effect on results; empty for none."""
    pays: bool = True
    """True if they are advised, False if they gained nothing."""


ROUNDING = "may change rounding"
NANS = "wrong for NaN and infinity"
OVERFLOW = "wrong for infinity and overflow"
_REORDER = ("-fassociative-math", "-fno-signed-zeros")
_EXTREMUM = ("-ffinite-math-only", "-fno-signed-zeros")
_EXPAND = ("-funroll-loops", "-fvariable-expansion-in-unroller", "--param=max-variable-expansions-in-unroller=4")

_BOTH = (GCC, CLANG)
_ALL = (GCC, CLANG, ANY)

REMEDIES = (
    # Sums in another order. gcc ignores -fassociative-math, with a warning, without both of the other flags.
    Remedy("reassociate", (GCC, ANY), (*_REORDER, "-fno-trapping-math"), vectorises=True, changes=ROUNDING),
    Remedy("reassociate", (CLANG,), _REORDER, vectorises=True, changes=ROUNDING),
    Remedy("reassociate", _BOTH, ("-fassociative-math",), vectorises=True, changes=ROUNDING, pays=False),
    Remedy("reassociate", (GCC,), _REORDER, vectorises=True, changes=ROUNDING, pays=False),
    # Several sums: gcc makes two unless a parameter requests more. clang has no such flag, and makes four by itself.
    # Sums of fused multiply-adds need -funsafe-math-optimizations, not only the flags that reorder a sum.
    Remedy("accumulators", (GCC,), ("-funsafe-math-optimizations", *_EXPAND), changes=ROUNDING),
    Remedy("accumulators", (GCC,), (*_REORDER, "-fno-trapping-math", "-funroll-loops"), changes=ROUNDING, pays=False),
    Remedy("accumulators", (CLANG,), ("-funroll-loops",), pays=False),
    # A reciprocal for an invariant divisor. With -freciprocal-math alone gcc replaces only several divisions by one
    # value; in a loop it needs -funsafe-math-optimizations itself, not only the flags that this implies.
    Remedy("reciprocal", (GCC, ANY), ("-funsafe-math-optimizations",), changes=ROUNDING),
    Remedy("reciprocal", (GCC,), ("-freciprocal-math",), changes=ROUNDING, pays=False),
    Remedy("reciprocal", (CLANG,), ("-freciprocal-math",), changes=ROUNDING),
    Remedy("errno", _ALL, ("-fno-math-errno",), vectorises=True, changes="functions no longer set errno"),
    # glibc's headers declare its vector functions under -ffast-math; clang needs the name of the library as well.
    Remedy("vector-functions", (GCC,), ("-ffast-math",), vectorises=True, changes=f"{ROUNDING}, {NANS}"),
    Remedy("vector-functions", (CLANG,), ("-ffast-math",), vectorises=True, changes=ROUNDING, pays=False),
    Remedy(
        "vector-functions",
        (CLANG,),
        ("-ffast-math", "-fveclib=libmvec"),
        least=14,
        vectorises=True,
        changes=f"{ROUNDING}, {NANS}",
    ),
    # Products of complex numbers without a test for NaN and a call that corrects infinities.
    Remedy("complex", (GCC,), ("-fcx-limited-range",), vectorises=True, changes=OVERFLOW),
    Remedy("complex", (CLANG,), ("-fcx-limited-range",), least=18, vectorises=True, changes=OVERFLOW),
    Remedy("extremum", _ALL, _EXTREMUM, vectorises=True, changes=NANS),
    Remedy("extremum", _BOTH, ("-ffinite-math-only",), vectorises=True, changes=NANS, pays=False),
    Remedy("vectorise", _BOTH, (), vectorises=True),
    Remedy("optimise", _BOTH, ("-O3",)),
    Remedy("wide-vectors", (GCC,), ("-mprefer-vector-width=512",), least=8),
    Remedy("wide-vectors", (CLANG,), ("-mprefer-vector-width=512",), least=10),
    # Not measured: the number is that of the core.
    Remedy("scalable-vectors", _BOTH, ("-msve-vector-bits=512",), least=10),
    # clang unrolls by default.
    Remedy("unroll", (GCC,), ("-funroll-loops",)),
    Remedy("unroll", (CLANG,), ("-funroll-loops",), pays=False),
    # No known example gains with gcc, which aligns the loops that it considers hot to 16 bytes by itself.
    Remedy("align-loops", (GCC,), ("-falign-loops=64",), pays=False),
    Remedy("align-loops", (CLANG, ANY), ("-falign-loops=64",), least=13),
    Remedy("single-constants", (GCC,), ("-fsingle-precision-constant",), changes=ROUNDING, pays=False),
)
"""The output of `python bench/hints.py --all --markdown` is the reason for every row."""


class Advice(msgspec.Struct, frozen=True):
    """Flags to add."""

    flags: tuple[str, ...]
    changes: str
    """Their possible effect on results; empty for none."""

    @property
    def text(self) -> str:
        """The flags as written in a sentence."""
        return " ".join(self.flags) + (f" ({self.changes})" if self.changes else "")


def both(first: Advice, second: Advice) -> Advice:
    """Return the flags of two remedies that only help together."""
    flags = tuple(dict.fromkeys((*first.flags, *second.flags)))
    return Advice(flags, ", ".join(dict.fromkeys(filter(None, (first.changes, second.changes)))))


def advise(name: str, build: CompilerCall) -> Advice | None:
    """Return the flags of a remedy that are not in use; None if there are none, or none that help."""
    return next((_advice(remedy, build) for remedy in _remedies(name, build) if remedy.pays), None)


def tried(name: str, build: CompilerCall) -> list[Advice]:
    """Return the flags of a remedy that did not help when tried, for benchmarks."""
    return [a for remedy in _remedies(name, build) if not remedy.pays and (a := _advice(remedy, build)) is not None]


def _remedies(name: str, build: CompilerCall) -> list[Remedy]:
    return [remedy for remedy in REMEDIES if remedy.name == name and build.family in remedy.families]


def _advice(remedy: Remedy, build: CompilerCall) -> Advice | None:
    if build.family != ANY and build.version and build.version < remedy.least:
        return None
    if any(build.lacks(flag) for flag in remedy.flags):
        return None
    flags = [flag for flag in remedy.flags if not build.in_effect(flag)]
    changes = remedy.changes if flags else ""
    if (flags or not remedy.flags) and remedy.vectorises and not build.vectorises:
        flags = _vectorise(build) + flags
    return Advice(tuple(flags), changes) if flags else None


def _vectorise(build: CompilerCall) -> list[str]:
    """Return the flags that make a compiler vectorise."""
    if build.state.get("tree-vectorize") is False:
        # A separate option disables it at all levels.
        name = "-ftree-vectorize" if build.family == GCC else "-fvectorize"
        return [*([] if build.state["level"] in ("3", "fast") else ["-O3"]), name]
    return ["-O3"]


# --- the options of a command ----------------------------------------------------------------------------------------


def read_build(unit: Unit, native: bool = False, code_isa: str = "") -> CompilerCall:
    """Return the build of a unit, whose code has this instruction set; `native` if the analysis is for the host."""
    family = _family(unit.compiler, unit.compiler_version)
    if family == ANY or (unit.way == "given" and not unit.source):  # the compiler has only assembled it
        return CompilerCall(isa=code_isa)
    digits = "".join(c if c.isdecimal() else " " for c in unit.compiler_version).split()
    source = unit.source.rpartition(".")[2].lower()
    fortran = source in ("f", "for", "f77", "f90", "f95", "f03", "f08", "ftn")
    arguments = unit.arguments or unit.command[1:]
    machine = [a for a in arguments if a.startswith(("-march=", "-mcpu=", "-mavx", "-mfma", "-msse4", "-mssse3"))]
    target = "native" if any(a in ("-march=native", "-mcpu=native") for a in machine[-1:]) else unit.cpu
    return CompilerCall(
        family=family,
        version=int(digits[0]) if digits else 0,
        state=_state(arguments, family, fortran),
        baseline=not machine and not unit.cpu,
        target=target,
        native=native,
        fortran=fortran,
        isa=code_isa,
    )


# The first versions of gcc and clang with a core under the name of its model (their release notes).
_MARCH = {
    core: versions
    for versions, cores in (
        ((5, 3), "sandybridge ivybridge haswell broadwell"),
        ((6, 4), "skylake skylake-avx512 znver1"),
        ((8, 7), "icelake-client icelake-server"),
        ((9, 8), "cascadelake"),
        ((9, 9), "znver2"),
        ((10, 10), "tigerlake"),
        ((11, 12), "alderlake sapphirerapids znver3"),
        ((11, 13), "rocketlake"),
        ((13, 16), "meteorlake graniterapids znver4"),
        ((14, 19), "znver5"),
        ((5, 5), "cortex-a72"),
        ((7, 5), "thunderx2t99"),
        ((9, 9), "neoverse-n1 tsv110"),
        ((11, 12), "a64fx neoverse-v1 neoverse-n2"),
        ((12, 14), "ampere1"),
        ((13, 16), "neoverse-v2"),
        ((15, 14), "apple-m1"),
    )
    for core in cores.split()
}


def _family(compiler: str, version: str) -> str:
    """Return the family of a compiler from its name or, for `cc`, from its version."""
    for name in (compiler, version):
        if "clang" in name:
            return CLANG
        if any(word in name for word in ("gcc", "g++", "gfortran", "GCC")):
            return GCC
    # gcc's version is a number, followed by the distribution's. Other compilers are not supported under these names.
    return GCC if compiler in ("cc", "c++", "f95", "c99", "c89") and version[:1].isdecimal() else ANY


_SWITCHES = frozenset(
    (
        *("associative-math", "signed-zeros", "trapping-math", "finite-math-only", "math-errno", "reciprocal-math"),
        *("unsafe-math-optimizations", "fast-math", "tree-vectorize", "unroll-loops", "single-precision-constant"),
        "variable-expansion-in-unroller",
        "cx-limited-range",
    )
)
_WORDS = {"-fvect-cost-model": "vect-cost-model", "-fveclib": "veclib"}
_NUMBERS = {
    "-mprefer-vector-width": "vector-width",
    "-msve-vector-bits": "sve-vector-bits",
    "-falign-loops": "align-loops",
}
_EXPANSIONS = "--param=max-variable-expansions-in-unroller"
_OTHER_NAMES = {"-fvectorize": "-ftree-vectorize", "-fno-vectorize": "-fno-tree-vectorize"}
_LEVELS = ("0", "1", "2", "3", "s", "z", "g", "fast")
# The word after one of these options is its argument.
_TAKES_NEXT = frozenset(("-o", "-D", "-U", "-I", "-include", "-isystem", "-MF", "-MT", "-MQ", "-x", "-Xlinker"))

_UNSAFE = {
    "unsafe-math-optimizations": True,
    "associative-math": True,
    "reciprocal-math": True,
    "signed-zeros": False,
    "trapping-math": False,
}
_FAST = {**_UNSAFE, "finite-math-only": True, "math-errno": False, "cx-limited-range": True}
_GROUPS = {"fast-math": _FAST, "unsafe-math-optimizations": _UNSAFE}


def _read(flag: str) -> tuple[str, bool | int | str]:
    """Return an option's name and its value; "" for an option that the table does not need."""
    flag = _OTHER_NAMES.get(flag, flag)
    name, equals, value = flag.partition("=")
    if equals:
        if flag.startswith(_EXPANSIONS):
            name, value = "expansions", value.rpartition("=")[2]
            return name, int(value) if value.isdecimal() else 0
        if name in _NUMBERS:
            value = value.partition(":")[0]
            return _NUMBERS[name], int(value) if value.isdecimal() else 0
        return _WORDS.get(name, ""), value
    on = not flag.startswith("-fno-")
    name = flag[2 if on else 5 :]
    return (name, on) if flag.startswith("-f") and name in _SWITCHES else ("", "")


def _state(arguments: Sequence[str], family: str, fortran: bool) -> dict[str, bool | int | str]:
    """Return the values of options after all arguments; the last one wins.

    The exception is gcc's -Ofast, which is applied before all others regardless of its position (GCC's opts.c,
    default_options_optimization); clang's is applied in its position.
    """
    words = [a for n, a in enumerate(arguments) if n == 0 or arguments[n - 1] not in _TAKES_NEXT]
    words = [f"--param={b}" if a == "--param" else b for a, b in zip(["", *words], words, strict=False)]
    levels = [word[2:] for word in words if word.startswith("-O")]
    level = levels[-1] if levels else "0"
    state: dict[str, bool | int | str] = {
        "level": {"": "1"}.get(level, level if level in _LEVELS else "3"),
        "signed-zeros": True,
        "trapping-math": True,
        "math-errno": not fortran,
        "expansions": 1,
    }
    if level == "fast" and family == GCC:
        state.update(_FAST)
    for word in words:
        if word == "-Ofast" and level == "fast" and family == CLANG:
            word = "-ffast-math"
        name, value = _read(word)
        if name in _GROUPS:
            state.update(_GROUPS[name] if value else {key: not on for key, on in _GROUPS[name].items()})
        elif name:
            state[name] = value
    state["fast-math"] = all(state.get(name, False) == value for name, value in _FAST.items())
    return state
