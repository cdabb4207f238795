"""incc-mca in llvm-mca's place: over the corpus of test/conformance it is alike where it once was.

What llvm-mca prints for the corpus is recorded with its results masked, so that it need not be there; where it is, the
record is compared with it. `bench/conformance.py` shows the differences.
"""

from __future__ import annotations

import functools
import itertools
import re
import shutil
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mca_lit
import mca_table
from incc.driver.commands.mca import main
from mca_cases import AS_LLVM_MCA, HERE, Case, corpus, lines_of, run_command, run_function
from mca_masks import ASPECTS, Facts, diagnostics, differences, masked

DATA = Path(__file__).parent / "data" / "mca"
CASES = {case.name: case for case in corpus()}
GROUPS = sorted({case.group for case in CASES.values()})


@functools.cache
def recorded() -> dict[str, Facts]:
    return mca_table.read_recorded()


@functools.cache
def exceptions() -> list[mca_table.Exception_]:
    return mca_table.read_exceptions()


# The corpus


def test_the_corpus_is_large_and_every_case_is_known() -> None:
    inputs = {name: data for case in CASES.values() for name, data in case.files.items()}
    assert len(inputs) > 150
    assert len({case.name for case in CASES.values()}) == len(list(corpus()))
    expected = mca_table.read_expected()
    assert set(expected) == set(recorded()) == {case.name for case in CASES.values() if not case.host}
    assert {value.partition(":")[0] for value in expected.values()} <= {"alike", "differs"}


def test_every_file_of_the_corpus_is_used() -> None:
    used = {case.name.partition(".")[0] for case in CASES.values()}
    for path in (HERE / "inputs").glob("*/*"):
        assert lines_of(path), path
        assert f"{path.parent.name}/{path.stem}" in used


def test_every_option_of_llvm_mca_is_in_the_corpus() -> None:
    """Those that `llvm-mca-19 --help` lists, with a value or without."""
    help_ = next(s for s in recorded()["options/help.4"].sections if s.title == "")
    # `-h` and `--help` list the same; `--print-…options` are about the command line and not in the plain list.
    listed = set(re.findall(r"^  --?([\w-]+)", "\n".join(help_.lines), re.MULTILINE)) - {"h"}
    assert len(listed) > 30
    given_ = {re.match(r"--?([\w-]+)", a) for case in CASES.values() for a in case.args}
    missing = listed - {match[1] for match in given_ if match}
    assert missing <= {"print-options", "print-all-options"}


def test_exceptions_name_cases_and_say_why() -> None:
    for each in exceptions():
        assert each.aspect in ("*", *ASPECTS)
        assert len(each.reason) > 10
        for pattern in each.cases:
            matching = [case for case in CASES.values() if mca_table.names(pattern, case)]
            assert matching, pattern


# What is recorded


def check_recorded(cases: list[Case]) -> None:
    program = shutil.which("llvm-mca-19")
    if program is None:
        pytest.skip("no llvm-mca-19")
    for case in cases:
        found = run_command([program], case).facts()
        assert differences(recorded()[case.name], found) == [], case.name


RECORDED = [case for case in CASES.values() if not case.host]


def test_some_of_the_record_is_what_llvm_mca_prints() -> None:
    check_recorded(RECORDED[::20])


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_the_record_is_what_llvm_mca_prints(part: int) -> None:
    check_recorded(RECORDED[part::4])


@pytest.mark.long
def test_results_are_masked() -> None:
    """Another width, other queues: every result of llvm-mca is another, and nothing that is compared."""
    program = shutil.which("llvm-mca-19")
    if program is None:
        pytest.skip("no llvm-mca-19")
    changed = 0
    for case in RECORDED:
        facts = recorded()[case.name]
        json_ = any(section.title.startswith("JSON") for section in facts.sections)
        given_ = any("dispatch=" in each or "queue=" in each for each in case.args)
        if case.group not in ("cpus", "programs", "extensions") or facts.status or json_ or given_:
            continue
        found = run_command([program, "-dispatch=1", "-lqueue=3", "-squeue=2"], case)
        changed += found.stdout != run_command([program], case).stdout
        assert [d for d in differences(facts, found.facts()) if d.aspect != "diagnostics"] == [], case.name
    assert changed > 100


