"""Whole calls of the functions that contain the analysed loops: their cycles (`--trip`), and the loops that run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cached_property, partial
from math import ceil

import msgspec
from msgspec.structs import replace

from incc.core.analysis import analyze_kernel
from incc.core.calls import OFTEN, call_cycles
from incc.core.roles import has_fixed_strides, has_open_stride, with_unit_stride
from incc.frontends.asm.call_path import CallFollower, CallPath, NoCallPath, WantedTrips
from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.parse import Assembly
from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction, KernelCode, Region, SourceLocation
from incc.models.model import MachineModel
from incc.report import types as t
from incc.report.build import unit_parts
from incc.report.calls import CallFigures, call_report, data_pass, not_predicted
from incc.report.hints.aliasing import invariant_loads
from incc.report.unit_result import UnitResult

WINDOW = 1024
"""A number of instructions that exceeds what any core has in flight. Calls in which a loop executes many more
instructions are not simulated as a whole. The additional cycles of an innermost loop come from the loop's own analysis,
those of an outer loop from two simulated calls."""

LONG = 2**20
"""Iterations of a loop for a call that consists almost entirely of the loop."""
NEAR = Fraction(1, 10)
"""The relative difference up to which a call's cycles per iteration are reported as close to those of an endless loop.
"""


class _Function(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A function whose calls are predicted."""

    graph: ControlFlow
    statement: Callable[[int], Sequence[Instruction]]
    """Returns the instructions of a number of the graph."""
    follower: CallFollower
    model: MachineModel
    elements: Mapping[int, int]
    """Source iterations per iteration of a loop, by the number of its header's first instruction."""
    lines: Mapping[int, int]
    """The source lines of loops, by the number of the header's first instruction."""
    loops: Mapping[int, KernelCode]
    """The loops, by the number of the header's first instruction."""
    alignment: int
    """The address of the function's first instruction modulo 64."""

    @cached_property
    def steady(self) -> dict[int, Fraction]:
        """Predicted cycles per iteration of loops, by the same, with arrays as they are in calls."""
        return {head: analyze_kernel(kernel, self.model).cycles for head, kernel in self.loops.items()}


def predict_calls(
    parsed: Assembly,
    result: UnitResult,
    trips_of: Callable[[str], WantedTrips | None],
    decode: Callable[[Region], KernelCode],
) -> UnitResult:
    """Return the result with a prediction for the calls of each function with loops.

    Args:
        parsed: The unit's assembly.
        result: The result of its loops.
        trips_of: Returns the iterations of the source's loops in a function, None to leave it out.
        decode: Decodes a region of the assembly.
    """
    result = replace(result, parts=result.parts or unit_parts(result))
    loops = _loops(parsed, result)
    reports = []
    for graph in control_flow(parsed, loops.__contains__):
        trips = trips_of(graph.name)
        if trips is None:
            continue
        heads = loops[graph.name]
        function = _function(parsed, graph, heads, result, decode)
        figures = function if isinstance(function, str) else _figures(function, trips)
        if isinstance(figures, str) or isinstance(function, str):
            reports.append(not_predicted(graph.name, str(figures)))
        else:
            near = _near(function) if trips == WantedTrips(inner=trips.inner) else None
            reports.append(
                call_report(graph.name, figures, trips, near, heads, function.steady, function.lines, result, parsed)
            )
    return replace(result, call_reports=tuple(reports))


def with_near_trips(parsed: Assembly, result: UnitResult, decode: Callable[[Region], KernelCode]) -> UnitResult:
    """Return the result with the lengths from which on calls come near the figures of their main loops.

    A function has one if it has a single main loop. As each takes a tenth of a second, units have them only if all
    their main loops are shown with tables. The arguments are those of `predict_calls`.
    """
    from incc.views.text import TABLES

    result = replace(result, parts=result.parts or unit_parts(result))
    mains = _mains(result)
    if sum(map(len, mains.values())) > TABLES:
        return result
    alone = {function: of[0] for function, of in mains.items() if len(of) == 1}
    alone = {f: n for f, n in alone.items() if result.parts[n].elements and result.results[n].kernel.is_loop}
    loops = _loops(parsed, result)
    lengths: dict[int, int] = {}
    for graph in control_flow(parsed, alone.__contains__):
        function = _function(parsed, graph, loops[graph.name], result, decode)
        near = None if isinstance(function, str) else _near(function)
        if near is not None and near > 1:
            lengths[alone[graph.name]] = near
    return replace(result, near_trips=lengths)


