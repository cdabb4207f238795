"""The paths through loops with branches inside, as the report shows them."""

from __future__ import annotations

from typing import Literal

from incc.core.figures import DECIMALS
from incc.core.ways import Way, Ways
from incc.frontends.kernel import Region
from incc.report import types as t
from incc.report.kernel import ratio


def ways_report(which: Literal["paths", "branch"], region: Region, paths: Ways, complete: bool) -> t.WaysReport:
    """Return the report on one loop and the paths through it.

    `which` is "paths" for every path, "branch" for both directions of the first branch; `complete` tells that all are
    given.
    """
    return t.WaysReport(
        kind=which,
        function=region.function,
        function_name=region.function,
        label=region.label,
        first_line=region.first_line,
        last_line=region.last_line,
        source=region.source,
        complete=complete,
        simulated=all(way.result.simulation is not None for way in paths.ways),
        weighted_cycles=round(paths.weighted_cycles, DECIMALS),
        ways=[_way(region, way) for way in paths.ways],
    )


def _way(region: Region, way: Way) -> t.WayReport:
    path, result = way.path, way.result
    bounds = result.bounds
    return t.WayReport(
        share=round(way.share, DECIMALS),
        branches=[t.Branch(line=line, taken=taken) for line, taken in path.branches],
        lines=list(path.region.lines),
        lines_skipped=sorted(set(region.body_lines).difference(path.region.lines)),
        instructions=len(result.kernel.instructions),
        unknown_instructions=len(result.unknown),
        ports=ratio(max(bounds.port, bounds.divider)),
        front_end=ratio(max(bounds.front_end, bounds.retire)),
        loop_carried=ratio(bounds.loop_carried),
        cycles=ratio(result.cycles),
        refused=list(result.kernel.refused),
    )
