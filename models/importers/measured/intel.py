"""Measurements of an Intel core by time alone, laid over its model: latencies, ports, throughput.

Ports are numbers here, and the model has uops.info's measurements with counters, or figures of relatives.
docs/models.md describes how the file is read, which of two sources is believed, and the notes on contradictions.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from incc.models.files.source import Conditions, Entries, Entry, Forms, resolved
from incc.models.forms.shapes import Shape, by_key, dataflow
from incc.models.importers.common import Imported, differences, reduced
from incc.models.notation import (
    latency_by_pair,
    parse_latency,
    parse_port_set,
    read_usage,
    write_latency,
    write_usage,
)
from incc.models.throughput import of_form

Records = Mapping[str, Mapping[Conditions, Mapping[str, Any]]]

SOURCE = "measured"

_VECTOR_SETS = ("p0", "p1", "p5", "p01", "p15", "p015")
_WIDTHS = ("XMM", "YMM", "ZMM")
# Their cycles depend on the values: uops.info's are the least there are. Square roots were measured of values as they
# come (4 cycles of 1.0, 6 of most others); divisions of both kinds take as long in either source.
_BY_VALUE = re.compile(r"(DIV|IDIV)$|V?DIV[PS][SD]$")
_DIVIDES = re.compile(r"V?(DIV|SQRT)[PS][SDH]$")
# Loads of vectors that compute start, seen from the way back to a general-purpose register, so many cycles after the
# address: a cycle more than plain loads of 128 bits.
_COMPUTING_LOAD = 8
_SURE = 0.75
"""The difference from another source's whole cycles from which on a chain is believed instead."""

_RENAMED = 0.185
"""Cycles that only instructions without a port stay below, of six slots a cycle and five ports for arithmetic."""


def import_records(
    records: Records, kept: Forms, inherited: Forms, wanted: set[str], default: str, ports: Sequence[str]
) -> Imported:
    """Return the forms of `wanted` that were measured: in full, or their differences from the `inherited` ones.

    `kept` has the model's forms, with inherited ones; `default` is the source of its figures that do not name one;
    `ports` are the core's.
    """
    reader = _Reader(records, kept, default, ports)
    made: Forms = {}
    for key in sorted(records, key=lambda k: (_width(k), k.endswith("/m"), k)):
        if key in wanted and () in records[key] and (form_entries := reader.form(key)) is not None:
            made[key] = form_entries
    # Sources come with the difference, as a field of its own.
    result: Forms = {}
    for key, entries in made.items():
        if key in inherited:
            stated = {c: {n: v for n, v in f.items() if n != "source"} for c, f in entries.items()}
            new, old = (e[key][()].get("source", default) for e in (made, inherited))
            changed = differences({key: stated}, {key: inherited[key]}, old)
            if key not in changed:
                continue
            entries = changed[key]
            if new != old:
                entries = {(): {}, **entries}
                entries[()] = {**entries[()], "source": new}
        result[key] = entries
    return Imported(forms=result, unmatched=reader.unmatched, notes=reader.notes, prefers=True)


def _width(key: str) -> int:
    """Return the widest vector register in a form's name: -1 for none, 2 for 512 bits."""
    return max((n for n, name in enumerate(_WIDTHS) if name in key), default=-1)


