"""Innermost loops of control-flow graphs, as regions: the path that is analysed, and what a reader must know of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.graph import dominators, loops, reverse_postorder
from incc.frontends.kernel import LeftOut, LineSet, Neighbours, Region

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.frontends.asm.graph import Block, ControlFlow, IrreducibleCycle, Loop
    from incc.frontends.kernel import SourceLocation


class Place(Protocol):
    """Where an instruction stands: its 1-based line, and its place in the user's source if that is known."""

    @property
    def line(self) -> int: ...
    @property
    def location(self) -> SourceLocation | None: ...


class Listing(msgspec.Struct, frozen=True):
    """What regions say of the instructions of graphs: the place of each by its number, and `notes`: what some of them,
    on a path, hide (see `Region.notes`)."""

    places: Sequence[Place]
    notes: Callable[[Sequence[int]], list[str]]


def innermost(graphs: Iterable[ControlFlow], listing: Listing) -> tuple[list[Region], list[LeftOut]]:
    """The innermost natural loops of graphs, and the cycles that are none, both by their first lines."""
    regions: list[Region] = []
    left_out: list[LeftOut] = []
    for graph in graphs:
        natural, irreducible = loops([block.successors for block in graph.blocks], graph.entries)
        found = [(_region(listing, graph, loop), loop) for loop in natural if loop.innermost]
        regions += _with_neighbours(listing, graph, natural, found) if len(found) > 1 else [r for r, _ in found]
        left_out += [_irreducible(listing, graph, cycle) for cycle in irreducible if cycle.innermost]
    regions.sort(key=lambda region: region.first_line)
    left_out.sort(key=lambda span: span.first_line)
    return regions, left_out


def _region(listing: Listing, graph: ControlFlow, loop: Loop, chosen: list[int] | None = None) -> Region:
    """The loop along the path `chosen` (blocks from the header on), by default the likeliest."""
    places = listing.places
    blocks = graph.blocks
    header = blocks[loop.header]
    path, indirect = (chosen, 0) if chosen is not None else _likeliest_path(graph, loop)
    body = [i for b in sorted(loop.body) for i in blocks[b].instructions]
    on_path = [i for b in path for i in blocks[b].instructions]

    notes: list[str] = []
    forks = sum(len(loop.body.intersection(blocks[b].successors)) > 1 for b in loop.body)
    if chosen is None and forks:
        off = sorted(set(body).difference(on_path))
        branches = "1 branch" if forks == 1 else f"{forks} branches"
        at = [b for b in path if len(loop.body.intersection(blocks[b].successors)) > 1]
        missing = f"no instruction is skipped ({_sides(listing, graph, path, at)})"
        if off:
            missing = (
                f"1 of {len(body)} instructions is not on it"
                if len(off) == 1
                else f"{len(off)} of {len(body)} instructions are not on it"
            )
            missing += f" ({line_list(places[i].line for i in off)})"
        notes.append(
            f"{branches} inside: analysed the likeliest path (backward branches taken, else fall-through); {missing}"
        )
    if indirect:
        notes.append(f"an indirect jump with {indirect} targets inside: analysed the first")
    leaves = [b for b in path if any(s not in loop.body for s in blocks[b].successors) or _leaves(blocks[b])]
    if len(leaves) > 1:
        where = line_list(places[blocks[b].instructions[-1]].line for b in leaves)
        notes.append(f"{len(leaves)} exits ({where}): analysed as if none were taken")
    notes += listing.notes(on_path)

    source = source_of(places, on_path, places[on_path[-1]].location, (i for b in blocks for i in b.instructions))

    lines = lines_of(places, on_path)
    body_lines = lines_of(places, body)
    function = graph.functions[loop.header]
    cold_of_main = function != graph.name and function.startswith(graph.name + ".cold")
    if cold_of_main or not function:
        function = graph.name
    label = header.label
    name = ":".join(part for part in (function, label) if part) or f"line {min(lines)}"
    return Region(
        kind="loop",
        name=name,
        function=function,
        label=label,
        first_line=min(body_lines),
        last_line=max(body_lines),
        lines=lines,
        body_lines=body_lines,
        is_loop=True,
        depth=loop.depth,
        source=source,
        notes=tuple(notes), forks=forks,
    )  # fmt: skip


