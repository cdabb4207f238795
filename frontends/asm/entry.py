"""The values of registers when a loop is entered: which pointers are a constant number of bytes apart.

Each register's value is followed back through the code before the loop, and expressed as a linear combination of
unknown values. Where blocks meet, a register keeps its value if it is the same on all ways (the construction of SSA
form of Braun et al., CC 2013, with its removal of trivial φ functions). Where a loop around changes it by the same
value in each round, it is the value before that loop and an unknown that is the same for all registers which change by
that value, such as pointers to the rows of an array. Otherwise it becomes a new unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import VECTOR_LENGTH, Affine, Entry, Instruction, Origin, PrecedingBlocks, Value


class Convention(msgspec.Struct, frozen=True, kw_only=True):
    """The general-purpose registers of an instruction set, and its instructions on them."""

    pointers: frozenset[str]
    """The registers that may hold pointers, by their roots."""
    not_kept: frozenset[str]
    """Those that a called function may change."""
    stack: tuple[str, ...]
    """The stack pointer and the frame pointer."""
    loads: frozenset[str]
    """The mnemonics that load a number of 32 or 64 bits."""
    moves: frozenset[str]
    """The mnemonics that load or store a register of 64 bits."""
    rounds: frozenset[str]
    """Shifts to the right, and the mask."""
    mask: str
    """The mnemonic that clears bits."""
    products: frozenset[str]
    """Multiplications, also with an addition."""
    counts: frozenset[str]
    """Additions and subtractions that set flags."""
    compare: str
    """The mnemonic that compares two numbers."""
    test: str
    """The mnemonic that compares bits with 0."""
    of_elements: frozenset[str]
    """The mnemonics that compare a number with another, for each element of a vector."""
    until_equal: frozenset[str]
    """Branches back that are taken until two values are equal, or a value is 0."""
    while_less: frozenset[str]
    """Branches back that are taken while one value is below the other."""


_MOST_TERMS = 8

_MOST_STEPS = 100
"""Steps back from a loop after which a value is not followed further."""

_LONGEST_NAME = 400
"""The length of an unknown's name, above which the name does not tell what it is the product of."""

# A mask of at least this many bits is assumed to keep all bits above its lowest: counts have fewer bits.
_COUNT_BITS = 28


def entry_of(instructions: Sequence[Instruction], follower: Follower | None, start: int = 0) -> Entry:
    """Return the values of a loop's address registers when it is entered, with the origins of what is unknown in them.

    The `terms` of values are (unknown, coefficient). An unknown is some value that does not change while the loop runs;
    equal names are equal values. The addresses of origins are offsets of instructions plus `start`.
    """
    if follower is None:
        return Entry()
    registers = _address_registers(instructions, follower.convention.pointers)
    entering = {root: follower.entering(root) for root in sorted(registers)}
    values = [Affine(root, terms, constant) for root, (terms, constant) in entering.items()]
    related = _related(values)
    unknowns = list(dict.fromkeys([unknown for value in values for unknown, _ in value.terms]))
    products = {}
    for unknown in unknowns:
        if unknown in follower.products:
            products[unknown] = follower.products[unknown]
            unknowns += [name for name in products[unknown] if name not in unknowns]
    held = {root: _only_unknown(value) for root, value in entering.items()}
    held |= {root: _only_unknown(follower.entering(root)) for root in sorted(follower.wanted)}
    return Entry(
        values=tuple(related),
        alone=tuple([value for value in values if value not in related]),
        products=products,
        origins=tuple(
            [replace(origin, address=start + origin.address) for name in unknowns for origin in follower.origins(name)]
        ),
        held=held,
    )


def _related(values: Sequence[Affine]) -> list[Affine]:
    """Return constants and values that share an unknown with another register, which relate registers to each other."""
    if len(values) < 2:
        return []
    users = Counter(unknown for value in values for unknown, _ in value.terms)
    return [value for value in values if not value.terms or any(users[unknown] > 1 for unknown, _ in value.terms)]


def _only_unknown(value: Value) -> str:
    """Return the unknown that a value is, "" for a sum."""
    terms, constant = value
    return terms[0][0] if len(terms) == 1 and terms[0][1] == 1 and not constant else ""


_AT_START = re.compile(r"(\w+) before block (\d+)")
_AT_INSTRUCTION = re.compile(r"(\w+) at (\d+):(\d+)")


