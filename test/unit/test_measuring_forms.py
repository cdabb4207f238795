"""Forms measured on a machine that is a model: what comes out must be what the model says. Operands as users write."""

from __future__ import annotations

import json
from functools import cache
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from incc.measuring import records
from incc.measuring.forms import bench as forms
from incc.measuring.forms import operands, pairs
from incc.measuring.forms import target as cores
from incc.measuring.forms.predicted import figures, rows
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.measuring.simulated import Simulated, simulated
from incc.models.forms.shapes import by_key
from incc.models.importers.measured import importer as measured
from incc.models.loading import load
from incc.models.notation import port_set_name, write_ports

CORES = ("skylake", "znver4", "sapphirerapids", "nehalem", "goldmont")


@cache
def bench(core: str) -> forms.CoreBench:
    model = load(core)
    return forms.CoreBench(cores.target(model, cores.features_of(model)), Simulated(model))


def variant(core: str, text: str) -> forms.FormVariant:
    return operands.read(text, bench(core).core).variant


# --- the core --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("core", CORES)
def test_what_is_measured_can_be_encoded(core: str) -> None:
    target = bench(core).core
    found = forms.measurable(target)
    assert len(found) > (4000 if core == "znver4" else 300)
    for shape in found[::37]:
        for v in forms.variants(shape):
            assert forms.encode([v.build()])
    for candidates in target.blockers:
        for blocker in candidates:
            assert forms.encode([cores.blocking(blocker, n) for n in range(12)])


def test_blockers_are_taken_from_the_model() -> None:
    found = {b.name: b.ports for b in bench("znver4").blockers}
    assert found.items() >= {"ALU0123": 4, "ALU12": 2, "ALU1": 1, "FP01": 2, "FP23": 2, "FP0123": 4, "AG012": 3}.items()
    assert {b.name for b in bench("skylake").blockers} >= {"p0156", "p015", "p01", "p06", "p0", "p1", "p5", "p23"}


def test_a_blocker_that_is_none_is_not_used() -> None:
    """Relatives' models are wrong about some instruction: another one is taken, or none."""
    model = load("skylake")
    wrong = bench("skylake").blockers[0].shape

    class OtherMachine(Simulated):
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            found = super().measure(loop)
            first = forms.encode([cores.blocking(cores.Blocker("", 4, wrong), 0)])
            if isinstance(found, Measurement) and loop.code.startswith(first):
                return replace(found, cycles=found.cycles / 2)
            return found

    other = forms.CoreBench(bench("skylake").core, OtherMachine(model))
    assert wrong not in [b.shape for b in other.blockers]


def test_sets_are_named_as_models_do() -> None:
    assert port_set_name(["0", "1", "5", "6", "B"]) == "p0156B"
    assert port_set_name(["FP0", "FP1"]) == "FP01"
    assert port_set_name(["ALU0", "BR"]) == "p(ALU0|BR)"
    assert write_ports([("FP5", 2), ("0,1", 1)]) == "2*FP5+1*p01"


# --- figures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("core", "text", "throughput", "latency"),
    [
        ("skylake", "imul r64, r64", 1, {"0<0": 3, "0<1": 3}),
        ("skylake", "vfmadd231pd ymm, ymm, ymm", 0.5, {"0<0": 4, "0<1": 4, "0<2": 4}),
        ("skylake", "vpermd ymm, ymm, ymm", 1, {"0<1": 3, "0<2": 3}),
        ("znver4", "vaddpd ymm, ymm, ymm", 0.5, {"0<1": 3, "0<2": 3}),
        ("skylake", "mov r64, m", 0.5, {"0<m": 5}),
        ("nehalem", "mulpd xmm, xmm", 1, {"0<0": 5, "0<1": 5}),
    ],
)
def test_the_model_is_found_again(core: str, text: str, throughput: float, latency: dict[str, float]) -> None:
    record = bench(core).record(variant(core, text), ("latency", "tp"))
    assert record["tp"] == pytest.approx(throughput, abs=0.03)
    found = {f"{to}<{source}": cycles for to, source, cycles in record["latency"]}
    assert {name: found[name] for name in latency} == pytest.approx(latency, abs=0.6)
    assert "slots" not in record


def test_ports_show_beside_blockers() -> None:
    record = bench("skylake").record(variant("skylake", "imul r64, r64"))
    assert record["slots"] == pytest.approx(1, abs=0.2)
    assert record["seen"]["p1"] == pytest.approx(1, abs=0.2)
    assert "p0" not in record["seen"]
    assert "p5" not in record["seen"]


def test_a_form_that_faults_says_why() -> None:
    class Faulting:
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            if bytes([0xF7]) in loop.code[:-8]:  # div
                return LoopFailure("SIGFPE", "a division by zero")
            return Measurement(cycles=100.0, spread=0.0, way="clock", events={})

    other = forms.CoreBench(bench("skylake").core, Faulting())
    with pytest.raises(forms.NotMeasured, match="division") as caught:
        other.record(variant("skylake", "div r64"), ("tp",))
    assert caught.value.failure.kind == "SIGFPE"
    latency = other.record(variant("skylake", "div r64"), ("latency",))
    assert set(latency["failed"].values()) == {"a division by zero"}