# What is alike


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_what_was_alike_is_alike(group: str) -> None:
    if group == "aarch64" and shutil.which("clang-19") is None:
        pytest.skip("no clang-19")
    expected = mca_table.read_expected()
    worse = []
    for case in CASES.values():
        if case.group != group or expected.get(case.name) != "alike":
            continue
        found = run_function(main, AS_LLVM_MCA, case).facts()
        counted, _ = mca_table.judged(case, recorded()[case.name], found, exceptions())
        worse += [f"{case.name}: {d.aspect} {d.section}: {d.expected[:3]} {d.got[:3]}" for d in counted[:2]]
    assert worse == []


@pytest.mark.long
@pytest.mark.parametrize("group", GROUPS)
def test_no_case_ends_in_a_traceback(group: str) -> None:
    """Of those that are not alike yet, too: one in five here, every one of them above once it is."""
    for case in [case for case in CASES.values() if case.group == group][::5]:
        found = run_function(main, AS_LLVM_MCA, case)
        assert found.status in (0, 1, 2)
        assert "Traceback" not in found.stderr


# What is masked

SAMPLE = (DATA / "sample.txt").read_text()


def differing(changed: str, status: int = 0, stderr: str = "") -> set[tuple[str, str]]:
    assert (changed, status, stderr) != (SAMPLE, 0, "")
    found = differences(masked(0, SAMPLE, ""), masked(status, changed, stderr))
    return {(each.aspect, each.section) for each in found}


def test_results_do_not_count() -> None:
    changed = SAMPLE
    for old, new in (
        ("Total Cycles:      206", "Total Cycles:      1234567"),
        ("Dispatch Width:    6", "Dispatch Width:    12"),
        (" 1      1     0.25   ", " 12     133   100.00 "),
        ("111  (36.3%)", "0"),
        (" 6,              19  (6.2%)\n", " 1,              2  (6.2%)\n 2,              2  (6.2%)\n"),
        ("SKLPortAny       40         60         60", "SKLPortAny       4          6          160"),
        ("177  ( 79.0% )", "4  ( 1.8% )"),
        ("0.33   1.00   \n", " -     12.00  \n"),
        ("[1,0]     .DeE---R  ..   ", "[1,0]     .D=======eER   "),
        ("                    01\n", "                    0 \n"),
        ("0.     2     7.1    0.1    7.2       ", "0.     10    117.1  0.1    7.2       "),
    ):
        assert old in changed
        changed = changed.replace(old, new)
    assert differing(changed) == set()


BOTTLENECKS = (DATA / "bottlenecks.txt").read_text()


def test_a_bottleneck_analysis_may_find_anything_that_it_can_say() -> None:
    none = "No resource or data dependency bottlenecks discovered.\n"
    assert differing(SAMPLE.replace(none, BOTTLENECKS)) == set()
    assert differing(SAMPLE.replace(none, BOTTLENECKS.replace("Throughput Bottlenecks", "Bottlenecks"))) != set()
    assert differing(SAMPLE.replace(none, BOTTLENECKS.replace("47.62", "47.6"))) != set()


def test_schedulers_may_have_been_empty() -> None:
    table = (
        "[1] Resource name.\n[2] Average number of used buffer entries.\n[3] Maximum number of used buffer entries.\n"
        "[4] Total number of buffer entries.\n\n [1]            [2]        [3]        [4]\n"
        "ZnAGU            0          1          28\n"
    )
    used = masked(0, f"Scheduler's queue usage:\n{table}\n\n", "")
    assert differences(used, masked(0, "Scheduler's queue usage:\nNo scheduler resources used.\n\n\n", "")) == []
    assert differences(used, masked(0, "Scheduler's queue usage:\nNo scheduler resources used.\n", "")) != []
    assert differences(used, masked(0, f"Scheduler's queue usage:\n{table.replace('AGU', 'ALU')}\n\n", "")) != []


def test_a_timeline_in_json_may_be_empty() -> None:
    event = '{"CycleDispatched": 0, "CycleReady": 0, "CycleIssued": 1, "CycleExecuted": 2, "CycleRetired": 3}'
    lists = [masked(0, f'{{"CodeRegions": [{{"TimelineView": {{"TimelineInfo": [{e}]}}}}]}}', "") for e in ("", event)]
    assert differences(*lists) == differences(*reversed(lists)) == []
    other = masked(0, '{"CodeRegions": [{"TimelineView": {"TimelineInfo": [{"CycleDispatched": 0}]}}]}', "")
    assert differences(lists[1], other) != []


