"""The register that tells how many iterations a loop has run: each iteration moves it by the same step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec
from msgspec.structs import replace

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.kernel import Instruction
from incc.running.edges import Edge


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A register that each iteration of a loop moves once."""

    root: str
    bits: int
    """The bits of it that count: 32 or 64."""
    step: int
    """The constant that an iteration adds, 0 if it is in a register."""
    step_root: str
    """The register that an iteration adds, which the loop does not change; "" for a constant."""
    block: int
    """The block that moves it."""


def moved_register(
    graph: ControlFlow,
    header: int,
    body: Set[int],
    code: Mapping[int, Sequence[Instruction]],
    not_kept: frozenset[str],
    out: Sequence[Edge],
) -> Moved | None:
    """Return the register from which the iterations of a loop can be computed, None if there is none.

    Args:
        graph: the function.
        header: the loop's first block.
        body: its blocks.
        code: the decoded instructions by their numbers in the graph, as far as their effects are known.
        not_kept: the registers that a call may change.
        out: the edges out of the loop.
    """
    writers: dict[str, list[tuple[int, Instruction]]] = {}
    leaving = {edge.source for edge in out}
    compared: set[str] = set()
    calls = False
    for block in body:
        for number in graph.blocks[block].instructions:
            if number not in code:
                return None
            for each in code[number]:
                calls = calls or each.branch == "call"
                written = {a.register.root for a in each.registers if a.write}
                for root in written:
                    writers.setdefault(root, []).append((block, each))
                if each.flags_written and not written and block in leaving:
                    compared.update(a.register.root for a in each.registers)
    lost = not_kept if calls else frozenset[str]()
    candidates = []
    for root, writes in writers.items():
        block = writes[0][0]
        # Several moves of unrolled iterations are one, if control leaves the loop before all of them or after all.
        if root not in lost and all(other == block for other, _ in writes):
            moved = _sum([_moved(root, block, instruction, {*writers, *lost}) for _, instruction in writes])
            # A sum of something that is the same each time may add 0, or overflow; what ends the loop does neither.
            if (
                moved
                and (not moved.step_root or root in compared)
                and _in_every_round(graph, header, body, block)
                and _is_clear(graph, header, body, block, out)
            ):
                candidates.append(moved)
    # Constant steps need no division, and 64 bits do not wrap around.
    return min(candidates, key=lambda m: (m.step_root != "", m.bits != 64, m.root), default=None)


def _sum(moves: Sequence[Moved | None]) -> Moved | None:
    """Return all moves of a register in a block as one; None if one of them is no move, or adds a register."""
    first = moves[0]
    if first is None or len(moves) == 1:
        return first
    step = 0
    for each in moves:
        if each is None or each.step_root or each.bits != first.bits:
            return None
        step += each.step
    return replace(first, step=step) if step else None


def _moved(root: str, block: int, i: Instruction, written: Set[str]) -> Moved | None:
    affine = i.affine
    if affine is None or affine.target != root or affine.scalable or (root, 1) not in affine.terms:
        return None
    access = next(a for a in i.registers if a.write and a.register.root == root)
    bits = access.register.width
    others = [term for term in affine.terms if term[0] != root]
    if bits not in (32, 64) or access.conditional:
        return None
    if not others and affine.constant:
        return Moved(root=root, bits=bits, step=affine.constant, step_root="", block=block)
    if len(others) == 1 and others[0][1] == 1 and not affine.constant and others[0][0] not in written and bits == 64:
        return Moved(root=root, bits=bits, step=0, step_root=others[0][0], block=block)
    return None


def is_unfinished(graph: ControlFlow, header: int, body: Set[int], moved: int, edge: Edge) -> bool:
    """Return True if control leaves a loop in an iteration that has not moved the register yet, but has done work."""
    return edge.source != header and edge.source != moved and not _passes(graph, header, body, moved, edge.source)


def _in_every_round(graph: ControlFlow, header: int, body: Set[int], block: int) -> bool:
    """Return True if each way from the header back to it passes a block."""
    if block == header:
        return True
    without = _reached(graph, header, body - {block})
    return not any(header in graph.blocks[b].successors for b in without)


def _is_clear(graph: ControlFlow, header: int, body: Set[int], block: int, out: Iterable[Edge]) -> bool:
    """Return True if at each exit it is certain whether the iteration has passed a block."""
    behind = _reached(graph, block, body - {header}) if block != header else set(body)
    without = _reached(graph, header, body - {block}) if block != header else set()
    return not any(e.source in behind and e.source in without for e in out)


def _passes(graph: ControlFlow, header: int, body: Set[int], block: int, place: int) -> bool:
    return block == header or place not in _reached(graph, header, body - {block})


def _reached(graph: ControlFlow, start: int, among: Set[int]) -> set[int]:
    """Return the blocks that are reached from a block inside of a set of blocks, with the start itself."""
    seen = {start}
    waiting = [start]
    while waiting:
        for successor in graph.blocks[waiting.pop()].successors:
            if successor in among and successor not in seen:
                seen.add(successor)
                waiting.append(successor)
    return seen
