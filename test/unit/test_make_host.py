"""`incc-model make host`: a simulated core stands in for the machine, and its parameters must be found again."""

from __future__ import annotations

import errno
import json
import os
import random
import signal
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from incc.driver.commands import make_host
from incc.driver.commands.model import main
from incc.measuring.assemble import assemble, loop
from incc.measuring.forms.bench import CoreBench as FormBench
from incc.measuring.forms.target import features_of, target
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement, Unavailable
from incc.measuring.host import forms as host_forms
from incc.measuring.host import model as host
from incc.measuring.host.choice import contradicted
from incc.measuring.pipeline import comparison as pipeline
from incc.measuring.pipeline import front_end as probe_front
from incc.measuring.pipeline import memory as probe_memory
from incc.measuring.pipeline import window as probe_window
from incc.measuring.pipeline.comparison import ComparedFinding, changed_fusion, changed_parameters, compare
from incc.measuring.pipeline.probing import Finding, Measure, ProbeBench, ProbeFailure, flag, note, number, unknown
from incc.measuring.simulated import Simulated
from incc.models.check import check
from incc.models.loading import load, search_places
from incc.models.model import MachineModel


def found(
    machine: MachineModel, model: MachineModel, *probes: pipeline.Probe, quick: bool = True
) -> dict[str, ComparedFinding]:
    """What probes of a simulated machine say beside a model, by name."""
    bench = ProbeBench(Simulated(machine).measure, quick=quick)
    findings = [f for _, some in pipeline.probe(bench, probes or pipeline.PROBES) for f in some]
    return {c.finding.name: c for c in compare(findings, model)}


def run_on(relative: MachineModel, folder: str, loops: Sequence[host.Case]) -> make_host._Run:
    return make_host._begin(make_host.MakeHostOptions(output=""), relative, folder, loops)


# --- the probes find the parameters of a simulated core ---------------------------------------------------------------


@pytest.mark.long
@pytest.mark.parametrize("name", ["skylake", "sapphirerapids", "znver4", "haswell"])
def test_nothing_differs_from_the_model_that_is_the_machine(name: str) -> None:
    model = load(name)
    compared = found(model, model)
    assert {n: (c.finding, c.known) for n, c in compared.items() if c.verdict in ("differs", "unsure")} == {}
    told = {n for n, c in compared.items() if c.verdict == "agrees"}
    assert {
        "issue_width",
        "rob",
        "store_buffer",
        "load_latency.gpr",
        "store_forward.gpr",
        "fast_pointer_chasing",
    } <= told
    assert {n for n in told if n.startswith("macro_fusion.")}


@pytest.mark.parametrize(
    ("parameter", "value"),
    [
        ("rob", 120),
        ("rob", 384),
        ("rs", 60),
        ("rs", 128),
        ("load_buffer", 48),
        ("load_buffer", 128),
        ("store_buffer", 32),
    ],
)
def test_windows_of_a_made_core_are_found(parameter: str, value: int) -> None:
    relative = load("skylake")
    machine = relative.with_parameters({"rob": 320, "rs": 97, "load_buffer": 160, "store_buffer": 90})
    machine = machine.with_parameters({parameter: value})
    one = found(machine, relative, probe_window.__dict__[_WINDOWS[parameter]])[parameter]
    assert one.verdict == "differs"
    assert one.finding.agrees(value), one.finding
    assert not one.finding.agrees(1.3 * value)
    assert not one.finding.agrees(0.7 * value)


_WINDOWS = {"rob": "reorder_buffer", "rs": "scheduler", "load_buffer": "load_buffer", "store_buffer": "store_buffer"}


@pytest.mark.parametrize("width", [3, 4, 5, 6, 8])
def test_the_issue_width_is_found(width: int) -> None:
    machine = load("sapphirerapids").with_parameters({"issue_width": width, "retire_width": 8})
    assert found(machine, machine, probe_front.issue_width)["issue_width"].finding.value == width


