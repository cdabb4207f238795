"""Kernels that are measured: with a stand-in for the harness, what commands and reports say; with the harness itself,
that nothing escapes. No test looks at how long anything takes."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from msgspec.structs import replace

import incc
from incc.driver.commands import diff, mca, scan
from incc.driver.pipeline import AnalysisError, analyze_units
from incc.frontends.unit import Unit
from incc.frontends.x86.kernels import decode_bytes
from incc.measuring import harness, kernels
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement, Unavailable
from incc.measuring.kernels import Prepared, lacking, measure_kernels, prepare
from incc.report import types as t
from incc.views.html import render as page
from incc.views.schemas import schema
from settings_fixtures import settings_with

SUM = """
f:
.L1:
	vaddsd	(%rdi), %xmm0, %xmm0
	addq	$8, %rdi
	cmpq	%rdi, %rsi
	jne	.L1
	ret
"""
NEEDED = """
f:
.L1:
	addq	(%rdi,%rcx,8), %rax
	andq	%rsi, %rcx
	jne	.L1
	ret
"""
CALL = """
f:
.L1:
	call	g
	subq	$1, %rbx
	jne	.L1
	ret
"""
WAYS = """
f:
.L1:
	cmpq	$3, (%rdi)
	je	.L2
	addq	%rdi, %rax
.L2:
	addq	$8, %rdi
	cmpq	%rdi, %rsi
	jne	.L1
	ret