class _Reader:
    """The conversion of records to forms; narrow vectors go before wide ones, and registers before memory."""

    def __init__(self, records: Records, kept: Forms, default: str, ports: Sequence[str]) -> None:
        self.records = records
        self.kept = kept
        self.default = default
        self.ports = ports
        self.made: dict[str, Entries] = {}
        self.unmatched: list[tuple[str, str]] = []
        self.notes: list[str] = []

    def form(self, key: str) -> Entries | None:
        """Return all entries of a form; None if nothing is known of its ports, or if nothing new was measured of it."""
        shape = by_key()[key]
        existing = self.kept.get(key) or self._relative(shape)
        if () not in existing:
            self.unmatched.append((key, "no relative has its ports"))
            return None
        base = existing[()]
        origin = base.get("source", self.default)
        # uops.info's forms, by counters, and other encodings of the same.
        counted = key in self.kept and origin == "uops.info" and not (base.get("derived") and shape.encoding == "EVEX")
        measured = {c: d for c, d in self.records[key].items() if "same_reg" not in c}
        full: Entries = {c: _laid_over(existing, c) for c in {*existing, *measured}}
        changed: set[bool] = set()  # beside wide vectors, and otherwise
        for conditions in sorted(measured, key=len):
            before = full[conditions]
            full[conditions] = self._entry(shape, conditions, dict(before), counted, origin)
            if _without_origin(full[conditions]) != _without_origin(before):
                changed.add("wide" in conditions)
            if not conditions:
                _hand_down(existing, full, before, full[()])
        if ("mask", "same_reg") in full:
            # Merging reads the destination, whatever the sources are.
            full["mask", "same_reg"] = {**full["mask",], "breaks": False}
        if counted and not changed:
            self.made[key] = {c: _laid_over(existing, c) for c in existing}
            return None
        self.made[key] = full
        made = reduced(full)
        made[()] = {**made[()], "source": origin if counted and changed == {True} else SOURCE}
        return made

    def _entry(self, shape: Shape, conditions: Conditions, entry: Entry, counted: bool, origin: str) -> Entry:
        """Return an entry with the figures measured under its conditions; `entry` may be changed."""
        data = self.records[shape.key][conditions]
        if any(c.startswith("agen:") for c in conditions):
            # For some addresses uops.info's chain ran through another register; the rest is the renamer's work.
            latency = _address_latency(data, entry)
            return entry if latency is None else {**entry, "latency": latency}
        latency = self._latency(shape, conditions, data, entry, counted)
        if latency is not None:
            entry["latency"] = latency
        if "wide" in conditions:
            self._beside_wide(data, entry)
        elif not counted:
            self._ports(shape, conditions, data, entry, origin)
        if not conditions:
            self._throughput(shape, data, entry, counted)
        return _without_origin(entry)

    # --- ports --------------------------------------------------------------------------------------------------------

    def _relative(self, shape: Shape) -> Mapping[Conditions, Entry]:
        """Return the start for a form that is not in the model: another name of it, or no µops yet."""
        if "_R64M16" in shape.key:
            return self.made.get(shape.key.replace("_R64M16", "_R32M16"), {})
        twin = shape.key[:-1] + "r"
        has_relative = (shape.has_memory and twin in self.made) or self._sibling(shape) in self.made
        if has_relative or self._sets(self.records[shape.key][()]):
            return {(): {"ports": "", "retire": 1}}
        return {}

    def _ports(self, shape: Shape, conditions: Conditions, data: Mapping[str, Any], entry: Entry, origin: str) -> None:
        """Put the measured µops into an entry, where those that it has contradict them.

        `origin` is the source of the entry's own; those of uops.info's are not replaced by the register form's.
        """
        flow = dataflow(shape, "mask" in conditions)
        if _BY_VALUE.match(shape.mnemonic) or not (data["seen"] or data.get("tp")):
            return
        memory, computing = _split(entry.get("ports", ""))
        reads_memory = shape.has_memory and not flow.stores
        if reads_memory and origin != "uops.info" and (twin := self._twin(shape, conditions)) is not None:
            computing = _split(twin.get("ports", ""))[1]
        in_vectors = shape.has_vector or "K" in shape.operands
        uops = self._computing(shape, data, computing) if in_vectors else _general(data, computing)
        if uops is None:
            return
        if reads_memory and flow.loads:
            memory = Counter({"p23" if shape.memory_bits == 512 and "bcast" not in conditions else "p23A": 1})
        if "mask" in conditions and flow.loads and not uops:
            uops = Counter({"p05" if _width(shape.key) == 2 else "p015": 1})  # a masked load blends
        ports = write_usage(memory + uops)
        if ports != entry.get("ports", ""):
            entry["ports"] = ports
            self._set_slots(shape, entry, computing.total(), uops.total())

    def _set_slots(self, shape: Shape, entry: Entry, before: int, total: int) -> None:
        """Set an entry's issue slots and decoders, with `total` µops that compute where there were `before`."""
        if not shape.has_memory or shape.key not in self.kept:
            entry["retire"] = max(1, total)
        elif total != before:
            entry["retire"] = max(1, entry.get("retire", 1) + total - before)
        for name in ("complex_decoder", "simple_decoders"):
            entry.pop(name, None)
        if entry["retire"] > 1:
            entry["complex_decoder"] = True
            if entry["retire"] < 4:
                entry["simple_decoders"] = 6 - entry["retire"]

    def _beside_wide(self, data: Mapping[str, Any], entry: Entry) -> None:
        """Change the ports of µops that go to ports 1 and 5 alone.

        While wide vectors close port 1, they go to 5 only, or to 0 as well.
        """
        usage = read_usage(entry.get("ports", ""))
        if data.get("tp") and usage.get("p15") == 1 and data["tp"] < _SURE:
            del usage["p15"]
            entry["ports"] = write_usage(usage + Counter({"p05": 1}))

    def _twin(self, shape: Shape, conditions: Conditions) -> Entry | None:
        """Return the entry of the form with a register in place of memory."""
        entries = self.made.get(shape.key[:-1] + "r")
        if entries is None:
            return None
        return _laid_over(entries, tuple(c for c in conditions if c != "bcast"))

    def _sibling(self, shape: Shape) -> str:
        """Return the same operation on vectors half or a quarter as wide, "" if it was not measured."""
        for wide, narrow in (("ZMM", "YMM"), ("ZMM", "XMM"), ("YMM", "XMM")):
            if wide not in shape.key:
                continue
            name = shape.key.replace("XMM", "xmm").replace(wide, narrow).replace("xmm", "XMM")
            for bits in ((512, 256), (256, 128)) if wide == "ZMM" else ((256, 128),):
                name = name.replace(f"MMM{bits[0]}", f"MMM{bits[1]}") if narrow in name else name
            name = name.replace("XMMM256", "XMMM128")
            for candidate in (name, re.sub(r"_(ER|SAE)(?=/)", "", name)):
                if candidate in self.records and candidate != shape.key:
                    return candidate
        return ""

    def _computing(self, shape: Shape, data: Mapping[str, Any], existing: Counter[str]) -> Counter[str] | None:
        """Return the µops that neither load nor store; None to keep the model's."""
        if sum(existing.values()) > 6 or _DIVIDES.match(shape.mnemonic):
            return None  # from microcode, or busy for long: the counts come from waiting
        if _width(shape.key) == 2 or shape.memory_bits == 512:
            return self._wide(shape, data, existing)
        if "YMM" in shape.key:
            return self._half_wide(shape, data, existing)
        return self._sets(data, existing)

    def _half_wide(self, shape: Shape, data: Mapping[str, Any], existing: Counter[str]) -> Counter[str] | None:
        """Return µops of 256 bits from the narrower form.

        With blockers of 128 bits, about half of the counts are too small.
        """
        if shape.has_memory and existing:
            # A load broadcasts or widens by itself; between registers that takes port 5.
            alone = Counter({p: n for p, n in existing.items() if p != "p5"})
            return alone if data.get("tp") and data["tp"] < 0.7 * self.bound(existing) else existing
        name = self._sibling(shape)
        if name in self.made and not shape.has_memory:
            theirs = _split(self.made[name][()].get("ports", ""))[1]
            seen = _counts(data)
            fits = all(seen.get(p, 0) <= theirs.get(p, 0) for p in ("p0", "p5"))
            if fits and (theirs.total() == existing.total() or self._nearer(theirs, existing, data)):
                return theirs
        return existing or self._sets(data)

    def _sets(self, data: Mapping[str, Any], existing: Counter[str] | None = None) -> Counter[str] | None:
        """Return µops by port set from the counts on each set; larger sets include the counts of smaller ones.

        Counts on which the runs disagree (`unsure`) are taken from `existing`, and without that there is no answer.
        """
        seen = _counts(data)
        for name in _VECTOR_SETS:
            if name in data.get("unsure", ()):
                if existing is None:
                    return None
                seen[name] = sum(n for p, n in existing.items() if set(p) <= set(name))
        uops = {p: seen.get(p, 0) for p in ("p0", "p1", "p5")}
        uops["p01"] = seen.get("p01", 0) - uops["p0"] - uops["p1"]
        uops["p15"] = seen.get("p15", 0) - uops["p1"] - uops["p5"]
        uops["p015"] = seen.get("p015", 0) - sum(uops.values())
        if any(n < 0 for n in uops.values()):
            return existing
        return Counter({p: n for p, n in uops.items() if n})

    def _wide(self, shape: Shape, data: Mapping[str, Any], existing: Counter[str]) -> Counter[str]:
        """Return µops of 512 bits: p0 and p5 tell those that can go nowhere else.

        The number of µops is the narrower form's.
        """
        name = self._sibling(shape)
        candidates = [existing]
        total = sum(existing.values())
        if name in self.made and not shape.has_memory:
            total = sum(_split(self.made[name][()].get("ports", ""))[1].values())
        seen = _counts(data, 0.55)
        if not {"p0", "p5"} & set(data.get("unsure", ())):
            zero, five = seen.get("p0", 0), seen.get("p5", 0)
            candidates += [
                Counter({p: c for p, c in (("p0", zero), ("p5", five), ("p05", n - zero - five)) if c})
                for n in (total, sum(existing.values()), zero + five)
                if n >= zero + five
            ]
        best = candidates[0]
        for candidate in candidates[1:]:
            if self._nearer(candidate, best, data):
                best = candidate
        return best

    def _nearer(self, one: Counter[str], other: Counter[str], data: Mapping[str, Any]) -> bool:
        """Return True if the throughput of these µops is clearly nearer to the measured one than that of the others."""
        if not data.get("tp"):
            return False
        # 512 bits change the clock within a sample, most often so that too few cycles are counted.
        errors = [max(t := self.bound(p) / data["tp"], 1 / t) if p else 9.0 for p in (one, other)]
        return bool(errors[0] < 1.4 <= errors[1] or errors[0] * 1.3 < errors[1])

    def bound(self, ports: Mapping[str, int]) -> float:
        """Return the throughput that µops allow on their ports."""
        usage = [(parse_port_set(p, self.ports), n) for p, n in ports.items()]
        return float(of_form(usage)) if usage else 0.0

    def _throughput(self, shape: Shape, data: Mapping[str, Any], entry: Entry, counted: bool) -> None:
        """Note a throughput that neither ports nor a chain explain, and the divider's cycles."""
        cycles = data.get("tp")
        if not cycles or (counted and _BY_VALUE.match(shape.mnemonic)):
            return
        if _DIVIDES.match(shape.mnemonic):
            if not counted or abs(cycles - entry.get("divider", 0)) > _SURE:
                entry["divider"] = round(cycles)
            return
        if "I16" in shape.operands:
            return  # its prefix stalls the predecoder
        bound = max(self.bound(read_usage(entry.get("ports", ""))), entry.get("retire", 1) / 6)
        pairs = parse_latency(entry.get("latency", ""))
        chained = max((c for t, s, c in pairs if t == s or not (t.isdigit() and s.isdigit())), default=0)
        if counted and not data["latency"] and not shape.has_memory and cycles < _RENAMED < bound:
            entry["ports"] = ""  # A constant: as many a cycle as are renamed, not as there are ports.
            return
        low = 0.6 if _width(shape.key) == 2 else 0.85
        if bound and cycles < low * bound - 0.05:
            self.notes.append(f"{shape.key}: {cycles} cycles measured, {bound:.2f} by its ports {entry['ports']}")
        loads = 0.5 if shape.has_memory else 0.0  # all from one address: two a cycle
        entry.pop("tp", None)
        if cycles > 1.3 * max(bound, loads) + 0.3 and cycles > 1.15 * chained:
            entry["tp"] = round(cycles * 2) / 2

    # --- latency ------------------------------------------------------------------------------------------------------

    def _latency(
        self, shape: Shape, conditions: Conditions, data: Mapping[str, Any], entry: Entry, counted: bool
    ) -> str | None:
        """Return the pairs of an entry with measured cycles; None to keep the entry's.

        Of forms of uops.info's, only the pairs that it has (`counted`): the others are of flags that are left
        undefined.
        """
        flow = dataflow(shape, "mask" in conditions)
        if flow.stores or not data["latency"]:
            return None
        pairs = latency_by_pair(entry.get("latency", ""))
        unmasked = {(t, s) for t, s, _ in self.records[shape.key][()]["latency"]}
        for to, source, cycles in data["latency"]:
            pair = (to, source)
            if to not in flow.targets:
                continue
            if "zeroing" in conditions and to == source and pair not in unmasked:
                pairs.pop(pair, None)  # nothing is merged: the measured time is that of a shared unit
                continue
            existing = pairs.get(pair)
            if counted and pairs and existing is None:
                continue
            if source == "m":
                measured = self._from_memory(shape, conditions, float(cycles), existing)
            else:
                measured = self._cycles(shape, conditions, pair, float(cycles), existing)
            if measured is not None:
                pairs[pair] = measured
        return write_latency((*pair, c) for pair, c in self._as_register(shape, conditions, pairs).items())

    def _as_register(
        self, shape: Shape, conditions: Conditions, pairs: dict[tuple[str, str], int]
    ) -> dict[tuple[str, str], int]:
        """Return memory pairs that were equal to the register form's, with that form's new measurement."""
        register = shape.key[:-1] + "r"
        twin = self._twin(shape, conditions)
        operand = shape.memory_operand
        if twin is None or register not in self.kept or not shape.has_memory:
            return pairs
        if self.kept[register][()].get("source", self.default) not in ("uops.info", SOURCE):
            return pairs  # two sources for the two forms
        registers = tuple(c for c in conditions if c != "bcast")
        old = latency_by_pair(_laid_over(self.kept[register], registers).get("latency", ""))
        new = latency_by_pair(twin.get("latency", ""))
        return {
            (t, s): new.get((t, operand), c) if s == "m" and old.get((t, operand)) == c else c
            for (t, s), c in pairs.items()
        }

    def _cycles(
        self, shape: Shape, conditions: Conditions, pair: tuple[str, str], cycles: float, existing: int | None
    ) -> int | None:
        """Return whole cycles of a chain; None to keep the model's."""
        if cycles < 0.6:
            return None  # done by the renamer, or fused with the next instruction
        if existing is not None and (_BY_VALUE.match(shape.mnemonic) or "I16" in shape.operands):
            return None
        whole = round(cycles)
        if _width(shape.key) == 2 and not 0.96 <= cycles / max(1, whole) <= 1.0:
            # The clock changed, by up to a tenth; a larger difference is the mean of two ports, one of which takes
            # longer.
            narrow = self._narrow_cycles(shape, conditions, pair)
            if narrow is not None and 0.9 <= cycles / narrow <= 1.1:
                return narrow
        if existing is not None and abs(cycles - existing) < _SURE:
            return None
        return whole

    def _narrow_cycles(self, shape: Shape, conditions: Conditions, pair: tuple[str, str]) -> int | None:
        data = self.records.get(self._sibling(shape), {}).get(conditions, {})
        for to, source, cycles in data.get("latency", ()):
            if (to, source) == pair and cycles >= 0.6:
                return round(float(cycles))
        return None

    def _from_memory(self, shape: Shape, conditions: Conditions, cycles: float, existing: int | None) -> int | None:
        """Return the cycles left after the load: the register form's, where these were measured."""
        twin = self._twin(shape, conditions)
        if existing is not None and self.kept.get(shape.key, {}).get((), {}).get("source", self.default) == "uops.info":
            return None
        of_register = latency_by_pair(twin.get("latency", "")).get(("0", shape.memory_operand)) if twin else None
        if of_register is not None:
            return of_register
        if not shape.has_vector:
            return max(0, round(cycles - 5))
        left = cycles - _COMPUTING_LOAD
        return 0 if left < 0.5 else round(left)


