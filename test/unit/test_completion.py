"""Kernels that builds analyse in two steps: what the second one adds, and that both give what one would have given."""

from __future__ import annotations

import json
import os
import zlib
from base64 import b64encode
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.driver.commands.report import main as incc_report
from incc.driver.completion import completed
from incc.driver.pipeline import analyze_units
from incc.driver.settings import CoreSettings, Scope, Settings
from incc.frontends import kept
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.documents import read_report
from incc.report.folder.cache import Cached, UnitCache
from incc.report.folder.outcome import put
from properties import examples

TEXT = """\
\t.text
\t.globl\tsum
\t.type\tsum, @function
sum:
\tvxorpd\t%xmm0, %xmm0, %xmm0
\tleaq\t(%rdi,%rsi,8), %rax
.L3:
\tvaddsd\t(%rdi), %xmm0, %xmm0
\taddq\t$8, %rdi
\tcmpq\t%rdi, %rax
\tjne\t.L3
\tret
\t.size\tsum, .-sum
\t.globl\tcount
\t.type\tcount, @function
count:
\txorl\t%eax, %eax
.L7:
\tmovslq\t(%rsi,%rax,4), %rdx
\ttestl\t%edx, %edx
\tjs\t.L8
\taddl\t$1, (%rdi,%rdx,4)
.L8:
\taddq\t$1, %rax
\tcmpq\t%rax, %rcx
\tjne\t.L7
.L9:
\tmovq\t(%r8), %r8
\ttestq\t%r8, %r8
\tjne\t.L9
\tret
\t.size\tcount, .-count
"""
UNIT = Unit(
    assembly=TEXT,
    assembly_file="x.s",
    source="x.c",
    compiler="gcc",
    command=("gcc", "-O2", "-c", "x.c"),
    arguments=("-O2", "-c", "x.c"),
    folder="/src",
    output="x.o",
    way="assembler",
)
SETTINGS = Settings(core=CoreSettings(mcpu="skylake"), later=True)


def of_build(unit: Unit = UNIT) -> t.AnalysisReport:
    return analyze_units([unit], SETTINGS)


def whole(unit: Unit = UNIT) -> t.AnalysisReport:
    return analyze_units([unit], replace(SETTINGS, later=False))


def test_a_build_leaves_what_only_readers_of_a_kernel_need() -> None:
    for kernel, complete in zip(of_build().units[0].kernels, whole().units[0].kernels, strict=True):
        assert kernel.incomplete
        assert not complete.incomplete
        assert not kernel.what_ifs
        assert complete.what_ifs
        assert kernel.timeline is None
        assert complete.timeline
        assert (kernel.hints, kernel.cycles, kernel.elements) == (complete.hints, complete.cycles, complete.elements)
    assert [bool(kernel.range) for kernel in whole().units[0].kernels] == [False, True, False]


@examples(10)
@given(st.sets(st.sampled_from([kernel.kernel_id for kernel in whole().units[0].kernels])))
def test_each_kernel_is_completed_alone(wanted: set[str]) -> None:
    done = completed(of_build(), wanted)
    assert not done.problems
    complete = {kernel.kernel_id: kernel for kernel in whole().units[0].kernels}
    for kernel in done.report.units[0].kernels:
        assert kernel.incomplete == (kernel.kernel_id not in wanted)
        assert kernel.incomplete or kernel == complete[kernel.kernel_id]
    assert bool(done.report.units[0].code) == (len(wanted) < len(complete))


def test_all_kernels_together_are_the_report_of_one_step() -> None:
    assert completed(of_build()).report == whole()
    assert completed(whole()).report == whole()


@pytest.mark.parametrize(
    "settings",
    [
        replace(SETTINGS, scope=Scope(ways=("paths",))),
        replace(SETTINGS, kernel=replace(SETTINGS.kernel, waits=True)),
        replace(SETTINGS, core=CoreSettings(mcpu="skylake", lacking=True)),
        replace(SETTINGS, report=replace(SETTINGS.report, mispredict_rate=0.5)),
    ],
)
def test_what_is_requested_is_not_left(settings: Settings) -> None:
    unit = analyze_units([UNIT], settings).units[0]
    assert not unit.code
    assert not any(kernel.incomplete for kernel in unit.kernels)


