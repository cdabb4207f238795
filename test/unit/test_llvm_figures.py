"""Figures of instructions that a core does not have: LLVM's, for who stands in llvm-mca's place."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from incc.driver.commands.mca import main
from incc.models.importers.llvm import figures as written
from incc.models.importers.llvm.missing_forms import FILE, with_figures
from incc.models.loading import load

WIDE = "EVEX_VADDPS_ZMM_K1Z_ZMM_ZMMM512B32_ER/m"
XOP = "XOP_VPCOMB_XMM_XMM_XMMM128_IMM8/r"


@pytest.mark.parametrize("cpu", ["haswell", "skylake", "znver1", "btver2", "gracemont", "bonnell", "core2", "knl"])
def test_what_the_core_lacks_has_uops_on_its_ports(cpu: str) -> None:
    model = load(cpu)
    assert model.lookup(XOP, frozenset()) is None
    filled, forms = with_figures(model, cpu, [XOP, "ADD_RM64_R64/r"])
    assert forms == [XOP]
    form = filled.lookup(XOP, frozenset())
    assert form is not None
    assert form.source == "llvm"
    assert form.uops
    assert form.latency
    assert {port for ports, _ in form.uops for port in ports.split(",")} <= set(model.ports)
    assert filled.version != model.version
    assert model.lookup(XOP, frozenset()) is None


def test_a_load_is_one_uop_more() -> None:
    filled, _ = with_figures(load("haswell"), "haswell", [WIDE])
    form = filled.lookup(WIDE, frozenset())
    assert form is not None
    assert ("2,3", 1) in form.uops
    assert len(form.uops) == 2


def test_what_llvm_has_no_figures_of_stays_unknown() -> None:
    model = load("btver2")
    same, forms = with_figures(model, "btver2", [WIDE])
    assert same is model
    assert not forms
    assert with_figures(model, "of-nobody", [XOP]) == (model, [])


@pytest.mark.parametrize("cpu", ["skylake", "znver3", "bonnell", "generic-x86-64"])
def test_instructions_that_64_bit_mode_lacks_have_figures(cpu: str) -> None:
    forms = ["AAA/r", "AAD_IMM8/r", "BOUND_R32_M3232/m", "LES_R32_M1632/m", "POPAD/r", "PUSHAD/r", "SALC/r"]
    name = {"generic-x86-64": "x86-64"}.get(cpu, cpu)
    assert with_figures(load(cpu), name, forms)[1] == forms


def test_code_of_32_bits_is_analysed_as_such(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # whose own name may contain any number
    file = Path("a.s")
    file.write_text("pushl %eax\nincl %eax\ncalll f\nretl\n")
    for options in (["--compat", "-mtriple=i686-unknown-unknown"], ["-march=x86"]):
        assert main([*options, "-mcpu=skylake", "-show-encoding", str(file)]) == 0
        result = capsys.readouterr()
        assert ["1", "40", "incl", "%eax"] in [line.split()[-4:] for line in result.out.split("\n")]
        assert "64" not in result.err
    # Without a target it is code of 64 bits, where there is no such `push`.
    assert main(["--compat", "-mcpu=skylake", str(file)]) == 1


def test_bytes_are_code_of_32_bits_for_such_a_target(capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "a.hex"
    file.write_text("48 01 d8\n")
    for target, first in (("x86", "decl\t%eax"), ("x86-64", "addq\t%rbx, %rax")):
        assert main(["--compat", f"-march={target}", "-mcpu=skylake", "-hex", str(file)]) == 0
        result = capsys.readouterr()
        assert first in result.out
        assert not result.err


def test_llvm_mca_analyses_it_and_incc_mca_names_the_lender(capsys: pytest.CaptureFixture[str], tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "a.s"
    file.write_text("vaddps %zmm1, %zmm2, %zmm3\naddl %eax, %ebx\n")
    assert main(["--compat", "-mcpu=haswell", str(file)]) == 0
    streams = capsys.readouterr()
    assert "vaddps\t%zmm1" in streams.out
    assert streams.err == "note: haswell lacks 1 of the instructions, which have LLVM's figures for it\n"
    # incc's own face says what the core cannot do.
    main(["-mcpu=haswell", str(file)])
    assert "Note: haswell lacks 1 instruction (line 1), so figures of skylake-avx512 count" in capsys.readouterr().out


@pytest.mark.long
def test_the_file_is_what_llvm_says() -> None:
    if shutil.which("llvm-config-19") is None:
        pytest.skip("no llvm-config-19")
    with open(FILE, encoding="ascii") as file:
        assert file.read() == written.made("llvm-config-19")
