"""Kernels, timed on this processor: the kernel's own code runs (`Isa.runnable` describes the method)."""

from __future__ import annotations

import itertools
import math
import platform
from collections.abc import Callable, Iterable, Iterator

import msgspec
from msgspec.structs import replace

from incc.frontends.isa import APART, ExitKind, NotRunnable, Placement, isa, words
from incc.frontends.kernel import KernelCode
from incc.measuring import harness
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement, Way
from incc.models.processors.host import feature, read


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that can be run."""

    loops: tuple[MachineLoop, ...]
    """The loops to time."""
    weights: tuple[float, ...]
    """The factor of each loop's cycles in the sum that gives an iteration's cycles."""
    exit: ExitKind
    """The way the kernel's exit was replaced; see `incc.frontends.isa.Runnable`."""
    notes: tuple[str, ...]
    """Differences from the program; see `incc.frontends.isa.Runnable`."""
    jumps: int = 1
    """The jumps that are taken in an iteration."""


class KernelMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel's measured cycles."""

    cycles: float
    """Cycles per iteration."""
    spread: float
    """The spread between undisturbed samples, in cycles per iteration."""
    way: Way
    """The source of the time: performance counters or the time-stamp counter."""
    exit: ExitKind
    """The way the kernel's exit was replaced; see `incc.frontends.isa.Runnable`."""
    notes: tuple[str, ...]
    """Differences from the program; see `incc.frontends.isa.Runnable`."""


MACHINES = {"x86_64": "x86", "AMD64": "x86", "aarch64": "aarch64", "arm64": "aarch64"}
"""The instruction sets of machines, by the names that systems give them."""

# Features of computing instructions, which a processor reports reliably, unlike the rest (CMOV, MSR …).
_COMPUTING = tuple(
    words(
        "sse ssse avx amx bmi fma f16c gfni vaes aes vpclmul pclmul sha adx popcnt lzcnt movbe xop tbm lwp kl widekl"
        " sm3 sm4 cmpccxadd raoint"
    )
)


def prepare(
    kernel: KernelCode, there: frozenset[str] | None = None, placement: Placement = APART
) -> Prepared | LoopFailure:
    """Return a kernel ready to run here, or the reason why it cannot run.

    Args:
        kernel: the kernel.
        there: this processor's features as `host.read` returns them; read if not given.
        placement: the places of its arrays.
    """
    machine = platform.machine()
    if MACHINES.get(machine) != kernel.isa:
        return LoopFailure("isa", f"it is code for {kernel.isa}, and this machine is {machine}")
    runnable = isa(kernel.isa).runnable(kernel, placement)
    if isinstance(runnable, NotRunnable):
        return LoopFailure(runnable.kind, runnable.text)
    missing = lacking(runnable.features, read().features if there is None else there)
    if missing:
        return LoopFailure("features", f"this processor does not have {' and '.join(missing)}")
    loops = [
        MachineLoop(
            code=code,
            counter=runnable.counter,
            registers=runnable.registers,
            content=runnable.content,
            memory=runnable.memory,
            step=runnable.step,
            first=runnable.first,
            trips=runnable.trips,
        )
        for code in runnable.codes
    ]
    return Prepared(
        loops=tuple(loops),
        weights=runnable.weights,
        exit=runnable.exit,
        jumps=runnable.jumps,
        notes=runnable.notes,
    )


_READINGS, _AGREEMENT, _LEAST = 6, 0.02, 0.02
"""The most readings of a loop, and the difference up to which two of them agree: relative, and in cycles."""
_SURE = 0.1
"""The relative spread of a reading up to which it need not be repeated."""
_TAKEN = 1.0
"""The cycles of a taken jump: no core before Zen 5 takes two in a cycle (Agner Fog, microarchitecture.pdf, 2024)."""
_ADDED = 1.0
"""The most cycles of a trip that an added counter costs."""


