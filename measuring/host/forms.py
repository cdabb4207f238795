"""Comparison of the host's forms with those of its nearest relative, and the fields that must be replaced.

Each form is measured on the machine, and in the same way on the relative's simulation. The overhead of measuring (ways
back between registers, rounding, the loop's own instructions) is in both, so the rest is a difference of the cores.
µops and their ports stay the relative's here; forms whose throughput contradicts them are for `host.ports`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import suppress
from typing import Any, Protocol, TypeVar

import msgspec
from msgspec.structs import replace

from incc.measuring.forms.bench import CoreBench, FormVariant, NotMeasured, measurable, variants
from incc.measuring.forms.target import MeasuredCore
from incc.measuring.harness import Machine
from incc.measuring.ports.study import FormPorts
from incc.measuring.records import Log, whole_lines
from incc.models.files.source import Entry, Forms
from incc.models.forms.shapes import Shape
from incc.models.model import Form, MachineModel
from incc.models.notation import form_key, write_latency, write_ports
from incc.models.throughput import of_form

WANTED = ("latency", "tp")

Key = tuple[str, tuple[str, ...]]
_Form = TypeVar("_Form", bound="Measurable")


class Measurable(Protocol):
    """A form under conditions that can be measured."""

    @property
    def key(self) -> Key: ...

    @property
    def has_memory(self) -> bool: ...


class FormBench(Protocol):
    """A bench that measures forms of one instruction set: `forms.bench.CoreBench`, or that of AArch64."""

    def header(self) -> dict[str, Any]: ...

    def fetch(self, some: Iterable[Any], expected: Any) -> None: ...

    def record(self, v: Any, what: Collection[str]) -> dict[str, Any]: ...


class MeasuredForms(msgspec.Struct, frozen=True):
    """The measured figures of forms."""

    records: dict[Key, dict[str, Any]]
    """The machine's records by form and conditions."""
    failed: dict[Key, str]
    """The reasons why other forms have no record."""


def read(path: str) -> MeasuredForms:
    """Read the figures of a file of JSON lines; an incomplete line is left out, and measured again."""
    measured = MeasuredForms({}, {})
    for line in whole_lines(path):
        try:
            data = json.loads(line)
            if "core" in data:
                continue
            key = str(data["form"]), tuple(str(c) for c in data["conditions"])
            if "not_measured" in data:
                measured.failed[key] = str(data["not_measured"])
            else:
                measured.records[key] = {**data, "latency": list(data["latency"])}
        except (ValueError, KeyError, TypeError):
            continue
    return measured


_MASKED = ("VMASKMOVPS", "VMASKMOVPD", "VPMASKMOVD", "VPMASKMOVQ")


def _is_misleading(shape: Shape) -> bool:
    """Return True if the time of independent copies is no figure of the form.

    Forms of x87 overflow its stack; moves under an empty mask do not touch their memory, which is then not mapped.
    Either takes hundreds of cycles.
    """
    return shape.mnemonic in _MASKED or (shape.encoding == "LEGACY" and shape.mnemonic.startswith("F"))


def wanted(target: MeasuredCore, first: Iterable[str], only: bool) -> Iterator[FormVariant]:
    """Yield the variants to measure: forms named in `first`, then, unless `only` these, all others."""
    shapes = {shape.key: shape for shape in measurable(target) if not _is_misleading(shape)}
    names = [name for name in dict.fromkeys(first) if name in shapes]
    rest = [] if only else [name for name in shapes if name not in set(names)]
    # Instructions that compilers emit without options for vectors of 512 bits.
    rest.sort(key=lambda name: shapes[name].encoding not in ("LEGACY", "VEX"))
    for name in names:
        yield from variants(shapes[name])
    # Without conditions first: most code has none, and time may end.
    for name in rest:
        yield from (v for v in variants(shapes[name]) if not v.conditions)
    for name in rest:
        yield from (v for v in variants(shapes[name]) if v.conditions)


_TOGETHER = 12
"""Forms whose loops are measured in one go: some fifty loops."""


def measure(
    bench: FormBench,
    todo: Iterable[_Form],
    path: str,
    cached: MeasuredForms,
    goes_on: Callable[[], bool],
    expected: FormBench | None = None,
) -> Iterator[tuple[_Form, dict[str, Any]]]:
    """Yield each form's record, measured now or read from the file, to which every new one is added at once.

    `goes_on` is called after each form and returns False to stop. `expected` is the relative's bench.
    """

    def is_known(v: _Form) -> bool:
        return v.key in cached.records or v.key in cached.failed

    with Log(path) as log:
        if log.is_empty:
            log.add(bench.header())
        for some in _in_turn(todo, is_known):
            bench.fetch([v for v in some if not is_known(v)], expected)
            for v in some:
                if not is_known(v):
                    try:
                        cached.records[v.key] = bench.record(v, WANTED)
                        log.add(cached.records[v.key])
                    except NotMeasured as e:
                        cached.failed[v.key] = str(e)
                        if e.failure.is_transient:
                            continue
                        log.add({"form": v.key[0], "conditions": list(v.key[1]), "not_measured": str(e)})
                if not goes_on():
                    return
                if v.key in cached.records:
                    yield v, cached.records[v.key]


