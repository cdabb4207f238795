"""Which functions were inlined where, read from assembly text; and what is made of that: places and names."""

from __future__ import annotations

import itertools
import re
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.frontends.asm.parse import INSTRUCTION, Assembly, parse
from incc.frontends.asm.places import NumberedInstructions
from incc.frontends.gcc_wrapper.assembly import include_folders
from incc.frontends.headers import Headers
from incc.frontends.objects.line_program import LineTable
from incc.frontends.objects.text_debug import TextDebug, places_of_text
from incc.frontends.unit import IncludeFolders
from incc.report.source.demangle import choose_functions, of_openmp, short_name
from incc.views.layout import short_files

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = r"""
#include "lib.h"
struct Step { int by; long count; };
static inline long add(long a, struct Step s) { return a + s.by * s.count; }
static long sum(const long *p, int n, struct Step s) {
  long t = 0;
  for (int i = 0; i < n; ++i)
    t = add(t ^ p[i], s);
  return t;
}
long both(const long *p, const long *q, int n) {
  struct Step s = {3, p[1]};
  long a = sum(p, n, s);
  if (a > 100)
    a += clip(sum(q, n, s), 9);
  return a;
}
int cold(int x) {
  if (__builtin_expect(x > 5, 0)) {
    for (int i = 0; i < x; ++i)
      hook(clip(i * x, x));
  }
  return x;
}
"""
HEADER = """
void hook(long);
static inline long clip(long x, long most) {
  while (x > most)
    x -= x / 3;
  return x;
}
"""
COMPILERS = ("gcc", "gcc-11", "clang-19", "clang-14")
OPTIONS = (
    "-O2 -g1",
    "-O3 -g",
    "-O2 -g -gdwarf-4",
    "-O3 -g3 -gdwarf-3",
    "-O2 -g -gdwarf-2",
    "-O2 -g1 -ffunction-sections",
    "-O2 -g -fdebug-types-section",
    "-O2 -g -gdwarf-4 -fdebug-types-section",
    "-O2 -g -gdwarf-5 -gdwarf64",
)


def assembly_of(folder: Path, compiler: str, options: str, *more: str) -> str:
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    (folder / "a.c").write_text(SOURCE)
    (folder / "lib.h").write_text(HEADER)
    subprocess.run([compiler, *options.split(), *more, "-S", "a.c", "-o", "a.s"], cwd=folder, check=True)
    return (folder / "a.s").read_text(errors="surrogateescape")


def instructions(assembly: Assembly) -> list[int]:
    return [i for i, s in enumerate(assembly.statements) if s.kind == INSTRUCTION and s.location]


