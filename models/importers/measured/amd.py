"""The measurements of an AMD core, laid over a model that has the core's forms from elsewhere.

The rules are in docs/models.md ("Zen 3, measured").
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.models.files.source import Entry, Forms
from incc.models.notation import parse_latency, write_latency

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Records = dict[str, dict[tuple[str, ...], dict[str, Any]]]

_LATE = 0.75
"""Cycles by which a chain must differ to be believed: half a cycle is the cost of waiting for pipes."""
_SLOWER, _UNEXPLAINED = 1.1, 1.2
"""Times what ports allow: within the first a throughput is explained, beyond the second it is not."""
_ONE_PIPE = {"FP01": "FP0", "FP23": "FP3", "FP12": "FP2"}
"""The pipe of each pair that is not in the other pairs whose blockers are used, or not in two of them."""


def lay_over(
    records: Records,
    kept: Forms,
    load: Mapping[str, int],
    width: Callable[[str], int],
    idiom: Callable[[Mapping[str, Any], Entry], Entry],
    vectors: Callable[[str], bool],
    default: str,
) -> Forms:
    """Return the forms of `kept` that change, whole.

    `load` has cycles of loads, by class; `width` the width of a set of ports; `idiom` the entry with one register for
    all sources, from a measurement with one; `vectors` is True if a form has vector registers; `default` is the model's
    source. Forms that the model lacks, or has from another source, are left out.
    """
    changed: Forms = {}
    for key, by_conditions in records.items():
        entries = {c: dict(fields) for c, fields in kept.get(key, {}).items()}
        # Forms from another source than the model's are x87 and the like, which chains and copies do not measure.
        if () not in entries or entries[()].get("source", default) != default:
            continue
        base = entries[()]
        if () in by_conditions:
            loaded = load["vector" if vectors(key) else "gpr"]
            base |= _latency(base, by_conditions[()], loaded)
            base |= _throughput(base, by_conditions[()], width)
        same = by_conditions.get(("same_reg",))
        if same is not None and ("same_reg",) not in entries and (found_idiom := idiom(same, base)):
            entries["same_reg",] = found_idiom
        if by_conditions.get(("indexed",), {}).get("seen", {}).get("ALU0123", 0) >= 0.6 and "ALU" not in base["ports"]:
            # An arithmetic unit adds the parts of the address.
            ports = {**_terms(base["ports"]), "ALU0123": 1}
            entries["indexed",] = {"ports": "+".join(f"{n}*{p}" for p, n in sorted(ports.items()))}
        if entries != kept[key]:
            base.pop("source", None)
            changed[key] = entries
    return changed


def _latency(fields: Entry, data: Mapping[str, Any], loaded: int) -> Entry:
    """Return pairs of operands that were measured otherwise, but for those that take no time.

    Elimination by the renamer cannot be told from a way back that was measured too long.
    """
    measured = {(t, s): c - (loaded if s == "m" else 0) for t, s, c in data["latency"]}
    pairs, differs = [], False
    for to, source, cycles in parse_latency(fields.get("latency", "")):
        seen = measured.get((to, source))
        if seen is not None and abs(seen - cycles) >= _LATE and seen > 0.6 and source != "a":
            cycles, differs = round(seen), True
        pairs.append((to, source, cycles))
    return {"latency": write_latency(pairs)} if differs else {}


def _throughput(fields: Entry, data: Mapping[str, Any], width: Callable[[str], int]) -> Entry:
    """Return one pipe instead of two where that explains a throughput, else the throughput itself."""
    cycles = data["tp"]
    ports = _terms(fields.get("ports", ""))
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
            changes: Entry = {"ports": "+".join(f"{n}*{p}" for p, n in sorted(narrowed.items()))}
            return changes
    rounded = round(2 * cycles) / 2
    return {"tp": int(rounded) if rounded == int(rounded) else rounded} if rounded > _UNEXPLAINED * bound(ports) else {}


def _terms(ports: str) -> dict[str, int]:
    terms: dict[str, int] = {}
    for term in ports.split("+") if ports else ():
        count, _, name = term.partition("*")
        terms[name] = terms.get(name, 0) + int(count)
    return terms