"""


class Standin:
    """Gives cycles in turn, and keeps what it was asked to measure."""

    def __init__(self, *found: Measurement | LoopFailure | Exception) -> None:
        self.found = list(found)
        self.loops: list[MachineLoop] = []

    def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
        self.loops.append(loop)
        found = self.found.pop(0) if len(self.found) > 1 else self.found[0]
        if isinstance(found, Exception):
            raise found
        return found

    def close(self) -> None: ...


def took(cycles: float, spread: float = 0.01) -> Measurement:
    return Measurement(cycles=cycles, spread=spread, way="clock", events={})


@pytest.fixture(autouse=True)
def _x86(monkeypatch: pytest.MonkeyPatch) -> None:
    """An x86-64 machine of that core, with all that it has."""
    monkeypatch.setattr("incc.measuring.kernels.platform.machine", lambda: "x86_64")
    monkeypatch.setattr("incc.models.loading.host_cpu", lambda: ("skylake-avx512", ""))
    host = replace(kernels.read(), features=frozenset())
    monkeypatch.setattr(kernels, "read", lambda: host)


def standin(monkeypatch: pytest.MonkeyPatch, *found: Measurement | LoopFailure | Exception) -> Standin:
    made = Standin(*found)
    monkeypatch.setattr(harness, "Harness", lambda unsafe=False: made)
    return made


def report(text: str, **more: Any) -> t.MeasurementReport:
    made = analyze_units([Unit(assembly=text, assembly_file="a.s")], settings_with(measure=True, **more))
    jsonschema.Draft202012Validator(schema("report/report")).validate(msgspec.to_builtins(made))
    (kernel,) = made.units[0].kernels
    assert kernel.measured is not None
    return kernel.measured


# --- kernels ----------------------------------------------------------------------------------------------------------


def test_what_is_added_is_taken_off(monkeypatch: pytest.MonkeyPatch) -> None:
    used = standin(monkeypatch, took(5.5), took(5.5), took(6.0), took(6.0))
    found = report(NEEDED)
    assert (found.cycles, found.exit) == (5.0, "added")
    assert found.spread == pytest.approx(0.01 * 5**0.5, abs=1e-6)
    assert len(used.loops) == 4


@pytest.mark.parametrize(("one", "two", "cycles"), [(1.2, 1.9, 1.0), (0.8, 1.0, 0.8), (9.0, 12.0, 8.0)])
def test_what_is_taken_off_leaves_a_taken_jump(
    monkeypatch: pytest.MonkeyPatch, one: float, two: float, cycles: float
) -> None:
    """Twice the first minus the second: 0.5, 0.6, and three cycles less for one more µop."""
    standin(monkeypatch, took(one), took(one), took(two), took(two))
    assert report(NEEDED).cycles == cycles


def test_nothing_becomes_faster_by_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(5.5), took(5.5), took(5.2))
    assert report(NEEDED).cycles == 5.5


def test_code_that_is_no_loop_is_the_difference_of_two_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    used = standin(monkeypatch, took(41.0), took(41.0), took(81.0))
    (found,) = measure_kernels([decode_bytes(bytes.fromhex("480fafc1"))])  # imul
    assert not isinstance(found, LoopFailure)
    copies = len(decode_bytes(used.loops[0].code).instructions) - 2
    assert found.cycles == pytest.approx(40 / copies)
    assert found.exit == "repeated"


def test_equal_code_is_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    used = standin(monkeypatch, took(1.0))
    code = bytes.fromhex("4801c849ffcf75f8")
    assert len({found for found in measure_kernels([decode_bytes(code)] * 3)}) == 1  # noqa: C416
    assert [loop.code for loop in used.loops] == [code] * 2
    assert used.loops[0].counter == 15


@pytest.mark.parametrize(
    ("readings", "cycles"),
    [((4.0, 4.05), 4.0), ((31.96, 8.54, 8.5), 8.5), ((9.0, 7.0, 5.0, 4.0, 3.0, 3.02), 3.0), ((0.5, 0.515), 0.5)],
)
def test_readings_are_repeated_until_two_agree(
    monkeypatch: pytest.MonkeyPatch, readings: tuple[float, ...], cycles: float
) -> None:
    used = standin(monkeypatch, *map(took, readings))
    found = report(SUM)
    assert found.cycles == cycles
    assert found.spread is not None
    assert found.spread >= abs(readings[-1] - cycles) - 1e-9
    assert len(used.loops) == len(readings)


def test_readings_that_were_disturbed_agree_with_none_if_there_are_better(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(2.98, 0.8), took(2.99, 0.8), took(1.99), took(2.0))
    assert report(SUM).cycles == 1.99
    standin(monkeypatch, took(2.98, 0.8), took(2.99, 0.8))
    assert report(SUM).spread == 0.8


def test_readings_of_which_no_two_agree_are_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, *map(took, (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)))
    found = report(SUM)
    assert (found.cycles, found.failure) == (None, "unsteady")
    assert "no two of 6 readings are within 2 %: 1.00, 2.00" in found.text


def test_a_failure_is_the_kernels_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, LoopFailure("SIGILL", "no such instruction"), took(2.0))
    codes = ("4801c849ffcf75f8", "0f05", "4829c849ffcf75f8")
    found = list(measure_kernels(decode_bytes(bytes.fromhex(code)) for code in codes))
    assert [getattr(one, "kind", "") for one in found] == ["SIGILL", "system", ""]


@pytest.mark.parametrize("error", [Unavailable("llvmlite is missing"), OSError(12, "no memory"), RuntimeError("odd")])
def test_where_nothing_can_be_measured_every_kernel_says_so(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    standin(monkeypatch, error)
    codes = ("4801c849ffcf75f8", "4829c849ffcf75f8")
    for found in measure_kernels(decode_bytes(bytes.fromhex(code)) for code in codes):
        assert isinstance(found, LoopFailure)
        assert found.kind == "unavailable"
        assert str(error.args[-1]) in found.text


def test_features_that_the_processor_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    there = frozenset(("avx", "avx2", "avx512f", "avx512vl", "sse2", "fma"))
    assert lacking({"AVX512F", "AVX512_FP16", "CMOV", "X64", "FMA4"}, there) == ["AVX512_FP16", "FMA4"]
    assert lacking({"SSE3", "LZCNT", "BMI1"}, frozenset(("pni", "abm", "bmi"))) == []
    assert lacking({"AVX512F"}, frozenset()) == []
    host = replace(kernels.read(), features=there)
    monkeypatch.setattr(kernels, "read", lambda: host)
    found = prepare(decode_bytes(bytes.fromhex("62f57c4858c1")))  # vaddph zmm
    assert isinstance(found, LoopFailure)
    assert found == LoopFailure("features", "this processor does not have AVX512_FP16")


def test_code_of_another_instruction_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incc.measuring.kernels.platform.machine", lambda: "aarch64")
    found = prepare(decode_bytes(bytes.fromhex("4801c8")))
    assert isinstance(found, LoopFailure)
    assert found.kind == "isa"


# --- reports ----------------------------------------------------------------------------------------------------------


def test_the_report_of_what_is_as_predicted(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(4.001))
    found = report(SUM)
    assert msgspec.to_builtins(found) == {
        "cycles": 4.001,
        "spread": 0.01,
        "way": "clock",
        "exit": "own",
        "core": "skylake-avx512",
        "same_core": True,
        "difference": round(4 / 4.001 - 1, 6),
        "failure": "",
        "notes": [],
        "explanations": [],
        "text": "measured on skylake-avx512: 4 cycles ± 0.01, ended by its own counter; the prediction is the same",
    }


def test_a_difference_is_explained_from_ten_percent_on(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(4.3))
    assert report(SUM).explanations == []
    standin(monkeypatch, took(5.0))
    found = report(SUM)
    assert found.explanations == []
    assert found.text.endswith("the prediction is 20 % lower, for unknown reasons")
    standin(monkeypatch, took(3.0))
    (why,) = report(SUM).explanations
    assert why.startswith("the model's figures are too high for this core, since ")
    assert why.endswith("faster than its bound by the longest loop-carried chain")
    standin(monkeypatch, took(6.0, 1.0))
    (why,) = report(SUM).explanations
    assert why.startswith("the samples differ by 1 cycle ")
    # Samples that differ by far less than that are no reason.
    standin(monkeypatch, took(16.0, 1.0))
    assert report(SUM).explanations == []


def test_what_does_not_repeat_is_no_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(0.0, 400.0))
    found = report(SUM)
    assert (found.cycles, found.failure) == (None, "unsteady")
    assert "its times do not repeat" in found.text
    standin(monkeypatch, took(4.0, 3.9))
    assert report(SUM).failure == ""


def test_code_across_a_boundary_explains_what_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    across = ".p2align 6\nf:\n.skip 56, 0x90" + SUM.partition("f:")[2]
    standin(monkeypatch, took(5.0))
    (why,) = report(across).explanations
    assert why == "the code's alignment makes it cross one more 64-byte boundary than necessary"
    standin(monkeypatch, took(3.0))
    assert not any("boundary" in each for each in report(across).explanations)


def test_another_core_explains_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(5.0))
    found = report(SUM, mcpu="haswell")
    assert (found.core, found.same_core) == ("skylake-avx512", False)
    assert found.explanations[0] == "the prediction is for Intel Haswell, not for skylake-avx512"
    # The nearest model is another core's too.
    monkeypatch.setattr("incc.models.loading.host_cpu", lambda: ("diamondrapids", ""))
    found = report(SUM)
    assert (found.core, found.same_core) == ("diamondrapids", False)


def test_a_range_explains_what_is_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    text = SUM.replace("vaddsd\t(%rdi), %xmm0, %xmm0", "movzbl (%rdi), %eax\nincl (%rdx,%rax,4)").replace("$8", "$1")
    standin(monkeypatch, took(5.0))
    found = report(text)
    assert any(why.startswith("aliasing (") for why in found.explanations)
    assert any("below 127, in no order" in why for why in found.explanations)
    standin(monkeypatch, took(50.0))
    assert not any("aliasing" in why for why in report(text).explanations)


def test_arrays_that_begin_best_do_not_explain_a_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where loads that cross no line are predicted, crossings do not explain more: arrays begin at lines here."""
    loads = "\n".join(f"vaddpd {32 * n}(%rdi), %ymm{n}, %ymm{n}" for n in range(8))
    text = SUM.replace("vaddsd\t(%rdi), %xmm0, %xmm0", loads).replace("$8", "$256")
    standin(monkeypatch, took(5.2))
    made = analyze_units([Unit(assembly=text, assembly_file="a.s")], settings_with(measure=True))
    (kernel,) = made.units[0].kernels
    assert kernel.range is not None
    assert kernel.measured is not None
    (cause,) = kernel.range.causes
    assert (cause.kind, cause.least) == ("line-crossings", kernel.cycles)
    assert kernel.range.most is not None
    assert kernel.cycles < 5.2 < kernel.range.most
    assert kernel.measured.explanations == []


