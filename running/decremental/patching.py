"""Copies of a program or library in which instructions of a loop are replaced by others of the same length."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping

from incc.frontends.kernel import Instruction, KernelCode
from incc.support.errors import AnalysisError


class CodePlaces:
    """The places of the instructions of a kernel in the file that it was read from."""

    def __init__(self, path: str, kernel: KernelCode) -> None:
        """Find them. Raises AnalysisError if the file is not the one that has the kernel, or no ELF file."""
        import lief

        lief.logging.disable()
        binary = lief.ELF.parse(path)
        if binary is None:
            raise AnalysisError(f"{path}: not an ELF file")
        self.path = path
        self.kernel = kernel
        self.offsets = []
        with open(path, "rb") as file:
            for instruction in kernel.instructions:
                offset = binary.virtual_address_to_offset(instruction.offset)
                if isinstance(offset, lief.lief_errors):
                    raise AnalysisError(f"{path}: no code at {instruction.offset:#x}")
                file.seek(offset)
                if file.read(instruction.length) != instruction.encoding:
                    raise AnalysisError(f"{path}: other code at {instruction.offset:#x} than was analysed")
                self.offsets.append(offset)

    def write_copy(self, replaced: Mapping[int, tuple[Instruction, ...]], path: str) -> None:
        """Write a copy of the file with other instructions in place of some, by their indices."""
        shutil.copyfile(self.path, path)
        shutil.copymode(self.path, path)
        with open(path, "r+b") as file:
            for index, instructions in replaced.items():
                code = b"".join(instruction.encoding for instruction in instructions)
                assert len(code) == self.kernel.instructions[index].length
                file.seek(self.offsets[index])
                file.write(code)
        os.utime(path, ns=(os.stat(self.path).st_atime_ns, os.stat(self.path).st_mtime_ns))
