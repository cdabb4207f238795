"""The command incc-bench: interruptions, failures, statuses, what it says of a busy machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
from pathlib import Path
from typing import Any

import pytest

from incc.driver.commands import bench
from incc.measuring import harness
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement, Unavailable
from incc.measuring.simulated import Simulated
from incc.models.loading import load

FORMS = ["imul r64, r64", "vaddpd ymm, ymm, ymm", "vmulpd ymm, ymm, ymm", "vpermd ymm, ymm, ymm"]


class Stand(Simulated):
    """A machine that is a model, with what else machines do: `after` so many loops `then` is called."""

    busy = 0.0
    counters_missing = "a stand-in"
    after = -1
    then: Any = None
    closed = 0
    ran = 0

    def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
        type(self).ran += 1
        if self.ran == self.after:
            found = self.then()
            if found is not None:
                assert isinstance(found, LoopFailure)
                return found
        return super().measure(loop)

    def close(self) -> None:
        type(self).closed += 1


@pytest.fixture
def stand(monkeypatch: pytest.MonkeyPatch) -> type[Stand]:
    made = type("Made", (Stand,), {})
    monkeypatch.setattr(bench, "open_machine", lambda options, model: made(load("skylake")))
    return made


def run(*arguments: str) -> int:
    return bench.main(["--simulated", "-mcpu=skylake", *arguments])


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def interrupt() -> None:
    raise KeyboardInterrupt


def terminate() -> None:
    os.kill(os.getpid(), signal.SIGTERM)


def hang_up() -> None:
    os.kill(os.getpid(), signal.SIGHUP)


@pytest.mark.parametrize("how", [interrupt, terminate, hang_up])
def test_what_was_measured_is_kept(stand: type[Stand], tmp_path: Path, capsys: Any, how: Any) -> None:
    path = tmp_path / "a.jsonl"
    stand.then = staticmethod(how)
    # Without ports a form is few loops; the fourth form is not reached.
    assert run(*FORMS, "--parallel", "-o", str(path)) == 0
    all_of_it = records(path)
    path.unlink()
    stand.after, stand.ran = stand.ran - 1, 0
    assert run(*FORMS, "--parallel", "-o", str(path)) == 1
    printed = capsys.readouterr()
    assert "interrupted after 2 of 4" in printed.err
    assert f"the results are in {path}, and the same command continues" in printed.err
    assert "vaddpd" in printed.out
    assert stand.closed == 2
    before = records(path)
    assert before == all_of_it[:3]
    stand.after = -1
    assert run(*FORMS, "--parallel", "-o", str(path)) == 0
    assert records(path) == all_of_it
    assert signal.getsignal(signal.SIGTERM) == signal.getsignal(signal.SIGHUP) == signal.SIG_DFL


def test_who_ignores_a_signal_goes_on(stand: type[Stand], capsys: Any) -> None:
    """As nohup does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        stand.then = staticmethod(hang_up)
        stand.after = 2
        assert run(*FORMS, "--parallel") == 0
        assert "vpermd" in capsys.readouterr().out
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)


def test_what_was_not_measured_is_measured(stand: type[Stand], tmp_path: Path) -> None:
    """The later line of a form takes the place of the earlier one."""
    path = tmp_path / "a.jsonl"
    assert run(FORMS[0], "--parallel", "-o", str(path)) == 0
    assert run(FORMS[0], "--serial", "-o", str(path)) == 0
    assert run(FORMS[0], "-o", str(path)) == 0
    done = stand.ran
    assert run(FORMS[0], "--parallel", "-o", str(path)) == 0
    assert stand.ran == done
    assert [r["what"] for r in records(path)[1:]] == [["tp"], ["latency"], ["latency", "tp", "ports"]]


def test_a_form_that_faults_does_not_end_the_others(stand: type[Stand], capsys: Any) -> None:
    assert run(*FORMS, "--parallel") == 0
    stand.after, stand.ran = stand.ran - 2, 0
    stand.then = staticmethod(lambda: LoopFailure("SIGILL", "an instruction that is not there"))
    capsys.readouterr()
    assert run(*FORMS, "--parallel") == 1
    out = capsys.readouterr().out
    assert "not measured" in out
    assert "an instruction that is not there" in out
    assert "vpermd ymm, ymm, ymm  throughput" in out


