"""The simulation of an ideal pipeline: what must hold for any kernel, and known cases cycle by cycle."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from bound_strategies import kernels
from hypothesis import given, settings
from msgspec.structs import astuple

from bind_kernels import kernel as decoded
from bound_builder import FORWARD_CYCLES, LOAD_LATENCY, BoundBuilder
from incc.core import analyze, bounds, simulate
from incc.models.binding import bound as m
from incc.models.binding.bind import bind
from incc.models.loading import load

if TYPE_CHECKING:
    from incc.core import Event

ITERATIONS = 200


def timeline(k: m.BoundKernel, iterations: int) -> tuple[Event, ...]:
    """The life of each instruction of the first iterations."""
    return simulate(k, ideal=True, iterations=iterations, record=True).events


def cycles_per_iteration(events: tuple[Event, ...], iterations: int) -> tuple[int, int]:
    """Cycles and iterations of the second half."""
    length = len(events) // iterations
    half = iterations // 2
    return events[-1].retired - events[half * length - 1].retired, iterations - half


@given(kernels(least_latency=1))
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


@given(kernels(least_latency=1))
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


@given(kernels(least_latency=1))
@settings(deadline=None)
def test_widths_and_buffers_are_kept(b: BoundBuilder) -> None:
    k = b.build()
    events = timeline(k, 30)
    issued = retired = 0
    for e in events:  # in order, so all slots up to here fit into the cycles up to here
        slots = k.issue_slots[e.instruction]
        assert issued + min(slots, 1) <= k.issue_width * (e.dispatched + 1)  # the first of an instruction's slots
        issued += slots
        retired += slots
        assert retired <= k.retire_width * (e.retired + 1)  # the last one
    for at in range(0, events[-1].retired, 7):
        held = [e.instruction for e in events if e.dispatched <= at < e.retired]
        # Of the oldest instruction some slots may have retired, of the youngest some not be issued.
        slots_held = [k.issue_slots[i] for i in held if k.issue_slots[i]]
        # What is issued in a cycle goes into an empty buffer of any size.
        assert not k.rob or sum(slots_held[1:-1]) + min(len(slots_held), 2) <= max(k.rob, k.issue_width)
        for capacity, flag in ((k.load_buffer, m.IS_LOAD), (k.store_buffer, m.IS_STORE)):
            assert not capacity or sum(bool(k.instruction_flags[i] & flag) for i in held) <= max(capacity, 1)


@given(kernels(least_latency=1))
@settings(deadline=None)
def test_results_wait_for_their_inputs(b: BoundBuilder) -> None:
    """Along every edge from an instruction of one µop and result, consumers end no sooner than it plus latency."""
    k = b.build()
    n = len(k.issue_slots)
    single = [
        k.value_start[i + 1] - k.value_start[i] == 1 and k.uop_start[i + 1] - k.uop_start[i] == 1 for i in range(n)
    ]
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


@given(kernels(least_latency=1))
@settings(deadline=None)
def test_the_steady_state_is_no_faster_than_the_bounds(b: BoundBuilder) -> None:
    k = b.build()
    s = simulate(k, ideal=True)
    if s.period:
        assert s.cycles_per_iteration >= bounds(k).largest
        assert simulate(k, ideal=True, every_cycle=True).cycles_per_iteration == s.cycles_per_iteration


@given(kernels(least_latency=1))
@settings(deadline=None)
def test_no_dependencies_and_no_ports_leave_the_widths(b: BoundBuilder) -> None:
    """Nothing then holds up what is issued, in whatever buffers, but that each stays in them for a while."""
    k = b.build()
    k.rob = k.rs = k.load_buffer = k.store_buffer = 0
    for name in ("input_latency", "load_latency", "forward_cycles"):
        setattr(k, name, [0] * len(getattr(k, name)))
    s = simulate(
        k, ideal=True, unlimited_ports=True, no_register_dependencies=True, no_memory_dependencies=True, iterations=50
    )
    with_uops = [max(n, k.uop_start[i + 1] > k.uop_start[i]) for i, n in enumerate(k.issue_slots)]
    width = min(k.issue_width, k.retire_width)
    assert s.cycles <= (50 * sum(with_uops)) / width + 50 + 20


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
    assert [e.executed for e in events[:3]] == [15, 19, 23]
    assert events[0].ports == (0, 1)


def test_latency_chain_cycle_by_cycle() -> None:
    b = BoundBuilder()
    b.op([0b11], "x", x=4)
    assert [(e.dispatched, e.ready, e.started, e.executed, e.retired) for e in timeline(b.build(), 4)] == [
        (1, 1, 2, 6, 7),
        (1, 6, 6, 10, 11),
        (1, 10, 10, 14, 15),
        (1, 14, 14, 18, 19),
    ]


def test_late_input_of_small_latency() -> None:
    """Fused multiply-add cores forward the addend late: the chain through it is 2, not 4."""
    b = BoundBuilder()
    b.op([0b11], "x", x=2, y=4)
    assert [e.executed for e in timeline(b.build(), 3)] == [6, 8, 10]


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
    assert [e.started for e in stores] == [2, 3, 4]
    assert [e.executed for e in stores] == [3, 23, 43]


def test_store_to_load_forwarding() -> None:
    b = BoundBuilder()
    b.store("x", base="p")
    b.load("y", base="p", latency=2)
    store, load = timeline(b.build(), 1)
    assert (store.started, load.executed) == (2, 2 + FORWARD_CYCLES)
    # A load that was delayed for longer takes its own latency.
    b = BoundBuilder()
    b.store("x", base="p")
    b.load("y", base="p", latency=9)
    assert timeline(b.build(), 1)[1].executed == 2 + 9


def test_more_slots_than_the_width() -> None:
    b = BoundBuilder(issue_width=4, retire_width=4)
    b.op([1], slots=10)
    events = timeline(b.build(), 3)
    assert [e.dispatched for e in events] == [1, 3, 6]  # with the first of their slots


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
    assert [e.dispatched for e in events] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [e.retired for e in events] == [4, 4, 4, 5, 5, 5, 6, 6, 6]


def test_least_loaded_port_then_the_lowest() -> None:
    b = BoundBuilder(ports=3)
    for _ in range(4):
        b.op([0b111])
    assert [e.ports[0] for e in timeline(b.build(), 1)] == [0, 1, 2, 0]


def test_nothing_but_instructions_without_a_slot() -> None:
    b = BoundBuilder()
    b.end(slots=0, flags=m.UNKNOWN)
    assert [astuple(e) for e in timeline(b.build(), 2)] == [(0, 0, 0, 0, 0, 0, 1, ()), (1, 0, 0, 0, 0, 0, 1, ())]


def test_needs_no_pipeline_and_leaves_out_the_one_that_there_is() -> None:
    b = BoundBuilder()
    b.op([0b11], "x", x=4)
    k = b.build()
    assert k.pipeline is None
    with pytest.raises(ValueError, match="pipeline"):
        simulate(k)
    assert simulate(k, ideal=True).cycles_per_iteration == 4
    # 16 instructions of 7 bytes that the decoders, which code that is no loop comes from, take 7 cycles for.
    real = bind(decoded("nopl 0x12345678(%rax)" + "; nopl 0x12345678(%rax)" * 15), load("skylake"))[0]
    assert simulate(real, loop=False).cycles_per_iteration == 7
    assert simulate(real, loop=False, ideal=True).cycles_per_iteration == 4
