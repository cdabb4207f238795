"""The run of a number of iterations from a cold start, which is what llvm-mca simulates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from incc.report import types as t


def statistics(kernel: t.Kernel) -> Any:
    """The run and what was counted in it; None where it was not asked for, or the model does not describe the core's
    pipeline. A view that has nothing to show then is left out: numbers of no simulation would be taken for some."""
    cold: Any = kernel.cold
    return cold


def counts(kernel: t.Kernel) -> tuple[int, int, int]:
    """Iterations, cycles and µops of the run; without one the prediction for llvm-mca's number of iterations."""
    summary = kernel.summary
    cold: Any = kernel.cold
    if cold is None:
        return summary.iterations, summary.cycles, summary.uops
    return cold["iterations"], cold["cycles"], cold["uops"]
