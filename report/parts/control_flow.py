"""The control flow of the analysed functions in the report: basic blocks and their successors."""

from __future__ import annotations

from collections.abc import Sequence

from incc.frontends.asm.control_flow import control_flow
from incc.frontends.asm.graph import ControlFlow, loops
from incc.frontends.asm.parse import Assembly
from incc.frontends.kernel import Region
from incc.report import types as t


def functions(assembly: Assembly, regions: Sequence[Region]) -> list[t.ControlFlowReport]:
    """Return the control-flow graph of each function that contains one of the regions."""
    wanted = {line for region in regions for line in region.body_lines}
    return [
        _function(assembly, graph)
        for graph in control_flow(assembly)
        if any(assembly.statements[i].line in wanted for block in graph.blocks for i in block.instructions)
    ]


def _function(assembly: Assembly, graph: ControlFlow) -> t.ControlFlowReport:
    regions, _ = loops([block.successors for block in graph.blocks], graph.entries)
    back = {(latch, loop.header) for loop in regions for latch in loop.latches}
    inner = {block for loop in regions if loop.innermost for block in loop.body}
    blocks: list[t.BlockReport] = []
    for number, block in enumerate(graph.blocks):
        statements = [assembly.statements[i] for i in block.instructions]
        jump = statements[-1].text.split(maxsplit=1)[0] if statements else ""
        blocks.append(
            t.BlockReport(
                label=block.label,
                instructions=[t.BlockInstruction(line=statement.line, text=statement.text) for statement in statements],
                in_innermost_loop=number in inner,
                successors=[
                    t.Successor(block=to, jump=jump if to in block.taken else "", closes_loop=(number, to) in back)
                    for to in block.successors
                ],
            )
        )
    return t.ControlFlowReport(function=graph.name, function_name=graph.name, blocks=blocks)
