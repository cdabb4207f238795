"""What is known of compilers' flags: which are in use, and which are advised."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.unit import Unit
from incc.report.hints.advice import ANY, ASSEMBLY, CLANG, GCC, REMEDIES, CompilerCall, advise, read_build
from properties import examples

NAMES = tuple(dict.fromkeys(remedy.name for remedy in REMEDIES))
COMPILERS = [("gcc", "12.2.0"), ("gcc-11", "11.3.0"), ("clang-19", "19.1.7"), ("clang-14", "14.0.6")]
SWITCHES = [
    "fast-math",
    "unsafe-math-optimizations",
    "associative-math",
    "signed-zeros",
    "trapping-math",
    "finite-math-only",
    "math-errno",
    "reciprocal-math",
    "unroll-loops",
]
LEVELS = ["-O0", "-O1", "-O2", "-O3", "-Os", "-Ofast"]
FLAGS = [*LEVELS, *(f"-f{no}{name}" for name in SWITCHES for no in ("", "no-"))]


def build(*arguments: str, compiler: str = "gcc", version: str = "12.2.0", source: str = "x.c") -> CompilerCall:
    return read_build(
        Unit(
            assembly="",
            assembly_file="x.s",
            source=source,
            compiler=compiler,
            compiler_version=version,
            command=(compiler, *arguments),
        )
    )


def flags(name: str, of: CompilerCall) -> list[str]:
    advice = advise(name, of)
    return list(advice.flags) if advice else []


@pytest.mark.parametrize(
    ("compiler", "version", "family", "major"),
    [
        ("gcc", "12.2.0 (Debian 12.2.0-14)", GCC, 12),
        ("x86_64-linux-gnu-g++-13", "13.1.0", GCC, 13),
        ("gfortran", "12.2.0", GCC, 12),
        ("cc", "12.2.0", GCC, 12),
        ("clang++-14", "14.0.6", CLANG, 14),
        ("cc", "Debian clang version 19.1.7 (3~deb12u1)", CLANG, 19),
        ("icx", "2024.1", ANY, 0),
        ("", "", ANY, 0),
    ],
)
def test_families(compiler: str, version: str, family: str, major: int) -> None:
    found = build("-O2", compiler=compiler, version=version)
    assert (found.family, found.version) == (family, major)


def test_reordering_a_sum_takes_three_flags_in_gcc_and_two_in_clang() -> None:
    assert flags("reassociate", build("-O3")) == ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]
    clang = build("-O2", compiler="clang-19", version="19.1.7")
    assert flags("reassociate", clang) == ["-fassociative-math", "-fno-signed-zeros"]


def test_what_is_given_is_not_advised() -> None:
    assert flags("reassociate", build("-O3", "-fno-signed-zeros")) == ["-fassociative-math", "-fno-trapping-math"]
    for given_flags in (["-ffast-math"], ["-Ofast"], ["-funsafe-math-optimizations"]):
        found = build("-O3", *given_flags)
        assert found.reorders
        assert flags("reassociate", found) == []
        assert flags("reciprocal", found) == []
    assert flags("errno", build("-O3", "-ffast-math")) == []
    assert flags("wide-vectors", build("-O3", "-mprefer-vector-width=512")) == []
    assert flags("wide-vectors", build("-O3", "-mprefer-vector-width=256")) == ["-mprefer-vector-width=512"]


def test_the_last_one_wins() -> None:
    assert build("-O3", "-ffast-math").reorders
    assert not build("-O3", "-ffast-math", "-fno-associative-math").reorders
    assert build("-O3", "-fno-associative-math", "-ffast-math").reorders
    assert build("-O0", "-O3").vectorises
    assert not build("-O3", "-O0").optimises
    # gcc's -Ofast is before all others wherever it stands, clang's is where it stands
    assert not build("-fno-associative-math", "-Ofast").reorders
    assert build("-fno-associative-math", "-Ofast", compiler="clang-19", version="19.1.7").reorders


def test_gcc_vectorises_with_o3_and_clang_with_o2() -> None:
    for version in ("11.3.0", "12.2.0"):
        assert not build("-O2", version=version).vectorises
        assert flags("errno", build("-O2", version=version)) == ["-O3", "-fno-math-errno"]
        assert flags("errno", build("-O3", version=version)) == ["-fno-math-errno"]
        assert flags("vectorise", build("-O2", version=version)) == ["-O3"]
        assert flags("vectorise", build("-O2", "-ftree-vectorize", version=version)) == []
        assert flags("vectorise", build("-O3", "-fno-tree-vectorize", version=version)) == ["-ftree-vectorize"]
        assert flags("vectorise", build("-O3", version=version)) == []
    assert flags("errno", build("-O2", compiler="clang-19", version="19.1.7")) == ["-fno-math-errno"]
    assert flags("vectorise", build("-O1", compiler="clang-19", version="19.1.7")) == ["-O3"]


def test_clang_has_no_flag_for_several_accumulators_or_unrolling() -> None:
    clang = build("-O3", "-ffast-math", compiler="clang-19", version="19.1.7")
    assert flags("accumulators", clang) == []
    assert flags("unroll", clang) == []
    expand = ["-funroll-loops", "-fvariable-expansion-in-unroller"]
    more = "--param=max-variable-expansions-in-unroller=4"
    assert flags("accumulators", build("-O3", "-ffast-math")) == [*expand, more]
    for written in ([more], more.split("=", 1)):
        assert flags("accumulators", build("-O3", "-ffast-math", *written)) == expand


def test_flags_that_a_version_does_not_have_are_not_advised() -> None:
    assert flags("align-loops", build("-O2", compiler="clang-12", version="12.0.1")) == []
    assert flags("align-loops", build("-O2", compiler="clang-14", version="14.0.6")) == ["-falign-loops=64"]
    old = build("-O2", compiler="clang-12", version="12.0.1")
    assert flags("vector-functions", old) == []


def test_fortran_has_no_errno() -> None:
    assert flags("errno", build("-O3", compiler="gfortran", source="x.f90")) == []


def test_without_a_compiler_flags_are_those_that_both_have() -> None:
    assert flags("reassociate", ASSEMBLY) == ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]
    assert flags("accumulators", ASSEMBLY) == []
    assert flags("vectorise", ASSEMBLY) == []


def test_words_that_belong_to_another_option() -> None:
    assert not build("-O3", "-o", "-ffast-math").reorders
    assert not build("-O3", "-I", "-Ofast").reorders


def test_march() -> None:
    assert build("-O3").baseline
    assert not build("-O3", "-mavx2").baseline
    assert not build("-O3", "-march=x86-64-v3").baseline
    assert build("-O3").march("skylake") == "-march=skylake"
    assert build("-O3", version="12.2.0").march("znver5") == ""
    assert ASSEMBLY.march("skylake") == ""
    assert (
        read_build(
            Unit(
                assembly="",
                assembly_file="x.s",
                source="x.c",
                compiler="gcc",
                compiler_version="12.2.0",
                command=("gcc",),
            ),
            native=True,
        ).march("znver5")
        == "-march=native"
    )


ARGUMENTS = st.lists(st.sampled_from(FLAGS), max_size=7)


@examples(100)
@given(ARGUMENTS, st.sampled_from(COMPILERS), st.sampled_from(NAMES))
def test_following_advice_leaves_nothing_to_advise(arguments: list[str], compiler: tuple[str, str], name: str) -> None:
    """Nothing is advised that is in use; and what is advised is in use afterwards, whatever stood there before."""
    before = build(*arguments, compiler=compiler[0], version=compiler[1])
    advice = flags(name, before)
    assert not any(before.in_effect(flag) for flag in advice)
    after = build(*arguments, *advice, compiler=compiler[0], version=compiler[1])
    assert all(after.in_effect(flag) for flag in advice)
    assert flags(name, after) == []


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
@examples(25)
@given(ARGUMENTS)
def test_options_are_read_as_gcc_reads_them(arguments: list[str]) -> None:
    asked = ["gcc", *arguments, "-Q", "--help=common", "--help=optimizers"]
    said = subprocess.run(asked, capture_output=True, text=True, check=True).stdout
    by_gcc = {
        name: value == "enabled" for name, value in re.findall(r"^  -f([a-z-]+)\s+\[(enabled|disabled)\]", said, re.M)
    }
    state = build(*arguments).state
    for name in SWITCHES[1:]:
        assert state.get(name, False) == by_gcc[name], name