def _in_turn(todo: Iterable[_Form], is_known: Callable[[_Form], bool]) -> Iterator[list[_Form]]:
    """Yield the forms in their order, in groups that can be measured together."""
    some: list[_Form] = []
    missing = 0
    for v in todo:
        some.append(v)
        missing += not is_known(v)
        if missing == _TOGETHER or len(some) == 4 * _TOGETHER:
            yield some
            some, missing = [], 0
    if some:
        yield some


# --- differences ------------------------------------------------------------------------------------------------------


class Difference(msgspec.Struct, frozen=True):
    """A form's differences from the relative."""

    key: Key
    fields: Entry
    """The fields that are different."""
    text: str
    """Their origin."""


class FormsComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The outcome of a comparison of forms."""

    same: int
    """The number of forms whose figures are the relative's."""
    different: list[Difference]
    """The forms whose figures differ."""
    unsteady: list[str]
    """Forms that differ, but not each time."""
    faster: list[str]
    """Forms with a better throughput than the relative's ports allow; the relative's figure stays."""
    missing: list[str]
    """Forms that the relative lacks."""
    against: tuple[str, ...] = ()
    """Forms that differ, though measured loops are predicted better without."""


_CYCLE = 0.6
"""A latency that differs by less is the same: figures in models are whole."""
_WHOLE = 0.3
"""The largest distance from whole cycles of a difference that is believed."""


def fields_that_differ(record: dict[str, Any], simulated: dict[str, Any], form: Form, memory: bool) -> Entry:
    """Return the fields that give a model the machine's figures instead of the relative's."""
    fields: Entry = {}
    here = {(t, s): float(c) for t, s, c in record["latency"]}
    there = {(t, s): float(c) for t, s, c in simulated["latency"]}
    pairs = {(t, s): c for t, s, c in form.latency}
    changed = False
    for pair, cycles in here.items():
        if pair not in there or pair not in pairs:
            continue
        more = cycles - there[pair]
        if abs(more) >= _CYCLE and abs(more - round(more)) <= _WHOLE:
            pairs[pair] = max(0, pairs[pair] + round(more))
            changed = True
    if changed:
        fields["latency"] = write_latency([(t, s, c) for (t, s), c in pairs.items()])
    tp, expected = record.get("tp"), simulated.get("tp")
    if tp and expected:
        bound = float(of_form(form.uops)) * max(1, form.attributes.get("hold", 1))
        # Conflicts of memory accesses depend on addresses, not on the form.
        slower = tp > max(1.12 * expected + 0.3, 1.25) if memory else tp > 1.12 * expected + 0.08
        quicker = tp < 0.88 * expected - 0.08
        if form.divider and (slower or quicker) and round(tp) >= 1 and round(tp) != form.divider:
            fields["divider"] = round(tp)
        elif slower and not form.divider:
            fields["tp"] = round(max(tp, bound), 2)
        elif quicker and form.throughput and tp < form.throughput:
            fields["tp"] = round(tp, 2) if tp > 1.05 * bound else 0
    return fields


def is_faster(record: dict[str, Any], simulated: dict[str, Any], form: Form) -> bool:
    tp, expected = record.get("tp"), simulated.get("tp")
    return bool(tp and expected and tp < 0.88 * expected - 0.08 and not form.throughput and not form.divider)


def compare(
    measured: Iterable[tuple[Measurable, dict[str, Any]]],
    bench: FormBench,
    simulated: FormBench,
    model: MachineModel,
    path: str,
) -> FormsComparison:
    """Return the forms that differ.

    A form that differs is measured again, exactly, and believed if it differs in the same way; these figures go into
    the same file, before those that they replace.
    """
    result = FormsComparison(same=0, different=[], unsteady=[], faster=[], missing=[])
    same = 0
    for v, record in measured:
        form = model.lookup(v.key[0], frozenset(v.key[1]))
        name = form_key(*v.key)
        there = None
        with suppress(NotMeasured, ValueError):
            there = simulated.record(v, WANTED)
        if form is None or there is None:
            result.missing.append(name)
            continue
        fields = fields_that_differ(record, there, form, v.has_memory)
        if is_faster(record, there, form):
            result.faster.append(name)
        if not fields:
            same += 1
            continue
        if "before" not in record:
            record = _repeated(bench, v, record, there, form)
            with Log(path) as log:
                log.add(record)
        seen = [fields_that_differ(one, there, form, v.has_memory) for one in (record, *record["before"]) if one]
        if not seen[0]:
            same += 1  # the rough figure was wrong
            continue
        others = {n: f for other in seen[1:] for n, f in other.items() if _repeats(n, f, seen[0].get(n))}
        believed = {n: f for n, f in seen[0].items() if n in others}
        if believed:
            result.different.append(Difference(v.key, believed, _said(believed, form)))
        if believed.keys() != seen[0].keys():
            result.unsteady.append(name)
    return replace(result, same=same)


