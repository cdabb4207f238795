"""Pieces of bound kernels: what one instruction adds to the arrays, made once for each shape and context.

Most instructions of a program are ones that were bound before, or that differ from such a one in nothing but the names
of registers and constants. What binding makes of one depends on its neighbours in few ways (macro-fusion, pointers just
loaded, being the last), and beyond that only in numbers that count along: those of locations, symbols, values and
memory operands. A shape has them from 0, a piece adds the names and constants of one encoding, and `join` shifts them
to their place. Kernels of the same shapes whose locations are numbered alike have these arrays in common, and of those
that differ in nothing but names all is kept: loops that a compiler cloned, regions that a script wrote.
"""

from __future__ import annotations

from itertools import accumulate, chain, count, pairwise
from operator import attrgetter

from incc.frontends.records import NamedTuple
from incc.models.binding import bound as b

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from typing import Any

    from incc.frontends.kernel import Instruction, Kernel, RegisterAccess
    from incc.frontends.kernel import Register as Register
    from incc.models.model import Form, MachineModel

MOST_KEPT = 16384
"""Pieces kept for a core and context; less than 1 KB each. They are dropped when there are more, and made again."""

MOST_JOINED = 256
"""Kernels of which the joined arrays are kept for a core and context, of those of at most LONGEST_JOINED instructions:
loops of one file that differ in names and constants alone."""
LONGEST_JOINED = 64

_ROW = (
    *("instruction_flags", "issue_slots", "retire_slots", "latency", "load_latency"),
    *("forward_group", "forward_delay", "delays_from", "delays_to"),
)
_PLAIN = (
    *("uop_ports", "uop_cycles", "uop_kind", "value_kind", "input_kind", "input_latency"),
    *("memory_scale", "memory_size", "memory_class", "memory_elements", "memory_partial", "affine_term_coefficient"),
)
_LOCATED = ("output_location", "memory_base", "memory_index", "affine_target", "affine_term_location")

_JOINED = (
    *(*_ROW, *_PLAIN, *_LOCATED, "input_id", "memory_of_value", "memory_symbol"),
    *("uop_start", "value_start", "affine_start", "output_start", "input_start", "affine_term_start"),
)

_OWN_VALUE = -1


class Shape:
    """The arrays of a kernel of one instruction, without names and constants.

    `row` are its entries in the arrays with one an instruction, and how many µops, values and affine entries it has;
    `plain` the arrays that are joined as they are; `located` those of numbers of locations, -1 for none; `counts` how
    many outputs and inputs each value has, and how many terms each affine entry; `input_id` locations, and values n of
    the instruction itself as _OWN_VALUE - n. `symbols` are the names of the symbols
    by number, `locations` (number of the root in the order of the instruction's `roots`, -1 for none; what is behind
    the root's name, or the whole name). `facts` is what the simulator must know of instructions of this shape, by what
    they differ in (models.pipeline).
    """

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
        self.facts: dict[Any, Facts] = {}
        self.row = (
            *[getattr(k, name)[0] for name in _ROW],
            *(len(k.uop_ports), len(k.value_kind), len(k.affine_target)),
        )
        self.plain = tuple([tuple(getattr(k, name)) for name in _PLAIN])
        self.located = tuple([tuple(getattr(k, name)) for name in _LOCATED])
        self.counts = _counts(k.output_start), _counts(k.input_start), _counts(k.affine_term_start)
        self.input_id = tuple(
            [
                x if kind == b.INPUT_LOCATION else _OWN_VALUE - x
                for kind, x in zip(k.input_kind, k.input_id, strict=True)
            ]
        )
        self.memory_of_value = tuple(k.memory_of_value)
        self.memory_symbol = tuple(k.memory_symbol)
        self.symbols = tuple(symbols)
        self.locations = tuple([_split(name, roots) for name in locations])


