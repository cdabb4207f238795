"""bench/aliasing.py: its loops and distances; nothing here depends on time."""

from __future__ import annotations

import aliasing
import pytest

from incc.models.loading import load


@pytest.mark.parametrize("name", aliasing.BODIES)
def test_loops_store_to_one_array_and_load_from_others(name: str) -> None:
    kernel = aliasing.loop(aliasing.BODIES[name])
    accesses = [access for instruction in kernel.instructions for access in instruction.memory]
    assert any(access.load for access in accesses)
    assert any(access.store for access in accesses)
    assert aliasing.predicted(kernel, load("znver5"), 64) >= 1


@pytest.mark.parametrize(("name", "core"), [("chain", "znver5"), ("2 stores", "znver5"), ("copy line", "haswell")])
def test_predictions_depend_on_the_distance(name: str, core: str) -> None:
    kernel = aliasing.loop(aliasing.BODIES[name])
    cycles = {distance: aliasing.predicted(kernel, load(core), distance) for distance in (-64 % 4096, 0, 2048, 4096)}
    assert max(cycles.values()) > cycles[2048]
    assert cycles[0] == cycles[4096]


def test_differences_are_in_per_cent_of_what_is_measured() -> None:
    assert aliasing.differences([(1.5, 1), (0.9, 1)]) == pytest.approx([50, 10])
