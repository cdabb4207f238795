"""Where loops of objects are in the source: the same places as from the compiler's assembly, from DWARF data."""

from __future__ import annotations

import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest

from incc.driver.pipeline import read_assembly, select
from incc.driver.settings import Scope
from incc.frontends.asm.places import UserPlace
from incc.frontends.objects.kernels import ObjectKernels, located_kernels, object_kernels
from incc.frontends.objects.variables import with_variables_of_object
from incc.frontends.unit import IncludeFolders, Unit
from incc.support import zstd

HEADER = """#pragma once
template <class T> struct Span {
  T *data; long size;
  T *begin() const { return data; }
  T *end() const { return data + size; }
};
template <class T> inline T sum(Span<T> span) {
  T total = 0;
  for (T value : span)
    total += value;
  return total;
}
"""
CXX = """#include "span.h"
#include <numeric>
#include <vector>
namespace outer { namespace {
inline void scale(double *a, double s, long n) {
  for (long i = 0; i < n; ++i)
    a[i] *= s;
}
} }
int total(Span<int> s) { return sum(s); }
double of_vector(const std::vector<double> &v) {
  return std::accumulate(v.begin(), v.end(), 0.0);
}
struct Grid {
  double *cells; long n;
  void step(double by) {
    outer::scale(cells, by, n);
    for (long i = 1; i < n; ++i)
      cells[i] += cells[i - 1];
  }
};
void advance(Grid &grid, int steps) {
  for (int i = 0; i < steps; ++i)
    grid.step(1.5);
}
extern "C" long count(const char *text, char wanted) {
  long found = 0;
  for (; *text; ++text)
    if (*text == wanted) found += text[1];
  return found;
}
"""
C = """static inline int square_sum(const int *a, int n) {
  int s = 0;
  for (int i = 0; i < n; i++)
    s += a[i] * a[i];
  return s;
}
int norms(const int *a, const int *b, int n) {
  return square_sum(a, n) - square_sum(b, n);
}
void fill(char *p, int n, int x) {
  while (n--)
    *p++ = x * n;
}
"""
FORTRAN = """module solver
contains
  subroutine smooth(a, n)
    integer, intent(in) :: n
    real(8), intent(inout) :: a(n)
    integer :: i
    do i = 2, n - 1
      a(i) = 0.25d0 * (a(i-1) + 2 * a(i) + a(i+1))
    end do
    call inner(a)
  contains
    subroutine inner(b)
      real(8), intent(inout) :: b(:)
      integer :: j
      do j = 2, size(b)
        b(j) = b(j) + b(j-1)
      end do
    end subroutine
  end subroutine
end module
"""
SOURCES = {"c": C, "cpp": CXX, "f90": FORTRAN}


def written(folder: pathlib.Path, ending: str) -> str:
    (folder / "span.h").write_text(HEADER)
    (folder / f"x.{ending}").write_text(SOURCES[ending])
    return f"x.{ending}"


def run(folder: pathlib.Path, *words: str) -> None:
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    subprocess.run(words, check=True, cwd=folder)


def of_text(text: str) -> list[UserPlace]:
    unit = Unit(assembly=text, assembly_file="x.s")
    return select(unit, read_assembly(unit), Scope(system_headers=True)).places


def said(places: list[UserPlace]) -> list[str]:
    """What places say, in an order of their own: that of sections is the compiler's affair."""
    return sorted(map(repr, places))


def line_of(text: str, what: str) -> int:
    return text[: text.index(what)].count("\n") + 1


def of_object(found: ObjectKernels) -> list[UserPlace]:
    places = [source.place for source in found.sources]
    assert all(place is not None for place in places)
    return [place for place in places if place is not None]


CASES = [
    *[
        (compiler, ending, flags)
        for compiler, ending in (("gcc", "c"), ("g++", "cpp"), ("clang-14", "c"), ("clang++-19", "cpp"))
        for flags in (
            "-O2 -g",
            "-O2 -g1",
            "-O3 -g -gdwarf-4",
            "-O2 -g -ffunction-sections -march=haswell",
            "-O1 -g -gz",
        )
    ],
    ("gcc-11", "c", "-O2 -g"),
    ("gcc-11", "c", "-O2 -g -gdwarf-4 -gz=zlib-gnu"),
    ("clang++-16", "cpp", "-O2 -g"),
    ("clang++-14", "cpp", "-O2 -g"),
    ("g++", "cpp", "-O0 -g"),
    ("g++", "cpp", "-O2 -g -fdebug-types-section"),
    ("g++", "cpp", "-O2 -g -gdwarf-4 -fdebug-types-section"),
    ("clang++-19", "cpp", "-O2 -g -fdebug-types-section"),
    ("clang++-19", "cpp", "-O2 -gmlt"),
    ("g++", "cpp", "-O2 -g -flto -ffat-lto-objects"),
    ("g++", "cpp", "-O2 -g -gdwarf-2 -gno-strict-dwarf"),
    ("g++", "cpp", "-O2 -gdwarf64 -g"),
    ("clang-19", "c", "-O3 -g -gdwarf-5 -mno-sse4.1"),
    ("gfortran", "f90", "-O2 -g"),
]


