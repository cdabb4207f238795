"""The kernels of a report that --where and --top select."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.report import types as t

if TYPE_CHECKING:
    from incc.report.where import Condition


def selected(report: t.AnalysisReport, condition: Condition | None, top: int) -> t.AnalysisReport:
    """Return the report with some of its kernels, in their order.

    Args:
        report: The report.
        condition: The condition that a kernel must meet on one of the report's cores; None for all kernels.
        top: Most kernels to keep, those with the most to gain; 0 for all that meet the condition.
    """
    if condition is None and not top:
        return report
    worth: dict[tuple[str, ...], tuple[float, ...]] = {}
    for unit in report.units:
        for kernel in unit.kernels:
            if condition is None or _holds(condition, unit, kernel):
                identity = _identity(unit, kernel)
                order = order_of_worth(kernel, unit)
                worth[identity] = min(worth.get(identity, order), order)
    kept = set(sorted(worth, key=worth.__getitem__)[: top or None])
    return replace(
        report,
        units=[
            replace(unit, kernels=[kernel for kernel in unit.kernels if _identity(unit, kernel) in kept])
            for unit in report.units
        ],
    )


def order_of_worth(kernel: t.KernelReport, unit: t.UnitReport) -> tuple[float, ...]:
    """Return a key that sorts the kernels with the most to gain first, as incc-report does without a profile."""
    from incc.ranking.kernels import saving_of, spare_of, trials_of, unweighted

    key = unweighted(kernel.role.name, saving_of(kernel, trials_of(unit)), kernel.depth, spare_of(kernel))
    return tuple([float(part) for part in key])


def _holds(condition: Condition, unit: t.UnitReport, kernel: t.KernelReport) -> bool:
    from incc.report.where import kernel_values

    return condition.holds(kernel_values(unit, kernel))


def _identity(unit: t.UnitReport, kernel: t.KernelReport) -> tuple[str, ...]:
    """Return the key of a kernel that is the same on all cores."""
    return unit.source, unit.assembly_file, unit.output, kernel.kernel_id