def test_disturbed_loops_are_tried_again_and_repeated_ones_give_the_median() -> None:
    spreads = [5.0, 0.1, 0.1, 0.1]
    cycles = [9.0, 4.0, 4.2, 4.1]

    class Noisy:
        def __init__(self) -> None:
            self.number = 0

        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            n = min(self.number, 3)
            self.number += 1
            return Measurement(cycles=cycles[n], spread=spreads[n], way="clock", events={})

    other = forms.CoreBench.__new__(forms.CoreBench)
    other.machine, other.repeat, other._ready = Noisy(), 3, {}
    found = other.cycles(b"\x90")
    assert found.cycles == 4.1
    assert found.spread == pytest.approx(0.2)


def test_counted_ports_are_those_of_a_copy() -> None:
    class Counting(Simulated):
        def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
            found = super().measure(loop)
            return replace(found, way="counters", events={"p1": 48.0}) if isinstance(found, Measurement) else found

    other = forms.CoreBench(bench("skylake").core, Counting(load("skylake")))
    record = other.record(variant("skylake", "imul r64, r64"), ("tp",))
    assert record["counted"] == {"p1": 1.0}
    assert record["way"] == "counters"
    assert "µops on p1, counted" in [row.figure for row in rows(record)]


def test_beside_the_model() -> None:
    v = variant("skylake", "vaddpd ymm, ymm, m")
    said = figures(bench("skylake"), v, load("skylake"))
    assert said["tp"] == pytest.approx(0.5, abs=0.02)
    assert said["0<m"] > said["0<1"]
    record = {"form": v.shape.key, "tp": 1.0, "latency": [["0", "1", 4.01]], "spread": {}, "model": said}
    found = {row.figure: row for row in rows(record)}
    assert found["throughput"].differs
    assert not found["latency 1 → 0"].differs
    assert figures(bench("nehalem"), v, load("nehalem")) == {}


def test_pairs_tell_who_shares() -> None:
    target = bench("skylake").core
    named = [operands.read(t, target) for t in ("vpermd ymm, ymm, ymm", "vpshufb ymm, ymm, ymm", "imul r64, r64")]
    records = []
    for pair in combinations(named, 2):
        alone = [pairs.together(bench("skylake"), [form]).cycles for form in pair]
        records.append(pairs.record(pair, pairs.together(bench("skylake"), pair), alone))
    assert [record["conflict"] for record in records] == pytest.approx([1, 0, 0], abs=0.1)
    assert records[0]["sum"] == pytest.approx(2, abs=0.05)


def test_simulated_lacks_what_the_model_lacks() -> None:
    v = variant("skylake", "vaddpd ymm, ymm, ymm")
    assert simulated(forms.loop_of(forms.encode([v.build()])).code, load("nehalem")) is None


# --- operands --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "key", "conditions"),
    [
        ("vfmadd231pd ymm, ymm, ymm", "VEX_VFMADD231PD_YMM_YMM_YMMM256/r", ()),
        ("vfmadd231pd %ymm0, %ymm1, %ymm2", "VEX_VFMADD231PD_YMM_YMM_YMMM256/r", ()),
        ("imul r64, r64", "IMUL_R64_RM64/r", ()),
        ("imul r, r", "IMUL_R64_RM64/r", ()),
        ("imulq %rbx, %rcx", "IMUL_R64_RM64/r", ()),
        ("IMUL R32, M", "IMUL_R32_RM32/m", ()),
        ("add r64, r64", "ADD_RM64_R64/r", ()),
        ("addq $i, %rbx", "ADD_RM64_IMM8/r", ()),
        ("addl $5, (%rdi)", "ADD_RM32_IMM8/m", ()),
        ("mov r64, m", "MOV_R64_RM64/m", ()),
        ("mov m, r64", "MOV_RM64_R64/m", ()),
        ("movq (%rdi), %rax", "MOV_R64_RM64/m", ()),
        ("movq (%rdi,%rax,8), %rax", "MOV_R64_RM64/m", ()),
        ("add r64, qword ptr [rsi+8]", "ADD_R64_RM64/m", ()),
        ("vaddpd zmm{k}{z}, zmm, zmm", "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r", ("mask", "zeroing")),
        ("vaddpd zmm, zmm, m{1to8}", "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/m", ("bcast",)),
        ("vmovaps ymm, ymm", "VEX_VMOVAPS_YMM_YMMM256/r", ()),
        ("shl r64, cl", "SHL_RM64_CL/r", ()),
        ("movzx r32, r8", "MOVZX_R32_RM8/r", ()),
        ("movzbl %al, %ebx", "MOVZX_R32_RM8/r", ()),
        ("lea r64, m", "LEA_R64_M/m", ()),
        ("kandw k, k, k", "VEX_KANDW_KR_KR_KR/r", ()),
        ("add_r64_rm64/r", "ADD_R64_RM64/r", ()),
        ("ADD_R64_RM64/r [same_reg]", "ADD_R64_RM64/r", ("same_reg",)),
    ],
)
def test_what_is_meant(text: str, key: str, conditions: tuple[str, ...]) -> None:
    found = variant("sapphirerapids", text)
    assert (found.shape.key, found.conditions) == (key, conditions)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vfmad231pd x, x, x", "'vfmad231pd' is not an instruction; did you mean vfmadd231pd"),
        ("add ymm, ymm", "add has no such operands: there is add "),
        ("add r64, foo", "'foo' is not an operand"),
        ("ADD_R64_RM63/r", "did you mean ADD_R64_RM64/r"),
        ("ADD_R64_RM64/r [", "malformed key"),
        ("ADD_R64_RM64/r [mask]", "does not exist with mask"),
        ("hlt", "hlt is privileged"),
        ("push r64", "moves the stack pointer"),
        ("cpuid", "changes the system's state"),
        ("jmp i", "jmp "),
        ("  ", "no instruction"),
    ],
)
def test_what_nobody_can_mean(text: str, message: str) -> None:
    with pytest.raises(operands.Unreadable) as caught:
        variant("sapphirerapids", text)
    assert message in str(caught.value)


