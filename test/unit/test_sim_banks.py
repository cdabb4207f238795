"""The first-level cache: banks that loads share, and stores on their way there. Figures of Golden Cove are measured."""

from __future__ import annotations

import copy
from fractions import Fraction

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import simulate
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import load

LOADS = {1: "movzbl {}(%rdi), %eax", 4: "movl {}(%rdi), %eax", 8: "movq {}(%rdi), %rax"}
LOADS |= {16: "vmovups {}(%rdi), %xmm0", 32: "vmovups {}(%rdi), %ymm0"}
STORES = {8: "movq %rax, {}(%rdi)", 32: "vmovups %ymm0, {}(%rdi)", 64: "vmovups %zmm0, {}(%rdi)"}


def cycles(lines: list[str], cpu: str = "sapphirerapids", **parameters: object) -> Fraction:
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    model = load(cpu).with_parameters(parameters) if parameters else load(cpu)
    return simulate(bind(replace(decoded(text), alignment=0), model)[0]).cycles_per_iteration


def loads(size: int, *offsets: int, **parameters: object) -> Fraction:
    return cycles([LOADS[size].format(at) for at in offsets], **parameters)


def stores(size: int, *offsets: int, **parameters: object) -> Fraction:
    return cycles([STORES[size].format(at) for at in offsets], **parameters)


@pytest.mark.parametrize(
    ("size", "offsets", "measured"),
    [
        (8, (0, 0, 8), 1),
        (8, (0, 64, 8), 1),
        (8, (0, 16, 32), 1),
        (8, (0, 4, 64), 1.5),
        (8, (0, 4096, 8192), 1.5),
        (8, (0, 0, 0), 1.5),
        (4, (0, 4, 64), 1),
        (4, (0, 4, 0), 1),
        (1, (0, 1, 2), 1.5),
        (16, (0, 64, 16), 1),
        (16, (0, 64, 8), 1.5),
        (16, (0, 8, 16), 1),
        (32, (0, 32, 64), 1),
        (32, (8, 72, 136), 1.5),
        (8, (0, 64, 128, 8, 72, 136), 2),
    ],
)
def test_a_bank_serves_two_loads_a_cycle(size: int, offsets: tuple[int, ...], measured: float) -> None:
    assert float(loads(size, *offsets)) == pytest.approx(measured, abs=0.04)


def test_a_load_across_a_line_goes_alone() -> None:
    # Wherever the first one lies, some of them cross.
    places = range(0, 96, 8)
    assert loads(32, *places) > loads(32, *places, bank_bytes=0)


def test_places_relative_to_one_pointer_are_followed_through_the_loop() -> None:
    def with_step(step: int) -> Fraction:
        return cycles([*(LOADS[8].format(at) for at in (0, 64, 128)), f"leaq {step}(%rdi), %rdi"])

    assert float(with_step(64)) == pytest.approx(1.5, abs=0.04)
    assert with_step(8) == 1  # loads of one trip go with those of the next


def test_without_banks_only_ports_count() -> None:
    assert loads(8, 0, 64, 128, bank_bytes=0) == 1
    assert loads(8, 0, 64, 128, bank_loads=1) == 3


@pytest.mark.parametrize(
    ("size", "offsets", "measured"),
    [
        (8, (0, 8), 1),
        (8, (8, 0), 1),
        (8, (0, 0), 1),
        (8, (0, 48), 1),
        (8, (0, 8, 16), 1.5),
        (8, (0, 8, 64, 72), 2),
        (8, (0, 64, 8, 72), 4),
        (8, (0, 8, 16, 64), 3),
        (8, (0, 8, 16, 64, 72, 80), 4),
        (8, (60,), 2),
        (8, (60, 64, 72), 3),
        (8, (56, 60, 72), 4),
        (32, (0, 32, 64, 96), 2),
        (32, (32, 64, 96, 128, 160, 192, 224, 256), 5),
        (64, (0, 64), 2),
        (64, (0, 0), 2),
    ],
)
def test_stores_go_to_the_cache_in_pairs(size: int, offsets: tuple[int, ...], measured: float) -> None:
    assert float(stores(size, *offsets)) == pytest.approx(measured, abs=0.04)


def test_without_a_limit_all_stores_to_a_block_go_together() -> None:
    assert (
        stores(8, 0, 8, 16, 24, store_commit_most=0) == stores(8, 0, 8, 16, 24) == 2
    )  # two stores are executed a cycle
    assert stores(8, 0, 8, 16, 24, store_commit_most=1) == 4


def pair(first: str, second: str, places: int = 0, cpu: str = "sandybridge", **parameters: object) -> float:
    """Cycles of two loads and a fused jump."""
    text = "1: " + "; ".join([f"movq {first}, %rax", f"movq {second}, %rbx", "dec %r15", "jne 1b"])
    model = load(cpu).with_parameters(parameters)
    bound, _ = bind(replace(decoded(text), alignment=0), model)
    return float(simulate(at_places(bound, places)).cycles_per_iteration)


def at_places(bound: BoundKernel, places: int) -> BoundKernel:
    changed = copy.copy(bound)
    changed.line_places = places
    return changed


@pytest.mark.parametrize("cpu", ["sandybridge", "ivybridge"])
@pytest.mark.parametrize(
    ("second", "cycles"),
    [
        ("0(%rdi)", 1),  # the same set
        ("4096(%rdi)", 1),
        ("64(%rdi)", 2),
        ("68(%rdi)", 2),  # eight bytes are two banks
        ("72(%rdi)", 1),
        ("2048(%rdi)", 2),
    ],
)
def test_on_sandy_bridge_a_bank_serves_one_set(cpu: str, second: str, cycles: int) -> None:
    assert pair("0(%rdi)", second, cpu=cpu) == pytest.approx(cycles, abs=0.02)
    assert pair("0(%rdi)", second, cpu=cpu, bank_bytes=0) == pytest.approx(1, abs=0.02)


def test_different_pointers_meet_in_a_bank_at_one_place_of_eight() -> None:
    assert pair("0(%rdi)", "0(%rsi)") == 1
    assert pair("0(%rdi)", "0(%rsi)", places=3) == pytest.approx(1 + 1 / 8, abs=0.03)
    # What is known of one pointer stays as it is.
    assert pair("0(%rdi)", "64(%rdi)", places=3) == pytest.approx(2, abs=0.02)
    assert pair("0(%rdi)", "72(%rdi)", places=3) == pytest.approx(1, abs=0.02)


def test_the_average_over_places_is_between_equal_and_different_ones() -> None:
    def three(places: int, *offsets: int) -> float:
        registers = ("%rdi", "%rsi", "%rdx")
        lines = [LOADS[8].format(at).replace("%rdi", r) for at, r in zip(offsets, registers, strict=True)]
        text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
        bound, _ = bind(replace(decoded(text), alignment=0), load("sapphirerapids"))
        return float(simulate(at_places(bound, places)).cycles_per_iteration)

    assert three(0, 0, 0, 0) == pytest.approx(1.5, abs=0.02)
    assert three(0, 0, 8, 16) == 1
    assert 1 <= three(3, 0, 0, 0) < 1.1  # all three meet at one place of 64
    assert three(3, 0, 8, 16) == pytest.approx(three(3, 0, 0, 0), abs=0.05)
