"""Delays between groups of units: chains of two kinds of instructions, as measured on Golden and Redwood Cove."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import analyze, simulate
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import load

ADD = "vaddsd %xmm1, %xmm0, %xmm0"
OTHERS = {
    "vmulsd %xmm1, %xmm0, %xmm0": 3,
    "vfmadd213sd %xmm1, %xmm1, %xmm0": 4,
    "vandpd %xmm1, %xmm0, %xmm0": 1,
    "vpermilpd $1, %xmm0, %xmm0": 1,
    "vmaxsd %xmm1, %xmm0, %xmm0": 4,
}


def bound(*lines: str, **parameters: object) -> BoundKernel:
    model = load("meteorlake")
    if parameters:
        model = model.with_parameters(parameters)
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    return bind(replace(decoded(text), alignment=0), model)[0]


def both(*lines: str, **parameters: object) -> tuple[Fraction, Fraction]:
    """The loop-carried bound, and the simulation."""
    k = bound(*lines, **parameters)
    return analyze(k).latency_bound, simulate(k).cycles_per_iteration


def test_additions_follow_each_other_in_two_cycles() -> None:
    assert both(ADD, ADD, ADD) == (6, 6)
    assert both(ADD, "vsubpd %xmm1, %xmm0, %xmm0") == (4, 4)


@pytest.mark.parametrize(("other", "latency"), OTHERS.items())
def test_anything_else_behind_an_addition_starts_a_cycle_later(other: str, latency: int) -> None:
    assert both(ADD, other) == (3 + latency, 3 + latency)
    assert both(ADD, ADD, other) == (5 + latency, 5 + latency)
    assert both(ADD, other, forward_delays={}) == (2 + latency, 2 + latency)
    assert both(other, other) == (2 * latency, 2 * latency)


def test_eliminated_moves_pass_on_what_they_move() -> None:
    through = "vmovapd %xmm0, %xmm2", "vaddsd %xmm1, %xmm2, %xmm0"
    assert both(ADD, *through) == (4, 4)
    assert both(ADD, "vmovapd %xmm0, %xmm2", "vmulsd %xmm1, %xmm2, %xmm0") == (6, 6)


def test_moves_in_a_circle() -> None:
    assert both("vmovapd %xmm0, %xmm2", "vmovapd %xmm2, %xmm0", ADD.replace("%xmm0", "%xmm3"))[0] == 2


def test_an_addition_of_what_was_loaded_is_an_addition() -> None:
    assert both("vaddsd (%rdi), %xmm0, %xmm0", ADD) == (4, 4)


def test_sums_of_512_bits_are_of_no_group() -> None:
    model = load("sapphirerapids")
    k = bind(decoded("1: vaddpd %zmm1, %zmm0, %zmm0; vaddsd %xmm1, %xmm2, %xmm2; dec %r15; jne 1b"), model)[0]
    assert k.forward_group[:2] == [-1, 0]
    assert k.forward_delay[:2] == [0, 1]
