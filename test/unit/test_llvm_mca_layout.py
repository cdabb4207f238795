"""llvm-mca's views of a report made by hand, and what their readers make of it."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llvm_mca_output import parse_json, parse_text
from llvm_mca_reports import STALLS, STATISTICS, as_report
from msgspec.structs import force_setattr, replace

from incc.report import types as t
from incc.views import llvm_mca
from incc.views.llvm_mca.columns import width
from incc.views.llvm_mca.json import document as document_of
from incc.views.llvm_mca.requested import RegionHeading, Views
from properties import examples
from struct_fixtures import filled

NOTHING = Views(summary=False, info=False, pressure=False)


def instruction(index: int, text: str, **facts: Any) -> dict[str, Any]:
    usual = {
        "index": index,
        "text": text,
        "unknown": False,
        "issue_slots": 1,
        "latency": 1,
        "rthroughput": {"cycles": 0.25},
        "measured_rthroughput": None,
        "may_load": False,
        "may_store": False,
        "side_effects": False,
        "load_barrier": False,
        "store_barrier": False,
        "encoding": "90",
    }
    return {**usual, **facts}


def event(iteration: int, index: int, *cycles: int) -> dict[str, int]:
    stages = ("dispatched", "ready", "issued", "executed", "retired")
    return {"iteration": iteration, "instruction": index, **dict(zip(stages, cycles, strict=True))}


def step(instruction: int, iteration: int, kind: str = "", via: str = "") -> dict[str, Any]:
    return {"instruction": instruction, "iteration_offset": iteration, "kind": kind, "via": via}


def made() -> t.AnalysisReport:
    """A kernel of four instructions, one of them done by the renamer and one that the model lacks."""
    kernel = {
        "instructions": [
            instruction(
                0,
                "vfmadd231pd\t(%rdi), %ymm1, %ymm0",
                latency=11,
                rthroughput={"cycles": 0.5},
                may_load=True,
                encoding="c4e2f5b807",
                pressure=[0.5, 0.0, 0.25, 0.25],
            ),
            instruction(
                1, "xorl\t%eax, %eax", latency=0, rthroughput={"cycles": 0.0}, encoding="31c0", pressure=[0.0] * 4
            ),
            instruction(
                2,
                "movabsq\t$1311768467463790320, %rax",
                issue_slots=12,
                latency=123,
                rthroughput={"cycles": 12.0},
                measured_rthroughput=123.456,
                may_store=True,
                side_effects=True,
                load_barrier=True,
                store_barrier=True,
                encoding="48b8f0debc9a78563412",
                pressure=[0.004, 1234.565, 0.005, 99.999],
            ),
            instruction(3, "unheard\t%rax", unknown=True, issue_slots=0, latency=0, pressure=[0.0] * 4),
        ],
        "dispatch_width": 4,
        "size": {"issue_slots": 14},
        "summary": {"block_rthroughput": 3.25, "iterations": 100, "cycles": 400, "uops": 1400},
        "resources": [
            {"name": "0", "title": "Port0", "load": 0.504},
            {"name": "1", "title": "Port1", "load": 1234.565},
            {"name": "2", "title": "Port2", "load": 0.255},
            {"name": "3", "title": "TP mfence", "load": 100.249},
        ],
        "llvm_resources": None,
        "cold": {
            "iterations": 2,
            "cycles": 32,
            "uops": 28,
            "stalls": {
                "registers": 0,
                "reorder_buffer": 1,
                "scheduler": 32,
                "load_buffer": 0,
                "store_buffer": 3,
                "group": 0,
                "other": 2,
            },
            "dispatched": [{"count": 0, "cycles": 25}, {"count": 4, "cycles": 7}],
            "issued": [{"count": 0, "cycles": 3}, {"count": 12, "cycles": 29}],
            "retired": [{"count": 0, "cycles": 31}, {"count": 10, "cycles": 1}],
            "schedulers": [
                {"name": "ALU", "entries": 97, "average": 8.96, "most": 17},
                {"name": "A_scheduler_of_a_long_name", "entries": 5, "average": 0.94, "most": 0},
                {"name": "Endless", "entries": 0, "average": 7.5, "most": 21},
            ],
            "reorder_buffer": {"entries": 224, "average": 12.99, "most": 28},
            "registers": [
                {"name": "", "entries": 0, "mappings": 14, "most": 13},
                {
                    "name": "Integer",
                    "entries": 180,
                    "mappings": 10,
                    "most": 9,
                    "moves": {"candidates": 0, "eliminated": 0, "zero": 0, "most": 0},
                },
                {"name": "Unbounded", "entries": 0, "mappings": 1, "most": 1},
                {
                    "name": "Vector",
                    "entries": 168,
                    "mappings": 4,
                    "most": 4,
                    "moves": {"candidates": 8, "eliminated": 7, "zero": 1, "most": 2},
                },
            ],
            "events": [
                event(0, 0, 0, 0, 1, 12, 13),
                event(0, 1, 0, 0, 0, 0, 13),
                event(0, 2, 1, 2, 5, 6, 14),
                event(0, 3, 1, 1, 3, 3, 14),
                event(1, 0, 2, 2, 3, 14, 15),
                event(1, 1, 2, 2, 2, 2, 15),
                event(1, 2, 3, 4, 16, 20, 21),
                event(1, 3, 3, 3, 3, 5, 21),
            ],
            "waits": [
                {"executions": 2, "queue": 1.0, "ready": 1.0, "writeback": 0.0},
                {"executions": 2, "queue": 0.0, "ready": 0.0, "writeback": 12.0},
                {"executions": 2, "queue": 8.25, "ready": 7.449, "writeback": 1234.5},
                {"executions": 2, "queue": 1.0, "ready": 1.0, "writeback": 12.5},
            ],
            "waits_total": {"executions": 2, "queue": 2.56, "ready": 2.36, "writeback": 314.7},
            "pressure": {
                "increase": 17,
                "resources": 16,
                "data": 9,
                "registers": 8,
                "memory": 1,
                "by_resource": [{"resource": 1, "cycles": 15}, {"resource": 3, "cycles": 2}],
                "sequence": [
                    step(1, 0),
                    step(2, 0, "resource", "3"),
                    step(2, 0, "register", ""),
                    step(3, 0, "register", "rax"),
                    step(0, 1, "memory"),
                ],
            },
        },
    }
    unit = {"kernels": [kernel], "model": {"name": "skylake"}}
    return filled(t.AnalysisReport, {"schema_version": "0", "units": [unit]})


def cold_of(report: t.AnalysisReport) -> t.Cold:
    """The run of its first kernel."""
    cold = report.units[0].kernels[0].cold
    assert cold is not None
    return cold


def set_sequence(report: t.AnalysisReport, *sequence: dict[str, Any]) -> None:
    """Give the report another critical sequence."""
    force_setattr(cold_of(report).pressure, "sequence", [filled(t.SequenceStepReport, each) for each in sequence])


def rendered(report: t.AnalysisReport, options: Views) -> str:
    return llvm_mca.render(report, options)


def shown(**views: Any) -> str:
    """Some views of that report."""
    return rendered(made(), replace(NOTHING, **views))


def test_summary() -> None:
    assert (
        shown(summary=True)
        == """\
