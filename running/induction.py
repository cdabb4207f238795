"""The value that tells how many iterations a loop has run: each iteration moves it by the same step.

It is in a register, or in a variable on the stack. An iteration is followed from the loop's first block on: what each
register and variable holds is a sum of what some of them held at the start. So the value may be copied between
registers, and may be moved at different places on different ways. At each exit, another register may tell it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

import msgspec

from incc.frontends.asm.graph import ControlFlow
from incc.frontends.kernel import Instruction, MemoryAccess, Register
from incc.running.edges import ControlEdge
from incc.running.liveness import Registers
from incc.running.stack import POINTER, Stack


class RegisterOrSlot(msgspec.Struct, frozen=True, order=True):
    """A register, or a variable on the stack."""

    root: str
    """The register; for a variable the one that addresses it."""
    is_variable: bool = False
    displacement: int = 0
    """Bytes from the address in the register to the variable."""


class Place(msgspec.Struct, frozen=True):
    """The place where a probe finds the value, and its difference from the value at the start of the iteration."""

    cell: RegisterOrSlot | None
    """None for the count of a loop that counts its iterations in the runtime's memory."""
    offset: int = 0
    """The constant part of the difference."""
    steps: int = 0
    """The steps that are part of the difference, if the step is in a cell."""
    rounds: int = 0
    """1 if the iteration that is left here counts."""


class Induction(msgspec.Struct, frozen=True, kw_only=True):
    """The way to compute the iterations of a loop from a value that each iteration moves once."""

    bits: int
    """The bits of it that count: 32 or 64."""
    step: int
    """The constant that an iteration adds, 0 if it is in a cell."""
    step_cell: RegisterOrSlot | None
    """The cell that an iteration adds, which the loop does not change; None for a constant."""
    step_sign: int = 1
    """-1 if an iteration subtracts that cell."""
    places: dict[ControlEdge, Place]
    """By the edges into and out of the loop."""

    @property
    def roots(self) -> set[str]:
        """The registers that probes read."""
        cells = [self.step_cell, *[place.cell for place in self.places.values()]]
        return {cell.root for cell in cells if cell is not None}


class _Value(msgspec.Struct, frozen=True):
    """A sum modulo 2^bits of what cells held at the start of the iteration, and a constant."""

    terms: tuple[tuple[RegisterOrSlot, int], ...]
    constant: int
    bits: int


_State = dict[RegisterOrSlot, "_Value | None"]
"""The values of cells that have changed; None for an unknown value."""
_UNKNOWN = RegisterOrSlot("")
_MOVES = frozenset(("mov", "movsxd"))
_LEAST_BITS = 28
"""Bits of a number of iterations that surely suffice."""


class LoopCode(msgspec.Struct, frozen=True, kw_only=True):
    """A loop with what is needed to follow an iteration."""

    graph: ControlFlow
    header: int
    body: Set[int]
    code: Mapping[int, Sequence[Instruction]]
    """The decoded instructions by their numbers in the graph, as far as their effects are known."""
    registers: Registers
    stack: Stack
    into: Sequence[ControlEdge]
    out: Sequence[ControlEdge]

    @property
    def numbers(self) -> list[int]:
        """The numbers of its instructions."""
        return [number for block in sorted(self.body) for number in self.graph.blocks[block].instructions]

    def last_counts(self, edge: ControlEdge) -> int:
        """Return 1 if the iteration that leaves by an edge counts: all but those that leave from the first block."""
        return int(edge.source != self.header or len(self.body) == 1)


def induction(loop: LoopCode) -> Induction | None:
    """Return how the iterations of a loop can be computed, None if nothing in it tells them."""
    handing_over = loop.registers.handing_over
    if any(
        number not in loop.code or any(i.mnemonic in handing_over for i in loop.code[number]) for number in loop.numbers
    ):
        return None
    followed = _Followed(loop)
    candidates = [found for cell in followed.moved for found in [followed.candidate(cell)] if found is not None]
    return min(candidates, key=lambda pair: pair[0])[1] if candidates else None


