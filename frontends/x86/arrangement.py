"""First values of registers, and contents of memory, for a loop that is run on its own.

*Pointers* are 17 MiB apart and begin at the places within a page that a `Placement` gives. Relations that are known
from the code before the loop are kept, so that `a` and `a + 8` stay 8 bytes apart, and addresses that an instruction
needs aligned are aligned. *Indices* begin at 0. *Strides* are registers that are added to an address in each iteration;
they are a little more than a cache line. *Rows* are registers that are part of an address and do not change; they are a
little more than a kilobyte. If they were 0, each iteration would load the values that the previous one stored. The
arrangement is checked for this: if a load meets a store although the known addresses do not imply it, indices and rows
are changed until it does not.

*Memory* holds the same word everywhere. If it is loaded as indices, it holds numbers in random order; if it is loaded
as pointers, it holds pointers, each of which leads to the next place of a ring.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator, Sequence

import msgspec

from incc.frontends.isa import NotRunnable, Placement, word_set
from incc.frontends.kernel import KernelCode
from incc.frontends.x86.addresses import GPR, AddressFollower, AddressRoles, Terms, TracedAddress

ARRAYS, DISTANCE = 0x2000_0000, 0x110_0000
"""The address of the first array, and the distance of arrays: 17 MiB.

Zen 4's first-level cache predicts the way from a hash of the address. Of lines with the same hash and the same place
in a page only one is fast: a load of the other is late, and a copy of two arrays takes 1.68 cycles instead of 1.0.
Addresses have the same hash if they differ only in bit 14, and in bits 25 and above; bits 15 to 24 count, but 17 and
22, 18 and 23, 19 and 24 cancel each other (measured on an EPYC of the Genoa generation). Multiples of 16 MiB are the
same, up to bit 24; of 17 MiB sixteen in a row are different.
"""
_MOST_ARRAYS = 14
_STACK = 0x2F00_0440
STATICS, STATIC_ARRAYS, STATICS_APART = 0x3001_0000, 0x3100_8000, 0x10_0000
"""The addresses of places that instructions name: below 2^31, as displacements are.

Bits 15 and 16 tell them from pointers (see `DISTANCE`)."""
SPAN = 0x4000
"""Bytes of the area that holds the fixed places of one symbol."""
_ROW, _ROWS_APART = 0x440, 0x40
"""The value of a register that is part of an address and does not change, as the length of rows: lines, of an odd
number."""
_LINE, _LARGEST_ELEMENT = 64, 8

_RING, _NODE = 0x2E01_0000, 0x100
"""The page that loaded pointers lead to, and the distance of the places in it."""
_WITHIN_NODE = 0x40
_PAGE_WORDS = 512

_ITERATIONS, _NEAR = 12, 8
"""The iterations in which loads may meet stores, and the most iterations between the two."""
_ATTEMPTS = 12
_LINES_OF_A_SET, _SETS = 6, 64
"""Lines of each set of the first-level cache that a loop may use, of the eight that the smallest caches have."""
_MOST_TRIPS = 256

_ALIGNED = word_set(
    "movaps movapd movdqa vmovaps vmovapd vmovdqa vmovdqa32 vmovdqa64 movntdq movntps movntpd movntdqa vmovntdq"
    " vmovntps vmovntpd vmovntdqa cmpxchg16b"
)
_NOT_ALIGNED = word_set("movups movupd movdqu lddqu")


class Arrangement(msgspec.Struct, frozen=True, kw_only=True):
    """The first values of registers, and the contents of memory."""

    symbols: dict[str, int]
    """The numbers that stand for the symbols of addresses."""
    registers: dict[str, int]
    """The first values of the general-purpose registers."""
    fills: bytes
    """Code that fills the places in memory that act as registers."""
    content: int
    """The word that fills vector registers."""
    memory: tuple[int, ...]
    """The words that memory repeats, from the start of each page."""
    trips: int
    """The most trips that stay in the first-level cache, 0 if the addresses do not tell."""


def arrange(
    kernel: KernelCode, follower: AddressFollower, roles: AddressRoles, placement: Placement
) -> Arrangement | NotRunnable:
    """Return an arrangement of a kernel's registers and memory, or why there is none without false dependences."""
    symbols = _symbols(kernel, follower, roles, placement)
    _align(kernel, follower, symbols)
    for attempt in range(_ATTEMPTS):
        met = next(_false_dependences(follower, symbols), None)
        if met is None:
            break
        store, load = met
        changed = _separable(store, load, follower, roles)
        if not changed or attempt == _ATTEMPTS - 1:
            lines = [kernel.instructions[address.instruction].text for address in (load, store)]
            return NotRunnable(
                "overlap", f"the data of `{lines[0]}` cannot be kept apart from what `{lines[1]}` stores"
            )
        symbols[changed] += _ROW + _ROWS_APART * attempt
    registers = {}
    for root in GPR:
        terms, constant = follower.entry.get(root) or ({root: 1}, 0)
        registers[root] = sum(factor * symbols.get(name, 0) for name, factor in terms.items()) + constant
    content, memory = _content(kernel, roles)
    return Arrangement(
        symbols=symbols,
        registers=registers,
        fills=_fills(follower, roles, registers, symbols),
        content=content,
        memory=memory,
        trips=_trips(follower, symbols),
    )


