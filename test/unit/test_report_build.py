"""What a report says about a kernel: figures, verdict, hints, dependencies, timeline."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.core import Analysis
from incc.core.figures import summary
from incc.core.roles import NO_PART, LoopPart, Role
from incc.frontends.kernel import Arithmetic, KernelCode, Refused
from incc.frontends.unit import Unit
from incc.models.binding import bound as b
from incc.models.binding.bound import BoundKernel
from incc.report import types as t
from incc.report import wording
from incc.report.hints.common import hint
from incc.report.kernel import kernel_report
from incc.report.roles import set_role, withhold_not_vectorised
from incc.report.source.problems import Problem, problems, shown
from incc.report.unit_result import UnitResult
from report_fixtures import (
    COUNTER,
    FMA,
    Row,
    chain,
    edge,
    make_analysis,
    make_bound,
    make_forms,
    make_kernel,
    make_model,
    make_report,
    make_result,
    memory,
    step,
    sum_parts,
    sum_rows,
    triad_events,
    triad_parts,
    triad_rows,
    unknown_parts,
)

Parts = tuple[KernelCode, BoundKernel, Analysis]

if TYPE_CHECKING:
    from incc.frontends.kernel import RoleName


def build(parts: Parts, notes: tuple[str, ...] = (), part: LoopPart = NO_PART, **options: Any) -> t.KernelReport:
    """The report on a kernel; `options` are those of `make_result`."""
    result = make_result(*parts, **options)
    unit = Unit(assembly="", assembly_file="")
    results = UnitResult(unit=unit, model=result.model, chosen_by="", results=(result,), notes=notes)
    return kernel_report(results, 0, part)


def rules(report: t.KernelReport) -> list[str]:
    return [hint.rule for hint in report.hints]


# --- header -----------------------------------------------------------------------------------------------------------


def test_header() -> None:
    report = build(triad_parts(), notes=("a note",))
    assert report.source == t.SourceLocation("triad.c", 4)
    assert (report.function, report.label, report.first_line, report.depth) == ("triad", ".L4", 12, 1)
    assert report.notes == ["a note"]
    assert report.size == t.Size(instructions=6, bytes=26, issue_slots=7, retire_slots=7, uops=7)
    assert report.memory.bytes_loaded == 64
    assert report.memory.bytes_stored == 32
    assert report.arithmetic.flop_per_byte == pytest.approx(8 / 96, abs=1e-6)


@pytest.mark.parametrize(
    ("arithmetic", "text"),
    [
        ([FMA], "100 % of 8 flop in 256-bit vectors"),
        (
            [FMA, Arithmetic(packed=False, floating=True, element=64, width=64, operations=2)],
            "80 % of 10 flop in 256-bit vectors",
        ),
        ([Arithmetic(packed=False, floating=True, element=64, width=64, operations=2)], "2 flop, all scalar"),
        (
            [FMA, Arithmetic(packed=True, floating=False, element=32, width=512, operations=16)],
            "100 % of 8 flop and 16 integer operations in 512-bit vectors",
        ),
        (
            [Arithmetic(packed=True, floating=False, element=64, width=128, operations=1)],
            "100 % of 1 integer operation in 128-bit vectors",
        ),
        ([None], "no vector arithmetic"),
    ],
)
def test_vectorised_share(arithmetic: list[Arithmetic | None], text: str) -> None:
    rows = [Row("vop %ymm0", "r", [], [("01", b.UOP_COMPUTE)], arithmetic=a) for a in arithmetic]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    assert report.arithmetic.text == text


def test_copies_tell_the_width_of_their_accesses() -> None:
    rows = [triad_rows()[0], triad_rows()[2]]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    assert report.arithmetic.text == "no vector arithmetic, 256-bit memory accesses"
    assert report.arithmetic.packed_share is None


def test_accesses_of_unknown_size_leave_the_intensity_open() -> None:
    rows = [Row("fxsave (%rdi)", "m", [], [], accesses=(memory("rdi", size=0, store=True),), arithmetic=FMA)]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    assert report.memory.unsized_accesses == 1
    assert report.arithmetic.flop_per_byte is None


def test_gathers_count_their_elements() -> None:
    gather = replace(memory("rdi", "rax", load=True), elements=4)
    rows = [Row("vgatherdpd (%rdi,%xmm1), %ymm0", "rm", [], [], accesses=(gather,))]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    assert report.memory.bytes_loaded == 32
    assert report.memory.widest_access_bits == 0


# --- bounds and verdict -----------------------------------------------------------------------------------------------


def test_bounds_are_exact() -> None:
    rows = [COUNTER]
    parts = make_kernel(rows), make_bound(rows, []), make_analysis(rows, busiest="5", port=Fraction(31, 3), front_end=9)
    report = build(parts)
    assert report.bounds.port.exact == "31/3"
    assert report.bounds.prediction == t.Prediction(cycles=31 / 3, exact="31/3", by="bounds", limited_by=["port"])
    # 100 iterations of 31/3 cycles are 1033.3…: rounded up, and exactly so
    assert report.summary.cycles == 1034
    assert summary(make_result(*parts), 3).cycles == 31


def test_a_front_end_bound() -> None:
    report = build(triad_parts())
    assert report.bounds.prediction.limited_by == ["front_end"]
    assert report.verdict == (
        "bound by the front end (7 µops at 4 per cycle): 1.75 cycles; close behind: ports 2 and 3 at 1.5 cycles"
    )


def test_a_chain_of_one_instruction() -> None:
    assert build(sum_parts()).verdict == (
        "bound by the loop-carried chain through xmm0 (line 40): 4 cycles; next limit: port 6 at 1 cycle"
    )


def test_a_chain_through_the_registers_as_written() -> None:
    """The hardware renames zmm0; the text says ymm0, and so does the report."""
    rows = triad_rows()
    analysis = make_analysis(rows, port=1, chains=(chain((0, 1, 0, 4, 0), (1, 0, 0, 12, 1)),))
    report = build((make_kernel(rows), make_bound(rows, ["zmm0"]), analysis))
    assert report.verdict == (
        "bound by the loop-carried chain through ymm0 (lines 12, 13): 16 cycles; next limit: the ports at 1 cycle"
    )


def test_a_chain_over_two_iterations() -> None:
    rows = [
        Row("movq %rax, %rbx", "rr", [(0, "rbx", "w"), (1, "rax", "r")], [("0156", b.UOP_COMPUTE)]),
        Row("imulq %rcx, %rax", "rr", [(0, "rax", "rw"), (1, "rcx", "r")], [("1", b.UOP_COMPUTE)]),
    ]
    analysis = make_analysis(rows, port=1, busiest="1", chains=(chain((0, 1, 1, 2, 1), (1, 0, 0, 3, 1)),))
    report = build((make_kernel(rows), make_bound(rows, ["rax", "rbx"]), analysis))
    assert "2.5 cycles (5 over 2 iterations)" in report.verdict
    assert report.chains[0].cycles_per_iteration == t.Ratio(2.5, "5/2")
    assert report.chains[0].through == ["rbx", "rax"]
    assert report.chains[0].iterations == 2


def test_long_chains_give_the_range_of_their_lines() -> None:
    rows = [COUNTER] * 9
    steps = [(i, i + 1, 0, 1, 0) for i in range(8)]
    analysis = make_analysis(rows, chains=(chain(*steps, (8, 0, 0, 1, 1)),))
    report = build((make_kernel(rows, first_line=100), make_bound(rows, ["rax"]), analysis))
    assert "(lines 100–108): 9 cycles" in report.verdict


def test_long_chains_with_other_instructions_between() -> None:
    rows = [COUNTER] * 18
    steps = [(i, i + 2, 0, 1, 0) for i in range(0, 16, 2)]
    analysis = make_analysis(rows, chains=(chain(*steps, (16, 0, 0, 1, 1)),))
    report = build((make_kernel(rows, first_line=100), make_bound(rows, ["rax"]), analysis))
    assert "(9 of lines 100–116): 9 cycles" in report.verdict


def test_machine_code_without_lines_is_numbered() -> None:
    rows = sum_rows()
    kernel = make_kernel(rows, with_lines=False)
    report = build((kernel, *sum_parts()[1:]))
    assert "(instruction 0)" in report.verdict
    assert report.kind == "code"
    assert report.source is None


def test_a_port_bound_names_the_work_that_is_confined_to_the_ports() -> None:
    rows = triad_rows()
    analysis = make_analysis(rows, busiest="23", port=12, front_end=Fraction(13, 2))
    report = build((make_kernel(rows), make_bound(rows, ["zmm0"]), analysis))
    assert report.verdict == (
        "bound by loads and store addresses on ports 2 and 3 (lines 12, 13, 14): 12 cycles; "
        "next limit: the front end at 6.5 cycles"
    )
    assert [r.name for r in report.resources if r.busiest] == ["2", "3"]


def test_arithmetic_on_the_busiest_ports_is_told_apart() -> None:
    rows = triad_rows()
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, busiest="01", port=2)))
    assert report.bounds.port.by == "ports 0 and 1: FMAs"


def test_a_divider_bound() -> None:
    rows = [
        Row(
            "vdivsd %xmm1, %xmm2, %xmm3",
            "rrr",
            [(0, "xmm3", "w"), (1, "xmm2", "r"), (2, "xmm1", "r")],
            [("0", b.UOP_COMPUTE), ("D", b.UOP_COMPUTE, 4)],
            pressure={"0": 1, "0DV": 4},
            arithmetic=Arithmetic(packed=False, floating=True, element=64, width=64, operations=1),
        )
    ]
    parts = make_kernel(rows), make_bound(rows, ["zmm1"]), make_analysis(rows, busiest="0", port=1, divider=4)
    forms = tuple(form and replace(form, divider=4) for form in make_forms(rows))
    report = build(parts, forms=forms)
    assert report.verdict == "bound by the divider of port 0 (line 12): 4 cycles; next limit: port 0 at 1 cycle"
    assert report.instructions[0].ports == "1*p0+4*0DV"
    assert report.instructions[0].rthroughput == t.Ratio(4.0, "4")
    assert rules(report) == ["invariant-divisor", "scalar-arithmetic"]


def test_a_divisor_that_changes_is_no_invariant() -> None:
    rows = [
        Row("vdivsd %xmm1, %xmm2, %xmm1", "rrr", [(0, "xmm1", "w"), (1, "xmm2", "r"), (2, "xmm1", "r")], []),
    ]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, divider=4)))
    assert "invariant-divisor" not in rules(report)


def test_ties_are_named() -> None:
    rows = triad_rows()
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, busiest="23", port=2, front_end=2)))
    assert report.bounds.prediction.limited_by == ["port", "front_end"]
    assert report.verdict == (
        "bound equally by loads and store addresses on ports 2 and 3 (lines 12, 13, 14) and by the front end "
        "(7 µops at 4 per cycle): 2 cycles each"
    )


def test_one_cycle_is_singular() -> None:
    rows = [COUNTER]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    assert report.verdict == "bound by the front end (1 µop at 4 per cycle): 1 cycle"


def test_nothing_known_nothing_said() -> None:
    empty = build((make_kernel([]), make_bound([], []), make_analysis([])))
    assert empty.verdict == "nothing to analyse: no instruction could be decoded"
    assert empty.summary.ipc == 0
    rows = [Row("vfoo", "", [], [], slots=0, flags=b.UNKNOWN)]
    unknown = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows)))
    assert unknown.verdict == "no prediction: the model lacks all of the instructions"


def test_fixed_ports_change_pressure_bound_and_busiest_ports() -> None:
    report = build(sum_parts(), fixed_ports=True)
    assert report.port_assignment == "equal"
    assert report.instructions[1].pressure == [0.25, 0.25, 0, 0, 0, 0.25, 0.25, 0, 0]
    assert report.bounds.port.exact == "5/4"
    assert [r.name for r in report.resources if r.busiest] == ["6"]


# --- instructions -----------------------------------------------------------------------------------------------------


def test_instructions() -> None:
    kernel, bound, analysis = triad_parts()
    forms = make_forms(triad_rows())
    report = build((kernel, bound, analysis), forms=forms)
    load, fma, store, _, _, jump = report.instructions
    assert (load.ports, load.rthroughput.exact, load.loads, load.stores) == ("1*p23", "1/2", True, False)
    assert (fma.ports, fma.issue_slots, fma.load_latency) == ("1*p23+1*p01", 2, 7)
    assert (store.remarks, store.figures.derived) == ("D", "from the register form")
    assert (jump.remarks, jump.ports, jump.rthroughput.exact) == ("F", "", "0")


def test_columns_of_paths_add_up_to_the_paths() -> None:
    report = build(triad_parts())
    path = [i.critical_path_cycles for i in report.instructions]
    assert path == [7, 4, 0, None, None, None]
    assert sum(cycles or 0 for cycles in path) == report.critical_path.cycles
    assert [i.chain_cycles for i in report.instructions] == [None, None, None, 1, None, None]


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.integers(1, 9), st.integers(0, 3)), min_size=1),
    st.integers(0, 20),
)
def test_columns_add_up_for_any_path(edges: list[tuple[int, int, int, int]], start: int) -> None:
    """The chain's column sums up to its latency, the critical path's to its length, whatever the steps."""
    rows = [COUNTER] * 8
    cycle = chain(*((p, c, 0, latency, distance) for p, c, latency, distance in edges), (0, 0, 0, 1, 1))
    path = tuple(step(p, c, 0, latency) for p, c, latency, _ in edges)
    cycles = start + sum(s.latency for s in path)
    touched = tuple(dict.fromkeys(i for s in path for i in (s.producer, s.consumer)))
    analysis = make_analysis(rows, chains=(cycle,), path=path, path_cycles=cycles, path_instructions=touched)
    report = build((make_kernel(rows), make_bound(rows, ["rax"]), analysis))
    assert sum(i.chain_cycles or 0 for i in report.instructions) == cycle.latency
    assert sum(i.critical_path_cycles or 0 for i in report.instructions) == cycles


@given(st.lists(st.tuples(st.integers(1, 255), st.integers(1, 3)), max_size=5))
def test_own_throughput_is_the_least_load_of_the_busiest_port(uops: list[tuple[int, int]]) -> None:
    """Against Hall's condition over all sets of ports, not only unions."""
    rows = [
        Row(
            "op",
            "",
            [],
            [("".join(str(p) for p in range(8) if m >> p & 1), b.UOP_COMPUTE, cycles) for m, cycles in uops],
        )
    ]
    report = build((make_kernel(rows), make_bound(rows, []), make_analysis(rows, front_end=1)))
    expected = max(
        (Fraction(sum(c for m, c in uops if not m & ~chosen), chosen.bit_count()) for chosen in range(1, 256)),
        default=Fraction(0),
    )
    assert Fraction(report.instructions[0].rthroughput.exact) == expected


