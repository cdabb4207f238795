"""Kernels may be analysed by several threads at once: the core runs without Python's lock."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from generated_kernels import some_body

from bind_kernels import kernel as decoded
from incc.core import analyze, bounds, simulate
from incc.models.binding.bind import bind
from incc.models.loading import load


def test_threads_find_what_one_finds() -> None:
    models = [load(cpu) for cpu in ("skylake", "sandybridge", "znver4", "bonnell")]
    kernels = [
        bind(decoded(f"1: {some_body(seed)}; dec %r15; jne 1b"), model)[0] for seed in range(10) for model in models
    ]

    def everything(number: int) -> object:
        k = kernels[number % len(kernels)]
        return analyze(k), bounds(k), simulate(k), simulate(k, ideal=True, iterations=3, record=True)

    alone = [everything(n) for n in range(len(kernels))]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(everything, range(4 * len(kernels)))) == 4 * alone
