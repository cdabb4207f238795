"""The timeline: what must hold for any kernel, and known cases cycle by cycle."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from bound_strategies import kernels
from hypothesis import given, settings

from bound_builder import FORWARD_CYCLES, LOAD_LATENCY, BoundBuilder
from incc.core import analyze, timeline
from incc.models import bound as m

if TYPE_CHECKING:
    from incc.core import Event

ITERATIONS = 200


def cycles_per_iteration(events: tuple[Event, ...], iterations: int) -> tuple[int, int]:
    """Cycles and iterations of the second half."""
    length = len(events) // iterations
    half = iterations // 2
    return events[-1].retired - events[half * length - 1].retired, iterations - half


@given(kernels())
@settings(deadline=None)
def test_never_faster_than_the_bounds(b: BoundBuilder) -> None:
    """From cycle 0 nothing can have been done before: only latencies of the last iteration may be missing."""
    k = b.build()
    a = analyze(k)
    events = timeline(k, ITERATIONS)
    last = max(e.executed for e in events)
    for bound in (a.port_bound, a.resource_bound, a.front_end_bound):
        assert last + 1 >= bound * (ITERATIONS - 1)
    assert events[-1].retired + 1 >= a.retire_bound * ITERATIONS
    for chain in a.chains:
        # A chain of several iterations need not be closed at the ends of the run.
        assert last >= chain.cycles_per_iteration * (ITERATIONS - chain.distance - 1)


@given(kernels())
@settings(deadline=None)
def test_life_of_every_instruction(b: BoundBuilder) -> None:
    k = b.build()
    events = timeline(k, 30)
    n = len(k.issue_slots)
    assert [(e.iteration, e.instruction) for e in events] == [(i, j) for i in range(30) for j in range(n)]
    for e in events:
        assert 0 <= e.dispatched <= e.ready <= e.started <= e.executed < e.retired
        first, last = k.uop_start[e.instruction], k.uop_start[e.instruction + 1]
        assert len(e.ports) == last - first
        assert all(k.uop_ports[u] >> p & 1 for u, p in zip(range(first, last), e.ports, strict=True))
        if e.ports:
            assert e.started >= e.dispatched + max(1, k.issue_to_execute)
    for e, following in pairwise(events):
        assert e.dispatched <= following.dispatched
        assert e.retired <= following.retired


@given(kernels())
@settings(deadline=None)
def test_widths_and_buffers_are_kept(b: BoundBuilder) -> None:
    k = b.build()
    events = timeline(k, 30)
    for slots, width, when in (
        (k.issue_slots, k.issue_width, lambda e: e.dispatched),
        (k.retire_slots, k.retire_width, lambda e: e.retired),
    ):
        done = 0
        for e in events:  # in order, so all slots up to here fit into the cycles up to here
            done += slots[e.instruction]
            assert done <= width * (when(e) + 1)
    for capacity, need in (
        (k.rob, [float(s) for s in k.retire_slots]),
        (k.load_buffer, [float(bool(f & m.IS_LOAD)) for f in k.instruction_flags]),
        (k.store_buffer, [float(bool(f & m.IS_STORE)) for f in k.instruction_flags]),
    ):
        if capacity == 0:
            continue
        for at in range(0, events[-1].retired, 7):
            inside = [need[e.instruction] for e in events if e.dispatched <= at < e.retired and need[e.instruction]]
            assert sum(inside) <= capacity or len(inside) == 1


@given(kernels())
@settings(deadline=None)
def test_results_wait_for_their_inputs(b: BoundBuilder) -> None:
    """Along every edge between single-result instructions, consumers end no sooner than producer plus latency."""
    k = b.build()
    n = len(k.issue_slots)
    single = [k.value_start[i + 1] - k.value_start[i] == 1 and k.uop_start[i + 1] > k.uop_start[i] for i in range(n)]
    events = timeline(k, 20)
    for edge in analyze(k).edges:
        # `executed` is a result's time where there is one result and it takes longer than its µops' own cycle.
        if not single[edge.producer] or k.value_kind[edge.producer_value] == m.VALUE_STORE:
            continue
        longest = max(
            k.input_latency[k.input_start[edge.producer_value] : k.input_start[edge.producer_value + 1]], default=0
        )
        if longest < 1:
            continue
        for i in range(20 - edge.distance):
            ready = events[i * n + edge.producer].executed
            consumer = events[(i + edge.distance) * n + edge.consumer]
            if consumer.ports:
                assert consumer.executed >= ready + edge.latency


@given(kernels())
@settings(deadline=None)
def test_a_cut_timeline_is_the_beginning_of_the_whole(b: BoundBuilder) -> None:
    k = b.build()
    whole = timeline(k, 30)
    assert timeline(k, 30, max_cycles=20) == tuple(e for e in whole if e.dispatched < 20)
    assert timeline(k, 0) == ()


def test_one_uop_per_port_and_cycle() -> None:
    b = BoundBuilder(issue_width=8)
    for _ in range(6):
        b.op([0b11], "x")
    events = timeline(b.build(), 20)
    used = [(e.started, e.ports[0]) for e in events]
    assert len(set(used)) == len(used)
    cycles, iterations = cycles_per_iteration(events, 20)
    assert cycles / iterations == pytest.approx(3, abs=0.1)


def test_held_resource() -> None:
    b = BoundBuilder(ports=1, resources=1)
    b.uop(0b01)
    b.uop(0b10, cycles=4)
    b.value(m.VALUE_REGISTER, ["x"], [("y", 13)])
    b.end()
    events = timeline(b.build(), 50)
    assert [e.executed for e in events[:3]] == [14, 18, 22]
    assert events[0].ports == (0, 1)


def test_latency_chain_cycle_by_cycle() -> None:
    b = BoundBuilder()
    b.op([0b11], "x", x=4)
    assert [(e.dispatched, e.ready, e.started, e.executed, e.retired) for e in timeline(b.build(), 4)] == [
        (0, 0, 1, 5, 6),
        (0, 5, 5, 9, 10),
        (0, 9, 9, 13, 14),
        (0, 13, 13, 17, 18),
    ]


def test_late_input_of_small_latency() -> None:
    """Fused multiply-add cores forward the addend late: the chain through it is 2, not 4."""
    b = BoundBuilder()
    b.op([0b11], "x", x=2, y=4)
    assert [e.executed for e in timeline(b.build(), 3)] == [5, 7, 9]


def test_load_uop_does_not_wait_for_the_data_of_the_operation() -> None:
    b = BoundBuilder()
    b.load_op([1], "x", LOAD_LATENCY, {"base": "rdi"}, 4)
    events = timeline(b.build(), 40)
    cycles, iterations = cycles_per_iteration(events, 40)
    assert cycles / iterations == 4
    assert events[1].started == events[0].started  # both loads; x waits only for the sum


def test_several_uops_of_one_result_are_in_its_latency() -> None:
    """Two shuffles on one port and an addition, 6 cycles in all: the second shuffle's wait is part of them."""
    b = BoundBuilder()
    b.op([0b100000, 0b100000, 0b11], "x", x=6)
    cycles, iterations = cycles_per_iteration(timeline(b.build(), 40), 40)
    assert cycles / iterations == 6