@pytest.mark.parametrize(
    ("parameter", "value", "probe"),
    [
        ("fast_pointer_chasing", True, probe_memory.load_latency),
        ("load_latency", {"gpr": 4, "xmm": 6, "ymm": 7, "zmm": 7}, probe_memory.load_latency),
        ("store_forward", {"gpr": 6, "xmm": 9, "ymm": 10, "zmm": 12}, probe_memory.forwarding),
        ("store_commit_bytes", 32, probe_memory.store_commit),
        ("blocked_forward_cycles", 18, probe_memory.blocked_forwarding),
    ],
)
def test_memory_of_a_made_core_is_found(parameter: str, value: Any, probe: pipeline.Probe) -> None:
    machine = load("sapphirerapids").with_parameters({parameter: value})
    for name, one in found(machine, machine, probe).items():
        assert one.verdict not in ("differs", "unsure"), (name, one)
    compared = list(found(machine, load("sapphirerapids"), probe).values())
    changes = changed_parameters(compared, load("sapphirerapids"))
    assert parameter in changes
    if isinstance(value, dict):
        told = [c for c in compared if c.finding.name.startswith(f"{parameter}.") and c.verdict == "differs"]
        assert told
        assert all(changes[parameter][c.finding.name.partition(".")[2]] == c.finding.value for c in told)
    else:
        one = next(c for c in compared if c.finding.name == parameter)
        assert one.finding.agrees(value)


def test_memory_renaming_is_found_or_its_absence() -> None:
    assert found(load("znver4"), load("znver4"), probe_memory.forwarding)["memory_renaming"].finding.value is True
    assert found(load("skylake"), load("znver4"), probe_memory.forwarding)["memory_renaming"].verdict == "differs"


def test_fusion_of_another_core_is_found() -> None:
    compared = found(load("znver4"), load("skylake"), probe_front.fusion, quick=False)
    # Zen fuses `or` and `xor`, of which Skylake's model says nothing, and all jumps with what subtracts.
    assert compared["macro_fusion.cmp.jo"].verdict == "differs"
    assert compared["macro_fusion.or.je"].verdict == "differs"
    assert compared["macro_fusion.cmp.je"].verdict == "agrees"
    changes, strange = changed_fusion(list(compared.values()), load("skylake"))
    assert set(changes["add_cmp_sub"]) == set(load("znver4").macro_fusion["add_and_cmp_or_sub_test_xor"])
    assert "or fuses with je" in strange


def test_what_a_simulation_cannot_show_is_not_measured() -> None:
    one = found(load("skylake"), load("skylake"), probe_front.misprediction)["mispredict_penalty"]
    assert (one.finding.value, one.verdict) == (None, "unknown")


# --- noise ------------------------------------------------------------------------------------------------------------


class Noisy:
    """A machine on which some loops take longer now and then, as beside a core's other thread, and no time is exact."""

    def __init__(self, model: MachineModel, seed: int) -> None:
        self.machine = Simulated(model)
        self.random = random.Random(seed)

    def measure(self, one: MachineLoop) -> Measurement | LoopFailure:
        figure = self.machine.measure(one)
        if isinstance(figure, Measurement):
            busy = 1.6 if self.random.random() < 0.15 else 1.0
            cycles = figure.cycles * busy * (1 + 0.004 * self.random.random())
            figure = replace(figure, cycles=cycles, spread=0.004 * cycles)
        return figure


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_same_is_found_on_a_busy_machine(seed: int) -> None:
    model = load("skylake")
    bench = ProbeBench(Noisy(model, seed).measure)
    probes = (*probe_window.PROBES, probe_front.issue_width, probe_memory.load_latency, probe_memory.forwarding)
    compared = compare([f for _, some in pipeline.probe(bench, probes) for f in some], model)
    assert [c for c in compared if c.verdict == "differs"] == []
    assert {"rob", "load_buffer", "store_buffer"} <= {c.finding.name for c in compared if c.verdict == "agrees"}


def test_what_differs_is_taken_if_it_differs_in_a_second_pass() -> None:
    machine, relative = load("skylake").with_parameters({"rob": 120}), load("skylake")
    probes = (probe_window.reorder_buffer, probe_front.issue_width)

    def first() -> list[ComparedFinding]:
        bench = ProbeBench(Simulated(machine).measure, quick=True)
        return [c for name, some in pipeline.probe(bench, probes) for c in compare(some, relative, name)]

    asked = 0

    def counted(one: MachineModel) -> Measure:
        def measure(each: MachineLoop) -> Measurement | LoopFailure:
            nonlocal asked
            asked += 1
            return Simulated(one).measure(each)

        return measure

    compared = first()
    assert [c.finding.name for c in compared if c.verdict == "differs"] == ["rob"]
    assert pipeline.confirmed(ProbeBench(counted(machine), quick=True), compared, relative) == compared
    assert asked
    asked = 0
    other = pipeline.confirmed(ProbeBench(counted(relative), quick=True), compared, relative)
    assert [c.verdict for c in other if c.finding.name == "rob"] == ["unsure"]
    assert changed_parameters(other, relative) == {}
    # Where nothing differs, nothing is measured.
    asked = 0
    assert pipeline.confirmed(ProbeBench(counted(relative), quick=True), other, relative) == other
    assert asked == 0


