"""The measurements of an AMD core, laid over a model that has the core's forms from elsewhere.

The rules are in docs/models.md ("Zen 3, measured", "Zen 5, measured").
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from incc.models.files.source import Conditions, Entries, Entry, Forms, resolved
from incc.models.forms.shapes import by_key
from incc.models.importers.common import reduced
from incc.models.notation import latency_by_pair, parse_latency, port_set_name, read_usage, write_latency, write_usage

Record = Mapping[str, Any]
"""A measurement: µops `seen` beside blockers, `latency`, reciprocal throughput `tp`."""

_LATE = 0.75
"""Cycles by which a chain must differ to be believed: half a cycle is the cost of waiting for pipes."""
_SLOWER, _UNEXPLAINED = 1.1, 1.2
"""Times what ports allow: within the first a throughput is explained, beyond the second it is not."""
_ONE_PIPE = {"FP01": "FP0", "FP23": "FP3", "FP12": "FP2"}
"""The pipe of each pair that is not in the other pairs whose blockers are used, or not in two of them."""


def lay_over(
    records: Mapping[str, Mapping[Conditions, Record]],
    kept: Forms,
    load: Mapping[str, int],
    default: str,
    functions: Mapping[str, str],
) -> Forms:
    """Return the forms of `kept` that change, whole.

    `load` has cycles of loads, by class; `default` is the model's source; `functions` has port sets by function. Forms
    that the model lacks, or has from another source, are left out. Those that were derived from another core also get
    the ports that were seen, and what was measured under conditions.
    """
    changed: Forms = {}
    for key, by_conditions in sorted(records.items(), key=lambda record: (record[0].endswith("/m"), record[0])):
        entries = {c: dict(fields) for c, fields in kept.get(key, {}).items()}
        # Forms from another source than the model's are x87 and the like, which chains and copies do not measure.
        if () not in entries or entries[()].get("source", default) != default:
            continue
        if "derived" in entries[()]:
            twin = key[:-1] + "r"
            before, after = kept.get(twin, {}).get((), {}), changed.get(twin, kept.get(twin, {})).get((), {})
            changed[key] = _measured_here(key, entries, by_conditions, load, functions, (before, after))
            continue
        base = entries[()]
        if () in by_conditions:
            loaded = load["vector" if by_key()[key].has_vector else "gpr"]
            base |= _latency(base, by_conditions[()], loaded)
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


def _measured_here(
    key: str,
    entries: Entries,
    records: Mapping[Conditions, Record],
    load: Mapping[str, int],
    functions: Mapping[str, str],
    twin: tuple[Entry, Entry],
) -> Entries:
    """Return the entries of a form that was derived from another core, as measured on this one.

    `twin` is the form with a register in place of memory, as derived and as measured: with memory, it computes alike.
    """
    shape = by_key()[key]
    full = {c: dict(resolved(entries, c)) for c in {*entries, *(c for c in records if "same_reg" not in c)}}
    before = full[()].get("ports", "")
    seen = records.get((), {}).get("seen")
    after = _with_ports(before, _computing(twin[0]), _computing(twin[1])) if key.endswith("/m") else before
    if seen and not key.endswith("/m") and not full[()].get("divider"):
        after = _seen_ports(before, records[()], functions)
    for conditions, fields in full.items():
        fields["ports"] = _with_ports(fields.get("ports", ""), read_usage(before), read_usage(after))
        data = records.get(conditions)
        if data is None or "same_reg" in conditions:
            continue
        fields.pop("tp", None)
        loaded = load["vector" if shape.has_vector else "gpr"]
        fields |= _latency(fields, data, loaded)
        if fields.get("divider"):
            fields["divider"] = round(data["tp"] or fields["divider"])
        fields |= _throughput(fields, data)
        if slots := round(data.get("slots", 0)):
            fields["retire"] = slots
    del full[()]["derived"]
    same, base = records.get(("same_reg",)), records.get((), {})
    if same is not None and ("same_reg",) in full and full["same_reg",].get("breaks"):
        eliminated = bool(same["tp"]) and same["tp"] < 0.8 * (base.get("tp") or 0)
        full["same_reg",] |= {"ports": "", "latency": ""} if eliminated else {"ports": full[()]["ports"]}
    return reduced(full)


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
    """Return the µops of a register form, from those seen beside the blockers of each set of ports.

    Counts beyond what the throughput allows come from late results. What comes from general-purpose registers takes
    a way of its own into the vector unit. Forms of more than three µops keep those that they have.
    """
    usage = read_usage(text)
    tp = data["tp"] or 0
    seen = Counter({p: min(int(n + 0.4), int(tp * width(p) + 0.3)) for p, n in data["seen"].items()})
    total = seen["FP0123"]
    if not text or usage.total() > 3 or total > 2:
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
    rest = Counter({p: n for p, n in usage.items() if p == "FP45"})
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

    Elimination by the renamer cannot be told from a way back that was measured too long.
    """
    measured = {(t, s): c - (loaded if s == "m" else 0) for t, s, c in data["latency"]}
    pairs = latency_by_pair(fields.get("latency", ""))
    late = {
        pair: round(measured[pair])
        for pair, cycles in pairs.items()
        if pair in measured and pair[1] != "a" and measured[pair] > 0.6 and abs(measured[pair] - cycles) >= _LATE
    }
    return {"latency": write_latency((*pair, cycles) for pair, cycles in {**pairs, **late}.items())} if late else {}


def _throughput(fields: Entry, data: Record) -> Entry:
    """Return one pipe instead of two where that explains a throughput, else the throughput itself."""
    cycles = data["tp"]
    ports = read_usage(fields.get("ports", ""))
    if not cycles or not ports or fields.get("divider") or fields.get("tp"):
        return {}
    chained = max((c for t, s, c in parse_latency(fields.get("latency", "")) if t == s), default=0)
    held = fields.get("hold", 1)

    def bound(usage: Mapping[str, int]) -> float:
        return float(max(fields.get("retire", 1) / 6, *(n * held / width(p) for p, n in usage.items())))

    if cycles <= max(_UNEXPLAINED * bound(ports), _SLOWER * chained) + 0.05:
        return {}
    for pair, pipe in _ONE_PIPE.items():
        if pair not in ports or data["seen"].get(pair, 0) < 0.6 * ports[pair]:
            continue
        narrowed = {pipe if p == pair else p: n for p, n in ports.items()}
        if bound(ports) < bound(narrowed) <= cycles * _SLOWER:
            return {"ports": write_usage(narrowed)}
    rounded = round(2 * cycles) / 2
    return {"tp": int(rounded) if rounded == int(rounded) else rounded} if rounded > _UNEXPLAINED * bound(ports) else {}