class Piece:
    """A shape with the names of its locations by number, the constants of its memory and affine parts, and the `facts`
    of it that the simulator needs (None for a core that is not simulated).

    `roots` are the registers of the instruction in the order in which they are met; `number` is shared with the pieces
    that differ in these alone, -1 for one that is not kept.
    """

    __slots__ = ("constants", "displacements", "facts", "locations", "made_from", "number", "roots", "shape")

    def __init__(self, i: Instruction, shape: Shape, roots: dict[str, int], facts: Facts | None) -> None:
        self.made_from = i.registers, i.memory, i.affine, i.branch
        self.shape = shape
        self.facts = facts
        self.number = -1
        self.roots = tuple(roots)
        names = list(roots)
        self.locations = tuple([names[root] + rest if root >= 0 else rest for root, rest in shape.locations])
        # In the order in which binding adds values.
        self.displacements: tuple[int, ...] = ()
        if shape.memory_symbol:
            self.displacements = (
                *[m.displacement for m in i.memory if m.load],
                *[m.displacement for m in i.memory if m.store],
            )
        self.constants = () if i.affine is None else (i.affine.constant,)

    def fits(self, i: Instruction, form: Form | None) -> bool:
        """Whether the instruction of the same encoding is the same in all that this was made from.

        It may differ: in addresses relative to its own, in symbols, in the names of x87 registers, in its figures.
        """
        # Comparing tuples begins with identity, and instructions of one encoding mostly share these.
        return form is self.shape.form and self.made_from == (i.registers, i.memory, i.affine, i.branch)


def _counts(starts: list[int]) -> tuple[int, ...]:
    return tuple([end - start for start, end in pairwise(starts)])


def _split(name: str, roots: dict[str, int]) -> tuple[int, str]:
    root, dot, part = name.partition(".")
    return (roots[root], dot + part) if root in roots else (-1, name)


def shape_key(i: Instruction, split_roots: frozenset[str]) -> tuple[Any, dict[str, int]]:
    """All of an instruction that binding looks at but the names of registers and constants, and its roots by number.

    Registers are told apart by the order in which they are met. Implicit ones keep their names, since figures and the
    stack engine refer to them.
    """
    roots: dict[str, int] = {}
    number = roots.setdefault
    key: list[Any] = [i.flags_read, i.flags_written, i.branch, i.move]
    for (_, root, offset, width, kind), read, write, operand, merges, conditional, address in i.registers:
        named = root if operand is None and (write or not address) else operand
        split = root in split_roots
        key.append(
            (number(root, len(roots)), offset, width, read, write, named, merges, conditional, address, kind, split),
        )
    for base, index, scale, _, symbol, segment, size, load, store, operand, elements in i.memory:
        at = () if base is None else (number(base.root, len(roots)), base.offset, base.width, base.root in split_roots)
        by = (
            ()
            if index is None
            else (number(index.root, len(roots)), index.offset, index.width, index.root in split_roots)
        )
        named = base.root if operand is None and base is not None else operand
        key.append((at, by, scale, symbol or segment, size, load, store, named, elements))
    if i.affine is not None:
        target, terms, _ = i.affine
        key.append(number(target, len(roots)) if target else -1)
        key += [(number(root, len(roots)), coefficient) for root, coefficient in terms]
    return tuple(key), roots


class Facts(NamedTuple):
    """What the simulator must know of one instruction wherever it is: `numbers` by the names that
    `models.pipeline` has for them.

    `move_from` and `move_to` are registers (roots), "" if it is no move that can be eliminated.
    """

    numbers: tuple[int, ...]
    move_from: str
    move_to: str


_numbers = count()


class Known(NamedTuple):
    """What is kept for a core and context: pieces by encoding, shapes by what makes them, each with its neighbours;
    the numbers of pieces by what is the same in all that have them; the arrays of kernels by shapes and the numbers of
    locations; whole kernels (`Whole`)."""

    pieces: dict[Any, Piece]
    shapes: dict[Any, Shape]
    numbers: dict[Any, int]
    joined: dict[tuple[tuple[Shape, ...], tuple[int, ...]], tuple[tuple[str, list[int]], ...]]
    wholes: dict[Any, tuple[Any, ...]]

    def keep(self, key: Any, piece: Piece) -> None:
        """Keep a piece for instructions with this key."""
        facts = piece.facts and piece.facts.numbers
        like = piece.shape, facts, piece.constants, piece.displacements
        number = self.numbers.get(like)
        # Several threads may be at this.
        piece.number = self.numbers.setdefault(like, next(_numbers)) if number is None else number
        self.pieces[key] = piece


def known_for(model: MachineModel, split_roots: frozenset[str], closed: int, instead: int) -> Known:
    """What is known for a core, in kernels with these registers renamed in parts and these ports closed.

    It is kept with the model, which does not change: whoever wants other parameters gets another model, with pieces of
    its own (MachineModel.with_parameters).
    """
    kept: dict[Any, Known] = model.pieces.setdefault("known", {})
    if sum([len(known.pieces) + len(known.shapes) for known in list(kept.values())]) > MOST_KEPT:
        # Another thread may be at work with the one that is let go, and go on with it.
        kept = model.pieces["known"] = {}
    return kept.setdefault((split_roots, closed, instead), Known({}, {}, {}, {}, {}))


