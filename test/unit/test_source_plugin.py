"""The plugin that reads marks in pragmas and attributes: what it finds, what it says, and that it changes nothing."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from incc.frontends.clang_plugin.find import source_plugin_for
from incc.frontends.clang_plugin.marks_table import read_mark_table
from incc.frontends.clang_plugin.table import TableError
from incc.frontends.kernel import SourceLocation
from incc.frontends.marks import Mark, MarkCondition, MarkError, marks_of


def _version(major: int) -> Any:
    reason = "no " + (f"source plugin for clang {major}" if shutil.which(f"clang-{major}") else f"clang-{major}")
    missing = not shutil.which(f"clang-{major}") or not source_plugin_for(major, {})
    return pytest.param(major, marks=pytest.mark.skipif(missing, reason=reason))


VERSIONS = [_version(major) for major in (14, 16, 19)]
every_version = pytest.mark.parametrize("major", VERSIONS)


def compile_marked(
    major: int, folder: Path, text: str, name: str = "k.c", options: tuple[str, ...] = ()
) -> tuple[tuple[Mark, ...], tuple[MarkError, ...], str]:
    """The marks of a source, what is wrong with others, and what clang prints."""
    (folder / name).write_text(text)
    table = folder / "marks.json"
    table.unlink(missing_ok=True)
    command = [f"clang-{major}", f"-fplugin={source_plugin_for(major, {})}", "-O1", "-S", "-o", "/dev/null"]
    environment = {**os.environ, "INCC_MARK_TABLE": str(table), "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [*command, *options, name], capture_output=True, text=True, env=environment, cwd=folder, check=False
    )
    assert done.returncode == 0, done.stderr
    return (*read_mark_table(table.read_text()), done.stderr)


def places(marks: tuple[Mark, ...]) -> list[tuple[str, int, int]]:
    """Name, first and last line of what each mark is about."""
    return [(mark.name, mark.first_line, mark.last_line) for mark in marks]


@every_version
def test_a_pragma_marks_the_loop_behind_it_or_around_it(major: int, tmp_path: Path) -> None:
    text = """
void f(float *a, int n, int m) {
#pragma incc analyze name(before)
  for (int i = 0; i < n; ++i)
    a[i] = 1;
  while (n--) {
#pragma incc analyze name(inside)
    a[n] += 1;
  }
  for (int i = 0; i < m; ++i) {
#pragma incc analyze name(inner)
    for (int j = 0; j < m; ++j)
      a[j] += i;
    a[i] *= 2;
#pragma incc analyze name(end)
  }
  for (int i = 0; i < m; ++i)
#pragma incc analyze name(unbraced)
    do a[m] += 1; while (m--);
  if (m)
#pragma incc analyze name(of_if)
    for (int i = 0; i < m; ++i)
      a[i] += a[i + 1];
#pragma incc analyze name(unrolled)
#pragma clang loop unroll_count(4)
  for (int i = 0; i < m; ++i)
    a[i] += 3;
#pragma incc analyze name(labelled)
again: for (int i = 0; i < m; ++i)
    a[i] += 3;
}
#pragma incc analyze name(function)
int g(int *a, int n) {
  int s = 0;
  while (n--) s += a[n];
  return s;
}
"""
    marks, errors, said = compile_marked(major, tmp_path, text)
    assert errors == ()
    assert said == ""
    assert places(marks) == [
        ("before", 4, 5),
        ("inside", 6, 9),
        ("inner", 12, 13),
        ("end", 10, 16),
        ("unbraced", 19, 19),
        ("of_if", 22, 23),
        ("unrolled", 26, 27),
        ("labelled", 29, 30),
        ("function", 33, 37),
    ]
    assert marks[0] == Mark(file="k.c", line=3, column=1, first_line=4, first_column=3, last_line=5, name="before")


@every_version
def test_clauses(major: int, tmp_path: Path) -> None:
    text = """#define LIMIT 2.5
