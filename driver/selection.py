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
    worth: dict[tuple[str, ...], tuple[bool, float]] = {}
    for unit in report.units:
        for kernel in unit.kernels:
            if condition is None or _holds(condition, unit, kernel):
                identity = _identity(unit, kernel)
                worth[identity] = min(worth.get(identity, (True, 0.0)), order_of_worth(kernel))
    kept = set(sorted(worth, key=worth.__getitem__)[: top or None])
    return replace(
        report,
        units=[
            replace(unit, kernels=[kernel for kernel in unit.kernels if _identity(unit, kernel) in kept])
            for unit in report.units
        ],
    )


def order_of_worth(kernel: t.KernelReport) -> tuple[bool, float]:
    """Return a key that sorts the kernels with the most to gain first, as incc-report does without a profile."""
    from incc.ranking.kernels import OUT_OF_REACH, headroom_of

    return kernel.role.name in OUT_OF_REACH, -headroom_of(kernel, {}).share


def _holds(condition: Condition, unit: t.UnitReport, kernel: t.KernelReport) -> bool:
    from incc.report.where import kernel_values

    return condition.holds(kernel_values(unit, kernel))


def _identity(unit: t.UnitReport, kernel: t.KernelReport) -> tuple[str, ...]:
    """Return the key of a kernel that is the same on all cores."""
    return unit.source, unit.assembly_file, unit.output, kernel.kernel_id
