"""Taken jumps: the least that a loop takes."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.models.binding.bind import bind
from incc.models.loading import load


@pytest.mark.parametrize("core", ["meteorlake", "graniterapids", "alderlake", "sapphirerapids"])
def test_no_loop_takes_less_than_a_cycle(core: str) -> None:
    """Measured on both cores; the additions alone take no time there."""
    k = bind(replace(decoded("1: add $8, %rbx; inc %rax; cmp %rcx, %rax; jne 1b"), alignment=0), load(core))[0]
    assert bounds(k).port == 1
    assert simulate(k).cycles_per_iteration == 1
