"""The dependency graph of a kernel for networkx, and as GraphML for other programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.report import types as t

if TYPE_CHECKING:
    import networkx


def graph(kernel: t.KernelReport) -> networkx.MultiDiGraph[int]:
    """Return the graph of a kernel: nodes are the instructions by their index, edges the dependencies between them.

    A node has `text`, `line`, `form`, `ports`, `latency` (cycles), `critical_path` (whether it is on it), `cycles`
    (those of the critical path that it takes, 0 outside of it) and `lcd`: the number of the longest loop-carried
    dependency that it is in, from 0, or -1. An edge has `latency` in cycles, `distance` in iterations, `kind`
    ("register", "flag", "memory"), `via`, and `critical_path` and `lcd` alike. Attributes are numbers, texts and truth
    values only, so that every format of networkx can write them. The graph has `name`, `cycles` (the prediction),
    `critical_path` and `lcd`, in cycles (of the longest one, per iteration).
    """
    import networkx

    chains = kernel.chains
    made: networkx.MultiDiGraph[int] = networkx.MultiDiGraph(
        name=kernel.name,
        cycles=kernel.cycles,
        critical_path=kernel.critical_path.cycles,
        lcd=chains[0].cycles_per_iteration.cycles if chains else 0.0,
    )
    in_chain: dict[int, int] = {}
    for number, chain in reversed(list(enumerate(chains))):
        in_chain.update(dict.fromkeys(chain.instructions, number))
    for instruction in kernel.instructions:
        index, cycles = instruction.index, instruction.critical_path_cycles
        made.add_node(
            index,
            text=instruction.text,
            line=instruction.line,
            form=instruction.form,
            ports=instruction.ports,
            latency=instruction.latency,
            critical_path=cycles is not None,
            cycles=cycles or 0,
            lcd=in_chain.get(index, -1),
        )
    for edge in kernel.dependencies:
        made.add_edge(
            edge.producer,
            edge.to,
            latency=edge.latency,
            distance=edge.distance,
            kind=edge.kind,
            via=edge.via,
            critical_path=edge.critical_path,
            lcd=min(edge.chains, default=-1),
        )
    return made


def render(report: t.AnalysisReport) -> str:
    """Return all kernels of a report as one graph in GraphML.

    Nodes are named "kernel/instruction", by the kernel's number. A node also has the name of its `kernel` and its
    `unit`, and its `core` if there are several.
    """
    import networkx

    whole: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    number = 0
    several = len({unit.model.name for unit in report.units}) > 1
    for unit in report.units:
        for kernel in unit.kernels:
            own = graph(kernel)
            place = {"kernel": kernel.name, "unit": unit.source or unit.assembly_file}
            if several:
                place["core"] = unit.model.name
            for node, attributes in own.nodes(data=True):
                whole.add_node(f"{number}/{node}", **attributes, **place)
            for start, end, attributes in own.edges(data=True):
                whole.add_edge(f"{number}/{start}", f"{number}/{end}", **attributes)
            number += 1
    # Symbols may hold characters that XML has no way to write.
    for _, attributes in whole.nodes(data=True):
        for name, value in attributes.items():
            if isinstance(value, str):
                attributes[name] = "".join(c if c.isprintable() else "\ufffd" for c in value)
    return "\n".join(networkx.generate_graphml(whole)) + "\n"
