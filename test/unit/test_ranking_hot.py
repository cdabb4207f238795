"""What files of hotness tell: the outputs of gcov, llvm-cov, llvm-profdata and perf in test/unit/data/hot are those of
the tools themselves (gcov 12, LLVM 19, perf 6.1) for the program a.c, in which `dot` is inlined into `main`, and for
c.cpp, a template of two instances."""

from __future__ import annotations

import contextlib
import gzip
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.ranking.hot.read import KINDS, read_hot
from incc.ranking.hot.records import HotError, Line, Profile, amount
from incc.ranking.hot.runs import profile_of_run
from incc.report.runs import LoopRun, RunReport
from properties import examples

DATA = Path(__file__).parent / "data" / "hot"


def profile_of(name: str, kind: str = "") -> Profile:
    return read_hot(str(DATA / name), kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("a.c.gcov", "gcov"),
        ("a.gcov.json.gz", "gcov-json"),
        ("llvm-cov.json", "llvm-cov"),
        ("llvm-cov-show.txt", "llvm-cov-show"),
        ("llvm-profdata.txt", "llvm-profdata"),
        ("perf-script.txt", "perf-script"),
        ("perf-script-ip.txt", "perf-script"),
        ("perf-script-lines.txt", "perf-script"),
        ("perf-script-chains.txt", "perf-script"),
        ("perf-report.txt", "perf-report"),
        ("perf-report-lines.txt", "perf-report"),
        ("perf-report-children.txt", "perf-report"),
        ("perf-annotate.txt", "perf-annotate"),
    ],
)
def test_a_file_is_known_by_what_is_in_it(name: str, kind: str) -> None:
    found = profile_of(name)
    assert found.kind == kind
    assert found == profile_of(name, kind)


def test_gcov_text() -> None:
    found = profile_of("a.c.gcov")
    lines = {line.line: line.executions for line in found.lines}
    assert {line.file for line in found.lines} == {"../a.c"}
    assert (lines[5], lines[6], lines[7]) == (81940000, 81920000, 20000)
    # `819400*`: not all of the line ran; `#####`: none of it did, which says nothing of how often.
    assert lines[10] == 819400
    assert 9 not in lines


def test_gcov_text_counts_all_instances_of_a_template_once(tmp_path: Path) -> None:
    text = """\
        -:    0:Source:t.cpp
       12:    3:  for (int i = 0; i < n; i++)
------------------
double sum<double>(double const*, int):
        5:    3:  for (int i = 0; i < n; i++)
------------------
int sum<int>(int const*, int):
        7:    3:  for (int i = 0; i < n; i++)
------------------
        1:    9:int main() {
"""
    (tmp_path / "t.gcov").write_text(text)
    assert read_hot(str(tmp_path / "t.gcov")).lines == (
        Line(file="t.cpp", line=3, executions=12.0),
        Line(file="t.cpp", line=9, executions=1.0),
    )


def test_gcov_json_has_whole_paths_and_functions() -> None:
    found = profile_of("a.gcov.json.gz")
    lines = {(line.line, line.symbol): line for line in found.lines}
    assert lines[11, "scale"] == Line(file="/src/g/../a.c", line=11, executions=819200.0, symbol="scale")
    assert lines[6, ""].executions == 81920000


def test_llvm_cov_export_has_each_instance() -> None:
    """What `llvm-cov show` prints of the same."""
    exported = {(line.symbol, line.line): line.executions for line in profile_of("llvm-cov.json").lines}
    double, integer, scale = "_Z3sumIdET_PKS0_i", "_Z3sumIiET_PKS0_i", "_Z5scalePddi"
    assert [exported[double, n] for n in range(1, 7)] == [100, 100, 81920100, 81920000, 100, 100]
    assert [exported[integer, n] for n in range(1, 7)] == [7, 7, 707, 700, 7, 7]
    assert [exported[scale, n] for n in range(9, 13)] == [200, 819400, 819200, 200]
    of_file = [line for line in profile_of("llvm-cov-show.txt").lines if line.file == "/src/c.cpp"]
    # It names the function of instances alone.
    shown = {(line.symbol or scale, line.line): line.executions for line in of_file}
    assert {key: n for key, n in exported.items() if n < 1000} == {key: n for key, n in shown.items() if n < 1000}
    assert shown[double, 4] == 81.9e6


def test_llvm_cov_segments_where_functions_were_left_out(tmp_path: Path) -> None:
    """`llvm-cov export -skip-functions`: a line has what is active at its start, or begins on it, the largest."""
    import json

    document = json.loads((DATA / "llvm-cov.json").read_text())
    with_functions = Counter[int]()
    for line in profile_of("llvm-cov.json").lines:
        with_functions[line.line] += int(line.executions)
    for export in document["data"]:
        del export["functions"]
    (tmp_path / "x.json").write_text(json.dumps(document))
    lines = {line.line: line.executions for line in read_hot(str(tmp_path / "x.json")).lines}
    assert {n: lines[n] for n in (2, 3, 4, 5, 10, 11)} == {n: with_functions[n] for n in (2, 3, 4, 5, 10, 11)}


