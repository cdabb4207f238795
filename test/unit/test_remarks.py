"""What compilers say of loops: read from what they write, put into words, and beside the kernel that it is true of."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from incc.driver.pipeline import analyze_units
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.frontends.gcc_wrapper.remarks import clang_record, expression_at, gcc_unroller, gcc_vectoriser, read_remarks
from incc.frontends.kernel import SourceLocation
from incc.frontends.remarks import Remark
from incc.report.source.remarks import sentence
from properties import examples
from settings_fixtures import settings_with

if TYPE_CHECKING:
    from pathlib import Path

SOURCE = """\
void triad(double *a, const double *b, const double *c, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = b[i] + 3.0 * c[i];
}
void rec(double *a, long n) {
  for (long i = 1; i < n; ++i)
    a[i] = a[i] + 0.5 * a[i - 1];
}
static inline void twice(float *x, long n) {
  for (long i = 0; i < n; ++i)
    x[i] *= 2;
}
void nest(float *x, long m, long n) {
  for (long j = 0; j < m; ++j)
    twice(x + j * n, n);
}
"""

DUMP = """\

;; Function rec (rec, funcdef_no=2, decl_uid=4048, cgraph_uid=3, symbol_order=2)

a.c:7:26: missed:   not vectorized, possible dependence between data-refs *_6 and *_3
a.c:6:22: missed:  bad data dependence.
a.c:6:22: missed:   not vectorized: no vectype for stmt: _4 = *_3;
 scalar_type: double
a.c:6:22: missed: couldn't vectorize loop
void rec (double * a, long int n)
{
  [a.c:7:13] _3 = a_14(D) + _2;
  [a.c:7:13] _4 = [a.c:7:13] *_3;
  [a.c:7:26] _6 = a_14(D) + _5;
  [a.c:7:26] _7 = [a.c:7:26] *_6;
}

;; Function void tri<int>(double*) (_Z3triIiEvPd, funcdef_no=3, decl_uid=1, cgraph_uid=4, symbol_order=3)

d/a b.c:2:22: optimized: loop vectorized using 32 byte vectors
d/a b.c:2:22: optimized:  loop versioned for vectorization because of possible aliasing
d/a b.c:2:22: optimized: loop vectorized using 16 byte vectors
d/a b.c:9:22: missed:  some scalar iterations would need to be peeled
d/a b.c:9:22: missed: couldn't vectorize loop
d/a b.c:12:22: missed:   not vectorized: no vectype for stmt: _4 = *_3;
d/a b.c:12:22: missed: couldn't vectorize loop
"""

YAML = r"""--- !Analysis
Pass:            loop-vectorize
Name:            UnsafeDep
DebugLoc:        { File: a.c, Line: 7, Column: 10 }
Function:        rec
Args:
  - String:          'loop not vectorized: '
  - String:          'unsafe dependent memory operations in loop.'
  - String:          "\nBackward loop carried data dependence."
  - Location:        'a.c:7:25'
    DebugLoc:        { File: a.c, Line: 7, Column: 25 }
...
--- !Missed
Pass:            loop-vectorize
Name:            MissedDetails
DebugLoc:        { File: a.c, Line: 6, Column: 3 }
Function:        rec
Args:
  - String:          loop not vectorized
...
--- !Passed
Pass:            loop-vectorize
Name:            Vectorized
DebugLoc:        { File: 'it''s/a very long name of a folder that is broken in two lines/b.c',
                   Line: 2, Column: 3 }
Function:        triad
Hotness:         12
Args:
  - String:          'vectorized '
  - String:          ''
  - String:          'loop (vectorization width: '
  - VectorizationFactor: '4'
  - String:          ', interleaved count: '
  - InterleaveCount: '2'
  - String:          ')'
...
--- !Passed
Pass:            loop-unroll
Name:            PartialUnrolled
Function:        triad
Args:
  - String:          'unrolled loop by a factor of '
  - UnrollCount:     '8'
