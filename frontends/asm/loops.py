"""Loops of control-flow graphs, as regions with the path that is analysed and notes on it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from typing import Protocol

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.graph import (
    ControlFlow,
    IrreducibleCycle,
    NaturalLoop,
    dominators,
    hot_part,
    loops,
    reverse_postorder,
    with_header,
    without_inner,
)
from incc.frontends.kernel import LeftOut, LineSet, LoopShape, Neighbours, Region, SourceLocation
from incc.support.text import line_list


class InstructionPlace(Protocol):
    """The place of an instruction."""

    @property
    def line(self) -> int:
        """1-based."""

    @property
    def location(self) -> SourceLocation | None:
        """The place in the user's source, None if unknown."""


class InstructionPlaces(Protocol):
    """The places of instructions by their numbers."""

    def __getitem__(self, n: int, /) -> InstructionPlace:
        """Return the place of an instruction."""


class InstructionFacts(msgspec.Struct, frozen=True):
    """The facts about the instructions of graphs that regions need."""

    places: InstructionPlaces
    notes: Callable[[Sequence[int]], list[str]]
    """Returns notes on instructions of a path, such as calls (see `Region.notes`)."""


class FoundLoop(msgspec.Struct, frozen=True):
    """A loop of a graph that is analysed; it has no cycle but those through its header."""

    loop: NaturalLoop
    shape: LoopShape
    whole: Set[int]
    """The blocks of the loop; of a partial one also those of the loops inside."""
    entries: tuple[int, ...] = ()
    """The blocks at which an irreducible one is entered."""


def analysed_loops(
    graph: ControlFlow,
) -> tuple[list[FoundLoop], list[NaturalLoop], list[IrreducibleCycle]]:
    """Return the loops of a graph to analyse, all its natural loops, and the irreducible cycles to leave out.

    These are the innermost loops; irreducible cycles that pass the same block in each round; and of other loops the
    iterations that enter no loop inside, if they are likely to be most of them, or most of the work (`_matters`).
    """
    successors = [block.successors for block in graph.blocks]
    natural, irreducible = loops(successors, graph.entries)
    found = [FoundLoop(loop, "innermost", loop.body) for loop in natural if loop.innermost]
    if len(found) < len(natural):
        inner = {loop.header for loop in natural}.union(*(cycle.nodes for cycle in irreducible))
        largest = _largest_inside(graph, natural)
        for loop in natural:
            part = None if loop.innermost else without_inner(successors, loop, inner)
            if part is not None and _matters(graph, loop, part, largest[loop.header]):
                found.append(FoundLoop(part, "partial", loop.body))
    left_out = []
    for cycle in irreducible:
        if (entered := with_header(successors, cycle)) is not None:
            found.append(FoundLoop(entered, "irreducible", entered.body, cycle.entries))
        elif cycle.innermost:
            left_out.append(cycle)
    return found, natural, left_out


_LEAST_WORK = 16
"""Instructions of iterations outside of the loops inside that are worth an analysis although others are likelier."""


def _largest_inside(graph: ControlFlow, natural: Sequence[NaturalLoop]) -> dict[int, int]:
    """Return the instructions of the largest innermost loop in each natural loop, by its header; 0 for none."""
    outer = {loop.header: loop.outer for loop in natural}
    largest = dict.fromkeys(outer, 0)
    for loop in natural:
        header, size = loop.header, _size(graph, loop.body) if loop.innermost else 0
        while header >= 0 and largest[header] < size:
            largest[header] = size
            header = outer[header]
    return largest


def _matters(graph: ControlFlow, loop: NaturalLoop, part: NaturalLoop, largest: int) -> bool:
    """Return True if the iterations of a loop that enter no loop inside are worth an analysis.

    They are if compilers' layout makes them the likeliest ones, or if they have more than twice as many instructions as
    the `largest` innermost loop inside: such loops are then small parts, such as a copy of the rest beyond a vector.
    """
    block = _likeliest_next(graph, loop, loop.header)
    while block != loop.header and block in part.body:
        block = _likeliest_next(graph, loop, block)
    if block == loop.header:
        return True
    work = _size(graph, _likeliest_path(graph, part)[0])
    return work >= _LEAST_WORK and work > 2 * largest


