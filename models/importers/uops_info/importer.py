"""Import of uops.info's measurements: its instructions.xml, or JSON lines, one instruction variant each.

Variants are matched to decoder forms by their operands and opcodes, never by disassembled text. How published latencies
become latencies between operands is described in docs/models.md.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import iced_x86 as iced
import msgspec
from msgspec.structs import replace

from incc.models.files.source import Conditions, Entries, Entry, Forms, fusion_classes
from incc.models.forms.shapes import READS, WRITES, Shape, by_key, example, root_name, shapes
from incc.models.importers import ImportRequest, derive
from incc.models.importers.common import (
    MALFORMED,
    Imported,
    ImportFailed,
    Malformed,
    add_renamed_ports,
    differences,
    read_json_lines,
    read_pairs,
    reduced,
)
from incc.models.importers.uops_info import xml as uops_xml
from incc.models.model import MOST_SLOTS
from incc.models.notation import Latency, latency_by_pair, parse_latency, write_latency, write_numbered_usage

if TYPE_CHECKING:
    import argparse

    _Bounds = dict[tuple[str, Conditions], set[tuple[str, str]]]
    """Pairs (to, from) of which only a lower bound of the latency is published, by form and conditions."""

_CONDITION_CODES = {"NB": "AE", "NBE": "A", "NL": "GE", "NLE": "G", "NZ": "NE", "Z": "E"}
_MNEMONICS = {
    "CALL_NEAR": "CALL",
    "RET_NEAR": "RET",
    "RET_FAR": "RETF",
    "XLAT": "XLATB",
    "PREFETCH_EXCLUSIVE": "PREFETCH",
    "MOV_CR": "MOV",
    "MOV_DR": "MOV",
    "PEXTRW_SSE4": "PEXTRW",
    "CMPSD_XMM": "CMPSD",
    "MOVSD_XMM": "MOVSD",
}
_OPERANDS = {"R8l": "R8", "R8h": "R8", "Rel8": "REL8", "Rel32": "REL32", "0": "I8"}
_STRING_INSTRUCTIONS = re.compile(r"(MOVS|CMPS|SCAS|LODS|STOS|INS|OUTS)[BWDQ]$")
_VECTORS = ("MM", "XMM", "YMM")
_DECODED = 4  # µops that the decoders make; more come from microcode
# Reading back more than was just stored, as done to measure narrow vector stores, cannot be forwarded and takes about
# 9 cycles longer in the data for Skylake (movd [mem], mm against movq): figures above this tell nothing of a store.
_FORWARDING_FAILED = 8
# In the order in which XED lists a form's implicit registers, where two have the same access.
_REGISTER_ORDER = ("rax", "rdx", "rbx", "rcx", "rsi", "rdi", "rbp", "rsp", "zmm0")
_RDX_FIRST = ("XGETBV", "CMPXCHG8B", "CMPXCHG16B")


class Record(msgspec.Struct, frozen=True, kw_only=True):
    """One line of uops.info's data.

    It has the line's place for messages, the mnemonic without additions, operands, and conditions.
    """

    place: str
    data: dict[str, Any]
    mnemonic: str
    operands: tuple[str, ...]
    memory_bits: int
    opcode: int | None
    word: bool
    conditions: tuple[str, ...]

    @property
    def form(self) -> str:
        return str(self.data["form"])


class _Unmatched(Exception):
    """The record is of something that the decoder has no form for."""


ISAS = ("x86",)
NEW_MODEL = """\
format = 1
name = "{name}"
aliases = []
title = "{name}"
isa = "x86"
source = "uops.info"

[sources]
"uops.info" = "uops.info"

[ports]
names = ["0", "1", "2", "3", "4", "5", "6", "7"]
resources = []

[ports.functions]

[parameters]

"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--arch", metavar="NAME", help="the core, as uops.info calls it (SKL); for XML files")
    add_renamed_ports(parser)