# --- hints ------------------------------------------------------------------------------------------------------------


def test_unknown_instructions_are_named_and_not_counted() -> None:
    report = build(unknown_parts())
    assert rules(report)[:2] == ["unknown-instructions", "refused-statements"]
    assert (
        report.hints[0].text
        == "the skylake-avx512 model lacks 1 instruction (line 40), so the totals are lower bounds."
    )
    assert report.unknown_instructions[0].text == "vfoo %xmm1, %xmm2"
    assert report.summary.instructions == 400
    assert report.size.instructions == 5


def test_a_scalar_sum_gets_advice() -> None:
    report = build(sum_parts())
    # that it is not vectorised is no news beside why
    assert rules(report) == ["sum-chain"]
    assert report.hints[0].evidence == {"instructions": [0], "latency": 4, "chains": 1, "packed": False}
    # nobody knows the compiler: what gcc and clang both take
    assert report.hints[0].flags == ["-fassociative-math", "-fno-signed-zeros", "-fno-trapping-math"]
    assert "independent accumulators" in report.hints[0].source_change


def sum_with(text: str, registers: list[tuple[int | None, str, str]], extra: tuple[Any, ...] = ()) -> t.KernelReport:
    """The report on a one-instruction chain through xmm0, limiting the loop, with more edges."""
    arithmetic = Arithmetic(packed=False, floating=True, element=64, width=64, operations=1)
    rows = [Row(text, "r" * len(registers), registers, [("01", b.UOP_COMPUTE)], arithmetic=arithmetic), COUNTER]
    steps = (0, 0, 0, 4, 1)
    analysis = make_analysis(rows, port=1, chains=(chain(steps),), edges=(edge(*steps), *extra))
    return build((make_kernel(rows), make_bound(rows, ["zmm0", "rax"]), analysis))


