"""Loads that the core first takes for loads of a store in flight, because the lower bits of their addresses agree."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.core.aliasing import known_pairs
from incc.core.analysis import KernelSettings, analyze_kernel
from incc.core.places import WORST_PLACES
from incc.frontends.kernel import KernelCode, with_values
from incc.models.binding.bind import bind
from incc.models.loading import load

STORED, LOADED = 0x10040, 0x20040

STORE = "movq %rcx, (%rdi)"
LOAD = "movq (%rsi,%rax), %rbx; movq %rbx, %rax; subq %rbx, %rax"
"""A load whose result is part of the next one's address, five cycles with the subtraction."""


def loop(body: str) -> KernelCode:
    return replace(decoded(f"1: {body}; dec %r15; jne 1b"), alignment=0)


def cycles(body: str, core: str, values: dict[str, int], **parameters: object) -> float:
    model = load(core).with_parameters(parameters) if parameters else load(core)
    return float(simulate(bind(with_values(loop(body), values), model)[0]).cycles_per_iteration)


@pytest.mark.parametrize(
    ("before", "later", "measured"),
    [
        # One store in the iteration: that of the one before is in flight as well, if it retired up to 8 cycles ago.
        (1, 0, (8.44, 4.97)),
        (1, 1, (9.46, 5.98)),
        (1, 2, (10.45, 6.96)),
        (1, 3, (11.44, 7.95)),
        (1, 4, (8.96, 8.96)),
        (1, 6, (10.97, 10.98)),
        (2, 6, (17.94, 10.98)),
        (3, 6, (17.98, 10.99)),
        (2, 12, (23.99, 16.98)),
    ],
)
def test_zen_5_takes_longer_if_two_stores_agree(before: int, later: int, measured: tuple[float, float]) -> None:
    body = "; ".join([STORE] * before + [LOAD] + ["addq $0, %rax"] * later)
    for distance, time in zip((0, 64), measured, strict=True):
        values = {"rdi": STORED, "rsi": LOADED + distance, "rax": 0}
        assert cycles(body, "znver5", values) == pytest.approx(time, abs=0.07)


@pytest.mark.parametrize(
    ("body", "measured"),
    [
        (f"{LOAD}; {STORE}; {LOAD}", 9.97),
        (f"{LOAD}; {STORE}; {STORE}; {LOAD}", 16.95),
        (f"{STORE}; {STORE}; {LOAD}; {LOAD}; {LOAD}", 21.94),
        # Two stores of other bytes of the load, and two of which only one is of its bytes.
        (f"movl %ecx, 4(%rdi); movl %ecx, (%rdi); {LOAD}" + "; addq $0, %rax" * 6, 17.95),
        (f"movq %rcx, 8(%rdi); movq %rcx, (%rdi); {LOAD}" + "; addq $0, %rax" * 6, 10.98),
    ],
)
def test_zen_5_counts_stores_of_any_byte_of_the_load(body: str, measured: float) -> None:
    assert cycles(body, "znver5", {"rdi": STORED, "rsi": LOADED, "rax": 0}) == pytest.approx(measured, abs=0.07)


# Per cent of a vector per cycle on a Haswell, if z begins so many lines behind x and y modulo 4 KiB (Stack Overflow,
# question 25774190).
HASWELL = {0: 86, 1: 48, 2: 48, 3: 48, 4: 48, 5: 46, 6: 53, 7: 59, 8: 67, 9: 73, 12: 87, 13: 87}


@pytest.mark.parametrize("lines", HASWELL)
def test_a_sum_of_arrays_on_haswell_takes_as_long_as_published(lines: int) -> None:
    vectors = [
        f"vmovaps {at}(%rsi), %ymm0; vaddps {at}(%rdx), %ymm0, %ymm0; vmovaps %ymm0, {at}(%rdi)"
        for at in range(0, 256, 32)
    ]
    body = "; ".join([*vectors, *(f"addq $256, %{register}" for register in ("rsi", "rdx", "rdi"))])
    time = cycles(body, "haswell", {"rsi": 0x10000, "rdx": 0x20000, "rdi": 0x30000 + 64 * lines})
    assert 100 * 8 / time == pytest.approx(HASWELL[lines], abs=9)


