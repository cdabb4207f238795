"""Marks in sources on the way to a report: which kernels they leave, for which cores, and what of their expectations
holds."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import pytest

from incc.driver.pipeline import analyze_units
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.frontends.marks import Mark, MarkCondition
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.views.exchange import diagnostics
from settings_fixtures import settings_with
from struct_fixtures import filled

if TYPE_CHECKING:
    from pathlib import Path

COMPILERS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"no {name}"))
    for name in ("gcc", "gcc-11", "clang-14", "clang-16", "clang-19")
]

LOOPS = """\
void scale(double *restrict a, const double *b, long n) {
  for (long i = 0; i < n; ++i)
    a[i] = 2 * b[i];
}
double dot(const double *a, const double *b, long n) {
  double sum = 0;
  for (long i = 0; i < n; ++i)
    sum += a[i] * b[i];
  return sum;
}
"""


def units(folder: Path, compiler: str, files: dict[str, str], source: str, **settings: Any) -> list[Any]:
    for name, text in files.items():
        (folder / name).write_text(text)
    compiled = compile_units([compiler, "-O3", "-march=haswell", "-c", source, "-o", "x.o"], folder=folder)
    assert (compiled.status, compiled.warnings) == (0, ())
    asked = settings_with(**{"mcpu": "haswell", "what_ifs": False, "timeline_iterations": 0, **settings})
    return list(analyze_units(compiled.units, asked).units)


def marked(text: str, **marks: str) -> str:
    """LOOPS with a mark in front of the loop of a function each."""
    for function, mark in marks.items():
        head, _, tail = text.partition(f" {function}(")
        before, _, after = tail.partition("  for (")
        text = f"{head} {function}({before}  // incc: analyze {mark}\n  for ({after}"
    return text


def functions(unit: Any) -> set[str]:
    return {kernel.function for kernel in unit.kernels}


@pytest.mark.parametrize("compiler", COMPILERS)
def test_only_what_is_marked(tmp_path: Path, compiler: str) -> None:
    source = marked(LOOPS, dot="name(inner) expect(cycles_per_element <= 5) expect(cycles_per_element < 3)")
    (unit,) = units(tmp_path, compiler, {"k.c": source}, "k.c")
    assert functions(unit) == {"dot"}
    assert {kernel.name for kernel in unit.kernels} == {"inner"}
    (mark,) = unit.marks
    assert mark.kernels == [kernel.kernel_id for kernel in unit.kernels]
    (main,) = [kernel for kernel in unit.kernels if kernel.role.name == "main"]
    assert [(e.condition, e.kernel_id, e.holds) for e in mark.expectations] == [
        ("cycles_per_element <= 5", main.kernel_id, True),
        ("cycles_per_element < 3", main.kernel_id, False),
    ]
    text = mark.expectations[1].text
    # Additions take three cycles on a Haswell; multiply-adds, where the compiler may use them, five.
    cycles = main.elements.cycles
    assert text.startswith(
        f"predicted {cycles:.1f} cycles per element on haswell, expected less than 3: chain through xmm"
    )
    (ignoring,) = units(tmp_path, compiler, {}, "k.c", marks="ignore")
    assert functions(ignoring) == {"scale", "dot"}
    assert ignoring.marks == []


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_cores(tmp_path: Path) -> None:
    source = marked(LOOPS, scale="mcpu(skylake, znver4)", dot="")
    found = units(tmp_path, "gcc", {"k.c": source}, "k.c")
    assert [(unit.model.name, functions(unit)) for unit in found] == [
        ("skylake", {"scale"}),
        ("znver4", {"scale"}),
        ("haswell", {"dot"}),
    ]


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_a_core_without_a_model_is_wrong_at_the_mark(tmp_path: Path) -> None:
    source = marked(LOOPS, scale="mcpu(skylak)", dot="")
    (unit,) = units(tmp_path, "gcc", {"k.c": source}, "k.c")
    assert functions(unit) == {"dot"}
    (problem,) = unit.mark_problems
    assert (problem.source.line, problem.column) == (2, 6)
    assert "skylak" in problem.text


@pytest.mark.parametrize("compiler", COMPILERS)
def test_headers_and_calls(tmp_path: Path, compiler: str) -> None:
    header = """\
