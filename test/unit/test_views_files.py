"""How the views stand to each other and to the rest: one file each, which reads a report, or a comparison, and nothing
else."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

import incc.views
from incc.core.analysis import analyze_kernel
from incc.frontends.x86.kernels import decode_bytes
from incc.models.loading import load
from incc.report import types as t
from incc.report.parts.quality import quality_report
from incc.views.text import VIEWS
from report_fixtures import make_report, triad_parts

FOLDER = Path(incc.views.__path__[0])

# Beside each other, views may use the types of reports, tables, comparisons and databases, places in reports, names,
# incc's version, and Python.
ALLOWED = (
    "incc.views",
    "incc.report.decrement",
    "incc.report.instructions",
    "incc.report.runs",
    "incc.report.source.demangle",
    "incc.report.source.places",
    "incc.report.types",
    "incc.report.phrases",
    "incc.report.wording",
    "incc.comparison.types",
    "incc.history.types",
    "incc.ranking.types",
    "incc.support.text",
    "incc.support.version",
)
PACKAGES = (
    "incc",
    "incc.driver",
    "incc.comparison",
    "incc.history",
    "incc.ranking",
    "incc.report",
    "incc.views",
)

_WITH_PARTS = tuple(f"incc.views.{name}" for name in ("comparison", "exchange", "ranking", "text"))


def imported(file: Path) -> set[str]:
    """The modules of incc that a file imports anywhere, with the names taken from packages."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0
            names = {f"{node.module}.{alias.name}" for alias in node.names}
            found |= names if node.module in (*PACKAGES, *_WITH_PARTS) else {str(node.module)}
    return {name for name in found if name.split(".")[0] == "incc"}


def test_views_read_reports_and_nothing_else() -> None:
    files = sorted(FOLDER.rglob("*.py"))
    assert len(files) > len(VIEWS) + 4
    for file in files:
        foreign = {name for name in imported(file) if not name.startswith(ALLOWED)}
        assert not foreign, f"{file.name} imports {foreign}"


def test_views_do_not_import_each_other_in_a_circle() -> None:
    prefix = "incc.views."
    graph = {
        ".".join(file.relative_to(FOLDER).with_suffix("").parts).removesuffix(".__init__"): {
            name.removeprefix(prefix) for name in imported(file) if name.startswith(prefix)
        }
        for file in FOLDER.rglob("*.py")
    }
    assert "html.data" in graph["html"]
    assert graph["text.summary"] >= {"text.what_if", "layout"}
    while graph:
        leaves = [name for name, needs in graph.items() if not needs & set(graph)]
        assert leaves, f"a circle among {sorted(graph)}"
        for name in leaves:
            del graph[name]


@pytest.mark.parametrize("view", VIEWS)
def test_each_view_has_a_file(view: str) -> None:
    from incc.views.layout import Layout

    report = make_report(triad_parts(), timeline=True)
    (unit,) = report.units
    tried = t.WhatIfReport(
        change="front-end", text="with a perfect front end", cycles=1.0, exact="1", gained=1.0, asked=False
    )
    unit.kernels[0].what_ifs = [tried, replace(tried, cycles=2.0, gained=0.0)]
    left_out = t.DecrementReport(
        kind="load", instructions=[0], kept=[], text="the load", cycles=1.0, exact="1", gained=1.0
    )
    unit.kernels[0].decrements = [left_out, replace(left_out, kind="loads", text="all loads")]
    block = decode_bytes(bytes.fromhex("c5fb5804c7ebf9"), is_loop=True)
    unit.kernels[0].quality = quality_report(analyze_kernel(block, load("skylake")), None)
    lines_moved = t.LinesReport(read=1.0, allocate=0.0, written=0.0, passed=0.0, direct=0.0)
    level = t.DataLevel(
        name="L2",
        cycles=2.0,
        cycles_per_element=None,
        least_cycles=2.0,
        transfer=1.0,
        lines=lines_moved,
        requested=True,
        saturating_cores=None,
        figures="measured",
    )
    stream = t.DataStream(
        instructions=[0],
        kind="load",
        step=64,
        lines=1.0,
        reuse_bytes=None,
        level="",
        distance=None,
        reaches=[],
        neighbour=False,
        apart="",
    )
    unit.kernels[0].data = t.DataReport(
        levels=[level],
        streams=[stream, stream],
        overlapping=1.0,
        loading=1.0,
        line_iterations=1.0,
        line_bytes=64,
        cores=1,
        notation="",
        prediction="",
        unknown=[],
        deciding=[],
        thrashing=[],
        configuration="",
    )
    module = import_module(f"incc.views.text.{view.replace('-', '_')}")
    lines = list(module.lines(unit, unit.kernels[0], Layout(100, False)))
    assert len(lines) > 3
    assert max(len(line) for line in lines) <= 100


PROGRAM = """
import json, sys
import msgspec
from incc.report.types import AnalysisReport
report, views = json.load(sys.stdin)
report = msgspec.convert(report, AnalysisReport)
from incc.views.text import TextParts, render
render(report, show=TextParts(views=views))
print(json.dumps([name for name in sys.modules if name.startswith("incc.")]))
"""


def loaded(report: t.AnalysisReport, views: list[str]) -> set[str]:
    """Return the modules of reports and views that a new Python has imported after printing these views."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], input=json.dumps([msgspec.to_builtins(report), views]), capture_output=True,
        text=True, check=True, env=environment,
    )  # fmt: skip
    # The records of a report are those of these packages, as far as these have them.
    below = ("incc.core", "incc.frontends", "incc.models", "incc.support")
    return {name for name in json.loads(done.stdout) if not name.startswith(below)}


def test_only_what_is_printed_is_imported() -> None:
    report = make_report(triad_parts(), timeline=True)
    always = {"incc.report", "incc.report.types", "incc.report.source", "incc.report.source.places", "incc.views"}
    always |= {f"incc.views.{n}" for n in ("text", "layout", "text.header")}
    assert loaded(report, ["info"]) == always | {f"incc.views.text.{n}" for n in ("info", "what_if")}
    every = always | {f"incc.views.text.{name.replace('-', '_')}" for name in VIEWS}
    every |= {"incc.report.phrases", "incc.report.wording", "incc.views.table"}
    assert loaded(report, list(VIEWS)) == every
