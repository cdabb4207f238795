"""What test/run.py makes of the results that lit and pytest write."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from run import Outcome, read_fuzz, read_junit, read_lit, skipped_tests, wanted

LIT = [
    ("incc :: asm/loops.test", "PASS", ""),
    ("incc :: wrapper/clang.test", "UNSUPPORTED", "Test requires the following unavailable features: clang-19"),
    ("incc :: scan/foreign.test", "UNSUPPORTED", "Test requires the following unavailable features: clang-19"),
    ("incc :: model/check-all.test", "UNSUPPORTED", "Test requires the following unavailable features: long"),
    ("incc :: golden/triad.s", "FAIL", "differs"),
    ("incc :: golden/sum.s", "UNRESOLVED", "no RUN line"),
]
JUNIT = """<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests"><testsuite name="pytest">
<testcase classname="test.unit.test_a" name="test_1" time="0.1" />
<testcase classname="test.unit.test_a" name="test_2"><failure message="AssertionError">12 passed</failure></testcase>
<testcase classname="test.unit.test_a" name="test_3"><error message="failed on setup">E</error></testcase>
<testcase classname="test.unit.test_b" name="test_4[gcc-11]"><skipped type="pytest.skip" message="no gcc-11">b.py:1</skipped></testcase>
<testcase classname="test.unit.test_b" name="test_5[gcc-11]"><skipped type="pytest.skip" message="no gcc-11">b.py:1</skipped></testcase>
<testcase classname="test.unit.test_c" name="test_6"><skipped type="pytest.xfail" message="known" /></testcase>
</testsuite></testsuites>
"""  # noqa: E501


def test_lit(tmp_path: Path) -> None:
    results = tmp_path / "lit.json"
    tests = [{"name": n, "code": c, "output": o, "elapsed": 0.1} for n, c, o in LIT]
    results.write_text(json.dumps({"tests": tests}))
    got = read_lit(results, 1)
    assert (got.passed, got.failed) == (1, 2)
    assert skipped_tests(got.skipped) == [
        "skipped for want of clang-19: scan/foreign.test, wrapper/clang.test",
        "left to make check-all: model/check-all.test",
    ]


def test_junit(tmp_path: Path) -> None:
    results = tmp_path / "pytest.xml"
    results.write_text(JUNIT)
    got = read_junit(results, 1)
    assert (got.passed, got.failed) == (2, 2)
    assert skipped_tests(got.skipped) == ["skipped for want of gcc-11: test_b.py (2 tests)"]


def test_a_runner_that_fails_counts_as_a_failure(tmp_path: Path) -> None:
    assert read_lit(tmp_path / "none.json", 0) == read_junit(tmp_path / "none.xml", 0) == Outcome(0, 1)
    (tmp_path / "pytest.xml").write_text("<testsuites><testsuite /></testsuites>")
    assert read_junit(tmp_path / "pytest.xml", 3) == Outcome(0, 1)
    (tmp_path / "lit.json").write_text('{"tests": []}')
    assert read_lit(tmp_path / "lit.json", 2) == Outcome(0, 1)


@pytest.mark.parametrize(
    ("reason", "want"),
    [
        ("no gfortran", "gfortran"),
        (" clang-19, long", "clang-19, long"),
        ("could not import 'yaml': No module named 'yaml'", "yaml"),
        ("clang++ without its library", "clang++ without its library"),
    ],
)
def test_what_is_wanted(reason: str, want: str) -> None:
    assert wanted(reason) == want


def test_fuzzer() -> None:
    line = "fuzz: 412 runs of 15 kinds in 61 s from seed 1, {} finds\n"
    assert read_fuzz("     412 elf\n" + line.format(0), 0) == Outcome(15, 0)
    assert read_fuzz(line.format(2), 1) == Outcome(13, 2)
    assert read_fuzz("Traceback", 1) == Outcome(0, 1)