@pytest.mark.parametrize(("text", "kind"), [(CALL, "call")])
def test_what_cannot_run_says_why(monkeypatch: pytest.MonkeyPatch, text: str, kind: str) -> None:
    used = standin(monkeypatch, took(1.0))
    found = report(text)
    assert (found.cycles, found.failure) == (None, kind)
    assert found.text.startswith("not measured on skylake-avx512: ")
    assert used.loops == []


def test_a_loop_with_several_ways_says_which_one_ran(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(9.0))
    found = report(WAYS)
    assert found.notes == ["only one of several paths through the loop is run: the path through lines 4–6, 8–10"]


def test_nothing_is_run_unless_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    used = standin(monkeypatch, took(1.0))
    made = analyze_units([Unit(assembly=SUM, assembly_file="a.s")], settings_with())
    assert made.units[0].kernels[0].measured is None
    assert used.loops == []


def test_without_a_name_the_model_is_that_of_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(4.0))
    unit = Unit(assembly=SUM, assembly_file="a.s", cpu="znver4")
    assert analyze_units([unit], settings_with()).units[0].model.name == "znver4"
    assert analyze_units([unit], settings_with(measure=True)).units[0].model.name == "skylake-avx512"
    assert analyze_units([unit], settings_with(measure=True, mcpu="znver3")).units[0].model.name == "znver3"
    monkeypatch.setattr("incc.models.loading.host_cpu", lambda: ("", ""))
    with pytest.raises(AnalysisError, match="no machine model for the host"):
        analyze_units([unit], settings_with(measure=True))


