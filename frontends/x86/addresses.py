"""The addresses of a loop, followed symbolically through three iterations.

Each address is a sum of registers' first values and of loaded or computed values. One part of each sum is a pointer
(the base, if there is a choice); the others are indices and strides. Variables at places in memory that do not change,
such as those that unoptimised code keeps on its stack, are followed like registers.
"""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from incc.frontends.isa import word_set, words
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess

Terms = dict[str, int]
Linear = tuple[Terms, int]
"""A sum of symbols with factors, and a constant."""

GPR = words("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")
NUMBER = {root: n for n, root in enumerate(GPR)}
_MOVES = word_set("mov movsxd")
_COMPARES = word_set("cmp test")


class TracedAddress(msgspec.Struct, frozen=True, kw_only=True):
    """An access to memory."""

    access: MemoryAccess
    """The access."""
    instruction: int
    """The index of its instruction."""
    terms: Terms
    """The sum of symbols that the address is."""
    constant: int
    """The constant part of the sum."""
    base: Terms
    """The symbols of its base alone."""
    fixed: bool
    """True if the instruction itself has a pointer."""
    vector: int
    """Bytes of each index in a vector register, 0 without."""


class LoadedData(msgspec.Struct, frozen=True):
    """A loaded or computed value."""

    loaded: int
    """Bytes that were loaded, 0 for none."""
    sources: frozenset[str]
    """The symbols that it was computed from."""


_ITERATIONS = 3
"""Iterations that are followed: a value that is loaded in the first may be an address in the second, also after it was
handed on once more."""


class FixedSlot(msgspec.Struct, frozen=True):
    """A place in memory that is the same in all iterations."""

    root: str
    """The register that it is relative to."""
    displacement: int
    """Bytes after the register's value."""
    size: int
    """Bytes of the place."""


_FROM_VECTORS = 8
"""Bytes of a value that comes from a vector register, about which nothing is known."""
_WORDS = (4, 8)
"""Bytes of a pointer or an index in memory."""


