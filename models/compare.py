"""Differences between two machine models, and short descriptions of a form's figures."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

import msgspec

from incc.models.model import Form, MachineModel
from incc.models.notation import form_key, port_set_name, write_latency
from incc.models.throughput import of_form


class ModelChange(msgspec.Struct, frozen=True):
    """A form or parameter of both models that differs."""

    key: str
    fields: dict[str, tuple[str, str]]
    """(left, right) as text, by the name of the field that differs."""


class ModelComparison(msgspec.Struct, frozen=True, kw_only=True):
    """The differences between two models; sources and rules of derivation are not compared."""

    settings: list[ModelChange]
    """Ports, functions and parameters that differ, by name ("ports", "load", "rob", "load_latency.gpr")."""
    only_left: list[str]
    only_right: list[str]
    changed: dict[tuple[str, ...], list[ModelChange]]
    """Forms that differ, by the names of the fields that do."""

    def matching(self, forms: str) -> ModelComparison:
        """Return the part about forms whose key matches a glob; parameters remain only for "*"."""
        changed = {
            fields: [change for change in changes if fnmatchcase(change.key, forms)]
            for fields, changes in self.changed.items()
        }
        return ModelComparison(
            settings=self.settings if forms == "*" else [],
            only_left=[key for key in self.only_left if fnmatchcase(key, forms)],
            only_right=[key for key in self.only_right if fnmatchcase(key, forms)],
            changed={fields: changes for fields, changes in changed.items() if changes},
        )


def compare(left: MachineModel, right: MachineModel) -> ModelComparison:
    """Return everything that differs between two models, forms in the order of their keys."""
    settings = []
    both = (_settings(left), _settings(right))
    for name in sorted({*both[0], *both[1]}):
        values = both[0].get(name, "–"), both[1].get(name, "–")
        if values[0] != values[1]:
            settings.append(ModelChange(name, {name: values}))
    forms = set(left.forms()), set(right.forms())
    changed: dict[tuple[str, ...], list[ModelChange]] = {}
    for name in sorted(forms[0] & forms[1]):
        for conditions in sorted({c for m in (left, right) for c, _ in m.entries(name)}, key=lambda c: (len(c), c)):
            forms_of_both = [m.lookup(name, frozenset(conditions)) for m in (left, right)]
            fields = _different(*(figures(f) if f else {} for f in forms_of_both))
            if fields:
                change = ModelChange(form_key(name, conditions), fields)
                group = changed.setdefault(tuple(fields), [])
                # A difference that also exists with fewer conditions is not repeated.
                if not (conditions and any(c.key == name and c.fields == fields for c in group)):
                    group.append(change)
    return ModelComparison(
        settings=settings,
        only_left=sorted(forms[0] - forms[1]),
        only_right=sorted(forms[1] - forms[0]),
        changed=changed,
    )


def figures(form: Form) -> dict[str, str]:
    """Return a form's figures as text, by field, without their sources."""
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
    """Return a form's port usage in the notation of model files: `1*p01+2*p23`."""
    counts: Counter[str] = Counter()
    for ports, n in form.uops:
        counts[ports] += n
    return "+".join(f"{n}*{port_set_name(ports.split(','))}" for ports, n in sorted(counts.items()))


def throughput(form: Form, model: MachineModel) -> float:
    """Return the reciprocal throughput in cycles: the largest demand of ports, divider, front end and measurement."""
    slots = form.retire_slots / int(model.parameters.get("issue_width", form.retire_slots or 1))
    hold = max(1, int(form.attributes.get("hold", 1)))
    return max(float(of_form(form.uops)) * hold, float(form.divider), form.throughput or 0.0, slots)


def latency(form: Form) -> str:
    """Return the least and the greatest latency to a result, the load's apart: `4`, `1-4`, `4, load 5`."""
    cycles = [c for t, s, c in form.latency if (t, s) != ("m", "a")]
    if any(c for c in cycles):
        text = f"{min(cycles)}-{max(cycles)}" if min(cycles) != max(cycles) else str(cycles[0])
    else:
        text = "0" if cycles else ""
    loads = [c for t, s, c in form.latency if (t, s) == ("m", "a")]
    return ", ".join([text] * bool(text) + [f"load {c}" for c in loads[:1]])


def _settings(model: MachineModel) -> dict[str, str]:
    settings: dict[str, Any] = {"ports": " ".join(model.ports), "resources": " ".join(model.resources)}
    settings.update({f"functions.{k}": v for k, v in model.functions.items()})
    settings.update({f"macro_fusion.{k}": " ".join(v) for k, v in model.macro_fusion.items()})
    for name, value in model.stated_parameters.items():
        if isinstance(value, dict):
            settings.update({f"{name}.{k}": v for k, v in value.items()})
        else:
            settings[name] = value
    return {k: str(v) for k, v in settings.items()}


def _different(left: dict[str, str], right: dict[str, str]) -> dict[str, tuple[str, str]]:
    names = [*left, *(k for k in right if k not in left)]
    return {k: (left.get(k, "–"), right.get(k, "–")) for k in names if left.get(k) != right.get(k)}
