"""A run from a cold start: its cycles, what is counted in it, and what of the core an analysis can change."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, get_args

import jsonschema
import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec.structs import astuple, replace
from test_report_schema import SCHEMA

import incc
from incc import core
from incc.core.analysis import KernelSettings, analyze_kernel
from incc.driver.pipeline import analyze_units, decode_unit, find_regions, read_assembly
from incc.driver.settings import Scope
from incc.frontends.unit import Unit
from incc.models.loading import load
from incc.report import types as t
from properties import examples
from settings_fixtures import settings_with

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.frontends.kernel import KernelCode

CORES = ("skylake-avx512", "goldencove", "gracemont", "znver4", "sandybridge")
LINES = (
    "vmovupd (%rdx,%rax), %ymm1",
    "vfmadd231pd (%rsi,%rax), %ymm2, %ymm1",
    "vmovupd %ymm1, (%rdi,%rax)",
    "imulq $3, %r9, %r9",
    "addq $32, %rax",
    "movq (%rdi), %rcx",
    "movq %rcx, (%rdi)",
    "addq $1, 8(%rdi)",
    "xorl %ebx, %ebx",
    "movq %rax, %r10",
    "pushq %r10",
    "popq %r11",
    "vdivpd %ymm3, %ymm2, %ymm3",
    "nop",
    "cmpq %r8, %rax\njne .L4",
)
TRIAD = "\n".join((*LINES[:5], LINES[-1]))


@functools.cache
def kernel(text: str) -> KernelCode:
    unit, scope = Unit(assembly=text + "\n", assembly_file="a.s"), Scope(regions="marked")
    parsed = read_assembly(unit, "x86")
    (found,) = decode_unit(unit, parsed, find_regions(parsed, scope)[0])
    return found


def analysed(text: str, cpu: str = "skylake-avx512", **settings: Any) -> KernelResult:
    return analyze_kernel(
        kernel(text),
        load(cpu),
        settings_with(**{"cold_iterations": 100, "what_ifs": False, "timeline_iterations": 0, **settings}).kernel,
    )


def counted(text: str, cpu: str = "skylake-avx512", **settings: Any) -> core.Statistics:
    run = analysed(text, cpu, **settings).cold
    assert run is not None
    assert run.statistics is not None
    return run.statistics


blocks = st.lists(st.sampled_from(LINES), min_size=1, max_size=8).map("\n".join)


@given(blocks, st.sampled_from(CORES), st.sampled_from((1, 3, 40, 333)))
@examples(40)
def test_what_is_counted_adds_up(text: str, cpu: str, iterations: int) -> None:
    result = analysed(text, cpu, cold_iterations=iterations, timeline_iterations=3, timeline_cycles=0)
    assume(not result.unknown)
    assert result.cold is not None
    assert result.cold.statistics is not None
    found = result.cold.statistics
    for histogram in (found.dispatched, found.issued, found.retired):
        assert sum(cycles for _, cycles in histogram) == found.cycles
        assert [n for n, _ in histogram] == sorted({n for n, _ in histogram})
    assert sum(n * cycles for n, cycles in found.dispatched) == found.uops
    assert sum(n * cycles for n, cycles in found.retired) == iterations * len(kernel(text).instructions)
    for usage in (found.reorder_buffer, found.scheduler, found.queue, *found.schedulers):
        assert 0 <= usage.sum <= usage.most * found.cycles
        assert not usage.entries or usage.most <= usage.entries
    assert found.registers.mappings == found.general.mappings + found.vector.mappings
    assert found.registers.most <= found.registers.mappings
    assert len(found.events) == min(3, iterations) * len(kernel(text).instructions)
    before = 0
    for event in found.events:
        assert 0 <= event.dispatched <= event.ready <= event.started <= event.executed < event.retired < found.cycles
        assert event.retired >= before
        before = event.retired
    assert sum(astuple(found.stalls)) <= found.cycles


@given(blocks, st.sampled_from(CORES))
@examples(25)
def test_repetition_is_not_simulated_and_counted_all_the_same(text: str, cpu: str) -> None:
    bound = analysed(text, cpu, cold_iterations=0).bound
    for iterations in (2, 150):
        args: dict[str, Any] = {"event_iterations": 4, "pressure": True}
        assert core.cold_run(bound, iterations, **args) == core.cold_run(bound, iterations, every_cycle=True, **args)


@given(blocks, st.sampled_from(CORES))
@examples(25)
def test_total_cycles_grow_and_approach_the_prediction(text: str, cpu: str) -> None:
    result = analysed(text, cpu, cold_iterations=0)
    cycles = [result.total_cycles(n) for n in range(1, 12)]
    assert cycles == sorted(cycles)
    assert cycles[0] < cycles[-1] or not result.cycles
    if not result.cycles:  # of instructions that the core lacks, which take a slot each in the run alone
        return
    many = int(200_000 / max(10, result.cycles))
    # Where the retirement was not seen to repeat itself, the prediction is of the first some hundred cycles alone,
    # which those behind need not keep to.
    near = 0.02 if result.simulation is not None and result.simulation.period else 0.1
    assert result.total_cycles(many) / many == pytest.approx(float(result.cycles), rel=near, abs=0.01)


def test_one_instruction_takes_its_way_through_the_pipeline() -> None:
    # It is dispatched, starts, has its result after its latency, and retires.
    for text, latency in (("addq %rax, %rbx", 1), ("imulq %rax, %rbx", 3), ("vdivpd %ymm1, %ymm2, %ymm3", 8)):
        for cpu in CORES:
            found = counted(text, cpu, cold_iterations=1, timeline_iterations=1)
            assert found.cycles >= latency + 3
            (event,) = found.events
            assert event.dispatched == 0 < event.started
            assert event.executed - event.started >= latency
            assert found.cycles == event.retired + 1


def test_events_are_those_that_a_timeline_shows() -> None:
    found = counted(TRIAD, timeline_iterations=10, timeline_cycles=20)
    assert found.events
    assert all(event.retired < 20 for event in found.events)
    assert len(found.events) < 10 * len(kernel(TRIAD).instructions)
    # Averages are over all iterations.
    assert {wait.executions for wait in found.waits} == {10}
    assert counted(TRIAD).events == ()


def test_pressure_names_what_µops_wait_for() -> None:
    chain = counted("imulq %rax, %rax", pressure=True).pressure
    assert chain is not None
    assert chain.registers > 0 == chain.memory
    assert [(s.instruction, s.iteration_offset, s.because, s.cycles) for s in chain.sequence] == [
        (0, 0, core.BY_NOTHING, 0),
        (0, 1, core.BY_REGISTER, 3),
    ]
    memory = counted("addq $1, (%rdi)", pressure=True).pressure
    assert memory is not None
    assert memory.memory > 0
    assert core.BY_MEMORY in {s.because for s in memory.sequence}
    result = analysed("imulq %rax, %rbx\nimulq %rax, %rcx\nimulq %rax, %rdx\nimulq %rax, %rsi\n" * 2, pressure=True)
    assert result.cold is not None
    assert result.cold.statistics is not None
    ports = result.cold.statistics.pressure
    assert ports is not None
    assert ports.resources >= ports.by_resource[1] > 0.9 * ports.resources
    assert ports.sequence[-1].because == core.BY_RESOURCE
    assert result.bound.port_names[ports.sequence[-1].via] == "1"
    assert counted(TRIAD).pressure is None


def test_settings_change_bounds_and_simulation() -> None:
    plain = analysed(TRIAD)
    narrow = analysed(TRIAD, dispatch_width=1)
    assert narrow.bounds.front_end == sum(plain.bound.issue_slots) > plain.cycles
    assert narrow.cycles >= narrow.bounds.front_end
    assert plain.bound.issue_width == analysed(TRIAD).bound.issue_width > narrow.bound.issue_width == 1
    assert analysed(TRIAD, noalias=False).bounds.loop_carried > plain.bounds.loop_carried
    for name, stall in (
        ("load_queue", "load_buffer"),
        ("store_queue", "store_buffer"),
        ("register_file", "registers"),
        ("uop_queue", "no_uops"),
        ("decoders", "no_uops"),
    ):
        changed = analysed(TRIAD, **{name: 1})
        assert changed.cycles > plain.cycles, name
        assert changed.total_cycles(100) > plain.total_cycles(100), name
        assert changed.cold is not None
        assert changed.cold.statistics is not None
        assert getattr(changed.cold.statistics.stalls, stall) > 0
        assert changed.notes[0].startswith("not the model's core: "), name
        # What is more than enough changes nothing, and is no reason to give up.
        assert analysed(TRIAD, **{name: 10**9}).cycles <= plain.cycles
    file = counted(TRIAD, register_file=12).registers
    assert file.most <= 12
    assert counted(TRIAD, dispatch_width=10**9).cycles <= counted(TRIAD).cycles
    assert plain.notes == ()


def test_calls_take_what_is_said() -> None:
    text = "call f\naddq $1, %rax"
    short, long = (counted(text, cold_iterations=1, call_latency=cycles).cycles for cycles in (0, 100))
    assert short < 100 <= long
    assert counted(TRIAD, call_latency=100) == counted(TRIAD)


def test_a_cold_run_alone_leaves_out_all_that_is_said_of_the_steady_state() -> None:
    unit = Unit(assembly=TRIAD + "\n", assembly_file="a.s")
    settings = settings_with(
        mcpu="skylake", regions="marked", cold_iterations=100, timeline_iterations=4, pressure=True
    )
    report = analyze_units([unit], settings_with(settings, steady=False))
    jsonschema.Draft202012Validator(SCHEMA).validate(msgspec.to_builtins(report))
    lean, whole = (r.units[0].kernels[0] for r in (report, analyze_units([unit], settings)))
    assert lean.cold == whole.cold
    assert lean.simulated is None
    assert lean.bounds.prediction.by == "bounds"
    assert lean.cycles == max(whole.bounds.of(name).cycles for name in get_args(t.BoundName))
    assert lean.hints == lean.what_ifs == lean.dependencies == []
    assert lean.range is lean.timeline is None
    assert [i.pressure for i in lean.instructions] == [i.pressure for i in whole.instructions]


def test_python_has_total_cycles() -> None:
    (found,) = incc.analyze(TRIAD + "\n", mcpu="skylake", loops="marked", cold_iterations=7)
    cold = found.to_dict()["cold"]
    assert cold is not None
    assert found.total_cycles(7) == cold["cycles"]
    assert found.total_cycles(8) > found.total_cycles(7)
    with pytest.raises(ValueError, match="iterations"):
        found.total_cycles(0)


def test_any_number_of_iterations_is_told() -> None:
    found = counted(TRIAD, cold_iterations=10**12, timeline_iterations=10**12, timeline_cycles=50)
    assert found.cycles == pytest.approx(10**12 * float(analysed(TRIAD).cycles), rel=1e-6)
    assert found.uops == 10**12 * sum(analysed(TRIAD).bound.issue_slots)
    assert 0 < len(found.events) < 100


def test_without_instructions_nothing_is_run() -> None:
    for cpu in ("skylake", "bonnell", "znver4"):
        empty = replace(kernel("nop"), instructions=())
        result = analyze_kernel(empty, load(cpu), KernelSettings(cold_iterations=100, pressure=True, steady=False))
        assert result.cold is None


@pytest.mark.parametrize("text", ["nop", "nop\nnop\nnop", "movq %rax, %rbx", "xorl %eax, %eax", "vzeroupper"])
@pytest.mark.parametrize("cpu", ["znver4", "goldencove", "btver2"])
def test_what_needs_no_port_takes_its_time(text: str, cpu: str) -> None:
    result = analysed(text, cpu, timeline_iterations=2, pressure=True)
    assert result.cold is not None
    found = result.cold.statistics
    assert found is not None
    instructions = len(text.splitlines())
    assert result.cold.iterations == 100
    assert found.uops >= 100 * instructions
    assert found.cycles >= found.uops / result.bound.issue_width
    assert sum(count * cycles for count, cycles in found.retired) == 100 * instructions
    assert len(found.events) == 2 * instructions


def _cold(text: str, cpu: str) -> Any:
    settings = settings_with(mcpu=cpu, regions="marked", cold_iterations=100, pressure=True)
    report = analyze_units([Unit(assembly=text + "\n", assembly_file="a.s")], settings)
    jsonschema.Draft202012Validator(SCHEMA).validate(msgspec.to_builtins(report))
    return report.units[0].kernels[0].cold


@pytest.mark.parametrize("cpu", ["skylake", "sapphirerapids", "btver2", "znver2", "znver4", "bdver2"])
def test_schedulers_and_register_files_are_those_that_llvm_names(cpu: str) -> None:
    llvm = load(cpu).llvm
    assert llvm is not None
    cold = _cold(TRIAD, cpu)
    assert [(s.name, s.entries) for s in cold.schedulers] == [(s.name, s.entries) for s in llvm.schedulers]
    assert all(0 <= s.average <= s.most <= s.entries for s in cold.schedulers)
    used = {s.name: s.most for s in cold.schedulers}
    # Loads, additions and, where these are counted, what is in the buffers of loads and stores.
    assert all(used[s.name] for s in llvm.schedulers if s.queue or "store" not in s.name.lower())
    everything, *files = cold.registers
    assert everything.name == ""
    assert [(f.name, f.entries) for f in files] == [(f.name, f.registers) for f in llvm.register_files]
    if files:
        assert sum(f.mappings for f in files) == everything.mappings


def test_all_schedulers_of_a_core_with_one_are_its_entries() -> None:
    found = counted(TRIAD, "skylake")
    (buffer,) = found.buffers
    assert 0 < buffer.most <= found.scheduler.most


def test_a_core_that_starts_in_order_has_no_schedulers() -> None:
    assert _cold("addq $1, %rax", "bonnell").schedulers == []


def test_eliminated_moves_are_counted_by_kind() -> None:
    written = "addq $1, %rax\nvaddps %ymm0, %ymm0, %ymm0\nvaddps %ymm2, %ymm2, %ymm2\n"
    found = counted(written + "movq %rax, %rbx\nvmovaps %ymm0, %ymm1\nvmovaps %ymm2, %ymm3", "skylake")
    assert found.general_moves[0] == 100
    assert found.vector_moves[0] == 200
    for candidates, eliminated, most in (found.general_moves, found.vector_moves):
        assert 0 < eliminated <= candidates
        assert 0 < most <= 4
    assert counted("addq %rax, %rbx", "skylake").general_moves == (0, 0, 0)


def test_dependencies_of_either_kind_are_counted_once() -> None:
    both = counted("movq (%rdi), %rax\nimulq $3, %rax\nmovq %rax, (%rdi)\nimulq $3, %rbx", pressure=True).pressure
    assert both is not None
    assert max(both.registers, both.memory) <= both.data <= min(both.increase, both.registers + both.memory)
