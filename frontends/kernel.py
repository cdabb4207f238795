"""The frontends' results, for any instruction set: regions of assembly, decoded instructions, kernels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

import msgspec
from msgspec.structs import replace

from incc.support.quantities import Count, Positive

RegionKind = Literal["loop", "marker", "address", "file", "code"]
Basis = Literal["inferred", "compiler"]
RoleName = Literal["main", "remainder", "prologue", "fallback", "outer", "partial", ""]
LoopShape = Literal["innermost", "partial", "irreducible"]
CompiledKind = Literal[
    "plain", "vector-body", "interleaved", "epilogue", "scalar", "unroll-rest", "unversioned", "unknown"
]

# --- regions ---------------------------------------------------------------------------------------------------------


LAST_LINE = (1 << 32) - 1
"""The largest number of a line in the source. Damaged debug information has larger and negative ones."""


def line_number(digits: str) -> int:
    """Return the number of a line or file in debug information, 0 for what is none."""
    number = int(digits) if len(digits) <= len(str(LAST_LINE)) and digits.isdecimal() else 0
    return number if number <= LAST_LINE else 0


class SourceLocation(msgspec.Struct, frozen=True, order=True):
    """A place in the user's source."""

    file: str
    line: Count

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Frame(msgspec.Struct, frozen=True):
    """A function that contains the loop, directly or after inlining."""

    function: str
    """The symbol or name; in a report the name as the source writes it, without parameters and template arguments."""
    file: str
    line: Count
    """The line in that function at which the next function was inlined; in the last frame the loop's line."""


class Inlined(msgspec.Struct, frozen=True):
    """A function inlined at a place."""

    entry: int
    """A number that tells one inlined call from another."""
    name: str
    """Its symbol if the debug information has one, else its name, as far as it is known."""
    call: tuple[str, int]
    """File and line of the call that it replaces."""


class Variable(msgspec.Struct, frozen=True):
    """A variable of the source at an address of the code."""

    entry: int
    """A number that tells variables of one name apart."""
    name: str
    place: VariablePlace | None
    """None if it is elsewhere, or nowhere."""


class VariablePlace(msgspec.Struct, frozen=True):
    """The place of a variable's value."""

    register: int
    """The number, as of debug information, of the register that holds it, or of the one that addresses it in memory."""
    displacement: int | None = None
    """Bytes from the address in the register to the variable in memory; None if the register holds it."""
    earlier: bool = False
    """The register held it when the function was called."""


class LineSet:
    """A set of lines as the bits of a number.

    In a function with thousands of loops, the sets of loops around each loop take thousands of bits, not of numbers.
    """

    __slots__ = ("_bits", "_of_line")

    def __init__(self, of_line: Mapping[int, int], bits: int) -> None:
        """Make a set of the lines that have one of these bits in `of_line`."""
        self._of_line = of_line
        self._bits = bits

    def __contains__(self, line: int) -> bool:
        return bool(self._bits & self._of_line.get(line, 0))

    def __iter__(self) -> Iterator[int]:
        return (line for line, bits in self._of_line.items() if self._bits & bits)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, (LineSet, frozenset, set)) and set(self) == set(other)

    def __hash__(self) -> int:
        return hash(frozenset(self))


class Neighbours(msgspec.Struct, frozen=True):
    """The other innermost loops of a loop's function, by their first lines, and the loops around it."""

    later: frozenset[int] | LineSet = frozenset()
    """Loops that control can reach from this one without going around an enclosing loop."""
    always_before: frozenset[int] | LineSet = frozenset()
    """Loops whose headers control must have passed to get here without going around an enclosing loop."""
    enclosing: tuple[SourceLocation, ...] = ()
    """The places of the loops around this one, innermost first."""


class CompiledStream(msgspec.Struct, frozen=True, kw_only=True):
    """A group of similar loads or stores in the compiler's representation of a loop."""

    store: bool
    element_bytes: Count
    lanes: Positive
    """Elements per access."""
    scalable: bool
    """True if the number of lanes is to be multiplied by vscale."""
    step: int | None
    """Bytes by which the address advances per iteration; None if this is not constant."""
    accesses: Positive


