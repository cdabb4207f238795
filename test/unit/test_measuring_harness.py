"""The harness: what becomes of times, what is said of failures, counters from a stand-in, and one run for real."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from incc.measuring import counters, harness, native, server
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.models.loading import load
from properties import examples

LINKS = 10_000
EMPTY = 60


def row(cycles: float, entering: float, trips: int, clock: float, crowd: float, disturbed: bool) -> list[int]:
    """Ticks of a sample: a machine whose core cycle is `clock` ticks."""
    chain = LINKS * clock
    busy = 2 if disturbed else 1
    one, two = entering + trips * cycles, entering + 2 * trips * cycles
    ticks = [chain * crowd * busy, chain, one * clock * busy, chain, chain * crowd * busy, two * clock * busy]
    return [round(t) + EMPTY for t in (*ticks, chain, chain * crowd * busy)]


@examples(60)
@given(st.floats(0.5, 200), st.floats(20, 90), st.floats(0.5, 2), st.floats(0.2, 0.5), st.floats(0, 0.6), st.randoms())
def test_disturbed_samples_do_not_count(
    cycles: float, entering: float, clock: float, crowd: float, disturbed: float, random: Any
) -> None:
    trips = max(8, round(25_000 / cycles))
    rows = [row(cycles, entering, trips, clock, crowd, random.random() < disturbed) for _ in range(200)]
    found = server.evaluate(rows, trips, EMPTY, crowd)
    assert found.cycles == pytest.approx(cycles, rel=0.002)
    assert found.spread < 0.01 * cycles
    assert found.used > 12


def test_two_states_of_the_core_are_told() -> None:
    """Short runs at half the speed of long ones, by themselves steady: only the cost of entering tells."""
    rows = []
    for _ in range(40):
        slow, fast = row(8, 50, 3000, 1, 0.25, False), row(4, 50, 3000, 1, 0.25, False)
        rows.append([*slow[:5], *fast[5:]])
    found = server.evaluate(rows, 3000, EMPTY, 0.25)
    assert found.spread > 2


@examples(200)
@given(
    streams=st.lists(
        st.tuples(st.integers(0, 4095), st.sampled_from([0, 1, 4, 8, 16, 24, 64, 192, 1000, 5000])), max_size=9
    ),
    most=st.integers(0, 100_000),
)
def test_a_run_stays_in_the_cache(streams: list[tuple[int, int]], most: int) -> None:
    """However slowly it goes through memory: the longest run touches six pages at most, and a longer one would not."""

    def pages(trips: int) -> int:
        return sum((start + step * (trips - 1)) // 4096 + 1 for start, step in streams)

    longest_run = 0

    def touched(trips: int) -> int:
        nonlocal longest_run
        longest_run = max(longest_run, trips)
        return pages(longest_run)

    found = server.longest(touched, most)
    allowed = min(max(most, 16), 6000)
    assert found <= allowed
    if found:
        assert pages(found) <= 6
        # Not much shorter than it need be.
        assert found == allowed or pages(found + found // 8 + 1) > 6
    else:
        assert pages(16) > 6


def test_where_all_is_disturbed_that_is_said() -> None:
    found = server.evaluate([row(4, 50, 3000, 1, 0.25, True)] * 40, 3000, EMPTY, 0.25)
    assert found.used == 0
    assert found.disturbed == 1


def test_alone_is_seen_through_interruptions() -> None:
    rows = [[LINKS // 4 + EMPTY, LINKS + EMPTY]] * 3
    rows += [[LINKS // 4 + EMPTY, 90 * LINKS], [LINKS + EMPTY, LINKS + EMPTY]] * 200
    assert server.alone(rows, EMPTY) == pytest.approx(0.25, rel=0.01)


# --- counters --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (errno.EACCES, "perf_event_paranoid"),
        (errno.EPERM, "perf_event_paranoid"),
        (errno.ENOENT, "virtual machine"),
        (errno.ENOSYS, "no perf_event_open"),
    ],
)
def test_why_there_are_no_counters(number: int, text: str) -> None:
    assert text in counters.reason(OSError(number, "x"))


def test_ports_are_counted_by_events_of_the_core() -> None:
    assert load("skylake").parameters["port_events"]["p5"] == 0x20A1
    # Inherited, so that a model of the host has them as well.
    assert load("sapphirerapids").parameters["port_events"]["p23A"] == 0x04B2
    assert load("nehalem").parameters["port_events"] == {}


def test_counters_that_are_not_wanted() -> None:
    source = counters.Counters(wanted=False)
    assert source.why_not == "not wanted"
    assert source.count(lambda n, m: None, 10, 1) == {}


def test_counts_are_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    """What entering a loop counts is in both runs and falls out."""
    ran: list[tuple[int, int]] = []

    def counted(_: int, run: counters.Run, trips: int, times: int) -> int:
        run(trips, times)
        return times * (trips * 5 + 77)

    monkeypatch.setattr(counters, "_open", lambda kind, config: 99)
    monkeypatch.setattr(counters, "_counted", counted)
    monkeypatch.setattr(counters.os, "close", lambda _: None)
    source = counters.Counters(events={"p0": 0x01A1})
    found = source.count(lambda n, m: ran.append((n, m)), 100, 3)
    assert found == {"cycles": 5.0, "p0": 5.0}
    assert {(100, 3), (200, 3)} == set(ran)


# --- the process -----------------------------------------------------------------------------------------------------


class FakeProcess:
    """A measuring process that answers from a list; "" is its end."""

    def __init__(self, answers: list[str]) -> None:
        self.answers = answers
        self.asked: list[list[dict[str, Any]]] = []
        self.stdin = self.stdout = self.stderr = self
        self.killed = False

    def write(self, text: str) -> None:
        self.asked.append(json.loads(text))

    def flush(self) -> None: ...

    def readline(self) -> str:
        return self.answers.pop(0) if self.answers else ""

    def read(self) -> str:
        return "Traceback\nImportError: no llvmlite"

    def kill(self) -> None:
        self.killed = True

    def communicate(self) -> None: ...


LOOP = MachineLoop(code=b"\x48\xff\xc9\x75\xfb", counter=1, registers=(0,) * 16, content=0)
READY = json.dumps({"ready": "x86_64", "counters": "none here", "confines": True})
FOUR = {"cycles": 4.0, "spread": 0.1, "disturbed": 0.5, "way": "clock", "events": {}}


def test_a_process_that_ends_fails_its_loop_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    started = [FakeProcess([READY, json.dumps([FOUR])]) for _ in range(2)]
    left = list(started)
    monkeypatch.setattr(harness, "missing", lambda: "")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: left.pop(0))
    with harness.Harness() as machine:
        assert machine.measure(LOOP) == Measurement(cycles=4.0, spread=0.1, way="clock", events={})
        ended = machine.measure(LOOP)
        assert isinstance(ended, LoopFailure)
        assert ended.kind == "harness"
        assert machine.measure(LOOP) == Measurement(cycles=4.0, spread=0.1, way="clock", events={})
        assert machine.busy == 0.5
        assert machine.counters_missing == "none here"
    assert all(process.killed for process in started)
    assert started[0].asked[0][0]["code"] == LOOP.code.hex()


def test_a_process_that_does_not_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(harness, "missing", lambda: "")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: FakeProcess([]))
    with pytest.raises(harness.Unavailable, match="no llvmlite"):
        harness.Harness()


@pytest.mark.parametrize(
    ("system", "machine", "text"),
    [("darwin", "x86_64", "Linux"), ("linux", "riscv64", "riscv64"), ("linux", "x86_64", "")],
)
def test_what_is_missing(monkeypatch: pytest.MonkeyPatch, system: str, machine: str, text: str) -> None:
    import platform

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    found = harness.missing()
    assert text in found if text else found == ""


@pytest.mark.parametrize("machine", sorted(native.ARCHITECTURES))
def test_the_code_is_the_same_text_for_all(machine: str) -> None:
    """Everything is filled in, for AArch64 too; LLVM reads it where it has the target."""
    text = native.text(native.ARCHITECTURES[machine]({}), "")
    assert "@DIALECT@" not in text
    assert "@ENTER@" not in text
    for name in ("incc_samples", "incc_fault", "incc_run", "incc_beside", "incc_empty"):
        assert f"@{name}(" in text
    assert len(native.leave(machine, native.CODE)) % (1 if machine == "x86_64" else 4) == 0


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="no clang-19")
def test_aarch64_is_assembled(tmp_path: Path) -> None:
    """The assembly is right as far as an assembler tells; nobody has run it."""
    source, target = tmp_path / "a.ll", tmp_path / "a.o"
    source.write_text(native.text(native.ARCHITECTURES["aarch64"]({}), ""), encoding="utf-8")
    arguments = ["--target=aarch64-linux-gnu", "-O2", "-w", "-c", str(source), "-o", str(target)]
    done = subprocess.run(["clang-19", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(bool(harness.missing()), reason="no x86-64 Linux")
def test_real_loops() -> None:
    """A number or a reason: what they are is this machine's affair."""
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("no x86-64 Linux")
    places = tuple(0x2000_0000 + 0x100_0000 * n for n in range(16))
    dec_jnz = b"\x48\xff\xc9\x75"
    bodies = {
        "imul": (b"\x48\x0f\xaf\xdb", ""),
        "load": (b"\x48\x8b\x06", ""),
        "ud2": (b"\x0f\x0b", "SIGILL"),
        "null": (b"\x48\x8b\x04\x25\x00\x00\x00\x00", "address"),
        "division": (b"\x31\xff\x48\xf7\xff", "SIGFPE"),
        "stride": (b"\x48\x8b\x06\x48\x81\xc6\x00\x10\x00\x00", "stride"),
        "own memory": (b"\x48\xc7\x04\x25" + (0).to_bytes(8, "little"), "address"),
    }
    loops = []
    for body, _ in bodies.values():
        back = -(len(body) + len(dec_jnz) + 1)
        loops.append(
            MachineLoop(
                code=body + dec_jnz + back.to_bytes(1, "little", signed=True),
                counter=1,
                registers=places,
                content=0x3FF8 << 48,
            )
        )
    with harness.Harness() as machine:
        results = [machine.measure(loop) for loop in loops]
    for (name, (_, kind)), found in zip(bodies.items(), results, strict=True):
        if kind:
            assert isinstance(found, LoopFailure), name
            assert found.kind == kind, (name, found)
            assert found.text
        elif isinstance(found, Measurement):
            assert found.cycles > 0