@pytest.mark.parametrize(
    ("text", "registers", "is_sum"),
    [
        ("addsd %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r")], True),
        ("vaddsd %xmm1, %xmm0, %xmm0", [(0, "xmm0", "w"), (1, "xmm0", "r"), (2, "xmm1", "r")], True),
        ("vaddsd %xmm0, %xmm1, %xmm0", [(0, "xmm0", "w"), (1, "xmm1", "r"), (2, "xmm0", "r")], True),
        # x + x doubles, it does not add up
        ("vaddsd %xmm0, %xmm0, %xmm0", [(0, "xmm0", "w"), (1, "xmm0", "r"), (2, "xmm0", "r")], False),
        ("addsd %xmm0, %xmm0", [(0, "xmm0", "rw"), (1, "xmm0", "r")], False),
        ("subsd %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r")], True),
        # a - x turns the sign of what is carried
        ("vsubsd %xmm0, %xmm1, %xmm0", [(0, "xmm0", "w"), (1, "xmm1", "r"), (2, "xmm0", "r")], False),
        ("vfmadd231sd %xmm2, %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r"), (2, "xmm2", "r")], True),
        ("vfnmadd231sd %xmm2, %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r"), (2, "xmm2", "r")], True),
        # x * b + c is a recurrence: no reordering helps
        ("vfmadd213sd %xmm2, %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r"), (2, "xmm2", "r")], False),
        ("vfmadd132sd %xmm2, %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r"), (2, "xmm2", "r")], False),
        ("vfmsub231sd %xmm2, %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r"), (2, "xmm2", "r")], False),
        ("mulsd %xmm1, %xmm0", [(0, "xmm0", "rw"), (1, "xmm1", "r")], False),
    ],
)
def test_what_is_a_sum(text: str, registers: list[tuple[int | None, str, str]], is_sum: bool) -> None:
    assert ("sum-chain" in rules(sum_with(text, registers))) == is_sum


