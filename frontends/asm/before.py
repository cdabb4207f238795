"""The code from which loops are entered: it says how their pointers are related (`Kernel.entry`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.regions import marker_statements
from incc.frontends.isa import isa
from incc.frontends.kernel import Before

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.frontends.asm.graph import ControlFlow
    from incc.frontends.asm.loops import Place
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import Region

# How far back it is looked for the definitions of pointers: further away they are seldom related.
_MOST_BLOCKS = 24
_MOST_INSTRUCTIONS = 200


def code_before(assembly: Assembly, regions: Sequence[Region]) -> list[Before | None]:
    """For each region of an assembly text what comes before it, see `before_loops`."""
    known = isa(assembly.isa)
    keeps_pointers = known.keeps_pointers
    statements = assembly.statements
    return before_loops(
        regions,
        lambda: control_flow(assembly),
        statements,
        lambda i: keeps_pointers(statements[i].text),
        markers=lambda: marker_statements(assembly),
    )


def before_loops(
    regions: Sequence[Region],
    graphs: Callable[[], Iterable[ControlFlow]],
    places: Sequence[Place],
    keeps_pointers: Callable[[int], object],
    address: Callable[[int], str] | None = None,
    markers: Callable[[], frozenset[int]] = frozenset,
) -> list[Before | None]:
    """For each region what comes before it; None where it is no loop.

    `keeps_pointers` says whether an instruction surely changes no pointer: decoding takes time. `address` says for a
    line what the address of its memory operand is made of, "" for what is no pointer; it is given by who only wants to
    know how pointers are related, not how often loops run, and gets None where at most one is used. `markers` are the
    instructions that are not the program's. `graphs` and `markers` are called only if there is a loop for which it
    matters.
    """
    found: list[Before | None] = [None] * len(regions)
    wanted = {
        region.lines[0]: number
        for number, region in enumerate(regions)
        if _may_matter(region) and (address is None or _several(map(address, region.lines)))
    }
    if not wanted:
        return found
    foreign = markers()
    for graph in graphs():
        predecessors: list[list[int]] | None = None
        for b, block in enumerate(graph.blocks):
            for position, i in enumerate(block.instructions):
                number = wanted.get(places[i].line, -1)
                if number < 0 or found[number] is not None:
                    continue
                if predecessors is None:
                    predecessors = _predecessors(graph, foreign)
                entered = _entered(graph, predecessors, places, regions[number], b, position)
                found[number] = _before(graph, predecessors, places, keeps_pointers, b, position, entered)
    return found


def _may_matter(region: Region) -> bool:
    return region.is_loop and bool(region.lines) and region.kind != "file"


def _several(addresses: Iterable[str]) -> bool:
    """Whether memory is accessed through different registers."""
    first = ""
    for address in addresses:
        if address and address != first:
            if first:
                return True
            first = address
    return False


def _predecessors(graph: ControlFlow, markers: frozenset[int]) -> list[list[int]]:
    """By block; -1 for the caller. Markers before a loop that is entered elsewhere are no way into it."""
    result: list[list[int]] = [[] for _ in graph.blocks]
    for b, block in enumerate(graph.blocks):
        for successor in block.successors:
            result[successor].append(b)
    for b in graph.entries:
        result[b].append(-1)
    for b, block in enumerate(graph.blocks):
        if not result[b] and markers.issuperset(block.instructions):
            for successor in block.successors:
                result[successor].remove(b)
    return result


def _entered(
    graph: ControlFlow,
    predecessors: Sequence[Sequence[int]],
    places: Sequence[Place],
    region: Region,
    first: int,
    position: int,
) -> Sequence[int]:
    """The blocks from which a loop that begins in block `first` is entered; the block itself, as -2, if it begins in
    the middle of it."""
    if position:
        return (-2,)
    path = set(region.lines)
    # A way back to the start that is not the one analysed may change what the pointers have in common. A loop that is
    # entered elsewhere comes to its first instruction from its last.
    outside = [p for p in predecessors[first] if p < 0 or places[graph.blocks[p].instructions[-1]].line not in path]
    return outside or predecessors[first]


def _before(
    graph: ControlFlow,
    predecessors: Sequence[Sequence[int]],
    places: Sequence[Place],
    keeps_pointers: Callable[[int], object],
    first: int,
    position: int,
    entering: Sequence[int],
) -> Before:
    blocks: list[int] = []
    code: list[tuple[int, ...]] = []
    instructions = 0
    if position:
        # Marked in the middle of a block: the rest of it comes before.
        blocks, code = [first], [graph.blocks[first].instructions[:position]]
        waiting = [p for p in predecessors[first] if p >= 0]
    else:
        waiting = [p for p in entering if p >= 0]
    number: dict[int, int] = {-2: 0}
    while waiting and len(blocks) < _MOST_BLOCKS and instructions < _MOST_INSTRUCTIONS:
        b = waiting.pop(0)
        if b in number:
            continue
        number[b] = len(blocks)
        blocks.append(b)
        code.append(graph.blocks[b].instructions)
        instructions += len(code[-1])
        waiting += [p for p in predecessors[b] if p >= 0]
    return Before(
        tuple([tuple([places[i].line for i in members if not keeps_pointers(i)]) for members in code]),
        tuple([tuple([number.get(p, -1) for p in predecessors[b]]) or (-1,) for b in blocks]),
        tuple([number.get(p, -1) for p in entering]),
    )
