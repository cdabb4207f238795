"""Variants: sources compiled with several compilers and flags, to nowhere, and analysed for several cores."""

from __future__ import annotations

import pathlib
import shutil
from typing import Any

import pytest

from incc.comparison.types import SideVariant
from incc.driver.sides.analyse import CODE
from incc.driver.sides.variants import run_variants, variants
from incc.report.documents import InputError
from settings_fixtures import settings_with

SOURCE = """\
void scale(float *a, float s, int n)
{
    for (int i = 0; i < n; i++)
        a[i] *= s;
}
"""


@pytest.fixture
def folder(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    (tmp_path / "scale.c").write_text(SOURCE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def needs(*programs: str) -> None:
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"no {program}")


def made(
    compilers: list[str], arguments: list[str], flags: Any = (), mcpus: Any = (), jobs: int = 1, **settings: Any
) -> list[Any]:
    return run_variants(variants(compilers, flags, mcpus, arguments), settings_with(CODE, **settings), jobs)


def refused(compilers: list[str], arguments: list[str], flags: Any = (), mcpus: Any = ()) -> str:
    with pytest.raises(InputError) as error:
        made(compilers, arguments, flags, mcpus)
    assert "\n" not in str(error.value)
    return str(error.value)


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("compilers", "flags", "mcpus", "expected"),
    [
        (["gcc-11", "clang-19"], [], [], ["gcc-11", "clang-19"]),
        (["gcc"], ["-O2", "-O3 -funroll-loops"], ["skylake"], ["-O2", "-O3 -funroll-loops"]),
        (["gcc"], [], ["skylake", "znver4"], ["skylake", "znver4"]),
        (["gcc"], ["", "-O3"], [], ["no flags", "-O3"]),
        (["a", "b"], ["-O2", "-O3"], [], ["a -O2", "a -O3", "b -O2", "b -O3"]),
        (["a", "b"], ["-O3"], ["x", "y"], ["a · x", "a · y", "b · x", "b · y"]),
        (["a"], ["-O1", "-O3"], ["x", "y"], ["-O1 · x", "-O1 · y", "-O3 · x", "-O3 · y"]),
        (["gcc"], [], [], ["gcc"]),
        (["gcc", "gcc"], ["-O2", "-O2"], [], ["gcc"]),
        (["/opt/gcc-11/bin/gcc-11", "/opt/new/clang"], [], [], ["gcc-11", "clang"]),
        (["/opt/old/gcc", "/opt/new/gcc"], [], [], ["/opt/old/gcc", "/opt/new/gcc"]),
        (["ccache gcc", "gcc"], [], [], ["ccache gcc", "gcc"]),
        (["gcc"], ["-DX='a b'", "-DX=1"], [], ["'-DX=a b'", "-DX=1"]),
    ],
)
def test_labels_say_what_differs(compilers: list[str], flags: list[str], mcpus: list[str], expected: list[str]) -> None:
    assert [v.label for v in variants(compilers, flags, mcpus, ["a.c"])] == expected


def test_what_is_no_variant() -> None:
    for compilers in ([], [""], ["gcc", " "]):
        with pytest.raises(InputError, match="no compiler; name one"):
            variants(compilers, [], [], ["a.c"])
    with pytest.raises(InputError, match="no command to compile"):
        variants(["gcc"], [], [], [])
    with pytest.raises(InputError, match="no closing quotation"):
        variants(["gcc"], ["-DX='a"], [], ["a.c"])


# --- compiling --------------------------------------------------------------------------------------------------------


def test_nothing_is_written(folder: pathlib.Path) -> None:
    """Nor is what is there touched, whatever the command asks for."""
    needs("gcc")
    (folder / "scale.o").write_text("mine")
    before = sorted(folder.iterdir())
    arguments = ["-O2", "-c", "scale.c", "-o", "scale.o", "-MMD", "-MF", "scale.d", "-save-temps", "-fdump-tree-all"]
    sides = made(["gcc"], arguments, ["-O1", "-O3 -fopt-info-all=notes"], ["skylake", "znver4"], jobs=2)
    assert [side.info.kernels > 0 for side in sides] == [True] * 4
    assert sorted(folder.iterdir()) == before
    assert (folder / "scale.o").read_text() == "mine"


def test_sides_say_how_they_came_about(folder: pathlib.Path) -> None:
    needs("gcc")
    sides = made(["gcc"], ["-march=skylake", "scale.c"], ["-O1", "-O3"], ["", "znver4"])
    assert [side.info.label for side in sides] == [
        "-O1 · its target",
        "-O1 · znver4",
        "-O3 · its target",
        "-O3 · znver4",
    ]
    assert [side.info.models[0].name for side in sides] == ["skylake", "znver4"] * 2
    assert [side.info.variant for side in sides] == [
        SideVariant(compiler="", flags=["-O1"], mcpu=""),
        SideVariant(compiler="", flags=["-O1"], mcpu="znver4"),
        SideVariant(compiler="", flags=["-O3"], mcpu=""),
        SideVariant(compiler="", flags=["-O3"], mcpu="znver4"),
    ]
    assert sides[2].info.input == "gcc -march=skylake scale.c -O3"
    unit = sides[2].entries[0].unit
    assert unit.source == "scale.c"
    assert unit.command == ["gcc", "-march=skylake", "scale.c", "-O3"]
    assert sides[0].entries[0].kernel.arithmetic.vector_bits == 0
    assert sides[2].entries[0].kernel.arithmetic.vector_bits >= 128
    assert sides[2].entries[0].instructions()