void f(float *a, int n) {
#pragma incc analyze name(v1.x-y), mcpu(skylake-avx512, znver4) mcpu(icelake-server) \\
    expect(cycles <= LIMIT) expect((cycles  < 3) and function == "f")
  for (int i = 0; i < n; ++i) a[i] = 1;
}
"""
    ((mark,), errors, said) = compile_marked(major, tmp_path, text)
    assert errors == ()
    assert said == ""
    assert (mark.name, mark.mcpu) == ("v1.x-y", ("skylake-avx512", "znver4", "icelake-server"))
    assert mark.expected == (
        MarkCondition("cycles <= 2.5", 4, 12),
        MarkCondition('(cycles  < 3) and function == "f"', 4, 36),
    )


@every_version
def test_templates_lambdas_members_and_range_loops(major: int, tmp_path: Path) -> None:
    text = """
template <typename T> struct Sum {
  T total = 0;
  void add(const T *a, int n) {
#pragma incc analyze name(member)
    for (int i = 0; i < n; ++i)
      total += a[i];
  }
};
template <typename T> T twice(T *a, int n) {
  auto f = [&](int k) {
#pragma incc analyze name(lambda)
    for (int i = 0; i < k; ++i)
      a[i] *= 2;
  };
  f(n);
  return *a;
}
#pragma incc analyze name(linked)
extern "C" int g(float *a, double *b, int n, int (&c)[8]) {
  Sum<float>{}.add(a, n);
  Sum<double>{}.add(b, n);
#pragma incc analyze name(range)
  for (int &x : c)
    ++x;
  for (int i = 0; i < n; ++i) {
    auto h = [=](int k) {
      int s = 0;
#pragma incc analyze name(nothing)
      s += k;
      return s;
    };
    c[0] += h(i);
  }
  return twice(a, n) + twice(b, n);
}
"""
    marks, errors, _ = compile_marked(major, tmp_path, text, "k.cpp")
    assert places(marks) == [("member", 6, 7), ("lambda", 13, 14), ("linked", 20, 36), ("range", 24, 25)]
    # It is in a loop, but in another function.
    assert [(error.source.line, error.column) for error in errors] == [(29, 1)]


@every_version
def test_macros_and_headers(major: int, tmp_path: Path) -> None:
    (tmp_path / "h.h").write_text("""
#define HOT(x) _Pragma(x)
#define FILL(a, n) _Pragma("incc analyze name(fill)") for (int i = 0; i < n; ++i) a[i] = 1
static inline void clear(float *a, int n) {
#pragma incc analyze name(header)
  for (int i = 0; i < n; ++i) a[i] = 0;
}
""")
    text = """#include "h.h"
void f(float *a, int n) {
  HOT("incc analyze name(hot) expect(cycles < 3)")
  for (int i = 0; i < n; ++i)
    a[i] += 1;
  FILL(a, n);
  _Pragma("incc analyze name(operator)") while (n--) a[n] *= 2;
#if 0
#pragma incc analyze what
#endif
#line 100 "other.c"
#pragma incc analyze name(elsewhere)
  while (n++ < 7) a[n] *= 2;
}
"""
    marks, errors, said = compile_marked(major, tmp_path, text)
    assert errors == ()
    assert said == ""
    assert [(mark.file, *place) for mark, place in zip(marks, places(marks), strict=True)] == [
        ("./h.h", "header", 6, 6),
        ("k.c", "hot", 4, 5),
        ("k.c", "fill", 6, 6),
        ("k.c", "operator", 7, 7),
        ("other.c", "elsewhere", 101, 101),
    ]
    assert marks[1].expected == (MarkCondition("cycles < 3", 3, 3),)


@every_version
def test_openmp(major: int, tmp_path: Path) -> None:
    text = """void f(float *a, int n) {
#pragma incc analyze name(simd)
#pragma omp simd
  for (int i = 0; i < n; ++i)
    a[i] = 1;
#pragma omp parallel for
  for (int i = 0; i < n; ++i) {
#pragma incc analyze name(inside)
    a[i] += 2;
  }
}
"""
    marks, errors, _ = compile_marked(major, tmp_path, text, options=("-fopenmp",))
    assert errors == ()
    assert places(marks) == [("simd", 4, 5), ("inside", 7, 10)]


@every_version
def test_attributes(major: int, tmp_path: Path) -> None:
    text = """
