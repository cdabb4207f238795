"""LLVM's scheduling models on cores whose ports are not numbered: LLVM's names of our units, and forms by them.

The output of llvm_sched.cpp serves for three things here, besides Intel's numbered ports: writing LLVM's names into a
model (`--resources`), forms on a core with these names, and forms on a core of which LLVM has another model, with µops
by the kind of unit that they need (`--kinds`). docs/models.md says how figures become a form's.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import msgspec

from incc.models.files import llvm_table
from incc.models.files.source import Entry
from incc.models.forms.shapes import VECTOR_BITS, FormDataflow, Shape
from incc.models.importers.common import read_pairs
from incc.models.llvm_names import unpacked
from incc.models.model import Header
from incc.models.notation import Latency, parse_port_set, port_set_name, read_usage, write_latency, write_usage

_JUMPS = "ja jae jb jbe je jg jge jl jle jne jno jnp jns jo jp js"
FUSION = {"cmp_test": tuple(_JUMPS.split())}
"""The pairs that AMD's cores before Zen fuse: comparisons and tests with any jump (LLVM's feature branchfusion)."""


class UnitModel(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of a model that its forms depend on."""

    units: Mapping[str, Sequence[str]]
    """The names of our ports and other units for LLVM's, of each of its resources."""
    functions: Mapping[str, str]
    """Port sets as in `ports.functions`."""
    resources: Sequence[str]
    """The units that are no ports."""
    load_latency: Mapping[str, int]
    """The latency of LLVM's plain loads, by class."""
    memory_bits: int
    """Bits of one access, 0 without a limit."""
    fuses: bool
    """True if comparisons fuse with jumps."""
    kinds: Mapping[str, str]
    """Ports by kind of unit, {} where `units` gives them."""
    ports: Sequence[str]
    """All ports."""


def core_of(header: Header, kinds: str, features: Iterable[str]) -> UnitModel:
    """Return the core that a model's header (models.files.compile.read_header) describes; `kinds` as in `--kinds`.

    Raises ImportFailed for malformed kinds.
    """
    pairs = read_pairs(kinds, "ports by kind", "int=IN01,vector=VX01,branch=JP0")
    names = unpacked(header["llvm"])
    units: dict[str, list[str]] = {}
    for unit in names.units if names else ():
        # With patterns, one of our ports stands for only a part of the unit; LLVM's other unit has the port.
        own = [of for of in unit.of.split(",") if of and (not unit.forms or of in header["resources"])]
        units.setdefault(unit.name, []).extend(own)
    parameters = header["parameters"]
    return UnitModel(
        units=units,
        functions=header["functions"],
        resources=header["resources"],
        load_latency=parameters["load_latency"],
        memory_bits=parameters.get("memory_bits") or 0,
        fuses="branchfusion" in set(features),
        kinds=pairs,
        ports=header["ports"],
    )


def entry(shape: Shape, flow: FormDataflow, data: Mapping[str, Any], core: UnitModel) -> Entry:
    """Return a form's fields from LLVM's data, with memory accesses as the core's model writes them.

    LLVM's units that do not stand for a port (functional units behind a pipe, queues) count where they are held longer
    than the pipes. Raises KeyError or ValueError on data that makes no sense.
    """
    width = max((VECTOR_BITS.get(o.removeprefix("VSIB_"), 0) for o in shape.operands), default=0)
    x87 = shape.mnemonic.startswith("F") and not shape.mnemonic.startswith(("FXSAVE", "FXRSTOR"))
    memory = _accesses(shape, flow, core, width or 80 * x87)
    fused = max(1, int(data["uops"]))
    fields: Entry = {}
    held: dict[str, int] = {}
    if core.kinds:
        compute, hold, tp = _by_kind(shape, flow, data, core, bool(memory), width > 0 or x87), 0, 0.0
    else:
        compute, held, hold, tp = _by_units(data, core, bool(memory), fused)
    fields["ports"] = write_usage({port_set_name(p.split(",")): n for p, n in (compute + memory).items()})
    fields["retire"] = fused
    load = _load_latency(data, core, width > 0) if flow.loads and memory else 0
    pairs = latency_pairs(flow, int(data["latency"]) - load, bool(compute))
    if pairs:
        fields["latency"] = write_latency(pairs)
    unit = max(held, key=lambda name: held[name], default="")
    if unit:
        fields["divider"] = held[unit]
        if unit != core.resources[0]:
            fields["unit"] = unit
    if hold > 1:
        fields["hold"] = hold
    elif tp >= 2 and not unit:
        fields["tp"] = round(tp, 2)
    memory_and_immediate = shape.has_memory and any(o.startswith("I") for o in shape.operands)
    if core.fuses and shape.mnemonic in ("CMP", "TEST") and not memory_and_immediate:
        fields["fusion"] = "cmp_test"
    if fused > 2 and not core.kinds:
        # AMD decodes instructions of more than two macro-ops from microcode.
        fields["uops_mite"], fields["uops_ms"] = 0, fused
    if core.kinds:
        fields["derived"] = "ports by kind"
    return fields


