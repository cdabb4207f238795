"""Figures of other tools for incc-model import, and results of incc-bench, with changes."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

from hypothesis import strategies as st

from mca_cases import Case, run_function
from test.fuzz.corpus import ROOT
from test.fuzz.kinds.common import ways
from test.fuzz.mutation import changed_json, changed_text
from test.fuzz.runs import Run

_OWN = b'format = 1\nname = "own"\ninherits = "skylake"\n'
_IBENCH = b"Using frequency 2.50GHz.\nvaddpd-xmm_xmm_xmm-TP:  0.501 (clk cy)\nimul-r64_r64-TP:\n 2.030 (clock cycles)\n"
_ASMBENCH = b"vaddpd-xmm_xmm_xmm\nLatency: 4.00 cycle\nThroughput: 0.50 cycle\n\nimul-r64_r64\nLatency: 3.00 cycle\n"
_OSACA = b"""\
osaca_version: 0.3.4
micro_architecture: "SKX"
isa: x86
ports: ["0", "0DV", "1", "2", "2D", "3", "3D", "4", "5", "6", "7"]
instruction_forms:
- name: vaddpd
  operands: [{class: register, name: xmm}, {class: register, name: xmm}, {class: register, name: xmm}]
  throughput: 0.5
  latency: 4.0
  port_pressure: [[1, '01']]
"""
_PIECES = (
    b"- ",
    b": ",
    b"[" * 2000,
    b"{",
    b"&a *a",
    b"!!python/object:os.system x",
    b"nan",
    b"-1",
    b"1e400",
    b"9" * 400,
)


@functools.cache
def _records() -> dict[str, bytes]:
    """Return files of JSON lines by the importer that reads them."""
    from incc.driver.commands.bench import main

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "m.jsonl")
        words = ["--simulated", "--mcpu=skylake", "add r64, r64", "imul r64, r64", "-o", str(path)]
        run_function(main, [], Case(name="measured", args=words, stdin=None, files={}))
        measured = path.read_bytes()
    return {"measured": measured, "uops.info": (ROOT / "test/lit/model/Inputs/core.jsonl").read_bytes()}


@st.composite
def _changed_lines(draw: st.DrawFn, data: bytes) -> bytes:
    lines = data.splitlines()
    at = draw(st.integers(0, len(lines) - 1))
    lines[at] = draw(changed_json(lines[at]))
    return b"\n".join(lines) + b"\n"


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-model import, and of incc-bench that continue after results."""
    source = draw(st.sampled_from(("measured", "uops.info", "resume", "ibench", "asmbench", "osaca")))
    texts = {"ibench": _IBENCH, "asmbench": _ASMBENCH, "osaca": _OSACA}
    if source in texts:
        data = draw(changed_text(texts[source], _PIECES))
    else:
        data = draw(_changed_lines(_records()["measured" if source == "resume" else source]))
    files = {"figures": data, "own.toml": _OWN}
    if source == "resume":
        args = ("--simulated", "--mcpu=skylake", "add r64, r64", "--resume", "figures")
        return Run(command="incc-bench", args=args, files=files)
    more = draw(st.sampled_from(((), (), ("--fill",), ("--compare",), ("--keep-going", "--verbose"))))
    return Run(
        command="incc-model", args=("import", source, "figures", "-o", "own.toml", *more), files=files, **draw(ways())
    )
