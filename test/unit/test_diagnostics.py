"""The report as a compiler's diagnostics, as SARIF and as optimisation remarks: views of the same report."""

from __future__ import annotations

import copy
import json
import re
from typing import Any
from urllib.parse import unquote

import jsonschema
import pytest
import yaml
from comparison_fixtures import make_kernel, make_report, make_unit
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.report import types as t
from incc.views.exchange import diagnostics, opt_record, sarif
from properties import examples

# What SARIF 2.1.0 (sections 3.13 to 3.52) asks of the parts that are written here.
_TEXT = {"type": "object", "required": ["text"], "properties": {"text": {"type": "string", "minLength": 1}}}
SARIF = {
    "type": "object",
    "required": ["version", "runs"],
    "additionalProperties": False,
    "properties": {
        "$schema": {"type": "string", "format": "uri"},
        "version": {"const": "2.1.0"},
        "runs": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["tool", "results"],
                "additionalProperties": False,
                "properties": {
                    "columnKind": {"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
                    "originalUriBaseIds": {
                        "type": "object",
                        "additionalProperties": {"properties": {"uri": {"pattern": "^file:///.*/$"}}},
                    },
                    "tool": {
                        "type": "object",
                        "required": ["driver"],
                        "properties": {
                            "driver": {
                                "type": "object",
                                "required": ["name", "rules"],
                                "properties": {
                                    "rules": {
                                        "type": "array",
                                        "uniqueItems": True,
                                        "items": {
                                            "type": "object",
                                            "required": ["id"],
                                            "properties": {"shortDescription": _TEXT},
                                        },
                                    }
                                },
                            }
                        },
                    },
                    "results": {"type": "array", "items": {"$ref": "#/$defs/result"}},
                },
            },
        },
    },
    "$defs": {
        "location": {
            "type": "object",
            "required": ["physicalLocation"],
            "properties": {
                "physicalLocation": {
                    "type": "object",
                    "required": ["artifactLocation"],
                    "properties": {
                        "artifactLocation": {
                            "type": "object",
                            "required": ["uri"],
                            # A relative one must not look like one with a scheme (RFC 3986, 4.2).
                            "properties": {"uri": {"pattern": "^(file:///|[^:]*$)"}},
                        },
                        "region": {
                            "type": "object",
                            "required": ["startLine"],
                            "properties": {
                                "startLine": {"type": "integer", "minimum": 1},
                                "startColumn": {"type": "integer", "minimum": 1},
                            },
                        },
                    },
                },
                "message": _TEXT,
            },
        },
        "result": {
            "type": "object",
            "required": ["message", "ruleId"],
            "additionalProperties": False,
            "properties": {
                "ruleId": {"type": "string"},
                "ruleIndex": {"type": "integer", "minimum": 0},
                "level": {"enum": ["none", "note", "warning", "error"]},
                "message": _TEXT,
                "locations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "relatedLocations": {"type": "array", "items": {"$ref": "#/$defs/location"}},
                "partialFingerprints": {"type": "object", "additionalProperties": {"type": "string"}},
                "properties": {"type": "object"},
            },
        },
    },
}

HINT = t.Hint(rule="sum-chain", text="sum into 4 variables", evidence={}, flags=["-ffast-math"], source_change="")


def marked(unit: t.UnitReport) -> t.UnitReport:
    """The unit with a mark, of which one expectation does not hold and one does, and a problem."""
    expectations = [
        t.Expectation(
            condition="cycles < 2", kernel_id="f/loop1", holds=False, text="predicted 4.0, expected less than 2"
        ),
        t.Expectation(condition="cycles < 9", kernel_id="f/loop1", holds=True, text=""),
    ]
    unit.marks = [
        t.MarkReport(
            source=t.SourceLocation("x.c", 2),
            column=6,
            at=t.SourceLocation("x.c", 3),
            at_column=3,
            last_line=4,
            name="",
            mcpu=[],
            kernels=["f/loop1"],
            expectations=expectations,
        )
    ]
    unit.mark_problems = [
        t.MarkError(source=t.SourceLocation("x.c", 1), column=4, text="incc: takes analyze", end_column=0, fix=None)
    ]
    return unit


def report(compiler: str = "gcc", version: str = "12.2.0", *flags: str, **fields: Any) -> t.AnalysisReport:
    kernel = make_kernel("f/loop1", cycles=4.0, hints=[HINT], **fields)
    command = [compiler, *flags, "-c", "x.c"]
    unit = make_unit([kernel], compiler=compiler, compiler_version=version, command=command, source="x.c")
    return make_report(marked(unit))


SOURCES = {"x.c": {1: "// incc: x", 3: "\tfor (;;)  // µ\r"}}


