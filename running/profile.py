"""Reads the files that programs with probes write (runtime/probe.c has their format)."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from math import sqrt

import msgspec

from incc.running.plan import LoopDescription
from incc.support.errors import AnalysisError
from incc.support.files import read_regular

_PAGE = 4096
_HEADER = struct.Struct("<8s6QQ2Q3Q3Q3Q1024s")
_PART = struct.Struct("<8s3Q")
_THREAD = struct.Struct("<4Q64x")
_LOOP = struct.Struct("<qQQQ96x")
_RECORD_SIZE = 3232
_SUMS = struct.Struct("<15Q4q")
_BUCKETS, _BUCKET_COUNT = 224, 40
_BUCKET = struct.Struct("<3Q")
_EXAMPLES, _EXAMPLE_COUNT = 1184, 16
_EXAMPLE = struct.Struct("<3Q8Q")
_MODULE_PART, _THREAD_PART, _RECORDS_PART = 1, 2, 3
_LARGEST = 1 << 31
_MOST_LOOPS = 1 << 20
"""The most loops of a module: text of a damaged file may have any number of lines."""


class ProfileError(AnalysisError):
    """A file is not a profile of a program with probes. The message names the file and says why."""


class LoopSample(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a loop as it was."""

    iterations: int
    ticks: int
    values: dict[str, int]
    """The values of registers at the entry."""
    process: str = ""
    """The file of its process. Each process has addresses of its own."""


class Trips(msgspec.Struct, frozen=True, kw_only=True):
    """The entries of a loop with a similar number of iterations."""

    least: int
    most: int
    """The range of iterations."""
    entries: float
    iterations: float
    ticks: float


class LoopProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a loop's probes. Numbers from samples are scaled to all entries."""

    loop: LoopDescription
    module: str
    """The path of the program or library that the loop is in."""
    entries: int
    """Exact."""
    samples: int
    lost: int
    """Samples whose exit was not seen: the loop was left by an exception or longjmp."""
    nested: float
    """Entries within an entry, by recursion, on average."""
    disturbed: int
    """Samples that are left out because another process may have run meanwhile."""
    iterations: float
    iterations_error: float
    """The standard error."""
    ticks: float
    """Ticks of the time-stamp counter in the loop, summed over all threads. With recursion, they count once."""
    ticks_error: float
    """The standard error."""
    done_ticks: float
    """Ticks until all work of the entries had ended, for loops with short entries; 0 if unknown."""
    faults: float
    """Page faults within the loop."""
    fault_ticks: float
    """The ticks that these take, from the time of one as measured on the host."""
    sides: dict[int, float]
    """The number of times that sides of branches ran, by the line of the assembly that counts them."""
    trips: tuple[Trips, ...]
    """By the number of iterations, ascending."""
    examples: tuple[LoopSample, ...]
    """Some of the samples, each of which had the same chance to be among them."""


class ProgramProfile(msgspec.Struct, frozen=True, kw_only=True):
    """The record of a process."""

    path: str
    """The file."""
    program: str
    process: int
    is_complete: bool
    """The process has ended by itself, not by a signal or `_exit`."""
    seconds: float
    """The processor time of the process, 0 if it is not complete."""
    ticks: int
    """The processor time in ticks of the time-stamp counter, 0 if it is not complete."""
    cycles_per_tick: float
    """Cycles of the core in a tick of the time-stamp counter, from chains of additions; 0 if unknown."""
    clock_change: float
    """The rate at the end as a multiple of the rate at the start; 0 if the process did not end by itself."""
    unsampled_cost: float
    """Ticks that an entry and its exit take if they are not sampled."""
    sampled_cost: float
    """Ticks that they take as a sample."""
    loops: tuple[LoopProfile, ...]
    """The loops that were entered, the longest first."""


