"""The pipeline simulator: a test a rule of the hardware, and what must hold for every kernel."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from fractions import Fraction

import pytest
from generated_kernels import REGISTERS, some_body
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace

from bind_kernels import apart
from bind_kernels import kernel as decoded
from bound_builder import BoundBuilder
from incc.core import Simulation, analyze, simulate
from incc.models.binding import bound as m
from incc.models.binding.bind import bind
from incc.models.loading import load
from properties import examples

COUNTER = "dec %r15; jne 1b"


def bound(body: str, cpu: str = "skylake", loop: bool = True) -> m.BoundKernel:
    """The body as a loop with a counter in r15, or alone."""
    k = replace(decoded(f"1: {body}; {COUNTER}" if loop else body), is_loop=loop, alignment=0)
    return apart(bind(k, load(cpu))[0])


def run(body: str, cpu: str = "skylake", loop: bool = True) -> Simulation:
    return simulate(bound(body, cpu, loop))


def cycles(body: str, cpu: str = "skylake", loop: bool = True) -> float:
    return float(run(body, cpu, loop).cycles_per_iteration)


def repeat(line: str, times: int) -> str:
    return "; ".join([line] * times)


# --- decoders --------------------------------------------------------------------------------------------------------


def test_predecoder_takes_16_bytes_a_cycle() -> None:
    # Four instructions of 8 bytes: 32 bytes.
    assert cycles(repeat("nopl 0x12345678(%rax,%rbx)", 4), loop=False) == pytest.approx(2, abs=0.02)


def test_predecoder_takes_five_instructions_a_cycle() -> None:
    # 16 instructions in a block take four cycles, which the decoders take as well; 8 of 2 bytes two.
    assert cycles(repeat("nop", 16), loop=False) == pytest.approx(4, abs=0.05)
    assert cycles(repeat("test %eax, %ebx", 8), loop=False) == pytest.approx(2, abs=0.05)


def test_a_crossing_instruction_counts_where_its_opcode_is() -> None:
    # Three or four instructions of five bytes to a block of 16: a cycle each.
    assert cycles(repeat("mov $1, %ecx", 16), loop=False) == pytest.approx(5, abs=0.05)
    # Of three bytes, five end in the first block and the sixth has its opcode there: two cycles for the first block,
    # and for the next two, where six end in the last one.
    assert cycles(repeat("lea 1(%rax), %ecx", 16), loop=False) > 4.3


def test_length_changing_prefix_stalls_three_cycles() -> None:
    plain = cycles("cmp $0x1234, %ebx; mov %eax, %ecx; mov %eax, %ecx", loop=False)
    assert cycles("cmp $0x1234, %bx; mov %eax, %ecx; mov %eax, %ecx", loop=False) >= plain + 2
    # Moves do not stall.
    assert cycles("mov $0x1234, %bx; mov %eax, %ecx; mov %eax, %ecx", loop=False) < plain + 1


def test_one_complex_decoder() -> None:
    # Two µops each: only the first decoder takes them, one a cycle.
    assert cycles(repeat("xchg %rax, %rbx", 2), loop=False) >= 2
    assert cycles("cmovbe %rax, %rbx; cmovbe %rcx, %rdx", loop=False) == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(("cpu", "expected"), [("skylake", 1.0), ("haswell", 4 / 3)])
def test_last_decoder_and_instructions_that_might_fuse(cpu: str, expected: float) -> None:
    # Haswell's fourth decoder does not take a comparison, since a jump might follow.
    assert cycles(repeat("test %eax, %eax", 4), cpu, loop=False) == pytest.approx(expected, abs=0.02)


def test_what_might_fuse_does_not_wait_for_a_jump_to_the_cache() -> None:
    # Two divisions and what is around them do not fit into the three lines for 32 bytes; the 32 bytes before do.
    body = f"{repeat('add %rbx, %rax', 6)}; mov %rbx, 64(%rsi); movabs $0x807060504030201, %rax; add %rbx, %rax"
    k = bound(f"{body}; div %rbx; div %rbx; add %rbx, %rax", "haswell", loop=False)
    assert simulate(k, loop=True).cycles_per_iteration == pytest.approx(61, abs=1)


def test_pop_r12_needs_the_complex_decoder() -> None:
    assert cycles(repeat("pop %r12", 4), loop=False) > 1.9 * cycles(repeat("pop %r13", 4), loop=False) - 0.2


def test_microcode_takes_its_own_cycles() -> None:
    s = run("shld %cl, %rax, (%rbx)")
    assert s.uops_by_source.microcode > 0
    # Switching to the sequencer and back costs cycles in which nothing is delivered.
    assert s.lost_slots.no_uops > 0


# --- µop cache and loop stream detector ------------------------------------------------------------------------------


def test_seven_uops_of_one_block_take_two_cycles_from_the_cache() -> None:
    s = run(repeat("mov $1, %eax", 5) + "; nop")
    assert s.cycles_per_iteration == 2
    assert s.uops_by_source.decoders == 0
    assert s.uops_by_source.uop_cache > 0


def test_more_than_three_lines_of_a_block_are_not_cached() -> None:
    assert run(repeat("nop", 17)).uops_by_source.decoders == 0  # 18 µops with the jump: three lines
    assert run(repeat("nop", 19)).uops_by_source.uop_cache == 0


@pytest.mark.parametrize(("bytes_before", "cached"), [(26, True), (27, False), (29, False), (31, False), (32, True)])
def test_a_jump_at_the_end_of_a_block_keeps_it_out_of_the_cache(bytes_before: int, cached: bool) -> None:
    # dec and jne are one, of five bytes: they must not cross byte 32 or end there.
    body = repeat("mov $1, %eax", 5) + "; " + repeat("nop", bytes_before - 25)
    assert (run(body).uops_by_source.decoders == 0) == cached
    assert run(body, "haswell").uops_by_source.decoders == 0


def test_loop_stream_detector_unrolls() -> None:
    # Five µops: unrolled six times, 30 µops leave in 8 cycles; without unrolling it would be 2.
    s = run(repeat("nop", 4), "haswell")
    assert s.uops_by_source.loop_stream_detector > 0
    assert s.cycles_per_iteration == Fraction(8, 6)
    assert cycles(repeat("nop", 4), "sandybridge") == 2


def test_unbalanced_stack_keeps_out_of_the_loop_stream_detector() -> None:
    assert run("pop %rax; pop %rbx", "haswell").uops_by_source.loop_stream_detector == 0
    assert run("push %rax; pop %rbx", "haswell").uops_by_source.loop_stream_detector > 0


def test_unrolled_code_comes_from_the_decoders() -> None:
    s = run(repeat("mov $1, %eax", 5), loop=False)
    assert s.uops_by_source.uop_cache == s.uops_by_source.loop_stream_detector == 0


# --- renamer ---------------------------------------------------------------------------------------------------------


def test_issue_width() -> None:
    assert cycles(repeat("nop", 11)) == 3


def test_unlaminated_uops_are_issued_together() -> None:
    plain = cycles(repeat("vaddps (%rax), %ymm1, %ymm2", 3))
    assert plain == pytest.approx(1.5, abs=0.05)
    assert cycles(repeat("vaddps (%rax,%rbx), %ymm1, %ymm2", 3)) >= 7 / 4


def test_moves_wait_for_slots_of_elimination() -> None:
    # More moves than slots become free.
    s = run("mov %rax, %rbx; mov %rbx, %rcx; mov %rcx, %rdx; add $1, %rdx; mov %rdx, %rax")
    assert s.moves_eliminated > 0
    assert s.moves_executed > 0
    assert run("mov %rax, %rbx", "sandybridge").moves_eliminated == 0


def test_zero_idioms_do_not_wait() -> None:
    assert cycles("xor %eax, %eax; add %rax, %rbx; imul %rbx, %rax") < 2.1


def test_merging_high_bytes_is_issued_alone() -> None:
    body = "mov %cl, %ah; mov %eax, %ebx; " + repeat("nop", 5)
    without = "mov %cl, %al; mov %eax, %ebx; " + repeat("nop", 5)
    assert cycles(body) >= cycles(without) + 0.9


def test_stack_pointer_is_synchronised_before_use() -> None:
    # One µop more, and the chain through rsp one cycle longer.
    assert run("push %rax; lea 8(%rsp), %rsp").port_uops != run("push %rax; lea 8(%rbp), %rbp").port_uops
    assert cycles("push %rax; lea 8(%rsp), %rsp") >= 2
    assert cycles("push %rax; pop %rbx") < 5.1


# --- buffers ---------------------------------------------------------------------------------------------------------


def buffered(body: str, cpu: str = "skylake", **sizes: int) -> Simulation:
    k = bound(body, cpu)
    assert k.pipeline is not None
    for name, size in sizes.items():
        setattr(k.pipeline if name == "loads_leave_when_done" else k, name, size)
    return simulate(k)


def test_loads_keep_their_entries_until_they_retire() -> None:
    # The chain of divisions lets no more than a few iterations retire; loads are done long before.
    body = "divsd %xmm1, %xmm0; " + repeat("mov (%rax), %rbx", 8) + "; divsd %xmm0, %xmm2; imul %rcx, %rcx"
    assert buffered(body, load_buffer=0).lost_slots.load_buffer == 0
    full = buffered(body, load_buffer=12)
    assert full.lost_slots.load_buffer > 0
    assert full.lost_slots.reorder_buffer == full.lost_slots.store_buffer == 0
    early = buffered(body, load_buffer=12, loads_leave_when_done=1)
    assert early.lost_slots.load_buffer < full.lost_slots.load_buffer / 2


def test_a_full_load_buffer_makes_slower() -> None:
    # Each load of a chain waits for the one before, those of the next chain need not.
    body = "mov %rsi, %rax; " + repeat("mov (%rax), %rax", 8)
    assert buffered(body, load_buffer=0).cycles_per_iteration < 5
    # Two chains of 32 cycles at a time, of which the second begins when the first has partly retired.
    assert buffered(body, load_buffer=18).cycles_per_iteration > 12


def test_stores_keep_their_entries_until_they_retire() -> None:
    body = "divsd %xmm1, %xmm0; " + repeat("mov %rbx, (%rax)", 3) + "; nop"
    assert buffered(body, store_buffer=0).lost_slots.store_buffer == 0
    full = buffered(body, store_buffer=6)
    assert full.lost_slots.store_buffer > 0
    assert full.lost_slots.load_buffer == full.lost_slots.reorder_buffer == 0


def test_microcode_is_issued_alone_and_not_in_cycles_in_a_row() -> None:
    # As measured on Zen 4: multiplications with two results and an index, alone and between eliminated moves.
    wide = "mulx (%rdi,%rsi), %rax, %r10; "
    assert cycles(repeat(wide + "nop", 4), "znver4") == 8
    assert cycles(repeat(wide + repeat("mov %r9, %r11", 4), 4), "znver4") == 8
    assert cycles(repeat(wide + repeat("mov %r9, %r11", 6), 4), "znver4") == 9
    assert cycles(repeat(wide.replace(",%rsi", ""), 4), "znver4") < 6


def test_stores_keep_their_entries_until_they_are_in_the_cache() -> None:
    s = buffered("mov %rax, (%rsi); mov %rax, 32(%rsi)", "znver4")
    assert s.lost_slots.store_buffer > 0.9 * sum(astuple(s.lost_slots))


def test_an_instruction_of_more_accesses_than_entries_goes_on() -> None:
    assert buffered("vpgatherdd %ymm0, (%rax,%ymm1,4), %ymm2", load_buffer=2, store_buffer=1).iterations >= 10


# --- ports and execution ---------------------------------------------------------------------------------------------


def test_taken_jumps_go_to_port_6() -> None:
    s = run("nop")
    assert s.port_uops[6] >= s.iterations
    assert s.port_uops[0] == 0


def test_loads_alternate() -> None:
    s = run(repeat("mov (%rax), %rbx", 4))
    assert abs(s.port_uops[2] - s.port_uops[3]) <= 4
    assert s.cycles_per_iteration == 2


@pytest.mark.parametrize("cpu", ["sandybridge", "haswell", "skylake"])
def test_ports_are_shared_evenly(cpu: str) -> None:
    body = "; ".join(f"add $1, %{r}" for r in ("rax", "rbx", "rcx", "rdx", "rsi", "rdi"))
    assert cycles(body, cpu) <= 1.12 * float(analyze(bound(body, cpu)).port_bound) + 0.5


def test_latency_chain() -> None:
    assert cycles("imul %rax, %rax; add $1, %rax") == 4


def test_fast_pointer_chasing() -> None:
    assert cycles("mov (%rax), %rax") == 4
    assert cycles("mov 2048(%rax), %rax") == 5
    assert cycles("mov (%rax,%rbx), %rax") == 5


def test_store_forwarding() -> None:
    # 4 cycles after the data are known, which is 1 cycle after their µop; and the addition.
    assert cycles("addq $1, (%rax)") == 6


def test_store_address_delays_the_load() -> None:
    # The address comes through a load each time: known 5 cycles after its µop, forwarded 4 later.
    late = cycles("mov (%rbx), %rax; mov %rcx, (%rax); mov (%rax), %rbx")
    assert late >= 4 + 5 + 4


def test_divider() -> None:
    assert cycles("vdivpd %ymm1, %ymm2, %ymm3") == 8
    assert cycles("vdivpd %ymm1, %ymm2, %ymm3; vdivpd %ymm1, %ymm2, %ymm4") == 16


def test_256_bit_memory_takes_two_cycles_on_sandy_bridge() -> None:
    body = repeat("vmovaps (%rax), %ymm1", 4)
    assert cycles(body, "sandybridge") == 4
    assert cycles(body, "haswell") == 2


# --- schedulers and ports of Zen 4: the figures beside them are measured ----------------------------------------------


def vector_accesses(pattern: str) -> str:
    """L: a load of 256 bits; S: a store of 256 bits, to a block of its own."""
    return "; ".join(
        f"vmovups {32 * n}(%rsi), %ymm{n % 12}" if c == "L" else f"vmovups %ymm15, {32 * n}(%rdi)"
        for n, c in enumerate(pattern)
    )


def test_vector_loads_wait_at_any_address_generator() -> None:
    # Two at a time start, so that loads in a row keep the stores behind them from the third address generator.
    assert cycles(vector_accesses("LLSLLSLLSLLS"), "znver4") == pytest.approx(4, abs=0.02)
    assert cycles(vector_accesses("L" * 10 + "S" * 5), "znver4") == pytest.approx(5.99, rel=0.05)
    assert cycles(vector_accesses("L" * 16 + "S" * 8), "znver4") == pytest.approx(9.61, rel=0.08)


def chains_and_stores(register: str, length: int) -> str:
    """Four chains of multiplications whose results are stored."""
    first = [f"vmulpd %{register}14, %{register}13, %{register}{n}" for n in range(4)]
    others = [f"vmulpd %{register}14, %{register}{n}, %{register}{n}" for n in range(4)] * (length - 1)
    return "; ".join(first + others + [f"vmovupd %{register}{n}, {64 * n}(%rdi)" for n in range(4)])


@pytest.mark.parametrize(("register", "length", "measured"), [("zmm", 2, 7.98), ("ymm", 3, 5.99), ("zmm", 4, 15.96)])
def test_data_of_stores_wait_in_both_schedulers(register: str, length: int, measured: float) -> None:
    # In one they would fill it, and what shares it would get too few multiplications.
    k = bound(chains_and_stores(register, length), "znver4")
    assert float(simulate(k).cycles_per_iteration) == pytest.approx(measured, rel=0.02)
    assert k.pipeline is not None
    k.pipeline.picked_from, k.pipeline.queued_at = [], []
    assert float(simulate(k).cycles_per_iteration) > 1.1 * measured


@pytest.mark.parametrize(("length", "measured"), [(40, 33.9), (60, 60.9), (100, 142.0)])
def test_schedulers_for_floating_point_hold_64(length: int, measured: float) -> None:
    # Chains that follow each other, but do not depend on each other: of two schedulers for one pipe of additions each.
    body = "vxorpd %xmm0, %xmm0, %xmm0; " + repeat("vaddpd %ymm1, %ymm0, %ymm0", length)
    assert cycles(body, "znver4") == pytest.approx(measured, rel=0.08)


def test_queue_before_the_schedulers_is_in_order() -> None:
    # All but 64 of the additions must have left before the first multiplication, which needs none of their pipes.
    chain = repeat("vaddpd %ymm1, %ymm0, %ymm0", 80)
    k = bound(f"{chain}; {repeat('vmulpd %ymm2, %ymm2, %ymm3', 20)}", "znver4")
    events = simulate(k, record=True, iterations=1).events
    assert events[80].started >= events[16].started > 3 * 15


@pytest.mark.parametrize(("length", "measured"), [(40, 60.8), (60, 112.3), (100, 233.4)])
def test_a_scheduler_of_24_entries_for_each_alu(length: int, measured: float) -> None:
    # Multiplications have one ALU and the entries of its scheduler.
    assert cycles(f"xor %eax, %eax; {repeat('imul %rbx, %rax', length)}", "znver4") == pytest.approx(measured, rel=0.08)


def test_pipes_are_taken_in_turn_unless_one_falls_behind() -> None:
    # Logic may have all four pipes, additions and multiplications two each. In turn, logic would have no more of the
    # pipes that nobody else wants.
    multiply, add = "vmulpd %ymm14, %ymm13, %ymm0", "vaddpd %ymm14, %ymm13, %ymm1"
    logic = "vpaddd %ymm14, %ymm13, %ymm2"
    assert cycles(f"{repeat(add, 2)}; {repeat(logic, 3)}", "znver4") == pytest.approx(5 / 4, rel=0.01)
    k = bound(f"{repeat(multiply, 4)}; {repeat(logic, 4)}", "znver4")
    assert float(simulate(k).cycles_per_iteration) == pytest.approx(2, rel=0.01)
    assert k.pipeline is not None
    k.pipeline.alternating_imbalance = m.UNLIMITED
    assert float(simulate(k).cycles_per_iteration) == pytest.approx(8 / 3, rel=0.05)


def test_each_address_generator_gets_an_access_a_cycle() -> None:
    body = "; ".join(f"mov {8 * n}(%rsi), %r{8 + n}" for n in range(6))
    events = simulate(bound(body, "znver4"), record=True, iterations=1).events
    first = events[0].dispatched
    assert [e.dispatched - first for e in events[:6]] == [0, 0, 0, 1, 1, 1]


def test_the_way_out_of_vector_registers_takes_an_alu() -> None:
    # Measured: 2.5 with three rotates on two ALUs; three conditional moves, which have the other two, take no longer.
    rotates = repeat("rorx $1, %rbx, %r9", 3)
    assert cycles(f"vmovd %xmm0, %ecx; {rotates}", "znver4") == pytest.approx(2, rel=0.01)
    assert cycles(rotates, "znver4") == pytest.approx(3 / 2, rel=0.01)
    assert cycles("vmovd %xmm0, %ecx; cmovc %rbx, %r8; cmovc %rbx, %r9", "znver4") == pytest.approx(3 / 2, rel=0.01)
    # As long as measured all the same.
    assert cycles("vmovd %xmm0, %ecx; vmovd %ecx, %xmm0", "znver4") == pytest.approx(6, rel=0.01)


def test_a_fused_pair_takes_a_unit_of_conditional_moves() -> None:
    moves = "cmovc %rbx, %r8; cmovc %rbx, %r9"
    assert cycles(moves, "znver4") == pytest.approx(3 / 2, rel=0.01)
    assert cycles(f"{moves}; cmp %rbx, %rcx; jne 2f; 2:", "znver4") == pytest.approx(2, rel=0.01)
    assert cycles(repeat("lea 1(%rbx), %rdx", 4), "znver4") == pytest.approx(5 / 4, rel=0.01)


def test_the_oldest_division_gets_the_divider() -> None:
    # Two pipes may have it; neither is served at the cost of the other.
    assert cycles("vsqrtpd (%rsi), %ymm0; vmovupd %ymm0, (%rdi)", "znver4") == pytest.approx(8, abs=0.1)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("queued_at", [], "picked_from: has another length than queued_at"),
        ("scheduler_entries", [24], "scheduler_ports: has another length than scheduler_entries"),
        ("scheduler_ports", [1 << 40] * 6, "scheduler_ports: not a set of ports"),
        ("scheduler_entries", [0] * 6, "scheduler_entries: entry 0 is 0"),
        ("waiting_entries", 0, "queue without entries"),
    ],
)
def test_schedulers_that_make_no_sense(name: str, value: object, message: str) -> None:
    k = bound("add %rax, %rbx", "znver4")
    setattr(k.pipeline, name, value)
    with pytest.raises(ValueError, match=message):
        simulate(k)


# --- Ice Lake and newer ----------------------------------------------------------------------------------------------


def test_five_are_issued_a_cycle_on_ice_lake() -> None:
    # Six µops, unrolled six times by the loop stream detector: 36 in eight cycles.
    s = run(repeat("nop", 5), "icelake-client")
    assert s.cycles_per_iteration == Fraction(8, 6)
    assert s.uops_by_source.loop_stream_detector > 0
    assert cycles(repeat("nop", 14), "icelake-client") == 3


def test_two_stores_a_cycle_on_ice_lake() -> None:
    body = "mov %rax, (%rsi); mov %rax, 8(%rsi); mov %rax, 16(%rsi); mov %rax, 24(%rsi)"
    s = run(body, "icelake-client")
    assert s.cycles_per_iteration == 2
    # Addresses and data are taken in turn.
    assert abs(s.port_uops[7] - s.port_uops[8]) <= 2
    assert abs(s.port_uops[4] - s.port_uops[9]) <= 2
    assert cycles(body) == 4


@pytest.mark.parametrize(("cpu", "general"), [("icelake-client", False), ("rocketlake", True), ("alderlake", True)])
def test_moves_of_newer_cores(cpu: str, general: bool) -> None:
    def executed(body: str) -> float:
        s = run(body, cpu)
        return sum(s.port_uops) / s.iterations

    # A microcode update put an end to the elimination of general-purpose moves on Ice Lake.
    assert executed("mov %rax, %rbx; mov %rcx, %rdx") == pytest.approx(1 if general else 3, rel=0.1)
    assert executed(repeat("movaps %xmm0, %xmm1", 20)) == pytest.approx(1, rel=0.1)


def test_high_bytes_of_ice_lake_need_no_merging() -> None:
    body = "mov %cl, %ah; mov %eax, %ebx; "
    assert cycles(body + repeat("nop", 7), "icelake-client") == 2


def test_both_ports_of_ice_lake_take_jumps() -> None:
    s = run("nop", "icelake-client")
    assert s.port_uops[0] > 0
    assert s.port_uops[6] > 0


def test_blocks_of_64_bytes_of_the_uop_cache() -> None:
    # 26 µops, five lines of six: too many for 32 bytes of Skylake's, not for 64 of Ice Lake's.
    assert run(repeat("nop", 25)).uops_by_source.uop_cache == 0
    assert run(repeat("nop", 25), "icelake-client").uops_by_source.decoders == 0
    assert run(repeat("nop", 40), "icelake-client").uops_by_source.uop_cache == 0


def test_golden_cove_issues_six() -> None:
    assert cycles(repeat("nop", 11), "alderlake") == 2
    assert cycles("; ".join(f"mov {8 * n}(%rsi), %rax" for n in range(6)), "alderlake") == 2
    assert cycles("; ".join(f"lea 1(%rbp), %r{n}" for n in range(8, 13)), "alderlake") <= 1.25


# --- what holds for every kernel -------------------------------------------------------------------------------------

BODIES = [some_body(seed) for seed in range(40)]


@pytest.fixture(scope="module")
def kernels() -> list[m.BoundKernel]:
    return [bound(body, cpu) for body, cpu in zip(BODIES, itertools.cycle(["skylake", "haswell"]), strict=False)]


def test_no_bound_is_beaten(kernels: list[m.BoundKernel]) -> None:
    for k, body in zip(kernels, BODIES, strict=True):
        a, s = analyze(k), simulate(k)
        # Reading off in the middle of a pattern may be off by a slot.
        most = max(a.port_bound, a.resource_bound, a.front_end_bound, a.retire_bound, a.latency_bound)
        assert s.cycles_per_iteration >= most * Fraction(97, 100), body


def test_events_are_consistent(kernels: list[m.BoundKernel]) -> None:
    for k, body in zip(kernels, BODIES, strict=True):
        s = simulate(k, iterations=12, record=True)
        assert [(e.iteration, e.instruction) for e in s.events] == [
            (n, i) for n in range(12) for i in range(len(k.instruction_flags))
        ]
        busy: set[tuple[int, int]] = set()
        for before, e in itertools.pairwise([None, *s.events]):
            assert e is not None
            assert e.dispatched <= e.ready <= e.started <= e.executed < e.retired or not e.ports, body
            if before is not None:
                assert before.retired <= e.retired, body
                assert before.dispatched <= e.dispatched, body
            assert len(e.ports) == k.uop_start[e.instruction + 1] - k.uop_start[e.instruction]
            if len(e.ports) == 1:
                assert (e.started, e.ports[0]) not in busy, body
                busy.add((e.started, e.ports[0]))
        for cycle in {e.retired for e in s.events}:
            slots = sum(k.retire_slots[e.instruction] for e in s.events if e.retired == cycle)
            assert slots <= k.retire_width + max(k.retire_slots), body


def test_nothing_is_recorded_unless_asked_for(kernels: list[m.BoundKernel]) -> None:
    assert simulate(kernels[0]).events == ()


def test_iterations_are_those_asked_for(kernels: list[m.BoundKernel]) -> None:
    s = simulate(kernels[0], iterations=7)
    assert s.iterations >= 7
    assert s.cycles >= 7


def mean(change: Callable[[m.BoundKernel], None], kernels: list[m.BoundKernel]) -> float:
    """Mean ratio of the cycles with a change of the kernels' parameters to those without."""
    ratios = []
    for k in kernels:
        before = simulate(k).cycles_per_iteration
        saved = {name: getattr(k, name) for name in ("rob", "rs", "retire_width", "issue_width", "input_latency")}
        change(k)
        ratios.append(float(simulate(k).cycles_per_iteration / before))
        for name, value in saved.items():
            setattr(k, name, value)
    return sum(ratios) / len(ratios)


