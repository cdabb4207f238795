"""Arrays that contradict each other are refused by name, never read out of bounds."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bound_builder import BoundBuilder
from incc.core import analyze, bounds, simulate
from incc.models.binding.bound import VALUE_LOAD, VALUE_STORE, BoundKernel
from properties import examples


def kernel() -> BoundKernel:
    b = BoundBuilder(resources=1)
    b.load("x", base="p", index="i", symbol="a")
    b.store("x", base="p")
    b.add("p", 8)
    b.entry("p", 16, u0=1)
    k = b.build()
    k.assumed_load, k.assumed_store = [k.value_kind.index(VALUE_LOAD)], [k.value_kind.index(VALUE_STORE)]
    k.assumed_distance = [1]
    return k


def setting(name: str, index: int, value: Any) -> Callable[[BoundKernel], None]:
    def change(k: BoundKernel) -> None:
        getattr(k, name)[index] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("n_ports", lambda k: setattr(k, "n_ports", 12), "is 12 of 9 port_names"),
        ("port_names", lambda k: setattr(k, "port_names", ["p"] * 65), "65 ports"),
        ("issue_width", lambda k: setattr(k, "issue_width", 0), "at least 1"),
        ("rob", lambda k: setattr(k, "rob", -1), "at least 0"),
        ("issue_slots", lambda k: k.issue_slots.pop(), "2 entries where 3"),
        ("uop_start", setting("uop_start", 1, 4), "must not fall"),
        ("uop_start", setting("uop_start", -1, 9), "there are 4 entries"),
        ("uop_ports", setting("uop_ports", 0, 0), "no port"),
        ("uop_ports", setting("uop_ports", 0, 1 << 20), "does not exist"),
        ("uop_ports", setting("uop_ports", 0, 0b1_0000_0001), "a resource together with"),
        ("uop_ports", setting("uop_ports", 0, 1 << 64), "does not fit into 64 bits"),
        ("uop_ports", setting("uop_ports", 0, -1), "does not fit into 64 bits"),
        ("uop_cycles", setting("uop_cycles", 1, 0), "entry 1 is 0"),
        ("uop_kind", setting("uop_kind", 0, 9), "outside 0..4"),
        ("value_kind", setting("value_kind", 0, 3), "outside 0..2"),
        ("input_id", setting("input_id", 0, 7), "names no location"),
        ("input_id", setting("input_id", 2, 3), "no loaded value of its instruction"),
        ("input_latency", setting("input_latency", 0, -1), "entry 0 is -1"),
        ("output_location", setting("output_location", 0, -1), "entry 0 is -1"),
        ("memory_of_value", setting("memory_of_value", 0, 2), "outside -1..1"),
        ("assumed_load", setting("assumed_load", 0, 1), "names no loaded value"),
        ("assumed_store", setting("assumed_store", 0, 0), "names no stored value"),
        ("assumed_distance", setting("assumed_distance", 0, 0), "stored later"),
        ("assumed_distance", lambda k: k.assumed_distance.pop(), "0 entries where 1"),
        ("memory_base", setting("memory_base", 0, 99), "entry 0 is 99"),
        ("affine_term_location", setting("affine_term_location", 0, -1), "entry 0 is -1"),
        ("entry_location", setting("entry_location", 0, 99), "entry 0 is 99"),
        ("entry_term_unknown", setting("entry_term_unknown", 0, -1), "entry 0 is -1"),
        ("entry_term_start", lambda k: k.entry_term_start.pop(), "1 entries where 2"),
        ("forward_cycles", lambda k: k.forward_cycles.append(1), "2 entries where 1"),
        ("load_latency", setting("load_latency", 0, "4"), "'4' is not an integer"),
        ("issue_slots", setting("issue_slots", 0, 1 << 40), "does not fit into 32 bits"),
        ("retire_slots", lambda k: setattr(k, "retire_slots", 7), "not a sequence"),
        ("rs", lambda k: delattr(k, "rs"), "not set"),
    ],
)
def test_message_names_the_array(name: str, change: Callable[[BoundKernel], object], message: str) -> None:
    k = kernel()
    change(k)
    for run in (lambda: analyze(k), lambda: bounds(k), lambda: simulate(k, ideal=True, iterations=2)):
        with pytest.raises(ValueError, match=rf"^{name}: .*{message}"):
            run()


def test_negative_iterations() -> None:
    with pytest.raises(ValueError, match="iterations"):
        simulate(kernel(), ideal=True, iterations=-1)


ARRAYS = [n for n in BoundKernel.__slots__ if isinstance(getattr(kernel(), n), list) and not n.endswith("_names")]


@given(st.sampled_from(ARRAYS), st.integers(0, 20), st.integers(-(2**66), 2**66) | st.integers(-3, 12))
@examples(500)
def test_any_wrong_number_is_harmless(name: str, index: int, value: int) -> None:
    k = kernel()
    array = getattr(k, name)
    if not array:  # of any length
        array.append(0)
    array[index % len(array)] = value
    try:
        analyze(k)
    except ValueError as error:
        message = str(error)
    else:
        message = ""
        # More than a million slots an instruction are refused, so this ends; but latencies of half a million cycles one
        # behind another are given up.
        with contextlib.suppress(RuntimeError):
            simulate(k, ideal=True, iterations=3)
    assert not message or message.split(":")[0] in BoundKernel.__slots__


def test_addresses_may_be_written_signed_or_unsigned() -> None:
    def edges(displacement: int) -> int:
        b = BoundBuilder()
        b.store("x", base="p", displacement=-8)
        b.load("y", base="p", displacement=displacement)
        return len(analyze(b.build()).edges)

    assert edges(-8) == edges(2**64 - 8) == 2
    assert edges(8) == 1
