"""What a verdict above all bounds names as the cause: what changes of the core prove."""

from __future__ import annotations

import re
from typing import Any

import pytest

from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report import wording
from incc.views.text import render
from settings_fixtures import settings_with


def kernel(body: str, mcpu: str = "icelake-server", **settings: Any) -> t.KernelReport:
    text = ".L1:\n" + "".join(f"\t{line}\n" for line in body.splitlines()) + "\tret\n"
    chosen = settings_with(mcpu=mcpu, regions="loops", timeline_iterations=0, **settings)
    (found,) = analyze_units([Unit(assembly=text, assembly_file="x.s")], chosen).units[0].kernels
    return found


def gains(found: t.KernelReport) -> set[str]:
    return {w.change for w in found.what_ifs if w.gained >= 0.02 * found.cycles}


# What looks for the end of a string: the addition of each iteration waits for one of the ports that it shares with
# the comparison and the branch.
STRLEN = "incq %rax\ncmpb $0, (%rax)\njne .L1"


def test_chain_that_waits_for_ports() -> None:
    found = kernel(STRLEN)
    assert {"unlimited-ports", "register-dependencies"} <= gains(found)
    assert "full of µops that wait for ports or for the results of such µops" in found.verdict
    assert "1 cycle with unlimited ports" in found.verdict
    assert found.overview.limit == "ports; dependencies"


@pytest.mark.parametrize(
    "body",
    [
        STRLEN,
        "movl (%rdi), %edx\naddl %edx, %eax\nmovl %eax, (%rsi)\naddq $4, %rdi\ncmpq %rcx, %rdi\njne .L1",
        "vmulsd %xmm1, %xmm2, %xmm3\nvdivsd %xmm3, %xmm4, %xmm5\nvsqrtsd %xmm5, %xmm5, %xmm6\n"
        "vaddsd %xmm6, %xmm0, %xmm0\n" + "imulq %r8, %r9\n" * 3 + "decq %rcx\njne .L1",
        "leal (%rsi,%rdx), %eax\nsarl %eax\nmovslq %eax, %r8\ncmpl %r9d, (%rdi,%r8,4)\ncmovl %eax, %edx\n"
        "cmpl %edx, %esi\njl .L1",
    ],
)
@pytest.mark.parametrize("mcpu", ["icelake-server", "skylake", "haswell", "znver3"])
def test_named_cause_is_what_the_changes_prove(body: str, mcpu: str) -> None:
    found = kernel(body, mcpu)
    gained = gains(found)
    text = found.verdict
    if "wait for ports" in text:
        assert "unlimited-ports" in gained
    if "wait for inputs" in text or "results of those" in text:
        assert gained & {"register-dependencies", "memory-dependencies", "dependencies"}
    if "wait for the divider" in text:
        assert "divider" in gained
    assert ("none of the changes" in text) <= (not gained)


def test_without_changes_no_cause_is_proven() -> None:
    assert "wait for inputs and ports" in kernel(STRLEN, what_ifs=False).verdict


def test_instructions_that_starve_the_front_end_are_named() -> None:
    # 24 bytes, {}, and five bytes of a jump that ends at byte 32, or one byte later crosses that place.
    body = "nopl 0x12345678(%rax,%rax)\n" * 3 + "{}\ndecq %rcx\njne .L1"
    boundary = "line 7 crosses or ends at a 32-byte boundary, so its code is decoded each time (JCC erratum)"
    for nop in ("nopl (%rax)", "nopl 8(%rax)"):
        assert boundary in kernel(body.format(nop), "skylake").verdict
    for core in ("haswell", "icelake-server", "znver4"):
        assert "JCC" not in kernel(body.format("nopl (%rax)"), core).verdict
    prefixed = kernel(body.format("addw $1000, %ax"), "skylake").verdict
    assert "delivers no µop while line 5 has a length-changing prefix" in prefixed


@pytest.mark.parametrize(
    ("instruction", "mcpu"),
    [
        ("vpermps (%rdi,%rax), %zmm1, %zmm2", "znver4"),
        ("vdbpsadbw $1, (%rdi,%rax), %zmm1, %zmm2", "znver4"),
        ("vperm2f128 $1, (%rdi,%rax), %ymm1, %ymm2", "gracemont"),
        ("vaddpd (%rdi,%rax), %ymm1, %ymm2", "btver2"),
    ],
)
def test_halves_of_wide_loads_are_loads(instruction: str, mcpu: str) -> None:
    found = kernel("\n".join([instruction] * 4 + ["addq $64, %rax", "cmpq %rdx, %rax", "jne .L1"]), mcpu)
    for each in found.instructions[:4]:
        # The first term of the ports is that of the load, with all of its µops.
        assert each.work[0] == "loads"
        assert each.ports.startswith("2*p") or each.ports.startswith("1*p(AG0,AG1)+")
    assert "loads and shuffles" not in found.verdict


def test_dividers_are_named_by_what_they_divide_or_their_port() -> None:
    names = {"DV": "divider", "IDV": "integer divider", "FDV": "floating-point divider", "0DV": "divider of port 0"}
    assert {name: wording.unit(name) for name in names} == names
    assert wording.unit("X87") == "unit X87"


def test_assembly_with_lines_of_a_source_is_described_by_these() -> None:
    text = (
        '\t.file 1 "sum.c"\n\t.file 2 "vec.h"\n.L1:\n\t.loc 1 41\n\tvaddsd (%rdi), %xmm0, %xmm0\n\t.loc 2 7\n'
        "\taddq $8, %rdi\n\t.loc 1 40\n\tcmpq %rdi, %rsi\n\tjne .L1\n"
    )
    chosen = settings_with(mcpu="skylake", regions="loops", timeline_iterations=0)
    with_lines = analyze_units([Unit(assembly=text, assembly_file="x.s")], chosen)
    assert "through xmm0 (line 41)" in with_lines.units[0].kernels[0].verdict
    assert re.search(r"^ +41 .* 5 +vaddsd", render(with_lines, 120), re.MULTILINE)
    assert re.search(r"^ *vec.h:7 .* 7 +addq", render(with_lines, 120), re.MULTILINE)
    without = analyze_units([Unit(assembly=text.replace("\t.loc", "\t# loc"), assembly_file="x.s")], chosen)
    assert "through xmm0 (line 5)" in without.units[0].kernels[0].verdict
