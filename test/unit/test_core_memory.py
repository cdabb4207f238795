"""Dependencies through memory: which store a load reads from, and how many iterations before."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bound_builder import FORWARD_CYCLES, BoundBuilder
from incc.core import analyze, bounds
from incc.models.binding import bound as m


def memory_edges(b: BoundBuilder) -> list[tuple[int, int, int]]:
    """(store's instruction, load's instruction, distance)."""
    k = b.build()
    return [
        (e.producer, e.consumer, e.distance)
        for e in analyze(k).edges
        if k.value_kind[e.producer_value] == m.VALUE_STORE
    ]


def test_previous_element_is_read_back() -> None:
    """a[i] = a[i-1] + b[i]"""
    b = BoundBuilder()
    b.load("x", base="rdi", displacement=-8)
    b.op([0b11], "x", x=4)
    b.store("x", base="rdi")
    b.add("rdi", 8)
    assert memory_edges(b) == [(2, 0, 1)]
    a = analyze(b.build())
    assert a.latency_bound == FORWARD_CYCLES + 4
    assert a.chains[0].distance == 1


@pytest.mark.parametrize("distance", [1, 2, 7, 64])
def test_elements_further_back(distance: int) -> None:
    b = BoundBuilder()
    b.load("x", base="a", index="i", scale=8, displacement=-8 * distance)
    b.op([1], "x", x=4)
    b.store("x", base="a", index="i", scale=8)
    b.add("i", 1)
    assert memory_edges(b) == [(2, 0, distance)]
    assert analyze(b.build()).chains[0].cycles_per_iteration == max(1, Fraction(FORWARD_CYCLES + 4, distance))


def test_next_element_is_not() -> None:
    b = BoundBuilder()
    b.load("x", base="rdi", displacement=8)
    b.store("x", base="rdi")
    b.add("rdi", 8)
    assert memory_edges(b) == []


@given(
    store_at=st.integers(-64, 64),
    load_at=st.integers(-64, 64),
    store_size=st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    load_size=st.sampled_from([1, 2, 4, 8, 16, 32, 64]),
    stride=st.integers(-24, 24).filter(bool),
)
def test_overlap_is_decided_by_bytes(store_at: int, load_at: int, store_size: int, load_size: int, stride: int) -> None:
    b = BoundBuilder()
    b.load(None, base="p", displacement=load_at, size=load_size)
    b.store("x", base="p", displacement=store_at, size=store_size)
    b.add("p", stride)
    latest = next(
        (
            d
            for d in range(1, 200)
            if range(max(load_at, store_at - d * stride), min(load_at + load_size, store_at - d * stride + store_size))
        ),
        None,
    )
    # Somewhat beyond 64 iterations it is no longer looked for.
    assume(latest is None or latest <= 64)
    assert memory_edges(b) == ([] if latest is None else [(1, 0, latest)])


def test_the_latest_of_several_stores_counts() -> None:
    b = BoundBuilder()
    b.store("x", base="p")
    b.store("y", base="p", displacement=4, size=4)
    b.load("z", base="p")
    b.load("z", base="p", size=4)
    assert memory_edges(b) == [(0, 3, 0), (1, 2, 0)]


def test_unrelated_addresses_are_different_places() -> None:
    b = BoundBuilder()
    b.store("x", base="p")
    b.load("y", base="q")
    b.store("x", symbol="a")
    b.load("y", symbol="b")
    b.load("y", base="p", elements=4)  # a gather
    assert memory_edges(b) == []


def test_symbols_and_absolute_addresses() -> None:
    b = BoundBuilder()
    b.store("x", symbol="a", displacement=4)
    b.load("y", symbol="a", displacement=4)
    b.store("x", displacement=4096)
    b.load("y", displacement=4096)
    assert memory_edges(b) == [(0, 1, 0), (2, 3, 0)]


def test_address_arithmetic_is_followed_through_registers() -> None:
    b = BoundBuilder()
    b.uop(1)  # lea q, [p + 4*i + 16]
    b.value(m.VALUE_REGISTER, ["q"], [("p", 1), ("i", 1)])
    b.affine("q", 16, p=1, i=4)
    b.end()
    b.store("x", base="q", displacement=-16, size=4)
    b.load("y", base="p", index="i", scale=4, size=4)
    b.move("r", "p")
    b.load("z", base="r", index="i", scale=4, displacement=-4, size=4)
    b.add("i", 1)
    assert memory_edges(b) == [(1, 2, 0), (1, 4, 1)]


@pytest.mark.parametrize("factor", [2, 3, 4, 8, -2])
@pytest.mark.parametrize("start", [None, 0, 5])
def test_an_index_that_grows_by_a_factor_meets_no_element_again(factor: int, start: int | None) -> None:
    """a[i] = a[factor*i + 1], as in a heap: 64 iterations are enough to come to 2^64 times the first index."""
    b = BoundBuilder()
    if start is not None:
        b.entry("i", start)
    b.move("j", "i")
    b.uop(1)  # i = factor * i + 1
    b.value(m.VALUE_REGISTER, ["i"], [("i", 1)])
    b.affine("i", 1, i=factor)
    b.end()
    b.load("x", base="a", index="i", scale=4, size=4)
    b.store("x", base="a", index="j", scale=4, size=4)
    b.load("y", base="a", index="j", scale=4, size=4)
    assert memory_edges(b) == [(3, 4, 0)]


def test_a_stride_in_a_register_is_followed() -> None:
    b = BoundBuilder()
    b.store("x", base="p")
    b.uop(1)  # p += s
    b.value(m.VALUE_REGISTER, ["p"], [("p", 1), ("s", 1)])
    b.affine("p", 0, p=1, s=1)
    b.end()
    b.load("y", base="p", index="s", scale=-2)
    assert memory_edges(b) == [(0, 2, 1)]


def test_an_unknown_address_depends_on_nothing() -> None:
    b = BoundBuilder()
    b.op([1], "p", p=1)  # p = hash(p)
    b.store("x", base="p")
    b.load("y", base="p")
    b.load("z", base="p", displacement=8)
    assert memory_edges(b) == [(1, 2, 0)]


def test_unoptimised_code_reloads_its_pointer() -> None:
    """The pointer lives at [rbp-8]; the loop stores through one copy and loads through another."""
    b = BoundBuilder()
    b.load("rax", base="rbp", displacement=-8)
    b.load("xmm0", base="rax", displacement=-8, size=8)
    b.op([1], "xmm0", xmm0=4)
    b.load("rdx", base="rbp", displacement=-8)
    b.store("xmm0", base="rdx")
    b.load("rcx", base="rbp", displacement=-8)
    b.add("rcx", 8)
    b.store("rcx", base="rbp", displacement=-8)
    edges = memory_edges(b)
    assert (4, 1, 1) in edges  # a[i-1]
    assert {(7, 0, 1), (7, 3, 1), (7, 5, 1)} <= set(edges)
    assert len(edges) == 4


@pytest.mark.parametrize("step", [1, 3])
def test_a_counter_in_memory_is_followed(step: int) -> None:
    """gcc -O0 counts with `addq $1, -8(%rbp)` and reloads the counter for every access."""
    b = BoundBuilder()
    b.load("rax", base="rbp", displacement=-8)
    b.load("xmm0", base="a", index="rax", scale=8, displacement=-24)
    b.load("rdx", base="rbp", displacement=-8)
    b.store("xmm0", base="a", index="rdx", scale=8)
    b.add_to_memory(step, base="rbp", displacement=-8)
    assert set(memory_edges(b)) == {(4, 0, 1), (4, 2, 1), (4, 4, 1), (3, 1, 3 // step)}


def test_a_pointer_in_memory_moved_by_a_register() -> None:
    b = BoundBuilder()
    b.load("p", base="rsp")
    b.store("x", base="p")
    b.load("y", base="p", index="s", scale=-2)
    b.add_to_memory("s", base="rsp")
    assert set(memory_edges(b)) == {(3, 0, 1), (3, 3, 1), (1, 2, 2)}


def test_two_loads_of_a_place_give_the_same_pointer() -> None:
    """Nothing in the kernel stores to [rbp-8], so both copies are equal until something does."""
    b = BoundBuilder()
    b.load("rax", base="rbp", displacement=-8)
    b.store("x", base="rax")
    b.load("rdx", base="rbp", displacement=-8)
    b.load("y", base="rdx")
    assert memory_edges(b) == [(1, 3, 0)]

    b = BoundBuilder()
    b.load("rax", base="rbp", displacement=-8)
    b.store("x", base="rax")
    b.store(None, base="rbp", displacement=-4, size=4)  # half of the pointer
    b.load("rdx", base="rbp", displacement=-8)
    b.load("y", base="rdx")
    assert memory_edges(b) == [(2, 0, 1), (2, 3, 0)]


def test_a_truncated_pointer_is_another_value() -> None:
    for size, expected in [(8, [(0, 1, 0), (2, 3, 0)]), (2, [(0, 1, 0)])]:
        b = BoundBuilder()
        b.store("p", base="rsp", size=size)
        b.load("q", base="rsp", size=size)
        b.store("x", base="p")
        b.load("y", base="q")
        assert memory_edges(b) == expected


def test_data_register_that_is_also_the_address() -> None:
    """mov [p], p; mov q, [p]; then q and p are the same."""
    b = BoundBuilder()
    b.store("p", base="p")
    b.load("q", base="p")
    b.store("x", base="q", displacement=8)
    b.load("y", base="p", displacement=8)
    assert memory_edges(b) == [(0, 1, 0), (2, 3, 0)]


def test_forwarding_latency_by_class() -> None:
    b = BoundBuilder(forward_class=[0, 128, 256], forward_cycles=[4, 5, 6])
    b.store("x", base="p", size=32)
    for memory_class in (0, 128, 256, 512):
        b.load("y", base="p", memory_class=memory_class)
    k = b.build()
    assert [e.latency for e in analyze(k).edges if k.value_kind[e.producer_value] == m.VALUE_STORE] == [4, 5, 6, 6]


def test_a_store_waits_for_its_address() -> None:
    """p = [p] through memory: the address of the store is an input of what is forwarded."""
    b = BoundBuilder()
    b.op([1], "p", p=3)
    b.store("x", base="p")
    assert [(e.producer, e.consumer) for e in analyze(b.build()).edges] == [(0, 0), (0, 1)]


def test_long_kernels_look_less_far_back() -> None:
    def distances(length: int, distance: int) -> list[tuple[int, int, int]]:
        b = BoundBuilder()
        b.load("x", base="p", displacement=-8 * distance)
        b.store("x", base="p")
        for _ in range(length):
            b.op([1])
        b.add("p", 8)
        return memory_edges(b)

    assert distances(100, 60) == [(1, 0, 60)]
    assert distances(30_000, 3) == [(1, 0, 3)]
    assert distances(30_000, 60) == []


# --- stores that are not forwarded ------------------------------------------------------------------------------------

BLOCKED = 9


def cycles(b: BoundBuilder) -> float:
    """Beside what the pointer's addition takes."""
    carried = bounds(b.build()).loop_carried
    return float(carried) if carried > 1 else 0.0


