"""Parts of a kernel's report that come from its bound arrays and its analysis: throughputs, ports and LLVM's units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from incc.core.figures import DECIMALS
from incc.models.patterns import matches
from incc.models.throughput import port_bound
from incc.report import types as t
from incc.report.verdict import busiest_ports

if TYPE_CHECKING:
    from incc.core.analysis import KernelResult


def own_throughput(uops: Sequence[tuple[int, int]], n_ports: int) -> t.Ratio:
    """Return the cycles between two instances of an instruction on its own ports and units."""
    numerator, denominator = port_bound(uops, n_ports)
    exact = str(numerator) if denominator == 1 else f"{numerator}/{denominator}"
    return t.Ratio(cycles=numerator / denominator, exact=exact)


def rounded(row: Sequence[float]) -> list[float]:
    """Return cycles rounded for reports, with a shortcut for 0, the most common value."""
    return [round(cycles, DECIMALS) if cycles else 0.0 for cycles in row]


def resources(result: KernelResult) -> list[t.ResourceReport]:
    """Return the ports and units of the core, with their loads."""
    bound, analysis, fixed_ports = result.bound, result.analysis, result.settings.fixed_ports
    load = rounded(analysis.fixed_port_load if fixed_ports else analysis.port_load)
    busiest = busiest_ports(bound, analysis, fixed_ports)
    return [
        t.ResourceReport(
            name=name,
            kind="port" if p < bound.n_ports else "unit",
            title=f"Port{name}" if p < bound.n_ports and name.isdigit() else name,
            load=load[p],
            busiest=p in busiest,
        )
        for p, name in enumerate(bound.port_names)
    ]


def llvm_resources(result: KernelResult) -> list[t.LlvmResource] | None:
    """Return the pressure by LLVM's units, None for a core that LLVM has no units of.

    A unit with patterns counts the forms that match. A unit that stands for several of the model's has their sum, and
    several units that stand for one have equal shares.
    """
    names = result.model.llvm
    if names is None or not names.units:
        return None
    pressure = result.analysis.fixed_pressure if result.settings.fixed_ports else result.analysis.pressure
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
            t.LlvmResource(
                name=unit.name,
                number=unit.number,
                resource=own[0] if own else None,
                cycles=round(sum(cycles), DECIMALS),
                instructions=rounded(cycles),
            )
        )
    return rows