def test_a_timeline_may_be_cut_off() -> None:
    last = "[1,1]     . D=eeeeeeER   lock\t\taddl\t$1, (%rdi)\n"
    assert differing(SAMPLE.replace(last, "Truncated display due to cycle limit\n")) == set()
    assert differing(SAMPLE.replace(last, "")) == {("rows", "Timeline view:")}
    every = re.search(r"(\[\d,\d\].*\n)+", SAMPLE)
    assert every
    assert differing(SAMPLE.replace(f"\n{every[0]}", "Truncated display due to cycle limit\n")) == set()
    assert differing(SAMPLE.replace(f"\n{every[0]}", every[0])) == {("rows", "Timeline view:")}


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Code Region - first", "Code Region - second", "sections"),
        ("[0] Code Region - first\n\n", "", "sections"),
        ("Resources:\n[0]   - SKLPort0\n[1]   - SKLPort1\n", "", "sections"),
        ("Iterations:        100", "Iterations:        10", "rows"),
        ("IPC:               0.97", "IPC:              0.97", "rows"),
        ("[6]: HasSideEffects (U)", "[6]: HasSideEffects", "rows"),
        (" 1      1     0.25                        addq", " 1      1     0.25    *                   addq", "rows"),
        ("100, %rbx\n 2", "101, %rbx\n 2", "text"),
        ("addl\t$1, (%rdi)\n\n\nDynamic", "addl\t$1,(%rdi)\n\n\nDynamic", "text"),
        ("SCHEDQ", "SCHED", "rows"),
        ("[# dispatched], [# cycles]\n", "", "rows"),
        (" 0,              187  (61.1%)\n 6,              19  (6.2%)\n", "", "rows"),
        (" 0,              187  (61.1%)\n 6,              19  (6.2%)\n", " 0, 187  (61.1%)\n", "rows"),
        ("SKLPortAny       40", "SKLPortAny      40", "rows"),
        ("SKLPortAny ", "SKXPortAny ", "rows"),
        ("Total ROB Entries:                224\n", "", "rows"),
        ("- SKLPort1", "- SKLPort2", "rows"),
        ("0.33   1.00   \n", "0.33   \n", "rows"),
        ("0.33    -     addq", "0.33   -      addq", "rows"),
        ("[0,1]     D=eeeER   ..   lock", "[0,1]     D=eeeER   ..  lock", "rows"),
        ("[1,0]     .DeE---R  ..   ", "[1,0]     .DeX---R  ..   ", "rows"),
        ("[1,0]     .DeE---R  ..   addq\t$100, %rbx\n", "", "rows"),
        ("0.     2     7.1 ", "0.     2    7.1  ", "rows"),
        ("       2     11.2   0.1    3.6       <total>\n", "", "rows"),
        ("       2     11.2   0.1    3.6       <total>\n", "       2     11.2   0.1    3.6       <all>\n", "text"),
        ("\n\n\nTimeline view:", "\n\nTimeline view:", "rows"),
    ],
)
def test_everything_else_counts(old: str, new: str, found: str) -> None:
    assert SAMPLE.count(old) == 1
    assert found in {aspect for aspect, _ in differing(SAMPLE.replace(old, new))}


def test_places_and_kinds_of_diagnostics_and_the_status_count() -> None:
    assert differing(SAMPLE + " ", status=1) >= {("status", "")}
    assert differing(SAMPLE, stderr="a.s:1:2: warning: something\n") == {("diagnostics", "")}
    assert differing(SAMPLE, stderr="llvm-mca-19: Unknown\nnote: a close model\n") == set()
    assert diagnostics(["a.s:1:2: error: x", "\tx", "\t^", "a.s:1:2: error: y", "C:\\a.s:3:4: note: here"]) == [
        "a.s:1:2: error",
        "C:\\a.s:3:4: note",
    ]


def test_a_mistake_in_a_macro_counts_where_the_macro_is_called() -> None:
    said = [
        "<instantiation>:1:1: error: x",
        "bad",
        "^",
        "a.s:3:2: note: while in macro instantiation",
        "        m",
        "^",
    ]
    assert diagnostics(said) == ["a.s:3:2: error"]