def import_forms(request: ImportRequest) -> Imported:
    """Return all forms of the core; without the model's own, only differences from those it inherits."""
    options = request.options
    renamed = read_pairs(options.rename_ports, "ports", "10=B,11=A")
    imported = replace(import_files(options.files, options.keep_going, options.arch, renamed), replaces_fusion=True)
    if request.keeps:
        return imported
    # Measured on this core, so it replaces any inherited figure.
    chain = request.chain
    derive.add_idioms(imported.forms, lambda key: imported.forms.get(key, {}))
    source = chain[0].data.get("source", "") if chain else "uops.info"
    inherited = fusion_classes(chain[1:])
    return replace(
        imported,
        forms=differences(imported.forms, request.kept, source),
        fusion={k: v for k, v in imported.fusion.items() if v != inherited.get(k)},
        prefers=True,
    )


def import_files(
    paths: list[str], keep_going: bool = False, arch: str = "", renamed: Mapping[str, str] | None = None
) -> Imported:
    """Return all forms of one core, from one or more files.

    `arch` is uops.info's name of the core, needed for XML files, which have many; JSON lines are about one. With
    `keep_going` malformed records are skipped and listed; otherwise the first one raises ImportFailed. `renamed` has
    port sets by their names in the source, where these are kinds of µop rather than ports (Lion Cove's "ALU").
    """
    records: list[Record] = []
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    for path in paths:
        if path.removesuffix(".gz").endswith(".xml"):
            if not arch:
                raise ImportFailed(f"{path}: has measurements of many cores: name one (--arch SKL)")
            records_read = uops_xml.read(path, arch, keep_going, malformed.skipped)
        else:
            records_read = read_json_lines(path, malformed)
        for place, data in records_read:
            if "arch" in data and "form" not in data:
                continue
            try:
                records.append(_record(place, data))
            except _Unmatched as e:
                unmatched.append((str(data.get("form")), str(e)))
            except MALFORMED as e:
                name = f" {data['form']}" if isinstance(data.get("form"), str) else ""
                malformed.add(place, e, f"malformed record{name}: ")
    return _convert(records, unmatched, malformed, renamed or {})


def _check(data: dict[str, Any]) -> None:
    """Check the types of a line's fields. Raises ValueError, KeyError or TypeError."""
    for key, kind in (("ports", dict), ("latency", list), ("operands", list), ("variants", dict), ("attrs", dict)):
        if not isinstance(data[key], kind):
            raise ValueError(f"{key!r} is not a{' list' if kind is list else 'n object'}")
    for key in ("uops", "retire_slots"):
        if not isinstance(data[key], int) or data[key] < 0:
            raise ValueError(f"{key!r} is not a number of µops")
    for ports in (data["ports"], *(v.get("ports", {}) for v in data["variants"].values())):
        for names, count in ports.items():
            if not re.fullmatch("[0-9A-Za-z_]+", names) or not isinstance(count, int) or count < 1:
                raise ValueError(f"port usage {names!r}: {count!r}")
    for jump in data.get("macro_fusible_with", ()):
        if not isinstance(jump, str) or not jump.startswith("J"):
            raise ValueError(f"macro_fusible_with names {jump!r}")
    for entry in data["latency"]:
        if not all(isinstance(entry[k], str) for k in ("from", "to")):
            raise ValueError("a latency's 'from' and 'to' are not names of operands")
        for key in ("cycles", "addr", "addr_index", "mem", "same_reg"):
            if key in entry and not isinstance(entry[key], int):
                raise ValueError(f"a latency's {key!r} is not a number of cycles")