def test_a_load_that_reads_what_was_stored_last_does_not_wait() -> None:
    alias, real = "movq %rcx, (%rdi)", "movq %rdx, (%rsi)"
    values = {"rdi": STORED, "rsi": STORED + 4096, "rax": 0}
    usual = cycles(f"{real}; {LOAD}", "haswell", values)
    assert cycles(f"{alias}; {real}; {LOAD}", "haswell", values) == usual
    late = load("haswell").parameters["address_aliasing"]["cycles"]
    assert cycles(f"{real}; {alias}; {LOAD}", "haswell", values) == usual + late


COPY = "vmovaps (%rsi), %ymm0; vmovaps 32(%rsi), %ymm1; vmovaps %ymm0, (%rdi); addq $64, %rsi; addq $64, %rdi"


def test_pointers_of_unknown_distance_alias_only_at_the_worst_places() -> None:
    bound = bind(loop(COPY), load("haswell"))[0]
    usual = simulate(bound).cycles_per_iteration
    assert (
        usual
        == simulate(bind(loop(COPY), load("haswell").with_parameters({"address_aliasing": {}}))[0]).cycles_per_iteration
    )
    bound.line_places = WORST_PLACES
    assert simulate(bound).cycles_per_iteration > usual


def test_streams_at_different_speeds_do_not_alias() -> None:
    body = "movq (%rsi), %rax; movq %rcx, (%rdi); addq $8, %rsi; addq $16, %rdi"
    values = {"rdi": STORED, "rsi": LOADED - 8}
    assert cycles(body, "haswell", values) == cycles(body, "haswell", values, address_aliasing={})


ACCESSES = ["movq {0}(%rsi), %rax", "movq %rax, {0}(%rdi)", "movups {0}(%rsi), %xmm0", "movups %xmm0, {0}(%rdi)"]
OTHERS = ["addq %rax, %rbx", "addq $8, %rsi", "addq $8, %rdi", "movq (%rsi,%rbx), %rbx"]


@given(
    st.lists(st.tuples(st.sampled_from(ACCESSES), st.integers(0, 8).map(lambda n: 8 * n)), min_size=1, max_size=6),
    st.lists(st.sampled_from(OTHERS), max_size=3),
    st.integers(-4, 4).map(lambda n: 8 * n),
    st.sampled_from(["haswell", "sandybridge", "meteorlake", "znver5"]),
)
def test_aliasing_never_makes_a_loop_faster(
    accesses: list[tuple[str, int]], others: list[str], distance: int, core: str
) -> None:
    body = "; ".join([text.format(at) for text, at in accesses] + others)
    values = {"rdi": STORED, "rsi": LOADED + distance}
    kernel = with_values(loop(body), values)
    bound = bind(kernel, load(core))[0]
    without = bind(kernel, load(core).with_parameters({"address_aliasing": {}}))[0]
    limits = bounds(bound)
    assert limits == bounds(without)
    # Delays change which µops compete for ports, by a few per cent in either direction.
    assert simulate(bound).cycles_per_iteration >= simulate(without).cycles_per_iteration * 0.97
    assert float(simulate(bound).cycles_per_iteration) >= 0.97 * float(max(limits.port, limits.loop_carried))


def test_values_of_registers_make_distances_known() -> None:
    settings = KernelSettings(arrays="aligned")
    apart = analyze_kernel(loop(COPY), load("haswell"), settings).cycles
    places = (("rsi", LOADED), ("rdi", STORED + 64))
    aliased = analyze_kernel(loop(COPY), load("haswell"), replace(settings, let=places)).cycles
    assert aliased > apart


@pytest.mark.parametrize(("iterations", "met"), [(40, True), (100, False)])
def test_stores_meet_loads_only_while_they_are_in_flight(iterations: int, met: bool) -> None:
    # The load is 4 KiB behind the store of that many iterations of four µops before.
    kernel = loop(f"movq (%rdi), %rax; movq %rcx, {8 * iterations - 4096}(%rdi); addq $8, %rdi")
    result = analyze_kernel(kernel, load("skylake"))
    assert bool(known_pairs(result.bound, result.analysis.streams)) == met
