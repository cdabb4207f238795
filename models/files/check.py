"""Checks a model file for what no reader would notice: contradictions, gaps and entries that can never apply."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models.files.compile import (
    DEFAULTS,
    Forms,
    Source,
    merge_forms,
    overlay,
    read_chain,
    read_header,
    unknown_units,
)
from incc.models.forms.rules import MODULES, rules_of
from incc.models.loading import find_model
from incc.models.model import ModelError, form_key, parse_latency, parse_ports
from incc.models.schema import parameters
from incc.models.throughput import of_form

if TYPE_CHECKING:
    from collections.abc import Sequence


class Finding(NamedTuple):
    """Something to correct ("error") or to know ("warning"), and where: file and line, or the form's key."""

    level: str
    place: str
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.message}"


CONDITIONS = re.compile(
    r"indexed|same_reg|high8_[01]|mask|zeroing|bcast|lock|rep|repne|imm0|er|sae|wide|agen:[A-Z0-9_]+|rm0-3|rm4-7"
    r"|shift1-4"
)


def check(path: str, places: Sequence[str]) -> list[Finding]:
    """All findings about one model file, its own entries only; what it inherits is checked where it is written.

    A file that cannot be read as a model at all is one finding.
    """
    try:
        chain = read_chain(path, places, find_model)
    except ModelError as e:
        place, _, message = str(e).rpartition(": ")
        return [Finding("error", place or path, message)]
    header, problems = read_header(chain)
    found = [Finding("error", *p) for p in problems]
    if not header["ports"] or header["isa"] not in MODULES:
        return found
    own = chain[0]
    inherited = merge_forms(chain[1:]) if len(chain) > 1 else {}
    found += _header(chain, header)
    merged = merge_forms(chain)
    found += [Finding("error", *p) for p in unknown_units(chain, merged, header["resources"])]
    for form, entries in own.forms.items():
        for conditions, fields in entries.items():
            place = f"{path}: {form_key(form, conditions)}"
            if fields.get("absent"):
                if conditions not in inherited.get(form, {}):
                    found.append(Finding("error", place, "is absent, but there is nothing to inherit"))
                continue
            if () not in merged.get(form, {}):
                found.append(Finding("error", place, "has no entry without conditions to start from"))
                continue
            found += [Finding(level, place, m) for level, m in _entry(form, conditions, merged, header)]
            found += [Finding("warning", place, m) for m in _idle(form, conditions, fields, merged, inherited)]
    findings = rules_of(header["isa"]).findings
    found += [Finding("error", f"{path}: {f}", m) for f in own.forms for m in findings(f, merged.get(f, {}))]
    return found


def _header(chain: Sequence[Source], header: dict[str, Any]) -> list[Finding]:
    own = chain[0]
    path = own.path
    found = []
    for name in parameters.REQUIRED_FUNCTIONS:
        if not any(name in s.data.get("ports", {}).get("functions", {}) for s in chain):
            found.append(Finding("error", path, f"ports.functions.{name} is missing"))
    names = [n.lower() for n in (own.name.name, *own.name.aliases)]
    # Names are found in any case; one and the same in two spellings is only clutter where it is written twice alike.
    for alias in own.name.aliases:
        if own.name.aliases.count(alias) > 1 or alias == own.name.name:
            found.append(Finding("warning", path, f"alias {alias!r} is there twice"))
    if not re.search(rf"(^|/){re.escape(names[0])}\.toml$", path.replace("\\", "/").lower()):
        found.append(Finding("warning", path, f"the file of model {own.name.name!r} should be named for it"))
    return found


def _entry(form: str, conditions: tuple[str, ...], merged: Forms, header: dict[str, Any]) -> list[tuple[str, str]]:
    """Findings about the figures that hold under an entry's conditions."""
    found: list[tuple[str, str]] = []
    rules = rules_of(header["isa"])
    for condition in conditions:
        if not CONDITIONS.fullmatch(condition):
            found.append(("error", f"unknown condition {condition!r}"))
    fields: dict[str, Any] = {}
    for c, f in sorted(merged[form].items(), key=lambda e: (len(e[0]), e[0])):
        if set(c) <= set(conditions):
            fields.update(f)
    if "ports" not in fields:
        found.append(("error", 'no ports (a form without µops has ports = "")'))
    try:
        uops = parse_ports(fields.get("ports", ""), header["ports"])
    except ValueError as e:
        return [*found, ("error", str(e))]
    try:
        latency = parse_latency(fields.get("latency", ""))
    except ValueError as e:
        return [*found, ("error", str(e))]
    if "retire" not in fields:
        found.append(("error", "no retire slots"))
    if not latency and uops and not fields.get("breaks") and rules.needs_latency(form):
        found.append(("warning", "no latency"))
    if (
        "ports" in fields
        and rules.RESULTS_ARE_COMPUTED
        and _computes(latency)
        and not fields.get("breaks")
        and not _has_compute(uops, header)
    ):
        found.append(("warning", "takes cycles from operand to result, but no µop of it computes"))
    for to, source, cycles in latency:
        if sum(1 for t, s, _ in latency if (t, s) == (to, source)) > 1:
            found.append(("error", f"latency {to}<{source} is given twice"))
            break
        if cycles > 100_000:
            found.append(("error", f"latency {to}<{source} of {cycles} cycles"))
    if fields.get("tp"):
        bound = of_form(uops) * max(1, fields.get("hold", 1))
        if Fraction(fields["tp"]).limit_denominator(1000) < bound and not fields.get("uops_ms"):
            found.append(("error", f"throughput of {fields['tp']:g} cycles, but the ports need {float(bound):g}"))
    if fields.get("fusion") and fields["fusion"] not in header["macro_fusion"]:
        found.append(("error", f"unknown macro-fusion class {fields['fusion']!r}"))
    if fields.get("source") and fields["source"] not in header["sources"]:
        found.append(("error", f"source {fields['source']!r} is not in [sources]"))
    if fields.get("divider") and not header["resources"]:
        found.append(("error", "occupies the divider, but [ports] has no resources"))
    return found


def _computes(latency: Sequence[tuple[str, str, int]]) -> bool:
    """Whether something is done to an operand that is in a register."""
    return any(cycles > 0 and to != "M" and source.isdigit() for to, source, cycles in latency)


def _has_compute(uops: Sequence[tuple[str, int]], header: dict[str, Any]) -> bool:
    """Whether a µop goes to a port that is not for memory alone."""
    functions = header["functions"]
    memory = {
        port
        for name in ("load", "load_vector", "store_address", "store_data")
        for port in (functions[name].split(",") if name in functions else ())
    }
    return any(not set(ports.split(",")) <= memory for ports, _ in uops)


def _idle(form: str, conditions: tuple[str, ...], fields: dict[str, Any], merged: Forms, inherited: Forms) -> list[str]:
    """Fields of an entry that repeat what holds without it."""
    before = inherited.get(form, {}).get(conditions)
    if before is not None:
        same = overlay(before, fields) if not conditions else {**before, **fields}
        return ["changes nothing of what it inherits"] if same == before else []
    if not conditions:
        return []
    below: dict[str, Any] = {}
    for c, f in sorted(merged[form].items(), key=lambda e: (len(e[0]), e[0])):
        if set(c) < set(conditions):
            below.update(f)
    changes = {k: v for k, v in fields.items() if below.get(k, DEFAULTS[k]) != v and k != "source"}
    return [] if changes else ["changes nothing of what holds with fewer conditions"]
