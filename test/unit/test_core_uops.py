"""What a recorded run says of its µops: their lives, and what fed their inputs."""

from __future__ import annotations

import pytest
from generated_kernels import some_statements
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import (
    EXECUTED_MOVE,
    RENAMERS,
    THROUGH_MEMORY,
    WITHIN_INSTRUCTION,
    Simulation,
    StartedUop,
    simulate,
)
from incc.models.binding import bound as m
from incc.models.binding.bind import bind
from incc.models.loading import load
from properties import examples

LOAD, COMPUTE, ADDRESS, DATA = m.UOP_LOAD, m.UOP_COMPUTE, m.UOP_STORE_ADDRESS, m.UOP_STORE_DATA


def recorded(body: str, cpu: str = "skylake", iterations: int = 4) -> tuple[m.BoundKernel, Simulation]:
    """The body as a loop with a counter in r15, and a recorded run of it."""
    b = bind(replace(decoded(f"1: {body}; dec %r15; jne 1b"), alignment=0), load(cpu))[0]
    return b, simulate(b, iterations=iterations, record=True)


def one(b: m.BoundKernel, run: Simulation, iteration: int, instruction: int, kind: int) -> StartedUop:
    (found,) = [
        u
        for u in run.started
        if (u.iteration, u.instruction) == (iteration, instruction) and u.uop >= 0 and b.uop_kind[u.uop] == kind
    ]
    return found


def producers(b: m.BoundKernel, run: Simulation, uop: StartedUop) -> set[tuple[int, int, str]]:
    """(iteration, instruction, what carries it) of each input."""
    named = {THROUGH_MEMORY: "memory", WITHIN_INSTRUCTION: "own"}
    return {
        (run.started[i.producer].iteration, run.started[i.producer].instruction,
         b.location_names[i.location] if i.location >= 0 else named[i.location])
        for i in uop.inputs
    }  # fmt: skip


def test_a_load_with_an_addition_is_a_load_and_an_addition() -> None:
    b, run = recorded("vaddsd (%rax), %xmm0, %xmm0; add $8, %rax")
    loaded, added = (one(b, run, 2, 0, kind) for kind in (LOAD, COMPUTE))
    # The load waits for the address alone,
    assert producers(b, run, loaded) == {(1, 1, "rax")}
    assert loaded.ready == max(loaded.earliest, one(b, run, 1, 1, COMPUTE).executed)
    # the addition for what it adds to, which comes last.
    assert producers(b, run, added) == {(2, 0, "own"), (1, 0, "zmm0")}
    before = one(b, run, 1, 0, COMPUTE)
    assert added.ready == added.started == before.executed > max(added.earliest, loaded.executed)
    assert {run.started[i.producer]: i.arrived for i in added.inputs}[before] == added.started


def test_a_store_waits_for_its_data_and_not_with_its_address() -> None:
    b, run = recorded("imul %rbx, %rbx; mov %rbx, (%rdi)")
    address, data = (one(b, run, 2, 1, kind) for kind in (ADDRESS, DATA))
    assert address.ready == address.earliest
    assert not address.inputs
    assert producers(b, run, data) == {(2, 0, "rbx")}
    assert data.ready > data.earliest


def test_a_load_has_what_was_stored_later_than_it_starts() -> None:
    b, run = recorded("imul %rbx, %rbx; mov %rbx, (%rdi); mov (%rdi), %rcx; add %rcx, %rdx")
    loaded, used = one(b, run, 2, 2, LOAD), one(b, run, 2, 3, COMPUTE)
    assert producers(b, run, loaded) == {(2, 1, "memory")}
    assert loaded.started < max(i.arrived for i in loaded.inputs) == loaded.executed
    # Who reads the register has it from the load.
    assert (2, 2, "rcx") in producers(b, run, used)
    assert not any(instruction == 1 for _, instruction, _ in producers(b, run, used))
    assert used.ready == loaded.executed


