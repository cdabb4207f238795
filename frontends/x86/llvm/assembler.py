"""A replacement for a missing `as`: `python assembler.py -o OUT.o IN.s` runs LLVM's assembler from llvmlite.

The code is that of x86-64, or with `--32` of 32-bit x86. With `--each` as well, IN has one statement per line, after
"att" or "intel" and a tab, and OUT gets the object of each one in hexadecimal, an empty line for one that is wrong.
Only with `--trusted` can IN read other files.

It is a separate program because LLVM ends the process when a statement is wrong. Messages are LLVM's, on stderr, with
the input's name in front.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn


def main(arguments: list[str]) -> int:
    """Assemble the last argument into the one before; the exit status is 0 on success."""
    *options, output, source = arguments[1:]
    import llvmlite.binding as llvm

    initializers = ("initialize", "initialize_all_targets", "initialize_all_asmprinters", "initialize_native_asmparser")
    for name in (*initializers, "initialize_native_target", "initialize_native_asmprinter"):
        try:
            getattr(llvm, name)()
        except (AttributeError, RuntimeError):
            continue  # newer versions do this themselves, and say so; native ones need not be there
    triple = "i686-unknown-linux-gnu" if "--32" in options else "x86_64-unknown-linux-gnu"
    machine = llvm.Target.from_triple(triple).create_target_machine(opt=0)

    def assemble(text: bytes) -> bytes:
        escaped = "".join(chr(b) if 32 <= b < 127 and b not in b'"\\' else f"\\{b:02X}" for b in text)
        module = llvm.parse_assembly(f'target triple = "{triple}"\nmodule asm "{escaped}"\n')
        return bytes(machine.emit_object(module))

    with open(source, "rb") as code:
        text = code.read()
    with open(output, "wb") as file:
        if "--each" in options:
            data = b"".join(_alone(assemble, line) + b"\n" for line in text.splitlines())
        else:
            if "--trusted" not in options:
                open_no_more_files()
            data = assemble(text)
        file.write(data)
    return 0


def open_no_more_files() -> None:
    """Let this process open no more files, whatever the text says that it assembles."""
    import resource

    resource.setrlimit(resource.RLIMIT_NOFILE, (0, 0))


def _alone(assemble: Callable[[bytes], bytes], line: bytes) -> bytes:
    """Return the object of one statement in hexadecimal, none if it is wrong.

    It is assembled in a process of its own, which a wrong statement may end.
    """
    dialect, _, statement = line.partition(b"\t")
    there, here = os.pipe()
    child = os.fork()
    if not child:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        open_no_more_files()
        prefix = b" noprefix" if dialect == b"intel" else b""
        data = assemble(b".text\n." + dialect + b"_syntax" + prefix + b"\n" + statement + b"\n")
        os.write(here, data.hex().encode())  # some hundred bytes, for which a pipe has room
        os._exit(0)
    os.close(here)
    with open(there, "rb") as pipe:
        output = pipe.read()
    _, status = os.waitpid(child, 0)
    return output if status == 0 else b""


def run() -> NoReturn:
    """Run the program; LLVM's own end of the process would take longer."""
    sys.stdout.flush()
    status = main(sys.argv)
    sys.stderr.flush()
    os._exit(status)


if __name__ == "__main__":
    run()
