"""Control-flow graphs of functions in Graphviz's language: nodes are basic blocks, edges back to a loop are dashed."""

from __future__ import annotations

from collections.abc import Iterator

from incc.report import types as t
from incc.views.exchange.dot import digraph, quoted


def render(report: t.AnalysisReport) -> str:
    """Return a directed graph with one cluster for each function whose control flow the report has.

    Nodes are basic blocks with their lines and instructions, edges the ways between them, with the jump that goes along
    them; dashed edges close a natural loop. Blocks of innermost loops are bold.
    """
    # Of a source that was analysed for several cores once.
    units = {(u.folder, u.source, u.assembly_file, *u.command): u for u in reversed(report.units)}
    functions = [function for unit in reversed(units.values()) for function in unit.control_flow or ()]
    return digraph("control_flow", (_cluster(function, number) for number, function in enumerate(functions)))


def _cluster(function: t.ControlFlowReport, number: int) -> Iterator[str]:
    yield f"label={quoted(function.function_name or 'text without a function')};"
    for n, block in enumerate(function.blocks):
        style = ", style=bold" if block.in_innermost_loop else ""
        yield f"f{number}_b{n} [label={_label(block)}{style}];"
    for n, block in enumerate(function.blocks):
        for way in block.successors:
            attributes = [f"label={quoted(way.jump)}"] if way.jump else []
            if way.closes_loop:
                attributes.append("style=dashed")
            listed = f" [{', '.join(attributes)}]" if attributes else ""
            yield f"f{number}_b{n} -> f{number}_b{way.block}{listed};"


def _label(block: t.BlockReport) -> str:
    """Return title and instructions of a block, each on a line that ends in Graphviz's mark for left-justified text."""
    lines = [f"{instruction.line}: {instruction.text}" for instruction in block.instructions]
    if block.label:
        lines.insert(0, block.label + ":")
    return '"' + "".join(quoted(line)[1:-1] + "\\l" for line in lines) + '"'