def timed(
    prepared: Prepared, measure: Callable[[MachineLoop], Measurement | LoopFailure]
) -> KernelMeasurement | LoopFailure:
    """Return the cycles of an iteration, from those of the loops that `measure` times.

    A figure that is less than its uncertainty is a failure: the loop takes another time in each run.
    """
    times: list[Measurement] = []
    for loop in prepared.loops:
        result = measure(loop)
        if isinstance(result, LoopFailure):
            return result
        times.append(result)
    cycles = sum(weight * time.cycles for weight, time in zip(prepared.weights, times, strict=True))
    spread = math.hypot(*(weight * time.spread for weight, time in zip(prepared.weights, times, strict=True)))
    if prepared.exit == "added":
        # An addition makes nothing faster, and adds only a µop and a chain of one cycle.
        cycles = min(cycles, times[0].cycles)
        cycles = max(cycles, times[0].cycles - _ADDED, min(_TAKEN * prepared.jumps, times[0].cycles))
    cycles = max(cycles, 0.0)  # the difference of two short times may be negative
    if spread >= cycles:
        return LoopFailure(
            "unsteady", f"its times do not repeat: {cycles:.2f} cycles in one sample, {spread:.2f} more in another"
        )
    return KernelMeasurement(cycles=cycles, spread=spread, way=times[0].way, exit=prepared.exit, notes=prepared.notes)


def agreed(loop: MachineLoop, measure: Callable[[MachineLoop], Measurement | LoopFailure]) -> Measurement | LoopFailure:
    """Measure a loop until two readings agree, and return the faster of them: under load single ones are wrong.

    Readings with a large spread were disturbed all the time, and agree with others only if there are no better ones. If
    no two agree, that is a failure.
    """
    readings: list[Measurement] = []
    for _ in range(_READINGS):
        reading = measure(loop)
        if isinstance(reading, LoopFailure):
            return reading
        readings.append(reading)
        sure = [each for each in readings if each.spread <= _SURE * each.cycles]
        if pair := _agreement(sure):
            return pair
    if pair := _agreement(readings):
        return pair
    cycles = ", ".join(f"{reading.cycles:.2f}" for reading in readings)
    return LoopFailure("unsteady", f"no two of {_READINGS} readings are within {100 * _AGREEMENT:.0f} %: {cycles}")


def _agreement(readings: list[Measurement]) -> Measurement | None:
    """Return the fastest reading that agrees with the next one, None without one."""
    ordered = sorted(readings, key=lambda reading: reading.cycles)
    for faster, slower in itertools.pairwise(ordered):
        apart = slower.cycles - faster.cycles
        if apart <= max(_AGREEMENT * faster.cycles, _LEAST):
            return replace(faster, spread=max(faster.spread, apart))
    return None


def lacking(needed: Iterable[str], there: frozenset[str]) -> list[str]:
    """Return the features of computing instructions that a processor lacks; none where nothing is known of it.

    `there` has the processor's features as `host.feature` spells them.
    """
    if not there:
        return []
    return sorted(
        name
        for name in needed
        if (plain := feature(name)).startswith(_COMPUTING) and not {plain, _ALSO.get(plain, plain)} & there
    )


_ALSO = {"sse3": "pni", "lzcnt": "abm", "bmi1": "bmi", "amxtile": "amxtile", "pclmulqdq": "pclmul"}
"""Other names that systems have for features."""


class Measurer:
    """A context manager that times kernels one by one; the harness starts when the first kernel can be run."""

    def __init__(self, unsafe: bool = False) -> None:
        self._unsafe = unsafe
        self._harness: harness.Harness | None = None
        self._known: dict[MachineLoop, Measurement | LoopFailure] = {}
        self._unavailable = ""
        self._there = read().features

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, *_: object) -> None:
        if self._harness is not None:
            self._harness.close()
        self._harness = None

    def measure(self, kernel: KernelCode, placement: Placement = APART) -> KernelMeasurement | LoopFailure:
        """Return the cycles of a kernel, or the reason why there are none. Repeated code is not timed again."""
        prepared = prepare(kernel, self._there, placement)
        return prepared if isinstance(prepared, LoopFailure) else timed(prepared, self._measure)

    def _measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
        if loop in self._known:
            return self._known[loop]
        if self._unavailable:
            return LoopFailure("unavailable", self._unavailable)
        try:
            if self._harness is None:
                self._harness = harness.Harness(unsafe=self._unsafe)
            self._known[loop] = agreed(loop, self._harness.measure)
        except (harness.Unavailable, OSError, RuntimeError, ValueError) as error:
            self._unavailable = " ".join(str(error).split()) or "the measuring process ended"
            return LoopFailure("unavailable", self._unavailable)
        return self._known[loop]


def measure_kernels(kernels: Iterable[KernelCode], unsafe: bool = False) -> Iterator[KernelMeasurement | LoopFailure]:
    """Yield the cycles of each kernel in order, or the reason why there are none; for `unsafe` see `Harness`."""
    with Measurer(unsafe) as measurer:
        for kernel in kernels:
            yield measurer.measure(kernel)
