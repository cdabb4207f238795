"""Import of LLVM's scheduling models of AArch64 cores: every instruction that the core has, found by enumeration.

Instructions have 32 bits, so llvm_sched.cpp can find an example of each without a list; its text gives the form's key
(frontends/aarch64/forms.py). How LLVM's figures become a form's is described in docs/models.md.
"""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import msgspec

from incc.frontends.aarch64.decode import decode
from incc.frontends.aarch64.forms import form_of
from incc.models.files.source import Conditions, Entry, Forms
from incc.models.importers.common import MALFORMED, Imported, ImportFailed, Malformed, reduced
from incc.models.notation import latency_by_pair, port_set_name, read_usage, write_latency, write_usage
from incc.models.patterns import matches

# Units that LLVM names otherwise than the vendor's guide (Cortex-A57 and -A72 Software Optimization Guides, pipelines:
# division is on F0, shifts of vectors on F1, as on these units in AArch64SchedA57.td).
_VENDOR_NAMES = {"A57UnitW": "F0", "A57UnitX": "F1"}
_PREFIX = re.compile(r"^\w*?Unit|^THX[23]T(?:99|110)(?:P\d(?=FP))?|^A64FXIP|^M\dPipe")

# LLVM schedules the Apple M1 with the model of a core of 2013, Cyclone. What kind of unit an instruction needs is taken
# from there, the units of that kind from Johnson's Firestorm pages. A unit counts for those that it is a part of, too.
_CYCLONE = {
    "CyUnitI": ("INT0", "INT1", "INT2", "INT3", "INT4", "INT5"),
    "CyUnitIS": ("INT0", "INT1", "INT2", "INT3", "INT4", "INT5"),
    "CyUnitB": ("INT0", "INT1"),
    "CyUnitBR": ("INT0",),
    "CyUnitIM": ("INT4", "INT5"),
    "CyUnitID": ("INT4",),
    "CyUnitIntDiv": ("INT4",),
    "CyUnitLS": ("LS0", "LS2", "LS3"),
    "CyUnitV": ("FP0", "FP1", "FP2", "FP3"),
    "CyUnitVM": ("FP0", "FP1", "FP2", "FP3"),
    "CyUnitVD": ("FP0", "FP1", "FP2", "FP3"),
    "CyUnitVC": ("FP2", "FP3"),
    "CyUnitFloatDiv": ("FP3",),
}
_CYCLONE_WHOLES = {
    "CyUnitB": ("CyUnitI",),
    "CyUnitBR": ("CyUnitB", "CyUnitI"),
    "CyUnitIS": ("CyUnitI",),
    "CyUnitIM": ("CyUnitI",),
    "CyUnitID": ("CyUnitIM", "CyUnitI"),
    "CyUnitVM": ("CyUnitV",),
    "CyUnitVD": ("CyUnitV",),
    "CyUnitVC": ("CyUnitVM", "CyUnitV"),
    "CyUnitIntDiv": ("CyUnitID",),
    "CyUnitFloatDiv": ("CyUnitVD",),
}

# Dispatch counts macro-operations there, each of up to two of LLVM's micro-operations (Neoverse N1, N2, V1 and V2
# Software Optimization Guides, “Dispatch constraints”).
_TWO_UOPS_A_MACRO_OP = ("neoverse-n1", "neoverse-n2", "neoverse-v1", "neoverse-v2")

# The second of a pair, after `aese` and `aesd`.
_FUSED = re.compile(r"aesi?mc\b")

# Where LLVM counts two or three µops for any instruction, an addition too; the µops are those on ports.
_UOPS_ON_PORTS = ("thunderx2t99", "thunderx3t110")

# Moves that the renamer does: of general-purpose registers, of zero, and of zero to vector registers (Neoverse V1 and
# V2 Software Optimization Guides, “Zero Latency MOVs”; Neoverse N2: LLVM's model of 2025). LLVM 19's model says so of
# the V2 only. The guide of the N1 has no such section.
_MOVES = ("mov/w,w", "mov/x,x")
_ZEROS = ("mov/w,#", "mov/x,#")
_VECTOR_ZEROS = ("movi/d,#", "movi/v.2d,#", "fmov/h,w", "fmov/h,x", "fmov/s,w", "fmov/d,x")
_RENAMED = {
    "neoverse-n2": (_MOVES, _ZEROS + _VECTOR_ZEROS, "llvm_later"),
    "neoverse-v1": (_MOVES, _ZEROS, "arm"),
    "neoverse-v2": (_MOVES, _ZEROS + _VECTOR_ZEROS, "arm"),
}