def _size(graph: ControlFlow, blocks: Iterable[int]) -> int:
    return sum(len(graph.blocks[b].instructions) for b in blocks)


def innermost(graphs: Iterable[ControlFlow], listing: InstructionFacts) -> tuple[list[Region], list[LeftOut]]:
    """Return the loops of graphs that are analysed, and the cycles that are not, by their first lines."""
    regions: list[Region] = []
    left_out: list[LeftOut] = []
    for graph in graphs:
        found, natural, irreducible = analysed_loops(graph)
        by_header = {loop.header: loop for loop in natural}
        own = _first_location(listing, graph) if found else None
        inner = []
        for each in found:
            outer = by_header.get(each.loop.outer)
            region = _region(listing, graph, each, own)
            region = replace(region, outer=_place(listing, graph, outer) if outer else None)
            if each.shape == "innermost":
                inner.append((replace(region, around=_around(listing, graph, outer, each.loop)), each.loop))
            else:
                regions.append(region)
        regions += _with_neighbours(listing, graph, natural, inner) if len(inner) > 1 else [r for r, _ in inner]
        left_out += [_irreducible(listing, graph, cycle) for cycle in irreducible]
    regions.sort(key=lambda region: (region.first_line, region.shape != "innermost"))
    left_out.sort(key=lambda span: span.first_line)
    return regions, left_out


def _first_location(listing: InstructionFacts, graph: ControlFlow) -> SourceLocation | None:
    """Return the first known place in the source of a graph's instructions."""
    return first_location(listing.places, (i for block in graph.blocks for i in block.instructions))


def _region(
    listing: InstructionFacts,
    graph: ControlFlow,
    found: FoundLoop,
    own: SourceLocation | None,
    chosen: list[int] | None = None,
) -> Region:
    """Return the region of a loop along the path `chosen`, the blocks from the header on; by default the likeliest.

    `own` is the graph's `_first_location`.
    """
    places, loop = listing.places, found.loop
    blocks = graph.blocks
    path, indirect = (chosen, 0) if chosen is not None else _likeliest_path(graph, loop)
    body = [i for b in sorted(loop.body) for i in blocks[b].instructions]
    on_path = [i for b in path for i in blocks[b].instructions]

    notes = [_shape_note(listing, graph, found)] if found.shape != "innermost" else []
    forks = sum(_forks(graph, loop, b) for b in loop.body)
    if chosen is None and forks:
        notes.append(_fork_note(listing, graph, loop, path, forks))
    if indirect:
        notes.append(f"an indirect jump with {indirect} targets inside: analysed the first")
    notes += _exit_notes(listing, graph, found, path)
    notes += listing.notes(on_path)

    source = source_of(places, on_path, places[on_path[-1]].location, own)
    lines = lines_of(places, on_path)
    body_lines = lines_of(places, body)
    function = graph.functions[loop.header]
    cold_of_main = function != graph.name and function.startswith(graph.name + ".cold")
    if cold_of_main or not function:
        function = graph.name
    label = blocks[loop.header].label
    name = ":".join(filter(None, (function, label))) or f"line {min(lines)}"
    return Region(
        kind="loop",
        name=name,
        function=function,
        label=label,
        first_line=min(body_lines),
        last_line=max(body_lines),
        lines=lines,
        body_lines=body_lines,
        runs=_runs(places, graph, loop.body) if chosen is None else (),
        is_loop=True,
        shape=found.shape,
        depth=loop.depth,
        source=source,
        notes=tuple(notes), forks=forks,
    )  # fmt: skip


def _exit_notes(listing: InstructionFacts, graph: ControlFlow, found: FoundLoop, path: Sequence[int]) -> Sequence[str]:
    """Return a note on the exits from a loop if a path passes several."""
    blocks = graph.blocks
    # A conditional branch without a block to go to jumps out of the function, to another function's name.
    leaves = [
        b
        for b in path
        if (blocks[b].branch == "conditional" and not blocks[b].taken)
        or any(t not in found.whole for t in blocks[b].successors)
    ]
    if len(leaves) < 2:
        return ()
    where = line_list(listing.places[blocks[b].instructions[-1]].line for b in leaves)
    return (f"{len(leaves)} exits ({where}): analysed as if none were taken",)