def _mains(result: UnitResult) -> dict[str, list[int]]:
    """Return the main loops of each function."""
    mains: dict[str, list[int]] = {}
    for n, part in enumerate(result.parts):
        region = result.results[n].kernel.region
        if part.role.of < 0 and region is not None and region.shape == "innermost":
            mains.setdefault(region.function, []).append(n)
    return mains


def with_passes(parsed: Assembly, result: UnitResult, decode: Callable[[Region], KernelCode]) -> UnitResult:
    """Return the result with passes through data of the requested sizes, as far as L1 holds them.

    A pass is a call of a function with a single main loop, which runs as often as data of this size allow. Loops with
    non-temporal stores have none, since they wait for the memory. The arguments are those of `predict_calls`.
    """
    memory = result.model.memory
    if memory is None:
        return result
    result = replace(result, parts=result.parts or unit_parts(result))
    alone = {function: of[0] for function, of in _mains(result).items() if len(of) == 1}
    regions = {function: result.results[n].kernel.region for function, n in alone.items()}
    # The size of all data does not say how long the rows of an outer loop are.
    alone = {function: n for function, n in alone.items() if (region := regions[function]) and region.depth == 1}
    loops = _loops(parsed, result)
    passes: dict[int, list[t.DataPass]] = {}
    for graph in control_flow(parsed, alone.__contains__):
        n = alone[graph.name]
        data, most = result.results[n].data, memory.levels[0].size or 0
        sizes = [size for size in result.results[n].settings.data if isinstance(size, int) and size <= most]
        if data is None or not data.traffic.furthest or data.traffic.missing(0).direct or not sizes:
            continue
        heads = loops[graph.name]
        function = _function(parsed, graph, heads, result, decode)
        if isinstance(function, str):
            continue
        (head,) = [head for head, number in heads.items() if number == n]
        for size in sizes:
            iterations = int(size / (data.traffic.furthest * data.traffic.line))
            figures = _pass(function, head, iterations)
            if figures is not None:
                found = data_pass(graph.name, size, iterations, figures, function.steady[head])
                passes.setdefault(n, []).append(found)
    return replace(result, passes=passes)


def _pass(function: _Function, head: int, iterations: int) -> CallFigures | None:
    """Return the figures of a call in which a loop runs this often, once; None if they are unknown."""
    count = iterations * function.elements.get(head, 1)
    for _ in range(2):
        figures = _figures(function, WantedTrips(inner=count)) if count > 0 else ""
        if isinstance(figures, str) or figures.entries.get(head) != 1:
            return None
        if figures.iterations[head] == iterations:
            return figures
        # Without known elements, trips may be those of the source's loop.
        count = int(count * iterations / figures.iterations[head])
    return None


def _loops(parsed: Assembly, result: UnitResult) -> dict[str, dict[int, int]]:
    """Return the numbers of results by function and by the statement that the loop begins with."""
    number_of = {statement.line: number for number, statement in enumerate(parsed.statements)}
    loops: dict[str, dict[int, int]] = {}
    for n, of in enumerate(result.results):
        if (region := of.kernel.region) is not None and of.kernel.is_loop and region.shape == "innermost":
            loops.setdefault(region.function, {})[number_of[region.lines[0]]] = n
    return loops


FOLLOWED = 20_000
"""The instructions of a call that are followed to find out which version of a loop runs."""

_MANY_TRIPS = WantedTrips(inner=256, outer=8)
"""Iterations that are enough for any vectorised loop."""

LEAST_ENTRIES = 4
"""The entries of a loop from which on one version counts as the one that all calls run: rows that overlap themselves
are few."""


def find_replaced(parsed: Assembly, result: UnitResult, decode: Callable[[Region], KernelCode]) -> UnitResult:
    """Return the result with the main loops that never run, since the check of their addresses fails in each call.

    Of versioned loops, those are tried that load from a fixed place: it may be part of what the loop writes.
    """
    result = replace(result, parts=result.parts or unit_parts(result))
    versions: dict[int, list[int]] = {}
    for n, part in enumerate(result.parts):
        replaces = part.role.of >= 0 and (part.role.name == "fallback" or part.role.instead)
        if replaces and _is_packed(result.results[part.role.of].kernel) and invariant_loads(result.results[n].kernel):
            versions.setdefault(part.role.of, []).append(n)
    if not versions:
        return result
    functions = {region.function for n in versions if (region := result.results[n].kernel.region) is not None}
    loops = _loops(parsed, result)
    replaced: dict[int, int] = {}
    for graph in control_flow(parsed, functions.__contains__):
        heads = loops[graph.name]
        function = _function(parsed, graph, heads, result, decode)
        if isinstance(function, str):
            continue
        for main, others in versions.items():
            group = {head: n for head, n in heads.items() if n == main or n in others}
            if main not in group.values():
                continue
            entered = function.follower.first_loops(_MANY_TRIPS, FOLLOWED, group.keys())
            done = {n: entered.get(head, ()) for head, n in group.items()}
            if not sum(done[main]):
                instead = max(others, key=lambda n: (sum(done[n]), -n))
                if len(done[instead]) >= LEAST_ENTRIES:
                    replaced[main] = instead
    return replace(result, replaced=replaced)


