"""incc-report: what is read of a build's reports, merged, weighed and put in order; which reports are stale; the
command and its views."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Any

import jsonschema
import msgspec
import pytest
from comparison_fixtures import make_instruction, make_kernel, make_report, make_unit
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import force_setattr, replace

import incc.ranking
from incc.driver.commands import mca
from incc.driver.commands.report import main
from incc.driver.pipeline import analyze_units
from incc.driver.settings import Scope, Settings
from incc.frontends.asm.parse import parse
from incc.frontends.asm.regions import innermost_loops
from incc.frontends.isa import is_padding
from incc.frontends.unit import Unit
from incc.ranking.hot.read import read_hot
from incc.ranking.hot.records import EXECUTIONS, SAMPLES, FunctionListing, HotFunction, Line, Profile, Sample
from incc.ranking.read import ReadSettings, read_build
from incc.ranking.types import Ranking
from incc.ranking.weigh import weigh
from incc.report import types as t
from properties import examples
from struct_fixtures import json_text

SCHEMA = json.loads((Path(incc.ranking.__path__[0]) / "ranking.schema.json").read_text(encoding="utf-8"))
DATA = Path(__file__).parent / "data"


@pytest.fixture(autouse=True)
def _plain(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As in a pipe of 120 columns, in a folder of its own."""
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.chdir(tmp_path)


def what_if(change: str, gained: float, cycles: float = 4.0, **fields: Any) -> dict[str, Any]:
    left = cycles - gained
    text = f"without {change}"
    return {"change": change, "text": text, "cycles": left, "exact": "1", "gained": gained, "asked": False, **fields}


def kernel(name: str = "f", line: int = 3, lines: tuple[int, ...] = (), file: str = "x.c", **fields: Any) -> Any:
    """A loop at a line of a file whose instructions are of these lines."""
    made = make_kernel(f"{name}/loop1", source=(file, line), **fields)
    numbers = lines or (line,)
    for n, instruction in enumerate(made.instructions):
        force_setattr(instruction, "source", t.SourceLocation(file, numbers[n % len(numbers)]))
    made.content_hash = blake2b(repr((name, made.cycles)).encode(), digest_size=8).hexdigest()
    made.content_hash = fields.get("content_hash", made.content_hash)
    return made


def hint(rule: str = "scalar-arithmetic", gain: float | None = None, **fields: Any) -> t.Hint:
    """Advice to compile with -O9, or other advice."""
    values = {"text": rule, "evidence": {}, "flags": ["-O9"], "source_change": "", **fields}
    return t.Hint(rule=rule, gain=gain, **values)  # type: ignore[arg-type]


def role(name: str) -> dict[str, Any]:
    return {"name": name, "of": "f/loop1", "instead": False, "basis": "inferred", "text": name}


def unit(*kernels: Any, source: str = "x.c", folder: str = "/src", output: str = "", **fields: Any) -> Any:
    command = ["gcc", "-O2", "-c", source, *(["-o", output] if output else [])]
    return make_unit(list(kernels), source=source, folder=folder, output=output, **{"command": command, **fields})


def write(name: str, *units: Any) -> str:
    Path(name).parent.mkdir(parents=True, exist_ok=True)
    Path(name).write_text(json_text(make_report(*units)), encoding="utf-8")
    return name


