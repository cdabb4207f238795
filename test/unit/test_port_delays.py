"""Delays between ports: chains of two or three vector operations, as measured on a Golden Cove (cycles a trip)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import analyze, simulate
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import load

MUL = "vmulsd %xmm1, %xmm0, %xmm0"
ADD = "vaddsd %xmm1, %xmm0, %xmm0"
INT_MUL = "vpmuludq %xmm1, %xmm0, %xmm0"
SHIFT = "vpsllq $3, %xmm0, %xmm0"
LOGIC = "vandpd %xmm1, %xmm0, %xmm0"
INT_LOGIC = "vpand %xmm1, %xmm0, %xmm0"
SHUFFLE = "vpshufd $1, %xmm0, %xmm0"


def bound(*lines: str, **parameters: object) -> BoundKernel:
    model = load("sapphirerapids")
    if parameters:
        model = model.with_parameters(parameters)
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    return bind(replace(decoded(text), alignment=0), model)[0]


def both(*lines: str, **parameters: object) -> tuple[Fraction, Fraction]:
    """The loop-carried bound, and the simulation."""
    k = bound(*lines, **parameters)
    return analyze(k).latency_bound, simulate(k).cycles_per_iteration


@pytest.mark.parametrize(
    ("lines", "cycles"),
    [
        ((MUL, SHIFT), 7),  # 6.98 measured
        ((MUL, SHIFT, ADD), 9),  # 8.98
        ((MUL, ADD, SHIFT), 9),  # 8.99
        ((INT_MUL, SHIFT), 7),  # 6.98
        ((INT_MUL, SHIFT, ADD), 10),  # 9.99
        ((INT_MUL, ADD, SHIFT), 9),  # 9.00: not towards integer multiplications
        ((MUL, SHUFFLE), 5),  # 5.00
        ((INT_MUL, SHUFFLE), 6),  # 5.98
        ((MUL, INT_MUL), 9),  # 8.99
        ((ADD, SHIFT), 4),  # 3.99
        ((SHIFT, LOGIC), 2),
    ],
)
def test_what_is_so_on_all_ports_is_in_the_bound(lines: tuple[str, ...], cycles: int) -> None:
    assert both(*lines) == (cycles, cycles)


@pytest.mark.parametrize(
    ("lines", "least", "cycles", "measured"),
    [
        # A third of the logic goes to ports 0 and 1.
        ((MUL, LOGIC), 5, Fraction(17, 3), 5.70),
        # Integer logic is late on port 5, too, in one direction.
        ((MUL, INT_LOGIC), 6, Fraction(19, 3), 6.35),
        ((INT_MUL, LOGIC), 6, Fraction(19, 3), 6.35),
        ((INT_MUL, INT_LOGIC), 6, Fraction(19, 3), 6.36),
        ((MUL, ADD, INT_LOGIC), 9, Fraction(9), 9.0),
    ],
)
def test_ports_decide(lines: tuple[str, ...], least: int, cycles: Fraction, measured: float) -> None:
    assert both(*lines) == (least, cycles)
    assert float(cycles) == pytest.approx(measured, rel=0.02)


def test_without_the_rule() -> None:
    assert both(MUL, SHIFT, port_delays={}) == (5, 5)


def test_eliminated_moves_pass_on_what_they_move() -> None:
    through = "vmovapd %xmm0, %xmm2", "vpsllq $3, %xmm2, %xmm0"
    assert both(MUL, *through) == (7, 7)


def test_a_what_if_without_ports_keeps_to_the_bound() -> None:
    k = bound(MUL, INT_LOGIC)
    assert simulate(k, unlimited_ports=True).cycles_per_iteration >= analyze(k).latency_bound


def test_stored_and_loaded_operands_are_not_delayed() -> None:
    plain = "vmulsd (%rdi), %xmm0, %xmm0"
    assert both(plain, SHIFT) == (7, 7)
    assert both(plain, plain) == (8, 8)


def test_zeroed_registers_have_no_port() -> None:
    k = bound("vpxor %xmm0, %xmm0, %xmm0", MUL)
    assert (k.delays_from[0], k.delays_to[0]) == (0, 0)
    assert k.delays_from[1] != 0


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ({"simple@0 float@1": 1}, "class float is unknown"),
        ({"simple@0": 1}, "must be two of CLASS@PORTS"),
        ({"simple@0 simple@": 1}, "must be two of CLASS@PORTS"),
        ({"simple@0 simple@1": 0}, "other than 0"),
    ],
)
def test_rules_are_checked(rules: dict[str, int], message: str) -> None:
    from incc.models.schema.kinds import PORT_DELAYS

    problems = PORT_DELAYS.problems({"classes": {"simple": "PAND_*"}, "rules": rules})
    assert [text for _, text in problems if message in text]
    assert not PORT_DELAYS.problems({})


@pytest.mark.parametrize(
    ("taken", "measured"),
    [
        ("vpsllq $3, %zmm15, %zmm{}", 4.0),  # Port 0 is taken: two cycles an addition.
        ("vpshufd $1, %zmm15, %zmm{}", 6.6),  # Port 5 is: three or four.
    ],
)
def test_additions_of_512_bits_differ_by_port(taken: str, measured: float) -> None:
    add = "vaddpd %zmm1, %zmm0, %zmm0"
    others = [taken.format(n) for n in (8, 9, 10, 11)]
    bound, simulated = both(add, add, *others)
    assert bound == 4
    assert float(simulated) == pytest.approx(measured, rel=0.02)
