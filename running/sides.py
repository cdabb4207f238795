"""Registers that tell how often a side of a branch in a loop runs: it moves the register by the same step each time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.kernel import Instruction


class BranchSide(msgspec.Struct, frozen=True, kw_only=True):
    """A side of a branch that moves a register, which nothing else in the loop changes."""

    register: str
    bits: int
    """The bits of it that count: 32 or 64."""
    step: int
    line: int
    """The line of the assembly with the instruction that moves it."""


def counted_sides(
    graph: ControlFlow,
    header: int,
    body: Set[int],
    code: Mapping[int, Sequence[Instruction]],
    lost_at_call: frozenset[str],
) -> list[BranchSide]:
    """Return the sides of branches in a loop that move a register, at most one for each block.

    Args:
        graph: the function.
        header: the loop's first block.
        body: its blocks.
        code: the decoded instructions by their numbers in the graph, as far as their effects are known.
        lost_at_call: the registers that a call may change.
    """
    writers: dict[str, list[tuple[int, Instruction]]] = {}
    for block in sorted(body):
        for number in graph.blocks[block].instructions:
            if number not in code:
                return []
            for each in code[number]:
                written = {a.register.root for a in each.registers if a.write}
                for root in written | lost_at_call if each.branch == "call" else written:
                    writers.setdefault(root, []).append((block, each))
    sides: dict[int, BranchSide] = {}
    for root, writes in writers.items():
        block, move = writes[0]
        affine = move.affine
        if len(writes) > 1 or block in sides or affine is None or affine.target != root or affine.terms != ((root, 1),):
            continue
        access = next(a for a in move.registers if a.write and a.register.root == root)
        bits = access.register.width
        if (
            affine.constant
            and bits in (32, 64)
            and not access.conditional
            and _is_avoidable(graph, header, body, block)
        ):
            sides[block] = BranchSide(register=root, bits=bits, step=affine.constant, line=move.line)
    return list(sides.values())


def _is_avoidable(graph: ControlFlow, header: int, body: Set[int], block: int) -> bool:
    """Return True if an iteration may come back to the first block without passing a block."""
    seen: set[int] = {block}
    waiting = [header] if block != header else []
    while waiting:
        for successor in graph.blocks[waiting.pop()].successors:
            if successor == header:
                return True
            if successor in body and successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return False