def test_figures_that_do_not_repeat_are_no_findings() -> None:
    state = random.Random(5)

    def wild(_: MachineLoop) -> Measurement:
        cycles = 4 * (1 + state.random())
        return Measurement(cycles=cycles, spread=cycles / 2, way="clock", events={})

    ((_, some),) = pipeline.probe(ProbeBench(wild), (probe_memory.store_commit,))
    assert not any(f.repeats for f in some)


# --- what a finding is beside a model ---------------------------------------------------------------------------------


def test_the_models_figure_stays_where_it_is_within_what_was_seen() -> None:
    model = load("skylake")
    findings = [
        number("rob", 219, "seen", 218, 234),
        number("rs", 40, "seen"),
        replace(number("load_buffer", 40, "seen"), repeats=False),
        unknown("store_buffer", "no end"),
        note("banks", 2, "seen"),
        flag("fast_pointer_chasing", False, "seen"),
    ]
    compared = compare(findings, model)
    assert [c.verdict for c in compared] == ["agrees", "differs", "unsure", "unknown", "note", "differs"]
    assert changed_parameters(compared, model) == {"rs": 40, "fast_pointer_chasing": False}


def test_a_part_of_a_table_keeps_the_others() -> None:
    model = load("skylake")
    compared = compare([number("load_latency.xmm", 9, "seen")], model)
    assert changed_parameters(compared, model) == {"load_latency": {**model.parameters["load_latency"], "xmm": 9}}


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_figures_are_kept_and_a_half_written_line_is_measured_again(tmp_path: Path) -> None:
    path = tmp_path / "loops.jsonl"
    asked: list[MachineLoop] = []

    def machine(one: MachineLoop) -> Measurement | LoopFailure:
        asked.append(one)
        if len(one.code) < 9:
            return Measurement(cycles=2.0, spread=0.0, way="clock", events={})
        return LoopFailure("SIGILL", "no such instruction")

    loops = [loop("nop"), loop("nop\nnop\nnop\nnop")]
    first = ProbeBench(machine, str(path)).measure(loops)
    assert (first[0], first[1]) == (
        Measurement(cycles=2.0, spread=0.0, way="clock", events={}),
        LoopFailure("SIGILL", "no such instruction"),
    )
    text = path.read_text()
    path.write_text(text[: len(text) - 10])
    asked.clear()
    assert ProbeBench(machine, str(path)).measure(loops) == first
    assert asked == [loops[1]]
    asked.clear()
    assert ProbeBench(machine, str(path)).measure(loops) == first
    assert asked == []
    assert all(json.loads(line) for line in path.read_text().splitlines() if line.endswith("}"))


def test_a_resumed_run_does_not_try_again_what_never_was_short(tmp_path: Path) -> None:
    path = tmp_path / "loops.jsonl"
    asked = 0

    def machine(_: MachineLoop) -> Measurement:
        nonlocal asked
        asked += 1
        return Measurement(cycles=9.0, spread=0.1, way="clock", events={})

    assert not ProbeBench(machine, str(path), quick=True).reaches("nop", 5)
    first = asked
    again = ProbeBench(machine, str(path), quick=True)
    assert (again.reaches("nop", 5), asked) == (False, first)
    # More pauses than before are only those that are missing.
    assert not again.reaches("nop", 5, 2)
    assert asked == first + again.tries


def test_what_was_a_busy_machines_fault_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "loops.jsonl"
    bench = ProbeBench(lambda _: LoopFailure("timeout", "too busy"), str(path))
    assert bench.measure([loop("nop")]) == [LoopFailure("timeout", "too busy")]
    assert path.read_text() == ""
    with pytest.raises(ProbeFailure, match="too busy"):
        bench.one("nop")


# --- forms ------------------------------------------------------------------------------------------------------------


@pytest.fixture
def changed(tmp_path: Path) -> MachineModel:
    """Skylake with other figures of some forms."""
    path = tmp_path / "changed.toml"
    path.write_text(
        'format = 1\nname = "changed"\ntitle = "x"\nisa = "x86"\ninherits = "skylake"\n[forms]\n'
        '"IMUL_R64_RM64/r" = { latency = "0,C,SPAZO<0,1:5" }\n'
        '"VEX_VADDPD_XMM_XMM_XMMM128/r" = { latency = "0<1,2:2" }\n'
        '"VEX_VPADDD_XMM_XMM_XMMM128/r" = { tp = 3.0 }\n'
    )
    return load(str(path))


