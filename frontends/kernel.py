"""The data that the frontends hand on: regions of assembly, decoded instructions, kernels. ISA-neutral."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    RegionKind = Literal["loop", "marker", "file", "address"]
    CompiledRole = Literal["main", "remainder", "prologue", "fallback", "outer", ""]
    CompiledKind = Literal[
        "plain", "vector-body", "interleaved", "epilogue", "scalar", "unroll-rest", "unversioned", "unknown"
    ]

# --- regions ---------------------------------------------------------------------------------------------------------


class SourceLocation(msgspec.Struct, frozen=True, order=True):
    """A place in the user's source, from `.loc` directives."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


class Frame(msgspec.Struct, frozen=True):
    """A function around a place in the code: its symbol or name, and a line in it, that of the place itself or of the
    call that was replaced by the next function's code."""

    function: str
    file: str
    line: int


class Inlined(msgspec.Struct, frozen=True):
    """A function inlined at a place: `name` is its symbol where the debug information has one, else its name as far as
    that is known; `call` the file and line of the call that it stands for. `entry` tells one inlined call from another.
    """

    entry: int
    name: str
    call: tuple[str, int]


class LineSet:
    """A set of lines that are told from others by bits: of the loops of a function that has thousands each knows the
    others in as many bits, not in as many numbers."""

    __slots__ = ("_bits", "_of_line")

    def __init__(self, of_line: Mapping[int, int], bits: int) -> None:
        """`of_line`: the bits of each line; `bits`: those of the lines in the set."""
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
    """Where a loop lies among the other innermost loops of its function, which are named by their first lines.

    `later`: those to which control can come from it, and `always_before`: those through whose headers it must have come
    to get here, both without going around a loop that encloses it. `enclosing`: where the loops around it are in the
    source, the innermost first.
    """

    later: frozenset[int] | LineSet = frozenset()
    always_before: frozenset[int] | LineSet = frozenset()
    enclosing: tuple[SourceLocation, ...] = ()


class CompiledStream(msgspec.Struct, frozen=True, kw_only=True):
    """Loads or stores of a loop that are alike: each of `accesses` is of so many `lanes` (`scalable`: times vscale) of
    elements, and goes on by `step` bytes a trip, None where that is no constant."""

    store: bool
    element_bytes: int
    lanes: int
    scalable: bool
    step: int | None
    accesses: int


class CompiledLoop(msgspec.Struct, frozen=True, kw_only=True):
    """What a compiler knows of an innermost loop that it has made.

    `number` is what it is known by in its unit. `kind`: what became of the source's loop here: "plain", as it was or
    unrolled; "vector-body", or "interleaved" copies without vectors; "epilogue", a second one with shorter vectors;
    "scalar", the loop that was vectorised, for what is left over or where vectors cannot be used; "unroll-rest", what
    an unrolled one leaves over; "unversioned", the copy without assumptions that are checked before; "unknown".
    `source_loop`: a number that all have in common that one loop of the source became, -1 where that is not known.
    `role` and `of`: its part among those, and the number of the main loop, -1 for none; `instead`: a remainder that
    also runs instead of it.

    `iterations`: of the source's loop in one trip, times vscale if `scalable`; 0 where that is not known. It is
    `width` lanes times `interleave` copies times `unroll` for a vector body. `peeled`: iterations that are done before.
    Trips are counted a time that the loop is entered: `trip_count` if it is always the same, else 0;
    `max_trip_count`, 0 for none; a multiple of `trip_multiple`; `expected_trip_count` by a profile, None without one.
    `source_trip_count` and `source_max_trip_count`: of the loop that it was made of. `streams`: what it loads and
    stores. `lines`: of the functions around it, outermost first: of each the line of the next one's call, in the last
    one the loop's own; empty where that is not known.
    """

    number: int
    function: str
    kind: CompiledKind
    source_loop: int = -1
    role: CompiledRole = ""
    of: int = -1
    instead: bool = False
    iterations: int = 0
    width: int = 1
    scalable: bool = False
    interleave: int = 1
    unroll: int = 1
    peeled: int = 0
    trip_count: int = 0
    max_trip_count: int = 0
    trip_multiple: int = 1
    expected_trip_count: int | None = None
    source_trip_count: int = 0
    source_max_trip_count: int = 0
    streams: tuple[CompiledStream, ...] = ()
    lines: tuple[int, ...] = ()

    @property
    def fixed_iterations(self) -> int:
        """Iterations of the source's loop in one trip, 0 where that is not known or depends on the processor."""
        return 0 if self.scalable else self.iterations