class AddressFollower:
    """The symbolic values of addresses through iterations.

    Symbols are the names of registers for their first values, or those of the kernel's entry (`@`), `8(rbp)` for the
    first contents of places in memory relative to a register that does not change (`slots`; unoptimised code has its
    variables there), and `#` for data.
    """

    def __init__(self, kernel: KernelCode) -> None:
        self.data: dict[str, LoadedData] = {}
        self.slots: dict[str, FixedSlot] = {}
        self._held: dict[str, Linear] = {}
        self._moving = {u.register.root for i in kernel.instructions for u in i.registers if u.write}
        self.addresses: list[TracedAddress] = []
        self.entry: dict[str, Linear] = {
            value.target: ({f"@{name}": coefficient for name, coefficient in value.terms}, value.constant)
            for value in kernel.entry
            if value.target in NUMBER
        }
        self._values: dict[str, Linear] = {}
        self.compared: dict[int, list[list[Linear]]] = {}
        """The registers that comparisons compare, by the comparison's index, in each iteration."""
        self.starts: list[dict[str, Linear]] = []
        """The registers' values at the start of each iteration after the first."""
        for _ in range(_ITERATIONS):
            for number, instruction in enumerate(kernel.instructions):
                self._step(number, instruction)
            self.starts.append({root: self.value(root) for root in GPR})
        self.accesses = len(self.addresses) // _ITERATIONS
        """The number of addresses of one iteration."""
        self.strides = self._strides()
        """Symbols that are added to addresses in each iteration."""

    def _strides(self) -> dict[str, None]:
        count = self.accesses
        pairs = [(a.terms, b.terms) for a, b in zip(self.addresses[count:], self.addresses[2 * count :], strict=False)]
        return {
            name: None
            for before, after in pairs
            for name in after
            if after[name] != before.get(name, 0) and name not in self.data
        }

    def steady(self, terms: Iterable[str]) -> bool:
        """Return True if these symbols do not depend on data, so that a sum of them is the same in each run."""
        return not any(name in self.data for name in terms)

    def invariant(self, symbol: str) -> bool:
        """Return True if a symbol is a register that the kernel does not change."""
        return symbol in NUMBER and symbol not in self._moving

    def value(self, root: str) -> Linear:
        return self._values.get(root) or self.entry.get(root) or ({root: 1}, 0)

    def _step(self, number: int, instruction: Instruction) -> None:
        for access in instruction.memory:
            self.addresses.append(self._address(number, instruction, access))
        if instruction.mnemonic in _COMPARES:
            operands = sorted((u.operand, u.register.root) for u in instruction.registers if u.operand is not None)
            self.compared.setdefault(number, []).append([self.value(root) for _, root in operands])
        affine = instruction.affine
        written: dict[str, Linear] = {}
        for use in instruction.registers:
            root = use.register.root
            if not use.write or root not in NUMBER:
                continue
            if affine is not None and affine.target == root:
                terms: Terms = {}
                constant = affine.constant
                for source, coefficient in affine.terms:
                    of_source, more = self.value(source)
                    constant += coefficient * more
                    for name, factor in of_source.items():
                        terms[name] = terms.get(name, 0) + coefficient * factor
                written[root] = {name: factor for name, factor in terms.items() if factor}, constant
            else:
                written[root] = self._loaded(instruction) or ({self._made(number, instruction, root): 1}, 0)
        self._keep(number, instruction)
        self._values.update(written)

    def _slot(self, access: MemoryAccess) -> str:
        """Return the name of the accessed place, "" if it is not the same in all iterations."""
        base = access.base
        fixed = base is not None and base.root in NUMBER and base.root not in self._moving
        if base is None or not fixed or access.index is not None or access.symbol or access.size not in _WORDS:
            return ""
        name = f"{access.displacement}({base.root})"
        self.slots.setdefault(name, FixedSlot(base.root, access.displacement, access.size))
        return name

    def _loaded(self, instruction: Instruction) -> Linear | None:
        """Return the value that a move loads from such a place; None for any other instruction."""
        if instruction.mnemonic not in _MOVES or len(instruction.memory) != 1 or not instruction.memory[0].load:
            return None
        name = self._slot(instruction.memory[0])
        return self._held.get(name, ({name: 1}, 0)) if name else None

    def _keep(self, number: int, instruction: Instruction) -> None:
        """Update the contents of such places after an instruction."""
        for access in instruction.memory:
            name = self._slot(access) if access.store else ""
            if not name:
                continue
            sources = [u.register.root for u in instruction.registers if u.read and not u.address]
            if instruction.mnemonic == "mov" and len(sources) == 1 and sources[0] in NUMBER:
                self._held[name] = self.value(sources[0])
            elif access.load and instruction.affine is not None and not instruction.affine.terms:
                terms, constant = self._held.get(name, ({name: 1}, 0))
                self._held[name] = terms, constant + instruction.affine.constant
            else:
                self._held[name] = {self._made(number, instruction, name): 1}, 0

    def _made(self, number: int, instruction: Instruction, root: str) -> str:
        symbol = f"#{number}:{root}"
        loads = [access.size for access in instruction.memory if access.load]
        sources = {
            name
            for use in instruction.registers
            if use.read and not use.address and use.register.root in NUMBER
            for name in self.value(use.register.root)[0]
        }
        if (
            not loads
            and not sources
            and any(use.read and use.register.kind == "vector" for use in instruction.registers)
        ):
            loads = [_FROM_VECTORS]
        before = self.data.get(symbol)
        if before is not None:
            sources |= before.sources
        sources.discard(symbol)
        self.data[symbol] = LoadedData(max(loads, default=0), frozenset(sources))
        return symbol

    def _address(self, number: int, instruction: Instruction, access: MemoryAccess) -> TracedAddress:
        first, constant = self.value(access.base.root) if access.base is not None else ({}, 0)
        base, terms = dict(first), dict(first)
        constant += access.displacement
        vector = 0
        if access.index is not None:
            if access.index.kind == "vector":
                vector = _index_bytes(instruction.mnemonic)
            else:
                indices, more = self.value(access.index.root)
                constant += access.scale * more
                for name, factor in indices.items():
                    terms[name] = terms.get(name, 0) + access.scale * factor
        fixed = bool(access.symbol) or (access.base is None and not vector)
        return TracedAddress(
            access=access,
            instruction=number,
            constant=constant,
            terms={name: factor for name, factor in terms.items() if factor},
            base=base,
            fixed=fixed,
            vector=vector,
        )

    def origins(self, symbols: Iterable[str]) -> tuple[set[str], set[int]]:
        """Return the origins of symbols: initial symbols, and the sizes of loaded data."""
        first: set[str] = set()
        sizes: set[int] = set()
        seen: set[str] = set()
        waiting = list(symbols)
        while waiting:
            symbol = waiting.pop()
            if symbol in seen:
                continue
            seen.add(symbol)
            data = self.data.get(symbol)
            if data is None:
                first.add(symbol)
                continue
            if data.loaded:
                sizes.add(data.loaded)
            waiting += data.sources
        return first, sizes


