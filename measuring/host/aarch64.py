"""Comparison of this core's AArch64 forms with its nearest relative's. Not tested on hardware yet.

There is no decoder of AArch64's machine code here, so nothing is simulated: a relative's chains and independent copies
are computed from the figures of its forms. Loops are those of `forms_aarch64`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol

import msgspec

from incc.measuring.forms import aarch64 as forms_aarch64
from incc.measuring.forms.aarch64 import FormLoop, NotMeasurable
from incc.measuring.forms.bench import NotMeasured
from incc.measuring.harness import LoopFailure, MachineLoop, Measurement
from incc.measuring.harness import Machine as MachineOfLoops
from incc.measuring.host.forms import Key
from incc.models.model import MachineModel
from incc.models.throughput import of_form

ISA = "aarch64"

_CONTENT = 0x3F80_3F80_3F80_3F80
_PLACE = 0x2000_8000
_REGISTERS = (*[1] * 31, _PLACE)
"""x0 to x30, and the stack pointer."""


class TextMachine(Protocol):
    """A machine that runs loops given as text."""

    def measure(self, code: FormLoop) -> Measurement | LoopFailure: ...


class HostMachine:
    """Loops as this AArch64 processor runs them."""

    def __init__(self, harness: MachineOfLoops) -> None:
        self._harness = harness

    def measure(self, code: FormLoop) -> Measurement | LoopFailure:
        try:
            encoded = forms_aarch64.machine_code(code)
        except (NotMeasurable, RuntimeError) as e:
            return LoopFailure("encoding", str(e))
        loop = MachineLoop(code=encoded, counter=forms_aarch64.COUNTER, registers=_REGISTERS, content=_CONTENT)
        return self._harness.measure(loop)


class ModelMachine:
    """Loops as a model's figures have them: latency, ports, stated throughput and issue width."""

    def __init__(self, model: MachineModel) -> None:
        self.model = model

    def measure(self, code: FormLoop) -> Measurement | LoopFailure:
        form = self.model.lookup(code.form, frozenset())
        if form is None:
            return LoopFailure("model", f"{self.model.name} lacks it")
        width = int(self.model.parameters["issue_width"])
        slots = max(1, form.retire_slots)
        each = max(float(of_form(form.uops)), form.throughput or 0, form.divider, slots / width)
        latency = {(to, source): cycles for to, source, cycles in form.latency}
        if code.operand:
            each = max(each, latency.get(("0", str(code.operand)), 0))
        elif ("0", "0") in latency:
            # A form that reads its result waits for the last copy with the same register.
            each = max(each, latency["0", "0"] / forms_aarch64.registers_written(code.form))
        return Measurement(cycles=each * code.copies, spread=0.0, way="clock", events={})


class FormWithoutConditions(msgspec.Struct, frozen=True):
    """A form as `host.forms` measures it."""

    name: str

    has_memory = False

    @property
    def key(self) -> Key:
        return self.name, ()


def wanted(model: MachineModel) -> list[FormWithoutConditions]:
    """Return the model's forms for which loops exist."""
    measurable = []
    for form in model.forms():
        try:
            forms_aarch64.operands(form)
        except NotMeasurable:
            continue
        measurable.append(FormWithoutConditions(form))
    return measurable


class AArch64Bench:
    """The bench that measures forms on a machine, or computes them from a model."""

    def __init__(self, machine: TextMachine, model: MachineModel) -> None:
        self._machine = machine
        self._model = model

    def header(self) -> dict[str, Any]:
        return {"core": self._model.name, "load_latency": {}, "blockers": {}}

    def fetch(self, some: Iterable[FormWithoutConditions], expected: AArch64Bench | None = None) -> None:
        """Do nothing: each loop is measured when its form is."""

    def record(self, v: FormWithoutConditions, what: Collection[str]) -> dict[str, Any]:
        """Return a form's throughput and latencies, as records of measurements have them. Raises NotMeasured."""
        independent = forms_aarch64.throughput(v.name)
        result = self._machine.measure(independent)
        if isinstance(result, LoopFailure):
            raise NotMeasured(result)
        latency, spread = [], {"tp": round(result.spread / independent.copies, 3)}
        for chain in forms_aarch64.latencies(v.name):
            linked = self._machine.measure(chain)
            if isinstance(linked, Measurement):
                latency.append(["0", str(chain.operand), round(linked.cycles / chain.copies, 2)])
                spread[f"0<{chain.operand}"] = round(linked.spread / chain.copies, 2)
        tp = round(result.cycles / independent.copies, 3)
        return {"form": v.name, "conditions": [], "tp": tp, "latency": latency, "spread": spread, "way": result.way}
