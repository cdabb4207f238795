"""Cycles of loops of machine code on this machine.

What is timed is compiled just in time from LLVM's intermediate representation with inline assembly, so no compiler is
needed. Each loop runs in a forked child, which catches faults and has a limit of time.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

import msgspec

if TYPE_CHECKING:
    import subprocess


class Loop(msgspec.Struct, frozen=True, kw_only=True):
    """Machine code that runs as a loop.

    `code`: all of it, with its last instructions counting `counter` down and jumping to its start while it is not zero.
    `counter`: the number of the general-purpose register (0 is rax, 15 is r15) that holds the trips. `registers`: what
    the sixteen general-purpose registers hold at first. `content`: the 64-bit word that memory and vector registers are
    full of. Memory that is touched is mapped when it is, within bounds. `step`: how much less the counter is after a
    trip; it holds so many times the trips at first.
    """

    code: bytes
    counter: int
    registers: tuple[int, ...]
    content: int
    step: int = 1


Way = Literal["clock", "counters"]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """`cycles`: core cycles a trip. `spread`: between samples that are not disturbed, in cycles a trip. `way`: how time
    was had: the time-stamp counter beside a chain of dependent additions, or the processor's performance counters.
    `events`: counts a trip of performance counters, by name; empty without them."""

    cycles: float
    spread: float
    way: Way
    events: dict[str, float]


class Failure(msgspec.Struct, frozen=True):
    """Why a loop could not be measured: a signal's name, "timeout", "address", "stride" …, and in words."""

    kind: str
    text: str


class Unavailable(Exception):
    """Nothing can be measured here: another system or processor, or llvmlite is missing."""


class Harness:
    """The process that runs loops (server.py), as a context manager.

    `counters`: whether performance counters are tried; `events`: raw ones to count beside cycles, by name. `busy` is
    the part of the samples so far beside which something else ran. `counters_missing`: why there are no counters, empty
    if there are. Raises Unavailable.
    """

    def __init__(self, counters: bool = True, events: Mapping[str, int] | None = None) -> None:
        self._arguments = ["auto" if counters else "none", json.dumps(dict(events or {}))]
        self._samples: list[float] = []
        self.counters_missing = ""
        self._process = self._start()

    @property
    def busy(self) -> float:
        return sum(self._samples) / len(self._samples) if self._samples else 0.0

    def _start(self) -> subprocess.Popen[str]:
        import subprocess

        if why := missing():
            raise Unavailable(why)
        # A session of its own: an interruption at the terminal ends this process first, which has what was measured.
        process = subprocess.Popen(
            [sys.executable, "-m", "incc.measuring.server", *self._arguments, str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            assert process.stderr is not None
            last = process.stderr.read().strip().splitlines()[-1:]
            raise Unavailable(f"the measuring process does not start: {last[0] if last else 'it says nothing'}")
        self.counters_missing = json.loads(line)["counters"]
        return process

    def measure(self, loop: Loop) -> Measurement | Failure:
        """A loop's cycles. If the measuring process ends, that is the loop's failure, and another one is started."""
        found = self._ask(_job(loop))
        return Failure("harness", "the measuring process ended") if found is None else self._understood(found)

    def measure_all(self, loops: Sequence[Loop]) -> list[Measurement | Failure]:
        """Rough cycles of loops, in their order, several in one child: a tenth of the time, and good to a few per cent
        where the spread says so. Raises Unavailable."""
        found: list[Measurement | Failure] = []
        while len(found) < len(loops):
            some = loops[len(found) : len(found) + _AT_ONCE]
            answers = self._ask([{**_job(loop), "rough": True} for loop in some])
            if answers is None:
                # Which one it was shows when each is alone.
                found += [self.measure(loop) for loop in some]
            else:
                found += [self._understood(answer) for answer in answers]
        return found

    def _understood(self, found: dict[str, Any]) -> Measurement | Failure:
        if "kind" in found:
            return Failure(found["kind"], found["text"])
        self._samples.append(found["disturbed"])
        return Measurement(cycles=found["cycles"], spread=found["spread"], way=found["way"], events=found["events"])

    def _ask(self, what: Any) -> Any:
        """What the measuring process answers; None if it ended, and another one is started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps(what) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            self._process = self._start()
            return None
        return json.loads(line)

    def close(self) -> None:
        """Ends the process, at once."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_AT_ONCE = 64
"""Loops in a question to the measuring process."""


def _job(loop: Loop) -> dict[str, Any]:
    return {
        "code": loop.code.hex(),
        "counter": loop.counter,
        "registers": loop.registers,
        "content": loop.content,
        "step": loop.step,
    }


def missing() -> str:
    """Why nothing can be measured here, empty if it can."""
    import importlib.util
    import platform

    if not sys.platform.startswith("linux"):
        return f"measuring needs Linux, not {sys.platform}"
    if platform.machine() not in ("x86_64", "aarch64"):
        return f"measuring needs an x86-64 processor, not {platform.machine()}"
    try:
        there = importlib.util.find_spec("llvmlite") is not None
    except (ImportError, ValueError):  # somebody's finder refuses it, or it was put in place by hand
        there = False
    if not there:
        return "measuring needs llvmlite (pip install llvmlite)"
    return ""


def measure(loops: Iterable[Loop]) -> Iterator[Measurement | Failure]:
    """The loops' cycles, in their order, each as soon as it is known. Raises Unavailable."""
    with Harness() as harness:
        for loop in loops:
            yield harness.measure(loop)
