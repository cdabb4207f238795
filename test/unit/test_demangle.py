"""C++ names in reports and in --function."""

from __future__ import annotations

import shutil

import pytest

from incc.driver.demangle import demangle, replace
from incc.driver.pipeline import Settings, Unit, analyze_units

needs_cxxfilt = pytest.mark.skipif(shutil.which("c++filt") is None, reason="c++filt is not installed")

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
    settings = Settings(mcpu="skylake", functions=functions, timeline_iterations=0)
    found: list[dict[str, str]] = analyze_units([Unit(LOOP, "x.s")], settings)["units"][0]["kernels"]
    return found


@needs_cxxfilt
def test_names_and_notes_are_readable_and_the_symbol_stays() -> None:
    kernel, plain = kernels()
    assert kernel["function"] == "_ZN2ns3dotIdEET_PKS1_l"
    assert kernel["function_name"] == "double ns::dot<double>(double const*, long)"
    assert any("operator delete(void*)" in note for note in kernel["notes"])
    assert plain["function"] == plain["function_name"] == "plain"


@needs_cxxfilt
@pytest.mark.parametrize(
    "glob", ["_ZN2ns3dotIdEET_PKS1_l", "double ns::dot<double>", "*ns::dot*", "*(double const[*], long)"]
)
def test_functions_are_chosen_by_symbol_or_name(glob: str) -> None:
    assert [k["label"] for k in kernels(glob)] == [".L2"]


def test_without_cxxfilt_names_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert demangle(["_Z1fv"]) == {}
    assert replace("a call to _Z1fv", {}) == "a call to _Z1fv"


def test_nothing_is_run_for_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("subprocess.run", lambda *_, **__: pytest.fail("c++filt was run"))
    assert demangle(["main", "x_Zf", "a note"]) == {}
