"""Large files: processes share their functions, and texts on many loops leave out what they do not show."""

from __future__ import annotations

import pytest

from incc.driver import pipeline
from incc.driver.pipeline import LEAST_SHARED, analyze_for_cores
from incc.driver.settings import Settings, with_values
from incc.frontends.unit import Unit
from incc.views.text import TABLES, TextParts, render

X86 = """\
	.type f{n}, @function
f{n}:
.L{n}:
	vmovsd {n}(%rdi,%rax,8), %xmm1
	vfmadd231sd (%rsi,%rax,8), %xmm1, %xmm{register}
	incq %rax
	cmpq %rax, %rdx
	jne .L{n}
.M{n}:
	vaddpd (%rdi), %ymm0, %ymm0
	addq ${n}, %rdi
	decq %rcx
	jne .M{n}
	ret
"""
# Neoverse N1 lacks SVE, so figures of another core count.
A64 = """\
	.type f{n}, %function
f{n}:
.L{n}:
	ldr d1, [x0], 8
	fmadd d{register}, d1, d2, d{register}
	{more}
	subs x2, x2, 1
	b.ne .L{n}
	ret
"""


def unit(function: str, count: int) -> Unit:
    more = ("nop", "fadd z1.d, z2.d, z3.d", "no_instruction x1", "mul x3, x3, x4")
    text = "".join(function.format(n=n, register=3 + n % 5, more=more[n % 4]) for n in range(count))
    return Unit(assembly=f"\t.text\n{text}", assembly_file="loops.s")


@pytest.mark.parametrize(("cpu", "function"), [("skylake", X86), ("neoverse-n1", A64)])
def test_processes_that_share_the_functions_of_a_file_give_the_same_report(
    cpu: str, function: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = with_values(Settings(), {"core.mcpu": cpu})
    tasks = [(unit(function, LEAST_SHARED), [settings])]
    alone = analyze_for_cores(tasks)
    monkeypatch.setattr(pipeline, "analyses", None)  # of one process
    shared = analyze_for_cores(tasks, jobs=3)
    assert [kernel.kernel_id for kernel in shared.units[0].kernels] == [k.kernel_id for k in alone.units[0].kernels]
    assert shared == alone


def test_functions_are_shared_without_what_ifs_as_they_are_analysed_alone() -> None:
    settings = with_values(Settings(), {"core.mcpu": "neoverse-v2", "kernel.simulate": False})
    tasks = [(unit(A64, 501), [settings])]
    assert analyze_for_cores(tasks, jobs=2) == analyze_for_cores(tasks)


@pytest.mark.parametrize("count", [TABLES, TABLES + 1])
def test_a_text_is_the_same_without_the_tables_that_it_does_not_show(count: int) -> None:
    settings = with_values(Settings(), {"core.mcpu": "neoverse-v2"})
    whole = analyze_for_cores([(unit(A64, count), [settings])])
    part = analyze_for_cores([(unit(A64, count), [with_values(settings, {"report.most_with_tables": TABLES})])])
    assert [bool(kernel.instructions) for kernel in part.units[0].kernels] == [count <= TABLES] * count
    show = TextParts(overview=2, brief=True)
    assert render(part, show=show) == render(whole, show=show)
