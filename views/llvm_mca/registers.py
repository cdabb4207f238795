"""The register file statistics: how many physical registers were in use, in total and by file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from incc.views.llvm_mca.columns import percent

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.requested import Views


def lines(kernel: t.Kernel, views: Views) -> Iterator[str]:
    """Yield the totals, then each file of limited size."""
    run: Any = kernel.cold
    total, *files = run.registers
    yield "Register File statistics:"
    yield f"Total number of mappings created:    {total.mappings}"
    yield f"Max number of mappings used:         {total.most}"
    for number, file in enumerate(files, 1):
        if not file.entries:
            continue
        yield ""
        yield f"*  Register File #{number} -- {file.name}:"
        yield f"   Number of physical registers:     {file.entries}"
        yield f"   Total number of mappings created: {file.mappings}"
        yield f"   Max number of mappings used:      {file.most}"
        moves = file.moves
        candidates = moves.candidates
        if candidates:
            eliminated, zero = moves.eliminated, moves.zero
            yield f"   Number of optimizable moves:      {candidates}"
            yield f"   Number of moves eliminated:       {eliminated}  ({percent(eliminated, candidates)}%)"
            yield f"   Number of zero moves:             {zero}  ({percent(zero, candidates)}%)"
            yield f"   Max moves eliminated per cycle:   {moves.most}"
