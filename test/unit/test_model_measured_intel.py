"""What was measured by time alone on a core with numbered ports, over its model; Golden and Redwood Cove."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bind_kernels import kernel as decoded
from incc.core import bounds, simulate
from incc.driver.commands.model import main
from incc.driver.pipeline import analyze_units
from incc.frontends.unit import Unit
from incc.models.binding.bind import bind
from incc.models.forms.shapes import by_key
from incc.models.importers.measured.intel import import_records
from incc.models.loading import load
from settings_fixtures import settings_with

PORTS = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "A", "B"]
COVES = ("alderlake", "sapphirerapids", "meteorlake", "graniterapids")
ADD = "EVEX_VADDPD_XMM_K1Z_XMM_XMMM128B64/r"
FMA, WIDE_FMA = "EVEX_VFMADD213PD_XMM_K1Z_XMM_XMMM128B64/r", "EVEX_VFMADD213PD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r"


def record(seen: dict[str, float], tp: float | None, latency: list[Any], **more: Any) -> dict[str, Any]:
    return {"seen": seen, "tp": tp, "latency": latency, "slots": 1.0, **more}


def imported(records: dict[str, Any], kept: dict[str, Any], inherited: dict[str, Any] | None = None) -> Any:
    records = {key: found if () in found else {(): found} for key, found in records.items()}
    return import_records(records, kept, inherited or {}, set(by_key()), "llvm", PORTS)


CHAIN = [["0", "1", 1.98], ["0", "2", 1.98]]


@pytest.mark.parametrize(
    ("seen", "unsure", "ports"),
    [
        ({"p15": 1.02, "p015": 1.1, "p15B": 1.0}, [], "1*p15"),
        ({"p5": 1.0, "p15": 1.0, "p015": 1.1}, [], "1*p5"),
        # Sets hold what the sets within them hold: two on 5, two on 0 or 1.
        ({"p5": 2.01, "p15": 2.03, "p01": 2.04, "p015": 4.09}, [], "2*p01+2*p5"),
        ({"p015": 0.96}, [], "1*p015"),
        # What is not known is no zero: as it was.
        ({"p015": 1.0}, ["p01"], "1*p01"),
    ],
)
def test_port_sets_from_nested_counts(seen: dict[str, float], unsure: list[str], ports: str) -> None:
    key = ADD
    kept = {key: {(): {"ports": "1*p01", "retire": 1, "latency": "0<1,2:4"}}}
    found = imported({key: record(seen, None, CHAIN, unsure=unsure)}, kept).forms[key][()]
    assert (found["ports"], found["latency"], found["source"]) == (ports, "0<1,2:2", "measured")


def test_wide_forms_have_the_narrow_ones_uops() -> None:
    """Beside 512 bits most counts mean nothing; the narrower form, the throughput and ports 0 and 5 tell."""
    narrow, wide = FMA, WIDE_FMA
    kept = {key: {(): {"ports": "1*p0", "retire": 1, "latency": "0<0,1,2:4"}} for key in (narrow, wide)}
    chain = [["0", n, 3.97] for n in "012"]
    records = {
        narrow: record({"p01": 1.0, "p015": 1.0}, 0.5, chain),
        wide: record({"p15": 18.9, "p015": 25.3}, 0.41, [["0", n, 4.3] for n in "012"]),
    }
    forms = imported(records, kept).forms
    assert (forms[narrow][()]["ports"], forms[wide][()]["ports"]) == ("1*p01", "1*p05")
    assert forms[wide][()]["latency"] == "0<0,1,2:4"  # the clock changed, not the unit
    records[wide] = record({"p0": 0.58, "p15": 18.9, "p015": 25.3}, 0.98, [["0", n, 5.7] for n in "012"])
    forms = imported(records, kept).forms
    assert (forms[wide][()]["ports"], forms[wide][()]["latency"]) == ("1*p0", "0<0,1,2:6")


def test_what_uops_info_counted_stays() -> None:
    """Its ports, and latencies that a chain does not contradict; what nobody contradicts is not written at all."""
    key = "VEX_VADDPD_XMM_XMM_XMMM128/r"
    kept = {key: {(): {"ports": "1*p15", "retire": 1, "latency": "0<1,2:2", "source": "uops.info"}}}
    assert not imported({key: record({"p01": 3.0}, 0.5, [["0", "1", 2.6], ["0", "2", 1.4]])}, kept).forms
    found = imported({key: record({"p01": 3.0}, 0.5, [["0", "1", 2.98], ["0", "2", 1.98]])}, kept).forms[key][()]
    assert (found["ports"], found["latency"], found["source"]) == ("1*p15", "0<1:3 0<2:2", "measured")


def test_only_what_differs_from_the_inherited_is_written() -> None:
    key = "VEX_VMULPD_XMM_XMM_XMMM128/r"
    inherited = {key: {(): {"ports": "1*p01", "retire": 1, "latency": "0<1,2:3", "source": "uops.info"}}}
    data = record({}, None, [["0", "1", 3.99], ["0", "2", 4.0]])
    assert imported({key: data}, inherited, inherited).forms == {
        key: {(): {"latency": "0<1,2:4", "source": "measured"}}
    }


def test_memory_follows_the_register_form() -> None:
    register, memory = "VEX_VMULPD_XMM_XMM_XMMM128/r", "VEX_VMULPD_XMM_XMM_XMMM128/m"
    kept = {
        register: {(): {"ports": "1*p01", "retire": 1, "latency": "0<1,2:3", "source": "uops.info"}},
        memory: {(): {"ports": "1*p01+1*p23A", "retire": 1, "latency": "0<1,m:3", "source": "uops.info"}},
    }
    records = {
        register: record({}, None, [["0", "1", 4.0], ["0", "2", 4.0]]),
        memory: record({}, None, [["0", "1", 4.0]]),
    }
    assert imported(records, kept).forms[memory][()]["latency"] == "0<1,m:4"


def test_a_contradiction_is_told() -> None:
    key = ADD
    kept = {key: {(): {"ports": "2*p5", "retire": 2, "latency": "0<1,2:2"}}}
    found = imported({key: record({"p01": 2.0}, 0.5, CHAIN, unsure=["p5", "p15", "p015"])}, kept)
    assert found.notes == [f"{key}: 0.5 cycles measured, 2.00 by its ports 2*p5"]


def test_import_writes_over_a_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, data = tmp_path / "mine.toml", tmp_path / "mine.jsonl"
    model.write_text('format = 1\nname = "mine"\nisa = "x86"\ninherits = "meteorlake"\n', encoding="utf-8")
    head = {"core": "x", "load_latency": {"gpr": 5, "vector": 7, "zmm": 8}, "blockers": {"p015": "vpaddd"}}
    line = {"form": "VEX_VMULPD_XMM_XMM_XMMM128/r", "conditions": [], "seen": {}, "latency": [["0", "1", 4.9]]}
    data.write_text(f"{json.dumps(head)}\n{json.dumps(line)}\n", encoding="utf-8")
    assert main(["import", "measured", "--prefer", str(data), "-o", str(model)]) == 0
    assert '"VEX_VMULPD_XMM_XMM_XMMM128/r" = { latency = "0<1:5 0<2:3"' in model.read_text(encoding="utf-8")
    assert main(["import", "measured", str(data), "-o", str(tmp_path / "none.toml")]) == 1
    assert "no such file" in capsys.readouterr().err


# --- the models -------------------------------------------------------------------------------------------------------


def latency(cpu: str, key: str, conditions: tuple[str, ...] = ()) -> int:
    found = load(cpu).lookup(key, frozenset(conditions))
    assert found is not None
    return max(cycles for to, source, cycles in found.latency if to == "0" and source.isdigit())


@pytest.mark.parametrize("key", ["MULSD_XMM_XMMM64/r", "VEX_VMULPS_YMM_YMM_YMMM256/r", "VEX_VMULPD_XMM_XMM_XMMM128/m"])
def test_golden_cove_multiplies_a_cycle_longer(key: str) -> None:
    assert [latency(cpu, key) for cpu in COVES] == [4, 4, 3, 3]


def test_what_golden_and_redwood_cove_share() -> None:
    for key, cycles in (("VEX_VADDPD_XMM_XMM_XMMM128/r", 2), ("VEX_VFMADD213PD_YMM_YMM_YMMM256/r", 4)):
        assert [latency(cpu, key) for cpu in COVES] == [cycles] * 4
    servers = [load("sapphirerapids"), load("graniterapids")]
    assert set(servers[0].forms()) == set(servers[1].forms()) > set(load("meteorlake").forms())


def test_to_general_purpose_registers_and_back_takes_four_cycles() -> None:
    """uops.info has upper bounds of three for each way."""
    assert latency("graniterapids", "VEX_VMOVQ_RM64_XMM/r") + latency("graniterapids", "VEX_VMOVQ_XMM_RM64/r") == 4


def test_avx512_is_measured() -> None:
    model = load("graniterapids")
    others = {
        key
        for key in model.forms()
        if key.startswith("EVEX_") and (found := model.lookup(key, frozenset())) and found.source != "measured"
    }
    assert all("GATHER" in key or "SCATTER" in key or "MOVNT" in key for key in others)


WIDE = "vpaddd %zmm2, %zmm2, %zmm3"


@pytest.mark.parametrize(("beside", "ports", "cycles"), [("", "1,5", 2), (WIDE, "0,5", 3)])
def test_additions_beside_512_bits(beside: str, ports: str, cycles: int) -> None:
    """Port 1 is closed to them then, and on port 0 and port 5 they take longer (measured: 3.3 cycles a link)."""
    text = f".L1:\n{beside}\nvaddsd %xmm1, %xmm0, %xmm0\ndec %rax\njnz .L1\n"
    report = analyze_units(
        [Unit(assembly=text, assembly_file="a.s")], settings_with(mcpu="graniterapids", regions="loops")
    )
    kernel = report.units[0].kernels[0]
    assert kernel.bounds.loop_carried.cycles == cycles
    added = load("graniterapids").lookup("VEX_VADDSD_XMM_XMM_XMMM64/r", frozenset(["wide"] if beside else []))
    assert added is not None
    assert added.uops == ((ports, 1),)


def test_addresses_take_what_was_measured() -> None:
    key, where = "LEA_R64_M/m", ("agen:IS_D32",)
    kept = {key: {(): {"ports": "", "source": "uops.info"}, where: {"ports": "1*p056", "latency": "0<a:1"}}}
    near, far = [["0", "a", 1.2]], [["0", "a", 1.97]]
    assert not imported({key: {(): record({}, None, []), where: record({}, 0.34, near)}}, kept).forms
    found = imported({key: {(): record({}, None, []), where: record({}, 0.34, far)}}, kept).forms[key]
    assert found[where]["latency"] == "0<a:2"


@pytest.mark.parametrize(("cycles", "ports"), [(0.176, ""), (0.203, "1*p0156B")])
def test_constants_of_the_renamer(cycles: float, ports: str) -> None:
    key = "MOV_RM64_IMM32/r"
    kept = {key: {(): {"ports": "1*p0156B", "retire": 1, "source": "uops.info"}}}
    forms = imported({key: record({}, cycles, [])}, kept).forms
    assert forms.get(key, kept[key])[()]["ports"] == ports


@pytest.mark.parametrize(
    ("lines", "measured"),
    [
        # A scaled index without a base takes two cycles.
        (["lea (,%rdi,8), %r12", "mov %r12, %rdi"] * 3, 5.99),
        # Of a shift by cl the flags that may stay are not in the way of the register.
        (["mov $1, %edx", "mov %eax, %ecx", "shl %cl, %rdx", "and $0x67, %edx"] * 2, 2.49),
        (["lea -1(%rax,%rbp), %r8d", "sar %cl, %r8d", "test %r8d, %r8d"] * 2, 2.50),
        # The renamer makes constants of 64 bits.
        (["mov $1, %r9d", "mov $-1, %r8"] * 3, 1.17),
        (["mov $-8, %r12", "cmp %r12, %rax"] * 3, 1.17),
    ],
)
def test_blocks_measured_on_redwood_cove(lines: list[str], measured: float) -> None:
    text = "1: " + "; ".join([*lines, "dec %r15", "jne 1b"])
    k = bind(replace(decoded(text), alignment=0), load("graniterapids"))[0]
    assert float(simulate(k).cycles_per_iteration) == pytest.approx(measured, abs=0.03)
    assert float(bounds(k).largest) <= measured + 0.03