def test_each_command_is_compiled_once(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("gcc")
    from incc.frontends.gcc_wrapper.session import Compilation

    compiled: list[list[str]] = []
    alone = Compilation.assembly_alone

    def counted(self: Compilation) -> Any:
        compiled.append(self.arguments)
        return alone(self)

    monkeypatch.setattr(Compilation, "assembly_alone", counted)
    made(["gcc"], ["-O2", "scale.c"], [], ["skylake", "znver3", "znver4"])
    assert compiled == [["-O2", "scale.c"]]


def test_sources_of_one_command_in_its_order(folder: pathlib.Path) -> None:
    needs("gcc")
    (folder / "other.c").write_text(SOURCE.replace("scale", "other"))
    (side,) = made(["gcc"], ["-O1", "other.c", "scale.c"], [], ["skylake"])
    assert [entry.unit.source for entry in side.entries] == ["other.c", "scale.c"]


def test_modules_of_earlier_sources(folder: pathlib.Path) -> None:
    needs("gfortran")
    (folder / "m.f90").write_text("module m\n  real :: s = 2\nend module\n")
    text = "subroutine f(a, n)\n  use m\n  integer :: n, i\n  real :: a(n)\n  do i = 1, n\n    a(i) = s*a(i)\n"
    (folder / "u.f90").write_text(f"{text}  end do\nend subroutine\n")
    (side,) = made(["gfortran"], ["-O1", "-c", "m.f90", "u.f90"], [], ["skylake"])
    assert [entry.kernel.function for entry in side.entries] == ["f_"]
    assert sorted(path.name for path in folder.iterdir()) == ["m.f90", "scale.c", "u.f90"]


def test_a_compiler_that_fails_has_a_problem(folder: pathlib.Path) -> None:
    needs("gcc")
    text = "#ifdef BAD\n#error not with this\n#endif\n"
    (folder / "scale.c").write_text(text + SOURCE)
    good, bad, none = made(["gcc"], ["scale.c"], ["-O2", "-DBAD", "-O2 -fno-such-option"], ["skylake"])
    assert good.info.problem == ""
    assert good.entries
    assert bad.info.problem.endswith("error: #error not with this")
    assert not bad.entries
    assert "-fno-such-option" in none.info.problem or "no-such-option" in none.info.problem
    good, missing = made(["gcc", "no-such-gcc"], ["-O2", "scale.c"], [], ["skylake"])
    assert good.entries
    assert missing.info.problem == "no-such-gcc: no such compiler in PATH"


def test_where_nothing_comes_of_any(folder: pathlib.Path) -> None:
    needs("gcc")
    nothing = "the command compiles nothing: there is no source, or an option forbids it"
    assert refused(["gcc"], ["-E", "scale.c"]) == nothing
    assert refused(["gcc"], ["--version"]) == nothing
    assert refused(["gcc"], ["-O3"]) == nothing
    (folder / "scale.o").write_bytes(b"")
    assert refused(["gcc"], ["scale.o"]) == nothing
    assert "nix.c: No such file or directory" in refused(["gcc"], ["-O3", "nix.c"])
    assert "standard input, which can be read only once" in refused(["gcc"], ["-xc", "-"])
    assert "-flto" in refused(["gcc"], ["-O2", "-flto", "scale.c"])
    assert refused(["gcc"], ["-O2", "scale.c"], [], ["no-such-core"]).startswith(
        "no machine model named 'no-such-core'"
    )
    assert refused(["nix-a", "nix-b"], ["scale.c"]) == (
        "nix-a: no such compiler in PATH; nix-b: no such compiler in PATH"
    )


def test_clang_says_it_in_its_words(folder: pathlib.Path) -> None:
    needs("clang-19")
    nothing = "the command compiles nothing: there is no source, or an option forbids it"
    assert refused(["clang-19"], ["-E", "scale.c"]) == nothing
    assert "no such file or directory: 'nix.c'" in refused(["clang-19"], ["-O3", "nix.c"])
    assert "unknown target CPU 'nix'" in refused(["clang-19"], ["-march=nix", "scale.c"])
    before = sorted(folder.iterdir())
    (side,) = made(["clang-19"], ["-O2", "-c", "scale.c", "-MD", "-MJ", "x.json", "-ftime-trace"], [], ["skylake"])
    assert side.entries
    assert sorted(folder.iterdir()) == before
