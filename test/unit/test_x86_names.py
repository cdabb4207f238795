"""What instructions are called in Intel's and AT&T's syntax: `incc-model show` finds them by all of these names."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from incc.driver.instructions import matching, near
from incc.frontends.isa import TextForm, isa
from incc.models.forms import x86 as forms_x86
from incc.models.forms.shapes import by_key
from incc.models.loading import load


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("movzbl", "MOVZX_R32_RM8/r"),
        ("MovZWL", "MOVZX_R32_RM16/m"),
        ("movsbq", "MOVSX_R64_RM8/r"),
        ("movslq", "MOVSXD_R64_RM32/m"),
        ("movabsq", "MOV_R64_IMM64/r"),
        ("cltq", "CDQE/r"),
        ("cdqe", "CDQE/r"),
        ("cqto", "CQO/r"),
        ("cltd", "CDQ/r"),
        ("cwtl", "CWDE/r"),
        ("cvtsi2sdq", "CVTSI2SD_XMM_RM64/r"),
        ("cvtsi2sd", "CVTSI2SD_XMM_RM64/r"),
        ("vcvtsi2sdl", "VEX_VCVTSI2SD_XMM_XMM_RM32/m"),
        ("cvttsd2siq", "CVTTSD2SI_R64_XMMM64/r"),
        ("vcvtpd2psy", "VEX_VCVTPD2PS_XMM_YMMM256/m"),
        ("vaddpd", "VEX_VADDPD_YMM_YMM_YMMM256/r"),
        ("addq", "ADD_RM64_R64/r"),
        ("imulq", "IMUL_R64_RM64/r"),
        ("shll", "SHL_RM32_IMM8/r"),
        ("movq", "MOV_R64_RM64/m"),
        ("movq", "MOVQ_XMM_RM64/r"),
        ("jnz", "JNE_REL8_64/r"),
        ("setnbe", "SETA_RM8/r"),
        ("cmovzq", "CMOVE_R64_RM64/r"),
        ("retq", "RETNQ/r"),
        ("add_rm64_r64", "ADD_RM64_R64/r"),
    ],
)
def test_names(name: str, form: str) -> None:
    assert forms_x86.is_called(form, name)


@pytest.mark.parametrize(
    ("name", "form"),
    [("movzbl", "MOVZX_R64_RM8/r"), ("addl", "ADD_RM64_R64/r"), ("cvttsd2sil", "CVTTSD2SI_R64_XMMM64/r")],
)
def test_a_suffix_is_one_size(name: str, form: str) -> None:
    assert not forms_x86.is_called(form, name)


def test_every_form_has_its_intel_name() -> None:
    assert [key for key, shape in by_key().items() if not forms_x86.is_called(key, shape.mnemonic)] == []


def test_names_are_those_of_disassemblers(tmp_path: Path) -> None:
    """objdump, which is not from the same hands as the names, calls what it knows by one of them."""
    if shutil.which("objdump") is None or shutil.which("as") is None:
        pytest.skip("no objdump")
    text = (
        "movzbl (%rdi), %eax\nmovsbq %al, %rcx\ncltq\ncqto\ncvtsi2sdq %rax, %xmm0\nvaddpd (%rax), %ymm0, %ymm1\n"
        "addq $1, (%rdi)\nimulq %rax, %rbx\ncvttsd2siq %xmm0, %rax\nsetne %al\nvcvtpd2psy (%rdi), %xmm0\n"
        "movslq %eax, %rbx\nincl (%rax)\nshrl %cl, %edx\nbtq %rax, %rbx\nmovabsq $0x1122334455667788, %rax\n"
        "pushq %rax\n"
    )
    (tmp_path / "a.s").write_text(text)
    subprocess.run(["as", "-o", str(tmp_path / "a.o"), str(tmp_path / "a.s")], check=True)
    for suffix in ([], ["-M", "suffix"], ["-M", "intel"]):
        done = subprocess.run(
            ["objdump", "-d", "--no-show-raw-insn", *suffix, str(tmp_path / "a.o")], capture_output=True, text=True
        )
        said = [line.split(":\t", 1)[1].split()[0] for line in done.stdout.split("\n") if ":\t" in line]
        statements = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line]
        forms = list(isa("x86").text_forms(text, statements, "a.s"))
        assert len(said) == len(forms) == len(statements)
        for name, form in zip(said, forms, strict=True):
            assert isinstance(form, TextForm)
            assert forms_x86.is_called(form.form, name), (name, form)


def keys(what: str) -> list[str]:
    return matching(load("skylake"), what)


def test_instructions_with_operands() -> None:
    assert keys("movzbl (%rdi), %eax") == ["MOVZX_R32_RM8/m"]
    assert keys("vaddpd ymm0, ymm1, [rax+8*rbx]") == ["VEX_VADDPD_YMM_YMM_YMMM256/m"]
    assert keys("nonsense (%rdi), %eax") == []
    assert keys("nop; nop") == []
    assert keys("MOVZX_R32_RM8/m [indexed]") == ["MOVZX_R32_RM8/m"]
    assert keys("movzx_r32_rm8/m") == ["MOVZX_R32_RM8/m"]
    assert set(keys("vaddp?")) == set(keys("vaddp[ds]")) > {"VEX_VADDPD_YMM_YMM_YMMM256/m"}
    assert set(keys("VEX_VADDP[DS]_YMM*")) > {"VEX_VADDPD_YMM_YMM_YMMM256/m"}


def test_what_comes_close() -> None:
    model = load("skylake")
    assert "movzbl" in near([model], "movzlb")
    assert "vaddpd" in near([model], "vadpd %ymm0, %ymm1")
    assert near([model], "1234567890") == ""
    # Only what there is to show.
    assert "vp2intersect" not in near([load("core2")], "vp2intersectx")