class Transformations(msgspec.Struct, frozen=True, kw_only=True):
    """The transformations that the compiler's passes applied to a loop, by its own record."""

    kind: CompiledKind
    """plain: unchanged or unrolled; vector-body: vectorised; interleaved: several scalar copies side by side; epilogue:
    shorter vectors for the iterations that the vector body leaves over; scalar: the scalar version of a vectorised
    loop, for remaining iterations or where vectors cannot be used; unroll-rest: the remainder of an unrolled loop;
    unversioned: the version without assumptions that run-time checks verify; unknown: the origin was lost."""
    iterations: int | None = None
    """Iterations of the source's loop per iteration of this one, times vscale if scalable; None if unknown."""
    width: Positive = 1
    """Lanes of the vectoriser's vectors, times vscale if scalable; 1 without vectors."""
    scalable: bool = False
    interleave: Positive = 1
    """The vectoriser's interleave count."""
    unroll: Positive = 1
    """The unroll factor applied after vectorisation."""
    peeled: Count = 0
    """Iterations peeled off before the loop."""
    trip_count: int | None = None
    """Iterations of this loop each time it is entered; None if not constant."""
    max_trip_count: int | None = None
    """An upper limit of the trip count; None if unknown."""
    trip_multiple: Positive = 1
    """A known divisor of the trip count."""
    expected_trip_count: int | None = None
    """The trip count according to the compiler's profile data; None without a profile."""
    source_trip_count: int | None = None
    """The trip count of the source's loop; None if not constant."""
    source_max_trip_count: int | None = None
    """An upper limit of the source loop's trip count; None if unknown."""
    streams: list[CompiledStream] = []
    """The loop's loads and stores."""


class CompiledLoop(Transformations, frozen=True, kw_only=True):
    """A compiler's description of an innermost loop that it has made."""

    number: int
    """Its number in the unit."""
    function: str
    source_loop: int = -1
    """A number common to all loops that were made of one loop of the source, -1 if unknown."""
    role: RoleName = ""
    """Its part among those."""
    of: int = -1
    """The number of the main loop among those, -1 for none."""
    instead: bool = False
    """It is a remainder that also runs instead of the main loop."""
    lines: tuple[int, ...] = ()
    """The lines of the calls in the functions around it, outermost first, and the loop's own; empty if unknown."""

    @property
    def fixed_iterations(self) -> int:
        """Iterations of the source's loop in one trip, 0 if they are unknown or depend on the processor."""
        return 0 if self.scalable else self.iterations or 0


class CodeSpan(msgspec.Struct, frozen=True):
    """A run of a loop's instructions, placed relative to the symbol before it."""

    symbol: str
    """The function, or its cold part."""
    offset: Count
    """Bytes from the symbol to the first instruction."""
    bytes: Count
    """Bytes of the run, with any padding between its instructions."""


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """A span of assembly text to analyse."""

    kind: RegionKind
    """An innermost natural loop, code between markers, code between two addresses, the whole file, or code without a
    text."""
    name: str
    function: str = ""
    label: str = ""
    """The label of the loop's header."""
    first_line: int
    last_line: int
    lines: tuple[int, ...]
    """The 1-based lines of the instructions on the analysed path, in the order of execution."""
    body_lines: tuple[int, ...]
    """The lines of all instructions; equal to `lines` unless there are branches inside."""
    runs: tuple[tuple[str, int, int], ...] = ()
    """Symbol of the function, first and last line of each run of a loop's instructions in the layout."""
    is_loop: bool = False
    """The path ends in a branch back to its start."""
    shape: LoopShape = "innermost"
    """partial: the iterations of a loop that enter no loop inside; irreducible: a loop that is also entered behind its
    first instruction; innermost: any other loop, and code that is no loop."""
    depth: int = 0
    """The loop's nesting depth, 1 for an outermost loop."""
    source: SourceLocation | None = None
    outer: SourceLocation | None = None
    """The place of the loop directly around a loop; None if there is none, or it is unknown."""
    notes: tuple[str, ...] = ()
    """Sentences that a reader must know, such as "contains a call to foo"."""
    forks: int = 0
    """The number of branches inside with both ways in the loop."""
    neighbours: Neighbours = Neighbours()
    around: tuple[int, ...] = ()
    """The lines of the instructions of the loop directly around a loop that are outside of it, in the order of the
    text. Empty if there is none, or if it is large."""
    compiled: CompiledLoop | None = None
    """The compiler's description of the loop, if there is one."""


