"""C++ and Fortran names in reports and in --function."""

from __future__ import annotations

import shutil

import pytest

from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.source import demangle as demangle_module
from incc.report.source.demangle import demangle, replace
from incc.views.text import render
from settings_fixtures import settings_with

needs_cxxfilt = pytest.mark.skipif(shutil.which("c++filt") is None, reason="no c++filt")

LOOP = """
	.type _ZN2ns3dotIdEET_PKS1_l, @function
_ZN2ns3dotIdEET_PKS1_l:
.L2:
	addsd (%rdi), %xmm0
	addq $8, %rdi
	call _ZdlPv
	decq %rsi
	jne .L2
	ret
	.type plain, @function
plain:
.L3:
	decq %rsi
	jne .L3
	ret
"""


def kernels(*functions: str) -> list[dict[str, str]]:
    settings = settings_with(mcpu="skylake", functions=functions, timeline_iterations=0)
    found: list[dict[str, str]] = analyze_units([Unit(assembly=LOOP, assembly_file="x.s")], settings).units[0].kernels
    return found


@needs_cxxfilt
def test_names_and_notes_are_readable_and_the_symbol_stays() -> None:
    kernel, plain = kernels()
    assert kernel.function == "_ZN2ns3dotIdEET_PKS1_l"
    assert kernel.function_name == "double ns::dot<double>(double const*, long)"
    assert any("operator delete(void*)" in note for note in kernel.notes)
    assert plain.function == plain.function_name == "plain"


@needs_cxxfilt
@pytest.mark.parametrize(
    "glob", ["_ZN2ns3dotIdEET_PKS1_l", "double ns::dot<double>", "*ns::dot*", "*(double const[*], long)"]
)
def test_functions_are_chosen_by_symbol_or_name(glob: str) -> None:
    assert [k.label for k in kernels(glob)] == [".L2"]


def test_without_cxxfilt_names_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    monkeypatch.setattr(demangle_module, "_known", {})
    assert demangle(["_Z1fv"]) == {}
    assert replace("a call to _Z1fv", {}) == "a call to _Z1fv"


@needs_cxxfilt
def test_names_are_asked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    once = demangle(["a call to _ZN5askedIdEEvv", "_ZN5asked4onceEv"])
    assert once == {"_ZN5askedIdEEvv": "void asked<double>()", "_ZN5asked4onceEv": "asked::once()"}
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("c++filt was run"))
    assert demangle(["_ZN5asked4onceEv"]) == {"_ZN5asked4onceEv": "asked::once()"}


@needs_cxxfilt
def test_known_names_stay_readable_when_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demangle_module, "_known", {"_Z1fv": "f()"})
    monkeypatch.setattr(demangle_module, "_MOST_KNOWN", 0)
    assert demangle(["_Z1fv", "_Z1gv"]) == {"_Z1fv": "f()", "_Z1gv": "g()"}
    assert demangle_module._known == {"_Z1fv": "f()", "_Z1gv": "g()"}


def test_nothing_is_run_for_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("c++filt was run"))
    assert demangle(["main", "x_Zf", "a note"]) == {}


def test_fortran_needs_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("c++filt was run"))
    readable = demangle(["__grid_tools_MOD_jacobi_step", "a call to __a_MOD_b"])
    assert replace("__grid_tools_MOD_jacobi_step", readable) == "grid_tools::jacobi_step"
    assert replace("a call to __a_MOD_b", readable) == "a call to a::b"


def test_fortran_functions_are_chosen_by_name() -> None:
    text = LOOP.replace("plain", "__kernels_MOD_jacobi")
    for glob in ("kernels::jacobi", "__kernels_MOD_jacobi", "*jacobi"):
        settings = settings_with(mcpu="skylake", functions=(glob,), timeline_iterations=0)
        (kernel,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], settings).units[0].kernels
        assert kernel.function_name == "kernels::jacobi"


def test_inlined_loops_are_near_the_functions_own_lines() -> None:
    text = (
        '\t.file 1 "own.cpp"\n\t.file 2 "algo.h"\n\t.type f, @function\nf:\n\t.loc 1 3 1\n\tnop\n\t.loc 1 5 1\n\tnop\n'
    )
    text += ".L1:\n\t.loc 2 77 1\n\tdecq %rdi\n\tjne .L1\n\t.loc 1 6 1\n\tnop\n"
    text += ".L2:\n\t.loc 1 7 1\n\tdecq %rdi\n\tjne .L2\n\tret\n"
    report = analyze_units(
        [Unit(assembly=text, assembly_file="x.s")], settings_with(mcpu="skylake", timeline_iterations=0)
    )
    inlined, own = report.units[0].kernels
    assert inlined.source == t.SourceLocation("algo.h", 77)
    assert inlined.near == t.SourceLocation("own.cpp", 5)
    assert own.near is None
    assert "Loop at .L1, x.s:11-12, near own.cpp:5\n" in render(report, 100)