Iterations:        2
Instructions:      8
Total Cycles:      32
Total uOps:        28

Dispatch Width:    4
uOps Per Cycle:    0.88
IPC:               0.25
Block RThroughput: 3.3
"""
    )


def test_headings() -> None:
    report = made()
    report.units[0].kernels *= 3
    headings = (RegionHeading(), RegionHeading(0, ""), RegionHeading(1, "a \033[31mname - of any kind"))
    text = rendered(report, Views(info=False, pressure=False, headings=headings))
    whole = shown(summary=True)
    assert text == f"{whole}\n[0] Code Region\n\n{whole}\n[1] Code Region - a \\x1b[31mname - of any kind\n\n{whole}"


def test_a_region_without_instructions_has_no_heading() -> None:
    report = made()
    kernel = report.units[0].kernels[0]
    report.units[0].kernels = [replace(kernel, instructions=[]), kernel]
    text = rendered(report, replace(NOTHING, summary=True, headings=(RegionHeading(-1), RegionHeading(0, "one"))))
    assert text.startswith("\n[0] Code Region - one\n\nIterations:        2\n")
    document = json.loads(rendered(report, Views(json=True, headings=(RegionHeading(-1), RegionHeading(0, "one")))))
    assert [region["Name"] for region in document["CodeRegions"]] == ["one"]


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("", 0),
        ("abc", 3),
        ("abc\td", 9),
        ("12345678\td", 9),
        ("ab\t\tc", 9),
        ("größe", 5),
        ("e\u0301\tx", 9),
        ("関数", 4),
    ],
)
def test_width(text: str, columns: int) -> None:
    """As LLVM counts columns: no combining characters, wide ones twice, no tab from a multiple of eight."""
    assert width(text) == columns


def test_info() -> None:
    assert (
        shown(info=True)
        == """\


Instruction Info:
[1]: #uOps
[2]: Latency
[3]: RThroughput
[4]: MayLoad
[5]: MayStore
[6]: HasSideEffects (U)

