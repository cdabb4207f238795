"""Figures of instructions that a core does not have, from the nearest core of its line that has them.

Code may hold instructions that the core it is analysed for does not run, as functions for other cores do. An estimate
with the figures of another core says more than leaving them out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from incc.models.files.compile import pack
from incc.models.loading import load
from incc.models.model import LACKING, MachineModel
from incc.models.notation import parse_ports, read_usage, write_usage

_LINES = (
    "core2 penryn nehalem westmere sandybridge ivybridge haswell broadwell skylake skylake-avx512 cascadelake "
    "cooperlake cannonlake icelake-client icelake-server tigerlake rocketlake alderlake sapphirerapids meteorlake "
    "graniterapids arrowlake",
    "bonnell silvermont goldmont goldmont-plus tremont gracemont crestmont skymont",
    "btver2 bdver2 znver1 znver2 znver3 znver4 znver5",
    "cortex-a72 neoverse-n1 neoverse-v1 neoverse-n2 neoverse-v2",
)
"""The models of related cores, oldest first."""


def with_borrowed(model: MachineModel, forms: Iterable[str]) -> tuple[MachineModel, dict[str, str]]:
    """Return the model with figures of forms that it lacks, and the name of the model that each is from.

    It is the model itself if none of the related cores has any of the forms.
    """
    lacking = sorted(form for form in set(forms) if not model.entries(form))
    packed: dict[str, bytes] = {}
    origin: dict[str, str] = {}
    for other in _nearest(model.name) if lacking else ():
        ports: dict[str, str] | None = None
        for form in lacking:
            entries = {} if form in packed else dict(other.entries(form))
            if not entries:
                continue
            if ports is None:
                ports = _corresponding_ports(other, model)
            borrowed = {conditions: _borrowed(fields, other, ports) for conditions, fields in entries.items()}
            if all(_fits(fields, model) for fields in borrowed.values()):
                packed[form], origin[form] = pack(borrowed), other.name
        if len(packed) == len(lacking):
            break
    return (model.with_entries(packed) if packed else model), origin


def _nearest(name: str) -> Iterator[MachineModel]:
    """Yield the models of a core's line, the nearest first, and of two that are equally near the later one first."""
    for line in _LINES:
        names = line.split()
        if name in names:
            at = names.index(name)
            for other in sorted(names, key=lambda n: (abs(names.index(n) - at), names.index(n) < at)):
                if other != name:
                    yield load(other)


def _corresponding_ports(other: MachineModel, model: MachineModel) -> dict[str, str]:
    """Return the port set of this model for each of the other one: the one that most forms of both have there."""
    pairs: dict[str, Counter[str]] = {}
    for form in other.forms():
        theirs, ours = (_plain_usage(each, form) for each in (other, model))
        for (there, many), (here, as_many) in zip(theirs, ours, strict=False):
            if len(theirs) == len(ours) and many == as_many:
                pairs.setdefault(there, Counter())[here] += 1
    return {there: here.most_common(1)[0][0] for there, here in pairs.items()}


def _plain_usage(model: MachineModel, form: str) -> list[tuple[str, int]]:
    """Return port sets and µops of a form without conditions."""
    for conditions, fields in model.entries(form):
        if not conditions:
            return list(read_usage(fields.get("ports", "")).items())
    return []


def _borrowed(fields: dict[str, Any], other: MachineModel, ports: dict[str, str]) -> dict[str, Any]:
    changed = dict(fields)
    if "ports" in fields:
        usage: Counter[str] = Counter()
        for there, uops in read_usage(fields["ports"]).items():
            usage[ports.get(there, there)] += uops
        changed["ports"] = write_usage(usage)
    return {**changed, "derived": f"as on {other.name}: {LACKING}"}


def _fits(fields: dict[str, Any], model: MachineModel) -> bool:
    """Return True if the core has the ports and the unit of an entry."""
    try:
        parse_ports(fields.get("ports", ""), model.ports)
    except ValueError:
        return False
    return fields.get("unit", "") in ("", *model.resources)