def ranked(*arguments: str, status: int = 0) -> Any:
    """The JSON of the command, which fits its schema."""
    assert main([*arguments, "--format=json", "-o", "ranking.json"]) == status
    found = json.loads(Path("ranking.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, SCHEMA)
    return found


def names(found: Any) -> list[str]:
    return [row["name"] for row in found["rows"]]


def weights(kernels: list[Any], *profiles: Profile) -> list[float]:
    """The weights of kernels of one unit."""
    build = read_build([write("w.json", unit(*kernels))], ReadSettings(code=True))
    return weigh(build.kernels, profiles).amounts


# --- merging and order ------------------------------------------------------------------------------------------------


def test_schema_is_generated() -> None:
    from incc.views.schemas import schema

    assert schema("ranking/ranking") == SCHEMA, "python -m incc.views.schemas"


def test_the_manual_lists_all_names_and_kinds() -> None:
    from incc.ranking.hot.read import KINDS
    from incc.report.where import NAMES, PAIR_NAMES, RANKED_NAMES

    manual = (Path(__file__).parents[2] / "docs" / "builds.md").read_text(encoding="utf-8")
    manual = manual.partition("## After the build")[2]
    rows = re.findall(r"^\| `(\w+)` \| (number|text|yes or no) \| ([^|]+) \|$", manual, re.MULTILINE)
    assert rows == [(name, entry.kind, entry.meaning) for name, entry in RANKED_NAMES.items()]
    kinds = re.findall(r"^\| `([\w-]+)` \| (?!number|yes)", manual, re.MULTILINE)
    assert kinds == list(KINDS)
    assert not RANKED_NAMES.keys() & (NAMES.keys() | PAIR_NAMES.keys())


def test_equal_code_of_functions_of_one_name_is_one_row() -> None:
    static = unit(kernel("f"), kernel("g", 9), output="x.o")
    shared = unit(kernel("f"), kernel("g", 9, content_hash="0123456789abcdef"), output="x.pic.o")
    files = write("a.json", static), write("b.json", shared)
    found = ranked(*files, "--copies")
    rows = {(row["name"], row["content_hash"] == "0123456789abcdef"): row for row in found["rows"]}
    assert (found["totals"]["kernels"], found["totals"]["rows"], found["totals"]["loops"]) == (4, 3, 2)
    assert (rows["f", False]["copies"], rows["f", False]["variants"]) == (2, 1)
    assert [m["output"] for m in rows["f", False]["members"]] == ["x.o", "x.pic.o"]
    # The same loop at another address is another code: apart, and one loop of the source.
    assert (rows["g", False]["variants"], rows["g", True]["variants"]) == (2, 2)
    # Without --copies they share a row.
    found = ranked(*files)
    assert [(row["name"], row["copies"], row["variants"]) for row in found["rows"]] == [("f", 2, 1), ("g", 2, 2)]
    assert sorted(m["output"] for m in found["rows"][1]["members"]) == ["x.o", "x.pic.o"]
    assert found["totals"]["rows"] == 3


def test_a_row_has_the_weights_of_all_copies_and_shows_the_code_that_gains_most() -> None:
    """A loop that was inlined into two functions; a remainder of it and a loop around it have rows of their own."""
    inlined = {"source_function": "copy"}
    loops = [
        kernel("f", 3, hints=[hint(gain=1.25)], **inlined),
        kernel("g", 3, hints=[hint(gain=2.0)], **inlined),
        kernel("g", 3, role=role("remainder"), content_hash="1" * 16, **inlined),
        kernel("g", 9, (3, 9), role=role("partial"), content_hash="2" * 16, **inlined),
    ]
    for n, loop in enumerate(loops):
        loop.kernel_id = f"g/loop{n}"
    Path("hot").write_text("f 300\ng 100\n")
    build = write("a.json", unit(*loops))
    found = ranked(build)
    assert [(row["role"], row["function"], row["copies"], row["variants"]) for row in found["rows"]] == [
        ("main", "g", 2, 2),
        ("partial", "g", 1, 1),
        ("remainder", "g", 1, 1),
    ]
    assert found["rows"][0]["saving"] == {"share": 0.5, "by": "hint", "text": "-O9"}
    by_function = Path("samples")
    by_function.write_text("f 60%\ng 20%\n")
    (row, *_) = ranked(build, "--hot=samples")["rows"]
    assert (row["function"], row["weight"]["share"]) == ("f", pytest.approx(0.7))
    assert row["weight"]["saved"] == pytest.approx(0.6 * 0.2 + 0.1 * 0.5)
    assert names(ranked(build, "--copies")) == ["g", "f", "g", "g"]


def test_a_condition_is_checked_for_each_copy() -> None:
    loops = [kernel("f", 3, what_ifs=[what_if("window", 3.0)])]
    loops += [kernel("f", 3, content_hash="0" * 16, what_ifs=[what_if("window", 1.0)])]
    loops[1].kernel_id = "f/loop2"
    found = ranked(write("a.json", unit(*loops)), "--sort=headroom", "--fail-if=headroom < 0.3", status=1)
    assert found["rows"][0]["headroom"]["share"] == 0.75
    assert [(row["copies"], row["variants"]) for row in found["rows"]] == [(2, 2)]
    assert found["gates"][0]["offenders"] == [{"row": 0, "text": "/src/x.c:3: f: headroom 0.25"}]


def test_rows_name_the_loop_around_and_list_instructions(capsys: pytest.CaptureFixture[str]) -> None:
    made = kernel("f", 12)
    made.outer = t.SourceLocation("x.c", 9)
    found = ranked(write("a.json", unit(made)))
    assert found["rows"][0]["outer"] == {"file": "/src/x.c", "line": 9}
    assert len(found["rows"][0]["instructions"]) == len(made.instructions)
    assert main(["a.json", "--instructions"]) == 0
    text = capsys.readouterr().out
    assert re.search(r"Line +Inside .*\n1 +f +\S*x\.c:12 +:9 ", text)
    assert "Inside the loop at /src/x.c:9." in text
    for instruction in made.instructions:
        assert f"    {12:>6}  {instruction.text}\n" in text
    assert main(["a.json"]) == 0
    assert made.instructions[0].text not in capsys.readouterr().out


def test_a_loop_of_assembly_that_is_gone_is_placed_in_its_function(capsys: pytest.CaptureFixture[str]) -> None:
    loops = [placed("f", 0x1C), placed("f", 0x40, 9, symbol="f.cold")]
    for loop in loops:
        loop.source = None
    build = write("a.json", unit(*loops, assembly_file="x.s", output="x.o"))
    found = ranked(build, "--fail-if=cycles > 0", status=1)
    assert [row["assembly"] for row in found["rows"]] == [{"file": "x.c", "line": 0}] * 2
    assert [row["label"] for row in found["rows"]] == ["+0x1c", "f.cold+0x40"]
    offenders = [offender["text"] for offender in found["gates"][0]["offenders"]]
    assert offenders == ["x.c +0x1c: f: cycles 4", "x.c f.cold+0x40: f: cycles 4"]
    assert main([build]) == 0
    assert re.search(r"1 +f +x\.c \+0x1c ", capsys.readouterr().out)
    # Assembly that is kept has lines.
    write("a.json", unit(*loops, assembly_file="/tmp/x.s", output="x.o"))
    assert ranked("a.json")["rows"][0]["assembly"] == {"file": "/tmp/x.s", "line": 10}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_where_lines_of_the_source_come_from_is_said_once_and_only_where_there_are_none(
    form: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def said(*units: Any) -> list[str]:
        assert main([write("a.json", *units), f"--format={form}"]) == 0
        shown = " ".join(capsys.readouterr().out.split()).replace("\\", "")
        return re.findall(r"No lines of the source are known([^.]*)\. Compile with -g1", shown)

    lost = make_kernel("f/loop1", source=None)
    assert said(unit(lost, make_kernel("g/loop1", source=None), way="assembler")) == [""]
    assert said(unit(lost, kernel("g"), way="object")) == [" of 1 kernel"]
    assert said(unit(kernel("f"), way="assembler")) == []
    # Assembly has no lines but its own.
    assert said(unit(lost, way="given")) == []


def test_another_core_is_another_row() -> None:
    model = replace(make_unit([]).model, name="znver4")
    found = ranked(write("a.json", unit(kernel()), unit(kernel(), model=model)))
    assert (found["totals"]["rows"], found["totals"]["models"]) == (2, ["skylake-avx512", "znver4"])


def test_unweighted_the_largest_gain_comes_first_and_what_has_no_remedy_later_and_remainders_last() -> None:
    no_remedy = hint("recurrence", flags=[], source_change="use another algorithm")
    kernels = [
        kernel("much", 1, hints=[no_remedy], what_ifs=[what_if("dependencies", 3.0)]),
        kernel("rest", 2, role=role("remainder"), hints=[hint(gain=9.0)], what_ifs=[what_if("dependencies", 3.9)]),
        kernel("little", 3, what_ifs=[what_if("front-end", 1.0)]),
        kernel("advised", 4, hints=[hint(gain=1.25)], what_ifs=[what_if("front-end", 0.5)]),
        kernel("faster", 5, hints=[no_remedy, hint(gain=4.0)]),
        kernel("unknown", 6, hints=[hint()]),
        kernel("changed", 7, hints=[hint("repeated-place", flags=[], source_change="sort")], depth=2),
    ]
    found = ranked(write("a.json", unit(*kernels)))
    assert names(found) == ["faster", "changed", "unknown", "advised", "much", "little", "rest"]
    assert [row["saving"]["by"] for row in found["rows"]] == ["hint", "unknown", "unknown", "hint", "", "", "hint"]


def test_headroom_is_that_of_the_best_what_if_that_says_something() -> None:
    tried = [
        what_if("unlimited-ports", 2.0),
        what_if("port 5", 2.0),
        what_if("window", 0.01),
        what_if("asked", 3.0, asked=True),
    ]
    (row,) = ranked(write("a.json", unit(kernel(what_ifs=tried))))["rows"]
    found = row["headroom"]
    assert (found["change"], found["cycles"], found["share"], found["by"]) == ("port 5", 2.0, 0.5, "what-if")
    (row,) = ranked(write("a.json", unit(kernel(what_ifs=[what_if("window", 0.01)]))))["rows"]
    assert (row["headroom"]["share"], row["headroom"]["by"]) == (0, "")


def test_headroom_without_what_ifs_is_that_of_bounds() -> None:
    (row,) = ranked(write("a.json", unit(kernel(bounds={"port": 1.5}))))["rows"]
    assert (row["headroom"]["by"], row["headroom"]["cycles"]) == ("bounds", 1.5)


def test_a_trial_that_gains_more_than_any_what_if_is_the_headroom() -> None:
    loop = {
        "kernel_id": "f/loop1",
        "function_name": "f",
        "source": None,
        "hinted": True,
        "before": 4.0,
        "after": 1.0,
        "element_before": 4.0,
        "element_after": 0.5,
        "work": 2.0,
        "gain": 7.0,
        "text": "",
    }
    trial = {"flags": ["-O3"], "rules": ["scalar-arithmetic"], "problem": "", "loops": [loop]}
    one = unit(kernel(what_ifs=[what_if("front-end", 1.0)]), trials=[trial])
    (row,) = ranked(write("a.json", one))["rows"]
    assert (row["headroom"]["by"], row["headroom"]["change"], row["headroom"]["cycles"]) == ("trial", "-O3", 0.5)


def test_conditions_and_groups() -> None:
    hints = [{"rule": r, "text": r, "evidence": {}, "flags": [], "source_change": ""} for r in ("gather", "strided")]
    one = unit(kernel("a", 1, hints=hints), kernel("b", 2, cycles=8.0, hints=hints[:1]), kernel("c", 3, file="y.h"))
    write("a.json", one)
    assert names(ranked("a.json", "--where=cycles > 4 and copies == 1")) == ["b"]
    groups = {g["key"]: g for g in ranked("a.json", "--by=hint")["groups"]}
    assert {key: group["rows"] for key, group in groups.items()} == {"gather": 2, "strided": 1, "no hint": 1}
    assert [g["key"] for g in ranked("a.json", "--by=file")["groups"]] == ["/src/x.c", "/src/y.h"]
    assert [g["key"] for g in ranked("a.json", "--by=bottleneck")["groups"]] == ["dependencies"]
    assert sorted(g["key"] for g in ranked("a.json", "--by=function")["groups"]) == ["a", "b", "c"]


def test_sorting() -> None:
    write("a.json", unit(kernel("b", 9, cycles=2.0), kernel("c", 1, cycles=9.0), kernel("a", 5)))
    assert names(ranked("a.json", "--sort=cycles")) == ["c", "a", "b"]
    assert names(ranked("a.json", "--sort=place")) == ["c", "a", "b"]
    assert names(ranked("a.json", "--sort=name")) == ["a", "b", "c"]


def test_gates(capsys: pytest.CaptureFixture[str]) -> None:
    write("a.json", unit(kernel("b", cycles=9.0), kernel("c", 7)))
    assert main(["a.json", "--fail-if=cycles > 8"]) == 1
    shown = capsys.readouterr()
    assert "1 kernel for which cycles > 8 (--fail-if):\n  [1] /src/x.c:3: b: cycles 9\n" in shown.out
    assert shown.err == "incc-report: 1 kernel for which cycles > 8: b\n"
    assert main(["a.json", "--fail-if=cycles > 80"]) == 0
    assert "No kernel for which cycles > 80" in capsys.readouterr().out
    # A function that is not there has not passed either.
    assert main(["a.json", "--function=d", "--fail-if=cycles > 80"]) == 1
    assert capsys.readouterr().err == "incc-report: error: no kernel of a function named d\n"
    assert main(["a.json", "-mcpu=znver2", "--fail-if=cycles > 80"]) == 1
    assert capsys.readouterr().err == "incc-report: error: no kernel for znver2\n"
    assert main(["a.json", "-mcpu=znver2", "--function=d"]) == 1
    assert capsys.readouterr().err == "incc-report: error: no kernel of a function named d for znver2\n"
    assert main(["a.json", "--function=b", "--where=cycles > 80", "--fail-if=cycles > 80"]) == 0
    Path("bad.json").write_text("{")
    assert main(["a.json", "bad.json", "--fail-if=cycles > 80"]) == 1  # what was not read cannot have passed
    assert main(["a.json", "bad.json", "--fail-if=cycles > 8"]) == 1


# --- hotness ----------------------------------------------------------------------------------------------------------


def lines(*counts: tuple[int, float], symbol: str = "", file: str = "x.c", folder: str = "/src") -> Profile:
    return Profile(
        path="hot",
        kind="gcov",
        unit=EXECUTIONS,
        folder=folder,
        lines=tuple(Line(file=file, line=n, executions=count, symbol=symbol) for n, count in counts),
    )


def test_a_loop_iterates_as_often_as_its_body() -> None:
    """The head of a `for` runs once more each time; lines of branches run less often."""
    (amount,) = weights([kernel(line=3, lines=(3, 4, 5))], lines((3, 1010), (4, 1000), (5, 20)))
    assert amount == 1000 * 4.0
    # A line above that was moved down into the loop is none of the body's.
    (amount,) = weights([kernel(line=3, lines=(2, 3))], lines((2, 1), (3, 1000)))
    assert amount == 4000
    (amount,) = weights([kernel(line=3, lines=(3,))], lines((3, 1000)))
    assert amount == 4000


def test_elements_divide_iterations() -> None:
    (amount,) = weights([kernel(elements=8.0)], lines((3, 800)))
    assert amount == 100 * 4.0


def test_a_main_loop_has_what_its_remainder_does_not() -> None:
    main_loop = kernel("f", elements=8.0)
    remainder = kernel("f", role=role("remainder"), content_hash="0" * 16)
    assert weights([main_loop, remainder], lines((3, 800))) == [400, 0]


def test_codes_of_a_loop_share_what_is_counted_of_it() -> None:
    """Inlined into others, or built twice."""
    own = kernel("f", line=3, lines=(3, 4))
    inlined = kernel("main", line=4, lines=(4,), source_function="f")
    inlined.inlined_into = [t.Frame(function="main", file="x.c", line=90)]
    assert weights([own, inlined], lines((3, 1001), (4, 1000))) == [2000, 2000]


def test_instances_of_a_template_have_counts_of_their_own() -> None:
    kernels = [kernel(symbol, source_function="sum") for symbol in ("_Z3sumIdEv", "_Z3sumIiEv")]
    both = Profile(
        path="hot",
        kind="llvm-cov",
        unit=EXECUTIONS,
        folder="/src",
        lines=(
            Line(file="x.c", line=3, executions=70, symbol="_Z3sumIdEv"),
            Line(file="x.c", line=3, executions=9, symbol="_Z3sumIiEv"),
        ),
    )
    assert weights(kernels, both) == [280, 36]


def test_each_core_has_all_that_is_counted() -> None:
    model = replace(make_unit([]).model, name="znver4")
    write("w.json", unit(kernel()), unit(kernel(cycles=2.0), model=model))
    build = read_build(["w.json"], ReadSettings(code=True))
    assert weigh(build.kernels, [lines((3, 100))]).amounts == [400, 200]
    found = weigh(
        build.kernels,
        [Profile(path="hot", kind="perf-script", unit=SAMPLES, samples=(Sample(symbol="f", amount=100.0),))],
    )
    assert found.amounts == [100, 100]
    assert (found.hotness.total, found.hotness.matched) == (200, 1)


@pytest.mark.parametrize(
    ("folder", "file", "found"),
    [
        ("/src", "x.c", True),
        ("", "/src/x.c", True),
        ("", "x.c", True),  # relative to what is not told
        ("/src/build", "../x.c", True),
        ("/elsewhere/src", "x.c", True),  # built elsewhere: the end of the path is alike
        ("/src", "y.c", False),
    ],
)
def test_files_are_found_by_the_ends_of_their_paths(folder: str, file: str, found: bool) -> None:
    assert weights([kernel()], lines((3, 5), file=file, folder=folder)) == [20.0 if found else 0.0]


def test_of_files_with_equal_ends_none_is_taken() -> None:
    kernels = [kernel("f", file="a/x.c"), kernel("g", file="b/x.c")]
    assert weights(kernels, lines((3, 5), file="x.c", folder="")) == [0, 0]
    assert weights(kernels, lines((3, 5), file="b/x.c", folder="")) == [0, 20]


def samples(*found: Sample, elsewhere: float = 0.0) -> Profile:
    return Profile(path="hot", kind="perf-script", unit=SAMPLES, samples=found, elsewhere=elsewhere)


def test_samples_by_line_and_function() -> None:
    kernels = [kernel("f", 3, (3, 4)), kernel("f", 8, (8, 9), content_hash="0" * 16), kernel("g", 20)]
    kernels[1].kernel_id = "f/loop2"
    by_line = samples(
        Sample(symbol="f", amount=3.0, offset=-1, file="x.c", line=4),
        Sample(symbol="f", amount=5.0, offset=-1, file="x.c", line=9),
        Sample(symbol="f", amount=7.0, offset=-1, file="x.c", line=30),
    )
    assert weights(kernels, by_line) == [3, 5, 0]
    # Without lines the function's part is divided.
    assert weights(kernels, samples(Sample(symbol="f", amount=6.0), Sample(symbol="none", amount=1.0))) == [3, 3, 0]
    # `cmp` and `jne` are of the line of the `for`, if there is enough debug information.
    assert weights(kernels, samples(Sample(symbol="g", amount=2.0, offset=-1, file="x.c", line=19))) == [0, 0, 2]


def placed(name: str, offset: int, line: int = 3, symbol: str = "", **fields: Any) -> Any:
    """A loop of four instructions of four bytes at an offset of its function."""
    made = kernel(name, line, **fields)
    made.kernel_id, made.content_hash = (
        f"{name}/loop{line}",
        blake2b(repr((line, fields)).encode(), digest_size=8).hexdigest(),
    )
    made.spans = [t.CodeSpan(symbol or name, offset, 16)]
    made.instructions = [replace(each, offset=offset + 4 * n) for n, each in enumerate(made.instructions)]
    return made


def at(symbol: str, offset: int, amount: float, start: int = 0x1000) -> Sample:
    return Sample(symbol=symbol, amount=amount, offset=offset, function=("/bin/x", start))


def test_samples_at_addresses_are_those_of_the_loop_there() -> None:
    loops = [placed("f", 0x10), placed("f", 0x30, 9), placed("g", 0, 20), placed("f", 8, 11, symbol="f.cold")]
    found = samples(at("f", 0x1C, 3), at("f", 0x20, 5), at("f", 0x30, 7), at("f.cold", 8, 2), at("f.cold", 0, 1),
                    elsewhere=2.0)  # fmt: skip
    build = read_build([write("w.json", unit(*loops))], ReadSettings(code=True))
    result = weigh(build.kernels, [found])
    assert result.amounts == [3, 7, 0, 2]
    assert result.ways == [{"address": None}, {"address": None}, {}, {"address": None}]
    assert (result.hotness.matched, result.hotness.notes) == (0.6, [])


def test_samples_of_functions_of_one_name_go_where_instructions_are() -> None:
    one, other = unit(placed("f", 0x10, file="a.c"), source="a.c"), unit(placed("f", 0x12, file="b.c"), source="b.c")
    build = read_build([write("w.json", one, other)], ReadSettings(code=True))
    # The offset 0x1e is within an instruction of the first function, and begins one of the second.
    assert weigh(build.kernels, [samples(at("f", 0x1E, 2), at("f", 0x10, 5))]).amounts == [0, 2]
    both = samples(at("f", 0x1E, 2), at("f", 0x14, 6, start=0x2000))
    assert weigh(build.kernels, [both]).amounts == [6, 2]
    # Nothing tells them apart: each has half.
    result = weigh(build.kernels, [samples(at("f", 0x40, 8))])
    assert (result.amounts, len(result.hotness.notes)) == ([0, 0], 2)
    assert "2 functions are called f" in " ".join(result.hotness.notes)


def test_samples_of_equal_code_are_divided() -> None:
    units = [unit(placed("f", 0x10), output=f"{name}.o") for name in "ab"]
    build = read_build([write("w.json", *units)], ReadSettings(code=True))
    result = weigh(build.kernels, [samples(at("f", 0x10, 8))])
    assert (result.amounts, result.hotness.notes) == ([4, 4], [])


def test_samples_that_cannot_be_located_are_nobodys() -> None:
    """The report of a text whose function has no symbol has no places of instructions."""
    result = weigh(
        read_build([write("w.json", unit(kernel("f")))], ReadSettings(code=True)).kernels, [samples(at("f", 4, 8))]
    )
    assert result.amounts == [0]
    assert "100% of the samples are in functions whose reports lack the places" in " ".join(result.hotness.notes)
    lines = samples(Sample(symbol="f", amount=8, offset=4, file="x.c", line=3))
    assert weights([kernel("f")], lines) == [8]


SEVERAL = """\
static int helper(const int *a, int n) {{ int s = {first}; for (int i = 0; i < n; i++) s = s * 3 + a[i]; return s; }}
int {name}(int *a, int n, int m) {{
    int s = helper(a, n);
    for (int i = 0; i < m; i++) if (a[i] > 100) a[i] = a[i] / 7 + i; else s ^= a[i] << (i & 7);
    while (n-- > 0) {{ s += a[n & 63]; if (__builtin_expect(s > 1000, 0)) for (int k = s; k > m; k--) s ^= s >> 3; }}
    return s;
}}
static __attribute__((noinline)) int equal(const int *a, int n) {{ int s = 0; {body} return s; }}
int call_{name}(int *a, int n) {{ return equal(a, n) + equal(a + 1, n); }}
"""


@pytest.mark.parametrize("options", [["-fPIE", "-pie"], ["-no-pie", "-O3", "-march=x86-64-v3"]], ids=" ".join)
def test_each_instruction_of_a_program_is_given_to_its_loop(options: list[str]) -> None:
    """A sample at each instruction of a linked program: each kernel has those between its backward jump and its target.

    The loops are of functions with several, inlined, with a cold part, and in static functions of one name.
    """
    bodies = {
        "one": "for (int i = 0; i < n; i++) s += a[i] * a[i + 1];",
        "two": "while (n > 3) s = s * a[n--] + (s >> 2);",
    }
    main_text = "int one(int*,int,int),two(int*,int,int),call_one(int*,int),call_two(int*,int);int a[99];"
    main_text += "int main(){return one(a,9,5)+two(a,9,5)+call_one(a,9)+call_two(a,9);}"
    Path("main.c").write_text(main_text)
    for n, (name, body) in enumerate(bodies.items()):
        Path(f"{name}.c").write_text(SEVERAL.format(name=name, first=n, body=body))
        subprocess.run(["gcc", "-O2", *options, "-S", f"{name}.c"], check=True)
    subprocess.run(["gcc", "-O2", *options, "main.c", "one.s", "two.s", "-o", "program"], check=True)
    reports = []
    for name in bodies:
        compiled = Unit(assembly=Path(f"{name}.s").read_text(), assembly_file=f"{name}.s", source=f"{name}.c")
        reports += analyze_units([compiled], Settings(scope=Scope(regions="loops"))).units
    ranked = read_build([write("w.json", *reports)], ReadSettings(code=True)).kernels
    shown = subprocess.run(
        ["objdump", "-d", "--no-show-raw-insn", "program"], check=True, capture_output=True, text=True
    )
    symbol, first, rows = "", 0, []
    for line in shown.stdout.splitlines():
        if head := re.match(r"([0-9a-f]+) <(.*)>:$", line):
            first, symbol = int(head[1], 16), head[2]
        elif (instruction := re.match(r" +([0-9a-f]+):\t(.*)$", line)) and not is_padding(instruction[2].split()[0]):
            address = int(instruction[1], 16)
            place = f"{address + 0x55550000:x} {symbol}+{address - first:#x} (/bin/prog)"
            rows.append(f"prog  1234/1234 [003] 12.345: 1 cycles:u: {place}")
    Path("hot").write_text("\n".join(rows) + "\n")
    amounts = weigh(ranked, [read_hot("hot")]).amounts
    regions = [region for name in bodies for region in innermost_loops(parse(Path(f"{name}.s").read_text()))[0]]
    expected = [len(region.body_lines) for region in regions]
    assert amounts == expected
    assert len(expected) >= 8
    assert {region.shape for region in regions} == {"innermost", "partial"}


def test_samples_at_the_code_that_a_disassembly_shows() -> None:
    rows = [("push", 1.0, 0), ("vaddsd", 5.0, 0), ("inc", 6.0, 0), ("nopl", 9.0, 0), ("cmp", 7.0, 0), ("jne", 8.0, 0)]
    rows += [("ret", 2.0, 0)]
    profile = Profile(path="hot", kind="perf-annotate", unit=SAMPLES, listings=(FunctionListing("f", tuple(rows)),))
    assert weights([kernel("f"), kernel("g", 9)], profile) == [26, 0]
    # Of another build of it lines tell.
    others = Profile(
        path="hot",
        kind="perf-annotate",
        unit=SAMPLES,
        listings=(FunctionListing("f", (("add", 4.0, 3), ("sub", 5.0, 80))),),
    )
    assert weights([kernel("f")], others) == [4]


def test_counts_of_functions() -> None:
    profile = Profile(
        path="hot",
        kind="llvm-profdata",
        unit=EXECUTIONS,
        functions=(HotFunction("f", 100.0, True), HotFunction("h", 50.0, True)),
    )
    build = read_build([write("w.json", unit(kernel("f"), kernel("g", 9)))], ReadSettings(code=True))
    found = weigh(build.kernels, [profile])
    assert (found.amounts, found.hotness.matched) == ([400, 0], round(100 / 150, 6))


@examples(60)
@given(
    st.lists(
        st.tuples(st.sampled_from(["f", "g", "h", ""]), st.integers(-1, 40), st.sampled_from(["x.c", "y.c", ""]),
                  st.integers(0, 12), st.floats(0, 1e6)),
        max_size=12,
    )
)  # fmt: skip
def test_samples_are_given_out_once(found: list[tuple[str, int, str, int, float]]) -> None:
    kernels = [kernel("f", 3, (3, 4)), kernel("f", 3, role=role("remainder"), content_hash="0" * 16), kernel("g", 9)]
    profile = samples(
        *(Sample(symbol=s, amount=n, offset=offset, file=file, line=line) for s, offset, file, line, n in found)
    )
    total = sum(n for *_, n in found)
    assert sum(weights(kernels, profile)) <= total * (1 + 1e-9) + 1e-9


def test_weights_order_rows_and_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    Path("hot").write_text("x.c:3 100\nx.c:9 100000\nother.c:7 900000\n")
    gain = [hint(gain=4 / 3)]
    write("a.json", unit(kernel("cold", 20, hints=gain), kernel("f", 3, hints=gain), kernel("g", 9, hints=gain)))
    found = ranked("a.json", "--hot=hot")
    assert names(found) == ["g", "f", "cold"]
    weight = found["rows"][0]["weight"]
    assert (weight["iterations"], weight["amount"], weight["by"]) == (100000, 400000, ["line"])
    assert weight["share"] == pytest.approx(400000 / 400400)
    assert weight["saved"] == pytest.approx(weight["share"] / 4, abs=1e-6)
    assert found["rows"][2]["weight"] is None
    assert found["hotness"]["matched"] == pytest.approx(100100 / 1000100, abs=1e-6)
    assert names(ranked("a.json", "--hot=hot", "--where=hot and weight > 0.01")) == ["g"]
    assert main(["a.json", "--hot=hot"]) == 0
    text = capsys.readouterr().out
    assert "Weighted by executions times cycles: hot (list: executions of 3 lines of 2 files)." in text
    assert "10.0 % of the reported executions are in lines of these loops, 90.0 % in other code." in text
    assert "No kernel belongs to other.c." in text
    assert main(["a.json"]) == 0
    assert "Unweighted: " in capsys.readouterr().out


def test_weighted_what_has_no_remedy_comes_behind_what_has_one_and_matters() -> None:
    Path("hot").write_text("x.c:3 1000000\nx.c:9 50000\nx.c:12 50000\nx.c:15 5\n")
    kernels = [
        kernel("hottest", 3, what_ifs=[what_if("front-end", 1.0)]),
        kernel("gains", 9, hints=[hint(gain=1.5)]),
        kernel("unknown", 12, hints=[hint()]),
        kernel("nothing", 15, hints=[hint(gain=8.0)]),
    ]
    found = ranked(write("a.json", unit(*kernels)), "--hot=hot")
    assert names(found) == ["unknown", "gains", "hottest", "nothing"]
    assert [row["weight"]["saved"] > 0 for row in found["rows"]] == [False, True, False, True]


def test_nothing_matched_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    Path("hot").write_text("other.c:7 900000\n")
    write("a.json", unit(kernel()))
    assert main(["a.json", "--hot=hot"]) == 0
    assert "no samples or counts of these kernels; was another program measured" in capsys.readouterr().out


def test_of_one_kind_alone(capsys: pytest.CaptureFixture[str]) -> None:
    Path("counts").write_text("x.c:3 100\n")
    Path("parts").write_text("x.c:3 10%\n")
    write("a.json", unit(kernel()))
    assert main(["a.json", "--hot=counts", "--hot=parts"]) == 2
    assert "counts has executions, but parts has samples" in capsys.readouterr().err
    assert main(["a.json", "--hot=parts", "--hot=parts"]) == 2
    assert "name it alone" in capsys.readouterr().err


# --- reading ----------------------------------------------------------------------------------------------------------


def test_an_added_file_counts_the_last_of_each_compilation() -> None:
    first, again = unit(kernel("f"), kernel("g", 9), output="x.o"), unit(kernel("f", cycles=8.0), output="x.o")
    elsewhere = unit(kernel("f"), folder="/other", output="x.o")
    Path("all.jsonl").write_text("".join(json_text(make_report(u)) + "\n" for u in (first, elsewhere, again)))
    found = ranked("all.jsonl")
    assert sorted(row["cycles"] for row in found["rows"]) == [4, 8]
    assert (found["totals"]["units"], found["totals"]["replaced"]) == (2, 1)


def test_what_cannot_be_read_is_named_and_the_rest_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    write("r/good.json", unit(kernel()))
    (Path("r") / "half.json").write_text(json_text(make_report(unit(kernel())))[:500])
    (Path("r") / "empty.json").touch()
    (Path("r") / "other.json").write_text("[1, 2]")
    (Path("r") / "newer.json").write_text(json_text(replace(make_report(), schema_version="9.0")))
    (Path("r") / "wrong.json").write_text('{"units": 3}')
    os.mkfifo("r/pipe.json")
    (Path("r") / "list.txt").write_text("not looked at")
    found = ranked("r", status=1)
    assert found["totals"]["reports"] == 1
    unread = {Path(each["report"].partition(":")[0]).name: each["why"] for each in found["unread"]}
    assert sorted(unread) == ["empty.json", "half.json", "newer.json", "other.json", "wrong.json"]
    assert "truncated" in unread["half.json"]
    assert "is not supported" in unread["newer.json"]
    err = capsys.readouterr().err
    assert err.count("incc-report: error: r/") == 5
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "none: no such file or directory"),
        (["empty"], "empty: no report (*.json) in this folder"),
        (["texts"], "but 2 text reports, which cannot be read back; build with INCC_FORMAT=json"),
        (["objects"], "incc-scan analyses assembly and objects"),
        (["pipe"], "pipe: a named pipe, not a file that can be read"),
        (["bad.json"], "bad.json:1: "),
        (["bad\0.json"], "embedded null byte"),
        ([], "no reports; name a folder"),
        (["-", "--hot=-"], "standard input can be read only once"),
        (["good.json", "-o", "good.json"], "-o would overwrite good.json"),
        (["good.json", "--all", "--top", "3"], "--all and --top"),
        (["good.json", "--where", "cycles >"], "--where: column"),
        (["good.json", "--where", "heat > 3"], "--where: column 1: unknown name 'heat'"),
        (["good.json", "--fail-if", "cycles > +5%"], "'cycles > +5%' needs a baseline"),
        (["good.json", "--hot-kind=gcov"], "--hot-kind requires --hot"),
        (["good.json", "--hot=none"], "none: no such file"),
        (["good.json", "--prune", "--stale"], "cannot be combined"),
    ],
)
def test_mistakes(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("good.json", unit(kernel()))
    Path("bad.json").write_text("{")
    for folder, file in (("empty", ""), ("texts", "a.txt"), ("texts", "b.txt"), ("objects", "a.o")):
        Path(folder).mkdir(exist_ok=True)
        if file:
            (Path(folder) / file).touch()
    os.mkfifo("pipe")
    assert main(arguments) == 2
    shown = capsys.readouterr()
    assert message in shown.err
    assert shown.err.startswith("incc-report: error: ")
    assert shown.out == ""


def test_a_recorded_report_is_ranked() -> None:
    for path in sorted((DATA / "reports").iterdir()):
        if path.suffix == ".json" and '"units"' in path.read_text(encoding="utf-8"):
            found = ranked(str(path))
            assert found["unread"] == []
            assert found["rows"]
            assert main([str(path), "-o", "text"]) == 0


def test_standard_input_and_closed_output() -> None:
    text = json_text(make_report(unit(kernel())))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    command = [sys.executable, "-m", "incc.driver.commands.report", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "x.c:3" in done.stdout
    shell = ["sh", "-c", '"$@" >&-', "sh", *command]
    done = subprocess.run(shell, input=text, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr) == (
        2,
        "incc-report: error: the table could not be written: Bad file descriptor\n",
    )


# --- stale reports ----------------------------------------------------------------------------------------------------


def built(folder: Path, *names_of: str) -> None:
    """A build of sources in `folder`: their objects, and reports in `folder/reports` with a manifest."""
    (folder / "reports" / ".incc").mkdir(parents=True)
    for name in names_of:
        (folder / f"{name}.c").write_text(f"source of {name}")
        (folder / f"{name}.o").write_text(f"object of {name}")
        compiled(folder, name)


def compiled(folder: Path, name: str, report: str = "", command: tuple[str, ...] = ("gcc",)) -> None:
    file, output = report or f"{name}.json", f"{name.partition('-')[0]}.o"
    source = f"{name}.c"
    made = unit(kernel(name, file=source), source=source, folder=str(folder), output=output)
    write(str(folder / "reports" / file), made)
    digest = blake2b((folder / output).read_bytes(), digest_size=16).hexdigest()
    entry = {"report": file, "folder": str(folder), "source": source, "output": output, "command": list(command)}
    with open(folder / "reports" / ".incc" / "manifest.jsonl", "a", encoding="utf-8") as manifest:
        manifest.write(json.dumps({**entry, "digest": digest, "way": "assembler", "incc": "1", "key": ""}) + "\n")


def stale_of(*arguments: str) -> dict[str, str]:
    return {Path(each["report"]).name: each["why"] for each in ranked("reports", *arguments)["stale"]}


def test_nothing_is_stale_after_a_build(tmp_path: Path) -> None:
    built(tmp_path, "a", "b")
    assert stale_of() == {}


def test_what_is_gone_or_changed_is_stale(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(tmp_path, "kept", "removed", "cleaned", "changed", "renamed")
    os.unlink("removed.c")
    os.unlink("cleaned.o")
    Path("changed.o").write_text("compiled anew without incc")
    os.rename("renamed.c", "renamed-new.c")
    compiled(tmp_path, "renamed-new", command=("gcc", "-c", "renamed-new.c"))
    assert stale_of() == {
        "removed.json": "its source removed.c is gone",
        "cleaned.json": "its output cleaned.o is gone",
        "changed.json": "changed.o has changed since",
        "renamed.json": "renamed.o was rebuilt from renamed-new.c",
    }
    found = ranked("reports")
    assert sorted(names(found)) == ["kept", "renamed-new"]
    assert main(["reports"]) == 0
    assert "4 stale reports are left out" in capsys.readouterr().out
    assert len(ranked("reports", "--stale")["rows"]) == 6
    assert main(["reports", "--stale"]) == 0
    assert "reports/cleaned.json: its output cleaned.o is gone\n" in capsys.readouterr().out
    # Removed they are gone from the folder and its manifest; lines that others add are kept.
    assert main(["reports", "--prune"]) == 0
    assert sorted(path.name for path in Path("reports").glob("*.json")) == ["kept.json", "renamed-new.json"]
    kept = [json.loads(line)["report"] for line in Path("reports/.incc/manifest.jsonl").read_text().splitlines()]
    assert kept == ["kept.json", "renamed-new.json"]
    assert stale_of() == {}


@pytest.mark.parametrize("form", ["text", "markdown", "html"])
def test_a_folder_of_stale_reports_alone_is_said_to_be_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], form: str
) -> None:
    built(tmp_path, "a", "b")
    for name in ("a", "b"):
        Path(f"{name}.o").write_text("compiled anew without incc")
    assert main(["reports", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "2 reports are stale and left out; there are no others" in shown
    assert "0 kernels" not in shown
    assert "The first is stale since a.o has changed since. For new ones compile with incc again" in shown
    assert "Unweighted" not in shown
    if form == "text":
        assert shown.startswith("2 reports are stale")
    assert main(["reports", "--stale", "--format", form]) == 0
    assert "2 kernels of 2 units" in capsys.readouterr().out
    compiled(tmp_path, "a")
    assert main(["reports", "--format", form]) == 0
    shown = capsys.readouterr().out
    assert "1 kernel of 1 unit" in shown
    assert "1 stale report is left out" in shown
    # Conditions are answered all the same.
    os.unlink("a.c")
    assert main(["reports", "--format", form, "--fail-if", "cycles > 80"]) == 0
    assert "No kernel for which" in capsys.readouterr().out


def test_two_sources_of_one_command_do_not_replace_each_other(tmp_path: Path) -> None:
    built(tmp_path)
    Path("p.o").write_text("program")
    for name in ("p", "p-2"):
        Path(f"{name}.c").touch()
        compiled(tmp_path, name, command=("gcc", "p.c", "p-2.c", "-o", "p.o"))
    assert stale_of() == {}


def test_a_build_that_is_gone_as_a_whole_counts(tmp_path: Path) -> None:
    built(tmp_path, "a", "b")
    for name in ("a", "b"):
        os.unlink(f"{name}.o")
    assert stale_of() == {}
    assert "temporary folder" in ranked("reports")["notes"][0]
    os.unlink("a.c")
    assert list(stale_of()) == ["a.json"]


@pytest.mark.parametrize(
    "damage", [b"", b"{", b"[]\n", b'{"report": 3}\n', b"\xff\xfe\0\n", b'{"report": "../x"}\n' * 3]
)
def test_a_damaged_manifest_is_no_error(tmp_path: Path, damage: bytes) -> None:
    built(tmp_path, "a")
    manifest = tmp_path / "reports" / ".incc" / "manifest.jsonl"
    manifest.write_bytes(damage + manifest.read_bytes() + damage)
    assert stale_of() == {}
    os.unlink("a.c")
    Path("b.c").touch()
    assert main(["reports", "--prune"]) == 0


def test_jobs_that_wait_are_counted(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    built(tmp_path, "a")
    for name in ("one", "two", ".tmp-three"):
        (tmp_path / "reports" / ".incc" / "jobs" / name).mkdir(parents=True)
    assert ranked("reports")["totals"]["pending"] == 2
    assert main(["reports"]) == 0
    assert "Not in the table: 2 compilations wait for their analysis." in capsys.readouterr().out


# --- views ------------------------------------------------------------------------------------------------------------

HOSTILE = "f<script>alert(1)</script>|`*_[x](y)@me\x1b[31m\x9b31m\u202e\n\ud800"


def hostile() -> str:
    overview = replace(make_kernel().overview, function=HOSTILE, look=HOSTILE)
    hint = {"rule": "gather", "text": HOSTILE, "evidence": {}, "flags": [HOSTILE], "source_change": ""}
    made = kernel(HOSTILE, file=f"{HOSTILE}.c", verdict=HOSTILE, overview=overview, hints=[hint])
    return write("hostile.json", unit(made, source=HOSTILE, folder=f"/{HOSTILE}"))


@pytest.mark.parametrize("kind", ["text", "markdown", "html", "json"])
def test_hostile_names(kind: str) -> None:
    name = hostile()
    for by in ([], ["--by=file"]):
        assert main([name, f"--format={kind}", "-o", "out", "--fail-if=cycles > 1", *by]) == 1
        text = Path("out").read_bytes().decode("utf-8")
        assert "\x1b" not in text
        if kind != "json":
            assert not {"\x9b", "\u202e"} & {*text}
        if kind in ("markdown", "html"):
            assert "<script>alert" not in text


@pytest.mark.parametrize("width", [40, 80, 120, 200])
def test_tables_keep_to_the_width(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    Path("hot").write_text("x.c:3 100\n")
    long = [
        kernel(f"a_function_with_a_very_long_name_{n}", n + 3, what_ifs=[what_if("port 5", 1.0)]) for n in range(30)
    ]
    write("a.json", unit(*long))
    for more in ([], ["--hot=hot"], ["--by=function"]):
        assert main(["a.json", *more]) == 0
        text = capsys.readouterr().out
        assert "and 5 more " in text
        if width >= 80:
            assert max(map(len, text.splitlines())) <= width


def test_markdown_fits_a_comment() -> None:
    from incc.views.ranking import markdown

    write("a.json", unit(*(kernel(f"f{n}", n + 1) for n in range(300))))
    ranking = msgspec.convert(ranked("a.json"), Ranking)
    assert len(markdown.render(ranking, 0, 8000)) <= 8000
    assert "more row" in markdown.render(ranking, 0, 8000)
    assert markdown.render(ranking, 10).count("\n| ") == 12


def test_the_page_draws_rows_from_its_data(tmp_path: Path) -> None:
    import browser

    hint = {"rule": "gather", "text": "no gather", "evidence": {}, "flags": ["-O3"], "source_change": ""}
    gathers = replace(make_kernel().overview, function="gathers", look="gather")
    kernels = [kernel("gathers", 3, hints=[hint], overview=gathers), kernel("plain", 9)]
    write("a.json", unit(*kernels))
    assert main(["a.json", "--format=html", "-o", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    steps = """
      const all = names();
      $('[data-filter="hint-gather"]').click(); await settle();
      const filtered = names();
      $('[data-filter="all"]').click(); await type("plain");
      const searched = names();
      location.hash = "#r1"; await settle();
      const shown = [$("#title").textContent, $("#advice li").textContent, $("#members td").textContent];
      await press("Escape");
      return [all, filtered, searched, shown, $("#summary").hidden, $("#row").hidden];
    """
    all_rows, filtered, searched, shown, *hidden = browser.ask(page, tmp_path, steps, "rows")
    assert (all_rows, filtered, searched) == (["gathers", "plain"], ["gathers"], ["plain"])
    assert shown[1:] == ["no gather", "x.c"]
    assert re.fullmatch(r"gathers, .*/x\.c:3", shown[0])
    assert hidden == [False, True]


@pytest.mark.long
def test_the_pages_rows_beyond_the_first_are_taken_when_asked_for(tmp_path: Path) -> None:
    import browser
    from incc.views.ranking import page as view

    write("a.json", unit(*(kernel(f"f{n}", n + 1) for n in range(view.MOST + 5))))
    page = view.render(msgspec.convert(ranked("a.json"), Ranking))
    steps = """
      const first = names().length;
      $("#more-rows").click(); await settle();
      return [first, names().length, $("#rows-count").textContent];
    """
    assert browser.ask(page, tmp_path, steps, "rows") == [view.MOST, view.MOST + 5, f"{view.MOST + 5} shown"]


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_is_accessible(tmp_path: Path, dark: bool) -> None:
    import browser

    write("a.json", unit(kernel("f", what_ifs=[what_if("port 5", 1.0)]), kernel("g", 9)))
    assert main(["a.json", "--format=html", "-o", "page.html", "--by=hint", "--fail-if=cycles > 1"]) == 1
    page = Path("page.html").read_text(encoding="utf-8")
    for at in ("", "#r1"):
        assert browser.faults(page, tmp_path, at, dark) == []


@pytest.mark.parametrize("kind", ["text", "markdown", "html", "json"])
def test_a_build_without_loops(kind: str) -> None:
    write("a.json", unit())
    for more in ([], ["--by=file"], ["--hot", str(DATA / "hot" / "a.c.gcov")], ["--fail-if=cycles > 1"]):
        assert main(["a.json", f"--format={kind}", "-o", "out", *more]) == 0
        text = Path("out").read_text(encoding="utf-8")
        assert "0 kernels of 1 unit" in text or kind == "json"


def test_instructions_without_lines() -> None:
    """A report of assembly without debug information, and one of an empty kernel."""
    made = kernel("f")
    made.instructions = [replace(instruction, source=None) for instruction in made.instructions]
    made.source = None
    nothing = make_kernel("g/loop1", texts=(), source=None)
    found = ranked(write("a.json", unit(made, nothing)), "--hot", str(DATA / "hot" / "perf-script.txt"))
    assert {row["assembly"]["line"] for row in found["rows"]} == {0}
    assert make_instruction().line == 10


# --- reports in full --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [(), ("--kernel=f",), ("--views=info,waits",), ("--kernel=g/loop1", "--views=all")])
def test_a_stored_report_is_printed_as_the_command_printed_it(
    options: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    head = "\t.globl {0}\n\t.type {0}, @function\n{0}:\n.L{0}:\n"
    loop = head + "\tvaddsd (%rdi,%rax,8), %xmm0, %xmm0\n\tincq %rax\n\tcmpq %rdx, %rax\n\tjne .L{0}\n\tret\n"
    Path("x.s").write_text(loop.format("f") + loop.format("g"))
    command = ["--auto", "-mcpu=znver4", "--views=all", "x.s"]
    assert mca.main([*command, "--json", "-o", "x.json"]) == 0
    assert mca.main([*command[:2], *options, "x.s"]) == 0
    printed = capsys.readouterr().out
    assert main(["--render", *options, "x.json"]) == 0
    assert capsys.readouterr().out == printed
    assert main(["--render", *options, "x.json", "--html=x.html"]) == 0
    assert capsys.readouterr().out == printed
    assert "vaddsd" in Path("x.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--kernel=f", "a.json"], "--kernel requires --render"),
        (["--render", "--hot=x", "a.json"], "--hot and --render cannot be combined"),
        (["--render", "--sort=name", "a.json"], "--sort and --render cannot be combined"),
        (["--render", "--format=markdown", "a.json"], "--render: reports in full are text, json or html"),
        (["--render", "--format=html", "a.json"], "--render: --format=html requires -o FILE"),
        (["--render", "."], "--render takes files, but . is a folder"),
        (["--render", "--views=graph", "a.json"], "--views: no view 'graph'"),
        (["--render", "--kernel=none", "a.json"], "--kernel=none: no such kernel"),
        (["--render", "b.json"], "b.json: no such file"),
        (["--render", "c.json"], "c.json:1: the file is truncated"),
        (["--render", "c.json", "d.json"], 'd.json: not an incc report (expected a JSON object with "units")'),
        (["--render", "e.json"], "e.json: the file is empty"),
    ],
)
def test_mistakes_with_reports_in_full(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    write("a.json", unit(kernel("f")))
    for name, content in (("c.json", '{"units": ['), ("d.json", "{}"), ("e.json", "")):
        Path(name).write_text(content)
    assert main(arguments) == 2
    assert message in capsys.readouterr().err