def test_an_eliminated_move_hands_on_what_made_its_source() -> None:
    b, run = recorded("imul %rbx, %rbx; mov %rbx, %rcx; add %rcx, %rdx")
    assert run.moves_executed == 0
    assert (2, 0, "rcx") in producers(b, run, one(b, run, 2, 2, COMPUTE))


def test_an_executed_move_is_a_uop_of_its_instruction() -> None:
    body = "mov %rax, %rbx; mov %rbx, %rcx; mov %rcx, %rdx; add $1, %rdx; mov %rdx, %rax"
    _, run = recorded(body, iterations=20)
    assert run.moves_executed > 0
    moves = [u for u in run.started if u.uop == EXECUTED_MOVE]
    assert len(moves) == run.moves_executed
    numbers = {number for number, u in enumerate(run.started) if u.uop == EXECUTED_MOVE}
    assert any(i.producer in numbers for u in run.started for i in u.inputs)


def test_what_the_renamer_adds_hands_values_on_as_its_instruction() -> None:
    # The move needs the stack pointer with the stack engine's offset added, and is eliminated itself.
    b, run = recorded("push %rax; mov %rsp, %rbx; add %rbx, %rcx; pop %rax")
    own = [u for u in run.started if u.uop == RENAMERS]
    assert {u.instruction for u in own} == {1}
    assert (0, 1, "rbx") in producers(b, run, one(b, run, 0, 2, COMPUTE))


def test_uops_in_order_do_not_wait_while_they_go_through_their_stages() -> None:
    b, run = recorded("lea 8(%rax), %rbx; nop", "bonnell")
    _, memory = recorded("add (%rdi), %rcx; nop", "bonnell")
    first = next(u for u in memory.started if u.iteration == 0 and u.instruction == 0 and b.n_ports)
    assert first.dispatched <= first.earliest <= first.started
    counters = [u for u in run.started if u.instruction == 2 and u.iteration == 0]
    assert counters
    assert all(u.started == u.ready == u.earliest for u in counters)


@pytest.mark.parametrize("cpu", ["skylake", "icelake-server", "sandybridge", "znver4", "bonnell"])
@examples(40)
@given(seed=st.integers(0, 10**6), iterations=st.integers(1, 12))
def test_every_start_follows_from_the_inputs(cpu: str, seed: int, iterations: int) -> None:
    """The record's times are those of the run: no µop starts before an input that it lists, nor is one held up by one
    that it does not list."""
    b, run = recorded("; ".join(some_statements(seed, old=cpu in ("sandybridge", "bonnell"))), cpu, iterations)
    penalty = b.pipeline.just_ready_penalty if b.pipeline else 0
    of_instruction: dict[tuple[int, int], list[StartedUop]] = {}
    for uop in run.started:
        assert uop.dispatched <= uop.earliest <= uop.ready <= uop.started < uop.executed
        of_instruction.setdefault((uop.iteration, uop.instruction), []).append(uop)
        is_load = uop.uop >= 0 and b.uop_kind[uop.uop] == LOAD
        needed = [i for i in uop.inputs if not (is_load and i.location == THROUGH_MEMORY)]
        arrived = max([uop.earliest, *(i.arrived for i in needed)])
        # Held up by no more than the core does to those whose inputs come just in time, or are known late.
        known = max((run.started[i.producer].started + 1 for i in needed), default=0)
        assert arrived <= uop.ready <= max(arrived + penalty, known, uop.dispatched + 1)
        for i in uop.inputs:
            producer = run.started[i.producer]
            assert (producer.iteration, producer.instruction) <= (uop.iteration, uop.instruction)
            own = (producer.iteration, producer.instruction) == (uop.iteration, uop.instruction)
            assert own == (i.location == WITHIN_INSTRUCTION)
    for event in run.events:
        uops = of_instruction.get((event.iteration, event.instruction), [])
        mine = [u for u in uops if u.uop >= EXECUTED_MOVE]
        if mine:
            assert event.started == min(u.started for u in mine)
            assert event.executed == max(u.executed for u in uops if u.uop >= RENAMERS)
            assert event.dispatched <= min(u.dispatched for u in mine)
