"""`incc-model check` finds each kind of defect, and only those; the models that come with incc have none."""

from __future__ import annotations

from pathlib import Path

import pytest

from incc.driver.commands.model import main
from incc.models.check import check
from incc.models.throughput import of_form

HEADER = """\
format = 1
name = "small"
aliases = []
title = "A small core"
isa = "x86"
source = "test"
{inherits}
[sources]
test = "made up"
[ports]
names = ["0", "1", "2", "4", "7"]
[ports.functions]
load = "p2"
store_address = "p27"
store_data = "p4"
[parameters]
issue_width = 4
retire_width = 4
rob = 100
rs = 50
load_latency = {{ gpr = 5 }}
store_forward = {{ gpr = 5 }}
[macro_fusion]
cmp = "je jne"
[forms]
"""
GOOD = '"ADD_RM64_R64/r" = { ports = "1*p01", retire = 1, latency = "0,C,SPAZO<0,1:1", fusion = "cmp" }\n'


@pytest.fixture(autouse=True)
def cache_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def findings(tmp_path: Path, forms: str, header: str = HEADER, inherits: str = "", name: str = "small") -> list[str]:
    path = tmp_path / f"{name}.toml"
    text = header.format(inherits=inherits and f'inherits = "{inherits}"').replace('name = "small"', f'name = "{name}"')
    path.write_text(text + forms)
    return [
        f"{f.level} {f.place.removeprefix(str(path)).lstrip(': ')}: {f.message}"
        for f in check(str(path), [str(tmp_path)])
    ]


def test_nothing_to_find(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD) == []


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ('"ADD_RM64_R64/r" = { retire = 1, latency = "0<0:1" }', "error ADD_RM64_R64/r: no ports"),
        ('"ADD_RM64_R64/r" = { ports = "1*p01", latency = "0<0:1" }', "error ADD_RM64_R64/r: no retire slots"),
        ('"ADD_RM64_R64/r" = { ports = "1*p01", retire = 1 }', "warning ADD_RM64_R64/r: no latency"),
        ('"ADD_RM64_R64/r" = { ports = "", retire = 1, latency = "0<0:1" }', "but no µop of it computes"),
        ('"ADD_RM64_R64/r" = { ports = "1*p05", retire = 1, latency = "0<0:1" }', "unknown port '5'"),
        ('"ADD_RM64_R64/r" = { ports = "p01", retire = 1, latency = "0<0:1" }', "malformed port usage"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, latency = "0<5:1" }', "latency names '5'"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, latency = "0<m:1" }', "latency names 'm'"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, latency = "0<rcx:1" }', "latency names 'rcx'"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, latency = "0<0:1 0<0,1:2" }', "0<0 is given twice"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, latency = "zero" }', "malformed latency"),
        ('"FROB_R64/r" = { ports = "1*p0", retire = 1, latency = "0<0:1" }', "not a form that the decoder knows"),
        ('"LEA_R64_M/r" = { ports = "1*p0", retire = 1, latency = "0<a:1" }', "has no /r form, only LEA_R64_M/m"),
        ('"ADD_RM64_R64/r" = { ports = "3*p01", retire = 1, tp = 1, latency = "0<0:1" }', "but the ports need 1.5"),
        (GOOD + '"ADD_RM64_R64/r [same_reg]" = { retire = 1 }', "warning ADD_RM64_R64/r [same_reg]: changes nothing"),
        (GOOD + '"ADD_RM64_R64/r [sunny]" = { retire = 2 }', "unknown condition 'sunny'"),
        ('"ADD_RM64_R64/r [lock]" = { retire = 2 }', "has no entry without conditions"),
        (
            '"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, fusion = "x", latency = "0<0:1" }',
            "macro-fusion class 'x'",
        ),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, source = "x", latency = "0<0:1" }', "source 'x'"),
        ('"ADD_RM64_R64/r" = { ports = "1*p0", retire = 1, divider = 4, latency = "0<0:1" }', "no resources"),
        ('"ADD_RM64_R64/r" = { absent = true }', "nothing to inherit"),
        (GOOD + GOOD, "Cannot overwrite"),
    ],
)
def test_defects(tmp_path: Path, forms: str, expected: str) -> None:
    found = findings(tmp_path, forms + "\n")
    assert any(expected in f for f in found), found
    assert len(found) == 1, found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("rob = 100\n", "", "parameter 'rob' is missing"),
        ('load = "p2"\n', "", "ports.functions.load is missing"),
        ('load = "p2"\n', 'load = "p23"\n', "unknown port '3'"),
        ('isa = "x86"\n', "", "no 'isa'"),
        ("aliases = []", 'aliases = ["A", "A"]', "alias 'A' is listed twice"),
        (
            "rob = 100\n",
            'rob = 100\nwide_vectors = {{ width = 512, closes = "9", instead = "0" }}\n',
            "wide_vectors names an unknown port in '9'",
        ),
        ("rob = 100\n", 'rob = 100\nalternating_ports = ["0,9"]\n', "alternating_ports names an unknown port in '0,9'"),
        ("rob = 100\n", 'rob = 100\nqueued_at = {{ "0" = "0,9" }}\n', "queued_at names an unknown port in '0,9'"),
        ("rob = 100\n", 'rob = 100\nschedulers = {{ "9" = 24 }}\n', "schedulers names an unknown port in '9'"),
        (
            "rob = 100\n",
            'rob = 100\ndispatch_limits = {{ "9" = 1 }}\n',
            "dispatch_limits names an unknown port in '9'",
        ),
        (
            "rob = 100\n",
            'rob = 100\nwaiting_queue = {{ ports = "9", entries = 64 }}\n',
            "waiting_queue names an unknown port in '9'",
        ),
    ],
)
def test_header(tmp_path: Path, old: str, new: str, expected: str) -> None:
    assert old in HEADER
    found = findings(tmp_path, GOOD, HEADER.replace(old, new))
    assert any(expected in f for f in found), found