def _record(place: str, data: dict[str, Any]) -> Record:
    """Parse a line. Raises ValueError, KeyError or TypeError if it is malformed, _Unmatched if of no use."""
    _check(data)
    match = re.fullmatch(r"(\w+)(?: \((.*)\))?", data["form"])
    if not match:
        raise ValueError(f"form {data['form']!r} is not MNEMONIC (OPERANDS)")
    name, operands = match[1], tuple(match[2].split(", ")) if match[2] else ()
    attrs = data["attrs"]
    conditions = set()
    if "agen" in attrs:
        if not name.startswith("LEA_"):
            raise _Unmatched("MPX")
        conditions.add(f"agen:{attrs['agen']}")
        name, operands = "LEA", (*operands, "AGEN")
    elif name.startswith("LEA_"):
        conditions.add(f"agen:{name[4:]}")
        name, operands = "LEA", (*operands, "AGEN")
    for suffix, condition in (("_LOCK", "lock"), ("_REPE", "rep"), ("_REPNE", "repne"), ("_R4", "rm4-7"), ("_R0", "")):
        if name.endswith(suffix):
            name = name.removesuffix(suffix)
            conditions |= {condition} - {""}
    opcode = None
    if coded := re.fullmatch(r"(.+)_(?:0F)?([0-9A-F]{2})", name):
        name, opcode = coded[1], int(coded[2], 16)
    word = name.endswith("_W")
    name = name.removesuffix("_W")
    if name.endswith("_REX64") or name.startswith("BND"):
        raise _Unmatched("MPX or redundant prefix")
    if "0" in operands:
        conditions.add("imm0")
    conditions |= {f"high8_{n}" for n, o in enumerate(operands) if o == "R8h"}
    for prefix in ("J", "SET", "CMOV"):
        if name.startswith(prefix) and name[len(prefix) :] in _CONDITION_CODES:
            name = prefix + _CONDITION_CODES[name[len(prefix) :]]
    # Where a form may stand for a string instruction or one on xmm, the latter is marked.
    vector = name in ("CMPSD_XMM", "MOVSD_XMM")
    name = _MNEMONICS.get(name, name)
    if _STRING_INSTRUCTIONS.match(name) and not vector:
        operands = ("STRING",)
    bits = [int(o[1:]) for o in operands if re.fullmatch(r"M\d+", o)]
    tokens = tuple(_operand(o) for o in operands)
    return Record(
        place=place,
        data=data,
        mnemonic=name,
        operands=tokens,
        memory_bits=bits[0] if bits else 0,
        opcode=opcode,
        word=word,
        conditions=tuple(sorted(conditions)),
    )


def _operand(text: str) -> str:
    if re.fullmatch(r"M\d+", text) or text == "AGEN":
        return "M"
    return "MOFFS" if text.startswith("Moffs") else _OPERANDS.get(text, text)


# --- matching --------------------------------------------------------------------------------------------------------


@cache
def _shapes_by_signature() -> dict[tuple[str, tuple[str, ...]], list[Shape]]:
    """Return forms by mnemonic and explicit operands as uops.info lists them."""
    index = defaultdict(list)
    for s in shapes():
        if s.encoding == "EVEX":
            continue
        operands = tuple(o for o in s.operands if o != "STRING")
        if _STRING_INSTRUCTIONS.match(s.mnemonic) and "STRING" in s.operands:
            operands = ("STRING",)
        index[s.mnemonic, operands].append(s)
    return index


def match(record: Record) -> list[Shape]:
    """Return the decoder's forms that a record is about; more than one where several codes do the same."""
    matches = _shapes_by_signature().get((record.mnemonic, record.operands), [])
    if record.opcode is not None:
        matches = [s for s in matches if s.opcode & 0xFF == record.opcode]
    elif record.form.startswith("PEXTRW_SSE4"):
        matches = [s for s in matches if s.opcode == 0x15]
    size = {"1": 16, "2": 32, "3": 64}.get(str(record.data["attrs"].get("eosz", "")))
    if record.word:
        size = 16
    if size and len(matches) > 1:
        matches = [s for s in matches if s.operand_size in (0, size)] or matches
    elif len(matches) > 1 and not record.operands and record.mnemonic != "NOP":
        # leave, ret, enter …: the form that has 64 bits without a prefix.
        matches = [s for s in matches if s.operand_size in (0, 64)] or matches
    if record.memory_bits and len({s.memory_bits for s in matches}) > 1:
        matches = [s for s in matches if s.memory_bits == record.memory_bits]
    return matches


# --- figures ---------------------------------------------------------------------------------------------------------