def test_post_increment_does_not_wait_for_the_stored_data() -> None:
    b = BoundBuilder()
    b.uop(0b1100, kind=m.UOP_STORE_ADDRESS)
    b.uop(0b10000, kind=m.UOP_STORE_DATA)
    b.uop(0b1)
    b.value(m.VALUE_REGISTER, ["p"], [("p", 1)])
    b.value(m.VALUE_STORE, [], [("x", 0), ("p", 0)], {"base": "p"})
    b.end(slots=3, flags=m.IS_STORE)
    b.op([0b10], "x", x=20)
    events = timeline(b.build(), 3)
    stores = [e for e in events if e.instruction == 0]
    assert [e.started for e in stores] == [1, 2, 3]
    assert [e.executed for e in stores] == [2, 22, 42]


def test_store_to_load_forwarding() -> None:
    b = BoundBuilder()
    b.store("x", base="p")
    b.load("y", base="p", latency=2)
    store, load = timeline(b.build(), 1)
    assert (store.started, load.executed) == (1, 1 + FORWARD_CYCLES)
    # A load that was delayed for longer takes its own latency.
    b = BoundBuilder()
    b.store("x", base="p")
    b.load("y", base="p", latency=9)
    assert timeline(b.build(), 1)[1].executed == 1 + 9


def test_more_slots_than_the_width() -> None:
    b = BoundBuilder(issue_width=4, retire_width=4)
    b.op([1], slots=10)
    events = timeline(b.build(), 3)
    assert [e.dispatched for e in events] == [2, 4, 7]


def test_larger_than_every_buffer() -> None:
    b = BoundBuilder(rob=4, rs=2)
    b.op([0b11] * 6, slots=6)
    assert timeline(b.build(), 5)[-1].retired > 0


def test_unknown_and_fused_instructions_take_no_slot() -> None:
    b = BoundBuilder(issue_width=1)
    b.op([1], "x")
    b.end(slots=0, flags=m.FUSED_INTO_PREVIOUS)
    b.end(slots=0, flags=m.UNKNOWN)
    events = timeline(b.build(), 3)
    assert [e.dispatched for e in events] == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert [e.retired for e in events] == [3, 3, 3, 4, 4, 4, 5, 5, 5]


def test_least_loaded_port_then_the_highest() -> None:
    b = BoundBuilder(ports=3)
    for _ in range(4):
        b.op([0b111])
    assert [e.ports[0] for e in timeline(b.build(), 1)] == [2, 1, 0, 2]
