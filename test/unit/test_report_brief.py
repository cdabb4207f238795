"""The brief report has nothing that the whole one says otherwise."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from incc.driver.pipeline import Settings, analyze_units
from incc.frontends.unit import Unit

TEXT = """\
# LLVM-MCA-BEGIN a
vmovupd (%rdx,%rax), %ymm1
vfmadd213pd (%rsi,%rax), %ymm2, %ymm1
divl symbol(%rip)
jne .L4
# LLVM-MCA-END
# LLVM-MCA-BEGIN b
lock addl %eax, %ebx
# LLVM-MCA-END
"""


def contained(part: Any, whole: Any) -> bool:
    """Whether everything of a document is in another, at the same place."""
    if isinstance(part, dict):
        return all(name in whole and contained(value, whole[name]) for name, value in part.items())
    if isinstance(part, list):
        return len(part) == len(whole) and all(map(contained, part, whole))
    return bool(part == whole)


@pytest.mark.parametrize("core", ["skylake-avx512", "znver4"])
def test_brief_reports_say_what_whole_ones_do(core: str) -> None:
    asked = Settings(
        mcpu=core, regions="llvm-mca", steady=False, what_ifs=False, marks="ignore", syntax="att", cold_iterations=10
    )
    unit = Unit(assembly=TEXT, assembly_file="a.s")
    brief = analyze_units([unit], replace(asked, wanted=("text", "facts", "encoding", "pressure")))
    assert contained(brief, analyze_units([unit], asked))
    first = brief["units"][0]["kernels"][0]
    assert first["cold"] is not None
    assert len(first["instructions"]) == 4
    assert first["resources"]


def test_a_kernel_of_which_nothing_is_left_is_not_run() -> None:
    report = analyze_units(
        [Unit(assembly="frob %eax\n", assembly_file="a.s")],
        Settings(mcpu="skylake", regions="llvm-mca", steady=False, marks="ignore", cold_iterations=10),
    )
    assert report["units"][0]["kernels"][0]["cold"] is None