def test_forms_that_differ_are_found_and_no_others(changed: MachineModel, tmp_path: Path) -> None:
    relative = load("skylake")
    core = target(relative, features_of(relative))
    bench, simulated = host_forms.benches(core, Simulated(changed), Simulated(relative))
    names = [
        "IMUL_R64_RM64/r",
        "VEX_VADDPD_XMM_XMM_XMMM128/r",
        "VEX_VPADDD_XMM_XMM_XMMM128/r",
        "ADD_RM64_R64/r",
        "VEX_VMULPD_XMM_XMM_XMMM128/r",
        "VEX_VMULPD_XMM_XMM_XMMM128/m",
        "MOV_R64_RM64/m",
    ]
    path = str(tmp_path / "forms.jsonl")
    todo = list(host_forms.wanted(core, names, True))
    measured = host_forms.measure(bench, todo, path, host_forms.read(path), lambda: True)
    result = host_forms.compare(measured, bench, simulated, relative, path)
    entries = host_forms.entries(result.different, relative)
    assert sorted(entries) == sorted(names[:3])
    assert entries["IMUL_R64_RM64/r"][()]["latency"].startswith("0")
    assert ":5" in entries["IMUL_R64_RM64/r"][()]["latency"]
    assert entries["VEX_VADDPD_XMM_XMM_XMMM128/r"][()]["latency"] == "0<1,2:2"
    assert entries["VEX_VPADDD_XMM_XMM_XMMM128/r"][()]["tp"] == 3

    # Again, from the file alone.
    class Gone:
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            raise AssertionError("measured again")

    bench.machine = Gone()
    known = host_forms.read(path)
    again = host_forms.compare(
        host_forms.measure(bench, todo, path, known, lambda: True), bench, simulated, relative, path
    )
    assert host_forms.entries(again.different, relative) == entries


def test_forms_whose_copies_tell_nothing_are_left_out() -> None:
    core = target(load("skylake"), features_of(load("skylake")))
    names = {v.shape.key for v in host_forms.wanted(core, [], False)}
    assert {"ADD_RM64_R64/r", "VEX_VMOVUPS_YMM_YMMM256/m"} <= names
    assert not any(name.startswith(("FLD", "FADD", "VEX_VMASKMOV", "VEX_VPMASKMOV")) for name in names)


def test_a_figure_that_does_not_repeat_is_not_believed(tmp_path: Path) -> None:
    relative = load("skylake")
    core = target(relative, features_of(relative))
    bench, simulated = host_forms.benches(core, Simulated(relative), Simulated(relative))
    path = str(tmp_path / "forms.jsonl")
    todo = [v for v in host_forms.wanted(core, ["ADD_RM64_R64/r"], True) if not v.conditions]
    record = bench.record(todo[0], host_forms.WANTED)
    wrong = {**record, "latency": [[t, s, c + 3] for t, s, c in record["latency"]]}
    # The exact figure is the relative's: what was measured roughly was wrong.
    result = host_forms.compare([(todo[0], wrong)], bench, simulated, relative, path)
    assert (result.same, result.different, result.unsteady) == (1, [], [])
    # It is kept, so that the next run measures nothing.
    known = host_forms.read(path).records[todo[0].key]
    assert (known["latency"], known["before"]) == (record["latency"], [wrong])

    class Different(Simulated):
        more = 0

        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            Different.more += 1
            found = super().measure(loop)
            return replace(found, cycles=found.cycles * Different.more) if isinstance(found, Measurement) else found

    bench.machine = Different(relative)
    result = host_forms.compare([(todo[0], wrong)], bench, simulated, relative, path)
    assert (result.same, result.different, result.unsteady) == (0, [], ["ADD_RM64_R64/r"])