def _runs(places: InstructionPlaces, graph: ControlFlow, body: Iterable[int]) -> tuple[tuple[str, int, int], ...]:
    """Return the function, the first and the last line of each run of blocks that follow each other in the layout."""
    runs: list[tuple[str, int, int]] = []
    before = -2
    for b in sorted(body):
        instructions, function = graph.blocks[b].instructions, graph.functions[b]
        first, last = places[instructions[0]].line, places[instructions[-1]].line
        if b == before + 1 and function == runs[-1][0]:
            runs[-1] = function, runs[-1][1], last
        else:
            runs.append((function, first, last))
        before = b
    return tuple(runs)


def _shape_note(listing: InstructionFacts, graph: ControlFlow, found: FoundLoop) -> str:
    """Return the note on a loop that is not simply an innermost one."""
    blocks, loop = graph.blocks, found.loop
    if found.shape == "irreducible":
        where = " and ".join(_entry_name(listing, graph, b) for b in found.entries if b != loop.header)
        return f"also entered at {where}, but each iteration passes its first instruction"
    off = line_list(listing.places[i].line for b in found.whole - loop.body for i in blocks[b].instructions)
    return f"only iterations that do not enter a loop inside, which is left out with the way to it ({off})"


def _entry_name(listing: InstructionFacts, graph: ControlFlow, block: int) -> str:
    return graph.blocks[block].label or f"line {listing.places[graph.blocks[block].instructions[0]].line}"


# The most blocks of a loop around another one that are looked at. Larger ones contain many loops.
_MOST_AROUND = 40


def _around(
    listing: InstructionFacts, graph: ControlFlow, outer: NaturalLoop | None, loop: NaturalLoop
) -> tuple[int, ...]:
    """Return the lines of the loop directly around another one that are outside of it; none for a large loop."""
    if outer is None or len(outer.body) > _MOST_AROUND:
        return ()
    return lines_of(listing.places, (i for b in sorted(outer.body - loop.body) for i in graph.blocks[b].instructions))


def _forks(graph: ControlFlow, loop: NaturalLoop, block: int) -> bool:
    """Return True if a block of a loop has several successors in the loop."""
    return sum(t in loop.body for t in graph.blocks[block].successors) > 1


def _fork_note(listing: InstructionFacts, graph: ControlFlow, loop: NaturalLoop, path: list[int], forks: int) -> str:
    """Return the note on the likeliest path through a loop with branches inside."""
    body = {i for b in loop.body for i in graph.blocks[b].instructions}
    off = sorted(body.difference(i for b in path for i in graph.blocks[b].instructions))
    branches = "1 branch" if forks == 1 else f"{forks} branches"
    if off:
        are = "instructions is" if len(off) == 1 else "instructions are"
        missing = f"{len(off)} of {len(body)} {are} not on it ({line_list(listing.places[i].line for i in off)})"
    else:
        sides = _sides(listing, graph, path, [b for b in path if _forks(graph, loop, b)])
        missing = f"no instruction is skipped ({sides})"
    return f"{branches} inside: analysed the likeliest path (backward branches taken, else fall-through); {missing}"


def _sides(listing: InstructionFacts, graph: ControlFlow, path: list[int], forks: list[int]) -> str:
    """Return the way that a path takes at some of its blocks: "line 12 not taken"."""
    following = dict(zip(path, [*path[1:], path[0]], strict=True))
    sides: dict[bool, list[int]] = {False: [], True: []}
    for b in forks:
        line = listing.places[graph.blocks[b].instructions[-1]].line
        sides[following[b] != graph.blocks[b].fall].append(line)
    words = [(sides[False], "not taken"), (sides[True], "taken")]
    return ", ".join(f"{line_list(lines)} {word}" for lines, word in words if lines)


def _with_neighbours(
    listing: InstructionFacts,
    graph: ControlFlow,
    natural: Sequence[NaturalLoop],
    inner: Sequence[tuple[Region, NaturalLoop]],
) -> list[Region]:
    """Return the regions of a graph's innermost loops with the ways of control between them."""
    number_of = {loop.header: number for number, (_, loop) in enumerate(inner)}
    ahead, behind = _reachable(graph, natural, number_of)
    enclosing = _enclosing(listing, graph, natural, number_of)
    of_line: dict[int, int] = {}
    for number, (region, _) in enumerate(inner):
        of_line[region.first_line] = of_line.get(region.first_line, 0) | 1 << number
    regions = []
    for number, (region, loop) in enumerate(inner):
        later = 0
        for b in loop.body:
            later |= ahead[b]
        lines = LineSet(of_line, later & ~(1 << number)), LineSet(of_line, behind[loop.header])
        regions.append(replace(region, neighbours=Neighbours(*lines, enclosing.get(loop.header, ()))))
    return regions