class Plain(msgspec.Struct, frozen=True, kw_only=True):
    """Published figures of plain moves, in cycles.

    Measuring through memory adds them to an instruction's own latency.
    """

    load: dict[str, int]
    """Address to register, by kind of register."""
    store: dict[str, int]
    """Register to stored data, by kind of register and by bits of memory."""
    modify: dict[int, int]
    """Address to stored data by bits, of an instruction that adds one cycle to load and store, less that cycle."""
    modify_memory: dict[int, int]
    """Stored data to stored data by the same, 0 where it is not published."""
    renamed: bool
    """True if the renamer forwards stored data to a load from the same address.

    Measuring through memory then shows none of the latency (Golden Cove, Gracemont and later).
    """


def _plain_moves(records: list[Record]) -> Plain:
    """Return the figures of plain moves. Where a core lacks one (ymm before AVX), the next smaller is taken."""
    published: dict[str, list[dict[str, Any]]] = {r.form: r.data["latency"] for r in records}

    def figure(form: str, key: str, default: int) -> int:
        for entry in published.get(form, ()):
            if key in entry:
                return int(entry[key])
        return default

    gpr = figure("MOV (R64, M64)", "addr", 5)
    xmm = figure("MOVAPS (XMM, M128)", "addr", gpr + 1)
    ymm = figure("VMOVAPS (YMM, M256)", "addr", xmm)
    load = {"gpr": gpr, "XMM": xmm, "YMM": ymm, "MM": figure("MOVQ (MM, M64)", "addr", xmm)}

    def stored(form: str, default: int) -> int:
        for entry in published.get(form, ()):
            if str(entry.get("from", "")).startswith("REG"):
                return int(entry["cycles"])
        return default

    store = {str(n): stored(f"MOV (M{n}, R{n if n > 8 else '8l'})", 0) for n in (8, 16, 32, 64)}
    store["XMM"] = stored("MOVAPS (M128, XMM)", 0)
    store["YMM"] = stored("VMOVAPS (M256, YMM)", store["XMM"])
    store["MM"] = stored("MOVQ (M64, MM)", store["XMM"])
    through = gpr + store["64"] + figure("MOV (R64, M64)", "mem", 0)
    modify = {n: figure(f"INC (M{n})", "addr", through + 1) - 1 for n in (8, 16, 32, 64)}
    memory = {n: figure(f"INC (M{n})", "mem", 1) - 1 for n in (8, 16, 32, 64)}
    return Plain(
        load=load, store=store, modify=modify, modify_memory=memory, renamed=figure("MOV (M64, R64)", "addr", 1) == 0
    )


class RecordOperand(msgspec.Struct, frozen=True, kw_only=True):
    """An operand of a record by its names in a form's latency."""

    sources: list[str]
    """Its names as a source."""
    targets: list[str]
    """Its names as a target."""
    kind: str
    """An operand of Shape.operands, "flags", "gpr" for an implicit register, or ""."""
    access: str
    """Its access as published: "r", "w", "rw"."""


def _operands(record: Record, shape: Shape) -> dict[str, RecordOperand]:
    """Return the operands of a record by uops.info's names.

    Registers that no instruction names (rip, MXCSR, the time-stamp counter) are left out.
    """
    operands: dict[str, RecordOperand] = {}
    explicit = 0 if record.operands == ("STRING",) else len(record.operands)
    fixed = {_FIXED_ROOTS[o]: str(n) for n, o in enumerate(shape.operands) if o in _FIXED_ROOTS}
    implicit = list(_used_registers(shape))
    for n, operand in enumerate(record.data["operands"]):
        kind, access = operand["type"], operand["access"]
        if kind == "flags":
            targets = _flag_groups(operand.get("flags_written", ""))
            sources, kind = _flag_groups(operand.get("flags_read", "")) or targets, "flags"
        elif kind == "agen":
            sources, targets, kind = ["a"], [], "M"
        elif kind == "mem":
            sources, targets, kind = ["m"] * ("r" in access), ["M"] * ("w" in access), "M"
        elif n < explicit:
            sources = targets = [str(n)]
            kind = shape.operands[n]
        elif kind == "reg" and (root := _take(implicit, access)) is not None:
            sources = targets = [fixed.get(root, root)]
            kind = "XMM" if root.startswith("zmm") else "gpr"
        else:
            continue
        operands[operand["name"]] = RecordOperand(sources=sources, targets=targets, kind=kind, access=access)
    return operands


