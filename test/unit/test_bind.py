"""Binding: forms to µops, values and their inputs, on Skylake's model."""

from __future__ import annotations

import time

import pytest
from msgspec.structs import replace

from bind_kernels import analysis, bound, inputs_of, kernel, outputs_of, ports_of
from incc.models.binding import bound as arrays
from incc.models.binding.bind import bind
from incc.models.loading import load


def test_load_and_compute_are_two_values() -> None:
    b = bound("vfmadd213pd (%rsi), %ymm2, %ymm1")
    assert ports_of(b, 0) == ["23", "01"]
    assert b.value_kind == [arrays.VALUE_LOAD, arrays.VALUE_REGISTER]
    assert inputs_of(b, 0) == {"rsi": 7}
    assert inputs_of(b, 1) == {"zmm1": 4, "zmm2": 4, "loaded": 4}
    assert outputs_of(b, 1) == {"zmm1"}
    assert b.latency == [11]
    assert b.issue_slots == [1]


def test_indexed_address_unlaminates() -> None:
    assert bound("vfmadd213pd (%rsi,%rax), %ymm2, %ymm1").issue_slots == [2]


def test_store_address_ports_depend_on_the_addressing_mode() -> None:
    assert ports_of(bound("vmovupd %ymm1, (%rdi)"), 0) == ["237", "4"]
    b = bound("vmovupd %ymm1, (%rdi,%rax)")
    assert ports_of(b, 0) == ["23", "4"]
    assert b.uop_kind == [arrays.UOP_STORE_ADDRESS, arrays.UOP_STORE_DATA]


def test_read_modify_write_has_load_compute_and_both_store_uops() -> None:
    b = bound("addq %rcx, (%rdi)")
    kinds = [arrays.UOP_LOAD, arrays.UOP_COMPUTE, arrays.UOP_STORE_ADDRESS, arrays.UOP_STORE_DATA]
    assert b.uop_kind == kinds
    stored = b.value_kind.index(arrays.VALUE_STORE)
    assert inputs_of(b, stored)["loaded"] == 1
    assert inputs_of(b, stored)["rcx"] == 1


def test_macro_fused_pair_is_one_uop_on_the_taken_branch_port() -> None:
    b = bound(".L1:\ncmpq %rsi, %rcx\njne .L1")
    assert ports_of(b, 0) == ["6"]
    assert ports_of(b, 1) == []
    assert b.issue_slots == [1, 0]
    assert b.instruction_flags[1] & arrays.FUSED_INTO_PREVIOUS


def test_no_fusion_where_the_condition_needs_a_flag_that_is_not_written() -> None:
    b = bound(".L1:\nincq %rcx\njb .L1")  # inc leaves C alone
    assert b.issue_slots == [1, 1]


def test_conditional_jump_not_taken_may_use_port_0() -> None:
    b = bound(".L1:\nbtq $3, %rdx\njb .L2\ndecq %rcx\njne .L1\n.L2:")
    assert ports_of(b, 1) == ["06"]


def test_eliminated_move_and_zero_idiom_use_slots_but_no_port() -> None:
    b = bound("movq %rax, %rbx\nxorl %ecx, %ecx")
    assert ports_of(b, 0) == ports_of(b, 1) == []
    assert b.issue_slots == [1, 1]
    assert b.instruction_flags[0] & arrays.ELIMINATED
    assert inputs_of(b, 0) == {"rax": 0}
    assert b.instruction_flags[1] & arrays.ZEROED
    assert inputs_of(b, 1) == {}
    assert outputs_of(b, 1) == {"rcx", "flag C", "flags SPAZO"}


def test_zero_idiom_breaks_a_chain() -> None:
    assert analysis("xorpd %xmm0, %xmm0\naddsd %xmm1, %xmm0").latency_bound == 0
    assert analysis("addsd %xmm1, %xmm0").latency_bound == 4


def test_partial_register_write_merges_but_32_bits_do_not() -> None:
    assert inputs_of(bound("movb $1, %al"), 0) == {"rax": 1}
    assert inputs_of(bound("movl $1, %eax"), 0) == {}


