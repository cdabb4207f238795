"""The views for programs: JSON, and the dependency graph in Graphviz's language."""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr

from incc.report import types as t
from incc.support.text import written_out
from incc.views.exchange import dot
from incc.views.json import render as render_json
from report_fixtures import make_report, sum_parts, triad_parts, unknown_parts

# --- a small reader of what Graphviz would read -----------------------------------------------------------------------

TOKEN = re.compile(r'\s*("(?:[^"\\]|\\.)*"|->|[{}\[\];,=]|[A-Za-z_0-9]+)', re.DOTALL)


def tokens(text: str) -> list[str]:
    """The tokens of a DOT file; fails on anything that is none."""
    found, position = [], 0
    text = text.rstrip()
    while position < len(text):
        match = TOKEN.match(text, position)
        assert match, f"no token at {text[position : position + 20]!r}"
        found.append(match[1])
        position = match.end()
    return found


def unquoted(token: str) -> str:
    return re.sub(r"\\(.)", r"\1", token[1:-1]) if token.startswith('"') else token


def parse(text: str) -> tuple[dict[str, dict[str, str]], list[tuple[str, str, dict[str, str]]]]:
    """Nodes and edges with their attributes."""
    stream = iter(tokens(text))
    nodes: dict[str, dict[str, str]] = {}
    edges: list[tuple[str, str, dict[str, str]]] = []
    depth = 0
    statement: list[str] = []

    def attributes(rest: list[str]) -> dict[str, str]:
        if not rest:
            return {}
        assert (rest[0], rest[-1]) == ("[", "]")
        inner = rest[1:-1]
        found = {}
        for i in range(0, len(inner), 4):
            assert inner[i + 1] == "="
            assert inner[i + 3 : i + 4] in ([], [","])
            found[inner[i]] = unquoted(inner[i + 2])
        return found

    for token in stream:
        if token == "{":
            assert statement[0] in ("digraph", "subgraph")
            assert len(statement) == 2
            depth, statement = depth + 1, []
        elif token == "}":
            assert not statement
            depth -= 1
        elif token == ";":
            if statement[1:2] == ["->"]:
                edges.append((statement[0], statement[2], attributes(statement[3:])))
            elif statement[1:2] != ["="]:
                nodes[statement[0]] = attributes(statement[1:])
            statement = []
        else:
            statement.append(token)
    assert depth == 0
    return nodes, edges


@pytest.fixture(scope="module")
def report() -> t.AnalysisReport:
    return make_report(triad_parts(), sum_parts(), unknown_parts(), timeline=True)


# --- DOT --------------------------------------------------------------------------------------------------------------


def test_nodes_and_edges_are_those_of_the_report(report: t.AnalysisReport) -> None:
    nodes, edges = parse(dot.render(report))
    kernels = report.units[0].kernels
    assert len([name for name in nodes if name.startswith("k")]) == sum(len(k.instructions) for k in kernels)
    assert len(edges) == sum(len(k.dependencies) for k in kernels)
    assert all(start in nodes and end in nodes for start, end, _ in edges)
    assert nodes["k0_i1"]["label"] == "13: vfmadd213pd (%rdx,%rax), %ymm1, %ymm0"
    assert nodes["k2_i0"] == {"label": "X 40: vfoo %xmm1, %xmm2", "style": "dotted"}


def test_paths_and_chains_stand_out(report: t.AnalysisReport) -> None:
    nodes, edges = parse(dot.render(report))
    triad = {(start, end): attributes for start, end, attributes in edges if start.startswith("k0")}
    assert triad["k0_i0", "k0_i1"] == {"label": "ymm0 4", "style": "bold"}
    assert nodes["k0_i0"]["style"] == "bold"
    assert triad["k0_i3", "k0_i0"]["style"] == "dashed"
    sums = {(start, end): attributes for start, end, attributes in edges if start.startswith("k1")}
    assert sums["k1_i0", "k1_i0"]["color"] == dot.COLOURS[0]
    assert sums["k1_i1", "k1_i1"]["color"] == dot.COLOURS[1]
    assert nodes["k1_i0"]["color"] == dot.COLOURS[0]
    assert "color" not in nodes["k1_i2"]


@pytest.fixture(scope="module")
def triad() -> t.AnalysisReport:
    """A report that the test may change."""
    return make_report(triad_parts())


@given(text=st.text())
def test_any_text_is_quoted(triad: t.AnalysisReport, text: str) -> None:
    force_setattr(triad.units[0].kernels[0].instructions[0], "text", text)
    nodes, _ = parse(dot.render(triad))
    assert len(nodes) == 8  # six instructions, the defaults of nodes and edges
    if not set(text) & set("\n\r\t"):
        assert nodes["k0_i0"]["label"] == f"12: {written_out(text)}"


def test_an_empty_report_is_an_empty_graph() -> None:
    nodes, edges = parse(dot.render(make_report()))
    assert set(nodes) == {"node", "edge"}
    assert not edges


# --- JSON -------------------------------------------------------------------------------------------------------------


def test_json_round_trip(report: t.AnalysisReport) -> None:
    for compact in (False, True):
        text = render_json(report, compact=compact)
        assert json.loads(text) == msgspec.to_builtins(report)
        assert list(json.loads(text)) == list(msgspec.to_builtins(report))
        assert msgspec.convert(json.loads(text), t.AnalysisReport) == report
        assert text.endswith("}\n")
    assert render_json(report, compact=True).count("\n") == 1


def test_rows_stay_in_a_line(report: t.AnalysisReport) -> None:
    text = render_json(report)
    assert '"pressure": [1, 0.0, 0.5, 0.5, 0.0, 0.0, 0.0, 0.0, 0.0]' in text
    # A sentence has a line of its own, whatever its length.
    assert max(len(line) for line in text.splitlines() if not line.lstrip().startswith('"text":')) < 250


def test_the_same_input_gives_the_same_text() -> None:
    assert render_json(make_report(triad_parts())) == render_json(make_report(triad_parts()))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,  # enough for every nesting; the time goes into making the data
)


@given(st.dictionaries(st.text(), values), st.booleans())
def test_any_data_survives(data: dict[str, Any], compact: bool) -> None:
    assert json.loads(render_json(data, compact=compact)) == data


def test_numbers_that_json_does_not_know_are_refused() -> None:
    with pytest.raises(ValueError, match="Out of range"):
        render_json({"x": float("nan")})
