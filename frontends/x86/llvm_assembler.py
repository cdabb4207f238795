"""Stands in for `as` where there is none: `python llvm_assembler.py -o OUT.o IN.s` runs LLVM's assembler from llvmlite.

A program of its own because LLVM ends the process when a statement is wrong. Messages are LLVM's, on stderr, with the
input's name in front.
"""

from __future__ import annotations

import os
import sys


def main(arguments: list[str]) -> int:
    """Assemble arguments[3] into arguments[2]; the exit status is 0 on success."""
    _, output, source = arguments[1:4]
    import llvmlite.binding as llvm

    initializers = ("initialize", "initialize_all_targets", "initialize_all_asmprinters", "initialize_native_asmparser")
    for name in (*initializers, "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue  # newer versions do this themselves, and say so; native ones need not be there
    with open(source, "rb") as file:
        text = file.read()
    escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text)
    triple = "x86_64-unknown-linux-gnu"
    module = llvm.parse_assembly(f'target triple = "{triple}"\nmodule asm "{escaped}"\n')
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)
    data = machine.emit_object(module)
    with open(output, "wb") as file:
        file.write(data)
    return 0


if __name__ == "__main__":
    sys.stdout.flush()
    status = main(sys.argv)
    sys.stderr.flush()
    os._exit(status)