_FIXED_ROOTS = {"AL": "rax", "AX": "rax", "EAX": "rax", "RAX": "rax", "CL": "rcx", "DX": "rdx"}


def _flag_groups(letters: str) -> list[str]:
    return [group for group in ("C", "SPAZO") if any(f in letters for f in group)]


@cache
def _used_registers(shape: Shape) -> tuple[tuple[str, str], ...]:
    """Return implicit registers of a form and their access, in XED's order."""
    merged: dict[str, set[str]] = {}
    for used in iced.InstructionInfoFactory().info(example(shape)).used_registers():
        root = root_name(used.register)
        if root in _REGISTER_ORDER and used.access in READS | WRITES:
            merged.setdefault(root, set()).update("r" * (used.access in READS) + "w" * (used.access in WRITES))
    order = list(_REGISTER_ORDER)
    if shape.mnemonic in _RDX_FIRST:
        order = ["rdx", "rax", "rcx", *order]
    return tuple((r, "".join(sorted(merged[r]))) for r in sorted(merged, key=order.index))


def _take(registers: list[tuple[str, str]], access: str) -> str | None:
    """Take the first register with that access off the list, else the first that at least has it."""
    wanted = set(access.replace("c", "")) & {"r", "w"}
    for exactly in (True, False):
        for n, (root, has) in enumerate(registers):
            if set(has) == wanted or (not exactly and set(has) >= wanted):
                del registers[n]
                return root
    return None


def _stored_cycles(
    record: Record, entry: Mapping[str, Any], plain: Plain, source: RecordOperand, target: RecordOperand
) -> int | None:
    """Return the latency from a source to stored data, None where the published figure does not tell."""
    if source.kind == "M":
        if target.access != "rw" or "addr" not in entry:
            return None
        through = plain.modify_memory.get(record.memory_bits, 0)
        if through and "mem" in entry:
            return int(entry["mem"]) - through
        published = max(int(entry["addr"]), int(entry.get("addr_index", 0)))
        return published - plain.modify.get(record.memory_bits, plain.modify[64])
    kind = source.kind if source.kind in plain.store else str(record.memory_bits)
    cycles = int(entry["cycles"]) - plain.store.get(kind, plain.store["64"])
    if "MOVNT" in record.mnemonic:
        # Published is the way to memory and back; the data can be stored as soon as with a plain store.
        return 0
    if source.kind in _VECTORS and record.memory_bits < 64 and cycles > _FORWARDING_FAILED:
        return None
    return cycles


def _loaded_cycles(
    record: Record, shape: Shape, entry: Mapping[str, Any], plain: Plain, source: RecordOperand, target: RecordOperand
) -> int:
    """Return the latency from memory to a register or flag, without that of the load; of `lea` from its address."""
    if "addr" not in entry:
        return int(entry["cycles"])
    longest = max(int(entry["addr"]), int(entry.get("addr_index", 0)))
    if source.sources == ["a"]:
        return longest
    wide = record.memory_bits >= 256 and target.kind == "XMM"
    load = plain.load.get("YMM" if wide else target.kind, plain.load["gpr"])
    return (longest if any(o.startswith("VSIB") for o in shape.operands) else int(entry["addr"])) - load


def _is_lower_bound(
    record: Record, entry: Mapping[str, Any], plain: Plain, source: RecordOperand, target: RecordOperand
) -> bool:
    """Return True if a published latency from memory is only a lower bound."""
    if source.kind != "M":
        return False
    if plain.renamed and source.access == "rw" and not any(o.endswith("MM") for o in record.operands):
        return True
    of_lea = record.mnemonic == "LEA" and record.operands[-1:] == ("M",) and "mem" not in entry
    return target.kind != "M" and "addr" not in entry and not of_lea