@pytest.mark.long
@pytest.mark.parametrize(("compiler", "ending", "flags"), CASES)
def test_places_of_objects_are_those_of_the_assembly(
    tmp_path: pathlib.Path, compiler: str, ending: str, flags: str
) -> None:
    source = written(tmp_path, ending)
    run(tmp_path, compiler, *flags.split(), "-c", source, "-o", "x.o")
    run(tmp_path, compiler, *flags.split(), "-S", source, "-o", "x.s")
    found = located_kernels(str(tmp_path / "x.o"))
    expected = of_text((tmp_path / "x.s").read_text(encoding="utf-8", errors="surrogateescape"))
    assert found.note == ""
    assert len(expected) >= 2
    assert any(place.source for place in expected)
    # In the text of DWARF 4 clang writes the folder that it runs in with each file.
    here = f"{tmp_path}/"
    assert said(of_object(found)) == [re.sub(rf"{re.escape(here)}(\./)?", "", text) for text in said(expected)]
    # Instructions have their own lines, too.
    assert all(source.lines for source in found.sources)
    assert all(
        k.region and k.region.source == s.place.source
        for k, s in zip(found.kernels, found.sources, strict=True)
        if s.place
    )


@pytest.mark.long
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
@pytest.mark.parametrize(
    "linked", ["-shared -fPIC", "-static-pie -fPIE", "-no-pie", "-shared -fPIC -gz", "-shared -fPIC -flto"]
)
def test_places_of_linked_files_are_those_of_the_objects(tmp_path: pathlib.Path, compiler: str, linked: str) -> None:
    source = written(tmp_path, "cpp")
    (tmp_path / "main.cpp").write_text("int main() { return 0; }\n")
    flags = ["-O2", "-g", *(flag for flag in linked.split() if flag.startswith(("-f", "-gz")))]
    run(tmp_path, compiler, *flags, "-c", source, "-o", "x.o")
    plain = [flag for flag in flags if flag != "-flto"]
    run(tmp_path, compiler, *plain, "-c", source, "-o", "plain.o")
    run(tmp_path, compiler, *flags, *linked.split(), "x.o", "main.cpp", "-o", "x")
    expected = said(of_object(located_kernels(str(tmp_path / "plain.o"))))
    found = located_kernels(str(tmp_path / "x"))
    ours = [s.place for s in found.sources if s.place and s.place.source and s.place.source.file in ("x.cpp", "span.h")]
    assert said(ours) == [text for text in expected if "x.cpp" in text or "span.h" in text]
    assert len(ours) >= 4