@pytest.mark.skipif(bool(harness.missing()), reason="no Linux that measures")
def test_nothing_is_measured_where_the_kernel_does_not_confine_loops(monkeypatch: pytest.MonkeyPatch) -> None:
    *interpreter, program = harness.server_command()
    program = (
        f"import sys; sys.path[:] = {sys.path}; import incc.measuring.server as s; s._PR_SET_SECCOMP = 9999; s.main()"
    )
    monkeypatch.setattr(harness, "server_command", lambda: [*interpreter, program])
    with pytest.raises(harness.Unavailable, match=r"no seccomp.*--unsafe measures anyway"):
        harness.Harness()
    with harness.Harness(unsafe=True) as machine:
        assert machine.counters_missing is not None


@pytest.mark.skipif(bool(harness.missing()), reason="no Linux that measures")
def test_the_measuring_process_takes_no_module_of_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "json.py").write_text("raise SystemExit('mine')")
    monkeypatch.chdir(tmp_path)
    with harness.Harness() as machine:
        assert machine.busy == 0


@pytest.mark.skipif(bool(harness.missing()), reason="no Linux that measures")
def test_limits_that_are_low_already_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only the system may raise them."""
    import resource

    from incc.measuring import server

    now = {1: (5, 7), 2: (5, resource.RLIM_INFINITY)}
    set_to: list[tuple[int, tuple[int, int]]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda limit: now[limit])
    monkeypatch.setattr(resource, "setrlimit", lambda limit, to: set_to.append((limit, to)))
    for limit, most in ((1, 6), (1, 9), (1, resource.RLIM_INFINITY), (2, 9)):
        server._lower(limit, most)
    assert set_to == [(1, (6, 6)), (1, (7, 7)), (1, (7, 7)), (2, (9, 9))]


@pytest.mark.skipif(bool(harness.missing()), reason="no Linux that measures")
def test_without_proc(monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import resource

    from incc.measuring import server

    assert 0 < server._most_memory() < 1 << 50

    def absent(*_: object, **__: object) -> None:
        raise FileNotFoundError

    monkeypatch.setattr(builtins, "open", absent)
    assert server._most_memory() == resource.RLIM_INFINITY


OUTLIVES = """
import os, sys, time
from incc.measuring import server
read, write = os.pipe()
if not os.fork():
    server.outlive_nobody(int(sys.argv[1]) if sys.argv[1:] else os.getppid())
    print(os.getpid(), flush=True)
    os.write(write, b"x")
    time.sleep(30)
    print("outlived", flush=True)
    os._exit(0)
