"""The code from which loops are entered, which tells how their pointers are related (`KernelCode.entry`)."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.loops import InstructionPlaces
from incc.frontends.asm.parse import Assembly
from incc.frontends.asm.regions import marker_statements
from incc.frontends.isa import isa
from incc.frontends.kernel import PrecedingBlocks, Region

# The limits of the search for definitions of pointers. Further away they are seldom related.
_MOST_BLOCKS = 24
_MOST_INSTRUCTIONS = 200


def code_before(assembly: Assembly, regions: Sequence[Region]) -> list[PrecedingBlocks | None]:
    """Return the code before each region of an assembly text, as `before_loops` does."""
    keeps_pointers = isa(assembly.isa).keeps_pointers
    statements = assembly.statements
    return before_loops(
        regions,
        lambda: control_flow(assembly),
        statements,
        lambda i: keeps_pointers(statements[i].text),
        foreign=lambda: marker_statements(assembly).__contains__,
    )


def before_loops(
    regions: Sequence[Region],
    graphs: Callable[[], Iterable[ControlFlow]],
    places: InstructionPlaces,
    keeps_pointers: Callable[[int], object],
    address: Callable[[int], str] | None = None,
    foreign: Callable[[], Callable[[int], bool]] = lambda: lambda n: False,
) -> list[PrecedingBlocks | None]:
    """Return the code before each region, None for a region that is no loop.

    Args:
        regions: the regions.
        graphs: returns the control-flow graphs; called only if a loop needs them.
        places: the places of instructions.
        keeps_pointers: returns something true for an instruction that surely changes no pointer, to save decoding it.
        address: returns the parts of the address of a line's memory operand, "" for none. If given, the result is also
            None for a loop with a single pointer: its trip count is not needed, only the relation of pointers.
        foreign: returns a function that is true for instructions which do not run, such as padding, and for those of
            markers; called only if a loop needs it.
    """
    result: list[PrecedingBlocks | None] = [None] * len(regions)
    wanted: dict[int, list[int]] = {}  # several paths through a loop have the same start
    for number, region in enumerate(regions):
        if not region.is_loop or not region.lines or region.kind == "file":
            continue
        if address is None or _several(map(address, region.lines)):
            wanted.setdefault(region.lines[0], []).append(number)
    if not wanted:
        return result
    is_foreign = foreign()

    @cache  # a block may be before many loops
    def lines(members: tuple[int, ...]) -> tuple[int, ...]:
        return tuple([places[i].line for i in members if not keeps_pointers(i)])

    starts = sorted(wanted)
    for graph in graphs():
        predecessors: list[list[int]] | None = None
        for b, block in enumerate(graph.blocks):
            first, last = places[block.instructions[0]].line, places[block.instructions[-1]].line
            if bisect_left(starts, first) == bisect_right(starts, last):
                continue
            for position, i in enumerate(block.instructions):
                for number in wanted.pop(places[i].line, ()):
                    if predecessors is None:
                        predecessors = _predecessors(graph, is_foreign)
                    entered = _entered(graph, predecessors, places, regions[number], b, position)
                    result[number] = _before(graph, predecessors, lines, b, position, entered)
    return result


def _several(addresses: Iterable[str]) -> bool:
    """Return True if memory is accessed through different registers."""
    first = ""
    for address in addresses:
        if address and address != first:
            if first:
                return True
            first = address
    return False


def _predecessors(graph: ControlFlow, is_foreign: Callable[[int], bool]) -> list[list[int]]:
    """Return the predecessors of each block, with -1 for the caller.

    Markers before a loop that is entered elsewhere are not a way into it, nor is padding.
    """
    result: list[list[int]] = [[] for _ in graph.blocks]
    for b, block in enumerate(graph.blocks):
        for successor in block.successors:
            result[successor].append(b)
    for b in graph.entries:
        result[b].append(-1)
    for b, block in enumerate(graph.blocks):
        if not result[b] and all(map(is_foreign, block.instructions)):
            for successor in block.successors:
                result[successor].remove(b)
    return result


def _entered(
    graph: ControlFlow,
    predecessors: Sequence[Sequence[int]],
    places: InstructionPlaces,
    region: Region,
    first: int,
    position: int,
) -> Sequence[int]:
    """Return the blocks from which a loop that begins in block `first` is entered.

    If the loop begins in the middle of the block, this is the block itself, as -2.
    """
    if position:
        return (-2,)
    path = set(region.lines)
    # Another way back to the start than the one that is analysed may change the relation of pointers. A loop that is
    # entered elsewhere reaches its first instruction from its last.
    outside = [p for p in predecessors[first] if p < 0 or places[graph.blocks[p].instructions[-1]].line not in path]
    return outside or predecessors[first]


def _before(
    graph: ControlFlow,
    predecessors: Sequence[Sequence[int]],
    lines: Callable[[tuple[int, ...]], tuple[int, ...]],
    first: int,
    position: int,
    entering: Sequence[int],
) -> PrecedingBlocks:
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
    return PrecedingBlocks(
        tuple([lines(members) for members in code]),
        tuple([tuple([number.get(p, -1) for p in predecessors[b]]) or (-1,) for b in blocks]),
        tuple([number.get(p, -1) for p in entering]),
    )
