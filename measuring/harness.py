"""The timing of loops of machine code on this machine.

The timing code is compiled just in time from LLVM's intermediate representation with inline assembly, so no compiler is
needed. Each loop runs in a forked child, which catches faults and has a limit of time.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol

import msgspec
from msgspec.structs import asdict

from incc.support.isolated import isolated
from incc.support.text import Printable


class MachineLoop(msgspec.Struct, frozen=True, kw_only=True):
    """Machine code that runs as a loop.

    Memory is mapped when the code touches it, within bounds.
    """

    code: bytes
    """All of the loop; its last instruction jumps to its start so often as the first value of `counter` says."""
    counter: int
    """The number of the general-purpose register (0 is rax, 15 is r15) that starts at `first` + `step` * trips."""
    registers: tuple[int, ...]
    """The first values of the sixteen general-purpose registers."""
    content: int
    """The 64-bit word that fills memory and vector registers."""
    memory: tuple[int, ...] = ()
    """The words that memory repeats instead, from the start of each page: a power of two, at most 512."""
    step: int = 1
    first: int = 0
    trips: int = 0
    """The most trips that surely stay in the first-level cache, however many pages they touch; 0 if unknown."""


Way = Literal["clock", "counters"]


class Measurement(msgspec.Struct, frozen=True, kw_only=True):
    """A loop's measured cycles."""

    cycles: float
    """Core cycles per trip."""
    spread: float
    """The spread between undisturbed samples, in cycles per trip."""
    way: Way
    """The source of the time: the time-stamp counter with a chain of dependent additions, or performance counters."""
    events: dict[str, float]
    """Counts of performance counters per trip, by name; empty without them."""


class LoopFailure(msgspec.Struct, frozen=True):
    """The reason why a loop could not be measured."""

    kind: Printable
    """A signal's name, "timeout", "address", "stride" …"""
    text: Printable
    """The reason in words."""

    @property
    def is_transient(self) -> bool:
        """True if the machine may be the cause, not the loop, which then may succeed the next time."""
        return self.kind in ("timeout", "harness", "killed", "unsteady")


class Unavailable(Exception):
    """Nothing can be measured here: another system or processor, llvmlite is missing, or loops cannot be confined."""


def server_command() -> list[str]:
    """Return the command of the process that runs loops."""
    return isolated("incc.measuring.server")


class Machine(Protocol):
    """A machine that runs loops: `Harness`, or a simulation."""

    def measure(self, loop: MachineLoop) -> Measurement | LoopFailure: ...

    def measure_all(self, loops: Sequence[MachineLoop]) -> list[Measurement | LoopFailure]:
        """Measure several loops, in less time and less exactly."""
        ...


class Harness:
    """The process that runs loops (server.py), as a context manager.

    With `counters`, performance counters are tried; `events` are raw events to count as well, by name. `busy` is the
    share of samples during which something else ran. `counters_missing` is the reason for missing counters, empty if
    there are any. `unsafe` permits measurements if the kernel cannot keep loops from files and other processes. Raises
    Unavailable.
    """

    def __init__(self, counters: bool = True, events: Mapping[str, int] | None = None, unsafe: bool = False) -> None:
        self._arguments = {
            "counters": counters,
            "events": dict(events or {}),
            "parent": os.getpid(),
            "unsafe": unsafe,
        }
        self._samples: list[float] = []
        self.counters_missing = ""
        self._process = self._start()

    @property
    def busy(self) -> float:
        return sum(self._samples) / len(self._samples) if self._samples else 0.0

    def _start(self) -> subprocess.Popen[str]:
        if why := missing():
            raise Unavailable(why)
        # A session of its own, so that an interruption at the terminal first ends this process, which has the results.
        process = subprocess.Popen(
            [*server_command(), json.dumps(self._arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise Unavailable(f"the measuring process does not start: {last_message(process)}")
        ready = json.loads(line)
        if not ready["confines"] and not self._arguments["unsafe"]:
            process.kill()
            process.wait()
            raise Unavailable(
                "this system cannot isolate measured code from files and other processes (no seccomp); "
                "--unsafe measures anyway"
            )
        self.counters_missing = ready["counters"]
        return process

    def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
        """Measure a loop's cycles.

        If the measuring process ends, that is the loop's failure, and another one is started.
        """
        answers = self._ask([loop])
        return answers[0] if answers else LoopFailure("harness", "the measuring process ended")

    def measure_all(self, loops: Sequence[MachineLoop]) -> list[Measurement | LoopFailure]:
        """Measure rough cycles of loops in their order, several in one child. Raises Unavailable.

        This takes a tenth of the time, and is good to a few per cent where the spread says so.
        """
        results: list[Measurement | LoopFailure] = []
        while len(results) < len(loops):
            some = loops[len(results) : len(results) + _AT_ONCE]
            # If the process ended, running each alone shows which one it was.
            results += self._ask(some, rough=True) or [self.measure(loop) for loop in some]
        return results

    def _understood(self, answer: dict[str, Any]) -> Measurement | LoopFailure:
        if "kind" in answer:
            return LoopFailure(**answer)
        self._samples.append(answer.pop("disturbed"))
        return Measurement(**answer)

    def _ask(self, loops: Sequence[MachineLoop], rough: bool = False) -> list[Measurement | LoopFailure]:
        """Return the measuring process's answers; none if it ended, and another one is started."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        jobs = [{**asdict(loop), "code": loop.code.hex(), "rough": rough} for loop in loops]
        try:
            self._process.stdin.write(json.dumps(jobs) + "\n")
            self._process.stdin.flush()
            line = self._process.stdout.readline()
        except BrokenPipeError:
            line = ""
        if not line:
            self.close()
            self._process = self._start()
            return []
        return [self._understood(answer) for answer in json.loads(line)]

    def close(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.communicate()

    def __enter__(self) -> Harness:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


_AT_ONCE = 64
"""Loops in a question to the measuring process."""


def last_message(process: subprocess.Popen[str]) -> str:
    """Return the last line that a process which has ended wrote to standard error."""
    assert process.stderr is not None
    lines = process.stderr.read().strip().splitlines()
    return lines[-1] if lines else "it wrote no message"


def missing() -> str:
    """Return why nothing can be measured here, or "" if it can."""
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