def test_llvm_profdata_has_the_largest_count_of_a_function() -> None:
    found = profile_of("llvm-profdata.txt")
    assert [(f.name, f.amount) for f in found.functions] == [
        ("_Z3sumIdET_PKS0_i", 81920000),
        ("_Z3sumIiET_PKS0_i", 700),
        ("_Z5scalePddi", 819200),
    ]
    assert "llvm-cov export" in found.notes[0]


def test_perf_script_has_places_in_functions() -> None:
    found = profile_of("perf-script.txt")
    assert Counter((s.symbol, s.offset, s.amount) for s in found.samples).most_common(1)[0][0][0] == "main"
    assert {s.amount for s in found.samples} == {250000.0}
    assert len(found.samples) == 13
    assert min(s.offset for s in found.samples) >= 0


def test_perf_script_has_lines() -> None:
    for name, offset in (("perf-script-ip.txt", True), ("perf-script-lines.txt", False)):
        samples = profile_of(name).samples
        assert {(s.symbol, s.file) for s in samples if s.line in (5, 6)} == {("main", "a.c")}
        assert all((s.offset >= 0) == offset for s in samples)
        assert sum(s.line == 6 for s in samples) > 3


def test_perf_script_takes_the_first_of_a_chain() -> None:
    samples = profile_of("perf-script-chains.txt").samples
    blocks = [block for block in (DATA / "perf-script-chains.txt").read_text().split("\n\n") if block.strip()]
    assert len(samples) == len(blocks)
    assert samples[-1].symbol == "clear_page_erms"
    assert "alloc_pages_mpol" not in {s.symbol for s in samples}


def test_perf_script_of_a_function_with_blanks(tmp_path: Path) -> None:
    head = "my prog  1234/1236 [003] 12.345678:     "
    row = f"{head}1000 cycles:u:      55d0 f(std::vector<int> const&, int)+0x1c (/src/a b)\n"
    other = f"{head}3000 cycles:u:      55d0 [unknown] (/src/a b)\n"
    (tmp_path / "x").write_text(row + other)
    found = read_hot(str(tmp_path / "x"))
    (sample,) = found.samples
    assert (sample.symbol, sample.offset, sample.amount) == ("f(std::vector<int> const&, int)", 0x1C, 1000.0)
    assert found.elsewhere == 3000


def test_perf_report_has_parts_of_all() -> None:
    found = profile_of("perf-report.txt")
    assert found.functions[0].name == "main"
    assert sum(f.amount for f in found.functions) + found.elsewhere == pytest.approx(100)
    children = profile_of("perf-report-children.txt")  # the function's own, not that of all it calls
    assert {f.name: f.amount for f in children.functions}["main"] == 96.30
    lines = profile_of("perf-report-lines.txt")
    assert [(s.symbol, s.file, s.line, s.amount) for s in lines.samples[:2]] == [
        ("main", "a.c", 6, 54.58),
        ("main", "a.c", 5, 42.25),
    ]


def test_perf_annotate_has_samples_at_instructions() -> None:
    (listing,) = profile_of("perf-annotate.txt").listings
    assert listing.symbol == "main"
    assert sum(n for _, n, _ in listing.rows) == pytest.approx(276, rel=0.01)
    hottest = max(listing.rows, key=lambda row: row[1])
    assert hottest[0] == "unpckhpd"
    assert hottest[2] == 6  # the line of the source above it


def test_a_list(tmp_path: Path) -> None:
    file = tmp_path / "list"
    file.write_text("# by hand\nsrc/a b.c:12  1.5M\nsolve::run(int, int) 200 # calls\n\n")
    found = read_hot(str(file))
    assert (found.kind, found.unit) == ("list", "executions")
    assert found.lines == (Line(file="src/a b.c", line=12, executions=1.5e6),)
    assert [(f.name, f.amount) for f in found.functions] == [("solve::run(int, int)", 200.0)]
    file.write_text("a.c:12 62.5%\nmain 12 %\n")
    found = read_hot(str(file))
    assert (found.unit, found.elsewhere) == ("samples", 25.5)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "the file is empty"),
        (b"\n \n", "the file is empty"),
        (b"PERFILE2\0\0", "perf script -i"),
        (b"\xfflprofi\x81\0", "llvm-profdata show --all-functions --counts"),
        (b"\x81rforpl\xff\0", "llvm-profdata merge"),
        (b"adcg*21B\0", "gcov --json-format"),
        (b"\0\1\2", "binary"),
        (b"{}", "JSON, but not from gcov or llvm-cov export"),
        (b'{"schema": "incc-run", "version": 1}', "a report of incc-run; --probes="),
        (b'{"gcc_version": "12", "files": [', "truncated"),
        (b'{"gcc_version": "12", "files": []}', "current_working_directory"),
        (b'{"type": "llvm.coverage.json.export", "data": [{"files": []}]}', "no counts"),
        (b'{"type": "llvm.coverage.json.export", "data": 3}', "not the output of llvm-cov export"),
        (b'{"schema_version": "1.0", "units": []}', "a report of incc"),
        (b"what is this\nprose of\n", "unknown format"),
        (b"a.c:1 20\nb.c:2 30%\n", ":2: percentages of the time"),
        (b"a.c:1 80%\nb.c:2 30%\n", "add up to 110 %"),
        (b"\x1f\x8bno", "damaged"),
        (gzip.compress(b"{}" * 100, mtime=0)[:-9], "truncated"),
    ],
)
def test_what_cannot_be_used_is_said(tmp_path: Path, content: bytes, message: str) -> None:
    file = tmp_path / "file"
    file.write_bytes(content)
    with pytest.raises(HotError) as raised:
        read_hot(str(file))
    assert str(raised.value).startswith(str(file))
    assert message in str(raised.value)


