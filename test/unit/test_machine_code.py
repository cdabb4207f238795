"""Machine code that is given by itself: places in objects, byte markers, raw bytes and hexadecimal numbers."""

from __future__ import annotations

import pathlib
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.driver import UsageError
from incc.driver.addresses import addresses
from incc.driver.machine_code import hexadecimal
from incc.driver.pipeline import analyze_bytes, analyze_object, analyze_units
from incc.driver.settings import LimitSettings
from incc.frontends.objects.spans import Addresses
from incc.frontends.unit import Unit
from incc.report.build import build_report, unit_report
from incc.support.errors import AnalysisError
from settings_fixtures import settings_with

LOOP = """\
.L1:
	movsd	(%rsi,%rax,8), %xmm1
	mulsd	%xmm0, %xmm1
	addsd	(%rdi,%rax,8), %xmm1
	movsd	%xmm1, (%rdi,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %rdx
	jne	.L1
"""
BEGIN = "\tmovl\t$111, %ebx\n\t.byte\t100, 103, 144\n"
END = "\tmovl\t$222, %ebx\n\t.byte\t100, 103, 144\n"
MARKED = f"\t.text\n\t.globl\tf\n\t.type\tf, @function\nf:\n\tpushq\t%rbx\n{BEGIN}{LOOP}{END}\tpopq\t%rbx\n\tret\n"


def built(folder: pathlib.Path, text: str) -> bytes:
    (folder / "a.s").write_text(text)
    subprocess.run(["as", "a.s", "-o", "a.o"], cwd=folder, check=True)
    return (folder / "a.o").read_bytes()


def report(code: bytes, **settings: object) -> dict:
    asked = settings_with(mcpu="skylake", **settings)  # type: ignore[arg-type]
    return unit_report(analyze_object(Unit(assembly="", assembly_file="a.o", way="object"), code, asked))  # type: ignore[return-value]


def test_byte_markers_in_an_object(tmp_path: pathlib.Path) -> None:
    """What stands between them is the same kernel as in the text, and the markers are no part of it."""
    found = report(built(tmp_path, MARKED), regions="marked")
    (kernel,) = found.kernels
    assert (kernel.kind, kernel.function, kernel.is_loop) == ("marker", "f", True)
    text = (
        analyze_units([Unit(assembly=MARKED, assembly_file="a.s")], settings_with(mcpu="skylake", regions="marked"))
        .units[0]
        .kernels[0]
    )
    assert [i.form for i in kernel.instructions] == [i.form for i in text.instructions]
    assert found.left_out == []


def test_without_markers_the_loops(tmp_path: pathlib.Path) -> None:
    code = built(tmp_path, MARKED.replace(BEGIN, "").replace(END, ""))
    (kernel,) = report(code, regions="marked").kernels
    assert kernel.kind == "loop"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (MARKED.replace(END, ""), "IACA begin marker without end marker (.text+0x1)"),
        (MARKED.replace(BEGIN, ""), "IACA end marker without begin marker"),
        (MARKED.replace(BEGIN, BEGIN * 2), "IACA begin marker, and again at .text+0x9"),
        (MARKED.replace(LOOP, ""), "no instruction in it"),
        (MARKED.replace(LOOP, "\t.byte 0x06, 0x07\n"), "there is no instruction at 0x9"),
    ],
)
def test_markers_that_mark_nothing(tmp_path: pathlib.Path, text: str, reason: str) -> None:
    found = report(built(tmp_path, text), regions="marked")
    assert any(reason in item.reason for item in found.left_out), found.left_out


