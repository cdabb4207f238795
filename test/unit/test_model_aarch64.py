"""Importers of AArch64 models: what LLVM's enumeration and OSACA's files say becomes forms."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from incc.models.importers.common import ImportFailed
from incc.models.importers.llvm import aarch64 as llvm_aarch64
from incc.models.importers.llvm.aarch64 import Ports, ports_of
from incc.models.importers.merge import note_disagreements
from incc.models.importers.osaca import aarch64 as osaca_aarch64
from incc.models.notation import parse_port_set, port_set_name

PROCESSOR = {
    "cpu": "test",
    "resources": [
        {"name": "N1UnitI", "units": 3, "members": ["N1UnitM", "N1UnitS"]},
        {"name": "N1UnitM", "units": 1, "members": ["N1UnitM"]},
        {"name": "N1UnitS", "units": 2, "members": ["N1UnitS"]},
        {"name": "N1UnitL01", "units": 2, "members": ["N1UnitL01"]},
        {"name": "N1UnitV0", "units": 1, "members": ["N1UnitV0"]},
        {"name": "N1UnitV1", "units": 1, "members": ["N1UnitV1"]},
    ],
}


def record(text: str, operands: list[str], defs: int, latencies: list[int], **more: Any) -> str:
    data = {
        "key": text,
        "opcode": "X",
        "uops": 1,
        "latency": max(latencies),
        "latencies": latencies,
        "read_advance": [],
        "forwarded": [],
        "operands": operands,
        "defs": defs,
        "reads": [],
        "writes": [],
        "resources": [{"name": "V", "members": ["N1UnitV0", "N1UnitV1"], "cycles": 1}],
        "load": False,
        "store": False,
    }
    return json.dumps({**data, **more})


def imported(*rows: str, cpu: str = "test") -> dict[str, Any]:
    forms = llvm_aarch64.import_cpu(cpu, [json.dumps(PROCESSOR), *rows]).forms
    return {key: entries[()] for key, entries in forms.items()}


def test_ports_are_named_after_units() -> None:
    names = ports_of(PROCESSOR["resources"]).of_unit  # type: ignore[arg-type]
    assert names == {
        "N1UnitM": ("M",),
        "N1UnitS": ("S0", "S1"),
        "N1UnitL01": ("L0", "L1"),
        "N1UnitV0": ("V0",),
        "N1UnitV1": ("V1",),
    }


@pytest.mark.parametrize(
    "names",
    [
        ("V0",),
        ("V0", "V1"),
        ("B0", "B1"),
        ("M", "S0", "S1"),
        ("EAGA", "EAGB"),
        ("FLA", "FLB"),
        ("D0", "D1"),
        ("p0", "p1"),
        ("L0", "LS"),
    ],
)
def test_port_sets_are_read_back(names: tuple[str, ...]) -> None:
    assert parse_port_set(port_set_name(names), names) == ",".join(names)


def test_units_in_a_pipe_count_for_the_pipe() -> None:
    """And dividers, of which a pipe has several, for themselves."""
    units = [
        ("M5PipeF1", 1, ""),
        ("M5UnitFADD0", 1, "M5PipeF1"),
        ("M5UnitFDIV0", 2, "M5PipeF1"),
        ("M5UnitC", 2, ""),
        ("M5UnitD", 1, "M5UnitC"),
    ]
    resources = [{"name": n, "members": [n], "units": k, "buffer": -1, "inside": i} for n, k, i in units]

    def ports_used(*used: tuple[str, int]) -> Any:
        uses = [{"name": name, "members": [name], "cycles": cycles} for name, cycles in used]
        row = record("fadd\td1, d6, d0", ["D1", "D6", "D0"], 1, [2], resources=uses)
        entry = llvm_aarch64.import_cpu("test", [json.dumps({"resources": resources}), row]).forms["fadd/d,d,d"][()]
        return entry["ports"], entry.get("hold", 1)

    assert ports_used(("M5PipeF1", 1), ("M5UnitFADD0", 1)) == ("1*F1", 1)
    assert ports_used(("M5PipeF1", 9), ("M5UnitFDIV0", 9)) == ("1*p(FDIV00|FDIV01)", 9)
    assert ports_used(("M5UnitC", 11), ("M5UnitD", 10)) == ("10*C0+1*p(C0|C1)", 1)


def test_groups_of_the_same_units_are_one() -> None:
    uses = [{"name": name, "members": ["N1UnitV0", "N1UnitV1"], "cycles": 1} for name in ("N1UnitV", "N1UnitSIMD")]
    row = record("fadd\td1, d6, d0", ["D1", "D6", "D0"], 1, [2], resources=uses)
    assert imported(row)["fadd/d,d,d"]["ports"] == "1*V01"


def test_accumulators_are_needed_late() -> None:
    row = record(
        "fmla\tv1.2d, v6.2d, v0.2d", ["Q1", "Q1", "Q6", "Q0"], 1, [4], forwarded=[{"use": 0, "def": 0, "cycles": 2}]
    )
    assert imported(row) == {"fmla/v.2d,v.2d,v.2d": {"ports": "1*V01", "retire": 1, "latency": "0<0:2 0<1,2:4"}}


def test_loads_with_write_back() -> None:
    row = record("ldp\tx1, x3, [x6], #16", ["X6", "X1", "X3", "X6", ""], 3, [1, 4, 4], load=True)
    assert imported(row)["ldp/x,x,[x],#"]["latency"] == "0,1<m:0 m<a:4 a<a:1"


def test_write_back_takes_an_addition_whatever_the_access_takes() -> None:
    rows = [
        record("ldr\tx1, [x6, #8]", ["X1", "X6", ""], 1, [4], load=True),
        record("ldr\tx1, [x6], #8", ["X6", "X1", "X6", ""], 2, [5, 5], load=True),
        record("str\tx1, [x6], #8", ["X6", "X1", "X6", ""], 1, [0], store=True),
    ]
    forms = imported(*rows, record("ldr\tx1, [x6]", ["X1", "X6", ""], 1, [4], load=True))
    assert forms["ldr/x,[x],#"]["latency"] == "0<m:0 m<a:4 a<a:1"
    assert forms["str/x,[x],#"]["latency"] == "a<a:1 M<0:0"
    in_order = llvm_aarch64.import_cpu("test", [json.dumps(PROCESSOR), *rows], parameters={"in_order": True}).forms
    assert in_order["str/x,[x],#"][()]["latency"] == "a<a:0 M<0:0"


def test_loads_take_what_the_guide_says_at_least() -> None:
    rows = [json.dumps(PROCESSOR), record("ldr\tx1, [x6]", ["X1", "X6", ""], 1, [4], load=True)]
    forms = llvm_aarch64.import_cpu("test", rows, parameters={"load_latency": {"gpr": 5, "simd": 8}}).forms
    assert forms["ldr/x,[x]"][()]["latency"] == "0<m:0 m<a:5"


def test_operands_are_those_that_the_text_reads() -> None:
    """`mov v1.16b, v6.16b` is `orr` with one register twice; `fadda` names its accumulator twice."""
    moved = record("mov\tv1.16b, v1.16b", ["Q1", "Q1", "Q1"], 1, [2], coincide=True)
    summed = record("fadda\td1, p0, d1, z6.d", ["D1", "P0", "D1", "Z6"], 1, [8])
    forms = imported(moved, summed)
    assert forms["mov/v.16b,v.16b"]["latency"] == "0<1:2"
    assert forms["fadda/d,p,d,z.d"]["latency"] == "0<1,2,3:8"


def test_atomic_operations_are_made_from_exclusive_loads_and_stores() -> None:
    load = {"resources": [{"name": "L", "members": ["N1UnitL01"], "cycles": 1}], "load": True}
    store = {"resources": [{"name": "L", "members": ["N1UnitL01"], "cycles": 1}], "store": True}
    forms = imported(
        record("ldxr\tx1, [x6]", ["X1", "X6"], 1, [4], **load),
        record("ldar\tx1, [x6]", ["X1", "X6"], 1, [4], **load),
        record("add\tx1, x6, x0", ["X1", "X6", "X0"], 1, [1]),
        record("stxr\tw1, x2, [x6]", ["W1", "X2", "X6"], 1, [1], **store),
        *(
            json.dumps({"key": text, "error": "no scheduling class"})
            for text in (
                "ldaddal\tx0, x1, [x6]",
                "staddl\tx0, [x6]",
                "casa\tx0, x1, [x6]",
                "ldapr\tx1, [x6]",
                "udf\t#0",
            )
        ),
    )
    derived = {"ports": "2*L01+1*V01", "retire": 3, "derived": "as ldxr, add and stxr"}
    assert forms["ldaddal/x,x,[x]"] == {**derived, "latency": "1<m:0 m<a:4 M<0:0 M<m:1"}
    assert forms["staddl/x,[x]"] == {**derived, "latency": "M<0:0 M<m:1"}
    assert forms["casa/x,x,[x]"] == {**derived, "latency": "0<0:1 0<m:0 m<a:4 M<0,1:0 M<m:1"}
    assert forms["ldapr/x,[x]"] == {**forms["ldar/x,[x]"], "derived": "as ldar/x,[x]"}
    assert "udf/#" not in forms


def test_a_load_without_a_latency_has_that_of_another_from_such_an_address() -> None:
    forms = imported(
        record("ldr\tw1, [x6, x0]", ["W1", "X6", "X0"], 1, [5], load=True),
        record("ldr\tw1, [x6, #4]", ["W1", "X6"], 1, [4], load=True),
        record("ldrb\tw1, [x6, x0]", ["W1", "X6", "X0"], 1, [1], load=True),
        record("ldapurb\tw1, [x6]", ["W1", "X6"], 1, [1], load=True),
    )
    assert forms["ldrb/w,[x,x]"]["latency"] == "0<m:0 m<a:5"
    assert forms["ldapurb/w,[x]"]["latency"] == "0<m:0 m<a:4"
    assert forms["ldapurb/w,[x]"]["derived"] == "latency as ldr/w,[x,#]"


def test_stores() -> None:
    row = record("stp\tx1, x3, [x6, #16]", ["X1", "X3", "X6", ""], 0, [1], store=True)
    assert imported(row)["stp/x,x,[x,#]"]["latency"] == "M<0,1:0"


def test_a_written_back_address_is_added_once() -> None:
    resources = [
        {"name": "N1UnitI", "members": ["N1UnitM", "N1UnitS"], "cycles": 2},
        {"name": "N1UnitL01", "members": ["N1UnitL01"], "cycles": 1},
    ]
    row = record("ldr\tq0, [x1], #16", ["X1", "Q0", "X1"], 2, [1, 6], load=True, resources=resources, uops=3)
    assert imported(row)["ldr/q,[x],#"]["ports"] == "1*L01+2*p(M|S0|S1)"
    by_guide = imported(row, *MOVES, cpu="neoverse-n2")["ldr/q,[x],#"]
    assert (by_guide["ports"], by_guide["retire"]) == ("1*L01+1*p(M|S0|S1)", 1)


MOVES = [
    record(text, operands, 1, [1])
    for text, operands in (
        *((f"mov\t{r}0, {r}1", [f"{r.upper()}0", f"{r.upper()}ZR", f"{r.upper()}1"]) for r in "wx"),
        *((f"mov\t{r}0, #1", [f"{r.upper()}0"]) for r in "wx"),
        *((f"fmov\t{to}0, {r}1", [f"{to.upper()}0", f"{r.upper()}1"]) for to, r in ("hw", "hx", "sw", "dx")),
        ("movi\td0, #1", ["D0"]),
        ("movi\tv0.2d, #1", ["Q0"]),
    )
]


def test_moves_that_the_renamer_does() -> None:
    def zero(cpu: str, key: str) -> str:
        forms = llvm_aarch64.import_cpu(cpu, [json.dumps(PROCESSOR), *MOVES]).forms
        return str(forms[key].get(("imm0",), forms[key][()])["ports"])

    assert imported(*MOVES, cpu="neoverse-n2")["mov/x,x"]["latency"] == "0<1:0"
    assert imported(*MOVES, cpu="neoverse-n1")["mov/x,x"]["latency"] == "0<1:1"
    assert zero("neoverse-n2", "movi/d,#") == zero("neoverse-n2", "fmov/d,x") == zero("neoverse-n2", "mov/w,#") == ""
    assert zero("neoverse-n1", "movi/d,#") == zero("neoverse-n1", "mov/w,#") == "1*V01"


def test_flags() -> None:
    rows = [
        record("subs\tx1, x6, x0", ["X1", "X6", "X0"], 1, [1], writes=["NZCV"]),
        record("adc\tx1, x6, x0", ["X1", "X6", "X0"], 1, [1], reads=["NZCV"]),
        record("cmp\tx6, x0", ["XZR", "X6", "X0"], 1, [1], writes=["NZCV"]),
    ]
    forms = imported(*rows)
    assert forms["subs/x,x,x"]["latency"] == "0,C,SPAZO<1,2:1"
    assert forms["adc/x,x,x"]["latency"] == "0<1,2,C:1"
    assert forms["cmp/x,x"]["latency"] == "C,SPAZO<0,1:1"


def test_units_that_are_held() -> None:
    divide = [{"name": "V", "members": ["N1UnitV0"], "cycles": 7}]
    assert imported(record("fdiv\td1, d6, d0", ["D1", "D6", "D0"], 1, [15], resources=divide))["fdiv/d,d,d"] == {
        "ports": "1*V0",
        "retire": 1,
        "latency": "0<1,2:15",
        "hold": 7,
    }


def test_the_plainest_example_counts() -> None:
    """Not those with the zero register or a register twice, whichever comes first."""
    first = record("add\tx1, x6, xzr", ["X1", "X6", "XZR"], 1, [9])
    twice = record("add\tx1, x6, x6", ["X1", "X6", "X6"], 1, [8], coincide=True)
    plain = record("add\tx1, x6, x0", ["X1", "X6", "X0"], 1, [1])
    assert imported(first, twice, plain)["add/x,x,x"]["latency"] == "0<1,2:1"


def test_cheap_shifts_are_a_condition() -> None:
    rows = [
        record("add\tx1, x6, x0, lsl #5", ["X1", "X6", "X0", ""], 1, [2]),
        record("add\tx1, x6, x0, lsl #2", ["X1", "X6", "X0", ""], 1, [1]),
    ]
    forms = llvm_aarch64.import_cpu("test", [json.dumps(PROCESSOR), *rows]).forms
    assert {c: f["latency"] for c, f in forms["add/x,x,x,lsl#"].items()} == {(): "0<1,2:2", ("shift1-4",): "0<1,2:1"}


@pytest.mark.parametrize("row", ["{", "[]", '{"key": "add x0"}', record("add\tx1,", ["X1"], 1, [1])])
def test_malformed_records(row: str) -> None:
    rows = [json.dumps(PROCESSOR), row]
    with pytest.raises(ImportFailed, match="llvm_sched test:2: malformed record"):
        llvm_aarch64.import_cpu("test", rows)
    assert len(llvm_aarch64.import_cpu("test", rows, keep_going=True).skipped) == 1


def test_unknown_units() -> None:
    with pytest.raises(ValueError, match="unknown unit 'N1UnitX'"):
        Ports({}).names(["N1UnitX"])


# --- OSACA -----------------------------------------------------------------------------------------------------------

OSACA = """\
osaca_version: 0.5.0
load_latency: {w: 4.0, x: 4.0, d: 5.0, q: 6.0}
p_index_latency: 1
instruction_forms:
- name: [fadd, fsub]
  operands:
  - {class: register, prefix: v, shape: d, width: '*'}
  - {class: register, prefix: v, shape: d, width: '*'}
  - {class: register, prefix: v, shape: d, width: '*'}
  throughput: 0.5
  latency: 3.0
  port_pressure: [[1, '45']]
