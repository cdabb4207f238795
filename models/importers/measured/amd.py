"""The measurements of an AMD core, laid over a model that has the core's forms from elsewhere.

The rules are in docs/models.md ("Zen 3, measured").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from incc.models.files.source import Conditions, Entry, Forms
from incc.models.forms.shapes import by_key
from incc.models.notation import latency_by_pair, parse_latency, read_usage, write_latency, write_usage

Record = Mapping[str, Any]
"""A measurement: µops `seen` beside blockers, `latency`, reciprocal throughput `tp`."""

_LATE = 0.75
"""Cycles by which a chain must differ to be believed: half a cycle is the cost of waiting for pipes."""
_SLOWER, _UNEXPLAINED = 1.1, 1.2
"""Times what ports allow: within the first a throughput is explained, beyond the second it is not."""
_ONE_PIPE = {"FP01": "FP0", "FP23": "FP3", "FP12": "FP2"}
"""The pipe of each pair that is not in the other pairs whose blockers are used, or not in two of them."""


def lay_over(
    records: Mapping[str, Mapping[Conditions, Record]], kept: Forms, load: Mapping[str, int], default: str
) -> Forms:
    """Return the forms of `kept` that change, whole.

    `load` has cycles of loads, by class; `default` is the model's source. Forms that the model lacks, or has from
    another source, are left out.
    """
    changed: Forms = {}
    for key, by_conditions in records.items():
        entries = {c: dict(fields) for c, fields in kept.get(key, {}).items()}
        # Forms from another source than the model's are x87 and the like, which chains and copies do not measure.
        if () not in entries or entries[()].get("source", default) != default:
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
