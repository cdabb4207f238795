"""Pages and fragments of HTML: well-formed, every text as the report has it, nothing of it taken for markup."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.frontends.kernel import LeftOut
from incc.frontends.unit import Unit
from incc.report import types as t
from incc.report.build import UnitResult, build_report, unit_report
from incc.views.html import notebook, render, templates
from incc.views.table import Cell, Column, Table, TableRow
from report_fixtures import make_model, make_report, sum_parts, triad_parts, unknown_parts

NAME = """void gemm<float, std::array<int, 3>, (a && b) || "q" 'r'>(std::vector<T, A<T> > const&) [clone .isra.0]"""

VOID = ("br", "input", "meta")


class Reader(HTMLParser):
    """Reads strictly: every element that begins ends, in order. `cells`: the texts of td and th by element."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.names: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.texts: dict[str, list[str]] = {}
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.attributes += attrs
        if tag == "br":
            self.handle_data("|")
        if tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        for tag in self.open:
            self.texts[tag][-1] += data


@pytest.fixture
def report() -> t.AnalysisReport:
    return make_report(triad_parts(), sum_parts(), unknown_parts())


def test_a_kernel_has_its_figures(report: t.AnalysisReport) -> None:
    (unit,) = report.units
    shown = unit.kernels[1]
    read = Reader(notebook.kernel(unit, shown))
    assert read.texts["th"] == ["Kernel", "Cycles", "An element", "Ports", "Divider", "Front end", "Retire", "Carried"]
    first, *figures, words = read.texts["td"]
    assert first == "sum|triad.c:4, 4 instructions"
    bounds = shown.bounds
    each = [bounds.prediction, bounds.port, bounds.divider, bounds.front_end, bounds.retire, bounds.loop_carried]
    assert figures.pop(1) == ""  # nobody knows
    assert figures == [f"{bound.cycles:.2f}" if bound.cycles else "-" for bound in each]
    assert words.startswith("Bound by the loop-carried chain")
    assert len(read.texts["li"]) == len(shown.hints) > 0
    # bold: the prediction and what limits it
    limits = [bounds.of(name).cycles for name in bounds.prediction.limited_by]
    assert read.texts["b"] == [f"{c:.2f}" for c in (bounds.prediction.cycles, *limits)]


def test_a_report_has_all_kernels_and_what_is_left_out(report: t.AnalysisReport) -> None:
    read = Reader(notebook.report(report))
    assert read.names.count("tbody") == 3
    assert read.names.count("table") == 1
    left_out = report.units[0].left_out
    assert left_out
    assert read.texts["li"][-1].endswith(left_out[-1].reason)
    # several of them on one page: no ids, and style for nothing but themselves
    assert not [value for name, value in read.attributes if name == "id"]
    for rule in read.texts["style"][0].replace("\n", "").split("}"):
        assert all(s.startswith("div.incc-report") for s in rule.partition("{")[0].split(",") if s)


def test_nothing_to_show_is_said() -> None:
    model, unit = make_model(), Unit(assembly="", assembly_file="a.s")
    assert Reader(notebook.report(build_report([]))).texts["p"] == ["Nothing was analysed."]
    left_out = LeftOut(first_line=0, last_line=0, function="f<T>", label="", reason="not understood & more")
    read = Reader(
        notebook.report(
            build_report(
                [unit_report(UnitResult(unit=unit, model=model, chosen_by="-mcpu=x", results=(), left_out=(left_out,)))]
            )
        )
    )
    assert read.texts["p"][0] == f"a.s, {model.title}: no loop that can be analysed."
    assert read.texts["li"] == ["a.s in f<T>: not understood & more"]


@given(st.text() | st.just(NAME), st.text(st.characters()))
def test_no_text_becomes_markup(name: str, verdict: str) -> None:
    report = make_report(triad_parts())
    (kernel,) = report.units[0].kernels
    plain = Reader(notebook.report(report)).names
    kernel.function_name, kernel.verdict = name, verdict
    kernel.hints = [replace(hint, text=name) for hint in kernel.hints]
    report.units[0].source = verdict
    made = notebook.report(report)
    assert Reader(made).names == plain
    made.encode("utf-8")  # also of bytes in symbols that are no text


def test_names_stay_as_they_are() -> None:
    report = make_report(sum_parts())
    report.units[0].kernels[0].function_name = NAME
    assert Reader(notebook.report(report)).texts["td"][0].startswith(NAME)


def test_a_page_is_whole(report: t.AnalysisReport) -> None:
    """Every element ends, whatever names are in it."""
    for kernel in report.units[0].kernels:
        kernel.name = kernel.verdict = NAME
        kernel.overview = replace(kernel.overview, function=NAME)
    made = render(report)
    assert made.startswith("<!DOCTYPE html>\n")
    read = Reader(made)
    assert read.names[:2] == ["html", "head"]
    assert sum(NAME in text for text in read.texts["a"]) == 3


def harmless(text: str) -> str:
    """The text as pages have it: without what controls or turns it."""
    return re.sub("[\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]", "\ufffd", text)


@given(st.text())
def test_texts_and_attributes_are_escaped(text: str) -> None:
    columns = [Column(title="a", meaning=text), Column(title=text, right=True)]
    table = Table(columns, [TableRow([Cell(text=text, href="#x"), Cell(text="1")])])
    rest = {"way": "", "matrix": None, "plot": None, "tables": [("", table)]}
    made = templates.render("bench.html.j2", title=text, core=text, notes=[text], **rest)
    read = Reader(made)
    plain = templates.render("bench.html.j2", title="", core="", notes=[""], **rest)
    assert read.names == Reader(plain).names
    made.encode("utf-8")
    if harmless(text) == text and not any(c < " " and c not in "\t\n" for c in text):
        assert read.texts["h1"] == [text]
        assert read.texts["a"] == [text]
        assert ("title", text) in read.attributes


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_data_of_scripts(value: Any) -> None:
    made = templates.render(
        "html/page.html.j2", title="", tool={"name": "", "version": ""}, styles=[], scripts=[], data=[value]
    )
    text = Reader(made).texts["script"][0]
    assert json.loads(text) == json.loads(harmless(json.dumps(value, ensure_ascii=False)))
    assert "<" not in text