def counted(loop: LoopCode, cell: RegisterOrSlot | None) -> Induction:
    """Return how the iterations follow from a count that the first block increases at its start, in a cell if any."""
    places = {edge: Place(cell, int(edge.target != loop.header)) for edge in loop.into}
    places |= {edge: Place(cell, 1, 0, loop.last_counts(edge)) for edge in loop.out}
    return Induction(bits=64, step=1, step_cell=None, places=places)


class _Followed:
    """An iteration of a loop, followed on all ways."""

    def __init__(self, loop: LoopCode) -> None:
        self._loop = loop
        self._slots = _slots(loop)
        self._starts: dict[int, _State] = {}
        self._ends: dict[int, _State] = {}
        self._compared: dict[int, set[RegisterOrSlot]] = {}
        """By the blocks at whose end there is an exit, the cells whose values decide where control goes."""
        leaving = {edge.source for edge in loop.out}
        entered = {edge.target for edge in loop.into} - {loop.header}
        order = self._order()
        before: dict[int, list[int]] = {block: [] for block in order}
        for block in order:
            for successor in loop.graph.blocks[block].successors:
                if successor in loop.body and successor != loop.header:
                    before[successor].append(block)
        for block in order:
            state = self._joined([self._ends[p] for p in before[block]])
            if block in entered:
                # Where control comes from outside, the value itself is all that is known.
                state = {cell: value if _is_moved(value, cell) else None for cell, value in state.items()}
            self._starts[block] = dict(state)
            decides: set[RegisterOrSlot] = set()
            for number in loop.graph.blocks[block].instructions:
                for each in loop.code[number]:
                    operands = self._operands(state, each)
                    self._apply(state, each)
                    if each.flags_written:
                        decides = operands | self._operands(state, each)
            self._ends[block] = state
            if block in leaving:
                self._compared[block] = decides
        latches = [block for block in loop.body if loop.header in loop.graph.blocks[block].successors]
        self._latches = [self._ends[block] for block in sorted(latches)]
        self.moved = sorted({cell for state in self._latches for cell in state})
        """The cells that an iteration may change."""

    def _order(self) -> list[int]:
        """Return the blocks, each behind those that come before it in an iteration."""
        blocks, header, body = self._loop.graph.blocks, self._loop.header, self._loop.body
        order: list[int] = []
        seen = {header}
        stack = [(header, iter(blocks[header].successors))]
        while stack:
            block, rest = stack[-1]
            following = next((b for b in rest if b in body and b not in seen), None)
            if following is None:
                order.append(block)
                stack.pop()
            else:
                seen.add(following)
                stack.append((following, iter(blocks[following].successors)))
        return order[::-1]

    # --- values ------------------------------------------------------------------------------------------------------

    @staticmethod
    def _of(state: _State, cell: RegisterOrSlot) -> _Value | None:
        return state.get(cell, _Value(((cell, 1),), 0, 64))

    def _joined(self, states: Sequence[_State]) -> _State:
        if len(states) == 1:
            return dict(states[0])
        result: _State = {}
        for cell in {cell for state in states for cell in state}:
            result[cell] = _same([self._of(state, cell) for state in states])
        return result

    def _sum(
        self, state: _State, terms: Iterable[tuple[RegisterOrSlot, int]], constant: int, bits: int
    ) -> _Value | None:
        total: dict[RegisterOrSlot, int] = {}
        for cell, factor in terms:
            value = self._of(state, cell)
            if value is None:
                return None
            bits = min(bits, value.bits)
            constant += factor * value.constant
            for origin, coefficient in value.terms:
                total[origin] = total.get(origin, 0) + factor * coefficient
        return _Value(tuple(sorted((c, n) for c, n in total.items() if n)), _signed(constant, bits), bits)

    def _operands(self, state: _State, i: Instruction) -> set[RegisterOrSlot]:
        """Return the cells on whose first values an instruction's operands depend, and _UNKNOWN for other values."""
        cells = [RegisterOrSlot(a.register.root) for a in i.registers if a.operand is not None and not a.address]
        cells += [self._slot(access) or _UNKNOWN for access in i.memory]
        values = [self._of(state, cell) for cell in cells]
        return {cell for value in values for cell, _ in (value.terms if value is not None else ((_UNKNOWN, 1),))}

    # --- instructions ------------------------------------------------------------------------------------------------

    def _slot(self, access: MemoryAccess) -> RegisterOrSlot | None:
        displacement = self._loop.stack.slot(access)
        return RegisterOrSlot(self._loop.stack.base, True, displacement) if displacement in self._slots else None

    def _apply(self, state: _State, i: Instruction) -> None:
        """Update the values by an instruction."""
        if i.branch == "call":
            state.update({RegisterOrSlot(root): None for root in self._loop.registers.lost_at_call})
            self._change_exposed(state)
            return
        changed: _State = {}
        for access in i.registers:
            register = access.register
            if access.write and register.kind == "general":
                is_whole = register.width >= 32 and not access.conditional
                changed[RegisterOrSlot(register.root)] = self._written(state, i, register) if is_whole else None
        for memory in i.memory:
            if memory.store:
                slot = self._slot(memory)
                if slot is not None:
                    changed[slot] = self._stored(state, i, slot, memory)
                elif self._loop.stack.slot(memory) is None:
                    self._change_exposed(state)
        state.update(changed)

    def _change_exposed(self, state: _State) -> None:
        base = self._loop.stack.base
        state.update({RegisterOrSlot(base, True, d): None for d in self._slots if d >= self._loop.stack.exposed})

    def _written(self, state: _State, i: Instruction, register: Register) -> _Value | None:
        """Return the value that an instruction writes to a register."""
        width = register.width
        if i.affine is not None and i.affine.target == register.root:
            roots = {root for root, _ in i.affine.terms}
            widths = [a.register.width for a in i.registers if a.read and a.register.root in roots]
            terms = [(RegisterOrSlot(root), factor) for root, factor in i.affine.terms]
            return self._sum(state, terms, i.affine.constant, min([width, *widths]))
        slot = self._slot(i.memory[0]) if i.mnemonic in _MOVES and len(i.memory) == 1 else None
        return self._sum(state, [(slot, 1)], 0, min(width, 8 * i.memory[0].size)) if slot is not None else None

    def _stored(self, state: _State, i: Instruction, slot: RegisterOrSlot, memory: MemoryAccess) -> _Value | None:
        """Return the value that an instruction stores into a variable."""
        bits = 8 * memory.size
        if i.affine is not None and not i.affine.target:
            terms = [(RegisterOrSlot(root), factor) for root, factor in i.affine.terms]
            return self._sum(state, [(slot, 1), *terms], i.affine.constant, bits)
        if i.mnemonic != "mov":
            return None
        if i.immediate is not None:
            return _Value((), i.immediate, bits)
        sources = [a.register.root for a in i.registers if a.read and not a.address]
        return self._sum(state, [(RegisterOrSlot(sources[0]), 1)], 0, bits) if len(sources) == 1 else None

    # --- candidates --------------------------------------------------------------------------------------------------

    def candidate(self, cell: RegisterOrSlot) -> tuple[tuple[object, ...], Induction] | None:
        """Return how the iterations follow from a cell and a key by which the best is the least, or None."""
        value = _same([self._of(state, cell) for state in self._latches])
        step = self._difference(value, cell)
        if value is None or step is None or value.bits < 32:
            return None
        constant, added, sign = step
        if (
            (added is None) == (constant == 0)
            or (constant and added)
            or (added is not None and not self._ends_by(cell))
        ):
            return None
        bits = value.bits
        places: dict[ControlEdge, Place] = {}
        for edge in (*self._loop.into, *self._loop.out):
            place = self._place(edge, cell, added, sign)
            if place is None:
                return None
            places[edge], of_place = place
            bits = min(bits, of_place)
        bits = 64 if bits >= 64 else 32
        enough = bits - (constant & -constant).bit_length() + 1
        is_compared = any(cell in cells for cells in self._compared.values())
        if (enough < _LEAST_BITS and not is_compared) or not _agree(places):
            return None
        key = (added is not None, cell.is_variable, -min(enough, 48), len(set(places.values())), cell)
        return key, Induction(bits=bits, step=constant, step_cell=added, step_sign=sign, places=places)

    def _ends_by(self, cell: RegisterOrSlot) -> bool:
        """Return True if a cell's value alone ends the loop.

        A sum of something that is the same each time may overflow, and what is added may be 0. But if the sum is
        compared to end the loop, it reaches the limit without an overflow, or at once.
        """
        changed = {_UNKNOWN, *(changed for state in self._ends.values() for changed in state)}
        return len(self._compared) == 1 and all(cells & changed == {cell} for cells in self._compared.values())

    def _difference(self, value: _Value | None, cell: RegisterOrSlot) -> tuple[int, RegisterOrSlot | None, int] | None:
        """Return by how much a value differs from what a cell held at first: a constant, and a multiple of a cell."""
        if value is None:
            return None
        terms = dict(value.terms)
        if terms.pop(cell, 0) != 1 or len(terms) > 1:
            return None
        for added, factor in terms.items():
            is_same = not any(added in state for state in self._ends.values())
            return (value.constant, added, factor) if is_same and added != RegisterOrSlot(POINTER) else None
        return value.constant, None, 1

    def _place(
        self, edge: ControlEdge, cell: RegisterOrSlot, added: RegisterOrSlot | None, sign: int
    ) -> tuple[Place, int] | None:
        """Return where an edge's probe finds a value, and how many bits of it there are."""
        enters = edge.target in self._loop.body
        state = self._starts[edge.target] if enters else self._ends[edge.source]
        # On a way in, other cells hold nothing of the loop.
        cells = [cell] if enters else sorted({cell, *state}, key=lambda c: (c != cell, c.is_variable, c))
        for each in cells:
            value = self._of(state, each)
            difference = self._difference(value, cell)
            if value is None or difference is None or value.bits < 32 or each == RegisterOrSlot(POINTER):
                continue
            constant, other, factor = difference
            if other is not None and other != added:
                continue
            steps = factor // sign if other is not None else 0
            return Place(each, constant, steps, 0 if enters else self._loop.last_counts(edge)), value.bits
        return None