# --- registers --------------------------------------------------------------------------------------------------------


def _symbols(
    kernel: KernelCode, follower: AddressFollower, roles: AddressRoles, placement: Placement
) -> dict[str, int]:
    """Return numbers for the registers' first values, and for the values from which earlier code computes them."""
    symbols: dict[str, int] = {}
    loads = stores = 0
    for number, name in enumerate(roles.pointers):
        places, place = (placement.stored, stores) if name in roles.stored else (placement.loaded, loads)
        stores += name in roles.stored
        loads += name not in roles.stored
        within = places[place % len(places)] & -_element(name, follower)
        symbols[name] = ARRAYS + number % _MOST_ARRAYS * DISTANCE + within
    for name, factor in roles.scaled.items():
        symbols.setdefault(name, (ARRAYS + _MOST_ARRAYS * DISTANCE) // factor & -8)
    for name in follower.strides:
        symbols.setdefault(name, _stride(name, follower))
    rows = 0
    related = {
        name
        for terms, _ in follower.entry.values()
        if any(name in roles.pointers for name in terms)
        for name in terms
        if name[0] == "@"
    }
    for name in (*sorted(related), *(root for root in GPR if follower.invariant(root) and root in roles.touched)):
        if name not in symbols:
            symbols[name] = _ROW + _ROWS_APART * rows
            rows += 1
    divisors = _sources(kernel, ("div", "idiv"), 0)
    masks = _sources(kernel, ("kmovb", "kmovw", "kmovd", "kmovq"), 1)
    for root in GPR:
        plain = 0 if root in roles.touched else 3 if root in divisors else -1 if root in masks else 1
        symbols.setdefault(root, _STACK if root == "rsp" else plain)
    return symbols


def _element(pointer: str, follower: AddressFollower) -> int:
    """Return the bytes to which an array's elements are aligned: at most 8, since those of vectors are not known."""
    sizes = [address.access.size for address in follower.addresses if pointer in address.terms]
    return _LINE if pointer == "rsp" else min(_LARGEST_ELEMENT, *(size & -size or 1 for size in sizes), _LINE)


def _sources(kernel: KernelCode, mnemonics: Sequence[str], operand: int) -> set[str]:
    """Return the registers that are an operand of these instructions."""
    return {
        use.register.root
        for instruction in kernel.instructions
        if instruction.mnemonic in mnemonics
        for use in instruction.registers
        if use.operand == operand
    }


def _stride(name: str, follower: AddressFollower) -> int:
    """Return a stride by which addresses move an odd number of their widths, and more than a line."""
    using = [address for address in follower.addresses if name in address.terms]
    width = max((address.access.size for address in using), default=8) or 8
    distance = (_LINE // width + 1 | 1) * width
    return -(-distance // min(abs(address.terms[name]) for address in using))


def _align(kernel: KernelCode, follower: AddressFollower, symbols: dict[str, int]) -> None:
    """Move pointers back to where the addresses that have to be aligned are."""
    for address in follower.addresses[: follower.accesses]:
        instruction, size = kernel.instructions[address.instruction], address.access.size
        legacy = size == 16 and instruction.mnemonic[0] != "v" and instruction.mnemonic not in _NOT_ALIGNED
        if size < 16 or size & size - 1 or not (legacy or instruction.mnemonic in _ALIGNED):
            continue
        pointers = [name for name, factor in address.terms.items() if factor == 1 and symbols.get(name, 0) >= ARRAYS]
        for pointer in pointers[:1]:
            symbols[pointer] -= _number(address.terms, address.constant, symbols) % size


def _number(terms: Terms, constant: int, symbols: dict[str, int]) -> int:
    return sum(factor * symbols.get(name, 0) for name, factor in terms.items()) + constant


def _fills(follower: AddressFollower, roles: AddressRoles, registers: dict[str, int], symbols: dict[str, int]) -> bytes:
    """Return code that fills the places in memory that act as registers."""
    code = b""
    for name, slot in follower.slots.items():
        address = registers[slot.root] + slot.displacement
        if name in roles.touched and 0 <= address < 1 << 31:
            # mov $number, address, of 4 or 8 bytes
            code += b"\x48" * (slot.size == 8) + b"\xc7\x04\x25" + address.to_bytes(4, "little")
            code += symbols.get(name, 0).to_bytes(4, "little")
    return code


# --- loads that meet stores -------------------------------------------------------------------------------------------


class AccessStream(msgspec.Struct, frozen=True):
    """The addresses of an access in all iterations."""

    address: TracedAddress
    """The address in the second iteration, from which on it moves evenly."""
    position: int
    """The place of the access in the order of execution."""
    growth: Terms
    """The symbols that are added in each iteration."""
    first: int
    """The number of the address in the second iteration."""
    step: int
    """The bytes that are added in each iteration."""


def streams(follower: AddressFollower, symbols: dict[str, int]) -> list[AccessStream]:
    """Return the accesses whose addresses do not depend on data."""
    count = follower.accesses
    steady = []
    for position in range(count):
        one, two = follower.addresses[count + position], follower.addresses[2 * count + position]
        if one.vector or not (follower.steady(one.terms) and follower.steady(two.terms)):
            continue
        growth = {name: two.terms.get(name, 0) - one.terms.get(name, 0) for name in {**one.terms, **two.terms}}
        first, second = (_number(each.terms, each.constant, symbols) for each in (one, two))
        steady.append(
            AccessStream(one, position, {name: more for name, more in growth.items() if more}, first, second - first)
        )
    return steady


def _false_dependences(
    follower: AddressFollower, symbols: dict[str, int]
) -> Iterator[tuple[TracedAddress, TracedAddress]]:
    """Yield stores and loads that meet, although the program's own addresses do not say so."""
    steady = streams(follower, symbols)
    loads = [stream for stream in steady if stream.address.access.load]
    for store in steady:
        for load in loads if store.address.access.store else ():
            if load.address.access.symbol == store.address.access.symbol and _meets(store, load):
                yield store.address, load.address


def _meets(store: AccessStream, load: AccessStream) -> bool:
    """Return True if a load meets a store of the same or an earlier iteration by numbers but not by symbols."""
    least, most = -load.address.access.size, store.address.access.size
    first = int(store.position >= load.position)
    for iteration in range(_ITERATIONS):
        for behind in range(first, _NEAR + 1):
            away = load.first + (iteration + behind) * load.step - store.first - iteration * store.step
            if least < away < most and not _same(store, load, iteration, iteration + behind):
                return True
    return False


def _same(store: AccessStream, load: AccessStream, stored: int, loaded: int) -> bool:
    """Return True if a store's and a load's address in these iterations have the same symbols.

    The program then has their distance, not the arrangement.
    """
    names = {**store.address.terms, **store.growth, **load.address.terms, **load.growth}
    return all(
        store.address.terms.get(name, 0) + stored * store.growth.get(name, 0)
        == load.address.terms.get(name, 0) + loaded * load.growth.get(name, 0)
        for name in names
    )


def _separable(store: TracedAddress, load: TracedAddress, follower: AddressFollower, roles: AddressRoles) -> str:
    """Return a symbol that only one of two addresses has, and whose number may be another; "" without one."""
    names = [
        name
        for name in {**store.terms, **load.terms}
        if store.terms.get(name, 0) != load.terms.get(name, 0) and name not in roles.pointers
    ]
    return next(iter(sorted(names, key=lambda name: name in follower.strides)), next(iter(follower.strides), ""))


def _trips(follower: AddressFollower, symbols: dict[str, int]) -> int:
    """Return the most trips that stay in the first-level cache, 0 if addresses depend on data."""
    steady = streams(follower, symbols)
    if len(steady) < follower.accesses:
        return 0
    lines: set[tuple[str, int]] = set()
    used: Counter[int] = Counter()
    for trip in range(_MOST_TRIPS):
        for stream in steady:
            access, at = stream.address.access, stream.first + trip * stream.step
            for line in range(at // _LINE, (at + max(access.size, 1) - 1) // _LINE + 1):
                if (access.symbol, line) not in lines:
                    lines.add((access.symbol, line))
                    used[line % _SETS] += 1
                    if used[line % _SETS] > _LINES_OF_A_SET:
                        return trip
    return _MOST_TRIPS


# --- memory -----------------------------------------------------------------------------------------------------------


_HALVES = {2: 0x3E00_3E00_3E00_3E00, 4: 0x3FC0_0000_3FC0_0000, 8: 0x3FF8_0000_0000_0000}
"""The number 1.5 by the size of floating-point numbers in bytes."""
_INTEGERS = 3 | 3 << 32
_INDICES = {1: 0x0E0C_0A08_0604_0200, 2: 0x0030_0020_0010_0000, 4: 3 | 67 << 32, 8: 3}
"""Indices in vector registers: small, and as different as a word can have them."""
_COUNTS, _SPREAD = (251, 127, 61, 31, 13), 2048
"""Numbers of different indices in memory, and the most bytes that they should lead to."""
_MOST_IN_BYTES = 127


def index_count(roles: AddressRoles) -> int:
    """Return the number of different indices in memory; 0 if nothing is loaded as an index."""
    size = max(roles.indices, default=0)
    if size not in _INDICES or roles.chases or roles.lifted:
        return 0
    counts = [count for count in _COUNTS if size > 1 or count <= _MOST_IN_BYTES]
    return next((count for count in counts if count * roles.factor <= _SPREAD), counts[-1])


def _content(kernel: KernelCode, roles: AddressRoles) -> tuple[int, tuple[int, ...]]:
    """Return the word that fills vector registers, and those that memory repeats."""
    if any(access.size == 10 for instruction in kernel.instructions for access in instruction.memory):
        word = 0x8000_0000_0000_3FFF  # as numbers of the x87 unit in a row, a little more than 1
    elif roles.chases:
        nodes = [(8 * n // _NODE + 1) * _NODE % (8 * _PAGE_WORDS) for n in range(_PAGE_WORDS)]
        return _RING + _WITHIN_NODE, tuple(_RING + _WITHIN_NODE + node for node in nodes)
    elif roles.lifted:
        word = (ARRAYS + _MOST_ARRAYS * DISTANCE) // roles.lifted & -8
    elif count := index_count(roles):
        size = max(roles.indices)
        elements = b"".join((7 * n % count).to_bytes(size, "little") for n in range(8 * _PAGE_WORDS // size))
        return _INDICES[size], struct.unpack(f"<{_PAGE_WORDS}Q", elements)
    else:
        # Masks in vectors are of signs: of elements that are masked out nothing would be loaded.
        masks = 0x8080_8080_8080_8080 if any("maskmov" in i.mnemonic for i in kernel.instructions) else 0
        word = masks | _numbers(kernel)
    return word, (word,)


def _numbers(kernel: KernelCode) -> int:
    """Return the kind of number that most of the kernel's arithmetic uses."""
    done = [i.arithmetic for i in kernel.instructions if i.arithmetic is not None]
    sizes = [arithmetic.element // 8 for arithmetic in done if arithmetic.floating]
    sizes += [
        access.size
        for i in kernel.instructions
        if i.mnemonic[0] == "f" and i.mnemonic[:2] != "fi"
        for access in i.memory
        if access.load
    ]
    return next((_HALVES[size] for size in sizes if size in _HALVES), _INTEGERS)
