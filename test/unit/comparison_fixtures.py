"""Kernels, sides and comparisons for tests: from assembly through the real analysis, or made by hand from few figures.

By hand: `make_instruction`, `make_kernel`, `make_entry`, `make_side`; `make_figures`, `make_member`, `make_change`,
`make_row`, `make_comparison` for views and whatever else reads a comparison. Each takes any field by its name.
"""

from __future__ import annotations

import copy
from functools import cache
from hashlib import blake2b
from typing import Any

from incc.comparison import types as c
from incc.comparison.side import ComparedBuild, SideKernel, in_memory, side_info
from incc.report import types as t
from settings_fixtures import settings_with
from struct_fixtures import filled

PORTS = ("0", "1", "2", "3", "4", "5", "6", "7", "0DV")

# --- from assembly ----------------------------------------------------------------------------------------------------


def loop(body: str, *, function: str = "f", label: str = ".L3", line: int = 0, before: str = "") -> str:
    """The text of a function with one loop: the lines of its body, then the branch back, which tests what they leave.
    `line`: in the source; `before`: what comes before the loop."""
    place = f'\t.file 1 "x.c"\n\t.loc 1 {line}\n' if line else ""
    return (
        f"\t.type {function}, @function\n{function}:\n{before}{place}{label}:\n{body.rstrip()}\n\tjne {label}\n\tret\n"
    )


def report_of(text: str, *, mcpu: str = "skylake-avx512", source: str = "x.c", compiler: str = "gcc") -> Any:
    """The report on assembly text, as a compiler would have made it."""
    return copy.deepcopy(_report_of(text, mcpu, source, compiler))


@cache
def _report_of(text: str, mcpu: str, source: str, compiler: str) -> Any:
    from incc.driver.pipeline import analyze_units
    from incc.frontends.unit import Unit

    version = "12.2.0" if compiler else ""
    command = (compiler, "-O3", "-c", source) if compiler else ()
    unit = Unit(
        assembly=text, assembly_file="x.s", source=source, compiler=compiler, compiler_version=version, command=command
    )
    return analyze_units([unit], settings_with(mcpu=mcpu, timeline_iterations=0))


def side_of(text: str, label: str = "a", **given: Any) -> ComparedBuild:
    """A side of the loops in assembly text; the rest as `report_of` takes it."""
    return in_memory(report_of(text, **given), label)


def entry_of(text: str, **given: Any) -> SideKernel:
    """The first loop of assembly text; the rest as `report_of` takes it."""
    return side_of(text, **given).entries[0]


# --- by hand ----------------------------------------------------------------------------------------------------------


def make_instruction(index: int = 0, text: str = "nop", **fields: Any) -> t.InstructionReport:
    """An instruction of a report: one µop on any of four ports, 4 bytes, 1 cycle."""
    instruction: dict[str, Any] = {
        "index": index,
        "line": 10 + index,
        "source": None,
        "text": text,
        "bytes": 4,
        "encoding": "90909090",
        "form": text.split()[0].upper() + "/r",
        "unknown": False,
        "latency": 1,
        "load_latency": 0,
        "issue_slots": 1,
        "retire_slots": 1,
        "uops": 1,
        "ports": "1*p0156",
        "work": ["integer additions"],
        "rthroughput": {"cycles": 0.25, "exact": "1/4"},
        "measured_rthroughput": None,
        "loads": False,
        "stores": False,
        "may_load": False,
        "may_store": False,
        "side_effects": False,
        "load_barrier": False,
        "store_barrier": False,
        "frame": False,
        "macro_fused": False,
        "eliminated": False,
        "zero_idiom": False,
        "pressure": [0.25, 0.25, 0.0, 0.0, 0.0, 0.25, 0.25, 0.0, 0.0],
        "critical_path_cycles": None,
        "chain_cycles": None,
        "figures": {"source": "uops.info SKX", "derived": ""},
        "remarks": "",
    }
    return filled(t.InstructionReport, {**instruction, **fields})


