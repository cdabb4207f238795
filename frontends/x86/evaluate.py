"""An evaluator of integer code: values of general-purpose registers, flags and memory, as far as they are known.

It runs one decoded instruction after another and tells if conditional branches are taken. A value is a number, or
unknown. Registers are known bit by bit, since code writes parts of them; memory is known byte by byte, at numeric
addresses. Of vector registers, only the lower 64 bits are known, and only what moves between registers put there, as
compilers spill integers. x87 is always unknown.

Assumptions: a store to an unknown address changes nothing that is known, and neither does a called function, except
for the registers that the ABI lets it change (System V ABI for x86-64, 3.2.1).

It can also trace where values come from: the incoming registers and the places in memory that a value, an address or
the flags depend on, with linear coefficients where the computation is linear.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from incc.frontends.asm.expressions import Expression, evaluate
from incc.frontends.isa import POINTERS, Place, Terms, words
from incc.frontends.kernel import Affine, Instruction, MemoryAccess
from incc.frontends.x86.decode import native_of, register_of
from incc.frontends.x86.kept import keep
from incc.frontends.x86.statements import read_statement

_ARGUMENTS = words("rdi rsi rdx rcx r8 r9")
_GENERAL = words("rax rbx rcx rdx rsi rdi rbp rsp r8 r9 r10 r11 r12 r13 r14 r15")
_NOT_KEPT = words("rax rcx rdx rsi rdi r8 r9 r10 r11")
_VECTOR_BITS = {"movd": 32, "movq": 64}
_VECTOR_BITS |= dict.fromkeys(words("movdqa movdqa32 movdqa64 movdqu movaps movapd movups movupd"), 128)
_VECTOR_BITS |= {f"v{name}": bits for name, bits in _VECTOR_BITS.items()}
"""The moves whose lower bits are tracked in vector registers, with the least number of bits that they move."""
_COPIES = frozenset((*words("mov movzx movsx movsxd pop"), *_VECTOR_BITS))
# These always write the flags that they may write.
_ALWAYS_FLAGS = words("add sub cmp and test or xor imul neg inc dec adc sbb andn")
_ALL = (1 << 64) - 1
_FLAGS = "CPAZSO"
STACK = 0x7FFF_FFF0_0008
"""The stack pointer on entry: a multiple of 16, less the return address."""

_Flags = dict[str, int | None]
_Result = tuple[tuple[int, ...], _Flags]
"""The results of an operation, one for each operand that it writes, and the flags that it defines."""


# --- operations: numbers below 2 ** width to results and flags --------------------------------------------------------


def _signed(value: int, width: int) -> int:
    return value - (1 << width) if value >> (width - 1) else value


def _tests(result: int, width: int) -> _Flags:
    """Return the flags that depend on the result alone."""
    return {
        "Z": int(not result),
        "S": result >> (width - 1) & 1,
        "P": (result & 255).bit_count() + 1 & 1,
    }


def _added(a: int, b: int, carry: int, width: int) -> _Result:
    total = a + b + carry
    result = total & (1 << width) - 1
    overflow = ((a ^ result) & (b ^ result)) >> (width - 1)
    return (result,), {**_tests(result, width), "C": total >> width, "O": overflow, "A": (a ^ b ^ result) >> 4 & 1}


def _subtracted(a: int, b: int, borrow: int, width: int) -> _Result:
    result = (a - b - borrow) & (1 << width) - 1
    overflow = ((a ^ b) & (a ^ result)) >> (width - 1)
    flags = {"C": int(a < b + borrow), "O": overflow, "A": (a ^ b ^ result) >> 4 & 1}
    return (result,), {**_tests(result, width), **flags}


def _logical(result: int, width: int) -> _Result:
    return (result,), {**_tests(result, width), "C": 0, "O": 0}


def _shifted(mnemonic: str, a: int, count: int, width: int, flags: _Flags) -> _Result:
    count &= 63 if width == 64 else 31
    if not count:
        return (a,), flags
    mask = (1 << width) - 1
    if mnemonic in ("rol", "ror"):
        turn = count % width if mnemonic == "rol" else -count % width
        result = (a << turn | a >> (width - turn)) & mask
        carry = result & 1 if mnemonic == "rol" else result >> (width - 1)
        overflow = (result >> (width - 1)) ^ (carry if mnemonic == "rol" else result >> (width - 2) & 1)
        return (result,), {**flags, "C": carry, "O": overflow if count == 1 else None}
    if mnemonic == "shl":
        result, carry = a << count & mask, a << count >> width & 1
        overflow = result >> (width - 1) ^ carry
    else:
        wide = _signed(a, width) if mnemonic == "sar" else a
        result, carry = wide >> count & mask, wide >> (count - 1) & 1
        overflow = a >> (width - 1) if mnemonic == "shr" else 0
    # The carry is undefined where all bits have left the operand, and the overflow for counts above 1.
    return (result,), {
        **_tests(result, width),
        "C": carry if count < width or mnemonic == "sar" else None,
        "O": overflow if count == 1 else None,
    }


def _multiplied(a: int, b: int, width: int) -> _Result:
    """Return the signed product in one operand."""
    product = _signed(a, width) * _signed(b, width)
    result = product & (1 << width) - 1
    overflow = int(_signed(result, width) != product)
    return (result,), {"C": overflow, "O": overflow}


def _scanned(mnemonic: str, a: int, width: int) -> _Result | None:
    if mnemonic == "popcnt":
        return (a.bit_count(),), {"C": 0, "P": 0, "A": 0, "Z": int(not a), "S": 0, "O": 0}
    if mnemonic in ("bsf", "bsr"):
        # With zero, the destination stays on some processors and is undefined on paper.
        return (((a & -a if mnemonic == "bsf" else a).bit_length() - 1,), {"Z": 0}) if a else None
    result = width - a.bit_length() if mnemonic == "lzcnt" else (a & -a).bit_length() - 1 if a else width
    return (result,), {"C": int(not a), "Z": int(not result)}


def _extracted(a: int, control: int, width: int) -> _Result:
    result = a >> (control & 255) & (1 << min(control >> 8 & 255, width)) - 1
    return (result,), {"Z": int(not result), "C": 0, "O": 0}


def _low_bits(a: int, count: int, width: int) -> _Result:
    count &= 255
    result = a & (1 << count) - 1
    return (result,), {**_tests(result, width), "P": None, "C": int(count >= width), "O": 0}


def _lowest(mnemonic: str, a: int, width: int) -> _Result:
    """Return the result of the instructions on the lowest bit that is set."""
    mask = (1 << width) - 1
    result = {"blsr": a & a - 1, "blsi": a & -a, "blsmsk": a ^ a - 1}[mnemonic] & mask
    flags = {**_tests(result, width), "P": None, "O": 0, "C": int((not a) != (mnemonic == "blsi"))}
    return (result,), flags | ({"Z": 0} if mnemonic == "blsmsk" else {})


def _bit(mnemonic: str, a: int, number: int, width: int, flags: _Flags) -> _Result:
    bit = 1 << number % width
    result = {"bt": a, "bts": a | bit, "btr": a & ~bit, "btc": a ^ bit}[mnemonic]
    return (result,), {"C": int(bool(a & bit)), "Z": flags["Z"]}


def _increased(mnemonic: str, a: int, width: int, flags: _Flags) -> _Result:
    result, changed = (_added if mnemonic == "inc" else _subtracted)(a, 1, 0, width)
    return result, {**changed, "C": flags["C"]}


_Operation = Callable[[list[int], int, _Flags], "_Result | None"]
"""An operation on known sources: their values, the width and the flags before it. None where the result is not."""

_BINARY: dict[str, _Operation] = {
    "add": lambda s, w, f: _added(s[0], s[1], 0, w),
    "sub": lambda s, w, f: _subtracted(s[0], s[1], 0, w),
    "cmp": lambda s, w, f: _subtracted(s[0], s[1], 0, w),
    "adc": lambda s, w, f: None if f["C"] is None else _added(s[0], s[1], f["C"], w),
    "sbb": lambda s, w, f: None if f["C"] is None else _subtracted(s[0], s[1], f["C"], w),
    "and": lambda s, w, f: _logical(s[0] & s[1], w),
    "test": lambda s, w, f: _logical(s[0] & s[1], w),
    "or": lambda s, w, f: _logical(s[0] | s[1], w),
    "xor": lambda s, w, f: _logical(s[0] ^ s[1], w),
    "imul": lambda s, w, f: _multiplied(s[0], s[1], w),
}
_BINARY |= {n: lambda s, w, f, n=n: _shifted(n, s[0], s[1], w, f) for n in words("shl shr sar rol ror")}  # type: ignore[misc]
_BINARY |= {n: lambda s, w, f, n=n: _bit(n, s[0], s[1], w, f) for n in words("bt bts btr btc")}  # type: ignore[misc]
_UNARY: dict[str, _Operation] = {
    "neg": lambda s, w, f: _subtracted(0, s[0], 0, w),
    "not": lambda s, w, f: ((s[0] ^ (1 << w) - 1,), {}),
    "bswap": lambda s, w, f: ((int.from_bytes(s[0].to_bytes(w // 8, "little"), "big"),), {}),
}
_UNARY |= {n: lambda s, w, f, n=n: _increased(n, s[0], w, f) for n in ("inc", "dec")}  # type: ignore[misc]
_TO_FIRST: dict[str, _Operation] = {
    "mov": lambda s, w, f: ((s[0],), {}),
    "movzx": lambda s, w, f: ((s[0],), {}),
    "andn": lambda s, w, f: _logical(~s[0] & s[1] & (1 << w) - 1, w),
    "shlx": lambda s, w, f: ((s[0] << s[1] % w,), {}),
    "shrx": lambda s, w, f: ((s[0] >> s[1] % w,), {}),
    "sarx": lambda s, w, f: ((_signed(s[0], w) >> s[1] % w,), {}),
    "rorx": lambda s, w, f: (_shifted("ror", s[0], s[1], w, f)[0], {}),
    "bextr": lambda s, w, f: _extracted(s[0], s[1], w),
    "bzhi": lambda s, w, f: _low_bits(s[0], s[1], w),
    "imul": lambda s, w, f: _multiplied(s[0], s[1], w),
}
_TO_FIRST |= {n: lambda s, w, f, n=n: _scanned(n, s[0], w) for n in words("popcnt tzcnt lzcnt bsf bsr")}  # type: ignore[misc]
_TO_FIRST |= {n: lambda s, w, f, n=n: _lowest(n, s[0], w) for n in words("blsr blsi blsmsk")}  # type: ignore[misc]
# By mnemonic: the number of sources, and the result modulo 2 ** width where the flags are not needed.
_PLAIN: dict[str, tuple[int, Callable[..., int]]] = {
    "mov": (1, operator.pos),
    "movzx": (1, operator.pos),
    "neg": (1, operator.neg),
    "not": (1, operator.invert),
    "inc": (1, lambda a: a + 1),
    "dec": (1, lambda a: a - 1),
    "add": (2, operator.add),
    "sub": (2, operator.sub),
    "imul": (2, operator.mul),
    "and": (2, operator.and_),
    "or": (2, operator.or_),
    "xor": (2, operator.xor),
}
_SIGN_EXTENSIONS = {"cbw": ("al", "ax"), "cwde": ("ax", "eax"), "cdqe": ("eax", "rax")}
_SIGN_FILLS = {"cwd": ("ax", "dx"), "cdq": ("eax", "edx"), "cqo": ("rax", "rdx")}


# --- conditions ------------------------------------------------------------------------------------------------------


def _either(a: int | None, b: int | None) -> int | None:
    """Return `a or b`, as far as it is known."""
    return 1 if a or b else None if a is None or b is None else 0


def _less(flags: _Flags) -> int | None:
    return None if flags["S"] is None or flags["O"] is None else int(flags["S"] != flags["O"])


_CONDITIONS: dict[str, Callable[[_Flags], int | None]] = {
    "o": lambda f: f["O"],
    "b": lambda f: f["C"],
    "e": lambda f: f["Z"],
    "be": lambda f: _either(f["C"], f["Z"]),
    "s": lambda f: f["S"],
    "p": lambda f: f["P"],
    "l": _less,
    "le": lambda f: _either(f["Z"], _less(f)),
}
_OPPOSITE = {"no": "o", "ae": "b", "ne": "e", "a": "be", "ns": "s", "np": "p", "ge": "l", "g": "le"}


def _condition(name: str) -> Callable[[_Flags], bool | None] | None:
    """Return the test of a condition, None for a name that is none."""
    opposite = name in _OPPOSITE
    test = _CONDITIONS.get(_OPPOSITE.get(name, name))
    if test is None:
        return None

    def holds(flags: _Flags) -> bool | None:
        value = test(flags)
        return None if value is None else bool(value) != opposite

    return holds


# --- the evaluator ---------------------------------------------------------------------------------------------------

_Step = Callable[["IntegerEvaluator"], "bool | None"]


class IntegerEvaluator:
    """The values that integer code computes, see `incc.frontends.isa.Evaluator`."""

    arguments = tuple(_ARGUMENTS)
    stack = ("rsp", STACK)

    def __init__(self) -> None:
        self._steps: dict[int, tuple[Instruction, _Step]] = {}
        self._symbols: dict[str, int] = {}
        self.reset({}, {})

    def reset(self, registers: Mapping[str, int], memory: Mapping[Place, int], trace: bool = False) -> None:
        """Forget all values, and begin with these."""
        self._values = {root: registers.get(root, 0) & _ALL for root in _GENERAL}
        self._known = {root: _ALL if root in registers else 0 for root in _GENERAL}
        self._values["rsp"], self._known["rsp"] = STACK, _ALL
        self._vectors: dict[str, int] = {}
        self.flags: _Flags = dict.fromkeys(_FLAGS)
        self._memory: dict[int, int] = {}
        self._lines: set[int] = set()
        for (address, size), value in memory.items():
            self._store(address, size, value)
        self.difference: int | None = None
        self._trace = trace
        self._fresh: dict[Place, int] = {}
        self._terms: dict[str, Terms] = {root: {root: 1} for root in _GENERAL}
        self._terms["rsp"] = {}
        self._vector_terms: dict[str, Terms] = {}
        self._place_terms: dict[int, Terms] = {}
        self.flag_terms: Terms = {}
        self.addresses: dict[tuple[tuple[str | Place, int], ...], None] = {}

    @property
    def registers(self) -> dict[str, int | None]:
        """The values of the general-purpose registers modulo 2^64, None for one that is not known entirely."""
        return {root: value if self._known[root] == _ALL else None for root, value in self._values.items()}

    @property
    def fresh(self) -> Mapping[Place, int]:
        """The numbers that stand for the contents of memory in a trace, by place."""
        return self._fresh

    def run(self, instruction: Instruction) -> bool | None:
        """Run an instruction. For a conditional branch, return if it is taken; None if that is unknown."""
        entry = self._steps.get(id(instruction))
        if entry is None or entry[0] is not instruction:
            entry = keep(self._steps, id(instruction), (instruction, self._compiled(instruction)))
        if not self._trace:
            return entry[1](self)
        # Where values come from is followed with the addresses before the instruction.
        assign = self._follow(instruction)
        taken = entry[1](self)
        assign()
        return taken

    def block(self, instructions: Sequence[Instruction]) -> Callable[[], bool | None]:
        """Return a function that runs instructions, and returns if the last one, a conditional branch, is taken."""
        steps: list[_Step] = []
        live = set(_FLAGS)
        for instruction in reversed(instructions):
            steps.append(self._compiled(instruction, bool(live.intersection(instruction.flags_written))))
            if instruction.mnemonic in _ALWAYS_FLAGS:
                live.difference_update(instruction.flags_written)
            live.update(instruction.flags_read)
        steps.reverse()

        def run() -> bool | None:
            taken = None
            for step in steps:
                taken = step(self)
            return taken

        return run

    # --- registers and memory ---

    def _read(self, root: str, offset: int, width: int) -> int | None:
        mask = (1 << width) - 1
        if ~(self._known[root] >> offset) & mask:
            return None
        return self._values[root] >> offset & mask

    def _write(self, root: str, offset: int, width: int, value: int | None) -> None:
        if width >= 32:
            mask = (1 << width) - 1
            self._values[root] = 0 if value is None else value & mask
            self._known[root] = _ALL ^ mask if value is None else _ALL
            return
        mask = ((1 << width) - 1) << offset
        self._values[root] &= _ALL ^ mask
        self._known[root] &= _ALL ^ mask
        if value is not None:
            self._values[root] |= value << offset & mask
            self._known[root] |= mask

    def _load(self, address: int | None, size: int) -> int | None:
        if address is None:
            return None
        memory, value = self._memory, 0
        for n in range(size):
            byte = memory.get(address + n)
            if byte is None:
                return self._fresh_value(address, size) if self._trace and size in (4, 8) else None
            value |= byte << 8 * n
        return value

    def _fresh_value(self, address: int, size: int) -> int:
        """Return a number that stands for the unknown content of memory in a trace: 8 bytes may be a pointer.

        The numbers are not evenly spaced, as those are by which loops count.
        """
        square = (8 + len(self._fresh)) ** 2 << 12
        value = self._fresh[address, size] = POINTERS + (square << 20) if size == 8 else square
        self._store(address, size, value)
        return value

    def _store(self, address: int | None, size: int, value: int | None) -> None:
        if address is None:
            return
        memory, lines = self._memory, range(address >> 6, (address + size - 1 >> 6) + 1)
        if value is not None:
            self._lines.update(lines)
            for n in range(size):
                memory[address + n] = value >> 8 * n & 255
        elif any(line in self._lines for line in lines):
            for n in range(size):
                memory.pop(address + n, None)

    def _address(self, access: MemoryAccess, symbolic: Expression | None) -> int | None:
        """Return the address of a memory operand, None if it is unknown."""
        if access.segment or (access.index is not None and access.index.kind != "general"):
            return None
        total: int | None = access.displacement
        if symbolic is not None:
            total = self._symbolic(symbolic)
        elif access.symbol:
            total = self._symbol(access.symbol) + access.displacement
        for register, scale in ((access.base, 1), (access.index, access.scale)):
            if register is not None and total is not None:
                value = self._read(register.root, 0, register.width)
                total = None if value is None else total + value * scale
        return None if total is None else total & _ALL

    def _symbol(self, name: str) -> int:
        """Return the address of a symbol, far from all others."""
        return self._symbols.setdefault(name, POINTERS + (1 << 46) + (len(self._symbols) << 32))

    def _symbolic(self, expression: Expression) -> int | None:
        """Return the value of an expression with symbols."""

        def replaced(part: Expression) -> Expression:
            if isinstance(part, str):
                return self._symbol(part)
            return part if isinstance(part, int) else (part[0], *map(replaced, part[1:]))  # type: ignore[return-value]

        return evaluate(replaced(expression))

    # --- where values come from ---

    def _follow(self, instruction: Instruction) -> Callable[[], None]:
        """Return a function that records where the results of an instruction come from, once it has run."""
        sources, stores = self._sources(instruction), []
        symbolic = read_statement(instruction.text).displacement
        for memory in instruction.memory:
            address = self._address(memory, symbolic if memory.operand is not None else None)
            self._record(memory)
            if memory.load and memory.elements == 1 and address is not None and memory.size <= 8:
                loaded = self._place_terms.get(address, {(address, memory.size): 1})
                sources = loaded if instruction.mnemonic in _COPIES else {**sources, **dict.fromkeys(loaded, 0)}
            if memory.store and address is not None:
                stores.append(address)
        affine = instruction.affine
        target = affine.target if affine is not None else ""
        linear = self._linear(affine) if affine is not None else {}

        def assign() -> None:
            for access in instruction.registers:
                root = access.register.root
                if access.write and access.register.kind == "general":
                    kept = self._terms[root] if access.merges or access.conditional else {}
                    self._terms[root] = linear if root == target else {**dict.fromkeys(kept, 0), **sources}
                elif access.write and access.register.kind == "vector":
                    self._vector_terms[root] = sources if instruction.mnemonic in _VECTOR_BITS else {}
            self._place_terms |= dict.fromkeys(stores, sources)
            if instruction.flags_written:
                self.flag_terms = dict.fromkeys(sources, 0)
            if instruction.branch == "call":
                self._terms |= {root: {} for root in _NOT_KEPT}
            self._terms["rsp"] = {}

        return assign

    def _sources(self, instruction: Instruction) -> Terms:
        """Return the terms of the registers and flags that an instruction reads, linear ones if it stores a copy."""
        operands = [a for a in instruction.registers if a.read and not a.address and a.register.kind == "general"]
        if instruction.mnemonic in ("mov", "push") and len(instruction.memory) == 1 and instruction.memory[0].store:
            copied = [a for a in operands if a.operand is not None]
            return self._terms[copied[0].register.root] if copied else {}
        if instruction.mnemonic in _VECTOR_BITS:
            moved = next((a.register for a in instruction.registers if a.read and a.operand == 1), None)
            terms = self._vector_terms if moved is not None and moved.kind == "vector" else self._terms
            return terms.get(moved.root, {}) if moved is not None else {}
        total: dict[str | Place, int] = {}
        for access in operands:
            total |= dict.fromkeys(self._terms[access.register.root], 0)
        return total | dict.fromkeys(self.flag_terms, 0) if instruction.flags_read else total

    def _linear(self, affine: Affine) -> Terms:
        total: dict[str | Place, int] = {}
        for root, coefficient in affine.terms:
            for name, factor in self._terms.get(root, {}).items():
                total[name] = total.get(name, 0) + coefficient * factor
        return total

    def _record(self, memory: MemoryAccess) -> None:
        """Record the terms of an address."""
        total: dict[str | Place, int] = {}
        for register, scale in ((memory.base, 1), (memory.index, memory.scale)):
            if register is not None and register.kind == "general":
                for name, factor in self._terms[register.root].items():
                    total[name] = total.get(name, 0) + factor * scale
        if total:
            self.addresses[tuple(total.items())] = None

    # --- from instructions to steps ---

    def _compiled(self, instruction: Instruction, flags: bool = True) -> _Step:
        """Return the function that runs an instruction. It may leave out flags that nothing reads."""
        if instruction.branch:
            return _branch(instruction)
        native = native_of(instruction)
        if any(access.register.kind == "vector" for access in instruction.registers):
            return _vector(instruction, native) or _forgotten(instruction)
        compiled = _moved(instruction, native) or _chosen(instruction, native) or _wide(instruction)
        return compiled or _computed(instruction, native, flags) or _forgotten(instruction)


def _branch(instruction: Instruction) -> _Step:
    mnemonic = instruction.mnemonic
    holds = _condition(mnemonic[1:])
    if instruction.branch == "call":

        def call(state: IntegerEvaluator) -> None:
            for root in _NOT_KEPT:
                state._write(root, 0, 64, None)
            state._vectors.clear()
            state.flags = dict.fromkeys(_FLAGS)

        return call
    if instruction.branch != "conditional":
        return lambda state: None
    if holds is not None:
        test = holds
        return lambda state: test(state.flags)
    width = {"jcxz": 16, "jecxz": 32}.get(mnemonic, 64)
    if mnemonic in ("jcxz", "jecxz", "jrcxz"):

        def zero(state: IntegerEvaluator) -> bool | None:
            value = state._read("rcx", 0, width)
            return None if value is None else not value

        return zero
    if mnemonic != "loop":
        return _forgotten(instruction)

    def loop(state: IntegerEvaluator) -> bool | None:
        value = state._read("rcx", 0, 64)
        state._write("rcx", 0, 64, None if value is None else (value - 1) & _ALL)
        state.difference = None if value is None else value - 1
        return None if value is None else value != 1

    return loop


_Read = Callable[[IntegerEvaluator], "int | None"]
_Write = Callable[[IntegerEvaluator, "int | None"], None]


def _operand(instruction: Instruction, native: Any, k: int, width: int) -> _Read:
    """Return the function that reads an operand, an immediate with `width` bits."""
    kind = instruction.operands[k]
    if kind == "r":
        register = register_of(native.op_register(k))
        if register.kind != "general":
            return lambda state: None
        root, offset, bits = register.root, register.offset, register.width
        mask = (1 << bits) - 1

        def read(state: IntegerEvaluator) -> int | None:
            if state._known[root] == _ALL:
                return state._values[root] >> offset & mask
            return state._read(root, offset, bits)

        return read
    if kind == "m":
        access = next((a for a in instruction.memory if a.operand == k), None)
        if access is None:
            return lambda state: None
        memory, symbolic = access, read_statement(instruction.text).displacement
        return lambda state: state._load(state._address(memory, symbolic), memory.size)
    if instruction.immediate is None and instruction.immediate_bytes:
        expressions = read_statement(instruction.text).immediates
        return lambda state: state._symbolic(expressions[0]) if expressions else None
    value = native.immediate(k) & (1 << width) - 1
    return lambda state: value


def _destination(instruction: Instruction, native: Any, k: int) -> _Write:
    """Return the function that writes an operand."""
    if instruction.operands[k] == "r":
        register = register_of(native.op_register(k))
        if register.kind != "general":
            return lambda state, value: None
        root, offset, bits = register.root, register.offset, register.width
        mask = (1 << bits) - 1

        def write(state: IntegerEvaluator, value: int | None) -> None:
            if bits >= 32 and value is not None:
                state._values[root], state._known[root] = value & mask, _ALL
            else:
                state._write(root, offset, bits, value)

        return write
    access = next((a for a in instruction.memory if a.operand == k), None)
    if access is None:
        return lambda state, value: None
    memory, symbolic = access, read_statement(instruction.text).displacement
    return lambda state, value: state._store(state._address(memory, symbolic), memory.size, value)


def _vector(instruction: Instruction, native: Any) -> _Step | None:
    """Return the function that runs a move from or to a vector register; None for other instructions."""
    bits = _VECTOR_BITS.get(instruction.mnemonic, 0)
    if not bits or (bits == 128 and instruction.operands != "rr") or "mask" in instruction.traits:
        return None
    mask = _ALL >> 64 - min(bits, 64)
    to, source = ([a.register for a in instruction.registers if a.operand == k] for k in (0, 1))
    if source and source[0].kind == "vector":
        name = source[0].root

        def read(state: IntegerEvaluator) -> int | None:
            return state._vectors.get(name)
    else:
        read = _operand(instruction, native, 1, bits)  # type: ignore[assignment]
    if to and to[0].kind == "vector":
        root = to[0].root

        def write(state: IntegerEvaluator, value: int | None) -> None:
            if value is None:
                state._vectors.pop(root, None)
            else:
                state._vectors[root] = value
    else:
        write = _destination(instruction, native, 0)  # type: ignore[assignment]

    def step(state: IntegerEvaluator) -> None:
        value = read(state)
        write(state, None if value is None else value & mask)

    return step


def _bits(instruction: Instruction, native: Any, k: int) -> int:
    """Return the width of an operand."""
    if instruction.operands[k] == "r":
        return register_of(native.op_register(k)).width
    return 8 * next((a.size for a in instruction.memory if a.operand == k), 8)


def _computed(instruction: Instruction, native: Any, flags: bool) -> _Step | None:
    """Return the function that runs an arithmetic instruction; None if it is none that is known."""
    mnemonic, operands = instruction.mnemonic.replace("sal", "shl"), instruction.operands
    if len(operands) == 1 and mnemonic in _UNARY:
        operation, numbers = _UNARY[mnemonic], [0]
    elif len(operands) == 2 and mnemonic in _BINARY:
        operation, numbers = _BINARY[mnemonic], [0, 1]
    elif mnemonic in _TO_FIRST and len(operands) > 1:
        operation, numbers = _TO_FIRST[mnemonic], list(range(1, len(operands)))
    else:
        return None
    if mnemonic[:2] == "bt" and operands == "mr":
        return None  # the bit may be outside of the operand
    width = _bits(instruction, native, 0)
    write = None if mnemonic in ("cmp", "test", "bt") else _destination(instruction, native, 0)
    sources = [_operand(instruction, native, k, width) for k in numbers]
    if instruction.idiom == "zero":
        sources = [lambda state: 0] * len(sources)
    written = instruction.flags_written if flags else ""
    mask = (1 << width) - 1
    if not written and write is not None and mnemonic in _PLAIN and len(sources) == _PLAIN[mnemonic][0]:
        result_of, store = _PLAIN[mnemonic][1], write

        def plain(state: IntegerEvaluator) -> None:
            values = [source(state) for source in sources]
            store(state, None if None in values else result_of(*values) & mask)

        return plain

    def step(state: IntegerEvaluator) -> None:
        values: list[int] = []
        for source in sources:
            value = source(state)
            if value is None:
                break
            values.append(value)
        result = operation(values, width, state.flags) if len(values) == len(sources) else None
        if write is not None:
            write(state, None if result is None else result[0][0] & mask)
        if written:
            state.difference = None if result is None else _signed(result[0][0] & mask, width)
            changed = {} if result is None else result[1]
            if len(changed) == len(written) == len(_FLAGS):
                state.flags = changed
            else:
                state.flags = state.flags | {flag: changed.get(flag) for flag in written}

    return step


def _moved(instruction: Instruction, native: Any) -> _Step | None:
    """Return the function that runs lea, a move with sign extension, xchg, push, pop or leave; None for others."""
    mnemonic, operands = instruction.mnemonic, instruction.operands
    if mnemonic == "lea":
        return _lea(instruction, native)
    if mnemonic in ("movsx", "movsxd"):
        write = _destination(instruction, native, 0)
        source, width = _operand(instruction, native, 1, 64), _bits(instruction, native, 1)

        def extend(state: IntegerEvaluator) -> None:
            value = source(state)
            write(state, None if value is None else _signed(value, width) & _ALL)

        return extend
    if mnemonic == "xchg":
        reads = [_operand(instruction, native, k, 64) for k in (0, 1)]
        writes = [_destination(instruction, native, k) for k in (0, 1)]

        def exchange(state: IntegerEvaluator) -> None:
            # The address of a memory operand may depend on the register.
            first, second = reads[0](state), reads[1](state)
            order = (0, 1) if operands[0] == "m" else (1, 0)
            for k in order:
                writes[k](state, second if k == 0 else first)

        return exchange
    if mnemonic == "push":
        source, size = _operand(instruction, native, 0, 64), instruction.memory[-1].size

        def push(state: IntegerEvaluator) -> None:
            value, top = source(state), state._read("rsp", 0, 64)
            top = None if top is None else top - size
            state._write("rsp", 0, 64, top)
            state._store(top, size, value)

        return push
    if mnemonic not in ("pop", "leave") or operands not in ("r", ""):
        return None
    pop_to = _destination(instruction, native, 0) if operands else None
    size = 8

    def pop(state: IntegerEvaluator) -> None:
        top = state._read("rsp" if pop_to else "rbp", 0, 64)
        value = state._load(top, size)
        state._write("rsp", 0, 64, None if top is None else top + size)
        if pop_to:
            pop_to(state, value)
        else:
            state._write("rbp", 0, 64, value)

    return pop


def _lea(instruction: Instruction, native: Any) -> _Step:
    write = _destination(instruction, native, 0)
    symbolic = read_statement(instruction.text).displacement
    unknown = native.is_ip_rel_memory_operand and symbolic is None
    address = MemoryAccess(
        base=None if native.is_ip_rel_memory_operand or not native.memory_base else register_of(native.memory_base),
        index=register_of(native.memory_index) if native.memory_index else None,
        scale=native.memory_index_scale,
        displacement=native.memory_displacement,
        symbol="",
        segment="",
        size=0,
        load=False,
        store=False,
        operand=1,
    )
    return lambda state: write(state, None if unknown else state._address(address, symbolic))


def _chosen(instruction: Instruction, native: Any) -> _Step | None:
    """Return the function that runs cmovcc or setcc; None for others."""
    mnemonic = instruction.mnemonic
    holds = _condition(mnemonic[4:] if mnemonic[:4] == "cmov" else mnemonic[3:] if mnemonic[:3] == "set" else "")
    if holds is None:
        return None
    test = holds
    write, width = _destination(instruction, native, 0), _bits(instruction, native, 0)
    if mnemonic[:3] == "set":

        def set_byte(state: IntegerEvaluator) -> None:
            value = test(state.flags)
            write(state, None if value is None else int(value))

        return set_byte
    kept, moved = (_operand(instruction, native, k, width) for k in (0, 1))

    def move(state: IntegerEvaluator) -> None:
        condition, old, new = test(state.flags), kept(state), moved(state)
        write(state, new if condition or old == new else None if condition is None else old)

    return move


def _wide(instruction: Instruction) -> _Step | None:
    """Return the function that runs an instruction on rax and rdx: sign extension, product, division."""
    mnemonic = instruction.mnemonic
    if mnemonic in _SIGN_EXTENSIONS or mnemonic in _SIGN_FILLS:
        bits = {"cbw": 8, "cwde": 16, "cdqe": 32, "cwd": 16, "cdq": 32, "cqo": 64}[mnemonic]

        def extend(state: IntegerEvaluator) -> None:
            value = state._read("rax", 0, bits)
            if mnemonic in _SIGN_EXTENSIONS:
                wide = None if value is None else _signed(value, bits) & (1 << 2 * bits) - 1
                state._write("rax", 0, 2 * bits, wide)
            else:
                state._write("rdx", 0, bits, None if value is None else -(value >> (bits - 1)) & (1 << bits) - 1)

        return extend
    if mnemonic not in ("mul", "imul", "div", "idiv") or len(instruction.operands) != 1:
        return None
    native = native_of(instruction)
    width = _bits(instruction, native, 0)
    if width == 8:
        return None
    source = _operand(instruction, native, 0, width)
    signed = mnemonic[0] == "i"
    operation = _product if mnemonic.endswith("mul") else _quotient

    def step(state: IntegerEvaluator) -> None:
        values = source(state), state._read("rax", 0, width), state._read("rdx", 0, width)
        high, low, flags = operation(*values, width, signed)
        state._write("rax", 0, width, low)
        state._write("rdx", 0, width, high)
        state.flags = state.flags | {flag: flags.get(flag) for flag in instruction.flags_written}

    return step


_HighLow = tuple["int | None", "int | None", _Flags]


def _product(a: int | None, b: int | None, _: int | None, width: int, signed: bool) -> _HighLow:
    if a is None or b is None:
        return None, None, {}
    mask = (1 << width) - 1
    product = _signed(a, width) * _signed(b, width) if signed else a * b
    low = product & mask
    overflow = int(product != (_signed(low, width) if signed else low))
    return product >> width & mask, low, {"C": overflow, "O": overflow}


def _quotient(by: int | None, low: int | None, high: int | None, width: int, signed: bool) -> _HighLow:
    if not by or low is None or high is None:
        return None, None, {}
    dividend, divisor = high << width | low, by
    if signed:
        dividend, divisor = _signed(dividend, 2 * width), _signed(by, width)
    quotient = abs(dividend) // abs(divisor) * (1 if (dividend < 0) == (divisor < 0) else -1)
    mask = (1 << width) - 1
    return (dividend - quotient * divisor) & mask, quotient & mask, {}


def _forgotten(instruction: Instruction) -> _Step:
    """Return the function that makes everything unknown that an instruction writes."""
    written = [a.register for a in instruction.registers if a.write and a.register.kind == "general"]
    vectors = [a.register.root for a in instruction.registers if a.write and a.register.kind == "vector"]
    stores = [access for access in instruction.memory if access.store]
    flags = instruction.flags_written
    symbolic = read_statement(instruction.text).displacement if stores else None
    affine = instruction.affine if instruction.affine is not None and instruction.affine.target == "rsp" else None

    def step(state: IntegerEvaluator) -> None:
        for access in stores:
            state._store(state._address(access, symbolic), access.size * access.elements, None)
        if state._vectors:
            for root in vectors:
                state._vectors.pop(root, None)
        for register in written:
            if register.root != "rsp" or affine is None:
                state._write(register.root, register.offset, register.width, None)
        if affine is not None and affine.terms == (("rsp", 1),):
            top = state._read("rsp", 0, 64)
            state._write("rsp", 0, 64, None if top is None else top + affine.constant)
        if flags:
            state.difference = None
            state.flags = state.flags | dict.fromkeys(flags)

    return step
