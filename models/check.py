"""Checks of a model file for what no reader would notice: contradictions, gaps and entries that never apply."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import msgspec

from incc.models.files.compile import read_header, unknown_units
from incc.models.files.source import DEFAULTS, Forms, ModelSource, merge_forms, overlay, read_chain, resolved
from incc.models.forms.rules import INSTRUCTION_SETS, rules_of
from incc.models.loading import find_model
from incc.models.model import Header, ModelError
from incc.models.notation import Latency, form_key, parse_latency, parse_ports
from incc.models.schema.fields import REQUIRED_FUNCTIONS
from incc.models.throughput import of_form


class ModelFinding(msgspec.Struct, frozen=True):
    """An error or a warning about a model file."""

    level: str
    """"error" or "warning"."""
    place: str
    """The file and line, or the file and the entry's key."""
    message: str

    def __str__(self) -> str:
        return f"{self.place}: {self.level}: {self.message}"


CONDITIONS = re.compile(
    r"indexed|same_reg|high8_[01]|mask|zeroing|bcast|lock|rep|repne|imm0|er|sae|wide|agen:[A-Z0-9_]+|rm0-3|rm4-7"
    r"|shift1-4"
)
_MOST_CYCLES = 100_000


def check(path: str, places: Sequence[str]) -> list[ModelFinding]:
    """Return all findings about one model file's own entries; inherited ones are checked in their own file.

    A file that cannot be read as a model at all is one finding.
    """
    try:
        chain = read_chain(path, places, find_model)
    except ModelError as e:
        place, _, message = str(e).rpartition(": ")
        return [ModelFinding("error", place or path, message)]
    header, problems = read_header(chain)
    findings = [ModelFinding("error", p.place, p.message) for p in problems]
    if not header["ports"] or header["isa"] not in INSTRUCTION_SETS:
        return findings
    own = chain[0]
    inherited = merge_forms(chain[1:]) if len(chain) > 1 else {}
    findings += _header_findings(chain)
    merged = merge_forms(chain)
    findings += [ModelFinding("error", p.place, p.message) for p in unknown_units(chain, merged, header["resources"])]
    for form, entries in own.forms.items():
        for conditions, fields in entries.items():
            place = f"{path}: {form_key(form, conditions)}"
            if fields.get("absent"):
                if conditions not in inherited.get(form, {}):
                    findings.append(ModelFinding("error", place, "is absent, but there is nothing to inherit"))
            elif () not in merged.get(form, {}):
                findings.append(ModelFinding("error", place, "has no entry without conditions to start from"))
            else:
                messages = _entry_findings(form, conditions, merged, header)
                messages += [("warning", m) for m in _idle(form, conditions, fields, merged, inherited)]
                findings += [ModelFinding(level, place, m) for level, m in messages]
    rules = rules_of(header["isa"])
    findings += [
        ModelFinding("error", f"{path}: {form}", message)
        for form in own.forms
        for message in rules.findings(form, merged.get(form, {}))
    ]
    return findings


def _header_findings(chain: Sequence[ModelSource]) -> list[ModelFinding]:
    own = chain[0]
    path = own.path
    findings = []
    for name in REQUIRED_FUNCTIONS:
        if not any(name in s.data.get("ports", {}).get("functions", {}) for s in chain):
            findings.append(ModelFinding("error", path, f"ports.functions.{name} is missing"))
    # Names are found in any case; a name is only clutter if it is written twice in the same way.
    for alias in own.name.aliases:
        if own.name.aliases.count(alias) > 1 or alias == own.name.name:
            findings.append(ModelFinding("warning", path, f"alias {alias!r} is listed twice"))
    if not re.search(rf"(^|/){re.escape(own.name.name.lower())}\.toml$", path.replace("\\", "/").lower()):
        findings.append(ModelFinding("warning", path, f"the file of model {own.name.name!r} should be named for it"))
    return findings


Findings = list[tuple[str, str]]
"""(level, message) of findings about an entry."""