os.close(write)
if os.read(read, 1):
    time.sleep(30)
print("ended", os.wait()[1] >> 8, flush=True)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not Linux")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGKILL], ids=lambda n: n.name)
def test_nothing_that_measures_outlives_its_parent(number: signal.Signals) -> None:
    parent = subprocess.Popen([sys.executable, "-c", OUTLIVES], stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    child = int(parent.stdout.readline())
    os.kill(child, 0)
    parent.send_signal(number)
    # Its end of the pipe is closed when it has ended, which nobody else has to wait for.
    assert parent.stdout.read() == ""
    assert parent.wait() == -number


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="not Linux")
def test_a_parent_that_has_ended_already_is_noticed() -> None:
    done = subprocess.run([sys.executable, "-c", OUTLIVES, "1"], capture_output=True, text=True, check=True)
    assert done.stdout == "ended 1\n"


def test_a_finder_that_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib.util
    import platform
    import sys

    def refuse(name: str) -> None:
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(importlib.util, "find_spec", refuse)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    assert "llvmlite" in harness.missing()


def test_many_loops_are_asked_for_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    none = {"kind": "SIGILL", "text": "no such instruction"}
    together, alone = [[FOUR, none, FOUR]], [[FOUR], [none], [FOUR]]
    started = [FakeProcess([READY, *map(json.dumps, answers)]) for answers in (together, alone)]
    left = list(started)
    monkeypatch.setattr(harness, "missing", lambda: "")
    monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: left.pop(0))
    wanted = [
        Measurement(cycles=4.0, spread=0.1, way="clock", events={}),
        LoopFailure(**none),
        Measurement(cycles=4.0, spread=0.1, way="clock", events={}),
    ]
    with harness.Harness() as machine:
        assert machine.measure_all([LOOP] * 3) == wanted
        assert [one["rough"] for one in started[0].asked[0]] == [True] * 3
        # The process ends: each is asked for alone, as what one does to it is no other's fault.
        assert machine.measure_all([LOOP] * 3) == wanted
        assert [[one["code"] for one in some] for some in started[1].asked] == [[LOOP.code.hex()]] * 3


