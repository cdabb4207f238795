"""What LLVM 19 says of an x86-64 instruction's effects, as llvm-mca shows them."""

from __future__ import annotations

import os

from incc.frontends.isa import Effects

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
    flags = _flags()
    found = flags.get(instruction.form)
    if "mask" in instruction.traits:
        found = flags.get(f"{instruction.form}{{k}}", found)
    barriers = _BARRIERS.get(instruction.mnemonic, (False, False))
    if found is not None:
        return Effects("L" in found, "S" in found, "U" in found, *barriers)
    memory = instruction.memory
    loads = bool(memory) and any(access.load for access in memory)
    stores = bool(memory) and any(access.store for access in memory)
    return Effects(loads, stores, False, *barriers)