def _index_bytes(mnemonic: str) -> int:
    """Return the bytes of an index in a vector: vpgatherqd has 8."""
    for name in ("gather", "scatter"):
        _, separator, rest = mnemonic.partition(name)
        if separator:
            return 8 if rest.removeprefix("pf0").removeprefix("pf1")[:1] == "q" else 4
    return 4


class AddressRoles:
    """The roles of symbols and of loaded data.

    `pointers` are initial symbols; `stored` are those of them through which something is stored. `chases`: loaded data
    are pointers. `indices`: bytes of loaded values that addresses are computed from; `factor`: their largest factor.
    `scaled`: symbols that are the only part of an address, by their factors. `lifted`: the largest factor of loaded
    values where nothing else makes an address; 0 if there is none. `touched`: all symbols that addresses are made of.
    `met`: there is a store whose address depends on data.
    """

    def __init__(self, follower: AddressFollower) -> None:
        self.pointers: dict[str, None] = {}
        self.stored: set[str] = set()
        self.chases = False
        self.indices: set[int] = set()
        self.scaled: dict[str, int] = {}
        self.touched: set[str] = set()
        self.met = False
        self.lifted = 0
        self.factor = 1
        # Those that leave no choice come first.
        unsettled = sorted(follower.addresses, key=lambda address: len(candidates_of(address.terms, follower)))
        for address in unsettled:
            self._settle(address, follower)

    def _settle(self, address: TracedAddress, follower: AddressFollower) -> None:
        terms = address.terms
        self.touched.update(name for name in terms if name not in follower.data)
        made = [name for name in terms if name in follower.data]
        pointer = ""
        if not address.fixed:
            candidates = candidates_of(terms, follower)
            pointer = next((name for name in candidates if name in self.pointers), "")
            if not pointer and candidates:
                # A symbol of the base may cancel in the sum.
                bases = [name for name in candidates_of(address.base, follower) if name in candidates]
                pointer = bases[0] if bases else candidates[0]
                self.pointers[pointer] = None
            elif not pointer:
                made = self._without(address, follower, made)
        if pointer and address.access.store:
            self.stored.add(pointer)
        if made or address.vector:
            first, sizes = follower.origins(made)
            self.touched |= first
            self.indices |= sizes
            if address.vector:
                self.indices.add(address.vector)
                self.factor = max(self.factor, address.access.scale)
            self.factor = max([self.factor, *(abs(terms[name]) for name in made)])
            self.met |= address.access.store

    def _without(self, address: TracedAddress, follower: AddressFollower, made: list[str]) -> list[str]:
        """Return an address of data alone without the symbol that is its pointer."""
        terms = address.terms
        single = [name for name in (*address.base, *made) if terms.get(name) == 1 and name in follower.data]
        if single:
            first, sizes = follower.origins(single[:1])
            self.chases |= 8 in sizes
            for name in sorted(first):
                self.pointers[name] = None
                if address.access.store:
                    self.stored.add(name)
            return [name for name in made if name != single[0]]
        if terms and not made:
            name, factor = max(terms.items(), key=lambda term: term[1])
            if factor > 0:
                self.scaled[name] = factor
        self.lifted = max([self.lifted, *(terms[name] for name in made)])
        return made


def candidates_of(terms: Terms, follower: AddressFollower) -> list[str]:
    symbols = [name for name, factor in terms.items() if factor == 1 and name not in follower.data]
    return [name for name in symbols if name not in follower.strides] or symbols
