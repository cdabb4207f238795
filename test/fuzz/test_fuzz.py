"""The fuzzer itself: planted faults are found, made small, written down and replayed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from incc.driver.commands import model
from properties import examples
from test.fuzz import __main__ as runner
from test.fuzz import execute, judge, runs, search
from test.fuzz.kinds import KINDS
from test.fuzz.runs import Run


def _raise() -> int:
    print(0 / 0)
    return 0


def _spin() -> int:
    while True:
        pass


def _sleep() -> int:
    time.sleep(60)
    return 0


def _grow() -> int:
    size = judge.MEMORY + judge.MEMORY // 8
    return len(bytearray(size)) - size


def _die() -> int:
    os.kill(os.getpid(), signal.SIGSEGV)
    return 0


def _leave_file() -> int:
    Path(os.environ["TMPDIR"], "rest").touch()
    return 0


def _leave_process() -> int:
    subprocess.Popen(["sleep", "60"])
    return 0


def _say(text: str, status: int) -> Callable[[], int]:
    def say() -> int:
        sys.stderr.write(text)
        return status

    return say


def _random() -> int:
    print(time.monotonic_ns())
    return 0


@pytest.mark.parametrize(
    ("planted", "fault"),
    [
        (_raise, "ZeroDivisionError: division by zero"),
        (_spin, "more than 10 s"),
        (_sleep, "more than 10 s"),
        (_grow, "MiB of memory"),
        (_die, "exit status -11, which is not documented"),
        (_leave_file, "left behind: temporary files such as rest"),
        (_leave_process, "left behind: a process"),
        (_say("oh", 3), "exit status 3, which is not documented"),
        (_say("", 1), "exit status 1 without a message"),
        (_say("a \x1b[2J", 1), "a control character in a message"),
        (_random, "other content of standard output the second time"),
        (_say("x.s: error: no such file\n", 1), ""),
        (lambda: 0, ""),
    ],
)
def test_a_planted_fault_is_found(
    planted: Callable[[], int], fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model, "command", planted)
    if planted is _spin:
        monkeypatch.setattr(execute, "CPU_SECONDS", 1)
    monkeypatch.setattr(execute, "WALL_SECONDS", 5 if planted is _sleep else 90)
    found = judge.fault_of(Run(command="incc-model", args=("list",), again="twice"), tmp_path)
    assert fault in found
    assert bool(fault) == bool(found)


def test_a_find_is_small_and_can_be_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def planted() -> int:
        return 0 if sum(Path("numbers").read_bytes()) < 100 else _raise()

    numbers = st.binary(max_size=200).map(
        lambda data: Run(command="incc-model", args=("list",), files={"numbers": data, "x\udcff": b"\xff"})
    )
    monkeypatch.setattr(model, "command", planted)
    monkeypatch.setitem(KINDS, "planted", lambda: numbers)
    monkeypatch.setattr(runs, "FINDS", tmp_path)
    assert runner.main(["--seconds", "100", "--seed", "1", "--only", "planted", "-x"]) == 1
    (path,) = tmp_path.glob("planted-*.json")
    assert runs.load(path).files == {"numbers": b"d", "x\udcff": b"\xff"}
    assert "ZeroDivisionError" in judge.fault_of(runs.load(path), tmp_path / "again")
    assert capsys.readouterr().out.endswith("seed 1, 1 finds\n")


@examples(5)
@given(st.data())
@pytest.mark.parametrize("kind", KINDS)
def test_no_kind_runs_hostile_code(kind: str, data: st.DataObject) -> None:
    run = data.draw(KINDS[kind]())
    assert run.command == "incc" or execute.entry(run.command)
    assert not any(
        "\0" in word or word.startswith(("--measure", "-measure", "--unsafe", "--trust")) for word in run.args
    )


def test_a_search_of_each_kind_finds_nothing() -> None:
    """A few examples; `make check-all` runs the fuzzer for a minute."""
    for kind in KINDS:
        assert search.search(kind, 1, 3, 60).found is None