def test_what_a_processor_lacks_is_named() -> None:
    with pytest.raises(operands.Unreadable, match="AVX512F"):
        variant("skylake", "vaddpd zmm, zmm, zmm")


def test_every_form_is_read_from_its_key() -> None:
    target = bench("skylake").core
    for shape in forms.measurable(target)[::101]:
        assert operands.read(shape.key, target).variant.shape == shape


def test_matching() -> None:
    target = bench("skylake").core
    assert {n.variant.shape.mnemonic for n in operands.matching(["andn", "VEX_BEXTR*"], target)} == {"ANDN", "BEXTR"}
    assert operands.matching(["nothing"], target) == []


# --- records ---------------------------------------------------------------------------------------------------------


def write(path: Path, *lines: Any, end: str = "\n") -> None:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    path.write_text(text + end, encoding="utf-8")


ONE = {"form": "ADD_R64_RM64/r", "conditions": [], "tp": 0.25}
TWO = {"form": "ADD_R64_RM64/r", "conditions": ["same_reg"], "tp": 0.25}
HEAD = {"core": "skylake", "load_latency": {}, "fusion": {}}


def test_records_go_on_behind_the_last_whole_line(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    write(path, HEAD, ONE, '{"form": "ADD_R64', end="")
    found = records.Records(str(path), "skylake")
    assert list(found.done) == [records.name(ONE)]
    found.begin({"core": "not written twice"})
    found.add(TWO)
    found.close()
    assert [json.loads(line) for line in path.read_text().splitlines()] == [HEAD, ONE, TWO]


def test_records_of_something_else_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    for lines, message in (
        ((HEAD | {"core": "znver4"}, ONE), "on znver4, not on skylake"),
        (("{}",), "a.jsonl:1: not a record"),
        (("text",), "a.jsonl:1: not a record"),
        ((ONE,), "no measurements"),
    ):
        write(path, *lines)
        before = path.read_bytes()
        with pytest.raises(records.OtherRun, match=message):
            records.Records(str(path), "skylake")
        assert path.read_bytes() == before
    with pytest.raises(OSError, match="No such file"):
        records.Records(str(tmp_path / "none"), "skylake", must_exist=True)


def test_what_is_written_can_be_imported(tmp_path: Path) -> None:
    """Zen 4's own forms come back from a simulation of Zen 4, through file and importer."""
    path = tmp_path / "a.jsonl"
    target = bench("znver4").core
    found = records.Records(str(path), target.name)
    found.begin(bench("znver4").header())
    texts = ("imul r64, r64", "vaddpd ymm, ymm, ymm", "vmulpd ymm, ymm, ymm")
    for text in texts:
        found.add(bench("znver4").record(operands.read(text, target).variant))
    found.add({"form": "DIV_RM64/r", "conditions": [], "failure": {"kind": "SIGFPE", "text": "a division by zero"}})
    found.add({"pair": ["a", "b"], "cycles": 1.0})
    found.close()
    forms_of = measured.import_files([str(path)]).forms
    assert set(forms_of) == {operands.read(text, target).variant.shape.key for text in texts}
    model = load("znver4")
    for key, entries in forms_of.items():
        form = model.lookup(key, frozenset())
        assert form is not None
        assert entries[()]["ports"] == write_ports(form.uops)
        assert entries[()]["retire"] == form.retire_slots
    assert by_key()["DIV_RM64/r"].key not in forms_of