#define WARM [[incc::analyze(name(macro))]]
[[incc::analyze]] int later(int *a, int n);
[[incc::analyze(name(elsewhere))]] int elsewhere(int);
[[incc::analyze(name(function) expect(cycles <=
                                         4))]] int f(int *a, int n) {
  int s = 0;
  [[incc::analyze(name(loop) mcpu(znver4))]] for (int i = 0; i < n; ++i)
    s += a[i];
  return s;
}
template <typename T> [[incc::analyze(name(pattern))]] T g(T *a, int n) {
  while (n--) *a += a[n];
  return *a;
}
WARM int h(int *a, int n) { return g(a, n) + later(a, n); }
[[using incc: analyze(name(short))]] int later(int *a, int n) {
  while (n--) *a += a[n];
  return *a;
}
"""
    marks, errors, said = compile_marked(major, tmp_path, text, "k.cpp", ("-std=c++17",))
    assert errors == ()
    assert said == ""
    assert sorted(places(marks)) == [
        ("", 17, 20),
        ("function", 6, 11),
        ("loop", 8, 9),
        ("macro", 16, 16),
        ("pattern", 12, 15),
        ("short", 17, 20),
    ]
    by_name = {mark.name: mark for mark in marks}
    assert by_name["function"].expected == (MarkCondition("cycles <= 4", 5, 39),)
    assert by_name["loop"].mcpu == ("znver4",)
    c = "[[incc::analyze(name(c))]] int f(int *a, int n) { while (n--) *a += a[n]; return *a; }\n"
    marks, errors, _ = compile_marked(major, tmp_path, c, options=("-std=c2x",))
    assert errors == ()
    assert places(marks) == [("c", 1, 1)]


WRONG = (Path(__file__).parents[1] / "lit/plugin/Inputs/marks-wrong.cpp").read_text()


@every_version
def test_what_is_wrong_is_in_the_table_as_clang_says_it(major: int, tmp_path: Path) -> None:
    _, errors, said = compile_marked(major, tmp_path, WRONG, "k.cpp")
    printed = re.findall(r"^k\.cpp:(\d+):(\d+): warning: (.*) \[-Wincc\]$", said, re.M)
    assert len(printed) > 15
    assert [(str(error.source.line), str(error.column), error.text) for error in errors] == printed
    # With -w, as in incc's second run, it says nothing and knows the same.
    _, quiet, said = compile_marked(major, tmp_path, WRONG, "k.cpp", ("-w",))
    assert said == ""
    assert quiet == errors


@every_version
def test_fixes_mend(major: int, tmp_path: Path) -> None:
    """What the table advises leaves nothing to advise."""
    _, errors, _ = compile_marked(major, tmp_path, WRONG, "k.cpp")
    lines = WRONG.split("\n")
    fixes = [error for error in errors if error.fix is not None]
    assert len(fixes) > 7
    for error in sorted(fixes, key=lambda error: -error.column):
        line = lines[error.source.line - 1]
        lines[error.source.line - 1] = line[: error.column - 1] + str(error.fix) + line[error.end_column - 1 :]
    marks, errors, _ = compile_marked(major, tmp_path, "\n".join(lines), "k.cpp")
    assert [error for error in errors if error.fix is not None] == []
    assert {"dot", "sum", "misspelled", "k"} <= {mark.name for mark in marks}


@every_version
def test_code_is_the_same(major: int, tmp_path: Path) -> None:
    marked = """