def narrow_stores(*places: int, at: int = 0, merges: int = 0, **load: Any) -> BoundBuilder:
    b = BoundBuilder(blocked_forward_cycles=BLOCKED, merges_narrow_store=merges)
    for place in places:
        b.store("x", base="p", displacement=place, size=4)
    b.load("y", base="p", displacement=at, size=8, **load)
    b.add("p", 8)
    return b


@pytest.mark.parametrize("places", [(0, 4), (4, 0), (4,), (0,)])
def test_blocked_loads_wait_for_each_other_through_retirement(places: tuple[int, ...]) -> None:
    """Stores go to the cache when they retire, which is after the load of the iteration before had its data."""
    b = narrow_stores(*places)
    assert cycles(b) == FORWARD_CYCLES + BLOCKED
    assert {e.latency for e in analyze(b.build()).edges if e.location < 0 and e.producer != e.consumer} == {
        FORWARD_CYCLES + BLOCKED
    }


def test_two_pairs_wait_twice_unless_both_stores_come_first() -> None:
    def pairs(order: str) -> float:
        b = BoundBuilder(blocked_forward_cycles=BLOCKED)
        for what in order:
            place = 64 * (what in "BD")
            if what in "AB":
                b.store("x", base="p", displacement=place + 4, size=4)
            else:
                b.load("y", base="p", displacement=place, size=8)
        return cycles(b)

    assert pairs("ACBD") == 2 * (FORWARD_CYCLES + BLOCKED)
    assert pairs("ABCD") == FORWARD_CYCLES + BLOCKED


