"""The registers and flags whose values are still needed at a place in a function."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.kernel import Instruction

FLAGS = "flags"
"""Stands for any of the flags."""


class Registers(msgspec.Struct, frozen=True, kw_only=True):
    """The general-purpose registers of an instruction set, as far as probes need them."""

    all: frozenset[str]
    """Their roots."""
    lost_at_return: frozenset[str]
    """Those of which a caller does not need the values that they have at a return."""
    lost_at_call: frozenset[str]
    """Those that a call may change: these, and those with results."""
    handing_over: frozenset[str]
    """The mnemonics of instructions that enter the kernel or a debugger, which may read any register."""


class Liveness:
    """The live registers of a function."""

    def __init__(self, graph: ControlFlow, code: Mapping[int, Sequence[Instruction]], registers: Registers) -> None:
        """Args: a graph; the decoded instructions by their numbers in it; the registers of the instruction set.

        Instructions without a decoded one may read everything.
        """
        self._everything = registers.all | {FLAGS}
        self._handing_over = registers.handing_over
        at_end = registers.all - registers.lost_at_return
        uses, kills = [], []
        for block in graph.blocks:
            live: set[str] = set()
            dead: set[str] = set()
            # Upwards: what a block needs of the values before it, and what it overwrites.
            for number in reversed(block.instructions):
                if number not in code:
                    live = set(self._everything)
                for each in reversed(code.get(number, ())):
                    read, written = self._effects(each, registers.all)
                    live = (live - written) | read
                    dead |= written
            uses.append(live)
            kills.append(dead)
        self.at_start: list[set[str]] = [set() for _ in graph.blocks]
        """By block the registers that are live where it begins."""
        self.written = {
            root
            for block in graph.blocks
            for number in block.instructions
            for each in code.get(number, ())
            for root in self._effects(each, registers.all)[1]
        }
        """The registers that the function writes somewhere.

        Compilers may know of a function that it leaves others alone, and keep values in them.
        """
        leaves = [at_end if block.branch == "return" else self._everything - {FLAGS} for block in graph.blocks]
        changed = True
        while changed:
            changed = False
            for number in range(len(graph.blocks) - 1, -1, -1):
                block = graph.blocks[number]
                behind: set[str] = set().union(*(self.at_start[s] for s in block.successors))
                if not block.successors or (block.branch in ("conditional", "indirect") and not block.taken):
                    behind = behind | leaves[number]
                live = uses[number] | (behind - kills[number])
                if live != self.at_start[number]:
                    self.at_start[number] = live
                    changed = True

    def _effects(self, i: Instruction, roots: frozenset[str]) -> tuple[set[str], set[str]]:
        """Return what an instruction reads and what it overwrites as a whole."""
        if i.branch == "call":
            # The called function may need any register, and may be known to leave any alone.
            return set(roots), {FLAGS}
        if i.mnemonic in self._handing_over:
            return set(self._everything), set()
        read = {a.register.root for a in i.registers if a.read or a.merges or a.conditional}
        for access in i.memory:
            read.update(r.root for r in (access.base, access.index) if r is not None)
        written = {a.register.root for a in i.registers if a.write and a.register.width >= 32} - read
        read, written = read & roots, written & roots
        # A repeated comparison of nothing leaves the flags alone.
        if i.flags_read or (i.flags_written and not i.traits.isdisjoint(("rep", "repne"))):
            read.add(FLAGS)
        elif set("CAPZSO") <= set(i.flags_written) or set("CPZSO") <= set(i.flags_written):
            written.add(FLAGS)
        return read, written
