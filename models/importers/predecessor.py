"""Forms of a core from the core before it, where it was not measured itself: the predecessor's µops on its own ports.

What was measured of the new core goes first: the ports of a register form are those of the computation of its memory
form, and latencies that grew or shrank do so in both. Every form made here says in `derived` whose it is.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from incc.models.files.compile import Entry, merge_forms, write_latency
from incc.models.forms.shapes import by_key, wanted
from incc.models.importers.common import Imported, ImportFailed, add_features, differences
from incc.models.loading import load
from incc.models.model import parse_latency

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable, Mapping, Sequence

    from incc.models.importers import Request

    Conditions = tuple[str, ...]
    Entries = Mapping[Conditions, Entry]

WIDE = 512
_GENERAL = frozenset(["R8", "R16", "R32", "R64"])


class Ports:
    """How a predecessor's ports become a core's.

    `renamed`: port sets that differ, as both write them ("p4": "p49"). `load`, `store_address`, `store_data`: the
    predecessor's, where the set of store addresses depends on the address ("p237", with an index "p23", which may be
    loads as well); what store addresses become is `renamed[store_address]`.
    """

    def __init__(self, renamed: Mapping[str, str], load: str, store_address: str, store_data: str) -> None:
        self.renamed = dict(renamed)
        self.load = load
        self.store_address = store_address
        self.store_data = store_data

    def convert(self, text: str) -> str:
        """Port usage on the core from that on the predecessor ("1*p23+1*p237+1*p4")."""
        usage = count(text)
        missing = usage[self.store_data] - usage[self.store_address]
        if self.store_address != self.load and 0 < missing <= usage[self.load]:
            # These store addresses went where loads go.
            usage[self.load] -= missing
            usage[self.store_address] += missing
        converted: Counter[str] = Counter()
        for ports, n in usage.items():
            converted[self.renamed.get(ports, ports)] += n
        return write(converted)

    def computation(self, text: str) -> Counter[str]:
        """The µops of the predecessor that neither load nor store."""
        memory = (self.load, self.store_address, self.store_data)
        return Counter({p: n for p, n in count(text).items() if p not in memory})


def count(text: str) -> Counter[str]:
    """µops by port set."""
    usage: Counter[str] = Counter()
    for term in text.split("+") if text else ():
        n, _, ports = term.partition("*")
        usage[ports] += int(n)
    return usage


def write(usage: Counter[str]) -> str:
    """The notation that count() reads."""
    return "+".join(f"{n}*{p}" for p, n in sorted(usage.items()) if n)


ISAS = ("x86",)
NEW_MODEL = ""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_features(parser)
    # What is in the model already was measured: it goes into the forms that are made.
    parser.set_defaults(prefer=True)
    parser.add_argument("-mcpu", "--mcpu", dest="cpu", required=True, metavar="NAME", help="the other model")
    parser.add_argument(
        "--ports", default="", metavar="A=B,…", help="the other model's port sets that are different here"
    )


def import_forms(request: Request) -> Imported:
    """All forms of the other model, with what was measured on this core; with `fill` for those that it lacks."""
    options, chain = request.options, request.chain
    wanted((), options.features, only_missing=False)  # for what it says of a feature that is none
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
        # Only what differs from the inherited model, which is not known to be like this core.
        imported = imported._replace(forms=differences(imported.forms, inherited, own_source))
    fusion = {} if inherited else imported.fusion
    return imported._replace(fusion=fusion, replaces_fusion=True, prefers=not options.fill)


def import_model(
    name: str, renamed: str, known: Mapping[str, Entries], parameters: Mapping[str, object], places: Sequence[str]
) -> Imported:
    """All forms of the model `name` for a core with the forms `known` and these parameters.

    `renamed`: the port sets that differ, "p237=p78,p4=p49". Raises ImportFailed for a malformed list, ModelError for a
    model that cannot be read.
    """
    model = load(name, places)
    pairs = [r.split("=") for r in renamed.split(",") if r]
    if not all(len(pair) == 2 and all(pair) for pair in pairs):
        raise ImportFailed(f"malformed list of ports {renamed!r}: it is written p237=p78,p4=p49")

    def function(what: str) -> str:
        return "p" + model.functions.get(what, "").replace(",", "")

    ports = Ports(dict(pairs), function("load"), function("store_address"), function("store_data"))
    old = {form: dict(model.entries(form)) for form in model.forms()}
    known = {form: entries for form, entries in known.items() if not entries.get((), {}).get("derived")}
    executes = bool(model.stated_parameters.get("move_elim_gpr")) and not parameters.get("move_elim_gpr")
    made = inherit(old, old, known, ports, model.name, executes)
    return Imported(made, dict(model.macro_fusion), [], [], [])


def inherit(
    forms: Iterable[str],
    old: Mapping[str, Entries],
    known: Mapping[str, Entries],
    ports: Ports,
    name: str,
    executes_moves: bool,
) -> dict[str, dict[Conditions, Entry]]:
    """The given forms of the core, from the entries of the predecessor `name` and those measured on the core.

    A form that was measured with as many µops as the predecessor's keeps what the source does not say: its latencies by
    operand where the longest is the same, how it is decoded, and its conditions. `executes_moves`: the core eliminates
    no moves of general-purpose registers, other than the predecessor.
    """
    made: dict[str, dict[Conditions, Entry]] = {}
    for form in forms:
        theirs = old.get(form)
        if not theirs or () not in theirs:
            continue
        mine = known.get(form)
        converted = _converted(theirs, ports)
        if mine:
            made[form] = _measured(mine, converted)
            continue
        if by_key()[form].memory_bits == WIDE:
            _store_wide(converted, ports)
        twin = form[:-1] + "r" if form.endswith("/m") else ""
        if known.get(twin, {}).get(()) and old.get(twin, {}).get(()):
            converted = _as_register_form(form, theirs, converted, old[twin][()], known[twin][()], ports)
        elif executes_moves and _GENERAL.issuperset(by_key()[form].operands) and ("same_reg",) in converted:
            converted = _executed(converted)
        converted[()] = {**converted[()], "derived": f"as on {name}"}
        made[form] = converted
    return made


def _converted(theirs: Entries, ports: Ports) -> dict[Conditions, Entry]:
    base = theirs[()]
    result: dict[Conditions, Entry] = {}
    for conditions, fields in theirs.items():
        mine = {k: v for k, v in fields.items() if k not in ("source", "derived")}
        if "ports" in mine:
            mine["ports"] = ports.convert(mine["ports"])
            if conditions and mine["ports"] == ports.convert(base.get("ports", "")):
                del mine["ports"]
        if mine or not conditions:
            result[conditions] = mine
    return result


def _measured(mine: Entries, converted: dict[Conditions, Entry]) -> dict[Conditions, Entry]:
    base, theirs = mine[()], converted[()]
    if count(base["ports"]).total() != count(theirs.get("ports", "")).total():
        return {c: dict(f) for c, f in mine.items()}
    merged = {k: v for k, v in theirs.items() if k not in ("divider", "tp")}
    merged.update({k: v for k, v in base.items() if k in ("ports", "divider", "tp", "source")})
    if _longest(base) is not None and _longest(base) != _longest(theirs):
        merged["latency"] = base["latency"]
    return {**converted, (): merged, **{c: dict(f) for c, f in mine.items() if c}}


def _as_register_form(
    form: str, theirs: Entries, converted: dict[Conditions, Entry], old: Entry, new: Entry, ports: Ports
) -> dict[Conditions, Entry]:
    """Puts the measured register form's µops and latencies into a memory form, if it computed with the same µops."""
    base = dict(converted[()])
    computation = ports.computation(theirs[()].get("ports", ""))
    if not computation or computation != count(old.get("ports", "")):
        return converted
    if computation.total() != count(new.get("ports", "")).total():
        return converted
    memory = Counter(count(theirs[()]["ports"]))
    memory.subtract(computation)
    base["ports"] = write(count(ports.convert(write(memory))) + count(new["ports"]))
    if "divider" in base or "divider" in new:
        base["divider"] = new.get("divider", 0)
    if _longest(old) != _longest(new) and "latency" in new and "M<" not in base.get("latency", ""):
        operand = next((str(n) for n, o in enumerate(by_key()[form].operands) if o == "M"), "")
        base["latency"] = write_latency(
            [(t, "m" if s == operand else s, c) for t, s, c in parse_latency(new["latency"])]
        )
    rest = {c: {k: v for k, v in f.items() if k != "ports"} for c, f in converted.items() if c}
    return {(): base, **{c: f for c, f in rest.items() if f}}


def _store_wide(converted: dict[Conditions, Entry], ports: Ports) -> None:
    """Of two ports for stored data, each takes 256 bits (Intel's optimization manual: one 512-bit store a cycle)."""
    data = ports.renamed.get(ports.store_data, "")
    if len(data) != len("p49"):
        return
    for fields in converted.values():
        usage = count(fields.get("ports", ""))
        if usage[data] == 1:
            usage[data] = 2
            fields["ports"] = write(usage)


def _executed(converted: dict[Conditions, Entry]) -> dict[Conditions, Entry]:
    """A move that the predecessor's renamer does, but not from a register to itself, executes like that one."""
    base, same = converted[()], converted["same_reg",]
    if base.get("ports") or not same.get("ports"):
        return converted
    executed = {**base, **same}
    rest = {c: f for c, f in converted.items() if c and any(executed.get(k) != v for k, v in f.items())}
    return {(): executed, **rest}


def _longest(fields: Entry) -> int | None:
    return max((c for _, _, c in parse_latency(fields.get("latency", ""))), default=None)