def make_kernel(
    kernel_id: str = "f/loop1",
    *,
    cycles: float = 4.0,
    elements: float | None = 1.0,
    bounds: dict[str, float] | None = None,
    texts: tuple[str, ...] = ("vaddsd (%rdi,%rax,8), %xmm0, %xmm0", "incq %rax", "cmpq %rdx, %rax", "jne .L3"),
    source: tuple[str, int] | None = ("x.c", 3),
    **fields: Any,
) -> t.KernelReport:
    """A kernel of a report from few figures: its bounds (`port`, `front_end` …, else 1 each and the loop-carried one
    as its cycles), its instructions' texts; what is known of elements. Any other field by its name."""
    function = kernel_id.partition("/")[0]
    instructions = [make_instruction(i, text) for i, text in enumerate(texts)]
    times = {"port": 1.0, "divider": 0.0, "front_end": 1.0, "retire": 1.0, "loop_carried": cycles, **(bounds or {})}
    largest = max(times.values())
    limits = [name for name in ("loop_carried", "port", "divider", "front_end", "retire") if times[name] == largest]
    bound = {name: {"cycles": float(c), "exact": _exact(c), "by": name if c else ""} for name, c in times.items()}
    kernel: dict[str, Any] = {
        "kernel_id": kernel_id,
        "content_hash": blake2b(repr(texts).encode(), digest_size=8).hexdigest(),
        "name": f"{function}:.L3",
        "cycles": float(cycles),
        "kind": "loop",
        "function": function,
        "function_name": function,
        "source": {"file": source[0], "line": source[1]} if source else None,
        "column": 3 if source else 0,
        "source_function": function,
        "near": None,
        "inlined": [],
        "inlined_into": [],
        "remarks": [],
        "role": {"name": "main", "of": "", "instead": False, "basis": "inferred", "text": "main loop"},
        "compiled": None,
        "llvm_resources": None,
        "elements": elements
        and {
            "per_iteration": elements,
            "cycles": round(cycles / elements, 6),
            "basis": "inferred",
            "why": "step of its accesses",
            "text": f"{cycles:g} cycles per iteration",
        },
        "rates": None,
        "range": None,
        "mispredictions": None,
        "measured": None,
        "at_least": False,
        "overview": {"function": function, "limit": limits[0].replace("_", " "), "vector": "scalar", "look": ""},
        "label": ".L3",
        "first_line": 10,
        "last_line": 10 + len(texts),
        "depth": 1,
        "is_loop": True,
        "isa": "x86",
        "notes": [],
        "size": {
            "instructions": len(texts),
            "bytes": 4 * len(texts),
            "issue_slots": len(texts),
            "retire_slots": len(texts),
            "uops": len(texts),
        },
        "arithmetic": {
            "flop": 1,
            "flop_packed": 0,
            "integer_operations": 0,
            "integer_operations_packed": 0,
            "packed_share": 0.0,
            "vector_bits": 0,
            "flop_per_byte": 0.125,
            "text": "1 flop, all scalar",
        },
        "memory": {
            "bytes_loaded": 8,
            "bytes_stored": 0,
            "unsized_accesses": 0,
            "loads": 1,
            "stores": 0,
            "spills": 0,
            "reloads": 0,
            "step": round(8 * (elements or 1)),
            "widest_access_bits": 64,
            "line_crossings": 0.0,
            "worst_line_crossings": 0.0,
            "expected_line_crossings": 0.0,
            "worst_alignment_port_bound": 0.0,
        },
        "verdict": f"bound by {limits[0].replace('_', ' ')}, {cycles:g} cycles",
        "hints": [],
        "bounds": {
            **bound,
            "prediction": {"cycles": float(cycles), "exact": _exact(cycles), "by": "simulation", "limited_by": limits},
        },
        "simulated": None,
        "what_ifs": [],
        "cold": None,
        "alignments": [],
        "dispatch_width": 4,
        "port_assignment": "balanced",
        "resources": [
            {
                "name": name,
                "kind": "port" if len(name) == 1 else "unit",
                "title": f"Port{name}" if len(name) == 1 else name,
                "load": sum(i.pressure[p] for i in instructions),
                "busiest": name in "0156",
            }
            for p, name in enumerate(PORTS)
        ],
        "instructions": instructions,
        "critical_path": {"cycles": 10, "instructions": [0] if texts else [], "steps": []},
        "chains": [
            {
                "cycles_per_iteration": {"cycles": times["loop_carried"], "exact": _exact(times["loop_carried"])},
                "latency": round(times["loop_carried"]),
                "iterations": 1,
                "through": ["xmm0"],
                "instructions": [0],
                "lines": [10],
                "steps": [
                    {
                        "from": 0,
                        "to": 0,
                        "kind": "register",
                        "via": "xmm0",
                        "latency": round(times["loop_carried"]),
                        "distance": 1,
                    }
                ],
            }
        ]
        if texts
        else [],
        "chains_complete": True,
        "dependencies": [],
        "waits": None,
        "timeline": None,
        "unknown_instructions": [],
        "refused": [],
        "summary": {
            "iterations": 100,
            "instructions": 100 * len(texts),
            "cycles": round(100 * cycles),
            "uops": 100 * len(texts),
            "dispatch_width": 4,
            "uops_per_cycle": round(len(texts) / (cycles or 1), 6),
            "ipc": round(len(texts) / (cycles or 1), 6),
            "block_rthroughput": 1.0,
        },
    }
    assert not fields.keys() - kernel.keys(), f"no fields of kernels: {fields.keys() - kernel.keys()}"
    return filled(t.KernelReport, {**kernel, **fields})


