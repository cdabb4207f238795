"""Kernels, timed on the processor that this runs on: what runs is the kernel's own code (`Isa.runnable` says how)."""

from __future__ import annotations

import math
import platform
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec

from incc.frontends.isa import NotRunnable, isa, words
from incc.measuring import harness
from incc.measuring.harness import Failure, Loop
from incc.models.processors.host import feature, read

if TYPE_CHECKING:
    from incc.frontends.isa import ExitKind
    from incc.frontends.kernel import Kernel
    from incc.measuring.harness import Way


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel that can be run. `loops`: what is timed; `weights`: of their cycles in the sum that is an iteration's.
    `exit`, `notes`: see `incc.frontends.isa.Runnable`."""

    loops: tuple[Loop, ...]
    weights: tuple[float, ...]
    exit: ExitKind
    notes: tuple[str, ...]


class KernelMeasurement(msgspec.Struct, frozen=True, kw_only=True):
    """`cycles` an iteration, and their `spread` between undisturbed samples. `way`: how time was had. `exit`, `notes`:
    see `incc.frontends.isa.Runnable`."""

    cycles: float
    spread: float
    way: Way
    exit: ExitKind
    notes: tuple[str, ...]


MACHINES = {"x86_64": "x86", "AMD64": "x86", "aarch64": "aarch64", "arm64": "aarch64"}
"""The instruction sets of machines, by the names that systems give them."""

# Features of computing instructions: which of them a processor has is known for sure, of the rest (CMOV, MSR …) not.
_COMPUTING = tuple(
    words(
        "sse ssse avx amx bmi fma f16c gfni vaes aes vpclmul pclmul sha adx popcnt lzcnt movbe xop tbm lwp kl widekl"
        " sm3 sm4 cmpccxadd raoint"
    )
)


def prepare(kernel: Kernel, there: frozenset[str] | None = None) -> Prepared | Failure:
    """A kernel made ready to run here, or why it cannot run. `there`: what this processor has, as `host.read` says,
    which is asked if that is not given."""
    machine = platform.machine()
    if MACHINES.get(machine) != kernel.isa:
        return Failure("isa", f"it is code for {kernel.isa}, and this machine is {machine}")
    found = isa(kernel.isa).runnable(kernel)
    if isinstance(found, NotRunnable):
        return Failure(found.kind, found.text)
    missing = lacking(found.features, read().features if there is None else there)
    if missing:
        return Failure("features", f"this processor does not have {' and '.join(missing)}")
    loops = [
        Loop(code=code, counter=found.counter, registers=found.registers, content=found.content, step=found.step)
        for code in found.codes
    ]
    return Prepared(loops=tuple(loops), weights=found.weights, exit=found.exit, notes=found.notes)


def together(prepared: Prepared, times: Sequence[harness.Measurement]) -> tuple[float, float]:
    """The cycles of an iteration and their spread, from those of the loops."""
    cycles = sum(weight * time.cycles for weight, time in zip(prepared.weights, times, strict=True))
    spread = math.hypot(*(weight * time.spread for weight, time in zip(prepared.weights, times, strict=True)))
    if prepared.exit == "added":
        cycles = min(cycles, times[0].cycles)  # nothing becomes faster by what is added
    # Of two times of little the one that is taken off may come out as the larger.
    return max(cycles, 0.0), spread


def unsteady(cycles: float, spread: float) -> Failure | None:
    """Why a figure is none, if what it may be off by is all of it: a loop that takes another time whenever it runs."""
    if spread < cycles:
        return None
    return Failure(
        "unsteady", f"its times do not repeat: {cycles:.2f} cycles in one sample, {spread:.2f} more in another"
    )


def lacking(needed: Iterable[str], there: frozenset[str]) -> list[str]:
    """The features of computing instructions that a processor (its `there` as `host.feature` spells them) lacks. None
    do, where nothing is known of it."""
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
    """Times kernels one by one, as a context manager; what times them is started when the first one can be run."""

    def __init__(self) -> None:
        self._waiting: deque[Loop] = deque()
        self._results: Generator[harness.Measurement | Failure] | Iterator[harness.Measurement | Failure] | None = None
        self._known: dict[Loop, harness.Measurement | Failure] = {}
        self._unavailable = ""
        self._there = read().features

    def __enter__(self) -> Measurer:
        return self

    def __exit__(self, *_: object) -> None:
        if isinstance(self._results, Generator):
            self._results.close()
        self._results = None

    def measure(self, kernel: Kernel) -> KernelMeasurement | Failure:
        """The cycles of a kernel, or why there are none. Code that comes again is not timed again."""
        prepared = prepare(kernel, self._there)
        if isinstance(prepared, Failure):
            return prepared
        times: list[harness.Measurement] = []
        for loop in prepared.loops:
            found = self._timed(loop)
            if isinstance(found, Failure):
                return found
            times.append(found)
        cycles, spread = together(prepared, times)
        if failure := unsteady(cycles, spread):
            return failure
        return KernelMeasurement(
            cycles=cycles, spread=spread, way=times[0].way, exit=prepared.exit, notes=prepared.notes
        )

    def _timed(self, loop: Loop) -> harness.Measurement | Failure:
        if loop in self._known:
            return self._known[loop]
        if self._unavailable:
            return Failure("unavailable", self._unavailable)
        self._waiting.append(loop)
        try:
            if self._results is None:
                self._results = iter(harness.measure(self._loops()))
            found = next(self._results)
        except (harness.Unavailable, OSError, RuntimeError, ValueError, StopIteration) as error:
            self._unavailable = " ".join(str(error).split()) or "the measuring process ended"
            return Failure("unavailable", self._unavailable)
        self._known[loop] = found
        return found

    def _loops(self) -> Iterator[Loop]:
        while True:
            yield self._waiting.popleft()


def measure_kernels(kernels: Iterable[Kernel]) -> Iterator[KernelMeasurement | Failure]:
    """The cycles of kernels, in their order, or why there are none."""
    with Measurer() as measurer:
        for kernel in kernels:
            yield measurer.measure(kernel)
