"""What Golden Cove starts of µops on vectors of 256 and 512 bits: figures measured there and on Redwood Cove."""

from __future__ import annotations

from fractions import Fraction

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
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
    return bind(replace(decoded(text), alignment=0), model)[0]


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


@pytest.mark.parametrize(
    ("offsets", "logic", "measured"),
    [((0, 8, 64, 72), 5, 3.67), ((0, 8, 64, 72), 6, 3.9), ((0, 8, 64, 128), 6, 3.51), ((0, 64, 128, 192), 6, 3.28)],
)
def test_a_load_across_a_line_is_two(offsets: tuple[int, ...], logic: int, measured: float) -> None:
    # Wherever the pointer lies, as many cross as do with it at a line's start.
    lines = [f"vmovups {at}(%rsi), %zmm{n}" for n, at in enumerate(offsets)]
    lines += [f"vandps %zmm14, %zmm15, %zmm{8 + n % 4}" for n in range(logic)]
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])

    run = simulate(bind(replace(decoded(text), alignment=0), load("sapphirerapids"))[0])
    assert float(run.cycles_per_iteration) == pytest.approx(measured, rel=0.05)


def test_a_stencil_of_whole_lines() -> None:
    # Fourteen of its loads cross, wherever it begins; measured on Redwood Cove.
    code = (
        "62e1fd4810921000000062e1fd48108a2000000062e1ed405882f0ffffff62f1fd481092080000006251f54058ff62c1fd40"
        "59c362f1ed485892f8ffffff6271854859fc4889c34989d362d2fd4098d462e1fd481082180000004983e9806251fd4058f6"
        "4883ea804883c0026252854898f26271fd4810bae0ffffff62c1f54058cf62d1ed4858d66271fd4810b2a8ffffff62e1f540"
        "59cc62f18d4858c062f1fd4859c362f29548b842fe62f1ed4858c062d1fd481141fe62f1fd481082c8ffffff62f1fd485892"
        "b8ffffff62f1fd481082d0ffffff62f1fd485882b0ffffff62d1fd4859c362d2fd4898d462f1fd481082d8ffffff62718d48"
        "58f06252f54098f262d1ed4858d66271fd4810b2e8ffffff62a18d4858c062e1fd4059c362e29548b842ff62b1ed4858d062"
        "d1fd481151ff4839cb49ffcf0f85c2feffff"
    )
    kernel = decode_bytes(bytes.fromhex(code))

    def cycles_of(**parameters: object) -> float:
        model = load("graniterapids").with_parameters(parameters)
        return float(simulate(bind(kernel, model)[0]).cycles_per_iteration)

    assert cycles_of() == pytest.approx(19.71, rel=0.05)
    assert cycles_of(starts_512bit=0) < 0.85 * 19.71


def test_each_width_takes_its_share_of_a_cycle() -> None:
    def mixed(**parameters: object) -> float:
        lines = [f"vmovups {32 * n}(%rsi), %ymm{n}" for n in range(8)]
        lines += [f"vandps %zmm14, %zmm15, %zmm{n}" for n in range(6)]
        model = load("graniterapids").with_parameters(parameters)
        text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
        return float(simulate(bind(replace(decoded(text), alignment=0), model)[0]).cycles_per_iteration)

    assert mixed() == pytest.approx(8 / 4 + 6 / 3, rel=0.03)
    assert mixed(starts_512bit=0) < 3.5


def test_without_limits_only_ports_count() -> None:
    assert float(cycles("y", 8, 8, 0, starts_256bit=0)) < 3.1


def test_bounds_do_not_know_of_it() -> None:
    # The limit is one of a mean that was measured, and not exact enough for a lower bound.
    limited, free = bound("y", 8, 8, 8), bound("y", 8, 8, 8, starts_256bit=0)
    assert bounds(limited) == bounds(free)
