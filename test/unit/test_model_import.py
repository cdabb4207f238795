"""Importers: from records to forms, and what they do with records that make no sense."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from incc.driver.commands.model import main
from incc.models.forms import shapes
from incc.models.importers import derive
from incc.models.importers.common import ImportFailed, reduced
from incc.models.importers.llvm.importer import indexed_variant
from incc.models.importers.osaca import importer as osaca
from incc.models.importers.uops_info import importer as uops_info

REG, MEM, FLAGS = "reg", "mem", "flags"


def record(form: str, ports: dict[str, int], operands: str, latency: str = "", **more: Any) -> dict[str, Any]:
    """A record in uops.info's manner: operands as "REG0:rw MEM0:r", latency as "REG0<REG1:1 REG0<MEM0:6@"."""
    listed: list[dict[str, Any]] = []
    for o in operands.split():
        name, access, *flags = o.split(":")
        kind = FLAGS if flags else MEM if name.startswith("MEM") else REG
        entry: dict[str, Any] = {"name": name, "type": kind, "access": access}
        if flags:
            entry["flags_written" if "w" in access else "flags_read"] = flags[0]
        listed.append(entry)
    pairs = []
    for text in latency.split():
        arrow, _, cycles = text.partition(":")
        to, _, source = arrow.partition("<")
        entry = {"from": source, "to": to, "cycles": 1}
        if cycles.endswith("@"):
            entry["addr"] = int(cycles[:-1])
        else:
            entry["cycles"] = int(cycles)
        pairs.append(entry)
    uops = sum(ports.values())
    base = {"uops": uops, "retire_slots": 1, "uops_mite": 1, "uops_ms": 0, "ports": ports, "operands": listed}
    rest = {"latency": pairs, "variants": {}, "macro_fusible_with": [], "attrs": {}}
    return {"iform": form.split()[0], "form": form, **base, **rest, **more}


PLAIN = [
    record("MOV (R64, M64)", {"23": 1}, "REG0:w MEM0:r", "REG0<MEM0:5@"),
    record("MOV (M64, R64)", {"237": 1, "4": 1}, "MEM0:w REG0:r", "MEM0<REG0:2 MEM0<MEM0:10@"),
    record("MOVAPS (XMM, M128)", {"23": 1}, "REG0:w MEM0:r", "REG0<MEM0:7@"),
    record("VMOVAPS (YMM, M256)", {"23": 1}, "REG0:w MEM0:r", "REG0<MEM0:8@"),
]
PLAIN[0]["latency"][0]["mem"] = 2


def write(tmp_path: Path, records: list[Any]) -> str:
    path = tmp_path / "core.jsonl"
    lines = [
        json.dumps({"arch": "X", "all_ports": "0,1"}),
        *(r if isinstance(r, str) else json.dumps(r) for r in records),
    ]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def forms(tmp_path: Path, *records: dict[str, Any]) -> dict[str, Any]:
    return uops_info.import_files([write(tmp_path, [*PLAIN, *records])]).forms


@pytest.mark.parametrize("bits", [64, 32])
def test_every_shape_has_an_example(bits: int) -> None:
    for shape in shapes.shapes(bits):
        assert shapes.example(shape, bits=bits).op_count == len(shape.operands), shape.key


def test_shapes_encode_and_decode() -> None:
    """Every example instruction decodes to the form that it is an example of, with its operands in the same kind."""
    import iced_x86 as iced

    checked = 0
    for shape in shapes.shapes():
        code = shapes.encode(shapes.example(shape))
        if code is None:
            continue
        back = iced.Decoder(64, code).decode()
        kinds = zip(map(back.op_kind, range(back.op_count)), shape.operands, strict=True)
        memory = any(kind == iced.OpKind.MEMORY and operand != "STRING" for kind, operand in kinds)  # xlat
        assert memory == shape.has_memory, shape.key
        assert back.op_count == len(shape.operands), shape.key
        checked += 1
    assert checked > 7000