def test_addresses(tmp_path: pathlib.Path) -> None:
    """The loop's own bytes, by address: a kernel of straight code that goes back to its start."""
    code = built(tmp_path, MARKED)
    (kernel,) = report(code, addresses=(addresses("-address", "9-25"),)).kernels
    assert [i.text.split()[0] for i in kernel.instructions][::6] == ["movsd", "jne"]
    assert (kernel.is_loop, kernel.kind, kernel.name) == (True, "address", "f+0x9")
    inside = report(code, addresses=(addresses("-address", "0xb+3"),))
    assert any("0xb is within an instruction" in note for k in inside.kernels for note in k.notes)
    nowhere = report(code, addresses=(addresses("-address", "999-1000"),))
    assert nowhere.kernels == []
    assert "0x999-0x1000 is not within a section of code (.text at 0x0-" in nowhere.left_out[0].reason


@pytest.mark.parametrize("text", ["", "1", "10-", "-10", "20-10", "10-10", "x-y", "0x-1", "1-2-3", "1++2", "1_0-20"])
def test_what_is_no_range(text: str) -> None:
    with pytest.raises(UsageError, match="takes a range of addresses"):
        addresses("-address", text)


@given(st.integers(0, (1 << 64) - 2), st.integers(1, 1 << 20), st.booleans())
def test_ranges_read_back(start: int, size: int, prefix: bool) -> None:
    end = min(start + size, 1 << 64)
    first = f"{start:#x}" if prefix else f"{start:x}"
    assert (
        addresses("-address", f"{first}-{end:x}")
        == addresses("-address", f"{first}+{end - start:#x}")
        == Addresses(start, end)
    )


WAYS = ["48 01 c3", "0x48,0x01,0xc3", "4801c3", "[0x48, 0x1, 0xc3] # add", "\\x48\\x01\\xc3", "48\n01 # x\n# y\nc3"]


@pytest.mark.parametrize("text", WAYS)
def test_ways_to_write_bytes(text: str) -> None:
    assert [code for _, code in hexadecimal(text, "h")] == [b"\x48\x01\xc3"]


def test_blocks_are_set_off_by_empty_lines() -> None:
    assert hexadecimal("\n90\n\n\n48 01 c3\n", "h") == [("h:2", b"\x90"), ("h:5", b"\x48\x01\xc3")]


@pytest.mark.parametrize("text", ["zz", "48 0g", "0x", "123"])
def test_what_is_no_byte(text: str) -> None:
    with pytest.raises(AnalysisError, match="h:1: not hexadecimal: "):
        hexadecimal(text, "h")


@given(st.lists(st.binary(min_size=1, max_size=20), max_size=4))
def test_bytes_read_back(blocks: list[bytes]) -> None:
    text = "\n\n".join(code.hex(" ") for code in blocks)
    assert [code for _, code in hexadecimal(text, "h")] == blocks


def test_raw_bytes() -> None:
    unit = Unit(assembly="", assembly_file="h")
    found = analyze_bytes(unit, hexadecimal("48 01 c3 0f af c3 75 f8\n\n90", "h"), settings_with(mcpu="skylake"))
    kernels = build_report([unit_report(found)]).units[0].kernels
    assert [(k.name, k.is_loop) for k in kernels] == [("h:1", True), ("h:3", False)]
    with pytest.raises(AnalysisError, match="h: h:1: "):
        analyze_bytes(unit, hexadecimal("06", "h"), settings_with(mcpu="skylake"))


def test_more_code_than_can_be_analysed_is_refused() -> None:
    unit, settings = Unit(assembly="", assembly_file="h"), settings_with(mcpu="skylake")
    settings = replace(settings, limits=LimitSettings(memory=200 << 10))
    assert analyze_bytes(unit, [("block", b"\x90" * 20)], settings).results
    for count, said in ((21, "21 instructions"), (301, "301 bytes of code")):
        with pytest.raises(
            AnalysisError, match=f"h: block: {said}, but at most 20 are analysed in 0 MiB; --max-memory"
        ):
            analyze_bytes(unit, [("block", b"\x90" * count)], settings)
    marked = settings_with(settings, regions="marked")
    (left_out,) = analyze_units([Unit(assembly="nop\n" * 21, assembly_file="a.s")], marked).units[0].left_out
    assert left_out.reason.startswith("21 instructions, but at most 20 are analysed")