# --- commands ---------------------------------------------------------------------------------------------------------


def test_incc_mca_has_a_row_and_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    standin(monkeypatch, took(4.2))
    file = tmp_path / "a.s"
    file.write_text(
        SUM + SUM.replace("f:", "g:").replace(".L1", ".L2") + CALL.replace("f:", "h:").replace(".L1", ".L3")
    )
    assert mca.main(["-auto", "-measure", "-v", str(file)]) == 0
    text = capfd.readouterr().out
    assert "  Measured          4.20  on skylake-avx512, ± 0.01, ended by its own counter" in text
    assert "Measured on skylake-avx512: 4.2 cycles" in text
    assert "Cycles  Measured" in text
    assert "  Measured             -  call (above)" in text
    assert mca.main(["-auto", str(file)]) == 0
    assert "easured" not in capfd.readouterr().out
    assert mca.main(["-auto", "-measure=false", str(file)]) == 0
    assert "easured" not in capfd.readouterr().out


def test_the_page_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(4.2))
    two = Unit(assembly=SUM + SUM.replace("f:", "g:").replace(".L1", ".L2"), assembly_file="a.s")
    text = page(analyze_units([two], settings_with(measure=True)))
    assert '"measured":4.2' in text.replace(" ", "")
    assert "Measured on skylake-avx512: 4.2 cycles" in text
    assert "Measured cycles per iteration" in text
    assert "Measured cycles per iteration" not in page(analyze_units([two], settings_with()))