def test_memory_source(tmp_path: Path) -> None:
    got = forms(
        tmp_path,
        record(
            "VFMADD213PD (YMM, YMM, M256)", {"01": 1, "23": 1}, "REG0:rw REG1:r MEM0:r", "REG0<REG0:4 REG0<MEM0:12@"
        ),
    )
    entry = got["VEX_VFMADD213PD_YMM_YMM_YMMM256/m"][()]
    assert entry["latency"] == "0<0,m:4"
    assert entry["ports"] == "1*p01+1*p23"


def test_read_modify_write(tmp_path: Path) -> None:
    got = forms(
        tmp_path,
        record(
            "ADD (M64, R64)",
            {"0156": 1, "23": 1, "237": 1, "4": 1},
            "MEM0:rw REG0:r REG1:w:SPAZOC",
            "MEM0<MEM0:10@ REG1<MEM0:6@ MEM0<REG0:3 REG1<REG0:1",
            retire_slots=2,
        ),
    )
    assert got["ADD_RM64_R64/m"][()]["latency"] == "C,SPAZO,M<1,m:1"
    assert got["MOV_RM64_R64/m"][()]["latency"] == "M<1:0"
    assert got["MOV_R64_RM64/m"][()]["latency"] == "0<m:0"


def test_opcode_tells_encodings_apart(tmp_path: Path) -> None:
    one = record("ADD_01 (R64, R64)", {"0156": 1}, "REG0:rw REG1:r", "REG0<REG1:1", attrs={"eosz": "3"})
    other = record("ADD_03 (R64, R64)", {"06": 1}, "REG0:rw REG1:r", "REG0<REG1:1", attrs={"eosz": "3"})
    got = forms(tmp_path, one, other)
    assert got["ADD_RM64_R64/r"][()]["ports"] == "1*p0156"
    assert got["ADD_R64_RM64/r"][()]["ports"] == "1*p06"


def test_conditions(tmp_path: Path) -> None:
    got = forms(
        tmp_path,
        record("ADD_LOCK (M64, I8)", {"4": 1, "0156": 5}, "MEM0:rw IMM0:r", retire_slots=8),
        record("ADD (M64, I8)", {"4": 1, "0156": 1}, "MEM0:rw IMM0:r"),
        record("ADD (M64, 0)", {"4": 1}, "MEM0:rw IMM0:r"),
        record("MOVZX (R32, R8h)", {"0156": 1}, "REG0:w REG1:r", "REG0<REG1:2"),
        record("MOVZX (R32, R8l)", {}, "REG0:w REG1:r"),
        record("CMPSB_REPE", {"4": 1}, ""),
        record("CMPSB_REPNE", {"4": 1}, ""),
        record("CMPSB", {"5": 1}, ""),
        record("CMPSD_XMM (XMM, XMM, I8)", {"0": 1}, "REG0:rw REG1:r IMM0:r", "REG0<REG0:4"),
        record("LEA_B (R64)", {"15": 1}, "REG0:w AGEN:r", ""),
    )
    assert set(got["ADD_RM64_IMM8/m"]) == {(), ("lock",), ("imm0",)}
    assert got["ADD_RM64_IMM8/m"][("lock",)]["retire"] == 8
    assert got["MOVZX_R32_RM8/r"][()]["ports"] == ""
    assert got["MOVZX_R32_RM8/r"][("high8_1",)] == {"ports": "1*p0156", "latency": "0<1:2"}
    assert set(got["CMPSB_M8_M8/r"]) == {(), ("rep",), ("repne",)}
    assert got["CMPSD_XMM_XMMM64_IMM8/r"][()]["ports"] == "1*p0"
    assert "LEA_R64_M/m" in got


def test_implicit_registers(tmp_path: Path) -> None:
    got = forms(
        tmp_path,
        record(
            "MUL (R64)",
            {"1": 1, "5": 1},
            "REG0:r REG1:rw REG2:w REG3:w:CO",
            "REG1<REG0:3 REG2<REG0:4 REG3<REG1:3",
        ),
        record("SHL (R64, CL)", {"06": 3}, "REG0:rw REG1:r REG2:w:CSPAZO", "REG0<REG1:2", retire_slots=3),
    )
    assert got["MUL_RM64/r"][()]["latency"] == "rax<0:3 rdx<0:4 C,SPAZO<rax:3"
    assert got["SHL_RM64_CL/r"][()]["latency"] == "0<1:2"


