"""The questions in docs/datasets.md: DuckDB, Polars and pandas run the examples, and give the same answers."""

from __future__ import annotations

import ast
import math
import platform
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from incc.driver.commands import scan

if platform.machine() != "x86_64" or not shutil.which("cc"):
    pytest.skip("no compiler for x86-64", allow_module_level=True)
pytest.importorskip("pyarrow", reason="no pyarrow")
duckdb = pytest.importorskip("duckdb", reason="no duckdb")
pytest.importorskip("polars", reason="no polars")
pandas = pytest.importorskip("pandas", reason="no pandas")

DOCUMENT = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```\w+ title=\"(DuckDB|Polars|pandas)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SETUP, *QUESTIONS = re.split(
    r"^### ", DOCUMENT.partition("\n## Questions\n")[2].partition("\n## ")[0], flags=re.MULTILINE
)
ENGINES = ("DuckDB", "Polars", "pandas")

# Each question has loops that it is about, whatever the compiler does.
VARIABLES = "abcdefghijklmopqrstuv"
SOURCE = f"""
double sum(const double *a, long n) {{
  double s = 0;
  for (long i = 0; i < n; i++) s += a[i];
  return s;
}}
double gather(const double *a, const int *at, long n) {{
  double s = 0;
  for (long i = 0; i < n; i++) s += a[at[i]];
  return s;
}}
void invert(double *a, long n) {{
  for (long i = 0; i < n; i++) a[i] = 1 / a[i];
}}
void total(volatile double *t, const double *a, long n) {{
  for (long i = 0; i < n; i++) *t += a[i];
}}
double spill(const double *x, long n) {{
  double {", ".join(f"{v} = x[{k}]" for k, v in enumerate(VARIABLES))};
  for (long z = 0; z < n; z++) {{
    double y = x[z];
    {" ".join(f"{v} = {v} * y + {w};" for v, w in zip(VARIABLES, VARIABLES[1:] + VARIABLES[0], strict=True))}
  }}
  return {" + ".join(VARIABLES)};
}}
void unknown(long n) {{
  do __asm__ volatile(".byte 0x62, 0xf2, 0x7d, 0x48, 0xc8, 0xc8"); while (--n); /* vexp2ps %zmm0, %zmm1 */
}}
"""


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with datasets of two builds, of which the new one has a file without vectors for sums."""
    top = tmp_path_factory.mktemp("datasets")
    fast = ["-O3", "-mavx2", "-ffast-math"]
    builds = {"old": {"a.o": fast, "b.o": [*fast, "-g"]}, "new": {"a.o": ["-O3", "-mavx2"], "b.o": [*fast, "-g"]}}
    with pytest.MonkeyPatch.context() as patch:
        for build, files in builds.items():
            place = top / f"build-{build}"
            place.mkdir()
            patch.chdir(place)
            for name, flags in files.items():
                subprocess.run(["cc", *flags, "-xc", "-c", "-", "-o", name], input=SOURCE, text=True, check=True)
            assert scan.main(["-mcpu=skylake,znver4", "-o", f"../{build}", "."]) == 0
    (top / "loops").symlink_to("new")
    return top


@pytest.fixture
def folder(datasets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work where the datasets are."""
    monkeypatch.chdir(datasets)


def blocks(section: str) -> dict[str, str]:
    return dict(BLOCK.findall(section))


def evaluated(code: str, names: dict[str, Any]) -> Any:
    """Return the value of the last expression of some code."""
    *statements, last = ast.parse(code).body
    exec(compile(ast.Module(statements, []), "datasets.md", "exec"), names)
    if not isinstance(last, ast.Expr):
        exec(compile(ast.Module([last], []), "datasets.md", "exec"), names)
        return None
    return eval(compile(ast.Expression(last.value), "datasets.md", "eval"), names)


def answer(engine: str, question: str) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the names of the columns and the rows of an answer."""
    setup, code = blocks(SETUP)[engine], blocks(question)[engine]
    if engine == "DuckDB":
        with duckdb.connect() as connection:
            result = connection.execute(setup + code)
            return [name for name, *_ in result.description], result.fetchall()
    names: dict[str, Any] = {}
    evaluated(setup, names)
    table = evaluated(code, names)
    rows = table.rows() if engine == "Polars" else [*table.itertuples(index=False, name=None)]
    return list(table.columns), rows


def plain(value: Any) -> Any:
    """Return a value as all engines have it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return pytest.approx(value) if isinstance(value, float) else value


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda text: text.splitlines()[0])
def test_engines_give_the_same_answer(question: str, folder: None) -> None:
    columns, rows = answer("DuckDB", question)
    assert rows
    for engine in ENGINES[1:]:
        other_columns, others = answer(engine, question)
        assert other_columns == columns, engine
        assert len(others) == len(rows), engine
        for row, other in zip(rows, others, strict=True):
            assert [plain(value) for value in other] == list(row), engine


def test_loops_that_share_a_name_are_not_compared(
    datasets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Functions without symbols share the names of others."""
    rows = pandas.read_parquet(datasets / "old" / "core=skylake")
    other = rows.assign(row=rows.row + len(rows), cycles_per_element=2 * rows.cycles_per_element)
    monkeypatch.chdir(tmp_path)
    for name in ("old", "new", "loops"):
        (tmp_path / name / "core=skylake").mkdir(parents=True)
        pandas.concat([rows, other]).to_parquet(f"{name}/core=skylake/rows-000001.parquet")
    (question,) = (text for text in QUESTIONS if text.startswith("Which loops became slower"))
    for engine in ENGINES:
        assert answer(engine, question)[1] == [], engine


def test_questions_have_an_answer_for_each_engine() -> None:
    assert len(QUESTIONS) >= 10
    for section in (SETUP, *QUESTIONS):
        assert tuple(blocks(section)) == ENGINES


def functions(question: str) -> set[str]:
    """Return the functions in DuckDB's answer to a question, which its first words name."""
    (section,) = (text for text in QUESTIONS if text.startswith(question))
    columns, rows = answer("DuckDB", section)
    names = {row[columns.index("function_name" if "function_name" in columns else "kernel_id")] for row in rows}
    return {name.partition("/")[0] for name in names}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Which loops gather", "gather"),
        ("Which loops spill", "spill"),
        ("Which loops wait for a divider", "invert"),
        ("Which loops became slower", "sum"),
        ("Which floating-point loops are scalar", "spill"),
        ("Which loops wait for a value", "total"),
    ],
)
def test_answers_name_the_loops_they_are_about(question: str, expected: str, folder: None) -> None:
    assert expected in functions(question)
