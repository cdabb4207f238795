"""The ways into and out of the innermost loops of a function."""

from __future__ import annotations

from collections.abc import Iterator, Set
from typing import Literal

import msgspec

from incc.frontends.asm.graph import ControlFlow

OUTSIDE = -1
"""The number of the block that stands for the code outside of a function."""


class ControlEdge(msgspec.Struct, frozen=True):
    """A way that control can take from one block to another."""

    source: int
    """The number of the block that it leaves; OUTSIDE for the entry of the function."""
    target: int
    """The number of the block that it enters; OUTSIDE for another function."""
    kind: Literal["fall", "jump", "table"]
    """fall: to the code behind; jump: by the direct jump at the end of the source; table: by an indirect jump."""


class NoProbes(Exception):
    """A loop that cannot have probes. The message says why."""


def edges(graph: ControlFlow) -> Iterator[ControlEdge]:
    """Yield all edges of a graph, with those from and to the outside as far as they are jumps or entries."""
    for number in graph.entries:
        yield ControlEdge(OUTSIDE, number, "fall")
    for number, block in enumerate(graph.blocks):
        if block.fall >= 0:
            yield ControlEdge(number, block.fall, "fall")
        kind: Literal["jump", "table"] = "table" if block.branch == "indirect" else "jump"
        for target in block.taken:
            yield ControlEdge(number, target, kind)
        if not block.taken and block.branch in ("conditional", "unconditional"):
            yield ControlEdge(number, OUTSIDE, "jump")


def ways(graph: ControlFlow, body: Set[int]) -> tuple[list[ControlEdge], list[ControlEdge]]:
    """Return the edges into and out of a loop. Raises NoProbes if a probe cannot be put on one of them."""
    into: list[ControlEdge] = []
    out: list[ControlEdge] = []
    leaving: set[int] = set()
    for edge in edges(graph):
        inside = edge.source in body
        if inside == (edge.target in body):
            continue
        (out if inside else into).append(edge)
        if not inside and edge.kind == "table":
            raise NoProbes("it is entered through a jump table")
        if inside and edge.kind == "table":
            leaving.add(edge.target)
    if any(graph.blocks[b].branch == "indirect" and not graph.blocks[b].taken for b in body):
        raise NoProbes("it has an indirect jump to unknown places")
    # A probe behind a jump table's label is right if only this loop goes there.
    if leaving and any(e.target in leaving and e.source not in body for e in edges(graph)):
        raise NoProbes("its jump table leads to code that is also reached from elsewhere")
    return into, out
