"""The throughput of the steady state: exact where the machine repeats itself, and never below a bound."""

from __future__ import annotations

import pytest

from incc import core
from incc.frontends.x86.kernels import decode_bytes
from incc.models.binding.bind import bind
from incc.models.binding.bound import BoundKernel
from incc.models.loading import load

# Blocks whose µops jostle for ports, so that nothing repeats itself soon, and loops of dividers whose schedulers are
# still filling up when the throughput is read off first.
BLOCKS = (
    ("skylake", "f685e0feffff01" * 5 + "48ffc875d8"),
    ("skylake", "418b5500c4417a1000c5fa101bc5fa106304c5ba59f3c5fa106b0885d2c5ba59fcc53a59c5"),
    ("haswell", "488b8424c00000004c8b7424204c8b60184c89f74c89e6"),
    ("graniterapids", "89f0488d04874839c289f0488d04874839c249ffcf75e9"),
    ("graniterapids", "8d7bff4863d7488d14528b74d0344139f549ffcf75ea"),
    ("graniterapids", "f20f100ef20f584e10f20f580c06f20f584c1608f20f59c8f20f110f4883c7084883c60848ffc949ffcf75d4"),
    ("znver4", "83e00783e6074889c209f209fa89d0253ffeffff4584e40f45d031c0f6c10849ffcf75dc"),
    ("znver4", "660f10084883c010660f5cce660f28d1660f59d1660f58d5660f51da660f59d3660f5eca660f58e14839c149ffcf75d0"),
    ("znver4", "c5fb101cd148ffc2c5e35cd8c5f928e3c4e2e1a9e1c5db51ecc5db59e5c5e35edcc5eb58d34839d049ffcf75d3"),
)


def bound_of(cpu: str, code: str) -> BoundKernel:
    return bind(decode_bytes(bytes.fromhex(code)), load(cpu))[0]


@pytest.mark.parametrize(("cpu", "code"), BLOCKS)
def test_no_simulation_is_faster_than_a_bound(cpu: str, code: str) -> None:
    bound = bound_of(cpu, code)
    bounds, run = core.bounds_and_simulation(bound)
    # 2.318 of 2.25 cycles where registers run out now and then (2.275 in a run of 20,000 iterations).
    assert bounds.largest <= run.cycles_per_iteration <= bounds.largest * 1.031
    assert core.simulate(bound) == run
    assert core.simulate(bound, every_cycle=True) == run
    recorded = core.simulate(bound, record=True)
    assert (recorded.cycles_per_iteration, recorded.iterations) == (run.cycles_per_iteration, run.iterations)


def test_a_run_that_is_no_steady_state_yet_goes_on() -> None:
    cpu, code = BLOCKS[-1]
    bound = bound_of(cpu, code)
    run = core.simulate(bound)
    # What is read off after so many iterations as fill the core four times: the divider's work was done ahead.
    enough = -(-4 * bound.rob // sum(bound.issue_slots))
    assert run.iterations > enough


def test_a_machine_that_repeats_itself_is_read_off_exactly() -> None:
    # A chain of five cycles beside one of seven over two iterations.
    bound = bound_of("skylake", "488b36" + "480faff8" + "48ffc9" + "75f4")
    run = core.simulate(bound)
    assert run.period > 0
    assert run.cycles_per_iteration.denominator <= run.period
