"""Measured forms and AMD's cores: port sets from what blockers showed, and what uops.info leaves out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incc.models.forms import shapes
from incc.models.importers.common import ImportFailed
from incc.models.importers.measured import amd as measured_amd
from incc.models.importers.measured import importer as measured
from incc.models.importers.uops_info import amd
from incc.models.loading import load
from incc.models.notation import parse_ports

HEAD = {"core": "x", "load_latency": {"gpr": 4, "vector": 7, "zmm": 8}, "fusion": {"add cmp": "je jne"}}
ADD = "ADD_R64_RM64/r"


def record(
    form: str, seen: dict[str, float], latency: list[Any], tp: float | None = None, **more: Any
) -> dict[str, Any]:
    return {"form": form, "conditions": [], "slots": 1.0, "seen": seen, "tp": tp, "latency": latency, **more}


def imported(tmp_path: Path, *records: Any, keep_going: bool = False) -> Any:
    file = tmp_path / "core.jsonl"
    lines = [r if isinstance(r, str) else json.dumps(r) for r in (HEAD, *records)]
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return measured.import_files([str(file)], keep_going)


@pytest.mark.parametrize(
    ("form", "seen", "tp", "ports"),
    [
        (ADD, {"ALU0123": 1.0}, 0.25, "1*ALU0123"),
        # A multiplication keeps more waiting than its own unit.
        ("IMUL_R64_RM64/r", {"ALU0123": 4.0, "ALU12": 3.0, "ALU1": 1.0}, 1.0, "1*ALU1"),
        ("VEX_VADDPD_YMM_YMM_YMMM256/r", {"FP23": 0.98, "FP0123": 1.04}, 0.5, "1*FP23"),
        # Seen beside blockers of FP01 and of FP12: only FP1 is in both.
        ("VEX_VADDPD_YMM_YMM_YMMM256/r", {"FP01": 1.0, "FP12": 1.0, "FP0123": 1.0}, 1.0, "1*FP1"),
        ("VEX_VADDPD_YMM_YMM_YMMM256/r", {"FP23": 1.0, "FP0123": 1.0}, 1.0, "1*FP3"),
        ("VEX_VUNPCKLPD_YMM_YMM_YMMM256/r", {"FP0123": 1.0}, 0.333, "1*FP123"),
        # Two µops at two a cycle cannot be.
        ("VEX_VPERMD_YMM_YMM_YMMM256/r", {"FP12": 1.7, "FP0123": 1.3}, 0.5, "1*FP12"),
        ("VEX_VUCOMISD_XMM_XMMM64/r", {"FP23": 1.0, "FP0123": 1.0}, 1.0, "1*FP23+1*FP4"),
        # On its way to a general-purpose register; more is not believed.
        ("VEX_VMOVD_RM32_XMM/r", {"FP5": 1.0, "ALU0123": 3.0, "ALU12": 2.0}, 1.0, "1*ALU12+1*FP5"),
    ],
)
def test_ports(tmp_path: Path, form: str, seen: dict[str, float], tp: float, ports: str) -> None:
    slots = 2 if "UCOMI" in form else 1
    forms = imported(tmp_path, record(form, seen, [], tp, slots=slots)).forms
    assert forms[form][()]["ports"] == ports


def test_what_takes_cycles_computes(tmp_path: Path) -> None:
    form, slow = "VEX_VFMADD213SD_XMM_XMM_XMMM64", [["0", "0", 4.0], ["0", "1", 4.0]]
    forms = imported(
        tmp_path,
        record(form + "/r", {"FP01": 1.0, "FP0123": 1.0}, [*slow, ["0", "2", 4.0]]),
        record(form + "/m", {"AG012": 1.0}, [*slow, ["0", "m", 11.0]]),
        # The other way round, and what is left of a measurement under a condition.
        record("VEX_VHADDPS_YMM_YMM_YMMM256/r", {}, [["0", "1", 4.0]], slots=3),
        record("VEX_VHADDPS_YMM_YMM_YMMM256/m", {"FP23": 2.0, "FP0123": 3.0}, [["0", "1", 4.0]], slots=3),
        record("EVEX_VPMADD52LUQ_XMM_K1Z_XMM_XMMM128B64/r", {"FP01": 1.0, "FP0123": 1.0}, slow),
        record("EVEX_VPMADD52LUQ_XMM_K1Z_XMM_XMMM128B64/r", {}, slow) | {"conditions": ["mask"]},
        # Moves and stores compute nothing, and what exchanges with memory says nothing of registers.
        record("MOV_RM64_R64/r", {}, [["0", "1", 0.5]]),
        record("MOV_RM64_R64/m", {"AG012": 1.0}, [["M", "1", 0.0]]),
        record("XCHG_RM64_R64/r", {}, [["0", "1", 1.0]], slots=2),
        record("XCHG_RM64_R64/m", {"ALU0123": 1.0, "AG012": 2.0}, [["M", "1", 1.0], ["1", "m", 9.0]], slots=2),
    ).forms
    assert forms[form + "/m"][()]["ports"].endswith("+1*FP01")
    assert forms["VEX_VHADDPS_YMM_YMM_YMMM256/r"][()]["ports"]
    assert "ports" not in forms["EVEX_VPMADD52LUQ_XMM_K1Z_XMM_XMMM128B64/r"].get(("mask",), {})
    assert "ALU" not in forms["MOV_RM64_R64/m"][()]["ports"]
    assert forms["MOV_RM64_R64/r"][()]["ports"] == forms["XCHG_RM64_R64/r"][()]["ports"] == ""


def test_wide_multiplications_with_an_index_come_from_microcode(tmp_path: Path) -> None:
    ports = {"ALU0123": 1.0, "ALU1": 1.0, "AG012": 1.0}
    keys = ["MUL_RM64/m", "VEX_MULX_R32_R32_RM32/m", "IMUL_R64_RM64/m", "MUL_RM8/m"]
    forms = imported(tmp_path, *(record(key, ports, [], slots=2) for key in keys)).forms
    assert [forms[key].get(("indexed",)) for key in keys] == [{"uops_ms": 2}, {"uops_ms": 2}, None, None]


def test_512_bits_hold_their_pipe(tmp_path: Path) -> None:
    form = "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER"
    seen = {"FP23": 2.0, "FP0123": 2.0}
    forms = imported(
        tmp_path,
        record(form + "/r", seen, [["0", "1", 3.0]], 1.0),
        record(form + "/m", {**seen, "AG012": 2.0}, [["0", "1", 3.0], ["0", "m", 10.9]], 1.0),
        record(form + "/m", {**seen, "AG012": 1.0}, [["0", "1", 3.0], ["0", "m", 9.9]], 1.0, conditions=["bcast"]),
    ).forms
    assert forms[form + "/r"][()] == {"ports": "1*FP23", "retire": 1, "hold": 2, "latency": "0<1:3"}
    assert forms[form + "/m"][()]["ports"] == "1*AG01+1*FP23"
    assert forms[form + "/m"][()]["latency"] == "0<1,m:3"
    # What is broadcast is one narrow access.
    assert forms[form + "/m"][("bcast",)]["ports"] == "1*AG01+2*FP23"


def test_idioms_and_fusion(tmp_path: Path) -> None:
    xor, sbb = "XOR_R64_RM64/r", "SBB_R64_RM64/r"
    forms = imported(
        tmp_path,
        record(ADD, {"ALU0123": 1.0}, [["0", "0", 1.0]]),
        record(ADD, {"ALU0123": 1.0}, [["0", "0", 1.0]], conditions=["same_reg"]),
        record(xor, {"ALU0123": 1.0}, [["0", "0", 1.0]]),
        record(xor, {}, [["0", "0", 0.3]], conditions=["same_reg"]),
        record(sbb, {"ALU0123": 1.0}, [["0", "0", 1.0], ["0", "C", 1.0]]),
        record(sbb, {"ALU0123": 1.0}, [["0", "0", 0.3], ["0", "C", 1.0]], conditions=["same_reg"]),
    ).forms
    assert ("same_reg",) not in forms[ADD]
    assert forms[xor][("same_reg",)] == {"ports": "", "latency": "", "breaks": True}
    assert forms[sbb][("same_reg",)] == {"breaks": True}
    assert forms[ADD][()]["fusion"] == "add_cmp"
    assert "fusion" not in forms[xor][()]


@pytest.mark.parametrize(
    "line",
    ["{", "[]", '{"form": "X"}', json.dumps(record(ADD, {"ALU0123": -1.0}, [])), json.dumps(record(ADD, {}, [["0"]]))],
)
def test_malformed_record(tmp_path: Path, line: str) -> None:
    with pytest.raises(ImportFailed, match=r"core\.jsonl:2: "):
        imported(tmp_path, line)


def test_keep_going(tmp_path: Path) -> None:
    result = imported(tmp_path, '{"form": "X"}', record(ADD, {"ALU0123": 1.0}, []), keep_going=True)
    assert list(result.forms) == [ADD]
    assert len(result.skipped) == 1


FUNCTIONS = {
    "load": "AG0,AG1",
    "load_vector": "AG0,AG1",
    "store_address": "AG0,AG1",
    "store_data": "ST0",
    "store_vector": "FP2",
    "branch_taken": "ALU0",
    "branch_not_taken": "ALU0",
    "integer": "ALU0,ALU1",
    "multiply": "ALU1",
    "shift": "ALU0,ALU1",
    "select": "ALU0,ALU1",
}
PORTS = ("ALU0", "ALU1", "AG0", "AG1", "ST0", "FP0", "FP1", "FP2", "FP3")


def completed(form: str, entry: dict[str, Any], like: dict[str, Any] | None = None) -> dict[str, Any]:
    forms = amd.complete({form: {(): entry}}, FUNCTIONS, PORTS, 128, lambda _: {(): like} if like else {})
    fields = forms[form][()]
    parse_ports(fields["ports"], PORTS)
    return fields


def test_completed_ports() -> None:
    add = {"ports": "", "retire": 1, "latency": "0<0,1:1"}
    assert completed(ADD, add)["ports"] == "1*ALU01"
    assert completed("IMUL_R64_RM64/r", add, {"ports": "1*ALU1", "retire": 1})["ports"] == "1*ALU1"
    assert completed("ADD_R64_RM64/m", add, {"ports": "1*AG012+1*ALU0123", "retire": 1})["ports"] == "1*AG01+1*ALU01"
    assert completed("JNE_REL8_64/r", {"ports": "", "retire": 1}, {"ports": "1*p(ALU0|BR)"})["ports"] == "1*ALU0"
    assert completed("MOV_R64_RM64/r", {"ports": "", "retire": 1, "latency": "0<1:0"}, {"ports": ""})["ports"] == ""


def test_256_bits_are_two_on_128() -> None:
    load = completed("VEX_VMOVUPS_YMM_YMMM256/m", {"ports": "", "retire": 2, "latency": "0<m:0"}, {"ports": "1*AG01"})
    assert load["ports"] == "2*AG01"
    add = completed(
        "VEX_VADDPD_YMM_YMM_YMMM256/r",
        {"ports": "", "retire": 2, "latency": "0<1,2:3"},
        {"ports": "1*FP23", "retire": 1},
    )
    assert add["ports"] == "2*FP23"


def test_the_way_back_is_taken_off() -> None:
    to_vector = completed("VEX_VMOVD_XMM_RM32/r", {"ports": "", "retire": 1, "latency": "0<1:5"})
    back = completed("VEX_VMOVD_RM32_XMM/r", {"ports": "1*FP2", "retire": 1, "latency": "0<1:5"})
    # 5 is published for each; there and back take 6.
    assert (to_vector["latency"], back["latency"]) == ("0<1:4", "0<1:2")


def test_gathers_access_each_element() -> None:
    by_key = shapes.by_key()
    assert amd.elements(by_key["VEX_VPGATHERDD_YMM_VM32Y_YMM/m"]) == 8
    assert amd.elements(by_key["VEX_VGATHERQPS_XMM_VM64Y_XMM/m"]) == 4


def test_hardware_facts_of_zen_4() -> None:
    """Figures that AMD and others publish, too: they must survive another measurement."""
    model = load("znver4")
    none = frozenset[str]()

    def ports(form: str, *traits: str) -> dict[str, int]:
        found = model.lookup(form, frozenset(traits))
        assert found is not None
        return dict(found.uops)

    assert ports("VEX_VFMADD231PD_YMM_YMM_YMMM256/r") == {"FP0,FP1": 1}
    assert ports("MOV_R64_RM64/r") == {} == ports("VEX_VPXOR_XMM_XMM_XMMM128/r", "same_reg")
    assert ports("MOV_RM64_R64/m") == {"AG0,AG1,AG2": 1, "ST0,ST1": 1}
    add = model.lookup("EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r", none)
    assert add is not None
    assert (add.attributes["hold"], add.latency, add.retire_slots) == (2, (("0", "1", 3), ("0", "2", 3)), 1)
    compare, in_memory = model.lookup("CMP_R64_RM64/r", none), model.lookup("CMP_R64_RM64/m", none)
    assert compare is not None
    assert in_memory is not None
    assert model.fuses(compare, "jo")
    assert not model.fuses(in_memory, "je")
    decrement = model.lookup("DEC_RM64/r", none)
    assert decrement is not None
    assert model.fuses(decrement, "jne")
    assert not model.fuses(decrement, "jb")


def test_successor_has_more_and_wider_units() -> None:
    header = {
        "ports": (*(f"ALU{n}" for n in range(6)), "AG0", "AG1", "AG2", "AG3", "ST0", "FP2", "FP3"),
        "functions": {
            **FUNCTIONS,
            "integer": ",".join(f"ALU{n}" for n in range(6)),
            "load": "AG0,AG1,AG2,AG3",
            "branch_taken": "ALU3,ALU4",
        },
        "parameters": {"memory_bits": 512},
    }
    wide = "EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/m"
    forms = amd.successor(
        {
            "ADD_R64_RM64/m": {(): {"ports": "1*AG012+1*ALU0123", "retire": 1}},
            wide: {(): {"ports": "1*AG01+1*FP23", "retire": 1, "hold": 2}, ("bcast",): {"ports": "1*AG01+2*FP23"}},
        },
        header,
        "old",
    )
    assert forms["ADD_R64_RM64/m"][()]["ports"] == "1*AG0123+1*ALU012345"
    assert forms[wide][()] == {"ports": "1*AG01+1*FP23", "retire": 1, "derived": "as on old"}


# --- over a model that has the forms ---------------------------------------------------------------------------------


def laid_over(entry: dict[str, Any], data: dict[str, Any], form: str = ADD) -> Any:
    """The form's entries afterwards, None if nothing differs."""
    kept = {form: {(): {"retire": 1, "source": "elsewhere", **entry}}}
    model = measured_amd.MeasuredModel(source="elsewhere", load={"gpr": 4, "vector": 7}, functions=FUNCTIONS)
    found = {form: {tuple(data.get("conditions", ())): {"seen": {}, "latency": [], "tp": None, **data}}}
    changed = measured_amd.lay_over(found, kept, model)
    return changed.get(form)


