"""Loops of AArch64 forms: what they are, and that an assembler takes them. Nobody has run them."""

from __future__ import annotations

import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from incc.measuring import forms_aarch64 as forms
from incc.models.loading import load

NAMED = ["add/x,x,x", "add/w,w,#", "madd/x,x,x,x", "fmul/d,d,d", "fmla/v.4s,v.4s,v.4s", "eor/v.16b,v.16b,v.16b"]


def test_chains_go_through_one_operand() -> None:
    found = {n: code.text.splitlines()[1] for n, code in forms.latencies("madd/x,x,x,x")}
    assert found == {1: "madd x0, x0, x11, x12", 2: "madd x0, x10, x0, x12", 3: "madd x0, x10, x11, x0"}


def test_copies_write_to_different_registers() -> None:
    code = forms.throughput("fmul/d,d,d")
    lines = code.text.splitlines()
    assert (lines[0], lines[-2:], len(lines)) == ("0:", ["subs x28, x28, #1", "b.ne 0b"], code.copies + 3)
    assert len({line.split()[1] for line in lines[1:-2]}) == 16


@pytest.mark.parametrize("form", ["ldr/x,[x]", "b/label", "b.cond/label", "add/z.s,z.s,z.s", "nop", "cbz/x,label"])
def test_what_is_no_data_processing_is_refused(form: str) -> None:
    with pytest.raises(forms.NotMeasurable):
        forms.throughput(form)


@pytest.mark.skipif(platform.machine() == "aarch64", reason="here it can")
def test_elsewhere_nothing_is_assembled() -> None:
    with pytest.raises(forms.NotMeasurable, match="on AArch64 only"):
        forms.machine_code(forms.throughput(NAMED[0]))


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="no clang-19")
def test_loops_are_assembled(tmp_path: Path) -> None:
    known = set(load("neoverse-v2").forms())
    assert {"add/w,w,#", "fmul/d,d,d"} <= known
    for number, form in enumerate(NAMED):
        codes = [forms.throughput(form), *(code for _, code in forms.latencies(form))]
        assert len(codes) > 1
        for code in codes:
            source = tmp_path / f"{number}.ll"
            source.write_text(forms.intermediate(code))
            arguments = ["--target=aarch64-linux-gnu", "-w", "-c", str(source), "-o", str(tmp_path / "a.o")]
            done = subprocess.run(["clang-19", *arguments], capture_output=True, text=True, check=False)
            assert done.returncode == 0, (form, done.stderr)
