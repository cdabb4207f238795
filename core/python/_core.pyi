from fractions import Fraction

from incc.core import Analysis, Chain, Edge, Event, Simulation, StartedUop, Step
from incc.models.bound import BoundKernel

def analyze(
    bound: BoundKernel,
    fraction: type[Fraction],
    edge: type[Edge],
    step: type[Step],
    chain: type[Chain],
    analysis: type[Analysis],
) -> Analysis: ...
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
    fraction: type[Fraction],
    event: type[Event],
    started_uop: type[StartedUop],
    simulation: type[Simulation],
) -> Simulation: ...
