"""A model's predictions of the measured figures, in the same terms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from incc.measuring.forms.bench import CoreBench, FormVariant, loop_of
from incc.measuring.simulated import simulated
from incc.models.model import MachineModel
from incc.models.notation import write_ports


class FigureRow(msgspec.Struct, frozen=True, kw_only=True):
    """A measured figure of a form and the model's."""

    figure: str
    """Its name: "throughput", "issue slots", "latency 1 → 0", "µops on p01"; all but the two counts are in cycles."""
    measured: float
    spread: float = 0.0
    model: float | None = None
    """The model's value, None if it has none."""

    @property
    def differs(self) -> bool:
        if self.model is None:
            return False
        least = 0.03 if self.figure == "throughput" else 0.15
        return abs(self.measured - self.model) > max(0.1 * self.model, least, 2 * self.spread)


def figures(bench: CoreBench, v: FormVariant, model: MachineModel) -> dict[str, Any]:
    """Return a model's figures of a form: "tp" of the same loop, simulated.

    "slots", "ports", and latencies by "TO<FROM". Raises NotMeasured for a form without an encoding.
    """
    form = model.lookup(v.shape.key, frozenset(v.conditions))
    if form is None:
        return {}
    predicted: dict[str, Any] = {
        "slots": form.retire_slots,
        "ports": write_ports(form.uops),
    }
    throughput = bench.plan(v).steps[0]
    cycles = simulated(loop_of(throughput.code).code, model)
    if cycles is not None:
        predicted["tp"] = round(cycles / throughput.copies, 3)
    load = model.parameters["load_latency"]
    vectors = [o.lower() for o in v.shape.operands if o in ("XMM", "YMM", "ZMM")]
    loaded = load.get(vectors[0] if vectors else "gpr", load["gpr"])
    for to, source, latency in form.latency:
        predicted[f"{to}<{source}"] = latency + (loaded if source == "m" else 0)
    return predicted


def rows(record: dict[str, Any]) -> Iterator[FigureRow]:
    """Yield the figures of a form's record; equal latencies share a row."""
    model, spread = record.get("model", {}), record.get("spread", {})
    if record.get("tp") is not None:
        yield FigureRow(figure="throughput", measured=record["tp"], spread=spread.get("tp", 0.0), model=model.get("tp"))
    alike: dict[tuple[str, float, float | None], list[tuple[str, float]]] = {}
    for to, source, cycles in record.get("latency", ()):
        key = (to, round(cycles, 1), model.get(f"{to}<{source}"))
        alike.setdefault(key, []).append((source, cycles))
    for (to, _, predicted), measured in alike.items():
        sources = ", ".join(source for source, _ in measured)
        cycles = sum(c for _, c in measured) / len(measured)
        width = max(spread.get(f"{to}<{source}", 0.0) for source, _ in measured)
        yield FigureRow(figure=f"latency {sources} → {to}", measured=cycles, spread=width, model=predicted)
    if "slots" in record:
        yield FigureRow(figure="issue slots", measured=record["slots"], model=model.get("slots"))
    for name, count in record.get("counted", {}).items():
        if count >= 0.05:
            yield FigureRow(figure=f"µops on {name}, counted", measured=count)
    for name, count in record.get("seen", {}).items():
        yield FigureRow(figure=f"µops with {name}", measured=count)
