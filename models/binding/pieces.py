"""Pieces of bound kernels: an instruction's part of the arrays, made once for each shape and context.

Most instructions of a program were bound before, or differ from a bound one only in the names of registers and in
constants. Binding an instruction depends on its neighbours in few ways (macro-fusion, pointers just loaded, being the
last one), and otherwise only on running numbers: those of locations, symbols, values and memory operands. A
`PieceShape` counts them from 0, a `BoundPiece` adds the names and constants of one encoding, and `join` shifts the
numbers to their place. Kernels of the same shapes whose locations are numbered alike share these arrays, and kernels
that differ only in names share everything: loops that a compiler cloned, regions that a script wrote.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, count, pairwise
from operator import attrgetter
from typing import Any

import msgspec

from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess, Register, RegisterAccess
from incc.models.binding import bound as b
from incc.models.model import Form, MachineModel

MOST_KEPT = 16384
"""The most pieces and shapes that are cached for a core, of less than 1 KB each. When there are more, all are dropped.
"""

MOST_JOINED = 256
"""The most kernels whose joined arrays are cached for a core and context: loops of one file that differ in names and
constants alone."""
LONGEST_JOINED = 64
"""The most instructions of a kernel whose joined arrays are cached."""

_ROW = (
    *("instruction_flags", "issue_slots", "retire_slots", "latency", "load_latency"),
    *("forward_group", "forward_delay", "delays_from", "delays_to", "early_for"),
)
_PLAIN = (
    *("uop_ports", "uop_cycles", "uop_kind", "value_kind", "input_kind", "input_latency"),
    *("input_rule", "input_early"),
    *("memory_scale", "memory_size", "memory_class", "memory_elements", "memory_partial", "affine_term_coefficient"),
)
_LOCATED = ("output_location", "memory_base", "memory_index", "affine_target", "affine_term_location")

_JOINED = (
    *(*_ROW, *_PLAIN, *_LOCATED, "input_id", "memory_of_value", "memory_symbol"),
    *("uop_start", "value_start", "affine_start", "output_start", "input_start", "affine_term_start"),
)

_OWN_VALUE = -1


class PieceShape:
    """The arrays of a kernel of one instruction, without names and constants."""

    __slots__ = (
        "counts",
        "facts",
        "form",
        "input_id",
        "located",
        "locations",
        "memory_of_value",
        "memory_symbol",
        "plain",
        "row",
        "symbols",
    )

    def __init__(
        self,
        form: Form | None,
        k: b.BoundKernel,
        locations: Iterable[str],
        symbols: Iterable[str],
        roots: dict[str, int],
    ) -> None:
        self.form = form
        """The instruction's form, None if it is not in the model."""
        self.facts: dict[Any, PipelineFacts] = {}
        """The simulator's facts about instructions of this shape, by the properties in which these differ."""
        self.row = (
            *[getattr(k, name)[0] for name in _ROW],
            *(len(k.uop_ports), len(k.value_kind), len(k.affine_target)),
        )
        """The entries of arrays with one entry an instruction, then the numbers of µops, values and affine entries."""
        self.plain = tuple([tuple(getattr(k, name)) for name in _PLAIN])
        """Arrays that are joined as they are."""
        self.located = tuple([tuple(getattr(k, name)) for name in _LOCATED])
        """Arrays of locations, -1 for none."""
        self.counts = _counts(k.output_start), _counts(k.input_start), _counts(k.affine_term_start)
        """The numbers of outputs and inputs of each value, and of terms of each affine entry."""
        self.input_id = tuple(
            [
                x if kind == b.INPUT_LOCATION else _OWN_VALUE - x
                for kind, x in zip(k.input_kind, k.input_id, strict=True)
            ]
        )
        """Locations, and the instruction's own value n as _OWN_VALUE - n."""
        self.memory_of_value = tuple(k.memory_of_value)
        self.memory_symbol = tuple(k.memory_symbol)
        self.symbols = tuple(symbols)
        """Names of symbols by number."""
        self.locations = tuple([_split(name, roots) for name in locations])
        """For each location the number of its register among the instruction's `roots` and the rest of its name, or -1
        and the whole name."""