...
"""


def of_source(name: str, line: int) -> str:
    return SOURCE.split("\n")[line - 1]


def test_gccs_vectoriser() -> None:
    found = list(gcc_vectoriser(DUMP, of_source))
    assert [(r.kind, r.function, r.place, r.column) for r in found] == [
        ("not-vectorised", "rec", SourceLocation("a.c", 6), 22),
        ("vectorised", "_Z3triIiEvPd", SourceLocation("d/a b.c", 2), 22),
        ("versioned", "_Z3triIiEvPd", SourceLocation("d/a b.c", 2), 22),
        ("vectorised", "_Z3triIiEvPd", SourceLocation("d/a b.c", 2), 22),
        ("not-vectorised", "_Z3triIiEvPd", SourceLocation("d/a b.c", 9), 22),
        ("not-vectorised", "_Z3triIiEvPd", SourceLocation("d/a b.c", 12), 22),
    ]
    assert found[0].accesses == ("a[i - 1]", "a[i]")
    assert [r.vector_bytes for r in found] == [0, 32, 0, 16, 0, 0]
    assert [sentence(r) for r in found] == [
        "not vectorised: data dependence between a[i - 1] and a[i]",
        "vectorised, 32-byte vectors",
        "versioned because of possible aliasing: another loop runs if the run-time checks fail",
        "vectorised, 16-byte vectors",
        "not vectorised: it would need a remainder loop, which the cost model forbids (very-cheap at -O2)",
        # What gcc gives as the reason is that its last and narrowest vectors cannot be had.
        "not vectorised",
    ]


def test_without_the_source_an_access_is_that_of_a_variable() -> None:
    (found, *_) = gcc_vectoriser(DUMP)
    assert found.accesses == ("a", "a")
    assert sentence(found) == "not vectorised: data dependence between accesses to a"


def test_gccs_unroller() -> None:
    text = ";; Function f (f, funcdef_no=0, decl_uid=1)\n\n(insn 5)\na.c:4:9: optimized: loop unrolled 3 times\n"
    (found,) = gcc_unroller(text)
    # gcc counts the copies that it adds.
    assert found == Remark(
        kind="unrolled",
        message="loop unrolled 3 times",
        by="loop2_unroll",
        function="f",
        place=SourceLocation("a.c", 4),
        column=9,
        copies=4,
    )
    assert sentence(found) == "unrolled 4 times"


def test_clangs_record() -> None:
    missed, vectorised, unrolled = clang_record(YAML, of_source)
    assert (missed.kind, missed.place, missed.column) == ("not-vectorised", SourceLocation("a.c", 6), 3)
    assert sentence(missed) == "not vectorised: data dependence between a[i] and a[i - 1]"
    assert missed.message.startswith("loop not vectorized: unsafe dependent memory operations in loop. Backward loop")
    assert vectorised.place == SourceLocation("it's/a very long name of a folder that is broken in two lines/b.c", 2)
    assert sentence(vectorised) == "vectorised, vectors of 4 elements, 2 of them interleaved"
    assert (unrolled.place, unrolled.copies, unrolled.function) == (None, 8, "triad")


@pytest.mark.parametrize(
    ("marked", "found"),
    [
        ("x = b^[i][j + 1] + 2;", "b[i][j + 1]"),
        ("x = ^p->v[i].w[2] * 3;", "p->v[i].w[2]"),
        ("m[i][f(j)] ^+= 2;", "m[i][f(j)]"),
        ("s.a[ i ] ^= 0;", "s.a[ i ]"),
        ("a[b[i]^] = 1", ""),
        ("x ^= y[i];", ""),
        ("x ^== y[i];", ""),
        ("a^[i", ""),
        ("^*p = 1", ""),
        ("]^= 1", ""),
    ],
)
def test_accesses_are_quoted_from_the_source(marked: str, found: str) -> None:
    at = marked.index("^")
    assert expression_at(marked.replace("^", ""), at + 1) == found


@given(st.text(alphabet="ab[]().->=+ ", max_size=20), st.integers(-2, 25))
@example("a[", 2)
@examples(200)
def test_any_line_and_column_give_an_access_or_nothing(line: str, column: int) -> None:
    found = expression_at(line, column)
    assert found == "" or (found in line and found.count("[") == found.count("]") > 0)


@given(
    st.text(alphabet="\n :;!-{}'\"\\a1", max_size=80),
    st.sampled_from(["--- !Missed\n", ";; Function f (f, funcdef_no=", ""]),
)
@examples(200)
def test_no_text_is_too_strange(text: str, before: str) -> None:
    for found in (gcc_vectoriser(before + text), gcc_unroller(before + text), clang_record(before + text)):
        assert all(isinstance(sentence(remark), str) for remark in found)


@pytest.mark.parametrize(
    ("why", "text"),
    [
        (
            "relevant stmt not supported: _20 = _24 > 16;",
            "not vectorised: one of its operations or accesses has no form for vectors",
        ),
        (
            "relevant phi not supported: s_15 = PHI <s_12(6), 0.0(5)>",
            "not vectorised: an iteration needs a value of the previous one, such as a sum in a fixed order",
        ),
        (
            "unsupported use in stmt.",
            "not vectorised: an iteration needs a value of the previous one that is not a reduction",
        ),
        ("something new _8 = *_7;", "not vectorised: something new"),
        ("vectorization not profitable", "not vectorised: the cost model expects no gain"),
        ("", "not vectorised"),
    ],
)
def test_reasons(why: str, text: str) -> None:
    assert sentence(Remark(kind="not-vectorised", message="", why=why)) == text


NEST = """\
void two(double *restrict a, double *restrict b, long n) {
  for (long i = 0; i < n; ++i)
    a[i] *= 2;
  for (long i = 1; i < n; ++i)
    b[i] = b[i - 1] + a[i];
  for (long i = 0; i < n; ++i)
    b[i] += a[i];
}
void product(double *restrict c, const double *restrict a, const double *restrict b, int n) {
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < n; ++k) {
      double t = a[i * n + k];
      for (int j = 0; j < n; ++j)
        c[i * n + j] += t * b[k * n + j];
    }
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "gcc-11", "clang-16", "clang-19"])
def test_loops_behind_and_within_each_other(tmp_path: Path, compiler: str) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    found = [k for k in kernels(tmp_path, compiler, source=NEST) if k.role.name == "main"]
    kinds = [(k.function, k.remarks[0].kind) for k in sorted(found, key=lambda k: k.source.line)]
    assert kinds == [
        ("two", "vectorised"),
        ("two", "not-vectorised"),
        ("two", "vectorised"),
        ("product", "vectorised"),
    ]


