"""The probes of a loop: on which ways, and which registers they note."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from functools import cached_property

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.asm.loops import FoundLoop
from incc.frontends.asm.parse import Assembly
from incc.frontends.kernel import Instruction
from incc.running import x86
from incc.running.edges import ControlEdge, NoProbes, ways
from incc.running.induction import LoopCode, Place, RegisterOrSlot, counted, induction
from incc.running.liveness import FLAGS, Liveness
from incc.running.sides import BranchSide, counted_sides
from incc.running.stack import POINTER, Stack, stack_of


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
    sides: tuple[BranchSide, ...] = ()
    """The sides of branches that the first of the registers count."""


class Function:
    """A function with what is needed of it for all of its loops."""

    def __init__(
        self,
        assembly: Assembly,
        graph: ControlFlow,
        bodies: Iterable[Set[int]],
        by_line: Mapping[int, Sequence[Instruction]],
        opaque: Set[int],
    ) -> None:
        """Args: the file; a function; its loops' blocks; the instructions; the numbers of those beside data."""
        self.graph = graph
        loops_of = Counter(block for body in bodies for block in body)
        self.shared = frozenset(block for block, loops in loops_of.items() if loops > 1)
        """The blocks that are in several loops."""
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

    @cached_property
    def calls(self) -> bool:
        """True if it calls a function; compilers put no variables below the stack pointer then."""
        instructions = (each for code in self.code.values() for each in code)
        return any(each.branch == "call" and each.target not in _CALLED_BY_LEAVES for each in instructions)

    @cached_property
    def stack(self) -> Stack:
        """The way in which it addresses its stack."""
        return stack_of(self.graph, self.code)


_RELATIVE = re.compile(r"^(?:bnd |notrack )?(?:j|loop|call)\w*\s+[.$]\s*(?:[-+]|$)")
"""A branch by a distance from its own place, which a probe would change."""


_CALLED_BY_LEAVES = frozenset(("__fentry__", "mcount", "_mcount"))
"""Functions that are called before all others begin (`-pg`)."""


class ProbedEdge(msgspec.Struct, frozen=True):
    """A probe on an edge."""

    edge: ControlEdge
    enters: bool
    place: int
    """The number of the place (see `x86.RuntimeDescription`) that has the value which tells the iterations."""


class LoopPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The probes of a loop."""

    kernel: str
    loop: FoundLoop
    description: x86.RuntimeDescription
    read: frozenset[str]
    """The registers that its probes read."""
    is_counted: bool
    """The loop counts its iterations."""
    counter: RegisterOrSlot | None
    """The place of the count, None for the runtime's memory."""
    ways: tuple[ProbedEdge, ...]
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
    code = LoopCode(
        graph=graph,
        header=header,
        body=body,
        code=function.code,
        registers=x86.REGISTERS,
        stack=function.stack,
        into=into,
        out=out,
    )
    found = induction(code)
    counter = _counter(function, code) if found is None else None
    values = found or counted(code, counter)
    instructions = [i for n in code.numbers for i in function.code.get(n, ())]
    roots = dict.fromkeys(r.root for i in instructions for m in i.memory for r in (m.base, m.index) if r is not None)
    # Then those that addresses are moved by.
    roots |= dict.fromkeys(r for i in instructions if i.affine and i.affine.target in roots for r, _ in i.affine.terms)
    sides = counted_sides(graph, header, body, function.code, x86.REGISTERS.lost_at_call)[: x86.SIDES]
    roots = dict.fromkeys([*[side.register for side in sides], *roots])
    registers = tuple(root for root in roots if root in x86.REGISTERS.all)[: x86.VALUES]
    text = LoopDescription(unit=unit, kernel=kernel, registers=registers, counted=found is None, sides=tuple(sides))
    places = tuple(dict.fromkeys([Place(values.step_cell), *values.places.values()]))
    description = x86.RuntimeDescription(
        symbol=f".Lincc_loop{number}",
        text=json.dumps(msgspec.to_builtins(text)).encode(),
        bits=values.bits,
        step=values.step,
        step_sign=values.step_sign,
        places=places,
        registers=registers,
        side_bits=tuple(side.bits for side in sides),
    )
    last = header
    while last + 1 in body:
        last += 1
    probes = [ProbedEdge(edge, edge.target in body, places.index(place)) for edge, place in values.places.items()]
    return LoopPlan(
        kernel=kernel,
        loop=loop,
        description=description,
        read=frozenset({*registers, *values.roots}),
        is_counted=found is None,
        counter=counter,
        ways=tuple(probes),
        last=last,
    )


def _counter(function: Function, loop: LoopCode) -> RegisterOrSlot | None:
    """Return a register or a place on the stack in which a loop can count, None if there is none."""
    if any(number not in function.code for number in loop.numbers):
        return None
    instructions = [each for number in loop.numbers for each in function.code[number]]
    used = {access.register.root for each in instructions for access in each.registers}
    used = used.union(*(function.liveness.at_start[block] for block in loop.body))
    if any(each.branch == "call" for each in instructions) or not function.shared.isdisjoint(loop.body):
        return None
    # Registers that the function does not write may hold values of its callers.
    free = sorted(root for root in x86.REGISTERS.lost_at_call if root not in used and root in function.liveness.written)
    if free:
        return RegisterOrSlot(free[0])
    moves_stack = any(a.write and a.register.root == POINTER for each in instructions for a in each.registers)
    if moves_stack or FLAGS in function.liveness.at_start[loop.header] or not function.calls:
        return None
    return RegisterOrSlot(POINTER, True, -x86.RED_ZONE)
