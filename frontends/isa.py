"""Instruction sets: what each of them knows of itself, and how to get at them by name.

All that depends on an instruction set is behind one object of type `Isa`, made in `frontends/<name>/isa.py`. It is
imported when it is first asked for, and the decoder behind it when something is decoded.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Literal, Protocol

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    ExitKind = Literal["own", "replaced", "added", "repeated"]
    CommonWork = tuple[str, tuple[tuple[int, tuple[str, ...]], ...]]
    """A kind of work, and the forms that do it by the bits of vectors (0: none, or whatever there are): the first one
    that a model has."""

    from incc.frontends.container import Container, ContainerCode, Span
    from incc.frontends.kernel import Before, Instruction, Kernel, MemoryAccess, Refused, Region


class DecodeError(Exception):
    """Code cannot be decoded at all: there is no decoder for it, or what it needs is missing. The message says why."""


class Syntax(msgspec.Struct, frozen=True, kw_only=True):
    """How assembly text is written, as far as instruction sets differ.

    `comments` begin a comment anywhere in a line, the usual one first; `line_comments` are the characters that begin
    one at a line's start. `dialects` are directives that change how operands are written, with the name of the dialect
    from there on ("" for the one that assemblers begin with). A text that has all of `line_remarks` in it says the
    source line of each instruction in a comment behind it, as `line.column`. `prefixes`: words that stand before a
    mnemonic. `suffixes`: letters that some write behind a mnemonic for the size of operands and others do not;
    `synonyms`: other names of mnemonics, with one of them. `padding`: what
    mnemonics of no-operations begin with.
    """

    comments: tuple[str, ...]
    line_comments: str
    dialects: dict[str, str]
    line_remarks: tuple[str, ...]
    prefixes: frozenset[str] = frozenset()
    suffixes: str = ""
    padding: str = ""
    synonyms: dict[str, str] = {}


class ByteMarkers(msgspec.Struct, frozen=True, kw_only=True):
    """Markers that are made of instructions: a move of 111 (begin) or 222 (end) to a register, then a no-operation.

    `data` are the no-operation's bytes, `nops` how it is written otherwise, in lower case. `move` is a pattern for the
    move, whose one group that matches is the number. `store` is a pattern for stores that are markers by themselves: a
    group "number…" is the number, a group "register…" matches if what is stored was put into a register before;
    `store_sign` is what each such statement has in it; "" for both where there are none. `written` is the move with
    `{}` for the number, by dialect. `code` are the bytes of both markers, of the begin and of the end.
    """

    data: tuple[int, ...]
    nops: frozenset[str]
    move: str
    store: str
    store_sign: str
    written: dict[str, str]
    code: tuple[bytes, bytes]


class Machine(msgspec.Struct, frozen=True, kw_only=True):
    """How object files say that their code is of an instruction set.

    `names` are lief's for the machine, in any format; `coff` and `elf` are the numbers that these have for it.
    `pc_relative` are the numbers of ELF's relocations whose field holds symbol + addend - its own address. `absolute`:
    those of relocations whose field holds symbol + addend, and how many bytes it has. `unread` are lief's names for
    machines of which there is more to say than that they are others, and what.
    """

    names: frozenset[str]
    coff: int
    elf: int
    pc_relative: frozenset[int]
    absolute: dict[int, int]
    unread: dict[str, str]


class TextForm(msgspec.Struct, frozen=True, kw_only=True):
    """An instruction of assembly text: key of its form and traits (see `Instruction`), its text and 1-based line."""

    form: str
    traits: frozenset[str]
    text: str
    line: int


class Operation(msgspec.Struct, frozen=True, kw_only=True):
    """What an instruction does to each element of vector registers.

    `kind`: "add", "mul", "fma", "convert" …; `source` and `result`: the bits of an element that goes in and that comes
    out, 0 where the mnemonic does not say so; `packed`: to all of them; `floating`: of
    floating point.
    """

    kind: str
    source: int
    result: int
    packed: bool
    floating: bool


class FormWork(msgspec.Struct, frozen=True):
    """What the instructions of a form do, as far as it shows what the source's loop does, whoever compiled it.

    `kinds`: the operations, such as ("fmul", "fadd") for a fused one; none for moves and branches. `element`: what
    they are done to ("f64", "i32"), "" where that is not known; `lanes`: to how many.
    """

    kinds: tuple[str, ...]
    element: str
    lanes: int


class Runnable(msgspec.Struct, frozen=True, kw_only=True):
    """A kernel as machine code that can be run and timed.

    `codes`: loops, each of which counts the register `counter` (by its number) down by `step` a trip, to zero;
    `weights`: what the sum of their cycles is made with to be those of an iteration. `exit`: how they end; "own": by
    the kernel's own counter; "replaced": by another one instead of a comparison; "added": by another one, whose cost is
    taken off; "repeated": the kernel is no loop, and copies of it are timed. `registers`: what the general-purpose
    registers hold at first, by their numbers. `content`: the word that memory is full of. `features`: what a processor
    must have, by the decoder's names. `notes`: what of the data may be otherwise than where the kernel comes from.
    """

    codes: tuple[bytes, ...]
    weights: tuple[float, ...]
    exit: ExitKind
    counter: int
    step: int
    registers: tuple[int, ...]
    content: int
    features: frozenset[str]
    notes: tuple[str, ...]


class NotRunnable(msgspec.Struct, frozen=True):
    """Why a kernel cannot be run on its own: a word, and a clause about it."""

    kind: str
    text: str


class Effects(msgspec.Struct, frozen=True, kw_only=True):
    """What LLVM's description of an instruction says, which may be more, or less, than what the instruction does.

    `may_load` and `may_store`: to or from memory; `side_effects`: others that are not modelled
    (hasUnmodeledSideEffects). `load_barrier`, `store_barrier`: no load (no store) behind it begins before it is done.
    """

    may_load: bool
    may_store: bool
    side_effects: bool
    load_barrier: bool
    store_barrier: bool


class Isa(Protocol):
    """An instruction set.

    `name` is what regions, kernels and models call it. `unreadable` says why its code cannot be decoded yet, "" if it
    can; the methods that decode raise DecodeError with that. `branch_words` are the mnemonics of all statements for
    which `branch` does not say "", and the prefixes that may stand before one; a mnemonic that is spelled otherwise
    than in lower-case letters and digits may be one too.
    """

    @property
    def name(self) -> str: ...
    @property
    def unreadable(self) -> str: ...
    @property
    def syntax(self) -> Syntax: ...
    @property
    def markers(self) -> ByteMarkers: ...
    @property
    def machine(self) -> Machine: ...
    @property
    def branch_words(self) -> frozenset[str]: ...

    # --- text ---

    def sign(self, text: str) -> int:
        """Where in an assembly text the first thing is that only this instruction set has, -1 if nowhere; 0 also if
        something that leaves no doubt is anywhere."""

    def branch(self, text: str) -> tuple[str, str]:
        """How an instruction transfers control, and where to.

        The kind is "" (it does not), "conditional", "unconditional", "indirect", "call", "return" or "stop" (a trap);
        the target is the label or symbol as written, "" where a register or memory holds it or there is none.
        """

    def symbols(self, text: str) -> list[str]:
        """The words of an instruction that may be symbols: not registers, where they can be told."""

    def keeps_pointers(self, text: str, /) -> object:
        """Something true if an instruction surely leaves general-purpose registers and memory as they are, by a look at
        its text; something false if in doubt."""

    # --- instructions ---

    def work_of(self, instruction: Instruction, /) -> str:
        """The kind of work of a decoded instruction that computes, for people and in the plural: "shuffles"."""

    def is_aligned(self, instruction: Instruction, /) -> bool:
        """Whether a decoded instruction's vectors in memory surely lie at multiples of their size."""

    def operation(self, mnemonic: str) -> Operation | None:
        """What the instructions of a mnemonic (see `Instruction`) do to the elements of vector registers; None where
        they do nothing to them, as moves, or to whatever elements there are, as logic."""

    def form_work(self, form: str) -> FormWork:
        """What the instructions of a form do, by its name in models (`Instruction.form`)."""

    def advice_class(self, mnemonic: str) -> str:
        """What an instruction does, as far as advice depends on it: "extremum" (the larger or smaller of two
        floating-point numbers), "root", "integer-division", "widen" and "narrow" (to another floating-point type),
        "from-integer", "to-integer", "gather", "shuffle" (moves elements of vectors about); "" for all others."""

    # --- as LLVM has it ---

    def llvm_names(self, text: str, /) -> object:
        """What `llvm_text` must know of the assembly text that instructions are from: its local labels, its constants.
        None where there is nothing."""

    def llvm_text(self, instruction: Instruction, syntax: str, hexadecimal: bool = False, names: object = None) -> str:
        """A decoded instruction as LLVM prints it, in a dialect of LLVM's ("att", "intel"; "" for the only one), with a
        tab behind its mnemonic. `hexadecimal`: numbers are."""

    def llvm_encoding(self, instruction: Instruction, names: object = None, /) -> bytes:
        """The bytes that LLVM's assembler makes of an instruction's statement by itself: what depends on where symbols
        are is zero, and jumps to them are long. `names`: as of `llvm_names`, for symbols that are constants."""

    def llvm_effects(self, instruction: Instruction, /) -> Effects:
        """What LLVM's description of an instruction says that it does."""

    @property
    def example(self) -> str:
        """A function with a loop, in its assembly."""

    @property
    def stack_registers(self) -> frozenset[str]:
        """The registers that may hold addresses of the function's own stack, by their roots."""

    def on_frame(self, access: MemoryAccess, /) -> bool:
        """Whether a memory access is surely to a fixed place of the function's own stack frame, where compilers keep
        what has no register: a spill, if it stores, a reload, if it loads."""

    @property
    def widest_vector(self) -> tuple[tuple[str, int], ...]:
        """Forms of packed arithmetic and their bits, the widest first, by which one can tell of a core's model which
        vectors the core has."""

    @property
    def common_work(self) -> tuple[CommonWork, ...]:
        """The usual kinds of work, by which one can tell of a core's model what its ports do."""

    # --- decoding ---

    def load(self) -> object:
        """Import what decoding needs, so that it is there when a process is forked or while another one runs."""

    def decode_regions(
        self,
        text: str,
        regions: Sequence[Region],
        file_name: str,
        assembler: Sequence[str] | None = None,
        before: Sequence[Before | None] = (),
        checked: Sequence[int] = (),
    ) -> list[Kernel]:
        """The kernels of regions of an assembly text; what is refused is in their `refused`, in the first one's also
        what is on the lines `checked`.

        `before` is what `incc.frontends.asm.before.code_before` found for the regions: with it the kernels' `entry`
        and `pace` are worked out. `assembler` is a command that takes `-o OUT IN`, None for the usual one. Raises
        DecodeError, its message beginning with `file_name`.
        """

    def decode_bytes(self, code: bytes, name: str = "block", is_loop: bool | None = None, text: bool = True) -> Kernel:
        """The kernel of a whole block of machine code.

        `is_loop`: None means that it is one if its last instruction is a direct branch to its start. Without `text`
        that of the instructions is "?". Raises ValueError for what is no code, and DecodeError.
        """

    def container_kernels(self, container: Container, paces: bool) -> ContainerCode:
        """The innermost loops of the machine code of an object file, and the cycles that are left out.

        The lines of their regions count the instructions of a section's disassembly; their places in the source are
        those of the debug information, if the container has it. `paces`: the kernels' `pace` is wanted, else that of
        most is 0. Raises DecodeError.
        """

    def container_spans(self, container: Container, spans: Sequence[Span]) -> ContainerCode:
        """The code of these spans of an object file, each as one straight kernel, in their order; a span in which there
        is something that is no instruction is left out. Raises DecodeError."""

    def runnable(self, kernel: Kernel, /) -> Runnable | NotRunnable:
        """A decoded kernel as machine code that runs for itself, so that it can be timed, or why there is none."""

    def text_forms(
        self, text: str, statements: Sequence[tuple[int, str]], file_name: str
    ) -> Iterator[TextForm | Refused]:
        """The forms of some (line, statement) of an assembly text, in their order. Raises DecodeError."""