def _sides(listing: Listing, graph: ControlFlow, path: list[int], forks: list[int]) -> str:
    """Which way a path takes at some of its blocks: "line 12 not taken"."""
    following = dict(zip(path, [*path[1:], path[0]], strict=True))
    sides: dict[bool, list[int]] = {False: [], True: []}
    for b in forks:
        line = listing.places[graph.blocks[b].instructions[-1]].line
        sides[following[b] != graph.blocks[b].fall].append(line)
    words = [(sides[False], "not taken"), (sides[True], "taken")]
    return ", ".join(f"{line_list(lines)} {word}" for lines, word in words if lines)


def _with_neighbours(
    listing: Listing, graph: ControlFlow, natural: Sequence[Loop], found: Sequence[tuple[Region, Loop]]
) -> list[Region]:
    """The regions of a graph's innermost loops, each knowing how control gets from one to the other."""
    n = len(graph.blocks)
    back = {(latch, loop.header) for loop in natural for latch in loop.latches}
    forward = [[t for t in block.successors if (b, t) not in back] for b, block in enumerate(graph.blocks)]
    # A virtual entry, also for what nothing leads to: landing pads, and code behind jumps that are not resolved.
    reached = {t for successors in forward for t in successors}
    forward.append([b for b in range(n) if b in graph.entries or b not in reached])
    number_of = {loop.header: number for number, (_, loop) in enumerate(found)}
    # Sets of loops as the bits of numbers. Around cycles without a header, not all ways are followed.
    ahead = [0] * (n + 1)
    order = reverse_postorder(forward, n)
    for b in reversed(order):
        for t in forward[b]:
            ahead[b] |= ahead[t] | (1 << number_of[t] if t in number_of else 0)
    immediate = dominators(forward, n)
    behind = [0] * (n + 1)
    for b in order:
        if 0 <= (above := immediate[b]) != b:  # whose turn was before
            behind[b] = behind[above] | (1 << number_of[above] if above in number_of else 0)
    sources = [_latch_source(listing, graph, loop) for loop in natural]

    of_line: dict[int, int] = {}
    for number, (region, _) in enumerate(found):
        of_line[region.first_line] = of_line.get(region.first_line, 0) | 1 << number
    # Around the loop that a block is the header of there are few others, whatever the function has.
    around_block: dict[int, list[int]] = {}
    for at, other in enumerate(natural):
        if not other.innermost and sources[at]:
            for b in other.body:
                around_block.setdefault(b, []).append(at)
    regions = []
    for number, (region, loop) in enumerate(found):
        later = 0
        for b in loop.body:
            later |= ahead[b]
        around = [
            (len(natural[at].body), source)
            for at in around_block.get(loop.header, ())
            if natural[at].header != loop.header and (source := sources[at])
        ]
        enclosing = tuple([source for _, source in sorted(around)])
        lines = LineSet(of_line, later & ~(1 << number)), LineSet(of_line, behind[loop.header])
        regions.append(replace(region, neighbours=Neighbours(*lines, enclosing)))
    return regions


def _latch_source(listing: Listing, graph: ControlFlow, loop: Loop) -> SourceLocation | None:
    return listing.places[graph.blocks[loop.latches[-1]].instructions[-1]].location


