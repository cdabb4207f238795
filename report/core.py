"""The report on the core according to its model: the parts before the ports in words, and the work of each port."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal

from msgspec.structs import astuple, replace

from incc.frontends.isa import isa
from incc.models.binding.bound import UNLIMITED
from incc.models.model import MachineModel
from incc.models.notation import parse_port_set
from incc.models.throughput import of_mix
from incc.report import types as t
from incc.support.text import counted

Stage = Literal["front end", "rename", "window", "memory"]


def core_report(model: MachineModel) -> t.CoreReport:
    """Return the facts of the model; those that it lacks are left out."""
    p = model.parameters
    schedulers: list[t.CoreScheduler] = [
        t.CoreScheduler(ports=names.split(","), entries=entries, kind="scheduler")
        for names, entries in p["schedulers"].items()
    ]
    if queue := p["waiting_queue"]:
        schedulers.append(t.CoreScheduler(ports=queue["ports"].split(","), entries=queue["entries"], kind="queue"))
    if not schedulers and not p["in_order"]:
        schedulers = [t.CoreScheduler(ports=list(model.ports), entries=p["rs"], kind="scheduler")]
    return t.CoreReport(
        title=model.title,
        model=model.name,
        issue_width=p["issue_width"],
        retire_width=p["retire_width"],
        parts=[
            *_parts("front end", _front_end(model)),
            *_parts("rename", _rename(model)),
            *_parts("window", _window(model)),
            *_parts("memory", _memory(model)),
        ],
        schedulers=schedulers,
        ports=list(model.ports),
        units=list(model.resources),
        work=[*_of_functions(model), *_of_forms(model)],
    )


def _parts(stage: Stage, facts: Iterable[tuple[str, str]]) -> Iterator[t.CorePart]:
    for name, text in facts:
        yield t.CorePart(stage=stage, name=name, text=text)


# --- before the ports ------------------------------------------------------------------------------------------------


def _front_end(model: MachineModel) -> Iterator[tuple[str, str]]:
    p, stated = model.parameters, model.stated_parameters
    if p["predecode_block_bytes"]:
        text = f"{p['predecode_block_bytes']} bytes, {_per_cycle(p['predecode_width'], 'instruction')}"
        if p["lcp_stall"]:
            text += f"; {counted(p['lcp_stall'], 'cycle')} more for a length-changing prefix"
        yield "Predecoder", text
    if p["iq"]:
        yield "Instruction queue", _entries(p["iq"])
    if p["decoders"]:
        text = f"{p['decoders']}, of which only the first decodes every instruction"
        if p["decode_clusters"] > 1:
            text = f"{p['decode_clusters']} clusters of {p['decoders']}"
            text += ", all but one only for code after taken jumps" if p["clusters_need_jumps"] else ""
        yield "Decoders", text
    if p["dsb_width"]:
        groups = f"{p['dsb_groups']} groups of " if p["dsb_groups"] > 1 else ""
        text = f"{groups}{_per_cycle(p['dsb_width'], 'µop')}"
        if "dsb_lines" in stated or "dsb_line_uops" in stated or p["predecode_block_bytes"]:
            lines = "any number of" if _unlimited(p["dsb_lines"]) else f"at most {p['dsb_lines']}"
            text += f"; {lines} lines of {p['dsb_line_uops']} µops for {p['dsb_block']} bytes of code"
        yield "µop cache", text
    if "ms_width" in stated:
        yield "Microcode", _per_cycle(p["ms_width"], "µop")
    if "idq" in stated:
        yield "µop queue", _entries(p["idq"]) + ("; short loops run from it" if p["lsd"] else "")


def _rename(model: MachineModel) -> Iterator[tuple[str, str]]:
    p, stated = model.parameters, model.stated_parameters
    yield "Issue", _per_cycle(p["issue_width"], "fused µop") + (", in order" if p["in_order"] else "")
    slots = [
        f"{'any number of' if _unlimited(p[name]) else p[name] or 'no'} {kind} registers"
        for name, kind in (("move_elim_gpr", "general-purpose"), ("move_elim_simd", "vector"))
        if name in stated
    ]
    if slots:
        yield "Moves eliminated", f"{' and '.join(slots)} at a time"
    if fused := [names for names in p["move_fusion"] if names]:
        yield "Moves fused", f"with the next operation ({counted(len(fused), 'rule')})"
    if sums := p["sum_folding"]:
        yield "Constants added", f"of {sums['constant_bits']} bits, at no cost"
    if p["memory_renaming"]:
        yield "Memory renamed", "stored registers are forwarded to their loads at no cost"
    if p["stack_engine"]:
        limit = p["stack_offset_limit"]
        bytes_ = "" if _unlimited(limit) else f", up to {limit} bytes"
        yield "Stack engine", f"{p['stack_engine']}{bytes_}"


def _window(model: MachineModel) -> Iterator[tuple[str, str]]:
    p = model.parameters
    yield "Reorder buffer", f"{_entries(p['rob'])}; {_per_cycle(p['retire_width'], 'fused µop')} retire"
    loads = "have their data" if p["loads_leave_when_done"] else "retire"
    if p["load_buffer"]:
        yield "Load buffer", f"{_entries(p['load_buffer'])}, held until loads {loads}"
    if p["store_buffer"]:
        yield "Store buffer", f"{_entries(p['store_buffer'])}, held until stores are in the cache"
    if wide := p["wide_vectors"]:
        yield f"{wide['width']}-bit vectors", f"while in use, no vector µops on {_ports_text(wide['closes'])}"


def _memory(model: MachineModel) -> Iterator[tuple[str, str]]:
    p = model.parameters
    yield "Load latency", _by_class(p["load_latency"])
    yield "Store forwarding", _by_class(p["store_forward"])
    if p["store_commit_bytes"]:
        apart = ", in cycles in which no load starts" if p["stores_stop_loads"] else ""
        yield "Stores to cache", f"an aligned block of {p['store_commit_bytes']} bytes per cycle{apart}"
    if p["line_bytes"] and p["line_crossing_cycles"]:
        more = counted(p["line_crossing_cycles"], "cycle")
        yield "Line crossing", f"{more} more on the port of a load that crosses a {p['line_bytes']}-byte boundary"
    if p["bank_bytes"]:
        yield "Banks", f"{p['bank_bytes']} bytes wide, {counted(p['bank_loads'], 'load')} per cycle each"
    for bits in (256, 512):
        if most := p[f"starts_{bits}bit"]:
            yield f"{bits}-bit µops", f"{most} started per cycle on average"
    if p["mispredict_penalty"]:
        yield "Misprediction", f"{p['mispredict_penalty']} cycles"


def _ports_text(names: str) -> str:
    ports = names.split(",")
    return f"port {ports[0]}" if len(ports) == 1 else f"ports {', '.join(ports)}"


def _by_class(cycles: dict[str, int]) -> str:
    """Return cycles by class of register; classes with equal numbers share one entry."""
    together: dict[int, list[str]] = {}
    for name, number in cycles.items():
        together.setdefault(number, []).append(name)
    parts = [f"{number} ({', '.join(names)})" for number, names in together.items()]
    return f"{', '.join(parts)} cycles" if len(parts) > 1 else counted(next(iter(together)), "cycle")


def _unlimited(value: Any) -> bool:
    return value == "unlimited" or bool(value >= UNLIMITED)


def _entries(number: int) -> str:
    return counted(number, "entry", "entries")


def _per_cycle(number: int, word: str) -> str:
    return f"{counted(number, word)} per cycle"


# --- the ports -------------------------------------------------------------------------------------------------------

_FUNCTIONS = {
    "load": "load",
    "load_vector": "vector load",
    "load_512": "load 512",
    "store_address": "store address",
    "store_address_indexed": "indexed store address",
    "store_data": "store data",
    "store_vector": "vector store data",
    "branch_taken": "branch, taken",
    "branch_not_taken": "branch, not taken",
}


def _of_functions(model: MachineModel) -> Iterator[t.CoreWork]:
    """Yield the model's data on loads, stores and jumps, skipping rows with the same ports as the row before."""
    before: tuple[str, str] = ("", "")
    for function, name in _FUNCTIONS.items():
        ports = model.functions.get(function, "")
        kind = function.partition("_")[0]
        if not ports or (kind, ports) == before:
            continue
        before = kind, ports
        latency = sorted(set(model.parameters["load_latency"].values())) if kind == "load" else []
        yield t.CoreWork(
            name=name,
            bits=[],
            ports=_ports_of(ports, model),
            uops=1,
            latency=[latency[0], latency[-1]] if latency else [],
            rthroughput=None,
            unit=None,
            unit_cycles=0,
        )


