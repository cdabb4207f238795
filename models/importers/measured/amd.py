"""The measurements of an AMD core, laid over a model that has the core's forms from elsewhere.

The rules are in docs/models.md ("Zen 3, measured", "Zen 5, measured").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from string import digits
from typing import Any

import msgspec

from incc.models.files.source import Conditions, Entries, Entry, Forms, resolved
from incc.models.forms.shapes import by_key, dataflow
from incc.models.importers.common import reduced
from incc.models.notation import latency_by_pair, parse_latency, port_set_name, read_usage, write_latency, write_usage
from incc.models.throughput import of_form

Record = Mapping[str, Any]
"""A measurement: µops `seen` with blockers, `latency`, reciprocal throughput `tp`."""

_LATE = 0.75
"""Cycles by which a chain must differ to be believed: half a cycle is the cost of waiting for pipes."""
_SLOWER, _UNEXPLAINED = 1.1, 1.2
"""Times what ports allow: within the first a throughput is explained, beyond the second it is not."""
_ONE_PIPE = {"FP01": "FP0", "FP23": "FP3", "FP12": "FP2"}
"""The pipe of each pair that is not in the other pairs whose blockers are used, or not in two of them."""


class MeasuredModel(msgspec.Struct, frozen=True, kw_only=True):
    """Facts about the measured core from its model."""

    source: str
    """The source of forms that do not name their own."""
    load: Mapping[str, int]
    """Cycles of loads, by class."""
    functions: Mapping[str, str]
    """Ports by function."""
    issue_width: int = 6
    """Macro-ops that are issued in a cycle."""

    def loaded(self, key: str) -> int:
        """Return the cycles of a form's load."""
        return self.load["vector" if by_key()[key].has_vector else "gpr"]


def lay_over(records: Mapping[str, Mapping[Conditions, Record]], kept: Forms, model: MeasuredModel) -> Forms:
    """Return the forms of `kept` that change, whole.

    Forms that the model lacks, or has from another source, are left out. Those that were derived from another core also
    get the ports that were seen, and what was measured under conditions.
    """
    changed: Forms = {}
    for key, by_conditions in sorted(records.items(), key=lambda record: _order(record[0])):
        entries = {c: dict(fields) for c, fields in kept.get(key, {}).items()}
        # Forms from another source than the model's are x87 and the like, which chains and copies do not measure.
        if () not in entries or entries[()].get("source", model.source) != model.source:
            continue
        if "derived" in entries[()]:
            twin = next((twin for twin in _twins(key) if twin in changed), "")
            before, after = (forms.get(twin, {}).get((), {}) for forms in (kept, changed))
            changed[key] = _measured_here(key, entries, by_conditions, model, (before, after))
            continue
        base = entries[()]
        if () in by_conditions:
            base |= _latency(base, by_conditions[()], model.loaded(key))
            base |= _throughput(base, by_conditions[()])
        same = by_conditions.get(("same_reg",))
        if same is not None and ("same_reg",) not in entries and (same_register := idiom(same, base)):
            entries["same_reg",] = same_register
        if by_conditions.get(("indexed",), {}).get("seen", {}).get("ALU0123", 0) >= 0.6 and "ALU" not in base["ports"]:
            # An arithmetic unit adds the parts of the address.
            entries["indexed",] = {"ports": write_usage({**read_usage(base["ports"]), "ALU0123": 1})}
        if entries != kept[key]:
            base.pop("source", None)
            changed[key] = entries
    return changed


def _order(key: str) -> tuple[object, ...]:
    """Return the sort key of a form, after its twins."""
    return (key.endswith("/m"), not key.startswith("VEX_"), key)


def _twins(key: str) -> list[str]:
    """Return forms that compute alike: with a register in place of memory; or of SSE, with VEX and its own target.

    Copies of SSE's forms wait for each other, so that fewer µops are seen.
    """
    register = key[:-1] + "r"
    with_vex = [f"VEX_V{register}", f"VEX_V{register.replace('_XMM', '_XMM_XMM', 1)}"]
    return [register, *with_vex] if key != register else with_vex