def _reachable(
    graph: ControlFlow, natural: Sequence[NaturalLoop], number_of: Mapping[int, int]
) -> tuple[list[int], list[int]]:
    """Return for each block the loops that may come after it, and those that always come before it.

    Sets of loops are the bits of a number. `number_of` are the numbers of loops by their headers. Around cycles without
    a header, not all ways are followed.
    """
    n = len(graph.blocks)
    back = {(latch, loop.header) for loop in natural for latch in loop.latches}
    forward = [[t for t in block.successors if (b, t) not in back] for b, block in enumerate(graph.blocks)]
    # A virtual entry, also to blocks without predecessors: landing pads, and code after unresolved jumps.
    reached = {t for successors in forward for t in successors}
    forward.append([b for b in range(n) if b in graph.entries or b not in reached])
    ahead = [0] * (n + 1)
    order = reverse_postorder(forward, n)
    for b in reversed(order):
        for t in forward[b]:
            ahead[b] |= ahead[t] | (1 << number_of[t] if t in number_of else 0)
    immediate = dominators(forward, n)
    behind = [0] * (n + 1)
    for b in order:
        if 0 <= (above := immediate[b]) != b:  # which comes earlier in this order
            behind[b] = behind[above] | (1 << number_of[above] if above in number_of else 0)
    return ahead, behind


_MOST_ENCLOSING = 100
"""The most loops around a loop whose places are noted."""


def _enclosing(
    listing: InstructionFacts, graph: ControlFlow, natural: Sequence[NaturalLoop], headers: Iterable[int]
) -> dict[int, tuple[SourceLocation, ...]]:
    """Return the places of the loops around the innermost loops with these headers, inner loops first."""
    by_header = {loop.header: loop for loop in natural}
    around: dict[int, tuple[SourceLocation, ...]] = {}
    for header in headers:
        places: list[SourceLocation] = []
        outer = by_header.get(by_header[header].outer)
        while outer is not None and len(places) < _MOST_ENCLOSING:
            if source := _place(listing, graph, outer):
                places.append(source)
            outer = by_header.get(outer.outer)
        around[header] = tuple(places)
    return around


def _place(listing: InstructionFacts, graph: ControlFlow, loop: NaturalLoop) -> SourceLocation | None:
    """Return the place of a loop, that of its last branch back."""
    return listing.places[graph.blocks[loop.latches[-1]].instructions[-1]].location


def _likeliest_path(graph: ControlFlow, loop: NaturalLoop) -> tuple[list[int], int]:
    """Return the blocks from the header back to it, and the number of targets of an indirect jump on the way, else 0.

    The path follows the layout of compilers: it stays in the loop, takes backward branches, and falls through other
    branches. It always returns to the header, because every block of an innermost loop is on a way to the header, and
    none repeats before the header does.
    """
    path: list[int] = []
    indirect = 0
    block = loop.header
    while True:
        path.append(block)
        inside = [t for t in graph.blocks[block].taken if t in loop.body]
        if graph.blocks[block].branch == "indirect" and len(inside) > 1:
            indirect = len(inside)
        block = _likeliest_next(graph, loop, block)
        if block == loop.header:
            return path, indirect


def _likeliest_next(graph: ControlFlow, loop: NaturalLoop, block: int) -> int:
    each_block = graph.blocks[block]
    inside = [t for t in each_block.taken if t in loop.body]
    backward = [t for t in inside if t <= block]
    if each_block.branch == "indirect" and len(inside) > 1:
        return inside[0]
    if backward:
        return backward[0]
    return each_block.fall if each_block.fall in loop.body else inside[0]


class LoopPath(msgspec.Struct, frozen=True):
    """One way through a loop, from its header back to it."""

    region: Region
    branches: tuple[tuple[int, bool], ...]
    """The line of each branch inside at which there is another way, and True if this way takes the branch."""
    probability: float
    """The probability of this way at all branches together."""
    cold: bool = False
    """True if the compiler placed a part of this way in a section for unlikely code, and the loop elsewhere."""


