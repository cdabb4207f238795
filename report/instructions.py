"""Tables of a core's instructions as people spell them, with their figures."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

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
    latencies: tuple[tuple[str, str, int], ...]
    """(to, from, cycles) between operands, which are named as in `models.model.Form.latency`."""
    throughput: float
    """Reciprocal throughput in cycles."""
    uops: int
    """Fused-domain µops, as the front end issues them."""
    ports: str
    """Unfused-domain µops by port set: "1*p01+1*p23"; "" if no port executes any."""
    source: str
    """The source of the figures."""
    derived: str
    """The rule by which the figures were derived from another form; "" if they were not."""
    notes: tuple[str, ...]
    """Facts besides the figures, such as "derived" or "breaks dependencies"."""

    def __str__(self) -> str:
        uops = f"{self.uops} µop{'' if self.uops == 1 else 's'}"
        figures = f"latency {self.latency or 'unknown'}, throughput {self.throughput:.3g}, {uops}"
        notes = "".join(f"; {note}" for note in self.notes)
        return f"{self.instruction} on {self.model}: {figures}, ports {self.ports or 'none'}{notes}"


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
        latencies=entry.latency,
        throughput=round(throughput(entry, model), 4),
        uops=entry.retire_slots,
        ports=usage(entry),
        source=entry.source,
        derived=entry.derived,
        notes=tuple(_notes(entry)),
    )


def all_figures(model: MachineModel, form: str) -> list[InstructionFigures]:
    """Return the figures of a form, without and with each condition under which the model has others."""
    entries = [figures_of(model, form, conditions) for conditions, _ in model.entries(form)]
    return [figures for figures in entries if figures is not None]


def _notes(form: Form) -> list[str]:
    notes = []
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


class InstructionCore(msgspec.Struct, frozen=True, kw_only=True):
    """A core of a table."""

    name: str
    title: str
    version: str
    """The version of its model."""
    sources: dict[str, str]
    """The long names of the model's sources by their short ones."""


class InstructionRow(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of a table."""

    instruction: str
    form: str
    """The key in the models, with conditions."""
    cores: dict[str, InstructionFigures]
    """The figures on each core that has the instruction, by the name of its model."""


class InstructionTable(msgspec.Struct, frozen=True, kw_only=True):
    """Instructions of one core, or of several side by side."""

    cores: list[InstructionCore]
    pattern: str
    """The pattern that selects the instructions; "" for all."""
    rows: list[InstructionRow]


SORTS = ("instruction", "latency", "throughput", "uops")


def instruction_table(
    models: Sequence[MachineModel], forms: Iterable[str], pattern: str, sort: str = "instruction", top: int = 0
) -> InstructionTable:
    """Return a table of some forms, and of the conditions under which a core has other figures.

    Args:
        models: The cores.
        forms: The keys of the forms, without conditions.
        pattern: The pattern that selects them.
        sort: One of SORTS; figures begin with the largest on the first core that has the instruction.
        top: Most rows; 0 for all.
    """
    rows = _distinguished([row for form in dict.fromkeys(forms) for row in _rows(models, form)], models[0].isa)
    rows.sort(key=lambda row: (row.instruction, row.form))
    if sort != "instruction":
        field = {"latency": "latency_cycles"}.get(sort, sort)
        rows.sort(key=lambda row: -(getattr(next(iter(row.cores.values())), field) or 0))
    cores = [
        InstructionCore(name=model.name, title=model.title, version=model.version, sources=model.sources)
        for model in models
    ]
    return InstructionTable(cores=cores, pattern=pattern, rows=rows[: top or None])


def _rows(models: Sequence[MachineModel], form: str) -> Iterator[InstructionRow]:
    """Yield a row for a form, and one for each set of conditions under which a core has other figures."""
    all_conditions = dict.fromkeys(conditions for model in models for conditions, _ in model.entries(form))
    plain: dict[str, InstructionFigures] = {}
    for conditions in sorted(all_conditions, key=lambda each: (len(each), each)):
        each = {model.name: figures_of(model, form, conditions) for model in models}
        cores = {name: figures for name, figures in each.items() if figures is not None}
        if not conditions:
            plain = cores
        elif {name: _values(figures) for name, figures in cores.items()} == {
            name: _values(figures) for name, figures in plain.items()
        }:
            continue
        spelled = next(iter(cores.values()))
        yield InstructionRow(instruction=spelled.instruction, form=spelled.form, cores=cores)


def _distinguished(rows: Sequence[InstructionRow], isa: str) -> list[InstructionRow]:
    """Return the rows without those that only repeat another one; other rows of one name get their encoding."""
    by_name: dict[str, list[InstructionRow]] = {}
    for row in rows:
        same = by_name.setdefault(row.instruction, [])
        values = {name: _values(figures) for name, figures in row.cores.items()}
        if not any({name: _values(figures) for name, figures in other.cores.items()} == values for other in same):
            same.append(row)
    encoding = rules_of(isa).encoding
    return [
        replace(row, instruction=f"{name} ({marks})")
        if len(same) > 1 and (marks := encoding(row.form.partition(" ")[0]))
        else row
        for name, same in by_name.items()
        for row in same
    ]


def _values(figures: InstructionFigures) -> tuple[object, ...]:
    return figures.latency, figures.throughput, figures.uops, figures.ports, figures.notes
