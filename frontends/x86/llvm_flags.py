"""What LLVM 19 says of an x86-64 instruction's effects, as llvm-mca shows them."""

from __future__ import annotations

import os

from incc.frontends.isa import Effects
from incc.frontends.x86.statements import read_statement

TYPE_CHECKING = False
if TYPE_CHECKING:
    from incc.frontends.kernel import Instruction

# X86InstPostProcess::setMemBarriers of LLVM's target.
_BARRIERS = {"lfence": (True, False), "sfence": (False, True), "mfence": (True, True)}

_FLAGS: dict[str, str] = {}


def _flags() -> dict[str, str]:
    """Where LLVM's description is not what the decoder says, by form: see the file."""
    if not _FLAGS:
        path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "llvm_flags.txt")
        with open(path, encoding="ascii") as file:
            for line in file:
                if line[0] != "#":
                    form, flags = line.split()
                    _FLAGS[form] = flags
    return _FLAGS


def effects(instruction: Instruction) -> Effects:
    """What LLVM's instruction description says of an instruction."""
    if instruction.length == 1 and instruction.form == "NOPD/r" and instruction.encoding != b"\x90":
        return Effects(False, False, True, False, False)  # a prefix in a statement of its own
    if instruction.form.startswith("ENTER"):
        # The decoder looks at how many frames it copies.
        return Effects(False, False, True, False, False)
    if instruction.mnemonic == "pause" and read_statement(instruction.text).mnemonic == "nop":
        return Effects(False, False, False, False, False)  # a `nop` with a prefix to LLVM
    found = _flags().get(instruction.form, "")
    if found and "mask" in instruction.traits and ("COMPRESS" in instruction.form or "EXPAND" in instruction.form):
        found = ""  # LLVM knows what these do with a mask only; the table has them without
    memory = instruction.memory
    loads = bool(memory) and any(access.load for access in memory)
    stores = bool(memory) and any(access.store for access in memory)
    barriers = _BARRIERS.get(instruction.mnemonic, (False, False))
    return Effects(loads != ("l" in found), stores != ("s" in found), "U" in found, *barriers)