@pytest.mark.parametrize(
    ("before", "chain", "after"),
    [
        ("0<1:2", ["0", "1", 3.9], "0<1:4"),
        # Half a cycle is what waiting for pipes costs; nothing is believed to take no time.
        ("0<1:3", ["0", "1", 3.56], None),
        ("0<1:1", ["0", "1", 0.0], None),
        ("0<m:6", ["0", "m", 7.0], "0<m:3"),
    ],
)
def test_latencies_that_differ_are_laid_over(before: str, chain: list[Any], after: str | None) -> None:
    found = laid_over({"ports": "1*ALU0123", "latency": before}, {"latency": [chain]})
    assert (found[()]["latency"] if found else None) == after


@pytest.mark.parametrize(
    ("ports", "seen", "tp", "after"),
    [
        ("1*FP01", {"FP01": 0.95}, 1.0, {"ports": "1*FP0"}),
        ("1*FP01+1*FP12", {"FP01": 0.95, "FP12": 0.9}, 1.26, {"ports": "1*FP0+1*FP12"}),
        ("1*FP01+1*FP23", {"FP01": 0.95, "FP23": 0.9}, 1.0, {"ports": "1*FP0+1*FP23"}),
        # Not seen beside these pipes: something else takes the time.
        ("1*FP01", {}, 1.0, {"ports": "1*FP01", "tp": 1}),
        ("1*FP0123", {"FP0123": 1.0}, 2.5, {"ports": "1*FP0123", "tp": 2.5}),
        ("1*FP01", {"FP01": 0.95}, 0.5, None),
    ],
)
def test_throughput_that_ports_do_not_explain(
    ports: str, seen: dict[str, float], tp: float, after: dict[str, Any] | None
) -> None:
    form = "VEX_VPERM2F128_YMM_YMM_YMMM256_IMM8/r"
    found = laid_over({"ports": ports}, {"seen": seen, "tp": tp}, form)
    assert (found and {k: found[()][k] for k in after or {}}) == after