[1]    [2]    [3]    [4]    [5]    [6]    Instructions:
 1      11    0.50    *                   vfmadd231pd\t(%rdi), %ymm1, %ymm0
 1      0     0.25                        xorl\t%eax, %eax
 12     123   123.46         *      U     movabsq\t$1311768467463790320, %rax
 0      0      -                          unheard\t%rax
"""
    )


def test_info_with_encodings_and_barriers() -> None:
    """An encoding of ten bytes fills its column, and has a blank more."""
    assert (
        shown(info=True, encoding=True, barriers=True)
        == """\


Instruction Info:
[1]: #uOps
[2]: Latency
[3]: RThroughput
[4]: MayLoad
[5]: MayStore
[6]: HasSideEffects (U)
[7]: LoadBarrier
[8]: StoreBarrier
[9]: Encoding Size

[1]    [2]    [3]    [4]    [5]    [6]    [7]    [8]    [9]    Encodings:                    Instructions:
 1      11    0.50    *                                  5     c4 e2 f5 b8 07                \
vfmadd231pd\t(%rdi), %ymm1, %ymm0
 1      0     0.25                                       2     31 c0                         xorl\t%eax, %eax
 12     123   123.46         *      U      *      *      10    48 b8 f0 de bc 9a 78 56 34 12  \
movabsq\t$1311768467463790320, %rax
 0      0      -                                         1     90                            unheard\t%rax
"""
    )


def test_dispatch() -> None:
    assert (
        shown(dispatch_stats=True)
        == """\


Dynamic Dispatch Stall Cycles:
RAT     - Register unavailable:                      0
RCU     - Retire tokens unavailable:                 1  (3.1%)
SCHEDQ  - Scheduler full:                            32  (100.0%)
LQ      - Load queue full:                           0
SQ      - Store queue full:                          3  (9.4%)
GROUP   - Static restrictions on the dispatch group: 0
USH     - Uncategorised Structural Hazard:           2  (6.3%)


