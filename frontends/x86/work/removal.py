"""Instructions without their access to memory, or without their arithmetic, in the same number of bytes.

Decremental analysis removes work from a loop and leaves everything else in its place. The new code consists of bytes,
so the code that is simulated is the code that is run.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from iced_x86 import Code, Encoder, MemoryOperand, OpCodeOperandKind, OpKind
from iced_x86 import Instruction as Native
from iced_x86 import Register as Number
from msgspec.structs import replace

from incc.frontends.kernel import Instruction
from incc.frontends.x86.decode import decode, native_of, register_of, signed
from incc.frontends.x86.iced import bits_of, constants

NO_OPS = (
    "90",
    "66 90",
    "0f 1f 00",
    "0f 1f 40 00",
    "0f 1f 44 00 00",
    "66 0f 1f 44 00 00",
    "0f 1f 80 00 00 00 00",
    "0f 1f 84 00 00 00 00 00",
    "66 0f 1f 84 00 00 00 00 00",
    "66 2e 0f 1f 84 00 00 00 00 00",
    "66 66 2e 0f 1f 84 00 00 00 00 00",
)
"""No-operations of 1 to 11 bytes, in hexadecimal: up to 9 as the manuals of Intel and AMD recommend them, then with the
prefixes of GNU as. More prefixes would slow down some decoders."""

_IGNORED = b"\x3e"
"""A prefix that chooses a segment, which has no effect on an instruction without memory operands."""

_MOVES = re.compile(
    r"v?(mov(zx|sx|sxd|ss|sd|aps|apd|ups|upd|dq[au](8|16|32|64)?|d|q|ddup|ntdqa)?|lddqu|p?broadcast.*)$"
)
"""Mnemonics that do nothing but load if they have a memory operand."""
_HALVES = re.compile(r"v?mov[hl]p[sd]$")
"""Mnemonics that load a half of a register."""

_OPERAND_KINDS = {number: name for name, number in constants(OpCodeOperandKind).items()}
_WIDTHS = {"R8": 8, "R16": 16, "R32": 32, "R64": 64, "XMM": 128, "YMM": 256, "ZMM": 512}
"""The bits of the registers that may replace a memory operand, by the beginnings of iced-x86's names of operands."""

_NUMBERS: dict[tuple[str, int], Any] = {
    (register.root, register.width): number
    for number in constants(Number).values()
    if (register := register_of(number)).kind in ("general", "vector") and not register.offset
}
"""iced-x86's numbers of registers by root and bits."""

_MOVES_OF_REGISTERS: dict[int, tuple[Any, Any]] = {
    64: (Code.MOV_R64_RM64, Code.MOV_R64_RM64),
    32: (Code.MOV_R32_RM32, Code.MOV_R32_RM32),
    128: (Code.MOVAPS_XMM_XMMM128, Code.VEX_VMOVAPS_XMM_XMMM128),
    256: (0, Code.VEX_VMOVAPS_YMM_YMMM256),
    512: (0, Code.EVEX_VMOVAPS_ZMM_K1Z_ZMMM512),
}
"""Moves of whole registers by their bits, without and with AVX."""

_LOADS_OF_VECTORS: dict[int, tuple[Any, ...]] = {
    4: (Code.MOVSS_XMM_XMMM32, Code.VEX_VMOVSS_XMM_M32, Code.EVEX_VMOVSS_XMM_K1Z_M32),
    8: (Code.MOVSD_XMM_XMMM64, Code.VEX_VMOVSD_XMM_M64, Code.EVEX_VMOVSD_XMM_K1Z_M64),
    16: (Code.MOVUPS_XMM_XMMM128, Code.VEX_VMOVUPS_XMM_XMMM128, Code.EVEX_VMOVUPS_XMM_K1Z_XMMM128),
    32: (0, Code.VEX_VMOVUPS_YMM_YMMM256, Code.EVEX_VMOVUPS_YMM_K1Z_YMMM256),
    64: (0, 0, Code.EVEX_VMOVUPS_ZMM_K1Z_ZMMM512),
}
"""Loads into vector registers by their bytes: of SSE, AVX and AVX-512."""


def no_operation(instruction: Instruction) -> tuple[Instruction, ...]:
    """Return no-operations with the length of an instruction."""
    placed = []
    at = instruction.offset
    end = at + instruction.length
    while at < end:
        code = bytes.fromhex(NO_OPS[min(end - at, len(NO_OPS)) - 1])
        placed.append(decode(type(instruction.encoding)(code), at, line=instruction.line))
        at += len(code)
    return tuple(placed)