- name: fdiv
  operands:
  - {class: register, prefix: d}
  - {class: register, prefix: d}
  - {class: register, prefix: d}
  throughput: 10.0
  latency: 12.0
  port_pressure: [[1, '4'], [10, ['4DV']]]
- name: fmla
  operands:
  - {class: register, prefix: v, shape: '*', width: '*'}
  - {class: register, prefix: v, shape: '*', width: '*'}
  - {class: register, prefix: v, shape: '*', width: '*'}
  throughput: 0.5
  latency: 2.0
  port_pressure: [[1, '45']]
- name: ldr
  operands:
  - {class: register, prefix: x}
  - {class: memory, base: x, offset: '*', index: ~, scale: '*', pre_indexed: false, post_indexed: true}
  throughput: 0.5
  latency: 4.0
  port_pressure: [[1, '67'], [1, '123']]
"""
KNOWN: dict[str, dict[tuple[str, ...], dict[str, Any]]] = {
    "fadd/v.2d,v.2d,v.2d": {(): {"ports": "1*V0", "retire": 1, "latency": "0<1,2:2"}},
    "fadd/v.4s,v.4s,v.4s": {(): {"ports": "1*V01", "retire": 1, "latency": "0<1,2:2"}},
    "fdiv/d,d,d": {(): {"ports": "7*V0", "retire": 1, "latency": "0<1,2:15"}},
    "fmla/v.4s,v.4s,v.4s": {(): {"ports": "1*V01", "retire": 1, "latency": "0<0,1,2:4"}},
    "fmla/v.4s,v.4s,v.s[]": {(): {"ports": "1*V01", "retire": 1, "latency": "0<0,1,2:1"}},
    "ldr/x,[x],#": {(): {"ports": "1*L01", "retire": 1, "latency": "0<m:0 m<a:5 a<a:2"}},
    "ldr/q,[x,#]": {(): {"ports": "1*L01", "retire": 1, "latency": "0<m:0 m<a:5"}},
    "ldr/q,[x]": {(): {"ports": "1*L01", "retire": 1, "latency": "0<m:0 m<a:6"}},
}


def osaca(tmp_path: Path, text: str = OSACA, keep_going: bool = False) -> Any:
    pytest.importorskip("yaml")
    path = tmp_path / "n1.yml"
    path.write_text(text)
    return osaca_aarch64.import_files([str(path)], "neoverse-n1", KNOWN, keep_going)


def test_osaca(tmp_path: Path) -> None:
    forms = {key: entries[()] for key, entries in osaca(tmp_path).forms.items()}
    assert all(fields.pop("source") == "osaca" for fields in forms.values())
    assert forms == {
        "fadd/v.2d,v.2d,v.2d": {"ports": "1*V01", "retire": 1, "latency": "0<1,2:3"},
        "fdiv/d,d,d": {"ports": "1*V0", "retire": 1, "divider": 10, "latency": "0<1,2:12"},
        # Measured through the accumulator; the factors are needed no later than the model says.
        "fmla/v.4s,v.4s,v.4s": {"ports": "1*V01", "retire": 1, "latency": "0<0:2 0<1,2:4"},
        "fmla/v.4s,v.4s,v.s[]": {"ports": "1*V01", "retire": 1, "latency": "0<0,1,2:2"},
        "ldr/x,[x],#": {"ports": "1*L01+1*p(M|S0|S1)", "retire": 2, "latency": "0<m:0 m<a:4 a<a:1"},
        # Not in the file, but in its table of loads; what takes a cycle more in the model still does.
        "ldr/q,[x,#]": {"ports": "1*L01", "retire": 1, "latency": "0<m:0 m<a:6"},
        "ldr/q,[x]": {"ports": "1*L01", "retire": 1, "latency": "0<m:0 m<a:7"},
    }


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("[[1, '45']]", "[[1, '49']]", "no '9'"),
        ("latency: 3.0", "latency: fast", "latency 'fast'"),
        ("latency: 3.0", "latency: -1", "latency -1"),
        ("name: [fadd, fsub]", "names: fadd", "no 'name'"),
        ("instruction_forms:", "forms:", "not a machine file"),
    ],
)
def test_malformed_osaca(old: str, new: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(ImportFailed, match=message):
        osaca(tmp_path, OSACA.replace(old, new, 1))


def test_disagreements_are_noted() -> None:
    kept = {"f/x": {(): {"ports": "1*V0", "latency": "0<1:3"}}, "g/x": {(): {"ports": "1*V0", "latency": "0<1:3"}}}
    other = {"f/x": {(): {"ports": "1*V1", "latency": "0<1:3"}}, "g/x": {(): {"ports": "1*V0", "latency": "0<1:4"}}}
    also: dict[str, Any] = {}
    note_disagreements(also, kept, other, "osaca", "llvm")
    assert also == {"osaca": {"f/x": {"ports": "1*V1"}, "g/x": {"latency": 4}}}
    note_disagreements(also, kept, kept, "osaca", "llvm")
    assert also == {}
    note_disagreements(also, kept, other, "osaca", "llvm", replaced=True)
    assert also == {"llvm": {"f/x": {"ports": "1*V0"}, "g/x": {"latency": 3}}}
