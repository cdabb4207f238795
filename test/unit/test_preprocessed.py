"""Assembly that the compiler preprocesses is analysed and reported at the lines of its source."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from incc.driver.builds.jobs import Job, JobUnit, _made
from incc.driver.editing.analysis import analyse
from incc.driver.pipeline import analyze_unit
from incc.driver.settings import CoreSettings, Settings
from incc.frontends.asm.preprocessed import as_in_source
from incc.frontends.gcc_wrapper.compile import compile_units
from incc.live.requests import EditedFile, EditorSettings
from incc.report import types as t
from incc.report.build import build_report, unit_report

MACROS = """\
/* macros
   for tests */
#ifndef MACROS
#define MACROS
.macro body a # of a loop; with several lines
 vaddpd \\a, %ymm1, %ymm1
 .rept 2
  vmulpd \\a, %ymm2, %ymm2 # "
 .endr
.endm
.section .note.GNU-stack,"",@progbits # none; it
.text
.set STEP, 4
#endif
"""
SOURCE = """\
/* A comment
   of two lines. */
#include "macros.h"

#define TWICE(x) \\
 x ; \\
 x
.globl f
.type f, @function
f:
.L1:
 body %ymm0
 TWICE(inc %rcx)
#if 0
 nop
 nop
 nop
 nop
 nop
 nop
 nop
 nop
#endif
 add $STEP, %rax # bytes
 cmp %rbx, %rax
 jne .L1
 ret
 .size f, .-f
"""
LINES = [12, 12, 12, 13, 13, 24, 25, 26]
ARM_MACROS = """\
.macro body a, b
  .rept 2
    fmla \\a\\().2d, \\b\\().2d, v2.2d // multiply; add
  .endr
# a line that is a comment
.endm
ptr .req x0
"""
ARM = """\
// A comment.
#include "macros.h"
.type f, %function
f:
1:  ldr q1, [ptr], #16
    body v0, v1

    subs x2, x2, #1
    b.ne 1b
    ret
.size f, .-f
"""
ARM_LINES = [5, 6, 6, 8, 9]

COMPILERS = [c for c in ("gcc", "clang", "clang-19", "clang-14") if shutil.which(c)]
WAYS = [
    [c, *more]
    for c in COMPILERS
    for more in ([], ["-g3"], ["-pipe"], ["-x", "assembler-with-cpp"], ["-save-temps=obj"], ["-include", "macros.h"])
]
WAYS += [[c, "-traditional-cpp"] for c in COMPILERS if c == "gcc"]
ARM_WAYS = [["aarch64-linux-gnu-gcc"], *(["clang-19", "--target=aarch64-linux-gnu"] for c in COMPILERS if "19" in c)]


def report_of(command: list[str], folder: Path, core: str) -> t.AnalysisReport:
    (unit,) = compile_units(command, folder=folder).units
    return build_report([unit_report(analyze_unit(unit, Settings(core=CoreSettings(mcpu=core))))])


def lines_of(report: t.AnalysisReport | None) -> list[int]:
    assert report
    (kernel,) = report.units[0].kernels
    assert report.units[0].assembly_file.endswith("f.S")
    return [instruction.line for instruction in kernel.instructions]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a source and the header that it includes."""
    (tmp_path / "macros.h").write_text(MACROS)
    (tmp_path / "f.S").write_text(SOURCE)
    return tmp_path


@pytest.mark.parametrize("command", WAYS, ids=" ".join)
@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_lines_are_those_of_the_source(place: Path, command: list[str], newline: str) -> None:
    (place / "f.S").write_text(SOURCE, newline=newline)
    report = report_of([*command, "-c", "f.S"], place, "znver4")
    assert lines_of(report) == LINES
    (kernel,) = report.units[0].kernels
    assert "(line 12)" in kernel.verdict
    assert not kernel.refused


@pytest.mark.parametrize("command", ARM_WAYS, ids=" ".join)
def test_lines_of_arm(tmp_path: Path, command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"no {command[0]}")
    (tmp_path / "macros.h").write_text(ARM_MACROS)
    (tmp_path / "f.S").write_text(ARM)
    assert lines_of(report_of([*command, "-c", "f.S"], tmp_path, "neoverse-v2")) == ARM_LINES


@pytest.mark.parametrize("command", [[c] for c in COMPILERS], ids=" ".join)
def test_line_directives_do_not_move_code(place: Path, command: list[str]) -> None:
    (place / "f.S").write_text(
        ' nop\n#line 100 "f.in"\n nop\n#include "macros.h"\n#line 7\n\n# 2 "g"\n.L1:\n body %ymm0\n'
        "#if 0\n#line 14\n#endif\n" + "\n" * 9 + "#line 200\n sub $1, %rax\n jne .L1\n"
    )
    assert lines_of(report_of([*command, "-c", "f.S"], place, "znver4")) == [9, 9, 9, 23, 24]


def test_included_code_is_at_the_line_that_includes_it(place: Path) -> None:
    (place / "inner.h").write_text("\n\n add $1, %rcx # one; two\n")
    (place / "loop.h").write_text('.L1:\n#include "inner.h"\n sub $1, %rax\n')
    (place / "f.S").write_text('f:\n\n\n#include "loop.h"\n jne .L1\n')
    assert lines_of(report_of(["gcc", "-c", "f.S"], place, "znver4")) == [4, 4, 5]


def test_text_without_markers_stays(tmp_path: Path) -> None:
    assert as_in_source(SOURCE, str(tmp_path / "none")) == SOURCE
    before = ' nop # 1\n# 1 "a.S"\n ret\n'
    assert as_in_source(before, str(tmp_path / "none")).split("\n")[0].startswith(" nop")


@pytest.mark.parametrize("proper", [("cc1", "-E", "-lang-asm", "f.S"), ()])
def test_builds_know_what_was_preprocessed(place: Path, proper: tuple[str, ...]) -> None:
    subprocess.run(["gcc", "-E", "f.S", "-o", "f.i"], cwd=place, check=True)
    job_unit = JobUnit(source="f.S", way="given", file="f.i", proper=proper)
    words = ("-c", "f.S")
    job = Job(
        version=1,
        folder=str(place),
        compiler="gcc",
        words=("gcc",),
        given=words,
        output="f.o",
        environment={},
        units=(job_unit,),
        place=str(place),
    )
    unit, _ = _made(job, job_unit)
    lines = unit.assembly.split("\n")
    assert (lines.index(".L1:") + 1 == 11) == bool(proper)


def test_advice_on_assembly_is_not_about_compilers(place: Path) -> None:
    for kernel in report_of(["gcc", "-c", "f.S"], place, "znver4").units[0].kernels:
        assert not [hint for hint in kernel.hints if hint.flags]


@pytest.mark.parametrize("database", [True, False])
def test_editors_show_lines_of_unsaved_text(place: Path, database: bool) -> None:
    path = str(place / "f.S")
    if database:
        (place / "compile_commands.json").write_text(
            f'[{{"directory": "{place}", "file": "f.S", "arguments": ["gcc", "-c", "f.S"]}}]'
        )
    for text, moved in ((SOURCE, 0), ("\n\n\n" + SOURCE, 3), (SOURCE.replace(" body", "\n\n body"), 2)):
        answer = analyse(EditedFile(path=path, text=text, settings=EditorSettings(cores=("znver4",))))
        assert not answer.problem
        assert lines_of(answer.report)[-1] == 26 + moved
        use_saved(path)


def use_saved(path: str) -> None:
    from incc.support import sources

    sources._unsaved.pop(os.path.realpath(path), None)
