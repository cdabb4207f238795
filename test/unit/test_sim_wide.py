"""What Golden Cove starts of µops on vectors of 256 and 512 bits: figures measured there and on Redwood Cove."""

from __future__ import annotations

from fractions import Fraction

import pytest

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.models.bind import bind
from incc.models.bound import BoundKernel
from incc.models.loading import load

BYTES = {"x": 16, "y": 32, "z": 64}


def bound(register: str, loads: int, logic: int, stores: int, **parameters: object) -> BoundKernel:
    """A loop of independent instructions, each kind in a row."""
    size = BYTES[register]
    lines = [f"vmovups {size * n}(%rsi), %{register}mm{n}" for n in range(loads)]
    lines += [f"vandps %{register}mm14, %{register}mm15, %{register}mm{n % 8}" for n in range(logic)]
    lines += [f"vmovups %{register}mm{n}, {size * n}(%rdi)" for n in range(stores)]
    model = load("graniterapids")
    model = model.with_parameters(parameters) if parameters else model
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    return bind(decoded(text)._replace(alignment=0), model)[0]


def cycles(register: str, loads: int, logic: int, stores: int, **parameters: object) -> Fraction:
    return simulate(bound(register, loads, logic, stores, **parameters)).cycles_per_iteration


@pytest.mark.parametrize(
    ("register", "loads", "logic", "stores", "measured"),
    [
        ("x", 8, 8, 0, 2.99),
        ("y", 8, 0, 0, 2.67),
        ("y", 0, 8, 0, 2.66),
        ("y", 8, 0, 8, 4.0),
        ("y", 0, 8, 8, 4.0),
        ("y", 8, 8, 0, 4.27),
        ("y", 6, 6, 0, 3.18),
        ("y", 4, 8, 0, 3.2),
        ("y", 8, 8, 8, 6.0),
        ("z", 8, 0, 0, 4.0),
        ("z", 8, 2, 0, 4.0),
    ],
)
def test_four_of_256_bits_start_in_a_cycle(register: str, loads: int, logic: int, stores: int, measured: float) -> None:
    assert float(cycles(register, loads, logic, stores)) == pytest.approx(measured, rel=0.08)


def test_three_of_512_bits_start_in_a_cycle() -> None:
    # A store's data take two µops, and count once.
    assert float(cycles("z", 8, 4, 4)) == pytest.approx(16 / 3, rel=0.03)
    assert float(cycles("z", 8, 4, 4, starts_512bit=0)) < 5


def test_each_width_takes_its_share_of_a_cycle() -> None:
    def mixed(**parameters: object) -> float:
        lines = [f"vmovups {32 * n}(%rsi), %ymm{n}" for n in range(8)]
        lines += [f"vandps %zmm14, %zmm15, %zmm{n}" for n in range(6)]
        model = load("graniterapids").with_parameters(parameters)
        text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
        return float(simulate(bind(decoded(text)._replace(alignment=0), model)[0]).cycles_per_iteration)

    assert mixed() == pytest.approx(8 / 4 + 6 / 3, rel=0.03)
    assert mixed(starts_512bit=0) < 3.5


def test_without_limits_only_ports_count() -> None:
    assert float(cycles("y", 8, 8, 0, starts_256bit=0)) < 3.1


def test_bounds_do_not_know_of_it() -> None:
    # The limit is one of a mean that was measured, and not exact enough for a lower bound.
    limited, free = bound("y", 8, 8, 8), bound("y", 8, 8, 8, starts_256bit=0)
    assert bounds(limited) == bounds(free)