def test_more_of_something_is_not_slower(kernels: list[m.BoundKernel]) -> None:
    def buffers(k: m.BoundKernel) -> None:
        k.rob, k.rs = 2 * k.rob, 2 * k.rs

    def retirement(k: m.BoundKernel) -> None:
        k.retire_width *= 2

    def latency(k: m.BoundKernel) -> None:
        k.input_latency = [min(x, 1) for x in k.input_latency]

    assert mean(buffers, kernels) <= 1.01
    assert mean(retirement, kernels) <= 1.01
    assert mean(latency, kernels) <= 1.01


def test_less_of_something_is_not_faster(kernels: list[m.BoundKernel]) -> None:
    def buffers(k: m.BoundKernel) -> None:
        k.rob, k.rs = 24, 12

    assert mean(buffers, kernels) >= 1.0


@given(st.permutations(["rax", "rbx", "rcx", "rdx", "rsi", "rdi"]), st.integers(0, 30))
@examples(15)
def test_names_of_registers_do_not_matter(names: list[str], seed: int) -> None:
    r = random.Random(seed)
    lines = [
        r.choice(["add {}, {}", "imul {}, {}", "mov {}, {}", "xor {}, {}"]).format(
            *("%" + r.choice(REGISTERS[:6]) for _ in range(2))
        )
        for _ in range(6)
    ]
    # Encodings have the same lengths without rax's short forms.
    body = "; ".join(lines)
    renamed = body
    for old, new in zip(REGISTERS[:6], names, strict=True):
        renamed = renamed.replace("%" + old, "%<" + new)
    assert cycles(body) == cycles(renamed.replace("<", ""))