#pragma incc analyze name(f)
template <typename T> T f(T *a, int n) {
  T s = 0;
#pragma incc analyze expect(cycles < 1)
  for (int i = 0; i < n; ++i) s += a[i];
  return s;
}
[[incc::analyze]] float g(float *a, int n) { return f(a, n); }
"""
    (tmp_path / "k.cpp").write_text(marked)
    made = []
    for load in ([], [f"-fplugin={source_plugin_for(major, {})}"]):
        command = [f"clang-{major}", "-w", "-g", "-O2", "-c", "k.cpp", "-o", "k.o", *load]
        subprocess.run(command, check=True, cwd=tmp_path)
        made.append((tmp_path / "k.o").read_bytes())
    assert made[0] == made[1]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k.cpp", "k.o"], "no table unless it is asked for"


@pytest.mark.long
@every_version
def test_code_without_marks_is_the_same(major: int, tmp_path: Path) -> None:
    source = Path(__file__).parents[2] / "bench/elements_kernels.c"
    made = []
    for load in ([], [f"-fplugin={source_plugin_for(major, {})}"]):
        command = [f"clang-{major}", "-w", "-O2", "-march=skylake", "-c", str(source), "-o", "k.o", *load]
        subprocess.run(command, check=True, cwd=tmp_path)
        made.append((tmp_path / "k.o").read_bytes())
    assert made[0] == made[1]


_NAMES = st.text("abz09_", min_size=1, max_size=6).filter(lambda text: not text[0].isdigit())
_CONDITIONS = st.sampled_from(
    ["cycles <= 2.5", 'limit == "chain"', "(cycles < 3) or loads > 2", "cycles*2 < 4 and uops <= 3", 'name ~ "a)b("']
)


@pytest.mark.parametrize("major", VERSIONS[-1:])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=_NAMES, cores=st.lists(_NAMES, max_size=2), conditions=st.lists(_CONDITIONS, max_size=2))
def test_pragmas_say_what_comments_say(
    major: int, tmp_path: Path, name: str, cores: list[str], conditions: list[str]
) -> None:
    clauses = f"analyze name({name})"
    clauses += f" mcpu({', '.join(cores)})" if cores else ""
    clauses += "".join(f" expect({condition})" for condition in conditions)
    code = "void f(float *a, int n) {{\n{}\n  for (int i = 0; i < n; ++i) a[i] = 1;\n}}\n"
    ((pragma,), wrong, _) = compile_marked(major, tmp_path, code.format(f"#pragma incc {clauses}"))
    ((comment,), errors) = marks_of(code.format(f"// incc: {clauses}"), "k.c")
    assert wrong == ()
    assert errors == []
    said = [(mark.name, mark.mcpu, [expected.condition for expected in mark.expected]) for mark in (pragma, comment)]
    assert said[0] == said[1]
    assert pragma.first_line == comment.first_line == 3


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"version": 3, "marks": [], "problems": []}',
        '{"version": 2, "marks": [{}], "problems": []}',
        '{"version": 2, "marks": [], "problems": [{"file": "k.c", "line": "1", "column": 1, "message": "x"}]}',
        '{"version": 2, "marks": 1, "problems": []}',
    ],
)
def test_a_table_that_is_none(text: str) -> None:
    with pytest.raises(TableError):
        read_mark_table(text)


def test_a_table() -> None:
    entry: dict[str, object] = {"file": "k.c", "line": 1, "column": 2, "message": "x"}
    table = {"version": 2, "marks": [], "problems": [entry, {**entry, "end_column": 4, "fix": ""}]}
    assert read_mark_table(json.dumps(table)) == (
        (),
        (
            MarkError(source=SourceLocation("k.c", 1), column=2, text="x"),
            MarkError(source=SourceLocation("k.c", 1), column=2, text="x", end_column=4, fix=""),
        ),
    )


def test_which_plugin(tmp_path: Path) -> None:
    assert source_plugin_for(0, {}) == ""
    assert source_plugin_for(3, {}) == ""
    for off in ({"INCC_SOURCE_PLUGIN": "0"}, {"INCC_PLUGIN": "0"}):
        assert source_plugin_for(19, off) == ""
    named = str(tmp_path / "mine.so")
    assert source_plugin_for(19, {"INCC_SOURCE_PLUGIN": named}) == named
    assert source_plugin_for(19, {"INCC_SOURCE_PLUGIN": named, "INCC_PLUGIN": "0"}) == named


@every_version
def test_values_of_variables(major: int, tmp_path: Path) -> None:
    text = """
void f(float *a, int n, int m) {
#pragma incc analyze let(n = 800, rsi=-16) let(m=-1)
  for (int i = 0; i < n; ++i)
    a[i] += m;
#pragma incc analyze let(n) name(b)
  for (int i = 0; i < n; ++i)
    a[i] *= m;
}
"""
    marks, errors, _ = compile_marked(major, tmp_path, text)
    assert [mark.let for mark in marks] == [(("n", 800), ("rsi", -16), ("m", -1)), ()]
    (error,) = errors
    assert error.text == "let takes a register or variable and its value, such as rsi=8000, not 'n'"
    assert error.source.line == 6
