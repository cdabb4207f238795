"""Marked assembly of every compiler at hand: llvm-mca reads it whole, and assemblers make the same object of it."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from incc.driver.pipeline import find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.asm.markers import insert_markers
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import marked_regions
from incc.frontends.gcc_wrapper.compile import compile_units

SOURCES = Path(__file__).parent / "data" / "marked"
OF_LANGUAGE = {
    "loops.c": ("gcc", "gcc-11", "clang-19", "clang-14"),
    "templates.cpp": ("g++", "clang++-19", "clang++-14"),
    "arrays.f90": ("gfortran",),
}
COMPILERS = [(cc, source) for source, compilers in OF_LANGUAGE.items() for cc in compilers]
LEVELS = ("-O3 -g -march=skylake-avx512", "-O1", "-Os -g3", "-O2 -g1 -ffast-math", "-O2 -gdwarf-4")
OSACA, IACA = "osaca", "iaca"


# One level of some compilers in every run, the others where there is time.
OFTEN = ("gcc", "clang-19", "gfortran")
CASES = [
    pytest.param(f"{cc} {level}", marks=[pytest.mark.long] if n or cc not in OFTEN else [])
    for cc, _ in COMPILERS
    for n, level in enumerate(LEVELS)
]


@pytest.fixture(scope="module", params=CASES)
def assembly(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    """What the wrapper gets from a compiler."""
    cc, *options = request.param.split()
    if shutil.which(cc) is None:
        pytest.skip(f"no {cc}")
    source = next(source for name, source in COMPILERS if name == cc)
    folder = tmp_path_factory.mktemp("made")
    compiled = compile_units([cc, *options, "-c", str(SOURCES / source), "-o", str(folder / "out.o")], capture=True)
    (unit,) = compiled.units
    regions, _ = find_regions(read_assembly(unit), Scope(regions="loops"))
    assert len(regions) > 1
    return unit.assembly


def marked(text: str, dialect: str) -> tuple[str, int]:
    """The text with markers, and how many regions it has."""
    from incc.frontends.asm.regions import innermost_loops

    regions, _ = innermost_loops(parse(text))
    return insert_markers(text, regions, dialect), len(regions)


def run(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("llvm-mca-19") is None, reason="no llvm-mca-19")
@pytest.mark.parametrize("dialect", ["llvm-mca", "all"])
def test_llvm_mca_reads_all_regions(assembly: str, dialect: str, tmp_path: Path) -> None:
    text, regions = marked(assembly, dialect)
    file = tmp_path / "marked.s"
    file.write_text(text)
    done = run("llvm-mca-19", "-mcpu=skylake-avx512", str(file))
    assert (done.returncode, "error:" in done.stderr) == (0, False), done.stderr[:2000]
    assert len(re.findall(r"^\[\d+\] Code Region", done.stdout, re.MULTILINE)) == regions
    assert "found an invalid region" not in done.stderr


@pytest.mark.parametrize("assembler", ["as", "clang-19 -c"])
@pytest.mark.parametrize("dialect", ["llvm-mca", OSACA])
def test_the_object_stays_the_same(assembly: str, assembler: str, dialect: str, tmp_path: Path) -> None:
    """With all of its line information. LLVM reads not all of what gcc writes, and then makes no object without markers
    either."""
    command = assembler.split()
    if shutil.which(command[0]) is None:
        pytest.skip(f"no {command[0]}")
    made = []
    for text in (assembly, marked(assembly, dialect)[0]):
        (tmp_path / "a.s").write_text(text)
        (tmp_path / "a.o").unlink(missing_ok=True)
        done = run(*command, "-o", str(tmp_path / "a.o"), str(tmp_path / "a.s"))
        good = done.returncode == 0
        made.append(((tmp_path / "a.o").read_bytes() if good else b"", done.stderr.count("arning:")))
    if made[0][0]:
        assert made[0] == made[1]
    else:
        assert ("clang version" in assembly) == (assembler == "as"), "a compiler's own assembler reads what it writes"


def test_incc_reads_the_same(assembly: str) -> None:
    """With the same source lines, whatever assemblers make of the directives at the top."""
    before, after = (
        [(s.text, s.location) for s in parse(text).statements if s.text not in (".ifndef .gasversion.", ".endif")]
        for text in (assembly, marked(assembly, "llvm-mca")[0])
    )
    assert before == after
    assert any(location for _, location in before)
    regions, _ = find_regions(parse(assembly), Scope(regions="loops"))
    found, left_out = marked_regions(parse(marked(assembly, "llvm-mca")[0]))
    assert len(found) == len(regions)
    assert not left_out


@pytest.mark.parametrize("dialect", [OSACA, IACA])
def test_other_dialects_get_nothing_at_the_top(assembly: str, dialect: str) -> None:
    text, regions = marked(assembly, dialect)
    assert ".gasversion." not in text
    begin, end = {OSACA: ("# OSACA-BEGIN", "# OSACA-END"), IACA: ("$111, %ebx", "$222, %ebx")}[dialect]
    assert (text.count(begin), text.count(end)) == (regions, regions)