def test_copies_in_a_chain_explain_their_throughput() -> None:
    assert laid_over({"ports": "1*FP01", "latency": "0<0:4"}, {"seen": {"FP01": 1.0}, "tp": 4.0}) is None


def test_what_does_not_wait_for_itself_and_other_sources() -> None:
    same = {"conditions": ["same_reg"], "seen": {"ALU0123": 1.0}, "latency": [["0", "C", 1.0], ["0", "0", 0.0]]}
    entry = {"ports": "1*ALU0123", "latency": "0<0,1,C:1"}
    assert laid_over(entry, same)["same_reg",] == {"breaks": True}
    assert laid_over({**entry, "source": "llvm"}, same) is None


def test_an_arithmetic_unit_beside_an_index() -> None:
    data = {"conditions": ["indexed"], "seen": {"ALU0123": 1.0}}
    stores = "MOV_RM64_R64/m"
    assert laid_over({"ports": "1*AG012+1*ST01"}, data, stores)["indexed",] == {"ports": "1*AG012+1*ALU0123+1*ST01"}
    assert laid_over({"ports": "2*AG012+1*ALU0123+1*ST01"}, data, stores) is None
    found = load("znver3").lookup(stores, frozenset(["indexed"]))
    assert found is not None
    assert sum(count for ports, count in found.uops if "ALU0" in ports) == 1


