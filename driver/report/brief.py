"""A report for those who read a few parts of it: llvm-mca's text views, which may be asked for hundreds of regions.

What is there has the names and values that it has in the whole report; the rest is missing. So this is never written,
and nobody gets it but views that say what they read (`Settings.wanted`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from incc.core import figures
from incc.driver.report.cold import DECIMALS as DECIMALS
from incc.driver.report.cold import cold_report
from incc.frontends.isa import isa
from incc.models.binding.bound import UNKNOWN
from incc.models.throughput import port_bound

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incc.core import Simulation
    from incc.core.analysis import KernelResult
    from incc.driver.report import types as t
    from incc.driver.report.found import UnitResult
    from incc.driver.report.written import Written
    from incc.frontends.isa import Effects
    from incc.frontends.kernel import Refused
    from incc.models.binding.bound import BoundKernel

    Wanted = Literal["text", "facts", "encoding", "pressure"]
    """Of instructions how they are written (without it, as the assembly has them), their figures and effects, and their
    bytes; of a kernel and its instructions how busy resources are."""


def brief_report(units: Iterable[UnitResult], wanted: Sequence[Wanted]) -> t.Report:
    """The kernels of these units, with these parts."""
    report: Any = {"units": [_unit(unit, frozenset(wanted)) for unit in units]}
    found: t.Report = report
    return found


def _unit(found: UnitResult, wanted: frozenset[str]) -> dict[str, Any]:
    from incc.driver.report.written import Written

    model = found.model
    written = Written(found.unit, model.isa, found.syntax, found.hex_immediates) if found.syntax else None
    shared = _Shared()
    return {
        "assembly_file": found.unit.assembly_file,
        "model": {"name": model.name, "isa": model.isa, "note": found.model_note},
        "kernels": [_kernel(result, found.iterations, written, wanted, shared) for result in found.results],
    }


class _Shared:
    """What kernels of one unit have together if the core cannot tell them apart (core/python/known.py), by the
    identities of what it found: runs from a cold start, and parts of the report made of analyses. And what
    instructions do, by encoding."""

    __slots__ = ("effects", "runs", "summaries", "usage")

    def __init__(self) -> None:
        self.effects: dict[tuple[bytes, str], Effects] = {}
        self.runs: dict[int, tuple[Simulation, t.Cold]] = {}
        self.summaries: dict[tuple[int, int, int], tuple[dict[str, Any], object]] = {}
        self.usage: dict[tuple[int, ...], tuple[Any, ...]] = {}


def _kernel(
    result: KernelResult, iterations: int, written: Written | None, wanted: frozenset[str], shared: _Shared
) -> dict[str, Any]:
    kernel, bound = result.kernel, result.bound
    region = kernel.region
    ports, units, pressure = _usage(result, shared) if "pressure" in wanted else ([], None, None)
    return {
        "name": kernel.name,
        "kind": region.kind if region else "code",
        "first_line": region.first_line if region else 0,
        "last_line": region.last_line if region else 0,
        "isa": kernel.isa,
        "dispatch_width": bound.issue_width,
        "size": {"issue_slots": sum(bound.issue_slots)},
        "cold": cold_report(result, shared.runs) if result.cold else None,
        "notes": [*result.notes],
        "resources": ports,
        "llvm_resources": units,
        "instructions": _instructions(result, written, wanted, pressure, shared.effects),
        "refused": [refused_statement(refused) for refused in kernel.refused],
        "summary": _summary(result, iterations, shared),
    }


def _summary(result: KernelResult, iterations: int, shared: _Shared) -> dict[str, Any]:
    # Kernels with the same bounds and runs are alike.
    key = id(result.bounds), id(result.simulation), iterations
    found = shared.summaries.get(key)
    if found is None:
        summary = figures.summary(result, iterations)
        written = {
            "iterations": summary.iterations,
            "cycles": summary.cycles,
            "uops": summary.uops,
            "block_rthroughput": float(summary.block_rthroughput),
        }
        # With what it is found by, which lives as long.
        found = shared.summaries[key] = written, result
    return found[0]


def _usage(
    result: KernelResult, shared: _Shared
) -> tuple[list[dict[str, Any]], list[t.LlvmResource] | None, list[list[float]] | None]:
    """How busy our resources are and LLVM's are; where there are none of LLVM's, ours by instruction."""
    # Forms have the names of units of their own, and some are counted for some of LLVM's units alone. Of what the model
    # does not have, the kernel itself knows what it is.
    key = id(result.analysis), *map(id, (result, *result.forms) if None in result.forms else result.forms)
    found = shared.usage.get(key)
    if found is None:
        units = llvm_resources(result)
        rows = [rounded(row) for row in _pressure(result)] if units is None else None
        # With what it is found by, which lives as long.
        found = shared.usage[key] = resources(result), units, rows, result
    ports, units, rows, _ = found
    return ports, units, rows


def _instructions(
    result: KernelResult,
    written: Written | None,
    wanted: frozenset[str],
    pressure: list[list[float]] | None,
    described: dict[tuple[bytes, str], Effects],
) -> list[dict[str, Any]]:
    kernel, bound, forms = result.kernel, result.bound, result.forms
    text, facts, encoding = "text" in wanted, "facts" in wanted, "encoding" in wanted
    known: dict[tuple[tuple[int, int], ...], t.Ratio] = result.model.pieces.setdefault("throughputs", {})
    llvm_effects = isa(kernel.isa).llvm_effects
    rows: list[dict[str, Any]] = []
    for i, instruction in enumerate(kernel.instructions):
        unknown = bool(bound.instruction_flags[i] & UNKNOWN)
        # Messages show the text of what has no figures, and tell calls and returns by it.
        shown = written is not None and (text or unknown or instruction.branch in ("call", "return"))
        row: dict[str, Any] = {
            "index": i,
            "line": instruction.line,
            "text": written.text(instruction) if written is not None and shown else instruction.text,
            "unknown": unknown,
        }
        if facts:
            alike = instruction.encoding, instruction.text[:4]  # `rep nop` are the bytes of `pause`
            effects = described.get(alike)
            if effects is None:
                effects = described[alike] = llvm_effects(instruction)
            form = forms[i] if forms else None
            first, last = bound.uop_start[i], bound.uop_start[i + 1]
            uops = tuple(zip(bound.uop_ports[first:last], bound.uop_cycles[first:last], strict=True))
            if uops not in known:
                known[uops] = own_throughput(uops, bound.n_ports)
            row["issue_slots"] = bound.issue_slots[i]
            row["latency"] = bound.latency[i]
            row["rthroughput"] = known[uops]
            row["measured_rthroughput"] = form.throughput if form else None
            row["may_load"] = effects.may_load
            row["may_store"] = effects.may_store
            row["side_effects"] = effects.side_effects
            row["load_barrier"] = effects.load_barrier
            row["store_barrier"] = effects.store_barrier
        if encoding:
            row["encoding"] = (written.encoding(instruction) if written else instruction.encoding).hex()
        if pressure is not None:
            row["pressure"] = pressure[i]
        rows.append(row)
    return rows


# --- parts that the whole report has as well --------------------------------------------------------------------------


def refused_statement(refused: Refused) -> t.RefusedStatement:
    """A statement that is missing in the analysis."""
    return {"line": refused.line, "text": refused.text, "message": refused.message}


def own_throughput(uops: Sequence[tuple[int, int]], n_ports: int) -> t.Ratio:
    """Cycles between two instances of an instruction as far as its own ports and units say."""
    numerator, denominator = port_bound(uops, n_ports)
    exact = str(numerator) if denominator == 1 else f"{numerator}/{denominator}"
    return {"cycles": numerator / denominator, "exact": exact}


def rounded(row: Sequence[float]) -> list[float]:
    """Cycles as reports have them. Most are none at all."""
    return [round(cycles, DECIMALS) if cycles else 0.0 for cycles in row]


def _pressure(result: KernelResult) -> Sequence[Sequence[float]]:
    analysis = result.analysis
    return analysis.fixed_pressure if result.settings.fixed_ports else analysis.pressure


def resources(result: KernelResult) -> list[dict[str, Any]]:
    """Our own ports and units: what they are called and how busy they are."""
    bound, analysis = result.bound, result.analysis
    load = rounded(analysis.fixed_port_load if result.settings.fixed_ports else analysis.port_load)
    return [{"name": name, "title": port_title(bound, p), "load": load[p]} for p, name in enumerate(bound.port_names)]


def port_title(bound: BoundKernel, p: int) -> str:
    """What a port or unit is called where there is room."""
    name = bound.port_names[p]
    return f"Port{name}" if p < bound.n_ports and name.isdigit() else name


def llvm_resources(result: KernelResult) -> list[t.LlvmResource] | None:
    """The pressure by LLVM's units. One that has patterns counts the forms that match, one that is several of ours has
    their sum; units of one name that are one of ours have equal shares."""
    names = result.model.llvm
    if names is None:
        return None
    from incc.models.patterns import matches

    pressure = _pressure(result)
    columns = {name: p for p, name in enumerate(result.bound.port_names)}
    sharing: dict[tuple[str, str], int] = {}
    for unit in names.units:
        sharing[unit.name, unit.of] = sharing.get((unit.name, unit.of), 0) + 1
    none = [0.0] * len(result.kernel.instructions)
    rows: list[t.LlvmResource] = []
    for unit in names.units:
        own = [column for name in unit.of.split(",") if (column := columns.get(name)) is not None]
        cycles = none
        if any(row[column] for column in own for row in pressure):
            shares = sharing[unit.name, unit.of]
            taken = [row[own[0]] if len(own) == 1 else sum([row[column] for column in own]) for row in pressure]
            cycles = [
                cycles / shares if cycles and (not unit.forms or matches(i.form, unit.forms)) else 0.0
                for i, cycles in zip(result.kernel.instructions, taken, strict=True)
            ]
        rows.append(
            {
                "name": unit.name,
                "number": unit.number,
                "resource": own[0] if own else None,
                "cycles": round(sum(cycles), DECIMALS),
                "instructions": rounded(cycles),
            }
        )
    return rows