_FOLDERS = {"x86": "incc.frontends.x86.isa", "aarch64": "incc.frontends.aarch64.isa"}
_LOADED: dict[str, Isa] = {}


def names() -> tuple[str, ...]:
    """The names of all instruction sets, the one first for which a text is taken that could be for any."""
    return tuple(_FOLDERS)


def isa(name: str) -> Isa:
    """The instruction set of that name. Raises ValueError for a name that is none."""
    found = _LOADED.get(name)
    if found is None:
        if name not in _FOLDERS:
            raise ValueError(f"unknown instruction set {name!r}; there are {', '.join(_FOLDERS)}")
        # By name: the folders import this module, not the other way round.
        found = _LOADED[name] = importlib.import_module(_FOLDERS[name]).ISA
    return found


def detect(text: str) -> str:
    """The name of the instruction set that an assembly text is written for: the one whose sign comes first, the first
    of `names` if there is none."""
    best, first = "", len(text)
    for name in _FOLDERS:
        at = isa(name).sign(text[:first] if best else text)
        if at >= 0:
            best, first = name, at
            if at == 0:
                break
    return best or next(iter(_FOLDERS))


def jump_target(operand: str) -> str:
    """The symbol in a branch's operand: without quotes, and without what is behind an `@`."""
    if operand[:1] == '"':
        return operand[1 : operand.find('"', 1)]
    return operand.partition("@")[0]


