"""The points at which streams are measured, and their figures.

A point is a loop, the bytes of all its arrays, and the number of cores that run it at the same time, each on arrays of
its own. All points are measured several times, each time in another random order, so that a busy minute does not fall
on all measurements of a point, and the fastest one counts: other work only makes loops slower.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import msgspec

from incc.measuring.harness import Unavailable, last_message
from incc.measuring.records import Records, StreamRecord, name
from incc.measuring.streams.loops import StreamLoop, loops
from incc.models.memory import MemoryLevel
from incc.support.isolated import isolated

SMALLEST = 8 << 10
"""Bytes of the shortest arrays."""
BEYOND = 4
"""Multiple of the last cache's size that the longest arrays have."""
ROUNDS = 3
"""Measurements of a point."""
SECONDS = 0.02
"""Time of a measurement on one core."""
SEVERAL = 5
"""The factor by which a measurement on several cores takes longer."""
_STARTING = 0.05
"""Seconds from sending jobs until several processes start together."""
_PER_GIB = 0.5
"""Seconds of the first pass through a GiB of arrays, before a measurement."""
MOST_SECONDS = 540
"""Time after which no further measurement begins."""


class StudyPoint(msgspec.Struct, frozen=True, order=True):
    """A loop on arrays of some size, on one core or several."""

    loop: StreamLoop
    bytes: int
    """Bytes of all its arrays, on each core."""
    cores: int = 1

    @property
    def seconds(self) -> float:
        """The estimated time of a measurement."""
        more = self.bytes / 2**30 * _PER_GIB
        return SECONDS * 1.3 + more if self.cores == 1 else SECONDS * SEVERAL * 1.5 + _STARTING + 2 * more


class StreamTime(msgspec.Struct, frozen=True, kw_only=True):
    """The time of a point."""

    cycles: float
    """Core cycles per cache line of each array."""
    spread: float
    """Cycles between the lower quartile and the median of the samples."""
    disturbed: float
    """The share of samples during which something else ran on the core."""
    ghz: float
    """The core's clock."""


class StreamMachine(Protocol):
    """A machine that streams through arrays: `HostStreams`, or a simulation."""

    cores: int

    def measure(self, point: StudyPoint) -> StreamTime: ...

    def close(self) -> None: ...


def points(
    levels: Sequence[MemoryLevel], bits: Sequence[int], cores: int, quick: bool, most: int = 0
) -> list[StudyPoint]:
    """Return the points to measure on a machine.

    Args:
        levels: Its caches.
        bits: The widths of its vectors.
        cores: The number of its cores.
        quick: Leave out all vectors but the widest, and sizes between powers of two.
        most: The most bytes on each core; 0 for no limit.
    """
    last = levels[-1].size or SMALLEST
    longest = BEYOND * last
    if most:
        longest = min(longest, most)
    sizes = list(_sizes(longest, quick))
    widest = max(bits)
    result = [StudyPoint(loop, size) for loop in loops([widest] if quick else bits) for size in sizes]
    if cores > 1:
        shared = [size for size in _sizes(longest, True) if size > SMALLEST]
        result += [StudyPoint(loop, size, cores) for loop in loops([widest]) for size in shared]
    return result


def _sizes(longest: int, quick: bool) -> Iterator[int]:
    size = SMALLEST
    while size <= longest:
        yield size
        if not quick and size + size // 2 <= longest:
            yield size + size // 2
        size *= 2


def order(items: Iterable[StudyPoint], number: int) -> list[StudyPoint]:
    """Return the points in the random order of a round, the same for each run."""
    shuffled = sorted(items)
    random.Random(number).shuffle(shuffled)
    return shuffled


