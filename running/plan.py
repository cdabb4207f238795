"""The probes of a loop: on which ways, and which registers they note."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence, Set
from functools import cached_property

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.loops import FoundLoop
from incc.frontends.asm.parse import Assembly
from incc.frontends.kernel import Instruction
from incc.running import x86
from incc.running.edges import Edge, NoProbes, ways
from incc.running.induction import is_unfinished, moved_register
from incc.running.liveness import Liveness
from incc.running.sides import Side, counted_sides


class LoopDescription(msgspec.Struct, frozen=True, kw_only=True):
    """A loop's description in the program, by which its records find the loop's report."""

    unit: str
    """The key of its unit (see `incc.running.units`)."""
    kernel: str
    """Its identity in the report of the unit."""
    registers: tuple[str, ...]
    """The registers whose values a sample keeps, in their order."""
    counted: bool
    """The loop counts its iterations, which costs time in each."""
    sides: tuple[Side, ...] = ()
    """The sides of branches that the first of the registers count."""


class Function:
    """A function with what is needed of it for all of its loops."""

    def __init__(
        self, assembly: Assembly, graph: ControlFlow, by_line: Mapping[int, Sequence[Instruction]], opaque: Set[int]
    ) -> None:
        self.graph = graph
        self.code: dict[int, Sequence[Instruction]] = {}
        """The decoded instructions by their numbers in the graph, as far as their effects are known."""
        block_of: dict[int, int] = {}
        for number, block in enumerate(graph.blocks):
            for instruction in block.instructions:
                statement = assembly.statements[instruction]
                is_first = statement.line not in block_of
                if block_of.setdefault(statement.line, number) != number:
                    raise NoProbes("its function has code on both sides of a branch on one line")
                if block.branch and _RELATIVE.search(statement.text):
                    raise NoProbes(f"its function has a jump by a distance (line {statement.line})")
                if statement.line in by_line and instruction not in opaque:
                    self.code[instruction] = by_line[statement.line] if is_first else ()

    @cached_property
    def liveness(self) -> Liveness:
        """The live registers."""
        return Liveness(self.graph, self.code, x86.REGISTERS)


_RELATIVE = re.compile(r"^(?:bnd |notrack )?(?:j|loop|call)\w*\s+[.$]\s*(?:[-+]|$)")
"""A branch by a distance from its own place, which a probe would change."""


class Way(msgspec.Struct, frozen=True):
    """A probe on an edge."""

    edge: Edge
    enters: bool
    unfinished: bool = False


class LoopPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of a loop."""

    kernel: str
    loop: FoundLoop
    description: x86.Description
    ways: tuple[Way, ...]
    last: int
    """The block behind which the probes of jumps are put."""


def plan_probes(function: Function, loop: FoundLoop, kernel: str, number: int, unit: str) -> LoopPlan:
    """Return the probes of a loop. Raises NoProbes.

    Args:
        function: the function.
        loop: the loop.
        kernel: its identity.
        number: its number in the text.
        unit: the key of the unit.
    """
    graph, header, body = function.graph, loop.loop.header, loop.loop.body
    into, out = ways(graph, body)
    if not into or not out:
        raise NoProbes("it has no way in" if out else "it has no way out")
    moved = moved_register(graph, header, body, function.code, x86.NOT_KEPT, out)
    numbers = [n for b in sorted(body) for n in graph.blocks[b].instructions]
    instructions = [i for n in numbers for i in function.code.get(n, ())]
    roots = dict.fromkeys(r.root for i in instructions for m in i.memory for r in (m.base, m.index) if r is not None)
    sides = counted_sides(graph, header, body, function.code, x86.NOT_KEPT)[: x86.SIDES]
    roots = dict.fromkeys([*[side.register for side in sides], *roots])
    registers = tuple(root for root in roots if root in x86.REGISTERS.all)[: x86.VALUES]
    text = LoopDescription(unit=unit, kernel=kernel, registers=registers, counted=moved is None, sides=tuple(sides))
    description = x86.Description(
        symbol=f".Lincc_loop{number}",
        text=json.dumps(msgspec.to_builtins(text)).encode(),
        moved=moved.root if moved else "",
        bits=moved.bits if moved else 64,
        step=moved.step if moved else 0,
        step_register=moved.step_root if moved else "",
        registers=registers,
        side_bits=tuple(side.bits for side in sides),
    )
    last = header
    while last + 1 in body:
        last += 1
    probes = [Way(edge, enters=True) for edge in into]
    for edge in out:
        unfinished = moved is not None and is_unfinished(graph, header, body, moved.block, edge)
        probes.append(Way(edge, enters=False, unfinished=unfinished))
    return LoopPlan(kernel=kernel, loop=loop, description=description, ways=tuple(probes), last=last)
