"""The summary: what the run took in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.views.llvm_mca.columns import rounded
from incc.views.llvm_mca.run import counts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """Two groups of four."""
    iterations, cycles, uops = counts(kernel)
    instructions = iterations * len(kernel.instructions)
    yield f"Iterations:        {iterations}"
    yield f"Instructions:      {instructions}"
    yield f"Total Cycles:      {cycles}"
    yield f"Total uOps:        {uops}"
    yield ""
    yield f"Dispatch Width:    {kernel.dispatch_width}"
    yield f"uOps Per Cycle:    {rounded(uops / cycles if cycles else 0, 2)}"
    yield f"IPC:               {rounded(instructions / cycles if cycles else 0, 2)}"
    yield f"Block RThroughput: {rounded(kernel.summary.block_rthroughput, 1)}"


def document(kernel: t.Kernel) -> dict[str, float]:
    """The same for JSON."""
    iterations, cycles, uops = counts(kernel)
    instructions = iterations * len(kernel.instructions)
    return {
        "BlockRThroughput": kernel.summary.block_rthroughput,
        "DispatchWidth": kernel.dispatch_width,
        "IPC": instructions / cycles if cycles else 0,
        "Instructions": instructions,
        "Iterations": iterations,
        "TotalCycles": cycles,
        "TotaluOps": uops,
        "uOpsPerCycle": uops / cycles if cycles else 0,
    }
