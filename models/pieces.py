"""Pieces of bound kernels: what one instruction adds to the arrays, made once for each encoding and context.

Most instructions of a program are ones that were bound before. What binding makes of one depends on its neighbours in
few ways (macro-fusion, pointers just loaded, being the last), and beyond that only in numbers that count along: those
of locations, symbols, values and memory operands. A piece has them from 0, and `append` shifts them to their place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from incc.models import bound as b

if TYPE_CHECKING:
    from incc.frontends.kernel import Instruction, Register, RegisterAccess
    from incc.models.model import Form, MachineModel

MOST_KEPT = 16384
"""Pieces kept for a core and context; about 3 KB each. They are dropped when there are more, and made again."""


class Piece:
    """The arrays of a kernel of one instruction, with the names of its locations and symbols by number.

    `instruction` are its entries in the arrays with one an instruction, `uops` those of µops, and so on in the order of
    `append`; they are tuples, which the garbage collector need not look into.
    """

    __slots__ = (
        "affine",
        "all_locations",
        "form",
        "instruction",
        "locations",
        "made_from",
        "memory",
        "symbols",
        "uops",
        "values",
    )

    def __init__(
        self,
        i: Instruction,
        form: Form | None,
        k: b.BoundKernel,
        locations: tuple[str, ...],
        symbols: tuple[str, ...],
    ) -> None:
        self.made_from = i.registers, i.memory, i.affine, i.branch
        self.form = form
        self.locations = locations
        self.symbols = symbols
        self.all_locations = b.INPUT_VALUE not in k.input_kind
        self.instruction = k.instruction_flags[0], k.issue_slots[0], k.retire_slots[0], k.latency[0], k.load_latency[0]
        self.uops = _tuples(k.uop_ports, k.uop_cycles, k.uop_kind)
        self.values = _tuples(
            *(k.value_kind, k.output_location, k.output_start[1:]),
            *(k.input_kind, k.input_latency, k.input_start[1:], k.input_id, k.memory_of_value),
        )
        self.memory = _tuples(
            *(k.memory_base, k.memory_index, k.memory_scale, k.memory_displacement),
            *(k.memory_size, k.memory_symbol, k.memory_class, k.memory_elements),
        )
        self.affine = _tuples(
            *(k.affine_target, k.affine_constant),
            *(k.affine_term_location, k.affine_term_coefficient, k.affine_term_start[1:]),
        )

    def fits(self, i: Instruction, form: Form | None) -> bool:
        """Whether the instruction of the same encoding is the same in all that this was made from.

        It may differ: in addresses relative to its own, in symbols, in the names of x87 registers, in its figures.
        """
        # Comparing tuples begins with identity, and instructions of one encoding mostly share these.
        return form is self.form and self.made_from == (i.registers, i.memory, i.affine, i.branch)


def _tuples(*arrays: list[int]) -> tuple[tuple[int, ...], ...]:
    return tuple([tuple(array) for array in arrays])


_Key = tuple[bytes, bool, "str | None", bool, tuple[bool, ...]]


def pieces(model: MachineModel, split_roots: frozenset[str], closed: int, instead: int) -> dict[_Key, Piece]:
    """The pieces known for a core, in kernels with these registers renamed in parts and these ports closed.

    Whoever changes a model's parameters gets others: what pieces depend on is part of where they are kept.
    """
    p = model.parameters
    context: Any = (
        split_roots,
        closed,
        instead,
        tuple(p["load_latency"].items()),
        p.get("stack_engine"),
        p.get("memory_renaming"),
        tuple(model.functions.items()),
        model.ports,
        model.resources,
    )
    known: dict[_Key, Piece] = model.pieces.setdefault(context, {})
    if len(known) > MOST_KEPT:
        known.clear()
    return known


def append(k: b.BoundKernel, piece: Piece, locations: dict[str, int], symbols: dict[str, int]) -> None:
    """Append a piece to the arrays of a kernel; `locations` and `symbols` number the kernel's names."""
    # Behind the numbers of the locations stands -1, which -1 finds.
    location = [locations.setdefault(name, len(locations)) for name in piece.locations]
    location.append(-1)

    flags, issued, retired, latency, load_latency = piece.instruction
    k.instruction_flags.append(flags)
    k.issue_slots.append(issued)
    k.retire_slots.append(retired)
    k.latency.append(latency)
    k.load_latency.append(load_latency)

    ports, cycles, kinds = piece.uops
    k.uop_ports += ports
    k.uop_cycles += cycles
    k.uop_kind += kinds
    k.uop_start.append(len(k.uop_ports))

    value_kind, output, output_start, input_kind, input_latency, input_start, input_id, memory_of = piece.values
    if value_kind:
        first, outputs, inputs = len(k.value_kind), len(k.output_location), len(k.input_id)
        k.value_kind += value_kind
        k.output_location += [location[x] for x in output]
        k.output_start += [outputs + x for x in output_start]
        k.input_kind += input_kind
        k.input_latency += input_latency
        k.input_start += [inputs + x for x in input_start]
        if piece.all_locations:
            k.input_id += [location[x] for x in input_id]
        else:
            k.input_id += [
                first + x if kind == b.INPUT_VALUE else location[x]
                for kind, x in zip(input_kind, input_id, strict=True)
            ]
        base, index, scale, displacement, size, symbol, memory_class, elements = piece.memory
        if base:
            operand = len(k.memory_base)
            k.memory_of_value += [-1 if x < 0 else operand + x for x in memory_of]
            k.memory_base += [location[x] for x in base]
            k.memory_index += [location[x] for x in index]
            k.memory_scale += scale
            k.memory_displacement += displacement
            k.memory_size += size
            number = [symbols.setdefault(name, len(symbols)) for name in piece.symbols]
            number.append(-1)
            k.memory_symbol += [number[x] for x in symbol]
            k.memory_class += memory_class
            k.memory_elements += elements
        else:
            k.memory_of_value += memory_of
    k.value_start.append(len(k.value_kind))

    target, constant, term, coefficient, term_start = piece.affine
    if target:
        terms = len(k.affine_term_location)
        k.affine_target += [location[x] for x in target]
        k.affine_constant += constant
        k.affine_term_location += [location[x] for x in term]
        k.affine_term_coefficient += coefficient
        k.affine_term_start += [terms + x for x in term_start]
    k.affine_start.append(len(k.affine_target))


# --- registers --------------------------------------------------------------------------------------------------------


def is_vector(r: Register) -> bool:
    """Whether the register is a vector register (x86: zmm0 …, AArch64: z0 …), or a part of one."""
    return r.root.startswith("z")


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
    found = _FACTS[i.encoding] = RegisterFacts(
        i.registers,
        frozenset(a.register.root for a in i.registers if a.register.offset == 8),
        max((a.register.width for a in i.registers if is_vector(a.register)), default=0),
        frozenset(a.register.root for a in i.registers if a.write),
    )
    return found
