"""The machine code of x86-64 in object files, for `incc.frontends.machine_code`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from iced_x86 import FlowControl, InstructionInfoFactory, OpKind, Register

from incc.frontends.asm.entry import PointerEffects
from incc.frontends.asm.graph import Jump
from incc.frontends.jump_tables import TABLE, JumpTableLayout
from incc.frontends.kernel import Instruction
from incc.frontends.machine_code import Code, Flow
from incc.frontends.x86.convention import CONVENTION
from incc.frontends.x86.decode import READS, WRITES, branch_of, decode, disassemble, register_of
from incc.frontends.x86.kept import keep
from incc.frontends.x86.kernels import ISA, finished

_NEXT = FlowControl.NEXT
_KINDS = {
    FlowControl.UNCONDITIONAL_BRANCH: "unconditional",
    FlowControl.INDIRECT_BRANCH: "indirect",
    FlowControl.CONDITIONAL_BRANCH: "conditional",
    FlowControl.RETURN: "return",
    FlowControl.EXCEPTION: "stop",  # ud2 and its like
    FlowControl.XBEGIN_XABORT_XEND: "conditional",
    FlowControl.CALL: "call",
    FlowControl.INDIRECT_CALL: "call",
}
_NEAR_BRANCH = OpKind.NEAR_BRANCH64
_ADDRESSES = (1 << 64) - 1
_LONGEST = 15
"""Bytes of the longest instruction."""


class X86Disassembler:
    """See `incc.frontends.machine_code.Disassembler`."""

    isa = ISA
    convention = CONVENTION
    branch_bias = 4  # the addend counts from the field, which ends the instruction

    def scan(self, code: Code, start: int, end: int) -> None:
        """Add the instructions between two offsets, up to bytes that are none."""
        section, add = code.section, code.offsets.append
        natives = disassemble(bytes(section.data[start:end]), section.address + start)
        for n, native in enumerate(natives, len(code.offsets)):
            if (control := native.flow_control) != _NEXT:
                code.branches[n] = _flow(native, control)
            if native.is_ip_rel_memory_operand:
                code.addresses[n] = native.ip_rel_memory_address
            # A damaged file's section may reach over the end of the address space.
            add((native.ip - section.address) & _ADDRESSES)

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction."""
        section, at = code.section, code.offsets[n]
        data = _bytes(code, n)
        instruction = decode(data, section.address + at, section=section.name)
        fields = code.relocations(at, at + instruction.length)
        if fields and not instruction.branch:  # only objects have them, and their sections are at address 0
            instruction = decode(data[: instruction.length], at, "", 0, fields, section.name)
        return instruction

    def effects(self, code: Code, lines: tuple[int, ...]) -> list[PointerEffects]:
        """Return the effects of the instructions of a block's lines."""
        if not lines:
            return []
        offsets = code.offsets
        start = offsets[lines[0] - 1]
        data = bytes(code.section.data[start : offsets[lines[-1] - 1] + _LONGEST])
        encodings = [data[offsets[n - 1] - start : offsets[n] - start if n < len(offsets) else None] for n in lines]
        return [_EFFECTS.get(each) or keep(_EFFECTS, each, encoding_effects(each)) for each in encodings]

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel."""
        return finished(instructions)

    def tables(self, code: Code) -> _Tables:
        """Return how the indirect jumps of a section read their tables."""
        return _Tables(code)


def _flow(native: Any, control: Any) -> Flow:
    """Return how an instruction of iced-x86's transfers control."""
    kind, direct = _KINDS.get(control, ""), native.op0_kind == _NEAR_BRANCH
    if not direct and (kind == "conditional" or control == FlowControl.CALL):
        kind = ""  # xend, xabort; a system call
    return Flow(kind, native.near_branch_target if direct else None, native.len)


def _bytes(code: Code, n: int) -> bytes:
    """Return the bytes of an instruction; after the last one of a function there may be more."""
    at = code.offsets[n]
    end = code.offsets[n + 1] if n + 1 < len(code.offsets) else at + _LONGEST
    return bytes(code.section.data[at : min(end, at + _LONGEST)])


_EFFECTS: dict[bytes, PointerEffects] = {}
"""By encoding."""
_FACTORY = InstructionInfoFactory()
_CALL = PointerEffects(CONVENTION.not_kept, stores=False, names_slot=False)


def encoding_effects(encoding: bytes) -> PointerEffects:
    """Return the effects of the instruction that `decode` makes of an encoding."""
    native = next(disassemble(encoding, 0))
    if branch_of(native) == "call":
        return _CALL
    info = _FACTORY.info(native)
    registers = [(register_of(used.register).root, used.access) for used in info.used_registers()]
    memory = info.used_memory()
    reads_stack = any(root in CONVENTION.stack and access in READS for root, access in registers)
    return PointerEffects(
        frozenset([root for root, access in registers if access in WRITES]) & CONVENTION.pointers,
        stores=any(m.access in WRITES and register_of(m.base).root in CONVENTION.stack for m in memory),
        # Loads and stores do not; of others, the decoded instruction tells.
        names_slot=reads_stack and all((m.access in READS) == (m.access in WRITES) for m in memory),
    )


_LAYOUTS = (JumpTableLayout(size=4, signed=True, relative_to=TABLE), JumpTableLayout(size=8))
"""Distances from the table's start, and addresses."""


class _Tables:
    """See `incc.frontends.jump_tables.TableReader`."""

    field_bias = 4  # a relative field ends the instruction

    def __init__(self, code: Code) -> None:
        self._code = code

    def layouts(self, at: int, previous: int, jumps: Sequence[Jump]) -> tuple[JumpTableLayout, ...]:
        """Return how an indirect jump may read its table, none for a jump that does not seem to have one.

        Its target is loaded with an index, or is the sum of two registers.
        """
        jump = self._code.instruction(at)
        if jump.memory:
            return _LAYOUTS if jump.memory[0].index is not None else ()
        register = next((a.register.root for a in jump.registers), "")
        for n in range(at - 1, previous, -1):
            i = self._code.instruction(n)
            if any(a.write and a.register.root == register for a in i.registers):
                is_sum = i.mnemonic == "add" and i.operands == "rr"
                is_loaded = i.mnemonic == "mov" and bool(i.memory) and i.memory[0].index is not None
                return _LAYOUTS if is_sum or is_loaded else ()
        return ()

    def address(self, n: int) -> int | None:
        """Return the address of data that an instruction names."""
        address = self._code.addresses.get(n)
        if address is None:
            native = next(disassemble(_bytes(self._code, n), 0))
            if native.memory_base != Register.NONE or native.memory_index == Register.NONE:
                return None
            memory = self._code.instruction(n).memory
            if not memory or memory[0].base is not None or memory[0].index is None:
                return None
            address = memory[0].displacement
        return address

    def addresses(self) -> Iterable[int]:
        """Return all addresses that instructions name."""
        return self._code.addresses.values()