# --- the identity of a form -------------------------------------------------------------------------------------------


def _laid_over(entries: Mapping[Conditions, Entry], conditions: Conditions) -> Entry:
    """Return all fields of a form under conditions: entries with fewer of them first."""
    fields = resolved(entries, conditions)
    return _without_origin(fields) if conditions else fields


def _without_origin(entry: Entry) -> Entry:
    return {name: value for name, value in entry.items() if name not in ("derived", "source")}


def _hand_down(existing: Mapping[Conditions, Entry], full: Entries, before: Entry, after: Entry) -> None:
    """Apply changes of the entry without conditions to entries with conditions that did not state those fields."""
    for conditions, entry in full.items():
        if not conditions:
            continue
        stated = {name for c in existing if c and set(c) <= set(conditions) for name in existing[c]}
        for name in {*before, *after} - stated - {"source", "derived"}:
            if entry.get(name) != after.get(name):
                if name in after:
                    entry[name] = after[name]
                else:
                    entry.pop(name, None)


def _split(text: str) -> tuple[Counter[str], Counter[str]]:
    """Return (µops that load or store, those that compute) of port usage."""
    usage = read_usage(text)
    memory = Counter({p: n for p, n in usage.items() if not set(p[1:]) & set("0156B")})
    return memory, usage - memory