class BoundPiece:
    """A shape with the names and constants of one encoding."""

    __slots__ = ("constants", "displacements", "facts", "locations", "made_from", "number", "roots", "shape")

    def __init__(self, i: Instruction, shape: PieceShape, roots: dict[str, int], facts: PipelineFacts | None) -> None:
        self.made_from = i.registers, i.memory, i.affine, i.branch, i.flags_read
        """Everything of the instruction that the piece depends on, besides its form."""
        self.shape = shape
        self.facts = facts
        """The simulator's facts about the instruction, None for a core that is not simulated."""
        self.number = -1
        """A number that pieces share that differ only in `roots` and names of locations; -1 for one that is not cached.
        """
        self.roots = tuple(roots)
        """The registers of the instruction, in the order in which they occur."""
        names = list(roots)
        self.locations = tuple([names[root] + rest if root >= 0 else rest for root, rest in shape.locations])
        """Names of locations by number."""
        # In the order in which binding adds values.
        self.displacements: tuple[int, ...] = ()
        if shape.memory_symbol:
            self.displacements = (
                *[m.displacement for m in i.memory if m.load],
                *[m.displacement for m in i.memory if m.store],
            )
        self.constants = () if i.affine is None else (i.affine.constant,)

    def fits(self, i: Instruction, form: Form | None) -> bool:
        """Return True if another instruction of the same encoding equals this one in all that the piece was made from.

        It may differ in addresses relative to its own, in symbols, in the names of x87 registers, and in its form.
        """
        # Comparing tuples checks identity first, and instructions of one encoding mostly share these.
        return form is self.shape.form and self.made_from == (
            *(i.registers, i.memory, i.affine, i.branch, i.flags_read),
        )


def _counts(starts: list[int]) -> tuple[int, ...]:
    return tuple([end - start for start, end in pairwise(starts)])


def _split(name: str, roots: dict[str, int]) -> tuple[int, str]:
    root, dot, part = name.partition(".")
    return (roots[root], dot + part) if root in roots else (-1, name)


def has_complex_address(m: MemoryAccess) -> bool:
    """Return True if an address has a scaled index, or a base, an index and a displacement or symbol."""
    if m.index is None or m.elements != 1:
        return False
    return m.scale > 1 or (m.base is not None and (m.displacement != 0 or m.symbol != ""))


def shape_key(i: Instruction, split_roots: frozenset[str]) -> tuple[Any, dict[str, int]]:
    """Return what binding reads of an instruction except names of registers and constants, and its roots by number.

    Registers are distinguished by the order in which they occur. Implicit ones keep their names, since figures and the
    stack engine refer to them.
    """
    roots: dict[str, int] = {}
    number = roots.setdefault
    key: list[Any] = [i.flags_read, i.flags_written, i.branch, i.move]
    for access in i.registers:
        register, operand = access.register, access.operand
        root = register.root
        named = root if operand is None and not access.address else operand
        key.append(
            (
                *(number(root, len(roots)), register.offset, register.width, register.kind, root in split_roots),
                *(access.read, access.write, named, access.merges, access.conditional, access.address),
            )
        )
    for memory in i.memory:
        base, index = memory.base, memory.index
        at = () if base is None else (number(base.root, len(roots)), base.offset, base.width, base.root in split_roots)
        by = (
            ()
            if index is None
            else (number(index.root, len(roots)), index.offset, index.width, index.root in split_roots)
        )
        named = base.root if memory.operand is None and base is not None else memory.operand
        key.append(
            (
                *(at, by, memory.scale, memory.symbol or memory.segment, memory.size),
                *(memory.load, memory.store, named, memory.elements, has_complex_address(memory)),
            )
        )
    if i.affine is not None:
        target, terms = i.affine.target, i.affine.terms
        key.append(number(target, len(roots)) if target else -1)
        key += [(number(root, len(roots)), coefficient) for root, coefficient in terms]
    return tuple(key), roots


class PipelineFacts(msgspec.Struct, frozen=True):
    """The simulator's facts about one instruction, independent of its place."""

    numbers: tuple[int, ...]
    """Values in the order of `models.binding.pipeline`."""
    move_from: str
    """The source of a move that may be eliminated, as a root name, else ""."""
    move_to: str
    """Its target, else ""."""


_numbers = count()