def test_override_that_changes_nothing(tmp_path: Path) -> None:
    assert findings(tmp_path, GOOD) == []
    same = '"ADD_RM64_R64/r" = { ports = "1*p01" }\n'
    assert "changes nothing of what it inherits" in findings(tmp_path, same, inherits="small", name="child")[0]
    other = '"ADD_RM64_R64/r" = { ports = "1*p0" }\n'
    assert findings(tmp_path, other, inherits="small", name="child") == []


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings(tmp_path, GOOD)
    assert main(["check", str(tmp_path / "small.toml")]) == 0
    findings(tmp_path, GOOD.replace("1*p01", "1*p9"))
    assert main(["check", str(tmp_path / "small.toml")]) == 1
    assert "unknown port '9'" in capsys.readouterr().out
    assert main(["check", "nosuchmodel"]) == 2
    assert main([]) == 2
    assert main(["import"]) == 2
    assert main(["show"]) == 2
    assert main(["diff", "skylake"]) == 2


def test_port_bound() -> None:
    assert of_form([]) == 0
    assert of_form([("0,1", 3)]) * 2 == 3
    assert of_form([("0", 2), ("0,1", 1)]) == 2
    assert of_form([("0", 1), ("1", 1), ("0,1", 2)]) == 2


ARM = HEADER.replace('isa = "x86"', 'isa = "aarch64"')


@pytest.mark.parametrize(
    ("form", "finding"),
    [
        ('"add/x,x,x" = { ports = "1*p01", retire = 1, latency = "0<1,2:1" }', ""),
        ('"ldp/x,x,[x],#" = { ports = "1*p2", retire = 1, latency = "0,1<m:0 m<a:4 a<a:1" }', ""),
        (
            '"add/x,x,x" = { ports = "1*p01", retire = 1, latency = "0<1,3:1" }',
            "latency names '3', which is no operand",
        ),
        ('"add/x,x,x" = { ports = "1*p01", retire = 1, latency = "0<m:1" }', "latency names 'm', which is no operand"),
        ('"ldff1d/{z.d*1},p/z,[x]" = { ports = "1*p2", retire = 1, latency = "0<1,ffr:6 0<m:0 m<a:6" }', ""),
        (
            '"add/x,x,x" = { ports = "1*p01", retire = 1, latency = "0<ffr:1" }',
            "latency names 'ffr', which is no operand",
        ),
        ('"add/r64" = { ports = "1*p01", retire = 1 }', "'r64' is no shape of an operand"),
        ('"ADD/x" = { ports = "1*p01", retire = 1 }', "is not a form that the decoder knows"),
    ],
)
def test_aarch64(form: str, finding: str, tmp_path: Path) -> None:
    found = findings(tmp_path, form + "\n", header=ARM)
    assert [f for f in found if finding and finding in f] if finding else found == []


def test_throughput_of_ports_that_are_held(tmp_path: Path) -> None:
    entry = '"DIVPD_XMM_XMMM128/r" = {{ ports = "1*p0", retire = 1, latency = "0<0,1:14", hold = 8, tp = {} }}\n'
    assert "the ports need 8" in findings(tmp_path, entry.format(4))[0]
    assert findings(tmp_path, entry.format(9)) == []


def test_negative_figures(tmp_path: Path) -> None:
    entry = GOOD.replace("retire = 1", "retire = 1, divider = -35")
    assert any("divider of -35" in f for f in findings(tmp_path, entry))