def _load_latency(data: Mapping[str, Any], core: UnitModel, vector: bool) -> int:
    """Return the part of LLVM's latency that is the load's."""
    if data["read_advance"]:
        return max(int(advance["cycles"]) for advance in data["read_advance"])
    return core.load_latency["xmm" if vector else "gpr"]


def latency_pairs(flow: FormDataflow, cycles: int, computes: bool) -> list[Latency]:
    """Return the latency between each source and result, from LLVM's latency without the load's."""
    pairs = []
    for to in flow.targets:
        for source in flow.sources:
            latency = cycles
            if flow.stores:
                # One cycle is the store's.
                latency = cycles - 1 if computes else 0
            elif not computes and source == "m":
                latency = 0
            pairs.append((to, source, max(0, latency)))
    return pairs


def _accesses(shape: Shape, flow: FormDataflow, core: UnitModel, width: int) -> Counter[str]:
    """Return µops for memory, by port set.

    One access, or as many as the operand is wider than one; of gathers and scatters one for each element.
    """
    explicit = any(o in ("M", "MOFFS", "STRING") or o.startswith("VSIB") for o in shape.operands)
    bits = shape.memory_bits or (width if explicit else 0)
    n = max(1, -(-bits // core.memory_bits)) if core.memory_bits else 1
    if index := re.search(r"VM(32|64)([XYZ])", shape.key):
        indices = {"X": 128, "Y": 256, "Z": 512}[index[2]] // int(index[1])
        n = min(indices, (width or 512) // (shape.memory_bits or 32))
    functions = core.functions
    vector = width in VECTOR_BITS.values()
    accesses: Counter[str] = Counter()
    if flow.loads:
        load = functions.get("load_vector" if vector else "load_x87" if width == 80 else "load", functions["load"])
        accesses[load] = n
    if flow.stores:
        for name in ("store_address", "store_data"):
            accesses[functions[name]] += n
        if "store_vector" in functions and vector and not flow.loads:
            accesses[functions["store_vector"]] = n
    return accesses


def _by_units(
    data: Mapping[str, Any], core: UnitModel, memory: bool, fused: int
) -> tuple[Counter[str], dict[str, int], int, float]:
    """Return µops that neither load nor store by port set, cycles of other units, cycles per µop and the throughput.

    The cycles per µop are for how long each holds its port; the throughput is the part that neither explains.
    """
    for_memory: set[str] = set()
    for name, of in core.functions.items():
        if name.startswith(("load", "store")) and name != "store_vector":
            for_memory |= set(of.split(","))
    compute: Counter[str] = Counter()
    held: dict[str, int] = {}
    for resource in data["resources"]:
        ours = list(dict.fromkeys(u for member in resource["members"] for u in core.units.get(member, ())))
        ports = [u for u in ours if u in core.ports]
        if ports:
            if memory and set(ports) <= for_memory:
                continue
            compute[",".join(sorted(ports, key=list(core.ports).index))] += resource["cycles"]
        else:
            # Where LLVM has several units that are one of ours, each takes its share. It counts on them for moves and
            # loads, too, which do not hold them, so only a time much longer than on the pipe counts.
            several = sum(len(core.units.get(member, ())) for member in resource["members"])
            for unit in ours:
                share = -(-resource["cycles"] // several)
                if several == 1 or share > 2:
                    held[unit] = max(held.get(unit, 0), share)
    longest = max(compute.values(), default=0)
    held = {unit: cycles for unit, cycles in held.items() if cycles > longest}
    hold, tp = 0, 0.0
    if longest > fused:
        # More cycles than µops: a pipe that is held.
        if len(compute) == 1 and not memory:
            hold = -(-longest // fused)
        else:
            tp = max(cycles / len(term.split(",")) for term, cycles in compute.items())
        compute = Counter({term: min(cycles, fused) for term, cycles in compute.items()})
    return compute, held, hold, tp


def _by_kind(
    shape: Shape, flow: FormDataflow, data: Mapping[str, Any], core: UnitModel, memory: bool, vector: bool
) -> Counter[str]:
    """Return µops that neither load nor store, on units of the kind that operands tell.

    As many as LLVM has, less those for memory.
    """
    used = int(data["uops"]) - (flow.loads + flow.stores if memory else 0)
    if memory and used < 1 and shape.mnemonic.startswith(("MOV", "VMOV", "PUSH", "POP", "FLD", "FST")):
        return Counter()
    if shape.mnemonic.startswith(("J", "CALL", "RET", "LOOP")):
        kind = "branch"
    else:
        kind = "vector" if vector else "int"
    if kind not in core.kinds:
        raise ValueError(f"no ports for the kind {kind!r}")
    return Counter({parse_port_set(core.kinds[kind], core.ports): max(1, used)})


def has_one_load_port(functions: Mapping[str, str]) -> bool:
    """Return True for the numbered ports of Intel's cores before Sandy Bridge."""
    return functions.get("load") == "2" and functions.get("store_address") == "3"


def with_one_load_port(fields: Entry, flow: FormDataflow, functions: Mapping[str, str]) -> Entry:
    """Convert figures for Sandy Bridge's ports to a core before it.

    Port 2 loads, port 3 has the addresses of stores.
    """
    load, address = functions["load"], functions["store_address"]
    usage = read_usage(fields["ports"])
    accesses = usage.pop("p23", 0)
    if not accesses:
        return fields
    stores = int(flow.stores) if flow.loads else accesses * flow.stores
    usage[f"p{address}"] += stores
    usage[f"p{load}"] += accesses - stores
    return {**fields, "ports": write_usage(usage)}


# --- LLVM's names ----------------------------------------------------------------------------------------------------


def names_of(
    processor: Mapping[str, Any],
    old: Mapping[str, Any],
    ports: Sequence[str],
    resources: Sequence[str],
    of_unit: Mapping[str, Sequence[str]],
) -> dict[str, Any]:
    """Return the table `llvm` of a model with these ports and resources for a processor as llvm_sched prints it.

    Units that `old` (the table that the file has, {} without one) names keep their names; else `of_unit` has the ports
    of each unit's instances, or names tell: LLVM's ports end in our numbers, other units in our names.
    """
    kept: dict[tuple[str, int], Mapping[str, Any]] = {}
    for unit in old.get("units", ()):
        kept[unit["name"], sum(1 for name, _ in kept if name == unit["name"])] = unit
    units = []
    ours: dict[str, list[str]] = {}
    for resource in processor["resources"]:
        name = resource["name"]
        if resource["members"] != [name] or not resource["units"]:
            continue  # a group: llvm-mca shows its members only
        for instance in range(resource["units"]):
            kept_names = kept.get((name, instance))
            row: dict[str, Any] = {"name": name}
            if kept_names is None:
                known = of_unit.get(name)
                guess = known[instance] if known else _guess(name, instance, resource["units"], ports, resources)
                row["of"] = guess if guess in (*ports, *resources) else ""
            else:
                row |= {key: kept_names[key] for key in ("of", "forms") if key in kept_names}
            units.append(row)
            ours.setdefault(name, []).extend([] if row.get("forms") else row.get("of", "").split(","))
    extra = processor["extra"] or {}
    queues = {extra.get("load_queue"): "load", extra.get("store_queue"): "store"}
    schedulers = []
    for resource in processor["resources"]:
        if resource["buffer"] > 0:
            of = {u for member in resource["members"] for u in ours.get(member, ())}
            queue = queues.get(resource["name"], "")
            waiting = "" if queue else ",".join(p for p in ports if p in of)
            schedulers.append(
                {"name": resource["name"], "entries": resource["buffer"], "ports": waiting, "queue": queue}
            )
    files = [
        {
            "name": file["name"],
            "registers": file["registers"],
            "kind": "integer" if "Int" in file["name"] else "vector",
            "moves": file.get("moves"),
        }
        for file in extra.get("register_files", ())
    ]
    return {"cpu": processor["cpu"], "units": units, "schedulers": schedulers, "register_files": files}


def _guess(name: str, instance: int, count: int, ports: Sequence[str], resources: Sequence[str]) -> str:
    number = re.search(r"Port(\d+)$", name)
    if number:
        digits = number[1]
        one = digits[instance] if count == len(digits) > 1 else f"{int(digits):X}"
        one = {"A": "B", "B": "A"}.get(one, one)  # as uops.info: A the load port 11, B the arithmetic port 10
        return one if one in ports else ""
    if name.endswith("Divider") and "0DV" in resources:
        return "0DV"
    for own in (*ports, *resources):
        if re.fullmatch(rf"[A-Z][a-z]*\d?{re.escape(own)}", name):
            return own
    return ""


def with_names(header: str, names: Mapping[str, Any]) -> str:
    """Return a model file up to its forms with LLVM's names, in place of those that it has or at its end."""
    table = llvm_table.write(names)
    old = re.search(rf"^(?:{re.escape(llvm_table.MARK)}\n)?\[llvm\]\n(?:.+\n)*", header, re.MULTILINE)
    if old is None:
        return f"{header.rstrip()}\n\n{table}\n"
    return header[: old.start()] + table + header[old.end() :]


def idiom(shape: Shape) -> bool:
    """Return True if the form computes with two registers that could be one."""
    registers = [o for o in shape.operands if o in ("R8", "R16", "R32", "R64", *VECTOR_BITS)]
    return shape.key.endswith("/r") and len(registers) in (2, 3) and len(set(registers)) == 1