class PieceCache(msgspec.Struct, frozen=True, kw_only=True):
    """The cache for a core and context."""

    pieces: dict[Any, BoundPiece]
    """Pieces by encoding and neighbours."""
    shapes: dict[Any, PieceShape]
    """Shapes by form, neighbours and `shape_key`."""
    numbers: dict[Any, int]
    """`BoundPiece.number` by the properties that pieces of that number share."""
    joined: dict[tuple[tuple[PieceShape, ...], tuple[int, ...]], tuple[tuple[str, list[int]], ...]]
    """Arrays of kernels by shapes and numbers of locations."""
    wholes: dict[Any, tuple[Any, ...]]
    """Fields of whole kernels (`WholeKernel`)."""

    def keep(self, key: Any, piece: BoundPiece) -> None:
        """Cache a piece for instructions with this key."""
        facts = piece.facts and piece.facts.numbers
        key_of_number = piece.shape, facts, piece.constants, piece.displacements
        number = self.numbers.get(key_of_number)
        # Several threads may do this at once.
        piece.number = self.numbers.setdefault(key_of_number, next(_numbers)) if number is None else number
        self.pieces[key] = piece


def cache_for(model: MachineModel, split_roots: frozenset[str], closed: int, instead: int) -> PieceCache:
    """Return the cache for a core, and for kernels with these registers renamed in parts and these ports closed.

    It is kept with the model, which does not change: a model with other parameters has pieces of its own
    (`MachineModel.with_parameters`).
    """
    caches: dict[Any, PieceCache] = model.caches.setdefault("known", {})
    if sum([len(cache.pieces) + len(cache.shapes) for cache in list(caches.values())]) > MOST_KEPT:
        # Another thread may still use the cache that is dropped, and continue with it.
        caches = model.caches["known"] = {}
    return caches.setdefault(
        (split_roots, closed, instead), PieceCache(pieces={}, shapes={}, numbers={}, joined={}, wholes={})
    )


def join(k: b.BoundKernel, pieces: Sequence[BoundPiece], cache: PieceCache) -> dict[str, int]:
    """Set the arrays of a kernel of at least one instruction to those of its pieces, one after the other.

    Several kernels may share an array: code that changes one must replace it. Returns the numbers of locations by name.
    """
    shapes = tuple([piece.shape for piece in pieces])
    named = [*chain.from_iterable([piece.locations for piece in pieces])]
    locations = dict(zip(dict.fromkeys(named), count()))  # there is no end to count
    key = shapes, tuple([locations[name] for name in named])
    joined = cache.joined.get(key)
    if joined is None:
        # The -1 after the locations of a piece is what location -1 (none) finds.
        joined = _joined(shapes, [[*[locations[name] for name in piece.locations], -1] for piece in pieces])
        if len(pieces) <= LONGEST_JOINED:
            if len(cache.joined) >= MOST_JOINED:
                cache.joined.clear()
            cache.joined[key] = joined
    for name, array in joined:
        setattr(k, name, array)
    k.affine_constant = [*chain.from_iterable([piece.constants for piece in pieces])]
    k.memory_displacement = [*chain.from_iterable([piece.displacements for piece in pieces])]
    return locations


def _joined(shapes: Sequence[PieceShape], located: Sequence[Sequence[int]]) -> tuple[tuple[str, list[int]], ...]:
    """Return the arrays of these shapes by name, except those of constants. `located` has the numbers of locations."""
    k = b.BoundKernel()
    *row, uops, values, affines = zip(*[s.row for s in shapes], strict=True)
    for name, column in zip(_ROW, row, strict=True):
        setattr(k, name, list(column))
    for name, parts in zip(_PLAIN, zip(*[s.plain for s in shapes], strict=True), strict=True):
        setattr(k, name, [*chain.from_iterable(parts)])
    for name, parts in zip(_LOCATED, zip(*[s.located for s in shapes], strict=True), strict=True):
        setattr(k, name, [number[x] for number, part in zip(located, parts, strict=True) for x in part])
    outputs, inputs, terms = zip(*[s.counts for s in shapes], strict=True)
    k.uop_start = [0, *accumulate(uops)]
    k.value_start = [0, *accumulate(values)]
    k.affine_start = [0, *accumulate(affines)]
    k.output_start = [0, *accumulate(chain.from_iterable(outputs))]
    k.input_start = [0, *accumulate(chain.from_iterable(inputs))]
    k.affine_term_start = [0, *accumulate(chain.from_iterable(terms))]
    k.input_id = [
        number[x] if x >= 0 else first + _OWN_VALUE - x
        for first, number, s in zip(k.value_start, located, shapes, strict=False)
        for x in s.input_id
    ]
    operand = count()
    k.memory_of_value = [-1 if x < 0 else next(operand) for s in shapes for x in s.memory_of_value]
    symbols: dict[str, int] = {}
    k.memory_symbol = [
        -1 if x < 0 else symbols.setdefault(s.symbols[x], len(symbols)) for s in shapes for x in s.memory_symbol
    ]
    return tuple([(name, getattr(k, name)) for name in _JOINED])


