"""A kernel as machine code that runs anywhere: its body as it is, its exits replaced, its addresses leading to memory.

*Exits.* The direction of branches depends on data, so branches are replaced. The branch that closes the loop becomes a
jump that is taken so many times; others, which leave the loop, become ones that are never taken. Where the loop counts
one of its registers to zero already, it is kept as it is ("own"). Where flags come from a comparison of registers right
before the branch, and nothing else needs them, `dec` of a free register and `jnz` replace both, as long and, where the
pair is fused, as many µops ("replaced"); likewise where comparison and branch are not fused, `dec` and `jnz` stand for
the branch alone. Where the instruction that sets the flags is needed otherwise and was fused with the branch, `dec` and
`jnz` are one µop more ("added"). Its cost depends on the loop, so the loop is also measured with one more such µop, and
the difference is subtracted. Where a branch that leaves the loop is fused with a comparison with memory, that becomes
`test` and `js`, which are fused as well, and memory is full of numbers that are not negative. Code that is no loop is
repeated, and the time of a row is subtracted from that of a row twice as long ("repeated").

*Memory.* Three iterations are followed symbolically: each address is a sum of registers' first values and of loaded or
computed values. Of each sum one part is a pointer (that which is the base, if there is a choice), the rest are indices
and begin at 0. Pointers are 16 MiB apart and begin at different places within a page, stores before loads, so that no
load meets a store of another array, nor of one that is a multiple of 4 KiB away; known relations from before the loop
are kept, so that `a` and `a + 8` stay 8 bytes apart. Variables in places of memory that do not change, as code that is
not optimised has them on its stack, are followed like registers, and get their first values by code before the loop.
Addresses without a pointer (relative to the instruction, absolute, of segments) are rewritten, if possible without
changing the instruction's length. The content of memory follows from the loaded values: a pointer, small indices, or
floating-point numbers.

A loop that compilers have turned, so that its path begins in the middle of the code, is entered there by a jump.

The first byte lies as the kernel's does within 64 bytes, behind no-operations.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import msgspec
from iced_x86 import CpuidFeature, Decoder, FlowControl
from msgspec.structs import replace

from incc.frontends.isa import ExitKind, NotRunnable, Runnable, word_set, words
from incc.frontends.kernel import Instruction, KernelCode, MemoryAccess
from incc.frontends.x86.decode import PREFIXES
from incc.frontends.x86.iced import REGISTER_NAMES, bits_of, constants

_Item = TypeVar("_Item")
_Terms = dict[str, int]

_GPR = words("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")
_NUMBER = {root: n for n, root in enumerate(_GPR)}

# --- instructions that are not run ------------------------------------------------------------------------------------

_BRANCHES = {"call": "a call", "return": "a return", "indirect": "an indirect jump"}

# Instructions that need privileges, or change state on which the measuring process relies.
_SYSTEM = word_set(
    "syscall sysenter sysexit sysret int int1 int3 into hlt ud0 ud1 ud2 in out insb insw insd outsb outsw outsd cli"
    " sti popf popfd popfq std cpuid rdpmc monitor mwait monitorx mwaitx umonitor umwait tpause wrpkru enclu enclv"
    " encls clui stui testui senduipi uiret rsm swapgs sgdt sidt sldt smsw str lfs lgs lss lds les wrfsbase"
    " wrgsbase xbegin xend xabort vmcall vmfunc vmmcall ldmxcsr vldmxcsr fldcw fldenv frstor fxrstor fxrstor64"
    " loadiwkey incsspd incsspq saveprevssp rstorssp wrssd wrssq setssbsy clrssbsy xsetbv iretd iretq"
)
_STOPS = frozenset((FlowControl.INTERRUPT, FlowControl.EXCEPTION, FlowControl.XBEGIN_XABORT_XEND))
_FEATURES = {number: name for name, number in constants(CpuidFeature).items()}


def _refusal(instruction: Instruction, native: Any) -> NotRunnable | None:
    """Return why an instruction is not run, None if it can be."""
    text = instruction.text if instruction.text != "?" else instruction.mnemonic
    where = f"`{text}`" + (f" in line {instruction.line}" if instruction.line else "")
    if instruction.branch in _BRANCHES and instruction.mnemonic not in _SYSTEM:
        return NotRunnable(instruction.branch, f"it has {_BRANCHES[instruction.branch]} in it ({where})")
    if (
        instruction.mnemonic in _SYSTEM
        or native.is_privileged
        or native.is_save_restore_instruction
        or native.flow_control in _STOPS
        or _loads_segment(native)
    ):
        return NotRunnable("system", f"{where} is an instruction of the system, or changes the state of the process")
    if any(access.register.kind == "tile" for access in instruction.registers) or "tile" in instruction.mnemonic:
        return NotRunnable("tiles", f"{where} needs tiles, which a program has to ask the system for")
    return None


def _loads_segment(native: Any) -> bool:
    return bool(native.op_count) and REGISTER_NAMES[native.op0_register] in ("ES", "CS", "SS", "DS", "FS", "GS")


# --- addresses --------------------------------------------------------------------------------------------------------


class _Address(msgspec.Struct, frozen=True, kw_only=True):
    """An access to memory."""

    access: MemoryAccess
    """The access."""
    terms: _Terms
    """The sum of symbols that the address is."""
    base: _Terms
    """The symbols of its base alone."""
    fixed: bool
    """True if the instruction itself has a pointer."""
    vector: int
    """Bytes of each index in a vector register, 0 without."""


class _Data(msgspec.Struct, frozen=True):
    """A loaded or computed value."""

    loaded: int
    """Bytes that were loaded, 0 for none."""
    sources: frozenset[str]
    """The symbols that it was computed from."""


_ITERATIONS = 3
"""Iterations that are followed: a value that is loaded in the first may be an address in the second, also after it was
handed on once more."""


class _Slot(msgspec.Struct, frozen=True):
    """A place in memory that is the same in all iterations."""

    root: str
    """The register that it is relative to."""
    displacement: int
    """Bytes behind the register's value."""
    size: int
    """Bytes of the place."""