def read_profile(path: str) -> ProgramProfile:
    """Read the profile of a process, which may still run. Raises ProfileError and OSError."""
    data = read_regular(path, _LARGEST)
    if len(data) < _PAGE:
        raise ProfileError(f"{path}: not a profile of a program with probes (it has {len(data):,} bytes)")
    header = _HEADER.unpack_from(data)
    magic, _, process, start, end, _, time, additions, first, last, _, sampled, counted = header[:13]
    _, _, fault_ticks, start_clock, end_clock, record_size, program = header[13:]
    if magic != b"inccprb2":
        raise ProfileError(f"{path}: not a profile of a program with probes")
    if record_size != _RECORD_SIZE:
        raise ProfileError(f"{path}: written by probes of another version of incc; build the program again")
    rates = [additions / ticks for ticks in (first, last) if ticks]
    return ProgramProfile(
        path=path,
        program=program.split(b"\0")[0].decode("utf-8", "surrogateescape"),
        process=process,
        is_complete=end > 0,
        seconds=time / 1e9,
        ticks=round(time * (end - start) / (end_clock - start_clock)) if end and end_clock > start_clock else 0,
        cycles_per_tick=sum(rates) / len(rates) if rates else 0,
        clock_change=first / last if first and last else 0,
        unsampled_cost=counted / 1024,
        sampled_cost=float(sampled),
        loops=tuple(sorted(_loops(path, data, fault_ticks), key=lambda loop: -loop.ticks)),
    )


