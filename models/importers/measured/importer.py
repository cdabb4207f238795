"""Import of incc-bench's measurements: JSON lines, one form under one set of conditions each.

docs/models.md describes how port sets follow from the µops seen with blocking instructions.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from incc.models.files.source import Conditions, Entry, Forms, first_setting, merge_forms
from incc.models.forms.shapes import FormDataflow, Shape, by_key, dataflow
from incc.models.importers import ImportRequest
from incc.models.importers.common import (
    MALFORMED,
    Imported,
    ImportFailed,
    Malformed,
    add_features,
    read_json_lines,
    reduced,
    wanted,
)
from incc.models.importers.measured.amd import MeasuredModel, Record, idiom, lay_over, width
from incc.models.importers.measured.intel import import_records
from incc.models.memory import MemoryHierarchy, with_table
from incc.models.memory import read as read_memory
from incc.models.notation import Latency, parse_latency, write_latency, write_usage

if TYPE_CHECKING:
    import argparse

_DIVIDES = re.compile(r"V?(DIV|SQRT)[PS][SDH]$")
_PLAIN_MOVE = re.compile(r"V?MOV([DQ]|AP[SD]|UP[SD]|S[SD]|[LH]P[SD]|DQ[AU](8|16|32|64)?)?$")
_MULTIPLIES_WIDE = re.compile(r"(I?MUL_RM(32|64)|VEX_MULX_\w+)/m$")


ISAS = ("x86",)
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    add_features(parser)


def import_forms(request: ImportRequest) -> Imported:
    """Return all forms in the files, with the measured macro-fusion if the model has none.

    For a core whose ports are numbers, its forms replace the model's (intel.py). With `--prefer`, only differences from
    the model's forms are returned (amd.py). A measured memory hierarchy replaces the table `memory`.
    """
    imported = _import_forms(request)
    memory = _measured_memory(request.options.files)
    if memory is None:
        return imported
    return replace(
        imported,
        header=partial(_with_memory, request.output, memory),
        keeps_forms=not imported.forms,
        replaces_fusion=imported.replaces_fusion and bool(imported.forms),
        notes=[*imported.notes, f"table memory: {', '.join(level.name for level in memory.levels)}"],
    )


def _measured_memory(paths: list[str]) -> MemoryHierarchy | None:
    """Return the last memory hierarchy in the files. Raises ImportFailed."""
    memory = None
    for path in paths:
        for place, data in read_json_lines(path, Malformed(keep_going=True)):
            if "memory" in data:
                table = data["memory"]
                memory, wrong = (
                    read_memory(table, {"measured": ""}) if isinstance(table, dict) else (None, ["memory: not a table"])
                )
                if wrong:
                    raise ImportFailed(f"{place}: {wrong[0]}")
    return memory


def _with_memory(output: str, memory: MemoryHierarchy, header: str) -> str:
    """Return the header with this hierarchy. Raises ImportFailed if its own table is written in an unusual way."""
    text = with_table(header, memory, f"measured by incc-bench --memory on {memory.configuration}")
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise ImportFailed(f"{output}: remove its table [memory] first, which cannot be replaced") from None
    return text


def _import_forms(request: ImportRequest) -> Imported:
    """Return the forms in the files."""
    options = request.options
    if _has_numbered_ports(options.files):
        return _import_over_model(request)
    if options.prefer and request.kept:
        read = _read(options.files, options.keep_going, partly=True)
        forms = lay_over(
            read.records,
            request.kept,
            MeasuredModel(
                source=first_setting(request.chain, "source") or "",
                load=read.load,
                functions=first_setting(request.chain, "ports", "functions") or {},
                issue_width=first_setting(request.chain, "parameters", "issue_width") or 6,
            ),
        )
        return Imported(
            forms=forms,
            fusion=_fusion_classes(read),
            replaces_fusion=bool(read.fusion),
            unmatched=read.unmatched,
            skipped=read.skipped,
        )
    imported = import_files(options.files, options.keep_going)
    return replace(imported, replaces_fusion=not request.fusion)


def _has_numbered_ports(paths: list[str]) -> bool:
    """Return True if a header names blockers of numbered ports ("p015"), as Intel's cores have them, or none at all."""
    for path in paths:
        for _, data in read_json_lines(path, Malformed(keep_going=False)):
            if {"stream", "memory"} & data.keys() or data.keys() == {"core"}:  # those of incc-bench --memory
                continue
            blockers = data.get("blockers")
            return isinstance(blockers, list | dict) and all(re.match(r"p\d", str(name)) for name in blockers)
    return False


