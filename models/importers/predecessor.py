"""Forms of a core that was not measured itself, from the core before it: the predecessor's µops on the core's ports.

Measurements of the new core have precedence: a memory form computes on the ports of its measured register form, and a
latency that was measured to be longer or shorter there is so in both. Every form made here names its origin in
`derived`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from incc.models.files.source import Conditions, Entries, Entry, merge_forms
from incc.models.forms.shapes import by_key
from incc.models.importers import ImportRequest
from incc.models.importers.common import Imported, add_features, differences, read_pairs, wanted
from incc.models.loading import load
from incc.models.notation import longest_latency, parse_latency, read_usage, write_latency, write_usage

if TYPE_CHECKING:
    import argparse

_WIDE = 512
_GENERAL = frozenset(["R8", "R16", "R32", "R64"])


class PortConversion(msgspec.Struct, frozen=True, kw_only=True):
    """The conversion of a predecessor's port usage to a core's."""

    renamed: Mapping[str, str]
    """The core's port sets by those of the predecessor, where they differ ("p4": "p49")."""
    load: str
    """The predecessor's set for loads, likewise store_address and store_data.

    Its set for store addresses may depend on the address ("p237", with an index "p23", which may be that of loads).
    """
    store_address: str
    store_data: str

    def convert(self, text: str) -> str:
        """Return the core's port usage for that of the predecessor ("1*p23+1*p237+1*p4")."""
        usage = read_usage(text)
        missing = usage[self.store_data] - usage[self.store_address]
        if self.store_address != self.load and 0 < missing <= usage[self.load]:
            # These store addresses used the ports of loads.
            usage[self.load] -= missing
            usage[self.store_address] += missing
        converted: Counter[str] = Counter()
        for ports, n in usage.items():
            converted[self.renamed.get(ports, ports)] += n
        return write_usage(converted)

    def computation(self, text: str) -> Counter[str]:
        """Return the predecessor's µops that neither load nor store."""
        memory = (self.load, self.store_address, self.store_data)
        return Counter({p: n for p, n in read_usage(text).items() if p not in memory})


ISAS = ("x86",)
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of this importer."""
    add_features(parser)
    # Measured forms of the model are an input of those that are made.
    parser.set_defaults(prefer=True)
    parser.add_argument("-mcpu", "--mcpu", dest="cpu", required=True, metavar="NAME", help="the other model")
    parser.add_argument(
        "--ports", default="", metavar="A=B,…", help="port sets of the other model that are different in this one"
    )


def import_forms(request: ImportRequest) -> Imported:
    """Return all forms of the other model, with this core's measured figures; with `fill` those that the core lacks."""
    options, chain = request.options, request.chain
    wanted((), options.features, only_missing=False)  # checks the names of features
    inherited = merge_forms(chain[1:])
    own_source = chain[0].data.get("source", "")
    measured_here = {
        f: e
        for f, e in request.own.items()
        if "ports" in (base := e.get((), {})) and base.get("source", own_source) != "predecessor"
    }
    parameters = chain[0].data.get("parameters", {})
    imported = import_model(options.cpu, options.ports, measured_here, parameters, request.search_path)
    if not options.fill and inherited:
        # The inherited model need not resemble this core, so all differences are stated.
        imported = replace(imported, forms=differences(imported.forms, inherited, own_source))
    fusion = {} if inherited else imported.fusion
    return replace(imported, fusion=fusion, replaces_fusion=True, prefers=not options.fill)


def import_model(
    name: str, renamed: str, measured: Mapping[str, Entries], parameters: Mapping[str, object], places: Sequence[str]
) -> Imported:
    """Return all forms of another model for a core.

    Args:
        name: The other model.
        renamed: The port sets that differ, "p237=p78,p4=p49".
        measured: Forms that were measured on the core.
        parameters: The core's parameters.
        places: Where models are found.

    Raises:
        ImportFailed: The list of ports is malformed.
        ModelError: The model cannot be read.
    """
    model = load(name, places)
    pairs = read_pairs(renamed, "ports", "p237=p78,p4=p49")
    load_set, address_set, data_set = (
        "p" + model.functions.get(function, "").replace(",", "") for function in ("load", "store_address", "store_data")
    )
    ports = PortConversion(renamed=pairs, load=load_set, store_address=address_set, store_data=data_set)
    old = {form: dict(model.entries(form)) for form in model.forms()}
    measured = {form: entries for form, entries in measured.items() if not entries.get((), {}).get("derived")}
    executes = bool(model.stated_parameters.get("move_elim_gpr")) and not parameters.get("move_elim_gpr")
    made = inherit(old, old, measured, ports, model.name, executes)
    return Imported(forms=made, fusion=dict(model.macro_fusion))