def test_high_byte_is_renamed_separately() -> None:
    b = bound("movb %ah, %cl\naddb $1, %al")
    assert inputs_of(b, 0).keys() == {"rax.high", "rcx"}
    assert outputs_of(b, 1) >= {"rax"}
    assert "rax.high" not in outputs_of(b, 1)


def test_flags_are_renamed_in_two_groups() -> None:
    # inc writes all flags but C: the carry passes it by.
    b = bound("adcq %rdx, %rax\nincq %rcx")
    assert "flag C" in inputs_of(b, 0)
    inc = b.value_start[1]
    assert outputs_of(b, inc) == {"rcx", "flags SPAZO"}


def test_carry_chain() -> None:
    a = analysis("adcq (%rsi), %rax\nadcq 8(%rsi), %rdx\nleaq 16(%rsi), %rsi")
    assert a.latency_bound == 2


def test_stack_engine_makes_push_and_pop_independent() -> None:
    assert analysis("pushq %rax\npopq %rcx").latency_bound == 0


def test_conditional_move_depends_on_its_old_value() -> None:
    b = bound("cmovbe %rax, %rbx")
    assert inputs_of(b, 0) == {"rbx": 1, "rax": 1, "flag C": 2, "flags SPAZO": 2}


def test_loads_without_a_writer_of_their_base_are_bound_in_linear_time() -> None:
    loop = kernel("movq (%rdi), %rax\naddq $8, %rcx")
    load_, add = loop.instructions
    many = replace(loop, instructions=(add, *[load_] * 20000))
    begun = time.process_time()
    bind(many, load("skylake"))
    assert time.process_time() - begun < 20  # a search through all others for each takes minutes


def test_pointer_chasing_saves_a_cycle() -> None:
    assert analysis("movq (%rax), %rax").latency_bound == 4
    assert analysis("movq 4096(%rax), %rax").latency_bound == 5
    assert analysis("movq (%rax,%rcx), %rax").latency_bound == 5
    assert analysis("addq $1, %rax\nmovq (%rax), %rax").latency_bound == 6


def test_store_is_read_back() -> None:
    # movsd forwards in 6 cycles, an addition takes 4.
    a = analysis("movsd (%rdi), %xmm0\naddsd %xmm1, %xmm0\nmovsd %xmm0, 8(%rdi)\naddq $8, %rdi")
    assert a.latency_bound == 10


@pytest.mark.parametrize(
    ("address", "cycles"),
    [("(%rax)", 4), ("64(%rax)", 4), ("(%rdi,%rax)", 4), ("(%rdi,%rax,2)", 5), ("8(%rdi,%rax)", 5), ("(,%rax,8)", 5)],
)
def test_complex_addresses_take_a_cycle_more_on_zen_4(address: str, cycles: int) -> None:
    assert analysis(f"movq {address}, %rax", "znver4").latency_bound == cycles
    # Instructions of one shape share what binding made of them.
    assert analysis("movq (%rdi,%rax), %rax\nmovq 8(%rdi,%rax), %rax", "znver4").latency_bound == 9


@pytest.mark.parametrize(
    ("load", "cycles"),
    [("shlx %ecx, (%rsi), %eax", 1), ("cmove (%rsi), %eax", 1), ("addl (%rsi), %eax", 7), ("movzbl (%rsi), %eax", 6)],
)
def test_the_renamer_serves_loads_with_an_issue_slot_of_their_own(load: str, cycles: int) -> None:
    assert analysis(f"{load}\nmovl %eax, (%rsi)", "znver4").latency_bound == cycles


def test_port_1_is_closed_to_vectors_while_zmm_is_in_use() -> None:
    text = "vaddpd %zmm1, %zmm2, %zmm3\nvaddpd %ymm1, %ymm2, %ymm4\nimulq %rax, %rcx\nvmovd %xmm5, %edx"
    b = bound(text)
    assert ports_of(b, 0) == ["05"]
    assert ports_of(b, 1) == ["0"]
    assert ports_of(b, 2) == ["1"]  # not a vector µop
    assert ports_of(bound("vaddpd %ymm1, %ymm2, %ymm4"), 0) == ["01"]


