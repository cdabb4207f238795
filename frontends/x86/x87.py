"""The x87 register stack: gives its registers fixed names, so that data flow shows across pushes and pops.

An instruction names `st(i)` from the top of the stack, and the top moves. Here each register is named by where it was
at the start of the kernel: `fld` writes st7, as the stack is circular, and what was st0 stays st0 below it.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from incc.frontends.kernel import Instruction, Register, RegisterAccess
from incc.frontends.x86.decode import x87_increment

_SLOTS = [Register(name=f"st{i}", root=f"st{i}", offset=0, width=80, kind="x87") for i in range(8)]
_ROOTS = {register.root: i for i, register in enumerate(_SLOTS)}


def name_by_slot(instructions: Sequence[Instruction]) -> list[Instruction]:
    """Return the instructions with the x87 registers named by their place at the start.

    Pushes get the write of the new top, which the decoder does not list. Pushes that happen only for certain values
    (fptan, fsincos) are taken to happen.
    """
    renamed: list[Instruction] = []
    top = 0
    for instruction in instructions:
        increment = x87_increment(instruction)
        registers = [
            replace(access, register=_SLOTS[(_ROOTS[access.register.root] + top) % 8])
            if access.register.root in _ROOTS
            else access
            for access in instruction.registers
        ]
        top += increment
        if increment < 0 and instruction.mnemonic != "fdecstp":
            registers.append(RegisterAccess(register=_SLOTS[top % 8], read=False, write=True, operand=None))
        renamed.append(replace(instruction, registers=tuple(registers)))
    return renamed