def _import_over_model(request: ImportRequest) -> Imported:
    options, chain = request.options, request.chain
    read = _read(options.files, options.keep_going, partly=True)
    if not chain:
        raise ImportFailed(f"{request.output}: measurements complete a model, which must exist first")
    ports = first_setting(chain, "ports", "names") or ()
    default = first_setting(chain, "source") or ""
    inherited = merge_forms(chain[1:])
    has = {s.key for s in wanted(request.kept, options.features, only_missing=False)}
    imported = import_records(read.records, request.kept, inherited, has, default, ports)
    return replace(imported, unmatched=[*read.unmatched, *imported.unmatched], skipped=read.skipped)


class _Read(msgspec.Struct, frozen=True, kw_only=True):
    """The contents of files of measurements: records by form and conditions, cycles of loads by class, macro-fusion."""

    records: dict[str, dict[Conditions, dict[str, Any]]]
    load: dict[str, int]
    fusion: dict[str, tuple[str, ...]]
    unmatched: list[tuple[str, str]]
    skipped: list[str]


def _read(paths: list[str], keep_going: bool, partly: bool = False) -> _Read:
    """Read files; raise ImportFailed at the first malformed record, which `keep_going` skips and lists.

    With `partly` records may lack issue slots and throughput, where runs did not agree on them.
    """
    records: dict[str, dict[Conditions, dict[str, Any]]] = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    load = {"gpr": 4, "vector": 7, "zmm": 8}
    fusion: dict[str, tuple[str, ...]] = {}
    for path in paths:
        for place, data in read_json_lines(path, malformed):
            if {"failure", "pair", "kernel", "stream", "memory"} & data.keys():  # other records of incc-bench
                continue
            try:
                if data.keys() == {"core"}:
                    continue
                if "core" in data:
                    load = {k: int(data["load_latency"][k]) for k in load}
                    fusion = {str(k): tuple(str(v).split()) for k, v in data.get("fusion", {}).items()}
                    continue
                key, conditions = str(data["form"]), tuple(sorted(str(c) for c in data["conditions"]))
                if partly:
                    data = {"slots": 0, "tp": None, "seen": {}, **data}
                _check(data)
            except MALFORMED as e:
                malformed.add(place, e)
                continue
            if key not in by_key():
                unmatched.append((key, "no such form in the decoder"))
            else:
                records.setdefault(key, {})[conditions] = data
    return _Read(records=records, load=load, fusion=fusion, unmatched=unmatched, skipped=malformed.skipped)


def import_files(paths: list[str], keep_going: bool = False) -> Imported:
    """Return all forms in the files.

    Raises ImportFailed at the first malformed record, which `keep_going` skips and lists.
    """
    read = _read(paths, keep_going)
    forms: Forms = {}
    for key in sorted(read.records, key=lambda k: (k.endswith("/m"), k)):
        shape = by_key()[key]
        twin = read.records.get(key[:-1] + "r", {}) if key.endswith("/m") else {}
        entries = {
            c: entry(shape, c, data, twin, read.load) for c, data in read.records[key].items() if c != ("same_reg",)
        }
        if () not in entries:
            read.unmatched.append((key, "only measured under conditions"))
            continue
        forms[key] = reduced(entries)
        for mnemonics in read.fusion:
            if shape.mnemonic.lower() in mnemonics.split() and not shape.has_memory:
                forms[key][()]["fusion"] = mnemonics.replace(" ", "_")
        same = read.records[key].get(("same_reg",))
        if same is not None and (same_register := idiom(same, entries[()])):
            forms[key]["same_reg",] = same_register
            if ("mask",) in entries:
                # Merging reads the destination, whatever the sources are.
                masked = {name: entries["mask",].get(name, "") for name in ("ports", "latency")}
                forms[key]["mask", "same_reg"] = {**masked, "breaks": False}
    complete(forms)
    return Imported(
        forms=forms,
        fusion=_fusion_classes(read),
        unmatched=read.unmatched,
        skipped=read.skipped,
    )


def _fusion_classes(read: _Read) -> dict[str, tuple[str, ...]]:
    return {mnemonics.replace(" ", "_"): jumps for mnemonics, jumps in read.fusion.items()}


_MOST = 1e6
"""The largest number of cycles or µops of an instruction in a record."""


