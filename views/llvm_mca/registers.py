"""Register file statistics: how many physical registers were taken, in all and of each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.views.llvm_mca.columns import rounded, share
from incc.views.llvm_mca.run import statistics

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incc.report import types as t
    from incc.views.llvm_mca.asked import Options


def lines(unit: t.Unit, kernel: t.Kernel, options: Options) -> Iterator[str]:
    """All files together, then each of known size."""
    run = statistics(kernel)
    if run is None:
        return
    total, *files = run["registers"]
    yield ""
    yield ""
    yield "Register File statistics:"
    yield f"Total number of mappings created:    {total['mappings']}"
    yield f"Max number of mappings used:         {total['most']}"
    for number, file in enumerate(files, 1):
        if not file["entries"]:
            continue
        yield ""
        yield f"*  Register File #{number} -- {file['name']}:"
        yield f"   Number of physical registers:     {file['entries']}"
        yield f"   Total number of mappings created: {file['mappings']}"
        yield f"   Max number of mappings used:      {file['most']}"
        moves = file["moves"]
        if moves["candidates"]:
            candidates = moves["candidates"]
            yield f"   Number of optimizable moves:      {candidates}"
            for name, key in (("Number of moves eliminated:", "eliminated"), ("Number of zero moves:", "zero")):
                yield f"   {name:<33} {moves[key]}  ({rounded(share(moves[key], candidates), 1)}%)"
            yield f"   Max moves eliminated per cycle:   {moves['most']}"