def test_variants(tmp_path: Path) -> None:
    zero = {"uops": 0, "retire_slots": 1, "uops_mite": 1, "uops_ms": 0, "ports": {}}
    indexed = {"uops": 2, "retire_slots": 2, "uops_mite": 1, "uops_ms": 0, "ports": {"015": 1, "23": 1}}
    got = forms(
        tmp_path,
        record("VPXOR (XMM, XMM, XMM)", {"015": 1}, "REG0:w REG1:r REG2:r", "REG0<REG1:1", variants={"same_reg": zero}),
        record("VPXOR (XMM, XMM, M128)", {"015": 1, "23": 1}, "REG0:w REG1:r MEM0:r", variants={"indexed": indexed}),
    )
    assert got["VEX_VPXOR_XMM_XMM_XMMM128/r"][("same_reg",)] == {"ports": "", "latency": "", "breaks": True}
    assert got["VEX_VPXOR_XMM_XMM_XMMM128/m"][("indexed",)] == {"retire": 2, "uops_mite": 1}


def test_fusion_classes(tmp_path: Path) -> None:
    got = uops_info.import_files(
        [
            write(
                tmp_path,
                [
                    record(
                        "CMP_39 (R64, R64)",
                        {"0156": 1},
                        "REG0:r REG1:r",
                        macro_fusible_with=["JZ (Rel8)", "JNBE (Rel32)"],
                    )
                ],
            )
        ]
    )
    assert got.fusion == {"cmp": ("ja", "je")}
    assert got.forms["CMP_RM64_R64/r"][()]["fusion"] == "cmp"


def test_unmatched_and_implausible(tmp_path: Path) -> None:
    got = uops_info.import_files(
        [write(tmp_path, [record("FROB (R64)", {"0": 1}, "REG0:r"), record("POPFQ", {"1": 233}, "")])]
    )
    assert [what for what, _ in got.unmatched] == ["FROB (R64)", "POPFQ"]
    assert "implausible" in got.unmatched[1][1]


MALFORMED = [
    ("{", "not a JSON object"),
    ("[1]", "not a JSON object"),
    ('{"form": "NOP"}', "no 'ports'"),
    (json.dumps(record("NOP", {"0": -1}, "", uops=1)), "port usage"),
    (json.dumps(record("NOP", {"0": 1}, "", uops="many")), "'uops'"),
    (json.dumps({**record("NOP", {"0": 1}, ""), "latency": [{"from": "REG0"}]}), "malformed record NOP: no 'to'"),
    (json.dumps(record("NOP", {"0": 1}, "", variants={"odd": {"ports": {}}})), "NOP"),
    (json.dumps(record("NOP (", {"0": 1}, "")), "is not MNEMONIC"),
]


@pytest.mark.parametrize(("line", "message"), MALFORMED)
def test_malformed_record(tmp_path: Path, line: str, message: str) -> None:
    path = write(tmp_path, [PLAIN[0], line, PLAIN[1]])
    with pytest.raises(ImportFailed) as error:
        uops_info.import_files([path])
    assert str(error.value).startswith(f"{path}:3: ")
    assert message in str(error.value)
    kept = uops_info.import_files([path], keep_going=True)
    assert len(kept.skipped) == 1
    assert "MOV_RM64_R64/m" in kept.forms


def test_truncated_gzip(tmp_path: Path) -> None:
    path = tmp_path / "core.jsonl.gz"
    path.write_bytes(gzip.compress(b"\n".join(json.dumps(r).encode() for r in PLAIN))[:-9])
    with pytest.raises(ImportFailed, match=r"core\.jsonl\.gz"):
        uops_info.import_files([str(path)])


def test_nothing_is_written_on_failure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "core.toml"
    assert main(["import", "uops.info", write(tmp_path, ["{"]), "-o", str(out)]) == 1
    assert not out.exists()
    assert "core.jsonl:2: " in capsys.readouterr().err
    assert main(["import", "uops.info", str(tmp_path / "none"), "-o", str(out)]) == 1


