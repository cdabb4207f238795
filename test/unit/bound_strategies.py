"""BoundKernels of all kinds of instructions for hypothesis."""

from __future__ import annotations

from hypothesis import strategies as st

from bound_builder import LOAD_LATENCY, BoundBuilder
from incc.models.binding import bound as m

registers = st.sampled_from("abcd")


@st.composite
def kernels(draw: st.DrawFn, least_latency: int = 0) -> BoundBuilder:
    """Loads, stores, arithmetic, moves, instructions of several µops and results, dividers; small buffers.

    With a `least_latency` of 0 some results are computed in no time, which the bounds count as a dependency and the
    simulation takes for a register that was measured not to matter.
    """
    b = BoundBuilder(
        ports=6,
        resources=1,
        issue_width=draw(st.integers(1, 5)),
        retire_width=draw(st.integers(1, 5)),
        rob=draw(st.sampled_from([0, 4, 32, 224])),
        rs=draw(st.sampled_from([0, 2, 16])),
        load_buffer=draw(st.sampled_from([0, 1, 8])),
        store_buffer=draw(st.sampled_from([0, 1, 8])),
        issue_to_execute=draw(st.integers(0, 3)),
    )
    for _ in range(draw(st.integers(1, 8))):
        what = draw(
            st.sampled_from(["op", "op", "op", "load", "load_op", "store", "rmw", "add", "move", "divide", "two"])
        )
        target = draw(registers)
        inputs = draw(st.dictionaries(registers, st.integers(least_latency, 6), max_size=2))
        memory = {"base": draw(registers), "displacement": 8 * draw(st.integers(-2, 2))}
        masks = draw(st.lists(st.integers(1, 63), min_size=1, max_size=3))
        if what == "op":
            b.op(masks, target, slots=draw(st.integers(0, 6)), **inputs)
        elif what == "load":
            b.load(target, **memory)
        elif what == "load_op":
            b.load_op(masks, target, LOAD_LATENCY, memory, draw(st.integers(least_latency, 6)))
        elif what == "store":
            b.store(target, **memory)
        elif what == "rmw":
            b.add_to_memory(target, **memory)
        elif what == "add":
            b.add(target, 8)
        elif what == "move":
            b.move(target, draw(registers))
        elif what == "divide":
            b.uop(1)
            b.uop(1 << 6, cycles=4)
            b.value(m.VALUE_REGISTER, [target], list(inputs.items()))
            b.end()
        else:
            for mask in masks:
                b.uop(mask, cycles=draw(st.integers(1, 2)))
            b.value(m.VALUE_REGISTER, [target], list(inputs.items()))
            b.value(m.VALUE_REGISTER, [draw(registers)], [(draw(registers), draw(st.integers(least_latency, 6)))])
            b.end()
    # The delay between ports 0 or 1 and 1 or 2 (bound_builder) is between some of them.
    b.k.port_delay_cycles = [draw(st.sampled_from([1, 1, 3, -1]))]
    for row in (b.k.delays_from, b.k.delays_to):
        row[:] = draw(st.lists(st.integers(0, 1), min_size=len(row), max_size=len(row)))
    return b
