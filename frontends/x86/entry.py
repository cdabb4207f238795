"""What is known of the registers when a loop is entered: which pointers lie a known number of bytes apart.

Each register's value is followed back through the code before the loop to where it comes from, as a linear combination
of values about which nothing is known. Where blocks meet, a register keeps its value if it is the same on all ways
(the construction of SSA form of Braun et al., CC 2013, with its removal of trivial φ functions); what differs is a new
unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.frontends.kernel import Affine
from incc.frontends.x86.kept import keep

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from incc.frontends.kernel import Before, Instruction

_POINTERS = frozenset(
    ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15")
)
# What a called function keeps (System V ABI for x86-64, 3.2.1; those that Windows keeps beyond are left out).
_NOT_KEPT = _POINTERS - frozenset(("rbx", "rbp", "rsp", "r12", "r13", "r14", "r15"))
_STACK = ("rsp", "rbp")

_MOST_TERMS = 8

# What is taken to be no more than a check of the size: counts are smaller.
_COUNT_BITS = 28

Value = tuple[tuple[tuple[str, int], ...], int]
"""(unknown, coefficient) pairs sorted by unknown, and a constant: their sum. All modulo 2^64."""


def entry_values(instructions: Sequence[Instruction], follower: Follower) -> tuple[Affine, ...]:
    """What the registers that the loop's addresses are made of hold when it is entered, where that says anything.

    `instructions` are the loop's. In the results, `terms` are (unknown, coefficient): an unknown is some value that
    does not change while the loop runs; the same name is the same value.
    """
    wanted = _address_registers(instructions)
    if len(wanted) < 2:
        return ()
    values = {root: follower.entering(root) for root in sorted(wanted)}
    # Of interest are constants, and what shares an unknown with another register.
    users: dict[str, int] = {}
    for terms, _ in values.values():
        for unknown, _ in terms:
            users[unknown] = users.get(unknown, 0) + 1
    return tuple(
        Affine(root, terms, constant)
        for root, (terms, constant) in values.items()
        if not terms or any(users[unknown] > 1 for unknown, _ in terms)
    )


def _address_registers(instructions: Sequence[Instruction]) -> set[str]:
    """The registers of addresses, and those from which they are computed linearly."""
    roots = {
        register.root
        for instruction in instructions
        for access in instruction.memory
        for register in (access.base, access.index)
        if register is not None and register.root in _POINTERS
    }
    grows = True
    while grows:
        grows = False
        for instruction in instructions:
            affine = instruction.affine
            if affine is not None and affine.target in roots:
                for root, _ in affine.terms:
                    if root not in roots:
                        roots.add(root)
                        grows = True
    return roots


class _Block:
    """The code of a block, and where in it each register is written and the stack stored to, the last place first."""

    def __init__(self, code: list[Instruction | None]) -> None:
        self.code = code
        self.writes: dict[str, list[int]] = {}
        self.stack_stores: list[int] = []
        for at in range(len(code) - 1, -1, -1):
            instruction = code[at]
            roots: Iterable[str]
            if instruction is None:
                roots = _POINTERS
                self.stack_stores.append(at)
            elif instruction.branch == "call":
                roots = _NOT_KEPT
            else:
                roots, stores = _EFFECTS.get(instruction.encoding) or _effects(instruction)
                if stores:
                    self.stack_stores.append(at)
            for root in roots:
                self.writes.setdefault(root, []).append(at)


_ROUNDS = frozenset(("shr", "sar", "and"))

_EFFECTS: dict[bytes, tuple[frozenset[str], bool]] = {}
"""By encoding: the registers written, and whether something near the stack or frame pointer is stored to."""


def _effects(instruction: Instruction) -> tuple[frozenset[str], bool]:
    roots = {access.register.root for access in instruction.registers if access.write}
    stores = any(
        access.store and access.base is not None and access.base.root in _STACK for access in instruction.memory
    )
    return keep(_EFFECTS, instruction.encoding, (frozenset(roots & _POINTERS), stores))


class Follower:
    """Values of registers and of stack slots at the ends of blocks, found on demand.

    A place is the name of a register, or that of a stack slot as "16(rsp)". `statement` returns the decoded
    instructions of a line, None where they are not known.
    """

    def __init__(self, before: Before, statement: Callable[[int], Sequence[Instruction] | None]) -> None:
        self._before = before
        self._blocks: list[_Block] = []
        # Slots whose address is in a register: other code can write to them.
        self._escaped: set[str] = set()
        for lines in before.lines:
            code: list[Instruction | None] = []
            previous = 0
            for line in lines:
                if line != previous:
                    found = statement(line)
                    code.extend((None,) if found is None else found)
                previous = line
            self._blocks.append(_Block(code))
            for i in code:
                if i is not None and i.mnemonic == "lea" and i.affine is not None and len(i.affine.terms) == 1:
                    self._escaped.add(f"{i.affine.constant}({i.affine.terms[0][0]})")
        # Unknowns that are a value divided by a number and rounded down.
        self.quotients: dict[str, tuple[Value, int]] = {}
        # Unknowns that come from memory, or from outside of the code that is followed.
        self.given: set[str] = set()
        self._optimistic = True
        self._forget()

    def _forget(self) -> None:
        self._at_start: dict[tuple[int, str], Value] = {}
        self._sums: dict[tuple[int, int], Value] = {}
        # What the unknown of a meeting turned out to be, the meetings at work, and what these are taken to be.
        self._same_as: dict[str, Value] = {}
        self._open: dict[str, None] = {}  # the outermost first
        self._assumed: dict[str, Value] = {}

    def entering(self, place: str) -> Value:
        value = self._meet(self._before.entering, place, f"{place} at the start")
        if any(self._resolved(_unknown(name)) != self._resolved(wanted) for name, wanted in self._assumed.items()):
            self._optimistic = False
            self._forget()
            value = self._meet(self._before.entering, place, f"{place} at the start")
        return self._resolved(value)

    def _resolved(self, value: Value) -> Value:
        terms, constant = value
        while len(terms) == 1 and terms[0][1] == 1 and constant == 0 and terms[0][0] in self._same_as:
            terms, constant = self._same_as[terms[0][0]]
        return terms, constant

    def _meet(self, blocks: Sequence[int], place: str, name: str) -> Value:
        """The value with which all these blocks end, else the unknown of that name.

        Ways that come from meetings at work bring their unknowns. If all others bring one value, it is assumed that
        those meetings will find the same, and if there are no others, that they will find the same as the outermost of
        them; `entering` checks that.
        """
        unknown = _unknown(name)
        values: set[Value] = set()
        pending: set[str] = set()
        for b in blocks:
            if b < 0:
                # Where other ways meet it, something may have become of it on these.
                if max(blocks) < 0:
                    self.given.add(name)
                return unknown
            value = self._resolved(self._at(b, len(self._blocks[b].code), place))
            if value == unknown:
                continue
            terms, constant = value
            if len(terms) == 1 and terms[0][1] == 1 and constant == 0 and terms[0][0] in self._open:
                pending.add(terms[0][0])
            else:
                values.add(value)
        if not values and pending:
            outermost = next(other for other in self._open if other in pending)
            pending.discard(outermost)
            values.add(_unknown(outermost))
        if len(values) != 1:
            return unknown
        value = values.pop()
        for other in pending:
            if not self._optimistic or self._assumed.setdefault(other, value) != value:
                return unknown
        return value

    def _start(self, b: int, place: str) -> Value:
        key = b, place
        if key not in self._at_start:
            name = f"{place} before block {b}"
            # Where blocks form a cycle, this is what the place holds on the way round.
            self._at_start[key] = _unknown(name)
            self._open[name] = None
            blocks = self._before.predecessors[b]
            if len(blocks) == 1 and blocks[0] >= 0:
                value = self._at(blocks[0], len(self._blocks[blocks[0]].code), place)
            else:
                value = self._meet(blocks, place, name)
            self._at_start[key] = value
            del self._open[name]
            if value != _unknown(name):
                self._same_as[name] = value
        return self._at_start[key]

    def _at(self, b: int, position: int, place: str) -> Value:
        """What the place holds before the instruction at `position` in block b."""
        if place[-1] == ")":
            return self._slot_at(b, position, place)
        block = self._blocks[b]
        for at in block.writes.get(place, ()):
            if at >= position:
                continue
            instruction = block.code[at]
            if instruction is not None and instruction.branch != "call":
                if instruction.affine is not None and instruction.affine.target == place:
                    return self._sum(b, at, instruction.affine)
                if instruction.mnemonic in _ROUNDS:
                    return self._rounded(b, at, place, instruction)
                slot = _slot(instruction)
                if slot and not instruction.memory[0].store and slot not in self._escaped:
                    return self._slot_at(b, at, slot)
                if instruction.mnemonic in ("mov", "movsxd") and instruction.operands == "rm":
                    self.given.add(f"{place} at {b}:{at}")
            return _unknown(f"{place} at {b}:{at}")
        return self._start(b, place)

    def _rounded(self, b: int, at: int, place: str, instruction: Instruction) -> Value:
        """What a shift to the right or a mask that clears lower bits leaves: a multiple of a new unknown, which is the
        same wherever the same value is divided by the same power of two."""
        opaque = _unknown(f"{place} at {b}:{at}")
        other = instruction.immediate
        source = place
        if instruction.operands == "rr" and instruction.mnemonic == "and":
            # One of the two is a constant that has no room in an instruction.
            sources = [a.register.root for a in instruction.registers if a.read]
            values = {root: self._resolved(self._at(b, at, root)) for root in sources}
            masks = [root for root, (terms, _) in values.items() if not terms]
            if len(values) != 2 or len(masks) != 1:
                return opaque
            other = values.pop(masks[0])[1]
            source = next(iter(values))
        elif instruction.operands != "ri":
            return opaque
        elif other is None:
            if instruction.immediate_bytes:
                return opaque
            other = 1  # which has an encoding of its own
        if instruction.registers[0].register.width < 32:
            return opaque
        if instruction.mnemonic == "and":
            width = (other & (2**64 - 1)).bit_length()
            shift = (other & -other).bit_length() - 1 if other else 0
            if not other or width < _COUNT_BITS or ((other & (2**64 - 1)) >> shift) + 1 != 1 << (width - shift):
                return opaque
            factor = 1 << shift
        else:
            shift, factor = other, 1
        value = self._resolved(self._at(b, at, source))
        if not shift:
            return value
        if shift >= _COUNT_BITS or not value[0]:
            return opaque
        terms, constant = value
        by = 1 << shift
        if constant % by == 0 and all(coefficient % by == 0 for _, coefficient in terms):
            return tuple((name, coefficient // by * factor) for name, coefficient in terms), constant // by * factor
        if len(terms) == 1 and terms[0][1] == 1 and constant == 0 and terms[0][0] in self.quotients:
            # Divided twice; a difference of pointers is first divided by what they point to, to a number of its own.
            inner, divisor = self.quotients[terms[0][0]]
            if len(inner[0]) == 1:
                value, by = inner, divisor * by
        name = f"{value} / {by}"
        self.quotients[name] = value, by
        return ((name, factor),), 0

    def _slot_at(self, b: int, position: int, place: str) -> Value:
        """What a stack slot holds: a pointer that was spilled, if its address is not taken.

        Compilers keep nothing else there that code with other addresses would write to.
        """
        displacement, _, base = place[:-1].partition("(")
        first = int(displacement)
        block = self._blocks[b]
        moved = next((at for at in block.writes.get(base, ()) if at < position), -1)
        for at in block.stack_stores:
            if at >= position:
                continue
            if at < moved:
                break
            instruction = block.code[at]
            if instruction is None:
                return _unknown(f"{place} at {b}:{at}")
            if _slot(instruction) == place:
                source = next(a.register.root for a in instruction.registers if a.operand == 1)
                terms, constant = self._at(b, at, source)
                # A constant is more likely what a variable begins with than a spilled pointer.
                return (terms, constant) if terms else _unknown(f"{place} at {b}:{at}")
            for access in instruction.memory:
                if (
                    access.store
                    and access.base is not None
                    and access.base.root == base
                    and (access.index is not None or access.displacement < first + 8)
                    and (access.index is not None or first < access.displacement + max(access.size, 1))
                ):
                    return _unknown(f"{place} at {b}:{at}")
        return self._start(b, place) if moved < 0 else _unknown(f"{place} at {b}:{moved}")

    def _sum(self, b: int, at: int, affine: Affine) -> Value:
        if (b, at) in self._sums:
            return self._sums[b, at]
        total: dict[str, int] = {}
        constant = affine.constant
        for root, coefficient in affine.terms:
            terms, addend = self._resolved(self._at(b, at, root))
            constant += coefficient * addend
            for unknown, factor in terms:
                total[unknown] = total.get(unknown, 0) + coefficient * factor
        terms = tuple(sorted((unknown, _signed(factor)) for unknown, factor in total.items() if _signed(factor)))
        if len(terms) > _MOST_TERMS:
            terms, constant = ((f"{affine.target} at {b}:{at}", 1),), 0
        value = self._sums[b, at] = terms, _signed(constant)
        return value


def _slot(instruction: Instruction) -> str:
    """The stack slot that a 64-bit move between memory and a register accesses, else ""."""
    if instruction.mnemonic != "mov" or instruction.operands not in ("rm", "mr") or len(instruction.memory) != 1:
        return ""
    access = instruction.memory[0]
    if access.index is not None or access.size != 8 or access.symbol or access.segment or access.base is None:
        return ""
    base = access.base.root
    return f"{access.displacement}({base})" if base in _STACK else ""


def _unknown(name: str) -> Value:
    return ((name, 1),), 0


def _signed(value: int) -> int:
    """The value modulo 2^64 as a signed number."""
    return (value + 2**63) % 2**64 - 2**63
