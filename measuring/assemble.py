"""Loops of machine code from assembly text (AT&T syntax), through LLVM's assembler in this process.

LLVM ends the process when a statement is wrong, so this is for text that comes from incc itself; that of users goes
through incc.frontends.x86.assembler.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from incc.frontends.elf import read_elf
from incc.measuring.harness import MachineLoop
from incc.measuring.native import X86_GPR

COUNTER = X86_GPR.index("r15")
X86, AARCH64 = "x86_64-unknown-linux-gnu", "aarch64-unknown-linux-gnu"
"""LLVM's names of targets."""
PAGES = 0x10_0000_0000
"""The start of the memory of loops: rsi, rdi and rbp are pointers into it, a page apart and 64-byte aligned, as rsp."""
ONE = 0x3FF0_0000_0000_0000
"""1.0, which fills memory and vector registers; its square roots and quotients are 1.0, too."""


@cache
def _target(triple: str) -> Any:
    import llvmlite.binding as llvm

    for name in ("initialize", "initialize_all_targets", "initialize_all_asmprinters", "initialize_native_asmparser"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue  # newer versions do this themselves, and say so
    return llvm.Target.from_triple(triple).create_target_machine(opt=0)


def assemble(text: str, triple: str = X86) -> bytes:
    """Return the machine code of statements that refer to nothing outside, for a target that LLVM assembles for here.

    llvmlite has the assembler of its own machine alone.
    """
    import llvmlite.binding as llvm

    machine = _target(triple)
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text.encode())
    module = llvm.parse_assembly(f'target triple = "{triple}"\nmodule asm "{escaped}"\n')
    return read_elf(machine.emit_object(module)).content(".text")


def loop(body: str, registers: Mapping[str, int] | None = None, content: int = ONE) -> MachineLoop:
    """Return a loop of `body`, followed by `dec %r15; jnz` to its start.

    `registers` has first values of general-purpose registers; the others hold the pointers in PAGES, or 1.
    """
    values = dict.fromkeys(X86_GPR, 1)
    values |= {name: PAGES + 4096 * n for n, name in enumerate(("rsi", "rdi", "rbp", "rsp"))}
    values |= registers or {}
    code = assemble(f"0:\n{body}\ndec %r15\njnz 0b\n")
    return MachineLoop(code=code, counter=COUNTER, registers=tuple(values[r] for r in X86_GPR), content=content)