def test_import_keeps_what_is_written_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "core.toml"
    data = write(tmp_path, list(PLAIN))
    assert main(["import", "uops.info", data, "-o", str(out)]) == 0
    text = out.read_text().replace('title = "core"', 'title = "My core" # by hand')
    out.write_text(text)
    assert main(["import", "uops.info", data, "-o", str(out)]) == 0
    assert out.read_text() == text
    assert main(["import", "derive", "--fill", "-o", str(out)]) == 0
    assert '"MOV_R64_RM64/m"' in out.read_text()
    capsys.readouterr()


OSACA = """\
osaca_version: 0.3.4
instruction_forms:
- name: VADDPD  # uops.info import
  operands: [{class: register, name: zmm}, {class: register, name: zmm}, {class: register, name: zmm}]
  latency: 4
  port_pressure: [[1, '05']]
- name: VADDPD  # uops.info import
  operands:
  - {class: register, name: zmm}
  - {class: register, name: zmm}
  - {class: register, name: gpr}
  - {class: register, name: zmm}
  latency: 6
  port_pressure: [[1, '05']]
- name: VDIVPD  # uops.info import
  operands: [{class: register, name: zmm}, {class: register, name: zmm}, {class: register, name: zmm}]
  latency: 24
  port_pressure: [[2, '0'], [1, '05'], [16, [0DV]]]
- name: VSUBPD
  operands: [{class: register, name: zmm}, {class: register, name: zmm}, {class: register, name: zmm}]
  latency: 4
  port_pressure: [[1, '05']]
"""


def wanted() -> list[shapes.Shape]:
    return [s for s in shapes.shapes() if s.encoding == "EVEX" and "AVX512F" in shapes.features(s)]


def test_osaca(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "skx.yml"
    path.write_text(OSACA)
    got = osaca.import_files([str(path)], wanted())
    assert got.forms["EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r"] == {
        (): {"ports": "1*p05", "retire": 1, "latency": "0<1,2:4"},
        ("mask",): {"latency": "0<0,1,2,k:6"},
    }
    divide = got.forms["EVEX_VDIVPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r"][()]
    assert (divide["ports"], divide["divider"], divide["retire"]) == ("2*p0+1*p05", 16, 3)
    assert got.unmatched == [("VSUBPD ZMM, ZMM, ZMM", "not marked as measured")]


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("latency: 4", "latency: soon", 3),
        ("'05'", "{a: b}", 3),
        ("name: zmm}]", "name: zmm", 5),
        ("instruction_forms", "x", 1),
    ],
)
def test_malformed_osaca(tmp_path: Path, old: str, new: str, line: int) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "skx.yml"
    path.write_text(OSACA.replace(old, new, 1))
    with pytest.raises(ImportFailed) as error:
        osaca.import_files([str(path)], wanted())
    assert str(error.value).startswith(f"{path}:{line}: ")


def test_derived_forms() -> None:
    base = {"ports": "1*p01", "retire": 1, "latency": "0<1,2:4", "source": "uops.info"}
    known: dict[str, Any] = {
        "VEX_VADDPD_YMM_YMM_YMMM256/r": {(): base},
        "EVEX_VMULPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/r": {(): {**base, "ports": "1*p05"}},
        "SHL_RM64_CL/r": {(): {"ports": "3*p06", "retire": 3}},
        "EVEX_VPDPBUSD_XMM_K1Z_XMM_XMMM128B32/m": {(): base, ("bcast",): {"retire": 2}, ("indexed",): {"retire": 3}},
    }
    names = (
        "EVEX_VADDPD_YMM_K1Z_YMM_YMMM256B64/r",
        "EVEX_VMULPD_ZMM_K1Z_ZMM_ZMMM512B64_ER/m",
        "SAL_RM64_CL/r",
        "VEX_VPDPBUSD_XMM_XMM_XMMM128/m",
    )
    got = derive.derive([shapes.by_key()[n] for n in names], lambda key: known.get(key, {}))
    assert got[names[0]][()] == {**base, "derived": "as VEX_VADDPD_YMM_YMM_YMMM256/r"}
    assert got[names[0]]["mask",] == {"latency": "0<0,1,2,k:4"}
    load = got[names[1]]
    assert (load[()]["ports"], load[()]["latency"], load[()]["retire"]) == ("1*p05+1*p23", "0<1,m:4", 1)
    assert load["indexed",] == {"retire": 2}
    assert got[names[2]][()]["derived"] == "as SHL_RM64_CL/r"
    vnni = {**base, "derived": "as EVEX_VPDPBUSD_XMM_K1Z_XMM_XMMM128B32/m"}
    assert got[names[3]] == {(): vnni, ("indexed",): {"retire": 3}}


