"""Forms of a core from its predecessor: ports, what was measured on the core, and what the core does not do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.models.importers.common import ImportFailed, differences
from incc.models.importers.predecessor import PortConversion, import_model, inherit
from incc.models.notation import read_usage, write_usage

SKYLAKE = PortConversion(renamed={"p237": "p78", "p4": "p49"}, load="p23", store_address="p237", store_data="p4")
ADD_YMM = "VEX_VADDPD_YMM_YMM_YMMM256"


def made(
    old: dict[str, Any], form: str, known: dict[str, Any] | None = None, executes_moves: bool = False
) -> dict[tuple[str, ...], dict[str, Any]]:
    return inherit([form], old, known or {}, SKYLAKE, "old", executes_moves)[form]


def test_ports_of_loads_and_stores() -> None:
    assert SKYLAKE.convert("1*p0156+1*p23+1*p237+1*p4") == "1*p0156+1*p23+1*p49+1*p78"
    # With an index, the store's address was computed where loads are.
    assert SKYLAKE.convert("1*p0156+2*p23+1*p4") == "1*p0156+1*p23+1*p49+1*p78"
    assert SKYLAKE.convert("") == ""


@given(st.dictionaries(st.sampled_from(["p0", "p01", "p0156", "p23", "p237", "p4", "p5"]), st.integers(1, 5)))
def test_no_uop_is_lost(usage: dict[str, int]) -> None:
    text = "+".join(f"{n}*{p}" for p, n in usage.items())
    assert read_usage(SKYLAKE.convert(text)).total() == sum(usage.values())
    assert read_usage(write_usage(read_usage(text))) == read_usage(text)


def test_same_ports_under_a_condition_are_not_repeated() -> None:
    old = {
        "ADD_RM64_R64/m": {
            (): {"ports": "1*p0156+1*p23+1*p237+1*p4", "retire": 2},
            ("indexed",): {"ports": "1*p0156+2*p23+1*p4", "retire": 3},
        }
    }
    got = made(old, "ADD_RM64_R64/m")
    assert got[()] == {"ports": "1*p0156+1*p23+1*p49+1*p78", "retire": 2, "derived": "as on old"}
    assert got["indexed",] == {"retire": 3}


def test_measured_register_form() -> None:
    old = {
        ADD_YMM + "/r": {
            (): {"ports": "1*p01", "retire": 1, "latency": "0<1:3 0<2:4", "source": "llvm"},
            ("same_reg",): {"breaks": True},
        }
    }
    same = made(old, ADD_YMM + "/r", {ADD_YMM + "/r": {(): {"ports": "1*p15", "latency": "0<1,2:4", "source": "s"}}})
    assert same[()] == {"ports": "1*p15", "retire": 1, "latency": "0<1:3 0<2:4", "source": "s"}
    assert same["same_reg",] == {"breaks": True}
    quicker = made(old, ADD_YMM + "/r", {ADD_YMM + "/r": {(): {"ports": "1*p15", "latency": "0<1,2:2"}}})
    assert quicker[()]["latency"] == "0<1,2:2"
    other = {(): {"ports": "2*p15", "latency": "0<1,2:2", "retire": 2}}
    assert made(old, ADD_YMM + "/r", {ADD_YMM + "/r": other}) == other


def test_memory_form_follows_the_measured_register_form() -> None:
    old = {
        ADD_YMM + "/r": {(): {"ports": "1*p01", "retire": 1, "latency": "0<1,2:4"}},
        ADD_YMM + "/m": {(): {"ports": "1*p01+1*p23", "retire": 1, "latency": "0<1,m:4"}, ("indexed",): {"retire": 2}},
    }
    known = {ADD_YMM + "/r": {(): {"ports": "1*p15", "retire": 1, "latency": "0<1,2:2"}}}
    got = made(old, ADD_YMM + "/m", known)
    assert got[()] == {"ports": "1*p15+1*p23", "retire": 1, "latency": "0<1,m:2", "derived": "as on old"}
    assert got["indexed",] == {"retire": 2}


def test_division_takes_the_measured_divider() -> None:
    div = "VEX_VDIVPD_YMM_YMM_YMMM256"
    old = {
        div + "/r": {(): {"ports": "1*p0", "latency": "0<1,2:15", "divider": 8}},
        div + "/m": {(): {"ports": "1*p0+1*p23", "latency": "0<1,m:15", "divider": 8}},
    }
    known = {div + "/r": {(): {"ports": "1*p0", "latency": "0<1,2:15", "divider": 5}}}
    assert made(old, div + "/r", known)[()]["divider"] == 5
    assert made(old, div + "/m", known)[()]["divider"] == 5


def test_moves_that_are_not_eliminated_execute() -> None:
    old = {
        "MOV_RM64_R64/r": {
            (): {"ports": "", "retire": 1},
            ("same_reg",): {"ports": "1*p0156", "latency": "0<1:1"},
        }
    }
    assert made(old, "MOV_RM64_R64/r")[()]["ports"] == ""
    got = made(old, "MOV_RM64_R64/r", executes_moves=True)
    assert got == {(): {"ports": "1*p0156", "retire": 1, "latency": "0<1:1", "derived": "as on old"}}


def test_wide_stores_take_both_ports() -> None:
    form = "EVEX_VMOVAPS_ZMMM512_K1Z_ZMM/m"
    got = made({form: {(): {"ports": "1*p237+1*p4", "retire": 1}}}, form)
    assert got[()]["ports"] == "2*p49+1*p78"


def test_whole_model() -> None:
    got = import_model("skylake", "p237=p78,p4=p49", {}, {}, [])
    assert got.forms["MOV_RM64_R64/m"][()]["ports"] == "1*p49+1*p78"
    assert not any("p237" in f.get("ports", "") for entries in got.forms.values() for f in entries.values())
    with pytest.raises(ImportFailed, match="malformed list of ports"):
        import_model("skylake", "p237", {}, {}, [])


def test_differences_laid_over_the_parent_give_the_forms() -> None:
    from incc.models.files.source import overlay

    parent = {
        "A/r": {(): {"ports": "1*p0", "retire": 1, "tp": 3}, ("imm0",): {"retire": 2, "divider": 4}, ("lock",): {}},
        "B/r": {(): {"ports": "1*p0", "retire": 1, "source": "s"}},
        "C/r": {(): {"ports": "1*p0", "retire": 1, "source": "other", "derived": "as D/r"}},
    }
    child = {
        "A/r": {(): {"ports": "1*p1", "retire": 1}, ("imm0",): {"retire": 2}},
        "B/r": {(): {"ports": "1*p0", "retire": 1}},
        "C/r": {(): {"ports": "1*p0", "retire": 1}},
    }
    got = differences(child, parent, "s")
    assert "B/r" not in got
    assert got["C/r"] == {(): {"derived": ""}}
    assert got["A/r"]["lock",] == {"absent": True}
    assert overlay(parent["A/r"][()], got["A/r"][()]) == child["A/r"][()]
    assert {**parent["A/r"]["imm0",], **got["A/r"]["imm0",]} == {"retire": 2, "divider": 0}