def _parts(data: bytes) -> Iterator[tuple[int, int, int, int]]:
    """Yield the kind, the module, and the bounds of each part."""
    at = _PAGE
    while at + _PART.size <= len(data):
        magic, size, kind, module = _PART.unpack_from(data, at)
        if magic == b"inccpart" and _PART.size <= size <= len(data) - at:
            yield kind, module, at, at + size
            at += -(-size // _PAGE) * _PAGE
        else:
            at += _PAGE


class _Sums:
    """The sums of a loop's records over all threads."""

    def __init__(self) -> None:
        self.entries = 0
        self.samples = self.lost = self.disturbed = self.weights = self.weight_squares = 0
        self.faults = self.nested = self.tick_squares = self.iteration_squares = 0
        self.done_weights = self.done_ticks = 0
        self.moved = [0] * 4
        self.buckets = [[0, 0, 0] for _ in range(_BUCKET_COUNT)]
        self.examples: list[tuple[int, ...]] = []


def _loops(path: str, data: bytes, fault_ticks: int) -> Iterator[LoopProfile]:
    modules: dict[int, list[str]] = {}
    sums: dict[tuple[int, int], _Sums] = {}
    for kind, module, start, end in _parts(data):
        if kind == _MODULE_PART:
            text = data[start + _PART.size : end].rstrip(b"\0")
            modules[module] = text.decode("utf-8", "surrogateescape").split("\n", _MOST_LOOPS)
        elif kind == _THREAD_PART:
            # The part of a module, which comes first, has a line for each loop and one for itself.
            places = range(start + _PART.size + _THREAD.size, end - _LOOP.size + 1, _LOOP.size)
            for number, at in enumerate(places[: max(len(modules.get(module, ())) - 1, 0)]):
                count, _, _, planned = _LOOP.unpack_from(data, at)
                sums.setdefault((module, number), _Sums()).entries += max(planned + count, 0)
        elif kind == _RECORDS_PART:
            for at in range(start + _PART.size, end - _RECORD_SIZE + 1, _RECORD_SIZE):
                number = struct.unpack_from("<Q", data, at)[0]
                if 0 < number < len(modules.get(module, ())):
                    _add(sums.setdefault((module, number - 1), _Sums()), data, at)
    for (module, number), of_loop in sums.items():
        lines = modules.get(module, [])
        line = lines[number + 1] if number + 1 < len(lines) else ""
        if line and of_loop.entries:
            try:
                description = msgspec.json.decode(line.encode("utf-8", "surrogateescape"), type=LoopDescription)
            except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
                raise ProfileError(f"{path}: damaged description of a loop: {error}") from error
            yield _profile(path, description, lines[0], of_loop, fault_ticks)


def _add(to: _Sums, data: bytes, at: int) -> None:
    _, samples, lost, disturbed, weights, squares, _, faults, *high_and_low = _SUMS.unpack_from(data, at)
    t_low, t_high, i_low, i_high, nested, done_weights, done_ticks, *moved = high_and_low
    to.nested += nested
    to.done_weights += done_weights
    to.done_ticks += done_ticks
    to.moved = [a + b for a, b in zip(to.moved, moved, strict=True)]
    to.samples += samples
    to.lost += lost
    to.disturbed += disturbed
    to.weights += weights
    to.weight_squares += squares
    to.faults += faults
    to.tick_squares += t_low + (t_high << 64)
    to.iteration_squares += i_low + (i_high << 64)
    for number, bucket in enumerate(to.buckets):
        of_thread = _BUCKET.unpack_from(data, at + _BUCKETS + number * _BUCKET.size)
        to.buckets[number] = [a + b for a, b in zip(bucket, of_thread, strict=True)]
    for number in range(min(samples, _EXAMPLE_COUNT)):
        to.examples.append(_EXAMPLE.unpack_from(data, at + _EXAMPLES + number * _EXAMPLE.size))


def _profile(path: str, loop: LoopDescription, module: str, sums: _Sums, fault_ticks: int) -> LoopProfile:
    scale = sums.entries / sums.weights if sums.weights else 0.0
    # What an entry took is shared equally with the entries within it. Iterations in memory are counted in the same way.
    shared = scale * sums.weights / (sums.weights + sums.nested) if sums.nested else scale
    of_iterations = shared if loop.counted else scale
    iterations = sum(bucket[1] for bucket in sums.buckets) * of_iterations
    ticks = sum(bucket[2] for bucket in sums.buckets) * shared
    # If all entries are samples, nothing is estimated.
    share_of_error = sqrt(sums.weight_squares) / sums.weights if sums.samples < sums.entries and sums.weights else 0.0
    return LoopProfile(
        loop=loop,
        module=module,
        entries=sums.entries,
        samples=sums.samples,
        lost=sums.lost,
        nested=sums.nested / sums.weights if sums.weights else 0.0,
        disturbed=sums.disturbed,
        iterations=iterations,
        iterations_error=_error(sums, iterations, sums.iteration_squares, share_of_error),
        ticks=ticks,
        ticks_error=_error(sums, ticks, sums.tick_squares, share_of_error),
        done_ticks=sums.done_ticks / sums.done_weights * sums.entries if sums.done_weights else 0.0,
        faults=sums.faults * shared,
        fault_ticks=sums.faults * shared * fault_ticks,
        sides={s.line: moved * scale / s.step for s, moved in zip(loop.sides, sums.moved, strict=False) if s.step},
        trips=tuple(_trips(sums.buckets, scale, of_iterations, shared)),
        examples=tuple(
            LoopSample(iterations=e[1], ticks=e[2], values=dict(zip(loop.registers, e[3:], strict=False)), process=path)
            for e in sums.examples
        ),
    )


def _error(sums: _Sums, total: float, squares: int, share: float) -> float:
    """Return the standard error of a total, from the weighted variance of the samples."""
    if not share or not sums.weights:
        return 0.0
    mean = total / sums.entries
    variance = max(squares / sums.weights - mean * mean, 0.0)
    return sums.entries * sqrt(variance) * share


def _trips(buckets: Iterable[list[int]], of_entries: float, of_iterations: float, of_ticks: float) -> Iterator[Trips]:
    for number, (entries, iterations, ticks) in enumerate(buckets):
        if entries:
            least, most = (1 << number - 1, (1 << number) - 1) if number else (0, 0)
            yield Trips(
                least=least,
                most=most,
                entries=entries * of_entries,
                iterations=iterations * of_iterations,
                ticks=ticks * of_ticks,
            )
