"""Other instructions for the same work: operations on more elements at once, and fused multiply-adds.

Scalar code becomes vectors, and vectors become longer ones. The result is real code: the bytes of an instruction for
longer registers, which are decoded like any other. Data in general-purpose registers move to vector registers of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import Any

import msgspec
from iced_x86 import Encoder, MemoryOperand
from iced_x86 import Instruction as Native
from iced_x86 import Register as Number
from msgspec.structs import replace

from incc.frontends.kernel import Instruction, Register, RegisterAccess
from incc.frontends.x86.decode import decode, native_of, register_of
from incc.frontends.x86.iced import CODE_NAMES
from incc.frontends.x86.operations import operation
from incc.frontends.x86.work.merging import other_elements

_PACKED = {"ss": "ps", "sd": "pd", "sh": "ph"}
_SIZES = {"ss": 32, "sd": 64, "sh": 16}
_CONVERTED = {
    "cvtss2sd": ("cvtps2pd", 64, 32),
    "cvtsd2ss": ("cvtpd2ps", 32, 64),
    "cvtsi2sd": ("cvtdq2pd", 64, 32),
    "cvtsi2ss": ("cvtdq2ps", 32, 32),
    "cvttsd2si": ("cvttpd2dq", 32, 64),
    "cvttss2si": ("cvttps2dq", 32, 32),
}
"""Conversions of a scalar: those of vectors, and the bits of their results and sources. Integers are of 32 bits."""
_ROUNDED = {"roundss": "roundps", "roundsd": "roundpd"}
_MOVES = {"movss": 32, "movsd": 64, "movd": 32, "movq": 64}
_ANY = re.compile(r"(and|andn|or|xor)p[sd]|p(and|andn|or|xor)|mov[au]p[sd]|movdq[au]")
"""Operations on bits, and moves: on vectors of any element."""
_GENERAL = {"add": "padd", "sub": "psub", "and": "pand", "or": "por", "xor": "pxor", "imul": "pmull",
            "shl": "psll", "shr": "psrl", "sar": "psra", "inc": "padd", "dec": "psub"}  # fmt: skip
_LETTERS = {8: "b", 16: "w", 32: "d", 64: "q"}
_LONG = {"pand": "pandd", "por": "pord", "pxor": "pxord", "pandn": "pandnd", "movdqu": "movdqu32",
         "movdqa": "movdqa32", "roundps": "rndscaleps", "roundpd": "rndscalepd"}  # fmt: skip
"""Other names in EVEX."""
_SHARED = re.compile(r"[XYZ]MM|^V?M\d|^IMM8$|^M$")
_FIRST = {128: Number.XMM0, 256: Number.YMM0, 512: Number.ZMM0}
_LETTER = {128: "XMM", 256: "YMM", 512: "ZMM"}
_CONSTANT = 15
"""The number of a vector register that holds a constant; its root is renamed, so it meets no other."""
_GENERAL_NUMBERS = {
    root: n
    for n, root in enumerate(
        ("rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi", *[f"r{number}" for number in range(8, 16)])
    )
}


_Address = tuple[Any, Any, int, int, int]
"""Base, index, scale, displacement and its size of an operand in memory."""


class _Operand(msgspec.Struct, frozen=True):
    """An operand of the new instruction."""

    kind: str
    """As in `Instruction.operands`: "r" or "m" or "i"."""
    number: int = 0
    """The number of a vector register; the value of an immediate."""
    bits: int = 0
    """Bits of the register, or in memory."""
    root: str = ""
    """A root in place of the register's own; empty for its own."""