_WORDS = (4, 8)
"""Bytes of a pointer or an index in memory."""


class _Follower:
    """The symbolic values of addresses through iterations.

    Symbols are the names of registers for their first values, or those of the kernel's entry (`@`), `8(rbp)` for the
    first contents of places in memory relative to a register that does not change (`slots`; unoptimised code has its
    variables there), and `#` for data.
    """

    def __init__(self, kernel: KernelCode) -> None:
        self.data: dict[str, _Data] = {}
        self.slots: dict[str, _Slot] = {}
        self._held: dict[str, tuple[_Terms, int]] = {}
        self._moving = {u.register.root for i in kernel.instructions for u in i.registers if u.write}
        self.addresses: list[_Address] = []
        self.entry: dict[str, tuple[_Terms, int]] = {
            value.target: ({f"@{name}": coefficient for name, coefficient in value.terms}, value.constant)
            for value in kernel.entry
            if value.target in _NUMBER
        }
        self._values: dict[str, tuple[_Terms, int]] = {}
        for _ in range(_ITERATIONS):
            for number, instruction in enumerate(kernel.instructions):
                self._step(number, instruction)

    def value(self, root: str) -> tuple[_Terms, int]:
        return self._values.get(root) or self.entry.get(root) or ({root: 1}, 0)

    def _step(self, number: int, instruction: Instruction) -> None:
        for access in instruction.memory:
            self.addresses.append(self._address(instruction, access))
        affine = instruction.affine
        written: dict[str, tuple[_Terms, int]] = {}
        for use in instruction.registers:
            root = use.register.root
            if not use.write or root not in _NUMBER:
                continue
            if affine is not None and affine.target == root:
                terms: _Terms = {}
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
        fixed = base is not None and base.root in _NUMBER and base.root not in self._moving
        if base is None or not fixed or access.index is not None or access.symbol or access.size not in _WORDS:
            return ""
        name = f"{access.displacement}({base.root})"
        self.slots.setdefault(name, _Slot(base.root, access.displacement, access.size))
        return name

    def _loaded(self, instruction: Instruction) -> tuple[_Terms, int] | None:
        """Return the value that a move loads from such a place; None for any other instruction."""
        if instruction.mnemonic not in _MOVES or len(instruction.memory) != 1 or not instruction.memory[0].load:
            return None
        name = self._slot(instruction.memory[0])
        return self._held.get(name, ({name: 1}, 0)) if name else None

    def _keep(self, number: int, instruction: Instruction) -> None:
        """Update the contents of such places behind an instruction."""
        for access in instruction.memory:
            name = self._slot(access) if access.store else ""
            if not name:
                continue
            sources = [u.register.root for u in instruction.registers if u.read and not u.address]
            if instruction.mnemonic == "mov" and len(sources) == 1 and sources[0] in _NUMBER:
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
            if use.read and not use.address and use.register.root in _NUMBER
            for name in self.value(use.register.root)[0]
        }
        before = self.data.get(symbol)
        if before is not None:
            sources |= before.sources
        sources.discard(symbol)
        self.data[symbol] = _Data(max(loads, default=0), frozenset(sources))
        return symbol

    def _address(self, instruction: Instruction, access: MemoryAccess) -> _Address:
        base = dict(self.value(access.base.root)[0]) if access.base is not None else {}
        terms = dict(base)
        vector = 0
        if access.index is not None:
            if access.index.kind == "vector":
                vector = _index_bytes(instruction.mnemonic)
            else:
                for name, factor in self.value(access.index.root)[0].items():
                    terms[name] = terms.get(name, 0) + access.scale * factor
        fixed = bool(access.symbol) or (access.base is None and not vector)
        return _Address(
            access=access,
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


class _Roles:
    """The roles of symbols and of loaded data.

    `pointers` are initial symbols; `stored` are those of them through which something is stored. `chases`: loaded data
    are pointers. `indices`: bytes of loaded values that addresses are computed from. `scaled`: symbols that are the
    only part of an address, by their factors. `lifted`: the largest factor of loaded values where nothing else makes an
    address; 0 if there is none. `touched`: all symbols that addresses are made of. `met`: there is a store whose
    address depends on data.
    """

    def __init__(self, follower: _Follower) -> None:
        self.pointers: dict[str, None] = {}
        self.stored: set[str] = set()
        self.chases = False
        self.indices: set[int] = set()
        self.scaled: dict[str, int] = {}
        self.touched: set[str] = set()
        self.met = False
        self.lifted = 0
        # Those that leave no choice come first.
        unsettled = sorted(follower.addresses, key=lambda address: len(_candidates(address.terms, follower)))
        for address in unsettled:
            self._settle(address, follower)

    def _settle(self, address: _Address, follower: _Follower) -> None:
        terms = address.terms
        self.touched.update(name for name in terms if name not in follower.data)
        made = [name for name in terms if name in follower.data]
        pointer = ""
        if not address.fixed:
            candidates = _candidates(terms, follower)
            pointer = next((name for name in candidates if name in self.pointers), "")
            if not pointer and candidates:
                pointer = next((name for name in _candidates(address.base, follower)), candidates[0])
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
            self.met |= address.access.store

    def _without(self, address: _Address, follower: _Follower, made: list[str]) -> list[str]:
        """Return an address of data alone without the symbol that is its pointer."""
        terms = address.terms
        single = [name for name in (*address.base, *made) if terms.get(name) == 1 and name in follower.data]
        if single:
            first, sizes = follower.origins(single[:1])
            self.chases |= 8 in sizes
            for name in first:
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


def _candidates(terms: _Terms, follower: _Follower) -> list[str]:
    return [name for name, factor in terms.items() if factor == 1 and name not in follower.data]


_ARRAYS, _APART = 0x2000_0000, 0x100_0000
_STACK = 0x2F00_0440
_STATICS, _STATIC_ARRAYS, _STATICS_APART = 0x3000_0000, 0x3100_0000, 0x10_0000
"""The addresses of pointers, of the stack, and of places that instructions name: below 2^31, as displacements are."""
_SPAN = 0x4000
"""Bytes of the area that holds the fixed places of one symbol."""
_ROW = 0x418
"""The value of a number added to a pointer before the loop: the length of rows and the like."""
_ENTERED = 0x2E00_0480
"""The target of a pointer that is loaded: a copy of itself."""


def _begin(kernel: KernelCode, follower: _Follower, roles: _Roles) -> tuple[dict[str, int], bytes]:
    """Return the registers' first values, and code that fills the places in memory that act as registers."""
    places: dict[str, int] = {}
    loads = stores = 0
    for number, name in enumerate(roles.pointers):
        within = 0x40 + 0x80 * (stores % 7) if name in roles.stored else 0x440 + 0xC0 * (loads % 12)
        stores += name in roles.stored
        loads += name not in roles.stored
        places[name] = _ARRAYS + number % 14 * _APART + within
    for name, factor in roles.scaled.items():
        places.setdefault(name, (_ARRAYS + 14 * _APART) // factor)
    rows = 0
    for terms, _ in follower.entry.values():
        if any(name in roles.pointers for name in terms):
            for name in terms:
                if name not in places:
                    places[name] = _ROW + 0x18 * rows
                    rows += 1
    divisors = {
        use.register.root
        for instruction in kernel.instructions
        if instruction.mnemonic in ("div", "idiv")
        for use in instruction.registers
        if use.operand == 0
    }
    values: dict[str, int] = {}
    for root in _GPR:
        terms, constant = follower.entry.get(root) or ({root: 1}, 0)
        plain = 0 if root in roles.touched else 3 if root in divisors else 1
        default = _STACK if root == "rsp" else plain
        values[root] = sum(
            factor * places.get(name, 0 if name[0] == "@" else default) for name, factor in terms.items()
        )
        values[root] += constant
    fills = b""
    for name, slot in follower.slots.items():
        address = values[slot.root] + slot.displacement
        if name in roles.touched and 0 <= address < 1 << 31:
            # mov $places, address, of 4 or 8 bytes
            fills += b"\x48" * (slot.size == 8) + b"\xc7\x04\x25" + address.to_bytes(4, "little")
            fills += places.get(name, 0).to_bytes(4, "little")
    return values, fills


_HALVES = {2: 0x3E00_3E00_3E00_3E00, 4: 0x3FC0_0000_3FC0_0000, 8: 0x3FF8_0000_0000_0000}
"""1.5 in floating-point numbers of so many bytes."""
_INTEGERS = 3 | 3 << 32
# Loaded indices: small, and as different as a word can have them.
_INDICES = {1: 0x0E0C_0A08_0604_0200, 2: 0x0030_0020_0010_0000, 4: 3 | 67 << 32}


def _content(kernel: KernelCode, roles: _Roles) -> int:
    """Return the word that fills memory and vector registers."""
    if any(access.size == 10 for instruction in kernel.instructions for access in instruction.memory):
        return 0x8000_0000_0000_3FFF  # as numbers of the x87 unit in a row, a little more than 1
    if roles.chases:
        return _ENTERED
    if roles.lifted:
        return (_ARRAYS + 14 * _APART) // roles.lifted
    if roles.indices:
        return _INDICES.get(max(roles.indices), 3)
    # Masks in vectors are of signs: of elements that are masked out nothing would be loaded.
    masks = 0x8080_8080_8080_8080 if any("maskmov" in i.mnemonic for i in kernel.instructions) else 0
    return masks | _numbers(kernel)


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


# --- machine code -----------------------------------------------------------------------------------------------------


class _Statics:
    """The places that instructions name themselves.

    By a symbol, an absolute address, or relative to the instruction.
    """

    def __init__(self, kernel: KernelCode) -> None:
        accesses = [access for instruction in kernel.instructions for access in instruction.memory]
        self._arrays = {access.symbol for access in accesses if access.symbol and (access.base or access.index)}
        self._stored = {access.symbol for access in accesses if access.symbol and access.store}
        spans: dict[str, tuple[int, int]] = {}
        for access in accesses:
            low, high = spans.get(access.symbol, (access.displacement, access.displacement))
            spans[access.symbol] = min(low, access.displacement), max(high, access.displacement)
        self._first = {symbol: low for symbol, (low, _) in spans.items()}
        # Fixed places lie close together, and those of one symbol keep their distance.
        self._fixed: dict[str, int] = {}
        at = _STATICS
        for symbol, (low, high) in spans.items():
            within = low % 64 if symbol else 0
            self._fixed[symbol] = at + within
            at += (within + min(high - low, _SPAN - 1)) // 64 * 64 + 64
        self._regions: dict[str, int] = {}

    def array(self, symbol: str, displacement: int = 0) -> int:
        """Return the address of an array that indices or pointers lead into."""
        if symbol not in self._regions:
            number = len(self._regions)
            within = 0x40 + 0x80 * (number % 7) if symbol in self._stored else 0x440 + 0xC0 * (number % 12)
            self._regions[symbol] = _STATIC_ARRAYS + number % 256 * _STATICS_APART + within
        away = displacement - self._first.get(symbol, displacement)
        return self._regions[symbol] + away % _STATICS_APART

    def place(self, symbol: str, displacement: int) -> int:
        """Return the address of a fixed place."""
        if symbol in self._arrays:
            return self.array(symbol, displacement)
        return self._fixed[symbol] + (displacement - self._first[symbol]) % _SPAN


class _Rewriter:
    """The rewriting of instructions to run anywhere.

    `base` is a free register among the first eight that holds _STATICS, "" for none; `used` is True if it was needed.
    """

    def __init__(self, kernel: KernelCode, base: str) -> None:
        self.statics = _Statics(kernel)
        self.base = base
        self.used = False
        self.longer = False
        self.segments = False

    def code(self, number: int, instruction: Instruction) -> bytes | None:
        """Return the instruction's machine code; None if its address cannot be given a place."""
        code = bytearray(instruction.encoding)
        decoder = Decoder(64, instruction.encoding)
        native = decoder.decode()
        offsets = decoder.get_constant_offsets(native)
        if instruction.immediate is None and instruction.immediate_bytes >= 4 and offsets.has_immediate:
            # The linker fills in an address.
            place = self.statics.array(f"#{number}")
            start, size = offsets.immediate_offset, offsets.immediate_size
            code[start : start + size] = place.to_bytes(8, "little")[:size]
        for n, byte in enumerate(instruction.encoding):
            if byte not in PREFIXES:
                break
            if byte in (0x64, 0x65):  # of fs and gs; that of cs means nothing
                code[n] = 0x2E
                self.segments = True
        if not offsets.has_displacement:
            return bytes(code)
        access = next((access for access in instruction.memory if access.operand is not None), None)
        self._displace(code, native, offsets, access, f"#{number}")
        check = Decoder(64, bytes(code)).decode()
        if check.is_invalid or check.code != native.code or check.len != len(code) or check.is_ip_rel_memory_operand:
            return None
        return bytes(code)

    def _displace(self, code: bytearray, native: Any, offsets: Any, access: MemoryAccess | None, name: str) -> None:
        """Write the address of a place into an instruction's displacement. `name` is for a place without an access."""
        at = offsets.displacement_offset
        symbol, displacement = (access.symbol, access.displacement) if access else (name, 0)
        base, index = native.memory_base, native.memory_index
        vector = access is not None and access.index is not None and access.index.kind == "vector"
        if offsets.displacement_size == 8:
            code[at : at + 8] = self.statics.place(symbol, displacement).to_bytes(8, "little")
        elif native.is_ip_rel_memory_operand:
            place = self.statics.place(symbol, displacement) if access else self.statics.array(symbol)
            field = code[at - 1] & 0x38
            if self.base:
                self.used = True
                code[at - 1] = 0x80 | field | _NUMBER[self.base]
                code[at : at + 4] = (place - _STATICS).to_bytes(4, "little", signed=True)
            else:
                self.longer = True
                code[at - 1 : at + 4] = bytes((0x04 | field, 0x25)) + place.to_bytes(4, "little")
        elif offsets.displacement_size == 4 and (symbol or not base) and access is not None and not (vector and base):
            fixed = not base and not index
            place = self.statics.place(symbol, displacement) if fixed else self.statics.array(symbol, displacement)
            code[at : at + 4] = place.to_bytes(4, "little")


_MOVES = word_set("mov movsxd")
_FUSED = word_set("cmp test add sub and inc dec")
"""Instructions that some core fuses with a conditional jump (Intel, Optimization Manual, 3.4.2.2; AMD since Zen 3)."""
_COUNTED = word_set("add sub inc dec")
_MOST_PREFIXES = 4
_INSTRUCTIONS = 40
"""The number of instructions from which on repeated code is so long that its own branch does not matter."""


class _Exit(msgspec.Struct, frozen=True, kw_only=True):
    """The replacement of a branch."""

    dropped: int
    """The index of the comparison that is dropped with it, -1 for none."""
    length: int
    """The length in bytes of that comparison."""
    more: int
    """Additional µops, 0 or 1."""
    tested: bool = False
    """True if a fused comparison with memory is before it, which may become a `test` of the same operands."""


class _Exits(msgspec.Struct, frozen=True, kw_only=True):
    """The replacements of a kernel's branches."""

    replaced: dict[int, _Exit]
    """The replacements of conditional branches, by the branch's index."""
    dropped: set[int]
    """The indices of instructions that are left out, since only a replaced branch needs them."""
    own: tuple[str, int] | None
    """The register that the kernel itself counts down, and its decrement per trip; None without one."""
    closing: int
    """The index of the branch that closes the loop, -1 without one."""


class _Body(msgspec.Struct, frozen=True):
    """The code of a trip, without the end of the loop."""

    code: bytes
    enter: int
    """The offset at which the loop is entered."""
    more: int
    """Additional µops of replaced branches."""


def runnable(kernel: KernelCode) -> Runnable | NotRunnable:
    """Return the kernel as code that runs a given number of times, or the reason why it cannot run."""
    refusal = _kernel_refusal(kernel)
    if refusal is not None:
        return refusal
    natives = tuple([Decoder(64, instruction.encoding).decode() for instruction in kernel.instructions])
    refusal = _instructions_refusal(kernel, natives)
    if refusal is not None:
        return refusal
    follower = _Follower(kernel)
    roles = _Roles(follower)
    entered, turned = 0, _turned(kernel)
    if turned is None:
        return NotRunnable("exit", "no branch of it leads back")
    if turned:
        entered = len(natives) - turned
        first = kernel.instructions[0].offset
        instructions, natives = _rotated(kernel.instructions, turned), _rotated(natives, turned)
        kernel = replace(kernel, instructions=instructions, alignment=kernel.alignment + instructions[0].offset - first)
    exits = _exits(kernel, roles)
    registers_left = _counter_and_base(kernel, natives, exits)
    if registers_left is None:
        return NotRunnable("registers", "it uses all registers, and none is left to count with")
    counter, base = registers_left
    number = _NUMBER[counter]
    rewriter = _Rewriter(kernel, base)
    content = _content(kernel, roles)
    body = _body(kernel, exits, rewriter, number, content, entered)
    if isinstance(body, NotRunnable):
        return body
    registers, fills = _begin(kernel, follower, roles)
    if rewriter.used:
        registers[rewriter.base] = _STATICS
    codes, weights, how = _timed_loops(kernel, exits, body, number, fills, entered)
    features = {_FEATURES[f] for native in natives for f in native.cpuid_features()}
    return Runnable(
        codes=codes,
        weights=weights,
        exit=how,
        counter=number,
        step=exits.own[1] if exits.own is not None else 1,
        registers=tuple(registers[root] % (1 << 64) for root in _GPR),
        content=content,
        features=frozenset(features),
        notes=tuple(_notes(kernel, roles, rewriter)),
    )


def _kernel_refusal(kernel: KernelCode) -> NotRunnable | None:
    """Return why a kernel cannot be decoded as 64-bit code, None if it can."""
    if kernel.refused:
        return NotRunnable("refused", "statements of it were not understood")
    if not kernel.instructions:
        return NotRunnable("empty", "it has no instruction")
    if any(bits_of(instruction.encoding) == 32 for instruction in kernel.instructions):
        return NotRunnable("mode", "it is code of 32-bit mode")
    return None


def _instructions_refusal(kernel: KernelCode, natives: Sequence[Any]) -> NotRunnable | None:
    """Return why a kernel's instructions cannot run on their own, None if they can."""
    for instruction, native in zip(kernel.instructions, natives, strict=True):
        refusal = _refusal(instruction, native)
        if refusal is not None:
            return refusal
    if (kernel.region is not None and kernel.region.forks) or _jumps_inside(kernel):
        return NotRunnable("ways", "there are several ways through it, and data decide which is taken")
    if _waits_for_x87(kernel):
        return NotRunnable("x87", "it goes on with x87 registers, which hold nothing when it begins")
    return None


def _exits(kernel: KernelCode, roles: _Roles) -> _Exits:
    """Return the replacements of a kernel's branches."""
    instructions = kernel.instructions
    replaced = {n: _exit(kernel, n) for n, i in enumerate(instructions) if i.branch == "conditional"}
    own = _own(kernel, roles, replaced)
    closing = len(instructions) - 1 if kernel.is_loop else -1
    if own is not None:
        del replaced[closing]
    dropped = {branch.dropped for branch in replaced.values()} - {-1}
    adds_uop = closing in replaced and replaced[closing].dropped < 0 and replaced[closing].more
    if adds_uop and _counts_alone(kernel, replaced, dropped):
        replaced[closing] = _Exit(dropped=closing - 1, length=instructions[closing - 1].length, more=0)
        dropped.add(closing - 1)
    return _Exits(replaced=replaced, dropped=dropped, own=own, closing=closing)


def _counter_and_base(kernel: KernelCode, natives: Sequence[Any], exits: _Exits) -> tuple[str, str] | None:
    """Return the register that counts trips, and one for addresses, "" without; None if no counter is free."""
    used = {"rsp"}
    for n, instruction in enumerate(kernel.instructions):
        if n not in exits.dropped:
            used |= {use.register.root for use in instruction.registers}
    free = [root for root in _GPR if root not in used]
    if exits.own is not None:
        counter = exits.own[0]
    elif not free:
        return None
    else:
        # The first eight have shorter encodings, of which addresses need one more than a counter does.
        short = exits.closing in exits.replaced and exits.replaced[exits.closing].length == 2
        needed = any(native.is_ip_rel_memory_operand for native in natives)
        low = [root for root in free if _NUMBER[root] < 8]
        counter = low[-1] if short and len(low) > needed else free[-1]
        free.remove(counter)
    return counter, next((root for root in free if _NUMBER[root] < 8), "")


def _body(
    kernel: KernelCode, exits: _Exits, rewriter: _Rewriter, counter: int, content: int, entered: int
) -> _Body | NotRunnable:
    """Return the code of a trip, entered at instruction `entered`, or why an instruction cannot be rewritten."""
    positive = not content & 0x8080_8080_8080_8080
    body: list[bytes] = []
    more = enter = 0
    for n, instruction in enumerate(kernel.instructions):
        if n == entered:
            enter = sum(map(len, body))
        if n in exits.dropped or n == exits.closing:
            continue
        branch = exits.replaced.get(n)
        if branch is not None and branch.tested and positive:
            at = kernel.instructions[n - 1].opcode_offset
            code = bytearray(body[-1])
            code[at] = 0x85 if code[at] & 1 else 0x84
            body[-1] = bytes(code)
            body.append(b"\x78\x00" if instruction.length < 6 else b"\x0f\x88" + bytes(4))
        elif branch is not None:
            body.append(_never(counter, branch.length, instruction.length))
            more += branch.more
        elif instruction.branch:
            body.append(b"\xeb\x00" if instruction.length < 5 else b"\xe9" + bytes(4))
        else:
            written = rewriter.code(n, instruction)
            if written is None:
                return NotRunnable("address", f"the address in `{instruction.text}` cannot be given a place")
            body.append(written)
    if exits.closing in exits.replaced:
        more += exits.replaced[exits.closing].more
    return _Body(b"".join(body), enter, more)


def _timed_loops(
    kernel: KernelCode, exits: _Exits, body: _Body, counter: int, fills: bytes, entered: int
) -> tuple[tuple[bytes, ...], tuple[float, ...], ExitKind]:
    """Return the loops to time, the weights of their cycles in an iteration's, and the way the exit was replaced."""
    last = kernel.instructions[-1]
    if exits.own is not None:
        count, jump = b"", _closing(last)
    else:
        count = _count(counter, exits.replaced[exits.closing].length if exits.closing in exits.replaced else 3)
        jump = b"\x75"
    before = b"\xe9" + body.enter.to_bytes(4, "little") if entered else b""
    padding = b"\x90" * ((kernel.alignment % 64 - len(fills + before)) % 64)

    def loop(inside: bytes) -> bytes:
        return fills + padding + before + _closed(inside + count, jump, last.length)

    if not kernel.is_loop:
        copies = -(-_INSTRUCTIONS // len(kernel.instructions))
        return (loop(body.code * copies), loop(body.code * 2 * copies)), (-1 / copies, 1 / copies), "repeated"
    if body.more:
        test = bytes((0x48 | (counter >> 3) * 5, 0x85, 0xC0 | (counter & 7) * 9))
        return (loop(body.code), loop(body.code + body.more * test)), (2.0, -1.0), "added"
    return (loop(body.code),), (1.0,), "own" if exits.own is not None else "replaced"


def _notes(kernel: KernelCode, roles: _Roles, rewriter: _Rewriter) -> Iterable[str]:
    """Yield the ways in which data and code may differ from the original program."""
    if roles.met:
        yield "stores to data-dependent addresses hit few places repeatedly, since all memory holds one word"
    elif roles.chases:
        yield "all loaded pointers lead to one place in the first-level cache"
    floating = any(i.arithmetic is not None and i.arithmetic.floating for i in kernel.instructions)
    if floating and (roles.chases or roles.indices):
        yield "loaded floating-point numbers are zero, since memory holds indices"
    if any(
        i.mnemonic in ("div", "idiv") or i.mnemonic.startswith(("vdiv", "div", "sqrt", "vsqrt"))
        for i in kernel.instructions
    ):
        yield "how long divisions and roots take may depend on the numbers, which are simple ones"
    if any(i.traits & {"rep", "repne"} for i in kernel.instructions):
        yield "how long string instructions take depends on counts, which are not those of the program"
    if rewriter.segments:
        yield "segments are left out of addresses"
    if rewriter.longer:
        yield "addresses relative to the instruction became absolute ones, a byte longer each"


def _turned(kernel: KernelCode) -> int | None:
    """Return how many instructions of a loop come before the one behind the branch that leads back.

    None of most; some where a compiler has turned the loop, so that it is entered at the start of the path and goes
    back from within. Returns None without a branch.
    """
    instructions = kernel.instructions
    if not kernel.is_loop or instructions[-1].branch:
        return 0
    branches = [n for n, i in enumerate(instructions) if i.branch in ("conditional", "unconditional")]
    back = [n for n in branches if instructions[n + 1].offset < instructions[n].offset]
    return (back or branches)[-1] + 1 if branches else None


def _rotated(items: Sequence[_Item], by: int) -> tuple[_Item, ...]:
    return (*items[by:], *items[:by])


def _jumps_inside(kernel: KernelCode) -> bool:
    """Return True if a branch of machine code without text leads elsewhere into it, not to its start or out of it."""
    if kernel.region is not None:
        return False
    instructions = kernel.instructions
    first, end = instructions[0].offset, instructions[-1].offset + instructions[-1].length
    for n, i in enumerate(instructions):
        if i.branch in ("conditional", "unconditional") and i.target.startswith("0x"):
            target = int(i.target, 16)
            closes = n == len(instructions) - 1 and target == first and kernel.is_loop
            if first <= target < end and not closes and target != i.offset + i.length:
                return True
    return False


def _waits_for_x87(kernel: KernelCode) -> bool:
    """Return True if an x87 register is read that the kernel has not written before."""
    written: set[str] = set()
    for instruction in kernel.instructions:
        for use in instruction.registers:
            if use.register.kind == "x87" and use.read and use.register.root not in written:
                return True
        written.update(use.register.root for use in instruction.registers if use.write)
    return False


# --- exits ------------------------------------------------------------------------------------------------------------


def _exit(kernel: KernelCode, branch: int) -> _Exit:
    """Return the replacement of a conditional branch."""
    instructions = kernel.instructions
    jump = instructions[branch]
    setter = next((n for n in range(branch - 1, -1, -1) if instructions[n].flags_written), -1)
    if setter != branch - 1 or setter < 0 or not jump.flags_read:
        return _Exit(dropped=-1, length=0, more=0)
    first = instructions[setter]
    loads_immediate = bool(first.memory) and "i" in first.operands
    stores = any(access.store for access in first.memory)
    fused = first.mnemonic in _FUSED and not loads_immediate and not stores
    if first.mnemonic in ("cmp", "test") and not first.memory and fused and not _flags_needed(kernel, setter, branch):
        return _Exit(dropped=setter, length=first.length, more=0)
    tested = first.mnemonic in ("cmp", "test") and fused and not _flags_needed(kernel, setter, branch)
    return _Exit(dropped=-1, length=0, more=int(fused), tested=tested)


def _flags_needed(kernel: KernelCode, setter: int, branch: int) -> bool:
    """Return True if anything but the branch reads an instruction's flags, in this iteration or the next one."""
    open_flags = set(kernel.instructions[setter].flags_written)
    count = len(kernel.instructions)
    following = range(setter + 1, setter + count) if kernel.is_loop else range(setter + 1, count)
    for n in following:
        instruction = kernel.instructions[n % count]
        if n != branch and open_flags & set(instruction.flags_read):
            return True
        open_flags -= set(instruction.flags_written)
        if not open_flags:
            return False
    return False


def _own(kernel: KernelCode, roles: _Roles, exits: dict[int, _Exit]) -> tuple[str, int] | None:
    """Return the register that the loop itself counts to zero, and its decrement per trip; None without one."""
    if not kernel.is_loop:
        return None
    instructions = kernel.instructions
    last = instructions[-1]
    if last.mnemonic == "loop":
        writers = [i for i in instructions if any(u.write and u.register.root == "rcx" for u in i.registers)]
        return ("rcx", 1) if len(writers) == 1 and "rcx" not in roles.pointers else None
    if last.mnemonic != "jne" or len(instructions) < 2 or exits[len(instructions) - 1].dropped >= 0:
        return None
    counting = instructions[-2]
    affine = counting.affine
    if counting.mnemonic not in _COUNTED or affine is None or affine.target not in _NUMBER:
        return None
    root = affine.target
    writers = [i for i in instructions if any(u.write and u.register.root == root for u in i.registers)]
    if affine.terms != ((root, 1),) or not affine.constant or len(writers) != 1 or root in roles.pointers:
        return None
    return root, -affine.constant


def _counts_alone(kernel: KernelCode, exits: dict[int, _Exit], dropped: set[int]) -> bool:
    """Return True if the instruction before the closing branch changes a register that nothing else uses."""
    instructions = kernel.instructions
    counting, branch = len(instructions) - 2, len(instructions) - 1
    first = instructions[counting]
    affine = first.affine
    if first.mnemonic not in _COUNTED or first.memory or affine is None or affine.target not in _NUMBER:
        return False
    root = affine.target
    if affine.terms != ((root, 1),) or _flags_needed(kernel, counting, branch):
        return False
    return not any(
        use.register.root == root
        for n, i in enumerate(instructions)
        if n != counting and n not in dropped
        for use in i.registers
    )


def _padded(code: bytes, length: int) -> bytes:
    """Return code behind prefixes without effect, if so few are needed."""
    missing = length - len(code)
    return b"\x3e" * missing + code if 0 < missing <= _MOST_PREFIXES else code


def _count(number: int, length: int) -> bytes:
    """Return `dec` of a register, of this many bytes if possible."""
    wide = bytes((0x48 | number >> 3, 0xFF, 0xC8 | number & 7))
    return wide[1:] if number < 8 and length == 2 else _padded(wide, length)


def _never(number: int, length: int, jump: int) -> bytes:
    """Return `test` of the counter, which is not zero, of this many bytes if possible, and a jump if it is."""
    test = bytes((0x48 | (number >> 3) * 5, 0x85, 0xC0 | (number & 7) * 9))
    return _padded(test, length) + (b"\x74\x00" if jump < 6 else b"\x0f\x84" + bytes(4))


def _closing(last: Instruction) -> bytes:
    """Return the operation of the short jump that closes a loop."""
    return b"\xe2" if last.mnemonic == "loop" else b"\x75"


def _closed(code: bytes, jump: bytes, length: int) -> bytes:
    """Return code with a jump to its start, as long as the original one if possible."""
    short = len(code) + 2 <= 128
    if short and (length == 2 or jump == b"\xe2" or length not in (2, 6)):
        return code + jump + (-(len(code) + 2)).to_bytes(1, "little", signed=True)
    if jump == b"\xe2":  # `loop` reaches no further: dec rcx, jnz
        code += b"\x48\xff\xc9"
    return code + b"\x0f\x85" + (-(len(code) + 6)).to_bytes(4, "little", signed=True)
