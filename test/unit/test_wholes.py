"""A bound kernel that is found again, with other registers, is the one that would be bound anew."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_cold import kernel

from incc.core.altered import AlteredCore, alter
from incc.models.binding import pieces
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel, Pipeline
from incc.models.loading import load
from incc.models.model import MachineModel
from properties import examples

CORES = ("skylake", "sandybridge", "znver4", "meteorlake", "btver2")
REGISTERS = ("rax", "rcx", "rdx", "rbx", "rsi", "rdi", "r8", "r9")
# {0} to {2}: registers of 64 bits; {3} to {5}: the numbers of vector registers; {6}: a constant.
LINES = (
    "addq ${6}, %{0}",
    "imulq ${6}, %{0}, %{1}",
    "movq %{0}, %{1}",
    "movq (%{0}), %{1}",
    "movq %{1}, 8(%{0})",
    "addq %{2}, {6}(%{0},%{1},2)",
    "pushq %{0}",
    "popq %{0}",
    "cmovaq %{0}, %{1}",
    "adcq %{0}, %{1}",
    "shlq %cl, %{0}",
    "xorl %ebx, %ebx",
    "movb %ah, %bl",
    "movl $3, %eax",
    "vaddpd %ymm{3}, %ymm{4}, %ymm{5}",
    "vfmadd231pd (%{0}), %ymm{3}, %ymm{4}",
    "vmovupd %xmm{3}, %xmm{4}",
    "vpxor %xmm{3}, %xmm{3}, %xmm{3}",
    "divq %{0}",
    "cpuid",
    "ud2",
    "cmpq %{0}, %{1}\njne .L4",
)


def contents(bound: BoundKernel) -> dict[str, Any]:
    """All fields of a kernel and of its pipeline."""
    found = {name: getattr(bound, name) for name in BoundKernel.__slots__ if name != "pipeline"}
    return found | {
        f"pipeline.{name}": getattr(bound.pipeline, name) for name in Pipeline.__slots__ if bound.pipeline is not None
    }


def apart(cpu: str) -> MachineModel:
    """The core, with nothing kept of earlier kernels."""
    model = load(cpu)
    return model.with_parameters({"rob": model.parameters["rob"]})


@st.composite
def texts(draw: st.DrawFn) -> list[str]:
    lines = draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=5))
    found = []
    for _ in range(draw(st.integers(2, 3))):
        named = draw(st.permutations(REGISTERS))
        vectors = draw(st.permutations(range(8)))
        constant = draw(st.sampled_from((1, 8, 100, 1000)))
        found.append("\n".join(lines).format(*named[:3], *vectors[:3], constant))
    return found


@given(texts(), st.sampled_from(CORES))
@examples(60)
def test_kernels_that_are_alike_are_bound_as_they_are_alone(written: list[str], cpu: str) -> None:
    together = apart(cpu)
    for text in written:
        bound, forms = bind(kernel(text), together)
        alone, _ = bind(kernel(text), apart(cpu))
        assert contents(bound) == contents(alone)
        assert len(forms) == len(kernel(text).instructions)


LOOP = "addq ${}, %r{}\nvaddpd %ymm{}, %ymm1, %ymm1\npushq %rax\njne .L4"


def test_another_kernel_that_is_alike_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[BoundKernel] = []
    keep = pieces.WholeKernel.keep

    def counting(whole: pieces.WholeKernel, bound: BoundKernel) -> None:
        kept.append(bound)
        keep(whole, bound)

    monkeypatch.setattr(pieces.WholeKernel, "keep", counting)
    model = apart("skylake")
    first, _ = bind(kernel(LOOP.format(8, 9, 3)), model)
    second, _ = bind(kernel(LOOP.format(8, 10, 5)), model)
    assert kept == [first]
    assert second.pipeline is first.pipeline
    assert second.location_names != first.location_names
    # Another constant, another length, and a register that is used twice.
    for text in (LOOP.format(9, 9, 3), LOOP.format(1000, 9, 3), LOOP.format(8, 9, 1)):
        kept.clear()
        bind(kernel(text), model)
        assert len(kept) == 1


def test_a_change_of_the_core_is_one_of_that_kernel_alone() -> None:
    model = apart("skylake")
    bound, _ = bind(kernel(LOOP.format(8, 9, 3)), model)
    was = contents(bound)
    other = kernel(LOOP.format(8, 9, 3) + "\ncall f")
    changes = AlteredCore(register_file=20, uop_queue=5, decoders=2, load_queue=3, dispatch_width=2, noalias=False)
    for text in (LOOP.format(8, 9, 3), LOOP.format(8, 10, 5)):
        again, _ = bind(kernel(text), model)
        alter(kernel(text), again, changes)
        assert contents(again) != was
    called, _ = bind(other, model)
    alter(other, called, AlteredCore(call_latency=100))
    assert called.pipeline is not None
    assert max(called.pipeline.least_cycles) == 100
    last, _ = bind(kernel(LOOP.format(8, 9, 3)), model)
    assert contents(last) == was
    again, _ = bind(other, model)
    assert again.pipeline is not None
    assert max(again.pipeline.least_cycles) == 0