class PrecedingBlocks(msgspec.Struct, frozen=True):
    """The blocks that are executed before a loop."""

    lines: tuple[tuple[int, ...], ...]
    """For each block the 1-based lines of instructions that may write to general-purpose registers or to the stack."""
    predecessors: tuple[tuple[int, ...], ...]
    """For each block those from which it is entered, -1 for one that is not listed (the caller, or too far away)."""
    entering: tuple[int, ...]
    """The blocks from which control first reaches the loop's first instruction, or -1 as in `predecessors`."""
    wanted: tuple[str, ...] = ()
    """The registers whose values at entry are wanted besides those of addresses."""


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A loop or marked span that is not analysed."""

    first_line: Count = 0
    last_line: Count = 0
    function: str = ""
    label: str = ""
    reason: str
    """For instance irreducible control flow, or a marker without an end."""


# --- machine code ----------------------------------------------------------------------------------------------------


class Relocation(msgspec.Struct, frozen=True, kw_only=True):
    """A field for the linker to fill."""

    offset: int
    """In its section, in bytes."""
    symbol: str
    """The name of the symbol, of the section for local ones."""
    addend: int
    pc_relative: bool
    """The field holds symbol + addend - its own address."""


class Placed(msgspec.Struct, frozen=True):
    """An instruction of an assembly text with its place in the object that an assembler made of the text."""

    line: int
    text: str
    section: int
    """The number of the section."""
    start: int
    """The offset of its first byte in the section."""
    end: int
    """The offset after its last byte."""


Decode = Callable[[int, int, str], tuple[int, int]]
"""Decodes the instruction of a statement (its text) in a section (its number) at an offset.

Returns its length, and the offset that it jumps to, -1 for other instructions. The length is 0 if another instruction
is there.
"""


class MadeObject(msgspec.Struct, frozen=True):
    """The object that an assembler has made of an assembly text."""

    data: bytes
    place: Callable[[Sequence[int], Mapping[str, tuple[int, int]], Decode], list[Placed] | None]
    """Returns the instructions on lines of the text, as `incc.frontends.asm.placed.place` does."""


# --- instructions ----------------------------------------------------------------------------------------------------


class Register(msgspec.Struct, frozen=True, kw_only=True):
    """A register or a part of one."""

    name: str
    """The assembler's name ("al", "xmm3")."""
    root: str
    """The name of the widest register of which it is a part, the same for all parts.

    For instance "rax", "zmm3", "k1", "rip"; on AArch64 "x0", "z3", "p1" for w0, q3, p1.
    """
    offset: int
    """The position in the root, in bits."""
    width: int
    """In bits. SVE registers have the 2048 bits that the architecture allows."""
    kind: str
    """One of "general", "vector", "mmx", "mask" (for vector elements), "x87" and "tile"; "" for rare registers."""


class RegisterAccess(msgspec.Struct, frozen=True, kw_only=True):
    """A register that an instruction reads or writes, as an operand or implicitly."""

    register: Register
    read: bool
    write: bool
    operand: int | None
    """The 0-based index in Intel operand order (destination first).

    It is None for implicit registers and for registers that form addresses, -1 for a mask register (`{%k1}`).
    """
    merges: bool = False
    """The write keeps the other bits of the root (al, ax, legacy-SSE xmm), so the root's old value is an input."""
    conditional: bool = False
    """The write may not happen (cmov, merge masking), so the old value is an input; `read` is also set."""
    address: bool = False
    """The register is only read to form an address. If it is also written, the new address is written back to it."""


class MemoryAccess(msgspec.Struct, frozen=True, kw_only=True):
    """A memory operand, explicit or implicit (push, movs).

    The address is base + index*scale + displacement (+ symbol).
    """

    base: Register | None
    index: Register | None
    scale: int
    displacement: int
    symbol: str
    """The relocation's symbol for RIP-relative and absolute addresses, else ""."""
    segment: str
    size: int
    """In bytes, 0 if it is not fixed."""
    load: bool
    store: bool
    operand: int | None
    """As in RegisterAccess."""
    elements: int = 1
    """The number of separate accesses (gathers, scatters)."""
    element: int = 0
    """The size in bytes of an element in memory, if the instruction tells."""
    scalable: bool = False
    """The size and the displacement, or the number of elements, grow with the length of vectors (`with_vectors`)."""