def test_several_accumulators_are_counted() -> None:
    rows = [
        Row(f"addsd (%rdi), %xmm{r}", "rm", [(0, f"xmm{r}", "rw")], [("01", b.UOP_COMPUTE)], arithmetic=FMA)
        for r in (0, 1)
    ]
    chains = chain((0, 0, 0, 4, 1)), chain((1, 1, 1, 4, 1))
    parts = make_kernel(rows), make_bound(rows, ["zmm0", "zmm1"]), make_analysis(rows, port=1, chains=chains)
    report = build(parts)
    assert "through xmm0 (line 12; 1 other is as long): 4 cycles" in report.verdict
    assert "2 reduction chains" in report.hints[0].text
    # with another chain as long that is no sum, accumulators would not help
    other = [rows[0], Row("mulsd (%rdi), %xmm1", "rm", [(0, "xmm1", "rw")], [("01", b.UOP_COMPUTE)])]
    report = build((make_kernel(other), make_bound(other, ["zmm0", "zmm1"]), parts[2]))
    assert "sum-chain" not in rules(report)


def test_a_running_sum_that_is_used_is_no_reduction() -> None:
    registers: list[tuple[int | None, str, str]] = [(0, "xmm0", "rw"), (1, "xmm1", "r")]
    assert "sum-chain" not in rules(sum_with("addsd %xmm1, %xmm0", registers, (edge(0, 1, 0, 0),)))


