"""Explanations of the cycles that a loop took in a program, from made-up records of probes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bind_kernels import kernel
from incc.core.analysis import KernelResult, analyze_kernel
from incc.models.loading import load
from incc.running.explain import explain
from incc.running.plan import LoopDescription
from incc.running.profile import LoopProfile, LoopSample
from struct_fixtures import filled

COPY = "1: movq (%rsi,%rax), %rcx; movq %rcx, (%rdi,%rax); addq $8, %rax; cmpq %rdx, %rax; jne 1b"


def copied(core: str) -> KernelResult:
    return analyze_kernel(replace(kernel(COPY), alignment=0), load(core))


def profile(*stored: int) -> LoopProfile:
    """A loop of 1,000 iterations per entry, that stores to these addresses and loads from 0x10000."""
    samples = [
        LoopSample(iterations=1000, ticks=2000, values={"rsi": 0x10000, "rdi": rdi, "rax": 0, "rdx": 8000})
        for rdi in stored
    ]
    return filled(
        LoopProfile,
        {
            "loop": LoopDescription(unit="u", kernel="k", registers=("rsi", "rdi", "rax", "rdx"), counted=False),
            "entries": len(samples),
            "samples": len(samples),
            "iterations": 1000.0 * len(samples),
            "ticks": 2000.0 * len(samples),
            "trips": (),
            "examples": tuple(samples),
        },
    )


@pytest.mark.parametrize(("stored", "share"), [((0x20010,), 1), ((0x20010, 0x20400), 0.5), ((0x20400,), 0)])
def test_addresses_of_samples_tell_about_4k_aliasing(stored: tuple[int, ...], share: float) -> None:
    result = copied("haswell")
    parts = {part.kind: part for part in explain(result, result, profile(*stored), 2.0).parts}
    let = (("rdi", 0x20010), ("rsi", 0x10000), ("rax", 0))
    always = analyze_kernel(result.kernel, result.model, replace(result.settings, let=let)).cycles - result.cycles
    assert always > 0.5
    assert ("aliasing" in parts) == (share > 0)
    if share:
        assert parts["aliasing"].cycles == pytest.approx(share * float(always), rel=0.05)
        assert "lower 12 bits" in parts["aliasing"].text


def test_the_parts_add_up_with_4k_aliasing() -> None:
    result = copied("haswell")
    explanation = explain(result, result, profile(0x20010), 3.0)
    listed = sum(part.cycles for part in explanation.parts)
    assert float(result.cycles) + listed + explanation.unexplained == pytest.approx(3.0, abs=0.05)


@pytest.mark.parametrize("core", ["gracemont", "znver5"])
def test_cores_that_lose_nothing_by_it_have_no_such_part(core: str) -> None:
    result = copied(core)
    parts = explain(result, result, profile(0x20010), 2.0).parts
    assert "aliasing" not in [part.kind for part in parts]