def test_forms_are_measured_together_and_disturbed_ones_again() -> None:
    relative = load("skylake")
    asked: list[int] = []

    class Busy(Simulated):
        def measure_all(self, loops: Sequence[MachineLoop]) -> list[Measurement | LoopFailure]:
            asked.append(len(loops))
            found = [Simulated.measure(self, one) for one in loops]
            # Every other loop is disturbed, as long as there are several.
            return [
                replace(f, cycles=2 * f.cycles, spread=f.cycles) if n % 2 and isinstance(f, Measurement) else f
                for n, f in enumerate(found)
            ]

        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            asked.append(1)
            return super().measure(loop)

    core = target(relative, features_of(relative))
    bench, simulated = host_forms.benches(core, Busy(relative), Simulated(relative))
    some = [v for v in host_forms.wanted(core, ["ADD_RM64_R64/r", "POPCNT_R64_RM64/r"], True) if not v.conditions]
    asked.clear()
    bench.fetch(some)
    assert asked[0] == sum(len(bench.plan(v).steps) for v in some)
    assert asked == sorted(set(asked), reverse=True), asked
    together = list(asked)
    assert [bench.record(v, host_forms.WANTED) for v in some] == [simulated.record(v, host_forms.WANTED) for v in some]
    assert asked == together
    # What is as expected is not measured again, though disturbed.
    asked.clear()
    slow = target(relative, features_of(relative))
    twice, expected = host_forms.benches(slow, Busy(relative), Simulated(relative))

    class Twice(Simulated):
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            found = super().measure(loop)
            return replace(found, cycles=2 * found.cycles) if isinstance(found, Measurement) else found

    expected.machine = Twice(relative)
    asked.clear()
    twice.fetch(some, expected)
    assert asked == together[:1]
    asked[:] = together
    # The next figures are measured one by one.
    bench.record(some[0], host_forms.WANTED)
    assert asked[len(together) :] == [1] * len(bench.plan(some[0]).steps)


