"""The summary view: totals of the run."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.llvm_mca.columns import rounded
from incc.views.llvm_mca.requested import Views


def lines(kernel: t.KernelReport, views: Views) -> Iterator[str]:
    """Yield the totals and the rates."""
    totals = document(kernel)
    yield f"Iterations:        {totals['Iterations']}"
    yield f"Instructions:      {totals['Instructions']}"
    yield f"Total Cycles:      {totals['TotalCycles']}"
    yield f"Total uOps:        {totals['TotaluOps']}"
    yield ""
    yield f"Dispatch Width:    {totals['DispatchWidth']}"
    yield f"uOps Per Cycle:    {rounded(totals['uOpsPerCycle'], 2)}"
    yield f"IPC:               {rounded(totals['IPC'], 2)}"
    yield f"Block RThroughput: {rounded(totals['BlockRThroughput'], 1)}"


def document(kernel: t.KernelReport) -> dict[str, float]:
    """Return the view for JSON: of the run from a cold start, without one of the prediction."""
    summary, cold = kernel.summary, kernel.cold
    iterations, cycles, uops = (
        (summary.iterations, summary.cycles, summary.uops)
        if cold is None
        else (cold.iterations, cold.cycles, cold.uops)
    )
    instructions = iterations * len(kernel.instructions)
    return {
        "BlockRThroughput": summary.block_rthroughput,
        "DispatchWidth": kernel.dispatch_width,
        "IPC": instructions / cycles if cycles else 0,
        "Instructions": instructions,
        "Iterations": iterations,
        "TotalCycles": cycles,
        "TotaluOps": uops,
        "uOpsPerCycle": uops / cycles if cycles else 0,
    }