def test_pairs_go_on(stand: type[Stand], tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "a.jsonl"
    assert run("--pairs", *FORMS[:3], "-o", str(path)) == 0
    first = stand.ran
    assert run("--pairs", *FORMS[:3], "-o", str(path), "--format=json") == 0
    assert stand.ran == first
    lines = capsys.readouterr().out.splitlines()
    pairs = [json.loads(line) for line in lines if line.startswith('{"pair"')]
    assert [p["pair"] for p in pairs] == [r["pair"] for r in records(path)[1:]]
    assert len(pairs) == 3


def test_a_busy_machine_is_named(stand: type[Stand], capsys: Any) -> None:
    stand.busy = 0.6
    assert run("--parallel", FORMS[0]) == 0
    assert "something else was running on this core during 60 % of the samples" in capsys.readouterr().err


def test_counters_are_named(stand: type[Stand], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(harness, "missing", lambda: "")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    target = bench._target
    monkeypatch.setattr(bench, "_target", lambda model, simulated: target(model, True))
    for missing, text in (("none here", "(no counters: none here)"), ("", "by performance counters")):
        stand.counters_missing = missing
        assert bench.main(["-mcpu=skylake", "--parallel", "add r64, r64"]) == 0
        assert text in capsys.readouterr().out


@pytest.mark.parametrize(
    ("why", "machine", "text"),
    [
        ("measuring needs Linux, not darwin", "x86_64", "measuring needs Linux"),
        ("measuring needs llvmlite (pip install llvmlite)", "x86_64", "pip install llvmlite"),
        ("", "aarch64", "forms are measured on x86-64 only"),
    ],
)
def test_where_nothing_can_be_measured(
    monkeypatch: pytest.MonkeyPatch, capsys: Any, why: str, machine: str, text: str
) -> None:
    monkeypatch.setattr(harness, "missing", lambda: why)
    monkeypatch.setattr("platform.machine", lambda: machine)
    assert bench.main(["-mcpu=skylake", "imul r64, r64"]) == 1
    assert text in capsys.readouterr().err


def test_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    def unavailable(counters: bool, events: dict[str, int], unsafe: bool) -> None:
        raise Unavailable("the measuring process does not start: no memory")

    monkeypatch.setattr(harness, "missing", lambda: "")
    monkeypatch.setattr(bench, "Harness", unavailable)
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    assert bench.main(["-mcpu=skylake", "imul r64, r64"]) == 1
    assert "does not start: no memory" in capsys.readouterr().err


def test_a_picture(stand: type[Stand], tmp_path: Path, capsys: Any) -> None:
    from xml.etree import ElementTree

    path = tmp_path / "a.svg"
    assert run("--pairs", *FORMS[:3], f"--picture={path}") == 0
    tree = ElementTree.parse(path)
    assert len([e for e in tree.iter() if e.tag.endswith("rect")]) == 6
    assert run(FORMS[0], "--parallel", f"--picture={tmp_path / 'b.svg'}") == 2
    assert "an .svg file requires --pairs" in capsys.readouterr().err


def test_kernels(stand: type[Stand], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """Prepared as --measure does; what cannot be prepared says why."""
    from incc.measuring import kernels

    source = tmp_path / "a.s"
    source.write_text("a:\n.L1:\n\timulq %rax, %rax\n\tdecq %rcx\n\tjne .L1\n\tret\n", encoding="utf-8")
    loop = MachineLoop(code=bytes.fromhex("480fafc048ffc975f7"), counter=1, registers=(1,) * 16, content=0)
    monkeypatch.setattr(
        kernels,
        "prepare",
        lambda kernel: kernels.Prepared(loops=(loop,), weights=(1.0,), exit="kept", notes=("a note",)),
    )
    assert run("--loops", str(source), "--format=json") == 0
    record = json.loads(capsys.readouterr().out)
    assert record["cycles"] == pytest.approx(3, abs=0.1)
    assert record["model"] == pytest.approx(3, abs=0.1)
    assert record["notes"] == ["a note"]
    monkeypatch.setattr(kernels, "prepare", lambda kernel: LoopFailure("isa", "it is code for something else"))
    assert run("--loops", str(source)) == 1
    assert "it is code for something else" in capsys.readouterr().out


def test_loops_of_some_functions_and_of_sources(
    stand: type[Stand], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    from incc.measuring import kernels

    loop = "\t.type {0}, @function\n{0}:\n.L{0}:\n\timulq %rax, %rax\n\tdecq %rcx\n\tjne .L{0}\n\tret\n"
    source, program = tmp_path / "a.s", tmp_path / "a.c"
    source.write_text(loop.format("f") + loop.format("g"), encoding="utf-8")
    program.write_text("void f(double *a, long n) {\n  for (long i = 0; i < n; i++)\n    a[i] *= a[i];\n}\n")
    monkeypatch.setattr(kernels, "prepare", lambda kernel: LoopFailure("isa", "it is code for something else"))
    assert run("--loops", str(source), "--format=json") == 1
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert run("--kernel", str(source), "--function=g", "--format=json") == 1  # the former spelling
    (line,) = capsys.readouterr().out.splitlines()
    assert json.loads(line)["kernel"] == f"{source}:11"
    assert run("--loops", str(source), "--function=h") == 1
    assert "no loop and no marked region in a function named h" in capsys.readouterr().err
    assert run(FORMS[0], "--function=h") == 2
    assert "--function requires --loops" in capsys.readouterr().err
    assert run(str(source)) == 2
    assert f"measure its loops with --loops={source}" in capsys.readouterr().err
    if not shutil.which("cc"):
        pytest.skip("no cc")
    assert run("--loops", str(program), "--format=json") == 1
    captured = capsys.readouterr()
    assert "compiled by" in captured.err
    names = {json.loads(line)["kernel"] for line in captured.out.splitlines()}
    assert names <= {f"{program}:2", f"{program}:3"}
    assert names


def test_why_not_is_whole(stand: type[Stand], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """However narrow the terminal is: below the table, where it has no room there."""
    from incc.measuring import kernels

    source = tmp_path / "a.s"
    source.write_text("a:\n.L1:\n\timulq %rax, %rax\n\tdecq %rcx\n\tjne .L1\n\tret\n", encoding="utf-8")
    reason = f"`xsave (%rdi)` in line 3 {'is an instruction of the system ' * 9}and that is all"
    monkeypatch.setattr(kernels, "prepare", lambda kernel: LoopFailure("system", reason))
    for columns in ("40", "80", "200"):
        monkeypatch.setenv("COLUMNS", columns)
        assert run("--loops", str(source)) == 1
        out = capsys.readouterr().out
        assert f"not measured: {reason}" in " ".join(out.split())
        assert max(len(line) for line in out.splitlines() if "/" not in line) <= int(columns)
    loop = MachineLoop(code=bytes.fromhex("480fafc048ffc975f7"), counter=1, registers=(1,) * 16, content=0)
    monkeypatch.setattr(
        kernels, "prepare", lambda kernel: kernels.Prepared(loops=(loop,), weights=(1.0,), exit="own", notes=())
    )
    stand.after, stand.ran = 1, 0
    stand.then = staticmethod(lambda: LoopFailure("address", "nowhere"))
    assert run("--loops", str(source)) == 1
    assert "not measured: nowhere" in capsys.readouterr().out.splitlines()[-1]


def test_kernels_go_on(stand: type[Stand], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """A kernel that failed begins no file that nobody can go on with; another code is another kernel."""
    from incc.measuring import kernels

    source, path = tmp_path / "a.s", tmp_path / "a.jsonl"
    text = "a:\n.L1:\n\timulq %rax, %rax\n\tdecq %rcx\n\tjne .L1\n\tret\n"
    source.write_text(text, encoding="utf-8")
    loop = MachineLoop(code=bytes.fromhex("480fafc048ffc975f7"), counter=1, registers=(1,) * 16, content=0)
    monkeypatch.setattr(kernels, "prepare", lambda kernel: LoopFailure("timeout", "it took too long"))
    assert run("--loops", str(source), "-o", str(path)) == 1
    assert "load_latency" in records(path)[0]
    assert records(path)[0]["load_latency"]
    monkeypatch.setattr(
        kernels, "prepare", lambda kernel: kernels.Prepared(loops=(loop,), weights=(1.0,), exit="own", notes=())
    )
    assert run("--loops", str(source), "-o", str(path)) == 0
    assert [("cycles" in r) for r in records(path)[1:]] == [False, True]
    assert run("--loops", str(source), "-o", str(path)) == 0
    assert len(records(path)) == 3
    source.write_text(text.replace("imulq %rax", "imulq %rbx"), encoding="utf-8")
    assert run("--loops", str(source), "-o", str(path)) == 0
    assert len(records(path)) == 4


def test_what_is_added_makes_no_kernel_faster(
    stand: type[Stand], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any
) -> None:
    """As --measure has it: both of a kernel's loops count by the same rule."""
    from incc.measuring import kernels

    source = tmp_path / "a.s"
    source.write_text("a:\n.L1:\n\timulq %rax, %rax\n\tdecq %rcx\n\tjne .L1\n\tret\n", encoding="utf-8")
    slow = MachineLoop(code=bytes.fromhex("480fafc048ffc975f7"), counter=1, registers=(1,) * 16, content=0)
    fast = MachineLoop(code=bytes.fromhex("48ffc975fb"), counter=1, registers=(1,) * 16, content=0)
    monkeypatch.setattr(
        kernels,
        "prepare",
        lambda kernel: kernels.Prepared(loops=(slow, fast), weights=(2.0, -1.0), exit="added", notes=()),
    )
    assert run("--loops", str(source), "--format=json") == 0
    assert json.loads(capsys.readouterr().out)["cycles"] == pytest.approx(3, abs=0.1)


def test_what_the_machine_failed_at_is_tried_again(stand: type[Stand], tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    assert run(FORMS[0], "--parallel", "-o", str(path)) == 0
    lines = records(path)
    for kind, more in (("timeout", 1), ("SIGILL", 0)):
        failed = {"form": lines[1]["form"], "conditions": [], "failure": {"kind": kind, "text": "so"}}
        path.write_text(json.dumps(lines[0]) + "\n" + json.dumps(failed) + "\n", encoding="utf-8")
        assert run(FORMS[0], "--parallel", "-o", str(path)) == 1 - more
        assert len(records(path)) == 2 + more


@pytest.mark.parametrize("name", ["/dev/full", "/dev/zero"])
def test_devices_are_not_read(stand: type[Stand], name: str, capsys: Any) -> None:
    """There is no end of them."""
    if not os.path.exists(name):
        pytest.skip(f"no {name}")
    assert run(FORMS[0], "--parallel", "-o", name) == (2 if name == "/dev/full" else 0)
    assert run(FORMS[0], "--parallel", "--resume", name) == 2
    assert f"{name}: no file that a run could go on with" in capsys.readouterr().err


def test_what_is_somebody_else_s_stays(stand: type[Stand], tmp_path: Path) -> None:
    """But the piece of a header that a run left which was killed at once is its own."""
    path = tmp_path / "a.jsonl"
    for text in ("hello", "hello\n", '{"x": 1', '{"corn'):
        path.write_text(text, encoding="utf-8")
        assert run(FORMS[0], "--parallel", "-o", str(path)) == 2
        assert path.read_text(encoding="utf-8") == text
    for text in ('{"co', '{"core": "sky'):
        path.write_text(text, encoding="utf-8")
        assert run(FORMS[0], "--parallel", "-o", str(path)) == 0
        assert [set(r) & {"core", "form"} for r in records(path)] == [{"core"}, {"form"}]


def test_mistakes_are_found_before_anything_is_measured(stand: type[Stand], tmp_path: Path, capsys: Any) -> None:
    assert run(FORMS[0], f"--html={tmp_path}/a.svg") == 2
    assert bench.main(["-mcpu=nosuch", FORMS[0]]) == 2
    assert "nosuch" in capsys.readouterr().err
    assert run("--unroll=²", FORMS[0]) == 2
    assert "--unroll needs a number above 0, not '²'" in capsys.readouterr().err
    assert stand.ran == 0


def test_a_page_that_cannot_be_written(stand: type[Stand], tmp_path: Path, capsys: Any) -> None:
    """What is said is the name that was given, not that of the file beside it."""
    assert run("--parallel", FORMS[0], f"--html={tmp_path}/none/a.html") == 2
    assert f"error: {tmp_path}/none/a.html: folder {tmp_path}/none does not exist" in capsys.readouterr().err
    assert stand.ran == 0
    assert run("--parallel", FORMS[0], f"--html={tmp_path}") == 2
    assert f"error: {tmp_path}: Is a directory" in capsys.readouterr().err


def test_nothing_has_no_sign() -> None:
    from incc.measuring.forms.bench import MeasuredFigure
    from incc.measuring.forms.pairs import record
    from incc.views.bench import matrix
    from incc.views.bench_page import picture
    from incc.views.layout import Layout

    assert str(record([], MeasuredFigure(0.999, 0.0), (1.0, 0.5))["conflict"]) == "0.0"
    found = {"titles": ["a", "b"], "values": [[None, -0.04], [-0.04, None]]}
    assert "-0" not in "\n".join(matrix(found, Layout(80, False)))
    assert ">-0" not in picture(found)
    assert bench._cycles(-0.001) == "0.00"


def test_latencies_that_failed_are_named_as_others() -> None:
    record = {"form": "X", "conditions": [], "latency": [], "failed": {"C<rdx": "so", "0<m": "so"}}
    cells = list(bench._form_cells("x", record))
    assert cells == [["x", "latency rdx → C, m → 0", "", "", "", "not measured: so"]]


def test_operands_in_one_register(stand: type[Stand], capsys: Any) -> None:
    """What cuts the other operands off would cut the chain."""
    assert run("--serial", "ADD_R64_RM64/r [same_reg]", "--format=json") == 0
    record = json.loads(capsys.readouterr().out)
    assert {(to, source): cycles for to, source, cycles in record["latency"]} == pytest.approx(
        {(to, source): 1 for to in ("0", "C", "SPAZO") for source in "01"}, abs=0.1
    )


# --- sets of ports ----------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_sets_of_ports_beside_a_relative(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "times.jsonl"
    command = ["--port-sets", "--relative=haswell", "vaddpd ymm, ymm, ymm", "imul r64, r64", "-o", str(path)]
    assert run(*command) == 0
    said = capsys.readouterr().out
    assert max(map(len, said.splitlines())) <= 80
    # Skylake adds on two ports, Haswell on one.
    row = next(line.split() for line in said.splitlines() if line.startswith("VEX_VADDPD_YMM"))
    assert row[1:] == ["0.50", "sure", "0,1", "1"]
    assert next(line for line in said.splitlines() if line.startswith("IMUL")).endswith("the same")
    count = len(path.read_text().splitlines())
    # From the file alone, and as JSON.
    assert run(*command, "--format=json") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(r["uops"], r["how"], r["relative"]) for r in rows] == [
        ([["0,1", 1]], "measured", [["1", 1]]),
        ([["1", 1]], "measured", [["1", 1]]),
    ]
    assert len(path.read_text().splitlines()) == count


def test_a_study_of_ports_that_is_ended_goes_on(stand: type[Stand], tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "times.jsonl"
    stand.after, stand.then = 30, staticmethod(terminate)
    assert run("--port-sets", "imul r64, r64", "-o", str(path)) == 1
    assert "interrupted after 30 throughputs" in capsys.readouterr().err
    assert len(path.read_text().splitlines()) == 29
    assert stand.closed == 1


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--port-sets", "--pairs", FORMS[0]], "--port-sets and --pairs cannot be combined"),
        (["--relative=haswell", FORMS[0]], "--relative requires --port-sets"),
        (["--port-sets", "addps xmm, xmm"], "legacy SSE keeps upper halves"),
        (["--port-sets", "mul r64"], "so copies wait for each other"),
        (["--port-sets", "--relative=neoverse-v2", FORMS[0]], "another instruction set"),
    ],
)
def test_what_is_no_study_of_ports(arguments: list[str], text: str, capsys: Any) -> None:
    assert run(*arguments) == 2
    assert text in capsys.readouterr().err


def test_a_file_of_something_else_is_no_file_of_throughputs(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "times.jsonl"
    path.write_text('{"core": "skylake"}\n')
    assert run("--port-sets", FORMS[0], "-o", str(path)) == 2
    assert "no throughput of forms" in capsys.readouterr().err
    assert path.read_text() == '{"core": "skylake"}\n'
