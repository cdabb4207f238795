"""LLVM's figures on cores whose units have names: µops, held units, memory, idioms; by kind of unit; features."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from incc.driver.commands.model import main
from incc.models.files.source import Entry
from incc.models.forms.shapes import FEATURES, by_key, dataflow, encode, example
from incc.models.importers.common import ImportFailed, wanted
from incc.models.importers.llvm import importer as llvm
from incc.models.importers.llvm import units as llvm_units
from incc.models.importers.llvm.features import features_of
from incc.models.loading import load

CORE = llvm_units.UnitModel(
    units={"XA0": ["IN0"], "XA1": ["IN1"], "XV0": ["VX0"], "XL": ["LP0"], "XDiv": ["Div"], "XMac": ["Mac", "Mac"]},
    functions={"load": "LP0", "store_address": "ST0", "store_data": "SX0"},
    resources=("Div", "Mac"),
    load_latency={"gpr": 3, "xmm": 5},
    memory_bits=128,
    fuses=True,
    kinds={},
    ports=("IN0", "IN1", "VX0", "LP0", "ST0", "SX0"),
)


def entry(form: str, core: llvm_units.UnitModel = CORE, **data: Any) -> Entry:
    shape = by_key()[form]
    flow = dataflow(shape)
    used = [{"name": "+".join(members), "members": members, "cycles": n} for members, n in data.pop("used", [])]
    said = {"uops": 1, "latency": 1, "read_advance": [], "resources": used, "breaks": False, **data}
    return llvm_units.entry(shape, flow, said, core)


def test_uops_are_on_our_ports() -> None:
    made = entry("ADD_R64_RM64/r", used=[(["XA0", "XA1"], 1)])
    assert made == {"ports": "1*IN01", "retire": 1, "latency": "0,C,SPAZO<0,1:1"}


def test_memory_is_as_the_model_has_it() -> None:
    """LLVM's cycles on address units do not count: a load, an address and data each."""
    made = entry("ADD_R64_RM64/m", latency=4, used=[(["XA0", "XA1"], 1), (["XL"], 3)])
    assert (made["ports"], made["latency"]) == ("1*IN01+1*LP0", "0,C,SPAZO<0,m:1")
    made = entry("ADD_RM64_R64/m", latency=6, used=[(["XA0", "XA1"], 1), (["XL"], 1)])
    assert made["ports"] == "1*IN01+1*LP0+1*ST0+1*SX0"
    made = entry("MOV_R64_RM64/m", latency=3, used=[(["XL"], 2)])
    assert (made["ports"], made["latency"]) == ("1*LP0", "0<m:0")
    made = entry("MOV_RM64_R64/m", used=[(["XL"], 1)])
    assert (made["ports"], made["latency"]) == ("1*ST0+1*SX0", "M<1:0")


def test_wide_accesses_are_several() -> None:
    made = entry("VEX_VMOVAPS_YMM_YMMM256/m", uops=2, latency=5, used=[(["XL"], 2)])
    assert (made["ports"], made["retire"]) == ("2*LP0", 2)


def test_gathers_load_each_element() -> None:
    made = entry("VEX_VPGATHERDD_YMM_VM32Y_YMM/m", latency=20, used=[(["XL"], 1)])
    assert made["ports"] == "8*LP0"
    made = entry("VEX_VPGATHERQD_XMM_VM64X_XMM/m", latency=20, used=[(["XL"], 1)])
    assert made["ports"] == "2*LP0"


def test_units_that_are_held_longer_than_the_pipe() -> None:
    made = entry("DIVPS_XMM_XMMM128/r", latency=19, used=[(["XV0"], 1), (["XDiv"], 19)])
    assert (made["ports"], made["divider"], "unit" in made) == ("1*VX0", 19, False)
    # Two units that are one of ours share the cycles; one that is no longer held than the pipe says nothing.
    made = entry("MULPS_XMM_XMMM128/r", latency=5, used=[(["XV0"], 1), (["XMac"], 9)])
    assert (made["divider"], made["unit"]) == (5, "Mac")
    assert "divider" not in entry("MULPS_XMM_XMMM128/r", used=[(["XV0"], 1), (["XMac"], 3)])
    assert "divider" not in entry("MULPS_XMM_XMMM128/r", used=[(["XV0"], 1), (["XDiv"], 1)])


def test_pipes_that_are_held() -> None:
    made = entry("ADD_R64_RM64/r", used=[(["XA0", "XA1"], 4)])
    assert (made["ports"], made["hold"]) == ("1*IN01", 4)
    made = entry("ADD_R64_RM64/m", latency=4, used=[(["XA0", "XA1"], 9)])
    assert (made["ports"], made["tp"], "hold" in made) == ("1*IN01+1*LP0", 4.5, False)


def test_microcode_and_fusion() -> None:
    made = entry("CPUID/r", uops=9, used=[(["XA0"], 9)])
    assert (made["ports"], made["uops_mite"], made["uops_ms"]) == ("9*IN0", 0, 9)
    assert entry("CMP_R64_RM64/r", used=[(["XA0"], 1)])["fusion"] == "cmp_test"
    assert "fusion" not in entry("CMP_RM64_IMM8/m", latency=4, used=[(["XA0"], 1)])
    assert "fusion" not in entry("ADD_R64_RM64/r", used=[(["XA0"], 1)])