def without_access(
    instruction: Instruction, written: Collection[str], read: Sequence[str], move: bool
) -> tuple[Instruction, ...] | None:
    """Return what an instruction does besides its loads and stores; the arguments are those of `Isa.without_access`.

    Returns None if the access is implicit, locked or part of a string operation, and for the x87 stack, on which later
    instructions depend.
    """
    native = native_of(instruction)
    operands = [n for n in range(native.op_count) if native.op_kind(n) == OpKind.MEMORY]
    memory = [access for access in instruction.memory if access.operand is not None]
    if len(memory) != len(instruction.memory) or native.has_lock_prefix or instruction.branch:
        return None
    if native.is_string_instruction or any(access.register.kind == "x87" for access in instruction.registers):
        return None
    if not memory or memory[0].store or memory[0].elements > 1:
        return no_operation(instruction)
    if _HALVES.match(instruction.mnemonic):
        return no_operation(instruction)
    if _MOVES.match(instruction.mnemonic) and not native.has_op_mask and register_of(native.op0_register).width > 16:
        return (move and _move(instruction, native, written, read)) or no_operation(instruction)
    name, _, rest = _OPERAND_KINDS[native.op_code().op_kind(operands[0])].partition("_")
    if rest != "OR_MEM" or name not in _WIDTHS:
        return None
    changed = native.copy()
    changed.is_broadcast = False
    changed.segment_prefix = Number.NONE
    changed.set_op_kind(operands[0], OpKind.REGISTER)

    def candidates() -> Iterator[Any]:
        for number in _unwritten(_WIDTHS[name], written, read):
            changed.set_op_register(operands[0], number)
            yield changed

    return _encoded(instruction, candidates())


def _move(
    instruction: Instruction, native: Any, written: Collection[str], read: Sequence[str]
) -> tuple[Instruction, ...] | None:
    """Return a move of a register that the loop only reads into the one that an instruction loads."""
    target = register_of(native.op0_register)
    bits = target.width if target.kind == "vector" else max(32, target.width)
    code = _MOVES_OF_REGISTERS[bits][instruction.mnemonic.startswith("v")]
    numbers = _unwritten(bits, written, read)
    moves = (Native.create_reg_reg(code, _NUMBERS[target.root, bits], number) for number in numbers if code)
    return _encoded(instruction, moves)


def without_arithmetic(instruction: Instruction) -> tuple[Instruction, ...]:
    """Return what remains of a floating-point operation without its arithmetic: its load, or no-operations."""
    native = native_of(instruction)
    memory = instruction.memory
    if len(memory) == 1 and memory[0].load and not memory[0].store and native.op0_kind == OpKind.REGISTER:
        root = register_of(native.op0_register).root
        number = _NUMBERS.get((root, max(128, 8 * memory[0].size)), 0)
        operand = MemoryOperand(
            native.memory_base,
            native.memory_index,
            native.memory_index_scale,
            signed(native.memory_displacement, bits_of(instruction.encoding)),
            8 if native.memory_base in (Number.RIP, Number.EIP) else native.memory_displ_size,
            False,
            native.memory_segment if native.segment_prefix else Number.NONE,
        )
        codes = _LOADS_OF_VECTORS.get(memory[0].size, ())[instruction.mnemonic.startswith("v") :] if number else ()
        loads = (Native.create_reg_mem(code, number, operand) for code in codes if code)
        if load := _encoded(instruction, loads):
            return tuple([replace(each, memory=memory) for each in load])
    return no_operation(instruction)


def _unwritten(bits: int, written: Collection[str], read: Sequence[str]) -> Iterator[Any]:
    """Yield registers that a loop does not write: those that it reads, in their order, then others."""
    order = dict.fromkeys([*read, *(root for root, width in _NUMBERS if width == bits)])
    yield from (_NUMBERS[root, bits] for root in order if (root, bits) in _NUMBERS and root not in {*written, "rsp"})


def _encoded(instruction: Instruction, candidates: Iterable[Any]) -> tuple[Instruction, ...] | None:
    """Return the first candidate that can be encoded in the length of an instruction, padded with prefixes."""
    for native in candidates:
        encoder = Encoder(bits_of(instruction.encoding))
        try:
            length = encoder.encode(native, 0)
            padding = instruction.length - length
            if padding < 0:
                continue
            encoder.take_buffer()
            encoder.encode(native, padding)  # where the end, to which RIP-relative addresses refer, is the same
        except ValueError:
            continue
        code = type(instruction.encoding)(_IGNORED * padding + encoder.take_buffer())
        return (decode(code, instruction.offset, line=instruction.line),)
    return None
