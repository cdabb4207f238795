"""Kernels that share an analysis have the rows that they would have by themselves."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

pytest.importorskip("pyarrow", reason="no pyarrow")

from random_c import random_program

from incc.driver.commands.scan import main
from incc.driver.commands.scan.analysis import InputAnalyser
from incc.fleet.dataset.columns import COLUMNS
from incc.report import types as t

LOOPS = """
static float table[4096];
void NAME_scale(float *a, long n) { for (long i = 0; i < n; i++) a[i] = a[i] * 3 + table[i & 4095]; }
double NAME_sum(const double *a, long n) { double s = 0; for (long i = 0; i < n; i++) s += a[i]; return s; }
void NAME_nest(int *a, int n) { for (int j = 0; j < n; j++) for (int i = 0; i < n; i++) a[i * n + j] ^= a[j] + i; }
long NAME_find(const char *a, char x) { long n = 0; while (a[n] != x && a[n]) n++; return n; }
int NAME_call(int (*f)(int), int n) { int s = 0; for (int i = 0; i < n; i++) s += f(i); return s; }
"""


def rows(capsys: pytest.CaptureFixture[str], *words: str) -> list[dict[str, Any]]:
    main(["-mcpu=skylake,znver3", "-j1", *words])
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def without(row: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in names}


@pytest.mark.parametrize("compiler", ["gcc", "clang-16", "clang"])
@pytest.mark.parametrize("flags", ["-O2", "-O3 -g"])
def test_shared_rows_are_those_of_separate_analyses(
    compiler: str, flags: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if not shutil.which(compiler):
        pytest.skip(f"no {compiler}")
    monkeypatch.chdir(tmp_path)
    text = random_program(5)
    # Copies at other addresses and alignments, under other names, and after other code.
    for name, pad in (("one", 0), ("two", 3), ("three", 21)):
        padding = f'__asm__(".text\\n.skip {pad}, 0x90\\n");\n'
        loops = LOOPS.replace("NAME", name)
        Path(f"{name}.c").write_text(f'# 1 "same.c"\n{text}\n{padding}{loops}')
        subprocess.run([compiler, *flags.split(), "-w", "-fPIC", "-c", f"{name}.c"], check=True)
    subprocess.run([compiler, "-shared", "one.o", "two.o", "three.o", "-Wl,-z,muldefs", "-o", "all.so"], check=True)
    files = ["one.o", "two.o", "three.o", "all.so"]
    shared = rows(capsys, "--json", *files)
    monkeypatch.setattr(InputAnalyser, "names_values", True)  # so that each group has a key of its own
    alone = rows(capsys, "--json", *files)
    assert [without(row, "hash") for row in shared] == [without(row, "hash") for row in alone]
    assert len({row["hash"] for row in shared}) < len({row["hash"] for row in alone}) == len(alone) / 2
    assert rows(capsys, "--json", "-j3", *files) == alone
    main(["-mcpu=skylake,znver3", "-j1", "--format=reports", *files])
    reported: list[dict[str, Any]] = []
    for line in capsys.readouterr().out.splitlines():
        report = msgspec.json.decode(line, type=t.AnalysisReport)
        for n in range(len(report.units[0].kernels)):
            reported += [{name: COLUMNS[name].of(unit, unit.kernels[n]) for name in COLUMNS} for unit in report.units]
    unknown = ("row", "binary", "member", "hash")
    reported = json.loads(msgspec.json.encode(reported))  # which has no infinity
    assert [without(row, *unknown) for row in shared] == [without(row, *unknown) for row in reported]
