"""What is different between two machine models, and what several models say about one form."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models.files.compile import write_latency
from incc.models.importers.llvm.aarch64 import port_set
from incc.models.model import form_key
from incc.models.throughput import of_form

if TYPE_CHECKING:
    from incc.models.model import Form, MachineModel


class Change(NamedTuple):
    """A form or parameter that both models have, and in what they differ: name to what the left and right say."""

    key: str
    fields: dict[str, tuple[str, str]]


class Comparison(NamedTuple):
    """Two models against each other.

    `settings`: ports, functions and parameters, by name ("ports", "load", "rob", "load_latency.gpr"). `changed`: forms
    by the names of the fields that differ. Sources and rules of derivation are not compared.
    """

    settings: list[Change]
    only_left: list[str]
    only_right: list[str]
    changed: dict[tuple[str, ...], list[Change]]


def compare(left: MachineModel, right: MachineModel) -> Comparison:
    """Everything that is different, forms in the order of their keys."""
    settings = []
    both = (_settings(left), _settings(right))
    for name in sorted({*both[0], *both[1]}):
        values = both[0].get(name, "–"), both[1].get(name, "–")
        if values[0] != values[1]:
            settings.append(Change(name, {name: values}))
    forms = set(left.forms()), set(right.forms())
    changed: dict[tuple[str, ...], list[Change]] = {}
    for name in sorted(forms[0] & forms[1]):
        for conditions in sorted({c for m in (left, right) for c, _ in m.entries(name)}, key=lambda c: (len(c), c)):
            found = [m.lookup(name, frozenset(conditions)) for m in (left, right)]
            fields = _different(*(figures(f) if f else {} for f in found))
            if fields:
                change = Change(form_key(name, conditions), fields)
                group = changed.setdefault(tuple(fields), [])
                # What already is different with fewer conditions is not said again.
                if not (conditions and any(c.key == name and c.fields == fields for c in group)):
                    group.append(change)
    return Comparison(settings, sorted(forms[0] - forms[1]), sorted(forms[1] - forms[0]), changed)


def figures(form: Form) -> dict[str, str]:
    """A form's figures as text, by field, without where they come from."""
    fields = {
        "ports": usage(form),
        "retire": str(form.retire_slots),
        "latency": write_latency(sorted(form.latency)),
        "divider": str(form.divider or ""),
        "tp": f"{form.throughput:g}" if form.throughput else "",
        "breaks": "yes" if form.breaks_dependency else "",
        "fusion": form.fusion,
    }
    fields.update({k: str(v) for k, v in form.attributes.items() if v})
    return {k: v for k, v in fields.items() if v}


def usage(form: Form) -> str:
    """Port usage in the notation of the model files, one term for each set: `1*p01+2*p23`."""
    counts: dict[str, int] = {}
    for ports, n in form.uops:
        counts[ports] = counts.get(ports, 0) + n
    return "+".join(f"{n}*{_set(ports.split(','))}" for ports, n in sorted(counts.items()))


def throughput(form: Form, model: MachineModel) -> float:
    """Reciprocal throughput in cycles: what ports, divider, front end or the measurement demand, whatever is most."""
    slots = form.retire_slots / int(model.parameters.get("issue_width", form.retire_slots or 1))
    hold = max(1, int(form.attributes.get("hold", 1)))
    return max(float(of_form(form.uops)) * hold, float(form.divider), form.throughput or 0.0, slots)


def latency(form: Form) -> str:
    """The least and the greatest latency to a result, the load's apart: `4`, `1-4`, `4, load 5`."""
    cycles = [c for t, s, c in form.latency if (t, s) != ("m", "a")]
    if any(c for c in cycles):
        text = f"{min(cycles)}-{max(cycles)}" if min(cycles) != max(cycles) else str(cycles[0])
    else:
        text = "0" if cycles else ""
    loads = [c for t, s, c in form.latency if (t, s) == ("m", "a")]
    return ", ".join([text] * bool(text) + [f"load {c}" for c in loads[:1]])


def _set(ports: list[str]) -> str:
    if all(len(p) == 1 and p in "0123456789ABCDEF" for p in ports):
        return "p" + "".join(ports)
    return port_set(ports)


def _settings(model: MachineModel) -> dict[str, str]:
    found: dict[str, Any] = {"ports": " ".join(model.ports), "resources": " ".join(model.resources)}
    found.update({f"functions.{k}": v for k, v in model.functions.items()})
    found.update({f"macro_fusion.{k}": " ".join(v) for k, v in model.macro_fusion.items()})
    for name, value in model.stated_parameters.items():
        if isinstance(value, dict):
            found.update({f"{name}.{k}": v for k, v in value.items()})
        else:
            found[name] = value
    return {k: str(v) for k, v in found.items()}


def _different(left: dict[str, str], right: dict[str, str]) -> dict[str, tuple[str, str]]:
    names = [*left, *(k for k in right if k not in left)]
    return {k: (left.get(k, "–"), right.get(k, "–")) for k in names if left.get(k) != right.get(k)}
