"""The code from which loops are entered: it says how their pointers are related (`incc.frontends.x86.entry`)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from incc.frontends.asm import control_flow as cfg
from incc.frontends.asm.regions import marker_statements

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from incc.frontends.asm.control_flow import ControlFlow
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import Region

# How far back it is looked for the definitions of pointers: further away they are seldom related.
_MOST_BLOCKS = 24
_MOST_INSTRUCTIONS = 200

_ATT_ADDRESS = re.compile(r"\(([^()]*)\)").search
_INTEL_ADDRESS = re.compile(r"\[([^\]]*)\]").search
# Statements that leave the general-purpose registers and the stack as they are, by a look at their text: most of what
# stands before vectorised loops, and decoding takes time.
_CHANGES_NOTHING = re.compile(r"(?:j|cmp(?!xchg)|test|nop|prefetch)|(?!v?pcmp[ei]str).*%[xyz]mm\d+$").match


class Before(NamedTuple):
    """What is executed before a loop begins.

    `lines[b]` are the 1-based lines of those instructions of block b, in order, that may write to general-purpose
    registers or to the stack; `predecessors[b]` the blocks from which it is
    entered, -1 for one that is not among these (the caller, or too far away). `entering` are the blocks from
    which control comes to the loop's first instruction the first time; there may be -1 among them too.
    """

    lines: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    entering: tuple[int, ...]


def code_before(assembly: Assembly, regions: Sequence[Region]) -> list[Before | None]:
    """For each region what comes before it; None where that cannot matter, since at most one pointer is used in it, and
    where it is no loop."""
    statements = assembly.statements
    wanted = {
        region.lines[0]: number
        for number, region in enumerate(regions)
        if region.is_loop and region.lines and region.kind != "file"
    }
    found: list[Before | None] = [None] * len(regions)
    if not wanted:
        return found
    text_of: dict[int, list[str]] = {}
    lines = {line for number in wanted.values() for line in regions[number].lines}
    for statement in statements:
        if statement.line in lines:
            text_of.setdefault(statement.line, []).append(statement.text)
    wanted = {
        line: number
        for line, number in wanted.items()
        if _uses_several_pointers(text for at in regions[number].lines for text in text_of.get(at, ()))
    }
    markers = marker_statements(assembly) if wanted else frozenset()
    for graph in cfg.control_flow(assembly) if wanted else ():
        predecessors: list[list[int]] | None = None
        for b, block in enumerate(graph.blocks):
            for position, i in enumerate(block.instructions):
                number = wanted.get(statements[i].line, -1)
                if number < 0 or found[number] is not None:
                    continue
                if predecessors is None:
                    predecessors = _predecessors(graph, markers)
                found[number] = _before(assembly, graph, predecessors, regions[number], b, position)
    return found


def _uses_several_pointers(texts: Iterable[str]) -> bool:
    """Whether memory is accessed through different registers. A first look at the text: decoding costs more."""
    first = ""
    for text in texts:
        match = _ATT_ADDRESS(text) or _INTEL_ADDRESS(text)
        if match is None:
            continue
        # Intel's syntax has the displacement inside.
        address = re.sub(r"[+-]\s*\w*\d+\s*$", "", match[1]).strip() if match[0][0] == "[" else match[1]
        if address in ("%rip", "rip", "%rsp", "rsp") or address == first:
            continue
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


def _before(
    assembly: Assembly, graph: ControlFlow, predecessors: list[list[int]], region: Region, first: int, position: int
) -> Before | None:
    statements = assembly.statements
    # A way back to the start that is not the one analysed may change what the pointers have in common.
    path = set(region.lines)

    def inside(b: int) -> bool:
        return b >= 0 and statements[graph.blocks[b].instructions[-1]].line in path

    blocks: list[int] = []
    code: list[tuple[int, ...]] = []
    instructions = 0
    if position:
        # Marked in the middle of a block: the rest of it comes before.
        entering = [-2]
        blocks, code = [first], [graph.blocks[first].instructions[:position]]
        waiting = [p for p in predecessors[first] if p >= 0]
    else:
        # A loop that is entered elsewhere comes to its first instruction from its last.
        entering = [p for p in predecessors[first] if not inside(p)] or predecessors[first]
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
        tuple(
            tuple(statements[i].line for i in members if not _CHANGES_NOTHING(statements[i].text)) for members in code
        ),
        tuple(tuple(number.get(p, -1) for p in predecessors[b]) or (-1,) for b in blocks),
        tuple(number.get(p, -1) for p in entering),
    )
