"""Predictions for data beyond L1: how transfers combine with the core's time, and what reaches the user."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import incc
from incc.core import Stream
from incc.core.memory.levels import DataTimes, times
from incc.core.memory.traffic import traffic
from incc.models import memory
from incc.models.loading import list_models, load
from incc.models.memory import MemoryHierarchy, MemoryLevel

TRIAD = """
.L3:
	vmovupd	(%rdx,%rax), %ymm1
	vfmadd213pd	(%rsi,%rax), %ymm2, %ymm1
	vmovupd	%ymm1, (%rdi,%rax)
	addq	$32, %rax
	cmpq	%r8, %rax
	jne	.L3
"""


def loop(*body: str) -> str:
    """Return a loop of these instructions."""
    return "\n\t".join((".L3:", *body, "cmpq %r8, %rax", "jne .L3")) + "\n"


L1 = MemoryLevel(name="L1", size=1 << 15)


def hierarchy(**changes: object) -> MemoryHierarchy:
    """Return L1 and an L2 that takes 2 cycles per line read and 3 per line written."""
    level = MemoryLevel(**{"name": "L2", "read": 2.0, "write": 3.0} | changes)  # type: ignore[arg-type]
    return MemoryHierarchy(levels=(L1, level), source="test")


def streams(loads: int, stores: int, step: int = 64) -> list[Stream]:
    """Return streams of whole lines, each of its own array."""
    return [
        Stream(instruction=n, store=n >= loads, size=step, part=n, object=n, offset=0, step=step)
        for n in range(loads + stores)
    ]


def predicted(levels: MemoryHierarchy, loads: int, stores: int, loading: int = 4, cores: int = 1) -> DataTimes:
    moved = traffic(streams(loads, stores), 64)
    return times(levels, moved, Fraction(4), Fraction(1), Fraction(loading), cores)


@pytest.mark.parametrize(
    ("changes", "cycles"),
    [
        # Two lines read, one of them because a store misses, and one written: 4 and 3 cycles.
        ({"overlap": "none"}, 4 + 4 + 3),
        ({"overlap": "evictions"}, 4 + 4),
        ({"overlap": "evictions", "one_stream": 10.0}, 10 + 4),
        ({"overlap": "all"}, 4 + 3),
        ({"overlap": "none", "both_ways": True}, 4 + 4),
        ({"overlap": "all", "both_ways": True}, 4),
        ({"overlap": "all", "allocate": 9.0}, 2 + 9 + 3),
        ({"overlap": "all", "one_stream": 10.0}, 10),
        ({"overlap": "all", "one_store_stream": 12.0}, 12),
    ],
)
def test_transfers_combine_with_the_time_inside_as_the_level_says(changes: dict[str, object], cycles: int) -> None:
    assert predicted(hierarchy(**changes), 1, 1).levels[1].cycles == cycles


def test_cores_share_a_level_and_saturate_it() -> None:
    # Three lines per iteration: 7 cycles on one core, and at least 3 for each core.
    levels = hierarchy(all_cores=1.0)
    assert [predicted(levels, 1, 1, cores=n).levels[1].cycles for n in (1, 2, 3, 4)] == [7, 7, 9, 12]
    assert predicted(levels, 1, 1).levels[1].cores == 3


def test_lines_from_different_levels_take_turns() -> None:
    # Three rows of 8 KiB fit L2, not L1: of three loads per iteration, one comes from memory and two come from L2.
    levels = MemoryHierarchy(
        levels=(L1, MemoryLevel(name="L2", size=1 << 20, read=2.0, write=3.0), MemoryLevel(name="memory", read=7.0)),
        source="test",
    )
    rows = [Stream(instruction=n, store=False, size=64, part=0, object=0, offset=n << 14, step=64) for n in range(3)]
    level = times(levels, traffic(rows, 64), Fraction(1), Fraction(1), Fraction(1)).levels[2]
    assert level.cycles == level.transfer == 7 + 2 * 2


def test_non_temporal_stores_take_the_time_of_the_memory_at_every_level() -> None:
    outside = MemoryLevel(name="memory", read=2.0, write=3.0, non_temporal=10.0)
    cache = MemoryLevel(name="L2", size=1 << 20, read=1.0, write=1.0)
    levels = MemoryHierarchy(levels=(L1, cache, outside), source="test")
    moved = traffic(streams(1, 1), 64, non_temporal=[1])
    assert [level.cycles for level in times(levels, moved, Fraction(4), Fraction(1), Fraction(4)).levels] == [
        10,
        10,
        12,
    ]
    unknown = MemoryHierarchy(levels=(L1, cache, MemoryLevel(name="memory", read=2.0, write=3.0)), source="test")
    assert len(times(unknown, moved, Fraction(4), Fraction(1), Fraction(4)).levels) == 1


def test_rows_an_unknown_distance_apart_have_two_ends() -> None:
    rows = [Stream(instruction=n, store=False, size=64, part=n, object=0, offset=0, step=64) for n in range(3)]
    level = times(hierarchy(), traffic(rows, 64), Fraction(1), Fraction(1), Fraction(1)).levels[1]
    assert (level.least_cycles, level.cycles) == (2, 6)


@given(st.integers(0, 4), st.integers(0, 4), st.integers(1, 8))
def test_a_level_further_out_is_never_faster(loads: int, stores: int, cores: int) -> None:
    for name in ("haswell", "skylake-avx512", "znver3", "graniterapids"):
        levels = load(name).memory
        assert levels is not None
        result = times(levels, traffic(streams(loads, stores), 64), Fraction(4), Fraction(1), Fraction(3), cores)
        cycles = [level.cycles for level in result.levels]
        assert cycles == sorted(cycles)
        assert all(level.least_cycles <= level.cycles for level in result.levels)


def test_report_has_the_levels_and_the_ecm_notation() -> None:
    (kernel,) = incc.analyze(TRIAD, mcpu="skylake-avx512", data="all")
    assert list(kernel.levels) == ["L1", "L2", "L3", "memory"]
    data = kernel.to_dict()["data"]
    assert data["line_iterations"] == 2
    assert data["notation"].startswith("{3.0 ‖ 2.0 | ")
    assert [stream["kind"] for stream in data["streams"]] == ["load", "load", "store"]
    assert {level["name"]: level["requested"] for level in data["levels"]} == dict.fromkeys(kernel.levels, True)


@pytest.mark.parametrize(("step", "iterations"), [(8, 8), (64, 1), (96, 1), (4096, 1)])
def test_a_line_of_work_is_never_less_than_an_iteration_that_touches_one_line(step: int, iterations: int) -> None:
    text = loop("vaddsd (%rdi), %xmm0, %xmm0", f"addq ${step}, %rdi")
    (kernel,) = incc.analyze(text, mcpu="skylake-avx512", data="all")
    data = kernel.to_dict()["data"]
    assert data["streams"][0]["lines"] * data["line_iterations"] == 1
    assert data["line_iterations"] == iterations
    assert data["prediction"].startswith(f"{{{kernel.levels['L1'] * iterations:.1f} | ")


def test_data_are_in_the_smallest_level_that_holds_them() -> None:
    levels = load("skylake-avx512").memory
    assert levels is not None
    assert levels.holding([1 << 10]) == ["L1"]
    assert levels.holding([1 << 20, "memory"]) == ["L2", "memory"]
    assert levels.holding([(1 << 20) + 1]) == ["L3"]
    assert levels.holding([1 << 40]) == ["memory"]


def test_known_registers_tell_the_distance_of_rows() -> None:
    text = loop("vmovsd (%rdi,%rax), %xmm0", "vaddsd (%rsi,%rax), %xmm0, %xmm0", "addq $8, %rax")
    (apart,) = incc.analyze(text, mcpu="skylake-avx512", data="all")
    (near,) = incc.analyze(text, mcpu="skylake-avx512", data="all", let={"rdi": 8000, "rsi": 0})
    assert near.levels["memory"] < apart.levels["memory"]
    new, again = near.to_dict()["data"]["streams"]
    assert (new["reuse_bytes"], new["distance"], new["reaches"]) == (None, None, [])
    assert again["reuse_bytes"] == 16000  # both rows, as far as each has come since
    assert again["distance"] == {"bytes": 8000, "elements": 1000}
    assert again["reaches"][0] == {"level": "L1", "distance": {"bytes": 1 << 14, "elements": 1 << 11}}


def test_rows_an_unknown_distance_apart_are_surely_found_up_to_a_length() -> None:
    text = loop("vmovsd (%rdi,%rax,8), %xmm0", "vaddsd (%rdi,%rcx,8), %xmm0, %xmm0", "incq %rcx", "incq %rax")
    (kernel,) = incc.analyze(text, mcpu="skylake-avx512", data="all")
    first, second = kernel.to_dict()["data"]["streams"]
    assert (first["neighbour"], second["neighbour"]) == (False, True)
    assert second["reaches"][0] == {"level": "L1", "distance": {"bytes": 1 << 14, "elements": 1 << 11}}


@pytest.mark.parametrize("data", ["", "all"])
def test_values_of_registers_that_no_instruction_uses_are_noted(data: str) -> None:
    (kernel,) = incc.analyze(TRIAD, mcpu="skylake-avx512", data=data, let={"r15": 8000})
    assert "no instruction uses a 64-bit register r15, whose value was given" in kernel.notes


@pytest.mark.parametrize("register", ["xmm0", "XMM1", "ecx"])
def test_values_of_other_registers_are_refused_with_a_note(register: str) -> None:
    text = loop("vmovsd (%rdi,%rax,8), %xmm0", "vaddsd %xmm0, %xmm1, %xmm1", "incl %ecx", "incq %rax")
    (kernel,) = incc.analyze(text, mcpu="skylake-avx512", let={register: 8})
    (note,) = [note for note in kernel.notes if "value" in note]
    assert note.startswith(f"the value of {register.lower()} has no effect: values can be given for 64-bit integer")


def test_a_level_that_the_core_lacks_is_named() -> None:
    text = "\t.type f, %function\nf:\n.L1:\n\tldr d0, [x0], #8\n\tfadd d1, d1, d0\n\tcmp x0, x1\n\tb.ne .L1\n\tret\n"
    notes = {data: incc.analyze(text, mcpu="a64fx", data=data)[0].notes for data in ("L3", "L2", "memory", "all")}
    missing = {data: [note for note in found if "has no" in note] for data, found in notes.items()}
    assert missing == {"L3": [_NO_L3], "L2": [], "memory": [], "all": []}


_NO_L3 = "the core has no L3: the results for data in L3 are those for memory"


def test_a_gather_keeps_the_prediction_for_l1() -> None:
    text = loop("movslq (%rdi,%rax,4), %rcx", "vaddsd (%rsi,%rcx,8), %xmm0, %xmm0", "incq %rax")
    (kernel,) = incc.analyze(text, mcpu="skylake-avx512", data="all")
    assert list(kernel.levels) == ["L1"]
    assert kernel.to_dict()["data"]["unknown"] == [1]


@pytest.mark.parametrize(
    ("cpu", "body"),
    [
        ("skylake-avx512", ("vmovupd (%rdi,%rax), %ymm0", "prefetcht0 (%rsi,%rcx,8)")),
        ("skylake-avx512", ("prefetcht0 (%rsi,%rax)", "addq $64, %rax")),
        ("skylake-avx512", ("vmovupd (%rdi,%rax), %ymm0", "clflushopt (%rdi,%rax)", "addq $64, %rax")),
        ("skylake-avx512", ("vmovupd (%rdi,%rax), %ymm0", "call f", "addq $32, %rax")),
        ("skylake-avx512", ("rep movsb",)),
        ("skylake-avx512", ("vmovntpd %ymm0, (%rdi,%rax)", "addq $32, %rax")),  # costs unknown
        ("a64fx", ("ldr q0, [x1], #16", "prfm pldl1keep, [x4, x3]")),
        ("a64fx", ("dc zva, x0", "add x0, x0, #64")),
        ("a64fx", ("cpyfm [x0]!, [x1]!, x2!",)),
    ],
)
def test_instructions_that_move_unknown_lines_keep_the_prediction_for_l1(cpu: str, body: tuple[str, ...]) -> None:
    jump = ("cmp x0, x9", "b.ne .L3") if cpu == "a64fx" else ("cmpq %r8, %r9", "jne .L3")
    (kernel,) = incc.analyze("\n\t".join((".L3:", *body, *jump)) + "\n", mcpu=cpu, data="all")
    assert list(kernel.levels) == ["L1"]
    (number,) = kernel.to_dict()["data"]["unknown"]
    assert number < len(body)


def test_prefetches_of_a_loads_own_stream_change_nothing() -> None:
    text = loop("vmovupd (%rdi,%rax), %ymm0", "prefetcht0 512(%rdi,%rax)", "addq $32, %rax")
    (kernel,) = incc.analyze(text, mcpu="skylake-avx512", data="all")
    assert kernel.to_dict()["data"]["unknown"] == []


def test_a_core_without_a_hierarchy_says_so() -> None:
    (kernel,) = incc.analyze(TRIAD, mcpu="ivybridge", data="all")
    assert kernel.levels == {}
    assert any("describes no caches" in note for note in kernel.notes)


@pytest.mark.parametrize(
    ("data", "noted"), [("memory", True), ("1G", True), ("L3", False), ("4M", False), ("all", False)]
)
def test_a_core_without_costs_of_memory_says_so(data: str, noted: bool) -> None:
    (kernel,) = incc.analyze(TRIAD, mcpu="skylake", data=data)
    assert any("describes no memory" in note for note in kernel.notes) == noted


@pytest.mark.parametrize("value", ["", "L4", "12x", "L2,,L3"])
def test_levels_that_do_not_exist_are_refused(value: str) -> None:
    if value:
        with pytest.raises(ValueError, match="L1, L2, L3, memory, all or sizes"):
            incc.analyze(TRIAD, mcpu="skylake-avx512", data=value)
    else:
        (kernel,) = incc.analyze(TRIAD, mcpu="skylake-avx512", data=value)
        assert kernel.levels == {}


def test_every_hierarchy_names_its_source_and_configuration() -> None:
    described = [model for entry in list_models() if (model := load(entry.name)).memory is not None]
    assert len(described) >= 10
    for model in described:
        assert model.memory is not None
        assert model.memory.configuration
        assert model.memory.source in model.sources


GOOD = {
    "source": "s",
    "levels": [{"name": "L1", "size": 32768}, {"name": "L2", "size": 1 << 20, "read": 1.0, "write": 2.0}],
}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": [{"name": "L2", "size": 1, "read": 1.0, "write": 1.0}]}, "beginning with L1"),
        ({"levels": [GOOD["levels"][0], {"name": "L2", "size": 1, "read": 1.0}]}, "L2: no 'write'"),  # type: ignore[index]
        (
            {
                "levels": [
                    {"name": "L1", "size": 1},
                    {"name": "L2", "size": 2},
                    {"name": "memory", "read": 1, "write": 1},
                ]
            },
            "L2: no 'read'",
        ),
        ({"levels": [{"name": "L1"}]}, "L1: no 'size'"),
        ({"levels": [{"name": "L1", "size": -1}]}, "levels[0].size"),
        ({"levels": [{"name": "L1", "size": 1, "speed": 2}]}, "speed"),
        ({"source": "t"}, "unknown source 't'"),
        ({"line": 0}, "line"),
    ],
)
def test_mistakes_in_a_hierarchy_are_named(changes: dict[str, object], message: str) -> None:
    assert memory.read(GOOD, {"s": "a source"})[1] == []
    found, wrong = memory.read(GOOD | changes, {"s": "a source"})
    assert found is None
    assert message in wrong[0]


def test_rows_in_the_same_sets_have_two_ends_and_a_sentence() -> None:
    rows = [f"vmovsd {4096 * n}(%rdi,%rax), %xmm{n}" for n in range(13)]
    (kernel,) = incc.analyze(loop(*rows, "addq $8, %rax"), mcpu="znver5", data="all")
    data = kernel.to_dict()["data"]
    (sentence,) = data["thrashing"]
    assert "11.5 lines per iteration do not stay in L1" in sentence
    assert "the 13 streams of lines 2–14 fall into the same sets of 12 lines" in sentence
    _, l2, l3, _ = data["levels"]
    assert l2["least_cycles"] == 6.5
    assert l2["cycles"] == pytest.approx(11.5 * 1.36)
    # The lines that leave L1 stay in L2.
    assert l3["lines"]["read"] == 1 / 8


def test_a_step_that_uses_few_sets_has_a_sentence() -> None:
    def sentences(step: int) -> list[str]:
        text = loop("vmovsd (%rdi,%rax), %xmm0", f"addq ${step}, %rax")
        (kernel,) = incc.analyze(text, mcpu="znver5", data="all")
        return list(kernel.to_dict()["data"]["thrashing"])

    assert "L1 holds only 12 lines" in sentences(4096)[0]
    assert "uses 2 of its 64 sets" in sentences(2048)[0]
    assert sentences(4096 + 64) == sentences(128) == []


@pytest.mark.parametrize("cpu", ["neoverse-n1", "neoverse-v1", "neoverse-v2", "thunderx2t99"])
def test_a_core_whose_costs_are_unknown_has_streams_and_no_cycles(cpu: str) -> None:
    code = ".L1:\nldr q0, [x0], 16\nldr q1, [x0, 4096]\nadd v0.4s, v0.4s, v1.4s\nsubs x1, x1, 1\nb.ne .L1\n"
    (kernel,) = incc.analyze(code, mcpu=cpu, data="all")
    data = kernel.to_dict()["data"]
    assert [level["name"] for level in data["levels"]] == ["L1"]
    assert [stream["level"] for stream in data["streams"]] == ["", "L1"]
    assert [reach["level"] for reach in data["streams"][1]["reaches"]] == ["L1", "L2", "L3"]
    assert any("no costs of lines beyond L1: the prediction is for data in L1" in note for note in kernel.notes)
    assert kernel.cycles == pytest.approx(data["levels"][0]["cycles"], abs=1e-6)
