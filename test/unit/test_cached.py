"""Results of the core are shared by kernels that it cannot tell apart, and by no others."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from test_cold import CORES, LINES, kernel

from incc import core
from incc.core import cached
from incc.core.analysis import KernelResult, KernelSettings, analyze_kernel
from incc.core.cached import CachedCore
from incc.core.whatif import copy
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel, Pipeline
from incc.models.loading import load
from properties import examples

LOOP = "vaddpd (%rdi,%rax), %ymm{}, %ymm{}\nimulq ${}, %r9, %r9\naddq $32, %rax\ncmpq %r8, %rax\njne .L4"
EVERYTHING = KernelSettings(
    what_ifs=True, waits=True, cold_iterations=100, timeline_iterations=3, pressure=True, alignment=-2
)


def figures(result: KernelResult) -> tuple[Any, ...]:
    names = ("bounds", "cycles", "simulation", "what_ifs", "cold", "alignments", "placements", "waits", "events")
    return (*[getattr(result, name) for name in names], result.notes, result.started, result.analysis)


def test_kernels_that_are_alike_are_simulated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[BoundKernel] = []

    def counting(run: Any) -> Any:
        def counted(bound: BoundKernel, *rest: Any, **options: Any) -> Any:
            runs.append(bound)
            return run(bound, *rest, **options)

        return counted

    for name in ("simulate", "bounds_and_simulation", "cold_run", "analyze"):
        monkeypatch.setattr(core, name, counting(getattr(core, name)))
    model, cache = load("skylake"), CachedCore()
    first = analyze_kernel(kernel(LOOP.format(1, 2, 3)), model, EVERYTHING, cache)
    assert runs
    runs.clear()
    second = analyze_kernel(kernel(LOOP.format(5, 6, 100)), model, EVERYTHING, cache)
    assert figures(second) == figures(first)
    assert not runs
    # A register that is used twice makes another kernel, and so does a constant that makes one longer.
    for text in (LOOP.format(1, 1, 3), LOOP.format(1, 2, 1000)):
        analyze_kernel(kernel(text), model, EVERYTHING, cache)
        assert runs
        runs.clear()


@given(
    st.lists(st.lists(st.sampled_from(LINES), min_size=1, max_size=4).map("\n".join), min_size=2, max_size=4),
    st.lists(st.sampled_from(CORES), min_size=1, max_size=2),
)
@examples(10)
def test_results_are_those_of_kernels_alone(texts: list[str], cores: list[str]) -> None:
    cache = CachedCore()
    settings = replace(EVERYTHING, alignment=-1)
    for text in [*texts, *reversed(texts)]:
        for cpu in cores:
            together = analyze_kernel(kernel(text), load(cpu), settings, cache)
            assert figures(together) == figures(analyze_kernel(kernel(text), load(cpu), settings))


@pytest.mark.parametrize("cpu", ["skylake", "znver4"])
def test_whatever_the_core_sees_tells_kernels_apart(cpu: str) -> None:
    bound, _ = bind(kernel("\n".join(LINES)), load(cpu))
    contents = cached._contents
    assert bound.pipeline is not None
    for owner in (BoundKernel, Pipeline):
        for name in owner.__slots__:
            other = copy(bound)
            assert contents(other) == contents(bound)
            of: Any = other if owner is BoundKernel else other.pipeline
            was = getattr(of, name)
            if isinstance(was, list):
                setattr(of, name, [*was, 1])
            else:
                setattr(of, name, None if name == "pipeline" else was + 1)
            assert contents(other) != contents(bound), name


def test_invalid_kernels_raise_the_errors_of_the_core() -> None:
    cache = CachedCore()
    with pytest.raises(ValueError, match="not set"):
        cache.bounds(BoundKernel())
    bound, _ = bind(kernel("nop"), load("skylake"))
    bound.uop_ports = [object()]  # type: ignore[list-item]
    with pytest.raises(ValueError, match="uop_ports"):
        cache.analyze(bound)
    bound, _ = bind(kernel("nop"), load("skylake"))
    with pytest.raises(ValueError, match="iterations"):
        cache.cold_run(bound, 0)


def test_no_more_is_kept_than_a_number_of_results(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cached, "MOST", 3)
    cache = CachedCore()
    for width in range(1, 9):
        bound, _ = bind(kernel("nop"), load("skylake"))
        bound.issue_width = width
        cache.bounds(bound)
        assert len(cache._results) <= 3