def join(k: b.BoundKernel, pieces: Sequence[Piece], known: Known) -> dict[str, int]:
    """Set the arrays of a kernel of at least one instruction to those of its pieces, one behind the other. Several
    kernels may have one and the same array: who changes one puts another in its place.

    Returns the numbers of its locations by their names.
    """
    shapes = tuple([piece.shape for piece in pieces])
    named = [*chain.from_iterable([piece.locations for piece in pieces])]
    locations = dict(zip(dict.fromkeys(named), count()))  # there is no end to count
    like = shapes, tuple([locations[name] for name in named])
    joined = known.joined.get(like)
    if joined is None:
        # Behind the numbers of the locations of a piece stands -1, which -1 finds.
        joined = _joined(shapes, [[*[locations[name] for name in piece.locations], -1] for piece in pieces])
        if len(pieces) <= LONGEST_JOINED:
            if len(known.joined) >= MOST_JOINED:
                known.joined.clear()
            known.joined[like] = joined
    for name, array in joined:
        setattr(k, name, array)
    k.affine_constant = [*chain.from_iterable([piece.constants for piece in pieces])]
    k.memory_displacement = [*chain.from_iterable([piece.displacements for piece in pieces])]
    return locations


def _joined(shapes: Sequence[Shape], located: Sequence[Sequence[int]]) -> tuple[tuple[str, list[int]], ...]:
    """The arrays of these shapes by their names, but for those of constants. `located`: numbers of locations."""
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


class Whole:
    """A kernel made of these pieces, none of which is of this kernel alone; no part of a register is renamed apart.

    What is bound depends on what is the same in all pieces of a number, on where they lie, and on which of their
    locations and registers are the same ones. `names` are those of the locations, in the order of their numbers.
    """

    __slots__ = ("_key", "_known", "names")

    def __init__(self, kernel: Kernel, model: MachineModel, pieces: Sequence[Piece], known: Known) -> None:
        self._known = known
        self.names: list[str] = []
        self._key: Any = None
        if len(pieces) > LONGEST_JOINED:
            return
        named = [*chain.from_iterable([piece.locations for piece in pieces])]
        # What the simulator adds to the locations, in its order (models.pipeline).
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
            # Registers of which a location is a part, or which have none.
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
        """The kernel, if one that is alike was kept, without what its registers hold at its start. It has its arrays
        and its pipeline in common with that one: who changes one of them puts another in its place."""
        known = self._known.wholes.get(self._key)
        if known is None:
            return None
        found = b.BoundKernel()
        for name, value in zip(_FIELDS, known, strict=True):
            setattr(found, name, value)
        found.location_names = self.names
        return found

    def keep(self, bound: b.BoundKernel) -> None:
        """Keep a kernel that was not found, as it is bound, without what its registers hold at its start."""
        if self._key is None:
            return
        wholes = self._known.wholes
        if len(wholes) >= MOST_JOINED:
            wholes.clear()
        wholes[self._key] = _fields(bound)


# --- registers --------------------------------------------------------------------------------------------------------


def is_vector(r: Register) -> bool:
    """Whether the register is a vector register, or a part of one."""
    return r.kind == "vector"


class RegisterFacts(NamedTuple):
    """What `registers` say at a glance: those (roots) of which bits 8-15 are named, the bits of the widest vector
    register, and those (roots) that are written."""

    registers: tuple[RegisterAccess, ...]
    high: frozenset[str]
    vector_bits: int
    written: frozenset[str]


_FACTS: dict[bytes, RegisterFacts] = {}


def register_facts(i: Instruction) -> RegisterFacts:
    """The facts of an instruction, worked out once for each encoding."""
    known = _FACTS.get(i.encoding)
    if known is not None and known.registers is i.registers:
        return known
    if len(_FACTS) > MOST_KEPT:
        _FACTS.clear()
    found = _FACTS[i.encoding] = RegisterFacts(
        i.registers,
        frozenset(a.register.root for a in i.registers if a.register.offset == 8),
        max((a.register.width for a in i.registers if is_vector(a.register)), default=0),
        frozenset(a.register.root for a in i.registers if a.write),
    )
    return found