@given(st.data())
def test_whatever_is_left_out_is_found(data: st.DataObject) -> None:
    """A line that is left out is a difference, unless it is one of several of a histogram."""
    lines = SAMPLE.split("\n")
    at = data.draw(st.integers(0, len(lines) - 2))
    if re.match(r" \d,|  +01$|Index ", lines[at]):
        return
    assert differing("\n".join(lines[:at] + lines[at + 1 :])) != set(), lines[at]


def test_json_is_keys_and_types() -> None:
    one = (
        '{"CodeRegions": [{"Name": "", "Instructions": ["addl\\t%eax"], "SummaryView": {"IPC": 1.5, "Iterations": 9}}]}'
    )
    facts = masked(0, one, "")
    assert differences(facts, masked(0, one.replace("1.5", "2"), "")) == []
    assert differences(facts, masked(0, one.replace('[{"Name', '[{"Incc": {}, "Name'), "")) == []
    assert differences(facts, masked(0, one.replace('{"Code', '{"Incc": 1, "Code'), "")) == []
    for old, new in (
        ("9", "8"),
        ("1.5", "null"),
        ('"IPC"', '"Ipc"'),
        ("%eax", "%ebx"),
        ('"Name": "", ', ""),
        ("[{", "[{}, {"),
    ):
        assert differences(facts, masked(0, one.replace(old, new), "")) != [], old
    lists = '{"ResourcePressureInfo": [{"InstructionIndex": 0, "ResourceUsage": 1}]}'
    more = lists.replace("}]", '}, {"InstructionIndex": 1, "ResourceUsage": 2}]')
    assert differences(masked(0, lists, ""), masked(0, more, "")) == []
    assert differences(masked(0, lists, ""), masked(0, more.replace("1, ", '1, "Other": 2, '), "")) != []


def test_what_is_recorded_is_read_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = dict(itertools.islice(recorded().items(), 0, None, 7))
    monkeypatch.setattr(mca_table, "RECORDED", tmp_path / "recorded")
    mca_table.write_recorded(before, "LLVM version 19.1.7")
    assert mca_table.read_recorded() == before


# Runs of tests like LLVM's

LIT = """\
# RUN: llvm-mca -mtriple=x86_64 -mcpu=btver2 < %s | FileCheck %s
# RUN: not llvm-mca -mcpu=nothing %s -o %t \\
# RUN:   2>&1 | FileCheck --check-prefix=BAD %s
# RUN: llvm-mca -mcpu=skylake %s -o - 2> %t.err && FileCheck --input-file=%t.err %s
# RUN: echo "addl %%eax, %%ebx" | llvm-mca -mcpu=skylake | count 3
# RUN: llvm-mc -filetype=obj %s | llvm-mca -mcpu=skylake
# RUN: FileCheck %s < %S/other.s
addl	%eax, %ebx
"""


def test_run_lines_of_tests(tmp_path: Path) -> None:
    test = tmp_path / "X86" / "a test.s"
    test.parent.mkdir()
    test.write_text(LIT)
    (tmp_path / "X86" / "Inputs").mkdir()
    (tmp_path / "X86" / "Inputs" / "b.s").write_text(LIT)
    found = list(mca_lit.cases(tmp_path))
    cases = [each for each in found if isinstance(each, Case)]
    assert [case.name for case in cases] == [f"X86/a test.s{n}" for n in ("", ".2", ".3", ".4")]
    assert cases[0].args == ["-mtriple=x86_64", "-mcpu=btver2"]
    assert cases[0].stdin == LIT.encode()
    assert cases[1].args == ["-mcpu=nothing", str(test), "-o", "temporary"]
    assert cases[1].stdin is None
    assert cases[2].args == ["-mcpu=skylake", str(test), "-o", "-"]
    assert cases[3].stdin == b"addl %eax, %ebx\n"
    (unusable,) = (each for each in found if isinstance(each, mca_lit.Unusable))
    assert unusable.name == "X86/a test.s.5"
    assert "llvm-mc" in unusable.reason


def test_exceptions_are_a_table() -> None:
    with open(mca_table.EXCEPTIONS, "rb") as f:
        rows = tomllib.load(f)["exception"]
    assert {key for row in rows for key in row} <= {"cases", "cpus", "aspect", "where", "reason"}