def _likeliest_path(graph: ControlFlow, loop: Loop) -> tuple[list[int], int]:
    """The blocks from the header back to it, and the number of targets of an indirect jump on the way (0: none).

    Static prediction as compilers lay code out: stay in the loop; else take branches that go backward, and fall through
    the others. There is always a way on, since every block of an innermost loop lies on a way to its header, and none
    repeats before the header does.
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


def _likeliest_next(graph: ControlFlow, loop: Loop, block: int) -> int:
    each_block = graph.blocks[block]
    inside = [t for t in each_block.taken if t in loop.body]
    backward = [t for t in inside if t <= block]
    if each_block.branch == "indirect" and len(inside) > 1:
        return inside[0]
    if backward:
        return backward[0]
    return each_block.fall if each_block.fall in loop.body else inside[0]


class LoopPath(msgspec.Struct, frozen=True):
    """One way through a loop, from its header back to it.

    `branches` are the lines of the branches inside at which it could have gone another way, and whether it takes them;
    `probability` is that of going this way at all of these.
    """

    region: Region
    branches: tuple[tuple[int, bool], ...]
    probability: float


class LoopFinder:
    """The innermost loops that regions are, by the lines of their instructions: worked out once for all of a file."""

    def __init__(self, graphs: Iterable[ControlFlow], listing: Listing, regions: Iterable[Region]) -> None:
        self.listing = listing
        self._found: dict[frozenset[int], tuple[ControlFlow, Loop]] = {}
        wanted = {min(region.body_lines) for region in regions if region.body_lines}
        places = listing.places
        for graph in graphs:
            # Finding loops takes longer than looking whether there is one that is asked for.
            if wanted.isdisjoint([places[i].line for block in graph.blocks for i in block.instructions]):
                continue
            for loop in loops([block.successors for block in graph.blocks], graph.entries)[0]:
                if loop.innermost:
                    body = (i for b in loop.body for i in graph.blocks[b].instructions)
                    self._found.setdefault(frozenset([listing.places[i].line for i in body]), (graph, loop))

    def paths(self, region: Region, limit: int, first_side: float | None, sides: bool) -> tuple[list[LoopPath], bool]:
        """The ways through the innermost loop that `region` is, see `incc.frontends.asm.regions.loop_paths`."""
        found = self._found.get(frozenset(region.body_lines))
        return _paths_of(self.listing, *found, limit, first_side, sides) if found else ([], True)

    def shortest_and_longest(self, region: Region) -> list[LoopPath]:
        """The ways through the innermost loop that `region` is with the fewest and with the most instructions: where
        there are too many to look at all."""
        found = self._found.get(frozenset(region.body_lines))
        if not found:
            return []
        graph, loop = found
        return [
            LoopPath(_region(self.listing, graph, loop, path), _branches_on(self.listing, graph, loop, path), 0.0)
            for path in [_extreme(graph, loop, sign) for sign in (1, -1)]
        ]


def _paths_of(
    listing: Listing, graph: ControlFlow, loop: Loop, limit: int, first_side: float | None, sides: bool
) -> tuple[list[LoopPath], bool]:
    found: list[LoopPath] = []
    # Without inner cycles every way leads back to the header, so each path begun is one found. Depth first, first
    # sides first.
    begun: list[tuple[list[int], tuple[tuple[int, bool], ...], float]] = [([loop.header], (), 1.0)]
    while begun:
        path, branches, probability = begun.pop()
        while len(path) == 1 or path[-1] != loop.header:
            block = graph.blocks[path[-1]]
            following = [t for t in block.successors if t in loop.body]
            forks = len(following) > 1
            if forks and sides and branches:
                following, forks = [_likeliest_next(graph, loop, path[-1])], False
            if forks:
                line = listing.places[block.instructions[-1]].line
                shares = _shares(len(following), first_side)
                others = [
                    ([*path, t], (*branches, (line, t != block.fall)), probability * share)
                    for t, share in zip(following[1:], shares[1:], strict=True)
                ]
                begun += reversed(others)
                branches = (*branches, (line, following[0] != block.fall))
                probability *= shares[0]
            path = [*path, following[0]]
        if len(found) == limit:
            return found, False
        found.append(LoopPath(_region(listing, graph, loop, path[:-1]), branches, probability))
    return found, True


def _extreme(graph: ControlFlow, loop: Loop, sign: int) -> list[int]:
    """The blocks of the way from the header back to it with the fewest instructions (`sign` 1) or the most (-1)."""
    # Without inner cycles every block comes after those that lead to it; what is left from each is worked out once.
    left: dict[int, tuple[int, int]] = {}  # block: instructions times sign from it on, and the next block
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


def _branches_on(listing: Listing, graph: ControlFlow, loop: Loop, path: list[int]) -> tuple[tuple[int, bool], ...]:
    """The branches at which a way could have gone another way, and whether it takes them."""
    return tuple(
        (listing.places[graph.blocks[b].instructions[-1]].line, following != graph.blocks[b].fall)
        for b, following in zip(path, [*path[1:], path[0]], strict=True)
        if len(loop.body.intersection(graph.blocks[b].successors)) > 1
    )


def _shares(sides: int, first: float | None) -> list[float]:
    if first is None:
        return [1 / sides] * sides
    return [first, *([(1 - first) / (sides - 1)] * (sides - 1))]


def _leaves(block: Block) -> bool:
    """Whether a conditional branch jumps out of the function (to another function's name)."""
    return block.branch == "conditional" and not block.taken


def _irreducible(listing: Listing, graph: ControlFlow, cycle: IrreducibleCycle) -> LeftOut:
    lines = lines_of(listing.places, [i for b in sorted(cycle.nodes) for i in graph.blocks[b].instructions])
    entered = [graph.blocks[b].label or f"line {_first_line(listing, graph, b)}" for b in cycle.entries]
    where = ", ".join(entered[:-1]) + " and " + entered[-1] if len(entered) > 1 else "".join(entered)
    return LeftOut(
        first_line=min(lines), last_line=max(lines), function=graph.name, label=graph.blocks[min(cycle.entries)].label,
        reason=f"irreducible: entered at {where}, so no instruction begins every iteration",
    )  # fmt: skip


def _first_line(listing: Listing, graph: ControlFlow, block: int) -> int:
    return listing.places[graph.blocks[block].instructions[0]].line


# --- common ----------------------------------------------------------------------------------------------------------


def lines_of(places: Sequence[Place], instructions: Iterable[int]) -> tuple[int, ...]:
    """The lines of instructions in their order, a line with several once."""
    return tuple(dict.fromkeys([places[i].line for i in instructions]))


def line_list(lines: Iterable[int]) -> str:
    """ "line 4" or "lines 12-15, 20"."""
    spans: list[list[int]] = []
    for line in sorted(set(lines)):
        if spans and line == spans[-1][1] + 1:
            spans[-1][1] = line
        else:
            spans.append([line, line])
    text = ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in spans)
    return ("line " if len(spans) == 1 and spans[0][0] == spans[0][1] else "lines ") + text


def source_of(
    places: Sequence[Place], members: Iterable[int], latch: SourceLocation | None, function: Iterable[int]
) -> SourceLocation | None:
    """Where a region is in the source: where its branch back is, if that is in the function's own file.

    gcc and clang give the branch back the line of the `for` or `while`. Where it was inlined from elsewhere (an
    iterator's `operator!=`), the line with the most instructions says more.
    """
    if latch:
        own = next((location for i in function if (location := places[i].location)), None)
        if own and own.file == latch.file:
            return latch
    count: dict[SourceLocation, int] = {}
    for i in members:
        location = places[i].location
        if location:
            count[location] = count.get(location, 0) + 1
    return min(count, key=lambda location: (-count[location], location)) if count else None


def call_notes(callees: Iterable[str]) -> list[str]:
    """What a reader must know of calls on a path, to functions of these names ("": through memory or a register)."""
    return [
        f"contains a call to {name}: what it costs is not counted"
        if name
        else "contains an indirect call: what it costs is not counted"
        for name in dict.fromkeys(callees)
    ]