Dispatch Logic - number of cycles where we saw N micro opcodes dispatched:
[# dispatched], [# cycles]
 0,              25  (78.1%)
 4,              7  (21.9%)
"""
    )


def test_scheduler() -> None:
    """An average of 8.96 is 9, and one of 0.94 is 0: to tenths, then cut."""
    assert (
        shown(scheduler_stats=True)
        == """\


Schedulers - number of cycles where we saw N micro opcodes issued:
[# issued], [# cycles]
 0,          3  (9.4%)
 12,          29  (90.6%)

Scheduler's queue usage:
[1] Resource name.
[2] Average number of used buffer entries.
[3] Maximum number of used buffer entries.
[4] Total number of buffer entries.

 [1]            [2]        [3]        [4]
ALU              9          17         97
A_scheduler_of_a_long_name 0 0         5
"""
    )


def test_unused_schedulers() -> None:
    report = made()
    for scheduler in cold_of(report).schedulers:
        force_setattr(scheduler, "most", 0)
    text = rendered(report, replace(NOTHING, scheduler_stats=True))
    assert text.endswith("\n\nScheduler's queue usage:\nNo scheduler resources used.\n")


def test_retire() -> None:
    assert (
        shown(retire_stats=True)
        == """\


Retire Control Unit - number of cycles where we saw N instructions retired:
[# retired], [# cycles]
 0,           31  (96.9%)
 10,          1  (3.1%)

Total ROB Entries:                224
Max Used ROB Entries:             28  ( 12.5% )
Average Used ROB Entries per cy:  12  ( 5.4% )
"""
    )


def test_registers() -> None:
    assert (
        shown(register_file_stats=True)
        == """\


Register File statistics:
Total number of mappings created:    14
Max number of mappings used:         13

*  Register File #1 -- Integer:
   Number of physical registers:     180
   Total number of mappings created: 10
   Max number of mappings used:      9

*  Register File #3 -- Vector:
   Number of physical registers:     168
   Total number of mappings created: 4
   Max number of mappings used:      4
   Number of optimizable moves:      8
   Number of moves eliminated:       7  (87.5%)
   Number of zero moves:             1  (12.5%)
   Max moves eliminated per cycle:   2
"""
    )


def test_pressure_on_our_resources() -> None:
    """Where LLVM's are not known. A cell that is too wide moves the next one, and none of those behind it."""
    assert (
        shown(pressure=True)
        == """\


Resources:
[0]   - Port0
[1]   - Port1
[2]   - Port2
[3]   - TP_mfence


Resource pressure per iteration:
[0]    [1]    [2]    [3]   \x20
0.50   1234.57 0.26  100.25\x20

Resource pressure by instruction:
[0]    [1]    [2]    [3]    Instructions:
0.50    -     0.25   0.25   vfmadd231pd\t(%rdi), %ymm1, %ymm0
 -      -      -      -     xorl\t%eax, %eax
 -     1234.57 0.01  100.00 movabsq\t$1311768467463790320, %rax
 -      -      -      -     unheard\t%rax
"""
    )


def test_pressure_on_llvms_resources() -> None:
    """Neighbours of one name are the instances of one resource."""
    report = made()
    report.units[0].kernels[0].llvm_resources = [
        filled(t.LlvmResource, {"name": name, "cycles": cycles, "instructions": [cycles, 0.0, 0.0, 0.0]})
        for name, cycles in (("AGLU", 1.0), ("AGLU", 0.5), ("Div", 0.0), ("Load", 0.0), ("Load", 2.0), ("Load", 3.0))
    ]
    text = rendered(report, replace(NOTHING, pressure=True))
    assert "[0.0] - AGLU\n[0.1] - AGLU\n[1]   - Div\n[2.0] - Load\n[2.1] - Load\n[2.2] - Load\n\n\n" in text
    assert "[0.0]  [0.1]  [1]    [2.0]  [2.1]  [2.2]  \n1.00   0.50    -      -     2.00   3.00   \n" in text
    document = json.loads(rendered(report, Views(json=True)))
    names = ["AGLU.\0", "AGLU.\1", "Div", "Load.\0", "Load.\1", "Load.\2"]
    assert document["TargetInfo"]["Resources"] == names


TIMELINE = """\


Timeline view:
                    0123456789 \x20
Index     0123456789          01

[0,0]     DeeeeeeeeeeeER .    ..   vfmadd231pd\t(%rdi), %ymm1, %ymm0
[0,1]     D------------R .    ..   xorl\t%eax, %eax
[0,2]     .D===eE-------R.    ..   movabsq\t$1311768467463790320, %rax
[0,3]     .D=E----------R.    ..   unheard\t%rax
[1,0]     . DeeeeeeeeeeeER    ..   vfmadd231pd\t(%rdi), %ymm1, %ymm0
[1,1]     . D------------R    ..   xorl\t%eax, %eax
[1,2]     .  D============eeeeER   movabsq\t$1311768467463790320, %rax
[1,3]     .  DeE---------------R   unheard\t%rax


Average Wait times (based on the timeline view):
[0]: Executions
[1]: Average time spent waiting in a scheduler's queue
[2]: Average time spent waiting in a scheduler's queue while ready
[3]: Average time elapsed from WB until retire stage

      [0]    [1]    [2]    [3]
0.     2     1.0    1.0    0.0       vfmadd231pd\t(%rdi), %ymm1, %ymm0
1.     2     0.0    0.0    12.0      xorl\t%eax, %eax
2.     2     8.3    7.4    1234.5    movabsq\t$1311768467463790320, %rax
3.     2     1.0    1.0    12.5      unheard\t%rax
       2     2.6    2.4    314.7     <total>
"""


def test_timeline() -> None:
    assert shown(timeline=True) == TIMELINE
    assert shown(timeline=True, timeline_cycles=0, timeline_iterations=0) == TIMELINE


def test_timeline_of_fewer_iterations() -> None:
    """Columns end with the last instruction shown."""
    text = shown(timeline=True, timeline_iterations=1)
    assert "Index     0123456789     \n\n[0,0]     DeeeeeeeeeeeER.   vfmadd" in text
    assert "[0,3]     .D=E----------R   unheard\t%rax\n\n\nAverage Wait times" in text


@pytest.mark.parametrize(
    ("cycles", "rows", "header"),
    [
        (22, 8, "                    0123456789  \nIndex     0123456789          01"),
        (21, 6, "                    0123456789 \nIndex     0123456789          0"),
        (15, 4, "                    01234\nIndex     0123456789     "),
        (14, 2, "                    0123\nIndex     0123456789    "),
        (13, 0, "                    012\nIndex     0123456789   "),
        (2, 0, "Index     01"),
    ],
)
def test_timeline_that_is_cut(cycles: int, rows: int, header: str) -> None:
    """No row without its end; what comes to pass in the cycles before the limit has its column."""
    text = shown(timeline=True, timeline_cycles=cycles).partition("\n\n\nAverage")[0]
    whole = TIMELINE.partition("\n\n\nAverage")[0].split("\n")
    assert text.startswith(f"\n\nTimeline view:\n{header}\n")
    assert text.count("\n[") == rows
    assert text.endswith("Truncated display due to cycle limit") == (rows < 8)
    for mine, other in zip(text.split("\n")[6:], whole[6 : 6 + rows], strict=False):
        assert (mine[:10], mine[-10:]) == (other[:10], other[-10:])


@pytest.mark.parametrize("kept", [0, 5])
def test_timeline_without_what_is_beyond(kept: int) -> None:
    """Where the report has nothing of the instructions that are cut, there are all columns."""
    report = made()
    cold = cold_of(report)
    force_setattr(cold, "events", cold.events[:kept])
    text = rendered(report, replace(NOTHING, timeline=True, timeline_cycles=20))
    header = "\n\nTimeline view:\n                    0123456789\nIndex     0123456789          \n"
    rows = text.partition("\n\n\nAverage")[0].removeprefix(header).split("\n")
    assert text.startswith(header)
    assert len(rows) == (kept + 2 if kept else 1)
    assert rows[-1] == "Truncated display due to cycle limit"
    assert rendered(report, replace(NOTHING, timeline=True, timeline_cycles=0)).startswith("\n\nTimeline") == bool(kept)


def test_waits_of_one_instruction_have_no_total() -> None:
    report = made()
    kernel, cold = report.units[0].kernels[0], cold_of(report)
    kernel.instructions = kernel.instructions[:1]
    events = [event(0, 0, 0, 0, 1, 12, 13), event(1, 0, 0, 0, 2, 13, 14)]
    kernel.cold = replace(cold, waits=cold.waits[:1], events=[filled(t.ColdEvent, each) for each in events])
    text = rendered(report, replace(NOTHING, timeline=True))
    assert text.endswith("[3]\n0.     2     1.0    1.0    0.0       vfmadd231pd\t(%rdi), %ymm1, %ymm0\n")


def test_bottleneck() -> None:
    """The third step begins another iteration."""
    assert (
        shown(bottleneck_analysis=True)
        == """\


Cycles with backend pressure increase [ 53.13% ]
Throughput Bottlenecks:\x20
  Resource Pressure       [ 50.00% ]
  - Port1  [ 46.88% ]
  - TP_mfence  [ 6.25% ]
  Data Dependencies:      [ 28.13% ]
  - Register Dependencies [ 25.00% ]
  - Memory Dependencies   [ 3.13% ]

Critical sequence based on the simulation:

              Instruction                                 Dependency Information
        0.    vfmadd231pd\t(%rdi), %ymm1, %ymm0
 +----< 1.    xorl\t%eax, %eax
 +----> 2.    movabsq\t$1311768467463790320, %rax        ## RESOURCE interference:  TP_mfence [ probability: 100% ]
 +----> 3.    unheard\t%rax                              ## REGISTER dependency:  %rax
 |
 |    < loop carried >\x20
 |
 +----> 0.    vfmadd231pd\t(%rdi), %ymm1, %ymm0      ## MEMORY dependency.
"""
    )


def test_sequence_from_the_iteration_before() -> None:
    report = made()
    set_sequence(report, step(3, 0), step(1, 1, "register", "flags SPAZO"))
    text = rendered(report, replace(NOTHING, bottleneck_analysis=True))
    assert (
        text.partition("Information\n")[2]
        == """\
 +----< 3.    unheard\t%rax
 |
 |    < loop carried >\x20
 |
 |      0.    vfmadd231pd\t(%rdi), %ymm1, %ymm0
 +----> 1.    xorl\t%eax, %eax                        ## REGISTER dependency:  %eflags
        2.    movabsq\t$1311768467463790320, %rax
        3.    unheard\t%rax
"""
    )


def arrows(*steps: dict[str, Any]) -> list[str]:
    """The left side of the critical sequence."""
    report = made()
    set_sequence(report, *steps)
    text = rendered(report, replace(NOTHING, bottleneck_analysis=True))
    return [line[:14].rstrip() for line in text.partition("Information\n")[2].splitlines()]


CARRIED = [" |", " |    < loop c", " |"]


def test_sequence_beyond_an_iteration() -> None:
    """Behind a step into another iteration there are no instructions between; the mark is where it is carried."""
    assert arrows(step(0, 0), step(1, 0, "register"), step(0, 1, "register"), step(2, 1, "memory")) == [
        " +----< 0.",
        " +----> 1.",
        " |      2.",
        " |      3.",
        *CARRIED,
        " +----> 0.",
        " +----> 2.",
    ]


def test_sequence_forward_into_another_iteration() -> None:
    assert arrows(step(1, 0), step(2, 1, "resource"), step(3, 2, "resource")) == [
        " +----< 1.",
        *CARRIED,
        " |      0.",
        " |      1.",
        " +----> 2.",
        " |      3.",
        *CARRIED,
        " +----> 3.",
    ]


def test_sequence_back_within_an_iteration() -> None:
    """A later instruction can take the port of an earlier one."""
    assert arrows(step(2, 0), step(1, 0, "resource"), step(3, 0, "register")) == [
        *("        0.", "        1."),
        " +----< 2.",
        " +----> 1.",
        " +----> 3.",
    ]


def test_sequence_of_one_instruction() -> None:
    assert arrows(step(1, 0), step(1, 1, "register"), step(1, 2, "register")) == [
        " +----< 1.",
        *CARRIED,
        " |      0.",
        " +----> 1.",
        " |      2.",
        " |      3.",
        *CARRIED,
        " +----> 1.",
    ]


@pytest.mark.parametrize("why", ["no pressure", "never held up"])
def test_no_bottleneck(why: str) -> None:
    report = made()
    cold = cold_of(report)
    if why == "no pressure":
        force_setattr(cold.pressure, "increase", 0)
    else:
        force_setattr(cold, "stalls", filled(t.Stalls, {"front_end": 12}))
    text = rendered(report, replace(NOTHING, bottleneck_analysis=True))
    assert text == "\n\nNo resource or data dependency bottlenecks discovered.\n"


def test_bottlenecks_that_were_not_looked_for() -> None:
    report = made()
    force_setattr(cold_of(report), "pressure", None)
    assert rendered(report, replace(NOTHING, bottleneck_analysis=True)) == ""


def test_no_sequence() -> None:
    report = made()
    set_sequence(report)
    text = rendered(report, replace(NOTHING, bottleneck_analysis=True))
    assert text.endswith("  - Memory Dependencies   [ 3.13% ]\n")


def test_order() -> None:
    """Of all views together, each as it is by itself."""
    alone = [
        shown(**{view: True, "encoding": True, "barriers": True})
        for view in (
            "summary",
            "bottleneck_analysis",
            "info",
            "dispatch_stats",
            "scheduler_stats",
            "retire_stats",
            "register_file_stats",
            "pressure",
            "timeline",
        )
    ]
    assert rendered(made(), STATISTICS) == "".join(alone)


def test_instruction_tables() -> None:
    """Nothing is simulated for them."""
    tables = rendered(made(), replace(STATISTICS, instruction_tables=True))
    assert tables == shown(info=True, pressure=True, encoding=True, barriers=True)
    document = json.loads(rendered(made(), replace(STATISTICS, instruction_tables=True, json=True)))
    (region,) = document["CodeRegions"]
    assert [*region] == ["InstructionInfoView", "Instructions", "Name", "ResourcePressureView"]


def test_without_a_simulation_there_are_bounds_alone() -> None:
    """No statistics are better than none of which it could be said that they are none."""
    report = made()
    report.units[0].kernels[0].cold = None
    text = rendered(report, STATISTICS)
    assert text == rendered(report, Views(encoding=True, barriers=True))
    assert text.startswith(
        "Iterations:        100\nInstructions:      400\nTotal Cycles:      400\nTotal uOps:        1400\n"
    )
    document = json.loads(rendered(report, replace(STATISTICS, json=True)))
    assert not {"TimelineView", "DispatchStatistics"} & set(document["CodeRegions"][0])


def test_json() -> None:
    options = replace(
        STATISTICS,
        json=True,
        cpu="skylake",
        headings=(RegionHeading(0, 'a "name"'),),
        parameters=(("-dispatch", 3), ("-noalias", False)),
    )
    text = rendered(made(), options)
    assert text.startswith('{\n  "CodeRegions": [\n    {\n      "DispatchStatistics": {\n        "GROUP": 0,\n')
    assert '"ResourceUsage": 99.998999999999995\n' in text
    document = json.loads(text)
    assert document.pop("Incc") == msgspec.to_builtins(made())
    assert [*document] == ["CodeRegions", "SimulationParameters", "TargetInfo"]
    (region,) = document["CodeRegions"]
    assert document["SimulationParameters"] == {
        "-dispatch": 3,
        "-march": "x86_64",
        "-mcpu": "skylake",
        "-mtriple": "x86_64-pc-linux-gnu",
        "-noalias": False,
    }
    assert document["TargetInfo"] == {"CPUName": "skylake", "Resources": ["Port0", "Port1", "Port2", "TP_mfence"]}
    assert region["Name"] == 'a "name"'
    assert region["Instructions"][1] == "xorl\t%eax, %eax"
    assert region["DispatchStatistics"] == {"RAT": 0, "RCU": 1, "SCHEDQ": 32, "LQ": 0, "SQ": 3, "GROUP": 0, "USH": 2}
    assert region["InstructionInfoView"]["InstructionList"][2] == {
        "Instruction": 2,
        "Latency": 123,
        "NumMicroOpcodes": 12,
        "RThroughput": 123.456,
        "hasUnmodeledSideEffects": True,
        "mayLoad": False,
        "mayStore": True,
    }
    cells = region["ResourcePressureView"]["ResourcePressureInfo"]
    assert [(cell["InstructionIndex"], cell["ResourceIndex"]) for cell in cells] == [
        *((0, 0), (0, 2), (0, 3)),
        *((2, 0), (2, 1), (2, 2), (2, 3)),
        *((4, 0), (4, 1), (4, 2), (4, 3)),
    ]
    assert region["SummaryView"] == {
        "BlockRThroughput": 3.25,
        "DispatchWidth": 4,
        "IPC": 0.25,
        "Instructions": 8,
        "Iterations": 2,
        "TotalCycles": 32,
        "TotaluOps": 28,
        "uOpsPerCycle": 0.875,
    }
    assert len(region["TimelineView"]["TimelineInfo"]) == 8
    assert region["TimelineView"]["TimelineInfo"][2] == {
        "CycleDispatched": 1,
        "CycleExecuted": 6,
        "CycleIssued": 5,
        "CycleReady": 2,
        "CycleRetired": 14,
    }


def test_json_of_a_cut_timeline() -> None:
    document = json.loads(rendered(made(), replace(STATISTICS, json=True, timeline_cycles=15)))
    assert len(document["CodeRegions"][0]["TimelineView"]["TimelineInfo"]) == 4


def test_several_cores() -> None:
    """Text goes on with the next one; a JSON document is about one core, so there is a list of them."""
    report = made()
    other = copy.deepcopy(report.units[0])
    other.model = replace(other.model, name="znver4")
    other.kernels[0].dispatch_width = 6
    report.units.append(other)
    headings = (RegionHeading(0, "here"), RegionHeading(0, "there"))
    text = rendered(report, replace(NOTHING, summary=True, headings=headings, cpu="skylake,znver4"))
    assert text.count("[0] Code Region - ") == 2
    assert "here\n" in text.partition("Dispatch Width:    4")[0]
    assert "there\n" in text.partition("Dispatch Width:    4")[2]
    documents = json.loads(rendered(report, Views(json=True, headings=headings, cpu="skylake,znver4")))
    assert [document["TargetInfo"]["CPUName"] for document in documents] == ["skylake", "znver4"]
    assert [document["CodeRegions"][0]["Name"] for document in documents] == ["here", "there"]
    assert documents == document_of(report, Views(headings=headings))
    assert [document["Incc"]["units"] for document in documents] == [[msgspec.to_builtins(u)] for u in report.units]


WHOLE = rendered(made(), STATISTICS)


def test_readers_take_what_is_printed() -> None:
    (text,) = parse_text(WHOLE)
    (document,) = parse_json(json.loads(rendered(made(), replace(STATISTICS, json=True))))
    assert text["stalls"] == document["stalls"]
    assert [row["text"] for row in text["info"]] == [row["text"] for row in document["info"]]
    assert text["resources"] == document["resources"]
    assert text["summary"] == pytest.approx(document["summary"], abs=0.051)
    assert [row["retired"] for row in text["timeline"]] == [row["retired"] for row in document["timeline"]]
    assert [step["kind"] for step in text["bottleneck"]["sequence"]] == ["", "resource", "register", "memory"]


LINES = WHOLE.split("\n")[:-1]


@pytest.mark.parametrize("change", ["without", "twice", "blank", "indented", "word"])
def test_the_reader_of_text_is_strict(change: str) -> None:
    """A line too few or too many, or one that is otherwise, is refused, or found to say something else."""
    whole = parse_text(WHOLE)
    overlooked = []
    for place, line in enumerate(LINES):
        instead = {"without": [], "twice": [line] * 2, "blank": ["", line], "indented": [f" {line}"]}
        lines = [*LINES[:place], *instead.get(change, [f"{line} word"]), *LINES[place + 1 :]]
        try:
            found = parse_text("".join(f"{each}\n" for each in lines))
        except ValueError:
            continue
        if found == whole:
            overlooked.append((place, line))
    assert overlooked == []


@pytest.mark.parametrize(
    ("key", "value"),
    [("Unheard", 1), ("TargetInfo", {}), ("CodeRegions", [{"Name": ""}]), ("SimulationParameters", {})],
)
def test_the_reader_of_json_is_strict(key: str, value: Any) -> None:
    document = json.loads(rendered(made(), replace(STATISTICS, json=True)))
    document[key] = value
    with pytest.raises(ValueError, match="keys"):
        parse_json(document)


COUNTS = st.integers(0, 10**6) | st.integers(0, 120)
CYCLES = st.floats(0, 1e5) | st.sampled_from([0.0, 0.004, 0.005, 0.5, 9.995, 9.994, 99.995, 999.995])
NAMES = st.text("abcXYZ019_", min_size=1, max_size=30)
TEXTS = st.from_regex(r"[a-z]{2,12}(\t\t?[$%(a-z0-9,)]+( [a-z]+)?)?", fullmatch=True)


@st.composite
def reports(draw: st.DrawFn) -> t.AnalysisReport:
    """The report above with other instructions, and numbers of any size."""
    report = made()
    (kernel,) = report.units[0].kernels
    cold = cold_of(report)
    count = len(kernel.instructions)
    names = draw(st.lists(NAMES, min_size=1, max_size=14))
    units = [
        {"name": name, "resource": n, "cycles": draw(CYCLES), "instructions": [draw(CYCLES) for _ in range(count)]}
        for n, name in enumerate(names)
    ]
    kernel.llvm_resources = [filled(t.LlvmResource, each) for each in units]
    kernel.resources = [filled(t.ResourceReport, {"name": f"r{n}", "title": name}) for n, name in enumerate(names)]
    resource = st.integers(0, len(names) - 1)
    by_resource = [t.ResourcePressure(resource=n, cycles=draw(COUNTS)) for n in draw(st.sets(resource))]
    force_setattr(cold.pressure, "by_resource", by_resource)
    instructions = draw(st.lists(st.integers(0, count - 1), max_size=9))
    set_sequence(
        report, *[step(n, m, "resource" if m else "", f"r{draw(resource)}") for m, n in enumerate(instructions)]
    )
    kernel.dispatch_width = draw(st.integers(1, 16))
    kernel.summary = replace(kernel.summary, block_rthroughput=draw(CYCLES))
    kernel.instructions = [
        replace(
            each,
            text=draw(TEXTS),
            issue_slots=draw(COUNTS),
            latency=draw(COUNTS),
            measured_rthroughput=draw(st.floats(0.01, 1e5)),
            encoding=draw(st.binary(min_size=1, max_size=15)).hex(),
        )
        for each in kernel.instructions
    ]
    histograms = {}
    for name in ("dispatched", "issued", "retired"):
        rows = draw(st.dictionaries(COUNTS, COUNTS, max_size=9))
        histograms[name] = [t.CyclesOf(count=key, cycles=value) for key, value in sorted(rows.items())]
    schedulers = [
        t.Scheduler(name=draw(NAMES), entries=draw(st.integers(1, 999)), average=draw(CYCLES), most=draw(COUNTS))
        for _ in range(draw(st.integers(0, 4)))
    ]
    *waits, total = [
        t.ColdWait(executions=draw(COUNTS), queue=draw(CYCLES), ready=draw(CYCLES), writeback=draw(CYCLES))
        for _ in range(count + 1)
    ]
    cycles = dispatched = retired = 0
    events = []
    for n in range(2 * count):
        dispatched += draw(st.integers(0, 3))
        issued = dispatched + draw(st.integers(1, 40))
        executed = issued + draw(st.integers(1, 200))
        if draw(st.booleans()):
            issued = executed = dispatched
        retired = max(retired, executed + 1) + draw(st.integers(0, 9))
        cycles = max(cycles, retired)
        events.append(event(*divmod(n, count), dispatched, dispatched, issued, executed, retired))
    kernel.cold = replace(
        cold,
        cycles=draw(st.integers(40, 9999)),
        uops=draw(COUNTS),
        iterations=draw(st.integers(2, 10**4)),
        stalls=filled(t.Stalls, {cause: draw(COUNTS) for cause in STALLS.values()}),
        schedulers=schedulers,
        waits=waits,
        waits_total=total,
        events=[filled(t.ColdEvent, each) for each in events],
        **histograms,
    )
    return report


@given(reports(), st.integers(0, 500))
@examples(30)
def test_what_is_read_says_what_was_printed(report: t.AnalysisReport, limit: int) -> None:
    """A reader finds every number of any size, and a report made of them prints the same."""
    options = replace(STATISTICS, timeline_iterations=2, timeline_cycles=limit)
    text = rendered(report, options)
    found = parse_text(text)
    again = as_report(found)
    again.units[0].kernels[0].size = report.units[0].kernels[0].size
    assert rendered(again, options) == text
    (kernel,), cold = report.units[0].kernels, cold_of(report)
    (region,) = found
    assert [(row["uops"], row["latency"]) for row in region["info"]] == [
        (each.issue_slots, each.latency) for each in kernel.instructions
    ]
    assert [row["encoding"] for row in region["info"]] == [each.encoding for each in kernel.instructions]
    assert region["texts"] == [each.text for each in kernel.instructions]
    assert list(region["stalls"].values()) == [getattr(cold.stalls, cause) for cause in (*STALLS.values(),)]
    for name in ("dispatched", "issued", "retired"):
        assert region[name] == [(each.count, each.cycles) for each in getattr(cold, name)]
    shown = [each for each in cold.events if not limit or each.retired < limit]
    assert [row["retired"] for row in region["timeline"]] == [each.retired for each in shown]
