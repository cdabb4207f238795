from collections.abc import Callable
from fractions import Fraction

from incc.core import (
    Analysis,
    Bounds,
    Chain,
    Edge,
    Event,
    Mappings,
    PathStep,
    Pressure,
    SequenceStep,
    Simulation,
    StartedUop,
    Statistics,
    Stream,
    UopInput,
    Usage,
    WaitSums,
)
from incc.core.counters import LostSlots, UopsBySource
from incc.models.binding.bound import BoundKernel

_SimulationClasses = tuple[
    Callable[[int, int], Fraction],
    type[Event],
    type[StartedUop],
    type[UopInput],
    type[UopsBySource],
    type[LostSlots],
    type[Simulation],
    type[Statistics],
    type[Usage],
    type[Mappings],
    type[WaitSums],
    type[Pressure],
    type[SequenceStep],
]

def analyze(
    bound: BoundKernel,
    fraction: Callable[[int, int], Fraction],
    edge: type[Edge],
    step: type[PathStep],
    chain: type[Chain],
    stream: type[Stream],
    analysis: type[Analysis],
) -> Analysis: ...
def bounds(bound: BoundKernel, fraction: Callable[[int, int], Fraction], bounds: type[Bounds]) -> Bounds: ...
def bounds_and_simulation(
    bound: BoundKernel, loop: bool, bounds: type[Bounds], classes: _SimulationClasses
) -> tuple[Bounds, Simulation]: ...
def cold_run(
    bound: BoundKernel,
    ideal: bool,
    loop: bool,
    iterations: int,
    event_iterations: int,
    event_cycles: int,
    pressure: bool,
    every_cycle: bool,
    buffers: list[tuple[int, int]],
    classes: _SimulationClasses,
) -> Simulation: ...
def defaults() -> tuple[dict[str, int], dict[str, int]]: ...
def simulate(
    bound: BoundKernel,
    ideal: bool,
    loop: bool,
    alignment: int,
    iterations: int,
    max_cycles: int,
    record: bool,
    every_cycle: bool,
    unlimited_ports: bool,
    no_register_dependencies: bool,
    no_memory_dependencies: bool,
    classes: _SimulationClasses,
) -> Simulation: ...
def set_deadline(seconds: float) -> None: ...
def streams(bound: BoundKernel, stream: type[Stream]) -> tuple[Stream, ...]: ...