class LoopFinder:
    """The loops of some regions, by the lines of their instructions."""

    def __init__(self, graphs: Iterable[ControlFlow], listing: InstructionFacts, regions: Iterable[Region]) -> None:
        self.listing = listing
        self._loops: dict[frozenset[int], tuple[ControlFlow, FoundLoop, SourceLocation | None]] = {}
        first_lines = {min(region.body_lines) for region in regions if region.body_lines}
        places = listing.places
        for graph in graphs:
            # Finding loops takes longer than looking for the lines of one.
            if first_lines.isdisjoint([places[i].line for block in graph.blocks for i in block.instructions]):
                continue
            own = _first_location(listing, graph)
            for loop in analysed_loops(graph)[0]:
                body = (i for b in loop.loop.body for i in graph.blocks[b].instructions)
                self._loops.setdefault(frozenset([listing.places[i].line for i in body]), (graph, loop, own))

    def paths(self, region: Region, limit: int, first_side: float | None, sides: bool) -> tuple[list[LoopPath], bool]:
        """Return the ways through the loop of a region, as `incc.frontends.asm.regions.loop_paths` does."""
        loop = self._loops.get(frozenset(region.body_lines))
        return _paths_of(self.listing, *loop, limit, first_side, sides) if loop else ([], True)

    def shortest_and_longest(self, region: Region) -> list[LoopPath]:
        """Return the ways through the loop of a region with the fewest and with the most instructions.

        This is for loops with too many ways to look at all of them.
        """
        graph_and_loop = self._loops.get(frozenset(region.body_lines))
        if not graph_and_loop:
            return []
        graph, found, own = graph_and_loop
        loop = found.loop
        return [
            LoopPath(
                _region(self.listing, graph, found, own, path),
                _branches_on(self.listing, graph, loop, path),
                0.0,
                _is_cold(graph, loop, path),
            )
            for path in [_extreme(graph, loop, sign) for sign in (1, -1)]
        ]


def _paths_of(
    listing: InstructionFacts,
    graph: ControlFlow,
    found: FoundLoop,
    own: SourceLocation | None,
    limit: int,
    first_side: float | None,
    sides: bool,
) -> tuple[list[LoopPath], bool]:
    loop = found.loop
    paths: list[LoopPath] = []
    # Without inner cycles every way leads back to the header, so each path that is begun can be completed. Depth first,
    # first sides first. Paths share their common beginnings.
    begun: list[_Begun] = [_Begun(loop.header)]
    while begun:
        path = begun.pop()
        while path.before is None or path.block != loop.header:
            block = graph.blocks[path.block]
            following = [t for t in block.successors if t in loop.body]
            forks = len(following) > 1
            if forks and sides and path.forked:
                following, forks = [_likeliest_next(graph, loop, path.block)], False
            line = listing.places[block.instructions[-1]].line if forks else 0
            shares = _shares(len(following), first_side) if forks else [1.0]
            first, *others = [
                _Begun(t, path, line, t != block.fall, path.forked or forks, path.probability * share)
                for t, share in zip(following, shares, strict=True)
            ]
            begun += reversed(others)
            path = first
        if len(paths) == limit:
            return paths, False
        steps = path.steps()
        taken = [step.block for step in steps]
        branches = tuple([(step.line, step.taken) for step in steps if step.line])
        region = _region(listing, graph, found, own, taken[:-1])
        paths.append(LoopPath(region, branches, path.probability, _is_cold(graph, loop, taken)))
    return paths, True


class _Begun(msgspec.Struct, frozen=True):
    """A path from a loop's header that has come to a block."""

    block: int
    before: _Begun | None = None
    """The path up to the block before."""
    line: int = 0
    """The line of the branch there if there was a choice, else 0."""
    taken: bool = False
    forked: bool = False
    """There was a choice somewhere."""
    probability: float = 1.0

    def steps(self) -> list[_Begun]:
        """Return the paths up to each block, from the header on."""
        steps = []
        step: _Begun | None = self
        while step is not None:
            steps.append(step)
            step = step.before
        return steps[::-1]