def _exact(cycles: float) -> str:
    from fractions import Fraction

    return str(Fraction(cycles).limit_denominator(1000))


def make_unit(kernels: list[t.KernelReport], **fields: Any) -> t.UnitReport:
    """A unit of a report."""
    unit: dict[str, Any] = {
        "source": "x.c",
        "assembly_file": "x.s",
        "compiler": "gcc",
        "compiler_version": "12.2.0",
        "command": ["gcc", "-O3", "-c", "x.c"],
        "folder": "",
        "output": "",
        "way": "given",
        "target_cpu": "skylake-avx512",
        "model": {
            "name": "skylake-avx512",
            "title": "Intel Skylake-X",
            "version": "1",
            "isa": "x86",
            "chosen_by": "-mcpu",
            "note": "",
        },
        "core": None,
        "kernels": kernels,
        "left_out": [],
        "system_loops": 0,
        "became_calls": [],
        "not_found": [],
        "ways": None,
        "control_flow": None,
        "marks": [],
        "mark_problems": [],
        "trials": None,
    }
    assert not fields.keys() - unit.keys(), f"no fields of units: {fields.keys() - unit.keys()}"
    return filled(t.UnitReport, {**unit, **fields})


def make_report(*units: t.UnitReport) -> t.AnalysisReport:
    """A report of units."""
    from incc.report.build import SCHEMA_VERSION

    return t.AnalysisReport(schema_version=SCHEMA_VERSION, tool=t.Tool(name="incc", version="1"), units=list(units))


def make_side(kernels: list[t.KernelReport], label: str = "a", **unit: Any) -> ComparedBuild:
    """A side of one unit with these kernels; fields of the unit by their names."""
    return in_memory(make_report(make_unit(kernels, **unit)), label)


def make_entry(kernel_id: str = "f/loop1", *, unit: dict[str, Any] | None = None, **fields: Any) -> SideKernel:
    """One kernel, as `make_kernel` makes it."""
    return make_side([make_kernel(kernel_id, **fields)], **(unit or {})).entries[0]


def empty_side(label: str = "a") -> ComparedBuild:
    """A side without kernels."""
    return ComparedBuild(side_info([], label, label), [])


# --- comparisons ------------------------------------------------------------------------------------------------------


def make_figures(cycles: float = 4.0, elements: float | None = 1.0, **fields: Any) -> dict[str, Any]:
    """A kernel's figures."""
    figures: dict[str, Any] = {
        "cycles": cycles,
        "cycles_least": cycles,
        "cycles_most": cycles,
        "at_least": False,
        "elements": elements,
        "cycles_per_element": cycles / elements if elements else None,
        "port": 1.0,
        "divider": 0.0,
        "front_end": 1.0,
        "retire": 1.0,
        "loop_carried": cycles,
        "critical_path": 10.0,
        "instructions": 4,
        "uops": 4,
        "port_uops": 4,
        "bytes": 16,
        "vector_bits": 0,
        "packed_share": 0.0,
        "loads": 1,
        "stores": 0,
        "spills": 0,
        "reloads": 0,
        "bytes_loaded": 8,
        "bytes_stored": 0,
        "flop": 1,
    }
    assert not fields.keys() - figures.keys(), f"no figures: {fields.keys() - figures.keys()}"
    return {**figures, **fields}


def make_member(kernel_id: str = "f/loop1", cycles: float = 4.0, **fields: Any) -> c.RowMember:
    """A kernel of a side in a comparison, without its instructions."""
    function = kernel_id.partition("/")[0]
    member: dict[str, Any] = {
        "unit": "x.c",
        "assembly_file": "x.s",
        "first_line": 10,
        "last_line": 14,
        "kernel_id": kernel_id,
        "content_hash": blake2b(f"{kernel_id} {cycles}".encode(), digest_size=8).hexdigest(),
        "function": function,
        "function_name": function,
        "source": {"file": "x.c", "line": 3},
        "label": ".L3",
        "role": "main",
        "model": "skylake-avx512",
        "figures": make_figures(cycles),
        "limited_by": ["loop_carried"],
        "limit": "chain xmm0",
        "vector": "scalar",
        "verdict": f"bound by the loop-carried chain, {cycles:g} cycles",
        "hints": [],
        "parts": [],
        "instructions": None,
        "resources": None,
    }
    assert not fields.keys() - member.keys(), f"no fields of members: {fields.keys() - member.keys()}"
    return filled(c.RowMember, {**member, **fields})