def with_unit_strides(parsed: Assembly, result: UnitResult, decode: Callable[[Region], KernelCode]) -> UnitResult:
    """Return the result with the roles of loops that run only if a stride is 1, and of those that run for any other.

    Compilers make such versions of loops with strides that only a call knows. All strides of such a version are
    constant, and of calls with other arguments than trip counts it runs in those with a 1. The arguments are those of
    `predict_calls`.
    """
    result = replace(result, parts=result.parts or unit_parts(result))
    versions = _versions_for_strides(result)
    if not versions:
        return result
    loops = _loops(parsed, result)
    parts = list(result.parts)
    for graph in control_flow(parsed, versions.__contains__):
        heads = loops[graph.name]
        function = _function(parsed, graph, heads, result, decode)
        if isinstance(function, str):
            continue
        for taken, fixed in versions[graph.name]:
            group = {head: n for head, n in heads.items() if n in taken or n in fixed}
            follow = partial(_iterations_of, function.follower, group)
            done, of_one = follow(_MANY_TRIPS), follow(replace(_MANY_TRIPS, outer=1), 1)
            main = max(taken, key=lambda n: (done.get(n, 0), -n))
            if done.get(main) and not any(done.get(n) for n in fixed) and any(of_one.get(n) for n in fixed):
                parts = with_unit_stride(parts, result.results, main, [n for n in taken if n != main], fixed)
    return replace(result, parts=parts)


def _versions_for_strides(result: UnitResult) -> dict[str, list[tuple[list[int], list[int]]]]:
    """Return by function, for loops of the source: the loops with strides that only a call knows, and those without."""
    of_source: dict[tuple[str, SourceLocation], list[int]] = {}
    for n, part in enumerate(result.parts):
        region = result.results[n].kernel.region
        if region is not None and region.source is not None and region.shape == "innermost" and part.role.name:
            of_source.setdefault((region.function, region.source), []).append(n)
    versions: dict[str, list[tuple[list[int], list[int]]]] = {}
    for (function, _), numbers in of_source.items():
        kernels = {n: result.results[n].kernel for n in numbers} if len(numbers) > 1 else {}
        taken, fixed = (
            [n for n, kernel in kernels.items() if has(kernel)] for has in (has_open_stride, has_fixed_strides)
        )
        if taken and fixed:
            versions.setdefault(function, []).append((taken, fixed))
    return versions


def _iterations_of(
    follower: CallFollower, group: Mapping[int, int], trips: WantedTrips, *others: int
) -> dict[int, int]:
    """Return the iterations of the loops of a group, by their numbers, in a call; none if they are not certain.

    `group` has the numbers by header, and `others` are the values of other arguments than trip counts, if given.
    """
    entered = follower.first_loops(trips, FOLLOWED, group.keys(), *([others] if others else []))
    return {n: sum(entered.get(head, ())) for head, n in group.items()} if entered else {}


def _is_packed(kernel: KernelCode) -> bool:
    """Return True for a loop with vectors, as versions are made of; an address is checked for no other."""
    return any(
        (i.arithmetic is not None and i.arithmetic.packed) or any(memory.size >= 16 for memory in i.memory)
        for i in kernel.instructions
    )


def _function(
    parsed: Assembly,
    graph: ControlFlow,
    heads: Mapping[int, int],
    result: UnitResult,
    decode: Callable[[Region], KernelCode],
) -> _Function | str:
    """Return a function whose calls can be predicted, or the reason why they cannot."""
    evaluator = isa(parsed.isa).evaluator()
    if evaluator is None:
        return f"calls of {parsed.isa} functions are not predicted yet"
    code = decode(_whole(parsed, graph))
    if code.refused:
        return "some of its statements could not be read"
    of_line: dict[int, list[Instruction]] = {}
    for instruction in code.instructions:
        of_line.setdefault(instruction.line, []).append(instruction)

    def statement(number: int) -> Sequence[Instruction]:
        return of_line.get(parsed.statements[number].line, ())

    elements, lines = source_loops(result, heads)
    return _Function(
        graph=graph,
        statement=statement,
        follower=CallFollower(graph, statement, evaluator, elements, lines),
        model=result.model,
        elements=elements,
        lines=lines,
        loops={head: result.results[n].kernel for head, n in heads.items()},
        alignment=code.alignment,
    )


