"""Branches inside a loop: each way through it as a kernel of its own, and all of them in a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from incc.driver.pipeline import Settings, Unit
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.asm.regions import LoopPath
    from incc.frontends.kernel import Kernel, Region
    from incc.models.model import MachineModel

LIMIT = 16
"""Ways through one loop that are analysed; with every further branch their number may double."""


class Way(NamedTuple):
    """A way through a loop and its figures, in cycles per iteration of an execution that always goes this way.

    `ports` includes the divider, `front_end` retirement; `cycles` is the simulation's, or the largest bound where the
    model does not describe the core's pipeline (`simulated`). `unknown`: instructions that are not in the model.
    """

    path: LoopPath
    instructions: int
    ports: Fraction
    front_end: Fraction
    carried: Fraction
    cycles: Fraction
    simulated: bool
    unknown: int


class Loop(NamedTuple):
    """A loop with branches inside: the ways through it; not all of them if `complete` is False."""

    region: Region
    ways: list[Way]
    complete: bool


def loops_of(assembly: Assembly, settings: Settings) -> list[Region]:
    """The innermost loops in what the settings select."""
    from incc.driver.pipeline import find_regions

    loops, _ = find_regions(assembly, settings._replace(regions="loops"))
    if settings.regions == "loops":
        return loops
    selected, _ = find_regions(assembly, settings)
    lines = {line for region in selected for line in region.body_lines}
    return [region for region in loops if lines.issuperset(region.body_lines)]


def analyze(unit: Unit, settings: Settings, sides: bool, first_side: float | None) -> tuple[list[Loop], list[str]]:
    """Ways through the selected loops that have branches inside, and messages about statements that were refused.

    `sides`: only both sides of the first branch. `first_side`: how likely a branch is not taken, None: all sides alike.
    Raises AnalysisError where the unit cannot be analysed at all.
    """
    from incc.driver.pipeline import choose_model, decode_unit, read_assembly
    from incc.frontends.asm.regions import loop_paths

    model, _ = choose_model(settings.mcpu, unit.cpu, settings.model_path)
    assembly = read_assembly(unit, model.isa)
    found = [
        (region, *loop_paths(assembly, region, LIMIT, first_side, sides)) for region in loops_of(assembly, settings)
    ]
    found = [(region, paths, complete) for region, paths, complete in found if len(paths) > 1]
    regions = [path.region for _, paths, _ in found for path in paths]
    kernels = decode_unit(unit, assembly, regions)
    refused = {f"{unit.assembly_file}:{r.line}: error: {r.message}": None for kernel in kernels for r in kernel.refused}
    ways = iter(kernels)
    result = []
    for region, paths, complete in found:
        result.append(Loop(region, [_way(path, next(ways), model, settings) for path in paths], complete))
    return result, list(refused)


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
    return Way(
        path, len(kernel.instructions), ports, front_end, analysis.latency_bound, cycles, simulated, unknown
    )  # fmt: skip


def render(loops: Sequence[Loop], file: str, sides: bool) -> str:
    """A table for each loop."""
    if not loops:
        return "\nNo innermost loop here has a branch inside.\n"
    return "".join("\n" + "\n".join(_table(loop, file, sides)) + "\n" for loop in loops)


def _table(loop: Loop, file: str, sides: bool) -> list[str]:
    region, ways = loop.region, loop.ways
    where = f"{file}:{region.first_line}-{region.last_line}"
    what = "Sides of the first branch" if sides else "Ways"
    lines = [f"{what} through the loop at {region.label or f'line {region.first_line}'} ({where})"]
    if not loop.complete:
        lines.append(f"There are more than these {len(ways)}; shares are among these.")
    cycles = [float(way.cycles) for way in ways]
    total = sum(way.path.probability for way in ways)
    shares = [way.path.probability / total if total else 1 / len(ways) for way in ways]
    lines.append("")
    lines.append("  Way  Share  Instr.   Ports  Front end  Carried  Cycles  Branches (line), lines skipped")
    for number, (way, share) in enumerate(zip(ways, shares, strict=True), start=1):
        # Fractions have no format of their own before Python 3.12.
        ports, front_end, carried = float(way.ports), float(way.front_end), float(way.carried)
        cells = f"{number:>5}  {100 * share:>3.0f} %  {way.instructions:>6}  {ports:>6.2f}  {front_end:>9.2f}"
        cells += f"  {carried:>7.2f}  {cycles[number - 1]:>6.2f}  {_branches(way)}"
        lines.append(cells + _skipped(region, way) + (f"; {way.unknown} X" if way.unknown else ""))
    average = sum(share * each for each, share in zip(cycles, shares, strict=True))
    lines.append("")
    lines.append(f"Weighted by their shares {average:.2f} cycles, between {min(cycles):.2f} and {max(cycles):.2f}.")
    if any(way.unknown for way in ways):
        lines.append("X: instructions that are not in the model, and not counted.")
    kind = "simulated" if all(way.simulated for way in ways) else "the largest bounds"
    lines.append(f"(cycles per iteration, {kind}, if it always goes the same way; without mispredicted branches)")
    return lines


def _branches(way: Way) -> str:
    return ", ".join(f"{line} {'taken' if taken else 'not taken'}" for line, taken in way.path.branches)


def _skipped(region: Region, way: Way) -> str:
    from incc.frontends.asm.regions import line_list

    missing = set(region.body_lines).difference(way.path.region.lines)
    return f"; without {line_list(missing)}" if missing else ""