class HostStreams:
    """The processes that stream through arrays on this machine, of an instruction set, one on each CPU."""

    def __init__(self, isa: str, cpus: Sequence[int], most_bytes: int) -> None:
        self.cores = len(cpus)
        self._isa = isa
        self._cpus = list(cpus)
        self._bytes = most_bytes
        self._processes: list[subprocess.Popen[str]] = []

    def close(self) -> None:
        """End the processes at once."""
        for process in self._processes:
            process.kill()
            process.communicate()
        self._processes = []

    def _start(self, cpu: int) -> subprocess.Popen[str]:
        arguments = {"cpu": cpu, "bytes": self._bytes, "parent": os.getpid()}
        return subprocess.Popen(
            [*isolated("incc.measuring.streams.server"), json.dumps(arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def measure(self, point: StudyPoint) -> StreamTime:
        """Measure a point; with several cores, return the mean of their times. Raises Unavailable."""
        while len(self._processes) < point.cores:
            process = self._start(self._cpus[len(self._processes)])
            self._processes.append(process)
            self._answer(process)
        job: dict[str, Any] = {
            "code": point.loop.function(self._isa).hex(),
            "arrays": point.loop.arrays,
            "bytes": point.bytes,
            "seconds": SECONDS,
        }
        chosen = self._processes[: point.cores]
        if point.cores > 1:
            job["seconds"] = SECONDS * SEVERAL
            job["start"] = time.monotonic() + _STARTING + _PER_GIB * point.bytes / 2**30
        for process in chosen:
            assert process.stdin is not None
            try:
                process.stdin.write(json.dumps(job) + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # `_answer` reports the end of the process
        answers = [self._answer(process) for process in chosen]
        mean = {name: sum(answer[name] for answer in answers) / len(answers) for name in StreamTime.__struct_fields__}
        return StreamTime(**mean)

    def _answer(self, process: subprocess.Popen[str]) -> dict[str, float]:
        assert process.stdout is not None
        line = process.stdout.readline()
        if not line:
            raise Unavailable(f"the process that streams through arrays ended: {last_message(process)}")
        answer: dict[str, float] = json.loads(line)
        return answer


class Plan(msgspec.Struct, frozen=True):
    """The points to measure."""

    points: list[StudyPoint]
    rounds: int
    """The number of times that each point is measured."""

    @property
    def measurements(self) -> int:
        return len(self.points) * self.rounds

    @property
    def seconds(self) -> float:
        """The estimated time."""
        return self.rounds * sum(point.seconds for point in self.points)


def plan(levels: Sequence[MemoryLevel], bits: Sequence[int], cores: int, quick: bool, most: int = 0) -> Plan:
    """Return the points to measure (`points`), and as many rounds as there is time for."""
    chosen = points(levels, bits, cores, quick, most)
    rounds = 1 if quick else ROUNDS
    while rounds > 1 and Plan(chosen, rounds).seconds > MOST_SECONDS:
        rounds -= 1
    return Plan(chosen, rounds)


def remaining(wanted: Plan, records: Records) -> Plan:
    """Return the planned measurements that `records` lack, as one round."""
    numbers = range(wanted.rounds)
    return Plan([p for n in numbers for p in wanted.points if name(_identity(p, n)) not in records.done], 1)


def run(machine: StreamMachine, wanted: Plan, records: Records) -> Iterator[StreamRecord]:
    """Measure the planned points, except for those in `records`, and yield a record for each.

    No measurement begins after MOST_SECONDS.
    """
    end = time.monotonic() + MOST_SECONDS
    for number in range(wanted.rounds):
        for point in order(wanted.points, number):
            record = records.done.get(name(_identity(point, number)))
            if record is None:
                if time.monotonic() > end:
                    return
                measured = machine.measure(point)
                figures = {field: round(getattr(measured, field), 4) for field in StreamTime.__struct_fields__}
                record = {**_identity(point, number), **figures}
                records.add(record)
            yield msgspec.convert(record, StreamRecord)


def _identity(point: StudyPoint, number: int) -> dict[str, Any]:
    """Return the fields of a record that name the measurement of a point in a round."""
    loop = point.loop
    return {
        "stream": loop.name,
        "bits": loop.bits,
        "non_temporal": loop.non_temporal,
        "bytes": point.bytes,
        "cores": point.cores,
        "round": number,
    }


def fastest(records: Iterable[StreamRecord]) -> dict[StudyPoint, float]:
    """Return the least cycles of each point."""
    best: dict[StudyPoint, float] = {}
    for each in records:
        point = StudyPoint(StreamLoop(each.stream, each.bits, each.non_temporal), each.bytes, each.cores)
        best[point] = min(each.cycles, best.get(point, each.cycles))
    return best