def test_zen_3_as_measured() -> None:
    model = load("znver3")
    sbb, halves, convert = (
        model.lookup(form, frozenset(traits))
        for form, traits in (
            ("SBB_RM64_R64/r", ["same_reg"]),
            ("VEX_VEXTRACTI128_XMMM128_YMM_IMM8/r", []),
            ("VEX_VCVTTPD2DQ_XMM_YMMM256/m", []),
        )
    )
    assert sbb is not None
    assert sbb.breaks_dependency
    assert halves is not None
    assert halves.uops == (("FP0", 1),)
    assert convert is not None
    assert ("FP0", 1) in convert.uops


# --- over a model whose forms were derived from another core ---------------------------------------------------------


@pytest.mark.parametrize(
    ("form", "ports", "seen", "tp", "after"),
    [
        ("VEX_VPABSD_XMM_XMMM128/r", "1*FP01", {"FP0123": 1.0, "FP03": 1.0}, 0.5, "1*FP03"),
        # Beside the blockers of two pairs that share a pipe.
        ("VEX_VPABSD_XMM_XMMM128/r", "1*FP01", {"FP0123": 1.0, "FP12": 1.0, "FP23": 1.0}, 1.0, "1*FP2"),
        ("VEX_VPABSD_XMM_XMMM128/r", "1*FP01", {"FP0123": 2.0, "FP12": 1.0, "FP23": 1.0}, 0.7, "1*FP12+1*FP23"),
        # Counts beyond what the throughput allows come from results that are late.
        ("ADD_R64_RM64/r", "1*ALU01", {"ALU01": 3.0, "ALU1": 2.0}, 1.0, "1*ALU1"),
        ("VEX_VMOVQ_XMM_RM64/r", "1*ALU01+1*FP3", {"ALU1": 1.0, "FP6": 1.0}, 1.0, "1*ALU1+1*FP6"),
    ],
)
def test_derived_forms_get_the_ports_that_were_seen(
    form: str, ports: str, seen: dict[str, float], tp: float, after: str
) -> None:
    found = laid_over({"ports": ports, "derived": "as on old", "source": "elsewhere"}, {"seen": seen, "tp": tp}, form)
    assert found == {(): {"retire": 1, "source": "elsewhere", "ports": after}}


