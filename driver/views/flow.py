"""Control-flow graphs of functions in Graphviz's language: a node a basic block, edges back to a loop dashed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.driver.views.dot import quoted
from incc.frontends.asm.control_flow import control_flow, loops

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from incc.frontends.asm.control_flow import Block, ControlFlow
    from incc.frontends.asm.parse import Assembly
    from incc.frontends.kernel import Region


def render(assembly: Assembly, regions: Sequence[Region]) -> str:
    """A directed graph with one cluster for each function that one of the regions is in.

    Nodes are basic blocks with their lines and instructions, edges the ways between them, with the jump that goes along
    them; dashed edges close a natural loop. Blocks of innermost loops are bold.
    """
    lines = ["digraph control_flow {", '  node [shape=box, fontname="monospace", fontsize=10];']
    lines.append('  edge [fontname="monospace", fontsize=9];')
    wanted = {line for region in regions for line in region.body_lines}
    number = 0
    for graph in control_flow(assembly):
        if any(assembly.statements[i].line in wanted for block in graph.blocks for i in block.instructions):
            lines.append(f"  subgraph cluster_{number} {{")
            lines += (f"    {line}" for line in _cluster(assembly, graph, number))
            lines.append("  }")
            number += 1
    lines.append("}")
    return "\n".join(lines) + "\n"


def _cluster(assembly: Assembly, graph: ControlFlow, number: int) -> Iterator[str]:
    found, _ = loops([block.successors for block in graph.blocks], graph.entries)
    back = {(latch, loop.header) for loop in found for latch in loop.latches}
    inner = {block for loop in found if loop.innermost for block in loop.body}
    yield f"label={quoted(graph.name or 'text without a function')};"
    for n, block in enumerate(graph.blocks):
        style = ", style=bold" if n in inner else ""
        yield f"f{number}_b{n} [label={_label(assembly, block)}{style}];"
    for n, block in enumerate(graph.blocks):
        for to in block.successors:
            attributes = []
            if to in block.taken and block.instructions:
                jump = assembly.statements[block.instructions[-1]].text.split(maxsplit=1)[0]
                attributes.append(f"label={quoted(jump)}")
            if (n, to) in back:
                attributes.append("style=dashed")
            yield f"f{number}_b{n} -> f{number}_b{to}{' [' + ', '.join(attributes) + ']' if attributes else ''};"


def _label(assembly: Assembly, block: Block) -> str:
    """Title and instructions of a block, each on a line that ends in Graphviz's mark for adjusting to the left."""
    statements = [assembly.statements[i] for i in block.instructions]
    lines = [f"{statement.line}: {statement.text}" for statement in statements]
    if block.label:
        lines.insert(0, block.label + ":")
    return '"' + "".join(quoted(line)[1:-1] + "\\l" for line in lines) + '"'