def _measured_here(
    key: str,
    entries: Entries,
    records: Mapping[Conditions, Record],
    model: MeasuredModel,
    twin: tuple[Entry, Entry],
) -> Entries:
    """Return the entries of a form that was derived from another core, as measured on this one.

    `twin` is a form that computes alike, as derived and as measured.
    """
    flow = dataflow(by_key()[key])
    full = {c: dict(resolved(entries, c)) for c in {*entries, *(c for c in records if "same_reg" not in c)}}
    before = full[()].get("ports", "")
    seen = records.get((), {}).get("seen")
    after = _with_ports(before, _computing(twin[0]), _computing(twin[1]))
    is_alike = bool(twin[0]) and _computing(twin[0]) == _computing(full[()])
    if seen and flow.stores:
        after = _with_data_unit(before, seen, model.functions)
    elif seen and not is_alike and not key.endswith("/m") and not full[()].get("divider"):
        after = _seen_ports(before, records[()], model.functions)
    for conditions, fields in full.items():
        fields["ports"] = _with_ports(fields.get("ports", ""), read_usage(before), read_usage(after))
        data = records.get(conditions)
        if data is None or "same_reg" in conditions:
            continue
        fields |= _latency(fields, data, model.loaded(key))
        if slots := round(data.get("slots", 0)):
            fields["retire"] = slots
        if flow.loads and flow.stores:
            continue  # The copies wait for each other's stores.
        fields.pop("tp", None)
        if fields.get("divider"):
            fields["divider"] = round(data["tp"] or fields["divider"])
        elif data["tp"]:
            fields["ports"] = _fitting(fields["ports"], after, data["tp"])
        if not slots and data["tp"] and fields["retire"] > 1:
            fields["retire"] = max(1, min(fields["retire"], int(data["tp"] * model.issue_width + 0.3)))
        fields |= _throughput(fields, data, model.issue_width, 0.05)
    del full[()]["derived"]
    if ("same_reg",) in full and full["same_reg",].get("breaks"):
        full["same_reg",] |= _idiom_here(full[()], records)
    return reduced(full)


def _with_data_unit(text: str, seen: Mapping[str, float], functions: Mapping[str, str]) -> str:
    """Return the ports of a store with the integer unit that its data were seen to take."""
    integer = port_set_name(functions["integer"].split(","))
    takes_unit = seen.get(integer, 0) >= 0.6 and "ALU" not in text
    return write_usage(read_usage(text) + Counter({integer: 1})) if takes_unit else text


def _idiom_here(base: Entry, records: Mapping[Conditions, Record]) -> Entry:
    """Return the fields of an idiom: nothing if it takes less time than the form, else the form's ports."""
    same, other = records.get(("same_reg",), {}).get("tp"), records.get((), {}).get("tp")
    if same is None:
        return {}
    return {"ports": "", "latency": ""} if same < 0.9 * (other or 0) else {"ports": base["ports"]}


def _fitting(text: str, base: str, cycles: float) -> str:
    """Return port usage that a throughput allows: that of the form without conditions, or fewer µops of wide sets."""

    def explains(usage: Mapping[str, int]) -> bool:
        return _port_bound(usage) <= _SLOWER * cycles

    usage = read_usage(text)
    if not usage or explains(usage):
        return text
    if base and explains(read_usage(base)):
        return base
    for ports in sorted(usage, key=width, reverse=True):
        while usage[ports] > 1 and not explains(usage):
            usage[ports] -= 1
    return write_usage(usage)


def _port_bound(usage: Mapping[str, int]) -> float:
    """Return the cycles that µops by port set need; "FP12" is FP1 or FP2."""
    return float(of_form((",".join(p.rstrip(digits) + d for d in p if d.isdigit()), n) for p, n in usage.items()))


def _computing(fields: Entry) -> Counter[str]:
    """Return the µops that neither load nor store."""
    usage = read_usage(fields.get("ports", ""))
    return Counter({p: n for p, n in usage.items() if not p.startswith(("AG", "ST"))})


def _with_ports(text: str, old: Counter[str], new: Counter[str]) -> str:
    """Return port usage in which the µops `old` are replaced; unchanged if it does not have all of them."""
    usage = read_usage(text)
    if not old or old == new or any(usage[p] < n for p, n in old.items()):
        return text
    usage.subtract(old)
    usage.update(new)
    return write_usage({p: n for p, n in usage.items() if n > 0})


