from fractions import Fraction

from incc.core import Analysis, Chain, Edge, Event, Step
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