def _is_cold(graph: ControlFlow, loop: NaturalLoop, path: Sequence[int]) -> bool:
    """Return True if a path leads through the cold part of the function that the loop's header is in."""
    if hot_part(graph.functions[loop.header]):
        return False
    return any(hot_part(graph.functions[block]) for block in path)


def _extreme(graph: ControlFlow, loop: NaturalLoop, sign: int) -> list[int]:
    """Return the blocks of the way from the header back to it with the fewest instructions (`sign` 1) or most (-1)."""
    # For each block the instructions times sign from it on, and the next block.
    left: dict[int, tuple[int, int]] = {}
    waiting = [loop.header]
    while waiting:
        block = waiting[-1]
        following = [t for t in graph.blocks[block].successors if t in loop.body]
        missing = [t for t in following if t != loop.header and t not in left]
        if missing:
            waiting += missing
            continue
        waiting.pop()
        own = sign * len(graph.blocks[block].instructions)
        left[block] = min((own + (0 if t == loop.header else left[t][0]), t) for t in following)
    path = [loop.header]
    while (following_block := left[path[-1]][1]) != loop.header:
        path.append(following_block)
    return path


def _branches_on(
    listing: InstructionFacts, graph: ControlFlow, loop: NaturalLoop, path: list[int]
) -> tuple[tuple[int, bool], ...]:
    """Return the line of each branch at which there is another way, and True if this way takes the branch."""
    return tuple(
        (listing.places[graph.blocks[b].instructions[-1]].line, following != graph.blocks[b].fall)
        for b, following in zip(path, [*path[1:], path[0]], strict=True)
        if _forks(graph, loop, b)
    )


def _shares(sides: int, first: float | None) -> list[float]:
    if first is None:
        return [1 / sides] * sides
    return [first, *([(1 - first) / (sides - 1)] * (sides - 1))]


def _irreducible(listing: InstructionFacts, graph: ControlFlow, cycle: IrreducibleCycle) -> LeftOut:
    lines = lines_of(listing.places, [i for b in sorted(cycle.nodes) for i in graph.blocks[b].instructions])
    entered = [_entry_name(listing, graph, b) for b in cycle.entries]
    where = ", ".join(entered[:-1]) + " and " + entered[-1] if len(entered) > 1 else "".join(entered)
    return LeftOut(
        first_line=min(lines), last_line=max(lines), function=graph.name, label=graph.blocks[min(cycle.entries)].label,
        reason=f"irreducible: entered at {where}, so no instruction begins every iteration",
    )  # fmt: skip


# --- common ----------------------------------------------------------------------------------------------------------


def lines_of(places: InstructionPlaces, instructions: Iterable[int]) -> tuple[int, ...]:
    """Return the lines of instructions in their order, each once."""
    return tuple(dict.fromkeys([places[i].line for i in instructions]))


def first_location(places: InstructionPlaces, instructions: Iterable[int]) -> SourceLocation | None:
    """Return the place in the source of the first instruction that has one."""
    return next((location for i in instructions if (location := places[i].location)), None)


def source_of(
    places: InstructionPlaces, members: Iterable[int], latch: SourceLocation | None, own: SourceLocation | None
) -> SourceLocation | None:
    """Return the place of a region in the source: that of its branch back, if it is in the function's own file.

    gcc and clang give the branch back the line of the `for` or `while`. If the branch was inlined from elsewhere (an
    iterator's `operator!=`), the result is the line with the most instructions. `own` is the `first_location` of the
    function.
    """
    if latch and own and own.file == latch.file:
        return latch
    count = Counter([location for i in members if (location := places[i].location)])
    return min(count, key=lambda location: (-count[location], location)) if count else None


_CALL_NOTE = re.compile(r"contains (an? .+), whose time is not counted")


def call_notes(callees: Iterable[str]) -> list[str]:
    """Return the notes on calls on a path to functions of these names, "" for indirect calls; see `noted_call`."""
    return [
        f"contains {f'a call to {name}' if name else 'an indirect call'}, whose time is not counted"
        for name in dict.fromkeys(callees)
    ]


def noted_call(note: str) -> str:
    """Return the call that a note of `call_notes` is about, such as "a call to exp"; "" for other notes."""
    match = _CALL_NOTE.fullmatch(note)
    return match[1] if match else ""
