"""Kernels, timed on the processor that this runs on: what runs is the kernel's own code (`Isa.runnable` says how)."""

from __future__ import annotations

import math
import platform
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from incc.frontends.isa import NotRunnable, isa, words
from incc.measuring import harness
from incc.measuring.harness import Failure, Loop
from incc.models.host import feature, read
from incc.models.loading import host_cpu_name

if TYPE_CHECKING:
    from incc.frontends.isa import ExitKind
    from incc.frontends.kernel import Kernel
    from incc.measuring.harness import Way


class Prepared(NamedTuple):
    """A kernel that can be run. `loops`: what is timed; `weights`: of their cycles in the sum that is an iteration's.
    `exit`, `notes`: see `incc.frontends.isa.Runnable`."""

    loops: tuple[Loop, ...]
    weights: tuple[float, ...]
    exit: ExitKind
    notes: tuple[str, ...]


class KernelMeasurement(NamedTuple):
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


def prepare(kernel: Kernel) -> Prepared | Failure:
    """A kernel made ready to run here, or why it cannot run."""
    machine = platform.machine()
    if MACHINES.get(machine) != kernel.isa:
        return Failure("isa", f"it is code for {kernel.isa}, and this machine is {machine}")
    found = isa(kernel.isa).runnable(kernel)
    if isinstance(found, NotRunnable):
        return Failure(found.kind, found.text)
    missing = lacking(found.features, read().features)
    if missing:
        return Failure("features", f"this processor does not have {' and '.join(missing)}")
    loops = [Loop(code, found.counter, found.registers, found.content, found.step) for code in found.codes]
    return Prepared(tuple(loops), found.weights, found.exit, found.notes)


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


def measure_kernels(kernels: Iterable[Kernel]) -> Iterator[KernelMeasurement | Failure]:
    """The cycles of kernels, in their order, or why there are none. Code that comes again is not timed again."""
    prepared = [prepare(kernel) for kernel in kernels]
    wanted = list(dict.fromkeys(loop for one in prepared if isinstance(one, Prepared) for loop in one.loops))
    results: dict[Loop, harness.Measurement | Failure] = {}
    timed = _timed(wanted)
    for one in prepared:
        if isinstance(one, Failure):
            yield one
            continue
        while any(loop not in results for loop in one.loops):
            results[wanted[len(results)]] = next(timed)
        yield _together(one, [results[loop] for loop in one.loops])


def _timed(loops: list[Loop]) -> Iterator[harness.Measurement | Failure]:
    """What the harness finds, and a failure each from where it fails itself."""
    done = 0
    why = "the measuring process ended"
    try:
        for found in harness.measure(loops) if loops else ():
            done += 1
            yield found
    except (harness.Unavailable, OSError) as error:
        why = " ".join(str(error).split())
    for _ in range(len(loops) - done):
        yield Failure("unavailable", why)


def _together(one: Prepared, found: list[harness.Measurement | Failure]) -> KernelMeasurement | Failure:
    times: list[harness.Measurement] = []
    for each in found:
        if isinstance(each, Failure):
            return each
        times.append(each)
    cycles = sum(weight * time.cycles for weight, time in zip(one.weights, times, strict=True))
    spread = math.hypot(*(weight * time.spread for weight, time in zip(one.weights, times, strict=True)))
    if one.exit == "added":
        cycles = min(cycles, times[0].cycles)  # nothing becomes faster by what is added
    # Of two times of little the one that is taken off may come out as the larger.
    return KernelMeasurement(max(cycles, 0.0), spread, times[0].way, one.exit, one.notes)


def host_core() -> str:
    """LLVM's name of the core that this runs on, "" if it is not known."""
    return host_cpu_name()
