"""Loop-carried bound, chains and critical path against networkx and hand-made kernels."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple

from bound_builder import FORWARD_CYCLES, LOAD_LATENCY, BoundBuilder
from incc.core import analyze
from incc.models.binding import bound as m

if TYPE_CHECKING:
    from incc.core import Analysis

# Instructions as (target register, {source register: latency})
registers = st.sampled_from("abcdef")
instructions = st.lists(
    st.tuples(registers, st.dictionaries(registers, st.integers(0, 9), max_size=3)), min_size=1, max_size=8
)


def kernel_of(program: list[tuple[str, dict[str, int]]]) -> m.BoundKernel:
    b = BoundBuilder()
    for target, sources in program:
        b.op([1], target, **sources)
    return b.build()


def reference_edges(program: list[tuple[str, dict[str, int]]]) -> dict[tuple[int, int, int], int]:
    """(producer, consumer, distance): latency, found by looking back from each read."""
    edges: dict[tuple[int, int, int], int] = {}
    for consumer, (_, sources) in enumerate(program):
        for register, latency in sources.items():
            for back in range(1, len(program) + 1):
                producer = (consumer - back) % len(program)
                if program[producer][0] == register:
                    key = (producer, consumer, int(back > consumer))
                    edges[key] = max(edges.get(key, 0), latency)
                    break
    return edges


@given(instructions)
def test_edges(program: list[tuple[str, dict[str, int]]]) -> None:
    found = {(e.producer, e.consumer, e.distance): e.latency for e in analyze(kernel_of(program)).edges}
    assert found == reference_edges(program)


@given(instructions)
def test_bound_and_chains_are_those_of_all_simple_cycles(program: list[tuple[str, dict[str, int]]]) -> None:
    graph = nx.MultiDiGraph()
    for (producer, consumer, distance), latency in reference_edges(program).items():
        graph.add_edge(producer, consumer, latency=latency, distance=distance)
    # simple_cycles gives node lists; there is one edge a pair here, as an iteration has one producer for each read
    # except where the same pair is linked at both distances.
    cycles = set()
    for nodes in nx.simple_cycles(graph):
        ways: list[tuple[int, int]] = [(0, 0)]
        for u, v in zip(nodes, [*nodes[1:], nodes[0]], strict=True):
            ways = [(w + d["latency"], t + d["distance"]) for w, t in ways for d in graph[u][v].values()]
        for latency, distance in ways:
            if latency > 0:
                cycles.add((frozenset(nodes), latency, distance))
    a = analyze(kernel_of(program))
    assert a.latency_bound == max((Fraction(w, t) for _, w, t in cycles), default=Fraction(0))
    if a.chains_complete:
        assert {(frozenset(s.producer for s in c.steps), c.latency, c.distance) for c in a.chains} == cycles


@given(instructions)
def test_chains_are_sound(program: list[tuple[str, dict[str, int]]]) -> None:
    check_chains(analyze(kernel_of(program)))


def check_chains(a: Analysis) -> None:
    """Chains are closed walks along edges, sorted, and the first one is the bound's."""
    edges = {(e.producer, e.consumer, e.location, e.latency, e.distance) for e in a.edges}
    for chain in a.chains:
        assert sum(s.latency for s in chain.steps) == chain.latency > 0
        assert sum(s.distance for s in chain.steps) == chain.distance > 0
        for step, following in zip(chain.steps, [*chain.steps[1:], chain.steps[0]], strict=True):
            assert step.consumer == following.producer
            assert astuple(step) in edges
        assert chain.steps[0].producer == min(s.producer for s in chain.steps)
    ratios = [c.cycles_per_iteration for c in a.chains]
    assert ratios == sorted(ratios, reverse=True)
    assert a.latency_bound == max(ratios, default=0)


@given(instructions)
def test_critical_path_is_the_longest(program: list[tuple[str, dict[str, int]]]) -> None:
    within = {(p, c): w for (p, c, d), w in reference_edges(program).items() if d == 0}
    ready: list[int] = []
    for n, (_, sources) in enumerate(program):
        inside = [ready[p] + w for (p, c), w in within.items() if c == n]
        read_before = [
            w for r, w in sources.items() if not any(program[p][0] == r for p in range(n))
        ]  # from the iteration before, or never written
        ready.append(max([0, *inside, *read_before]))
    a = analyze(kernel_of(program))
    assert a.critical_path_cycles == max(ready)
    assert a.critical_path_start + sum(s.latency for s in a.critical_path) == a.critical_path_cycles
    assert [s.consumer for s in a.critical_path] == list(a.critical_path_instructions[1:])