def test_a_core_that_merges_waits_only_for_several_stores_or_another_start() -> None:
    assert cycles(narrow_stores(0, merges=1)) == 0
    for places in [(0, 4), (4, 0), (4,)]:
        assert cycles(narrow_stores(*places, merges=1)) == FORWARD_CYCLES + BLOCKED


def test_what_is_not_known_to_be_read_is_not_blocked() -> None:
    assert cycles(narrow_stores(0, partial=True)) == 0
    assert cycles(narrow_stores(0, elements=2)) == 0


def test_an_assumed_dependency_is_one_more() -> None:
    """histogram[indices[i]] += 1: the same place as in the iteration before, or not."""

    def build(load_size: int, *, assumed: bool) -> m.BoundKernel:
        b = BoundBuilder(blocked_forward_cycles=BLOCKED)
        b.load("i", base="p")
        b.load("x", base="q", index="i", size=load_size)
        b.op([0b11], "x", x=1)
        b.store("x", base="q", index="i")
        b.add("p", 8)
        k = b.build()
        if assumed:
            k.assumed_load = [[v for v, kind in enumerate(k.value_kind) if kind == m.VALUE_LOAD][1]]
            k.assumed_store, k.assumed_distance = [k.value_kind.index(m.VALUE_STORE)], [1]
        return k

    for size, cycles_around in ((8, FORWARD_CYCLES + 1), (4, FORWARD_CYCLES + 1), (16, FORWARD_CYCLES + BLOCKED + 1)):
        assert bounds(build(size, assumed=False)).loop_carried <= 1
        assert bounds(build(size, assumed=True)).loop_carried == cycles_around
        assert analyze(build(size, assumed=True)).latency_bound == cycles_around