def _entry_findings(form: str, conditions: tuple[str, ...], merged: Forms, header: Header) -> Findings:
    """Return findings about the figures that hold under an entry's conditions."""
    findings = [("error", f"unknown condition {c!r}") for c in conditions if not CONDITIONS.fullmatch(c)]
    fields = resolved(merged[form], conditions)
    if "ports" not in fields:
        findings.append(("error", 'no ports (a form without µops has ports = "")'))
    try:
        uops = parse_ports(fields.get("ports", ""), header["ports"])
        latency = parse_latency(fields.get("latency", ""))
    except ValueError as e:
        return [*findings, ("error", str(e))]
    if "retire" not in fields:
        findings.append(("error", "no retire slots"))
    findings += _latency_findings(form, fields, uops, latency, header)
    if fields.get("tp"):
        bound = of_form(uops) * max(1, fields.get("hold", 1))
        if Fraction(fields["tp"]).limit_denominator(1000) < bound and not fields.get("uops_ms"):
            findings.append(("error", f"throughput of {fields['tp']:g} cycles, but the ports need {float(bound):g}"))
    return findings + _name_findings(fields, header)


def _latency_findings(
    form: str,
    fields: dict[str, Any],
    uops: Sequence[tuple[str, int]],
    latency: Sequence[Latency],
    header: Header,
) -> Findings:
    findings = []
    rules = rules_of(header["isa"])
    breaks = fields.get("breaks")
    if not latency and uops and not breaks and rules.needs_latency(form):
        findings.append(("warning", "no latency"))
    computes = any(cycles > 0 and to != "M" and source.isdigit() for to, source, cycles in latency)
    if "ports" in fields and rules.RESULTS_ARE_COMPUTED and computes and not breaks and not _has_compute(uops, header):
        findings.append(("warning", "takes cycles from operand to result, but no µop of it computes"))
    pairs = [(to, source) for to, source, _ in latency]
    for to, source, cycles in latency:
        if pairs.count((to, source)) > 1:
            findings.append(("error", f"latency {to}<{source} is given twice"))
            break
        if cycles > _MOST_CYCLES:
            findings.append(("error", f"latency {to}<{source} of {cycles} cycles"))
    return findings


def _name_findings(fields: dict[str, Any], header: Header) -> Findings:
    """Return findings about names that an entry refers to."""
    findings = []
    if fields.get("fusion") and fields["fusion"] not in header["macro_fusion"]:
        findings.append(("error", f"unknown macro-fusion class {fields['fusion']!r}"))
    if fields.get("source") and fields["source"] not in header["sources"]:
        findings.append(("error", f"source {fields['source']!r} is not in [sources]"))
    if fields.get("divider") and not header["resources"]:
        findings.append(("error", "occupies the divider, but [ports] has no resources"))
    return findings


def _has_compute(uops: Sequence[tuple[str, int]], header: Header) -> bool:
    """Return True if a µop uses a port that is not for memory alone."""
    functions = header["functions"]
    memory = {
        port
        for name in ("load", "load_vector", "store_address", "store_data")
        for port in (functions[name].split(",") if name in functions else ())
    }
    return any(not set(ports.split(",")) <= memory for ports, _ in uops)


def _idle(form: str, conditions: tuple[str, ...], fields: dict[str, Any], merged: Forms, inherited: Forms) -> list[str]:
    """Return a message if an entry only repeats what holds without it."""
    before = inherited.get(form, {}).get(conditions)
    if before is not None:
        same = overlay(before, fields) if not conditions else {**before, **fields}
        return ["changes nothing of what it inherits"] if same == before else []
    if not conditions:
        return []
    below = resolved({c: f for c, f in merged[form].items() if c != conditions}, conditions)
    changes = {k: v for k, v in fields.items() if below.get(k, DEFAULTS[k]) != v and k != "source"}
    return [] if changes else ["changes nothing of what holds with fewer conditions"]