def with_steps(instructions: Sequence[Instruction], follower: Follower) -> list[Instruction]:
    """Return a loop's instructions, with the constant instead of a register that is a multiple of a vector's length.

    The register is written before the loop only (`cntd x6`, then `add x5, x5, x6` in the loop).
    """
    written = {a.register.root for i in instructions for a in i.registers if a.write}
    return [_with_step(i, written, follower) for i in instructions]


def _with_step(instruction: Instruction, written: set[str], follower: Follower) -> Instruction:
    affine = instruction.affine
    if affine is None or affine.constant or len(affine.terms) != 2 or affine.target not in dict(affine.terms):
        return instruction
    (root, times) = next(term for term in affine.terms if term[0] != affine.target)
    (terms, constant) = ((), 0) if root in written else follower.entering(root)
    if len(terms) != 1 or terms[0][0] != VECTOR_LENGTH or constant:
        return instruction
    own = tuple(term for term in affine.terms if term[0] == affine.target)
    return replace(instruction, affine=Affine(affine.target, own, times * terms[0][1], scalable=True))


_DEFINED = re.compile(r" before block (\d+)| at (\d+):")
"""The block in the name of an unknown."""


def restarting(instructions: Sequence[Instruction], around: Sequence[int], follower: Follower) -> frozenset[str]:
    """Return a loop's address registers with the same values each time the loop around it enters it.

    `around` are the lines of that loop.
    """
    if not around:
        return frozenset()
    changing = follower.written_in(around) | {a.register.root for i in instructions for a in i.registers if a.write}
    blocks = follower.blocks_in(around)
    result = set()
    for root in sorted(_address_registers(instructions, follower.convention.pointers)):
        terms, _ = follower.entering(root) if root in changing else ((), 0)
        defined = [_DEFINED.findall(name) for name, _ in terms]
        if all(of_name and not blocks & {int(b or at) for b, at in of_name} for of_name in defined):
            result.add(root)
    return frozenset(result)