def test_a_sum_that_does_not_limit_gets_no_advice() -> None:
    kernel, bound, analysis = sum_parts()
    report = build((kernel, bound, replace(analysis, front_end_bound=Fraction(5))))
    assert "sum-chain" not in rules(report)


def test_a_chain_through_memory() -> None:
    rows = [
        Row("movsd (%rdi), %xmm0", "rm", [(0, "xmm0", "w")], [("23", b.UOP_LOAD)]),
        Row("movsd %xmm0, 8(%rdi)", "mr", [(1, "xmm0", "r")], [("237", b.UOP_STORE_ADDRESS), ("4", b.UOP_STORE_DATA)]),
    ]
    analysis = make_analysis(rows, port=1, busiest="4", chains=(chain((0, 1, 0, 6, 0), (1, 0, -1, 5, 1)),))
    report = build((make_kernel(rows), make_bound(rows, ["zmm0"]), analysis))
    assert "through memory (lines 12, 13): 11 cycles" in report.verdict
    assert report.hints[0].rule == "memory-chain"
    assert "line 13 stores a value that line 12 loads in the next iteration" in report.hints[0].text
    assert report.hints[0].evidence == {"stores": [1], "loads": [0], "latency": 5, "chain_latency": 11}
    assert [s.kind for s in report.chains[0].steps] == ["register", "memory"]