@pytest.mark.skipif(bool(harness.missing()), reason="no x86-64 Linux")
def test_a_loop_in_a_child_with_others() -> None:
    """Faults are their loop's alone, and each finds memory as if it were the first."""
    import platform

    if platform.machine() != "x86_64":
        pytest.skip("no x86-64 Linux")
    dec_jnz = b"\x48\xff\xc9\x75"

    def loop(body: bytes) -> MachineLoop:
        back = -(len(body) + len(dec_jnz) + 1)
        code = body + dec_jnz + back.to_bytes(1, "little", signed=True)
        return MachineLoop(
            code=code, counter=1, registers=tuple(0x2000_0000 + 0x100_0000 * n for n in range(16)), content=7
        )

    spoil = loop(b"\x48\xc7\x06\x00\x00\x00\x00")  # movq $0, (%rsi)
    # xorl %edx, %edx; movl $1, %eax; divl (%rsi): it stops where the one before it left a zero
    divide = loop(b"\x31\xd2\xb8\x01\x00\x00\x00\xf7\x36")
    fine, illegal, null = loop(b"\x90"), loop(b"\x0f\x0b"), loop(b"\x48\x8b\x04\x25\x00\x00\x00\x00")
    runs = (fine, "", spoil, "", divide, "", illegal, "SIGILL", fine, "", null, "address", spoil, "", divide, "")
    loops, kinds = [one for one in runs if isinstance(one, MachineLoop)], [one for one in runs if isinstance(one, str)]
    with harness.Harness() as machine:
        found = machine.measure_all(loops)
        for one, kind in zip(found, kinds, strict=True):
            assert (one.kind if isinstance(one, LoopFailure) else "") == kind, found
        assert machine.measure_all([]) == []
        # More loops than one child runs, and one that is too long for any.
        long = replace(loop(b"\x90"), code=b"\x90" * (native.LONGEST + 1))
        found = machine.measure_all([*[fine] * 70, long, fine])
        assert [n for n, one in enumerate(found) if isinstance(one, LoopFailure)] == [70]
