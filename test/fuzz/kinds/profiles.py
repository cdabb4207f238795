"""Profiles for incc-report --hot: outputs of gcov, llvm-cov, llvm-profdata and perf with changes."""

from __future__ import annotations

import functools
import gzip

from hypothesis import strategies as st

from test.fuzz.corpus import ROOT, reports
from test.fuzz.kinds.common import ways
from test.fuzz.mutation import changed_json, changed_text
from test.fuzz.runs import Run

_PIECES = (
    b"-1",
    b"9" * 400,
    b"1e308",
    b"nan",
    b"%",
    b"100.00%",
    b"0x",
    b"+0xffffffffffffffff",
    b"#####",
    b"    ",
    b"\t|",
    b":",
)
_KINDS = (
    "gcov",
    "gcov-json",
    "llvm-cov",
    "llvm-cov-show",
    "llvm-profdata",
    "perf-script",
    "perf-report",
    "perf-annotate",
    "list",
)


@functools.cache
def _profiles() -> dict[str, bytes]:
    found = {path.name: path.read_bytes() for path in sorted((ROOT / "test/unit/data/hot").iterdir())}
    return {**found, "list.txt": b"f 10\na.c:3 5\n.L0 1e3\n"}


@st.composite
def _changed(draw: st.DrawFn) -> bytes:
    name = draw(st.sampled_from(sorted(_profiles())))
    data = _profiles()[name]
    if name.endswith(".gz"):
        if draw(st.booleans()):
            return draw(changed_text(data))
        return gzip.compress(draw(changed_json(gzip.decompress(data))), mtime=0)
    return draw(changed_json(data) if name.endswith(".json") else changed_text(data, _PIECES))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-report with a changed profile."""
    files = {"r.json": reports()[draw(st.integers(0, 1))], "hot": draw(_changed())}
    kind = draw(st.sampled_from(("", "", *_KINDS)))
    words = [f"--hot-kind={kind}"] * bool(kind) + draw(st.sampled_from(([], ["--by=function"], ["--format=json"])))
    return Run(command="incc-report", args=("r.json", "--hot=hot", *words), files=files, **draw(ways()))
