"""The dataflow of a loop: whether addresses and conditions depend on invariants, on a count, or on data.

Registers are followed symbolically through two iterations in execution order, as core/lib/memory.cpp does to compare
addresses. This yields the terms of each address and the dependencies of each branch's condition: values that the loop
does not change, values that it counts, or values that it loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from operator import attrgetter

import msgspec
from msgspec.structs import replace

from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess
from incc.support.recent import recent

INVARIANT, COUNTED, DATA = range(3)
"""The ways a value changes in a loop: not at all; by a constant, or as a function of counted values; depending on
data."""

_FLAGS = "flags"


class UnknownValue(msgspec.Struct, frozen=True, kw_only=True, cache_hash=True):
    """An unknown value: a register at the loop's start, an address of the program, or a non-linear result."""

    name: str
    made_by: int
    """The instruction that made a non-linear result; -1 for the other two kinds."""
    kind: int
    """INVARIANT, COUNTED or DATA."""
    loaded: bool = False
    """True if the value depends on a load."""
    walks: bool = False
    """True if the value was loaded through itself, as a list's pointer to the next node is."""


class Address(msgspec.Struct, frozen=True):
    """An address, or another value: the sum of `terms`, symbols with their factors, and `constant`; modulo 2^64."""

    terms: Mapping[UnknownValue, int]
    constant: int

    @property
    def kind(self) -> int:
        return max((symbol.kind for symbol in self.terms), default=INVARIANT)


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """A load or a store of a kernel."""

    instruction: int
    number: int
    """The number among the instruction's loads or among its stores."""
    size: int
    """The size in bytes."""
    address: Address


class Dataflow(msgspec.Struct, frozen=True):
    """The memory accesses and conditions of a loop."""

    loads: tuple[Access, ...]
    """Loads in program order, without gathers and accesses without a fixed size."""
    stores: tuple[Access, ...]
    """Stores in program order, without scatters and accesses without a fixed size."""
    conditions: Mapping[int, int]
    """INVARIANT, COUNTED or DATA for the condition of each conditional branch, by its index."""


class MovingAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The address of an access, and what changes it from one iteration to the next."""

    instruction: int
    access: MemoryAccess
    address: Address
    step: Address | None
    """The bytes from each iteration to the next, a sum of values that the loop does not change; None if they vary."""
    sources: frozenset[int]
    """The loads of the loop whose values the address is computed from, not only chosen by."""
    is_chosen: bool
    """True if a condition on loaded values changes the address, for example by skipping an addition."""


@recent
def dataflow(kernel: KernelCode) -> Dataflow:
    """Return the terms of a loop's addresses and the kinds of its conditions."""
    last = _executed(kernel)
    return Dataflow(tuple(last.loads), tuple(last.stores), last.conditions)


@recent
def moving_addresses(kernel: KernelCode) -> tuple[MovingAddress, ...]:
    """Return the addresses of all loads and stores of a loop in program order, with those of gathers."""
    last = _executed(kernel)
    return tuple(
        [
            last.traced(n, access, address)
            for n, instruction in enumerate(kernel.instructions)
            for access, address in zip(instruction.memory, last.addresses[n], strict=True)
            if access.load or access.store
        ]
    )


@recent
def _executed(kernel: KernelCode) -> _Pass:
    """Return the symbolic execution of an iteration with what is known about the values at its start."""
    first = _Pass(kernel, {}, frozenset())
    last = _Pass(kernel, {root: _start(first, root) for root in first.touched}, frozenset())
    for _ in range(3):
        starts = {root: _settled(symbol, last.value(root)) for root, symbol in last.starts.items()}
        if starts == last.starts:
            break
        last = _Pass(kernel, starts, frozenset())
    walkers = frozenset(i for i, instruction in enumerate(kernel.instructions) if last.walks(i, instruction))
    if walkers:
        last = _Pass(kernel, last.starts, walkers)
    return last


def _start(first: _Pass, root: str) -> UnknownValue:
    """Return the symbol of a register's value at the start, whose kind the value at the end of the iteration shows."""
    value = first.value(root)
    own = UnknownValue(name=root, made_by=-1, kind=COUNTED)
    rest = [symbol for symbol in value.terms if symbol != own]
    if value.terms.get(own) == 1 and not rest:
        return replace(own, kind=COUNTED if value.constant else INVARIANT)
    if value.terms.get(own) == 1 and all(first.is_kept(symbol) for symbol in rest):
        return own
    # The value is not linear in itself, or is computed from others.
    loaded = any(symbol.loaded for symbol in value.terms)
    again = own in first.behind(value.terms)
    return replace(own, kind=DATA if loaded or again else COUNTED, loaded=loaded)


