"""What LLVM 19 says of an x86-64 instruction's effects, as llvm-mca shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from incc.frontends.isa import Effects
from incc.frontends.x86.kept import Lines
from incc.frontends.x86.statements import read_statement

if TYPE_CHECKING:
    from incc.frontends.kernel import Instruction

# X86InstPostProcess::setMemBarriers of LLVM's target.
_BARRIERS = {"lfence": (True, False), "sfence": (False, True), "mfence": (True, True)}

_FLAGS = Lines("llvm_flags.txt", " ")
"""Where LLVM's description is not what the decoder says, by form: see the file."""


def effects(instruction: Instruction) -> Effects:
    """What LLVM's instruction description says of an instruction."""
    if instruction.length == 1 and instruction.form == "NOPD/r" and instruction.encoding[0] != 0x90:
        return Effects(
            may_load=False, may_store=False, side_effects=True, load_barrier=False, store_barrier=False
        )  # a prefix in a statement of its own
    if instruction.mnemonic == "pause" and read_statement(instruction.text).mnemonic == "nop":
        return Effects(
            may_load=False, may_store=False, side_effects=False, load_barrier=False, store_barrier=False
        )  # a `nop` with a prefix to LLVM
    found = ""
    if type(instruction.encoding) is not bytes:  # of 32-bit mode
        from incc.frontends.x86.decode import native_of
        from incc.frontends.x86.llvm_text import template_key

        found = _FLAGS.get(f"32:{template_key(native_of(instruction))}")
    if not found and "mask" in instruction.traits:
        found = _FLAGS.get(f"{instruction.form}{{k}}")
    found = found or _FLAGS.get(instruction.form)
    load_barrier, store_barrier = _BARRIERS.get(instruction.mnemonic, (False, False))
    return Effects(
        may_load="L" in found if found else any(access.load for access in instruction.memory),
        may_store="S" in found if found else any(access.store for access in instruction.memory),
        side_effects="U" in found,
        load_barrier=load_barrier,
        store_barrier=store_barrier,
    )