def test_indexed_store_addresses_compete_with_loads() -> None:
    rows = triad_rows()
    analysis = make_analysis(rows, busiest="23", port=Fraction(3, 2), front_end=1)
    report = build((make_kernel(rows), make_bound(rows, []), analysis))
    assert rules(report) == ["indexed-store-address"]
    assert report.hints[0].evidence == {
        "stores": [2],
        "loads": [0, 1],
        "ports": ["2", "3"],
        "simple_ports": ["7"],
        "port_bound": 1.0,
    }
    # the front end limits as well: nothing to gain
    tied = replace(analysis, front_end_bound=Fraction(3, 2))
    assert rules(build((make_kernel(rows), make_bound(rows, []), tied))) == []
    # store data are the limit too: simple addresses do not help
    busy = [*rows, *[rows[2]] * 3]
    assert rules(build((make_kernel(busy), make_bound(busy, []), make_analysis(busy, busiest="234", port=4)))) == []
    # no such port, no such advice
    model = make_model()
    model.functions["store_address"] = "2,3"
    kernel, bound = make_kernel(rows), make_bound(rows, [])
    assert rules(build((kernel, bound, analysis), model=model)) == []


@pytest.mark.parametrize("name", ["remainder", "prologue", "fallback", "outer"])
def test_nothing_is_advised_for_loops_that_the_compiler_added(name: RoleName) -> None:
    assert rules(build(sum_parts())) == ["sum-chain"]
    report = build(sum_parts(), part=LoopPart(Role(name=name, of=0), None))
    assert rules(report) == []
    kernel, _, _ = triad_parts()
    set_role(report, Role(name=name, of=0), "triad#1", kernel)
    assert report.role.of == "triad#1"
    assert kernel.region is not None
    assert f"lines {kernel.region.first_line}-{kernel.region.last_line}" in report.role.text


def test_what_is_missing_is_said_of_every_loop() -> None:
    kernel, bound, analysis = sum_parts()
    incomplete = replace(kernel, refused=(Refused(9, "vfoo", "no such instruction"),)), bound, analysis
    report = build(incomplete, part=LoopPart(Role(name="remainder", of=0), None))
    assert rules(report) == ["refused-statements"]


def test_not_vectorised_is_not_said_beside_a_vectorised_loop() -> None:
    def hints_beside(vectorised: t.KernelReport, **changes: Any) -> list[str]:
        told = hint("scalar-arithmetic", "the loop is not vectorised.", {"instructions": [0]})
        scalar = replace(build(sum_parts()), **{"hints": [told], "function": "triad", **changes})
        withhold_not_vectorised([vectorised, scalar])
        return rules(scalar)

    vectorised = build(triad_parts())
    assert hints_beside(vectorised) == []
    # another line of the same function, or another function: simply not vectorised
    assert hints_beside(vectorised, source=t.SourceLocation("triad.c", 9)) == ["scalar-arithmetic"]
    assert hints_beside(vectorised, function="sum") == ["scalar-arithmetic"]
    # nobody knows
    assert hints_beside(vectorised, source=None) == []


