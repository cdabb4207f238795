"""Checks a model file for what no reader would notice: contradictions, gaps and entries that can never apply."""

from __future__ import annotations

import re
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models import parameters
from incc.models.compile import (
    DEFAULTS,
    Forms,
    Source,
    merge_forms,
    overlay,
    read_chain,
    read_header,
    unknown_units,
)
from incc.models.model import ModelError, form_key, parse_latency, parse_ports

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
    r"indexed|same_reg|high8_[01]|mask|zeroing|bcast|lock|rep|repne|imm0|er|sae|agen:[A-Z0-9_]+|rm0-3|rm4-7|shift1-4"
)


def check(path: str, places: Sequence[str]) -> list[Finding]:
    """All findings about one model file, its own entries only; what it inherits is checked where it is written.

    A file that cannot be read as a model at all is one finding.
    """
    try:
        chain = read_chain(path, places)
    except ModelError as e:
        place, _, message = str(e).rpartition(": ")
        return [Finding("error", place or path, message)]
    header, problems = read_header(chain)
    found = [Finding("error", *p) for p in problems]
    if not header["ports"] or not header["isa"]:
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
    if header["isa"] == "x86":
        found += [
            Finding("error", f"{path}: {form}", m) for form in own.forms for m in _decoder(form, merged.get(form, {}))
        ]
    elif header["isa"] == "aarch64":
        found += [Finding("error", f"{path}: {f}", m) for f in own.forms for m in _aarch64(f, merged.get(f, {}))]
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
    if not latency and uops and not fields.get("breaks") and _needs_latency(form):
        found.append(("warning", "no latency"))
    if (
        "ports" in fields
        and header["isa"] == "x86"
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
        bound = port_bound(uops) * max(1, fields.get("hold", 1))
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


def port_bound(uops: Sequence[tuple[str, int]]) -> Fraction:
    """Cycles that the µops need at least on their ports: over all unions of port sets, µops in it by ports in it."""
    best = Fraction(0)
    sets = sorted({frozenset(p.split(",")) for p, _ in uops}, key=sorted)
    for n in range(1, len(sets) + 1):
        for chosen in combinations(sets, n):
            union = frozenset().union(*chosen)
            load = sum(count for p, count in uops if frozenset(p.split(",")) <= union)
            best = max(best, Fraction(load, len(union)))
    return best


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


_SHAPE = re.compile(
    r"[xwbhsdq]|v\.\d*[bhsdq](\[\])?|z(\.[bhsdq](\[\])?)?|pn?(\.[bhsdq]|/[zm])?(\[\])?|#|label|cond|pattern|prfop|option|sysreg"
    r"|\{[vzp][^{}]*\*\d\}(\[\])?|(lsl|lsr|asr|ror|msl|mul|[us]xt[bhwx])#?|za.*"
)


def _aarch64(form: str, entries: dict[tuple[str, ...], Any]) -> list[str]:
    """What reading an AArch64 instruction never gives, and latencies that name operands that are not there."""
    from incc.frontends.aarch64.forms import split_operands

    mnemonic, _, text = form.partition("/")
    if not re.fullmatch(r"[a-z][a-z0-9]*(\.cond)?", mnemonic):
        return ["is no form that the decoder knows"]
    address = text.find("[x") if "[x" in text else text.find("[z.")
    memory = address >= 0
    shapes = split_operands(text[:address].rstrip(",") if memory else text)
    found = [f"{shape!r} is no shape of an operand" for shape in shapes if not _SHAPE.fullmatch(shape)]
    literal = shapes[-1:] == ["label"] and mnemonic.startswith("ld")
    for fields in entries.values():
        try:
            pairs = parse_latency(fields.get("latency", ""))
        except ValueError:
            continue
        for name in sorted({n for t, s, _ in pairs for n in (t, s)}):
            good = name in ("C", "SPAZO") or (name in ("m", "M", "a") and (memory or literal))
            if not (int(name) < len(shapes) if name.isdigit() else good):
                found.append(f"latency names {name!r}, which is no operand")
    return found


def _needs_latency(form: str) -> bool:
    from incc.models.importers.shapes import by_key, dataflow

    shape = by_key().get(form)
    flow = None if shape is None else dataflow(shape)
    return flow is not None and bool(flow.sources) and any(t != "M" for t in flow.targets)


def _decoder(form: str, entries: dict[tuple[str, ...], Any]) -> list[str]:
    """What the decoder never produces: unknown codes, impossible operands, and latencies that name them."""
    from incc.models.importers.shapes import by_key, dataflow

    shape = by_key().get(form)
    if shape is None:
        code, _, kind = form.rpartition("/")
        other = f"{code}/{'r' if kind == 'm' else 'm'}"
        return [f"has no /{kind} form, only {other}" if other in by_key() else "is no form that the decoder knows"]
    found = []
    flow = dataflow(shape)
    masked = dataflow(shape, mask=True) if shape.info.can_use_op_mask_register else flow
    for conditions, fields in entries.items():
        try:
            pairs = parse_latency(fields.get("latency", ""))
        except ValueError:
            continue
        now = masked if "mask" in conditions else flow
        if now is None:
            continue
        for name in sorted({n for t, s, _ in pairs for n in (t, s)}):
            if name.isdigit():
                good = int(name) < len(shape.operands)
            elif name in ("m", "M", "a", "k"):
                good = {
                    "m": now.loads or bool({"M", "VSIB"} & set(shape.operands)) or shape.has_memory,
                    "M": now.stores,
                    "a": shape.has_memory,
                    "k": masked is not None and "k" in masked.sources,
                }[name]
            else:
                good = name in ("C", "SPAZO") or name in now.sources or name in now.targets
            if not good:
                found.append(f"{form_key('', conditions).strip()} latency names {name!r}, which is no operand".strip())
    return found