def _latencies(
    record: Record, shape: Shape, plain: Plain, same_reg: bool
) -> tuple[list[Latency], set[tuple[str, str]]]:
    """Return latencies between operands, and the pairs (to, from) with only a lower bound."""
    operands = _operands(record, shape)
    latencies: list[Latency] = []
    bounds: set[tuple[str, str]] = set()
    for entry in record.data["latency"]:
        source, target = operands.get(entry["from"]), operands.get(entry["to"])
        if source is None or target is None:
            continue
        pairs = [(t, s) for t in target.targets for s in source.sources]
        cycles: int | None
        if _is_lower_bound(record, entry, plain, source, target):
            bounds.update(pairs)
            continue
        if target.kind == "M":
            cycles = _stored_cycles(record, entry, plain, source, target)
        elif source.kind == "M":
            cycles = _loaded_cycles(record, shape, entry, plain, source, target)
        else:
            cycles = int(entry["same_reg" if same_reg and "same_reg" in entry else "cycles"])
        if cycles is not None:
            latencies += [(t, s, max(0, cycles)) for t, s in pairs]
    return latencies, bounds


def _kinds(record: Record, uops: int) -> dict[str, int]:
    """Return µops by the kind of unit that they need, for cores without port counters (Intel's Atom line).

    The µops counted there are whole: one may load, compute and store. "load", "store_address" and "store_data" are
    those that the memory operands need, in halves if a 256-bit one counts twice; "branch", "vector" or "int" the rest.
    """
    access = "".join(o["access"] for o in record.data["operands"] if o["type"] == "mem")
    halves = 2 if record.memory_bits == 256 and uops >= 2 else 1
    moves = record.mnemonic.startswith(("MOV", "VMOV", "LDDQU", "VLDDQU", "POP", "PUSH"))
    kinds = Counter({"load": halves * ("r" in access)})
    kinds.update(dict.fromkeys(("store_address", "store_data"), halves * ("w" in access)))
    if record.mnemonic.startswith(("J", "CALL", "RET", "LOOP")):
        kind = "branch"
    else:
        kind = "vector" if any(o in _VECTORS or o.startswith("VSIB") for o in record.operands) else "int"
    if not (access and moves and uops <= halves):
        kinds[kind] += uops
    return {k: n for k, n in kinds.items() if n} if uops else {}


def _count_fused_uops(records: list[Record]) -> None:
    """Set `retire_slots` on cores that have no counter of them, where one is published for every instruction.

    If a plain store counts as one µop, the counts are macro-operations as they retire (AMD, Intel's Atom line). Else
    (Core 2) a load is taken to travel with a computation and the two µops of a store as one (Intel's optimization
    manual on micro-fusion), but for sequences from microcode.
    """
    figures = [(r, f) for r, f in _all_figures(records) if "uops" in f]
    if any(f.get("retire_slots", 1) != 1 for _, f in figures):
        return
    fused = any(r.form == "MOV (M64, R64)" and r.data["uops"] == 1 for r in records)
    if not fused and not any(r.form == "MOV (M64, R64)" and sum(r.data["ports"].values()) == 2 for r in records):
        return
    for record, f in figures:
        uops = int(f["uops"])
        access = "".join(o["access"] for o in record.data["operands"] if o["type"] == "mem")
        loads, stores = int("r" in access), int("w" in access)
        if not fused and uops <= _DECODED:
            uops -= (loads if uops > loads + 2 * stores else 0) + stores
        f["retire_slots"] = max(1, uops)


def _all_figures(records: list[Record]) -> Iterator[tuple[Record, dict[str, Any]]]:
    """Yield each record with its figures, and with those of each variant."""
    for record in records:
        for figures in (record.data, *record.data["variants"].values()):
            yield record, figures


def _rename_ports(records: list[Record], renamed: Mapping[str, str]) -> bool:
    """Give the ports in records the model's names; return True if the records have no ports but kinds of units."""
    by_kind = bool(records) and not any(r.data["ports"] for r in records) and bool(renamed)
    for record, figures in _all_figures(records):
        if by_kind and "uops" in figures:
            figures["ports"] = _kinds(record, figures["uops"])
        if "ports" in figures:
            ports: Counter[str] = Counter()
            for names, n in figures["ports"].items():
                ports[renamed.get(names, names)] += n
            figures["ports"] = dict(ports)
    return by_kind