def _check(data: dict[str, Any]) -> None:
    """Check a record. Raises KeyError, TypeError, ValueError or AttributeError on one that makes no sense."""
    _check_number(data["slots"])
    for count in data["seen"].values():
        _check_number(count)
    for to, source, cycles in data["latency"]:
        if not isinstance(to, str) or not isinstance(source, str):
            raise ValueError(f"latency from {source!r} to {to!r}")
        _check_number(cycles)
    if data["tp"] is not None:
        _check_number(data["tp"])


def _check_number(value: Any) -> None:
    if not isinstance(value, (int, float)) or not 0 <= value <= _MOST:
        raise ValueError(f"{value!r} is no number of cycles or µops")


def complete(forms: Forms) -> None:
    """Add computations that were not seen, though the forms take cycles from an operand to the result.

    The computation is that of the form with a register in place of memory, or with memory in place of a register; under
    conditions, that without them. Multiplications with two results and an index come from microcode (docs/models.md).
    """
    computing = {
        key: "+".join(_computing(twin))
        for key, entries in forms.items()
        if _takes_cycles(entries[()]) and not _computing(entries[()])
        for twin in [forms.get(key[:-1] + ("r" if key.endswith("m") else "m"), {}).get((), {})]
        # An exchange with memory locks it, unlike one between registers.
        if _computing(twin) and (key.endswith("m") or "M" not in twin["latency"])
    }
    for key, compute in computing.items():
        fields = forms[key][()]
        fields["ports"] = "+".join(p for p in (fields["ports"], compute) if p)
    for entries in forms.values():
        if not _takes_cycles(entries[()]) or not _computing(entries[()]):
            continue
        for conditions, fields in list(entries.items()):
            if "ports" not in fields or "same_reg" in conditions or not conditions or _computing(fields):
                continue
            del fields["ports"]
            if not fields:
                del entries[conditions]
    for key, entries in forms.items():
        if _MULTIPLIES_WIDE.match(key):
            entries.setdefault(("indexed",), {})["uops_ms"] = entries[()]["retire"]


def _takes_cycles(fields: Entry) -> bool:
    """Return True if a form is more than a move, a load or a store."""
    return any(cycles > 0 and source != "a" for _, source, cycles in parse_latency(fields.get("latency", "")))


def _computing(fields: Entry) -> list[str]:
    """Return the µops that neither load nor store, as written in `ports`."""
    return [p for p in fields.get("ports", "").split("+") if p.partition("*")[2][:2] in ("AL", "FP", "BR")]


def entry(
    shape: Shape,
    conditions: Conditions,
    data: Record,
    twin: Mapping[Conditions, Record],
    load: Mapping[str, int],
) -> Entry:
    """Return a form's fields.

    `twin` has the measurements of its register form, by conditions; `load` cycles, by class.
    """
    flow = dataflow(shape, "mask" in conditions)
    register = twin.get(conditions) or (twin.get(()) if conditions == ("bcast",) else None)
    slots = _slots(shape, data)
    usage, hold = _usage(shape, conditions, flow, data, register, slots)
    fields: Entry = {"ports": write_usage(usage), "retire": slots}
    if hold > 1:
        fields["hold"] = hold
    pairs = _latency(shape, conditions, flow, data, register, load)
    if pairs:
        fields["latency"] = write_latency(pairs)
    throughput = data["tp"]
    bound = max([slots / 6, *(n * hold / width(p) for p, n in usage.items())])
    if _divides_integers(shape) and throughput:
        fields["divider"], fields["unit"] = round(throughput), "IDV"
    elif _DIVIDES.match(shape.mnemonic) and throughput:
        fields["divider"], fields["unit"] = round(throughput), "FDV"
    elif throughput and throughput > 1.5 * bound + 0.5 and throughput > 1.2 * _chained(pairs):
        fields["tp"] = round(throughput * 2) / 2
    return fields


def _divides_integers(shape: Shape) -> bool:
    return shape.mnemonic in ("DIV", "IDIV")


def _accesses_512_bits(shape: Shape, conditions: Conditions) -> bool:
    return shape.memory_bits == 512 and "bcast" not in conditions


def _chained(pairs: list[Latency]) -> int:
    """Return the longest latency from an operand to itself: copies in a row may wait for each other."""
    return max((c for t, s, c in pairs if t == s or not (t.isdigit() and s.isdigit())), default=0)


# --- µops ------------------------------------------------------------------------------------------------------------


