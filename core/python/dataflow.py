"""The dataflow of a loop: whether addresses and conditions depend on invariants, on a count, or on data.

Registers are followed symbolically through two iterations in execution order, as core/lib/memory.cpp does to compare
addresses. This yields the terms of each address and the dependencies of each branch's condition: values that the loop
does not change, values that it counts, or values that it loads.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from incc.frontends.kernel import Instruction, Kernel, MemoryAccess

INVARIANT, COUNTED, DATA = range(3)
"""The ways a value changes in a loop: not at all; by a constant, or as a function of counted values; depending on
data."""

_FLAGS = "flags"


class UnknownValue(msgspec.Struct, frozen=True, kw_only=True):
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
    """An address: the sum of `terms`, symbols with their factors, and `constant`; modulo 2^64."""

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


class _Linear(msgspec.Struct, frozen=True):
    terms: Mapping[UnknownValue, int]
    constant: int


def dataflow(kernel: Kernel) -> Dataflow:
    """Return the terms of a loop's addresses and the kinds of its conditions."""
    first = _Pass(kernel, {}, frozenset())
    # The value at the end shows the kind of the value at the start: unchanged, or changed by a constant.
    starts: dict[str, UnknownValue] = {}
    for root in first.touched:
        value = first.at_end(root)
        own = UnknownValue(name=root, made_by=-1, kind=COUNTED)
        rest = [symbol for symbol in value.terms if symbol != own]
        if value.terms.get(own) == 1 and not rest:
            starts[root] = replace(own, kind=COUNTED if value.constant else INVARIANT)
        elif value.terms.get(own) == 1 and all(first.is_kept(symbol) for symbol in rest):
            starts[root] = own
        else:
            # The value is not linear in itself, or is computed from others.
            loaded = any(symbol.loaded for symbol in value.terms)
            again = own in first.behind(value.terms)
            starts[root] = UnknownValue(name=root, made_by=-1, kind=DATA if loaded or again else COUNTED, loaded=loaded)
    settled = starts
    for _ in range(3):
        second = _Pass(kernel, settled, frozenset())
        again_settled = {}
        for root, symbol in settled.items():
            value = second.at_end(root)
            if symbol.kind == INVARIANT or (value.terms.get(symbol) == 1 and len(value.terms) == 1):
                again_settled[root] = symbol
                continue
            kind = max([symbol.kind, *[s.kind for s in value.terms]])
            again_settled[root] = replace(symbol, kind=kind, loaded=symbol.loaded or any(s.loaded for s in value.terms))
        if again_settled == settled:
            break
        settled = again_settled
    if second.starts is not settled and second.starts != settled:
        second = _Pass(kernel, settled, frozenset())
    walkers = frozenset(i for i, instruction in enumerate(kernel.instructions) if second.walks(i, instruction, settled))
    final = _Pass(kernel, settled, walkers) if walkers else second
    return Dataflow(tuple(final.loads), tuple(final.stores), final.conditions)


class _Pass:
    """A symbolic execution of one iteration; `starts` holds the registers' values at its start."""

    def __init__(self, kernel: Kernel, starts: Mapping[str, UnknownValue], walkers: frozenset[int]) -> None:
        self.starts = starts
        self.walkers = walkers
        self.state: dict[str, _Linear] = {}
        self.touched: set[str] = set()
        self.inputs: dict[UnknownValue, frozenset[UnknownValue]] = {}
        self.loads: list[Access] = []
        self.stores: list[Access] = []
        self.conditions: dict[int, int] = {}
        self.addresses: dict[int, list[Address]] = {}
        # A load from an invariant address is invariant too, unless a store has the same textual address.
        self.stored = [m for i in kernel.instructions for m in i.memory if m.store]
        for n, instruction in enumerate(kernel.instructions):
            self._step(n, instruction)

    def at_end(self, root: str) -> _Linear:
        return self._value(root)

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
        return symbol.made_by < 0 and self._value(symbol.name).terms == {symbol: 1}

    def walks(self, n: int, instruction: Instruction, starts: Mapping[str, UnknownValue]) -> bool:
        """Return True if the instruction loads the register that forms its own address in the next iteration."""
        written = {a.register.root for a in instruction.registers if a.write}
        return any(
            symbol.made_by < 0
            and symbol.name in written
            and symbol.kind == DATA
            and any(s.made_by == n for s in self.at_end(symbol.name).terms)
            for address in self.addresses.get(n, ())
            for symbol in address.terms
        )

    def _value(self, root: str) -> _Linear:
        value = self.state.get(root)
        if value is None:
            self.touched.add(root)
            symbol = self.starts.get(root) or UnknownValue(
                name=root, made_by=-1, kind=COUNTED if not self.starts else INVARIANT
            )
            value = self.state[root] = _Linear({symbol: 1}, 0)
        return value

    def _sum(self, terms: Iterable[tuple[str, int]], constant: int) -> _Linear:
        """Return the sum of a constant and registers with their factors."""
        total: dict[UnknownValue, int] = {}
        for root, factor in terms:
            value = self._value(root)
            constant += factor * value.constant
            for symbol, times in value.terms.items():
                total[symbol] = total.get(symbol, 0) + factor * times
        return _Linear({symbol: times for symbol, times in total.items() if times}, constant)

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
                symbols += self._value(access.register.root).terms
        if instruction.flags_read:
            symbols += self._value(_FLAGS).terms
        kinds += [symbol.kind for symbol in symbols]
        loaded = loaded or any(symbol.loaded for symbol in symbols)
        inputs.update(symbols)
        if instruction.branch == "conditional":
            flags = [symbol.kind for symbol in self._value(_FLAGS).terms] if instruction.flags_read else kinds
            self.conditions[n] = max(flags)
        elif instruction.branch == "call":
            kinds.append(DATA)
        made = UnknownValue(name=f"#{n}", made_by=n, kind=max(kinds), loaded=loaded, walks=n in self.walkers)
        self.inputs[made] = frozenset(inputs)
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
                stays = scalar and address.kind == INVARIANT and not any(_same(memory, m) for m in self.stored)
                kinds.append(INVARIANT if stays else DATA)
                loaded = loaded or not stays
                inputs.update(address.terms)
            for is_it, to, which in ((memory.load, self.loads, 0), (memory.store, self.stores, 1)):
                if is_it:
                    if scalar:
                        to.append(Access(instruction=n, number=numbers[which], size=memory.size, address=address))
                    numbers[which] += 1
        return kinds, loaded, inputs

    def _results(self, instruction: Instruction, made: UnknownValue) -> dict[str, _Linear]:
        """Return the values of the registers that an instruction writes; `made` stands for non-linear ones."""
        results: dict[str, _Linear] = {}
        affine = instruction.affine
        if affine is not None and affine.target:
            results[affine.target] = self._sum(affine.terms, affine.constant)
        for access in instruction.registers:
            if access.write and access.register.root not in results:
                self._value(access.register.root)
                results[access.register.root] = _Linear({made: 1}, 0)
        if instruction.flags_written:
            self._value(_FLAGS)
            results[_FLAGS] = _Linear({made: 1}, 0)
        return results


def _same(one: MemoryAccess, other: MemoryAccess) -> bool:
    """Return True if two accesses have textually the same address."""
    return (one.base, one.index, one.scale, one.displacement, one.symbol) == (
        other.base,
        other.index,
        other.scale,
        other.displacement,
        other.symbol,
    )
