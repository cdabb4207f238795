"""The port bound of single instructions against that of kernels, which the native core finds."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from bound_builder import BoundBuilder
from incc import core
from incc.models.throughput import of_form, port_bound

PORTS = 6


@given(st.lists(st.tuples(st.integers(1, (1 << PORTS) - 1), st.integers(1, 4)), max_size=12))
def test_it_is_the_same_definition(uops: list[tuple[int, int]]) -> None:
    b = BoundBuilder(ports=PORTS)
    for mask, cycles in uops:
        b.uop(mask, cycles)
    b.end(slots=len(uops))
    wanted = core.bounds(b.build()).port
    assert Fraction(*port_bound(uops, PORTS)) == wanted
    named = [(",".join(str(p) for p in range(PORTS) if mask >> p & 1), cycles) for mask, cycles in uops]
    assert of_form(named) == wanted


def test_units_are_added_up() -> None:
    assert port_bound([(0b01, 1), (0b10 << 1, 7), (0b10 << 1, 4)], 2) == (11, 1)
    assert port_bound([(0b11, 1), (0b11, 2)], 2) == (3, 2)
    assert port_bound([], 2) == (0, 1)