def _seen_ports(text: str, data: Record, functions: Mapping[str, str]) -> str:
    """Return the µops of a register form, from those seen with the blockers of each set of ports.

    Counts beyond what the throughput allows come from late results. Data from general-purpose registers take
    a way of its own into the vector unit. Forms of more than three µops keep those that they have.
    """
    usage = read_usage(text)
    tp = data["tp"] or 0
    seen = Counter({p: min(int(n + 0.4), int(tp * width(p) + 0.3)) for p, n in data["seen"].items()})
    total = seen["FP0123"]
    if not text or (usage.total() > 3 and not seen["FP6"]) or total > 2:
        return text
    vector = _vector_ports(seen, total)
    integer = Counter({p: n for p, n in usage.items() if p.startswith("ALU")})
    names = {role: port_set_name(functions[role].split(",")) for role in ("integer", "multiply", "shift")}
    enters = seen["FP6"]
    if enters:
        integer = Counter({names["multiply"]: min(2, seen[names["multiply"]])})
    elif usage["FP45"] and integer:
        integer = Counter({names["integer"]: 1})
    elif integer.total() == 1:
        which = next((r for r in ("multiply", "shift", "integer") if seen[names[r]]), "integer")
        integer = Counter({names[which]: 1})
    # Operands beyond the second one are read through the ways of stored data, but for those of multiplications: 12
    # permutations of two registers and 12 stores take 12 cycles, 24 multiplications with an addition and 12 stores 12.
    reads_three = seen["FP45"] and tp > 0.45 and vector and not integer and not seen["FP01"]
    rest = Counter({"FP45": 1}) if reads_three else Counter({p: n for p, n in usage.items() if p == "FP45"})
    return write_usage({p: n for p, n in (integer + vector + rest + Counter({"FP6": enters})).items() if n > 0})


def _vector_ports(seen: Mapping[str, int], total: int) -> Counter[str]:
    """Return at most two µops by set of the pipes FP0 to FP3: if sets that share a pipe both count one, that pipe."""
    pairs = {p: min(total, seen.get(p, 0)) for p in ("FP01", "FP23", "FP12", "FP03")}
    uops = Counter({p: n for p, n in pairs.items() if n})
    for one, other in (("FP01", "FP12"), ("FP12", "FP23"), ("FP23", "FP03"), ("FP03", "FP01")):
        if uops.total() > total and uops[one] and uops[other]:
            uops.subtract((one, other))
            uops[f"FP{set(one[2:]).intersection(other[2:]).pop()}"] += 1
    uops["FP0123"] += max(0, total - uops.total())
    return +uops


def width(ports: str) -> int:
    """Return the number of ports in a set ("ALU0123")."""
    return sum(character.isdigit() for character in ports)


def idiom(same: Record, base: Entry) -> Entry:
    """Return the entry with one register for all sources: nothing, or that the result does not depend on it."""
    if not same["latency"] or any(c > 0.6 and s not in ("C", "SPAZO") for _, s, c in same["latency"]):
        return {}
    if not base.get("ports"):
        return {}
    if same["seen"]:
        return {"breaks": True}
    return {"ports": "", "latency": "", "breaks": True}


def _latency(fields: Entry, data: Record, loaded: int) -> Entry:
    """Return pairs of operands that were measured otherwise, but for those that take no time.

    Elimination by the renamer cannot be distinguished from a path back whose measured latency is too long.
    """
    measured = {(t, s): c - (loaded if s == "m" else 0) for t, s, c in data["latency"]}
    pairs = latency_by_pair(fields.get("latency", ""))
    late = {
        pair: round(measured[pair])
        for pair, cycles in pairs.items()
        if pair in measured and pair[1] != "a" and measured[pair] > 0.6 and abs(measured[pair] - cycles) >= _LATE
    }
    return {"latency": write_latency((*pair, cycles) for pair, cycles in {**pairs, **late}.items())} if late else {}


def _throughput(fields: Entry, data: Record, issue_width: int = 6, step: float = 0.5) -> Entry:
    """Return one pipe instead of two where that explains a throughput, else the throughput itself, in steps."""
    cycles = data["tp"]
    ports = read_usage(fields.get("ports", ""))
    if not cycles or not ports or fields.get("divider") or fields.get("tp"):
        return {}
    chained = max((c for t, s, c in parse_latency(fields.get("latency", "")) if t == s), default=0)
    held: float = fields.get("hold", 1)
    slots: float = fields.get("retire", 1)

    def bound(usage: Mapping[str, int]) -> float:
        return max(slots / issue_width, held * _port_bound(usage))

    if cycles <= max(_UNEXPLAINED * bound(ports), _SLOWER * chained) + 0.05:
        return {}
    for pair, pipe in _ONE_PIPE.items():
        if pair not in ports or data["seen"].get(pair, 0) < 0.6 * ports[pair]:
            continue
        narrowed = {pipe if p == pair else p: n for p, n in ports.items()}
        if bound(ports) < bound(narrowed) <= cycles * _SLOWER:
            return {"ports": write_usage(narrowed)}
    rounded = round(round(cycles / step) * step, 2)
    return {"tp": int(rounded) if rounded == int(rounded) else rounded} if rounded > _UNEXPLAINED * bound(ports) else {}