def test_as_gcc_does() -> None:
    assert diagnostics.warnings(report(), SOURCES) == (
        "x.c:1:4: warning: incc: takes analyze [-Wincc]\n"
        "    1 | // incc: x\n"
        "      |    ^\n"
        "x.c:3:3: warning: predicted 4.0, expected less than 2 [-Wincc]\n"
        "    3 |  for (;;)  // µ\n"
        "      |   ^\n"
    )
    text = diagnostics.remarks(report(), SOURCES)
    assert text.startswith("x.c: In function 'f':\nx.c:3:3: remark: 4.00 cycles per iteration on ")
    assert " [-Rincc]\n    3 |  for (;;)  // µ\n      |   ^\nx.c:3:3: note: " in text
    assert text.endswith("x.c:3:3: note: sum into 4 variables\n")


def test_as_clang_does() -> None:
    assert diagnostics.warnings(report("clang-16", "16.0.6"), SOURCES, error=True) == (
        "x.c:1:4: error: incc: takes analyze [-Werror=incc]\n"
        "// incc: x\n"
        "   ^\n"
        "x.c:3:3: error: predicted 4.0, expected less than 2 [-Werror=incc]\n"
        " for (;;)  // µ\n"
        "  ^\n"
    )
    # Since 17 it numbers lines.
    assert "\n    3 |  for (;;)" in diagnostics.warnings(report("clang-19", "19.1.7"), SOURCES)
    assert "In function" not in diagnostics.remarks(report("clang-19", "19.1.7"), SOURCES)


@pytest.mark.parametrize(
    ("flags", "there", "missing"),
    [
        (["-fno-diagnostics-show-caret"], "x.c:3:3: warning", "for"),
        (["-fno-diagnostics-show-caret", "-fdiagnostics-show-caret"], "for", "zzz"),
        (["-fno-caret-diagnostics"], "x.c:3:3: warning", "for"),
        (["-fdiagnostics-plain-output"], "x.c:3:3: warning", "for"),
        (["-fno-diagnostics-show-line-numbers"], "\n  for", " | "),
        (["-fno-diagnostics-show-option"], "than 2\n", "[-W"),
        (["-fno-show-column"], "x.c:3: warning", ":3:3:"),
    ],
)
def test_the_compilers_options_count(flags: list[str], there: str, missing: str) -> None:
    text = diagnostics.warnings(report("gcc", "12.2.0", *flags), SOURCES)
    assert there in text
    assert missing not in text


@pytest.mark.parametrize(
    ("flag", "terminal", "colour"),
    [
        ("", True, True),
        ("", False, False),
        ("-fdiagnostics-color", False, True),
        ("-fdiagnostics-color=always", False, True),
        ("-fdiagnostics-color=auto", True, True),
        ("-fdiagnostics-color=auto", False, False),
        ("-fdiagnostics-color=never", True, False),
        ("-fno-diagnostics-color", True, False),
        ("-fcolor-diagnostics", False, True),
        ("-fno-color-diagnostics", True, False),
        ("-fdiagnostics-plain-output", True, False),
    ],
)
def test_colours(flag: str, terminal: bool, colour: bool) -> None:
    for compiler in ("gcc", "clang"):
        text = diagnostics.warnings(report(compiler, "19.1.0", *[flag] * bool(flag)), SOURCES, colour=terminal)
        assert ("\033[" in text) == colour
        plain = report(compiler, "19.1.0", *[flag] * bool(flag), "-fno-diagnostics-color")
        assert re.sub(r"\033\[[\d;]*m", "", text) == diagnostics.warnings(plain, SOURCES)


def test_without_columns_and_sources() -> None:
    text = diagnostics.remarks(report(column=0), SOURCES)
    assert "x.c:3: remark: " in text
    assert "^" not in text
    assert "|" not in diagnostics.remarks(report(), {})
    assert "x.s:10: remark: " in diagnostics.remarks(report(source=None), SOURCES)


def test_the_compilers_place_goes_first() -> None:
    remark = t.RemarkReport(
        kind="vectorised", text="vectorised", said="", by="vect", source=t.SourceLocation("x.c", 1), column=22
    )
    assert "x.c:1:22: remark: " in diagnostics.remarks(report(remarks=[remark]), {})
    elsewhere = replace(remark, source=t.SourceLocation("other.h", 1))
    assert "x.c:3:3: remark: " in diagnostics.remarks(report(remarks=[elsewhere]), {})


def test_loops_beside_others_have_no_remark() -> None:
    role = t.RoleReport(name="remainder", of="f/loop2", instead=False, basis="inferred", text="")
    assert diagnostics.remarks(report(role=role), {}) == ""


