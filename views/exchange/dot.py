"""The dependency graph of each kernel in Graphviz's language: the critical path bold, loop-carried chains coloured."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from incc.report import types as t
from incc.support.text import written_out

# One colour a chain, longest first, repeated after the last: Okabe and Ito's palette, which colour-blind readers can
# tell apart, without its yellow, which is hard to see on white.
COLOURS = ("#d55e00", "#0072b2", "#009e73", "#cc79a7", "#56b4e9", "#e69f00")


def render(report: t.AnalysisReport) -> str:
    """Return a directed graph with one cluster for each kernel.

    Nodes are instructions (line and text), edges dependencies with what carries them and the latency in cycles. Edges
    of the critical path are bold, those into a later iteration dashed, those of a loop-carried chain in the chain's
    colour.
    """
    several = len({unit.model.name for unit in report.units}) > 1
    kernels = [(unit.model.name, kernel) for unit in report.units for kernel in unit.kernels]
    return digraph(
        "dependencies",
        (_cluster(number, kernel, f" on {core}" if several else "") for number, (core, kernel) in enumerate(kernels)),
    )


def digraph(name: str, clusters: Iterable[Iterable[str]]) -> str:
    """Return a directed graph of boxes, with the lines of its clusters."""
    lines = [
        f"digraph {name} {{",
        '  node [shape=box, fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=9];',
    ]
    for number, cluster in enumerate(clusters):
        lines += [f"  subgraph cluster_{number} {{", *(f"    {line}" for line in cluster), "  }"]
    return "\n".join([*lines, "}"]) + "\n"


def _cluster(number: int, kernel: t.KernelReport, core: str) -> Iterator[str]:
    source = kernel.source
    title = f"{source.file}:{source.line} {kernel.function}".rstrip() if source else kernel.name
    prediction = kernel.bounds.prediction
    # The fraction of a bound says more than its decimals; that of a simulated run does not.
    cycles = prediction.exact if prediction.by == "bounds" else f"{prediction.cycles:.2f}"
    yield f"label={quoted(f'{title}: {cycles} cycles per iteration{core}')};"
    for instruction in kernel.instructions:
        where = instruction.line or instruction.index
        attributes = {"label": f"{where}: {instruction.text}"}
        if instruction.unknown:
            attributes["label"] = f"X {attributes['label']}"
            attributes["style"] = "dotted"
        if instruction.critical_path_cycles is not None:
            attributes["style"] = "bold"
        colour = _colour(i for i, chain in enumerate(kernel.chains) if instruction.index in chain.instructions)
        if colour:
            attributes["color"] = colour
        yield f"{_node(number, instruction.index)} [{_attributes(attributes)}];"
    for edge in kernel.dependencies:
        attributes = {"label": f"{edge.via} {edge.latency}"}
        if edge.distance > 1:
            attributes["label"] += f" (+{edge.distance})"
        if edge.distance:
            attributes["style"] = "dashed"
            # Edges into a later iteration point upwards: they must not turn the order of the instructions round.
            attributes["constraint"] = "false"
        if edge.critical_path:
            attributes["style"] = "bold"
        colour = _colour(edge.chains)
        if colour:
            attributes["color"] = attributes["fontcolor"] = colour
        yield f"{_node(number, edge.producer)} -> {_node(number, edge.to)} [{_attributes(attributes)}];"


def _colour(chains: Iterable[int]) -> str:
    """Return the colour of the longest of the chains with these indices, nothing for none."""
    first = min(chains, default=None)
    return "" if first is None else COLOURS[first % len(COLOURS)]


def _node(kernel: int, instruction: int) -> str:
    return f"k{kernel}_i{instruction}"


def _attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{name}={quoted(value)}" for name, value in attributes.items())


def quoted(text: str) -> str:
    """Return a quoted string of the DOT language, in which a backslash starts an escape; labels have no tabs."""
    text = written_out(text).replace("\\", "\\\\").replace('"', '\\"').replace("\t", " ")
    return '"' + text.replace("\r", " ").replace("\n", "\\n") + '"'
