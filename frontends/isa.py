"""Instruction sets, and the access to them by name.

Everything that depends on an instruction set is behind one object of type `Isa`, made in `frontends/<name>/isa.py`. It
is imported when it is first needed, and its decoder when something is decoded.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias

import msgspec

from incc.frontends.kernel import (
    Instruction,
    KernelCode,
    MadeObject,
    MemoryAccess,
    PrecedingBlocks,
    Refused,
    Region,
    RegisterAccess,
)

if TYPE_CHECKING:
    from incc.frontends.container import Container, ContainerCode, Span
    from incc.frontends.diagnostics import Reading

ExitKind = Literal["own", "replaced", "added", "repeated"]
CommonWork = tuple[str, tuple[tuple[int, tuple[str, ...]], ...]]
"""A kind of work, and forms that do it by the bits of vectors (0: any, or none). A model has one of the forms."""
PeakOperation = Literal["add", "multiply", "fma", "load", "store"]

SCALABLE = 0
"""The width of vectors whose length is the core's."""


class DecodeError(Exception):
    """Code that cannot be decoded at all. The message says why: there is no decoder, or a program is missing."""


class Syntax(msgspec.Struct, frozen=True, kw_only=True):
    """The syntax of assembly text, as far as instruction sets differ."""

    comments: tuple[str, ...]
    """Signs that begin a comment anywhere in a line, the usual one first."""
    line_comments: str
    """Characters that begin a comment at a line's start."""
    dialects: dict[str, str] = {}
    """Directives that change the syntax of operands, and the dialects ("" for the assembler's default)."""
    line_remarks: tuple[str, ...] = ()
    """A text with all of these has the source line of each instruction in a comment behind it, as `line.column`."""
    prefixes: frozenset[str] = frozenset()
    """Words that may precede a mnemonic."""
    suffixes: str = ""
    """Letters for the size of operands that some tools write behind a mnemonic."""
    padding: str = ""
    """The beginning of the mnemonics of no-operations."""
    synonyms: dict[str, str] = {}
    """Other names of mnemonics, with one name for each."""


class ByteMarkers(msgspec.Struct, frozen=True, kw_only=True):
    """Markers that are made of instructions: a move of 111 (begin) or 222 (end) to a register, then a no-operation."""

    data: tuple[int, ...]
    """The no-operation's bytes."""
    nops: frozenset[str] = frozenset()
    """Other ways to write it, in lower case."""
    move: str
    """A pattern for the move. The one group that matches is the number."""
    store: str = ""
    """A pattern for stores that are markers by themselves, "" for none.

    A group "number…" is the number; a group "register…" matches if the stored value was put into a register before.
    """
    store_sign: str = ""
    """A part of every such statement."""
    written: dict[str, str]
    """The move with `{}` for the number, by dialect."""
    code: tuple[bytes, bytes]
    """The bytes of the begin marker and of the end marker."""


class ObjectSigns(msgspec.Struct, frozen=True, kw_only=True):
    """The signs of an instruction set in object files."""

    names: frozenset[str]
    """lief's names for the machine, in any format."""
    elf: int
    """ELF's number for the machine."""
    pc_relative: frozenset[int]
    """ELF's relocations whose field holds symbol + addend - its own address."""
    absolute: dict[int, int]
    """ELF's relocations whose field holds symbol + addend, with the size of the field in bytes."""
    maps_data: bool = False
    """ELF files say with symbols named `$x` and `$d` where code and data begin inside of a section."""
    unread: dict[str, str] = {}
    """lief's names for related machines that cannot be read, with messages."""