class Region(msgspec.Struct, frozen=True, kw_only=True):
    """A span of assembly text to analyse.

    `kind` is "loop" (an innermost natural loop), "marker" (between a pair of markers), "address" (from
    one address to another) or "file" (the whole text).
    `lines` are the 1-based lines of the statements on the analysed path, in the order of execution; labels, directives
    and comments are not in it. `is_loop`: the path ends in a branch back to its start. `label` is the loop header's
    label. `depth` is the loop's nesting depth (1: outermost). `body_lines` are the lines of every instruction of the
    region, on the path or not; it equals `lines` unless there are branches inside. `notes` say in one sentence each
    what a reader must know (“likeliest of 3 paths”, “contains a call to foo”). `forks`: branches inside, at which the
    loop goes on in either way. `neighbours`: of a loop. `compiled`: what its compiler says of it, if it was asked.
    """

    kind: RegionKind
    name: str
    function: str
    label: str
    first_line: int
    last_line: int
    lines: tuple[int, ...]
    body_lines: tuple[int, ...]
    is_loop: bool
    depth: int
    source: SourceLocation | None
    notes: tuple[str, ...]
    forks: int = 0
    neighbours: Neighbours = Neighbours()
    compiled: CompiledLoop | None = None


class Before(msgspec.Struct, frozen=True):
    """What is executed before a loop begins.

    `lines[b]` are the 1-based lines of those instructions of block b, in order, that may write to general-purpose
    registers or to the stack; `predecessors[b]` the blocks from which it is entered, -1 for one that is not among these
    (the caller, or too far away). `entering` are the blocks from which control comes to the loop's first instruction
    the first time; there may be -1 among them too.
    """

    lines: tuple[tuple[int, ...], ...]
    predecessors: tuple[tuple[int, ...], ...]
    entering: tuple[int, ...]


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A loop or marked span that is not analysed, and why (irreducible, no instruction, marker without end, …)."""

    first_line: int
    last_line: int
    function: str
    label: str
    reason: str


# --- machine code ----------------------------------------------------------------------------------------------------


class Relocation(msgspec.Struct, frozen=True, kw_only=True):
    """A field for the linker to fill: `offset` in its section in bytes; `symbol`, for local ones the section's name.

    `pc_relative`: the field holds symbol + addend - its own address.
    """

    offset: int
    symbol: str
    addend: int
    pc_relative: bool


# --- instructions ----------------------------------------------------------------------------------------------------


class Register(msgspec.Struct, frozen=True, kw_only=True):
    """A register or a part of one.

    `name` is what the assembler calls it ("al", "xmm3"); `root` the name of the widest register it is a part of ("rax",
    "zmm3", "k1", "rip"; "x0", "z3", "p1" for AArch64's w0, q3, p1), the same for all its parts; `offset` and `width`
    place the part in the root, in bits; SVE registers have the 2048 bits that the architecture allows. `kind` is
    "general", "vector", "mmx", "mask" (of vectors' elements), "x87", "tile", or "" for registers that programs seldom
    name.
    """

    name: str
    root: str
    offset: int
    width: int
    kind: str


class RegisterAccess(msgspec.Struct, frozen=True, kw_only=True):
    """How an instruction touches one register, as an operand or implicitly.

    `operand` is the 0-based index in Intel operand order (destination first), None for implicit registers and for
    registers that form addresses; a mask register (`{%k1}`) has operand -1. `merges`: the write leaves the other bits
    of the root as they were (al, ax, legacy-SSE xmm), so the root's old value flows through. `conditional`: the write
    may not happen (cmov, merge masking), so the old value is an input too; then `read` is also set. `address`: the
    register is read to form an address only.
    """

    register: Register
    read: bool
    write: bool
    operand: int | None
    merges: bool = False
    conditional: bool = False
    address: bool = False


class MemoryAccess(msgspec.Struct, frozen=True, kw_only=True):
    """One memory operand, explicit or implicit (push, movs).

    The address is base + index*scale + displacement (+ symbol). `size` in bytes, 0 where it is not fixed. `symbol` is
    the relocation's symbol for RIP-relative and absolute addresses, else "". `operand` as in RegisterAccess.
    `elements` is the number of separate accesses (gathers, scatters), else 1.
    """

    base: Register | None
    index: Register | None
    scale: int
    displacement: int
    symbol: str
    segment: str
    size: int
    load: bool
    store: bool
    operand: int | None
    elements: int = 1


class Affine(msgspec.Struct, frozen=True):
    """What an instruction does to a register, where that is linear: target = sum(coefficient * root) + constant.

    `terms` are (root, coefficient), over full-width (64-bit, or 32-bit zero-extended) general-purpose registers.
    Target "" is the memory that the instruction both loads and stores: the stored value is the loaded one plus the
    terms and the constant. Used to compare addresses symbolically, also between iterations.
    """

    target: str
    terms: tuple[tuple[str, int], ...]
    constant: int


class Arithmetic(msgspec.Struct, frozen=True, kw_only=True):
    """Arithmetic done on vector registers: `packed` or scalar, on `element` bits each, `width` bits of register in all.

    `operations` counts additions, multiplications, divisions … for one instruction (a fused multiply-add of 4 doubles:
    8).
    """

    packed: bool
    floating: bool
    element: int
    width: int
    operations: int


class Sum(msgspec.Struct, frozen=True):
    """The operands of a floating-point sum or difference, by their indices: `addends` go into it as they are, `others`
    negated or multiplied (the factors of a fused multiply-add, the subtrahend)."""

    addends: tuple[int, ...]
    others: tuple[int, ...]


class Instruction(msgspec.Struct, frozen=True, kw_only=True):
    """One decoded instruction, free of any microarchitecture.

    `form` names the instruction form in the model files: for x86 iced-x86's Code name, then "/m" if a memory operand
    was used where a register could be, else "/r" (`VEX_VFMADD213PD_YMM_YMM_YMMM256/m`); for AArch64 mnemonic and
    operand shapes (`fmla/v.2d,v.2d,v.2d`, made by `frontends.aarch64.forms`), whose flags N, Z, C, V are S, Z, C, O
    here. `traits` are the conditions on which figures may depend: "indexed" (a memory operand with an index),
    "same_reg" (all register sources are one register), "high8_0"/"high8_1" (operand 0/1 is ah..dh), "mask", "zeroing",
    "bcast", "lock", "rep", "repne", "imm0" (immediate zero), "er" (embedded rounding), "sae" (exceptions suppressed
    without it), "agen:B_IS_D8" (the address parts of a lea: Base, Index, Index with Scale above 1, displacement of 8 or
    32 bits, R for RIP), "rm0-3"/"rm4-7" (the lower three bits of the number of a low byte register in operand 0).
    `operands` has one letter an operand in Intel order: "r" register, "m" memory, "i" immediate, "b" branch target.
    `flags_read`/`flags_written` are letters of "CPAZSO"; D, I and the like are left out; an undefined flag counts as
    written. `branch` is "", "conditional", "unconditional", "indirect", "call" or "return"; `target` the label or
    address it goes to. `idiom` is "zero" or "ones" where the result does not depend on the inputs (xor of a register
    with itself); whether a core knows it is the model's to say. `move` is True for plain register to register moves of
    full registers. `text` is the statement as the user wrote it (comments and redundant blanks removed), `line` its
    1-based line, 0 where there is none; `offset` and `length` are in bytes, `offset` from the start of its section or
    block. `opcode_offset`: bytes of prefixes and escapes before the primary opcode; `immediate_bytes`: of the longest
    immediate, 0 without; `immediate` is its value with sign, None without, also where the linker fills it in.
    `encoding_traits` are what of the encoding may keep a decoder: "lcp" (a prefix that changes the length of an
    immediate), "lcp_mov" (one of a plain move), "pop_rsp_r12" (a short pop into one of these). `sum` says which
    operands of a floating-point addition are added, `divisor` which one a floating-point division divides by.
    `constants`: fields of up to 32 bits that displacements, immediates and targets of branches take in the encoding;
    one of 64 bits counts as two. None in a no-operation, of which nothing is kept.
    `encoding` tells instructions apart; what is to be known of its bytes is in the other fields.
    """

    text: str
    line: int
    offset: int
    length: int
    mnemonic: str
    form: str
    traits: frozenset[str]
    operands: str
    registers: tuple[RegisterAccess, ...]
    memory: tuple[MemoryAccess, ...]
    flags_read: str
    flags_written: str
    branch: str
    target: str
    affine: Affine | None
    idiom: str
    move: bool
    arithmetic: Arithmetic | None
    encoding: bytes
    opcode_offset: int = 0
    immediate_bytes: int = 0
    immediate: int | None = None
    encoding_traits: frozenset[str] = frozenset()
    sum: Sum | None = None
    divisor: int | None = None
    constants: int = 0


class Refused(msgspec.Struct, frozen=True):
    """A statement that could not be decoded: its line, its text, and what the assembler said."""

    line: int
    text: str
    message: str


class Kernel(msgspec.Struct, frozen=True, kw_only=True):
    """What is analysed: a name and its instructions in the order of execution.

    `is_loop`: the last instruction branches back to the first, so iterations follow each other; every kernel that is
    not is analysed as if it were repeated, as llvm-mca does. `alignment` is the offset of the first byte within 64
    bytes where known, else 0; it is known modulo `alignment_unit`, the alignment of its section, up to 64. `refused`
    are statements of the region that are missing in `instructions`. `entry` says what registers hold when the kernel is
    entered, as far as the code before it tells: its `terms` are not registers but names of unknown values, the same
    value under the same name. `pace`: an iteration stands for so many of what the code before the loop
    computes its number of iterations from, mostly the number of iterations of the source's loop; 0 where that does not
    tell.
    """

    name: str
    isa: str
    region: Region | None
    instructions: tuple[Instruction, ...]
    is_loop: bool
    alignment: int
    refused: tuple[Refused, ...] = ()
    entry: tuple[Affine, ...] = ()
    alignment_unit: int = 64
    pace: int = 0