def _repeated(
    bench: FormBench, v: Measurable, record: dict[str, Any], there: dict[str, Any], form: Form
) -> dict[str, Any]:
    """Measure a form again, exactly.

    This stops when two records differ from the relative's in the same way, or when the last one agrees.
    """
    before: list[dict[str, Any]] = []
    last = record
    for _ in range(_AGAIN):
        before.append(last)
        try:
            last = bench.record(v, WANTED)
        except NotMeasured:
            # A figure that cannot be reproduced is not believed.
            return {**record, "before": []}
        now, then = (fields_that_differ(one, there, form, v.has_memory) for one in (last, before[-1]))
        if not now or (now.keys() == then.keys() and all(_repeats(n, f, then[n]) for n, f in now.items())):
            break
    return {**last, "before": before}


_AGAIN = 2
"""The number of times that a form which differs is measured again."""


def with_ports(result: FormsComparison, inferred: Iterable[FormPorts], model: MachineModel) -> FormsComparison:
    """Return the result with other µops for forms, and without the throughputs that these explain."""
    differences = {d.key: d for d in result.different}
    for one in inferred:
        form = model.lookup(one.form, frozenset())
        if form is None:
            continue  # its latencies have nothing to be compared with
        key: Key = one.form, ()
        fields: Entry = {"ports": write_ports(one.uops)}
        before = differences.get(key)
        text = f"ports {write_ports(form.uops) or 'none'}"
        if before is not None:
            bound = float(of_form(one.uops))
            rest = {n: f for n, f in before.fields.items() if n != "tp" or not f or f > 1.12 * bound + 0.08}
            fields = {**rest, **fields}
            text = f"{before.text}, {text}"
        elif form.throughput and one.throughput and one.throughput < 0.9 * form.throughput:
            fields["tp"] = 0
        differences[key] = Difference(key, fields, text)
    faster = [
        name for name in result.faster if (name, ()) not in differences or "ports" not in differences[name, ()].fields
    ]
    return replace(result, different=list(differences.values()), faster=faster)


def contradicting(result: FormsComparison) -> list[str]:
    """Return the forms that the relative lacks, or whose throughput its ports do not explain."""
    slower = [d.key[0] for d in result.different if "tp" in d.fields and not d.key[1]]
    return list(dict.fromkeys([*result.faster, *slower, *result.missing]))


def _repeats(name: str, first: Any, second: Any) -> bool:
    if name == "tp" and first and second:
        return bool(abs(first - second) <= 0.05 * max(first, second))
    return bool(first == second)


def _said(fields: Entry, form: Form) -> str:
    old = {
        "latency": write_latency(list(form.latency)),
        "tp": form.throughput or 0,
        "divider": form.divider,
    }
    return ", ".join(f"{name} {old[name] or 'none'}" for name in fields)


def entries(differences: Iterable[Difference], model: MachineModel) -> Forms:
    """Return the entries of a model file; conditions that change nothing are left out."""
    forms: Forms = {}
    for difference in differences:
        form, conditions = difference.key
        forms.setdefault(form, {})[tuple(conditions)] = dict(difference.fields)
    for form, by_conditions in forms.items():
        plain = by_conditions.get((), {})
        for conditions in [c for c in by_conditions if c]:
            own = by_conditions[conditions]
            before = dict(model.entries(form)).get(conditions, {})
            for name in [n for n, f in own.items() if plain.get(n) == f and n not in before]:
                del own[name]
            if not own:
                del by_conditions[conditions]
        if () in by_conditions:
            by_conditions[()]["source"] = "measured"
    return {form: by_conditions for form, by_conditions in forms.items() if by_conditions}


def benches(target: MeasuredCore, machine: Machine, simulation: Machine) -> tuple[CoreBench, CoreBench]:
    """Return the benches of the machine and of the relative's simulation."""
    bench = CoreBench(target, machine)
    return bench, CoreBench(target, simulation).with_plans_of(bench)
