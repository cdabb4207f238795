"""A report for those who read a few parts of it: llvm-mca's text views, which may be asked for hundreds of regions.

What is there has the names and values that it has in the whole report; the rest is missing. So this is never written,
and nobody gets it but views that say what they read (`Settings.wanted`).
"""

from __future__ import annotations

from incc.core import figures
from incc.driver.report.cold import DECIMALS as DECIMALS
from incc.driver.report.cold import cold_report
from incc.frontends.isa import isa
from incc.models.bound import UNKNOWN
from incc.models.throughput import port_bound

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any, Literal

    from incc.core.analysis import KernelResult
    from incc.driver.report import types as t
    from incc.driver.report.found import UnitResult
    from incc.driver.report.written import Written
    from incc.frontends.isa import Effects
    from incc.frontends.kernel import Refused
    from incc.models.bound import BoundKernel

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
    return {
        "assembly_file": found.unit.assembly_file,
        "model": {"name": model.name, "isa": model.isa, "note": found.model_note},
        "kernels": [_kernel(result, found.iterations, written, wanted) for result in found.results],
    }


def _kernel(result: KernelResult, iterations: int, written: Written | None, wanted: frozenset[str]) -> dict[str, Any]:
    kernel, bound = result.kernel, result.bound
    region = kernel.region
    summary = figures.summary(result, iterations)
    busy = "pressure" in wanted
    return {
        "name": kernel.name,
        "kind": region.kind if region else "code",
        "first_line": region.first_line if region else 0,
        "last_line": region.last_line if region else 0,
        "isa": kernel.isa,
        "dispatch_width": bound.issue_width,
        "size": {"issue_slots": sum(bound.issue_slots)},
        "cold": cold_report(result) if result.cold else None,
        "resources": resources(result) if busy else [],
        "llvm_resources": llvm_resources(result) if busy else None,
        "instructions": _instructions(result, written, wanted),
        "refused": [refused_statement(refused) for refused in kernel.refused],
        "summary": {
            "iterations": summary.iterations,
            "cycles": summary.cycles,
            "uops": summary.uops,
            "block_rthroughput": float(summary.block_rthroughput),
        },
    }


def _instructions(result: KernelResult, written: Written | None, wanted: frozenset[str]) -> list[dict[str, Any]]:
    kernel, bound, forms = result.kernel, result.bound, result.forms
    text, facts, encoding = "text" in wanted, "facts" in wanted, "encoding" in wanted
    busy = "pressure" in wanted and result.model.llvm is None
    pressure = _pressure(result) if busy else ()
    known: dict[tuple[tuple[int, int], ...], t.Ratio] = result.model.pieces.setdefault("throughputs", {})
    described: dict[tuple[bytes, str], Effects] = {}
    llvm_effects = isa(kernel.isa).llvm_effects
    rows: list[dict[str, Any]] = []
    for i, instruction in enumerate(kernel.instructions):
        unknown = bool(bound.instruction_flags[i] & UNKNOWN)
        # Messages show the text of what has no figures, and tell calls and returns by it.
        shown = written is not None and (text or unknown or instruction.branch != "")
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
        if busy:
            row["pressure"] = rounded(pressure[i])
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
    """The pressure by LLVM's units. One that has patterns counts the forms that match; units of one name that are one
    of ours have equal shares."""
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
        column = columns.get(unit.of)
        cycles = none
        if column is not None and any(row[column] for row in pressure):
            shares = sharing[unit.name, unit.of]
            cycles = [
                row[column] / shares if row[column] and (not unit.forms or matches(i.form, unit.forms)) else 0.0
                for i, row in zip(result.kernel.instructions, pressure, strict=True)
            ]
        rows.append(
            {
                "name": unit.name,
                "number": unit.number,
                "resource": column,
                "cycles": round(sum(cycles), DECIMALS),
                "instructions": rounded(cycles),
            }
        )
    return rows
