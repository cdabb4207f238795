"""The effects of x86-64 instructions in LLVM 19's descriptions, which llvm-mca shows."""

from __future__ import annotations

from incc.frontends.isa import Effects
from incc.frontends.kernel import Instruction
from incc.frontends.x86.decode import native_of
from incc.frontends.x86.kept import KeyedText
from incc.frontends.x86.statements import read_statement

_BARRIERS = {"lfence": (True, False), "sfence": (False, True), "mfence": (True, True)}
"""Load and store barriers. Source: X86InstPostProcess::setMemBarriers of LLVM's target."""

_FLAGS = KeyedText("llvm/flags.txt", " ")
"""LLVM's flags of the forms for which the decoder has others."""


def effects(instruction: Instruction) -> Effects:
    """Return the effects in LLVM's description of an instruction."""
    if instruction.length == 1 and instruction.form == "NOPD/r" and instruction.encoding[0] != 0x90:
        return Effects(side_effects=True)  # a prefix in a statement of its own
    if instruction.mnemonic == "pause" and read_statement(instruction.text).mnemonic == "nop":
        return Effects()  # to LLVM, a `nop` with a prefix
    load_barrier, store_barrier = _BARRIERS.get(instruction.mnemonic, (False, False))
    flags = _flags(instruction)
    return Effects(
        may_load="L" in flags if flags else any(access.load for access in instruction.memory),
        may_store="S" in flags if flags else any(access.store for access in instruction.memory),
        side_effects="U" in flags,
        load_barrier=load_barrier,
        store_barrier=store_barrier,
    )


def _flags(instruction: Instruction) -> str:
    """Return the entry for an instruction in flags.txt, "" if there is none."""
    flags = ""
    if type(instruction.encoding) is not bytes:  # of 32-bit mode
        from incc.frontends.x86.llvm.text import template_key

        flags = _FLAGS.get(f"32:{template_key(native_of(instruction))}")
    if not flags and "mask" in instruction.traits:
        flags = _FLAGS.get(f"{instruction.form}{{k}}")
    return flags or _FLAGS.get(instruction.form)
