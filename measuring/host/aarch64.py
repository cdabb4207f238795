"""AArch64's forms of this core beside its nearest relative's. Not tried on hardware yet.

There is no decoder of AArch64's machine code here, so nothing is simulated: a relative's chains and independent copies
are computed from the figures of its forms. Loops are those of `forms_aarch64`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Protocol

import msgspec
from msgspec.structs import replace

from incc.measuring.forms import aarch64 as forms_aarch64
from incc.measuring.forms.aarch64 import Code, NotMeasurable
from incc.measuring.harness import Failure, Loop, Measurement
from incc.measuring.host.forms import Difference, Measured, Result, fields_that_differ, is_faster
from incc.measuring.pipeline.probing import Log
from incc.models.throughput import of_form

if TYPE_CHECKING:
    from incc.models.model import Form, MachineModel

_CONTENT = 0x3F80_3F80_3F80_3F80
_PLACE = 0x2000_8000
_REGISTERS = (*[1] * 31, _PLACE)
"""x0 to x30, and the stack pointer."""


class Asked(msgspec.Struct, frozen=True):
    """A loop of copies of a form: a chain through an operand, or, with 0, independent ones."""

    form: str
    operand: int
    code: Code


class Machine(Protocol):
    """A machine that runs loops given as text."""

    def measure(self, request: Asked) -> Measurement | Failure: ...


class Runs(Protocol):
    """A machine that runs loops given as machine code (`harness.Harness`)."""

    def measure(self, loop: Loop) -> Measurement | Failure: ...


class Assembled:
    """Loops as this AArch64 processor runs them."""

    def __init__(self, harness: Runs) -> None:
        self._harness = harness

    def measure(self, request: Asked) -> Measurement | Failure:
        try:
            code = forms_aarch64.machine_code(request.code)
        except (NotMeasurable, RuntimeError) as e:
            return Failure("encoding", str(e))
        return self._harness.measure(
            Loop(code=code, counter=forms_aarch64.COUNTER, registers=_REGISTERS, content=_CONTENT)
        )


class Expected:
    """Loops as a model's figures have them: latency, ports, stated throughput and issue width."""

    def __init__(self, model: MachineModel) -> None:
        self.model = model

    def measure(self, request: Asked) -> Measurement | Failure:
        form = self.model.lookup(request.form, frozenset())
        if form is None:
            return Failure("model", f"{self.model.name} lacks it")
        width = int(self.model.parameters["issue_width"])
        slots = max(1, form.retire_slots)
        each = max(float(of_form(form.uops)), form.throughput or 0, form.divider, slots / width)
        latency = {(to, source): cycles for to, source, cycles in form.latency}
        if request.operand:
            each = max(each, latency.get(("0", str(request.operand)), 0))
        elif ("0", "0") in latency:
            # A form that reads its result waits for the last copy with the same register.
            each = max(each, latency["0", "0"] / forms_aarch64.registers_written(request.form))
        return Measurement(cycles=each * request.code.copies, spread=0.0, way="clock", events={})


def wanted(model: MachineModel) -> list[str]:
    """Return the model's forms of which loops can be made."""
    measurable = []
    for form in model.forms():
        try:
            forms_aarch64.operands(form)
        except NotMeasurable:
            continue
        measurable.append(form)
    return measurable


def record(machine: Machine, form: str) -> dict[str, Any] | Failure:
    """Return a form's throughput and latencies, as records of measurements have them."""
    code = forms_aarch64.throughput(form)
    result = machine.measure(Asked(form, 0, code))
    if isinstance(result, Failure):
        return result
    latency, spread = [], {"tp": round(result.spread / code.copies, 3)}
    for operand, chain in forms_aarch64.latencies(form):
        linked = machine.measure(Asked(form, operand, chain))
        if isinstance(linked, Measurement):
            latency.append(["0", str(operand), round(linked.cycles / chain.copies, 2)])
            spread[f"0<{operand}"] = round(linked.spread / chain.copies, 2)
    tp = round(result.cycles / code.copies, 3)
    return {"form": form, "conditions": [], "tp": tp, "latency": latency, "spread": spread, "way": result.way}


def compare(
    machine: Machine, model: MachineModel, todo: Iterable[str], path: str, cached: Measured, goes_on: Callable[[], bool]
) -> Result:
    """Return the forms that differ, each of which is measured twice.

    Every figure is added to the file at once; `goes_on` is called with each form, and ends the run by returning False.
    """
    result = Result(same=0, different=[], unsteady=[], faster=[], missing=[])
    same = 0
    there = Expected(model)
    with Log(path) as log:
        if not os.path.getsize(path):
            log.add({"core": model.name, "load_latency": {}, "blockers": {}})
        for form, one in _measured(machine, todo, cached, log.add):
            if not goes_on():
                break
            expected, entry = record(there, form), model.lookup(form, frozenset())
            if isinstance(expected, Failure) or entry is None:
                result.missing.append(form)
                continue
            if is_faster(one, expected, entry):
                result.faster.append(form)
            fields = fields_that_differ(one, expected, entry, False)
            if not fields:
                same += 1
                continue
            if "before" not in one:
                last = record(machine, form)
                if isinstance(last, Failure):
                    result.unsteady.append(form)
                    continue
                one = cached.records[form, ()] = {**last, "before": [one]}
                log.add(one)
            _believe(form, one, expected, entry, result)
    return replace(result, same=same)


def _measured(
    machine: Machine, todo: Iterable[str], cached: Measured, keep: Callable[[dict[str, Any]], None]
) -> Iterator[tuple[str, dict[str, Any]]]:
    for form in todo:
        key = form, ()
        if key not in cached.records and key not in cached.failed:
            result = record(machine, form)
            if isinstance(result, Failure):
                cached.failed[key] = result.text
                if result.kind not in ("timeout", "harness", "killed"):
                    keep({"form": form, "conditions": [], "not_measured": result.text})
            else:
                cached.records[key] = result
                keep(result)
        if key in cached.records:
            yield form, cached.records[key]


def _believe(form: str, one: dict[str, Any], expected: dict[str, Any], entry: Form, result: Result) -> None:
    """Add a form's figures that were measured twice alike to a result."""
    now, then = (fields_that_differ(r, expected, entry, False) for r in (one, one["before"][0]))
    believed = {n: f for n, f in now.items() if then.get(n) == f}
    if believed:
        inherited = f"latency {' '.join(f'{t}<{s}:{c}' for t, s, c in entry.latency)}, tp {entry.throughput or 'none'}"
        result.different.append(Difference((form, ()), believed, inherited))
    if believed.keys() != now.keys() or not now:
        result.unsteady.append(form)