@pytest.mark.parametrize(
    ("evex", "vex"),
    [
        ("EVEX_VADDPD_XMM_K1Z_XMM_XMMM128B64", "VEX_VADDPD_XMM_XMM_XMMM128"),
        ("EVEX_VPXORQ_YMM_K1Z_YMM_YMMM256B64", "VEX_VPXOR_YMM_YMM_YMMM256"),
        ("EVEX_VMOVDQU8_XMM_K1Z_XMMM128", "VEX_VMOVDQU_XMM_XMMM128"),
        ("EVEX_VEXTRACTF32X4_XMMM128_K1Z_YMM_IMM8", "VEX_VEXTRACTF128_XMMM128_YMM_IMM8"),
        ("EVEX_VADDPD_ZMM_K1Z_ZMM_ZMMM512B64_ER", None),
        ("VEX_VADDPD_XMM_XMM_XMMM128", None),
    ],
)
def test_vex_names(evex: str, vex: str | None) -> None:
    assert derive.vex_name(evex) == vex
    assert vex is None or f"{vex}/r" in shapes.by_key()


def test_indexed_addresses() -> None:
    assert indexed_variant("MOV_RM64_R64/m", {"ports": "1*p237+1*p4", "retire": 1}) == {
        "ports": "1*p23+1*p4",
        "retire": 1,
    }
    assert indexed_variant("ADD_R64_RM64/m", {"ports": "1*p0156+1*p23", "retire": 1}) is None
    read_modify_write = indexed_variant("ADD_RM64_R64/m", {"ports": "1*p0156+1*p23+1*p237+1*p4", "retire": 2})
    assert read_modify_write is not None
    assert read_modify_write["ports"] == "1*p0156+2*p23+1*p4"


def test_reduced() -> None:
    full: dict[tuple[str, ...], dict[str, Any]] = {
        (): {"ports": "1*p0", "tp": 3},
        ("a",): {"ports": "1*p0", "tp": 3},
        ("b",): {"ports": "1*p0"},
        ("a", "b"): {"ports": "1*p0", "retire": 2},
    }
    assert reduced(full) == {(): {"ports": "1*p0", "tp": 3}, ("b",): {"tp": 0}, ("a", "b"): {"retire": 2}}


@pytest.mark.skipif(shutil.which("llvm-config-19") is None, reason="no llvm-config-19")
def test_llvm() -> None:
    from incc.models.importers.llvm import importer as llvm

    keys = (
        "VEX_VADDPD_YMM_YMM_YMMM256/m",
        "VEX_VADDPD_YMM_YMM_YMMM256/r",
        "ADD_RM64_R64/m",
        "VEX_VDIVPD_YMM_YMM_YMMM256/r",
    )
    try:
        got = llvm.import_cpu("skylake", [shapes.by_key()[k] for k in keys]).forms
    except ImportFailed as e:
        pytest.skip(str(e))
    assert got[keys[0]][()] == {"ports": "1*p01+1*p23", "retire": 1, "latency": "0<1,m:4"}
    assert got[keys[1]][()] == {"ports": "1*p01", "retire": 1, "latency": "0<1,2:4"}
    assert got[keys[2]][()]["latency"] == "C,SPAZO,M<1,m:1"
    assert got[keys[2]]["indexed",] == {"ports": "1*p0156+2*p23+1*p4"}
    assert got[keys[3]][()]["divider"] == 8
    with pytest.raises(ImportFailed, match="no scheduling model"):
        llvm.import_cpu("nosuchcpu", [])
    with pytest.raises(ImportFailed, match="not found"):
        llvm.import_cpu("skylake", [], llvm_config="no-such-llvm-config")