def inherit(
    forms: Iterable[str],
    old: Mapping[str, Entries],
    measured: Mapping[str, Entries],
    ports: PortConversion,
    name: str,
    executes_moves: bool,
) -> dict[str, Entries]:
    """Return the given forms of the core, from the predecessor's entries and those measured on the core.

    A form that was measured with as many µops as the predecessor's keeps the fields that the source lacks: latencies by
    operand if the longest one is the same, decoding, and conditions.

    Args:
        forms: The forms to make.
        old: The predecessor's entries.
        measured: The entries that were measured on the core.
        ports: The conversion of port usage.
        name: The predecessor.
        executes_moves: The core, unlike the predecessor, eliminates no moves of general-purpose registers.
    """
    made: dict[str, Entries] = {}
    for form in forms:
        theirs = old.get(form)
        if not theirs or () not in theirs:
            continue
        mine = measured.get(form)
        converted = _converted(theirs, ports)
        if mine:
            made[form] = _with_measured(mine, converted)
            continue
        if by_key()[form].memory_bits == _WIDE:
            _store_wide(converted, ports)
        twin = form[:-1] + "r" if form.endswith("/m") else ""
        if measured.get(twin, {}).get(()) and old.get(twin, {}).get(()):
            converted = _as_register_form(form, theirs, converted, old[twin][()], measured[twin][()], ports)
        elif executes_moves and _GENERAL.issuperset(by_key()[form].operands) and ("same_reg",) in converted:
            converted = _executed(converted)
        converted[()] = {**converted[()], "derived": f"as on {name}"}
        made[form] = converted
    return made


def _converted(theirs: Entries, ports: PortConversion) -> Entries:
    base = theirs[()]
    result: Entries = {}
    for conditions, fields in theirs.items():
        mine = {k: v for k, v in fields.items() if k not in ("source", "derived")}
        if "ports" in mine:
            mine["ports"] = ports.convert(mine["ports"])
            if conditions and mine["ports"] == ports.convert(base.get("ports", "")):
                del mine["ports"]
        if mine or not conditions:
            result[conditions] = mine
    return result


def _with_measured(mine: Entries, converted: Entries) -> Entries:
    base, theirs = mine[()], converted[()]
    if read_usage(base["ports"]).total() != read_usage(theirs.get("ports", "")).total():
        return {c: dict(f) for c, f in mine.items()}
    merged = {k: v for k, v in theirs.items() if k not in ("divider", "tp")}
    merged.update({k: v for k, v in base.items() if k in ("ports", "divider", "tp", "source")})
    if _longest(base) is not None and _longest(base) != _longest(theirs):
        merged["latency"] = base["latency"]
    return {**converted, (): merged, **{c: dict(f) for c, f in mine.items() if c}}


def _as_register_form(
    form: str, theirs: Entries, converted: Entries, old: Entry, new: Entry, ports: PortConversion
) -> Entries:
    """Return a memory form with the µops and latencies of the measured register form, if it computed with the same."""
    base = dict(converted[()])
    computation = ports.computation(theirs[()].get("ports", ""))
    if not computation or computation != read_usage(old.get("ports", "")):
        return converted
    if computation.total() != read_usage(new.get("ports", "")).total():
        return converted
    memory = read_usage(theirs[()]["ports"])
    memory.subtract(computation)
    base["ports"] = write_usage(read_usage(ports.convert(write_usage(memory))) + read_usage(new["ports"]))
    if "divider" in base or "divider" in new:
        base["divider"] = new.get("divider", 0)
    if _longest(old) != _longest(new) and "latency" in new and "M<" not in base.get("latency", ""):
        operand = by_key()[form].memory_operand
        base["latency"] = write_latency(
            [(t, "m" if s == operand else s, c) for t, s, c in parse_latency(new["latency"])]
        )
    rest = {c: {k: v for k, v in f.items() if k != "ports"} for c, f in converted.items() if c}
    return {(): base, **{c: f for c, f in rest.items() if f}}


def _store_wide(converted: Entries, ports: PortConversion) -> None:
    """Use two ports for stored data: each takes 256 bits.

    Intel's optimization manual: one 512-bit store a cycle.
    """
    data = ports.renamed.get(ports.store_data, "")
    if len(data) != len("p49"):
        return
    for fields in converted.values():
        usage = read_usage(fields.get("ports", ""))
        if usage[data] == 1:
            usage[data] = 2
            fields["ports"] = write_usage(usage)


def _executed(converted: Entries) -> Entries:
    """Return a move that the predecessor's renamer eliminates as it executes from a register to itself."""
    base, same = converted[()], converted["same_reg",]
    if base.get("ports") or not same.get("ports"):
        return converted
    executed = {**base, **same}
    rest: dict[Conditions, Entry] = {
        c: f for c, f in converted.items() if c and any(executed.get(k) != v for k, v in f.items())
    }
    return {(): executed, **rest}


def _longest(fields: Entry) -> int | None:
    return longest_latency(fields.get("latency", ""))