def test_code_that_reads_files_is_analysed_at_once() -> None:
    unit = of_build(replace(UNIT, assembly=f'{TEXT}\t.incbin "{os.devnull}"\n')).units[0]
    assert not any(kernel.incomplete for kernel in unit.kernels)


def test_code_from_a_report_reads_no_files() -> None:
    assert UNIT.reads_files
    code = kept.pack(kept.KeptCode(unit=replace(UNIT, trusted=True)))
    assert not kept.unpack(code).unit.reads_files


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        ("", "damaged"),
        ("AAAA", "damaged"),
        ("é", "damaged"),
        (b64encode(zlib.compress(msgspec.msgpack.encode(1))).decode(), "damaged"),
        (b64encode(zlib.compress(bytes(1 << 10)))[:-8].decode(), "damaged"),
        (b64encode(zlib.compress(bytes(kept.MOST_BYTES + 1))).decode(), "too large"),
        (kept.pack(kept.KeptCode(unit=replace(UNIT, assembly=""))), "has no sum"),
    ],
)
def test_damaged_code_is_a_problem_and_changes_nothing(code: str, problem: str) -> None:
    report = of_build()
    report.units[0].code = code
    done = completed(report)
    assert len(done.problems) == 1
    assert done.problems[0].startswith("x.c: not completed: ")
    assert problem in done.problems[0]
    assert done.report == report


def test_another_version_completes_nothing() -> None:
    other = replace(of_build(), tool=t.Tool(name="incc", version="0.0.1"))
    done = completed(other)
    assert done.problems == (
        "x.c: not completed: incc 0.0.1 analysed it, but this is " + of_build().tool.version + "; compile it again",
    )
    assert done.report == other


def text_of(report: t.AnalysisReport) -> bytes:
    return msgspec.json.encode(report) + b"\n"


def table(folder: Path, capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert incc_report([str(folder), *options]) == 0
    return capsys.readouterr().out


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of reports as a build leaves it, with a cache that has the same."""
    made = tmp_path / "r"
    made.mkdir()
    put(str(made), "x.json", of_build().units[0], text_of(of_build()), key="ab" * 16)
    monkeypatch.setenv("INCC_CACHE", str(tmp_path / "cache"))
    assert UnitCache(str(tmp_path / "cache")).store("ab" * 16, Cached("x.json", "rest", text_of(of_build())))
    return made


def test_a_ranking_completes_the_rows_that_it_shows(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = table(folder, capsys, "--top=2")
    kernels = read_report((folder / "x.json").read_bytes(), "x").units[0].kernels
    assert sorted(kernel.incomplete for kernel in kernels) == [False, False, True]
    cached = UnitCache(str(folder.parent / "cache")).find("ab" * 16)
    assert cached is not None
    assert cached.report == (folder / "x.json").read_bytes()
    # What a complete report gives, now and the next time.
    assert table(folder, capsys, "--top=2") == shown
    (folder / "x.json").write_bytes(text_of(whole()))
    assert table(folder, capsys, "--top=2") == shown


@pytest.mark.parametrize(
    "options", [("--format=json",), ("--all",), ("--where=cycles_most > 0",), ("--sort=headroom",)]
)
def test_what_compares_all_kernels_completes_them(
    options: tuple[str, ...], folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shown = table(folder, capsys, *options)
    (folder / "x.json").write_bytes(text_of(whole()))
    assert table(folder, capsys, *options) == shown


def test_files_that_no_build_lists_are_not_replaced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(text_of(of_build()))
    assert json.loads(table(file, capsys, "--format=json"))["rows"][0]["headroom"]["by"] == "what-if"
    assert table(file, capsys)
    assert file.read_bytes() == text_of(of_build())


def test_a_cache_with_another_report_stays(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cache = UnitCache(str(folder.parent / "cache"))
    assert cache.store("ab" * 16, Cached("x.json", "rest", b"other\n"))
    table(folder, capsys)
    assert (cached := cache.find("ab" * 16)) is not None
    assert cached.report == b"other\n"