def source_loops(result: UnitResult, heads: Mapping[int, int]) -> tuple[dict[int, int], dict[int, int]]:
    """Return the source iterations per iteration of loops, and the lines of the source's loops.

    Both are by the number of a header's first instruction; `heads` has the index of each loop in the result.
    """
    elements = {head: part.per_iteration for head, n in heads.items() if (part := result.parts[n].elements) is not None}
    # Remainders and fallbacks count as loops of the main loop's line.
    mains = {head: role.of if (role := result.parts[n].role).of >= 0 else n for head, n in heads.items()}
    regions = {head: result.results[n].kernel.region for head, n in mains.items()}
    return (
        {head: int(number) for head, number in elements.items() if number.denominator == 1},
        {head: region.source.line for head, region in regions.items() if region and region.source},
    )


def _whole(parsed: Assembly, graph: ControlFlow) -> Region:
    """Return the region of all instructions of a function, in the order of the text."""
    lines = tuple(sorted({parsed.statements[i].line for block in graph.blocks for i in block.instructions}))
    return Region(
        kind="file",
        name=graph.name,
        function=graph.name,
        first_line=lines[0],
        last_line=lines[-1],
        lines=lines,
        body_lines=lines,
    )


# --- short and long calls ---------------------------------------------------------------------------------------------


def _figures(function: _Function, trips: WantedTrips) -> CallFigures | str:
    """Return the figures of a call, or why there are none."""
    wanted: dict[str | int, int] = {"outer": trips.outer, "inner": trips.inner}
    wanted.update(trips.lines.items())
    step = _window(function, dict.fromkeys(wanted, 1) | {"inner": min(trips.inner, 64)}, "outer", 2)
    if isinstance(step, str) or trips.outer <= 3 * step:
        return step if isinstance(step, str) else _with_long_loops(function, wanted)
    few = step + trips.outer % step
    short = {**dict.fromkeys(wanted, 1), "inner": min(trips.inner, 64)}
    paths = [_path(function, {**short, "outer": few + n * step}) for n in range(3)]
    lengths = [0 if isinstance(path, NoCallPath) else len(path.numbers) for path in paths]
    if lengths[2] - lengths[1] != lengths[1] - lengths[0]:
        # The inner loops of later iterations are longer, or shorter.
        return _with_long_loops(function, wanted)
    shorter = _with_long_loops(function, {**wanted, "outer": few})
    longer = _with_long_loops(function, {**wanted, "outer": few + step})
    if isinstance(shorter, str) or isinstance(longer, str):
        return str(shorter)
    return shorter.extrapolated(longer, Fraction(trips.outer - few, step))


def _near(function: _Function) -> int | None:
    """Return the iterations from which on they take at most `NEAR` more than in endless loops; None if unknown."""
    long, longer = (_figures(function, WantedTrips(inner=count)) for count in (LONG, 2 * LONG))
    if isinstance(long, str) or isinstance(longer, str) or longer.cycles <= long.cycles:
        return None
    each = (longer.cycles - long.cycles) / LONG
    foreseen, missing = (max(1, ceil((of - LONG * each) / each / NEAR)) for of in (long.foreseen, long.cycles))
    # Calls whose last branch is foreseen may be near although longer ones are not.
    limit = int(function.model.parameters["foreseen_iterations"])
    shortest_missed = limit * LONG / max(long.iterations.values())
    return foreseen if missing <= shortest_missed else missing


def _window(function: _Function, trips: Mapping[str | int, int], name: str | int, unit: int) -> int | str:
    """Return a number of iterations of some loops, a multiple of `unit`, that fills the window."""
    paths = [_path(function, {**trips, name: count}) for count in (2 * unit, 4 * unit)]
    lengths = []
    for path in paths:
        if isinstance(path, NoCallPath):
            return path.reason
        lengths.append(len(path.numbers))
    added = lengths[1] - lengths[0]
    return unit * max(2, ceil(2 * WINDOW / added)) if added > 0 else WINDOW * unit