static inline void twice(float *x, long n) {
  // incc: analyze name(twice)
  for (long i = 0; i < n; ++i)
    x[i] *= 2;
}
static inline void unused(float *x, long n) {
  // incc: analyze mcpu(znver4)
  for (long i = 0; i < n; ++i)
    x[i] *= 3;
}
static inline void thrice(float *x, long n) {
  for (long i = 0; i < n; ++i)
    x[i] *= 3;
}
"""
    of_g = "void g(float *x, long n) {\n  thrice(x, n);\n}\n"
    plain = '#include "k.h"\nvoid f(float *x, long n) {\n  twice(x, n);\n}\n' + of_g
    (unit,) = units(tmp_path, compiler, {"k.h": header, "k.c": plain}, "k.c")
    # A header's marks count where its code is.
    assert functions(unit) == {"f"}
    assert [mark.name for mark in unit.marks] == ["twice"]
    # A call that is inlined is marked as a loop is.
    calls = plain.replace("thrice(x, n);", "thrice(x, n); // incc: analyze name(g)")
    (unit,) = units(tmp_path, compiler, {"k.c": calls}, "k.c")
    assert functions(unit) == {"f", "g"}
    assert {(k.function, k.name) for k in unit.kernels} == {("f", "twice"), ("g", "g")}
    # Without one of them used, all is analysed.
    none = '#include "k.h"\n' + of_g
    (unit,) = units(tmp_path, compiler, {"k.c": none}, "k.c")
    assert functions(unit) == {"g"}
    assert (unit.marks, unit.mark_problems) == ([], [])


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_what_is_not_there(tmp_path: Path) -> None:
    source = "int x;\n// incc: analyze\nint f(int a) {\n  return a + 1;\n}\n// incc: analyse\n"
    (unit,) = units(tmp_path, "gcc", {"k.c": source}, "k.c", marks="only")
    assert unit.kernels == []
    assert diagnostics.warnings(filled(t.AnalysisReport, {"units": [unit]}), {}) == (
        "k.c:3:1: warning: nothing to analyse here: it has no loop, the loop was optimised away, or its function "
        "was not compiled [-Wincc]\n"
        "k.c:6:10: warning: incc: takes analyze, not 'analyse' [-Wincc]\n"
    )
    # And where there is no mark nothing is.
    assert units(tmp_path, "gcc", {"k.c": LOOPS}, "k.c", marks="only") == []


@pytest.mark.skipif(not shutil.which("gfortran"), reason="no gfortran")
def test_fortran(tmp_path: Path) -> None:
    source = """\
subroutine s(a, b, n)
  integer :: n, i
  real(8) :: a(n), b(n)
  do i = 1, n
    b(i) = 3*b(i)
  end do
  ! incc: analyze name(update) expect(cycles < 1)
  do i = 1, n
    a(i) = a(i) + 2.0d0*b(i)
  end do
end subroutine
"""
    (unit,) = units(tmp_path, "gfortran", {"s.f90": source}, "s.f90")
    (mark,) = unit.marks
    assert (mark.at.line, mark.at_column, mark.last_line) == (8, 3, 10)
    assert {kernel.name for kernel in unit.kernels} == {"update"}
    assert all(8 <= kernel.source.line <= 10 for kernel in unit.kernels)
    assert [e.holds for e in mark.expectations] == [False]


LOOP = "f:\n\t.loc 1 3 3\n.L1:\n\tmulsd %xmm1, %xmm0\n\tdecq %rcx\n\tjne .L1\n\tret\n"


def of_mark(*conditions: str) -> Any:
    """The unit of a chain of multiplications, 4 cycles, whose marks come from somebody else, as from a plugin."""
    expected = tuple(MarkCondition(condition, 2, 20) for condition in conditions)
    mark = Mark(
        file="x.c",
        line=2,
        column=6,
        first_line=3,
        first_column=3,
        last_line=4,
        name="chain",
        mcpu=(),
        expected=expected,
    )
    text = '\t.file 1 "x.c"\n' + LOOP
    unit = Unit(assembly=text, assembly_file="x.s", source="x.c", marks=(mark,))
    return analyze_units([unit], settings_with(mcpu="skylake", what_ifs=False)).units[0]


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        ("cycles <= 2.5", "predicted 4.0 cycles per iteration on skylake, expected at most 2.5: chain through xmm0"),
        ("port > 3", "predicted port = 1 on skylake, expected more than 3: chain through xmm0"),
        ("cycles < 3 or is_loop and simulated and ipc > 1",
         "predicted 4.0 cycles per iteration on skylake (ipc = 0.75, is_loop = yes, simulated = yes), expected "
         "cycles < 3 or is_loop and simulated and ipc > 1: chain through xmm0"),
        ("flop_per_byte > 1", "expected flop_per_byte > 1, but flop_per_byte cannot be determined"),
        ("cycles == 4", ""),
        ("not cycles > 4", ""),
    ],
)  # fmt: skip
def test_what_is_said(condition: str, text: str) -> None:
    unit = of_mark(condition)
    (expectation,) = unit.marks[0].expectations
    assert expectation.text == text
    assert expectation.holds is (None if "cannot be determined" in text else not text)
    assert unit.kernels[0].name == "chain"


@pytest.mark.parametrize(
    ("condition", "column", "text"),
    [
        ("cycles <", 28, "expect: "),
        ("cycels < 3", 20, "expect: unknown name 'cycels'; did you mean cycles?"),
        ("cycles > +5%", 20, "expect: a relative change needs a baseline"),
        ("cycles", 20, "expect: 'cycles' is a number, not a condition; compare it with a value"),
    ],
)
def test_conditions_that_are_none(condition: str, column: int, text: str) -> None:
    unit = of_mark(condition, "cycles < 9")
    (problem,) = unit.mark_problems
    assert problem.source == t.SourceLocation(file="x.c", line=2)
    assert problem.column == column
    assert problem.text.startswith(text)
    assert [e.holds for e in unit.marks[0].expectations] == [True]