def test_merge_masking_reads_the_destination_and_the_mask() -> None:
    b = bound("vaddpd %zmm1, %zmm2, %zmm3{%k1}")
    assert inputs_of(b, 0).keys() == {"zmm1", "zmm2", "zmm3", "k1"}
    zeroing = bound("vaddpd %zmm1, %zmm2, %zmm3{%k1}{z}")
    assert inputs_of(zeroing, 0).keys() == {"zmm1", "zmm2", "k1"}


def test_divider_is_a_resource() -> None:
    a = analysis("vdivpd %ymm1, %ymm2, %ymm3")
    assert a.resource_bound == 8
    assert a.port_bound == 1


def test_unknown_instruction_is_excluded_and_passes_dependencies_on() -> None:
    # An AMD instruction that no Intel core has.
    b = bound("vpermil2pd $0, %xmm1, %xmm2, %xmm3, %xmm1\naddsd %xmm1, %xmm1")
    assert b.instruction_flags[0] & arrays.UNKNOWN
    assert ports_of(b, 0) == []
    assert set(inputs_of(b, 0).values()) == {0}


@pytest.mark.parametrize("core", ["sapphirerapids", "skylake", "gracemont", "silvermont"])
def test_what_does_as_much_as_there_is_to_do_is_as_llvm_has_it(core: str) -> None:
    k = bound("wbinvd", core)
    assert not k.instruction_flags[0] & arrays.UNKNOWN
    assert k.issue_slots == [1]


@pytest.mark.parametrize(("core", "register"), [("knl", "zmm"), ("haswell", "ymm"), ("core2", "xmm")])
def test_a_load_wider_than_the_core_takes_as_long_as_the_widest(core: str, register: str) -> None:
    widest = load(core).parameters["load_latency"]
    k = bound(f"vaddps (%rdi), %{register}1, %{register}2" if core != "core2" else "addps (%rdi), %xmm2", core)
    known = widest.get(register, widest[list(widest)[-1]])
    assert k.value_kind[0] == arrays.VALUE_LOAD
    assert k.load_latency == [known]


def test_wrong_instruction_set_is_an_error() -> None:
    k = replace(kernel("nop"), isa="aarch64")
    with pytest.raises(ValueError, match="aarch64"):
        bind(k, load("skylake"))


def test_arrays_agree() -> None:
    b = bound(
        "rep movsb\nlock cmpxchgq %rax, (%rdi)\nvgatherdpd %ymm1, (%rax,%xmm2,8), %ymm3\nidivq %rcx\npushq (%rax)"
    )
    n = 5
    assert len(b.instruction_flags) == len(b.issue_slots) == len(b.retire_slots) == len(b.latency) == n
    assert len(b.uop_start) == len(b.value_start) == len(b.affine_start) == n + 1
    assert len(b.input_start) == len(b.output_start) == len(b.value_kind) + 1 == len(b.memory_of_value) + 1
    assert all(0 < mask < 1 << len(b.port_names) for mask in b.uop_ports)


@pytest.mark.parametrize(
    ("cpu", "text"),
    [
        ("knl", "vaddps (%rdi), %zmm1, %zmm0"),
        ("knl", "vgatherdps (%rdi,%zmm1), %zmm2{%k1}"),
        ("gracemont", "aesdec256kl (%rdi), %xmm0"),
        ("generic-x86-64", "vmovups (%rdi), %zmm0"),
    ],
)
def test_a_load_wider_than_the_cores_vectors_takes_as_long_as_the_widest(cpu: str, text: str) -> None:
    latency = load(cpu).parameters["load_latency"]
    assert "zmm" not in latency
    b = bound(text, cpu)
    assert b.value_kind[0] == arrays.VALUE_LOAD
    assert b.load_latency[0] >= max(latency["xmm"], latency.get("ymm", 0))


def test_the_same_instruction_with_and_without_its_flags() -> None:
    loop, model = kernel("adcq $0, %rcx"), load("skylake", ())
    without = replace(loop, instructions=tuple([replace(i, flags_read="") for i in loop.instructions]))
    assert [len(inputs_of(bind(each, model)[0], 0)) for each in (loop, without, loop)] == [2, 1, 2]
