"""Reports that say what an output of llvm-mca says, so that views can be held against that output; and the options."""

from __future__ import annotations

from typing import Any

import msgspec

from incc.report import types as t
from incc.views.llvm_mca.requested import Views
from struct_fixtures import filled

STALLS = {
    "RAT": "registers",
    "RCU": "reorder_buffer",
    "SCHEDQ": "scheduler",
    "LQ": "load_buffer",
    "SQ": "store_buffer",
    "GROUP": "group",
    "USH": "other",
}
BEYOND = 10**9  # a cycle behind every limit of a timeline


STATISTICS = Views(
    triple="x86_64-pc-linux-gnu",
    march="x86_64",
    encoding=True,
    barriers=True,
    timeline=True,
    dispatch_stats=True,
    scheduler_stats=True,
    retire_stats=True,
    register_file_stats=True,
    bottleneck_analysis=True,
)


def as_report(regions: list[dict[str, Any]], document: dict[str, Any] | None = None) -> t.AnalysisReport:
    """A report with the numbers of a text that has all views; where the JSON of the same run is at hand, its numbers,
    which are not rounded."""
    kernels = [as_kernel(region, document["CodeRegions"][n] if document else {}) for n, region in enumerate(regions)]
    unit = {"kernels": kernels, "model": {"name": "core"}}
    return filled(t.AnalysisReport, {"schema_version": "0", "tool": {"name": "incc"}, "units": [unit]})


def as_kernel(region: dict[str, Any], json: dict[str, Any]) -> dict[str, Any]:
    """One region of it."""
    summary = {key: int(value) for key, value in region["summary"].items()}
    texts = region["texts"]
    rows = region.get("info") or [{} for _ in texts]
    pressure = [list(row) for row in region["pressure"]]
    if json:
        pressure = [[0.0] * len(row) for row in pressure]
        for cell in json["ResourcePressureView"]["ResourcePressureInfo"]:
            pressure[cell["InstructionIndex"]][cell["ResourceIndex"]] = cell["ResourceUsage"]
    instructions = []
    for n, (text, row) in enumerate(zip(texts, rows, strict=True)):
        exact = json["InstructionInfoView"]["InstructionList"][n] if json else {}
        cycles = row.get("rthroughput")
        instructions.append(
            {
                "index": n,
                "text": text,
                "unknown": cycles is None,
                "issue_slots": row.get("uops"),
                "latency": row.get("latency"),
                "rthroughput": {"cycles": exact.get("RThroughput", cycles or 0)},
                "measured_rthroughput": None,
                "may_load": row.get("MayLoad"),
                "may_store": row.get("MayStore"),
                "side_effects": row.get("HasSideEffects (U)"),
                "load_barrier": row.get("LoadBarrier"),
                "store_barrier": row.get("StoreBarrier"),
                "encoding": row.get("encoding"),
            }
        )
    block = json["SummaryView"]["BlockRThroughput"] if json else region["summary"]["Block RThroughput"]
    names = region["resources"]
    return {
        "instructions": instructions,
        "dispatch_width": summary["Dispatch Width"],
        "size": {"issue_slots": summary["Total uOps"] // summary["Iterations"]},
        "summary": {"block_rthroughput": block},
        "resources": [{"name": f"r{n}", "title": name} for n, name in enumerate(names)],
        "llvm_resources": [
            {"name": name, "resource": n, "cycles": pressure[-1][n], "instructions": [row[n] for row in pressure[:-1]]}
            for n, name in enumerate(names)
        ],
        "cold": _cold(region, summary, json, names),
    }


def _cold(region: dict[str, Any], summary: dict[str, int], json: dict[str, Any], names: list[str]) -> dict[str, Any]:
    def histogram(name: str) -> list[dict[str, int]]:
        return [{"count": count, "cycles": cycles} for count, cycles in region.get(name, ())]

    *waits, total = region.get("waits") or [None]
    if total is not None and total["text"] != "<total>":
        waits, total = [total], total
    registers = region.get("registers", [])[:1]
    for file in region.get("registers", [])[1:]:
        # Files without a size have a number, but are not printed.
        registers += [{"name": "unbounded", "entries": 0}] * (file["number"] - len(registers))
        registers.append(file)
    return {
        "iterations": summary["Iterations"],
        "cycles": summary["Total Cycles"],
        "uops": summary["Total uOps"],
        "stalls": {STALLS[name]: count for name, count in region.get("stalls", dict.fromkeys(STALLS, 0)).items()},
        "dispatched": histogram("dispatched"),
        "issued": histogram("issued"),
        "retired": histogram("retired"),
        "schedulers": region.get("schedulers", []),
        "reorder_buffer": region.get("reorder_buffer"),
        "registers": [_of(t.RegisterFile, file) for file in registers],
        "events": [_of(t.ColdEvent, event) for event in _events(region, json)],
        "waits": [_of(t.ColdWait, wait) for wait in waits],
        "waits_total": total and _of(t.ColdWait, total),
        "pressure": _pressure(region, summary["Total Cycles"], names) if "bottleneck" in region else None,
    }


def _of(kind: type[msgspec.Struct], row: dict[str, Any]) -> dict[str, Any]:
    """What a report has of a row: not its text, and no number."""
    return {name: value for name, value in row.items() if name in kind.__struct_fields__}


def _events(region: dict[str, Any], json: dict[str, Any]) -> list[dict[str, int]]:
    """Those of the timeline, and where it is cut the next one: that it is dispatched in the last cycle shown stands for
    whatever came to pass then."""
    events = [{**event, "ready": event["dispatched"]} for event in region.get("timeline", ())]
    if json:
        stages = [stage for stage in events[0] if stage not in ("iteration", "instruction", "text")] if events else ()
        for event, exact in zip(events, json["TimelineView"]["TimelineInfo"], strict=True):
            event |= {stage: exact[f"Cycle{stage.capitalize()}"] for stage in stages}
    if region.get("truncated"):
        iteration, instruction = divmod(len(events), len(region["texts"]))
        later = dict.fromkeys(("ready", "issued", "executed", "retired"), BEYOND)
        events.append({"iteration": iteration, "instruction": instruction, "dispatched": region["last"], **later})
    return events


def _pressure(region: dict[str, Any], cycles: int, names: list[str]) -> dict[str, Any]:
    found = region["bottleneck"]
    if found is None:
        return {"increase": 0}
    shares = {key: found[key] * cycles / 100 for key in ("increase", "resources", "data", "registers", "memory")}
    by_resource = [{"resource": names.index(name), "cycles": s * cycles / 100} for name, s in found["by_resource"]]
    sequence = []
    iteration = 0
    steps = iter(found["sequence"])
    for arrow, *_ in found["rows"]:
        iteration += arrow == "carried"
        if arrow.startswith("+"):
            step = next(steps)
            via = f"r{names.index(step['via'])}" if step["via"] in names else step["via"]
            sequence.append(_of(t.SequenceStepReport, {**step, "via": via, "iteration_offset": iteration}))
    return {**shares, "by_resource": by_resource, "sequence": sequence}