def test_ports_by_kind_where_none_are_known(tmp_path: Path) -> None:
    renamed = {"int": "IN01", "vector": "VX01", "load": "LP0", "store_address": "ST0", "store_data": "SX0"}
    lines = [
        record("MOV (M64, R64)", {}, "MEM0:w REG0:r", "MEM0<REG0:1", uops=1),
        record("MOV (R64, M64)", {}, "REG0:w MEM0:r", "REG0<MEM0:4@", uops=1),
        record("ADD (M64, R64)", {}, "MEM0:rw REG0:r", "MEM0<REG0:1", uops=1),
        record("ADDPD (XMM, M128)", {}, "REG0:rw MEM0:r", "REG0<REG0:3", uops=1),
        record("VADDPD (YMM, YMM, M256)", {}, "REG0:w REG1:r MEM0:r", "REG0<REG1:3", uops=2),
        record("NOP", {}, "", uops=0),
    ]
    got = uops_info.import_files([write(tmp_path, lines)], renamed=renamed).forms
    ports = {form: entries[()]["ports"] for form, entries in got.items()}
    assert ports["MOV_RM64_R64/m"] == "1*ST0+1*SX0"
    assert ports["MOV_R64_RM64/m"] == "1*LP0"
    assert ports["ADD_RM64_R64/m"] == "1*IN01+1*LP0+1*ST0+1*SX0"
    assert ports["ADDPD_XMM_XMMM128/m"] == "1*LP0+1*VX01"
    assert ports["VEX_VADDPD_YMM_YMM_YMMM256/m"] == "2*LP0+2*VX01"
    assert got["VEX_VADDPD_YMM_YMM_YMMM256/m"][()]["retire"] == 2
    assert got["ADD_RM64_R64/m"][()]["derived"] == "ports by kind"
    assert "derived" not in got["NOPD/r"][()]


def test_figures_with_one_register_for_both(tmp_path: Path) -> None:
    shld = record("SHLD (R64, R64, I8)", {"1": 1}, "REG0:rw REG1:r IMM0:r", "REG0<REG0:3 REG0<REG1:3")
    shld["variants"]["same_reg"] = {"uops": 1, "retire_slots": 1, "ports": {"06": 1}}
    ones = record("PCMPEQD (XMM, XMM)", {"01": 1}, "REG0:rw REG1:r", "REG0<REG0:1 REG0<REG1:1")
    for entry in shld["latency"]:
        entry["same_reg"] = 1
    for entry in ones["latency"]:
        entry["same_reg"] = 0
    got = forms(tmp_path, shld, ones)
    assert got["SHLD_RM64_R64_IMM8/r"][()]["latency"] == "0<0,1:3"
    assert got["SHLD_RM64_R64_IMM8/r"]["same_reg",] == {"ports": "1*p06", "latency": "0<0,1:1"}
    assert got["PCMPEQD_XMM_XMMM128/r"]["same_reg",] == {"breaks": True}


def test_renamed_memory_gives_read_modify_write_the_register_forms_latency(tmp_path: Path) -> None:
    """What the renamer passes on from a store to a load shows as no latency: no figure of the instruction."""
    store = record("MOV (M64, R64)", {"78": 1, "49": 1}, "MEM0:w REG0:r", "MEM0<REG0:0 MEM0<MEM0:0@")
    load = record("MOV (R64, M64)", {"23A": 1}, "REG0:w MEM0:r", "REG0<MEM0:5@")
    register = record("SHL (R64, I8)", {"06": 1}, "REG0:rw IMM0:r", "REG0<REG0:1")
    memory = record("SHL (M64, I8)", {"06": 1, "23A": 1, "78": 1, "49": 1}, "MEM0:rw IMM0:r", "MEM0<MEM0:0@")
    memory["retire_slots"] = 2
    got = uops_info.import_files([write(tmp_path, [store, load, register, memory])]).forms
    assert got["SHL_RM64_IMM8/m"][()]["latency"] == "M<m:1"