def _with_long_loops(function: _Function, wanted: Mapping[str | int, int]) -> CallFigures | str:
    """Return the figures of a call with long innermost loops, from one with fewer iterations of these."""
    elements = max(function.elements.values(), default=1)
    short = dict(wanted)
    steps: dict[str | int, int] = {}
    for name in wanted:
        if name == "outer" or wanted[name] <= 16 * elements:
            continue
        step = _window(function, {**dict.fromkeys(wanted, 1), name: 1}, name, 8 * elements)
        if isinstance(step, str):
            return step
        if wanted[name] > 3 * step:
            steps[name] = step
            short[name] = step + wanted[name] % step
    base = _path(function, short)
    if isinstance(base, NoCallPath):
        return base.reason
    growth: dict[int, Fraction] = {}
    instructions = Fraction()
    for name, step in steps.items():
        more = _path(function, {**short, name: short[name] + step})
        if isinstance(more, NoCallPath):
            return more.reason
        times = Fraction(wanted[name] - short[name], step)
        instructions += times * (len(more.numbers) - len(base.numbers))
        for head, counts in more.loops.items():
            if added := sum(counts) - sum(base.loops.get(head, ())):
                growth[head] = growth.get(head, Fraction()) + times * added
    if not growth.keys() <= function.steady.keys():
        return "it has a long loop that is not analysed"
    figures = _simulated(function, base, growth)
    if isinstance(figures, str):
        return figures
    cycles = sum((added * function.steady[head] for head, added in growth.items()), Fraction())
    return replace(
        figures,
        cycles=figures.cycles + cycles,
        foreseen=figures.foreseen + cycles,
        missing=figures.missing + cycles,
        instructions=figures.instructions + instructions,
        iterations={head: count + growth.get(head, 0) for head, count in figures.iterations.items()},
    )


def _path(function: _Function, wanted: Mapping[str | int, int]) -> CallPath | NoCallPath:
    by_line = {line: count for line, count in wanted.items() if isinstance(line, int)}
    return function.follower.path(WantedTrips(inner=wanted["inner"], outer=wanted["outer"], lines=by_line))


def _simulated(function: _Function, path: CallPath, growth: Mapping[int, Fraction]) -> CallFigures | str:
    """Simulate a call. `growth` are the iterations of loops that are left out."""
    code, place = _sequence(function, path)
    limit = int(function.model.parameters["foreseen_iterations"])
    missed = [
        exit
        for exit in path.exits
        if exit.iterations + growth.get(exit.header, 0) / len(path.loops[exit.header]) > (limit or OFTEN)
    ]
    try:
        cycles = call_cycles(code, function.model, [place[exit.position] for exit in missed])
    except (ValueError, RuntimeError) as error:
        return str(error)
    return CallFigures(
        cycles=cycles.cycles if limit else cycles.foreseen,
        missing=cycles.cycles,
        foreseen=cycles.foreseen,
        mispredictions=Fraction(len(missed)),
        instructions=Fraction(len(code.instructions)),
        unknown=Fraction(len(cycles.unknown)),
        iterations={head: Fraction(sum(counts)) for head, counts in path.loops.items()},
        entries={head: Fraction(len(counts)) for head, counts in path.loops.items()},
        path=path,
    )


def _sequence(function: _Function, path: CallPath) -> tuple[KernelCode, list[int]]:
    """Return the code of a call, and the index in it of the last instruction of each number of the path."""
    instructions: list[Instruction] = []
    place = []
    for number in path.numbers:
        instructions += function.statement(number)
        place.append(len(instructions) - 1)
    caller = isa(function.model.isa).caller(_arguments(instructions, path))
    size = sum(instruction.length for instruction in caller)
    first = instructions[0].offset
    before = [replace(instruction, offset=first - size + instruction.offset) for instruction in caller]
    code = KernelCode(
        name=function.graph.name,
        isa=function.model.isa,
        region=None,
        instructions=(*before, *instructions),
        is_loop=True,
        alignment=(function.alignment - size) % 64,
    )
    return code, [n + len(before) for n in place]


def _arguments(instructions: Sequence[Instruction], path: CallPath) -> dict[str, int]:
    """Return the registers that a call reads before it writes them, with values: counts, or distant addresses."""
    written: set[str] = set()
    values: dict[str, int] = {}
    for instruction in instructions:
        for access in instruction.registers:
            root = access.register.root
            if access.read and not instruction.idiom and root not in written:
                values.setdefault(root, path.inputs.get(root, _ARRAYS + len(values) * _APART))
        written |= {access.register.root for access in instruction.registers if access.write}
    return values


_ARRAYS, _APART = 0x1000_0000, 0x110_0000
"""Addresses of arguments: far from each other."""