def widened(instruction: Instruction, times: int, element: int, vex: bool) -> tuple[Instruction, ...]:
    """Return instructions that do the work of one on `times` as many elements; none if there are no such.

    Args:
        instruction: The instruction.
        times: The number of its operations that they do.
        element: The bits of an element for scalar code that does not tell.
        vex: The processor has AVX.
    """
    if not instruction.assembled or {"mask", "er", "sae", "bcast", "rep", "repne", "lock"} & instruction.traits:
        return ()
    vectors = any(a.register.kind == "vector" and not a.address for a in instruction.registers)
    if instruction.idiom and vectors:
        return (instruction,)
    name = instruction.mnemonic.lower()
    name = name.removeprefix("v") if vectors else name
    try:
        return tuple(
            _vector(instruction, name, times, element, vex) if vectors else _general(instruction, name, times, vex)
        )
    except _Lacking:
        return ()


class _Lacking(Exception):
    """There is no such instruction."""


# --- instructions on vector registers ---------------------------------------------------------------------------------


def _vector(instruction: Instruction, name: str, times: int, element: int, vex: bool) -> Iterator[Instruction]:
    of = operation(name)
    if name in _CONVERTED:
        return _made(instruction, *_conversion(instruction, name, times), vex)
    if name in _MOVES:
        bits = _MOVES[name] * times
        new = {"movss": "movups", "movsd": "movupd"}.get(name, "movdqu")
        return _made(instruction, new if instruction.memory else new.replace("u", "a"), [bits], vex)
    if of is not None and not of.packed:
        if of.kind == "convert" or name[-2:] not in _PACKED or (of.kind == "compare" and not name.startswith("cmp")):
            raise _Lacking
        return _made(instruction, name[:-2] + _PACKED[name[-2:]], [_SIZES[name[-2:]] * times], vex)
    if not _ANY.fullmatch(name) and (of is None or of.kind == "unpack" or of.source != of.result):
        raise _Lacking
    scalar = element if element and not _is_wide(instruction) else 0
    width = scalar or max(access.register.width for access in _vectors(instruction))
    return _made(instruction, name, [width * times], vex)


def _conversion(instruction: Instruction, name: str, times: int) -> tuple[str, list[int]]:
    """Return the packed form of a conversion, and the bits of its operands."""
    new, result, source = _CONVERTED[name]
    general = [a.register.width for a in instruction.registers if a.register.kind == "general" and not a.address]
    integers = [*general, *[8 * m.size for m in instruction.memory if name.startswith("cvtsi")]]
    if any(bits != 32 for bits in integers):
        raise _Lacking
    return new, [result * times, source * times]


def _is_wide(instruction: Instruction) -> bool:
    """Return True if an instruction works on more than one element."""
    arithmetic = instruction.arithmetic
    return (arithmetic is not None and arithmetic.packed) or any(access.size > 8 for access in instruction.memory)


# --- instructions on general-purpose registers ------------------------------------------------------------------------


def _general(instruction: Instruction, name: str, times: int, vex: bool) -> Iterator[Instruction]:
    sizes = {a.register.width for a in instruction.registers if a.operand == 0} or {
        8 * access.size for access in instruction.memory
    }
    size = max(sizes, default=0)
    if name in ("movzx", "movsx", "movsxd") and instruction.memory:
        source = 8 * instruction.memory[0].size
        new = f"pmov{'z' if name == 'movzx' else 's'}x{_LETTERS[source]}{_LETTERS[size]}"
        yield from _made(instruction, new, [size * times, source * times], vex)
    elif name == "mov" and "i" not in instruction.operands:
        yield from _made(instruction, "movdqu" if instruction.memory else "movdqa", [size * times], vex)
    elif name in _GENERAL and size >= 32:
        shifts = name in ("shl", "shr", "sar")
        if (shifts and "i" not in instruction.operands) or (name == "sar" and size == 64):
            raise _Lacking
        logic = name in ("and", "or", "xor")
        new = _GENERAL[name] + ("" if logic else _LETTERS[size])
        yield from _made(instruction, new, [size * times], vex, immediate=shifts)
    else:
        raise _Lacking


# --- fused multiply-adds ----------------------------------------------------------------------------------------------