_SVE_ROOTS = {"h": 12, "s": 9, "d": 14}
# Cycles for which a division or a root occupies its pipeline, at the lowest throughput in the guides (tables of
# divisions, FP, ASIMD and SVE instructions). LLVM's model of the V1 has the best case for most. Fractions are rounded.
_DIVISIONS: dict[str, dict[str, int]] = {
    "neoverse-v1": {
        **{f"{name}/w,w,w": 12 for name in ("sdiv", "udiv")},
        **{f"{name}/x,x,x": 20 for name in ("sdiv", "udiv")},
        "fdiv/h,h,h": 2,
        "fdiv/s,s,s": 2,
        "fdiv/d,d,d": 7,
        "fdiv/v.4h,v.4h,v.4h": 7,
        "fdiv/v.2s,v.2s,v.2s": 5,
        "fdiv/v.8h,v.8h,v.8h": 13,
        "fdiv/v.4s,v.4s,v.4s": 9,
        "fdiv/v.2d,v.2d,v.2d": 14,
        **{f"{name}/z.{size},p/m,z.{size},z.{size}": n for name in ("fdiv", "fdivr") for size, n in _SVE_ROOTS.items()},
        "fsqrt/h,h": 2,
        "fsqrt/s,s": 2,
        "fsqrt/d,d": 8,
        "fsqrt/v.4h,v.4h": 7,
        "fsqrt/v.2s,v.2s": 5,
        "fsqrt/v.8h,v.8h": 13,
        "fsqrt/v.4s,v.4s": 9,
        "fsqrt/v.2d,v.2d": 15,
        **{f"fsqrt/z.{size},p/m,z.{size}": n for size, n in _SVE_ROOTS.items()},
    },
    "neoverse-v2": {"fdiv/d,d,d": 7, "fdiv/v.4s,v.4s,v.4s": 9},
}

# Latencies of the Cortex-A72 that are shorter than those of the Cortex-A57, whose model LLVM uses: patterns of forms,
# the cycles of the A57, and those of the A72 by its guide, through OSACA's machine file. FMADD takes 3 cycles from an
# accumulator that a similar instruction made (gem5's commit 6c72c355, after the guide).
_A72_LATENCIES = (
    ("fadd/[sdv]* fsub/[sdv]* fabs/[sdv]* fneg/[sdv]*", {5: 3}),
    ("fmul/[sdv]* fnmul/[sd]*", {5: 4}),
    ("fmadd/* fmsub/* fnmadd/* fnmsub/* fml[as]/[sdv]*", {9: 7, 10: 7, 4: 3}),
)

# The guides of these cores give loads and stores of vectors that write their address back one integer µop. LLVM's
# models count the addition twice.
_ADDRESS_COUNTED_TWICE = ("neoverse-n2", "neoverse-v2")
_UPDATING = re.compile(r"(?:ld|st)[rp]\s+[bhsdq]\d.*(?:\]!|\], #.*)")

# Atomic operations of the Large System Extensions, which read and write memory: the operation, how it is ordered, the
# size, and the registers.
_ATOMIC = re.compile(r"(ld|st|swp|cas)(?:add|clr|eor|set|[su]max|[su]min)?a?l?([bh]?)/(?:[wx],)?([wx]),\[x\]")


class Ports(msgspec.Struct, frozen=True):
    """The model's names of LLVM's units: each unit stands for one port or, with several alike, for several."""

    of_unit: dict[str, tuple[str, ...]]
    wholes: Mapping[str, tuple[str, ...]] = {}
    """The units that units are a part of."""

    def names(self, members: Iterable[str]) -> tuple[str, ...]:
        """Return the ports of a resource's units. Raises ValueError for an unknown unit."""
        ports: list[str] = []
        for unit in members:
            if unit not in self.of_unit:
                raise ValueError(f"unknown unit {unit!r}")
            ports += self.of_unit[unit]
        return tuple(sorted(ports))


