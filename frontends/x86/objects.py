"""The machine code of x86-64 in object files, for `incc.frontends.machine_code`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from iced_x86 import FlowControl, OpKind

from incc.frontends.asm.graph import Jump
from incc.frontends.jump_tables import TABLE, Layout
from incc.frontends.kernel import Instruction
from incc.frontends.machine_code import Code, Flow
from incc.frontends.x86.convention import CONVENTION
from incc.frontends.x86.decode import decode, disassemble
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


class X86Disassembler:
    """See `incc.frontends.machine_code.Disassembler`."""

    isa = ISA
    convention = CONVENTION
    branch_bias = 4  # the addend counts from the field, which ends the instruction

    def scan(self, code: Code, start: int, end: int) -> None:
        """Add the instructions between two offsets, up to bytes that are none."""
        section, add = code.section, code.offsets.append
        for native in disassemble(bytes(section.data[start:end]), section.address + start):
            if native.flow_control != _NEXT:
                code.branches[len(code.offsets)] = native
            if native.is_ip_rel_memory_operand:
                code.addresses[len(code.offsets)] = native.ip_rel_memory_address
            # A damaged file's section may reach over the end of the address space.
            add((native.ip - section.address) & _ADDRESSES)

    def flow(self, branch: Any) -> Flow:
        """Return how an instruction of iced-x86's transfers control."""
        kind, direct = _KINDS.get(branch.flow_control, ""), branch.op0_kind == _NEAR_BRANCH
        if not direct and (kind == "conditional" or branch.flow_control == FlowControl.CALL):
            kind = ""  # xend, xabort; a system call
        return Flow(kind, branch.near_branch_target if direct else None, branch.len)

    def decode(self, code: Code, n: int) -> Instruction:
        """Return an instruction."""
        section, at = code.section, code.offsets[n]
        end = code.offsets[n + 1] if n + 1 < len(code.offsets) else len(section.data)
        data = bytes(section.data[at : min(end, at + 15)])
        instruction = decode(data, section.address + at, section=section.name)
        fields = code.relocations(at, at + instruction.length)
        if fields and not instruction.branch:  # only objects have them, and their sections are at address 0
            instruction = decode(data[: instruction.length], at, "", 0, fields, section.name)
        return instruction

    def finished(self, instructions: list[Instruction]) -> tuple[Instruction, ...]:
        """Return the instructions of a kernel."""
        return finished(instructions)

    def tables(self, code: Code) -> _Tables:
        """Return how the indirect jumps of a section read their tables."""
        return _Tables(code)


_LAYOUTS = (Layout(size=4, signed=True, relative_to=TABLE), Layout(size=8))
"""Distances from the table's start, and addresses."""


class _Tables:
    """See `incc.frontends.jump_tables.TableReader`."""

    field_bias = 4  # a relative field ends the instruction

    def __init__(self, code: Code) -> None:
        self._code = code

    def layouts(self, at: int, previous: int, jumps: Sequence[Jump]) -> tuple[Layout, ...]:
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
            memory = self._code.instruction(n).memory
            if not memory or memory[0].base is not None or memory[0].index is None:
                return None
            address = memory[0].displacement
        return address

    def addresses(self) -> Iterable[int]:
        """Return all addresses that instructions name."""
        return self._code.addresses.values()