# --- whole kernels ----------------------------------------------------------------------------------------------------

_FIELDS = tuple([name for name in b.BoundKernel.__slots__ if name != "location_names"])
_fields = attrgetter(*_FIELDS)


class WholeKernel:
    """A kernel made of cacheable pieces, without registers that are renamed in parts.

    The bound kernel depends on the numbers of its pieces, on their addresses, and on which of their locations and
    registers are the same.
    """

    __slots__ = ("_cache", "_key", "names")

    def __init__(
        self, kernel: KernelCode, model: MachineModel, pieces: Sequence[BoundPiece], cache: PieceCache
    ) -> None:
        self._cache = cache
        self.names: list[str] = []
        """Names of locations by number."""
        self._key: Any = None
        if len(pieces) > LONGEST_JOINED:
            return
        named = [*chain.from_iterable([piece.locations for piece in pieces])]
        # The locations that the simulator adds, in its order (models.binding.pipeline).
        stack = model.parameters.get("stack_engine", "")
        if stack and pieces[0].facts is not None:
            named.append(stack)
        moves = [piece.facts for piece in pieces if piece.facts is not None and piece.facts.move_to]
        named += [move.move_from for move in moves]
        named += [move.move_to for move in moves]
        numbers = dict(zip(dict.fromkeys(named), count()))  # there is no end to count
        self.names = list(numbers)
        first = kernel.instructions[0].offset
        registers: list[int] = []
        if model.parameters["late_beside_flags"]:
            # Registers that contain a location, or that have none.
            number = numbers.setdefault
            registers = [number(root, len(numbers)) for piece in pieces for root in piece.roots]
        self._key = (
            tuple([piece.number for piece in pieces]),
            tuple([numbers[name] for name in named]),
            tuple(registers),
            tuple([i.offset - first for i in kernel.instructions]),
            kernel.alignment,
            kernel.is_loop,
        )

    def find(self) -> b.BoundKernel | None:
        """Return an equal kernel from the cache, without the values of registers at its start, or None.

        It shares arrays and pipeline with the cached one: code that changes one of them must replace it.
        """
        cached = self._cache.wholes.get(self._key)
        if cached is None:
            return None
        kernel = b.BoundKernel()
        for name, value in zip(_FIELDS, cached, strict=True):
            setattr(kernel, name, value)
        kernel.location_names = self.names
        return kernel

    def keep(self, bound: b.BoundKernel) -> None:
        """Cache a newly bound kernel, without the values of registers at its start."""
        if self._key is None:
            return
        wholes = self._cache.wholes
        if len(wholes) >= MOST_JOINED:
            wholes.clear()
        wholes[self._key] = _fields(bound)


# --- registers --------------------------------------------------------------------------------------------------------


def is_vector(r: Register) -> bool:
    """Return True for a vector register, or a part of one."""
    return r.kind == "vector"


class RegisterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of an instruction's registers."""

    registers: tuple[RegisterAccess, ...]
    """The registers that the facts are about."""
    high: frozenset[str]
    """Roots whose bits 8-15 are named."""
    vector_bits: int
    """The width of the widest vector register, 0 without any."""
    written: frozenset[str]
    """Roots that are written."""


_FACTS: dict[bytes, RegisterFacts] = {}


def register_facts(i: Instruction) -> RegisterFacts:
    """Return the facts of an instruction, computed once for each encoding."""
    cached = _FACTS.get(i.encoding)
    if cached is not None and cached.registers is i.registers:
        return cached
    if len(_FACTS) > MOST_KEPT:
        _FACTS.clear()
    facts = _FACTS[i.encoding] = RegisterFacts(
        registers=i.registers,
        high=frozenset(a.register.root for a in i.registers if a.register.offset == 8),
        vector_bits=max((a.register.width for a in i.registers if is_vector(a.register)), default=0),
        written=frozenset(a.register.root for a in i.registers if a.write),
    )
    return facts