def test_two_registers_swapped_each_time() -> None:
    """Two chains that change places: 7 cycles over 2 iterations, which no look at one iteration shows."""
    b = BoundBuilder()
    b.op([1], "t", x=4)
    b.op([1], "x", y=3)
    b.move("y", "t")
    a = analyze(b.build())
    assert a.latency_bound == Fraction(7, 2)
    assert [(c.latency, c.distance) for c in a.chains] == [(7, 2)]


def test_exchange_of_registers_in_one_instruction() -> None:
    b = BoundBuilder()
    b.uop(1)
    b.value(m.VALUE_REGISTER, ["x"], [("y", 2)])
    b.value(m.VALUE_REGISTER, ["y"], [("x", 3)])
    b.end()
    a = analyze(b.build())
    assert a.latency_bound == Fraction(5, 2)
    assert [(c.latency, c.distance, len(c.steps)) for c in a.chains] == [(5, 2, 2)]


def test_a_zeroed_register_breaks_the_chain() -> None:
    b = BoundBuilder()
    b.value(m.VALUE_REGISTER, ["x"], [])
    b.end(flags=m.NO_EXECUTION | m.ZEROED)
    b.op([1], "x", x=4)
    assert analyze(b.build()).latency_bound == 0


def test_a_written_back_base_waits_for_stored_data_on_the_critical_path_only() -> None:
    b = BoundBuilder()
    b.op([1], "data", data=6)
    b.uop(1, kind=m.UOP_STORE_DATA)
    b.value(m.VALUE_REGISTER, ["base"], [("base", 1)])
    b.value(m.VALUE_STORE, [], [("data", 0), ("base", 0)], {"base": "base"})
    b.end(flags=m.IS_STORE)
    b.op([1], "y", base=3)
    a = analyze(b.build())
    assert a.critical_path_cycles == 6 + 0 + 3
    assert a.critical_path_instructions == (0, 1, 2)
    assert sorted(chain.cycles_per_iteration for chain in a.chains) == [1, 6]


def test_critical_path_begins_with_the_load() -> None:
    b = BoundBuilder()
    b.load_op([1], "x", LOAD_LATENCY, {"base": "rdi"}, 4)
    b.op([1], "y", x=3)
    a = analyze(b.build())
    assert a.critical_path_cycles == LOAD_LATENCY + 4 + 3
    assert a.critical_path_start == LOAD_LATENCY
    assert a.critical_path_instructions == (0, 1)
    assert [(s.producer, s.consumer, s.latency) for s in a.critical_path] == [(0, 0, 4), (0, 1, 3)]


def test_a_load_without_address_register_takes_its_time_too() -> None:
    b = BoundBuilder()
    b.load("x", symbol="table")
    assert analyze(b.build()).critical_path_cycles == LOAD_LATENCY


def test_too_many_cycles_to_list() -> None:
    """Fourteen stages of two ways each, 16384 cycles: the bound is exact nevertheless."""
    b = BoundBuilder()
    stages = 14
    for n in range(stages):
        source = "x" if n == 0 else f"j{n - 1}"
        b.op([1], f"u{n}", **{source: 1})
        b.op([1], f"v{n}", **{source: 2})
        b.op([1], "x" if n == stages - 1 else f"j{n}", **{f"u{n}": 1, f"v{n}": 1})
    a = analyze(b.build())
    assert a.latency_bound == 3 * stages
    assert not a.chains_complete
    assert len(a.chains) == 64
    assert {s.producer for c in a.chains for s in c.steps} == set(range(3 * stages))
    check_chains(a)


def test_more_independent_chains_than_listed() -> None:
    b = BoundBuilder()
    for n in range(100):
        b.op([1], f"x{n}", **{f"x{n}": 1 + n})
    a = analyze(b.build())
    assert a.latency_bound == 100
    assert not a.chains_complete
    assert [c.latency for c in a.chains] == list(range(100, 36, -1))


def test_store_forwarding_closes_a_chain() -> None:
    b = BoundBuilder()
    b.add_to_memory("rax", base="rsp", displacement=8)
    a = analyze(b.build())
    assert a.latency_bound == FORWARD_CYCLES + 1
    assert [(s.location, s.distance) for s in a.chains[0].steps] == [(-1, 0), (-1, 1)]


@pytest.mark.parametrize("is_loop", [True, False])
def test_straight_line_code_is_taken_as_repeated(is_loop: bool) -> None:
    b = BoundBuilder(is_loop=is_loop)
    b.op([1], "x", x=4)
    assert analyze(b.build()).latency_bound == 4