class TextForm(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of assembly text."""

    form: str
    """See `Instruction.form`."""
    traits: frozenset[str]
    text: str
    line: int
    """1-based."""


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """An operation on the elements of vector registers."""

    kind: str
    """One of "add", "mul", "fma", "convert" …"""
    source: int
    """The bits of an operand's element, 0 if the mnemonic does not tell."""
    result: int
    """The bits of a result's element, 0 if the mnemonic does not tell."""
    packed: bool
    floating: bool


class FormWork(msgspec.Struct, frozen=True):
    """The work of the instructions of a form in terms of the source's loop, comparable between compilers."""

    kinds: tuple[str, ...]
    """The operations, such as ("fmul", "fadd") for a fused one; none for moves and branches."""
    element: str
    """The type of the elements ("f64", "i32"), "" if unknown."""
    lanes: int
    """The number of elements."""


class Runnable(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel as machine code that can be run and timed."""

    codes: tuple[bytes, ...]
    """Loops that count a register down to zero."""
    weights: tuple[float, ...]
    """The weights of the loops' cycles in the sum that is the cycles of an iteration."""
    exit: ExitKind
    """The end of the loops.

    "own": by the kernel's own counter or comparison. "replaced": by another counter instead of a comparison. "added":
    by another counter, whose cost is subtracted. "repeated": the kernel is no loop, and copies of it are timed.
    """
    jumps: int
    """The jumps that are taken in an iteration."""
    counter: int
    """The number of the register whose first value is `first` + `step` times the trips."""
    step: int
    """The share of a trip in its first value."""
    first: int
    """The rest of its first value."""
    trips: int
    """The most trips that stay in the first-level cache, 0 if unknown."""
    registers: tuple[int, ...]
    """The first values of the general-purpose registers, by their numbers."""
    content: int
    """The word that vector registers are full of."""
    memory: tuple[int, ...]
    """The words that memory repeats, from the start of each page."""
    features: frozenset[str]
    """The features that a processor must have, by the decoder's names."""
    notes: tuple[str, ...]
    """Possible differences between the data here and where the kernel comes from."""


class Placement(msgspec.Struct, frozen=True):
    """The places within a page of 4 KiB at which the arrays of a kernel that is run begin.

    The n-th array that is stored to begins at `stored[n]`, the n-th of the others at `loaded[n]`; both sequences repeat
    themselves. Places move down to multiples of the elements' size.
    """

    stored: tuple[int, ...]
    loaded: tuple[int, ...]


APART = Placement(tuple(range(0x40, 0x3C1, 0x80)), tuple(range(0x440, 0xC81, 0xC0)))
"""At different lines, stores before loads, so that no load meets a store a multiple of 4 KiB away."""


class NotRunnable(msgspec.Struct, frozen=True):
    """The reason that a kernel cannot be run on its own."""

    kind: str
    """A word."""
    text: str
    """A clause."""


class LlvmDialect(msgspec.Struct, frozen=True):
    """The syntax in which LLVM writes instructions."""

    triple: str = ""
    """LLVM's name of the target, "" for Linux."""
    variant: int | None = None
    """The number of a syntax of the target, None for its default."""
    hexadecimal: bool = False
    """Write immediate values in hexadecimal."""


class LlvmRow(msgspec.Struct, frozen=True):
    """An instruction as LLVM's assembler writes it."""

    text: str
    """With a tab behind the mnemonic; "" if it is unknown."""
    code: bytes
    """The bytes, with fields that depend on symbols zero."""


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """The effects in LLVM's description of an instruction, which may be more, or fewer, than its real effects."""

    may_load: bool = False
    may_store: bool = False
    side_effects: bool = False
    """There are others that are not modelled (hasUnmodeledSideEffects)."""
    load_barrier: bool = False
    """No later load begins before it is done."""
    store_barrier: bool = False
    """No later store begins before it is done."""


# --- values of integer code ------------------------------------------------------------------------------------------

Place: TypeAlias = tuple[int, int]
"""A place in memory: its address, and its size in bytes."""
Terms: TypeAlias = "Mapping[str | Place, int]"
"""Incoming registers and places in memory that a value depends on, with their coefficients, 0 if it is not linear."""

POINTERS = 1 << 44
"""Numbers above this are the addresses that incoming registers, symbols and places in memory are given."""


class Evaluator(Protocol):
    """The values that integer code computes: of general-purpose registers, flags and memory, as far as known."""

    arguments: tuple[str, ...]
    """The registers that hold a function's first integer arguments, in their order."""
    stack: tuple[str, int]
    """The stack pointer, and its value when a function is entered."""

    # In a trace, which also follows where values come from:
    difference: int | None
    """The signed result of the last instruction that wrote flags; None if unknown."""
    flag_terms: Terms
    """The sources of the flags."""
    addresses: dict[tuple[tuple[str | Place, int], ...], None]
    """The terms of the addresses that were accessed."""

    @property
    def fresh(self) -> Mapping[Place, int]:
        """The numbers that stand for the contents of places in a trace. They may be pointers."""

    def reset(self, registers: Mapping[str, int], memory: Mapping[Place, int], trace: bool = False) -> None:
        """Forget all values, and begin a function with these."""

    def run(self, instruction: Instruction) -> bool | None:
        """Run an instruction. For a conditional branch, return if it is taken; None if that is unknown."""

    def block(self, instructions: Sequence[Instruction]) -> Callable[[], bool | None]:
        """Return a function that runs instructions as `run` does, without a trace. Its result is that of the last."""


class IntegerDivision(msgspec.Struct, frozen=True):
    """A division of general-purpose registers."""

    divisor: int
    """The operand by which it divides."""
    signed: bool
    remainder: str = ""
    """The register of the remainder, "" if there is none."""


class Isa:
    """An instruction set. The defaults of this class are correct for one about which little is known yet."""

    name: str
    """The name in regions, kernels and models."""
    syntax: Syntax
    """The syntax of its assembly."""
    example: str
    """A function with a loop, in its assembly."""
    title: str
    """The name in messages."""
    targets: tuple[str, ...]
    """Beginnings of the names of compilers' targets."""
    markers: ByteMarkers
    """Its markers that are made of instructions."""
    machine: ObjectSigns
    """Its signs in object files."""
    debug_registers: tuple[str, ...]
    """The roots of its general-purpose registers by their numbers in debug information (DWARF)."""
    branch_words: frozenset[str]
    """The mnemonics of branches, and the prefixes that may precede one.

    A mnemonic with other characters than lower-case letters and digits may be a branch as well.
    """
    stack_registers: frozenset[str] = frozenset()
    """The registers that may hold addresses of the function's own stack, by their roots."""
    widest_vector: tuple[tuple[str, int], ...] = ()
    """Forms of packed arithmetic and their bits, widest first, by which a model tells the width of vectors.

    0 bits are those of the core's scalable vectors.
    """
    vector_forms: Mapping[int, Mapping[str, str]] = {}
    """By the bits of vectors: forms that stand for a "load", a "store", an addition ("add"), a multiplication
    ("multiply"), a division ("divide"), a square root ("root") and a "gather" of doubles, a conversion of integers to
    doubles ("convert"), and an operation on integers ("integer"). 0 bits are scalable vectors, for the bits that are
    not listed."""
    integer_divisions: Mapping[str, IntegerDivision] = {}
    """The divisions of general-purpose registers by mnemonic."""

    # --- compilers ---

    core_option: str
    """The option of compilers that names a core whose instructions the code may use."""
    wide_vectors: str
    """The name of the remedy that has compilers use a core's widest vectors (`incc.report.hints.advice.REMEDIES`)."""
    passed_over: Mapping[int, int]
    """By the bits of a core's widest vectors: those of the narrower ones that compilers may prefer."""
    lacking_options: frozenset[str] = frozenset()
    """Options that compilers for other instruction sets have, and that do not exist or do nothing here."""
    vector_functions: frozenset[str] = frozenset()
    """The functions of the mathematical library of which every system's glibc has versions for vectors."""
    advice_measured: bool = False
    """The gains of hints were measured on such cores (`bench/hints.py`)."""

    def level_bits(self, target: str) -> int:
        """Return the bits of the widest vectors that a target allows, 0 for cores, which allow their own."""
        return 0

    vector_widths: tuple[int, ...]
    """Bits of the vectors that arithmetic knows, the narrowest first; SCALABLE for scalable ones."""
    usual_cores: tuple[tuple[str, str], ...]
    """Models for code that names no core, where the host cannot run it: the first of which the pattern is in the
    compiler's target counts. Each is the most widespread core with the instructions that the target allows."""

    generic_core: tuple[str, str] = ("", "")
    """The model, and the name of its core, that LLVM takes for the processor `generic`; empty for the models' table."""

    def usual_core(self, target: str) -> str:
        """Return the model for code with this target of the compiler, "" for any."""
        return next(model for model, pattern in self.usual_cores if re.search(pattern, target.lower()))

    # --- text ---

    def sign(self, text: str) -> int:
        """Return the offset of the first part of a text that only this instruction set has, -1 if there is none.

        A part that leaves no doubt counts as one at offset 0, wherever it is.
        """
        raise NotImplementedError

    def in_gnu_syntax(self, text: str) -> str:
        """Return an assembly text as GNU as reads it, in the same lines; other dialects are recognised by the text."""
        return text

    def branch(self, text: str) -> tuple[str, str]:
        """Return how an instruction transfers control, and its target.

        The kind is "conditional", "unconditional", "indirect", "call", "return", "stop" (a trap), or "" for no branch.
        The target is the label or symbol as written, "" if it is in a register or in memory, or there is none.
        """
        raise NotImplementedError

    def written_out(self, text: str) -> str:
        """Return an assembly text with the same lines that is easier to read, for instance without macros."""
        return text

    def symbols(self, text: str) -> list[str]:
        """Return the words of an instruction that may be symbols, without registers as far as they are recognised."""
        raise NotImplementedError

    def keeps_pointers(self, text: str) -> object:
        """Return a true value if an instruction obviously changes no general-purpose register and no memory."""
        return False

    # --- instructions ---

    def register_counts(self, instructions: Sequence[Instruction]) -> Mapping[str, int]:
        """Return the numbers of "general" and of "vector" registers that the compiler of this code could use."""
        raise NotImplementedError

    def caller(self, values: Mapping[str, int]) -> tuple[Instruction, ...]:
        """Return a call of a function: instructions that set those registers, by their roots, that may be arguments.

        There are none if calls of this instruction set are not known.
        """
        return ()

    def work_of(self, instruction: Instruction) -> str:
        """Return the kind of work of a decoded instruction that computes, for people and in the plural: "shuffles"."""
        raise NotImplementedError

    def is_aligned(self, instruction: Instruction) -> bool:
        """Return True if a decoded instruction's vectors in memory are surely at multiples of their size."""
        return False

    def is_non_temporal(self, mnemonic: str) -> bool:
        """Return True for a store that writes to memory without fetching the line."""
        return False

    def moves_lines(self, mnemonic: str) -> Literal["", "early", "other"]:
        """Return "early" for a prefetch, "other" for an instruction that flushes, zeroes or copies lines by itself."""
        return ""

    def nan_direction(self, setter: Instruction, branch: Instruction) -> bool | None:
        """Return the direction in which a branch goes only for operands that are no numbers: True if it is taken.

        `setter` is the instruction that sets the branch's flags. The result is None for other branches.
        """
        return None

    def operation(self, mnemonic: str, text: str = "") -> Operation | None:
        """Return the operation of a mnemonic (see `Instruction`), in a statement, on the elements of vector registers.

        The result is None if it has none, as moves, or works on elements of any size, as logic.
        """
        return None

    def form_work(self, form: str) -> FormWork:
        """Return the work of the instructions of a form (`Instruction.form`)."""
        return FormWork((), "", 0)

    def advice_class(self, mnemonic: str, text: str = "") -> str:
        """Return the class of an instruction on which advice depends, "" for most.

        The classes are "extremum" (the larger or smaller of two floating-point numbers), "root", "integer-division",
        "widen" and "narrow" (to another floating-point type), "from-integer", "to-integer", "gather" and "shuffle"
        (moves elements within vectors).
        """
        return ""

    def other_elements(self, instruction: Instruction) -> RegisterAccess | None:
        """Return the access that only the elements beside a newly computed lowest one come from; None without one."""
        return None

    def reads_lowest(self, mnemonic: str) -> bool:
        """Return True if an instruction uses the lowest element of its vector registers only."""
        return False

    def clearing(self, instruction: Instruction) -> Instruction | None:
        """Return an instruction that clears a vector register before another one; None if that is not needed."""
        return None

    # --- less work ---

    def no_operation(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return instructions that do nothing, in place of an instruction and with its length."""
        raise NotImplementedError

    def without_access(
        self, instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
    ) -> tuple[Instruction, ...] | None:
        """Return what an instruction does besides its loads and stores, in the same number of bytes.

        Nothing is left of a plain load or store. Other operands in memory become registers that the loop only reads.

        Args:
            instruction: an instruction that accesses memory.
            written: the roots of the registers that the loop writes.
            read: the roots of the registers that the loop reads, the most suitable ones first.
            move: replace a plain load by an instruction that sets its register to a value that the loop does not
                change.

        Returns:
            The instructions; None if the access cannot be removed alone, as that of a call.
        """
        raise NotImplementedError

    def without_arithmetic(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return what a floating-point operation does besides: its load, or nothing, in the same number of bytes."""
        return self.no_operation(instruction)

    # --- the same work in other ways ---

    def widened(self, instruction: Instruction, times: int, element: int, bits: int) -> tuple[Instruction, ...]:
        """Return instructions that do the work of one on `times` as many elements; none if there are no such.

        Registers that hold integers become vectors of their own.

        Args:
            instruction: The instruction: of scalars, or of vectors.
            times: The number of its operations that they do.
            element: The bits of an element for scalar code that does not tell.
            bits: The width of the core's widest vectors.
        """
        return ()

    def fused(self, product: Instruction, addition: Instruction) -> tuple[Instruction, ...]:
        """Return a fused multiply-add for a product and the sum of it and something else; none if there is no such."""
        return ()

    def unfolded(self, instruction: Instruction) -> tuple[Instruction, ...]:
        """Return a load and the operation on the register that it loads, for an operation on a scalar in memory.

        There are none if these instructions are not known.
        """
        return ()

    def joined(self, element: int, bits: int, apart: bool) -> tuple[Instruction, ...]:
        """Return instructions that make a vector of elements in registers of their own, or with `apart` the contrary.

        The roots of the registers are "part 0", "part 1" …; that of the vector is "part 0". There are none if these
        instructions are not known.
        """
        return ()

    # --- as LLVM has it ---

    def llvm_names(self, text: str) -> object:
        """Return the local labels and constants of an assembly text for `llvm_text`, None if there are none."""
        return None

    def llvm_text(self, instruction: Instruction, syntax: str, hexadecimal: bool = False, names: object = None) -> str:
        """Return a decoded instruction as LLVM prints it, with a tab behind its mnemonic.

        Args:
            instruction: the instruction.
            syntax: a dialect of LLVM's ("att", "intel"; "" for the only one).
            hexadecimal: print hexadecimal numbers.
            names: the result of `llvm_names`.
        """
        return instruction.text

    def llvm_encoding(self, instruction: Instruction, names: object = None) -> bytes:
        """Return the bytes that LLVM's assembler makes of an instruction's statement by itself.

        Fields that depend on symbols are zero, and jumps to symbols are long. `names` is the result of `llvm_names`,
        for symbols that are constants.
        """
        return instruction.encoding

    def llvm_rows(self, statements: Sequence[str], dialect: LlvmDialect) -> list[LlvmRow]:
        """Return what an assembler makes of statements that `decode_regions` reads without one.

        Without an assembler the list is empty.
        """
        return []

    def is_unusual(self, text: str, triple: str) -> bool:
        """Return True if only `llvm_reading` knows what LLVM makes of a text for a target."""
        raise NotImplementedError

    def llvm_reading(self, text: str, triple: str, core: str, features: Sequence[str], trusted: bool) -> Reading | None:
        """Return what LLVM reads in a text, and its mistakes; None without LLVM.

        Args:
            text: The assembly.
            triple: LLVM's name of the target.
            core: LLVM's name of the core.
            features: The features that the core is to have and to lack, as `+sve`.
            trusted: Let the text read other files.

        Raises:
            AssemblerError: LLVM was stopped.
        """
        raise NotImplementedError

    def llvm_effects(self, instruction: Instruction) -> Effects:
        """Return the effects in LLVM's description of an instruction."""
        memory = instruction.memory
        return Effects(may_load=any(a.load for a in memory), may_store=any(a.store for a in memory))

    def on_frame(self, access: MemoryAccess) -> bool:
        """Return True if a memory access is surely to a fixed place of the function's own stack frame.

        Such a store is a spill, such a load a reload.
        """
        raise NotImplementedError

    @property
    def common_work(self) -> tuple[CommonWork, ...]:
        """The usual kinds of work, which describe a core's ports."""
        raise NotImplementedError

    def peak_forms(self, operation: PeakOperation, element: int, width: int) -> tuple[str, ...]:
        """Return forms of an operation, of which a core has one or none; the first that it has counts.

        Args:
            operation: The operation on registers, or the access to memory, for which `element` has no meaning.
            element: Bits of an element: 16, 32 or 64.
            width: Bits of the vectors: one of `vector_widths`, or those of the element for scalar arithmetic.
        """
        raise NotImplementedError

    # --- decoding ---

    def load(self) -> object:
        """Import the decoder, before a process is forked or while another one runs."""
        return None

    def decode_regions(
        self,
        text: str,
        regions: Sequence[Region],
        file_name: str,
        assembler: Sequence[str] | None = None,
        before: Sequence[PrecedingBlocks | None] = (),
        checked: Sequence[int] = (),
        trusted: bool = False,
        made: MadeObject | None = None,
    ) -> list[KernelCode]:
        """Return the kernels of regions of an assembly text.

        Args:
            text: the assembly.
            regions: the regions.
            file_name: the beginning of error messages.
            assembler: a command that takes `-o OUT IN`, None for the usual one.
            before: the result of `incc.frontends.asm.preceding.code_before` for the regions, from which the kernels'
                `entry` and `pace` are computed.
            checked: lines whose refused statements the first kernel lists as well as its own.
            trusted: let the text read other files.
            made: the object that an assembler has made of the text, from which its code can be read.

        Raises:
            DecodeError: if the text cannot be decoded at all.
        """
        raise NotImplementedError

    def decode_bytes(
        self, code: bytes, name: str = "block", is_loop: bool | None = None, text: bool = True
    ) -> KernelCode:
        """Return the kernel of a whole block of machine code.

        Args:
            code: the block.
            name: the kernel's name.
            is_loop: None to make it a loop if its last instruction is a direct branch to its start.
            text: disassemble the instructions, whose text is "?" otherwise.

        Raises:
            ValueError: if the block is not code.
            DecodeError: if there is no decoder.
        """
        raise NotImplementedError

    def function_starts(self, code: bytes | memoryview, start: int, end: int, address: int) -> Iterable[int]:
        """Return the offsets at which padding shows that functions begin, between two offsets of a section's code.

        `address` is that of the section.
        """
        return ()

    def dividing_place(self, code: bytes | memoryview, start: int, end: int, address: int) -> int:
        """Return the best offset from `start` to `end` to divide a section's code at, `start` if there is no better."""
        return start

    def container_kernels(self, container: Container, paces: bool) -> ContainerCode:
        """Return the innermost loops of the machine code of an object file, and the cycles that are left out.

        The lines of their regions count the instructions of a section's disassembly. Their places in the source are
        those of the debug information, if the container has it. Without `paces`, the kernels' `pace` is mostly 0.
        Raises DecodeError.
        """
        raise NotImplementedError

    def container_spans(self, container: Container, spans: Sequence[Span]) -> ContainerCode:
        """Return the code of these spans of an object file, each as one straight-line kernel, in their order.

        Spans with bytes that are no instruction are left out. Raises DecodeError.
        """
        raise NotImplementedError

    def evaluator(self) -> Evaluator | None:
        """Return an evaluator of integer code, None if there is none for this instruction set."""
        return None

    def runnable(self, kernel: KernelCode, placement: Placement = APART) -> Runnable | NotRunnable:
        """Return a decoded kernel as machine code that can be timed on its own, or the reason that there is none."""
        return NotRunnable("isa", f"{self.title} code cannot be run on its own")

    def text_forms(
        self, text: str, statements: Sequence[tuple[int, str]], file_name: str
    ) -> Iterator[TextForm | Refused]:
        """Yield the forms of some (line, statement) of an assembly text, in their order. Raises DecodeError."""
        raise NotImplementedError


_FOLDERS = {"x86": "incc.frontends.x86.isa", "aarch64": "incc.frontends.aarch64.isa"}
_LOADED: dict[str, Isa] = {}


def names() -> tuple[str, ...]:
    """Return the names of all instruction sets. The first is assumed for a text that could be for any."""
    return tuple(_FOLDERS)


def isa(name: str) -> Isa:
    """Return the instruction set of that name. Raises ValueError for an unknown name."""
    if name not in _LOADED:
        if name not in _FOLDERS:
            raise ValueError(f"unknown instruction set {name!r}; there are {', '.join(_FOLDERS)}")
        # By name, because the folders import this module.
        _LOADED[name] = importlib.import_module(_FOLDERS[name]).ISA
    return _LOADED[name]


def of_target(target: str) -> str:
    """Return the name of the instruction set of a compiler's target ("aarch64-linux-gnu"), "" if it cannot be read."""
    return next((name for name in _FOLDERS if target.startswith(isa(name).targets)), "")


def titles() -> str:
    """Return the names of all instruction sets for a message."""
    return " or ".join(isa(name).title for name in _FOLDERS)


def detect(text: str, default: str = "") -> str:
    """Return the name of the instruction set of an assembly text.

    It is the one whose sign comes first. Without any sign it is `default`, or the first of `names` without that.
    """
    best, first = "", len(text)
    for name in _FOLDERS:
        at = isa(name).sign(text[:first] if best else text)
        if at >= 0:
            best, first = name, at
            if at == 0:
                break
    return best or default or next(iter(_FOLDERS))


def jump_target(operand: str) -> str:
    """Return the symbol in a branch's operand, without quotes and without a suffix behind an `@`."""
    if operand[:1] == '"':
        return operand[1 : operand.find('"', 1)]
    return operand.partition("@")[0]


def split_operands(text: str) -> list[str]:
    """Return the operands of a statement. Commas inside parentheses, brackets, braces and quotes do not separate."""
    parts, depth, start, quoted = [], 0, 0, False
    for at, character in enumerate(text):
        if character == '"':
            quoted = not quoted
        elif quoted:
            continue
        elif character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif character == "," and depth == 0:
            parts.append(text[start:at].strip())
            start = at + 1
    return [*parts, text[start:].strip()] if text else []


def words(text: str) -> list[str]:
    """Return the words of a text. Tables of names read better without quotes."""
    return text.split()


def word_set(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def mnemonic(text: str, name: str = "") -> str:
    """Return the mnemonic of an instruction's text, behind the prefixes of the instruction set `name`, or of any."""
    syntaxes = [isa(each).syntax for each in ([name] if name else _FOLDERS)]
    rest = text.split()
    while len(rest) > 1 and any(rest[0] in syntax.prefixes for syntax in syntaxes):
        rest.pop(0)
    return rest[0] if rest else ""


def is_padding(mnemonic: str) -> bool:
    """Return True if a mnemonic is a no-operation's in any instruction set."""
    beginnings = (isa(name).syntax.padding for name in _FOLDERS)
    return any(beginning and mnemonic.startswith(beginning) for beginning in beginnings)


def same_mnemonic(one: str, other: str) -> bool:
    """Return True if two mnemonics are the same in any instruction set.

    Tools may use another name, or leave out the suffix for the size of operands.
    """
    return one == other or any(_same_mnemonic(isa(name).syntax, one, other) for name in _FOLDERS)


def _same_mnemonic(syntax: Syntax, one: str, other: str) -> bool:
    one, other = syntax.synonyms.get(one, one), syntax.synonyms.get(other, other)
    return one == other or any(
        longer[-1:] and longer[-1:] in syntax.suffixes and longer[:-1] == shorter
        for longer, shorter in ((one, other), (other, one))
    )
