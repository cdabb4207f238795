"""The bounds alone: exactly those of the whole analysis, with and without the simulation beside them."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import pytest
from bound_strategies import kernels
from generated_kernels import some_body
from hypothesis import given, settings

from bind_kernels import kernel as decoded
from bound_builder import BoundBuilder
from incc.core import Bounds, analyze, bounds, bounds_and_simulation, simulate
from incc.models.binding import bound as m
from incc.models.binding.bind import bind
from incc.models.loading import load

if TYPE_CHECKING:
    from incc.models.binding.bound import BoundKernel


def analysed(k: BoundKernel) -> Bounds:
    a = analyze(k)
    return Bounds(
        port=a.port_bound,
        divider=a.resource_bound,
        front_end=a.front_end_bound,
        retire=a.retire_bound,
        loop_carried=a.latency_bound,
    )


@given(kernels())
@settings(max_examples=300, deadline=None)
def test_bounds_are_those_of_the_analysis(b: BoundBuilder) -> None:
    k = b.build()
    assert bounds(k) == analysed(k)


@pytest.mark.parametrize("cpu", ["skylake", "haswell", "sandybridge", "znver4", "sapphirerapids", "bonnell"])
def test_bounds_of_real_instructions_alone_and_beside_the_simulation(cpu: str) -> None:
    """Loads and stores of vectors at known distances, so that lines are crossed, stores forwarded and gathered."""
    bodies = [some_body(seed) for seed in range(25)]
    bodies += [
        "movups (%rax), %xmm1; movups 8(%rax), %xmm2; add $16, %rax",
        "movups -16(%rax), %xmm1; addps %xmm1, %xmm2; movups %xmm2, (%rax); add $16, %rax",
        "add $1, (%rax)",
        "divsd %xmm0, %xmm1",
    ]
    model = load(cpu)
    for body in bodies:
        k, _ = bind(decoded(f"1: {body}; dec %r15; jne 1b"), model)
        assert bounds(k) == analysed(k), body
        assert bounds_and_simulation(k) == (bounds(k), simulate(k)), body


def test_every_bound_by_hand() -> None:
    b = BoundBuilder(ports=2, resources=1, issue_width=2, retire_width=3)
    b.op([0b01, 0b01], "x", x=7)
    b.uop(0b10)
    b.uop(0b100, cycles=9)
    b.value(m.VALUE_REGISTER, ["y"], [("z", 3)])
    b.end()
    b.op([0b11], "z", y=4)
    assert bounds(b.build()) == Bounds(
        port=Fraction(2), divider=Fraction(9), front_end=Fraction(2), retire=Fraction(4, 3), loop_carried=Fraction(7)
    )


def test_several_iterations_and_parallel_ways() -> None:
    """x and y change places: 11 cycles over two iterations, and a shorter way beside one of the steps."""
    b = BoundBuilder()
    b.uop(1)
    b.value(m.VALUE_REGISTER, ["x"], [("y", 4), ("y", 6)])
    b.value(m.VALUE_REGISTER, ["y"], [("x", 5)])
    b.end()
    assert bounds(b.build()).loop_carried == analyze(b.build()).latency_bound == Fraction(11, 2)


def test_nothing() -> None:
    assert bounds(BoundBuilder().build()) == Bounds(**dict.fromkeys(Bounds.__struct_fields__, Fraction(0)))


def test_errors_are_those_of_the_analysis() -> None:
    k = BoundBuilder().build()
    with pytest.raises(ValueError, match=r"^pipeline: the model does not describe it"):
        bounds_and_simulation(k)
    k.rob = -1
    with pytest.raises(ValueError, match=r"^rob: "):
        bounds(k)