def test_by_kind_of_unit() -> None:
    core = replace(CORE, units={}, kinds={"int": "IN01", "vector": "VX0", "branch": "IN1"}, fuses=False)
    assert entry("FADD_ST0_STI/r", core, used=[(["Else"], 1)])["ports"] == "1*VX0"
    assert entry("ADD_R64_RM64/m", core, uops=2, latency=4)["ports"] == "1*IN01+1*LP0"
    assert entry("CALL_RM64/r", core, uops=3)["ports"] == "2*IN1+1*ST0+1*SX0"
    made = entry("FLD_M64FP/m", core)
    assert (made["ports"], made["derived"]) == ("1*LP0", "ports by kind")
    with pytest.raises(ValueError, match="no ports for the kind 'vector'"):
        entry("FADD_ST0_STI/r", replace(core, kinds={"int": "IN01"}))
    with pytest.raises(ImportFailed, match="malformed list of ports by kind"):
        llvm_units.core_of({"llvm": None, "parameters": {"load_latency": {}}}, "int", ())


def test_sandy_bridges_ports_on_a_core_with_one_for_loads() -> None:
    functions = {"load": "2", "store_address": "3"}

    def ports(form: str, text: str) -> str:
        flow = dataflow(by_key()[form])
        return str(llvm_units.with_one_load_port({"ports": text}, flow, functions)["ports"])

    assert ports("FADD_M64FP/m", "1*p1+1*p23") == "1*p1+1*p2"
    assert ports("FSTP_M64FP/m", "1*p23+1*p4") == "1*p3+1*p4"
    assert ports("ADD_RM64_R64/m", "1*p015+2*p23+1*p4") == "1*p015+1*p2+1*p3+1*p4"
    assert ports("ADD_R64_RM64/r", "1*p015") == "1*p015"


def test_features() -> None:
    found = features_of(["sse4.1", "avx512vnni", "bmi", "x87", "rtm", "slow-shld", "xop"], FEATURES.values())
    assert {"SSE4_1", "AVX512_VNNI", "BMI1", "FPU", "RTM", "HLE_OR_RTM", "XOP", "X64", "CET_IBT"} <= found
    assert not found & {"AVX", "SSE4_2", "SHA"}
    assert found <= set(FEATURES.values())


# llvm_sched is built for it, some 5 s.
@pytest.mark.skipif(shutil.which("llvm-config-19") is None, reason="no llvm-config-19")
def test_the_model_is_what_llvm_says(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Importing again what is there changes nothing; the names of resources alone change no form."""
    shipped = Path(load("btver2").files[0]).read_text()
    model = tmp_path / "btver2.toml"
    model.write_text(shipped)
    assert main(["import", "llvm", "--all", "--mcpu", "btver2", "-o", str(model)]) == 0
    # As models/importers/regenerate_llvm.sh has it: what LLVM has figures of though the core lacks it.
    fill = ["import", "llvm", "--fill", "--mcpu", "btver2", "-o", str(model), "--features"]
    assert main([*fill, "D3NOW,D3NOWEXT,BMI2"]) == 0
    assert main([*fill, "XSAVE,XSAVEC,XSAVEOPT,XSAVES", "--forms", "X*"]) == 0
    assert main([*fill, "SVM", "--forms", "INVLPGA*"]) == 0
    capsys.readouterr()
    assert model.read_text() == shipped
    assert main(["import", "llvm", "--resources", "--mcpu", "btver2", "-o", str(model)]) == 0
    assert model.read_text() == shipped
    assert main(["import", "llvm", "--all", "--fill", "--mcpu", "btver2", "-o", str(model)]) == 0
    assert model.read_text() == shipped
    assert "0 forms written" in capsys.readouterr().out
    assert main(["import", "llvm", "--mcpu", "btver2", "-o", str(tmp_path / "none.toml")]) == 1


@pytest.mark.skipif(shutil.which("llvm-config-19") is None, reason="no llvm-config-19")
@pytest.mark.parametrize("name", ["skylake", "znver4", "icelake-server", "haswell", "btver2", "bdver2", "gracemont"])
def test_no_form_that_llvm_has_is_lacking(name: str) -> None:
    """Of the forms that the core has by LLVM's features, those without figures are such that LLVM has none either."""
    model = load(name)
    processor = json.loads(llvm.run(name, [], "llvm-config-19")[0])
    has = features_of(processor["features"], FEATURES.values())
    known = set(model.forms())
    assert len(known) > 2000
    lacking = [s for s in wanted((), ",".join(sorted(has)), False) if s.key not in known]
    made = llvm.import_cpu(name, lacking)
    assert sorted(made.forms) == []
    # Encodings that nobody writes (docs/llvm-mca-resources.md); of others, with 16-bit targets, there is no example.
    assert len([s for s in lacking if encode(example(s)) is not None]) < 60


@pytest.mark.parametrize("name", ["btver2", "bdver2", "knl", "generic-x86-64"])
def test_modelled_cores_say_so(name: str) -> None:
    model = load(name)
    assert "not measured" in model.sources["llvm"]
    assert any(word in model.title for word in ("not measured", "as LLVM has it"))


@pytest.mark.parametrize("name", ["btver2", "bdver2"])
def test_idioms(name: str) -> None:
    model = load(name)
    for form in ("XOR_R32_RM32/r", "PXOR_XMM_XMMM128/r", "VEX_VXORPS_XMM_XMM_XMMM128/r", "SUB_R64_RM64/r"):
        same, other = model.lookup(form, frozenset(["same_reg"])), model.lookup(form, frozenset())
        assert same is not None
        assert other is not None
        assert (same.breaks_dependency, same.uops, other.breaks_dependency) == (True, (), False)
    added = model.lookup("ADD_R32_RM32/r", frozenset(["same_reg"]))
    assert added is not None
    assert not added.breaks_dependency
