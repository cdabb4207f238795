"""Files of a project: incc.toml, and compilation databases for incc-scan -p."""

from __future__ import annotations

import json

from hypothesis import strategies as st

from test.fuzz.corpus import SOURCES, reports
from test.fuzz.kinds.common import values, ways
from test.fuzz.mutation import changed_json, changed_text
from test.fuzz.runs import Run

_TOML = b"""\
[analyze]
cores = ["skylake", "znver4"]
functions = ["f*"]
files = ["*"]
exclude = ["other"]

[thresholds]
fail-if = ["cycles > 2*bound"]
warn-if = ["has('gather')"]
"""
_PIECES = (b"[[", b"]", b"cores = 1\n", b"[analyze]\n", b'"' * 3, b"fail-if = [1, [2]]\n", b"a.b.c = {}\n", b"[" * 3000)
_FLAGS = (
    "-O2",
    "-O3 -g",
    "-march=skylake",
    "-march=nosuch",
    "-DX='a b'",
    "-Imissing",
    "-x c++",
    "-c",
    "-o a.o",
    "@rsp",
    "-",
)


@st.composite
def _toml(draw: st.DrawFn) -> bytes:
    text = _TOML
    for old in (b"cycles > 2*bound", b"skylake", b"f*"):
        if not draw(st.integers(0, 3)):
            text = text.replace(old, json.dumps(draw(values))[1:-1].encode())
    return draw(changed_text(text, _PIECES, 3))


@st.composite
def _database(draw: st.DrawFn) -> bytes:
    """Return a compilation database, whose commands are compilers with harmless options."""
    entries = []
    for _ in range(draw(st.integers(1, 3))):
        flags = " ".join(draw(st.lists(st.sampled_from(_FLAGS), max_size=4)))
        program = draw(st.sampled_from(("gcc", "gcc", "clang-19", "cc", "nosuch-gcc", "./gcc", "true", "ccache gcc")))
        name = draw(st.sampled_from(("a.c", "a.c", "b.c", "missing.c", "a.s", ".", "")))
        entry = {"directory": draw(st.sampled_from((".", ".", "missing", ""))), "file": name}
        command = f"{program} {flags} -c {name}"
        entries.append(entry | draw(st.sampled_from(({"command": command}, {"arguments": command.split()}))))
    return draw(changed_json(json.dumps(entries).encode()))


@st.composite
def runs(draw: st.DrawFn) -> Run:
    """Return runs of incc-scan -p, and of incc-report in a folder with an incc.toml."""
    files = {"incc.toml": draw(_toml()), "a.c": SOURCES[0].encode(), "b.c": SOURCES[1].encode(), "rsp": b"-O2 @rsp '"}
    if not draw(st.integers(0, 3)):
        return Run(command="incc-report", args=("r.json",), files={**files, "r.json": reports()[0]}, **draw(ways()))
    files["compile_commands.json"] = draw(_database())
    args = ("-j1", "-p", ".", *draw(st.sampled_from(((), ("--mcpu=skylake",), ("a.c",), ("--reports=reports",)))))
    return Run(command="incc-scan", args=args, files=files, **draw(ways(jobs=True)))
