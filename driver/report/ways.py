"""Branches inside a loop: each way through it is a kernel of its own, and the report has the figures of all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from incc.driver.pipeline import Settings
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.asm.regions import LoopPath
    from incc.frontends.kernel import Kernel, Region
    from incc.frontends.unit import Unit
    from incc.models.model import MachineModel

Dict = dict[str, Any]

LIMIT = 16
"""Ways through one loop that are analysed; with every further branch their number may double."""


class Way(NamedTuple):
    """A way through a loop and its figures, in cycles per iteration of an execution that always goes this way.

    `ports` includes the divider, `front_end` retirement; `cycles` is the simulation's, or the largest bound where the
    model does not describe the core's pipeline (`simulated`). `unknown`: instructions that are not in the model.
    """

    path: LoopPath
    kernel: Kernel
    ports: Fraction
    front_end: Fraction
    carried: Fraction
    cycles: Fraction
    simulated: bool
    unknown: int


def loops_of(assembly: Assembly, settings: Settings) -> list[Region]:
    """The innermost loops in what the settings select."""
    from incc.driver.pipeline import find_regions

    loops, _ = find_regions(assembly, settings._replace(regions="loops"))
    if settings.regions == "loops":
        return loops
    selected, _ = find_regions(assembly, settings)
    lines = {line for region in selected for line in region.body_lines}
    return [region for region in loops if lines.issuperset(region.body_lines)]


def analyze(unit: Unit, assembly: Assembly, model: MachineModel, settings: Settings, which: str) -> list[Dict]:
    """Ways through the selected loops that have branches inside, as the report has them: a part for each loop.

    `which`: "paths" for every way, "branch" for the sides of the first branch. Raises AnalysisError where the unit
    cannot be analysed at all.
    """
    from incc.driver.pipeline import decode_unit
    from incc.frontends.asm.regions import loop_paths

    found = [
        (region, *loop_paths(assembly, region, LIMIT, settings.branch_probability, which == "branch"))
        for region in loops_of(assembly, settings)
    ]
    found = [(region, paths, complete) for region, paths, complete in found if len(paths) > 1]
    kernels = iter(decode_unit(unit, assembly, [path.region for _, paths, _ in found for path in paths]))
    return [
        _loop(which, region, [_way(path, next(kernels), model, settings) for path in paths], complete)
        for region, paths, complete in found
    ]


def _loop(which: str, region: Region, ways: Sequence[Way], complete: bool) -> Dict:
    from incc.driver.report.build import DECIMALS

    total = sum(way.path.probability for way in ways)
    shares = [way.path.probability / total if total else 1 / len(ways) for way in ways]
    average = sum(share * float(way.cycles) for share, way in zip(shares, ways, strict=True))
    return {
        "kind": which,
        "function": region.function,
        "function_name": region.function,
        "label": region.label,
        "first_line": region.first_line,
        "last_line": region.last_line,
        "source": region.source._asdict() if region.source else None,
        "complete": complete,
        "simulated": all(way.simulated for way in ways),
        "weighted_cycles": round(average, DECIMALS),
        "ways": [_report(region, way, share) for way, share in zip(ways, shares, strict=True)],
    }


def _report(region: Region, way: Way, share: float) -> Dict:
    from incc.driver.report.build import DECIMALS, ratio

    return {
        "share": round(share, DECIMALS),
        "branches": [{"line": line, "taken": taken} for line, taken in way.path.branches],
        "lines": list(way.path.region.lines),
        "lines_skipped": sorted(set(region.body_lines).difference(way.path.region.lines)),
        "instructions": len(way.kernel.instructions),
        "unknown_instructions": way.unknown,
        "ports": ratio(way.ports),
        "front_end": ratio(way.front_end),
        "loop_carried": ratio(way.carried),
        "cycles": ratio(way.cycles),
        "refused": [refused._asdict() for refused in way.kernel.refused],
    }


def _way(path: LoopPath, kernel: Kernel, model: MachineModel, settings: Settings) -> Way:
    from incc import core
    from incc.models.bind import bind

    bound, forms = bind(kernel, model)
    analysis = core.analyze(bound)
    ports = max(analysis.port_bound, analysis.resource_bound)
    front_end = max(analysis.front_end_bound, analysis.retire_bound)
    cycles = max(ports, front_end, analysis.latency_bound)
    simulated = settings.simulate and bound.pipeline is not None and bool(kernel.instructions)
    if simulated:
        alignment = settings.alignment if settings.alignment >= 0 else None
        cycles = core.simulate(bound, alignment=alignment).cycles_per_iteration
    unknown = sum(form is None for form in forms)
    return Way(path, kernel, ports, front_end, analysis.latency_bound, cycles, simulated, unknown)