@pytest.mark.long
@pytest.mark.parametrize(("compiler", "options"), list(itertools.product(COMPILERS, OPTIONS)))
def test_as_the_symbolizer_says(tmp_path: Path, compiler: str, options: str) -> None:
    """Each instruction gets a label; where these are linked, LLVM's symbolizer says what was inlined there."""
    if shutil.which("llvm-symbolizer-19") is None:
        pytest.skip("no llvm-symbolizer-19")
    text = assembly_of(tmp_path, compiler, options)
    assembly = parse(text)
    members = instructions(assembly)
    found = TextDebug(assembly, text).inlined(members)
    assert found is not None
    lines = text.split("\n")
    for i in members:
        line = assembly.statements[i].line
        lines[line - 1] = f"at_{i}: {lines[line - 1]}"
    (tmp_path / "b.s").write_text("\n".join(lines), errors="surrogateescape")
    build = [compiler, "-c", "b.s", "-o", "b.o"]
    subprocess.run(build, cwd=tmp_path, check=True)
    link = ["ld", "-o", "b", "--unresolved-symbols=ignore-all", "-e", "0", "b.o"]
    subprocess.run(link, cwd=tmp_path, check=True, capture_output=True)
    names = subprocess.run(["nm", "b"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    addresses = {int(m[2]): m[1] for m in re.finditer(r"^(\w+) \w at_(\d+)$", names, re.MULTILINE)}
    assert set(addresses) == set(members)
    ask = ["llvm-symbolizer-19", "--inlines", "-e", "b", *(f"0x{addresses[i]}" for i in members)]
    said = subprocess.run(ask, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    for i, answer in zip(members, said.strip().split("\n\n"), strict=True):
        frames = answer.split("\n")
        calls = [int(place.rsplit(":", 2)[1]) for place in frames[3::2]]
        assert [call.call[1] for call in found[i]] == calls[::-1], (i, lines[assembly.statements[i].line - 1])
        assert [call.name for call in found[i]] == frames[:-2:2][::-1]
    assert max(len(calls) for calls in found.values()) >= 2


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("options", ["-O2 -g -gsplit-dwarf", "-O2 -g -gdwarf-4 -gsplit-dwarf"])
def test_split_information_says_the_same(tmp_path: Path, compiler: str, options: str) -> None:
    def calls(text: str) -> list[list[tuple[str, int]]]:
        assembly = parse(text)
        found = TextDebug(assembly, text).inlined(instructions(assembly))
        assert found is not None
        return [[(call.name, call.call[1]) for call in found[i]] for i in instructions(assembly)]

    whole = calls(assembly_of(tmp_path, compiler, options.replace("-gsplit-dwarf", "")))
    assert calls(assembly_of(tmp_path, compiler, options)) == whole
    assert any(len(frames) >= 2 for frames in whole)


@pytest.mark.parametrize("compiler", COMPILERS)
def test_everything_that_was_inlined(tmp_path: Path, compiler: str) -> None:
    text = assembly_of(tmp_path, compiler, "-O2 -g1")
    pairs = TextDebug(parse(text), text).everything_inlined()
    assert {("add", "both"), ("sum", "both"), ("clip", "both")} <= set(pairs)


def test_without_debug_information_nothing_is_said(tmp_path: Path) -> None:
    text = assembly_of(tmp_path, "gcc", "-O2 -g0")
    assembly = parse(text)
    assert assembly.debug == ()
    assert TextDebug(assembly, text).inlined([0]) is None
    assert TextDebug(assembly, text).everything_inlined() == []


@pytest.fixture(scope="module")
def damaged(tmp_path_factory: pytest.TempPathFactory) -> str:
    return assembly_of(tmp_path_factory.mktemp("damaged"), "gcc", "-O2 -g")


@given(st.data())
def test_damaged_information_is_as_none(damaged: str, data: st.DataObject) -> None:
    lines = damaged.split("\n")
    where = [n for _, first, end in parse(damaged).debug for n in range(first - 1, end - 1)]
    for _ in range(data.draw(st.integers(1, 3))):
        n = data.draw(st.sampled_from(where))
        lines[n] = data.draw(
            st.sampled_from(["", "\t.byte 0", "\t.uleb128 0x7fffffff", "\t.long .L1-.L2", '\t.ascii "\\377"', "x"])
        )
    text = "\n".join(lines)
    assembly = parse(text)
    members = instructions(assembly)
    debug = TextDebug(assembly, text)
    found = debug.inlined(members)
    assert found is None or found.keys() == set(members)
    addresses = set(map(debug.address, members))
    assert debug.variables(addresses).keys() <= addresses
    TextDebug(assembly, text).everything_inlined()


@pytest.mark.parametrize(("line", "place"), [(7, "a.c:7"), (0, "None"), (-3, "None"), (1 << 32, "None")])
def test_a_line_table_has_numbers_of_lines(line: int, place: str) -> None:
    assert str(LineTable(["", "a.c"], [(0, 8, [0], [(1, line)])]).location(4)) == place


def test_sections_of_debug_information_have_no_statements() -> None:
    text = """\t.text
f:
\tincq %rax
\t.section .debug_info,"",@progbits
.Linfo:
\t.long 1, 2
\t.file 7 "later.h"
\t.byte 3
\t.text
\t.loc 7 5
\tincq %rbx
\t.pushsection .debug_gdb_scripts
\t.asciz "x"
\t.popsection
\tincq %rcx
\t.section .debug_str
\t.asciz "y; .text"
"""
    assembly = parse(text)
    assert [s.text for s in assembly.statements] == ["f", "incq %rax", "incq %rbx", "incq %rcx"]
    assert str(assembly.statements[2].location) == "later.h:5"
    assert assembly.debug == ((".debug_info", 5, 9), (".debug_gdb_scripts", 13, 14), (".debug_str", 17, 19))


# --- places -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_users_line_and_what_is_around_it(tmp_path: Path, compiler: str) -> None:
    text = assembly_of(
        tmp_path, compiler, "-O2 -g1", "-fno-vectorize" if "clang" in compiler else "-fno-tree-vectorize"
    )
    assembly = parse(text)
    from incc.frontends.asm.regions import innermost_loops

    regions, _ = innermost_loops(assembly)
    numbered = NumberedInstructions(assembly)
    members = [numbered.of_region(region) for region in regions]

    def found(is_system: Headers) -> list[tuple[str, str, list[str], list[str], bool]]:
        where = places_of_text(assembly, text, {i for _, body in members for i in body}, is_system.is_system)
        assert where is not None
        places = [
            where.of(region.function, path, body, True) for region, (path, body) in zip(regions, members, strict=True)
        ]
        return [
            (
                place.source.file if place.source else "",
                place.function,
                [frame.function for frame in place.inlined],
                [f"{frame.function}:{frame.line}" for frame in place.inlined_into],
                place.is_users,
            )
            for place in places
        ]

    users = found(Headers(IncludeFolders()))
    assert ("a.c", "sum", [], ["both:13"], True) in users
    assert ("lib.h", "clip", [], ["both:15"], True) in users

    class Everything(Headers):
        def is_system(self, file: str) -> bool:
            return bool(file)

    assert not any(is_users for *_, is_users in found(Everything(IncludeFolders())))

    class OnlyHeader(Headers):
        def is_system(self, file: str) -> bool:
            return file.endswith("lib.h")

    assert ("a.c", "both", ["clip"], [], True) in found(OnlyHeader(IncludeFolders()))


@pytest.mark.parametrize(
    ("file", "system", "user", "expected"),
    [
        ("/usr/include/c++/12/bits/stl_algo.h", (), (), True),
        ("/usr/bin/../lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/stl_algo.h", (), (), True),
        ("/usr/lib/llvm-19/lib/clang/19/include/immintrin.h", (), (), True),
        ("/opt/gcc-13/lib/gcc/x86_64-linux-gnu/13/include/immintrin.h", (), (), True),
        ("/opt/llvm/include/c++/v1/vector", (), (), True),
        ("/home/me/libexec/x.h", (), (), False),
        ("/home/me/include/x.h", (), (), False),
        ("src/a.c", (), (), False),
        ("../a.c", (), (), False),
        ("", (), (), True),
        ("<built-in>", (), (), True),
        ("<stdin>", (), (), False),
        ("third/eigen/Core.h", ("third",), (), True),
        ("third/eigen/Core.h", ("third",), ("third/eigen",), False),
        ("third/eigen/Core.h", ("third/eigen",), ("third",), True),
        ("thirdly/Core.h", ("third",), (), False),
        ("/usr/include/eigen3/Core.h", (), ("/usr/include/eigen3",), False),
        ("/usr/include/stdio.h", (), ("/usr/include",), True),
        ("/w/inc/../sys/x.h", ("/w/sys/",), ("/w/inc",), True),
    ],
)
def test_whose_a_file_is(file: str, system: tuple[str, ...], user: tuple[str, ...], expected: bool) -> None:
    assert Headers(IncludeFolders(system, user)).is_system(file) is expected


def test_folders_of_a_command() -> None:
    words = (
        "/opt/gcc/libexec/gcc/x86_64-linux-gnu/13/cc1plus",
        "-Ia",
        "-I",
        "b",
        "-iquote",
        "c",
        "-isystem",
        "d",
        "x.cpp",
    )
    assert include_folders(words) == IncludeFolders(("d", "/opt/gcc/include", "/opt/gcc/libexec/gcc/"), ("a", "b", "c"))
    clang = ("clang", "-cc1", "-internal-isystem", "e", "-resource-dir", "f", "-I.", "x.c")
    assert include_folders(clang) == IncludeFolders(("e", "f"), (".",))


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("double ns::dot<double>(double const*, long)", "ns::dot"),
        ("my::tr(std::vector<double>&, int)::{lambda(double)#1}::operator()(double) const", "lambda in my::tr"),
        ("my::tr(int)::<lambda(int)>::operator()", "lambda in my::tr"),
        ("std::ostream& operator<< <char>(std::ostream&, char)", "operator<<"),
        ("operator<<int *, std::vector<int> >", "operator<"),
        ("operator-><int>", "operator->"),
        ("foo(double*, int) [clone ._omp_fn.0]", "foo"),
        ("foo._omp_fn.12", "foo"),
        ("foo.constprop.0", "foo"),
        ("(anonymous namespace)::f(int)", "f"),
        ("X::operator bool() const", "X::operator bool"),
        ("X::operator new(unsigned long)", "X::operator new"),
        ("std::vector<double>::operator[](unsigned long)", "std::vector::operator[]"),
        ("std::enable_if<(2>1), int>::type f<3>(int)", "f"),
        ("transform<a, (lambda at x.cpp:8:18)>", "transform"),
        ("std::function<double (double)>::operator()(double) const", "std::function::operator()"),
        ("unsigned long const* g<int>()", "g"),
        ("linear::axpy", "linear::axpy"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_short_names(name: str, short: str) -> None:
    assert short_name(name) == short


@given(st.text(alphabet="ab:<>(){}[] ,~*&.-operatoroperator()lambda", max_size=40))
def test_short_names_of_anything(name: str) -> None:
    assert bool(short_name(name)) == bool(name)


def test_openmp_parts_are_their_authors() -> None:
    assert of_openmp("foo._omp_fn.0") == of_openmp("foo.omp_outlined") == of_openmp("foo") == "foo"
    assert of_openmp("foo(int) [clone ._omp_fn.0]") == "foo(int)"
    assert choose_functions(["foo._omp_fn.0", "foobar"], ["foo"]) == {"foo._omp_fn.0"}


def test_files_have_short_names_that_differ(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    files = [
        "a.c",
        "../b.h",
        f"{tmp_path}/src/c.c",
        "/x/bits/y.h",
        "/z/1/bits/algo.h",
        "/z/2/bits/algo.h",
        "/u/v/../w/k/m.h",
        "/q.h",
    ]
    assert list(short_files(files).values()) == [
        "a.c", "../b.h", "src/c.c", "…/bits/y.h", "…/1/bits/algo.h", "…/2/bits/algo.h", "…/k/m.h", "/q.h",
    ]  # fmt: skip