def test_very_long_kernels_end() -> None:
    s = run("; ".join(some_body(seed, 50) for seed in range(30)), loop=False)
    assert s.iterations >= 10


# --- bad input -------------------------------------------------------------------------------------------------------


def test_limit_of_cycles() -> None:
    with pytest.raises(RuntimeError, match="given up after 40 cycles"):
        simulate(bound("imul %rax, %rax"), max_cycles=40)


def test_a_core_without_pipeline() -> None:
    b = BoundBuilder()
    b.op([1], "rax", rax=1)
    with pytest.raises(ValueError, match="pipeline"):
        simulate(b.build())


@pytest.mark.parametrize("name", ["length", "uops_mite", "move_ports", "no_lsd"])
def test_wrong_arrays_are_named(name: str) -> None:
    k = bound("add %rax, %rbx")
    # Kernels of the same shapes have arrays in common.
    setattr(k.pipeline, name, [*getattr(k.pipeline, name), 0])
    with pytest.raises(ValueError, match=name):
        simulate(k)


def test_nothing_to_issue() -> None:
    k = bound("nop", loop=False)
    k.issue_slots = [0]
    assert simulate(k).cycles_per_iteration == 0


def test_no_uop_is_issued_without_a_slot() -> None:
    k = bound("add %rax, %rbx")
    k.issue_slots = [0] * len(k.issue_slots)
    assert simulate(k).cycles_per_iteration == simulate(bound("add %rax, %rbx")).cycles_per_iteration == 1


@pytest.mark.long
def test_the_record_of_an_instruction_of_very_many_uops() -> None:
    b = BoundBuilder()
    for _ in range(50_000):
        b.uop(0b1111)
    b.end(slots=50_000)
    run = simulate(b.build(), iterations=1, record=True, ideal=True)
    assert [len(event.ports) for event in run.events] == [50_000]
    assert len(run.started) == 50_000
