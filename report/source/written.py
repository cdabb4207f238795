"""LLVM's spelling of instructions, for reports with LLVM's text instead of the assembly's."""

from __future__ import annotations

from incc.frontends.isa import isa
from incc.frontends.kernel import Instruction
from incc.frontends.unit import Unit


class Written:
    """Texts and encodings of one unit's instructions, in one of LLVM's syntaxes."""

    __slots__ = ("_assembly", "_hexadecimal", "_isa", "_names", "_syntax")

    def __init__(self, unit: Unit, name: str, syntax: str, hexadecimal: bool) -> None:
        self._isa = isa(name)
        self._names: object = None
        self._assembly = unit.assembly
        self._syntax = syntax
        self._hexadecimal = hexadecimal

    def text(self, instruction: Instruction) -> str:
        """Return the instruction with a tab after its mnemonic."""
        return self._isa.llvm_text(instruction, self._syntax, self._hexadecimal, self._known())

    def encoding(self, instruction: Instruction) -> bytes:
        """Return the bytes that LLVM's assembler emits for the instruction."""
        return self._isa.llvm_encoding(instruction, self._known()) if instruction.line else instruction.encoding

    def _known(self) -> object:
        if self._names is None and self._assembly:
            self._names = self._isa.llvm_names(self._assembly)
        return self._names