def import_cpu(
    cpu: str, lines: Iterable[str], keep_going: bool = False, parameters: Mapping[str, Any] = MappingProxyType({})
) -> Imported:
    """Return the figures of all forms from the output of `llvm_sched aarch64 CPU --enumerate`.

    `parameters` are those in the part of the model that is written by hand. Raises ImportFailed at a malformed record,
    or with `keep_going` skips and lists it.
    """
    rows = iter(lines)
    place = f"llvm_sched {cpu}:1"
    try:
        processor = json.loads(next(rows, ""))
        ports = ports_of(processor["resources"])
    except (ValueError, KeyError, TypeError) as e:
        raise ImportFailed(f"{place}: malformed record: {e}") from None
    slots = 2 if cpu in _TWO_UOPS_A_MACRO_OP else 1
    best: dict[tuple[str, Conditions], tuple[int, Entry]] = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    several: set[str] = set()
    for number, row in enumerate(rows, 2):
        place = f"llvm_sched {cpu}:{number}"
        try:
            data = json.loads(row)
            text = data["key"]
            if "error" in data:
                unmatched.append((text, data["error"]))
                continue
            key, traits = form_of(text)
            if text.startswith("<"):
                continue
            # Two groups of the same units, which LLVM counts both, are one.
            data["resources"] = list({tuple(sorted(r["members"])): r for r in data["resources"]}.values())
            if ports.wholes:
                data["resources"] = _without_wholes(data, ports.wholes)
            if cpu in _UOPS_ON_PORTS:
                cycles = sum(r["cycles"] for r in data["resources"])
                data["uops"] = cycles if cycles <= data["uops"] else len(data["resources"])
            if cpu in _ADDRESS_COUNTED_TWICE and _UPDATING.fullmatch(text):
                data |= _with_one_addition(data)
            fields = entry(text, data, ports, slots)
        except MALFORMED as e:
            malformed.add(place, e)
            continue
        conditions = tuple(sorted(traits))
        # The zero register, the stack pointer and a register used twice make other instructions of some (mov).
        special = len(re.findall(r"\b(?:[wx]zr|w?sp)\b", text)) + bool(data.get("coincide"))
        best_so_far = best.get((key, conditions))
        if best_so_far is not None and best_so_far[0] == special and best_so_far[1] != fields:
            several.add(key)
        if best_so_far is None or special < best_so_far[0]:
            best[key, conditions] = special, fields
    full: Forms = {}
    for (key, conditions), (_, fields) in best.items():
        full.setdefault(key, {})[conditions] = fields
    result: Forms = {key: reduced(entries) for key, entries in full.items()}
    result |= _unfinished_loads(result)
    result |= _addresses_apart(result, bool(parameters.get("in_order")))
    result |= _known_loads(result, parameters.get("load_latency", {}))
    result |= _renamed(cpu, result)
    if cpu == "cortex-a72":
        result |= _a72_latencies(result)
    for key, cycles in _DIVISIONS.get(cpu, {}).items():
        result[key] = {**result[key], (): {**result[key][()], "hold": cycles, "source": "arm"}}
    result = {**_alike((form_of(text)[0] for text, _ in unmatched), result), **result}
    note = f"{len(several)} forms stand for instructions with different figures, the first was taken"
    return Imported(forms=result, unmatched=unmatched, skipped=malformed.skipped, notes=[note] * bool(several))


def _a72_latencies(forms: Forms) -> Forms:
    """Return the Cortex-A57's forms for which the Cortex-A72 has shorter latencies, with these."""
    made: Forms = {}
    for patterns, changes in _A72_LATENCIES:
        for key in forms:
            pairs = latency_by_pair(forms[key].get((), {}).get("latency", "")) if matches(key, patterns) else {}
            shorter = {pair: changes.get(cycles, cycles) for pair, cycles in pairs.items()}
            if shorter != pairs:
                latency = write_latency((*pair, cycles) for pair, cycles in shorter.items())
                made[key] = {**forms[key], (): {**forms[key][()], "latency": latency, "source": "osaca"}}
    return made


