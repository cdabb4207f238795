from collections.abc import Callable
from fractions import Fraction

from incc.core import Analysis, Bounds, Chain, Edge, Event, Simulation, StartedUop, Step
from incc.models.bound import BoundKernel

def analyze(
    bound: BoundKernel,
    fraction: Callable[[int, int], Fraction],
    edge: type[Edge],
    step: type[Step],
    chain: type[Chain],
    analysis: type[Analysis],
) -> Analysis: ...
def bounds(bound: BoundKernel, fraction: Callable[[int, int], Fraction], bounds: type[Bounds]) -> Bounds: ...
def bounds_and_simulation(
    bound: BoundKernel,
    loop: bool,
    fraction: Callable[[int, int], Fraction],
    event: type[Event],
    uop: type[StartedUop],
    bounds: type[Bounds],
    simulation: type[Simulation],
) -> tuple[Bounds, Simulation]: ...
def timeline(bound: BoundKernel, iterations: int, max_cycles: int, event: type[Event]) -> tuple[Event, ...]: ...
def simulate(
    bound: BoundKernel,
    loop: bool,
    alignment: int,
    iterations: int,
    max_cycles: int,
    record: bool,
    every_cycle: bool,
    unlimited_ports: bool,
    no_register_dependencies: bool,
    no_memory_dependencies: bool,
    fraction: Callable[[int, int], Fraction],
    event: type[Event],
    started_uop: type[StartedUop],
    simulation: type[Simulation],
) -> Simulation: ...