def test_debug_information_may_be_compressed_with_zstd(tmp_path: pathlib.Path) -> None:
    try:
        zstd.decompressor()
    except ImportError:
        pytest.skip("no module for zstd")
    source = written(tmp_path, "c")
    run(tmp_path, "gcc", "-O2", "-g", "-c", source, "-o", "x.o")
    pack = ["objcopy", "--compress-debug-sections=zstd", "x.o", "z.o"]
    if subprocess.run(pack, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip("objcopy has no zstd")
    packed = (tmp_path / "z.o").read_bytes()
    assert packed.count(b"\x28\xb5\x2f\xfd") >= 2
    found = located_kernels(packed)
    assert found.note == ""
    assert said(of_object(found)) == said(of_object(located_kernels(str(tmp_path / "x.o")))) != []
    damaged = located_kernels(packed.replace(b"\x28\xb5\x2f\xfd", b"\x28\xb5\x2f\xfe"))
    assert damaged.note == "the debug information is damaged: source lines may be missing"


@pytest.mark.parametrize("compiler", ["gcc", "clang-14", "clang-19"])
def test_lines_are_those_of_addr2line(tmp_path: pathlib.Path, compiler: str) -> None:
    source = written(tmp_path, "c")
    run(tmp_path, compiler, "-O3", "-g", "-shared", "-fPIC", source, "-o", "x.so")
    found = located_kernels(str(tmp_path / "x.so"))
    asked: dict[int, str] = {}
    for kernel, source_of in zip(found.kernels, found.sources, strict=True):
        assert kernel.region is not None
        for line, i in zip(kernel.region.lines, kernel.instructions, strict=True):
            place = source_of.lines.get(line)
            asked[i.offset] = f"{place.file}:{place.line}" if place else "??:?"
    assert len(asked) > 10
    words = ["addr2line", "-e", str(tmp_path / "x.so"), *map(hex, asked)]
    if shutil.which("addr2line") is None:
        pytest.skip("no addr2line")
    output = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    answers = [re.sub(r" \(discriminator.*", "", os.path.basename(line)) for line in output.splitlines()]
    # It says of code that belongs to no line that it is of line 0, or the file that is unknown.
    known = [(ours, theirs) for ours, theirs in zip(asked.values(), answers, strict=True) if "?" not in ours + theirs]
    assert len(known) > 10
    assert [ours for ours, _ in known] == [theirs for _, theirs in known]


@pytest.mark.parametrize("flags", ["-gdwarf-5", "-gdwarf-4"])
@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_split_debug_information(tmp_path: pathlib.Path, compiler: str, flags: str) -> None:
    source = written(tmp_path, "cpp")
    run(tmp_path, compiler, "-O2", "-g", flags, "-c", source, "-o", "whole.o")
    run(tmp_path, compiler, "-O2", "-g", flags, "-gsplit-dwarf", "-c", source, "-o", "x.o")
    expected = said(of_object(located_kernels(str(tmp_path / "whole.o"))))
    assert said(of_object(located_kernels(str(tmp_path / "x.o")))) == expected
    # Files that were moved together are found beside each other; an object in memory names its folder.
    moved = tmp_path / "moved"
    moved.mkdir()
    for name in ("x.o", "x.dwo"):
        (tmp_path / name).rename(moved / name)
    assert said(of_object(located_kernels(str(moved / "x.o")))) == expected
    data = (moved / "x.o").read_bytes()
    assert said(of_object(located_kernels(data, folder=str(moved)))) == expected
    (moved / "x.dwo").unlink()
    found = located_kernels(str(moved / "x.o"))
    assert "x.dwo" in found.note
    assert all(source_of.lines for source_of in found.sources)


def test_headers_that_a_command_says_are_the_systems(tmp_path: pathlib.Path) -> None:
    source = written(tmp_path, "cpp")
    (tmp_path / "system").mkdir()
    (tmp_path / "span.h").rename(tmp_path / "system" / "span.h")
    run(tmp_path, "g++", "-O2", "-g", "-isystem", "system", "-c", source, "-o", "x.o")

    def files(folders: IncludeFolders) -> list[str]:
        places = of_object(located_kernels(str(tmp_path / "x.o"), folders=folders))
        return [
            f"{p.source.file}:{p.source.line}" for p in places if p.source and p.function in ("sum", "_Z5total4SpanIiE")
        ]

    assert "x.cpp:10" not in files(IncludeFolders())
    assert files(IncludeFolders(system=("system",))) == [f"x.cpp:{line_of(CXX, 'return sum(s)')}"]


def test_lines_without_entries(tmp_path: pathlib.Path) -> None:
    """What an assembler writes of its own text: lines of it, and no functions."""
    (tmp_path / "x.s").write_text("\t.globl f\n\t.type f, @function\nf:\n.L1:\n\tdecl %edi\n\tjne .L1\n\tret\n")
    run(tmp_path, "as", "-g", "x.s", "-o", "x.o")
    found = located_kernels(str(tmp_path / "x.o"))
    (source_of,) = found.sources
    assert [place.line for place in source_of.lines.values()] == [5, 6]


def test_without_debug_information(tmp_path: pathlib.Path) -> None:
    source = written(tmp_path, "c")
    run(tmp_path, "gcc", "-O2", "-c", source, "-o", "x.o")
    found = located_kernels(str(tmp_path / "x.o"))
    assert (found.sources, found.note) == ([], "")
    assert (found.kernels, found.left_out) == object_kernels(str(tmp_path / "x.o"))


@pytest.mark.parametrize("compiler", ["g++", "clang++-19"])
def test_damaged_debug_information_costs_lines_alone(tmp_path: pathlib.Path, compiler: str) -> None:
    source = written(tmp_path, "cpp")
    run(tmp_path, compiler, "-O2", "-g", "-c", source, "-o", "x.o")
    whole = (tmp_path / "x.o").read_bytes()
    output = subprocess.run(["readelf", "-SW", "x.o"], check=True, capture_output=True, text=True, cwd=tmp_path).stdout
    spans = [
        (int(m[2], 16), int(m[3], 16))
        for m in re.finditer(r"\] (\.(?:rela\.)?debug_\w+)\s+\w+\s+\w+ (\w+) (\w+)", output)
    ]
    assert len(spans) >= 4
    expected = [kernel.name for kernel in object_kernels(whole)[0]]
    chance = random.Random(5)
    notes = set()
    for round_ in range(120):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 40))):
            start, size = chance.choice(spans)
            data[start + chance.randrange(size)] = chance.choice((0, 255, chance.randrange(256)))
        if round_ % 10 == 0:  # a part of it all zero
            start, size = chance.choice(spans)
            data[start : start + size] = bytes(size)
        found = located_kernels(bytes(data))
        named = with_variables_of_object(found.kernels, found.sources) if found.sources else found.kernels
        assert [kernel.name for kernel in named] == expected
        notes.add(found.note)
    assert {"", "the debug information is damaged: source lines may be missing"} <= notes