def _address_registers(instructions: Sequence[Instruction], pointers: frozenset[str]) -> set[str]:
    """Return the registers of addresses, and those from which they are computed linearly."""
    roots = {
        register.root
        for instruction in instructions
        for access in instruction.memory
        for register in (access.base, access.index)
        if register is not None and register.root in pointers
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


class PointerEffects(msgspec.Struct, frozen=True):
    """The effects of an instruction on pointers and the stack: all that most code before a loop is read for."""

    writes: frozenset[str]
    """The registers that may hold pointers and that it may change, by their roots."""
    stores: bool
    """It stores to the stack."""
    names_slot: bool
    """It may put an address on the stack into a register."""


def effects_of(instruction: Instruction | None, convention: Convention) -> PointerEffects:
    """Return the effects of an instruction, which is None if it is unknown."""
    if instruction is None:
        return PointerEffects(convention.pointers, stores=True, names_slot=False)
    if instruction.branch == "call":
        return PointerEffects(convention.not_kept, stores=False, names_slot=False)
    writes = frozenset([a.register.root for a in instruction.registers if a.write]) & convention.pointers
    stores = any(m.store and m.base is not None and m.base.root in convention.stack for m in instruction.memory)
    return PointerEffects(writes, stores, names_slot=instruction.affine is not None)


class EntryBlock:
    """The code of a block, with the positions that matter to the values of registers and stack slots."""

    def __init__(
        self,
        effects: Sequence[PointerEffects],
        instruction: Callable[[int], Instruction | None],
        stack: tuple[str, ...],
    ) -> None:
        self.size = len(effects)
        self.instruction = instruction
        """Returns the instruction at a position, None if it is unknown."""
        self.writes: dict[str, list[int]] = {}
        """The positions at which each register is written, last first."""
        self.stack_stores: list[int] = []
        """The positions at which the stack is stored to, last first."""
        for at in range(self.size - 1, -1, -1):
            for root in effects[at].writes:
                self.writes.setdefault(root, []).append(at)
            if effects[at].stores:
                self.stack_stores.append(at)
        self._naming = [at for at, each in enumerate(effects) if each.names_slot]
        self._stack = stack

    @cached_property
    def named_slots(self) -> set[str]:
        """The stack slots whose address is put into a register."""
        affines = [i.affine for i in map(self.instruction, self._naming) if i is not None and i.affine is not None]
        return {f"{affine.constant}({affine.terms[0][0]})" for affine in affines if self._names_slot(affine)}

    def _names_slot(self, affine: Affine) -> bool:
        """Return True if a register is set to an address on the stack."""
        return len(affine.terms) == 1 and affine.terms[0][0] in self._stack and affine.target not in self._stack


class Blocks:
    """The blocks of a file, read when they are first needed: the code before a loop is also before the next ones.

    Args:
        statement: returns the decoded instructions of a line, None if they are unknown.
        convention: the registers of the instruction set.
        effects: returns the effects of the instructions of a block's lines, where each line has one, to decode only
            those whose values are needed.
    """

    def __init__(
        self,
        statement: Callable[[int], Sequence[Instruction] | None],
        convention: Convention,
        effects: Callable[[tuple[int, ...]], list[PointerEffects]] | None = None,
    ) -> None:
        self.convention = convention
        self._statement = statement
        self._effects = effects
        self._read: dict[tuple[int, ...], EntryBlock] = {}

    def block(self, lines: tuple[int, ...]) -> EntryBlock:
        """Return the block of these lines."""
        block = self._read.get(lines)
        if block is None:
            block = self._read[lines] = self._block(lines)
        return block

    def _block(self, lines: tuple[int, ...]) -> EntryBlock:
        stack = self.convention.stack
        if self._effects is not None:
            return EntryBlock(self._effects(lines), lambda at: (self._statement(lines[at]) or (None,))[0], stack)
        code: list[Instruction | None] = []
        previous = 0
        for line in lines:
            if line != previous:
                instructions = self._statement(line)
                code.extend((None,) if instructions is None else instructions)
            previous = line
        return EntryBlock([effects_of(i, self.convention) for i in code], code.__getitem__, stack)


class Follower:
    """The values of registers and stack slots at the ends of blocks, computed on demand.

    A place is the name of a register, or of a stack slot such as "16(rsp)".
    """

    def __init__(self, before: PrecedingBlocks, blocks: Blocks) -> None:
        self.convention = blocks.convention
        self.wanted = before.wanted
        """Further registers whose values when the loop is entered are wanted."""
        self._before = before
        self._blocks = blocks
        self._used: list[EntryBlock | None] = [None] * len(before.lines)
        self.quotients: dict[str, tuple[Value, int]] = {}
        """Unknowns that are a value divided by a number and rounded down."""
        self.products: dict[str, tuple[str, str]] = {}
        """Unknowns that are the product of two others."""
        self.given: set[str] = set()
        """Unknowns that come from memory, or from outside of the code that is followed."""
        self._optimistic = True
        self._steps = 0
        """The instructions and blocks on the way from the loop to the value that is looked for."""
        self._forget()

    def _block(self, b: int) -> EntryBlock:
        block = self._used[b]
        if block is None:
            block = self._used[b] = self._blocks.block(self._before.lines[b])
        return block

    @cached_property
    def _escaped(self) -> set[str]:
        """The stack slots whose address is in a register: other code can write to them."""
        return {slot for b in range(len(self._before.lines)) for slot in self._block(b).named_slots}

    def blocks_in(self, lines: Sequence[int]) -> set[int]:
        """Return the blocks with one of these lines, and those without any, which may be among them."""
        return {
            b for b, of_block in enumerate(self._before.lines) if not of_block or not set(of_block).isdisjoint(lines)
        }

    def written_in(self, lines: Sequence[int]) -> set[str]:
        """Return the registers that are written in blocks with one of these lines."""
        return {root for b in self.blocks_in(lines) for root in self._block(b).writes}

    def origins(self, unknown: str) -> Iterator[Origin]:
        """Yield the places where an unknown value comes from: a register, and the memory that it is loaded from."""
        if match := _AT_START.fullmatch(unknown):
            first = self._first_instruction(int(match[2]))
            if first is not None:
                yield _origin(unknown, first, match[1])
            return
        match = _AT_INSTRUCTION.fullmatch(unknown)
        instruction = self._block(int(match[2])).instruction(int(match[3])) if match else None
        if match is None or instruction is None or instruction.branch:
            return
        yield _origin(unknown, instruction, match[1], after=True)
        if instruction.mnemonic in self.convention.loads and len(instruction.memory) == 1:
            (access,) = instruction.memory
            if access.index is None and (access.base is not None or access.symbol):
                # With a symbol, the register is the program counter, or has a part of the symbol's address.
                base = "" if access.symbol or access.base is None else access.base.root
                yield _origin(unknown, instruction, base, access.displacement, access.symbol)

    def _first_instruction(self, b: int) -> Instruction | None:
        """Return the first instruction of a block, or of one that is entered from there alone if it has none."""
        blocks = [b]
        for block in blocks:
            if self._block(block).size:
                return self._block(block).instruction(0)
            blocks += [
                n for n, before in enumerate(self._before.predecessors) if before == (block,) and n not in blocks
            ]
        return None

    def _forget(self) -> None:
        self._at_start: dict[tuple[int, str], Value] = {}
        self._after: dict[tuple[int, int, str], Value] = {}
        """The values of registers after instructions of blocks, while the same meetings are in progress."""
        self._same_as: dict[str, Value] = {}
        """The values of meetings that are done, by the names of their unknowns."""
        self._open: dict[str, None] = {}
        """Meetings in progress, outermost first."""
        self._assumed: dict[str, Value] = {}
        """Values that meetings in progress are assumed to have."""

    def entering(self, place: str) -> Value:
        """Return the value of a place when the loop is entered."""
        value = self._meet(self._before.entering, place, f"{place} at the start")
        if any(self._resolved(_unknown(name)) != self._resolved(assumed) for name, assumed in self._assumed.items()):
            self._optimistic = False
            self._forget()
            value = self._meet(self._before.entering, place, f"{place} at the start")
        return self._resolved(value)

    def _resolved(self, value: Value) -> Value:
        """Return a value without the unknowns of meetings that are done."""
        done: set[str] = set()
        while names := {name for name, _ in value[0] if name in self._same_as and name not in done}:
            parts = [(self._same_as[name] if name in names else _unknown(name), times) for name, times in value[0]]
            value = _combined(parts, value[1])
            done |= names
        return value

    def _meet(self, blocks: Sequence[int], place: str, name: str) -> Value:
        """Return the value that a place has at the end of all these blocks, else the unknown `name`.

        Blocks that depend on meetings in progress bring the unknowns of these. If all other blocks bring one value, the
        meetings in progress are assumed to result in the same value; if there are no other blocks, in the value of the
        outermost meeting. `entering` checks the assumption.
        """
        unknown = _unknown(name)
        values: set[Value] = set()
        pending: dict[str, None] = {}
        for b in blocks:
            if b < 0:
                # Other blocks that meet it may have changed the value.
                if max(blocks) < 0:
                    self.given.add(name)
                return unknown
            value = self._resolved(self._at(b, self._block(b).size, place))
            if value == unknown:
                continue
            terms, constant = value
            if len(terms) == 1 and terms[0][1] == 1 and constant == 0 and terms[0][0] in self._open:
                pending[terms[0][0]] = None
            else:
                values.add(value)
        if own := {value for value in values if (name, 1) in value[0]}:
            return self._in_rounds(name, own, values - own | {_unknown(other) for other in pending})
        if not values and pending:
            outermost = next(other for other in self._open if other in pending)
            del pending[outermost]
            values.add(_unknown(outermost))
        if len(values) != 1:
            return unknown
        value = values.pop()
        for other in pending:
            if not self._optimistic or self._assumed.setdefault(other, value) != value:
                return unknown
        return value

    def _in_rounds(self, name: str, after: set[Value], before: set[Value]) -> Value:
        """Return the value of a meeting at the start of a loop, else the unknown `name`.

        Args:
            name: The meeting.
            after: Its values after a round of the loop, which depend on that before.
            before: Its values before the loop.
        """
        steps = {_combined([(value, 1), (_unknown(name), -1)]) for value in after}
        if len(steps) != 1 or len(before) != 1:
            return _unknown(name)
        terms, constant = steps.pop()
        if any(unknown in self._open for unknown, _ in terms):
            return _unknown(name)
        block = name.partition(" before ")[2]
        rounds = [(f"{unknown} in rounds before {block}", times) for unknown, times in terms]
        rounds += [(f"rounds before {block}", constant)] if constant else []
        return _combined([(before.pop(), 1), *[(_unknown(unknown), times) for unknown, times in rounds]])

    def _start(self, b: int, place: str) -> Value:
        b = self._unchanged_since(b, place)
        key = b, place
        if (value := self._at_start.get(key)) is not None:
            return value
        name = f"{place} before block {b}"
        # If blocks form a cycle, the place has this value on the way round.
        unknown = self._at_start[key] = _unknown(name)
        self._open[name] = None
        blocks = self._before.predecessors[b]
        if len(blocks) == 1 and blocks[0] >= 0:
            value = self._at(blocks[0], self._block(blocks[0]).size, place)
        else:
            value = self._meet(blocks, place, name)
        self._at_start[key] = value
        del self._open[name]
        if not self._open:
            self._after.clear()
        if value != unknown:
            self._same_as[name] = value
        return value

    def _unchanged_since(self, b: int, place: str) -> int:
        """Return the first block on the only way to block b on which a register is not written; b for a stack slot."""
        if place[-1] == ")":
            return b
        seen = [b]
        while len(blocks := self._before.predecessors[b]) == 1:
            (before,) = blocks
            if before < 0 or before in seen or place in self._block(before).writes:
                break
            b = before
            seen.append(b)
        return b

    def _at(self, b: int, position: int, place: str) -> Value:
        """Return the value of a place before the instruction at `position` in block b, an unknown after `_MOST_STEPS`.

        Code may compute a value in any number of steps, each of which takes some of Python's stack.
        """
        if self._steps == _MOST_STEPS:
            return _unknown(f"{place} before {b}:{position}")
        self._steps += 1
        try:
            if place[-1] == ")":
                return self._slot_at(b, position, place)
            at = next((at for at in self._block(b).writes.get(place, ()) if at < position), None)
            if at is None:
                return self._start(b, place)
            key = b, at, place
            if key not in self._after:
                self._after[key] = self._computed(b, at, place)
            return self._after[key]
        finally:
            self._steps -= 1

    def _computed(self, b: int, at: int, place: str) -> Value:
        """Return the value of a register after the instruction that writes it."""
        instruction = self._block(b).instruction(at)
        if instruction is not None and instruction.branch != "call":
            if instruction.affine is not None and instruction.affine.target == place:
                return self._sum(b, at, instruction.affine)
            if instruction.mnemonic in self.convention.products and not instruction.memory:
                return self._product(b, at, place, instruction)
            if instruction.mnemonic in self.convention.rounds:
                return self._rounded(b, at, place, instruction)
            slot = self._slot(instruction)
            if slot and not instruction.memory[0].store and slot not in self._escaped:
                return self._slot_at(b, at, slot)
            if instruction.mnemonic in self.convention.loads and instruction.operands == "rm":
                self.given.add(f"{place} at {b}:{at}")
        return _unknown(f"{place} at {b}:{at}")

    def _product(self, b: int, at: int, place: str, instruction: Instruction) -> Value:
        """Return the product of two registers, plus a third one if there is one.

        Products of unknowns are new unknowns, which are the same wherever the same ones are multiplied.
        """
        sources = [a.register.root for a in instruction.registers if a.read and a.operand is not None]
        values = [self._resolved(self._at(b, at, root)) for root in sources]
        (terms, constant), (other_terms, other_constant) = (values * 2)[:2]
        parts: list[tuple[Value, int]] = [(value, 1) for value in values[2:]]
        parts += [((terms, 0), other_constant), ((other_terms, 0), constant)]
        for unknown, times in terms:
            for other, other_times in other_terms:
                first, second = sorted((unknown, other))
                name = f"({first} * {second})"
                self.products[name] = first, second
                parts.append((_unknown(name), times * other_times))
        value = _combined(parts, constant * other_constant)
        if len(value[0]) > _MOST_TERMS or any(len(name) > _LONGEST_NAME for name, _ in value[0]):
            return _unknown(f"{place} at {b}:{at}")
        return value

    def _rounded(self, b: int, at: int, place: str, instruction: Instruction) -> Value:
        """Return the result of a shift to the right, or of a mask that clears lower bits.

        It is a multiple of a new unknown, which is the same wherever the same value is divided by the same power of
        two.
        """
        opaque = _unknown(f"{place} at {b}:{at}")
        division = self._division(b, at, instruction)
        if division is None:
            return opaque
        source, shift, factor = division
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
            # Divided twice: a difference of pointers is first divided by the size of an element.
            inner, divisor = self.quotients[terms[0][0]]
            if len(inner[0]) == 1:
                value, by = inner, divisor * by
        name = f"{value} / {by}"
        self.quotients[name] = value, by
        return ((name, factor),), 0

    def _division(self, b: int, at: int, instruction: Instruction) -> tuple[str, int, int] | None:
        """Return the register that a shift or mask divides by a power of two, the power, and the quotient's factor.

        The result is None if the instruction does anything else.
        """
        operand = self._constant_operand(b, at, instruction)
        if operand is None or instruction.registers[0].register.width < 32:
            return None
        source, constant = operand
        if instruction.mnemonic != self.convention.mask:
            return source, constant, 1
        mask = constant & (2**64 - 1)
        shift = (mask & -mask).bit_length() - 1
        if mask.bit_length() < _COUNT_BITS or (mask >> shift) + 1 != 1 << (mask.bit_length() - shift):
            return None
        return source, shift, 1 << shift

    def _constant_operand(self, b: int, at: int, instruction: Instruction) -> tuple[str, int] | None:
        """Return the register that a shift or mask changes, and its constant operand; None if that is no constant."""
        sources = [a.register.root for a in instruction.registers if a.read and not a.address]
        if instruction.operands.endswith("rr") and instruction.mnemonic == self.convention.mask:
            # The mask does not fit into the instruction, and is in a register.
            values = {root: self._resolved(self._at(b, at, root)) for root in sources}
            masks = [root for root, (terms, _) in values.items() if not terms]
            if len(values) != 2 or len(masks) != 1:
                return None
            mask = values.pop(masks[0])[1]
            return next(iter(values)), mask
        if instruction.operands not in ("ri", "rri") or len(sources) != 1:
            return None
        if instruction.immediate is None:
            # A shift by one has an encoding of its own, without the number.
            return None if instruction.immediate_bytes else (sources[0], 1)
        return sources[0], instruction.immediate

    def _slot_at(self, b: int, position: int, place: str) -> Value:
        """Return the value of a stack slot: a pointer that was spilled, if the slot's address is not taken.

        Compilers put nothing else there that code with other addresses would write to.
        """
        displacement, _, base = place[:-1].partition("(")
        first = int(displacement)
        block = self._block(b)
        moved = next((at for at in block.writes.get(base, ()) if at < position), -1)
        for at in block.stack_stores:
            if at >= position:
                continue
            if at < moved:
                break
            instruction = block.instruction(at)
            if instruction is None:
                return _unknown(f"{place} at {b}:{at}")
            if self._slot(instruction) == place:
                source = next((a.register.root for a in instruction.registers if a.read and not a.address), "")
                terms, constant = self._at(b, at, source) if source else ((), 0)
                # A constant is more likely a variable's first value than a spilled pointer.
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
        parts = [(self._resolved(self._at(b, at, root)), coefficient) for root, coefficient in affine.terms]
        own = (((VECTOR_LENGTH, affine.constant),), 0) if affine.scalable else ((), affine.constant)
        terms, constant = _combined([*parts, (own, 1)])
        if len(terms) > _MOST_TERMS:
            terms, constant = ((f"{affine.target} at {b}:{at}", 1),), 0
        return terms, constant

    def _slot(self, instruction: Instruction) -> str:
        """Return the stack slot that a 64-bit move between memory and a register accesses, else ""."""
        if instruction.mnemonic not in self.convention.moves or len(instruction.memory) != 1:
            return ""
        access = instruction.memory[0]
        if access.index is not None or access.size != 8 or access.symbol or access.segment or access.base is None:
            return ""
        if sorted(instruction.operands) != ["m", "r"] or any(a.address and a.write for a in instruction.registers):
            return ""
        base = access.base.root
        return f"{access.displacement}({base})" if base in self.convention.stack else ""


def _origin(
    unknown: str,
    instruction: Instruction,
    register: str,
    displacement: int | None = None,
    symbol: str = "",
    after: bool = False,
) -> Origin:
    address = instruction.offset + (instruction.length if after else 0)
    return Origin(unknown, register, displacement, symbol, instruction.line, address, after)


def _unknown(name: str) -> Value:
    return ((name, 1),), 0


def _combined(parts: Iterable[tuple[Value, int]], constant: int = 0) -> Value:
    """Return the sum of values times numbers, and a constant."""
    total: dict[str, int] = {}
    for (terms, addend), times in parts:
        constant += times * addend
        for unknown, factor in terms:
            total[unknown] = total.get(unknown, 0) + times * factor
    summed = [(unknown, _signed(factor)) for unknown, factor in total.items() if _signed(factor)]
    return tuple(sorted(summed)), _signed(constant)


def _signed(value: int) -> int:
    """Return a value modulo 2^64 as a signed number."""
    return (value + 2**63) % 2**64 - 2**63