def _entry(figures: dict[str, Any], latency: list[Latency]) -> Entry:
    fields: Entry = {"ports": write_numbered_usage(figures["ports"]), "retire": figures["retire_slots"]}
    if latency:
        fields["latency"] = write_latency(latency)
    if figures.get("div_cycles"):
        fields["divider"] = figures["div_cycles"]
    if figures.get("tp"):
        fields["tp"] = figures["tp"]
    if figures.get("uops_mite", figures["retire_slots"]) != figures["retire_slots"]:
        fields["uops_mite"] = figures["uops_mite"]
    if figures.get("uops_ms"):
        fields["uops_ms"] = figures["uops_ms"]
    if figures.get("complex_decoder"):
        fields["complex_decoder"] = True
        if figures.get("simple_decoders"):
            fields["simple_decoders"] = figures["simple_decoders"]
    return fields


def _implausible(record: Record, figures: dict[str, Any], whole_uops: bool) -> str:
    """Return why figures cannot be right, or are of no use, or "" if they are.

    Micro-fusion joins at most two µops (a gather's loads are one fused µop), unless `whole_uops` were counted.
    Microcode is measured with some noise, which hardly matters among that many µops.
    """
    if figures["retire_slots"] > MOST_SLOTS:
        return f"{figures['retire_slots']} µops, which depend on what the caches hold"
    if whole_uops:
        return ""
    uops = sum(figures["ports"].values())
    limit = 5 if figures.get("uops_ms", 0) >= 4 else 2
    if uops > limit * max(1, figures["retire_slots"]) and not any(o.startswith("VSIB") for o in record.operands):
        return f"{uops} µops on ports, but only {figures['retire_slots']} fused ones"
    return ""


class _Core(msgspec.Struct, frozen=True, kw_only=True):
    """The facts about a core that the conversion of each record depends on."""

    plain: Plain
    has_lsd: bool
    """True if there is a loop stream detector."""
    by_kind: bool
    """True if the records tell kinds of units instead of ports."""
    classes: dict[tuple[str, ...], str]
    """Names of macro-fusion classes by their jumps."""


def _convert(
    records: list[Record],
    unmatched: list[tuple[str, str]],
    malformed: Malformed,
    renamed: Mapping[str, str],
) -> Imported:
    plain = _plain_moves(records)
    _count_fused_uops(records)
    core = _Core(
        plain=plain,
        has_lsd=any(r.data.get("can_be_used_by_lsd") for r in records),
        by_kind=_rename_ports(records, renamed),
        classes=_fusion_classes(records),
    )
    full: Forms = {}
    bounds: _Bounds = {}
    notes: list[str] = []
    for record in records:
        matches = match(record)
        if not matches:
            unmatched.append((record.form, "no such form in the decoder"))
            continue
        try:
            if why := _implausible(record, record.data, core.by_kind):
                unmatched.append((record.form, f"implausible: {why}"))
                continue
            for shape in matches:
                entries = full.setdefault(shape.key, {})
                if record.conditions in entries:
                    notes.append(
                        f"{record.place}: {record.form} is listed twice for {shape.key}; the first one is used"
                    )
                    continue
                _add(record, shape, core, entries, bounds)
        except MALFORMED as e:
            malformed.add(record.place, e, f"malformed record {record.form}: ")
    _fill_bounds(full, bounds)
    for entries in full.values():
        if () not in entries and ("agen:B_D8",) in entries:
            # The commonest address of lea is the default for the kinds that are not listed.
            entries[()] = entries[("agen:B_D8",)]
    forms: Forms = {key: reduced(entries) for key, entries in full.items() if entries}
    return Imported(
        forms=forms,
        fusion={name: jumps for jumps, name in core.classes.items()},
        unmatched=unmatched,
        skipped=malformed.skipped,
        notes=notes,
    )