@pytest.mark.long
def test_ports_that_differ_are_written_and_those_in_doubt_are_not(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "other.toml"
    path.write_text(
        'format = 1\nname = "other"\ntitle = "x"\nisa = "x86"\ninherits = "skylake"\n[forms]\n'
        '"IMUL_R64_RM64/r" = { ports = "1*p5" }\n'  # as fast alone: seen beside others only
        '"POPCNT_R64_RM64/r" = { ports = "1*p15" }\n'  # faster than the relative's ports allow
        '"VEX_VPERMD_YMM_YMM_YMMM256/r" = { ports = "2*p5" }\n'  # slower
    )
    relative = load("skylake")
    core = target(relative, features_of(relative))
    machine = Simulated(load(str(path)))
    names = ["IMUL_R64_RM64/r", "POPCNT_R64_RM64/r", "VEX_VPERMD_YMM_YMM_YMMM256/r", "LEA_R64_M/m"]
    bench, simulated = host_forms.benches(core, machine, Simulated(relative))
    todo = [v for v in host_forms.wanted(core, names, True) if not v.conditions]
    kept = str(tmp_path / "forms.jsonl")
    measured = host_forms.measure(bench, todo, kept, host_forms.read(kept), lambda: True)
    result = host_forms.compare(measured, bench, simulated, relative, kept)
    assert set(host_forms.contradicting(result)) == {"POPCNT_R64_RM64/r", "VEX_VPERMD_YMM_YMM_YMMM256/r"}
    # That of `imul` is looked at since the loops have it.
    loops = [host.Case("multiply", loop("imulq %rbx, %rax"))]
    this = run_on(relative, str(tmp_path), loops)
    for _ in range(2):  # the second time from the files alone
        after, ports = make_host._ports(this, core, machine, result)
        entries = host_forms.entries(after.different, relative)
        assert {form: fields[()].get("ports") for form, fields in entries.items()} == {
            "IMUL_R64_RM64/r": "1*p5",
            "POPCNT_R64_RM64/r": "1*p15",
            "VEX_VPERMD_YMM_YMM_YMMM256/r": "2*p5",
        }
        assert "tp" not in entries["VEX_VPERMD_YMM_YMM_YMMM256/r"][()]
        assert after.faster == []
    assert ", 3 others taken" in capsys.readouterr().out
    written = host.model_text("mine", relative, "x", [], entries, after, ports).text
    assert "# POPCNT_R64_RM64/r: 1,5, inherited 1: nothing else explains" in written
    # A machine that says something else each time is not believed.
    for name in ("ports.jsonl", "ports_again.jsonl"):
        (tmp_path / name).unlink()
    state = random.Random(3)

    class Wild(Simulated):
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            return Measurement(cycles=20 * state.random() + 1, spread=0.0, way="clock", events={})

    after, _ = make_host._ports(this, core, Wild(relative), result)
    assert after == result


def test_ports_wait_for_the_next_run_if_there_is_no_time(tmp_path: Path, capsys: Any) -> None:
    relative = load("skylake")
    core = target(relative, features_of(relative))
    result = host_forms.FormsComparison(same=0, different=[], unsteady=[], faster=["POPCNT_R64_RM64/r"], missing=[])
    this = run_on(relative, str(tmp_path), [])
    after, ports = make_host._ports(replace(this, end=time.monotonic() + 0.05), core, Simulated(relative), result)
    assert (after, ports) == (result, [])
    assert "the time is over" in capsys.readouterr().out


# --- what measured loops contradict -----------------------------------------------------------------------------------


def test_changes_that_make_measured_loops_worse_are_left_out(changed: MachineModel) -> None:
    before = load("skylake")
    after = changed.with_parameters({"store_forward": {"gpr": 9, "xmm": 9, "ymm": 9, "zmm": 9}, "rob": 230})
    loops = [
        host.Case("forwarded", loop("movq %rax, (%rsi)\nmovq (%rsi), %rax")),
        host.Case("multiplied", loop("imulq %rbx, %rax\nimulq %rbx, %rax")),
        host.Case("added", loop("vaddpd %xmm1, %xmm0, %xmm0")),
    ]
    parameters = ["store_forward", "rob"]
    forms = ["IMUL_R64_RM64/r", "VEX_VADDPD_XMM_XMM_XMMM128/r", "VEX_VPADDD_XMM_XMM_XMMM128/r"]

    def cycles(model: MachineModel) -> list[float]:
        return [float(host.predict(case.loop, model).cycles) for case in loops]

    assert contradicted(loops, cycles(after), before, after, parameters, forms) == []
    found = contradicted(loops, cycles(before), before, after, parameters, forms)
    # What no loop tells, the windows and an instruction that none has, stays.
    assert {one.change.name for one in found} == {"store_forward", "IMUL_R64_RM64/r", "VEX_VADDPD_XMM_XMM_XMMM128/r"}
    assert all((one.loops, one.without) == (1, 0) and one.with_it > 0.2 for one in found)
    # Better with one than without it, and worse with another: only that one goes.
    mixed = [cycles(after)[0], *cycles(before)[1:]]
    found = contradicted(loops, mixed, before, after, parameters, forms)
    assert {one.change.name for one in found} == {"IMUL_R64_RM64/r", "VEX_VADDPD_XMM_XMM_XMMM128/r"}


def test_what_is_left_out_is_said(changed: MachineModel, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    relative = load("skylake")
    machine = Simulated(relative)  # the loops run as on the relative, whatever the forms said
    loops = [host.Case("multiplied", loop("imulq %rbx, %rax\nimulq %rbx, %rax"))]
    bench = ProbeBench(machine.measure, str(tmp_path / "loops.jsonl"), quick=True)
    compared = compare([number("rob", 300, "seen")], relative)
    key = ("IMUL_R64_RM64/r", ())
    result = host_forms.FormsComparison(
        same=0,
        different=[host_forms.Difference(key, {"latency": "0<0,1:5"}, "latency 0<0,1:3")],
        unsteady=[],
        faster=[],
        missing=[],
    )
    entries = host_forms.entries(result.different, relative)
    written = host.model_text("mine", relative, "x", compared, entries, result)
    this = run_on(relative, str(tmp_path), loops)
    after, kept = make_host._without_contradicted(
        this, bench, changed.with_parameters({"rob": 300}), written, compared, result
    )
    assert (after, kept.different) == (compared, [])
    assert "left out: IMUL_R64_RM64/r: the 1 loops that it concerns" in capsys.readouterr().out
    text = host.model_text("mine", relative, "x", after, {}, kept).text
    assert "# IMUL_R64_RM64/r: seen twice as other than latency 0<0,1:3, but 1 loops are" in text
    assert "rob = 300" in text


# --- all together -----------------------------------------------------------------------------------------------------


def test_a_made_core_becomes_a_model(
    changed: MachineModel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    relative = load("skylake")
    machine = changed.with_parameters({"rob": 320, "store_buffer": 90, "mispredict_penalty": 20})
    few = [c for c in host.cases() if "march" not in c.name][:6]
    multiply = loop("imulq %rbx, %rax\nimulq %rbx, %rax")
    few += [host.Case(name, multiply) for name in ("multiply", "multiply-again")]
    assert [len(half) for half in host.halves(few)] == [4, 4]
    monkeypatch.setattr(host, "cases", lambda: few)
    output = tmp_path / "mine.toml"
    options = make_host.MakeHostOptions(output=str(output), quick=True)
    with make_host._own_folder(str(tmp_path / "kept")) as folder:
        status = make_host.make(options, relative, Simulated(machine), folder, features_of(relative))
    said = capsys.readouterr().out
    assert status == 0, said
    assert check(str(output), search_places(())) == []
    made = load(str(output))
    assert made.name == "mine"
    assert 300 <= made.parameters["rob"] <= 325
    assert made.parameters["store_buffer"] == 90
    assert made.parameters["mispredict_penalty"] == relative.parameters["mispredict_penalty"]
    assert {n: made.parameters[n] for n in ("issue_width", "load_latency", "store_forward", "rs")} == {
        n: relative.parameters[n] for n in ("issue_width", "load_latency", "store_forward", "rs")
    }
    form = made.lookup("IMUL_R64_RM64/r", frozenset())
    assert form is not None
    assert ("0", "0", 5) in form.latency
    assert form.source == "measured"
    # Parameters are said with what they rest on, and what could not be told as well.
    text = output.read_text()
    assert "inherited 224" in text
    assert "# mispredict_penalty: " in text.partition("# Not measured; the inherited figure stays:\n")[2]
    assert "# IMUL_R64_RM64/r: seen twice; inherited latency " in text
    assert "accuracy: mean error on 4 loops measured here" in said
    assert "0.0% with mine" in said


@pytest.mark.long
@pytest.mark.parametrize(("exact", "kept"), [(True, False), (False, True)])
def test_a_core_that_is_as_its_model_says_gets_no_other(
    exact: bool, kept: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A window that no loop tells does not make a better model; of another core, it is all that is known."""
    relative = load("skylake")
    few = [c for c in host.cases() if "march" not in c.name][:4]
    monkeypatch.setattr(host, "cases", lambda: few)
    machine = relative.with_parameters({"store_buffer": 90})
    monkeypatch.setattr(pipeline, "PROBES", (probe_front.issue_width, probe_memory.forwarding))
    output = tmp_path / "mine.toml"
    options = make_host.MakeHostOptions(output=str(output), quick=True)
    with make_host._own_folder(str(tmp_path / "kept")) as folder:
        assert make_host.make(options, relative, Simulated(machine), folder, features_of(relative), exact) == 0
    assert output.exists() == kept
    assert ("nothing needs changing: skylake" in capsys.readouterr().out) == exact


def test_loops_of_one_file_are_in_one_half() -> None:
    deciding, judging = host.halves(host.cases())
    assert {c.name.split()[0] for c in deciding}.isdisjoint(c.name.split()[0] for c in judging)
    assert len(deciding) + len(judging) == 100
    assert min(len(deciding), len(judging)) >= 40


class Ended(Exception):
    """The machine goes down."""


@pytest.mark.long
@pytest.mark.parametrize("kind", [KeyboardInterrupt, Ended])
def test_wherever_a_run_ends_the_next_one_goes_on(
    kind: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    relative = load("skylake")
    machine = relative.with_parameters({"store_forward": {"gpr": 8, "xmm": 9, "ymm": 9, "zmm": 9}})
    few = [
        host.Case("multiply", loop("imulq %rbx, %rax\naddq %rcx, %rax")),
        host.Case("load", loop("movq (%rsi), %rax")),
    ]
    monkeypatch.setattr(host, "cases", lambda: few)
    monkeypatch.setattr(pipeline, "PROBES", (probe_front.issue_width, probe_memory.forwarding))

    class Ending(Simulated):
        left = 10**9
        count = 0

        def measure(self, one: MachineLoop) -> Measurement | LoopFailure:
            if not Ending.left:
                raise kind
            Ending.left -= 1
            Ending.count += 1
            return super().measure(one)

    def run(folder: str) -> str:
        output = tmp_path / "mine.toml"
        options = make_host.MakeHostOptions(output=str(output), quick=True)
        with make_host._own_folder(folder):
            make_host.make(options, relative, Ending(machine), folder, features_of(relative))
        return output.read_text()

    whole = run(str(tmp_path / "whole"))
    assert "[parameters.store_forward]\ngpr = 8" in whole
    needed = Ending.count
    assert needed > 60
    for steps in (needed // 5, needed // 2):
        folder = str(tmp_path / f"after {steps}")
        os.makedirs(folder)
        ends = 0
        while True:
            # As many steps as a run needs to begin with, its ways between registers, which are not kept, and some more.
            Ending.left = 20 + steps
            try:
                text = run(folder)
                break
            except kind:
                ends += 1
                assert ends < 20
                # A line that was not finished
                with open(os.path.join(folder, "loops.jsonl"), "a", encoding="utf-8") as file:
                    file.write('{"loop": "a')
        assert ends
        assert text == whole


def test_a_folder_of_another_processor_is_refused(tmp_path: Path) -> None:
    (tmp_path / "processor").write_text("Another one\n6 1 1\n")
    with pytest.raises(Unavailable, match="another processor"), make_host._own_folder(str(tmp_path)):
        pass
    assert (tmp_path / "processor").read_text() == "Another one\n6 1 1\n"


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    first, second = make_host._own_folder(str(tmp_path)), make_host._own_folder(str(tmp_path))
    # Of another process, or, as here, of this one.
    with first, pytest.raises(Unavailable, match="another run"), second:
        pass
    with make_host._own_folder(str(tmp_path)) as folder:
        assert folder == str(tmp_path)


def test_a_full_disk_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Full(Simulated):
        def __enter__(self) -> Full:
            return self

        def __exit__(self, *_: object) -> None: ...

        def measure(self, one: MachineLoop) -> Measurement | LoopFailure:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(make_host, "missing", lambda: "")
    monkeypatch.setattr(host, "isa_here", lambda: "x86")
    monkeypatch.setattr(make_host, "Harness", lambda unsafe: Full(load("skylake")))
    output = str(tmp_path / "mine.toml")
    assert main(["make", "host", "--relative", "skylake", "-o", output]) == 1
    said = capsys.readouterr().err
    assert "mine.measured: No space left on device; the measurements are in" in said
    assert not os.path.exists(output)


def test_the_loops_that_come_with_incc() -> None:
    cases = host.cases()
    assert len(cases) == 100
    assert len({c.name for c in cases}) == len({c.loop.code for c in cases}) == 100
    model = load("skylake")
    machine = Simulated(model)
    assert all(isinstance(machine.measure(c.loop), Measurement) for c in cases)


# --- bad input --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["my.txt", "/tmp/.toml", "a b.toml", "x\n.toml"])
def test_names_that_a_model_cannot_have(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["make", "host", "-o", name]) == 2
    assert "NAME.toml" in capsys.readouterr().err


def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("format = 1\n")
    assert main(["make", "host", "-o", str(path)]) == 1
    assert "was not made by" in capsys.readouterr().err
    assert path.read_text() == "format = 1\n"
    assert main(["make", "host", "-o", str(tmp_path / "no" / "mine.toml")]) == 1
    assert "no such folder" in capsys.readouterr().err


@pytest.mark.parametrize("minutes", ["-1", "x", "nan", "inf"])
def test_minutes_that_are_none(minutes: str) -> None:
    assert main(["make", "host", "--minutes", minutes]) == 2


def test_where_nothing_can_be_measured_it_says_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(make_host, "missing", lambda: "measuring needs Linux, not plan9")
    assert main(["make", "host", "-o", str(tmp_path / "mine.toml")]) == 1
    assert capsys.readouterr().err == "incc-model: measuring needs Linux, not plan9\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_says_where_the_figures_are(
    number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Stopped(Simulated):
        def __enter__(self) -> Stopped:
            return self

        def __exit__(self, *_: object) -> None: ...

        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            signal.raise_signal(number)
            raise AssertionError("went on")

    monkeypatch.setattr(make_host, "missing", lambda: "")
    monkeypatch.setattr(host, "isa_here", lambda: "x86")
    monkeypatch.setattr(make_host, "Harness", lambda unsafe: Stopped(load("skylake")))
    before = signal.getsignal(signal.SIGTERM)
    assert main(["make", "host", "--relative", "skylake", "-o", str(tmp_path / "mine.toml")]) == 130
    assert "mine.measured, and the same command continues from there" in capsys.readouterr().err
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_bench_of_forms_is_the_one_of_the_models_core() -> None:
    core = target(load("skylake"), features_of(load("skylake")))
    assert isinstance(host_forms.benches(core, Simulated(load("skylake")), Simulated(load("haswell")))[0], FormBench)


def test_assembled_text_is_what_it_says() -> None:
    assert assemble("nop\nxorl %eax, %eax\n") == bytes.fromhex("9031c0")
    one = loop("nop", {"rsi": 7})
    assert (one.code[-5:], one.registers[6], one.registers[4] % 64) == (bytes.fromhex("49ffcf75fa"), 7, 0)


def test_a_finding_agrees_with_what_it_may_be() -> None:
    assert Finding(name="x", value=5, least=4, most=6, text="").agrees(6)
    assert not Finding(name="x", value=5, least=4, most=6, text="").agrees("unlimited")
    assert Finding(name="x", value=None, least=0, most=0, text="").agrees(3)