def _settled(symbol: UnknownValue, end: Address) -> UnknownValue:
    """Return the symbol of a value at the start with what follows from its value at the end of the iteration."""
    if symbol.kind == INVARIANT or (end.terms.get(symbol) == 1 and len(end.terms) == 1):
        return symbol
    kind = max([symbol.kind, *[s.kind for s in end.terms]])
    return replace(symbol, kind=kind, loaded=symbol.loaded or any(s.loaded for s in end.terms))


class _Pass:
    """A symbolic execution of one iteration; `starts` holds the registers' values at its start."""

    def __init__(self, kernel: KernelCode, starts: Mapping[str, UnknownValue], walkers: frozenset[int]) -> None:
        self.starts = starts
        self.walkers = walkers
        self.state: dict[str, Address] = {}
        self.touched: set[str] = set()
        self.inputs: dict[UnknownValue, frozenset[UnknownValue]] = {}
        self.operands: dict[UnknownValue, list[UnknownValue]] = {}
        """Those of the inputs that the value is computed from: neither flags nor the addresses of loads."""
        self.loading = {n for n, i in enumerate(kernel.instructions) if any(access.load for access in i.memory)}
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self.conditions: dict[int, int] = {}
        self.addresses: dict[int, list[Address]] = {}
        # A load from an invariant address is invariant too, unless a store has the same textual address.
        self.stored = {_written(m) for i in kernel.instructions for m in i.memory if m.store}
        for n, instruction in enumerate(kernel.instructions):
            self._step(n, instruction)

    def behind(self, symbols: Iterable[UnknownValue]) -> set[UnknownValue]:
        """Return the symbols together with all symbols that they were computed from."""
        result: set[UnknownValue] = set()
        waiting = list(symbols)
        while waiting:
            symbol = waiting.pop()
            if symbol not in result:
                result.add(symbol)
                waiting += self.inputs.get(symbol, ())
        return result

    def is_kept(self, symbol: UnknownValue) -> bool:
        """Return True if the symbol is the initial value of a register that no instruction has changed."""
        return symbol.made_by < 0 and self.value(symbol.name).terms == {symbol: 1}

    def walks(self, n: int, instruction: Instruction) -> bool:
        """Return True if the instruction loads the register that forms its own address in the next iteration."""
        written = {a.register.root for a in instruction.registers if a.write}
        return any(
            symbol.made_by < 0
            and symbol.name in written
            and symbol.kind == DATA
            and any(s.made_by == n for s in self.value(symbol.name).terms)
            for address in self.addresses.get(n, ())
            for symbol in address.terms
        )

    def traced(self, n: int, access: MemoryAccess, address: Address) -> MovingAddress:
        """Return what changes the address of an access of instruction `n`."""
        sources: set[int] = set()
        seen: set[UnknownValue] = set()
        waiting = [symbol for symbol in address.terms if symbol.loaded]
        while waiting:
            symbol = waiting.pop()
            if symbol in seen:
                continue
            seen.add(symbol)
            if symbol.made_by in self.loading:
                sources.add(symbol.made_by)
            before = self.operands[symbol] if symbol.made_by >= 0 else self.value(symbol.name).terms
            waiting += [each for each in before if each.loaded]
        return MovingAddress(
            instruction=n,
            access=access,
            address=address,
            step=self._step_of(address),
            sources=frozenset(sources),
            is_chosen=not sources and any(symbol.loaded for symbol in address.terms),
        )

    def _step_of(self, address: Address) -> Address | None:
        """Return the change of an address from each iteration to the next; None if it varies."""
        terms: dict[UnknownValue, int] = {}
        constant = 0
        for symbol, factor in address.terms.items():
            if symbol.made_by >= 0 or symbol.name[0] == "@":
                if symbol.kind != INVARIANT:
                    return None
                continue
            end = self.value(symbol.name)
            constant += factor * end.constant
            for each, times in [*end.terms.items(), (symbol, -1)]:
                terms[each] = terms.get(each, 0) + factor * times
        terms = {symbol: times for symbol, times in terms.items() if times}
        return Address(terms, constant) if all(symbol.kind == INVARIANT for symbol in terms) else None

    def value(self, root: str) -> Address:
        """Return the value of a register after the executed instructions."""
        value = self.state.get(root)
        if value is None:
            self.touched.add(root)
            kind = INVARIANT if self.starts else COUNTED
            symbol = self.starts.get(root) or UnknownValue(name=root, made_by=-1, kind=kind)
            value = self.state[root] = Address({symbol: 1}, 0)
        return value

    def _sum(self, terms: Iterable[tuple[str, int]], constant: int) -> Address:
        """Return the sum of a constant and registers with their factors."""
        total: dict[UnknownValue, int] = {}
        for root, factor in terms:
            value = self.value(root)
            constant += factor * value.constant
            for symbol, times in value.terms.items():
                total[symbol] = total.get(symbol, 0) + factor * times
        return Address({symbol: times for symbol, times in total.items() if times}, constant)

    def _address(self, memory: MemoryAccess) -> Address:
        registers = ((memory.base, 1), (memory.index, memory.scale))
        value = self._sum(
            [(register.root, factor) for register, factor in registers if register is not None], memory.displacement
        )
        name = memory.symbol or memory.segment
        symbol = {UnknownValue(name=f"@{name}", made_by=-1, kind=INVARIANT): 1} if name else {}
        return Address({**value.terms, **symbol}, value.constant)

    def _step(self, n: int, instruction: Instruction) -> None:
        """Execute an instruction: record its accesses and its condition, and set its results."""
        kinds, loaded, inputs = self._access_memory(n, instruction)
        symbols: list[UnknownValue] = []
        for access in instruction.registers:
            if access.read and not access.address and not instruction.idiom:
                symbols += self.value(access.register.root).terms
        operands = list(symbols)
        if instruction.flags_read:
            symbols += self.value(_FLAGS).terms
        kinds += [symbol.kind for symbol in symbols]
        loaded = loaded or any(symbol.loaded for symbol in symbols)
        inputs.update(symbols)
        if instruction.branch == "conditional":
            flags = [symbol.kind for symbol in self.value(_FLAGS).terms] if instruction.flags_read else kinds
            self.conditions[n] = max(flags)
        elif instruction.branch == "call":
            kinds.append(DATA)
        made = UnknownValue(name=f"#{n}", made_by=n, kind=max(kinds), loaded=loaded, walks=n in self.walkers)
        self.inputs[made] = frozenset(inputs)
        self.operands[made] = operands
        self.state.update(self._results(instruction, made))

    def _access_memory(self, n: int, instruction: Instruction) -> tuple[list[int], bool, set[UnknownValue]]:
        """Record the accesses of an instruction.

        Returns the kinds of the loaded values, True if one of them may change, and the terms of the loads' addresses.
        """
        kinds = [INVARIANT]
        loaded = False
        inputs: set[UnknownValue] = set()
        addresses = self.addresses[n] = []
        numbers = [0, 0]
        for memory in instruction.memory:
            address = self._address(memory)
            addresses.append(address)
            scalar = memory.elements == 1 and memory.size > 0
            if memory.load:
                stays = scalar and address.kind == INVARIANT and _written(memory) not in self.stored
                kinds.append(INVARIANT if stays else DATA)
                loaded = loaded or not stays
                inputs.update(address.terms)
            for accesses, to, which in ((memory.load, self.loads, 0), (memory.store, self.stores, 1)):
                if accesses:
                    if scalar:
                        to.append(Access(instruction=n, number=numbers[which], size=memory.size, address=address))
                    numbers[which] += 1
        return kinds, loaded, inputs

    def _results(self, instruction: Instruction, made: UnknownValue) -> dict[str, Address]:
        """Return the values of the registers that an instruction writes; `made` stands for non-linear ones."""
        results: dict[str, Address] = {}
        affine = instruction.affine
        if affine is not None and affine.target:
            results[affine.target] = self._sum(affine.terms, affine.constant)
        for access in instruction.registers:
            if access.write and access.register.root not in results:
                self.value(access.register.root)
                results[access.register.root] = Address({made: 1}, 0)
        if instruction.flags_written:
            self.value(_FLAGS)
            results[_FLAGS] = Address({made: 1}, 0)
        return results


_written = attrgetter("base", "index", "scale", "displacement", "symbol")
"""The address of a memory access as the instruction's text has it."""
