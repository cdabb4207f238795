"""Import of OSACA's machine files (YAML) for x86: ports, latency and divider of vector forms.

OSACA names operands by kind only and gives one latency for all of them; its import from uops.info wrote mask registers
as general-purpose ones. How that becomes a form's figures is described in docs/models.md.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from incc.models.files.source import Conditions, Entry, Forms
from incc.models.forms.shapes import Shape, dataflow
from incc.models.importers import ImportRequest
from incc.models.importers.common import (
    MALFORMED,
    Imported,
    Malformed,
    add_features,
    add_renamed_ports,
    read_pairs,
    reduced,
    wanted,
)
from incc.models.importers.derive import with_pairs_of_twins
from incc.models.importers.osaca import aarch64
from incc.models.importers.osaca.file import read_forms
from incc.models.notation import write_latency, write_numbered_usage

if TYPE_CHECKING:
    import argparse

_KINDS = {"xmm": "XMM", "ymm": "YMM", "zmm": "ZMM", "mm": "MM", "gpr": "gpr", "k": "gpr"}
_WIDTHS = frozenset(["R8", "R16", "R32", "R64"])
_GENERAL = _WIDTHS | {"K"}

Signature = tuple[str, tuple[str, ...]]


ISAS = ("x86", "aarch64")
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", metavar="FILE")
    add_features(parser)
    add_renamed_ports(parser)


def import_forms(request: ImportRequest) -> Imported:
    """Return figures of the forms that the model may have, by the reader for its instruction set."""
    options = request.options
    if request.isa == "aarch64":
        return aarch64.import_files(options.files, request.chain[0].name.name, request.kept, options.keep_going)
    lacking = wanted(request.kept, options.features, request.only_missing)
    renamed = read_pairs(options.rename_ports, "ports", "10=B,11=A")
    imported = import_files(options.files, lacking, options.keep_going, renamed)
    return with_pairs_of_twins(imported, request.kept)


def import_files(
    paths: list[str], forms: Iterable[Shape], keep_going: bool = False, renamed: Mapping[str, str] | None = None
) -> Imported:
    """Return measured figures of given forms: those that OSACA imported from uops.info or took with ibench or asmbench.

    `renamed` has OSACA's names of ports that the model calls otherwise. Raises ImportFailed at the first malformed
    entry, or with `keep_going` skips and lists them.
    """
    by_signature = _signatures(forms)
    full: Forms = {}
    unmatched: list[tuple[str, str]] = []
    malformed = Malformed(keep_going)
    for path in paths:
        for line, data, imported in read_forms(path):
            place = f"{path}:{line}"
            try:
                signature = _signature(data)
                if signature is None or data["latency"] is None or data["port_pressure"] is None:
                    continue
                fields, latency = _fields(data, renamed or {})
            except MALFORMED as e:
                malformed.add(place, e, "malformed instruction form: ")
                continue
            matches = by_signature.get(signature, [])
            text = f"{signature[0]} {', '.join(signature[1])}"
            if not matches:
                unmatched.append((text, "no such form asked for"))
            elif not imported:
                unmatched.append((text, "not marked as measured"))
            for shape, conditions in matches if imported else ():
                flow = dataflow(shape, "mask" in conditions)
                entries = full.setdefault(shape.key, {})
                pairs = [(to, source, latency) for to in flow.targets for source in flow.sources]
                entry = {**fields, "latency": write_latency(pairs)} if pairs else fields
                entries.setdefault(conditions, entry)
    result: Forms = {key: reduced(entries) for key, entries in full.items() if () in entries}
    return Imported(forms=result, unmatched=unmatched, skipped=malformed.skipped)


def _signatures(forms: Iterable[Shape]) -> dict[Signature, list[tuple[Shape, Conditions]]]:
    index: dict[Signature, list[tuple[Shape, Conditions]]] = defaultdict(list)
    for s in forms:
        if s.has_memory or (s.encoding != "EVEX" and "K" not in s.operands and not _WIDTHS.isdisjoint(s.operands)):
            # OSACA does not state the width of general-purpose registers, which makes a difference here (division,
            # conversion) or is a form of its own.
            continue
        operands = tuple("gpr" if o in _GENERAL else o for o in s.operands)
        index[s.mnemonic, operands].append((s, ()))
        if s.info.can_use_op_mask_register:
            index[s.mnemonic, (*operands[:1], "gpr", *operands[1:])].append((s, ("mask",)))
    return index


def _signature(data: Any) -> Signature | None:
    """Return mnemonic and operands in Intel order.

    Returns None for entries with several names or with memory, which OSACA adds.
    """
    if not isinstance(data, dict):
        raise ValueError("not a mapping")
    name = data["name"]
    if not isinstance(name, str):
        return None
    operands = []
    for operand in reversed(data["operands"]):
        kind = operand["class"]
        if kind == "immediate":
            operands.append("I8")
        elif kind == "register" and operand.get("name") in _KINDS:
            operands.append(_KINDS[operand["name"]])
        else:
            return None
    return name.upper(), tuple(operands)


def _fields(data: dict[str, Any], renamed: Mapping[str, str]) -> tuple[Entry, int]:
    ports: Counter[str] = Counter()
    divider = 0
    for cycles, where in data["port_pressure"]:
        if not isinstance(where, (str, list)) or not all(isinstance(w, str) for w in where):
            raise ValueError(f"port pressure {where!r}")
        if isinstance(where, list) and where and all(w.endswith("DV") for w in where):
            divider = max(divider, int(cycles))
            continue
        ports["".join(sorted(renamed.get(w, w) for w in where))] += int(cycles)
    latency = data["latency"]
    if not isinstance(latency, (int, float)):
        raise ValueError(f"latency {latency!r}")
    total = ports.total()
    fields: Entry = {"ports": write_numbered_usage(ports), "retire": max(1, total)}
    if divider:
        fields["divider"] = divider
    if total > 1:
        fields["complex_decoder"] = True
        if total < 4:
            fields["simple_decoders"] = 4 - total + (total == 1)
    return fields, round(latency)
