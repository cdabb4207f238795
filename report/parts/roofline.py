"""The roofline model in reports: the ceilings of a core, and the points of kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.report import types as t

if TYPE_CHECKING:
    from incc.models.model import MachineModel

_DIGITS = 6
"""The significant digits of points, whose scales are logarithmic."""


def with_roofline(unit: t.UnitReport, model: MachineModel, ghz: float = 0) -> t.UnitReport:
    """Return a unit with the ceilings of its core and the points of its kernels.

    Args:
        unit: The unit.
        model: The model of its core.
        ghz: The clock for rates per second in GHz; 0 for that of the kernels' rates, if they have one.
    """
    ghz = ghz or next((kernel.rates.ghz for kernel in unit.kernels if kernel.rates and kernel.rates.ghz), 0)
    cores = max((kernel.data.cores for kernel in unit.kernels if kernel.data), default=1)
    ceilings = ceilings_report(model, cores, ghz)
    kernels = [replace(kernel, roofline=kernel_roofline(kernel, ceilings)) for kernel in unit.kernels]
    return replace(unit, ceilings=ceilings, kernels=kernels)


def ceilings_report(model: MachineModel, cores: int = 1, ghz: float = 0) -> t.CeilingsReport:
    """Return the ceilings of a core.

    Args:
        model: The model of the core.
        cores: The number of cores that use shared levels; 1 for as many as share them.
        ghz: The clock in GHz; 0 if unknown.
    """
    from incc.core.memory.roofline import ceilings

    of_core = ceilings(model, cores)
    memory = model.memory
    return t.CeilingsReport(
        peaks=[
            t.PeakReport(
                element_bits=peak.element,
                vector_bits=peak.width,
                kind=peak.kind,
                flop_per_cycle=_number(float(peak.flop)),
            )
            for peak in of_core.peaks
        ],
        bandwidths=[
            t.BandwidthReport(level=each.level, cores=each.cores, bytes_per_cycle=_number(float(each.bytes)))
            for each in of_core.bandwidths
        ],
        ghz=ghz or None,
        configuration=memory.configuration if memory else "",
    )


def kernel_roofline(kernel: t.KernelReport, ceilings: t.CeilingsReport) -> t.RooflineReport:
    """Return a kernel's points, and remarks on those that are missing or inexact."""
    reason = _no_points(kernel)
    if reason:
        return t.RooflineReport(points=[], remarks=[reason])
    points, remarks = [], []
    data = kernel.data
    requested = [level for level in data.levels if level.requested] if data else []
    if not requested or requested[0].name == "L1":
        moved: float = kernel.memory.bytes_loaded + kernel.memory.bytes_stored
        if moved:
            points.append(_point(kernel, "L1", moved, kernel.cycles, ceilings))
        else:
            remarks.append("L1: it loads and stores no bytes")
    for level in requested:
        if level.name == "L1":
            continue
        moved = level.lines.total * (data.line_bytes if data else 0)
        if moved:
            points.append(_point(kernel, level.name, moved, level.cycles, ceilings))
            if level.least_cycles < level.cycles:
                remarks.append(f"{level.name}: drawn as if {_assumption(data)}")
        else:
            remarks.append(f"{level.name}: no cache lines come from there")
    if data and len(data.levels) == 1:
        remarks.append("the traffic beyond L1 is unknown")
    if points and kernel.at_least:
        remarks.append("slower than drawn, because not all of its work is counted")
    return t.RooflineReport(points=points, remarks=remarks)


def _assumption(data: t.DataReport | None) -> str:
    """Return what the higher end of a prediction beyond L1 assumes."""
    if data and any(stream.neighbour for stream in data.streams):
        return "no row found the lines of its neighbour in L1"
    return "L1 replaced lines that share a set with too many others before they are used again"


def _no_points(kernel: t.KernelReport) -> str:
    """Return the reason why a kernel has no points at all; "" if it may have some."""
    if not kernel.arithmetic.flop:
        return "no floating-point arithmetic on vector registers"
    if kernel.memory.unsized_accesses:
        return "it moves an unknown number of bytes"
    return "" if kernel.cycles else "its cycles are unknown"


def _point(
    kernel: t.KernelReport, level: str, moved: float, cycles: float, ceilings: t.CeilingsReport
) -> t.RooflinePoint:
    """Return the point of a kernel that moves this many bytes between a level and the one inside per iteration."""
    flop, intensity = kernel.arithmetic.flop, kernel.arithmetic.flop / moved
    measured = kernel.measured.cycles if kernel.measured and level == "L1" else None
    roofs = dict(_roofs(kernel, level, intensity, ceilings))
    by = min(roofs, key=roofs.__getitem__, default="")
    return t.RooflinePoint(
        level=level,
        flop_per_byte=_number(intensity),
        flop_per_cycle=_number(flop / cycles),
        measured=_number(flop / measured) if measured else None,
        roof=_number(roofs[by]) if by else None,
        roof_by=by,
    )


def _roofs(
    kernel: t.KernelReport, level: str, intensity: float, ceilings: t.CeilingsReport
) -> Iterator[tuple[str, float]]:
    """Yield the ceilings that bound a kernel with data in a level: what they are of, and operations per cycle."""
    elements = kernel.arithmetic.flop_elements
    if peaks := [peak.flop_per_cycle for peak in ceilings.peaks if peak.element_bits in elements]:
        yield "peak", max(peaks)
    cores = kernel.data.cores if kernel.data else 1
    widths = [each.bytes_per_cycle for each in ceilings.bandwidths if each.level == level and each.cores <= cores]
    if widths:
        yield level, min(widths) * intensity


def _number(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")