def _with_one_addition(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the resources and the µops of an instruction with a single µop on all integer pipelines together."""
    resources = [{**r, "cycles": 1} if r["name"].endswith("UnitI") else r for r in data["resources"]]
    removed = sum(r["cycles"] for r in data["resources"]) - sum(r["cycles"] for r in resources)
    return {"resources": resources, "uops": data["uops"] - removed}


def _unfinished_loads(forms: Forms) -> Forms:
    """Return the loads that LLVM's model gives a single cycle, with the latency of `ldr` from such an address."""
    made: Forms = {}
    for key, entries in forms.items():
        match = re.fullmatch(r"ld[a-z]+/([wx]),(.*)", key)
        pairs = latency_by_pair(entries.get((), {}).get("latency", "")) if match else {}
        if match is None or pairs.get(("m", "a")) != 1:
            continue
        other = f"ldr/{match[1]},{match[2]}"
        other = other if other in forms else f"ldr/{match[1]},[x,#]"
        pairs["m", "a"] = latency_by_pair(forms[other][()]["latency"])["m", "a"]
        latency = write_latency((*pair, cycles) for pair, cycles in pairs.items())
        made[key] = {**entries, (): {**entries[()], "latency": latency, "derived": f"latency as {other}"}}
    return made


def _addresses_apart(forms: Forms, in_order: bool) -> Forms:
    """Return the forms that write an address back, with the latencies of an addition and of the access without it.

    Some models give both results the latency of the whole instruction, or none to the new address of a store. In-order
    models state it from stage to stage.
    """
    made: Forms = {}
    for key, entries in forms.items():
        fields = entries.get((), {})
        pairs = latency_by_pair(fields.get("latency", ""))
        # The new address of an authenticated load is the authenticated one.
        if ("a", "a") not in pairs or in_order or key.startswith("ldra"):
            continue
        old, pairs["a", "a"] = dict(pairs), 1
        without = re.sub(r"(?<=\])!|(?<=\]),(?:#|x)$", "", key)
        access = latency_by_pair(forms.get(without, {}).get((), {}).get("latency", ""))
        if ("m", "a") in pairs and ("m", "a") in access:
            pairs["m", "a"] = access["m", "a"]
        if pairs != old:
            made[key] = {**entries, (): {**fields, "latency": write_latency((*p, c) for p, c in pairs.items())}}
    return made


def _known_loads(forms: Forms, least: Mapping[str, int]) -> Forms:
    """Return the loads that LLVM's model has as faster than the core's guide has them, by kind of register."""
    made: Forms = {}
    for key, entries in forms.items():
        match = re.match(r"ld[^/]*/\{?([a-z])", key)
        kind = {"w": "gpr", "x": "gpr", "z": "sve", "p": "sve"}.get(match[1], "simd") if match else ""
        fields = entries.get((), {})
        pairs = latency_by_pair(fields.get("latency", ""))
        if pairs.get(("m", "a"), least.get(kind, 0)) < least.get(kind, 0):
            pairs["m", "a"] = least[kind]
            made[key] = {**entries, (): {**fields, "latency": write_latency((*p, c) for p, c in pairs.items())}}
    return made


def _renamed(cpu: str, forms: Forms) -> Forms:
    """Return the moves that the core's renamer does, without ports and latency."""
    moves, zeros, source = _RENAMED.get(cpu, ((), (), ""))
    made: Forms = {}
    for key in moves:
        made[key] = {(): {"ports": "", "retire": 1, "latency": "0<1:0", "source": source}}
    for key in zeros:
        zero = {"ports": "", "source": source}
        made[key] = {**forms[key], ("imm0",): {**zero, "hold": 0} if "hold" in forms[key][()] else zero}
    return made


def _alike(lacking: Iterable[str], forms: Forms) -> Forms:
    """Return figures of loads and atomic operations that LLVM has none of, from those of other instructions.

    A load with weaker ordering takes no longer than `ldar`; an atomic operation does what `ldxr`, `add` and `stxr` do
    together.
    """
    made: Forms = {}
    for key in set(lacking):
        other = re.sub(r"^ldapr(?=[bh]?/)", "ldar", key)
        if other != key and other in forms:
            made[key] = {(): {**forms[other][()], "derived": f"as {other}"}}
        match = _ATOMIC.fullmatch(key)
        if match is None:
            continue
        kind, size, register = match.groups()
        parts = (f"ldxr{size}/{register},[x]", f"add/{register},{register},{register}", f"stxr{size}/w,{register},[x]")
        if not all(part in forms for part in parts):
            continue
        load, add, store = (forms[part][()] for part in parts)
        usage: Counter[str] = Counter()
        for part in (load, add, store):
            usage.update(read_usage(part.get("ports", "")))
        cycles = latency_by_pair(load["latency"])["m", "a"]
        pairs = [("M", "0", 0), ("M", "m", 1)]
        if kind == "cas":
            pairs += [("0", "0", 1), ("M", "1", 0)]
        if kind != "st":
            pairs += [("0" if kind == "cas" else "1", "m", 0), ("m", "a", cycles)]
        made[key] = {
            (): {
                "ports": write_usage(usage),
                "retire": sum(part["retire"] for part in (load, add, store)),
                "latency": write_latency(pairs),
                "derived": "as ldxr, add and stxr",
            }
        }
    return made


def ports_of(resources: Sequence[Mapping[str, Any]]) -> Ports:
    """Name ports after LLVM's units, without their common prefix: `V0` of N1UnitV0, `S0` and `S1` of N1UnitS."""
    if any(r["name"] in _CYCLONE for r in resources):
        return Ports({**_CYCLONE, "store": ("LS0", "LS1")}, _CYCLONE_WHOLES)
    units = [r for r in resources if r["members"] == [r["name"]]]
    of_unit: dict[str, tuple[str, ...]] = {}
    inside = {r["name"]: r["inside"] for r in units if r.get("inside")}
    for r in units:
        name = _VENDOR_NAMES.get(r["name"]) or re.sub(_PREFIX, "", r["name"])
        count = int(r["units"])
        if count == 1:
            of_unit[r["name"]] = (name,)
        else:
            # Units that are alike: S with two is S0 and S1; L01 with two is L0 and L1.
            digits = re.fullmatch(r"([A-Za-z]+?)(\d+)", name)
            stem, numbers = (digits[1], digits[2]) if digits and len(digits[2]) == count else (name, "")
            of_unit[r["name"]] = tuple(stem + (numbers[n] if numbers else str(n)) for n in range(count))
    for unit, whole in inside.items():
        # The first ports of the unit that it is a part of; more units than that are dividers with a port for each.
        if len(of_unit[unit]) <= len(of_unit[whole]):
            of_unit[unit] = of_unit[whole][: len(of_unit[unit])]
    return Ports(of_unit, {unit: (whole,) for unit, whole in inside.items()})


def _without_wholes(data: Mapping[str, Any], wholes: Mapping[str, tuple[str, ...]]) -> list[dict[str, Any]]:
    """Return the resources without their counts for units that they are a part of; Cyclone's stores in its stores."""
    left = {r["name"]: int(r["cycles"]) for r in data["resources"]}
    for name, cycles in list(left.items()):
        for whole in wholes.get(name, ()):
            if whole in left:
                left[whole] = max(0, left[whole] - cycles)
    result = []
    for resource in data["resources"]:
        name = resource["name"]
        stores = name == "CyUnitLS" and data["store"] and not data["load"]
        members = ["store"] if stores else [name] if name in _CYCLONE else resource["members"]
        result.append({"name": name, "members": members, "cycles": left[name]})
    return [r for r in result if r["cycles"]]


def port_usage(usage: Mapping[tuple[str, ...], int]) -> str:
    """Return the port usage in the model's notation: `1*V01+2*p(M0|S0)`."""
    return "+".join(
        f"{n}*{names[0] if len(names) == 1 else port_set_name(names)}" for names, n in sorted(usage.items()) if n
    )


# --- figures ---------------------------------------------------------------------------------------------------------


def entry(text: str, data: Mapping[str, Any], ports: Ports, uops_a_slot: int = 1) -> Entry:
    """Return a form's fields from LLVM's data on an example of it. Raises KeyError, ValueError or IndexError."""
    usage: Counter[tuple[str, ...]] = Counter()
    for resource in data["resources"]:
        names = ports.names(resource["members"])
        if len(names) != sum(len(p) for p in ports.of_unit.values()):
            # TX2's and A64FX's resource of all ports only counts µops.
            usage[names] += resource["cycles"]
    uops = int(data["uops"])
    cycles = usage.total()
    fields: Entry = {"ports": port_usage(usage), "retire": max(1, -(-uops // uops_a_slot))}
    if len(usage) == 1 and 0 < uops < cycles and cycles % uops == 0:
        # Not pipelined: divisions, square roots.
        fields["ports"] = port_usage(dict.fromkeys(usage, uops))
        fields["hold"] = cycles // uops
    pairs = latencies(text, data)
    if pairs:
        fields["latency"] = write_latency(pairs)
    return fields


def latencies(text: str, data: Mapping[str, Any]) -> list[tuple[str, str, int]]:
    """Return the latency pairs: LLVM's latency of each result, less the read-advance of each input."""
    read, written = _operand_names(text)
    operands, defs = data["operands"], int(data["defs"])
    targets = _named(operands[:defs], data["writes"], written)
    sources = _named(operands[defs:], data["reads"], read)
    # Some registers besides the usual ones (the first-fault register) count as memory for LLVM.
    addressed = any("a" in operands for operands in read.values())
    loads = bool(data["load"]) and (addressed or text.startswith("ld"))
    pairs = _register_pairs(data, targets, sources, loads)
    if data["store"] and addressed:
        pairs.update({("M", source): 0 for _, source in sources if source not in ("a", "flags")})
        if loads:
            # Atomic operations: the new value is computed when the old one is there.
            pairs["M", "m"] = 1
    flags_read = ["C"] if re.match(r"(adc|sbc|ngc)s?\b", text) else ["C", "SPAZO"]
    return [
        (t, s, cycles)
        for (to, source), cycles in pairs.items()
        for t in (["C", "SPAZO"] if to == "flags" else [to])
        for s in (flags_read if source == "flags" else [source])
    ]


def _named(
    registers: Sequence[str], implicit: Sequence[str], names: Mapping[str, Sequence[str]]
) -> list[tuple[int, str]]:
    """Return (LLVM's number, name in latencies) of registers and flags; `names` are those of registers in the text."""
    explicit = [(n, name) for n, register in enumerate(registers) for name in names.get(_root(register), ())]
    return explicit + [(n, "flags") for n, register in enumerate(implicit, len(registers)) if register == "NZCV"]


def _register_pairs(
    data: Mapping[str, Any], targets: list[tuple[int, str]], sources: list[tuple[int, str]], loads: bool
) -> dict[tuple[str, str], int]:
    """Return cycles by (target, source), with all flags as "flags": latencies of results that are not stored."""
    results = [int(c) for c in data["latencies"]]
    longest, shortest = max(results, default=0), min(results, default=0)
    advance = {(int(f["use"]), int(f["def"])): int(f["cycles"]) for f in data["forwarded"]}
    pairs: defaultdict[tuple[str, str], int] = defaultdict(int)
    for n, to in targets:
        if to == "a":
            # The new address is the quickest of all results; not every model lists it first.
            latency = shortest
        else:
            latency = longest if loads or n >= len(results) else results[n]
        if loads and to != "a":
            pairs["m", "a"] = max(latency, pairs["m", "a"])
            pairs[to, "m"] = 0
        for use, source in sources:
            if (to == "a" and source != "a") or (to != "a" and source == "a" and loads):
                continue
            merged = loads and source == to != "a"
            late = advance.get((use, min(n, len(results) - 1)), 0)
            # A model that lets an input be as late as the result means that it is forwarded in time for the next cycle,
            # except for instructions that are fused with the one before.
            cycles = 1 if merged else max(latency - late, 0 if _FUSED.match(data["key"]) else min(latency, 1))
            pairs[to, source] = max(cycles, pairs[to, source])
    return pairs


def _operand_names(text: str) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Map the root of each register in the text to its operands' names in latencies, if they are read or written.

    A name is the operand's number, or "a" in an address.
    """
    read: dict[str, list[str]] = {}
    written: dict[str, list[str]] = {}
    for access in decode(text).registers:
        implicit = access.operand is None
        name = "a" if access.address else access.register.root if implicit else str(access.operand)
        for names in (read,) * access.read + (written,) * access.write:
            names.setdefault(_root(access.register.root), []).append(name)
    return read, written


def _root(name: str) -> str:
    """Return one name for all registers that overlap: `v3` of Q3, D3, Z3 and of the tuple D3_D4."""
    first = name.partition("_")[0].upper()
    if first in ("XZR", "WZR"):
        return "xzr"
    if first in ("SP", "WSP"):
        return "sp"
    if first in ("FP", "LR"):
        return "x29" if first == "FP" else "x30"
    stem, number = first[:1], re.search(r"\d+", first)
    if not number:
        return ""
    kind = "x" if stem in "XW" else "p" if stem == "P" else "v" if stem in "BHSDQVZ" else ""
    return kind + number[0] if kind else ""