def test_incc_scan(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    standin(monkeypatch, took(1.25))  # inherited by the process that measures
    file = tmp_path / "a.hex"
    file.write_text("4801c849ffcf75f8\n0f05\n")
    assert scan.main(["--measure", str(file)]) == 0
    *_, heading, first, second = capfd.readouterr().out.splitlines()
    assert {"Cycles", "Measured"} <= set(heading.split())
    assert first.split()[2:4] == ["1.00", "1.25"]
    assert second.split()[4:6] == ["1.00", "-"]
    assert scan.main(["--measure", "--output=cycles", str(file)]) == 0
    assert [line.split()[1:] for line in capfd.readouterr().out.splitlines()] == [["1", "1.25"], ["1", "-"]]
    assert scan.main(["--measure", "--output=json", "--where", "measured > 1.2*cycles", str(file)]) == 0
    (line,) = capfd.readouterr().out.splitlines()
    (kernel,) = json.loads(line)["units"][0]["kernels"]
    assert kernel["measured"]["cycles"] == 1.25
    assert scan.main(["--measure", "-mcpu=haswell,skylake-avx512", "--output=json", str(file)]) == 0
    line = capfd.readouterr().out.splitlines()[0]
    assert [u["kernels"][0]["measured"]["same_core"] for u in json.loads(line)["units"]] == [False, True]
    assert scan.main(["--measure", "-j2", str(file)]) == 2
    assert "--measure and -j cannot be combined" in capfd.readouterr().err


def test_comparisons_keep_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, cycles in (("a", 4.0), ("b", 5.0)):
        standin(monkeypatch, took(cycles))
        (tmp_path / f"{name}.s").write_text(SUM)
        assert mca.main(["-auto", "-measure", "-json", f"-o={tmp_path}/{name}.json", f"{tmp_path}/{name}.s"]) == 0
    for condition, status in (("measured_b > 1.2*measured_a", 1), ("measured_b > 1.3*measured_a", 0)):
        files = [str(tmp_path / f"{name}.json") for name in "ab"]
        assert diff.main([*files, f"--fail-if={condition}"]) == status
    capfd.readouterr()


def test_from_python(monkeypatch: pytest.MonkeyPatch) -> None:
    standin(monkeypatch, took(4.2))
    (kernel,) = incc.analyze(SUM, measure=True).kernels
    assert (kernel.measured, kernel.row()["measured"]) == (4.2, 4.2)
    (kernel,) = incc.analyze(SUM).kernels
    assert kernel.measured is None


def test_the_wrapper_stays_a_compiler_whatever_measuring_does(tmp_path: Path) -> None:
    """Whatever fails, the object is there, the status is the compiler's, and there is at most one line."""
    if not shutil.which("gcc"):
        pytest.skip("no gcc")
    (tmp_path / "a.c").write_text("double f(double*a,long n){double s=0;for(long i=0;i<n;i++)s+=a[i];return s;}\n")
    # What measures breaks in a way that nobody thought of.
    (tmp_path / "sitecustomize.py").write_text(
        "import incc.measuring.kernels as k\ndef broken(kernels, unsafe):\n  raise TypeError('odd')\n"
        "k.measure_kernels = broken\n"
    )
    command = [sys.executable, "-m", "incc.driver.commands.incc", "--incc-cc=gcc", "-O2", "-c", "a.c", "-o", "a.o"]
    run = subprocess.run(
        [*command, "--analyze", "--analyze-measure", "--analyze-mcpu=haswell"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0
    assert (tmp_path / "a.o").exists()
    assert run.stderr.splitlines() == ["incc: warning: not analysed: TypeError: odd"]


# --- with the harness itself ------------------------------------------------------------------------------------------

HOSTILE = {
    "divides by zero": ("31c948f7f1", {"SIGFPE"}),
    "wild address": ("488b0cc048c1e014", {"address"}),
    "the stack at address 0": ("48c7c40000000050", {"address"}),
    "writes into all memory": ("48ffc048890c0148c1e004", {"address", "memory", "stride"}),
    "goes through memory": ("480500001000488b08", {"stride", "memory", "address"}),
    "copies without end": ("f348a5", {"memory", "address", "timeout", "stride"}),
    "fills without end": ("b9ffffff7ff3aa", {"memory", "address", "timeout", "stride"}),
    "an instruction that is none": ("0f0b", {"system"}),
}


@pytest.mark.skipif(harness.missing() != "" or sys.platform != "linux", reason="no measuring here")
def test_nothing_escapes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is followed by a kernel that can be measured, and is, unless something else has all of the machine."""
    monkeypatch.undo()
    if platform.machine() != "x86_64":
        pytest.skip("no x86-64 processor")
    plain = decode_bytes(bytes.fromhex("4801c849ffcf75f8"))
    with kernels.Measurer() as measurer:
        for name, (code, kinds) in HOSTILE.items():
            found = measurer.measure(decode_bytes(bytes.fromhex(code)))
            assert isinstance(found, LoopFailure), name
            assert found.kind in kinds, (name, found)
            measurer._known.clear()
            after = measurer.measure(plain)
            assert not isinstance(after, LoopFailure) or after.kind == "timeout", (name, after)
        # What is not aligned is no address that nobody has: movaps (%rdi), %xmm1 beside movaps 4(%rdi), %xmm0.
        found = measurer.measure(decode_bytes(bytes.fromhex("0f280f0f2847044801c849ffcf75f1")))
        assert isinstance(found, LoopFailure)
        assert found.kind == "timeout" or "not aligned" in found.text, found
        # What is odd, and harmless.
        for code in ("48890dfaffffff", "488d05f9ffffff488908", "c5f877", "0f31", "ebfe", "31e4"):
            found = measurer.measure(decode_bytes(bytes.fromhex(code)))
            assert not isinstance(found, LoopFailure) or found.kind == "timeout", (code, found)


def test_what_is_prepared_is_what_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    used = standin(monkeypatch, took(1.0))
    of = decode_bytes(bytes.fromhex("4801c849ffcf75f8"))
    found = prepare(of)
    assert isinstance(found, Prepared)
    list(measure_kernels([of]))
    assert set(used.loops) == set(found.loops)
    assert found.exit == "own"
