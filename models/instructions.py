"""Tables of a core's instructions as people spell them, with their figures."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from incc.models.compare import latency, throughput, usage
from incc.models.forms.rules import rules_of
from incc.models.model import Form, MachineModel
from incc.models.notation import form_key


class InstructionFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of an instruction on one core."""

    instruction: str
    """The instruction with kinds of operands in Intel's order: "vfmadd231pd ymm, ymm, ymm"."""
    model: str
    """The core's model."""
    form: str
    """The key in the model, with the conditions under which the figures hold: "ADD_RM64_R64/m [indexed]"."""
    latency: str
    """Cycles to a result, least and greatest, and those of its load: "4", "1-4", "4, load 5"; "" if unknown."""
    latency_cycles: int | None
    """The greatest latency from an operand to a result, without a load's; None if unknown."""
    throughput: float
    """Reciprocal throughput in cycles."""
    uops: int
    """Fused-domain µops, as the front end issues them."""
    ports: str
    """Unfused-domain µops by port set: "1*p01+1*p23"; "" if no port executes any."""
    source: str
    """The source of the figures."""
    notes: tuple[str, ...]
    """Facts beside the figures, such as "derived" or "breaks dependencies"."""


def figures_of(model: MachineModel, form: str, conditions: Sequence[str] = ()) -> InstructionFigures | None:
    """Return the figures of a form under conditions, None if the model lacks the form."""
    entry = model.lookup(form, frozenset(conditions))
    if entry is None:
        return None
    rules = rules_of(model.isa)
    cycles = [c for to, source, c in entry.latency if (to, source) != ("m", "a")]
    return InstructionFigures(
        instruction=rules.spelled(form, conditions),
        model=model.name,
        form=form_key(form, conditions),
        latency=latency(entry),
        latency_cycles=max(cycles, default=None),
        throughput=round(throughput(entry, model), 4),
        uops=entry.retire_slots,
        ports=usage(entry),
        source=entry.source,
        notes=tuple(_notes(entry, rules.encoding(form))),
    )


def all_figures(model: MachineModel, form: str) -> list[InstructionFigures]:
    """Return the figures of a form, without and with each condition under which the model has others."""
    entries = [figures_of(model, form, conditions) for conditions, _ in model.entries(form)]
    return [figures for figures in entries if figures is not None]


def _notes(form: Form, encoding: str) -> list[str]:
    notes = [encoding] if encoding else []
    if form.breaks_dependency:
        notes.append("breaks dependencies")
    if form.fusion:
        notes.append("fuses with jumps")
    if form.divider:
        notes.append(f"divider {form.divider} cycles")
    if any(source == "m" for _, source, _ in form.latency):
        notes.append("latency after the load")
    if form.attributes.get("uops_ms"):
        notes.append("microcoded")
    if form.derived:
        notes.append("derived")
    return notes