def words(text: str) -> list[str]:
    """The words of a text: tables of names read better without quotes."""
    return text.split()


def mnemonic(text: str, name: str = "") -> str:
    """The mnemonic of an instruction's text, behind its prefixes; of the instruction set `name`, or any."""
    syntaxes = [isa(each).syntax for each in ([name] if name else _FOLDERS)]
    rest = text.split()
    while len(rest) > 1 and any(rest[0] in syntax.prefixes for syntax in syntaxes):
        rest.pop(0)
    return rest[0] if rest else ""


def is_padding(mnemonic: str) -> bool:
    """Whether a mnemonic is a no-operation's, in any instruction set."""
    beginnings = (isa(name).syntax.padding for name in _FOLDERS)
    return any(beginning and mnemonic.startswith(beginning) for beginning in beginnings)


def same_mnemonic(one: str, other: str) -> bool:
    """Whether two mnemonics are one that tools write differently: by another of its names, or without the suffix for
    the size of operands, in any instruction set."""
    return one == other or any(_same_mnemonic(isa(name).syntax, one, other) for name in _FOLDERS)


def _same_mnemonic(syntax: Syntax, one: str, other: str) -> bool:
    one, other = syntax.synonyms.get(one, one), syntax.synonyms.get(other, other)
    return one == other or any(
        longer[-1:] and longer[-1:] in syntax.suffixes and longer[:-1] == shorter
        for longer, shorter in ((one, other), (other, one))
    )