def _slots(shape: Shape, data: Record) -> int:
    """Return the macro-ops of a form."""
    if _divides_integers(shape):
        # Beside an instruction that waits for it; both results are a macro-op each (uops.info, Zen 3).
        return 3 if shape.has_memory else 2
    # A nop travels with the instruction before it.
    slots = min(round(float(data["slots"])), _most(data, 6))
    return max(0 if shape.mnemonic == "NOP" else 1, slots)


def _usage(
    shape: Shape, conditions: Conditions, flow: FormDataflow, data: Record, register: Record | None, slots: int
) -> tuple[Counter[str], int]:
    """Return (µops by port set, cycles for which each holds its port)."""
    compute, hold = _compute_of(shape, conditions, data, register, slots)
    memory = _memory(shape, flow)
    wide = _accesses_512_bits(shape, conditions)
    if hold > 1 and memory and not wide:
        compute, hold = {p: n * hold for p, n in compute.items()}, 1
    elif wide and not compute and not flow.stores:
        hold = 2
    elif wide and hold == 1:
        memory = Counter({p: n if p == "FP5" else 2 * n for p, n in memory.items()})
    return Counter(compute) + memory, hold


def _compute_of(
    shape: Shape, conditions: Conditions, data: Record, register: Record | None, slots: int
) -> tuple[dict[str, int], int]:
    """Return the result of _compute.

    With a memory operand, that of the register form if it has no way between registers.
    """
    if _divides_integers(shape):
        # The counts show others waiting while it runs; one µop divides, the other delivers the second result.
        return {"ALU0123": 2}, 1
    if shape.operands[:1] == ("M",) and not conditions and _PLAIN_MOVE.match(shape.mnemonic):
        return {}, 1
    if register is not None and round(register["slots"] - data["slots"]) < 1:
        own_slots = max(1, min(round(register["slots"]), _most(register, 6)))
        computed = _compute(by_key()[shape.key[:-1] + "r"], register, own_slots)
        moves = any(p.startswith("ALU") for p in computed[0]) and any(p.startswith("FP") for p in computed[0])
        if not moves and (computed[0] or not data["seen"]):
            # Some loads extend or broadcast on the way.
            computes = any(round(data["seen"].get(p, 0)) for p in ("ALU0123", "FP0123"))
            return computed if computes else ({}, 1)
    return _compute(shape, data, slots)