def test_stored_data_take_the_unit_that_was_seen() -> None:
    derived = {"ports": "1*AG01+1*ST0", "derived": "as on old"}
    found = laid_over(derived, {"seen": {"ALU01": 1.0}, "tp": 0.5}, "MOV_RM64_R64/m")
    assert found[()]["ports"] == "1*AG01+1*ALU01+1*ST0"
    # Slots, but no throughput: copies of a read-modify-write wait for each other's stores.
    found = laid_over({**derived, "retire": 2}, {"slots": 1.0, "tp": 7.0}, "ADD_RM64_R64/m")
    assert found == {(): {"retire": 1, "source": "elsewhere", "ports": "1*AG01+1*ST0"}}


def test_memory_forms_compute_as_their_register_forms() -> None:
    register, memory = "VEX_VPABSD_XMM_XMMM128/r", "VEX_VPABSD_XMM_XMMM128/m"
    derived = {"retire": 1, "derived": "as on old"}
    kept = {register: {(): {"ports": "1*FP01", **derived}}, memory: {(): {"ports": "1*AG01+1*FP01", **derived}}}
    data = {"latency": [], "tp": 0.5, "slots": 0}
    found = {memory: {(): {**data, "seen": {}}}, register: {(): {**data, "seen": {"FP0123": 1.0, "FP03": 1.0}}}}
    model = measured_amd.MeasuredModel(source="", load={"gpr": 4, "vector": 7}, functions=FUNCTIONS)
    changed = measured_amd.lay_over(found, kept, model)
    assert changed[memory] == {(): {"ports": "1*AG01+1*FP03", "retire": 1}}


def test_figures_under_conditions_are_laid_over_derived_forms() -> None:
    form = "EVEX_VPADDD_YMM_K1Z_YMM_YMMM256B32/r"
    entry = {"ports": "1*FP0123", "latency": "0<1,2:1", "derived": "as on old"}
    data = {"conditions": ["mask"], "latency": [["0", "1", 2.0], ["0", "2", 3.0]]}
    assert laid_over(entry, data, form)["mask",] == {"latency": "0<1:2 0<2:3"}


def test_zen_5_as_measured() -> None:
    model = load("znver5")
    counts, adds, from_general, nop = (
        model.lookup(form, frozenset())
        for form in ("VEX_VPABSD_YMM_YMMM256/r", "VEX_VADDPD_YMM_YMM_YMMM256/r", "VEX_VMOVQ_XMM_RM64/r", "NOPD/r")
    )
    assert counts is not None
    assert counts.uops == (("FP0,FP3", 1),)
    assert adds is not None
    assert ("0", "1", 2) in adds.latency
    assert from_general is not None
    assert ("FP6", 1) in from_general.uops
    assert nop is not None
    assert nop.retire_slots == 1
