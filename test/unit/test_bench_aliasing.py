"""bench/aliasing.py: its loops and distances; nothing here depends on time."""

from __future__ import annotations

import aliasing
import pytest

from incc.core.analysis import analyze_kernel
from incc.models.loading import load


@pytest.mark.parametrize(
    ("distances", "text"),
    [([], "none"), ([64], "64"), ([0, 64, 128, 256], "0–128, 256"), ([0, 128, 192], "0, 128–192")],
)
def test_neighbouring_distances_are_written_as_one_span(distances: list[int], text: str) -> None:
    assert aliasing.spans(distances) == text


@pytest.mark.parametrize("name", aliasing.BODIES)
def test_loops_store_to_one_array_and_load_from_others(name: str) -> None:
    kernel = aliasing.loop(aliasing.BODIES[name])
    accesses = [access for instruction in kernel.instructions for access in instruction.memory]
    assert any(access.load for access in accesses)
    assert any(access.store for access in accesses)
    assert analyze_kernel(kernel, load("znver5")).cycles >= 1