class Affine(msgspec.Struct, frozen=True):
    """A linear effect of an instruction on a register: target = sum(coefficient * root) + constant.

    It serves to compare addresses symbolically, also between iterations.
    """

    target: str
    """A register; "" for memory that the instruction both loads and stores, to which terms and constant are added."""
    terms: tuple[tuple[str, int], ...]
    """(root, coefficient), over full-width (64-bit, or 32-bit zero-extended) general-purpose registers."""
    constant: int
    scalable: bool = False
    """The constant grows with the length of vectors (`with_vectors`)."""


Value = tuple[tuple[tuple[str, int], ...], int]
"""A sum modulo 2^64: (unknown, coefficient) pairs sorted by unknown, and a constant."""


class Origin(msgspec.Struct, frozen=True):
    """The place of an unknown value (`KernelCode.entry`) where it comes from."""

    unknown: str
    register: str
    """The root of the register that holds it, or of the one that addresses it in memory; "" for a symbol."""
    displacement: int | None
    """Bytes from the address in the register to the value in memory; None if the register holds the value."""
    symbol: str
    """The symbol of the memory that it is loaded from, "" for none."""
    line: Count
    """The line of an assembly text."""
    address: Count
    """In an object, the address at which it is there, as of `Section.debug_address`."""
    after: bool = False
    """It is there after the instruction on the line, not before."""


class Entry(msgspec.Struct, frozen=True):
    """The values of registers when a loop is entered (`KernelCode`)."""

    values: tuple[Affine, ...] = ()
    alone: tuple[Affine, ...] = ()
    products: Mapping[str, tuple[str, str]] = {}
    origins: tuple[Origin, ...] = ()
    held: Mapping[str, str] = {}


class Arithmetic(msgspec.Struct, frozen=True, kw_only=True):
    """Arithmetic on vector registers."""

    packed: bool
    floating: bool
    element: int
    """Bits of an element."""
    width: int
    """Bits of the registers."""
    operations: int
    """Additions, multiplications, divisions … of one instruction (8 for a fused multiply-add of 4 doubles)."""
    scalable: bool = False
    """Width and operations grow with the length of vectors (`with_vectors`)."""


class Sum(msgspec.Struct, frozen=True):
    """The operands of a floating-point sum or difference, by their indices."""

    addends: tuple[int, ...]
    """Operands that are added unchanged."""
    others: tuple[int, ...]
    """Operands that are negated or multiplied: a subtrahend, the factors of a fused multiply-add."""


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """A decoded instruction, independent of any microarchitecture."""

    text: str
    """The statement as the user wrote it, without comments and redundant blanks."""
    line: int
    """1-based, 0 if there is none."""
    offset: int
    """From the start of its section or block, in bytes."""
    length: int
    """In bytes."""
    mnemonic: str
    form: str
    """The name of the instruction form in the models.

    For x86 it is iced-x86's Code name with "/m" if a memory operand was used where a register could be, else "/r"
    (`VEX_VFMADD213PD_YMM_YMM_YMMM256/m`). For AArch64 it is mnemonic and operand shapes (`fmla/v.2d,v.2d,v.2d`, see
    `frontends.aarch64.forms`).
    """
    traits: frozenset[str]
    """Conditions on which latencies and µops may depend.

    "indexed" (a memory operand with an index), "same_reg" (all register sources are one register),
    "high8_0"/"high8_1" (operand 0/1 is ah..dh), "mask", "zeroing", "bcast", "lock", "rep", "repne", "imm0" (immediate
    zero), "er" (embedded rounding), "sae" (exceptions suppressed without it), "agen:B_IS_D8" (the address parts of a
    lea: Base, Index, Index with Scale above 1, displacement of 8 or 32 bits, R for RIP), "rm0-3"/"rm4-7" (the lower
    three bits of the number of a low byte register in operand 0).
    """
    operands: str
    """A letter for each operand in Intel order: "r" register, "m" memory, "i" immediate, "b" branch target."""
    registers: tuple[RegisterAccess, ...]
    memory: tuple[MemoryAccess, ...]
    flags_read: str
    """Letters of "CPAZSO". Other flags, such as D and I, are left out; AArch64's N, Z, C, V are S, Z, C, O."""
    flags_written: str
    """As `flags_read`. An undefined flag counts as written."""
    branch: str
    """One of "", "conditional", "unconditional", "indirect", "call" and "return"."""
    target: str
    """The label or address of a branch."""
    affine: Affine | None
    idiom: str
    """Set to "zero" or "ones" if the result does not depend on the inputs (xor of a register with itself).

    The model knows which cores recognise it.
    """
    move: bool
    """It is a plain move between full registers."""
    arithmetic: Arithmetic | None
    encoding: bytes
    """Tells instructions apart. The facts about its bytes are in other fields.

    It is the machine code, or where a statement was read without an assembler, the statement."""
    assembled: bool = True
    """The encoding is machine code."""
    opcode_offset: int = 0
    """Bytes of prefixes and escapes before the primary opcode."""
    immediate_bytes: int = 0
    """Bytes of the longest immediate, 0 without one."""
    immediate: int | None = None
    """The signed value of the immediate, None without one, and for one that the linker fills in."""
    encoding_traits: frozenset[str] = frozenset()
    """Parts of the encoding that may delay a decoder.

    "lcp" (a prefix that changes the length of an immediate), "lcp_mov" (one of a plain move), "pop_rsp_r12" (a short
    pop into one of these).
    """
    sum: Sum | None = None
    """The operands of a floating-point addition."""
    divisor: int | None = None
    """The operand by which a floating-point division divides."""
    constants: int = 0
    """The 32-bit fields of displacements, immediates and branch targets in the encoding.

    A field of 64 bits counts as two. No-operations have none, because their fields are not kept.
    """