def test_what_is_advised_for_main_loops() -> None:
    report = build(sum_parts(), part=LoopPart(Role(name="main"), None))
    set_role(report, Role(name="main"))
    assert rules(report) == ["sum-chain"]
    assert report.role == t.RoleReport(name="main", of="", instead=False, basis="inferred", text="main loop")


def test_straight_code_is_not_called_a_loop() -> None:
    kernel, bound, analysis = sum_parts()
    report = build((replace(kernel, is_loop=False), bound, analysis))
    assert "scalar-arithmetic" not in rules(report)


# --- dependencies and timeline ----------------------------------------------------------------------------------------


def test_dependencies() -> None:
    dependencies = build(triad_parts()).dependencies
    pairs = [(d.producer, d.to, d.via, d.distance) for d in dependencies]
    assert pairs == sorted(pairs, key=lambda p: (p[0], p[1], p[3]))
    assert (1, 1, "", 0) not in pairs  # from its own load to its result
    first = dependencies[0]
    assert first.critical_path
    assert first.chains == []
    counter = next(d for d in dependencies if d.producer == d.to == 3)
    assert counter.chains == [0]
    assert dependencies[-1].kind == "flag"


def test_the_slowest_of_parallel_dependencies_counts() -> None:
    rows = [COUNTER] * 2
    edges = (edge(0, 1, 0, 1), edge(0, 1, 0, 5), edge(0, 1, 0, 3))
    report = build((make_kernel(rows), make_bound(rows, ["rax"]), make_analysis(rows, front_end=1, edges=edges)))
    assert [d.latency for d in report.dependencies] == [5]


def test_high_byte_registers_keep_their_name() -> None:
    rows = [COUNTER] * 2
    edges = (edge(0, 1, 0, 1),)
    report = build((make_kernel(rows), make_bound(rows, ["rax.high"]), make_analysis(rows, edges=edges)))
    assert report.dependencies[0].via == "rax.high"


def test_timeline() -> None:
    timeline = build(triad_parts(), events=triad_events()).timeline
    assert (timeline.iterations, timeline.cycles) == (2, 17)
    assert timeline.events[0].ports == ["2"]
    assert timeline.events[1].ports == [None]
    assert timeline.waits[1] == t.Wait(executions=2, in_scheduler=8.0, in_scheduler_while_ready=0.0, until_retire=0.0)
    assert timeline.waits[3].until_retire == 10
    assert timeline.total_wait.executions == 12


def test_problems_have_file_and_line() -> None:
    report = make_report(unknown_parts())
    assert problems(report) == [
        "triad.s:47: error: no such instruction: `bogus %rax'",
        "triad.s:90: warning: not analysed: entered in the middle from line 85",
    ]


# --- wording ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [(16, "16"), (2.25, "2.25"), (6.5, "6.5"), (10 / 3, "3.33"), (0, "0"), (Fraction(1, 3), "0.33"), (100, "100")],
)
def test_numbers(number: float, text: str) -> None:
    assert wording.number(number) == text


def test_values_without_a_unit_have_a_decimal() -> None:
    assert [wording.value(v) for v in (2, 1.75, 100)] == ["2.0", "1.75", "100.0"]


def test_lists() -> None:
    assert [wording.listed(w) for w in ([], ["a"], ["a", "b"], ["a", "b", "c"])] == ["", "a", "a and b", "a, b and c"]
    assert wording.ports(["5"]) == "port 5"
    assert wording.ports(["2", "3"]) == "ports 2 and 3"


@pytest.mark.parametrize(
    ("message", "column"),
    [("'w1' is no base register", 10), ("too few operands", 1), ("'ldr w0, [w1]' is not an instruction", 1)],
)
def test_messages_on_an_operand_point_at_it(message: str, column: int) -> None:
    problem = Problem(file="x.s", line=1, kind="error", text=message, statement="ldr w0, [w1]")
    assert shown(problem, ["ldr w0, [w1]"]).startswith(f"x.s:1:{column}: error: {message}\n")