BLOCKS = """\
void sums(const double *restrict a, const double *restrict f, double *restrict y, long rows, long n) {
  for (long i = 0; i < rows; ++i)
    for (long j = 0; j < n; ++j)
      y[j] += f[i] * a[i * n + j];
}
"""


@pytest.mark.parametrize("compiler", ["gcc", "gcc-11", "clang-16", "clang-19"])
def test_loop_of_vectors_is_not_said_to_be_without(tmp_path: Path, compiler: str) -> None:
    """gcc does two rows at once, and gives the outer loop of these the place of an instruction of the inner one."""
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    found = [k for k in kernels(tmp_path, compiler, source=BLOCKS) if k.role.name == "main"]
    assert found
    assert {k.remarks[0].kind for k in found if k.arithmetic.packed_share == 1 and k.remarks} == {"vectorised"}


def test_missing_files_say_nothing(tmp_path: Path) -> None:
    assert read_remarks(str(tmp_path / "none"), str(tmp_path)) == ()


# --- beside kernels ---------------------------------------------------------------------------------------------------

GCC = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))
    for name in ("gcc", "gcc-11")
]
CLANG = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))
    for name in ("clang-14", "clang-16", "clang-19")
]


def kernels(folder: Path, compiler: str, *flags: str, source: str = SOURCE, name: str = "a.c") -> list[Any]:
    (folder / name).write_text(source)
    command = [compiler, "-O3", "-march=skylake-avx512", *flags, "-c", name, "-o", "a.o"]
    compiled = compile_units(command, folder=folder)
    assert compiled.status == 0
    assert compiled.warnings == ()
    settings = settings_with(mcpu="skylake-avx512", what_ifs=False, timeline_iterations=0)
    (unit,) = analyze_units(compiled.units, settings).units
    assert sorted(path.name for path in folder.iterdir()) == sorted([name, "a.o"])
    return list(unit.kernels)


def main(found: list[Any], function: str) -> str:
    (kernel,) = [k for k in found if k.function == function and k.role.name == "main"]
    return "; ".join(remark.text for remark in kernel.remarks)


@pytest.mark.parametrize("compiler", GCC)
def test_gcc_says_what_it_made_of_a_loop(tmp_path: Path, compiler: str) -> None:
    found = kernels(tmp_path, compiler)
    assert main(found, "triad").startswith("vectorised, 32-byte vectors; versioned because of possible aliasing")
    assert main(found, "rec") == "not vectorised: data dependence between a[i - 1] and a[i]"
    # Inlined: gcc speaks of the function that it is compiling, and the place is the inlined one's.
    assert main(found, "nest") == "vectorised, 32-byte vectors"
    # The loop for where arrays overlap is no vectorised one.
    assert all(not k.remarks for k in found if k.role.name == "fallback")


@pytest.mark.parametrize("compiler", GCC + CLANG)
def test_hint_does_not_ask_for_a_reason_that_the_compiler_gave(tmp_path: Path, compiler: str) -> None:
    search = "long find(const double *a, double x, long n) { long i = 0; while (i < n && a[i] > x) ++i; return i; }\n"
    (kernel,) = kernels(tmp_path, compiler, source=search)
    assert kernel.remarks[0].text.startswith("not vectorised: ")
    (hint,) = kernel.hints
    assert hint.text == "the loop is not vectorised: its only floating-point instruction is scalar."


@pytest.mark.parametrize("compiler", GCC)
def test_a_vectorised_sum_in_order_is_called_scalar(tmp_path: Path, compiler: str) -> None:
    source = "double total(const double *a, long n) {\n double s = 0;\n for (long i = 0; i < n; i++) s += a[i];\n"
    found = kernels(tmp_path, compiler, source=f"{source} return s;\n}}\n")
    assert main(found, "total") == "vectorised, 32-byte vectors, but its arithmetic is scalar"