def make_cause(kind: str = "chain", text: str = "+1 reload on the LCD: +4 cycles", cycles: float | None = 4.0) -> Any:
    """A cause of a change, of the first instruction on both sides."""
    return filled(c.Cause, {"kind": kind, "text": text, "cycles": cycles, "a": [0], "b": [0]})


def make_change(cycles_a: float = 4.0, cycles_b: float = 4.0, **fields: Any) -> c.KernelChange:
    """A change from so many cycles per element to so many."""
    outcome = "equal" if cycles_a == cycles_b else "slower" if cycles_b > cycles_a else "faster"
    change: dict[str, Any] = {
        "matched_by": "identity",
        "confidence": 1.0,
        "outcome": outcome,
        "basis": "element",
        "work": 1.0,
        "scale_a": 1.0,
        "scale_b": 1.0,
        "cycles_a": cycles_a,
        "cycles_b": cycles_b,
        "ratio": cycles_b / cycles_a if cycles_a else None,
        "text": f"{cycles_a:g} → {cycles_b:g} cycles per element: {outcome}",
        "causes": [],
        "alignment": None,
    }
    assert not fields.keys() - change.keys(), f"no fields of changes: {fields.keys() - change.keys()}"
    return filled(c.KernelChange, {**change, **fields})


def make_row(members: list[c.RowMember | None], changes: list[c.KernelChange | None] | None = None) -> c.ComparisonRow:
    """A row of members by side, with changes from the first one that there is unless these are given."""
    base = next(i for i, member in enumerate(members) if member)
    first: Any = members[base]
    if changes is None:
        changes = [
            make_change(first.figures.cycles, member.figures.cycles) if member and i != base else None
            for i, member in enumerate(members)
        ]
    each = [member.figures.cycles if member else None for member in members]
    least = min(cycles for cycles in each if cycles is not None)
    row = {
        "name": first.function_name,
        "source": first.source,
        "members": members,
        "base": base,
        "changes": changes,
        "best": [i for i, cycles in enumerate(each) if cycles is not None and cycles <= 1.01 * least],
        "weight": max([abs(x.cycles_b - x.cycles_a) for x in changes if x], default=0.0),
    }
    return filled(c.ComparisonRow, row)


def make_comparison(
    rows: list[c.ComparisonRow], labels: tuple[str, ...] = ("a", "b"), **fields: Any
) -> c.ComparisonReport:
    """A comparison with these rows."""
    totals: list[Any] = [None]
    for side in range(1, len(labels)):
        changes = [row.changes[side] for row in rows if row.changes[side]]
        ratios = [change.ratio for change in changes if change.ratio]
        product = 1.0
        for ratio in ratios:
            product *= ratio
        outcomes = ("same", "moved", "equal", "faster", "slower", "unknown")
        totals.append(
            {
                **{name: sum(change.outcome == name for change in changes) for name in outcomes},
                "only_a": sum(row.members[0] is not None and row.members[side] is None for row in rows),
                "only_b": sum(row.base == side for row in rows),
                "speedup": product ** (1 / len(ratios)) if ratios else None,
            }
        )
    sides = [
        {
            "label": label,
            "input": f"{label}.json",
            "compilers": ["gcc 12.2.0"],
            "models": [{"name": "skylake-avx512", "title": "Intel Skylake-X", "version": "1"}],
            "kernels": sum(row.members[side] is not None for row in rows),
            "variant": None,
            "problem": "",
            "notes": [],
        }
        for side, label in enumerate(labels)
    ]
    comparison: dict[str, Any] = {
        "schema_version": "1.0",
        "tool": {"name": "incc", "version": "1"},
        "sides": sides,
        "totals": totals,
        "where": "",
        "rows": rows,
        "gate": None,
        "notes": [],
    }
    assert not fields.keys() - comparison.keys(), f"no fields of comparisons: {fields.keys() - comparison.keys()}"
    return filled(c.ComparisonReport, {**comparison, **fields})