class Refused(msgspec.Struct, frozen=True):
    """A statement that could not be decoded. It is not among the instructions."""

    line: Count
    text: str
    message: str
    """The assembler's reason."""


class KernelCode(msgspec.Struct, frozen=True, kw_only=True):
    """Code to analyse."""

    name: str
    isa: str
    region: Region | None
    instructions: tuple[Instruction, ...]
    """In the order of execution."""
    is_loop: bool
    """The last instruction branches back to the first. Other kernels are analysed as if repeated, as llvm-mca does."""
    alignment: int
    """The offset of the first byte within 64 bytes, known modulo `alignment_unit`; 0 if unknown."""
    refused: tuple[Refused, ...] = ()
    """Statements of the region that are missing in `instructions`."""
    entry: tuple[Affine, ...] = ()
    """The values of registers when the kernel is entered, as far as the code before it determines them.

    Their `terms` are names of unknown values instead of registers; equal names are equal values.
    """
    alone: tuple[Affine, ...] = ()
    """The values of further address registers, which share no unknown with another one: they tell something only if
    variables are known."""
    products: Mapping[str, tuple[str, str]] = {}
    """The unknown values whose product is one in `entry`, or in another product."""
    origins: tuple[Origin, ...] = ()
    """The places of unknown values in `entry` and `products`, by which debug information names them."""
    held: Mapping[str, str] = {}
    """The unknown value, if it is one, that a register holds when the kernel is entered, as far as it was searched for;
    "" for a sum."""
    variables: Mapping[str, str] = {}
    """The unknown values that variables of the source hold when the loop starts, by the variables' names,
    as far as they were searched for."""
    alignment_unit: int = 64
    """The alignment of its section, at most 64."""
    restarts: frozenset[str] = frozenset()
    """The address registers that have the same values each time the loop around enters the loop; empty if there is
    none."""
    line_names: Mapping[int, str] | None = None
    """The names of the source's lines, such as "12" or "vec.h:12", by the lines of the assembly that come from them.

    None if no line of a source is known: the assembly is what the user wrote.
    """
    spans: tuple[CodeSpan, ...] = ()
    """The places of all of a loop's instructions; none if they are unknown."""
    base: int = 0
    """The offset of the first span's symbol, as `Instruction.offset` counts."""
    pace: int = 0
    """The elements that an iteration advances a loop's counter by, 0 if unknown.

    They are units of the number from which the code before the loop computes its number of iterations: mostly
    iterations of the source's loop.
    """
    scalable_pace: bool = False
    """`pace` grows with the length of vectors (`with_vectors`)."""


