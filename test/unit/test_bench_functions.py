"""bench/functions.py: the table of functions, predictions, and the table's rows; nothing here depends on time."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import functions
import pytest

FILES = sorted(path for path in functions.FOLDER.iterdir() if path.suffix != ".toml")


def test_the_table_has_each_file_and_nothing_else() -> None:
    table = functions.functions()
    assert list(table) == [path.stem for path in FILES]
    assert len(table) == 30
    for name, function in table.items():
        assert f" {name}(" in function.prototype
        assert f"{name}(" in function.call


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_each_function_compiles_without_warnings(path: Path) -> None:
    compiler = functions.compiler_for(path, "gcc")
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    subprocess.run([compiler, "-O1", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", path], check=True)


@pytest.mark.parametrize(("name", "loops"), [("crc32", 1), ("mean_variance", 2)])
def test_the_prediction_adds_up_a_pass_of_each_main_loop(tmp_path: Path, name: str, loops: int) -> None:
    result = tmp_path / f"{name}.o"
    report = functions.compile_function(functions.source_of(name), "gcc", "-O3 -march=haswell", "haswell", result)
    main_loops = [kernel for kernel in report if kernel.role == "main"]
    assert result.exists()
    assert len(main_loops) == loops
    prediction = functions.predict(report)
    assert prediction.cycles == pytest.approx(sum(kernel.cycles_per_element for kernel in main_loops), rel=1e-4)
    assert not prediction.loop_only


def test_a_function_that_cannot_be_compiled_has_a_row_with_the_reason() -> None:
    function = functions.functions()["crc32"]
    row = functions.row("crc32", function, "gcc", "--no-such-option", "native")
    assert "no-such-option" in functions.line(row)
    assert functions.summary([row]) == [
        "gcc, loops: no function of 1 has an error",
        "gcc, calls: no function of 1 has an error",
    ]
    fortran = functions.row("rank1", functions.functions()["rank1"], "clang-19", "-O3", "native")
    assert "clang-19 has no Fortran compiler" in functions.line(fortran)


def test_errors_and_ranges_are_per_element_and_large_errors_have_their_reasons() -> None:
    prediction = functions.Prediction(
        cycles=2, least=2, most=3, loop_only=False, marks=["nest"], reasons=["2 to 3 cycles"]
    )
    timing = functions.Timing(elements=10, trips=40, cycles=160, steady=False)
    row = functions.Row(
        name="f", compiler="gcc", language="C", element="key", prediction=prediction, timing=timing, call=176.0
    )
    figures = "16.000    8.000  -50.0 %   17.600  +10.0 %  8.000–12.000    nest, outside, unsteady"
    assert functions.line(row).split(maxsplit=4)[4] == figures
    assert functions.summary([row]) == [
        "gcc, loops: 1 of 1 functions, median error 50.0 %, 0 % within 15 %",
        "gcc, calls: 1 of 1 functions, median error 10.0 %, 100 % within 15 %",
        "  f -50 %: 2 to 3 cycles",
    ]
