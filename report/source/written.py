"""How instructions are written in a report that is to have LLVM's text instead of the assembly's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from incc.frontends.isa import isa

if TYPE_CHECKING:
    from incc.frontends.kernel import Instruction
    from incc.frontends.unit import Unit


class Written:
    """Texts and encodings of the instructions of one unit, in a syntax of LLVM's."""

    __slots__ = ("_assembly", "_hexadecimal", "_isa", "_names", "_syntax")

    def __init__(self, unit: Unit, name: str, syntax: str, hexadecimal: bool) -> None:
        self._isa = isa(name)
        self._names: object = None
        self._assembly = unit.assembly
        self._syntax = syntax
        self._hexadecimal = hexadecimal

    def text(self, instruction: Instruction) -> str:
        """The instruction with a tab behind its mnemonic. Of one that is from no text, the bytes tell everything."""
        if not instruction.line:
            instruction = replace(instruction, text="")
        return self._isa.llvm_text(instruction, self._syntax, self._hexadecimal, self._known())

    def encoding(self, instruction: Instruction) -> bytes:
        """The bytes that LLVM's assembler makes of it."""
        return self._isa.llvm_encoding(instruction, self._known()) if instruction.line else instruction.encoding

    def _known(self) -> object:
        if self._names is None and self._assembly:
            self._names = self._isa.llvm_names(self._assembly)
        return self._names
