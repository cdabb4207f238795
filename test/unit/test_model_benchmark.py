"""Importers of micro-benchmarks: ibench and asmbench."""

from __future__ import annotations

import pathlib

import pytest

from incc.driver.commands.model import main
from incc.models.importers.benchmarks import asmbench, ibench
from incc.models.importers.benchmarks import common as benchmark
from incc.models.importers.benchmarks.common import PublishedFigures
from incc.models.loading import load

IBENCH = """\
Using frequency 2.50GHz.
vaddpd-xmm_xmm_xmm-TP:      0.501 (clk cy)    [DEBUG - result: 1.000000]
vaddpd-xmm_xmm_xmm-LT:      4.002 (clock cycles)    [DEBUG - result: 1.000000]
imul-r64_r64-TP:
 2.030 (clock cycles)
 [DEBUG - result: 1.000000]
"""
ASMBENCH = """\
vaddpd-xmm_xmm_xmm
Latency: 4.00 cycle
Throughput: 0.50 cycle

imul-r64_r64
Latency: 3.00 cycle
Throughput: 1.00 cycle
"""


def _file(folder: pathlib.Path, text: str) -> str:
    path = folder / "measured.txt"
    path.write_text(text)
    return str(path)


def test_ibench(tmp_path: pathlib.Path) -> None:
    assert list(ibench.read(_file(tmp_path, IBENCH))) == [
        PublishedFigures(name="vaddpd-xmm_xmm_xmm", throughput=0.501, latency=None),
        PublishedFigures(name="vaddpd-xmm_xmm_xmm", throughput=None, latency=4.002),
        PublishedFigures(name="imul-r64_r64", throughput=2.03, latency=None),
    ]


def test_asmbench(tmp_path: pathlib.Path) -> None:
    assert list(asmbench.read(_file(tmp_path, ASMBENCH))) == [
        PublishedFigures(name="vaddpd-xmm_xmm_xmm", throughput=0.5, latency=4.0),
        PublishedFigures(name="imul-r64_r64", throughput=1.0, latency=3.0),
    ]


@pytest.mark.parametrize(
    ("module", "text", "line", "message"),
    [
        (ibench, "vaddpd-xmm-TP 0.5\n", 1, "is no measurement"),
        (ibench, "vaddpd-xmm-TP: fast\n", 1, "no cycles in 'fast'"),
        (ibench, "\nvaddpd-xmm-LT:\nnothing\n", 2, "no cycles after vaddpd-xmm-LT"),
        (ibench, "vaddpd-xmm-LT:", 1, "no cycles after"),
        (asmbench, "vaddpd-x_x\nLatency: 4.0 cycle\n\n", 1, "has no Throughput"),
        (asmbench, "vaddpd-x_x\nLatency: 4.0 cycle\nLatency: 4.0 cycle\n\n", 3, "is not expected"),
        (asmbench, "vaddpd-x_x\nBandwidth: 1\n\n", 2, "is not expected"),
        (asmbench, "\n\n4.0 cycle\n", 3, "is no name"),
    ],
)
def test_malformed(
    module: object, text: str, line: int, message: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It stops there, names file and line and writes nothing; --keep-going skips and counts."""
    name = "ibench" if module is ibench else "asmbench"
    measured = _file(tmp_path, text)
    model = tmp_path / "core.toml"
    model.write_text('format = 1\nname = "core"\nisa = "x86"\ninherits = "skylake"\n')
    before = model.read_text()
    assert main(["import", name, measured, "-o", str(model)]) == 1
    error = capsys.readouterr().err
    assert f"{measured}:{line}: " in error
    assert message in error
    assert model.read_text() == before
    assert main(["import", name, measured, "--keep-going", "-o", str(model)]) == 0
    assert "1 malformed records skipped" in capsys.readouterr().out


def _import(tmp_path: pathlib.Path, text: str, model_text: str) -> object:
    model = tmp_path / "core.toml"
    model.write_text(model_text)
    assert main(["import", "ibench", _file(tmp_path, text), "-o", str(model)]) == 0
    return load(str(model))


def test_a_known_form_keeps_its_ports(tmp_path: pathlib.Path) -> None:
    model = _import(
        tmp_path,
        IBENCH + "vaddpd-xmm_xmm_xmm-LT: 5.0 (clk cy)\n",
        'format = 1\nname = "core"\nisa = "x86"\ninherits = "skylake"\nsource = "guess"\n',
    )
    add = model.lookup("VEX_VADDPD_XMM_XMM_XMMM128/r", frozenset())  # type: ignore[attr-defined]
    assert add.uops == (("0,1", 1),)
    assert add.throughput is None
    assert {c for _, _, c in add.latency} == {5}
    assert add.source == "ibench"
    # Ports that allow more than was measured do not explain it.
    assert model.lookup("IMUL_R64_RM64/r", frozenset()).throughput == 2.03  # type: ignore[attr-defined]


SMALL = """\
format = 1
name = "core"
isa = "aarch64"
source = "guess"
[ports]
names = ["I0", "I1", "V0", "V1"]
[ports.functions]
load = "I0"
[parameters]
issue_width = 2
retire_width = 2
rob = 32
rs = 16
load_latency = { gpr = 4 }
store_forward = { gpr = 4 }
[forms]
"add/x,x,x" = { ports = "1*I01", retire = 1, latency = "0<1,2:1" }
"fadd/v.2d,v.2d,v.2d" = { ports = "1*V01", retire = 1, latency = "0<1,2:4" }
"fmla/v.2d,v.2d,v.2d" = { ports = "1*V01", retire = 1, latency = "0<0,1,2:4" }
"fmul/v.2d,v.2d,v.2d" = { ports = "1*V0", retire = 1, latency = "0<1,2:4" }
"""


def test_aarch64_names(tmp_path: pathlib.Path) -> None:
    model = _import(tmp_path, "fadd-vd_vd_vd-LT: 3.0 (clk cy)\nadd-x_x_x-TP: 0.5 (clk cy)\n", SMALL)
    fadd = model.lookup("fadd/v.2d,v.2d,v.2d", frozenset())  # type: ignore[attr-defined]
    assert {c for _, _, c in fadd.latency} == {3}
    assert model.lookup("add/x,x,x", frozenset()).source == "ibench"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("throughput", "ports"), [(0.5, "1*p01"), (1.0, None), (0.333, None), (0.4, None), (2.0, None), (None, None)]
)
def test_ports_only_where_the_throughput_tells(throughput: float | None, ports: str | None) -> None:
    forms = {
        "VEX_VADDPD_XMM_XMM_XMMM128/r": {(): {"ports": "1*p01", "retire": 1}},
        "VEX_VMULPD_XMM_XMM_XMMM128/r": {(): {"ports": "1*p0", "retire": 1}},
        "VEX_VPERMILPD_XMM_XMM_XMMM128/r": {(): {"ports": "1*p5", "retire": 1}},
        "ADD_R64_RM64/r": {(): {"ports": "1*p06", "retire": 1}},
    }
    found = benchmark._only_ports("VEX_VSUBPD_XMM_XMM_XMMM128/r", throughput, ["0", "1", "5", "6"], forms)
    assert found == ports