def _general(data: Mapping[str, Any], existing: Counter[str]) -> Counter[str] | None:
    """Return one µop on integers by the only set of ports on which it was seen; None to keep the model's.

    On all five ports together counts are too uncertain: a µop that was seen on none of the smaller sets goes to any.
    """
    if sum(existing.values()) != 1 or {"p1", "p06", "p15B"} & set(data.get("unsure", ())):
        return None
    seen = _counts(data)
    return Counter({next((p for p in ("p1", "p06", "p15B") if seen.get(p)), "p0156B"): 1})


def _address_latency(data: Mapping[str, Any], entry: Entry) -> str | None:
    """Return the pairs of a `lea` with the time from its address, where the measured one differs."""
    pairs = latency_by_pair(entry.get("latency", ""))
    for to, source, cycles in data["latency"]:
        if source == "a" and abs(cycles - pairs.get((to, source), cycles)) >= _SURE:
            pairs[to, source] = round(cycles)
            return write_latency((*pair, c) for pair, c in pairs.items())
    return None


def _counts(data: Mapping[str, Any], least: float = 0.6) -> Counter[str]:
    """Return whole µops on each set of ports; counts with blockers tend to be too large."""
    return Counter({name: int(cycles + 1 - least) for name, cycles in data["seen"].items()})