def _ports_of(text: str, model: MachineModel) -> list[str]:
    joined = text if all(name in model.ports for name in text.split(",")) else parse_port_set(text, model.ports)
    return joined.split(",")


def _of_forms(model: MachineModel) -> list[t.CoreWork]:
    """Return common kinds of work, from the forms that do them; vector widths with equal figures share one row."""
    rows: list[t.CoreWork] = []
    for name, widths in isa(model.isa).common_work:
        of_name: list[t.CoreWork] = []
        for bits, forms in widths:
            row = _of_form(model, name, bits, forms)
            if row is None:
                continue
            same = next((other for other in of_name if _figures(other) == _figures(row)), None)
            if same is None:
                of_name.append(row)
            else:
                same.bits.extend(row.bits)
        rows += of_name
    return rows


def _of_form(model: MachineModel, name: str, bits: int, forms: Iterable[str]) -> t.CoreWork | None:
    form = next((match for match in (model.lookup(f, frozenset()) for f in forms) if match is not None), None)
    if form is None:
        return None
    used = {port for ports, _ in form.uops for port in ports.split(",")}
    # Loads and stores have separate rows.
    latency = sorted(cycles for _, source, cycles in form.latency if source != "m")
    unit = form.attributes.get("unit") or (model.resources[0] if model.resources else None)
    return t.CoreWork(
        name=name,
        bits=[bits] if bits else [],
        ports=[port for port in model.ports if port in used],
        uops=sum(count for _, count in form.uops),
        latency=[latency[0], latency[-1]] if latency else [],
        rthroughput=round(float(of_mix(model, [(form, 1)])), 2),
        unit=unit if form.divider else None,
        unit_cycles=form.divider,
    )


def _figures(work: t.CoreWork) -> tuple[Any, ...]:
    return astuple(replace(work, bits=[]))
