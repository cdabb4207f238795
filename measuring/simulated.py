"""A simulated machine: loops run on a model instead of a processor, for trials and tests."""

from __future__ import annotations

from collections.abc import Sequence

from incc.core.analysis import KernelSettings, analyze_kernel
from incc.frontends.isa import DecodeError, isa
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.models.model import MachineModel


class Simulated:
    """A machine that runs loops on a model's core. Without a pipeline in the model, the bounds are the cycles."""

    counters_missing = "simulated"
    busy = 0.0

    def __init__(self, model: MachineModel) -> None:
        self.model = model

    def measure(self, loop: MachineLoop) -> Measurement | LoopFailure:
        cycles = simulated(loop.code, self.model)
        if cycles is None:
            return LoopFailure("model", f"{self.model.name} lacks an instruction of it")
        return Measurement(cycles=cycles, spread=0.0, way="clock", events={})

    def measure_all(self, loops: Sequence[MachineLoop]) -> list[Measurement | LoopFailure]:
        return [self.measure(loop) for loop in loops]

    def close(self) -> None:
        """Do nothing: there is no process to end."""


def simulated(code: bytes, model: MachineModel) -> float | None:
    """Return cycles a trip of a loop of machine code on a model's core; None if that cannot be computed."""
    try:
        kernel = isa(model.isa).decode_bytes(code, "loop", True, False)
        result = analyze_kernel(kernel, model, KernelSettings(what_ifs=False))
    except (DecodeError, ValueError):
        return None
    return None if any(form is None for form in result.forms) else float(result.cycles)
