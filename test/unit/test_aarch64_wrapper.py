"""Cross compilers for AArch64 under incc: objects stay the same, and reports name the loops, in C, C++ and Fortran."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import subprocess

import pytest

SOURCES = {
    "x.c": "double f(const double *a, const double *b, int n) {\n"
    "  double s = 0;\n  for (int i = 0; i < n; i++) s += a[i] * b[i];\n  return s;\n}\n",
    "x.cpp": "#include <vector>\nvoid f(std::vector<float> &y, const std::vector<float> &x, float a) {\n"
    "  for (std::size_t i = 0; i < y.size(); ++i) y[i] += a * x[i];\n}\n",
    "x.f90": "subroutine f(a, b, n)\n integer :: n\n real(8) :: a(n), b(n)\n a = a * b + 2d0\nend subroutine\n",
}
CASES = [
    ("aarch64-linux-gnu-gcc -Ofast -mcpu=neoverse-n1", "x.c", "neoverse-n1"),
    ("aarch64-linux-gnu-g++ -O3 -g -mcpu=neoverse-v1", "x.cpp", "neoverse-v1"),
    ("aarch64-linux-gnu-gfortran -O3 -mcpu=a64fx", "x.f90", "a64fx"),
    ("clang-14 --target=aarch64-linux-gnu -O3 -mcpu=cortex-a72", "x.c", "cortex-a72"),
    ("clang-16 --target=aarch64-linux-gnu -O3 -mcpu=neoverse-v2", "x.c", "neoverse-v2"),
    ("clang-19 --target=aarch64-linux-gnu -O3 -g -mtune=thunderx2t99", "x.c", "thunderx2t99"),
]


@pytest.mark.parametrize("mode", ["full", "lean"])
@pytest.mark.parametrize(("command", "source", "core"), CASES)
def test_objects_are_those_of_the_compiler_alone(
    tmp_path: pathlib.Path, command: str, source: str, core: str, mode: str
) -> None:
    words = command.split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    (tmp_path / source).write_text(SOURCES[source])
    plain = [*words, "-c", source, "-o", "x.o"]
    if subprocess.run(plain, cwd=tmp_path, capture_output=True).returncode:
        pytest.skip(f"{words[0]} lacks headers or the core")
    expected = (tmp_path / "x.o").read_bytes()
    environment = {**os.environ, "INCC_MODE": mode, "INCC_WORKERS": "0"}
    run = subprocess.run(
        ["incc", *plain, "--analyze=x.json", "--analyze-format=json"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert (tmp_path / "x.o").read_bytes() == expected
    (unit,) = json.loads((tmp_path / "x.json").read_text())["units"]
    assert unit["model"]["name"] == core
    main = unit["kernels"][0]
    assert main["function"] in ("f", "f_", "_Z1fRSt6vectorIfSaIfEERKS1_f")
    assert main["elements"]["per_iteration"] > 1
    if mode == "full" or "-g" in words:
        assert main["source"]["line"] in (3, 4)


def test_comments_of_clang_may_contain_zero_bytes(tmp_path: pathlib.Path) -> None:
    text = ".type f, %function\nf:\n.L1:\tsubs x0, x0, 1 // \0\n\tb.ne .L1\n\tret\n"
    (tmp_path / "x.s").write_text(text)
    run = subprocess.run(
        ["incc-mca", "-mcpu=neoverse-n1", "--auto", "x.s"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr) == (0, "")
    (tmp_path / "x.s").write_text(text.replace("ret", "ret \0"))
    run = subprocess.run(
        ["incc-mca", "-mcpu=neoverse-n1", "--auto", "x.s"], cwd=tmp_path, capture_output=True, text=True
    )
    assert (run.returncode, run.stderr.count("contains NUL bytes")) == (1, 1)
