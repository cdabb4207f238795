"""What the compiler says of loops counts before what is inferred, and nothing else changes."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest

from incc.core.roles import LoopPart
from incc.driver.pipeline import analyze_unit
from incc.frontends.kernel import CompiledLoop
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.build import unit_parts, unit_report
from settings_fixtures import settings_with

if TYPE_CHECKING:
    from incc.frontends.kernel import CompiledKind, RoleName

# A vector loop, its remainder and one that does other work.
TEXT = """
	.type f,@function
f:
	xorl %eax, %eax
.L1:	# %incc.loop.0
	vmovups (%rsi,%rax,4), %ymm0
	vaddps (%rdi,%rax,4), %ymm0, %ymm0
	vmovups %ymm0, (%rdi,%rax,4)
	addq $8, %rax
	cmpq %rcx, %rax
	jne .L1
.L2:	# %incc.loop.1
	vmovss (%rsi,%rax,4), %xmm0
	vaddss (%rdi,%rax,4), %xmm0, %xmm0
	vmovss %xmm0, (%rdi,%rax,4)
	incq %rax
	cmpq %rdx, %rax
	jne .L2
.L3:
	imulq %r8, %r9
	decq %r8
	jne .L3
	ret
"""


def loop(number: int, role: RoleName, of: int = -1, kind: CompiledKind = "plain", **more: Any) -> CompiledLoop:
    return CompiledLoop(number=number, function="f", kind=kind, source_loop=0, role=role, of=of, **more)


def parts(*loops: CompiledLoop, text: str = TEXT) -> list[LoopPart]:
    settings = settings_with(mcpu="skylake", what_ifs=False, timeline_iterations=0, simulate=False)
    return unit_parts(analyze_unit(Unit(assembly=text, assembly_file="f.s", loops=loops), settings))


def report(*loops: CompiledLoop, text: str = TEXT) -> list[Any]:
    settings = settings_with(mcpu="skylake", what_ifs=False, timeline_iterations=0)
    kernels: list[Any] = unit_report(
        analyze_unit(Unit(assembly=text, assembly_file="f.s", loops=loops), settings)
    ).kernels
    return kernels


def roles(found: list[LoopPart]) -> list[tuple[str, int, str]]:
    return [(part.role.name, part.role.of, part.role.basis) for part in found]


def test_without_a_word_of_the_compiler_all_is_inferred() -> None:
    assert roles(parts()) == [("main", -1, "inferred"), ("remainder", 0, "inferred"), ("main", -1, "inferred")]
    assert {part.elements.basis for part in parts() if part.elements} == {"inferred"}


def test_the_compiler_counts_before_what_is_inferred() -> None:
    """Whatever it says: here that these are two loops of the source, whose iterations are in pairs."""
    found = parts(loop(0, "main", kind="vector-body", iterations=4, width=4), loop(1, "main", iterations=2, unroll=2))
    assert roles(found) == [("main", -1, "compiler"), ("main", -1, "compiler"), ("main", -1, "inferred")]
    assert [part.elements and part.elements.per_iteration for part in found[:2]] == [Fraction(4), Fraction(2)]
    assert [part.elements and part.elements.why for part in found[:2]] == ["vectors of 4 elements", "unrolled 2 times"]
    assert found[2] == parts()[2]


def test_numbers_of_the_compiler_become_those_of_kernels() -> None:
    text = TEXT.replace("incc.loop.0", "incc.loop.8").replace("incc.loop.1", "incc.loop.5")
    found = parts(
        loop(8, "main", iterations=8), loop(5, "remainder", 8, instead=True, iterations=1), loop(6, "main"), text=text
    )
    assert roles(found)[:2] == [("main", -1, "compiler"), ("remainder", 0, "compiler")]
    assert found[1].role.instead


def test_a_main_loop_that_is_gone_leaves_its_remainder_one() -> None:
    found = parts(loop(1, "remainder", 7, iterations=1))
    assert roles(found)[1] == ("remainder", -1, "compiler")
    kernel = report(loop(1, "remainder", 7, iterations=1))[1]
    assert kernel.role == t.RoleReport(name="remainder", of="", instead=False, basis="compiler", text="remainder")


@pytest.mark.parametrize("kind", ["unknown", "vector-body"])
def test_what_the_compiler_does_not_know_is_inferred(kind: CompiledKind) -> None:
    """The origin of a loop is lost to it, or how long vectors are."""
    found = parts(loop(0, "", kind=kind), loop(1, "", kind=kind))
    assert found == parts()
    scalable = parts(loop(0, "main", kind=kind, iterations=4, scalable=True))
    assert scalable[0].elements == parts()[0].elements
    assert scalable[0].role.basis == "compiler"


def test_an_inferred_role_beside_what_is_no_main_loop_does_not_count() -> None:
    """The compiler knows the loop with the larger steps for a remainder of another one."""
    found = parts(loop(0, "remainder", 9, iterations=8))
    assert roles(found)[:2] == [("remainder", -1, "compiler"), ("main", -1, "inferred")]


def test_the_report_says_what_the_compiler_made() -> None:
    made = loop(
        0, "main", kind="vector-body", iterations=64, width=8, interleave=4, unroll=2, trip_count=16,
        source_trip_count=1024,
    )  # fmt: skip
    first, second, _ = report(made, loop(1, "remainder", 0, kind="scalar", iterations=1, max_trip_count=63))
    assert first.compiled.text == (
        "vectorised, 8 elements per vector, 4 vectors interleaved, unrolled 2 times; runs 16 times; "
        "1024 iterations in the source"
    )
    assert first.elements.per_iteration == 64
    assert first.elements.basis == first.role.basis == "compiler"
    assert first.elements.text.endswith("(64 elements per iteration, according to the compiler)")
    assert second.compiled.text == "scalar version of the vectorised loop; runs at most 63 times"
    assert second.role.of == first.kernel_id


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (loop(0, "main", iterations=1), "unchanged from the source"),
        (loop(0, "main", iterations=4, unroll=4), "unrolled 4 times"),
        (loop(0, "main", iterations=1, trip_count=1), "unchanged from the source; runs once"),
        (loop(0, "main", iterations=1, trip_multiple=4), "unchanged from the source; runs a multiple of 4 times"),
        (
            loop(0, "main", iterations=1, expected_trip_count=0),
            "unchanged from the source; 0 times according to the profile",
        ),
        (loop(0, "main", iterations=1, peeled=1), "unchanged from the source, 1 iteration peeled off before it"),
        (loop(0, "main", iterations=1, max_trip_count=2**31 - 1), "unchanged from the source"),
        (
            loop(0, "main", kind="interleaved", iterations=4, interleave=4),
            "4 scalar iterations interleaved",
        ),
        (
            loop(0, "main", kind="vector-body", iterations=4, width=4, scalable=True),
            "vectorised, 4 × vscale elements per vector",
        ),
        (loop(0, "", kind="unknown"), "origin unknown"),
    ],
)
def test_what_was_made_is_told_in_words(made: CompiledLoop, text: str) -> None:
    assert report(made)[0].compiled.text == text
