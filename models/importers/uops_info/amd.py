"""The completion of uops.info's figures of AMD's cores, which name ports of floating-point µops only.

The rules are in docs/models.md.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from iced_x86 import FlowControl
from msgspec.structs import replace

from incc.models.files.compile import compile_model
from incc.models.files.source import (
    DEFAULTS,
    Conditions,
    Entries,
    Entry,
    Forms,
    by_conditions,
    fusion_classes,
    merge_forms,
    read_chain,
    resolved,
)
from incc.models.forms.shapes import VECTOR_BITS, Shape, by_key, dataflow, example
from incc.models.importers import ImportRequest
from incc.models.importers.common import Imported, ImportFailed, reduced
from incc.models.importers.uops_info import importer as uops_info
from incc.models.loading import find_model, search_places
from incc.models.notation import (
    longest_latency,
    parse_latency,
    parse_ports,
    port_set_name,
    read_usage,
    write_latency,
    write_usage,
)

if TYPE_CHECKING:
    import argparse

# The functions of the measured core's sets of arithmetic units, as in ports.functions of another core.
_ROLES = {"ALU1": "multiply", "ALU12": "shift", "ALU03": "select", "ALU0123": "integer"}
# Published latencies between general-purpose and vector registers are those of the way there and back, less one cycle
# (`movd` both ways: 5, of 6). Those of `movd`, so shared out that a vector is loaded in the 7 cycles of AMD's guides:
_TO_VECTOR, _TO_GENERAL = 4, 2
_FUNCTIONS = (
    *("load", "load_vector", "store_address", "store_data", "store_vector"),
    *("branch_taken", "branch_not_taken", "integer", "multiply", "shift", "select"),
)
_FIELDS_FROM_COUNTERS = ("uops_mite", "uops_ms", "simple_decoders", "complex_decoder", "no_lsd")


ISAS = ("x86",)
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("--like", default="znver4", metavar="MODEL", help="the model with the integer units")


def import_forms(request: ImportRequest) -> Imported:
    """Return the forms in the files, completed; macro-fusion as in the other model, if the model says nothing of it."""
    options = request.options
    imported = import_files(options.files, request.output, options.like, request.search_path, options.keep_going)
    return replace(imported, replaces_fusion=not request.fusion)


def import_files(
    files: list[str], output: str, like: str, search_path: Sequence[str], keep_going: bool = False
) -> Imported:
    """Return uops.info's figures of a core of AMD, completed; `output` is the model file, whose ports they are for.

    Without files, the forms are those of `like` on the core's ports. Raises ImportFailed and ModelError.
    """
    places = search_places(search_path)
    header = compile_model(output, places, find_model).header
    chain = read_chain(find_model(like, places), places, find_model)
    reference, fusion = merge_forms(chain), fusion_classes(chain[:1])
    missing = sorted(set(_FUNCTIONS) - set(header["functions"]))
    if missing:
        raise ImportFailed(f"{output}: ports.functions.{missing[0]} is missing, which says what AMD's integer units do")
    if not files:
        return Imported(forms=successor(reference, header, like), fusion=fusion)
    imported = uops_info.import_files(files, keep_going)
    bits = header["parameters"]["memory_bits"] or 256
    forms = complete(imported.forms, header["functions"], header["ports"], bits, lambda key: reference.get(key, {}))
    for key, entries in forms.items():
        entries[()]["source"] = "uops.info"
        if name := reference.get(key, {}).get((), {}).get("fusion"):
            entries[()]["fusion"] = name
    return replace(imported, forms=forms, fusion=fusion)


def successor(reference: Forms, header: Mapping[str, Any], like: str) -> Forms:
    """Return the forms of the measured core on another's ports: more units of each kind, and pipes of 512 bits.

    With pipes as wide (`memory_bits`), an operation that held a pipe for two cycles is one µop, and a load or the
    address of a store is one access.
    """
    sets = {name: port_set_name(ports.split(",")) for name, ports in header["functions"].items()}
    renamed = {old: sets[role] for old, role in _ROLES.items()}
    renamed |= {"AG012": sets["load"], "AG01": sets["load_vector"], "ST01": sets["store_data"]}
    renamed |= {"BR": sets["branch_taken"], "p(ALU0|BR)": sets["branch_not_taken"]}
    renamed |= {
        "FP5": sets["store_vector"],
        "FP4": sets.get("compare", sets["store_vector"]),
        "ST0": sets["store_data"],
    }
    whole = header["parameters"]["memory_bits"] or 256 >= 512
    result: Forms = {}
    for key, entries in reference.items():
        shape = by_key().get(key)
        wide = whole and shape is not None and (shape.memory_bits == 512 or "ZMM" in shape.operands)
        result[key] = {}
        for conditions in by_conditions(entries):
            done = {k: v for k, v in entries[conditions].items() if not (wide and k == "hold")}
            if "ports" in done:
                usage: Counter[str] = Counter()
                terms = read_usage(done["ports"])
                held = resolved(entries, conditions).get("hold")
                halve = wide and not held and any(n % 2 == 0 for n in terms.values())
                for name, count in terms.items():
                    # Ways to the store queue stay half as wide: one store of 512 bits takes both.
                    usage[renamed.get(name, name)] += (count + 1) // 2 if halve and name != "ST01" else count
                done["ports"] = write_usage(usage)
            if not conditions:
                done["derived"] = f"as on {like}"
            below = resolved(result[key], conditions)
            if not conditions or any(below.get(k, DEFAULTS[k]) != v for k, v in done.items()):
                result[key][conditions] = done
    return result


def complete(
    forms: Forms,
    functions: Mapping[str, str],
    ports: Sequence[str],
    vector_bits: int,
    like: Callable[[str], Mapping[Conditions, Entry]],
) -> Forms:
    """Return the forms with µops on all ports.

    `functions` and `ports` are the core's; besides those of every model, `functions` has `integer`, `multiply`,
    `shift`, `select` (the units that conditional moves and sets go to), `load_vector`, `store_vector`,
    `branch_not_taken`. `vector_bits` is the width of one access to memory. `like` returns the entries of a form on a
    core whose integer units were measured.
    """
    sets = {name: port_set_name(members.split(",")) for name, members in functions.items()}
    result: Forms = {}
    for key, entries in forms.items():
        shape = by_key().get(key)
        if shape is None or () not in entries:
            continue
        reference = like(key)
        done: Entries = {}
        for conditions in entries:
            fields, measured = resolved(entries, conditions), resolved(reference, conditions)
            done[conditions] = _entry(shape, conditions, fields, measured, sets, ports, vector_bits)
        result[key] = reduced(done)
    return result


def _entry(
    shape: Shape,
    conditions: Conditions,
    fields: Entry,
    measured: Entry,
    sets: Mapping[str, str],
    ports: Sequence[str],
    vector_bits: int,
) -> Entry:
    slots = max(1, fields.get("retire", 1))
    own = read_usage(fields.get("ports", "")) or _pipes(measured, slots, ports, sets["store_vector"])
    memory = _memory(shape, conditions, sets, vector_bits)
    usage = Counter({p: n for p, n in own.items() if p != "FP45"})
    # Counted is that a pipe for stores and transfers was used; loads and stores have their ports below.
    usage[sets.get("compare" if _compares(shape) else "store_vector", sets["store_vector"])] += own["FP45"]
    if usage[sets["store_vector"]]:
        memory.pop(sets["store_vector"], None)
    waits = longest_latency(fields.get("latency", "")) or 0
    integer = _integer(shape, slots - own.total(), measured, sets, memory, waits)
    renamed = fields.get("breaks") or _eliminated(shape, fields, measured)
    done = {k: v for k, v in fields.items() if k not in _FIELDS_FROM_COUNTERS}
    done["latency"] = _latency(shape, fields.get("latency", ""), measured)
    done["ports"] = "" if renamed and not measured.get("ports") else write_usage(usage + integer + memory)
    done["retire"] = slots
    if not done["latency"]:
        del done["latency"]
    if shape.mnemonic in ("DIV", "IDIV"):
        done["unit"] = "IDV"
    elif measured.get("unit") == "FDV":
        done["unit"] = "FDV"
        done["divider"] = measured["divider"] * max(1, slots // max(1, measured.get("retire", 1)))
    return done


def _latency(shape: Shape, latency: str, measured: Entry) -> str:
    """Return latencies without the way back between register classes, and those to memory as on the measured core."""
    stored = {s: c for t, s, c in parse_latency(measured.get("latency", "")) if t == "M"}
    pairs = []
    for to, source, cycles in parse_latency(latency):
        ends = _class(shape, source), _class(shape, to)
        if ends == ("general", "vector"):
            cycles = max(0, cycles + 1 - _TO_GENERAL)
        elif ends == ("vector", "general"):
            cycles = max(0, cycles + 1 - _TO_VECTOR)
        elif to == "M" and source in stored:
            cycles = stored[source]
        pairs.append((to, source, cycles))
    return write_latency(pairs)


def _class(shape: Shape, name: str) -> str:
    """Return "general" or "vector" for a register or flag by its name in latencies, "" for memory and masks."""
    if name.isdigit():
        operand = shape.operands[int(name)]
        return "vector" if operand in VECTOR_BITS else "general" if operand.startswith("R") else ""
    if name in ("m", "M", "a", "k"):
        return ""
    return "vector" if name.startswith("zmm") else "general"


def _eliminated(shape: Shape, fields: Entry, measured: Entry) -> bool:
    """Return True for moves between registers that take no time on the measured core."""
    latency = [t.rpartition(":")[2] for t in fields.get("latency", "").split()]
    return (
        not shape.has_memory
        and bool(measured)
        and not measured.get("ports")
        and not fields.get("ports")
        and all(c == "0" for c in latency)
    )


def _pipes(measured: Entry, slots: int, ports: Sequence[str], leaving: str) -> Counter[str]:
    """Return floating-point µops where none are published: the similar core's, twice for twice the macro-ops.

    `leaving` is the pipe through which results leave the unit on cores without a fifth and sixth. Empty where the core
    lacks another one of the pipes.
    """
    times = max(1, slots // max(1, measured.get("retire", 1)))
    uops: Counter[str] = Counter()
    for name, count in read_usage(measured.get("ports", "")).items():
        if name.startswith("FP"):
            uops[leaving if name in ("FP4", "FP5") and name not in ports else name] += count * times
    try:
        parse_ports(write_usage(uops), ports)
    except ValueError:
        return Counter()
    return uops


def _compares(shape: Shape) -> bool:
    """Return True if results go to flags."""
    return bool({"C", "SPAZO"} & set(dataflow(shape).targets))


def _integer(
    shape: Shape, most: int, measured: Entry, sets: Mapping[str, str], memory: Mapping[str, int], waits: int
) -> Counter[str]:
    """Return µops of the integer units: the measured core's, else one for each macro-op that is nothing else.

    `waits` is the longest latency.
    """
    uops: Counter[str] = Counter()
    kind = example(shape).flow_control
    if kind in (FlowControl.CONDITIONAL_BRANCH, FlowControl.UNCONDITIONAL_BRANCH):
        uops[sets["branch_not_taken"]] = 1
        if most > 1:
            uops[sets["integer"]] = most - 1
        return uops
    if kind in (FlowControl.CALL, FlowControl.RETURN, FlowControl.INDIRECT_BRANCH, FlowControl.INDIRECT_CALL):
        return Counter((sets["branch_taken"],))
    if "NOP" in shape.mnemonic or shape.mnemonic.startswith("PREFETCH") or shape.mnemonic == "VZEROUPPER":
        return uops
    published = read_usage(measured.get("ports", ""))
    for ports, count in published.items():
        if ports in _ROLES:
            uops[sets[_ROLES[ports]]] += min(count, max(most, 1))
    if uops or any(p.startswith("FP") for p in published) or (measured and waits == 0):
        return uops
    rest = most - (1 if memory and most == 1 and waits == 0 else 0)
    return Counter({sets["integer"]: max(0, rest)})


def _memory(shape: Shape, conditions: Conditions, sets: Mapping[str, str], vector_bits: int) -> Counter[str]:
    """Return accesses to memory, explicit and implicit."""
    accesses: Counter[str] = Counter()
    flow = dataflow(shape, "mask" in conditions)
    if shape.mnemonic == "LEA" or "NOP" in shape.mnemonic:
        return accesses
    width = max((VECTOR_BITS.get(o, 0) for o in shape.operands), default=0)
    parts = max(1, (shape.memory_bits if "bcast" not in conditions else 0) // vector_bits)
    if any(o.startswith("VSIB") for o in shape.operands):
        parts = elements(shape)
    if flow.loads or shape.mnemonic.startswith("PREFETCH"):
        accesses[sets["load_vector" if width > 64 else "load"]] = parts
    if flow.stores:
        for name in ("store_address", "store_data", *(("store_vector",) if width else ())):
            if name in sets:
                accesses[sets[name]] += parts
    return accesses


def elements(shape: Shape) -> int:
    """Return accesses of a gather or scatter: as many as there are both data and indices in the registers."""
    index = next(VECTOR_BITS[o.removeprefix("VSIB_")] for o in shape.operands if "VSIB" in o)
    data = max((VECTOR_BITS.get(o, 0) for o in shape.operands), default=128)
    indices = re.search(r"(?:GATHER|SCATTER)P?([DQ])", shape.mnemonic)
    index_bits = 64 if indices and indices[1] == "Q" else 32
    return max(1, min(index // index_bits, data // max(shape.memory_bits, 32)))