def test_a_folder_stands_for_the_files_of_gcov_in_it(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    for name in ("a.c.gcov", "below/b.c.gcov"):
        (tmp_path / name).write_bytes((DATA / "a.c.gcov").read_bytes())
    (tmp_path / "a.c").touch()
    found = read_hot(str(tmp_path))
    assert (found.kind, len(found.lines)) == ("gcov", 2 * len(profile_of("a.c.gcov").lines))
    # What tells more of the same is not added to it.
    (tmp_path / "a.gcov.json.gz").write_bytes((DATA / "a.gcov.json.gz").read_bytes())
    found = read_hot(str(tmp_path))
    assert (found.kind, found.lines) == ("gcov-json", profile_of("a.gcov.json.gz").lines)


def test_show_of_one_file_alone_names_none() -> None:
    with pytest.raises(HotError, match="llvm-cov export"):
        profile_of("llvm-cov-show-one.txt")


def test_what_is_no_file(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe")
    for name, message in (("pipe", "a named pipe"), ("none", "no such file"), (".", r"no output of gcov")):
        with pytest.raises(HotError, match=message):
            read_hot(str(tmp_path / name))


@pytest.mark.parametrize("kind", KINDS)
def test_any_text_is_read_or_refused(kind: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("hot")

    @examples(30)
    @given(st.one_of(st.binary(max_size=200), st.text(alphabet=' :|%+-#.0123456789ax()[]\n{}"', max_size=300)))
    def run(content: bytes | str) -> None:
        (folder / "x").write_bytes(content if isinstance(content, bytes) else content.encode())
        try:
            read_hot(str(folder / "x"), kind)
        except HotError as error:
            if not str(error).startswith(str(folder / "x")):
                raise

    run()


def test_long_lines_take_time_in_proportion(tmp_path: Path) -> None:
    """Counted in what the patterns try: a line of half a megabyte ends at once, or not at all."""
    from incc.ranking.hot import coverage, perf

    for line in ("1 " * 250_000, "a 1 1.1: " * 50_000, " " * 500_000, " 7f00 " + "f(" * 100_000):
        for read in (perf.script, perf.report, perf.annotate, coverage.gcov, coverage.llvm_profdata):
            with contextlib.suppress(HotError):
                read("x", line)
        (tmp_path / "x").write_text(line)
        with contextlib.suppress(HotError):
            read_hot(str(tmp_path / "x"))


@pytest.mark.parametrize(
    ("text", "value"), [("12", 12.0), ("81.9M", 81.9e6), ("819k", 819e3), ("-", None), ("", None), ("1.2.3", None)]
)
def test_amounts(text: str, value: float | None) -> None:
    assert amount(text) == value


def loop_run(function: str, cycles: float, iterations: float, **fields: object) -> LoopRun:
    values: dict[str, object] = dict.fromkeys(LoopRun.__struct_fields__, 0) | {
        "kernel_id": f"{function}/loop1", "function_name": function, "cycles": cycles, "iterations": iterations,
        "source": None, "core": "", "unit": "", "module": "", "role": "", "verdict": "", "counted": False,
        "at_least": False, "is_short": False,
        **dict.fromkeys(("parts", "possible", "calls", "others", "trips", "notes"), ()), **fields,
    }  # fmt: skip
    return LoopRun(**values)  # type: ignore[arg-type]


def test_a_loop_of_a_run_does_not_count_the_loops_that_it_calls() -> None:
    loops = (
        loop_run("main", 1000.0, 20.0, predicted=30.0, calls=("work", "without_loops")),
        loop_run("twice", 500.0, 10.0, predicted=7.0, calls=("work",)),
        loop_run("work", 8.0, 2000.0, predicted=9.0),
    )
    report = RunReport(
        command=("./a",), status=0, processes=1, unfinished=0, seconds=1.0, clock_ghz=1.0, unsampled_cost=0.0,
        sampled_cost=0.0, loops=loops, without_probes=(), notes=(),
    )  # fmt: skip
    profile = profile_of_run("run.json", report)
    found = {sample.symbol: sample.amount for sample in profile.samples}
    # `twice` calls `work` for a part of its time only, which is unknown: its own instructions are predicted.
    assert found == {"main": 4000.0, "twice": 70.0, "work": 16000.0}
    assert profile.elsewhere == 1e9 - sum(found.values())