def _is_moved(value: _Value | None, cell: RegisterOrSlot) -> bool:
    return value is not None and (cell, 1) in value.terms


def _same(values: Sequence[_Value | None]) -> _Value | None:
    """Return the value that several ways have in common, None if there is none."""
    first = values[0]
    for value in values[1:]:
        if first is None or value is None or value.terms != first.terms:
            return None
        bits = min(first.bits, value.bits)
        if _signed(first.constant - value.constant, bits):
            return None
        first = _Value(first.terms, _signed(first.constant, bits), bits)
    return first


def _agree(places: Mapping[ControlEdge, Place]) -> bool:
    """Return True if all edges to a target that share a probe (those of jump tables) have the same place."""
    shared: dict[int, Place] = {}
    return all(shared.setdefault(edge.target, p) == p for edge, p in places.items() if edge.kind == "table")


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _slots(loop: LoopCode) -> dict[int, int]:
    """Return the variables that a loop accesses only as a whole, with their sizes."""
    sizes: dict[int, int] = {}
    stored: set[tuple[int, int]] = set()
    arrays: float = float("inf")
    base = loop.stack.base
    for each in (i for number in loop.numbers for i in loop.code[number] if i.branch != "call"):
        if any(a.write and a.register.root in (base, POINTER) for a in each.registers):
            return {}
        for access in each.memory:
            displacement = loop.stack.slot(access)
            if displacement is not None and access.size:
                sizes[displacement] = max(sizes.get(displacement, 0), access.size)
                if access.store:
                    stored.add((displacement, access.size))
            elif access.store and access.base is not None and access.base.root in (base, POINTER):
                arrays = min(arrays, access.displacement if access.base.root == base and access.size else float("-inf"))

    def is_variable(at: int, size: int) -> bool:
        overlaps = any(other != at and other < at + size and at < other + more for other, more in sizes.items())
        return size in (4, 8) and not overlaps and all(more == size for other, more in stored if other == at)

    # Nothing tells where an array ends.
    return {at: size for at, size in sizes.items() if at < arrays and is_variable(at, size)}
