"""Port bound and assignments against a reference that tries every set of ports."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bound_builder import BoundBuilder
from incc.core import analyze

PORTS = 6

# (port mask, cycles) of µops
uops = st.lists(st.tuples(st.integers(1, 2**PORTS - 1), st.integers(1, 9)), max_size=12)


def kernel_of(work: list[tuple[int, int]], ports: int = PORTS) -> BoundBuilder:
    b = BoundBuilder(ports=ports)
    for mask, cycles in work:
        b.uop(mask, cycles)
        b.end()
    return b


def tightest(work: list[tuple[int, int]], ports: list[int]) -> Fraction:
    """Work that can only go to a set of ports, per port, for the worst set."""
    return max(
        (
            Fraction(sum(c for m, c in work if not m & ~sum(1 << p for p in chosen)), size)
            for size in range(1, len(ports) + 1)
            for chosen in combinations(ports, size)
        ),
        default=Fraction(0),
    )


def fits(work: list[tuple[int, int]], capacity: list[Fraction]) -> bool:
    """Hall's condition: every set of ports can take the work that can only go there."""
    return all(
        sum(c for m, c in work if not m & ~chosen) <= sum(capacity[p] for p in range(PORTS) if chosen >> p & 1)
        for chosen in range(2**PORTS)
    )


@given(uops)
def test_port_bound_is_that_of_the_tightest_set(work: list[tuple[int, int]]) -> None:
    assert analyze(kernel_of(work).build()).port_bound == tightest(work, list(range(PORTS)))


@given(uops)
@example([(1, 9), (3, 1)])
@example([(1, 1), (2, 1), (7, 1)])
@example([(0b011, 9), (0b110, 1), (0b101, 2)])
def test_assignment_is_feasible_and_reaches_the_bound(work: list[tuple[int, int]]) -> None:
    a = analyze(kernel_of(work).build())
    for (mask, cycles), row in zip(work, a.pressure, strict=True):
        assert sum(row) == pytest.approx(cycles, abs=1e-9)
        assert all(share >= 0 for share in row)
        assert all(share == 0 for p, share in enumerate(row) if not mask >> p & 1)
    for p in range(PORTS):
        assert a.port_load[p] == pytest.approx(sum(row[p] for row in a.pressure), abs=1e-9)
    assert max(a.port_load) == pytest.approx(float(a.port_bound), abs=1e-9)


@given(uops)
def test_loads_are_lexicographically_least(work: list[tuple[int, int]]) -> None:
    """Level by level no port's load can be lowered without raising one that is at least as high."""
    loads = [Fraction(x).limit_denominator(1000) for x in analyze(kernel_of(work).build()).port_load]
    assert fits(work, loads)
    for level in sorted(set(loads), reverse=True):
        # With everything at this level a little lower and everything below free, the work must not fit.
        if level > 0:
            lower = [
                x - Fraction(1, 10**6) if x == level else x if x > level else level - Fraction(1, 10**6) for x in loads
            ]
            assert not fits(work, lower)


@given(uops)
def test_same_ports_same_shares(work: list[tuple[int, int]]) -> None:
    a = analyze(kernel_of(work).build())
    shares: dict[int, list[float]] = {}
    for (mask, cycles), row in zip(work, a.pressure, strict=True):
        assert [x / cycles for x in row] == pytest.approx(shares.setdefault(mask, [x / cycles for x in row]))


@given(uops)
def test_busiest_ports_carry_the_bound_alone(work: list[tuple[int, int]]) -> None:
    a = analyze(kernel_of(work).build())
    if not work:
        assert a.busiest_ports == ()
        return
    chosen = sum(1 << p for p in a.busiest_ports)
    assert Fraction(sum(c for m, c in work if not m & ~chosen), len(a.busiest_ports)) == a.port_bound


@given(uops)
def test_fixed_shares_are_equal(work: list[tuple[int, int]]) -> None:
    a = analyze(kernel_of(work).build())
    for (mask, cycles), row in zip(work, a.fixed_pressure, strict=True):
        assert all(row[p] == pytest.approx(cycles / mask.bit_count()) for p in range(PORTS) if mask >> p & 1)
    expected = [sum((Fraction(c, m.bit_count()) for m, c in work if m >> p & 1), Fraction(0)) for p in range(PORTS)]
    assert a.fixed_port_bound == max(expected)
    assert a.fixed_port_load == pytest.approx([float(x) for x in expected])
    assert a.fixed_port_bound >= a.port_bound


def test_shares_as_equal_as_the_loads_allow() -> None:
    """Skylake's p0156 and p06: six µops that can go anywhere leave the four that cannot alone."""
    a = analyze(kernel_of([(0b1111, 1)] * 2 + [(0b1001, 1)] * 2).build())
    assert a.port_bound == 1
    assert a.port_load[:4] == (1, 1, 1, 1)
    assert a.pressure[0][:4] == pytest.approx((0, 1 / 2, 1 / 2, 0))
    assert a.pressure[2][:4] == pytest.approx((1 / 2, 0, 0, 1 / 2))
    # Without that pressure everything is spread evenly.
    assert analyze(kernel_of([(0b111, 2)]).build()).pressure[0][:3] == pytest.approx((2 / 3,) * 3)


def test_very_uneven_work() -> None:
    a = analyze(kernel_of([(1, 1_000_000), (3, 1_000_001)]).build())
    assert a.port_bound == Fraction(2_000_001, 2)
    assert a.pressure[1][:2] == pytest.approx((0.5, 1_000_000.5), abs=1e-6)


def test_sixty_four_ports() -> None:
    a = analyze(kernel_of([(1 << p | 1 << (p + 1) % 64, 1 + p % 3) for p in range(64)], ports=64).build())
    assert a.port_bound == Fraction(sum(1 + p % 3 for p in range(64)), 64)
    assert a.busiest_ports == tuple(range(64))
    assert max(a.port_load) == pytest.approx(float(a.port_bound))


def test_resources_count_apart() -> None:
    b = BoundBuilder(ports=2, resources=2)
    for _ in range(3):
        b.uop(0b01)
        b.uop(0b0100, cycles=4)
        b.end()
    a = analyze(b.build())
    assert (a.port_bound, a.resource_bound) == (3, 12)
    assert a.port_load == (3, 0, 12, 0)
    assert a.fixed_port_load == a.port_load
    assert a.pressure == ((1, 0, 4, 0),) * 3
    assert a.busiest_ports == (0,)


def test_front_end_and_retire_bounds_leave_out_unknown_instructions() -> None:
    b = BoundBuilder(issue_width=4, retire_width=3)
    for slots, flags in [(1, 0), (2, 0), (0, 1), (4, 16)]:
        b.end(slots=slots, flags=flags)
    a = analyze(b.build())
    assert (a.front_end_bound, a.retire_bound) == (Fraction(3, 4), 1)


def test_empty_kernel() -> None:
    a = analyze(BoundBuilder().build())
    assert a.port_bound == a.latency_bound == a.front_end_bound == a.critical_path_cycles == 0
    assert a.chains == a.edges == a.critical_path_instructions == ()
