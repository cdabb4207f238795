"""A model's simulation in place of a machine: what loops would take if the model were right.

Measuring the simulation of a core as the core itself is measured shows what the measuring adds, which then falls away
in the comparison; and that probes find what is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from incc.core.analysis import analyze_kernel
from incc.frontends.isa import isa
from incc.measuring.harness import Failure, Loop, Measurement

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult
    from incc.models.model import MachineModel


def predict(loop: Loop, model: MachineModel) -> KernelResult:
    """The analysis of a loop. Raises ValueError for bytes that are no instructions."""
    return analyze_kernel(isa(model.isa).decode_bytes(loop.code, text=False), model)


class Simulated:
    """As `harness.Harness`: every figure is exact, and what the model lacks is an illegal instruction."""

    def __init__(self, model: MachineModel) -> None:
        self.model = model

    def measure(self, loop: Loop) -> Measurement | Failure:
        try:
            found = predict(loop, self.model)
        except ValueError as e:
            return Failure("SIGILL", str(e))
        if any(form is None for form in found.forms):
            return Failure("SIGILL", f"an instruction that {self.model.name} does not have")
        return Measurement(float(found.cycles), 0.0, "clock", {})

    def all(self, loops: Iterable[Loop]) -> Iterator[Measurement | Failure]:
        """As `harness.measure`."""
        return (self.measure(loop) for loop in loops)