def fused(product: Instruction, addition: Instruction) -> tuple[Instruction, ...]:
    """Return a fused multiply-add for a product and the sum of it and something else; none if there is no such."""
    suffix = product.mnemonic[-2:]
    factors, terms = _sources(product), _sources(addition)
    result = {a.register.root for a in product.registers if a.operand == 0 and a.write}
    others = [term for term in terms if term is None or term.root not in result]
    if suffix != addition.mnemonic[-2:] or len(factors) != 2 or len(others) != 1 or factors == [None, None]:
        return ()
    (addend,) = others
    in_memory = product if None in factors else addition
    first, second = sorted(factors, key=lambda factor: factor is None)
    # There is one operand in memory, the last.
    order = [addend, first, second] if addend is not None else [first, second, None]
    try:
        operands = [_register_or_memory(register, first) for register in order]
        encoding = "EVEX" if max(o.number for o in operands) > 15 or operands[0].bits == 512 else "VEX"
        made = _assembled(in_memory, f"fmadd{'213' if addend is None else '231'}{suffix}", encoding, operands)
    except _Lacking:
        return ()
    target = next(a for a in addition.registers if a.operand == 0 and a.write)
    registers: list[RegisterAccess] = []
    for access in made.registers:
        if access.write:
            registers += [replace(access, write=False), replace(target, operand=0, read=False)]
        else:
            registers.append(access)
    return (replace(made, registers=tuple(registers), line=addition.line),)


def _register_or_memory(register: Register | None, like: Register | None) -> _Operand:
    """Return an operand in a register, or for None in memory, of the size of another."""
    if register is None:
        return _Operand("m", 0, like.width if like else 0)
    return _Operand("r", int(register.root[3:]), register.width)


def _sources(instruction: Instruction) -> list[Register | None]:
    """Return the two operands of a binary operation, None for one in memory; no operands of one with a mask."""
    if not instruction.assembled or {"mask", "er", "bcast"} & instruction.traits:
        return []
    operands = list(enumerate(instruction.operands))
    by_operand = {a.operand: a.register for a in instruction.registers if a.register.kind == "vector" and not a.address}
    return [by_operand.get(k) for k, _ in (operands if len(operands) == 2 else operands[1:])]


# --- elements of vectors ----------------------------------------------------------------------------------------------


def unfolded(instruction: Instruction) -> tuple[Instruction, ...]:
    """Return a load and the operation on the register that it loads, for an operation on a scalar in memory."""
    if not instruction.assembled or "m" not in instruction.operands:
        return ()
    vectors = {int(a.register.root[3:]) for a in _vectors(instruction)}
    loaded = _Operand("r", max(n for n in range(16) if n not in vectors), 128)
    native = native_of(instruction)
    operands = [
        loaded if letter == "m" else _Operand("i", native.immediate(k)) if letter == "i"
        else _Operand("r", int(register_of(native.op_register(k)).root[3:]), 128)
        for k, letter in enumerate(instruction.operands)
    ]  # fmt: skip
    vex = instruction.mnemonic.startswith("v")
    encoding = ("EVEX" if max(vectors, default=0) > 15 else "VEX") if vex else ""
    size = instruction.memory[0].size
    try:
        load = _assembled(instruction, {8: "movsd", 4: "movss"}[size], encoding, [loaded, _Operand("m", 0, 8 * size)])
        return load, _assembled(None, instruction.mnemonic.removeprefix("v"), encoding, operands)
    except (_Lacking, KeyError):
        return ()


_JOINING = {64: "unpcklps", 128: "unpcklpd", 256: "insertf128", 512: "insertf64x4"}
_DIVIDING = {64: "movshdup", 128: "unpckhpd", 256: "extractf128", 512: "extractf64x4"}
"""Instructions that join two halves to so many bits, or yield the upper half of so many."""