def _add(record: Record, shape: Shape, core: _Core, entries: Entries, bounds: _Bounds) -> None:
    """Add a record's entries to those of a form, and its pairs with only a lower bound to `bounds`."""
    data = record.data
    latency, open_pairs = _latencies(record, shape, core.plain, same_reg=False)
    if not data["uops"] and not any(cycles for _, _, cycles in latency):
        latency = []  # done by the renamer
    common = _decoding(record, core)
    entries[record.conditions] = {**_entry(data, latency), **common}
    if open_pairs:
        bounds[shape.key, record.conditions] = open_pairs
    for condition, figures in data["variants"].items():
        if condition not in ("indexed", "same_reg"):
            raise ValueError(f"unknown variant {condition!r}")
        counted = figures.keys() >= {"ports", "uops", "retire_slots"}
        if not counted or _implausible(record, figures, core.by_kind):
            continue
        conditions = tuple(sorted({*record.conditions, condition}))
        if figures["uops"] == data["uops"] == sum(data["ports"].values()) > sum(figures["ports"].values()):
            # Not all ports of the variant were measured; an address changes none of the others.
            figures = {**figures, "ports": data["ports"]}
        own = latency
        if condition == "same_reg":
            own = _latencies(record, shape, core.plain, same_reg=True)[0] if figures["uops"] else []
        entries[conditions] = {**_entry(figures, own), **common}
        if condition == "same_reg" and data["uops"] and not figures["uops"] and record.mnemonic != "XCHG":
            entries[conditions]["breaks"] = True
        if open_pairs:
            bounds[shape.key, conditions] = open_pairs
    published = data["latency"]
    if data["uops"] and published and all(e.get("same_reg") == 0 for e in published):
        # It executes, but need not wait: with one register twice its result is constant (all ones, or zero before zero
        # idioms were left to the renamer).
        conditions = tuple(sorted({*record.conditions, "same_reg"}))
        entries.setdefault(conditions, {**entries[record.conditions], "breaks": True})
    if core.by_kind and entries[record.conditions]["ports"]:
        entries[record.conditions]["derived"] = "ports by kind"


def _decoding(record: Record, core: _Core) -> Entry:
    """Return the fields that hold under all conditions of a record."""
    fields: Entry = {}
    if record.data.get("lcp_stall"):
        fields["lcp_stall"] = True
    if core.has_lsd and not record.data.get("can_be_used_by_lsd"):
        fields["no_lsd"] = True
    if jumps := _jumps(record):
        fields["fusion"] = core.classes[jumps]
    return fields


def _jumps(record: Record) -> tuple[str, ...]:
    """Return the jumps that a record's instruction fuses with, as the decoder calls them."""
    names = set()
    for jump in record.data.get("macro_fusible_with", ()):
        name = jump.split()[0]
        names.add("j" + _CONDITION_CODES.get(name[1:], name[1:]).lower())
    return tuple(sorted(names))


def _fusion_classes(records: list[Record]) -> dict[tuple[str, ...], str]:
    """Name each set of jumps after the first instruction in alphabetical order that fuses with them."""
    members = defaultdict(set)
    for record in records:
        if jumps := _jumps(record):
            members[jumps].add(record.mnemonic.lower())
    return {jumps: "_".join(sorted(names)) for jumps, names in members.items()}


def _fill_bounds(full: Forms, bounds: _Bounds) -> None:
    """Replace lower bounds of latencies from memory by the register form's latency, or drop them."""
    for (key, conditions), pairs in bounds.items():
        entry = full[key][conditions]
        twin = full.get(key[:-1] + "r", {}).get(()) if key.endswith("/m") else None
        latencies = latency_by_pair(entry.get("latency", ""))
        of_twin = parse_latency(twin.get("latency", "")) if twin else ()
        operands = enumerate(by_key()[key].operands)
        memory = next((str(n) for n, o in operands if o == "M" or o.startswith("VSIB")), "")
        for to, source in sorted(pairs):
            if (to, source) in latencies:
                continue
            register = memory if to == "M" else to
            figures = [c for t, s, c in of_twin if t == register and s == memory] or [
                c for (t, s), c in latencies.items() if t == to and s != "m"
            ]
            if figures:
                # An operation that the renamer does without delay (an increment on Golden Cove) still takes a cycle.
                latencies[to, source] = max(1, *figures)
        if latencies:
            entry["latency"] = write_latency((*pair, cycles) for pair, cycles in latencies.items())