VECTOR_LENGTH = "vectors"
"""The unknown in the values of registers that constants which grow with the length of vectors are multiples of."""
SHORTEST_VECTOR = 128
"""The bits of scalable vectors in decoded kernels: code does not say how long they are."""


def with_vectors(kernel: KernelCode, bits: int) -> KernelCode:
    """Return a decoded kernel with scalable vectors of so many bits; one that already has them stays as it is."""
    times = bits // SHORTEST_VECTOR
    if times and any(name == VECTOR_LENGTH for entry in (*kernel.entry, *kernel.alone) for name, _ in entry.terms):
        entries = [_at_length(entry, times, kernel) for entry in kernel.entry]
        alone = [_at_length(entry, times, kernel) for entry in kernel.alone]
        entries += [entry for entry in alone if not entry.terms]
        kernel = replace(kernel, entry=tuple(entries), alone=tuple([entry for entry in alone if entry.terms]))
    if times <= 1:
        return kernel
    return replace(
        kernel,
        instructions=tuple([_with_vectors(i, times) for i in kernel.instructions]),
        pace=kernel.pace * times if kernel.scalable_pace else kernel.pace,
        scalable_pace=False,
    )


def _at_length(entry: Affine, times: int, kernel: KernelCode) -> Affine:
    """Return a register's value at the entry for vectors that are so many times as long as the shortest ones."""
    terms, constant = _evaluated((entry.terms, entry.constant), {VECTOR_LENGTH: times}, kernel.products)
    return replace(entry, terms=terms, constant=constant)


def with_values(kernel: KernelCode, values: Mapping[str, int]) -> KernelCode:
    """Return a kernel that is entered with these values in registers, by their roots, or in variables of the source."""
    held = {unknown: values[name] for name, unknown in kernel.variables.items() if name in values}
    registers = {name.lower(): value for name, value in values.items() if name not in kernel.variables}
    entries = []
    for entry in (*kernel.entry, *kernel.alone):
        if entry.target not in registers:
            terms, constant = _evaluated((entry.terms, entry.constant), held, kernel.products)
            if not terms or entry in kernel.entry:
                entries.append(replace(entry, terms=terms, constant=constant))
    return replace(kernel, entry=(*entries, *[Affine(root, (), value) for root, value in registers.items()]))


def _evaluated(value: Value, held: Mapping[str, int], products: Mapping[str, tuple[str, str]]) -> Value:
    """Return a value in which the unknowns in `held` are known, and so are products of those."""
    terms, constant = value
    total: dict[str, int] = {}
    for unknown, times in terms:
        known_terms, known_constant = _known(unknown, held, products)
        constant += times * known_constant
        for name, factor in known_terms:
            total[name] = total.get(name, 0) + times * factor
    kept = tuple([(name, factor) for name, factor in sorted(total.items()) if factor])
    return kept, (constant + (1 << 63)) % (1 << 64) - (1 << 63)


def _known(unknown: str, held: Mapping[str, int], products: Mapping[str, tuple[str, str]]) -> Value:
    """Return what is known of an unknown value, as `_evaluated` does."""
    if unknown in held:
        return (), held[unknown]
    if unknown in products:
        (terms, constant), (other_terms, other_constant) = (_known(each, held, products) for each in products[unknown])
        if not terms or not other_terms:
            times = constant if not terms else other_constant
            return tuple([(name, times * factor) for name, factor in terms or other_terms]), constant * other_constant
    return ((unknown, 1),), 0


def _with_vectors(i: Instruction, times: int) -> Instruction:
    changes: dict[str, Any] = {}
    if any(m.scalable for m in i.memory):
        changes["memory"] = tuple([_longer(m, times) if m.scalable else m for m in i.memory])
    if i.affine is not None and i.affine.scalable:
        changes["affine"] = replace(i.affine, constant=times * i.affine.constant, scalable=False)
    if i.arithmetic is not None and i.arithmetic.scalable:
        width, operations = times * i.arithmetic.width, times * i.arithmetic.operations
        changes["arithmetic"] = replace(i.arithmetic, width=width, operations=operations, scalable=False)
    return replace(i, **changes) if changes else i


def _longer(m: MemoryAccess, times: int) -> MemoryAccess:
    if m.elements > 1:
        return replace(m, elements=times * m.elements, scalable=False)
    return replace(m, size=times * m.size, displacement=times * m.displacement, scalable=False)