@pytest.mark.parametrize("compiler", GCC)
def test_gcc_says_how_often_it_unrolled(tmp_path: Path, compiler: str) -> None:
    found = kernels(tmp_path, compiler, "-funroll-loops")
    assert main(found, "rec") == "not vectorised: data dependence between a[i - 1] and a[i]; unrolled 8 times"


@pytest.mark.parametrize("compiler", CLANG)
def test_clang_says_what_it_made_of_a_loop(tmp_path: Path, compiler: str) -> None:
    found = kernels(tmp_path, compiler)
    assert main(found, "triad").startswith("vectorised, vectors of 4 elements, 4 of them interleaved")
    assert main(found, "nest").startswith("vectorised, vectors of 8 elements, 4 of them interleaved")
    assert main(found, "rec").startswith("not vectorised: ")
    assert main(found, "rec").endswith("; unrolled 8 times")


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")
def test_gfortran_names_arrays(tmp_path: Path) -> None:
    source = """\
subroutine s(a, b, n)
  integer :: n, i
  real(8) :: a(n), b(n)
  do i = 1, n
    a(i) = a(i) + 2.0d0*b(i)
  end do
  do i = 2, n
    a(i) = a(i-1) + b(i)
  end do
end subroutine
"""
    found = kernels(tmp_path, "gfortran", source=source, name="s.f90")
    texts = {k.source.line: [r.text for r in k.remarks] for k in found if k.role.name == "main"}
    assert ["vectorised, 32-byte vectors"] in texts.values()
    assert ["not vectorised: data dependence between accesses to a"] in texts.values()


@pytest.mark.parametrize("compiler", [*GCC, *CLANG])
def test_asking_for_remarks_does_not_change_the_assembly(tmp_path: Path, compiler: str) -> None:
    from incc.frontends.gcc_wrapper.compiler import Compiler, child_environment
    from incc.frontends.gcc_wrapper.processes import Processes
    from incc.frontends.gcc_wrapper.session import Compilation

    (tmp_path / "a.c").write_text(SOURCE)
    texts = []
    for remarks in (False, True):
        path = shutil.which(compiler)
        assert path
        arguments = ["-O3", "-funroll-loops", "-march=haswell", "-c", "a.c", "-o", "a.o"]
        processes = Processes(str(tmp_path), b"", None)
        made = Compilation(
            Compiler(path, [compiler]),
            arguments,
            child_environment({"PATH": "/usr/bin:/bin"}),
            processes,
            str(tmp_path),
            remarks=remarks,
        )
        (unit,) = made.units()
        made.finish()
        processes.end()
        made.close()
        texts.append(unit.assembly)
        assert bool(unit.remarks) == remarks
    assert texts[0] == texts[1]


CXX = """\
#include <algorithm>
#include <numeric>
#include <vector>
template <class T> void axpy(std::vector<T> &y, const std::vector<T> &x, T a) {
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] += a * x[i];
}
template void axpy<float>(std::vector<float> &, const std::vector<float> &, float);
template void axpy<double>(std::vector<double> &, const std::vector<double> &, double);
double total(const std::vector<double> &v) { return std::accumulate(v.begin(), v.end(), 0.0); }
void squares(std::vector<float> &v) {
  std::for_each(v.begin(), v.end(), [](float &x) { x = x * x + 1; });
}
void simd(float *a, int n) {
#pragma omp simd
  for (int i = 0; i < n; ++i)
    a[i] = a[i] * 3;
}
"""


@pytest.mark.parametrize(
    ("compiler", "said"),
    [
        pytest.param(
            *(name, said),
            marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"),
        )
        for name, said in (
            ("g++", ["32-byte vectors", "32-byte vectors", "vectorised", "32-byte vectors", "32-byte vectors"]),
            (
                "clang++-14",
                ["of 8 elements", "of 4 elements", "order of the sum would change", "of 8 elements", "of 8 elements"],
            ),
            (
                "clang++-19",
                ["of 8 elements", "of 4 elements", "order of the sum would change", "of 8 elements", "of 8 elements"],
            ),
        )
    ],
)
def test_templates_algorithms_and_lambdas(tmp_path: Path, compiler: str, said: list[str]) -> None:
    """Instances of a template are told apart, and loops of headers found in whatever they were inlined into."""
    found = kernels(tmp_path, compiler, "-fopenmp-simd", source=CXX, name="t.cpp")
    functions = ["_Z4axpyIfEvRSt6vectorIT_SaIS1_EERKS3_S1_", "_Z4axpyIdEvRSt6vectorIT_SaIS1_EERKS3_S1_"]
    functions += ["_Z5totalRKSt6vectorIdSaIdEE", "_Z7squaresRSt6vectorIfSaIfEE", "_Z4simdPfi"]
    for function, text in zip(functions, said, strict=True):
        assert text in main(found, function), function