def _compute(shape: Shape, data: Record, slots: int) -> tuple[dict[str, int], int]:
    """Return (µops by port set, cycles for which each holds its port) of the part that is not a load or a store."""
    seen = {name: min(int(count + 0.4), _most(data, width(name))) for name, count in data["seen"].items()}
    if not shape.has_vector and "K" not in shape.operands:
        return _integer_ports(seen, slots), 1
    general = any(o.startswith("R") and o[1:].isdigit() for o in shape.operands)
    to_general = (general and shape.operands[0].startswith("R")) or not _writes_vector(shape)
    # Where results leave by one pipe only, the throughput tells nothing of the others.
    uops, hold = _vector_ports(shape, seen, 0.0 if to_general else float(data["tp"] or 0)), 1
    pipes = sum(uops.values())
    if "ZMM" in shape.operands and uops and all(n % 2 == 0 for n in uops.values()) and slots <= pipes // 2:
        uops, hold, pipes = {p: n // 2 for p, n in uops.items()}, 2, pipes // 2
    left = slots
    if to_general:
        leaving = _leaving(shape, seen, pipes < slots)
        uops.update(leaving)
        left -= pipes + any(p.startswith("FP") for p in leaving)
    if general:
        uops.update(_integer_ports(seen, left))
    return uops, hold


def _leaving(shape: Shape, seen: Mapping[str, int], room: bool) -> dict[str, int]:
    """Return the µops that take results to general-purpose registers and flags, if there is `room` for one."""
    if "FP5" in seen:
        # With rotates, a slot or two of theirs is taken; counts with other blockers come from waiting.
        return {"FP5": 1, "ALU12": 1} if shape.operands[0].startswith("R") else {"FP5": 1}
    # The way that stores do not take.
    return {"FP4": 1} if room else {}


def _most(data: Record, ports: int) -> int:
    """Return the most µops that a number of ports can have executed at the measured throughput."""
    return 1_000_000 if not data["tp"] else int(data["tp"] * ports + 0.3)


def _writes_vector(shape: Shape) -> bool:
    return any(t.isdigit() or t.startswith("zmm") for t in dataflow(shape).targets)


def _vector_ports(shape: Shape, seen: Mapping[str, int], throughput: float) -> dict[str, int]:
    """Return µops by set of the pipes FP0 to FP3, from how many were seen with the blockers of each set.

    Those seen on a set can go nowhere else: n(FP12) counts the ones on FP1, FP2 and FP12. The fewest that can go to all
    four are assumed that explain the counts.
    """
    total = seen.get("FP0123", 0)
    n01, n23, n12 = (min(total, seen.get(s, 0)) for s in ("FP01", "FP23", "FP12"))
    single = max(0, min(n01 + n23 + n12 - total, n12))
    one = min(single, n01)
    two = min(single - one, n23)
    uops = {"FP1": one, "FP2": two, "FP01": n01 - one, "FP23": n23 - two, "FP12": n12 - one - two}
    uops["FP0123"] = max(0, total - sum(uops.values()))
    uops = {p: n for p, n in uops.items() if n}
    if len(uops) == 1 and throughput:
        ((ports, count),) = uops.items()
        narrower, times = {"FP01": ("FP0", 2), "FP23": ("FP3", 2), "FP0123": ("FP123", 4 / 3)}.get(ports, ("", 0))
        explained = abs(throughput - count / width(ports) * times) < 0.1 * throughput
        if narrower and explained and not _DIVIDES.match(shape.mnemonic):
            return {narrower: count}
    return uops


def _integer_ports(seen: Mapping[str, int], most: int) -> dict[str, int]:
    """Return µops by set of arithmetic units, the most restricted first; at most one for each macro-op."""
    uops: dict[str, int] = {}
    for ports, within in (("ALU1", ()), ("ALU03", ()), ("ALU12", ("ALU1",)), ("ALU0123", ("ALU1", "ALU03", "ALU12"))):
        count = max(0, min(most, seen.get(ports, 0) - sum(uops.get(p, 0) for p in within)))
        if count:
            uops[ports] = count
            most -= count
    return uops


def _memory(shape: Shape, flow: FormDataflow) -> Counter[str]:
    """Return accesses: loads of up to 64 bits three a cycle, wider ones two.

    Stores two a cycle, one of them of a vector.
    """
    accesses: Counter[str] = Counter()
    if not shape.has_memory or shape.mnemonic == "LEA":
        return accesses
    if flow.loads:
        accesses["AG01" if shape.has_vector else "AG012"] += 1
    if flow.stores:
        accesses.update(("AG012", "ST01"))
        if any(o in ("XMM", "YMM", "ZMM") for o in shape.operands[1:]):
            accesses["FP5"] += 1
    return accesses


# --- latency ---------------------------------------------------------------------------------------------------------


def _latency(
    shape: Shape,
    conditions: Conditions,
    flow: FormDataflow,
    data: Record,
    register: Record | None,
    load: Mapping[str, int],
) -> list[Latency]:
    """Return latencies by operand."""
    if flow.stores:
        return _stored_latency(shape, flow, register)
    loaded = load["vector" if shape.has_vector else "gpr"]
    if _accesses_512_bits(shape, conditions):
        loaded = load["zmm"]
    latencies = {(t, s): max(0, c - loaded) if s == "m" else c for t, s, c in data["latency"]}
    if register is not None and all(s != "m" for _, s in latencies):
        for t, s, c in register["latency"]:
            latencies.setdefault((t, "m" if s == shape.memory_operand else s), c)
    return _in_whole_cycles((t, s, c) for (t, s), c in latencies.items())


def _stored_latency(shape: Shape, flow: FormDataflow, register: Record | None) -> list[Latency]:
    """Return latencies to stored data, which are ready when the register form's result is."""
    if not flow.loads:
        return [("M", s, 0) for s in flow.sources if s not in ("m", "a")]
    if register is None:
        return []
    memory = shape.memory_operand
    return _in_whole_cycles(
        ("M" if t == memory else t, "m" if s == memory else s, c)
        for t, s, c in register["latency"]
        if t in (*flow.targets, memory)
    )


def _in_whole_cycles(latency: Iterable[tuple[str, str, float]]) -> list[Latency]:
    """Return latencies in whole cycles.

    Half a cycle is the cost of moves that the renamer does; a flag so early is one left undefined.
    """
    return [(t, s, round(c)) for t, s, c in latency if c > 0.6 or t not in ("C", "SPAZO")]