def test_sarif() -> None:
    document = json.loads(sarif.render(report()))
    jsonschema.validate(document, SARIF)
    (run,) = document["runs"]
    assert [(r["ruleId"], r["level"]) for r in run["results"]] == [
        ("cycles", "note"),
        ("hint/sum-chain", "note"),
        ("mark", "warning"),
        ("expectation", "warning"),
    ]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 3, "startColumn": 3}
    assert run["results"][0]["properties"]["cycles"] == 4.0


@given(st.text(min_size=1, max_size=12), st.sampled_from(["", "/", "/a b/c"]))
@example("a:b/c%.c", "")
@example("\udcff.c", "/")
@examples(60)
def test_any_name_of_a_file(name: str, folder: str) -> None:
    name = name.replace("\0", "").replace("/", "-") or "x"
    made = report()
    (unit,) = made.units
    unit.folder = "/build"
    unit.kernels[0].source = t.SourceLocation(f"{folder}{name}", 1)
    unit.kernels[0].verdict = f"{name}'\"\\"
    document = json.loads(sarif.render(made))
    jsonschema.validate(document, SARIF)
    uri = document["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert unquote(uri.removeprefix("file://"), errors="surrogateescape") == f"{folder}{name}"
    diagnosed = diagnostics.remarks(made, {})
    assert not [c for c in diagnosed if (c < " " and c != "\n") or "\x7f" <= c <= "\x9f"]
    first, verdict, *_ = documents(opt_record.render(made))
    if "\udcff" not in name and not any(0xD800 <= ord(c) < 0xE000 for c in name):
        assert first["DebugLoc"]["File"] == f"{folder}{name}"
        assert verdict["Args"] == [{"String": f"{name}'\"\\"}]


class _Loader(yaml.SafeLoader):
    """opt-viewer's way: what a document is comes from its tag."""


for _tag in ("Analysis", "Missed", "Passed", "Failure"):
    _Loader.add_constructor(
        f"!{_tag}", lambda loader, node: {"tag": node.tag, **loader.construct_mapping(node, deep=True)}
    )


def documents(text: str) -> list[Any]:
    return list(yaml.load_all(text, _Loader))


def test_optimisation_remarks() -> None:
    found = documents(opt_record.render(report()))
    assert [(d["tag"], d["Name"]) for d in found] == [
        ("!Analysis", "Cycles"),
        ("!Analysis", "Verdict"),
        ("!Missed", "SumChain"),
        ("!Failure", "Expectation"),
    ]
    assert all((d["Pass"], d["Function"]) == ("incc", "f") for d in found)
    assert found[0]["DebugLoc"] == {"File": "x.c", "Line": 3, "Column": 3}
    assert found[0]["Args"][0] == {"Cycles": "4.00"}


def test_views_leave_the_report_as_it_is() -> None:
    made = report()
    before = copy.deepcopy(made)
    diagnostics.remarks(made, SOURCES)
    diagnostics.warnings(made, SOURCES)
    sarif.render(made)
    opt_record.render(made)
    assert made == before


def test_what_to_write_instead() -> None:
    made = report("clang-19", "19.1.7")
    unit = made.units[0]
    unit.marks = []
    at = t.SourceLocation("x.c", 1)
    unit.mark_problems = [
        t.MarkError(source=at, column=4, text="no 'nmae'", end_column=9, fix="name"),
        t.MarkError(source=at, column=12, text="expected ')'", end_column=12, fix=")"),
        t.MarkError(source=at, column=14, text="twice", end_column=17, fix=""),
    ]
    # µ is two bytes.
    assert diagnostics.warnings(made, {"x.c": {1: "// nmµe(x  y z"}}) == (
        "x.c:1:4: warning: no 'nmae' [-Wincc]\n"
        "    1 | // nmµe(x  y z\n"
        "      |    ^~~~\n"
        "      |    name\n"
        "x.c:1:12: warning: expected ')' [-Wincc]\n"
        "    1 | // nmµe(x  y z\n"
        "      |           ^\n"
        "      |           )\n"
        "x.c:1:14: warning: twice [-Wincc]\n"
        "    1 | // nmµe(x  y z\n"
        "      |             ^~\n"
    )
    results = json.loads(sarif.render(made))["runs"][0]["results"]
    found = [result for result in results if "fixes" in result]
    changes = [result["fixes"][0]["artifactChanges"][0]["replacements"][0] for result in found]
    assert [change["insertedContent"]["text"] for change in changes] == ["name", ")", ""]
    assert changes[0]["deletedRegion"] == {"startLine": 1, "startColumn": 4, "endColumn": 9}
