"""Macros, repetitions and conditions are analysed as what they make, in the line in which they begin."""

from __future__ import annotations

import pathlib
from typing import Any

import pytest

from incc.driver.commands import mca
from incc.frontends.x86.llvm import reading as llvm_reading
from incc.frontends.x86.written_out import written_out

pytest.importorskip("llvmlite")

TEXT = """\
\t.text
f:
# LLVM-MCA-BEGIN a
.L3:
.rept 2
\taddq %rax, %rbx # twice
\t.irp r, rcx, rdx
\timulq %\\r, %rsi; decq %\\r
\t.endr
.endr
.macro twice op, x
\t\\op \\x, %xmm0
\t\\op \\x, %xmm0
.endm
\ttwice mulps, %xmm3; twice op=addps x=%xmm4
.ifdef nowhere
\tmulps %xmm8, %xmm9
.else
\tdivps %xmm8, %xmm9
.endif
\tdecq %rdi; incq %r8
\tjne .L3
# LLVM-MCA-END
\tret
"""


def test_each_in_its_place() -> None:
    lines = written_out(TEXT).replace("\t", " ").split("\n")
    assert len(lines) == len(TEXT.split("\n"))
    inner = "imulq %rcx, %rsi; decq %rcx; imulq %rdx, %rsi; decq %rdx"
    assert lines[4] == f"addq %rax, %rbx; {inner}; addq %rax, %rbx; {inner}"
    assert lines[5:14] == [""] * 9
    assert lines[14] == "mulps %xmm3, %xmm0; mulps %xmm3, %xmm0; addps %xmm4, %xmm0; addps %xmm4, %xmm0"
    assert (lines[16], lines[18]) == ("", " divps %xmm8, %xmm9")
    assert lines[20:] == TEXT.replace("\t", " ").split("\n")[20:]


@pytest.mark.parametrize(
    "text",
    [
        "addq %rax, %rbx\n",
        '\t.macro\t.loc where:vararg\n\t.endm\n\t.loc 1 2 3\n\tnop # ".if"\n',
        '\t.ascii ".rept 3"\n',
    ],
)
def test_what_has_nothing_of_the_kind(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("incc.frontends.x86.written_out.expanded", None)
    assert written_out(text) == text


@pytest.mark.parametrize(
    "text",
    [
        ".rept 3\nnop\n",  # without an end
        ".rept 3\nfrob\n.endr\n",
        ".rept 3\n# LLVM-MCA-BEGIN a\nnop\n# LLVM-MCA-END a\n.endr\n",
    ],
)
def test_what_cannot_be_written_out(text: str) -> None:
    assert written_out(text) == ""


def test_labels_that_are_numbers() -> None:
    """LLVM makes names of them, for jumps from elsewhere as well."""
    lines = written_out("\tjmp 1f\n.rept 2\n1:\tnop\n\tjmp 1b\n.endr\n\t.byte 144\n\tjmp 1b\n").split("\n")
    assert [line.replace("\t", " ").strip() for line in lines] == [
        "jmp .Ltmp0",
        ".Ltmp0:; nop; jmp .Ltmp0; .Ltmp1:; nop; jmp .Ltmp1",
        "",
        "",
        "",
        ".byte 144",
        "jmp .Ltmp1",
        "",
    ]


def analysed(text: str, tmp_path: pathlib.Path, *options: str) -> list[dict[str, Any]]:
    import json

    (tmp_path / "x.s").write_text(text)
    assert mca.main(["-mcpu=skylake", "-json", "-o", f"{tmp_path}/x.json", *options, f"{tmp_path}/x.s"]) == 0
    kernels: list[dict[str, Any]] = json.loads((tmp_path / "x.json").read_text())["units"][0]["kernels"]
    return kernels


@pytest.mark.parametrize("options", [(), ("-auto",)], ids=["marked", "loops"])
def test_analysed_as_if_written_out(options: tuple[str, ...], tmp_path: pathlib.Path) -> None:
    (kernel,) = analysed(TEXT, tmp_path, *options)
    assert [i["line"] for i in kernel["instructions"]] == [5] * 10 + [15] * 4 + [19] + [21] * 2 + [22]
    assert kernel["instructions"][0]["text"] == "addq %rax, %rbx"
    assert kernel["notes"] == []


def test_intel_syntax(tmp_path: pathlib.Path) -> None:
    text = "mov eax, 0x10\n.rept 2\nadd rax, [rbx+8]\n.endr\nsub rax, rcx\n"
    for before, options in ((".intel_syntax noprefix\n", ()), ("", ("-x86-asm-syntax=intel",))):
        (kernel,) = analysed(before + text, tmp_path, *options)
        assert [i["text"] for i in kernel["instructions"]] == [
            "mov eax, 0x10",
            "addq 8(%rbx), %rax",
            "addq 8(%rbx), %rax",
            "sub rax, rcx",
        ]


def test_code_of_32_bit_mode(tmp_path: pathlib.Path) -> None:
    (kernel,) = analysed(".rept 2\npushl %eax\n.endr\n", tmp_path, "-mtriple=i686-linux-gnu")
    assert [i["text"] for i in kernel["instructions"]] == ["pushl %eax"] * 2


def test_without_llvm(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(llvm_reading, "_is_available", lambda: False)
    (kernel,) = analysed("nop\n.rept 2\naddq %rax, %rbx\n.endr\nnop\n", tmp_path)
    assert len(kernel["instructions"]) == 2
    assert kernel["notes"] == ["contains a repeated block (line 2): it is not analysed"]
    assert "macros and repetitions (.rept, .irp) are not expanded or analysed" in capsys.readouterr().err


@pytest.mark.long
def test_no_more_than_a_text_is_worth(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "x.s").write_text(".rept 1000000000\nnop\n.endr\n")
    assert mca.main(["-mcpu=skylake", f"{tmp_path}/x.s"]) == 1
    assert "LLVM's assembler was stopped: more than" in capsys.readouterr().err