def joined(element: int, bits: int, vex: bool, apart: bool) -> tuple[Instruction, ...]:
    """Return instructions that make a vector of elements in registers of their own, or with `apart` the contrary.

    The roots of the registers are "part 0", "part 1" …; that of the vector is "part 0".
    """
    made: list[Instruction] = []
    size = element
    while size < bits:
        for first in range(0, bits // element, 2 * size // element):
            low, high = _part(first, max(128, 2 * size)), _part(first + size // element, max(128, size))
            name, encoding = (
                (_DIVIDING if apart else _JOINING)[2 * size],
                "EVEX" if size == 256 else "VEX" if vex else "",
            )
            index = [_Operand("i", 1)] if size >= 128 else []
            if apart:
                operands = [high, low, *([low] if size == 64 and vex else []), *index]
            else:
                operands = [low, *([low] if vex else []), high, *index]
            made.append(_assembled(None, name, encoding, operands))
        size *= 2
    return tuple(made[::-1] if apart else made)


def _part(number: int, bits: int) -> _Operand:
    return _Operand("r", number % 16, bits, f"part {number}")


# --- making instructions ----------------------------------------------------------------------------------------------


def _made(
    instruction: Instruction, name: str, bits: Sequence[int], vex: bool, immediate: bool = True
) -> Iterator[Instruction]:
    """Yield an instruction of this name with the operands of another, after a load if it cannot load by itself.

    Args:
        instruction: The other instruction.
        name: The mnemonic without v.
        bits: Bits of the destination and of the sources, or of all operands.
        vex: VEX or EVEX may be used.
        immediate: Immediates stay; otherwise a register holds them.
    """
    encoding = _encoding(instruction, bits, vex)
    operands = list(_operands(instruction, bits, immediate))
    if len(operands) == 2 and operands[0].kind == "r" and _keeps_destination(instruction, name, encoding):
        operands.insert(1, operands[0])
    elif encoding and len(operands) == 1:  # inc, dec
        operands += [operands[0], _Operand("r", _CONSTANT, operands[0].bits, "constant")]
    # Less than a register's worth is loaded and stored by moves of its own.
    small = next((o for o in operands if o.kind == "m" and o.bits < 128), None)
    if small is not None and not name.startswith(("pmov", "cvt")):
        move = {64: "movq", 32: "movd"}[small.bits]
        if name.startswith("mov"):
            name, encoding = move, encoding and "VEX"
        else:
            loaded = _Operand("r", 14, 128, "loaded")
            yield _assembled(instruction, move, encoding and "VEX", [loaded, small])
            operands = [loaded if o is small else o for o in operands]
    yield _assembled(instruction, name, encoding, operands)


def _encoding(instruction: Instruction, bits: Sequence[int], vex: bool) -> str:
    """Return the encoding for operands of so many bits. Raises _Lacking if there are no such."""
    widest = max(128, *bits)
    if widest > (512 if vex else 128) or any(size & (size - 1) for size in bits) or min(bits) < 32:
        raise _Lacking
    if widest == 512 or any(int(access.register.root[3:]) > 15 for access in _vectors(instruction)):
        return "EVEX"
    return "VEX" if vex else ""


def _vectors(instruction: Instruction) -> list[RegisterAccess]:
    return [a for a in instruction.registers if a.register.kind == "vector" and not a.address]


def _keeps_destination(instruction: Instruction, name: str, encoding: str) -> bool:
    """Return True if a binary operation's destination is also its first source, which VEX names separately."""
    if not encoding or name.startswith(("mov", "cvt", "sqrt", "pmov", "round", "rcp", "rsqrt", "pabs")):
        return False
    return len(instruction.operands) == 2


def _operands(instruction: Instruction, bits: Sequence[int], immediate: bool) -> Iterator[_Operand]:
    """Yield the operands, without one that the elements beside the lowest come from."""
    native = native_of(instruction)
    beside = other_elements(instruction) if instruction.mnemonic.startswith("v") else None
    first = True
    for k, letter in enumerate(instruction.operands):
        width = bits[0] if first else bits[-1]
        if beside is not None and k == beside.operand:
            continue
        first = False
        if letter == "m":
            yield _Operand("m", 0, width)
        elif letter == "i":
            value = native.immediate(k)
            yield _Operand("i", value) if immediate else _Operand("r", _CONSTANT, max(128, width), "constant")
        elif letter == "r":
            register = register_of(native.op_register(k))
            if register.kind == "vector":
                yield _Operand("r", int(register.root[3:]), max(128, width))
            elif register.kind == "general":
                yield _Operand("r", _GENERAL_NUMBERS[register.root], max(128, width), f"data {register.root}")
            else:
                raise _Lacking
        else:
            raise _Lacking


def _assembled(instruction: Instruction | None, name: str, encoding: str, operands: Sequence[_Operand]) -> Instruction:
    """Return a decoded instruction with the place and the accesses' addresses of another."""
    code = _encoded(name, encoding, tuple(operands), _address(instruction) if instruction else (0, 0, 1, 0, 0))
    made = decode(code, 0, line=instruction.line if instruction else 0)
    roots = {k: operand.root for k, operand in enumerate(operands) if operand.root}
    registers = tuple(
        [
            replace(a, register=replace(a.register, root=roots[a.operand]))
            if a.operand is not None and a.operand in roots and not a.address
            else a
            for a in made.registers
        ]
    )
    memory = tuple(
        [
            replace(access, displacement=old.displacement, symbol=old.symbol, segment=old.segment)
            for access, old in zip(made.memory, instruction.memory if instruction else (), strict=bool(made.memory))
        ]
    )
    return replace(made, registers=registers, memory=memory, offset=instruction.offset if instruction else made.offset)


def _address(instruction: Instruction) -> _Address:
    """Return base, index, scale, displacement and its size of the operand in memory."""
    i = native_of(instruction)
    if "m" not in instruction.operands:
        return 0, 0, 1, 0, 0
    displacement = i.memory_displacement
    displacement -= 1 << 64 if displacement >> 63 else 0
    return i.memory_base, i.memory_index, i.memory_index_scale, displacement, i.memory_displ_size


@lru_cache(1 << 12)
def _encoded(name: str, encoding: str, operands: tuple[_Operand, ...], address: _Address) -> bytes:
    """Return the bytes of an instruction. Raises _Lacking if there is none with these operands."""
    name = _LONG.get(name, name) if encoding == "EVEX" else name
    start = f"{encoding}_V{name.upper()}" if encoding else name.upper()
    for code in _codes().get(start, ()):
        if _fits(CODE_NAMES[code], start, operands):
            arguments: list[Any] = []
            for operand in operands:
                if operand.kind == "m":
                    arguments.append(MemoryOperand(*address))
                else:
                    arguments.append(operand.number if operand.kind == "i" else _FIRST[operand.bits] + operand.number)
            kinds = "_".join({"r": "reg", "m": "mem", "i": "i32"}[operand.kind] for operand in operands)
            encoder = Encoder(64)
            try:
                encoder.encode(getattr(Native, f"create_{kinds}")(code, *arguments), 0)
            except (ValueError, AttributeError, OverflowError):
                continue
            return bytes(encoder.take_buffer())
    raise _Lacking


def _fits(code: str, start: str, operands: Sequence[_Operand]) -> bool:
    parts = [part for part in code[len(start) :].split("_") if _SHARED.search(part)]
    return len(parts) == len(operands) and all(
        "M" in part.replace("MM", "", 1)
        if o.kind == "m"
        else part == "IMM8"
        if o.kind == "i"
        else part.startswith(_LETTER[o.bits])
        for part, o in zip(parts, operands, strict=True)
    )


@cache
def _codes() -> dict[str, list[int]]:
    """Return the numbers of codes by encoding and mnemonic, as "VEX_VADDPD", or "ADDPD"."""
    codes: dict[str, list[int]] = {}
    for number, name in enumerate(CODE_NAMES):
        parts = name.split("_")
        start = "_".join(parts[: 2 if parts[0] in ("VEX", "EVEX") else 1])
        codes.setdefault(start, []).append(number)
    return codes
